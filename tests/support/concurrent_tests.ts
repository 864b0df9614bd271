/** Registers tests that mostly wait. All of them begin together with the first one; each reports its own result. */
export function atOnce(tests: Record<string, () => Promise<void>>): void {
  const begun = new Map<string, Promise<void>>();
  const begin = () => {
    for (const [name, test] of Object.entries(tests)) {
      const running = test();
      // The failure is reported by the test itself.
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
