/** Logloom's plans allow a customer this many searches at once. More would be refused. */
const mostAtOnce = 2;
/** A search ends within this time, and answers a little later. */
const mostSearchMs = 20_000;

/**
 * Limits how many requests run at once. The others wait in order. The service completes a search that nobody waits for
 * any more, so such a request keeps its place until it is answered, for at most `mostSearchMs`.
 */
export function inTurn(send: typeof fetch): typeof fetch {
  const waiting: (() => void)[] = [];
  let running = 0;
  const release = () => {
    // The next request takes this one's place.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return async (input, init) => {
    if (running === mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    const { signal } = init ?? {};
    if (signal?.aborted) {
      release();
      throw signal.reason;
    }
    const cut = new AbortController();
    const end = () => cut.abort(signal?.reason);
    const answer = send(input, { ...init, signal: cut.signal });
    let isAnswered = false;
    const settle = () => {
      isAnswered = true;
      release();
      if (signal?.aborted) end();
    };
    answer.then(settle, settle);
    return await new Promise<Response>((resolve, reject) => {
      answer.then(resolve, reject);
      signal?.addEventListener("abort", () => {
        reject(signal.reason);
        if (isAnswered) end();
        else setTimeout(end, mostSearchMs);
      });
    });
  };
}
