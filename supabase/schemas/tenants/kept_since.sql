-- From when on the tenant keeps records of a range that begins at p_from.
create function logloom_private.kept_since(p_tenant_id text, p_from timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  return greatest(p_from, logloom_private.kept_from(p_tenant_id));
end;
$$;
