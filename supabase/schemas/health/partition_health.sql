-- Returns the check of the partitions: today's and tomorrow's must exist.
create function logloom_private.partition_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := logloom_private.utc_day(p_now);
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
begin
  return logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  ) || jsonb_build_object(
    'current_partition', logloom_private.partition_name(v_today),
    'current_exists', v_current_exists,
    'next_partition', logloom_private.partition_name(v_today + 1),
    'next_exists', v_next_exists
  );
end;
$$;
