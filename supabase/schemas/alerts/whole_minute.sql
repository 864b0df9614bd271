-- The start of the minute.
create function logloom_private.whole_minute(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return date_bin('1 minute', p_at, 'epoch');
end;
$$;
