-- Reads a block back as its readers do. LL001 where it differs from the records, by position, that
-- it was made of.
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
  v_names constant text[] := logloom_private.column_fields();
  v_batches constant integer[] := logloom_private.block_batches(p_block, null);
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_attrs constant text[] := logloom_private.attribute_texts(p_block, null, null);
  v_same boolean;
begin
  v_same := logloom_private.block_times(p_block, null) = p_records.ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_records.received_at
    and array(select v_batch_write_seqs[unnest(v_batches)]) = p_records.write_seqs
    and logloom_private.block_ids(p_block, null, v_batches) = p_records.ids
    and logloom_private.run_texts(p_block, p_block.run_services) = p_records.services
    and logloom_private.run_texts(p_block, p_block.run_levels) = p_records.levels
    and logloom_private.block_messages(p_block, null) = p_records.messages
    -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order. One after the
    -- other: a cast of an array keeps what each of its elements takes.
    and cardinality(v_attrs) = cardinality(p_records.attrs)
    and not exists (
      select
      from (select unnest(v_attrs) as sealed, unnest(p_records.attrs) as given) a
      where a.sealed is distinct from a.given::text
        and a.sealed::jsonb::text is distinct from a.given::text
    );
  for v_at in 1..cardinality(v_names) loop
    v_same := v_same
      and logloom_private.block_field(p_block, v_names[v_at]) = (p_records.columns[v_at]).texts;
  end loop;
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Block %s differs from its records', p_block.block_id);
  end if;
end;
$$;
