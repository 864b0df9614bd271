-- Makes the partitions of past days that the batches need.
create function logloom_private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select logloom_private.utc_day(min(q.ts_min)), logloom_private.utc_day(max(q.ts_max))
     from logloom_private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always the days between the outermost events exist; only else is each event looked at.
  if not exists (
    select
    from generate_series(v_first_day::timestamp, v_last_day, interval '1 day') d (day)
    where not logloom_private.partition_exists(d.day::date)
  ) then
    return;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform logloom_private.create_partition(v_day);
  end loop;
end;
$$;
