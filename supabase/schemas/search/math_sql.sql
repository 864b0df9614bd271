-- Computes one step of math. Null if the result is not a finite number, or too small for a double.
-- The remainder (%) is computed on decimals and has the sign of the left number.
create function logloom_private.math_step(
  p_left double precision,
  p_operator text,
  p_right double precision
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_operator
    when '+' then p_left + p_right
    when '-' then p_left - p_right
    when '*' then p_left * p_right
    when '/' then p_left / p_right
    else mod(p_left::text::numeric, p_right::text::numeric)::double precision
  end;
exception when numeric_value_out_of_range or division_by_zero then
  return null;
end;
$$;

-- Builds the SQL of a formula (query/parse_math.sql). p_names: the names of g.v1, g.v2 ….
create function logloom_private.formula_sql(p_formula jsonb, p_names text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_formula ? 'number' then format('%L::double precision', p_formula ->> 'number')
    when p_formula ? 'result' then 'g.v' || array_position(p_names, p_formula ->> 'result')
    else format(
      'logloom_private.math_step(%s, %L, %s)',
      logloom_private.formula_sql(p_formula -> 'items' -> 0, p_names), p_formula ->> 'operator',
      logloom_private.formula_sql(p_formula -> 'items' -> 1, p_names)
    )
  end;
end;
$$;

-- Adds the results of math to p_select. p_select selects the aggregates v1, v2 …. The results get
-- the next numbers.
create function logloom_private.math_sql(p_select text, p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := logloom_private.query_result_names(p_plan);
  v_first constant integer := cardinality(v_names) - jsonb_array_length(p_plan -> 'math');
begin
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'math'), 0) - 1 loop
    -- "offset 0" computes each result once, however often the next ones use it.
    p_select := format(
      'select g.*, %s as v%s from (%s) g offset 0',
      logloom_private.formula_sql(p_plan -> 'math' -> v_at -> 'formula', v_names[:v_first + v_at]),
      v_first + v_at + 1, p_select
    );
  end loop;
  return p_select;
end;
$$;

-- Returns which of v1, v2 … is the value of a row: the last math, or else the first aggregate.
create function logloom_private.value_number(p_plan jsonb)
returns integer
language sql
immutable
return case when p_plan ? 'math' then cardinality(logloom_private.query_result_names(p_plan))
  else 1 end;

-- Builds the columns of a select. The n-th expression gets the name p_prefix followed by n.
create function logloom_private.numbered_sql(p_expressions text[], p_prefix text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(format('%s as %s%s', e.sql, p_prefix, e.n), ', ' order by e.n)
    from unnest(p_expressions) with ordinality e (sql, n)
  );
end;
$$;
