create view logloom_private.planned_alert_rules with (security_invoker) as
select p.*, r.tenant_id, r.asked_at, r.last_evaluated_at,
  -- How long it held is for closed windows to say, which no late record opens again.
  s.alert_grace * (r.for_minutes > 0)::integer as delay
from logloom.alert_rules r
cross join logloom_private.settings s
join logloom_private.alert_plans p
  on p.rule_id = r.rule_id
  and p.query_dsl = r.query_dsl
  and p.window_minutes = r.window_minutes
  and p.view_id is not distinct from r.view_id
left join logloom.log_views v on v.view_id = r.view_id
where r.enabled and p.view_updated_at is not distinct from v.updated_at;

comment on view logloom_private.planned_alert_rules is
  'Enabled rules whose plan is valid. delay: how long their windows are over when they are looked '
  'at first.';
