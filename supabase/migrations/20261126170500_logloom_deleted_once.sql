-- A tenant that two delete at once is deleted once.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

CREATE OR REPLACE FUNCTION logloom_private.abolish_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant_deletion
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    -- Another request may have been first.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = v_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    insert into logloom_private.tenant_deletions (tenant_id, requested_by)
    values (v_tenant_id, logloom_private.actor())
    returning * into v_deletion;
    delete from logloom.api_keys k where k.tenant_id = v_tenant_id;
    delete from logloom.log_streams s where s.tenant_id = v_tenant_id;
    delete from logloom_private.ingest_tokens t where t.tenant_id = v_tenant_id;
    delete from logloom.tenant_members m where m.tenant_id = v_tenant_id;
    update logloom.alert_rules r set enabled = false
    where r.tenant_id = v_tenant_id and r.enabled;
    -- Also those that say that the rules ended.
    delete from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.status = 'pending';
    perform logloom_private.request_erasure(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

select logloom_private.finish_migration();
