-- A text in lower case, cut at all that stands in ASCII beside letters; an end is empty where it is
-- cut there. Digits cut, too: a template's ids have few letters that follow one another.
create function logloom_private.cut_words(p_text text)
returns text[]
language sql
immutable
return regexp_split_to_array(
  lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
);

-- The template of a text: each digit is 0. Nested, since translate takes 30 times as long.
create function logloom_private.template_of(p_text text)
returns text
language sql
immutable
parallel safe
return replace(replace(replace(replace(replace(replace(replace(replace(replace(
  p_text, '1', '0'), '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'),
  '9', '0');

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
