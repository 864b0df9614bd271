-- Workers that pg_cron keeps running, scheduled by a function that has cron in its search_path.
create schema flow;
create table flow.worker_runs (last_at timestamptz not null, runs bigint not null);
insert into flow.worker_runs values (now(), 0);
create function flow.ensure_workers() returns void
language sql as $$ update flow.worker_runs set last_at = clock_timestamp(), runs = runs + 1 $$;
create function flow.setup_cron(p_interval text default '1 second') returns text
language plpgsql security definer set search_path = flow, cron, pg_temp as $$
begin
  perform cron.unschedule(j.jobid) from cron.job j where j.jobname = 'flow_ensure_workers';
  return schedule('flow_ensure_workers', p_interval, 'select flow.ensure_workers()')::text;
end;
$$;
select flow.setup_cron();
select cron.schedule('write_logs', '0 0 1 1 *', 'select 1');
select cron.schedule('logs_write', '0 0 1 1 *', 'select 2');
