-- PT403 where the token is of an anonymous sign-in, which makes no tenant unless
-- settings.tenants_by_anonymous_users says so.
create function logloom_private.require_lasting_user(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_claims -> 'is_anonymous', 'false') not in ('false', 'null')
    and not (select s.tenants_by_anonymous_users from logloom_private.settings s)
  then
    perform logloom_private.refuse('tenants.not_made_by_anonymous_users');
  end if;
end;
$$;
