create function public.list_log_views(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_view
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'view', 'view_id',
    (
      select v.created_at from logloom.log_views v
      where v.tenant_id = v_tenant_id and v.view_id = p_after
    )
  );
begin
  return query
  select (logloom_private.log_view_of(v)).*
  from logloom.log_views v
  where v.tenant_id = v_tenant_id
    and (p_after is null or (v.created_at, v.view_id) < (v_after, p_after))
  order by v.created_at desc, v.view_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_views(text, integer, uuid) is
  'Views of the tenant''s logs, newest first. p_limit 1 to 1000 (default 100), p_after: view_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';
