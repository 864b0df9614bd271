-- The first slice of a request decides for all of it: what follows is taken.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;


drop function logloom_private.take_rate (logloom_private.ingest_state, integer);

CREATE OR REPLACE FUNCTION logloom_private.check_month (
  p_state logloom_private.ingest_state
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_plan logloom.plans;
  v_has_rate boolean;
  -- The first slice decides for its request: what follows is taken, and waited for by the next one.
  v_is_let_in constant boolean := coalesce(p_request.p_slice > 0, false);
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if p_state is null then
    p_state := logloom_private.ingest_state(
      p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims, 1
    );
  end if;
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
  v_plan := p_state.plan;
  v_has_rate := num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
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
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
    -- The same body is another request for another service.
    p_request.p_idempotency_key := p_state.service || e'\x1f' || p_request.p_idempotency_key;
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
  -- A repeat gets the first answer, also once a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
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
        v_answer.body
      );
    end if;
  end if;
  if v_earlier_answer is not null then
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_rate (
  p_state     logloom_private.ingest_state,
  p_events    integer,
  p_is_let_in boolean
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

comment on function public.ingest_logs is
  'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 '
  'of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. '
  'Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is '
  'committed in several calls: the first one decides whether the limits of the plan allow the '
  'request. p_cut: events of which a part was cut off, '
  'since the record would be larger than max_record_bytes or max_record_values allow. '
  'Returns the answer to the client {success, ingested, rejected, cut, errors}. '
  'Errors: PT401, PT404, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of '
  'the watermark.';

select logloom_private.finish_migration();
