-- Seam: deletes everything that tenants have of a day: rows, blocks that end in it, and counts.
-- Returns the tenants that had records, and how many. Uses one statement, so that a record that
-- arrives meanwhile keeps its count.
create function logloom_private.forget_tenants_day(
  p_tenant_ids text[],
  p_day date,
  out tenant_ids text[],
  out records bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
-- Forces index scans tenant by tenant: the planner's statistics may be older than the partition's
-- rows.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  -- Locks out compact_log_counts: it rewrites counts.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  execute format(
    $query$
      with tenants as materialized (
        select t.tenant_id from unnest($1) t (tenant_id)
      ), rows_gone as (
        delete from logloom.logs l
        using tenants t
        where l.tenant_id = t.tenant_id
          and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from rows_gone g
        -- Alert windows are at most a day, so older removals change no alert.
        where g.ts > now() - interval '3 days'
      ), blocks_gone as (
        delete from logloom_private.blocks c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.last_ts >= %1$L::timestamptz and c.last_ts < %2$L::timestamptz
        returning c.tenant_id, case when c.holds_counts then c.records else 0 end as records
      ), counts_gone as (
        delete from logloom_private.log_counts c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.minute >= %1$L::timestamptz and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      )
      select array_agg(f.tenant_id), array_agg(f.records)
      from (
        select u.tenant_id, sum(u.records)::bigint as records
        from (
          select c.tenant_id, c.events as records from counts_gone c
          union all
          select b.tenant_id, b.records from blocks_gone b
        ) u
        group by u.tenant_id
      ) f
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  into tenant_ids, records
  using p_tenant_ids;
end;
$$;
