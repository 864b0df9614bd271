-- The most events of a batch: as many as the function ingest sends in one call.
create function logloom_private.batch_max_events()
returns integer
language sql
immutable
return 10000;

-- The most bytes of a batch: as many as the largest body that a receiver accepts.
create function logloom_private.batch_max_bytes()
returns integer
language sql
immutable
return 8 << 20;

-- Returns the limit of the queue in bytes: the setting, else a tenth of the storage limit (at least
-- 64 MB), else 1 GB.
create function logloom_private.queue_limit(p_hard_limit bigint, p_max_storage bigint)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    p_hard_limit,
    case when p_max_storage is null then 1 << 30 else greatest(p_max_storage / 10, 64 << 20) end
  );
end;
$$;

-- Returns the sender of a request and the sender's limits, for the p_requests requests of one call.
-- Raises PT401, PT403 or PT404.
create function logloom_private.ingest_state(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  p_requests integer
)
returns logloom_private.ingest_state
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sender constant record :=
    logloom_private.authenticate_sender(p_tenant_id, p_key_digest, p_claims);
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
  v_state logloom_private.ingest_state;
begin
  select
    v_sender.tenant_id, v_sender.key_id, v_plan,
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    -- Does the same as kept_from(). Written out because each call of a function costs time here.
    date_trunc('day', now(), 'UTC') - make_interval(hours => 24 * least(
      coalesce(
        (
          select greatest(
            coalesce(c.retention_days, v_plan.retention_days_default), c.rules_days_max
          )
          from logloom.tenant_settings c
          where c.tenant_id = v_sender.tenant_id
        ),
        v_plan.retention_days_default
      ),
      v_plan.retention_days_max
    )),
    now() + s.ingest_future_limit, s.max_record_bytes, s.max_record_values,
    (v_month + interval '1 month') at time zone 'UTC', m.events, m.bytes,
    b.last_value - q.metered_through + p_requests - 1,
    -- File sizes are read equally fast for a long and a short queue. The row of a batch has more
    -- than a 4096th of the batch's bytes. So while the rows are few, the TOAST data need not be
    -- measured.
    pg_relation_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_relation_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= l.bytes / 4096
    and pg_table_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_table_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= l.bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    v_sender.service,
    (select r.version from logloom_private.ingest_rule_sets r
      where r.tenant_id = v_sender.tenant_id)::text,
    floor(v_plan.max_span_share::numeric * v_plan.monthly_events_limit)::bigint - m.spans,
    t.bytes >= s.max_storage_bytes and (s.storage_policy = 'refuse' or t.is_stuck)
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_limit(s.queue_hard_limit_bytes, s.max_storage_bytes) l (bytes)
  cross join logloom_private.storage t
  cross join logloom_private.queue_batch_id b
  left join logloom_private.jobs h on h.name = 'write_logs'
  cross join (
    select
      coalesce(sum(u.events), 0)::bigint as events, coalesce(sum(u.bytes), 0)::bigint as bytes,
      coalesce(sum(u.spans), 0)::bigint as spans
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month::date
  ) m;

  -- Reads the queue only if the waiting events could reach a limit.
  if v_state.events + v_state.batches * logloom_private.batch_max_events()
    >= v_plan.monthly_events_limit
    or v_state.bytes + v_state.batches * logloom_private.batch_max_bytes()
      >= v_plan.monthly_bytes_limit
  then
    select coalesce(sum(u.events), 0), coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.usage_of(v_sender.tenant_id, v_month::date) u;
  end if;
  return v_state;
end;
$$;

-- Returns how many more spans max_span_share allows this month. Queued spans count, too.
create function logloom_private.spans_left(p_state logloom_private.ingest_state)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month constant date := date_trunc('month', now() at time zone 'UTC');
begin
  return (
    select
      floor((p_state.plan).max_span_share::numeric * (p_state.plan).monthly_events_limit)
      - coalesce(sum(u.spans), 0)
    from logloom_private.usage_of(p_state.tenant_id, v_month) u
  );
end;
$$;
