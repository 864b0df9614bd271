import type { Command } from "../command_line.ts";
import type { Cli } from "../command_line.ts";
import { wholeNumber } from "../options.ts";
import { openOutput } from "../output.ts";
import {
  newReading,
  queryOf,
  type Range,
  readingNotes,
  type ReadingOptions,
  withRange,
  writeStats,
} from "../query_commands.ts";
import { openLogReader } from "../project_options.ts";

export function stats(cli: Cli): Command {
  return withRange(newReading(cli, "stats", "Counts, or what a query's last stage says", {
    examples: ["level:error --since 7d", "'| p95(@ms) by route' --since 24h --json"],
    notes: readingNotes,
  }))
    .option("--limit <n>", "the most groups, 1 to 1000", "1000")
    .action(async (words: string[], options: ReadingOptions & Range & { limit: string }) => {
      queryOf(cli, words);
      const limit = wholeNumber("--limit", options.limit, 1, 1000);
      const reader = await openLogReader(cli, options);
      const output = await openOutput({ page: false });
      await writeStats(cli, reader, options, limit, output);
    });
}
