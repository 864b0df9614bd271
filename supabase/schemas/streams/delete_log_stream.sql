create function logloom_private.remove_log_stream(p_tenant_id text, p_stream_id uuid)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  delete from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_log_stream(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.delete_log_stream(uuid, text) is
  'Deletes a log stream with its failures and secrets. Returns {success}. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';
