-- When the UTC month ends.
create function logloom_private.month_end(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC';
end;
$$;

grant execute on function logloom_private.month_end(timestamptz)
to authenticated, service_role;
