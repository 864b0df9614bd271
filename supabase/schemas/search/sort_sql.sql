-- "order by" of the rows: the keys of sort, then p_default.
create function logloom_private.sort_sql(p_plan jsonb, p_sql jsonb, p_default text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return ' order by ' || concat_ws(
    ', ',
    (
      select string_agg(
        (p_sql ->> (k.key ->> 'name'))
          || case when (k.key -> 'descending')::boolean then ' desc' else '' end || ' nulls last',
        ', ' order by k.n
      )
      from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    ),
    p_default
  );
end;
$$;
