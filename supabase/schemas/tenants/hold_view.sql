-- Raises PT404 unless the tenant of the request has the view. Locks the view until the transaction
-- ends. Does nothing if p_view_id is null.
create function logloom_private.hold_view(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a view
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if p_view_id is null then
    return;
  end if;
  perform
  from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = p_view_id and v.customer is null
  for key share;
  if not found then
    perform logloom_private.refuse('tenants.view_not_found');
  end if;
end;
$$;
