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
  -- Those that no column has been read of.
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
  -- A field without a column has no value.
  for v_at in 1..cardinality(v_fields) loop
    v_same := v_same and (
      v_fields[v_at] is null or array_remove((p_records.columns[v_at]).texts, null) = '{}'
    );
  end loop;
  v_attrs := logloom_private.attribute_texts(
    p_block.records, v_names, v_first, v_last, v_values
  );
  -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order. One after the other:
  -- a cast of an array keeps what each of its elements takes.
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
