-- attrs of p_records records as JSON texts: p_values of the columns p_names, each from the record
-- p_first on.
create function logloom_private.few_attribute_texts(
  p_records integer,
  p_names text[],
  p_first integer[],
  p_values logloom_private.column_values[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  return array(
    select
      case
        when bool_or(p.is_rest)
          then '{' || coalesce(string_agg(p.text, ', '), '') || '}'
      end
    from generate_series(1, p_records) r (n)
    left join (
      select
        c.key is null as is_rest, c.first + t.n - 1 as n,
        case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
          else c.key || t.text end as text
      from (
        select
          v.texts, p_first[v.n] as first,
          case when p_names[v.n] <> 'attrs'
            then to_json(substr(p_names[v.n], 7)) || ': ' end as key
        from unnest(p_values) with ordinality v (texts, n)
        offset 0
      ) c
      cross join lateral unnest(c.texts) with ordinality t (text, n)
      where t.text is not null
    ) p on p.n = r.n
    group by r.n
    order by r.n
  );
end;
$$;

-- attrs at ascending positions of a block, or of all records, as JSON texts; of p_keys alone where
-- that is given. Rare keys come in any order.
create function logloom_private.attribute_texts(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_keys text[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_block.records);
  v_column logloom_private.block_columns;
  v_values logloom_private.column_values[] := '{}';
  v_bounds integer[] := array[1, v_records + 1];
  v_from integer[] := '{}';
  v_to integer[] := '{}';
  v_names text[] := '{}';
  v_within integer[];
  v_lower integer;
  v_upper integer;
  v_rest boolean;
  v_rest_is_empty boolean := false;
  v_arrays text;
  v_names_sql text;
  v_sql text;
  v_part text[];
  v_texts text[] := '{}';
begin
  -- The columns, and which of the wanted records each covers.
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and (
        c.name = 'attrs'
        or left(c.name, 6) = 'attrs.' and (p_keys is null or substr(c.name, 7) = any(p_keys))
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    v_within := null;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      v_within := p_positions[v_lower:v_upper];
    end if;
    continue when v_lower > v_upper;
    v_from := v_from || v_lower;
    v_to := v_to || v_upper;
    v_names := v_names || v_column.name;
    v_rest_is_empty := v_rest_is_empty or (
      v_column.name = 'attrs' and v_column.codes is null and v_column.wide_codes is null
      and v_column.dictionary = array['{}']
    );
    v_bounds := v_bounds || v_lower || (v_upper + 1);
    v_values := v_values || row(
      logloom_private.column_texts(v_column, v_within)
    )::logloom_private.column_values;
  end loop;

  -- A statement made for these columns has to be planned, which takes as long as many records.
  if v_records <= 400 then
    return logloom_private.few_attribute_texts(v_records, v_names, v_from, v_values);
  end if;

  -- Between two bounds the same columns cover all records.
  v_bounds := array(select distinct b from unnest(v_bounds) b order by b);
  for v_at in 1..cardinality(v_bounds) - 1 loop
    v_lower := v_bounds[v_at];
    v_upper := v_bounds[v_at + 1] - 1;
    v_rest := false;
    v_arrays := '';
    v_names_sql := '';
    v_sql := '';
    for v_name in 1..cardinality(v_names) loop
      continue when v_from[v_name] > v_lower or v_to[v_name] < v_upper;
      v_arrays := v_arrays || format(
        ', unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
        v_name, v_lower - v_from[v_name] + 1, v_upper - v_from[v_name] + 1
      );
      v_names_sql := v_names_sql || ', c' || v_name;
      if v_names[v_name] = 'attrs' then
        v_rest := true;
        v_sql := v_sql || format(', nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', v_name);
      else
        v_sql := v_sql || format(
          ', %L || c%s', to_json(substr(v_names[v_name], 7)) || ': ', v_name
        );
      end if;
    end loop;
    if not v_rest then
      -- No record of these has attributes.
      v_part := array_fill(null::text, array[v_upper - v_lower + 1]);
    elsif v_rest_is_empty and v_names_sql = ', c' || array_position(v_names, 'attrs') then
      -- All have the same, which is nothing.
      v_part := array_fill('{}'::text, array[v_upper - v_lower + 1]);
    else
      execute format(
        $query$
          select array(
            select
              case when u.c%s is not null then '{' || concat_ws(', ' %s) || '}' end
            from (select %s) u
          )
        $query$,
        array_position(v_names, 'attrs'), v_sql, substr(v_arrays, 3)
      )
      into v_part
      using v_values;
    end if;
    v_texts := v_texts || v_part;
  end loop;
  return v_texts;
end;
$$;
