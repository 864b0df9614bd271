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
  v_audience constant text := (select s.token_audience from logloom_private.settings s);
  v_aud constant jsonb := p_claims -> 'aud';
begin
  return coalesce(
    logloom_private.token_is_current(p_claims)
    and (v_audience is null or v_aud ? v_audience)
    and v_aud is distinct from '[]'
    -- RFC 7519 calls them StringOrURI: with a colon it is a URI. PostgREST asks the same.
    and not jsonb_path_exists(
      case jsonb_typeof(v_aud) when 'array' then v_aud
        else jsonb_path_query_array(p_claims, '$.aud') end
        || jsonb_path_query_array(
          p_claims, '$.keyvalue() ? (@.key == "iss" || @.key == "sub").value'
        ),
      'strict $[*] ? (@.type() != "string" || !(@ like_regex "^([^:]*|[A-Za-z][A-Za-z0-9+.-]*:'
        '([A-Za-z0-9._~:/?#@!$&''()*+,;=-]|%[0-9A-Fa-f]{2})*)$" flag "s"))'
    )
    and (not p_claims ? 'jti' or jsonb_typeof(p_claims -> 'jti') = 'string')
    and (
      not p_claims ? 'sub' or logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$$;

grant execute on function logloom_private.token_is_valid(jsonb) to authenticated, service_role;
