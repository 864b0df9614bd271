-- The database is read-only, but transactions of PostgREST may still write.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(11);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
select pg_temp.act_as_user('acme', 'alice');
create temp table keys as
select * from public.create_api_key(p_name => 'r', p_scopes => '{read}');
create temp table sessions as
select * from public.create_log_portal_session(p_query_dsl => 'level:info');
grant select on keys, sessions to public;
create function pg_temp.read_with(p_value text)
returns text
language sql
as $$
  select public.read_logs(
    encode(sha256(convert_to(p_value, 'UTF8')), 'hex'), 'search_logs', '{"p_ts_from": "now-1h"}'
  ) ->> 'logs'
$$;
create function pg_temp.database_check()
returns jsonb
language sql
as $$ select public.health_report() #> '{endpoints,ready,checks,database}' $$;

select pg_temp.act_as_service_role();
select is(pg_temp.database_check(), null, 'a writable database is not reported');
select pg_temp.act_as_postgres();
update logloom_private.jobs set failures = 1, last_error = '53100: could not extend file'
where name = 'write_logs';
select is(pg_temp.database_check() ->> 'state', 'full', 'a job has found a full disk');
update logloom_private.jobs set is_paused = true where name = 'write_logs';
select is(pg_temp.database_check(), null, 'a paused job does not know whether it still is');
update logloom_private.jobs set is_paused = false where name = 'write_logs';
select pg_temp.act_as_service_role();
set local default_transaction_read_only = on;
select is(
  pg_temp.database_check(),
  jsonb_build_object(
    'status', 'unhealthy', 'state', 'read_only', 'reason',
    'The database is read-only: ingest refuses events and jobs pause until it accepts writes: '
      'see A read-only or full database in docs/guides/operations.md'
  ),
  'health reports read-only, and where to read on'
);
select throws_ok(
  $$select pg_temp.send_request('acme', p_ts => '{null}')$$, '25006', null,
  'events are refused, although this transaction could store them'
);
select is(pg_temp.send_request('acme') ->> 'authenticated', 'true', 'keys are still checked');
select is(
  public.run_writer(), row(0, true)::public.logloom_writer_run, 'ingest does not run the writer'
);
select is(pg_temp.read_with(k.key_value), '[]', 'reading by key works') from keys k;

set local transaction_read_only = on;
select is(pg_temp.database_check() ->> 'state', 'read_only', 'health only reads');
select is(pg_temp.read_with(k.key_value), '[]',
'reading by key works although its use cannot be noted')
from keys k;
select is(pg_temp.read_with(s.token), '[]', 'and so does reading in a portal') from sessions s;

select * from finish();
rollback;
