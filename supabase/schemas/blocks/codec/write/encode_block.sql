-- What settings.seal_block_bytes bounds, as block_range has it of rows.
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

-- A block and its columns, which have no block_id yet, of a tenant's records. p_block: the block as
-- encode_messages made it; p_records: its records by position. All of it works on arrays, read by
-- unnest in a select list: that hands on an element at a time and keeps the order, where a function
-- in FROM stores all of it first.
create function logloom_private.encode_block(
  p_block logloom_private.blocks,
  p_records logloom_private.record_arrays,
  out o_block logloom_private.blocks,
  out o_columns logloom_private.block_columns[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_formats constant smallint[] := logloom_private.block_formats();
  v_names constant text[] := logloom_private.column_fields();
  v_column logloom_private.block_columns;
begin
  o_block := p_block;
  o_block.format := v_formats[cardinality(v_formats)];
  o_block.weight := logloom_private.weight_of(p_records);
  select min(r.ts), max(r.ts), min(r.write_seq), max(r.write_seq)
  into o_block.first_ts, o_block.last_ts, o_block.first_write_seq, o_block.last_write_seq
  from (select unnest(p_records.ts) as ts, unnest(p_records.write_seqs) as write_seq) r;
  o_block := logloom_private.encode_times(o_block, p_records.ts);
  o_block := logloom_private.encode_ids(
    o_block, p_records.ids, p_records.received_at, p_records.write_seqs
  );
  o_columns := logloom_private.encode_attributes(p_records.attrs);
  for v_at in 1..cardinality(v_names) loop
    v_column := logloom_private.encode_column(v_names[v_at], 1, (p_records.columns[v_at]).texts);
    if v_column.kind is not null then
      o_columns := o_columns || v_column;
    end if;
  end loop;
  o_block.checksum := logloom_private.block_checksum(o_block, o_columns);
end;
$$;
