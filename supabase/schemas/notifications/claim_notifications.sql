create type public.logloom_claimed_notification as (
  notification_id uuid,
  claim_id uuid,
  channel text,
  address text,
  body text,
  secrets text[]
);

comment on type public.logloom_claimed_notification is
  'A notification to deliver now, and the secrets to sign it with.';

create function logloom_private.claim_due_notifications(p_limit integer)
returns setof public.logloom_claimed_notification
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reads the outbox or a webhook's secret
begin
  return query
  with due as (
    -- Each tenant's first before anybody's second, so that one with much to send, or with a
    -- receiver that hangs, does not hold up the others.
    select
      n.notification_id,
      row_number() over (partition by n.tenant_id order by n.next_attempt_at) as place
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ), claimed as (
    select n.notification_id
    from logloom_private.notifications n
    join due d on d.notification_id = n.notification_id
    -- Again, on the row as it is once locked: another claim may have taken it meanwhile.
    where n.status = 'pending' and n.next_attempt_at <= now()
    order by d.place, n.next_attempt_at
    limit p_limit
    for update of n skip locked
  ), taken as (
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from claimed c, logloom_private.settings s
    where n.notification_id = c.notification_id
    returning n.notification_id, n.claim_id, n.channel, n.address, n.body, n.rule_id
  )
  select
    t.notification_id, t.claim_id, t.channel, t.address, t.body,
    array_remove(
      array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
    )
  from taken t
  left join logloom_private.webhook_secrets w on w.rule_id = t.rule_id and t.channel = 'webhook';
end;
$$;

revoke all on function logloom_private.claim_due_notifications(integer) from public;

grant execute on function logloom_private.claim_due_notifications(integer) to service_role;

comment on function logloom_private.claim_due_notifications(integer) is
  'The notifications that are due, taken for as long as a claim lasts: each tenant''s first '
  'before anybody''s second.';

create function public.claim_notifications(p_limit integer default null)
returns setof public.logloom_claimed_notification
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    raise sqlstate 'PT400' using
      message = 'Invalid p_limit: 1 to 100',
      hint = 'Claim again for more.';
  end if;
  return query select c.* from logloom_private.claim_due_notifications(p_limit) c;
end;
$$;

revoke all on function public.claim_notifications(integer)
from public, anon, authenticated, service_role;

grant execute on function public.claim_notifications(integer) to service_role;

comment on function public.claim_notifications(integer) is
  'What the edge function notify calls: takes due notifications, p_limit 1 to 100. One that is not '
  'settled in time is due again. Errors: PT400.';
