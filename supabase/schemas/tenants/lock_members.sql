-- Held to the end of the transaction: one at a time changes who belongs to a tenant, so that the
-- last owner stays and a limit holds.
create function logloom_private.lock_members(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('members'), hashtext(p_tenant_id));
end;
$$;
