-- Queues the erasure of all records of a tenant.
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

-- Begins to delete a tenant. Deletes its keys, tokens, members and streams at once, and queues the
-- erasure of its records.
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
  -- Also deletes the notifications about ended incidents: disabling the rules has added them.
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
    -- resolve_tenant_to_change would advise to leave the id out. Here it is required.
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
