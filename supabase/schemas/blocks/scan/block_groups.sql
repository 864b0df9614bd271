-- Returns json_number of each value of a column of attrs.
create function logloom_private.column_numbers(p_column logloom_private.block_columns)
returns numeric[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_column.kind = 'dictionary' then
    return logloom_private.dictionary_values(p_column, array(
      select logloom_private.json_number(d.value::jsonb)
      from unnest(p_column.dictionary) with ordinality d (value, n)
      order by d.n
    ));
  end if;
  return array(
    select logloom_private.json_number(t.value::jsonb)
    from unnest(logloom_private.column_texts(p_column)) with ordinality t (value, n)
    order by t.n
  );
end;
$$;

-- Gives the result of block_groups, but always reads the records.
create function logloom_private.read_groups(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_by text[],
  p_counts boolean,
  p_key text,
  p_doubles boolean
)
returns setof logloom_private.block_group
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    $query$
      select
        g.keys, case when $4 then count(*) else 0 end, count(g.number), sum(g.number),
        min(g.number), max(g.number), %s
      from (
        select array[%s]::text[] as keys, %s as number
        from logloom_private.sealed_records($1, $2, $3) g
      ) g
      group by 1
    $query$,
    case when p_doubles then
      'array_agg(logloom_private.finite_double(g.number)) filter (where g.number is not null)'
      else 'null::double precision[]' end,
    array_to_string(
      array(
        select case
          when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
          else format('g.%I', b.name)
        end
        from unnest(p_by) with ordinality b (name, n)
        order by b.n
      ),
      ', '
    ),
    case when p_key is null then 'null::numeric'
      else format('logloom_private.json_number(g.attrs -> %L)', p_key) end
  )
  using p_block,
    case when bit_count(p_bits) < p_block.records then logloom_private.bit_positions(p_bits) end,
    array_remove(p_by || ('attrs.' || p_key), null), p_counts;
end;
$$;

-- Returns those of a block's columns p_names that have a dictionary, ordered by name. A separate
-- function, because Citus refuses a statement if its function has an unused variable of a row type.
create function logloom_private.dictionaries_of(
  p_block logloom_private.blocks,
  p_names text[]
)
returns logloom_private.block_columns[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select k
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name = any(p_names) and k.kind = 'dictionary'
    order by k.name
  );
end;
$$;

-- Groups a block's records at p_bits by the values of fields, in the shape of sealed_groups.
-- Records are read only if a field has no dictionary, p_key may be a rare key, or few records
-- match.
--   p_counts   also return the number of records
--   p_key      also return the numbers of this attribute, in rows of their own
--   p_exact    with p_key: their count, sum, minimum and maximum
--   p_doubles  with p_key: each number as finite_double
create function logloom_private.block_groups(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_by text[],
  p_counts boolean,
  p_key text,
  p_exact boolean,
  p_doubles boolean
)
returns setof logloom_private.block_group
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := array(
    select b.name from unnest(p_by) b (name) where b.name not in ('service', 'level') order by 1
  );
  v_by_run constant boolean := cardinality(v_names) < cardinality(p_by);
  v_count constant bigint := bit_count(p_bits);
  v_columns logloom_private.block_columns[];
  v_number logloom_private.block_columns;
  v_keys text;
begin
  v_columns := logloom_private.dictionaries_of(p_block, v_names);
  if p_key is not null then
    select k.* into v_number
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name in ('attrs', 'attrs.' || p_key) and k.dictionary is distinct from array['{}']
    order by k.name desc
    limit 1;
  end if;
  if cardinality(v_columns) < cardinality(v_names) or v_number.name = 'attrs'
    or v_count * 32 < p_block.records and cardinality(v_names) > 0
  then
    return query
    select r.*
    from logloom_private.read_groups(p_block, p_bits, p_by, p_counts, p_key, p_doubles) r;
    return;
  end if;

  v_keys := format('array[%s]::text[]', array_to_string(
    array(
      select case b.name
        when 'service' then '$3[g.run]'
        when 'level' then '$4[g.run]'
        else format('($5[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end
      from unnest(p_by) with ordinality b (name, n)
      order by b.n
    ),
    ', '
  ));
  if p_counts then
    return query execute format(
      $query$
        select %s, g.events, 0::bigint, null::numeric, null::numeric, null::numeric,
          null::double precision[]
        from %s g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.found_runs($1, $2, 1, $7)'
        else 'logloom_private.grouped_codes($1, $2, $5, $6, 1, $7, null::integer[], false, '
          || 'false)' end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, p_block.records;
  end if;
  if v_number.name is not null then
    return query execute format(
      $query$
        select %s, 0::bigint, g.events, g.total, g.minimum, g.maximum, g.doubles
        from %s $7, $8, %s, $9, $10) g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.run_numbers($1, $2,'
        else 'logloom_private.grouped_codes($1, $2, $5, $6,' end,
      case
        when v_number.numbers is not null then '$11'
        when v_number.wide_numbers is not null then '$12'
        when v_number.kind = 'dictionary' and not p_exact then '$14'
        else '$13'
      end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, v_number.first, v_number.last, p_exact, p_doubles, v_number.numbers,
      v_number.wide_numbers,
      case when v_number.kind not in ('numbers', case when p_exact then '' else 'dictionary' end)
        then logloom_private.column_numbers(v_number) end,
      -- Converts each dictionary value to a double only once.
      case when v_number.kind = 'dictionary' and not p_exact
        then logloom_private.dictionary_values(v_number, array(
          select logloom_private.finite_double(logloom_private.json_number(d.value::jsonb))
          from unnest(v_number.dictionary) with ordinality d (value, n)
          order by d.n
        )) end;
  end if;
end;
$$;
