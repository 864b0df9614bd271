-- Evaluates those of the rules that can be: the due windows of those whose groups are complete, and
-- the last window of those that have an error, or that rest since they cost too much. Alerts fired.
create function logloom_private.judge_alert_rules(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  return logloom_private.settle_alert_windows(
    array(
      with due as materialized (
        select d.rule_id, d.window_start, d.window_end, r.group_id, r.aggregate, r.window_minutes,
          min(d.window_start) over (partition by d.rule_id) as first_start
        from logloom_private.due_alert_windows(p_rule_ids, p_round) d
        join logloom_private.planned_alert_rules r on r.rule_id = d.rule_id
      )
      select row(
        d.rule_id, d.window_start, d.window_end,
        logloom_private.partial_value(
          d.aggregate, d.window_minutes, t.events, t.numbers, t.total, t.least, t.greatest
        ),
        null, null, null
      )::logloom_private.alert_window
      from due d
      join logloom_private.alert_groups g on g.group_id = d.group_id
      cross join lateral (
        select
          sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
          min(m.least) as least, max(m.greatest) as greatest
        from logloom_private.alert_partials m
        where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
      ) t
      where g.write_seq >= p_round.write_seq_to
        and (
          g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
        )
      union all
      select row(
        r.rule_id, p_round.window_end, p_round.window_end, null,
        coalesce(r.refusal, g.last_error), null, null
      )::logloom_private.alert_window
      from logloom_private.planned_alert_rules r
      left join logloom_private.alert_groups g on g.group_id = r.group_id
      where r.rule_id = any(p_rule_ids)
        and r.asked_at < p_round.window_end
        and (
          r.refusal is not null
          or (g.last_error is not null and g.retry_at > p_round.window_end)
        )
    ),
    p_round, p_now
  );
end;
$$;
