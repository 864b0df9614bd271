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
