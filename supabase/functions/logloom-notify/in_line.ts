/**
 * Does work one at a time for each name, so that nobody's slow work takes what others need. Whoever has waited for so long
 * leaves the line: undefined, and the work is not done.
 */
export function createLines(patienceMs: number) {
  const ends = new Map<string, Promise<unknown>>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    let hasLeft = false;
    const turn = (ends.get(name) ?? Promise.resolve()).then(() => {
      clearTimeout(timer);
      return hasLeft ? undefined : work();
    });
    const end = turn.catch(() => {}).finally(() => {
      if (ends.get(name) === end) ends.delete(name);
    });
    ends.set(name, end);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        hasLeft = true;
        resolve(undefined);
      }, patienceMs);
    });
    return await Promise.race([turn, patience]);
  };
}
