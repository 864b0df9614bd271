create function public.delete_saved_search(p_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  delete from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_saved_search(uuid) is
  'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
