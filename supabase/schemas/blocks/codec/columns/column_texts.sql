-- The texts at ascending positions of a column that is kept as templates and digits.
create function logloom_private.templated_texts_at(
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
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_at constant integer[] := array(select p - v_first from unnest(p_positions) p);
  v_found integer[];
  v_wanted integer[];
  v_templates text[];
  v_counts integer[];
  v_places integer[];
begin
  v_found := array(
    select
      case when v_codes is null and v_wide_codes is null then 1
        else coalesce(v_codes[p.place]::integer + 129, v_wide_codes[p.place]) end
    from unnest(v_at) with ordinality p (place, n)
    order by p.n
  );
  -- A template without digits is the value.
  v_wanted := array(
    select d.code
    from (select distinct f from unnest(v_found) f) d (code)
    where strpos(v_dictionary[d.code], '0') > 0
    order by d.code
  );
  -- Before a value stand the digits of the templates of lower codes and those of its own template
  -- at lower positions.
  with lower as (
    select l.n, sum(sum(l.digits)) over (order by l.n) as digits
    from (
      -- How many of the codes that are found are not above this one.
      select
        width_bucket(d.code::integer, v_wanted) as n,
        d.count * (octet_length(d.template) - octet_length(replace(d.template, '0', ''))) as digits
      from unnest(v_dictionary, p_column.counts) with ordinality d (template, count, code)
      where d.code < v_wanted[cardinality(v_wanted)]
    ) l
    group by l.n
  ), places as (
    -- To look for one code takes a twentieth of what it takes to gather the places of all.
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
          generate_series(1, coalesce(cardinality(v_codes), cardinality(v_wide_codes))) as place
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
    array_agg(v_dictionary[f.code] order by f.n), array_agg(m.digits order by f.n),
    array_agg(
      m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) order by f.n
    )
  into v_templates, v_counts, v_places
  from unnest(v_found, v_at) with ordinality f (code, place, n)
  left join templates m on m.code = f.code;
  -- "|| ''" reads what is stored once, not at each use.
  return logloom_private.fill_each(
    v_templates, v_counts, v_places, p_column.digits || ''::bytea
  );
end;
$$;

-- The texts of a column that is kept as templates and digits.
create function logloom_private.templated_texts(p_column logloom_private.block_columns)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  -- The digits lie in the order of (code, position).
  v_texts text[] := logloom_private.fill_templates(
    p_column.dictionary, p_column.counts, p_column.digits || ''::bytea, e'\x1f'
  );
  v_codes "char"[] := p_column.codes;
  v_numbers integer[];
  v_places integer[];
begin
  v_numbers := case when v_codes is null then p_column.wide_codes::integer[]
    else array(select unnest(v_codes)::integer + 129) end;
  if v_numbers is null then
    return v_texts;
  end if;
  v_places := array(
    select c.place
    from (
      select unnest(v_numbers) as code, generate_series(1, cardinality(v_numbers)) as place
    ) c
    -- Positions without a value come last, where no text is left.
    order by c.code, c.place
  );
  return array(
    select t.value
    from (select unnest(v_texts) as value, unnest(v_places) as place) t
    order by t.place
  );
end;
$$;

-- The values of a column at ascending positions within it, all where null.
create function logloom_private.column_texts(
  p_column logloom_private.block_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_wide_numbers bigint[] := p_column.wide_numbers;
  v_texts text[];
begin
  if p_column.kind = 'texts' then
    v_texts := p_column.texts;
    if p_positions is null then
      return v_texts;
    end if;
    return logloom_private.texts_at(
      v_texts, array(select p - v_first from unnest(p_positions) p)
    );
  elsif p_column.kind = 'numbers' and p_positions is null then
    return coalesce(v_numbers::text[], v_wide_numbers::text[]);
  elsif p_column.kind = 'numbers' then
    return array(
      select coalesce(v_numbers[p.position - v_first], v_wide_numbers[p.position - v_first])::text
      from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  elsif p_column.kind = 'templated' and p_positions is null then
    return logloom_private.templated_texts(p_column);
  elsif p_column.kind = 'templated' then
    return logloom_private.templated_texts_at(p_column, p_positions);
  elsif v_codes is null and v_wide_codes is null then
    return array_fill(
      v_dictionary[1], array[coalesce(cardinality(p_positions), p_column.last - v_first)]
    );
  elsif v_codes is not null and p_positions is null then
    return array(select v_dictionary[unnest(v_codes)::integer + 129]);
  elsif p_positions is null then
    return array(select v_dictionary[unnest(v_wide_codes)]);
  end if;
  return array(
    select v_dictionary[coalesce(
      v_codes[p.position - v_first]::integer + 129, v_wide_codes[p.position - v_first]
    )]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;
