-- Deletes the other data of a deleted tenant, once its log records are erased. Returns true if
-- there was something to do.
create function logloom_private.delete_tenant_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant integer := (select s.deletion_step_records from logloom_private.settings s);
  v_deletion logloom_private.tenant_deletions;
  v_table text;
  v_deleted integer;
begin
  -- Waits a minute, until every request that was accepted before the deletion is in the queue.
  select d.* into v_deletion
  from logloom_private.tenant_deletions d
  where d.finished_at is null
    and d.requested_at < now() - interval '1 minute'
    and d.requested_at + interval '1 minute' < coalesce(
      (logloom_private.queue_state()).oldest_received_at, 'infinity'
    )
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = d.tenant_id and r.kind = 'erasure'
        and (
          r.status in ('queued', 'running')
          or r.status = 'failed' and r.finished_at > now() - interval '1 hour'
        )
    )
  order by d.requested_at
  limit 1;
  if not found then
    return false;
  end if;

  -- The requests that were running when the tenant was deleted have ended. Erase their records,
  -- too.
  if not exists (
    select from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure' and r.status = 'done'
      and r.requested_at > v_deletion.requested_at + interval '1 minute'
  ) and v_deletion.erased_records is null then
    perform logloom_private.request_erasure(v_deletion.tenant_id);
    return true;
  end if;
  update logloom_private.tenant_deletions d
  set erased_records = (
    select coalesce(sum(r.records), 0)
    from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure'
      and r.requested_at >= v_deletion.requested_at
  )
  where d.deletion_id = v_deletion.deletion_id and d.erased_records is null;

  -- Deletes from every table with a tenant_id: no future table is forgotten.
  for v_table in
    select format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where n.nspname in ('logloom', 'logloom_private') and c.relkind = 'r'
      and not c.relispartition and c.relname not in ('tenants', 'tenant_deletions')
    -- Deleting from the other tables adds audit events.
    order by c.relname = 'audit_events', 1
  loop
    execute format(
      'delete from %1$s t where t.tenant_id = $1 and t.ctid = any (array('
        'select l.ctid from %1$s l where l.tenant_id = $1 limit %2$s))',
      v_table, v_rows
    )
    using v_deletion.tenant_id;
    get diagnostics v_deleted = row_count;
    if v_deleted >= v_rows then
      return true;
    end if;
  end loop;
  delete from logloom.tenants t where t.tenant_id = v_deletion.tenant_id;
  delete from logloom.audit_events e where e.tenant_id = v_deletion.tenant_id;
  update logloom_private.tenant_deletions d set finished_at = clock_timestamp()
  where d.deletion_id = v_deletion.deletion_id;
  return true;
end;
$$;
