create table logloom.portal_sessions (
  session_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  label text,
  view_id uuid,
  query_dsl text,
  origins text[] not null default '{}',
  token_digest bytea,
  code_digest bytea,
  code_expires_at timestamptz,
  created_by text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  first_used_at timestamptz,
  last_used_at timestamptz,
  customer text,
  limits jsonb,
  parts text[],
  variables jsonb,
  constraint portal_sessions_digests_are_sha256 check (
    length(token_digest) = 32 and length(code_digest) = 32
  ),
  constraint portal_sessions_code_has_an_end check (
    (code_digest is null) = (code_expires_at is null)
  ),
  -- The usage part counts all of the tenant, so no view or query may narrow its session.
  constraint portal_sessions_usage_is_of_tenant check (
    'usage' <> all (parts) or num_nonnulls(view_id, query_dsl) = 0
  ),
  constraint portal_sessions_names_customer check (
    parts <@ '{search,exports}' or customer is not null
  ),
  constraint portal_sessions_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
);

create unique index portal_sessions_token_digest_idx on logloom.portal_sessions (token_digest);
create unique index portal_sessions_code_digest_idx on logloom.portal_sessions (code_digest);
create index portal_sessions_tenant_id_created_at_idx
on logloom.portal_sessions (tenant_id, created_at desc, session_id desc);
create index portal_sessions_tenant_id_view_id_idx
on logloom.portal_sessions (tenant_id, view_id);
create index portal_sessions_expires_at_idx on logloom.portal_sessions (expires_at);
create index portal_sessions_tenant_id_expires_at_idx
on logloom.portal_sessions (tenant_id, expires_at);

create policy portal_sessions_select_tenant on logloom.portal_sessions
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select (
  session_id, tenant_id, label, view_id, query_dsl, origins, code_expires_at, created_by,
  created_at, expires_at, revoked_at, first_used_at, last_used_at, customer, limits, parts,
  variables
) on logloom.portal_sessions to authenticated, service_role;

comment on table logloom.portal_sessions is
  'Portal sessions, in which customers read their logs in a page. Tokens and codes are never '
  'stored.';

comment on column logloom.portal_sessions.query_dsl is
  'A query without stages that narrows the view. Null: all records of the view.';

comment on column logloom.portal_sessions.origins is
  'Origins of the pages that may frame the portal.';

comment on column logloom.portal_sessions.token_digest is
  'SHA-256 of the whole token. Null until the code of the link is exchanged for it.';

comment on column logloom.portal_sessions.code_digest is
  'SHA-256 of the code in the link. Null once the code is exchanged.';

comment on column logloom.portal_sessions.created_by is
  'The user who created the session. It ends when they may no longer create sessions. Null: '
  'created with the project''s secret key.';

comment on column logloom.portal_sessions.customer is
  'The tenant''s own id of the customer. The audit part shows only events with this id.';

comment on column logloom.portal_sessions.limits is
  'The limits that the usage part shows (monthly_events, monthly_bytes), and how many streams and '
  'rules the customer can make.';

comment on column logloom.portal_sessions.parts is
  'The parts that the session may use (logloom_private.portal_parts()). Null: search and exports, '
  'and the operations that the view names.';

comment on column logloom.portal_sessions.variables is
  'Values of dashboards'' variables by name. The page offers no other values, but a request with '
  'the session''s token can use any. Only the view and query_dsl limit what the customer sees.';

comment on column logloom.portal_sessions.last_used_at is
  'Exact to the minute, because it is updated once a minute and not for each request.';

-- Unlogged: a crash only loses the counts of the current minute.
create unlogged table logloom_private.portal_reads (
  tenant_id text not null,
  minute timestamptz not null,
  reads integer not null
)
with (fillfactor = 50);

create index portal_reads_tenant_id_minute_idx
on logloom_private.portal_reads (tenant_id, minute);

comment on table logloom_private.portal_reads is
  'How many requests a tenant''s portal sessions made in a minute. A minute may have several rows: '
  'a request that finds all rows locked adds one.';
