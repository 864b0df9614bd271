-- Written by npm run migration from the difference between the released migrations and
-- supabase/schemas. It is to be read and corrected by hand:
--   * Rows, jobs of pg_cron and partitioned tables' settings are not in it, nor are grants on
--     parameters and roles' settings.
--   * A renamed column is dropped and made anew here: write alter table … rename instead.
--   * What locks a table that is written to all the time (a new check, a default that is computed,
--     an index) is better done in steps: not valid first, then validate.
--   * What changes logloom.logs begins with: select logloom_private.hold_writers();
--   * Deployed functions of the version before go on calling while this is applied.
--   * Its name belongs into supabase/uninstall.sql, among those that leave the project's history.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."accepted_answer"(integer, integer, json);

DROP FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
  WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[]);

DROP FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request);

DROP FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
  WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb);

CREATE OR REPLACE FUNCTION logloom_private.accepted_answer (
  p_ingested integer,
  p_rejected integer,
  p_errors   json,
  p_cut      integer
)
  RETURNS json
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return json_strip_nulls(json_build_object(
    'success', p_ingested > 0 or p_rejected = 0,
    'ingested', p_ingested,
    'rejected', p_rejected,
    'cut', nullif(p_cut, 0),
    'errors', case when p_rejected > 0 then coalesce(p_errors, '[]') end
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bare_record_bytes (
  p_tenant_id   text,
  p_received_at timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return octet_length(
    '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":,"level":,'
      || '"msg":,"service":,"env":,"req_id":,"user_id":,"route":,"host":,"attrs":}'
  ) + octet_length(to_json(p_tenant_id)::text) + octet_length(to_json(p_received_at)::text);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bytes_of_record (
  p_log logloom.logs
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- An array of the texts has nine letters of its own.
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      + octet_length(
        array_to_json(array[
          p_log.level, p_log.msg, p_log.service, p_log.env, p_log.req_id, p_log.user_id,
          p_log.route, p_log.host
        ])::text
      ) - 9
      + coalesce(octet_length(p_log.attrs::text), 4)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.callers_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or the API key is unknown, revoked or expired.'),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, '`service_role` names what cannot be a tenant.'),
    ('callers.role_is_missing', 403, 'This takes the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller is less than that in the tenant: `member`, `admin`, `owner` '
        '([identity.md](identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canonical_numbers (
  p_value jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case jsonb_typeof(p_value)
    when 'number' then logloom_private.short_number(p_value::numeric)
    when 'object' then (
      select coalesce(jsonb_object_agg(o.key, logloom_private.canonical_numbers(o.value)), '{}')
      from jsonb_each(p_value) o
    )
    when 'array' then (
      select coalesce(jsonb_agg(logloom_private.canonical_numbers(a.value) order by a.n), '[]')
      from jsonb_array_elements(p_value) with ordinality a (value, n)
    )
    else p_value
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.carry_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Types go to the nodes with a function that needs them; this one goes again, they stay.
  v_types := array(
    select format('%I.%I', n.nspname, t.typname)
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where (n.nspname = 'logloom_private' or n.nspname = 'public' and t.typname like 'logloom\_%')
      and (c.relkind = 'c' or t.typtype in ('d', 'e'))
      and not exists (
        select
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_type u on u.oid = a.atttypid
        left join pg_catalog.pg_type e on e.oid = u.typelem
        join pg_catalog.pg_class l on l.oid in (u.typrelid, e.typrelid)
        where a.attrelid = t.typrelid and l.relkind in ('r', 'p')
      )
    order by t.oid
  );
  execute format(
    'create function logloom_private.carried_types() returns table (%s) language plpgsql '
      || 'set search_path = pg_catalog, pg_temp as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_private.carried_types()')
  );
  execute 'drop function logloom_private.carried_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prokind in ('f', 'a')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      and not p.prosecdef
      and not exists (
        select
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('logloom', 'logloom_private', 'public')
          and c.relkind in ('r', 'p', 'v', 'S')
          and not c.relispartition
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_private.spread_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
      -- Nor takes or gives a type that holds such a table's row, which is none of those above.
      and not exists (
        select
        from unnest(p.proargtypes::oid[] || p.proallargtypes || p.prorettype) o (oid)
        join pg_catalog.pg_type t on t.oid = o.oid
        join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind = 'c'
        where format('%I.%I', t.typnamespace::regnamespace, t.typname) <> all (v_types)
          and t.typnamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      )
  loop
    execute format('select create_distributed_function(%L::regprocedure)', v_function::text);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_chunk (
  p_tenant_id    text,
  p_chunk_id     bigint,
  p_ts           timestamp with time zone[],
  p_received_at  timestamp with time zone[],
  p_arrivals     bigint[],
  p_ids          uuid[],
  p_levels       text[],
  p_messages     text[],
  p_services     text[],
  p_env          text[],
  p_req_id       text[],
  p_user_id      text[],
  p_route        text[],
  p_host         text[],
  p_attrs        jsonb[],
  p_record_bytes integer[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_batches integer[];
  v_batch_received_at timestamptz[];
  v_batch_arrivals bigint[];
  v_attrs text[];
  v_same boolean;
begin
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = p_chunk_id;
  v_batches := logloom_private.chunk_batches(v_chunk, null);
  v_batch_received_at := v_chunk.batch_received_at;
  v_batch_arrivals := v_chunk.batch_arrivals;
  v_attrs := logloom_private.attribute_texts(v_chunk, null, null);
  v_same := logloom_private.chunk_times(v_chunk, null) = p_ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_received_at
    and array(select v_batch_arrivals[unnest(v_batches)]) = p_arrivals
    and logloom_private.chunk_ids(v_chunk, null, v_batches) = p_ids
    and logloom_private.section_texts(v_chunk, v_chunk.section_services) = p_services
    and logloom_private.section_texts(v_chunk, v_chunk.section_levels) = p_levels
    and logloom_private.chunk_messages(v_chunk, null) = p_messages
    and logloom_private.chunk_field(v_chunk, 'env') = p_env
    and logloom_private.chunk_field(v_chunk, 'req_id') = p_req_id
    and logloom_private.chunk_field(v_chunk, 'user_id') = p_user_id
    and logloom_private.chunk_field(v_chunk, 'route') = p_route
    and logloom_private.chunk_field(v_chunk, 'host') = p_host
    and logloom_private.chunk_field(v_chunk, 'record_bytes')::integer[] = p_record_bytes
    -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order.
    and (
      v_attrs = p_attrs::text[]
      or v_attrs::jsonb[]::text[] = p_attrs::text[]
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_chunk (
  p_tenant_id text,
  p_with      text,
  p_removes   boolean DEFAULT false
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_record_bytes integer[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs), array_agg(r.record_bytes)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_removed, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes;
  if v_removed <> v_chunk.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_chunk.records, v_removed);
  elsif v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  select e.* into v_encoded
  from logloom_private.encode_messages(v_chunk, v_services, v_levels, v_messages) e;
  v_chunk := v_encoded.o_chunk;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_arrivals := logloom_private.elements_at(v_arrivals, v_order);
  v_ids := logloom_private.elements_at(v_ids, v_order);
  v_levels := logloom_private.elements_at(v_levels, v_order);
  v_messages := logloom_private.elements_at(v_messages, v_order);
  v_services := logloom_private.elements_at(v_services, v_order);
  v_env := logloom_private.elements_at(v_env, v_order);
  v_req_id := logloom_private.elements_at(v_req_id, v_order);
  v_user_id := logloom_private.elements_at(v_user_id, v_order);
  v_route := logloom_private.elements_at(v_route, v_order);
  v_host := logloom_private.elements_at(v_host, v_order);
  v_attrs := logloom_private.elements_at(v_attrs, v_order);
  v_record_bytes := logloom_private.elements_at(v_record_bytes, v_order);
  v_chunk := logloom_private.encode_times(v_chunk, v_ts);
  v_chunk := logloom_private.encode_ids(v_chunk, v_ids, v_received_at, v_arrivals);
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);
  perform logloom_private.store_column(
    p_tenant_id, v_chunk.chunk_id, 'record_bytes', 1, v_record_bytes::text[]
  );
  perform logloom_private.store_attributes(p_tenant_id, v_chunk.chunk_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_chunk.records
  then
    raise sqlstate 'LL001' using
      message = format('Chunk %s has records twice', v_chunk.chunk_id);
  end if;
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
  );
  return v_chunk.chunk_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue (
  p_tenant_id    text,
  p_key_id       uuid,
  p_request      logloom_private.ingest_request,
  p_received_at  timestamp with time zone,
  p_record_bytes integer[],
  p_ts_min       timestamp with time zone,
  p_ts_max       timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      p_received_at
    ),
    p_tenant_id, p_key_id, p_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), p_ts_min, p_ts_max,
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host,
    p_request.p_attrs, p_record_bytes
  from logloom_private.queue_pointer p;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.extract_json (
  p_text text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]|[0-9.]{41}' then
    return logloom_private.canonical_numbers(p_text::jsonb);
  end if;
  return p_text::jsonb;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
          - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z')
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
      'ingest.request_is_too_large',
      p_state.batch_max_events::text,
      p_state.batch_max_bytes::text
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
    perform logloom_private.check_quota(p_state);
    if p_state.queue_is_full then
      perform logloom_private.refuse_full_queue(p_state);
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id);
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'A key repeats a request, body and all, for 24 hours.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s events of this UTC month are used up.'),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s bytes of this UTC month are used up.'),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      'The writer is far behind; `health/queue` says how far.'),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts. The function ingest does; the limits are in logloom_private.settings.',
      null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Cut what is longest in it. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_state (
  p_request  logloom_private.ingest_request,
  p_requests integer
)
  RETURNS logloom_private.ingest_state
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  v_state.keeps_from := logloom_private.kept_from(v_sender.tenant_id, v_plan);
  v_state.month_end := logloom_private.month_end(now());
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    now() + s.ingest_future_limit, s.ingest_future_limit, s.batch_max_events, s.batch_max_bytes,
    s.max_record_bytes, s.idempotency_key_lifetime, m.events, m.bytes, s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    q.open_slot, q.closed_slot, q.metered_through,
    b.last_value - q.metered_through + p_requests - 1
  into
    v_state.is_provisioned, v_state.takes_to, v_state.future_limit, v_state.batch_max_events,
    v_state.batch_max_bytes, v_state.max_record_bytes, v_state.idempotency_key_lifetime,
    v_state.events, v_state.bytes,
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant, which packs the pages of the primary key, in the order that is cheapest to
  -- make; cast, so that what breaks a rule fails here.
  if not logloom_private.is_spread() then
    execute logloom_private.added_records_sql(format(
      $query$
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, arrival,
          level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
          e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
          e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          offset 0
        ) q,
          unnest(
            q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs,
            q.record_bytes
          ) with ordinality e (
            ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes, i
          )
        where e.i between $3 and $4
        order by q.tenant_id collate "C", ts
      $query$,
      v_slot
    ))
    using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
    return;
  end if;
  -- One connection a node, not one a shard: each run's are new, and cost more than they save.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- The records first: what Citus copies over a connection that has only read before, it does not
  -- prepare, and a node that is killed while it is told of the commit would lose it. Batches are
  -- put in order, and each event goes straight from its batch to its node, unless the events of
  -- several batches mix: what a search reads in order shall lie in order, page after page.
  execute format(
    $query$
      insert into logloom.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
        e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, unnest(q.level) as level, unnest(q.msg) as msg,
          unnest(q.service) as service, unnest(q.env) as env, unnest(q.req_id) as req_id,
          unnest(q.user_id) as user_id, unnest(q.route) as route, unnest(q.host) as host,
          unnest(q.attrs) as attrs, unnest(q.record_bytes) as record_bytes
        from (
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          order by b.tenant_id collate "C", b.ts_min
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      %s
    $query$,
    v_slot,
    case
      when logloom_private.has_batches_that_overlap(p_slot, p_batch_from, p_batch_to)
        then 'order by e.tenant_id collate "C", coalesce(e.ts, e.received_at)'
      else ''
    end
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
  perform logloom_private.note_spread_range(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.measured_events (
  p_tenant_id   text,
  p_received_at timestamp with time zone,
  p_request     logloom_private.ingest_request,
  OUT           record_bytes integer[],
  OUT           longest integer,
  OUT           ts_min timestamp with time zone,
  OUT           ts_max timestamp with time zone
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_bare constant integer := logloom_private.bare_record_bytes(p_tenant_id, p_received_at);
begin
  -- In one pass over the events. As JSON a time has two quotes more than as a text, and the zone's
  -- minutes; eight texts in one have two quotes, and each of them its own, or is null.
  select array_agg(m.bytes), max(m.bytes), min(m.ts), max(m.ts)
  into record_bytes, longest, ts_min, ts_max
  from (
    select
      t.ts,
      v_bare + octet_length(t.ts::text) + 5
        + octet_length(
          to_json(concat(
            t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
          ))::text
        ) + 14 + 2 * num_nulls(
          t.level, t.msg, t.service, t.env, t.req_id, t.user_id, t.route, t.host
        )
        + coalesce(octet_length(t.attrs::text), 4) as bytes
    from (
      select
        coalesce(e.ts, p_received_at) as ts, e.level, e.msg, e.service, e.env, e.req_id,
        e.user_id, e.route, e.host, e.attrs
      from (
        select
          unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
          unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
          unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
          unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
          unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
      ) e
    ) t
    -- Made once an event, not once for each of what is asked of it.
    offset 0
  ) m;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.notifications_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations, and see notification_preferences of the tenant.',
      '`test_alert_rule`: no destination, or the tenant''s preferences refuse it.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id of list_alert_deliveries.', 'No such `delivery_id` in this tenant.'),
    ('notifications.delivery_arrived', 400, 'The delivery arrived already',
      'test_alert_rule sends another notification.',
      '`retry_alert_delivery`: there is nothing to send again.'),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.', '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'An address that no alert rule has any more makes room; or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`. One that no '
        'rule has makes room.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code as the mail has it, as a text.',
      '`confirm_alert_address`: as the mail has it, as a text.'),
    ('notifications.no_code_is_good', 400, 'No code is good for this address',
      'test_alert_rule mails a new one to the address of a rule.',
      'None was mailed to it, or it lapsed: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new one to the address of the rule.',
      'Five wrong tries: `test_alert_rule` mails a new one.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'The last one that was mailed is good, for five tries.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new one.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new one.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it by the code that was mailed to it; test_alert_rule mails a new one.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests in an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'acknowledge_alert',
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_tenant_usage',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_tenant_audit_events',
    'list_log_fields',
    'list_tenant_members',
    'list_alert_addresses',
    'list_log_retention_runs',
    'list_saved_searches',
    'log_histogram',
    'log_series',
    'log_stats',
    'preview_alert_rule',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'rotate_api_key',
    'rotate_alert_webhook_secret',
    'run_saved_search',
    'run_writer',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_attrs_sql (
  p_leaf  jsonb,
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text := '';
  v_number text;
begin
  if p_leaf ->> 'test' = 'exists' then
    return p_value || ' <> ''null''';
  elsif p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
      v_sql := v_sql || case when v_at > 0 then ' or ' else '' end
        || logloom_private.query_attr_equal_sql(p_value, p_leaf -> 'values' ->> v_at);
    end loop;
    return v_sql;
  elsif p_leaf ->> 'test' = 'range' and p_leaf ? 'unit' then
    return logloom_private.query_bounds_sql(
      p_leaf,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_leaf ->> 'unit') || ')',
      '::numeric'
    );
  elsif p_leaf ->> 'test' = 'range' then
    -- jsonb orders types before values, so the type comes first.
    v_number := 'logloom_private.written_number(' || p_value || ' #>> ''{}'')';
    return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
      || coalesce(logloom_private.query_bounds_sql(p_leaf, p_value), 'true')
      || ' when ''string'' then '
      || coalesce(
        logloom_private.query_bounds_sql(p_leaf, v_number, '::numeric'), v_number || ' is not null'
      )
      || ' end';
  end if;
  return logloom_private.query_any_text_sql(
    p_value, logloom_private.query_text_test(p_leaf)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replay_dead_letters (
  p_limit integer DEFAULT 1000
)
  RETURNS logloom_private.replay_result
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_letter logloom_private.dead_letters;
  v_arrival bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- The writer's lock: arrival must stay in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_arrival := nextval('logloom_private.arrival');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, arrival,
            level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2,
            ($1).level::logloom_private.log_level, ($1).msg, ($1).service, ($1).env,
            ($1).req_id, ($1).user_id, ($1).route, ($1).host,
            ($1).attrs::logloom_private.log_attrs,
            -- Anew: who mends a letter may have changed it.
            logloom_private.bytes_of_record(row(
              ($1).ts, ($1).received_at, $2, ($1).id, ($1).tenant_id, ($1).level, ($1).msg,
              ($1).service, ($1).env, ($1).req_id, ($1).user_id, ($1).route, ($1).host,
              ($1).attrs, null
            )::logloom.logs)
        $query$
      )
      using v_letter, v_arrival;
      delete from logloom_private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not logloom_private.is_data_error(sqlstate) then
        raise;
      end if;
      update logloom_private.dead_letters d
      set attempts = d.attempts + 1,
        failed_at = clock_timestamp(),
        error_code = sqlstate,
        error_message = sqlerrm
      where d.id = v_letter.id;
      v_result.failed := v_result.failed + 1;
    end;
  end loop;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_confirmation (
  p_rule      logloom.alert_rules,
  p_is_repeat boolean
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_address constant text := logloom_private.channel_address('email', p_rule.notification_config);
  v_mailbox constant text := lower(v_address);
  v_settings logloom_private.settings;
  v_codes integer;
  v_codes_for_address integer;
  v_last_at timestamptz;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select s.* into v_settings from logloom_private.settings s;
  select
    count(*), count(*) filter (where lower(n.address) = v_mailbox),
    max(n.created_at) filter (where lower(n.address) = v_mailbox)
  into v_codes, v_codes_for_address, v_last_at
  from logloom_private.notifications n
  where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
    and n.created_at > now() - v_settings.confirmation_lifetime;
  -- One code for all rules with the address; another one is for who asks for it.
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation' and n.status = 'pending'
      and n.created_at > now() - v_settings.confirmation_lifetime
      and lower(n.address) = v_mailbox
  ) or not p_is_repeat and exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
      and a.code_expires_at > now() and a.tries < v_settings.confirmation_tries
  ) or v_last_at > now() - v_settings.confirmation_interval then
    return 'The address is not confirmed: confirm_alert_address takes the code that is '
      'mailed to it';
  elsif v_codes >= v_settings.confirmation_codes_per_tenant
    or v_codes_for_address >= v_settings.confirmation_codes_per_address
  then
    return 'The address is not confirmed, and enough codes were mailed for today';
  end if;
  -- The code itself is made when the mail is.
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + v_settings.notification_lifetime
  );
  return 'The address is not confirmed: confirm_alert_address takes the code that is '
    'mailed to it';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_records (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_fields    text[],
  p_keys      text[]
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_batch_received_at timestamptz[] := p_chunk.batch_received_at;
  v_batch_arrivals bigint[] := p_chunk.batch_arrivals;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_services text[];
  v_levels text[];
  v_messages text[];
  v_texts text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes integer[];
  v_attributes jsonb[];
  v_column logloom_private.sealed_columns;
  v_lower integer;
  v_upper integer;
begin
  if v_records = 0 then
    return;
  end if;
  if p_fields is null or 'ts' = any(p_fields) then
    v_ts := logloom_private.chunk_times(p_chunk, p_positions);
  end if;
  if p_fields is null or p_fields && array['id', 'received_at', 'arrival'] then
    v_batches := logloom_private.chunk_batches(p_chunk, p_positions);
    v_ids := logloom_private.chunk_ids(p_chunk, p_positions, v_batches);
  end if;
  if p_fields is null or p_fields && array['service', 'level'] then
    if p_positions is null then
      v_services := logloom_private.section_texts(p_chunk, p_chunk.section_services);
      v_levels := logloom_private.section_texts(p_chunk, p_chunk.section_levels);
    else
      with s as (
        select
          array_agg(x.start order by x.n) as starts
        from (
          select u.n, sum(u.records) over (order by u.n) - u.records + 1 as start
          from unnest(p_chunk.section_records) with ordinality u (records, n)
        ) x
      )
      select
        array_agg((p_chunk.section_services)[width_bucket(p.position, s.starts)] order by p.n),
        array_agg((p_chunk.section_levels)[width_bucket(p.position, s.starts)] order by p.n)
      into v_services, v_levels
      from unnest(p_positions) with ordinality p (position, n), s;
    end if;
  end if;
  if p_fields is null or 'msg' = any(p_fields) then
    v_messages := logloom_private.chunk_messages(p_chunk, p_positions);
  end if;
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name in ('env', 'req_id', 'user_id', 'route', 'host', 'record_bytes')
      and (p_fields is null or c.name = any(p_fields))
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
    end if;
    continue when v_lower > v_upper;
    v_texts := array_fill(null::text, array[v_lower - 1])
      || logloom_private.column_texts(
        v_column, case when p_positions is not null then p_positions[v_lower:v_upper] end
      );
    case v_column.name
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts::integer[];
    end case;
  end loop;
  if p_fields is null or 'attrs' = any(p_fields) then
    v_attributes := logloom_private.chunk_attributes(p_chunk, p_positions, p_keys);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_arrivals[r.batch], r.id, p_chunk.tenant_id,
    r.level, r.msg, r.service, r.env, r.req_id, r.user_id, r.route, r.host, r.attrs,
    r.record_bytes
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids, v_levels, v_messages, v_services, v_env, v_req_id, v_user_id, v_route,
    v_host, v_attributes, v_record_bytes
  ) with ordinality r (
    one, ts, batch, id, level, msg, service, env, req_id, user_id, route, host, attrs,
    record_bytes, n
  )
  order by r.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    return;
  end if;
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-notify answered %', v_status;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'claim_alert_notifications',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'run_writer',
    'settle_alert_notification'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.short_number (
  p_number numeric
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number constant numeric := trim_scale(p_number);
  v_text constant text := v_number::text;
  v_whole text;
  v_digits text;
  v_exponent integer;
begin
  if octet_length(v_text) <= 40 then
    return to_jsonb(v_number);
  end if;
  v_whole := ltrim(split_part(v_text, '.', 1), '-0');
  v_digits := ltrim(v_whole || split_part(v_text, '.', 2), '0');
  v_exponent := case
    when v_whole <> '' then octet_length(v_whole)
    else octet_length(v_digits) - octet_length(split_part(v_text, '.', 2))
  end - 1;
  v_digits := rtrim(v_digits, '0');
  v_digits := case when v_number < 0 then '-' else '' end || left(v_digits, 1)
    || case when octet_length(v_digits) > 1 then '.' || substr(v_digits, 2) else '' end
    || case when v_exponent < 0 then 'e' else 'e+' end || v_exponent;
  return case when octet_length(v_digits) < octet_length(v_text) then to_jsonb(v_digits)
    else to_jsonb(v_number) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: member, admin or owner',
      'docs/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'Nobody of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They belong to the tenant already',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner stays an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'Somebody has to be.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You belong to a tenant already',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant is made by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users do not make tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again when nothing of it is left.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unconfirmed_address()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'The address is not confirmed: confirm_alert_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.usage_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the greatest retention_days.', 'The plan limits `retention_days`.'),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Leave p_months out for the current month alone.', '`get_tenant_usage`.'),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR does the work of several.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Say ts:* to delete every record of the range.', '`delete_logs`: `ts:*` finds every record.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.written_number (
  p_text text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number numeric;
begin
  if octet_length(p_text) > 300
    or p_text collate "C" !~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?0*[0-9]{1,3}$'
    or not pg_input_is_valid(p_text, 'double precision')
  then
    return null;
  end if;
  v_number := trim_scale(p_text::numeric);
  if octet_length(v_number::text) > greatest(40, octet_length(p_text)) then
    return v_number;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.ingest_logs (
  p_tenant_id       text                       DEFAULT NULL::text,
  p_key_digest      text                       DEFAULT NULL::text,
  p_idempotency_key text                       DEFAULT NULL::text,
  p_body_digest     text                       DEFAULT NULL::text,
  p_bytes           integer                    DEFAULT NULL::integer,
  p_positions       integer[]                  DEFAULT NULL::integer[],
  p_rejected        integer                    DEFAULT NULL::integer,
  p_errors          json                       DEFAULT NULL::json,
  p_ts              timestamp with time zone[] DEFAULT NULL::timestamp WITH time zone[],
  p_level           text[]                     DEFAULT NULL::text[],
  p_msg             text[]                     DEFAULT NULL::text[],
  p_service         text[]                     DEFAULT NULL::text[],
  p_env             text[]                     DEFAULT NULL::text[],
  p_req_id          text[]                     DEFAULT NULL::text[],
  p_user_id         text[]                     DEFAULT NULL::text[],
  p_route           text[]                     DEFAULT NULL::text[],
  p_host            text[]                     DEFAULT NULL::text[],
  p_attrs           jsonb[]                    DEFAULT NULL::jsonb[],
  p_slice           integer                    DEFAULT NULL::integer,
  p_claims          jsonb                      DEFAULT NULL::jsonb,
  p_cut             integer                    DEFAULT NULL::integer
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
declare
  v_request logloom_private.ingest_request;
begin
  v_request.p_tenant_id := p_tenant_id;
  v_request.p_key_digest := p_key_digest;
  v_request.p_idempotency_key := p_idempotency_key;
  v_request.p_body_digest := p_body_digest;
  v_request.p_bytes := p_bytes;
  v_request.p_positions := p_positions;
  v_request.p_rejected := p_rejected;
  v_request.p_errors := p_errors;
  v_request.p_ts := p_ts;
  v_request.p_level := p_level;
  v_request.p_msg := p_msg;
  v_request.p_service := p_service;
  v_request.p_env := p_env;
  v_request.p_req_id := p_req_id;
  v_request.p_user_id := p_user_id;
  v_request.p_route := p_route;
  v_request.p_host := p_host;
  v_request.p_attrs := p_attrs;
  v_request.p_slice := p_slice;
  v_request.p_claims := p_claims;
  v_request.p_cut := p_cut;
  return logloom_private.ingest_one(v_request);
end;
$function$;

REVOKE ALL
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  FROM PUBLIC, "anon", "authenticated";

COMMENT ON COLUMN "logloom"."logs"."record_bytes" IS 'Bytes of the record''s JSON text as operations answer it; null where it came before this column. logloom_private.bytes_of_record says either.';

COMMENT ON COLUMN "logloom_private"."queue"."record_bytes" IS 'How many bytes the JSON text of each event''s record will have.';

COMMENT ON COLUMN "logloom_private"."sealed_columns"."name" IS 'env, req_id, user_id, route, host or record_bytes; attrs. and a key, whose values are JSON texts; or attrs, which holds the keys that are too rare or too long for a column, {} where there are none, and is null where attrs is null.';

COMMENT ON COLUMN "logloom_private"."settings"."dry_runs_kept" IS 'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

COMMENT ON COLUMN "logloom_private"."settings"."max_record_bytes" IS 'Bytes that the JSON text of a record has at most. Of a longer one the function ingest cuts the longest values.';

COMMENT ON FUNCTION "logloom_private"."accepted_answer"(integer, integer, json, integer) IS 'The body of a 200: {success, ingested, rejected, cut, errors}, the last where events were rejected, cut where records were too long to be stored whole.';

COMMENT ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp with time zone) IS 'Bytes of a record''s JSON text without the values of its event, null ones too.';

COMMENT ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) IS 'Bytes of a record''s JSON text: what was measured when it was accepted, and for one of before that was done, measured now, for which it has to be whole.';

COMMENT ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp with time zone[], timestamp
  with time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[]) IS 'Reads a chunk back. LL001 where it differs from the records that it was made of.';

COMMENT ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp with time zone, integer[], timestamp with time zone, timestamp
  with time zone) IS 'Puts one batch into the open slot.';

COMMENT ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text) IS 'Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.';

COMMENT ON FUNCTION "logloom_private"."is_address_of_member"(text, text) IS 'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_tenant_member was given is a label, and proves nothing.';

COMMENT ON FUNCTION "logloom_private"."measured_events"(text, timestamp with time zone, logloom_private.ingest_request) IS 'Of each event how many bytes the JSON text of its record will have, the most of them, and between which times they happened: p_received_at where they do not say it.';

COMMENT ON FUNCTION "logloom_private"."send_notifications"() IS 'Wakes the edge function logloom-notify when something is due.';

COMMENT ON FUNCTION "logloom_private"."short_number"(numeric) IS 'A number of an extracted JSON text as a record has it: the number, or, where that would be written out too long, its text with an exponent.';

COMMENT ON FUNCTION "logloom_private"."written_number"(text) IS 'The value of a number that is stored as its text, since written out it would be longer than that and than 40 letters; null for any other text.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One that is not settled in time is due again. Errors: PT400.';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), dead letters included. With p_dry_run (default true) nothing is deleted: records says how many match. Else a job deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for a dry run too many searches running).';

COMMENT ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
  with time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer) IS 'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. Events are parallel arrays; p_ts is of full length, null where missing; without p_ts the call only authenticates and tells the limits. p_positions: index in the request of each event, null when nothing was rejected before; p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is committed in several calls with one idempotency key. p_cut: events of which a part was cut off, since the record would be longer than max_record_bytes. Returns the answer to the client {success, ingested, rejected, cut, errors}. Errors: PT401, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of the watermark.';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

REVOKE ALL ON FUNCTION "logloom_private"."accepted_answer"(integer, integer, json, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
    WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[])
  FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp WITH time zone, integer[], timestamp WITH time zone, timestamp WITH time zone)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."measured_events"(text, timestamp WITH time zone, logloom_private.ingest_request) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."short_number"(numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."written_number"(text) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  FROM "postgres";

GRANT EXECUTE
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  TO "postgres";

GRANT EXECUTE
  ON FUNCTION "public"."ingest_logs"(text, text, text, text, integer, integer[], integer, json, timestamp
    WITH time zone[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb, integer)
  TO "service_role";

select logloom_private.bring_to_nodes();
