-- A block is read back by what its readers read it by.

-- Reads a block back. LL001 where it differs from the records that it was made of.
create function logloom_private.compare_block(
  p_tenant_id text,
  p_block_id bigint,
  p_ts timestamptz[],
  p_received_at timestamptz[],
  p_write_seqs bigint[],
  p_ids uuid[],
  p_levels text[],
  p_messages text[],
  p_services text[],
  p_env text[],
  p_req_id text[],
  p_user_id text[],
  p_route text[],
  p_host text[],
  p_attrs jsonb[],
  p_record_bytes integer[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_batches integer[];
  v_batch_received_at timestamptz[];
  v_batch_write_seqs bigint[];
  v_attrs text[];
  v_same boolean;
begin
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = p_block_id;
  v_batches := logloom_private.block_batches(v_block, null);
  v_batch_received_at := v_block.batch_received_at;
  v_batch_write_seqs := v_block.batch_write_seqs;
  v_attrs := logloom_private.attribute_texts(v_block, null, null);
  v_same := logloom_private.block_times(v_block, null) = p_ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_received_at
    and array(select v_batch_write_seqs[unnest(v_batches)]) = p_write_seqs
    and logloom_private.block_ids(v_block, null, v_batches) = p_ids
    and logloom_private.run_texts(v_block, v_block.run_services) = p_services
    and logloom_private.run_texts(v_block, v_block.run_levels) = p_levels
    and logloom_private.block_messages(v_block, null) = p_messages
    and logloom_private.block_field(v_block, 'env') = p_env
    and logloom_private.block_field(v_block, 'req_id') = p_req_id
    and logloom_private.block_field(v_block, 'user_id') = p_user_id
    and logloom_private.block_field(v_block, 'route') = p_route
    and logloom_private.block_field(v_block, 'host') = p_host
    and logloom_private.block_field(v_block, 'record_bytes')::integer[] = p_record_bytes
    -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order. One after the
    -- other: a cast of an array keeps what each of its elements takes.
    and cardinality(v_attrs) = cardinality(p_attrs)
    and not exists (
      select
      from (select unnest(v_attrs) as sealed, unnest(p_attrs) as given) a
      where a.sealed is distinct from a.given::text
        and a.sealed::jsonb::text is distinct from a.given::text
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Block %s differs from its records', p_block_id);
  end if;
end;
$$;
