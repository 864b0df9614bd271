-- The verified claims of the request's token as PostgREST set them; null outside a request.
create function logloom_private.claims()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- NUL, or half a surrogate pair: such claims name nobody.
exception when data_exception then
  return null;
end;
$$;

grant execute on function logloom_private.claims() to anon, authenticated, service_role;

-- The user of the request: the claim sub.
create function logloom_private.current_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'sub';
end;
$$;

grant execute on function logloom_private.current_user_id()
to anon, authenticated, service_role;

-- Whether the request runs as service_role, also when asked from within a definer function.
create function logloom_private.is_service_role()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return current_setting('role', true) = 'service_role';
end;
$$;

grant execute on function logloom_private.is_service_role()
to anon, authenticated, service_role;

-- The user of the request, where an operation cannot do without one. PT401 without the claim sub.
create function logloom_private.require_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant text := logloom_private.current_user_id();
begin
  if v_user_id is null or v_user_id !~ '[^[:space:]]' then
    perform logloom_private.refuse('callers.user_is_missing');
  end if;
  return v_user_id;
end;
$$;

grant execute on function logloom_private.require_user_id()
to anon, authenticated, service_role;

-- The id of a tenant or a user where it can name one: 1 to 255 characters without a control
-- character, and one that prints something in some script. Null otherwise.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if length(p_id) between 1 and 255
    and p_id !~ '[\u0001-\u001f\u007f-\u009f]'
    and p_id ~ (
      '[^\u0020\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
      '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
      '\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
    )
  then
    return p_id;
  end if;
  return null;
end;
$$;

grant execute on function logloom_private.usable_id(text) to anon, authenticated, service_role;

-- The OAuth client that the request's token was issued to: the claim client_id. Null where a user
-- signed in without one.
create function logloom_private.current_client_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'client_id';
end;
$$;

-- PT403 where the token was issued to an OAuth client that settings.writing_clients does not list.
create function logloom_private.require_writing_client(p_claims jsonb)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  if p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  ) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$$;

grant execute on function logloom_private.require_writing_client(jsonb)
to authenticated, service_role;

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
