-- Records are changed by these statements alone: each keeps the counts, the days and the write
-- sequences in the statement that changes the records. There is no trigger to forget, and a
-- table that is sharded takes none. They only ever add rows (a removal adds negative counts), so no
-- row is contended and a forgotten snapshot leaves no chains of versions; a job sums up what
-- was added.

-- SQL for the rows of log_counts that p_added comes to: records by tenant_id, minute, service and
-- level, as events.
create function logloom_private.added_counts_sql(p_added text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Sorted by bytes, at a third of what the tenants' own collation costs.
  return format(
    $query$
      select
        a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
        a.is_other, sum(a.events)::bigint as events
      from (
        select
          u.*,
          coalesce(length(u.service), 0) > s.count_service_length_max
            or dense_rank() over (
              partition by u.tenant_id collate "C", u.minute order by u.service collate "C"
            ) > s.count_services_max as is_other
        from %s u, logloom_private.settings s
      ) a
      group by 1, 2, 3, 4, 5
      order by a.tenant_id collate "C", a.minute
    $query$,
    p_added
  );
end;
$$;
