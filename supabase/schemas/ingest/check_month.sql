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
