import { runReading } from "./reading/command.ts";
import {
  jsonLine,
  type LogRecord,
  type Stat,
  statLines,
  type Warning,
  warningLine,
} from "./reading/lines.ts";
import { connectionHelp, timeOf, wholeNumber } from "./reading/options.ts";
import { openOutput } from "./reading/output.ts";

const help = `Searches the logs: npm run search -- [OPTIONS] 'QUERY'

  npm run search -- 'level:error service:api' --since 1h
  npm run search -- 'level:error | count() by service' --since 24h

  --since WHEN     15m, 2h, 7d, now-1h or a time; default the last hour
  --until WHEN     the same; default now
  --limit N        the most records, 1 to 100000 (default 1000), or groups of an aggregate
  --oldest         the oldest first
  --json           a JSON object a line
  --no-pager       no pager, even for long output
${connectionHelp}

Warnings of the service, and whether there is more, are on standard error.

Exit code: 0 after an answer, even an empty one, 1 after an error, 130 after Ctrl-C.`;

interface Page {
  logs: LogRecord[];
  next_cursor: string | null;
  warnings: Warning[] | null;
}

/** A query that means something else than was meant mostly finds nothing, and nobody would know why. */
function warn(warnings: Warning[] | null | undefined): void {
  for (const warning of warnings ?? []) console.error(warningLine(warning));
}

await runReading({
  help,
  options: {
    since: { type: "string" },
    until: { type: "string" },
    limit: { type: "string" },
    oldest: { type: "boolean" },
    "no-pager": { type: "boolean" },
  },
  retrying: "trying again",
  read: async ({ query, values, service: connect, lineOf }) => {
    const range = {
      p_ts_from: timeOf("--since", values.since),
      p_ts_to: timeOf("--until", values.until),
    };
    const limit = wholeNumber("--limit", values.limit ?? "1000", 1, 100_000);
    const service = await connect(10_000);
    const output = openOutput({ page: !values.json && !values["no-pager"] });
    try {
      if (aggregates(query)) await writeStats();
      else await writeRecords();
    } finally {
      await output.close();
    }

    async function writeStats(): Promise<void> {
      const rows = await service.call("log_stats", {
        p_query_dsl: query,
        ...range,
        p_limit: Math.min(limit, 1000),
      }) as (Stat & { total_groups?: number; warnings?: Warning[] | null })[];
      warn(rows[0]?.warnings);
      for (const line of values.json ? rows.map(jsonLine) : statLines(rows)) {
        if (!await output.write(line)) return;
      }
      const groups = rows[0]?.total_groups ?? 0;
      if (groups > rows.length) tellOfMore(`${rows.length} of ${groups} groups`);
    }

    async function writeRecords(): Promise<void> {
      let cursor: string | null = null;
      let left = limit;
      do {
        const page = await service.call("search_logs", {
          p_query_dsl: query,
          ...range,
          p_order: values.oldest ? "asc" : "desc",
          p_limit: Math.min(left, 500),
          p_cursor: cursor,
        }) as Page;
        if (cursor === null) warn(page.warnings);
        for (const record of page.logs) {
          if (!await output.write(lineOf(record))) return;
        }
        left -= page.logs.length;
        cursor = page.next_cursor;
      } while (cursor !== null && left > 0);
      if (cursor !== null) tellOfMore(`${limit} records`);
    }

    function tellOfMore(shown: string): void {
      console.error(`logloom: these are ${shown}, and there are more: --limit N shows more.`);
    }
  },
});

/** Whether a stage makes rows of numbers: the stages that keep records are known. */
function aggregates(query: string): boolean {
  const [, ...stages] = query.replace(/"(?:\\.|[^"\\])*"|\\./g, "x").split("|");
  return stages.some((stage) => !/^\s*(?:(?:where|json|logfmt|sort|limit|fields)\b|$)/.test(stage));
}
