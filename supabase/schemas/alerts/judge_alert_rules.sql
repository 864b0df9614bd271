-- The due windows of rules whose groups are complete, with their values.
create function logloom_private.grouped_alert_windows(
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
  with due as materialized (
    select d.rule_id, d.window_start, d.window_end, p.group_id, p.aggregate,
      min(d.window_start) over (partition by d.rule_id) as first_start
    from logloom_private.due_alert_windows(p_rule_ids, p_round) d
    join logloom.alert_rules r on r.rule_id = d.rule_id
    join logloom_private.alert_plans p on p.rule_id = r.rule_id and p.query_dsl = r.query_dsl
  )
  select
    d.rule_id, d.window_start, d.window_end,
    logloom_private.partial_value(
      d.aggregate, (extract(epoch from d.window_end - d.window_start) / 60)::integer,
      t.events, t.numbers, t.total, t.least, t.greatest
    ),
    null::text, null::jsonb
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
    );
end;
$$;

-- The last window of each rule that has an error, or that rests since it cost too much.
create function logloom_private.failed_alert_windows(
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
    p.rule_id, p_round.window_end, p_round.window_end, null::double precision,
    coalesce(p.refusal, p.last_error, g.last_error), null::jsonb
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id and r.query_dsl = p.query_dsl
  left join logloom_private.alert_groups g on g.group_id = p.group_id
  where p.rule_id = any(p_rule_ids)
    and r.asked_at < p_round.window_end
    and (
      p.refusal is not null
      or (p.last_error is not null and p.retry_at > p_round.window_end)
      or (g.last_error is not null and g.retry_at > p_round.window_end)
    );
end;
$$;

-- Evaluates those of the rules that can be: all that have an error or a complete group. Alerts
-- fired.
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
      select row(w.*)::logloom_private.alert_window
      from logloom_private.grouped_alert_windows(p_rule_ids, p_round) w
      union all
      select row(w.*)::logloom_private.alert_window
      from logloom_private.failed_alert_windows(p_rule_ids, p_round) w
    ),
    p_round, p_now
  );
end;
$$;
