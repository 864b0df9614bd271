-- Everything since the last release. npm run migration writes this file: change supabase/schemas,
-- supabase/unreleased/before.sql or supabase/unreleased/after.sql instead.

set local search_path = pg_catalog, pg_temp;

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."written_number"(text);

CREATE OR REPLACE FUNCTION logloom_private.bucket_origin (
  p_seconds bigint
)
  RETURNS timestamp WITH time zone
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when p_seconds % 604800 = 0 then '1970-01-05T00:00:00Z' else 'epoch' end::timestamptz;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bucket_sql (
  p_seconds bigint
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'date_bin(%L::interval, l.ts, %L)',
    make_interval(secs => p_seconds), logloom_private.bucket_origin(p_seconds)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chosen_rows_sql (
  p_plan  jsonb,
  p_sql   jsonb,
  p_order text,
  p_limit integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_having constant text := (
    select string_agg(
      format(
        '%s %s %L::double precision', p_sql -> (h ->> 'name') ->> 0,
        case h ->> 'operator' when '!=' then '<>' else h ->> 'operator' end, h ->> 'number'
      ),
      ' and '
    )
    from jsonb_array_elements(p_plan -> 'having') h
  );
  v_keys constant text := (
    select string_agg(
      s.sql || case when (k.key -> 'descending')::boolean then ' desc' else '' end
        || ' nulls last',
      ', ' order by k.n, s.n
    )
    from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    cross join lateral jsonb_array_elements_text(p_sql -> (k.key ->> 'name'))
      with ordinality s (sql, n)
  );
begin
  return format(
    'where %s order by %s limit %s', coalesce(v_having, 'true'),
    concat_ws(', ', v_keys, p_order), least(p_limit, (p_plan -> 'limit')::integer)
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
    case when p_folds_case then logloom_private.folded_text(v_texts) else v_texts end, p_literal
  ) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.folded_text (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN replace(lower((p_text COLLATE pg_c_utf8)), 'ς'::text, 'σ'::text);

CREATE OR REPLACE FUNCTION logloom_private.held_rows_sql (
  p_rows text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'from (select %s, l.attrs || ''{}'' as attrs %s offset 0) l',
    (
      select string_agg('l.' || f.name, ', ')
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name <> 'attrs'
    ),
    p_rows
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.json_number (
  p_value jsonb
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text text;
  v_number numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_number := p_value::numeric;
  elsif jsonb_typeof(p_value) = 'string' then
    v_text := p_value #>> '{}';
    -- Most texts are neither.
    if left(v_text, 1) collate "C" not between '-' and '9' then
      return null;
    end if;
    v_number := case
      when right(v_text, 1) collate "C" between '0' and '9' then logloom_private.text_number(v_text)
      when right(v_text, 1) in ('B', 'b') then logloom_private.quantity(v_text, 'bytes')
      else logloom_private.quantity(v_text, 'seconds')
    end;
  end if;
  if v_number is null then
    return null;
  end if;
  return least(greatest(v_number, -1.7976931348623157e308), 1.7976931348623157e308);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.leaf_template (
  p_test   text,
  p_values jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_template jsonb := jsonb_build_object(
    'by', p_test, 'decides', coalesce(p_values::text, '') !~ '[0-9]', 'literal', ''
  );
  v_pieces text[];
begin
  case p_test
    when 'exists' then
    when 'equal' then v_template := v_template || logloom_private.equal_template(p_values);
    when 'contains' then v_template := v_template || logloom_private.contains_template(p_values);
    when 'word' then v_template := v_template || logloom_private.word_template(p_values);
    when 'regex' then v_template := v_template || logloom_private.regex_template(p_values);
    else return null;
  end case;
  v_pieces := logloom_private.cut_words(v_template ->> 'literal');
  return v_template || jsonb_build_object('words', array(
    -- A word may begin before what the literal has of it, and end after it.
    select case when p.n > 1 then ' ' else '' end || replace(p.piece, 'ς', 'σ')
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_histogram_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_source logloom_private.counted_source;
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- As count() by level is counted.
  p_query.by_fields := array['level'];
  p_query.plan := '{"reads": ["level"]}';
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    $query$
      with counted as (
        select
          g.ts,
          sum(g.count)::bigint as count,
          sum(g.count) filter (where g.level = 'debug')::bigint as debug,
          sum(g.count) filter (where g.level = 'info')::bigint as info,
          sum(g.count) filter (where g.level = 'warn')::bigint as warn,
          sum(g.count) filter (where g.level = 'error')::bigint as error,
          sum(g.count) filter (where g.level is null)::bigint as none
        from (
          select %6$s as ts, l.level, %4$s as count
          %5$s
          group by 1, 2
        ) g
        group by g.ts
      )
      select row(
        b.ts,
        coalesce(c.count, 0),
        row(
          coalesce(c.debug, 0), coalesce(c.info, 0), coalesce(c.warn, 0), coalesce(c.error, 0),
          coalesce(c.none, 0)
        )::public.logloom_log_level_counts
      )::public.logloom_log_bucket
      from generate_series(
        date_bin(%1$L::interval, %2$L::timestamptz, %7$L),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', %7$L),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range), v_source.count_sql,
    v_source.rows_sql, logloom_private.bucket_sql(p_seconds),
    logloom_private.bucket_origin(p_seconds)
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
    'count', array['p.count'], 'first', array['p.first'], 'last', array['p.last'],
    'pattern', array['p.pattern collate "C"']
  );
  v_time constant text :=
    'to_char(timestamptz ''epoch'' + p.%s * interval ''1 microsecond'', '
      || '''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
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
      || ', array(select c.place from chosen c where c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', least(p.example, left(m.msg, 1000) collate "C"))'
      || ', p.total, case when exists (select from found f where f.is_cut) '
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
  v_bucket constant text := logloom_private.bucket_sql(p_seconds);
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
    )) || '::jsonb ->> to_jsonb(array['
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || '])::text)::integer';
  end if;
  return 'select ' || v_bucket || ', ' || v_key || ', '
    || (logloom_private.stats_values_sql(
      v_aggregate, v_source, p_seconds::numeric / 60
    ))[1]
    || ' ' || v_source.rows_sql || ' group by 1, 2';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stats_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[];
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_only_counts, v_bucket
  );
  v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
  if v_bucket is not null then
    v_keys := logloom_private.bucket_sql(v_bucket) || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- Columns k1, k2 … of the groups and v1, v2 … of the aggregates.
  v_grouped := 'select ' || (
    select string_agg(c.sql || ' as ' || c.name, ', ')
    from (
      select k.sql, 'k' || k.n as name from unnest(v_keys) with ordinality k (sql, n)
      union all
      select v.sql, 'v' || v.n from unnest(v_values) with ordinality v (sql, n)
    ) c
  ) || ' ' || v_source.rows_sql;
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  -- What is a text is one already.
  v_texts := array(
    select case
      when v_bucket is not null and k.n = 1
        then 'to_char(g.k1 at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS"Z"'')'
      when k.name in ('ts', 'received_at', 'id') then format('(to_jsonb(g.k%s) #>> ''{}'')', k.n)
      else 'g.k' || k.n
    end
    from unnest(v_names) with ordinality k (name, n)
    order by k.n
  );
  v_sorted := (
    select jsonb_object_agg(c.name, c.sql)
    from (
      select
        k.name,
        case
          when v_bucket is not null and k.n = 1 then '["g.k1"]'
          -- Numbers, however they are written, before other texts.
          when k.name ~ '^(?:@|attrs\.)' then jsonb_build_array(
            'logloom_private.text_number(' || v_texts[k.n] || ')', v_texts[k.n] || ' collate "C"'
          )
          else jsonb_build_array(v_texts[k.n] || ' collate "C"')
        end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select a.item ->> 'name', jsonb_build_array('g.v' || a.n)
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    ) c
  );
  v_grouped := format(
      'select g.*, count(*) over () as total from (select g.* from (select g.*, count(*) over () '
        || 'as groups from (%1$s) g) g where g.groups <= %2$s '
        || 'or logloom_private.refuse_stage_bound(''by'', %2$s, ''groups'')) g ',
      v_grouped, v_groups
    )
    || logloom_private.chosen_rows_sql(
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        'g.v1 desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      ),
      p_limit
    );

  -- Arrays, since a function takes 100 arguments at most and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), g.v1, jsonb_build_object('
    || (
      select string_agg(quote_literal(a.item ->> 'name') || ', g.v' || a.n, ', ')
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.message_bits (
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
  v_folded constant boolean := (p_leaf -> 'folds_case')::boolean;
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_words constant text[] := array(select jsonb_array_elements_text(v_template -> 'words'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_found integer[];
  v_templates text[];
  v_texts text[];
  v_bits varbit;
begin
  if v_literal is null then
    return array[v_none, ~v_none];
  end if;
  -- The runs whose words say that a template may pass.
  v_found := array(
    select l.n
    from unnest(p_block.run_words) with ordinality l (words, n)
    where l.words is null
      or not exists (
        select
        from unnest(v_words) w
        where strpos(
          case when strpos(w, 'σ') > 0 then replace(l.words, 'ς', 'σ') else l.words end, w
        ) = 0
      )
  );
  if v_found = '{}' then
    return array[v_none, v_none];
  end if;
  v_templates := p_block.templates;
  v_texts := array(
    select case when strpos(m.text, v_literal) > 0 then m.text end
    from (
      select u.n, case when u.n::integer = any(v_found) then
        case when v_folded then logloom_private.folded_text(u.templates) else u.templates end
        end as text
      from unnest(v_templates) with ordinality u (templates, n)
      offset 0
    ) m
    order by m.n
  );
  if cardinality(array_remove(v_texts, null)) = 0 then
    return array[v_none, v_none];
  end if;
  -- Without a message no leaf is true.
  execute format(
    $query$
      select string_agg(
        coalesce(
          (
            select string_agg(
              repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
            )
            from unnest(string_to_array(s.text, $4), $5[s.last - s.templates + 1:s.last])
              with ordinality l (%s, count, n)
            where l.count is not null
          ),
          repeat('0', s.records)
        ),
        '' order by s.n
      )::varbit
      from (
        select u.*, (sum(u.templates) over (order by u.n))::integer as last
        from unnest($1, $2, $3) with ordinality u (text, templates, records, n)
      ) s
    $query$,
    logloom_private.template_sql(p_leaf), case when v_folded then 'folded' else 'msg' end
  )
  into v_bits
  using
    v_texts, p_block.run_templates, p_block.run_records, p_block.separator,
    p_block.template_records;
  return array[
    case when (v_template -> 'decides')::boolean then v_bits else v_none end, v_bits
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.quantity (
  p_text text,
  p_unit text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts text[];
  v_total numeric := 0;
begin
  if p_text is null or octet_length(p_text) > 64 then
    return null;
  elsif p_unit = 'bytes' then
    v_parts := regexp_match(
      lower(p_text collate "C") collate "C",
      '^([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(?:([kmgtp])(i?))?b$'
    );
    return v_parts[1]::numeric * case v_parts[3] when 'i' then 1024 else 1000 end::numeric
      ^ case v_parts[2]
        when 'k' then 1 when 'm' then 2 when 'g' then 3 when 't' then 4 when 'p' then 5 else 0 end;
  end if;
  -- Most have one part, which is cut quicker than matched in groups.
  if p_text collate "C" ~ '^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)$' then
    return rtrim(p_text, ' nuµμmshdw')::numeric
      * logloom_private.seconds_of(ltrim(p_text, ' -.0123456789'));
  elsif p_text collate "C" !~ ('^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)'
      || '(?: ?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w))*$')
  then
    return null;
  end if;
  for v_parts in
    select m from regexp_matches(p_text collate "C", '([0-9.]+) ?([^0-9 ]+)', 'g') m
  loop
    v_total := v_total + v_parts[1]::numeric * logloom_private.seconds_of(v_parts[2]);
  end loop;
  return case when left(p_text, 1) = '-' then -v_total else v_total end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_any_sql (
  p_leaf  jsonb,
  p_alias text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_columns text;
  v_sql text;
  v_likely text[];
begin
  select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n) into v_columns
  from unnest(logloom_private.query_text_columns()) with ordinality c (name, n);
  v_sql := format(
    'exists (select from unnest(array[%s] || array(select a.value #>> ''{}'' '
      || 'from jsonb_path_query(%I.attrs, ''strict $.**'') a (value) '
      || 'where jsonb_typeof(a.value) in (''string'', ''number'', ''boolean''))) t (text) where ',
    v_columns, p_alias
  ) || logloom_private.query_text_test(p_leaf, 't.text') || ')';
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  -- The first value of every other test but equal is a LIKE pattern that a match passes.
  v_likely := array(
    select logloom_private.query_like_record(logloom_private.folded_text(
      case p_leaf ->> 'test' when 'equal' then logloom_private.query_like_text(v.text)
        else v.text end
    ))
    from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    where p_leaf ->> 'test' = 'equal' or v.n = 1
    order by v.n
  );
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %I.attrs::text) collate "C") like ',
    v_columns, p_alias
  )
    || case cardinality(v_likely) when 1 then quote_literal(v_likely[1])
      else 'any (' || quote_literal(v_likely) || '::text[])' end
    || ' then ' || v_sql || ' else false end';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_contains (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'contains', 'folds_case', true,
    'values', array['%' || logloom_private.query_like(logloom_private.folded_text(p_token)) || '%']
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_equal (
  p_state      logloom_private.query_state,
  p_field      jsonb,
  p_folds_case boolean,
  p_token      text,
  p_position   integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text text := logloom_private.query_text(p_token);
begin
  case p_field ->> 'field'
    when 'ts', 'received_at' then
      return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
    when 'level' then
      v_text := logloom_private.query_require_level(p_token, p_position);
    when 'id' then
      if lower(v_text) !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        perform logloom_private.refuse_at(
          p_position, 'query.not_a_uuid', logloom_private.query_excerpt(v_text)
        );
      end if;
      v_text := lower(v_text);
    else
      if p_folds_case then
        v_text := logloom_private.folded_text(v_text);
      end if;
  end case;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'equal', 'values', jsonb_build_array(v_text), 'folds_case', p_folds_case
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_word (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := logloom_private.folded_text(
    logloom_private.query_text(p_token)
  );
begin
  if v_text = '' then
    perform logloom_private.refuse_at(p_position, 'query.word_is_empty');
  end if;
  p_state := logloom_private.query_count_searched(p_state, v_text, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'word', 'folds_case', true,
    'values', array[
      '%' || logloom_private.query_like_text(v_text) || '%',
      '(?:^|\W)' || regexp_replace(v_text, '([!-/:-@[-`{-~])', '\\\1', 'g') || '(?:$|\W)'
    ]
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_errors()
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
    ('query.minus_negates_nothing', 400, '- must directly precede the term that it negates',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket has no opening bracket',
      'Remove it, or quote it to search for it.', null),
    ('query.bracket_is_not_closed', 400, 'A closing bracket is missing',
      'Close the bracket that position %s opens.', null),
    ('query.colon_is_missing', 400, 'A colon is missing after an attribute',
      'Write @"name":value without white space.', null),
    ('query.wildcard_in_comparison', 400, 'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.', null),
    ('query.field_is_missing', 400, 'A field is missing before the colon',
      'Write field:value without white space around the colon, or quote the text.', null),
    ('query.number_is_out_of_range', 400, 'A number is out of range',
      'Exponents reach from -400 to 400.', null),
    ('query.quote_is_not_closed', 400, 'A quoted text is not closed',
      'End it with ", or write \" for the character itself.', null),
    ('query.quoted_text_is_empty', 400, 'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.', null),
    ('query.range_is_not_closed', 400, 'A range is not closed',
      'End it with ] (inclusive) or } (exclusive).', null),
    ('query.regex_is_not_quoted', 400, 'A regular expression must be quoted',
      'Write ~"regex", or \~ for the character itself.', null),
    ('query.shift_is_too_long', 400, 'A shift from now is longer than 100 years',
      'Write a shorter one, such as now-15m.', null),
    ('query.term_is_missing_at_the_end', 400, 'A term is missing at the end',
      'AND, OR, NOT stand between terms, brackets hold terms. Quote it to search for it.', null),
    ('query.term_is_missing', 400, 'A term is missing before %s',
      'AND, OR, NOT stand between terms, brackets hold terms. Quote it to search for it.', null),
    ('query.value_is_missing_in_a_list', 400, 'A value is missing',
      'Write field:(a OR b), values only, and close the bracket.', null),
    ('query.comparison_needs_a_value', 400, 'A value is missing after %s',
      'Write a number, a time or a word after it.', null),
    ('query.test_needs_a_value', 400, 'A value is missing after %s',
      'Write a word or a quoted text after it; "" is the empty text.', null),
    ('query.value_has_a_blank', 400, 'A value is missing after %s',
      'Write %2$s: no blank follows the colon.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, but this is not one: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Remove unnecessary brackets.', null),
    ('query.not_a_uuid', 400, 'Not a UUID: %s', 'id takes a whole UUID, or * for any.', null),
    ('query.not_a_time', 400, 'Not a time: %s',
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now, now-15m or -15m (s, m, h, d or w).', null),
    ('query.to_is_missing', 400, 'TO is missing in a range',
      'Write [a TO b] or {a TO b}, TO in upper case.', null),
    ('query.path_is_malformed', 400, 'The path of an attribute is malformed',
      'Separate segments by one dot. A segment of other characters than letters, digits, _ and '
        '- is quoted: @"a b".c', null),
    ('query.path_is_too_long', 400, 'The path of an attribute has more than 32 segments',
      'Name a value that lies less deep, or search all values with any:', null),
    ('query.too_many_terms', 400, 'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.',
      'Each term of a list of values counts.'),
    ('query.too_long', 400, 'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.', null),
    ('query.field_is_unknown', 400, 'Unknown field %s',
      '%2$sQuote a text that holds a colon. The fields are %3$s and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.level_is_a_list', 400, 'Unknown level %s', 'Write level:(%2$s)', null),
    ('query.white_space_is_missing', 400, 'White space is missing before %s',
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.',
      null),
    ('query.comparison_needs_a_colon', 400, 'White space is missing before %s',
      'A comparison is written with a colon: %2$s', null),
    ('query.attribute_is_missing', 400, 'attrs needs the name of an attribute',
      'Write @name or attrs.name, such as @status.', null),
    ('query.id_is_not_compared', 400, '%s cannot be compared',
      'id takes a whole UUID, or * for any.', null),
    ('query.text_is_not_compared', 400, '%s cannot be compared',
      'Search %s for a text, a "quoted phrase" or a ~"regex".', null),
    ('query.word_is_not_for_lists', 400, '%s is not allowed in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.comparison_has_blanks', 400, '%s is only allowed at the start of a value',
      'Write %2$s: a colon after the field, and no blanks.', null),
    ('query.range_is_foreign', 400, '%s is only allowed in a range of a field', 'Write %2$s', null),
    ('query.field_is_of_another_language', 400, 'Unknown field %s', 'Write %2$s', null),
    ('query.operator_is_for_values', 400, '%s is only allowed at the start of a value',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s is only allowed in a range of a field',
      'Write field:[a TO b], or quote the text.', null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any only takes a text',
      'Write any:"text", any:=exactly, any:i=exactly, any:w=word or any:~"regex".', null),
    ('query.not_a_network', 400, 'Not a network: %s',
      'Write address/bits, such as 10.0.0.0/8, or quote it to compare the text.', null),
    ('query.takes_no_test', 400, '%s takes no %s', 'Write %s:value. %s is for texts.', null),
    ('query.word_is_empty', 400, 'A word to look for is empty',
      'Write msg:w=error or msg:w="out of memory".', null),
    ('query.too_many_steps', 400,
      'The query is too complex: it takes more than 20000 steps to compile',
      'Leave terms or regular expressions out.', null),
    ('query.searched_texts_are_too_long', 400,
      'The query is too complex: the texts that it looks for inside others have together more '
        'than 512 characters', 'Shorten them: the beginning of a long message finds it too.', null),
    ('query.means_something_else', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if that is what is looked for.',
      'An alert rule, its preview, `delete_logs` and its dry run: the query has one of the '
        '`warnings` of a search.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_field (
  p_name     text,
  p_position integer,
  p_stage    text    DEFAULT NULL::text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_path text[];
  v_joined text;
  v_rest text;
  v_near text;
begin
  if p_name = any(logloom_private.query_field_names()) then
    return jsonb_build_object(
      'field', p_name, 'name', p_name,
      'reads', case p_name when 'any' then logloom_private.query_text_columns() || 'attrs'::text
        else array[p_name] end
    );
  elsif left(p_name, 1) = '@' and p_name <> '@timestamp' then
    v_rest := '.' || substr(p_name, 2);
  elsif left(p_name, 6) = 'attrs.' then
    v_rest := substr(p_name, 6);
  elsif p_name = 'attrs' then
    perform logloom_private.refuse_at(p_position, 'query.attribute_is_missing');
  else
    v_near := logloom_private.query_near_field(p_name);
    if p_stage ~ '^(?:sum|avg|min|max|p[0-9].*)$' and v_near <> 'ts' then
      -- These take attributes.
      v_near := null;
    end if;
    perform logloom_private.refuse_at(
      p_position,
      case when p_stage is null then 'query.field_is_unknown' else 'stages.field_is_unknown' end,
      logloom_private.query_excerpt(p_name),
      coalesce('Did you mean ' || v_near || '? ', '')
        || case when p_name collate "und-x-icu" !~ '^[[:alpha:]_][[:alpha:][:digit:]_.-]*$' then ''
          when p_stage is null
            then format('An attribute is written @%s: (short for attrs.%1$s:). ', left(p_name, 60))
          else format('An attribute is written @%s. ', left(p_name, 60)) end,
      array_to_string(logloom_private.query_field_names(), ', ')
    );
  end if;

  -- ICU's classes, because "letters and digits of any script" is what they say.
  if v_rest collate "und-x-icu" !~
    '^(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform logloom_private.refuse_at(p_position, 'query.path_is_malformed');
  end if;

  if strpos(v_rest, '"') = 0 then
    v_path := string_to_array(substr(v_rest, 2), '.');
    v_joined := case when cardinality(v_path) > 1 then substr(v_rest, 2) end;
  else
    select array_agg(logloom_private.query_text(substr(m.match[1], 2)) order by m.n)
    into v_path
    from regexp_matches(v_rest, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
      with ordinality as m (match, n);
  end if;
  if cardinality(v_path) > 32 then
    perform logloom_private.refuse_at(p_position, 'query.path_is_too_long');
  end if;
  return jsonb_build_object(
    'field', 'attrs', 'name', p_name, 'path', v_path, 'joined', v_joined,
    'reads', array_remove(array['attrs.' || v_path[1], 'attrs.' || v_joined], null)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_items_sql (
  p_type     text,
  p_items    text[],
  p_is_heavy boolean[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_heavy constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where i.is_heavy order by i.n
  );
  v_light constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where not i.is_heavy order by i.n
  );
begin
  return '(' || array_to_string(
    v_light || format(
      '%sexists (select from (values %s) k (n) where (case k.n %s end) is %s offset 0)',
      case p_type when 'and' then 'not ' else '' end,
      (select string_agg(format('(%s)', n), ', ') from generate_subscripts(v_heavy, 1) n),
      (
        select string_agg(format('when %s then %s', i.n, i.sql), ' ' order by i.n)
        from unnest(v_heavy) with ordinality i (sql, n)
      ),
      case p_type when 'and' then 'not true' else 'true' end
    ),
    ' ' || p_type || ' '
  ) || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_path_sql (
  p_path text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text := '';
  v_run text[] := '{}';
  v_segment text;
begin
  foreach v_segment in array p_path || null::text loop
    if v_segment !~ '^\s*[-+]?[0-9]+$' then
      v_run := v_run || v_segment;
      continue;
    end if;
    v_sql := v_sql || case cardinality(v_run)
      when 0 then ''
      when 1 then ' -> ' || quote_literal(v_run[1])
      else ' #> ' || quote_literal(v_run::text)
    end || coalesce(' -> ' || quote_literal(v_segment), '');
    v_run := '{}';
  end loop;
  return v_sql;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex (
  p_token    text,
  p_position integer
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fold constant boolean := substr(p_token, 2, 4) = '(?i)';
  v_source text := substr(p_token, 2, char_length(p_token) - 2);
  v_position integer := p_position + 1;
  v_part text;
  v_sql text := '';
  v_bounds integer[];
  v_depth integer := 1;
  -- By depth: the size so far, and the size of the atom that a quantifier would repeat, or null.
  v_sizes integer[] := array[0];
  v_atoms integer[] := array[null::integer];
  v_opened integer[] := array[0];
  v_steps integer := char_length(p_token);
begin
  if char_length(v_source) > 256 then
    perform logloom_private.refuse_at(v_position + 256, 'regex.too_long');
  end if;
  if v_fold then
    v_source := substr(v_source, 5);
    v_position := v_position + 4;
  end if;

  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      v_source,
      '\\.|\[(?:\[:[a-z]+:\]|[^]\\]|\\.)*\]|\(\?.?|(?:\{[^}]*\}|[*+?])\??'
        || '|[^][\\(){}|*+?.^$]+(?![*+?{])|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    case
      when strpos('\[().*+?{|^$', left(v_part, 1)) = 0 then
        v_atoms[v_depth] := char_length(v_part);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth];
        v_sql := v_sql
          || case when v_fold then logloom_private.folded_text(v_part) else v_part end;
      when left(v_part, 1) in ('*', '+', '?', '{') then
        if v_atoms[v_depth] is null then
          perform logloom_private.refuse_at(v_position, 'regex.nothing_to_repeat', v_part);
        end if;
        v_bounds := logloom_private.query_regex_bounds(
          left(v_part, 1) || rtrim(substr(v_part, 2), '?'), v_position
        );
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth] * (greatest(v_bounds[2], 1) - 1)
          + 3 * (v_bounds[2] - v_bounds[1]);
        v_atoms[v_depth] := null;
        v_sql := v_sql || left(v_part, 1) || rtrim(substr(v_part, 2), '?');
      when v_part in ('(', '(?:') then
        v_depth := v_depth + 1;
        v_sizes[v_depth] := 1;
        v_atoms[v_depth] := null;
        v_opened[v_depth] := v_position;
        v_sql := v_sql || '(?:';
      when v_part = ')' then
        if v_depth = 1 then
          perform logloom_private.refuse_at(v_position, 'regex.bracket_closes_nothing');
        end if;
        v_depth := v_depth - 1;
        v_sizes[v_depth] := v_sizes[v_depth] + v_sizes[v_depth + 1];
        v_atoms[v_depth] := v_sizes[v_depth + 1];
        v_sql := v_sql || ')';
      when v_part in ('|', '^', '$', '\b') then
        v_sizes[v_depth] := v_sizes[v_depth] + case v_part when '\b' then 50 else 1 end;
        v_atoms[v_depth] := null;
        v_sql := v_sql || case v_part when '\b' then '\y' else v_part end;
      when left(v_part, 2) = '(?' then
        perform logloom_private.refuse_at(v_position, 'regex.has_lookaround');
      else
        -- A folded range looks through all letters that have two cases.
        if v_fold and left(v_part, 1) = '[' then
          v_steps := v_steps + 125 * (char_length(v_part) - char_length(replace(v_part, '-', '')));
        end if;
        v_sql := v_sql || logloom_private.query_regex_atom(v_part, v_position, v_fold);
        v_atoms[v_depth] := 1;
        v_sizes[v_depth] := v_sizes[v_depth] + 1;
    end case;
    if v_sizes[v_depth] > 1000 then
      perform logloom_private.refuse_at(v_position, 'regex.too_complex');
    end if;
    v_position := v_position + char_length(v_part);
  end loop;

  if v_depth > 1 then
    perform logloom_private.refuse_at(v_opened[v_depth], 'regex.group_is_not_closed');
  end if;
  return jsonb_build_object(
    'pattern', v_sql, 'fold', v_fold, 'size', v_sizes[1], 'position', p_position + 1,
    'steps', v_steps
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_atom (
  p_part     text,
  p_position integer,
  p_fold     boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_set constant text := logloom_private.query_regex_set(p_part, p_fold);
begin
  if p_part = '.' then
    return '.';
  elsif p_part = '[' then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_not_closed');
  elsif left(p_part, 1) = '[' then
    return logloom_private.query_regex_class(p_part, p_position, p_fold);
  elsif v_set is not null then
    return '[' || v_set || ']';
  elsif p_part ~ '^\\[1-9]' then
    perform logloom_private.refuse_at(p_position, 'regex.has_a_back_reference');
  elsif p_part ~ '^\\[0A-Za-z]' then
    perform logloom_private.refuse_at(p_position, 'regex.not_an_escape', p_part);
  end if;
  return logloom_private.query_regex_literal(
    case when p_fold then logloom_private.folded_text(substr(p_part, 2)) else substr(p_part, 2) end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_class (
  p_class    text,
  p_position integer,
  p_fold     boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_negated constant boolean := substr(p_class, 2, 1) = '^';
  v_items text[];
  v_item text;
  v_set text;
  v_char text;
  v_upper text;
  v_at integer := 1;
  v_position integer := p_position + case when v_negated then 2 else 1 end;
  v_sql text := '';
begin
  v_items := array(
    select m.match[1]
    from regexp_matches(
      substr(p_class, v_position - p_position + 1,
        char_length(p_class) - (v_position - p_position) - 1),
      '\[:[a-z]+:\]|\\.|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  );
  if cardinality(v_items) = 0 then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_empty');
  end if;

  while v_at <= cardinality(v_items) loop
    v_item := v_items[v_at];
    v_set := logloom_private.query_regex_set(v_item, p_fold);
    if v_item = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.bracket_in_class');
    elsif v_set is null and left(v_item, 1) = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.no_such_class', v_item);
    elsif v_set is null and v_item ~ '^\\[0-9A-Za-z]' then
      perform logloom_private.refuse_at(v_position, 'regex.not_for_classes', v_item);
    end if;

    if v_items[v_at + 1] = '-' and v_items[v_at + 2] is not null then
      v_upper := v_items[v_at + 2];
      v_char := right(v_item, 1);
      if v_set is not null or v_upper ~ '^\\[0-9A-Za-z]' or left(v_upper, 1) = '[' then
        perform logloom_private.refuse_at(v_position, 'regex.range_ends_in_no_character');
      elsif ascii(v_char) > ascii(right(v_upper, 1)) then
        perform logloom_private.refuse_at(v_position, 'regex.range_runs_backwards');
      end if;
      v_sql := v_sql || logloom_private.query_regex_range(
        ascii(v_char), ascii(right(v_upper, 1)), p_fold
      );
      v_position := v_position + char_length(v_item) + 1 + char_length(v_upper);
      v_at := v_at + 3;
    else
      v_sql := v_sql || coalesce(v_set, logloom_private.query_regex_literal(
        case when p_fold then logloom_private.folded_text(right(v_item, 1))
          else right(v_item, 1) end
      ));
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_range (
  p_from integer,
  p_to   integer,
  p_fold boolean
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text := logloom_private.query_regex_literal(chr(p_from)) || '-'
    || logloom_private.query_regex_literal(chr(p_to));
  v_run integer[];
  v_first integer;
  v_last integer;
begin
  if p_fold and p_from <= 90 and p_to >= 65 then
    v_sql := v_sql || chr(greatest(p_from, 65) + 32) || '-' || chr(least(p_to, 90) + 32);
  end if;
  if p_fold and p_to > 127 then
    -- Where the lower case of a letter is the next character, only the last one's can be outside;
    -- the other small sigma is the next one, too.
    v_sql := v_sql || logloom_private.query_regex_literal(logloom_private.folded_text(chr(p_to)));
    foreach v_run slice 1 in array logloom_private.letter_cases() loop
      v_first := greatest(p_from, v_run[1]) + v_run[3];
      v_last := least(p_to, v_run[2]) + v_run[3];
      if v_first <= v_last and (v_first < p_from or v_last > p_to) then
        v_sql := v_sql || chr(v_first) || '-' || chr(v_last);
      end if;
    end loop;
  end if;
  return v_sql;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_sql (
  p_node    jsonb,
  p_alias   text,
  p_now_sql text  DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_type constant text := p_node ->> 'type';
  v_heavy constant jsonpath :=
    'strict $.** ? (@.type == "leaf" && (@.field == "attrs" || @.field == "any"))';
  v_items text[];
  v_is_heavy boolean[];
begin
  case v_type
    when 'all' then
      return 'true';
    when 'none' then
      return 'false';
    when 'not' then
      return '(' || logloom_private.query_sql(p_node -> 'item', p_alias, p_now_sql)
        || ' is not true)';
    when 'and', 'or' then
      v_items := array(
        select logloom_private.query_sql(i.item, p_alias, p_now_sql)
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.n
      );
      v_is_heavy := array(
        select jsonb_path_exists(i.item, v_heavy)
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.n
      );
      if cardinality(array_positions(v_is_heavy, true)) > 1
        and jsonb_array_length(jsonb_path_query_array(p_node, v_heavy)) > 8
      then
        return logloom_private.query_items_sql(v_type, v_items, v_is_heavy);
      end if;
      return '(' || array_to_string(v_items, ' ' || v_type || ' ') || ')';
    when 'leaf' then
      if p_node ->> 'field' = 'any' then
        return '(' || logloom_private.query_any_sql(p_node, p_alias) || ')';
      end if;
      return '(' || logloom_private.query_test_sql(
        p_node, logloom_private.query_value_sql(p_node, p_alias), p_now_sql
      ) || ')';
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_text_test (
  p_leaf  jsonb,
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_value constant text := case when (p_leaf -> 'folds_case')::boolean
    then format(
      case when strpos(v_values::text, 'σ') > 0
        then 'replace(lower(%s collate pg_c_utf8), ''ς'', ''σ'')'
        else 'lower(%s collate pg_c_utf8)' end,
      p_value
    ) else p_value end;
begin
  return case p_leaf ->> 'test'
    when 'equal' then v_value || logloom_private.equal_test(v_values)
    when 'like' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'contains' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'word' then v_value || ' ~ ' || quote_literal(v_values ->> 1)
    when 'regex' then v_value || ' collate "C" ~ ' || quote_literal(v_values ->> 0)
    when 'network' then
      'logloom_private.address_in(' || v_value || ', ' || quote_literal(v_values ->> 0) || '::inet)'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_value_sql (
  p_field jsonb,
  p_alias text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias) || logloom_private.query_path_sql(
    array(select jsonb_array_elements_text(p_field -> 'path'))
  );
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.range_sql (
  p_bounds       jsonb,
  p_value        text,
  p_is_attribute boolean
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number constant text := 'logloom_private.text_number(' || p_value || ' #>> ''{}'')';
begin
  if not p_is_attribute then
    return coalesce(
      logloom_private.bounds_sql(p_bounds, p_value || ' collate "C"'), p_value || ' is not null'
    );
  elsif p_bounds ->> 'unit' is not null then
    return logloom_private.bounds_sql(
      p_bounds,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_bounds ->> 'unit') || ')',
      '::numeric'
    );
  end if;
  -- jsonb orders types before values, so the type comes first.
  return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
    || coalesce(logloom_private.bounds_sql(p_bounds, p_value), 'true')
    || ' when ''string'' then '
    || coalesce(
      logloom_private.bounds_sql(p_bounds, v_number, '::numeric'), v_number || ' is not null'
    )
    || ' end';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'series');
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
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
          date_bin($4, lower($5), $6),
          date_bin($4, upper($5) - interval '1 microsecond', $6),
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
    make_interval(secs => v_seconds), v_range, logloom_private.bucket_origin(v_seconds);
  return row(
    v_seconds, coalesce(v_series, '{}'),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seconds_of (
  p_unit text
)
  RETURNS numeric
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN CASE p_unit WHEN 'ns'::text THEN 0.000000001 WHEN 'ms'::text THEN 0.001 WHEN 's'::text THEN (1)::numeric WHEN 'm'::text THEN (60)::numeric WHEN 'h'::text THEN
  (3600)::numeric WHEN 'd'::text THEN (86400)::numeric WHEN 'w'::text THEN (604800)::numeric ELSE 0.000001 END;

CREATE OR REPLACE FUNCTION logloom_private.service_counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_source logloom_private.counted_source;
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- As count() by service, level is counted.
  p_query.by_fields := array['level', 'service'];
  p_query.plan := '{"reads": ["level", "service"]}';
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    'select %s as ts, l.level, l.service, %s as count '
      '%s group by 1, 2, 3',
    logloom_private.bucket_sql(p_seconds), v_source.count_sql, v_source.rows_sql
  );
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
  v_key constant text := logloom_private.only_number(p_query);
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
  -- Counts are of what is stored: of fields that are not hidden.
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and p_query.masked_tree is null
    and (p_query.by_fields && p_query.hidden_fields) is not true
  then
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
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_is_sealed and p_query.hidden_fields is null and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.rows_sql is not null then
      return v_groups;
    end if;
  end if;
  v_rows := logloom_private.staged_sql(p_query, logloom_private.records_sql(
    p_tenant_id, p_query, v_from, v_to,
    case when not p_query.plan ? 'rows' then
      logloom_private.query_reads(p_query.plan)
        || case when p_bucket is null then '{}' else array['ts'] end
    end
  ));
  if jsonb_array_length(
    jsonb_path_query_array(p_query.plan, 'strict $.** ? (@.field == "attrs")')
  ) > 4 then
    v_rows := logloom_private.held_rows_sql(v_rows);
  end if;
  -- Counting a column: what is sorted to be grouped has more than the one that it is grouped by,
  -- and of one alone PostgreSQL 17 does not count the memory.
  return (
    v_rows, 'count(l.tenant_id)::double precision', null, false
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.template_counts_sql (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_test constant text := logloom_private.templates_sql(p_tree);
  v_folds constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == true)'
  );
  v_keeps_case constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == false)'
  );
begin
  if v_test is null then
    return null;
  elsif not v_folds and not v_keeps_case then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.blocks c
      cross join lateral unnest(c.run_services, c.run_levels, c.run_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.block_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The templates are
  -- read where the words of a run say that it may have one.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_templates || '{}'::text[] as templates,
          x.stored_template_records || '{}'::integer[] as template_records
        from (
          select
            c.separator, c.run_services, c.run_levels, c.run_records, c.run_templates,
            c.templates as stored_templates, c.template_records as stored_template_records,
            array(
              select l.n::integer
              from unnest(c.run_services, c.run_levels, c.run_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.blocks c
          where c.tenant_id = $1 and c.block_id = any($2) and logloom_private.take_scan_slot($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.templates)::integer from unnest(c.run_templates[1:l.n]) u (templates)
        ) as last
        from (
          select
            f.n, c.run_services[f.n] as service, c.run_levels[f.n] as level,
            c.run_records[f.n] as records, c.run_templates[f.n] as template_count,
            c.templates[f.n] as templates, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.template_records[s.last - s.template_count + 1:s.last])
          u (msg, folded, count)
        where s.template_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.template_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.runs_sql(p_tree, true),
    case when v_folds then 'logloom_private.folded_text(c.templates[f.n])'
      else 'null::text' end,
    logloom_private.runs_sql(p_tree, false),
    case when v_keeps_case then 'string_to_array(s.templates, c.separator)'
      else 'null::text[]' end,
    case when v_folds then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.text_number (
  p_text text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if octet_length(p_text) <= 300
    and p_text collate "C" ~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?0*[0-9]{1,3})?$'
    and pg_input_is_valid(p_text, 'double precision')
  then
    return trim_scale(p_text::numeric);
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.words_sql (
  p_leaf jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    '(l.words is null or ' || (
      select string_agg(
        format(
          'strpos(%s, %L) > 0',
          -- Words are stored with both small letters of a sigma.
          case when strpos(w.word, 'σ') > 0 then 'replace(l.words, ''ς'', ''σ'')'
            else 'l.words' end,
          w.word
        ),
        ' and ' order by w.n
      )
      from jsonb_array_elements_text(p_leaf -> 'template' -> 'words')
        with ordinality w (word, n)
    ) || ')',
    'true'
  );
end;
$function$;

-- What a query compiles to has changed.
delete from logloom_private.alert_plans where true;

select logloom_private.finish_migration();
