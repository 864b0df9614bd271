import { ok } from "node:assert/strict";
import type postgres from "postgres";
import { openDatabase, stopJob } from "../support/database.ts";
import { keepRecords } from "../support/plans.ts";
import { type Shape, shapes } from "./record_shapes.ts";

// Measures the memory of a backend that works on hostile records: RssAnon during its work minus RssAnon before, in MiB.
// MEMORY_SHAPES selects shapes by a part of the name.

const limits = { sealing: 150, search: 64 };
const wanted = Deno.env.get("MEMORY_SHAPES");
const url = Deno.env.get("MEMORY_DB_URL");
const isTold = Deno.env.has("MEMORY_TELL");
const range = `'2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z'`;
/** A tenant with a few ordinary records, to warm up. */
const warm = "memory";

type Database = ReturnType<typeof openDatabase>;

/** Queries repeat a part many times, so that the memory for a record adds up. */
const path = `@${Array(32).fill("a").join(".")}`;
const times = (count: number, part: (n: number) => string, separator: string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(separator);

const firstTail = "logloom_private.encode_cursor(array['tail', '1', null])";

const operations: Record<string, string> = {
  "the newest": "to_json(public.search_logs('', @range, p_limit => 1000))",
  "a phrase": "to_json(public.search_logs('\"took\"', @range, p_limit => 100, p_order => 'asc'))",
  "any text": "to_json(public.search_logs('any:\"7 zebra\"', @range))",
  "any text by its expression": "to_json(public.search_logs('any:~\"[0-9]x[0-9]y\"', @range))",
  "an expression": "to_json(public.search_logs('msg:~\"7[0-9]+ zebra\"', @range))",
  "a word of the message": "to_json(public.search_logs('msg:w=zebra', @range))",
  "digits": "to_json(public.search_logs('\"123456789012\"', @range))",
  "an attribute": "to_json(public.search_logs('attrs.n:>=23456789', @range))",
  "an attribute's text": "to_json(public.search_logs('attrs.text:*zebra*', @range))",
  "many of any text": `to_json(public.search_logs('${
    times(40, (n) => `any:${n % 10}*${n}`, " OR ")
  }', @range))`,
  "many attributes": `to_json(public.search_logs('${
    times(60, (n) => `@text:~"z${n}z"`, " OR ")
  }', @range))`,
  "percentiles of a long path": `(select json_agg(s) from public.log_stats('| ${
    times(8, (n) => `p${n}(${path})`, ", ")
  }', @range) s)`,
  "counts by many attributes": `(select json_agg(s) from public.log_stats('| count() by ${
    times(60, (n) => `@text.x${n}`, ", ")
  }', @range) s)`,
  "a request": "to_json(public.search_logs('req_id:zebra', @range))",
  "counts by host": "(select json_agg(s) from public.log_stats('* | count() by host', @range) s)",
  "counts by an attribute":
    "(select json_agg(s) from public.log_stats('* | count() by attrs.text', @range) s)",
  "counts by message": "(select json_agg(s) from public.log_stats('* | count() by msg', @range) s)",
  "a sum": "(select json_agg(s) from public.log_stats('* | sum(attrs.n), p95(attrs.n)', @range) s)",
  "a sum by host":
    "(select json_agg(s) from public.log_stats('* | sum(attrs.n), p95(attrs.n) by host', @range) s)",
  "percentiles by request":
    "(select json_agg(s) from public.log_stats('* | p50(attrs.n), p90(attrs.n) by req_id', @range) s)",
  "series": "to_json(public.log_series('* | count() by host', @range))",
  "patterns": "(select json_agg(s) from public.log_stats('* | patterns', @range) s)",
  "fields": "(select json_agg(f) from public.list_log_fields('', @range) f)",
  "a tail": `to_json(public.tail_logs('', ${firstTail}, 1000))`,
  "a tail with a filter": `to_json(public.tail_logs('any:~"[0-9]x[0-9]y"', ${firstTail}, 1000))`,
  "an export": "to_json(public.export_logs('', @range, 'ndjson'))",
  "changes": "to_json(public.log_changes('', @range))",
  "context":
    "(select json_agg(r) from public.get_log_context(@id, p_before => 499, p_after => 499) r)",
};

const chosen = Object.entries(shapes)
  .filter(([name]) => !wanted || wanted.split(",").some((part) => name.includes(part)));

for (const [name, shape] of chosen) {
  Deno.test(`memory stays within its bounds: ${name}`, async () => {
    await using sql = openDatabase(url, 1);
    // The test seals the records itself.
    await using _job = await stopJob(sql, "seal_logs");
    const tenant = `memory ${name}`;
    const id = await prepare(sql, tenant, shape);
    const warmId = await prepare(sql, warm, { count: 200 });
    const over: string[] = [];
    const search = (call: string, id: string) => (reader: Database) =>
      reader.unsafe(
        `select octet_length(${call.replace("@range", range).replace("@id", `'${id}'`)}::text)`,
      );
    /** Measures all operations on one backend, to compile functions once; then alone what exceeds the limit. */
    const round = async (kind: string) => {
      const warmUps = Object.values(operations).map((call) => search(call, warmId));
      await using reader = await newBackend((sql) => warmUp(sql, tenant, warmUps));
      for (const [operation, call] of Object.entries(operations)) {
        let used = await measured(reader, search(call, id));
        const answer = Number(used.rows?.[0]?.octet_length ?? 0) / 2 ** 20;
        // The memory that the allocator keeps differs by some MiB between backends.
        for (let n = 0; n < 4 && used.mib - answer > limits.search; n++) {
          await using alone = await newBackend((sql) =>
            warmUp(sql, tenant, [search(call, warmId)])
          );
          const again = await measured(alone, search(call, id));
          if (again.mib < used.mib) used = again;
        }
        if (isTold) {
          console.log(
            `${kind}, ${operation}: ${used.mib.toFixed(0)} MiB, ${used.ms.toFixed(0)} ms, answer ${
              answer.toFixed(1)
            }${used.error ? " " + used.error : ""}`,
          );
        }
        if (used.error && !used.error.includes("The search took too long")) {
          over.push(`${kind}, ${operation}: ${used.error}`);
        }
        if (used.mib - answer > limits.search || answer > 16) {
          over.push(
            `${kind}, ${operation}: ${used.mib.toFixed(0)} MiB, answer ${answer.toFixed(1)}`,
          );
        }
      }
    };
    try {
      if (!Deno.env.has("MEMORY_SEALED")) await round("rows");
      await seal(sql, warm);
      await using sealer = await newBackend(() => Promise.resolve());
      const sealing = await measured(sealer, (sql) => seal(sql, tenant));
      if (isTold) {
        console.log(
          `sealing: ${sealing.mib.toFixed(0)} MiB, ${sealing.ms.toFixed(0)} ms, ${
            JSON.stringify(sealing.rows)
          }${sealing.error ?? ""}`,
        );
      }
      if (sealing.error) over.push(sealing.error);
      if (sealing.mib > limits.sealing) over.push(`sealing: ${sealing.mib.toFixed(0)} MiB`);
      await round("sealed");
    } finally {
      await clear(sql, [warm, tenant]);
    }
    ok(over.length === 0, over.join("\n"));
  });
}

async function seal(sql: Database, tenant: string) {
  for (let chunks = 0;; chunks++) {
    // Takes the same lock as the job.
    const [{ sealed }] = await sql.unsafe(
      `select pg_advisory_xact_lock(logloom_private.lock_key('deletion')),
        logloom_private.seal_block($1, '{2026-11-02}') as sealed`,
      [tenant],
    );
    if (sealed === 0) return [{ chunks }];
  }
}

/** A backend that has done its preparation, and its memory after it. */
async function newBackend(prepare: (sql: Database) => Promise<void>) {
  const sql = openDatabase(url, 1);
  const [{ pid }] = await sql`select pg_backend_pid() as pid`;
  await prepare(sql);
  return { sql, pid, before: rssAnon(pid), [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) };
}

/** Runs work on a backend, and returns how far its memory rose above the memory after the preparation. */
async function measured(
  { sql, pid, before }: Awaited<ReturnType<typeof newBackend>>,
  work: (sql: Database) => Promise<Record<string, unknown>[]>,
) {
  let most = before;
  const watch = setInterval(() => most = Math.max(most, rssAnon(pid)), 2);
  const began = performance.now();
  let rows: Record<string, unknown>[] | undefined, error: string | undefined;
  try {
    rows = await work(sql);
  } catch (thrown) {
    error = String(thrown);
  } finally {
    clearInterval(watch);
  }
  return { rows, error, mib: (most - before) / 1024, ms: performance.now() - began };
}

/** Does the same work as the tenant with ordinary records first, so that functions are compiled and plans exist. */
async function warmUp(
  sql: Database,
  tenant: string,
  works: ((sql: Database) => Promise<unknown>)[],
) {
  await sql`set statement_timeout = '15s'`;
  await readAs(sql, warm);
  for (const work of works) await work(sql);
  await readAs(sql, tenant);
}

async function readAs(sql: Database, tenant_id: string) {
  const claims = JSON.stringify({ role: "authenticated", tenant_id, sub: "u", exp: 4e9 });
  await sql`select set_config('request.jwt.claims', ${claims}, false)`;
}

function rssAnon(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]);
}

/** Writes a tenant's records and returns the id of the middle one. */
async function prepare(sql: Database, tenant: string, shape: Shape): Promise<string> {
  await keepRecords(sql, tenant, 36_500);
  await clear(sql, [tenant]);
  await sql.begin((tx) => write(tx, tenant, shape));
  const [{ id }] = await sql`
    select id from logloom.logs where tenant_id = ${tenant}
    order by ts offset ${Math.floor(shape.count / 2)} limit 1`;
  return id;
}

async function clear(sql: Database, tenants: string[]) {
  await sql`delete from logloom_private.blocks where tenant_id = any(${tenants})`;
  await sql`delete from logloom.logs where tenant_id = any(${tenants})`;
  await sql`delete from logloom_private.log_counts where tenant_id = any(${tenants})`;
}

async function write(sql: postgres.TransactionSql, tenant: string, shape: Shape) {
  // Both run in one transaction, so that no job replaces or drops the day meanwhile.
  await sql`select logloom_private.create_partition('2026-11-02')`;
  const [{ write_seq }] = await sql`select nextval('logloom_private.write_seq') as write_seq`;
  // Adds the counts, too, because some queries read only counts.
  const [{ add }] = await sql`
    select logloom_private.added_records_sql(
      'insert into logloom.logs as l select g.* from given g'
    ) as add`;
  await sql.unsafe("create temporary table if not exists given (like logloom.logs)");
  const step = 500;
  for (let first = 1; first <= shape.count; first += step) {
    await sql.unsafe(
      `insert into given (
        id, tenant_id, ts, received_at, write_seq, level, msg, service, env, req_id, user_id, route,
        host, attrs
      )
      select
        overlay(
          '019a9e8f-9000-7e50-8eb7-598b58030000' placing lpad(to_hex(n), 4, '0') from 33
        )::uuid,
        $1, '2026-11-02T00:00:00Z'::timestamptz + n * interval '1 second', '2026-11-02T12:00:00Z',
        ${write_seq}, 'info', ${shape.msg ?? "'request ' || n || ' took ' || n % 977 || ' ms'"},
        ${shape.service ?? "'api'"}, 'prod', ${shape.req_id ?? "md5(n::text)"}, 'u' || n % 100,
        '/route/' || n % 7, ${shape.host ?? "'web-' || n % 5"},
        ${shape.attrs ?? "jsonb_build_object('n', n, 'text', md5(n::text), 'status', 200 + n % 5)"}
      from generate_series(${first}, ${Math.min(first + step - 1, shape.count)}) n`,
      [tenant],
    );
    await sql.unsafe(
      "update given g set record_bytes = logloom_private.bytes_of_record(jsonb_populate_record(null::logloom.logs, to_jsonb(g)))",
    );
    await sql.unsafe(add);
    await sql.unsafe("truncate given");
  }
}
