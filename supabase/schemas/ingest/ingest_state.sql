-- Who sends a request, and what holds for it and for those of the same caller that come with it,
-- p_requests in all. PT401.
create function logloom_private.ingest_state(
  p_request logloom_private.ingest_request,
  p_requests integer
)
returns logloom_private.ingest_state
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sender constant record := logloom_private.authenticate_sender(
    p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims
  );
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant date := logloom_private.month_start(now());
  v_pointer logloom_private.queue_pointer;
  v_batches bigint;
  v_queue_limit bigint;
  v_state logloom_private.ingest_state;
begin
  v_state.tenant_id := v_sender.tenant_id;
  v_state.key_id := v_sender.key_id;
  v_state.plan := v_plan;
  v_state.keeps_from := logloom_private.kept_from(v_sender.tenant_id, p_plan => v_plan);
  v_state.month_end := logloom_private.month_end(now());
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    now() + s.ingest_future_limit, s.ingest_future_limit, s.batch_max_events, s.batch_max_bytes,
    s.max_record_bytes, s.max_record_values, s.idempotency_key_lifetime,
    m.events, m.bytes, s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    q.open_slot, q.closed_slot, q.metered_through,
    b.last_value - q.metered_through + p_requests - 1
  into
    v_state.is_provisioned, v_state.takes_to, v_state.future_limit, v_state.batch_max_events,
    v_state.batch_max_bytes, v_state.max_record_bytes, v_state.max_record_values,
    v_state.idempotency_key_lifetime, v_state.events, v_state.bytes,
    v_queue_limit, v_state.headers,
    v_pointer.open_slot, v_pointer.closed_slot, v_pointer.metered_through, v_batches
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  left join logloom_private.job_heartbeats h on h.job = 'write_logs'
  cross join (
    select coalesce(sum(u.events), 0) as events, coalesce(sum(u.bytes), 0) as bytes
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month
  ) m;
  v_state.queue_is_full := logloom_private.queue_is_full(v_pointer, v_queue_limit);

  -- The queue is looked at only when what it may hold could matter.
  if v_state.events + v_batches * v_state.batch_max_events >= v_plan.monthly_events_limit
    or v_state.bytes + v_batches * v_state.batch_max_bytes >= v_plan.monthly_bytes_limit
  then
    select
      v_state.events + coalesce(sum(u.events), 0), v_state.bytes + coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.unmetered_usage(v_sender.tenant_id, v_pointer) u
    where u.day >= v_month;
  end if;
  return v_state;
end;
$$;
