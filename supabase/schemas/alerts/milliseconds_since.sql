create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return extract(epoch from clock_timestamp() - p_at) * 1000;
end;
$$;
