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
