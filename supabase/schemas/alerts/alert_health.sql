-- What health tells of alerts: degraded while rules wait, or rounds stay away.
create function logloom_private.alert_health(p_now timestamptz, p_watermark timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
  v_reason text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  if v_waits then
    v_reason := 'Rules wait until all that was acknowledged is visible';
  elsif v_has_rules and v_window_end is not null
    and logloom_private.silence_since(v_window_end, p_now) > v_settings.alert_round_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_window_end, p_now),
      v_settings.alert_round_limit
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
end;
$$;
