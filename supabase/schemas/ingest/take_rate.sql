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
