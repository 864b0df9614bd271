-- The queue: one row (batch) a request, the events as column arrays, in slots that rotate.
--
-- A slot is filled, closed, moved and emptied by TRUNCATE, so that the queue leaves no dead rows
-- behind, not even while a forgotten transaction holds an old snapshot.

create sequence private.queue_batch_id as bigint;

create table private.queue (
  slot smallint not null,
  batch_id bigint not null,
  batch_key uuid not null,
  tenant_id text not null,
  key_id uuid,
  received_at timestamptz not null,
  events integer not null,
  bytes integer not null,
  ts_min timestamptz not null,
  ts_max timestamptz not null,
  ts timestamptz[] not null,
  level text[],
  msg text[],
  service text[],
  env text[],
  req_id text[],
  user_id text[],
  route text[],
  host text[],
  attrs jsonb[],
  primary key (batch_id, slot)
)
partition by list (slot);

create index queue_tenant_id_batch_id_idx on private.queue (tenant_id, batch_id);

do $$
declare
  v_column text;
begin
  foreach v_column in array array[
    'ts', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host', 'attrs'
  ] loop
    execute format('alter table private.queue alter column %I set compression lz4', v_column);
  end loop;
  for v_slot in 0..2 loop
    execute format(
      'create table private.%I partition of private.queue for values in (%s)',
      'queue_slot_' || v_slot, v_slot
    );
    execute format('alter table private.%I enable row level security', 'queue_slot_' || v_slot);
    execute format('alter table private.%I force row level security', 'queue_slot_' || v_slot);
  end loop;
end;
$$;

alter table private.queue enable row level security;
alter table private.queue force row level security;

create table private.queue_slots (
  slot smallint primary key,
  moved_through bigint not null default 0,
  moved_events bigint not null default 0,
  truncated_at timestamptz not null default now()
);
insert into private.queue_slots (slot) values (0), (1), (2);

create table private.queue_pointer (
  singleton boolean primary key default true,
  open_slot smallint not null references private.queue_slots on delete restrict,
  closed_slot smallint references private.queue_slots on delete restrict,
  metered_through bigint not null default 0,
  constraint queue_pointer_has_one_row check (singleton),
  constraint queue_pointer_slots_differ check (open_slot <> closed_slot)
);
insert into private.queue_pointer (open_slot) values (0);
create index queue_pointer_open_slot_idx on private.queue_pointer (open_slot);
create index queue_pointer_closed_slot_idx on private.queue_pointer (closed_slot);

create table private.idempotency_keys (
  tenant_id text not null references app.tenants on delete cascade,
  idempotency_key text not null,
  body_digest bytea not null,
  response json not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, idempotency_key)
);
create index idempotency_keys_created_at_idx on private.idempotency_keys (created_at);

alter table private.queue_slots enable row level security;
alter table private.queue_slots force row level security;
alter table private.queue_pointer enable row level security;
alter table private.queue_pointer force row level security;
alter table private.idempotency_keys enable row level security;
alter table private.idempotency_keys force row level security;

create type private.event_arrays as (
  ts timestamptz[],
  level text[],
  msg text[],
  service text[],
  env text[],
  req_id text[],
  user_id text[],
  route text[],
  host text[],
  attrs jsonb[]
);

create type private.api_key_owner as (tenant_id text, key_id uuid);

create function private.authenticate_api_key(p_key_digest text)
returns private.api_key_owner
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_owner private.api_key_owner;
  v_minute constant timestamptz := date_trunc('minute', now());
  v_last_used_at timestamptz;
begin
  select k.tenant_id, k.key_id, k.last_used_at
  into v_owner.tenant_id, v_owner.key_id, v_last_used_at
  from app.api_keys k
  where k.key_digest = decode(p_key_digest, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
    and k.scopes @> '{ingest}';
  if not found then
    raise sqlstate 'PT401' using message = 'Invalid token, API key, or missing tenant_id';
  end if;

  if v_last_used_at is null or v_last_used_at < v_minute then
    -- Skips a locked row: whoever holds it must not hold up ingest, and another request will do.
    update app.api_keys k
    set last_used_at = now()
    where k.key_id = (
      select u.key_id
      from app.api_keys u
      where u.key_id = v_owner.key_id
      for no key update skip locked
    );
  end if;
  return v_owner;
end;
$$;

create function private.batch_key(p_received_at timestamptz)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_random constant text := replace(gen_random_uuid()::text, '-', '');
  v_milliseconds constant bigint := floor(extract(epoch from p_received_at) * 1000);
begin
  return (
    lpad(to_hex(v_milliseconds), 12, '0') || '7' || substr(v_random, 1, 3)
    || substr(v_random, 17, 4) || substr(v_random, 21, 8) || '0000'
  )::uuid;
end;
$$;

create function private.drop_events_out_of_range(
  p_events private.event_arrays,
  p_from timestamptz,
  p_to timestamptz,
  out events private.event_arrays,
  out dropped integer[]
)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_split record;
begin
  select
    row(
      array_agg(e.ts order by e.i) filter (where e.keep),
      array_agg(e.level order by e.i) filter (where e.keep),
      array_agg(e.msg order by e.i) filter (where e.keep),
      array_agg(e.service order by e.i) filter (where e.keep),
      array_agg(e.env order by e.i) filter (where e.keep),
      array_agg(e.req_id order by e.i) filter (where e.keep),
      array_agg(e.user_id order by e.i) filter (where e.keep),
      array_agg(e.route order by e.i) filter (where e.keep),
      array_agg(e.host order by e.i) filter (where e.keep),
      array_agg(e.attrs order by e.i) filter (where e.keep)
    )::private.event_arrays as kept,
    array_agg(e.i order by e.i) filter (where not e.keep) as dropped
  into v_split
  from (
    select u.*, u.ts is null or u.ts between p_from and p_to as keep
    from unnest(
      p_events.ts, p_events.level, p_events.msg, p_events.service, p_events.env,
      p_events.req_id, p_events.user_id, p_events.route, p_events.host, p_events.attrs
    ) with ordinality u (
      ts, level, msg, service, env, req_id, user_id, route, host, attrs, i
    )
  ) e;
  events := v_split.kept;
  dropped := v_split.dropped;
end;
$$;

create function private.enqueue(
  p_tenant_id text,
  p_key_id uuid,
  p_bytes integer,
  p_events private.event_arrays
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_received_at timestamptz;
  v_ts_min timestamptz;
  v_ts_max timestamptz;
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(hashtext('logloom:queue'));
  v_received_at := clock_timestamp();
  select min(coalesce(e.ts, v_received_at)), max(coalesce(e.ts, v_received_at))
  into v_ts_min, v_ts_max
  from unnest(p_events.ts) e (ts);

  insert into private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs
  )
  select
    p.open_slot, nextval('private.queue_batch_id'), private.batch_key(v_received_at),
    p_tenant_id, p_key_id, v_received_at, cardinality(p_events.ts), p_bytes, v_ts_min, v_ts_max,
    p_events.ts, p_events.level, p_events.msg, p_events.service, p_events.env, p_events.req_id,
    p_events.user_id, p_events.route, p_events.host, p_events.attrs
  from private.queue_pointer p;
end;
$$;

create function private.repeated_answer(
  p_tenant_id text,
  p_idempotency_key text,
  p_body_digest bytea,
  p_lifetime interval
)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_known private.idempotency_keys;
begin
  select k.* into v_known
  from private.idempotency_keys k
  where k.tenant_id = p_tenant_id and k.idempotency_key = p_idempotency_key
    and k.created_at >= now() - p_lifetime;
  if v_known.body_digest <> p_body_digest then
    perform private.refuse_ingest(
      409,
      'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      private.answer_headers()
    );
  end if;
  return v_known.response;
end;
$$;

create function private.ingest(
  p_tenant_id text,
  p_key_digest text,
  p_idempotency_key text,
  p_body_digest text,
  p_bytes integer,
  p_positions integer[],
  p_rejected integer,
  p_errors json,
  p_events private.event_arrays
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_tenant_id text := private.usable_tenant_id(p_tenant_id);
  v_key_id uuid;
  v_events private.event_arrays := p_events;
  v_dropped integer[];
  v_errors json := coalesce(p_errors, '[]');
  v_ingested integer;
  v_rejected integer;
  v_future_limit interval;
  v_lifetime interval;
  v_from timestamptz;
  v_to timestamptz;
  v_body_digest constant bytea := decode(p_body_digest, 'hex');
  v_plan app.plans;
  v_known json;
  v_response json;
  v_split record;
begin
  if p_key_digest is not null then
    select o.tenant_id, o.key_id into v_tenant_id, v_key_id
    from private.authenticate_api_key(p_key_digest) o;
  elsif v_tenant_id is null then
    raise sqlstate 'PT401' using message = 'Invalid token, API key, or missing tenant_id';
  end if;
  if p_events.ts is null then
    perform private.check_quota(v_tenant_id, private.plan_of(v_tenant_id), 0);
    return json_build_object('authenticated', true);
  end if;

  select s.ingest_future_limit, s.idempotency_key_lifetime
  into v_future_limit, v_lifetime
  from private.settings s;
  v_plan := private.plan_of(v_tenant_id);
  perform private.check_rate(v_tenant_id, v_plan);
  v_to := now() + v_future_limit;
  select now() - make_interval(days => max(p.retention_days_max)) into v_from from app.plans p;
  if exists (select from unnest(p_events.ts) e (ts) where e.ts not between v_from and v_to) then
    select d.* into v_split from private.drop_events_out_of_range(p_events, v_from, v_to) d;
    v_events := v_split.events;
    v_dropped := v_split.dropped;
    select json_agg(e.error order by (e.error ->> 'index')::integer)
    into v_errors
    from (
      select u.error
      from (
        select j.error from json_array_elements(v_errors) j (error)
        union all
        select json_build_object(
          'index', coalesce(p_positions[i], i - 1),
          'code', 'ts_out_of_range',
          'message', case
            when p_events.ts[i] > v_to
              then format('ts lies more than %s ahead', private.interval_text(v_future_limit))
            else 'ts is older than the longest retention of any plan'
          end
        )
        from unnest(v_dropped) i
      ) u
      order by (u.error ->> 'index')::integer
      limit 100
    ) e;
  end if;

  v_ingested := coalesce(cardinality(v_events.ts), 0);
  v_rejected := coalesce(p_rejected, 0) + coalesce(cardinality(v_dropped), 0);
  v_response := json_strip_nulls(json_build_object(
    'success', v_ingested > 0 or v_rejected = 0,
    'ingested', v_ingested,
    'rejected', v_rejected,
    'errors', case when v_rejected > 0 then v_errors end
  ));

  -- A repeat gets the first answer, also once a limit is reached.
  if p_idempotency_key is not null then
    perform private.check_quota(v_tenant_id, v_plan, 0);
    v_known := private.repeated_answer(v_tenant_id, p_idempotency_key, v_body_digest, v_lifetime);
    if v_known is not null then
      return v_known;
    end if;
  end if;
  perform private.check_quota(v_tenant_id, v_plan, v_ingested);
  if v_ingested > 0 and private.queue_is_full() then
    perform private.check_quota(v_tenant_id, v_plan, 0);
    perform private.refuse_ingest(
      503,
      'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      private.answer_headers() || jsonb_build_object('Retry-After', '5')
    );
  end if;

  if v_ingested > 0 or p_idempotency_key is not null then
    perform private.provision_tenant(v_tenant_id);
  end if;
  if p_idempotency_key is not null then
    -- A second request with this key waits here for the first one's commit.
    insert into private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
    values (v_tenant_id, p_idempotency_key, v_body_digest, v_response)
    on conflict (tenant_id, idempotency_key) do update
    set body_digest = excluded.body_digest, response = excluded.response, created_at = now()
    where k.created_at < now() - v_lifetime;
    if not found then
      return private.repeated_answer(v_tenant_id, p_idempotency_key, v_body_digest, v_lifetime);
    end if;
  end if;

  perform private.take_rate(v_tenant_id, v_plan, v_ingested);
  if v_ingested > 0 then
    perform private.enqueue(v_tenant_id, v_key_id, coalesce(p_bytes, 0), v_events);
  end if;
  return v_response;
end;
$$;

create function private.ingest_each(p_requests json)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because private.ingest is what may read digests and write to the queue
declare
  v_parameters json;
  v_request record;
  v_answers json[] := '{}';
  v_answer json;
  v_state text;
  v_detail text;
begin
  for v_parameters in select e.value from json_array_elements(p_requests) e loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      select r.* into v_request
      from json_to_record(v_parameters) as r (
        p_tenant_id text, p_key_digest text, p_idempotency_key text, p_body_digest text,
        p_bytes integer, p_positions integer[], p_rejected integer, p_errors json,
        p_ts timestamptz[], p_level text[], p_msg text[], p_service text[], p_env text[],
        p_req_id text[], p_user_id text[], p_route text[], p_host text[], p_attrs jsonb[]
      );
      v_answer := private.ingest(
        v_request.p_tenant_id, v_request.p_key_digest, v_request.p_idempotency_key,
        v_request.p_body_digest, v_request.p_bytes, v_request.p_positions, v_request.p_rejected,
        v_request.p_errors,
        row(
          v_request.p_ts, v_request.p_level, v_request.p_msg, v_request.p_service,
          v_request.p_env, v_request.p_req_id, v_request.p_user_id, v_request.p_route,
          v_request.p_host, v_request.p_attrs
        )::private.event_arrays
      );
      v_answer := json_build_object(
        'status', 200, 'headers', private.answer_headers(), 'body', v_answer::text
      );
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_detail = pg_exception_detail;
      v_answer := case
        when v_state = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_state like 'PT%' then json_build_object(
          'status', substr(v_state, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', sqlerrm)::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  perform set_config('response.headers', '[]', true);
  return array_to_json(v_answers);
end;
$$;

create function private.interval_text(p_interval interval)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_seconds constant bigint := extract(epoch from p_interval);
begin
  return case
    when v_seconds % 3600 = 0 then format('%s h', v_seconds / 3600)
    when v_seconds % 60 = 0 then format('%s min', v_seconds / 60)
    else format('%s s', v_seconds)
  end;
end;
$$;

create function public.ingest_logs(
  p_tenant_id text default null,
  p_key_digest text default null,
  p_idempotency_key text default null,
  p_body_digest text default null,
  p_bytes integer default null,
  p_positions integer[] default null,
  p_rejected integer default null,
  p_errors json default null,
  p_ts timestamptz[] default null,
  p_level text[] default null,
  p_msg text[] default null,
  p_service text[] default null,
  p_env text[] default null,
  p_req_id text[] default null,
  p_user_id text[] default null,
  p_route text[] default null,
  p_host text[] default null,
  p_attrs jsonb[] default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '5s'
as $$
begin
  return private.ingest(
    p_tenant_id, p_key_digest, p_idempotency_key, p_body_digest, p_bytes, p_positions, p_rejected,
    p_errors,
    row(
      p_ts, p_level, p_msg, p_service, p_env, p_req_id, p_user_id, p_route, p_host, p_attrs
    )::private.event_arrays
  );
end;
$$;

create function public.ingest_requests(p_requests json default null)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '5s'
as $$
begin
  return private.ingest_each(p_requests);
end;
$$;

grant execute on function
  private.ingest_each(json),
  public.ingest_requests(json),
  private.ingest(
    text, text, text, text, integer, integer[], integer, json, private.event_arrays
  ),
  public.ingest_logs(
    text, text, text, text, integer, integer[], integer, json, timestamptz[], text[], text[],
    text[], text[], text[], text[], text[], text[], jsonb[]
  )
to service_role;

comment on table private.queue is
  'Committed events on their way to app.logs: one row a request, parallel arrays of one length or '
  'null where no event has the field. A null ts stands for received_at.';
comment on column private.queue.batch_key is
  'UUIDv7 whose last 16 bits are 0; with the event''s index in them it is the record''s id.';
comment on column private.queue.bytes is 'Size of the request body.';
comment on column private.queue.ts_min is 'Least ts of the batch; which partitions it needs.';
comment on table private.queue_slots is 'How far each slot of the queue was moved.';
comment on column private.queue_slots.moved_through is
  'Every batch of the slot up to this batch_id is in app.logs. Written with the records.';
comment on column private.queue_slots.moved_events is 'Events moved since the slot was emptied.';
comment on table private.queue_pointer is
  'Which slot is filled, and which one is closed and being moved.';
comment on column private.queue_pointer.metered_through is
  'Every batch up to this batch_id is counted in app.usage_days.';
comment on table private.idempotency_keys is
  'First answers of requests with an Idempotency-Key, so that a repeat stores nothing.';
comment on function private.authenticate_api_key(text) is
  'Owner of an API key by its hex SHA-256. PT401 when unknown, revoked, expired or out of scope.';
comment on function private.batch_key(timestamptz) is
  'A UUIDv7 (RFC 9562) of p_received_at with 58 random bits and the last 16 bits 0.';
comment on function private.drop_events_out_of_range(
  private.event_arrays, timestamptz, timestamptz
) is 'The events with ts null or in range, and the 1-based positions of the others.';
comment on function private.enqueue(text, uuid, integer, private.event_arrays) is
  'Puts one batch into the open slot.';
comment on function private.repeated_answer(text, text, bytea, interval) is
  'The first answer to an Idempotency-Key, or null. PT409 where the body was another.';
comment on function private.ingest(
  text, text, text, text, integer, integer[], integer, json, private.event_arrays
) is 'Key check, limits, provisioning, idempotency and enqueue in the transaction of the call.';
comment on function private.ingest_each(json) is
  'private.ingest for each of the requests, in one transaction.';
comment on function private.interval_text(interval) is 'An interval in words: 24 h, 90 min, 5 s.';
comment on function public.ingest_logs(
  text, text, text, text, integer, integer[], integer, json, timestamptz[], text[], text[],
  text[], text[], text[], text[], text[], text[], jsonb[]
) is
  'What the edge function ingest calls, once a request. The caller is p_tenant_id (of a verified '
  'token) or p_key_digest (hex SHA-256 of an API key). Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. '
  'Returns the answer to the client {success, ingested, rejected, errors}. '
  'Errors: PT401, PT409, PT429, PT503; statement_timeout is the enqueue timeout of the watermark.';
comment on function public.ingest_requests(json) is
  'ingest_logs for several small requests that came at once: one transaction, one commit. '
  'p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the '
  'same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have '
  'answered; body is JSON text, of an error {code, message}. What refuses one request does not '
  'touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';
