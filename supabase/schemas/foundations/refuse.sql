-- Each way to refuse what is asked. Nothing else raises an error that a user gets: the code is PT
-- and the status, which PostgREST answers.

-- Raises the error of this name.
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
    raise exception using errcode = 'PT' || v_error.status, message = v_error.message;
  end if;
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
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
    detail = format('{"position": %s}', p_position),
    hint = v_error.hint;
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
      'code', 'PT' || v_error.status, 'message', v_error.message, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;

grant execute on function logloom_private.refuse_with_headers(jsonb, text, text[])
to authenticated, service_role;

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

grant execute on function logloom_private.refuse_for_now(integer, text, text[])
to authenticated, service_role;

-- The answer of an operation that is refused with the error of this name, whose transaction is
-- committed all the same: for what counts failures.
create function logloom_private.refuse_and_keep(
  p_name text,
  variadic p_values text[] default '{}'
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message, 'details', null,
    'hint', v_error.hint
  );
end;
$$;
