-- Compares a page of the bucket's keys with the database:
-- - An unknown object becomes garbage after a day, unless it existed when the database was
--   repaired.
-- - A file that is not in the bucket becomes missing. If it is found later, it is verified again.
-- - A later generation of a file will be adopted. It exists if the database was restored to a state
--   before an erasure.
-- - Unknown notes of erasures will be read.
-- p_page has keys ([{key, age, ...}], in order) and through (the last key; null on the last page).
create function logloom_private.compare_archive(p_page jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after text;
  v_restored_at timestamptz;
  v_through constant text := p_page ->> 'through';
begin
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
    and k.key like (
      select format('%s/v1/tenant=%%', s.archive_prefix) from logloom_private.settings s
    )
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
$$;

-- Settles the claim to adopt a part's later generation, which was read. It replaces the known
-- generation.
create function logloom_private.adopt_archived(
  p_claim logloom_private.archive_claims,
  p_details jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Lets the next steps check and compare the whole bucket again. After a restore, the database and
-- the bucket may each have files that the other lacks.
create function logloom_private.compare_archive_anew()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.release_archive_claim(c, null) from logloom_private.archive_claims c;
  update logloom_private.archive_bucket b
  set checked_at = null, planned_at = null, planned_through = null, compared_at = null,
    compared_through = null, restored_at = clock_timestamp()
  where b.singleton;
end;
$$;

-- Forgets all files and notes of the archive, and returns their keys.
create function logloom_private.forget_archive(p_reason text)
returns table (object_key text, tenant_id text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  delete from logloom_private.archive_passes p where true;
  perform logloom_private.release_archive_claim(c, null)
  from logloom_private.archive_claims c
  where c.kind <> 'delete';
  update logloom.archive_restores r
  set status = 'failed', error = p_reason, finished_at = clock_timestamp()
  where r.status in ('queued', 'running');
  return query
  with parts as (
    delete from logloom.archive_parts p where true
    returning p.object_key, p.tenant_id
  ), notes as (
    delete from logloom_private.archive_notes n where true
    returning n.object_key, coalesce(n.erased_tenant, '')
  )
  select p.* from parts p
  union all
  select n.* from notes n;
end;
$$;

-- Makes all files of the archive garbage, before uninstalling. The function logloom-archive then
-- deletes them. Returns how many objects are left to delete.
create function logloom_private.delete_archive()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- From here on nothing is archived.
  update logloom.plans p set archive_days = 0 where p.archive_days > 0;
  insert into logloom_private.archive_garbage (object_key, tenant_id, reason)
  select f.object_key, f.tenant_id, 'expired'
  from logloom_private.forget_archive('The archive is deleted') f
  on conflict (object_key) do nothing;
  update logloom_private.archive_garbage g set next_attempt_at = clock_timestamp() where true;
  return (select count(*) from logloom_private.archive_garbage);
end;
$$;
