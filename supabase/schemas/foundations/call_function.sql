-- Calls an edge function, which authenticates the caller by a secret in a header and answers 202 at
-- once. Does not wait for the answer, unless the project has no pg_net.
create function logloom_private.call_function(p_url text, p_header text, p_secret text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using p_url, jsonb_build_object('Content-Type', 'application/json', p_header, p_secret);
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', p_url, array[extensions.http_header(p_header, p_secret)], 'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function % answered %', substring(p_url from '[^/]+/?$'), v_status;
  end if;
end;
$$;
