-- How long a stream waits after so many attempts: back-off with jitter, at least what the receiver
-- asks.
create function logloom_private.stream_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select greatest(
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from c.stream_retry_base)
          * power(c.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from c.stream_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), c.stream_retry_max)
    )
    from logloom_private.settings c
  );
end;
$$;

-- Notes that a batch did not arrive, and when it is tried again; after long without success the
-- stream pauses.
create function logloom_private.fail_stream(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
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
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - (
    select c.stream_gives_up_after from logloom_private.settings c
  ) then
    perform logloom_private.pause_stream(p_stream, 'failing');
  end if;
end;
$$;

-- Sets records aside that the receiver does not take. The newest thousand failures of a stream are
-- kept.
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
    'The receiver took the batch without some of its records'
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

-- Ends a batch of which the receiver took so many records. That it took none is no success, and
-- where it refuses a hundred in a row it is not the records: the stream pauses.
create function logloom_private.end_answered_batch(
  p_stream logloom.log_streams,
  p_took integer,
  p_status integer,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused constant integer := p_stream.batch_records - p_took;
  v_was_all constant boolean := p_stream.batch_end_id is null
    and p_stream.batch_end_seq >= logloom_private.last_write_seq();
begin
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set sent_records = s.sent_records + p_took,
    refused_records = s.refused_records + v_refused,
    refused_in_a_row = case when p_took > 0 then 0 else s.refused_in_a_row + v_refused end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_took > 0 then
    update logloom.log_streams s
    set sent_batches = s.sent_batches + 1,
      batch_limit = least(s.batch_limit * 2, 1000),
      -- Doubled, every other batch would be too large again.
      batch_bytes = least(s.batch_bytes + s.batch_bytes / 10, 1000000),
      failing_since = null,
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

-- A batch that arrived, but for p_refused and p_rejected of its records.
create function logloom_private.settle_delivered(
  p_stream logloom.log_streams,
  p_status integer,
  p_refused jsonb,
  p_rejected integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_took constant integer := greatest(
    p_stream.batch_records - coalesce(jsonb_array_length(p_refused), 0) - coalesce(p_rejected, 0), 0
  );
begin
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  perform logloom_private.end_answered_batch(
    p_stream, v_took, p_status,
    case when v_took = 0 then 'The receiver took none of the records' end
  );
end;
$$;

-- A batch that the receiver refuses: half of it is tried, down to one record, which is set aside.
create function logloom_private.settle_refused(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_refused jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    -- One record is as large as it is, however small batches are.
    batch_bytes = case when p_status = 413 and s.batch_records > 1
      then greatest(least(s.batch_bytes, s.batch_size / 2), 10000) else s.batch_bytes end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
  else
    perform
      logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error),
      logloom_private.end_answered_batch(p_stream, 0, p_status, p_error);
  end if;
end;
$$;

-- Notes what came of a batch. That it arrived holds whoever says so; that it did not only while
-- nobody else tries. Whether the claim goes on.
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
  p_release boolean
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
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected);
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused);
  else
    perform logloom_private.fail_stream(v_stream, p_status, v_error, p_retry_after);
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
  p_release boolean default null
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
      p_rejected, p_secrets, p_release
    )
  )::public.logloom_stream_settlement;
end;
$$;

comment on function public.settle_log_stream_batch(
  uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean
) is
  'What the edge function logloom-stream calls after an attempt. p_outcome: delivered, but for '
  'p_refused ([{id, ts, status}]) and p_rejected further records; retry after a back-off, or '
  'p_retry_after seconds where that is longer; refused, when half of it is tried. p_secrets: the '
  'secrets, sealed by the current key. p_release: lets go of the stream. Returns {more}: whether '
  'the claim goes on. Errors: PT400.';
