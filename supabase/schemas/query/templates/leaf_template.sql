-- What a leaf over messages, of a test with values, asks of their templates, as the test's file
-- says; null for a test that they tell nothing of.
--   by, values  the test that templates pass, in lower case where the leaf folds case
--   decides     whether they alone tell, or only leave out
--   literal     a text in each of them
--   words       texts that words_of of such templates hold, in any letter case, with σ for ς
create function logloom_private.leaf_template(p_test text, p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_template jsonb := jsonb_build_object(
    'by', p_test, 'decides', coalesce(p_values::text, '') !~ '[0-9]', 'literal', ''
  );
  v_pieces text[];
begin
  case p_test
    when 'exists' then
    when 'equal' then v_template := v_template || logloom_private.equal_template(p_values);
    when 'contains' then v_template := v_template || logloom_private.contains_template(p_values);
    when 'word' then v_template := v_template || logloom_private.word_template(p_values);
    when 'regex' then v_template := v_template || logloom_private.regex_template(p_values);
    else return null;
  end case;
  v_pieces := logloom_private.cut_words(v_template ->> 'literal');
  return v_template || jsonb_build_object('words', array(
    -- A word may begin before what the literal has of it, and end after it.
    select case when p.n > 1 then ' ' else '' end || replace(p.piece, 'ς', 'σ')
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  ));
end;
$$;
