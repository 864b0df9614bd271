-- Views of logs, what changed, and what is exported.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $$
begin
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of this type.
  alter type logloom_private.compiled_query
    add attribute hidden_fields text[],
    add attribute masked_tree jsonb;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Views, and who is bound to one.
do $$
begin
  -- Small tables, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of these types.
  alter type logloom_private.reading_scope add attribute view_id uuid;
  alter type public.logloom_member add attribute view_id uuid;
  alter type public.logloom_api_key add attribute view_id uuid;
  alter type public.logloom_created_api_key add attribute view_id uuid;
  alter type public.logloom_alert_rule add attribute view_id uuid;
  alter type public.logloom_saved_search add attribute view_id uuid;

  alter table logloom.plans
    add column max_views integer not null default 1000,
    add constraint plans_max_views_is_not_negative check (max_views >= 0);
  update logloom.plans set max_views = 5 where plan_id = 'free';
  update logloom.plans set max_views = 100 where plan_id = 'pro';

  create table logloom.log_views (
    view_id uuid primary key default gen_random_uuid(),
    tenant_id text not null references logloom.tenants on delete cascade,
    name text not null,
    query_dsl text,
    hidden_fields text[] not null default '{}',
    operations text[],
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint log_views_tenant_id_view_id_is_unique unique (tenant_id, view_id),
    constraint log_views_name_is_unique unique (tenant_id, name),
    constraint log_views_name_is_valid check (
      name = logloom_private.trim_space(name) and length(name) between 1 and 100
    ),
    constraint log_views_operations_are_not_empty check (cardinality(operations) > 0)
  );
  create index log_views_tenant_id_created_at_idx
  on logloom.log_views (tenant_id, created_at desc, view_id desc);

  alter table logloom.tenant_members
    add column view_id uuid,
    drop constraint tenant_members_role_is_known,
    add constraint tenant_members_role_is_known check (
      role in ('owner', 'admin', 'member', 'viewer')
    ),
    add constraint tenant_members_viewer_has_a_view check (
      (role = 'viewer') = (view_id is not null)
    ),
    add constraint tenant_members_view_is_of_tenant foreign key (tenant_id, view_id)
      references logloom.log_views (tenant_id, view_id) on delete cascade;
  create index tenant_members_tenant_id_view_id_idx
  on logloom.tenant_members (tenant_id, view_id);

  alter table logloom.api_keys
    add column view_id uuid,
    add constraint api_keys_view_is_for_reading check (view_id is null or scopes = '{read}'),
    add constraint api_keys_view_is_of_tenant foreign key (tenant_id, view_id)
      references logloom.log_views (tenant_id, view_id) on delete cascade;
  create index api_keys_tenant_id_view_id_idx on logloom.api_keys (tenant_id, view_id);

  alter table logloom.alert_rules
    add column view_id uuid,
    add constraint alert_rules_view_is_of_tenant foreign key (tenant_id, view_id)
      references logloom.log_views (tenant_id, view_id) on delete cascade;
  create index alert_rules_tenant_id_view_id_idx on logloom.alert_rules (tenant_id, view_id);
  alter table logloom.alert_history add column view_id uuid;
  alter table logloom_private.alert_plans
    add column view_id uuid,
    add column view_updated_at timestamptz;
  drop view logloom_private.planned_alert_rules;
  create view logloom_private.planned_alert_rules with (security_invoker) as
  select p.*, r.tenant_id, r.asked_at, r.last_evaluated_at
  from logloom.alert_rules r
  join logloom_private.alert_plans p
    on p.rule_id = r.rule_id
    and p.query_dsl = r.query_dsl
    and p.window_minutes = r.window_minutes
    and p.view_id is not distinct from r.view_id
  left join logloom.log_views v on v.view_id = r.view_id
  where r.enabled and p.view_updated_at is not distinct from v.updated_at;

  alter table logloom.saved_searches
    add column view_id uuid,
    add constraint saved_searches_view_is_of_tenant foreign key (tenant_id, view_id)
      references logloom.log_views (tenant_id, view_id) on delete cascade;
  create index saved_searches_tenant_id_view_id_idx
  on logloom.saved_searches (tenant_id, view_id);

  alter table logloom.audit_events
    drop constraint audit_events_action_is_known,
    add constraint audit_events_action_is_known check (
      action in (
        'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
        'ingest_token.created',
        'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
        'member.added', 'member.changed', 'member.removed',
        'settings.changed', 'plan.changed',
        'view.created', 'view.changed', 'view.deleted',
        'logs.deletion_requested', 'logs.deletion_finished'
      )
    );
  perform set_config('lock_timeout', '0', true);
end;
$$;

comment on view logloom_private.planned_alert_rules is 'Enabled rules whose plan is valid.';

-- Portal sessions.
do $$
begin
  -- Small tables, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column portal_url text,
    add column portal_session_lifetime_max interval not null default '7 days',
    add column portal_code_lifetime interval not null default '10 minutes',
    add constraint settings_portal_url_is_an_address check (
      portal_url ~ '^https?://[^\s#]+$' and length(portal_url) <= 500
    );
  alter table logloom.plans
    add column max_portal_sessions integer not null default 10000,
    add column portal_requests_per_minute integer not null default 6000,
    add constraint plans_portal_is_limited check (
      least(max_portal_sessions, portal_requests_per_minute) >= 0
    );
  update logloom.plans set max_portal_sessions = 100, portal_requests_per_minute = 120
  where plan_id = 'free';
  update logloom.plans set max_portal_sessions = 1000, portal_requests_per_minute = 1200
  where plan_id = 'pro';
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

  create unlogged table logloom_private.portal_reads (
    tenant_id text not null,
    minute timestamptz not null,
    reads integer not null
  )
  with (fillfactor = 50);

  create index portal_reads_tenant_id_minute_idx
  on logloom_private.portal_reads (tenant_id, minute);
  perform set_config('lock_timeout', '0', true);
end;
$$;

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."change_member"(text, text, text, boolean);

DROP FUNCTION "logloom_private"."enroll_member"(text, text, text, text);

DROP FUNCTION "logloom_private"."issue_api_key"(text, text, timestamp WITH time zone, text[]);

DROP FUNCTION "logloom_private"."log_neighbours"(public.logloom_log_record, integer, text, bigint);

DROP FUNCTION "logloom_private"."log_within"(text, tstzrange, uuid, boolean, boolean);

DROP FUNCTION "logloom_private"."query_verdict"(text);

DROP FUNCTION "logloom_private"."read_by_key"(text, text, jsonb);

DROP FUNCTION "logloom_private"."require_member_role"(text);

DROP FUNCTION "logloom_private"."search_query"(text, timestamp WITH time zone, text);

DROP FUNCTION "public"."add_tenant_member"(text, text, text, text);

DROP FUNCTION "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb);

DROP FUNCTION "public"."create_api_key"(text, text, timestamp WITH time zone, text[]);

DROP FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[]);

DROP FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer);

DROP FUNCTION "public"."read_logs"(text, text, jsonb);

DROP FUNCTION "public"."rotate_api_key"(text, uuid, integer);

DROP FUNCTION "public"."set_tenant_member_role"(text, text, text);

DROP FUNCTION "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb);

DROP FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[]);

CREATE TYPE "public"."logloom_created_portal_session" AS (
  "session_id" uuid,
  "token"      text,
  "url"        text,
  "expires_at" timestamp WITH time zone
);

CREATE TYPE "public"."logloom_log_change" AS (
  "kind"   text,
  "field"  text,
  "value"  text,
  "before" bigint,
  "after"  bigint,
  "change" text,
  "score"  double precision
);

CREATE TYPE "public"."logloom_log_changes" AS (
  "ts_from"        timestamp WITH time zone,
  "ts_to"          timestamp WITH time zone,
  "before_from"    timestamp WITH time zone,
  "records"        bigint,
  "records_before" bigint,
  "changes"        public.logloom_log_change[],
  "warnings"       public.logloom_query_warning[]
);

CREATE TYPE "public"."logloom_log_export" AS (
  "text"        text,
  "records"     integer,
  "cursor"      text,
  "next_cursor" text
);

CREATE TYPE "public"."logloom_log_view" AS (
  "view_id"       uuid,
  "tenant_id"     text,
  "name"          text,
  "query_dsl"     text,
  "hidden_fields" text[],
  "operations"    text[],
  "created_by"    text,
  "created_at"    timestamp WITH time zone,
  "updated_at"    timestamp WITH time zone
);

CREATE TYPE "public"."logloom_opened_portal_session" AS (
  "session_id" uuid,
  "token"      text,
  "expires_at" timestamp WITH time zone
);

CREATE TYPE "public"."logloom_portal_session" AS (
  "session_id"    uuid,
  "tenant_id"     text,
  "label"         text,
  "view_id"       uuid,
  "query_dsl"     text,
  "origins"       text[],
  "status"        text,
  "created_by"    text,
  "created_at"    timestamp WITH time zone,
  "expires_at"    timestamp WITH time zone,
  "revoked_at"    timestamp WITH time zone,
  "first_used_at" timestamp WITH time zone,
  "last_used_at"  timestamp WITH time zone
);

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
    return case when v_role in ('viewer', 'member', 'admin', 'owner') then v_role end;
  elsif v_required or exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id)
  then
    return null;
  end if;
  return 'owner';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_reader (
  p_scope     logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope is null and logloom_private.is_service_role() then
    p_scope.tenant_id := logloom_private.resolve_tenant(p_tenant_id);
    return p_scope;
  end if;
  p_scope := logloom_private.checked_scope(p_scope, p_operation);
  if p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return p_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_for (
  p_row            logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id        uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
  end if;
  -- What it found before it was bound to the view is none of the view.
  if p_view_id is not null and (p_row.last_evaluated_at > p_row.asked_at) is not true then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_of (
  p_row logloom.alert_rules
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
    p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
    p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
    p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
    p_row.last_value, p_row.last_error, p_row.view_id
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alerts_errors()
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
    ('alerts.query_reads_what_is_hidden', 400, 'The query asks for what the view %s hides',
      'Ask for other fields, or bind the rule to another view.',
      'A rule that is evaluated in a view names one of its hidden fields, or an attribute beside '
        'one, or looks through any text.'),
    ('alerts.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to is not.', null),
    ('alerts.alert_rules_name_is_valid', 400, 'Invalid p_name: 1 to 200 characters after trimming',
      'Name the rule after what it watches.', null),
    ('alerts.alert_rules_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('alerts.alert_rules_threshold_is_finite', 400, 'Invalid p_threshold: a finite number',
      'Send a JSON number.', null),
    ('alerts.alert_rules_comparison_is_known', 400,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq',
      'The value of the query stands at the left: gt fires when it is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook',
      'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is no email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is no https URL',
      'Send an https URL without user name and password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for the destination email, webhook_url for webhook, or disable the rule.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.api_keys_errors()
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
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_api_keys`: revoke one.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', '`p_name` is blank or too long.'),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: ingest, read, or both',
      'Left out it is ["ingest"].', null),
    ('api_keys.view_is_for_reading', 400, 'p_view_id is for API keys that only read',
      'A view limits what is read. Send p_scopes ["read"], and make another key for sending.',
      'A view, and the scope `ingest`: a key that sends is held by a server, which a view would '
        'not limit.'),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work for so long; 10080 minutes are a week.', '`rotate_api_key`: a week at most.'),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', '`rotate_api_key`: create a new key.'),
    ('api_keys.token_service_is_invalid', 400,
      'Invalid p_service: 1 to 200 characters after trimming',
      'The token sends for this service alone.', '`create_ingest_token`: it is blank or too long.'),
    ('api_keys.token_lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 1 to %s seconds',
      'Make another token when this one has expired.',
      '`create_ingest_token`: `settings.ingest_token_lifetime` at most.'),
    ('api_keys.too_many_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s)',
      'Retry-After says when the next one expires. One token can serve many pages.',
      'The plan''s `max_ingest_tokens`.'),
    ('api_keys.too_many_new_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s per minute)',
      'Use a token until it expires. One token can serve many pages.',
      'The plan''s `ingest_tokens_per_minute`.'),
    ('api_keys.not_found', 404, 'API key not found',
      'list_api_keys shows the keys of this tenant.', 'The tenant has no such key.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_api_keys()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_log_views()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_view constant logloom.log_views := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_view.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'view.created'
      when 'DELETE' then 'view.deleted'
      else 'view.changed'
    end,
    v_view.view_id::text,
    jsonb_build_object('name', v_view.name)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - 'updated_at', to_jsonb(new) - 'updated_at'
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'query_dsl', v_view.query_dsl, 'hidden_fields', v_view.hidden_fields,
        'operations', v_view.operations
      ))
    end
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_tenant_members()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_member constant logloom.tenant_members := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else 'member.changed'
    end,
    v_member.user_id,
    case
      when tg_op = 'UPDATE' then logloom_private.changed_members(to_jsonb(old), to_jsonb(new))
      else jsonb_strip_nulls(
        jsonb_build_object('role', v_member.role, 'view_id', v_member.view_id)
      )
    end
  );
  return null;
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
  if logloom_private.is_viewer(authenticate_sender.tenant_id, p_claims) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_groups (
  p_block   logloom_private.blocks,
  p_bits    bit varying,
  p_by      text[],
  p_counts  boolean,
  p_key     text,
  p_exact   boolean,
  p_doubles boolean
)
  RETURNS TABLE (
    keys    text[],
    events  bigint,
    numbers bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := array(
    select b.name from unnest(p_by) b (name) where b.name not in ('service', 'level') order by 1
  );
  v_by_run constant boolean := cardinality(v_names) < cardinality(p_by);
  v_count constant bigint := bit_count(p_bits);
  v_columns logloom_private.block_columns[];
  v_number logloom_private.block_columns;
  v_keys text;
begin
  v_columns := logloom_private.dictionaries_of(p_block, v_names);
  if p_key is not null then
    select k.* into v_number
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name in ('attrs', 'attrs.' || p_key) and k.dictionary is distinct from array['{}']
    order by k.name desc
    limit 1;
  end if;
  if cardinality(v_columns) < cardinality(v_names) or v_number.name = 'attrs'
    or v_count * 32 < p_block.records and cardinality(v_names) > 0
  then
    return query
    select r.*
    from logloom_private.read_groups(p_block, p_bits, p_by, p_counts, p_key, p_doubles) r;
    return;
  end if;

  v_keys := format('array[%s]::text[]', array_to_string(
    array(
      select case b.name
        when 'service' then '$3[g.run]'
        when 'level' then '$4[g.run]'
        else format('($5[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end
      from unnest(p_by) with ordinality b (name, n)
      order by b.n
    ),
    ', '
  ));
  if p_counts then
    return query execute format(
      $query$
        select %s, g.events, 0::bigint, null::numeric, null::numeric, null::numeric,
          null::double precision[]
        from %s g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.found_runs($1, $2, 1, $7)'
        else 'logloom_private.grouped_codes($1, $2, $5, $6, 1, $7, null::integer[], false, '
          || 'false)' end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, p_block.records;
  end if;
  if v_number.name is not null then
    return query execute format(
      $query$
        select %s, 0::bigint, g.events, g.total, g.minimum, g.maximum, g.doubles
        from %s $7, $8, %s, $9, $10) g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.run_numbers($1, $2,'
        else 'logloom_private.grouped_codes($1, $2, $5, $6,' end,
      case
        when v_number.numbers is not null then '$11'
        when v_number.wide_numbers is not null then '$12'
        when v_number.kind = 'dictionary' and not p_exact then '$14'
        else '$13'
      end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, v_number.first, v_number.last, p_exact, p_doubles, v_number.numbers,
      v_number.wide_numbers,
      case when v_number.kind not in ('numbers', case when p_exact then '' else 'dictionary' end)
        then logloom_private.column_numbers(v_number) end,
      -- Each value of a dictionary becomes a double once.
      case when v_number.kind = 'dictionary' and not p_exact
        then logloom_private.dictionary_numbers(v_number, array(
          select logloom_private.finite_double(logloom_private.json_number(d.value::jsonb))
          from unnest(v_number.dictionary) with ordinality d (value, n)
          order by d.n
        )) end;
  end if;
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
    ('callers.viewer_may_only_read', 403, 'A viewer may only read',
      'It has the operations that read logs, such as search_logs, within its view. For another '
        'role ask an owner of the tenant.',
      'The caller''s role is `viewer`.'),
    ('callers.view_is_missing', 403, 'What this reader is bound to is not there',
      'An owner or admin binds it to a view that list_log_views shows.',
      'The token names the role `viewer` and no view of the tenant (`app_metadata.logloom_view`).'),
    ('callers.view_is_broken', 403, 'The query of the view %s can no longer be read',
      'An owner or admin mends it by update_log_view.',
      'The view''s query was stored by another version and does not compile any more.'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.portal_session_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session was revoked.', null),
    ('callers.portal_session_is_over', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session has ended: create_log_portal_session makes another.', null),
    ('callers.portal_code_is_spent', 401, 'This link has been used, or is too old',
      'A link is good for ten minutes and once: ask for another.', null),
    ('callers.portal_origin_is_unknown', 403, 'This session is not for pages of %s',
      'create_log_portal_session names the origins of its pages in p_origins.', null),
    ('callers.portal_query_is_broken', 403, 'The query of this session can no longer be read',
      'create_log_portal_session makes another session.', null),
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

CREATE OR REPLACE FUNCTION logloom_private.change_log_view (
  p_tenant_id     text,
  p_view_id       uuid,
  p_name          text,
  p_query_dsl     text,
  p_hidden_fields text[],
  p_operations    text[]
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_query_dsl text;
  v_hidden_fields text[];
  v_operations text[];
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  v_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_operations := logloom_private.checked_view_operations(p_operations);
  update logloom.log_views v
  set
    name = coalesce(logloom_private.trim_space(p_name), v.name),
    query_dsl = case when p_query_dsl is null then v.query_dsl else v_query_dsl end,
    hidden_fields = case
      when p_hidden_fields is null then v.hidden_fields else v_hidden_fields
    end,
    operations = case when p_operations is null then v.operations else v_operations end,
    updated_at = now()
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  returning v.* into v_row;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_member (
  p_tenant_id  text,
  p_user_id    text,
  p_role       text,
  p_is_removed boolean DEFAULT false,
  p_view_id    uuid    DEFAULT NULL::uuid
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_member logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role, p_view_id);
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_member.role = 'owner' and p_role <> 'owner' and not exists (
    select from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.role = 'owner' and m.user_id <> p_user_id
  ) then
    perform logloom_private.refuse('tenants.last_owner_stays');
  end if;
  if p_is_removed then
    delete from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  else
    update logloom.tenant_members m set role = p_role, view_id = p_view_id
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id
    returning m.* into v_member;
  end if;
  return logloom_private.member_of(v_member);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_hidden_fields (
  p_hidden_fields text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names text[] := '{}';
  v_name text;
begin
  if cardinality(p_hidden_fields) > 100 or array_ndims(p_hidden_fields) > 1 then
    perform logloom_private.refuse('views.too_many_hidden_fields');
  end if;
  foreach v_name in array coalesce(p_hidden_fields, '{}') loop
    v_name := logloom_private.trim_space(v_name);
    if v_name is distinct from 'attrs' then
      if v_name is null or length(v_name) not between 1 and 200
        or v_name in ('id', 'tenant_id', 'ts', 'received_at', 'any')
      then
        perform logloom_private.refuse(
          'views.field_cannot_be_hidden', coalesce(left(v_name, 60), 'null')
        );
      end if;
      v_name := logloom_private.hidden_name(logloom_private.query_field(v_name, 1));
    end if;
    v_names := v_names || v_name;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_scope (
  p_scope     logloom_private.reading_scope,
  p_operation text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token();
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_view_operations (
  p_operations text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_unknown text;
begin
  if p_operations = '{all}' then
    return null;
  end if;
  select coalesce(left(o.name, 60), 'null') into v_unknown
  from unnest(p_operations) o (name)
  where not exists (
    select from logloom_private.reading_operations() r where r.operation = o.name
  )
  limit 1;
  if found or cardinality(p_operations) = 0 then
    perform logloom_private.refuse(
      'views.operation_is_unknown', coalesce(v_unknown, 'none'),
      (select string_agg(r.operation, ', ') from logloom_private.reading_operations() r)
    );
  end if;
  return (
    select array_agg(distinct o.name collate "C" order by o.name collate "C")
    from unnest(p_operations) o (name)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_view_query (
  p_tenant_id text,
  p_query_dsl text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'views.query_has_stages'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
  return case when not v_query.blank then p_query_dsl end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compile_rule (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid,
  p_now       timestamp with time zone DEFAULT now()
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_view logloom.log_views;
  v_shown logloom_private.compiled_query;
begin
  if p_view_id is null then
    return v_query;
  end if;
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  if exists (
    select
    from unnest(
      logloom_private.query_reads(jsonb_build_array(v_query.tree, v_query.plan))
    ) r (name)
    cross join unnest(v_view.hidden_fields) h (name)
    where r.name = h.name
      or split_part(r.name, '.', 1) = 'attrs' and split_part(h.name, '.', 1) = 'attrs'
      and (
        'attrs' in (r.name, h.name) or split_part(r.name, '.', 2) = split_part(h.name, '.', 2)
      )
  ) then
    perform logloom_private.refuse('alerts.query_reads_what_is_hidden', v_view.name);
  end if;
  if v_view.query_dsl is null then
    return v_query;
  end if;
  v_shown := logloom_private.compile_query(v_view.query_dsl, p_now);
  v_query.tree := jsonb_build_object(
    'type', 'and', 'items', jsonb_build_array(v_shown.tree, v_query.tree)
  );
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query.ts_from := greatest(v_query.ts_from, v_shown.ts_from);
  v_query.ts_to := least(v_query.ts_to, v_shown.ts_to);
  v_query.names_now := v_query.names_now or v_shown.names_now;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.csv_cell_sql (
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    '(select case when c.v is null then '''' when c.v ~ ''^[-+]?[0-9.]+$'' then c.v '
      'when c.v ~ ''^[=+@\t\r-]'' then ''"'''''' || replace(c.v, ''"'', ''""'') || ''"'' '
      'when c.v ~ ''[",\r\n]'' or c.v = '''' then ''"'' || replace(c.v, ''"'', ''""'') || ''"'' '
      'else c.v end from (select %s as v offset 0) c)',
    p_value
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.csv_columns (
  p_fields jsonb
)
  RETURNS TABLE (
    name text,
    sql  text
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select c.name, c.sql
  from (
    select 0 as part, f.place::bigint as n, f.name, 'to_json(l.' || f.name || ') #>> ''{}''' as sql
    from (values (1, 'ts'), (2, 'id')) f (place, name)
    union all
    select 1, f.n, f.field ->> 'name', logloom_private.query_group_sql(f.field, 'l')
    from jsonb_array_elements(p_fields) with ordinality f (field, n)
    where f.field ->> 'field' not in ('ts', 'id')
    union all
    select
      1, f.shown, f.name,
      case f.type when 'text' then 'l.' || f.name else 'to_json(l.' || f.name || ') #>> ''{}''' end
    from unnest(logloom_private.record_fields()) f
    where p_fields is null and f.shown is not null and f.name not in ('ts', 'id', 'tenant_id')
  ) c
  order by c.part, c.n;
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
  if v_tenant_id is null or logloom_private.reads_only(p_claims)
    or logloom_private.is_viewer(v_tenant_id, p_claims)
  then
    return null;
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cursor_after (
  p_cursor text,
  p_after  text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts text[];
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
begin
  if p_after is null then
    return p_cursor;
  elsif v_after is null or not pg_input_is_valid(v_after[1], 'timestamptz') then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_parts := logloom_private.decode_cursor(
    p_cursor, '^(page (?:desc|asc)) \d{1,18} (\d{1,18} \d{1,18} \d{1,18}) [0-9a-f-]{36}(.*)$'
  );
  return logloom_private.encode_cursor(array[
    v_parts[1], (extract(epoch from v_after[1]::timestamptz) * 1000000)::bigint::text, v_parts[2],
    v_after[2] || v_parts[3]
  ]);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.dictionaries_of (
  p_block logloom_private.blocks,
  p_names text[]
)
  RETURNS logloom_private.block_columns[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select k
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name = any(p_names) and k.kind = 'dictionary'
    order by k.name
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_portal_session (
  p_tenant_id  text,
  p_session_id uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes sessions
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_was_revoked boolean;
begin
  perform
    logloom_private.require_role(v_tenant_id, 'admin'),
    logloom_private.require_parameter('p_session_id', p_session_id is null);
  select s.revoked_at is not null into v_was_revoked
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id and s.session_id = p_session_id
  for no key update;
  if not found then
    perform logloom_private.refuse('portal.session_not_found');
  elsif v_was_revoked then
    return;
  end if;
  update logloom.portal_sessions s set revoked_at = now() where s.session_id = p_session_id;
  insert into logloom.audit_events (tenant_id, actor, action, subject)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.revoked', p_session_id::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enroll_member (
  p_tenant_id text,
  p_user_id   text,
  p_role      text,
  p_email     text,
  p_view_id   uuid
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_email constant text := nullif(logloom_private.trim_space(p_email), '');
  v_caller text;
  v_user_id text := p_user_id;
  v_members integer;
  v_max integer;
  v_added logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role, p_view_id);
  if length(v_email) > 320 then
    perform logloom_private.refuse('tenants.email_is_too_long');
  end if;
  if v_user_id is null then
    perform logloom_private.require_parameter('p_user_id', v_email is null);
    v_user_id := logloom_private.auth_user_of_email(v_email);
  end if;
  if logloom_private.usable_id(v_user_id) is null then
    perform logloom_private.refuse('tenants.user_id_is_invalid');
  end if;
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);

  select count(*) into v_members
  from logloom.tenant_members m where m.tenant_id = v_tenant_id;
  if v_members = 0 and logloom_private.is_service_role() then
    if p_role <> 'owner' then
      perform logloom_private.refuse('tenants.first_member_is_owner');
    end if;
  elsif v_members = 0 then
    -- From here on the tenant uses roles: who set that off must not be locked out by it.
    v_caller := logloom_private.require_user_id();
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values (v_tenant_id, v_caller, 'owner');
    v_members := 1;
  end if;
  v_max := (logloom_private.plan_of(v_tenant_id)).max_members;
  if v_members >= v_max and v_user_id is distinct from v_caller then
    perform logloom_private.refuse('tenants.no_room_for_member', v_max::text);
  end if;

  if v_user_id = v_caller then
    -- A tenant's first member is its owner, whatever they asked for.
    update logloom.tenant_members m set email = v_email
    where m.tenant_id = v_tenant_id and m.user_id = v_user_id
    returning m.* into v_added;
  else
    insert into logloom.tenant_members as m (tenant_id, user_id, role, email, view_id)
    values (v_tenant_id, v_user_id, p_role, v_email, p_view_id)
    on conflict do nothing
    returning m.* into v_added;
    if not found then
      perform logloom_private.refuse('tenants.already_a_member');
    end if;
  end if;
  return logloom_private.member_of(v_added);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.examine_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  -- What does not fit is null: the piece ends before it.
  execute 'with piece as materialized ('
    || logloom_private.log_tail_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last,
      (select s.max_page_bytes from logloom_private.settings s), true
    )
    || ') select array(select ' || case when p_query.hidden_fields is null then 'l.item '
      else 'row(' || logloom_private.shown_columns_sql() || ')::public.logloom_log_record ' end
    || logloom_private.masked_sql(
      p_query, 'from (select (r.record).*, r.write_seq, r.record as item, '
        || 'null::integer as record_bytes from piece r where r.record is distinct from null) l '
        || 'where (' || p_query.filter || ')'
    )
    || ' order by l.write_seq, l.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select r.write_seq, r.id from piece r '
    || 'where r.record is distinct from null order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.export_cursor (
  p_range tstzrange,
  p_order text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_received_before constant timestamptz := coalesce(
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at), 'epoch'
  );
begin
  return logloom_private.encode_cursor(
    array['page', p_order]
      || array(
        select (extract(epoch from t) * 1000000)::bigint::text
        from unnest(array[
          case p_order when 'asc' then lower(p_range) else upper(p_range) end,
          lower(p_range), upper(p_range), now()
        ]) t
      )
      || '00000000-0000-0000-0000-000000000000'::text
      || ('w' || (extract(epoch from v_received_before) * 1000000)::bigint)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.facet_changes (
  p_tenant_id      text,
  p_query          logloom_private.compiled_query,
  p_range          tstzrange,
  p_before         tstzrange,
  p_field          text,
  p_records        bigint,
  p_records_before bigint
)
  RETURNS SETOF public.logloom_log_change
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  with after as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_range, p_field) f
  ), before as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_before, p_field) f
  ), counted as (
    select
      value, coalesce(b.records, 0) as before, coalesce(a.records, 0) as after
    from after a
    full join before b using (value)
    where value is not null
      and (a.value is not null or (select bool_or(c.is_cut) from after c) is not true)
      and (b.value is not null or (select bool_or(c.is_cut) from before c) is not true)
  )
  select
    case when p_field is null then 'pattern' else 'value' end,
    coalesce(p_field, 'msg'), c.value, c.before, c.after,
    case
      when c.before = 0 then 'new'
      when c.after = 0 then 'gone'
      when c.after::double precision / p_records > c.before::double precision / p_records_before
        then 'grown'
      else 'shrunk'
    end,
    round(s.score::numeric, 2)::double precision
  from counted c
  -- Patterns are those of the newest records, which may be fewer.
  cross join lateral logloom_private.surprise(
    least(c.after, p_records), p_records, least(c.before, p_records_before), p_records_before
  ) s (score)
  where s.score >= 10.83;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.facet_counts (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_field     text
)
  RETURNS TABLE (
    value   text,
    records bigint,
    is_cut  boolean
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stages constant logloom_private.compiled_query := logloom_private.compile_query(
    case when p_field is null then '| patterns' else '| count() by ' || p_field end
  );
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s);
begin
  p_query.plan := v_stages.plan;
  p_query.aggregate := v_stages.aggregate;
  p_query.by_fields := v_stages.by_fields;
  p_query.by_sql := v_stages.by_sql;
  return query
  select s."group" ->> coalesce(p_field, 'pattern'), s.value::bigint, s.total_groups > v_max
  from logloom_private.log_stats_of(p_tenant_id, p_query, p_range, v_max) s;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fire_alert (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now    timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and h.window_end > p_window.window_end - v_cooldown
      and h.window_end < p_window.window_end + v_cooldown
  ) then
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone       DEFAULT NULL::timestamp WITH time zone,
  p_id        uuid                           DEFAULT NULL::uuid,
  p_reads     text[]                         DEFAULT NULL::text[],
  p_bytes     bigint                         DEFAULT NULL::bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_after constant text := case when p_ts is null then ''
    -- The comparison of rows drives the index.
    else format(
      '(l.ts, l.id) %s (%L::timestamptz, %L::uuid) and ',
      case p_order when 'asc' then '>' else '<' end, p_ts, p_id
    ) end;
  v_rows text;
  v_order text;
begin
  p_reads := case when p_reads is not null then p_reads || array['ts', 'id'] end;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_bytes := null;
    if p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
      p_limit := (select s.search_stage_records from logloom_private.settings s) + 1;
    end if;
  end if;
  v_order := format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  if p_query.masked_tree is not null then
    -- How many of them it lets through shows without the hidden fields alone.
    return logloom_private.records_sql(
      p_tenant_id, p_query, p_query.ts_from, p_query.ts_to, p_reads
    ) || ' and ' || v_after || 'true' || v_order;
  elsif p_query.hidden_fields is not null then
    p_bytes := null;
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, v_after || p_query.filter, p_reads, p_order,
    p_limit, p_bytes
  ) || v_order;
  if logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then
    v_rows := 'from ((select l.* ' || v_rows
      || ') union all select l.* from logloom_private.sealed_page('
      || format(
        '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_query.ts_from,
        p_query.ts_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
      )
      || ') l) l' || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_bytes     bigint                           DEFAULT NULL::bigint,
  OUT         logs public.logloom_log_record[],
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  -- Borders of blocks say something of what is hidden.
  v_is_masked constant boolean := p_query.hidden_fields is not null;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows text;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(
    p_tenant_id, p_query.ts_from, p_query.ts_to, p_order, not v_is_masked
  );
  -- The bound of an extraction is one of all that it reads.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Most pages have no large record, and adding up sizes costs: first as if there were none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(
        p_query, v_rows, format('l.ts %1$s, l.id %1$s', p_order), v_left, p_bytes, v_is_exact
      );
      -- After a single part nothing more is opened.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- What is extracted, or hides fields, was measured at once.
      exit when v_is_staged or v_is_masked or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- Before or after all records of the parts that are left.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_writing_client(logloom_private.claims());
  if logloom_private.is_viewer(
    logloom_private.tenant_of_claims(logloom_private.claims()), logloom_private.claims()
  ) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
  perform logloom_private.require_lasting_user(logloom_private.claims());
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One at a time for a user, so that each has one at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  if logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
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
        'abolish_tenant', 'acting_role', 'alert_rule_of', 'api_key_status', 'change_log_view',
        'change_member', 'check_query', 'check_settings', 'confirm_address',
        'distinct_destinations', 'effective_settings', 'end_portal_session', 'enqueue_rule_test',
        'enroll_member', 'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_view_of', 'make_log_view', 'my_key_reads', 'my_stored', 'my_usage', 'new_api_key',
        'note_saved_search_run', 'page_of_addresses', 'page_of_deliveries', 'page_place',
        'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_page', 'read_log_series', 'read_log_stats',
        'read_log_tail', 'read_members', 'read_query_validity', 'read_saved_search',
        'read_saved_searches', 'reads_again', 'reads_only', 'refuse_for_now',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_view', 'replace_webhook_secret',
        'request_deletion', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'tags_are_valid',
        'tenant_with_plan', 'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'ingest', 'ingest_each', 'open_portal_session', 'read_by_key',
        'read_health', 'run_writer_in_place', 'settle_claim'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hidden_name (
  p_field jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return concat_ws(
    '.', p_field ->> 'field',
    (
      select string_agg(k.key, '.' order by k.n)
      from jsonb_array_elements_text(p_field -> 'path') with ordinality k (key, n)
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hold_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may hold a view
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if p_view_id is null then
    return;
  end if;
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  for key share;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_hidden (
  p_name   text,
  p_hidden text[]
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select from unnest(p_hidden) h where p_name = h or starts_with(p_name, h || '.')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_origin (
  p_origin text
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return length(p_origin) <= 255
    and p_origin ~ (
      '^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|http://(?:localhost|127\.0\.0\.1))'
      '(?::[0-9]{1,5})?$'
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_viewer (
  p_tenant_id text,
  p_claims    jsonb
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    logloom_private.acting_role(p_tenant_id, p_claims ->> 'sub', p_claims) = 'viewer', false
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_api_key (
  p_tenant_id  text,
  p_name       text,
  p_expires_at timestamp with time zone,
  p_scopes     text[],
  p_view_id    uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at,
    p_view_id
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at,
    view_id
  into v_result;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_portal_session (
  p_tenant_id text,
  p_view_id   uuid,
  p_query_dsl text,
  p_seconds   integer,
  p_label     text,
  p_origins   text[],
  p_link      boolean
)
  RETURNS public.logloom_created_portal_session
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or writes sessions and settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_settings logloom_private.settings;
  v_longest integer;
  v_secret constant text := logloom_private.new_api_key(
    case when p_link then 'llc_' else 'llp_' end
  );
  v_session logloom.portal_sessions;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  select s.* into v_settings from logloom_private.settings s;
  v_longest := extract(epoch from v_settings.portal_session_lifetime_max);
  if p_seconds not between 60 and v_longest then
    perform logloom_private.refuse('portal.lifetime_is_out_of_range', v_longest::text);
  elsif length(p_label) > 200 then
    perform logloom_private.refuse('portal.label_is_too_long');
  elsif cardinality(p_origins) > 20
    or exists (
      select from unnest(p_origins) o where logloom_private.is_origin(o) is not true
    )
  then
    perform logloom_private.refuse('portal.origin_is_invalid');
  elsif p_link and v_settings.portal_url is null then
    perform logloom_private.refuse('portal.url_is_not_set');
  end if;
  perform
    logloom_private.checked_view_query(v_tenant_id, p_query_dsl),
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.expires_at > now() and s.revoked_at is null
  ) >= v_plan.max_portal_sessions
  then
    perform logloom_private.refuse('portal.no_room', v_plan.max_portal_sessions::text);
  end if;
  insert into logloom.portal_sessions (
    tenant_id, label, view_id, query_dsl, origins, token_digest, code_digest, code_expires_at,
    created_by, expires_at
  )
  values (
    v_tenant_id, p_label, p_view_id, p_query_dsl, coalesce(p_origins, '{}'),
    case when not p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then now() + least(
      v_settings.portal_code_lifetime, make_interval(secs => p_seconds)
    ) end,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    now() + make_interval(secs => p_seconds)
  )
  returning * into v_session;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.created', v_session.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'label', p_label, 'view_id', p_view_id, 'query_dsl', p_query_dsl, 'origins', p_origins,
      'expires_at', v_session.expires_at
    ))
  );
  return row(
    v_session.session_id, case when not p_link then v_secret end,
    -- Behind #, which no server sees.
    case when p_link then v_settings.portal_url || '#' || v_secret end, v_session.expires_at
  )::public.logloom_created_portal_session;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_neighbours (
  p_scope logloom_private.reading_scope,
  p_log   public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
  RETURNS public.logloom_log_record[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  if p_count = 0 then
    return '{}';
  end if;
  select case when count(*) = 0 then '{"type": "all"}' else jsonb_build_object(
    'type', 'and', 'items', jsonb_agg(case
      when v.value is not null then logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1),
        jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v.value))
      )
      else jsonb_build_object('type', 'not', 'item', logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1), '{"test": "exists"}'
      ))
    end)
  ) end
  into v_query.tree
  from (values ('host', p_log.host), ('service', p_log.service)) v (field, value)
  where logloom_private.is_hidden(v.field, p_scope.hidden_fields) is not true;
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  return (
    logloom_private.found_page(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes
    )
  ).logs;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint,
  p_fits      boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kept_from constant timestamptz := logloom_private.kept_from(p_tenant_id);
  v_days timestamptz[];
  v_filter text;
  v_write_seqs text;
  v_rows text;
  v_is_sealed boolean;
  v_is_masked constant boolean := p_query.hidden_fields is not null;
  v_order constant text := ' order by l.write_seq, l.id limit ' || p_limit;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_write_seqs := format('l.write_seq between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_write_seqs := v_write_seqs
      || format('(l.write_seq > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_write_seqs;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, greatest(v_days[1], v_kept_from),
    v_days[cardinality(v_days)] + interval '24 hours', v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  );
  v_rows := case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_write_seqs('
        || format(
          '%s, %L, %L, %L, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
          v_kept_from, p_query.tree,
          case when p_query.masked_tree is null then p_limit end,
          case when v_is_masked then 9223372036854775807 else p_bytes end
        )
        || ') l) l where true'
      else
        v_rows
      end;
  if p_query.masked_tree is null then
    v_rows := v_rows || v_order;
  end if;
  if v_is_masked then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return logloom_private.page_sql(
    p_query, v_rows, 'l.write_seq, l.id', p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_view_of (
  p_row logloom.log_views
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.view_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.hidden_fields,
    p_row.operations, p_row.created_by, p_row.created_at, p_row.updated_at
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_within (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_window    tstzrange,
  p_id        uuid,
  p_rows      boolean,
  p_sealed    boolean
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := logloom_private.kept_from(p_tenant_id, lower(p_window));
  v_select constant text := 'select row(' || logloom_private.shown_columns_sql()
    || ')::public.logloom_log_record ';
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.masked_sql(
        p_query,
        logloom_private.tenant_rows_sql(
          p_tenant_id, v_from, upper(p_window),
          format('l.id = %L::uuid and %s limit 1', p_id, p_query.filter)
        )
      )
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.masked_sql(
        p_query,
        format(
          'from logloom_private.sealed_log(%L, %L, %L, %L) l where %s limit 1',
          p_tenant_id, v_from, upper(p_window), p_id, p_query.filter
        )
      )
    );
  end if;
  if logloom_private.answered_bytes(v_logs)
    > (select s.max_page_bytes from logloom_private.settings s)
  then
    return logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs));
  end if;
  return v_logs[1];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.make_log_view (
  p_tenant_id     text,
  p_name          text,
  p_query_dsl     text,
  p_hidden_fields text[],
  p_operations    text[]
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_row.hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_row.operations := logloom_private.checked_view_operations(p_operations);
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_views;
  if (select count(*) from logloom.log_views v where v.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('views.no_room', v_max::text);
  end if;
  insert into logloom.log_views (
    tenant_id, name, query_dsl, hidden_fields, operations, created_by
  )
  values (
    v_row.tenant_id, v_row.name, v_row.query_dsl, v_row.hidden_fields, v_row.operations,
    logloom_private.actor()
  )
  returning * into v_row;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_attrs (
  p_attrs  jsonb,
  p_hidden text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if jsonb_typeof(p_attrs) = 'array' then
    return (
      select coalesce(
        jsonb_agg(logloom_private.masked_attrs(e.value, p_hidden) order by e.n), '[]'
      )
      from jsonb_array_elements(p_attrs) with ordinality e (value, n)
    );
  elsif jsonb_typeof(p_attrs) is distinct from 'object' then
    return p_attrs;
  end if;
  return (
    select coalesce(
      jsonb_object_agg(
        m.key,
        case when b.below = '{}' then m.value
          else logloom_private.masked_attrs(m.value, b.below) end
      ),
      '{}'
    )
    from jsonb_each(p_attrs) m
    cross join lateral (
      select array(
        select substr(h, length(m.key) + 2)
        from unnest(p_hidden) h
        where jsonb_typeof(m.value) in ('object', 'array') and starts_with(h, m.key || '.')
      ) as below
    ) b
    where not exists (
      select from unnest(p_hidden) h where m.key = h or starts_with(m.key, h || '.')
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_sql (
  p_query logloom_private.compiled_query,
  p_rows  text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_paths constant text[] := array(
    select substr(h, 7) from unnest(p_query.hidden_fields) h where starts_with(h, 'attrs.')
  );
begin
  if p_query.hidden_fields is null then
    return p_rows;
  end if;
  return 'from (select ' || (
    select string_agg(
      case
        when f.name = 'record_bytes' or f.name = any(p_query.hidden_fields)
          then format('null::%s as %I', f.type, f.name)
        when f.name = 'attrs' and v_paths <> '{}' then format(
          'nullif(logloom_private.masked_attrs(l.attrs, %L), ''{}'') as attrs', v_paths
        )
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  ) || format(
    ' %s) l where %s', p_rows,
    case when p_query.masked_tree is null then 'true'
      else logloom_private.query_sql(p_query.masked_tree, 'l') end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.member_of (
  p_member logloom.tenant_members
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_member.user_id, p_member.role,
    coalesce(
      (select u.email from logloom_private.auth_users_by_id(array[p_member.user_id]) u),
      p_member.email
    ),
    p_member.created_at,
    p_member.view_id
  )::public.logloom_member;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_session_use (
  p_session logloom.portal_sessions
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.open_portal_session (
  p_code_digest text
)
  RETURNS public.logloom_opened_portal_session
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the digests of codes
declare
  v_token constant text := logloom_private.new_api_key('llp_');
  v_session logloom.portal_sessions;
begin
  update logloom.portal_sessions s
  set
    token_digest = sha256(convert_to(v_token, 'UTF8')),
    code_digest = null,
    code_expires_at = null
  where s.code_digest = decode(p_code_digest, 'hex')
    and s.code_expires_at > now()
    and logloom_private.portal_session_is_alive(s)
  returning s.* into v_session;
  if not found then
    perform logloom_private.refuse('callers.portal_code_is_spent');
  end if;
  return row(v_session.session_id, v_token, v_session.expires_at)
    ::public.logloom_opened_portal_session;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'acknowledge_alert',
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_ingest_token',
    'create_log_portal_session',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_log_view',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'export_logs',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_tenant_usage',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'list_alert_addresses',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'log_changes',
    'log_histogram',
    'log_series',
    'log_stats',
    'open_log_portal_session',
    'preview_alert_rule',
    'read_logs',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'revoke_log_portal_session',
    'rotate_alert_webhook_secret',
    'rotate_api_key',
    'run_saved_search',
    'run_writer',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_log_view',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_sql (
  p_query    logloom_private.compiled_query,
  p_rows     text,
  p_order    text,
  p_limit    integer,
  p_bytes    bigint,
  p_is_exact boolean                        DEFAULT true,
  p_others   text                           DEFAULT ''::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Without fields it is a constant to the planner.
  v_record constant text := 'row(' || case
    when p_query.plan ? 'fields' then logloom_private.shown_columns_sql(p_query.plan -> 'fields')
    else logloom_private.shown_columns_sql()
  end || ')::public.logloom_log_record';
  v_window constant text := 'window before as (order by ' || p_order
    || ' rows between unbounded preceding and 1 preceding)';
  v_size text := 'coalesce(l.record_bytes, octet_length(to_json(l)::text))';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    -- What is extracted comes on top of what a record has.
    v_size := 'octet_length(to_json(' || v_record || ')::text)';
    p_rows := 'from (select l.* '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || p_rows || ') l')
      || format(' order by %s limit %s) l', p_order, p_limit);
  elsif not p_is_exact and p_query.hidden_fields is null then
    return format(
      'select case when l.record_bytes <= %s then %s end as record%s %s',
      least(p_bytes / greatest(p_limit, 1), 65536), v_record, p_others, p_rows
    );
  end if;
  -- First by the size that is known. Of what that leaves the attributes are opened: numbers take
  -- up to four times as much there as their text, and reading them more than that.
  return 'select case when not l.fits then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.may_fit then '
    || 'greatest(l.size, 2 * pg_column_size(l.attrs #> ''{}'') - l.size) else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || v_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.plan_alert_rules (
  p_now   timestamp with time zone,
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_group logloom_private.alert_groups;
  v_updated_at timestamptz;
  v_planned uuid[] := '{}';
begin
  for v_rule in
    select r.*
    from logloom.alert_rules r
    where r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    delete from logloom_private.alert_plans p where p.rule_id = v_rule.rule_id;
    -- Before the view is read: a change meanwhile is planned anew.
    v_updated_at := (
      select v.updated_at from logloom.log_views v where v.view_id = v_rule.view_id
    );
    begin
      v_group := null;
      v_query := logloom_private.compile_rule(
        v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
      );
      if logloom_private.has_partials(v_query) then
        v_group.filter := v_query.filter;
        v_group.number_sql := logloom_private.alert_number_sql(v_query);
      end if;
      v_group.digest := sha256(convert_to(
        case
          when v_group.filter is null
            then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
              || coalesce(to_jsonb(v_rule.view_id), '[]')
          else jsonb_build_array(v_group.filter, v_group.number_sql)
        end::text,
        'UTF8'
      ));
      insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
      values (v_rule.tenant_id, v_group.digest, v_group.filter, v_group.number_sql)
      on conflict (tenant_id, digest) do nothing;
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, aggregate, group_id, view_id, view_updated_at
      )
      select
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes,
        coalesce(v_query.aggregate, 'count'), g.group_id, v_rule.view_id, v_updated_at
      from logloom_private.alert_groups g
      where g.tenant_id = v_rule.tenant_id and g.digest = v_group.digest;
    exception when others then
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, refusal, view_id, view_updated_at
      )
      values (
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes, sqlerrm, v_rule.view_id,
        v_updated_at
      );
    end;
    v_planned := v_planned || v_rule.rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.portal_errors()
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
    ('portal.no_room', 400, 'Plan limit exceeded: portal sessions (max %s)',
      'Revoke one that is no longer needed, make shorter ones, or move to a larger plan.',
      'The plan''s `max_portal_sessions`: those that are active.'),
    ('portal.lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 60 to %s seconds',
      'Make another session when one ends; the viewer asks for it by itself.', null),
    ('portal.label_is_too_long', 400, 'Invalid p_label: at most 200 characters',
      'It is shown in list_log_portal_sessions alone.', null),
    ('portal.origin_is_invalid', 400,
      'Invalid p_origins: at most 20 origins such as https://app.example.com',
      'Scheme, host and port, without a path. http is for localhost alone.', null),
    ('portal.url_is_not_set', 400, 'p_link needs the address of the portal''s page',
      'Set portal_url in logloom_private.settings, such as https://logs.example.com/portal.html.',
      'No address in `settings.portal_url`.'),
    ('portal.session_not_found', 404, 'Portal session not found',
      'list_log_portal_sessions shows those of this tenant.', null),
    ('portal.too_many_requests', 429, 'Rate limit exceeded: %s portal requests per minute',
      'Wait as Retry-After says.', 'The plan''s `portal_requests_per_minute`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.portal_session_is_alive (
  p_session logloom.portal_sessions
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return p_session.expires_at > now()
    and p_session.revoked_at is null
    and not logloom_private.is_being_deleted(p_session.tenant_id)
    and (
      p_session.created_by is null
      or logloom_private.acting_role(p_session.tenant_id, p_session.created_by)
        in ('admin', 'owner')
      -- Only their next token would say whether they still have the role.
      or (select s.roles_from_token from logloom_private.settings s)
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_windows (
  p_tenant_id text,
  p_rule      logloom.alert_rules
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_settings logloom_private.settings;
  v_query logloom_private.compiled_query;
  v_source text;
  v_is_grouped boolean;
  v_values logloom_private.alert_window[];
  v_result public.logloom_alert_preview;
begin
  select s.* into v_settings from logloom_private.settings s;
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_rule.query_dsl, true);
  v_query := logloom_private.compile_rule(
    v_tenant_id, p_rule.query_dsl, p_rule.view_id
  );
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_is_grouped := cardinality(v_query.by_fields) > 0;
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - v_settings.preview_span;
  if logloom_private.has_partials(v_query) then
    v_result.step_minutes := 1;
    v_values := logloom_private.preview_partial_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes
    );
  else
    v_result.step_minutes := p_rule.window_minutes;
    v_values := logloom_private.window_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
      case when v_is_grouped then v_settings.search_groups + 1 end
    );
    if v_is_grouped and cardinality(v_values) > v_settings.search_groups then
      perform logloom_private.refuse_stage_bound(
        'by', v_settings.search_groups, 'groups of all windows'
      );
    end if;
  end if;
  return logloom_private.completed_preview(v_result, v_values, v_is_grouped, p_rule);
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
        -- Listed for a while after their end.
        ('logloom.portal_sessions', 'r.expires_at < $1', '30 days'),
        ('logloom_private.portal_reads', 'r.minute < $1', '1 hour'),
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

CREATE OR REPLACE FUNCTION logloom_private.query_of_scope (
  p_scope logloom_private.reading_scope
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  v_query.tree := '{"type": "all"}';
  v_query.filter := 'true';
  v_query.plan := '{}';
  return logloom_private.scoped_query(p_scope, v_query, '');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_verdict (
  p_query_dsl text,
  p_hidden    text[] DEFAULT NULL::text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error text;
  v_detail text;
  v_hint text;
  v_query logloom_private.compiled_query;
begin
  v_query := logloom_private.compile_query(p_query_dsl);
  perform logloom_private.refuse_hidden_fields(v_query, p_query_dsl, p_hidden);
  return '{"valid": true, "error": null, "position": null, "hint": null}'::jsonb
    || jsonb_build_object('warnings', v_query.warnings);
exception when sqlstate 'PT400' then
  get stacked diagnostics
    v_error = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return jsonb_build_object(
    'valid', false,
    'error', v_error,
    'position', v_detail::jsonb -> 'position',
    'hint', v_hint,
    'warnings', '[]'::jsonb
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_history (
  p_scope        logloom_private.reading_scope,
  p_tenant_id    text,
  p_rule_id      uuid,
  p_ts_from      text,
  p_ts_to        text,
  p_acknowledged boolean,
  p_limit        integer,
  p_after        uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.alert_reader(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (v_scope.view_id is null or h.view_id = v_scope.view_id)
    )
  );
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select
    h.alert_id, h.rule_id, h.tenant_id, h.triggered_at, h.value, h.threshold,
    h.acknowledged_at is not null, h.acknowledged_at, h.acknowledged_by,
    h.notification_sent_at is not null, h.notification_sent_at,
    case when v_sees_addresses then h.notification_channels else '{}' end,
    case when v_sees_addresses then h.notification_error end,
    h.window_start, h.window_end, h."group"
  from (
    select l.*, sum(octet_length(l."group"::text)) over (
      order by l.triggered_at desc, l.alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h.*
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or h.view_id = v_scope.view_id)
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) l
  ) h
  -- Of a group there may be a whole message.
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by h.triggered_at desc, h.alert_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_rules (
  p_scope     logloom_private.reading_scope,
  p_tenant_id text,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.alert_reader(p_scope, 'list_alert_rules', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_by_key (
  p_digest     text,
  p_operation  text,
  p_parameters jsonb,
  p_origin     text
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the digests of keys
declare
  v_session logloom.portal_sessions;
  v_answer json;
begin
  select s.* into v_session
  from logloom.portal_sessions s
  where s.token_digest = decode(p_digest, 'hex');
  if found then
    return logloom_private.read_in_scope(
      logloom_private.scope_of_session(v_session, p_origin), p_operation, p_parameters
    );
  end if;
  v_answer := logloom_private.read_in_scope(
    logloom_private.scope_of_key(p_digest), p_operation, p_parameters
  );
  perform logloom_private.note_key_read(p_digest, p_operation);
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_scope logloom_private.reading_scope,
  p_id    uuid,
  p_ts    timestamp with time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log');
  v_tenant_id constant text := v_scope.tenant_id;
  v_query constant logloom_private.compiled_query := logloom_private.query_of_scope(v_scope);
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := to_timestamp(
    ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the blocks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log(p_scope, p_id, p_ts);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_changes (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer
)
  RETURNS public.logloom_log_changes
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_changes');
  v_tenant_id constant text := v_scope.tenant_id;
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_before constant tstzrange := tstzrange(
    lower(v_range) - (upper(v_range) - lower(v_range)), lower(v_range)
  );
  v_query logloom_private.compiled_query;
  v_fields text[];
  v_field text;
  v_answer public.logloom_log_changes;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if coalesce(p_limit, 20) not between 1 and 100 then
    perform logloom_private.refuse('search.changes_are_out_of_range');
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.changes := '{}';
  v_answer.warnings := array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
  );
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'the range before begins when records are no longer kept: what is new may be older',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  select s.value into v_answer.records
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, 1) s;
  select s.value into v_answer.records_before
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_before, 1) s;
  if v_answer.records > 0 and v_answer.records_before > 0 then
    execute format(
      'select array(select f.field from (%s) f (field, type, count, items) '
        'where f.field like ''attrs.%%'' and f.type in (''string'', ''number'', ''boolean'') '
        -- Few values, of which each may say something.
        'and (select sum(i.count) from unnest(f.items) i) * 2 >= f.count '
        'order by f.count desc, f.field collate "C" limit 5)',
      logloom_private.log_fields_sql(
        v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
      )
    )
    into v_fields;
    -- Null: patterns.
    foreach v_field in array
      array['level', 'service', 'env', 'host', 'route', null]::text[] || v_fields
    loop
      continue when logloom_private.is_hidden(coalesce(v_field, 'msg'), v_query.hidden_fields);
      if clock_timestamp() > v_deadline then
        v_answer.warnings := v_answer.warnings || row(
          null, 'not all fields were compared, since that took too long',
          'Narrow the filter or the range of time.'
        )::public.logloom_query_warning;
        exit;
      end if;
      v_answer.changes := v_answer.changes || array(
        select c
        from logloom_private.facet_changes(
          v_tenant_id, v_query, v_range, v_before, v_field, v_answer.records,
          v_answer.records_before
        ) c
      );
    end loop;
  end if;
  v_answer.changes := array(
    select c
    from unnest(v_answer.changes) c
    order by
      c.score desc, array_position(array['new', 'gone', 'grown', 'shrunk'], c.change), c.kind,
      c.field collate "C", c.value collate "C"
    limit coalesce(p_limit, 20)
  );
  return v_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_changes(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_scope  logloom_private.reading_scope,
  p_id     uuid,
  p_ts     timestamp with time zone,
  p_before integer,
  p_after  integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log_context');
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Half of what is left to each side, and a record at least.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_before, 'desc', v_bytes)) b
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.* from unnest(logloom_private.log_neighbours(v_scope, v_log, v_after, 'asc', v_bytes)) a;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_context(p_scope, p_id, p_ts, p_before, p_after) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_export (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_format    text,
  p_order     text,
  p_cursor    text,
  p_after     text
)
  RETURNS public.logloom_log_export
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because no API role knows what the writer has written
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'export_logs');
  v_page public.logloom_log_page;
  v_export public.logloom_log_export;
  v_is_first constant boolean := p_cursor is null and p_after is null;
  v_plan jsonb;
  v_order text;
  v_columns text[];
  v_cells text[];
begin
  if p_format not in ('ndjson', 'csv') then
    perform logloom_private.refuse('search.format_is_unknown');
  elsif p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  v_plan := (logloom_private.compile_query(p_query_dsl)).plan;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  v_export.cursor := coalesce(
    p_cursor,
    logloom_private.export_cursor(
      logloom_private.search_range(p_ts_from, p_ts_to), v_order
    )
  );
  -- By itself it opens no other records than that does.
  v_page := logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to,
    (select s.list_limit_max from logloom_private.settings s),
    logloom_private.cursor_after(v_export.cursor, p_after), v_order
  );
  v_export.records := cardinality(v_page.logs);
  v_export.next_cursor := v_page.next_cursor;
  if p_format is distinct from 'csv' then
    select coalesce(string_agg(to_json(r.l)::text || e'\n', '' order by r.n), '')
    into v_export.text
    from (select l, row_number() over () as n from (select unnest(v_page.logs) as l) u) r;
    return v_export;
  end if;
  select
    array_agg(logloom_private.csv_cell_sql(quote_literal(c.name))),
    array_agg(logloom_private.csv_cell_sql(c.sql))
  into v_columns, v_cells
  from logloom_private.csv_columns(v_plan -> 'fields') c;
  execute format(
    'select coalesce(string_agg(%s || e''\r\n'', '''' order by l.n), '''') '
      'from unnest($1) with ordinality l (%s, n)',
    array_to_string(v_cells, ' || '','' || '),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_export.text
  using v_page.logs;
  if v_is_first then
    execute 'select ' || array_to_string(v_columns, ' || '','' || ') || ' || e''\r\n'' || $1'
    into v_export.text
    using v_export.text;
  end if;
  return v_export;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_export(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '4MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_log_fields');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(
    v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
  );
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_fields(p_scope, p_query_dsl, p_ts_from, p_ts_to) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_buckets   integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_histogram');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_histogram(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_order text;
  v_now timestamptz := now();
  v_first tstzrange;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_received jsonb;
  v_left integer;
  v_after text[];
  v_times timestamptz[];
  v_page record;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
        || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?(?: w(\d{1,18}))?$'
    );
    v_times := array(
      select 'epoch'::timestamptz + (m || ' microseconds')::interval from unnest(v_after[2:5]) m
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_first := tstzrange(v_times[2], v_times[3]);
    v_now := v_times[4];
  end if;
  if v_after[8] is not null then
    -- Of an export: what was received before it began.
    v_received := logloom_private.query_leaf(
      logloom_private.query_field('received_at', 1),
      jsonb_build_object('test', 'within', 'bounds', jsonb_build_object(
        'to', 'epoch'::timestamptz + (v_after[8] || ' microseconds')::interval
      ))
    );
    v_scope.filter := case when v_scope.filter is null then v_received
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_received)
      ) end;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to, v_first);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, v_now, 'records');
  -- That of the query's sort, or p_order.
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order, v_times[1], v_after[6]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(
      array['page', v_order]
        || array(
          select (extract(epoch from t) * 1000000)::bigint::text
          from unnest(array[v_page.last_ts, lower(v_range), upper(v_range), v_now]) t
        )
        || array[v_page.last_id::text, v_left::text, 'w' || v_after[8]]
    );
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'series');
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_stats');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'rows');
  -- Values of groups may be long: rows end with max_page_bytes.
  return query
  select (r.row).*
  from (
    select
      s as row,
      sum(octet_length(to_json(s)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as before
    from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s
  ) r
  where coalesce(r.before, 0) < (select t.max_page_bytes from logloom_private.settings t);
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_stats(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_cursor    text,
  p_limit     integer,
  p_backlog   integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'tail_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records are of one snapshot: what is not here yet comes after this
    -- cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- An event lies 24 hours ahead at most.
            tstzrange(
              now() - (select s.tail_backlog_span from logloom_private.settings s),
              now() + interval '25 hours'
            ),
            p_backlog, 'desc', null, null
          )
        ).logs) l
        order by l.ts, l.id
      );
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.write_seq q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last write sequence was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_scope, p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_members (
  p_tenant_id text,
  p_limit     integer,
  p_after     text
)
  RETURNS SETOF public.logloom_member
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'member', 'user_id',
    (
      select m.created_at from logloom.tenant_members m
      where m.tenant_id = v_tenant_id and m.user_id = p_after
    )
  );
begin
  return query
  with page as materialized (
    select m.*
    from logloom.tenant_members m
    where m.tenant_id = v_tenant_id
      and (p_after is null or (m.created_at, m.user_id) < (v_after, p_after))
    order by m.created_at desc, m.user_id desc
    limit v_limit
  )
  select p.user_id, p.role, coalesce(u.email, p.email), p.created_at, p.view_id
  from page p
  left join logloom_private.auth_users_by_id(array(select i.user_id from page i)) u
    on u.user_id = p.user_id
  order by p.created_at desc, p.user_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_query_validity (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text
)
  RETURNS public.logloom_query_validity
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
begin
  p_scope := logloom_private.checked_scope(p_scope, 'validate_query');
  perform logloom_private.take_validation_slot(p_scope.tenant_id);
  return jsonb_populate_record(
    null::public.logloom_query_validity,
    logloom_private.query_verdict(p_query_dsl, p_scope.hidden_fields)
  );
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_search (
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer,
  p_cursor    text
)
  RETURNS public.logloom_saved_search_run
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.search_query(null, p_query_dsl, now(), 'any');
  v_range tstzrange;
  v_run public.logloom_saved_search_run;
begin
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    select p.logs, p.next_cursor, p.ts_from, p.ts_to
    into v_run.logs, v_run.next_cursor, v_run.ts_from, v_run.ts_to
    from logloom_private.read_log_page(
      null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    ) p;
    return v_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_run.logs := '{}';
  v_run.ts_from := lower(v_range);
  v_run.ts_to := upper(v_range);
  v_run.stats := array(
    select s
    from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s
  );
  return v_run;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_searches (
  p_scope        logloom_private.reading_scope,
  include_shared boolean,
  p_limit        integer,
  p_after        uuid
)
  RETURNS SETOF public.logloom_saved_search
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_saved_searches');
  v_user_id constant text := case
    when p_scope is null and v_scope.view_id is null then logloom_private.current_user_id()
  end;
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'saved search', 'id',
    (
      select s.created_at from logloom.saved_searches s
      where s.tenant_id = v_scope.tenant_id and s.id = p_after
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select o as item
      from logloom.saved_searches s
      cross join lateral logloom_private.saved_search_of(s) o
      where s.tenant_id = v_scope.tenant_id
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
        and (include_shared is distinct from false or s.created_by = v_user_id)
        and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
      order by s.created_at desc, s.id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_operations()
  RETURNS TABLE (
    operation text,
    reader    text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select o.*
  from (
    values
      ('export_logs', 'read_log_export'),
      ('get_log', 'read_log'),
      ('get_log_context', 'read_log_context'),
      ('list_alert_history', 'read_alert_history'),
      ('list_alert_rules', 'read_alert_rules'),
      ('list_log_fields', 'read_log_fields'),
      ('list_saved_searches', 'read_saved_searches'),
      ('log_changes', 'read_log_changes'),
      ('log_histogram', 'read_log_histogram'),
      ('log_series', 'read_log_series'),
      ('log_stats', 'read_log_stats'),
      ('search_logs', 'read_log_page'),
      ('tail_logs', 'read_log_tail'),
      ('validate_query', 'read_query_validity')
  ) o (operation, reader);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_reads     text[]
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows text;
begin
  if p_query.masked_tree is not null and p_reads is not null then
    p_reads := p_reads || logloom_private.query_reads(p_query.masked_tree);
  end if;
  v_rows := logloom_private.rows_sql(p_tenant_id, p_from, p_to, p_query.filter, p_reads);
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return logloom_private.masked_sql(p_query, v_rows);
  end if;
  return logloom_private.masked_sql(p_query, 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_from, p_to, p_query.tree, p_reads
    )
    || ') l) l where true');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_hidden_fields (
  p_query     logloom_private.compiled_query,
  p_query_dsl text,
  p_hidden    text[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name text;
begin
  if p_hidden is null then
    return;
  end if;
  select coalesce(f ->> 'name', f ->> 'field') into v_name
  from (
    select jsonb_path_query(
      jsonb_build_array(p_query.tree, p_query.plan), 'strict $.** ? (@.field.type() == "string")'
    ) as f
    union all
    select '{"field": "msg"}' where p_query.plan ? 'patterns'
  ) named
  where logloom_private.is_hidden(logloom_private.hidden_name(f), p_hidden)
  limit 1;
  if found then
    perform logloom_private.refuse_at(
      greatest(strpos(p_query_dsl, v_name), 1), 'search.field_is_hidden',
      logloom_private.query_excerpt(v_name)
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.remove_log_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_users text[];
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_view_id', p_view_id is null);
  -- Held, so that nothing is bound to it meanwhile.
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id
  for update;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
  v_users := logloom_private.users_of_view(v_tenant_id, p_view_id);
  if v_users <> '{}' then
    perform logloom_private.refuse('views.in_use', array_to_string(v_users, ', '));
  end if;
  delete from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_deletion (
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_dry_run   boolean
)
  RETURNS logloom.retention_runs
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- It reads records as a search does.
    perform logloom_private.take_search_slot(v_tenant_id);
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(null, p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  perform logloom_private.provision_current_tenant();
  if not p_dry_run then
    perform logloom_private.require_room_for_deletion(v_tenant_id);
  end if;
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', logloom_private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select (select count(*) ' || logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '{}'
      )
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Who looks again and again fills no disk with that.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset (select s.dry_runs_kept from logloom_private.settings s)
    );
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
    jsonb_build_object(
      'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
      'dry_run', v_run.dry_run
    )
  );
  return v_run;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_member_role (
  p_role    text,
  p_view_id uuid
)
  RETURNS void
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_role not in ('viewer', 'member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  elsif p_role = 'viewer' and p_view_id is null then
    perform logloom_private.refuse('tenants.viewer_needs_a_view');
  elsif p_role <> 'viewer' and p_view_id is not null then
    perform logloom_private.refuse('tenants.view_is_for_viewers');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_rule_in_view (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
begin
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.compile_rule(
      logloom_private.resolve_tenant_to_change(p_tenant_id), p_query_dsl, p_view_id
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_view_by_admin (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_view_id is not null then
    perform logloom_private.require_role(p_tenant_id, 'admin');
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_view_for_key (
  p_tenant_id text,
  p_view_id   uuid,
  p_scopes    text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_view_id is not null and 'ingest' = any (p_scopes) then
    perform logloom_private.refuse('api_keys.view_is_for_reading');
  end if;
  perform logloom_private.hold_view(p_tenant_id, p_view_id);
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
    if logloom_private.is_viewer(v_tenant_id, logloom_private.claims()) then
      perform logloom_private.refuse('callers.viewer_may_only_read');
    end if;
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rough_shapes_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_templates integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows' and p_query.hidden_fields is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := case
    when v_is_counted then logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    ) || ' order by l.ts desc, l.id desc limit ' || p_records + 1
    else logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    )
  end;
  return 'select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
    || 'count(*) as count, (extract(epoch from min(r.ts)) * 1000000)::bigint as first, '
    || '(extract(epoch from max(r.ts)) * 1000000)::bigint as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_us) as first, '
      || 'max(s.last_us) as last, min(s.place) as place, '
      || 'sum(count(*)) over () > ' || p_templates
      || ' as is_cut from logloom_private.sealed_patterns('
      || format(
        '%s, %L, %L, %L, %s',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, p_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.saved_search_of (
  p_row logloom.saved_searches
)
  RETURNS public.logloom_saved_search
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
    p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
    p_row.run_count, p_row.view_id
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scan_alert_group (
  p_group_id bigint,
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_rule_ids uuid[];
  v_query_dsl text;
  v_window_minutes integer;
  v_view_id uuid;
  v_query logloom_private.compiled_query;
  v_due logloom_private.alert_window[];
  v_start timestamptz;
  v_end timestamptz;
  v_reading logloom_private.alert_reading;
  v_found logloom_private.alert_window[];
  v_windows logloom_private.alert_window[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  select array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    v_began := clock_timestamp();
    v_query := logloom_private.compile_rule(
      v_group.tenant_id, v_query_dsl, v_view_id, v_end
    );
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, v_query.filter,
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return 0;
    end if;
    v_query.filter := 'true';
    v_found := logloom_private.window_values(
      v_query, 'select m.* from ' || v_matches || ' m', v_group.tenant_id, v_start, v_end,
      v_window_minutes, v_settings.alert_groups + 1
    );
    if cardinality(v_found) > v_settings.alert_groups then
      raise exception
        'The rule found more than % groups: narrow the filter, or group by another field',
        v_settings.alert_groups;
    end if;
    v_windows := v_windows || array(
      select row(d.rule_id, d.window_start, d.window_end, f.value, null, f."group")
        ::logloom_private.alert_window
      from unnest(v_due) d
      left join unnest(v_found) f on true
      where d.window_end = v_end
    );
  end loop;
  update logloom_private.alert_groups g
  set failures = 0, retry_at = null, last_error = null
  where g.group_id = p_group_id;
  return logloom_private.settle_alert_windows(v_windows, p_round, p_now);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_in_view (
  p_scope   logloom_private.reading_scope,
  p_view_id uuid
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_key (
  p_key_digest text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  perform logloom_private.note_key_use(v_key);
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.actor := v_key.key_id;
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_session (
  p_session logloom.portal_sessions,
  p_origin  text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  perform
    logloom_private.take_portal_read(p_session.tenant_id),
    logloom_private.note_session_use(p_session);
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token()
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claims constant jsonb := logloom_private.claims();
  v_scope logloom_private.reading_scope;
  v_view_id uuid;
begin
  v_scope.tenant_id := logloom_private.caller_tenant();
  v_scope.actor := v_claims ->> 'sub';
  if logloom_private.acting_role(v_scope.tenant_id, v_scope.actor, v_claims) = 'viewer' then
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scoped_query (
  p_scope     logloom_private.reading_scope,
  p_query     logloom_private.compiled_query,
  p_query_dsl text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tree jsonb;
begin
  if p_scope.filter is null and p_scope.hidden_fields is null then
    return p_query;
  end if;
  perform logloom_private.refuse_hidden_fields(p_query, p_query_dsl, p_scope.hidden_fields);
  p_query.hidden_fields := p_scope.hidden_fields;
  if p_query.hidden_fields is not null then
    v_tree := logloom_private.tree_without_any(p_query.tree);
    p_query.masked_tree := nullif(p_query.tree, v_tree);
    p_query.tree := v_tree;
  end if;
  -- The items of both side by side: what an index answers is looked for among them.
  select case when count(*) = 1 then (array_agg(i.item))[1]
    else jsonb_build_object('type', 'and', 'items', jsonb_agg(i.item order by t.n, i.n)) end
  into p_query.tree
  from unnest(array[p_query.tree, coalesce(p_scope.filter, '{"type": "all"}')])
    with ordinality t (tree, n)
  cross join lateral jsonb_array_elements(
    case t.tree ->> 'type' when 'and' then t.tree -> 'items' when 'all' then '[]'
      else jsonb_build_array(t.tree) end
  ) with ordinality i (item, n);
  if p_query.tree = '{"type": "and", "items": null}' then
    p_query.tree := '{"type": "all"}';
  end if;
  p_query.filter := logloom_private.query_sql(p_query.tree, 'l');
  return p_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_errors()
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
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_cursor for more.', 'A page has 1 to 1000 items.'),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may be on its way still, or past its retention.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      '15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'More at once than the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Those of all tenants hold their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: only the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it is newer than the database',
      'The database was restored from before it. Start again without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.changes_are_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'The most surprising changes come first.', '`log_changes` has at most 100 changes.'),
    ('search.field_is_hidden', 400, 'The field %s is hidden from you',
      'Leave it out. Who gave you access decides what is hidden.', null),
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson or csv',
      'Left out it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Send both as the last line that you have holds them.', null),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400,
      'Invalid p_query_dsl: this operation returns records, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s reached its limit of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than `quick_query_bytes`: more at once than '
        '`concurrent_validations`.'),
    ('search.block_format_is_unknown', 501, 'Blocks of format %s cannot be read by this version',
      'A later version of Logloom has written them: install it again.',
      'A later version has sealed these records: the database was brought back to an older one.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. What is sent meanwhile is kept.',
      'Records are sharded, or what is stored took 8 s to sum up; `Retry-After`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_query (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_now       timestamp with time zone,
  p_takes     text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.compile_query(p_query_dsl, p_now), p_query_dsl
  );
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  -- A page of all records reads no more than it shows: it takes no scan slot.
  if p_takes <> 'records' or v_query.tree <> '{"type": "all"}' or v_query.plan ? 'rows' then
    v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  end if;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sees_addresses (
  p_is_key boolean,
  p_scope  logloom_private.reading_scope
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return not p_is_key and p_scope.view_id is null
    and logloom_private.reads_only(logloom_private.claims()) is not true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'claim_alert_notifications',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'open_log_portal_session',
    'read_logs',
    'run_writer',
    'settle_alert_notification'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_source (
  p_tenant_id   text,
  p_query       logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket      bigint
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows text;
  v_key constant text := logloom_private.only_number(p_query);
  v_groups logloom_private.counted_source;
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      (
        select min(d.day)::timestamp at time zone 'UTC'
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
          and d.day between (v_from at time zone 'UTC')::date
            and ((v_to - interval '1 microsecond') at time zone 'UTC')::date
      ),
      v_to
    ));
  end if;
  -- Counts are of what is stored: of fields that are not hidden.
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and p_query.masked_tree is null
    and (p_query.by_fields && p_query.hidden_fields) is not true
  then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and p_query.by_fields <@ array['level', 'service'];
    -- Over days without rows blocks count quicker than minutes do.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows is not null and v_from < v_counted_from then
      v_rows := 'from (select l.level, l.service, l.events ' || v_rows || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from)
        || ') l';
    elsif v_rows is null and v_counts_sealed then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        )
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_is_sealed and p_query.hidden_fields is null and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.rows_sql is not null then
      return v_groups;
    end if;
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, v_from, v_to,
      case when not p_query.plan ? 'rows' then
        logloom_private.query_reads(p_query.plan)
          || case when p_bucket is null then '{}' else array['ts'] end
      end
    )),
    'count(l.tenant_id)::double precision', null, false
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.surprise (
  p_after          bigint,
  p_records_after  bigint,
  p_before         bigint,
  p_records_before bigint
)
  RETURNS double precision
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_all constant double precision := p_records_after + p_records_before;
  v_having constant double precision := p_after + p_before;
begin
  return 2 * (
    select coalesce(sum(c.count * ln(c.count / (c.of_row * c.of_column / v_all))), 0)
    from (
      values
        (p_after::double precision, v_having, p_records_after::double precision),
        (p_before, v_having, p_records_before),
        (p_records_after - p_after, v_all - v_having, p_records_after),
        (p_records_before - p_before, v_all - v_having, p_records_before)
    ) c (count, of_row, of_column)
    where c.count > 0
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_portal_read (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_errors()
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
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view makes one.',
      'The role `viewer`, and no view.'),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.',
      'A view, and another role than `viewer`.'),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', 'The tenant has no such view.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'No user of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They are already a member of the tenant',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'A tenant needs one.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to set tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is of an anonymous sign-in (claim `is_anonymous`), and its tenant is not there '
        'yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again afterwards.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tree_without_any (
  p_tree jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not jsonb_path_exists(p_tree, 'strict $.** ? (@.field == "any")') then
    return p_tree;
  elsif p_tree ->> 'type' <> 'and' then
    return '{"type": "all"}';
  end if;
  return jsonb_build_object('type', 'and', 'items', (
    select jsonb_agg(logloom_private.tree_without_any(i.item) order by i.n)
    from jsonb_array_elements(p_tree -> 'items') with ordinality i (item, n)
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.users_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select u.name
    from (
      select 'API key ' || k.name
      from logloom.api_keys k
      where k.tenant_id = p_tenant_id and k.view_id = p_view_id
        and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
      union all
      select 'member ' || coalesce(m.email, m.user_id)
      from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.view_id = p_view_id
      union all
      select 'portal session ' || coalesce(s.label, s.session_id::text)
      from logloom.portal_sessions s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
        and s.revoked_at is null and s.expires_at > now()
      union all
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select 'saved search ' || s.name
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.views_errors()
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
    ('views.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the view after whom it is for.', '`p_name` is blank or too long.'),
    ('views.query_has_stages', 400, 'A view takes a query without stages',
      'Leave out what follows the first bar: a view says which records there are, and whoever '
        'reads in it what becomes of them.', '`p_query_dsl` has a stage.'),
    ('views.field_cannot_be_hidden', 400, 'Invalid p_hidden_fields: %s cannot be hidden',
      'Fields of a record are hidden by their names, attributes as attrs.PATH, all of them as '
        'attrs. Records always show id, tenant_id, ts and received_at.',
      'No field, or one that every record shows.'),
    ('views.too_many_hidden_fields', 400, 'Invalid p_hidden_fields: at most 100',
      'attrs hides all attributes.', null),
    ('views.operation_is_unknown', 400, 'Invalid p_operations: %s',
      'Any of %2$s; or all.', 'Not the name of a reading operation.'),
    ('views.no_room', 400, 'Plan limit exceeded: views (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.', 'The plan''s `max_views`.'),
    ('views.name_is_taken', 409, 'The tenant has another view of this name',
      'Choose another name, or change that view by update_log_view.', null),
    ('views.in_use', 409, 'The view is in use: %s',
      'First bind these to another view, or revoke and delete them.',
      '`delete_log_view`: API keys, members, alert rules or saved searches are bound to it.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION public.add_tenant_member (
  p_user_id   text DEFAULT NULL::text,
  p_role      text DEFAULT NULL::text,
  p_email     text DEFAULT NULL::text,
  p_tenant_id text DEFAULT NULL::text,
  p_view_id   uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.enroll_member(p_tenant_id, p_user_id, p_role, p_email, p_view_id);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."add_tenant_member"(text, text, text, text, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_alert_rule (
  p_tenant_id                 text             DEFAULT NULL::text,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(p_query_dsl, true);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_rule_in_view(v_tenant_id, p_query_dsl, p_view_id);
  perform logloom_private.require_room_for('alerts', p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id
  )
  values (
    v_tenant_id, logloom_private.trim_space(p_name),
    nullif(logloom_private.trim_space(p_description), ''),
    p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id(),
    p_view_id
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_api_key (
  p_tenant_id  text                     DEFAULT NULL::text,
  p_name       text                     DEFAULT NULL::text,
  p_expires_at timestamp with time zone DEFAULT NULL::timestamp WITH time zone,
  p_scopes     text[]                   DEFAULT NULL::text[],
  p_view_id    uuid                     DEFAULT NULL::uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

REVOKE ALL ON FUNCTION "public"."create_api_key"(text, text, timestamp WITH time zone, text[], uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_log_portal_session (
  p_tenant_id  text    DEFAULT NULL::text,
  p_view_id    uuid    DEFAULT NULL::uuid,
  p_query_dsl  text    DEFAULT NULL::text,
  p_expires_in integer DEFAULT NULL::integer,
  p_label      text    DEFAULT NULL::text,
  p_origins    text[]  DEFAULT NULL::text[],
  p_link       boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_created_portal_session
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.issue_portal_session(
    p_tenant_id, p_view_id, nullif(logloom_private.trim_space(p_query_dsl), ''),
    coalesce(p_expires_in, 3600), nullif(logloom_private.trim_space(p_label), ''), p_origins,
    coalesce(p_link, false)
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_log_portal_session"(text, uuid, text, integer, text, text[], boolean) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_log_view (
  p_tenant_id     text   DEFAULT NULL::text,
  p_name          text   DEFAULT NULL::text,
  p_query_dsl     text   DEFAULT NULL::text,
  p_hidden_fields text[] DEFAULT NULL::text[],
  p_operations    text[] DEFAULT NULL::text[]
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.make_log_view(
    p_tenant_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_log_view"(text, text, text, text[], text[]) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_saved_search (
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT false,
  p_tags        text[]  DEFAULT NULL::text[],
  p_view_id     uuid    DEFAULT NULL::uuid
)
  RETURNS uuid
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.check_query(p_query_dsl);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_room_for('saved_searches');
  insert into logloom.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags, view_id
  )
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), p_query_dsl,
    nullif(logloom_private.trim_space(p_description), ''),
    nullif(logloom_private.trim_space(p_category), ''),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}'), p_view_id
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.delete_log_view (
  p_view_id   uuid DEFAULT NULL::uuid,
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.remove_log_view(p_tenant_id, p_view_id);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."delete_log_view"(uuid, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.export_logs (
  p_query_dsl text DEFAULT NULL::text,
  p_ts_from   text DEFAULT NULL::text,
  p_ts_to     text DEFAULT NULL::text,
  p_format    text DEFAULT NULL::text,
  p_order     text DEFAULT NULL::text,
  p_cursor    text DEFAULT NULL::text,
  p_after     text DEFAULT NULL::text
)
  RETURNS public.logloom_log_export
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_export(
    null, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_alert_history (
  p_tenant_id    text    DEFAULT NULL::text,
  p_rule_id      uuid    DEFAULT NULL::uuid,
  p_ts_from      text    DEFAULT NULL::text,
  p_ts_to        text    DEFAULT NULL::text,
  p_acknowledged boolean DEFAULT NULL::boolean,
  p_limit        integer DEFAULT NULL::integer,
  p_after        uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select h.*
  from logloom_private.read_alert_history(
    null, p_tenant_id, p_rule_id, p_ts_from, p_ts_to, p_acknowledged, p_limit, p_after
  ) h;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_alert_rules (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select r.* from logloom_private.read_alert_rules(null, p_tenant_id, p_limit, p_after) r;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_api_keys (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_api_key
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.list_log_portal_sessions (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_portal_session
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'portal session', 'session_id',
    (
      select s.created_at from logloom.portal_sessions s
      where s.tenant_id = v_tenant_id and s.session_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return query
  select
    s.session_id, s.tenant_id, s.label, s.view_id, s.query_dsl, s.origins,
    logloom_private.api_key_status(s.revoked_at, s.expires_at),
    s.created_by, s.created_at, s.expires_at, s.revoked_at, s.first_used_at, s.last_used_at
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id
    and (p_after is null or (s.created_at, s.session_id) < (v_after, p_after))
  order by s.created_at desc, s.session_id desc
  limit v_limit;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_log_portal_sessions"(text, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_log_views (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_log_view
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'view', 'view_id',
    (
      select v.created_at from logloom.log_views v
      where v.tenant_id = v_tenant_id and v.view_id = p_after
    )
  );
begin
  return query
  select (logloom_private.log_view_of(v)).*
  from logloom.log_views v
  where v.tenant_id = v_tenant_id
    and (p_after is null or (v.created_at, v.view_id) < (v_after, p_after))
  order by v.created_at desc, v.view_id desc
  limit v_limit;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_log_views"(text, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_saved_searches (
  include_shared boolean DEFAULT true,
  p_limit        integer DEFAULT NULL::integer,
  p_after        uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_saved_search
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select s.* from logloom_private.read_saved_searches(null, include_shared, p_limit, p_after) s;
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_changes (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer
)
  RETURNS public.logloom_log_changes
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_changes(null, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."log_changes"(text, text, text, integer) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.open_log_portal_session (
  p_code_digest text DEFAULT NULL::text
)
  RETURNS public.logloom_opened_portal_session
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_code_digest', p_code_digest is null);
  return logloom_private.open_portal_session(p_code_digest);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."open_log_portal_session"(text) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer,
  p_view_id          uuid             DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  end if;
  return logloom_private.preview_windows(p_tenant_id, v_rule);
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return public.preview_alert_rule(
    p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes, p_view_id
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.read_logs (
  p_key_digest text  DEFAULT NULL::text,
  p_operation  text  DEFAULT NULL::text,
  p_parameters jsonb DEFAULT NULL::jsonb,
  p_origin     text  DEFAULT NULL::text
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform
    logloom_private.require_parameter('p_key_digest', p_key_digest is null),
    logloom_private.require_parameter('p_operation', p_operation is null);
  return logloom_private.read_by_key(
    p_key_digest, p_operation, coalesce(p_parameters, '{}'), p_origin
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."read_logs"(text, text, jsonb, text) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.revoke_log_portal_session (
  p_tenant_id  text DEFAULT NULL::text,
  p_session_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.end_portal_session(p_tenant_id, p_session_id);
  return row(true)::public.logloom_success;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."revoke_log_portal_session"(text, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.rotate_api_key (
  p_tenant_id       text    DEFAULT NULL::text,
  p_key_id          uuid    DEFAULT NULL::uuid,
  p_overlap_minutes integer DEFAULT NULL::integer,
  p_view_id         uuid    DEFAULT NULL::uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  select k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at, k.view_id into v_old
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
    v_tenant_id, v_old.name, now() + (v_old.expires_at - v_old.created_at), v_old.scopes,
    coalesce(p_view_id, v_old.view_id)
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."rotate_api_key"(text, uuid, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.set_tenant_member_role (
  p_user_id   text DEFAULT NULL::text,
  p_role      text DEFAULT NULL::text,
  p_tenant_id text DEFAULT NULL::text,
  p_view_id   uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_member
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.change_member(p_tenant_id, p_user_id, p_role, p_view_id => p_view_id);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."set_tenant_member_role"(text, text, text, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.update_alert_rule (
  p_rule_id                   uuid             DEFAULT NULL::uuid,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description takes it away; notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else logloom_private.distinct_destinations(p_notification_destinations)
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    view_id = coalesce(p_view_id, r.view_id),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes)
        )
        and r.view_id is not distinct from coalesce(p_view_id, r.view_id)
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform logloom_private.require_rule_in_view(v_tenant_id, v_row.query_dsl, v_row.view_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.update_log_view (
  p_view_id       uuid   DEFAULT NULL::uuid,
  p_name          text   DEFAULT NULL::text,
  p_query_dsl     text   DEFAULT NULL::text,
  p_hidden_fields text[] DEFAULT NULL::text[],
  p_operations    text[] DEFAULT NULL::text[],
  p_tenant_id     text   DEFAULT NULL::text
)
  RETURNS public.logloom_log_view
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.change_log_view(
    p_tenant_id, p_view_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."update_log_view"(uuid, text, text, text[], text[], text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.update_saved_search (
  p_id          uuid    DEFAULT NULL::uuid,
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT NULL::boolean,
  p_tags        text[]  DEFAULT NULL::text[],
  p_view_id     uuid    DEFAULT NULL::uuid
)
  RETURNS public.logloom_saved_search
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description or category takes it away.
  update logloom.saved_searches s
  set
    name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(logloom_private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(logloom_private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning s.* into v_row;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid) FROM PUBLIC, "anon";

CREATE TRIGGER audit_log_views
  AFTER INSERT OR DELETE OR UPDATE ON logloom.log_views
  FOR EACH ROW
  EXECUTE FUNCTION logloom_private.audit_log_views();

CREATE POLICY "log_views_select_tenant" ON "logloom"."log_views"
  FOR SELECT
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

CREATE POLICY "portal_sessions_select_tenant" ON "logloom"."portal_sessions"
  FOR SELECT
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

COMMENT ON COLUMN "logloom"."alert_history"."view_id" IS 'The view that the rule was evaluated in.';

COMMENT ON COLUMN "logloom"."alert_rules"."view_id" IS 'The view that it is evaluated in. Null: all records of the tenant.';

COMMENT ON COLUMN "logloom"."api_keys"."view_id" IS 'What it reads in. Null: all of the tenant.';

COMMENT ON COLUMN "logloom"."log_views"."hidden_fields" IS 'Names of fields, attrs, and attrs.PATH, without which the view shows records.';

COMMENT ON COLUMN "logloom"."log_views"."operations" IS 'The reading operations that are open. Null: all, but for those that list alerts.';

COMMENT ON COLUMN "logloom"."log_views"."query_dsl" IS 'The records that the view shows: a query without stages. Null: all.';

COMMENT ON COLUMN "logloom"."plans"."max_portal_sessions" IS 'Active portal sessions that a tenant may have.';

COMMENT ON COLUMN "logloom"."plans"."max_views" IS 'Views of logs that a tenant may have.';

COMMENT ON COLUMN "logloom"."plans"."portal_requests_per_minute" IS 'Requests that all portal sessions of a tenant may make in a minute.';

COMMENT ON COLUMN "logloom"."portal_sessions"."code_digest" IS 'SHA-256 of the code of its link, until it is exchanged.';

COMMENT ON COLUMN "logloom"."portal_sessions"."created_by" IS 'The user, without whom the session ends. Null: the project itself, by its secret key.';

COMMENT ON COLUMN "logloom"."portal_sessions"."last_used_at" IS 'Right to the minute: one update a minute, not a request.';

COMMENT ON COLUMN "logloom"."portal_sessions"."origins" IS 'Of the pages that may frame it.';

COMMENT ON COLUMN "logloom"."portal_sessions"."query_dsl" IS 'The records that the session shows, of those that its view shows: a query without stages. Null: all.';

COMMENT ON COLUMN "logloom"."portal_sessions"."token_digest" IS 'SHA-256 of the whole token. Null before the code of its link is exchanged for it.';

COMMENT ON COLUMN "logloom"."saved_searches"."view_id" IS 'The view whose readers find it in their list, if it is shared.';

COMMENT ON COLUMN "logloom"."tenant_members"."role" IS 'viewer reads within view_id; member reads, searches, keeps saved searches and alert rules; admin also keys, settings, views and deletion; owner also members.';

COMMENT ON COLUMN "logloom"."tenant_members"."view_id" IS 'What a viewer is bound to.';

COMMENT ON COLUMN "logloom_private"."settings"."portal_code_lifetime" IS 'How long the code of a link to the portal is good.';

COMMENT ON COLUMN "logloom_private"."settings"."portal_session_lifetime_max" IS 'The longest life of a portal session.';

COMMENT ON COLUMN "logloom_private"."settings"."portal_url" IS 'Of the portal''s page, for links to it. Null: links cannot be made.';

COMMENT ON FUNCTION "public"."add_tenant_member"(text, text, text, text, uuid) IS 'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens; by p_email alone where Supabase Auth knows a user with it. p_role: viewer, member, admin or owner. p_view_id: the view that a viewer reads in. For owners. The first member makes its caller owner too, and from then on nobody else belongs to the tenant. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid) IS 'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, webhook; their addresses are in p_notification_config (email, webhook_url). p_view_id, for admins: the view that it is evaluated in. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_api_key"(text, text, timestamp with time zone, text[], uuid) IS 'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after trimming. p_expires_at: none by default. p_scopes: ingest (the default), read, or both. p_view_id: the view that it reads in, for a key with the scope read alone; none by default. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_log_portal_session"(text, uuid, text, integer, text, text[], boolean) IS 'Creates a session with which a customer reads the tenant''s logs, and returns its token, this once; with p_link the url of a page instead, whose code is good for ten minutes and once. p_view_id: the view that it reads in. p_query_dsl: which records of it, a query without stages. p_expires_in: seconds, 60 to 604800 (default 3600). p_label: at most 200 characters. p_origins: at most 20 https origins of pages that may frame the portal. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_log_view"(text, text, text, text[], text[]) IS 'Creates a view of the logs and returns it. What is bound to it, a viewer or an API key, reads the records that p_query_dsl finds (a query without stages; all by default), without p_hidden_fields (names of fields, attrs, attrs.PATH), by p_operations (names of reading operations; all by default, but for those that list alerts). p_name: 1 to 100 characters after trimming. For admins. Errors: PT400 (plan limit, too), PT401, PT403, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid) IS 'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must compile. p_tags: at most 20. p_view_id, for admins: the view whose readers find it in their list, if it is shared. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."delete_log_view"(uuid, text) IS 'Deletes a view that nothing is bound to. Returns {success}. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (in use: by whom).';

COMMENT ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) IS 'A page of an export: {text, records, cursor, next_cursor}, for GET logloom-read/v1/export. p_format: ndjson (the default), a record as search_logs has it in each line, or csv (RFC 4180). p_order: asc (the default) or desc. It holds what was received when it began and visible to its end. p_cursor: next_cursor of the page before, or cursor of any page with p_after: <ts>,<id> of the last record that was received. Errors: PT400, PT401, PT403, PT408, PT429.';

COMMENT ON FUNCTION "public"."list_alert_rules"(text, integer, uuid) IS 'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of the last item of the page before. Who only reads sees no addresses. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_portal_sessions"(text, integer, uuid) IS 'Portal sessions of the tenant, newest first, those of the last 30 days. p_limit 1 to 1000 (default 100), p_after: session_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_views"(text, integer, uuid) IS 'Views of the tenant''s logs, newest first. p_limit 1 to 1000 (default 100), p_after: view_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_saved_searches"(boolean, integer, uuid) IS 'The caller''s saved searches and, unless include_shared is false, those that colleagues share, newest first. p_limit 1 to 1000 (default 100), p_after: id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."log_changes"(text, text, text, integer) IS 'What is different in [p_ts_from, p_ts_to) from the range of the same length before it, among the records that match p_query_dsl: patterns of messages and values of fields that are new, gone, grown or shrunk by more than chance explains (once in a thousand times), the most surprising first. p_limit 1 to 100 (default 20). Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."open_log_portal_session"(text) IS 'For the function logloom-read: the token of the session whose link has a code, of which p_code_digest is the SHA-256 as hex, once. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid) IS 'When a rule would have fired over the last 24 h, and the values that it would have seen: the rule p_rule_id, with what else is given in place of its own. Percentiles, distinct counts and queries with by are looked at in windows side by side; of the latter each group fires apart. Errors: PT400, PT401, PT403, PT404, PT408.';

COMMENT ON FUNCTION "public"."read_logs"(text, text, jsonb, text) IS 'For the function logloom-read: what an operation answers to an API key with the scope read, or to a portal session, of which p_key_digest is the SHA-256 as hex. p_parameters: those of the operation by name. p_origin: of the page that frames the portal. Errors: PT400, PT401, PT403, PT404, PT408, PT429.';

COMMENT ON FUNCTION "public"."revoke_log_portal_session"(text, uuid) IS 'Revokes a portal session; the next request with its token is refused. Again: no change. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."rotate_api_key"(text, uuid, integer, uuid) IS 'Creates an API key in place of another, with its name, scopes, view and length of life, and returns it with key_value, this once. The other works for p_overlap_minutes more (0 to 10080, default 60). p_view_id: another view that the new one reads in; that of the other by default. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."set_tenant_member_role"(text, text, text, uuid) IS 'Sets what a member may do, from their next request on, and returns the member. p_role: viewer, member, admin or owner. p_view_id: the view that a viewer reads in. For owners; the last one stays an owner. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid) IS 'Changes what is given and returns the alert rule. An empty p_description takes it away, p_notification_config is replaced as a whole. p_view_id, for admins: the view that it is evaluated in. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."update_log_view"(uuid, text, text, text[], text[], text) IS 'Changes what is given and returns the view; it holds for whoever is bound to it from their next request on. An empty p_query_dsl takes the query away, empty p_hidden_fields hide nothing, and p_operations ["all"] opens what a view opens that names none. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid) IS 'Changes what is given and returns the saved search. An empty p_description or p_category takes it away. p_view_id, for admins: the view whose readers find it in their list, if it is shared. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';

COMMENT ON TABLE "logloom"."audit_events" IS 'What was done to keys, members, views, settings and plans, and deletions of records. Nobody changes or removes an event before settings.audit_lifetime has gone by.';

COMMENT ON TABLE "logloom"."log_views" IS 'What a reader is limited to who is bound to it: a viewer, or an API key.';

COMMENT ON TABLE "logloom"."portal_sessions" IS 'With which customers read their logs in a page of their own. Tokens and codes are never stored.';

COMMENT ON TABLE "logloom_private"."alert_plans" IS 'Where a rule''s values come from, valid while query_dsl, window_minutes and view_id are the rule''s, and view_updated_at is the view''s.';

COMMENT ON TABLE "logloom_private"."portal_reads" IS 'Requests of a tenant''s portal sessions in a minute. Several rows of one minute are summed up: each was held when a request beside it was counted.';

COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), by operations (null: all that read). actor: who reads: a user, or the id of a key. view_id: the view that says so, where they are bound to one.';

COMMENT ON TYPE "public"."logloom_alert_rule" IS 'An alert rule. Windows and cooldowns are in minutes. view_id: the view that it is evaluated in; null: all records.';

COMMENT ON TYPE "public"."logloom_api_key" IS 'An API key as lists show it. status: active, revoked or expired. view_id: the view that it reads in; null: it is bound to none.';

COMMENT ON TYPE "public"."logloom_created_portal_session" IS 'A new portal session. token, or the url of its link, is shown this once.';

COMMENT ON TYPE "public"."logloom_log_change" IS 'How often records had a value of a field, or a message of a pattern, in a range (after) and in the one before it. kind: pattern or value. change: new, gone, grown or shrunk, by the share of the records. score: how surprising that is (G-squared of Dunning).';

COMMENT ON TYPE "public"."logloom_log_changes" IS 'What differs in [ts_from, ts_to) from [before_from, ts_from), the most surprising first.';

COMMENT ON TYPE "public"."logloom_log_export" IS 'A page of an export: its lines, each with its end, and how many records they are. cursor: of its beginning; next_cursor: of the page after it, null where there is none.';

COMMENT ON TYPE "public"."logloom_log_view" IS 'What a reader is limited to who is bound to it: the records that query_dsl finds (null: all), without hidden_fields, by operations (null: all that read, but for those that list alerts). created_by: the claim sub of who made it, or service_role.';

COMMENT ON TYPE "public"."logloom_member" IS 'A user who belongs to a tenant. role: viewer, member, admin or owner. email: of Supabase Auth, else what was given when the member was added; null where neither is known. view_id: what a viewer is bound to.';

COMMENT ON TYPE "public"."logloom_opened_portal_session" IS 'The session of a link: its token, which is shown this once.';

COMMENT ON TYPE "public"."logloom_portal_session" IS 'A portal session as lists show it. status: active, revoked or expired.';

COMMENT ON TYPE "public"."logloom_saved_search" IS 'A saved search. created_by: the claim sub of who made it. run_count: runs by anybody. view_id: the view whose readers find it in their list.';

GRANT EXECUTE ON FUNCTION "logloom_private"."change_log_view"(text, uuid, text, text, text[], text[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."change_member"(text, text, text, boolean, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."end_portal_session"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."hold_view"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."is_viewer"(text, jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."issue_api_key"(text, text, timestamp WITH time zone, text[], uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."issue_portal_session"(text, uuid, text, integer, text, text[], boolean) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."log_view_of"(logloom.log_views) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."make_log_view"(text, text, text, text[], text[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."open_portal_session"(text) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."portal_errors"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_alert_history"(logloom_private.reading_scope, text, uuid, text, text, boolean, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_alert_rules"(logloom_private.reading_scope, text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_by_key"(text, text, jsonb, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_changes"(logloom_private.reading_scope, text, text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_export"(logloom_private.reading_scope, text, text, text, text, text, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_saved_searches"(logloom_private.reading_scope, boolean, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."remove_log_view"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."require_rule_in_view"(text, text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."require_view_by_admin"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."require_view_for_key"(text, uuid, text[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."views_errors"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."add_tenant_member"(text, text, text, text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE
  ON FUNCTION "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid)
  TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_api_key"(text, text, timestamp WITH time zone, text[], uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_log_portal_session"(text, uuid, text, integer, text, text[], boolean) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_log_view"(text, text, text, text[], text[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."delete_log_view"(uuid, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_log_portal_sessions"(text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_log_views"(text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."log_changes"(text, text, text, integer) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."open_log_portal_session"(text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."read_logs"(text, text, jsonb, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."revoke_log_portal_session"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."rotate_api_key"(text, uuid, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."set_tenant_member_role"(text, text, text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE
  ON FUNCTION "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid)
  TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."update_log_view"(uuid, text, text, text[], text[], text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid) TO "authenticated", "service_role";

REVOKE ALL ("view_id") ON TABLE "logloom"."alert_rules" FROM "authenticated";

GRANT INSERT ("view_id"), UPDATE ("view_id") ON TABLE "logloom"."alert_rules" TO "authenticated";

REVOKE ALL ("view_id") ON TABLE "logloom"."alert_rules" FROM "service_role";

GRANT INSERT ("view_id"), UPDATE ("view_id") ON TABLE "logloom"."alert_rules" TO "service_role";

REVOKE ALL ("view_id") ON TABLE "logloom"."api_keys" FROM "authenticated";

GRANT INSERT ("view_id"), SELECT ("view_id") ON TABLE "logloom"."api_keys" TO "authenticated";

REVOKE ALL ("view_id") ON TABLE "logloom"."api_keys" FROM "service_role";

GRANT INSERT ("view_id"), SELECT ("view_id") ON TABLE "logloom"."api_keys" TO "service_role";

REVOKE ALL ON TABLE "logloom"."log_views" FROM "authenticated";

GRANT SELECT ON TABLE "logloom"."log_views" TO "authenticated";

REVOKE ALL ON TABLE "logloom"."log_views" FROM "service_role";

GRANT SELECT ON TABLE "logloom"."log_views" TO "service_role";

REVOKE ALL ("created_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("created_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("created_by") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("created_by") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("expires_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("expires_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("first_used_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("first_used_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("label") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("label") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("last_used_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("last_used_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("origins") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("origins") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("query_dsl") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("query_dsl") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("revoked_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("revoked_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("session_id") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("session_id") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("tenant_id") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("tenant_id") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("view_id") ON TABLE "logloom"."portal_sessions" FROM "authenticated";

GRANT SELECT ("view_id") ON TABLE "logloom"."portal_sessions" TO "authenticated";

REVOKE ALL ("created_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("created_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("created_by") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("created_by") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("expires_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("expires_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("first_used_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("first_used_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("label") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("label") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("last_used_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("last_used_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("origins") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("origins") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("query_dsl") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("query_dsl") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("revoked_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("revoked_at") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("session_id") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("session_id") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("tenant_id") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("tenant_id") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("view_id") ON TABLE "logloom"."portal_sessions" FROM "service_role";

GRANT SELECT ("view_id") ON TABLE "logloom"."portal_sessions" TO "service_role";

REVOKE ALL ("view_id") ON TABLE "logloom"."saved_searches" FROM "authenticated";

GRANT INSERT ("view_id"), UPDATE ("view_id") ON TABLE "logloom"."saved_searches" TO "authenticated";

REVOKE ALL ("view_id") ON TABLE "logloom"."saved_searches" FROM "service_role";

GRANT INSERT ("view_id"), UPDATE ("view_id") ON TABLE "logloom"."saved_searches" TO "service_role";

select logloom_private.finish_migration();
