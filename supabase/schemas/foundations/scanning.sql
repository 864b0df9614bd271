-- The tenant's id. Lets take_turn(), where it is given no scan, take the turns of this one to the
-- end of the transaction: on a node, which knows no setting of who asks.
create function logloom_private.scanning(p_tenant_id text, p_scan text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('logloom.scan', p_scan, true);
  return p_tenant_id;
end;
$$;
