-- Returns the tenant's first day after p_after that may have records past their rule's days.
create function logloom_private.next_day_of_rules(p_tenant_id text, p_after date, p_today date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days constant integer := logloom_private.retention_days(p_tenant_id);
begin
  return least(
    (
      select logloom_private.utc_day(c.last_ts)
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.damaged_at is null
        and c.last_ts >= logloom_private.day_start(p_after + 1)
        and logloom_private.utc_day(c.last_ts) < p_today - coalesce(c.kept_days, v_days)
      order by c.last_ts
      limit 1
    ),
    (
      select min(d.day)
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day > p_after and d.day < p_today - 1
    )
  );
end;
$$;

-- Deletes some records of a tenant's day that are past their rule's days: blocks first, then rows.
-- Returns how many; 0 if none is left. A block follows the rules at its sealing, a row the present
-- rules. A damaged block stays until the whole day is deleted, because its counts cannot be read.
create function logloom_private.delete_day_by_rules(p_tenant_id text, p_day date, p_today date)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days constant integer := logloom_private.retention_days(p_tenant_id);
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_block logloom_private.blocks;
  v_blocks integer := 0;
  v_rows logloom_private.sql_source;
  v_end logloom_private.log_key;
  v_deleted bigint := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.last_ts < v_to
      and c.damaged_at is null and p_day < p_today - coalesce(c.kept_days, v_days)
  loop
    perform logloom_private.can_read(v_block.format);
    if not logloom_private.block_is_intact(v_block) then
      update logloom_private.blocks c
      set damaged_at = now()
      where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
      continue;
    end if;
    perform logloom_private.add_gaps(
      s, logloom_private.utc_day(v_block.first_ts), logloom_private.utc_day(v_block.last_ts)
    )
    from logloom.log_streams s
    where s.tenant_id = p_tenant_id and s.source = 'logs'
      and s.position_seq <= v_block.last_write_seq
      and bit_count(logloom_private.block_bits(
        v_block, (logloom_private.query_or_all(s)).tree, v_block.first_ts, 'infinity'
      )) > 0;
    if not v_block.holds_counts then
      perform logloom_private.count_sealed(v_block, null, -1);
    end if;
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
    v_deleted := v_deleted + v_block.records;
    v_blocks := v_blocks + 1;
    exit when v_blocks = 5;
  end loop;
  if v_deleted = 0 then
    v_rows := logloom_private.tenant_rows_sql(p_tenant_id, v_from, v_to, format(
      'coalesce(%s, %s) < %s', logloom_private.rule_days_sql(p_tenant_id), v_days, p_today - p_day
    ));
    v_end := logloom_private.rows_end(v_rows);
    if v_end.ts is not null then
      perform logloom_private.add_gaps(s, p_day, p_day)
      from logloom.log_streams s
      where s.tenant_id = p_tenant_id and s.source = 'logs'
        and logloom_private.lacks_rows(s, logloom_private.rows_to_end(
          v_rows, v_end, (logloom_private.query_or_all(s)).filter
        ));
      v_deleted := logloom_private.delete_to_end(v_rows, v_end, 'true');
    end if;
  end if;
  return v_deleted;
end;
$$;

-- Deletes records that are past their rule's days, for the next tenant with retention rules. Stores
-- the progress. Days past the tenant's longest retention are deleted later, as a whole.
create function logloom_private.delete_by_rules(p_place logloom_private.retention_place)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := (
    select min(s.tenant_id)
    from logloom.tenant_settings s
    where s.rules_days_max is not null and s.tenant_id > p_place.rules_through
  );
  v_day constant date :=
    logloom_private.next_day_of_rules(v_tenant_id, p_place.rules_day, p_place.today);
  v_deleted bigint := 0;
  v_error text;
begin
  if v_day is null then
    -- When all days from before the rules' removal are deleted, forgets the rules.
    update logloom.tenant_settings s
    set rules_days_max = null
    where s.tenant_id = v_tenant_id and s.retention_rules is null
      and s.updated_at < logloom_private.day_start(
        logloom_private.first_kept_day(v_tenant_id, p_place.today)
      );
    update logloom_private.retention_place p
    set rules_through = v_tenant_id, rules_day = default
    where p.singleton;
    return interval '0';
  end if;
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- No record may arrive between the check that all is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  begin
    if not logloom_private.awaits_archive(v_tenant_id, v_day, p_place.today) then
      v_deleted := logloom_private.delete_day_by_rules(v_tenant_id, v_day, p_place.today);
    end if;
    if v_deleted > 0 then
      perform logloom_private.note_deletions(
        array[v_tenant_id], array[v_deleted], 0, p_place.today
      );
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    perform logloom_private.leave_days(array[v_tenant_id], array[v_day]);
  exception
    when lock_not_available or disk_full then
      raise;
    when others then
      -- The next retention tries it again.
      v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  update logloom_private.retention_place p
  set rules_day = v_day, error = coalesce(p.error, v_error)
  where p.singleton;
  return interval '0';
end;
$$;
