-- Scopes and sessions that end with their makers, verification, the canary, quicker answers.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom.api_keys, logloom.tenant_settings, logloom.log_views,
    logloom.tenant_members, logloom.portal_sessions, logloom.audit_events in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  DROP POLICY "api_keys_insert_tenant" ON "logloom"."api_keys";
  DROP POLICY "api_keys_update_tenant" ON "logloom"."api_keys";
  DROP POLICY "tenant_settings_insert_tenant" ON "logloom"."tenant_settings";
  DROP POLICY "tenant_settings_update_tenant" ON "logloom"."tenant_settings";
  ALTER TABLE "logloom"."audit_events"
    DROP CONSTRAINT "audit_events_action_is_known";
  DROP FUNCTION "logloom_private"."alert_reader"(logloom_private.reading_scope, text, text);
  DROP FUNCTION "logloom_private"."checked_scope"(logloom_private.reading_scope, text);
  DROP FUNCTION "logloom_private"."scope_of_token"();
  DROP FUNCTION "logloom_private"."sized_rows_sql"(text, text, bigint);
  CREATE TABLE "logloom_private"."canary_rounds" (
    "round_id"        uuid                     NOT NULL DEFAULT gen_random_uuid(),
    "sent_at"         timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    "key_id"          uuid,
    "acknowledged_at" timestamp with time zone,
    "searched_at"     timestamp with time zone,
    "tailed_at"       timestamp with time zone,
    "counted_at"      timestamp with time zone,
    "missing"         bigint,
    "doubled"         bigint,
    "error"           text,
    CONSTRAINT "canary_rounds_pkey" PRIMARY KEY (round_id)
  );
  ALTER TABLE "logloom_private"."canary_rounds"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."canary_rounds"
    FORCE ROW LEVEL SECURITY;
  CREATE TABLE "logloom_private"."verification_differences" (
    "difference_id"   bigint                   GENERATED ALWAYS AS IDENTITY NOT NULL,
    "verification_id" bigint                   NOT NULL,
    "found_at"        timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    "kind"            text                     NOT NULL,
    "tenant_id"       text                     NOT NULL,
    "day"             date                     NOT NULL,
    "block_id"        bigint,
    "detail"          text                     NOT NULL,
    CONSTRAINT "verification_differences_kind_is_known" CHECK ((kind = ANY (ARRAY['block'::text, 'count'::text, 'id'::text]))),
    CONSTRAINT "verification_differences_pkey" PRIMARY KEY (difference_id)
  );
  ALTER TABLE "logloom_private"."verification_differences"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."verification_differences"
    FORCE ROW LEVEL SECURITY;
  CREATE TABLE "logloom_private"."verifications" (
    "verification_id" bigint                   GENERATED ALWAYS AS IDENTITY NOT NULL,
    "started_at"      timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    "block_through"   bigint                   NOT NULL DEFAULT 0,
    "tenant_through"  text                     NOT NULL DEFAULT ''::text,
    "tenant_id"       text,
    "ts_through"      timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp WITH time zone,
    "blocks"          bigint                   NOT NULL DEFAULT 0,
    "records"         bigint                   NOT NULL DEFAULT 0,
    "differences"     bigint                   NOT NULL DEFAULT 0,
    "finished_at"     timestamp with time zone,
    CONSTRAINT "verifications_pkey" PRIMARY KEY (verification_id)
  );
  ALTER TABLE "logloom_private"."verifications"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."verifications"
    FORCE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."log_views"
    ADD COLUMN "shows_since" timestamp WITH time zone NOT NULL DEFAULT now();
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "export_page_records" integer NOT NULL DEFAULT 2500;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "verify_every" interval NOT NULL DEFAULT '7 days'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "verify_rest" double precision NOT NULL DEFAULT 4;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "verify_step_records" integer NOT NULL DEFAULT 100000;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "canary_url" text;
  ALTER TYPE "public"."logloom_log_export" ADD ATTRIBUTE "logs" json CASCADE;
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

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
  -- What it found before it was bound to the view as it is now is none of the view.
  if p_view_id is not null and (
    p_row.last_evaluated_at > greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    )
  ) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
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
        to_jsonb(old) - '{updated_at,shows_since}'::text[],
        to_jsonb(new) - '{updated_at,shows_since}'::text[]
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

CREATE OR REPLACE FUNCTION logloom_private.begin_canary_round (
  OUT round_id uuid,
  OUT key_value text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.canary_tenant();
  v_key public.logloom_created_api_key;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return;
  end if;
  delete from logloom_private.canary_rounds r where r.sent_at < now() - interval '1 day';
  -- Of rounds before, also those that were cut off.
  delete from logloom.api_keys k where k.tenant_id = v_tenant_id and k.name = 'canary';
  insert into logloom.tenants (tenant_id, plan_id)
  select v_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  v_key := logloom_private.issue_api_key(
    v_tenant_id, 'canary', clock_timestamp() + interval '5 minutes', '{ingest,read}', null
  );
  insert into logloom_private.canary_rounds as r (key_id)
  values (v_key.key_id)
  returning r.round_id into round_id;
  key_value := v_key.key_value;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_call (
  p_path text,
  p_key  text,
  p_body jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_status integer;
  v_content text;
begin
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '5000');
  select r.status, r.content into v_status, v_content
  from logloom_private.settings s
  cross join extensions.http(
    row(
      'POST', rtrim(s.canary_url, '/') || '/functions/v1/' || p_path,
      array[extensions.http_header('X-API-Key', p_key)], 'application/json', p_body::text
    )::extensions.http_request
  ) r;
  if v_status is distinct from 200 then
    raise exception '% answered %: %', p_path, v_status, left(v_content, 200);
  end if;
  return v_content::jsonb;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last logloom_private.canary_rounds;
  v_missing bigint;
  v_doubled bigint;
  v_failed bigint;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return logloom_private.health_grade(null, null) || jsonb_build_object('state', 'off');
  end if;
  select r.* into v_last
  from logloom_private.canary_rounds r
  where r.counted_at is not null or r.error is not null
  order by r.sent_at desc
  limit 1;
  select coalesce(max(r.missing), 0), coalesce(max(r.doubled), 0) into v_missing, v_doubled
  from logloom_private.canary_rounds r
  where r.sent_at > now() - interval '1 day';
  select count(*) into v_failed
  from (
    select r.*
    from logloom_private.canary_rounds r
    where r.counted_at is not null or r.error is not null
    order by r.sent_at desc
    limit 2
  ) r
  where r.searched_at is null or r.tailed_at is null or r.counted_at is null;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_missing > 0 then format('%s acknowledged records are missing', v_missing) end,
      case when v_doubled > 0 then format('%s records are doubled', v_doubled) end,
      case when v_failed = 2 then
        'The last two records of the canary were not found: '
          || 'logloom_private.canary_rounds has the error'
      end
    )
  ) || jsonb_build_object(
    'state', 'on',
    'last_round', v_last.sent_at,
    'acknowledged_ms', round(extract(epoch from v_last.acknowledged_at - v_last.sent_at) * 1000),
    'search_ms', round(extract(epoch from v_last.searched_at - v_last.sent_at) * 1000),
    'tail_ms', round(extract(epoch from v_last.tailed_at - v_last.sent_at) * 1000),
    'missing', v_missing,
    'doubled', v_doubled
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_step (
  p_step     text,
  p_round_id uuid,
  p_key      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  case p_step
    when 'send' then perform logloom_private.send_canary(p_round_id, p_key);
    when 'look' then return not logloom_private.look_for_canary(p_round_id, p_key);
    when 'count' then perform logloom_private.count_canaries(p_round_id, p_key);
    when 'end' then
      delete from logloom.api_keys k
      using logloom_private.canary_rounds r
      where r.round_id = p_round_id and k.key_id = r.key_id;
  end case;
  return true;
exception
  when query_canceled then
    raise;
  when others then
    update logloom_private.canary_rounds r
    set error = coalesce(r.error, left(format('%s: %s', p_step, sqlerrm), 500))
    where r.round_id = p_round_id;
    return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_tenant()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'logloom-canary';
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
    updated_at = now(),
    shows_since = case
      when (p_query_dsl is null or v_query_dsl is not distinct from v.query_dsl)
        and (p_hidden_fields is null or v_hidden_fields = v.hidden_fields)
        then v.shows_since
      else now()
    end
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
    if v_name = 'level' then
      v_names := v_names || 'attrs.original_level'::text;
    end if;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_scope (
  p_scope     logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text                          DEFAULT NULL::text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.count_canaries (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_to constant timestamptz := clock_timestamp();
  v_from constant timestamptz := v_to - interval '1 hour';
  v_counted bigint;
begin
  v_counted := logloom_private.canary_call(
    'logloom-read/v1/log_stats', p_key, jsonb_build_object(
      'p_query_dsl', 'service:canary | count()',
      'p_ts_from', to_char(v_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'p_ts_to', to_char(v_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    )
  ) #>> '{0,value}';
  -- One without an answer may have been stored all the same.
  update logloom_private.canary_rounds u
  set counted_at = clock_timestamp(), missing = greatest(n.acknowledged - v_counted, 0),
    doubled = greatest(v_counted - n.sent, 0)
  from (
    select count(r.acknowledged_at) as acknowledged, count(*) as sent
    from logloom_private.canary_rounds r
    where r.sent_at >= v_from and r.sent_at < v_to
  ) n
  where u.round_id = p_round_id;
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
declare
  v_cell constant text := 'case when %1$s is null then '''' '
    'when strpos(e''=+@-\t\r\n＝＋－＠'', left(%1$s, 1)) = 0 and strpos(%1$s, ''"'') = 0 '
    'and strpos(%1$s, '','') = 0 and strpos(%1$s, e''\n'') = 0 and strpos(%1$s, e''\r'') = 0 '
    'then %1$s when %1$s ~ ''^[-+]?[0-9.]+$'' then %1$s '
    'when %1$s ~ ''^[=+@\t\r\n＝＋－＠-]'' '
    'then ''"'''''' || replace(%1$s, ''"'', ''""'') || ''"'' '
    'else ''"'' || replace(%1$s, ''"'', ''""'') || ''"'' end';
begin
  return case when p_value ~ '^l\.[a-z_]+$' then format(v_cell, p_value)
    else format('(select ' || v_cell || ' from (select %2$s as v offset 0) c)', 'c.v', p_value)
  end;
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
      case f.type
        when 'text' then 'l.' || f.name
        when 'jsonb' then 'l.' || f.name || '::text'
        else 'to_json(l.' || f.name || ') #>> ''{}'''
      end
    from unnest(logloom_private.record_fields()) f
    where p_fields is null and f.shown is not null and f.name not in ('ts', 'id', 'tenant_id')
  ) c
  order by c.part, c.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.current_admin_tenant_id()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.current_tenant_id();
begin
  if logloom_private.acting_role(
    v_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  ) in ('admin', 'owner')
  then
    return v_tenant_id;
  end if;
  return null;
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
    p_cursor,
    '^(page (?:desc|asc)) \d{1,18} (\d{1,18}) (\d{1,18}) (\d{1,18}) [0-9a-f-]{36}(.*)$'
  );
  -- In a range that has moved on since, records after that place may be missing.
  if not v_after[1]::timestamptz <@ tstzrange(
    'epoch'::timestamptz + (v_parts[2] || ' microseconds')::interval,
    'epoch'::timestamptz + (v_parts[3] || ' microseconds')::interval
  ) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  return logloom_private.encode_cursor(array[
    v_parts[1], (extract(epoch from v_after[1]::timestamptz) * 1000000)::bigint::text,
    v_parts[2], v_parts[3], v_parts[4], v_after[2] || v_parts[5]
  ]);
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
  v_session logloom.portal_sessions;
begin
  perform
    logloom_private.require_role(v_tenant_id, 'admin'),
    logloom_private.require_parameter('p_session_id', p_session_id is null);
  select s.* into v_session
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id and s.session_id = p_session_id
  for no key update;
  if not found then
    perform logloom_private.refuse('portal.session_not_found');
  elsif v_session.revoked_at is not null then
    return;
  end if;
  update logloom.portal_sessions s set revoked_at = now() where s.session_id = p_session_id;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.revoked', p_session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'first_used_at', v_session.first_used_at, 'last_used_at', v_session.last_used_at
    ))
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_sessions_of_member()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes sessions
begin
  with ended as (
    update logloom.portal_sessions s
    set revoked_at = now()
    where s.tenant_id = old.tenant_id and s.created_by = old.user_id
      and s.revoked_at is null and s.expires_at > now()
    returning s.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    e.tenant_id, logloom_private.actor(), 'portal_session.revoked', e.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'created_by', e.created_by, 'first_used_at', e.first_used_at,
      'last_used_at', e.last_used_at
    ))
  from ended e;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.equal_template (
  p_values jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_build_object(
    'values', (
      select jsonb_agg(logloom_private.template_of(v)) from jsonb_array_elements_text(p_values) v
    ),
    -- What is equal to a text holds it.
    'literal', case when jsonb_array_length(p_values) = 1
      then logloom_private.template_of(p_values ->> 0) else '' end
  );
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
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
    )
    || '), found as materialized ('
    || logloom_private.page_sql(
      p_query,
      logloom_private.masked_sql(p_query, 'from piece l where l.is_found'),
      'l.write_seq, l.id', p_records, (select s.max_page_bytes from logloom_private.settings s),
      p_others => ', l.write_seq, l.id'
    )
    || ') select array(select f.record from found f where f.record is distinct from null '
    || 'order by f.write_seq, f.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select p.write_seq, p.id from piece p '
    || 'where (p.write_seq, p.id) < all ('
    || 'select f.write_seq, f.id from found f where f.record is not distinct from null) '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
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
        'current_admin_tenant_id', 'distinct_destinations', 'effective_settings',
        'end_portal_session', 'enqueue_rule_test', 'enroll_member', 'found_tenant', 'hold_view',
        'is_being_deleted', 'is_viewer',
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
      '(?::[1-9][0-9]{0,4})?$'
    )
    and p_origin !~ '^https:.*:443$|^http:.*:80$'
    and coalesce(substring(p_origin from ':([0-9]+)$')::integer, 0) <= 65535;
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
  -- Null where it says nothing, as for views.
  p_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  perform
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.expires_at > now() and s.revoked_at is null
      -- A link that nobody opened in time is no session any more.
      and coalesce(s.code_expires_at > now(), true)
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

CREATE OR REPLACE FUNCTION logloom_private.last_verification()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select format(
      '%s blocks and %s records were verified: %s differences', v.blocks, v.records, v.differences
    )
    from logloom_private.verifications v
    order by v.verification_id desc
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sample_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fields constant text[] := array(
    select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
  ) || 'attrs'::text;
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, v_settings.search_sample_records, 'desc',
      p_reads => v_fields || array['msg.exists', 'record_bytes'],
      p_bytes => v_settings.search_sample_bytes
    ),
    'l.ts desc, l.id desc', v_settings.search_sample_bytes,
    case when p_query.hidden_fields is not null then format(
      'octet_length(to_json(row(%s))::text)',
      array_to_string(array(select 'l.' || f from unnest(v_fields) f), ', ')
    ) end
  ) || ' where l.fits';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_rows_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint
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
          case when p_query.hidden_fields is null then p_bytes else 9223372036854775807 end
        )
        || ') l) l where true'
      else
        v_rows
      end;
  if p_query.masked_tree is null then
    v_rows := v_rows || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
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
begin
  return logloom_private.page_sql(
    p_query,
    logloom_private.log_tail_rows_sql(
      p_tenant_id, p_query, p_limit, p_first, p_id, p_last, p_bytes
    ),
    'l.write_seq, l.id', p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.look_for_canary (
  p_round_id uuid,
  p_key      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.canary_rounds;
  v_query constant text := format('req_id:%s', p_round_id);
begin
  select r.* into v_round from logloom_private.canary_rounds r where r.round_id = p_round_id;
  if v_round.searched_at is null and jsonb_path_exists(
    logloom_private.canary_call(
      'logloom-read/v1/search_logs', p_key, jsonb_build_object('p_query_dsl', v_query)
    ),
    '$.logs[*] ? (@.msg == $msg)', jsonb_build_object('msg', 'canary ' || p_round_id)
  ) then
    v_round.searched_at := clock_timestamp();
  end if;
  if v_round.tailed_at is null and jsonb_path_exists(
    logloom_private.canary_call(
      'logloom-read/v1/tail_logs', p_key,
      jsonb_build_object('p_query_dsl', v_query, 'p_backlog', 10)
    ),
    '$.logs[*] ? (@.msg == $msg)', jsonb_build_object('msg', 'canary ' || p_round_id)
  ) then
    v_round.tailed_at := clock_timestamp();
  end if;
  update logloom_private.canary_rounds r
  set searched_at = v_round.searched_at, tailed_at = v_round.tailed_at
  where r.round_id = p_round_id;
  return v_round.searched_at is not null and v_round.tailed_at is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_records_to_verify (
  p_tenant_id text,
  p_from      timestamp with time zone
)
  RETURNS tstzrange
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from timestamptz := least(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= logloom_private.utc_day(p_from)
    ),
    (
      select min(c.minute)
      from logloom_private.log_counts c
      where c.tenant_id = p_tenant_id and c.minute >= p_from
    ),
    (
      select date_bin('1 minute', min(b.first_ts), 'epoch')
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from
    )
  );
  v_end timestamptz;
begin
  if v_from is null then
    return null;
  end if;
  v_from := greatest(v_from, p_from);
  v_end := logloom_private.day_start(logloom_private.utc_day(v_from) + 1);
  return tstzrange(
    v_from,
    coalesce(
      (
        select m.minute + interval '1 minute'
        from (
          select c.minute, sum(sum(c.events)) over (order by c.minute) as events
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_end
          group by c.minute
        ) m
        where m.events >= (select s.verify_step_records from logloom_private.settings s)
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_differences (
  p_verification_id bigint,
  p_tenant_id       text,
  p_day             date,
  p_block_id        bigint,
  p_kinds           text[],
  p_details         text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom_private.verifications v
  set differences = v.differences + cardinality(p_details)
  where v.verification_id = p_verification_id;
  insert into logloom_private.verification_differences (
    verification_id, kind, tenant_id, day, block_id, detail
  )
  select p_verification_id, u.kind, p_tenant_id, p_day, p_block_id, left(u.detail, 1000)
  from unnest(p_kinds, p_details) u (kind, detail)
  where (
    select count(*)
    from logloom_private.verification_differences d
    where d.verification_id = p_verification_id
  ) < 1000;
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
  v_attrs text := 'l.attrs';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 or p_query.hidden_fields is not null then
    -- What is extracted comes on top of what a record has, and what is hidden is none of it.
    v_size := 'octet_length(to_json(' || v_record || ')::text)';
    v_attrs := '(' || v_record || ').attrs';
  end if;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
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
    || 'greatest(l.size, 2 * pg_column_size(' || v_attrs || ' #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over before, 0) < '
    || p_bytes || ' as fits from (select l.*, coalesce(sum(l.size) over before, 0) < ' || p_bytes
    || ' as may_fit from (select l.*, ' || v_size || ' as size from (select l.* ' || p_rows
    || ') l) l ' || v_window || ') l ' || v_window || ') l order by ' || p_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pause_rules_of_member()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
begin
  with paused as (
    update logloom.alert_rules r
    set enabled = false, updated_at = now()
    where r.tenant_id = old.tenant_id and r.created_by = old.user_id
      and r.view_id is not null and r.enabled
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    p.tenant_id, logloom_private.actor(), 'alert_rule.paused', p.rule_id::text,
    jsonb_build_object('name', p.name, 'created_by', p.created_by, 'view_id', p.view_id)
  from paused p;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentiles_sql (
  p_rows        text,
  p_keys        text[],
  p_percentiles jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select r.*, array[%2$s]::text[] as keys from (%1$s) r
      ), groups as materialized (
        select
          f.keys, (row_number() over ())::integer as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), bounds as materialized (
        -- So many that drawing them and sorting what they leave cost least together. The margin is
        -- four standard deviations of a median's place among them, and more of another's.
        select s.id, s.margin, %3$s
        from (
          select
            d.id, 2 / sqrt(d.size * d.share) as margin,
            d.doubles[1 + floor(random() * cardinality(d.doubles))::integer] as number
          from (
            select
              n.*,
              generate_series(1, floor(cardinality(n.doubles) * n.share + random())::integer)
            from (
              select
                n.id, n.size, least(cbrt(4 / greatest(n.size, 1)), 1) as share,
                -- Without nulls a number is read where it stands.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- In the order of ids, so that the arrays of numbers are neither sorted nor hashed.
        select %5$s
        from groups g
        left join bounds b using (id)
      ), parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%7$s) as low
          from (
            select n.*, %10$s
            from numbers n
            cross join limits c
          ) l
          offset 0
        ) l
        cross join lateral (
          select %6$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %8$s
        from (select l.id, l.size, %4$s, %9$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, p.*
      from found f
      left join groups g using (keys)
      left join percentiles p using (id)
    $query$,
    p_rows, array_to_string(p_keys, ', '),
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'array_agg(case when # > b.margin then b.@[1] else ''-Infinity'' end order by g.id) '
        || 'as low_@, array_agg(case when # + b.margin < 1 then b.@[2] else ''Infinity'' end '
        || 'order by g.id) as high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles, 'c.low_@[n.id] as low_@, c.high_@[n.id] as high_@'
    )
  );
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
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = v_scope.view_id
  );
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
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
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
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
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
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

CREATE OR REPLACE FUNCTION logloom_private.read_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  -- After the queue was read, so that no age is negative.
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_checks constant jsonb := jsonb_build_object(
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(),
    'pre_request', logloom_private.pre_request_health(),
    'installation', logloom_private.health_grade(
      case when v_is_restored then
        'Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((v_checks - 'jobs') || (v_checks -> 'jobs')) c
  );
  v_status constant text := case
    when 'unhealthy' = any (v_grades) then 'unhealthy'
    when 'degraded' = any (v_grades) then 'degraded'
    else 'healthy'
  end;
begin
  return jsonb_build_object(
    'status', v_status,
    'timestamp', v_now,
    'checks', v_checks,
    'endpoints', (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    ) || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', v_status = 'healthy',
        'status', v_status,
        'checks', coalesce(logloom_private.unhealthy_checks(v_checks - 'jobs'), '{}')
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', logloom_private.unhealthy_checks(v_checks -> 'jobs'),
            'queue', jsonb_build_object(
              'depth', v_checks -> 'queue' -> 'depth', 'reason', v_checks -> 'queue' -> 'reason'
            ),
            'writer', jsonb_build_object(
              'status', v_checks -> 'writer' -> 'status',
              'reason', v_checks -> 'writer' -> 'reason'
            )
          ))
      ),
      'detailed', jsonb_build_object(
        'available', v_status <> 'unhealthy', 'status', v_status, 'checks', v_checks
      )
    )
  );
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
  if p_format not in ('ndjson', 'csv', 'json') then
    perform logloom_private.refuse('search.format_is_unknown');
  elsif p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  v_plan := (logloom_private.compile_query(p_query_dsl)).plan;
  if p_after is not null and v_plan ? 'limit' then
    perform logloom_private.refuse('search.place_meets_limit');
  end if;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  -- Of what comes last in a descending export, as much is missing as the range has moved on.
  if p_after is not null and p_cursor is null and v_order = 'desc'
    and (p_ts_from ~ '^\s*[^n\s]') is not true then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_export.cursor := coalesce(
    p_cursor,
    logloom_private.export_cursor(
      logloom_private.search_range(p_ts_from, p_ts_to), v_order
    )
  );
  -- By itself it opens no other records than that does.
  v_page := logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, null,
    logloom_private.cursor_after(v_export.cursor, p_after), v_order
  );
  v_export.records := cardinality(v_page.logs);
  v_export.next_cursor := v_page.next_cursor;
  if p_format = 'json' then
    v_export.text := '';
    select coalesce(json_agg(l), '[]') into v_export.logs from unnest(v_page.logs) l;
    return v_export;
  elsif p_format is distinct from 'csv' then
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
  if p_limit is null and v_after[8] is not null then
    v_limit := (select s.export_page_records from logloom_private.settings s);
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
  v_tokens logloom_private.query_state;
  v_position integer;
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
    -- Where it stands as a name; one that is quoted in part is several tokens.
    v_tokens := logloom_private.query_tokenize(coalesce(p_query_dsl, ''), now());
    select min(t.position + n."at" - 1) into v_position
    from unnest(v_tokens.texts, v_tokens.positions) t (text, position)
    cross join lateral strpos(t.text, v_name) n ("at")
    where n."at" > 0
      and left(t.text, 1) <> '"'
      and (n."at" = 1 or substr(t.text, n."at" - 1, 1) in ('-', ','))
      and substr(t.text, n."at" + length(v_name), 1) in ('', ':', ',');
    perform logloom_private.refuse_at(
      greatest(coalesce(v_position, strpos(p_query_dsl, v_name)), 1), 'search.field_is_hidden',
      logloom_private.query_excerpt(v_name)
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.schedule_jobs()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        (
          'verify_logs', '* * * * *',
          'call logloom_private.run_job(''verify_logs'', ''logloom_private.verify_step()'')'
        ),
        ('run_canary', '* * * * *', 'call logloom_private.run_canary()'),
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token (
  p_tenant_id text
)
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_patterns (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer                  DEFAULT NULL::integer
)
  RETURNS TABLE (
    template text,
    events   bigint,
    first_us bigint,
    last_us  bigint,
    place    bigint[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_low smallint[];
  v_middle "char"[];
  v_high smallint[];
  v_top "char"[];
  v_from bigint;
  v_found integer;
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    v_low := v_block.ts_low;
    v_middle := v_block.ts_middle;
    v_high := v_block.ts_high;
    v_top := v_block.ts_top;
    v_from := extract(epoch from v_block.first_ts) * 1000000;
    -- Steps as block_steps has them, looked up where a row is made: to gather all positions, and
    -- then to put steps and templates side by side again, took as long as the rest.
    return query
    select
      u.template, u.events::bigint, v_from + u.first, v_from + u.last,
      array[v_from + u.first, v_block.block_id, u.position]
    from (
      select
        t.template, t.events, t.first as position, (
          v_low[t.first] + 32768 + coalesce(v_middle[t.first]::integer + 128, 0) * 65536
          + coalesce(v_high[t.first] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.first]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as first,
        (
          v_low[t.last] + 32768 + coalesce(v_middle[t.last]::integer + 128, 0) * 65536
          + coalesce(v_high[t.last] + 32768, 0) * 16777216::bigint
          + coalesce(v_top[t.last]::integer + 128, 0) * 1099511627776
        ) * v_block.ts_unit as last
      from logloom_private.block_templates(v_block, v_bits) t
    ) u;
    get diagnostics v_found = row_count;
    v_rows := v_rows + v_found;
  end loop;
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
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson, csv or json',
      'Left out it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Send both as the last line that you have holds them.', null),
    ('search.place_is_outside', 400, 'Invalid p_after: it lies outside the range',
      'Name the range in full as it was when the export began, or send its cursor with it.',
      'The default range and `now-1h` move on.'),
    ('search.place_meets_limit', 400, 'Invalid p_after: the query has a limit',
      'Leave limit out, or go on by next_cursor alone.', 'A limit counts from the beginning.'),
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

CREATE OR REPLACE FUNCTION logloom_private.send_canary (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.canary_rounds;
  v_answer jsonb;
begin
  select r.* into v_round from logloom_private.canary_rounds r where r.round_id = p_round_id;
  v_answer := logloom_private.canary_call('ingest', p_key, jsonb_build_object(
    'ts', to_char(v_round.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'level', 'info', 'service', 'canary', 'req_id', p_round_id, 'msg', 'canary ' || p_round_id
  ));
  if v_answer ->> 'ingested' is distinct from '1' then
    raise exception 'ingest answered %', v_answer;
  end if;
  update logloom_private.canary_rounds r
  set acknowledged_at = clock_timestamp()
  where r.round_id = p_round_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sized_rows_sql (
  p_rows  text,
  p_order text,
  p_bytes bigint,
  p_size  text   DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'from (select l.*, coalesce(sum(l.size) over (order by %2$s rows between unbounded preceding '
      || 'and 1 preceding), 0) < %3$s as fits from (select l.*, '
      || '%4$s as size from (select l.* %1$s) l) l) l',
    p_rows, p_order, p_bytes,
    coalesce(p_size, 'coalesce(l.record_bytes, octet_length(to_json(l)::text))')
  );
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
        and s.revoked_at is null and least(s.expires_at, s.code_expires_at) > now()
      union all
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select case
        when s.is_shared or s.created_by = logloom_private.current_user_id()
          then 'saved search ' || s.name
        else 'a private saved search of ' || s.created_by
      end
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verification_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last logloom_private.verifications;
  v_differences bigint;
begin
  select v.* into v_last
  from logloom_private.verifications v
  where v.finished_at is not null
  order by v.verification_id desc
  limit 1;
  select coalesce(sum(v.differences), 0) into v_differences
  from logloom_private.verifications v
  where v.verification_id >= v_last.verification_id or v.finished_at is null;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s differences were found in what is stored: '
        || 'logloom_private.verification_differences has them',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_block (
  p_block logloom_private.blocks
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_found record;
begin
  if not logloom_private.block_is_intact(p_block) then
    return 'its checksum differs';
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  return case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled then
    raise;
  -- Whatever a damaged value makes of its decoding: the next block is verified all the same.
  when others then
    return format('%s: %s', sqlstate, sqlerrm);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_block (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_detail text;
begin
  select b.* into v_block
  from logloom_private.blocks b
  where b.block_id > p_verification.block_through
  order by b.block_id
  limit 1;
  if not found then
    return false;
  end if;
  v_detail := logloom_private.verify_block(v_block);
  update logloom_private.verifications v
  set block_through = v_block.block_id, blocks = v.blocks + 1
  where v.verification_id = p_verification.verification_id;
  if v_detail is not null then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_block.tenant_id, logloom_private.utc_day(v_block.first_ts),
      v_block.block_id, array['block'], array[v_detail]
    );
  end if;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_records (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id text := p_verification.tenant_id;
  v_range tstzrange;
  v_found record;
begin
  if v_tenant_id is null then
    select t.tenant_id into v_tenant_id
    from logloom.tenants t
    where t.tenant_id > p_verification.tenant_through
    order by t.tenant_id
    limit 1;
    if not found then
      return false;
    end if;
  end if;
  v_range := logloom_private.next_records_to_verify(v_tenant_id, p_verification.ts_through);
  if v_range is null then
    update logloom_private.verifications v
    set tenant_through = v_tenant_id, tenant_id = null, ts_through = '-infinity'
    where v.verification_id = p_verification.verification_id;
    return true;
  end if;
  select f.* into v_found
  from logloom_private.verify_records(
    p_verification.verification_id, v_tenant_id, lower(v_range), upper(v_range)
  ) f;
  update logloom_private.verifications v
  set tenant_id = v_tenant_id, ts_through = upper(v_range), records = v.records + v_found.records
  where v.verification_id = p_verification.verification_id;
  if v_found.kinds <> '{}' then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_tenant_id, logloom_private.utc_day(lower(v_range)), null,
      v_found.kinds, v_found.details
    );
  end if;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_on()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_verification logloom_private.verifications;
begin
  select v.* into v_verification
  from logloom_private.verifications v
  where v.finished_at is null
  for update skip locked;
  if not found then
    delete from logloom_private.verifications v
    where v.verification_id
      <= (select max(l.verification_id) - 100 from logloom_private.verifications l);
    insert into logloom_private.verifications default values
    on conflict do nothing
    returning * into v_verification;
    if not found then
      return false;
    end if;
  end if;
  if logloom_private.verify_next_block(v_verification)
    or logloom_private.verify_next_records(v_verification) then
    return true;
  end if;
  update logloom_private.verifications v
  set finished_at = clock_timestamp()
  where v.verification_id = v_verification.verification_id;
  return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_records (
  p_verification_id bigint,
  p_tenant_id       text,
  p_from            timestamp with time zone,
  p_to              timestamp with time zone
)
  RETURNS TABLE (
    records bigint,
    kinds   text[],
    details text[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query execute
  $query$
    with records as materialized (
      select l.id, l.ts, l.service, l.level, true as is_counted
      from logloom.logs l
      where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3
      union all
      select r.id, r.ts, r.service, r.level, not b.holds_counts
      from logloom_private.blocks b,
        logloom_private.block_records(
          b.tenant_id, b.block_id, null, array['id', 'ts', 'service', 'level']
        ) r
      where b.tenant_id = $1 and b.last_ts >= $2 and b.first_ts < $3
        and r.ts >= $2 and r.ts < $3 and b.block_id <> all ($4)
    ), counts as materialized (
      select c.*
      from logloom_private.log_counts c
      where c.tenant_id = $1 and c.minute >= $2 and c.minute < $3
    ), sides as (
      select date_bin('1 minute', r.ts, 'epoch') as minute, r.service, r.level, count(*) as events
      from records r
      where r.is_counted
      group by 1, 2, 3
      union all
      select c.minute, c.service, c.level, -c.events
      from counts c
    ), counted as (
      select
        s.minute, s.level, sum(s.events) as difference,
        -- Where services were counted together, none can be told from the counts.
        case when not exists (
          select from counts c where c.is_other and c.minute = s.minute
        ) then s.service end as service
      from sides s
      group by s.minute, s.level, 4
      having sum(s.events) <> 0
    ), doubled as (
      select r.id, count(*) as times from records r group by r.id having count(*) > 1
    ), found as (
      (
        select
          'count' as kind,
          format(
            '%s: %s records more than counted of service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is there %s times', d.id, d.times)
        from doubled d
        order by d.id
        limit 100
      )
    )
    select
      (select count(*) from records),
      array(select f.kind from found f order by f.kind, f.detail),
      array(select f.detail from found f order by f.kind, f.detail)
  $query$
  using
    p_tenant_id, p_from, p_to,
    array(
      select b.block_id
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from and b.first_ts < p_to
        and exists (
          select
          from logloom_private.verification_differences d
          where d.verification_id = p_verification_id and d.block_id = b.block_id
        )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events
    or exists (
      select
      from logloom_private.verifications v
      where v.finished_at > clock_timestamp() - v_settings.verify_every
    ) and not exists (
      select from logloom_private.verifications v where v.finished_at is null
    ) then
    return null;
  end if;
  if logloom_private.verify_on() then
    return greatest(
      interval '10 milliseconds', v_settings.verify_rest * (clock_timestamp() - v_started_at)
    );
  end if;
  return null;
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
    logloom_private.api_key_status(s.revoked_at, least(s.expires_at, s.code_expires_at)),
    s.created_by, s.created_at, s.expires_at, s.revoked_at, s.first_used_at, s.last_used_at
  from logloom.portal_sessions s
  where s.tenant_id = v_tenant_id
    and (p_after is null or (s.created_at, s.session_id) < (v_after, p_after))
  order by s.created_at desc, s.session_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.run_canary()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_round_id pg_catalog.uuid;
  v_key pg_catalog.text;
  v_goes_on pg_catalog.bool;
begin
  select b.round_id, b.key_value into v_round_id, v_key
  from logloom_private.begin_canary_round() b;
  commit;
  if v_round_id is not null then
    v_goes_on := logloom_private.canary_step('send', v_round_id, v_key);
    commit;
    while v_goes_on
      and pg_catalog.clock_timestamp() < logloom_private.job_deadline(v_started_at) loop
      v_goes_on := logloom_private.canary_step('look', v_round_id, v_key);
      commit;
      perform pg_catalog.pg_sleep(case when v_goes_on then 0.25 else 0 end);
    end loop;
    perform logloom_private.canary_step('count', v_round_id, v_key);
    commit;
    perform logloom_private.canary_step('end', v_round_id, v_key);
    commit;
  end if;
  perform logloom_private.record_job('run_canary', v_started_at);
  commit;
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.verify()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_summary pg_catalog.text;
begin
  while logloom_private.verify_on() loop
    commit;
  end loop;
  commit;
  v_summary := logloom_private.last_verification();
  raise notice '%', v_summary;
end;
$procedure$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    ADD CONSTRAINT "audit_events_action_is_known"
      CHECK
      ((action = ANY (ARRAY['alert_rule.paused'::text, 'api_key.created'::text, 'api_key.changed'::text, 'api_key.revoked'::text, 'api_key.deleted'::text,
      'ingest_token.created'::text,
      'portal_session.created'::text,
      'portal_session.first_used'::text,
      'portal_session.revoked'::text,
      'member.added'::text,
      'member.changed'::text,
      'member.removed'::text,
      'settings.changed'::text,
      'plan.changed'::text, 'view.created'::text, 'view.changed'::text, 'view.deleted'::text, 'logs.deletion_requested'::text, 'logs.deletion_finished'::text])));
  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_canary_url_is_an_address" CHECK (((canary_url ~ '^https?://[^\s#?]+$'::text) AND (length(canary_url) <= 500)));
  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_export_page_records_is_positive" CHECK ((export_page_records >= 1));
  ALTER TABLE "logloom_private"."verification_differences"
    ADD CONSTRAINT "verification_differences_verification_id_fkey" FOREIGN KEY (verification_id) REFERENCES logloom_private.verifications(verification_id) ON DELETE CASCADE;
  CREATE INDEX portal_sessions_tenant_id_expires_at_idx ON logloom.portal_sessions USING btree (tenant_id, expires_at);
  CREATE INDEX canary_rounds_sent_at_idx ON logloom_private.canary_rounds USING btree (sent_at);
  CREATE INDEX verification_differences_verification_id_idx ON logloom_private.verification_differences USING btree (verification_id);
  CREATE UNIQUE INDEX verifications_open_idx ON logloom_private.verifications USING btree ((true))
    WHERE (finished_at IS NULL);
  CREATE TRIGGER end_sessions_of_lesser_member
    AFTER UPDATE OF ROLE ON logloom.tenant_members
    FOR EACH ROW
    WHEN (((new.role <> ALL (ARRAY['admin'::text, 'owner'::text])) AND (old.role = ANY (ARRAY['admin'::text, 'owner'::text]))))
    EXECUTE FUNCTION logloom_private.end_sessions_of_member();
  CREATE TRIGGER end_sessions_of_removed_member
    AFTER DELETE ON logloom.tenant_members
    FOR EACH ROW
    EXECUTE FUNCTION logloom_private.end_sessions_of_member();
  CREATE TRIGGER pause_rules_of_new_viewer
    AFTER UPDATE OF ROLE ON logloom.tenant_members
    FOR EACH ROW
    WHEN (((new.role = 'viewer'::text) AND (old.role <> 'viewer'::text)))
    EXECUTE FUNCTION logloom_private.pause_rules_of_member();
  CREATE TRIGGER pause_rules_of_removed_member
    AFTER DELETE ON logloom.tenant_members
    FOR EACH ROW
    EXECUTE FUNCTION logloom_private.pause_rules_of_member();
  CREATE POLICY "api_keys_insert_admin" ON "logloom"."api_keys"
    FOR INSERT
    TO "authenticated"
    WITH CHECK ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)));
  CREATE POLICY "api_keys_update_admin" ON "logloom"."api_keys"
    FOR UPDATE
    TO "authenticated"
    USING ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)))
    WITH CHECK ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)));
  CREATE POLICY "tenant_settings_insert_admin" ON "logloom"."tenant_settings"
    FOR INSERT
    TO "authenticated"
    WITH CHECK ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)));
  CREATE POLICY "tenant_settings_update_admin" ON "logloom"."tenant_settings"
    FOR UPDATE
    TO "authenticated"
    USING ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)))
    WITH CHECK ((tenant_id = ( SELECT logloom_private.current_admin_tenant_id() AS current_admin_tenant_id)));
  COMMENT ON COLUMN "logloom"."log_views"."shows_since" IS 'Since when it shows what it shows: made, or given another query or other hidden fields. What rules found in it before is none of it.';
  COMMENT ON COLUMN "logloom_private"."canary_rounds"."doubled" IS 'Records that are counted beyond those sent in the last hour.';
  COMMENT ON COLUMN "logloom_private"."canary_rounds"."key_id" IS 'The API key of the round, which ends with it. Its value is nowhere.';
  COMMENT ON COLUMN "logloom_private"."canary_rounds"."missing" IS 'Records of the last hour that were acknowledged and are not counted.';
  COMMENT ON COLUMN "logloom_private"."settings"."canary_url" IS 'The project''s address, at which the canary sends and reads. Null: it is switched off.';
  COMMENT ON COLUMN "logloom_private"."settings"."export_page_records" IS 'The most records of a page of export_logs.';
  COMMENT ON COLUMN "logloom_private"."settings"."verify_every" IS 'How long after one verification the job begins the next.';
  COMMENT ON COLUMN "logloom_private"."settings"."verify_rest" IS 'How many times as long as a step of verification took the job then rests.';
  COMMENT ON COLUMN "logloom_private"."settings"."verify_step_records" IS 'Records that a step of verification compares, about.';
  COMMENT ON COLUMN "logloom_private"."verifications"."block_through" IS 'Blocks up to this block_id are verified. They come first, then tenant after tenant.';
  COMMENT ON COLUMN "logloom_private"."verifications"."records" IS 'Records whose counts and ids were compared.';
  COMMENT ON COLUMN "logloom_private"."verifications"."tenant_through" IS 'Tenants up to this one are verified.';
  COMMENT ON COLUMN "logloom_private"."verifications"."ts_through" IS 'Records of tenant_id before this time are verified.';
  COMMENT ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) IS 'A page of an export: {text, records, cursor, next_cursor, logs}, for GET logloom-read/v1/export. p_format: ndjson (the default), a record as search_logs has it in each line of text; csv (RFC 4180); or json, the records in logs. p_order: asc (the default) or desc. It holds what was received when it began and visible to its end. p_cursor: next_cursor of the page before, or cursor of any page with p_after: <ts>,<id> of the last record that was received. Errors: PT400, PT401, PT403, PT408, PT429.';
  COMMENT ON PROCEDURE "logloom_private"."verify"() IS 'Verifies all that is stored: blocks by checksum and decoding, counts against records, ids. Says what it found in a notice; verification_differences has the details. Can be ended and called again.';
  COMMENT ON TABLE "logloom_private"."canary_rounds" IS 'What the canary saw, a row a minute, kept for a day: when its record was acknowledged, found by a search, by a tail, and when the records of the last hour were counted.';
  COMMENT ON TABLE "logloom_private"."verification_differences" IS 'What a verification found: a block that is damaged, a minute whose counts differ from its records, a record that is there more than once. At most a thousand a verification.';
  COMMENT ON TABLE "logloom_private"."verifications" IS 'Verifications of blocks, counts and ids. The one without finished_at is under way and goes on where it stopped. The last hundred are kept.';
  COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see: of tenant_id, the records that pass filter (the tree of a compiled query; null: all), without hidden_fields (names of fields and paths of attrs; null: none), by operations (null: all that read). actor: who reads: a user, the id of a key, or portal and the id of a session. view_id: the view that says so, where they are bound to one.';
  COMMENT ON TYPE "public"."logloom_log_export" IS 'A page of an export: text, its lines, each with its end, or logs, its records; records, how many they are. cursor: of its beginning; next_cursor: of the page after it, null where there is none.';
  GRANT EXECUTE ON FUNCTION "logloom_private"."current_admin_tenant_id"() TO "authenticated", "service_role";
  REVOKE ALL ("code_expires_at") ON TABLE "logloom"."portal_sessions" FROM "authenticated";
  GRANT SELECT ("code_expires_at") ON TABLE "logloom"."portal_sessions" TO "authenticated";
  REVOKE ALL ("code_expires_at") ON TABLE "logloom"."portal_sessions" FROM "service_role";
  GRANT SELECT ("code_expires_at") ON TABLE "logloom"."portal_sessions" TO "service_role";
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

insert into logloom_private.job_limits (job, silence)
values ('verify_logs', '1 hour'), ('run_canary', '10 minutes');

select logloom_private.schedule_jobs();

select logloom_private.finish_migration();
