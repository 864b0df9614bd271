create function logloom_private.batch_key(p_received_at timestamptz)
returns uuid
language plpgsql
volatile
security invoker
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

revoke all on function logloom_private.batch_key(timestamptz) from public;

comment on function logloom_private.batch_key(timestamptz) is
  'A UUIDv7 (RFC 9562) of p_received_at with 58 random bits and the last 16 bits 0.';

create function logloom_private.measured_records(
  p_tenant_id text,
  p_received_at timestamptz,
  p_request logloom_private.ingest_request
)
returns integer[]
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_received_at constant integer := octet_length(to_json(p_received_at)::text);
  -- An array of the texts has nine letters of its own.
  v_bare constant integer :=
    logloom_private.bare_record_bytes(p_tenant_id, p_received_at) - 9;
begin
  return array(
    select
      v_bare
        -- As JSON it has two quotes and minutes of the zone: the text alone is made in a third.
        + coalesce(octet_length(e.ts::text) + 5, v_received_at)
        + octet_length(
          array_to_json(array[
            e.level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route, e.host
          ])::text
        )
        + coalesce(octet_length(e.attrs::text), 4)
    from (
      select
        unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
        unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
        unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
        unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
        unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
    ) e
  );
end;
$$;

revoke all on function logloom_private.measured_records(
  text, timestamptz, logloom_private.ingest_request
) from public;

comment on function logloom_private.measured_records(
  text, timestamptz, logloom_private.ingest_request
) is
  'Of each event how many bytes the JSON text of its record will have.';

create function logloom_private.enqueue(
  p_tenant_id text,
  p_key_id uuid,
  p_request logloom_private.ingest_request,
  p_received_at timestamptz,
  p_record_bytes integer[]
)
returns void
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ts_min timestamptz;
  v_ts_max timestamptz;
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  select min(coalesce(e.ts, p_received_at)), max(coalesce(e.ts, p_received_at))
  into v_ts_min, v_ts_max
  from unnest(p_request.p_ts) e (ts);

  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      p_received_at
    ),
    p_tenant_id, p_key_id, p_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), v_ts_min, v_ts_max,
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host,
    p_request.p_attrs, p_record_bytes
  from logloom_private.queue_pointer p;
end;
$$;

revoke all on function logloom_private.enqueue(
  text, uuid, logloom_private.ingest_request, timestamptz, integer[]
) from public;

comment on function logloom_private.enqueue(
  text, uuid, logloom_private.ingest_request, timestamptz, integer[]
) is
  'Puts one batch into the open slot.';
