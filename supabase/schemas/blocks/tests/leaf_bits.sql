-- Which of p_values pass a test: SQL over the alias l, of which p_field is the value, and for attrs
-- an object with p_key alone. A bit each.
-- Of each value whether a test, SQL over l, is true: 1 or 0. p_values of attrs are JSON texts of
-- its key p_key.
create function logloom_private.tested_values(
  p_test text,
  p_field text,
  p_key text,
  p_values text[]
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_bits text;
begin
  execute format(
    $query$
      select string_agg(case when (%1$s) is true then '1' else '0' end, '' order by l.n)
      from (
        select %2$s as %3$I, v.n from unnest($1) with ordinality v (value, n)
      ) l
    $query$,
    p_test,
    case when p_field = 'attrs'
      then format('jsonb_build_object(%L::text, v.value::jsonb)', p_key) else 'v.value' end,
    p_field
  )
  into v_bits
  using p_values;
  return v_bits;
end;
$$;

-- A leaf that asks for one column.
-- A leaf over a column that it alone reads: a bit a record.
create function logloom_private.column_bits(
  p_column logloom_private.block_columns,
  p_leaf jsonb,
  p_records integer
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- The values of a dictionary are no constants to plan with.
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_test constant text := logloom_private.query_sql(p_leaf, 'l');
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  -- What a dictionary of a field does not hold, no record has, unless letter case is ignored.
  if p_column.kind = 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and not p_leaf ? 'fold' and not p_column.dictionary && array(
      select v from jsonb_array_elements_text(p_leaf -> 'values') v
    )
  then
    return logloom_private.no_bits(p_records);
  end if;
  -- One thing among many, a request above all: where it stands, not a test of each value.
  if p_column.kind <> 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and p_leaf - array['type', 'field', 'name', 'reads', 'test', 'values'] = '{}'
  then
    v_each := logloom_private.column_texts(p_column, null);
    return logloom_private.position_bits(
      array(
        select distinct p_column.first - 1 + p.position
        from jsonb_array_elements_text(p_leaf -> 'values') v (value)
        cross join lateral unnest(array_positions(v_each, v.value)) p (position)
        order by 1
      ),
      p_records
    );
  end if;
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind = 'dictionary' then
    v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
    if v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
    elsif not v_absent and strpos(v_flags, '1') = 0 then
      return logloom_private.no_bits(p_records);
    elsif v_codes is not null then
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
      into v_bits
      from unnest(v_codes) with ordinality c (code, n);
    else
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
      from unnest(v_wide_codes) with ordinality c (code, n);
    end if;
  elsif p_column.kind = 'numbers' and p_leaf ->> 'test' = 'range' and v_field = 'attrs'
    -- A path that goes on within the value finds nothing in a number.
    and (jsonb_array_length(p_leaf -> 'path') = 1 or v_key = p_leaf ->> 'joined')
  then
    -- Beyond what the column holds a bound decides nothing.
    v_lower := p_leaf ->> 'lower';
    v_upper := p_leaf ->> 'upper';
    if v_lower > p_column.greatest or v_upper < p_column.least then
      return logloom_private.no_bits(p_records);
    end if;
    v_lower := case
      when v_lower is null then p_column.least
      when (p_leaf ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
      else greatest(ceil(v_lower), p_column.least)
    end;
    v_upper := case
      when v_upper is null then p_column.greatest
      when (p_leaf ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
      else least(floor(v_upper), p_column.greatest)
    end;
    if v_numbers is not null then
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(v_numbers) with ordinality c (v, n);
    else
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(p_column.wide_numbers) with ordinality c (v, n);
    end if;
  else
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
end;
$$;

-- A leaf over attrs: a bit a record.
create function logloom_private.attribute_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys constant text[] := array_remove(
    array[p_leaf -> 'path' ->> 0, p_leaf ->> 'joined'], null
  );
  v_column logloom_private.block_columns;
  v_rest text[];
  v_count integer := 0;
  v_found logloom_private.block_columns;
  v_bits text;
begin
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name = any(array_prepend('attrs', array(select 'attrs.' || k from unnest(v_keys) k)))
  loop
    if v_column.name = 'attrs' then
      v_rest := case when v_column.kind = 'dictionary' then v_column.dictionary else '{[]}' end;
    else
      v_count := v_count + 1;
      v_found := v_column;
    end if;
  end loop;
  if v_count = 1 and v_rest = array['{}'] then
    return logloom_private.column_bits(v_found, p_leaf, p_block.records);
  elsif v_count = 0 and coalesce(v_rest, '{}') <@ array['{}'] then
    return repeat(
      logloom_private.tested_values(
        logloom_private.query_sql(p_leaf, 'l'), 'attrs', '', array[null::text]
      ),
      p_block.records
    )::varbit;
  end if;
  execute format(
    $query$
      select string_agg(case when (%s) is true then '1' else '0' end, '' order by l.n)
      from unnest($1) with ordinality l (attrs, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_bits
  using logloom_private.block_attributes(p_block, null, v_keys);
  return v_bits::varbit;
end;
$$;

-- A leaf over service and level, which runs decide.
-- A leaf over service or level: a bit a record.
create function logloom_private.run_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_flags boolean[];
begin
  execute format(
    $query$
      select array_agg((%s) is true order by l.n)
      from unnest($1, $2) with ordinality l (service, level, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_flags
  using p_block.run_services, p_block.run_levels;
  return logloom_private.bits_of_runs(v_flags, p_block.run_records);
end;
$$;

-- A leaf over any text of a record: each column tells its part. Of what templates do not decide the
-- row filter has the last word. A leaf over any text of a record: the bits that are sure, and those
-- that may be.
create function logloom_private.any_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_test constant text[] := logloom_private.query_text_test(p_leaf);
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s(l.attrs #>> ''{}'')%s end',
    logloom_private.query_sql(p_leaf, 'l'), v_test[1], v_test[2]
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.block_columns;
  v_values text[];
  v_flags boolean[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_block, p_leaf || '{"field": "msg", "name": "msg"}');
  execute 'select array_agg((' || v_test[1] || 'l.service' || v_test[2] || ' or '
    || v_test[1] || 'l.level' || v_test[2] || ') is true order by l.n) '
    || 'from unnest($1, $2) with ordinality l (service, level, n)'
  into v_flags
  using p_block.run_services, p_block.run_levels;
  v_found := logloom_private.bits_of_runs(v_flags, p_block.run_records);
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column, null) end;
    execute 'select string_agg(case when ('
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else v_test[1] || 'l.value' || v_test[2] end
      || ') is true then ''1'' else ''0'' end, '''' order by l.n) from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value, v.n from unnest($1) with ordinality v (value, n)) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      select string_agg(
        coalesce(v_values[coalesce(c.code::integer + 129, c.wide_code)], '0'), '' order by c.n
      )
      into v_bits
      from unnest(v_column.codes, v_column.wide_codes) with ordinality c (code, wide_code, n);
    end if;
    v_found := v_found
      | logloom_private.widen_bits(v_bits, v_column.first, p_block.records, false);
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$$;
