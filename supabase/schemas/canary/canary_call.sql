-- Calls an edge function with the round's key, as a sender or a reader does. Returns the body of
-- the answer. Raises an error unless the answer is 200 and comes within a second: the other jobs of
-- the lane wait meanwhile.
create function logloom_private.canary_call(p_path text, p_key text, p_body jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status integer;
  v_content text;
begin
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '1000');
  select r.status, r.content into v_status, v_content
  from logloom_private.settings s
  cross join extensions.http(
    row(
      'POST', rtrim(s.canary_url, '/') || '/functions/v1/' || p_path,
      array[
        extensions.http_header('X-API-Key', p_key),
        extensions.http_header('Idempotency-Key', md5(p_body::text))
      ],
      'application/json', p_body::text
    )::extensions.http_request
  ) r;
  if v_status is distinct from 200 then
    raise exception '% answered %: %', p_path, v_status, left(v_content, 200);
  end if;
  return v_content::jsonb;
end;
$$;
