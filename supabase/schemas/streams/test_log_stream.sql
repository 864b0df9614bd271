-- Requests that the stream sends one test record, even if it is paused or disabled. Raises PT429
-- soon after another test. For a customer, a test of any stream counts, even of a deleted stream.
create function logloom_private.request_stream_test(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid,
  p_tenant_id text
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'test_log_stream', p_tenant_id, 'admin');
  v_interval constant interval := logloom_private.notification_test_interval();
  v_row logloom.log_streams := logloom_private.locked_stream(v_scope, p_stream_id);
  v_tested_at timestamptz;
begin
  perform
    logloom_private.require_not_held(v_scope, v_row.held_at, 'log stream'),
    logloom_private.require_view_of_session(v_scope, v_row.view_id, 'log stream');
  v_tested_at := greatest(v_row.test_requested_at, (
    select max(v.tested_at)
    from logloom.log_views v
    where v.tenant_id = v_row.tenant_id
      and v.customer = logloom_private.customer_of_view(v_row.view_id)
  ));
  if v_tested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_tested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_views v set tested_at = now()
  where v.view_id = v_row.view_id and v.customer is not null;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null,
    test_answer = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_scope, v_row);
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
  return logloom_private.request_stream_test(null, p_stream_id, p_tenant_id);
end;
$$;

comment on function public.test_log_stream(uuid, text) is
  'Sends a test record within seconds, even if the stream is paused or disabled. get_log_stream '
  'shows the outcome. For admins. Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';
