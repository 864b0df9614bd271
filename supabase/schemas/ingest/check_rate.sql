-- PT429 where a bucket has no token, until it has one again. A plan without the rate has none to
-- miss: p_tokens is null.
create function logloom_private.require_token(
  p_state logloom_private.ingest_state,
  p_error text,
  p_rate integer,
  p_tokens double precision
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds constant integer := greatest(1, ceil((1 - p_tokens) / p_rate));
begin
  if p_tokens >= 1 is not false then
    return;
  end if;
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
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_plan constant logloom.plans := p_state.plan;
  v_bucket logloom_private.rate_buckets;
begin
  -- Read without a lock: a request that is refused here holds nobody up and writes nothing.
  select b.* into v_bucket
  from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id;
  if not found then
    return;
  end if;
  perform logloom_private.require_token(
    p_state, 'ingest.too_many_requests', v_plan.requests_per_second,
    logloom_private.tokens_at(
      v_bucket.requests, v_bucket.filled_at, v_plan.requests_per_second, v_plan.requests_burst,
      v_now
    )
  );
  perform logloom_private.require_token(
    p_state, 'ingest.too_many_events', v_plan.events_per_second,
    logloom_private.tokens_at(
      v_bucket.events, v_bucket.filled_at, v_plan.events_per_second, v_plan.events_burst, v_now
    )
  );
end;
$$;
