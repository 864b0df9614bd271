-- What a bucket holds after it was filled up to an instant.
create function logloom_private.tokens_at(
  p_tokens double precision,
  p_filled_at timestamptz,
  p_rate integer,
  p_burst integer,
  p_at timestamptz
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(p_burst, p_tokens + p_rate * extract(epoch from greatest(p_at - p_filled_at, '0')));
end;
$$;

-- X-Logloom-Hold: {seconds, retry_after, limit, error}, the refusal that the function ingest may
-- give for so many seconds without asking.
create function logloom_private.rate_hold(p_error text, p_rate integer, p_tokens double precision)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', (
        select least((1 - p_tokens) / p_rate, extract(epoch from s.rate_hold_max))
        from logloom_private.settings s
      ),
      'retry_after', ceil((1 - p_tokens) / p_rate),
      'limit', p_rate,
      'error', (logloom_private.error_named(p_error, array[p_rate::text])).message
    )::text
  );
end;
$$;

-- PT429 until the bucket holds one again.
create function logloom_private.refuse_rate(
  p_state logloom_private.ingest_state,
  p_error text,
  p_rate integer,
  p_tokens double precision
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant integer := greatest(1, ceil((1 - p_tokens) / p_rate));
begin
  perform logloom_private.refuse_with_headers(
    logloom_private.limit_headers(
      p_state, p_rate, clock_timestamp() + make_interval(secs => v_seconds)
    )
      || logloom_private.rate_hold(p_error, p_rate, p_tokens)
      || jsonb_build_object('Retry-After', v_seconds::text),
    p_error,
    p_rate::text
  );
end;
$$;

-- PT429 when a bucket of the tenant is empty. Takes nothing. For plans that have a rate.
create function logloom_private.check_rate(p_state logloom_private.ingest_state)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_plan constant logloom.plans := p_state.plan;
  v_bucket logloom_private.rate_buckets;
  v_tokens double precision;
begin
  -- Read without a lock: a request that is refused here holds nobody up and writes nothing.
  select b.* into v_bucket
  from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id;
  if not found then
    return;
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.requests, v_bucket.filled_at, v_plan.requests_per_second, v_plan.requests_burst, v_now
  );
  if v_plan.requests_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      p_state, 'ingest.too_many_requests', v_plan.requests_per_second, v_tokens
    );
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.events, v_bucket.filled_at, v_plan.events_per_second, v_plan.events_burst, v_now
  );
  if v_plan.events_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      p_state, 'ingest.too_many_events', v_plan.events_per_second, v_tokens
    );
  end if;
end;
$$;

-- Takes one request and its events from the tenant's buckets, last in the transaction: others of
-- the tenant wait for its end. Returns what the answer's headers say of the next request. PT429
-- when a bucket is empty. For plans that have a rate.
create function logloom_private.take_rate(
  p_state logloom_private.ingest_state,
  p_events integer
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_now timestamptz;
  v_bucket logloom_private.rate_buckets;
begin
  insert into logloom_private.rate_buckets (tenant_id, events, requests, filled_at)
  values (
    p_state.tenant_id, coalesce(v_plan.events_burst, 0), coalesce(v_plan.requests_burst, 0),
    clock_timestamp()
  )
  on conflict do nothing;
  -- Whoever waited for the row looks again.
  perform from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id
  for no key update;
  perform logloom_private.check_rate(p_state);
  -- What is left may be less than what is taken: the debt is waited for by the next request.
  v_now := clock_timestamp();
  update logloom_private.rate_buckets b
  set
    events = coalesce(
      logloom_private.tokens_at(
        b.events, b.filled_at, v_plan.events_per_second, v_plan.events_burst, v_now
      ) - p_events,
      0
    ),
    requests = coalesce(
      logloom_private.tokens_at(
        b.requests, b.filled_at, v_plan.requests_per_second, v_plan.requests_burst, v_now
      ) - 1,
      0
    ),
    filled_at = greatest(b.filled_at, v_now)
  where b.tenant_id = p_state.tenant_id
  returning b.* into v_bucket;

  -- The function ingest learns at once that the next request would be refused.
  if v_plan.requests_per_second is not null and v_bucket.requests < 1 then
    return logloom_private.rate_hold(
      'ingest.too_many_requests', v_plan.requests_per_second, v_bucket.requests
    );
  elsif v_plan.events_per_second is not null and v_bucket.events < 1 then
    return logloom_private.rate_hold(
      'ingest.too_many_events', v_plan.events_per_second, v_bucket.events
    );
  end if;
  return '{}';
end;
$$;
