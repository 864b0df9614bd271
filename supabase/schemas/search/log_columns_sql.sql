-- A record of the alias l, column after column.
create function logloom_private.log_columns_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg('l.' || f.name, ', ' order by f.shown)
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null
  );
end;
$$;
