-- What was accepted, per tenant and UTC day, and what follows from it: quotas and rates.
--
-- Counted when a slot of the queue closes, in the writer's transaction, so that no request waits
-- for a counter. What the writer has not counted yet is counted where it lies, in the queue.

create type public.usage_day as (day date, events bigint, bytes bigint);

create type public.usage_month as (month text, events bigint, bytes bigint);

create type public.usage as (
  tenant_id text,
  month text,
  events bigint,
  bytes bigint,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  events_percent numeric,
  bytes_percent numeric,
  projected_events bigint,
  projected_bytes bigint,
  resets_at timestamptz,
  months public.usage_month[],
  days public.usage_day[]
);

create table app.usage_days (
  tenant_id text not null references app.tenants on delete cascade,
  day date not null,
  events bigint not null,
  bytes bigint not null,
  primary key (tenant_id, day)
)
-- Today's rows change with every slot: room on the page keeps that out of the index.
with (fillfactor = 50);

alter table app.usage_days enable row level security;
alter table app.usage_days force row level security;

create policy usage_days_select_tenant on app.usage_days
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

grant select on app.usage_days to authenticated, service_role;

-- Unlogged: after a crash every tenant may send a burst again, which is all that is lost.
create unlogged table private.rate_buckets (
  tenant_id text primary key,
  events double precision not null,
  requests double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

alter table private.rate_buckets enable row level security;
alter table private.rate_buckets force row level security;

create function private.meter_slot(p_slot smallint)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_metered_through constant bigint := (select p.metered_through from private.queue_pointer p);
  v_last bigint;
begin
  execute format('select max(q.batch_id) from private.%I q', 'queue_slot_' || p_slot) into v_last;
  if coalesce(v_last, 0) <= v_metered_through then
    return;
  end if;
  -- A tenant that was deleted meanwhile has nothing to be counted for.
  execute format(
    $query$
      insert into app.usage_days as u (tenant_id, day, events, bytes)
      select q.tenant_id, (q.received_at at time zone 'UTC')::date, sum(q.events), sum(q.bytes)
      from private.%I q
      join app.tenants t on t.tenant_id = q.tenant_id
      where q.batch_id > $1
      group by 1, 2
      on conflict (tenant_id, day) do update
      set events = u.events + excluded.events, bytes = u.bytes + excluded.bytes
    $query$,
    'queue_slot_' || p_slot
  )
  using v_metered_through;
  update private.queue_pointer set metered_through = v_last where singleton;
end;
$$;

create function private.unmetered_usage(p_tenant_id text, p_pointer private.queue_pointer)
returns setof public.usage_day
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
begin
  foreach v_slot in array array_remove(array[p_pointer.open_slot, p_pointer.closed_slot], null) loop
    -- By the slot's own name: the third slot is never locked, so it can be truncated meanwhile.
    return query execute format(
      $query$
        select (q.received_at at time zone 'UTC')::date, sum(q.events), sum(q.bytes)
        from private.%I q
        where q.tenant_id = $1 and q.batch_id > $2
        group by 1
      $query$,
      'queue_slot_' || v_slot
    )
    using p_tenant_id, p_pointer.metered_through;
  end loop;
end;
$$;

create function private.month_start(p_at timestamptz)
returns date
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return date_trunc('month', p_at at time zone 'UTC');
end;
$$;

create function private.month_end(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC';
end;
$$;

create function private.plan_of(p_tenant_id text)
returns app.plans
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_plan app.plans;
begin
  select p.* into v_plan
  from app.plans p
  where p.plan_id = coalesce(
    (select t.plan_id from app.tenants t where t.tenant_id = p_tenant_id),
    (select d.plan_id from app.plans d where d.is_default)
  );
  return v_plan;
end;
$$;

create function private.writer_is_silent()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return not exists (
    select
    from private.job_heartbeats h, private.settings s
    where h.job = 'write_logs' and h.last_succeeded_at > now() - s.writer_guard_silence
  );
end;
$$;

create function private.ingest_headers()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when private.writer_is_silent() then jsonb_build_object('X-Logloom-Writer', 'silent')
    else '{}'
  end;
end;
$$;

create function private.limit_headers(
  p_limit bigint,
  p_remaining bigint,
  p_reset_at timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.ingest_headers() || jsonb_build_object(
    'X-RateLimit-Limit', p_limit::text,
    'X-RateLimit-Remaining', greatest(p_remaining, 0)::text,
    'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text
  );
end;
$$;

create function private.seconds_until(p_at timestamptz)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return greatest(1, ceil(extract(epoch from p_at - clock_timestamp())))::bigint::text;
end;
$$;

create function private.refuse_ingest(
  p_status integer,
  p_message text,
  p_hint text,
  p_headers jsonb
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object('code', 'PT' || p_status, 'message', p_message, 'hint', p_hint),
    detail = json_build_object('status', p_status, 'headers', p_headers);
end;
$$;

create function private.check_quota(p_tenant_id text, p_plan app.plans, p_events integer)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  -- What one batch can hold at most, since the function ingest refuses larger requests.
  v_batch_events constant bigint := 10000;
  v_batch_bytes constant bigint := 512000;
  v_month constant date := private.month_start(now());
  v_reset_at constant timestamptz := private.month_end(now());
  v_state record;
  v_events bigint;
  v_bytes bigint;
begin
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select q as pointer, b.last_value - q.metered_through as batches, m.events, m.bytes
  into v_state
  from private.queue_pointer q
  cross join private.queue_batch_id b
  cross join (
    select coalesce(sum(u.events), 0) as events, coalesce(sum(u.bytes), 0) as bytes
    from app.usage_days u
    where u.tenant_id = p_tenant_id and u.day >= v_month
  ) m;
  v_events := v_state.events;
  v_bytes := v_state.bytes;

  -- The queue is looked at only when what it may hold could matter.
  if v_events + v_state.batches * v_batch_events >= p_plan.monthly_events_limit
    or v_bytes + v_state.batches * v_batch_bytes >= p_plan.monthly_bytes_limit
  then
    select v_events + coalesce(sum(u.events), 0), v_bytes + coalesce(sum(u.bytes), 0)
    into v_events, v_bytes
    from private.unmetered_usage(p_tenant_id, v_state.pointer) u
    where u.day >= v_month;
  end if;

  if p_events > 0 and v_events >= p_plan.monthly_events_limit then
    perform private.refuse_ingest(
      429,
      format('Monthly event limit reached: %s events', p_plan.monthly_events_limit),
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      private.limit_headers(p_plan.monthly_events_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', private.seconds_until(v_reset_at))
    );
  elsif p_events > 0 and v_bytes >= p_plan.monthly_bytes_limit then
    perform private.refuse_ingest(
      429,
      format('Monthly byte limit reached: %s bytes', p_plan.monthly_bytes_limit),
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      private.limit_headers(p_plan.monthly_bytes_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', private.seconds_until(v_reset_at))
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
      case when private.writer_is_silent() then ', {"X-Logloom-Writer": "silent"}' end
    ),
    true
  );
end;
$$;

create function private.answer_headers()
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return (
    select jsonb_object_agg(h.name, h.value)
    from jsonb_array_elements(current_setting('response.headers')::jsonb) a (header)
    cross join jsonb_each_text(a.header) h (name, value)
  );
end;
$$;

create function private.queue_is_full()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- The size of files, not a count: it costs the same however much is queued. A batch's row is
  -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
  return (
    select
      pg_catalog.pg_relation_size('private.queue_slot_' || p.open_slot)
      + coalesce(pg_catalog.pg_relation_size('private.queue_slot_' || p.closed_slot), 0)
      >= s.queue_hard_limit_bytes / 4096
      and pg_catalog.pg_table_size('private.queue_slot_' || p.open_slot)
      + coalesce(pg_catalog.pg_table_size('private.queue_slot_' || p.closed_slot), 0)
      >= s.queue_hard_limit_bytes
    from private.queue_pointer p, private.settings s
  );
end;
$$;

create function private.tokens_at(
  p_tokens double precision,
  p_filled_at timestamptz,
  p_rate integer,
  p_burst integer,
  p_at timestamptz
)
returns double precision
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return least(p_burst, p_tokens + p_rate * extract(epoch from greatest(p_at - p_filled_at, '0')));
end;
$$;

create function private.rate_message(p_what text, p_rate integer)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format('Rate limit reached: %s %s', p_rate, p_what);
end;
$$;

create function private.rate_hold(p_what text, p_rate integer, p_tokens double precision)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', (
        select least((1 - p_tokens) / p_rate, extract(epoch from s.rate_hold_max))
        from private.settings s
      ),
      'retry_after', ceil((1 - p_tokens) / p_rate),
      'limit', p_rate,
      'error', private.rate_message(p_what, p_rate)
    )::text
  );
end;
$$;

create function private.refuse_rate(p_what text, p_rate integer, p_tokens double precision)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_seconds constant integer := greatest(1, ceil((1 - p_tokens) / p_rate));
begin
  perform private.refuse_ingest(
    429,
    private.rate_message(p_what, p_rate),
    'The rate is the plan''s. Retry-After says when the next request can be accepted.',
    private.limit_headers(p_rate, 0, clock_timestamp() + make_interval(secs => v_seconds))
    || private.rate_hold(p_what, p_rate, p_tokens)
    || jsonb_build_object('Retry-After', v_seconds::text)
  );
end;
$$;

create function private.check_rate(p_tenant_id text, p_plan app.plans)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_bucket private.rate_buckets;
  v_tokens double precision;
begin
  if p_plan.events_per_second is null and p_plan.requests_per_second is null then
    return;
  end if;
  -- Read without a lock: a request that is refused here holds nobody up and writes nothing.
  select b.* into v_bucket from private.rate_buckets b where b.tenant_id = p_tenant_id;
  if not found then
    return;
  end if;
  v_tokens := private.tokens_at(
    v_bucket.requests, v_bucket.filled_at, p_plan.requests_per_second, p_plan.requests_burst, v_now
  );
  if p_plan.requests_per_second is not null and v_tokens < 1 then
    perform private.refuse_rate(
      'requests per second', p_plan.requests_per_second, v_tokens
    );
  end if;
  v_tokens := private.tokens_at(
    v_bucket.events, v_bucket.filled_at, p_plan.events_per_second, p_plan.events_burst, v_now
  );
  if p_plan.events_per_second is not null and v_tokens < 1 then
    perform private.refuse_rate('events per second', p_plan.events_per_second, v_tokens);
  end if;
end;
$$;

create function private.take_rate(p_tenant_id text, p_plan app.plans, p_events integer)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_now timestamptz;
  v_bucket private.rate_buckets;
  v_hold jsonb;
begin
  if p_plan.events_per_second is null and p_plan.requests_per_second is null then
    return;
  end if;
  insert into private.rate_buckets (tenant_id, events, requests, filled_at)
  values (
    p_tenant_id, coalesce(p_plan.events_burst, 0), coalesce(p_plan.requests_burst, 0),
    clock_timestamp()
  )
  on conflict do nothing;
  -- Whoever waited for the row looks again.
  perform from private.rate_buckets b where b.tenant_id = p_tenant_id for no key update;
  perform private.check_rate(p_tenant_id, p_plan);
  -- What is left may be less than what is taken: the debt is waited for by the next request.
  v_now := clock_timestamp();
  update private.rate_buckets b
  set
    events = coalesce(
      private.tokens_at(
        b.events, b.filled_at, p_plan.events_per_second, p_plan.events_burst, v_now
      ) - p_events,
      0
    ),
    requests = coalesce(
      private.tokens_at(
        b.requests, b.filled_at, p_plan.requests_per_second, p_plan.requests_burst, v_now
      ) - 1,
      0
    ),
    filled_at = greatest(b.filled_at, v_now)
  where b.tenant_id = p_tenant_id
  returning b.* into v_bucket;

  -- The function ingest learns at once that the next request would be refused.
  if p_plan.requests_per_second is not null and v_bucket.requests < 1 then
    v_hold := private.rate_hold(
      'requests per second', p_plan.requests_per_second, v_bucket.requests
    );
  elsif p_plan.events_per_second is not null and v_bucket.events < 1 then
    v_hold := private.rate_hold('events per second', p_plan.events_per_second, v_bucket.events);
  end if;
  if v_hold is not null then
    perform set_config(
      'response.headers',
      (current_setting('response.headers')::jsonb || jsonb_build_array(v_hold))::text,
      true
    );
  end if;
end;
$$;

create function private.purge_rate_buckets()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from private.rate_buckets b where b.filled_at < now() - interval '1 day';
end;
$$;

create function private.usage_of(p_tenant_id text, p_from date)
returns setof public.usage_day
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_state record;
begin
  select
    q as pointer,
    array(
      select row(u.day, u.events, u.bytes)::public.usage_day
      from app.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    ) as metered
  into v_state
  from private.queue_pointer q;
  return query
  select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint
  from (
    select m.day, m.events, m.bytes from unnest(v_state.metered) m
    union all
    select q.day, q.events, q.bytes
    from private.unmetered_usage(p_tenant_id, v_state.pointer) q
    where q.day >= p_from
  ) u
  group by u.day;
end;
$$;

create function private.my_usage(p_tenant_id text, p_from date)
returns setof public.usage_day
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles do not read the queue
begin
  return query select u.* from private.usage_of(private.resolve_tenant(p_tenant_id), p_from) u;
end;
$$;

create function public.get_usage(p_tenant_id text default null, p_months integer default null)
returns public.usage
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_tenant constant public.tenant := public.get_current_tenant(p_tenant_id);
  v_months constant integer := coalesce(p_months, 1);
  v_now constant timestamptz := now();
  v_month constant date := private.month_start(v_now);
  v_from date;
  v_elapsed numeric;
  v_result public.usage;
begin
  if v_months not between 1 and 24 then
    raise sqlstate 'PT400' using
      message = 'Invalid p_months: 1 to 24',
      hint = 'Leave p_months out for the current month alone.';
  end if;
  v_from := v_month - make_interval(months => v_months - 1);

  v_result.tenant_id := v_tenant_id;
  v_result.month := to_char(v_month, 'YYYY-MM');
  v_result.monthly_events_limit := v_tenant.monthly_events_limit;
  v_result.monthly_bytes_limit := v_tenant.monthly_bytes_limit;
  v_result.resets_at := private.month_end(v_now);
  v_result.days := array(
    select row(u.day, u.events, u.bytes)::public.usage_day
    from private.my_usage(p_tenant_id, v_from) u
    order by u.day desc
  );
  v_result.months := array(
    select
      row(
        to_char(m.month, 'YYYY-MM'),
        coalesce(sum(d.events), 0),
        coalesce(sum(d.bytes), 0)
      )::public.usage_month
    from generate_series(v_from, v_month, interval '1 month') m (month)
    left join unnest(v_result.days) d on date_trunc('month', d.day) = m.month
    group by m.month
    order by m.month desc
  );
  v_result.events := (v_result.months[1]).events;
  v_result.bytes := (v_result.months[1]).bytes;
  v_result.events_percent :=
    round(100.0 * v_result.events / nullif(v_tenant.monthly_events_limit, 0), 2);
  v_result.bytes_percent :=
    round(100.0 * v_result.bytes / nullif(v_tenant.monthly_bytes_limit, 0), 2);
  -- As if the rest of the month went on like the month so far, of which at least a day has gone by.
  v_elapsed := greatest(extract(epoch from v_now - v_month::timestamp at time zone 'UTC'), 86400)
    / extract(epoch from v_result.resets_at - v_month::timestamp at time zone 'UTC');
  v_result.projected_events := greatest(v_result.events, round(v_result.events / v_elapsed));
  v_result.projected_bytes := greatest(v_result.bytes, round(v_result.bytes / v_elapsed));
  return v_result;
end;
$$;

grant execute on function
  private.month_start(timestamptz),
  private.month_end(timestamptz),
  private.my_usage(text, date),
  public.get_usage(text, integer)
to authenticated, service_role;

comment on type public.usage_day is 'Events and bytes that were accepted on a UTC day.';
comment on type public.usage_month is 'Events and bytes accepted in a UTC month, YYYY-MM.';
comment on type public.usage is
  'What a tenant used in the current UTC month, against the limits of its plan; and per month and '
  'day of the months asked for, newest first. Bytes are those of request bodies.';
comment on table app.usage_days is
  'Events and bytes accepted per tenant and UTC day of receipt. The writer adds to it when it '
  'begins to move a slot of the queue; what lies behind queue_pointer.metered_through is not yet.';
comment on table private.rate_buckets is
  'Token buckets of tenants whose plan has a rate: what was left at filled_at. A debt is negative.';
comment on function private.meter_slot(smallint) is
  'Counts the batches of a closed slot that are not counted yet, in the writer''s transaction.';
comment on function private.unmetered_usage(text, private.queue_pointer) is
  'What a tenant has in the queue and not yet in app.usage_days, per UTC day. The pointer must '
  'come from the same snapshot as the rows of app.usage_days that it is added to.';
comment on function private.month_start(timestamptz) is 'First day of the UTC month.';
comment on function private.month_end(timestamptz) is 'When the UTC month ends.';
comment on function private.plan_of(text) is
  'The plan of a tenant; of one that is not there yet, the default plan.';
comment on function private.writer_is_silent() is
  'Whether no run of the writer succeeded for writer_guard_silence.';
comment on function private.ingest_headers() is
  'Headers of every answer to ingest: X-Logloom-Writer where pg_cron does not run the writer.';
comment on function private.limit_headers(bigint, bigint, timestamptz) is
  'Headers of an answer to ingest that tell of a limit. X-RateLimit-Reset is a Unix time.';
comment on function private.seconds_until(timestamptz) is
  'Whole seconds for Retry-After, at least 1.';
comment on function private.refuse_ingest(integer, text, text, jsonb) is
  'PT409, PT429 or PT503 with headers.';
comment on function private.check_quota(text, app.plans, integer) is
  'PT429 when the month''s events or bytes have reached the plan''s limit and there are events to '
  'add; else sets the X-RateLimit headers of the answer, right to about a second of traffic.';
comment on function private.answer_headers() is
  'The headers that check_quota has set, for a refusal, whose error would lose them.';
comment on function private.queue_is_full() is
  'Whether the queue takes more of the disk than settings.queue_hard_limit_bytes.';
comment on function private.tokens_at(
  double precision, timestamptz, integer, integer, timestamptz
) is 'What a bucket holds after it was filled up to an instant.';
comment on function private.rate_message(text, integer) is 'What a refusal for the rate says.';
comment on function private.rate_hold(text, integer, double precision) is
  'X-Logloom-Hold: {seconds, retry_after, limit, error}, the refusal that the function ingest may '
  'give for so many seconds without asking.';
comment on function private.refuse_rate(text, integer, double precision) is
  'PT429 until the bucket holds one again.';
comment on function private.check_rate(text, app.plans) is
  'PT429 when a bucket of the tenant is empty. Takes nothing.';
comment on function private.take_rate(text, app.plans, integer) is
  'Takes one request and its events from the tenant''s buckets, last in the transaction: others of '
  'the tenant wait for its end. PT429 when a bucket is empty. Nothing where the plan has no rate.';
comment on function private.purge_rate_buckets() is
  'Forgets buckets that were not used for a day, and so are full.';
comment on function private.usage_of(text, date) is
  'Per UTC day since p_from, what a tenant sent, the queue included.';
comment on function private.my_usage(text, date) is 'usage_of for the tenant of the request.';
comment on function public.get_usage(text, integer) is
  'What the tenant used in this UTC month, the limits, percentages, a projection for the month''s '
  'end, and the same per month and day of the last p_months (1 to 24, default 1). What was '
  'acknowledged is counted. Errors: PT400, PT401, PT403, PT404.';
