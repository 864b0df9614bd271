/** Below the ports that systems give to connections and to listeners without a port, and those of stacks. */
const [first, last] = [12_000, 19_999];

/** Returns a port of this machine that nobody listens at, and that nobody gets who asks for any port. */
export function freePort(): number {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last + 1 - first));
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
