create type public.logloom_unsealed_secret as (
  rule_id uuid,
  tenant_id text,
  secrets text[],
  customer text
);

comment on type public.logloom_unsealed_secret is
  'Secrets of a rule that were not sealed with the function''s current key.';

-- Returns secrets of rules after p_after that are plain text or sealed with another key.
create function logloom_private.unsealed_secrets(p_key_id text, p_after uuid)
returns setof public.logloom_unsealed_secret
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the secrets
declare
  v_sealed constant text := 'lls1.' || p_key_id || '.';
begin
  return query
  select
    u.rule_id, u.tenant_id, array_agg(u.secret), logloom_private.customer_of_view(u.view_id)
  from (
    select r.rule_id, r.tenant_id, r.view_id, s.secret
    from logloom.alert_rules r
    left join logloom_private.webhook_secrets w on w.rule_id = r.rule_id
    cross join lateral (
      select unnest(array[w.secret, w.previous_secret])
      union all
      select e.value from jsonb_each_text(r.notification_secrets) e
    ) s (secret)
    where (p_after is null or r.rule_id > p_after)
      and s.secret is not null and not starts_with(s.secret, v_sealed)
  ) u
  group by u.rule_id, u.tenant_id, u.view_id
  order by u.rule_id
  limit 100;
end;
$$;

-- Replaces a secret of a rule, wherever it is stored, with a sealed text. p_digest is the hex
-- SHA-256 of the secret: the secret itself is not sent.
create function logloom_private.put_sealed(p_rule_id uuid, p_digest text, p_sealed text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes the secrets
begin
  update logloom_private.webhook_secrets w
  set
    secret = case
      when encode(sha256(convert_to(w.secret, 'UTF8')), 'hex') = p_digest then p_sealed
      else w.secret
    end,
    previous_secret = case
      when encode(sha256(convert_to(w.previous_secret, 'UTF8')), 'hex') = p_digest then p_sealed
      else w.previous_secret
    end
  where w.rule_id = p_rule_id;
  update logloom.alert_rules r
  set notification_secrets = (
    select jsonb_object_agg(
      s.key,
      case when encode(sha256(convert_to(s.value, 'UTF8')), 'hex') = p_digest then p_sealed
        else s.value end
    )
    from jsonb_each_text(r.notification_secrets) s
  )
  where r.rule_id = p_rule_id and r.notification_secrets <> '{}';
end;
$$;

create function public.list_unsealed_alert_secrets(
  p_key_id text default null,
  p_after uuid default null
)
returns setof public.logloom_unsealed_secret
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  return query select u.* from logloom_private.unsealed_secrets(p_key_id, p_after) u;
end;
$$;

comment on function public.list_unsealed_alert_secrets(text, uuid) is
  'The edge function logloom-notify calls it. Returns the secrets of alert rules that are not '
  'sealed with its key p_key_id. Reads 100 rules after p_after. Errors: PT400.';

create function public.seal_alert_secret(
  p_rule_id uuid default null,
  p_digest text default null,
  p_sealed text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  perform logloom_private.require_parameter('p_digest', p_digest is null);
  perform logloom_private.require_parameter('p_sealed', p_sealed is null);
  if p_sealed !~ ('^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}'
    || '(\.=[A-Za-z0-9_-]{43})?(\.[0-9a-f]{64})?$')
  then
    perform logloom_private.refuse('parameters.secret_is_not_sealed', 'p_sealed');
  end if;
  perform logloom_private.put_sealed(p_rule_id, p_digest, p_sealed);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.seal_alert_secret(uuid, text, text) is
  'The edge function logloom-notify calls it. Replaces the secret of a rule by p_sealed. p_digest '
  'is the secret''s hex SHA-256. Errors: PT400.';

create type public.logloom_webhook_secret as (
  rule_id uuid,
  secret text,
  previous_valid_until timestamptz
);

comment on type public.logloom_webhook_secret is
  'The new secret of a rule, shown only now. The previous one also signs until '
  'previous_valid_until.';

-- Creates a new secret for a rule of the tenant. The previous one stays valid for a day.
create function logloom_private.replace_webhook_secret(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid
)
returns public.logloom_webhook_secret
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reaches the secrets
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'rotate_alert_webhook_secret', null, 'member');
  v_rule constant logloom.alert_rules := logloom_private.locked_rule(v_scope, p_rule_id);
  v_result public.logloom_webhook_secret;
begin
  perform logloom_private.require_view_of_session(v_scope, v_rule.view_id, 'alert rule');
  insert into logloom_private.webhook_secrets as w (rule_id)
  values (v_rule.rule_id)
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + interval '24 hours',
    secret = excluded.secret,
    changed_at = now()
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
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
  return logloom_private.replace_webhook_secret(null, p_rule_id);
end;
$$;

comment on function public.rotate_alert_webhook_secret(uuid) is
  'Creates a new secret for a rule''s webhooks and returns it. Only this answer shows it. For 24 '
  'hours webhooks are signed with both. A customer''s rule requires the role admin. Errors: PT400, '
  'PT401, PT403, PT404.';

-- Makes a new secret if the URL gets another scheme, host or port, which is another receiver. That
-- receiver can verify signatures only after somebody rotates the secret and sees it.
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
