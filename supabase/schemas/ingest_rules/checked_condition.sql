-- Conditions of rules: filters of the query language that the function ingest can evaluate.

-- Returns a LIKE pattern in the form of the query language: * and ? are wildcards. After a
-- backslash, *, ? and a backslash stand for themselves.
create function logloom_private.wildcards_of(p_like text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      case m.part[1] when '%' then '*' when '_' then '?' when '\%' then '%' when '\_' then '_'
        else regexp_replace(m.part[1], '([*?])', '\\\1', 'g') end,
      '' order by m.n
    )
    from regexp_matches(p_like, '\\.|[%_]|[^\\%_]+', 'g') with ordinality m (part, n)
  );
end;
$$;

create function logloom_private.test_of_leaf(p_leaf jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field constant text := p_leaf ->> 'field';
  v_values constant jsonb := p_leaf -> 'values';
  v_value constant text := v_values ->> 0;
  v_levels constant text[] := '{debug,info,warn,error}';
  v_bounds constant jsonb := p_leaf -> 'bounds';
  v_problem constant text := case
    when v_field <> all (logloom_private.query_text_columns() || 'attrs'::text)
      then 'a test of ' || v_field
    when jsonb_array_length(p_leaf -> 'path') > 1 then 'an attribute inside another'
    when jsonb_array_length(v_values) > 1 and p_leaf ->> 'test' = 'equal' and (v_values in (
      to_jsonb(v_levels[array_position(v_levels, v_value):]),
      to_jsonb(v_levels[:jsonb_array_length(v_values)])
    )) is not true then 'OR'
    when (p_leaf -> 'folds_case')::boolean and p_leaf ->> 'test' = 'equal' then 'i='
    when p_leaf ->> 'test' = 'range' and v_field <> 'attrs'
      then 'a comparison of ' || (p_leaf ->> 'name')
    when v_bounds ->> 'unit' is not null then 'a quantity with a unit'
    when num_nonnulls(v_bounds ->> 'lower', v_bounds ->> 'upper') = 2 then 'a range with two ends'
    else case p_leaf ->> 'test'
      when 'regex' then 'a regular expression' when 'word' then 'w='
      when 'network' then 'a network' end
  end;
begin
  if v_problem is not null then
    perform logloom_private.refuse('ingest_rules.condition_has', v_problem);
  elsif p_leaf ->> 'test' = 'contains' then
    return jsonb_build_object(
      'op', 'has', 'value', logloom_private.wildcards_of(substr(v_value, 2, length(v_value) - 2))
    );
  end if;
  return case v_field when 'attrs' then jsonb_build_object('a', p_leaf -> 'path' -> 0)
    else jsonb_build_object('f', v_field) end
  || case
    when p_leaf ->> 'test' = 'range' then jsonb_build_object(
      'op', case when v_bounds ->> 'lower' is null then '<' else '>' end || case
        when (v_bounds -> 'lower_open')::boolean or (v_bounds -> 'upper_open')::boolean then ''
        else '=' end,
      'value', coalesce(v_bounds ->> 'lower', v_bounds ->> 'upper')::numeric
    )
    when p_leaf ->> 'test' = 'exists' then '{"op": "~", "value": "*"}'
    when p_leaf ->> 'test' = 'like'
      then jsonb_build_object('op', '~', 'value', logloom_private.wildcards_of(v_value))
    when jsonb_array_length(v_values) = 1 then jsonb_build_object('op', '=', 'value', v_value)
    when v_values ->> -1 = 'error' then jsonb_build_object('op', '>=', 'value', v_value)
    else jsonb_build_object('op', '<=', 'value', v_values -> -1)
  end;
end;
$$;

-- Returns the tests of a node of a query's tree. They must all hold.
create function logloom_private.rule_tests(p_node jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tests jsonb := '[]';
  v_item jsonb;
begin
  case p_node ->> 'type'
    when 'leaf' then
      v_tests := v_tests || logloom_private.test_of_leaf(p_node);
    when 'and' then
      for v_item in select jsonb_array_elements(p_node -> 'items') loop
        v_tests := v_tests || logloom_private.rule_tests(v_item);
      end loop;
    when 'not' then
      if p_node -> 'item' ->> 'type' <> 'leaf' then
        perform logloom_private.refuse('ingest_rules.condition_has', 'NOT before a bracket');
      end if;
      v_tests := v_tests
        || (logloom_private.test_of_leaf(p_node -> 'item') || '{"not": true}');
    when 'all' then
      null;
    else
      perform logloom_private.refuse('ingest_rules.condition_has', case p_node ->> 'type'
        when 'or' then 'OR' else 'a test that nothing passes' end);
  end case;
  return v_tests;
end;
$$;

-- Checks a condition. Returns its tests; [] if it is blank.
create function logloom_private.checked_condition(p_tenant_id text, p_condition text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(
    logloom_private.scope_of_view(p_tenant_id, null), p_condition
  );
  v_query := logloom_private.parse_query(p_condition);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse('ingest_rules.condition_has', 'stages');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  return logloom_private.rule_tests(v_query.tree);
end;
$$;
