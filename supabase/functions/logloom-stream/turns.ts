/** Work of which only one of a key is under way at a time, in the order in which it came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const current = (before ?? Promise.resolve()).then(work);
    const settled = current.then(() => {}, () => {});
    this.#last.set(key, settled);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
