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
declare
  v_from timestamptz;
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  v_from := date_trunc('day', now(), 'UTC')
    - make_interval(hours => 24 * logloom_private.retention_days(p_tenant_id));
  if p_from < v_from then
    -- What is older still is there where it was brought back.
    v_from := least(
      v_from,
      (
        select logloom_private.day_start(min(k.first_day))
        from logloom_private.kept_longer k
        where k.tenant_id = p_tenant_id and k.kept_until > now()
      )
    );
  end if;
  return greatest(p_from, v_from);
end;
$$;
