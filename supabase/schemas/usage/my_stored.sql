-- What the records of the request's tenant take on disk. Blocks say it themselves; rows share
-- partitions with those of other tenants, so that theirs is a share of a partition's size.
create function logloom_private.my_stored(p_tenant_id text)
returns public.logloom_stored
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles read neither blocks nor counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed bigint;
begin
  select coalesce(sum(c.bytes), 0) into v_sealed
  from logloom_private.blocks c
  where c.tenant_id = v_tenant_id;
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
exception
when query_canceled then
  -- 504: at a 503 PostgREST would connect anew and read its schema again, for everybody.
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.my_stored(p_tenant_id);
end;
$$;
