create function public.get_saved_search_categories()
returns text[]
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  return array(
    select distinct s.category
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.category is not null
    order by s.category
  );
end;
$$;

comment on function public.get_saved_search_categories() is
  'Categories of the saved searches that the caller can read, each once, sorted. '
  'Errors: PT400, PT401.';
