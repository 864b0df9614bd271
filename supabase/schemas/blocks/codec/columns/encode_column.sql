-- Encodes values as a column of whole numbers. Returns null if one of them is not a whole number.
create function logloom_private.encode_numbers(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_joined constant text := array_to_string(p_values, ' ');
begin
  -- Only the shortest form of a number can be restored.
  if v_joined !~ '^(?:(?:0|-?[1-9][0-9]{0,17})(?: (?=.)|$))+$'
    -- A value such as '1 2' would look like two numbers.
    or octet_length(v_joined) - octet_length(replace(v_joined, ' ', ''))
      >= cardinality(array_remove(p_values, null))
  then
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

-- Adds the codes of values. A code is the place of the value in the dictionary: one byte if all
-- places fit, else two. If all values are equal, there are no codes. The code of null is null.
create function logloom_private.coded_column(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  v_dictionary constant text[] := p_column.dictionary;
begin
  if cardinality(v_dictionary) = 1 and array_position(p_values, null) is null then
    return p_column;
  elsif cardinality(v_dictionary) <= 256 then
    p_column.codes := array(
      select (d.code::integer - 129)::"char"
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  else
    p_column.wide_codes := array(
      select d.code::smallint
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  end if;
  return p_column;
end;
$$;

-- Encodes values as templates and digits. Null if there are many templates or a U+001F.
create function logloom_private.encode_templated(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  v_separator constant text := e'\x1f';
  v_templates text[];
  v_joined text[];
begin
  if logloom_private.separator_for(array_to_string(p_values, ' ')) <> v_separator then
    return null;
  end if;
  v_templates := logloom_private.templates_of(p_values, v_separator);
  -- string_agg keeps the values of a group in their order.
  select array_agg(g.template), array_agg(g.count), array_agg(g.joined)
  into p_column.dictionary, p_column.counts, v_joined
  from (
    select u.template, count(*) as count, string_agg(u.v, v_separator) as joined
    from (select unnest(p_values) as v, unnest(v_templates) as template) u
    where u.template is not null
    group by u.template
    order by count(*) desc, u.template collate "C"
  ) g;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column := logloom_private.coded_column(p_column, v_templates);
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'templated';
  return p_column;
end;
$$;

-- Encodes hexadecimal ids as bytes. An id is a UUID or only digits, bare or as a JSON text. Returns
-- null if the ids differ in form or length, or if no id has a letter.
create function logloom_private.encode_hexadecimal(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_separator constant text := e'\x1f';
  v_held constant text[] := array_remove(p_values, null);
  v_template constant text := translate(v_held[1], '0123456789abcde', 'fffffffffffffff');
  v_joined text;
begin
  if v_template !~ '^("?)(?:(?:ff){4,32}|f{8}-f{4}-f{4}-f{4}-f{12})\1$' then
    return null;
  end if;
  v_joined := array_to_string(v_held, v_separator);
  p_column.counts := array[cardinality(v_held)];
  if v_joined !~ '[a-f]'
    or translate(v_joined || v_separator, '0123456789abcde', 'fffffffffffffff')
      <> repeat(v_template || v_separator, p_column.counts[1])
  then
    return null;
  end if;
  p_column.dictionary := array[v_template];
  p_column.digits := decode(translate(v_joined, '-"' || v_separator, ''), 'hex');
  p_column.kind := 'hexadecimal';
  return logloom_private.coded_column(
    p_column, array(select case when v is not null then v_template end from unnest(p_values) v)
  );
end;
$$;

-- Encodes values in the kind of column that needs the fewest bytes. Needs a value other than null.
create function logloom_private.shortest_column(
  p_column logloom_private.block_columns,
  p_values text[]
)
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  v_column logloom_private.block_columns := p_column;
  v_encoded logloom_private.block_columns;
begin
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;
  select array_agg(g.v), array_agg(g.count)
  into v_column.dictionary, v_column.counts
  from (
    select u.v, count(*)::integer as count
    from (select unnest(p_values) as v) u
    group by u.v
  ) g
  where g.v is not null;
  if cardinality(v_column.dictionary) * 3 <= cardinality(p_values) then
    -- Sorts by frequency only now that the values are known to be few.
    select array_agg(g.v), array_agg(g.count)
    into v_column.dictionary, v_column.counts
    from (
      select u.v, u.count
      from unnest(v_column.dictionary, v_column.counts) u (v, count)
      order by u.count desc, u.v collate "C"
    ) g;
    return logloom_private.coded_column(v_column, p_values);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_hexadecimal(v_column, p_values);
  end if;
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_templated(v_column, p_values);
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$$;

-- Counts the nulls before the first value and after the last one. p_nulls has the positions of all
-- nulls in a column of p_count positions.
create function logloom_private.outer_nulls(
  p_nulls integer[],
  p_count integer,
  out before integer,
  out after integer
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last constant integer := cardinality(p_nulls);
  v_most integer := v_last;
  v_try integer;
begin
  before := 0;
  while before < v_most loop
    v_try := (before + v_most + 1) / 2;
    if p_nulls[v_try] = v_try then
      before := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
  after := 0;
  v_most := v_last;
  while after < v_most loop
    v_try := (after + v_most + 1) / 2;
    if p_nulls[v_last + 1 - v_try] = p_count + 1 - v_try then
      after := v_try;
    else
      v_most := v_try - 1;
    end if;
  end loop;
end;
$$;

-- Encodes a column whose first value is at position p_first of a block. Drops the nulls at both
-- ends. Returns null if all values are null. The column attrs keeps its nulls, because it has to
-- cover every record.
create function logloom_private.encode_column(p_name text, p_first integer, p_values text[])
returns logloom_private.block_columns
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values text[] := p_values;
  v_column logloom_private.block_columns;
  v_outer record;
  v_first integer := 1;
  v_last integer := cardinality(p_values);
begin
  if p_values[1] is null or p_values[v_last] is null then
    v_outer := logloom_private.outer_nulls(array_positions(p_values, null), v_last);
    if v_outer.before = v_last then
      return null;
    elsif p_name <> 'attrs' then
      v_first := 1 + v_outer.before;
      v_last := v_last - v_outer.after;
      v_values := p_values[v_first:v_last];
    end if;
  end if;
  v_column.name := p_name;
  v_column.first := p_first + v_first - 1;
  v_column.last := p_first + v_last - 1;
  v_column := logloom_private.shortest_column(v_column, v_values);
  if exists (
    select from unnest(logloom_private.record_fields()) f where f.name = p_name and f.bloom
  ) then
    if v_column.kind <> 'dictionary' then
      v_column.filter := logloom_private.value_filter(v_values);
    elsif cardinality(v_column.dictionary) > 256 then
      v_column.filter := logloom_private.value_filter(v_column.dictionary);
    end if;
  end if;
  return v_column;
end;
$$;
