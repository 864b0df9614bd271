-- Copies what is left of a day in which much was sealed. False where replacing its partition is not
-- worth it.
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
    execute format('alter table logloom.%I enable row level security', v_copy);
    execute format('alter table logloom.%I force row level security', v_copy);
    execute format(
      'insert into logloom.%I select l.* from only logloom.%I l order by l.tenant_id, l.ts, l.id',
      v_copy, v_partition
    );
    get diagnostics v_records = row_count;
    -- With it, attaching need not read the table.
    execute format(
      'alter table logloom.%I add constraint logs_remaining_day '
        || 'check (ts >= %L::timestamptz and ts < %L::timestamptz)',
      v_copy, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
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
