-- How many days a block of a tenant with such a retention spans at most: a quarter of it and at
-- least one, whole weeks where it is more than one, and a month of four weeks at most.
create function logloom_private.block_days(p_retention_days integer)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_retention_days < 28 then greatest(p_retention_days / 4, 1)
    else least(p_retention_days / 28, 4) * 7
  end;
end;
$$;
