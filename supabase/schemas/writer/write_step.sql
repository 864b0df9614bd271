-- Moves the next batches of the closed slot in this transaction. Events moved; 0: none was left.
create function logloom_private.write_step()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_last bigint;
  v_events integer;
  v_largest integer;
  v_write_seq bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return 0;
  end if;
  select p.closed_slot into v_slot from logloom_private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select
        min(b.batch_id), max(b.batch_id), sum(b.events), max(b.events),
        (select max(l.batch_id) from logloom_private.%1$I l)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before,
          sum(q.bytes) over (order by q.batch_id) - q.bytes as bytes_before
        from logloom_private.%1$I q
        where q.batch_id > (
          select s.moved_through from logloom_private.queue_slots s where s.slot = $1
        )
        order by q.batch_id
        limit (select s.writer_step_batches from logloom_private.settings s)
      ) b
      where b.events_before < (select s.writer_step_events from logloom_private.settings s)
        and b.bytes_before < (select s.writer_step_bytes from logloom_private.settings s)
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest, v_last
  using v_slot;

  if v_batch_to is null then
    update logloom_private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform logloom_private.meter_batches(v_last);
  perform logloom_private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_write_seq := nextval('logloom_private.write_seq');
  perform logloom_private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_write_seq);
  update logloom_private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  delete from logloom_private.queue_marks m
  where m.slot = v_slot and m.batch_to <= v_batch_to;
  update logloom_private.queue_pointer p set closed_slot = null where v_batch_to = v_last;
  return v_events;
end;
$$;
