-- Groups, patterns, series and lists of fields are answered from what blocks count.

set local check_function_bodies = off;

do $$
begin
  -- The table has one row, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  alter table logloom_private.settings
    add column search_stage_templates integer not null default 500000,
    add column writer_run_limit interval not null default '10 seconds';
  alter table logloom_private.settings rename column search_turn to search_page_time;
  alter table logloom_private.settings rename column tail_turn to tail_page_time;
  perform set_config('lock_timeout', '0', true);
end;
$$;

DROP FUNCTION "logloom_private"."log_fields_sample"(text, logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."watermark"(timestamp WITH time zone);

CREATE OR REPLACE FUNCTION logloom_private.advance_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_page_time constant interval := (select s.tail_page_time from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_page_time;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_write_seqs;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := array_remove(v_found, null);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_write_seqs) then
        p_tail.more := true;
        -- After the last that this step found; where it was, if the page was full before.
        if cardinality(v_found) > 0 then
          p_tail.first := v_write_seqs[cardinality(v_found)];
          p_tail.id := v_found[cardinality(v_found)].id;
        end if;
        v_found := null;
        return p_tail;
      end if;
      v_found := null;
      p_tail.first := v_step_last + 1;
      p_tail.id := null;
      p_tail.more := p_tail.first <= p_last;
      if clock_timestamp() > v_deadline then
        return p_tail;
      end if;
      v_steps := v_steps * 4;
    end loop;
    return p_tail;
  exception when query_canceled then
    p_tail.more := true;
  end;
  -- Cancelled: what was found stands. Where that is nothing, some records by themselves; there is
  -- no timeout any more, so that they are few.
  v_deadline := clock_timestamp() + v_page_time;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- Nothing ends the next piece: it must be sure to end in time by itself.
    if clock_timestamp() - v_began_at < v_page_time / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.any_bits (
  p_block logloom_private.blocks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf, 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.block_columns;
  v_values text[];
  v_codes "char"[];
  v_wide_codes smallint[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_block, p_leaf);
  execute 'select string_agg(repeat(case when '
    || logloom_private.query_text_test(p_leaf, 'l.service') || ' or '
    || logloom_private.query_text_test(p_leaf, 'l.level')
    || ' then ''1'' else ''0'' end, l.records), '''')'
    || ' from (select unnest($1) as service, unnest($2) as level, unnest($3) as records) l'
  into v_bits
  using p_block.run_services, p_block.run_levels, p_block.run_records;
  v_found := v_bits::varbit;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    continue when not logloom_private.column_may_hold(
      v_column, coalesce(p_leaf -> 'template' ->> 'literal', ''),
      (p_leaf -> 'folds_case')::boolean
    );
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column) end;
    execute 'select string_agg(case when '
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ' then ''1'' else ''0'' end, '''') from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value from (select unnest($1) as value) v) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      v_codes := v_column.codes;
      v_wide_codes := v_column.wide_codes;
      v_bits := (
        select string_agg(coalesce(v_values[coalesce(c.code + 129, c.wide_code)], '0'), '')
        from (
          select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code
        ) c
      );
    end if;
    v_found := v_found | (
      repeat('0', v_column.first - 1) || v_bits || repeat('0', p_block.records - v_column.last)
    )::varbit;
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_templates (
  p_block logloom_private.blocks,
  p_bits  bit varying
)
  RETURNS TABLE (
    template text,
    events   integer,
    first    integer,
    last     integer
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Read once: each use of what is stored reads it anew.
  v_template_records constant integer[] := p_block.template_records || '{}'::integer[];
begin
  -- A run whose records are not asked for is not read.
  return query
  with runs as materialized (
    select
      r.n, r.records, r.templates, r.texts, r.before, r.templates_before,
      bit_count(substring(p_bits from r.before + 1 for r.records)) as found
    from (
      select
        u.*,
        (sum(u.records) over w - u.records)::integer as before,
        (sum(u.templates) over w - u.templates)::integer as templates_before
      from unnest(p_block.run_records, p_block.run_templates, p_block.templates)
        with ordinality u (records, templates, texts, n)
      window w as (order by u.n rows unbounded preceding)
    ) r
  ), templates as materialized (
    select
      t.template, t.records, r.found = r.records as is_whole,
      (r.before + sum(t.records) over (
        partition by r.n order by t.n rows unbounded preceding
      ) - t.records)::integer as before
    from runs r
    cross join lateral unnest(
      string_to_array(r.texts, p_block.separator),
      v_template_records[r.templates_before + 1:r.templates_before + r.templates]
    ) with ordinality t (template, records, n)
    where r.found > 0 and r.templates > 0 and t.records is not null
    union all
    select null, r.records, r.found = r.records, r.before
    from runs r
    where r.found > 0 and r.templates = 0
  )
  select t.template, t.records, t.before + 1, t.before + t.records
  from templates t
  where t.is_whole
  union all
  select
    t.template, bit_count(f.bits)::integer, t.before + position(b'1' in f.bits),
    t.before + length(rtrim(f.bits::text, '0'))
  from (select t.* from templates t where not t.is_whole) t
  cross join lateral (
    select substring(p_bits from t.before + 1 for t.records) as bits
    offset 0
  ) f
  where bit_count(f.bits) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.blocks_with_counts (
  p_tenant_id text,
  p_blocks    bigint[],
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_name      text
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
      and coalesce(
        (
          select k.kind = 'dictionary'
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = p_name
        ),
        -- A key without a column of its own may be among the others.
        p_name not like 'attrs.%' or not exists (
          select
          from logloom_private.block_columns k
          where k.tenant_id = p_tenant_id and k.block_id = c.block_id and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
      )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_may_hold (
  p_column     logloom_private.block_columns,
  p_literal    text,
  p_folds_case boolean
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_texts text;
begin
  if p_literal = '' then
    return true;
  elsif p_column.kind = 'numbers' then
    return p_literal ~ '^[-0]*$';
  elsif p_column.kind <> 'templated' and strpos(p_literal, '0') > 0
    -- Attributes are JSON texts, in which these are written otherwise.
    or left(p_column.name, 5) = 'attrs' and p_literal ~ '["\\\u0001-\u001f\u007f]'
  then
    return true;
  end if;
  v_texts := array_to_string(
    case p_column.kind when 'texts' then p_column.texts else p_column.dictionary end, e'\x1f'
  );
  return strpos(
    case when p_folds_case then lower(v_texts collate pg_c_utf8) else v_texts end, p_literal
  ) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_bytes     bigint                           DEFAULT NULL::bigint,
  OUT         logs public.logloom_log_record[],
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows text;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(p_tenant_id, p_query.ts_from, p_query.ts_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Most pages have no large record, and adding up sizes costs: first as if there were none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(
        p_query, v_rows, format('l.ts %1$s, l.id %1$s', p_order), v_left, p_bytes, v_is_exact
      );
      -- After a single part nothing more is opened.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- What is extracted was measured at once.
      exit when v_is_staged or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- Before or after all records of the parts that are left.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.grouped_codes (
  p_block   logloom_private.blocks,
  p_columns logloom_private.block_columns[],
  p_by_run  boolean,
  p_bits    bit varying
)
  RETURNS TABLE (
    run    integer,
    codes  integer[],
    events bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '16MB'
  AS $function$
declare
  v_is_all constant boolean := bit_count(p_bits) = p_block.records;
  v_names constant text[] := array(
    select 'c' || n from generate_series(1, cardinality(p_columns)) n
  );
begin
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*)
      from (
        select %3$s%4$s
      ) u
      %5$s
      group by 1, %2$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    array_to_string(array(select 'u.' || n from unnest(v_names) n), ', '),
    array_to_string(
      array(
        select format(
          'unnest(array_fill(null::integer, array[($1[%1$s]).first - 1]) || %2$s '
            || '|| array_fill(null::integer, array[$2 - ($1[%1$s]).last])) as c%1$s',
          n,
          case
            when p_columns[n].codes is not null
              then format('array(select unnest(($1[%s]).codes)::integer + 129)', n)
            when p_columns[n].wide_codes is not null
              then format('($1[%s]).wide_codes::integer[]', n)
            else format(
              'array_fill(1, array[($1[%1$s]).last - ($1[%1$s]).first + 1])', n
            )
          end
        )
        from generate_series(1, cardinality(p_columns)) n
      ),
      ', '
    ),
    case when p_by_run then
      ', unnest(array(select r.n::integer from unnest($4) with ordinality r (records, n), '
        || 'generate_series(1, r.records) order by r.n)) as run'
      else '' end
      || case when v_is_all then '' else ', generate_series(0, $2 - 1) as n' end,
    case when v_is_all then '' else 'where get_bit($3, u.n) = 1' end
  )
  using p_columns, p_block.records, p_bits, p_block.run_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.groups_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_rows_from timestamp with time zone
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_fields constant text[] := array(
    select distinct f ->> 'field' from jsonb_array_elements(v_by) f order by 1
  );
  v_keys constant text[] := array(
    select distinct concat_ws('.', f ->> 'field', f -> 'path' ->> 0)
    from jsonb_array_elements(v_by) f
    order by 1
  );
  v_attributes constant text := (
    select string_agg(
      format('jsonb_build_object(%L::text, g.keys[%s]::jsonb)', substr(k.name, 7), k.n), ' || '
    )
    from unnest(v_keys) with ordinality k (name, n)
    where k.name like 'attrs.%'
  );
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or not v_fields <@ (logloom_private.column_fields() || array['attrs', 'level', 'service'])
  then
    return null;
  end if;
  v_sql := 'select ' || (
    select string_agg(
      case f.name when 'attrs' then v_attributes || ' as attrs'
        else format('g.keys[%s] as %I', array_position(v_keys, f.name), f.name) end,
      ', ' order by f.n
    )
    from unnest(v_fields) with ordinality f (name, n)
  ) || ', g.events from (select s.keys, sum(s.events) as events '
    || 'from logloom_private.sealed_groups(' || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_query.ts_from, p_query.ts_to, p_query.tree, v_keys
    ) || ') s group by s.keys) g';
  if p_rows_from < p_query.ts_to then
    v_sql := v_sql || ' union all select l.' || array_to_string(v_fields, ', l.') || ', 1 '
      || logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter, v_keys
      );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision', null, null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sample_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, v_settings.search_sample_records, 'desc',
      p_reads => array(
        select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
      ) || array['attrs', 'msg.exists', 'record_bytes'],
      p_bytes => v_settings.search_sample_bytes
    ),
    'l.ts desc, l.id desc', v_settings.search_sample_bytes
  ) || ' where l.fits';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- An array is not kept: it may be as large as its record.
  v_attributes constant text :=
    '(select j.key, jsonb_typeof(j.value) as type, '
    || 'case jsonb_typeof(j.value) when ''object'' then j.value end as object, '
    || 'case when jsonb_typeof(j.value) in (''string'', ''number'', ''boolean'') '
    || 'then left(j.value #>> ''{}'', 201) end as value from jsonb_each(%s) j limit 200)';
  v_settings logloom_private.settings;
  v_sampled text;
  v_present text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select
    string_agg(format('left(l.%1$s, 201) as %1$s', f.name), ', '),
    string_agg(format('(%1$L, ''string'', s.%1$s)', f.name), ', ')
  into v_sampled, v_present
  from unnest(logloom_private.record_fields()) f
  where f.place is not null;
  return format(
    $query$
      with recursive sample as materialized (
        -- One character more than a value that is listed may have.
        select %5$s, l.msg is not null as has_msg, l.attrs
        %1$s
      ), attributes as (
        select
          logloom_private.query_segment(a.key) as path, 1 as depth, a.type, a.object, a.value
        from sample s, lateral %7$s a
        where length(a.key) <= 200
        union all
        select
          p.path || '.' || logloom_private.query_segment(a.key), p.depth + 1,
          a.type, a.object, a.value
        from attributes p, lateral %8$s a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              %6$s
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select 'attrs.' || a.path, a.type, a.value
        -- The recursion ends when nobody asks for more.
        from (select t.* from attributes t limit %4$s) a
        where a.type not in ('null', 'object')
      ), fields as (
        select
          p.field,
          case count(distinct p.type) when 1 then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        group by p.field
        order by count(*) desc, p.field collate "C"
        limit %2$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from present p
        where length(p.value) <= 200
        group by p.field, p.value
      )
      select
        f.field, f.type, f.count,
        array(
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where v.field = f.field and v.place <= %3$s
          order by v.place
        )
      from fields f
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.log_fields_sample_sql(p_tenant_id, p_query),
    v_settings.search_sample_fields, v_settings.search_sample_values,
    v_settings.search_sample_cells,
    v_sampled, v_present,
    format(v_attributes, 's.attrs'), format(v_attributes, 'p.object')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_patterns_of (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_records integer;
  v_templates integer;
  v_columns constant jsonb := jsonb_build_object(
    'count', 'p.count', 'first', 'p.first', 'last', 'p.last', 'pattern', 'p.pattern collate "C"'
  );
  v_time constant text := 'to_char(p.%s, ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  select s.search_stage_records, s.search_stage_templates into v_records, v_templates
  from logloom_private.settings s;
  return query execute
    'with found as materialized ('
      || logloom_private.rough_shapes_sql(
        p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_records,
        v_templates
      )
    || '), rough as (select f.shape, sum(f.count) as count, min(f.first) as first, '
      || 'max(f.last) as last, min(f.example) as example, min(f.place) as place '
      || 'from found f group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example, min(r.place) as place from rough r group by 1'
    || '), chosen as materialized (select c.*, row_number() over () as n from ('
      || 'select p.*, count(*) over () as total from patterns p '
      || logloom_private.chosen_rows_sql(
        p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
      )
    || ') c), messages as (select m.* from logloom_private.sealed_messages('
      || logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id))
      || ', array(select c.place from chosen c where c.example is null and c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', coalesce(p.example, left(m.msg, 1000))), '
      || 'p.total, case when exists (select from found f where f.is_cut) '
      || 'then $1 || row($2, $3, $4)::public.logloom_query_warning else $1 end '
      || 'from chosen p left join messages m on m.place = p.place order by p.n'
  using
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
    ),
    (p_query.plan -> 'first' -> 'position')::integer,
    format(
      'patterns reached its limit of %s records, or %s templates of blocks: these are the newest',
      v_records, v_templates
    ),
    'Narrow the filter or the range of time.';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_series_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint,
  p_groups    jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregate constant jsonb :=
    jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0);
  v_bucket constant text := format(
    'date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => p_seconds)
  );
  v_keys text[] := p_query.by_sql;
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range),
    v_aggregate -> 0 ->> 'kind' in ('count', 'rate'), p_seconds
  );
  if cardinality(v_keys) > 0 and v_source.count_sql like '%l.events%' then
    -- Which series it is is asked of each group of a bucket, not of each minute.
    v_source.rows_sql := 'from (select ' || v_bucket || ' as ts, sum(l.events) as events, '
      || (
        select string_agg(format('%s as b%s', k.sql, k.n), ', ' order by k.n)
        from unnest(v_keys) with ordinality k (sql, n)
      )
      || ' ' || v_source.rows_sql || ' group by 1, '
      || array_to_string(array(select n + 2 from generate_subscripts(v_keys, 1) n), ', ')
      || ') l';
    v_keys := array(select 'l.b' || n from generate_subscripts(v_keys, 1) n);
  end if;
  if cardinality(v_keys) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> jsonb_build_array('
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || ')::text)::integer';
  end if;
  return 'select ' || v_bucket || ', ' || v_key || ', '
    || (logloom_private.stats_values_sql(
      v_aggregate, v_source, p_seconds::numeric / 60
    ))[1]
    || ' ' || v_source.rows_sql || ' group by 1, 2';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_windows (
  p_tenant_id text,
  p_rule      logloom.alert_rules
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_settings logloom_private.settings;
  v_query logloom_private.compiled_query;
  v_source text;
  v_is_grouped boolean;
  v_values logloom_private.alert_window[];
  v_result public.logloom_alert_preview;
begin
  select s.* into v_settings from logloom_private.settings s;
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_rule.query_dsl, true);
  v_query := logloom_private.compile_query(p_rule.query_dsl);
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_is_grouped := cardinality(v_query.by_fields) > 0;
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - v_settings.preview_span;
  if logloom_private.has_partials(v_query) then
    v_result.step_minutes := 1;
    v_values := logloom_private.preview_partial_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes
    );
  else
    v_result.step_minutes := p_rule.window_minutes;
    v_values := logloom_private.window_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
      case when v_is_grouped then v_settings.search_groups + 1 end
    );
    if v_is_grouped and cardinality(v_values) > v_settings.search_groups then
      perform logloom_private.refuse_stage_bound(
        'by', v_settings.search_groups, 'groups of all windows'
      );
    end if;
  end if;
  return logloom_private.completed_preview(v_result, v_values, v_is_grouped, p_rule);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '4MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(
    v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range)
  );
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return query select r.* from logloom_private.read_log_fields(p_query_dsl, p_ts_from, p_ts_to) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rough_shapes_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_templates integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows'
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := case
    when v_is_counted then logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    ) || ' order by l.ts desc, l.id desc limit ' || p_records + 1
    else logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    )
  end;
  return 'select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
    || 'count(*) as count, min(r.ts) as first, max(r.ts) as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_ts) as first, '
      || 'max(s.last_ts) as last, min(s.place) as place, '
      || 'sum(count(*)) over () > ' || p_templates
      || ' as is_cut from logloom_private.sealed_patterns('
      || format(
        '%s, %L, %L, %L, %s',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, p_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_texts (
  p_block     logloom_private.blocks,
  p_positions integer[],
  p_reads     text[],
  OUT         services text[],
  OUT         levels text[],
  OUT         messages text[]
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_runs integer[];
begin
  if p_reads is null or p_reads && array['service', 'level', 'msg.exists'] then
    v_runs := logloom_private.block_runs(p_block, p_positions);
    services := logloom_private.elements_at(p_block.run_services, v_runs);
    levels := logloom_private.elements_at(p_block.run_levels, v_runs);
    if 'msg.exists' = any(p_reads) then
      messages := logloom_private.elements_at(
        array(select case when t > 0 then '' end from unnest(p_block.run_templates) t), v_runs
      );
    end if;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_groups (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_by        text[]
)
  RETURNS TABLE (
    keys   text[],
    events bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_names constant text[] := array(
    select b.name
    from unnest(p_by) with ordinality b (name, n)
    where b.name not in ('service', 'level')
    order by b.name
  );
  v_by_run constant boolean := p_by && array['service', 'level'];
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_counted bigint[] := '{}';
  v_codes text;
  v_texts text;
  v_block logloom_private.blocks;
  v_columns logloom_private.block_columns[];
  v_bits varbit;
  v_count bigint;
begin
  if p_tree ->> 'type' = 'all' and cardinality(p_by) = 1 and not v_by_run then
    v_counted := logloom_private.blocks_with_counts(
      p_tenant_id, v_blocks, p_from, p_to, p_by[1]
    );
    return query
    with counted as materialized (
      select d.value, sum(d.count)::bigint as events
      from (
        select k.dictionary, k.counts
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = any(v_counted) and k.name = p_by[1]
          and logloom_private.take_scan_slot()
        -- Asked once a block, not once a value.
        offset 0
      ) k
      cross join lateral unnest(k.dictionary, k.counts) d (value, count)
      group by d.value
    )
    select array[c.value], c.events from counted c
    union all
    select array[null], r.records - coalesce((select sum(c.events) from counted c), 0)::bigint
    from (
      select sum(b.records)::bigint as records
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.block_id = any(v_counted)
    ) r
    where r.records > coalesce((select sum(c.events) from counted c), 0);
  end if;
  select
    string_agg(
      case
        when b.name in ('service', 'level') then format('($1).run_%ss[g.run]', b.name)
        else format('($2[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end,
      ', ' order by b.n
    ),
    string_agg(
      case when b.name like 'attrs.%' then format('(g.attrs -> %L)::text', substr(b.name, 7))
        else format('g.%I', b.name) end,
      ', ' order by b.n
    )
  into v_codes, v_texts
  from unnest(p_by) with ordinality b (name, n);
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    v_count := bit_count(v_bits);
    continue when v_count = 0;
    select array_agg(k order by k.name)
    into v_columns
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = v_block.block_id and k.name = any(v_names)
      and k.kind = 'dictionary';
    if coalesce(cardinality(v_columns), 0) < cardinality(v_names)
      or v_count * 8 < v_block.records
    then
      return query execute format(
        'select array[%s], count(*) from logloom_private.sealed_records($1, $2, $3) g group by 1',
        v_texts
      )
      using v_block, case when v_count < v_block.records
        then logloom_private.bit_positions(v_bits) end, p_by;
    else
      return query execute format(
        'select array[%s], g.events from logloom_private.grouped_codes($1, $2, $3, $4) g', v_codes
      )
      using v_block, v_columns, v_by_run, v_bits;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_messages (
  p_tenant_id text,
  p_places    bigint[]
)
  RETURNS TABLE (
    place bigint[],
    msg   text
  )
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_times bigint[];
  v_positions integer[];
  v_wanted record;
begin
  for v_wanted in
    select
      u.block_id, array_agg(u.time order by u.position) as times,
      array_agg(u.position order by u.position) as positions
    from (
      select p_places[n][1] as time, p_places[n][2] as block_id, p_places[n][3]::integer as position
      from generate_series(1, coalesce(array_length(p_places, 1), 0)) n
    ) u
    group by u.block_id
  loop
    select c.* into v_block
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_wanted.block_id;
    return query
    select array[m.time, v_wanted.block_id, m.position], m.msg
    from unnest(
      v_wanted.times, v_wanted.positions,
      logloom_private.block_messages_at(v_block, v_wanted.positions)
    ) m (time, position, msg);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_patterns (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer                  DEFAULT NULL::integer
)
  RETURNS TABLE (
    template text,
    events   bigint,
    first_ts timestamp with time zone,
    last_ts  timestamp with time zone,
    place    bigint[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_blocks constant bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_block logloom_private.blocks;
  v_bits varbit;
  v_templates text[];
  v_events integer[];
  v_first integer[];
  v_last integer[];
  v_times timestamptz[];
  v_rows integer := 0;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks)
    order by c.last_ts desc
  loop
    exit when v_rows > p_limit;
    v_bits := logloom_private.block_bits(v_block, p_tree, p_from, p_to);
    continue when bit_count(v_bits) = 0;
    select
      array_agg(t.template), array_agg(t.events), array_agg(t.first), array_agg(t.last)
    into v_templates, v_events, v_first, v_last
    from logloom_private.block_templates(v_block, v_bits) t;
    v_rows := v_rows + cardinality(v_first);
    v_times := logloom_private.block_times(v_block, v_first || v_last);
    return query
    select
      u.template, u.events::bigint, u.first, u.last,
      array[(extract(epoch from u.first) * 1000000)::bigint, v_block.block_id, u.position]
    from unnest(
      v_templates, v_events, v_times[:cardinality(v_first)], v_times[cardinality(v_first) + 1:],
      v_first
    ) u (template, events, first, last, position);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_records (
  p_block     logloom_private.blocks,
  p_positions integer[],
  p_reads     text[]
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_block.records);
  v_needs_attrs constant boolean := p_reads is null
    or exists (select from unnest(p_reads) r where left(r, 5) = 'attrs');
  v_batch_received_at timestamptz[] := p_block.batch_received_at;
  v_batch_write_seqs bigint[] := p_block.batch_write_seqs;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_level text[];
  v_msg text[];
  v_service text[];
  -- fields column: v_{name} text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes text[];
  -- fields end
  v_attrs jsonb[];
  v_names text[] := '{}';
  v_first integer[] := '{}';
  v_last integer[] := '{}';
  v_values logloom_private.column_values[] := '{}';
  v_texts text[];
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  if p_reads is null or 'ts' = any(p_reads) then
    v_ts := logloom_private.block_times(p_block, p_positions);
  end if;
  if p_reads is null or p_reads && array['id', 'received_at', 'write_seq'] then
    v_batches := logloom_private.block_batches(p_block, p_positions);
    v_ids := logloom_private.block_ids(p_block, p_positions, v_batches);
  end if;
  select r.services, r.levels, r.messages into v_service, v_level, v_msg
  from logloom_private.run_texts(p_block, p_positions, p_reads) r;
  if p_reads is null or 'msg' = any(p_reads) then
    -- Reading a message by its place takes several times as long as reading it in passing.
    v_msg := case
      when p_positions is null then logloom_private.block_messages(p_block)
      when v_records * 4 <= p_block.records
        then logloom_private.block_messages_at(p_block, p_positions)
      else logloom_private.elements_at(logloom_private.block_messages(p_block), p_positions)
    end;
  end if;
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and (
        p_reads is null or c.name = any(p_reads) or c.name = 'attrs' and v_needs_attrs
        or left(c.name, 6) = 'attrs.' and 'attrs' = any(p_reads)
      )
    -- As jsonb has its keys: a whole record's text is that which jsonb has.
    order by octet_length(c.name), c.name collate "C"
  loop
    if p_positions is null then
      v_lower := v_column.first;
      v_upper := v_column.last;
      v_texts := logloom_private.column_texts(v_column);
    else
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      continue when v_lower > v_upper;
      v_texts := logloom_private.column_texts_at(v_column, p_positions[v_lower:v_upper]);
    end if;
    if left(v_column.name, 5) = 'attrs' then
      v_names := v_names || v_column.name;
      v_first := v_first || v_lower;
      v_last := v_last || v_upper;
      v_values := v_values || row(v_texts)::logloom_private.column_values;
      continue;
    end if;
    v_texts := array_fill(null::text, array[v_lower - 1]) || v_texts;
    case v_column.name
      -- fields column: when '{name}' then v_{name} := v_texts;
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts;
      -- fields end
    end case;
  end loop;
  if v_needs_attrs then
    v_texts := logloom_private.attribute_texts(v_records, v_names, v_first, v_last, v_values);
    -- A cast of the array keeps what reading each text takes, until all of them are read.
    v_attrs := array(select unnest(v_texts)::jsonb);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_write_seqs[r.batch], r.id, p_block.tenant_id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: r.{name}::{type}
    r.level::text, r.msg::text, r.service::text, r.env::text, r.req_id::text, r.user_id::text,
    r.route::text, r.host::text, r.attrs::jsonb, r.record_bytes::integer
    -- fields end
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: v_{name}
    v_level, v_msg, v_service, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
    -- fields end
  ) with ordinality r (
    one, ts, batch, id,
    -- fields all but ts, received_at, write_seq, id, tenant_id joined: {name},
    level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes,
    -- fields end
    n
  )
  order by r.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_source (
  p_tenant_id   text,
  p_query       logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket      bigint
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows text;
  v_key text;
  v_groups logloom_private.counted_source;
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      (
        select min(d.day)::timestamp at time zone 'UTC'
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
          and d.day between (v_from at time zone 'UTC')::date
            and ((v_to - interval '1 microsecond') at time zone 'UTC')::date
      ),
      v_to
    ));
  end if;
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and p_query.by_fields <@ array['level', 'service'];
    -- Over days without rows blocks count quicker than minutes do.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows is not null and v_from < v_counted_from then
      v_rows := 'from (select l.level, l.service, l.events ' || v_rows || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from)
        || ') l';
    elsif v_rows is null and v_counts_sealed then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        )
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, null)
        ::logloom_private.counted_source;
    elsif v_is_sealed then
      v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from);
      if v_groups.rows_sql is not null then
        return v_groups;
      end if;
    end if;
  end if;
  v_key := logloom_private.only_number(p_query);
  if v_is_sealed and v_key is not null then
    return logloom_private.numbers_source(p_tenant_id, p_query, v_rows_from, v_key);
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, v_from, v_to,
      case when not p_query.plan ? 'rows' then
        logloom_private.query_reads(p_query.plan)
          || case when p_bucket is null then '{}' else array['ts'] end
      end
    )),
    'count(l.tenant_id)::double precision', null, null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.watermark (
  p_oldest_queued timestamp with time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  -- Nor does it matter who started it: ingest does while pg_cron is away.
  select max(h.last_started_at) into v_writer_started_at
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer') and h.last_started_at <= clock_timestamp();
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - logloom_private.enqueue_timeout());
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.evaluate_alerts()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_begun logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_step_rules constant pg_catalog.int4 :=
    (select s.alert_step_rules from logloom_private.settings s);
  v_rule_ids pg_catalog.uuid[];
  v_is_cut_short pg_catalog.bool := false;
  v_turn pg_catalog.int4;
  v_error pg_catalog.text;
begin
  -- Not two at a time; a session that is killed lets go.
  if not pg_catalog.pg_try_advisory_lock(logloom_private.lock_key('alerts')) then
    return;
  end if;
  loop
    begin
      v_begun := logloom_private.begin_alert_round(
        pg_catalog.clock_timestamp(), logloom_private.watermark(
          (logloom_private.queue_state()).oldest_received_at
        )
      );
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null;

    -- What is cheap, for all tenants.
    if v_begun.window_end is not null then
      v_round := v_begun;
      loop
        begin
          exit when not logloom_private.advance_alert_groups(
            v_round, pg_catalog.clock_timestamp() + '1 second'::pg_catalog.interval
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
          exit;
        end;
        commit;
      end loop;
      v_rule_ids := '{}';
      loop
        v_rule_ids := logloom_private.next_alert_rules(
          v_rule_ids[pg_catalog.cardinality(v_rule_ids)], v_step_rules, v_round
        );
        exit when pg_catalog.cardinality(v_rule_ids) = 0;
        v_is_cut_short := pg_catalog.clock_timestamp() > v_deadline;
        exit when v_is_cut_short;
        begin
          perform logloom_private.judge_alert_rules(
            v_rule_ids, v_round, pg_catalog.clock_timestamp()
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
      end loop;
      -- The next run goes on with the rules that this round has not evaluated yet.
      exit when v_is_cut_short;
      -- All was evaluated that does not have to be read for itself.
      update logloom_private.alert_rounds r
      set finished_at = pg_catalog.clock_timestamp() where r.singleton;
      commit;
    end if;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;

    -- What is not: a turn at a time, so that the next round waits for one at most.
    if v_round.window_end is null then
      v_round := logloom_private.continued_alert_round();
      commit;
      exit when v_round.window_end is null;
    end if;
    begin
      v_turn := logloom_private.read_alert_windows(v_round, pg_catalog.clock_timestamp());
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null or v_turn is null;
  end loop;
  perform logloom_private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(logloom_private.lock_key('alerts'));
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.write_logs()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_limit constant pg_catalog.timestamptz := least(
    v_started_at + (select s.writer_run_limit from logloom_private.settings s),
    logloom_private.job_deadline(v_started_at)
  );
  v_step_events constant pg_catalog.int4 :=
    (select s.writer_step_events from logloom_private.settings s);
  v_events pg_catalog.int4;
  v_since_flip pg_catalog.int4;
  v_flipped pg_catalog.bool := false;
  v_noted_at pg_catalog.timestamptz := v_started_at;
  v_error pg_catalog.text;
begin
  begin
    perform logloom_private.meter_queue();
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := logloom_private.write_step();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_limit;
      -- Quotas, health and the watermark of alerts do not wait for the end of a long run: each
      -- second of it is noted as a run.
      if pg_catalog.clock_timestamp() > v_noted_at + '1 second'::pg_catalog.interval then
        begin
          perform logloom_private.meter_queue();
          perform logloom_private.record_job('write_logs', v_noted_at);
        exception when others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
        exit when v_error is not null;
        v_noted_at := pg_catalog.clock_timestamp();
      end if;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_limit;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    if v_flipped then
      begin
        perform logloom_private.empty_moved_slots();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      end;
      commit;
      exit when v_error is not null;
    end if;
    v_flipped := logloom_private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform logloom_private.empty_moved_slots();
    perform logloom_private.provide_partitions();
  exception when query_canceled or others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform logloom_private.record_job('write_logs', v_noted_at, v_error);
  commit;
end;
$procedure$;

COMMENT ON COLUMN "logloom_private"."settings"."search_page_time" IS 'After this time search_logs begins no further part of its range: the page ends early.';

COMMENT ON COLUMN "logloom_private"."settings"."search_stage_templates" IS 'Templates of messages in blocks that the stage patterns counts, and of a block more.';

COMMENT ON COLUMN "logloom_private"."settings"."tail_page_time" IS 'After this time tail_logs answers with what it has.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_budget" IS 'A call of run_writer starts no further step after this time.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_run_limit" IS 'A run of the writer starts no further step after this time.';

select logloom_private.finish_migration();
