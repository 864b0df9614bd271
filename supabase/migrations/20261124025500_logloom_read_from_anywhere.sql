-- Logs are read by keys, views and programs.

set local check_function_bodies = off;

do $$
begin
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of this type.
  alter type logloom_private.reading_scope
    add attribute actor text,
    add attribute filter jsonb,
    add attribute hidden_fields text[];
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Roles: required, and of tokens. What keys read.
do $$
begin
  -- The tables have a few rows, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column roles_required boolean not null default false,
    add column roles_from_token boolean not null default false;
  create type public.logloom_key_reads as (operation text, day date, reads bigint);
  -- No table has a column of this type.
  alter type public.logloom_api_key_usage add attribute reads public.logloom_key_reads[];
  create table logloom_private.key_reads (
    key_id uuid not null references logloom.api_keys on delete cascade,
    day date not null,
    operation text not null,
    reads bigint not null
  )
  with (fillfactor = 50);
  create index key_reads_key_id_day_operation_idx
  on logloom_private.key_reads (key_id, day, operation);
  perform set_config('lock_timeout', '0', true);
end;
$$;

comment on type logloom_private.reading_scope is
  'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled '
  'query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), '
  'by operations (null: all that read). actor: who reads, as the audit log names them.';

DROP FUNCTION "logloom_private"."acting_role"(text, text);

CREATE OR REPLACE FUNCTION logloom_private.acting_role (
  p_tenant_id text,
  p_user_id   text,
  p_claims    jsonb DEFAULT NULL::jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the policies of these tables ask it
declare
  v_role text;
  v_required boolean;
  v_from_token boolean;
begin
  if logloom_private.is_being_deleted(p_tenant_id) then
    return null;
  end if;
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = p_tenant_id and m.user_id = p_user_id;
  if found then
    return v_role;
  end if;
  select s.roles_required, s.roles_from_token into v_required, v_from_token
  from logloom_private.settings s;
  if v_from_token then
    -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
    v_role := p_claims -> 'app_metadata' ->> 'logloom_role';
    return case when v_role in ('member', 'admin', 'owner') then v_role end;
  elsif v_required or exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
  then
    return null;
  end if;
  return 'owner';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.authenticate_sender (
  p_tenant_id  text,
  p_key_digest text,
  p_claims     jsonb,
  OUT          tenant_id text,
  OUT          key_id uuid,
  OUT          service text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key logloom.api_keys;
  v_token logloom_private.ingest_tokens;
begin
  if p_key_digest is not null then
    v_key := logloom_private.key_of_digest(p_key_digest);
    if v_key.key_id is not null then
      if not v_key.scopes @> '{ingest}' then
        perform logloom_private.refuse('callers.key_may_only_read');
      end if;
      perform logloom_private.note_key_use(v_key);
      authenticate_sender.tenant_id := v_key.tenant_id;
      authenticate_sender.key_id := v_key.key_id;
      return;
    end if;
    select t.* into v_token
    from logloom_private.ingest_tokens t
    where t.token_digest = decode(p_key_digest, 'hex');
    if not found then
      perform logloom_private.refuse('callers.key_is_unknown');
    elsif v_token.expires_at <= now() then
      perform logloom_private.refuse('callers.ingest_token_is_expired');
    elsif not logloom_private.ingest_token_is_alive(v_token) then
      perform logloom_private.refuse('callers.ingest_token_is_revoked');
    end if;
    authenticate_sender.tenant_id := v_token.tenant_id;
    authenticate_sender.service := v_token.service;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_claims(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    -- Whoever may send for any tenant is known.
    if p_claims is null and p_tenant_id is not null then
      perform logloom_private.refuse('ingest.tenant_is_not_known', p_tenant_id);
    end if;
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.caller_tenant (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claims jsonb;
  v_tenant_id text;
begin
  if logloom_private.is_service_role() then
    v_claims := logloom_private.claims();
    -- No claims: not a request, but somebody at the database.
    if not logloom_private.token_is_valid(v_claims, true) and v_claims is not null then
      perform logloom_private.refuse('callers.not_known');
    end if;
    if p_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_must_be_named');
    end if;
    v_tenant_id := logloom_private.usable_id(p_tenant_id);
    if v_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_is_invalid');
    end if;
    if logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.refuse('tenants.being_deleted');
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := logloom_private.tenant_of_claims(logloom_private.claims());
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.callers_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'No such API key or ingest token: perhaps it is one of another project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: rotate_api_key or create_api_key makes another.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'Whoever made the ingest token may no longer send, or has signed out.', null),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s functions call it with the project''s secret key.',
      'Only the edge functions may call it.'),
    ('callers.client_may_only_read', 403, 'The client that this token was issued to may only read',
      'It has the operations that read logs, such as search_logs. For all others whoever runs the '
        'project lists its client_id in logloom_private.settings.writing_clients.',
      'The token was issued to an OAuth client (claim `client_id`) that is not listed '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, '%s is not open to this caller',
      'What reads by it is limited to other operations.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It is not a valid tenant id.'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low: `member`, `admin`, `owner` '
        '([identity.md](../background/identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_operation (
  p_search_path text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_claims jsonb;
  v_is_known boolean := false;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user in ('authenticated', 'service_role') then
    v_claims := coalesce(
      logloom_private.sent_claims(v_headers ->> 'authorization'), logloom_private.claims()
    );
    v_is_known := case
      when current_user = 'service_role' then logloom_private.token_is_valid(v_claims, true)
      when not logloom_private.token_is_valid(v_claims) then false
      -- The one operation for users who have no tenant yet.
      when v_operation = 'create_tenant' then true
      else logloom_private.tenant_of_claims(logloom_private.claims()) is not null
    end;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  -- Not left to EXECUTE: with supautils 3.2.0 and 3.2.1 the error of a missing one ends the server.
  if current_user = 'authenticated'
    and v_operation = any (logloom_private.service_operations())
  then
    perform logloom_private.refuse('callers.operation_is_internal', v_operation);
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit; a project, or the request's
  -- Prefer, may have a time zone; and dates as 23/11/2026 IST are read as another zone's.
  perform
    set_config('extra_float_digits', '1', true),
    set_config('timezone', 'UTC', true),
    set_config('datestyle', 'ISO', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.current_tenant_id (
  p_claims jsonb DEFAULT logloom_private.claims()
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.tenant_of_claims(p_claims);
begin
  if v_tenant_id is null or logloom_private.reads_only(p_claims) then
    return null;
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.granted_functions()
  RETURNS TABLE (
    roles text,
    names text[]
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_rule_of', 'api_key_status', 'change_member',
        'check_query', 'check_settings', 'confirm_address', 'distinct_destinations',
        'effective_settings', 'enqueue_rule_test', 'enroll_member', 'found_tenant',
        'is_being_deleted', 'issue_api_key', 'issue_ingest_token', 'list_limit', 'my_key_reads',
        'my_stored', 'my_usage', 'new_api_key', 'note_saved_search_run', 'list_bytes',
        'page_of_addresses', 'page_of_deliveries', 'page_place', 'plan_feature', 'plan_of',
        'preview_windows', 'provision_current_tenant', 'put_back_delivery', 'read_log',
        'read_log_context', 'read_log_fields', 'read_log_histogram', 'read_log_page',
        'read_log_series', 'read_log_stats', 'read_log_tail', 'read_members', 'read_query_validity',
        'read_saved_search', 'reads_again', 'reads_only', 'refuse_for_now', 'refuse_saved_search',
        'refuse_with_headers', 'replace_webhook_secret', 'request_deletion', 'require_parameter',
        'require_role', 'require_room_for', 'require_room_for_api_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'tags_are_valid', 'tenant_with_plan', 'time_parameter',
        'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'ingest', 'ingest_each', 'read_by_key', 'read_health',
        'run_writer_in_place', 'settle_claim'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_token_is_alive (
  p_token logloom_private.ingest_tokens
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return p_token.expires_at > now()
    and not logloom_private.is_being_deleted(p_token.tenant_id)
    and (
      p_token.created_by is null
      or logloom_private.acting_role(p_token.tenant_id, p_token.created_by) is not null
      -- Only their next token would say whether they still have a role.
      or (select s.roles_from_token from logloom_private.settings s)
    )
    and (
      p_token.session_id is null
      or logloom_private.auth_session_is_there(p_token.session_id) is not false
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.my_key_reads (
  p_tenant_id text,
  p_key_id    uuid
)
  RETURNS public.logloom_key_reads[]
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_key_read (
  p_key_digest text,
  p_operation  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key_id constant uuid := (logloom_private.key_of_digest(p_key_digest)).key_id;
  v_day constant date := logloom_private.utc_day(now());
begin
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key_id, v_day, p_operation, 1);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.purge_old_rows()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_old record;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.occurred_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          v_settings.idempotency_key_lifetime),
        -- Counted for a minute from when they were made.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        ('logloom_private.key_reads', 'r.day < $1', '31 days'),
        -- Unused for a day, a bucket is full.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          v_settings.notification_history_lifetime),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1', v_settings.confirmation_lifetime),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.purge_step_rows;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.purge_step_rows then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_by_key (
  p_key_digest text,
  p_operation  text,
  p_parameters jsonb
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the digests of keys
declare
  v_answer json;
begin
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_key_digest), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_key_digest, p_operation);
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reads_only (
  p_claims jsonb
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the settings
begin
  return p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_role (
  p_tenant_id text,
  p_role      text
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_roles constant text[] := array['member', 'admin', 'owner'];
  v_role text;
begin
  if logloom_private.is_service_role() then
    return;
  end if;
  v_role := logloom_private.acting_role(
    p_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  );
  if array_position(v_roles, v_role) >= array_position(v_roles, p_role) then
    return;
  end if;
  perform logloom_private.refuse('callers.role_is_missing', p_role);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_writing_client (
  p_claims jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if logloom_private.reads_only(p_claims) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.resolve_tenant (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.caller_tenant(p_tenant_id);
begin
  if not logloom_private.is_service_role() then
    perform logloom_private.require_writing_client(logloom_private.claims());
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token()
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := logloom_private.caller_tenant();
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenant_of_claims (
  p_claims jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id text;
begin
  if current_setting('role', true) = 'anon' or jsonb_typeof(p_claims -> 'tenant_id') <> 'string'
  then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub', p_claims) is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_api_key_usage (
  p_tenant_id text DEFAULT NULL::text,
  p_key_id    uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_api_key_usage
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

COMMENT ON COLUMN "logloom_private"."settings"."roles_from_token" IS 'Whether a user without a row in tenant_members has the role that their token names in app_metadata.logloom_role. No other user belongs to a tenant then.';

COMMENT ON COLUMN "logloom_private"."settings"."roles_required" IS 'Whether a tenant without members is closed to users, not open to each as its owner.';

COMMENT ON FUNCTION "public"."get_api_key_usage"(text, uuid) IS 'When an API key was made and last used, in whole days since, and what it read by operation and day. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON TABLE "logloom_private"."key_reads" IS 'What was answered to an API key, by UTC day and operation, for 31 days. Several rows of one operation are summed up: each was held when a read beside it was counted.';

COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), by operations (null: all that read). actor: who reads, as the audit log names them.';

COMMENT ON TYPE "public"."logloom_api_key_usage" IS 'Use of an API key, in whole days; null when never used. reads: by operation and day, of the last 31 days.';

COMMENT ON TYPE "public"."logloom_key_reads" IS 'How often an operation answered a key on a UTC day.';

GRANT EXECUTE ON FUNCTION "logloom_private"."acting_role"(text, text, jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."caller_tenant"(text) TO "anon", "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."my_key_reads"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."reads_only"(jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."tenant_of_claims"(jsonb) TO "anon", "authenticated", "service_role";

select logloom_private.finish_migration();
