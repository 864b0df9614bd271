-- Adds to the tenants' runs of retention that are under way.
create function logloom_private.note_deletions(
  p_tenant_ids text[],
  p_records bigint[],
  p_partitions integer,
  p_today date
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
-- Else, with hashing off where it is called, it goes through all tenants for each one.
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    n.tenant_id, 'retention', 'running', 'retention',
    logloom_private.day_start(k.first_kept_day), n.records, p_partitions
  from unnest(p_tenant_ids, p_records) n (tenant_id, records)
  join logloom_private.first_kept_days(p_today) k on k.tenant_id = n.tenant_id
  where n.records > 0
  on conflict (tenant_id, ts_to) where kind = 'retention' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;

-- Of a tenant with many records in the day.
-- Deletes some records of a day that the tenant does not keep. How many; 0 when none is left.
create function logloom_private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows text;
  v_last_ts timestamptz;
  v_last_id uuid;
  v_deleted integer;
begin
  if p_day >= logloom_private.first_kept_day(p_tenant_id, p_today) then
    return 0;
  end if;
  -- A page of keys, from the least on; constants, so that one partition is looked at.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true',
    p_expired => true
  );
  execute format(
    'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p
     order by p.ts desc, p.id desc limit 1',
    v_rows, (select s.deletion_step_records from logloom_private.settings s)
  )
  into v_last_ts, v_last_id;
  if v_last_ts is null then
    return 0;
  end if;
  execute logloom_private.removed_records_sql(format(
    'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
    v_rows, v_last_ts, v_last_ts, v_last_id
  ))
  into v_deleted;
  perform logloom_private.note_deletions(array[p_tenant_id], array[v_deleted], 0, p_today);
  return v_deleted;
end;
$$;

-- expired_days where records are spread over nodes: a statement a tenant and table.
-- expired_days where records are spread over nodes.
create function logloom_private.expired_spread_days(
  p_tenant_ids text[],
  p_day date,
  p_limit integer
)
returns table (tenant_id text, records bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_is_known boolean;
begin
  foreach tenant_id in array p_tenant_ids loop
    execute format(
      'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz limit %s) l',
      tenant_id, v_from, v_to, p_limit + 1
    )
    into records;
    v_is_known := records > 0;
    if not v_is_known then
      v_is_known := exists (
        select
        from logloom_private.log_counts c
        where c.tenant_id = expired_spread_days.tenant_id
          and c.minute >= v_from and c.minute < v_to
      );
    end if;
    if not v_is_known then
      v_is_known := exists (
        select
        from logloom_private.blocks c
        where c.tenant_id = expired_spread_days.tenant_id
          and c.last_ts >= v_from and c.last_ts < v_to
      );
    end if;
    if v_is_known then
      return next;
    end if;
  end loop;
end;
$$;

-- What there is to do for tenants that do not keep a day: how many rows each has, up to one more
-- than p_limit, and whether anything else is known of its day.
-- Those of the tenants of whose day something is left, with how many rows, p_limit + 1 at most.
create function logloom_private.expired_days(p_tenant_ids text[], p_day date, p_limit integer)
returns table (tenant_id text, records bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  if logloom_private.is_spread() then
    return query select * from logloom_private.expired_spread_days(p_tenant_ids, p_day, p_limit);
    return;
  end if;
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
          select from logloom_private.packed_counts p, logloom_private.unpacked_counts(p) c
          where p.tenant_id = u.tenant_id and p.week = %3$L::date
            and c.minute >= %1$L::timestamptz and c.minute < %2$L::timestamptz
        )
        or exists (
          select from logloom_private.blocks c
          where c.tenant_id = u.tenant_id and c.last_ts >= %1$L::timestamptz
            and c.last_ts < %2$L::timestamptz
        )
      order by u.tenant_id
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1),
    logloom_private.week_of(p_day)
  )
  using p_tenant_ids, p_limit;
end;
$$;

-- Where records are spread over nodes: one tenant, statement by statement. The writer rests, so
-- that no count of a record that comes meanwhile is forgotten.
-- forget_expired for one tenant whose records are on a node. How many were counted.
create function logloom_private.forget_spread_tenant(
  p_tenant_id text,
  p_day date
)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_first_ts timestamptz;
  v_last_ts timestamptz;
  v_records bigint;
begin
  with gone as (
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.last_ts < v_to
    returning c.first_ts
  )
  select min(g.first_ts) into v_first_ts from gone g;
  v_from := least(v_from, logloom_private.day_start(logloom_private.utc_day(v_first_ts)));
  execute format(
    'with gone as (delete from logloom.logs l where l.tenant_id = %L '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz returning l.ts) '
      || 'select max(g.ts) from gone g',
    p_tenant_id, v_from, v_to
  )
  into v_last_ts;
  -- Further back than any alert window reaches.
  if v_last_ts > now() - interval '3 days' then
    insert into logloom_private.log_removals (tenant_id) values (p_tenant_id);
  end if;
  with forgotten as (
    delete from logloom_private.log_counts c
    where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_to
    returning c.events
  )
  select coalesce(sum(f.events), 0) into v_records from forgotten f;
  return v_records;
end;
$$;

-- Deletes what there is of a day of tenants that do not keep it: rows, blocks that end in it with
-- their days, and counts.
create function logloom_private.forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
-- Tenant by tenant through the indexes, whatever the planner believes of a partition that was
-- filled since it was last looked at.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_froms timestamptz[];
  v_from timestamptz;
  v_tenant_id text;
  v_tenant_ids text[];
  v_records bigint[];
begin
  if logloom_private.is_spread() then
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  -- Without compact_log_counts none of the counts is summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  if logloom_private.is_spread() then
    v_tenant_ids := p_tenant_ids;
    foreach v_tenant_id in array p_tenant_ids loop
      v_records := v_records || logloom_private.forget_spread_tenant(v_tenant_id, p_day);
    end loop;
  else
    with gone as (
      delete from logloom_private.blocks c
      using unnest(p_tenant_ids) t (tenant_id)
      where c.tenant_id = t.tenant_id
        and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
      returning c.tenant_id, c.first_ts
    ), froms as (
      -- A block of several days goes with the last. No row is left of the days before.
      select
        t.tenant_id,
        logloom_private.day_start(
          least(logloom_private.utc_day(min(g.first_ts)), p_day)
        ) as starts
      from unnest(p_tenant_ids) t (tenant_id)
      left join gone g on g.tenant_id = t.tenant_id
      group by t.tenant_id
    )
    select array_agg(f.starts order by f.tenant_id), array_agg(f.tenant_id order by f.tenant_id),
      min(f.starts)
    into v_froms, v_tenant_ids, v_from
    from froms f;
    execute logloom_private.forgotten_records_sql(v_from, logloom_private.day_start(p_day + 1))
    into v_tenant_ids, v_records
    using v_tenant_ids, v_froms;
  end if;
  perform logloom_private.note_deletions(
    v_tenant_ids, v_records,
    (
      not logloom_private.partition_exists(p_day)
      and not logloom_private.day_is_kept(p_day, p_today)
    )::integer,
    p_today
  );
end;
$$;

-- Takes a day of which the tenants have no rows any more out of log_days.
create function logloom_private.leave_expired_day(p_tenant_ids text[], p_day date)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without the writer, which notes a day only where it is not noted yet.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  execute format(
    'delete from logloom_private.log_days d where d.day = $1 and d.tenant_id = any($2) '
      || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  using p_day, p_tenant_ids;
end;
$$;
