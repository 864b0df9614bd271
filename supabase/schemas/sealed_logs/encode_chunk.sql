-- Sealing: records as a chunk. All of it works on arrays, a column each, read by unnest in a select
-- list: that hands on an element at a time and keeps the order, where a function in FROM stores all
-- of it first.

-- Makes a chunk of records and compares it with them; null where there are none. p_with: clauses of
-- a WITH, of which s yields rows of logloom.logs. p_removes: another one, removed, deletes them and
-- yields a row for each. LL001: the chunk differs.
create function logloom_private.encode_chunk(
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
  v_chunk logloom_private.sealed_chunks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
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
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs), array_agg(r.record_bytes)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_removed, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes;
  if v_removed <> v_chunk.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_chunk.records, v_removed);
  elsif v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  -- As chunk_end has it of rows.
  select sum(r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint) into v_chunk.weight
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
  from logloom_private.encode_messages(v_chunk, v_services, v_levels, v_messages) e;
  v_chunk := v_encoded.o_chunk;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_arrivals := logloom_private.elements_at(v_arrivals, v_order);
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
  v_chunk := logloom_private.encode_times(v_chunk, v_ts);
  v_chunk := logloom_private.encode_ids(v_chunk, v_ids, v_received_at, v_arrivals);
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);
  perform logloom_private.store_column(
    p_tenant_id, v_chunk.chunk_id, 'record_bytes', 1, v_record_bytes::text[]
  );
  perform logloom_private.store_attributes(p_tenant_id, v_chunk.chunk_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_chunk.records
  then
    raise sqlstate 'LL001' using
      message = format('Chunk %s has records twice', v_chunk.chunk_id);
  end if;
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
  );
  return v_chunk.chunk_id;
end;
$$;

-- The order of a chunk's records, and their messages in it.
-- A chunk with its sections, masks and digits, and the order of its records: arrays are given in
-- the order of ts and id.
create function logloom_private.encode_messages(
  p_chunk logloom_private.sealed_chunks,
  p_services text[],
  p_levels text[],
  p_messages text[],
  out o_chunk logloom_private.sealed_chunks,
  -- The record, as a place in the arrays, at each position.
  out o_order integer[]
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
-- The planner takes 16 kB for what a group gathers, which is less than 2 kB.
set hash_mem_multiplier = 8
as $$
declare
  v_joined text := array_to_string(p_messages, ' ');
  v_masks text[];
  v_texts text[];
begin
  o_chunk := p_chunk;
  o_chunk.separator := logloom_private.separator_for(v_joined);
  -- All in one text: nine calls, not nine a message.
  v_joined := array_to_string(p_messages, o_chunk.separator);
  v_masks := string_to_array(logloom_private.mask_of(v_joined), o_chunk.separator);
  -- Where some have no message, or the only one is empty.
  if cardinality(v_masks) <> p_chunk.records then
    v_masks := array(select logloom_private.mask_of(m) from unnest(p_messages) m);
  end if;
  -- Runs of an equal mask, and of an equal service and level. A group has its records in the order
  -- in which they come, which is that of ts and id.
  with k as (
    select
      unnest(p_services) as service, unnest(p_levels) as level, unnest(p_messages) as msg,
      unnest(v_masks) as mask, generate_series(1, p_chunk.records) as place
  ), g as materialized (
    select
      x.*,
      row_number() over (
        order by x.service collate "C", x.level collate "C", x.mask collate "C" nulls last
      ) as n
    from (
      select
        k.service, k.level, k.mask, count(*)::integer as records, array_agg(k.place) as places,
        string_agg(k.msg, o_chunk.separator) as texts
      from k
      group by k.service, k.level, k.mask
    ) x
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.mask) as masks, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.mask) - octet_length(replace(g.mask, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.mask || o_chunk.separator, '' order by g.n), '') as texts
    from g
    group by g.service, g.level, g.mask is null
  ), sections as (
    select
      array_agg(s.service order by s.n) as services,
      array_agg(s.level order by s.n) as levels,
      array_agg(s.records order by s.n) as records,
      array_agg(s.masks order by s.n) as masks,
      array_agg(s.digits_before order by s.n) as digits,
      array_agg(s.texts order by s.n) as texts,
      array_agg(logloom_private.words_of(s.texts) order by s.n) as words
    from (
      select x.*, (sum(x.digits) over (order by x.n) - x.digits)::integer as digits_before from s x
    ) s
  ), groups as (
    select
      coalesce(array_agg(g.records order by g.n), '{}') as records,
      coalesce(array_agg(g.mask order by g.n), '{}') as masks,
      coalesce(array_agg(g.texts order by g.n), '{}') as texts
    from g
    where g.mask is not null
  )
  select
    s.services, s.levels, s.records, s.masks, s.digits, s.texts, s.words,
    g.records, g.masks, g.texts,
    array(select unnest(p.places) from (select g.places from g order by g.n) p)
  into
    o_chunk.section_services, o_chunk.section_levels, o_chunk.section_records,
    o_chunk.section_masks, o_chunk.section_digits, o_chunk.masks, o_chunk.section_words,
    o_chunk.mask_records, v_masks, v_texts, o_order
  from sections s, groups g;
  o_chunk.digits := logloom_private.cut_digits(v_masks, v_texts, o_chunk.separator);
  select
    coalesce(array_agg(m.records order by m.n), '{}'),
    coalesce(array_agg(m.digits order by m.n), '{}'),
    coalesce(array_agg(m.bytes order by m.n), '{}')
  into o_chunk.mark_records, o_chunk.mark_digits, o_chunk.mark_bytes
  from (
    select
      k.n, sum(k.count) over w - k.count as records,
      sum(k.count * k.digits) over w - k.count * k.digits as digits,
      sum(k.bytes) over w - k.bytes as bytes
    from (
      select
        u.*, octet_length(u.mask) + octet_length(o_chunk.separator) as bytes,
        octet_length(u.mask) - octet_length(replace(u.mask, '0', '')) as digits
      from (
        select
          unnest(v_masks) as mask, unnest(o_chunk.mask_records) as count,
          generate_series(1, cardinality(v_masks)) as n
      ) u
    ) k
    window w as (order by k.n rows unbounded preceding)
  ) m
  where m.n % 16 = 1;
end;
$$;
