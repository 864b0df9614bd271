import { pause } from "./client/service.ts";
import { runReading } from "./reading/command.ts";
import { type LogRecord, type Warning, warningLine } from "./reading/lines.ts";
import { connectionHelp, wholeNumber } from "./reading/options.ts";
import { openOutput } from "./reading/output.ts";

const help = `Follows the logs: npm run tail -- [OPTIONS] 'QUERY'

  npm run tail -- 'level:>=warn'

  --backlog N      records to begin with, 0 to 1000 (default 10)
  --json           a JSON object a line
${connectionHelp}

Ctrl-C ends it. While the service is unreachable it waits, and misses nothing. Warnings of the
service are on standard error.

Exit code: 1 after an error, 130 after Ctrl-C.`;

interface Tail {
  logs: LogRecord[];
  next_cursor: string;
  more: boolean;
}

const everyMs = 1000;

await runReading({
  help,
  options: { backlog: { type: "string" } },
  retrying: "waiting for it",
  read: async ({ query, values, signal, service, lineOf }) => {
    const backlog = wholeNumber("--backlog", values.backlog ?? "10", 0, 1000);
    // A failing first call is reported immediately; later ones wait as long as necessary.
    const first = await service(10_000);
    const output = openOutput({ page: false });
    let tail = await first.call("tail_logs", {
      p_query_dsl: query,
      p_backlog: backlog,
    }) as Tail;
    const { warnings } = await first.call("validate_query", { p_query_dsl: query }) as {
      warnings: Warning[];
    };
    for (const warning of warnings) console.error(warningLine(warning));
    const patient = await service(Infinity);
    for (;;) {
      for (const record of tail.logs) {
        if (!await output.write(lineOf(record))) return;
      }
      if (!tail.more) await pause(everyMs, signal);
      tail = await patient.call("tail_logs", {
        p_query_dsl: query,
        p_cursor: tail.next_cursor,
        p_limit: 1000,
      }) as Tail;
    }
  },
});
