-- Returns the check of storage: degraded from 80 % of its limit, unhealthy while ingest is refused.
-- The forecast compares with an earlier day at the same time of day: sealing makes a day some ten
-- times smaller.
create function logloom_private.storage_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_storage constant logloom_private.storage := (select s from logloom_private.storage s);
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_limit constant bigint := v_settings.max_storage_bytes;
  v_percent constant numeric := round(100.0 * v_storage.bytes / v_limit, 1);
  v_refuses constant boolean := v_storage.bytes >= v_limit
    and (v_settings.storage_policy = 'refuse' or v_storage.is_stuck);
  v_sizes constant text := format(
    '%s of %s', pg_size_pretty(v_storage.bytes), pg_size_pretty(v_limit)
  );
  v_bytes_per_day bigint;
  v_days numeric;
begin
  select
    (v_storage.bytes - h.bytes)
      / (extract(epoch from v_storage.measured_at - h.measured_at) / 86400)
  into v_bytes_per_day
  from generate_series(1, 7) d
  join logloom_private.storage_hours h on h.hour
    = date_trunc('hour', v_storage.measured_at, 'UTC') - make_interval(hours => 24 * d)
  order by h.hour
  limit 1;
  if v_bytes_per_day > 0 and v_storage.bytes < v_limit then
    v_days := round((v_limit - v_storage.bytes)::numeric / v_bytes_per_day, 1);
  end if;
  return logloom_private.health_grade(
    case when v_refuses then format('Storage is full (%s): ingest is refused', v_sizes) end,
    case when v_percent >= 80 and not v_refuses then concat_ws(
      ', ',
      format('Storage is %s %% full (%s)', floor(v_percent), v_sizes),
      'full in ' || v_days || ' days at this rate'
    ) end
  ) || jsonb_build_object(
    'stored_bytes', v_storage.bytes,
    'limit_bytes', v_limit,
    'percent', v_percent,
    'policy', v_settings.storage_policy,
    'days_until_full', v_days,
    'bytes_per_day', v_bytes_per_day,
    'reusable_bytes', v_storage.reusable_bytes,
    'measured_at', v_storage.measured_at
  );
end;
$$;
