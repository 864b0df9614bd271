import { host, server } from "./runtime.ts";

type Act = () => Promise<unknown>;

/** All copies of this module share them: `logloom/winston` has its own. */
const actsName = Symbol.for("logloom.atEnd");

/** Acts when a program ends by itself or by a signal, until the returned function is called. */
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
      // A second signal ends the program at once, and who counts listeners does not count ours.
      process?.off(signal, end);
      const isAlone = !process?.listenerCount(signal);
      await all();
      // Another listener decides what becomes of the program.
      if (isAlone) process?.kill(process.pid, signal);
      else listen(signal);
    };
    // The first, to see the others before they are gone: `once` takes them away.
    process?.prependListener?.(signal, end);
  };
  try {
    listen("SIGTERM");
    listen("SIGINT");
  } catch {
    // Not every runtime has signals.
  }
  return acts;
}
