import { type Tenant } from "./client.ts";
import type { Database } from "./database.ts";

/** Gives a tenant its own plan: the free one, with these columns of logloom.plans changed. */
export async function putOnPlan(
  sql: Database,
  tenant: Tenant,
  limits: Record<string, number>,
): Promise<void> {
  const planId = `plan-${crypto.randomUUID()}`;
  const plan = JSON.stringify({ ...limits, plan_id: planId, is_default: false });
  await sql.begin(async (tx) => {
    await tx`
      insert into logloom.plans
      select (jsonb_populate_record(p, ${plan}::text::jsonb)).*
      from logloom.plans p where p.plan_id = 'free'`;
    await tx`
      insert into logloom.tenants (tenant_id, plan_id) values (${tenant.id}, ${planId})
      on conflict (tenant_id) do update set plan_id = excluded.plan_id`;
  });
}

/** Gives a tenant a copy of its plan with another retention, so that old events are accepted. */
export async function keepRecords(sql: Database, tenantId: string, days: number): Promise<void> {
  const planId = `plan-${crypto.randomUUID()}`;
  const plan = JSON.stringify({
    plan_id: planId,
    is_default: false,
    retention_days_default: days,
    retention_days_max: days,
  });
  await sql.begin(async (tx) => {
    await tx`
      insert into logloom.plans
      select (jsonb_populate_record(p, ${plan}::text::jsonb)).*
      from logloom_private.plan_of(${tenantId}) p`;
    await tx`
      insert into logloom.tenants (tenant_id, plan_id) values (${tenantId}, ${planId})
      on conflict (tenant_id) do update set plan_id = excluded.plan_id`;
    await tx`
      update logloom.tenant_settings set retention_days = null where tenant_id = ${tenantId}`;
  });
}

/** Returns the tenant's usage of this month. */
export async function usageOf(
  sql: Database,
  tenant: Tenant,
): Promise<{ events: number; bytes: number }> {
  const [usage] = await sql`
    select coalesce(sum(u.events), 0)::float8 as events, coalesce(sum(u.bytes), 0)::float8 as bytes
    from logloom_private.usage_of(
      ${tenant.id}, date_trunc('month', now() at time zone 'UTC')::date
    ) u`;
  return { events: usage.events, bytes: usage.bytes };
}
