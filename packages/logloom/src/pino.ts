import { Writable } from "node:stream";
import { createSender, type SenderOptions } from "./sender.ts";

/** What a transport of pino may be told: it goes to another thread, so no functions and no client. */
export type PinoOptions = Pick<
  SenderOptions,
  "url" | "key" | "service" | "env" | "redact" | "maxDepth" | "maxSize"
>;

const levelOf: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

/** A transport for pino: `pino.transport({ target: "logloom/pino", options: { url, key, service } })`. */
export default function transport(options: PinoOptions): Writable {
  const sender = createSender(options);
  const decoder = new TextDecoder();
  let rest = "";

  function take(line: string): void {
    if (line === "") return;
    try {
      const { level, ...event } = JSON.parse(line);
      sender.add(sender.plain({ level: levelOf[level] ?? level, ...event }));
    } catch {
      sender.add(sender.plain({ msg: line }));
    }
  }

  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
      done();
    },
    final(done) {
      take(rest);
      // The program waits for so long before it ends.
      sender.flush(8000).then(() => done(), done);
    },
  });
}
