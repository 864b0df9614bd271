-- From when on each group's minutes are needed: for the windows that are due, and those that a late
-- record may open again. is_due: a rule of it was not evaluated yet. is_new: none ever was. due_at:
-- since when the one waits that has waited longest.
create function logloom_private.alert_needs(p_round logloom_private.alert_rounds)
returns table (
  group_id bigint, needed_from timestamptz, is_due boolean, is_new boolean, due_at timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.group_id,
    min(
      greatest(
        least(
          r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
        ),
        p_round.window_end - r.delay - s.alert_catch_up_limit
      ) - make_interval(mins => r.window_minutes)
    ),
    bool_or(
      r.asked_at < p_round.window_end - r.delay
      and r.last_evaluated_at is distinct from p_round.window_end
    ),
    bool_and(r.last_evaluated_at is null),
    min(coalesce(r.last_evaluated_at, r.asked_at))
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
end;
$$;
