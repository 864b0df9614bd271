-- What the tenant chose, else the default of its plan, never more than the plan allows.
create function logloom_private.retention_in_force(
  p_chosen integer,
  p_plan_default integer,
  p_plan_max integer
)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(coalesce(p_chosen, p_plan_default), p_plan_max);
end;
$$;

grant execute on function logloom_private.retention_in_force(integer, integer, integer)
to authenticated, service_role;
