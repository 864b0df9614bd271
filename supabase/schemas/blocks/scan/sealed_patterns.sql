-- Returns the templates of a block's messages at p_bits. Each has its number of records, and the
-- positions of the first and last by ts. A null template stands for records without a message.
create function logloom_private.block_templates(
  p_block logloom_private.blocks,
  p_bits varbit
)
returns table (template text, events integer, first integer, last integer)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Read into memory once: each use of a stored value would read it again.
  v_template_records constant integer[] := p_block.template_records || '{}'::integer[];
begin
  -- Runs without a record at p_bits are skipped.
  return query
  with runs as materialized (
    select
      r.n, r.records, r.templates, r.texts, r.before, r.templates_before,
      bit_count(substring(p_bits from r.before + 1 for r.records)) as found
    from (
      select
        u.*,
        (sum(u.records) over w - u.records)::integer as before,
        (sum(u.templates) over w - u.templates)::integer as templates_before
      from unnest(p_block.run_records, p_block.run_templates, p_block.templates)
        with ordinality u (records, templates, texts, n)
      window w as (order by u.n rows unbounded preceding)
    ) r
  ), templates as materialized (
    select
      t.template, t.records, r.found = r.records as is_whole,
      r.before + (t.last - t.records)::integer as before
    from runs r
    cross join lateral (
      -- Keep the stored order: sorting is slow.
      select u.*, sum(u.records) over (rows unbounded preceding) as last
      from (
        select
          unnest(string_to_array(r.texts, p_block.separator)) as template,
          unnest(
            v_template_records[r.templates_before + 1:r.templates_before + r.templates]
          ) as records
      ) u
    ) t
    where r.found > 0 and r.templates > 0 and t.records is not null
    union all
    select null, r.records, r.found = r.records, r.before
    from runs r
    where r.found > 0 and r.templates = 0
  )
  select t.template, t.records, t.before + 1, t.before + t.records
  from templates t
  where t.is_whole
  union all
  select
    t.template, bit_count(f.bits)::integer, t.before + position(b'1' in f.bits),
    t.before + length(rtrim(f.bits::text, '0'))
  from (select t.* from templates t where not t.is_whole) t
  cross join lateral (
    select substring(p_bits from t.before + 1 for t.records) as bits
    offset 0
  ) f
  where bit_count(f.bits) > 0;
end;
$$;

-- Returns the templates of a tenant's sealed messages in [p_from, p_to) that a query finds. Each
-- row has the number of records, the first and last time in microseconds since 1970, and the first
-- message's place for sealed_messages. Places sort by time. Several rows may have the same
-- template. Reads the newest blocks first, and stops after more than p_limit rows.
create function logloom_private.sealed_patterns(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_limit integer default null
)
returns table (
  template text,
  events bigint,
  first_us bigint,
  last_us bigint,
  place bigint[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_low smallint[];
  v_middle "char"[];
  v_high smallint[];
  v_top "char"[];
  v_from bigint;
  v_found integer;
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    v_low := v_block.ts_low;
    v_middle := v_block.ts_middle;
    v_high := v_block.ts_high;
    v_top := v_block.ts_top;
    v_from := extract(epoch from v_block.first_ts) * 1000000;
    -- Computes the steps of block_steps row by row: collecting all positions first takes twice as
    -- long.
    return query
    select
      u.template, u.events::bigint, v_from + u.first, v_from + u.last,
      array[v_from + u.first, v_block.block_id, u.position]
    from (
      select
        t.template, t.events, t.first as position, (
          v_low[t.first] + 32768 + coalesce(v_middle[t.first]::integer + 128, 0) * 65536
          + coalesce(v_high[t.first] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.first]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as first,
        (
          v_low[t.last] + 32768 + coalesce(v_middle[t.last]::integer + 128, 0) * 65536
          + coalesce(v_high[t.last] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.last]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as last
      from logloom_private.block_templates(v_block, v_bits) t
    ) u;
    get diagnostics v_found = row_count;
    v_rows := v_rows + v_found;
  end loop;
end;
$$;

-- Returns the same as sealed_patterns, but places also sort by id: time, id, block, position.
-- Within a block, messages are ordered by service and level, which a reader's view may hide. Ids of
-- messages whose time is unique are 0, because reading ids is slow.
create function logloom_private.sealed_patterns_by_id(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_limit integer default null
)
returns table (
  template text,
  events bigint,
  first_us bigint,
  last_us bigint,
  place bigint[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_found record;
  v_block logloom_private.blocks;
  v_ids uuid[];
begin
  for v_found in
    select
      s.block_to_read, array_agg(s.template) as templates, array_agg(s.events) as events,
      array_agg(s.first_us) as firsts, array_agg(s.last_us) as lasts,
      array_agg(s.place[2]) as blocks, array_agg(s.place[3]::integer) as positions
    from (
      select p.*, case when count(*) over (partition by p.first_us) > 1 then p.place[2] end
        as block_to_read
      from logloom_private.sealed_patterns(p_tenant_id, p_from, p_to, p_tree, p_limit) p
    ) s
    group by s.block_to_read
  loop
    v_ids := null;
    if v_found.block_to_read is not null then
      select c.* into v_block
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.block_id = v_found.block_to_read;
      v_ids := logloom_private.block_ids(
        v_block, v_found.positions, logloom_private.block_batches(v_block, v_found.positions)
      );
    end if;
    return query
    select
      u.template, u.events, u.first_us, u.last_us, array[
        u.first_us, coalesce(('x' || left(h.id, 16))::bit(64)::bigint, 0),
        coalesce(('x' || right(h.id, 16))::bit(64)::bigint, 0), u.block_id, u.position
      ]
    from unnest(
      v_found.templates, v_found.events, v_found.firsts, v_found.lasts, v_found.blocks,
      v_found.positions, v_ids
    ) u (template, events, first_us, last_us, block_id, position, id)
    cross join lateral replace(u.id::text, '-', '') h (id);
  end loop;
end;
$$;

-- Returns the messages at places that sealed_patterns returned.
create function logloom_private.sealed_messages(p_tenant_id text, p_places bigint[])
returns table (place bigint[], msg text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_block logloom_private.blocks;
  v_wanted record;
begin
  for v_wanted in
    select
      u.block_id, array_agg(u.time order by u.position) as times,
      array_agg(u.position order by u.position) as positions
    from (
      select p_places[n][1] as time, p_places[n][2] as block_id, p_places[n][3]::integer as position
      from generate_series(1, coalesce(array_length(p_places, 1), 0)) n
    ) u
    group by u.block_id
  loop
    select c.* into v_block
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_wanted.block_id;
    return query
    select array[m.time, v_wanted.block_id, m.position], m.msg
    from unnest(
      v_wanted.times, v_wanted.positions,
      logloom_private.block_messages_at(v_block, v_wanted.positions)
    ) m (time, position, msg);
  end loop;
end;
$$;
