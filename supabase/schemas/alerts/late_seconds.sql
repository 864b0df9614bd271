-- How many seconds a rule is behind the newest round: its last window, or its first
-- one, was due so long ago. 0 where it is not.
create function logloom_private.late_seconds(p_rule logloom.alert_rules)
returns double precision
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the rounds
begin
  return coalesce(
    (
      select greatest(extract(epoch from n.window_end - l.window_end), 0)
      from logloom_private.alert_rounds r
      cross join lateral (
        -- One that is under way is not late yet.
        select r.window_end - (r.finished_at is null)::integer * interval '1 minute' as window_end
      ) n
      cross join lateral (
        select greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
          as window_end
      ) l
      where p_rule.enabled
    ),
    0
  );
end;
$$;
