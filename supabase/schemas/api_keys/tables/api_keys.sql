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
    scopes <@ '{ingest, read, audit}' and cardinality(scopes) > 0
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

comment on column logloom.api_keys.key_prefix is
  'The first 11 characters of the key, to tell keys apart.';

comment on column logloom.api_keys.last_used_at is
  'To the minute: it is updated at most once a minute.';

comment on column logloom.api_keys.lifetime is
  'How long the key lasts from its creation, even if a rotation ended it sooner. Null: no end.';

comment on column logloom.api_keys.view_id is
  'The view that the key reads in. Null: all records of the tenant.';

create table logloom_private.key_reads (
  key_id uuid not null references logloom.api_keys on delete cascade,
  day date not null,
  operation text not null,
  reads bigint not null
)
-- Rows change with every read. Free space on the page saves updates of the index.
with (fillfactor = 50);

create index key_reads_key_id_day_operation_idx
on logloom_private.key_reads (key_id, day, operation);

comment on table logloom_private.key_reads is
  'Reads by API key, UTC day and operation, kept for 31 days. An operation may have several rows: '
  'add them up.';

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
  'Tokens for pages that send events. Only the SHA-256 of a token is stored.';

comment on column logloom_private.ingest_tokens.created_by is
  'The token ends when this user may no longer send. Null: created with the project''s secret key.';

comment on column logloom_private.ingest_tokens.session_id is
  'The token ends with this session of Supabase Auth. Null: there is none.';
