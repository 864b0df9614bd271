import assert from "node:assert/strict";
import type postgres from "postgres";
import { callsIn, functionsOf, schemaTexts } from "../../local/migrations/schema_functions.ts";
import { openDatabase } from "../support/database.ts";

// Limits how much code one has to read to understand a search: the functions that sample queries run, also in dynamic
// SQL, without the compiler's functions and constants.

const most = { functions: 79, deep: 9 };
/** A limit with a name. */
const constant = /^return (?:\d+|(?:interval )?'[^']*');$/;
const tenant = "search-reach";

const samples = [
  "",
  "level:error",
  "level:error service:api",
  '"failed password"',
  "fail*",
  'msg:~"fail.*root"',
  "any:root",
  "attrs.status:>=500",
  'attrs.status:200 OR route:"/api/3"',
  "-level:info",
  "req_id:*",
  "user_id:u7",
  "host:[a TO x]",
  "host:web-1",
  "host:10.0.0.0/8",
  "route:/api*",
  // This time is in the middle of a sealed day, at any hour.
  `ts:>${new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`,
  "attrs.status:*",
  "level:error | fields msg, attrs.status",
  "level:error | limit 5",
  "| sort by ts",
  '"user 77" | json msg | where attrs.a:1',
  '"user 77" | logfmt msg | fields msg',
];

Deno.test("a search uses few functions, and calls are not deeply nested", async () => {
  await using sql = openDatabase(undefined, 1);
  const run = await runBySamples(sql);
  const sources = functionsOf(await schemaTexts())
    .filter(({ file }) => !file.startsWith("supabase/schemas/query/"))
    .filter(({ name, body }) => run.has(name) && !constant.test(body));
  const names = new Set(sources.map(({ name }) => name));
  const calls = new Map([...names].map((name) => [name, new Set<string>()]));
  for (const { name, body } of sources) {
    for (const call of callsIn(body, names)) calls.get(name)?.add(call);
  }
  const path = longestPath("public.search_logs", calls);
  console.log(`${names.size - 1} functions, ${path.length - 1} deep: ${path.join(" > ")}`);
  assert.ok(names.size - 1 <= most.functions, [...names].sort().join("\n"));
  assert.ok(path.length - 1 <= most.deep, path.join("\n"));
});

const nothingStays = new Error("The transaction is rolled back.");

/** Returns names of the functions that PostgreSQL ran for the samples, over rows and over blocks. */
async function runBySamples(sql: postgres.Sql): Promise<Set<string>> {
  const run = new Set<string>();
  await sql.begin(async (sql) => {
    await sql`set local track_functions = 'all'`;
    await sql`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, 'pro')`;
    await sql`
      select logloom_private.create_partition(logloom_private.utc_day(now()) - d)
      from generate_series(1, 6) d`;
    await sql.unsafe(records);
    await sql`select set_config(
      'request.jwt.claims',
      jsonb_build_object(
        'role', 'authenticated', 'tenant_id', ${tenant}::text, 'sub', 'somebody',
        'exp', extract(epoch from now()) + 600
      )::text,
      true
    )`;
    const before = await counted(sql);
    await sql`set local role authenticated`;
    for (let days = 0; days < 2; days++) {
      for (const sample of samples) {
        const orders = sample.includes("sort") ? [null] : ["desc", "asc"];
        for (const order of orders) {
          const [page] = await sql`
            select p.next_cursor
            from public.search_logs(${sample}, 'now-7d', 'now', 20, null, ${order}) p`;
          if (page.next_cursor === null) continue;
          await sql`select public.search_logs(${sample}, null, null, 20, ${page.next_cursor}, ${order})`;
        }
      }
      // Repeats the queries with half of the days as blocks.
      await sql`set local role none`;
      for (const [name, calls] of await counted(sql)) {
        if (calls > (before.get(name) ?? 0)) run.add(name);
      }
      if (days === 0) {
        await sql`update logloom_private.settings set seal_day_records = 1 where singleton`;
        await sql`select pg_advisory_xact_lock(logloom_private.lock_key('deletion'))`;
        await sql`
          select logloom_private.seal_block(${tenant}, array[logloom_private.utc_day(now()) - d])
          from generate_series(2, 3) d`;
        for (const [name, calls] of await counted(sql)) before.set(name, calls);
        await sql`set local role authenticated`;
      }
    }
    throw nothingStays;
  }).catch((error) => {
    if (error !== nothingStays) throw error;
  });
  return run;
}

async function counted(sql: postgres.TransactionSql): Promise<Map<string, number>> {
  const rows = await sql`
    select f.schemaname || '.' || f.funcname as name, sum(f.calls)::integer as calls
    from pg_stat_xact_user_functions f
    where f.schemaname in ('public', 'logloom_private')
    group by 1`;
  return new Map(rows.map(({ name, calls }) => [name, calls]));
}

/** Returns the longest chain of calls from a function. */
function longestPath(
  from: string,
  calls: Map<string, Set<string>>,
  above: string[] = [],
): string[] {
  const path = [...above, from];
  return [...calls.get(from) ?? []]
    .filter((name) => !path.includes(name))
    .map((name) => longestPath(name, calls, path))
    .reduce((longest, other) => other.length > longest.length ? other : longest, path);
}

// Records up to yesterday afternoon, so that the reads do not depend on the hour.
const records = `
  insert into logloom.logs (
    ts, received_at, write_seq, id, tenant_id, level, msg, service, req_id, user_id, route, host,
    attrs, record_bytes
  )
  select
    logloom_private.day_start(logloom_private.utc_day(now())) - interval '10 hours'
      - n * interval '3 minutes',
    now(), 1, gen_random_uuid(), '${tenant}',
    (array['error', 'warn', 'info', null])[1 + n % 4],
    (array['failed password of root', '{"a": 1, "text": "user 77"}', 'a=1 user 77 left'])[1 + n % 3],
    (array['api', 'worker'])[1 + n % 2], 'r' || n, 'u' || n % 9, '/api/' || n % 5,
    (array['web-1', '10.0.0.' || n % 250, 'a'])[1 + n % 3],
    jsonb_build_object('status', (array[200, 404, 500])[1 + n % 3]),
    -- Some are large.
    case when n % 100 = 0 then 1000000 else 400 end
  from generate_series(1, 2000) n;
  insert into logloom_private.log_days (tenant_id, day)
  select distinct l.tenant_id, logloom_private.utc_day(l.ts)
  from logloom.logs l where l.tenant_id = '${tenant}'`;
