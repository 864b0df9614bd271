-- A chunk is read back by what its readers read it by.

-- Reads a chunk back. LL001 where it differs from the records that it was made of.
create function logloom_private.compare_chunk(
  p_tenant_id text,
  p_chunk_id bigint,
  p_ts timestamptz[],
  p_received_at timestamptz[],
  p_arrivals bigint[],
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
  v_chunk logloom_private.sealed_chunks;
  v_batches integer[];
  v_batch_received_at timestamptz[];
  v_batch_arrivals bigint[];
  v_attrs text[];
  v_same boolean;
begin
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = p_chunk_id;
  v_batches := logloom_private.chunk_batches(v_chunk, null);
  v_batch_received_at := v_chunk.batch_received_at;
  v_batch_arrivals := v_chunk.batch_arrivals;
  v_attrs := logloom_private.attribute_texts(v_chunk, null, null);
  v_same := logloom_private.chunk_times(v_chunk, null) = p_ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_received_at
    and array(select v_batch_arrivals[unnest(v_batches)]) = p_arrivals
    and logloom_private.chunk_ids(v_chunk, null, v_batches) = p_ids
    and logloom_private.section_texts(v_chunk, v_chunk.section_services) = p_services
    and logloom_private.section_texts(v_chunk, v_chunk.section_levels) = p_levels
    and logloom_private.chunk_messages(v_chunk, null) = p_messages
    and logloom_private.chunk_field(v_chunk, 'env') = p_env
    and logloom_private.chunk_field(v_chunk, 'req_id') = p_req_id
    and logloom_private.chunk_field(v_chunk, 'user_id') = p_user_id
    and logloom_private.chunk_field(v_chunk, 'route') = p_route
    and logloom_private.chunk_field(v_chunk, 'host') = p_host
    and logloom_private.chunk_field(v_chunk, 'record_bytes')::integer[] = p_record_bytes
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
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
end;
$$;
