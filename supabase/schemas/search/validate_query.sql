-- Takes one of two validation slots of the reader: of the tenant's members together, of a customer,
-- of a session without a customer, or of a view. So customers stop neither members nor each other.
-- PT429 with Retry-After if none is free. Takes no search slot, because a page validates its query
-- while it searches.
create function logloom_private.take_validation_slot(p_scope logloom_private.reading_scope)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner constant text := jsonb_build_array(
    p_scope.tenant_id, p_scope.customer,
    case when p_scope.customer is null then coalesce(p_scope.session_id, p_scope.view_id) end
  )::text;
begin
  perform
  from generate_series(1, 2) n
  where pg_try_advisory_xact_lock(
    logloom_private.search_slot_key('validations of ' || v_owner, n)
  )
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$$;

-- Takes a validation slot for a query that will be saved. A short query needs none, because
-- compiling it costs little.
create function logloom_private.take_slot_to_keep(
  p_scope logloom_private.reading_scope,
  p_query_dsl text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_quick_bytes constant integer := 256;
begin
  if octet_length(p_query_dsl) > v_quick_bytes then
    perform logloom_private.take_validation_slot(p_scope);
  end if;
end;
$$;

-- Returns the answer of public.validate_query. Takes a validation slot.
create function logloom_private.read_query_validity(
  p_scope logloom_private.reading_scope,
  p_query_dsl text
)
returns public.logloom_query_validity
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may call the compiler
begin
  p_scope := logloom_private.checked_scope(p_scope, 'validate_query');
  perform logloom_private.take_validation_slot(p_scope);
  return jsonb_populate_record(
    null::public.logloom_query_validity,
    logloom_private.query_verdict(p_query_dsl, p_scope.hidden_fields)
  );
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.validate_query(p_query_dsl text default null)
returns public.logloom_query_validity
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  return logloom_private.read_query_validity(null, p_query_dsl);
end;
$$;

comment on function public.validate_query(text) is
  'Tells whether p_query_dsl compiles: {valid, error, position, hint, warnings: [{position, '
  'message, suggestion}]}. Errors: PT400, PT401, PT408, PT429.';
