-- Has a record that says so be sent once, whether the stream sends or not.
create function logloom_private.request_stream_test(p_tenant_id text, p_stream_id uuid)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval interval;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  select c.notification_test_interval into v_interval from logloom_private.settings c;
  if v_row.test_requested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_row.test_requested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null,
    test_answer = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$$;

create function public.test_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.request_stream_test(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.test_log_stream(uuid, text) is
  'Sends one record that says that it is a test, within seconds, also where the stream is paused '
  'or disabled; get_log_stream tells the outcome. For admins. '
  'Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';
