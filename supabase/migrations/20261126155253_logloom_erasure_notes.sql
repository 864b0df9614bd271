-- Erasures of tenants with an archive leave a note in its bucket.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom_private.archive_claims, logloom_private.archive_garbage,
    logloom_private.archive_bucket, logloom_private.archive_erasures
  in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom_private"."archive_claims"
    DROP CONSTRAINT "archive_claims_kind_is_known";

  ALTER TABLE "logloom_private"."archive_garbage"
    DROP CONSTRAINT "archive_garbage_reason_is_known";

  CREATE TABLE "logloom_private"."archive_notes" (
    "object_key"    text    NOT NULL,
    "erased_tenant" text,
    "is_read"       boolean NOT NULL DEFAULT true,
    "is_ours"       boolean NOT NULL DEFAULT true,
    "to_repeat"     jsonb,
    CONSTRAINT "archive_notes_pkey" PRIMARY KEY (object_key)
  );

  ALTER TABLE "logloom_private"."archive_notes"
    ENABLE ROW LEVEL SECURITY;

  ALTER TABLE "logloom_private"."archive_notes"
    FORCE ROW LEVEL SECURITY;

  ALTER TABLE "logloom_private"."archive_bucket"
    ADD COLUMN "restored_at" timestamp WITH time zone;

  ALTER TABLE "logloom_private"."archive_bucket"
    ADD COLUMN "note_key" bytea NOT NULL DEFAULT extensions.gen_random_bytes(32);

  ALTER TABLE "logloom_private"."archive_erasures"
    ADD COLUMN "noted_at" timestamp WITH time zone;

  ALTER TABLE "logloom_private"."archive_erasures"
    ADD COLUMN "emptied" uuid[] NOT NULL DEFAULT '{}'::uuid[];
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
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
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
    or exists (select from logloom_private.archive_notes n where not n.is_read)
    or exists (
      select from logloom_private.archive_passes p where p.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom_private.archive_erasures e
      where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
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
  v_garbage record;
  v_foreign_notes bigint;
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
  select
    count(*) filter (where g.reason <> 'later') as objects,
    count(*) filter (where g.reason = 'later') as later
  into v_garbage
  from logloom_private.archive_garbage g;
  select count(*) into v_foreign_notes from logloom_private.archive_notes n where not n.is_ours;
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
      end,
      case when v_garbage.later > 0 then
        format(
          'The bucket has %s files from after the state that the database was brought back to: '
            'logloom_private.archive_garbage has them',
          v_garbage.later
        )
      end,
      case when v_foreign_notes > 0 then
        format(
          'The bucket has %s notes of erasures that Logloom did not write: '
            'logloom_private.archive_notes has them',
          v_foreign_notes
        )
      end
    )
  ) || jsonb_build_object(
    'files', v_files.files, 'records', v_files.records, 'bytes', v_files.bytes,
    'passes', v_passes.open, 'oldest_pass', v_passes.oldest, 'erasures', v_erasures.open,
    'garbage', v_garbage.objects, 'later', v_garbage.later
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
    run_id, tenant_id, query_dsl, requested_at, ts_from, ts_to, noted_at
  )
  values (
    p_run_id, p_tenant_id, p_query_dsl, p_requested_at, p_from, p_to,
    case when not logloom_private.bucket_notes_erasures(p_tenant_id) then clock_timestamp() end
  )
  on conflict (run_id) do nothing;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_tenant_deletion (
  p_tenant_id text
)
  RETURNS logloom_private.tenant_deletions
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_deletion logloom_private.tenant_deletions;
begin
  insert into logloom_private.tenant_deletions (tenant_id, requested_by)
  values (p_tenant_id, logloom_private.actor())
  returning * into v_deletion;
  delete from logloom.api_keys k where k.tenant_id = p_tenant_id;
  delete from logloom.log_streams s where s.tenant_id = p_tenant_id;
  delete from logloom_private.ingest_tokens t where t.tenant_id = p_tenant_id;
  delete from logloom.tenant_members m where m.tenant_id = p_tenant_id;
  update logloom.alert_rules r set enabled = false
  where r.tenant_id = p_tenant_id and r.enabled;
  -- Also those that say that the rules ended.
  delete from logloom_private.notifications n
  where n.tenant_id = p_tenant_id and n.status = 'pending';
  perform logloom_private.request_erasure(p_tenant_id);
  return v_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bucket_notes_erasures (
  p_tenant_id text
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (select s.archive_bucket is not null from logloom_private.settings s)
    and logloom_private.archive_reads_records()
    and (
      exists (select from logloom.archive_parts p where p.tenant_id = p_tenant_id)
      or exists (
        select
        from logloom.tenants t
        join logloom.plans l on l.plan_id = t.plan_id
        where t.tenant_id = p_tenant_id and l.archive_days > 0
      )
    );
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
      -- After a restore of the database files may have been replaced.
      and b.compared_at is not null
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
  v_note text;
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
    select n.object_key into v_note
    from logloom_private.archive_notes n
    where not n.is_read
    order by n.object_key
    limit 1;
    if v_part.part_id is not null then
      v_work := logloom_private.archive_part_work(v_part)
        || jsonb_build_object('kind', 'adopt', 'key', v_part.newer_key);
    elsif v_note is not null then
      v_work := jsonb_build_object('kind', 'recall', 'key', v_note);
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
  v_note record;
  v_claim_id uuid;
begin
  for v_erasure in
    select e.*
    from logloom_private.archive_erasures e
    where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
      and e.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = e.tenant_id
      )
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = e.tenant_id and p.newer_key is not null
      )
    order by e.next_attempt_at
    limit 10
  loop
    if v_erasure.parts_through is not null
      and logloom_private.end_archive_erasure(v_erasure.run_id)
    then
      continue;
    end if;
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id and p.status <> 'draft'
      and p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
      and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
    order by p.number
    limit 1;
    if v_erasure.noted_at is null
      and (v_erasure.position_number = 0 or v_part.part_id is null)
    then
      v_note := logloom_private.erasure_note(v_erasure);
      insert into logloom_private.archive_claims (
        tenant_id, kind, run_id, object_key, expires_at
      )
      values (v_erasure.tenant_id, 'note', v_erasure.run_id, v_note.key, p_expires_at)
      returning claim_id into v_claim_id;
      return jsonb_build_object(
        'kind', 'note', 'claim_id', v_claim_id, 'key', v_note.key, 'note', v_note.note
      );
    elsif v_part.part_id is null then
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
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = r.tenant_id and p.newer_key is not null
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
  v_restored_at timestamptz;
  v_through constant text := p_page ->> 'through';
begin
  select s.* into v_settings from logloom_private.settings s;
  select coalesce(b.compared_through, ''), b.restored_at into v_after, v_restored_at
  from logloom_private.archive_bucket b;
  update logloom.archive_parts p
  set newer_key = k.key
  from jsonb_to_recordset(p_page -> 'keys') k (key text)
  where p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
    and substring(k.key from '_([0-9]{1,9})\.parquet$')::integer > p.generation
    and p.status <> 'draft'
    and not exists (
      select from logloom_private.archive_claims c where c.part_id = p.part_id
    );
  insert into logloom_private.archive_garbage (object_key, tenant_id, reason, next_attempt_at)
  select
    k.key, coalesce(p.tenant_id, ''), case when l.is_later then 'later' else 'unknown' end,
    case when l.is_later then 'infinity' else clock_timestamp() end
  from jsonb_to_recordset(p_page -> 'keys') k (key text, age integer)
  left join logloom.archive_parts p
    on p.part_id::text = substring(k.key from '_([0-9a-f-]{36})_[0-9]{1,9}\.parquet$')
  cross join lateral (
    select p.part_id is null and v_restored_at is not null
      and now() - make_interval(secs => k.age) <= v_restored_at as is_later
  ) l
  where (k.age > 86400 or l.is_later)
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
  perform logloom_private.compare_notes(p_page -> 'keys');
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
    compared_through = null, restored_at = clock_timestamp()
  where b.singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_notes (
  p_keys jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_notes jsonb;
  v_lifetime integer;
begin
  select
    jsonb_agg(k.key_of_bucket), extract(epoch from min(s.audit_lifetime))
  into v_notes, v_lifetime
  from logloom_private.settings s
  cross join lateral jsonb_array_elements(p_keys) k (key_of_bucket)
  where k.key_of_bucket ->> 'key' like format('%s/erasures/%%.json', s.archive_prefix);
  insert into logloom_private.archive_notes (object_key, is_read)
  select k.key, false
  from jsonb_to_recordset(v_notes) k (key text, age integer)
  where k.age <= v_lifetime
  on conflict (object_key) do nothing;
  with old as (
    select k.key, n.erased_tenant
    from jsonb_to_recordset(v_notes) k (key text, age integer)
    left join logloom_private.archive_notes n on n.object_key = k.key
    where k.age > v_lifetime
  ), gone as (
    delete from logloom_private.archive_notes n where n.object_key in (select o.key from old o)
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select coalesce(o.erased_tenant, ''), o.key, 'expired' from old o
  on conflict (object_key) do nothing;
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
  with gone as (
    delete from logloom_private.archive_notes n where true
    returning n.erased_tenant, n.object_key
  )
  insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
  select coalesce(g.erased_tenant, ''), g.object_key, 'expired' from gone g
  on conflict (object_key) do nothing;
  update logloom_private.archive_garbage g set next_attempt_at = clock_timestamp() where true;
  return (select count(*) from logloom_private.archive_garbage);
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
  elsif v_erasure.noted_at is null
    and logloom_private.bucket_notes_erasures(v_erasure.tenant_id)
  then
    return false;
  elsif exists (
    select
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id
      and (
        p.status = 'draft'
        or p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
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

CREATE OR REPLACE FUNCTION logloom_private.note_signature (
  p_note jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select encode(
      extensions.hmac(convert_to((p_note - 'signature')::text, 'UTF8'), b.note_key, 'sha256'), 'hex'
    )
    from logloom_private.archive_bucket b
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.erasure_note (
  p_erasure logloom_private.archive_erasures,
  OUT       key text,
  OUT       note jsonb
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  key := format(
    '%s/erasures/%s.json',
    (select s.archive_prefix from logloom_private.settings s), p_erasure.run_id
  );
  note := jsonb_build_object(
    'run_id', p_erasure.run_id, 'tenant_id', p_erasure.tenant_id,
    'query_dsl', p_erasure.query_dsl, 'requested_at', p_erasure.requested_at,
    'ts_from', p_erasure.ts_from, 'ts_to', p_erasure.ts_to,
    'emptied', to_jsonb(p_erasure.emptied),
    'deletes_tenant', logloom_private.is_being_deleted(p_erasure.tenant_id)
  );
  note := note || jsonb_build_object('signature', logloom_private.note_signature(note));
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
    when 'erase', 'note' then
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

CREATE OR REPLACE FUNCTION logloom_private.repeat_erasure()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key text;
  v_note jsonb;
  v_tenant_id text;
  v_run logloom.retention_runs;
begin
  select n.object_key, n.to_repeat into v_key, v_note
  from logloom_private.archive_notes n
  where n.to_repeat is not null
  order by n.to_repeat ->> 'requested_at', n.object_key
  limit 1;
  if not found then
    return false;
  end if;
  update logloom_private.archive_notes n set to_repeat = null where n.object_key = v_key;
  v_tenant_id := v_note ->> 'tenant_id';
  -- A tenant that was given the id since is another one.
  if not exists (
    select
    from logloom.tenants t
    where t.tenant_id = v_tenant_id and t.created_at <= (v_note ->> 'requested_at')::timestamptz
  ) then
    return true;
  elsif (v_note ->> 'deletes_tenant')::boolean then
    if not logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.begin_tenant_deletion(v_tenant_id);
    end if;
    return true;
  end if;
  insert into logloom.retention_runs (
    run_id, tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to
  )
  values (
    (v_note ->> 'run_id')::uuid, v_tenant_id, 'erasure', 'queued', logloom_private.actor(),
    (v_note ->> 'requested_at')::timestamptz, v_note ->> 'query_dsl',
    (v_note ->> 'ts_from')::timestamptz, (v_note ->> 'ts_to')::timestamptz
  )
  on conflict (run_id) do nothing
  returning * into v_run;
  if v_run.run_id is not null then
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
      jsonb_build_object(
        'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
        'dry_run', false, 'repeated', true
      )
    );
    -- The bucket has its note.
    perform logloom_private.begin_archive_erasure(
      v_run.run_id, v_tenant_id, v_run.query_dsl, v_run.requested_at, v_run.ts_from, v_run.ts_to
    );
    update logloom_private.archive_erasures e
    set noted_at = clock_timestamp(),
      emptied = array(select i::uuid from jsonb_array_elements_text(v_note -> 'emptied') i)
    where e.run_id = v_run.run_id;
  end if;
  return true;
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
  if logloom_private.repeat_erasure() then
    return interval '0';
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
    when 'note' then perform logloom_private.settle_note(v_claim);
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
    when 'recall' then
      perform logloom_private.settle_recall(p_claim, p_details);
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
    update logloom_private.archive_erasures e
    set emptied = e.emptied || v_part.part_id,
      noted_at = case when logloom_private.bucket_notes_erasures(e.tenant_id) then null
        else e.noted_at end
    where e.run_id = p_claim.run_id;
  elsif v_left < v_part.records then
    update logloom.archive_parts p
    set status = 'verified', generation = p.generation + 1, object_key = p_claim.object_key,
      records = v_left, first_ts = p_claim.first_ts, last_ts = p_claim.last_ts,
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

CREATE OR REPLACE FUNCTION logloom_private.settle_note (
  p_claim logloom_private.archive_claims
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_erasure logloom_private.archive_erasures;
begin
  update logloom_private.archive_erasures e
  set noted_at = clock_timestamp(), failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where e.run_id = p_claim.run_id
  returning * into v_erasure;
  insert into logloom_private.archive_notes as n (object_key, erased_tenant)
  values (p_claim.object_key, p_claim.tenant_id)
  on conflict (object_key) do update
  set erased_tenant = excluded.erased_tenant, is_read = true;
  if logloom_private.is_being_deleted(p_claim.tenant_id) then
    with earlier as (
      delete from logloom_private.archive_notes n
      where n.erased_tenant = p_claim.tenant_id and n.object_key <> p_claim.object_key
      returning n.object_key
    )
    insert into logloom_private.archive_garbage (tenant_id, object_key, reason)
    select p_claim.tenant_id, e.object_key, 'erased' from earlier e
    on conflict (object_key) do nothing;
  end if;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  if v_erasure.parts_through is not null then
    perform logloom_private.end_archive_erasure(p_claim.run_id);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_recall (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_note constant jsonb := p_details -> 'note';
begin
  if p_details ->> 'missing' = 'true' then
    delete from logloom_private.archive_notes n where n.object_key = p_claim.object_key;
    return;
  elsif jsonb_typeof(v_note) is distinct from 'object'
    or v_note ->> 'signature' is distinct from logloom_private.note_signature(v_note)
    or p_claim.object_key not like '%/' || (v_note ->> 'run_id') || '.json'
  then
    update logloom_private.archive_notes n
    set is_read = true, is_ours = false
    where n.object_key = p_claim.object_key;
    return;
  end if;
  update logloom_private.archive_notes n
  set erased_tenant = v_note ->> 'tenant_id', is_read = true, to_repeat = v_note
  where n.object_key = p_claim.object_key and not n.is_read;
  delete from logloom.archive_parts p
  where p.tenant_id = v_note ->> 'tenant_id'
    and p.part_id in (select e::uuid from jsonb_array_elements_text(v_note -> 'emptied') e)
    and not exists (
      select from logloom_private.archive_claims c where c.part_id = p.part_id
    );
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom_private"."archive_claims"
    ADD CONSTRAINT "archive_claims_kind_is_known"
      CHECK ((kind = ANY (ARRAY['adopt'::text, 'check'::text, 'compare'::text, 'delete'::text, 'erase'::text, 'note'::text, 'recall'::text, 'restore'::text, 'write'::text])));

  ALTER TABLE "logloom_private"."archive_garbage"
    ADD CONSTRAINT "archive_garbage_reason_is_known" CHECK ((reason = ANY (ARRAY['erased'::text, 'expired'::text, 'abandoned'::text, 'unknown'::text, 'later'::text])));

  CREATE INDEX archive_notes_erased_tenant_idx ON logloom_private.archive_notes USING btree (erased_tenant);

  CREATE INDEX archive_notes_open_idx ON logloom_private.archive_notes USING btree (object_key)
    WHERE ((NOT is_read) OR (to_repeat IS NOT NULL));

  COMMENT ON COLUMN "logloom_private"."archive_bucket"."restored_at" IS 'When the database was last repaired: what the bucket had by then and nobody knows is of a later state.';

  COMMENT ON COLUMN "logloom_private"."archive_erasures"."emptied" IS 'Parts that held nothing but matches, so that their objects were deleted.';

  COMMENT ON COLUMN "logloom_private"."archive_erasures"."noted_at" IS 'Since when the bucket has a note of it, or needs none; null: that is to be written.';

  COMMENT ON COLUMN "logloom_private"."archive_notes"."is_read" IS 'False: found in the bucket, and yet to be read.';

  COMMENT ON COLUMN "logloom_private"."archive_notes"."to_repeat" IS 'What was read: an erasure that retention is to repeat.';

  COMMENT ON TABLE "logloom_private"."archive_garbage" IS 'Objects of the archive that are to be deleted. A row goes when the bucket has the object no more. later: a file from after the state that the database was brought back to, which may have the only copy of records. It stays until next_attempt_at is set.';

  COMMENT ON TABLE "logloom_private"."archive_notes" IS 'Notes of erasures that the bucket has. One that is not here was made after the state that the database was brought back to, so its erasure is repeated. They outlive their tenant, whose id may be given again; hence no tenant_id.';
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

COMMENT ON COLUMN "logloom_private"."archive_bucket"."note_key" IS 'Signs the notes of erasures: whoever may write to the bucket can have nothing erased here.';

COMMENT ON COLUMN "logloom_private"."archive_notes"."is_ours" IS 'False: it was read and is not signed by archive_bucket.note_key, so nothing came of it.';

select logloom_private.finish_migration();
