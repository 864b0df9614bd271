-- Streams of the tenant, newest first, or the one that is named.
create function logloom_private.page_of_streams(
  p_tenant_id text,
  p_stream_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_log_stream
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams, whose secrets stand beside them
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'log stream', 'stream_id',
    (
      select s.created_at from logloom.log_streams s
      where s.tenant_id = v_tenant_id and s.stream_id = p_after
    )
  );
begin
  return query
  select o.*
  from logloom.log_streams s
  cross join lateral logloom_private.log_stream_of(s) o
  where s.tenant_id = v_tenant_id
    and (p_stream_id is null or s.stream_id = p_stream_id)
    and (p_after is null or (s.created_at, s.stream_id) < (v_after, p_after))
  order by s.created_at desc, s.stream_id desc
  limit v_limit;
end;
$$;

create function public.list_log_streams(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.* from logloom_private.page_of_streams(p_tenant_id, null, p_limit, p_after) s;
end;
$$;

comment on function public.list_log_streams(text, integer, uuid) is
  'Log streams of the tenant with their lag, newest first. p_limit 1 to 1000 (default 100), '
  'p_after: stream_id of the last item of the page before. For admins. '
  'Errors: PT400, PT401, PT403.';
