-- A record of the alias l as a composite.
create function logloom_private.log_record_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'row(' || logloom_private.log_columns_sql() || ')::public.logloom_log_record';
end;
$$;
