-- Repeats an erasure that has a note in the archive's bucket but no row here. The database was then
-- restored to an earlier state. Returns true if there was such a note.
create function logloom_private.repeat_erasure()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
  -- A later tenant with the same id is not the tenant of the note.
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
    -- No new note: the bucket already has it.
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
$$;
