import { captureErrors } from "./uncaught_errors.ts";
import { endFields, requestFields, runWith } from "./request_fields.ts";
import { logRequest } from "./log_request.ts";
import { beginSpan, headersOf } from "./spans.ts";
import { createSender, type Sender, type SenderOptions } from "./sender.ts";
import type { Fields, Level, Log, Logger } from "./types.ts";
import { copied } from "./plain_values.ts";

export interface LoggerOptions extends Omit<SenderOptions, "service"> {
  /** The name of the program. */
  readonly service: string;
  /** The lowest level that is sent. Default: `debug`. */
  readonly level?: Level;
  /** The share of events of a level to send, for example `{ debug: 0.1 }`. */
  readonly sample?: { readonly [level in Level]?: number };
  /** Called with each event before it is sent. It may return another event, or null to drop it. */
  readonly transform?: (event: Record<string, unknown>) => Record<string, unknown> | null;
}

const levels: readonly Level[] = ["debug", "info", "warn", "error"];
const fieldNames = "msg ts service env req_id user_id route host".split(" ");
const disposal: typeof Symbol.asyncDispose = Symbol.asyncDispose ??
  Symbol.for("Symbol.asyncDispose");

/** Creates a logger that sends in the background. None of its functions throws. */
export function createLogger(options: LoggerOptions): Logger {
  return loggerOf(createSender(options), options, {});
}

export function loggerOf(sender: Sender, options: LoggerOptions, base: Fields): Logger {
  const { level: least = "debug", sample = {}, transform } = options;

  const logAt = (level: Level): Log => (first: unknown, second?: unknown) => {
    if (levels.indexOf(level) < levels.indexOf(least)) return;
    if (Math.random() >= (sample[level] ?? 1)) return;
    try {
      const [text, fields] = partsOf(first, second);
      const all: Fields = { msg: text, ...requestFields(), ...base, ...fields };
      all.msg = text;
      const event: Record<string, unknown> = { ts: new Date(), level };
      const attrs: Record<string, unknown> = Object.create(null);
      for (const [name, value] of Object.entries(sender.plain(all))) {
        (fieldNames.includes(name) ? event : attrs)[name] = value;
      }
      event.attrs = attrs;
      const wanted = transform ? transform(event) : event;
      if (wanted) sender.add(wanted);
    } catch (error) {
      sender.fail(error);
    }
  };

  const within = (): Fields => ({ ...requestFields(), ...base });

  const logger: Logger = {
    ...Object.fromEntries(levels.map((level) => [level, logAt(level)])) as Record<Level, Log>,
    with: (fields) => loggerOf(sender, options, { ...base, ...named(fields) }),
    async span(name, act, fields) {
      const { ids, end } = beginSpan(within());
      const inside = { ...requestFields(), ...ids };
      const log = (more?: Fields) => {
        endFields(inside);
        const own: Fields = { msg: name, ...end(), ...more };
        try {
          // A field with the name of one of the span's own is renamed, as OpenTelemetry's attributes are.
          const others = Object.entries(named(fields))
            .map(([key, value]) => [Object.hasOwn(own, key) ? `attributes.${key}` : key, value]);
          const all = { span_kind: "internal", ...Object.fromEntries(others), ...own };
          logger[more ? "error" : "info"](name, all);
        } catch (error) {
          sender.fail(error);
        }
      };
      try {
        // A query of supabase-js begins when it is awaited, which must be in the span.
        const result = await runWith(logger, inside, async (log) => await act(log));
        log();
        return result;
      } catch (error) {
        log({ status: "error", error });
        throw error;
      }
    },
    traceHeaders: () => headersOf(within()),
    withRequest(request, handler, context) {
      if (context) sender.useWaitUntil((promise) => context.waitUntil(promise));
      // A worker's timers end with the request, so its events are sent before that.
      return logRequest(logger, request, handler)
        .finally(() => context?.waitUntil(sender.flush()));
    },
    captureErrors: () => captureErrors(logger),
    flush: sender.flush,
    [disposal]: sender.close,
  };
  return logger;
}

/** Marks a stack trace in a text. */
const atLine = /\n\s+at /;

/** Returns the message and the fields, which may be passed in either order. */
function partsOf(first: unknown, second: unknown): [msg: unknown, fields: Fields] {
  // The fields come first, as in pino, or there are only fields.
  if (first instanceof Object && typeof (second ?? "") === "string") {
    const fields = named(first);
    return [second ?? (first as Error).message ?? fields.msg, fields];
  }
  const isFault = first instanceof Error || atLine.test(String(first));
  return [
    isFault ? (first as Error).message ?? String(first).split(atLine)[0] : first,
    { ...isFault && named(first), ...named(second) },
  ];
}

/** Returns the passed fields. An error, or a value that is not an object, gets a name. */
function named(fields: unknown): Fields {
  const given = fields ?? {};
  if (given instanceof Error) return { error: given };
  if (typeof given === "object") return copied(given);
  return atLine.test(String(given)) ? { error: { stack: given } } : { value: given };
}
