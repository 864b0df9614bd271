-- If the watermark is further behind than this, rules wait.
create function logloom_private.alert_watermark_limit()
returns interval
language sql
immutable
return interval '2 minutes';

-- Health is degraded if the windows of the last round ended longer ago than this, or if a rule is
-- further behind.
create function logloom_private.alert_round_limit()
returns interval
language sql
immutable
return interval '5 minutes';

-- The health check of alerts: degraded while rules wait, no round runs, or rules are late. It does
-- not say whose rules.
create function logloom_private.alert_health(p_now timestamptz, p_watermark timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant interval := logloom_private.alert_round_limit();
  v_round logloom_private.alert_rounds;
  v_has_rules constant boolean := exists (
    select from logloom.alert_rules r where r.enabled and r.kind = 'query'
  );
  v_waits boolean;
  v_late_rules bigint;
  v_late interval;
  v_reason text;
begin
  -- Reads a round in progress, too: a round that never ends makes health degraded.
  select r.* into v_round from logloom_private.alert_rounds r;
  -- Computes late_seconds() without a call for each rule.
  select count(*) filter (where l.late > v_limit), max(l.late)
  into v_late_rules, v_late
  from logloom.alert_rules r
  cross join lateral (
    select
      v_round.window_end - greatest(r.last_evaluated_at, date_trunc('minute', r.asked_at)) as late
  ) l
  where r.enabled and r.kind = 'query';
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > logloom_private.alert_watermark_limit();
  if v_waits then
    v_reason := 'Rules wait until all acknowledged events are visible';
  elsif v_has_rules and v_round.window_end is not null
    and logloom_private.silence_since(v_round.window_end, p_now) > v_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_round.window_end, p_now),
      v_limit
    );
  elsif v_late_rules > 0 then
    v_reason := format(
      '%s alert rules are late, by up to %s: list_alert_rules shows late_seconds',
      v_late_rules, v_late
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', case when v_round.finished_at is not null then v_round.window_end end,
    'late_rules', v_late_rules,
    'late_seconds', greatest(coalesce(extract(epoch from v_late)::double precision, 0), 0)
  );
end;
$$;
