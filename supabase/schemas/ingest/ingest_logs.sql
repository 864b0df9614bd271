-- Whose a request is: of the API key where one is given, else of the tenant of the verified claims,
-- else of the tenant that service_role names. PT401, PT403 for the token of an OAuth client that
-- may only read.
create function logloom_private.authenticate_sender(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  out tenant_id text,
  out key_id uuid
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_key_digest is not null then
    select o.tenant_id, o.key_id
    into authenticate_sender.tenant_id, authenticate_sender.key_id
    from logloom_private.authenticate_api_key(p_key_digest) o;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_token(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
end;
$$;

-- The body of a 200: {success, ingested, rejected, cut, errors}, the last where events were
-- rejected, cut where records were too large to be stored whole.
create function logloom_private.accepted_answer(
  p_ingested integer,
  p_rejected integer,
  p_errors json,
  p_cut integer
)
returns json
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return json_strip_nulls(json_build_object(
    'success', p_ingested > 0 or p_rejected = 0,
    'ingested', p_ingested,
    'rejected', p_rejected,
    'cut', nullif(p_cut, 0),
    'errors', case when p_rejected > 0 then coalesce(p_errors, '[]') end
  ));
end;
$$;

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

-- Limits, provisioning, idempotency and enqueue in the transaction of the call. PT409, PT413,
-- PT429, PT503.
create function logloom_private.ingest(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_answer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    v_plan.events_per_second is not null or v_plan.requests_per_second is not null;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
  -- Within the timeout of the call, as the watermark wants it.
  v_received_at constant timestamptz := clock_timestamp();
  v_measured record;
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
  if v_has_rate then
    perform logloom_private.check_rate(p_state);
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large',
      p_state.batch_max_events::text,
      p_state.batch_max_bytes::text
    );
  end if;
  v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  if p_state.keeps_from > v_measured.ts_min or p_state.takes_to < v_measured.ts_max then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
    v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := logloom_private.accepted_answer(
    v_answer.ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors,
    p_request.p_cut
  );

  -- A repeat gets the first answer, also once a limit is reached.
  if v_key is not null then
    v_earlier_answer := logloom_private.repeated_answer(
      p_state, v_key, v_body_digest, p_request.p_slice
    );
    if v_earlier_answer is not null then
      return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
    end if;
  end if;
  if v_answer.ingested > 0 then
    if v_measured.longest > p_state.max_record_bytes then
      perform logloom_private.refuse(
        'ingest.record_is_too_long', p_state.max_record_bytes::text
      );
    end if;
    -- An array in an array is two letters and twelve values: shorter records need no count.
    if v_measured.longest > p_state.max_record_values / 6 and exists (
      select
      from unnest(p_request.p_attrs, v_measured.record_bytes) e (attrs, bytes)
      where e.bytes > p_state.max_record_values / 6
        and logloom_private.has_more_values(e.attrs, p_state.max_record_values)
    ) then
      perform logloom_private.refuse(
        'ingest.record_has_too_many_values', p_state.max_record_values::text
      );
    end if;
    perform logloom_private.check_quota(p_state);
    if p_state.queue_is_full then
      perform logloom_private.refuse_full_queue(p_state);
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if v_key is not null then
      v_earlier_answer := logloom_private.note_answer(
        p_state, v_key, v_body_digest, p_request.p_slice, v_answer.body
      );
      if v_earlier_answer is not null then
        return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
      end if;
    end if;
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(p_state, v_answer.ingested);
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(
      p_state.tenant_id, p_state.key_id, p_request, v_received_at, v_measured.record_bytes,
      v_measured.ts_min, v_measured.ts_max
    );
  end if;
  return v_answer;
end;
$$;

-- The body of the answer to a request that comes alone; its headers are those of the response.
create function logloom_private.ingest_one(p_request logloom_private.ingest_request)
returns json
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_answer constant logloom_private.ingest_answer := logloom_private.ingest(
    p_request, logloom_private.ingest_state(p_request, 1)
  );
begin
  -- PostgREST wants each header in an object of its own. In JSON text a quote within a value stands
  -- behind a backslash.
  perform set_config(
    'response.headers',
    '[' || replace(v_answer.headers::text, '", "', '"}, {"') || ']',
    true
  );
  return v_answer.body;
end;
$$;

grant execute on function logloom_private.ingest_one(logloom_private.ingest_request)
to service_role;

create function public.ingest_logs(
  p_tenant_id text default null,
  p_key_digest text default null,
  p_idempotency_key text default null,
  p_body_digest text default null,
  p_bytes integer default null,
  p_positions integer[] default null,
  p_rejected integer default null,
  p_errors json default null,
  p_slice integer default null,
  p_claims jsonb default null,
  p_cut integer default null,
  -- fields sent joined: p_{name} {type}[] default null
  p_ts timestamptz[] default null, p_level text[] default null, p_msg text[] default null,
  p_service text[] default null, p_env text[] default null, p_req_id text[] default null,
  p_user_id text[] default null, p_route text[] default null, p_host text[] default null,
  p_attrs jsonb[] default null
  -- fields end
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_one(
    row(
      p_tenant_id, p_key_digest, p_idempotency_key, p_body_digest, p_bytes, p_positions,
      p_rejected, p_errors, p_slice, p_claims, p_cut,
      -- fields sent joined: p_{name}
      p_ts, p_level, p_msg, p_service, p_env, p_req_id, p_user_id, p_route, p_host, p_attrs
      -- fields end
    )::logloom_private.ingest_request
  );
end;
$$;

comment on function public.ingest_logs is
  'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 '
  'of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. '
  'Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is '
  'committed in several calls with one idempotency key. p_cut: events of which a part was cut off, '
  'since the record would be larger than max_record_bytes or max_record_values allow. '
  'Returns the answer to the client {success, ingested, rejected, cut, errors}. '
  'Errors: PT401, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of the '
  'watermark.';
