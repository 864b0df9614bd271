-- Lists the fields that blocks store as columns, in the order of record_arrays.columns.
create function logloom_private.column_fields()
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.block = 'column'
    order by f.ordinality
  );
end;
$$;

-- Returns the elements of an array at p_places, in this order. A null place gives null. Needs the
-- generic plan. A custom plan has the array as a constant and searches it from the beginning for
-- each element.
create function logloom_private.elements_at(p_values anyarray, p_places integer[])
returns anyarray
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(select p_values[unnest(p_places)]);
end;
$$;

-- Returns for every position of a column the element of p_each at the value's dictionary place.
create function logloom_private.dictionary_values(
  p_column logloom_private.block_columns,
  p_each anyarray
)
returns anyarray
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
begin
  if p_column.codes is not null then
    return array(select p_each[unnest(p_column.codes)::integer + 129]);
  elsif p_column.wide_codes is not null then
    return array(select p_each[unnest(p_column.wide_codes)]);
  end if;
  return array_fill(p_each[1], array[p_column.last - p_column.first + 1]);
end;
$$;

-- Returns values of a column of the kind hexadecimal. p_places: places in the column, from 1.
create function logloom_private.hexadecimal_texts(
  p_column logloom_private.block_columns,
  p_places integer[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_template constant text := p_column.dictionary[1];
  v_quote constant text := case when left(v_template, 1) = '"' then '"' else '' end;
  v_size constant integer := octet_length(translate(v_template, '-"', '')) / 2;
  -- "|| ''" reads the stored value once, not at each use.
  v_digits constant bytea := p_column.digits || ''::bytea;
  -- The places with a value; null if every place has a value.
  v_held constant integer[] := array_positions(p_column.codes, (-128)::"char");
begin
  if v_held is not null then
    -- Turns each place into the number of its value; null if the place has no value.
    p_places := array(
      select case when v_held[w.n] = w.place then w.n end
      from (select p as place, width_bucket(p, v_held) as n from unnest(p_places) p) w
    );
  end if;
  return array(
    select
      v_quote || case when v_template like '%-%' then d.digits::uuid::text else d.digits end
        || v_quote
    from (
      select encode(substr(v_digits, (p - 1) * v_size + 1, v_size), 'hex') as digits
      from unnest(p_places) p
    ) d
  );
end;
$$;

-- Returns the values of a column, one for each position from its first to its last.
create function logloom_private.column_texts(p_column logloom_private.block_columns)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_texts text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return p_column.texts;
  elsif p_column.kind = 'numbers' then
    return coalesce(p_column.numbers::text[], p_column.wide_numbers::text[]);
  elsif p_column.kind = 'hexadecimal' then
    return logloom_private.hexadecimal_texts(
      p_column, array(select generate_series(1, p_column.last - p_column.first + 1))
    );
  elsif p_column.kind = 'templated' then
    -- The filled texts are in the order of (code, position).
    v_texts := logloom_private.fill_templates(
      v_texts, p_column.counts, p_column.digits || ''::bytea, e'\x1f'
    );
    if v_codes is null and v_wide_codes is null then
      return v_texts;
    end if;
    v_places := array(
      select c.place
      from (
        select
          unnest(v_codes)::integer + 129 as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) c
      -- Positions without a value come last, because v_texts has no text for them.
      order by coalesce(c.code, c.wide_code), c.place
    );
    return array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  end if;
  return logloom_private.dictionary_values(p_column, v_texts);
end;
$$;

-- Returns the values of a column at p_positions of the block (ascending). All positions must be in
-- the column.
create function logloom_private.column_texts_at(
  p_column logloom_private.block_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_at constant integer[] := array(select p - p_column.first + 1 from unnest(p_positions) p);
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_found integer[];
  v_wanted integer[];
  v_templates text[];
  v_counts integer[];
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return logloom_private.elements_at(p_column.texts, v_at);
  elsif p_column.kind = 'numbers' then
    return case when p_column.numbers is not null
      then logloom_private.elements_at(p_column.numbers, v_at)::text[]
      else logloom_private.elements_at(p_column.wide_numbers, v_at)::text[] end;
  elsif p_column.kind = 'hexadecimal' then
    return logloom_private.hexadecimal_texts(p_column, v_at);
  end if;
  v_found := case
    when v_codes is not null then array(select v_codes[unnest(v_at)]::integer + 129)
    when v_wide_codes is not null then array(select v_wide_codes[unnest(v_at)])
    else array_fill(1, array[cardinality(v_at)])
  end;
  if p_column.kind = 'dictionary' then
    return array(select v_dictionary[unnest(v_found)]);
  end if;

  -- A template without digits is the value itself.
  v_wanted := array(
    select d.code
    from (select distinct f from unnest(v_found) f) d (code)
    where strpos(v_dictionary[d.code], '0') > 0
    order by d.code
  );
  -- The digits are stored by code, then by position. A value's digits come after the digits of all
  -- templates with lower codes. Within a template, they are ordered by position.
  with lower as (
    select l.n, sum(sum(l.digits)) over (order by l.n) as digits
    from (
      -- n: how many of the wanted codes are less than or equal to this code.
      select
        width_bucket(d.code::integer, v_wanted) as n,
        d.count * (octet_length(d.template) - octet_length(replace(d.template, '0', ''))) as digits
      from unnest(v_dictionary, p_column.counts) with ordinality d (template, count, code)
      where d.code < v_wanted[cardinality(v_wanted)]
    ) l
    group by l.n
  ), places as (
    -- Searching for one code takes a twentieth of the time of collecting the places of all codes.
    select
      d.code,
      case when v_codes is null then array_positions(v_wide_codes, d.code::smallint)
        else array_positions(v_codes, (d.code - 129)::"char") end as places
    from unnest(v_wanted) d (code)
    where cardinality(v_wanted) <= 20
    union all
    select a.code, array_agg(a.place order by a.place)
    from (
      select coalesce(u.code::integer + 129, u.wide_code) as code, u.place
      from (
        select
          unnest(v_codes) as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) u
    ) a
    join unnest(v_wanted) d (code) on d.code = a.code
    where cardinality(v_wanted) > 20
    group by a.code
  ), templates as materialized (
    select
      d.code, octet_length(d.template) - octet_length(replace(d.template, '0', '')) as digits,
      coalesce(l.digits, 0)::integer as before, p.places
    from (
      select u.code, v_dictionary[u.code] as template, u.n
      from unnest(v_wanted) with ordinality u (code, n)
      offset 0
    ) d
    left join lower l on l.n = d.n - 1
    left join places p on p.code = d.code
  )
  select
    array_agg(v_dictionary[v.code] order by v.n), array_agg(v.digits order by v.n),
    array_agg(v.place order by v.n)
  into v_templates, v_counts, v_places
  from (
    select
      f.code, f.n, m.digits,
      m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) as place
    from unnest(v_found, v_at) with ordinality f (code, place, n)
    left join templates m on m.code = f.code
    -- Without "offset 0" PostgreSQL would sort the places of a template once for each value.
    offset 0
  ) v;
  -- "|| ''" reads the stored value once, not at each use.
  return logloom_private.fill_each(
    v_templates, v_counts, v_places, p_column.digits || ''::bytea
  );
end;
$$;
