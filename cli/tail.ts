import { createService, pause, readUser } from "./client/service.ts";
import { parseOptions } from "./options.ts";
import { runReading } from "./reading/command.ts";
import { humanLine, jsonLine, type LogRecord } from "./reading/lines.ts";
import { connection, connectionHelp, wholeNumber } from "./reading/options.ts";
import { isColoured, openOutput } from "./reading/output.ts";

const help = `Follows the logs: npm run tail -- [OPTIONS] 'QUERY'

  npm run tail -- 'level:>=warn'

  --backlog N      records to begin with, 0 to 1000 (default 10)
  --json           a JSON object a line
${connectionHelp}

Ctrl-C ends it. While the service is away it waits; nothing that comes meanwhile is left out.`;

interface Tail {
  logs: LogRecord[];
  next_cursor: string;
  more: boolean;
}

const everyMs = 1000;

let query = "";

await runReading(() => query, async (signal) => {
  const { values, positionals } = parseOptions({
    args: Deno.args,
    allowPositionals: true,
    options: {
      ...connection,
      help: { type: "boolean", short: "h" },
      backlog: { type: "string" },
      json: { type: "boolean" },
    },
  });
  if (values.help) return console.log(help);
  query = positionals.join(" ");
  const backlog = wholeNumber("--backlog", values.backlog ?? "10", 0, 1000);
  const user = await readUser(values);
  const service = (patienceMs: number) =>
    createService({
      ...user,
      signal,
      patienceMs,
      onRetry: (reason) => console.error(`logloom: ${reason}; waiting for it …`),
    });
  const output = openOutput({ page: false });

  // A first call that fails is told at once; later ones wait as long as it takes.
  let tail = await service(10_000).call("tail_logs", {
    p_query_dsl: query,
    p_backlog: backlog,
  }) as Tail;
  const patient = service(Infinity);
  for (;;) {
    for (const record of tail.logs) {
      const line = values.json ? jsonLine(record) : humanLine(record, isColoured());
      if (!await output.write(line)) return;
    }
    if (!tail.more) await pause(everyMs, signal);
    tail = await patient.call("tail_logs", {
      p_query_dsl: query,
      p_cursor: tail.next_cursor,
      p_limit: 1000,
    }) as Tail;
  }
});
