-- A statement that runs p_delete ("delete from logloom.logs l where …", without returning), takes
-- what it removes away from the counts and notes the removal. It returns how many records went.
create function logloom_private.removed_records_sql(p_delete text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Under the service's own name, even where it was counted together with others: the sums stay
  -- right, and compact_log_counts puts it where it belongs.
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level
      ), removed as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events
        from changed c
        group by 1, 2, 3, 4
      ), counted as (
        insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
        select r.tenant_id, r.minute, r.service, r.level, -r.events
        from removed r
        order by 1, 2
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct r.tenant_id
        from removed r
        -- Further back than any alert window reaches.
        where r.minute > now() - interval '3 days'
      )
      select coalesce(sum(r.events), 0)::integer from removed r
    $query$,
    p_delete
  );
end;
$$;
