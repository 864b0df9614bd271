-- Moves a stream past its batch, which is finished.
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
    batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_last_received_at = null, batch_records = null, batch_skipped = null, batch_size = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  return p_stream;
end;
$$;

-- Drops the current batch. The stream's next attempt makes a new batch.
create function logloom_private.drop_batch(p_stream logloom.log_streams)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_last_received_at = null, batch_records = null, batch_skipped = null, batch_size = null
  where s.stream_id = p_stream.stream_id;
end;
$$;

-- Records the outcome of a batch. A success counts from any claim, a failure only from the current
-- claim. Returns true if the sender still has the claim.
create function logloom_private.settle_stream_batch(
  p_stream_id uuid,
  p_claim_id uuid,
  p_batch_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer,
  p_refused jsonb,
  p_rejected integer,
  p_secrets jsonb,
  p_release boolean,
  p_answer text
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_stream logloom.log_streams;
  v_error constant text := left(p_error, 500);
  v_answer constant text := left(p_answer, 500);
begin
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id
  for no key update;
  if not found then
    return false;
  end if;
  if p_secrets is not null and v_stream.claim_id = p_claim_id then
    update logloom.log_streams s
    set secrets = logloom_private.changed_secrets(
      s.secrets, p_secrets, logloom_private.stream_secret_names(s.kind)
    )
    where s.stream_id = p_stream_id;
  end if;
  if v_stream.test_id = p_batch_id then
    update logloom.log_streams s
    set test_id = null, test_finished_at = now(), test_status = p_status,
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end,
      test_answer = v_answer,
      is_proven = s.is_proven or p_outcome = 'delivered',
      -- The receiver works again, so waiting records are sent now.
      attempts = case when p_outcome = 'delivered' then 0 else s.attempts end,
      next_attempt_at = case when p_outcome = 'delivered' then now() else s.next_attempt_at end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected, v_answer);
    if v_stream.claim_id is distinct from p_claim_id then
      -- The batch was sent with the old settings, so it proves nothing about a new address.
      update logloom.log_streams s set is_proven = v_stream.is_proven
      where s.stream_id = p_stream_id;
    end if;
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused, v_answer);
  else
    perform logloom_private.fail_stream(v_stream, p_status, v_error, v_answer, p_retry_after);
  end if;
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id;
  if found and p_release then
    perform logloom_private.release_stream(v_stream);
  end if;
  return v_stream.claim_id is not null and p_release is not true;
end;
$$;

create function public.settle_log_stream_batch(
  p_stream_id uuid default null,
  p_claim_id uuid default null,
  p_batch_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null,
  p_refused jsonb default null,
  p_rejected integer default null,
  p_secrets jsonb default null,
  p_release boolean default null,
  p_answer text default null
)
returns public.logloom_stream_settlement
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_batch_id', p_batch_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'refused') then
    perform logloom_private.refuse('streams.outcome_is_unknown');
  end if;
  return row(
    logloom_private.settle_stream_batch(
      p_stream_id, p_claim_id, p_batch_id, p_outcome, p_status, p_error, p_retry_after, p_refused,
      p_rejected, p_secrets, p_release, p_answer
    )
  )::public.logloom_stream_settlement;
end;
$$;

comment on function public.settle_log_stream_batch(
  uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text
) is
  'The edge function logloom-stream calls it after an attempt. p_outcome: delivered (all but the '
  'records in p_refused, [{id, ts, status}], and p_rejected others), retry (after p_retry_after '
  'seconds or a longer back-off) or refused (half of the batch is tried next). p_secrets: the '
  'secrets, sealed with the current key. p_answer: the receiver''s answer. p_release: releases the '
  'stream. Returns {more}: true if the sender still holds the claim. Errors: PT400.';
