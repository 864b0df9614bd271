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
      select greatest(extract(epoch from n.window_end - l.window_end), 0)
      from logloom_private.alert_rounds r
      cross join lateral (
        -- Rules are not late for a round that is still in progress.
        select r.window_end - (r.finished_at is null)::integer * interval '1 minute' as window_end
      ) n
      cross join lateral (
        select greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
          as window_end
      ) l
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
  logloom_private.shown_baseline(p_row), p_row.kind, logloom_private.late_seconds(p_row)
);

-- Raises PT400 if a rule with this query cannot be evaluated in the view, PT404 if there is no such
-- view. Does nothing if p_view_id is null.
create function logloom_private.require_rule_in_view(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.compile_rule(
      logloom_private.resolve_tenant_to_change(p_tenant_id), p_query_dsl, p_view_id
    );
  end if;
end;
$$;

create function public.get_alert_rule(p_rule_id uuid default null)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return logloom_private.alert_rule_of(v_row);
end;
$$;

comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';

-- Returns alert rules for a reader, without addresses for callers who may only read. In a view,
-- returns only rules that are evaluated in it.
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
  v_sees_addresses constant boolean := logloom_private.sees_addresses(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
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
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
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
  p_row logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id uuid
)
returns public.logloom_alert_rule
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = p_view_id
  );
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- Values from before the view last changed are not shown.
  if p_view_id is not null
    and (p_row.last_evaluated_at > greatest(p_row.asked_at, v_shows_since)) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
    p_row.asked_at := greatest(p_row.asked_at, v_shows_since);
  end if;
  return logloom_private.alert_rule_of(p_row);
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
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_alert_rule(uuid, text) is
  'Deletes an alert rule. Its history stays. Errors: PT400, PT401, PT404.';
