-- From when on the tenant keeps records, of a range that begins at p_from where it is given:
-- retention_days whole UTC days before today.
create function logloom_private.kept_from(
  p_tenant_id text,
  p_from timestamptz default '-infinity'
)
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
  return greatest(
    p_from,
    date_trunc('day', now(), 'UTC')
      - make_interval(hours => 24 * logloom_private.retention_days(p_tenant_id))
  );
end;
$$;
