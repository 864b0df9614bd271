-- A JSON text of any depth, and any query, costs a search what it may cost.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

drop function logloom_private.numbers_aggregate_sql(jsonb);
drop function logloom_private.canonical_numbers(jsonb);

create or replace function logloom_private.short_number(p_number numeric)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number constant numeric := trim_scale(p_number);
  v_text text;
  v_exponent integer;
  v_digits integer;
  v_written integer;
begin
  if abs(v_number) < 1e19 and scale(v_number) <= 19 then
    return to_jsonb(v_number);
  end if;
  -- Its binary form has 8 bytes, and 2 for each four digits: so many places hold them all.
  v_text := to_char(
    abs(v_number), '9.' || repeat('9', 2 * octet_length(numeric_send(v_number)) - 16) || 'EEEE'
  );
  v_exponent := split_part(v_text, 'e', 2)::integer;
  v_text := trim(split_part(v_text, 'e', 1), ' 0.');
  v_digits := octet_length(replace(v_text, '.', ''));
  v_text := v_text || case when v_exponent < 0 then 'e' else 'e+' end || v_exponent;
  v_written := case when v_exponent < 0 then v_digits - v_exponent + 1
    else greatest(v_exponent + 1, v_digits + (v_digits > v_exponent + 1)::integer) end;
  if v_written <= 40 - (v_number < 0)::integer or octet_length(v_text) >= v_written then
    return to_jsonb(v_number);
  end if;
  return to_jsonb(case when v_number < 0 then '-' else '' end || v_text);
end;
$$;

create or replace function logloom_private.canonical_numbers(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      coalesce(m.part[1], logloom_private.short_number(m.part[2]::numeric)::text), '' order by m.n
    )::jsonb
    from regexp_matches(
      p_text, '((?:[^-0-9"]|"(?:[^"\\]|\\.)*")+)|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)', 'g'
    ) with ordinality m (part, n)
  );
end;
$$;

create or replace function logloom_private.extract_json(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    -- Texts with few brackets, as most are, need not be looked at.
    or char_length(p_text) - char_length(translate(p_text, '[{', '')) > 64
      and p_text !~ (
        '^[ \t\r\n]*' || repeat('[[{](?:[^][{}"]|"(?:[^"\\]|\\.)*"|', 64) || '[^][{}"]'
          || repeat(')*[]}]', 64)
      )
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]|[-0-9.]{41}' then
    return logloom_private.canonical_numbers(p_text);
  end if;
  return p_text::jsonb;
end;
$$;

create or replace function logloom_private.numbers_aggregate_sql(p_aggregate jsonb, p_n bigint)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'logloom_private.finite_double(' || case p_aggregate ->> 'kind'
    when 'sum' then 'coalesce(sum(l.total), 0)'
    when 'avg' then 'sum(l.total) / nullif(sum(l.numbers), 0)'
    when 'min' then 'min(l.minimum)'
    when 'max' then 'max(l.maximum)'
    else 'max(l.q' || p_n || ')'
  end || ')';
end;
$$;

create or replace function logloom_private.stats_values_sql(
  p_aggregates jsonb,
  p_source logloom_private.counted_source,
  p_minutes numeric
)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count' then p_source.count_sql
      when a.item ->> 'kind' = 'rate'
        then p_source.count_sql || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item, a.n)
      else logloom_private.query_aggregate_sql(a.item, 'l')
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$$;

create or replace function logloom_private.groups_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_rows_from timestamptz,
  p_key text default null
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_by constant jsonb := p_query.plan -> 'by';
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_percentiles constant jsonb := (
    select jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_query.plan -> 'aggregates') with ordinality a (item, n)
    where p_key is not null and a.item ->> 'fraction' is not null
  );
  v_doubles constant boolean := v_percentiles is not null;
  v_names constant text[] := array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(v_by) with ordinality f (field, n)
    order by f.n
  );
  v_by_names constant text[] := array(select distinct n from unnest(v_names) n order by 1);
  v_group constant text := array_to_string(
    array(select format('l.k%s, ', n) from generate_subscripts(v_names, 1) n order by n), ''
  );
  v_keys text;
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or exists (
      select
      from jsonb_array_elements(v_by) f
      where f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
    )
  then
    return null;
  end if;
  v_keys := (
    select string_agg(
      format(
        case when k.name like 'attrs.%' then '(g.keys[%s]::jsonb #>> ''{}'')' else 'g.keys[%s]' end
          || ' as k%s, ',
        array_position(v_by_names, k.name), k.n
      ),
      '' order by k.n
    )
    from unnest(v_names) with ordinality k (name, n)
  );
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ', v_keys, 'g.events',
    case when v_exact then ', g.numbers, g.total, g.minimum, g.maximum' end,
    case when v_doubles then ', g.doubles' end, ' from ', v_sql, ' g'
  );
  if p_rows_from < p_query.ts_to then
    v_keys := (
      select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
      from unnest(p_query.by_sql) with ordinality b (sql, n)
    );
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ', v_keys,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_names || ('attrs.' || p_key), null)
      ),
      ' offset 0) l',
      -- In parts, so that no array becomes long.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.percentiles_sql(
      v_sql, array(select 'r.k' || n from generate_subscripts(v_names, 1) n order by n),
      v_percentiles
    );
  end if;
  return (
    'from (' || v_sql || ') l', 'coalesce(sum(l.events), 0)::double precision',
    array(select 'l.k' || n from generate_subscripts(v_names, 1) n order by n), p_key is not null
  )::logloom_private.counted_source;
end;
$$;

create or replace function logloom_private.stages_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Write count(), rate(), count_distinct(field), or sum, avg, min, max, p50, p95, p99 or '
        'p99.9 of an attribute, min or max of ts; then nothing or: by field, field. Other '
        'stages are where, sort, limit, fields, json, logfmt and patterns.'
    ),
    e.explanation
  from (
    values
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', 'Write %2$s', null),
    ('stages.aggregate_is_of_another_language', 400, 'Unknown aggregate %s', 'Write %2$s', null),
    ('stages.stage_is_of_another_language', 400, 'Unknown stage %s', 'Write %2$s', null),
    ('stages.aggregate_needs_a_bar', 400, 'A term is missing before %s',
      'An aggregate follows a bar: %2$s', null),
    ('stages.or_is_a_word', 400, '|| is no operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('stages.or_joins_values', 400, '| is no operator', 'Write %s', null),
    ('stages.bar_is_missing', 400, 'Nothing may follow %s here: %s', 'Write %3$s', null),
    ('stages.comma_is_missing', 400, 'Nothing may follow %s here: %s',
      'Separate names by commas: service, host. A stage ends at the next | or at the end.', null),
    ('stages.field_is_unknown', 400, 'Unknown field %s', '%2$sThe fields are %3$s.', null),
    ('stages.width_is_a_bracket', 400, 'Unknown field %s',
      'A width of time is written (%2$s): | count() by (%2$s)', null),
    ('stages.aggregate_is_not_closed', 400, 'A closing bracket is missing', null, null),
    ('stages.width_is_not_closed', 400, 'A closing bracket is missing', 'Write by (5m), service.',
      null),
    ('stages.aggregate_is_missing', 400, 'An aggregate is missing after |', null, null),
    ('stages.aggregate_is_unknown', 400, 'Unknown aggregate %s', null, null),
    ('stages.takes_an_attribute', 400, '%s takes an attribute',
      'Write an attribute that holds numbers, such as @duration_ms.', null),
    ('stages.takes_no_field', 400, '%s takes no field',
      'Write %1$s(). count_distinct(user_id) counts different values.', null),
    ('stages.stage_is_unknown', 400, 'Unknown stage %s', null, null),
    ('stages.name_is_missing', 400, 'A name is missing after as',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after by (',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.two_widths', 400, 'by has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Leave one out, or name an aggregate: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.too_many_fields', 400, 'More than 50 fields', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, 'by is missing after sort',
      'Write | sort by %s', null),
    ('stages.sort_column_is_missing', 400, 'A name to sort by is missing', 'The columns are %2$s.',
      null),
    ('stages.sort_ts_is_missing', 400, 'A name to sort by is missing',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.sort_column_is_unknown', 400, 'No column to sort by: %s', 'The columns are %2$s.',
      null),
    ('stages.records_are_sorted_by_ts', 400, 'Records are sorted by ts only',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.where_is_empty', 400, 'A comparison is missing after where',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.where_column_is_unknown', 400, 'No number to compare: %s',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.comparison_is_missing', 400, 'A comparison is missing after %s',
      'Write >, >=, <, <=, = or != and a number.', null),
    ('stages.number_is_missing', 400, 'A number is missing after %s',
      'Write a number such as 10, -0.5 or 1e3.', null),
    ('stages.limit_is_out_of_range', 400, 'limit takes a whole number from 1 to 999999',
      'Write limit 10.', null),
    ('stages.any_is_for_filters', 400, 'any is only allowed in a filter',
      'Name a field, such as service or @status.', null),
    ('stages.order_is_wrong', 400, '%s is not allowed after %s',
      'The order is json, logfmt and where, then an aggregate or patterns, then where, sort and '
        'limit; without an aggregate, sort, limit and fields follow where. Each of the last '
        'stands once.', null),
    ('stages.too_many', 400, 'The query has more than 10 stages', 'Join them, or leave some out.',
      null),
    ('stages.takes_a_text', 400, '%s takes a field that holds a text',
      'Write %s msg, or an attribute that holds a text.', null),
    ('stages.something_follows', 400, 'Nothing may follow %s here: %s',
      'A stage ends at the next | or at the end of the query.', null),
    ('stages.aggregate_needs_a_field', 400, '%s needs a field', null, null),
    ('stages.by_needs_a_field', 400, 'A field is missing after by', null, null),
    ('stages.fields_needs_a_field', 400, 'A field is missing after fields',
      'Write fields ts, msg, @status.', null),
    ('stages.needs_a_field', 400, '%s needs a field',
      'Write %s msg, or an attribute that holds a text.', null)
  ) e (name, status, message, hint, explanation);
end;
$$;

create or replace function logloom_private.query_parse_stage(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stage constant text := p_state.texts[1];
  v_is_aggregate constant boolean :=
    v_stage not in ('json', 'logfmt', 'sort', 'limit', 'fields', 'where', 'patterns');
  v_fields jsonb := '[]';
  v_meant text;
begin
  if not v_is_aggregate then
    perform logloom_private.query_check_order(p_plan, v_stage, p_state.positions[1]);
  end if;
  p_state."at" := 2;
  case v_stage
    when 'json', 'logfmt' then
      p_state := logloom_private.query_stage_field(p_state, 'stages.needs_a_field', v_stage);
      if p_state.node ->> 'field' in ('ts', 'received_at', 'id', 'level') then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.takes_a_text', v_stage);
      end if;
      p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]')
        || jsonb_build_object('stage', v_stage, 'field', p_state.node));
    when 'sort' then
      p_state := logloom_private.query_parse_sort(p_state, p_plan);
    when 'limit' then
      if p_state.texts[2] !~ '^[1-9][0-9]{0,5}$' then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.limit_is_out_of_range');
      end if;
      p_state."at" := 3;
      p_state.node := p_plan || jsonb_build_object('limit', p_state.texts[2]::integer);
    when 'fields' then
      loop
        -- Each costs for every record of an export's page, which has to be read in time.
        if jsonb_array_length(v_fields) >= 50 then
          perform logloom_private.refuse_at(
            p_state.positions[p_state."at"], 'stages.too_many_fields'
          );
        end if;
        p_state := logloom_private.query_stage_field(
          p_state, 'stages.fields_needs_a_field', 'fields'
        );
        v_fields := v_fields || p_state.node;
        exit when p_state.texts[p_state."at"] <> ',';
        p_state."at" := p_state."at" + 1;
      end loop;
      p_state.node := p_plan || jsonb_build_object('fields', v_fields);
    when 'where' then
      p_state := logloom_private.query_parse_having(p_state, p_plan);
    when 'patterns' then
      p_state.node := p_plan || '{"patterns": true}';
    else
      p_state."at" := 1;
      p_state := logloom_private.query_parse_aggregates(p_state, p_plan);
  end case;
  if p_state.texts[p_state."at"] <> '' then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[p_state."at":cardinality(p_state.texts) - 1], p_state.node
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.bar_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        v_meant
      );
    end if;
    if v_stage = 'fields' or jsonb_array_length(p_state.node -> 'by') > 0 then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.comma_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"])
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.something_follows',
      case when v_is_aggregate then 'the aggregate' else v_stage end,
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  p_state.node := p_state.node || jsonb_build_object(
    'last', case when v_is_aggregate then 'an aggregate' else v_stage end
  );
  return p_state;
end;
$$;

create or replace function logloom_private.query_parse_by(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a);
  v_name text;
  v_width text;
  v_first integer;
begin
  loop
    p_state."at" := p_state."at" + 1;
    v_first := p_state."at";
    if p_state.texts[p_state."at"] = '(' then
      v_width := p_state.texts[p_state."at" + 1];
      if v_width !~ '^[1-9][0-9]{0,4}[smhdw]$' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 1], 'stages.width_is_missing'
        );
      elsif p_plan -> 'bucket' is not null then
        perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.two_widths');
      elsif p_state.texts[p_state."at" + 2] <> ')' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 2], 'stages.width_is_not_closed'
        );
      end if;
      p_plan := p_plan || jsonb_build_object(
        'bucket', rtrim(v_width, 'smhdw')::bigint * case right(v_width, 1)
          when 's' then 1 when 'm' then 60 when 'h' then 3600 when 'd' then 86400 else 604800 end
      );
      v_name := 'ts';
      p_state."at" := p_state."at" + 3;
    else
      p_state := logloom_private.query_stage_field(p_state, 'stages.by_needs_a_field', 'by');
      p_plan := p_plan || jsonb_build_object('by', (p_plan -> 'by') || p_state.node);
      v_name := p_state.node ->> 'name';
    end if;
    if v_name = any(v_names) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', v_name
      );
    end if;
    v_names := v_names || v_name;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan;
  return p_state;
end;
$$;

create or replace function logloom_private.log_series_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint,
  p_groups jsonb
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create or replace function logloom_private.iso_instant(p_text text)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_text ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9](?:[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]'
      || '(?::[0-5][0-9](?:\.[0-9]{1,9})?)?'
      || '(?:[Zz]|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?)?$')
    and pg_input_is_valid(left(p_text, 10), 'date')
  then
    -- Digits beyond the microsecond are dropped, where the cast would round.
    return regexp_replace(p_text, '(\.[0-9]{6})[0-9]+', '\1')::timestamptz;
  end if;
  return null;
end;
$$;

create or replace function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := coalesce(substring(p_text from '\S(?:.*\S)?'), '');
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
  v_instant constant timestamptz := logloom_private.iso_instant(v_text);
begin
  if p_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_instant is not null then
    return v_instant;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;

create or replace function logloom_private.query_time(
  p_token text,
  p_position integer,
  p_now timestamptz
)
returns logloom_private.query_span
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_shift text[];
  v_seconds numeric;
  v_instant timestamptz := logloom_private.iso_instant(v_text);
begin
  if v_instant is not null then
    return (
      v_instant,
      -- A day is its 24 hours.
      v_instant + case when char_length(v_text) = 10 then interval '24 hours'
        else interval '1 microsecond' end,
      false
    )::logloom_private.query_span;
  elsif v_text ~ '^(?:now|(?:now)?[+-][0-9]{1,10}[smhdw])$' then
    v_shift := regexp_match(v_text, '(.[0-9]+)(.)$');
    v_seconds := coalesce(v_shift[1]::numeric, 0) * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) > 3155760000 then
      perform logloom_private.refuse_at(p_position, 'query.shift_is_too_long');
    end if;
    v_instant := p_now + make_interval(secs => v_seconds);
    return (v_instant, v_instant + interval '1 microsecond', true)::logloom_private.query_span;
  end if;
  perform logloom_private.refuse_at(
    p_position, 'query.not_a_time', logloom_private.query_excerpt(v_text)
  );
  return null;
end;
$$;

create or replace function logloom_private.cursor_after(p_cursor text, p_after text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[];
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
  v_ts constant timestamptz := logloom_private.iso_instant(v_after[1]);
begin
  if p_after is null then
    return p_cursor;
  elsif v_ts is null then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_parts := logloom_private.decode_cursor(
    p_cursor,
    '^(page (?:desc|asc)) \d{1,18} (\d{1,18}) (\d{1,18}) (\d{1,18}) [0-9a-f-]{36}(.*)$'
  );
  -- In a range that has moved on since, records after that place may be missing.
  if not v_ts <@ tstzrange(
    'epoch'::timestamptz + (v_parts[2] || ' microseconds')::interval,
    'epoch'::timestamptz + (v_parts[3] || ' microseconds')::interval
  ) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  return logloom_private.encode_cursor(array[
    v_parts[1], (extract(epoch from v_ts) * 1000000)::bigint::text,
    v_parts[2], v_parts[3], v_parts[4], v_after[2] || v_parts[5]
  ]);
end;
$$;

create or replace function logloom_private.granted_functions()
returns table (roles text, names text[])
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_entry_of', 'alert_incident_of',
        'alert_incident_state', 'alert_rule_of', 'alert_silence_of', 'alert_silence_state',
        'api_key_status', 'change_log_stream', 'change_log_view', 'change_member',
        'changed_rule_secrets', 'changed_secrets', 'check_query', 'check_settings',
        'checked_panels', 'choose_tenant', 'confirm_address', 'current_admin_tenant_id',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_alert_silence', 'end_portal_session', 'enqueue_rule_test', 'enroll_member',
        'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer', 'iso_instant',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_dashboard_of', 'log_view_of', 'make_alert_silence', 'make_log_stream', 'make_log_view',
        'my_key_reads', 'my_stored', 'my_usage', 'new_api_key', 'note_saved_search_run',
        'page_of_addresses', 'page_of_deliveries', 'page_of_stream_failures', 'page_of_streams',
        'page_place', 'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_archive', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_overview', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_memberships',
        'read_query_validity', 'read_saved_search', 'read_saved_searches', 'read_shown_dashboards',
        'reads_again', 'reads_only', 'refuse_for_now', 'refuse_log_dashboard',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_stream', 'remove_log_view',
        'replace_webhook_secret', 'request_deletion', 'request_restore', 'request_stream_test',
        'require_groups', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_room_for_log_dashboard', 'require_rule_in_view',
        'require_view_by_admin', 'require_view_for_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'shown_secrets', 'tags_are_valid', 'tenant_with_plan',
        'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'ingest', 'ingest_each', 'match_archive', 'next_stream_batch',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_archive_work', 'settle_claim', 'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names);
end;
$$;

select logloom_private.finish_migration();
