-- Writes the records of a batch, one per line, so that the sender need not parse them. A record is
-- JSON without null members, id and ts first.
create function logloom_private.sent_records(p_records public.logloom_log_record[])
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_names text;
  v_members text;
  v_records text;
begin
  select
    string_agg(f.name, ', ' order by f.shown),
    string_agg(
      format(
        ', case when l.%1$I is not null then '',"%1$s":'' || to_json(l.%1$I)::text end', f.name
      ),
      '' order by f.shown
    ) filter (where f.name not in ('id', 'ts', 'tenant_id'))
  into v_names, v_members
  from unnest(logloom_private.record_fields()) f
  where f.shown is not null;
  execute format(
    'select string_agg(concat(''{"id":"'', l.id, ''","ts":'', to_json(l.ts)%s, ''}''), '
      'e'',\n'' order by l.n) from unnest($1) with ordinality l (%s, n)',
    v_members, v_names
  )
  into v_records
  using p_records;
  return v_records;
end;
$$;

-- Writes a batch as text: a first line of JSON with its metadata, then a line for each record.
create function logloom_private.batch_text(
  p_stream logloom.log_streams,
  p_records text,
  p_count integer,
  p_hops integer,
  p_is_test boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  return '{"batch":' || json_build_object(
    'stream_id', p_stream.stream_id, 'tenant_id', p_stream.tenant_id,
    'customer', logloom_private.customer_of_view(p_stream.view_id), 'kind', p_stream.kind,
    'config', p_stream.config, 'secrets', p_stream.secrets,
    'batch_id', case when p_is_test then p_stream.test_id else p_stream.batch_id end,
    'made_at', case when p_is_test then p_stream.test_requested_at
      else p_stream.batch_made_at end,
    'attempt', case when p_is_test then 0 else p_stream.attempts end,
    'is_test', p_is_test,
    'hops', p_hops,
    'records', p_count
  )::text || e',"records":[\n' || p_records || e'\n]}';
end;
$$;

-- Releases a stream. p_end: the write sequence up to which nothing is left to send. With p_end the
-- stream becomes idle, unless newer records were noted meanwhile.
create function logloom_private.release_stream(
  p_stream logloom.log_streams,
  p_end bigint default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_noted bigint;
begin
  if p_end is not null and p_stream.source = 'audit' then
    -- note_new_writes compares an audit stream's position with stream_end, so it misses no event.
    v_noted := p_end;
  elsif p_end is not null then
    select r.noted_through into v_noted from logloom_private.stream_round r for share;
  end if;
  update logloom.log_streams s
  set claim_id = null, claimed_at = null, claimed_until = null,
    pending_since = case when v_noted <= p_end then null
      when v_noted > p_end then now() else s.pending_since end,
    next_attempt_at = case when p_end is null then s.next_attempt_at
      else now() + (select c.stream_interval from logloom_private.settings c) end
  where s.stream_id = p_stream.stream_id;
end;
$$;

-- True if a stream may still read: its tenant is not being deleted, and the user it reads as is
-- still an admin or owner.
create function logloom_private.stream_may_read(p_stream logloom.log_streams)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not logloom_private.is_being_deleted(p_stream.tenant_id)
    and logloom_private.maker_may_read(p_stream.tenant_id, p_stream.maker);
end;
$$;

-- Returns the current batch of a claimed stream again, or the next one. Null if there is none or
-- the stream's turn is over; then the stream is released. Pauses a stream that may no longer read.
-- A test sends one invented record.
create function logloom_private.next_stream_batch(p_stream_id uuid, p_claim_id uuid)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams or what they send
declare
  v_stream logloom.log_streams;
  v_query logloom_private.compiled_query;
  v_test public.logloom_log_record;
  v_batch logloom_private.stream_batch;
  v_found integer;
  v_records text;
begin
  update logloom.log_streams s
  set claimed_until = now() + logloom_private.stream_claim_lifetime()
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id
  returning s.* into v_stream;
  if not found then
    return null;
  elsif v_stream.test_id is not null then
    v_test.id := v_stream.test_id;
    v_test.ts := v_stream.test_requested_at;
    v_test.level := 'info';
    v_test.service := 'logloom';
    v_test.msg := 'Test of the log stream ' || v_stream.name;
    return logloom_private.batch_text(
      v_stream, logloom_private.sent_records(array[v_test]), 1, 1, true
    );
  elsif not v_stream.enabled or v_stream.paused_at is not null
    or v_stream.pending_since is null or v_stream.next_attempt_at > now()
    -- This stream had its turn. Streams that wait come first.
    or v_stream.claimed_at < now() - interval '5 seconds'
  then
    perform logloom_private.release_stream(v_stream);
    return null;
  elsif not logloom_private.stream_may_read(v_stream) then
    perform logloom_private.pause_stream(v_stream, 'maker');
    return null;
  end if;
  perform logloom_private.note_gaps_of_stream(v_stream);
  v_query := logloom_private.stream_query(v_stream);
  v_batch := case v_stream.source
    when 'audit' then logloom_private.cut_audit_batch(v_stream, v_query)
    else logloom_private.cut_stream_batch(v_stream, v_query) end;
  v_batch.end_seq := coalesce(v_batch.end_seq, v_stream.position_seq - 1);
  v_found := cardinality(v_batch.records);
  v_batch.records := array(
    select v_batch.records[n]
    from generate_subscripts(v_batch.records, 1) n
    where logloom_private.record_hops((v_batch.records[n]).attrs) < 3
    order by n
  );
  v_records := logloom_private.sent_records(v_batch.records);
  update logloom.log_streams s
  -- A batch that ends elsewhere, for example because the view changed, is another batch.
  set batch_id = case
      when (s.batch_end_seq, s.batch_end_id) is not distinct from (v_batch.end_seq, v_batch.end_id)
        and s.batch_id is not null then s.batch_id
      else gen_random_uuid()
    end,
    batch_made_at = coalesce(s.batch_made_at, now()),
    batch_end_seq = v_batch.end_seq,
    batch_end_id = v_batch.end_id,
    batch_last_received_at = v_batch.records[cardinality(v_batch.records)].received_at,
    batch_records = cardinality(v_batch.records),
    batch_skipped = v_found - cardinality(v_batch.records),
    batch_size = octet_length(v_records)
  where s.stream_id = p_stream_id
  returning s.* into v_stream;
  if v_batch.records <> '{}' then
    return logloom_private.batch_text(
      v_stream, v_records, v_stream.batch_records,
      case
        when logloom_private.is_hidden('attrs.logloom_hops', v_query.hidden_fields) then 3
        else 1 + (
          select max(logloom_private.record_hops(r.attrs)) from unnest(v_batch.records) r
        )
      end,
      false
    );
  end if;
  v_stream := logloom_private.end_batch(v_stream);
  perform logloom_private.release_stream(
    v_stream,
    -- Null: there is more to read.
    case when v_batch.end_seq >= logloom_private.stream_end(v_stream) and v_batch.end_id is null
      then v_batch.end_seq end
  );
  return null;
exception when sqlstate 'PT403' or sqlstate 'PT400' then
  -- The view was deleted or is broken, or the query reads a field that the view hides now.
  perform logloom_private.fail_stream(
    v_stream, null, 'The query does not work in the view of the stream', null, null
  );
  return null;
when query_canceled or others then
  perform logloom_private.fail_stream(
    v_stream, null,
    case sqlstate when '57014' then 'Reading took too long'
      else 'Reading failed with error ' || sqlstate end,
    null, null
  );
  return null;
end;
$$;

create function public.read_log_stream_batch(
  p_stream_id uuid default null,
  p_claim_id uuid default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.next_stream_batch(p_stream_id, p_claim_id);
end;
$$;

comment on function public.read_log_stream_batch(uuid, uuid) is
  'For the edge function logloom-stream. Returns the batch that a claimed stream must send: '
  '{batch, records}, one record per line; null if there is none and the claim is over. Errors: '
  'PT400.';
