-- Begins an erasure in the archive. retention/run_deletion_step.sql calls this function when an
-- erasure begins, and end_archive_erasure when it ends. Meanwhile nothing of the tenant is archived
-- or restored. Files read before the erasure are discarded.
create function logloom_private.begin_archive_erasure(
  p_run_id uuid,
  p_tenant_id text,
  p_query_dsl text,
  p_requested_at timestamptz,
  p_from timestamptz,
  p_to timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Called when the database has no match left. The first call extends the erasure to the files that
-- exist then. Returns true if no file has a match left, either.
create function logloom_private.end_archive_erasure(p_run_id uuid)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
    -- Garbage may contain matches. So the erasure waits until all garbage is deleted.
    select from logloom_private.archive_garbage g where g.tenant_id = v_erasure.tenant_id
  ) then
    return false;
  end if;
  update logloom_private.archive_erasures e
  set finished_at = clock_timestamp(), error = null
  where e.run_id = p_run_id;
  return true;
end;
$$;

-- True if a claim may have read records that were erased since.
create function logloom_private.was_erased_since(
  p_tenant_id text,
  p_since timestamptz,
  p_first_ts timestamptz,
  p_last_ts timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.archive_erasures e
    where e.tenant_id = p_tenant_id and coalesce(e.finished_at, 'infinity') > p_since
      and e.ts_from <= p_last_ts and e.ts_to > p_first_ts
  );
end;
$$;
