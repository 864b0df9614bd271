import assert from "node:assert/strict";
import { mendOf, projectFindings } from "./project.ts";

Deno.test("doctor says what Logloom takes from the project, and how to take less", () => {
  const says = (project: Record<string, unknown>, storage: Record<string, unknown>) =>
    projectFindings({ project, storage })
      .map(({ check, status, message, todo }) =>
        [check, status, message, todo?.replace(/ .*/, "")].join("; ")
      );
  assert.deepEqual(
    says(
      { log_run: "on", log_statement: "on", runs_a_day: 4320, free_connections: 3 },
      { stored_bytes: 120_400_000, limit_bytes: null },
    ),
    [
      "pg_cron; ok; 4320 runs a day, each two lines in PostgreSQL's log; supabase",
      "connections; ok; 3 free; ",
      "storage; ok; 120 MB, without a limit; update",
    ],
  );
  assert.deepEqual(
    says(
      { log_run: "off", log_statement: "off", runs_a_day: null, free_connections: 2 },
      { stored_bytes: 150e6, limit_bytes: 300e6, percent: 50, policy: "drop_oldest" },
    ),
    [
      "pg_cron; ok; no runs are noted (cron.log_run is off), not in PostgreSQL's log; ",
      "connections; wrong; 2 free, and each of three jobs needs one; Lower",
      "storage; ok; 150 MB of 300 MB (50 %), then drop_oldest; ",
    ],
  );
  assert.deepEqual(projectFindings({}), []);
  assert.deepEqual(projectFindings({ alerts: { console_url: "https://x.example" } }), []);
  assert.deepEqual(
    projectFindings({ alerts: { console_url: null } }).map((one) => one.message),
    ["without a link to the console"],
  );
  assert.match(mendOf("database", undefined), /^The functions cannot call the database/);
  assert.match(mendOf("database", "read_only"), /^Make room/);
});
