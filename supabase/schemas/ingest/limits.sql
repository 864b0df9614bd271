-- Raises the error p_error of a limit. p_limit is for the error's text. The headers are p_headers
-- and the headers of a limit that ends at p_reset_at.
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

-- Returns headers for an answer: how many events are left in the month after the p_events of this
-- request. The number is accurate to about a second of traffic.
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

-- Raises PT429 if the tenant has used up the events or bytes of the month.
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

-- Adds the tokens that the bucket gained since filled_at. A count without a rate becomes null.
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

-- Returns the error for the next request if the bucket is empty, otherwise nulls.
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
  -- For up to 3 seconds, the function ingest may repeat this refusal without asking the database.
  headers := jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', least(seconds, 3),
      'retry_after', ceil(seconds),
      'limit', rate,
      'error', (logloom_private.error_named(error, array[rate::text])).message
    )::text
  );
end;
$$;

-- Raises PT429 if the tenant's bucket is empty. Takes no token. Only for plans with a rate.
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

-- Takes a token for the request and one for each event from the tenant's buckets. Raises PT429 if a
-- bucket is empty. With p_is_let_in (a later slice of the request), takes only the tokens for the
-- events, and raises nothing. Called last, because other requests of the tenant wait until the
-- transaction ends. Returns headers about the next request. Only for plans with a rate.
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
  -- A request may overdraw the bucket. The next request then waits until the debt is paid.
  v_bucket := logloom_private.filled_bucket(v_bucket, v_plan);
  v_bucket.events := v_bucket.events - p_events;
  v_bucket.requests := v_bucket.requests - (not p_is_let_in)::integer;
  update logloom_private.rate_buckets b
  set
    events = coalesce(v_bucket.events, 0),
    requests = coalesce(v_bucket.requests, 0),
    filled_at = v_bucket.filled_at
  where b.tenant_id = p_state.tenant_id;
  -- Tells the function ingest at once that the next request would be refused.
  return coalesce((logloom_private.rate_refusal(v_bucket, v_plan)).headers, '{}');
end;
$$;
