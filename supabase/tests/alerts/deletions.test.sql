begin;
\ir rounds.psql
select plan(5);

-- Deletions outside of all windows are not recorded.
select pg_temp.rule('ts:*', 'gte', 0, 10, p_name => 'all') \g /dev/null
select pg_temp.round('12:00') \g /dev/null
select logloom_private.create_partition(logloom_private.utc_day(now()) - 4);
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, msg)
select
  gen_random_uuid(), t.tenant_id, now() - t.age, now(), nextval('logloom_private.write_seq'), 'x'
from (
  values
    ('acme', interval '0'), ('acme', '4 days'), ('umbrella', '0')
) t (tenant_id, age);

create function pg_temp.remove_records(p_condition text)
returns void
language plpgsql
as $$
begin
  execute logloom_private.removed_records_sql('delete from logloom.logs l where ' || p_condition);
end;
$$;

select pg_temp.remove_records($$l.tenant_id = 'umbrella'$$);
select pg_temp.remove_records($$l.ts = now() - interval '4 days'$$);
select results_eq(
  'select tenant_id from logloom_private.log_removals', array['umbrella'], 'a deletion is recorded'
);
select pg_temp.round('12:00:59') \g /dev/null
select is_empty(
  'select from logloom_private.log_removals', 'and dropped if the tenant has no rules'
);

select pg_temp.arrive('12:00:30', p_count => 5);
select pg_temp.round('12:01') \g /dev/null
select is((select last_value::integer from logloom.alert_rules), 5, 'the partial values');
select pg_temp.remove_records($$l.ts = pg_temp.at('12:00:30')
  and l.id in (select id from logloom.logs where ts = pg_temp.at('12:00:30') limit 3)$$);
insert into logloom_private.log_removals values ('acme');
select pg_temp.arrive('12:01:30');
select pg_temp.round('12:02') \g /dev/null
select is(
  (select last_value::integer from logloom.alert_rules), 3, 'are computed again after a deletion'
);
select is_empty('select from logloom_private.log_removals', 'once');

select * from finish();
rollback;
