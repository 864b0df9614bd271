-- Returns the counted reads of a key of the request's tenant, newest day first.
create function logloom_private.my_key_reads(p_tenant_id text, p_key_id uuid)
returns public.logloom_key_reads[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return array(
    select row(r.operation, r.day, sum(r.reads))::public.logloom_key_reads
    from logloom_private.key_reads r
    join logloom.api_keys k on k.key_id = r.key_id
    where k.key_id = p_key_id and k.tenant_id = v_tenant_id
    group by r.operation, r.day
    order by r.day desc, r.operation
  );
end;
$$;
