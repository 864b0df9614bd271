-- Requests, small searches, sealing and pages of sealed records with less work. Functions only:
-- records and chunks stay as they are, and the writer goes on.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."answer_headers"();

DROP FUNCTION "logloom_private"."check_batch_size"(logloom_private.ingest_request, logloom_private.settings);

DROP FUNCTION "logloom_private"."check_quota"(text, logloom.plans, integer);

DROP FUNCTION "logloom_private"."check_rate"(text, logloom.plans);

DROP FUNCTION "logloom_private"."codes_of"(text[], text[]);

DROP FUNCTION "logloom_private"."filter_in_turns"(jsonb);

DROP FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone, text, integer, text, timestamp
  WITH time zone, uuid, text);

DROP FUNCTION "logloom_private"."ingest"(logloom_private.ingest_request);

DROP FUNCTION "logloom_private"."ingest_headers"();

DROP FUNCTION "logloom_private"."limit_headers"(bigint, bigint, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid, boolean);

DROP FUNCTION "logloom_private"."narrow_codes"(logloom_private.sealed_columns);

DROP FUNCTION "logloom_private"."note_answer"(text, text, bytea, interval, integer, json);

DROP FUNCTION "logloom_private"."queue_is_full"();

DROP FUNCTION "logloom_private"."refuse_full_queue"();

DROP FUNCTION "logloom_private"."refuse_rate"(text, integer, double precision);

DROP FUNCTION "logloom_private"."reject_events_out_of_range"(logloom_private.ingest_request, text, timestamp WITH time zone, timestamp WITH time zone, interval);

DROP FUNCTION "logloom_private"."repeated_answer"(text, text, bytea, interval, integer);

DROP FUNCTION "logloom_private"."take_rate"(text, logloom.plans, integer);

DROP FUNCTION "logloom_private"."writer_is_silent"();

CREATE TYPE "logloom_private"."ingest_answer" AS (
  "body"     json,
  "headers"  jsonb,
  "ingested" integer
);

CREATE TYPE "logloom_private"."ingest_state" AS (
  "tenant_id"                text,
  "key_id"                   uuid,
  "plan"                     logloom.plans,
  "is_provisioned"           boolean,
  "keeps_from"               timestamp WITH time zone,
  "takes_to"                 timestamp WITH time zone,
  "future_limit"             interval,
  "batch_max_events"         integer,
  "batch_max_bytes"          integer,
  "idempotency_key_lifetime" interval,
  "month_end"                timestamp WITH time zone,
  "events"                   bigint,
  "bytes"                    bigint,
  "queue_is_full"            boolean,
  "headers"                  jsonb
);

CREATE OR REPLACE FUNCTION logloom_private.attribute_texts (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys      text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_column logloom_private.sealed_columns;
  v_values logloom_private.column_values[] := '{}';
  v_bounds integer[] := array[1, v_records + 1];
  v_from integer[] := '{}';
  v_to integer[] := '{}';
  v_names text[] := '{}';
  v_within integer[];
  v_lower integer;
  v_upper integer;
  v_rest boolean;
  v_rest_is_empty boolean := false;
  v_arrays text;
  v_names_sql text;
  v_sql text;
  v_part text[];
  v_texts text[] := '{}';
begin
  -- The columns, and which of the wanted records each covers.
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and (
        c.name = 'attrs'
        or left(c.name, 6) = 'attrs.' and (p_keys is null or substr(c.name, 7) = any(p_keys))
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    v_within := null;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      v_within := p_positions[v_lower:v_upper];
    end if;
    continue when v_lower > v_upper;
    v_from := v_from || v_lower;
    v_to := v_to || v_upper;
    v_names := v_names || v_column.name;
    v_rest_is_empty := v_rest_is_empty or (
      v_column.name = 'attrs' and v_column.codes is null and v_column.wide_codes is null
      and v_column.dictionary = array['{}']
    );
    v_bounds := v_bounds || v_lower || (v_upper + 1);
    v_values := v_values || row(
      logloom_private.column_texts(v_column, v_within)
    )::logloom_private.column_values;
  end loop;

  -- A statement made for these columns has to be planned, which takes as long as many records.
  if v_records <= 400 and p_positions is not null then
    return array(
      select
        case
          when bool_or(p.is_rest)
            then '{' || coalesce(string_agg(p.text, ', '), '') || '}'
        end
      from generate_series(1, v_records) r (n)
      left join (
        select
          c.key is null as is_rest, c.first + t.n - 1 as n,
          case when c.key is null then nullif(substr(t.text, 2, length(t.text) - 2), '')
            else c.key || t.text end as text
        from (
          select
            v.texts, v_from[v.n] as first,
            case when v_names[v.n] <> 'attrs'
              then to_json(substr(v_names[v.n], 7)) || ': ' end as key
          from unnest(v_values) with ordinality v (texts, n)
          offset 0
        ) c
        cross join lateral unnest(c.texts) with ordinality t (text, n)
        where t.text is not null
      ) p on p.n = r.n
      group by r.n
      order by r.n
    );
  end if;

  -- Between two bounds the same columns cover all records.
  v_bounds := array(select distinct b from unnest(v_bounds) b order by b);
  for v_at in 1..cardinality(v_bounds) - 1 loop
    v_lower := v_bounds[v_at];
    v_upper := v_bounds[v_at + 1] - 1;
    v_rest := false;
    v_arrays := '';
    v_names_sql := '';
    v_sql := '';
    for v_name in 1..cardinality(v_names) loop
      continue when v_from[v_name] > v_lower or v_to[v_name] < v_upper;
      v_arrays := v_arrays || format(
        ', unnest((($1)[%1$s]).texts[%2$s:%3$s]) as c%1$s',
        v_name, v_lower - v_from[v_name] + 1, v_upper - v_from[v_name] + 1
      );
      v_names_sql := v_names_sql || ', c' || v_name;
      if v_names[v_name] = 'attrs' then
        v_rest := true;
        v_sql := v_sql || format(', nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', v_name);
      else
        v_sql := v_sql || format(
          ', %L || c%s', to_json(substr(v_names[v_name], 7)) || ': ', v_name
        );
      end if;
    end loop;
    if not v_rest then
      -- No record of these has attributes.
      v_part := array_fill(null::text, array[v_upper - v_lower + 1]);
    elsif v_rest_is_empty and v_names_sql = ', c' || array_position(v_names, 'attrs') then
      -- All have the same, which is nothing.
      v_part := array_fill('{}'::text, array[v_upper - v_lower + 1]);
    else
      execute format(
        $query$
          select array(
            select
              case when u.c%s is not null then '{' || concat_ws(', ' %s) || '}' end
            from (select %s) u
          )
        $query$,
        array_position(v_names, 'attrs'), v_sql, substr(v_arrays, 3)
      )
      into v_part
      using v_values;
    end if;
    v_texts := v_texts || v_part;
  end loop;
  return v_texts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.carry_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
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
      || 'set search_path = '''' as ''begin end''',
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

CREATE OR REPLACE FUNCTION logloom_private.check_quota (
  p_state logloom_private.ingest_state
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_error text;
  v_limit bigint;
begin
  if p_state.events >= v_plan.monthly_events_limit then
    v_error := 'ingest.monthly_events_are_used_up';
    v_limit := v_plan.monthly_events_limit;
  elsif p_state.bytes >= v_plan.monthly_bytes_limit then
    v_error := 'ingest.monthly_bytes_are_used_up';
    v_limit := v_plan.monthly_bytes_limit;
  else
    return;
  end if;
  perform logloom_private.refuse_with_headers(
    logloom_private.limit_headers(p_state, v_limit, p_state.month_end)
    || jsonb_build_object('Retry-After', logloom_private.seconds_until(p_state.month_end)),
    v_error,
    v_limit::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_rate (
  p_state logloom_private.ingest_state
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_now constant timestamptz := clock_timestamp();
  v_plan constant logloom.plans := p_state.plan;
  v_bucket logloom_private.rate_buckets;
  v_tokens double precision;
begin
  -- Read without a lock: a request that is refused here holds nobody up and writes nothing.
  select b.* into v_bucket
  from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id;
  if not found then
    return;
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.requests, v_bucket.filled_at, v_plan.requests_per_second, v_plan.requests_burst, v_now
  );
  if v_plan.requests_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      p_state, 'ingest.too_many_requests', v_plan.requests_per_second, v_tokens
    );
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.events, v_bucket.filled_at, v_plan.events_per_second, v_plan.events_burst, v_now
  );
  if v_plan.events_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      p_state, 'ingest.too_many_events', v_plan.events_per_second, v_tokens
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_attributes (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys      text[]
)
  RETURNS jsonb[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  AS $function$
begin
  return logloom_private.attribute_texts(p_chunk, p_positions, p_keys)::jsonb[];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.coded_column (
  p_column logloom_private.sealed_columns,
  p_values text[]
)
  RETURNS logloom_private.sealed_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  v_dictionary constant text[] := p_column.dictionary;
begin
  if cardinality(v_dictionary) = 1 and array_position(p_values, null) is null then
    return p_column;
  elsif cardinality(v_dictionary) <= 256 then
    p_column.codes := array(
      select (d.code::integer - 129)::"char"
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  else
    p_column.wide_codes := array(
      select d.code::smallint
      from (select unnest(p_values) as v, generate_series(1, cardinality(p_values)) as n) u
      left join unnest(v_dictionary) with ordinality d (v, code) on d.v = u.v
      order by u.n
    );
  end if;
  return p_column;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_texts (
  p_column    logloom_private.sealed_columns,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_wide_numbers bigint[] := p_column.wide_numbers;
  v_texts text[];
begin
  if p_column.kind = 'texts' then
    v_texts := p_column.texts;
    if p_positions is null then
      return v_texts;
    end if;
    return logloom_private.texts_at(
      v_texts, array(select p - v_first from unnest(p_positions) p)
    );
  elsif p_column.kind = 'numbers' and p_positions is null then
    return coalesce(v_numbers::text[], v_wide_numbers::text[]);
  elsif p_column.kind = 'numbers' then
    return array(
      select coalesce(v_numbers[p.position - v_first], v_wide_numbers[p.position - v_first])::text
      from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  elsif p_column.kind = 'masked' then
    return logloom_private.masked_texts(p_column, p_positions);
  elsif v_codes is null and v_wide_codes is null then
    return array_fill(
      v_dictionary[1], array[coalesce(cardinality(p_positions), p_column.last - v_first)]
    );
  elsif v_codes is not null and p_positions is null then
    return array(select v_dictionary[unnest(v_codes)::integer + 129]);
  elsif p_positions is null then
    return array(select v_dictionary[unnest(v_wide_codes)]);
  end if;
  return array(
    select v_dictionary[coalesce(
      v_codes[p.position - v_first]::integer + 129, v_wide_codes[p.position - v_first]
    )]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compare_chunk (
  p_tenant_id   text,
  p_chunk_id    bigint,
  p_ts          timestamp with time zone[],
  p_received_at timestamp with time zone[],
  p_arrivals    bigint[],
  p_ids         uuid[],
  p_levels      text[],
  p_messages    text[],
  p_services    text[],
  p_env         text[],
  p_req_id      text[],
  p_user_id     text[],
  p_route       text[],
  p_host        text[],
  p_attrs       jsonb[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
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

CREATE OR REPLACE FUNCTION logloom_private.enable_citus (
  p_shards integer DEFAULT 32
)
  RETURNS text[]
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO ''
  SET client_min_messages TO 'warning'
  AS $function$
-- definer because a table is distributed by its owner, whoever of the operators calls this
declare
  v_state constant text := format(
    'select column_to_column_name(p.logicalrelid, p.partkey), c.shardcount, c.colocationid '
      || 'from %s p join %s c on c.colocationid = p.colocationid '
      || 'where p.logicalrelid = $1::regclass',
    to_regclass('pg_catalog.pg_dist_partition'), to_regclass('pg_catalog.pg_dist_colocation')
  );
  v_table text;
  v_column text;
  v_shards integer;
  v_colocation integer;
  v_first_colocation integer;
  v_distributed text[] := '{}';
begin
  perform logloom_private.refuse_unfit_for_citus();
  if p_shards is null or p_shards not between 1 and 1024 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = 'Invalid p_shards: 1 to 1024',
      hint = 'Each day has a table a shard: two to four shards a worker that there may ever be '
        'are enough.';
  end if;
  -- Requests go on into the queue meanwhile.
  perform logloom_private.hold_writers();
  perform logloom_private.lock_partitions();
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  -- Where records are spread no count is packed.
  if not logloom_private.is_spread() then
    insert into logloom_private.log_counts
      (tenant_id, minute, events, is_other, level, service, is_delta)
    select p.tenant_id, c.minute, c.events, c.is_other, c.level, c.service, false
    from logloom_private.packed_counts p, logloom_private.unpacked_counts(p) c;
    delete from logloom_private.packed_counts p where true;
  end if;
  -- One statement after another: each over the connections of the one before.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  foreach v_table in array logloom_private.spread_tables() loop
    v_shards := null;
    execute v_state into v_column, v_shards, v_colocation using v_table;
    if v_shards is null then
      execute format(
        'select %s(%L, ''tenant_id'', colocate_with => $1, '
          || 'shard_count => case when $1 = ''none'' then $2 end)',
        to_regproc('create_distributed_table'), v_table
      )
      using case when v_first_colocation is null then 'none' else 'logloom.logs' end, p_shards;
      execute v_state into v_column, v_shards, v_colocation using v_table;
      v_distributed := v_distributed || v_table;
    elsif v_column <> 'tenant_id' then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, by %s', v_table, v_column),
        hint = 'undistribute_table brings it back to one table; then try again.';
    elsif v_shards <> p_shards then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, over %s shards', v_table, v_shards),
        hint = 'alter_distributed_table, with cascade_to_colocated, changes their number.';
    end if;
    v_first_colocation := coalesce(v_first_colocation, v_colocation);
    if v_colocation <> v_first_colocation then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, apart from logloom.logs', v_table),
        hint = 'update_distributed_table_colocation brings them together.';
    end if;
  end loop;
  perform logloom_private.carry_to_nodes();
  perform logloom_private.keep_snapshots();
  perform logloom_private.spare_transactions();
  -- A search's functions read, on the node where they run, more of the same tenant.
  execute format(
    'alter role %I set citus.allow_nested_distributed_execution to on', current_user
  );
  return v_distributed;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_column (
  p_name   text,
  p_first  integer,
  p_values text[]
)
  RETURNS logloom_private.sealed_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
declare
  v_column logloom_private.sealed_columns;
  v_encoded logloom_private.sealed_columns;
begin
  v_column.name := p_name;
  v_column.first := p_first;
  v_column.last := p_first + cardinality(p_values) - 1;
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    if p_values[1] is null then
      return null;
    end if;
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;

  select array_agg(g.v), array_agg(g.count)
  into v_column.dictionary, v_column.counts
  from (
    select u.v, count(*)::integer as count
    from (select unnest(p_values) as v) u
    group by u.v
  ) g
  where g.v is not null;
  if cardinality(v_column.dictionary) * 3 <= cardinality(p_values) then
    -- By frequency: only now, since that of many takes long.
    select array_agg(g.v), array_agg(g.count)
    into v_column.dictionary, v_column.counts
    from (
      select u.v, u.count
      from unnest(v_column.dictionary, v_column.counts) u (v, count)
      order by u.count desc, u.v collate "C"
    ) g;
    return logloom_private.coded_column(v_column, p_values);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_masked(v_column, p_values);
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_masked (
  p_column logloom_private.sealed_columns,
  p_values text[]
)
  RETURNS logloom_private.sealed_columns
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  SET work_mem TO '32MB'
  AS $function$
declare
  v_separator constant text := e'\x1f';
  v_null constant text := e'\x1e';
  v_text text := array_to_string(p_values, v_separator);
  v_masks text[];
  v_joined text[];
begin
  if logloom_private.separator_for(array_to_string(p_values, ' ')) <> v_separator
    or strpos(v_text, v_null) > 0
  then
    return null;
  end if;
  -- All in one text: nine calls, not nine a value.
  v_text := array_to_string(p_values, v_separator, v_null);
  v_masks := string_to_array(logloom_private.mask_of(v_text), v_separator, v_null);
  -- A group has its values in the order in which they come.
  select array_agg(g.mask), array_agg(g.count), array_agg(g.joined)
  into p_column.dictionary, p_column.counts, v_joined
  from (
    select u.mask, count(*) as count, string_agg(u.v, v_separator) as joined
    from (select unnest(p_values) as v, unnest(v_masks) as mask) u
    where u.mask is not null
    group by u.mask
    order by count(*) desc, u.mask collate "C"
  ) g;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column := logloom_private.coded_column(p_column, v_masks);
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'masked';
  return p_column;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_times (
  p_chunk logloom_private.sealed_chunks,
  p_ts    timestamp with time zone[]
)
  RETURNS logloom_private.sealed_chunks
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_first constant timestamptz := p_chunk.first_ts;
  v_offsets bigint[];
  v_greatest bigint := logloom_private.microseconds_after(v_first, p_chunk.last_ts);
begin
  select array_agg(o.ts), case when bool_and(o.ts % 1000 = 0) then 1000 else 1 end
  into v_offsets, p_chunk.ts_unit
  from (
    select (date_part('epoch', u.ts - v_first) * 1000000)::bigint as ts
    from (select unnest(p_ts) as ts) u
    offset 0
  ) o;
  v_greatest := v_greatest / p_chunk.ts_unit;
  -- In one pass: each costs as much as what it makes.
  select
    array_agg(((o.ts & 65535) - 32768)::smallint),
    array_agg(((o.ts >> 16 & 255)::integer - 128)::"char") filter (where v_greatest > 65535),
    array_agg(((o.ts >> 24) - 32768)::smallint) filter (where v_greatest > 16777215)
  into p_chunk.ts_low, p_chunk.ts_middle, p_chunk.ts_high
  from (select unnest(v_offsets) / p_chunk.ts_unit as ts offset 0) o;
  return p_chunk;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.filter_in_turns (
  p_tree   jsonb,
  p_filter text  DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_filter constant text := coalesce(p_filter, logloom_private.query_sql(p_tree, 'l'));
  v_quick jsonb;
  v_costly jsonb;
begin
  -- A node knows nothing of the others' locks.
  if logloom_private.is_spread() then
    return v_filter;
  end if;
  select
    jsonb_agg(i.item order by i.n) filter (where i.is_quick),
    jsonb_agg(i.item order by i.n) filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null where a node lacks the member: each item stands on one of the two sides.
      e.item ->> 'type' = 'none' or (
        e.item ->> 'type' = 'leaf'
        and e.item ->> 'field' not in ('attrs', 'any')
        and e.item ->> 'test' in ('equal', 'exists', 'within', 'range')
      ) as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    case
      when v_costly is null then v_filter
      when v_quick is not null
        then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l')
    end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn() then '
      || case
        when v_quick is null then v_filter
        when v_costly is null then 'true'
        else logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_costly), 'l')
      end || ' end'
  ) || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text                           DEFAULT NULL::text,
  p_is_part   boolean                        DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_order constant text := format(
    ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit
  );
  v_rows constant text := case
    when p_is_part then logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => true
    )
    else logloom_private.rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_reads || ' l.ts l.id', p_order, p_limit
    )
  end || v_order;
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from ((select l.* ' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%L, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      p_tenant_id,
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_query.filter, p_limit, p_order, p_ts, p_id, p_reads
    )
    || ') l) l' || v_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid
)
  RETURNS logloom_private.found_page
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_turn from logloom_private.settings s
  );
  v_is_descending constant boolean := p_order = 'desc';
  v_is_spread constant boolean := logloom_private.is_spread();
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_are_parts boolean := true;
  v_part tstzrange;
  v_sql text;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if jsonb_array_length(p_query.plan -> 'rows') > 0 and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
    v_are_parts := false;
  end if;
  foreach v_part in array v_parts loop
    v_sql := logloom_private.log_page_sql(
      p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id,
      v_is_spread and cardinality(v_parts) = 1, v_are_parts
    );
    -- Of a single part nothing is opened after it, and a node would be told of the subtransaction.
    if cardinality(v_parts) = 1 and v_is_spread then
      v_page.logs := array(select f from logloom_private.fetched_records(v_sql) f);
    elsif cardinality(v_parts) = 1 then
      execute 'select array(' || v_sql || ')' into v_page.logs;
    else
      v_page.logs := v_page.logs || logloom_private.read_apart(v_sql);
    end if;
    if cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[p_limit]).ts;
      v_page.last_id := (v_page.logs[p_limit]).id;
      return v_page;
    elsif clock_timestamp() > v_deadline and v_part <> v_parts[cardinality(v_parts)] then
      -- Before or after all records of the parts that are left.
      if v_is_descending then
        v_page.last_ts := lower(v_part);
        v_page.last_id := '00000000-0000-0000-0000-000000000000';
      else
        v_page.last_ts := upper(v_part) - interval '1 microsecond';
        v_page.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      return v_page;
    end if;
  end loop;
  return v_page;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.has_batches_that_overlap (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_overlap boolean;
begin
  execute format(
    $query$
      select exists (
        select
        from (
          select q.ts_min, max(q.ts_max) over (
            partition by q.tenant_id collate "C" order by q.ts_min, q.batch_id
            rows between unbounded preceding and 1 preceding
          ) as ts_before
          from logloom_private.%I q
          where q.batch_id between $1 and $2
        ) b
        where b.ts_min < b.ts_before
      )
    $query$,
    'queue_slot_' || p_slot
  )
  into v_overlap
  using p_batch_from, p_batch_to;
  return v_overlap;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    v_plan.events_per_second is not null or v_plan.requests_per_second is not null;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if p_request.p_ts is null then
    return row(
      json_build_object('authenticated', true), logloom_private.quota_headers(p_state, 0), 0
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
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts) then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := logloom_private.accepted_answer(
    v_answer.ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors
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
    perform logloom_private.enqueue(p_state.tenant_id, p_state.key_id, p_request);
  end if;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_each (
  p_requests json
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO ''
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_requests constant integer := json_array_length(p_requests);
  v_parameters json;
  v_before logloom_private.ingest_request;
  v_request logloom_private.ingest_request;
  v_state logloom_private.ingest_state;
  v_accepted logloom_private.ingest_answer;
  v_answer json;
  v_answers json[] := '{}';
  v_sqlstate text;
  v_detail text;
begin
  for v_parameters in select e.value from json_array_elements(p_requests) e loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      v_request := json_populate_record(null::logloom_private.ingest_request, v_parameters);
      if v_state is null
        or v_request.p_key_digest is distinct from v_before.p_key_digest
        or v_request.p_tenant_id is distinct from v_before.p_tenant_id
        or v_request.p_claims is distinct from v_before.p_claims
      then
        v_state := logloom_private.ingest_state(v_request, v_requests);
        v_before := v_request;
      end if;
      v_accepted := logloom_private.ingest(v_request, v_state);
      v_state.events := v_state.events + v_accepted.ingested;
      if v_accepted.ingested > 0 then
        v_state.bytes := v_state.bytes + coalesce(v_request.p_bytes, 0);
      end if;
      v_answer := json_build_object(
        'status', 200, 'headers', v_accepted.headers, 'body', v_accepted.body::text
      );
    exception when others then
      get stacked diagnostics v_sqlstate = returned_sqlstate, v_detail = pg_exception_detail;
      -- The note that the key was used went with what was refused.
      if v_request.p_key_digest is not null then
        v_state := null;
      end if;
      v_answer := case
        when v_sqlstate = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_sqlstate like 'PT%' then json_build_object(
          'status', substr(v_sqlstate, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', sqlerrm)::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  perform set_config('response.headers', '[]', true);
  return array_to_json(v_answers);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_one (
  p_request logloom_private.ingest_request
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO ''
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_answer constant logloom_private.ingest_answer := logloom_private.ingest(
    p_request, logloom_private.ingest_state(p_request, 1)
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_state (
  p_request  logloom_private.ingest_request,
  p_requests integer
)
  RETURNS logloom_private.ingest_state
  LANGUAGE plpgsql
  SET search_path TO ''
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
    s.idempotency_key_lifetime, m.events, m.bytes, s.queue_hard_limit_bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    q.open_slot, q.closed_slot, q.metered_through,
    b.last_value - q.metered_through + p_requests - 1
  into
    v_state.is_provisioned, v_state.takes_to, v_state.future_limit, v_state.batch_max_events,
    v_state.batch_max_bytes, v_state.idempotency_key_lifetime, v_state.events, v_state.bytes,
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
  SET search_path TO ''
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
          level, msg, service, env, req_id, user_id, route, host, attrs
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
          e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
          e.route, e.host, e.attrs::logloom_private.log_attrs
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          offset 0
        ) q,
          unnest(
            q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs
          ) with ordinality e (
            ts, level, msg, service, env, req_id, user_id, route, host, attrs, i
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
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
        e.route, e.host, e.attrs::logloom_private.log_attrs
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, unnest(q.level) as level, unnest(q.msg) as msg,
          unnest(q.service) as service, unnest(q.env) as env, unnest(q.req_id) as req_id,
          unnest(q.user_id) as user_id, unnest(q.route) as route, unnest(q.host) as host,
          unnest(q.attrs) as attrs
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

CREATE OR REPLACE FUNCTION logloom_private.is_spread()
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return false;
  end if;
  -- By the trigger that Citus gives each table that it spreads. To ask its own table, which may not
  -- be there, takes a statement that is planned anew each time: twice as much.
  return exists (
    select
    from pg_catalog.pg_trigger t
    where t.tgrelid = 'logloom.logs'::regclass
      and t.tgfoid = to_regproc('pg_catalog.citus_truncate_trigger')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.kept_since (
  p_tenant_id text,
  p_from      timestamp with time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  return greatest(p_from, logloom_private.kept_from(p_tenant_id));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.limit_headers (
  p_state    logloom_private.ingest_state,
  p_limit    bigint,
  p_reset_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  return p_state.headers || jsonb_build_object(
    'X-RateLimit-Limit', p_limit::text,
    'X-RateLimit-Remaining', '0',
    'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_page_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone       DEFAULT NULL::timestamp WITH time zone,
  p_id        uuid                           DEFAULT NULL::uuid,
  p_by_column boolean                        DEFAULT false,
  p_is_part   boolean                        DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_columns constant text := logloom_private.shown_columns_sql(p_query.plan -> 'fields');
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
  v_is_staged constant boolean := coalesce(jsonb_array_length(p_query.plan -> 'rows') > 0, false);
  v_reads integer := p_limit;
  v_rows text;
begin
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  -- A filter after an extraction lets only some through.
  if v_is_staged and p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
    v_reads := (select s.search_stage_records from logloom_private.settings s) + 1;
  end if;
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, v_from, v_to, v_filter, v_reads, p_order, p_ts, p_id,
    p_is_part => p_is_part
  );
  if v_is_staged then
    v_rows := logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
      || format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  end if;
  return 'select ' || case
    when p_by_column then v_columns else 'row(' || v_columns || ')::public.logloom_log_record'
  end || ' ' || v_rows;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_within (
  p_tenant_id text,
  p_window    tstzrange,
  p_id        uuid,
  p_rows      boolean,
  p_sealed    boolean
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || ' ' || logloom_private.tenant_rows_sql(
        p_tenant_id, lower(p_window), upper(p_window), format('l.id = %L::uuid limit 1', p_id)
      )
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || format(
        ' from logloom_private.sealed_log(%L, %L, %L, %L) l limit 1',
        p_tenant_id, logloom_private.kept_since(p_tenant_id, lower(p_window)),
        upper(p_window), p_id
      )
    );
  end if;
  return v_logs[1];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_answer (
  p_state           logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest     bytea,
  p_slice           integer,
  p_response        json
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_noted constant json := case
    when p_slice is null then p_response
    else json_build_object(p_slice::text, p_response::jsonb - 'errors')
  end;
begin
  -- A second request with this key waits here for the first one's commit.
  insert
    into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
  values (p_state.tenant_id, p_idempotency_key, p_body_digest, v_noted)
  on conflict (tenant_id, idempotency_key) do update
  set
    body_digest = excluded.body_digest,
    response = case
      when k.created_at < now() - p_state.idempotency_key_lifetime then excluded.response
      else (k.response::jsonb || excluded.response::jsonb)::json
    end,
    created_at = case
      when k.created_at < now() - p_state.idempotency_key_lifetime then now()
      else k.created_at
    end
  where k.created_at < now() - p_state.idempotency_key_lifetime
    or (
      p_slice is not null
      and k.body_digest = excluded.body_digest
      and k.response -> p_slice::text is null
    );
  if found then
    return null;
  end if;
  return logloom_private.repeated_answer(p_state, p_idempotency_key, p_body_digest, p_slice);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numbers_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_key       text
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_exact constant boolean := jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_doubles constant boolean := jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction != null)'
  );
  v_number constant text := format('logloom_private.json_number(l.attrs -> %L)', p_key);
  v_rows_from constant timestamptz := logloom_private.first_rows(p_tenant_id, p_from, p_to);
  v_sql text := format(
    'select s.service, s.level, s.events, s.numbers, s.doubles '
      || 'from logloom_private.sealed_numbers(%L, %L, %L, %L, %L, %L, %L, %L) s',
    p_tenant_id, logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree,
    p_query.filter, p_key, v_exact, v_doubles
  );
begin
  if v_rows_from < p_to then
    v_sql := v_sql || ' union all select l.service, l.level, 1, '
      || case when v_exact then format('array[%s]', v_number) else 'null' end || ', '
      || case when v_doubles then format('array[logloom_private.finite_double(%s)]', v_number)
        else 'null' end
      || ' '
      || logloom_private.rows_sql(
        p_tenant_id, v_rows_from, p_to, p_query.filter, 'l.service l.level ' || v_number
      );
  end if;
  return (
    'from (select s.service, s.level, unnest(array[s.events]) as records'
      || case when v_exact then ', unnest(s.numbers) as number' else '' end
      || case when v_doubles then ', unnest(s.doubles) as double' else '' end
      || ' from (' || v_sql || ') s'
      || case when p_query.by_fields = '{}' then ''
        else ' order by s.' || array_to_string(p_query.by_fields, ', s.') end
      || ') l',
    'coalesce(sum(l.records), 0)::double precision', 'l.number', 'l.double'
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_windows (
  p_tenant_id        text,
  p_query_dsl        text,
  p_threshold        double precision,
  p_comparison       text,
  p_window_minutes   integer,
  p_cooldown_minutes integer
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  AS $function$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_query logloom_private.compiled_query;
  v_entry record;
  v_result public.logloom_alert_preview;
  v_last timestamptz;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_query_dsl, true);
  v_query := logloom_private.compile_query(p_query_dsl);
  v_query.filter := logloom_private.filter_in_turns(v_query.tree, v_query.filter);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_result.ts_to := logloom_private.whole_minute(least(now(), logloom_private.watermark()));
  v_result.ts_from := v_result.ts_to - (select s.preview_span from logloom_private.settings s);
  v_result.step_minutes := case
    when cardinality(v_query.by_fields) = 0
      and logloom_private.has_partials(coalesce(v_query.aggregate, 'count')) then 1
    else p_window_minutes
  end;
  if cardinality(v_query.by_fields) > 0 then
    return logloom_private.preview_grouped_rule(
      v_result,
      logloom_private.preview_group_values(
        v_tenant_id, v_query, p_window_minutes, v_result.ts_from, v_result.ts_to
      ),
      p_threshold, p_comparison, make_interval(mins => p_cooldown_minutes)
    );
  end if;
  v_result.alerts := '{}';
  v_result.series := '{}';
  for v_entry in
    select v.window_start, v.window_end, v.value
    from logloom_private.preview_values(
      v_tenant_id, v_query, p_window_minutes, v_result.ts_from, v_result.ts_to
    ) v
    order by v.window_end
  loop
    v_result.series := v_result.series
      || row(v_entry.window_end, v_entry.value)::public.logloom_alert_preview_point;
    if logloom_private.alert_condition_holds(v_entry.value, p_comparison, p_threshold)
      and (
        v_last is null or v_entry.window_end >= v_last + make_interval(mins => p_cooldown_minutes)
      )
    then
      v_last := v_entry.window_end;
      v_result.alerts := v_result.alerts
        || row(v_entry.window_start, v_entry.window_end,
          v_entry.value, null)::public.logloom_alert_preview_entry;
    end if;
  end loop;
  v_result.total_alerts := cardinality(v_result.alerts);
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.queue_is_full (
  p_pointer     logloom_private.queue_pointer,
  p_limit_bytes bigint
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
begin
  -- The size of files, not a count: it costs the same however much is queued. A batch's row is
  -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
  return
    pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p_pointer.open_slot)
    + coalesce(
      pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p_pointer.closed_slot), 0
    ) >= p_limit_bytes / 4096
    and pg_catalog.pg_table_size('logloom_private.queue_slot_' || p_pointer.open_slot)
    + coalesce(
      pg_catalog.pg_table_size('logloom_private.queue_slot_' || p_pointer.closed_slot), 0
    ) >= p_limit_bytes;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.quota_headers (
  p_state  logloom_private.ingest_state,
  p_events integer
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_limit constant bigint := (p_state.plan).monthly_events_limit;
begin
  return p_state.headers || jsonb_build_object(
    'X-RateLimit-Limit', v_limit::text,
    'X-RateLimit-Remaining', greatest(v_limit - p_state.events - p_events, 0)::text,
    'X-RateLimit-Reset', ceil(extract(epoch from p_state.month_end))::bigint::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_reads     text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_rows constant text := logloom_private.rows_sql(
    p_tenant_id, p_from, p_to, p_query.filter, p_reads
  );
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%L, %L, %L, %L, %L, %L',
      p_tenant_id, logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree,
      p_query.filter, p_reads
    )
    || ') l) l where true';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_full_queue (
  p_state logloom_private.ingest_state
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
begin
  perform logloom_private.refuse_with_headers(
    logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
    'ingest.queue_is_full'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_rate (
  p_state  logloom_private.ingest_state,
  p_error  text,
  p_rate   integer,
  p_tokens double precision
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_seconds constant integer := greatest(1, ceil((1 - p_tokens) / p_rate));
begin
  perform logloom_private.refuse_with_headers(
    logloom_private.limit_headers(
      p_state, p_rate, clock_timestamp() + make_interval(secs => v_seconds)
    )
      || logloom_private.rate_hold(p_error, p_rate, p_tokens)
      || jsonb_build_object('Retry-After', v_seconds::text),
    p_error,
    p_rate::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reject_events_out_of_range (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_request
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_ts constant timestamptz[] := p_request.p_ts;
  v_is_kept constant boolean[] := array(
    select e.ts is null or e.ts between p_state.keeps_from and p_state.takes_to
    from unnest(v_ts) with ordinality e (ts, i)
    order by e.i
  );
begin
  p_request.p_errors := (
    select json_agg(n.error order by (n.error ->> 'index')::integer)
    from (
      select u.error
      from (
        select j.error from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
        union all
        select json_build_object(
          'index', coalesce(p_request.p_positions[e.i], e.i - 1),
          'code', 'ts_out_of_range',
          'message', case
            when e.ts > p_state.takes_to
              then format(
                'ts lies more than %s ahead', logloom_private.interval_text(p_state.future_limit)
              )
            else format(
              'ts is older than what is kept: %s days',
              logloom_private.retention_days(p_state.tenant_id)
            )
          end
        )
        from unnest(v_ts, v_is_kept) with ordinality e (ts, is_kept, i)
        where not e.is_kept
      ) u
      order by (u.error ->> 'index')::integer
      limit 100
    ) n
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + (select count(*) from unnest(v_is_kept) e (is_kept) where not e.is_kept);
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
  return p_request;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.repeated_answer (
  p_state           logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest     bytea,
  p_slice           integer
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_known logloom_private.idempotency_keys;
begin
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = p_idempotency_key
    and k.created_at >= now() - p_state.idempotency_key_lifetime;
  if v_known.body_digest <> p_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_sql (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_reads     text,
  p_order     text                     DEFAULT 'desc'::text,
  p_limit     integer                  DEFAULT NULL::integer,
  p_expired   boolean                  DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_from timestamptz := p_from;
begin
  if not p_expired then
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  if logloom_private.opens_many_days(p_tenant_id, v_from, p_to) is not true then
    return logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => p_expired
    );
  end if;
  return 'from logloom_private.rows_in_turn(' || format(
    '%L, %L, %L, %L, %L, %L, %L, %L',
    p_tenant_id, p_from, p_to, p_filter, p_reads, p_order, p_limit, p_expired
  ) || ') l where true';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  return 'select l.level, l.service, l.events from logloom_private.sealed_counts(' || format(
    '%L, %L, %L, %L, %L, %L',
    p_tenant_id, logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree,
    p_query.filter, p_query.by_fields
  ) || ') l';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_page (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_reads     text                     DEFAULT NULL::text
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_shown constant text[] := logloom_private.fields_read(p_reads || ' l.ts l.id');
  v_shown_keys constant text[] := logloom_private.keys_read(p_reads);
  -- Null: all of the range.
  v_candidates constant bigint[] := case
    when logloom_private.needed_leaf(p_tree) is not null
      then array(select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree))
  end;
  v_chunks refcursor;
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_positions integer[];
  v_times timestamptz[];
  v_best timestamptz[] := '{}';
  v_edge timestamptz;
begin
  -- Cursors, which are planned to give the first of many chunks soon.
  if v_is_descending then
    open v_chunks for
      select c.*
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and (v_candidates is null or c.chunk_id = any(v_candidates))
      order by c.last_ts desc;
  else
    open v_chunks for
      select c.*
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
        and (v_candidates is null or c.chunk_id = any(v_candidates))
      order by c.first_ts;
  end if;
  loop
    fetch v_chunks into v_chunk;
    exit when not found;
    -- The page is full, and nothing of this chunk and of those after it can come before its end.
    exit when case when v_is_descending then v_chunk.last_ts < v_edge
      else v_chunk.first_ts > v_edge end;
    -- Null: all of them.
    v_positions := null;
    if p_tree ->> 'type' = 'all' then
      perform logloom_private.take_turn();
    else
      v_bits := logloom_private.chunk_bits(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
      );
      continue when bit_count(v_bits) = 0;
      if bit_count(v_bits) < v_chunk.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    v_positions := logloom_private.first_positions(
      v_chunk, v_positions, p_limit, v_is_descending, p_ts, p_from, p_to
    );
    continue when v_positions = '{}';
    v_times := logloom_private.chunk_times(v_chunk, v_positions);
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    v_best := array(
      select t
      from unnest(v_best || v_times) t
      where p_ts is null or t <> p_ts
      order by
        case when v_is_descending then t end desc,
        case when not v_is_descending then t end
      limit p_limit
    );
    v_edge := v_best[p_limit];
    v_positions := array(
      select p.position
      from unnest(v_positions, v_times) with ordinality p (position, ts, n)
      where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end
      order by p.n
    );
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk, case when cardinality(v_positions) < v_chunk.records then v_positions end,
      v_shown, v_shown_keys
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
  close v_chunks;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_parts (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_order     text,
  p_expired   boolean                  DEFAULT false
)
  RETURNS tstzrange[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days integer;
  v_max_chunks integer;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_chunks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if not p_expired then
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  select s.search_days_at_once, s.search_chunks_at_once into v_max_days, v_max_chunks
  from logloom_private.settings s;
  for v_day in
    select u.day, sum(u.days) as days, sum(u.chunks) as chunks
    from (
      select d.day, 1 as days, 0 as chunks
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(v_from)
          and logloom_private.utc_day(v_to - interval '1 microsecond')
      union all
      select
        logloom_private.utc_day(least(c.last_ts, v_to - interval '1 microsecond')), 0, count(*)
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_chunks > 0 and v_chunks + v_day.chunks > v_max_chunks)
    then
      v_bound := logloom_private.day_start(
        case when v_is_descending then v_last_day else v_day.day end
      );
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_chunks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_chunks := v_chunks + v_day.chunks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_query (
  p_query_dsl text,
  p_now       timestamp with time zone,
  p_takes     text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  v_query.filter := logloom_private.filter_in_turns(v_query.tree, v_query.filter);
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.spare_transactions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
begin
  -- Where a statement before it in the same transaction began one on the node, it is read in that.
  execute format(
    'alter function %s set citus.select_opens_transaction_block = off',
    'logloom_private.fetched_records(text)'::regprocedure
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_rate (
  p_state  logloom_private.ingest_state,
  p_events integer
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_now timestamptz;
  v_bucket logloom_private.rate_buckets;
begin
  insert into logloom_private.rate_buckets (tenant_id, events, requests, filled_at)
  values (
    p_state.tenant_id, coalesce(v_plan.events_burst, 0), coalesce(v_plan.requests_burst, 0),
    clock_timestamp()
  )
  on conflict do nothing;
  -- Whoever waited for the row looks again.
  perform from logloom_private.rate_buckets b
  where b.tenant_id = p_state.tenant_id
  for no key update;
  perform logloom_private.check_rate(p_state);
  -- What is left may be less than what is taken: the debt is waited for by the next request.
  v_now := clock_timestamp();
  update logloom_private.rate_buckets b
  set
    events = coalesce(
      logloom_private.tokens_at(
        b.events, b.filled_at, v_plan.events_per_second, v_plan.events_burst, v_now
      ) - p_events,
      0
    ),
    requests = coalesce(
      logloom_private.tokens_at(
        b.requests, b.filled_at, v_plan.requests_per_second, v_plan.requests_burst, v_now
      ) - 1,
      0
    ),
    filled_at = greatest(b.filled_at, v_now)
  where b.tenant_id = p_state.tenant_id
  returning b.* into v_bucket;

  -- The function ingest learns at once that the next request would be refused.
  if v_plan.requests_per_second is not null and v_bucket.requests < 1 then
    return logloom_private.rate_hold(
      'ingest.too_many_requests', v_plan.requests_per_second, v_bucket.requests
    );
  elsif v_plan.events_per_second is not null and v_bucket.events < 1 then
    return logloom_private.rate_hold(
      'ingest.too_many_events', v_plan.events_per_second, v_bucket.events
    );
  end if;
  return '{}';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenant_of_token (
  p_claims jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_tenant_id text;
begin
  if jsonb_typeof(p_claims -> 'tenant_id') <> 'string' then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub') is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenant_rows_sql (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_table     text                     DEFAULT 'logloom.logs'::text,
  p_time      text                     DEFAULT 'ts'::text,
  p_expired   boolean                  DEFAULT false
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_from timestamptz := p_from;
  v_days text := '';
begin
  if not p_expired then
    -- What is older than the tenant keeps is gone, or about to go.
    v_from := logloom_private.kept_since(p_tenant_id, v_from);
  end if;
  -- Of a range that touches two days at most, both are opened: to ask which have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= v_from + interval '1 day') is not true then
    v_days := logloom_private.tenant_days_sql(p_tenant_id, v_from, p_to) || ' and ';
  end if;
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, v_from, p_to
  ) || v_days || p_filter;
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
  p_claims          jsonb                      DEFAULT NULL::jsonb
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO ''
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
  return logloom_private.ingest_one(v_request);
end;
$function$;

COMMENT ON FUNCTION "logloom_private"."attribute_texts"(logloom_private.sealed_chunks, integer[], text[]) IS 'attrs at ascending positions of a chunk as JSON texts, all where null; of p_keys only, where that is given. Those of rare keys come in any order.';

COMMENT ON FUNCTION "logloom_private"."check_quota"(logloom_private.ingest_state) IS 'PT429 when the month''s events or bytes have reached the plan''s limit. For requests that add events.';

COMMENT ON FUNCTION "logloom_private"."check_rate"(logloom_private.ingest_state) IS 'PT429 when a bucket of the tenant is empty. Takes nothing. For plans that have a rate.';

COMMENT ON FUNCTION "logloom_private"."coded_column"(logloom_private.sealed_columns, text[]) IS 'A column with the places of values in its dictionary; null where a value is null.';

COMMENT ON FUNCTION "logloom_private"."filter_in_turns"(jsonb, text) IS 'A query''s tree as a boolean expression over the alias l that takes its turn while it reads. p_filter: the expression of the whole tree, where it is known.';

COMMENT ON FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp with time zone, timestamp with time zone, text, integer, text, timestamp
  with time zone, uuid, text, boolean) IS 'SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc). p_filter is the query''s and, where p_ts and p_id are given, that a record is after them. p_reads: what reads them besides ts and id, SQL over l; all may be read where it is null. p_is_part: the range is one of search_parts, which begin with what the tenant keeps.';

COMMENT ON FUNCTION "logloom_private"."has_batches_that_overlap"(smallint, bigint, bigint) IS 'Whether of a tenant''s batches one began before another one had ended, by ts: put in order as batches, their events would not be in order.';

COMMENT ON FUNCTION "logloom_private"."ingest"(logloom_private.ingest_request, logloom_private.ingest_state) IS 'Limits, provisioning, idempotency and enqueue in the transaction of the call. PT409, PT413, PT429, PT503.';

COMMENT ON FUNCTION "logloom_private"."ingest_each"(json) IS 'logloom_private.ingest for each of the requests, in one transaction. What holds for a caller is read once for those of its requests that follow one another.';

COMMENT ON FUNCTION "logloom_private"."ingest_one"(logloom_private.ingest_request) IS 'The body of the answer to a request that comes alone; its headers are those of the response.';

COMMENT ON FUNCTION "logloom_private"."ingest_state"(logloom_private.ingest_request, integer) IS 'Who sends a request, and what holds for it and for those of the same caller that come with it, p_requests in all. PT401.';

COMMENT ON FUNCTION "logloom_private"."kept_since"(text, timestamp with time zone) IS 'From when on the tenant keeps records of a range that begins at p_from.';

COMMENT ON FUNCTION "logloom_private"."limit_headers"(logloom_private.ingest_state, bigint, timestamp with time zone) IS 'Headers of a refusal that tells of a limit. X-RateLimit-Reset is a Unix time.';

COMMENT ON FUNCTION "logloom_private"."note_answer"(logloom_private.ingest_state, text, bytea, integer, json) IS 'Keeps the answer to a request, or adds that to one of its slices to the one row of the request, without its errors. Null; where another was quicker, its answer. PT409 where the body was another.';

COMMENT ON FUNCTION "logloom_private"."queue_is_full"(logloom_private.queue_pointer, bigint) IS 'Whether the queue takes more of the disk than so much: settings.queue_hard_limit_bytes.';

COMMENT ON FUNCTION "logloom_private"."quota_headers"(logloom_private.ingest_state, integer) IS 'Headers of an answer: what is left of the month''s events after p_events more, right to about a second of traffic.';

COMMENT ON FUNCTION "logloom_private"."refuse_full_queue"(logloom_private.ingest_state) IS 'PT503 with Retry-After.';

COMMENT ON FUNCTION "logloom_private"."refuse_rate"(logloom_private.ingest_state, text, integer, double precision) IS 'PT429 until the bucket holds one again.';

COMMENT ON FUNCTION "logloom_private"."reject_events_out_of_range"(logloom_private.ingest_request, logloom_private.ingest_state) IS 'The request without the events whose ts is given and out of range: counted in p_rejected and, of the first 100, listed in p_errors by their index in what was sent.';

COMMENT ON FUNCTION "logloom_private"."repeated_answer"(logloom_private.ingest_state, text, bytea, integer) IS 'The first answer to an Idempotency-Key, or to a slice of its request; null where there is none. PT409 where the body was another.';

COMMENT ON FUNCTION "logloom_private"."spare_transactions"() IS 'Lets a page that is one statement be read without a transaction on the node: one message to it instead of four, a fifth of what a small search costs.';

COMMENT ON FUNCTION "logloom_private"."take_rate"(logloom_private.ingest_state, integer) IS 'Takes one request and its events from the tenant''s buckets, last in the transaction: others of the tenant wait for its end. Returns what the answer''s headers say of the next request. PT429 when a bucket is empty. For plans that have a rate.';

COMMENT ON TYPE "logloom_private"."ingest_answer" IS 'The 200 of a request: its body, its headers {name: value}, and how many events it added to the queue, 0 for a repeat.';

COMMENT ON TYPE "logloom_private"."ingest_state" IS 'Who sends, and what holds for it: read once a call, for all requests of a caller in it. keeps_from, takes_to: in which range ts may lie. events, bytes: what is known to be used of the month, all of it where a limit is near. headers: what every answer to ingest has: X-Logloom-Writer where pg_cron does not run the writer.';

REVOKE ALL ON FUNCTION "logloom_private"."attribute_texts"(logloom_private.sealed_chunks, integer[], text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_quota"(logloom_private.ingest_state) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_rate"(logloom_private.ingest_state) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."coded_column"(logloom_private.sealed_columns, text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."filter_in_turns"(jsonb, text) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone, text, integer, text, timestamp
    WITH time zone, uuid, text, boolean)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."has_batches_that_overlap"(smallint, bigint, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."ingest"(logloom_private.ingest_request, logloom_private.ingest_state) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."ingest_one"(logloom_private.ingest_request) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."ingest_one"(logloom_private.ingest_request) TO "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."ingest_state"(logloom_private.ingest_request, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."kept_since"(text, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."limit_headers"(logloom_private.ingest_state, bigint, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."log_page_sql"(text, logloom_private.compiled_query, tstzrange, integer, text, timestamp WITH time zone, uuid, boolean, boolean)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."note_answer"(logloom_private.ingest_state, text, bytea, integer, json) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."queue_is_full"(logloom_private.queue_pointer, bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."quota_headers"(logloom_private.ingest_state, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse_full_queue"(logloom_private.ingest_state) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse_rate"(logloom_private.ingest_state, text, integer, double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."reject_events_out_of_range"(logloom_private.ingest_request, logloom_private.ingest_state) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."repeated_answer"(logloom_private.ingest_state, text, bytea, integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."spare_transactions"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."take_rate"(logloom_private.ingest_state, integer) FROM PUBLIC;
