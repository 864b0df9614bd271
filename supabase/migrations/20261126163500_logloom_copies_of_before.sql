-- A day whose copy is from before a migration that changed logloom.logs is copied anew. Counts are
-- summed up while the partition of a day is replaced.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

CREATE OR REPLACE FUNCTION logloom_private.replace_partition (
  p_day date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_lock_wait text;
  v_day logloom_private.sealing_days;
  v_last_write bigint;
  v_records bigint;
  v_write_seq bigint;
begin
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day;
  if logloom_private.has_older_snapshot(v_day.prepared_by)
    or logloom_private.has_older_snapshot(v_day.removed_by)
  then
    return 'waiting';
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- From here on nobody takes records out. They are counted before the writer's lock, since that
    -- takes long: whatever the writer adds meanwhile is a write to the day. Nor is the partition
    -- dropped once it was read.
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    v_last_write := logloom_private.last_write_to(p_day);
    -- Retention drops a day of which nobody has a row, and one that nobody keeps.
    if logloom_private.partition_exists(p_day) then
      execute format('select count(*), max(l.write_seq) from only logloom.%I l', v_partition)
      into v_records, v_write_seq;
    end if;
    if (v_records, v_write_seq) is not distinct from
      (v_day.prepared_records, v_day.prepared_write_seq)
    then
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
      perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    end if;
    if (v_records, v_write_seq, v_last_write) is distinct from
      (v_day.prepared_records, v_day.prepared_write_seq, logloom_private.last_write_to(p_day))
    then
      perform logloom_private.forget_replacement(p_day);
      perform logloom_private.restore_lock_wait(v_lock_wait);
      return 'changed';
    end if;
    -- From here on every reader of logloom.logs waits for the commit.
    execute format('drop table logloom.%I', v_partition);
    if v_records > 0 then
      execute format('alter table logloom.%I rename to %I', v_copy, v_partition);
      execute format(
        'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
        v_partition, p_day::timestamp at time zone 'UTC',
        (p_day + 1)::timestamp at time zone 'UTC'
      );
      execute format('alter table logloom.%I drop constraint logs_remaining_day', v_partition);
    end if;
    update logloom_private.sealing_days d
    set removed_records = 0, prepared_by = null
    where d.day = p_day;
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'replaced';
  exception
    when lock_not_available then
      return 'busy';
    when datatype_mismatch then
      -- A migration has changed logloom.logs since: the copy is not as its partitions are.
      perform logloom_private.forget_replacement(p_day);
      return 'changed';
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.summarize_writes (
  p_day date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET lock_timeout TO '100ms'
  AS $function$
declare
  v_index regclass;
begin
  select i.indexrelid into v_index
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
  perform brin_summarize_new_values(v_index);
exception
  when lock_not_available then
    -- Vacuum is at it, which does the same.
    null;
  when internal_error or undefined_table then
    -- The partition went while this waited for it.
    if exists (select from pg_catalog.pg_class c where c.oid = v_index) then
      raise;
    end if;
end;
$function$;

select logloom_private.finish_migration();
