import Transport from "winston-transport";
import { createSender, type Sender, type SenderOptions } from "./sender.ts";
import { copied } from "./plain_values.ts";

export interface WinstonOptions extends SenderOptions {
  /** The lowest level that is sent. Default: the logger's level. */
  readonly level?: string;
  readonly format?: Transport.TransportStreamOptions["format"];
}

/** A transport for winston: `transports: [new LogloomTransport({ url, key, service })]`. */
export class LogloomTransport extends Transport {
  readonly #sender: Sender;

  constructor(options: WinstonOptions) {
    super({ level: options.level, format: options.format });
    this.#sender = createSender(options);
  }

  override log(info: Record<string | symbol, unknown>, next: () => void): void {
    const { message, level, timestamp, ...event } = copied(info);
    const sender = this.#sender;
    sender.add(sender.plain({
      ts: isTime(timestamp) ? timestamp : new Date(),
      // Uses the original level and message, because a format may have coloured them.
      level: info[Symbol.for("level")] ?? level,
      msg: message,
      ...!isTime(timestamp) && { timestamp },
      ...event,
    }));
    this.emit("logged", info);
    next();
  }

  /** Sends everything logged so far. False if it takes longer than `withinMs`. */
  flush(withinMs?: number): Promise<boolean> {
    return this.#sender.flush(withinMs);
  }

  /** Makes `logger.end()` wait until all events are sent. */
  override _final(done: (error?: Error | null) => void): void {
    this.#sender.close().then(() => done(), done);
  }
}

/** Whether a value is a point in time. A readable text such as "12:30" has no zone and is not. */
function isTime(value: unknown): boolean {
  return value instanceof Date || typeof value === "number" ||
    typeof value === "string" && /^\d{4}-\d\d-\d\d[T ].*(?:Z|[+-]\d\d:?\d\d)$/.test(value);
}
