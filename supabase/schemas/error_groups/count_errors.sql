-- Makes the missing groups of arrivals, as many as the plan allows. Groups with the most records
-- come first. The records of the other groups are counted in the group "others".
create function logloom_private.add_error_groups(
  p_arrivals logloom_private.error_arrival[],
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with missing as materialized (
    select
      a.tenant_id, a.fingerprint, min(a.service) as service, min(a.error_type) as error_type,
      min(a.title) as title, min(a.first_seen) as first_seen, max(a.last_seen) as last_seen,
      row_number() over (partition by a.tenant_id order by sum(a.records) desc, a.fingerprint) as n
    from unnest(p_arrivals) a
    join logloom.tenants t on t.tenant_id = a.tenant_id
    where not exists (
      select from logloom.error_groups g
      where g.tenant_id = a.tenant_id and g.fingerprint = a.fingerprint
    )
    group by a.tenant_id, a.fingerprint
  ), rooms as (
    select
      m.tenant_id,
      (logloom_private.plan_of(m.tenant_id)).max_error_groups - (
        select count(*) from logloom.error_groups g
        where g.tenant_id = m.tenant_id and g.fingerprint <> 'others'
      ) as room
    from (select distinct m.tenant_id from missing m) m
  )
  insert into logloom.error_groups (
    tenant_id, fingerprint, service, error_type, title, first_seen, last_seen, opened_at
  )
  select m.tenant_id, m.fingerprint, m.service, m.error_type, m.title, m.first_seen, m.last_seen,
    p_now
  from missing m
  join rooms r on r.tenant_id = m.tenant_id
  where m.n <= r.room and m.fingerprint <> 'others'
  union all
  select m.tenant_id, 'others', null, null, 'Errors beyond the limit of the plan',
    min(m.first_seen), max(m.last_seen), p_now
  from missing m
  join rooms r on r.tenant_id = m.tenant_id
  where m.n > r.room or m.fingerprint = 'others'
  group by m.tenant_id
  order by 1, 2
  on conflict (tenant_id, fingerprint) do nothing;
end;
$$;

-- True if new records make a resolved or ignored group regress. p_last_seen: the newest record's
-- ts. A group resolved in a release regresses only in a release that was first seen later.
-- p_releases: of the records after the resolution. Only read if the resolution names a release.
create function logloom_private.error_regresses(
  p_group logloom.error_groups,
  p_releases text[],
  p_last_seen timestamptz,
  p_now timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    -- Without ignored_until, the group is ignored until somebody opens it.
    when p_group.state = 'ignored' then coalesce(p_group.ignored_until <= p_now, false)
    when p_group.state = 'open' then false
    when p_last_seen <= p_group.resolved_at then false
    when p_group.resolved_release is null or array_position(p_releases, null) is not null then true
    else exists (
      select
      from logloom_private.releases r
      left join logloom_private.releases s
        on s.tenant_id = p_group.tenant_id and s.release = p_group.resolved_release
      where r.tenant_id = p_group.tenant_id and r.release = any (p_releases)
        and r.release <> p_group.resolved_release
        and r.first_seen > coalesce(s.first_seen, p_group.resolved_at)
    )
  end;
end;
$$;

-- Stores when releases were first seen. Keeps the newest 1000 releases of a tenant.
create function logloom_private.note_releases(p_arrivals logloom_private.error_arrival[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.releases as r (tenant_id, release, first_seen)
  select a.tenant_id, a.release, min(a.first_seen)
  from unnest(p_arrivals) a
  join logloom.tenants t on t.tenant_id = a.tenant_id
  where a.release is not null
  group by 1, 2
  order by 1, 2
  on conflict (tenant_id, release) do update set first_seen = excluded.first_seen
  where r.first_seen > excluded.first_seen;
  if found then
    delete from logloom_private.releases r
    using (
      select n.tenant_id, n.release
      from (
        select
          o.tenant_id, o.release,
          row_number() over (partition by o.tenant_id order by o.first_seen desc) as n
        from logloom_private.releases o
        where o.tenant_id in (select a.tenant_id from unnest(p_arrivals) a)
      ) n
      where n.n > 1000
    ) old
    where r.tenant_id = old.tenant_id and r.release = old.release;
  end if;
end;
$$;

-- Adds the arrivals to the counts of groups (p_sign 1) or subtracts them (-1). Hours are counted
-- for 14 days, days for a year.
create function logloom_private.change_error_counts(
  p_arrivals logloom_private.error_arrival[],
  p_sign integer,
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  with changes as (
    select
      a.tenant_id, a.fingerprint, u.is_day,
      case when u.is_day then date_trunc('day', a.hour) else a.hour end as at,
      sum(a.records) as records
    from unnest(p_arrivals) a
    cross join (values (true), (false)) u (is_day)
    where a.hour > p_now - case when u.is_day then interval '366 days' else '14 days' end
    group by 1, 2, 3, 4
  ), subtracted as (
    update logloom_private.error_counts c
    set records = greatest(c.records - x.records, 0)
    from changes x
    where p_sign < 0 and c.tenant_id = x.tenant_id and c.fingerprint = x.fingerprint
      and c.is_day = x.is_day and c.at = x.at
  )
  insert into logloom_private.error_counts as c (tenant_id, fingerprint, is_day, at, records)
  select x.tenant_id, x.fingerprint, x.is_day, x.at, x.records
  from changes x
  where p_sign > 0
  order by 1, 2, 3, 4
  on conflict (tenant_id, fingerprint, is_day, at) do update
  set records = c.records + excluded.records;
end;
$$;

-- Counts arrivals in their groups. Returns the groups that are new or regressed.
create function logloom_private.count_errors(
  p_arrivals logloom_private.error_arrival[],
  p_now timestamptz
)
returns logloom_private.error_event[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_arrivals logloom_private.error_arrival[];
  v_events logloom_private.error_event[];
begin
  perform logloom_private.add_error_groups(p_arrivals, p_now);
  perform logloom_private.note_releases(p_arrivals);
  -- From here on, an arrival has the fingerprint of the group that counts it.
  v_arrivals := array(
    select row(
      a.tenant_id, coalesce(g.merged_into, g.fingerprint, 'others'), a.service, a.error_type,
      a.title, a.hour, a.release, a.records, a.first_seen, a.last_seen, a.users, a.ids, a.times
    )::logloom_private.error_arrival
    from unnest(p_arrivals) a
    join logloom.tenants t on t.tenant_id = a.tenant_id
    left join logloom.error_groups g
      on g.tenant_id = a.tenant_id and g.fingerprint = a.fingerprint
  );
  -- Locked in order: two callers cannot deadlock.
  perform
  from logloom.error_groups g
  where (g.tenant_id, g.fingerprint) in (
    select a.tenant_id, a.fingerprint from unnest(v_arrivals) a
  )
  order by g.tenant_id, g.fingerprint
  for no key update;
  with arrivals as materialized (
    select a.* from unnest(v_arrivals) a
  ), users as (
    select a.tenant_id, a.fingerprint, array_agg(distinct u) as hashes
    from arrivals a
    cross join lateral unnest(a.users) u
    group by 1, 2
  ), keys as (
    select
      a.tenant_id, a.fingerprint, (array_agg(i.id))[:20] as ids,
      (array_agg(i.ts))[:20] as times
    from arrivals a
    cross join lateral unnest(a.ids, a.times) i (id, ts)
    group by 1, 2
  ), seen as (
    select
      a.tenant_id, a.fingerprint, sum(a.records) as records, min(a.first_seen) as first_seen,
      max(a.last_seen) as last_seen,
      (array_agg(a.release order by a.first_seen) filter (where a.release is not null))[1]
        as first_release,
      (array_agg(a.release order by a.last_seen desc) filter (where a.release is not null))[1]
        as last_release,
      min(a.title) as title
    from arrivals a
    group by 1, 2
  ), changed as (
    update logloom.error_groups g
    set
      title = coalesce(g.title, s.title),
      first_seen = least(g.first_seen, s.first_seen),
      last_seen = greatest(g.last_seen, s.last_seen),
      records = g.records + s.records,
      users = case when w.hashes is null then g.users else array(
        select distinct u from unnest(g.users || w.hashes) u
        order by u limit logloom_private.error_users_kept()
      ) end,
      first_release = case when s.first_seen <= g.first_seen or g.first_release is null
        then coalesce(s.first_release, g.first_release) else g.first_release end,
      last_release = case when s.last_seen >= g.last_seen or g.last_release is null
        then coalesce(s.last_release, g.last_release) else g.last_release end,
      state = case when r.regresses then 'open' else g.state end,
      is_regressed = g.is_regressed or r.regresses,
      opened_at = case when r.regresses then p_now else g.opened_at end,
      ignored_until = case when not r.regresses then g.ignored_until end,
      resolved_at = case when not r.regresses then g.resolved_at end,
      resolved_release = case when not r.regresses then g.resolved_release end
    from seen s
    join logloom.error_groups b on b.tenant_id = s.tenant_id and b.fingerprint = s.fingerprint
    cross join lateral logloom_private.error_regresses(
      b,
      case when b.resolved_release is not null then array(
        select distinct a.release from arrivals a
        where a.tenant_id = b.tenant_id and a.fingerprint = b.fingerprint
          and a.last_seen > b.resolved_at
      ) end,
      s.last_seen, p_now
    ) r (regresses)
    left join users w on w.tenant_id = s.tenant_id and w.fingerprint = s.fingerprint
    where g.tenant_id = s.tenant_id and g.fingerprint = s.fingerprint
    -- A new group has only the records of this step.
    returning g.tenant_id, g.fingerprint, s.records,
      r.regresses or g.records = s.records and g.state = 'open' as has_happened
  )
  select array_agg(row(c.tenant_id, c.fingerprint, c.records, k.ids, k.times)
    ::logloom_private.error_event)
  into v_events
  from changed c
  join keys k on k.tenant_id = c.tenant_id and k.fingerprint = c.fingerprint
  where c.has_happened and c.fingerprint <> 'others';
  perform logloom_private.change_error_counts(v_arrivals, 1, p_now);
  return coalesce(v_events, '{}');
end;
$$;
