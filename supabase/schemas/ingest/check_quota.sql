-- PT429 when the month's events or bytes have reached the plan's limit. For requests that add
-- events.
create function logloom_private.check_quota(p_state logloom_private.ingest_state)
returns void
language plpgsql
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
    logloom_private.limit_headers(p_state, v_limit, p_state.month_end) || jsonb_build_object(
      'Retry-After',
      greatest(1, ceil(extract(epoch from p_state.month_end - clock_timestamp())))::bigint::text
    ),
    v_error,
    v_limit::text
  );
end;
$$;
