-- Turns rows into blocks. Each block is one transaction: a reader sees either its rows or the
-- block.

-- Returns the range of the oldest records of a tenant's day that fit in one block. p_share days
-- share the limits seal_block_records and seal_block_bytes. The range has at least p_at_least
-- records (0 or 1); null if there are none. p_filter chooses the records. Bytes are limited: a
-- backend holds several copies of long texts, and more of messages.
create function logloom_private.block_range(
  p_tenant_id text,
  p_day date,
  p_share integer,
  p_at_least integer,
  p_filter text default 'true',
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
        select r.ts, r.id,
          r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint + 7 * greatest(r.message_bytes - 100, 0)
            as size
        from (
          select
            l.ts, l.id, octet_length(l.msg) as message_bytes,
            greatest(
              coalesce(l.record_bytes, octet_length(to_json(l)::text)),
              200 + coalesce(octet_length(l.msg), 0)
                -- A compressed value counts with its uncompressed size.
                + coalesce(
                  case when pg_column_compression(l.attrs) is null then pg_column_size(l.attrs)
                    else pg_column_size(l.attrs #> '{}') end,
                  0
                )
            ) as bytes
          from logloom.logs l
          where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
            and %s
          order by l.ts, l.id
          limit %s
        ) r
      ) w
    $query$,
    p_tenant_id, v_from, v_to, p_filter,
    greatest(v_settings.seal_block_records / p_share, 1)
  )
  into v_records, v_bytes, v_sizes, v_ts, v_ids;
  -- Usually only the last few records exceed the bytes. They are dropped here instead of reading
  -- the rows again.
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

-- Makes one block from the tenant's oldest records of p_days that are kept for p_kept_days, and
-- deletes their rows. Uses this transaction. Returns the number of records. p_holds_counts: also
-- removes the records from the counts.
create function logloom_private.seal_block(
  p_tenant_id text,
  p_days date[],
  p_holds_counts boolean default false,
  p_kept_days integer default null
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
  v_filter constant text := format(
    '(%s) is not distinct from %L::integer', logloom_private.rule_days_sql(p_tenant_id), p_kept_days
  );
  v_block logloom_private.blocks;
  v_removed integer;
  v_records integer := 0;
begin
  foreach v_day in array p_days loop
    -- A block has at least one record, however large it is.
    v_oldest := logloom_private.block_range(
      p_tenant_id, v_day, cardinality(p_days), (v_ranges = '{}')::integer, v_filter
    );
    continue when v_oldest.first_ts is null;
    -- Starts at the first record, to skip the index entries of records that were sealed before.
    v_ranges := v_ranges || format(
      'from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid) and %s',
      p_tenant_id, v_oldest.first_ts, v_oldest.last_ts, v_oldest.last_ts, v_oldest.last_id,
      v_filter
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
    v_holds_counts, p_kept_days
  );
  foreach v_range in array v_ranges loop
    -- A plain delete: removed_records_sql would note these records as removed. Records that were
    -- added after reading have a later write sequence and stay.
    execute 'delete ' || v_range || ' and l.write_seq <= $1' using v_block.last_write_seq;
    get diagnostics v_removed = row_count;
    v_records := v_records + v_removed;
  end loop;
  if v_records <> v_block.records then
    raise sqlstate 'LL001' using
      message = format('Sealed %s records, but deleted %s rows', v_block.records, v_records);
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

-- Turns the blocks of a tenant's day back into rows, in this transaction. Returns their number. If
-- a block spans several days, all its days become rows. Unless the tenant's compression is false,
-- sealing makes blocks of the rows again.
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
    -- Counts in numbers of days: timestamps depend on the project's time zone, where a day may
    -- begin at one o'clock.
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
      -- Inserts directly into the partition: the counts already have these records, or get them
      -- below.
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
        message = format(
          'Block %s has %s records instead of %s', v_block.block_id, v_block_records,
          v_block.records
        );
    end if;
    if v_block.holds_counts then
      perform logloom_private.count_sealed(v_block, null, 1);
    end if;
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
    -- Erasures check rows first, then blocks. So an erasure that has already passed these rows must
    -- check them again.
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
