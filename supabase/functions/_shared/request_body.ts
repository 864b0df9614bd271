/**
 * Bytes of a request's body that are taken off its connection, kept or not. Whoever sends a body hears the answer
 * only when somebody reads on: a connection that is closed before resets, and a gateway says 503. As much as the
 * local gateway lets through.
 */
export const maxTakenBytes = 64 * 1024 * 1024;

/** How long a body may take, in milliseconds. */
export const bodyTimeoutMs = 30_000;

export interface Taken {
  /** False where the time was up, or the body larger than what is taken. */
  readonly isWhole: boolean;
  readonly isLate: boolean;
}

/** Hands each chunk of a body to `take` as it comes. Throws where the sender is gone before the end. */
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
 * A function's handler, and after it whatever of the body it did not read, so that the answer arrives. Where that is
 * too much, or takes too long, nobody is to use the connection again.
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
    // The sender is gone, and with it whoever would want to know.
    return false;
  }
}
