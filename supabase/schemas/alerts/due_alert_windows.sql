-- The windows that a round evaluates: the new ones, and open ones into which records came late. Of
-- a rule with a delay, those that are closed since.
create function logloom_private.due_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb, null::boolean
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(
        r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
      ),
      p_round.window_end - r.delay - s.alert_catch_up_limit
    ),
    p_round.window_end - r.delay,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end - r.delay)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at - r.delay
      or e.window_end > a.first_ts
    );
end;
$$;
