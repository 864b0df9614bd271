-- Seam: sums up the rows of minutes that changed, up to p_rows at once. How many rows there were.
create function logloom_private.sum_counts(p_rows integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_services constant integer := (
    select s.count_services_max from logloom_private.settings s
  );
  v_rows integer;
begin
  -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
  with minutes as (
    select d.tenant_id, d.minute, bool_or(d.events < 0) as is_negative
    from (
      select c.tenant_id, c.minute, c.events
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit p_rows
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
    select s.*, s.is_other or s.events < 0 or s.place > v_services as folded
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
  return v_rows;
end;
$$;
