-- The test of field:~"regex". Members of its leaf: values (the regular expression in PostgreSQL's
-- syntax), size and position (for query_check_regexes).

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

-- Checks that all regular expressions of a tree compile fast enough together, and that PostgreSQL
-- accepts each. So none fails during a search.
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

-- Returns the template of a regular expression (in PostgreSQL's syntax): its digits become 0.
-- literal: a text that every match contains; empty if none is obvious.
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
      -- The class has only some of the digits.
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
    -- An optional atom is not part of the literal. A repeat ends the literal.
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
