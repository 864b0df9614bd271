-- Returns how many seconds a rule is behind the newest round. Counts from the rule's last evaluated
-- window, or from the minute of asked_at if that is later. 0 if the rule is not behind.
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
      select greatest(
        extract(
          epoch from r.window_end
            -- Rules are not late for a round that is still in progress.
            - (r.finished_at is null)::integer * interval '1 minute'
            - greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
        ),
        0
      )
      from logloom_private.alert_rounds r
      where p_rule.enabled and p_rule.kind = 'query'
    ),
    0
  );
end;
$$;

-- An alert rule as operations show it.
create function logloom_private.alert_rule_of(p_row logloom.alert_rules)
returns public.logloom_alert_rule
language sql
stable
return row(
  p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
  p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
  p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
  p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
  p_row.last_value, p_row.last_error, p_row.view_id,
  p_row.notify_on_recovery, p_row.for_minutes, p_row.on_absent, p_row.group_wait_seconds,
  logloom_private.shown_secrets(p_row.notification_secrets),
  logloom_private.shown_baseline(p_row), logloom_private.customer_of_view(p_row.view_id),
  p_row.held_at, p_row.kind, logloom_private.late_seconds(p_row), p_row.paused_at
);

-- Returns a rule that the caller manages, locked. A user needs the role admin for the rule of a
-- customer.
create function logloom_private.locked_rule(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid
)
returns logloom.alert_rules
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = p_scope.tenant_id and r.rule_id = p_rule_id
    and logloom_private.is_managed(p_scope, r.view_id)
  for no key update;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  elsif p_scope.kind = 'token' and logloom_private.customer_of_view(v_row.view_id) is not null then
    perform logloom_private.require_role(p_scope.tenant_id, 'admin');
  end if;
  return v_row;
end;
$$;

create function logloom_private.read_alert_rule(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid
)
returns public.logloom_alert_rule
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'get_alert_rule', null, 'member');
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_scope.tenant_id and r.rule_id = p_rule_id
    and logloom_private.is_managed(v_scope, r.view_id);
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return logloom_private.alert_rule_for(v_scope, v_row);
end;
$$;

create function public.get_alert_rule(p_rule_id uuid default null)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.read_alert_rule(null, p_rule_id);
end;
$$;

comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';

-- Returns alert rules for a reader, without addresses for callers who may only read. In a view:
-- only rules that are evaluated in the view. For a customer: only their own rules.
create function logloom_private.read_alert_rules(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because callers who may only read reach no table
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
  v_views constant uuid[] := logloom_private.views_of_alerts(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_views is null or r.view_id = any (v_views))
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- 300 rules always fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select logloom_private.alert_rule_for(v_scope, r) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_views is null or r.view_id = any (v_views))
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

-- A rule as a reader sees it.
create function logloom_private.alert_rule_for(
  p_scope logloom_private.reading_scope,
  p_row logloom.alert_rules
)
returns public.logloom_alert_rule
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_customer constant boolean := logloom_private.manages_alerts(p_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v
    where v.view_id = case when v_is_customer then p_row.view_id else p_scope.view_id end
  );
  v_shown public.logloom_alert_rule;
begin
  if not (v_is_customer or logloom_private.sees_addresses(p_scope)) then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- Values from before the view last changed are not shown.
  if v_shows_since is not null
    and (p_row.last_evaluated_at > greatest(p_row.asked_at, v_shows_since)) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    -- The error of a paused rule says why it is paused.
    p_row.last_error := case when p_row.paused_at is not null then p_row.last_error end;
    p_row.asked_at := greatest(p_row.asked_at, v_shows_since);
  end if;
  if v_shows_since is not null then
    -- These numbers count records outside the view, too.
    p_row.last_error := regexp_replace(
      p_row.last_error, '^(The rule is too expensive): \d+ records took \d+ ms', '\1'
    );
  end if;
  v_shown := logloom_private.alert_rule_of(p_row);
  if v_is_customer then
    v_shown.view_id := null;
  end if;
  return v_shown;
end;
$$;

create function public.list_alert_rules(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select r.* from logloom_private.read_alert_rules(null, p_tenant_id, p_limit, p_after) r;
end;
$$;

comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit: 1 to 1000 (default 100). p_after: rule_id of '
  'the last item of the page before. Callers who may only read see no addresses. Errors: PT400, '
  'PT401, PT403.';

create function logloom_private.remove_alert_rule(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid,
  p_tenant_id text
)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'delete_alert_rule', p_tenant_id, 'member');
  v_row constant logloom.alert_rules := logloom_private.locked_rule(v_scope, p_rule_id);
begin
  perform logloom_private.require_not_held(v_scope, v_row.held_at, 'alert rule');
  delete from logloom.alert_rules r where r.rule_id = v_row.rule_id;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_alert_rule(
  p_rule_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_alert_rule(null, p_rule_id, p_tenant_id);
end;
$$;

comment on function public.delete_alert_rule(uuid, text) is
  'Deletes an alert rule and ends its silences. Its history stays. Errors: PT400, PT401, PT404.';
