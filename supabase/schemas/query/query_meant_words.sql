-- What is meant by the words that begin with the one at p_at, where they are a comparison of
-- another language with blanks in it: level = "error", status != null, msg like '%x%'. Or null.
create function logloom_private.query_meant_words(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := p_texts[p_at];
  v_word constant text := lower(p_texts[p_at + 1] collate "C");
  v_value text := p_texts[p_at + 2];
  v_end integer;
begin
  if p_at < 1 or v_word is null or v_name !~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
    or lower(v_name collate "C") in ('and', 'or', 'not', 'where')
    or v_word !~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|is|in|between|like|contains)$'
  then
    return null;
  elsif v_word = 'is' then
    return case
      when lower(v_value collate "C") = 'null'
        then '-' || logloom_private.query_meant_name(v_name) || ':*'
      when lower(v_value collate "C") = 'not'
        and lower(p_texts[p_at + 3] collate "C") = 'null'
        then logloom_private.query_meant_name(v_name) || ':*'
    end;
  elsif v_word = 'in' then
    v_end := least(
      array_position(p_texts, ')', p_at + 3), array_position(p_texts, ']', p_at + 3)
    );
    if v_value not in ('(', '[') or v_end is null then
      return null;
    end if;
    v_value := array_to_string(p_texts[p_at + 3:v_end - 1], ' ');
    return logloom_private.query_meant_name(v_name) || ':('
      || regexp_replace(translate(btrim(v_value), '''', ''), '\s*,\s*', ' OR ', 'g') || ')';
  elsif v_word in ('between', 'like', 'contains')
    and v_value !~ (case v_word when 'between' then '^-?[0-9]' else '^[''"%/]' end)
    and left(v_name, 1) <> '@' and left(logloom_private.query_meant_name(v_name), 1) = '@'
  then
    -- Two words of a message.
    return null;
  elsif v_word = 'between' then
    return logloom_private.query_meant_name(v_name) || ':['
      || v_value || ' TO ' || coalesce(nullif(p_texts[p_at + 4], ''), '*') || ']';
  elsif not logloom_private.query_is_term(v_value) then
    return null;
  elsif left(v_value, 1) = '''' then
    -- What stands in single quotes is one text, blanks and all.
    select min(n) into v_end
    from generate_series(p_at + 2, least(p_at + 12, cardinality(p_texts))) n
    where p_texts[n] ~ '''$' and (n > p_at + 2 or char_length(p_texts[n]) > 1);
    v_value := array_to_string(p_texts[p_at + 2:coalesce(v_end, p_at + 2)], ' ');
    v_value := btrim(v_value, '''');
  elsif v_value = 'now' and p_texts[p_at + 3] = '(' then
    -- now() - interval '1 hour'
    v_value := 'now-1h';
  else
    v_value := logloom_private.query_text(v_value);
  end if;
  if v_word not in ('like', 'contains') then
    return logloom_private.query_meant_comparison(
      v_name || case v_word when '~' then '=~' else v_word end || v_value
    );
  elsif v_value ~ '^/.+/$' then
    return logloom_private.query_meant_comparison(v_name || '=~' || btrim(v_value, '/'));
  end if;
  v_value := case when v_word = 'contains' then '*' || v_value || '*'
    else translate(v_value, '%', '*') end;
  return logloom_private.query_meant_comparison(
    v_name || '=' || case logloom_private.query_meant_name(v_name)
      when 'msg' then btrim(v_value, '*') else v_value end
  );
end;
$$;
