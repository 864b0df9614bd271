-- Packs the counts of minutes that are over for seal_after, of some days of tenants that have few.
-- How many days it looked at. To be called with the lock log_counts.
create function logloom_private.pack_log_counts()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- Tenant by tenant through the index, whatever the planner believes of a table that changed a lot.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_settings logloom_private.settings;
  v_until timestamptz;
  v_days integer;
begin
  if not exists (select from logloom_private.counted_days) then
    return 0;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Whoever asks how much came lately, as the alerts do, finds it where it was counted.
  v_until := date_bin('1 minute', now() - v_settings.seal_after, 'epoch');
  with due as (
    select c.tenant_id, c.day
    from logloom_private.counted_days c
    -- What comes late is packed with what comes later still.
    where c.noted_at < now() - v_settings.seal_after
    order by c.noted_at
    limit v_settings.count_pack_days
  ), over as (
    delete from logloom_private.counted_days c
    using due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' <= v_until
  ), under_way as (
    update logloom_private.counted_days c
    set noted_at = now()
    from due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' > v_until
  ), few as materialized (
    select r.*
    from (
      select
        d.tenant_id, d.day,
        d.day::timestamp at time zone 'UTC' as starts,
        least((d.day + 1)::timestamp at time zone 'UTC', v_until) as ends
      from due d
    ) r
    -- With more, a row for each is found faster than a place in a long array.
    where (
      select count(*)
      from (
        select
        from logloom_private.log_counts c
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < r.ends
        limit v_settings.count_pack_rows + 1
      ) l
    ) <= v_settings.count_pack_rows
  ), taken as (
    delete from logloom_private.log_counts c
    using few f
    where c.tenant_id = f.tenant_id
      and c.minute >= f.starts
      and c.minute < f.ends
      and not c.is_delta
    returning
      c.tenant_id, logloom_private.week_of(f.day) as week,
      row(c.minute, c.events, c.is_other, c.level, c.service)::logloom_private.minute_count
        as count
  ), unpacked as (
    delete from logloom_private.packed_counts p
    using (select distinct t.tenant_id, t.week from taken t) w
    where p.tenant_id = w.tenant_id and p.week = w.week
    returning p as packed
  ), packed as (
    insert into logloom_private.packed_counts
    select p.*
    from (
      select c.tenant_id, c.week, array_agg(c.count) as counts
      from (
        select t.tenant_id, t.week, t.count from taken t
        union all
        select (u.packed).tenant_id, (u.packed).week, c
        from unpacked u, logloom_private.unpacked_counts(u.packed) c
      ) c
      group by c.tenant_id, c.week
    ) w
    cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
    where p.minutes is not null
  )
  select count(*) into v_days from due;
  return v_days;
end;
$$;
