create function public.get_saved_search(p_id uuid default null)
returns public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  select s.* into v_row
  from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
end;
$$;

comment on function public.get_saved_search(uuid) is
  'A saved search of the caller, or one that a colleague shares. Errors: PT400, PT401, PT404.';
