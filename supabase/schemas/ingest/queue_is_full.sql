-- Whether the queue takes more of the disk than so much: settings.queue_hard_limit_bytes.
create function logloom_private.queue_is_full(
  p_pointer logloom_private.queue_pointer,
  p_limit_bytes bigint
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The size of files, not a count: it costs the same however much is queued. A batch's row is
  -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
  return
    pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p_pointer.open_slot)
    + coalesce(
      pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p_pointer.closed_slot), 0
    ) >= p_limit_bytes / 4096
    and pg_catalog.pg_table_size('logloom_private.queue_slot_' || p_pointer.open_slot)
    + coalesce(
      pg_catalog.pg_table_size('logloom_private.queue_slot_' || p_pointer.closed_slot), 0
    ) >= p_limit_bytes;
end;
$$;
