-- What where after an aggregate asks, over columns that p_sql maps from names.
create function logloom_private.having_sql(p_plan jsonb, p_sql jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select string_agg(
        (p_sql ->> (h ->> 'name')) || ' ' || case h ->> 'operator' when '!=' then '<>'
          else h ->> 'operator' end || ' ' || quote_literal(h ->> 'number')
          || '::double precision',
        ' and '
      )
      from jsonb_array_elements(p_plan -> 'having') h
    ),
    'true'
  );
end;
$$;
