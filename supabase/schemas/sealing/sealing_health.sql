-- Seam: returns when the last block was made; null if unknown.
create function logloom_private.last_sealed()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select c.sealed_at
    from logloom_private.blocks c
    order by c.block_id desc
    limit 1
  );
end;
$$;

-- Returns the check of sealing: days that wait for their first pass, the time of the last block,
-- and blocks discarded because they differed from their records. Degraded if blocks were discarded;
-- their records stay rows.
create function logloom_private.sealing_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days_due bigint;
  v_differences bigint;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s blocks differed from their records: see last_error in logloom_private.sealing_days',
      v_differences
    ) end
  ) || jsonb_build_object(
    'days_due', v_days_due,
    'last_block', logloom_private.last_sealed(),
    'differences', v_differences
  );
end;
$$;
