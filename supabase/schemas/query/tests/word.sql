-- The test of field:w=word, ignoring case. values: a LIKE pattern that every match passes, and the
-- regular expression that decides.

create function logloom_private.query_check_word(
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
  v_text constant text := logloom_private.folded_text(
    logloom_private.query_text(p_token)
  );
begin
  if v_text = '' then
    perform logloom_private.refuse_at(p_position, 'query.word_is_empty');
  end if;
  p_state := logloom_private.query_count_searched(p_state, v_text, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'word', 'folds_case', true,
    'values', array[
      '%' || logloom_private.query_like_text(v_text) || '%',
      '(?:^|\W)' || regexp_replace(v_text, '([!-/:-@[-`{-~])', '\\\1', 'g') || '(?:$|\W)'
    ]
  ));
  return p_state;
end;
$$;
