-- Makes a view; what public.create_log_view answers.
create function logloom_private.make_log_view(
  p_tenant_id text,
  p_name text,
  p_query_dsl text,
  p_hidden_fields text[],
  p_operations text[]
)
returns public.logloom_log_view
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes views, which limit other users
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_views;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  v_row.hidden_fields := logloom_private.checked_hidden_fields(p_hidden_fields);
  v_row.operations := logloom_private.checked_view_operations(p_operations);
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_views;
  if (select count(*) from logloom.log_views v where v.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('views.no_room', v_max::text);
  end if;
  insert into logloom.log_views (
    tenant_id, name, query_dsl, hidden_fields, operations, created_by
  )
  values (
    v_row.tenant_id, v_row.name, v_row.query_dsl, v_row.hidden_fields, v_row.operations,
    logloom_private.actor()
  )
  returning * into v_row;
  return logloom_private.log_view_of(v_row);
exception
when unique_violation then
  perform logloom_private.refuse('views.name_is_taken');
  return null;
when check_violation then
  perform logloom_private.refuse('views.name_is_invalid');
  return null;
end;
$$;

create function public.create_log_view(
  p_tenant_id text default null,
  p_name text default null,
  p_query_dsl text default null,
  p_hidden_fields text[] default null,
  p_operations text[] default null
)
returns public.logloom_log_view
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_log_view(
    p_tenant_id, p_name, p_query_dsl, p_hidden_fields, p_operations
  );
end;
$$;

comment on function public.create_log_view(text, text, text, text[], text[]) is
  'Creates a view of the logs and returns it. What is bound to it, a viewer or an API key, reads '
  'the records that p_query_dsl finds (a query without stages; all by default), without '
  'p_hidden_fields (names of fields, attrs, attrs.PATH), by p_operations (names of reading '
  'operations; all by default, but for those that list alerts). p_name: 1 to 100 characters after '
  'trimming. For admins. Errors: PT400 (plan limit, too), PT401, PT403, PT409 (the name is taken).';
