-- Changes a record's level to one of our levels and its attrs to an object, as the function ingest
-- does for events.
create function logloom_private.normal_record(own logloom_private.own_record)
returns logloom_private.own_record
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_level constant text := logloom_private.level_named(own.level);
begin
  if jsonb_path_exists(own.attrs, '$.**{64}') then
    -- attrs is deeper than the function ingest allows, because readers would run out of stack.
    own.attrs := to_jsonb(own.attrs::text);
  end if;
  if jsonb_typeof(own.attrs) <> 'object' then
    own.attrs := jsonb_build_object('attrs', own.attrs);
  end if;
  if v_level is distinct from lower(own.level) then
    own.attrs := jsonb_build_object('original_level', own.level) || coalesce(own.attrs, '{}');
  end if;
  own.level := v_level;
  return own;
end;
$$;

-- Returns a record as the function ingest would send it, with the bytes of its JSON text. A record
-- above the limits keeps the beginnings of its texts. logloom_cut, with its size, replaces attrs.
create function logloom_private.fitting_record(
  p_state logloom_private.ingest_state,
  inout own logloom_private.own_record,
  out bytes integer
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Leaves 2048 bytes for the values that all records of a batch have in common.
  v_most constant integer := p_state.max_record_bytes - 2048;
begin
  bytes := octet_length(to_json(own)::text);
  if bytes > v_most or bytes > p_state.max_record_values / 6
    and logloom_private.has_more_values(own.attrs, p_state.max_record_values)
  then
    -- In JSON a character takes at most six bytes.
    own := jsonb_populate_record(own, (
      select jsonb_object_agg(t.key, left(t.value, v_most / 64))
      from jsonb_each_text(to_jsonb(own) - '{ts,attrs}'::text[]) t
    ));
    own.attrs := jsonb_build_object('logloom_cut', jsonb_build_object('attrs', bytes));
    bytes := octet_length(to_json(own)::text);
  end if;
end;
$$;

-- Stores up to 10,000 records that the database itself makes for a tenant, in the caller's
-- transaction. All limits of senders apply except the rate of requests. Refuses all records if the
-- month's limits or the rate of events are used up, or if the tenant does not exist. Refuses a
-- record whose ts is out of range. usage_days counts refused records. Raises an error if the cause
-- will pass (queue or storage full, read-only): the caller keeps its records. The watermark assumes
-- that the caller commits within enqueue_timeout(). p_claims: the claims of the records' token,
-- which can create the tenant.
create function logloom_private.ingest_own(
  p_tenant_id text,
  p_records logloom_private.own_record[],
  p_claims jsonb default null
)
returns logloom_private.own_answer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.ingest_state;
  v_bucket logloom_private.rate_buckets;
  v_request logloom_private.ingest_request;
  v_accepted logloom_private.ingest_answer;
  v_detail text;
  v_answer logloom_private.own_answer := row(0, 0, null);
begin
  if coalesce(cardinality(p_records), 0) = 0 then
    return v_answer;
  end if;
  begin
    v_state := logloom_private.ingest_state(p_tenant_id, null, null, 1);
    perform logloom_private.check_month(v_state);
    select b.* into v_bucket from logloom_private.rate_buckets b where b.tenant_id = p_tenant_id;
    v_bucket.requests := 1;
    perform logloom_private.check_rate(v_state, v_bucket);
    -- Counts as a later slice, because the limits were checked above.
    v_request.p_slice := 1;
    v_request.p_claims := p_claims;
    v_request.p_rules_version := v_state.rules_version;
    p_records := array(select logloom_private.normal_record(r) from unnest(p_records) r);
    select
      least(sum(r.bytes), logloom_private.batch_max_bytes()), array_agg((r.own).ts),
      -- fields sent but ts joined: array_agg((r.own).{name})
      array_agg((r.own).level), array_agg((r.own).msg), array_agg((r.own).service),
      array_agg((r.own).env), array_agg((r.own).req_id), array_agg((r.own).user_id),
      array_agg((r.own).route), array_agg((r.own).host), array_agg((r.own).attrs)
      -- fields end
    into
      v_request.p_bytes, v_request.p_ts,
      -- fields sent but ts joined: v_request.p_{name}
      v_request.p_level, v_request.p_msg, v_request.p_service, v_request.p_env, v_request.p_req_id,
      v_request.p_user_id, v_request.p_route, v_request.p_host, v_request.p_attrs
      -- fields end
    from unnest(
      case when v_state.rules_version is null then p_records
        else logloom_private.masked_records(p_tenant_id, p_records) end
    ) e
    cross join lateral logloom_private.fitting_record(v_state, e) r;
    v_accepted := logloom_private.ingest(v_request, v_state);
    v_answer.stored := v_accepted.ingested;
    v_answer.error := v_accepted.body::jsonb #>> '{errors,0,message}';
  exception when sqlstate 'PGRST' or sqlstate 'PT403' or sqlstate 'PT404' then
    get stacked diagnostics v_detail = pg_exception_detail;
    if sqlstate = 'PGRST' and v_detail::jsonb ->> 'status' <> '429' then
      raise;
    end if;
    v_answer.error :=
      case sqlstate when 'PGRST' then sqlerrm::jsonb ->> 'message' else sqlerrm end;
  end;
  v_answer.refused := cardinality(p_records) - v_answer.stored;
  if v_answer.refused > 0 then
    insert into logloom.usage_days as u (tenant_id, day, events, bytes, refused)
    select t.tenant_id, logloom_private.utc_day(now()), 0, 0, v_answer.refused
    from logloom.tenants t
    where t.tenant_id = p_tenant_id
    on conflict (tenant_id, day) do update set refused = u.refused + excluded.refused;
  end if;
  return v_answer;
end;
$$;
