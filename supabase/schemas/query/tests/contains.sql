-- The test of msg:text and any:text: whether a text contains another, ignoring case. values: a LIKE
-- pattern in lower case.
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
    'values', array['%' || logloom_private.query_like(logloom_private.folded_text(p_token)) || '%']
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
