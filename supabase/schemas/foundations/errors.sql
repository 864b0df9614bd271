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
