-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

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
  revoked_at timestamptz,
  view_id uuid
);

comment on type public.logloom_api_key is
  'An API key as lists show it. status: active, revoked or expired. view_id: the view '
  'that it reads in; null: it is bound to none.';

create type public.logloom_created_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  key_value text,
  scopes text[],
  status text,
  created_at timestamptz,
  expires_at timestamptz,
  view_id uuid
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
  view_id uuid,
  lifetime interval,
  constraint api_keys_name_is_trimmed check (name = trim(name) and length(name) between 1 and 100),
  constraint api_keys_prefix_is_ours check (key_prefix ~ '^ll_[0-9A-Za-z]{8}$'),
  constraint api_keys_digest_is_sha256 check (length(key_digest) = 32),
  constraint api_keys_scopes_are_known check (
    scopes <@ '{ingest, read}' and cardinality(scopes) > 0
  ),
  constraint api_keys_view_is_for_reading check (view_id is null or scopes = '{read}'),
  constraint api_keys_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
);

create unique index api_keys_key_digest_idx on logloom.api_keys (key_digest);

create index api_keys_tenant_id_created_at_idx
on logloom.api_keys (tenant_id, created_at desc, key_id desc);

create index api_keys_tenant_id_view_id_idx on logloom.api_keys (tenant_id, view_id);

create policy api_keys_select_tenant on logloom.api_keys
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy api_keys_insert_admin on logloom.api_keys
for insert to authenticated
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

create policy api_keys_update_admin on logloom.api_keys
for update to authenticated
using (tenant_id = (select logloom_private.current_admin_tenant_id()))
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

grant select (
  key_id, tenant_id, name, key_prefix, scopes, created_by, created_at, last_used_at, expires_at,
  revoked_at, view_id, lifetime
) on logloom.api_keys to authenticated, service_role;

grant insert (
  tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id, lifetime
) on logloom.api_keys to authenticated, service_role;

grant update (expires_at, revoked_at) on logloom.api_keys to authenticated, service_role;

comment on table logloom.api_keys is 'API keys of tenants. The key itself is never stored.';

comment on column logloom.api_keys.key_digest is 'SHA-256 of the whole key.';

comment on column logloom.api_keys.key_prefix is
  'The first 11 characters of the key, to tell keys apart.';

comment on column logloom.api_keys.last_used_at is
  'Right to the minute: one update a minute, not a request.';

comment on column logloom.api_keys.lifetime is
  'How long it was to live when it was made, whatever a rotation left of that. Null: for ever.';

comment on column logloom.api_keys.view_id is 'What it reads in. Null: all of the tenant.';

-- api_keys/tables/ingest_tokens.sql
create table logloom_private.ingest_tokens (
  token_digest bytea primary key,
  tenant_id text not null references logloom.tenants on delete cascade,
  service text not null,
  created_by text,
  session_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint ingest_tokens_digest_is_sha256 check (length(token_digest) = 32)
);

create index ingest_tokens_tenant_id_idx on logloom_private.ingest_tokens (tenant_id);
create index ingest_tokens_expires_at_idx on logloom_private.ingest_tokens (expires_at);

comment on table logloom_private.ingest_tokens is
  'Tokens with which pages send. The token itself is never stored.';

comment on column logloom_private.ingest_tokens.token_digest is 'SHA-256 of the whole token.';

comment on column logloom_private.ingest_tokens.created_by is
  'The user, without whom the token ends. Null: the project itself, by its secret key.';

comment on column logloom_private.ingest_tokens.session_id is
  'The user''s session of Supabase Auth, with which the token ends. Null where there is none.';

-- api_keys/tables/key_reads.sql
create table logloom_private.key_reads (
  key_id uuid not null references logloom.api_keys on delete cascade,
  day date not null,
  operation text not null,
  reads bigint not null
)
-- A row changes with every read: room on the page keeps that out of the index.
with (fillfactor = 50);

create index key_reads_key_id_day_operation_idx
on logloom_private.key_reads (key_id, day, operation);

comment on table logloom_private.key_reads is
  'What was answered to an API key, by UTC day and operation, for 31 days. Several rows of one '
  'operation are summed up: each was held when a read beside it was counted.';

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
      else jsonb_strip_nulls(jsonb_build_object(
        'expires_at', v_key.expires_at, 'view_id', v_key.view_id
      ))
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
  p_scopes text[] default null,
  p_view_id uuid default null
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
  if not v_scopes <@ '{ingest, read}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_scopes);

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes, p_view_id);
end;
$$;

comment on function public.create_api_key(text, text, timestamptz, text[], uuid) is
  'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after '
  'trimming. p_expires_at: none by default. p_scopes: ingest (the default), read, or both. '
  'p_view_id: the view that it reads in, for a key with the scope read alone; none by default. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- api_keys/create_ingest_token.sql
create type public.logloom_ingest_token as (
  token text,
  expires_at timestamptz,
  service text
);

comment on type public.logloom_ingest_token is
  'A new ingest token, which sends for one service. It is shown this once.';

-- Who may send may let a page send: no further role is asked for.
create function logloom_private.issue_ingest_token(
  p_tenant_id text,
  p_service text,
  p_seconds integer
)
returns public.logloom_ingest_token
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or writes tokens and settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_longest constant integer := (
    select least(900, extract(epoch from s.ingest_token_lifetime))
    from logloom_private.settings s
  );
  v_seconds constant integer := coalesce(p_seconds, v_longest);
  v_session_id constant text := logloom_private.claims() ->> 'session_id';
  v_token constant text := logloom_private.new_api_key('llt_');
  v_tokens record;
  v_result public.logloom_ingest_token;
begin
  perform logloom_private.require_parameter('p_service', p_service is null);
  if length(p_service) not between 1 and 200 then
    perform logloom_private.refuse('api_keys.token_service_is_invalid');
  end if;
  if v_seconds not between 1 and v_longest then
    perform logloom_private.refuse('api_keys.token_lifetime_is_out_of_range', v_longest::text);
  end if;
  perform logloom_private.hold_tenant(v_tenant_id);
  select
    count(*) filter (where t.expires_at > now()) as live,
    count(*) filter (where t.created_at > now() - interval '1 minute') as new,
    extract(epoch from min(t.expires_at) filter (where t.expires_at > now()) - now()) as next_end,
    extract(
      epoch from min(t.created_at) filter (where t.created_at > now() - interval '1 minute')
        + interval '1 minute' - now()
    ) as minute_end
  into v_tokens
  from logloom_private.ingest_tokens t
  where t.tenant_id = v_tenant_id;
  if v_tokens.live >= v_plan.max_ingest_tokens then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.next_end)::integer, 'api_keys.too_many_tokens', v_plan.max_ingest_tokens::text
    );
  elsif v_tokens.new >= v_plan.ingest_tokens_per_minute then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.minute_end)::integer, 'api_keys.too_many_new_tokens',
      v_plan.ingest_tokens_per_minute::text
    );
  end if;
  insert into logloom_private.ingest_tokens (
    token_digest, tenant_id, service, created_by, session_id, expires_at
  )
  values (
    sha256(convert_to(v_token, 'UTF8')), v_tenant_id, p_service,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    -- Another service's session is none of Supabase Auth.
    case when logloom_private.auth_session_is_there(v_session_id) then v_session_id end,
    now() + make_interval(secs => v_seconds)
  )
  returning v_token, expires_at, service into v_result;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'ingest_token.created', p_service,
    jsonb_build_object('expires_at', v_result.expires_at)
  );
  return v_result;
end;
$$;

create function public.create_ingest_token(
  p_tenant_id text default null,
  p_service text default null,
  p_expires_in integer default null
)
returns public.logloom_ingest_token
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.issue_ingest_token(
    p_tenant_id, logloom_private.trim_space(p_service), p_expires_in
  );
end;
$$;

comment on function public.create_ingest_token(text, text, integer) is
  'Creates a token with which a page sends events of one service, and returns it, this once. It '
  'ends by itself, and with the user who made it. p_service: 1 to 200 characters after trimming. '
  'p_expires_in: seconds, by default the most, settings.ingest_token_lifetime (900). '
  'Errors: PT400, PT401, PT403, PT429 (limits of the plan).';

-- api_keys/get_api_key_usage.sql
create type public.logloom_key_reads as (operation text, day date, reads bigint);

comment on type public.logloom_key_reads is
  'How often an operation answered a key on a UTC day.';

create type public.logloom_api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer,
  reads public.logloom_key_reads[]
);

comment on type public.logloom_api_key_usage is
  'Use of an API key, in whole days; null when never used. reads: by operation and day, of the '
  'last 31 days.';

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
    floor(extract(epoch from now() - k.last_used_at) / 86400),
    logloom_private.my_key_reads(v_tenant_id, k.key_id)
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
  'When an API key was made and last used, in whole days since, and what it read by operation and '
  'day. '
  'Errors: PT400, PT401, PT403, PT404.';

-- api_keys/ingest_token_is_alive.sql
-- An ingest token lives no longer than its maker may send.
create function logloom_private.ingest_token_is_alive(p_token logloom_private.ingest_tokens)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_token.expires_at > now()
    and not logloom_private.is_being_deleted(p_token.tenant_id)
    and (
      p_token.created_by is null
      or coalesce(
        logloom_private.acting_role(p_token.tenant_id, p_token.created_by), 'viewer'
      ) <> 'viewer'
      -- Only their next token would say whether they still have a role.
      or (select s.roles_from_token from logloom_private.settings s)
    )
    and (
      p_token.session_id is null
      or logloom_private.auth_session_is_there(p_token.session_id) is not false
    );
end;
$$;

-- api_keys/issue_api_key.sql
-- Makes a key of checked parameters and returns it with key_value.
create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[],
  p_view_id uuid
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
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id, lifetime
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at,
    p_view_id, p_expires_at - now()
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at,
    view_id
  into v_result;
  return v_result;
end;
$$;

-- api_keys/key_of_digest.sql
-- The living API key of which p_key_digest is the SHA-256 as hex; nulls where there is none. PT401
-- for one that is revoked or expired: only who has the whole key learns what has become of it.
create function logloom_private.key_of_digest(p_key_digest text)
returns logloom.api_keys
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key logloom.api_keys;
begin
  select k.* into v_key from logloom.api_keys k where k.key_digest = decode(p_key_digest, 'hex');
  if v_key.revoked_at is not null then
    perform logloom_private.refuse('callers.key_is_revoked');
  elsif v_key.expires_at <= now() then
    perform logloom_private.refuse('callers.key_is_expired');
  end if;
  return v_key;
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
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.view_id
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

-- api_keys/my_key_reads.sql
-- What was answered to a key of the request's tenant, the newest day first.
create function logloom_private.my_key_reads(p_tenant_id text, p_key_id uuid)
returns public.logloom_key_reads[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return array(
    select row(r.operation, r.day, sum(r.reads))::public.logloom_key_reads
    from logloom_private.key_reads r
    join logloom.api_keys k on k.key_id = r.key_id
    where k.key_id = p_key_id and k.tenant_id = v_tenant_id
    group by r.operation, r.day
    order by r.day desc, r.operation
  );
end;
$$;

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

-- The prefix + 30 random base62 characters (178 bits) + base62 CRC-32 of what precedes, 6
-- characters.
create function logloom_private.new_api_key(p_prefix text default 'll_')
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles need no random bytes of their own
declare
  -- 30 base62 characters carry 178 bits. A byte of 248 and more is drawn again, so that each
  -- character is equally likely.
  v_key text := p_prefix;
  v_byte integer;
begin
  while length(v_key) < length(p_prefix) + 30 loop
    v_byte := get_byte(extensions.gen_random_bytes(1), 0);
    if v_byte < 248 then
      v_key := v_key || logloom_private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || logloom_private.base62(logloom_private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$$;

-- api_keys/note_key_read.sql
-- Writes down that a key is used, and counts the answer to it in a row that nobody holds, or in a
-- further one: no read waits for another. There are as many rows as reads were counted at once.
-- PT401 for a key that has ended since.
create function logloom_private.note_key_read(p_key_digest text, p_operation text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_day constant date := logloom_private.utc_day(now());
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  end if;
  perform logloom_private.note_key_use(v_key);
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key.key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key.key_id, v_day, p_operation, 1);
  end if;
end;
$$;

-- api_keys/note_key_use.sql
-- Writes down that a key is used, once a minute.
create function logloom_private.note_key_use(p_key logloom.api_keys)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row: whoever holds it must not hold up requests, and another one will do.
  update logloom.api_keys k
  set last_used_at = now()
  where k.key_id = (
    select u.key_id
    from logloom.api_keys u
    where u.key_id = p_key.key_id
    for no key update skip locked
  );
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

-- api_keys/require_view_for_key.sql
-- PT400 where a key of these scopes cannot be bound to a view, PT404 where there is no such view.
create function logloom_private.require_view_for_key(
  p_tenant_id text,
  p_view_id uuid,
  p_scopes text[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null and 'ingest' = any (p_scopes) then
    perform logloom_private.refuse('api_keys.view_is_for_reading');
  end if;
  perform logloom_private.hold_view(p_tenant_id, p_view_id);
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
  p_overlap_minutes integer default null,
  p_view_id uuid default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
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
  select k.name, k.scopes, k.expires_at, k.lifetime, k.revoked_at, k.view_id into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_old.scopes);

  -- A key that was to live for a time is followed by one that lives as long.
  -- Both are alive for a while, also where the plan has no room for one more.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + v_old.lifetime, v_old.scopes,
    coalesce(p_view_id, v_old.view_id)
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$$;

comment on function public.rotate_api_key(text, uuid, integer, uuid) is
  'Creates an API key in place of another, with its name, scopes, view and length of life, and '
  'returns it with key_value, this once. The other works for p_overlap_minutes more (0 to 10080, '
  'default 60). p_view_id: another view that the new one reads in; that of the other by default. '
  'Errors: PT400, PT401, PT403, PT404.';

select logloom_private.finish_migration();
