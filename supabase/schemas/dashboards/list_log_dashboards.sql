create function public.list_log_dashboards(
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'dashboard', 'dashboard_id',
    case when p_after is not null then (
      select d.created_at from logloom_private.read_shown_dashboards(p_after) d
    ) end
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their queries are.
      sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select o as item
      from logloom_private.read_shown_dashboards() d
      cross join lateral logloom_private.log_dashboard_of(d) o
      where p_after is null or (d.created_at, d.dashboard_id) < (v_after, p_after)
      order by d.created_at desc, d.dashboard_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

comment on function public.list_log_dashboards(integer, uuid) is
  'The caller''s dashboards and those that colleagues share, newest first; a viewer''s are the '
  'shared ones. p_limit 1 to 1000 (default 100), p_after: dashboard_id of the last item of the '
  'page before. '
  'Errors: PT400, PT401, PT403.';
