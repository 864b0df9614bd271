-- A statement that runs p_insert ("insert into logloom.logs as l …", without returning), counts
-- what it adds and notes which days it reached. It returns how many records were added.
create function logloom_private.added_records_sql(p_insert text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level, l.write_seq
      ), added as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events, max(c.write_seq) as write_seq
        from changed c
        group by 1, 2, 3, 4
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
      select coalesce(sum(a.events), 0)::integer from added a
    $query$,
    p_insert, logloom_private.added_counts_sql('added')
  );
end;
$$;
