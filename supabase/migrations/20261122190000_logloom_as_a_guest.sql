-- What a project may have of its own: a time zone, roles, a search_path. Days of logs are UTC's, and so
-- are the times in answers and those in parameters that name no zone. What is written like an IPv6
-- address is one only as RFC 4291 has it. Of sealed days: numbers have no members, letter case,
-- unsealing beside an erasure, the bytes of packed days, any: and words by columns. A node that is
-- away is a 504 to searches.

select logloom_private.hold_writers();

SET local check_function_bodies = off;

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "anon";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "authenticated";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM "service_role";

REVOKE ALL ON SCHEMA "logloom_private" FROM "anon";

REVOKE ALL ON SCHEMA "logloom_private" FROM "authenticated";

REVOKE ALL ON SCHEMA "logloom_private" FROM "service_role";

REVOKE ALL ON SCHEMA "logloom_private" FROM "supabase_auth_admin";

CREATE OR REPLACE FUNCTION logloom_private.address_in (
  p_text    text,
  p_network inet
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO ''
  AS $function$
declare
  v_address text;
begin
  if octet_length(p_text) > 45 then
    return false;
  end if;
  v_address := coalesce(
    substring(
      p_text collate "C"
      from '^((?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3})(?::[0-9]{1,5})?$'
    ),
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    substring(
      p_text collate "C"
      from '^[0-9a-fA-F:]*(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})$'
    )
  );
  return pg_input_is_valid(v_address, 'inet') and v_address::inet <<= p_network;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.adopt_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_partition record;
begin
  for v_partition in
    select
      c.relname as name,
      logloom_private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  loop
    if v_partition.name <> v_partition.day_name then
      execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table logloom.%I enable row level security', v_partition.day_name);
      execute format('alter table logloom.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.align_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_unaligned text[] := logloom_private.unaligned_partitions();
  v_lock_wait text;
  v_name text;
  v_day date;
begin
  if cardinality(v_unaligned) = 0 then
    return;
  end if;
  v_lock_wait := logloom_private.limit_lock_wait(
    (select s.partition_drop_lock_timeout from logloom_private.settings s)
  );
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform logloom_private.lock_partitions();
  v_unaligned := logloom_private.unaligned_partitions();
  -- All of them first: a day overlaps two that are beside it.
  foreach v_name in array v_unaligned loop
    execute format('alter table logloom.logs detach partition logloom.%I', v_name);
    execute format('alter table logloom.%I rename to %I', v_name, v_name || '_unaligned');
  end loop;
  foreach v_name in array v_unaligned loop
    for v_day in execute format(
      'select distinct logloom_private.utc_day(l.ts) from logloom.%I l', v_name || '_unaligned'
    )
    loop
      perform logloom_private.create_partition(v_day);
      execute format(
        'insert into logloom.%I select l.* from logloom.%I l '
          || 'where l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
        logloom_private.partition_name(v_day), v_name || '_unaligned',
        v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
    execute format('drop table logloom.%I', v_name || '_unaligned');
  end loop;
  -- Also those that hold nothing yet; pg_partman goes on from the newest.
  perform logloom_private.create_partition(to_date(u.name, '"logs_"YYYY_MM_DD'))
  from unnest(v_unaligned) u (name)
  where u.name ~ '^logs_\d{4}_\d\d_\d\d$';
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, (select s.partition_days_ahead from logloom_private.settings s)) i;
  perform logloom_private.restore_lock_wait(v_lock_wait);
exception when lock_not_available then
  raise warning 'Partitions are not aligned yet: readers or the writer hold them.';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.any_bits (
  p_chunk logloom_private.sealed_chunks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_test constant text[] := logloom_private.query_text_test(p_leaf);
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s(l.attrs #>> ''{}'')%s end',
    logloom_private.query_sql(p_leaf, 'l'), v_test[1], v_test[2]
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.sealed_columns;
  v_values text[];
  v_flags boolean[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_chunk, p_leaf || '{"field": "msg", "name": "msg"}');
  execute 'select array_agg((' || v_test[1] || 'l.service' || v_test[2] || ' or '
    || v_test[1] || 'l.level' || v_test[2] || ') is true order by l.n) '
    || 'from unnest($1, $2) with ordinality l (service, level, n)'
  into v_flags
  using p_chunk.section_services, p_chunk.section_levels;
  v_found := logloom_private.run_bits(v_flags, p_chunk.section_records);
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
  loop
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column, null) end;
    execute 'select string_agg(case when ('
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else v_test[1] || 'l.value' || v_test[2] end
      || ') is true then ''1'' else ''0'' end, '''' order by l.n) from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value, v.n from unnest($1) with ordinality v (value, n)) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      select string_agg(
        coalesce(v_values[coalesce(c.code::integer + 129, c.wide_code)], '0'), '' order by c.n
      )
      into v_bits
      from unnest(v_column.codes, v_column.wide_codes) with ordinality c (code, wide_code, n);
    end if;
    v_found := v_found
      | logloom_private.widen_bits(v_bits, v_column.first, p_chunk.records, false);
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_operation (
  p_search_path text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_is_known boolean;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user = 'service_role' then
    v_is_known := true;
  elsif current_user <> 'authenticated' then
    v_is_known := false;
  elsif v_operation = 'create_tenant' then
    -- The one operation for users who have no tenant yet.
    v_is_known := logloom_private.token_is_valid(logloom_private.claims());
  else
    v_is_known := logloom_private.current_tenant_id() is not null;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit; a project, or the request's
  -- Prefer, may have a time zone.
  perform set_config('extra_float_digits', '1', true), set_config('timezone', 'UTC', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_request()
  RETURNS void
  LANGUAGE plpgsql
  AS $function$
declare
  -- The project's own may set another.
  v_search_path constant text := pg_catalog.current_setting('search_path');
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(v_search_path);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunk_bits (
  p_chunk  logloom_private.sealed_chunks,
  p_tree   jsonb,
  p_filter text,
  p_fields text[],
  p_keys   text[],
  p_from   timestamp with time zone,
  p_to     timestamp with time zone
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_turn();
  v_bits := logloom_private.node_bits(p_chunk, coalesce(p_tree, '{"type": "unknown"}'));
  if bit_count(v_bits[2]) > 0 and (p_chunk.first_ts < p_from or p_chunk.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_chunk, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_chunk, logloom_private.bit_positions(v_rest), p_filter, p_fields, p_keys
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_chunk.records);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chunks_to_merge (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_settings logloom_private.settings;
  v_week constant timestamptz := date_trunc('week', p_day::timestamp) at time zone 'UTC';
  v_chunk_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.chunk_id order by m.chunk_id) into v_chunk_ids
  from (
    select
      c.chunk_id, c.key,
      sum(c.records) over (partition by c.key order by c.first_ts, c.chunk_id) as records,
      sum(c.bytes) over (partition by c.key order by c.first_ts, c.chunk_id) as bytes
    from (
      select
        w.*,
        -- A day's worth goes with its day, and not on disk until a week is past retention.
        case
          when w.records < v_settings.seal_day_records
            or logloom_private.utc_day(w.first_ts) < logloom_private.utc_day(w.last_ts)
            then '-infinity'
          else logloom_private.utc_day(w.first_ts)
        end as key
      from logloom_private.sealed_chunks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= v_week
        and w.last_ts < v_week + interval '168 hours'
        and w.records <= v_settings.seal_chunk_records / 2
    ) c
  ) m
  where m.records <= v_settings.seal_chunk_records
    and m.bytes <= v_settings.seal_chunk_bytes / 8
  group by m.key
  having count(*) > 1
  limit 1;
  return v_chunk_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_bits (
  p_column  logloom_private.sealed_columns,
  p_leaf    jsonb,
  p_records integer
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_test constant text := logloom_private.query_sql(p_leaf, 'l');
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  -- What a dictionary of a field does not hold, no record has, unless letter case is ignored.
  if p_column.kind = 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and not p_leaf ? 'fold' and not p_column.dictionary && array(
      select v from jsonb_array_elements_text(p_leaf -> 'values') v
    )
  then
    return logloom_private.no_bits(p_records);
  end if;
  -- One thing among many, a request above all: where it stands, not a test of each value.
  if p_column.kind <> 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and p_leaf - array['type', 'field', 'name', 'test', 'values', 'size', 'position'] = '{}'
  then
    v_each := logloom_private.column_texts(p_column, null);
    return logloom_private.position_bits(
      array(
        select distinct p_column.first - 1 + p.position
        from jsonb_array_elements_text(p_leaf -> 'values') v (value)
        cross join lateral unnest(array_positions(v_each, v.value)) p (position)
        order by 1
      ),
      p_records
    );
  end if;
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind = 'dictionary' then
    v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
    if v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
    elsif not v_absent and strpos(v_flags, '1') = 0 then
      return logloom_private.no_bits(p_records);
    elsif v_codes is not null then
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
      into v_bits
      from unnest(v_codes) with ordinality c (code, n);
    else
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
      from unnest(v_wide_codes) with ordinality c (code, n);
    end if;
  elsif p_column.kind = 'numbers' and p_leaf ->> 'test' = 'range' and v_field = 'attrs'
    -- A path that goes on within the value finds nothing in a number.
    and (jsonb_array_length(p_leaf -> 'path') = 1 or v_key = p_leaf ->> 'joined')
  then
    -- Beyond what the column holds a bound decides nothing.
    v_lower := p_leaf ->> 'lower';
    v_upper := p_leaf ->> 'upper';
    if v_lower > p_column.greatest or v_upper < p_column.least then
      return logloom_private.no_bits(p_records);
    end if;
    v_lower := case
      when v_lower is null then p_column.least
      when (p_leaf ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
      else greatest(ceil(v_lower), p_column.least)
    end;
    v_upper := case
      when v_upper is null then p_column.greatest
      when (p_leaf ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
      else least(floor(v_upper), p_column.greatest)
    end;
    if v_numbers is not null then
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(v_numbers) with ordinality c (v, n);
    else
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(p_column.wide_numbers) with ordinality c (v, n);
    end if;
  else
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
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
        hint = 'It was spread by hand. Begin with a copy from before: undistribute_table makes the '
          'table anew and drops what depends on it, functions of the service too.';
    elsif v_shards <> p_shards then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, over %s shards', v_table, v_shards),
        hint = format(
          'Call it with %s. More shards: citus_split_shard_by_split_points, never '
            || 'alter_distributed_table, which drops functions of the service with the table.',
          v_shards
        );
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

CREATE OR REPLACE FUNCTION logloom_private.filtered_positions (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_filter    text,
  p_fields    text[],
  p_keys      text[]
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_found integer[];
begin
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3, $4) l
      ) l on l.n = p.n
      where %s
    $query$,
    p_filter
  )
  into v_found
  using p_positions, p_chunk, p_fields, p_keys;
  return coalesce(v_found, '{}');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.forget_day (
  p_day date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
begin
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using logloom_private.log_days d
  where d.day = p_day
    and c.tenant_id = d.tenant_id
    and c.minute >= v_from
    and c.minute < v_from + interval '24 hours';
  with unpacked as (
    delete from logloom_private.packed_counts p
    where p.week = logloom_private.week_of(p_day)
    returning p as packed
  )
  insert into logloom_private.packed_counts
  select p.*
  from unpacked u
  cross join lateral logloom_private.packed_week(
    (u.packed).tenant_id, (u.packed).week,
    array(
      select c
      from logloom_private.unpacked_counts(u.packed) c
      where c.minute < v_from or c.minute >= v_from + interval '24 hours'
    )
  ) p
  where p.minutes is not null;
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_arrivals a where a.day = p_day;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hot_bytes (
  p_tenant_id text
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_counted constant integer := (select s.stored_days_counted from logloom_private.settings s);
  v_days date[];
  v_records numeric[];
  v_packed_days date[] := '{}';
  v_packed_events bigint[] := '{}';
  v_all_days bigint;
  v_bytes numeric;
begin
  -- Nothing is packed of records that are spread over nodes.
  if not logloom_private.is_spread() then
    select array_agg(p.day), array_agg(p.events)
    into v_packed_days, v_packed_events
    from (
      select w.week + c.minute / 1440 as day, sum(c.events) as events
      from logloom_private.packed_counts w
      cross join lateral unnest(w.minutes, w.events) c (minute, events)
      where w.tenant_id = p_tenant_id
        and w.week >= (
          select logloom_private.week_of(min(n.day))
          from (
            select u.day
            from logloom_private.log_days u
            where u.tenant_id = p_tenant_id
            order by u.day desc
            limit v_counted
          ) n
        )
      group by 1
    ) p;
  end if;
  -- What is known of the days first: records and partitions may be on other nodes than the catalog.
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
        ) + coalesce(v_packed_events[array_position(v_packed_days, u.day)], 0) - (
          -- Of the days that a chunk spans each has its part.
          select coalesce(
            sum(
              c.records / (
                1 + logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
              )
            ),
            0
          )
          from logloom_private.sealed_chunks c
          where c.tenant_id = p_tenant_id
            and c.last_ts >= logloom_private.day_start(u.day)
            and c.first_ts < logloom_private.day_start(u.day + 1)
        ),
        0
      ) as records
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
    order by u.day desc
    limit v_counted
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.maintain_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
begin
  -- Before the lock on partitions, for it waits for the writer.
  perform logloom_private.align_partitions();
  perform logloom_private.lock_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  perform logloom_private.adopt_partitions();
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.manage_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
begin
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- No default partition: a row in it would stop maintenance, and its check would wait for
    -- readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := (select s.partition_days_ahead from logloom_private.settings s),
      -- After the days that a restored table has; null where it has none.
      p_start_partition := (
        select (max(d.day) + 1)::text from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  update partman.part_config
  set infinite_time_partitions = true
  where parent_table = 'logloom.logs';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.my_stored (
  p_tenant_id text
)
  RETURNS public.logloom_stored
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  AS $function$
-- definer because the API roles read neither chunks nor counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed bigint;
begin
  select coalesce(sum(c.bytes), 0) into v_sealed
  from logloom_private.sealed_chunks c
  where c.tenant_id = v_tenant_id;
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
exception when query_canceled or connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.node_bits (
  p_chunk logloom_private.sealed_chunks,
  p_node  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_type constant text := p_node ->> 'type';
  v_none constant varbit := logloom_private.no_bits(p_chunk.records);
  v_bits varbit;
  v_item varbit[];
  v_result varbit[];
  v_node jsonb;
  v_column logloom_private.sealed_columns;
begin
  case v_type
    when 'all' then
      return array[~v_none, ~v_none];
    when 'none' then
      return array[v_none, v_none];
    when 'not' then
      v_item := logloom_private.node_bits(p_chunk, p_node -> 'item');
      return array[~v_item[2], ~v_item[1]];
    when 'and' then
      v_result := array[~v_none, ~v_none];
      for v_node in
        -- What sections tell costs least, and may leave nothing to ask.
        select i.item
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by coalesce(i.item ->> 'field' not in ('service', 'level'), true), i.n
      loop
        v_item := logloom_private.node_bits(p_chunk, v_node);
        v_result := array[v_result[1] & v_item[1], v_result[2] & v_item[2]];
        exit when bit_count(v_result[2]) = 0;
      end loop;
      return v_result;
    when 'or' then
      v_result := array[v_none, v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_chunk, v_node);
        v_result := array[v_result[1] | v_item[1], v_result[2] | v_item[2]];
      end loop;
      return v_result;
    when 'leaf' then
      if p_node ->> 'test' = 'word' and p_node ->> 'field' in ('msg', 'any') then
        -- What holds the word holds its text.
        v_item := logloom_private.node_bits(p_chunk, p_node - 'regex' || '{"test": "contains"}');
        return array[v_none, v_item[2]];
      elsif not logloom_private.leaf_is_known(p_node) then
        return array[v_none, ~v_none];
      elsif p_node ->> 'field' in ('service', 'level') then
        v_bits := logloom_private.section_bits(p_chunk, p_node);
      elsif p_node ->> 'field' = 'msg' then
        return logloom_private.message_bits(p_chunk, p_node);
      elsif p_node ->> 'field' = 'any' and p_node ->> 'test' in ('contains', 'equal', 'regex') then
        return logloom_private.any_bits(p_chunk, p_node);
      elsif p_node ->> 'field' in ('env', 'req_id', 'user_id', 'route', 'host') then
        select c.* into v_column
        from logloom_private.sealed_columns c
        where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
          and c.name = p_node ->> 'field';
        if v_column.chunk_id is not null then
          v_bits := logloom_private.column_bits(v_column, p_node, p_chunk.records);
        else
          v_bits := repeat(
            logloom_private.tested_values(
              logloom_private.query_sql(p_node, 'l'), p_node ->> 'field', null, array[null::text]
            ),
            p_chunk.records
          )::varbit;
        end if;
      elsif p_node ->> 'field' = 'attrs' and jsonb_typeof(p_node -> 'path') = 'array' then
        v_bits := logloom_private.attribute_bits(p_chunk, p_node);
      elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within'
        and coalesce((p_node ->> 'from')::timestamptz <= p_chunk.first_ts, true)
        and coalesce((p_node ->> 'to')::timestamptz > p_chunk.last_ts, true)
      then
        v_bits := ~v_none;
      else
        return array[v_none, ~v_none];
      end if;
      return array[v_bits, v_bits];
    else
      return array[v_none, ~v_none];
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_network (
  p_token    text,
  p_position integer
)
  RETURNS inet
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    if not pg_input_is_valid(p_token, 'inet') or p_token ~ '(?:^|\.)0[0-9]' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
    return network(p_token::inet);
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$' then
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    if pg_input_is_valid(p_token, 'inet')
      and p_token ~ '(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})/'
    then
      return network(p_token::inet);
    -- 12:30:45/2 is a text.
    elsif strpos(p_token, '::') > 0 or p_token ~ '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}/' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.quick_tree (
  p_chunk logloom_private.sealed_chunks,
  p_node  jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_items jsonb;
begin
  case p_node ->> 'type'
    when 'and', 'or' then
      select jsonb_agg(
        coalesce(logloom_private.quick_tree(p_chunk, i.item), '{"type": "unknown"}') order by i.n
      )
      into v_items
      from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n);
      return p_node || jsonb_build_object('items', v_items);
    when 'not' then
      return p_node || jsonb_build_object(
        'item',
        coalesce(logloom_private.quick_tree(p_chunk, p_node -> 'item'), '{"type": "unknown"}')
      );
    when 'leaf' then
      if p_node ->> 'field' in ('service', 'level', 'ts')
        or p_node ->> 'field' in ('env', 'req_id', 'user_id', 'route', 'host')
          and p_node ->> 'test' in ('equal', 'exists') and not p_node ? 'fold'
        or p_node ->> 'field' = 'msg' and p_node ->> 'test' in ('equal', 'exists', 'contains')
        or p_node ->> 'field' = 'attrs' and logloom_private.leaf_is_known(p_node)
          and jsonb_typeof(p_node -> 'path') = 'array' and jsonb_array_length(p_node -> 'path') = 1
          and exists (
            select
            from logloom_private.sealed_columns c
            where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
              and c.name = 'attrs.' || (p_node -> 'path' ->> 0)
              and c.kind = 'numbers'
          )
      then
        return p_node;
      end if;
      return null;
    else
      return p_node;
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_id uuid,
  p_ts timestamp with time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := logloom_private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the chunks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_id     uuid,
  p_ts     timestamp with time zone,
  p_before integer,
  p_after  integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_log public.logloom_log_record;
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_id, p_ts);
  return query
  select b.*
  from unnest(
    logloom_private.log_neighbours(v_log, v_before, 'desc')
      || v_log
      || logloom_private.log_neighbours(v_log, v_after, 'asc')
  ) b
  order by b.ts, b.id;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  SET work_mem TO '16MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(v_tenant_id, v_query, v_range);
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.histogram_seconds(
    v_range, logloom_private.require_buckets(p_buckets)
  );
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer := logloom_private.page_limit(p_limit);
  v_order text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_page logloom_private.found_page;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if v_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\d{1,6}))?$'
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, logloom_private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, logloom_private.from_microseconds(v_after[5]::bigint));
    v_now := logloom_private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := logloom_private.search_range(v_from, v_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  v_order := logloom_private.page_order(v_query.plan, p_order);
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order,
    logloom_private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(array[
      'page', v_order, logloom_private.to_microseconds(v_page.last_ts)::text,
      v_page.last_id::text, logloom_private.to_microseconds(lower(v_range))::text,
      logloom_private.to_microseconds(upper(v_range))::text,
      logloom_private.to_microseconds(v_now)::text, v_left::text
    ]);
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_page;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_buckets integer;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_buckets := logloom_private.require_buckets(p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'series');
  v_seconds := coalesce(
    (v_query.plan -> 'bucket')::bigint, logloom_private.histogram_seconds(v_range, v_buckets)
  );
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'), logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_series_answer;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'rows');
  return query
  select s.* from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_query_dsl text,
  p_cursor    text,
  p_limit     integer,
  p_backlog   integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  select coalesce(max(a.arrival), 0) into v_last from logloom_private.log_arrivals a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Arrivals and records are of one snapshot: what is not here yet comes after this cursor.
    if p_backlog > 0 then
      execute 'select array(' || logloom_private.log_backlog_sql(v_tenant_id, v_query, p_backlog)
        || ')'
      into v_tail.logs;
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.arrival q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last arrival was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_search (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text
)
  RETURNS public.logloom_saved_search_run
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO ''
  AS $function$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query logloom_private.compiled_query;
  v_page public.logloom_log_page;
  v_range tstzrange;
  v_stats public.logloom_log_stat[];
begin
  v_query := logloom_private.search_query(p_query_dsl, now(), 'any');
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    v_page := logloom_private.read_log_page(
      p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    );
    return row(
      v_page.logs, v_page.next_cursor, v_page.ts_from, v_page.ts_to, null
    )::public.logloom_saved_search_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_stats := array(
    select s
      from logloom_private.read_log_stats(p_query_dsl, lower(v_range), upper(v_range), p_limit) s
  );
  return row(
    '{}'::public.logloom_log_record[], null, lower(v_range), upper(v_range), v_stats
  )::public.logloom_saved_search_run;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_search_away()
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_deletion_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_run_id uuid;
  v_more boolean;
  v_failed text;
begin
  -- One at a time deletes, retention too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    if logloom_private.erase_tenant_step() then
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    return null;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception
  when connection_exception or admin_shutdown then
    -- The node that has the records is away: it goes on from its place when that is back.
    raise;
  when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job(
      'run_deletions', clock_timestamp(), format('%s: %s', sqlstate, sqlerrm)
    );
  end;
  if not v_more then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
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
  -- Not again where it found too few; of many, deciding for all is cheaper.
  v_tries boolean := p_limit <= 250;
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
    elsif v_tries then
      v_positions := logloom_private.tried_positions(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_limit, v_is_descending, p_ts, p_from, p_to
      );
      v_tries := v_positions is not null;
    end if;
    if p_tree ->> 'type' is distinct from 'all' and v_positions is null then
      v_bits := logloom_private.chunk_bits(
        v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
      );
      continue when bit_count(v_bits) = 0;
      if bit_count(v_bits) < v_chunk.records then
        v_positions := logloom_private.bit_positions(v_bits);
      end if;
    end if;
    continue when v_positions = '{}';
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

CREATE OR REPLACE FUNCTION logloom_private.sealing_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_days_due bigint;
  v_differences bigint;
  v_last_chunk timestamptz;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  -- Health must answer while a node is away, whatever that does to who asks it.
  if not logloom_private.is_spread() then
    select c.sealed_at into v_last_chunk
    from logloom_private.sealed_chunks c
    order by c.chunk_id desc
    limit 1;
  end if;
  return jsonb_build_object(
    'status', logloom_private.health_word(false, v_differences > 0),
    'days_due', v_days_due,
    'last_chunk', v_last_chunk,
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_cursor for more.', 'A page has 1 to 1000 items.'),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may be on its way still, or past its retention.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      '15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'More at once than the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Those of all tenants hold their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: it leaves the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it lies ahead of all that was ever written',
      'The database was restored from before it. Begin anew, without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400, 'Invalid p_query_dsl: records are asked for, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s met its bound of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than `quick_query_bytes`: more at once than '
        '`concurrent_validations`.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. What is sent meanwhile is kept.',
      'Records are spread over several, or what is stored took 8 s to sum up; `Retry-After`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.texts_at (
  p_texts  text[],
  p_places integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
begin
  if cardinality(p_places) < 20 then
    return array(
      select p_texts[p.place] from unnest(p_places) with ordinality p (place, n) order by p.n
    );
  end if;
  -- Not "= any(p_places)": a plan made for any values compares each element with each place.
  return logloom_private.elements_at(p_texts, p_places);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.time_parameter (
  p_name text,
  p_text text
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_text constant text := logloom_private.trim_space(p_text);
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
begin
  if v_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tried_positions (
  p_chunk         logloom_private.sealed_chunks,
  p_tree          jsonb,
  p_filter        text,
  p_fields        text[],
  p_keys          text[],
  p_limit         integer,
  p_is_descending boolean,
  p_past          timestamp with time zone,
  p_from          timestamp with time zone,
  p_to            timestamp with time zone
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_quick_tree constant jsonb := coalesce(
    logloom_private.quick_tree(p_chunk, p_tree), '{"type": "unknown"}'
  );
  v_tried bigint := 4 * p_limit;
  v_bits varbit;
  v_all integer[];
  v_found integer[];
  v_count integer;
begin
  if v_quick_tree = p_tree then
    return null;
  end if;
  v_bits := (logloom_private.node_bits(p_chunk, v_quick_tree))[2];
  if bit_count(v_bits) < p_chunk.records then
    v_all := logloom_private.bit_positions(v_bits);
  end if;
  for v_try in 1..2 loop
    if v_tried > bit_count(v_bits) / 4 then
      return null;
    end if;
    v_found := logloom_private.filtered_positions(
      p_chunk,
      logloom_private.first_positions(
        p_chunk, v_all, v_tried::integer, p_is_descending, p_past, p_from, p_to
      ),
      p_filter, p_fields, p_keys
    );
    select count(*) into v_count
    from unnest(logloom_private.chunk_times(p_chunk, v_found)) t (ts)
    where t.ts is distinct from p_past;
    if v_count >= p_limit then
      return v_found;
    elsif v_count = 0 then
      return null;
    end if;
    -- As many as hold half as many again as are wanted.
    v_tried := v_tried * p_limit * 3 / 2 / v_count;
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unaligned_partitions()
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return array(
    select c.relname::text
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass and not i.inhdetachpending
      and pg_get_expr(c.relpartbound, c.oid)
        !~ '^FOR VALUES FROM \(''[\d-]+ 00:00:00\+00''\) TO \(''[\d-]+ 00:00:00\+00''\)$'
    order by c.relname
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unseal_day (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_chunk logloom_private.sealed_chunks;
  v_day date;
  v_inserted bigint;
  v_chunk_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    v_chunk_records := 0;
    for v_day in
      select d::date
      from generate_series(
        logloom_private.utc_day(v_chunk.first_ts), logloom_private.utc_day(v_chunk.last_ts),
        interval '1 day'
      ) d
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Into the partition itself: the counts have these records already.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.chunk_records($4, $1, null, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_chunk.chunk_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_chunk_records := v_chunk_records + v_inserted;
    end loop;
    if v_chunk_records <> v_chunk.records then
      raise sqlstate 'LL001' using
        message = format('Chunk %s has not as many records as it says', v_chunk.chunk_id);
    end if;
    delete from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
    -- An erasure that is past their place among the rows comes by again: it looks at chunks last.
    update logloom.retention_runs r
    set position_ts = greatest(v_chunk.first_ts, r.ts_from),
      position_id = '00000000-0000-0000-0000-000000000000'
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status = 'running'
      and r.position_ts > greatest(v_chunk.first_ts, r.ts_from);
    v_records := v_records + v_chunk_records;
  end loop;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_dry_run   boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_retention_run
  LANGUAGE plpgsql
  SET search_path TO ''
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return logloom_private.retention_run_of(
    logloom_private.request_deletion(
      p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
      logloom_private.time_parameter('p_ts_to', p_ts_to), coalesce(p_dry_run, true)
    )
  );
exception
when query_canceled then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
end;
$function$;

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET statement_timeout TO '15s'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse_alert_rule();
    end if;
  end if;
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif not logloom_private.is_alert_window(v_rule.window_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif not logloom_private.is_alert_cooldown(v_rule.cooldown_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  end if;
  return logloom_private.preview_windows(
    p_tenant_id, v_rule.query_dsl, v_rule.threshold, v_rule.comparison, v_rule.window_minutes,
    v_rule.cooldown_minutes
  );
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.run_job (
  IN p_job text,
  IN p_step regprocedure
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest interval;
  v_answer text;
  v_error text;
begin
  loop
    begin
      -- The project's may have days of 23 hours.
      perform pg_catalog.set_config('timezone', 'UTC', true);
      execute pg_catalog.format('select %s::text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::interval end;
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      v_rest := null;
    end;
    commit;
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
  perform logloom_private.record_job(p_job, v_started_at, v_error);
  commit;
end;
$procedure$;

COMMENT ON FUNCTION "logloom_private"."align_partitions"() IS 'Puts days in UTC in the place of partitions that begin at another hour: 0.1.0 made those where the project has a time zone of its own.';

COMMENT ON FUNCTION "logloom_private"."any_bits"(logloom_private.sealed_chunks, jsonb) IS 'A leaf over any text of a record: the bits that are sure, and those that may be.';

COMMENT ON FUNCTION "logloom_private"."filtered_positions"(logloom_private.sealed_chunks, integer[], text, text[], text[]) IS 'Those of a chunk''s ascending positions whose records pass p_filter, which is asked of each; p_fields and p_keys are what it reads.';

COMMENT ON FUNCTION "logloom_private"."pre_request_health"() IS 'Degraded where PostgREST no longer calls our check before a request. The operations stay safe, they decide who is calling for themselves; what is lost is 400 for a missing header, 405 for another method, the last digits of doubles, and UTC where the project has a time zone.';

COMMENT ON FUNCTION "logloom_private"."refuse_search_away"() IS 'PT504, where records are spread and the node that has these does not answer: at a 503 PostgREST would connect anew and read its schema again, for everybody. What the node said has its address and is not for tenants.';

COMMENT ON FUNCTION "logloom_private"."sealing_health"(timestamp with time zone) IS 'How sealing does: days that no pass has looked at yet, when the last chunk was made (null where records are spread over nodes), and chunks that were given up because they differed from their records, which stay rows: degraded.';

COMMENT ON FUNCTION "logloom_private"."unaligned_partitions"() IS 'Partitions that do not begin and end with a day in UTC.';

REVOKE ALL ON FUNCTION "logloom_private"."align_partitions"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."any_bits"(logloom_private.sealed_chunks, jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."call_host_pre_request"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."call_host_pre_request"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."callers_errors"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."callers_errors"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_operation"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."check_operation"(text) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."check_request"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."check_request"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."error_named"(text, text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."error_named"(text, text[]) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."errors"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."errors"(text) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."filtered_positions"(logloom_private.sealed_chunks, integer[], text, text[], text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."operations"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."operations"() TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."quick_tree"(logloom_private.sealed_chunks, jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse"(text, text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."refuse"(text, text[]) TO PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."refuse_search_away"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."refuse_search_away"() TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."requested_operation"(text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."requested_operation"(text, text) TO PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."tried_positions"(logloom_private.sealed_chunks, jsonb, text, text[], text[], integer, boolean, timestamp WITH time zone, timestamp
    WITH time zone, timestamp WITH time zone)
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."unaligned_partitions"() FROM PUBLIC;

REVOKE ALL ON SCHEMA "logloom_private" FROM PUBLIC;

GRANT USAGE ON SCHEMA "logloom_private" TO PUBLIC;

-- Days that began at the project's midnight. A reader holds its day for a moment.
do $$
begin
  for v_try in 1..20 loop
    perform logloom_private.maintain_partitions();
    exit when logloom_private.unaligned_partitions() = '{}';
  end loop;
end;
$$;

delete from logloom_private.alert_plans where true;
