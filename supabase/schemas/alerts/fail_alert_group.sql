-- Notes an error of a group, which the next round tries again.
create function logloom_private.fail_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set last_error = p_error, retry_at = p_round.window_end + interval '1 minute'
  where g.group_id = p_group_id;
end;
$$;
