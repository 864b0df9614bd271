-- Wakes an edge function that lies beside logloom-notify, whose address is known.
create function logloom_private.wake_function(p_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.notify_endpoint;
begin
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    regexp_replace(v_endpoint.url, '/logloom-notify/?$', '/' || p_name),
    'X-Logloom-Notify-Secret', v_endpoint.secret
  );
end;
$$;
