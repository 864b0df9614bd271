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
