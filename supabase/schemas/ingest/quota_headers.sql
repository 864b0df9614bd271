-- Returns headers for an answer: how many events are left in the month after these p_events.
-- Accurate to about a second of traffic.
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
