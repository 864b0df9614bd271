/**
 * Bytes of a body that are read, kept or not. A sender hears the answer only if somebody reads its body; a connection
 * closed earlier is reset, and a gateway answers 503. The same limit as the local gateway's.
 */
export const maxTakenBytes = 64 * 1024 * 1024;

/** How long a body may take, in milliseconds. */
export const bodyTimeoutMs = 30_000;

export interface Taken {
  /** False if the time was up, or the body larger than the limit. */
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
 * A function's handler that afterwards reads the rest of the body, so that the answer arrives. If that is too much or
 * takes too long, the connection is closed.
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
    // The sender is gone, and nobody needs to know.
    return false;
  }
}
