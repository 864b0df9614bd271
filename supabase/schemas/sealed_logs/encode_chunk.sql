-- Sealing: records as a chunk.

create function logloom_private.encode_chunk(p_tenant_id text, p_with text)
returns bigint
language plpgsql
volatile
security invoker
set search_path = ''
set work_mem = '48MB'
set timezone = 'UTC'
as $$
declare
  v_chunk logloom_private.sealed_chunks;
  v_column logloom_private.sealed_columns;
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_masks text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_offsets bigint[];
  v_group_masks text[];
  v_group_texts text[];
  v_keys text[];
  v_first integer[];
  v_last integer[];
  v_texts text[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival),
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.mask), array_agg(r.service),
        array_agg(r.env), array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route),
        array_agg(r.host), array_agg(r.attrs)
      from (
        select m.*
        from (select s.*, %s as mask from s offset 0) m
        order by
          m.service collate "C", m.level collate "C", m.mask collate "C" nulls last, m.ts, m.id
      ) r
    $query$,
    p_with, logloom_private.mask_sql('s.msg')
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages, v_masks,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs;
  if v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  v_chunk.separator := logloom_private.separator_for(array_to_string(v_messages, ' '));

  -- Runs of an equal mask, and of an equal service and level.
  with g as materialized (
    select
      o.service, o.level, o.mask, count(*) as records,
      string_agg(o.msg, v_chunk.separator) as texts, min(o.n) as n
    from (
      select u.*
      from unnest(v_services, v_levels, v_masks, v_messages)
        with ordinality u (service, level, mask, msg, n)
      order by u.service collate "C", u.level collate "C", u.mask collate "C" nulls last, u.n
    ) o
    group by
      o.service collate "C", o.level collate "C", o.mask collate "C", o.service, o.level, o.mask
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.mask) as masks, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.mask) - octet_length(replace(g.mask, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.mask || v_chunk.separator, '' order by g.n), '') as texts
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
      array_agg(nullif(lower(s.texts collate pg_c_utf8), s.texts) order by s.n) as folded
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
    s.services, s.levels, s.records, s.masks, s.digits, s.texts, s.folded,
    g.records, g.masks, g.texts
  into
    v_chunk.section_services, v_chunk.section_levels, v_chunk.section_records,
    v_chunk.section_masks, v_chunk.section_digits, v_chunk.masks, v_chunk.folded_masks,
    v_chunk.mask_records,
    v_group_masks, v_group_texts
  from sections s, groups g;
  v_chunk.digits := logloom_private.cut_digits(v_group_masks, v_group_texts, v_chunk.separator);
  v_group_texts := null;

  v_offsets := array(
    select round(date_part('epoch', t.ts - v_chunk.first_ts) * 1000000)::bigint
    from unnest(v_ts) with ordinality t (ts, n)
    order by t.n
  );
  select case when bool_and(o % 1000 = 0) then 1000 else 1 end into v_chunk.ts_unit
  from unnest(v_offsets) o;
  select
    array_agg(((t.o & 65535) - 32768)::smallint order by t.n),
    case when max(t.o) > 65535 then
      array_agg(((t.o >> 16 & 65535) - 32768)::smallint order by t.n) end,
    case when max(t.o) > 4294967295 then
      array_agg(((t.o >> 32) - 32768)::smallint order by t.n) end
  into v_chunk.ts_low, v_chunk.ts_middle, v_chunk.ts_high
  from (
    select u.o / v_chunk.ts_unit as o, u.n from unnest(v_offsets) with ordinality u (o, n)
  ) t;

  with i as materialized (
    select
      substring(uuid_send(u.id) for 14) as prefix, u.received_at, u.arrival, u.n,
      (get_byte(uuid_send(u.id), 14) * 256 + get_byte(uuid_send(u.id), 15)) as index, u.id
    from unnest(v_ids, v_received_at, v_arrivals) with ordinality u (id, received_at, arrival, n)
  ), b as materialized (
    select
      i.prefix, i.received_at, i.arrival,
      row_number() over (order by i.received_at, i.prefix, i.arrival) as number
    from i
    group by i.prefix, i.received_at, i.arrival
  ), batches as (
    select
      count(*) as count,
      string_agg(b.prefix, ''::bytea order by b.number) as prefixes,
      array_agg(b.received_at order by b.number) as received_at,
      array_agg(b.arrival order by b.number) as arrivals
    from b
  ), ids as (
    select
      array_agg(b.number::smallint order by i.n) as numbers,
      array_agg((case when i.index > 32767 then i.index - 65536 else i.index end)::smallint
        order by i.n) as indexes
    from i
    join b on b.prefix = i.prefix and b.received_at = i.received_at and b.arrival = i.arrival
  )
  select b.prefixes, b.received_at, b.arrivals, case when b.count > 1 then i.numbers end, i.indexes
  into
    v_chunk.batch_prefixes, v_chunk.batch_received_at, v_chunk.batch_arrivals,
    v_chunk.wide_batch_codes, v_chunk.id_indexes
  from batches b, ids i;
  if cardinality(v_chunk.batch_arrivals) between 2 and 256 then
    select array_agg((b.number - 129)::"char" order by b.n) into v_chunk.batch_codes
    from unnest(v_chunk.wide_batch_codes) with ordinality b (number, n);
    v_chunk.wide_batch_codes := null;
  end if;
  v_texts := array(select i from (
    (select i from unnest(v_ids) i order by i limit 1)
    union all
    (select i from unnest(v_ids) i order by i desc limit 1)) e (i));
  v_chunk.first_id := v_texts[1];
  v_chunk.last_id := v_texts[2];
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);

  -- The keys of attrs; rare ones and long ones stay together in a column of their own.
  select
    array_agg(k.key), array_agg(k.first), array_agg(k.last)
  into v_keys, v_first, v_last
  from (
    select e.key, min(e.n) as first, max(e.n) as last
    from (
      select jsonb_object_keys(a.attrs) as key, a.n
      from unnest(v_attrs) with ordinality a (attrs, n)
      where a.attrs is not null
    ) e
    where length(e.key) <= 200
    group by e.key
    order by count(*) desc, e.key collate "C"
    limit 80
  ) k;
  for v_at in 1..coalesce(cardinality(v_keys), 0) loop
    v_texts := array(
      select (a.attrs -> v_keys[v_at])::text
      from unnest(v_attrs[v_first[v_at]:v_last[v_at]]) with ordinality a (attrs, n)
      order by a.n
    );
    perform logloom_private.store_column(
      p_tenant_id, v_chunk.chunk_id, 'attrs.' || v_keys[v_at], v_first[v_at], v_texts
    );
  end loop;
  v_texts := array(
    select (a.attrs - coalesce(v_keys, '{}'))::text
    from unnest(v_attrs) with ordinality a (attrs, n)
    order by a.n
  );
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'attrs', 1, v_texts);

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
  -- Read back as every reader does.
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services,
    v_env, v_req_id, v_user_id, v_route, v_host, v_attrs
  );
  return v_chunk.chunk_id;
end;
$$;

revoke all on function logloom_private.encode_chunk(text, text) from public;

comment on function logloom_private.encode_chunk(text, text) is
  'Makes a chunk of records and compares it with them; null where there are none. p_with: '
  'clauses of a WITH, of which s yields rows of logloom.logs. LL001: the chunk differs.';

create function logloom_private.store_column(
  p_tenant_id text,
  p_chunk_id bigint,
  p_name text,
  p_first integer,
  p_values text[]
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_column logloom_private.sealed_columns;
begin
  v_column := logloom_private.encode_column(p_name, p_first, p_values);
  if v_column.kind is not null then
    v_column.tenant_id := p_tenant_id;
    v_column.chunk_id := p_chunk_id;
    if p_name in ('req_id', 'user_id') then
      if v_column.kind <> 'dictionary' then
        v_column.filter := logloom_private.value_filter(p_values);
      elsif cardinality(v_column.dictionary) > 256 then
        v_column.filter := logloom_private.value_filter(v_column.dictionary);
      end if;
    end if;
    insert into logloom_private.sealed_columns select v_column.*;
  end if;
end;
$$;

revoke all on function logloom_private.store_column(text, bigint, text, integer, text[])
from public;

comment on function logloom_private.store_column(text, bigint, text, integer, text[]) is
  'Stores a column, unless all of it is null.';

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
  p_attrs jsonb[]
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_same boolean;
begin
  select
    row(
      array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
      array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
      array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host)
    ) is not distinct from row(
      p_ts, p_received_at, p_arrivals, p_ids, p_levels, p_messages, p_services, p_env, p_req_id,
      p_user_id, p_route, p_host
    )
    -- The bytes of attrs, since 1.0 equals 1.
    and (
      record_image_eq(row(array_agg(r.attrs)), row(p_attrs))
      or array_agg(r.attrs)::text[] is not distinct from p_attrs::text[]
    )
  into v_same
  from logloom_private.chunk_records(p_tenant_id, p_chunk_id, null, null, null) r;
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
end;
$$;

revoke all on function logloom_private.compare_chunk(
  text, bigint, timestamptz[], timestamptz[], bigint[], uuid[], text[], text[], text[], text[],
  text[],
  text[], text[], text[], jsonb[]
) from public;

comment on function logloom_private.compare_chunk(
  text, bigint, timestamptz[], timestamptz[], bigint[], uuid[], text[], text[], text[], text[],
  text[],
  text[], text[], text[], jsonb[]
) is
  'Reads a chunk back. LL001 where it differs from the records that it was made of.';
