create function public.get_saved_search_count()
returns bigint
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
begin
  return (
    select count(*)
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.created_by = v_user_id
  );
end;
$$;

comment on function public.get_saved_search_count() is
  'How many saved searches the caller has. Errors: PT400, PT401.';
