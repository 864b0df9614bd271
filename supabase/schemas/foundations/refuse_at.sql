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
