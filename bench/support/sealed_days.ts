import { secondsOf } from "./processor.ts";
import type { BenchStack } from "./stack.ts";

/**
 * Creates a tenant's days like the service: as its owner, because no job could drop a superuser's partition, and with
 * rows in log_days, because retention drops days without them.
 */
export async function makeDays({ sql }: BenchStack, tenant: string, days: string[]): Promise<void> {
  await sql.begin(async (one) => {
    await one`set local role postgres`;
    for (const day of days) {
      await one`insert into logloom_private.log_days (tenant_id, day) values (${tenant}, ${day})
        on conflict do nothing`;
      await one`select logloom_private.create_partition(${day}::date)`;
    }
  });
}

/** Writes a tenant's records evenly over a day, in batches of a thousand. Returns the bytes of their JSON. */
export async function fillDay(
  { sql }: BenchStack,
  tenant: string,
  events: Iterable<Record<string, unknown>>,
  day: string,
  scale: number,
): Promise<number> {
  let bytes = 0;
  let at = 0;
  let batch: Record<string, unknown>[] = [];
  const flush = async () => {
    await sql`
      insert into logloom.logs (
        id, tenant_id, ts, received_at, write_seq,
        level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
      )
      select
        overlay(e.key::text
          placing lpad(to_hex(e.n::integer - 1), 4, '0') from 33)::uuid,
        ${tenant}, e.ts, e.last + interval '300 milliseconds', ${1 + at / 1000}::bigint,
        e.event ->> 'level', e.event ->> 'msg', e.event ->> 'service', e.event ->> 'env',
        e.event ->> 'req_id', e.event ->> 'user_id', e.event ->> 'route', e.event ->> 'host',
        e.event -> 'attrs', 200 + octet_length(e.event::text)
      from (
        select j.event, j.n, (j.event ->> 'ts')::timestamptz as ts,
          b.last, b.key
        from (
          -- This is computed once, because a batch has one key.
          select l.last, logloom_private.batch_key(l.last) as key
          from (select ${String(batch[batch.length - 1].ts)}::timestamptz as last) l
          offset 0
        ) b
        cross join jsonb_array_elements(${JSON.stringify(batch)}::text::jsonb)
          with ordinality j (event, n)
      ) e`;
    at += batch.length;
    batch = [];
  };
  let n = 0;
  for (const event of events) {
    const ts = new Date(Date.parse(`${day}T00:00:00Z`) + Math.floor(n++ * 86_399_000 / scale));
    const sent = { ts: ts.toISOString(), ...event };
    bytes += new TextEncoder().encode(JSON.stringify(sent)).length;
    batch.push(sent);
    if (batch.length === 1000) await flush();
  }
  if (batch.length > 0) await flush();
  return bytes;
}

/** Copies a tenant's day to another day, with new ids for each copy. */
export async function copyDay(
  { sql }: BenchStack,
  tenant: string,
  from: string,
  to: string,
  copy: number,
): Promise<void> {
  const shift = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
  await sql`
    insert into logloom.logs (
      id, tenant_id, ts, received_at, write_seq,
      level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
    )
    select
      overlay(
        l.id::text placing lpad(to_hex((16 * ${shift}::integer + ${copy}::integer) & 65535), 4, '0')
        from 25
      )::uuid,
      l.tenant_id, l.ts + ${shift}::integer * interval '1 day',
      l.received_at + ${shift}::integer * interval '1 day', l.write_seq,
      l.level, l.msg, l.service, l.env, l.req_id, l.user_id, l.route, l.host, l.attrs, l.record_bytes
    from logloom.logs l
    where l.tenant_id = ${tenant} and l.ts >= ${from} and l.ts < ${from}::timestamptz + interval '1 day'
    order by l.ts, l.id`;
}

export async function vacuumSealed({ sql }: BenchStack): Promise<void> {
  await sql`vacuum analyze logloom_private.blocks`;
  await sql`vacuum analyze logloom_private.block_columns`;
  // Vacuums now, because autovacuum would otherwise run during the questions.
  await sql`vacuum analyze logloom.logs`;
}

/** Seals days of a tenant in a backend of its own, to measure the backend. */
export async function seal(
  { sql }: BenchStack,
  tenant: string,
  days: string[],
): Promise<{ seconds: number; megabytes: number }> {
  const backend = await sql.reserve();
  try {
    const [{ pid }] = await backend`select pg_backend_pid() as pid`;
    const before = await secondsOf(pid);
    for (const day of days) {
      for (;;) {
        const [{ sealed }] = await backend`
          select logloom_private.seal_block(${tenant}, array[${day}::date]) as sealed`;
        if (sealed === 0) break;
      }
      await backend`select logloom_private.leave_days(array[${tenant}], array[${day}::date])`;
    }
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    return {
      seconds: await secondsOf(pid) - before,
      // RssAnon at the end is the peak, because the allocator keeps freed memory between blocks.
      megabytes: Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024,
    };
  } finally {
    backend.release();
  }
}

export const sealedTables = ["blocks", "block_columns"];

export async function sizeOf({ sql }: BenchStack, tables: string[]): Promise<number> {
  const [{ bytes }] = await sql`
    select sum(pg_total_relation_size(c.oid))::float8 as bytes
    from pg_class c
    where c.relname = any(${tables}::text[])
      and c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)`;
  return bytes;
}
