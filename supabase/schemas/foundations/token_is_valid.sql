-- Whether verified claims are valid now, with 5 seconds of tolerance:
-- - exp is required and in the future; nbf and iat are in the past.
-- - aud, iss, jti and sub are strings; aud may be an array of strings.
-- - If the setting token_audience is set, aud is it or contains it.
-- - sub is a usable id.
-- For service_role only the times are checked. All endpoints use this check. The server that
-- verified the signature may be stricter.
create function logloom_private.token_is_valid(
  p_claims jsonb,
  p_is_service boolean default false
)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
declare
  v_aud constant jsonb := p_claims -> 'aud';
  v_audience constant text := (select s.token_audience from logloom_private.settings s);
  -- How far the clocks of issuer and database may differ.
  v_leeway constant interval := '5 seconds';
  v_name text;
  v_at numeric;
begin
  foreach v_name in array array['exp', 'nbf', 'iat'] loop
    continue when v_name <> 'exp' and not p_claims ? v_name;
    v_at := case when jsonb_typeof(p_claims -> v_name) = 'number'
      then (p_claims -> v_name)::numeric end;
    if (
      abs(v_at) < 1e15
      and case v_name when 'exp' then v_at > extract(epoch from now() - v_leeway)
        else v_at <= extract(epoch from now() + v_leeway) end
    ) is not true then
      return false;
    end if;
  end loop;
  return p_is_service or coalesce(
    (v_audience is null or v_aud ? v_audience)
    and v_aud is distinct from '[]'
    -- RFC 7519 calls these texts StringOrURI: a text with a colon must be a URI. PostgREST checks
    -- this, too.
    and not jsonb_path_exists(
      case jsonb_typeof(v_aud) when 'array' then v_aud
        else jsonb_path_query_array(p_claims, '$.aud') end
        || jsonb_path_query_array(p_claims, '$.iss') || jsonb_path_query_array(p_claims, '$.sub'),
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
