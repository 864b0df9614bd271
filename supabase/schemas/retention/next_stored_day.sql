-- Returns the first stored day after p_after (if given) and before p_before.
create function logloom_private.next_stored_day(p_after date, p_before date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- Also finds a day whose partition is dropped but whose other data is not deleted yet.
      select min(l.day)
      from logloom_private.log_days l
      where l.day > coalesce(p_after, '1970-01-01')
      union all
      -- A day that is completely sealed has no partition. A block of several days belongs to its
      -- last day.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.blocks c
      where c.last_ts >= logloom_private.day_start(coalesce(p_after, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(p_after, '-infinity') and d.day < p_before
  );
end;
$$;
