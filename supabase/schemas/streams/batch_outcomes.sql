create function logloom_private.stream_retry_base()
returns interval
language sql
immutable
return interval '10 seconds';

-- After this time without success a stream is paused.
create function logloom_private.stream_gives_up_after()
returns interval
language sql
immutable
return interval '72 hours';

-- Returns how long a stream waits after p_attempts attempts: a back-off, or p_retry_after seconds
-- if that is longer, but at most stream_gives_up_after().
create function logloom_private.stream_delay(p_attempts integer, p_retry_after integer)
returns interval
language sql
volatile
return greatest(
  logloom_private.back_off(p_attempts, logloom_private.stream_retry_base(), '15 minutes'),
  least(make_interval(secs => coalesce(p_retry_after, 0)), logloom_private.stream_gives_up_after())
);

-- Records that a batch failed and when it is tried again. Mails the owners after an hour. Pauses
-- the stream after a long time without success.
create function logloom_private.fail_stream(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_answer text,
  p_retry_after integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set attempts = s.attempts + 1,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer,
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null, claimed_at = null, claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - logloom_private.stream_gives_up_after() then
    perform logloom_private.pause_stream(p_stream, 'failing');
  elsif p_stream.failing_told_at is null
    and p_stream.failing_since < now() - interval '1 hour'
  then
    perform logloom_private.mail_stream_owners(p_stream, 'stream.failing', 'failing');
    update logloom.log_streams s set failing_told_at = now()
    where s.stream_id = p_stream.stream_id;
  end if;
end;
$$;

-- Adds the refused records to log_stream_failures. Keeps the newest thousand of a stream.
create function logloom_private.note_refused_records(
  p_stream logloom.log_streams,
  p_refused jsonb,
  p_rejected integer,
  p_status integer,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.log_stream_failures (
    stream_id, tenant_id, kind, record_id, record_ts, records, status, error
  )
  select
    p_stream.stream_id, p_stream.tenant_id, 'refused', r.id, r.ts, 1,
    coalesce(r.status, p_status), coalesce('HTTP ' || r.status, p_error, 'Refused')
  from jsonb_to_recordset(p_refused) r (id uuid, ts timestamptz, status integer)
  union all
  select
    p_stream.stream_id, p_stream.tenant_id, 'rejected', null, null, p_rejected, p_status,
    'The receiver accepted the batch, except for some of its records'
  where p_rejected > 0;
  delete from logloom.log_stream_failures f
  where f.failure_id in (
    select o.failure_id
    from logloom.log_stream_failures o
    where o.stream_id = p_stream.stream_id
    order by o.occurred_at desc, o.failure_id desc
    offset 1000
  );
end;
$$;

-- Ends a batch of which the receiver accepted p_took records; 0 is no success. Pauses the stream
-- after a hundred refused records in a row, because then the records are hardly the cause.
create function logloom_private.end_answered_batch(
  p_stream logloom.log_streams,
  p_took integer,
  p_status integer,
  p_error text,
  p_answer text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused constant integer := p_stream.batch_records - p_took;
  v_was_all constant boolean := p_stream.batch_end_id is null
    and p_stream.batch_end_seq >= logloom_private.stream_end(p_stream);
begin
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set sent_records = s.sent_records + p_took,
    refused_records = s.refused_records + v_refused,
    refused_in_a_row = case when p_took > 0 then 0 else s.refused_in_a_row + v_refused end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_took > 0 then
    update logloom.log_streams s
    set sent_batches = s.sent_batches + 1,
      batch_limit = least(s.batch_limit * 2, 1000),
      -- Grows by a tenth. If it doubled, every other batch would be too large again.
      batch_bytes = least(s.batch_bytes + s.batch_bytes / 10, 1000000),
      failing_since = null,
      failing_told_at = null,
      is_proven = true,
      last_success_at = now()
    where s.stream_id = p_stream.stream_id;
  elsif p_stream.refused_in_a_row >= 100 then
    perform logloom_private.pause_stream(p_stream, 'refused');
  end if;
  if v_was_all then
    perform logloom_private.release_stream(p_stream, p_stream.position_seq - 1);
  end if;
end;
$$;

-- Pauses a stream if its receiver has never accepted a record, not even one of this batch. Probably
-- the address or headers are wrong rather than the records, so the records stay. Returns true if
-- the stream was paused.
create function logloom_private.pauses_unproven(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_answer text
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stream.is_proven then
    return false;
  end if;
  update logloom.log_streams s
  set attempts = 0,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  perform
    logloom_private.drop_batch(p_stream),
    logloom_private.pause_stream(p_stream, 'refused');
  return true;
end;
$$;

-- Settles a delivered batch. p_rejected: how many records were refused besides those in p_refused.
create function logloom_private.settle_delivered(
  p_stream logloom.log_streams,
  p_status integer,
  p_refused jsonb,
  p_rejected integer,
  p_answer text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_none constant text := 'The receiver accepted none of the records';
  v_took constant integer := greatest(
    p_stream.batch_records - coalesce(jsonb_array_length(p_refused), 0) - coalesce(p_rejected, 0), 0
  );
begin
  if v_took = 0 and logloom_private.pauses_unproven(p_stream, p_status, v_none, p_answer) then
    return;
  end if;
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  perform logloom_private.end_answered_batch(
    p_stream, v_took, p_status, case when v_took = 0 then v_none end,
    case when v_took < p_stream.batch_records then p_answer end
  );
end;
$$;

-- Settles a refused batch: halves it for the next attempt. A single refused record is given up.
create function logloom_private.settle_refused(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_refused jsonb,
  p_answer text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stream.batch_records = 1
    and logloom_private.pauses_unproven(p_stream, p_status, p_error, p_answer)
  then
    return;
  end if;
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    -- Smaller batches do not help if a single record is too large.
    batch_bytes = case when p_status = 413 and s.batch_records > 1
      then greatest(least(s.batch_bytes, s.batch_size / 2), 10000) else s.batch_bytes end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
  else
    perform
      logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error),
      logloom_private.end_answered_batch(p_stream, 0, p_status, p_error, p_answer);
  end if;
end;
$$;
