import { host, server } from "./runtime.ts";

type Act = () => Promise<unknown>;

/** Shared by all copies of this module, because `logloom/winston` is bundled with its own copy. */
const actsName = Symbol.for("logloom.atEnd");

/** Calls `act` when the program ends or gets a signal. The returned function cancels this. */
export function atEnd(act: Act): () => void {
  const shared = host as { [actsName]?: Set<Act> };
  const acts = shared[actsName] ??= listening();
  acts.add(act);
  return () => acts.delete(act);
}

function listening(): Set<Act> {
  const acts = new Set<Act>();
  const all = () => Promise.all([...acts].map((one) => one()));
  const process = server;
  process?.on?.("beforeExit", all);
  const listen = (signal: string) => {
    const end = async () => {
      // Our listener is removed first, so that a second signal ends the program at once, and code that counts the
      // listeners does not count ours.
      process?.off(signal, end);
      const isAlone = !process?.listenerCount(signal);
      await all();
      // If the program has other listeners, they decide whether it ends.
      if (isAlone) process?.kill(process.pid, signal);
      else listen(signal);
    };
    // Our listener runs first, because it counts the others: `once` removes each of them when it runs.
    process?.prependListener?.(signal, end);
  };
  try {
    listen("SIGTERM");
    listen("SIGINT");
  } catch {
    // Some runtimes have no signals.
  }
  return acts;
}
