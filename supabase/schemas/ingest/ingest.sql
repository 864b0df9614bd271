-- Estimates the number of values in a JSON text whose strings have no comma, colon or bracket. A
-- member of an object counts 2. An array or object counts 11 plus its contents: reading it takes
-- the memory of several numbers. An empty one counts as if it held a value.
create function logloom_private.values_in(p_json text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(p_json) - octet_length(replace(p_json, ',', ''))
    + octet_length(p_json) - octet_length(replace(p_json, ':', ''))
    + 12 * (octet_length(p_json) - octet_length(translate(p_json, '[{', '')));
end;
$$;

create function logloom_private.has_more_values(p_attrs jsonb, p_values integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := p_attrs::text;
begin
  -- Removing strings is slow, and most records have few values even if strings are counted.
  return logloom_private.values_in(v_text) > p_values
    and logloom_private.values_in(
      regexp_replace(v_text, '"(?:[^"\\]|\\.)*"', '', 'g')
    ) > p_values;
end;
$$;

-- Answers a request without events: says that the sender is authenticated, and the limits.
create function logloom_private.limits_of_sender(p_state logloom_private.ingest_state)
returns logloom_private.ingest_answer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    json_build_object(
      'authenticated', true,
      -- No time of receipt takes more characters than this one.
      'max_event_bytes', p_state.max_record_bytes
        - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z'),
      'max_event_values', p_state.max_record_values
    ),
    logloom_private.quota_headers(p_state, 0), 0, 200
  );
end;
$$;

-- Returns the tenant's rules and the sender's only service, if the request followed another version
-- of the rules. The function ingest then applies these rules and sends the request again.
create function logloom_private.rules_of(p_state logloom_private.ingest_state)
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object('code', 'PT412', 'rules', json_build_object(
      'version', s.version,
      'rules', array(
        select r.compiled
        from logloom.ingest_rules r
        where r.tenant_id = p_state.tenant_id and r.is_on
        order by r.position, r.rule_id
      ),
      'hash_key', s.hash_key,
      'tenant_id', p_state.tenant_id,
      'service', p_state.service
    ))
    from (select) one
    left join logloom_private.ingest_rule_sets s on s.tenant_id = p_state.tenant_id
  );
end;
$$;

-- Raises an error if nothing can be stored now.
create function logloom_private.require_space(p_state logloom_private.ingest_state)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.is_read_only() then
    -- The error that the insert would raise.
    raise read_only_sql_transaction;
  end if;
  if p_state.queue_is_full then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
      'ingest.queue_is_full'
    );
  elsif p_state.storage_is_full then
    -- Storage is measured once a minute.
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '60'),
      'ingest.storage_is_full'
    );
  end if;
end;
$$;

-- Checks the limits of a request and its idempotency key, creates the tenant if needed, and
-- enqueues the events. Raises PT404, PT409, PT413, PT429 or PT503.
create function logloom_private.ingest(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_answer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
  -- The first slice decides for the whole request. Later slices may overdraw the rate, and the next
  -- request waits until the debt is paid.
  v_is_let_in constant boolean := coalesce(p_request.p_slice > 0, false);
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
  v_accepted integer;
begin
  if v_has_rate and not v_is_let_in then
    -- This check takes no lock: a request that is refused here delays nobody.
    perform logloom_private.check_rate(p_state, b)
    from logloom_private.rate_buckets b
    where b.tenant_id = p_state.tenant_id;
  end if;
  if cardinality(p_request.p_ts) > logloom_private.batch_max_events()
    or p_request.p_bytes > logloom_private.batch_max_bytes()
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', logloom_private.batch_max_events()::text,
      logloom_private.batch_max_bytes()::text
    );
  end if;
  -- A repeat gets the first answer even after a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
  end if;
  if v_earlier_answer is null
    and p_request.p_rules_version is distinct from p_state.rules_version
  then
    return row(logloom_private.rules_of(p_state), '{}'::jsonb, 0, 412);
  end if;
  if v_earlier_answer ->> 'takes_to' is not null then
    -- Uses the limits of the first answer: the same events are rejected again.
    p_state.keeps_from := v_earlier_answer ->> 'keeps_from';
    p_state.takes_to := v_earlier_answer ->> 'takes_to';
    p_state.spans_left := v_earlier_answer ->> 'spans_left';
  elsif p_request.p_spans > p_state.spans_left
    - p_state.batches * logloom_private.batch_max_events()
  then
    p_state.spans_left := logloom_private.spans_left(p_state);
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
    or p_request.p_spans > p_state.spans_left
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.status := 200;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_accepted := v_answer.ingested + coalesce(p_request.p_dropped, 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
  end if;
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := json_strip_nulls(json_build_object(
    'success', v_accepted > 0 or coalesce(p_request.p_rejected, 0) = 0,
    'ingested', v_accepted,
    'dropped', nullif(p_request.p_dropped, 0),
    'rejected', coalesce(p_request.p_rejected, 0),
    'cut', nullif(p_request.p_cut, 0),
    'errors', case when p_request.p_rejected > 0 then coalesce(p_request.p_errors, '[]') end
  ));

  if not p_state.is_provisioned and num_nonnulls(p_request.p_key_digest, p_request.p_claims) = 0
    and not (select s.provision_by_secret_key from logloom_private.settings s)
  then
    perform logloom_private.refuse('ingest.tenant_is_not_known', p_state.tenant_id);
  end if;
  -- Checks the first slice even if all its events were rejected: later slices are not checked.
  if not v_is_let_in and v_earlier_answer is null
    and (v_accepted > 0 or p_request.p_slice = 0)
  then
    perform logloom_private.check_month(p_state);
  end if;
  if v_accepted > 0 and v_earlier_answer is null then
    perform logloom_private.require_space(p_state);
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Only keeps answers to requests with accepted events.
    if p_request.p_idempotency_key is not null then
      v_earlier_answer := logloom_private.first_answer(
        p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice,
        case when p_request.p_all_errors
          then logloom_private.without_errors(p_state, v_answer.body) else v_answer.body end
      );
    end if;
  end if;
  if v_earlier_answer is not null then
    if v_earlier_answer ->> 'takes_to' is not null then
      v_earlier_answer := (
        v_answer.body::jsonb || v_earlier_answer::jsonb - '{keeps_from,takes_to,spans_left}'::text[]
      )::json;
    end if;
    return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0, 200);
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(
      p_state, v_accepted, v_is_let_in
    );
  end if;
  if v_accepted > 0 then
    perform logloom_private.enqueue(p_state, p_request);
  end if;
  return v_answer;
end;
$$;
