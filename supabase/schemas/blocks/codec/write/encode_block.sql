-- What settings.seal_block_bytes bounds, as block_end has it of rows.
create function logloom_private.weight_of(p_records logloom_private.record_arrays)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sizes constant text[] := (
    p_records.columns[array_position(logloom_private.column_fields(), 'record_bytes')]
  ).texts;
begin
  return (
    select sum(r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint)
    from (
      select
        greatest(
          b.size::integer,
          200 + coalesce(octet_length(b.msg), 0) + coalesce(pg_column_size(b.attrs), 0)
        ) as bytes
      from (
        select
          unnest(p_records.messages) as msg, unnest(p_records.attrs) as attrs,
          unnest(v_sizes) as size
      ) b
    ) r
  );
end;
$$;

-- Records in another order.
create function logloom_private.ordered_records(
  p_records logloom_private.record_arrays,
  p_order integer[]
)
returns logloom_private.record_arrays
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    logloom_private.elements_at(p_records.ts, p_order),
    logloom_private.elements_at(p_records.received_at, p_order),
    logloom_private.elements_at(p_records.write_seqs, p_order),
    logloom_private.elements_at(p_records.ids, p_order),
    logloom_private.elements_at(p_records.services, p_order),
    logloom_private.elements_at(p_records.levels, p_order),
    logloom_private.elements_at(p_records.messages, p_order),
    logloom_private.elements_at(p_records.attrs, p_order),
    array(
      select row(logloom_private.elements_at(c.texts, p_order))::logloom_private.column_values
      from unnest(p_records.columns) with ordinality c (texts, n)
      order by c.n
    )
  );
end;
$$;

-- A block and its columns, which have no block_id yet, of a tenant's records by ts and id; and the
-- records by position. All of it works on arrays, read by unnest in a select list: that hands on an
-- element at a time and keeps the order, where a function in FROM stores all of it first.
create function logloom_private.encode_block(
  p_tenant_id text,
  p_records logloom_private.record_arrays,
  out o_block logloom_private.blocks,
  out o_columns logloom_private.block_columns[],
  out o_records logloom_private.record_arrays
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_formats constant smallint[] := logloom_private.block_formats();
  v_names constant text[] := logloom_private.column_fields();
  v_messages record;
  v_column logloom_private.block_columns;
begin
  o_block.format := v_formats[cardinality(v_formats)];
  o_block.tenant_id := p_tenant_id;
  o_block.records := cardinality(p_records.ids);
  o_block.first_ts := p_records.ts[1];
  o_block.last_ts := p_records.ts[o_block.records];
  o_block.weight := logloom_private.weight_of(p_records);
  select min(w), max(w) into o_block.first_write_seq, o_block.last_write_seq
  from unnest(p_records.write_seqs) w;
  v_messages := logloom_private.encode_messages(
    o_block, p_records.services, p_records.levels, p_records.messages
  );
  -- Each record once: compare_block cannot tell.
  if (select count(distinct o.place) from (select unnest(v_messages.o_order) as place) o)
    <> o_block.records
  then
    raise sqlstate 'LL001' using message = 'A block has records twice';
  end if;
  o_records := logloom_private.ordered_records(p_records, v_messages.o_order);
  o_block := logloom_private.encode_times(v_messages.o_block, o_records.ts);
  o_block := logloom_private.encode_ids(
    o_block, o_records.ids, o_records.received_at, o_records.write_seqs
  );
  o_columns := logloom_private.encode_attributes(o_records.attrs);
  for v_at in 1..cardinality(v_names) loop
    v_column := logloom_private.encode_column(v_names[v_at], 1, (o_records.columns[v_at]).texts);
    if v_column.kind is not null then
      o_columns := o_columns || v_column;
    end if;
  end loop;
  o_block.checksum := logloom_private.block_checksum(o_block, o_columns);
end;
$$;
