-- Returns the days that share a file with a day of few records: with 28 days of retention or more
-- the days of its month, with 7 or more the days of its week, with fewer only the day itself. Files
-- never have days of two months, because the month is part of a file's key.
create function logloom_private.archive_span(
  p_day date,
  p_retention_days integer,
  out first_day date,
  out last_day date
)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month constant date := date_trunc('month', p_day::timestamp);
  v_month_end constant date := v_month + interval '1 month' - interval '1 day';
  v_week constant integer := least((p_day - v_month) / 7, 3);
begin
  if p_retention_days >= 28 then
    first_day := v_month;
    last_day := v_month_end;
  elsif p_retention_days >= 7 then
    first_day := v_month + 7 * v_week;
    last_day := case when v_week = 3 then v_month_end else first_day + 6 end;
  else
    first_day := p_day;
    last_day := p_day;
  end if;
end;
$$;

-- Ends a pass that has no records left: its days are archived. Begins the tenant's next pass.
create function logloom_private.end_archive_pass(p_pass logloom_private.archive_passes)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
  select p_pass.tenant_id, p_pass.first_day + d.n, p_pass.write_seq
  from generate_series(0, p_pass.last_day - p_pass.first_day) d (n)
  on conflict (tenant_id, day) do update
  set write_seq = greatest(a.write_seq, excluded.write_seq);
  delete from logloom_private.archive_passes p where p.tenant_id = p_pass.tenant_id;
  if p_pass.tenant_id in (select a from logloom_private.tenants_to_archive() a) then
    perform logloom_private.plan_archive_pass(p_pass.tenant_id, now());
  end if;
end;
$$;

-- Returns the tenants whose plan has an archive, except tenants that are being deleted.
create function logloom_private.tenants_to_archive()
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
    and not exists (
      select
      from logloom_private.tenant_deletions d
      where d.tenant_id = t.tenant_id and d.finished_at is null
    );
end;
$$;

-- Returns the days of a tenant that ended long enough ago and have records that the archive lacks.
-- A day with rows counts only if something was written to it after it was archived.
create function logloom_private.days_to_archive(p_tenant_id text, p_now timestamptz)
returns setof date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select d.day
  from (
    select l.day
    from logloom_private.log_days l
    left join logloom_private.archived_days a
      on a.tenant_id = l.tenant_id and a.day = l.day
    where l.tenant_id = p_tenant_id
      and (
        a.write_seq is null
        or a.write_seq < (
          select max(w.write_seq) from logloom_private.log_writes w where w.day = l.day
        )
      )
    union
    select logloom_private.utc_day(c.first_ts) + n.n
    from logloom_private.blocks c
    cross join generate_series(
      0, logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
    ) n (n)
    left join logloom_private.archived_days a
      on a.tenant_id = c.tenant_id and a.day = logloom_private.utc_day(c.first_ts) + n.n
    where c.tenant_id = p_tenant_id and c.last_write_seq > coalesce(a.write_seq, -1)
  ) d
  cross join logloom_private.settings s
  where logloom_private.day_start(d.day + 1) + greatest(s.archive_after, s.seal_after) <= p_now
  order by d.day;
end;
$$;

-- True if a tenant's day has enough records for a file of its own.
create function logloom_private.is_day_of_its_own(p_tenant_id text, p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_wanted constant integer := (select s.seal_day_records from logloom_private.settings s);
  v_write_seq constant bigint := coalesce(
    (
      select a.write_seq
      from logloom_private.archived_days a
      where a.tenant_id = p_tenant_id and a.day = p_day
    ),
    -1
  );
  v_rows bigint;
begin
  if (
    select coalesce(sum(c.records), 0) >= v_wanted
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.first_ts >= v_from and c.last_ts < v_to
      and c.first_write_seq > v_write_seq
  ) then
    return true;
  end if;
  execute format(
    'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz and l.write_seq > %s limit %s) l',
    p_tenant_id, v_from, v_to, v_write_seq, v_wanted
  )
  into v_rows;
  return v_rows >= v_wanted;
end;
$$;

-- Begins the next pass of a tenant that has none. The pass archives the tenant's oldest day that is
-- not archived yet. A day of few records waits until all days that share its file are over. The
-- pass archives all of them. Returns true if there is a pass.
create function logloom_private.plan_archive_pass(p_tenant_id text, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_retention constant integer := logloom_private.shared_retention_days(p_tenant_id);
  v_write_seq constant bigint :=
    coalesce((select max(w.write_seq) from logloom_private.log_writes w), 0);
  v_day date;
  v_span record;
  -- Days with few records up to this one wait for the last day of their file.
  v_waits_through date := '-infinity';
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (
    select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
  ) then
    return true;
  end if;
  for v_day in select d from logloom_private.days_to_archive(p_tenant_id, p_now) d loop
    if logloom_private.is_archived(p_tenant_id, v_day) then
      insert into logloom_private.archived_days as a (tenant_id, day, write_seq)
      values (p_tenant_id, v_day, v_write_seq)
      on conflict (tenant_id, day) do update
      set write_seq = greatest(a.write_seq, excluded.write_seq);
      continue;
    end if;
    if logloom_private.is_day_of_its_own(p_tenant_id, v_day) then
      select v_day as first_day, v_day as last_day into v_span;
    else
      continue when v_day <= v_waits_through;
      v_span := logloom_private.archive_span(v_day, v_retention);
    end if;
    if logloom_private.day_start(v_span.last_day + 1)
      + greatest(v_settings.archive_after, v_settings.seal_after) > p_now
    then
      v_waits_through := v_span.last_day;
      continue;
    end if;
    insert into logloom_private.archive_passes (tenant_id, first_day, last_day, write_seq)
    values (p_tenant_id, v_span.first_day, v_span.last_day, v_write_seq);
    return true;
  end loop;
  return false;
end;
$$;
