begin;
\ir ../actors.psql
select plan(6);

select public.ingest_logs(p_tenant_id => 'acme', p_ts => array[now(), now()]);
select pg_temp.act_as_service_role();
select is(public.run_writer(), row(0, false)::public.writer_run, 'a call closes the slot');
select is(public.run_writer(), row(2, false)::public.writer_run, 'another moves it');
select is(public.run_writer(), row(0, true)::public.writer_run, 'then there is nothing to do');
select pg_temp.act_as_postgres();
select is((select count(*) from app.logs), 2::bigint, 'what was queued is written');
select is(
  (private.health_report() #>> '{checks,jobs,run_writer,last_success}') is not null, true,
  'health tells of it'
);
select is(
  (select count(*) from private.job_heartbeats where job = 'write_logs'), 0::bigint,
  'but does not take it for pg_cron''s'
);

select * from finish();
rollback;
