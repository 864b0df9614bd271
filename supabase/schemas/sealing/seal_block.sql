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
