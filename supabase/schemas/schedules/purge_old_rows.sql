-- Deletes pg_cron's history of our jobs. A job that runs every second adds 86,400 rows a day.
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
      -- An interrupted run has no end time. A run that was about to start during a crash has no
      -- start time, either. The start time of the next run takes its place.
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
        when 'succeeded' then interval '1 hour'
        else interval '7 days'
      end
    limit v_settings.deletion_step_records
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.deletion_step_records then v_settings.deletion_pause end;
end;
$$;

-- Deletes rows older than their lifetime, a limited number in each step. Resolves errors that were
-- not seen for long. Deletes unused views of customers.
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
  perform logloom_private.resolve_quiet_errors(now());
  perform logloom_private.purge_customer_views(v_settings.deletion_step_records);
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.source = ''logloom'' and r.occurred_at < $1',
          v_settings.audit_lifetime),
        ('logloom.audit_events',
          'r.occurred_at < $1 and r.day < logloom_private.audit_kept_from(r.tenant_id)',
          (select make_interval(days => min(p.audit_retention_days)) from logloom.plans p)),
        -- Keeps the last digest before the kept days: the first kept day continues from it.
        ('logloom.audit_digests',
          'r.day < (select max(d.day) from logloom.audit_digests d where d.tenant_id = r.tenant_id '
            'and d.day < logloom_private.audit_kept_from(r.tenant_id))', '0'),
        ('logloom.archive_restores', 'r.finished_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        -- An incident is resolved after its last alert, so its alerts are deleted first.
        ('logloom.alert_incidents', 'r.resolved_at < $1', v_settings.alert_history_lifetime),
        ('logloom_private.rule_values', 'r.window_end < $1', '8 days'),
        ('logloom_private.error_counts', 'not r.is_day and r.at < $1', '14 days'),
        ('logloom_private.error_counts', 'r.is_day and r.at < $1', '366 days'),
        ('logloom.error_groups',
          'r.last_seen < $1 and r.merged_into is null and r.fingerprint <> ''others''', '366 days'),
        -- Ended silences are listed for this time.
        ('logloom.alert_silences', 'least(r.ends_at, r.expired_at) < $1', '30 days'),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          logloom_private.idempotency_key_lifetime()),
        -- create_ingest_token counts the tokens created in the last minute.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        -- get_tenant_usage reads 24 months.
        ('logloom_private.usage_services', 'r.day < $1', '24 months'),
        ('logloom_private.storage_hours', 'r.hour < $1', '8 days'),
        ('logloom.ingest_rule_hours', 'r.hour < $1', '32 days'),
        ('logloom_private.key_reads', 'r.day < $1', '31 days'),
        -- Ended portal sessions are listed for this time.
        ('logloom.portal_sessions', 'r.expires_at < $1', '30 days'),
        ('logloom_private.portal_reads', 'r.minute < $1', '1 hour'),
        -- A bucket that was not used for a day is full, like a bucket without a row.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          '30 days'),
        ('logloom.log_stream_failures', 'r.occurred_at < $1', '30 days'),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1',
          logloom_private.confirmation_lifetime()),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.deletion_step_records;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.deletion_step_records then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$$;
