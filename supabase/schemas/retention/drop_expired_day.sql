-- Drops a day's partition. Returns one of:
--   dropped  it is dropped
--   kept     a tenant with records in it keeps the day
--   busy     readers or the writer hold a lock on it
create function logloom_private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- Yesterday is kept one more day even if it is empty, because events for it may still arrive.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- With the writer's lock nothing is added. If events for the day arrive later, the writer
    -- creates the partition again.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants
      -- Records that came meanwhile may have to be archived.
      or logloom_private.day_is_kept(p_day, p_today)
    then
      return 'busy';
    end if;
    perform logloom_private.note_stream_gaps(p_day, p_today);
    -- Nobody reads the rows about this day in other tables any more. They are deleted later,
    -- without blocking the writer.
    delete from logloom_private.log_writes a where a.day = p_day;
    -- Comes last: from here on every reader of logloom.logs waits for the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;
