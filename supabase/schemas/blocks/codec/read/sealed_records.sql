-- Returns the records at p_positions of a block (ascending), or all if p_positions is null. Each
-- record has tenant_id, and the fields and keys of attrs in p_reads (null: everything). For
-- msg.exists, msg is an empty text if there is a message.
create function logloom_private.sealed_records(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_block.records);
  v_needs_attrs constant boolean := p_reads is null
    or exists (select from unnest(p_reads) r where left(r, 5) = 'attrs');
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_level text[];
  v_msg text[];
  v_service text[];
  -- fields column: v_{name} text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes text[];
  -- fields end
  v_attrs jsonb[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_texts text[];
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  if p_reads is null or 'ts' = any(p_reads) then
    v_ts := logloom_private.block_times(p_block, p_positions);
  end if;
  if p_reads is null or p_reads && array['id', 'received_at', 'write_seq'] then
    v_batches := logloom_private.block_batches(p_block, p_positions);
    v_ids := logloom_private.block_ids(p_block, p_positions, v_batches);
  end if;
  select r.services, r.levels, r.messages into v_service, v_level, v_msg
  from logloom_private.run_texts(p_block, p_positions, p_reads) r;
  if p_reads is null or 'msg' = any(p_reads) then
    -- For each message, block_messages_at takes several times as long as block_messages.
    v_msg := case
      when p_positions is null then logloom_private.block_messages(p_block)
      when v_records * 4 <= p_block.records
        then logloom_private.block_messages_at(p_block, p_positions)
      else logloom_private.elements_at(logloom_private.block_messages(p_block), p_positions)
    end;
  end if;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and (
        p_reads is null or c.name = any(p_reads) or c.name = 'attrs' and v_needs_attrs
        or left(c.name, 6) = 'attrs.' and 'attrs' = any(p_reads)
      )
    -- jsonb prints keys in this order, so the texts of attrs are the same as those of jsonb.
    order by octet_length(c.name), c.name collate "C"
  loop
    if p_positions is null then
      v_lower := v_column.first;
      v_upper := v_column.last;
      v_texts := logloom_private.column_texts(v_column);
    else
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      continue when v_lower > v_upper;
      v_texts := logloom_private.column_texts_at(v_column, p_positions[v_lower:v_upper]);
    end if;
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_lower;
      v_last := v_last || v_upper;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
      continue;
    end if;
    v_texts := array_fill(null::text, array[v_lower - 1]) || v_texts;
    case v_column.name
      -- fields column: when '{name}' then v_{name} := v_texts;
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts;
      -- fields end
    end case;
  end loop;
  if v_needs_attrs then
    v_texts := logloom_private.attribute_texts(v_records, v_names, v_first, v_last, v_values);
    -- Casts element by element: a cast of the whole array would keep all memory until the end.
    v_attrs := array(select unnest(v_texts)::jsonb);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_write_seqs[r.batch], r.id, p_block.tenant_id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: r.{name}::{type}
    r.level::text, r.msg::text, r.service::text, r.env::text, r.req_id::text, r.user_id::text,
    r.route::text, r.host::text, r.attrs::jsonb, r.record_bytes::integer
    -- fields end
  from unnest(
    -- One row for each record, even if no field of it is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: v_{name}
    v_level, v_msg, v_service, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
    -- fields end
  ) with ordinality r (
    one, ts, batch, id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: {name},
    level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes,
    -- fields end
    n
  )
  order by r.n;
end;
$$;
