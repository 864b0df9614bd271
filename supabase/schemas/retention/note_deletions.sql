-- Adds the number of deleted records to each tenant's running entry in retention_runs. Its kind is
-- storage while days are dropped because storage is full, otherwise retention.
create function logloom_private.note_deletions(
  p_tenant_ids text[],
  p_records bigint[],
  p_partitions integer,
  p_today date
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- The caller may have turned hash joins off. Without them, this would go through all tenants for
-- each tenant.
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    n.tenant_id, w.kind, 'running', w.kind,
    logloom_private.day_start(k.first_kept_day), n.records, p_partitions
  from unnest(p_tenant_ids, p_records) n (tenant_id, records)
  join logloom_private.first_left_days(p_today) k on k.tenant_id = n.tenant_id
  cross join (
    select case when exists (
      select from logloom_private.storage s where s.limit_day is not null
    ) then 'storage' else 'retention' end as kind
  ) w
  where n.records > 0
  on conflict (tenant_id, ts_to, kind) where kind <> 'erasure' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;
