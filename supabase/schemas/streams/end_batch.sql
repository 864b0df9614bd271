-- Moves a stream behind its batch, which is done with.
create function logloom_private.end_batch(p_stream logloom.log_streams)
returns logloom.log_streams
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set position_seq = case when s.batch_end_id is null then s.batch_end_seq + 1
      else s.batch_end_seq end,
    position_id = s.batch_end_id,
    skipped_records = s.skipped_records + s.batch_skipped,
    pending_since = case when s.pending_since is not null then
      greatest(s.pending_since, s.batch_last_received_at) end,
    batch_id = null,
    batch_made_at = null,
    batch_end_seq = null,
    batch_end_id = null,
    batch_last_received_at = null,
    batch_records = null,
    batch_skipped = null,
    batch_size = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  return p_stream;
end;
$$;

-- Forgets where a batch ends: the next one is cut anew.
create function logloom_private.drop_batch(p_stream logloom.log_streams)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_last_received_at = null, batch_records = null, batch_skipped = null,
    batch_size = null
  where s.stream_id = p_stream.stream_id;
end;
$$;
