-- Whether the archive has all that there is of a tenant's day: its rows, and the blocks with
-- records of it.
create function logloom_private.is_archived(p_tenant_id text, p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_has_more boolean;
begin
  if exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq > v_write_seq
      and c.last_ts >= logloom_private.day_start(p_day)
      and c.first_ts < logloom_private.day_start(p_day + 1)
  ) then
    return false;
  elsif not logloom_private.partition_exists(p_day) then
    return true;
  end if;
  execute format(
    'select exists (select from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
      || 'and l.ts < %L::timestamptz and l.write_seq > %s)',
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), v_write_seq
  )
  into v_has_more;
  return not v_has_more;
end;
$$;
