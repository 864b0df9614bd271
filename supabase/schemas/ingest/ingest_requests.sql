create function logloom_private.ingest_each(p_requests json)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because logloom_private.ingest is what may read digests and write to the queue
declare
  v_parameters json;
  v_answers json[] := '{}';
  v_answer json;
  v_state text;
  v_detail text;
begin
  for v_parameters in select e.value from json_array_elements(p_requests) e loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      v_answer := logloom_private.ingest(
        json_populate_record(null::logloom_private.ingest_request, v_parameters)
      );
      v_answer := json_build_object(
        'status', 200, 'headers', logloom_private.answer_headers(), 'body', v_answer::text
      );
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_detail = pg_exception_detail;
      v_answer := case
        when v_state = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_state like 'PT%' then json_build_object(
          'status', substr(v_state, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', sqlerrm)::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  perform set_config('response.headers', '[]', true);
  return array_to_json(v_answers);
end;
$$;

revoke all on function logloom_private.ingest_each(json) from public;

grant execute on function logloom_private.ingest_each(json) to service_role;

comment on function logloom_private.ingest_each(json) is
  'logloom_private.ingest for each of the requests, in one transaction.';

create function public.ingest_requests(p_requests json default null)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(p_requests);
end;
$$;

revoke all on function public.ingest_requests(json)
from public, anon, authenticated, service_role;

grant execute on function public.ingest_requests(json) to service_role;

comment on function public.ingest_requests(json) is
  'ingest_logs for several small requests that came at once: one transaction, one commit. '
  'p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the '
  'same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have '
  'answered; body is JSON text, of an error {code, message}. What refuses one request does not '
  'touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';
