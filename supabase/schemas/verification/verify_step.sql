-- Returns false if all blocks are verified.
create function logloom_private.verify_next_block(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_found record;
begin
  select b.* into v_block
  from logloom_private.blocks b
  where b.block_id > p_verification.block_through
  order by b.block_id
  limit 1;
  if not found then
    return false;
  end if;
  select f.* into v_found from logloom_private.verify_block(v_block) f;
  update logloom_private.blocks b
  set damaged_at = case when not v_found.is_intact then now() end
  where b.tenant_id = v_block.tenant_id and b.block_id = v_block.block_id
    and (b.damaged_at is null) <> v_found.is_intact;
  update logloom_private.verifications v
  set block_through = v_block.block_id, blocks = v.blocks + 1
  where v.verification_id = p_verification.verification_id;
  if v_found.detail is not null then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_block.tenant_id, logloom_private.utc_day(v_block.first_ts),
      v_block.block_id, array['block'], array[v_found.detail]
    );
  end if;
  return true;
end;
$$;

-- Verifies the next records, or moves on to the next tenant. Returns false if all are verified.
create function logloom_private.verify_next_records(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Verifies the next archived days: about verify_step_records() records, at most a hundred spans.
-- Returns false if all are verified, or if the records are in other databases.
create function logloom_private.verify_next_archived(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted constant bigint := logloom_private.verify_step_records();
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
$$;

-- Continues the running verification, or begins one. Returns false if it has ended, or if another
-- session is running it.
create function logloom_private.verify_on()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
-- The session of the operator who calls verify() has the project's time zone and date style.
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
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
$$;

-- Runs a step of the job verify_logs. It slowly verifies everything stored, once every
-- settings.verify_every. Queued events come first.
create function logloom_private.verify_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
  return case
    when logloom_private.verify_on()
      then greatest(interval '10 milliseconds', 4 * (clock_timestamp() - v_started_at))
  end;
end;
$$;

-- Returns the result of the last verification as a sentence.
create function logloom_private.last_verification()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- For operators: verifies everything stored, now and without pauses, and reports what it found.
-- Changes nothing. An interrupted verification continues when the procedure is called again. It has
-- no set clause: with one it could not commit.
create procedure logloom_private.verify()
language plpgsql
as $$
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
$$;

comment on procedure logloom_private.verify() is
  'Verifies everything stored: blocks by checksum and decoding, counts against records, ids, '
  'files of the archive against archived records. Reports the result in a notice; details are in '
  'verification_differences. Can be interrupted and called again.';

-- Returns the check of verification: degraded if the last verification found a difference. Shows no
-- details, because health is public.
create function logloom_private.verification_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
      '%s differences were found in stored records: '
        || 'see logloom_private.verification_differences',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$$;
