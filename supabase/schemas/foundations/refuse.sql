-- The errors of a register: foundations/errors/<register>.sql. These are functions, not a table:
-- nobody needs a right to be refused, and a migration changes a text as it changes a function.
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

-- An error of the register with the values of a case in its message and hint.
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

-- Raises the error of this name. Nothing but this and its like (refuse_at, refuse_with_headers,
-- refuse_for_now, refuse_and_keep) tells a user of an error: the code is PT and the status, which
-- PostgREST answers; details carries the name.
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

-- Raises the error of this name with the place in the query where it is.
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

-- Raises the error of this name with Retry-After: what is asked is in order, but not now.
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

-- Raises the error of this name with headers for its answer.
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
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message,
      'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;

-- The answer of an operation that is refused with the error of this name, whose transaction is
-- committed all the same: for what counts failures.
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
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message,
    'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
  );
end;
$$;
