import type { Command } from "../command_line.ts";
import type { Cli } from "../command_line.ts";
import { humanLine, jsonLine } from "../format_lines.ts";
import { wholeNumber } from "../options.ts";
import { isColoured, openOutput } from "../output.ts";
import { newReading, queryOf, readingNotes, type ReadingOptions, warn } from "../query_commands.ts";
import { openLogReader } from "../project_options.ts";

export function tail(cli: Cli): Command {
  return newReading(cli, "tail", "Follows the logs", {
    examples: ["'level:>=warn'", "--backlog 100 --json"],
    notes: `Ctrl-C ends it. While the service is unreachable it waits, and misses nothing.
${readingNotes}`,
    exit: "0 where nobody reads any more, 1 after an error, 130 after Ctrl-C.",
  })
    .option("--backlog <n>", "records to begin with, 0 to 1000", "10")
    .action(async (words: string[], options: ReadingOptions & { backlog: string }) => {
      const query = queryOf(cli, words);
      const backlog = wholeNumber("--backlog", options.backlog, 0, 1000);
      const reader = await openLogReader(cli, options, "waiting for it");
      const output = await openOutput({ page: false });
      warn((await reader.validate(query, cli)).warnings);
      for await (const record of reader.tail(query, { backlog, signal: cli.signal })) {
        const line = options.json ? jsonLine(record) : humanLine(record, isColoured());
        if (!await output.write(line)) return;
      }
    });
}
