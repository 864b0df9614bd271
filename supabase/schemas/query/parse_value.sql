-- Chooses the test for a value by the field and the value's sign ('' for none). Returns the state
-- with the leaf as node, like every query_check function.
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
    p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
    p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
      'test', 'like', 'values', array[logloom_private.query_like(p_token)]
    ));
    return p_state;
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

-- Parses the value after a field's colon. Each function gets the state at the first token of the
-- value. It returns the state after the last token, with the tree as node.

-- Parses field:(a OR b) and field:=(a OR b). Exact texts become one leaf, because one index scan
-- finds all of them.
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
        p_state, v_position, v_token || ' is read as a value: write OR in upper case'
      );
    elsif right(v_token, 1) = ',' and char_length(v_token) > 1 then
      p_state := logloom_private.query_warn(
        p_state, v_position, 'A comma does not separate values: ' || v_token
          || ' is read as one value'
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

-- Parses field:[a TO b}.
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
      logloom_private.query_warn_unit(logloom_private.query_advance(p_state)), p_field,
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
