begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(6);

select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now(), now()]);
select pg_temp.act_as_service_role();
select is(public.run_writer(), row(0, false)::public.logloom_writer_run, 'a call closes the slot');
select is(public.run_writer(), row(2, false)::public.logloom_writer_run, 'another moves it');
select is(
  public.run_writer(), row(0, true)::public.logloom_writer_run, 'then there is nothing to do'
);
select pg_temp.act_as_postgres();
select is((select count(*) from logloom.logs), 2::bigint, 'queued events are written');
select ok(
  (logloom_private.read_health() #>> '{checks,writer,last_run}')::timestamptz >= now(),
  'health counts it as a run of the writer'
);
select is(
  (select j.last_succeeded_at >= now() from logloom_private.jobs j
    where j.name = 'run_writer'),
  true, 'it has a job of its own'
);

select * from finish();
rollback;
