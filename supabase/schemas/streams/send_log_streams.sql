-- Wakes the edge function logloom-stream when a stream has something to send.
create function logloom_private.send_log_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.note_new_writes();
  if cardinality(logloom_private.next_streams(1)) > 0 then
    perform logloom_private.wake_function('logloom-stream');
  end if;
end;
$$;
