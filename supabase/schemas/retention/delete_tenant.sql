create function logloom_private.request_erasure(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  select
    p_tenant_id, 'erasure', 'queued', logloom_private.actor(), clock_timestamp(), 'ts:*',
    '1970-01-01 00:00:00+00',
    -- Later than any record, even a queued one, or one from before ingest_future_limit was lowered.
    greatest(
      now() + greatest(s.ingest_future_limit, interval '1 day') + interval '1 day',
      (
        select logloom_private.day_start(max(d.day) + 1)
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
      )
    ),
    false
  from logloom_private.settings s;
end;
$$;

-- Deletes a tenant's keys, tokens, members and streams at once, and queues the erasure of its
-- records.
create function logloom_private.begin_tenant_deletion(p_tenant_id text)
returns logloom_private.tenant_deletions
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deletion logloom_private.tenant_deletions;
begin
  insert into logloom_private.tenant_deletions (tenant_id, requested_by)
  values (p_tenant_id, logloom_private.actor())
  returning * into v_deletion;
  delete from logloom.api_keys k where k.tenant_id = p_tenant_id;
  delete from logloom.log_streams s where s.tenant_id = p_tenant_id;
  delete from logloom_private.ingest_tokens t where t.tenant_id = p_tenant_id;
  delete from logloom.tenant_members m where m.tenant_id = p_tenant_id;
  update logloom.alert_rules r set enabled = false
  where r.tenant_id = p_tenant_id and r.enabled;
  -- Disabling the rules added notifications about ended incidents. Deletes these, too.
  delete from logloom_private.notifications n
  where n.tenant_id = p_tenant_id and n.status = 'pending';
  perform logloom_private.request_erasure(p_tenant_id);
  return v_deletion;
end;
$$;

-- Deletes a tenant. Its keys and members are deleted at once; the job run_deletions deletes
-- everything else.
create function logloom_private.abolish_tenant(p_tenant_id text)
returns public.logloom_tenant_deletion
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- A repeated call returns the running deletion.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    -- Unlike resolve_tenant_to_change, does not advise to leave the id out: here it is required.
    if not logloom_private.is_service_role()
      and p_tenant_id <> logloom_private.resolve_tenant_to_change()
    then
      perform logloom_private.refuse('tenants.deletes_another');
    end if;
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    -- Another request may have deleted the tenant meanwhile.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = v_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$$;

create function public.delete_tenant(p_tenant_id text default null)
returns public.logloom_tenant_deletion
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  return logloom_private.abolish_tenant(p_tenant_id);
end;
$$;

comment on function public.delete_tenant(text) is
  'Deletes the tenant with all its data. Only owners may call it. They must name the tenant. Its '
  'keys and tokens are refused at once. A job deletes the rest and leaves a receipt in '
  'logloom_private.tenant_deletions. Only then is the id free again. Errors: PT400, PT401, PT403, '
  'PT404.';

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

  -- Requests that were running when the deletion began have ended by now. Queue a second erasure
  -- for their records.
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
    -- audit_events comes last, because deleting from the other tables adds audit events.
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
