-- Settles the claim of a file that was written, read back and found equal. The file becomes
-- verified, unless an erasure of its records has begun.
create function logloom_private.settle_write(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (p_details ->> 'records')::integer is distinct from p_claim.records then
    perform logloom_private.release_archive_claim(
      p_claim,
      format('The file has %s records, expected %s', p_details ->> 'records', p_claim.records)
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
end;
$$;

-- Settles the claim of an erasure that has checked a file. The file had no match, was rewritten,
-- was emptied, or is missing from the bucket.
create function logloom_private.settle_erasure(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part logloom.archive_parts;
  v_left constant integer := p_claim.records;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id for update;
  if p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
  elsif v_left is null or (p_details ->> 'records')::integer is distinct from v_left then
    perform logloom_private.release_archive_claim(
      p_claim,
      format('The file has %s records, expected %s', p_details ->> 'records', v_left)
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
  perform logloom_private.end_archive_erasure(p_claim.run_id);
end;
$$;

-- Settles the claim of a file that was read for a restore: stores its records.
create function logloom_private.settle_restore(
  p_claim logloom_private.archive_claims,
  p_details jsonb,
  p_records jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
    return;
  elsif p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
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
end;
$$;

-- Settles the claim of work on the bucket (a check, deletions, keys or notes).
create function logloom_private.settle_bucket_work(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
      perform logloom_private.put_off_garbage(
        array(select jsonb_array_elements_text(p_details -> 'left'))
      );
    when 'compare' then
      perform logloom_private.compare_archive(p_details);
    when 'adopt' then
      perform logloom_private.adopt_archived(p_claim, p_details);
    when 'recall' then
      perform logloom_private.settle_recall(p_claim, p_details);
  end case;
end;
$$;

-- Stores the result of a claim, or p_error if it failed. Does nothing if the claim no longer
-- exists.
create function logloom_private.settle_archive_work(
  p_claim_id uuid,
  p_error text,
  p_details jsonb,
  p_records jsonb
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role changes the archive
declare
  v_claim logloom_private.archive_claims;
begin
  -- While this lock is held, no erasure continues and no block is written or deleted.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  delete from logloom_private.archive_claims c
  where c.claim_id = p_claim_id
  returning c.* into v_claim;
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
$$;

create function public.settle_log_archive_work(
  p_claim_id uuid default null,
  p_error text default null,
  p_details jsonb default null,
  p_records jsonb default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '20s'
as $$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.settle_archive_work(
    p_claim_id, p_error, coalesce(p_details, '{}'), coalesce(p_records, '[]')
  );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.settle_log_archive_work(uuid, text, jsonb, jsonb) is
  'For the edge function logloom-archive: stores the result of a claim, or p_error if it failed. '
  'Errors: PT400.';
