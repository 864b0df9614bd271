-- Has a group that went beyond its budget rest, longer each time.
create function logloom_private.rest_alert_group(
  p_group_id bigint,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set
    last_error = logloom_private.too_costly(p_records, p_milliseconds),
    retry_at = p_now + logloom_private.alert_back_off(g.failures),
    failures = g.failures + 1,
    ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group_id;
end;
$$;
