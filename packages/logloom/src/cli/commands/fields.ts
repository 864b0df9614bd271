import type { Command } from "../command_line.ts";
import type { Cli } from "../command_line.ts";
import { columns, jsonLine } from "../format_lines.ts";
import { openOutput } from "../output.ts";
import {
  newReading,
  queryOf,
  type Range,
  rangeOf,
  type ReadingOptions,
  tellOfNone,
  withRange,
} from "../query_commands.ts";
import { openLogReader } from "../project_options.ts";

const shownValues = 5;

export function fields(cli: Cli): Command {
  return withRange(newReading(cli, "fields", "Lists fields; ≈ where only a sample was read", {
    examples: ["service:api --since 24h", "--json"],
  }))
    .action(async (words: string[], options: ReadingOptions & Range) => {
      const query = queryOf(cli, words);
      const range = rangeOf(cli, options);
      const reader = await openLogReader(cli, options);
      const found = await reader.fields(query, range);
      const rows = found.map(({ field, type, count, values, exact, records }) => {
        const few = values.slice(0, shownValues).map(({ value }) => value);
        const counted = exact ? `${count}` : `≈ ${Math.round(100 * count / records)} %`;
        return [field, type, counted, few.join(", ")];
      });
      if (rows.length === 0) tellOfNone(cli, "fields", options);
      const output = await openOutput({ page: false });
      const lines = options.json
        ? found.map(jsonLine)
        : found.length === 0
        ? []
        : columns([["field", "type", "count", "values"], ...rows], (column) => column === 2);
      for (const line of lines) if (!await output.write(line)) return;
    });
}
