create type public.logloom_webhook_secret as (
  rule_id uuid,
  secret text,
  previous_valid_until timestamptz
);

comment on type public.logloom_webhook_secret is
  'A rule''s new secret, told once, and until when the one before signs, too.';

-- A new secret for a rule of the tenant; the one before is valid for a while.
create function logloom_private.replace_webhook_secret(p_rule_id uuid)
returns public.logloom_webhook_secret
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_result public.logloom_webhook_secret;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  insert into logloom_private.webhook_secrets as w (rule_id)
  select r.rule_id
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + (
      select s.webhook_secret_overlap from logloom_private.settings s
    ),
    secret = excluded.secret,
    changed_at = now()
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return v_result;
end;
$$;

create function public.rotate_alert_webhook_secret(p_rule_id uuid default null)
returns public.logloom_webhook_secret
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.replace_webhook_secret(p_rule_id);
end;
$$;

comment on function public.rotate_alert_webhook_secret(uuid) is
  'Makes a new secret for a rule''s webhooks and returns it, this once. For 24 h webhooks are '
  'signed with both. Errors: PT400, PT401, PT404.';

-- Another scheme, host or port is another receiver: nothing that goes there is signed by the secret
-- of the one before. Whoever wants to verify signatures has a new one made, and is told it.
create function logloom_private.renew_webhook_secret()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reaches the secrets
begin
  update logloom_private.webhook_secrets w
  set secret = default, previous_secret = null, previous_valid_until = null, changed_at = now()
  where w.rule_id = new.rule_id
    and logloom_private.origin_of(old.notification_config ->> 'webhook_url')
      is distinct from logloom_private.origin_of(new.notification_config ->> 'webhook_url');
  return null;
end;
$$;

create trigger alert_rules_renew_webhook_secret
after update of notification_config on logloom.alert_rules
for each row when (
  old.notification_config ->> 'webhook_url'
    is distinct from new.notification_config ->> 'webhook_url'
  and old.notification_config ->> 'webhook_url' is not null
)
execute function logloom_private.renew_webhook_secret();
