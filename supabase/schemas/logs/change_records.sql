-- Records are changed by these statements alone: each keeps the counts, the days and the arrivals
-- in the statement that changes the records. There is no trigger to forget, and a table that is
-- spread over nodes takes none. They only ever add rows (a removal adds negative counts), so no row
-- is contended and a forgotten snapshot leaves no chains of versions; a job sums up what was added.

create function logloom_private.added_records_sql(p_insert text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level, l.arrival
      ), added as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events, max(c.arrival) as arrival
        from changed c
        group by 1, 2, 3, 4
      ), arrivals as (
        insert into logloom_private.log_arrivals (arrival, day)
        select max(a.arrival), (a.minute at time zone 'UTC')::date
        from added a
        group by 2
        on conflict do nothing
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct a.tenant_id, (a.minute at time zone 'UTC')::date
        from added a
        order by 1, 2
        on conflict do nothing
      ), counted as (
        insert into logloom_private.log_counts (
          tenant_id, minute, service, level, is_other, events
        )
        select
          a.tenant_id, a.minute, case when not a.is_other then a.service end, a.level, a.is_other,
          sum(a.events)
        from (
          select
            u.*,
            coalesce(length(u.service), 0) > s.count_service_length_max
              or dense_rank() over (
                partition by u.tenant_id, u.minute order by u.service collate "C"
              ) > s.count_services_max as is_other
          from added u, logloom_private.settings s
        ) a
        group by 1, 2, 3, 4, 5
        order by 1, 2
      )
      select coalesce(sum(a.events), 0)::integer from added a
    $query$,
    p_insert
  );
end;
$$;

revoke all on function logloom_private.added_records_sql(text) from public;

comment on function logloom_private.added_records_sql(text) is
  'A statement that runs p_insert ("insert into logloom.logs as l …", without returning), counts '
  'what it adds and notes which days it reached. It returns how many records were added.';

create function logloom_private.removed_records_sql(p_delete text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
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

revoke all on function logloom_private.removed_records_sql(text) from public;

comment on function logloom_private.removed_records_sql(text) is
  'A statement that runs p_delete ("delete from logloom.logs l where …", without returning), takes '
  'what it removes away from the counts and notes the removal. It returns how many records went.';
