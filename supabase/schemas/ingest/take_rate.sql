-- Takes one request and its events from the tenant's buckets, last in the transaction: others of
-- the tenant wait for its end. Returns what the answer's headers say of the next request. PT429
-- when a bucket is empty. For plans that have a rate.
create function logloom_private.take_rate(
  p_state logloom_private.ingest_state,
  p_events integer
)
returns jsonb
language plpgsql
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
