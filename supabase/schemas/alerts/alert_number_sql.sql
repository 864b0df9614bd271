-- The number that a query's aggregate takes of a record, as SQL over the alias l.
create function logloom_private.alert_number_sql(p_query logloom_private.compiled_query)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_query.aggregate, 'count') in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'logloom_private.json_number(' || logloom_private.query_value_sql(
    logloom_private.query_field(p_query.aggregate_field, 1), 'l'
  ) || ')';
end;
$$;
