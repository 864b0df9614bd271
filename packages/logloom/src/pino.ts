import { writeSync } from "node:fs";
import { Writable } from "node:stream";
import { rewrites, withTexts } from "../../../supabase/functions/_shared/exact_numbers.ts";
import { createSender, type SenderOptions } from "./sender.ts";

/** What a transport of pino may be told: it goes to another thread, so no functions and no client. */
export interface PinoOptions extends
  Pick<
    SenderOptions,
    "url" | "key" | "service" | "env" | "redact" | "maxDepth" | "maxSize"
  > {
  /** The logger's `messageKey`: `msg` unless told otherwise. */
  readonly messageKey?: string;
}

/** The program waits for so long before it ends. */
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
      // What names an event comes first, so that it is there when the rest is too large.
      sender.add(sender.plain({
        level: levelOf[level] ?? level,
        time,
        msg,
        ...event,
        // With another messageKey a program may have a msg that is not the message.
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
        // The console of this thread needs the program, which waits and then ends.
        if (!isSent) writeSync(2, `logloom: not everything was sent within ${lastMs / 1000} s\n`);
        done();
      }).catch(done);
    },
  });
}
