import { writeSync } from "node:fs";
import { Writable } from "node:stream";
import { rewrites, withTexts } from "../../../supabase/functions/_shared/exact_numbers.ts";
import { createSender, type SenderOptions } from "./sender.ts";

/** The options of a pino transport. They are passed to another thread, so none of them can be a function or client. */
export interface PinoOptions extends
  Pick<
    SenderOptions,
    "url" | "key" | "service" | "env" | "release" | "redact" | "maxDepth" | "maxSize"
  > {
  /** The logger's `messageKey`. Default: `msg`. */
  readonly messageKey?: string;
}

/** How long the program waits for unsent events before it ends. */
const lastMs = 8000;

const levelOf: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

/** A transport for pino: `pino.transport({ target: "logloom/pino", options: { url, key, service } })`. */
export default function transport({ messageKey = "msg", ...options }: PinoOptions): Writable {
  const sender = createSender(options);
  const decoder = new TextDecoder();
  let rest = "";

  function take(line: string): void {
    if (line === "") return;
    try {
      const { level, time, [messageKey]: msg, ...event } = JSON.parse(withTexts(line, rewrites));
      // The fields that identify an event come first, so that they stay if the event is cut.
      sender.add(sender.plain({
        level: levelOf[level] ?? level,
        time,
        msg,
        ...event,
        // If messageKey is another name, the program may have a field msg.
        ...msg !== undefined && event.msg !== undefined &&
          { msg, attrs: { ...event.attrs, msg: event.msg } },
      }));
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
      sender.flush(lastMs).then((isSent) => {
        // Writes directly: this thread's console needs the main thread, which is waiting.
        if (!isSent) writeSync(2, `logloom: not everything was sent within ${lastMs / 1000} s\n`);
        done();
      }).catch(done);
    },
  });
}
