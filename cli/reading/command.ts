import type { parseArgs, ParseArgsConfig } from "node:util";
import { Failure, sentence } from "../../local/failure.ts";
import { createService, readUser, Refusal, type Service } from "../client/service.ts";
import { parseOptions } from "../options.ts";
import { humanLine, jsonLine, type LogRecord, refusalLines } from "./lines.ts";
import { connection } from "./options.ts";
import { isColoured } from "./output.ts";

/** The exit code after Ctrl-C, as shells expect. */
const interrupted = 130;

const shared = {
  ...connection,
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
} as const;

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<Own extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: typeof shared & Own }>
>["values"];

export interface Reading<Own extends Options> {
  readonly query: string;
  readonly values: Values<Own>;
  readonly signal: AbortSignal;
  /** The service, as the user whom the options name; a call is retried for so long. */
  service(patienceMs: number): Promise<Service>;
  /** A record as a line: for people, or as JSON if the options say so. */
  lineOf(record: LogRecord): string;
}

const hiddenMinus = "\0-";

/** A query may begin with -: -service:web is a term, no option. Only -h is one of a letter. */
function hideMinus(arg: string): string {
  return /^-[^-]/.test(arg) && arg !== "-h" ? `\0${arg}` : arg;
}

function showMinus(arg: string): string {
  return arg.startsWith(hiddenMinus) ? arg.slice(1) : arg;
}

/** A command that reads: common options and its own. */
export interface ReadingCommand<Own extends Options> {
  help: string;
  options: Own;
  /** Reports a failed call that will be retried. */
  retrying: string;
  read(reading: Reading<Own>): Promise<void>;
}

/** Runs a reading command to its end or to Ctrl-C. It reports failures and sets the exit code. */
export async function runReading<const Own extends Options>(
  { help, options, retrying, read }: ReadingCommand<Own>,
): Promise<never> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stop.abort());
  }
  let query = "";
  try {
    const parsed = parseOptions({
      args: Deno.args.map(hideMinus),
      allowPositionals: true,
      options: { ...shared, ...options },
    });
    const named = parsed.values as Values<Record<never, never>>;
    query = parsed.positionals.map(showMinus).join(" ");
    if (named.help) console.log(help);
    else {
      await read({
        query,
        values: parsed.values as Values<Own>,
        signal: stop.signal,
        service: async (patienceMs) =>
          createService({
            ...await readUser(named),
            signal: stop.signal,
            patienceMs,
            onRetry: (reason) => console.error(`logloom: ${reason}; ${retrying} …`),
          }),
        lineOf: (record) => named.json ? jsonLine(record) : humanLine(record, isColoured()),
      });
    }
    Deno.exit(0);
  } catch (error) {
    if (stop.signal.aborted) Deno.exit(interrupted);
    const lines = error instanceof Refusal
      ? refusalLines(error, query)
      : [`logloom: ${error instanceof Failure ? error.message : sentence(error)}`];
    for (const line of lines) console.error(line);
    Deno.exit(1);
  }
}
