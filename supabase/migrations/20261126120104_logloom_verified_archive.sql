-- A verification looks at the files of the archive too.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom_private.verifications, logloom_private.verification_differences
  in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom_private"."verification_differences"
    DROP CONSTRAINT "verification_differences_kind_is_known";
  ALTER TABLE "logloom_private"."verifications"
    ADD COLUMN "archive_tenant_through" text NOT NULL DEFAULT ''::text;
  ALTER TABLE "logloom_private"."verifications"
    ADD COLUMN "archive_day_through" date NOT NULL DEFAULT '-infinity'::date;
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE FUNCTION logloom_private.archived_records_here (
  p_tenant_id text,
  p_first     date,
  p_last      date
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day record;
  v_block record;
  v_found bigint;
  v_here bigint := 0;
begin
  for v_day in
    select a.day, a.write_seq
    from logloom_private.archived_days a
    where a.tenant_id = p_tenant_id and a.day between p_first and p_last
      and logloom_private.partition_exists(a.day)
  loop
    execute format(
      'select count(*) from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts < %L::timestamptz and l.write_seq <= %s',
      p_tenant_id, logloom_private.day_start(v_day.day), logloom_private.day_start(v_day.day + 1),
      v_day.write_seq
    )
    into v_found;
    v_here := v_here + v_found;
  end loop;
  for v_block in
    select
      b.block_id, b.records,
      b.first_ts >= logloom_private.day_start(p_first)
        and b.last_ts < logloom_private.day_start(p_last + 1)
        and b.last_write_seq <= (
          select case
            when count(*) = logloom_private.utc_day(b.last_ts) - logloom_private.utc_day(b.first_ts)
              + 1 then min(a.write_seq)
          end
          from logloom_private.archived_days a
          where a.tenant_id = p_tenant_id
            and a.day between logloom_private.utc_day(b.first_ts)
              and logloom_private.utc_day(b.last_ts)
        ) as is_whole
    from logloom_private.blocks b
    where b.tenant_id = p_tenant_id and b.last_ts >= logloom_private.day_start(p_first)
      and b.first_ts < logloom_private.day_start(p_last + 1)
  loop
    v_found := v_block.records;
    if v_block.is_whole is not true then
      select count(*) into v_found
      from logloom_private.block_records(
        p_tenant_id, v_block.block_id, null, array['ts', 'write_seq']
      ) r
      join logloom_private.archived_days a
        on a.tenant_id = p_tenant_id and a.day = logloom_private.utc_day(r.ts)
      where a.day between p_first and p_last and r.write_seq <= a.write_seq;
    end if;
    v_here := v_here + v_found;
  end loop;
  return v_here;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_archived (
  p_verification_id bigint,
  p_tenant_id       text,
  p_day             date
)
  RETURNS TABLE (
    last_day date,
    records  bigint,
    details  text[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first date := p_day;
  v_last date := p_day;
  v_span record;
  v_files record;
  v_here bigint;
  v_archive_days integer;
begin
  details := '{}';
  loop
    select min(p.first_day) as first_day, max(p.last_day) as last_day
    into v_span
    from logloom.archive_parts p
    where p.tenant_id = p_tenant_id and p.status <> 'draft'
      and p.last_day >= v_first and p.first_day <= v_last;
    exit when v_span.first_day is null
      or v_span.first_day >= v_first and v_span.last_day <= v_last;
    v_first := least(v_first, v_span.first_day);
    v_last := greatest(v_last, v_span.last_day);
  end loop;
  last_day := v_last;
  details := array(
    select format(
      'the file %s has records from %s to %s', p.object_key, p.first_ts, p.last_ts
    )
    from logloom.archive_parts p
    where p.tenant_id = p_tenant_id and p.status <> 'draft'
      and p.last_day >= v_first and p.first_day <= v_last
      and (
        p.first_ts > p.last_ts
        or logloom_private.utc_day(p.first_ts) < p.first_day
        or logloom_private.utc_day(p.last_ts) > p.last_day
      )
    order by p.number
  );
  select
    coalesce(sum(p.records), 0)::bigint as records,
    coalesce(bool_or(p.status = 'missing'), false) as has_missing
  into v_files
  from logloom.archive_parts p
  where p.tenant_id = p_tenant_id and p.status <> 'draft'
    and p.last_day >= v_first and p.first_day <= v_last;
  records := v_files.records;

  select l.archive_days into v_archive_days
  from logloom.tenants t
  join logloom.plans l on l.plan_id = t.plan_id
  where t.tenant_id = p_tenant_id;
  if coalesce(v_archive_days, 0) = 0 or logloom_private.is_being_deleted(p_tenant_id)
    or exists (
      -- What such a block has cannot be told.
      select
      from logloom_private.blocks b
      join logloom_private.verification_differences d on d.block_id = b.block_id
      where b.tenant_id = p_tenant_id and d.verification_id = p_verification_id
        and b.last_ts >= logloom_private.day_start(v_first)
        and b.first_ts < logloom_private.day_start(v_last + 1)
    )
  then
    return next;
    return;
  end if;

  v_here := logloom_private.archived_records_here(p_tenant_id, v_first, v_last);
  if v_here > v_files.records
    -- Past its time in the archive a file goes, whatever the database keeps.
    and v_first >= logloom_private.utc_day(now()) - v_archive_days
  then
    details := details || format(
      'the archive has %s of %s records up to %s', v_files.records, v_here, v_last
    );
  elsif v_here > 0 and v_here < v_files.records
    and v_first = v_last and not v_files.has_missing
    and v_first >= logloom_private.first_kept_day(p_tenant_id, logloom_private.utc_day(now()))
    and not exists (
      select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
    )
    and not exists (
      select
      from logloom_private.archive_erasures e
      where e.tenant_id = p_tenant_id and e.finished_at is null
    )
    and not exists (
      select
      from logloom.archive_restores r
      where r.tenant_id = p_tenant_id and v_first between r.first_day and r.last_day
    )
  then
    details := details || format(
      'the archive has %s records, the database %s', v_files.records, v_here
    );
  end if;
  return next;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_archived (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_wanted constant bigint := (select s.verify_step_records from logloom_private.settings s);
  v_tenant_id text := p_verification.archive_tenant_through;
  v_day date := p_verification.archive_day_through;
  v_next record;
  v_found record;
  v_records bigint := 0;
  v_has_next boolean;
begin
  if not logloom_private.archive_reads_records() then
    return false;
  end if;
  for i in 1..100 loop
    select a.tenant_id, a.day into v_next
    from logloom_private.archived_days a
    where (a.tenant_id, a.day) > (v_tenant_id, v_day)
    order by a.tenant_id, a.day
    limit 1;
    v_has_next := found;
    exit when not v_has_next;
    select f.* into v_found
    from logloom_private.verify_archived(
      p_verification.verification_id, v_next.tenant_id, v_next.day
    ) f;
    if v_found.details <> '{}' then
      perform logloom_private.note_differences(
        p_verification.verification_id, v_next.tenant_id, v_next.day, null,
        array_fill('archive'::text, array[cardinality(v_found.details)]), v_found.details
      );
    end if;
    v_tenant_id := v_next.tenant_id;
    v_day := v_found.last_day;
    v_records := v_records + v_found.records;
    exit when v_records >= v_wanted;
  end loop;
  update logloom_private.verifications v
  set archive_tenant_through = v_tenant_id, archive_day_through = v_day
  where v.verification_id = p_verification.verification_id;
  return v_has_next;
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
    or logloom_private.verify_next_records(v_verification)
    or logloom_private.verify_next_archived(v_verification)
  then
    return true;
  end if;
  update logloom_private.verifications v
  set finished_at = clock_timestamp()
  where v.verification_id = v_verification.verification_id;
  return false;
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom_private"."verification_differences"
    ADD CONSTRAINT "verification_differences_kind_is_known" CHECK ((kind = ANY (ARRAY['archive'::text, 'block'::text, 'count'::text, 'id'::text])));
  COMMENT ON COLUMN "logloom_private"."verifications"."archive_day_through" IS 'Of archive_tenant_through the archived days up to this one are verified, and all of the tenants before it. They come last.';
  COMMENT ON PROCEDURE "logloom_private"."verify"() IS 'Verifies all that is stored: blocks by checksum and decoding, counts against records, ids, files of the archive against what was archived. Says what it found in a notice; verification_differences has the details. Can be ended and called again.';
  COMMENT ON TABLE "logloom_private"."verification_differences" IS 'What a verification found: a block that is damaged, a minute whose counts differ from its records, a record that is there more than once, archived days whose files have other records than they should. At most a thousand a verification.';
  COMMENT ON TABLE "logloom_private"."verifications" IS 'Verifications of blocks, counts, ids and the archive. The one without finished_at is under way and goes on where it stopped. The last hundred are kept.';
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

select logloom_private.finish_migration();
