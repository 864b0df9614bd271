-- Each erasure leaves a note in the bucket. If the database is restored to a state before the
-- erasure, it repeats the erasure from this note.

-- True if the bucket needs notes of a tenant's erasures, because the tenant has an archive.
create function logloom_private.bucket_notes_erasures(p_tenant_id text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Returns the signature of a note: HMAC-SHA-256 of its JSON without the signature. It proves that
-- the note is from this installation.
create function logloom_private.note_signature(p_note jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select encode(
      extensions.hmac(convert_to((p_note - 'signature')::text, 'UTF8'), b.note_key, 'sha256'), 'hex'
    )
    from logloom_private.archive_bucket b
  );
end;
$$;

-- Returns the note of an erasure, and its key in the bucket.
create function logloom_private.erasure_note(
  p_erasure logloom_private.archive_erasures,
  out key text,
  out note jsonb
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Settles the claim of a note: the bucket has the note now. The note of a tenant's deletion
-- replaces the tenant's earlier notes.
create function logloom_private.settle_note(p_claim logloom_private.archive_claims)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
  if v_erasure.parts_through is not null then
    perform logloom_private.end_archive_erasure(p_claim.run_id);
  end if;
end;
$$;

-- Finds the notes in a page of the bucket's keys. Registers unknown notes. Notes older than
-- audit_lifetime become garbage: nobody restores a state from before that.
create function logloom_private.compare_notes(p_keys jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Settles the claim of an unknown note that was read. Retention will repeat its erasure. Deletes
-- the parts that the erasure emptied, because they would count as missing. If the signature is
-- wrong, or the note's key has another run_id, only health reports the note.
create function logloom_private.settle_recall(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;
