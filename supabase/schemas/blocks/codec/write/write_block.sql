-- Stores an encoded block and its columns. The row that it is.
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
  -- Measured first: an update of a sharded table takes no such function.
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

-- Makes a block of a tenant's records by ts and id, stores it, and compares it with them; null
-- where there are none. LL001 where it differs. The records stay where they are.
create function logloom_private.write_block(
  p_tenant_id text,
  p_records logloom_private.record_arrays,
  p_holds_counts boolean default false
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
  v_block.records := cardinality(p_records.ids);
  -- Assigned: a function after "from" has its result stored first.
  v_encoded := logloom_private.encode_messages(
    v_block, p_records.services, p_records.levels, p_records.messages
  );
  v_order := v_encoded.o_order;
  -- Each record once: compare_block cannot tell.
  if v_block.records <> (
    select count(distinct o.place) from (select unnest(v_order) as place) o
  ) then
    raise sqlstate 'LL001' using message = 'A block has records twice';
  end if;
  -- In their place: records are some ten MB.
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
