-- Alert rules, the history of what they found, and its acknowledgement.

create type public.alert_comparison as enum ('gt', 'gte', 'lt', 'lte', 'eq', 'neq');

create type public.alert_rule as (
  rule_id uuid,
  tenant_id text,
  name text,
  description text,
  query_dsl text,
  threshold double precision,
  comparison public.alert_comparison,
  window_minutes integer,
  cooldown_minutes integer,
  enabled boolean,
  notification_destinations text[],
  notification_config jsonb,
  created_at timestamptz,
  updated_at timestamptz,
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text
);

create type public.alert_history_entry as (
  alert_id uuid,
  rule_id uuid,
  tenant_id text,
  triggered_at timestamptz,
  value double precision,
  threshold double precision,
  acknowledged boolean,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent boolean,
  notification_sent_at timestamptz,
  notification_channels text[],
  notification_error text,
  window_start timestamptz,
  window_end timestamptz
);

create function private.is_email_address(p_text text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return length(p_text) <= 254
    and split_part(p_text, '@', 1) ~ '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}$'
    and substr(p_text, strpos(p_text, '@') + 1)
      ~ '^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$';
end;
$$;

create function private.is_webhook_url(p_text text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Plain HTTP only to this machine, for a receiver in development. Printable ASCII, no userinfo.
  return length(p_text) <= 2048
    and p_text ~ '^[!-~]+$'
    and p_text ~ '^(https://[A-Za-z0-9[][^/?#@\\]*|http://127\.0\.0\.1(:[0-9]{1,5})?)([/?#].*)?$';
end;
$$;

create table app.alert_rules (
  rule_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
  name text not null,
  description text,
  query_dsl text not null,
  threshold double precision not null,
  comparison text not null,
  window_minutes integer not null,
  cooldown_minutes integer not null,
  enabled boolean not null,
  notification_destinations text[] not null default '{}',
  notification_config jsonb not null default '{}',
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text,
  constraint alert_rules_name_is_valid check (
    name = private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint alert_rules_description_is_valid check (length(description) between 1 and 2000),
  -- NaN is greater than every number.
  constraint alert_rules_threshold_is_finite check (
    threshold > '-Infinity' and threshold < 'Infinity'
  ),
  constraint alert_rules_comparison_is_known check (
    comparison in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq')
  ),
  constraint alert_rules_window_is_valid check (window_minutes between 1 and 1440),
  constraint alert_rules_cooldown_is_valid check (cooldown_minutes between 0 and 10080),
  constraint alert_rules_destinations_are_known check (
    notification_destinations <@ '{email,webhook}'
    and cardinality(notification_destinations) <= 2
  ),
  constraint alert_rules_config_is_object check (
    jsonb_typeof(notification_config) = 'object'
    and octet_length(notification_config::text) <= 8192
  ),
  constraint alert_rules_email_is_valid check (
    private.is_email_address(notification_config ->> 'email')
  ),
  constraint alert_rules_webhook_url_is_valid check (
    private.is_webhook_url(notification_config ->> 'webhook_url')
  ),
  constraint alert_rules_destinations_have_addresses check (
    not enabled
    or (
      (notification_config ->> 'email' is not null or not 'email' = any(notification_destinations))
      and (
        notification_config ->> 'webhook_url' is not null
        or not 'webhook' = any(notification_destinations)
      )
    )
  )
)
-- Every rule is updated every minute.
with (fillfactor = 70);

-- No foreign key on rule_id: what was found stays on record when the rule is deleted.
create table app.alert_history (
  alert_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
  rule_id uuid not null,
  triggered_at timestamptz not null default now(),
  value double precision not null,
  threshold double precision not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent_at timestamptz,
  notification_channels text[] not null default '{}',
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  constraint alert_history_value_is_finite check (value > '-Infinity' and value < 'Infinity'),
  constraint alert_history_acknowledgement_is_whole check (
    (acknowledged_at is null) = (acknowledged_by is null)
  )
);

create index alert_rules_tenant_id_created_at_idx
on app.alert_rules (tenant_id, created_at desc, rule_id desc);
create index alert_history_tenant_id_triggered_at_idx
on app.alert_history (tenant_id, triggered_at desc, alert_id desc);
create index alert_history_tenant_id_rule_id_triggered_at_idx
on app.alert_history (tenant_id, rule_id, triggered_at desc, alert_id desc);
-- A window fires once, whoever evaluates it how often.
create unique index alert_history_rule_id_window_end_idx
on app.alert_history (rule_id, window_end);

alter table app.alert_rules enable row level security;
alter table app.alert_rules force row level security;
alter table app.alert_history enable row level security;
alter table app.alert_history force row level security;

create policy alert_rules_select_tenant on app.alert_rules
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy alert_rules_insert_tenant on app.alert_rules
for insert to authenticated
with check (tenant_id = (select private.current_tenant_id()));

create policy alert_rules_update_tenant on app.alert_rules
for update to authenticated
using (tenant_id = (select private.current_tenant_id()))
with check (tenant_id = (select private.current_tenant_id()));

create policy alert_rules_delete_tenant on app.alert_rules
for delete to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy alert_history_select_tenant on app.alert_history
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy alert_history_update_tenant on app.alert_history
for update to authenticated
using (tenant_id = (select private.current_tenant_id()))
with check (tenant_id = (select private.current_tenant_id()));

grant select, delete on app.alert_rules to authenticated, service_role;
grant insert (
  tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
  cooldown_minutes, enabled, notification_destinations, notification_config, created_by
) on app.alert_rules to authenticated, service_role;
grant update (
  name, description, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
  notification_destinations, notification_config, updated_at
) on app.alert_rules to authenticated, service_role;
grant select on app.alert_history to authenticated, service_role;
grant update (acknowledged_at, acknowledged_by) on app.alert_history to authenticated, service_role;

create function private.refuse_alert_rule()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  raise sqlstate 'PT404' using
    message = 'Alert rule not found',
    hint = 'list_alert_rules shows the rules of this tenant.';
end;
$$;

create function private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select array_agg(d.destination order by d.first_at)
    from (
      select u.destination, min(u.i) as first_at
      from unnest(p_destinations) with ordinality u (destination, i)
      group by u.destination
    ) d
  );
end;
$$;

create function public.list_alert_rules(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.alert_rule
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_limit constant integer := private.list_limit(p_limit);
  v_after timestamptz;
begin
  if p_after is not null then
    select r.created_at into v_after
    from app.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such alert rule',
        hint = 'Send the rule_id of the last item of the page before.';
    end if;
  end if;

  return query
  select
    r.rule_id, r.tenant_id, r.name, r.description, r.query_dsl, r.threshold,
    r.comparison::public.alert_comparison, r.window_minutes, r.cooldown_minutes, r.enabled,
    r.notification_destinations, r.notification_config, r.created_at, r.updated_at,
    r.last_evaluated_at, r.last_value, r.last_error
  from app.alert_rules r
  where r.tenant_id = v_tenant_id
    and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
  order by r.created_at desc, r.rule_id desc
  limit v_limit;
end;
$$;

create function public.get_alert_rule(p_rule_id uuid default null)
returns public.alert_rule
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_result public.alert_rule;
begin
  perform private.require_parameter('p_rule_id', p_rule_id is null);
  select
    r.rule_id, r.tenant_id, r.name, r.description, r.query_dsl, r.threshold,
    r.comparison::public.alert_comparison, r.window_minutes, r.cooldown_minutes, r.enabled,
    r.notification_destinations, r.notification_config, r.created_at, r.updated_at,
    r.last_evaluated_at, r.last_value, r.last_error
  into v_result
  from app.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform private.refuse_alert_rule();
  end if;
  return v_result;
end;
$$;

create function public.create_alert_rule(
  p_tenant_id text default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null
)
returns public.alert_rule
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_constraint text;
  v_result public.alert_rule;
begin
  perform private.require_parameter('p_name', p_name is null);
  perform private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform private.require_parameter('p_threshold', p_threshold is null);
  perform private.require_parameter('p_comparison', p_comparison is null);
  perform private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform private.require_parameter('p_enabled', p_enabled is null);
  perform private.check_query(p_query_dsl, true);
  perform private.require_room_in_plan(p_tenant_id, 'alerts');
  insert into app.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by
  )
  values (
    v_tenant_id, private.trim_space(p_name), nullif(private.trim_space(p_description), ''),
    p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    coalesce(private.distinct_destinations(p_notification_destinations), '{}'),
    coalesce(nullif(p_notification_config, 'null'), '{}'), private.current_user_id()
  )
  returning
    r.rule_id, r.tenant_id, r.name, r.description, r.query_dsl, r.threshold,
    r.comparison::public.alert_comparison, r.window_minutes, r.cooldown_minutes, r.enabled,
    r.notification_destinations, r.notification_config, r.created_at, r.updated_at,
    r.last_evaluated_at, r.last_value, r.last_error
  into v_result;
  return v_result;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform private.refuse_violation('alert_rules', v_constraint);
  return null;
end;
$$;

create function public.update_alert_rule(
  p_rule_id uuid default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null
)
returns public.alert_rule
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_constraint text;
  v_result public.alert_rule;
begin
  perform private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform private.check_query(p_query_dsl, true);
  end if;
  -- An empty description takes it away; notification_config is replaced as a whole.
  update app.alert_rules r
  set
    name = coalesce(private.trim_space(p_name), r.name),
    description = nullif(coalesce(private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else coalesce(private.distinct_destinations(p_notification_destinations), '{}')
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    updated_at = now()
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning
    r.rule_id, r.tenant_id, r.name, r.description, r.query_dsl, r.threshold,
    r.comparison::public.alert_comparison, r.window_minutes, r.cooldown_minutes, r.enabled,
    r.notification_destinations, r.notification_config, r.created_at, r.updated_at,
    r.last_evaluated_at, r.last_value, r.last_error
  into v_result;
  if not found then
    perform private.refuse_alert_rule();
  end if;
  return v_result;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform private.refuse_violation('alert_rules', v_constraint);
  return null;
end;
$$;

create function public.delete_alert_rule(p_rule_id uuid default null)
returns public.success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
begin
  perform private.require_parameter('p_rule_id', p_rule_id is null);
  delete from app.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform private.refuse_alert_rule();
  end if;
  return row(true)::public.success;
end;
$$;

create function public.list_alert_history(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_acknowledged boolean default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.alert_history_entry
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_limit constant integer := private.list_limit(p_limit);
  v_after timestamptz;
begin
  if p_ts_from >= p_ts_to then
    raise sqlstate 'PT400' using
      message = 'Invalid range: p_ts_from must be before p_ts_to',
      hint = 'p_ts_from is inclusive, p_ts_to is not.';
  end if;
  if p_after is not null then
    select h.triggered_at into v_after
    from app.alert_history h
    where h.tenant_id = v_tenant_id and h.alert_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such alert',
        hint = 'Send the alert_id of the last item of the page before.';
    end if;
  end if;

  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, p_ts_from, p_ts_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select
    h.alert_id, h.rule_id, h.tenant_id, h.triggered_at, h.value, h.threshold,
    h.acknowledged_at is not null, h.acknowledged_at, h.acknowledged_by,
    h.notification_sent_at is not null, h.notification_sent_at, h.notification_channels,
    h.notification_error, h.window_start, h.window_end
  from app.alert_history h
  where h.tenant_id = v_tenant_id
    and (p_rule_id is null or h.rule_id = p_rule_id)
    and (p_ts_from is null or h.triggered_at >= p_ts_from)
    and (p_ts_to is null or h.triggered_at < p_ts_to)
    and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
    and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
  order by h.triggered_at desc, h.alert_id desc
  limit v_limit;
end;
$$;

create function public.acknowledge_alert(p_alert_id uuid default null)
returns public.success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.require_user_id();
begin
  perform private.require_parameter('p_alert_id', p_alert_id is null);
  -- The first acknowledgement stays on record.
  update app.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id;
  if not found then
    raise sqlstate 'PT404' using
      message = 'Alert not found',
      hint = 'Send an alert_id of list_alert_history.';
  end if;
  return row(true)::public.success;
end;
$$;

grant execute on function
  private.is_email_address(text),
  private.is_webhook_url(text),
  private.refuse_alert_rule(),
  private.distinct_destinations(text[]),
  public.list_alert_rules(text, integer, uuid),
  public.get_alert_rule(uuid),
  public.create_alert_rule(
    text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
  ),
  public.update_alert_rule(
    uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
  ),
  public.delete_alert_rule(uuid),
  public.list_alert_history(
    text, uuid, timestamptz, timestamptz, boolean, integer, uuid
  ),
  public.acknowledge_alert(uuid)
to authenticated, service_role;

comment on table app.alert_rules is
  'What a tenant wants to be told of: a query, its window, and the threshold of its value.';
comment on column app.alert_rules.created_by is
  'The claim sub of who made it. Every user of the tenant may change it.';
comment on column app.alert_rules.notification_config is
  'Free-form. email and webhook_url are the addresses of the destinations of these names.';
comment on column app.alert_rules.last_evaluated_at is 'End of the last window evaluated.';
comment on column app.alert_rules.last_value is 'Value over that window; null: no data.';
comment on column app.alert_rules.last_error is 'Why that window could not be evaluated.';
comment on constraint alert_rules_name_is_valid on app.alert_rules is
  'Invalid p_name: 1 to 200 characters after trimming
Name the rule after what it watches.';
comment on constraint alert_rules_description_is_valid on app.alert_rules is
  'Invalid p_description: at most 2000 characters
Shorten it.';
comment on constraint alert_rules_threshold_is_finite on app.alert_rules is
  'Invalid p_threshold: a finite number
Send a JSON number.';
comment on constraint alert_rules_comparison_is_known on app.alert_rules is
  'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq
The value of the query stands at the left: gt fires when it is above p_threshold.';
comment on constraint alert_rules_window_is_valid on app.alert_rules is
  'Invalid p_window_minutes: 1 to 1440
A day is the longest window.';
comment on constraint alert_rules_cooldown_is_valid on app.alert_rules is
  'Invalid p_cooldown_minutes: 0 to 10080
Seven days is the longest cooldown.';
comment on constraint alert_rules_destinations_are_known on app.alert_rules is
  'Invalid p_notification_destinations: any of email, webhook
Send a flat array of these texts.';
comment on constraint alert_rules_config_is_object on app.alert_rules is
  'Invalid p_notification_config: an object of at most 8192 bytes
Send a JSON object with email and webhook_url.';
comment on constraint alert_rules_email_is_valid on app.alert_rules is
  'Invalid p_notification_config: email is no email address
Send one address, without a name or angle brackets.';
comment on constraint alert_rules_webhook_url_is_valid on app.alert_rules is
  'Invalid p_notification_config: webhook_url is no https URL
Send an https URL without user name and password.';
comment on constraint alert_rules_destinations_have_addresses on app.alert_rules is
  'Invalid p_notification_config: an enabled rule needs the address of each destination
Send email for the destination email, webhook_url for webhook, or disable the rule.';
comment on table app.alert_history is
  'Each time a rule''s condition held, what was seen then, and who answered it.';
comment on column app.alert_history.threshold is 'The rule''s threshold at the time.';
comment on column app.alert_history.acknowledged_by is
  'The claim sub of who acknowledged it first.';
comment on column app.alert_history.notification_channels is 'Channels on which it arrived.';
comment on column app.alert_history.notification_error is
  'Why the last delivery that was given up could not be made.';
comment on column app.alert_history.window_end is
  'The value is of records from window_start to before window_end.';
comment on type public.alert_comparison is 'How a rule compares its value with the threshold.';
comment on type public.alert_rule is 'An alert rule. Windows and cooldowns are in minutes.';
comment on type public.alert_history_entry is
  'An alert: the value that a rule saw, and whether it was acknowledged and delivered.';
comment on function private.is_email_address(text) is 'One plain ASCII address, nothing around it.';
comment on function private.is_webhook_url(text) is
  'An https URL without userinfo, or one of http://127.0.0.1. Whether its host may be reached is '
  'checked when it is.';
comment on function private.refuse_alert_rule() is 'PT404: no such alert rule.';
comment on function private.distinct_destinations(text[]) is
  'Each destination once, in the order of the first mention. Null where there is none.';
comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';
comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';
comment on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
) is
  'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. '
  'p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, '
  'webhook; their addresses are in p_notification_config (email, webhook_url). '
  'Errors: PT400 (plan limit, too), PT401, PT403.';
comment on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
) is
  'Changes what is given and returns the alert rule. An empty p_description takes it away, '
  'p_notification_config is replaced as a whole. Errors: PT400, PT401, PT404.';
comment on function public.delete_alert_rule(uuid) is
  'Deletes an alert rule; its history stays. Errors: PT400, PT401, PT404.';
comment on function public.list_alert_history(
  text, uuid, timestamptz, timestamptz, boolean, integer, uuid
) is
  'Alerts of the tenant, newest first: of one rule, triggered from p_ts_from to before p_ts_to, '
  'acknowledged or not, where given. p_limit 1 to 1000 (default 100), p_after: alert_id of the '
  'last item of the page before. Errors: PT400, PT401, PT403.';
comment on function public.acknowledge_alert(uuid) is
  'Records that the caller answers an alert. Again: no change. Errors: PT400, PT401, PT404.';
