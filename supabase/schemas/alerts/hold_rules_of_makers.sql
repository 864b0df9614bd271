-- Pauses a customer's rule if its maker is no longer an admin. An admin who enables such a rule
-- becomes its maker.
create function logloom_private.hold_rules_of_makers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with makers as materialized (
    select distinct r.tenant_id, r.created_by
    from logloom.log_views v
    join logloom.alert_rules r on r.tenant_id = v.tenant_id and r.view_id = v.view_id
    where v.customer is not null and r.enabled and r.created_by is not null
  ), held as (
    update logloom.alert_rules r
    set enabled = false, paused_at = now(), updated_at = now(),
      last_error = 'Paused: the user who allowed it is no longer an admin'
    from makers m
    where r.tenant_id = m.tenant_id and r.created_by = m.created_by and r.enabled
      and logloom_private.customer_of_view(r.view_id) is not null
      and not logloom_private.maker_may_read(m.tenant_id, m.created_by)
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    h.tenant_id, logloom_private.actor(), 'alert_rule.paused', h.rule_id::text,
    jsonb_build_object(
      'name', h.name, 'created_by', h.created_by,
      'customer', logloom_private.customer_of_view(h.view_id)
    )
  from held h;
end;
$$;

-- Audits what customers do with their rules. An update that changes nothing is no event.
create function logloom_private.audit_rules_of_customers()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_rule constant logloom.alert_rules := coalesce(new, old);
  v_customer constant text := logloom_private.customer_of_view(v_rule.view_id);
begin
  if v_customer is not null
    and to_jsonb(new) - '{updated_at,asked_at}'::text[]
      is distinct from to_jsonb(old) - '{updated_at,asked_at}'::text[]
  then
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_rule.tenant_id, logloom_private.actor(),
      case tg_op when 'INSERT' then 'alert_rule.created' when 'DELETE' then 'alert_rule.deleted'
        else 'alert_rule.changed' end,
      v_rule.rule_id::text,
      jsonb_build_object(
        'name', v_rule.name, 'query_dsl', v_rule.query_dsl, 'enabled', v_rule.enabled,
        'destinations', v_rule.notification_destinations, 'held', v_rule.held_at is not null,
        'customer', v_customer
      )
    );
  end if;
  return null;
end;
$$;

create trigger audit_rules_of_customers
-- update_alert_rule always sets the name. An evaluation never does.
after insert or delete or update of name on logloom.alert_rules
for each row execute function logloom_private.audit_rules_of_customers();
