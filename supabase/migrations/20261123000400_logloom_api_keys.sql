-- Assembled from supabase/schemas by npm run migration: change it there.

-- api_keys/types/api_keys.sql

-- API keys: only a digest is stored, the key itself is shown once.

create type public.logloom_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  scopes text[],
  status text,
  created_at timestamptz,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

comment on type public.logloom_api_key is
  'An API key as lists show it. status: active, revoked or expired.';

create type public.logloom_created_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  key_value text,
  scopes text[],
  status text,
  created_at timestamptz,
  expires_at timestamptz
);

comment on type public.logloom_created_api_key is 'A new API key. key_value is shown this once.';

-- api_keys/tables/api_keys.sql

create table logloom.api_keys (
  key_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  key_prefix text not null,
  key_digest bytea not null,
  scopes text[] not null default '{ingest}',
  created_by text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint api_keys_name_is_trimmed check (name = trim(name) and length(name) between 1 and 100),
  constraint api_keys_prefix_is_ours check (key_prefix ~ '^ll_[0-9A-Za-z]{8}$'),
  constraint api_keys_digest_is_sha256 check (length(key_digest) = 32),
  constraint api_keys_scopes_are_known check (scopes <@ '{ingest}' and cardinality(scopes) > 0)
);

create unique index api_keys_key_digest_idx on logloom.api_keys (key_digest);

create index api_keys_tenant_id_created_at_idx
on logloom.api_keys (tenant_id, created_at desc, key_id desc);

create policy api_keys_select_tenant on logloom.api_keys
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy api_keys_insert_tenant on logloom.api_keys
for insert to authenticated
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy api_keys_update_tenant on logloom.api_keys
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select (
  key_id, tenant_id, name, key_prefix, scopes, created_by, created_at, last_used_at, expires_at,
  revoked_at
) on logloom.api_keys to authenticated, service_role;

grant insert (tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at)
on logloom.api_keys to authenticated, service_role;

grant update (expires_at, revoked_at) on logloom.api_keys to authenticated, service_role;

comment on table logloom.api_keys is 'API keys of tenants. The key itself is never stored.';

comment on column logloom.api_keys.key_digest is 'SHA-256 of the whole key.';

comment on column logloom.api_keys.key_prefix is
  'The first 11 characters of the key, to tell keys apart.';

comment on column logloom.api_keys.last_used_at is
  'Right to the minute: one update a minute, not a request.';

-- api_keys/api_key_status.sql

-- active, revoked or expired. Revoked wins.
create function logloom_private.api_key_status(p_revoked_at timestamptz, p_expires_at timestamptz)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_revoked_at is not null then 'revoked'
    when p_expires_at <= now() then 'expired'
    else 'active'
  end;
end;
$$;

-- api_keys/audit_api_keys.sql

-- Audit of API keys. Their use is not a change.
create function logloom_private.audit_api_keys()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_key constant logloom.api_keys := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_key.tenant_id,
    logloom_private.actor(),
    case
      when tg_op = 'INSERT' then 'api_key.created'
      when tg_op = 'DELETE' then 'api_key.deleted'
      when new.revoked_at is not null and old.revoked_at is null then 'api_key.revoked'
      else 'api_key.changed'
    end,
    v_key.key_id::text,
    -- Named one by one: a digest must never come in here.
    jsonb_build_object('name', v_key.name, 'key_prefix', v_key.key_prefix)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        jsonb_build_object('expires_at', old.expires_at, 'revoked_at', old.revoked_at),
        jsonb_build_object('expires_at', new.expires_at, 'revoked_at', new.revoked_at)
      )
      else jsonb_strip_nulls(jsonb_build_object('expires_at', v_key.expires_at))
    end
  );
  return null;
end;
$$;

create trigger audit_api_keys
after insert or delete or update of name, scopes, expires_at, revoked_at on logloom.api_keys
for each row execute function logloom_private.audit_api_keys();

-- api_keys/create_api_key.sql

create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at timestamptz default null,
  p_scopes text[] default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if p_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes);
end;
$$;

comment on function public.create_api_key(text, text, timestamptz, text[]) is
  'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after '
  'trimming. p_expires_at: none by default. Errors: PT400 (plan limit, too), PT401, PT403.';

-- api_keys/get_api_key_usage.sql

create type public.logloom_api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer
);

comment on type public.logloom_api_key_usage is
  'Use of an API key, in whole days; null when never used.';

create function public.get_api_key_usage(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_api_key_usage
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_api_key_usage;
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  select
    k.key_id, k.name, k.created_at, k.last_used_at,
    floor(extract(epoch from now() - k.created_at) / 86400),
    floor(extract(epoch from now() - k.last_used_at) / 86400)
  into v_result
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_api_key_usage(text, uuid) is
  'When an API key was made and last used, in whole days since. '
  'Errors: PT400, PT401, PT403, PT404.';

-- api_keys/issue_api_key.sql

-- Makes a key of checked parameters and returns it with key_value.
create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[]
)
returns public.logloom_created_api_key
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at
  into v_result;
  return v_result;
end;
$$;

-- api_keys/list_api_keys.sql

create function public.list_api_keys(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_api_key
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'API key', 'key_id',
    (
      select k.created_at from logloom.api_keys k
      where k.tenant_id = v_tenant_id and k.key_id = p_after
    )
  );
begin
  return query
  select
    k.key_id, k.tenant_id, k.name, k.key_prefix, k.scopes,
    logloom_private.api_key_status(k.revoked_at, k.expires_at),
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id
    and (p_after is null or (k.created_at, k.key_id) < (v_after, p_after))
  order by k.created_at desc, k.key_id desc
  limit v_limit;
end;
$$;

comment on function public.list_api_keys(text, integer, uuid) is
  'API keys of the tenant, newest first, without their values. p_limit 1 to 1000 (default 100), '
  'p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';

-- api_keys/new_api_key.sql

-- p_value in base 62 (0-9 A-Z a-z), most significant first, padded to p_length with 0.
create function logloom_private.base62(p_value bigint, p_length integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_rest bigint := p_value;
  v_text text := '';
begin
  for i in 1..p_length loop
    v_text := substr(v_alphabet, (v_rest % 62)::integer + 1, 1) || v_text;
    v_rest := v_rest / 62;
  end loop;
  return v_text;
end;
$$;

-- CRC-32 as in ISO 3309 and zlib.
create function logloom_private.crc32(p_bytes bytea)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_crc bigint := 4294967295;
begin
  for i in 0..length(p_bytes) - 1 loop
    v_crc := v_crc # get_byte(p_bytes, i);
    for v_bit in 1..8 loop
      v_crc := case when v_crc & 1 = 1 then (v_crc >> 1) # 3988292384 else v_crc >> 1 end;
    end loop;
  end loop;
  return v_crc # 4294967295;
end;
$$;

-- ll_ + 30 random base62 characters (178 bits) + base62 CRC-32 of what precedes, 6 characters.
create function logloom_private.new_api_key()
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles need no random bytes of their own
declare
  -- 30 base62 characters carry 178 bits. A byte of 248 and more is drawn again, so that each
  -- character is equally likely.
  v_key text := 'll_';
  v_byte integer;
begin
  while length(v_key) < 33 loop
    v_byte := get_byte(extensions.gen_random_bytes(1), 0);
    if v_byte < 248 then
      v_key := v_key || logloom_private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || logloom_private.base62(logloom_private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$$;

-- api_keys/require_room_for_api_key.sql

-- Provisions the tenant of the request and holds it; PT400 when it has p_times as many living keys
-- as its plan allows. Forgets the longest dead beyond as many.
create function logloom_private.require_room_for_api_key(p_tenant_id text, p_times integer)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant or delete keys
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_api_keys;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.api_keys k
    where k.tenant_id = v_tenant_id
      and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
  ) >= p_times * v_max then
    perform logloom_private.refuse('api_keys.no_room', v_max::text);
  end if;
  -- Of the others as many are shown as may be alive.
  delete from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id in (
    select o.key_id
    from logloom.api_keys o
    where o.tenant_id = v_tenant_id
      and logloom_private.api_key_status(o.revoked_at, o.expires_at) <> 'active'
    order by coalesce(o.revoked_at, o.expires_at) desc, o.key_id
    offset v_max
  );
end;
$$;

-- api_keys/revoke_api_key.sql

create function public.revoke_api_key(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  update logloom.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.revoke_api_key(text, uuid) is
  'Revokes an API key; the next request with it is refused. Again: no change. '
  'Errors: PT400, PT401, PT403, PT404.';

-- api_keys/rotate_api_key.sql

create function public.rotate_api_key(
  p_tenant_id text default null,
  p_key_id uuid default null,
  p_overlap_minutes integer default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.logloom_created_api_key;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    perform logloom_private.refuse('api_keys.overlap_is_out_of_range');
  end if;
  select k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;

  -- A key that was to live for a time is followed by one that lives as long.
  -- Both are alive for a while, also where the plan has no room for one more.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + (v_old.expires_at - v_old.created_at), v_old.scopes
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$$;

comment on function public.rotate_api_key(text, uuid, integer) is
  'Creates an API key in place of another, with its name, scopes and length of life, and returns '
  'it with key_value, this once. The other works for p_overlap_minutes more (0 to 10080, default '
  '60). Errors: PT400, PT401, PT403, PT404.';

select logloom_private.finish_migration();
