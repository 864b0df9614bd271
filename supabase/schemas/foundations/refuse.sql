-- Returns the errors of a register: foundations/errors/<register>.sql. A register is a function,
-- not a table: callers need no privilege to read it, and migrations replace it.
create function logloom_private.errors(p_register text)
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format('select e.* from logloom_private.%I() e', p_register || '_errors');
end;
$$;

-- Returns the error p_name, with p_values in its message and hint.
create function logloom_private.error_named(p_name text, p_values text[])
returns logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error logloom_private.error;
begin
  select e.* into v_error
  from logloom_private.errors(split_part(p_name, '.', 1)) e
  where e.name = p_name;
  if not found then
    raise exception using
      errcode = 'internal_error',
      message = format('The register has no error %s', p_name);
  end if;
  v_error.message := format(v_error.message, variadic p_values);
  v_error.hint := format(v_error.hint, variadic p_values);
  return v_error;
end;
$$;

-- Raises the error p_name. Users get errors only from the functions in this file. The code is PT
-- and the HTTP status with which PostgREST answers. details has the name.
create function logloom_private.refuse(p_name text, variadic p_values text[] default '{}')
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  if v_error.hint is null then
    raise exception using
      errcode = 'PT' || v_error.status,
      message = v_error.message,
      detail = jsonb_build_object('name', p_name);
  end if;
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name),
    hint = v_error.hint;
end;
$$;

-- Raises the error with its position in the query.
create function logloom_private.refuse_at(
  p_position integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name, 'position', p_position),
    hint = v_error.hint;
end;
$$;

-- Raises the error of a query again, with another hint.
create function logloom_private.refuse_again(p_message text, p_detail text, p_hint text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'PT400', message = p_message, detail = p_detail, hint = p_hint;
end;
$$;

-- Raises an error of a document again, with the document's index, if it has one.
create function logloom_private.refuse_in_document(
  p_state text,
  p_message text,
  p_detail text,
  p_hint text,
  p_index integer
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = p_state, message = p_message, hint = coalesce(p_hint, ''),
    detail = coalesce(nullif(p_detail, ''), '{}')::jsonb
      || jsonb_strip_nulls(jsonb_build_object('document', p_index));
end;
$$;

-- Raises the error with Retry-After: the request is valid but must wait.
create function logloom_private.refuse_for_now(
  p_seconds integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_with_headers(
    jsonb_build_object('Retry-After', p_seconds::text), p_name, variadic p_values
  );
end;
$$;

create function logloom_private.refuse_with_headers(
  p_headers jsonb,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST takes status and headers from an error of this form.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message,
      'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;

-- Returns the error as an answer instead of raising it, so that the transaction commits. Operations
-- that count failures need this.
create function logloom_private.refuse_and_keep(
  p_name text,
  variadic p_values text[] default '{}'
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- Sets the status of the answer. A raised error would roll back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message,
    'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
  );
end;
$$;
