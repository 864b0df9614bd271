-- Merges the times and sizes of a block's records into the times and sizes of a page. Leaves out
-- the time p_past and keeps the first p_limit times. edge: the last time that a page of p_limit
-- records and p_bytes can contain; null if the page is not full yet. Records of one time count
-- together, because their order by id is not known here. Without sizes, only p_limit counts.
create function logloom_private.page_edge(
  p_limit integer,
  p_bytes bigint,
  p_is_descending boolean,
  p_past timestamptz,
  p_times timestamptz[],
  p_sizes integer[],
  inout times timestamptz[],
  inout sizes integer[],
  out edge timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sizes is null and sizes is null then
    times := array(
      select t
      from unnest(times || p_times) t
      where p_past is null or t <> p_past
      order by case when p_is_descending then t end desc, case when not p_is_descending then t end
      limit p_limit
    );
    edge := times[p_limit];
    return;
  end if;
  select
    array_agg(b.ts), array_agg(b.size),
    (
      array_agg(b.ts)
      filter (where b.n = p_limit or b.before >= p_bytes and b.ts <> b.ts_before)
    )[1]
  into times, sizes, edge
  from (
    select g.*, lag(g.through) over w as before, lag(g.ts) over w as ts_before
    from (
      select
        o.ts, o.size, row_number() over (rows unbounded preceding) as n,
        sum(o.size) over (
          order by case when p_is_descending then o.ts end desc, o.ts
        ) as through
      from (
        select u.ts, coalesce(u.size, 0) as size
        from (
          select unnest(times) as ts, unnest(sizes) as size
          union all
          select unnest(p_times), unnest(p_sizes)
        ) u
        where p_past is null or u.ts <> p_past
        order by
          case when p_is_descending then u.ts end desc,
          case when not p_is_descending then u.ts end
        limit p_limit
      ) o
    ) g
    window w as (order by g.n)
  ) b;
end;
$$;

-- Returns the positions after (p_ts, p_id) that fit in p_bytes. next: the first position that does
-- not fit.
create function logloom_private.positions_within_bytes(
  p_block logloom_private.blocks,
  p_bytes bigint,
  p_is_descending boolean,
  p_ts timestamptz,
  p_id uuid,
  inout positions integer[],
  out next integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select
    array_agg(f.position order by f.position) filter (where f.before < p_bytes),
    (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1]
  into positions, next
  from (
    select
      o.position, row_number() over w as n,
      sum(coalesce(o.record_bytes, 0)) over w - coalesce(o.record_bytes, 0) as before
    from (
      select p.position, l.ts, l.id, l.record_bytes
      from unnest(positions) with ordinality p (position, n)
      join (
        select r.ts, r.id, r.record_bytes, row_number() over () as n
        from logloom_private.sealed_records(
          p_block, positions, array['ts', 'id', 'record_bytes']
        ) r
      ) l on l.n = p.n
      where p_ts is null
        or case when p_is_descending then (l.ts, l.id) < (p_ts, p_id)
          else (l.ts, l.id) > (p_ts, p_id) end
    ) o
    window w as (
      order by
        case when p_is_descending then o.ts end desc,
        case when p_is_descending then o.id end desc, o.ts, o.id
      rows unbounded preceding
    )
  ) f;
end;
$$;

-- Returns at least the first p_limit sealed records that a query finds, in the order of (ts, id).
-- p_ts, p_id: the position after which the page begins. Each record has ts, id and the fields in
-- p_reads (null: all). Of its first record beyond p_bytes, a block returns only ts, id and
-- record_bytes, and of later records nothing.
create function logloom_private.sealed_page(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text[] default null,
  p_bytes bigint default null
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_reads constant text[] := case
    when p_reads is not null then p_reads || array['ts', 'id', 'record_bytes']
  end;
  -- Null stands for all blocks of the range.
  v_candidates constant bigint[] := case
    when logloom_private.needed_leaf(p_tree) is not null
      then array(select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree))
  end;
  -- If evaluating whole blocks may read many texts, calls tried_positions until it returns null.
  v_tries boolean := p_limit <= 250 and jsonb_path_exists(
    p_tree, '$.** ? (@.block_quick == false || @.field == "attrs")'
  );
  v_blocks refcursor;
  v_block logloom_private.blocks;
  v_bits varbit;
  v_page record;
  v_within record;
  v_positions integer[];
  v_times timestamptz[];
  v_sizes integer[];
  v_best timestamptz[] := '{}';
  v_best_sizes integer[];
  v_edge timestamptz;
begin
  -- Uses cursors: the planner then prefers a plan that returns the first of many blocks quickly.
  if v_is_descending then
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.last_ts desc;
  else
    open v_blocks for
      select c.*
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and c.damaged_at is null and (v_candidates is null or c.block_id = any(v_candidates))
      order by c.first_ts;
  end if;
  loop
    fetch v_blocks into v_block;
    exit when not found;
    perform logloom_private.can_read(v_block.format);
    -- The page is full, and this block and the next ones begin after its end.
    exit when case when v_is_descending then v_block.last_ts < v_edge
      else v_block.first_ts > v_edge end;
    -- Null stands for all records.
    v_positions := null;
    if v_tries then
      v_positions := logloom_private.tried_positions(
        v_block, p_tree, p_limit, v_is_descending, p_ts, p_from, p_to
      );
      v_tries := v_positions is not null;
    end if;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_scan_slot();
    elsif v_positions is null then
      v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
      if bit_count(v_bits) < v_block.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    continue when v_positions = '{}';
    v_positions := logloom_private.first_positions(
      v_block, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.block_times(v_block, v_positions);
    v_sizes := null;
    -- v_positions may exceed p_limit: records with the last page's ts are in it.
    if p_bytes <= cardinality(v_positions)::bigint * (
      select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
      from logloom_private.block_columns c
      where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id
        and c.name = 'record_bytes'
    ) then
      v_sizes := array(
        select r.record_bytes
        from logloom_private.sealed_records(v_block, v_positions, array['record_bytes']) r
      );
    end if;
    v_page := logloom_private.page_edge(
      p_limit, p_bytes, v_is_descending, p_ts, v_times, v_sizes, v_best, v_best_sizes
    );
    v_best := v_page.times;
    v_best_sizes := v_page.sizes;
    v_edge := v_page.edge;
    select array_agg(p.position order by p.n), array_agg(p.size order by p.n)
    into v_positions, v_sizes
    from unnest(v_positions, v_times, v_sizes) with ordinality p (position, ts, size, n)
    where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end;
    continue when v_positions is null;
    -- The block has more bytes than the page: read only what fits.
    if (select sum(z) from unnest(v_sizes) z) >= p_bytes then
      v_within := logloom_private.positions_within_bytes(
        v_block, p_bytes, v_is_descending, p_ts, p_id, v_positions
      );
      v_positions := v_within.positions;
      return query
      select r.*
      from logloom_private.sealed_records(
        v_block, coalesce(v_within.next, '{}'), array['ts', 'id', 'record_bytes']
      ) r;
    end if;
    continue when v_positions is null;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_block, case when cardinality(v_positions) < v_block.records then v_positions end,
      v_reads
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
  close v_blocks;
end;
$$;
