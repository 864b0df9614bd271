-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- sealing/tables/sealing_days.sql
create table logloom_private.sealing_days (
  day date primary key,
  checked_at timestamptz,
  checked_through text,
  removed_records bigint not null default 0,
  removed_by xid8,
  prepared_by xid8,
  prepared_records bigint,
  prepared_write_seq bigint,
  replace_after timestamptz,
  differences integer not null default 0,
  last_error text
);

comment on table logloom_private.sealing_days is
  'Days that the job seal_logs has looked at, and how far it is: the place that it goes on from.';

comment on column logloom_private.sealing_days.checked_at is
  'When all tenants of the day were last looked at.';

comment on column logloom_private.sealing_days.checked_through is
  'Up to this tenant a pass over the day has come; null where none is under way.';

comment on column logloom_private.sealing_days.removed_records is
  'Records that went from the day''s partition into blocks since it was last replaced.';

comment on column logloom_private.sealing_days.removed_by is
  'The last transaction that took records out of the partition.';

comment on column logloom_private.sealing_days.prepared_by is
  'The transaction that copied what remains into a table that is to take the partition''s place.';

comment on column logloom_private.sealing_days.differences is
  'Blocks that were given up because they differed from their records.';

comment on column logloom_private.sealing_days.replace_after is
  'Not before this the partition''s replacement is tried again.';

-- sealing/days_to_seal_together.sql
-- The days whose records of a tenant make blocks together: p_day where it has seal_day_records,
-- else its week or, where that has few, its month, once that is over: the first day with rows sees
-- to the others. Null: they stay rows. are_small: not a day by itself.
create function logloom_private.days_to_seal_together(
  p_tenant_id text,
  p_day date,
  p_now timestamptz,
  out days date[],
  out are_small boolean
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_month constant integer :=
    logloom_private.block_days(logloom_private.retention_days(p_tenant_id));
  v_span integer;
  v_from date;
  v_day date;
  v_count integer;
  v_records bigint;
begin
  select s.* into v_settings from logloom_private.settings s;
  if not coalesce(
    (select t.compression from logloom.tenant_settings t where t.tenant_id = p_tenant_id), true
  )
  then
    return;
  end if;
  are_small := false;
  foreach v_span in array array[1, least(v_month, 7), v_month] loop
    v_from := logloom_private.span_start(p_day, v_span);
    exit when logloom_private.day_start(v_from + v_span) > p_now - v_settings.seal_after;
    days := '{}';
    v_records := 0;
    for v_day in
      select d.day
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= v_from and d.day < v_from + v_span
      order by d.day
    loop
      continue when not logloom_private.partition_exists(v_day);
      execute format(
        'select count(*) from (select from only logloom.%I l where l.tenant_id = $1 limit $2) l',
        logloom_private.partition_name(v_day)
      )
      into v_count
      using p_tenant_id, v_settings.seal_day_records;
      -- A day with enough for itself has a pass of its own.
      if v_count > 0 and (v_count < v_settings.seal_day_records) = are_small then
        days := days || v_day;
        v_records := v_records + v_count;
      end if;
      exit when days[1] < p_day;
    end loop;
    if v_span = v_month and are_small then
      v_records := v_records + (
        select coalesce(sum(c.records), 0)
        from logloom_private.blocks c
        where c.tenant_id = p_tenant_id and c.holds_counts
          and c.records < v_settings.seal_day_records
          and c.first_ts >= logloom_private.day_start(v_from)
          and c.last_ts < logloom_private.day_start(v_from + v_span)
      );
    end if;
    if days[1] = p_day and (not are_small or v_records >= v_settings.seal_week_records) then
      return;
    end if;
    are_small := true;
  end loop;
  days := null;
end;
$$;

-- sealing/last_sealed.sql
-- Seam: when the last block was made; null where that is not known.
create function logloom_private.last_sealed()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select c.sealed_at
    from logloom_private.blocks c
    order by c.block_id desc
    limit 1
  );
end;
$$;

-- sealing/merge_small_blocks.sql
-- Makes one block of a tenant's small ones in the span of p_days days from p_from on, of those that
-- hold their counts or of the others. Limited by seal_block_records and seal_block_bytes.
create function logloom_private.merge_small_blocks(
  p_tenant_id text,
  p_from date,
  p_days integer,
  p_hold_counts boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_block_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.block_id) into v_block_ids
  from (
    select
      w.block_id,
      sum(w.records) over (order by w.first_ts, w.block_id) as records,
      sum(w.weight) over (order by w.first_ts, w.block_id) as weight
    from logloom_private.blocks w
    where w.tenant_id = p_tenant_id
      and w.holds_counts = p_hold_counts
      and w.first_ts >= logloom_private.day_start(p_from)
      and w.last_ts >= logloom_private.day_start(p_from)
      and w.last_ts < logloom_private.day_start(p_from + p_days)
      and w.records < case
        when p_hold_counts then v_settings.seal_day_records
        else v_settings.seal_block_records / 2
      end
  ) m
  where m.records <= v_settings.seal_block_records
    and m.weight <= v_settings.seal_block_bytes;
  if cardinality(v_block_ids) > 1 then
    perform logloom_private.rewrite_blocks(p_tenant_id, v_block_ids);
  end if;
end;
$$;

-- sealing/next_day_to_seal.sql
-- The oldest day with a partition that is over for seal_after and was not looked at for
-- seal_again_after; null where none is due.
create function logloom_private.next_day_to_seal(p_now timestamptz)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select min(p.day)
    from logloom_private.settings s
    cross join unnest(logloom_private.partition_days()) p (day)
    left join logloom_private.sealing_days d on d.day = p.day
    where (p.day + 1)::timestamp at time zone 'UTC' <= p_now - s.seal_after
      and (
        d.checked_at is null or d.checked_through is not null
        or d.checked_at <= p_now - s.seal_again_after
      )
  );
end;
$$;

-- sealing/prepare_replacement.sql
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

-- sealing/replace_partition.sql
-- The partition of a day whose records were sealed gives its space back: what remains in it is
-- copied, and the copy takes its place. DROP TABLE ignores the snapshots of others, so that comes
-- only when each is newer than the copy and than the last record that was sealed.

-- Whether somebody holds a snapshot that does not see the transaction p_xid. Autovacuum reads the
-- table that it is at and no other, which to drop waits for; at a large one it would hold up the
-- days for hours.
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

-- The table that is to take the place of a day's partition.
create function logloom_private.remainder_name(p_day date)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_day, '"logs_remaining_"YYYY_MM_DD');
end;
$$;

-- Drops the copy of what is left of a day; without a partition the day gives nothing back.
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

-- The newest write sequence that added a record to a day; its last one is never forgotten.
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

-- Puts the copy in the place of a day's partition, or nothing where nothing is left. Answers
-- replaced; waiting: somebody holds an older snapshot; changed: the partition is not as it was
-- copied, or went; busy: readers or the writer hold it.
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
$$;

-- sealing/rewrite_step.sql
-- Writes the next block of an older format anew, in this transaction. False where there is none. A
-- block that is damaged stays as it is; its day says so, and the others of that day wait with it.
create function logloom_private.rewrite_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- As the condition of blocks_older_format_idx, which is empty most of the time.
  select c.* into v_block
  from logloom_private.blocks c
  where c.format < 1 and logloom_private.utc_day(c.first_ts) <> all (
    array(select d.day from logloom_private.sealing_days d where d.differences > 0)
  )
  order by c.block_id
  limit 1;
  if v_block.block_id is null then
    return false;
  end if;
  begin
    perform logloom_private.rewrite_blocks(v_block.tenant_id, array[v_block.block_id]);
  exception
    when query_canceled then
      raise;
    when others then
      insert into logloom_private.sealing_days as d (day, checked_at, differences, last_error)
      values (
        logloom_private.utc_day(v_block.first_ts), clock_timestamp(), 1,
        format('%s: %s', sqlstate, sqlerrm)
      )
      on conflict (day) do update
      set differences = d.differences + 1, last_error = excluded.last_error;
  end;
  return true;
end;
$$;

-- sealing/seal_block.sql
-- From rows to blocks: one transaction a block, so that a reader's snapshot has either.

-- The oldest records of a tenant's day that go into a block of seal_block_records and
-- seal_block_bytes, of which p_share days have a share, as the range in which they stand; at least
-- p_at_least records (0 or 1). Null: none. A backend holds several copies of long texts at once,
-- hence the bytes.
create function logloom_private.block_range(
  p_tenant_id text,
  p_day date,
  p_share integer,
  p_at_least integer,
  out first_ts timestamptz,
  out last_ts timestamptz,
  out last_id uuid
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_records integer;
  v_bytes bigint;
  v_sizes bigint[];
  v_ts timestamptz[];
  v_ids uuid[];
begin
  select s.* into v_settings from logloom_private.settings s;
  execute format(
    $query$
      select count(*), sum(w.size), array_agg(w.size), array_agg(w.ts), array_agg(w.id)
      from (
        select r.ts, r.id, r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint as size
        from (
          select
            l.ts, l.id,
            greatest(
              coalesce(l.record_bytes, octet_length(to_json(l)::text)),
              200 + coalesce(octet_length(l.msg), 0)
                -- What is compressed is measured as it is unpacked.
                + coalesce(
                  case when pg_column_compression(l.attrs) is null then pg_column_size(l.attrs)
                    else pg_column_size(l.attrs #> '{}') end,
                  0
                )
            ) as bytes
          from logloom.logs l
          where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
          order by l.ts, l.id
          limit %s
        ) r
      ) w
    $query$,
    p_tenant_id, v_from, v_to,
    greatest(v_settings.seal_block_records / p_share, 1)
  )
  into v_records, v_bytes, v_sizes, v_ts, v_ids;
  -- Mostly the bytes of few records are too many: the last ones are left out, without a second look
  -- at the rows.
  while v_records > p_at_least and v_bytes > v_settings.seal_block_bytes / p_share loop
    v_bytes := v_bytes - v_sizes[v_records];
    v_records := v_records - 1;
  end loop;
  if v_records > 0 then
    first_ts := v_ts[1];
    last_ts := v_ts[v_records];
    last_id := v_ids[v_records];
  end if;
end;
$$;

-- Makes a block of the tenant's oldest records of the days and takes them out of their partitions,
-- in this transaction. How many; 0: there were none. p_holds_counts: they leave the counts, too.
create function logloom_private.seal_block(
  p_tenant_id text,
  p_days date[],
  p_holds_counts boolean default false
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_oldest record;
  v_range text;
  v_ranges text[] := '{}';
  v_holds_counts constant boolean := p_holds_counts or cardinality(p_days) > 1;
  v_block logloom_private.blocks;
  v_removed integer;
  v_records integer := 0;
begin
  foreach v_day in array p_days loop
    -- A block has one record at least, however large that is.
    v_oldest := logloom_private.block_range(
      p_tenant_id, v_day, cardinality(p_days), (v_ranges = '{}')::integer
    );
    continue when v_oldest.first_ts is null;
    -- From the first one on: before it stand the index entries of what was sealed.
    v_ranges := v_ranges || format(
      'from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
      p_tenant_id, v_oldest.first_ts, v_oldest.last_ts, v_oldest.last_ts, v_oldest.last_id
    );
  end loop;
  if v_ranges = '{}' then
    return 0;
  end if;
  v_block := logloom_private.write_block(
    p_tenant_id,
    logloom_private.read_records(
      (select string_agg('select l.* ' || r.range, ' union all ') from unnest(v_ranges) r (range))
    ),
    v_holds_counts
  );
  foreach v_range in array v_ranges loop
    -- Not by removed_records_sql, which says that records are gone. What came after it was read is
    -- of a later step of the writer.
    execute 'delete ' || v_range || ' and l.write_seq <= $1' using v_block.last_write_seq;
    get diagnostics v_removed = row_count;
    v_records := v_records + v_removed;
  end loop;
  if v_records <> v_block.records then
    raise sqlstate 'LL001' using
      message = format('%s records are sealed, and %s removed', v_block.records, v_records);
  end if;
  if v_holds_counts then
    perform logloom_private.count_sealed(v_block, null, -1);
  end if;
  insert into logloom_private.sealing_days as d (day, removed_records, removed_by)
  select d.day, v_records, pg_current_xact_id()
  from unnest(p_days) d (day)
  on conflict (day) do update
  set removed_records = d.removed_records + excluded.removed_records,
    removed_by = excluded.removed_by;
  return v_records;
end;
$$;

-- Makes rows of the blocks that hold records of a tenant's day, in this transaction: how many. A
-- block of a small tenant holds weeks, which come back as a whole. They stay rows only with
-- compression false.
create function logloom_private.unseal_day(p_tenant_id text, p_day date)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_block logloom_private.blocks;
  v_day date;
  v_inserted bigint;
  v_block_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    perform logloom_private.require_intact(v_block);
    v_block_records := 0;
    -- By numbers: in the project's time zone a day may begin at one o'clock.
    for v_day in
      select logloom_private.utc_day(v_block.first_ts) + d.n
      from generate_series(
        0, logloom_private.utc_day(v_block.last_ts) - logloom_private.utc_day(v_block.first_ts)
      ) d (n)
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Into the partition itself: the counts have these records already, or have them below.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.block_records($4, $1, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_block.block_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_block_records := v_block_records + v_inserted;
    end loop;
    if v_block_records <> v_block.records then
      raise sqlstate 'LL001' using
        message = format('Block %s has not as many records as it says', v_block.block_id);
    end if;
    if v_block.holds_counts then
      perform logloom_private.count_sealed(v_block, null, 1);
    end if;
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
    -- An erasure that is past their place among the rows comes by again: it looks at blocks last.
    update logloom.retention_runs r
    set position_ts = greatest(v_block.first_ts, r.ts_from),
      position_id = '00000000-0000-0000-0000-000000000000'
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status = 'running'
      and r.position_ts > greatest(v_block.first_ts, r.ts_from);
    v_records := v_records + v_block_records;
  end loop;
  return v_records;
end;
$$;

-- sealing/seal_step.sql
-- One step of a pass over a day: a block, a merge, or on to the next tenant. False: the pass is
-- over.
create function logloom_private.seal_day_step(p_day date, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.sealing_days;
  v_tenant_id text;
  v_together record;
  v_span integer;
  v_records integer := 0;
begin
  insert into logloom_private.sealing_days (day) values (p_day) on conflict do nothing;
  select d.* into v_state from logloom_private.sealing_days d where d.day = p_day for update;
  if logloom_private.partition_exists(p_day) then
    execute format(
      'select min(l.tenant_id) from only logloom.%I l where $1 is null or l.tenant_id > $1',
      logloom_private.partition_name(p_day)
    )
    into v_tenant_id
    using v_state.checked_through;
  end if;
  if v_tenant_id is null then
    update logloom_private.sealing_days d
    set checked_at = p_now, checked_through = null
    where d.day = p_day;
    return false;
  end if;
  v_together := logloom_private.days_to_seal_together(v_tenant_id, p_day, p_now);
  begin
    if v_together.days is not null then
      v_records := logloom_private.seal_block(
        v_tenant_id, v_together.days, v_together.are_small
      );
    end if;
    -- The last of a day, what came late, or a week in its month.
    if v_records > 0 then
      v_span := case
        when v_together.are_small
          then logloom_private.block_days(logloom_private.retention_days(v_tenant_id))
        else 1
      end;
      perform logloom_private.merge_small_blocks(
        v_tenant_id, logloom_private.span_start(p_day, v_span), v_span, v_together.are_small
      );
      perform logloom_private.leave_days(array[v_tenant_id], v_together.days);
    end if;
  exception
    when query_canceled then
      raise;
    when others then
      -- It stays rows; the next pass tries again.
      update logloom_private.sealing_days d
      set differences = d.differences + (sqlstate = 'LL001')::integer,
        last_error = format('%s: %s', sqlstate, sqlerrm)
      where d.day = p_day;
      v_records := 0;
  end;
  if v_records = 0 then
    update logloom_private.sealing_days d
    set checked_through = v_tenant_id
    where d.day = p_day;
  end if;
  return true;
end;
$$;

-- Prepares or replaces the partition of a sealed day, which gives its space back. Null when none is
-- due.
create function logloom_private.replacement_step(p_now timestamptz)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_state logloom_private.sealing_days;
  v_outcome text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select d.* into v_state
  from logloom_private.sealing_days d
  where d.removed_records > 0 and d.checked_through is null and d.checked_at is not null
    and (d.replace_after is null or d.replace_after <= p_now)
  order by d.day
  limit 1;
  if not found then
    return null;
  elsif v_state.prepared_by is null then
    if not logloom_private.prepare_replacement(v_state.day) then
      update logloom_private.sealing_days d
      set replace_after = p_now + v_settings.seal_again_after
      where d.day = v_state.day;
    end if;
    return interval '0';
  end if;
  v_outcome := logloom_private.replace_partition(v_state.day);
  if v_outcome <> 'replaced' then
    update logloom_private.sealing_days d
    set replace_after = p_now + interval '10 seconds'
    where d.day = v_state.day;
  end if;
  return v_settings.seal_pause;
end;
$$;

-- The work of seal_step, as if it were p_now.
create function logloom_private.seal_step_at(p_now timestamptz)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_day date;
  v_pause interval;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- What is on its way comes first.
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events then
    return null;
  elsif not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_day := logloom_private.next_day_to_seal(p_now);
  if v_day is null then
    v_pause := logloom_private.replacement_step(p_now);
    -- What nothing else waits for comes last.
    if v_pause is null and logloom_private.rewrite_step() then
      return v_settings.seal_pause;
    end if;
    return v_pause;
  end if;
  perform logloom_private.seal_day_step(v_day, p_now);
  return v_settings.seal_pause;
end;
$$;

-- A step of the job seal_logs: the next block of what is due, or a partition that gives its space
-- back, or a block of an older format that is written anew. What is queued comes first: null while
-- there is much. A kill loses nothing.
create function logloom_private.seal_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.seal_step_at(clock_timestamp());
end;
$$;

-- sealing/sealing_health.sql
-- How sealing does: days that no pass has looked at yet, when the last block was made, and blocks
-- that were given up because they differed from their records, which stay rows: degraded.
create function logloom_private.sealing_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days_due bigint;
  v_differences bigint;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s blocks were not read back as they should be: logloom_private.sealing_days has the error',
      v_differences
    ) end
  ) || jsonb_build_object(
    'days_due', v_days_due,
    'last_block', logloom_private.last_sealed(),
    'differences', v_differences
  );
end;
$$;

select logloom_private.finish_migration();
