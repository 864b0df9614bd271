-- Copies the remaining rows of a day from which many records were sealed. Returns false if
-- replacing its partition is not worth it.
create function logloom_private.prepare_replacement(p_day date)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_day logloom_private.sealing_days;
  v_records bigint;
  v_write_seq bigint;
begin
  perform logloom_private.forget_replacement(p_day);
  if not logloom_private.partition_exists(p_day) then
    return false;
  end if;
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day for update;
  execute format('select count(*), max(l.write_seq) from only logloom.%I l', v_partition)
  into v_records, v_write_seq;
  if v_day.removed_records = 0 or v_day.removed_records < v_records / 4 then
    return false;
  end if;
  if v_records > 0 then
    execute format('create table logloom.%I (like logloom.logs including all)', v_copy);
    execute format(
      'alter table logloom.%I enable row level security, force row level security', v_copy
    );
    execute format(
      'insert into logloom.%I select l.* from only logloom.%I l order by l.tenant_id, l.ts, l.id',
      v_copy, v_partition
    );
    get diagnostics v_records = row_count;
    -- Because of this constraint, attaching the table does not scan it.
    execute format(
      'alter table logloom.%I add constraint logs_remaining_day '
        || 'check (ts >= %L::timestamptz and ts < %L::timestamptz)',
      v_copy, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
    );
  end if;
  update logloom_private.sealing_days d
  set prepared_by = pg_current_xact_id(),
    prepared_records = v_records,
    prepared_write_seq = v_write_seq
  where d.day = p_day;
  return true;
end;
$$;

-- Sealed records leave empty space in a day's partition. To free it, the remaining rows are copied
-- and the copy replaces the partition. DROP TABLE does not respect the snapshots of other sessions.
-- So the replacement waits until every snapshot is newer than the copy and the last sealing.

-- True if a session has a snapshot that does not see the transaction p_xid. Autovacuum does not
-- count: it reads only its own table, and dropping that table waits for it. If it counted, a large
-- table's autovacuum would block the replacement for hours.
create function logloom_private.has_older_snapshot(p_xid xid8)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
      select
      from pg_catalog.pg_stat_activity a
      where a.backend_xmin is not null
        and a.datname = current_database()
        and a.pid <> pg_backend_pid()
        and a.backend_type is distinct from 'autovacuum worker'
        and age(a.backend_xmin) >= age(p_xid::xid)
    )
    or exists (
      select from pg_catalog.pg_prepared_xacts p where age(p.transaction) >= age(p_xid::xid)
    );
end;
$$;

-- Returns the name of the copy that replaces a day's partition.
create function logloom_private.remainder_name(p_day date)
returns text
language sql
stable
return to_char(p_day, '"logs_remaining_"YYYY_MM_DD');

-- Drops the copy of a day. If the day has no partition any more, there is no space left to free.
create function logloom_private.forget_replacement(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_copy constant text := logloom_private.remainder_name(p_day);
begin
  if to_regclass(format('logloom.%I', v_copy)) is not null then
    execute format('drop table logloom.%I', v_copy);
  end if;
  update logloom_private.sealing_days d
  set prepared_by = null,
    removed_records =
      case when logloom_private.partition_exists(p_day) then d.removed_records else 0 end
  where d.day = p_day;
end;
$$;

-- Returns the newest write sequence that added a record to a day. log_writes always keeps the last
-- one of each day.
create function logloom_private.last_write_to(p_day date)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select max(a.write_seq) from logloom_private.log_writes a where a.day = p_day);
end;
$$;

-- Replaces a day's partition by its copy, or drops it if no row is left. Returns one of:
--   replaced  the partition was replaced or dropped
--   waiting   a session has an older snapshot
--   changed   the partition has changed since it was copied, or is gone
--   busy      readers or the writer hold a lock on the partition
create function logloom_private.replace_partition(p_day date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
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
    -- From here on nobody deletes records or drops the partition. Counting takes long, so it comes
    -- before the writer's lock. If the writer adds records meanwhile, last_write_to shows it.
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    v_last_write := logloom_private.last_write_to(p_day);
    -- Retention may have dropped the day since.
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
        v_partition, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
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
      -- A migration has changed logloom.logs since, so the copy no longer matches its partitions.
      perform logloom_private.forget_replacement(p_day);
      return 'changed';
  end;
end;
$$;
