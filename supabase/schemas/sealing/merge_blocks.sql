-- Makes one block of several of a tenant, in this transaction. Its id.
create function logloom_private.merge_blocks(p_tenant_id text, p_block_ids bigint[])
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids)
  loop
    perform logloom_private.require_intact(v_block);
  end loop;
  v_block := logloom_private.write_block(
    p_tenant_id,
    logloom_private.read_records(
      format(
        'select r.* from unnest(%L::bigint[]) c (block_id), '
          || 'logloom_private.block_records(%L, c.block_id, null, null) r',
        p_block_ids, p_tenant_id
      )
    )
  );
  delete from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids);
  return v_block.block_id;
end;
$$;
