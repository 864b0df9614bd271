-- A statement that deletes all rows and counts of the tenants $1, from each one's instant in $2
-- (p_from is the least of these) to p_to, which are bounds of days. It returns two arrays: tenants,
-- and how many records were counted of each. One snapshot, so that records that come meanwhile stay
-- with their counts. To be called with the lock log_counts.
create function logloom_private.forgotten_records_sql(p_from timestamptz, p_to timestamptz)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      with ranges as materialized (
        select r.* from unnest($1::text[], $2::timestamptz[]) r (tenant_id, starts)
      ), gone as (
        delete from logloom.logs l
        using ranges r
        where l.tenant_id = r.tenant_id
          and l.ts >= r.starts and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from gone g
        -- Further back than any alert window reaches.
        where g.ts > now() - interval '3 days'
      ), counts as (
        delete from logloom_private.log_counts c
        using ranges r
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      ), unpacked as (
        delete from logloom_private.packed_counts p
        using ranges r
        where p.tenant_id = r.tenant_id
          and p.week >= logloom_private.week_of(logloom_private.utc_day(r.starts))
          and p.week < logloom_private.utc_day(%2$L::timestamptz)
        returning p as packed, r.starts
      ), weeks as materialized (
        select (u.packed).tenant_id, (u.packed).week, c as count,
          c.minute >= u.starts and c.minute < %2$L::timestamptz as is_gone
        from unpacked u
        cross join lateral logloom_private.unpacked_counts(u.packed) c
      ), packed as (
        insert into logloom_private.packed_counts
        select p.*
        from (
          select w.tenant_id, w.week, array_agg(w.count) as counts
          from weeks w
          where not w.is_gone
          group by 1, 2
        ) w
        cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
      )
      select array_agg(f.tenant_id), array_agg(f.events)
      from (
        select u.tenant_id, sum(u.events)::bigint as events
        from (
          select c.tenant_id, c.events from counts c
          union all
          select w.tenant_id, (w.count).events from weeks w where w.is_gone
        ) u
        group by u.tenant_id
      ) f
    $query$,
    p_from, p_to
  );
end;
$$;
