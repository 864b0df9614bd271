-- A UUIDv7 (RFC 9562) of p_received_at with 58 random bits and the last 16 bits 0.
create function logloom_private.batch_key(p_received_at timestamptz)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The variant and the random bits are those of a version 4, from its version on.
  return (
    lpad(to_hex(floor(extract(epoch from p_received_at) * 1000)::bigint), 12, '0')
    || '7' || substr(gen_random_uuid()::text, 16, 17) || '0000'
  )::uuid;
end;
$$;

-- Puts one batch into the open slot.
create function logloom_private.enqueue(
  p_tenant_id text,
  p_key_id uuid,
  p_request logloom_private.ingest_request,
  p_received_at timestamptz,
  p_record_bytes integer[],
  p_ts_min timestamptz,
  p_ts_max timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    record_bytes,
    -- fields sent joined: {name}
    ts, level, msg, service, env, req_id, user_id, route, host, attrs
    -- fields end
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      p_received_at
    ),
    p_tenant_id, p_key_id, p_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), p_ts_min, p_ts_max, p_record_bytes,
    -- fields sent joined: p_request.p_{name}
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host, p_request.p_attrs
    -- fields end
  from logloom_private.queue_pointer p;
end;
$$;
