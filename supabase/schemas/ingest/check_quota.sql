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

-- PT429 when the month's events or bytes have reached the plan's limit. For requests that add
-- events.
create function logloom_private.check_quota(p_state logloom_private.ingest_state)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_error text;
  v_limit bigint;
begin
  if p_state.events >= v_plan.monthly_events_limit then
    v_error := 'ingest.monthly_events_are_used_up';
    v_limit := v_plan.monthly_events_limit;
  elsif p_state.bytes >= v_plan.monthly_bytes_limit then
    v_error := 'ingest.monthly_bytes_are_used_up';
    v_limit := v_plan.monthly_bytes_limit;
  else
    return;
  end if;
  perform logloom_private.refuse_with_headers(
    logloom_private.limit_headers(p_state, v_limit, p_state.month_end)
    || jsonb_build_object('Retry-After', logloom_private.seconds_until(p_state.month_end)),
    v_error,
    v_limit::text
  );
end;
$$;
