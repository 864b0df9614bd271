-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- query/types/query.sql
-- The query compiler: text -> tokens -> checked tree -> SQL over one alias of logloom.logs.
--
-- The tree is jsonb. A node is one of
--   {"type": "all"}, {"type": "none"}, {"type": "not", "item": node},
--   {"type": "and" | "or", "items": [node, …]},
--   {"type": "leaf", "field": …, "name": as written, "test": …, …}, with "path" and "joined" where
--   the field is attrs. The field any means every text of the record: its text columns
--   (logloom_private.query_text_columns) and the scalars of its attributes at any depth.
-- A leaf is a record that logloom_private.query_leaf makes once. The tests, what they compare with
-- (values or bounds) and their SQL: query/tests, a file each; how blocks answer them:
-- query/templates and blocks/scan.
-- With folds_case the text is compared in the lower case of lower(… collate pg_c_utf8). A leaf is
-- never true for a field without a value.
--
-- Nothing of a caller's text reaches the SQL but through quote_literal, and no expression in it
-- can raise on any record. No role is granted anything here: the functions that search, save
-- searches and evaluate alerts call these with their owner's rights.

-- Where the parser stands: every rule of the grammar takes one and answers one. texts, positions:
-- the tokens as written, white space left out, and where each begins (1-based, code points); the
-- last is the empty text, one past the end. at: the token that comes next. depth: brackets and NOTs
-- around it. leaves, searched, steps: what the query spent of its bounds. now, names_now: the
-- instant that now means, and whether it was named. warnings: [{position, message, suggestion}].
-- node: what was read last.
create type logloom_private.query_state as (
  texts text[],
  positions integer[],
  "at" integer,
  depth integer,
  leaves integer,
  searched integer,
  steps integer,
  "now" timestamptz,
  names_now boolean,
  warnings jsonb,
  node jsonb
);

-- The span [starts, ends) of time that a literal names: a microsecond for an instant, a UTC day for
-- a date. names_now: it moves with now.
create type logloom_private.query_span as (
  starts timestamptz,
  ends timestamptz,
  names_now boolean
);

-- A comparison or a range as written. A null token is no bound.
create type logloom_private.query_range as (
  lower_token text,
  lower_position integer,
  lower_open boolean,
  upper_token text,
  upper_position integer,
  upper_open boolean
);

-- A query as SQL over the alias l of logloom.logs.
--   blank         nothing but white space
--   tree, filter  what is asked of a record, and as a boolean expression
--   ts_from (inclusive), ts_to (exclusive)  bounds of ts that hold for every match
--   aggregate     the name of the first, or null; aggregate_field: its field as written;
--                 aggregate_sql: of type double precision, for rate the count, which the caller
--                 divides by the minutes of its range
--   by_fields, by_sql  the fields to group by as written, and as expressions; both empty without by
--   names_now     the query means something else as time goes by
--   plan          what follows the filter, {} for nothing (stages.sql)
--   warnings      [{position, message, suggestion}]
--   steps         what compiling took
--   hidden_fields   the names that records are read without; null: none
--   masked_tree     what is asked of records without them, where filter does not ask it already
create type logloom_private.compiled_query as (
  blank boolean,
  tree jsonb,
  filter text,
  ts_from timestamptz,
  ts_to timestamptz,
  aggregate text,
  aggregate_field text,
  aggregate_sql text,
  by_fields text[],
  by_sql text[],
  names_now boolean,
  plan jsonb,
  warnings jsonb,
  steps integer,
  hidden_fields text[],
  masked_tree jsonb
);

-- query/aggregates.sql
-- Aggregates: count() as n, p95(@duration_ms) by (5m), service

-- One aggregate and its name, as node.
create function logloom_private.query_parse_aggregate(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_kind constant text := p_state.texts[v_first];
  v_fraction numeric;
  v_name text := v_kind;
  v_field jsonb;
  v_meant text;
begin
  if v_kind ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$' then
    v_fraction := substr(v_kind, 2)::numeric / 100;
  elsif v_kind not in ('count', 'rate', 'count_distinct', 'sum', 'avg', 'min', 'max') then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first],
        case when p_state.texts[v_first + 1] = '('
          then 'stages.aggregate_is_of_another_language'
          else 'stages.stage_is_of_another_language' end,
        logloom_private.query_excerpt(v_kind),
        v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[v_first],
      case when v_kind = '' then 'stages.aggregate_is_missing'
        when p_state.texts[v_first + 1] = '(' then 'stages.aggregate_is_unknown'
        else 'stages.stage_is_unknown' end,
      logloom_private.query_excerpt(v_kind)
    );
  end if;
  if p_state.texts[v_first + 1] <> '(' then
    perform logloom_private.refuse_at(
      p_state.positions[v_first + 1],
      'stages.bracket_is_missing',
      v_kind,
      logloom_private.query_meant_stage(
        p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
      )
    );
  end if;
  p_state."at" := v_first + 2;
  if v_kind not in ('count', 'rate') then
    p_state := logloom_private.query_stage_field(p_state, 'stages.aggregate_needs_a_field', v_kind);
    v_field := p_state.node;
    if v_kind <> 'count_distinct' and v_field ->> 'field' <> 'attrs'
      and not (v_kind in ('min', 'max') and v_field ->> 'field' in ('ts', 'received_at'))
    then
      perform logloom_private.refuse_at(
        p_state.positions[v_first + 2], 'stages.takes_an_attribute', v_kind
      );
    end if;
  end if;
  if p_state.texts[p_state."at"] <> ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when v_field is null then 'stages.takes_no_field'
        else 'stages.aggregate_is_not_closed' end,
      v_kind
    );
  end if;
  p_state."at" := p_state."at" + 1;
  if p_state.texts[p_state."at"] = 'as' then
    v_name := p_state.texts[p_state."at" + 1];
    if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
      );
    end if;
    p_state."at" := p_state."at" + 2;
  end if;
  p_state.node := jsonb_build_object(
    'kind', v_kind, 'fraction', v_fraction, 'field', v_field, 'name', v_name
  );
  return p_state;
end;
$$;

-- by (5m), service
create function logloom_private.query_parse_by(
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

create function logloom_private.query_parse_aggregates(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates jsonb := '[]';
  v_first integer;
begin
  loop
    v_first := p_state."at";
    p_state := logloom_private.query_parse_aggregate(p_state, p_plan);
    if v_first = 1 then
      perform logloom_private.query_check_order(p_plan, 'an aggregate', p_state.positions[1]);
    elsif v_aggregates @> jsonb_build_array(
      jsonb_build_object('name', p_state.node ->> 'name')
    ) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', p_state.node ->> 'name'
      );
    elsif jsonb_array_length(v_aggregates) >= 8 then
      perform logloom_private.refuse_at(p_state.positions[v_first], 'stages.too_many_aggregates');
    end if;
    v_aggregates := v_aggregates || p_state.node;
    exit when p_state.texts[p_state."at"] <> ',';
    p_state."at" := p_state."at" + 1;
  end loop;
  p_plan := p_plan || jsonb_build_object('aggregates', v_aggregates, 'by', '[]'::jsonb);
  p_state.node := p_plan;
  if p_state.texts[p_state."at"] = 'by' then
    return logloom_private.query_parse_by(p_state, p_plan);
  end if;
  return p_state;
end;
$$;

-- query/aggregates_sql.sql
-- The generator: aggregates and the fields to group by.

-- The expression that a field is grouped or counted by: a column, or the text of an attribute.
create function logloom_private.query_group_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '(' || logloom_private.query_value_sql(p_field, p_alias)
    || case p_field ->> 'field' when 'attrs' then ' #>> ''{}''' else '' end || ')';
end;
$$;

-- An aggregate as an expression of type double precision; for rate the count. Times are seconds
-- since 1970.
create function logloom_private.query_aggregate_sql(p_aggregate jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
  v_text text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)::double precision';
  elsif v_kind = 'count_distinct' then
    -- Of long texts their digests: all that differ are sorted in memory.
    v_text := logloom_private.query_group_sql(p_aggregate -> 'field', p_alias);
    if p_aggregate -> 'field' ->> 'field' not in ('ts', 'received_at', 'id') then
      v_text := format(
        'case when octet_length(%1$s) <= 200 then %1$s '
          || 'else encode(sha256(convert_to(%1$s, ''UTF8'')), ''hex'') || repeat('' '', 200) end',
        v_text
      );
    end if;
    return 'count(distinct ' || v_text || ')::double precision';
  elsif p_aggregate -> 'field' ->> 'field' in ('ts', 'received_at') then
    return format(
      'extract(epoch from %s(%s))::double precision',
      v_kind, logloom_private.query_value_sql(p_aggregate -> 'field', p_alias)
    );
  end if;
  v_number := 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', p_alias) || ')';
  return case
    when v_kind = 'sum' then 'logloom_private.finite_double(coalesce(sum(' || v_number || '), 0))'
    when v_kind in ('avg', 'min', 'max')
      then 'logloom_private.finite_double(' || v_kind || '(' || v_number || '))'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by logloom_private.finite_double(' || v_number || ')))'
  end;
end;
$$;

-- query/checks.sql
-- The grammar of a word or a quoted text after a field's colon: which test it is, by its sign (''
-- where it stands for itself) and its field. A check answers the state with the leaf as node.
create function logloom_private.query_check_value(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_network inet;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if p_sign in ('', '=') then
    p_state := logloom_private.query_warn_value(p_state, p_field, p_sign, p_token, p_position);
  elsif v_name in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(p_position, 'query.takes_no_test', v_name, p_sign);
  end if;
  if p_sign = 'w=' then
    return logloom_private.query_check_word(p_state, p_field, p_token, p_position);
  elsif p_sign <> '' then
    return logloom_private.query_check_equal(
      p_state, p_field, p_sign = 'i=', p_token, p_position
    );
  elsif v_name = 'any' and p_token in ('*', '""') then
    perform logloom_private.refuse_at(p_position, 'query.any_takes_a_text');
  elsif p_token = '*' then
    p_state.node := logloom_private.query_leaf(p_field, '{"test": "exists"}');
    return p_state;
  elsif v_name in ('msg', 'any') then
    return logloom_private.query_check_contains(p_state, p_field, p_token, p_position);
  elsif v_name not in ('level', 'id', 'ts', 'received_at')
    and logloom_private.query_has_wildcard(p_token)
  then
    return logloom_private.query_check_like(p_state, p_field, p_token, p_position);
  elsif v_name in ('attrs', 'host') then
    v_network := logloom_private.query_network(p_token, p_position);
    if v_network is not null then
      p_state.node := logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'network', 'values', array[v_network::text])
      );
      return p_state;
    end if;
  end if;
  return logloom_private.query_check_equal(p_state, p_field, false, p_token, p_position);
end;
$$;

-- query/compile.sql
-- The compiler.

-- The span of ts outside which nothing can match, from the terms that every match must satisfy.
create function logloom_private.query_ts_span(p_node jsonb)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_span tstzrange := tstzrange(null, null);
begin
  if p_node ->> 'type' = 'and' then
    for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
      v_span := v_span * logloom_private.query_ts_span(p_node -> 'items' -> v_at);
    end loop;
  elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within'
    and (p_node -> 'bounds' ->> 'from')::timestamptz >= (p_node -> 'bounds' ->> 'to')::timestamptz
  then
    v_span := 'empty';
  elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within' then
    v_span := tstzrange(
      (p_node -> 'bounds' ->> 'from')::timestamptz, (p_node -> 'bounds' ->> 'to')::timestamptz
    );
  end if;
  return v_span;
end;
$$;

-- Reads the stages after the filter; the plan as node.
create function logloom_private.query_parse_stages(
  p_state logloom_private.query_state,
  p_source text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan jsonb := '{}';
  v_bar integer;
  v_next integer;
  v_meant text;
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    if p_state.texts[v_bar + 1] = '|' and logloom_private.query_is_adjacent(p_state, v_bar + 1) then
      perform logloom_private.refuse_at(p_state.positions[v_bar + 1], 'stages.or_is_a_word');
    end if;
    if logloom_private.query_is_adjacent(p_state, v_bar)
      and logloom_private.query_is_adjacent(p_state, v_bar + 1)
    then
      v_meant := logloom_private.query_meant_values(p_source, p_state.positions[v_bar]);
      if v_meant is not null then
        perform logloom_private.refuse_at(
          p_state.positions[v_bar + 1], 'stages.or_joins_values', v_meant
        );
      end if;
    end if;
    if p_state.texts[v_bar + 1] = 'where' and not v_plan ?| array['aggregates', 'patterns'] then
      perform logloom_private.query_check_order(v_plan, 'where', p_state.positions[v_bar + 1]);
      p_state."at" := v_bar + 1;
      p_state := logloom_private.query_parse_filter(logloom_private.query_advance(p_state));
      v_plan := v_plan || jsonb_build_object(
        'last', 'where',
        'rows', coalesce(v_plan -> 'rows', '[]')
          || jsonb_build_object('stage', 'where', 'tree', p_state.node)
      );
    else
      v_next := v_bar + 1;
      while p_state.texts[v_next] not in ('|', '') loop
        v_next := v_next + 1;
      end loop;
      v_read := logloom_private.query_parse_stage(
        logloom_private.query_split(
          p_state,
          substr(
            p_source, p_state.positions[v_bar] + 1,
            p_state.positions[v_next] - p_state.positions[v_bar] - 1
          ),
          p_state.positions[v_bar] + 1,
          '(?:[^ \t\r\n\u00a0(),|"<>=!]|"(?:[^"\\]|\\.)*")+|[<>!]='
        ),
        v_plan
      );
      v_plan := v_read.node;
      p_state."at" := v_next;
      p_state.steps := v_read.steps;
    end if;
    v_plan := jsonb_build_object('first', jsonb_build_object(
      'stage', p_state.texts[v_bar + 1], 'position', p_state.positions[v_bar + 1]
    )) || v_plan || jsonb_build_object('count', coalesce((v_plan -> 'count')::integer, 0) + 1);
  end loop;
  p_state.node := v_plan;
  return p_state;
end;
$$;

-- Compiles a query, null as the blank one, where now means p_now. Raises PT400 with the rule as
-- message, {"position": n} (1-based, code points) as detail and what was expected as hint. To be
-- granted to nobody: its callers are definer functions.
create function logloom_private.compile_query(p_query_dsl text, p_now timestamptz default now())
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source constant text := coalesce(p_query_dsl, '');
  v_state logloom_private.query_state;
  v_query logloom_private.compiled_query;
  v_tree jsonb;
  v_span tstzrange;
  v_aggregate jsonb;
  v_field jsonb;
begin
  if octet_length(v_source) > 2048 then
    perform logloom_private.refuse_at(
      (
        select min(n)
        from generate_series(1, 2049) n
        where octet_length(left(v_source, n)) > 2048
      ),
      'query.too_long'
    );
  end if;

  v_state := logloom_private.query_tokenize(v_source, p_now);
  v_query.blank := v_state.texts[1] = '';
  if v_state.texts[1] not in ('', '|') then
    v_state := logloom_private.query_parse_filter(v_state);
  end if;
  v_tree := v_state.node;
  v_query.plan := '{}';
  if v_state.texts[v_state."at"] = '|' then
    v_state := logloom_private.query_parse_stages(v_state, v_source);
    v_query.plan := v_state.node;
  end if;
  if strpos(v_source, '~') > 0 then
    perform logloom_private.query_check_regexes(jsonb_build_array(v_tree, v_query.plan));
  end if;

  -- What where asks before anything is extracted belongs to the filter.
  while v_query.plan -> 'rows' -> 0 ->> 'stage' = 'where' loop
    v_tree := jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_tree, v_query.plan -> 'rows' -> 0 -> 'tree')
    );
    v_query.plan := v_query.plan #- '{rows, 0}';
  end loop;

  v_span := logloom_private.query_ts_span(v_tree);
  v_query.tree := case when isempty(v_span) then '{"type": "none"}' else v_tree end;
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query.ts_from := lower(v_span);
  v_query.ts_to := upper(v_span);
  v_query.by_fields := '{}';
  v_query.by_sql := '{}';
  if v_query.plan ? 'aggregates' then
    -- The first is that of callers who know only one.
    v_aggregate := v_query.plan -> 'aggregates' -> 0;
    v_query.aggregate := v_aggregate ->> 'kind';
    v_query.aggregate_field := v_aggregate -> 'field' ->> 'name';
    v_query.aggregate_sql := logloom_private.query_aggregate_sql(v_aggregate, 'l');
    for v_field in select jsonb_array_elements(v_query.plan -> 'by') loop
      v_query.by_fields := v_query.by_fields || (v_field ->> 'name');
      v_query.by_sql := v_query.by_sql || logloom_private.query_group_sql(v_field, 'l');
    end loop;
  end if;
  v_query.names_now := v_state.names_now;
  v_query.warnings := v_state.warnings;
  v_query.steps := v_state.steps;
  return v_query;
end;
$$;

-- query/fields.sql
-- Fields: what the names of the language stand for.

-- The columns that hold a text, in the order in which "any" looks through them.
create function logloom_private.query_text_columns()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.sent and f.type = 'text'
    order by f.kind = 'level', f.ordinality
  );
end;
$$;

-- The names that stand for a field, but for attrs.
create function logloom_private.query_field_names()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.kind <> 'attrs'
    order by f.ordinality
  ) || 'any'::text;
end;
$$;

-- How many letters must change to make one name of another: added, left out, replaced.
create function logloom_private.query_distance(p_from text, p_to text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row integer[] := array(select generate_series(0, char_length(p_to)));
  v_above integer;
  v_left integer;
begin
  for v_i in 1 .. char_length(p_from) loop
    v_left := v_row[1];
    v_row[1] := v_i;
    for v_j in 1 .. char_length(p_to) loop
      v_above := v_row[v_j + 1];
      v_row[v_j + 1] := least(
        v_above + 1,
        v_row[v_j] + 1,
        v_left + (substr(p_from, v_i, 1) <> substr(p_to, v_j, 1))::integer
      );
      v_left := v_above;
    end loop;
  end loop;
  return v_row[char_length(p_to) + 1];
end;
$$;

-- The field that somebody means who writes p_name, or null.
create function logloom_private.query_near_field(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := lower(p_name collate "C");
begin
  if char_length(v_name) not between 3 and 16 and v_name <> '*' then
    return null;
  end if;
  return coalesce(
    case when v_name in ('_all', '*') then 'any' end,
    (select f.name from unnest(logloom_private.record_fields()) f where v_name = any(f.near)),
    (
      select f.name
      from unnest(logloom_private.query_field_names() || 'attrs'::text)
        with ordinality f (name, place)
      cross join lateral logloom_private.query_distance(v_name, f.name) d
      where d <= case when char_length(f.name) < 5 then 1 else 2 end and d < char_length(v_name)
      order by d, f.place
      limit 1
    )
  );
end;
$$;

-- What a name stands for: {"field": …, "name": as written, "reads": columns and attrs.KEY}, for
-- attrs with "path", and "joined", the key that is looked up where the path leads nowhere. A quoted
-- segment says exactly which key is meant, so a path that has one is never joined. @name is
-- attrs.name. p_stage: the stage or the aggregate that names it, null in a filter.
create function logloom_private.query_field(
  p_name text,
  p_position integer,
  p_stage text default null
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
  return jsonb_build_object(
    'field', 'attrs', 'name', p_name, 'path', v_path, 'joined', v_joined,
    'reads', array_remove(array['attrs.' || v_path[1], 'attrs.' || v_joined], null)
  );
end;
$$;

-- query/grammar.sql
-- The parser of brackets and operators. Each rule calls the next and the last calls the first.

-- A term, or what brackets hold, after its NOTs.
create function logloom_private.query_parse_item(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
  v_meant text;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_advance(p_state);
  elsif v_token = '-' then
    p_state."at" := p_state."at" + 1;
    if not logloom_private.query_is_adjacent(p_state, p_state."at")
      or left(p_state.texts[p_state."at"], 1) not in ('(', '"')
    then
      perform logloom_private.refuse_at(v_position, 'query.minus_negates_nothing');
    end if;
  elsif left(v_token, 1) = '-' then
    p_state.texts[p_state."at"] := substr(v_token, 2);
    p_state.positions[p_state."at"] := v_position + 1;
  elsif v_token = '(' then
    if p_state.texts[p_state."at" + 1] = ')'
      and logloom_private.query_is_adjacent(p_state, p_state."at")
      and logloom_private.query_meant_aggregate(p_state.texts[p_state."at" - 1]) is not null
    then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.aggregate_needs_a_bar', ')',
        logloom_private.query_meant_stage(p_state.texts[p_state."at" - 1:], '{}')
      );
    end if;
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_items(p_state, 'or');
    if p_state.texts[p_state."at"] <> ')' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
      );
    end if;
    p_state."at" := p_state."at" + 1;
    p_state.depth := v_depth;
    return p_state;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'query.term_is_missing_at_the_end' else 'query.term_is_missing' end,
      v_token
    );
  elsif v_token in ('[', ']', '{', '}') then
    v_meant := case v_token
      when '{' then logloom_private.query_meant_selector(p_state.texts, p_state."at")
      when '[' then coalesce(
        logloom_private.query_meant_words(p_state.texts, p_state."at" - 2),
        logloom_private.query_meant_index(p_state.texts, p_state."at")
      ) end;
    if v_meant is not null then
      perform logloom_private.refuse_at(
        v_position, 'query.range_is_foreign', v_token, v_meant
      );
    end if;
    perform logloom_private.refuse_at(v_position, 'query.bracket_is_for_ranges', v_token);
  elsif v_token = '""' then
    perform logloom_private.refuse_at(v_position, 'query.quoted_text_is_empty');
  else
    return logloom_private.query_parse_term(p_state);
  end if;

  p_state := logloom_private.query_parse_item(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$$;

-- Items side by side. p_type: and, or or, whose items are those of and: AND binds closer than OR.
create function logloom_private.query_parse_items(
  p_state logloom_private.query_state,
  p_type text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
  v_token text;
begin
  loop
    if p_type = 'or' then
      p_state := logloom_private.query_parse_items(p_state, 'and');
    else
      p_state := logloom_private.query_parse_item(p_state);
    end if;
    v_items := v_items || p_state.node;
    v_token := p_state.texts[p_state."at"];
    exit when v_token in (')', '|', '') or (v_token = 'OR') = (p_type = 'and');
    if v_token in ('AND', 'OR') then
      p_state := logloom_private.query_advance(p_state);
    end if;
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', p_type, 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

-- A filter: what stands before the first bar, or after where.
create function logloom_private.query_parse_filter(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state := logloom_private.query_parse_items(p_state, 'or');
  if p_state.texts[p_state."at"] = ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'query.bracket_closes_nothing'
    );
  end if;
  return p_state;
end;
$$;

-- query/hidden_fields.sql
-- Hidden fields: names of columns, attrs for all attributes, and attrs.PATH with the keys of a path
-- between dots. What lies below a hidden path is hidden, also where flat keys hold it.

create function logloom_private.is_hidden(p_name text, p_hidden text[])
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from unnest(p_hidden) h where p_name = h or starts_with(p_name, h || '.')
  );
end;
$$;

-- A field that query_field made, as hidden fields name it.
create function logloom_private.hidden_name(p_field jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(
    '.', p_field ->> 'field',
    (
      select string_agg(k.key, '.' order by k.n)
      from jsonb_array_elements_text(p_field -> 'path') with ordinality k (key, n)
    )
  );
end;
$$;

-- PT400 where a query names a hidden field.
create function logloom_private.refuse_hidden_fields(
  p_query logloom_private.compiled_query,
  p_query_dsl text,
  p_hidden text[]
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_tokens logloom_private.query_state;
  v_position integer;
begin
  if p_hidden is null then
    return;
  end if;
  select coalesce(f ->> 'name', f ->> 'field') into v_name
  from (
    select jsonb_path_query(
      jsonb_build_array(p_query.tree, p_query.plan), 'strict $.** ? (@.field.type() == "string")'
    ) as f
    union all
    select '{"field": "msg"}' where p_query.plan ? 'patterns'
  ) named
  where logloom_private.is_hidden(logloom_private.hidden_name(f), p_hidden)
  limit 1;
  if found then
    -- Where it stands as a name; one that is quoted in part is several tokens.
    v_tokens := logloom_private.query_tokenize(coalesce(p_query_dsl, ''), now());
    select min(t.position + n."at" - 1) into v_position
    from unnest(v_tokens.texts, v_tokens.positions) t (text, position)
    cross join lateral strpos(t.text, v_name) n ("at")
    where n."at" > 0
      and left(t.text, 1) <> '"'
      and (n."at" = 1 or substr(t.text, n."at" - 1, 1) in ('-', ','))
      and substr(t.text, n."at" + length(v_name), 1) in ('', ':', ',');
    perform logloom_private.refuse_at(
      greatest(coalesce(v_position, strpos(p_query_dsl, v_name)), 1), 'search.field_is_hidden',
      logloom_private.query_excerpt(v_name)
    );
  end if;
end;
$$;

-- A tree that holds for every record for which p_tree holds once something is hidden of it: what
-- looks through any text could find what is hidden, and is left out.
create function logloom_private.tree_without_any(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not jsonb_path_exists(p_tree, 'strict $.** ? (@.field == "any")') then
    return p_tree;
  elsif p_tree ->> 'type' <> 'and' then
    return '{"type": "all"}';
  end if;
  return jsonb_build_object('type', 'and', 'items', (
    select jsonb_agg(logloom_private.tree_without_any(i.item) order by i.n)
    from jsonb_array_elements(p_tree -> 'items') with ordinality i (item, n)
  ));
end;
$$;

-- Attributes without those at the paths p_hidden: keys between dots, of which one key of an object
-- may hold several. Objects in an array are looked through as if they were in its place.
create function logloom_private.masked_attrs(p_attrs jsonb, p_hidden text[])
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_attrs) = 'array' then
    return (
      select coalesce(
        jsonb_agg(logloom_private.masked_attrs(e.value, p_hidden) order by e.n), '[]'
      )
      from jsonb_array_elements(p_attrs) with ordinality e (value, n)
    );
  elsif jsonb_typeof(p_attrs) is distinct from 'object' then
    return p_attrs;
  end if;
  return (
    select coalesce(
      jsonb_object_agg(
        m.key,
        case when b.below = '{}' then m.value
          else logloom_private.masked_attrs(m.value, b.below) end
      ),
      '{}'
    )
    from jsonb_each(p_attrs) m
    cross join lateral (
      select array(
        select substr(h, length(m.key) + 2)
        from unnest(p_hidden) h
        where jsonb_typeof(m.value) in ('object', 'array') and starts_with(h, m.key || '.')
      ) as below
    ) b
    where not exists (
      select from unnest(p_hidden) h where m.key = h or starts_with(m.key, h || '.')
    )
  );
end;
$$;

-- SQL from "from" on: the rows of logloom.logs that p_rows, SQL of the same kind, yields, as a
-- query reads them: without its hidden fields, and of these what it asks of them. The size of what
-- is stored says something of what is hidden, and is not there either.
create function logloom_private.masked_sql(
  p_query logloom_private.compiled_query,
  p_rows text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_paths constant text[] := array(
    select substr(h, 7) from unnest(p_query.hidden_fields) h where starts_with(h, 'attrs.')
  );
begin
  if p_query.hidden_fields is null then
    return p_rows;
  end if;
  return 'from (select ' || (
    select string_agg(
      case
        when f.name = 'record_bytes' or f.name = any(p_query.hidden_fields)
          then format('null::%s as %I', f.type, f.name)
        when f.name = 'attrs' and v_paths <> '{}' then format(
          'nullif(logloom_private.masked_attrs(l.attrs, %L), ''{}'') as attrs', v_paths
        )
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  ) || format(
    ' %s) l where %s', p_rows,
    case when p_query.masked_tree is null then 'true'
      else logloom_private.query_sql(p_query.masked_tree, 'l') end
  );
end;
$$;

-- query/literals.sql
-- Literals: levels, times, numbers, quantities.

-- The level that a token means, by ingest's aliases; null of null.
create function logloom_private.query_require_level(p_token text, p_position integer)
returns text
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_word constant text := lower(v_text collate "C");
  v_level constant text := case
    when v_word in ('debug', 'info', 'warn', 'error') then v_word
    when v_word = 'trace' then 'debug'
    when v_word in ('notice', 'information') then 'info'
    when v_word = 'warning' then 'warn'
    when v_word in ('err', 'critical', 'crit', 'fatal', 'panic', 'alert', 'emerg', 'emergency')
      then 'error'
    when v_word ~ '^[1-6][0-9](?:\.[0-9]+)?$'
      then (array['debug', 'debug', 'info', 'warn', 'error', 'error'])[left(v_word, 1)::integer]
  end;
begin
  if v_level is null and v_word ~ '^[a-z]+(?:,[a-z]+)+$' then
    perform logloom_private.refuse_at(
      p_position,
      'query.level_is_a_list',
      logloom_private.query_excerpt(v_text),
      replace(v_word, ',', ' OR ')
    );
  elsif v_level is null or logloom_private.query_has_wildcard(p_token) then
    perform logloom_private.refuse_at(
      p_position, 'query.level_is_unknown', logloom_private.query_excerpt(v_text)
    );
  end if;
  return v_level;
end;
$$;

-- The span of time that a literal names; null of null.
create function logloom_private.query_time(
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

-- A text that is a quantity with a unit, in seconds or in bytes, or null. Durations may have
-- several parts (1h30m); sizes count by 1000 (kB) or by 1024 (KiB), in either letter case.
create function logloom_private.quantity(p_text text, p_unit text)
returns numeric
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
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
  elsif p_text collate "C" !~ ('^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)'
      || '(?: ?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w))*$')
  then
    return null;
  end if;
  for v_parts in
    select m from regexp_matches(p_text collate "C", '([0-9.]+) ?([^0-9 ]+)', 'g') m
  loop
    v_total := v_total + v_parts[1]::numeric * case v_parts[2]
      when 'ns' then 0.000000001 when 'ms' then 0.001 when 's' then 1 when 'm' then 60
      when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 0.000001 end;
  end loop;
  return case when left(p_text, 1) = '-' then -v_total else v_total end;
end;
$$;

-- The number of a comparison, {"unit": null, "value": …}, or the quantity,
-- {"unit": "seconds" or "bytes", …}; null of null. The value is an exact decimal as a text.
create function logloom_private.query_number(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_unit text;
  v_quantity numeric;
  v_digits text;
begin
  -- A unit ends in a letter.
  if left(p_token, 1) <> '"' and right(v_text, 1) collate "C" > '9' then
    foreach v_unit in array array['seconds', 'bytes'] loop
      v_quantity := logloom_private.quantity(v_text, v_unit);
      if v_quantity is not null then
        return jsonb_build_object('unit', v_unit, 'value', trim_scale(v_quantity)::text);
      end if;
    end loop;
  end if;
  if left(p_token, 1) = '"' or v_text !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$' then
    perform logloom_private.refuse_at(
      p_position, 'query.not_a_number', logloom_private.query_excerpt(v_text)
    );
  end if;
  v_digits := coalesce(substring(v_text from '[eE][+-]?0*([0-9]*)$'), '');
  if char_length(v_digits) > 3 or ('0' || v_digits)::integer > 400 then
    perform logloom_private.refuse_at(p_position, 'query.number_is_out_of_range');
  end if;
  return jsonb_build_object('unit', null, 'value', trim_scale(v_text::numeric)::text);
end;
$$;

-- query/query_leaf.sql
-- A leaf of the tree: a test of a field, and what follows from them.
--   decided_by   what answers it in a block: run (service, level), dictionary (a column of values),
--                numbers (a column, of whole numbers without their texts), template (messages), or
--                filter: a look at each record
--   rows_index   an index of the rows may answer it, or a look at one short column
--   block_quick  a block answers it without the texts of its records; an attribute only where its
--                column has numbers
--   template     over messages or any text: what leaf_template says of the test
create function logloom_private.query_leaf(p_field jsonb, p_test jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field constant text := p_field ->> 'field';
  v_test constant text := p_test ->> 'test';
  v_folds constant boolean := coalesce((p_test -> 'folds_case')::boolean, false);
  v_decided_by constant text := case
    when v_field in ('service', 'level') then 'run'
    when v_field in ('msg', 'any') then 'template'
    when v_field in ('id', 'ts', 'received_at') then 'filter'
    when v_field = 'attrs' and v_test = 'range' and p_test -> 'bounds' ->> 'unit' is null
      then 'numbers'
    else 'dictionary'
  end;
begin
  return p_field || p_test || jsonb_build_object(
    'type', 'leaf',
    'folds_case', v_folds,
    'decided_by', v_decided_by,
    'rows_index',
    v_field not in ('attrs', 'any') and v_test in ('equal', 'exists', 'within', 'range'),
    'block_quick', case v_field
      when 'ts' then true
      when 'msg' then v_test in ('equal', 'exists', 'contains')
      when 'attrs' then jsonb_array_length(p_field -> 'path') = 1
      else v_decided_by = 'run'
        or v_decided_by = 'dictionary' and v_test in ('equal', 'exists') and not v_folds
    end
  ) || case when v_decided_by = 'template' then jsonb_build_object(
    'template', logloom_private.leaf_template(v_test, p_test -> 'values')
  ) else '{}' end;
end;
$$;

-- query/query_meant_comparison.sql
-- name=value, name!=value, name>5 as one word: the query that was meant, or null.
create function logloom_private.query_meant_comparison(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant text[] := regexp_match(
    p_token,
    '^(@?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(===?|!=|<>|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text;
  v_is_not constant boolean := v_parts[2] in ('!=', '<>', '!~');
  v_value constant text := regexp_replace(v_parts[3], '^''(.*)''$', '\1');
begin
  if v_parts is null then
    return null;
  end if;
  v_name := case when v_parts[1] in ('earliest', 'latest') then 'ts'
    else logloom_private.query_meant_name(v_parts[1]) end;
  if v_parts[1] in ('earliest', 'latest') and v_parts[2] = '=' then
    return case v_parts[1] when 'earliest' then 'ts:>=' else 'ts:<' end || v_value;
  elsif v_parts[3] ~* '^null$' then
    return case when v_is_not then '' else '-' end || v_name || ':*';
  end if;
  return case when v_is_not then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_value, '"', '\"') || '"'
      when v_parts[2] in ('>', '>=', '<', '<=') then v_parts[2] || v_value
      when v_value ~ '^[[:alnum:]_./*?-]+$' then v_value
      else '"' || regexp_replace(v_value, '(["\\])', '\\\1', 'g') || '"'
    end;
end;
$$;

-- query/query_meant_index.sql
-- attrs["x"]:1, attrs["x"] >= 1: the term that is meant where the bracket is at p_at, or null.
create function logloom_private.query_meant_index(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := '@' || btrim(logloom_private.query_text(p_texts[p_at + 1]), '''');
  v_value constant text := p_texts[p_at + 3];
begin
  if p_texts[p_at - 1] !~ '^@?attrs$' or p_texts[p_at + 2] is distinct from ']'
    or v_name !~ '^@[[:alpha:]_][[:alnum:]_.@-]*$'
  then
    return null;
  elsif left(v_value, 1) = ':' then
    return v_name || v_value || case v_value when ':' then left(p_texts[p_at + 4], 60) else '' end;
  end if;
  return coalesce(
    logloom_private.query_meant_words(v_name || p_texts[p_at + 3:], 1),
    logloom_private.query_meant_comparison(v_name || v_value),
    v_name || ':*'
  );
end;
$$;

-- query/query_meant_name.sql
-- How a name of another language is written here: a field's name, or that of an attribute.
create function logloom_private.query_meant_name(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Ingest makes fields of these.
  v_name constant text := case when p_name in ('@timestamp', '@message', '@level')
    then substr(p_name, 2) else p_name end;
begin
  if left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
    or v_name = any(logloom_private.query_field_names())
  then
    return v_name;
  end if;
  return coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
end;
$$;

-- query/query_meant_selector.sql
-- What is meant by a selector of LogQL whose { is at p_at, {app="api"}, and by the function around
-- it; or null.
create function logloom_private.query_meant_selector(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_meant constant text := logloom_private.query_meant_comparison(
    p_texts[p_at + 1] || logloom_private.query_text(p_texts[p_at + 2])
  );
begin
  return v_meant || case
    when p_texts[p_at - 1] is distinct from '(' then ''
    when p_texts[p_at - 2] = 'rate' then ' | rate()'
    when p_texts[p_at - 2] = 'count_over_time' then ' | count()'
    else '' end
    || case when p_texts[p_at - 1] = '(' and p_texts[2:3] = array['by', '(']
      then ' by ' || logloom_private.query_meant_name(p_texts[4]) else '' end;
end;
$$;

-- query/query_meant_stage.sql
-- What stands for an aggregate of another language: its name, or null where there is none.
create function logloom_private.query_meant_aggregate(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_name in ('count', 'rate', 'sum', 'avg', 'min', 'max', 'count_distinct') then p_name
    when p_name ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$' then p_name
    when p_name ~ '^(?:perc|pct|pc)[1-9][0-9]?$' then 'p' || substring(p_name from '[0-9]+')
    when p_name = 'median' then 'p50'
    when p_name in ('percentile', 'percentiles', 'quantile', 'pct') then 'p95'
    when p_name in ('mean', 'average') then 'avg'
    when p_name in ('dc', 'dcount', 'distinct_count', 'count_uniq', 'uniq', 'cardinality')
      then 'count_distinct'
  end;
end;
$$;

-- What to write instead of the stage that begins with the first token, or null: stages of other
-- languages, an aggregate without its brackets, a comparison without where.
create function logloom_private.query_meant_stage(p_texts text[], p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_column constant text := coalesce(
    p_plan -> 'aggregates' -> 0 ->> 'name', case when p_plan ? 'patterns' then 'count' end
  );
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
  -- The width of timechart span=5m, of bin(5m).
  v_width text := (
    select substring(t from '[1-9].*')
    from unnest(p_texts) t
    where t ~ '^(?:_time:)?[1-9][0-9]{0,4}[smhdw]$'
    limit 1
  );
  v_keys text[];
  v_kind text;
  v_place integer;
begin
  if p_texts[2] in ('>', '>=', '<', '<=', '=', '!=') and v_word ~ '^[[:alpha:]_@]' then
    return '| where ' || case when v_column is not null then array_to_string(p_texts[1:3], ' ')
      else logloom_private.query_meant_words(p_texts, 1) end;
  elsif v_word in ('>', '>=', '<', '<=', '=', '!=') and v_column is not null then
    return '| where ' || v_column || ' ' || v_word || ' ' || p_texts[2];
  elsif v_word in ('=', '!=') or v_word = '~' then
    -- |= "text", |~ "regex"
    return case v_word when '~' then 'msg:~' when '!=' then '-' else '' end || p_texts[2]
      || ' before the first |';
  elsif v_word in ('head', 'take', 'first', 'last', 'limit') then
    return '| limit ' || v_number;
  elsif v_word = 'tail' then
    return '| sort by ts | limit ' || v_number;
  elsif v_word in ('order', 'sort') then
    return '| sort by ' || coalesce(
      nullif(array_to_string(p_texts[coalesce(v_by, 1) + 1:], ' '), ''), 'ts desc'
    );
  elsif v_word in ('filter', 'search', 'having', 'where') then
    return '| where ' || case
      when v_column is not null and p_texts[3] ~ '^[<>=!]' then array_to_string(p_texts[2:4], ' ')
      when v_column is not null then v_column || ' > 10'
      else coalesce(logloom_private.query_meant_words(p_texts, 2), 'service:api') end;
  elsif v_word in ('project', 'table', 'keep', 'select', 'display') then
    v_keys := array(
      select logloom_private.query_meant_name(t)
      from unnest(p_texts[2:]) t
      where t ~ '^@?[[:alpha:]_]'
      limit 3
    );
    return '| fields ' || coalesce(nullif(array_to_string(v_keys, ', '), ''), 'ts, msg');
  elsif v_word in ('parse', 'rex', 'extract', 'unpack_json', 'spath') then
    return '| json msg, or | logfmt msg: other texts are not taken apart';
  elsif v_word = 'unpack_logfmt' then
    return '| logfmt msg';
  elsif v_word in ('eval', 'extend', 'let', 'compute', 'math', 'fillnull') then
    return 'the value as an attribute where the event is sent: a query makes no fields';
  elsif v_word in ('rename', 'project-rename', 'label_format') then
    return 'the name that it has: only an aggregate gets another, | count() as n';
  end if;

  v_keys := array(
    select logloom_private.query_meant_name(t)
    from unnest(
      p_texts[coalesce(v_by, 1) + 1:coalesce(
        case when p_texts[v_by + 1] = '(' then array_position(p_texts, ')', v_by) end,
        cardinality(p_texts)
      )]
    ) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
      and lower(t collate "C") not in ('by', 'bin', 'span', 'limit', 'as', '_time', 'count', 'time')
      and p_texts[coalesce(v_by, 1) + place::integer + 1] is distinct from '('
    order by place
    limit 2
  );
  if v_word = 'top' then
    return format(
      '| count() as n by %s | sort by n desc | limit %s', coalesce(v_keys[1], 'service'), v_number
    );
  elsif v_word in ('dedup', 'uniq', 'distinct') and p_texts[2] is distinct from '(' then
    return format('| count() by %s: a row for each value', coalesce(v_keys[1], 'service'));
  elsif v_word in ('bin', 'bucket', 'timeslice') then
    return format('| count() by (%s)', coalesce(v_width, '5m'));
  end if;

  v_place := case
    when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then (
      select min(place) from unnest(p_texts) with ordinality u (t, place)
      where place > 1
        and logloom_private.query_meant_aggregate(lower(t collate "C")) is not null
    )
    else 1 end;
  v_kind := coalesce(
    logloom_private.query_meant_aggregate(lower(p_texts[v_place] collate "C")),
    case when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then 'count' end
  );
  if v_kind is null then
    return null;
  elsif lower(p_texts[v_place] collate "C") in ('percentile', 'percentiles', 'quantile', 'pct') then
    -- quantile(0.99, x) and percentile(x, 99)
    v_kind := 'p' || coalesce(
      (
        select trim_scale(case when t::numeric <= 1 then 100 else 1 end * t::numeric)
        from unnest(p_texts) t
        where t ~ '^(?:[1-9][0-9]|0?[.][0-9]{1,3})$'
        limit 1
      ),
      95
    );
  end if;
  if v_by is null then
    v_keys := '{}';
  end if;
  v_width := coalesce('(' || v_width || ')', case v_word when 'timechart' then '(5m)' end);
  v_keys := array_remove(v_width || v_keys, null);
  return '| ' || v_kind || '(' || case
      when v_kind in ('count', 'rate') then ''
      else logloom_private.query_meant_argument(p_texts[v_place + 1:], v_kind) end || ')'
    || coalesce(' by ' || nullif(array_to_string(v_keys, ', '), ''), '');
end;
$$;

-- The field of an aggregate in p_texts, which follow its name: a name, not the fraction before it.
create function logloom_private.query_meant_argument(p_texts text[], p_kind text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := (
    select t from unnest(p_texts) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$' and t <> 'by' and place <= 5
    order by place limit 1
  );
begin
  return case
    when v_name is null and p_kind = 'count_distinct' then 'user_id'
    when v_name is null then '@duration_ms'
    when p_kind = 'count_distinct' or left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
      then logloom_private.query_meant_name(v_name)
    when p_kind in ('min', 'max') and logloom_private.query_near_field(v_name) = 'ts' then 'ts'
    else '@' || v_name
  end;
end;
$$;

-- query/query_meant_term.sql
-- What is meant by a term whose field another language has, or null: _exists_:user_id,
-- !level:debug, status:error, *:text, _time:5m.
create function logloom_private.query_meant_term(p_name text, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_name in ('_exists_', '_missing_') and p_value ~ '^@?[[:alpha:]_]'
      then case p_name when '_missing_' then '-' else '' end
        || logloom_private.query_meant_name(p_value) || ':*'
    when p_name ~ '^!.' and p_value <> ''
      then '-' || logloom_private.query_meant_name(substr(p_name, 2)) || ':' || left(p_value, 60)
    when p_name = 'status' and p_value ~* '^(?:debug|info|warn|warning|error|critical)$'
      then 'level:' || p_value
    when p_name = '*' and p_value <> '' then 'any:' || left(p_value, 60)
    when p_name = '_time' and p_value ~ '^[1-9][0-9]{0,9}[smhdw]$' then 'ts:-' || p_value
  end;
end;
$$;

-- query/query_meant_values.sql
-- level:error|warn: the term that is meant where the bar at p_position stands between values of
-- one field, or null.
create function logloom_private.query_meant_values(p_source text, p_position integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_term constant text[] := regexp_match(
    left(p_source, p_position - 1),
    '(?:^|[ (])(-?@?[[:alpha:]_][[:alnum:]_.@-]*):([[:alnum:]_.*-]+)$'
  );
  v_words constant text[] := string_to_array(
    substring(substr(p_source, p_position + 1) from '^[[:alnum:]_.*|-]+'), '|'
  );
  v_values text;
begin
  select string_agg(w.word, ' OR ' order by w.place) into v_values
  from unnest(v_words) with ordinality w (word, place)
  where w.place < coalesce(
    (
      select min(s.place)
      from unnest(v_words) with ordinality s (word, place)
      where s.word in ('', 'json', 'logfmt', 'fields', 'patterns')
        or logloom_private.query_meant_stage(array[s.word], '{}') is not null
    ),
    cardinality(v_words) + 1
  );
  return v_term[1] || ':(' || v_term[2] || ' OR ' || v_values || ')';
end;
$$;

-- query/query_meant_words.sql
-- What is meant by the words that begin with the one at p_at, where they are a comparison of
-- another language with blanks in it: level = "error", status != null, msg like '%x%'. Or null.
create function logloom_private.query_meant_words(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_texts[p_at];
  v_word constant text := lower(p_texts[p_at + 1] collate "C");
  v_value text := p_texts[p_at + 2];
  v_end integer;
begin
  if p_at < 1 or v_word is null or v_name !~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
    or lower(v_name collate "C") in ('and', 'or', 'not', 'where')
    or v_word !~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|is|in|between|like|contains)$'
  then
    return null;
  elsif v_word = 'is' then
    return case
      when lower(v_value collate "C") = 'null'
        then '-' || logloom_private.query_meant_name(v_name) || ':*'
      when lower(v_value collate "C") = 'not'
        and lower(p_texts[p_at + 3] collate "C") = 'null'
        then logloom_private.query_meant_name(v_name) || ':*'
    end;
  elsif v_word = 'in' then
    v_end := least(
      array_position(p_texts, ')', p_at + 3), array_position(p_texts, ']', p_at + 3)
    );
    if v_value not in ('(', '[') or v_end is null then
      return null;
    end if;
    v_value := array_to_string(p_texts[p_at + 3:v_end - 1], ' ');
    return logloom_private.query_meant_name(v_name) || ':('
      || regexp_replace(translate(btrim(v_value), '''', ''), '\s*,\s*', ' OR ', 'g') || ')';
  elsif v_word in ('between', 'like', 'contains')
    and v_value !~ (case v_word when 'between' then '^-?[0-9]' else '^[''"%/]' end)
    and left(v_name, 1) <> '@' and left(logloom_private.query_meant_name(v_name), 1) = '@'
  then
    -- Two words of a message.
    return null;
  elsif v_word = 'between' then
    return logloom_private.query_meant_name(v_name) || ':['
      || v_value || ' TO ' || coalesce(nullif(p_texts[p_at + 4], ''), '*') || ']';
  elsif not logloom_private.query_is_term(v_value) then
    return null;
  elsif left(v_value, 1) = '''' then
    -- What stands in single quotes is one text, blanks and all.
    select min(n) into v_end
    from generate_series(p_at + 2, least(p_at + 12, cardinality(p_texts))) n
    where p_texts[n] ~ '''$' and (n > p_at + 2 or char_length(p_texts[n]) > 1);
    v_value := array_to_string(p_texts[p_at + 2:coalesce(v_end, p_at + 2)], ' ');
    v_value := btrim(v_value, '''');
  elsif v_value = 'now' and p_texts[p_at + 3] = '(' then
    -- now() - interval '1 hour'
    v_value := 'now-1h';
  else
    v_value := logloom_private.query_text(v_value);
  end if;
  if v_word not in ('like', 'contains') then
    return logloom_private.query_meant_comparison(
      v_name || case v_word when '~' then '=~' else v_word end || v_value
    );
  elsif v_value ~ '^/.+/$' then
    return logloom_private.query_meant_comparison(v_name || '=~' || btrim(v_value, '/'));
  end if;
  v_value := case when v_word = 'contains' then '*' || v_value || '*'
    else translate(v_value, '%', '*') end;
  return logloom_private.query_meant_comparison(
    v_name || '=' || case logloom_private.query_meant_name(v_name)
      when 'msg' then btrim(v_value, '*') else v_value end
  );
end;
$$;

-- query/query_reads.sql
-- Fields that a tree or a plan of the compiler reads; keys of attributes as attrs.KEY.
create function logloom_private.query_reads(p_node jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select distinct (r #>> '{}') collate "C"
    from jsonb_path_query(p_node, 'strict $.**.reads[*]') r
    order by 1
  );
end;
$$;

-- query/query_verdict.sql
create type public.logloom_query_warning as ("position" integer, message text, suggestion text);

comment on type public.logloom_query_warning is
  'What is valid in a query and probably means something else than was meant, where (1-based, code '
  'points), and what to write instead of that term.';

create type public.logloom_query_validity as (
  valid boolean,
  error text,
  "position" integer,
  hint text,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_query_validity is
  'Whether a query compiles; if not, what is wrong, where (1-based, code points), and what was '
  'expected. warnings: what compiles and probably means something else than was meant.';

-- Whether a query compiles and names no field of p_hidden: {"valid", "error", "position", "hint",
-- "warnings"}; error, position and hint are null where it does. To be granted to nobody: its caller
-- is a definer function.
create function logloom_private.query_verdict(
  p_query_dsl text,
  p_hidden text[] default null
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error text;
  v_detail text;
  v_hint text;
  v_query logloom_private.compiled_query;
begin
  v_query := logloom_private.compile_query(p_query_dsl);
  perform logloom_private.refuse_hidden_fields(v_query, p_query_dsl, p_hidden);
  return '{"valid": true, "error": null, "position": null, "hint": null}'::jsonb
    || jsonb_build_object('warnings', v_query.warnings);
exception when sqlstate 'PT400' then
  get stacked diagnostics
    v_error = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return jsonb_build_object(
    'valid', false,
    'error', v_error,
    'position', v_detail::jsonb -> 'position',
    'hint', v_hint,
    'warnings', '[]'::jsonb
  );
end;
$$;

-- query/reads_again.sql
-- Seam, for who reads and met an error, in its handler, which then calls itself: whether that may
-- answer now. PT408 where it took too long. Records that are on this server are never away.
create function logloom_private.reads_again(p_state text, p_error text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state in ('57014', '55P03') then
    perform logloom_private.refuse('search.took_too_long');
  end if;
  return false;
end;
$$;

-- query/refuse_warnings.sql
-- PT400 with the first warning where the query probably means something else than was meant. For
-- what acts without anybody looking: such a rule would be silent for ever, such a deletion would
-- take what was to stay.
create function logloom_private.refuse_warnings(p_query logloom_private.compiled_query)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(p_query.warnings) > 0 then
    perform logloom_private.refuse_at(
      (p_query.warnings -> 0 ->> 'position')::integer,
      'query.means_something_else',
      p_query.warnings -> 0 ->> 'message',
      p_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$$;

-- query/regex.sql
-- Regular expressions: ours, written anew as PostgreSQL's, so that nothing of its dialect that ours
-- lacks can be reached.

-- How often a quantifier repeats what stands before it as copies: {least, most}. What has no end
-- is one copy more that may be absent.
create function logloom_private.query_regex_bounds(p_quantifier text, p_position integer)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bounds constant text[] := regexp_match(
    p_quantifier, '^\{([0-9]{1,3})(,([0-9]{0,3}))?\}$'
  );
  v_least constant integer := v_bounds[1]::integer;
  v_most constant integer := case
    when v_bounds[2] is null then v_least
    when v_bounds[3] = '' then greatest(v_least, 100)
    else v_bounds[3]::integer
  end;
begin
  if p_quantifier in ('*', '?') then
    return array[0, 1];
  elsif p_quantifier = '+' then
    return array[1, 1];
  elsif v_bounds is null or v_least > 100 or v_most > 100 then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_is_out_of_range');
  elsif v_least > v_most then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_runs_backwards');
  end if;
  return array[v_least, case when v_bounds[3] = '' then v_least + 1 else v_most end];
end;
$$;

-- What an escape or a character that repeats can follow is in PostgreSQL's dialect.
create function logloom_private.query_regex_atom(
  p_part text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
    case when p_fold then lower(substr(p_part, 2) collate pg_c_utf8) else substr(p_part, 2) end
  );
end;
$$;

-- The regular expression of a quoted token: {"pattern", "fold", "size", "position", "steps"}.
--
-- PostgreSQL's matching time does not explode, but its compiling does: it copies what a bounded
-- repeat repeats, and connects all that can be skipped. v_sizes adds up what that costs, by
-- measurement: a character or class 1, a copy that may be absent 3 more, \b 50. At 1000, compiling
-- takes some 60 ms at worst. That a repeat is lazy changes which text matches, never whether one
-- does, so its mark is dropped.
create function logloom_private.query_regex(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
        v_sql := v_sql || case when v_fold then lower(v_part collate pg_c_utf8) else v_part end;
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
$$;

-- query/regex_classes.sql
-- Regular expressions: what stands in brackets, and letter case.

-- One literal character as PostgreSQL's dialect writes it, inside a class or outside.
create function logloom_private.query_regex_literal(p_char text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_char ~ '[!-/:-@[-`{-~]' then '\' || p_char else p_char end;
end;
$$;

-- The characters of \d, [:alpha:] and their like as the inside of a class, or null. ASCII, for
-- what a class holds must not depend on a locale; what a capital letter leaves out reaches to the
-- end of Unicode.
create function logloom_private.query_regex_set(p_name text, p_fold boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_name
    when '\d' then '0-9'
    when '\w' then '0-9A-Za-z_'
    when '\s' then ' \t\n\r\f\v'
    when '\D' then '\u0001-\u002f\u003a-\U0010ffff'
    when '\W' then '\u0001-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\U0010ffff'
    when '\S' then '\u0001-\u0008\u000e-\u001f\u0021-\U0010ffff'
    when '\n' then '\n'
    when '\t' then '\t'
    when '\r' then '\r'
    when '[:alpha:]' then 'A-Za-z'
    when '[:digit:]' then '0-9'
    when '[:alnum:]' then '0-9A-Za-z'
    when '[:upper:]' then case when p_fold then 'A-Za-z' else 'A-Z' end
    when '[:lower:]' then 'a-z'
    when '[:space:]' then ' \t\n\r\f\v'
    when '[:blank:]' then ' \t'
    when '[:punct:]' then '\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e'
    when '[:xdigit:]' then '0-9A-Fa-f'
    when '[:word:]' then '0-9A-Za-z_'
  end;
end;
$$;

-- Where letters beyond ASCII have another lower case than the next character: {from, to, what to
-- add}. A test compares it with what lower() does.
create function logloom_private.letter_cases()
returns integer[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    [192, 214, 32], [216, 222, 32], [304, 304, -199], [376, 376, -121], [385, 385, 210],
    [390, 390, 206], [393, 394, 205], [398, 398, 79], [399, 399, 202], [400, 400, 203],
    [403, 403, 205], [404, 404, 207], [406, 406, 211], [407, 407, 209], [412, 412, 211],
    [413, 413, 213], [415, 415, 214], [422, 422, 218], [425, 425, 218], [430, 430, 218],
    [433, 434, 217], [439, 439, 219], [452, 452, 2], [455, 455, 2], [458, 458, 2], [497, 497, 2],
    [502, 502, -97], [503, 503, -56], [544, 544, -130], [570, 570, 10795], [573, 573, -163],
    [574, 574, 10792], [579, 579, -195], [580, 580, 69], [581, 581, 71], [895, 895, 116],
    [902, 902, 38], [904, 906, 37], [908, 908, 64], [910, 911, 63], [913, 929, 32], [931, 939, 32],
    [975, 975, 8], [1012, 1012, -60], [1017, 1017, -7], [1021, 1023, -130], [1024, 1039, 80],
    [1040, 1071, 32], [1216, 1216, 15], [1329, 1366, 48], [4256, 4293, 7264], [4295, 4295, 7264],
    [4301, 4301, 7264], [5024, 5103, 38864], [5104, 5109, 8], [7312, 7354, -3008],
    [7357, 7359, -3008], [7838, 7838, -7615], [7944, 7951, -8], [7960, 7965, -8], [7976, 7983, -8],
    [7992, 7999, -8], [8008, 8013, -8], [8025, 8025, -8], [8027, 8027, -8], [8029, 8029, -8],
    [8031, 8031, -8], [8040, 8047, -8], [8072, 8079, -8], [8088, 8095, -8], [8104, 8111, -8],
    [8120, 8121, -8], [8122, 8123, -74], [8124, 8124, -9], [8136, 8139, -86], [8140, 8140, -9],
    [8152, 8153, -8], [8154, 8155, -100], [8168, 8169, -8], [8170, 8171, -112], [8172, 8172, -7],
    [8184, 8185, -128], [8186, 8187, -126], [8188, 8188, -9], [8486, 8486, -7517],
    [8490, 8490, -8383], [8491, 8491, -8262], [8498, 8498, 28], [8544, 8559, 16], [9398, 9423, 26],
    [11264, 11311, 48], [11362, 11362, -10743], [11363, 11363, -3814], [11364, 11364, -10727],
    [11373, 11373, -10780], [11374, 11374, -10749], [11375, 11375, -10783], [11376, 11376, -10782],
    [11390, 11391, -10815], [42877, 42877, -35332], [42893, 42893, -42280], [42922, 42922, -42308],
    [42923, 42923, -42319], [42924, 42924, -42315], [42925, 42925, -42305], [42926, 42926, -42308],
    [42928, 42928, -42258], [42929, 42929, -42282], [42930, 42930, -42261], [42931, 42931, 928],
    [42948, 42948, -48], [42949, 42949, -42307], [42950, 42950, -35384], [65313, 65338, 32],
    [66560, 66599, 40], [66736, 66771, 40], [66928, 66938, 39], [66940, 66954, 39],
    [66956, 66962, 39], [66964, 66965, 39], [68736, 68786, 64], [71840, 71871, 32],
    [93760, 93791, 32], [125184, 125217, 34]
  ];
end;
$$;

-- A range of a class. Folded, the text has no upper case, so the range gains what its characters
-- are in lower case; what it keeps of upper case finds nothing.
create function logloom_private.query_regex_range(p_from integer, p_to integer, p_fold boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
    -- Where the lower case of a letter is the next character, only the last one's can be outside.
    v_sql := v_sql || logloom_private.query_regex_literal(lower(chr(p_to) collate pg_c_utf8));
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
$$;

-- A class, its brackets included, as PostgreSQL's.
create function logloom_private.query_regex_class(
  p_class text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
        case when p_fold then lower(right(v_item, 1) collate pg_c_utf8) else right(v_item, 1) end
      ));
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$$;

-- query/row_stages.sql
-- The parser of sort, and of where after an aggregate.

-- sort by n desc, service
create function logloom_private.query_parse_sort(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns constant text[] := case
    when p_plan ? 'patterns' then array['count', 'first', 'last', 'pattern']
    when not v_rows then array['ts']
    else array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a)
      || case when p_plan ? 'bucket' then array['ts'] else '{}'::text[] end
      || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b)
  end;
  v_keys jsonb := '[]';
  v_name text;
begin
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(
      p_state.positions[2],
      'stages.sort_needs_by',
      case when p_state.texts[2] !~ '^-?@?[[:alpha:]_]' then v_columns[1]
        when not v_rows then 'ts'
        else ltrim(p_state.texts[2], '-') end
        || case when left(p_state.texts[2], 1) = '-' or p_state.texts[3] ~* '^desc$'
          then ' desc' else '' end
    );
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case when v_name = '' and v_rows then 'stages.sort_column_is_missing'
          when v_name = '' then 'stages.sort_ts_is_missing'
          when v_rows then 'stages.sort_column_is_unknown'
          else 'stages.records_are_sorted_by_ts' end,
        logloom_private.query_excerpt(v_name),
        array_to_string(v_columns, ', ')
      );
    end if;
    p_state."at" := p_state."at" + 1;
    v_keys := v_keys || jsonb_build_object(
      'name', v_name, 'descending', p_state.texts[p_state."at"] = 'desc'
    );
    if p_state.texts[p_state."at"] in ('asc', 'desc') then
      p_state."at" := p_state."at" + 1;
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$$;

-- where n > 10 AND p95 >= 200
create function logloom_private.query_parse_having(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns constant text[] := case when p_plan ? 'patterns' then array['count']
    else array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a) end;
  v_having jsonb := coalesce(p_plan -> 'having', '[]');
  v_operator text;
  v_number text;
begin
  p_state."at" := 1;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    if not p_state.texts[p_state."at"] = any(v_columns) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case p_state.texts[p_state."at"] when '' then 'stages.where_is_empty'
          else 'stages.where_column_is_unknown' end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        array_to_string(v_columns, ', '),
        coalesce(v_columns[1], 'n')
      );
    end if;
    v_operator := p_state.texts[p_state."at" + 1];
    if v_operator not in ('>', '>=', '<', '<=', '=', '!=') then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1],
        'stages.comparison_is_missing',
        p_state.texts[p_state."at"]
      );
    end if;
    v_number := p_state.texts[p_state."at" + 2];
    if v_number !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 2], 'stages.number_is_missing', v_operator
      );
    elsif not pg_input_is_valid(v_number, 'double precision') then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 2], 'query.number_is_out_of_range'
      );
    end if;
    v_having := v_having || jsonb_build_object(
      'name', p_state.texts[p_state."at"], 'operator', v_operator, 'number', v_number
    );
    p_state."at" := p_state."at" + 3;
    exit when p_state.texts[p_state."at"] <> 'AND';
  end loop;
  p_state.node := p_plan || jsonb_build_object('having', v_having);
  return p_state;
end;
$$;

-- query/runtime.sql
-- What compiled queries call for each record. None of these can raise, whatever a record holds.

-- The value of a number that is stored as its text, since it has more than 40 letters when it is
-- written out; null for any other text, and for what no double holds.
create function logloom_private.written_number(p_text text)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Numbers stay decimal until the end, so that a sum does not depend on the order of its rows;
-- held within the range of a double, so that no cast or sum can fail.
create function logloom_private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  end if;
  return null;
end;
$$;

create function logloom_private.finite_double(p_value numeric)
returns double precision
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_value > 1.7976931348623157e308 then 1.7976931348623157e308
    when p_value < -1.7976931348623157e308 then -1.7976931348623157e308
    when abs(p_value) < 4.95e-324 then 0
    else p_value::double precision
  end;
end;
$$;

-- Interpolation between the two ends of the doubles leaves their range.
create function logloom_private.finite_double(p_value double precision)
returns double precision
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_value
    when 'Infinity' then 1.7976931348623157e308
    when '-Infinity' then -1.7976931348623157e308
    else p_value
  end;
end;
$$;

-- A number of an extracted JSON text as a record has it: without zeros at the end of a fraction or,
-- where it has more than 40 letters when it is written out and is shorter with an exponent, its
-- text with one. It is not written out to see that: nine bytes of JSON may have 131,000 digits.
create function logloom_private.short_number(p_number numeric)
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

-- Numbers of a JSON text have the canonical form of a record's.
create function logloom_private.canonical_numbers(p_text text)
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

-- The members of a text that is a JSON object of at most 64 kB, nested at most 64 deep as the
-- attributes of a record are, otherwise {}. The parser fails at some thousands of levels.
create function logloom_private.extract_json(p_text text)
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

-- The pairs name=value of the first 64 kB of a text; a value may be in double quotes. A value that
-- is written as JSON writes numbers is one. The last of a name counts.
create function logloom_private.extract_logfmt(p_text text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if strpos(p_text, '=') = 0 then
    return '{}';
  end if;
  return coalesce((
    select jsonb_object_agg(
      m.pair[1],
      case
        when left(m.pair[2], 1) = '"' then to_jsonb(
          regexp_replace(substr(m.pair[2], 2, char_length(m.pair[2]) - 2), '\\(.)', '\1', 'g')
        )
        when m.pair[2] ~ '^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$' then
          to_jsonb(trim_scale(m.pair[2]::numeric))
        else to_jsonb(m.pair[2])
      end
    )
    from regexp_matches(
      left(p_text, 65536) collate "C",
      '(?:^|[ \t\r\n])([^ \t\r\n="]+)=("(?:[^"\\]|\\.)*"|[^ \t\r\n"]*)(?=[ \t\r\n]|$)', 'g'
    ) m (pair)
  ), '{}');
end;
$$;

-- query/sql.sql
-- The generator: a tree as a boolean expression of SQL over an alias.

-- A column, or the JSON value of an attribute. Steps are -> with a text: #> would take a digit as
-- an index into an array. JSON null is no value, so the joined key is tried there too.
create function logloom_private.query_value_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias);
  for v_at in 0 .. jsonb_array_length(p_field -> 'path') - 1 loop
    v_sql := v_sql || ' -> ' || quote_literal(p_field -> 'path' ->> v_at);
  end loop;
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$$;

-- A tree as a boolean expression over an alias. It may be null where a field is absent; a NOT
-- turns that into true, so that it matches records that lack the field. With p_now_sql, an SQL
-- expression, what moves with now is computed from it; otherwise from the instant of compiling.
create function logloom_private.query_sql(
  p_node jsonb,
  p_alias text,
  p_now_sql text default null
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_sql text := '';
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
      for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ' ' || v_type || ' ' else '' end
          || logloom_private.query_sql(p_node -> 'items' -> v_at, p_alias, p_now_sql);
      end loop;
      return '(' || v_sql || ')';
    when 'leaf' then
      if p_node ->> 'field' = 'any' then
        return '(' || logloom_private.query_any_sql(p_node, p_alias) || ')';
      end if;
      return '(' || logloom_private.query_test_sql(
        p_node, logloom_private.query_value_sql(p_node, p_alias), p_now_sql
      ) || ')';
  end case;
end;
$$;

-- query/stages.sql
-- The parser of what follows a bar. A stage has tokens of its own: names, numbers and punctuation.

-- The stages of a query are collected in an object, the plan:
--   rows        what is done to each record before anything is counted:
--               [{"stage": "json" | "logfmt", "field"}, {"stage": "where", "tree"}, …]
--   aggregates  [{"kind", "fraction", "field", "name"}, …], by: [field, …], bucket: seconds
--   patterns    true
--   having      [{"name", "operator", "number"}, …]
--   sort        [{"name", "descending"}, …]
--   limit       a number
--   fields      [field, …]
--   last        the stage that was read last, first: {"stage", "position"} of the first

-- The field that comes next, as node; p_error of p_stage where none does.
create function logloom_private.query_stage_field(
  p_state logloom_private.query_state,
  p_error text,
  p_stage text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
begin
  if v_token in ('', '(', ')', ',', '|', '<', '>', '=', '!', '<=', '>=', '!=', '"') then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], p_error, p_stage);
  end if;
  if p_stage = 'by' and p_state.texts[p_state."at" + 1] = '('
    and v_token in ('bin', 'bucket', 'time', '_time', 'span', 'timeslice')
  then
    -- by bin(5m), bin(ts, 5m), time(5m)
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.width_is_a_bracket',
      logloom_private.query_excerpt(v_token),
      coalesce(
        (
          select t
          from unnest(p_state.texts[p_state."at" + 2:]) t
          where t ~ '^[1-9][0-9]{0,4}[smhdw]$'
          limit 1
        ),
        '5m'
      )
    );
  end if;
  p_state.node := logloom_private.query_field(
    v_token, p_state.positions[p_state."at"], p_stage
  );
  if v_token = 'any' then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.any_is_for_filters');
  end if;
  p_state."at" := p_state."at" + 1;
  return logloom_private.query_spend(p_state, 1);
end;
$$;

-- Refuses a stage where it cannot work.
create function logloom_private.query_check_order(
  p_plan jsonb,
  p_stage text,
  p_position integer
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_cannot boolean;
begin
  v_cannot := case p_stage
    when 'where' then p_plan ?| array['limit', 'fields'] or (p_plan ? 'sort' and not v_rows)
    when 'sort' then p_plan ?| array['sort', 'limit']
    when 'limit' then p_plan ? 'limit'
    when 'fields' then v_rows or p_plan ? 'fields'
    else v_rows or p_plan ?| array['sort', 'limit', 'fields']
  end;
  if v_cannot then
    perform logloom_private.refuse_at(
      p_position, 'stages.order_is_wrong', p_stage, p_plan ->> 'last'
    );
  elsif coalesce((p_plan ->> 'count')::integer, 0) >= 10 then
    perform logloom_private.refuse_at(p_position, 'stages.too_many');
  end if;
end;
$$;

-- One stage, read to its end: the plan with it as node.
create function logloom_private.query_parse_stage(
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

-- query/state.sql
-- What every part of the compiler uses: excerpts and bounds.

-- Enough of the caller's text to recognise it in a message.
create function logloom_private.query_excerpt(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '"' || left(p_text, 40) || case when char_length(p_text) > 40 then '…' else '' end || '"';
end;
$$;

-- Counts p_steps more: a token, a rule, a term, a part of a regex. No loop of the compiler runs
-- without counting, so a query's cost is bounded by this number whatever it holds.
create function logloom_private.query_spend(
  p_state logloom_private.query_state,
  p_steps integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state.steps := p_state.steps + p_steps;
  if p_state.steps > 20000 then
    perform logloom_private.refuse_at(
      p_state.positions[least(p_state."at", cardinality(p_state.positions))], 'query.too_many_steps'
    );
  end if;
  return p_state;
end;
$$;

-- Counts one more leaf of the tree.
create function logloom_private.query_count_leaf(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.leaves >= 64 then
    perform logloom_private.refuse_at(p_position, 'query.too_many_terms');
  end if;
  p_state.leaves := p_state.leaves + 1;
  return p_state;
end;
$$;

-- Goes one bracket or NOT deeper.
create function logloom_private.query_deepen(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.depth >= 16 then
    perform logloom_private.refuse_at(p_position, 'query.nested_too_deep');
  end if;
  p_state.depth := p_state.depth + 1;
  return p_state;
end;
$$;

-- A text that is looked for inside another one costs its own length at each place of that one.
create function logloom_private.query_count_searched(
  p_state logloom_private.query_state,
  p_text text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state.searched := p_state.searched + char_length(p_text);
  if p_state.searched > 512 then
    perform logloom_private.refuse_at(p_position, 'query.searched_texts_are_too_long');
  end if;
  return p_state;
end;
$$;

-- query/terms.sql
-- The parser of terms: free ones, and fields with their names.

-- A free term: a word or a quoted text.
create function logloom_private.query_parse_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
begin
  p_state := logloom_private.query_count_leaf(p_state, v_position);
  if left(v_token, 1) <> '"' then
    p_state := logloom_private.query_warn_free(p_state);
  end if;
  if v_token = '*' then
    -- Every record, also one without a message: the counts answer it as the empty filter.
    p_state.node := '{"type": "all"}';
  else
    p_state := logloom_private.query_check_contains(
      p_state, logloom_private.query_field('msg', 1), v_token, v_position
    );
  end if;
  return logloom_private.query_advance(p_state);
end;
$$;

-- field:value, or a free term. The name ends at its first colon; quoted segments of an attribute's
-- path make it several tokens.
create function logloom_private.query_parse_term(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_at integer := v_first;
  v_name text := '';
  v_head text;
  v_operator text;
  v_field jsonb;
  v_colon integer;
  v_meant text;
begin
  if left(p_state.texts[v_first], 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    v_head := p_state.texts[v_at];
    if strpos(v_head, ':') > 0 and left(v_head, 1) <> '"' then
      v_head := coalesce(substring(v_head from '^(?:[^:\\]|\\.)+'), '');
    end if;
    v_name := v_name || v_head;
    exit when v_head <> p_state.texts[v_at];
    if v_at = v_first and (v_head !~ '^(?:@|(?:attrs|@.*)\.|attrs\..*\.)$'
      or left(p_state.texts[v_at + 1], 1) <> '"'
      or not logloom_private.query_is_adjacent(p_state, v_at + 1))
    then
      v_at := null;
      exit;
    end if;
    v_at := v_at + 1;
    if not logloom_private.query_is_adjacent(p_state, v_at)
      or not logloom_private.query_is_term(p_state.texts[v_at])
    then
      perform logloom_private.refuse_at(p_state.positions[v_at], 'query.colon_is_missing');
    end if;
  end loop;

  v_operator := left(v_name, 1);
  if v_name = '' then
    perform logloom_private.refuse_at(p_state.positions[v_first], 'query.field_is_missing');
  elsif v_operator in ('<', '>', '~') then
    v_meant := logloom_private.query_meant_words(p_state.texts, v_first - 1);
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'query.comparison_has_blanks', v_operator, v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.operator_is_for_values', v_operator
    );
  elsif v_at is null then
    -- No colon: a free term.
    return logloom_private.query_parse_free(p_state);
  end if;
  v_meant := logloom_private.query_meant_term(
    v_name,
    coalesce(
      nullif(substr(p_state.texts[v_at], char_length(v_head) + 2), ''), p_state.texts[v_at + 1]
    )
  );
  if v_meant is not null then
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.field_is_of_another_language',
      logloom_private.query_excerpt(v_name), v_meant
    );
  end if;
  v_field := logloom_private.query_field(v_name, p_state.positions[v_first]);

  v_colon := p_state.positions[v_at] + char_length(v_head);
  p_state."at" := v_at;
  p_state := logloom_private.query_take(p_state, v_head || ':');
  if p_state.texts[p_state."at"] in ('', ')', ']', '}', '|')
    or p_state.positions[p_state."at"] <> v_colon + 1
  then
    if logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(
        v_colon + 1, 'query.value_has_a_blank', logloom_private.query_excerpt(v_name || ':'),
        v_name || ':' || left(p_state.texts[p_state."at"], 60)
      );
    end if;
    perform logloom_private.refuse_at(
      v_colon + 1, 'query.value_is_missing', logloom_private.query_excerpt(v_name || ':')
    );
  end if;
  return logloom_private.query_parse_value(p_state, v_field);
end;
$$;

-- Takes p_head, a field with its colon or a sign, off the token that comes next. What it applies
-- to is the rest of the token, or the next one where nothing is left.
create function logloom_private.query_take(
  p_state logloom_private.query_state,
  p_head text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_state.texts[p_state."at"] = p_head then
    p_state."at" := p_state."at" + 1;
  else
    p_state.texts[p_state."at"] := substr(p_state.texts[p_state."at"], char_length(p_head) + 1);
    p_state.positions[p_state."at"] := p_state.positions[p_state."at"] + char_length(p_head);
  end if;
  return p_state;
end;
$$;

-- query/test_sql.sql
-- The tests as SQL; what is longer than a line has a file of its test's name in query/tests.

-- A test of the text that p_value, an SQL expression, is.
create function logloom_private.query_text_test(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_value constant text := case when (p_leaf -> 'folds_case')::boolean
    then 'lower(' || p_value || ' collate pg_c_utf8)' else p_value end;
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
$$;

-- A test of the text of a JSON scalar, or of any scalar in an array.
create function logloom_private.query_any_text_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'case jsonb_typeof(' || p_value || ')'
    || ' when ''object'' then false when ''null'' then false'
    || ' when ''array'' then exists (select from jsonb_array_elements(' || p_value || ') as e (v)'
    || ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '
    || logloom_private.query_text_test(p_leaf, '(e.v #>> ''{}'')') || ') else '
    || logloom_private.query_text_test(p_leaf, '(' || p_value || ' #>> ''{}'')') || ' end';
end;
$$;

-- A leaf over its value, a column or the JSON value of an attribute.
create function logloom_private.query_test_sql(p_leaf jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_sql text;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || case when v_is_attribute then ' <> ''null''' else ' is not null' end;
    when 'within' then
      return logloom_private.within_sql(p_leaf -> 'bounds', p_value, p_now_sql);
    when 'range' then
      return logloom_private.range_sql(p_leaf -> 'bounds', p_value, v_is_attribute);
    when 'equal' then
      if v_is_attribute and not (p_leaf -> 'folds_case')::boolean then
        return logloom_private.attr_equal_sql(p_leaf -> 'values', p_value);
      end if;
    else
  end case;
  if v_is_attribute then
    return logloom_private.query_any_text_sql(p_leaf, p_value);
  end if;
  v_sql := logloom_private.query_text_test(p_leaf, p_value);
  return case
    -- LIKE tells quicker where the text is not there at all.
    when p_leaf ->> 'test' = 'word' then
      logloom_private.query_text_test(p_leaf || '{"test": "like"}', p_value) || ' and ' || v_sql
    when p_leaf ->> 'test' = 'equal' and p_leaf ->> 'field' = 'req_id'
      and not (p_leaf -> 'folds_case')::boolean
    then logloom_private.req_id_equal_sql(p_leaf -> 'values', p_value, v_sql)
    else v_sql
  end;
end;
$$;

-- A leaf over any text of a record: its text columns and the scalars of its attributes. Most
-- records do not hold the text that is looked for: one LIKE over all of a record's texts at once
-- says so, and only where it finds something each is tested.
create function logloom_private.query_any_sql(p_leaf jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
    select logloom_private.query_like_record(lower(
      case p_leaf ->> 'test' when 'equal' then logloom_private.query_like_text(v.text)
        else v.text end collate pg_c_utf8
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
$$;

-- query/tokens.sql
-- Tokens: what the grammar's rules read.

-- Splits a text that begins at p_position of the query into tokens, white space left out. What no
-- part of p_pattern takes is a token of one character, so that nothing is lost.
create function logloom_private.query_split(
  p_state logloom_private.query_state,
  p_text text,
  p_position integer,
  p_pattern text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(t.text order by t.n), array_agg(t.position order by t.n)
  into p_state.texts, p_state.positions
  from (
    select
      m.match[2] as text,
      m.n,
      (p_position + sum(char_length(m.match[1]) + char_length(m.match[2])) over (order by m.n)
        - char_length(m.match[2]))::integer as position
    from regexp_matches(p_text, '([ \t\r\n\u00a0]*)(' || p_pattern || '|.|$)', 'g')
      with ordinality as m (match, n)
  ) t;
  p_state."at" := 1;
  return logloom_private.query_spend(p_state, cardinality(p_state.texts));
end;
$$;

-- The state before the first token.
create function logloom_private.query_tokenize(p_query_dsl text, p_now timestamptz)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.query_state;
  v_stray integer;
begin
  v_state.depth := 0;
  v_state.leaves := 0;
  v_state.searched := 0;
  v_state.steps := 0;
  v_state."now" := p_now;
  v_state.names_now := false;
  v_state.warnings := '[]';
  v_state.node := '{"type": "all"}';
  -- A quoted text, a bracket or bar, a bareword.
  v_state := logloom_private.query_split(
    v_state, p_query_dsl, 1,
    '"(?:[^"\\]|\\.)*"|[][(){}|]|(?:[^] \t\r\n\u00a0[(){}|"\\]|\\.)+'
  );
  v_stray := least(array_position(v_state.texts, '"'), array_position(v_state.texts, '\'));
  if v_stray is not null then
    perform logloom_private.refuse_at(
      v_state.positions[v_stray],
      case v_state.texts[v_stray] when '"' then 'query.quote_is_not_closed'
        else 'query.backslash_escapes_nothing' end
    );
  end if;
  return v_state;
end;
$$;

-- A word or a quoted text.
create function logloom_private.query_is_term(p_token text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return left(p_token, 1) not in ('', '(', ')', '[', ']', '{', '}', '|');
end;
$$;

-- Is there no white space between this token and the one before?
create function logloom_private.query_is_adjacent(
  p_state logloom_private.query_state,
  p_at integer
)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_at > 1
    and p_state.positions[p_at - 1] + char_length(p_state.texts[p_at - 1])
      = p_state.positions[p_at];
end;
$$;

-- Goes on to the next token, which does not touch this one if it is a term: time"out" is one term
-- with a quote in it to some and two terms to others, so it is neither.
create function logloom_private.query_advance(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_meant text;
begin
  p_state."at" := p_state."at" + 1;
  if logloom_private.query_is_adjacent(p_state, p_state."at")
    and logloom_private.query_is_term(p_state.texts[p_state."at"])
  then
    v_meant := logloom_private.query_meant_comparison(
      p_state.texts[p_state."at" - 1] || logloom_private.query_text(p_state.texts[p_state."at"])
    );
    if p_state.texts[p_state."at" - 1] ~ '[=~><]$' and v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'query.comparison_needs_a_colon',
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'query.white_space_is_missing',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  return p_state;
end;
$$;

-- The text that a word or a quoted token stands for.
create function logloom_private.query_text(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := p_token;
begin
  if left(v_text, 1) = '"' then
    v_text := substr(v_text, 2, char_length(v_text) - 2);
  end if;
  if strpos(v_text, '\') > 0 then
    v_text := regexp_replace(v_text, '\\(.)', '\1', 'g');
  end if;
  return v_text;
end;
$$;

create function logloom_private.query_has_wildcard(p_token text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return left(p_token, 1) <> '"' and translate(p_token, '*?', '') <> p_token
    and p_token ~ '^(?:[^\\*?]|\\.)*[*?]';
end;
$$;

-- A LIKE pattern that matches a text and nothing else.
create function logloom_private.query_like_text(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(p_text, '([\\%_])', '\\\1', 'g');
end;
$$;

-- A LIKE pattern for a token: its wildcards become LIKE's, LIKE's own are escaped.
create function logloom_private.query_like(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if left(p_token, 1) = '"' then
    return logloom_private.query_like_text(logloom_private.query_text(p_token));
  elsif strpos(p_token, '\') = 0 then
    return translate(replace(replace(p_token, '%', '\%'), '_', '\_'), '*?', '%_');
  end if;
  return (
    select string_agg(
      case
        when left(m.match[1], 1) <> '\' then
          translate(replace(replace(m.match[1], '%', '\%'), '_', '\_'), '*?', '%_')
        when substr(m.match[1], 2) in ('%', '_', '\') then m.match[1]
        else substr(m.match[1], 2)
      end,
      '' order by m.n
    )
    from regexp_matches(p_token, '\\.|[^\\]+', 'g') with ordinality as m (match, n)
  );
end;
$$;

-- A LIKE pattern for a whole record as one text, in ASCII lower case: it matches wherever
-- p_pattern, over folded text, matches in one of the record's texts, and sometimes elsewhere. JSON
-- escapes some characters, so any text may stand in their place; what is not ASCII, and i and k,
-- which the dotted I and the Kelvin sign fold to, may be any character.
create function logloom_private.query_like_record(p_pattern text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '%' || regexp_replace(
    regexp_replace(p_pattern, '\\[\\_]|["_\x01-\x1f\x7f]', '%', 'g'),
    '[ik\x80-\U0010ffff]', '_', 'g'
  ) || '%';
end;
$$;

-- query/values.sql
-- The parser of what follows the colon of a field. Each rule takes the state at its first token and
-- answers it after its last, with the tree as node.

-- field:(a OR b), field:=(a OR b). The exact texts become one leaf, so that an index can serve them
-- together.
create function logloom_private.query_parse_any_of(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth constant integer := p_state.depth;
  v_values jsonb := '[]'::jsonb;
  v_items jsonb[] := '{}'::jsonb[];
  v_token text;
  v_position integer;
begin
  p_state := logloom_private.query_deepen(p_state, p_state.positions[p_state."at"]);
  p_state."at" := p_state."at" + 1;
  loop
    v_token := p_state.texts[p_state."at"];
    v_position := p_state.positions[p_state."at"];
    if v_token in ('AND', 'NOT') then
      perform logloom_private.refuse_at(v_position, 'query.word_is_not_for_lists', v_token);
    elsif v_token = 'OR' or not logloom_private.query_is_term(v_token) then
      perform logloom_private.refuse_at(v_position, 'query.value_is_missing_in_a_list');
    end if;
    p_state := logloom_private.query_count_leaf(p_state, v_position);
    if lower(v_token collate "C") in ('and', 'or', 'not') then
      p_state := logloom_private.query_warn(
        p_state, v_position, v_token || ' is looked for as a value: OR is in upper case', 'OR'
      );
    elsif right(v_token, 1) = ',' and char_length(v_token) > 1 then
      p_state := logloom_private.query_warn(
        p_state, v_position, 'A comma is a plain character: the value ' || v_token
          || ' is looked for', rtrim(v_token, ',') || ' OR'
      );
    end if;
    p_state := logloom_private.query_check_value(p_state, p_field, p_sign, v_token, v_position);
    if p_state.node ->> 'test' = 'equal' then
      v_values := v_values || (p_state.node -> 'values');
    else
      v_items := v_items || p_state.node;
    end if;

    p_state := logloom_private.query_advance(p_state);
    exit when p_state.texts[p_state."at"] = ')';
    if p_state.texts[p_state."at"] = 'OR' then
      p_state := logloom_private.query_advance(p_state);
    end if;
  end loop;

  if jsonb_array_length(v_values) > 0 then
    v_items := logloom_private.query_leaf(
      p_field,
      jsonb_build_object('test', 'equal', 'values', v_values, 'folds_case', p_sign = 'i=')
    ) || v_items;
  end if;
  p_state.node := case when cardinality(v_items) = 1 then v_items[1]
    else jsonb_build_object('type', 'or', 'items', to_jsonb(v_items)) end;
  p_state."at" := p_state."at" + 1;
  p_state.depth := v_depth;
  return p_state;
end;
$$;

-- field:[a TO b}
create function logloom_private.query_parse_range(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
begin
  p_state."at" := v_first + 1;
  for v_part in 1 .. 3 loop
    if v_part = 2 and p_state.texts[p_state."at"] <> 'TO' then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.to_is_missing');
    elsif not logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.bound_is_missing');
    end if;
    p_state := logloom_private.query_advance(p_state);
  end loop;
  if p_state.texts[v_first + 4] not in (']', '}') then
    perform logloom_private.refuse_at(p_state.positions[v_first + 4], 'query.range_is_not_closed');
  end if;
  p_state."at" := v_first + 5;
  return logloom_private.query_check_range(p_state, p_field, (
    nullif(p_state.texts[v_first + 1], '*'), p_state.positions[v_first + 1],
    p_state.texts[v_first] = '{',
    nullif(p_state.texts[v_first + 3], '*'), p_state.positions[v_first + 3],
    p_state.texts[v_first + 4] = '}'
  )::logloom_private.query_range);
end;
$$;

-- What follows the colon of a field.
create function logloom_private.query_parse_value(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant text := left(p_state.texts[p_state."at"], 1);
  v_sign constant text :=
    coalesce(substring(p_state.texts[p_state."at"] from '^(?:=|i=|w=|[<>]=?)'), '');
  v_is_comparison constant boolean := v_first in ('<', '>');
  v_token text;
  v_position integer := p_state.positions[p_state."at"];
begin
  if v_is_comparison then
    p_state := logloom_private.query_count_leaf(p_state, v_position);
  end if;
  if v_sign <> '' then
    p_state := logloom_private.query_take(p_state, v_sign);
    v_position := p_state.positions[p_state."at"];
    if not logloom_private.query_is_term(p_state.texts[p_state."at"])
      and (v_is_comparison or p_state.texts[p_state."at"] <> '(')
    then
      perform logloom_private.refuse_at(
        v_position,
        case when v_is_comparison then 'query.comparison_needs_a_value'
          else 'query.test_needs_a_value' end,
        v_sign
      );
    end if;
  end if;
  v_token := p_state.texts[p_state."at"];
  if v_is_comparison then
    return logloom_private.query_check_range(
      logloom_private.query_advance(p_state), p_field,
      (
        case v_first when '>' then v_token end, v_position, v_sign = '>',
        case v_first when '<' then v_token end, v_position, v_sign = '<'
      )::logloom_private.query_range
    );
  elsif v_token = '(' then
    return logloom_private.query_parse_any_of(p_state, p_field, v_sign);
  end if;

  p_state := logloom_private.query_count_leaf(p_state, v_position);
  if v_first in ('[', '{') then
    return logloom_private.query_parse_range(p_state, p_field);
  elsif v_first = '~' then
    p_state."at" := p_state."at" + 1;
    if v_token <> '~' or left(p_state.texts[p_state."at"], 1) <> '"' then
      perform logloom_private.refuse_at(v_position, 'query.regex_is_not_quoted');
    end if;
    p_state := logloom_private.query_check_regex(
      p_state, p_field, p_state.texts[p_state."at"], p_state.positions[p_state."at"]
    );
  else
    p_state := logloom_private.query_check_value(p_state, p_field, v_sign, v_token, v_position);
  end if;
  return logloom_private.query_advance(p_state);
end;
$$;

-- query/warnings.sql
-- Silent traps: what is valid here, means something else elsewhere, and so looks for what nobody
-- wants. Quoted texts are never warned about: they are meant.

-- One warning more, where there is a suggestion.
create function logloom_private.query_warn(
  p_state logloom_private.query_state,
  p_position integer,
  p_message text,
  p_suggestion text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_suggestion is not null and jsonb_array_length(p_state.warnings) < 10 then
    p_state.warnings := p_state.warnings || jsonb_build_object(
      'position', p_position, 'message', p_message, 'suggestion', left(p_suggestion, 200)
    );
  end if;
  return p_state;
end;
$$;

-- What is wrong with a word wherever it stands, and what stands for it instead, or null.
create function logloom_private.query_word_trap(
  p_state logloom_private.query_state,
  p_token text
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end integer;
begin
  if p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]' then
    return array[
      'Typographic quotes and colons are plain characters: ' || p_token
        || ' is looked for with them',
      translate(p_token, '“”„‟«»＂：‘‚’‹', '""""""":""""')
    ];
  elsif left(p_token, 1) = '''' and char_length(p_token) > 1 then
    select min(n) into v_end
    from generate_series(p_state."at", cardinality(p_state.texts)) n
    where right(p_state.texts[n], 1) = '''';
    if v_end is not null then
      return array[
        'A single quote is a plain character: ' || p_token || ' is looked for with it',
        '"' || btrim(
          p_token || coalesce(
            ' ' || array_to_string(p_state.texts[p_state."at" + 1:v_end], ' '), ''
          ), ' '''
        ) || '"'
      ];
    end if;
  elsif strpos(p_token, '&&') > 0 then
    return array[
      '&& is looked for as a text: terms side by side mean AND',
      replace(p_token, '&&', case p_token when '&&' then 'AND' else ' AND ' end)
    ];
  elsif p_token ~ '^/.*[.*+?\\^$].*/$' then
    return array[
      'A slash is a plain character, this is no regular expression',
      '~"' || replace(btrim(p_token, '/'), '"', '\"') || '"'
    ];
  end if;
  return null;
end;
$$;

-- The free term that comes next, a word.
create function logloom_private.query_warn_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_word constant text := lower(v_token collate "C");
  v_next constant text := lower(coalesce(p_state.texts[p_state."at" + 1], '') collate "C");
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  v_suggestion := logloom_private.query_meant_words(p_state.texts, p_state."at");
  if v_suggestion is not null then
    v_message := format('%s is looked for as a word: a field is followed by a colon', v_token);
  elsif exists (
    select
    from generate_series(1, 6) n
    where p_state.positions[p_state."at" - n]
        = (p_state.warnings -> -1 ->> 'position')::integer
      and (n < 3 or lower(p_state.texts[p_state."at" - n + 1] collate "C") = 'in')
      and logloom_private.query_meant_words(p_state.texts, p_state."at" - n) is not null
  ) then
    -- It belongs to a comparison that has its warning.
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is looked for as a word: operators are in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is looked for as words: an aggregate follows a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('order', 'group') and v_next = 'by' then
    v_message := format('%s by is looked for as words: a stage follows a |', v_token);
    v_suggestion := case v_word when 'order' then '| sort by ' else '| count() by ' end
      || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
    and v_word not in ('and', 'or', 'not')
  then
    -- avg(duration_ms), exists(user_id), i(error): (a)(b) need no blank between them.
    v_message := format('%s is looked for as a word, beside what its brackets hold', v_token);
    v_suggestion := case v_word
      when 'exists' then
        logloom_private.query_meant_name(p_state.texts[p_state."at" + 2]) || ':*'
      else logloom_private.query_meant_stage(p_state.texts[p_state."at":], '{}') end;
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is looked for as a word: a stage follows a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_word = 'select' and p_state."at" = 1
    and (
      v_next ~ '^[0-9(]'
      or lower(p_state.texts::text collate "C")::text[] && array['from', '*', 'where']
    )
  then
    v_message := 'This is no SQL: each of its words is looked for in msg';
    v_suggestion := 'service:api level:error';
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := 'A shift from now is written without a blank: this one is looked for as a text';
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token in ('!=', '!~') and p_state.texts[p_state."at" + 1] like '"%' then
    v_message := format('%s is looked for as a word: - negates', v_token);
    v_suggestion := case v_token when '!~' then '-msg:~' else '-' end
      || p_state.texts[p_state."at" + 1];
  elsif v_token ~ '^!.' then
    v_message := '! is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := '+ is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := 'No term is fuzzy or boosted: ' || v_token || ' is looked for as it is';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is no wildcard: a word is found anywhere in msg as it is';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap[1];
    v_suggestion := case when left(v_trap[2], 1) = '~' then 'msg:' else '' end
      || v_trap[2];
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is looked for as a text: a field is followed by a colon';
    end if;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$$;

-- A value without a sign or after =. p_token is the one that comes next, or one in a list.
create function logloom_private.query_warn_value(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_field ->> 'name';
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_sign = '=' then
    -- = or a comparison of other languages.
    if p_token ~ '^=+[^=]' then
      v_message := 'The second = belongs to the value that is looked for';
      v_suggestion := format('%s:=%s', v_name, ltrim(p_token, '='));
    elsif p_token ~ '^[<>].' then
      v_message := format('The value %s is looked for: = stands after > or <', p_token);
      v_suggestion := format('%s:%s=%s', v_name, left(p_token, 1), substr(p_token, 2));
    end if;
  elsif left(p_token, 1) = '"' then
    return p_state;
  elsif p_token ~* '^!=*null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := v_name || ':*';
  elsif p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
    and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
  then
    v_message := 'in is looked for as a value, beside what its brackets hold';
    v_suggestion := v_name || ':(' || regexp_replace(
      array_to_string(
        p_state.texts[p_state."at" + 2:array_position(p_state.texts, ')', p_state."at") - 1], ' '
      ),
      '\s*,\s*', ' OR ', 'g'
    ) || ')';
  elsif p_token ~ '^!=*.' then
    v_message := format('! is a plain character: the value %s is looked for', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := format('-%s:*', v_name);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma is a plain character: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is looked for as a text: numbers have ranges', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap[1];
    v_suggestion := v_name || ':' || v_trap[2];
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$$;

-- query/tests/contains.sql
-- A text inside a text, in either letter case: msg and any. values: a LIKE pattern in lower case.
create function logloom_private.query_check_contains(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'contains', 'folds_case', true,
    'values', array['%' || logloom_private.query_like(lower(p_token collate pg_c_utf8)) || '%']
  ));
  return p_state;
end;
$$;

create function logloom_private.contains_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern constant text := logloom_private.template_of(p_values ->> 0);
  v_inner constant text := substr(v_pattern, 2, length(v_pattern) - 2);
begin
  return jsonb_build_object(
    'by', 'contains', 'values', array[v_pattern],
    'literal', case
      when translate(v_inner, '\_%', '') = v_inner then v_inner
      when regexp_replace(v_inner, '\\.', '', 'g') !~ '[_%]'
        then regexp_replace(v_inner, '\\(.)', '\1', 'g')
      else ''
    end
  );
end;
$$;

-- query/tests/equal.sql
-- field:=value, field:i=value in either letter case, and what is exact without a sign. values: the
-- texts, each of which will do.

create function logloom_private.query_check_equal(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_folds_case boolean,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
        v_text := lower(v_text collate pg_c_utf8);
      end if;
  end case;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'equal', 'values', jsonb_build_array(v_text), 'folds_case', p_folds_case
  ));
  return p_state;
end;
$$;

-- What stands after the value.
create function logloom_private.equal_test(p_values jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(p_values) = 1 then
    return ' = ' || quote_literal(p_values ->> 0);
  end if;
  return ' in (' || array_to_string(array(
    select quote_literal(v) from jsonb_array_elements_text(p_values) v
  ), ', ') || ')';
end;
$$;

-- The index of req_id holds its beginning: a whole one may be too long for an index.
create function logloom_private.req_id_equal_sql(p_values jsonb, p_value text, p_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '(left(' || p_value || ', 200) in (' || array_to_string(array(
    select quote_literal(left(v, 200)) from jsonb_array_elements_text(p_values) v
  ), ', ') || ') and ' || p_sql || ')';
end;
$$;

-- Equality with an attribute. Containment finds a scalar, and a scalar that an array holds. A
-- number or boolean has a text too; 5 contains 5.0, so a number's text is compared again.
create function logloom_private.attr_equal_sql(p_values jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_contains constant text := p_value || ' @> ';
  v_text text;
  v_sql text;
begin
  for v_text in select jsonb_array_elements_text(p_values) loop
    v_sql := concat(v_sql || ' or ', v_contains, quote_literal(to_jsonb(v_text)::text));
    if v_text in ('true', 'false') then
      v_sql := v_sql || ' or ' || v_contains || quote_literal(v_text);
    elsif v_text ~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$' then
      v_sql := v_sql || ' or (' || v_contains || quote_literal(v_text) || ' and '
        || logloom_private.query_any_text_sql(
          jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_text)), p_value
        )
        || ')';
    end if;
  end loop;
  return v_sql;
end;
$$;

create function logloom_private.equal_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'values', (
      select jsonb_agg(logloom_private.template_of(v)) from jsonb_array_elements_text(p_values) v
    ),
    -- What is equal to a text holds it.
    'literal', case when jsonb_array_length(p_values) = 1
      then logloom_private.template_of(p_values ->> 0) else '' end
  );
end;
$$;

-- query/tests/like.sql
-- field:a*b, the whole text. values: the LIKE pattern.
create function logloom_private.query_check_like(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'like', 'values', array[logloom_private.query_like(p_token)]
  ));
  return p_state;
end;
$$;

-- query/tests/network.sql
-- host:10.0.0.0/8, an address of a network. values: the network.

-- An IPv4 or IPv6 network in the notation address/bits, or null where a token is no such thing.
create function logloom_private.query_network(p_token text, p_position integer)
returns inet
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_valid boolean;
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    v_is_valid := pg_input_is_valid(p_token, 'inet') and p_token !~ '(?:^|\.)0[0-9]';
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$' then
    -- PostgreSQL reads more than the notation allows, as ::1: or ::1..2.
    v_is_valid := pg_input_is_valid(p_token, 'inet')
      and p_token ~ '(?:::|:[0-9a-fA-F]{1,4}|:[0-9]{1,3}(?:\.[0-9]{1,3}){3})/';
    -- 12:30:45/2 is a text.
    if not v_is_valid and strpos(p_token, '::') = 0
      and p_token !~ '^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}/'
    then
      return null;
    end if;
  end if;
  if not v_is_valid then
    perform logloom_private.refuse_at(
      p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
    );
  end if;
  return case when v_is_valid then network(p_token::inet) end;
end;
$$;

-- Is a text an address, IPv4 with or without a port or IPv6, of a network?
create function logloom_private.address_in(p_text text, p_network inet)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- query/tests/range.sql
-- field:>5, field:[a TO b}. bounds: lower, lower_open, upper, upper_open; null is no bound. Texts
-- are compared by code point; of attributes JSON numbers as decimals or, with a unit (seconds or
-- bytes), JSON strings that are quantities.

create function logloom_private.query_check_range_of_numbers(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant jsonb :=
    logloom_private.query_number(p_range.lower_token, p_range.lower_position);
  v_upper constant jsonb :=
    logloom_private.query_number(p_range.upper_token, p_range.upper_position);
begin
  if v_lower is not null and v_upper is not null and v_lower -> 'unit' <> v_upper -> 'unit' then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.units_differ');
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'bounds', jsonb_build_object(
      'lower', v_lower ->> 'value', 'lower_open', p_range.lower_open,
      'upper', v_upper ->> 'value', 'upper_open', p_range.upper_open,
      'unit', coalesce(v_lower ->> 'unit', v_upper ->> 'unit')
    )
  ));
  return p_state;
end;
$$;

create function logloom_private.query_check_range(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_levels text[] := array['debug', 'info', 'warn', 'error'];
  v_from integer;
  v_to integer;
begin
  if v_name in ('msg', 'id', 'any') then
    perform logloom_private.refuse_at(
      coalesce(p_range.lower_position, p_range.upper_position),
      case v_name when 'id' then 'query.id_is_not_compared' else 'query.text_is_not_compared' end,
      v_name
    );
  elsif logloom_private.query_has_wildcard(coalesce(p_range.lower_token, '')) then
    perform logloom_private.refuse_at(p_range.lower_position, 'query.wildcard_in_comparison');
  elsif logloom_private.query_has_wildcard(coalesce(p_range.upper_token, '')) then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.wildcard_in_comparison');
  elsif v_name in ('ts', 'received_at') then
    return logloom_private.query_check_range_of_times(p_state, p_field, p_range);
  elsif v_name = 'attrs' then
    return logloom_private.query_check_range_of_numbers(p_state, p_field, p_range);
  elsif v_name = 'level' then
    v_from := p_range.lower_open::integer + array_position(
      v_levels, logloom_private.query_require_level(p_range.lower_token, p_range.lower_position)
    );
    v_to := array_position(
      v_levels, logloom_private.query_require_level(p_range.upper_token, p_range.upper_position)
    ) - p_range.upper_open::integer;
    v_levels := v_levels[coalesce(v_from, 1):coalesce(v_to, 4)];
    p_state.node := case when cardinality(v_levels) = 0 then '{"type": "none"}'::jsonb
      else logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'equal', 'values', v_levels)
      ) end;
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'bounds', jsonb_build_object(
      'lower', logloom_private.query_text(p_range.lower_token), 'lower_open', p_range.lower_open,
      'upper', logloom_private.query_text(p_range.upper_token), 'upper_open', p_range.upper_open
    )
  ));
  return p_state;
end;
$$;

-- The bounds that a range has, or null. p_type is what a bound is cast to.
create function logloom_private.bounds_sql(p_bounds jsonb, p_value text, p_type text default '')
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(concat_ws(
    ' and ',
    p_value || case when (p_bounds -> 'lower_open')::boolean then ' > ' else ' >= ' end
      || quote_literal(p_bounds ->> 'lower') || p_type,
    p_value || case when (p_bounds -> 'upper_open')::boolean then ' < ' else ' <= ' end
      || quote_literal(p_bounds ->> 'upper') || p_type
  ), '');
end;
$$;

create function logloom_private.range_sql(
  p_bounds jsonb,
  p_value text,
  p_is_attribute boolean
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number constant text := 'logloom_private.written_number(' || p_value || ' #>> ''{}'')';
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
$$;

-- query/tests/regex.sql
-- field:~"regex". values: the regular expression in PostgreSQL's dialect; size and position: for
-- query_check_regexes.

create function logloom_private.query_check_regex(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_regex jsonb;
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id') then
    perform logloom_private.refuse_at(
      p_position,
      case p_field ->> 'field' when 'id' then 'query.id_takes_no_regex'
        else 'query.time_takes_no_regex' end,
      p_field ->> 'field'
    );
  end if;
  v_regex := logloom_private.query_regex(p_token, p_position);
  p_state := logloom_private.query_spend(p_state, (v_regex -> 'steps')::integer);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'regex', 'values', array[v_regex ->> 'pattern'], 'folds_case', v_regex -> 'fold',
    'size', v_regex -> 'size', 'position', v_regex -> 'position'
  ));
  return p_state;
end;
$$;

-- Checks the regular expressions of a tree together: what compiling them costs, and that
-- PostgreSQL takes each, so that it refuses none in the middle of a search.
create function logloom_private.query_check_regexes(p_tree jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf jsonb;
  v_size integer := 0;
begin
  for v_leaf in
    select l from jsonb_path_query(p_tree, 'strict $.** ? (@.test == "regex")') l
  loop
    v_size := v_size + (v_leaf -> 'size')::integer;
    begin
      if v_size > 2000 or '' collate "C" ~ (v_leaf -> 'values' ->> 0) is null then
        raise invalid_regular_expression;
      end if;
    exception when invalid_regular_expression then
      perform logloom_private.refuse_at(
        (v_leaf -> 'position')::integer, 'regex.all_are_too_complex'
      );
    end;
  end loop;
end;
$$;

-- What a regular expression of the query language, in PostgreSQL's dialect, asks of templates: each
-- of its digits is 0. literal: a text that stands in all in which it is found; empty where none is
-- plain to see.
create function logloom_private.regex_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part text;
  v_template text := '';
  v_decides boolean := true;
  v_is_choice boolean := false;
  v_depth integer := 0;
  v_run text := '';
  v_literal text := '';
begin
  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(p_values ->> 0, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g')
      with ordinality as m (match, n)
    order by m.n
  ) loop
    if left(v_part, 1) = '[' then
      -- A class that tells digits apart.
      if replace(v_part, '0-9', '') ~ '[0-9]' then
        v_decides := false;
        v_part := case when left(v_part, 2) = '[^' then '.' else left(v_part, -1) || '0]' end;
      end if;
    elsif v_part ~ '^\\?[0-9]$' then
      v_decides := false;
      v_part := '0';
    end if;
    v_template := v_template || v_part;
    if v_depth = 0 and v_part ~ '^(?:[^\\(){}|*+?.^$[\]]|\\[^A-Za-z0-9])$' then
      v_run := v_run || right(v_part, 1);
      continue;
    end if;
    v_is_choice := v_is_choice or v_depth = 0 and v_part = '|';
    v_depth := v_depth + case v_part when '(' then 1 when ')' then -1 else 0 end;
    -- What may be absent is not needed; what repeats ends the run.
    if v_part in ('*', '?') or left(v_part, 1) = '{' then
      v_run := left(v_run, -1);
    end if;
    if length(v_run) > length(v_literal) then
      v_literal := v_run;
    end if;
    v_run := '';
  end loop;
  return jsonb_build_object(
    'values', array[v_template], 'decides', v_decides,
    'literal', case when v_is_choice then '' when length(v_run) > length(v_literal) then v_run
      else v_literal end
  );
end;
$$;

-- query/tests/within.sql
-- ts:2026-11-21, ts:>now-1h: from <= time < to. bounds: from, to, null is no bound, and from_shift
-- and to_shift, the microseconds from now of a bound that moves with it.

create function logloom_private.query_check_within(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_from timestamptz,
  p_from_moves boolean,
  p_to timestamptz,
  p_to_moves boolean
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_moves constant boolean := coalesce(p_from_moves, false) or coalesce(p_to_moves, false);
begin
  p_state.names_now := p_state.names_now or v_moves;
  if p_from >= p_to and not v_moves then
    p_state.node := '{"type": "none"}';
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'within',
    'bounds', jsonb_build_object(
      'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'from_shift', case when p_from_moves
        then (extract(epoch from p_from - p_state."now") * 1000000)::bigint end,
      'to_shift', case when p_to_moves
        then (extract(epoch from p_to - p_state."now") * 1000000)::bigint end
    )
  ));
  return p_state;
end;
$$;

create function logloom_private.query_check_time(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := p_state."now";
  v_span logloom_private.query_span := logloom_private.query_time(p_token, p_position, v_now);
begin
  if v_span.names_now and logloom_private.query_text(p_token) ~ '^[+-]' then
    -- ts:-15m, the last 15 minutes; ts:+15m, the next.
    v_span.starts := least(v_span.starts, v_now);
    v_span.ends := greatest(v_span.ends, v_now + interval '1 microsecond');
  end if;
  return logloom_private.query_check_within(
    p_state, p_field, v_span.starts, v_span.names_now, v_span.ends, v_span.names_now
  );
end;
$$;

create function logloom_private.query_check_range_of_times(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lower constant logloom_private.query_span := logloom_private.query_time(
    p_range.lower_token, p_range.lower_position, p_state."now"
  );
  v_upper constant logloom_private.query_span := logloom_private.query_time(
    p_range.upper_token, p_range.upper_position, p_state."now"
  );
begin
  return logloom_private.query_check_within(
    p_state, p_field,
    case when p_range.lower_open then v_lower.ends else v_lower.starts end, v_lower.names_now,
    case when p_range.upper_open then v_upper.starts else v_upper.ends end, v_upper.names_now
  );
end;
$$;

-- A bound of time: a constant, or so far from p_now_sql where it moves with now.
create function logloom_private.instant_sql(
  p_instant text,
  p_shift bigint,
  p_now_sql text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_shift is not null and p_now_sql is not null then
    return '(' || p_now_sql || format(' + interval ''%s microseconds'')', p_shift);
  end if;
  return quote_literal(p_instant) || '::timestamptz';
end;
$$;

create function logloom_private.within_sql(p_bounds jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    nullif(concat_ws(
      ' and ',
      p_value || ' >= ' || logloom_private.instant_sql(
        p_bounds ->> 'from', (p_bounds ->> 'from_shift')::bigint, p_now_sql
      ),
      p_value || ' < ' || logloom_private.instant_sql(
        p_bounds ->> 'to', (p_bounds ->> 'to_shift')::bigint, p_now_sql
      )
    ), ''),
    p_value || ' is not null'
  );
end;
$$;

-- query/tests/word.sql
-- field:w=word, in either letter case. values: a LIKE pattern that every match passes, and the
-- regular expression that decides.

create function logloom_private.query_check_word(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := lower(logloom_private.query_text(p_token) collate pg_c_utf8);
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
$$;

-- What holds the word holds its text.
create function logloom_private.word_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.contains_template(p_values) || '{"decides": false}';
end;
$$;

-- query/templates/cut_words.sql
-- A text in lower case, cut at all that stands in ASCII beside letters; an end is empty where it is
-- cut there. Digits cut, too: a template's ids have few letters that follow one another.
create function logloom_private.cut_words(p_text text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_split_to_array(
    lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
  );
end;
$$;

-- query/templates/leaf_template.sql
-- What a leaf over messages, of a test with values, asks of their templates, as the test's file
-- says; null for a test that they tell nothing of.
--   by, values  the test that templates pass, in lower case where the leaf folds case
--   decides     whether they alone tell, or only leave out
--   literal     a text in each of them
--   words       texts that words_of of such templates hold, in any letter case
create function logloom_private.leaf_template(p_test text, p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
    select case when p.n > 1 then ' ' else '' end || p.piece
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  ));
end;
$$;

-- query/templates/template_of.sql
-- The template of a text: each digit is 0. Nested, since translate takes 30 times as long.
create function logloom_private.template_of(p_text text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return replace(replace(replace(replace(replace(replace(replace(replace(replace(
    p_text, '1', '0'), '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'),
    '9', '0');
end;
$$;

select logloom_private.finish_migration();
