-- Archive: days leave as Parquet files, and come back.

SET local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom.retention_runs, logloom.audit_events in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $$
begin
  -- Small tables, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    DROP CONSTRAINT "audit_events_action_is_known";
  perform set_config('lock_timeout', '0', true);
end;
$$;

DROP FUNCTION "logloom_private"."read_records"(text);

CREATE TABLE "logloom"."archive_parts" (
  "part_id"     uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "number"      bigint                   GENERATED ALWAYS AS IDENTITY NOT NULL,
  "tenant_id"   text                     NOT NULL,
  "first_day"   date                     NOT NULL,
  "last_day"    date                     NOT NULL,
  "write_seq"   bigint                   NOT NULL,
  "generation"  integer                  NOT NULL DEFAULT 1,
  "object_key"  text                     NOT NULL,
  "status"      text                     NOT NULL,
  "first_ts"    timestamp with time zone,
  "last_ts"     timestamp with time zone,
  "records"     integer,
  "bytes"       bigint,
  "sha256"      text,
  "created_at"  timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "verified_at" timestamp with time zone,
  "newer_key"   text,
  CONSTRAINT "archive_parts_pkey" PRIMARY KEY (part_id),
  CONSTRAINT "archive_parts_status_is_known" CHECK ((status = ANY (ARRAY['draft'::text, 'verified'::text, 'missing'::text]))),
  CONSTRAINT "archive_parts_verified_is_known" CHECK (((status = 'draft'::text) OR ((records > 0) AND (bytes > 0) AND (sha256 IS NOT NULL) AND (verified_at IS
    NOT NULL) AND (first_ts IS NOT NULL) AND (last_ts IS NOT NULL))))
);

ALTER TABLE "logloom"."archive_parts"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom"."archive_parts"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom"."archive_restores" (
  "restore_id"      uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "tenant_id"       text                     NOT NULL,
  "requested_by"    text                     NOT NULL,
  "requested_at"    timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "first_day"       date                     NOT NULL,
  "last_day"        date                     NOT NULL,
  "ts_from"         timestamp with time zone NOT NULL,
  "ts_to"           timestamp with time zone NOT NULL,
  "query_dsl"       text                     NOT NULL,
  "kept_until"      timestamp with time zone NOT NULL,
  "status"          text                     NOT NULL DEFAULT 'queued'::text,
  "parts"           integer                  NOT NULL,
  "parts_done"      integer                  NOT NULL DEFAULT 0,
  "records"         bigint                   NOT NULL DEFAULT 0,
  "bytes"           bigint                   NOT NULL DEFAULT 0,
  "position_number" bigint                   NOT NULL DEFAULT 0,
  "failures"        integer                  NOT NULL DEFAULT 0,
  "next_attempt_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "finished_at"     timestamp with time zone,
  "error"           text,
  CONSTRAINT "archive_restores_pkey" PRIMARY KEY (restore_id),
  CONSTRAINT "archive_restores_status_is_known" CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

ALTER TABLE "logloom"."archive_restores"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom"."archive_restores"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_bucket" (
  "singleton"        boolean                  NOT NULL DEFAULT true,
  "installation_id"  uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "bucket"           text,
  "prefix"           text,
  "checked_at"       timestamp with time zone,
  "problem"          text,
  "planned_at"       timestamp with time zone,
  "planned_through"  text,
  "compared_at"      timestamp with time zone,
  "compared_through" text,
  CONSTRAINT "archive_bucket_has_one_row" CHECK (singleton),
  CONSTRAINT "archive_bucket_pkey" PRIMARY KEY (singleton)
);

ALTER TABLE "logloom_private"."archive_bucket"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_bucket"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_claims" (
  "claim_id"   uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "tenant_id"  text                     NOT NULL,
  "kind"       text                     NOT NULL,
  "part_id"    uuid,
  "run_id"     uuid,
  "object_key" text,
  "records"    integer,
  "first_ts"   timestamp with time zone,
  "last_ts"    timestamp with time zone,
  "last_id"    uuid,
  "claimed_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "expires_at" timestamp with time zone NOT NULL,
  CONSTRAINT "archive_claims_kind_is_known"
    CHECK ((kind = ANY (ARRAY['adopt'::text, 'check'::text, 'compare'::text, 'delete'::text, 'erase'::text, 'restore'::text, 'write'::text]))),
  CONSTRAINT "archive_claims_pkey" PRIMARY KEY (claim_id)
);

ALTER TABLE "logloom_private"."archive_claims"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_claims"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_endpoint" (
  "singleton" boolean NOT NULL DEFAULT true,
  "url"       text,
  "secret"    text,
  CONSTRAINT "archive_endpoint_has_one_row" CHECK (singleton),
  CONSTRAINT "archive_endpoint_pkey" PRIMARY KEY (singleton)
);

ALTER TABLE "logloom_private"."archive_endpoint"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_endpoint"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_erasures" (
  "run_id"          uuid                     NOT NULL,
  "tenant_id"       text                     NOT NULL,
  "query_dsl"       text                     NOT NULL,
  "requested_at"    timestamp with time zone NOT NULL,
  "ts_from"         timestamp with time zone NOT NULL,
  "ts_to"           timestamp with time zone NOT NULL,
  "began_at"        timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "parts_through"   bigint,
  "position_number" bigint                   NOT NULL DEFAULT 0,
  "records"         bigint                   NOT NULL DEFAULT 0,
  "parts"           integer                  NOT NULL DEFAULT 0,
  "failures"        integer                  NOT NULL DEFAULT 0,
  "error"           text,
  "next_attempt_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "finished_at"     timestamp with time zone,
  CONSTRAINT "archive_erasures_pkey" PRIMARY KEY (run_id)
);

ALTER TABLE "logloom_private"."archive_erasures"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_erasures"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_garbage" (
  "object_key"      text                     NOT NULL,
  "tenant_id"       text                     NOT NULL,
  "reason"          text                     NOT NULL,
  "noted_at"        timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "next_attempt_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT "archive_garbage_pkey" PRIMARY KEY (object_key),
  CONSTRAINT "archive_garbage_reason_is_known" CHECK ((reason = ANY (ARRAY['erased'::text, 'expired'::text, 'abandoned'::text, 'unknown'::text])))
);

ALTER TABLE "logloom_private"."archive_garbage"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_garbage"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archive_passes" (
  "tenant_id"       text                     NOT NULL,
  "first_day"       date                     NOT NULL,
  "last_day"        date                     NOT NULL,
  "write_seq"       bigint                   NOT NULL,
  "position_ts"     timestamp with time zone,
  "position_id"     uuid,
  "began_at"        timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "next_attempt_at" timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "failures"        integer                  NOT NULL DEFAULT 0,
  "error"           text,
  CONSTRAINT "archive_passes_days_are_in_order" CHECK ((first_day <= last_day)),
  CONSTRAINT "archive_passes_pkey" PRIMARY KEY (tenant_id)
);

ALTER TABLE "logloom_private"."archive_passes"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archive_passes"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."archived_days" (
  "tenant_id" text   NOT NULL,
  "day"       date   NOT NULL,
  "write_seq" bigint NOT NULL,
  CONSTRAINT "archived_days_pkey" PRIMARY KEY (tenant_id, day)
);

ALTER TABLE "logloom_private"."archived_days"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."archived_days"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."kept_longer" (
  "kept_id"    uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "tenant_id"  text                     NOT NULL,
  "first_day"  date                     NOT NULL,
  "last_day"   date                     NOT NULL,
  "kept_until" timestamp with time zone NOT NULL,
  CONSTRAINT "kept_longer_days_are_in_order" CHECK ((first_day <= last_day)),
  CONSTRAINT "kept_longer_pkey" PRIMARY KEY (kept_id)
);

ALTER TABLE "logloom_private"."kept_longer"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."kept_longer"
  FORCE ROW LEVEL SECURITY;

do $$
begin
  -- Small tables, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."plans"
    ADD COLUMN "archive_days" integer NOT NULL DEFAULT 0;

  ALTER TABLE "logloom"."plans"
    ADD COLUMN "max_restored_days" integer NOT NULL DEFAULT 31;

  ALTER TABLE "logloom"."retention_runs"
    ADD COLUMN "archive_files" integer NOT NULL DEFAULT 0;

  ALTER TABLE "logloom"."retention_runs"
    ADD COLUMN "archive_records" bigint NOT NULL DEFAULT 0;

  ALTER TABLE "logloom"."retention_runs"
    ADD COLUMN "not_reached" jsonb;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_after" interval NOT NULL DEFAULT '1 day'::interval;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_bucket" text;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_claim_lifetime" interval NOT NULL DEFAULT '00:05:00'::interval;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_compare_every" interval NOT NULL DEFAULT '24:00:00'::interval;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_grace" interval NOT NULL DEFAULT '7 days'::interval;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_overtaken" text NOT NULL DEFAULT 'keep'::text;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_plan_every" interval NOT NULL DEFAULT '00:10:00'::interval;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "archive_prefix" text NOT NULL DEFAULT 'logloom'::text;

  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "restored_days_lifetime_max" interval NOT NULL DEFAULT '90 days'::interval;
  perform set_config('lock_timeout', '0', true);
end;
$$;

ALTER TYPE "logloom_private"."lock_name" ADD VALUE 'archive' AFTER 'notifications';


SET local check_function_bodies = off;

CREATE TYPE "public"."logloom_archive_part" AS (
  "part_id"     uuid,
  "tenant_id"   text,
  "first_day"   date,
  "last_day"    date,
  "ts_from"     timestamp WITH time zone,
  "ts_to"       timestamp WITH time zone,
  "records"     integer,
  "bytes"       bigint,
  "status"      text,
  "verified_at" timestamp WITH time zone,
  "bucket"      text,
  "key"         text,
  "sha256"      text
);

CREATE TYPE "public"."logloom_archive_restore" AS (
  "restore_id"   uuid,
  "tenant_id"    text,
  "requested_by" text,
  "requested_at" timestamp WITH time zone,
  "ts_from"      timestamp WITH time zone,
  "ts_to"        timestamp WITH time zone,
  "query_dsl"    text,
  "kept_until"   timestamp WITH time zone,
  "status"       text,
  "files"        integer,
  "files_done"   integer,
  "records"      bigint,
  "bytes"        bigint,
  "finished_at"  timestamp WITH time zone,
  "error"        text
);

do $$
begin
  -- No table has a column of this type.
  perform set_config('lock_timeout', '30s', true);
  ALTER TYPE "public"."logloom_retention_run" ADD ATTRIBUTE "archive_files" integer CASCADE;

  ALTER TYPE "public"."logloom_retention_run" ADD ATTRIBUTE "archive_records" bigint CASCADE;

  ALTER TYPE "public"."logloom_retention_run" ADD ATTRIBUTE "not_reached" jsonb CASCADE;

  ALTER TYPE "public"."logloom_usage" ADD ATTRIBUTE "restored_records" bigint CASCADE;
  perform set_config('lock_timeout', '0', true);
end;
$$;

CREATE OR REPLACE FUNCTION logloom_private.adopt_archived (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_part logloom.archive_parts;
begin
  select p.* into v_part
  from logloom.archive_parts p
  where p.part_id = p_claim.part_id and p.newer_key = p_claim.object_key
  for update;
  if not found then
    return;
  elsif p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set newer_key = null where p.part_id = v_part.part_id;
    return;
  end if;
  update logloom.archive_parts p
  set status = 'verified', object_key = p.newer_key, newer_key = null,
    generation = substring(p.newer_key from '_([0-9]{1,9})\.parquet$')::integer,
    records = (p_details ->> 'records')::integer, bytes = (p_details ->> 'bytes')::bigint,
    sha256 = p_details ->> 'sha256', first_ts = (p_details ->> 'first_ts')::timestamptz,
    last_ts = (p_details ->> 'last_ts')::timestamptz, verified_at = clock_timestamp()
  where p.part_id = v_part.part_id;
  perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_columns (
  p_records logloom.logs[]
)
  RETURNS json
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_keys text[] := '{}';
  v_columns text[] := '{}';
  v_key record;
  v_result json;
begin
  for v_key in select k.* from logloom_private.archive_keys(p_records) k loop
    v_keys := v_keys || v_key.key;
    v_columns := v_columns || format(
      'json_build_object(''key'', %1$L, ''kind'', %2$L, ''values'', json_agg(%3$s))',
      v_key.key, v_key.kind,
      case v_key.kind
        when 'string' then format('r.attrs ->> %L', v_key.key)
        when 'json' then format('(r.attrs -> %L)::text', v_key.key)
        else format('r.attrs -> %L', v_key.key)
      end
    );
  end loop;
  execute format(
    'select json_build_object(%s, ''attrs'', json_build_array(%s), ''rest'', '
      || 'json_agg((r.attrs - %L::text[])::text)) from unnest($1) r',
    (
      select string_agg(
        format(
          '%1$L, json_agg(%2$s)', f.name,
          case f.type
            when 'timestamptz' then format('(extract(epoch from r.%I) * 1000000)::bigint', f.name)
            else format('r.%I', f.name)
          end
        ),
        ', ' order by f.shown
      )
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name not in ('tenant_id', 'attrs')
    ),
    array_to_string(v_columns, ', '), v_keys
  )
  into v_result
  using p_records;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_delay (
  p_failures integer
)
  RETURNS interval
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return least(interval '5 seconds' * 2 ^ least(p_failures, 10), interval '10 minutes');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_errors()
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
    ('archive.nothing_in_range', 404, 'Nothing is archived of this range',
      'list_log_archive shows the files that there are.', '`restore_log_archive`.'),
    ('archive.keep_days_are_out_of_range', 400, 'Invalid p_keep_days: 1 to %s',
      'Bring them back again when they are needed again.',
      'At most `settings.restored_days_lifetime_max`.'),
    ('archive.too_many_days', 400, 'Plan limit exceeded: restored days (max %s, would be %s)',
      'Narrow the range, or wait until others go: list_log_archive_restores shows when.',
      'The plan''s `max_restored_days`: days that are back at once.'),
    ('archive.claim_not_found', 404, 'The claim is not there any more',
      'Another run of logloom-archive has taken it up.',
      'What `logloom-archive` worked at took too long.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_filter_sql (
  p_pass  logloom_private.archive_passes,
  p_alias text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz :=
    coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day));
  v_done constant bigint[] := array(
    select coalesce(a.write_seq, -1)
    from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
    left join logloom_private.archived_days a
      on a.tenant_id = p_pass.tenant_id and a.day = p_pass.first_day + d.n
    order by d.n
  );
begin
  return format(
    '%1$s.ts >= %2$L::timestamptz and %1$s.ts < %3$L::timestamptz and %1$s.write_seq <= %4$s '
      || 'and %1$s.write_seq > '
      || '(%5$L::bigint[])[(%1$s.ts at time zone ''UTC'')::date - %6$L::date + 1]',
    p_alias, v_from, logloom_private.day_start(p_pass.last_day + 1), p_pass.write_seq, v_done,
    p_pass.first_day
  ) || case when p_pass.position_ts is null then ''
    else format(
      ' and (%1$s.ts, %1$s.id) > (%2$L::timestamptz, %3$L::uuid)',
      p_alias, p_pass.position_ts, p_pass.position_id
    )
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_has_work()
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (v_settings.archive_bucket, v_settings.archive_prefix)
    or v_bucket.problem is not null or v_bucket.checked_at is null
  then
    return v_bucket.checked_at is null or v_bucket.problem is null
      or v_bucket.checked_at < now() - interval '1 minute';
  end if;
  return v_bucket.checked_at < now() - interval '1 day'
    or v_bucket.compared_at is null or v_bucket.compared_through is not null
    or v_bucket.compared_at < now() - v_settings.archive_compare_every
    or exists (
      select from logloom_private.archive_garbage g where g.next_attempt_at <= clock_timestamp()
    )
    or exists (select from logloom.archive_parts p where p.newer_key is not null)
    or exists (
      select from logloom_private.archive_passes p where p.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom_private.archive_erasures e
      where e.finished_at is null and e.parts_through is not null
        and e.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom.archive_restores r
      where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
  v_idle constant text := logloom_private.archive_is_idle();
  v_is_wanted constant boolean :=
    exists (select from logloom.plans p where p.archive_days > 0);
  v_files record;
  v_passes record;
  v_erasures record;
  v_garbage bigint;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  select
    count(*) filter (where p.status = 'verified') as files,
    count(*) filter (where p.status = 'missing') as missing,
    coalesce(sum(p.records) filter (where p.status = 'verified'), 0) as records,
    coalesce(sum(p.bytes) filter (where p.status = 'verified'), 0) as bytes
  into v_files
  from logloom.archive_parts p;
  select
    count(*) as open, count(*) filter (where p.failures > 2) as failing, min(p.began_at) as oldest
  into v_passes
  from logloom_private.archive_passes p;
  select count(*) as open, min(e.began_at) as oldest
  into v_erasures
  from logloom_private.archive_erasures e
  where e.finished_at is null and e.parts_through is not null;
  select count(*) into v_garbage from logloom_private.archive_garbage;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_is_wanted or v_files.files > 0 then v_idle end,
      case when v_idle is null and v_bucket.problem is not null then
        'The bucket cannot be used: logloom_private.archive_bucket says why'
      end,
      case when v_passes.failing > 0 then
        format(
          '%s tenants are not archived: logloom_private.archive_passes says why', v_passes.failing
        )
      end,
      case when v_passes.oldest < p_now - v_settings.archive_grace then
        format(
          'Days wait for the archive for over %s, and are then %s by retention',
          v_settings.archive_grace,
          case v_settings.archive_overtaken when 'drop' then 'dropped' else 'kept' end
        )
      end,
      case when v_erasures.oldest < p_now - interval '1 hour' then
        format('%s erasures have not reached the archive yet', v_erasures.open)
      end,
      case when v_files.missing > 0 then
        format('The bucket lacks %s files: logloom.archive_parts has them', v_files.missing)
      end
    )
  ) || jsonb_build_object(
    'files', v_files.files, 'records', v_files.records, 'bytes', v_files.bytes,
    'passes', v_passes.open, 'oldest_pass', v_passes.oldest, 'erasures', v_erasures.open,
    'garbage', v_garbage
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_is_idle()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when (select s.archive_bucket from logloom_private.settings s) is null
      then 'settings.archive_bucket names no bucket'
    when logloom_private.is_restored()
      then 'The database was restored from a dump and not repaired'
    when not logloom_private.archive_reads_records()
      then 'Records are sharded over nodes, which the archive does not read'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_key (
  p_part logloom.archive_parts
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    '%s/v1/tenant=%s/month=%s/%s_%s_%s_%s.parquet',
    (select s.archive_prefix from logloom_private.settings s),
    logloom_private.archive_tenant_name(p_part.tenant_id), to_char(p_part.first_day, 'YYYY-MM'),
    to_char(p_part.first_day, 'YYYY-MM-DD'), to_char(p_part.last_day, 'YYYY-MM-DD'),
    p_part.part_id, p_part.generation
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_key_kind (
  p_strings  bigint,
  p_integers bigint,
  p_numbers  bigint,
  p_booleans bigint,
  p_values   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case p_values
    when p_strings then 'string'
    when p_integers then 'integer'
    when p_numbers then 'number'
    when p_booleans then 'boolean'
    else 'json'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_keys (
  p_records logloom.logs[]
)
  RETURNS TABLE (
    key  text,
    kind text
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
begin
  return query
  select k.key, k.kind
  from (
    select distinct on (lower(u.key)) u.key, u.kind, u.values
    from (
      select
        a.key,
        count(*) as values,
        logloom_private.archive_key_kind(
          count(*) filter (where a.type = 'string'),
          -- Whole numbers that every reader has exactly.
          count(*) filter (where a.type = 'number' and a.text ~ '^(0|-?[1-9][0-9]{0,14})$'),
          -- Those that a number of 8 bytes has in the same digits.
          count(*) filter (
            where a.type = 'number'
              and a.text ~ '^(0|-?[1-9][0-9]{0,8})$|^-?(0|[1-9][0-9]{0,8})\.[0-9]{0,5}[1-9]$'
          ),
          count(*) filter (where a.type = 'boolean'),
          count(*)
        ) as kind
      from (
        select e.key, e.value::text as text, jsonb_typeof(e.value) as type
        from unnest(p_records) r, jsonb_each(r.attrs) e
      ) a
      -- A longer name is no name of a column.
      where octet_length(a.key) between 1 and 200
      group by a.key
    ) u
    -- Readers do not tell letters of another case apart.
    order by lower(u.key), u.values desc, u.key collate "C"
  ) k
  order by k.values desc, k.key collate "C"
  limit 24;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_part_work (
  p_part logloom.archive_parts
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_build_object(
    'tenant_id', p_part.tenant_id, 'part_id', p_part.part_id, 'key', p_part.object_key,
    'records', p_part.records, 'bytes', p_part.bytes, 'sha256', p_part.sha256,
    'first_day', p_part.first_day, 'last_day', p_part.last_day,
    'generation', p_part.generation + 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_places (
  p_pass logloom_private.archive_passes,
  OUT    ts timestamp with time zone[],
  OUT    ids uuid[],
  OUT    blocks bigint[],
  OUT    places integer[]
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_filter constant text := logloom_private.archive_filter_sql(p_pass, 'r');
  v_end timestamptz := 'infinity';
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_ids uuid[];
  v_places integer[];
  v_records integer;
  v_row_sizes bigint[];
  v_sizes bigint[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  ts := '{}';
  ids := '{}';
  blocks := '{}';
  places := '{}';
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_pass.tenant_id
      and c.last_ts >= coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day))
      and c.first_ts < logloom_private.day_start(p_pass.last_day + 1)
    order by c.first_ts, c.block_id
  loop
    -- Mostly a file is a block. Those that overlap in time are read together.
    if (select count(*) from unnest(ts) t where t < v_block.first_ts)
      >= v_settings.seal_block_records / 2
    then
      v_end := v_block.first_ts;
      exit;
    end if;
    perform logloom_private.can_read(v_block.format);
    execute format(
      'select array_agg(r.ts) as ts, array_agg(r.id) as ids, array_agg(r.place) as places, '
        || 'count(*)::integer as records from ('
        || 'select s.ts, s.id, s.write_seq, row_number() over ()::integer as place from '
        || 'logloom_private.sealed_records($1, null, array[''ts'', ''id'', ''write_seq'']) s'
        || ') r where %s',
      v_filter
    )
    into v_ts, v_ids, v_places, v_records
    using v_block;
    continue when v_records = 0;
    ts := ts || v_ts;
    ids := ids || v_ids;
    places := places || v_places;
    blocks := blocks || array_fill(v_block.block_id, array[v_records]);
    v_sizes := v_sizes || array_fill(v_block.weight / v_block.records, array[v_records]);
  end loop;
  execute format(
    $query$
      select array_agg(l.ts) as ts, array_agg(l.id) as ids, array_agg(l.size) as sizes
      from (
        select r.ts, r.id, b.bytes + 7 * greatest(b.bytes - 2000, 0) as size
        from logloom.logs r
        cross join lateral (
          select coalesce(r.record_bytes, octet_length(to_json(r)::text))::bigint as bytes
        ) b
        where r.tenant_id = %L and %s
        order by r.ts, r.id
        limit %s
      ) l
    $query$,
    p_pass.tenant_id, v_filter, v_settings.seal_block_records
  )
  into v_ts, v_ids, v_row_sizes;
  select array_agg(k.ts), array_agg(k.id), array_agg(k.block), array_agg(k.place)
  into ts, ids, blocks, places
  from (
    select
      u.*, row_number() over w as n, sum(u.size) over w as size_through
    from (
      select b.ts, b.id, b.block, b.place, b.size
      from unnest(ts, ids, blocks, places, v_sizes) b (ts, id, block, place, size)
      union all
      select l.ts, l.id, null, null, l.size
      from unnest(v_ts, v_ids, v_row_sizes) l (ts, id, size)
    ) u
    where u.ts < v_end
    window w as (order by u.ts, u.id)
  ) k
  where k.n = 1
    or k.n <= v_settings.seal_block_records and k.size_through <= v_settings.seal_block_bytes;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_records (
  p_pass logloom_private.archive_passes
)
  RETURNS logloom.logs[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_found constant record := logloom_private.archive_places(p_pass);
  v_last constant integer := cardinality(v_found.ts);
  v_sql text;
  v_records logloom.logs[];
begin
  if v_last is null then
    return null;
  end if;
  select string_agg(p.sql, ' union all ' order by p.block) into v_sql
  from (
    select
      f.block,
      case
        when f.block is null then format(
          'select r.* from logloom.logs r where r.tenant_id = %L and %s '
            || 'and (r.ts, r.id) <= (%L::timestamptz, %L::uuid)',
          p_pass.tenant_id, logloom_private.archive_filter_sql(p_pass, 'r'),
          v_found.ts[v_last], v_found.ids[v_last]
        )
        else format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          p_pass.tenant_id, f.block, array_agg(f.place order by f.place)
        )
      end as sql
    from unnest(v_found.blocks, v_found.places) f (block, place)
    group by f.block
  ) p;
  execute format('select array_agg(s) from (%s) s', v_sql) into v_records;
  if cardinality(v_records) <> v_last then
    raise sqlstate 'LL001' using message = 'Records to archive are not those that were found';
  end if;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_span (
  p_day            date,
  p_retention_days integer,
  OUT              first_day date,
  OUT              last_day date
)
  RETURNS record
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_month constant date := date_trunc('month', p_day::timestamp);
  v_month_end constant date := v_month + interval '1 month' - interval '1 day';
  v_week constant integer := least((p_day - v_month) / 7, 3);
begin
  if p_retention_days >= 28 then
    first_day := v_month;
    last_day := v_month_end;
  elsif p_retention_days >= 7 then
    first_day := v_month + 7 * v_week;
    last_day := case when v_week = 3 then v_month_end else first_day + 6 end;
  else
    first_day := p_day;
    last_day := p_day;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  elsif logloom_private.plan_archive(clock_timestamp()) then
    return interval '0';
  end if;
  perform logloom_private.expire_archive(clock_timestamp());
  if logloom_private.archive_has_work() then
    perform logloom_private.wake_archive();
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_tenant_name (
  p_tenant_id text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := (
    select string_agg(
      case
        when c.letter ~ '^[A-Za-z0-9_-]$' then c.letter
        else upper(regexp_replace(encode(convert_to(c.letter, 'UTF8'), 'hex'), '(..)', '%\1', 'g'))
      end,
      '' order by c.n
    )
    from regexp_split_to_table(p_tenant_id, '') with ordinality c (letter, n)
  );
begin
  if length(v_name) > 500 then
    return '~' || encode(sha256(convert_to(p_tenant_id, 'UTF8')), 'hex');
  end if;
  return v_name;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archived_records (
  p_part    logloom.archive_parts,
  p_records jsonb
)
  RETURNS logloom.logs[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_records logloom.logs[];
begin
  select array_agg(r order by i.n) into v_records
  from jsonb_array_elements(p_records) with ordinality i (item, n)
  cross join jsonb_populate_record(
    null::logloom.logs,
    i.item || jsonb_build_object('tenant_id', p_part.tenant_id, 'write_seq', p_part.write_seq)
  ) r;
  if cardinality(v_records) is distinct from p_part.records then
    raise sqlstate 'LL001' using message = format(
      'The file %s has %s records, not %s', p_part.object_key,
      coalesce(cardinality(v_records), 0), p_part.records
    );
  end if;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archiving_tenants()
  RETURNS SETOF text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
  union
  select k.tenant_id from logloom_private.kept_longer k where k.kept_until > now();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.awaits_archive (
  p_tenant_id text,
  p_day       date,
  p_today     date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_first_day date;
begin
  if exists (
    select
    from logloom_private.kept_longer k
    where k.tenant_id = p_tenant_id and k.kept_until > now()
      and p_day between k.first_day and k.last_day
  ) then
    return true;
  elsif not exists (
    -- A tenant that is gone, or going, leaves no files.
    select
    from logloom.tenants t
    join logloom.plans p on p.plan_id = t.plan_id
    where t.tenant_id = p_tenant_id and p.archive_days > 0
  ) or logloom_private.is_being_deleted(p_tenant_id) then
    return false;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  if v_settings.archive_overtaken = 'drop'
    and logloom_private.day_start(
      p_day + logloom_private.retention_days(p_tenant_id) + 1
    ) + v_settings.archive_grace <= logloom_private.day_start(p_today)
  then
    return false;
  end if;
  v_first_day := least(
    p_day,
    (
      select logloom_private.utc_day(min(c.first_ts))
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
    )
  );
  return exists (
    select
    from generate_series(0, p_day - v_first_day) d (n)
    where not logloom_private.is_archived(p_tenant_id, p_day - d.n)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_archive_erasure (
  p_run_id       uuid,
  p_tenant_id    text,
  p_query_dsl    text,
  p_requested_at timestamp with time zone,
  p_from         timestamp with time zone,
  p_to           timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom_private.archive_erasures (
    run_id, tenant_id, query_dsl, requested_at, ts_from, ts_to
  )
  values (p_run_id, p_tenant_id, p_query_dsl, p_requested_at, p_from, p_to)
  on conflict (run_id) do nothing;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_archive_work()
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads records or changes the archive
declare
  v_settings logloom_private.settings;
  v_expires_at timestamptz;
  v_claim logloom_private.archive_claims;
  v_work json;
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  v_expires_at := clock_timestamp() + v_settings.archive_claim_lifetime;
  -- One claim at a time is made; what it reads is long.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.expires_at < clock_timestamp()
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  v_work := logloom_private.claim_bucket_work(v_settings, v_expires_at);
  if v_work is null and (
    select b.problem is null and b.bucket = v_settings.archive_bucket
      and b.prefix = v_settings.archive_prefix
    from logloom_private.archive_bucket b
  ) then
    v_work := coalesce(
      logloom_private.claim_restore(v_expires_at)::json,
      logloom_private.claim_erasure(v_expires_at)::json,
      logloom_private.claim_write(v_expires_at)
    );
  end if;
  if v_work is null then
    return null;
  end if;
  return json_build_object(
    'bucket', v_settings.archive_bucket, 'prefix', v_settings.archive_prefix, 'work', v_work
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_bucket_work (
  p_settings   logloom_private.settings,
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_bucket logloom_private.archive_bucket;
  v_keys text[];
  v_part logloom.archive_parts;
  v_work jsonb;
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (p_settings.archive_bucket, p_settings.archive_prefix)
    or v_bucket.checked_at is null
    or v_bucket.checked_at < now() - (
      case when v_bucket.problem is null then interval '1 day' else interval '1 minute' end
    )
  then
    v_work := jsonb_build_object('kind', 'check', 'installation_id', v_bucket.installation_id);
  elsif v_bucket.problem is not null then
    return null;
  else
    v_keys := array(
      select g.object_key
      from logloom_private.archive_garbage g
      where g.next_attempt_at <= clock_timestamp()
      order by g.next_attempt_at
      limit 50
    );
    select p.* into v_part
    from logloom.archive_parts p
    where p.newer_key is not null
    order by p.part_id
    limit 1;
    if found then
      v_work := logloom_private.archive_part_work(v_part)
        || jsonb_build_object('kind', 'adopt', 'key', v_part.newer_key);
    elsif v_keys <> '{}' then
      v_work := jsonb_build_object('kind', 'delete', 'keys', v_keys);
    elsif v_bucket.compared_through is not null or v_bucket.compared_at is null
      or v_bucket.compared_at < now() - p_settings.archive_compare_every
    then
      v_work := jsonb_build_object('kind', 'compare', 'after', v_bucket.compared_through);
    else
      return null;
    end if;
  end if;
  insert into logloom_private.archive_claims (tenant_id, kind, part_id, object_key, expires_at)
  values (
    '', v_work ->> 'kind', (v_work ->> 'part_id')::uuid, v_work ->> 'key', p_expires_at
  )
  on conflict do nothing
  returning v_work || jsonb_build_object('claim_id', claim_id) into v_work;
  return v_work;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_erasure (
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_claim_id uuid;
begin
  for v_erasure in
    select e.*
    from logloom_private.archive_erasures e
    where e.finished_at is null and e.parts_through is not null
      and e.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = e.tenant_id
      )
    order by e.next_attempt_at
    limit 10
  loop
    if logloom_private.end_archive_erasure(v_erasure.run_id) then
      continue;
    end if;
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id and p.status = 'verified'
      and p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
      and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
    order by p.number
    limit 1;
    if not found then
      -- It waits for objects that are to be deleted, and lets others have their turn.
      update logloom_private.archive_erasures e
      set next_attempt_at = clock_timestamp() + interval '5 seconds'
      where e.run_id = v_erasure.run_id;
      continue;
    end if;
    insert into logloom_private.archive_claims (
      tenant_id, kind, part_id, run_id, object_key, expires_at
    )
    values (
      v_erasure.tenant_id, 'erase', v_part.part_id, v_erasure.run_id,
      logloom_private.archive_key(
        jsonb_populate_record(
          v_part, jsonb_build_object('generation', v_part.generation + 1)
        )
      ),
      p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part) || jsonb_build_object(
      'kind', 'erase', 'claim_id', v_claim_id,
      'new_key', (
        select c.object_key from logloom_private.archive_claims c where c.claim_id = v_claim_id
      )
    );
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_restore (
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_restore logloom.archive_restores;
  v_part logloom.archive_parts;
  v_claim_id uuid;
begin
  for v_restore in
    select r.*
    from logloom.archive_restores r
    where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = r.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = r.tenant_id and e.finished_at is null
      )
    order by r.next_attempt_at
    limit 10
  loop
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_restore.tenant_id and p.status <> 'draft'
      and p.number > v_restore.position_number
      and p.last_ts >= v_restore.ts_from and p.first_ts < v_restore.ts_to
    order by p.number
    limit 1;
    if not found then
      perform logloom_private.end_restore(v_restore.restore_id, null);
      continue;
    elsif v_part.status = 'missing' then
      perform logloom_private.end_restore(
        v_restore.restore_id, format('The bucket has the file %s no more', v_part.object_key)
      );
      continue;
    end if;
    insert into logloom_private.archive_claims (tenant_id, kind, part_id, run_id, expires_at)
    values (
      v_restore.tenant_id, 'restore', v_part.part_id, v_restore.restore_id, p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'restore', 'claim_id', v_claim_id);
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_write (
  p_expires_at timestamp with time zone
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_pass logloom_private.archive_passes;
  v_records logloom.logs[];
  v_part logloom.archive_parts;
  v_claim logloom_private.archive_claims;
begin
  loop
    select p.* into v_pass
    from logloom_private.archive_passes p
    where p.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = p.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = p.tenant_id and e.finished_at is null
      )
    order by p.next_attempt_at
    limit 1
    for update skip locked;
    if not found then
      return null;
    end if;
    v_records := logloom_private.archive_records(v_pass);
    exit when v_records is not null;
    perform logloom_private.end_archive_pass(v_pass);
  end loop;
  v_part.part_id := gen_random_uuid();
  v_part.tenant_id := v_pass.tenant_id;
  v_part.first_day := v_pass.first_day;
  v_part.last_day := v_pass.last_day;
  v_part.generation := 1;
  insert into logloom.archive_parts (
    part_id, tenant_id, first_day, last_day, write_seq, object_key, status
  )
  values (
    v_part.part_id, v_pass.tenant_id, v_pass.first_day, v_pass.last_day, v_pass.write_seq,
    logloom_private.archive_key(v_part), 'draft'
  )
  returning * into v_part;
  insert into logloom_private.archive_claims (
    tenant_id, kind, part_id, object_key, records, first_ts, last_ts, last_id, expires_at
  )
  select
    v_pass.tenant_id, 'write', v_part.part_id, v_part.object_key, count(*), min(r.ts), max(r.ts),
    (array_agg(r.id order by r.ts desc, r.id desc))[1], p_expires_at
  from unnest(v_records) r
  returning * into v_claim;
  return json_build_object(
    'kind', 'write', 'claim_id', v_claim.claim_id, 'tenant_id', v_part.tenant_id,
    'part_id', v_part.part_id, 'key', v_part.object_key, 'records', v_claim.records,
    'first_day', v_part.first_day, 'last_day', v_part.last_day, 'generation', v_part.generation,
    'columns', logloom_private.archive_columns(v_records)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_archive (
  p_page jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_after text;
  v_through constant text := p_page ->> 'through';
begin
  select s.* into v_settings from logloom_private.settings s;
  select coalesce(b.compared_through, '') into v_after from logloom_private.archive_bucket b;
  update logloom.archive_parts p
  set newer_key = k.key
  from jsonb_to_recordset(p_page -> 'keys') k (key text)
  where p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
    and substring(k.key from '_([0-9]{1,9})\.parquet$')::integer > p.generation
    and p.status <> 'draft'
    and not exists (
      select from logloom_private.archive_claims c where c.part_id = p.part_id
    );
  insert into logloom_private.archive_garbage (object_key, tenant_id, reason)
  select k.key, coalesce(p.tenant_id, ''), 'unknown'
  from jsonb_to_recordset(p_page -> 'keys') k (key text, age integer)
  left join logloom.archive_parts p
    on p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
  where k.age > 86400
    and not exists (
      select from logloom.archive_parts x where k.key in (x.object_key, x.newer_key)
    )
    and k.key like format('%s/v1/tenant=%%', v_settings.archive_prefix)
  on conflict (object_key) do nothing;
  update logloom.archive_parts p
  set status = case when p.status = 'verified' then 'missing' else 'verified' end
  where p.verified_at < now() - interval '1 day'
    and p.object_key collate "C" > v_after collate "C"
    and (v_through is null or p.object_key collate "C" <= v_through collate "C")
    and (p.status = 'verified') <> (
      p.object_key in (
        select k.key from jsonb_to_recordset(p_page -> 'keys') k (key text)
      )
    )
    and p.status <> 'draft' and p.newer_key is null;
  update logloom_private.archive_bucket b
  set compared_through = v_through,
    compared_at = case when v_through is null then clock_timestamp() else b.compared_at end
  where b.singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_archive_anew()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claim logloom_private.archive_claims;
begin
  for v_claim in select c.* from logloom_private.archive_claims c loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  update logloom_private.archive_bucket b
  set checked_at = null, planned_at = null, planned_through = null, compared_at = null,
    compared_through = null
  where b.singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.day_is_kept (
  p_day   date,
  p_today date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_nestloop TO 'off'
  AS $function$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
      or a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.days_to_archive (
  p_tenant_id text,
  p_now       timestamp with time zone
)
  RETURNS SETOF date
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select d.day
  from (
    select l.day
    from logloom_private.log_days l
    left join logloom_private.archived_days a
      on a.tenant_id = l.tenant_id and a.day = l.day
    where l.tenant_id = p_tenant_id
      and (
        a.write_seq is null
        or a.write_seq < (
          select max(w.write_seq) from logloom_private.log_writes w where w.day = l.day
        )
      )
    union
    select logloom_private.utc_day(c.first_ts) + n.n
    from logloom_private.blocks c
    cross join generate_series(
      0, logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
    ) n (n)
    left join logloom_private.archived_days a
      on a.tenant_id = c.tenant_id and a.day = logloom_private.utc_day(c.first_ts) + n.n
    where c.tenant_id = p_tenant_id and c.last_write_seq > coalesce(a.write_seq, -1)
  ) d
  cross join logloom_private.settings s
  where logloom_private.day_start(d.day + 1) + greatest(s.archive_after, s.seal_after) <= p_now
  order by d.day;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_archive()
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claim logloom_private.archive_claims;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  -- Nothing more is archived.
  update logloom.plans p set archive_days = 0 where p.archive_days > 0;
  delete from logloom_private.archive_passes p where true;
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.kind <> 'delete'
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  update logloom.archive_restores r
  set status = 'failed', error = 'The archive is deleted', finished_at = clock_timestamp()
  where r.status in ('queued', 'running');
  with gone as (
    delete from logloom.archive_parts p where true
    returning p.tenant_id, p.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select g.tenant_id, g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  update logloom_private.archive_garbage g set next_attempt_at = clock_timestamp() where true;
  return (select count(*) from logloom_private.archive_garbage);
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
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- Nothing comes between the look at what is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, v_settings.retention_step_tenants
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
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

CREATE OR REPLACE FUNCTION logloom_private.deletion_step (
  p_run_id uuid
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run logloom.retention_runs;
  v_query logloom_private.compiled_query;
  v_from timestamptz;
  v_day date;
  v_day_end timestamptz;
  v_rows text;
  v_end logloom_private.log_key;
  v_block_id bigint;
  v_dead_letters integer := 0;
  v_deleted integer := 0;
begin
  select r.* into v_run from logloom.retention_runs r where r.run_id = p_run_id for no key update;
  insert into logloom_private.deletion_turns as t (tenant_id, served_at)
  values (v_run.tenant_id, clock_timestamp())
  on conflict (tenant_id) do update set served_at = excluded.served_at;
  v_query := logloom_private.compile_query(v_run.query_dsl, v_run.requested_at);
  perform logloom_private.begin_archive_erasure(
    v_run.run_id, v_run.tenant_id, v_run.query_dsl, v_run.requested_at, v_run.ts_from, v_run.ts_to
  );
  if v_run.position_ts is null then
    v_dead_letters := logloom_private.delete_dead_letters(v_run, v_query.filter);
  end if;

  -- A day of the tenant at a time: a statement opens one partition.
  v_from := coalesce(v_run.position_ts, v_run.ts_from);
  select min(d.day) into v_day
  from logloom_private.log_days d
  where d.tenant_id = v_run.tenant_id
    and d.day between logloom_private.utc_day(v_from) and logloom_private.utc_day(v_run.ts_to);
  v_day_end := least(v_run.ts_to, logloom_private.day_start(v_day + 1));
  if v_day is not null and v_day_end > v_from then
    v_from := greatest(v_from, logloom_private.day_start(v_day));
    v_rows := logloom_private.tenant_rows_sql(
      v_run.tenant_id, v_from, v_day_end,
      case
        when v_run.position_ts is null then 'true'
        else format(
          '(l.ts, l.id) > (%L::timestamptz, %L::uuid)', v_run.position_ts, v_run.position_id
        )
      end
    );
    v_end := logloom_private.rows_end(v_rows);
    if v_end.ts is null then
      -- Nothing is left of the day: the next step begins with the day after.
      v_end := (v_day_end, '00000000-0000-0000-0000-000000000000');
    else
      execute logloom_private.removed_records_sql(format(
        'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)
         and (%s)',
        v_rows, v_end.ts, v_end.ts, v_end.id, v_query.filter
      ))
      into v_deleted;
    end if;
  else
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_run.tenant_id
      and c.last_ts >= v_run.ts_from and c.first_ts < v_run.ts_to
      and c.block_id > coalesce(v_run.position_block, 0);
    v_deleted := logloom_private.delete_from_block(v_block_id, v_run, v_query);
  end if;
  update logloom.retention_runs r
  set status = 'running',
    records = r.records + v_dead_letters + v_deleted,
    position_ts = coalesce(v_end.ts, r.position_ts),
    position_id = coalesce(v_end.id, r.position_id),
    position_block = coalesce(v_block_id, r.position_block)
  where r.run_id = p_run_id;
  return v_end.ts is not null or v_block_id is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.discard_object (
  p_tenant_id  text,
  p_object_key text,
  p_reason     text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  values (p_tenant_id, p_object_key, p_reason)
  on conflict (object_key) do nothing;
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
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants
      -- Something came that is to be archived.
      or logloom_private.day_is_kept(p_day, p_today)
    then
      return 'busy';
    end if;
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

CREATE OR REPLACE FUNCTION logloom_private.end_archive_erasure (
  p_run_id uuid
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_erasure logloom_private.archive_erasures;
begin
  update logloom_private.archive_erasures e
  set parts_through = coalesce(
    e.parts_through,
    (
      select max(p.number) from logloom.archive_parts p where p.tenant_id = e.tenant_id
    ),
    0
  )
  where e.run_id = p_run_id
  returning * into v_erasure;
  if not found or v_erasure.finished_at is not null then
    return true;
  elsif exists (
    select
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id
      and (
        p.status = 'draft'
        or p.status = 'verified'
          and p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
          and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
      )
  ) or exists (
    -- Objects without a row, of which nobody knows what they hold.
    select from logloom_private.archive_garbage g where g.tenant_id = v_erasure.tenant_id
  ) then
    return false;
  end if;
  update logloom_private.archive_erasures e
  set finished_at = clock_timestamp(), error = null
  where e.run_id = p_run_id;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_archive_pass (
  p_pass logloom_private.archive_passes
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
  select p_pass.tenant_id, p_pass.first_day + d.n, p_pass.write_seq
  from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
  on conflict (tenant_id, day) do update
  set write_seq = greatest(a.write_seq, excluded.write_seq);
  delete from logloom_private.archive_passes p where p.tenant_id = p_pass.tenant_id;
  if p_pass.tenant_id in (select a from logloom_private.tenants_to_archive() a) then
    perform logloom_private.plan_archive_pass(p_pass.tenant_id, now());
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_restore (
  p_restore_id uuid,
  p_error      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_restore logloom.archive_restores;
begin
  update logloom.archive_restores r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error, finished_at = clock_timestamp()
  where r.restore_id = p_restore_id
  returning * into v_restore;
  if p_error is not null then
    delete from logloom_private.kept_longer k where k.kept_id = p_restore_id;
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_restore.tenant_id, v_restore.requested_by, 'logs.restore_finished',
    p_restore_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'status', v_restore.status, 'records', v_restore.records, 'error', p_error
    ))
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.erasure_does_not_reach (
  p_run logloom.retention_runs
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
          'sent_to', s.last_success_at
        )
        order by s.created_at, s.stream_id
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.sent_records > 0
    ),
    '[]'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.expire_archive (
  p_now timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  with gone as (
    delete from logloom.archive_parts p
    where p.part_id = any (array(
      select x.part_id
      from logloom.archive_parts x
      join logloom.tenants t on t.tenant_id = x.tenant_id
      join logloom.plans l on l.plan_id = t.plan_id
      where l.archive_days > 0 and x.status <> 'draft'
        and x.last_day < logloom_private.utc_day(p_now) - l.archive_days
        and not exists (
          select from logloom_private.archive_claims c where c.part_id = x.part_id
        )
      limit 1000
    ))
    returning p.tenant_id, p.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select g.tenant_id, g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  -- Long past every claim that they are asked about.
  delete from logloom_private.archive_erasures e where e.finished_at < p_now - interval '1 day';
  delete from logloom_private.kept_longer k where k.kept_until < p_now;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.expired_tenants (
  p_day   date,
  p_today date,
  p_after text,
  p_limit integer
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_nestloop TO 'off'
  AS $function$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
      and not (
        a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
      )
    order by d.tenant_id
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.finish_deletion (
  p_run_id uuid,
  p_error  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run logloom.retention_runs;
  v_archive constant record := logloom_private.take_archive_erasure(p_run_id);
begin
  update logloom.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    archive_records = v_archive.records,
    archive_files = v_archive.files,
    not_reached = logloom_private.erasure_does_not_reach(r),
    finished_at = clock_timestamp()
  where r.run_id = p_run_id
  returning * into v_run;
  delete from logloom_private.deletion_turns t
  where t.tenant_id = v_run.tenant_id
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = v_run.tenant_id and r.kind = 'erasure'
        and r.status in ('queued', 'running')
    );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_run.tenant_id, v_run.requested_by, 'logs.deletion_finished', v_run.run_id::text,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status', v_run.status, 'records', v_run.records,
        'archive_records', v_run.archive_records, 'archive_files', v_run.archive_files,
        'error', v_run.error
      )
    )
  );
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
        'put_back_delivery', 'read_archive', 'read_alert_history', 'read_alert_rules', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_page', 'read_log_series', 'read_log_stats',
        'read_log_tail', 'read_members', 'read_query_validity', 'read_saved_search',
        'read_saved_searches', 'reads_again', 'reads_only', 'refuse_for_now',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_view', 'replace_webhook_secret',
        'request_deletion', 'request_restore',
        'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'tags_are_valid',
        'tenant_with_plan', 'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'ingest', 'ingest_each', 'match_archive',
        'open_portal_session', 'read_by_key',
        'read_health', 'run_writer_in_place', 'settle_archive_work', 'settle_claim'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_archived (
  p_tenant_id text,
  p_day       date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_has_more boolean;
begin
  if exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq > v_write_seq
      and c.last_ts >= logloom_private.day_start(p_day)
      and c.first_ts < logloom_private.day_start(p_day + 1)
  ) then
    return false;
  elsif not logloom_private.partition_exists(p_day) then
    return true;
  end if;
  execute format(
    'select exists (select from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
      || 'and l.ts < %L::timestamptz and l.write_seq > %s)',
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), v_write_seq
  )
  into v_has_more;
  return not v_has_more;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_day_of_its_own (
  p_tenant_id text,
  p_day       date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_wanted constant integer := (select s.seal_day_records from logloom_private.settings s);
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_rows bigint;
begin
  if (
    select coalesce(sum(c.records), 0) >= v_wanted
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.first_ts >= v_from and c.last_ts < v_to
      and c.first_write_seq > v_write_seq
  ) then
    return true;
  end if;
  execute format(
    'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and l.write_seq > %s limit %s) l',
    p_tenant_id, v_from, v_to, v_write_seq, v_wanted
  )
  into v_rows;
  return v_rows >= v_wanted;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.kept_from (
  p_tenant_id text,
  p_from      timestamp with time zone DEFAULT '-infinity'::timestamp WITH time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from timestamptz;
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  v_from := date_trunc('day', now(), 'UTC')
    - make_interval(hours => 24 * logloom_private.retention_days(p_tenant_id));
  if p_from < v_from then
    -- What is older still is there where it was brought back.
    v_from := least(
      v_from,
      (
        select logloom_private.day_start(min(k.first_day))
        from logloom_private.kept_longer k
        where k.tenant_id = p_tenant_id and k.kept_until > now()
      )
    );
  end if;
  return greatest(p_from, v_from);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.match_archive (
  p_claim_id uuid,
  p_records  jsonb
)
  RETURNS integer[]
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_claim logloom_private.archive_claims;
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_query logloom_private.compiled_query;
  v_records logloom.logs[];
  v_found integer[];
begin
  select c.* into v_claim
  from logloom_private.archive_claims c
  where c.claim_id = p_claim_id and c.kind = 'erase'
  for update;
  if not found then
    perform logloom_private.refuse('archive.claim_not_found');
  end if;
  select e.* into v_erasure
  from logloom_private.archive_erasures e
  where e.run_id = v_claim.run_id;
  select p.* into v_part from logloom.archive_parts p where p.part_id = v_claim.part_id;
  v_records := logloom_private.archived_records(v_part, p_records);
  v_query := logloom_private.compile_query(v_erasure.query_dsl, v_erasure.requested_at);
  execute format(
    $query$
      select coalesce(array_agg(l.place order by l.place), '{}')
      from (select r.*, row_number() over ()::integer - 1 as place from unnest($1) r) l
      where l.ts >= %L::timestamptz and l.ts < %L::timestamptz and (%s)
    $query$,
    v_erasure.ts_from, v_erasure.ts_to, v_query.filter
  )
  into v_found
  using v_records;
  update logloom_private.archive_claims c
  set records = v_part.records - cardinality(v_found), first_ts = k.first_ts, last_ts = k.last_ts
  from (
    select min(r.ts) as first_ts, max(r.ts) as last_ts
    from unnest(v_records) with ordinality r
    where r.ordinality - 1 <> all (v_found)
  ) k
  where c.claim_id = p_claim_id;
  return v_found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_deletion()
  RETURNS uuid
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select o.run_id
    from (
      select distinct on (r.tenant_id) r.tenant_id, r.run_id, r.requested_at
      from logloom.retention_runs r
      where r.kind = 'erasure' and r.status in ('queued', 'running')
        -- Not before everything that was acknowledged before the request is a record.
        and r.requested_at < coalesce(
          (logloom_private.queue_state()).oldest_received_at, 'infinity'
        )
        and not logloom_private.waits_for_archive(r.run_id)
      order by r.tenant_id, r.requested_at, r.run_id
    ) o
    left join logloom_private.deletion_turns t on t.tenant_id = o.tenant_id
    order by t.served_at nulls first, o.requested_at, o.run_id
    limit 1
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
    'claim_log_archive_work',
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
    'list_log_archive',
    'list_log_archive_restores',
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
    'match_log_archive',
    'open_log_portal_session',
    'preview_alert_rule',
    'read_logs',
    'remove_tenant_member',
    'restore_log_archive',
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
    'settle_log_archive_work',
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

CREATE OR REPLACE FUNCTION logloom_private.plan_archive (
  p_now timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_bucket logloom_private.archive_bucket;
  v_tenants text[];
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if v_bucket.planned_through is null and v_bucket.planned_at > p_now - (
    select s.archive_plan_every from logloom_private.settings s
  ) then
    return false;
  end if;
  v_tenants := array(
    select t
    from logloom_private.tenants_to_archive() t
    where t > coalesce(v_bucket.planned_through, '')
    order by t
    limit 100
  );
  perform logloom_private.plan_archive_pass(t.tenant_id, p_now)
  from unnest(v_tenants) t (tenant_id);
  update logloom_private.archive_bucket b
  set planned_through = v_tenants[100],
    planned_at = case when v_tenants[100] is null then p_now else b.planned_at end
  where b.singleton;
  return v_tenants[100] is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.plan_archive_pass (
  p_tenant_id text,
  p_now       timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_retention constant integer := logloom_private.retention_days(p_tenant_id);
  v_write_seq constant bigint :=
    coalesce((select max(w.write_seq) from logloom_private.log_writes w), 0);
  v_day date;
  v_span record;
  -- Small days up to this one wait for the end of their month.
  v_waits_through date := '-infinity';
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (
    select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
  ) then
    return true;
  end if;
  for v_day in select d from logloom_private.days_to_archive(p_tenant_id, p_now) d loop
    if logloom_private.is_archived(p_tenant_id, v_day) then
      insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
      values (p_tenant_id, v_day, v_write_seq)
      on conflict (tenant_id, day) do update
      set write_seq = greatest(a.write_seq, excluded.write_seq);
      continue;
    end if;
    if logloom_private.is_day_of_its_own(p_tenant_id, v_day) then
      select v_day as first_day, v_day as last_day into v_span;
    else
      continue when v_day <= v_waits_through;
      v_span := logloom_private.archive_span(v_day, v_retention);
    end if;
    if logloom_private.day_start(v_span.last_day + 1)
      + greatest(v_settings.archive_after, v_settings.seal_after) > p_now
    then
      v_waits_through := v_span.last_day;
      continue;
    end if;
    insert into logloom_private.archive_passes (tenant_id, first_day, last_day, write_seq)
    values (p_tenant_id, v_span.first_day, v_span.last_day, v_write_seq);
    return true;
  end loop;
  return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_archive (
  p_tenant_id text,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_archive_part
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles do not read logloom_private.settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_after logloom.archive_parts;
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  select p.* into v_after
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.part_id = p_after and p.status <> 'draft';
  if p_after is not null and v_after.part_id is null then
    perform logloom_private.refuse('parameters.no_such_place', 'file', 'part_id');
  end if;
  return query
  select
    p.part_id, p.tenant_id, p.first_day, p.last_day, p.first_ts, p.last_ts, p.records, p.bytes,
    p.status, p.verified_at, s.archive_bucket, p.object_key, p.sha256
  from logloom.archive_parts p
  cross join logloom_private.settings s
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and (p_after is null or (p.last_day, p.number) < (v_after.last_day, v_after.number))
  order by p.last_day desc, p.number desc
  limit p_limit;
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
    'archive', logloom_private.archive_health(v_now),
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

CREATE OR REPLACE FUNCTION logloom_private.read_records (
  p_sql  text,
  p_rows logloom.logs[] DEFAULT NULL::logloom.logs[]
)
  RETURNS logloom_private.record_arrays
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_records logloom_private.record_arrays;
begin
  execute format(
    $query$
      select
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.write_seq), array_agg(r.id),
        array_agg(r.service), array_agg(r.level), array_agg(r.msg), array_agg(r.attrs),
        array[%s]
      from (select s.* from (%s) s order by s.ts, s.id) r
    $query$,
    (
      select string_agg(
        format('row(array_agg(r.%I::text))::logloom_private.column_values', f.name), ', '
        order by f.n
      )
      from unnest(logloom_private.column_fields()) with ordinality f (name, n)
    ),
    p_sql
  )
  into v_records
  using p_rows;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.release_archive_claim (
  p_claim logloom_private.archive_claims,
  p_error text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_error constant text := left(coalesce(p_error, 'The function did not answer in time'), 500);
begin
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  case p_claim.kind
    when 'write' then
      delete from logloom.archive_parts p
      where p.part_id = p_claim.part_id and p.status = 'draft';
      perform logloom_private.discard_object(p_claim.tenant_id, p_claim.object_key, 'abandoned');
      update logloom_private.archive_passes p
      set failures = p.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(p.failures)
      where p.tenant_id = p_claim.tenant_id;
    when 'erase' then
      -- The next attempt writes the same key.
      update logloom_private.archive_erasures e
      set failures = e.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(e.failures)
      where e.run_id = p_claim.run_id;
    when 'restore' then
      update logloom.archive_restores r
      set failures = r.failures + 1, error = v_error,
        next_attempt_at = now() + logloom_private.archive_delay(r.failures)
      where r.restore_id = p_claim.run_id;
      if (
        select r.failures >= 10 from logloom.archive_restores r where r.restore_id = p_claim.run_id
      ) then
        perform logloom_private.end_restore(p_claim.run_id, v_error);
      end if;
    when 'adopt' then
      -- As if it were not there: the next comparison finds it again.
      update logloom.archive_parts p set newer_key = null where p.part_id = p_claim.part_id;
    else
      update logloom_private.archive_bucket b
      set checked_at = now(), problem = v_error
      where b.singleton and p_error is not null;
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.repair()
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.hold_writers();
  perform logloom_private.grant_operations();
  perform logloom_private.adopt_pre_request();
  perform logloom_private.align_sequences();
  perform logloom_private.manage_partitions();
  perform logloom_private.maintain_partitions();
  perform logloom_private.schedule_jobs();
  perform logloom_private.compare_archive_anew();
  update logloom_private.installation
  set own_oid = 'logloom_private.installation'::regclass
  where singleton;
  return 'repaired';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_restore (
  p_from      text,
  p_to        text,
  p_query_dsl text,
  p_keep_days integer,
  p_tenant_id text
)
  RETURNS public.logloom_archive_restore
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles neither compile queries nor write restores
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_settings logloom_private.settings;
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_restored_days;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_found record;
  v_days integer;
  v_restore logloom.archive_restores;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  select s.* into v_settings from logloom_private.settings s;
  if make_interval(days => p_keep_days) not between interval '1 day'
    and v_settings.restored_days_lifetime_max
  then
    perform logloom_private.refuse(
      'archive.keep_days_are_out_of_range',
      (extract(epoch from v_settings.restored_days_lifetime_max) / 86400)::integer::text
    );
  end if;
  v_range := logloom_private.search_range(p_from, p_to);
  v_query := logloom_private.search_query(null, p_query_dsl, now(), 'filter');
  perform logloom_private.refuse_warnings(v_query);
  select
    count(*)::integer as parts,
    greatest(logloom_private.utc_day(min(p.first_ts)), logloom_private.utc_day(lower(v_range)))
      as first_day,
    least(
      logloom_private.utc_day(max(p.last_ts)),
      logloom_private.utc_day(upper(v_range) - interval '1 microsecond')
    ) as last_day
  into v_found
  from logloom.archive_parts p
  where p.tenant_id = v_tenant_id and p.status <> 'draft'
    and p.last_ts >= lower(v_range) and p.first_ts < upper(v_range);
  if v_found.parts = 0 then
    perform logloom_private.refuse('archive.nothing_in_range');
  end if;
  -- Requests at once are counted one after another.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'), hashtext(v_tenant_id));
  v_days := v_found.last_day - v_found.first_day + 1 + (
    select coalesce(sum(k.last_day - k.first_day + 1), 0)
    from logloom_private.kept_longer k
    where k.tenant_id = v_tenant_id and k.kept_until > now()
  );
  if v_days > v_max then
    perform logloom_private.refuse('archive.too_many_days', v_max::text, v_days::text);
  end if;
  insert into logloom.archive_restores (
    tenant_id, requested_by, first_day, last_day, ts_from, ts_to, query_dsl, kept_until, parts
  )
  values (
    v_tenant_id, logloom_private.actor(), v_found.first_day, v_found.last_day, lower(v_range),
    upper(v_range), coalesce(p_query_dsl, ''), now() + make_interval(days => p_keep_days),
    v_found.parts
  )
  returning * into v_restore;
  insert into logloom_private.kept_longer (kept_id, tenant_id, first_day, last_day, kept_until)
  values (
    v_restore.restore_id, v_tenant_id, v_restore.first_day, v_restore.last_day,
    v_restore.kept_until
  );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_restore.requested_by, 'logs.restore_requested',
    v_restore.restore_id::text,
    jsonb_build_object(
      'query_dsl', v_restore.query_dsl, 'ts_from', v_restore.ts_from, 'ts_to', v_restore.ts_to,
      'kept_until', v_restore.kept_until
    )
  );
  return row(
    v_restore.restore_id, v_restore.tenant_id, v_restore.requested_by, v_restore.requested_at,
    v_restore.ts_from, v_restore.ts_to, v_restore.query_dsl, v_restore.kept_until,
    v_restore.status, v_restore.parts, v_restore.parts_done, v_restore.records, v_restore.bytes,
    v_restore.finished_at, v_restore.error
  )::public.logloom_archive_restore;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_deletion_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run_id uuid;
  v_more boolean;
  v_failed text;
begin
  -- One at a time deletes, retention too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    if logloom_private.delete_tenant_step() then
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    return null;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception
  when connection_exception or admin_shutdown then
    -- The node that has the records is away: it goes on from its place when that is back.
    raise;
  when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job(
      'run_deletions', clock_timestamp(), format('%s: %s', sqlstate, sqlerrm)
    );
  end;
  -- The files of the archive come last; until they are done the erasure is not.
  if not v_more and (v_failed is not null or logloom_private.end_archive_erasure(v_run_id)) then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
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
          'archive_logs', '5 seconds',
          'call logloom_private.run_job(''archive_logs'', ''logloom_private.archive_step()'')'
        ),
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

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'claim_alert_notifications',
    'claim_log_archive_work',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'match_log_archive',
    'open_log_portal_session',
    'read_logs',
    'run_writer',
    'settle_alert_notification',
    'settle_log_archive_work'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_archive_work (
  p_claim_id uuid,
  p_error    text,
  p_details  jsonb,
  p_records  jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role changes the archive
declare
  v_claim logloom_private.archive_claims;
begin
  -- No erasure goes a step, and no block is made or removed, meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  select c.* into v_claim
  from logloom_private.archive_claims c
  where c.claim_id = p_claim_id
  for update;
  if not found then
    return;
  elsif p_error is not null then
    perform logloom_private.release_archive_claim(v_claim, p_error);
    return;
  end if;
  case v_claim.kind
    when 'write' then perform logloom_private.settle_write(v_claim, p_details);
    when 'erase' then perform logloom_private.settle_erasure(v_claim, p_details);
    when 'restore' then perform logloom_private.settle_restore(v_claim, p_details, p_records);
    else perform logloom_private.settle_bucket_work(v_claim, p_details);
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_bucket_work (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  case p_claim.kind
    when 'check' then
      update logloom_private.archive_bucket b
      set bucket = s.archive_bucket, prefix = s.archive_prefix, checked_at = clock_timestamp(),
        problem = left(p_details ->> 'problem', 500)
      from logloom_private.settings s
      where b.singleton;
    when 'delete' then
      delete from logloom_private.archive_garbage g
      where g.object_key in (select jsonb_array_elements_text(p_details -> 'deleted'));
      update logloom_private.archive_garbage g
      set next_attempt_at = clock_timestamp() + interval '1 minute'
      where g.object_key in (select jsonb_array_elements_text(p_details -> 'left'));
    when 'compare' then
      perform logloom_private.compare_archive(p_details);
    when 'adopt' then
      perform logloom_private.adopt_archived(p_claim, p_details);
  end case;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_erasure (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_part logloom.archive_parts;
  v_left constant integer := p_claim.records;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id for update;
  if p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
  elsif v_left is null or (p_details ->> 'records')::integer is distinct from v_left then
    perform logloom_private.release_archive_claim(
      p_claim, 'The file has another number of records than the erasure leaves'
    );
    return;
  elsif v_left = 0 then
    delete from logloom.archive_parts p where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
  elsif v_left < v_part.records then
    update logloom.archive_parts p
    set generation = p.generation + 1, object_key = p_claim.object_key, records = v_left,
      first_ts = p_claim.first_ts, last_ts = p_claim.last_ts,
      bytes = (p_details ->> 'bytes')::bigint, sha256 = p_details ->> 'sha256',
      verified_at = clock_timestamp()
    where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
  end if;
  update logloom_private.archive_erasures e
  set position_number = v_part.number, failures = 0, error = null,
    next_attempt_at = clock_timestamp(),
    records = e.records + coalesce(v_part.records - v_left, 0),
    parts = e.parts + (coalesce(v_left < v_part.records, false))::integer
  where e.run_id = p_claim.run_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  perform logloom_private.end_archive_erasure(p_claim.run_id);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_restore (
  p_claim   logloom_private.archive_claims,
  p_details jsonb,
  p_records jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_part logloom.archive_parts;
  v_restore logloom.archive_restores;
  v_records integer;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id;
  select r.* into v_restore
  from logloom.archive_restores r
  where r.restore_id = p_claim.run_id and r.status in ('queued', 'running')
  for update;
  if v_restore.restore_id is null or v_part.part_id is null then
    delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
    return;
  elsif p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
    delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
    return;
  elsif logloom_private.was_erased_since(
    p_claim.tenant_id, p_claim.claimed_at, v_part.first_ts, v_part.last_ts
  ) then
    perform logloom_private.release_archive_claim(
      p_claim, 'Records were erased while the file was read'
    );
    return;
  end if;
  v_records := logloom_private.store_restored(v_part, v_restore, p_records);
  update logloom.archive_restores r
  set status = 'running', position_number = v_part.number, parts_done = r.parts_done + 1,
    records = r.records + v_records, bytes = r.bytes + v_part.bytes, failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where r.restore_id = v_restore.restore_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_write (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if (p_details ->> 'records')::integer is distinct from p_claim.records then
    perform logloom_private.release_archive_claim(
      p_claim, 'The file has another number of records than the database'
    );
    return;
  elsif logloom_private.was_erased_since(
    p_claim.tenant_id, p_claim.claimed_at, p_claim.first_ts, p_claim.last_ts
  ) then
    perform logloom_private.release_archive_claim(
      p_claim, 'Records were erased while the file was written'
    );
    return;
  end if;
  update logloom.archive_parts p
  set status = 'verified', records = p_claim.records, first_ts = p_claim.first_ts,
    last_ts = p_claim.last_ts, bytes = (p_details ->> 'bytes')::bigint,
    sha256 = p_details ->> 'sha256', verified_at = clock_timestamp()
  where p.part_id = p_claim.part_id and p.status = 'draft';
  update logloom_private.archive_passes p
  set position_ts = p_claim.last_ts, position_id = p_claim.last_id, failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where p.tenant_id = p_claim.tenant_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.store_restored (
  p_part    logloom.archive_parts,
  p_restore logloom.archive_restores,
  p_records jsonb
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.compile_query(p_restore.query_dsl, p_restore.requested_at);
  v_span constant integer :=
    logloom_private.block_days(logloom_private.retention_days(p_part.tenant_id));
  v_records logloom.logs[] := logloom_private.archived_records(p_part, p_records);
  v_there uuid[];
  v_from date;
  v_stored integer := 0;
begin
  v_there := array(
    select r.id
    from logloom_private.blocks c,
      logloom_private.block_records(c.tenant_id, c.block_id, null, array['id']) r
    where c.tenant_id = p_part.tenant_id and c.last_ts >= p_part.first_ts
      and c.first_ts <= p_part.last_ts
  );
  execute format(
    $query$
      select array_agg(l.record order by (l.record).ts, (l.record).id)
      from (
        select l as record
        from unnest($1) l
        left join unnest($2) t (id) on t.id = l.id
        where t.id is null and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and (%s)
      ) l
      where not exists (
        select
        from logloom.logs h
        where h.tenant_id = %L and h.ts >= %L::timestamptz and h.ts <= %L::timestamptz
          and h.ts = (l.record).ts and h.id = (l.record).id
      )
    $query$,
    p_restore.ts_from, p_restore.ts_to, v_query.filter, p_part.tenant_id, p_part.first_ts,
    p_part.last_ts
  )
  into v_records
  using v_records, v_there;
  for v_from in
    select distinct logloom_private.span_start(logloom_private.utc_day(r.ts), v_span)
    from unnest(v_records) r
    order by 1
  loop
    v_stored := v_stored + (
      logloom_private.write_block(
        p_part.tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest($1) r where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            logloom_private.day_start(v_from), logloom_private.day_start(v_from + v_span)
          ),
          v_records
        ),
        true
      )
    ).records;
  end loop;
  return v_stored;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_archive_erasure (
  p_run_id uuid,
  OUT      records bigint,
  OUT      files integer
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- The row stays a while: a file that was read before it ended is not kept. One that failed holds
  -- nothing up any more.
  update logloom_private.archive_erasures e
  set finished_at = coalesce(e.finished_at, clock_timestamp())
  where e.run_id = p_run_id
  returning e.records, e.parts into records, files;
  records := coalesce(records, 0);
  files := coalesce(files, 0);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_to_archive()
  RETURNS SETOF text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
    and not exists (
      select
      from logloom_private.tenant_deletions d
      where d.tenant_id = t.tenant_id and d.finished_at is null
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.waits_for_archive (
  p_run_id uuid
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select
    from logloom_private.archive_erasures e
    where e.run_id = p_run_id and e.parts_through is not null and e.finished_at is null
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.wake_archive()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.archive_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  select e.* into v_endpoint from logloom_private.archive_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.archive_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Archive-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Archive-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-archive answered %', v_status;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.was_erased_since (
  p_tenant_id text,
  p_since     timestamp with time zone,
  p_first_ts  timestamp with time zone,
  p_last_ts   timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select
    from logloom_private.archive_erasures e
    where e.tenant_id = p_tenant_id and coalesce(e.finished_at, 'infinity') > p_since
      and e.ts_from <= p_last_ts and e.ts_to > p_first_ts
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.claim_log_archive_work()
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '60s'
  AS $function$
begin
  return coalesce(
    logloom_private.claim_archive_work(), json_build_object('work', null)
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."claim_log_archive_work"() FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.get_tenant_usage (
  p_tenant_id text    DEFAULT NULL::text,
  p_months    integer DEFAULT NULL::integer
)
  RETURNS public.logloom_usage
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_tenant constant public.logloom_tenant := public.get_current_tenant(p_tenant_id);
  v_months constant integer := coalesce(p_months, 1);
  v_now constant timestamptz := now();
  v_month constant date := date_trunc('month', v_now at time zone 'UTC');
  v_from date;
  v_elapsed numeric;
  v_result public.logloom_usage;
begin
  if v_months not between 1 and 24 then
    perform logloom_private.refuse('usage.months_are_out_of_range');
  end if;
  v_from := v_month - make_interval(months => v_months - 1);

  v_result.tenant_id := v_tenant_id;
  v_result.month := to_char(v_month, 'YYYY-MM');
  v_result.monthly_events_limit := v_tenant.monthly_events_limit;
  v_result.monthly_bytes_limit := v_tenant.monthly_bytes_limit;
  v_result.resets_at := (v_month + interval '1 month') at time zone 'UTC';
  v_result.days := array(
    select row(u.day, u.events, u.bytes)::public.logloom_usage_day
    from logloom_private.my_usage(p_tenant_id, v_from) u
    order by u.day desc
  );
  v_result.months := array(
    select
      row(
        to_char(m.month, 'YYYY-MM'),
        coalesce(sum(d.events), 0),
        coalesce(sum(d.bytes), 0)
      )::public.logloom_usage_month
    from generate_series(v_from, v_month, interval '1 month') m (month)
    left join unnest(v_result.days) d on date_trunc('month', d.day) = m.month
    group by m.month
    order by m.month desc
  );
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  v_result.restored_records := (
    select coalesce(sum(r.records), 0)
    from logloom.archive_restores r
    where r.tenant_id = v_tenant_id
      and r.requested_at >= v_month::timestamp at time zone 'UTC'
  );
  v_result.events := (v_result.months[1]).events;
  v_result.bytes := (v_result.months[1]).bytes;
  v_result.events_percent :=
    round(100.0 * v_result.events / nullif(v_tenant.monthly_events_limit, 0), 2);
  v_result.bytes_percent :=
    round(100.0 * v_result.bytes / nullif(v_tenant.monthly_bytes_limit, 0), 2);
  -- As if the rest of the month went on like the month so far, of which at least a day has gone by.
  v_elapsed := greatest(extract(epoch from v_now - v_month::timestamp at time zone 'UTC'), 86400)
    / extract(epoch from v_result.resets_at - v_month::timestamp at time zone 'UTC');
  v_result.projected_events := greatest(v_result.events, round(v_result.events / v_elapsed));
  v_result.projected_bytes := greatest(v_result.bytes, round(v_result.bytes / v_elapsed));
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_archive (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_archive_part
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select a.*
  from logloom_private.read_archive(p_tenant_id, logloom_private.list_limit(p_limit), p_after) a;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_log_archive"(text, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_log_archive_restores (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_archive_restore
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'restore', 'restore_id',
    (
      select r.requested_at from logloom.archive_restores r
      where r.tenant_id = v_tenant_id and r.restore_id = p_after
    )
  );
begin
  perform logloom_private.require_role(v_tenant_id, 'member');
  return query
  select
    r.restore_id, r.tenant_id, r.requested_by, r.requested_at, r.ts_from, r.ts_to, r.query_dsl,
    r.kept_until, r.status, r.parts, r.parts_done, r.records, r.bytes, r.finished_at, r.error
  from logloom.archive_restores r
  where r.tenant_id = v_tenant_id
    and (p_after is null or (r.requested_at, r.restore_id) < (v_after, p_after))
  order by r.requested_at desc, r.restore_id desc
  limit v_limit;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_log_archive_restores"(text, integer, uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.match_log_archive (
  p_claim_id uuid  DEFAULT NULL::uuid,
  p_records  jsonb DEFAULT NULL::jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '60s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_records', p_records is null);
  return to_jsonb(logloom_private.match_archive(p_claim_id, p_records));
end;
$function$;

REVOKE ALL ON FUNCTION "public"."match_log_archive"(uuid, jsonb) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.restore_log_archive (
  p_from      text    DEFAULT NULL::text,
  p_to        text    DEFAULT NULL::text,
  p_query_dsl text    DEFAULT NULL::text,
  p_keep_days integer DEFAULT NULL::integer,
  p_tenant_id text    DEFAULT NULL::text
)
  RETURNS public.logloom_archive_restore
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change(p_tenant_id);
  perform logloom_private.require_parameter('p_from', p_from is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  return logloom_private.request_restore(
    p_from, p_to, p_query_dsl, coalesce(p_keep_days, 7), p_tenant_id
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."restore_log_archive"(text, text, text, integer, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.settle_log_archive_work (
  p_claim_id uuid  DEFAULT NULL::uuid,
  p_error    text  DEFAULT NULL::text,
  p_details  jsonb DEFAULT NULL::jsonb,
  p_records  jsonb DEFAULT NULL::jsonb
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '60s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.settle_archive_work(
    p_claim_id, p_error, coalesce(p_details, '{}'), coalesce(p_records, '[]')
  );
  return row(true)::public.logloom_success;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."settle_log_archive_work"(uuid, text, jsonb, jsonb) FROM PUBLIC, "anon", "authenticated";

do $$
begin
  -- Small tables, which everything reads.
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
      'view.deleted'::text, 'logs.deletion_requested'::text, 'logs.deletion_finished'::text, 'logs.restore_requested'::text, 'logs.restore_finished'::text])));

  ALTER TABLE "logloom"."plans"
    ADD CONSTRAINT "plans_archive_days_is_limited" CHECK (((archive_days >= 0) AND (archive_days <= 3650)));

  ALTER TABLE "logloom"."plans"
    ADD CONSTRAINT "plans_max_restored_days_is_limited" CHECK (((max_restored_days >= 0) AND (max_restored_days <= 3650)));

  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_archive_bucket_is_a_name" CHECK ((archive_bucket ~ '^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$'::text));

  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_archive_overtaken_is_known" CHECK ((archive_overtaken = ANY (ARRAY['keep'::text, 'drop'::text])));

  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_archive_prefix_is_a_path"
      CHECK (((archive_prefix ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$'::text) AND (length(archive_prefix) <= 200)));
  perform set_config('lock_timeout', '0', true);
end;
$$;

CREATE INDEX archive_parts_newer_key_idx ON logloom.archive_parts USING btree (part_id)
  WHERE (newer_key IS NOT NULL);

CREATE UNIQUE INDEX archive_parts_object_key_idx ON logloom.archive_parts USING btree (object_key);

CREATE INDEX archive_parts_tenant_id_last_day_idx ON logloom.archive_parts USING btree (tenant_id, last_day);

CREATE INDEX archive_parts_tenant_id_number_idx ON logloom.archive_parts USING btree (tenant_id, number);

CREATE INDEX archive_restores_open_idx ON logloom.archive_restores USING btree (next_attempt_at)
  WHERE (status = ANY (ARRAY['queued'::text, 'running'::text]));

CREATE INDEX archive_restores_tenant_id_requested_at_idx ON logloom.archive_restores USING btree (tenant_id, requested_at DESC, restore_id DESC);

CREATE UNIQUE INDEX archive_claims_tenant_id_idx ON logloom_private.archive_claims USING btree (tenant_id);

CREATE INDEX archive_erasures_tenant_id_idx ON logloom_private.archive_erasures USING btree (tenant_id);

CREATE INDEX archive_garbage_next_attempt_at_idx ON logloom_private.archive_garbage USING btree (next_attempt_at);

CREATE INDEX archive_garbage_tenant_id_idx ON logloom_private.archive_garbage USING btree (tenant_id);

CREATE INDEX archive_passes_next_attempt_at_idx ON logloom_private.archive_passes USING btree (next_attempt_at);

CREATE INDEX kept_longer_tenant_id_idx ON logloom_private.kept_longer USING btree (tenant_id, kept_until);

CREATE POLICY "archive_parts_select_tenant" ON "logloom"."archive_parts"
  FOR SELECT
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

CREATE POLICY "archive_restores_select_tenant" ON "logloom"."archive_restores"
  FOR SELECT
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

COMMENT ON COLUMN "logloom"."archive_parts"."generation" IS 'How often it was written: an erasure writes it anew, under another key.';

COMMENT ON COLUMN "logloom"."archive_parts"."newer_key" IS 'A later generation that the bucket has, and the database does not know of since it was brought back to an earlier state: it takes the part''s place.';

COMMENT ON COLUMN "logloom"."archive_parts"."number" IS 'The order in which parts were made: an erasure looks at those up to one.';

COMMENT ON COLUMN "logloom"."archive_parts"."write_seq" IS 'Its records have this write sequence or a lesser one; restored ones get it.';

COMMENT ON COLUMN "logloom"."plans"."archive_days" IS 'How many days records stay in the archive, counted from their ts. 0: they are not archived.';

COMMENT ON COLUMN "logloom"."plans"."max_restored_days" IS 'Days that a tenant may have back from the archive at once.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."bucket" IS 'The bucket, and prefix, that checked_at and problem are about.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."compared_through" IS 'Up to this key the bucket was compared with archive_parts; null where no round is under way.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."installation_id" IS 'Whose files they are: it stands in <prefix>/logloom.json, so that no two installations share a prefix.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."planned_through" IS 'Up to this tenant a round of planning has come; null where none is under way.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."problem" IS 'Why nothing is archived: what the last check of the bucket found. Null: nothing.';

COMMENT ON COLUMN "logloom_private"."archive_passes"."position_ts" IS 'Up to this record (position_ts, position_id) files were written and verified.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_after" IS 'How long a UTC day, or the month of a small tenant, is over before it is archived.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_bucket" IS 'The bucket of the archive. Null: nothing is archived, and what a plan with archive_days would have archived stays.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_claim_lifetime" IS 'How long logloom-archive may work at a file before another run takes it up.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_compare_every" IS 'How often the bucket''s keys are compared with what the database knows of.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_grace" IS 'How long records stay past their retention until they are archived; archive_overtaken says what then.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_overtaken" IS 'What becomes of records that are not archived within archive_grace: keep or drop.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_plan_every" IS 'How often tenants are looked at for days to archive.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_prefix" IS 'What the keys of the archive''s files begin with.';

COMMENT ON COLUMN "logloom_private"."settings"."restored_days_lifetime_max" IS 'How long days stay at most that restore_log_archive brings.';

COMMENT ON FUNCTION "public"."claim_log_archive_work"() IS 'What the edge function logloom-archive calls: the next piece of work, null where there is none. One that is not settled in time is given out again.';

COMMENT ON FUNCTION "public"."list_log_archive"(text, integer, uuid) IS 'Files of the tenant''s archive, those of the last days first, for members. p_limit 1 to 1000 (default 100), p_after: part_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_archive_restores"(text, integer, uuid) IS 'What was brought back from the tenant''s archive, newest first, for members. p_limit 1 to 1000 (default 100), p_after: restore_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."match_log_archive"(uuid, jsonb) IS 'What the edge function logloom-archive calls: the places, from 0, of those records of a file that the erasure of its claim is for. Errors: PT400, PT404.';

COMMENT ON FUNCTION "public"."restore_log_archive"(text, text, text, integer, text) IS 'Brings archived records from p_from (inclusive) to p_to (exclusive) back for p_keep_days (default 7), those that match p_query_dsl where it is given; for admins. list_log_archive_restores tells how far it is. What is there already does not come twice. Errors: PT400 (max_restored_days of the plan), PT401, PT403, PT404 (nothing is archived of the range).';

COMMENT ON FUNCTION "public"."settle_log_archive_work"(uuid, text, jsonb, jsonb) IS 'What the edge function logloom-archive calls: what came of a claim, or p_error. Errors: PT400.';

COMMENT ON TABLE "logloom"."archive_parts" IS 'The files of the archive, one for each part. draft: being written; verified: read back and equal to the records of the database; missing: the bucket had it no more.';

COMMENT ON TABLE "logloom"."archive_restores" IS 'Days that were brought back from the archive. Kept for settings.audit_lifetime.';

COMMENT ON TABLE "logloom_private"."archive_bucket" IS 'What is known of the bucket of the archive, and how far planning and comparing have come.';

COMMENT ON TABLE "logloom_private"."archive_claims" IS 'Leases of the function logloom-archive: one of a tenant at a time, and one, of no tenant, for what is about the bucket.';

COMMENT ON TABLE "logloom_private"."archive_endpoint" IS 'Where the edge function logloom-archive is, and the secret that it knows its caller by.';

COMMENT ON TABLE "logloom_private"."archive_erasures" IS 'Erasures as they reach the archive: files up to parts_through, which is fixed once the database holds no match any more. Nothing that was read before is archived meanwhile.';

COMMENT ON TABLE "logloom_private"."archive_garbage" IS 'Objects of the archive that are to be deleted. A row goes when the bucket has the object no more.';

COMMENT ON TABLE "logloom_private"."archive_passes" IS 'Days of a tenant that are being archived, one pass of a tenant at a time: their records up to write_seq that archived_days does not have yet, in the order of ts and id.';

COMMENT ON TABLE "logloom_private"."archived_days" IS 'Which records are in the archive: of a tenant''s day those up to write_seq. A record is archived by what it is, never by where it is stored, so sealing, merging and unsealing change nothing.';

COMMENT ON TABLE "logloom_private"."kept_longer" IS 'Days that a tenant keeps for a while although its retention does not: those that were brought back. Past kept_until a row means nothing.';

COMMENT ON TYPE "logloom_private"."lock_name" IS 'The advisory locks of Logloom. deletion: one that seals or deletes records of days that are over. writer: whoever adds records or moves the queue. partitions: whoever makes or drops a day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, exclusive for the flip. notifications: one claim at a time, so that a limit holds. archive: one claim of its work at a time. With a tenant''s hash as second key: alerts, one evaluator of its rules; delete_logs, one order of a deletion at a time; members, one change of who belongs to it; notifications, one test or confirmation of an address.';

COMMENT ON TYPE "public"."logloom_archive_part" IS 'A file of the archive. ts_from and ts_to: of its first and its last record. status: verified, or missing where the bucket has it no more. key: where it is in the bucket.';

COMMENT ON TYPE "public"."logloom_archive_restore" IS 'Records that are brought back from the archive: queued, running, done, or failed with error. ts_from inclusive, ts_to exclusive. files: how many are to be read; bytes: what was read of them; records: what came back. kept_until: when they go again.';

COMMENT ON TYPE "public"."logloom_retention_run" IS 'A deletion. kind: retention (by age) or erasure (on request). status: queued, running, done, interrupted (a later day''s run went on with it) or failed, with error. ts_from inclusive, ts_to exclusive. records: how many were deleted so far; in a dry run, how many match. partitions: days that were dropped as a whole. archive_records and archive_files: how many records were taken out of how many files of the archive; not part of records. not_reached: where records may be that an erasure did not reach, null before it is done.';

COMMENT ON TYPE "public"."logloom_usage" IS 'What a tenant used in the current UTC month, against the limits of its plan; and per month and day of the months asked for, newest first. Bytes are those of request bodies. stored: what the records take on disk. restored_records: what came back from the archive this month.';

GRANT EXECUTE ON FUNCTION "logloom_private"."archive_errors"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."claim_archive_work"() TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."match_archive"(uuid, jsonb) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_archive"(text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."request_restore"(text, text, text, integer, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."settle_archive_work"(uuid, text, jsonb, jsonb) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."claim_log_archive_work"() TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_log_archive"(text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_log_archive_restores"(text, integer, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."match_log_archive"(uuid, jsonb) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."restore_log_archive"(text, text, text, integer, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."settle_log_archive_work"(uuid, text, jsonb, jsonb) TO "service_role";

GRANT SELECT ON TABLE "logloom"."archive_parts" TO "authenticated", "service_role";

GRANT SELECT ON TABLE "logloom"."archive_restores" TO "authenticated", "service_role";


-- Deletes what is past its lifetime, so many rows a step.
create or replace function logloom_private.purge_old_rows()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
        ('logloom.archive_restores', 'r.finished_at < $1', v_settings.audit_lifetime),
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
$$;

-- Seam: whether the archive reads the records of this database.
create function logloom_private.archive_reads_records()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return true;
end;
$$;

insert into logloom_private.archive_bucket default values;
insert into logloom_private.archive_endpoint default values;
insert into logloom_private.job_limits (job, silence) values ('archive_logs', '10 minutes');
select logloom_private.schedule_jobs();
select logloom_private.finish_migration();
