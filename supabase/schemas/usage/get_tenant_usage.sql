-- Estimates the disk space of a tenant's rows: their share of each partition with its indexes.
create function logloom_private.hot_bytes(p_tenant_id text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_days date[];
  v_records numeric[];
  v_all_days bigint;
  v_bytes numeric;
begin
  -- Reads the counts in a query of their own, because the counts may be on other nodes than the
  -- catalog.
  select array_agg(d.day order by d.day), array_agg(d.records order by d.day)
  into v_days, v_records
  from (
    select
      u.day,
      greatest(
        (
          select coalesce(sum(c.events), 0)
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id
            and c.minute >= logloom_private.day_start(u.day)
            and c.minute < logloom_private.day_start(u.day + 1)
        ) - (
          select coalesce(sum(c.records), 0)
          from logloom_private.blocks c
          where c.tenant_id = p_tenant_id
            and not c.holds_counts
            and c.last_ts >= logloom_private.day_start(u.day)
            and c.first_ts < logloom_private.day_start(u.day + 1)
        ),
        0
      ) as records
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
    order by u.day desc
    -- The newest days are measured. The size of older days is estimated from these days.
    limit 31
  ) d;
  select count(*) into v_all_days from logloom_private.log_days d where d.tenant_id = p_tenant_id;
  select sum(x.bytes) * v_all_days / nullif(count(*), 0)
  into v_bytes
  from (
    select
      pg_total_relation_size(p.oid) * d.records / greatest(
        d.records, pg_stat_get_live_tuples(p.oid), p.reltuples, 1
      )::numeric as bytes
    from unnest(v_days, v_records) d (day, records)
    join pg_catalog.pg_class p
      on p.oid = to_regclass(format('logloom.%I', logloom_private.partition_name(d.day)))
  ) x;
  return coalesce(round(v_bytes), 0);
end;
$$;

-- Returns the disk space of a tenant's records. Blocks have exact sizes. Rows share partitions with
-- other tenants, so their size is estimated.
create function logloom_private.stored_of(p_tenant_id text)
returns public.logloom_stored
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    (
      select coalesce(sum(c.bytes), 0)::bigint
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id
    ),
    logloom_private.hot_bytes(p_tenant_id)
  )::public.logloom_stored;
end;
$$;

create type public.logloom_usage_month as (month text, events bigint, bytes bigint);

comment on type public.logloom_usage_month is 'Accepted events and bytes of a UTC month (YYYY-MM).';

create type public.logloom_usage_service as (
  day date, service text, events bigint, record_bytes bigint
);

comment on type public.logloom_usage_service is
  'Accepted events of a UTC day, and the bytes of the JSON text of their records. The service null '
  'has all events of the day that are in no other item.';

create type public.logloom_usage as (
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
  months public.logloom_usage_month[],
  days public.logloom_usage_day[],
  stored public.logloom_stored,
  restored_records bigint,
  dropped bigint,
  rules public.logloom_ingest_rule_hour[],
  services public.logloom_usage_service[],
  spans bigint
);

comment on type public.logloom_usage is
  'The usage of a tenant in the current UTC month, the limits of its plan, and the usage by month '
  'and day of the requested months, newest first. bytes: bytes of request bodies. stored: disk '
  'space of the records. restored_records: records restored from the archive this month. dropped: '
  'events that ingest rules removed this month. rules: what each ingest rule did in each of the '
  'last 24 hours, newest first. services: the days by service, if p_services asks for it. spans: '
  'how many of the month''s events are spans of traces.';

-- Returns a tenant's usage by day and service since p_from. A day has a row for each of the
-- p_services services with the most bytes on this day, and one row for all other services. The rows
-- of past days do not change, because each day chooses its own services.
create function logloom_private.usage_by_service(p_tenant_id text, p_from date, p_services integer)
returns public.logloom_usage_service[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select
      row(n.day, n.service, sum(n.events), sum(n.record_bytes))::public.logloom_usage_service
    from (
      select
        u.day, u.events, u.record_bytes,
        case
          when row_number() over (
            partition by u.day, u.service is null
            order by u.record_bytes desc, u.service collate "C"
          ) <= p_services then u.service
        end as service
      from logloom_private.usage_services u
      where u.tenant_id = p_tenant_id and u.day >= p_from and p_services > 0
    ) n
    group by n.day, n.service
    order by n.day desc, sum(n.record_bytes) desc, n.service collate "C"
  );
end;
$$;

-- Adds to a tenant's usage what customers in a portal session do not see: the plan's limits, disk
-- space, restored and dropped events, and ingest rules.
create function logloom_private.with_details(
  p_usage public.logloom_usage, p_tenant public.logloom_tenant, p_month date
)
returns public.logloom_usage
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_usage.monthly_events_limit := p_tenant.monthly_events_limit;
  p_usage.monthly_bytes_limit := p_tenant.monthly_bytes_limit;
  p_usage.stored := logloom_private.stored_of(p_usage.tenant_id);
  p_usage.restored_records := (
    select coalesce(sum(r.records), 0)
    from logloom.archive_restores r
    where r.tenant_id = p_usage.tenant_id
      and r.requested_at >= p_month::timestamp at time zone 'UTC'
  );
  select coalesce(sum(u.dropped), 0), coalesce(sum(u.spans), 0)
  into p_usage.dropped, p_usage.spans
  from logloom.usage_days u
  where u.tenant_id = p_usage.tenant_id and u.day >= p_month;
  p_usage.rules := array(
    select row(
      h.rule_id, h.hour, h.seen, h.matched, h.masked, h.dropped, h.sampled, h.not_checked, h.bytes
    )::public.logloom_ingest_rule_hour
    from logloom.ingest_rule_hours h
    where h.tenant_id = p_usage.tenant_id and h.hour > now() - interval '24 hours'
    order by h.hour desc, h.rule_id
  );
  return p_usage;
end;
$$;

create function logloom_private.read_tenant_usage(
  p_scope logloom_private.reading_scope, p_tenant_id text, p_months integer, p_services integer
)
returns public.logloom_usage
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read the queue, blocks and counts
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_tenant_usage', p_tenant_id);
  v_tenant constant public.logloom_tenant :=
    logloom_private.tenant_with_plan(v_scope.tenant_id);
  v_months constant integer := coalesce(p_months, 1);
  v_month constant date := date_trunc('month', now() at time zone 'UTC');
  v_from date;
  v_elapsed numeric;
  v_result public.logloom_usage;
begin
  if v_tenant.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  elsif v_months not between 1 and 24 then
    perform logloom_private.refuse('usage.months_are_out_of_range');
  elsif p_services not between 1 and 50 then
    perform logloom_private.refuse('usage.services_are_out_of_range');
  elsif p_services is not null and v_months > 3 then
    perform logloom_private.refuse('usage.services_take_three_months');
  end if;
  v_from := v_month - make_interval(months => v_months - 1);

  -- 1. Events and bytes by day, month and service
  v_result.tenant_id := v_tenant.tenant_id;
  v_result.month := to_char(v_month, 'YYYY-MM');
  v_result.resets_at := (v_month + interval '1 month') at time zone 'UTC';
  -- The days are read last, so that they have all events of the services.
  v_result.services :=
    logloom_private.usage_by_service(v_tenant.tenant_id, v_from, p_services);
  v_result.days := array(
    select row(u.day, u.events, u.bytes)::public.logloom_usage_day
    from logloom_private.usage_of(v_tenant.tenant_id, v_from) u
    order by u.day desc
  );
  v_result.months := array(
    select
      row(
        to_char(m.month, 'YYYY-MM'),
        coalesce(sum(d.events), 0),
        coalesce(sum(d.bytes), 0)
      )::public.logloom_usage_month
    from generate_series(v_from, v_month, interval '1 month') m (month)
    left join unnest(v_result.days) d on date_trunc('month', d.day) = m.month
    group by m.month
    order by m.month desc
  );
  v_result.events := (v_result.months[1]).events;
  v_result.bytes := (v_result.months[1]).bytes;

  -- 2. A customer sees the limits of the session, a user the limits and details of the tenant.
  v_result.rules := '{}';
  if v_scope.kind = 'portal_session' then
    v_result.monthly_events_limit := v_scope.limits -> 'monthly_events';
    v_result.monthly_bytes_limit := v_scope.limits -> 'monthly_bytes';
  else
    v_result := logloom_private.with_details(v_result, v_tenant, v_month);
  end if;

  -- 3. Percentages of the limits, and a projection. The projection assumes that the month goes on
  -- as so far. The first day counts as a whole day.
  v_result.events_percent :=
    round(100.0 * v_result.events / nullif(v_result.monthly_events_limit, 0), 2);
  v_result.bytes_percent :=
    round(100.0 * v_result.bytes / nullif(v_result.monthly_bytes_limit, 0), 2);
  v_elapsed := greatest(extract(epoch from now() - v_month::timestamp at time zone 'UTC'), 86400)
    / extract(epoch from v_result.resets_at - v_month::timestamp at time zone 'UTC');
  v_result.projected_events := greatest(v_result.events, round(v_result.events / v_elapsed));
  v_result.projected_bytes := greatest(v_result.bytes, round(v_result.bytes / v_elapsed));
  return v_result;
exception when query_canceled then
  -- Answers 504: at a 503 PostgREST would reconnect and reload its schema for everybody.
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  return null;
end;
$$;

create function public.get_tenant_usage(
  p_tenant_id text default null, p_months integer default null, p_services integer default null
)
returns public.logloom_usage
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.read_tenant_usage(null, p_tenant_id, p_months, p_services);
end;
$$;

comment on function public.get_tenant_usage(text, integer, integer) is
  'Returns the tenant''s usage in this UTC month, its limits, percentages, a projection for the '
  'end of the month, and the disk space of its records (stored). Also the usage by month and day '
  'of the last p_months (1 to 24, default 1). services: each day by service, the p_services (1 to '
  '50) with the most bytes and the others together, for at most 3 months. All acknowledged events '
  'count. Errors: PT400, PT401, PT403, PT404.';
