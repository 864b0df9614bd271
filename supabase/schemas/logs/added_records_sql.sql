-- Builds the statements that add and remove records, together with their counts, days and write
-- sequences. Only forget_tenants_day does not use them. There is no trigger, because a sharded
-- table allows none and a new table could lack it. The statements only add rows to the counts; a
-- removal adds negative counts. So two statements never wait for the same row. A job sums up rows.

-- At most this many services of a tenant are counted separately in a minute.
create function logloom_private.max_counted_services()
returns integer
language sql
immutable
return 100;

-- Builds SQL for the rows that p_added adds to log_counts. p_added has the number of records as
-- events, by tenant_id, minute, service and level.
create function logloom_private.added_counts_sql(p_added text)
returns text
language sql
stable
-- Sorting by bytes takes a third of the time of sorting in the collation of the database.
return format(
  $query$
    -- Services with a name longer than 200 characters are counted together with all services after
    -- the minute's first max_counted_services().
    select
      a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
      a.is_other, sum(a.events)::bigint as events
    from (
      select
        u.*,
        coalesce(length(u.service), 0) > 200
          or dense_rank() over (
            partition by u.tenant_id collate "C", u.minute order by u.service collate "C"
          ) > %s as is_other
      from %s u
    ) a
    group by 1, 2, 3, 4, 5
    order by a.tenant_id collate "C", a.minute
  $query$,
  logloom_private.max_counted_services(), p_added
);

-- Builds a statement that runs p_insert ("insert into logloom.logs as l …", without returning),
-- counts the records and notes their days. It returns p_result, an aggregate over the counts.
-- Without p_result it returns how many records were added.
create function logloom_private.added_records_sql(
  p_insert text, p_result text default 'coalesce(sum(a.events), 0)::integer'
)
returns text
language sql
stable
return format(
  $query$
    with changed as (
      %s
      returning
        l.tenant_id, l.ts, l.received_at, l.service, l.level, l.write_seq, l.record_bytes
    ), added as materialized (
      select
        c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
        date_bin('1 day', c.received_at, 'epoch') as received_day, count(*) as events,
        sum(c.record_bytes) as record_bytes, max(c.write_seq) as write_seq
      from changed c
      group by 1, 2, 3, 4, 5
    ), write_seqs as (
      insert into logloom_private.log_writes (write_seq, day)
      select max(a.write_seq), (a.minute at time zone 'UTC')::date
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
      %s
    )
    select %s from added a
  $query$,
  p_insert, logloom_private.added_counts_sql('added'), p_result
);

-- Builds a statement that runs p_delete ("delete from logloom.logs l where …", without returning),
-- subtracts the records from the counts and notes the removal. It returns how many records were
-- removed.
create function logloom_private.removed_records_sql(p_delete text)
returns text
language sql
stable
-- Subtracts under the service's own name, even if it was counted with others. The sums stay right,
-- and compact_log_counts corrects the rows.
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
      -- Alert windows are at most a day, so older removals change no alert.
      where r.minute > now() - interval '3 days'
    )
    select coalesce(sum(r.events), 0)::integer from removed r
  $query$,
  p_delete
);
