import assert from "node:assert/strict";
import { ingest, newTenant, rpc, type Tenant } from "../../tests/support/client.ts";
import { callAsOwner, type Database, recordsOf } from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";

/** Noon four days ago: the day is over and can be sealed. */
export const noon = new Date(new Date().setUTCHours(12, 0, 0, 0) - 4 * 86_400_000);

/** Seals past days until the tenant has this many sealed records. */
export async function sealRecordsOf(
  sql: Database,
  tenantId: string,
  records: number,
): Promise<void> {
  await sql`update logloom_private.settings set seal_day_records = 1 where singleton`;
  await eventually("its day is sealed", async () => {
    await callAsOwner(sql, "select logloom_private.seal_step_at(now() + interval '1 day')");
    const [{ sealed }] = await sql`
      select coalesce(sum(c.records), 0)::integer as sealed
      from logloom_private.blocks c where c.tenant_id = ${tenantId}`;
    return sealed === records;
  });
}

/** The number of events of tenantWithDay. */
export const orders = 2000;

/** Makes a tenant with events from `noon` on, a second apart, not yet sealed. */
export async function tenantWithDay(sql: Database): Promise<Tenant> {
  const tenant = await newTenant();
  const events = Array.from({ length: orders }, (_, n) => ({
    ts: new Date(noon.getTime() + n * 1000).toISOString(),
    level: ["info", "warn", "error"][n % 3],
    service: ["shop", "mail"][n % 2],
    msg: `order ${n} took ${n % 1000} ms`,
    req_id: `r-${n}`,
    took: n % 1000,
    shelf: `s${n % 5}`,
    nested: { list: [n, null, "x"] },
  }));
  for (let n = 0; n < orders; n += 1000) {
    assert.equal((await ingest(tenant.headers, events.slice(n, n + 1000))).status, 200);
  }
  await recordsOf(sql, tenant.id, orders);
  return tenant;
}

export type Question = [operation: string, parameters: Record<string, unknown>];

/** Returns the tenant's answers to questions about the records from `noon` to an end. */
export async function answersTo(
  questions: Question[],
  { token }: Tenant,
  end: Date,
): Promise<[question: string, answer: unknown][]> {
  const range = { p_ts_from: noon.toISOString(), p_ts_to: end.toISOString() };
  const answers: [string, unknown][] = [];
  for (const [operation, parameters] of questions) {
    const question = `${operation} ${JSON.stringify(parameters)} to ${range.p_ts_to}`;
    const { status, body } = await rpc(token, operation, { ...parameters, ...range });
    assert.equal(status, 200, `${question}: ${JSON.stringify(body)}`);
    // Each cursor is different.
    const { next_cursor: _, ...answer } = Object(body);
    answers.push([question, answer]);
  }
  return answers;
}
