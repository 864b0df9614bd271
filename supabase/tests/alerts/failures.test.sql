begin;
\ir rounds.psql
select plan(8);

select pg_temp.rule('good', 'gte', 0, p_name => 'good') \g /dev/null
select pg_temp.rule('ts:*', 'gte', 0, p_name => 'unreadable') \g /dev/null
select pg_temp.rule('level:error', 'gte', 0, p_name => 'unusable group') \g /dev/null
select pg_temp.rule('ts:* | p50(attrs.ms)', 'gte', 0, p_name => 'unusable scan') \g /dev/null
select pg_temp.rule('elsewhere', 'gte', 0, p_name => 'elsewhere', p_tenant_id => 'umbrella')
\g /dev/null
select pg_temp.round('11:59') \g /dev/null
delete from logloom.alert_history;

-- create_alert_rule would refuse these rules, and the compiler never writes this SQL.
update logloom.alert_rules set query_dsl = 'level:nonsense' where name = 'unreadable';
update logloom_private.alert_groups set filter = '1 / (l.write_seq - l.write_seq) = 1'
where filter like '%error%';
with changed as (
  update logloom.alert_rules r set query_dsl = 'level:absurd | p50(attrs.ms)'
  where r.name = 'unusable scan'
  returning r.rule_id, r.query_dsl
)
update logloom_private.alert_plans p set query_dsl = c.query_dsl
from changed c where c.rule_id = p.rule_id;
select pg_temp.arrive('11:59:00', 'good', '{"ms": 1}');

select is(pg_temp.round('12:00'), 2, 'the other rules fire');
select is(pg_temp.fired(), '{12:00 elsewhere 0,12:00 good 1}', 'as they should');
select is(r.last_error, e.error, e.name || ' shows its error')
from (
  values
    ('unreadable', 'Unknown level "nonsense"'), ('unusable group', 'division by zero'),
    ('unusable scan', 'Unknown level "absurd"'), ('good', null)
) e (name, error)
join logloom.alert_rules r on r.name = e.name;

update logloom.alert_rules set query_dsl = 'ts:*' where name = 'unreadable';
update logloom_private.alert_groups set filter = 'l.level = ''info'''
where filter like '%write_seq%';
select pg_temp.arrive('12:00:00', 'good');
select pg_temp.round('12:01') \g /dev/null
select is(
  (select array_agg(r.last_value order by r.name) from logloom.alert_rules r
    where r.last_error is null and r.tenant_id = 'acme'),
  '{2,2,2}', 'corrected rules see all records'
);
select is(
  (select array_agg(h.value order by h.window_end) from logloom.alert_history h
    join logloom.alert_rules r using (rule_id) where r.name = 'unusable group'),
  '{2}', 'and fire'
);

select * from finish();
rollback;
