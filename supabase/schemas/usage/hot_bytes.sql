-- What a tenant's rows take, about: of each partition with its indexes the share that its records
-- have in it.
create function logloom_private.hot_bytes(p_tenant_id text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counted constant integer := (select s.stored_days_counted from logloom_private.settings s);
  v_days date[];
  v_records numeric[];
  v_all_days bigint;
  v_bytes numeric;
begin
  -- What is known of the days first: records and partitions may be on other nodes than the catalog.
  select array_agg(d.day order by d.day), array_agg(d.records order by d.day)
  into v_days, v_records
  from (
    select
      u.day,
      greatest(
        (
          select coalesce(sum(c.events), 0)
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id
            and c.minute >= logloom_private.day_start(u.day)
            and c.minute < logloom_private.day_start(u.day + 1)
        ) - (
          select coalesce(sum(c.records), 0)
          from logloom_private.blocks c
          where c.tenant_id = p_tenant_id
            and not c.holds_counts
            and c.last_ts >= logloom_private.day_start(u.day)
            and c.first_ts < logloom_private.day_start(u.day + 1)
        ),
        0
      ) as records
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
    order by u.day desc
    limit v_counted
  ) d;
  select count(*) into v_all_days from logloom_private.log_days d where d.tenant_id = p_tenant_id;
  select sum(x.bytes) * v_all_days / nullif(count(*), 0)
  into v_bytes
  from (
    select
      pg_total_relation_size(p.oid) * d.records / greatest(
        d.records, pg_stat_get_live_tuples(p.oid), p.reltuples, 1
      )::numeric as bytes
    from unnest(v_days, v_records) d (day, records)
    join pg_catalog.pg_class p
      on p.oid = to_regclass(format('logloom.%I', logloom_private.partition_name(d.day)))
  ) x;
  return coalesce(round(v_bytes), 0);
end;
$$;
