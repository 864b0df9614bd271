-- API keys: only a digest is stored, the key itself is shown once.

create type public.api_key as (
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

create type public.created_api_key as (
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

create type public.api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer
);

create table app.api_keys (
  key_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
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

create unique index api_keys_key_digest_idx on app.api_keys (key_digest);
create index api_keys_tenant_id_created_at_idx
on app.api_keys (tenant_id, created_at desc, key_id desc);

alter table app.api_keys enable row level security;
alter table app.api_keys force row level security;

create policy api_keys_select_tenant on app.api_keys
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

create policy api_keys_insert_tenant on app.api_keys
for insert to authenticated
with check (tenant_id = (select private.current_tenant_id()));

create policy api_keys_update_tenant on app.api_keys
for update to authenticated
using (tenant_id = (select private.current_tenant_id()))
with check (tenant_id = (select private.current_tenant_id()));

grant select (
  key_id, tenant_id, name, key_prefix, scopes, created_by, created_at, last_used_at, expires_at,
  revoked_at
) on app.api_keys to authenticated, service_role;
grant insert (tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at)
on app.api_keys to authenticated, service_role;
grant update (expires_at, revoked_at) on app.api_keys to authenticated, service_role;

create function private.api_key_status(p_revoked_at timestamptz, p_expires_at timestamptz)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when p_revoked_at is not null then 'revoked'
    when p_expires_at <= now() then 'expired'
    else 'active'
  end;
end;
$$;

create function private.base62(p_value bigint, p_length integer)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
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

create function private.crc32(p_bytes bytea)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
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

create function private.new_api_key()
returns text
language plpgsql
volatile
security definer
set search_path = ''
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
      v_key := v_key || private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || private.base62(private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$$;

create function public.list_api_keys(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.api_key
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_limit constant integer := private.list_limit(p_limit);
  v_after_created_at timestamptz;
begin
  if p_after is not null then
    select k.created_at into v_after_created_at
    from app.api_keys k
    where k.tenant_id = v_tenant_id and k.key_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such API key',
        hint = 'Send the key_id of the last item of the page before.';
    end if;
  end if;

  return query
  select
    k.key_id, k.tenant_id, k.name, k.key_prefix, k.scopes,
    private.api_key_status(k.revoked_at, k.expires_at),
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at
  from app.api_keys k
  where k.tenant_id = v_tenant_id
    and (p_after is null or (k.created_at, k.key_id) < (v_after_created_at, p_after))
  order by k.created_at desc, k.key_id desc
  limit v_limit;
end;
$$;

create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at timestamptz default null,
  p_scopes text[] default null
)
returns public.created_api_key
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_name constant text := private.trim_space(p_name);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
  v_key_value text;
  v_result public.created_api_key;
begin
  perform private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    raise sqlstate 'PT400' using
      message = 'Invalid API key name: 1 to 100 characters after trimming',
      hint = 'Name the key after the server that will use it.';
  end if;
  if p_expires_at <= now() then
    raise sqlstate 'PT400' using
      message = 'Invalid p_expires_at: it is in the past',
      hint = 'Send a later time, or leave it out for a key that does not expire.';
  end if;
  if not v_scopes <@ '{ingest}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    raise sqlstate 'PT400' using
      message = 'Invalid p_scopes: the only scope is ingest',
      hint = 'Leave p_scopes out.';
  end if;

  perform private.provision_current_tenant(p_tenant_id);
  v_key_value := private.new_api_key();
  insert into app.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at
  )
  values (
    v_tenant_id, v_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(v_scopes)), private.current_user_id(), p_expires_at
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    private.api_key_status(revoked_at, expires_at), created_at, expires_at
  into v_result;
  return v_result;
end;
$$;

create function public.revoke_api_key(p_tenant_id text default null, p_key_id uuid default null)
returns public.success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
begin
  perform private.require_parameter('p_key_id', p_key_id is null);
  update app.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    raise sqlstate 'PT404' using
      message = 'API key not found',
      hint = 'list_api_keys shows the keys of this tenant.';
  end if;
  return row(true)::public.success;
end;
$$;

create function public.rotate_api_key(
  p_tenant_id text default null,
  p_key_id uuid default null,
  p_overlap_minutes integer default null
)
returns public.created_api_key
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.created_api_key;
begin
  perform private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    raise sqlstate 'PT400' using
      message = 'Invalid p_overlap_minutes: 0 to 10080',
      hint = 'Both keys work for so long; 10080 minutes are a week.';
  end if;
  select k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at into v_old
  from app.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    raise sqlstate 'PT404' using
      message = 'API key not found',
      hint = 'list_api_keys shows the keys of this tenant.';
  end if;
  if private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    raise sqlstate 'PT400' using
      message = 'Invalid p_key_id: the API key is revoked or expired',
      hint = 'Create a new key.';
  end if;

  -- A key that was to live for a time is followed by one that lives as long.
  v_result := public.create_api_key(
    p_tenant_id, v_old.name, now() + (v_old.expires_at - v_old.created_at), v_old.scopes
  );
  update app.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$$;

create function public.get_api_key_usage(p_tenant_id text default null, p_key_id uuid default null)
returns public.api_key_usage
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_result public.api_key_usage;
begin
  perform private.require_parameter('p_key_id', p_key_id is null);
  select
    k.key_id, k.name, k.created_at, k.last_used_at,
    floor(extract(epoch from now() - k.created_at) / 86400),
    floor(extract(epoch from now() - k.last_used_at) / 86400)
  into v_result
  from app.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    raise sqlstate 'PT404' using
      message = 'API key not found',
      hint = 'list_api_keys shows the keys of this tenant.';
  end if;
  return v_result;
end;
$$;

grant execute on function
  private.api_key_status(timestamptz, timestamptz),
  private.new_api_key(),
  public.list_api_keys(text, integer, uuid),
  public.create_api_key(text, text, timestamptz, text[]),
  public.revoke_api_key(text, uuid),
  public.rotate_api_key(text, uuid, integer),
  public.get_api_key_usage(text, uuid)
to authenticated, service_role;

comment on table app.api_keys is 'API keys of tenants. The key itself is never stored.';
comment on column app.api_keys.key_digest is 'SHA-256 of the whole key.';
comment on column app.api_keys.key_prefix is
  'The first 11 characters of the key, to tell keys apart.';
comment on column app.api_keys.last_used_at is
  'Right to the minute: one update a minute, not a request.';
comment on type public.api_key is
  'An API key as lists show it. status: active, revoked or expired.';
comment on type public.created_api_key is 'A new API key. key_value is shown this once.';
comment on type public.api_key_usage is 'Use of an API key, in whole days; null when never used.';
comment on function private.api_key_status(timestamptz, timestamptz) is
  'active, revoked or expired. Revoked wins.';
comment on function private.base62(bigint, integer) is
  'p_value in base 62 (0-9 A-Z a-z), most significant first, padded to p_length with 0.';
comment on function private.crc32(bytea) is 'CRC-32 as in ISO 3309 and zlib.';
comment on function private.new_api_key() is
  'll_ + 30 random base62 characters (178 bits) + base62 CRC-32 of what precedes, 6 characters.';
comment on function public.list_api_keys(text, integer, uuid) is
  'API keys of the tenant, newest first, without their values. p_limit 1 to 1000 (default 100), '
  'p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';
comment on function public.create_api_key(text, text, timestamptz, text[]) is
  'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after '
  'trimming. p_expires_at: none by default. Errors: PT400, PT401, PT403.';
comment on function public.revoke_api_key(text, uuid) is
  'Revokes an API key; the next request with it is refused. Again: no change. '
  'Errors: PT400, PT401, PT403, PT404.';
comment on function public.rotate_api_key(text, uuid, integer) is
  'Creates an API key in place of another, with its name, scopes and length of life, and returns '
  'it with key_value, this once. The other works for p_overlap_minutes more (0 to 10080, default '
  '60). Errors: PT400, PT401, PT403, PT404.';
comment on function public.get_api_key_usage(text, uuid) is
  'When an API key was made and last used, in whole days since. '
  'Errors: PT400, PT401, PT403, PT404.';
