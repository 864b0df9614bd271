create type public.logloom_unsealed_secret as (
  rule_id uuid,
  tenant_id text,
  secrets text[]
);

comment on type public.logloom_unsealed_secret is
  'Secrets of a rule that the function''s present key did not seal.';

-- Secrets of rules after p_after that are plain text or were sealed by another key.
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
  select u.rule_id, u.tenant_id, array_agg(u.secret)
  from (
    select r.rule_id, r.tenant_id, s.secret
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
  group by u.rule_id, u.tenant_id
  order by u.rule_id
  limit 100;
end;
$$;

-- Puts a sealed text in the place of a secret of a rule, wherever that is, named by its SHA-256 as
-- hex: neither is repeated.
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
  'What the edge function logloom-notify asks for: secrets of alert rules that its key p_key_id '
  'did not seal, of 100 rules after p_after. Errors: PT400.';

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
  if p_sealed !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}(\.[0-9a-f]{64})?$' then
    perform logloom_private.refuse('parameters.secret_is_not_sealed', 'p_sealed');
  end if;
  perform logloom_private.put_sealed(p_rule_id, p_digest, p_sealed);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.seal_alert_secret(uuid, text, text) is
  'What the edge function logloom-notify calls: p_sealed takes the place of the secret of a rule '
  'whose SHA-256 as hex is p_digest. Errors: PT400.';
