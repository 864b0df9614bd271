import type { Command } from "./command_line.ts";
import type { RangeOptions, Reader } from "../read/reader.ts";
import type { QueryWarning } from "../read/types.ts";
import { type Cli, newCommand, type Words } from "./command_line.ts";
import { jsonLine, statLines, warningLine } from "./format_lines.ts";
import { secondsOf, timeOf, whileOf } from "./options.ts";
import type { Output } from "./output.ts";
import { type TargetOptions, withTarget } from "./project_options.ts";

export interface Range {
  readonly since?: string;
  readonly until?: string;
}

export interface ReadingOptions extends TargetOptions {
  readonly json?: true;
}

export const readingNotes =
  `Warnings of the service are on standard error. Without a session it reads
with an API key that has the scope read: that of LOGLOOM_API_KEY, or of the profile.`;
export const readingExit =
  "0 after an answer, even an empty one, 1 after an error, 130 after Ctrl-C.";

/** Creates a command that takes a query. */
export function newReading(cli: Cli, name: string, summary: string, words: Words): Command {
  return withTarget(newCommand(cli, name, summary, { exit: readingExit, ...words }))
    .argument("[query...]", "terms and stages, as in 'level:error | count() by service'")
    .option("--json", "a JSON object a line");
}

export function withRange(command: Command): Command {
  return command
    .option("--since <when>", "15m, 2h, 7d, now-1h or a time; else the last hour")
    .option("--until <when>", "the same; else now");
}

/** Joins the words of a query and remembers it, so that error messages can point into it. */
export function queryOf(cli: Cli, words: readonly string[]): string {
  return cli.query = words.join(" ");
}

export function rangeOf(cli: Cli, { since, until }: Range): RangeOptions {
  return { since: timeOf("--since", since), until: timeOf("--until", until), signal: cli.signal };
}

/**
 * Prints the warnings. A query that means something else than intended usually finds nothing, and the user would not
 * know why.
 */
export function warn(warnings: readonly QueryWarning[] | null | undefined): void {
  for (const warning of warnings ?? []) console.error(warningLine(warning));
}

/** Says in which range nothing was found, and what to try. `page` has the range that the service searched. */
export function tellOfNone(
  cli: Cli,
  what: "records" | "groups" | "fields",
  { since, until }: Range,
  page?: { readonly ts_from: string; readonly ts_to: string },
): void {
  const asked = secondsOf(since ?? "");
  const isRecent = until === undefined && (since === undefined || asked !== undefined);
  const seconds = isRecent && page ? secondsBetween(page.ts_from, page.ts_to) : asked;
  const where = isRecent && seconds !== undefined
    ? `in the last ${whileOf(seconds)}`
    : page
    ? `from ${page.ts_from} to ${page.ts_to}`
    : "in this range";
  const wider = ["24h", "7d", "30d"].find((one) => isRecent && secondsOf(one)! > (seconds ?? 3600));
  const todo = [
    ...wider === undefined ? [] : [`--since ${wider} looks further back`],
    ...what === "fields" ? [] : [`${cli.call("fields")} lists the fields that there are`],
  ];
  console.error(`logloom: No ${what} ${where}${todo.length > 0 ? `: ${todo.join(", ")}` : ""}.`);
}

const secondsBetween = (from: string, to: string) =>
  Math.round((Date.parse(to) - Date.parse(from)) / 1000);

export function tellOfMore(shown: string): void {
  console.error(`logloom: these are ${shown}, and there are more: --limit N shows more.`);
}

/** The warnings of an answer without rows, which could carry none: those of its filter. */
async function whyNone(cli: Cli, reader: Reader, range: Range): Promise<readonly QueryWarning[]> {
  const [filter] = /^(?:"(?:[^"\\]|\\.)*"|\\.|[^"\\|])*/s.exec(cli.query) ?? [""];
  try {
    const { warnings } = await reader.search(filter.trim(), { ...rangeOf(cli, range), limit: 1 });
    const stages = cli.query.slice(filter.length);
    return warnings.map((warning) => ({
      ...warning,
      suggestion: warning.suggestion && `${warning.suggestion} ${stages}`.trim(),
    }));
  } catch {
    // A view may allow numbers only.
    return [];
  }
}

/** Writes the rows of an aggregate. */
export async function writeStats(
  cli: Cli,
  reader: Reader,
  options: ReadingOptions & Range,
  limit: number,
  output: Output,
): Promise<void> {
  const rows = await reader.stats(cli.query, { ...rangeOf(cli, options), limit });
  if (rows.length === 0) tellOfNone(cli, "groups", options);
  warn(rows.length === 0 ? await whyNone(cli, reader, options) : rows[0].warnings);
  for (const line of options.json ? rows.map(jsonLine) : statLines(rows)) {
    if (!await output.write(line)) return;
  }
  const groups = rows[0]?.total_groups ?? 0;
  if (groups > rows.length) tellOfMore(`${rows.length} of ${groups} groups`);
}
