-- Each collector stores the project's events in the project's tenant, once.
begin;
select plan(29);

-- The tables of Auth, pg_net and database webhooks, which the local stack lacks.
create schema auth;
create table auth.audit_log_entries (
  id uuid default gen_random_uuid(), payload json, ip_address text,
  created_at timestamptz default clock_timestamp()
);
create schema net;
create table net._http_response (
  id bigint, status_code integer, timed_out boolean, error_msg text,
  created timestamptz default clock_timestamp()
);
create schema supabase_functions;
create table supabase_functions.hooks (hook_table_id integer, hook_name text, request_id bigint);
insert into logloom.tenants (tenant_id, plan_id) values ('ops', 'pro');
update logloom_private.settings set project_tenant_id = 'ops';

-- Lets one collector read until nothing is left. Returns what it stored.
create function pg_temp.collected(p_name text)
returns table (level text, msg text, service text, user_id text, attrs jsonb)
language plpgsql
as $$
declare
  v_before constant bigint := (select coalesce(max(q.batch_id), 0) from logloom_private.queue q);
begin
  update logloom_private.collectors c set is_on = c.name = p_name, next_at = now();
  perform from generate_series(1, 5) where logloom_private.collect() is not null;
  return query
  select e.*
  from logloom_private.queue q
  cross join unnest(q.level, q.msg, q.service, q.user_id, q.attrs) e
  where q.tenant_id = 'ops' and q.batch_id > v_before;
end;
$$;

select is_empty($$select * from pg_temp.collected('auth')$$, 'nobody signed in');
insert into auth.audit_log_entries (payload, ip_address)
values (
  '{"action": "login", "actor_id": "ann", "actor_username": "ann@example.com",
    "log_type": "account", "traits": {"provider": "email"}}', '192.0.2.1'
), ('{"actor_name": "\u0000"}', '');
select results_eq(
  $$select * from pg_temp.collected('auth')$$,
  $$values ('info', 'login', 'auth', 'ann', '{"ip": "192.0.2.1", "kind": "auth",
    "log_type": "account", "provider": "email"}'::jsonb),
    ('info', null, 'auth', null, '{"kind": "auth"}')$$,
  'a sign-in is stored without the mail address'
);
insert into auth.audit_log_entries (payload, created_at)
select json_build_object('action', 'n' || i), clock_timestamp() - interval '90 seconds'
from generate_series(1, 2500) i;
select set_eq(
  $$select c.msg from pg_temp.collected('auth') c$$,
  $$select 'n' || i from generate_series(1, 2500) i$$,
  'rows that become visible late are stored, and no other again'
);
insert into auth.audit_log_entries (payload, created_at)
select '{}', clock_timestamp() + case when i > 900 then interval '1 hour' else '0' end
from generate_series(1, 1500) i;
select is(count(*), 1500::bigint, 'rows with a time to come are stored')
from pg_temp.collected('auth');
select is_empty($$select * from pg_temp.collected('auth')$$, 'and no row again');

update logloom_private.collectors set read_to = now() - interval '2 hours' where name = 'auth';
insert into auth.audit_log_entries (payload, created_at)
values ('{"action": "old"}', now() - interval '1 hour');
select results_eq(
  $$select c.msg, c.attrs - '{from,to}'::text[],
      (c.attrs ->> 'to')::timestamptz - (c.attrs ->> 'from')::timestamptz >= interval '110 minutes'
    from pg_temp.collected('auth') c where c.msg !~ '^n'$$,
  $$values ('The collector auth read nothing for a time',
    '{"kind": "left_out", "collector": "auth"}'::jsonb, true)$$,
  'a collector that was off does not store what happened meanwhile, and says so'
);
update logloom_private.collectors
set next_at = clock_timestamp() + case name when 'auth' then interval '4 s' else '30 s' end,
  is_on = name in ('auth', 'jobs');
select results_eq(
  'select logloom_private.collect() from generate_series(1, 2)',
  $$values ('0'::interval), (null)$$, 'what is due within five seconds is read'
);
update logloom.plans set monthly_events_limit = 1 where plan_id = 'pro';
insert into auth.audit_log_entries (payload) values ('{"action": "refused"}');
select is_empty($$select * from pg_temp.collected('auth')$$, 'a used up quota stores nothing');
select is_empty($$select * from pg_temp.collected('auth')$$, 'a used up quota stores nothing');
select is(
  logloom_private.collector_health(now()) ->> 'reason',
  'auth lost records within the last hour: Monthly event limit reached: 1 events',
  'and health says so for an hour, whatever was read since'
);
update logloom.plans set monthly_events_limit = 1000000 where plan_id = 'pro';
update logloom_private.collectors set refused_at = null, note = null;
update logloom_private.collectors set read_to = now() + interval '1 day' where name = 'database';
select ok(
  (logloom_private.skip_old_events(c)).read_to <= clock_timestamp(),
  'a clock that was set back stops no collector'
)
from logloom_private.collectors c where c.name = 'database';
select throws_ok(
  $$update logloom_private.settings set project_tenant_id = ' '$$, '23514', null,
  'a blank tenant is refused'
);

insert into cron.job_run_details (jobid, runid, command, status, return_message, end_time)
values
  (7, 1000000001, 'select ''secret''', 'succeeded', '1 row', clock_timestamp()),
  (7, 1000000002, '', 'failed', e'ERROR: duplicate key\nDETAIL: secret', clock_timestamp());
insert into net._http_response (id, status_code, error_msg, timed_out)
values (1, 200, null, false), (2, 404, null, false), (3, null, 'Timeout of 5 s reached', true);
insert into supabase_functions.hooks
select 'cron.job'::regclass, 'told', 2 from generate_series(1, 2);
select set_eq(
  $$select c.level, c.msg, c.service, c.attrs from pg_temp.collected('jobs') c$$,
  $$values
    ('error', 'ERROR: duplicate key', 'pg_cron',
      '{"job": "7", "run": 1000000002, "kind": "failed_job"}'::jsonb),
    ('warn', 'A request was answered 404', 'pg_net', '{"kind": "failed_request", "request": 2,
      "status": 404, "table": "cron.job", "webhook": "told"}'),
    ('error', 'A request got no answer', 'pg_net', '{"kind": "failed_request", "request": 3,
      "error": "Timeout of 5 s reached"}')$$,
  'failed runs, requests and webhooks are stored without commands and details'
);
insert into cron.job_run_details (jobid, runid, status, start_time)
values
  (7, 1000000003, 'failed', null), (7, 1000000004, 'running', clock_timestamp() - interval '1 day');
select results_eq(
  $$select c.attrs -> 'run' from pg_temp.collected('jobs') c$$, $$values ('1000000003'::jsonb)$$,
  'a run that failed before it started is stored'
);
update cron.job_run_details set status = 'failed' where runid = 1000000004;
select results_eq(
  $$select c.attrs -> 'run' from pg_temp.collected('jobs') c$$, $$values ('1000000004'::jsonb)$$,
  'and a long run that the end of the database ended, once'
);

select is_empty($$select * from pg_temp.collected('statements')$$, 'the first read notes totals');
create role of_secret password 'secret';
create temp table numbers as select i from generate_series(1, 300000) i;
select count(*) from numbers where i::text <> 'secret' \g /dev/null
select results_eq(
  $$select c.level, c.msg, c.service, c.attrs - '{rank,queryid,total_ms,mean_ms}'::text[]
    from pg_temp.collected('statements') c where c.msg like '%numbers%'$$,
  $$values ('info', 'select count(*) from numbers where i::text <> $1', 'postgres',
    '{"kind": "statement", "calls": 1, "new_in_top_ten": true}'::jsonb)$$,
  'the statements that took most time are stored with what they took'
);
select is_empty(
  $$select q.batch_id from logloom_private.queue q where q.msg::text || q.attrs::text ~ 'secret'$$,
  'without values'
);
select results_eq(
  $$select logloom_private.statement_text(s)
    from unnest(array[
      e'select 1, t2.x\n from "T" t2 where x = $1 and y > -4.2e1 and z = $2',
      'alter role a password ''b''', 'select /*/ /* */ secret */ 1', 'select ''secret''',
      'select $a1ä$secret$a1ä$', 'select $é$secret$é$', 'select 1 /* secret', 'select 1 -- secret',
      '(with a as (select 1) select 2)'
    ]) s$$,
  $$values ('select ?, t2.x from "T" t2 where x = $1 and y > -? and z = $2'), (null), (null),
    (null), (null), (null), (null), (null), ('(with a as (select ?) select ?)')$$,
  'a text that may hold values is left out'
);

select results_eq(
  $$select c.level, (c.attrs ->> 'bytes')::bigint > 1 << 20
    from pg_temp.collected('database') c where c.attrs ->> 'kind' = 'database_size'$$,
  $$values ('info', true)$$, 'the size of the database is stored'
);
create or replace function logloom_private.database_states()
returns table (kind text, key text, weight numeric, is_grave boolean, msg text, attrs jsonb)
language sql
as $$
  select 'dead_rows', i::text, i, false, 'table ' || i, '{}'::jsonb from generate_series(1, 25) i
$$;
select results_eq(
  $$select c.msg, c.level, c.attrs from pg_temp.collected('database') c offset 19$$,
  $$values ('table 6', 'warn', '{"kind": "dead_rows"}'::jsonb),
    ('5 more were left out', 'warn', '{"kind": "dead_rows"}')$$,
  'the worst 20 of a kind are stored, and how many others there are'
);
update logloom_private.collectors c
set cursor = c.cursor || jsonb_build_object('dead_rows warn 7', now() - interval '61 minutes')
where c.name = 'database';
select results_eq(
  $$select c.msg from pg_temp.collected('database') c$$, $$values ('table 7')$$,
  'a state that lasts is told once, and again after an hour'
);

update logloom_private.collectors set is_on = true, read_to = now() where name = 'platform';
create temp table given as select logloom_private.exchange_window('{}') as read;
select is(
  logloom_private.exchange_window('{}'), null, 'a second run reads nothing while the first reads'
);
select is(
  logloom_private.exchange_window(jsonb_build_object(
    'window_id', g.read -> 'window_id', 'records', '[]'::jsonb, 'is_end', true,
    'last', now() + interval '1 day'
  )),
  null, 'a run ends with its last page'
)
from given g;
select results_eq(
  $$select e.w ? 'window_id', (e.w ->> 'from')::timestamptz <= clock_timestamp()
    from logloom_private.exchange_window('{}') e (w)$$,
  $$values (true, true)$$, 'and the next run reads on, at no time to come'
);

drop table auth.audit_log_entries;
update logloom_private.collectors set failures = 2 where name = 'auth';
select is_empty($$select * from pg_temp.collected('auth')$$, 'a missing table stores nothing');
select is(
  logloom_private.collector_health(now()) #- '{on,auth,read_to}',
  '{"status": "degraded", "reason": "auth: 3 reads failed in a row",
    "on": {"auth": {"failures": 3, "note": null, "error_code": "42P01"}}}',
  'and health says which collector fails'
);
update logloom_private.collectors set failures = 0, read_to = now() - interval '20 minutes';
select is(
  logloom_private.collector_health(now()) ->> 'reason', 'auth is 1200 s behind', 'or is behind'
);
update logloom_private.collectors set is_on = false;
select is(
  logloom_private.collector_health(now()), '{"status": "healthy", "on": {}}', 'if it is on'
);
select * from finish();
rollback;
