-- A slot of the tenant for the time that a query is compiled; PT429 with Retry-After where none is
-- free. Not one of searches: a page that searches has its query checked meanwhile.
create function logloom_private.take_validation_slot(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.free_search_slot(
    'validations of ' || p_tenant_id,
    (select s.concurrent_validations from logloom_private.settings s)
  ) is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$$;
