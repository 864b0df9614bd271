-- A slot of the tenant for the time that a query is compiled; PT429 with Retry-After where none is
-- free. Not one of searches: a page that searches has its query checked meanwhile.
create function logloom_private.take_validation_slot(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from generate_series(
    1, (select s.concurrent_validations from logloom_private.settings s)
  ) n
  where pg_try_advisory_xact_lock(
    logloom_private.search_slot_key('validations of ' || p_tenant_id, n)
  )
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$$;
