-- The oldest day with a partition that is over for seal_after and was not looked at for
-- seal_again_after; null where none is due.
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
        or d.checked_at <= p_now - s.seal_again_after
      )
  );
end;
$$;
