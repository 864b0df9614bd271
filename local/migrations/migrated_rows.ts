import postgres from "postgres";

/** Rows that migrations write, as key and JSON. A comparison of database objects does not see rows. */
const rowsThatMigrationsWrite: Record<string, string> = {
  "logloom_private.settings":
    "select '' as key, to_jsonb(t) as row from logloom_private.settings t",
  "logloom.plans": `
    select t.plan_id as key, to_jsonb(t) - 'created_at' - 'updated_at' as row from logloom.plans t`,
  "cron.job": `
    select t.jobname as key, jsonb_build_object(
      'schedule', t.schedule, 'command', t.command, 'active', t.active
    ) as row
    from cron.job t`,
};

type Rows = Map<string, Record<string, unknown>>;

/**
 * A line for each row that only one database has, and for each differing value. A missing member is a missing column,
 * which the comparison of objects finds.
 */
export async function rowDifferences(from: string, to: string): Promise<string[]> {
  const [before, after] = await Promise.all([rowsOf(from), rowsOf(to)]);
  const lines: string[] = [];
  for (const [name, row] of after) {
    const old = before.get(name);
    if (!old) lines.push(`${name} is new: ${JSON.stringify(row)}`);
    for (const [member, value] of Object.entries(row)) {
      if (!old || !(member in old)) continue;
      const [is, was] = [JSON.stringify(value), JSON.stringify(old[member])];
      if (is !== was) lines.push(`${name}: ${member} is ${is}, was ${was}`);
    }
  }
  for (const name of before.keys()) if (!after.has(name)) lines.push(`${name} is gone`);
  return lines;
}

async function rowsOf(url: string): Promise<Rows> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const rows: Rows = new Map();
  try {
    for (const [table, query] of Object.entries(rowsThatMigrationsWrite)) {
      for (const { key, row } of await sql.unsafe(query)) rows.set(`${table} ${key}`.trim(), row);
    }
  } finally {
    await sql.end();
  }
  return rows;
}
