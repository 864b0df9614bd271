-- sealed_records of the block with an id.
create function logloom_private.block_records(
  p_tenant_id text,
  p_block_id bigint,
  p_positions integer[],
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- A row in a variable, not in a join: of a table that is sharded a join has rows of
  -- another type.
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = p_block_id;
  if found then
    perform logloom_private.can_read(v_block.format);
    return query
    select r.* from logloom_private.sealed_records(v_block, p_positions, p_reads) r;
  end if;
end;
$$;
