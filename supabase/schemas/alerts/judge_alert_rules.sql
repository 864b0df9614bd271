-- Windows and what becomes of their values

-- The windows that a round evaluates: the new ones, and open ones into which records came late.
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
    null::double precision, null::text, null::jsonb
  from logloom.alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
      p_round.window_end - s.alert_catch_up_limit
    ),
    p_round.window_end,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    and r.enabled
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at
      or e.window_end > a.first_ts
    );
end;
$$;

-- Fires what holds and notes value or error with each rule. Alerts fired.
create function logloom_private.settle_alert_windows(
  p_windows logloom_private.alert_window[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hit record;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_hit in
    select r as rule, w as seen
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    where logloom_private.alert_condition_holds(w.value, r.comparison, r.threshold)
    order by w.window_end, w.rule_id, w."group"
  loop
    begin
      if logloom_private.fire_alert(v_hit.rule, v_hit.seen, p_now) then
        v_fired := v_fired + 1;
      end if;
    exception when others then
      v_errors := v_errors || jsonb_build_object((v_hit.rule).rule_id, sqlerrm);
    end;
  end loop;

  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = p_round.window_end) as value,
      max(u.error) as error
    from unnest(p_windows) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$$;

-- Values of the rules that have a group, where it is complete.
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

-- What could not be evaluated, of rules with a group and without.
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
volatile
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

-- Rules that the round did not evaluate yet, some at a time.
-- Enabled rules after p_after that the round did not evaluate yet, in the order of their ids.
create function logloom_private.next_alert_rules(
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and r.asked_at < p_round.window_end
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$$;
