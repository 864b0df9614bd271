-- Where records are spread over nodes, an upgrade brings what is new to them with the same commit: the
-- last statement of this migration, and of each after it. There a search takes its turns with others of
-- its tenant on the node, and numbers of sealed records are read. Functions only: the writer goes on.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."take_turn"();

CREATE OR REPLACE FUNCTION logloom_private.bring_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  SET client_min_messages TO 'warning'
  AS $function$
begin
  if not logloom_private.is_spread() then
    return;
  end if;
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  perform logloom_private.carry_to_nodes();
  perform logloom_private.keep_snapshots();
  perform logloom_private.spare_transactions();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.candidate_chunks (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb
)
  RETURNS SETOF bigint
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET plan_cache_mode TO 'auto'
  AS $function$
declare
  v_leaf constant jsonb := logloom_private.needed_leaf(p_tree);
  v_values constant text[] := array(select jsonb_array_elements_text(v_leaf -> 'values'));
begin
  return query
  select c.chunk_id
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
    and (
      v_leaf is null or coalesce(
        (
          -- A value, not exists: that could be answered by looking at all of the tenant's chunks.
          select case
            when k.filter is not null
              then logloom_private.filter_may_hold(k.filter, v_values)
            when k.kind = 'dictionary' then k.dictionary && v_values
            else true
          end
          from logloom_private.sealed_columns k
          where k.tenant_id = p_tenant_id and k.chunk_id = c.chunk_id
            and k.name = v_leaf ->> 'field'
        ),
        -- Without the column no record has a value.
        false
      )
    );
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
  SET plan_cache_mode TO 'auto'
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
  perform logloom_private.bring_to_nodes();
  -- A search's functions read, on the node where they run, more of the same tenant.
  execute format(
    'alter role %I set citus.allow_nested_distributed_execution to on', current_user
  );
  return v_distributed;
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
  -- A node has the records and knows no setting of this transaction. Its locks are its own, and all
  -- that a tenant reads is read there.
  v_scan constant text := case
    when logloom_private.is_spread() then quote_nullable(current_setting('logloom.scan', true))
    else ''
  end;
  v_quick jsonb;
  v_costly jsonb;
begin
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
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn(' || v_scan || ') then '
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
      '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      case when p_is_part then p_from
        else logloom_private.kept_since(p_tenant_id, p_from) end,
      p_to, p_query.tree, p_query.filter, p_limit, p_order, p_ts, p_id, p_reads
    )
    || ') l) l' || v_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
declare
  v_days timestamptz[];
  v_filter text;
  v_arrivals text;
  v_rows text;
  v_is_sealed boolean;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_arrivals a
  where a.arrival >= p_first;
  v_arrivals := format('l.arrival between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_arrivals := v_arrivals || format('(l.arrival > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_arrivals;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, v_days[1], v_days[cardinality(v_days)] + interval '24 hours',
    v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
  );
  return 'select ' || logloom_private.log_record_sql() || ' as record, l.arrival '
    || case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_arrivals('
        || format(
          '%s, %L, %L, %L, %L',
          logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_last,
          p_query.tree, p_query.filter
        )
        || ') l where ' || v_arrivals
        || format('l.ts >= %L) l', logloom_private.kept_from(p_tenant_id))
      else
        v_rows
      end
    || ' order by l.arrival, l.id limit ' || p_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mask_counts_sql (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO ''
  AS $function$
declare
  v_test constant text := logloom_private.masks_sql(p_tree);
begin
  if v_test is null then
    return null;
  elsif v_test !~ '\ml\.(?:msg|folded)\M' then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.sealed_chunks c
      cross join lateral unnest(c.section_services, c.section_levels, c.section_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.chunk_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The masks are
  -- read where the words of a section say that it may have one.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_masks || '{}'::text[] as masks,
          x.stored_mask_records || '{}'::integer[] as mask_records
        from (
          select
            c.separator, c.section_services, c.section_levels, c.section_records, c.section_masks,
            c.masks as stored_masks, c.mask_records as stored_mask_records,
            array(
              select l.n::integer
              from unnest(c.section_services, c.section_levels, c.section_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.sealed_chunks c
          where c.tenant_id = $1 and c.chunk_id = any($2) and logloom_private.take_turn($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.masks)::integer from unnest(c.section_masks[1:l.n]) u (masks)
        ) as last
        from (
          select
            f.n, c.section_services[f.n] as service, c.section_levels[f.n] as level,
            c.section_records[f.n] as records, c.section_masks[f.n] as mask_count,
            c.masks[f.n] as masks, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.mask_records[s.last - s.mask_count + 1:s.last])
          u (msg, folded, count)
        where s.mask_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.mask_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.sections_sql(p_tree, true),
    case when v_test ~ '\ml\.folded\M' then 'lower(c.masks[f.n] collate pg_c_utf8)'
      else 'null::text' end,
    logloom_private.sections_sql(p_tree, false),
    case when v_test ~ '\ml\.msg\M' then 'string_to_array(s.masks, c.separator)'
      else 'null::text[]' end,
    case when v_test ~ '\ml\.folded\M' then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
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
      || 'from logloom_private.sealed_numbers(%s, %L, %L, %L, %L, %L, %L, %L) s',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter, p_key,
    v_exact, v_doubles
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

CREATE OR REPLACE FUNCTION logloom_private.preview_source_sql (
  p_query logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  return 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, %L, null) s',
      logloom_private.scanned_tenant_sql('$1'), p_query.tree, p_query.filter
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
      '%s, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter, p_reads
    )
    || ') l) l where true';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scanned_tenant_sql (
  p_tenant text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  AS $function$
begin
  if not logloom_private.is_spread() then
    return p_tenant;
  end if;
  return format(
    'logloom_private.scanning(%s, %L)', p_tenant, current_setting('logloom.scan', true)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scanning (
  p_tenant_id text,
  p_scan      text
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
begin
  perform set_config('logloom.scan', p_scan, true);
  return p_tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_counts (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_by        text[]                   DEFAULT ARRAY['service'::text,
  'level'::text]
)
  RETURNS TABLE (
    service text,
    level   text,
    events  bigint
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunks bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_whole constant bigint[] := array(
    select c.chunk_id
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.chunk_id = any(v_chunks)
      and c.first_ts >= p_from and c.last_ts < p_to
  );
  v_sql constant text := logloom_private.mask_counts_sql(p_tree);
  v_counted bigint[] := '{}';
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  if v_sql is not null then
    v_counted := v_whole;
    return query execute v_sql
    using p_tenant_id, v_counted, current_setting('logloom.scan', true);
  elsif p_by = '{}' then
    v_counted := logloom_private.chunks_with_dictionary(p_tenant_id, v_whole, p_tree);
    if v_counted <> '{}' then
      events := logloom_private.dictionary_count(p_tenant_id, v_counted, p_tree);
      return next;
    end if;
  end if;
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks) and c.chunk_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_chunk.section_services, v_chunk.section_levels, v_chunk.section_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
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
    '%s, %L, %L, %L, %L, %L',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    logloom_private.kept_since(p_tenant_id, p_from), p_to, p_query.tree, p_query.filter,
    p_query.by_fields
  ) || ') l';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_numbers (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_key       text,
  p_exact     boolean,
  p_doubles   boolean
)
  RETURNS TABLE (
    service text,
    level   text,
    events  bigint,
    numbers numeric[],
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET plan_cache_mode TO 'force_generic_plan'
  SET jit TO 'off'
  AS $function$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunks constant bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_chunk logloom_private.sealed_chunks;
  v_column logloom_private.sealed_columns;
  v_bits varbit;
  v_positions integer[];
  v_numbers numeric[];
  v_doubles double precision[];
  v_before integer;
  v_starts integer[];
  v_events bigint[];
  v_are_whole boolean;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    v_numbers := null;
    v_doubles := null;
    v_before := 0;
    select k.* into v_column
    from logloom_private.sealed_columns k
    where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
      and k.name = 'attrs.' || p_key;
    if not found then
      -- A key without a column of its own may be among the others.
      v_numbers := array(
        select logloom_private.json_number(a.attrs -> p_key)
        from unnest(logloom_private.chunk_attributes(v_chunk, null, array[p_key]))
          with ordinality a (attrs, n)
        order by a.n
      );
    else
      v_before := v_column.first - 1;
      if p_exact or v_column.kind <> 'numbers' then
        v_numbers := logloom_private.column_numbers(v_column);
      elsif v_column.numbers is not null then
        v_doubles := v_column.numbers;
      else
        v_doubles := v_column.wide_numbers;
      end if;
    end if;
    if p_doubles and v_doubles is null then
      v_doubles := array(
        select logloom_private.finite_double(n.number)
        from unnest(v_numbers) with ordinality n (number, n)
        order by n.n
      );
    end if;
    select
      array_agg(u.first order by u.n),
      array_agg(bit_count(substring(v_bits from u.first for u.records)) order by u.n),
      bool_and(bit_count(substring(v_bits from u.first for u.records)) in (0, u.records))
    into v_starts, v_events, v_are_whole
    from (
      select r.*, (sum(r.records) over (order by r.n) - r.records + 1)::integer as first
      from unnest(v_chunk.section_records) with ordinality r (records, n)
    ) u;
    if not v_are_whole then
      v_positions := logloom_private.bit_positions(v_bits);
      v_numbers := case when p_exact then array(
        select v_numbers[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_doubles := case when p_doubles then array(
        select v_doubles[p.position - v_before]
        from unnest(v_positions) with ordinality p (position, n)
        order by p.n
      ) end;
      v_before := 0;
    end if;
    -- A section's records follow one another. "|| '{}'" makes one array of which each takes its
    -- part.
    return query
    select
      s.service, s.level, s.events,
      case when p_exact then a.numbers[s.first:s.first + s.events - 1] end,
      a.doubles[s.first:s.first + s.events - 1]
    from (
      select
        v_numbers || '{}'::numeric[] as numbers, v_doubles || '{}'::double precision[] as doubles
      offset 0
    ) a
    cross join (
      select
        u.service, u.level, u.events,
        case when v_are_whole then u.start
          else sum(u.events) over (order by u.n) - u.events + 1 end - v_before as first
      from unnest(
        v_chunk.section_services, v_chunk.section_levels, v_starts, v_events
      ) with ordinality u (service, level, start, events, n)
    ) s
    where s.events > 0;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_rows (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_filter    text,
  p_reads     text
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  SET search_path TO ''
  SET jit TO 'off'
  AS $function$
declare
  v_filter_fields constant text[] := logloom_private.fields_read(p_filter);
  v_filter_keys constant text[] := logloom_private.keys_read(p_filter);
  v_fields constant text[] := logloom_private.fields_read(p_reads);
  v_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunks constant bigint[] := array(
    select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id = any(v_chunks)
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_filter_fields, v_filter_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk,
      case when bit_count(v_bits) < v_chunk.records
        then logloom_private.bit_positions(v_bits) end,
      v_fields, v_keys
    ) r;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.set_pre_request (
  p_function    text,
  p_of_database boolean
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_role constant text := 'alter role authenticator'
    || case when p_of_database then format(' in database %I', current_database()) else '' end;
begin
  -- Where records are spread over nodes: they have no PostgREST, and would refuse the setting.
  perform set_config('citus.enable_alter_role_set_propagation', 'off', true);
  if p_function is null then
    execute v_role || ' reset pgrst.db_pre_request';
  else
    execute v_role || format(' set pgrst.db_pre_request = %L', p_function);
  end if;
  notify pgrst, 'reload config';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_turn (
  p_scan text DEFAULT current_setting('logloom.scan'::text, true)
)
  RETURNS boolean
  LANGUAGE plpgsql
  PARALLEL SAFE
  SET search_path TO ''
  AS $function$
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$function$;

COMMENT ON FUNCTION "logloom_private"."bring_to_nodes"() IS 'Where records are spread, brings the types and functions of this version to every node and gives operations the settings that they need there; on one server it does nothing. The last statement of each migration.';

COMMENT ON FUNCTION "logloom_private"."enable_citus"(integer) IS 'Spreads records, counts and sealed records over the nodes of Citus by tenant, each tenant on one node. Which tables it spread; none when called again. 0A000 without Citus; 55000 where they are spread in another way or something is in the way: it changes nothing then.';

COMMENT ON FUNCTION "logloom_private"."mask_counts_sql"(jsonb) IS 'SQL that counts what a tree finds in the chunks $2 of the tenant $1, by service and level, in the turns of the scan $3; null where masks do not decide the tree.';

COMMENT ON FUNCTION "logloom_private"."scanned_tenant_sql"(text) IS 'SQL: the tenant''s id, which p_tenant is SQL of, for a function that reads sealed records and takes turns meanwhile, wherever it runs.';

COMMENT ON FUNCTION "logloom_private"."scanning"(text, text) IS 'The tenant''s id. Lets take_turn(), where it is given no scan, take the turns of this one to the end of the transaction: on a node, which knows no setting of who asks.';

COMMENT ON FUNCTION "logloom_private"."take_turn"(text) IS 'True, at once as long as the search runs shorter than search_free_time, then as soon as no other search of the tenant that shares its scan slot reads on. Asked every few hundred records.';

REVOKE ALL ON FUNCTION "logloom_private"."bring_to_nodes"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."scanned_tenant_sql"(text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."scanning"(text, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."take_turn"(text) FROM PUBLIC;

select logloom_private.bring_to_nodes();
