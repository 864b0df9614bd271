create table logloom_private.idempotency_keys (
  tenant_id text not null references logloom.tenants on delete cascade,
  idempotency_key text not null,
  body_digest bytea not null,
  response json not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, idempotency_key)
);

create index idempotency_keys_created_at_idx on logloom_private.idempotency_keys (created_at);

comment on table logloom_private.idempotency_keys is
  'First answers to requests with an Idempotency-Key. A repeat stores nothing.';
comment on column logloom_private.idempotency_keys.response is
  'The answer. If the request came in slices: an object with the answer to each slice.';
