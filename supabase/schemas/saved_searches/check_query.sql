-- PT400 unless the query compiles and is not blank, PT429 where too many long ones of the tenant
-- are being compiled; for an alert rule, also when it has other stages than one aggregate, or
-- probably means something else than was meant.
create function logloom_private.check_query(p_query_dsl text, p_is_alert boolean default false)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
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
  if not p_is_alert then
    return;
  elsif v_query.plan ? 'first' and (
    (v_query.plan -> 'count')::integer > 1
    or v_query.plan ? 'bucket'
    or jsonb_array_length(v_query.plan -> 'aggregates') is distinct from 1
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$$;
