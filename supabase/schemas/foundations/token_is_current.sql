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
