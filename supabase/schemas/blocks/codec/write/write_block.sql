-- Reads the rows of logloom.logs that p_sql selects, in the order of ts and id. p_rows is the
-- parameter $1 of p_sql.
create function logloom_private.read_records(p_sql text, p_rows logloom.logs[] default null)
returns logloom_private.record_arrays
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_records logloom_private.record_arrays;
begin
  execute format(
    $query$
      select
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.write_seq), array_agg(r.id),
        array_agg(r.service), array_agg(r.level), array_agg(r.msg), array_agg(r.attrs),
        array[%s]
      from (select s.* from (%s) s order by s.ts, s.id) r
    $query$,
    (
      select string_agg(
        format('row(array_agg(r.%I::text))::logloom_private.column_values', f.name), ', '
        order by f.n
      )
      from unnest(logloom_private.column_fields()) with ordinality f (name, n)
    ),
    p_sql
  )
  into v_records
  using p_rows;
  return v_records;
end;
$$;

-- Reads a block back as readers do. Raises LL001 if the block differs from p_records, the records
-- that it was made from, ordered by position.
create function logloom_private.compare_block(
  p_block logloom_private.blocks,
  p_records logloom_private.record_arrays
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The fields for which no column was found yet.
  v_fields text[] := logloom_private.column_fields();
  v_batches constant integer[] := logloom_private.block_batches(p_block, null);
  v_runs constant integer[] := logloom_private.block_runs(p_block, null);
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_column logloom_private.block_columns;
  v_texts text[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_attrs text[];
  v_same boolean;
begin
  v_same := logloom_private.block_times(p_block, null) = p_records.ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_records.received_at
    and array(select v_batch_write_seqs[unnest(v_batches)]) = p_records.write_seqs
    and logloom_private.block_ids(p_block, null, v_batches) = p_records.ids
    and logloom_private.elements_at(p_block.run_services, v_runs) = p_records.services
    and logloom_private.elements_at(p_block.run_levels, v_runs) = p_records.levels
    and logloom_private.block_messages(p_block) = p_records.messages;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
    order by octet_length(c.name), c.name collate "C"
  loop
    v_texts := logloom_private.column_texts(v_column);
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_column.first;
      v_last := v_last || v_column.last;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
    else
      v_same := v_same
        and (p_records.columns[array_position(v_fields, v_column.name)]).texts
          = array_fill(null::text, array[v_column.first - 1]) || v_texts
            || array_fill(null::text, array[p_block.records - v_column.last]);
      v_fields := array_replace(v_fields, v_column.name, null);
    end if;
  end loop;
  -- A field without a column has no values.
  for v_at in 1..cardinality(v_fields) loop
    v_same := v_same and (
      v_fields[v_at] is null or array_remove((p_records.columns[v_at]).texts, null) = '{}'
    );
  end loop;
  v_attrs := logloom_private.attribute_texts(
    p_block.records, v_names, v_first, v_last, v_values
  );
  -- Compares texts, because jsonb treats 1.0 and 1 as equal. A text may still differ in the order
  -- of rare keys. Only texts that differ are parsed and compared again. This goes record by record,
  -- because a cast of the whole array would keep all memory.
  v_same := v_same and cardinality(v_attrs) = cardinality(p_records.attrs)
    and not exists (
      select
      from (select unnest(v_attrs) as sealed, unnest(p_records.attrs) as given) a
      where a.sealed is distinct from a.given::text
        and a.sealed::jsonb::text is distinct from a.given::text
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Block %s differs from its records', p_block.block_id);
  end if;
end;
$$;

-- Stores an encoded block and its columns. Returns the stored row.
create function logloom_private.store_block(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[]
)
returns logloom_private.blocks
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks := p_block;
  v_column logloom_private.block_columns;
begin
  v_block.block_id := nextval(pg_get_serial_sequence('logloom_private.blocks', 'block_id'));
  v_block.sealed_at := clock_timestamp();
  v_block.bytes := 0;
  insert into logloom_private.blocks overriding system value select v_block.*;
  foreach v_column in array p_columns loop
    v_column.tenant_id := v_block.tenant_id;
    v_column.block_id := v_block.block_id;
    insert into logloom_private.block_columns select v_column.*;
  end loop;
  -- Measures before the update: an update of a sharded table cannot call pg_column_size.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.block_columns k
      where k.tenant_id = c.tenant_id and k.block_id = c.block_id
    )
  into v_block.bytes
  from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  update logloom_private.blocks c
  set bytes = v_block.bytes
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id
  returning c.* into v_block;
  return v_block;
end;
$$;

-- Makes a block from a tenant's records (in the order of ts and id). Stores the block and compares
-- it with the records. Returns null if there are no records. Raises LL001 if the block differs. The
-- records themselves stay.
create function logloom_private.write_block(
  p_tenant_id text,
  p_records logloom_private.record_arrays,
  p_holds_counts boolean default false,
  p_kept_days integer default null
)
returns logloom_private.blocks
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_encoded record;
  v_order integer[];
  v_block logloom_private.blocks;
begin
  if p_records.ids is null then
    return null;
  end if;
  v_block.tenant_id := p_tenant_id;
  v_block.holds_counts := p_holds_counts;
  v_block.kept_days := p_kept_days;
  v_block.records := cardinality(p_records.ids);
  -- An assignment: in "from", PostgreSQL would store the result of the function first.
  v_encoded := logloom_private.encode_messages(
    v_block, p_records.services, p_records.levels, p_records.messages
  );
  v_order := v_encoded.o_order;
  -- Each record must occur once. compare_block cannot notice duplicates.
  if v_block.records <> (
    select count(distinct o.place) from (select unnest(v_order) as place) o
  ) then
    raise sqlstate 'LL001' using message = 'The block would contain records twice';
  end if;
  -- Overwrites the arrays, because a second copy of the records would take some ten MB.
  p_records.ts := logloom_private.elements_at(p_records.ts, v_order);
  p_records.received_at := logloom_private.elements_at(p_records.received_at, v_order);
  p_records.write_seqs := logloom_private.elements_at(p_records.write_seqs, v_order);
  p_records.ids := logloom_private.elements_at(p_records.ids, v_order);
  p_records.services := logloom_private.elements_at(p_records.services, v_order);
  p_records.levels := logloom_private.elements_at(p_records.levels, v_order);
  p_records.messages := logloom_private.elements_at(p_records.messages, v_order);
  p_records.attrs := logloom_private.elements_at(p_records.attrs, v_order);
  p_records.columns := array(
    select row(logloom_private.elements_at(c.texts, v_order))::logloom_private.column_values
    from unnest(p_records.columns) with ordinality c (texts, n)
    order by c.n
  );
  v_encoded := logloom_private.encode_block(v_encoded.o_block, p_records);
  v_block := logloom_private.store_block(v_encoded.o_block, v_encoded.o_columns);
  perform logloom_private.compare_block(v_block, p_records);
  return v_block;
end;
$$;
