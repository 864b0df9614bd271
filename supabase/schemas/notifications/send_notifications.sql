-- Calls the edge function p_name. Its URL differs from logloom-notify's only in the name.
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

-- Gives up expired notifications that are not claimed. Returns whether there were any.
create function logloom_private.give_up_notifications()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.end_notification(
    e.expired, 'failed', (e.expired).last_status,
    concat_ws(': ', 'Not delivered in time', (e.expired).last_error)
  )
  from (
    select n as expired
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at <= now()
    limit 10000
    for update skip locked
  ) e;
  return found;
end;
$$;

-- First gives up expired notifications: this needs no edge function. Then wakes logloom-notify if a
-- notification is due or a secret must be sealed.
create function logloom_private.send_notifications()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.give_up_notifications() then
    return '0';
  end if;
  if exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) or exists (
    -- Tries to seal for a minute only, because a function without a key cannot seal secrets.
    select from logloom_private.webhook_secrets w
    where (starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_'))
      and w.changed_at > now() - interval '1 minute'
  ) then
    perform logloom_private.wake_function('logloom-notify');
  end if;
  return null;
end;
$$;
