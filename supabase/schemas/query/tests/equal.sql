-- field:=value, field:i=value in either letter case, and what is exact without a sign. values: the
-- texts, each of which will do.

create function logloom_private.query_check_equal(
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
  v_text text := logloom_private.query_text(p_token);
begin
  case p_field ->> 'field'
    when 'ts', 'received_at' then
      return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
    when 'level' then
      v_text := logloom_private.query_require_level(p_token, p_position);
    when 'id' then
      v_text := lower(v_text);
      if v_text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        perform logloom_private.refuse_at(
          p_position,
          'query.not_a_uuid',
          logloom_private.query_excerpt(logloom_private.query_text(p_token))
        );
      end if;
    else
  end case;
  p_state.node := logloom_private.query_leaf(
    p_field, jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_text))
  );
  return p_state;
end;
$$;

create function logloom_private.query_check_folded_equal(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'equal', 'folds_case', true,
    'values', array[lower(logloom_private.query_text(p_token) collate pg_c_utf8)]
  ));
  return p_state;
end;
$$;

create function logloom_private.equal_test(p_values jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array['', case jsonb_array_length(p_values)
    when 1 then ' = ' || quote_literal(p_values ->> 0)
    else ' in (' || logloom_private.query_texts_sql(p_values) || ')'
  end];
end;
$$;

-- Equality with an attribute. Containment finds a scalar, and a scalar that an array holds. A
-- number or boolean has a text too; 5 contains 5.0, so a number's text is compared again.
create function logloom_private.attr_equal_sql(p_value text, p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := p_value || ' @> ' || quote_literal(to_jsonb(p_text)::text);
begin
  if p_text in ('true', 'false') then
    v_sql := v_sql || ' or ' || p_value || ' @> ' || quote_literal(p_text);
  elsif p_text ~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$' then
    v_sql := v_sql || ' or (' || p_value || ' @> ' || quote_literal(p_text) || ' and '
      || logloom_private.query_any_text_sql(p_value, array['', ' = ' || quote_literal(p_text)])
      || ')';
  end if;
  return v_sql;
end;
$$;

create function logloom_private.equal_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := logloom_private.query_text_sql(p_leaf, p_value);
begin
  if (p_leaf -> 'folds_case')::boolean then
    return v_sql;
  elsif p_leaf ->> 'field' = 'attrs' then
    return (
      select string_agg(logloom_private.attr_equal_sql(p_value, v.text), ' or ' order by v.n)
      from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    );
  elsif p_leaf ->> 'field' = 'req_id' then
    -- The index of req_id holds its beginning: a whole one may be too long for an index.
    return '(left(' || p_value || ', 200) in (' || logloom_private.query_texts_sql((
      select jsonb_agg(left(v.text, 200) order by v.n)
      from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    )) || ') and ' || v_sql || ')';
  end if;
  return v_sql;
end;
$$;
