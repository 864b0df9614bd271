-- Whether verified claims of service_role may act now: token_is_current().
create function logloom_private.service_token_is_valid(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  return logloom_private.token_is_current(
    p_claims, (select s.token_leeway from logloom_private.settings s)
  );
end;
$$;

grant execute on function logloom_private.service_token_is_valid(jsonb)
to authenticated, service_role;
