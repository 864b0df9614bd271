import Transport from "winston-transport";
import { createSender, type Sender, type SenderOptions } from "./sender.ts";
import { copied } from "./values.ts";

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

  override log(info: Record<string, unknown>, next: () => void): void {
    const { message, timestamp, ...event } = copied(info);
    const sender = this.#sender;
    sender.add(sender.plain({ ts: timestamp ?? new Date(), msg: message, ...event }));
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
