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
