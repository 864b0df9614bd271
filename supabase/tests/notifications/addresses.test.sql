-- Mail goes to members and to addresses that were confirmed with a code. Mail to other addresses is
-- limited.
begin;
\ir ../actors.psql
select plan(69);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');

create function pg_temp.make_rule(p_email text, p_tenant_id text default 'acme')
returns uuid
language plpgsql
as $$
declare
  v_rule_id uuid;
begin
  perform pg_temp.act_as_user(p_tenant_id, 'alice');
  v_rule_id := (
    public.create_alert_rule(
      p_name => 'BUY NOW http://spam.example', p_query_dsl => 'level:error', p_threshold => 3,
      p_comparison => 'gt', p_window_minutes => 5, p_cooldown_minutes => 0, p_enabled => true,
      p_notification_destinations => '{email}',
      p_notification_config => jsonb_build_object('email', p_email)
    )
  ).rule_id;
  perform pg_temp.act_as_postgres();
  return v_rule_id;
end;
$$;

create function pg_temp.test_rule(p_rule_id uuid, p_tenant_id text default 'acme')
returns public.logloom_alert_delivery
language plpgsql
as $$
declare
  v_delivery public.logloom_alert_delivery;
begin
  perform pg_temp.act_as_user(p_tenant_id, 'alice');
  v_delivery := (select d from public.test_alert_rule(p_rule_id) d);
  perform pg_temp.act_as_postgres();
  return v_delivery;
end;
$$;

create function pg_temp.confirm(p_email text, p_code text, p_tenant_id text default 'acme')
returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  perform pg_temp.act_as_user(p_tenant_id, 'alice');
  perform set_config('response.status', '', true);
  v_answer := public.confirm_alert_address(p_email, p_code);
  perform pg_temp.act_as_postgres();
  return v_answer || jsonb_build_object('status', current_setting('response.status'));
end;
$$;

-- Moves all mails into the past by p_for.
create function pg_temp.wait(p_for interval)
returns void
language plpgsql
as $$
begin
  update logloom_private.notifications
  set created_at = created_at - p_for, settled_at = settled_at - p_for,
    next_attempt_at = next_attempt_at - p_for, expires_at = expires_at - p_for;
  update logloom_private.notification_addresses set code_expires_at = code_expires_at - p_for;
  update logloom_private.confirmation_mails set sent_at = sent_at - p_for;
  update logloom_private.notification_usage set hour = hour - p_for;
end;
$$;

create function pg_temp.wrong(p_code text)
returns text
language sql
as $$ select lpad(((p_code::integer + 1) % 1000000)::text, 6, '0') $$;

-- A rule with a stranger's address.
create temp table made as select pg_temp.make_rule('Ops@Example.com') as rule_id;
grant select on made to public;
select results_eq(
  'select purpose, channel, address, status from logloom_private.notifications',
  $$values ('confirmation', 'email', 'Ops@Example.com', 'pending')$$,
  'creating a rule mails a code to its address'
);
select is(
  (select n.body from logloom_private.notifications n), '{"type": "address.confirmation"}',
  'the mail has no text of the tenant, and no code is stored'
);
select is_empty(
  'select from logloom_private.notification_addresses', 'there is no code before it is mailed'
);
create temp table mailed as select c.* from public.claim_alert_notifications(20) c;
select results_eq(
  $$select c.channel, c.address, c.body::jsonb - 'code', c.body::jsonb ->> 'code' ~ '^[0-9]{6}$',
      cardinality(c.secrets)
    from mailed c$$,
  $$values (
    'email', 'Ops@Example.com', '{"type": "address.confirmation", "hours": 24.0}'::jsonb, true, 0
  )$$,
  'the mail has six digits'
);
update logloom_private.notifications n set last_error = 'SMTP is not configured' \g /dev/null
select is(
  logloom_private.unconfirmed_address('acme', null, 'OPS@example.com'),
  'The address is not confirmed, and the mail with its code failed: SMTP is not configured',
  'a failed mail is reported instead of asking for its code'
);
select is(
  array(
    select distinct (logloom_private.as_customer_reads(n, '42')).last_error
    from logloom_private.notifications n
  ),
  '{The mail could not be sent}', 'a customer reads nothing about the mail server'
);
update logloom_private.notifications n set last_error = null \g /dev/null
create temp table codes as select m.body::jsonb ->> 'code' as code from mailed m;
select results_eq(
  $$select a.tenant_id, a.mailbox, a.confirmed_at, a.code_expires_at - now(), a.tries
    from logloom_private.notification_addresses a$$,
  $$values ('acme', 'ops@example.com', null::timestamptz, interval '24 hours', 0)$$,
  'a code is valid for 24 hours'
);
select is_empty(
  $$select from logloom_private.notification_addresses a, logloom_private.notifications n, codes c
    where strpos(a::text || n::text, c.code) > 0$$,
  'the code is stored nowhere'
);
select public.settle_alert_notification(m.notification_id, m.claim_id, 'delivered', 250)
from mailed m \g /dev/null

-- Alerts and tests are not sent to an unconfirmed address.
insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
select 'acme', m.rule_id, 4, 3 from made m;
select results_eq(
  $$select n.status, n.last_error, n.attempts from logloom_private.notifications n
    where n.purpose = 'alert'$$,
  $$values (
    'failed',
    'The address is not confirmed: confirm_alert_address takes the code that was mailed to '
      'it, test_alert_rule mails a new one',
    0
  )$$,
  'an alert is not mailed, and its delivery says why'
);
select results_eq(
  $$select h.notification_sent_at, h.notification_error from logloom.alert_history h$$,
  $$values (
    null::timestamptz,
    'email: The address is not confirmed: confirm_alert_address takes the code that was '
      'mailed to it, test_alert_rule mails a new one'
  )$$,
  'and so does the history'
);
select is(
  (select count(*)::integer from logloom_private.notifications n where n.purpose = 'confirmation'),
  1, 'an alert asks for no code'
);
select results_eq(
  $$select d.status, d.purpose, d.last_error
    from made m, pg_temp.test_rule(m.rule_id) d$$,
  $$values (
    'failed', 'test',
    'The address is not confirmed: confirm_alert_address takes the code that is mailed to it'
  )$$,
  'nor is a test mailed'
);
select is(
  (select count(*)::integer from logloom_private.notifications n where n.purpose = 'confirmation'),
  1, 'a second code within a minute is not mailed'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select array_agg(d.purpose || ' ' || d.status order by d.purpose)
    from made m, public.list_alert_deliveries(p_rule_id => m.rule_id) d),
  '{"alert failed","confirmation delivered","test failed"}', 'the deliveries mention the code'
);
select throws_ok(
  format('select public.retry_alert_delivery(%L)', d.delivery_id), 'PT400', case d.purpose
    when 'confirmation' then 'The delivery has already arrived' else 'The address is not confirmed'
  end, 'an unconfirmed address is not tried again: ' || d.purpose
)
from made m, public.list_alert_deliveries(p_rule_id => m.rule_id) d order by d.purpose;
select results_eq(
  $$select a.email, a.confirmed, a.confirmed_at, a.code_expires_at - now(), a.tries_left
    from public.list_alert_addresses() a$$,
  $$values ('ops@example.com', false, null::timestamptz, interval '24 hours', 5)$$,
  'a tenant sees which address is not confirmed'
);
select pg_temp.act_as_postgres();

-- A code confirms the address.
select is(
  pg_temp.confirm('ops@example.com', pg_temp.wrong(c.code)),
  '{
    "code": "PT400", "message": "The code is wrong", "status": "400",
    "details": "{\"name\": \"notifications.code_is_wrong\"}",
    "hint": "Only the last code that was mailed is valid, for five attempts."
  }', 'a wrong code is refused'
)
from codes c;
select is((select a.tries from logloom_private.notification_addresses a), 1, 'and counted');
select throws_ok(
  format('select pg_temp.confirm(''ops@example.com'', %L, ''umbrella'')', c.code),
  'PT400', 'There is no valid code for this address', 'another tenant cannot use the code'
)
from codes c;
select throws_ok(
  format('select pg_temp.confirm(''ops@example.com'', %L)', v.code),
  'PT400', 'Invalid p_code: six digits', 'no code: ' || v.code
)
from (values (''), ('12345'), ('1234567'), ('12345x'), ('١٢٣٤٥٦')) v (code);
select is(
  (select a.tries from logloom_private.notification_addresses a), 1,
  'a malformed code does not count as an attempt'
);
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  $$select public.confirm_alert_address(p_code => '123456')$$,
  'PT400', 'Missing required parameter: p_email', 'an address must be named'
);
select throws_ok(
  $$select public.confirm_alert_address('ops@example.com')$$,
  'PT400', 'Missing required parameter: p_code', 'a code is required'
);
select pg_temp.act_as_postgres();
select pg_temp.confirm('ops@example.com', pg_temp.wrong(c.code))
from codes c, generate_series(2, 5) \g /dev/null
select throws_ok(
  format('select pg_temp.confirm(''ops@example.com'', %L)', c.code),
  'PT400', 'The code was tried too often', 'after five wrong attempts the right code is refused'
)
from codes c;

-- A test mails a new code.
select pg_temp.wait('2 minutes');
select is((pg_temp.test_rule(m.rule_id)).status, 'failed', 'a test requests a new code')
from made m;
create temp table mailed_again as select c.* from public.claim_alert_notifications(20) c;
select is((select count(*)::integer from mailed_again), 1, 'which is mailed');
update codes set code = (select m.body::jsonb ->> 'code' from mailed_again m);
select pg_temp.wait('23 hours 59 minutes');
savepoint before_confirmation;
select pg_temp.wait('1 minute');
select throws_ok(
  format('select pg_temp.confirm(''ops@example.com'', %L)', c.code),
  'PT400', 'There is no valid code for this address', 'a day later it is not valid any more'
)
from codes c;
rollback to before_confirmation;
select is(
  pg_temp.confirm(' OPS@example.com ', c.code || ' '), '{"success": true, "status": ""}',
  'the right code confirms the address, in any letter case'
)
from codes c;
select results_eq(
  $$select a.confirmed_at, a.confirmed_by, a.code_hash, a.tries
    from logloom_private.notification_addresses a$$,
  $$values (now(), 'alice', null::text, 0)$$,
  'the user is recorded and the code deleted'
);
select is(
  pg_temp.confirm('ops@example.com', '000000'), '{"success": true, "status": ""}', 'once is enough'
);
delete from logloom_private.notifications;
select is((pg_temp.test_rule(m.rule_id)).status, 'pending', 'now a test is mailed') from made m;
insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
select 'acme', m.rule_id, 5, 3 from made m;
select is(
  (
    select array_agg(c.body::jsonb ->> 'type' order by c.body::jsonb ->> 'type')
    from public.claim_alert_notifications(20) c
  ),
  '{alert.test,alert.triggered}', 'and an alert'
);
select is(
  (pg_temp.test_rule(pg_temp.make_rule('ops@example.com', 'umbrella'), 'umbrella')).status,
  'failed', 'but only for this tenant'
);
select is_empty(
  $$select from logloom_private.notifications n
    where n.tenant_id = 'acme' and n.purpose = 'confirmation'$$,
  'a confirmed address gets no more codes'
);
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select a.email, a.confirmed, a.confirmed_at, a.tries_left
    from public.list_alert_addresses() a$$,
  $$values ('ops@example.com', true, now(), null::integer)$$,
  'a tenant sees that it is confirmed'
);
select is_empty(
  $$select public.list_alert_addresses(p_after => 'ops@example.com')$$,
  'p_after gives the next page'
);
select pg_temp.act_as_postgres();

-- An address that changes before the mail is sent.
delete from logloom_private.notifications;
select pg_temp.test_rule(m.rule_id) from made m \g /dev/null
delete from logloom_private.notification_addresses;
select is_empty(
  'select public.claim_alert_notifications(20)',
  'an address that lost its confirmation gets no mail'
);
select matches(
  (select n.last_error from logloom_private.notifications n where n.purpose = 'test'),
  '^The address is not confirmed: ', 'and says so'
);

-- A member's address needs no code.
create schema if not exists auth;
create table auth.users (id uuid primary key, email text, email_confirmed_at timestamptz);
insert into auth.users (id, email, email_confirmed_at)
values
  ('00000000-0000-4000-8000-000000000001', 'mia@example.com', now()),
  ('00000000-0000-4000-8000-000000000002', 'new@example.com', null),
  ('00000000-0000-4000-8000-000000000003', 'stranger@example.com', now());
insert into logloom.tenant_members (tenant_id, user_id, role, email)
values
  ('acme', 'alice', 'owner', 'label@example.com'),
  ('acme', '00000000-0000-4000-8000-000000000001', 'member', 'label@example.com'),
  ('acme', '00000000-0000-4000-8000-000000000002', 'member', null);
select is(
  logloom_private.address_is_confirmed('acme', null, v.address), v.is_confirmed,
  v.address || ' ' || v.why
)
from (
  values
    ('Mia@example.com', true, 'is a member''s'),
    ('new@example.com', false, 'was not confirmed to Auth'),
    ('stranger@example.com', false, 'is of no member'),
    ('label@example.com', false, 'the email of a member is a label')
) v (address, is_confirmed, why);
delete from logloom.tenant_members m where m.user_id like '%1';
select is(
  logloom_private.address_is_confirmed('acme', null, 'mia@example.com'), false,
  'a removed member gets no mail'
);
alter table auth.users drop column email_confirmed_at;
select is(
  logloom_private.address_is_confirmed('acme', null, 'new@example.com'), false,
  'a foreign table auth.users does not stop alerts'
);
delete from logloom.tenant_members;

-- For each tenant only a few codes are mailed to strangers.
delete from logloom_private.notifications;
delete from logloom.alert_rules;
create temp table strangers as
select pg_temp.make_rule('stranger' || i || '@example.com') as rule_id
from generate_series(1, 12) i;
select is(
  (select count(*)::integer from logloom_private.notifications), 10, 'a tenant has ten codes a day'
);
select is(
  (select (pg_temp.test_rule(s.rule_id)).last_error from strangers s offset 11),
  'The address is not confirmed, and no more codes are mailed today', 'then the delivery says so'
);
delete from logloom.alert_rules;
select is_empty('select public.claim_alert_notifications(20)', 'deleted rules mail nothing');
select is(
  (select array_agg(distinct n.last_error) from logloom_private.notifications n
    where n.purpose = 'confirmation'),
  '{"No alert rule has this address any more"}', 'to nobody'
);
select pg_temp.wait('1 day');
truncate made;
insert into made select pg_temp.make_rule('victim@example.com');
select pg_temp.wait('2 minutes') from generate_series(1, 4) i
where (pg_temp.test_rule((select m.rule_id from made m))).status = 'failed' \g /dev/null
select is(
  (select count(*)::integer from logloom_private.notifications n
    where n.purpose = 'confirmation' and n.address = 'victim@example.com'
      and n.status = 'pending'),
  1, 'while a code is on its way, no other is'
);
create function pg_temp.codes_mailed(p_rule_id uuid, p_tests integer)
returns integer
language plpgsql
as $$
declare
  v_mails integer := 0;
  v_claim public.logloom_claimed_notification;
begin
  for i in 1..p_tests loop
    for v_claim in select c.* from public.claim_alert_notifications(20) c loop
      v_mails := v_mails + 1;
      perform public.settle_alert_notification(
        v_claim.notification_id, v_claim.claim_id, 'delivered', 250
      );
    end loop;
    perform pg_temp.wait('2 minutes');
    perform pg_temp.test_rule(p_rule_id);
  end loop;
  return v_mails;
end;
$$;
select is(
  (select pg_temp.codes_mailed(m.rule_id, 6) from made m), 3,
  'an address gets three codes from a tenant a day'
);
delete from logloom_private.confirmation_mails;
delete from logloom_private.notifications;
insert into logloom.tenants (tenant_id, plan_id)
select 't' || i, 'pro' from generate_series(1, 12) i;
select pg_temp.make_rule(
  case i % 2 when 0 then 'Victim@Example.com' else 'victim+' || i || '@example.com' end, 't' || i
) from generate_series(1, 12) i \g /dev/null
select is(
  (select count(*)::integer from public.claim_alert_notifications(20)), 10,
  'a mailbox gets ten codes from all tenants, under any name'
);
select results_eq(
  $$select n.last_error, count(*)::integer from logloom_private.notifications n
    where n.status = 'failed' group by 1$$,
  $$values ('Too many codes were mailed to this address: none is mailed to it today', 2)$$,
  'the other deliveries say so'
);

-- The plan limits mails and addresses.
delete from logloom_private.notifications;
delete from logloom.alert_rules;
delete from logloom_private.notification_usage;
delete from logloom_private.notification_addresses;
update logloom.plans set emails_per_hour = 2, webhooks_per_hour = 3, max_notification_addresses = 2
where plan_id = 'pro';
insert into logloom_private.notification_addresses (tenant_id, mailbox, confirmed_at)
values ('acme', 'a@example.com', now()), ('acme', 'b@example.com', now());
truncate made;
insert into made select pg_temp.make_rule(v.address)
from (values ('A@example.com'), ('b@example.com')) v (address);
insert into logloom.alert_history (tenant_id, rule_id, value, threshold)
select 'acme', m.rule_id, i, 3 from made m, generate_series(1, 3) i;
select is(
  (select count(*)::integer from public.claim_alert_notifications(20)), 2,
  'the plan limits mails'
);
select is(
  (select count(*)::integer from public.claim_alert_notifications(20)), 0, 'the others stay pending'
);
select results_eq(
  $$select n.last_error,
      bool_and(n.next_attempt_at between v.hour and v.hour + interval '1 minute'),
      count(*)::integer
    from logloom_private.notifications n
    cross join (select date_trunc('hour', now()) + interval '1 hour' as hour) v
    where n.claim_id is null group by 1$$,
  $$values ('The plan allows 2 in an hour: this one waits for the next hour', true, 4)$$,
  'for the next hour, and say so'
);
update logloom_private.notifications set expires_at = now() + interval '1 second',
  next_attempt_at = now() where claim_id is null;
select is_empty('select public.claim_alert_notifications(20)', 'a used hour stays used');
select is(
  (select array_agg(distinct n.last_error) from logloom_private.notifications n
    where n.status = 'failed'),
  '{"The plan allows 2 in an hour, and this one came too late"}',
  'a mail that waited too long is given up'
);
delete from logloom_private.notifications;
select is(
  (select array_agg((pg_temp.test_rule(m.rule_id)).status) from made m), '{pending,pending}',
  'tests have the same limit'
);
delete from logloom.alert_rules;
truncate made;
insert into made select pg_temp.make_rule('a@example.com');
select throws_ok(
  $$select pg_temp.test_rule(m.rule_id) from made m$$, 'PGRST', null,
  'deleting the rules does not make room for more'
);
select throws_like(
  $$select logloom_private.require_room_for_test('acme', null, 'email')$$,
  '%"code" : "PT429", "message" : "The plan allows 2 tests an hour by email"%',
  'the error 429 says why'
);
insert into logloom_private.notification_addresses (tenant_id, mailbox, code_hash, code_expires_at)
select 'acme', 'c@example.com', extensions.crypt('123456', extensions.gen_salt('bf', 4)),
  now() + interval '1 day';
select pg_temp.make_rule('b@example.com') \g /dev/null
select throws_ok(
  $$select pg_temp.confirm('c@example.com', '123456')$$,
  'PT400', 'Plan limit exceeded: notification addresses (max 2)', 'confirmed addresses are limited'
);
delete from logloom.alert_rules where notification_config ->> 'email' = 'b@example.com';
select is(
  pg_temp.confirm('c@example.com', '123456') ->> 'success', 'true',
  'an address that no rule has makes room'
);

-- Old codes are deleted.
insert into logloom_private.notification_addresses (tenant_id, mailbox, code_hash, code_expires_at)
values ('acme', 'old@example.com', 'x', now() - interval '1 second');
select logloom_private.purge_old_rows() \g /dev/null
select is(
  (select array_agg(a.mailbox order by a.mailbox) from logloom_private.notification_addresses a
    where a.tenant_id = 'acme'),
  '{a@example.com,c@example.com}', 'an expired code is deleted, a confirmed address stays'
);

select * from finish();
rollback;
