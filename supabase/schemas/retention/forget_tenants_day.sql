-- Seam: deletes what there is of a day of the tenants: rows, blocks that end in it with their days,
-- and counts. How many records were counted of each of those that had any.
create function logloom_private.forget_tenants_day(
  p_tenant_ids text[],
  p_day date,
  out tenant_ids text[],
  out records bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
-- Tenant by tenant through the indexes, whatever the planner believes of a partition that was
-- filled since it was last looked at.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_froms timestamptz[];
  v_from timestamptz;
begin
  -- Without compact_log_counts none of the counts is summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  with gone as (
    delete from logloom_private.blocks c
    using unnest(p_tenant_ids) t (tenant_id)
    where c.tenant_id = t.tenant_id
      and c.last_ts >= logloom_private.day_start(p_day)
      and c.last_ts < logloom_private.day_start(p_day + 1)
    returning c.tenant_id, c.first_ts
  ), froms as (
    -- A block of several days goes with the last. No row is left of the days before.
    select
      t.tenant_id,
      logloom_private.day_start(
        least(logloom_private.utc_day(min(g.first_ts)), p_day)
      ) as starts
    from unnest(p_tenant_ids) t (tenant_id)
    left join gone g on g.tenant_id = t.tenant_id
    group by t.tenant_id
  )
  select array_agg(f.starts order by f.tenant_id), array_agg(f.tenant_id order by f.tenant_id),
    min(f.starts)
  into v_froms, tenant_ids, v_from
  from froms f;
  execute logloom_private.forgotten_records_sql(v_from, logloom_private.day_start(p_day + 1))
  into tenant_ids, records
  using tenant_ids, v_froms;
end;
$$;
