-- Has a group that went beyond its budget rest, longer each time.
create function logloom_private.rest_alert_group(
  p_group logloom_private.alert_groups,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(
    array[p_group.group_id],
    format(
      'The rule costs too much: %s records took %s ms. Narrow its query or shorten its window; '
        'it rests for a while.',
      p_records, round(p_milliseconds::numeric)
    ),
    p_now + least(s.alert_back_off * 2 ^ least(p_group.failures, 20), s.alert_back_off_max)
  )
  from logloom_private.settings s;
  update logloom_private.alert_groups g
  set failures = g.failures + 1, ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group.group_id;
end;
$$;
