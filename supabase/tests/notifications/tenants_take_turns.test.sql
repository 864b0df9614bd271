begin;
\ir outbox.psql
select plan(11);

-- r1 belongs to acme, whose receiver is slow; r2 belongs to umbrella.
update logloom.alert_rules set notification_destinations = '{webhook}';
update logloom_private.settings set notification_open_limit = 10;
select pg_temp.fire(i) from generate_series(10, 29) i \g /dev/null
update logloom_private.notifications set next_attempt_at = now() - interval '1 minute';

-- Claims at most p_limit notifications, like the edge function. Returns how many each tenant got.
create function pg_temp.claim(p_limit integer)
returns jsonb
language sql
as $$
  with claimed as (select c.notification_id from public.claim_alert_notifications(p_limit) c)
  select coalesce(jsonb_object_agg(t.tenant_id, t.claims), '{}')
  from (
    select n.tenant_id, count(*) as claims
    from claimed c join logloom_private.notifications n using (notification_id)
    group by 1
  ) t
$$;

create function pg_temp.settle(p_tenant_id text, p_count integer)
returns void
language sql
as $$
  select public.settle_alert_notification(n.notification_id, n.claim_id, 'delivered', 200)
  from (
    select o.*
    from logloom_private.notifications o
    where o.tenant_id = p_tenant_id and o.claim_id is not null and o.next_attempt_at > now()
    limit p_count
  ) n
$$;

select is(pg_temp.claim(20), '{"acme": 5}', 'a tenant gets at most half of the places');
select is(pg_temp.claim(20), '{}', 'also by claiming again');

select pg_temp.fire(i, 2) from generate_series(10, 11) i \g /dev/null
select is(
  pg_temp.claim(1), '{"umbrella": 1}',
  'the tenant with fewer in progress comes next, although the other has waited longer'
);
select is(pg_temp.claim(20), '{"umbrella": 1}', 'and again');
select pg_temp.settle('acme', 1);
select is(pg_temp.claim(20), '{}', 'a busy tenant gives way to a new one');
select pg_temp.settle('umbrella', 2);
select is(pg_temp.claim(20), '{"acme": 1}', 'and gets it back');

update logloom_private.notifications set next_attempt_at = now() where claim_id is not null;
select is(pg_temp.claim(20), '{"acme": 5}', 'an expired claim does not count');

select pg_temp.settle('acme', 5);
select pg_temp.fire(i, 2) from generate_series(12, 29) i \g /dev/null
select is(
  pg_temp.claim(20), '{"acme": 4, "umbrella": 3}', 'with two tenants each leaves room for others'
);

update logloom_private.settings set notification_open_limit = 1;
select is(pg_temp.claim(20), '{}', 'the limit of the service is a setting');
select pg_temp.settle(t, 4) from unnest(array['acme', 'umbrella']) t \g /dev/null
select is(
  (select sum(value::integer) from jsonb_each_text(pg_temp.claim(20))), 1::bigint,
  'a single place is used'
);
select throws_ok(
  'update logloom_private.settings set notification_open_limit = 0', '23514', null,
  'a limit of none is refused'
);

select * from finish();
rollback;
