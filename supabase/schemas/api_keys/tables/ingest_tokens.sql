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
