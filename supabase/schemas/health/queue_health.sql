-- Returns the check of the queue.
create function logloom_private.queue_health(
  p_queue logloom_private.queue_state,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_age constant interval := p_now - p_queue.oldest_received_at;
  v_limit constant interval := case
    when v_age > v_settings.queue_unhealthy_age then v_settings.queue_unhealthy_age
    else v_settings.queue_degraded_age
  end;
  v_age_reason constant text := case when v_age > v_limit then format(
    'The oldest queued event is %s s old (limit %s s)', round(extract(epoch from v_age)),
    round(extract(epoch from v_limit), 3)::double precision
  ) end;
begin
  return logloom_private.health_grade(
    case when v_age > v_settings.queue_unhealthy_age then v_age_reason end,
    concat_ws(
      '; ',
      case when v_age <= v_settings.queue_unhealthy_age then v_age_reason end,
      case when p_queue.depth > v_settings.queue_degraded_events then format(
        '%s events are queued (limit %s)', p_queue.depth, v_settings.queue_degraded_events
      ) end
    )
  ) || jsonb_build_object(
    'depth', p_queue.depth,
    'oldest_item_age_seconds', coalesce(round(extract(epoch from v_age), 3), 0),
    'dead_letters', (select count(*) from logloom_private.dead_letters)
  );
end;
$$;
