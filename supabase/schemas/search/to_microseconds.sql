create function logloom_private.to_microseconds(p_ts timestamptz)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (extract(epoch from p_ts) * 1000000)::bigint;
end;
$$;
