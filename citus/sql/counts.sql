-- Nothing is packed.
create or replace function logloom_citus.sum_counts(p_rows integer)
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
  with minutes as (
    select distinct d.tenant_id, d.minute
    from (
      select c.tenant_id, c.minute
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit p_rows
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
  select count(*) into v_rows from taken;
  return v_rows;
end;
$$;

create or replace function logloom_citus.packed_counts_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '(select null::text as tenant_id, null::timestamptz as minute, null::bigint as events, '
    || 'null::boolean as is_other, null::text as level, null::text as service where false)';
end;
$$;
