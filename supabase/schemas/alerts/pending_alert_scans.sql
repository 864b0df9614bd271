-- Plans of the rules that read their windows (percentiles, distinct counts, by, queries that name
-- now) and that the round did not evaluate yet.
create function logloom_private.pending_alert_scans(
  p_round logloom_private.alert_rounds,
  p_tenant_id text default null
)
returns setof logloom_private.alert_plans
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select p.*
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id
  where (p_tenant_id is null or p.tenant_id = p_tenant_id)
    and p.group_id is null
    and p.refusal is null
    and p.query_dsl = r.query_dsl
    and r.enabled
    and r.asked_at < p_round.window_end
    and r.last_evaluated_at is distinct from p_round.window_end
    and coalesce(p.retry_at <= p_round.window_end, true);
end;
$$;
