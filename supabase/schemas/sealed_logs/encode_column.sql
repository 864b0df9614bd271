-- A column of a chunk: the texts of a field, or the JSON texts of a key of attrs.

create function logloom_private.encode_numbers(
  p_column logloom_private.sealed_columns,
  p_values text[]
)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_joined constant text := array_to_string(p_values, ' ');
begin
  -- Whole numbers whose text is their shortest: nothing is lost.
  if v_joined !~ '^(?:(?:0|-?[1-9][0-9]{0,17})(?: (?=.)|$))+$' then
    return null;
  end if;
  p_column.wide_numbers := p_values::bigint[];
  select min(v), max(v) into p_column.least, p_column.greatest from unnest(p_column.wide_numbers) v;
  p_column.kind := 'numbers';
  if p_column.least >= -2147483648 and p_column.greatest <= 2147483647 then
    p_column.numbers := p_values::integer[];
    p_column.wide_numbers := null;
  end if;
  return p_column;
end;
$$;

revoke all on function logloom_private.encode_numbers(
  logloom_private.sealed_columns, text[]
) from public;

comment on function logloom_private.encode_numbers(logloom_private.sealed_columns, text[]) is
  'A column of whole numbers; null where a value is none.';

create function logloom_private.encode_masked(
  p_column logloom_private.sealed_columns,
  p_values text[]
)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_separator constant text := logloom_private.separator_for(array_to_string(p_values, ' '));
  v_joined text[];
begin
  if v_separator <> e'\x1f' then
    return null;
  end if;
  with v as materialized (
    select u.v, logloom_private.mask_of(u.v) as mask, u.n
    from unnest(p_values) with ordinality u (v, n)
  ), g as materialized (
    select
      m.mask, count(m.mask) as count, string_agg(m.v, v_separator) as joined,
      row_number() over (order by count(m.mask) desc, m.mask collate "C") as code
    from (select v.* from v where v.mask is not null order by v.mask collate "C", v.n) m
    group by m.mask
  )
  select
    (select array_agg(g.mask order by g.code) from g),
    (select array_agg(g.count order by g.code) from g),
    (select array_agg(g.joined order by g.code) from g),
    array_agg(g.code order by v.n)
  into p_column.dictionary, p_column.counts, v_joined, p_column.wide_codes
  from v left join g on g.mask = v.mask;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'masked';
  return p_column;
end;
$$;

revoke all on function logloom_private.encode_masked(
  logloom_private.sealed_columns, text[]
) from public;

comment on function logloom_private.encode_masked(logloom_private.sealed_columns, text[]) is
  'A column of masks and digits; null where it has too many masks.';

-- Codes of one byte where they fit.
create function logloom_private.narrow_codes(p_column logloom_private.sealed_columns)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if cardinality(p_column.dictionary) = 1 and array_position(p_column.wide_codes, null) is null then
    p_column.wide_codes := null;
  elsif cardinality(p_column.dictionary) <= 256 then
    select array_agg((c.code - 129)::"char" order by c.n) into p_column.codes
    from unnest(p_column.wide_codes) with ordinality c (code, n);
    p_column.wide_codes := null;
  end if;
  return p_column;
end;
$$;

revoke all on function logloom_private.narrow_codes(logloom_private.sealed_columns) from public;

comment on function logloom_private.narrow_codes(logloom_private.sealed_columns) is
  'A column with codes of one byte where they fit, and none where all values are one.';

-- p_values begins at position p_first of the chunk. A column of nulls is null.
create function logloom_private.encode_column(p_name text, p_first integer, p_values text[])
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_column logloom_private.sealed_columns;
  v_encoded logloom_private.sealed_columns;
  v_distinct integer;
begin
  v_column.name := p_name;
  v_column.first := p_first;
  v_column.last := p_first + cardinality(p_values) - 1;
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    if p_values[1] is null then
      return null;
    end if;
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;

  with u as materialized (
    select x.v, x.n from unnest(p_values) with ordinality x (v, n)
  ), g as materialized (
    select
      u.v, count(*) as count, row_number() over (order by count(*) desc, u.v collate "C") as code
    from u
    where u.v is not null
    group by u.v
  ), c as (
    select g.code, u.n from u left join g on g.v = u.v
  )
  select
    (select array_agg(g.v order by g.code) from g),
    (select array_agg(g.count order by g.code) from g),
    case when (select count(*) from g) * 3 <= cardinality(p_values)
      then array_agg(c.code order by c.n) end
  into v_column.dictionary, v_column.counts, v_column.wide_codes
  from c;
  if v_column.wide_codes is not null then
    return logloom_private.narrow_codes(v_column);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_masked(v_column, p_values);
    if v_encoded.kind is not null then
      v_encoded := logloom_private.narrow_codes(v_encoded);
    end if;
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$$;

revoke all on function logloom_private.encode_column(text, integer, text[]) from public;

comment on function logloom_private.encode_column(text, integer, text[]) is
  'Values from position p_first of a chunk on as the shortest kind of column; null where all are '
  'null.';
