create function logloom_private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenants text[];
  v_lock_wait text;
begin
  v_tenants := logloom_private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = '{}' and p_day >= p_today - 1
    or exists (
      select from unnest(v_tenants) t (tenant_id)
      where logloom_private.first_kept_day(t.tenant_id, p_today) <= p_day
    )
  then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform logloom_private.lock_partitions();
    -- Without compact_log_counts no counts of the day come to be while they are forgotten.
    perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
    if logloom_private.day_tenants(p_day) <> v_tenants then
      return 'busy';
    end if;
    perform logloom_private.forget_sealed_day(
      t.tenant_id, p_day, logloom_private.first_kept_day(t.tenant_id, p_today)
    )
    from unnest(v_tenants) t (tenant_id);
    perform logloom_private.note_deletion(
      n.tenant_id, logloom_private.first_kept_day(n.tenant_id, p_today), n.records, 1
    )
    from (
      select t.tenant_id, sum(c.events)::bigint as records
      from unnest(v_tenants) t (tenant_id)
      join logloom_private.log_counts c on c.tenant_id = t.tenant_id
        and c.minute >= logloom_private.day_start(p_day) and c.minute < logloom_private.day_start(
          p_day + 1
        )
      group by t.tenant_id
    ) n;
    perform logloom_private.forget_day(p_day);
    -- Last, because every reader of logloom.logs waits from here to the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

revoke all on function logloom_private.drop_expired_day(date, date) from public;

comment on function logloom_private.drop_expired_day(date, date) is
  'Drops a day''s partition: dropped; kept where a tenant with records in it keeps the day; busy '
  'where readers or the writer hold it.';
