-- Returns how long after a pass over a day the next pass looks for late records.
create function logloom_private.seal_again_after()
returns interval
language sql
immutable
return interval '24 hours';

-- Returns the oldest day that is due, or null. It has a partition, ended more than seal_after ago,
-- and its last pass is unfinished or older than seal_again_after. A day waits until its errors are
-- counted, but at most two days: group_errors reads only rows.
create function logloom_private.next_day_to_seal(p_now timestamptz)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select min(p.day)
    from logloom_private.settings s
    cross join unnest(logloom_private.partition_days()) p (day)
    left join logloom_private.sealing_days d on d.day = p.day
    where (p.day + 1)::timestamp at time zone 'UTC' <= p_now - s.seal_after
      and (
        d.checked_at is null or d.checked_through is not null
        or d.checked_at <= p_now - logloom_private.seal_again_after()
      )
      and (
        p.day < logloom_private.utc_day(p_now) - 2
        or not exists (
          select
          from logloom_private.log_writes w
          join logloom_private.error_progress e on w.write_seq > e.write_seq
          where w.day = p.day
        )
      )
  );
end;
$$;

-- Returns the days whose records of a tenant are sealed together with p_day. A day with
-- seal_day_records is sealed alone. Otherwise these are the small days of its week or, if they have
-- too few records, of its month. The week or month must be over. Returns null if the records stay
-- rows, or if p_day is not the first of these days: the first day's pass seals all of them. Only
-- records with p_kept_days count. are_small: true if the list is of small days.
create function logloom_private.days_to_seal_together(
  p_tenant_id text,
  p_day date,
  p_now timestamptz,
  p_kept_days integer default null,
  out days date[],
  out are_small boolean
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_month constant integer := logloom_private.block_days(
    coalesce(p_kept_days, logloom_private.retention_days(p_tenant_id))
  );
  v_filter constant text := format(
    '(%s) is not distinct from %L::integer', logloom_private.rule_days_sql(p_tenant_id), p_kept_days
  );
  v_span integer;
  v_from date;
  v_day date;
  v_count integer;
  v_records bigint;
begin
  select s.* into v_settings from logloom_private.settings s;
  if not coalesce(
    (select t.compression from logloom.tenant_settings t where t.tenant_id = p_tenant_id), true
  )
  then
    return;
  end if;
  are_small := false;
  foreach v_span in array array[1, least(v_month, 7), v_month] loop
    v_from := logloom_private.span_start(p_day, v_span);
    exit when logloom_private.day_start(v_from + v_span) > p_now - v_settings.seal_after;
    days := '{}';
    v_records := 0;
    for v_day in
      select d.day
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= v_from and d.day < v_from + v_span
      order by d.day
    loop
      continue when not logloom_private.partition_exists(v_day);
      execute format(
        'select count(*) from (select from only logloom.%I l where l.tenant_id = $1 and %s '
          || 'limit $2) l',
        logloom_private.partition_name(v_day), v_filter
      )
      into v_count
      using p_tenant_id, v_settings.seal_day_records;
      -- A day with enough records is sealed alone, in its own pass.
      if v_count > 0 and (v_count < v_settings.seal_day_records) = are_small then
        days := days || v_day;
        v_records := v_records + v_count;
      end if;
      exit when days[1] < p_day;
    end loop;
    if v_span = v_month and are_small then
      v_records := v_records + (
        select coalesce(sum(c.records), 0)
        from logloom_private.blocks c
        where c.tenant_id = p_tenant_id and c.holds_counts
          and c.kept_days is not distinct from p_kept_days
          and c.records < v_settings.seal_day_records
          and c.first_ts >= logloom_private.day_start(v_from)
          and c.last_ts < logloom_private.day_start(v_from + v_span)
      );
    end if;
    if days[1] = p_day and (not are_small or v_records >= v_settings.seal_week_records) then
      return;
    end if;
    are_small := true;
  end loop;
  days := null;
end;
$$;
