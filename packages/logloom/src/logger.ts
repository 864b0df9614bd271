import { captureErrors } from "./errors.ts";
import { logRequest } from "./request.ts";
import { createSender, type Sender, type SenderOptions } from "./sender.ts";
import type { Fields, Level, Log, Logger } from "./types.ts";

export interface LoggerOptions extends Omit<SenderOptions, "service"> {
  /** The name of the program. */
  readonly service: string;
  /** The least level that is sent: `debug` unless told otherwise. */
  readonly level?: Level;
  /** The share of a level's events that is sent, for example `{ debug: 0.1 }`. */
  readonly sample?: { readonly [level in Level]?: number };
  /** Sees each event as it will be sent, and may return another; null drops it. */
  readonly transform?: (event: Record<string, unknown>) => Record<string, unknown> | null;
}

const levels: readonly Level[] = ["debug", "info", "warn", "error"];
const fieldNames = ["ts", "service", "env", "req_id", "user_id", "route", "host"];
const disposal: typeof Symbol.asyncDispose = Symbol.asyncDispose ??
  Symbol.for("Symbol.asyncDispose");

/** A logger that sends in the background. None of its functions throws. */
export function createLogger(options: LoggerOptions): Logger {
  return loggerOf(createSender(options), options, {});
}

export function loggerOf(sender: Sender, options: LoggerOptions, base: Fields): Logger {
  const { level: least = "debug", sample = {}, transform } = options;

  const logAt = (level: Level): Log => (msg, fields) => {
    if (levels.indexOf(level) < levels.indexOf(least)) return;
    if (Math.random() >= (sample[level] ?? 1)) return;
    try {
      const own = fields instanceof Error ? { error: fields } : fields;
      const error = msg instanceof Error ? { error: msg } : {};
      const event = eventOf(level, msg instanceof Error ? msg.message : msg, {
        ...base,
        ...error,
        ...own,
      });
      if (event) sender.add(event);
    } catch (error) {
      sender.fail(error);
    }
  };

  function eventOf(level: Level, msg: string, fields: Fields) {
    const event: Record<string, unknown> = { ts: new Date(), level };
    const attrs: Record<string, unknown> = Object.create(null);
    const all: Fields = { msg, ...fields };
    all.msg = msg;
    const plain = sender.plain(all);
    for (const [name, value] of Object.entries(plain)) {
      if (name === "msg" || fieldNames.includes(name)) event[name] = value;
      else attrs[name] = value;
    }
    event.attrs = attrs;
    return transform ? transform(event) : event;
  }

  const logger: Logger = {
    debug: logAt("debug"),
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
    with: (fields) => loggerOf(sender, options, { ...base, ...fields }),
    withRequest(request, handler, context) {
      if (context) sender.useWaitUntil((promise) => context.waitUntil(promise));
      return logRequest(logger, request, handler);
    },
    captureErrors: () => captureErrors(logger),
    flush: sender.flush,
    [disposal]: sender.close,
  };
  return logger;
}
