-- Reads the parameter p_rules. Raises PT400 unless it is a list of at most 5 valid rules.
create function logloom_private.retention_rules(p_rules jsonb, p_days_max integer)
returns setof public.logloom_retention_rule
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong record;
begin
  if jsonb_typeof(p_rules) <> 'array' then
    perform logloom_private.refuse('usage.rules_are_no_list');
  end if;
  select r.n::text, w.problem into v_wrong
  from jsonb_array_elements(p_rules) with ordinality r (value, n)
  cross join lateral (
    select case
      when r.n > 5 then 'is one too many (max 5)'
      when jsonb_typeof(r.value) <> 'object' then 'must be an object'
      when r.value - array['level', 'service', 'days'] <> '{}' then 'has an unknown member'
      when r.value ->> 'level' not in ('debug', 'info', 'warn', 'error')
        then 'must have the level debug, info, warn or error'
      when jsonb_typeof(r.value -> 'service') not in ('string', 'null')
        or char_length(r.value ->> 'service') not between 1 and 255
        then 'must have a service of 1 to 255 characters'
      when coalesce(r.value ->> 'level', r.value ->> 'service') is null
        then 'has neither level nor service'
      when coalesce(substring((r.value -> 'days')::text from '^\d{1,9}$')::integer, 0)
        not between 1 and p_days_max
        then format('must have 1 to %s whole days', p_days_max)
    end
  ) w (problem)
  where w.problem is not null
  order by r.n
  limit 1;
  if found then
    perform logloom_private.refuse('usage.rule_is_wrong', v_wrong.n, v_wrong.problem);
  end if;
  return query
  select r.* from jsonb_populate_recordset(null::public.logloom_retention_rule, p_rules) r;
end;
$$;

create function public.set_retention_rules(
  p_tenant_id text default null,
  p_rules jsonb default null
)
returns public.logloom_tenant_settings
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text;
begin
  v_tenant_id := logloom_private.provision_current_tenant(p_tenant_id);
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_rules', p_rules is null);
  insert into logloom.tenant_settings as s (tenant_id, retention_rules, rules_days_max)
  select v_tenant_id, array_agg(r), max(r.days)
  from logloom_private.retention_rules(
    p_rules, (logloom_private.plan_of(v_tenant_id)).retention_days_max
  ) r
  on conflict (tenant_id) do update set
    retention_rules = excluded.retention_rules,
    -- Blocks that were sealed under earlier rules keep the retention of those rules.
    rules_days_max = greatest(excluded.rules_days_max, s.rules_days_max),
    updated_at = now();
  return public.get_tenant_settings(p_tenant_id);
end;
$$;

comment on function public.set_retention_rules(text, jsonb) is
  'Replaces the tenant''s retention rules and returns all settings. p_rules: at most 5 of {level, '
  'service, days}, [] for none. Errors: PT400, PT401, PT403.';
