-- Seam: returns those of p_tenant_ids that still have rows, counts or blocks of the day, and how
-- many rows (at most p_limit + 1).
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
