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
  'The edge function ingest calls it for one or more requests of a caller, in one transaction. The '
  'body is plain text: the requests, separated by U+001C. A request is a '
  'logloom_private.ingest_request as JSON. Its columns may also follow the JSON, as '
  'logloom_private.request_of_text reads them. Returns an array of answers in the same order: '
  '{status, headers: {name: value}, body: text}. body is JSON: {success, ingested, rejected, cut, '
  'errors}, or {code, message, hint} of an error: PT401, PT403, PT404, PT409, PT413, PT429, PT503. '
  'A refused request does not affect the others. The watermark relies on statement_timeout.';
