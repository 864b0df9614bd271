-- Seam: true if the archive can read the records of this database.
create function logloom_private.archive_reads_records()
returns boolean
language sql
stable
return true;

-- True if all records of a tenant's day are archived: its rows, and the blocks with records of this
-- day.
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

-- True if retention must keep a tenant's day for now: it is not archived yet, or was restored from
-- the archive. A block is deleted with its last day, so all of its days count.
create function logloom_private.awaits_archive(p_tenant_id text, p_day date, p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_first_day date;
begin
  if exists (
    select
    from logloom_private.storage s
    where s.limit_day = p_day and s.overtakes_archive
  ) then
    return false;
  elsif exists (
    select
    from logloom_private.kept_longer k
    where k.tenant_id = p_tenant_id and k.kept_until > now()
      and p_day between k.first_day and k.last_day
  ) then
    return true;
  elsif not exists (
    -- No file is kept for a deleted tenant.
    select
    from logloom.tenants t
    join logloom.plans p on p.plan_id = t.plan_id
    where t.tenant_id = p_tenant_id and p.archive_days > 0
  ) or logloom_private.is_being_deleted(p_tenant_id) then
    return false;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  if v_settings.archive_overtaken = 'drop'
    and logloom_private.day_start(
      p_day + logloom_private.longest_days(p_tenant_id) + 1
    ) + v_settings.archive_grace <= logloom_private.day_start(p_today)
  then
    return false;
  end if;
  v_first_day := least(
    p_day,
    (
      select logloom_private.utc_day(min(c.first_ts))
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
    )
  );
  return exists (
    select
    from generate_series(0, p_day - v_first_day) d (n)
    where not logloom_private.is_archived(p_tenant_id, p_day - d.n)
  );
end;
$$;

-- Returns the only tenants for which awaits_archive can be true.
create function logloom_private.archiving_tenants()
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  where p.archive_days > 0
  union
  select k.tenant_id from logloom_private.kept_longer k where k.kept_until > now();
end;
$$;
