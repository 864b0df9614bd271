create function logloom_private.my_stored(p_tenant_id text)
returns public.logloom_stored
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may read blocks and counts
begin
  return logloom_private.stored_of(logloom_private.resolve_tenant(p_tenant_id));
exception when query_canceled then
  -- Answers 504: at a 503 PostgREST would reconnect and reload its schema for everybody.
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  return null;
end;
$$;

create function public.get_tenant_settings(p_tenant_id text default null)
returns public.logloom_tenant_settings
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant_settings :=
    logloom_private.effective_settings(logloom_private.resolve_tenant(p_tenant_id));
begin
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  return v_result;
end;
$$;

comment on function public.get_tenant_settings(text) is
  'Returns the current settings: the tenant''s own, or else the defaults of its plan. stored: the '
  'disk space of its records. Errors: PT400, PT401, PT403, PT404.';

-- Raises PT400 unless p_values is null or an object of known settings with valid values.
create function logloom_private.check_settings(
  p_group text,
  p_values jsonb,
  p_retention_days_max integer
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member record;
begin
  if jsonb_typeof(p_values) <> 'object' then
    perform logloom_private.refuse('usage.settings_are_no_object', p_group);
  end if;
  for v_member in
    select p_group || '.' || m.key as name, m.key, m.value, jsonb_typeof(m.value) as type
    from jsonb_each(p_values) m
  loop
    if v_member.name = 'pipeline_config.retention_days' then
      if v_member.type <> 'number' or v_member.value::numeric <> trunc(v_member.value::numeric) then
        perform logloom_private.refuse(
          'usage.setting_is_no_whole_number', v_member.name, p_retention_days_max::text
        );
      elsif v_member.value::numeric not between 1 and p_retention_days_max then
        perform logloom_private.refuse(
          'usage.setting_is_out_of_range', v_member.name, p_retention_days_max::text
        );
      end if;
    elsif v_member.name not in (
      'pipeline_config.compression',
      'notification_preferences.email_enabled',
      'notification_preferences.webhook_enabled'
    ) then
      perform logloom_private.refuse('usage.setting_is_unknown', p_group, left(v_member.key, 40));
    elsif v_member.type <> 'boolean' then
      perform logloom_private.refuse('usage.setting_is_no_boolean', v_member.name);
    end if;
  end loop;
end;
$$;

create function public.update_tenant_settings(
  p_tenant_id text default null,
  pipeline_config jsonb default null,
  notification_preferences jsonb default null
)
returns public.logloom_tenant_settings
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.provision_current_tenant(p_tenant_id);
  v_pipeline constant jsonb := nullif(update_tenant_settings.pipeline_config, 'null');
  v_notification constant jsonb := nullif(update_tenant_settings.notification_preferences, 'null');
  v_retention_days_max constant integer :=
    (logloom_private.plan_of(v_tenant_id)).retention_days_max;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.check_settings('pipeline_config', v_pipeline, v_retention_days_max);
  perform logloom_private.check_settings(
    'notification_preferences', v_notification, v_retention_days_max
  );

  insert into logloom.tenant_settings as s (
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
  return public.get_tenant_settings(p_tenant_id);
end;
$$;

comment on function public.update_tenant_settings(text, jsonb, jsonb) is
  'Sets the given members and returns all settings. pipeline_config: retention_days (1 to the '
  'plan''s limit), compression. notification_preferences: email_enabled, webhook_enabled. Errors: '
  'PT400, PT401, PT403.';
