create function logloom_private.claims()
returns jsonb
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- NUL, or half a surrogate pair: such claims name nobody.
exception when data_exception then
  return null;
end;
$$;

revoke all on function logloom_private.claims() from public;

comment on function logloom_private.claims() is
  'The verified claims of the request''s token as PostgREST set them; null outside a request.';

grant execute on function logloom_private.claims() to anon, authenticated, service_role;

create function logloom_private.current_user_id()
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'sub';
end;
$$;

revoke all on function logloom_private.current_user_id() from public;

comment on function logloom_private.current_user_id() is 'The user of the request: the claim sub.';

grant execute on function logloom_private.current_user_id()
to anon, authenticated, service_role;

create function logloom_private.is_service_role()
returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return current_setting('role', true) = 'service_role';
end;
$$;

revoke all on function logloom_private.is_service_role() from public;

comment on function logloom_private.is_service_role() is
  'Whether the request runs as service_role, also when asked from within a definer function.';

grant execute on function logloom_private.is_service_role()
to anon, authenticated, service_role;

create function logloom_private.require_user_id()
returns text
language plpgsql
stable
security invoker
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

revoke all on function logloom_private.require_user_id() from public;

comment on function logloom_private.require_user_id() is
  'The user of the request, where an operation cannot do without one. PT401 without the claim sub.';

grant execute on function logloom_private.require_user_id()
to anon, authenticated, service_role;

-- What prints nothing in any script: white space, format characters, fillers, variation selectors.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
security invoker
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

revoke all on function logloom_private.usable_id(text) from public;

comment on function logloom_private.usable_id(text) is
  'The id of a tenant or a user where it can name one: 1 to 255 characters without a control '
  'character, not blank in any script. Null otherwise.';

grant execute on function logloom_private.usable_id(text) to anon, authenticated, service_role;

create function logloom_private.usable_tenant_id(p_tenant_id text)
returns text
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.usable_id(p_tenant_id);
end;
$$;

revoke all on function logloom_private.usable_tenant_id(text) from public;

comment on function logloom_private.usable_tenant_id(text) is
  'The tenant id where it can name a tenant: see usable_id(). Null otherwise.';

grant execute on function logloom_private.usable_tenant_id(text)
to anon, authenticated, service_role;

create function logloom_private.token_is_valid(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
declare
  v_now constant numeric := extract(epoch from now());
  v_leeway numeric;
  v_audience text;
begin
  select extract(epoch from s.token_leeway), s.token_audience into v_leeway, v_audience
  from logloom_private.settings s;
  return coalesce(
    jsonb_typeof(p_claims -> 'exp') = 'number'
    and (p_claims ->> 'exp')::numeric + v_leeway > v_now
    and (
      not p_claims ? 'nbf'
      or jsonb_typeof(p_claims -> 'nbf') = 'number'
        and (p_claims ->> 'nbf')::numeric - v_leeway <= v_now
    )
    and (
      not p_claims ? 'iat'
      or jsonb_typeof(p_claims -> 'iat') = 'number'
        and (p_claims ->> 'iat')::numeric - v_leeway <= v_now
    )
    and (
      v_audience is null
      or p_claims -> 'aud' = to_jsonb(v_audience)
      or jsonb_typeof(p_claims -> 'aud') = 'array' and p_claims -> 'aud' ? v_audience
    )
    and (
      not p_claims ? 'sub'
      or jsonb_typeof(p_claims -> 'sub') = 'string'
        and logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$$;

revoke all on function logloom_private.token_is_valid(jsonb) from public;

comment on function logloom_private.token_is_valid(jsonb) is
  'Whether verified claims may act now: exp is there and ahead, nbf and iat are not, give or take '
  'token_leeway; aud is token_audience or contains it where that is set; sub can name a user. '
  'The one verdict of every door; who verified the signature may be stricter.';

grant execute on function logloom_private.token_is_valid(jsonb) to authenticated, service_role;
