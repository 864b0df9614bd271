import type { Command } from "../command_line.ts";
import type { LogRecord } from "../../read/types.ts";
import type { Cli } from "../command_line.ts";
import { exportFileOf, writeExport } from "../export_file.ts";
import { humanLine, jsonLine } from "../format_lines.ts";
import { wholeNumber } from "../options.ts";
import { isColoured, openOutput } from "../output.ts";
import {
  newReading,
  queryOf,
  type Range,
  rangeOf,
  readingNotes,
  type ReadingOptions,
  tellOfMore,
  tellOfNone,
  warn,
  withRange,
  writeStats,
} from "../query_commands.ts";
import { openLogReader } from "../project_options.ts";

interface Options extends ReadingOptions, Range {
  limit: string;
  oldest?: true;
  pager: boolean;
  export?: string;
  resume?: true;
}

export function search(cli: Cli): Command {
  return withRange(newReading(cli, "search", "Searches the logs", {
    examples: [
      "'level:error service:api' --since 1h",
      "'level:error | count() by service' --since 24h",
      "-service:web --json | head",
      "'level:error' --since 7d --export errors.csv",
    ],
    notes: readingNotes,
  }))
    .option("--limit <n>", "the most records, 1 to 100000, or groups of an aggregate", "1000")
    .option("--oldest", "the oldest first")
    .option("--no-pager", "no pager, even for long output")
    .option("--export <file>", "all records into a file: .ndjson, .csv, or these with .gz")
    .option("--resume", "go on with the file of an export that was interrupted")
    .action(async (words: string[], options: Options) => {
      const query = queryOf(cli, words);
      const range = rangeOf(cli, options);
      const limit = wholeNumber("--limit", options.limit, 1, 100_000);
      // The query may have a sort stage, which the order must not contradict.
      const order = options.oldest ? "asc" : undefined;
      const asJson = options.json === true;
      if (options.export !== undefined) return await writeFile(options.export);
      const reader = await openLogReader(cli, options);
      const output = await openOutput({ page: !asJson && options.pager });
      try {
        if (aggregates(query)) {
          await writeStats(cli, reader, options, Math.min(limit, 1000), output);
        } else await writeRecords();
      } finally {
        await output.close();
      }

      async function writeFile(path: string): Promise<void> {
        const file = exportFileOf(path);
        const reader = await openLogReader(cli, options);
        const isTold = process.stderr.isTTY === true;
        const records = await writeExport(
          reader,
          query,
          file,
          { ...range, order },
          options.resume === true,
          (records) => isTold && process.stderr.write(`\rlogloom: ${count(records)} records`),
        );
        if (isTold) process.stderr.write("\r");
        const found = records === 1 ? "1 record is" : `${count(records)} records are`;
        console.error(`logloom: ${found} in ${path}.`);
      }

      async function writeRecords(): Promise<void> {
        let cursor: string | undefined;
        let left = limit;
        do {
          const page = await reader.search(query, {
            ...range,
            order,
            limit: Math.min(left, 500),
            cursor,
          });
          if (cursor === undefined) warn(page.warnings);
          const isNone = left === limit && page.logs.length === 0 && page.next_cursor === null;
          if (isNone) tellOfNone(cli, "records", options, page);
          for (const record of page.logs) if (!await output.write(line(record))) return;
          left -= page.logs.length;
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined && left > 0);
        if (cursor !== undefined) tellOfMore(`${limit} records`);
      }

      function line(record: LogRecord): string {
        return asJson ? jsonLine(record) : humanLine(record, isColoured());
      }
    });
}

function count(records: number): string {
  return records.toLocaleString("en");
}

/** Whether a query returns rows of numbers: it has a stage that does not keep records. */
function aggregates(query: string): boolean {
  const [, ...stages] = query.replace(/"(?:\\.|[^"\\])*"|\\./g, "x").split("|");
  return stages.some((stage) => !/^\s*(?:(?:where|json|logfmt|sort|limit|fields)\b|$)/.test(stage));
}
