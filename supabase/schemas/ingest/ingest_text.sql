-- The parameter has no name: PostgREST then passes a text/plain body on unchanged.
create function public.ingest_text(text default '')
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(string_to_array($1, e'\x1c'));
end;
$$;

comment on function public.ingest_text(text) is
  'For the edge function ingest. Runs requests of one caller in one transaction. The body is plain '
  'text: requests separated by U+001C. A request is the JSON of logloom_private.ingest_request. '
  'Its columns may follow the JSON instead (logloom_private.request_of_text). Returns one answer '
  'for each request, in the same order: {status, headers: {name: value}, body: text}. body is '
  'JSON. Success: {success, ingested, dropped, rejected, cut, errors}. Error: {code, message, '
  'hint} with PT401, PT403, PT404, PT409, PT413, PT429 or PT503. Another version of the rules: '
  '{code: PT412, rules}. A refused request does not affect the others. The watermark assumes that '
  'a call ends within its statement_timeout.';
