-- Where a tenant's next records at or after p_from are: whole minutes of one UTC day with some
-- settings.verify_step_records records. Null: there are none.
create function logloom_private.next_records_to_verify(p_tenant_id text, p_from timestamptz)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := least(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= logloom_private.utc_day(p_from)
    ),
    (
      select min(c.minute)
      from logloom_private.log_counts c
      where c.tenant_id = p_tenant_id and c.minute >= p_from
    ),
    (
      select date_bin('1 minute', min(b.first_ts), 'epoch')
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from
    )
  );
  v_end timestamptz;
begin
  if v_from is null then
    return null;
  end if;
  v_from := greatest(v_from, p_from);
  v_end := logloom_private.day_start(logloom_private.utc_day(v_from) + 1);
  return tstzrange(
    v_from,
    coalesce(
      (
        select m.minute + interval '1 minute'
        from (
          select c.minute, sum(sum(c.events)) over (order by c.minute) as events
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_end
          group by c.minute
        ) m
        where m.events >= (select s.verify_step_records from logloom_private.settings s)
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$$;
