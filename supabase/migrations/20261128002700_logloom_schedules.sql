-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- Many new objects at once overflow the queue by which pg_cron 1.6 learns of new jobs. It looks
-- once a second.
select pg_catalog.pg_sleep(2);

-- schedules/purge_job_history.sql
-- Deletes pg_cron's records of old runs of our jobs: a job of every second makes 86,400 a day.
create function logloom_private.purge_job_history()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from cron.job_run_details d
  where d.runid = any(array(
    select o.runid
    from cron.job_run_details o
    where strpos(o.command, 'logloom_private.') > 0
      -- A run that was cut off has no end, one that the server went down before no start either: it
      -- is as old as the next run that has one.
      and coalesce(
        o.end_time,
        o.start_time,
        (
          select n.start_time
          from cron.job_run_details n
          where n.runid > o.runid and n.start_time is not null
          order by n.runid
          limit 1
        )
      ) < now() - case o.status
        when 'succeeded' then v_settings.job_history_lifetime
        else v_settings.job_failure_lifetime
      end
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

-- schedules/purge_old_rows.sql
-- Deletes what is past its lifetime, so many rows a step.
create function logloom_private.purge_old_rows()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_old record;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.occurred_at < $1', v_settings.audit_lifetime),
        ('logloom.archive_restores', 'r.finished_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        -- After its last alert.
        ('logloom.alert_incidents', 'r.resolved_at < $1', v_settings.alert_history_lifetime),
        -- Listed for a while after their end.
        ('logloom.alert_silences', 'least(r.ends_at, r.expired_at) < $1', '30 days'),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          v_settings.idempotency_key_lifetime),
        -- Counted for a minute from when they were made.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        ('logloom_private.key_reads', 'r.day < $1', '31 days'),
        -- Listed for a while after their end.
        ('logloom.portal_sessions', 'r.expires_at < $1', '30 days'),
        ('logloom_private.portal_reads', 'r.minute < $1', '1 hour'),
        -- Unused for a day, a bucket is full.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          v_settings.notification_history_lifetime),
        ('logloom.log_stream_failures', 'r.occurred_at < $1', v_settings.stream_failure_lifetime),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1', v_settings.confirmation_lifetime),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.purge_step_rows;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.purge_step_rows then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$$;

-- schedules/repair.sql
-- Lets every sequence go on after the greatest number that the data holds; it never goes back. A
-- tail and an alert round read on by write sequence: one that began anew would hide new records.
create function logloom_private.align_sequences()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sequence regclass;
  v_used_sql text;
  v_used bigint;
  v_last bigint;
begin
  for v_sequence, v_used_sql in
    select pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass,
      format('select max(t.%I) from %s t', a.attname, a.attrelid::regclass)
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and a.attidentity <> '' and not c.relispartition
    union all
    values
      (
        'logloom_private.queue_batch_id'::regclass,
        'select greatest(max(s.moved_through), '
          '(select max(q.batch_id) from logloom_private.queue q))'
          ' from logloom_private.queue_slots s'
      ),
      (
        'logloom_private.write_seq',
        'select greatest(max(a.write_seq), '
          '(select max(r.write_seq_to) from logloom_private.alert_rounds r), '
          '(select max(s.position_seq) - 1 from logloom.log_streams s))'
          ' from logloom_private.log_writes a'
      )
  loop
    execute v_used_sql into v_used;
    execute format('select s.last_value from %s s', v_sequence) into v_last;
    if v_used > v_last then
      perform setval(v_sequence, v_used);
    end if;
  end loop;
end;
$$;

-- After a dump was restored, called by postgres: brings back what a dump does not hold, which is
-- jobs, who may call the operations, the pre-request function, pg_partman's configuration, and
-- brings sequences and partitions in line with the data. Safe at any time, and twice.
create function logloom_private.repair()
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.hold_writers();
  perform logloom_private.grant_operations();
  perform logloom_private.adopt_pre_request();
  perform logloom_private.align_sequences();
  perform logloom_private.maintain_partitions();
  perform logloom_private.schedule_jobs();
  perform logloom_private.compare_archive_anew();
  update logloom_private.installation
  set own_oid = 'logloom_private.installation'::regclass
  where singleton;
  return 'repaired';
end;
$$;

-- schedules/schedule_jobs.sql
-- Makes the jobs of pg_cron, or brings those that are there to what they are here.
create function logloom_private.schedule_jobs()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        (
          'archive_logs', '5 seconds',
          'call logloom_private.run_job(''archive_logs'', ''logloom_private.archive_step()'')'
        ),
        (
          'verify_logs', '* * * * *',
          'call logloom_private.run_job(''verify_logs'', ''logloom_private.verify_step()'')'
        ),
        ('run_canary', '* * * * *', 'call logloom_private.run_canary()'),
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('send_log_streams', '2 seconds', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$$;

-- schedules/start.sql
-- Last of all: PostgREST asks our check before a request, and the jobs run.
select logloom_private.adopt_pre_request();
select logloom_private.schedule_jobs();

select logloom_private.finish_migration();
