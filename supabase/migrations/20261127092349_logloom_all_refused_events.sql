-- Senders that answer for each event are told of every rejected one, and a repeat of a part of a
-- request of the same. A time under a name that may mean something else rejects no event.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  -- No table has a column of this type.
  alter type logloom_private.ingest_request
    add attribute p_all_errors boolean,
    add attribute p_guessed jsonb;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- An answer without its errors, which may be long where all are listed, but with the range of times
-- that makes them again.
create function logloom_private.without_errors(
  p_state logloom_private.ingest_state,
  p_answer json
)
returns json
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_answer -> 'errors' is null then
    return p_answer;
  end if;
  return p_answer::jsonb - 'errors' || jsonb_build_object(
    'keeps_from', p_state.keeps_from, 'takes_to', p_state.takes_to
  );
end;
$$;

-- The first answer to an Idempotency-Key, or to a slice of its request. Where there is none, null,
-- and p_response, if given, is kept as such. PT409 where the body was another.
create or replace function logloom_private.first_answer(
  p_state logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest text,
  p_slice integer,
  p_response json default null
)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The same body is another request for another service.
  v_key constant text := concat(p_state.service || e'\x1f') || p_idempotency_key;
  v_body_digest constant bytea := decode(p_body_digest, 'hex');
  v_expired constant timestamptz :=
    now() - (select s.idempotency_key_lifetime from logloom_private.settings s);
  v_known logloom_private.idempotency_keys;
begin
  if p_response is not null then
    -- A second request with this key waits here for the first one's commit.
    insert
      into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
    values (
      p_state.tenant_id, v_key, v_body_digest,
      case
        when p_slice is null then p_response
        else json_build_object(p_slice::text, p_response)
      end
    )
    on conflict (tenant_id, idempotency_key) do update
    set
      body_digest = excluded.body_digest,
      response = case
        when k.created_at < v_expired then excluded.response
        else (k.response::jsonb || excluded.response::jsonb)::json
      end,
      created_at = case when k.created_at < v_expired then now() else k.created_at end
    where k.created_at < v_expired
      or (
        p_slice is not null
        and k.body_digest = excluded.body_digest
        and k.response -> p_slice::text is null
      );
    if found then
      return null;
    end if;
  end if;
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = v_key
    and k.created_at >= v_expired;
  if v_known.body_digest <> v_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$$;

-- The request whose guessed times are attributes again where they are out of range: then they meant
-- something else, and the event has the time of receipt. Such an event does not tell itself from an
-- equal one: a repeat is only told by a key that its sender gave.
create function logloom_private.without_wrong_guesses(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_wrong boolean;
begin
  select
    array_agg(case when g.member is null then e.ts end order by e.i),
    array_agg(
      case when g.member is null then e.attrs else g.member || coalesce(e.attrs, '{}') end
      order by e.i
    ),
    bool_or(g.member is not null)
  into p_request.p_ts, p_request.p_attrs, v_is_wrong
  from unnest(p_request.p_ts, p_request.p_attrs) with ordinality e (ts, attrs, i)
  left join jsonb_each(p_request.p_guessed) g (place, member)
    on g.place::bigint = e.i and e.ts not between p_state.keeps_from and p_state.takes_to;
  if v_is_wrong and p_request.p_idempotency_key = 'sha256:' || p_request.p_body_digest then
    p_request.p_idempotency_key := null;
  end if;
  return p_request;
end;
$$;

-- The request without the events whose ts is given and out of range, or whose service is another
-- than the sender may send for: counted in p_rejected and, of the first 100, listed in p_errors by
-- their index in what was sent, or all of them where p_all_errors says so.
create or replace function logloom_private.reject_events(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_request
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Not for each event: a request may have thousands of them.
  v_of_another constant text :=
    format('The token sends for the service %s alone', p_state.service);
  v_ahead constant text := (
    select format(
      'ts lies more than %s h ahead', (extract(epoch from s.ingest_future_limit) / 3600)::real
    )
    from logloom_private.settings s
  );
  v_old constant text := format(
    'ts is older than what is kept: %s days', logloom_private.retention_days(p_state.tenant_id)
  );
  v_is_kept boolean[];
begin
  if p_request.p_guessed is not null then
    p_request := logloom_private.without_wrong_guesses(p_request, p_state);
  end if;
  v_is_kept := array(
    select (e.ts between p_state.keeps_from and p_state.takes_to) is not false
      and (e.service = p_state.service) is not false
    from unnest(p_request.p_ts, p_request.p_service) with ordinality e (ts, service, i)
    order by e.i
  );
  p_request.p_errors := (
    select json_agg(u.error)
    from (
      select j.error, (j.error ->> 'index')::integer as index
      from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
      union all
      select
        json_build_object(
          'index', o.index,
          'code', case
            when o.is_of_another then 'service_is_another' else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then v_of_another
            when o.ts > p_state.takes_to then v_ahead
            else v_old
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit case when p_request.p_all_errors then null else 100 end
    ) u
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + cardinality(array_positions(v_is_kept, false));
  -- fields sent: p_request.p_{name} := logloom_private.kept_values(p_request.p_{name}, v_is_kept);
  p_request.p_ts := logloom_private.kept_values(p_request.p_ts, v_is_kept);
  p_request.p_level := logloom_private.kept_values(p_request.p_level, v_is_kept);
  p_request.p_msg := logloom_private.kept_values(p_request.p_msg, v_is_kept);
  p_request.p_service := logloom_private.kept_values(p_request.p_service, v_is_kept);
  p_request.p_env := logloom_private.kept_values(p_request.p_env, v_is_kept);
  p_request.p_req_id := logloom_private.kept_values(p_request.p_req_id, v_is_kept);
  p_request.p_user_id := logloom_private.kept_values(p_request.p_user_id, v_is_kept);
  p_request.p_route := logloom_private.kept_values(p_request.p_route, v_is_kept);
  p_request.p_host := logloom_private.kept_values(p_request.p_host, v_is_kept);
  p_request.p_attrs := logloom_private.kept_values(p_request.p_attrs, v_is_kept);
  -- fields end
  return p_request;
end;
$$;

drop function public.ingest_logs(
  text, text, text, text, integer, integer[], integer, json, integer, jsonb, integer,
  timestamptz[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[]
);

create function public.ingest_logs(
  p_tenant_id text default null,
  p_key_digest text default null,
  p_idempotency_key text default null,
  p_body_digest text default null,
  p_bytes integer default null,
  p_positions integer[] default null,
  p_rejected integer default null,
  p_errors json default null,
  p_slice integer default null,
  p_claims jsonb default null,
  p_cut integer default null,
  -- fields sent joined: p_{name} {type}[] default null,
  p_ts timestamptz[] default null, p_level text[] default null, p_msg text[] default null,
  p_service text[] default null, p_env text[] default null, p_req_id text[] default null,
  p_user_id text[] default null, p_route text[] default null, p_host text[] default null,
  p_attrs jsonb[] default null,
  -- fields end
  p_all_errors boolean default null,
  p_guessed jsonb default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
declare
  v_answer constant logloom_private.ingest_answer := logloom_private.ingest(
    row(
      p_tenant_id, p_key_digest, p_idempotency_key, p_body_digest, p_bytes, p_positions,
      p_rejected, p_errors, p_slice, p_claims, p_cut,
      -- fields sent joined: p_{name},
      p_ts, p_level, p_msg, p_service, p_env, p_req_id, p_user_id, p_route, p_host, p_attrs,
      -- fields end
      p_all_errors, p_guessed
    )::logloom_private.ingest_request,
    null
  );
begin
  -- PostgREST wants each header in an object of its own. In JSON text a quote within a value stands
  -- behind a backslash.
  perform set_config(
    'response.headers',
    '[' || replace(v_answer.headers::text, '", "', '"}, {"') || ']',
    true
  );
  return v_answer.body;
end;
$$;

comment on function public.ingest_logs is
  'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 '
  'of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. '
  'Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is '
  'committed in several calls: the first one decides whether the limits of the plan allow the '
  'request. p_cut: events of which a part was cut off, '
  'since the record would be larger than max_record_bytes or max_record_values allow. '
  'p_all_errors: errors are to list every rejected event, not the first hundred. p_guessed: of '
  'events whose ts stood under a name that may mean something else, the place in the arrays from '
  '1 and the member {place: {name: value}}: out of range it is an attribute and no ts. '
  'Returns the answer to the client {success, ingested, rejected, cut, errors}. '
  'Errors: PT401, PT404, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of '
  'the watermark.';

grant execute on function public.ingest_logs to service_role;

create or replace function logloom_private.ingest(
  p_request logloom_private.ingest_request,
  p_state logloom_private.ingest_state
)
returns logloom_private.ingest_answer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_plan logloom.plans;
  v_has_rate boolean;
  -- The first slice decides for its request: what follows is taken, and waited for by the next one.
  v_is_let_in constant boolean := coalesce(p_request.p_slice > 0, false);
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if p_state is null then
    p_state := logloom_private.ingest_state(
      p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims, 1
    );
  end if;
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
  v_plan := p_state.plan;
  v_has_rate := num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
  if v_has_rate and not v_is_let_in then
    -- Without a lock: a request that is refused here holds nobody up and writes nothing.
    perform logloom_private.check_rate(p_state, b)
    from logloom_private.rate_buckets b
    where b.tenant_id = p_state.tenant_id;
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', p_state.batch_max_events::text, p_state.batch_max_bytes::text
    );
  end if;
  -- A repeat gets the first answer, also once a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
  end if;
  if v_earlier_answer ->> 'takes_to' is not null then
    -- Its list is made again, as it was.
    p_state.keeps_from := v_earlier_answer ->> 'keeps_from';
    p_state.takes_to := v_earlier_answer ->> 'takes_to';
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
  end if;
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := json_strip_nulls(json_build_object(
    'success', v_answer.ingested > 0 or coalesce(p_request.p_rejected, 0) = 0,
    'ingested', v_answer.ingested,
    'rejected', coalesce(p_request.p_rejected, 0),
    'cut', nullif(p_request.p_cut, 0),
    'errors', case when p_request.p_rejected > 0 then coalesce(p_request.p_errors, '[]') end
  ));

  if not p_state.is_provisioned and num_nonnulls(p_request.p_key_digest, p_request.p_claims) = 0
    and not (select s.provision_by_secret_key from logloom_private.settings s)
  then
    perform logloom_private.refuse('ingest.tenant_is_not_known', p_state.tenant_id);
  end if;
  -- A first slice decides also where its own events were all rejected.
  if not v_is_let_in and v_earlier_answer is null
    and (v_answer.ingested > 0 or p_request.p_slice = 0)
  then
    perform logloom_private.check_month(p_state);
  end if;
  if v_answer.ingested > 0 and v_earlier_answer is null then
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
        v_answer.body::jsonb || v_earlier_answer::jsonb - '{keeps_from,takes_to}'::text[]
      )::json;
    end if;
    return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(
      p_state, v_answer.ingested, v_is_let_in
    );
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(p_state, p_request);
  end if;
  return v_answer;
end;
$$;

select logloom_private.finish_migration();
