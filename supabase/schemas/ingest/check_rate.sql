-- Returns the bucket, filled up to now. A count is null if the plan has no rate for it.
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
