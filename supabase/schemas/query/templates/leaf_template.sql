-- Splits a text, in lower case, at ASCII characters that are not letters. Digits are among these
-- characters, because ids have few letters in a row. If the text begins or ends with such a
-- character, the first or last piece is empty.
create function logloom_private.cut_words(p_text text)
returns text[]
language sql
immutable
return regexp_split_to_array(
  lower(p_text collate pg_c_utf8) collate "C", '[\u0001-@[-`{-\u007f]+'
);

-- Returns the template of a text: each digit becomes 0. Uses nested replace, because translate
-- takes 30 times as long.
create function logloom_private.template_of(p_text text)
returns text
language sql
immutable
parallel safe
return replace(replace(replace(replace(replace(replace(replace(replace(replace(
  p_text, '1', '0'), '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'),
  '9', '0');

-- Returns what the templates of messages tell about a test; null if they tell nothing.
--   by, values  the test for templates, in lower case if the leaf ignores case
--   decides     true if a matching template is enough; false if its records must be tested, too
--   literal     a text that every matching template contains
--   words       words of the literal, to look up in words_of (any letter case, σ for ς)
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
    when 'word' then
      -- A text that has the word also contains its letters.
      v_template := v_template || logloom_private.contains_template(p_values)
        || '{"decides": false}';
    when 'regex' then v_template := v_template || logloom_private.regex_template(p_values);
    else return null;
  end case;
  v_pieces := logloom_private.cut_words(v_template ->> 'literal');
  return v_template || jsonb_build_object('words', array(
    -- The first and the last word of the literal may be parts of longer words.
    select case when p.n > 1 then ' ' else '' end || replace(p.piece, 'ς', 'σ')
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  ));
end;
$$;
