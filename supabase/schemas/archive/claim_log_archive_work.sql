-- Undoes a claim that ended without success. Its unfinished file becomes garbage. p_error: why it
-- failed; null if it took too long.
create function logloom_private.release_archive_claim(
  p_claim logloom_private.archive_claims,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
      -- The next attempt writes to the same key.
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
      -- The next comparison finds the newer file again.
      update logloom.archive_parts p set newer_key = null where p.part_id = p_claim.part_id;
    when 'delete' then
      -- Nothing was deleted. The next check of the bucket tells whether the bucket is the cause.
      perform logloom_private.put_off_garbage(logloom_private.due_garbage());
      update logloom_private.archive_bucket b set checked_at = null where b.singleton;
    else
      update logloom_private.archive_bucket b
      set checked_at = now(), problem = v_error
      where b.singleton and p_error is not null;
  end case;
end;
$$;

-- Returns the delay before the next attempt, after p_failures failures in a row.
create function logloom_private.archive_delay(p_failures integer)
returns interval
language sql
immutable
return least(interval '5 seconds' * 2 ^ least(p_failures, 10), interval '10 minutes');

-- Returns why no archive work is given out; null if work is given out.
create function logloom_private.archive_is_idle()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when (select s.archive_bucket from logloom_private.settings s) is null
      then 'settings.archive_bucket is not set'
    when logloom_private.is_restored()
      then 'The database was restored from a dump and not repaired'
    when not logloom_private.archive_reads_records()
      then 'Records are sharded over nodes, which the archive does not read'
  end;
end;
$$;

-- Claims the next work for the function logloom-archive. Returns null if nothing is due.
create function logloom_private.claim_archive_work()
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads records or changes the archive
declare
  v_settings logloom_private.settings;
  v_work json;
begin
  perform logloom_private.require_own_project();
  if logloom_private.archive_is_idle() is not null then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Makes one claim at a time, because making a claim reads a lot.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  perform logloom_private.release_archive_claim(c, null)
  from logloom_private.archive_claims c
  where c.expires_at < clock_timestamp();
  v_work := logloom_private.claim_bucket_work(v_settings);
  if v_work is null and (
    select b.problem is null and b.bucket = v_settings.archive_bucket
      and b.prefix = v_settings.archive_prefix
      -- Waits for the first comparison. After a restore, the bucket may have files that the
      -- database does not know.
      and b.compared_at is not null
    from logloom_private.archive_bucket b
  ) then
    v_work := coalesce(
      logloom_private.claim_restore()::json, logloom_private.claim_erasure()::json,
      logloom_private.claim_write()
    );
  end if;
  if v_work is null then
    return null;
  end if;
  return json_build_object(
    'bucket', v_settings.archive_bucket, 'prefix', v_settings.archive_prefix, 'work', v_work
  );
end;
$$;

create function public.claim_log_archive_work()
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '20s'
as $$
begin
  return coalesce(
    logloom_private.claim_archive_work(), json_build_object('work', null)
  );
end;
$$;

comment on function public.claim_log_archive_work() is
  'For the edge function logloom-archive: returns the next piece of work, or null. Work that is '
  'not settled in time is given out again. Errors: PT409 (another project''s database).';
