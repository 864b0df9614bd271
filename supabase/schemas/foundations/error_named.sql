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
