-- Returns the first stored day after p_after (if given) and before p_before.
create function logloom_private.next_stored_day(p_after date, p_before date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- Also finds a day whose partition is dropped while other data of the day remains.
      select min(l.day)
      from logloom_private.log_days l
      where l.day > coalesce(p_after, '1970-01-01')
      union all
      -- A day that is completely sealed has no partition. A block of several days belongs to its
      -- last day.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.blocks c
      where c.last_ts >= logloom_private.day_start(coalesce(p_after, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(p_after, '-infinity') and d.day < p_before
  );
end;
$$;

-- Seam: returns the tenants of p_tenant_ids that still have rows, counts or blocks of the day, with
-- the number of rows (at most p_limit + 1).
create function logloom_private.expired_days(p_tenant_ids text[], p_day date, p_limit integer)
returns table (tenant_id text, records bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query execute format(
    $query$
      select u.tenant_id, u.records
      from (
        select
          t.tenant_id,
          (
            select count(*)
            from (
              select
              from logloom.logs l
              where l.tenant_id = t.tenant_id and l.ts >= %1$L::timestamptz
                and l.ts < %2$L::timestamptz
              limit $2 + 1
            ) l
          ) as records
        from unnest($1) t (tenant_id)
      ) u
      where u.records > 0
        or exists (
          select from logloom_private.log_counts c
          where c.tenant_id = u.tenant_id and c.minute >= %1$L::timestamptz
            and c.minute < %2$L::timestamptz
        )
        or exists (
          select from logloom_private.blocks c
          where c.tenant_id = u.tenant_id and c.last_ts >= %1$L::timestamptz
            and c.last_ts < %2$L::timestamptz
        )
      order by u.tenant_id
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  using p_tenant_ids, p_limit;
end;
$$;

-- Drops a day's partition. Returns one of:
--   dropped  the partition is dropped
--   kept     a tenant keeps records of the day, or the day may still get events
--   busy     readers or the writer hold a lock on the partition
create function logloom_private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- Events for yesterday may still arrive, so it is kept one more day even if it is empty.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- While the writer's lock is held, no record is added. If events for the day arrive later, the
    -- writer creates the partition again.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants
      -- Records that came meanwhile may have to be archived.
      or logloom_private.day_is_kept(p_day, p_today)
    then
      return 'busy';
    end if;
    perform logloom_private.note_stream_gaps(p_day, p_today);
    -- Rows about the day in other tables are deleted later, without blocking the writer. No query
    -- reads these rows any more.
    delete from logloom_private.log_writes a where a.day = p_day;
    -- Comes last: from here on every reader of logloom.logs waits for the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

-- Returns the tenants with records in a day, or with a block that ends in it. May include tenants
-- whose last records were just deleted.
create function logloom_private.day_tenants(p_day date)
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id from logloom_private.log_days t where t.day = p_day
  union
  select c.tenant_id
  from logloom_private.blocks c
  where c.last_ts >= logloom_private.day_start(p_day)
    and c.last_ts < logloom_private.day_start(p_day + 1);
end;
$$;

-- Returns the first day that each tenant keeps, according to its retention. While a day is being
-- dropped because storage is full, each tenant keeps only later days.
create function logloom_private.first_left_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    k.tenant_id,
    greatest(k.first_kept_day, (select s.limit_day + 1 from logloom_private.storage s))
  from logloom_private.first_kept_days(p_today) k;
end;
$$;

-- True if a tenant with records in the day keeps them or has not archived them yet. A tenant that
-- no longer exists keeps only today, because its last records may still be queued. Nested loops are
-- off: they would go through all tenants for each tenant.
create function logloom_private.day_is_kept(p_day date, p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
      or a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
  );
end;
$$;

-- Returns the next p_limit tenants after p_after with records in a day that they do not keep. Skips
-- tenants whose records of the day are still to be archived.
create function logloom_private.expired_tenants(
  p_day date,
  p_today date,
  p_after text,
  p_limit integer
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
      and not (
        a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
      )
    order by d.tenant_id
    limit p_limit
  );
end;
$$;
