-- Wakes the edge function logloom-archive, which asks for work and answers at once. pg_net does not
-- wait for the answer; http, where pg_net is missing, does.
create function logloom_private.wake_archive()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.archive_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  select e.* into v_endpoint from logloom_private.archive_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.archive_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Archive-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Archive-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-archive answered %', v_status;
  end if;
end;
$$;
