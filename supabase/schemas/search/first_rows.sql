-- From when on the tenant has rows in a range; its end where it has none.
create function logloom_private.first_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return greatest(p_from, coalesce(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(p_from)
          and logloom_private.utc_day(p_to - interval '1 microsecond')
    ),
    p_to
  ));
end;
$$;
