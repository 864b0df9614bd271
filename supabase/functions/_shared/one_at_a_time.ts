/**
 * Runs work one at a time for each key, in the order of the calls, so that slow work of one key delays no other. Work
 * that has waited longer than `patienceMs` is not done, and its result is undefined.
 */
export function oneAtATime(patienceMs: number) {
  const ends = new Map<string, Promise<unknown>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T | undefined> => {
    let isTooLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const turn = (ends.get(key) ?? Promise.resolve()).then(() => {
      clearTimeout(timer);
      return isTooLate ? undefined : work();
    });
    const end = turn.catch(() => {}).finally(() => {
      if (ends.get(key) === end) ends.delete(key);
    });
    ends.set(key, end);
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        isTooLate = true;
        resolve(undefined);
      }, patienceMs);
    });
    return await Promise.race([turn, patience]);
  };
}
