create function logloom_private.from_microseconds(p_microseconds bigint)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Seconds and the rest apart: a double holds no more than 2^53 exactly.
  return 'epoch'::timestamptz
    + p_microseconds / 1000000 * interval '1 second'
    + p_microseconds % 1000000 * interval '1 microsecond';
end;
$$;
