-- Adds the number of deleted records to each tenant's running entry in retention_runs. The entry's
-- kind is storage while days are dropped because storage is full, or else retention.
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

create function public.list_log_retention_runs(
  p_tenant_id text default null,
  p_kind text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_retention_run
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'run', 'run_id',
    (
      select r.requested_at from logloom.retention_runs r
      where r.tenant_id = v_tenant_id and r.run_id = p_after
    )
  );
begin
  if p_kind not in ('retention', 'erasure', 'storage') then
    perform logloom_private.refuse('usage.kind_is_unknown');
  end if;
  return query
  select a.*
  from logloom.retention_runs r
  cross join jsonb_populate_record(null::public.logloom_retention_run, to_jsonb(r)) a
  where r.tenant_id = v_tenant_id
    and (p_kind is null or r.kind = p_kind)
    and (p_after is null or (r.requested_at, r.run_id) < (v_after, p_after))
  order by r.requested_at desc, r.run_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_retention_runs(text, text, integer, uuid) is
  'Lists deletions of the tenant''s records, newest first. p_kind: retention, erasure or storage. '
  'p_limit 1 to 1000 (default 100), p_after: run_id of the last item of the page before. Errors: '
  'PT400, PT401, PT403.';
