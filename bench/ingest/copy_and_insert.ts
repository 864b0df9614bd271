import { serviceRoleKey } from "../../local/signing_keys.ts";
import { eventFields } from "../../supabase/functions/_shared/record_fields.ts";
import { type Event, makeBodies } from "../support/events.ts";
import { load } from "../support/load.ts";
import type { BenchStack } from "../support/stack.ts";
import { bodyBytes, countEvents } from "./requests.ts";

// Stores the same events in the same database in other ways, to compare ingest with.

/** Measures one COPY of all records into an empty partition with the same indexes. Returns rows a second. */
export async function copy({ sql }: BenchStack): Promise<number> {
  const [{ folder }] = await sql<{ folder: string }[]>`
    select current_setting('data_directory') as folder`;
  const file = `${folder}/bench.copy`;
  const [{ partition }] = await sql<{ partition: string }[]>`
    select logloom_private.partition_name(logloom_private.utc_day(now())) as partition`;
  // The records are in the order of receipt, like in a client's COPY.
  const { count } = await sql.unsafe(
    `copy (select * from logloom.${partition} order by received_at, id) to '${file}'`,
  );
  await sql.unsafe(`truncate logloom.${partition}`);
  await sql`checkpoint`;
  const started = performance.now();
  await sql.unsafe(`copy logloom.${partition} from '${file}'`);
  const seconds = (performance.now() - started) / 1000;
  await sql.unsafe(`copy (select) to program 'rm ${file}'`);
  await sql.unsafe(`truncate logloom.${partition}`);
  return count / seconds;
}

/** Measures plain PostgREST inserts over 4 connections, with bodies of the same size. Returns events a second. */
export async function bulkInsert(
  bench: BenchStack,
  events: Event[],
  seconds: number,
): Promise<number> {
  const { sql, state } = bench;
  await sql.unsafe(`
    create table public.bench_logs (like logloom.logs including all);
    alter table public.bench_logs
      alter id set default gen_random_uuid(), alter tenant_id set default 'bench',
      alter received_at set default now(), alter write_seq set default 1;
    grant insert on public.bench_logs to service_role;
    notify pgrst, 'reload schema';
  `);
  const bodies = makeBodies(events, bodyBytes);
  const url = `${state.url}/rest/v1/bench_logs?columns=${eventFields.join(",")}`;
  const insert = (body: Uint8Array) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${serviceRoleKey}`,
        "content-type": "application/json",
        prefer: "return=minimal",
      },
      body: body as BodyInit,
    }).then((answer) =>
      new Response(null, { status: answer.status === 201 ? 200 : answer.status })
    );
  while ((await insert(new TextEncoder().encode("[]"))).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const done = await load(
    { connections: 4, seconds },
    (n) => insert(bodies[n % bodies.length].stamped()),
  );
  await sql`drop table public.bench_logs`;
  await sql`notify pgrst, 'reload schema'`;
  return countEvents(done, bodies) / done.seconds;
}
