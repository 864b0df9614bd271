-- A query that is to be kept, compiled. PT400 unless it compiles and is not blank, PT429 where too
-- many long ones of the tenant are being compiled.
create function logloom_private.checked_query(p_query_dsl text)
returns logloom_private.compiled_query
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(
      coalesce(logloom_private.current_tenant_id(), '')
    );
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  return v_query;
end;
$$;

create function logloom_private.check_query(p_query_dsl text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  perform logloom_private.checked_query(p_query_dsl);
end;
$$;
