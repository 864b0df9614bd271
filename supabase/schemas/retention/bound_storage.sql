-- Seam: returns the bytes of a relation with its indexes.
create function logloom_private.relation_bytes(p_relation regclass)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return pg_total_relation_size(p_relation);
end;
$$;

-- Returns the bytes of records and the queue. With p_with_rest, which takes ten times longer, also
-- returns the other bytes of Logloom. Blocks count by their content: deleting blocks does not
-- shorten their files, so by file size days would be dropped until no day is left.
create function logloom_private.measure_storage(
  p_with_rest boolean,
  out bytes bigint,
  out reusable_bytes bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Indexes, pages and TOAST add to blocks.bytes: 8 % with 32,000 records in a block, 31 % with a
  -- hundred.
  v_factor constant numeric := 1.2;
  v_sealed constant bigint := (
    select coalesce(sum(c.bytes), 0) * v_factor from logloom_private.blocks c
  );
begin
  select
    coalesce(
      sum(b.bytes) filter (
        where i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
      ),
      0
    ) + v_sealed,
    case when p_with_rest then sum(b.bytes) end
  into bytes, reusable_bytes
  from pg_catalog.pg_class c
  left join pg_catalog.pg_inherits i on i.inhrelid = c.oid
  cross join logloom_private.relation_bytes(c.oid) b (bytes)
  where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
    and c.relkind = 'r'
    and (
      p_with_rest
      or i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
    );
  reusable_bytes := reusable_bytes - least(bytes, reusable_bytes);
end;
$$;

-- Returns the day to drop when storage is full: the oldest day with records that need not wait for
-- the archive. Never returns today or yesterday. If all days wait for the archive, returns the
-- oldest day and sets overtakes_archive.
create function logloom_private.day_to_drop(
  p_today date,
  out day date,
  out overtakes_archive boolean
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
begin
  loop
    v_day := logloom_private.next_stored_day(v_day, p_today - 1);
    overtakes_archive := v_day is null;
    exit when v_day is null;
    if exists (
      select
      from logloom_private.day_tenants(v_day) t (tenant_id)
      where not logloom_private.awaits_archive(t.tenant_id, v_day, p_today)
        -- Restored records can be dropped: the archive still has them.
        or exists (
          select
          from logloom_private.kept_longer k
          where k.tenant_id = t.tenant_id and k.kept_until > now()
            and v_day between k.first_day and k.last_day
        )
    ) then
      day := v_day;
      exit;
    end if;
    if day is null and exists (select from logloom_private.day_tenants(v_day)) then
      day := v_day;
    end if;
  end loop;
end;
$$;

-- Writes a record into the project's tenant, where alert rules can find it.
create function logloom_private.tell_operators(p_message text, p_attrs jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.ingest_state;
  v_request logloom_private.ingest_request;
begin
  select t.tenant_id, s.max_record_bytes, s.max_record_values
  into v_state.tenant_id, v_state.max_record_bytes, v_state.max_record_values
  from logloom_private.settings s
  join logloom.tenants t on t.tenant_id = s.project_tenant_id;
  if not found or logloom_private.is_being_deleted(v_state.tenant_id) then
    return;
  end if;
  v_request.p_ts := array[clock_timestamp()];
  v_request.p_level := array['warn'];
  v_request.p_msg := array[p_message];
  v_request.p_service := array['logloom'];
  v_request.p_attrs := array[p_attrs];
  perform logloom_private.enqueue(v_state, v_request);
end;
$$;

-- Runs a step of the job bound_storage. Measures storage, and chooses a day to drop if storage is
-- full. retention_step then drops the day in further steps. Before the next day is chosen, storage
-- is measured again.
create function logloom_private.bound_storage()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_storage logloom_private.storage := (select s from logloom_private.storage s);
  v_percent double precision;
  v_mark integer;
  v_day date;
  v_overtakes_archive boolean;
  v_is_news boolean;
begin
  if v_storage.limit_day is not null then
    return coalesce(logloom_private.retention_step(), '0');
  end if;
  -- Other tables are measured once an hour.
  select m.bytes, coalesce(m.reusable_bytes, v_storage.reusable_bytes)
  into v_storage.bytes, v_storage.reusable_bytes
  from logloom_private.measure_storage(
    date_trunc('hour', v_storage.measured_at) is distinct from date_trunc('hour', clock_timestamp())
  ) m;
  v_storage.measured_at := clock_timestamp();
  v_percent := 100.0 * v_storage.bytes / v_settings.max_storage_bytes;

  -- 1. Choose the day. If retention is working on a day, wait for it.
  v_storage.is_dropping := v_settings.storage_policy = 'drop_oldest'
    and coalesce(v_percent >= 100 or v_storage.is_dropping and v_percent > 95, false);
  v_storage.is_stuck := v_storage.is_stuck and v_storage.is_dropping;
  if v_storage.is_dropping
    and not exists (select from logloom_private.retention_place p where p.day is not null)
  then
    select d.day, d.overtakes_archive
    into v_day, v_overtakes_archive
    from logloom_private.day_to_drop(logloom_private.utc_day(now())) d;
    v_storage.is_stuck := v_day is null;
    if v_overtakes_archive and v_percent < 100 then
      v_day := null;
    end if;
  end if;

  -- 2. Store the measurement, and tell the operators at 80 % and 100 %.
  v_mark := case when v_percent >= 100 then 100 when v_percent >= 80 then 80 else 0 end;
  v_is_news := v_mark > v_storage.told_percent;
  v_storage.told_percent := case
    when v_percent >= 70 then greatest(v_storage.told_percent, v_mark)
    else 0
  end;
  update logloom_private.storage s
  set (measured_at, bytes, reusable_bytes, is_dropping, is_stuck, told_percent) = (
    v_storage.measured_at, v_storage.bytes, v_storage.reusable_bytes, v_storage.is_dropping,
    v_storage.is_stuck, v_storage.told_percent
  )
  where s.singleton;
  insert into logloom_private.storage_hours (hour, measured_at, bytes)
  values (date_trunc('hour', v_storage.measured_at, 'UTC'), v_storage.measured_at, v_storage.bytes)
  on conflict do nothing;
  if v_is_news then
    perform logloom_private.tell_operators(h ->> 'reason', h - 'reason')
    from logloom_private.storage_health() h;
  end if;

  -- 3. Drop the day. If the last attempt to drop this day failed, try again a minute later.
  if v_day is null then
    return null;
  end if;
  delete from logloom_private.kept_longer k where k.last_day <= v_day;
  update logloom_private.kept_longer k set first_day = v_day + 1 where k.first_day <= v_day;
  -- If no retention has run yet, the new row says that yesterday's retention has ended.
  insert into logloom_private.retention_place (today, finished_at)
  values (logloom_private.utc_day(now()) - 1, now())
  on conflict (singleton) do update set attempts = 0;
  update logloom_private.storage s
  set limit_day = v_day, overtakes_archive = v_overtakes_archive, dropped_day = v_day
  where s.singleton;
  return case when v_day is distinct from v_storage.dropped_day then interval '0' end;
end;
$$;

-- Returns the check of storage: degraded from 80 % of its limit, unhealthy while ingest is refused.
-- The forecast compares with an earlier day at the same time of day, because sealing makes a day
-- about ten times smaller.
create function logloom_private.storage_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_storage constant logloom_private.storage := (select s from logloom_private.storage s);
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_limit constant bigint := v_settings.max_storage_bytes;
  v_percent constant numeric := round(100.0 * v_storage.bytes / v_limit, 1);
  v_refuses constant boolean := v_storage.bytes >= v_limit
    and (v_settings.storage_policy = 'refuse' or v_storage.is_stuck);
  v_sizes constant text := format(
    '%s of %s', pg_size_pretty(v_storage.bytes), pg_size_pretty(v_limit)
  );
  v_bytes_per_day bigint;
  v_days numeric;
begin
  select
    (v_storage.bytes - h.bytes)
      / (extract(epoch from v_storage.measured_at - h.measured_at) / 86400)
  into v_bytes_per_day
  from generate_series(1, 7) d
  join logloom_private.storage_hours h on h.hour
    = date_trunc('hour', v_storage.measured_at, 'UTC') - make_interval(hours => 24 * d)
  order by h.hour
  limit 1;
  if v_bytes_per_day > 0 and v_storage.bytes < v_limit then
    v_days := round((v_limit - v_storage.bytes)::numeric / v_bytes_per_day, 1);
  end if;
  return logloom_private.health_grade(
    case when v_refuses then format('Storage is full (%s): ingest is refused', v_sizes) end,
    case when v_percent >= 80 and not v_refuses then concat_ws(
      ', ',
      format('Storage is %s %% full (%s)', floor(v_percent), v_sizes),
      'full in ' || v_days || ' days at this rate'
    ) end
  ) || jsonb_build_object(
    'stored_bytes', v_storage.bytes,
    'limit_bytes', v_limit,
    'percent', v_percent,
    'policy', v_settings.storage_policy,
    'days_until_full', v_days,
    'bytes_per_day', v_bytes_per_day,
    'reusable_bytes', v_storage.reusable_bytes,
    'measured_at', v_storage.measured_at
  );
end;
$$;
