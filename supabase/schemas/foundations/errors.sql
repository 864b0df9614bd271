-- The register is functions, not a table: nobody needs a right to be refused, not even anon, and a
-- later migration finds a changed text as it finds any other change.
-- The errors of a register: foundations/errors/<register>.sql.
create function logloom_private.errors(p_register text)
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_register
    when 'alerts' then return query select e.* from logloom_private.alerts_errors() e;
    when 'api_keys' then return query select e.* from logloom_private.api_keys_errors() e;
    when 'callers' then return query select e.* from logloom_private.callers_errors() e;
    when 'ingest' then return query select e.* from logloom_private.ingest_errors() e;
    when 'notifications' then return query select e.* from logloom_private.notifications_errors() e;
    when 'parameters' then return query select e.* from logloom_private.parameters_errors() e;
    when 'query' then return query select e.* from logloom_private.query_errors() e;
    when 'regex' then return query select e.* from logloom_private.regex_errors() e;
    when 'saved_searches' then
      return query select e.* from logloom_private.saved_searches_errors() e;
    when 'search' then return query select e.* from logloom_private.search_errors() e;
    when 'stages' then return query select e.* from logloom_private.stages_errors() e;
    when 'tenants' then return query select e.* from logloom_private.tenants_errors() e;
    when 'usage' then return query select e.* from logloom_private.usage_errors() e;
  end case;
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
