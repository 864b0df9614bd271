/**
 * How many bytes of a body are read, also of a refused one. A sender gets the answer only if its body is read: a
 * connection that closes earlier is reset, and a gateway then answers 503. The local gateway has the same limit.
 */
export const maxTakenBytes = 64 * 1024 * 1024;

/** How long a body may take, in milliseconds. */
export const bodyTimeoutMs = 30_000;

export interface Taken {
  /** False if the body took too long or was larger than the limit. */
  readonly isWhole: boolean;
  readonly isLate: boolean;
}

/** Passes each chunk of a body to `take`. Throws if the sender disconnects early. */
export async function takeBody(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  timeoutMs: number,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<Taken> {
  if (stream === null) return { isWhole: true, isLate: false };
  const reader = stream.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  }, timeoutMs);
  let count = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      take(next.value);
      count += next.value.length;
      if (count > maxTakenBytes) {
        await reader.cancel();
        return { isWhole: false, isLate };
      }
    }
  } finally {
    clearTimeout(timer);
  }
  return { isWhole: !isLate, isLate };
}

/**
 * Wraps a handler: reads the rest of the request's body afterwards, so that the answer arrives. If the rest is too large
 * or takes too long, the connection is closed.
 */
export function takingBodies(
  handler: (request: Request) => Promise<Response>,
  timeoutMs = bodyTimeoutMs,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await handler(request);
    if (!await isTaken(request, timeoutMs)) response.headers.set("Connection", "close");
    return response;
  };
}

async function isTaken(request: Request, timeoutMs: number): Promise<boolean> {
  if (request.bodyUsed) return true;
  try {
    return (await takeBody(request.body, timeoutMs, () => {})).isWhole;
  } catch {
    // The sender disconnected.
    return false;
  }
}
