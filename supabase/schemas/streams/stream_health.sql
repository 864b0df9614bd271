-- The health check of streams: degraded if a stream was paused recently because its receiver failed
-- for long, or if streams lag. Names no tenant. Streams of customers do not count.
create function logloom_private.stream_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- After this time a pause is no longer reported.
  v_shown constant interval := '7 days';
  v_max_lag constant interval := (select s.stream_lag_limit from logloom_private.settings s);
  v_paused bigint;
  v_lag interval;
begin
  select
    count(*) filter (where s.pause_reason = 'failing' and s.paused_at > p_now - v_shown),
    -- Leaves out streams that wait for their receiver.
    max(p_now - s.pending_since) filter (
      where s.enabled and s.paused_at is null and s.failing_since is null
    )
  into v_paused, v_lag
  from logloom.log_streams s
  left join logloom.log_views v on v.view_id = s.view_id
  where v.customer is null;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_paused > 0 then
        format('%s log streams were paused because they failed for too long', v_paused)
      end,
      case when v_lag > v_max_lag then
        format('a log stream is %s behind', justify_interval(date_trunc('second', v_lag)))
      end
    )
  ) || jsonb_build_object(
    'paused', v_paused,
    'lag_seconds', coalesce(round(extract(epoch from v_lag), 3), 0)
  );
end;
$$;
