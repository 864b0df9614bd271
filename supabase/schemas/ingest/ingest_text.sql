-- The parameter has no name, so that PostgREST passes a text/plain body on unchanged.
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
  'text: requests separated by U+001C. A request is the JSON of logloom_private.ingest_request; '
  'its columns may instead follow the JSON (see logloom_private.request_of_text). Returns one '
  'answer for each request, in the same order: {status, headers: {name: value}, body: text}. body '
  'is JSON: {success, ingested, dropped, rejected, cut, errors}, or for an error {code, message, '
  'hint} with PT401, PT403, PT404, PT409, PT413, PT429 or PT503, or {code: PT412, rules} if '
  'p_rules_version is not that of the tenant. A refused request does not affect the others. The '
  'watermark assumes that a call ends within its statement_timeout.';
