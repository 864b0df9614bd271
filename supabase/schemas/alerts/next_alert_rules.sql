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
