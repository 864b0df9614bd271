-- Log streams, and secrets that the edge functions seal.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom_private.notifications, logloom.audit_events in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    DROP CONSTRAINT "audit_events_action_is_known";
  ALTER TABLE "logloom_private"."notifications"
    DROP CONSTRAINT "notifications_purpose_is_known";
  CREATE TABLE "logloom"."log_stream_failures" (
    "failure_id"  uuid                     NOT NULL DEFAULT gen_random_uuid(),
    "stream_id"   uuid                     NOT NULL,
    "tenant_id"   text                     NOT NULL,
    "kind"        text                     NOT NULL,
    "occurred_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    "record_id"   uuid,
    "record_ts"   timestamp with time zone,
    "records"     integer,
    "ts_from"     timestamp with time zone,
    "ts_to"       timestamp with time zone,
    "status"      integer,
    "error"       text                     NOT NULL,
    CONSTRAINT "log_stream_failures_gap_has_bounds" CHECK (((kind = 'gap'::text) = ((ts_from IS NOT NULL) AND (ts_to IS NOT NULL)))),
    CONSTRAINT "log_stream_failures_kind_is_known" CHECK ((kind = ANY (ARRAY['refused'::text, 'rejected'::text, 'gap'::text]))),
    CONSTRAINT "log_stream_failures_pkey" PRIMARY KEY (failure_id)
  );
  ALTER TABLE "logloom"."log_stream_failures"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."log_stream_failures"
    FORCE ROW LEVEL SECURITY;
  CREATE TABLE "logloom"."log_streams" (
    "stream_id"              uuid                     NOT NULL DEFAULT gen_random_uuid(),
    "tenant_id"              text                     NOT NULL,
    "name"                   text                     NOT NULL,
    "query_dsl"              text,
    "kind"                   text                     NOT NULL,
    "config"                 jsonb                    NOT NULL,
    "secrets"                jsonb                    NOT NULL DEFAULT '{}'::jsonb,
    "enabled"                boolean                  NOT NULL DEFAULT true,
    "view_id"                uuid,
    "maker"                  text,
    "created_at"             timestamp with time zone NOT NULL DEFAULT now(),
    "updated_at"             timestamp with time zone NOT NULL DEFAULT now(),
    "position_seq"           bigint                   NOT NULL,
    "position_id"            uuid,
    "pending_since"          timestamp with time zone,
    "next_attempt_at"        timestamp with time zone NOT NULL DEFAULT now(),
    "claim_id"               uuid,
    "claimed_at"             timestamp with time zone,
    "claimed_until"          timestamp with time zone,
    "batch_id"               uuid,
    "batch_made_at"          timestamp with time zone,
    "batch_end_seq"          bigint,
    "batch_end_id"           uuid,
    "batch_last_received_at" timestamp with time zone,
    "batch_records"          integer,
    "batch_skipped"          integer,
    "batch_limit"            integer                  NOT NULL DEFAULT 1000,
    "batch_bytes"            integer                  NOT NULL DEFAULT 1000000,
    "attempts"               integer                  NOT NULL DEFAULT 0,
    "failing_since"          timestamp with time zone,
    "last_success_at"        timestamp with time zone,
    "last_status"            integer,
    "last_error"             text,
    "refused_in_a_row"       integer                  NOT NULL DEFAULT 0,
    "paused_at"              timestamp with time zone,
    "pause_reason"           text,
    "kept_day"               date,
    "sent_batches"           bigint                   NOT NULL DEFAULT 0,
    "sent_records"           bigint                   NOT NULL DEFAULT 0,
    "skipped_records"        bigint                   NOT NULL DEFAULT 0,
    "refused_records"        bigint                   NOT NULL DEFAULT 0,
    "test_id"                uuid,
    "test_requested_at"      timestamp with time zone,
    "test_finished_at"       timestamp with time zone,
    "test_status"            integer,
    "test_error"             text,
    CONSTRAINT "log_streams_batch_is_whole" CHECK ((num_nulls(batch_id, batch_made_at, batch_end_seq, batch_records, batch_skipped) = ANY (ARRAY[0, 5]))),
    CONSTRAINT "log_streams_kind_is_known"
      CHECK ((kind = ANY (ARRAY['webhook'::text, 'otlp'::text, 'loki'::text, 'elasticsearch'::text, 'splunk_hec'::text, 'datadog'::text, 's3'::text]))),
    CONSTRAINT "log_streams_name_is_unique" UNIQUE (tenant_id, name),
    CONSTRAINT "log_streams_pause_reason_is_known"
      CHECK (((pause_reason = ANY (ARRAY['failing'::text, 'refused'::text, 'maker'::text])) AND ((pause_reason IS NULL) = (paused_at IS NULL)))),
    CONSTRAINT "log_streams_pkey" PRIMARY KEY (stream_id),
    CONSTRAINT "log_streams_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 100))))
  );
  ALTER TABLE "logloom"."log_streams"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."log_streams"
    FORCE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."log_streams"
    SET (fillfactor=50);
  CREATE TABLE "logloom_private"."stream_round" (
    "singleton"     boolean NOT NULL DEFAULT true,
    "noted_through" bigint  NOT NULL DEFAULT 0,
    CONSTRAINT "stream_round_has_one_row" CHECK (singleton),
    CONSTRAINT "stream_round_pkey" PRIMARY KEY (singleton)
  );
  ALTER TABLE "logloom_private"."stream_round"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."stream_round"
    FORCE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."plans"
    ADD COLUMN "max_log_streams" integer NOT NULL DEFAULT 100;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_interval" interval NOT NULL DEFAULT '00:00:10'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_turn" interval NOT NULL DEFAULT '00:00:05'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_claim_lifetime" interval NOT NULL DEFAULT '00:01:00'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_open_limit" integer NOT NULL DEFAULT 40;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_retry_base" interval NOT NULL DEFAULT '00:00:10'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_retry_max" interval NOT NULL DEFAULT '00:15:00'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_gives_up_after" interval NOT NULL DEFAULT '72:00:00'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_lag_limit" interval NOT NULL DEFAULT '01:00:00'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_pause_shown" interval NOT NULL DEFAULT '7 days'::interval;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "stream_failure_lifetime" interval NOT NULL DEFAULT '30 days'::interval;
  ALTER TYPE "logloom_private"."lock_name" ADD VALUE 'streams' AFTER 'notifications';
  CREATE TYPE "logloom_private"."stream_batch" AS (
    "records" public.logloom_log_record[],
    "end_seq" bigint,
    "end_id"  uuid
  );
  CREATE TYPE "public"."logloom_claimed_log_stream" AS (
    "stream_id" uuid,
    "claim_id"  uuid
  );
  CREATE TYPE "public"."logloom_log_stream_failure" AS (
    "failure_id"  uuid,
    "stream_id"   uuid,
    "kind"        text,
    "occurred_at" timestamp WITH time zone,
    "record_id"   uuid,
    "record_ts"   timestamp WITH time zone,
    "records"     integer,
    "ts_from"     timestamp WITH time zone,
    "ts_to"       timestamp WITH time zone,
    "status"      integer,
    "error"       text
  );
  CREATE TYPE "public"."logloom_log_stream" AS (
    "stream_id"         uuid,
    "tenant_id"         text,
    "name"              text,
    "query_dsl"         text,
    "kind"              text,
    "config"            jsonb,
    "secrets"           jsonb,
    "enabled"           boolean,
    "view_id"           uuid,
    "maker"             text,
    "created_at"        timestamp WITH time zone,
    "updated_at"        timestamp WITH time zone,
    "status"            text,
    "lag_seconds"       double precision,
    "next_attempt_at"   timestamp WITH time zone,
    "failing_since"     timestamp WITH time zone,
    "last_success_at"   timestamp WITH time zone,
    "last_status"       integer,
    "last_error"        text,
    "paused_at"         timestamp WITH time zone,
    "pause_reason"      text,
    "sent_batches"      bigint,
    "sent_records"      bigint,
    "skipped_records"   bigint,
    "refused_records"   bigint,
    "test_requested_at" timestamp WITH time zone,
    "test_finished_at"  timestamp WITH time zone,
    "test_status"       integer,
    "test_error"        text
  );
  CREATE TYPE "public"."logloom_stream_settlement" AS (
    "more" boolean
  );
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE FUNCTION logloom_private.abolish_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant_deletion
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    insert into logloom_private.tenant_deletions (tenant_id, requested_by)
    values (v_tenant_id, logloom_private.actor())
    returning * into v_deletion;
    delete from logloom.api_keys k where k.tenant_id = v_tenant_id;
    delete from logloom.log_streams s where s.tenant_id = v_tenant_id;
    delete from logloom_private.ingest_tokens t where t.tenant_id = v_tenant_id;
    delete from logloom.tenant_members m where m.tenant_id = v_tenant_id;
    delete from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.status = 'pending';
    update logloom.alert_rules r set enabled = false
    where r.tenant_id = v_tenant_id and r.enabled;
    perform logloom_private.request_erasure(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.align_sequences()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sequence regclass;
  v_used_sql text;
  v_used bigint;
  v_last bigint;
begin
  for v_sequence, v_used_sql in
    select pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass,
      format('select max(t.%I) from %s t', a.attname, a.attrelid::regclass)
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and a.attidentity <> '' and not c.relispartition
    union all
    values
      (
        'logloom_private.queue_batch_id'::regclass,
        'select greatest(max(s.moved_through), '
          '(select max(q.batch_id) from logloom_private.queue q))'
          ' from logloom_private.queue_slots s'
      ),
      (
        'logloom_private.write_seq',
        'select greatest(max(a.write_seq), '
          '(select max(r.write_seq_to) from logloom_private.alert_rounds r), '
          '(select max(s.position_seq) - 1 from logloom.log_streams s))'
          ' from logloom_private.log_writes a'
      )
  loop
    execute v_used_sql into v_used;
    execute format('select s.last_value from %s s', v_sequence) into v_last;
    if v_used > v_last then
      perform setval(v_sequence, v_used);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_log_streams()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_stream constant logloom.log_streams := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_stream.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'log_stream.created'
      when 'DELETE' then 'log_stream.deleted'
      else 'log_stream.changed'
    end,
    v_stream.stream_id::text,
    case
      when tg_op = 'UPDATE' then jsonb_build_object('name', v_stream.name)
        || logloom_private.changed_members(
          logloom_private.audited_stream(old), logloom_private.audited_stream(new)
        )
        || jsonb_build_object(
          'config_changed', old.config <> new.config, 'secrets_changed', old.secrets <> new.secrets
        )
      else logloom_private.audited_stream(v_stream)
    end
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audited_stream (
  p_row logloom.log_streams
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', p_row.name, 'kind', p_row.kind, 'query_dsl', p_row.query_dsl,
    'enabled', p_row.enabled, 'view_id', p_row.view_id, 'maker', p_row.maker,
    'host', substring(
      coalesce(p_row.config ->> 'url', p_row.config ->> 'endpoint') from '^\w+://([^/?#]+)'
    ),
    'secrets', (select jsonb_agg(n order by n) from jsonb_object_keys(p_row.secrets) n),
    'pause_reason', p_row.pause_reason
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.batch_text (
  p_stream  logloom.log_streams,
  p_records public.logloom_log_record[],
  p_hops    integer,
  p_is_test boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_records text;
begin
  execute format(
    'select string_agg(%s, e'',\n'' order by l.n) from unnest($1) with ordinality l (%s, n)',
    logloom_private.sent_record_sql(),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_records
  using p_records;
  return '{"batch":' || json_build_object(
    'stream_id', p_stream.stream_id, 'tenant_id', p_stream.tenant_id, 'kind', p_stream.kind,
    'config', p_stream.config, 'secrets', p_stream.secrets,
    'batch_id', case when p_is_test then p_stream.test_id else p_stream.batch_id end,
    'made_at', case when p_is_test then p_stream.test_requested_at
      else p_stream.batch_made_at end,
    'attempt', case when p_is_test then 0 else p_stream.attempts end,
    'is_test', p_is_test,
    'hops', p_hops,
    'records', cardinality(p_records)
  )::text || e',"records":[\n' || v_records || e'\n]}';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_log_stream (
  p_tenant_id text,
  p_stream_id uuid,
  p_name      text,
  p_query_dsl text,
  p_config    jsonb,
  p_secrets   jsonb,
  p_enabled   boolean,
  p_view_id   uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams, whose state is theirs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.log_streams;
  v_query_dsl text;
  v_is_other boolean;
  v_is_same boolean;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  if length(logloom_private.trim_space(p_name)) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  v_query_dsl := case when num_nonnulls(p_query_dsl, p_view_id) = 0 then v_row.query_dsl
    else logloom_private.checked_stream_query(
      v_tenant_id, coalesce(p_query_dsl, v_row.query_dsl), coalesce(p_view_id, v_row.view_id)
    ) end;
  v_is_other := (v_query_dsl, coalesce(p_view_id, v_row.view_id))
    is distinct from (v_row.query_dsl, v_row.view_id);
  v_is_same := not v_is_other and num_nonnulls(p_config, p_secrets) = 0;
  v_row.config := case when p_config is null then v_row.config
    else logloom_private.checked_stream_config(v_row.kind, p_config) end;
  v_row.secrets := logloom_private.changed_secrets(
    v_row.secrets, p_secrets, logloom_private.stream_secret_names(v_row.kind)
  );
  perform logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets);
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_row.config,
    secrets = v_row.secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.stream_maker() else s.maker end,
    paused_at = case when p_enabled is null then s.paused_at end,
    pause_reason = case when p_enabled is null then s.pause_reason end,
    failing_since = case when p_enabled is null then s.failing_since end,
    attempts = case when p_enabled is null then s.attempts else 0 end,
    refused_in_a_row = case when p_enabled is null then s.refused_in_a_row else 0 end,
    -- Nobody noted what came meanwhile.
    pending_since = case when p_enabled then coalesce(s.pending_since, now())
      else s.pending_since end,
    -- Whoever sends with what was before does not settle for it, nor seals it again.
    claim_id = case when v_is_same then s.claim_id end,
    claimed_at = case when v_is_same then s.claimed_at end,
    claimed_until = case when v_is_same then s.claimed_until end,
    -- What is changed is tried at once, and with it sizes that a receiver did not take.
    next_attempt_at = now(),
    batch_bytes = case when p_config is null then s.batch_bytes else 1000000 end,
    batch_id = case when not v_is_other then s.batch_id end,
    batch_made_at = case when not v_is_other then s.batch_made_at end,
    batch_end_seq = case when not v_is_other then s.batch_end_seq end,
    batch_end_id = case when not v_is_other then s.batch_end_id end,
    batch_records = case when not v_is_other then s.batch_records end,
    batch_skipped = case when not v_is_other then s.batch_skipped end
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.changed_secrets (
  p_current jsonb,
  p_secrets jsonb,
  p_names   text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_secret record;
begin
  if p_secrets is null then
    return p_current;
  elsif jsonb_typeof(p_secrets) <> 'object' or octet_length(p_secrets::text) > 200000 then
    perform logloom_private.refuse('parameters.secrets_are_invalid');
  end if;
  for v_secret in select s.key as name, s.value from jsonb_each(p_secrets) s loop
    if v_secret.name <> all (p_names)
      and not ('header.*' = any (p_names) and v_secret.name ~ '^header\.[a-z][a-z0-9-]{0,90}$')
    then
      perform logloom_private.refuse(
        'parameters.secret_is_unknown', left(v_secret.name, 60), array_to_string(p_names, ', ')
      );
    elsif v_secret.value <> 'null' and (
      jsonb_typeof(v_secret.value) <> 'string'
      or length(v_secret.value #>> '{}') > 24000
      or v_secret.value #>> '{}' !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}(\.[0-9a-f]{64})?$'
    ) then
      perform logloom_private.refuse('parameters.secret_is_not_sealed', v_secret.name);
    end if;
  end loop;
  return jsonb_strip_nulls(p_current || p_secrets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_stream_config (
  p_kind   text,
  p_config jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_member record;
begin
  if jsonb_typeof(p_config) is distinct from 'object' then
    perform logloom_private.refuse('streams.config_is_no_object');
  end if;
  for v_member in
    select m.name, m.pattern, m.is_needed, p_config -> m.name as value
    from logloom_private.stream_config_members() m
    where p_kind = any (m.kinds)
  loop
    if coalesce(v_member.value, 'null') = 'null' then
      if v_member.is_needed then
        perform logloom_private.refuse('streams.config_is_incomplete', v_member.name, p_kind);
      end if;
    elsif jsonb_typeof(v_member.value) <> 'string'
      or length(v_member.value #>> '{}') > 2000
      or v_member.value #>> '{}' !~ v_member.pattern
      -- A key in an address would be shown with it.
      or v_member.value #>> '{}' ~ 'll[tp]?_[0-9A-Za-z]{36}'
    then
      perform logloom_private.refuse('streams.config_is_invalid', v_member.name);
    end if;
  end loop;
  for v_member in
    select c.key as name
    from jsonb_each(p_config) c
    where c.key <> all (
      select m.name from logloom_private.stream_config_members() m where p_kind = any (m.kinds)
    )
  loop
    perform logloom_private.refuse(
      'streams.config_is_unknown', left(v_member.name, 60), p_kind,
      (
        select string_agg(m.name, ', ')
        from logloom_private.stream_config_members() m
        where p_kind = any (m.kinds)
      )
    );
  end loop;
  return jsonb_strip_nulls(p_config);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_stream_query (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_scope logloom_private.reading_scope;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'streams.query_has_stages'
    );
  end if;
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    v_scope.tenant_id := p_tenant_id;
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
    perform logloom_private.scoped_query(v_scope, v_query, p_query_dsl);
  end if;
  return case when not v_query.blank then p_query_dsl end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_streams (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads or writes streams
declare
  v_stream logloom.log_streams;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('streams'), 0);
  for v_stream in
    select s.*
    from logloom.log_streams s
    where s.stream_id = any (logloom_private.next_streams(p_limit))
    for no key update skip locked
  loop
    if not logloom_private.stream_maker_is_there(v_stream)
      or logloom_private.is_being_deleted(v_stream.tenant_id)
    then
      perform logloom_private.pause_stream(v_stream, 'maker');
      continue;
    end if;
    return query
    update logloom.log_streams s
    set claim_id = gen_random_uuid(),
      claimed_at = now(),
      claimed_until = now() + c.stream_claim_lifetime
    from logloom_private.settings c
    where s.stream_id = v_stream.stream_id
    returning s.stream_id, s.claim_id;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_stream_batch (
  p_stream logloom.log_streams,
  p_query  logloom_private.compiled_query
)
  RETURNS logloom_private.stream_batch
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.tail_page_time from logloom_private.settings s
  );
  v_is_again constant boolean := p_stream.batch_id is not null;
  v_last constant bigint := case when v_is_again then p_stream.batch_end_seq
    else logloom_private.last_write_seq() end;
  v_limit constant integer := case when v_is_again then 1000 else p_stream.batch_limit end;
  v_first bigint := p_stream.position_seq;
  v_id uuid := p_stream.position_id;
  v_step_last bigint;
  v_steps bigint := 1;
  -- A batch that is sent again is not cut where sizes are added up in another way.
  v_bytes bigint := case when v_is_again then 1000000000 else p_stream.batch_bytes end;
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_fit integer;
  v_max_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_batch logloom_private.stream_batch;
begin
  v_batch.records := '{}';
  while v_first <= v_last loop
    v_step_last := case when v_is_again then v_last else least(v_first + v_steps - 1, v_last) end;
    execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
      || logloom_private.log_tail_sql(
        p_stream.tenant_id, p_query, v_limit + 1 - cardinality(v_batch.records), v_first, v_id,
        v_step_last, v_bytes, true
      )
      || ') r'
    into v_found, v_write_seqs;
    -- What does not fit is null, and so is all after it.
    v_fit := least(
      coalesce(array_position(v_found, null) - 1, cardinality(v_found)),
      v_limit - cardinality(v_batch.records)
    );
    v_batch.records := v_batch.records || v_found[1:v_fit];
    if v_fit < cardinality(v_found) then
      v_batch.end_seq := case when v_fit > 0 then v_write_seqs[v_fit] else v_batch.end_seq end;
      v_batch.end_id := case when v_fit > 0 then v_found[v_fit].id end;
      exit;
    end if;
    v_batch.end_seq := v_step_last;
    v_batch.end_id := null;
    v_first := v_step_last + 1;
    v_id := null;
    v_bytes := v_bytes - logloom_private.answered_bytes(v_found);
    v_steps := v_steps * 4;
    exit when v_bytes <= 0 or clock_timestamp() > v_deadline;
  end loop;
  -- What was erased since made room for what comes after the batch.
  if v_is_again
    and (v_batch.end_seq, coalesce(v_batch.end_id, v_max_id))
      > (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
  then
    v_batch.records := v_batch.records[1:(
      select count(*)
      from unnest(v_write_seqs[1:cardinality(v_batch.records)]) with ordinality w (write_seq, n)
      where (w.write_seq, v_batch.records[w.n].id)
        <= (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
    )];
    v_batch.end_seq := p_stream.batch_end_seq;
    v_batch.end_id := p_stream.batch_end_id;
  end if;
  return v_batch;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_expired_of_day (
  p_place logloom_private.retention_place
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, v_settings.retention_step_tenants
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  perform logloom_private.note_stream_gaps(p_place.day, p_place.today, v_tenants);
  -- As many tenants as have a step's records between them, and at least one.
  select
    array_agg(d.tenant_id order by d.tenant_id) filter (
      where d.records_through <= v_settings.deletion_step_records
    ) as tenant_ids,
    (array_agg(d.tenant_id order by d.tenant_id))[1] as tenant_id
  into v_first
  from (
    select e.tenant_id, sum(e.records) over (order by e.tenant_id) as records_through
    from logloom_private.expired_days(
      v_tenants, p_place.day, v_settings.deletion_step_records
    ) e
  ) d;
  if v_first.tenant_id is null then
    perform logloom_private.leave_days(v_tenants, array[p_place.day]);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_first.tenant_ids is not null then
    v_error := logloom_private.forget_expired(
      v_first.tenant_ids, p_place.day, p_place.today
    );
    if v_error is not null then
      -- Its turn comes again the next time.
      v_through := v_first.tenant_ids[cardinality(v_first.tenant_ids)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
      v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.drop_batch (
  p_stream logloom.log_streams
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_last_received_at = null, batch_records = null, batch_skipped = null
  where s.stream_id = p_stream.stream_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.drop_expired_day (
  p_day   date,
  p_today date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants then
      return 'busy';
    end if;
    perform logloom_private.note_stream_gaps(p_day, p_today);
    -- What else is known of the day nobody reads any more, and goes without holding up the writer.
    delete from logloom_private.log_writes a where a.day = p_day;
    -- Last, because every reader of logloom.logs waits from here to the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_batch (
  p_stream logloom.log_streams
)
  RETURNS logloom.log_streams
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set position_seq = case when s.batch_end_id is null then s.batch_end_seq + 1
      else s.batch_end_seq end,
    position_id = s.batch_end_id,
    skipped_records = s.skipped_records + s.batch_skipped,
    pending_since = case when s.pending_since is not null then
      greatest(s.pending_since, s.batch_last_received_at) end,
    batch_id = null,
    batch_made_at = null,
    batch_end_seq = null,
    batch_end_id = null,
    batch_last_received_at = null,
    batch_records = null,
    batch_skipped = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  return p_stream;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fail_stream (
  p_stream      logloom.log_streams,
  p_status      integer,
  p_error       text,
  p_retry_after integer
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set attempts = s.attempts + 1,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - (
    select c.stream_gives_up_after from logloom_private.settings c
  ) then
    perform logloom_private.pause_stream(p_stream, 'failing');
  end if;
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
        'abolish_tenant', 'acting_role', 'alert_rule_of', 'api_key_status', 'change_log_stream',
        'change_log_view', 'change_member', 'check_query', 'check_settings', 'confirm_address',
        'distinct_destinations', 'effective_settings', 'end_portal_session', 'enqueue_rule_test',
        'enroll_member', 'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_view_of', 'make_log_stream', 'make_log_view', 'my_key_reads', 'my_stored', 'my_usage',
        'new_api_key', 'note_saved_search_run', 'page_of_addresses', 'page_of_deliveries',
        'page_of_stream_failures', 'page_of_streams', 'page_place', 'plan_feature', 'plan_of',
        'preview_windows', 'provision_current_tenant', 'put_back_delivery', 'read_alert_history',
        'read_alert_rules', 'read_log', 'read_log_changes', 'read_log_context', 'read_log_export',
        'read_log_fields', 'read_log_histogram', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_query_validity',
        'read_saved_search', 'read_saved_searches', 'reads_again', 'reads_only', 'refuse_for_now',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_stream', 'remove_log_view',
        'replace_webhook_secret', 'request_deletion', 'request_stream_test', 'require_parameter',
        'require_role', 'require_room_for', 'require_room_for_api_key', 'require_rule_in_view',
        'require_view_by_admin', 'require_view_for_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'tags_are_valid', 'tenant_with_plan', 'time_parameter',
        'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'claim_due_streams', 'ingest', 'ingest_each',
        'next_stream_batch', 'open_portal_session', 'read_by_key', 'read_health',
        'run_writer_in_place', 'settle_claim', 'settle_stream_batch'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.last_write_seq()
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (select coalesce(max(a.write_seq), 0) from logloom_private.log_writes a);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stream_of (
  p_row logloom.log_streams
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.stream_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.kind, p_row.config,
    logloom_private.shown_secrets(p_row.secrets), p_row.enabled, p_row.view_id, p_row.maker,
    p_row.created_at, p_row.updated_at,
    case
      when not p_row.enabled then 'disabled'
      when p_row.paused_at is not null then 'paused'
      when p_row.failing_since is not null then 'failing'
      else 'sending'
    end,
    coalesce(round(extract(epoch from clock_timestamp() - p_row.pending_since), 3), 0),
    case when p_row.enabled and p_row.paused_at is null and p_row.pending_since is not null
      then p_row.next_attempt_at end,
    p_row.failing_since, p_row.last_success_at, p_row.last_status, p_row.last_error,
    p_row.paused_at, p_row.pause_reason, p_row.sent_batches, p_row.sent_records,
    p_row.skipped_records, p_row.refused_records, p_row.test_requested_at,
    p_row.test_finished_at, p_row.test_status, p_row.test_error
  )::public.logloom_log_stream;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.make_log_stream (
  p_tenant_id text,
  p_name      text,
  p_query_dsl text,
  p_kind      text,
  p_config    jsonb,
  p_secrets   jsonb,
  p_enabled   boolean,
  p_view_id   uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams, whose state is theirs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_streams();
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_kind', p_kind is null);
  perform logloom_private.require_parameter('p_config', p_config is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.kind := p_kind;
  if length(v_row.name) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  if not exists (
    select from logloom_private.stream_config_members() m where p_kind = any (m.kinds)
  ) then
    perform logloom_private.refuse('streams.kind_is_unknown');
  end if;
  v_row.query_dsl := logloom_private.checked_stream_query(v_tenant_id, p_query_dsl, p_view_id);
  v_row.config := logloom_private.checked_stream_config(p_kind, p_config);
  v_row.secrets := logloom_private.changed_secrets(
    '{}', p_secrets, logloom_private.stream_secret_names(p_kind)
  );
  perform
    logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets),
    logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_log_streams;
  if (select count(*) from logloom.log_streams s where s.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('streams.no_room', v_max::text);
  end if;
  insert into logloom.log_streams (
    tenant_id, name, query_dsl, kind, config, secrets, enabled, view_id, maker, position_seq,
    kept_day
  )
  select
    v_tenant_id, v_row.name, v_row.query_dsl, p_kind, v_row.config, v_row.secrets,
    coalesce(p_enabled, true), p_view_id, logloom_private.stream_maker(),
    logloom_private.last_write_seq() + 1,
    logloom_private.first_kept_day(v_tenant_id, logloom_private.utc_day(now()))
  returning * into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_stream_batch (
  p_stream_id uuid,
  p_claim_id  uuid
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads streams or what they send
declare
  v_settings logloom_private.settings;
  v_stream logloom.log_streams;
  v_query logloom_private.compiled_query;
  v_test public.logloom_log_record;
  v_batch logloom_private.stream_batch;
  v_found integer;
begin
  select c.* into v_settings from logloom_private.settings c;
  update logloom.log_streams s
  set claimed_until = now() + v_settings.stream_claim_lifetime
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id
  returning s.* into v_stream;
  if not found then
    return null;
  elsif v_stream.test_id is not null then
    v_test.id := v_stream.test_id;
    v_test.ts := v_stream.test_requested_at;
    v_test.level := 'info';
    v_test.service := 'logloom';
    v_test.msg := 'Test of the log stream ' || v_stream.name;
    return logloom_private.batch_text(v_stream, array[v_test], 1, true);
  elsif not v_stream.enabled or v_stream.paused_at is not null
    or v_stream.pending_since is null or v_stream.next_attempt_at > now()
    or v_stream.claimed_at < now() - v_settings.stream_turn
  then
    perform logloom_private.release_stream(v_stream);
    return null;
  end if;
  perform logloom_private.note_gaps_of_stream(v_stream);
  v_query := logloom_private.stream_query(v_stream);
  v_batch := logloom_private.cut_stream_batch(v_stream, v_query);
  v_batch.end_seq := coalesce(v_batch.end_seq, v_stream.position_seq - 1);
  v_found := cardinality(v_batch.records);
  v_batch.records := array(
    select v_batch.records[n]
    from generate_subscripts(v_batch.records, 1) n
    where logloom_private.record_hops((v_batch.records[n]).attrs) < 3
    order by n
  );
  update logloom.log_streams s
  -- Another end is another batch: the view may have changed.
  set batch_id = case
      when (s.batch_end_seq, s.batch_end_id) is not distinct from (v_batch.end_seq, v_batch.end_id)
        and s.batch_id is not null then s.batch_id
      else gen_random_uuid()
    end,
    batch_made_at = coalesce(s.batch_made_at, now()),
    batch_end_seq = v_batch.end_seq,
    batch_end_id = v_batch.end_id,
    batch_last_received_at = v_batch.records[cardinality(v_batch.records)].received_at,
    batch_records = cardinality(v_batch.records),
    batch_skipped = v_found - cardinality(v_batch.records)
  where s.stream_id = p_stream_id
  returning s.* into v_stream;
  if v_batch.records <> '{}' then
    return logloom_private.batch_text(
      v_stream, v_batch.records,
      case
        when logloom_private.is_hidden('attrs.logloom_hops', v_query.hidden_fields) then 3
        else 1 + (
          select max(logloom_private.record_hops(r.attrs)) from unnest(v_batch.records) r
        )
      end,
      false
    );
  end if;
  v_stream := logloom_private.end_batch(v_stream);
  perform logloom_private.release_stream(
    v_stream,
    -- Otherwise there is more to look at.
    case when v_batch.end_seq >= logloom_private.last_write_seq() and v_batch.end_id is null
      then v_batch.end_seq end
  );
  return null;
exception when sqlstate 'PT403' or sqlstate 'PT400' then
  -- The view is gone or broken, or the query names what it hides now.
  perform logloom_private.fail_stream(v_stream, null, 'The query cannot be read in its view', null);
  return null;
when query_canceled or others then
  perform logloom_private.fail_stream(
    v_stream, null,
    case sqlstate when '57014' then 'Reading took too long'
      else 'Reading failed with error ' || sqlstate end,
    null
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_streams (
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    with under_way as (
      select s.tenant_id, count(*) as streams
      from logloom.log_streams s
      where s.claimed_until > now()
      group by s.tenant_id
    ), due as (
      select
        s.stream_id, s.next_attempt_at,
        coalesce(u.streams, 0)
          + row_number() over (partition by s.tenant_id order by s.next_attempt_at) as place
      from logloom.log_streams s
      left join under_way u on u.tenant_id = s.tenant_id
      where (s.claimed_until > now()) is not true
        and (
          s.enabled and s.paused_at is null and s.pending_since is not null
          and s.next_attempt_at <= now()
          or s.test_id is not null
        )
    ), numbered as (
      select d.*, row_number() over (order by d.place, d.next_attempt_at) as taken
      from due d
    )
    select n.stream_id
    from numbered n
    cross join logloom_private.settings c
    where n.place + n.taken
      <= c.stream_open_limit - (select coalesce(sum(u.streams), 0) from under_way u) + 1
    order by n.taken
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_gap (
  p_stream logloom.log_streams,
  p_day    date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_is_waiting boolean;
begin
  execute format(
    'select exists (select %s and (l.write_seq > %s or l.write_seq = %s and l.id > %L::uuid))',
    logloom_private.tenant_rows_sql(p_stream.tenant_id, v_from, v_to, 'true'),
    p_stream.position_seq - (p_stream.position_id is null)::integer, p_stream.position_seq,
    p_stream.position_id
  )
  into v_is_waiting;
  if v_is_waiting or exists (
    select
    from logloom_private.blocks b
    where b.tenant_id = p_stream.tenant_id and b.last_ts >= v_from and b.first_ts < v_to
      and b.last_write_seq >= p_stream.position_seq
  ) then
    insert into logloom.log_stream_failures (
      stream_id, tenant_id, kind, ts_from, ts_to, error
    )
    values (
      p_stream.stream_id, p_stream.tenant_id, 'gap', v_from, v_to,
      'Retention deleted records of this day before they were sent'
    )
    on conflict do nothing;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_gaps_of_stream (
  p_stream logloom.log_streams
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first_kept constant date := logloom_private.first_kept_day(
    p_stream.tenant_id, logloom_private.utc_day(now())
  );
begin
  if p_stream.kept_day = v_first_kept then
    return;
  end if;
  perform logloom_private.note_gap(p_stream, d::date)
  from generate_series(p_stream.kept_day, v_first_kept - 1, interval '1 day') d;
  update logloom.log_streams s set kept_day = v_first_kept where s.stream_id = p_stream.stream_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_new_writes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
declare
  v_interval constant interval := (select s.stream_interval from logloom_private.settings s);
  v_from bigint;
  v_to bigint;
  v_days timestamptz[];
begin
  if not exists (select from logloom.log_streams) then
    return;
  end if;
  -- Held to the end: no stream goes idle meanwhile.
  select r.noted_through into v_from from logloom_private.stream_round r for update;
  v_to := logloom_private.last_write_seq();
  if v_to <= v_from then
    return;
  end if;
  select array_agg(distinct logloom_private.day_start(a.day)) into v_days
  from logloom_private.log_writes a
  where a.write_seq > v_from;
  -- Constants, so that the days alone are opened that have something new.
  execute format(
    'update logloom.log_streams s set pending_since = now(), position_seq = '
      'greatest(s.position_seq, %1$s), position_id = case when s.position_seq >= %1$s '
      'then s.position_id end, next_attempt_at = now() + case when n.records >= s.batch_limit '
      'then interval ''0'' else %3$L::interval end '
      'from (select l.tenant_id, count(*) as records from logloom.logs l '
      'where l.write_seq between %1$s and %2$s and (%4$s) and l.tenant_id in ('
      'select t.tenant_id from logloom.log_streams t where t.pending_since is null) '
      'group by l.tenant_id) n '
      'where s.tenant_id = n.tenant_id and s.pending_since is null and s.enabled '
      'and s.paused_at is null',
    v_from + 1, v_to, v_interval,
    (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d, d + interval '24 hours'),
        ' or '
      )
      from unnest(v_days) d
    )
  );
  update logloom_private.stream_round set noted_through = v_to where singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_refused_records (
  p_stream   logloom.log_streams,
  p_refused  jsonb,
  p_rejected integer,
  p_status   integer,
  p_error    text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom.log_stream_failures (
    stream_id, tenant_id, kind, record_id, record_ts, records, status, error
  )
  select
    p_stream.stream_id, p_stream.tenant_id, 'refused', r.id, r.ts, 1,
    coalesce(r.status, p_status), coalesce('HTTP ' || r.status, p_error, 'Refused')
  from jsonb_to_recordset(p_refused) r (id uuid, ts timestamptz, status integer)
  union all
  select
    p_stream.stream_id, p_stream.tenant_id, 'rejected', null, null, p_rejected, p_status,
    'The receiver took the batch without some of its records'
  where p_rejected > 0;
  delete from logloom.log_stream_failures f
  where f.failure_id in (
    select o.failure_id
    from logloom.log_stream_failures o
    where o.stream_id = p_stream.stream_id
    order by o.occurred_at desc, o.failure_id desc
    offset 1000
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_stream_gaps (
  p_day        date,
  p_today      date,
  p_tenant_ids text[] DEFAULT NULL::text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.note_gap(s, p_day)
  from logloom.log_streams s
  where s.position_seq <= logloom_private.last_write_seq()
    and (
      s.tenant_id = any (p_tenant_ids)
      or p_tenant_ids is null
      and p_day < logloom_private.first_kept_day(s.tenant_id, p_today)
    );
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
    'claim_log_streams',
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_ingest_token',
    'create_log_portal_session',
    'create_log_stream',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_log_stream',
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
    'get_log_secret_scope',
    'get_log_stream',
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
    'list_log_stream_failures',
    'list_log_streams',
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
    'read_log_stream_batch',
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
    'settle_log_stream_batch',
    'tail_logs',
    'test_alert_rule',
    'test_log_stream',
    'update_alert_rule',
    'update_log_stream',
    'update_log_view',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_of_stream_failures (
  p_tenant_id text,
  p_stream_id uuid,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_log_stream_failure
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads streams
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after timestamptz;
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if not exists (
    select from logloom.log_streams s
    where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  ) then
    perform logloom_private.refuse('streams.not_found');
  end if;
  v_after := logloom_private.page_place(
    p_after::text, 'failure', 'failure_id',
    (
      select f.occurred_at from logloom.log_stream_failures f
      where f.stream_id = p_stream_id and f.failure_id = p_after
    )
  );
  return query
  select
    f.failure_id, f.stream_id, f.kind, f.occurred_at, f.record_id, f.record_ts, f.records,
    f.ts_from, f.ts_to, f.status, f.error
  from logloom.log_stream_failures f
  where f.stream_id = p_stream_id
    and (p_after is null or (f.occurred_at, f.failure_id) < (v_after, p_after))
  order by f.occurred_at desc, f.failure_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_of_streams (
  p_tenant_id text,
  p_stream_id uuid,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads streams, whose secrets stand beside them
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'log stream', 'stream_id',
    (
      select s.created_at from logloom.log_streams s
      where s.tenant_id = v_tenant_id and s.stream_id = p_after
    )
  );
begin
  return query
  select o.*
  from logloom.log_streams s
  cross join lateral logloom_private.log_stream_of(s) o
  where s.tenant_id = v_tenant_id
    and (p_stream_id is null or s.stream_id = p_stream_id)
    and (p_after is null or (s.created_at, s.stream_id) < (v_after, p_after))
  order by s.created_at desc, s.stream_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.parameters_errors()
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
    ('parameters.missing', 400, 'Missing required parameter: %s', 'Send %s in the JSON body.',
      'A required parameter is left out or null.'),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_after for more.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      'The list has no such item: `p_after` is the id of the last item of the page before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      '`p_ts_from` or `p_ts_to` is neither ISO 8601 nor `now-24h` or the like.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."} with what POST /functions/v1/logloom-stream/v1/seal answers, or '
        'null to take one away.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: no secret is called %s here',
      'Allowed: %2$s.', 'The receiver of this kind has no use for it.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it by POST /functions/v1/logloom-stream/v1/seal. If what you sent was the secret '
        'itself, replace it: logs of the database may hold it now.',
      'The database takes no secret in plain text.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pause_stream (
  p_stream logloom.log_streams,
  p_reason text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set paused_at = now(),
    pause_reason = p_reason,
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id and s.paused_at is null;
  if not found then
    return;
  end if;
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  select
    p_stream.tenant_id, p_stream.stream_id, 'stream', 'email', u.email,
    jsonb_build_object(
      'type', 'stream.paused', 'timestamp', now(),
      'data', jsonb_build_object(
        'stream_id', p_stream.stream_id, 'name', p_stream.name, 'kind', p_stream.kind,
        'reason', p_reason, 'failing_since', p_stream.failing_since,
        'last_error', p_stream.last_error
      )
    )::text,
    now() + c.notification_lifetime
  from logloom_private.settings c
  cross join logloom_private.auth_users_by_id(
    array(
      select m.user_id from logloom.tenant_members m
      where m.tenant_id = p_stream.tenant_id and m.role = 'owner'
      order by m.created_at
      limit 20
    )
  ) u
  where u.email is not null;
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
        ('logloom.log_stream_failures', 'r.occurred_at < $1', v_settings.stream_failure_lifetime),
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
    'streams', logloom_private.stream_health(v_now),
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
  v_status constant text := logloom_private.worst_status(v_checks);
  -- Receivers are the tenants'; for those of one the service is no less ready for others.
  v_ready constant text := logloom_private.worst_status(v_checks - 'streams');
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
        'available', v_ready = 'healthy',
        'status', v_ready,
        'checks', coalesce(
          logloom_private.unhealthy_checks(v_checks - '{jobs,streams}'::text[]), '{}'
        )
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

CREATE OR REPLACE FUNCTION logloom_private.record_hops (
  p_attrs jsonb
)
  RETURNS integer
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when jsonb_typeof(p_attrs -> 'logloom_hops') = 'number'
    then greatest(least((p_attrs ->> 'logloom_hops')::numeric, 99), 0)::integer else 0 end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_own_keys (
  p_tenant_id text,
  p_secrets   jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if exists (
    select
    from jsonb_each_text(p_secrets) s
    join logloom.api_keys k
      on k.key_digest = decode(substring(s.value from '\.([0-9a-f]{64})$'), 'hex')
    where k.tenant_id = p_tenant_id
  ) then
    perform logloom_private.refuse('streams.leads_to_itself');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.release_stream (
  p_stream logloom.log_streams,
  p_end    bigint              DEFAULT NULL::bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_noted bigint;
begin
  if p_end is not null then
    select r.noted_through into v_noted from logloom_private.stream_round r for share;
  end if;
  update logloom.log_streams s
  set claim_id = null,
    claimed_at = null,
    claimed_until = null,
    pending_since = case when v_noted <= p_end then null
      when v_noted > p_end then now() else s.pending_since end,
    next_attempt_at = case when p_end is null then s.next_attempt_at
      else now() + (select c.stream_interval from logloom_private.settings c) end
  where s.stream_id = p_stream.stream_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.remove_log_stream (
  p_tenant_id text,
  p_stream_id uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  delete from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_stream_test (
  p_tenant_id text,
  p_stream_id uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval interval;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  select c.notification_test_interval into v_interval from logloom_private.settings c;
  if v_row.test_requested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_row.test_requested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_streams()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  null;
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
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('send_log_streams', '2 seconds', null)
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

CREATE OR REPLACE FUNCTION logloom_private.send_log_streams()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.note_new_writes();
  if cardinality(logloom_private.next_streams(1)) > 0 then
    perform logloom_private.wake_function('logloom-stream');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    perform logloom_private.wake_function('logloom-notify');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sent_record_sql()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'concat(''{"id":"'', l.id, ''","ts":'', to_json(l.ts)' || (
    select string_agg(
      format(
        ', case when l.%1$I is not null then '',"%1$s":'' || to_json(l.%1$I)::text end', f.name
      ),
      '' order by f.shown
    )
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name not in ('id', 'ts', 'tenant_id')
  ) || ', ''}'')';
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
    'claim_log_streams',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'open_log_portal_session',
    'read_log_stream_batch',
    'read_logs',
    'run_writer',
    'settle_alert_notification',
    'settle_log_stream_batch'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_delivered (
  p_stream   logloom.log_streams,
  p_status   integer,
  p_refused  jsonb,
  p_rejected integer
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_refused constant integer := least(
    coalesce(jsonb_array_length(p_refused), 0) + coalesce(p_rejected, 0), p_stream.batch_records
  );
  v_took constant integer := p_stream.batch_records - v_refused;
  v_was_all constant boolean := p_stream.batch_end_id is null
    and p_stream.batch_end_seq >= logloom_private.last_write_seq();
begin
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set sent_batches = s.sent_batches + 1,
    sent_records = s.sent_records + v_took,
    refused_records = s.refused_records + v_refused,
    refused_in_a_row = case when v_took > 0 then 0 else s.refused_in_a_row + v_refused end,
    batch_limit = least(s.batch_limit * 2, 1000),
    attempts = 0,
    failing_since = null,
    last_success_at = now(),
    last_status = p_status,
    last_error = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if v_was_all then
    perform logloom_private.release_stream(p_stream, p_stream.position_seq - 1);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_refused (
  p_stream  logloom.log_streams,
  p_status  integer,
  p_error   text,
  p_refused jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    batch_bytes = case when p_status = 413 then greatest(s.batch_bytes / 2, 10000)
      else s.batch_bytes end,
    last_status = p_status,
    last_error = p_error
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
    return;
  end if;
  perform logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error);
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set refused_records = s.refused_records + 1, refused_in_a_row = s.refused_in_a_row + 1
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.refused_in_a_row >= 100 then
    perform logloom_private.pause_stream(p_stream, 'refused');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_stream_batch (
  p_stream_id   uuid,
  p_claim_id    uuid,
  p_batch_id    uuid,
  p_outcome     text,
  p_status      integer,
  p_error       text,
  p_retry_after integer,
  p_refused     jsonb,
  p_rejected    integer,
  p_secrets     jsonb,
  p_release     boolean
)
  RETURNS boolean
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams
declare
  v_stream logloom.log_streams;
  v_error constant text := left(p_error, 500);
begin
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id
  for no key update;
  if not found then
    return false;
  end if;
  if p_secrets is not null and v_stream.claim_id = p_claim_id then
    update logloom.log_streams s
    set secrets = logloom_private.changed_secrets(
      s.secrets, p_secrets, logloom_private.stream_secret_names(s.kind)
    )
    where s.stream_id = p_stream_id;
  end if;
  if v_stream.test_id = p_batch_id then
    update logloom.log_streams s
    set test_id = null, test_finished_at = now(), test_status = p_status,
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected);
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused);
  else
    perform logloom_private.fail_stream(v_stream, p_status, v_error, p_retry_after);
  end if;
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id;
  if found and p_release then
    perform logloom_private.release_stream(v_stream);
  end if;
  return v_stream.claim_id is not null and p_release is not true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shown_secrets (
  p_secrets jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(jsonb_object_agg(s.name, '{"set": true}'::jsonb), '{}')
    from jsonb_object_keys(p_secrets) s (name)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_config_members()
  RETURNS TABLE (
    name      text,
    kinds     text[],
    is_needed boolean,
    pattern   text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- As addresses of webhooks: printable ASCII, no userinfo; plain HTTP to this machine alone.
  v_address constant text :=
    '^(https://[A-Za-z0-9[][!-~]*|http://127\.0\.0\.1(:[0-9]{1,5})?([/?#][!-~]*)?)$';
begin
  return query
  select m.name, m.kinds, m.is_needed, m.pattern
  from (
    values
      ('url', '{webhook,otlp,loki,elasticsearch,splunk_hec,datadog}'::text[], true,
        '^(?![^/]*//[^/?#]*[@\\])' || substr(v_address, 2)),
      ('index', '{elasticsearch}', true, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('index', '{splunk_hec}', false, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('tags', '{datadog}', false, '^[A-Za-z0-9_:./,-]+$'),
      ('endpoint', '{s3}', true, '^(?![^/]*//[^/?#]*[@\\])(?!.*[?#])' || substr(v_address, 2)),
      ('region', '{s3}', true, '^[a-z0-9][a-z0-9-]{0,62}$'),
      ('bucket', '{s3}', true, '^[a-z0-9][a-z0-9.-]{1,62}$'),
      ('prefix', '{s3}', false,
        '^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$'),
      ('access_key_id', '{s3}', true, '^[A-Za-z0-9_-]{3,128}$')
  ) m (name, kinds, is_needed, pattern);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_delay (
  p_attempts    integer,
  p_retry_after integer
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select greatest(
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from c.stream_retry_base)
          * power(c.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from c.stream_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), c.stream_retry_max)
    )
    from logloom_private.settings c
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_paused bigint;
  v_lag interval;
begin
  select c.* into v_settings from logloom_private.settings c;
  select
    count(*) filter (
      where s.pause_reason = 'failing' and s.paused_at > p_now - v_settings.stream_pause_shown
    ),
    -- Of those that their receiver does not hold up.
    max(p_now - s.pending_since) filter (
      where s.enabled and s.paused_at is null and s.failing_since is null
    )
  into v_paused, v_lag
  from logloom.log_streams s;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_paused > 0 then
        format('%s log streams were paused after long without success', v_paused)
      end,
      case when v_lag > v_settings.stream_lag_limit then
        format('a log stream is %s behind', justify_interval(date_trunc('second', v_lag)))
      end
    )
  ) || jsonb_build_object(
    'paused', v_paused,
    'lag_seconds', coalesce(round(extract(epoch from v_lag), 3), 0)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_maker()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when not logloom_private.is_service_role() then
    logloom_private.current_user_id()
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_maker_is_there (
  p_stream logloom.log_streams
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return p_stream.maker is null
    or logloom_private.acting_role(p_stream.tenant_id, p_stream.maker) in ('admin', 'owner')
    -- Only their next token would say whether they still have the role.
    or (select s.roles_from_token from logloom_private.settings s);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_query (
  p_stream logloom.log_streams
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
  v_hops jsonb;
begin
  v_scope.tenant_id := p_stream.tenant_id;
  if p_stream.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_stream.view_id);
    if logloom_private.is_hidden('attrs.logloom_hops', v_scope.hidden_fields) then
      v_hops := (logloom_private.compile_query('-@logloom_hops:>=3')).tree;
      v_scope.filter := case when v_scope.filter is null then v_hops else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_hops)
      ) end;
    end if;
  end if;
  return logloom_private.scoped_query(
    v_scope, logloom_private.compile_query(p_stream.query_dsl, now()), p_stream.query_dsl
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_secret_names (
  p_kind text
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case p_kind
    when 'webhook' then '{signing_secret,header.*}'::text[]
    when 'splunk_hec' then '{token,header.*}'
    when 'datadog' then '{api_key,header.*}'
    when 's3' then '{secret_access_key}'
    else '{header.*}'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.streams_errors()
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
    ('streams.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the stream after where it goes.', '`p_name` is blank or too long.'),
    ('streams.kind_is_unknown', 400, 'Invalid p_kind',
      'One of webhook, otlp, loki, elasticsearch, splunk_hec, datadog and s3.', null),
    ('streams.query_has_stages', 400, 'A log stream takes a query without stages',
      'Leave out what follows the first bar.', '`p_query_dsl` has a stage.'),
    ('streams.config_is_no_object', 400, 'Invalid p_config: not an object',
      'Send {"url": "https://..."}; docs/guides/streams.md says what each kind takes.', null),
    ('streams.config_is_incomplete', 400, 'Invalid p_config: %s is missing',
      'A stream of the kind %2$s needs it.', 'A member that the kind needs is missing.'),
    ('streams.config_is_unknown', 400, 'Invalid p_config: %s is no member',
      'A stream of the kind %2$s takes %3$s. Secrets go into p_secrets.',
      'The kind has no such member.'),
    ('streams.config_is_invalid', 400, 'Invalid p_config: %s',
      'Addresses are https, without user and password; docs/guides/streams.md says the rest. '
        'Secrets go into p_secrets.', 'The member is malformed, or holds a key of Logloom.'),
    ('streams.leads_to_itself', 400, 'The log stream would send to its own tenant',
      'Seal the key of another tenant.', 'A secret is an API key of the tenant itself.'),
    ('streams.no_room', 400, 'Plan limit exceeded: log streams (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_log_streams`.'),
    ('streams.outcome_is_unknown', 400, 'Invalid p_outcome',
      'One of delivered, retry and refused.', null),
    ('streams.not_found', 404, 'Log stream not found',
      'list_log_streams shows those of this tenant.', null),
    ('streams.name_is_taken', 409, 'The tenant has another log stream of this name',
      'Choose another name, or change that stream by update_log_stream.', null),
    ('streams.tested_just_now', 429, 'The log stream was tested just now',
      'Wait %s seconds between two tests.', 'One test in `notification_test_interval`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenant_of_streams (
  p_tenant_id text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return v_tenant_id;
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
      select 'log stream ' || l.name
      from logloom.log_streams l
      where l.tenant_id = p_tenant_id and l.view_id = p_view_id
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
      '`delete_log_view`: API keys, members, alert rules, log streams or saved searches are bound '
        'to it.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.wake_function (
  p_name text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  v_endpoint.url := regexp_replace(v_endpoint.url, '/logloom-notify/?$', '/' || p_name);
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function % answered %', p_name, v_status;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.worst_status (
  p_checks jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((p_checks - 'jobs') || (p_checks -> 'jobs')) c
  );
begin
  return case
    when 'unhealthy' = any (v_grades) then 'unhealthy'
    when 'degraded' = any (v_grades) then 'degraded'
    else 'healthy'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION public.claim_log_streams (
  p_limit integer DEFAULT NULL::integer
)
  RETURNS SETOF public.logloom_claimed_log_stream
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    perform logloom_private.refuse('notifications.claim_limit_is_out_of_range');
  end if;
  return query select c.* from logloom_private.claim_due_streams(p_limit) c;
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_log_stream (
  p_tenant_id text    DEFAULT NULL::text,
  p_name      text    DEFAULT NULL::text,
  p_query_dsl text    DEFAULT NULL::text,
  p_kind      text    DEFAULT NULL::text,
  p_config    jsonb   DEFAULT NULL::jsonb,
  p_secrets   jsonb   DEFAULT NULL::jsonb,
  p_enabled   boolean DEFAULT NULL::boolean,
  p_view_id   uuid    DEFAULT NULL::uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.make_log_stream(
    p_tenant_id, p_name, p_query_dsl, p_kind, p_config, p_secrets, p_enabled, p_view_id
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_log_stream (
  p_stream_id uuid DEFAULT NULL::uuid,
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.remove_log_stream(p_tenant_id, p_stream_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_log_secret_scope (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_log_secret_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return row(v_tenant_id)::public.logloom_log_secret_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_log_stream (
  p_stream_id uuid DEFAULT NULL::uuid,
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stream public.logloom_log_stream;
begin
  -- First of all it asks who is calling.
  select s.* into v_stream
  from logloom_private.page_of_streams(p_tenant_id, p_stream_id, null, null) s;
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if v_stream.stream_id is null then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return v_stream;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_stream_failures (
  p_stream_id uuid    DEFAULT NULL::uuid,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid,
  p_tenant_id text    DEFAULT NULL::text
)
  RETURNS SETOF public.logloom_log_stream_failure
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select f.*
  from logloom_private.page_of_stream_failures(p_tenant_id, p_stream_id, p_limit, p_after) f;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_streams (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select s.* from logloom_private.page_of_streams(p_tenant_id, null, p_limit, p_after) s;
end;
$function$;

CREATE OR REPLACE FUNCTION public.read_log_stream_batch (
  p_stream_id uuid DEFAULT NULL::uuid,
  p_claim_id  uuid DEFAULT NULL::uuid
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.next_stream_batch(p_stream_id, p_claim_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.settle_log_stream_batch (
  p_stream_id   uuid    DEFAULT NULL::uuid,
  p_claim_id    uuid    DEFAULT NULL::uuid,
  p_batch_id    uuid    DEFAULT NULL::uuid,
  p_outcome     text    DEFAULT NULL::text,
  p_status      integer DEFAULT NULL::integer,
  p_error       text    DEFAULT NULL::text,
  p_retry_after integer DEFAULT NULL::integer,
  p_refused     jsonb   DEFAULT NULL::jsonb,
  p_rejected    integer DEFAULT NULL::integer,
  p_secrets     jsonb   DEFAULT NULL::jsonb,
  p_release     boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_stream_settlement
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_batch_id', p_batch_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'refused') then
    perform logloom_private.refuse('streams.outcome_is_unknown');
  end if;
  return row(
    logloom_private.settle_stream_batch(
      p_stream_id, p_claim_id, p_batch_id, p_outcome, p_status, p_error, p_retry_after, p_refused,
      p_rejected, p_secrets, p_release
    )
  )::public.logloom_stream_settlement;
end;
$function$;

CREATE OR REPLACE FUNCTION public.test_log_stream (
  p_stream_id uuid DEFAULT NULL::uuid,
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.request_stream_test(p_tenant_id, p_stream_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_log_stream (
  p_stream_id uuid    DEFAULT NULL::uuid,
  p_name      text    DEFAULT NULL::text,
  p_query_dsl text    DEFAULT NULL::text,
  p_config    jsonb   DEFAULT NULL::jsonb,
  p_secrets   jsonb   DEFAULT NULL::jsonb,
  p_enabled   boolean DEFAULT NULL::boolean,
  p_view_id   uuid    DEFAULT NULL::uuid,
  p_tenant_id text    DEFAULT NULL::text
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.change_log_stream(
    p_tenant_id, p_stream_id, p_name, p_query_dsl, p_config, p_secrets, p_enabled, p_view_id
  );
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    ADD CONSTRAINT "audit_events_action_is_known"
      CHECK
      ((action = ANY (ARRAY['api_key.created'::text, 'api_key.changed'::text, 'api_key.revoked'::text, 'api_key.deleted'::text, 'ingest_token.created'::text,
      'portal_session.created'::text,
      'portal_session.first_used'::text,
      'portal_session.revoked'::text,
      'member.added'::text,
      'member.changed'::text,
      'member.removed'::text,
      'settings.changed'::text,
      'plan.changed'::text,
      'view.created'::text,
      'view.changed'::text,
      'view.deleted'::text, 'log_stream.created'::text, 'log_stream.changed'::text, 'log_stream.deleted'::text, 'logs.deletion_requested'::text, 'logs.deletion_finished'::text])));
  ALTER TABLE "logloom"."log_stream_failures"
    ADD CONSTRAINT "log_stream_failures_stream_id_fkey" FOREIGN KEY (stream_id) REFERENCES logloom.log_streams(stream_id) ON DELETE CASCADE;
  ALTER TABLE "logloom"."log_streams"
    ADD CONSTRAINT "log_streams_tenant_id_fkey" FOREIGN KEY (tenant_id) REFERENCES logloom.tenants(tenant_id) ON DELETE CASCADE;
  ALTER TABLE "logloom"."log_streams"
    ADD CONSTRAINT "log_streams_view_is_of_tenant" FOREIGN KEY (tenant_id, view_id) REFERENCES logloom.log_views(tenant_id, view_id) ON DELETE CASCADE;
  ALTER TABLE "logloom"."plans"
    ADD CONSTRAINT "plans_max_log_streams_is_not_negative" CHECK ((max_log_streams >= 0));
  ALTER TABLE "logloom_private"."notifications"
    ADD CONSTRAINT "notifications_purpose_is_known" CHECK ((purpose = ANY (ARRAY['alert'::text, 'test'::text, 'confirmation'::text, 'stream'::text])));
  CREATE UNIQUE INDEX log_stream_failures_gaps_idx ON logloom.log_stream_failures USING btree (stream_id, ts_from)
    WHERE (kind = 'gap'::text);
  CREATE INDEX log_stream_failures_occurred_at_idx ON logloom.log_stream_failures USING btree (occurred_at);
  CREATE INDEX log_stream_failures_stream_id_occurred_at_idx ON logloom.log_stream_failures USING btree (stream_id, occurred_at DESC, failure_id DESC);
  CREATE INDEX log_stream_failures_tenant_id_idx ON logloom.log_stream_failures USING btree (tenant_id);
  CREATE INDEX log_streams_tenant_id_created_at_idx ON logloom.log_streams USING btree (tenant_id, created_at DESC, stream_id DESC);
  CREATE INDEX log_streams_tenant_id_view_id_idx ON logloom.log_streams USING btree (tenant_id, view_id);
  CREATE TRIGGER audit_log_streams
    AFTER INSERT OR DELETE OR UPDATE OF name, query_dsl, config, enabled, view_id, paused_at ON logloom.log_streams
    FOR EACH ROW
    EXECUTE FUNCTION logloom_private.audit_log_streams();
  CREATE POLICY "log_stream_failures_select_tenant" ON "logloom"."log_stream_failures"
    FOR SELECT
    TO "authenticated"
    USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));
  CREATE POLICY "log_streams_select_tenant" ON "logloom"."log_streams"
    FOR SELECT
    TO "authenticated"
    USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));
  COMMENT ON COLUMN "logloom"."log_streams"."batch_id" IS 'The batch under way, the same however often it is sent: the records from the position to batch_end_seq and batch_end_id (null: all of that write sequence).';
  COMMENT ON COLUMN "logloom"."log_streams"."batch_limit" IS 'Records of the next batch at most: halved when the receiver refuses one, doubled when it takes one.';
  COMMENT ON COLUMN "logloom"."log_streams"."config" IS 'Where to: what the kind needs, and nothing secret.';
  COMMENT ON COLUMN "logloom"."log_streams"."kept_day" IS 'The first day that the tenant kept when the stream read last.';
  COMMENT ON COLUMN "logloom"."log_streams"."maker" IS 'The user by whose rights it reads: who made it, or enabled it last. Null: the project itself.';
  COMMENT ON COLUMN "logloom"."log_streams"."pending_since" IS 'Since when records wait. Null: none does, as of what was noted last.';
  COMMENT ON COLUMN "logloom"."log_streams"."query_dsl" IS 'Which records: a query without stages. Null: all.';
  COMMENT ON COLUMN "logloom"."log_streams"."secrets" IS 'Name and sealed text of each secret. Only the edge function can open it.';
  COMMENT ON COLUMN "logloom"."plans"."max_log_streams" IS 'Log streams that a tenant may have.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_claim_lifetime" IS 'After this time a claim that was not settled is due again. Longer than a batch takes.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_failure_lifetime" IS 'How long list_log_stream_failures tells of a failure.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_gives_up_after" IS 'How long a log stream is tried without success before it pauses.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_interval" IS 'How long records of a log stream wait for others, unless they fill a batch.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_lag_limit" IS 'Health: degraded when a log stream that works is further behind.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_open_limit" IS 'Log streams under way at once, of all tenants: one tenant has no more of them than stay free.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_pause_shown" IS 'Health: degraded for so long after a log stream was paused for want of success.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_retry_base" IS 'Wait of a log stream after the first failure, give or take a fifth, multiplied by notification_retry_factor after each further one …';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_retry_max" IS '… up to this.';
  COMMENT ON COLUMN "logloom_private"."settings"."stream_turn" IS 'How long a log stream sends before others that wait come first.';
  COMMENT ON FUNCTION "public"."claim_log_streams"(integer) IS 'What the edge function logloom-stream calls: takes streams that are due, p_limit 1 to 100. One of which nothing is heard in time is due again. Errors: PT400.';
  COMMENT ON FUNCTION "public"."create_log_stream"(text, text, text, text, jsonb, jsonb, boolean, uuid) IS 'Creates a log stream and returns it: from now on it sends the records that p_query_dsl finds (a query without stages; all by default) as they become visible. p_kind: webhook, otlp, loki, elasticsearch, splunk_hec, datadog or s3. p_config: where to, by kind. p_secrets: names and sealed texts, as POST /functions/v1/logloom-stream/v1/seal answers them. p_enabled: default true. p_view_id: the view that it reads in. p_name: 1 to 100 characters after trimming. For admins. Errors: PT400 (plan limit, too), PT401, PT403, PT404, PT409 (the name is taken).';
  COMMENT ON FUNCTION "public"."delete_log_stream"(uuid, text) IS 'Deletes a log stream with its failures and secrets. Returns {success}. For admins. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."get_log_secret_scope"(text) IS 'Whose secrets the caller may seal: {tenant_id}. The edge functions ask it before they seal one for that tenant. For admins. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."get_log_stream"(uuid, text) IS 'A log stream with its lag and the outcome of its last test. For admins. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."health_report"() IS 'What the edge function health shows: status, timestamp and checks for queue (events, seconds), writer (milliseconds, seconds), partitions, alerts, streams, pre_request and jobs, each with the reason where it is not healthy, and what each endpoint shows of it (available: 200, otherwise 503). Thresholds: logloom_private.settings and job_limits.';
  COMMENT ON FUNCTION "public"."list_log_stream_failures"(uuid, integer, uuid, text) IS 'What a log stream did not send, newest first: records that the receiver refused, and gaps that retention made; of the last 30 days and at most 1000. p_limit 1 to 1000 (default 100), p_after: failure_id of the last item of the page before. For admins. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."list_log_streams"(text, integer, uuid) IS 'Log streams of the tenant with their lag, newest first. p_limit 1 to 1000 (default 100), p_after: stream_id of the last item of the page before. For admins. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."read_log_stream_batch"(uuid, uuid) IS 'What the edge function logloom-stream calls: the batch that a claimed stream has to send, {batch, records}, each record in a line of its own; null where there is none, and the claim is over. Errors: PT400.';
  COMMENT ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean) IS 'What the edge function logloom-stream calls after an attempt. p_outcome: delivered, but for p_refused ([{id, ts, status}]) and p_rejected further records; retry after a back-off, or p_retry_after seconds where that is longer; refused, when half of it is tried. p_secrets: the secrets, sealed by the current key. p_release: lets go of the stream. Returns {more}: whether the claim goes on. Errors: PT400.';
  COMMENT ON FUNCTION "public"."test_log_stream"(uuid, text) IS 'Sends one record that says that it is a test, within seconds, also where the stream is paused or disabled; get_log_stream tells the outcome. For admins. Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';
  COMMENT ON FUNCTION "public"."update_log_stream"(uuid, text, text, jsonb, jsonb, boolean, uuid, text) IS 'Changes what is given and returns the log stream. p_config is replaced as a whole, of p_secrets each member, null takes one away. An empty p_query_dsl sends all records. p_enabled true also ends a pause, and the caller is its maker from then on: it goes on where it was. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';
  COMMENT ON TABLE "logloom"."audit_events" IS 'What was done to keys, members, views, log streams, settings and plans, and deletions of records. Nobody changes or removes an event before settings.audit_lifetime has gone by.';
  COMMENT ON TABLE "logloom"."log_stream_failures" IS 'What did not arrive. refused: a record that the receiver does not take. rejected: it took a batch but for so many records, and does not say which. gap: records of [ts_from, ts_to) that retention deleted before they were sent.';
  COMMENT ON TABLE "logloom"."log_streams" IS 'Where a tenant''s records are sent as they become visible, and how far each of these is.';
  COMMENT ON TABLE "logloom_private"."notifications" IS 'The outbox: one row for an alert and a destination, for a test or a code that confirms an address, which have no alert, or to an owner of a log stream that was paused, which is rule_id.';
  COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, with logloom-stream beside it, and the secret that they know their caller by.';
  COMMENT ON TABLE "logloom_private"."stream_round" IS 'Up to which write sequence it was noted which streams have something to send. Whoever calls a stream idle holds the row.';
  COMMENT ON TYPE "logloom_private"."lock_name" IS 'The advisory locks of Logloom. deletion: one that seals or deletes records of days that are over. writer: whoever adds records or moves the queue. partitions: whoever makes or drops a day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, exclusive for the flip. notifications and streams: one claim at a time, so that a limit holds. With a tenant''s hash as second key: alerts, one evaluator of its rules; delete_logs, one order of a deletion at a time; members, one change of who belongs to it; notifications, one test or confirmation of an address.';
  COMMENT ON TYPE "logloom_private"."stream_batch" IS 'Records after a stream''s position, in the order in which they became visible, up to a write sequence and, of that, an id (null: all of it).';
  COMMENT ON TYPE "public"."logloom_claimed_log_stream" IS 'A stream that has something to send now.';
  COMMENT ON TYPE "public"."logloom_log_secret_scope" IS 'For which tenant the edge functions may seal secrets of the caller.';
  COMMENT ON TYPE "public"."logloom_log_stream" IS 'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused, disabled. lag_seconds: how long the oldest record that was not sent has waited. paused_at with pause_reason failing (no success for long), refused (the receiver takes no record) or maker (who made it is no admin any more). skipped_records: not sent, because streams passed them on three times already. test_…: of the last test; it is under way while test_finished_at is null.';
  COMMENT ON TYPE "public"."logloom_log_stream_failure" IS 'What a stream did not send. refused: the record record_id, which the receiver does not take. rejected: it took a batch but for so many records, and does not say which. gap: what retention deleted of [ts_from, ts_to) before it was sent.';
  COMMENT ON TYPE "public"."logloom_stream_settlement" IS 'Whether the claim of a log stream goes on after a batch was settled.';
  GRANT SELECT ON TABLE "logloom"."log_stream_failures" TO "authenticated", "service_role";
  GRANT SELECT ("created_at") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("enabled") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("kind") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("name") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("stream_id") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("tenant_id") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("updated_at") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("view_id") ON TABLE "logloom"."log_streams" TO "authenticated";
  GRANT SELECT ("created_at") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("enabled") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("kind") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("name") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("stream_id") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("tenant_id") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("updated_at") ON TABLE "logloom"."log_streams" TO "service_role";
  GRANT SELECT ("view_id") ON TABLE "logloom"."log_streams" TO "service_role";
  update logloom.plans set max_log_streams = 1 where plan_id = 'free';
  update logloom.plans set max_log_streams = 10 where plan_id = 'pro';
  insert into logloom_private.job_limits (job, silence) values ('send_log_streams', '3 minutes');
  insert into logloom_private.stream_round (noted_through)
  select coalesce(max(a.write_seq), 0) from logloom_private.log_writes a;
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

select logloom_private.schedule_jobs();

select logloom_private.finish_migration();
