-- Stores an encoded block and its columns. The row that it is.
create function logloom_private.store_block(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[]
)
returns logloom_private.blocks
language plpgsql
volatile
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
  p_records logloom_private.record_arrays
)
returns logloom_private.blocks
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_encoded record;
  v_block logloom_private.blocks;
begin
  if p_records.ids is null then
    return null;
  end if;
  -- Assigned: a function after "from" has its result stored first.
  v_encoded := logloom_private.encode_block(p_tenant_id, p_records);
  v_block := logloom_private.store_block(v_encoded.o_block, v_encoded.o_columns);
  perform logloom_private.compare_block(v_block, v_encoded.o_records);
  return v_block;
end;
$$;
