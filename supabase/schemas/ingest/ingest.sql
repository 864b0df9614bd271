-- The body of a 200: {success, ingested, rejected, cut, errors}, the last where events were
-- rejected, cut where records were too large to be stored whole.
create function logloom_private.accepted_answer(
  p_ingested integer,
  p_rejected integer,
  p_errors json,
  p_cut integer
)
returns json
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return json_strip_nulls(json_build_object(
    'success', p_ingested > 0 or p_rejected = 0,
    'ingested', p_ingested,
    'rejected', p_rejected,
    'cut', nullif(p_cut, 0),
    'errors', case when p_rejected > 0 then coalesce(p_errors, '[]') end
  ));
end;
$$;

-- Values of a JSON text whose texts have no comma, colon or bracket. A member of an object counts
-- two, an array or object eleven beside what it holds, since reading it takes as much memory as
-- several numbers; an empty one is taken to hold a value.
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

-- Whether attributes have more values than so many.
create function logloom_private.has_more_values(p_attrs jsonb, p_values integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := p_attrs::text;
begin
  -- Taking the texts out is dear, and most records have few values even with what is in them.
  return logloom_private.values_in(v_text) > p_values
    and logloom_private.values_in(
      regexp_replace(v_text, '"(?:[^"\\]|\\.)*"', '', 'g')
    ) > p_values;
end;
$$;

-- Limits, provisioning, idempotency and enqueue in the transaction of the call. PT409, PT413,
-- PT429, PT503.
create function logloom_private.ingest(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_answer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    v_plan.events_per_second is not null or v_plan.requests_per_second is not null;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
  -- Within the timeout of the call, as the watermark wants it.
  v_received_at constant timestamptz := clock_timestamp();
  v_measured record;
begin
  if p_request.p_ts is null then
    return row(
      json_build_object(
        'authenticated', true,
        -- Of a time of receipt that is as long as they come.
        'max_event_bytes', p_state.max_record_bytes
          - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z'),
        'max_event_values', p_state.max_record_values
      ),
      logloom_private.quota_headers(p_state, 0), 0
    );
  end if;
  if v_has_rate then
    perform logloom_private.check_rate(p_state);
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', p_state.batch_max_events::text, p_state.batch_max_bytes::text
    );
  end if;
  v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  if p_state.keeps_from > v_measured.ts_min or p_state.takes_to < v_measured.ts_max then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
    v_measured := logloom_private.measured_events(p_state.tenant_id, v_received_at, p_request);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := logloom_private.accepted_answer(
    v_answer.ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors,
    p_request.p_cut
  );

  -- A repeat gets the first answer, also once a limit is reached.
  if v_key is not null then
    v_earlier_answer := logloom_private.repeated_answer(
      p_state, v_key, v_body_digest, p_request.p_slice
    );
    if v_earlier_answer is not null then
      return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
    end if;
  end if;
  if v_answer.ingested > 0 then
    if v_measured.longest > p_state.max_record_bytes then
      perform logloom_private.refuse(
        'ingest.record_is_too_long', p_state.max_record_bytes::text
      );
    end if;
    -- An array in an array is two letters and twelve values: shorter records need no count.
    if v_measured.longest > p_state.max_record_values / 6 and exists (
      select
      from unnest(p_request.p_attrs, v_measured.record_bytes) e (attrs, bytes)
      where e.bytes > p_state.max_record_values / 6
        and logloom_private.has_more_values(e.attrs, p_state.max_record_values)
    ) then
      perform logloom_private.refuse(
        'ingest.record_has_too_many_values', p_state.max_record_values::text
      );
    end if;
    perform logloom_private.check_quota(p_state);
    if p_state.queue_is_full then
      perform logloom_private.refuse_with_headers(
        logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
        'ingest.queue_is_full'
      );
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if v_key is not null then
      v_earlier_answer := logloom_private.note_answer(
        p_state, v_key, v_body_digest, p_request.p_slice, v_answer.body
      );
      if v_earlier_answer is not null then
        return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
      end if;
    end if;
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(p_state, v_answer.ingested);
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(
      p_state.tenant_id, p_state.key_id, p_request, v_received_at, v_measured.record_bytes,
      v_measured.ts_min, v_measured.ts_max
    );
  end if;
  return v_answer;
end;
$$;
