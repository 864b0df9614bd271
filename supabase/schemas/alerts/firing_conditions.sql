-- Whether a value meets the condition. Null, which means no data, never does.
create function logloom_private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language sql
immutable
return coalesce(
  case p_comparison
    when 'gt' then p_value > p_threshold
    when 'gte' then p_value >= p_threshold
    when 'lt' then p_value < p_threshold
    when 'lte' then p_value <= p_threshold
    when 'eq' then p_value = p_threshold
    when 'neq' then p_value <> p_threshold
  end,
  false
);

-- Applies for_minutes and on_absent, and returns the windows that may fire. Saves in alert_states
-- the state that later windows need. p_seen: the rule's values in the window. p_holding: the values
-- that meet the condition.
create function logloom_private.lasting_windows(
  p_rule logloom.alert_rules,
  p_window_end timestamptz,
  p_seen logloom_private.alert_window[],
  p_holding logloom_private.alert_window[]
)
returns logloom_private.alert_window[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_groups constant integer := (select s.alert_groups from logloom_private.settings s);
  -- A group without records counts as missing only if it had records within this many windows.
  v_absent_windows constant integer := 10;
begin
  if p_rule.on_absent = 'fire' then
    p_holding := p_holding || array(
      select row(
        p_rule.rule_id, p_window_end - make_interval(mins => p_rule.window_minutes), p_window_end,
        0, null, a."group", true
      )::logloom_private.alert_window
      from logloom_private.alert_states a
      where a.rule_id = p_rule.rule_id
        and a.seen_at < p_window_end
        and a.seen_at >= p_window_end - make_interval(
          mins => p_rule.window_minutes * v_absent_windows
        )
        and not exists (
          select from unnest(p_seen) s where md5(s."group"::text) = a.group_key
        )
      order by a.seen_at desc, a.group_key
      limit v_max_groups
    );
  end if;
  insert into logloom_private.alert_states as a (rule_id, group_key, "group", seen_at, holds_since)
  select
    p_rule.rule_id, w.group_key, w."group",
    case when w.is_seen and p_rule.on_absent = 'fire' then p_window_end end,
    case when w.holds then p_window_end end
  from (
    select
      coalesce(md5(u."group"::text), '') as group_key, (array_agg(u."group"))[1] as "group",
      bool_or(u.holds) as holds, bool_or(not u.holds or u.absent is not true) as is_seen
    from (
      select h."group", h.absent, true as holds from unnest(p_holding) h
      union all
      select s."group", s.absent, false from unnest(p_seen) s where p_rule.on_absent = 'fire'
    ) u
    group by 1
  ) w
  on conflict (rule_id, group_key) do update
  set seen_at = greatest(a.seen_at, excluded.seen_at),
    holds_since = least(a.holds_since, excluded.holds_since);
  -- Resets holds_since of groups whose condition no longer holds. Deletes groups that were not seen
  -- for long.
  update logloom_private.alert_states a
  set holds_since = null
  where a.rule_id = p_rule.rule_id
    and a.holds_since is not null
    and not exists (
      select from unnest(p_holding) h where coalesce(md5(h."group"::text), '') = a.group_key
    );
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id
    and a.holds_since is null
    and (
      a.seen_at < p_window_end - make_interval(mins => p_rule.window_minutes * v_absent_windows)
    ) is not false;
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id and a.group_key = any (array(
    select o.group_key
    from logloom_private.alert_states o
    where o.rule_id = p_rule.rule_id
    order by o.seen_at desc nulls last, o.group_key
    offset v_max_groups * v_absent_windows
  ));
  return array(
    select h
    from unnest(p_holding) h
    join logloom_private.alert_states a
      on a.rule_id = p_rule.rule_id and a.group_key = coalesce(md5(h."group"::text), '')
    where a.holds_since <= p_window_end - make_interval(mins => p_rule.for_minutes)
    order by h."group"
  );
end;
$$;
