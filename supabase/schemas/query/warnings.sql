-- Raises PT400 with the first warning. For queries that run later and unattended: an alert rule
-- would never fire, a deletion would remove the wrong records.
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
      p_query.warnings -> 0 ->> 'message',
      p_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$$;

-- Functions for warnings about syntax that is valid here but means something else in other
-- languages. A quoted text causes a warning only if it has a backslash before a letter or digit.

-- Adds a warning if there is a suggestion.
create function logloom_private.query_warn(
  p_state logloom_private.query_state,
  p_position integer,
  p_message text,
  p_suggestion text
)
returns logloom_private.query_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_suggestion is not null and jsonb_array_length(p_state.warnings) < 10 then
    p_state.warnings := p_state.warnings || jsonb_build_object(
      'position', p_position, 'message', p_message, 'suggestion', left(p_suggestion, 200)
    );
  end if;
  return p_state;
end;
$$;

-- True if a token has a backslash before a letter or digit, where it escapes nothing: a path, or a
-- class of a regular expression.
create function logloom_private.query_is_escaped_in_vain(p_token text)
returns boolean
language sql
immutable
return replace(p_token, '\\', '') ~ '\\[[:alnum:]]' and p_token !~ '^\\(?:AND|OR|NOT)$';

-- Returns the message and suggestion for a word that is suspicious anywhere in a query, or null.
create function logloom_private.query_word_trap(
  p_state logloom_private.query_state,
  p_token text
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_quote constant text := left(p_token, 1);
  v_end integer;
begin
  if p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]' then
    return array[
      'Typographic quotes and colons have no meaning: ' || p_token || ' is read as a text',
      translate(p_token, '“”„‟«»＂：‘‚’‹', '""""""":""""')
    ];
  elsif v_quote in ('''', '`') and char_length(p_token) > 1 then
    select min(n) into v_end
    from generate_series(p_state."at", cardinality(p_state.texts)) n
    where right(p_state.texts[n], 1) = v_quote;
    if v_end is not null then
      return array[
        case v_quote when '`' then 'Backquotes' else 'Single quotes' end
          || ' do not quote: ' || p_token || ' is read as a text',
        '"' || btrim(
          p_token || coalesce(
            ' ' || array_to_string(p_state.texts[p_state."at" + 1:v_end], ' '), ''
          ), ' ' || v_quote
        ) || '"'
      ];
    end if;
  elsif strpos(p_token, '&&') > 0 then
    return array[
      '&& is read as a text: terms side by side mean AND',
      replace(p_token, '&&', case p_token when '&&' then 'AND' else ' AND ' end)
    ];
  elsif logloom_private.query_is_escaped_in_vain(p_token) then
    return array[
      'A backslash makes the next character literal: '
        || logloom_private.query_excerpt(btrim(p_token, '"')),
      case when p_token ~ '^[^"].*\\[dDwWsS](?:[^[:alnum:]]|$)|^\\[dDwWsS]'
        then '~"' || p_token || '"'
        else '"' || replace(btrim(p_token, '"'), '\', '\\') || '"' end
    ];
  elsif p_token ~ '^/.*[.*+?\\^$].*/$' then
    return array[
      'Slashes do not mark a regular expression: ' || p_token || ' is read as a text',
      '~"' || replace(btrim(p_token, '/'), '"', '\"') || '"'
    ];
  end if;
  return null;
end;
$$;

-- Warns about the current token, which is a free term.
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
  v_time constant text := logloom_private.query_meant_time(p_state.texts, p_state."at");
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_state.warnings -> 0 ->> 'message' like 'SQL is not supported%' then
    -- Its suggestion is for the whole query.
    return p_state;
  end if;
  v_suggestion := logloom_private.query_meant_words(p_state.texts, p_state."at");
  if v_suggestion is not null then
    v_message := format('%s is read as a word: write a colon after a field', v_token);
  elsif exists (
    select
    from generate_series(1, 6) n
    where p_state.positions[p_state."at" - n]
        = (p_state.warnings -> -1 ->> 'position')::integer
      and (n < 3 or lower(p_state.texts[p_state."at" - n + 1] collate "C") = 'in')
      and logloom_private.query_meant_words(p_state.texts, p_state."at" - n) is not null
  ) then
    -- This term is a part of a comparison that already has its warning.
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is read as a word: write operators in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is read as words: write an aggregate after a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('order', 'group') and v_next = 'by' then
    v_message := format('%s by is read as words: write a stage after a |', v_token);
    v_suggestion := case v_word when 'order' then '| sort by ' else '| count() by ' end
      || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
    and v_word not in ('and', 'or', 'not')
  then
    -- Finds calls such as avg(duration_ms), exists(user_id), i(error). They are not errors, because
    -- (a)(b) needs no blank either.
    v_message := format('%s is read as a word, and its brackets as more terms', v_token);
    v_suggestion := case v_word
      when 'exists' then
        logloom_private.query_meant_name(p_state.texts[p_state."at" + 2]) || ':*'
      else coalesce(
        logloom_private.query_meant_network(p_state.texts[p_state."at":]),
        logloom_private.query_meant_words(p_state.texts, p_state."at" + 2),
        logloom_private.query_meant_stage(p_state.texts[p_state."at":], '{}')
      ) end;
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is read as a word: write a stage after a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_time is not null then
    v_message := format('%s is read as a word: write a time as a term', v_token);
    v_suggestion := v_time;
  elsif p_state."at" = 1 and logloom_private.query_meant_start(p_state.texts) is not null then
    v_message := case v_word when 'select'
      then 'SQL is not supported: each word is searched for in msg'
      else format('%s is read as a word: a query begins with its terms', v_token) end;
    v_suggestion := logloom_private.query_meant_start(p_state.texts);
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := format('%s is read as a text: write a shift from now without a blank', v_token);
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token in ('!=', '!~') and p_state.texts[p_state."at" + 1] like '"%' then
    v_message := format('%s is read as a word: negate with -', v_token);
    v_suggestion := case v_token when '!~' then '-msg:~' else '-' end
      || p_state.texts[p_state."at" + 1];
  elsif v_token ~ '^!.' then
    v_message := v_token || ' is read as a text: negate with -';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := v_token || ' is read as a text: every term is required without +';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := v_token || ' is read as a text: there are no fuzzy or boosted terms';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is not a wildcard: a word is found anywhere in msg';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap[1];
    v_suggestion := case when left(v_trap[2], 1) = '~' then 'msg:' else '' end
      || v_trap[2];
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is read as a text: write a colon after a field';
    end if;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$$;
