create function logloom_private.check_quota(
  p_tenant_id text,
  p_plan logloom.plans,
  p_events integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_month constant date := logloom_private.month_start(now());
  v_reset_at constant timestamptz := logloom_private.month_end(now());
  v_state record;
  v_events bigint;
  v_bytes bigint;
begin
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select
    q as pointer, m.events, m.bytes,
    (b.last_value - q.metered_through) * s.batch_max_events as events_ahead,
    (b.last_value - q.metered_through) * s.batch_max_bytes as bytes_ahead
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  cross join (
    select coalesce(sum(u.events), 0) as events, coalesce(sum(u.bytes), 0) as bytes
    from logloom.usage_days u
    where u.tenant_id = p_tenant_id and u.day >= v_month
  ) m;
  v_events := v_state.events;
  v_bytes := v_state.bytes;

  -- The queue is looked at only when what it may hold could matter.
  if v_events + v_state.events_ahead >= p_plan.monthly_events_limit
    or v_bytes + v_state.bytes_ahead >= p_plan.monthly_bytes_limit
  then
    select v_events + coalesce(sum(u.events), 0), v_bytes + coalesce(sum(u.bytes), 0)
    into v_events, v_bytes
    from logloom_private.unmetered_usage(p_tenant_id, v_state.pointer) u
    where u.day >= v_month;
  end if;

  if p_events > 0 and v_events >= p_plan.monthly_events_limit then
    perform logloom_private.refuse_with_headers(
      logloom_private.limit_headers(p_plan.monthly_events_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', logloom_private.seconds_until(v_reset_at)),
      'ingest.monthly_events_are_used_up',
      p_plan.monthly_events_limit::text
    );
  elsif p_events > 0 and v_bytes >= p_plan.monthly_bytes_limit then
    perform logloom_private.refuse_with_headers(
      logloom_private.limit_headers(p_plan.monthly_bytes_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', logloom_private.seconds_until(v_reset_at)),
      'ingest.monthly_bytes_are_used_up',
      p_plan.monthly_bytes_limit::text
    );
  end if;

  -- As text, not by way of limit_headers: every request passes here.
  perform set_config(
    'response.headers',
    format(
      '[{"X-RateLimit-Limit": "%s"}, {"X-RateLimit-Remaining": "%s"},'
      ' {"X-RateLimit-Reset": "%s"}%s]',
      p_plan.monthly_events_limit,
      greatest(p_plan.monthly_events_limit - v_events - p_events, 0),
      ceil(extract(epoch from v_reset_at))::bigint,
      case when logloom_private.writer_is_silent() then ', {"X-Logloom-Writer": "silent"}' end
    ),
    true
  );
end;
$$;

revoke all on function logloom_private.check_quota(text, logloom.plans, integer) from public;

comment on function logloom_private.check_quota(text, logloom.plans, integer) is
  'PT429 when the month''s events or bytes have reached the plan''s limit and there are events to '
  'add; else sets the X-RateLimit headers of the answer, right to about a second of traffic.';
