-- logloom_private.json_number of each value of a column of attrs.
create function logloom_private.column_numbers(p_column logloom_private.block_columns)
returns numeric[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_each numeric[];
begin
  if p_column.numbers is not null then
    return p_column.numbers::numeric[];
  elsif p_column.wide_numbers is not null then
    return p_column.wide_numbers::numeric[];
  elsif p_column.kind <> 'dictionary' then
    return array(
      select logloom_private.json_number(t.value::jsonb)
      from unnest(logloom_private.column_texts(p_column)) with ordinality t (value, n)
      order by t.n
    );
  end if;
  v_each := array(
    select logloom_private.json_number(d.value::jsonb)
    from unnest(p_column.dictionary) with ordinality d (value, n)
    order by d.n
  );
  if p_column.codes is null and p_column.wide_codes is null then
    return array_fill(v_each[1], array[p_column.last - p_column.first + 1]);
  end if;
  return array(
    select v_each[coalesce(c.code::integer + 129, c.wide_code)]
    from unnest(p_column.codes, p_column.wide_codes) with ordinality c (code, wide_code, n)
    order by c.n
  );
end;
$$;

-- The numbers of attribute p_key of a tenant's sealed records in [p_from, p_to) that a query finds:
-- by service and level, in several rows. p_exact asks for numbers, p_doubles for
-- logloom_private.finite_double of them; a record without a number is null or absent. An aggregate
-- reads a slice of a column for each run, so that no record is made.
create function logloom_private.sealed_numbers(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_key text,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  service text,
  level text,
  events bigint,
  numbers numeric[],
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set jit = off
rows 1000
as $$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_column logloom_private.block_columns;
  v_bits varbit;
  v_positions integer[];
  v_numbers numeric[];
  v_doubles double precision[];
  v_before integer;
  v_starts integer[];
  v_events bigint[];
  v_are_whole boolean;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    v_numbers := null;
    v_doubles := null;
    v_before := 0;
    select k.* into v_column
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = v_block.block_id
      and k.name = 'attrs.' || p_key;
    if not found then
      -- A key without a column of its own may be among the others.
      v_numbers := array(
        select logloom_private.json_number(r.attrs -> p_key)
        from logloom_private.sealed_records(v_block, null, array['attrs.' || p_key]) r
      );
    else
      v_before := v_column.first - 1;
      if p_exact or v_column.kind <> 'numbers' then
        v_numbers := logloom_private.column_numbers(v_column);
      elsif v_column.numbers is not null then
        v_doubles := v_column.numbers;
      else
        v_doubles := v_column.wide_numbers;
      end if;
    end if;
    if p_doubles and v_doubles is null then
      v_doubles := array(
        select logloom_private.finite_double(n.number)
        from unnest(v_numbers) with ordinality n (number, n)
        order by n.n
      );
    end if;
    select
      array_agg(u.first order by u.n),
      array_agg(bit_count(substring(v_bits from u.first for u.records)) order by u.n),
      bool_and(bit_count(substring(v_bits from u.first for u.records)) in (0, u.records))
    into v_starts, v_events, v_are_whole
    from (
      select r.*, (sum(r.records) over (order by r.n) - r.records + 1)::integer as first
      from unnest(v_block.run_records) with ordinality r (records, n)
    ) u;
    if not v_are_whole then
      v_positions := logloom_private.bit_positions(v_bits);
      v_numbers := case when p_exact then array(
        select v_numbers[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_doubles := case when p_doubles then array(
        select v_doubles[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_before := 0;
    end if;
    -- A run's records follow one another. "|| '{}'" makes one array of which each takes its
    -- part.
    return query
    select
      s.service, s.level, s.events,
      case when p_exact then a.numbers[s.first:s.first + s.events - 1] end,
      a.doubles[s.first:s.first + s.events - 1]
    from (
      select
        v_numbers || '{}'::numeric[] as numbers, v_doubles || '{}'::double precision[] as doubles
      offset 0
    ) a
    cross join (
      select
        u.service, u.level, u.events,
        case when v_are_whole then u.start
          else sum(u.events) over (order by u.n) - u.events + 1 end - v_before as first
      from unnest(
        v_block.run_services, v_block.run_levels, v_starts, v_events
      ) with ordinality u (service, level, start, events, n)
    ) s
    where s.events > 0;
  end loop;
end;
$$;
