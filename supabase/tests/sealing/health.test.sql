begin;
\ir ../search/records.psql
select plan(5);

create function pg_temp.sealing(p_member text)
returns text
language sql
return logloom_private.read_health() #>> array['checks', 'sealing', p_member];

select is(pg_temp.sealing('last_block'), null, 'nothing is sealed yet');
select is(pg_temp.sealing('status'), 'healthy', 'which is healthy');
select pg_temp.add_records(jsonb_build_array(jsonb_build_object('ago', '10 days')));
select cmp_ok(pg_temp.sealing('days_due')::integer, '>=', 1, 'a day that is over is due');
insert into logloom_private.sealing_days (day, differences) values ('2026-01-01', 1);
select is(pg_temp.sealing('differences'), '1', 'differences are counted');
select is(pg_temp.sealing('status'), 'degraded', 'and degrades health');

select * from finish();
rollback;
