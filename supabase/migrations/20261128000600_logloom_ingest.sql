-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- ingest/types/ingest_request.sql
create type logloom_private.ingest_request as (
  p_tenant_id text,
  p_key_digest text,
  p_idempotency_key text,
  p_body_digest text,
  p_bytes integer,
  p_positions integer[],
  p_rejected integer,
  p_errors json,
  p_slice integer,
  p_claims jsonb,
  p_cut integer,
  -- fields sent joined: p_{name} {type}[],
  p_ts timestamptz[], p_level text[], p_msg text[], p_service text[], p_env text[], p_req_id text[],
  p_user_id text[], p_route text[], p_host text[], p_attrs jsonb[],
  -- fields end
  p_all_errors boolean,
  p_guessed jsonb
);

comment on type logloom_private.ingest_request is
  'One request of ingest. The caller is p_key_digest (hex SHA-256 of an API key or ingest token), '
  'or whoever p_claims name (of a token whose signature was verified), or p_tenant_id. Events are '
  'parallel arrays. p_ts is of full length, null where missing; without p_ts the request only '
  'authenticates and asks for the limits. p_positions: index in the request of each event, null '
  'when nothing was rejected before. p_rejected, p_errors: what was rejected before. p_slice: '
  'number, from 0, of this part of a request that is committed in several calls; the first one '
  'decides whether the limits of the plan allow the request. p_cut: events that were cut to fit '
  'max_record_bytes or max_record_values. p_all_errors: errors list every rejected event, not the '
  'first hundred. p_guessed: events whose ts stood under a name that may mean something else, as '
  '{place: {name: value}}, the place in the arrays counted from 1. Out of range, such a ts becomes '
  'an attribute.';

-- ingest/types/ingest_state.sql
create type logloom_private.ingest_state as (
  tenant_id text,
  key_id uuid,
  plan logloom.plans,
  is_provisioned boolean,
  keeps_from timestamptz,
  takes_to timestamptz,
  batch_max_events integer,
  batch_max_bytes integer,
  max_record_bytes integer,
  max_record_values integer,
  month_end timestamptz,
  events bigint,
  bytes bigint,
  batches bigint,
  queue_is_full boolean,
  headers jsonb,
  service text
);

comment on type logloom_private.ingest_state is
  'Who sends, and what holds for it: read once a call, for all requests of a caller in it. '
  'keeps_from, takes_to: in which range ts may lie. events, bytes: what is known to be used of the '
  'month, all of it where a limit is near. batches: how many at most the queue has that are not '
  'counted there. headers: what every answer to ingest has: X-Logloom-Writer where pg_cron does '
  'not run the writer. service: the only one that the sender may send for; null: any.';

create type logloom_private.ingest_answer as (body json, headers jsonb, ingested integer);

comment on type logloom_private.ingest_answer is
  'The 200 of a request: its body, its headers {name: value}, and how many events it added to the '
  'queue, 0 for a repeat.';

-- ingest/types/usage_day.sql
-- What was accepted, per tenant and UTC day, and what follows from it: quotas and rates.
--
-- Counted when a slot of the queue closes, in the writer's transaction, so that no request waits
-- for a counter. What the writer has not counted yet is counted where it lies, in the queue.

create type public.logloom_usage_day as (day date, events bigint, bytes bigint);

comment on type public.logloom_usage_day is 'Events and bytes that were accepted on a UTC day.';

-- ingest/tables/idempotency_keys.sql
create table logloom_private.idempotency_keys (
  tenant_id text not null references logloom.tenants on delete cascade,
  idempotency_key text not null,
  body_digest bytea not null,
  response json not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, idempotency_key)
);

create index idempotency_keys_created_at_idx on logloom_private.idempotency_keys (created_at);

comment on table logloom_private.idempotency_keys is
  'First answers of requests with an Idempotency-Key, so that a repeat stores nothing.';
comment on column logloom_private.idempotency_keys.response is
  'The answer; of a request that was committed in slices an object with theirs by number.';

-- ingest/tables/queue.sql
-- The queue: one row (batch) a request, the events as column arrays, in slots that rotate.
--
-- A slot is filled, closed, moved and emptied by TRUNCATE, so that the queue leaves no dead rows
-- behind, not even while a forgotten transaction holds an old snapshot.

create sequence logloom_private.queue_batch_id as bigint;

create table logloom_private.queue (
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
  ts timestamptz[] compression lz4 not null,
  level text[] compression lz4,
  msg text[] compression lz4,
  service text[] compression lz4,
  env text[] compression lz4,
  req_id text[] compression lz4,
  user_id text[] compression lz4,
  route text[] compression lz4,
  host text[] compression lz4,
  attrs jsonb[] compression lz4,
  record_bytes integer[] compression lz4,
  primary key (batch_id, slot)
)
partition by list (slot);

create index queue_tenant_id_batch_id_idx on logloom_private.queue (tenant_id, batch_id);

create table logloom_private.queue_slot_0 partition of logloom_private.queue for values in (0);
create table logloom_private.queue_slot_1 partition of logloom_private.queue for values in (1);
create table logloom_private.queue_slot_2 partition of logloom_private.queue for values in (2);

comment on table logloom_private.queue is
  'Committed events on their way to logloom.logs: one row a request, parallel arrays of one length '
  'or null where no event has the field. A null ts stands for received_at.';

comment on column logloom_private.queue.batch_key is
  'UUIDv7 whose last 16 bits are 0; with the event''s index in them it is the record''s id.';

comment on column logloom_private.queue.bytes is 'Size of the request body.';

comment on column logloom_private.queue.record_bytes is
  'How many bytes the JSON text of each event''s record will have.';

comment on column logloom_private.queue.ts_min is
  'Least ts of the batch; which partitions it needs.';

create table logloom_private.queue_slots (
  slot smallint primary key,
  moved_through bigint not null default 0,
  moved_events bigint not null default 0,
  metered_events bigint not null default 0,
  truncated_at timestamptz not null default now()
);

insert into logloom_private.queue_slots (slot) values (0), (1), (2);

comment on table logloom_private.queue_slots is 'How far each slot of the queue was moved.';

comment on column logloom_private.queue_slots.moved_through is
  'Every batch of the slot up to this batch_id is in logloom.logs. Written with the records.';

comment on column logloom_private.queue_slots.moved_events is
  'Events moved since the slot was emptied.';

create table logloom_private.queue_marks (
  slot smallint not null references logloom_private.queue_slots on delete restrict,
  batch_to bigint not null,
  received_at timestamptz not null,
  primary key (slot, batch_to)
);

create table logloom_private.queue_pointer (
  singleton boolean primary key default true,
  open_slot smallint not null references logloom_private.queue_slots on delete restrict,
  closed_slot smallint references logloom_private.queue_slots on delete restrict,
  metered_through bigint not null default 0,
  constraint queue_pointer_has_one_row check (singleton),
  constraint queue_pointer_slots_differ check (open_slot <> closed_slot)
);

insert into logloom_private.queue_pointer (open_slot) values (0);

create index queue_pointer_open_slot_idx on logloom_private.queue_pointer (open_slot);
create index queue_pointer_closed_slot_idx on logloom_private.queue_pointer (closed_slot);

comment on column logloom_private.queue_slots.metered_events is
  'Events metered since the slot was emptied. Less moved_events: how many of them still wait.';

comment on table logloom_private.queue_marks is
  'How old the waiting batches are, without looking at them: of those metered at once, up to '
  'batch_to, the least received_at. Kept until they are moved.';

comment on table logloom_private.queue_pointer is
  'Which slot is filled, and which one is closed and being moved.';

comment on column logloom_private.queue_pointer.metered_through is
  'Every batch up to this batch_id is counted: in logloom.usage_days, and in the slots'' '
  'metered_events.';

-- ingest/tables/rate_buckets.sql
-- Unlogged: after a crash every tenant may send a burst again, which is all that is lost.
create unlogged table logloom_private.rate_buckets (
  tenant_id text primary key,
  events double precision not null,
  requests double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

comment on table logloom_private.rate_buckets is
  'Token buckets of tenants whose plan has a rate: what was left at filled_at. A debt is negative.';

-- ingest/tables/usage_days.sql
create table logloom.usage_days (
  tenant_id text not null,
  day date not null,
  events bigint not null,
  bytes bigint not null,
  primary key (tenant_id, day)
)
-- Today's rows change with every slot: room on the page keeps that out of the index.
with (fillfactor = 50);

create policy usage_days_select_tenant on logloom.usage_days
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.usage_days to authenticated, service_role;

comment on table logloom.usage_days is
  'Events and bytes accepted per tenant and UTC day of receipt. The writer adds to it when it '
  'begins to move a slot of the queue; what lies behind queue_pointer.metered_through is not yet.';

-- ingest/authenticate_sender.sql
-- Whose a request is: of the API key or ingest token where one is given, else of the tenant of the
-- verified claims, else of the tenant that service_role names. service: the only one that may be
-- sent for. PT401, also for a key that is unknown, revoked or expired; PT403 for a key, a viewer or
-- the token of an OAuth client, that may only read; PT404 for a tenant that service_role names and
-- that cannot be.
create function logloom_private.authenticate_sender(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  out tenant_id text,
  out key_id uuid,
  out service text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key logloom.api_keys;
  v_token logloom_private.ingest_tokens;
begin
  if p_key_digest is not null then
    v_key := logloom_private.key_of_digest(p_key_digest);
    if v_key.key_id is not null then
      if not v_key.scopes @> '{ingest}' then
        perform logloom_private.refuse('callers.key_may_only_read');
      end if;
      perform logloom_private.note_key_use(v_key);
      authenticate_sender.tenant_id := v_key.tenant_id;
      authenticate_sender.key_id := v_key.key_id;
      return;
    end if;
    select t.* into v_token
    from logloom_private.ingest_tokens t
    where t.token_digest = decode(p_key_digest, 'hex');
    if not found then
      perform logloom_private.refuse('callers.key_is_unknown');
    elsif v_token.expires_at <= now() then
      perform logloom_private.refuse('callers.ingest_token_is_expired');
    elsif not logloom_private.ingest_token_is_alive(v_token) then
      perform logloom_private.refuse('callers.ingest_token_is_revoked');
    end if;
    authenticate_sender.tenant_id := v_token.tenant_id;
    authenticate_sender.service := v_token.service;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_claims(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    -- Whoever may send for any tenant is known.
    if p_claims is null and p_tenant_id is not null then
      perform logloom_private.refuse('ingest.tenant_is_not_known', p_tenant_id);
    end if;
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
  if logloom_private.is_viewer(authenticate_sender.tenant_id, p_claims) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
end;
$$;

-- ingest/check_month.sql
-- PT429 when the events or bytes of the tenant's month are used up.
create function logloom_private.check_month(p_state logloom_private.ingest_state)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
begin
  if p_state.events >= v_plan.monthly_events_limit then
    perform logloom_private.refuse_over_limit(
      p_state, 'ingest.monthly_events_are_used_up', v_plan.monthly_events_limit, p_state.month_end
    );
  elsif p_state.bytes >= v_plan.monthly_bytes_limit then
    perform logloom_private.refuse_over_limit(
      p_state, 'ingest.monthly_bytes_are_used_up', v_plan.monthly_bytes_limit, p_state.month_end
    );
  end if;
end;
$$;

-- ingest/check_rate.sql
-- A bucket filled up to now. A plan without a rate has no tokens of it: null.
create function logloom_private.filled_bucket(
  p_bucket logloom_private.rate_buckets,
  p_plan logloom.plans
)
returns logloom_private.rate_buckets
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := greatest(p_bucket.filled_at, clock_timestamp());
  v_seconds constant double precision := extract(epoch from v_now - p_bucket.filled_at);
begin
  return row(
    p_bucket.tenant_id,
    least(p_plan.events_burst, p_bucket.events + p_plan.events_per_second * v_seconds),
    least(p_plan.requests_burst, p_bucket.requests + p_plan.requests_per_second * v_seconds),
    v_now
  );
end;
$$;

-- What the next request of a tenant with this bucket is refused with, until the bucket has a token
-- again; all null where it is not refused.
create function logloom_private.rate_refusal(
  p_bucket logloom_private.rate_buckets,
  p_plan logloom.plans,
  out error text,
  out rate integer,
  out seconds double precision,
  out headers jsonb
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_bucket.requests < 1 then
    error := 'ingest.too_many_requests';
    rate := p_plan.requests_per_second;
    seconds := (1 - p_bucket.requests) / rate;
  elsif p_bucket.events < 1 then
    error := 'ingest.too_many_events';
    rate := p_plan.events_per_second;
    seconds := (1 - p_bucket.events) / rate;
  else
    return;
  end if;
  -- The refusal that the function ingest may give for so many seconds without asking.
  headers := jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', (
        select least(seconds, extract(epoch from s.rate_hold_max)) from logloom_private.settings s
      ),
      'retry_after', ceil(seconds),
      'limit', rate,
      'error', (logloom_private.error_named(error, array[rate::text])).message
    )::text
  );
end;
$$;

-- PT429 when the tenant's bucket is empty. Takes nothing. For plans that have a rate.
create function logloom_private.check_rate(
  p_state logloom_private.ingest_state,
  p_bucket logloom_private.rate_buckets
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal constant record := logloom_private.rate_refusal(
    logloom_private.filled_bucket(p_bucket, p_state.plan), p_state.plan
  );
begin
  if v_refusal.error is not null then
    perform logloom_private.refuse_over_limit(
      p_state, v_refusal.error, v_refusal.rate,
      clock_timestamp() + make_interval(secs => greatest(1, ceil(v_refusal.seconds))),
      v_refusal.headers
    );
  end if;
end;
$$;

-- ingest/enqueue.sql
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

-- Puts one batch into the open slot, with the size of each event's record: the bytes of its JSON
-- text. PT413 for a record that is too large.
create function logloom_private.enqueue(
  p_state logloom_private.ingest_state,
  p_request logloom_private.ingest_request
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Within the timeout of the call, as the watermark wants it.
  v_received_at constant timestamptz := clock_timestamp();
  v_bare constant integer :=
    logloom_private.bare_record_bytes(p_state.tenant_id, v_received_at);
  v_record_bytes integer[];
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
      v_received_at
    ),
    p_state.tenant_id, p_state.key_id, v_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), m.ts_min, m.ts_max, m.record_bytes,
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
          -- Null is as long as two letters in quotes.
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
  where p_state.max_record_bytes >= all (m.record_bytes)
  returning record_bytes into v_record_bytes;
  if not found then
    perform logloom_private.refuse('ingest.record_is_too_long', p_state.max_record_bytes::text);
  end if;
  -- An array in an array is two letters and twelve values: shorter records need no count.
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

-- ingest/first_answer.sql
-- An answer without its errors, which may be long where all are listed, but with the range of times
-- that makes them again.
create function logloom_private.without_errors(
  p_state logloom_private.ingest_state,
  p_answer json
)
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_answer -> 'errors' is null then
    return p_answer;
  end if;
  return p_answer::jsonb - 'errors' || jsonb_build_object(
    'keeps_from', p_state.keeps_from, 'takes_to', p_state.takes_to
  );
end;
$$;

-- The first answer to an Idempotency-Key, or to a slice of its request. Where there is none, null,
-- and p_response, if given, is kept as such. PT409 where the body was another.
create function logloom_private.first_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest text,
  p_slice integer,
  p_response json default null
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The same body is another request for another service.
  v_key constant text := concat(p_state.service || e'\x1f') || p_idempotency_key;
  v_body_digest constant bytea := decode(p_body_digest, 'hex');
  v_expired constant timestamptz :=
    now() - (select s.idempotency_key_lifetime from logloom_private.settings s);
  v_known logloom_private.idempotency_keys;
begin
  if p_response is not null then
    -- A second request with this key waits here for the first one's commit.
    insert
      into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
    values (
      p_state.tenant_id, v_key, v_body_digest,
      case
        when p_slice is null then p_response
        else json_build_object(p_slice::text, p_response)
      end
    )
    on conflict (tenant_id, idempotency_key) do update
    set
      body_digest = excluded.body_digest,
      response = case
        when k.created_at < v_expired then excluded.response
        else (k.response::jsonb || excluded.response::jsonb)::json
      end,
      created_at = case when k.created_at < v_expired then now() else k.created_at end
    where k.created_at < v_expired
      or (
        p_slice is not null
        and k.body_digest = excluded.body_digest
        and k.response -> p_slice::text is null
      );
    if found then
      return null;
    end if;
  end if;
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = v_key
    and k.created_at >= v_expired;
  if v_known.body_digest <> v_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$$;

-- ingest/ingest.sql
-- Values of a JSON text whose texts have no comma, colon or bracket. A member of an object counts
-- two, an array or object eleven beside what it holds, since reading it takes as much memory as
-- several numbers; an empty one is taken to hold a value.
create function logloom_private.values_in(p_json text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(p_json) - octet_length(replace(p_json, ',', ''))
    + octet_length(p_json) - octet_length(replace(p_json, ':', ''))
    + 12 * (octet_length(p_json) - octet_length(translate(p_json, '[{', '')));
end;
$$;

-- Whether attributes have more values than so many.
create function logloom_private.has_more_values(p_attrs jsonb, p_values integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := p_attrs::text;
begin
  -- Taking the texts out is dear, and most records have few values even with what is in them.
  return logloom_private.values_in(v_text) > p_values
    and logloom_private.values_in(
      regexp_replace(v_text, '"(?:[^"\\]|\\.)*"', '', 'g')
    ) > p_values;
end;
$$;

-- Limits, provisioning, idempotency and enqueue of one request. PT404, PT409, PT413, PT429, PT503.
create function logloom_private.ingest(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_answer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
  -- The first slice decides for its request: what follows is taken, and waited for by the next one.
  v_is_let_in constant boolean := coalesce(p_request.p_slice > 0, false);
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if p_request.p_ts is null then
    return row(
      json_build_object(
        'authenticated', true,
        -- Of a time of receipt that is as long as they come.
        'max_event_bytes', p_state.max_record_bytes
          - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z'),
        'max_event_values', p_state.max_record_values
      ),
      logloom_private.quota_headers(p_state, 0), 0
    );
  end if;
  if v_has_rate and not v_is_let_in then
    -- Without a lock: a request that is refused here holds nobody up and writes nothing.
    perform logloom_private.check_rate(p_state, b)
    from logloom_private.rate_buckets b
    where b.tenant_id = p_state.tenant_id;
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', p_state.batch_max_events::text, p_state.batch_max_bytes::text
    );
  end if;
  -- A repeat gets the first answer, also once a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
  end if;
  if v_earlier_answer ->> 'takes_to' is not null then
    -- Its list is made again, as it was.
    p_state.keeps_from := v_earlier_answer ->> 'keeps_from';
    p_state.takes_to := v_earlier_answer ->> 'takes_to';
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
  end if;
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := json_strip_nulls(json_build_object(
    'success', v_answer.ingested > 0 or coalesce(p_request.p_rejected, 0) = 0,
    'ingested', v_answer.ingested,
    'rejected', coalesce(p_request.p_rejected, 0),
    'cut', nullif(p_request.p_cut, 0),
    'errors', case when p_request.p_rejected > 0 then coalesce(p_request.p_errors, '[]') end
  ));

  if not p_state.is_provisioned and num_nonnulls(p_request.p_key_digest, p_request.p_claims) = 0
    and not (select s.provision_by_secret_key from logloom_private.settings s)
  then
    perform logloom_private.refuse('ingest.tenant_is_not_known', p_state.tenant_id);
  end if;
  -- A first slice decides also where its own events were all rejected.
  if not v_is_let_in and v_earlier_answer is null
    and (v_answer.ingested > 0 or p_request.p_slice = 0)
  then
    perform logloom_private.check_month(p_state);
  end if;
  if v_answer.ingested > 0 and v_earlier_answer is null then
    if p_state.queue_is_full then
      perform logloom_private.refuse_with_headers(
        logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
        'ingest.queue_is_full'
      );
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if p_request.p_idempotency_key is not null then
      v_earlier_answer := logloom_private.first_answer(
        p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice,
        case when p_request.p_all_errors
          then logloom_private.without_errors(p_state, v_answer.body) else v_answer.body end
      );
    end if;
  end if;
  if v_earlier_answer is not null then
    if v_earlier_answer ->> 'takes_to' is not null then
      v_earlier_answer := (
        v_answer.body::jsonb || v_earlier_answer::jsonb - '{keeps_from,takes_to}'::text[]
      )::json;
    end if;
    return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(
      p_state, v_answer.ingested, v_is_let_in
    );
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(p_state, p_request);
  end if;
  return v_answer;
end;
$$;

-- ingest/ingest_each.sql
-- logloom_private.ingest for each of the requests, in one transaction. What holds for a caller is
-- read once for those of its requests that follow one another.
create function logloom_private.ingest_each(p_requests text[])
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_text text;
  v_before logloom_private.ingest_request;
  v_request logloom_private.ingest_request;
  v_state logloom_private.ingest_state;
  v_accepted logloom_private.ingest_answer;
  v_answer json;
  v_answers json[] := '{}';
  v_sqlstate text;
  v_detail text;
  v_hint text;
begin
  foreach v_text in array p_requests loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      v_request := logloom_private.request_of_text(v_text);
      if v_state is null
        or v_request.p_key_digest is distinct from v_before.p_key_digest
        or v_request.p_tenant_id is distinct from v_before.p_tenant_id
        or v_request.p_claims is distinct from v_before.p_claims
      then
        v_state := logloom_private.ingest_state(
          v_request.p_tenant_id, v_request.p_key_digest, v_request.p_claims,
          cardinality(p_requests)
        );
        v_before := v_request;
      end if;
      v_accepted := logloom_private.ingest(v_request, v_state);
      v_state.events := v_state.events + v_accepted.ingested;
      if v_accepted.ingested > 0 then
        v_state.bytes := v_state.bytes + coalesce(v_request.p_bytes, 0);
      end if;
      v_answer := json_build_object(
        'status', 200, 'headers', v_accepted.headers, 'body', v_accepted.body::text
      );
    exception when others then
      get stacked diagnostics
        v_sqlstate = returned_sqlstate, v_detail = pg_exception_detail,
        v_hint = pg_exception_hint;
      -- The note that the key was used went with what was refused.
      if v_request.p_key_digest is not null then
        v_state := null;
      end if;
      v_answer := case
        when v_sqlstate = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_sqlstate like 'PT%' then json_build_object(
          'status', substr(v_sqlstate, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object(
            'code', v_sqlstate, 'message', sqlerrm, 'hint', nullif(v_hint, '')
          )::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  return array_to_json(v_answers);
end;
$$;

-- ingest/ingest_state.sql
-- Who sends a request, and what holds for it and for those of the same caller that come with it,
-- p_requests in all. PT401, PT403, PT404.
create function logloom_private.ingest_state(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  p_requests integer
)
returns logloom_private.ingest_state
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sender constant record :=
    logloom_private.authenticate_sender(p_tenant_id, p_key_digest, p_claims);
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
  v_state logloom_private.ingest_state;
begin
  select
    v_sender.tenant_id, v_sender.key_id, v_plan,
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    -- As kept_from says, of the plan at hand: each call of a function is felt here.
    date_trunc('day', now(), 'UTC') - make_interval(hours => 24 * least(
      coalesce(
        (
          select c.retention_days
          from logloom.tenant_settings c
          where c.tenant_id = v_sender.tenant_id
        ),
        v_plan.retention_days_default
      ),
      v_plan.retention_days_max
    )),
    now() + s.ingest_future_limit, s.batch_max_events, s.batch_max_bytes, s.max_record_bytes,
    s.max_record_values, (v_month + interval '1 month') at time zone 'UTC', m.events, m.bytes,
    b.last_value - q.metered_through + p_requests - 1,
    -- The size of files, not a count: it costs the same however much is queued. A batch's row is
    -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
    pg_relation_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_relation_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= s.queue_hard_limit_bytes / 4096
    and pg_table_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_table_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    v_sender.service
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  left join logloom_private.job_heartbeats h on h.job = 'write_logs'
  cross join (
    select
      coalesce(sum(u.events), 0)::bigint as events, coalesce(sum(u.bytes), 0)::bigint as bytes
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month::date
  ) m;

  -- The queue is looked at only when what it may hold could matter.
  if v_state.events + v_state.batches * v_state.batch_max_events >= v_plan.monthly_events_limit
    or v_state.bytes + v_state.batches * v_state.batch_max_bytes >= v_plan.monthly_bytes_limit
  then
    select coalesce(sum(u.events), 0), coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.usage_of(v_sender.tenant_id, v_month::date) u;
  end if;
  return v_state;
end;
$$;

-- ingest/ingest_text.sql
-- Without a name for its parameter: then PostgREST passes a body of text/plain on as it is.
create function public.ingest_text(text default '')
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(string_to_array($1, e'\x1c'));
end;
$$;

comment on function public.ingest_text(text) is
  'What the edge function ingest calls, for one or more requests of a caller: one transaction, one '
  'commit. The body is plain text: the requests with file separators (U+001C) between them. A '
  'request is the JSON of a logloom_private.ingest_request, which says what its members are, or of '
  'all but the columns and then these, as logloom_private.request_of_text splits them. Returns an '
  'array in the same order, each {status, headers: {name: value}, body: text}. body is JSON text: '
  '{success, ingested, rejected, cut, errors}, or of an error {code, message, hint}: PT401, PT403, '
  'PT404, PT409, PT413, PT429, PT503. A refused request does not touch the others. '
  'statement_timeout is the enqueue timeout of the watermark.';

-- ingest/meter_batches.sql
-- Counts the batches up to p_through that are not counted yet: for the quotas, and for what is
-- asked of the queue. To be called by the writer, when no batch up to p_through is in flight.
create function logloom_private.meter_batches(p_through bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_slot smallint;
  v_last bigint;
  v_events bigint;
  v_received_at timestamptz;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if p_through <= v_pointer.metered_through then
    return;
  end if;
  foreach v_slot in array array_remove(array[v_pointer.closed_slot, v_pointer.open_slot], null) loop
    execute format(
      $query$
        with b as materialized (
          select q.batch_id, q.tenant_id, q.received_at, q.events, q.bytes
          from logloom_private.%I q
          where q.batch_id > $1 and q.batch_id <= $2
        ), counted as (
          insert into logloom.usage_days as u (tenant_id, day, events, bytes)
          select b.tenant_id, (b.received_at at time zone 'UTC')::date, sum(b.events), sum(b.bytes)
          from b
          -- A tenant that was deleted meanwhile has nothing to be counted for.
          join logloom.tenants t on t.tenant_id = b.tenant_id
          group by 1, 2
          on conflict (tenant_id, day) do update
          set events = u.events + excluded.events, bytes = u.bytes + excluded.bytes
        )
        select max(b.batch_id), sum(b.events), min(b.received_at) from b
      $query$,
      'queue_slot_' || v_slot
    )
    into v_last, v_events, v_received_at
    using v_pointer.metered_through, p_through;
    continue when v_last is null;
    update logloom_private.queue_slots s
    set metered_events = s.metered_events + v_events
    where s.slot = v_slot;
    insert into logloom_private.queue_marks (slot, batch_to, received_at)
    values (v_slot, v_last, v_received_at);
  end loop;
  update logloom_private.queue_pointer set metered_through = p_through where singleton;
end;
$$;

-- ingest/quota_headers.sql
-- Headers of an answer: what is left of the month's events after p_events more, right to about a
-- second of traffic.
create function logloom_private.quota_headers(
  p_state logloom_private.ingest_state,
  p_events integer
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant bigint := (p_state.plan).monthly_events_limit;
begin
  return p_state.headers || jsonb_build_object(
    'X-RateLimit-Limit', v_limit::text,
    'X-RateLimit-Remaining', greatest(v_limit - p_state.events - p_events, 0)::text,
    'X-RateLimit-Reset', ceil(extract(epoch from p_state.month_end))::bigint::text
  );
end;
$$;

-- ingest/refuse_over_limit.sql
-- Raises the error of this name, which says p_limit, with the headers of a limit that holds until
-- p_reset_at, and those in p_headers.
create function logloom_private.refuse_over_limit(
  p_state logloom_private.ingest_state,
  p_error text,
  p_limit bigint,
  p_reset_at timestamptz,
  p_headers jsonb default '{}'
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_with_headers(
    p_state.headers || p_headers || jsonb_build_object(
      'X-RateLimit-Limit', p_limit::text,
      'X-RateLimit-Remaining', '0',
      -- A Unix time.
      'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text,
      'Retry-After',
      greatest(1, ceil(extract(epoch from p_reset_at - clock_timestamp())))::bigint::text
    ),
    p_error,
    p_limit::text
  );
end;
$$;

-- ingest/reject_events.sql
-- The elements whose place in the second array is true; null where none is left.
create function logloom_private.kept_values(p_values anyarray, p_is_kept boolean[])
returns anyarray
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_values is null then
    return null;
  end if;
  return (
    select array_agg(e.value order by e.i)
    from unnest(p_values, p_is_kept) with ordinality e (value, is_kept, i)
    where e.is_kept
  );
end;
$$;

-- The request whose guessed times are attributes again where they are out of range: then they meant
-- something else, and the event has the time of receipt. Such an event does not tell itself from an
-- equal one: a repeat is only told by a key that its sender gave.
create function logloom_private.without_wrong_guesses(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_wrong boolean;
begin
  select
    array_agg(case when g.member is null then e.ts end order by e.i),
    array_agg(
      case when g.member is null then e.attrs else g.member || coalesce(e.attrs, '{}') end
      order by e.i
    ),
    bool_or(g.member is not null)
  into p_request.p_ts, p_request.p_attrs, v_is_wrong
  from unnest(p_request.p_ts, p_request.p_attrs) with ordinality e (ts, attrs, i)
  left join jsonb_each(p_request.p_guessed) g (place, member)
    on g.place::bigint = e.i and e.ts not between p_state.keeps_from and p_state.takes_to;
  if v_is_wrong and p_request.p_idempotency_key = 'sha256:' || p_request.p_body_digest then
    p_request.p_idempotency_key := null;
  end if;
  return p_request;
end;
$$;

-- The request without the events whose ts is given and out of range, or whose service is another
-- than the sender may send for: counted in p_rejected and, of the first 100, listed in p_errors by
-- their index in what was sent, or all of them where p_all_errors says so.
create function logloom_private.reject_events(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Not for each event: a request may have thousands of them.
  v_of_another constant text :=
    format('The token sends for the service %s alone', p_state.service);
  v_ahead constant text := (
    select format(
      'ts lies more than %s h ahead', (extract(epoch from s.ingest_future_limit) / 3600)::real
    )
    from logloom_private.settings s
  );
  v_old constant text := format(
    'ts is older than what is kept: %s days', logloom_private.retention_days(p_state.tenant_id)
  );
  v_is_kept boolean[];
begin
  if p_request.p_guessed is not null then
    p_request := logloom_private.without_wrong_guesses(p_request, p_state);
  end if;
  v_is_kept := array(
    select (e.ts between p_state.keeps_from and p_state.takes_to) is not false
      and (e.service = p_state.service) is not false
    from unnest(p_request.p_ts, p_request.p_service) with ordinality e (ts, service, i)
    order by e.i
  );
  p_request.p_errors := (
    select json_agg(u.error)
    from (
      select j.error, (j.error ->> 'index')::integer as index
      from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
      union all
      select
        json_build_object(
          'index', o.index,
          'code', case
            when o.is_of_another then 'service_is_another' else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then v_of_another
            when o.ts > p_state.takes_to then v_ahead
            else v_old
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit case when p_request.p_all_errors then null else 100 end
    ) u
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + cardinality(array_positions(v_is_kept, false));
  -- fields sent: p_request.p_{name} := logloom_private.kept_values(p_request.p_{name}, v_is_kept);
  p_request.p_ts := logloom_private.kept_values(p_request.p_ts, v_is_kept);
  p_request.p_level := logloom_private.kept_values(p_request.p_level, v_is_kept);
  p_request.p_msg := logloom_private.kept_values(p_request.p_msg, v_is_kept);
  p_request.p_service := logloom_private.kept_values(p_request.p_service, v_is_kept);
  p_request.p_env := logloom_private.kept_values(p_request.p_env, v_is_kept);
  p_request.p_req_id := logloom_private.kept_values(p_request.p_req_id, v_is_kept);
  p_request.p_user_id := logloom_private.kept_values(p_request.p_user_id, v_is_kept);
  p_request.p_route := logloom_private.kept_values(p_request.p_route, v_is_kept);
  p_request.p_host := logloom_private.kept_values(p_request.p_host, v_is_kept);
  p_request.p_attrs := logloom_private.kept_values(p_request.p_attrs, v_is_kept);
  -- fields end
  return p_request;
end;
$$;

-- ingest/request_of_text.sql
-- The elements of a JSON array of objects and nulls.
create function logloom_private.objects_of_text(p_text text)
returns jsonb[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text is null then
    return null;
  end if;
  return array(select nullif(e.value, 'null') from jsonb_array_elements(p_text::jsonb) e);
end;
$$;

-- A request as ingest_text gets it: the JSON of its parameters and, unless they are in it, the
-- columns in the order of their fields, each after a record separator. A column is empty where no
-- event has the field. Its values have unit separators between them, and null is a group separator;
-- that of attrs is a JSON array. Splitting takes half the time of reading JSON.
create function logloom_private.request_of_text(p_text text)
returns logloom_private.ingest_request
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant text[] := string_to_array(p_text, e'\x1e', '');
  v_us constant text := e'\x1f';
  v_gs constant text := e'\x1d';
  v_request logloom_private.ingest_request :=
    json_populate_record(null::logloom_private.ingest_request, v_parts[1]::json);
begin
  if cardinality(v_parts) = 1 then
    return v_request;
  end if;
  v_request.p_ts := coalesce(string_to_array(v_parts[2], v_us, v_gs)::timestamptz[], '{}');
  -- fields sent but ts, attrs: v_request.p_{name} := string_to_array(v_parts[1 + {n}], v_us, v_gs);
  v_request.p_level := string_to_array(v_parts[1 + 2], v_us, v_gs);
  v_request.p_msg := string_to_array(v_parts[1 + 3], v_us, v_gs);
  v_request.p_service := string_to_array(v_parts[1 + 4], v_us, v_gs);
  v_request.p_env := string_to_array(v_parts[1 + 5], v_us, v_gs);
  v_request.p_req_id := string_to_array(v_parts[1 + 6], v_us, v_gs);
  v_request.p_user_id := string_to_array(v_parts[1 + 7], v_us, v_gs);
  v_request.p_route := string_to_array(v_parts[1 + 8], v_us, v_gs);
  v_request.p_host := string_to_array(v_parts[1 + 9], v_us, v_gs);
  -- fields end
  -- fields json: v_request.p_{name} := logloom_private.objects_of_text(v_parts[1 + {n}]);
  v_request.p_attrs := logloom_private.objects_of_text(v_parts[1 + 10]);
  -- fields end
  return v_request;
end;
$$;

-- ingest/take_rate.sql
-- Takes one request and its events from the tenant's buckets, or only the events where the request
-- was let in before; last in the transaction: others of the tenant wait for its end. Returns what
-- the answer's headers say of the next request. PT429 when a bucket is empty. For plans that have a
-- rate.
create function logloom_private.take_rate(
  p_state logloom_private.ingest_state,
  p_events integer,
  p_is_let_in boolean
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_bucket logloom_private.rate_buckets;
begin
  insert into logloom_private.rate_buckets (tenant_id, events, requests, filled_at)
  values (
    p_state.tenant_id, coalesce(v_plan.events_burst, 0), coalesce(v_plan.requests_burst, 0),
    clock_timestamp()
  )
  on conflict do nothing;
  select b.* into v_bucket
  from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id
  for no key update;
  if not p_is_let_in then
    perform logloom_private.check_rate(p_state, v_bucket);
  end if;
  -- What is left may be less than what is taken: the debt is waited for by the next request.
  v_bucket := logloom_private.filled_bucket(v_bucket, v_plan);
  v_bucket.events := v_bucket.events - p_events;
  v_bucket.requests := v_bucket.requests - (not p_is_let_in)::integer;
  update logloom_private.rate_buckets b
  set
    events = coalesce(v_bucket.events, 0),
    requests = coalesce(v_bucket.requests, 0),
    filled_at = v_bucket.filled_at
  where b.tenant_id = p_state.tenant_id;
  -- The function ingest learns at once that the next request would be refused.
  return coalesce((logloom_private.rate_refusal(v_bucket, v_plan)).headers, '{}');
end;
$$;

-- ingest/usage_of.sql
-- Per UTC day since p_from, what a tenant sent, the queue included.
create function logloom_private.usage_of(p_tenant_id text, p_from date)
returns setof public.logloom_usage_day
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_metered public.logloom_usage_day[];
begin
  -- One snapshot: a batch is either in usage_days or after metered_through.
  select
    p.open_slot, p.closed_slot, p.metered_through, array(
      select row(u.day, u.events, u.bytes)::public.logloom_usage_day
      from logloom.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    )
  into v_pointer.open_slot, v_pointer.closed_slot, v_pointer.metered_through, v_metered
  from logloom_private.queue_pointer p;
  -- Planned for these slots: the third one is never locked, so it can be truncated meanwhile.
  return query execute $query$
    select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint
    from (
      select m.day, m.events, m.bytes from unnest($1) m
      union all
      select (q.received_at at time zone 'UTC')::date, q.events, q.bytes
      from logloom_private.queue q
      where q.slot = any ($2) and q.tenant_id = $3 and q.batch_id > $4
    ) u
    where u.day >= $5
    group by u.day
  $query$
  using v_metered, array[v_pointer.open_slot, v_pointer.closed_slot], p_tenant_id,
    v_pointer.metered_through, p_from;
end;
$$;

select logloom_private.finish_migration();
