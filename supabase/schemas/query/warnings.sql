-- PT400 with the first warning where the query probably means something else than was meant. For
-- what acts without anybody looking: such a rule would be silent for ever, such a deletion would
-- take what was to stay.
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

-- Silent traps: what is valid here, means something else elsewhere, and so looks for what nobody
-- wants. Quoted texts are never warned about: they are meant.

-- One warning more, where there is a suggestion.
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

-- What is wrong with a word wherever it stands, and what stands for it instead, or null.
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
  v_end integer;
begin
  if p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]' then
    return array[
      'Typographic quotes and colons are plain characters: ' || p_token
        || ' is looked for with them',
      translate(p_token, '“”„‟«»＂：‘‚’‹', '""""""":""""')
    ];
  elsif left(p_token, 1) = '''' and char_length(p_token) > 1 then
    select min(n) into v_end
    from generate_series(p_state."at", cardinality(p_state.texts)) n
    where right(p_state.texts[n], 1) = '''';
    if v_end is not null then
      return array[
        'A single quote is a plain character: ' || p_token || ' is looked for with it',
        '"' || btrim(
          p_token || coalesce(
            ' ' || array_to_string(p_state.texts[p_state."at" + 1:v_end], ' '), ''
          ), ' '''
        ) || '"'
      ];
    end if;
  elsif strpos(p_token, '&&') > 0 then
    return array[
      '&& is looked for as a text: terms side by side mean AND',
      replace(p_token, '&&', case p_token when '&&' then 'AND' else ' AND ' end)
    ];
  elsif p_token ~ '^/.*[.*+?\\^$].*/$' then
    return array[
      'A slash is a plain character, this is no regular expression',
      '~"' || replace(btrim(p_token, '/'), '"', '\"') || '"'
    ];
  end if;
  return null;
end;
$$;

-- The free term that comes next, a word.
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
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  v_suggestion := logloom_private.query_meant_words(p_state.texts, p_state."at");
  if v_suggestion is not null then
    v_message := format('%s is looked for as a word: a field is followed by a colon', v_token);
  elsif exists (
    select
    from generate_series(1, 6) n
    where p_state.positions[p_state."at" - n]
        = (p_state.warnings -> -1 ->> 'position')::integer
      and (n < 3 or lower(p_state.texts[p_state."at" - n + 1] collate "C") = 'in')
      and logloom_private.query_meant_words(p_state.texts, p_state."at" - n) is not null
  ) then
    -- It belongs to a comparison that has its warning.
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is looked for as a word: operators are in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is looked for as words: an aggregate follows a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('order', 'group') and v_next = 'by' then
    v_message := format('%s by is looked for as words: a stage follows a |', v_token);
    v_suggestion := case v_word when 'order' then '| sort by ' else '| count() by ' end
      || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
    and v_word not in ('and', 'or', 'not')
  then
    -- avg(duration_ms), exists(user_id), i(error): (a)(b) need no blank between them.
    v_message := format('%s is looked for as a word, beside what its brackets hold', v_token);
    v_suggestion := case v_word
      when 'exists' then
        logloom_private.query_meant_name(p_state.texts[p_state."at" + 2]) || ':*'
      else logloom_private.query_meant_stage(p_state.texts[p_state."at":], '{}') end;
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is looked for as a word: a stage follows a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_word = 'select' and p_state."at" = 1
    and (
      v_next ~ '^[0-9(]'
      or lower(p_state.texts::text collate "C")::text[] && array['from', '*', 'where']
    )
  then
    v_message := 'This is no SQL: each of its words is looked for in msg';
    v_suggestion := 'service:api level:error';
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := 'A shift from now is written without a blank: this one is looked for as a text';
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token in ('!=', '!~') and p_state.texts[p_state."at" + 1] like '"%' then
    v_message := format('%s is looked for as a word: - negates', v_token);
    v_suggestion := case v_token when '!~' then '-msg:~' else '-' end
      || p_state.texts[p_state."at" + 1];
  elsif v_token ~ '^!.' then
    v_message := '! is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := '+ is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := 'No term is fuzzy or boosted: ' || v_token || ' is looked for as it is';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is no wildcard: a word is found anywhere in msg as it is';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap[1];
    v_suggestion := case when left(v_trap[2], 1) = '~' then 'msg:' else '' end
      || v_trap[2];
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is looked for as a text: a field is followed by a colon';
    end if;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$$;

-- A value without a sign or after =. p_token is the one that comes next, or one in a list.
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
  v_name constant text := p_field ->> 'name';
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_sign = '=' then
    -- = or a comparison of other languages.
    if p_token ~ '^=+[^=]' then
      v_message := 'The second = belongs to the value that is looked for';
      v_suggestion := format('%s:=%s', v_name, ltrim(p_token, '='));
    elsif p_token ~ '^[<>].' then
      v_message := format('The value %s is looked for: = stands after > or <', p_token);
      v_suggestion := format('%s:%s=%s', v_name, left(p_token, 1), substr(p_token, 2));
    end if;
  elsif left(p_token, 1) = '"' then
    return p_state;
  elsif p_token ~* '^!=*null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := v_name || ':*';
  elsif p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
    and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
  then
    v_message := 'in is looked for as a value, beside what its brackets hold';
    v_suggestion := v_name || ':(' || regexp_replace(
      array_to_string(
        p_state.texts[p_state."at" + 2:array_position(p_state.texts, ')', p_state."at") - 1], ' '
      ),
      '\s*,\s*', ' OR ', 'g'
    ) || ')';
  elsif p_token ~ '^!=*.' then
    v_message := format('! is a plain character: the value %s is looked for', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := format('-%s:*', v_name);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma is a plain character: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is looked for as a text: numbers have ranges', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap[1];
    v_suggestion := v_name || ':' || v_trap[2];
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$$;
