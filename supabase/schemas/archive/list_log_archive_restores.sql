create function public.list_log_archive_restores(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_archive_restore
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'restore', 'restore_id',
    (
      select r.requested_at from logloom.archive_restores r
      where r.tenant_id = v_tenant_id and r.restore_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  return query
  select
    r.restore_id, r.tenant_id, r.requested_by, r.requested_at, r.ts_from, r.ts_to, r.query_dsl,
    r.kept_until, r.status, r.parts, r.parts_done, r.records, r.bytes, r.finished_at, r.error
  from logloom.archive_restores r
  where r.tenant_id = v_tenant_id
    and (p_after is null or (r.requested_at, r.restore_id) < (v_after, p_after))
  order by r.requested_at desc, r.restore_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_archive_restores(text, integer, uuid) is
  'What was brought back from the tenant''s archive, newest first, for members. p_limit 1 to 1000 '
  '(default 100), p_after: restore_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
