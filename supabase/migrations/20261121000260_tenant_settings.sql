-- What a tenant may know of itself, and what it may set.

create type public.plan_features as (
  saved_searches boolean,
  max_saved_searches integer,
  alerts boolean,
  max_alerts integer
);

create type public.tenant as (
  tenant_id text,
  plan_id text,
  plan_name text,
  created_at timestamptz,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  features public.plan_features
);

create type public.pipeline_config as (retention_days integer, compression boolean);

create type public.notification_preferences as (email_enabled boolean, webhook_enabled boolean);

create type public.tenant_settings as (
  tenant_id text,
  pipeline_config public.pipeline_config,
  notification_preferences public.notification_preferences
);

create table app.tenant_settings (
  tenant_id text primary key references app.tenants on delete cascade,
  retention_days integer,
  compression boolean,
  email_enabled boolean,
  webhook_enabled boolean,
  updated_at timestamptz not null default now(),
  constraint tenant_settings_retention_is_positive check (retention_days >= 1)
);

alter table app.tenant_settings enable row level security;
alter table app.tenant_settings force row level security;

create policy tenant_settings_select_tenant on app.tenant_settings
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy tenant_settings_insert_tenant on app.tenant_settings
for insert to authenticated
with check (tenant_id = (select private.current_tenant_id()));

create policy tenant_settings_update_tenant on app.tenant_settings
for update to authenticated
using (tenant_id = (select private.current_tenant_id()))
with check (tenant_id = (select private.current_tenant_id()));

grant select on app.tenant_settings to authenticated, service_role;
grant insert (
  tenant_id, retention_days, compression, email_enabled, webhook_enabled
) on app.tenant_settings to authenticated, service_role;
grant update (retention_days, compression, email_enabled, webhook_enabled, updated_at)
on app.tenant_settings to authenticated, service_role;

create function private.effective_settings(p_tenant_id text)
returns public.tenant_settings
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_result public.tenant_settings;
begin
  select
    t.tenant_id,
    row(
      least(coalesce(s.retention_days, p.retention_days_default), p.retention_days_max),
      coalesce(s.compression, true)
    ),
    row(coalesce(s.email_enabled, true), coalesce(s.webhook_enabled, true))
  into v_result
  from app.tenants t
  join app.plans p on p.plan_id = t.plan_id
  left join app.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  if not found then
    raise sqlstate 'PT404' using
      message = 'Tenant settings not found',
      hint = 'A tenant appears with its first write: create, update or ingest.';
  end if;
  return v_result;
end;
$$;

create function private.check_settings_member(
  p_group text,
  p_member text,
  p_value jsonb,
  p_retention_days_max integer
)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_group || '.' || p_member;
begin
  if p_group = 'pipeline_config' and p_member = 'retention_days' then
    if jsonb_typeof(p_value) <> 'number' or p_value::numeric <> trunc(p_value::numeric) then
      raise sqlstate 'PT400' using
        message = format('Invalid settings data: %s must be a whole number', v_name),
        hint = format('Send a number from 1 to %s.', p_retention_days_max);
    end if;
    if p_value::numeric not between 1 and p_retention_days_max then
      raise sqlstate 'PT400' using
        message = format(
          'Invalid settings data: %s must be from 1 to %s', v_name, p_retention_days_max
        ),
        hint = 'The plan sets the greatest retention_days.';
    end if;
  elsif v_name in (
    'pipeline_config.compression',
    'notification_preferences.email_enabled',
    'notification_preferences.webhook_enabled'
  ) then
    if jsonb_typeof(p_value) <> 'boolean' then
      raise sqlstate 'PT400' using
        message = format('Invalid settings data: %s must be true or false', v_name),
        hint = 'Send a JSON boolean.';
    end if;
  else
    raise sqlstate 'PT400' using
      message = format(
        'Invalid settings data: %s has an unknown member "%s"', p_group, left(p_member, 40)
      ),
      hint = 'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.';
  end if;
end;
$$;

create function private.check_settings(p_group text, p_values jsonb, p_retention_days_max integer)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_member record;
begin
  if p_values is null then
    return;
  end if;
  if jsonb_typeof(p_values) <> 'object' then
    raise sqlstate 'PT400' using
      message = format('Invalid settings data: %s must be an object', p_group),
      hint = 'Send a JSON object with the members to change.';
  end if;
  for v_member in select m.key, m.value from jsonb_each(p_values) m loop
    perform private.check_settings_member(
      p_group, v_member.key, v_member.value, p_retention_days_max
    );
  end loop;
end;
$$;

create function public.get_current_tenant(p_tenant_id text default null)
returns public.tenant
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_result public.tenant;
begin
  select
    t.tenant_id, p.plan_id, p.plan_name, t.created_at,
    p.monthly_events_limit, p.monthly_bytes_limit,
    row(p.saved_searches, p.max_saved_searches, p.alerts, p.max_alerts)
  into v_result
  from app.tenants t
  join app.plans p on p.plan_id = t.plan_id
  where t.tenant_id = v_tenant_id;
  if not found then
    raise sqlstate 'PT404' using
      message = 'Tenant not found',
      hint = 'A tenant appears with its first write: create, update or ingest.';
  end if;
  return v_result;
end;
$$;

create function public.get_tenant_settings(p_tenant_id text default null)
returns public.tenant_settings
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.effective_settings(private.resolve_tenant(p_tenant_id));
end;
$$;

create function public.update_tenant_settings(
  p_tenant_id text default null,
  pipeline_config jsonb default null,
  notification_preferences jsonb default null
)
returns public.tenant_settings
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.provision_current_tenant(p_tenant_id);
  v_pipeline constant jsonb := nullif(update_tenant_settings.pipeline_config, 'null');
  v_notification constant jsonb := nullif(update_tenant_settings.notification_preferences, 'null');
  v_retention_days_max integer;
begin
  select p.retention_days_max into v_retention_days_max
  from app.tenants t
  join app.plans p on p.plan_id = t.plan_id
  where t.tenant_id = v_tenant_id;
  perform private.check_settings('pipeline_config', v_pipeline, v_retention_days_max);
  perform private.check_settings('notification_preferences', v_notification, v_retention_days_max);

  insert into app.tenant_settings as s (
    tenant_id, retention_days, compression, email_enabled, webhook_enabled
  )
  values (
    v_tenant_id,
    (v_pipeline ->> 'retention_days')::numeric,
    (v_pipeline ->> 'compression')::boolean,
    (v_notification ->> 'email_enabled')::boolean,
    (v_notification ->> 'webhook_enabled')::boolean
  )
  on conflict (tenant_id) do update set
    retention_days = coalesce(excluded.retention_days, s.retention_days),
    compression = coalesce(excluded.compression, s.compression),
    email_enabled = coalesce(excluded.email_enabled, s.email_enabled),
    webhook_enabled = coalesce(excluded.webhook_enabled, s.webhook_enabled),
    updated_at = now();
  return private.effective_settings(v_tenant_id);
end;
$$;

grant execute on function
  private.effective_settings(text),
  private.check_settings(text, jsonb, integer),
  private.check_settings_member(text, text, jsonb, integer),
  public.get_current_tenant(text),
  public.get_tenant_settings(text),
  public.update_tenant_settings(text, jsonb, jsonb)
to authenticated, service_role;

comment on table app.tenant_settings is
  'What a tenant set. Where there is no row, or null, the default holds.';
comment on column app.tenant_settings.retention_days is
  'Read cut to the plan''s limit: a change of plan may have lowered it.';
comment on type public.plan_features is 'What a plan includes, and how many.';
comment on type public.tenant is 'A tenant with its plan. Limits are per UTC month.';
comment on type public.pipeline_config is 'How long records are kept, and whether compressed.';
comment on type public.notification_preferences is 'Which channels alerts may use.';
comment on type public.tenant_settings is 'The settings in force: what was set, else the defaults.';
comment on function private.effective_settings(text) is
  'The settings in force for a tenant. PT404 before its first write.';
comment on function private.check_settings_member(text, text, jsonb, integer) is
  'PT400 for an unknown member of the settings, a wrong type or a retention out of bounds.';
comment on function private.check_settings(text, jsonb, integer) is
  'PT400 unless p_values is null or an object of valid settings.';
comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';
comment on function public.get_tenant_settings(text) is
  'The settings in force: what the tenant set, else the defaults of its plan. '
  'Errors: PT400, PT401, PT403, PT404.';
comment on function public.update_tenant_settings(text, jsonb, jsonb) is
  'Sets the members that are given and returns all settings. pipeline_config: retention_days (1 to '
  'the plan''s limit), compression. notification_preferences: email_enabled, webhook_enabled. '
  'Errors: PT400, PT401, PT403.';
