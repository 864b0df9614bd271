import { callAsOwner, type Database } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

/** Noon of a day that is over, so that its records can be sealed. */
export const noon = new Date(new Date().setUTCHours(12, 0, 0, 0) - 4 * 86_400_000);

/** Seals what is over until so many records of the tenant are sealed. */
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
      from logloom_private.sealed_chunks c where c.tenant_id = ${tenantId}`;
    return sealed === records;
  }, { within: 60_000 });
}
