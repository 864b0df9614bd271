-- What a leaf over messages asks of their templates; null for a test without a file here.
--   by, values  the test that templates pass, in lower case where the leaf folds case
--   decides     whether they alone tell, or only leave out
--   literal     a text in each of them
--   words       texts that the words of a run with such a template hold
create function logloom_private.leaf_template(p_leaf jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_template jsonb;
begin
  v_template := '{"literal": ""}'::jsonb || jsonb_strip_nulls(case p_leaf ->> 'test'
    when 'exists' then logloom_private.exists_template()
    when 'equal' then logloom_private.equal_template(v_values)
    when 'contains' then logloom_private.contains_template(v_values)
    when 'word' then logloom_private.word_template(v_values)
    when 'regex' then logloom_private.regex_template(v_values)
  end);
  return v_template
    || jsonb_build_object('words', logloom_private.words_needed(v_template ->> 'literal'));
end;
$$;
