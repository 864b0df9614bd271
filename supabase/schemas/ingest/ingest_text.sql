-- Without a name for its parameter: then PostgREST passes a body of text/plain on as it is.
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
  'What the edge function ingest calls, for one or more requests of a caller: one transaction, one '
  'commit. The body is plain text: the requests with file separators (U+001C) between them. A '
  'request is the JSON of a logloom_private.ingest_request, which says what its members are, or of '
  'all but the columns and then these, as logloom_private.request_of_text splits them. Returns an '
  'array in the same order, each {status, headers: {name: value}, body: text}. body is JSON text: '
  '{success, ingested, rejected, cut, errors}, or of an error {code, message, hint}: PT401, PT403, '
  'PT404, PT409, PT413, PT429, PT503. A refused request does not touch the others. '
  'statement_timeout is the enqueue timeout of the watermark.';
