-- SQL from "where" on: what where after an aggregate asks, the keys of sort, then p_order, and the
-- least of both limits. p_sql: by the name of an aggregate or a group the columns that it is sorted
-- by, an array.
create function logloom_private.chosen_rows_sql(
  p_plan jsonb,
  p_sql jsonb,
  p_order text,
  p_limit integer
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_having constant text := (
    select string_agg(
      format(
        '%s %s %L::double precision', p_sql -> (h ->> 'name') ->> 0,
        case h ->> 'operator' when '!=' then '<>' else h ->> 'operator' end, h ->> 'number'
      ),
      ' and '
    )
    from jsonb_array_elements(p_plan -> 'having') h
  );
  v_keys constant text := (
    select string_agg(
      s.sql || case when (k.key -> 'descending')::boolean then ' desc' else '' end
        || ' nulls last',
      ', ' order by k.n, s.n
    )
    from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    cross join lateral jsonb_array_elements_text(p_sql -> (k.key ->> 'name'))
      with ordinality s (sql, n)
  );
begin
  return format(
    'where %s order by %s limit %s', coalesce(v_having, 'true'),
    concat_ws(', ', v_keys, p_order), least(p_limit, (p_plan -> 'limit')::integer)
  );
end;
$$;
