-- Queries compile to other SQL now.
delete from logloom_private.alert_plans where true;

-- Streams whose receiver has accepted something are proven.
update logloom.log_streams set is_proven = true where last_success_at is not null;

-- Ends that were announced before: no message announces them again, and the next alert is sent.
update logloom.alert_incidents i
set end_told_at = i.resolved_at
where i.resolved_at is not null
  and exists (
    select
    from logloom_private.notifications n
    where n.incident_id = i.incident_id and n.purpose = 'recovery'
      and n.created_at >= i.last_fired_at
  );

-- One scheduler with three lanes replaces a pg_cron job for each step.
update logloom_private.settings set writer_guard_silence = '20 seconds'
where writer_guard_silence = '10 seconds';

-- The limit of the queue now follows from max_storage_bytes.
update logloom_private.settings set queue_hard_limit_bytes = null
where queue_hard_limit_bytes = 8589934592;
insert into logloom_private.storage default values;
insert into logloom_private.sql_log_place default values;
select logloom_private.schedule_jobs();

-- New limits of the plans of the first migration.
update logloom.plans p
set max_baseline_rules = l.max_baseline_rules, max_error_groups = l.max_error_groups
from (
  values ('free', 1, 200), ('pro', 20, 2000), ('enterprise', 200, 10000)
) l (plan_id, max_baseline_rules, max_error_groups)
where p.plan_id = l.plan_id;

-- Errors are counted in groups from now on.
insert into logloom_private.error_progress (counted_from, write_seq)
select coalesce(max(w.write_seq), 0), coalesce(max(w.write_seq), 0)
from logloom_private.log_writes w;

-- The collectors of the project's own events, all off.
insert into logloom_private.collectors (name, every)
values
  ('auth', '1 minute'), ('database', '1 minute'), ('jobs', '1 minute'), ('platform', '1 minute'),
  ('statements', '1 hour');
