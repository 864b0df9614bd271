-- Of a block's records at p_bits how many there are of each combination of the values of p_columns,
-- dictionaries all of them, and of the runs where p_by_run. codes: places in each dictionary, null
-- without a value; run: the number of the run.
create function logloom_private.grouped_codes(
  p_block logloom_private.blocks,
  p_columns logloom_private.block_columns[],
  p_by_run boolean,
  p_bits varbit
)
returns table (run integer, codes integer[], events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '16MB'
as $$
declare
  v_is_all constant boolean := bit_count(p_bits) = p_block.records;
  v_names constant text[] := array(
    select 'c' || n from generate_series(1, cardinality(p_columns)) n
  );
begin
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*)
      from (
        select %3$s%4$s
      ) u
      %5$s
      group by 1, %2$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    array_to_string(array(select 'u.' || n from unnest(v_names) n), ', '),
    array_to_string(
      array(
        select format(
          'unnest(array_fill(null::integer, array[($1[%1$s]).first - 1]) || %2$s '
            || '|| array_fill(null::integer, array[$2 - ($1[%1$s]).last])) as c%1$s',
          n,
          case
            when p_columns[n].codes is not null
              then format('array(select unnest(($1[%s]).codes)::integer + 129)', n)
            when p_columns[n].wide_codes is not null
              then format('($1[%s]).wide_codes::integer[]', n)
            else format(
              'array_fill(1, array[($1[%1$s]).last - ($1[%1$s]).first + 1])', n
            )
          end
        )
        from generate_series(1, cardinality(p_columns)) n
      ),
      ', '
    ),
    case when p_by_run then
      ', unnest(array(select r.n::integer from unnest($4) with ordinality r (records, n), '
        || 'generate_series(1, r.records) order by r.n)) as run'
      else '' end
      || case when v_is_all then '' else ', generate_series(0, $2 - 1) as n' end,
    case when v_is_all then '' else 'where get_bit($3, u.n) = 1' end
  )
  using p_columns, p_block.records, p_bits, p_block.run_records;
end;
$$;

-- Those of a tenant's blocks that lie whole in [p_from, p_to) and have a dictionary of p_name, or
-- no value of it.
create function logloom_private.blocks_with_counts(
  p_tenant_id text,
  p_blocks bigint[],
  p_from timestamptz,
  p_to timestamptz,
  p_name text
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
      and coalesce(
        (
          select k.kind = 'dictionary'
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = p_name
        ),
        -- A key without a column of its own may be among the others.
        p_name not like 'attrs.%' or not exists (
          select
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
      )
  );
end;
$$;

-- How many sealed records of a tenant in [p_from, p_to) a query finds, by the values of fields: for
-- each combination the values in the order of p_by, those of attrs as JSON texts; several rows may
-- have the same. p_by: names of columns of blocks, service and level. Where blocks have
-- dictionaries of the one field and all of them is found, their counts answer; otherwise codes are
-- counted. What has no dictionary is read, and where little is found.
create function logloom_private.sealed_groups(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_by text[]
)
returns table (keys text[], events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_names constant text[] := array(
    select b.name
    from unnest(p_by) with ordinality b (name, n)
    where b.name not in ('service', 'level')
    order by b.name
  );
  v_by_run constant boolean := p_by && array['service', 'level'];
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_counted bigint[] := '{}';
  v_codes text;
  v_texts text;
  v_block logloom_private.blocks;
  v_columns logloom_private.block_columns[];
  v_bits varbit;
  v_count bigint;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1 and not v_by_run then
    v_counted := logloom_private.blocks_with_counts(
      p_tenant_id, v_blocks, p_from, p_to, p_by[1]
    );
    return query
    with counted as materialized (
      select d.value, sum(d.count)::bigint as events
      from (
        select k.dictionary, k.counts
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = any(v_counted) and k.name = p_by[1]
          and logloom_private.take_scan_slot()
        -- Asked once a block, not once a value.
        offset 0
      ) k
      cross join lateral unnest(k.dictionary, k.counts) d (value, count)
      group by d.value
    )
    select array[c.value], c.events from counted c
    union all
    select array[null], r.records - coalesce((select sum(c.events) from counted c), 0)::bigint
    from (
      select sum(b.records)::bigint as records
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    ) r
    where r.records > coalesce((select sum(c.events) from counted c), 0);
  end if;
  select
    string_agg(
      case
        when b.name in ('service', 'level') then format('($1).run_%ss[g.run]', b.name)
        else format('($2[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end,
      ', ' order by b.n
    ),
    string_agg(
      case when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
        else format('g.%I', b.name) end,
      ', ' order by b.n
    )
  into v_codes, v_texts
  from unnest(p_by) with ordinality b (name, n);
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    v_count := bit_count(v_bits);
    continue when v_count = 0;
    select array_agg(k order by k.name)
    into v_columns
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = v_block.block_id and k.name = any(v_names)
      and k.kind = 'dictionary';
    if coalesce(cardinality(v_columns), 0) < cardinality(v_names)
      or v_count * 8 < v_block.records
    then
      return query execute format(
        'select array[%s], count(*) from logloom_private.sealed_records($1, $2, $3) g group by 1',
        v_texts
      )
      using v_block, case when v_count < v_block.records
        then logloom_private.bit_positions(v_bits) end, p_by;
    else
      return query execute format(
        'select array[%s], g.events from logloom_private.grouped_codes($1, $2, $3, $4) g', v_codes
      )
      using v_block, v_columns, v_by_run, v_bits;
    end if;
  end loop;
end;
$$;
