create function public.ingest_requests(p_requests json default null)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(
    array(select e.value::text from json_array_elements(p_requests) e)
  );
end;
$$;

comment on function public.ingest_requests(json) is
  'ingest_text for edge functions of 1.0.0: ingest_logs for several small requests that came at '
  'once: one transaction, one commit. '
  'p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the '
  'same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have '
  'answered; body is JSON text, of an error {code, message, hint}. What refuses one request does '
  'not touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';
