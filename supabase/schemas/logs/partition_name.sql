-- logs_YYYY_MM_DD.
create function logloom_private.partition_name(p_day date)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_day, '"logs_"YYYY_MM_DD');
end;
$$;
