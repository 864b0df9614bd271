-- Forgets what is known of a UTC day: counts, tenants, write sequences. To be called in the
-- transaction that drops its partition.
create function logloom_private.forget_day(p_day date)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
begin
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using logloom_private.log_days d
  where d.day = p_day
    and c.tenant_id = d.tenant_id
    and c.minute >= v_from
    and c.minute < v_from + interval '24 hours';
  with unpacked as (
    delete from logloom_private.packed_counts p
    where p.week = logloom_private.week_of(p_day)
    returning p as packed
  )
  insert into logloom_private.packed_counts
  select p.*
  from unpacked u
  cross join lateral logloom_private.packed_week(
    (u.packed).tenant_id, (u.packed).week,
    array(
      select c
      from logloom_private.unpacked_counts(u.packed) c
      where c.minute < v_from or c.minute >= v_from + interval '24 hours'
    )
  ) p
  where p.minutes is not null;
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_writes a where a.day = p_day;
end;
$$;

-- Brings the index by write sequence of a day's partition up to date, for which autovacuum takes a
-- minute and more: what is not summarized is read by every live tail.
create function logloom_private.summarize_writes(p_day date)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  perform brin_summarize_new_values(i.indexrelid)
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
exception when lock_not_available then
  -- Vacuum is at it, which does the same.
  null;
end;
$$;

-- Sums up the rows of minutes that changed, packs those of small tenants, and keeps the latest
-- write sequence of a day only: one step of a job.
create function logloom_private.compact_log_counts()
returns interval
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
  v_arrived_days date[];
  v_days integer := 0;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;

  if logloom_private.is_spread() then
    with minutes as (
      select distinct d.tenant_id, d.minute
      from (
        select c.tenant_id, c.minute
        from logloom_private.log_counts c
        where c.is_delta
        order by c.minute
        limit v_settings.count_compact_rows
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
      -- Negative is a service that was counted together with others when it was added.
      select s.*, s.is_other or s.events < 0 or s.place > v_settings.count_services_max as folded
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
  else
    -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
    with minutes as (
      select d.tenant_id, d.minute, bool_or(d.events < 0) as is_negative
      from (
        select c.tenant_id, c.minute, c.events
        from logloom_private.log_counts c
        where c.is_delta
        order by c.minute
        limit v_settings.count_compact_rows
      ) d
      group by 1, 2
    ), rows_taken as (
      delete from logloom_private.log_counts c
      using minutes m
      where c.tenant_id = m.tenant_id and c.minute = m.minute
      returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
    ), unpacked as (
      delete from logloom_private.packed_counts p
      using (
        select distinct
          m.tenant_id, logloom_private.week_of((m.minute at time zone 'UTC')::date) as week
        from minutes m
        where m.is_negative
      ) w
      where p.tenant_id = w.tenant_id and p.week = w.week
      returning p as packed
    ), taken as (
      select t.* from rows_taken t
      union all
      select (u.packed).tenant_id, c.minute, c.service, c.level, c.is_other, c.events
      from unpacked u, logloom_private.unpacked_counts(u.packed) c
    ), noted as (
      insert into logloom_private.counted_days (tenant_id, day)
      select distinct t.tenant_id, (t.minute at time zone 'UTC')::date
      from taken t
      on conflict do nothing
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
      -- Negative is a service that was counted together with others when it was added.
      select s.*, s.is_other or s.events < 0 or s.place > v_settings.count_services_max as folded
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
    select count(*) into v_rows from rows_taken;
  end if;

  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  if v_rows < v_settings.count_compact_rows then
    v_days := logloom_private.pack_log_counts();
  end if;
  return case
    when v_rows >= v_settings.count_compact_rows or v_days >= v_settings.count_pack_days
      then interval '0'
  end;
end;
$$;
