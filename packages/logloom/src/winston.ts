import Transport from "winston-transport";
import { createSender, type Sender, type SenderOptions } from "./sender.ts";
import { copied } from "./plain_values.ts";

export interface WinstonOptions extends SenderOptions {
  /** The least level that is sent: the logger's unless told otherwise. */
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
      // A format may have coloured what is to be shown.
      level: info[Symbol.for("level")] ?? level,
      msg: message,
      ...!isTime(timestamp) && { timestamp },
      ...event,
    }));
    this.emit("logged", info);
    next();
  }

  /** Sends everything logged so far; false if that was not done in so many milliseconds. */
  flush(withinMs?: number): Promise<boolean> {
    return this.#sender.flush(withinMs);
  }

  /** `logger.end()` waits for what is on its way. */
  override _final(done: (error?: Error | null) => void): void {
    this.#sender.close().then(() => done(), done);
  }
}

/** Whether it says which moment it is: a text for people is without a zone. */
function isTime(value: unknown): boolean {
  return value instanceof Date || typeof value === "number" ||
    typeof value === "string" && /^\d{4}-\d\d-\d\d[T ].*(?:Z|[+-]\d\d:?\d\d)$/.test(value);
}
