-- Sealing: records as a block. All of it works on arrays, a column each, read by unnest in a select
-- list: that hands on an element at a time and keeps the order, where a function in FROM stores all
-- of it first.

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

-- The order of a block's records, and their messages in it.
-- A block with its runs, templates and digits, and the order of its records: arrays are given in
-- the order of ts and id.
create function logloom_private.encode_messages(
  p_block logloom_private.blocks,
  p_services text[],
  p_levels text[],
  p_messages text[],
  out o_block logloom_private.blocks,
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
  v_templates text[];
  v_texts text[];
begin
  o_block := p_block;
  o_block.separator := logloom_private.separator_for(v_joined);
  -- All in one text: nine calls, not nine a message.
  v_joined := array_to_string(p_messages, o_block.separator);
  v_templates := string_to_array(logloom_private.template_of(v_joined), o_block.separator);
  -- Where some have no message, or the only one is empty.
  if cardinality(v_templates) <> p_block.records then
    v_templates := array(select logloom_private.template_of(m) from unnest(p_messages) m);
  end if;
  -- Runs of an equal template, and of an equal service and level. A group has its records in the
  -- order in which they come, which is that of ts and id.
  with k as (
    select
      unnest(p_services) as service, unnest(p_levels) as level, unnest(p_messages) as msg,
      unnest(v_templates) as template, generate_series(1, p_block.records) as place
  ), g as materialized (
    select
      x.*,
      row_number() over (
        order by x.service collate "C", x.level collate "C", x.template collate "C" nulls last
      ) as n
    from (
      select
        k.service, k.level, k.template, count(*)::integer as records, array_agg(k.place) as places,
        string_agg(k.msg, o_block.separator) as texts
      from k
      group by k.service, k.level, k.template
    ) x
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.template) as templates, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.template) - octet_length(replace(g.template, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.template || o_block.separator, '' order by g.n), '') as texts
    from g
    group by g.service, g.level, g.template is null
  ), runs as (
    select
      array_agg(s.service order by s.n) as services,
      array_agg(s.level order by s.n) as levels,
      array_agg(s.records order by s.n) as records,
      array_agg(s.templates order by s.n) as templates,
      array_agg(s.digits_before order by s.n) as digits,
      array_agg(s.texts order by s.n) as texts,
      array_agg(logloom_private.words_of(s.texts) order by s.n) as words
    from (
      select x.*, (sum(x.digits) over (order by x.n) - x.digits)::integer as digits_before from s x
    ) s
  ), groups as (
    select
      coalesce(array_agg(g.records order by g.n), '{}') as records,
      coalesce(array_agg(g.template order by g.n), '{}') as templates,
      coalesce(array_agg(g.texts order by g.n), '{}') as texts
    from g
    where g.template is not null
  )
  select
    s.services, s.levels, s.records, s.templates, s.digits, s.texts, s.words,
    g.records, g.templates, g.texts,
    array(select unnest(p.places) from (select g.places from g order by g.n) p)
  into
    o_block.run_services, o_block.run_levels, o_block.run_records,
    o_block.run_templates, o_block.run_digits, o_block.templates, o_block.run_words,
    o_block.template_records, v_templates, v_texts, o_order
  from runs s, groups g;
  o_block.digits := logloom_private.cut_digits(v_templates, v_texts, o_block.separator);
  select
    coalesce(array_agg(m.records order by m.n), '{}'),
    coalesce(array_agg(m.digits order by m.n), '{}'),
    coalesce(array_agg(m.bytes order by m.n), '{}')
  into o_block.offset_records, o_block.offset_digits, o_block.offset_bytes
  from (
    select
      k.n, sum(k.count) over w - k.count as records,
      sum(k.count * k.digits) over w - k.count * k.digits as digits,
      sum(k.bytes) over w - k.bytes as bytes
    from (
      select
        u.*, octet_length(u.template) + octet_length(o_block.separator) as bytes,
        octet_length(u.template) - octet_length(replace(u.template, '0', '')) as digits
      from (
        select
          unnest(v_templates) as template, unnest(o_block.template_records) as count,
          generate_series(1, cardinality(v_templates)) as n
      ) u
    ) k
    window w as (order by k.n rows unbounded preceding)
  ) m
  where m.n % 16 = 1;
end;
$$;
