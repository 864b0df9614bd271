create function public.get_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream public.logloom_log_stream;
begin
  -- First of all it asks who is calling.
  select s.* into v_stream
  from logloom_private.page_of_streams(p_tenant_id, p_stream_id, null, null) s;
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if v_stream.stream_id is null then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return v_stream;
end;
$$;

comment on function public.get_log_stream(uuid, text) is
  'A log stream with its lag and the outcome of its last test. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';
