-- A row of packed_counts with these counts, which are of the week that begins with p_week.
create function logloom_private.packed_week(
  p_tenant_id text,
  p_week date,
  p_counts logloom_private.minute_count[]
)
returns logloom_private.packed_counts
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_monday constant timestamptz := p_week::timestamp at time zone 'UTC';
  v_packed logloom_private.packed_counts;
begin
  with summed as (
    select
      c.minute, c.is_other, c.level, c.service, sum(c.events) as events,
      dense_rank() over (order by c.is_other, c.service) as place
    from unnest(p_counts) c
    group by 1, 2, 3, 4
    having sum(c.events) <> 0
  )
  select
    array_agg((extract(epoch from s.minute - v_monday) / 60)::smallint order by s.minute),
    array_agg(s.events::integer order by s.minute),
    array_agg(coalesce(left(s.level, 1), ' ')::"char" order by s.minute),
    array_agg(case when s.is_other then 0 else s.place end::smallint order by s.minute),
    array(
      select u.service
      from (select distinct s.place, s.service from summed s where not s.is_other) u
      order by u.place
    )
  into v_packed.minutes, v_packed.events, v_packed.levels, v_packed.places, v_packed.services
  from summed s;
  v_packed.tenant_id := p_tenant_id;
  v_packed.week := p_week;
  return v_packed;
end;
$$;
