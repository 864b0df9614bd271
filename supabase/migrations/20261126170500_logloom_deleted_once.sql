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
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

select logloom_private.finish_migration();
