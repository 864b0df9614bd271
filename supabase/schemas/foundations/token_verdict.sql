-- Whether a token is one to act on: the same verdict for operations and for ingest.

-- The time that a claim names, in seconds; null where it names none.
create function logloom_private.numeric_date(p_claim jsonb)
returns numeric
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_claim) = 'number' and abs(p_claim::numeric) < 1e15 then
    return p_claim::numeric;
  end if;
  return null;
end;
$$;

-- Whether a claim is what RFC 7519 calls StringOrURI: with a colon it is a URI. PostgREST asks the
-- same of iss, sub and aud.
create function logloom_private.is_string_or_uri(p_claim jsonb)
returns boolean
language plpgsql
immutable
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

-- The claims as the token of an Authorization header says them, before PostgREST reads them. Empty,
-- which is nobody's, where they are no JSON object or two members of one have the same name; null
-- where the header holds no token of three parts. Its signature is PostgREST's to verify.
create function logloom_private.sent_claims(p_authorization text)
returns jsonb
language plpgsql
immutable
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

grant execute on function logloom_private.sent_claims(text) to authenticated, service_role;

-- Whether it is the time of verified claims: exp is there and ahead, nbf and iat are not, give or
-- take the leeway.
create function logloom_private.token_is_current(p_claims jsonb, p_leeway interval)
returns boolean
language plpgsql
stable
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

-- Whether a claim aud is a string or an array of some, and is or contains p_audience where that is
-- not null.
create function logloom_private.audience_is_valid(p_aud jsonb, p_audience text)
returns boolean
language plpgsql
immutable
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

-- Whether verified claims may act now: token_is_current(); aud, iss, jti and sub are strings, aud
-- may be an array of some, and is or contains token_audience where that is set; sub can name a
-- user. The one verdict of every door; who verified the signature may be stricter.
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

grant execute on function logloom_private.token_is_valid(jsonb) to authenticated, service_role;
