-- Calls an operation in a scope and returns its answer as PostgREST would write it. p_parameters:
-- the parameters by name. Operations of customers exist only for portal sessions. A session may
-- call them only if its parts name them.
create function logloom_private.read_in_scope(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_parameters jsonb
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_callers text[];
  v_reader text;
  v_operation pg_proc;
  v_unknown text;
  v_arguments text;
  v_invalid record;
  v_answer json;
begin
  select o.callers, o.reader into v_callers, v_reader
  from logloom_private.operation_list() o
  where o.operation = p_operation and o.reader is not null;
  if not found
    or v_callers @> '{customer}' and p_scope.kind is distinct from 'portal_session'
  then
    perform logloom_private.refuse('reading.operation_is_unknown', p_operation);
  elsif v_callers @> '{customer}' and (p_operation = any (p_scope.operations)) is not true then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  elsif jsonb_typeof(p_parameters) <> 'object' then
    perform logloom_private.refuse('reading.parameters_are_no_object');
  end if;
  select p.* into v_operation
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname = p_operation;
  select min(n) into v_unknown
  from jsonb_object_keys(p_parameters) n
  where n <> all (v_operation.proargnames);
  if v_unknown is not null then
    perform logloom_private.refuse(
      'reading.parameter_is_unknown', left(v_unknown, 60),
      array_to_string(v_operation.proargnames, ', ')
    );
  end if;
  -- A JSON array becomes PostgreSQL's text of an array.
  select p_parameters || coalesce(jsonb_object_agg(
    a.name, array(select jsonb_array_elements_text(p_parameters -> a.name))::text
  ), '{}')
  into p_parameters
  from unnest(v_operation.proargnames, v_operation.proargtypes) a (name, type)
  where format_type(a.type, null) like '%[]' and jsonb_typeof(p_parameters -> a.name) = 'array';
  select a.name, format_type(a.type, null) as type into v_invalid
  from unnest(v_operation.proargnames, v_operation.proargtypes) a (name, type)
  where a.type <> 'jsonb'::regtype and (
    jsonb_typeof(p_parameters -> a.name) in ('array', 'object')
    or not pg_input_is_valid(p_parameters ->> a.name, format_type(a.type, null))
  );
  if found then
    perform logloom_private.refuse(
      'reading.parameter_is_invalid', v_invalid.name, v_invalid.type
    );
  end if;
  select string_agg(
    case when a.type = 'jsonb'::regtype then format(', nullif($2 -> %L, ''null'')', a.name)
      else format(', ($2 ->> %L)::%s', a.name, format_type(a.type, null)) end,
    '' order by a.n
  )
  into v_arguments
  from unnest(v_operation.proargnames, v_operation.proargtypes) with ordinality a (name, type, n);
  -- Audit events name this session as their actor.
  perform set_config('logloom.portal_session', coalesce(p_scope.session_id::text, ''), true);
  execute format(
    case when v_operation.proretset
      then 'select coalesce(json_agg(r), ''[]'') from logloom_private.%I($1%s) r'
      else 'select to_json(r) from logloom_private.%I($1%s) r' end,
    v_reader, v_arguments
  )
  into v_answer
  using p_scope, p_parameters;
  perform set_config('logloom.portal_session', '', true);
  return v_answer;
end;
$$;
