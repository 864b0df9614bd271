-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- scopes/types/reading_scope.sql
-- Who reads what: all that decides what a reader gets. Made in scope_of_token, scope_of_key and
-- scope_of_session, for what reads without a request in scope_of_view, and nowhere else.
create type logloom_private.reading_scope as (
  tenant_id text,
  operations text[],
  actor text,
  filter jsonb,
  hidden_fields text[],
  view_id uuid
);

comment on type logloom_private.reading_scope is
  'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled '
  'query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), '
  'by operations (null: all that read). actor: who reads: a user, the id of a key, or portal and '
  'the id of a session. view_id: the view that says so, where they are bound to one.';

-- scopes/tables/log_streams.sql
create table logloom.log_streams (
  stream_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  query_dsl text,
  kind text not null,
  config jsonb not null,
  secrets jsonb not null default '{}',
  enabled boolean not null default true,
  view_id uuid,
  maker text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  -- What is before this was sent: write sequences before position_seq and, of that one, the ids up
  -- to position_id.
  position_seq bigint not null,
  position_id uuid,
  pending_since timestamptz,
  next_attempt_at timestamptz not null default now(),
  claim_id uuid,
  claimed_at timestamptz,
  claimed_until timestamptz,

  batch_id uuid,
  batch_made_at timestamptz,
  batch_end_seq bigint,
  batch_end_id uuid,
  batch_last_received_at timestamptz,
  batch_records integer,
  batch_skipped integer,
  batch_limit integer not null default 1000,
  batch_bytes integer not null default 1000000,
  batch_size integer,

  attempts integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_status integer,
  last_error text,
  refused_in_a_row integer not null default 0,
  paused_at timestamptz,
  pause_reason text,
  kept_day date,

  sent_batches bigint not null default 0,
  sent_records bigint not null default 0,
  skipped_records bigint not null default 0,
  refused_records bigint not null default 0,

  test_id uuid,
  test_requested_at timestamptz,
  test_finished_at timestamptz,
  test_status integer,
  test_error text,

  constraint log_streams_name_is_unique unique (tenant_id, name),
  constraint log_streams_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 100
  ),
  constraint log_streams_kind_is_known check (
    kind in ('webhook', 'otlp', 'loki', 'elasticsearch', 'splunk_hec', 'datadog', 's3')
  ),
  constraint log_streams_pause_reason_is_known check (
    pause_reason in ('failing', 'refused', 'maker')
    and (pause_reason is null) = (paused_at is null)
  ),
  constraint log_streams_batch_is_whole check (
    num_nulls(batch_id, batch_made_at, batch_end_seq, batch_records, batch_skipped) in (0, 5)
  ),
  constraint log_streams_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
)
-- A stream that has records is updated twice for each batch.
with (fillfactor = 50);

create index log_streams_tenant_id_created_at_idx
on logloom.log_streams (tenant_id, created_at desc, stream_id desc);
create index log_streams_tenant_id_view_id_idx on logloom.log_streams (tenant_id, view_id);

create policy log_streams_select_tenant on logloom.log_streams
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select (
  stream_id, tenant_id, name, kind, enabled, view_id, created_at, updated_at
) on logloom.log_streams to authenticated, service_role;

comment on table logloom.log_streams is
  'Where a tenant''s records are sent as they become visible, and how far each of these is.';

comment on column logloom.log_streams.query_dsl is
  'Which records: a query without stages. Null: all.';

comment on column logloom.log_streams.config is
  'Where to: what the kind needs, and nothing secret.';

comment on column logloom.log_streams.secrets is
  'Name and sealed text of each secret. Only the edge function can open it.';

comment on column logloom.log_streams.maker is
  'The user by whose rights it reads: who made it, or enabled it last. Null: the project itself.';

comment on column logloom.log_streams.pending_since is
  'Since when records wait. Null: none does, as of what was noted last.';

comment on column logloom.log_streams.batch_id is
  'The batch under way, the same however often it is sent: the records from the position to '
  'batch_end_seq and batch_end_id (null: all of that write sequence).';

comment on column logloom.log_streams.batch_limit is
  'Records of the next batch at most: halved when the receiver refuses one, doubled when it takes '
  'one.';

comment on column logloom.log_streams.batch_bytes is
  'Bytes of the next batch at most: half of one that was too large for the receiver, and a tenth '
  'more for each that it takes.';

comment on column logloom.log_streams.batch_size is
  'Bytes of the batch under way, as it was read last.';

comment on column logloom.log_streams.kept_day is
  'The first day that the tenant kept when the stream read last.';

-- scopes/tables/portal_sessions.sql
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
  constraint portal_sessions_digests_are_sha256 check (
    length(token_digest) = 32 and length(code_digest) = 32
  ),
  constraint portal_sessions_code_has_an_end check (
    (code_digest is null) = (code_expires_at is null)
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
  created_at, expires_at, revoked_at, first_used_at, last_used_at
) on logloom.portal_sessions to authenticated, service_role;

comment on table logloom.portal_sessions is
  'With which customers read their logs in a page of their own. Tokens and codes are never stored.';

comment on column logloom.portal_sessions.query_dsl is
  'The records that the session shows, of those that its view shows: a query without stages. '
  'Null: all.';

comment on column logloom.portal_sessions.origins is 'Of the pages that may frame it.';

comment on column logloom.portal_sessions.token_digest is
  'SHA-256 of the whole token. Null before the code of its link is exchanged for it.';

comment on column logloom.portal_sessions.code_digest is
  'SHA-256 of the code of its link, until it is exchanged.';

comment on column logloom.portal_sessions.created_by is
  'The user, without whom the session ends. Null: the project itself, by its secret key.';

comment on column logloom.portal_sessions.last_used_at is
  'Right to the minute: one update a minute, not a request.';

-- Unlogged: after a crash a minute begins anew, which is all that is lost.
create unlogged table logloom_private.portal_reads (
  tenant_id text not null,
  minute timestamptz not null,
  reads integer not null
)
with (fillfactor = 50);

create index portal_reads_tenant_id_minute_idx
on logloom_private.portal_reads (tenant_id, minute);

comment on table logloom_private.portal_reads is
  'Requests of a tenant''s portal sessions in a minute. Several rows of one minute are summed up: '
  'each was held when a request beside it was counted.';

-- scopes/checked_scope.sql
-- The scope of a reading operation: that of the request's token where none is given. Only the
-- functions that read for keys, which service_role calls, may give one. p_tenant_id: the tenant
-- that the request names, where the operation takes one. PT403 for another than the scope's, and
-- for an operation that the scope does not hold.
create function logloom_private.checked_scope(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text default null
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token(p_tenant_id);
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  elsif p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  -- Alerts tell of all records: a view opens them by name alone. To customers, who read in portal
  -- sessions, so it opens saved searches, too.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when starts_with(p_scope.actor, 'portal ')
        then '{list_alert_rules,list_alert_history,list_saved_searches}'::text[]
      when p_scope.view_id is not null then '{list_alert_rules,list_alert_history}'
      else '{}'
    end)
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
end;
$$;

-- scopes/note_session_use.sql
-- Writes down that a session is used, once a minute; its first use is audited.
create function logloom_private.note_session_use(p_session logloom.portal_sessions)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first timestamptz;
begin
  if p_session.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row: whoever holds it must not hold up requests, and another one will do.
  update logloom.portal_sessions s
  set first_used_at = coalesce(s.first_used_at, now()), last_used_at = now()
  where s.session_id = (
    select u.session_id
    from logloom.portal_sessions u
    where u.session_id = p_session.session_id
    for no key update skip locked
  )
  returning s.first_used_at into v_first;
  if v_first = now() then
    insert into logloom.audit_events (tenant_id, actor, action, subject)
    values (
      p_session.tenant_id, 'portal ' || p_session.session_id, 'portal_session.first_used',
      p_session.session_id::text
    );
  end if;
end;
$$;

-- scopes/portal_session_is_alive.sql
-- A portal session lives no longer than its maker may make one.
create function logloom_private.portal_session_is_alive(p_session logloom.portal_sessions)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role constant text := logloom_private.acting_role(p_session.tenant_id, p_session.created_by);
begin
  return p_session.expires_at > now()
    and p_session.revoked_at is null
    and not logloom_private.is_being_deleted(p_session.tenant_id)
    and (
      p_session.created_by is null
      -- Without a row only their next token would say whether they still have the role.
      or coalesce(
        v_role in ('admin', 'owner'),
        (select s.roles_from_token from logloom_private.settings s)
      )
    );
end;
$$;

-- scopes/scope_in_view.sql
-- A scope within a view of its tenant, as the view is now: now in its query is this moment. PT403
-- where there is no such view, or its query does not compile.
create function logloom_private.scope_in_view(
  p_scope logloom_private.reading_scope,
  p_view_id uuid
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_view logloom.log_views;
begin
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_scope.tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  p_scope.view_id := v_view.view_id;
  p_scope.operations := v_view.operations;
  p_scope.hidden_fields := nullif(v_view.hidden_fields, '{}');
  if v_view.query_dsl is not null then
    begin
      p_scope.filter := (logloom_private.compile_query(v_view.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.view_is_broken', v_view.name);
    end;
  end if;
  return p_scope;
end;
$$;

-- scopes/scope_of_key.sql
-- What an API key lets read, by the SHA-256 of the key as hex: all of its tenant, or what its view
-- shows. PT401 for one that is unknown, revoked or expired, PT403 for one that may only send.
create function logloom_private.scope_of_key(p_key_digest text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.actor := v_key.key_id;
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$$;

-- scopes/scope_of_session.sql
-- What a portal session lets read: what its view shows, of that what its query finds. p_origin: of
-- the page that frames the portal, as the portal reports it; null where none does. PT401 for a
-- session that has ended, PT403 for a page that it does not name.
create function logloom_private.scope_of_session(
  p_session logloom.portal_sessions,
  p_origin text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
  v_tree jsonb;
begin
  if p_session.revoked_at is not null then
    perform logloom_private.refuse('callers.portal_session_is_revoked');
  elsif not logloom_private.portal_session_is_alive(p_session) then
    perform logloom_private.refuse('callers.portal_session_is_over');
  elsif p_origin is not null and p_origin <> all (p_session.origins) then
    perform logloom_private.refuse('callers.portal_origin_is_unknown', left(p_origin, 200));
  end if;
  v_scope.tenant_id := p_session.tenant_id;
  v_scope.actor := 'portal ' || p_session.session_id;
  if p_session.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_session.view_id);
  end if;
  if p_session.query_dsl is not null then
    begin
      v_tree := (logloom_private.compile_query(p_session.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
    v_scope.filter := case when v_scope.filter is null then v_tree
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_tree)
      ) end;
  end if;
  return v_scope;
end;
$$;

-- scopes/scope_of_token.sql
-- What the request's token lets read: all of its tenant, or what a viewer's view shows; of
-- service_role's the tenant that it names. PT403 for a viewer without a view.
create function logloom_private.scope_of_token(p_tenant_id text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims constant jsonb := logloom_private.claims();
  v_scope logloom_private.reading_scope;
  v_view_id uuid;
begin
  v_scope.tenant_id := logloom_private.caller_tenant(p_tenant_id);
  v_scope.actor := v_claims ->> 'sub';
  if logloom_private.is_service_role() then
    return v_scope;
  elsif logloom_private.acting_role(v_scope.tenant_id, v_scope.actor, v_claims) = 'viewer' then
    select m.view_id into v_view_id
    from logloom.tenant_members m
    where m.tenant_id = v_scope.tenant_id and m.user_id = v_scope.actor;
    if not found and pg_input_is_valid(v_claims -> 'app_metadata' ->> 'logloom_view', 'uuid') then
      v_view_id := v_claims -> 'app_metadata' ->> 'logloom_view';
    end if;
    v_scope := logloom_private.scope_in_view(v_scope, v_view_id);
  end if;
  return v_scope;
end;
$$;

-- scopes/scope_of_view.sql
-- What a log stream or the message of an alert reads, for which no request asks: all of its tenant,
-- or what its view shows. PT403 where there is no such view, or its query does not compile.
create function logloom_private.scope_of_view(p_tenant_id text, p_view_id uuid)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := p_tenant_id;
  if p_view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
  end if;
  return v_scope;
end;
$$;

-- scopes/take_portal_read.sql
-- Counts a request of a tenant's portal sessions, in a row that nobody holds or in a further one.
-- PT429 with Retry-After when the minute has as many as the plan lets them have.
create function logloom_private.take_portal_read(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute constant timestamptz := date_trunc('minute', now());
  v_limit constant integer := (logloom_private.plan_of(p_tenant_id)).portal_requests_per_minute;
begin
  if (
    select coalesce(sum(r.reads), 0)
    from logloom_private.portal_reads r
    where r.tenant_id = p_tenant_id and r.minute = v_minute
  ) >= v_limit
  then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_minute + interval '1 minute' - now()))::integer,
      'portal.too_many_requests', v_limit::text
    );
  end if;
  update logloom_private.portal_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.portal_reads f
    where f.tenant_id = p_tenant_id and f.minute = v_minute
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.portal_reads (tenant_id, minute, reads)
    values (p_tenant_id, v_minute, 1);
  end if;
end;
$$;

select logloom_private.finish_migration();
