-- Makes a block of records and compares it with them; null where there are none. p_with: clauses of
-- a WITH, of which s yields rows of logloom.logs. p_removes: another one, removed, deletes them and
-- yields a row for each. LL001: the block differs.
create function logloom_private.encode_block(
  p_tenant_id text,
  p_with text,
  p_removes boolean default false
)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
set timezone = 'UTC'
as $$
declare
  v_block logloom_private.blocks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_write_seqs bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_record_bytes integer[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.write_seq), max(r.write_seq), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.write_seq), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs), array_agg(r.record_bytes)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_block.records, v_block.first_ts, v_block.last_ts, v_block.first_write_seq,
    v_block.last_write_seq, v_removed, v_ts, v_received_at, v_write_seqs, v_ids, v_levels,
    v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes;
  if v_removed <> v_block.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_block.records, v_removed);
  elsif v_block.records = 0 then
    return null;
  end if;
  v_block.block_id := nextval(pg_get_serial_sequence('logloom_private.blocks', 'block_id'));
  v_block.tenant_id := p_tenant_id;
  v_block.sealed_at := clock_timestamp();
  v_block.bytes := 0;
  -- As block_end has it of rows.
  select sum(r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint) into v_block.weight
  from (
    select
      greatest(
        b.record_bytes,
        200 + coalesce(octet_length(b.msg), 0) + coalesce(pg_column_size(b.attrs), 0)
      ) as bytes
    from (
      select
        unnest(v_messages) as msg, unnest(v_attrs) as attrs, unnest(v_record_bytes) as record_bytes
    ) b
  ) r;
  select e.* into v_encoded
  from logloom_private.encode_messages(v_block, v_services, v_levels, v_messages) e;
  v_block := v_encoded.o_block;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_write_seqs := logloom_private.elements_at(v_write_seqs, v_order);
  v_ids := logloom_private.elements_at(v_ids, v_order);
  v_levels := logloom_private.elements_at(v_levels, v_order);
  v_messages := logloom_private.elements_at(v_messages, v_order);
  v_services := logloom_private.elements_at(v_services, v_order);
  v_env := logloom_private.elements_at(v_env, v_order);
  v_req_id := logloom_private.elements_at(v_req_id, v_order);
  v_user_id := logloom_private.elements_at(v_user_id, v_order);
  v_route := logloom_private.elements_at(v_route, v_order);
  v_host := logloom_private.elements_at(v_host, v_order);
  v_attrs := logloom_private.elements_at(v_attrs, v_order);
  v_record_bytes := logloom_private.elements_at(v_record_bytes, v_order);
  v_block := logloom_private.encode_times(v_block, v_ts);
  v_block := logloom_private.encode_ids(v_block, v_ids, v_received_at, v_write_seqs);
  insert into logloom_private.blocks overriding system value select v_block.*;

  perform logloom_private.store_column(p_tenant_id, v_block.block_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_block.block_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_block.block_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_block.block_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_block.block_id, 'host', 1, v_host);
  perform logloom_private.store_column(
    p_tenant_id, v_block.block_id, 'record_bytes', 1, v_record_bytes::text[]
  );
  perform logloom_private.store_attributes(p_tenant_id, v_block.block_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.block_columns k
      where k.tenant_id = p_tenant_id and k.block_id = v_block.block_id
    )
  into v_block.bytes
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
  update logloom_private.blocks c
  set bytes = v_block.bytes
  where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_block.records
  then
    raise sqlstate 'LL001' using
      message = format('Block %s has records twice', v_block.block_id);
  end if;
  perform logloom_private.compare_block(
    p_tenant_id, v_block.block_id, v_ts, v_received_at, v_write_seqs, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
  );
  return v_block.block_id;
end;
$$;
