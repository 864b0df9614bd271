/** Registers tests that mostly wait: all begin with the first one, and each reports its own result. */
export function atOnce(tests: Record<string, () => Promise<void>>): void {
  const begun = new Map<string, Promise<void>>();
  const begin = () => {
    for (const [name, test] of Object.entries(tests)) {
      const running = test();
      // Its own test reports the failure.
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
