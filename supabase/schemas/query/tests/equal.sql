-- The test of field:=value, of field:i=value (ignoring case), and of field:value for exact fields.
-- values: texts; one of them must be equal.

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
        v_text := logloom_private.folded_text(v_text);
      end if;
  end case;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'equal', 'values', jsonb_build_array(v_text), 'folds_case', p_folds_case
  ));
  return p_state;
end;
$$;

-- Builds the right side of the comparison: the operator and the values.
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

-- The index of req_id has only its first 200 characters, because longer values may not fit. So the
-- first 200 are compared, too.
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

-- Builds SQL for equality with an attribute. Containment (@>) finds a scalar, and a scalar in an
-- array. A value such as 5 or true is also searched for as a JSON number or boolean. Containment
-- takes 5.0 for 5, so the text of a number is compared again.
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
    -- An equal text contains the value.
    'literal', case when jsonb_array_length(p_values) = 1
      then logloom_private.template_of(p_values ->> 0) else '' end
  );
end;
$$;
