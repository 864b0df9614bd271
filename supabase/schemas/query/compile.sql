-- Returns a range of ts that contains every match. Uses only the terms that all matches satisfy.
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

-- Parses the stages after the filter. Returns the state with the plan as node.
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
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    if p_state.texts[v_bar + 1] = '|' and logloom_private.query_is_adjacent(p_state, v_bar + 1) then
      perform logloom_private.refuse_at(p_state.positions[v_bar + 1], 'stages.or_is_a_word');
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
          case when p_state.texts[v_bar + 1] = 'math' then logloom_private.query_math_tokens()
            else '(?:[^ \t\r\n\u00a0(),|"<>=!\\]|\\.|"(?:[^"\\]|\\.)*")+|[<>!]=' end
        ),
        v_plan,
        p_state
      );
      v_plan := v_read.node;
      p_state."at" := v_next;
      p_state.steps := v_read.steps;
      p_state.leaves := v_read.leaves;
      p_state.searched := v_read.searched;
      p_state.names_now := v_read.names_now;
      p_state.warnings := v_read.warnings;
    end if;
    v_plan := jsonb_build_object('first', jsonb_build_object(
      'stage', p_state.texts[v_bar + 1], 'position', p_state.positions[v_bar + 1]
    )) || v_plan || jsonb_build_object('count', coalesce((v_plan -> 'count')::integer, 0) + 1);
  end loop;
  p_state.node := v_plan;
  return p_state;
end;
$$;

-- Parses a query. A null query counts as blank; "now" means p_now. Leaves filter null, because some
-- callers join the tree with another tree first. Raises PT400 with {"position": n} (1-based, code
-- points) as detail and the expected syntax as hint. No role may call this function: only definer
-- functions do.
create function logloom_private.parse_written_query(
  p_query_dsl text,
  p_now timestamptz default now()
)
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

  -- A stage "where" before the first extraction becomes a part of the filter.
  while v_query.plan -> 'rows' -> 0 ->> 'stage' = 'where' loop
    v_tree := jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_tree, v_query.plan -> 'rows' -> 0 -> 'tree')
    );
    v_query.plan := v_query.plan #- '{rows, 0}';
  end loop;

  v_span := logloom_private.query_ts_span(v_tree);
  v_query.tree := case when isempty(v_span) then '{"type": "none"}' else v_tree end;
  v_query.ts_from := lower(v_span);
  v_query.ts_to := upper(v_span);
  v_query.by_fields := '{}';
  v_query.by_sql := '{}';
  if v_query.plan ? 'aggregates' then
    -- Callers that know only one aggregate use the first.
    v_aggregate := v_query.plan -> 'aggregates' -> 0;
    v_query.aggregate := v_aggregate ->> 'kind';
    v_query.aggregate_field := v_aggregate -> 'field' ->> 'name';
    v_query.aggregate_sql := logloom_private.query_aggregate_sql(
      v_aggregate, logloom_private.query_condition_sql(v_aggregate)
    );
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

-- Parses a query. If the query is wrong or has a warning, suggests its translation from another
-- query language, if there is one.
create function logloom_private.parse_query(p_query_dsl text, p_now timestamptz default now())
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
  v_meant text[];
  v_error text;
  v_detail text;
begin
  v_query := logloom_private.parse_written_query(p_query_dsl, p_now);
  if v_query.warnings <> '[]' then
    v_meant := logloom_private.translated_query(p_query_dsl);
    if logloom_private.same_query(v_query, logloom_private.parse_written_query(v_meant[1], p_now))
    then
      v_query.warnings := '[]';
    elsif v_meant is not null then
      v_query.warnings := jsonb_build_array(v_query.warnings -> 0 || jsonb_build_object(
        'message', logloom_private.translation_note(
          v_meant, (v_query.warnings -> 0 ->> 'message') || '. Replace the whole query'
        ),
        'suggestion', v_meant[1]
      ));
    end if;
  end if;
  return v_query;
exception when sqlstate 'PT400' then
  v_meant := logloom_private.translated_query(p_query_dsl);
  -- Suggests nothing for a query still being typed, or for a time, which has its own hint.
  if v_meant is null or v_meant[2] ~ '^ts:[^ ]*$' and sqlerrm ~ 'Not a time'
    or v_meant[1] = '' and starts_with(sqlerrm, 'A value is missing')
    or v_meant[2] = '' and v_meant[1] <> '*'
      and starts_with(ltrim(p_query_dsl, ' ("'), v_meant[1])
  then
    raise;
  end if;
  get stacked diagnostics v_error = message_text, v_detail = pg_exception_detail;
  perform logloom_private.refuse_again(
    v_error, v_detail,
    logloom_private.translation_note(v_meant, 'Write the whole query as ' || v_meant[1])
  );
end;
$$;

create function logloom_private.compile_query(p_query_dsl text, p_now timestamptz default now())
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.parse_query(p_query_dsl, p_now);
begin
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$$;
