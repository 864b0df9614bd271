-- A UUIDv7 (RFC 9562) of p_received_at with 58 random bits and the last 16 bits 0.
create function logloom_private.batch_key(p_received_at timestamptz)
returns uuid
language sql
-- The variant and the random bits come from a random version 4 UUID.
return (
  lpad(to_hex(floor(extract(epoch from p_received_at) * 1000)::bigint), 12, '0')
  || '7' || substr(gen_random_uuid()::text, 16, 17) || '0000'
)::uuid;

-- Adds a batch to the open slot, with the size of each event's record (the bytes of its JSON text).
-- Raises PT413 if a record is too large.
create function logloom_private.enqueue(
  p_state logloom_private.ingest_state,
  p_request logloom_private.ingest_request
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- This time is later than the start of the call. The watermark relies on that and on the timeout.
  v_received_at constant timestamptz := clock_timestamp();
  v_bare constant integer :=
    logloom_private.bare_record_bytes(p_state.tenant_id, v_received_at);
  v_record_bytes integer[];
  v_events constant integer := cardinality(p_request.p_ts);
  v_dropped constant integer := coalesce(p_request.p_dropped, 0);
  v_billed integer := v_events;
begin
  if v_dropped > 0 and (select s.count_dropped from logloom_private.settings s) then
    v_billed := v_events + v_dropped;
  end if;
  -- Enqueues take this lock shared; closing a slot takes it exclusively. So no transaction writes
  -- to a closed slot. The pointer is read after the lock, with a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    record_bytes, dropped, rule_counts, spans,
    -- fields sent joined: {name}
    ts, level, msg, service, env, req_id, user_id, route, host, attrs
    -- fields end
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      v_received_at
    ),
    p_state.tenant_id, p_state.key_id, v_received_at, v_events,
    coalesce(p_request.p_bytes, 0)::bigint * v_billed / (v_events + v_dropped),
    coalesce(m.ts_min, v_received_at), coalesce(m.ts_max, v_received_at), m.record_bytes,
    v_dropped, p_request.p_rule_counts,
    case when p_request.p_spans > 0 then (
      select count(*) from unnest(p_request.p_attrs) a where logloom_private.is_of_span(a)
    ) else 0 end,
    -- fields sent joined: p_request.p_{name}
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host, p_request.p_attrs
    -- fields end
  from logloom_private.queue_pointer p
  cross join (
    select
      min(coalesce(t.ts, v_received_at)) as ts_min, max(coalesce(t.ts, v_received_at)) as ts_max,
      array_agg(
        v_bare + octet_length(to_json(coalesce(t.ts, v_received_at))::text)
          -- JSON's null is as long as two letters in quotes.
          + octet_length(
            to_json(concat(
              -- fields text joined: coalesce(t.{name}, '--')
              coalesce(t.level, '--'), coalesce(t.msg, '--'), coalesce(t.service, '--'),
              coalesce(t.env, '--'), coalesce(t.req_id, '--'), coalesce(t.user_id, '--'),
              coalesce(t.route, '--'), coalesce(t.host, '--')
              -- fields end
            ))::text
          ) - 2
          + octet_length(coalesce(t.attrs, 'null')::text)
      ) as record_bytes
    from (
      select
        -- fields sent joined: unnest(p_request.p_{name}) as {name}
        unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
        unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
        unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
        unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
        unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
        -- fields end
    ) t
  ) m
  where v_events = 0 or p_state.max_record_bytes >= all (m.record_bytes)
  returning record_bytes into v_record_bytes;
  if not found then
    perform logloom_private.refuse('ingest.record_is_too_long', p_state.max_record_bytes::text);
  end if;
  -- A byte counts as at most 6 values ("[]" as 12), so shorter records need no count.
  if p_state.max_record_values / 6 < any (v_record_bytes) and exists (
    select
    from unnest(p_request.p_attrs, v_record_bytes) e (attrs, bytes)
    where e.bytes > p_state.max_record_values / 6
      and logloom_private.has_more_values(e.attrs, p_state.max_record_values)
  ) then
    perform logloom_private.refuse(
      'ingest.record_has_too_many_values', p_state.max_record_values::text
    );
  end if;
end;
$$;
