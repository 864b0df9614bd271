begin;
\ir rounds.psql
select plan(6);

-- Around the clock: what is out of every window's reach is not noted.
select pg_temp.rule('ts:*', 'gte', 0, 10, p_name => 'all') \g /dev/null
select pg_temp.round('12:00') \g /dev/null
insert into app.logs (id, tenant_id, ts, received_at, arrival, msg)
select gen_random_uuid(), t.tenant_id, now() - t.age, now(), nextval('private.arrival'), 'x'
from (
  values
    ('acme', interval '0'), ('acme', '1 minute'), ('umbrella', '0')
) t (tenant_id, age);

delete from app.logs where tenant_id = 'umbrella';
select is_empty('select from private.alert_resets', 'a tenant without rules needs nothing');
update app.logs set msg = 'y' where tenant_id = 'acme' and ts = now();
select results_eq(
  'select tenant_id from private.alert_resets', array['acme'], 'a change of records is noted'
);
delete from private.alert_resets;
delete from app.logs where tenant_id = 'acme';
select results_eq(
  'select tenant_id from private.alert_resets', array['acme'], 'so is a deletion'
);
delete from private.alert_resets;

select pg_temp.arrive('12:00:30', p_count => 5);
select pg_temp.round('12:01') \g /dev/null
select is((select last_value::integer from app.alert_rules), 5, 'what was added up');
delete from app.logs where ts = pg_temp.at('12:00:30')
  and id in (select id from app.logs where ts = pg_temp.at('12:00:30') limit 3);
insert into private.alert_resets values ('acme');
select pg_temp.arrive('12:01:30');
select pg_temp.round('12:02') \g /dev/null
select is(
  (select last_value::integer from app.alert_rules), 3, 'is added up anew after a deletion'
);
select is_empty('select from private.alert_resets', 'once');

select * from finish();
rollback;
