-- From when on each group's minutes are needed: for the windows that are due, and those that a late
-- record may open again.
create function logloom_private.alert_needs(p_round logloom_private.alert_rounds)
returns setof logloom_private.alert_need
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    p.group_id,
    min(
      greatest(
        least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
        p_round.window_end - s.alert_catch_up_limit
      ) - make_interval(mins => r.window_minutes)
    )
  from logloom.alert_rules r
  join logloom_private.alert_plans p on p.rule_id = r.rule_id
  cross join logloom_private.settings s
  where r.enabled and p.group_id is not null and p.query_dsl = r.query_dsl
  group by p.group_id;
end;
$$;
