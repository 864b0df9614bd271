/** Tests that mostly wait, by their names: all begin with the first of them, and each tells of itself. */
export function atOnce(tests: Record<string, () => Promise<void>>): void {
  const begun = new Map<string, Promise<void>>();
  const begin = () => {
    for (const [name, test] of Object.entries(tests)) {
      const running = test();
      // Who awaits it in its turn hears of its failure.
      running.catch(() => {});
      begun.set(name, running);
    }
  };
  for (const name of Object.keys(tests)) {
    Deno.test({
      name,
      sanitizeOps: false,
      sanitizeResources: false,
      fn: async () => {
        if (begun.size === 0) begin();
        await begun.get(name);
      },
    });
  }
}
