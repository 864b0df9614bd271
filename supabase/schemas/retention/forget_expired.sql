-- Deletes what there is of a day of tenants that do not keep it.
create function logloom_private.forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forgotten record;
begin
  v_forgotten := logloom_private.forget_tenants_day(p_tenant_ids, p_day);
  perform logloom_private.note_deletions(
    v_forgotten.tenant_ids, v_forgotten.records,
    (
      not logloom_private.partition_exists(p_day)
      and not logloom_private.day_is_kept(p_day, p_today)
    )::integer,
    p_today
  );
end;
$$;
