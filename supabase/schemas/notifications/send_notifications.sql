-- Wakes the edge function logloom-notify when something is due. pg_net does not wait for the
-- answer; http, where pg_net is missing, does, and the function answers at once.
create function logloom_private.send_notifications()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) and not exists (
    -- Sealed at once, if the function can. If not, it is not asked for ever.
    select from logloom_private.webhook_secrets w
    where (starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_'))
      and w.changed_at > now() - interval '1 minute'
  ) then
    return;
  end if;
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-notify answered %', v_status;
  end if;
end;
$$;
