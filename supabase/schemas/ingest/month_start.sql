-- First day of the UTC month.
create function logloom_private.month_start(p_at timestamptz)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return date_trunc('month', p_at at time zone 'UTC');
end;
$$;

grant execute on function logloom_private.month_start(timestamptz)
to authenticated, service_role;
