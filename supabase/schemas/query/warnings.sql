-- Raises PT400 with the first warning. For queries that run later and unattended: an alert rule
-- would never fire, and a deletion would remove the wrong records.
create function logloom_private.refuse_warnings(p_query logloom_private.compiled_query)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_array_length(p_query.warnings) > 0 then
    perform logloom_private.refuse_at(
      (p_query.warnings -> 0 ->> 'position')::integer,
      'query.means_something_else',
      -- The hint says what to write instead.
      replace(p_query.warnings -> 0 ->> 'message', '. Replace the whole query', ''),
      coalesce(nullif(p_query.warnings -> 0 ->> 'suggestion', ''), 'it in another way')
    );
  end if;
end;
$$;

-- Functions that warn of syntax with another meaning in other languages. A quoted text is
-- suspicious only if it has a backslash before a letter or digit. parse_query drops the warning if
-- the translated query means the same.

-- Sets the warning if there is a message. The first warning of a query stays.
create function logloom_private.query_warn(
  p_state logloom_private.query_state,
  p_position integer,
  p_message text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_message is not null and p_state.warnings = '[]' then
    p_state.warnings := jsonb_build_array(jsonb_build_object(
      'position', p_position, 'message', p_message, 'suggestion', ''
    ));
  end if;
  return p_state;
end;
$$;

-- True if a token has a backslash that escapes nothing, before a letter or digit. It is a path, or
-- a class of a regular expression.
create function logloom_private.query_is_escaped_in_vain(p_token text)
returns boolean
language sql
immutable
return replace(p_token, '\\', '') ~ '\\[[:alnum:]]' and p_token !~ '^\\(?:AND|OR|NOT)$';

-- Returns the message for a word that is suspicious anywhere in a query, or null.
create function logloom_private.query_word_trap(p_token text)
returns text
language sql
immutable
return case
  when p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]'
    then 'Typographic quotes and colons have no meaning: ' || p_token || ' is read as a text'
  when p_token ~ '^''.' then 'Single quotes do not quote: ' || p_token || ' is read as a text'
  when p_token ~ '^`.' then 'Backquotes do not quote: ' || p_token || ' is read as a text'
  when p_token ~ '^&$|&&' then '& is read as a text: terms side by side mean AND'
  when logloom_private.query_is_escaped_in_vain(p_token)
    then 'A backslash makes the next character literal: '
      || logloom_private.query_excerpt(btrim(p_token, '"'))
  when p_token ~ '^/.*[.*+?\\^$].*/$'
    then 'Slashes do not mark a regular expression: ' || p_token || ' is read as a text' end;

-- Warns about a unit after a number that a field is compared with: @bytes:>10 MB.
create function logloom_private.query_warn_unit(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
begin
  return logloom_private.query_warn(p_state, p_state.positions[p_state."at"], case
    when v_token ~* '^(?:m?s|sec|min|h|[kmgt]?i?b|(?:milli)?seconds?|minutes?|hours?|bytes)$'
      and p_state.texts[p_state."at" - 1] ~ '^[0-9.]+$'
      then v_token || ' is read as a word: write a unit without a blank before it' end);
end;
$$;

-- Warns about the current token, a free term.
create function logloom_private.query_warn_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_word constant text := lower(v_token collate "C");
  v_next constant text := lower(coalesce(p_state.texts[p_state."at" + 1], '') collate "C");
  v_is_call constant boolean :=
    v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1);
begin
  if p_state.warnings <> '[]' then
    -- A query has at most one warning.
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_state.positions[p_state."at"], case
    when v_word = 'select' and not v_is_call
      and (v_next ~ '^[0-9(]' or lower(p_state.texts::text)::text[] && '{from,*,where}')
      then 'SQL is not supported: each word is searched for in msg'
    when v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|'))
      then format('%s is read as a word: write operators in upper case', v_token)
    when v_next = 'by' and logloom_private.translated_kind(v_word) is not null
      or v_next = 'by' and v_word in ('stats', 'sort', 'order', 'group')
      then format('%s by is read as words: write a stage after a |', v_token)
    when v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$'
      and (v_word = 'top' or coalesce(p_state.texts[p_state."at" + 2], '') in ('', '|'))
      then format('%s is read as a word: write a stage after a |', v_token)
    when v_is_call and v_word ~ '^[a-z_]'
      then format('%s is read as a word, and its brackets as more terms', v_token)
    when p_state."at" = 1
      and (v_next ~ '^[@-]' or v_word ~ '^(?:where|e?grep|filter)$' and v_next ~ '^[[:alnum:]"'']')
      and logloom_private.word_class('stage', v_word)
        in ('terms', 'grep', 'fields', 'extract', 'counts', 'distinct')
      then format('%s is read as a word: a query begins with its terms', v_token)
    when v_token in ('!=', '!~') or v_token = '!' and v_next = '('
      then format('%s is read as a word: negate with -', v_token)
    when v_token || v_next ~ '[0-9]'
      and logloom_private.query_meant_time(p_state.texts, p_state."at") is not null
      then format('%s is read as a word: write a time as a term', v_token)
    when v_token ~ '^[@.]?[[:alpha:]_][[:alnum:]_.@>''-]*$' and (
      (v_next ~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|!?in|is|between|has_any|has_all|not)$'
        or v_next ~ '^!?(?:i?contain|has|start|begin|end|i?like|match|rlike|reg)'
        and logloom_private.word_class('call', ltrim(v_next, '!'))
          in ('contains', 'startswith', 'endswith', 'like', '~'))
      and (logloom_private.translated_term(logloom_private.translation_of(
        array_to_string(p_state.texts[p_state."at":p_state."at" + 12], ' ')
      ))).meant ~ ':'
    ) or v_token ~ '^(?:[@.]?[[:alpha:]_][[:alnum:]_.@-]*|attrs->.*)(?:[=!<>]=?=?|[=!]~|<>)[^=]'
      and v_token !~ '^[^=!<>]*[-.@]+[=!<>]'
      then format('%s is read as a text: write a colon after a field', v_token)

    when v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now'
      then format('%s is read as a text: write a shift from now without a blank', v_token)
    when v_token ~ '^!.' then v_token || ' is read as a text: negate with -'
    when v_token ~ '^[+][[:alpha:]]'
      then v_token || ' is read as a text: every term is required without +'
    when v_token ~ '^[[:alpha:]]+[~^][0-9.]*$'
      then v_token || ' is read as a text: there are no fuzzy or boosted terms'
    when v_token ~ '^%.+%$' then '% is not a wildcard: a word is found anywhere in msg'
    else logloom_private.query_word_trap(v_token) end);
end;
$$;

-- Warns about a value without a sign, or after =. p_token is the current token, or one of a list.
create function logloom_private.query_warn_value(
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
  v_trap text;
begin
  v_trap := case
    when p_sign = '=' and p_token ~ '^=+[^=]' then 'The second = is read as part of the value'
    when p_sign = '=' and p_token ~ '^[<>].'
      then format('%s is read as a value: write > or < before =', p_token)
    when p_sign = '='
      or left(p_token, 1) = '"' and not logloom_private.query_is_escaped_in_vain(p_token) then null
    when p_token ~* '^!=*null$' then 'null is read as a text: write field:* for any value'
    when p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
      and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
      then 'in is read as a value, and its brackets as more terms'
    when p_token ~ '^!=*.'
      then format('%s is read as a value: negate with - before the field', p_token)
    when p_token ~* '^null$' then 'null is read as a text: write -field:* for a missing value'
    when p_token ~ '^[^",;\\]+[,;]+(?:@?[[:alpha:]_][[:alnum:]_.@]*:.+)?$'
      then format('A comma does not separate terms: %s is read as one value', p_token)
    when (p_field ->> 'field') in ('service', 'env', 'host') and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
      then 'A comma does not separate values: this is one value'
    when p_field ->> 'field' = 'attrs' and (
      p_token ~* '^[1-5]xx$'
      or p_token ~ '^[0-9]{1,6}(?:\.[0-9]+)?(?:-|\.\.)[1-9][0-9]{0,5}(?:\.[0-9]+)?$'
        and substring(p_token from '^[0-9]+')::integer
          < substring(p_token from '(?:-|\.\.)([0-9]+)')::integer
    ) then format('%s is read as a text: write a range of numbers', p_token)
    when p_token ~ '^%[^%]+%$|^\.\*[^.]+(?:\.\*)?$'
      then format('%s is read as a text: the wildcard is *', p_token)
    when p_token ~ '^[[:alpha:]]+[~^][0-9.]*$'
      then p_token || ' is read as a text: there are no fuzzy or boosted terms'
    else logloom_private.query_word_trap(p_token) end;
  return logloom_private.query_warn(p_state, p_position, v_trap);
end;
$$;
