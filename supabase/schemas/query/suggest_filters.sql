-- Returns the field or attribute for a name of another query language.
create function logloom_private.query_meant_name(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Ingest stores these attributes as fields.
  v_name constant text := case when p_name in ('@timestamp', '@message', '@level')
    then substr(p_name, 2) else ltrim(p_name, '.') end;
begin
  if left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
    or v_name = any(logloom_private.query_field_names())
  then
    return v_name;
  end if;
  return coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
end;
$$;

-- Suggests our term for a comparison with blanks, as other query languages write it: level =
-- "error", status != null, msg like '%x%'. p_at: the place of its first word. Null if the words are
-- no such comparison.
create function logloom_private.query_meant_words(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- attrs->>'method'
  v_name constant text :=
    regexp_replace(p_texts[p_at], '^attrs->>?''([[:alnum:]_.-]+)''$', '@\1');
  v_word constant text := lower(p_texts[p_at + 1] collate "C");
  v_value text := p_texts[p_at + 2];
  v_end integer;
begin
  if p_at < 1 or v_word is null or v_name !~ '^[@.]?[[:alpha:]_][[:alnum:]_.@-]*$'
    or lower(v_name collate "C") in ('and', 'or', 'not', 'where')
    or v_word !~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|is|in|between|i?like|contains)$'
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
  elsif v_word = 'in' and v_value ~ '^[0-9a-fA-F.:]+/[0-9]{1,3}$' then
    return logloom_private.query_meant_name(v_name) || ':' || v_value;
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
  elsif v_word in ('between', 'like', 'ilike', 'contains')
    and v_value !~ (case v_word when 'between' then '^-?[0-9]' else '^[''"%/]' end)
    and left(v_name, 1) <> '@' and left(logloom_private.query_meant_name(v_name), 1) = '@'
  then
    -- These are probably two words of a message.
    return null;
  elsif v_word = 'between' then
    return logloom_private.query_meant_name(v_name) || ':['
      || v_value || ' TO ' || coalesce(nullif(p_texts[p_at + 4], ''), '*') || ']';
  elsif not logloom_private.query_is_term(v_value) then
    return null;
  elsif left(v_value, 1) in ('''', '/') then
    -- A text in single quotes or slashes may have blanks.
    select min(n) into v_end
    from generate_series(p_at + 2, least(p_at + 12, cardinality(p_texts))) n
    where right(p_texts[n], 1) = left(v_value, 1)
      and (n > p_at + 2 or char_length(p_texts[n]) > 1);
    v_value := array_to_string(p_texts[p_at + 2:coalesce(v_end, p_at + 2)], ' ');
    v_value := btrim(v_value, '''');
  elsif v_value in ('now', 'ago') and p_texts[p_at + 3] = '(' then
    -- now() - interval '1 hour', ago(5m)
    v_value := 'now-' || coalesce(
      substring(p_texts[p_at + 4] from '^[1-9][0-9]{0,4}[smhdw]$'), '1h'
    );
  else
    v_value := logloom_private.query_text(v_value);
  end if;
  if v_word not in ('like', 'ilike', 'contains') then
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

-- Suggests a term for several values that are joined by the bar at p_position, such as
-- level:error|warn; or null.
create function logloom_private.query_meant_values(p_source text, p_position integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_term constant text[] := regexp_match(
    left(p_source, p_position - 1),
    '(?:^|[ (])(-?@?[[:alpha:]_][[:alnum:]_.@-]*):([[:alnum:]_.*-]+)$'
  );
  v_words constant text[] := string_to_array(
    substring(substr(p_source, p_position + 1) from '^[[:alnum:]_.*|-]+'), '|'
  );
  v_values text;
begin
  select string_agg(w.word, ' OR ' order by w.place) into v_values
  from unnest(v_words) with ordinality w (word, place)
  where w.place < coalesce(
    (
      select min(s.place)
      from unnest(v_words) with ordinality s (word, place)
      where s.word in ('', 'json', 'logfmt', 'extract', 'extract_regexp', 'fields', 'patterns')
        or logloom_private.query_meant_stage(array[s.word], '{}') is not null
    ),
    cardinality(v_words) + 1
  );
  return v_term[1] || ':(' || v_term[2] || ' OR ' || v_values || ')';
end;
$$;

-- Suggests a term for a comparison in one word: name=value, name!=value, name>5; or null.
create function logloom_private.query_meant_comparison(p_token text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant text[] := regexp_match(
    regexp_replace(p_token, '^attrs->>?''([[:alnum:]_.-]+)''', '@\1'),
    '^([@.]?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(===?|!=|<>|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text;
  v_is_not constant boolean := v_parts[2] in ('!=', '<>', '!~');
  v_value constant text := regexp_replace(v_parts[3], '^''(.*)''$', '\1');
begin
  if v_parts is null then
    return null;
  elsif v_parts[1] = 'index' and v_parts[3] ~ '^[[:alpha:]*]' then
    -- Splunk's index: a tenant has one.
    return '*';
  end if;
  v_name := case when v_parts[1] in ('earliest', 'latest') then 'ts'
    else logloom_private.query_meant_name(v_parts[1]) end;
  if v_parts[1] in ('earliest', 'latest') and v_parts[2] = '=' then
    return case v_parts[1] when 'earliest' then 'ts:>=' else 'ts:<' end || v_value;
  elsif v_parts[3] ~* '^null$' then
    return case when v_is_not then '' else '-' end || v_name || ':*';
  end if;
  return case when v_is_not then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_value, '"', '\"') || '"'
      when v_parts[2] in ('>', '>=', '<', '<=') then v_parts[2] || v_value
      when v_value ~ '^[[:alnum:]_./*?-]+$' then v_value
      else '"' || regexp_replace(v_value, '(["\\])', '\\\1', 'g') || '"'
    end;
end;
$$;

-- Suggests a term for attrs["x"]:1 or attrs["x"] >= 1, with the bracket at p_at; or null.
create function logloom_private.query_meant_index(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := '@' || btrim(logloom_private.query_text(p_texts[p_at + 1]), '''');
  v_value constant text := p_texts[p_at + 3];
begin
  if coalesce(p_texts[p_at - 1], '') !~ '^@?attrs$' or p_texts[p_at + 2] is distinct from ']'
    or v_name !~ '^@[[:alpha:]_][[:alnum:]_.@-]*$'
  then
    return null;
  elsif left(v_value, 1) = ':' then
    return v_name || v_value || case v_value when ':' then left(p_texts[p_at + 4], 60) else '' end;
  end if;
  return coalesce(
    logloom_private.query_meant_words(v_name || p_texts[p_at + 3:], 1),
    logloom_private.query_meant_comparison(v_name || v_value),
    v_name || ':*'
  );
end;
$$;

-- Suggests a term for cidr(@ip, 10.0.0.0/8), a function of several languages; or null. p_texts
-- begins with the function's name.
create function logloom_private.query_meant_network(p_texts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text[] := regexp_split_to_array(
    array_to_string(p_texts[3:array_position(p_texts, ')') - 1], ' '), '[ ,"'']+'
  );
  v_networks constant text[] := array(
    select w from unnest(v_words) w where w ~ '^[0-9a-fA-F.:]+/[0-9]{1,3}$'
  );
  v_name constant text :=
    (select w from unnest(v_words) w where w ~ '^[@.]?[[:alpha:]_]' limit 1);
begin
  if v_name is null or cardinality(v_networks) = 0 then
    return null;
  end if;
  return logloom_private.query_meant_name(v_name) || ':' || case cardinality(v_networks)
    when 1 then v_networks[1]
    else '(' || array_to_string(v_networks, ' OR ') || ')' end;
end;
$$;

-- Suggests a term for last 1h, past 15 minutes or 2 days ago, with its first word at p_at; or null.
create function logloom_private.query_meant_time(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := lower(array_to_string(p_texts[p_at:p_at + 2], ' ') collate "C") || ' ';
  v_shift constant text :=
    '([1-9][0-9]{0,4}) ?([smhdw])(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?|eeks?)? ';
begin
  return 'ts:-' || array_to_string(
    coalesce(
      regexp_match(v_text, '^(?:last|past|since) ' || v_shift),
      regexp_match(v_text, '^' || v_shift || 'ago ')
    ),
    ''
  );
end;
$$;

-- Suggests a term for a field or syntax that only another language has; or null. Examples:
-- _exists_:user_id, !level:debug, status:error, *:text, _time:5m.
create function logloom_private.query_meant_term(p_name text, p_value text)
returns text
language sql
immutable
return case
  when p_name in ('_exists_', '_missing_') and p_value ~ '^@?[[:alpha:]_]'
    then case p_name when '_missing_' then '-' else '' end
      || logloom_private.query_meant_name(p_value) || ':*'
  when p_name ~ '^!.' and p_value <> ''
    then '-' || logloom_private.query_meant_name(substr(p_name, 2)) || ':' || left(p_value, 60)
  when p_name = 'status' and p_value ~* '^(?:debug|info|warn|warning|error|critical)$'
    then 'level:' || p_value
  when p_name = '*' and p_value <> '' then 'any:' || left(p_value, 60)
  when p_name = 'has' and p_value ~ '^@?[[:alpha:]_]'
    then logloom_private.query_meant_name(p_value) || ':*'
  -- C:\temp
  when p_name ~ '^[A-Za-z]$' and p_value like '\\%'
    then '"' || p_name || ':' || replace(left(p_value, 60), '\', '\\') || '"'
  when p_name in ('_time', 'last', 'since') and p_value ~ '^[1-9][0-9]{0,9}[smhdw]$'
    then 'ts:-' || p_value
end;
