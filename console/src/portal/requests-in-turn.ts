/** Logloom's plans allow a customer this many searches at once. More would be refused. */
const mostAtOnce = 2;
/** A search ends within this time, and answers a little later. */
const mostSearchMs = 20_000;

/** Takes one of the places that all frames of this browser on one site share. Returns how to release it. */
function takePlace(locks: LockManager): Promise<() => void> {
  return new Promise((resolve) => {
    const others = new AbortController();
    const { signal } = others;
    const take = () => {
      // Another place was free first.
      if (signal.aborted) return;
      others.abort();
      return new Promise<void>((leave) => resolve(leave));
    };
    for (let place = 0; place < mostAtOnce; place++) {
      // A browser that stores nothing for frames refuses locks, too.
      locks.request(`logloom ${place}`, { signal }, take).catch(() => resolve(() => {}));
    }
  });
}

/**
 * Limits how many requests run at once. The others wait in order. The service completes a search that nobody waits for
 * any more, so such a request keeps its place until it is answered, for at most `mostSearchMs`.
 */
export function inTurn(send: typeof fetch): typeof fetch {
  const waiting: (() => void)[] = [];
  let running = 0;
  const endTurn = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return async (input, init) => {
    if (running === mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    // Only secure pages have locks. In others each frame has places of its own.
    const { locks } = navigator as { locks?: LockManager };
    const leave = locks && await takePlace(locks);
    const release = () => {
      leave?.();
      endTurn();
    };
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
