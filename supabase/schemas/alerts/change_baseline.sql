-- Returns a rule after p_threshold and p_baseline are applied. p_baseline: {} removes the baseline,
-- null keeps it. In a rule with a baseline the threshold counts deviations.
create function logloom_private.with_baseline(
  p_rule logloom.alert_rules,
  p_baseline jsonb,
  p_threshold double precision
)
returns logloom.alert_rules
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deviations double precision;
begin
  p_baseline := nullif(p_baseline, 'null');
  if jsonb_path_exists(
    p_baseline,
    'strict $ ? (@.type() != "object"
      || exists(@.keyvalue() ? (@.key != "days" && @.key != "deviations"
        || @.value.type() != "number"))
      || @.days < 3 || @.days > 7 || @.days.floor() != @.days
      || @.deviations < 0.01 || @.deviations > 1000)'
  ) then
    perform logloom_private.refuse('alerts.alert_rules_baseline_is_valid');
  end if;
  v_deviations := p_baseline ->> 'deviations';
  if v_deviations <> p_threshold then
    perform logloom_private.refuse('alerts.baseline_contradicts_threshold');
  elsif (p_baseline = '{}') <> (p_rule.baseline_days is null) then
    -- The rule's present threshold has another unit.
    p_rule.threshold := null;
  end if;
  p_rule.threshold := coalesce(v_deviations, p_threshold, p_rule.threshold);
  perform logloom_private.require_parameter('p_threshold', p_rule.threshold is null);
  p_rule.baseline_days := case
    when p_baseline = '{}' then null
    when p_baseline is null then p_rule.baseline_days
    else coalesce((p_baseline ->> 'days')::numeric::integer, p_rule.baseline_days, 7)
  end;
  return p_rule;
end;
$$;

-- Raises PT400 if p_baseline gives the rule its first baseline and the plan allows no more rules
-- with a baseline. Locks the tenant. Call this before locking a rule.
create function logloom_private.require_room_for_baseline(
  p_tenant_id text,
  p_baseline jsonb,
  p_rule_id uuid default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a tenant
declare
  v_max integer;
begin
  if nullif(p_baseline, 'null') <> '{}' then
    perform logloom_private.hold_tenant(p_tenant_id);
    v_max := (logloom_private.plan_of(p_tenant_id)).max_baseline_rules;
    if v_max <= (
      select case when bool_or(r.rule_id = p_rule_id) then -1 else count(*) end
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.baseline_days is not null
    ) then
      perform logloom_private.refuse('alerts.no_room_for_baseline', v_max::text);
    end if;
  end if;
end;
$$;
