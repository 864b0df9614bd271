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
