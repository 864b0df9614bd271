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
