-- Summarizes the new pages of a day's index by write sequence. Every live tail reads all pages that
-- are not summarized. Autovacuum comes only after a minute or more.
create function logloom_private.summarize_writes(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_index regclass;
begin
  select i.indexrelid into v_index
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
  perform brin_summarize_new_values(v_index);
exception
  when lock_not_available then
    -- Vacuum is summarizing the index at the moment.
    null;
  when internal_error or undefined_table then
    -- The partition may have been dropped while this waited.
    if exists (select from pg_catalog.pg_class c where c.oid = v_index) then
      raise;
    end if;
end;
$$;

-- Runs a step of a job: sums up the counts of changed minutes, and keeps only the latest write
-- sequence of each day.
create function logloom_private.compact_log_counts()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_rows constant integer := 100000;
  v_max_services constant integer := logloom_private.max_counted_services();
  v_rows integer;
  v_arrived_days date[];
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  -- Takes whole minutes of a tenant: negative counts then meet the counts that they reduce.
  with minutes as (
    select distinct d.tenant_id, d.minute
    from (
      select c.tenant_id, c.minute
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit v_max_rows
    ) d
  ), taken as (
    delete from logloom_private.log_counts c
    using minutes m
    where c.tenant_id = m.tenant_id and c.minute = m.minute
    returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
  ), summed as (
    select
      t.tenant_id, t.minute, t.service, t.level, t.is_other, sum(t.events) as events,
      dense_rank() over (
        partition by t.tenant_id, t.minute order by t.is_other, t.service collate "C"
      ) as place
    from taken t
    group by t.tenant_id, t.minute, t.service, t.level, t.is_other
    having sum(t.events) <> 0
  ), kept as (
    -- A service's sum is negative if its records were once counted together with others.
    select s.*, s.is_other or s.events < 0 or s.place > v_max_services as folded
    from summed s
  ), added as (
    insert into logloom_private.log_counts
      (tenant_id, minute, service, level, is_other, events, is_delta)
    select
      k.tenant_id, k.minute, case when not k.folded then k.service end, k.level, k.folded,
      sum(k.events), false
    from kept k
    group by 1, 2, 3, 4, 5
    having sum(k.events) <> 0
    order by 1, 2
  )
  select count(*) into v_rows from taken;
  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  return case when v_rows >= v_max_rows then interval '0' end;
end;
$$;
