-- Finds the parts of a query that its translation loses, so that the suggestion can name them.

-- Returns the words of a text in lower case. Splits between digits and letters: 5m is two words.
create function logloom_private.translation_words(p_text text)
returns text[]
language sql
immutable
return array_remove(
  regexp_split_to_array(
    regexp_replace(
      lower(p_text collate "C"), '(\d)(?=[[:alpha:]])|([[:alpha:]])(?=\d)', '\1\2 ', 'g'
    ),
    '[^[:alnum:]]+'
  ), ''
);

-- True for a token that a translation may drop without a loss: a stage, a function, a keyword.
create function logloom_private.is_said_by_itself(p_token text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_token ~ '^(?:[01]|[1-5]xx)$' or p_token !~ '^["''`]' and (
    coalesce(
      logloom_private.translated_kind(p_token), logloom_private.word_class('stage', p_token),
      logloom_private.word_class('call', p_token), logloom_private.word_class('keyword', p_token)
    ) is not null
    or logloom_private.is_width_function(p_token)
    or logloom_private.translated_name(p_token) in ('ts', 'msg')
  );
end;
$$;

-- Returns the parts of a foreign query that its translation does not express. p_said: the
-- translation, what it leaves out, and words that it expresses differently.
create function logloom_private.translation_lost(
  p_source logloom_private.translation,
  p_said text
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts constant text[] := p_source.texts;
  v_said constant text[] := logloom_private.translation_words(p_said) || string_to_array(
    's,sec,second,seconds,m,min,minute,minutes,h,hr,hour,hours,d,day,days,w,week,weeks', ','
  );
  v_lost text[] := '{}';
  v_from integer;
  v_to integer;
  v_word text;
  v_is_argument boolean;
begin
  for v_at in 1 .. cardinality(v_texts) loop
    continue when v_at <= v_to and v_texts[v_at] <> '' or v_texts[v_at] ~ '^[^[:alnum:]|]+$';
    v_word := v_texts[v_at];
    if logloom_private.translation_words(logloom_private.translated_text(v_word)) <@ v_said then
      if v_from is not null then
        v_lost := v_lost || logloom_private.translation_text(p_source, v_from, v_to, 80);
        v_from := null;
      end if;
    elsif logloom_private.is_said_by_itself(v_word)
      -- Names have a translation: status:error is level:error, earliest=-1h is ts:>=now-1h
      or v_texts[v_at + 1] ~ '^[:=!<>]' and logloom_private.word_class('name', v_word) is not null
      or logloom_private.translation_words(logloom_private.translated_name(v_word)) <@ v_said
    then
      continue;
    else
      v_is_argument := v_texts[v_at - 1] = '(' and v_texts[v_at - 2] ~ '^\w+$';
      -- The lost part begins at the sign or word before: index=main, sum(bytes), step 1h
      v_from := coalesce(v_from, v_at - case
        when v_texts[v_at - 2] = ':' then 3
        when v_is_argument or v_texts[v_at - 1] ~ '^(?:[=!<>]=?|:|[=!]~)$' then 2
        when v_texts[v_at - 1] ~ '^\w+$' and lower(v_texts[v_at - 1]) <> all ('{and,or,by}')
          and logloom_private.is_said_by_itself(v_texts[v_at - 1]) then 1
        else 0 end);
      v_to := case
        when v_is_argument then logloom_private.translation_close(v_texts, v_at - 1)
        when v_texts[v_at + 1] in ('(', '[') and p_source.glued[v_at + 1]
          then logloom_private.translation_close(v_texts, v_at + 1)
        else v_at + (v_texts[v_at + 1] = ')' and '(' = any (v_texts[v_from:v_at]))::integer end;
    end if;
  end loop;
  return v_lost;
end;
$$;
