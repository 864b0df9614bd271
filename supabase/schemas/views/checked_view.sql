-- Checks the parts of a view and returns them in canonical form. PT400 if one is invalid.

-- Checks the query of a view: a filter without stages or warnings; null if blank.
create function logloom_private.checked_view_query(p_query_dsl text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'views.query_has_stages'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
  return case when not v_query.blank then p_query_dsl end;
end;
$$;

-- Checks hidden fields and returns them in the form of scopes: columns, attrs, and attrs.PATH with
-- dots between keys, each once. Hiding level also hides attrs.original_level, in which ingest keeps
-- an unknown level.
create function logloom_private.checked_hidden_fields(p_hidden_fields text[])
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := '{}';
  v_name text;
begin
  if cardinality(p_hidden_fields) > 100 or array_ndims(p_hidden_fields) > 1 then
    perform logloom_private.refuse('views.too_many_hidden_fields');
  end if;
  foreach v_name in array coalesce(p_hidden_fields, '{}') loop
    v_name := logloom_private.trim_space(v_name);
    if v_name is distinct from 'attrs' then
      if v_name is null or length(v_name) not between 1 and 200
        or v_name in ('id', 'tenant_id', 'ts', 'received_at', 'any')
      then
        perform logloom_private.refuse(
          'views.field_cannot_be_hidden', coalesce(left(v_name, 60), 'null')
        );
      end if;
      begin
        v_name := logloom_private.hidden_name(logloom_private.query_field(v_name, 1));
      exception when sqlstate 'PT400' then
        -- The hint of this error says how to write queries, not how to name hidden fields.
        perform logloom_private.refuse('views.field_cannot_be_hidden', left(v_name, 60));
      end;
    end if;
    v_names := v_names || v_name;
    if v_name = 'level' then
      v_names := v_names || 'attrs.original_level'::text;
    end if;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$$;

-- Checks the operations of a view and returns each once. Returns null for {all}, which means the
-- default operations.
create function logloom_private.checked_view_operations(p_operations text[])
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text;
begin
  if p_operations = '{all}' then
    return null;
  end if;
  select coalesce(left(o.name, 60), 'null') into v_unknown
  from unnest(p_operations) o (name)
  where not exists (
    select from logloom_private.reading_operations() r where r.operation = o.name and r.in_views
  )
  limit 1;
  if found or cardinality(p_operations) = 0 then
    perform logloom_private.refuse(
      'views.operation_is_unknown', coalesce(v_unknown, 'none'),
      (
        select string_agg(r.operation, ', ')
        from logloom_private.reading_operations() r
        where r.in_views
      )
    );
  end if;
  return (
    select array_agg(distinct o.name collate "C" order by o.name collate "C")
    from unnest(p_operations) o (name)
  );
end;
$$;
