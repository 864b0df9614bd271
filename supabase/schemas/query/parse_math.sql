-- Parses math: errors / all * 100 as share. A formula is one of:
--   {"number": "100"}
--   {"result": "errors"}
--   {"operator": "+" | "-" | "*" | "/" | "%", "items": [formula, formula]}

-- Returns the names of the results of a plan: of its aggregates, then of math.
create function logloom_private.query_result_names(p_plan jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select r.item ->> 'name'
    from jsonb_array_elements(
      coalesce(p_plan -> 'aggregates', '[]') || coalesce(p_plan -> 'math', '[]')
    ) with ordinality r (item, n)
    order by r.n
  );
end;
$$;

-- Returns the regex for numbers and names in math. Any other character is a token of its own.
create function logloom_private.query_math_tokens()
returns text
language sql
immutable
return '[0-9](?:[eE][+-]?[0-9]|[A-Za-z0-9_.])*|[A-Za-z_][A-Za-z0-9_.]*';

-- Raises PT400 if a number does not fit in a double.
create function logloom_private.query_check_double(p_number text, p_position integer)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not pg_input_is_valid(p_number, 'double precision') then
    perform logloom_private.refuse_at(p_position, 'query.number_is_out_of_range');
  end if;
end;
$$;

-- Parses a number, the name of a result, -figure or (formula). Numbers and names count as terms.
create function logloom_private.query_parse_figure(
  p_state logloom_private.query_state,
  p_names text[]
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  if v_token in ('-', '(') then
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    if v_token = '-' then
      p_state := logloom_private.query_parse_figure(p_state, p_names);
      p_state.node := jsonb_build_object(
        'operator', '-', 'items', jsonb_build_array('{"number": "0"}'::jsonb, p_state.node)
      );
    else
      p_state := logloom_private.query_parse_formula(p_state, p_names, 1);
      if p_state.texts[p_state."at"] <> ')' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
        );
      end if;
      p_state."at" := p_state."at" + 1;
    end if;
    p_state.depth := v_depth;
    return p_state;
  end if;
  if v_token ~ '^[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$' then
    perform logloom_private.query_check_double(v_token, v_position);
    p_state.node := jsonb_build_object('number', v_token);
  elsif v_token = any(p_names) then
    p_state.node := jsonb_build_object('result', v_token);
  else
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'stages.math_ends_early' else 'stages.math_result_is_unknown' end,
      logloom_private.query_excerpt(v_token), array_to_string(p_names, ', ')
    );
  end if;
  p_state := logloom_private.query_count_leaf(p_state, v_position);
  p_state."at" := p_state."at" + 1;
  return p_state;
end;
$$;

-- Parses a formula. p_level 1: sums and differences; 2: products, quotients and remainders.
create function logloom_private.query_parse_formula(
  p_state logloom_private.query_state,
  p_names text[],
  p_level integer
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operators constant text[] := case p_level when 1 then '{+,-}' else '{*,/,%}' end;
  v_operator text;
  v_left jsonb;
begin
  loop
    p_state := case p_level
      when 1 then logloom_private.query_parse_formula(p_state, p_names, 2)
      else logloom_private.query_parse_figure(p_state, p_names)
    end;
    if v_operator is not null then
      p_state.node := jsonb_build_object(
        'operator', v_operator, 'items', jsonb_build_array(v_left, p_state.node)
      );
    end if;
    v_operator := p_state.texts[p_state."at"];
    exit when v_operator <> all(v_operators);
    v_left := p_state.node;
    p_state."at" := p_state."at" + 1;
  end loop;
  return p_state;
end;
$$;

-- Parses "math errors / all * 100 as share".
create function logloom_private.query_parse_math(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := logloom_private.query_result_names(p_plan);
  v_name text;
begin
  p_state := logloom_private.query_parse_formula(p_state, v_names, 1);
  if p_state.texts[p_state."at"] <> 'as' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'stages.math_needs_a_name',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  v_name := p_state.texts[p_state."at" + 1];
  if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
    );
  elsif v_name = any(v_names) or v_name = 'ts' and p_plan ? 'bucket'
    or p_plan -> 'by' @> jsonb_build_array(jsonb_build_object('name', v_name))
  then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at" + 1], 'stages.two_columns_of_one_name', v_name
    );
  end if;
  p_state."at" := p_state."at" + 2;
  p_state.node := p_plan || jsonb_build_object(
    'math', coalesce(p_plan -> 'math', '[]') || jsonb_build_object(
      'name', v_name, 'formula', p_state.node
    )
  );
  return p_state;
end;
$$;
