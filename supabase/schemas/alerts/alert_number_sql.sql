-- The number that an aggregate takes of a record, as SQL over the alias l.
create function logloom_private.alert_number_sql(p_aggregate text, p_field text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_aggregate in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'logloom_private.json_number('
    || logloom_private.query_value_sql(logloom_private.query_field(p_field, 1), 'l') || ')';
end;
$$;
