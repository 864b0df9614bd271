-- Messages of customers' rules have their own addresses and limits, and no link to the console.
begin;
\ir ../actors.psql
\ir outbox.psql
select plan(13);

insert into logloom.log_views (view_id, tenant_id, customer, created_by)
select ('00000000-0000-4000-a000-0000000000' || c)::uuid, 'acme', c, 'alice'
from (values ('42'), ('43')) v (c);
insert into logloom.alert_rules (
  rule_id, tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes,
  enabled, view_id
)
select
  ('00000000-0000-4000-9000-0000000000' || v.customer)::uuid, 'acme', 'of ' || v.customer, '*', 3,
  'gt', 5, 0, true, v.view_id
from logloom.log_views v;

-- Each customer confirms their own addresses, and gets a few codes a day.
do $$
begin
  for v_n in 1..7 loop
    update logloom.alert_rules r
    set notification_destinations = '{email}', notification_config = jsonb_build_object(
      'email', case v_n when 1 then 'ops' else 'a' || v_n end || '@example.com'
    )
    where r.name = 'of 42';
  end loop;
end;
$$;
select results_eq(
  $$select n.customer, n.address from logloom_private.notifications n order by n.position$$,
  $$values ('42', 'ops@example.com'), ('42', 'a2@example.com'), ('42', 'a3@example.com'),
    ('42', 'a4@example.com'), ('42', 'a5@example.com')$$,
  'five codes, also for an address that the tenant has confirmed'
);
update logloom.alert_rules r
set notification_destinations = '{email}', notification_config = '{"email": "new@example.com"}'
where r.name in ('of 43', 'r1');
select results_eq(
  $$select n.customer, count(*)::integer from logloom_private.notifications n
    group by 1 order by 1$$,
  $$values ('42', 5), ('43', 1), (null, 1)$$, 'others still get theirs'
);
insert into logloom_private.notification_addresses (tenant_id, customer, mailbox, confirmed_at)
values ('acme', '42', 'mine@example.com', now());
select is(
  logloom_private.address_is_confirmed('acme', c.customer, 'mine@example.com'),
  c.customer is not distinct from '42', coalesce(c.customer, 'own') || ' and the address of 42'
)
from (values ('42'), ('43'), (null)) c (customer);

-- A customer has a tenth of the plan's deliveries in an hour, and only of the first half.
delete from logloom_private.notifications;
update logloom.plans set webhooks_per_hour = 20 where plan_id = 'pro';
insert into logloom_private.notifications (
  tenant_id, customer, rule_id, channel, address, body, expires_at, claim_id
)
select 'acme', c.customer, r.rule_id, 'webhook', 'https://example.com/',
  logloom_private.notification_body('alert.triggered', r, null), now() + interval '1 day',
  gen_random_uuid()
from (values (null, 'r1', 3), ('42', 'of 42', 4), ('43', 'of 43', 2)) c (customer, name, n)
join logloom.alert_rules r on r.name = c.name
cross join generate_series(1, c.n);
create view pg_temp.beyond as
select string_agg(b.customer || ' ' || b.n, ', ' order by b.customer) as found
from (
  select coalesce(n.customer, 'own') as customer, count(*) filter (where d.is_beyond_plan) as n
  from logloom_private.due_notifications() d
  join logloom_private.notifications n on n.notification_id = d.notification_id
  group by 1
) b;
select is(b.found, '42 2, 43 0, own 0', 'a customer waits beyond a tenth') from pg_temp.beyond b;
insert into logloom_private.notification_usage (tenant_id, channel, hour, attempts)
values ('acme', 'webhook', date_trunc('hour', now()), 10);
select is(b.found, '42 4, 43 2, own 0', 'the second half is the tenant''s') from pg_temp.beyond b;

-- A customer has no console.
update logloom_private.settings set console_url = 'https://logs.example/';
select results_eq(
  $$select distinct n.customer,
      logloom_private.complete_notification(n.notification_id, n.claim_id)::jsonb
        #>> '{data,url}' like 'https://logs.example/#q=%'
    from logloom_private.notifications n order by 1$$,
  $$values ('42', null), ('43', null), (null, true)$$, 'only the tenant''s messages have a link'
);

-- A message is not sent if the customer's view or rule has changed since, nor too many at once.
update logloom_private.notifications n set claim_id = null, purpose = 'test'
where n.customer = '43';
update logloom.log_views v set shows_since = now() + interval '1 minute';
update logloom.alert_rules r set held_at = now() where r.name = 'of 43';
delete from logloom_private.notification_usage;
select set_eq(
  $$select c.customer, count(*) from public.claim_alert_notifications(20) c group by 1$$,
  $$values (null, 3::bigint), ('43', 2)$$, 'tests are sent'
);
update logloom_private.notifications n
set purpose = 'alert', claim_id = null, next_attempt_at = now(), created_at = now()
where n.customer = '43';
delete from logloom_private.notification_usage;
select public.claim_alert_notifications(20) \g /dev/null
select results_eq(
  $$select distinct n.customer, n.status, n.last_error
    from logloom_private.notifications n where n.customer is not null order by 1, 2$$,
  $$values ('42', 'failed', 'What the customer may see has changed since the alert'),
    ('43', 'failed', 'The rule was stopped')$$, 'alerts of before are not'
);
update logloom.plans set webhooks_per_hour = 10 where plan_id = 'pro';
select is(count(e.last_error)::text || ' ' || max(e.last_error),
  '2 24 messages of the customer wait already', 'as many wait as a day allows')
from generate_series(1, 26) n
cross join lateral (select r from logloom.alert_rules r where r.name = 'of 42') r (rule)
cross join lateral logloom_private.enqueue_notifications(
  jsonb_populate_record(r.rule, '{"notification_destinations": ["webhook"],
    "notification_config": {"webhook_url": "https://example.com/"}}'),
  'alert', null, to_json(n)::text
) e;

-- Customers fill half of the plan's addresses.
delete from logloom_private.notification_addresses a where a.tenant_id = 'acme';
update logloom.plans set max_notification_addresses = 2 where plan_id = 'pro';
insert into logloom_private.notification_addresses (tenant_id, customer, mailbox, confirmed_at)
values ('acme', '42', 'a7@example.com', now());
select is(
  pg_temp.attempt(format('select logloom_private.require_room_for_address(''acme'', %L)', c)), m, c
)
from (
  values ('43', 'PT400 Plan limit exceeded: notification addresses (max 1)'), (null, 'accepted')
) c (c, m);

select * from finish();
rollback;
