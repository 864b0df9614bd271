-- Elements of an array of texts, which are found by walking over those before them: for many it is
-- better to walk once.
create function logloom_private.texts_at(p_texts text[], p_places integer[])
returns text[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  if cardinality(p_places) < 20 then
    return array(
      select p_texts[p.place] from unnest(p_places) with ordinality p (place, n) order by p.n
    );
  end if;
  return array(
    select t.value
    from unnest(p_texts) with ordinality t (value, n)
    where t.n::integer = any(p_places)
    order by t.n
  );
end;
$$;

revoke all on function logloom_private.texts_at(text[], integer[]) from public;

comment on function logloom_private.texts_at(text[], integer[]) is
  'The elements at ascending places.';

-- The texts of a column at positions of the chunk that lie within it, ascending; all where null.
-- Elements of an array, each found at once: in a plan made for these values the array would be a
-- constant, which is walked over from its beginning for each element of a length of its own.
create function logloom_private.elements_at(p_values anyarray, p_places integer[])
returns anyarray
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(select p_values[unnest(p_places)]);
end;
$$;

revoke all on function logloom_private.elements_at(anyarray, integer[]) from public;

comment on function logloom_private.elements_at(anyarray, integer[]) is
  'The elements of an array at places, in that order; null at a place that is null.';

create function logloom_private.column_texts(
  p_column logloom_private.sealed_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers bigint[];
  v_texts text[];
begin
  if p_column.kind = 'texts' or p_column.kind = 'numbers' then
    if p_column.kind = 'texts' then
      v_texts := p_column.texts;
    elsif p_column.numbers is not null then
      v_texts := p_column.numbers::text[];
    else
      v_texts := p_column.wide_numbers::text[];
    end if;
    if p_positions is null then
      return v_texts;
    end if;
    return logloom_private.texts_at(
      v_texts, array(select p - v_first from unnest(p_positions) p)
    );
  elsif p_column.kind = 'masked' then
    return logloom_private.masked_texts(p_column, p_positions);
  elsif v_codes is null and v_wide_codes is null then
    return array_fill(
      v_dictionary[1], array[coalesce(cardinality(p_positions), p_column.last - v_first)]
    );
  elsif v_codes is not null and p_positions is null then
    return logloom_private.elements_at(
      v_dictionary, array(select unnest(v_codes)::integer + 129)
    );
  elsif p_positions is null then
    return logloom_private.elements_at(v_dictionary, v_wide_codes::integer[]);
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

revoke all on function logloom_private.column_texts(
  logloom_private.sealed_columns, integer[]
) from public;

comment on function logloom_private.column_texts(logloom_private.sealed_columns, integer[]) is
  'The values of a column at ascending positions within it, all where null.';

create function logloom_private.masked_texts(
  p_column logloom_private.sealed_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_digits bytea := p_column.digits;
  v_texts text[];
begin
  -- The digits lie in the order of (code, position).
  with c as materialized (
    select coalesce(a.code::integer + 129, a.wide_code, 1) as code, a.n
    from unnest(
      p_column.codes, p_column.wide_codes,
      case when p_column.codes is null and p_column.wide_codes is null
        then array_fill(1, array[p_column.last - v_first]) end
    ) with ordinality a (code, wide_code, one, n)
    where coalesce(a.code::integer, a.wide_code, a.one) is not null
  ), w as materialized (
    select
      d.code, d.mask, octet_length(d.mask) - octet_length(replace(d.mask, '0', '')) as digits
    from unnest(v_dictionary) with ordinality d (mask, code)
  ), placed as (
    select
      c.n, w.mask, w.digits,
      sum(w.digits) over (order by c.code, c.n rows unbounded preceding) - w.digits as place
    from c join w on w.code = c.code
  ), wanted as materialized (
    select p.*
    from placed p
    where p_positions is null or p.n + v_first = any(p_positions)
  ), texts as (
    select
      w.n,
      format(
        replace(replace(w.mask, '%', '%%'), '0', '%s'),
        variadic string_to_array(
          substr(
            encode(
              substring(v_digits from (w.place / 2)::integer + 1 for w.digits / 2 + 1), 'hex'
            ),
            1 + (w.place % 2)::integer, w.digits
          ),
          null
        )
      ) as text
    from wanted w
  )
  select array_agg(t.text order by n.n) into v_texts
  from (
    select i as n from generate_series(1, p_column.last - v_first) i where p_positions is null
    union all
    select p - v_first from unnest(p_positions) p
  ) n
  left join texts t on t.n = n.n;
  return v_texts;
end;
$$;

revoke all on function logloom_private.masked_texts(
  logloom_private.sealed_columns, integer[]
) from public;

comment on function logloom_private.masked_texts(logloom_private.sealed_columns, integer[]) is
  'The texts of a column that is kept as masks and digits.';
