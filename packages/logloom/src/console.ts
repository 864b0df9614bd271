import { host } from "./runtime.ts";
import type { Level, Logger } from "./types.ts";

const levelOf = {
  debug: "debug",
  log: "info",
  info: "info",
  warn: "warn",
  error: "error",
} as const;

/** Logs what the program writes to the console. The console still shows it. The returned function ends this. */
export function captureConsole(
  logger: Logger,
  { levels = ["debug", "info", "warn", "error"] }: { readonly levels?: readonly Level[] } = {},
): () => void {
  const { console } = host;
  let isLogging = false;
  const restore = Object.entries(levelOf)
    .filter(([, level]) => levels.includes(level))
    .map(([name, level]) => {
      const method = name as keyof typeof levelOf;
      const own = console[method];
      const capturing = (...args: unknown[]) => {
        own.apply(console, args);
        // Output of the logger's own hooks is not logged again.
        if (isLogging) return;
        isLogging = true;
        try {
          logger[level](...partsOf(args));
        } catch (error) {
          logger[level](`[${error}]`);
        } finally {
          isLogging = false;
        }
      };
      console[method] = capturing;
      return () => {
        if (console[method] === capturing) console[method] = own;
      };
    });
  return () => restore.forEach((one) => one());
}

/** Joins texts into the message. Errors and other values become fields. */
function partsOf(args: unknown[]): [msg: string, fields: Record<string, unknown>] {
  const values = args.filter((one) => typeof one === "object" && one !== null);
  const error = values.find((one) => one instanceof Error);
  const rest = values.filter((one) => one !== error);
  const words = args.map((one) => one instanceof Error ? one.message : one)
    .filter((one) => typeof one !== "object" || one === null);
  return [formatted(words), {
    ...error !== undefined && { error },
    ...rest.length > 0 && { args: rest },
  }];
}

/** Replaces `%s`, `%d` and the like by the arguments that follow. `%c` is a style and shows nothing. */
function formatted([first, ...words]: unknown[]): string {
  if (typeof first !== "string") {
    return [first, ...words].filter((one) => one !== undefined).map(String).join(" ");
  }
  const text = first.replace(/%[sdifc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (words.length === 0) return mark;
    const word = words.shift();
    return mark === "%c" ? "" : String(word);
  });
  return [text, ...words.map(String)].join(" ");
}
