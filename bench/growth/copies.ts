import type { BenchStack } from "../support/stack.ts";

/** What a tenant had when it was looked at: copies come after it. */
export interface Original {
  tenant: string;
  lastBlock: string;
  lastCount: string;
}

export async function originalOf({ sql }: BenchStack, tenant: string): Promise<Original> {
  const [ids] = await sql<{ lastBlock: string; lastCount: string }[]>`
    select
      (
        select max(b.block_id)::text from logloom_private.blocks b where b.tenant_id = ${tenant}
      ) as "lastBlock",
      (
        select coalesce(max(c.count_id), 0)::text
        from logloom_private.log_counts c where c.tenant_id = ${tenant}
      ) as "lastCount"`;
  return { tenant, ...ids };
}

/**
 * Copies blocks and counts to so many days later, and a millisecond later for each round. Copies keep ids and checksums,
 * which no question reads.
 */
export async function copyToDay(
  bench: BenchStack,
  original: Original,
  days: number,
  round: number,
): Promise<void> {
  await copy(bench, original, [original.tenant], days, round);
}

/** Copies blocks and counts for new tenants. */
export async function copyTenants(
  bench: BenchStack,
  original: Original,
  tenants: string[],
): Promise<void> {
  const { sql } = bench;
  await sql`
    insert into logloom.tenants (tenant_id, plan_id)
    select t, 'enterprise' from unnest(${tenants}::text[]) t`;
  await sql`
    insert into logloom_private.log_days (tenant_id, day)
    select t, d.day
    from logloom_private.log_days d, unnest(${tenants}::text[]) t
    where d.tenant_id = ${original.tenant}`;
  await copy(bench, original, tenants, 0, 0);
}

async function copy(
  { sql }: BenchStack,
  original: Original,
  tenants: string[],
  days: number,
  round: number,
): Promise<void> {
  const shift = `interval '${days} days ${round} milliseconds'`;
  const blocks = await columnsOf("blocks", {
    block_id: "m.copy_id",
    tenant_id: "m.tenant_id",
    first_ts: `c.first_ts + ${shift}`,
    last_ts: `c.last_ts + ${shift}`,
  });
  const columns = await columnsOf("block_columns", {
    block_id: "m.copy_id",
    tenant_id: "m.tenant_id",
  });
  const counts = await columnsOf("log_counts", {
    count_id: "nextval(pg_get_serial_sequence('logloom_private.log_counts', 'count_id'))",
    tenant_id: "t",
    minute: `c.minute + interval '${days} days'`,
  });
  await sql.begin(async (one) => {
    await one`
      create temporary table copies on commit drop as
      select t as tenant_id, b.block_id,
        nextval(pg_get_serial_sequence('logloom_private.blocks', 'block_id')) as copy_id
      from logloom_private.blocks b, unnest(${tenants}::text[]) t
      where b.tenant_id = ${original.tenant} and b.block_id <= ${original.lastBlock}::bigint`;
    for (const [table, to] of [["blocks", blocks], ["block_columns", columns]] as const) {
      await one.unsafe(
        `insert into logloom_private.${table} (${to.names}) overriding system value
        select ${to.values}
        from copies m
        join logloom_private.${table} c on c.block_id = m.block_id and c.tenant_id = $1`,
        [original.tenant],
      );
    }
    await one.unsafe(
      `insert into logloom_private.log_counts (${counts.names}) overriding system value
      select ${counts.values}
      from logloom_private.log_counts c, unnest($1::text[]) t
      where c.tenant_id = $2 and c.count_id <= $3::bigint`,
      [tenants, original.tenant, original.lastCount],
    );
  });

  async function columnsOf(table: string, made: Record<string, string>) {
    const rows = await sql<{ name: string }[]>`
      select a.attname as name
      from pg_attribute a
      where a.attrelid = ${`logloom_private.${table}`}::regclass
        and a.attnum > 0 and not a.attisdropped
      order by a.attnum`;
    return {
      names: rows.map(({ name }) => name).join(", "),
      values: rows.map(({ name }) => made[name] ?? `c.${name}`).join(", "),
    };
  }
}
