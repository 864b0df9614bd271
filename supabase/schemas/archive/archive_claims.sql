-- Returns how often the keys in the bucket are compared with the database.
create function logloom_private.archive_compare_every()
returns interval
language sql
immutable
return interval '24 hours';

-- Claims the next work on the bucket: check the set-up, adopt a newer file, read a note, delete
-- objects, or compare keys. Returns null if nothing is due.
create function logloom_private.claim_bucket_work(p_settings logloom_private.settings)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bucket logloom_private.archive_bucket;
  v_keys text[];
  v_part logloom.archive_parts;
  v_note text;
  v_work jsonb;
begin
  -- Comes first: a settlement that commits after the bucket was read would make the work wrong.
  if exists (select from logloom_private.archive_claims c where c.tenant_id = '') then
    return null;
  end if;
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
    v_keys := logloom_private.due_garbage();
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
      or v_bucket.compared_at < now() - logloom_private.archive_compare_every()
    then
      v_work := jsonb_build_object('kind', 'compare', 'after', v_bucket.compared_through);
    else
      return null;
    end if;
  end if;
  insert into logloom_private.archive_claims (tenant_id, kind, part_id, object_key)
  values ('', v_work ->> 'kind', (v_work ->> 'part_id')::uuid, v_work ->> 'key')
  on conflict do nothing
  returning v_work || jsonb_build_object('claim_id', claim_id) into v_work;
  return v_work;
end;
$$;

-- Claims the next file that an erasure must check, or its note: a file in the bucket that says what
-- was erased. The note is written before the first check and, if files were emptied, after the
-- last. Returns null if nothing is due.
create function logloom_private.claim_erasure()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_note record;
  v_new_key text;
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
      insert into logloom_private.archive_claims (tenant_id, kind, run_id, object_key)
      values (v_erasure.tenant_id, 'note', v_erasure.run_id, v_note.key)
      returning claim_id into v_claim_id;
      return jsonb_build_object(
        'kind', 'note', 'claim_id', v_claim_id, 'key', v_note.key, 'note', v_note.note
      );
    elsif v_part.part_id is null then
      -- This erasure waits until objects are deleted. Meanwhile other erasures have their turn.
      update logloom_private.archive_erasures e
      set next_attempt_at = clock_timestamp() + interval '5 seconds'
      where e.run_id = v_erasure.run_id;
      continue;
    end if;
    v_new_key := logloom_private.archive_key(
      jsonb_populate_record(v_part, jsonb_build_object('generation', v_part.generation + 1))
    );
    insert into logloom_private.archive_claims (tenant_id, kind, part_id, run_id, object_key)
    values (v_erasure.tenant_id, 'erase', v_part.part_id, v_erasure.run_id, v_new_key)
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'erase', 'claim_id', v_claim_id, 'new_key', v_new_key);
  end loop;
  return null;
end;
$$;

-- Claims the next file to restore. Returns null if there is none.
create function logloom_private.claim_restore()
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
        v_restore.restore_id, format('The file %s is missing from the bucket', v_part.object_key)
      );
      continue;
    end if;
    insert into logloom_private.archive_claims (tenant_id, kind, part_id, run_id)
    values (v_restore.tenant_id, 'restore', v_part.part_id, v_restore.restore_id)
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'restore', 'claim_id', v_claim_id);
  end loop;
  return null;
end;
$$;

-- Claims the next file to write, with its records as columns. Returns null if there is none, or if
-- reading its records took too long.
create function logloom_private.claim_write()
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pass logloom_private.archive_passes;
  v_records logloom.logs[];
  v_columns json;
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
    begin
      v_records := logloom_private.archive_records(v_pass);
      v_columns := logloom_private.archive_columns(v_records);
    exception when query_canceled then
      update logloom_private.archive_passes p
      set failures = p.failures + 1, error = 'Reading the records took too long',
        next_attempt_at = clock_timestamp() + logloom_private.archive_delay(p.failures)
      where p.tenant_id = v_pass.tenant_id;
      return null;
    end;
    exit when v_records is not null;
    perform logloom_private.end_archive_pass(v_pass);
  end loop;
  v_part := jsonb_populate_record(
    v_part, to_jsonb(v_pass) || jsonb_build_object('part_id', gen_random_uuid(), 'generation', 1)
  );
  insert into logloom.archive_parts (
    part_id, tenant_id, first_day, last_day, write_seq, object_key, status
  )
  values (
    v_part.part_id, v_part.tenant_id, v_part.first_day, v_part.last_day, v_part.write_seq,
    logloom_private.archive_key(v_part), 'draft'
  )
  returning * into v_part;
  insert into logloom_private.archive_claims (
    tenant_id, kind, part_id, object_key, records, first_ts, last_ts, last_id
  )
  select
    v_pass.tenant_id, 'write', v_part.part_id, v_part.object_key, count(*), min(r.ts), max(r.ts),
    (array_agg(r.id order by r.ts desc, r.id desc))[1]
  from unnest(v_records) r
  returning * into v_claim;
  return json_build_object(
    'kind', 'write', 'claim_id', v_claim.claim_id, 'tenant_id', v_part.tenant_id,
    'part_id', v_part.part_id, 'key', v_part.object_key, 'records', v_claim.records,
    'first_day', v_part.first_day, 'last_day', v_part.last_day, 'generation', v_part.generation,
    'columns', v_columns
  );
end;
$$;
