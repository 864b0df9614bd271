-- Whether it is the time of verified claims: exp is there and ahead, nbf and iat are not, give or
-- take the leeway. All that is asked of a token of service_role.
create function logloom_private.token_is_current(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
declare
  v_leeway constant interval := (select s.token_leeway from logloom_private.settings s);
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
  return true;
end;
$$;

grant execute on function logloom_private.token_is_current(jsonb) to authenticated, service_role;
