create function logloom_private.encode_times(
  p_block logloom_private.blocks,
  p_ts timestamptz[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_offsets bigint[];
  v_greatest bigint := extract(epoch from p_block.last_ts - v_first) * 1000000;
begin
  select array_agg(o.ts), case when bool_and(o.ts % 1000 = 0) then 1000 else 1 end
  into v_offsets, p_block.ts_unit
  from (
    select (date_part('epoch', u.ts - v_first) * 1000000)::bigint as ts
    from (select unnest(p_ts) as ts) u
    offset 0
  ) o;
  v_greatest := v_greatest / p_block.ts_unit;
  -- Makes all four columns in one pass, because each further pass would cost as much as a column.
  select
    array_agg(((o.ts & 65535) - 32768)::smallint),
    array_agg(((o.ts >> 16 & 255)::integer - 128)::"char") filter (where v_greatest > 65535),
    array_agg(((o.ts >> 24 & 65535) - 32768)::smallint) filter (where v_greatest > 16777215),
    array_agg(((o.ts >> 40)::integer - 128)::"char") filter (where v_greatest > 1099511627775)
  into p_block.ts_low, p_block.ts_middle, p_block.ts_high, p_block.ts_top
  from (select unnest(v_offsets) / p_block.ts_unit as ts offset 0) o;
  return p_block;
end;
$$;

create function logloom_private.encode_ids(
  p_block logloom_private.blocks,
  p_ids uuid[],
  p_received_at timestamptz[],
  p_write_seqs bigint[]
)
returns logloom_private.blocks
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_bytes bytea[] := array(select uuid_send(unnest(p_ids)));
  v_prefixes bytea[];
begin
  with b as (
    select u.prefix, u.received_at, u.write_seq
    from (
      select
        substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
        unnest(p_write_seqs) as write_seq
    ) u
    group by u.prefix, u.received_at, u.write_seq
    order by u.received_at, u.prefix, u.write_seq
  )
  select
    array_agg(b.prefix), string_agg(b.prefix, ''::bytea), array_agg(b.received_at),
    array_agg(b.write_seq)
  into v_prefixes, p_block.batch_prefixes, p_block.batch_received_at, p_block.batch_write_seqs
  from b;
  if cardinality(v_prefixes) > 1 then
    p_block.wide_batch_codes := array(
      select b.number::smallint
      from (
        select
          substring(unnest(v_bytes) for 14) as prefix, unnest(p_received_at) as received_at,
          unnest(p_write_seqs) as write_seq, generate_series(1, p_block.records) as n
      ) u
      left join unnest(v_prefixes, p_block.batch_received_at, p_block.batch_write_seqs)
        with ordinality b (prefix, received_at, write_seq, number)
        on b.prefix = u.prefix and b.received_at = u.received_at and b.write_seq = u.write_seq
      order by u.n
    );
  end if;
  if cardinality(v_prefixes) between 2 and 256 then
    p_block.batch_codes := array(
      select (unnest(p_block.wide_batch_codes)::integer - 129)::"char"
    );
    p_block.wide_batch_codes := null;
  end if;
  -- Takes the last two bytes of each id as a signed number.
  p_block.id_indexes := array(
    select (
      ((get_byte(b.bytes, 14) << 8 | get_byte(b.bytes, 15)) + 32768 & 65535) - 32768
    )::smallint
    from (select unnest(v_bytes) as bytes) b
  );
  p_block.first_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id limit 1
  );
  p_block.last_id := (
    select i.id from (select unnest(p_ids) as id) i order by i.id desc limit 1
  );
  return p_block;
end;
$$;

-- Returns the weight of records: the measure that settings.seal_block_bytes limits when blocks are
-- merged. For rows, block_range computes a similar weight that counts long messages more.
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

-- Encodes a tenant's records as a block and its columns; store_block sets their block_id. p_block
-- comes from encode_messages; p_records is ordered by position. Arrays are read by unnest in the
-- select list: it streams the elements in order. In "from", PostgreSQL would store all of them.
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
