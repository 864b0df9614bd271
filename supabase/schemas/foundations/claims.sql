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

create function logloom_private.numeric_date(p_claim jsonb)
returns numeric
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_claim) = 'number' and abs(p_claim::numeric) < 1e15 then
    return p_claim::numeric;
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.numeric_date(jsonb) from public;

comment on function logloom_private.numeric_date(jsonb) is
  'The time that a claim names, in seconds; null where it names none.';

create function logloom_private.is_string_or_uri(p_claim jsonb)
returns boolean
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_typeof(p_claim) = 'string' and (
    strpos(p_claim #>> '{}', ':') = 0
    or p_claim #>> '{}'
      ~ '^[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#@!$&''()*+,;=-]|%[0-9A-Fa-f]{2})*$'
  );
end;
$$;

revoke all on function logloom_private.is_string_or_uri(jsonb) from public;

comment on function logloom_private.is_string_or_uri(jsonb) is
  'Whether a claim is what RFC 7519 calls StringOrURI: with a colon it is a URI. PostgREST asks '
  'the same of iss, sub and aud.';

create function logloom_private.sent_claims(p_authorization text)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part constant text := split_part(p_authorization, '.', 2);
  v_text text;
begin
  if split_part(p_authorization, '.', 3) = '' or split_part(p_authorization, '.', 4) <> '' then
    return null;
  end if;
  v_text := convert_from(
    decode(
      rpad(translate(v_part, '-_', '+/'), (length(v_part) + 3) / 4 * 4, '='), 'base64'
    ),
    'UTF8'
  );
  -- Of two members of one name PostgREST takes the first, others the last.
  if v_text is json object with unique keys then
    return v_text::jsonb;
  end if;
  return '{}';
exception when data_exception or character_not_in_repertoire then
  return '{}';
end;
$$;

revoke all on function logloom_private.sent_claims(text) from public;

grant execute on function logloom_private.sent_claims(text) to authenticated, service_role;

comment on function logloom_private.sent_claims(text) is
  'The claims as the token of an Authorization header says them, before PostgREST reads them. '
  'Empty, which is nobody''s, where they are no JSON object or two members of one have the same '
  'name; null where the header holds no token of three parts. Its signature is PostgREST''s to '
  'verify.';

create function logloom_private.token_is_current(p_claims jsonb, p_leeway interval)
returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  -- One expression: each costs every request.
  return coalesce(
    logloom_private.numeric_date(p_claims -> 'exp') > extract(epoch from now() - p_leeway)
    and (
      not p_claims ? 'nbf'
      or logloom_private.numeric_date(p_claims -> 'nbf') <= extract(epoch from now() + p_leeway)
    )
    and (
      not p_claims ? 'iat'
      or logloom_private.numeric_date(p_claims -> 'iat') <= extract(epoch from now() + p_leeway)
    ),
    false
  );
end;
$$;

revoke all on function logloom_private.token_is_current(jsonb, interval) from public;

comment on function logloom_private.token_is_current(jsonb, interval) is
  'Whether it is the time of verified claims: exp is there and ahead, nbf and iat are not, give or '
  'take the leeway.';

create function logloom_private.audience_is_valid(p_aud jsonb, p_audience text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_aud is null then
    return p_audience is null;
  end if;
  if jsonb_typeof(p_aud) <> 'array' then
    return logloom_private.is_string_or_uri(p_aud)
      and (p_audience is null or p_aud = to_jsonb(p_audience));
  end if;
  return p_aud <> '[]'
    and (p_audience is null or p_aud ? p_audience)
    and (
      select bool_and(logloom_private.is_string_or_uri(a.value)) from jsonb_array_elements(p_aud) a
    );
end;
$$;

revoke all on function logloom_private.audience_is_valid(jsonb, text) from public;

comment on function logloom_private.audience_is_valid(jsonb, text) is
  'Whether a claim aud is a string or an array of some, and is or contains p_audience where that '
  'is not null.';

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

revoke all on function logloom_private.service_token_is_valid(jsonb) from public;

grant execute on function logloom_private.service_token_is_valid(jsonb)
to authenticated, service_role;

comment on function logloom_private.service_token_is_valid(jsonb) is
  'Whether verified claims of service_role may act now: token_is_current().';

create function logloom_private.token_is_valid(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
declare
  v_leeway interval;
  v_audience text;
begin
  select s.token_leeway, s.token_audience into v_leeway, v_audience
  from logloom_private.settings s;
  return coalesce(
    logloom_private.token_is_current(p_claims, v_leeway)
    and logloom_private.audience_is_valid(p_claims -> 'aud', v_audience)
    and (not p_claims ? 'iss' or logloom_private.is_string_or_uri(p_claims -> 'iss'))
    and (not p_claims ? 'jti' or jsonb_typeof(p_claims -> 'jti') = 'string')
    and (
      not p_claims ? 'sub'
      or logloom_private.is_string_or_uri(p_claims -> 'sub')
        and logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$$;

revoke all on function logloom_private.token_is_valid(jsonb) from public;

comment on function logloom_private.token_is_valid(jsonb) is
  'Whether verified claims may act now: token_is_current(); aud, iss, jti and sub are strings, aud '
  'may be an array of some, and is or contains token_audience where that is set; sub can name a '
  'user. The one verdict of every door; who verified the signature may be stricter.';

grant execute on function logloom_private.token_is_valid(jsonb) to authenticated, service_role;

create function logloom_private.current_client_id()
returns text
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'client_id';
end;
$$;

revoke all on function logloom_private.current_client_id() from public;

comment on function logloom_private.current_client_id() is
  'The OAuth client that the request''s token was issued to: the claim client_id. Null where a '
  'user signed in without one.';

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

revoke all on function logloom_private.require_writing_client(jsonb) from public;

grant execute on function logloom_private.require_writing_client(jsonb)
to authenticated, service_role;

comment on function logloom_private.require_writing_client(jsonb) is
  'PT403 where the token was issued to an OAuth client that settings.writing_clients does not '
  'list.';

create function logloom_private.require_lasting_user(p_claims jsonb)
returns void
language plpgsql
stable
security invoker
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

revoke all on function logloom_private.require_lasting_user(jsonb) from public;

comment on function logloom_private.require_lasting_user(jsonb) is
  'PT403 where the token is of an anonymous sign-in, which makes no tenant unless '
  'settings.tenants_by_anonymous_users says so.';
