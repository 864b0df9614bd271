-- Raises PT400 for a document that cannot be applied. Returns its type.
create function logloom_private.checked_document(p_document jsonb)
returns logloom_private.file_type
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type logloom_private.file_type;
  v_unknown text;
begin
  perform logloom_private.known_file_types(array[coalesce(p_document ->> 'type', '')]);
  select t.* into v_type
  from logloom_private.file_types() t
  where t.type = p_document ->> 'type';
  if jsonb_typeof(p_document -> 'fields') is distinct from 'object'
    or jsonb_typeof(p_document -> 'name') is distinct from 'string'
    or p_document ->> 'name' <> logloom_private.trim_space(p_document ->> 'name')
    or p_document ->> 'name' = ''
    or v_type.deletes is null and p_document ->> 'name' <> v_type.type
    or jsonb_typeof(p_document #> '{fields,secrets}') not in ('object', 'null')
  then
    perform logloom_private.refuse('files.document_is_invalid');
  end if;
  select min(f.name) into v_unknown
  from jsonb_object_keys(p_document -> 'fields') f (name)
  where not v_type.fields ? f.name;
  if v_type.name_member = v_type.id_member and p_document ->> 'renamed_from' is not null then
    v_unknown := 'renamed_from';
  end if;
  if v_unknown is not null then
    perform logloom_private.refuse(
      'files.field_is_unknown', v_type.type, left(v_unknown, 60),
      (select string_agg(f, ', ') from jsonb_object_keys(v_type.fields) f)
    );
  end if;
  return v_type;
end;
$$;

-- Returns the types that the caller may list. Some lists need a user, which service_role is not.
create function logloom_private.listed_file_types()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select t.type
    from logloom_private.file_types() t
    join logloom_private.operation_list() o on o.operation = t.lists
    where not logloom_private.is_service_role() or 'service_role' = any (o.callers)
  );
end;
$$;

-- Returns the types with these names, by position. Raises PT400 for an unknown name, or for a type
-- that the caller cannot list at all.
create function logloom_private.known_file_types(p_types text[])
returns setof logloom_private.file_type
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all constant text[] := array(select t.type from logloom_private.file_types() t);
begin
  if not p_types <@ v_all then
    perform logloom_private.refuse('files.type_is_unknown', array_to_string(v_all, ', '));
  elsif not p_types <@ logloom_private.listed_file_types() then
    perform logloom_private.refuse('files.type_needs_a_user');
  end if;
  return query
  select t.* from logloom_private.file_types() t
  where t.type = any (p_types) order by t.position;
end;
$$;

create function public.apply_tenant_files(
  p_documents jsonb default null,
  p_pruned_types text[] default '{}',
  p_tenant_id text default null
)
returns public.logloom_file_change[]
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '20s'
as $$
begin
  return logloom_private.apply_documents(p_tenant_id, p_documents, p_pruned_types);
end;
$$;

comment on function public.apply_tenant_files(jsonb, text[], text) is
  'Makes the tenant as the documents describe it, in one transaction, and returns the changes. '
  'p_documents: at most 1,000 objects {type, name, renamed_from, fields}. Each change has the '
  'checks, limits and audit events of the operation for it. What is not described stays, except '
  'in p_pruned_types, whose things are deleted. details of an error has the index of its '
  'document. Errors: PT400, PT401, PT403, PT404, PT408, PT409, PT429.';

create function public.preview_tenant_files(
  p_documents jsonb default null,
  p_pruned_types text[] default '{}',
  p_tenant_id text default null
)
returns public.logloom_file_change[]
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '20s'
as $$
declare
  v_changes public.logloom_file_change[];
begin
  v_changes := logloom_private.apply_documents(p_tenant_id, p_documents, p_pruned_types);
  raise exception using errcode = 'triggered_action_exception';
exception when triggered_action_exception then
  -- The exception undoes all changes of rows, but v_changes keeps its value.
  return v_changes;
end;
$$;

comment on function public.preview_tenant_files(jsonb, text[], text) is
  'Returns what apply_tenant_files would change, and raises its errors, but changes nothing. '
  'Errors: PT400, PT401, PT403, PT404, PT408, PT409, PT429.';

create function public.export_tenant_files(
  p_types text[] default null,
  p_tenant_id text default null
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_role constant text := logloom_private.acting_role(
    v_tenant_id, logloom_private.current_user_id(), logloom_private.claims()
  );
  v_listed constant text[] := case
    when v_role = 'member' then array_remove(logloom_private.listed_file_types(), 'streams')
    else logloom_private.listed_file_types()
  end;
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'type', t.type, 'name', i.thing -> 'name', 'fields', (
        select coalesce(jsonb_object_agg(f.key, f.value), '{}')
        from jsonb_each(i.thing -> 'fields') f
        where f.value is distinct from t.fields -> f.key
      )
    ) order by t.position, i.n), '[]')
    from logloom_private.known_file_types(coalesce(p_types, v_listed)) t
    cross join lateral jsonb_array_elements(
      logloom_private.file_things(t, v_tenant_id)
    ) with ordinality i (thing, n)
    where t.deletes is not null or i.thing -> 'fields' <> t.fields
  );
end;
$$;

comment on function public.export_tenant_files(text[], text) is
  'Returns the tenant''s things as documents [{type, name, fields}], oldest first, without fields '
  'that have their defaults. p_types: by default all that the caller can list; streams are for '
  'admins. Of searches and dashboards only those that the caller shared, of silences only those '
  'with a comment that recur without an end. secrets says which are set. Errors: PT400, PT401, '
  'PT403.';
