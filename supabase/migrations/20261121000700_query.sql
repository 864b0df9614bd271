-- The query compiler: text -> tokens -> checked tree -> SQL over one alias of app.logs.
--
-- The tree is jsonb. A node is one of
--   {"type": "all"}, {"type": "none"}, {"type": "not", "item": node},
--   {"type": "and" | "or", "items": [node, …]},
--   {"type": "leaf", "field": …, "test": …, …}, with "path" and "joined" where the field is attrs.
-- Tests of a leaf:
--   exists                               has a value
--   equal    values                      one of these texts
--   like     pattern                     a LIKE pattern over the whole text
--   contains pattern                     a LIKE pattern over the lower-case text, any place
--   regex    pattern, fold, size, position   PostgreSQL's dialect, translated from ours
--   range    lower, lower_open, upper, upper_open   by code point, or of numbers; null is no bound
--   within   from, to                    from <= time < to; null is no bound
--
-- Nothing of a caller's text reaches the SQL but through quote_literal, and no expression in it
-- can raise on any record. No role is granted anything here: the functions that search, save
-- searches and evaluate alerts call these with their owner's rights.

create type private.query_tokens as (texts text[], positions integer[]);
comment on type private.query_tokens is
  'Tokens as written, white space left out, and where each begins (1-based, code points). '
  'The last is the empty text, one past the end.';

create type private.query_step as (node jsonb, next integer, leaves integer);
comment on type private.query_step is
  'What a rule of the grammar answers: a tree, the token after it, and the leaves so far.';

create type private.compiled_query as (
  blank boolean,
  tree jsonb,
  filter text,
  fields text[],
  equality_only boolean,
  ts_from timestamptz,
  ts_to timestamptz,
  aggregate text,
  aggregate_field text,
  aggregate_sql text,
  by_fields text[],
  by_sql text[]
);
comment on type private.compiled_query is
  'A query as SQL over the alias l of app.logs. blank: nothing but white space. tree: what '
  'private.query_sql turns into SQL for another alias. filter: a boolean expression. fields: '
  'every column the filter reads. equality_only: the filter asks nothing but equality and '
  'presence. ts_from (inclusive) and ts_to (exclusive): bounds of ts that hold for every match. '
  'aggregate: null where the query has none, else its name; aggregate_field: its field as '
  'written; aggregate_sql: an aggregate expression of type double precision, for rate the count, '
  'which the caller divides by the minutes of its range. by_fields, by_sql: the fields to group '
  'by as written, and their expressions; both empty without by.';

-- Errors

create function private.query_refuse(p_position integer, p_message text, p_hint text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  raise sqlstate 'PT400' using
    message = p_message,
    detail = format('{"position": %s}', p_position),
    hint = p_hint;
end;
$$;

-- Enough of the caller's text to recognise it in a message.
create function private.query_excerpt(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '"' || left(p_text, 40) || case when char_length(p_text) > 40 then '…' else '' end || '"';
end;
$$;

-- Tokens

create function private.query_tokenize(p_query_dsl text)
returns private.query_tokens
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tokens private.query_tokens;
  v_stray integer;
begin
  -- White space, a quoted text, a bracket or bar, a bareword, or what none of them takes: so that
  -- the matches cover every character, and a running sum of their lengths is their position.
  select
    array_agg(t.text order by t.n) filter (where not t.is_space),
    array_agg(t.position order by t.n) filter (where not t.is_space),
    min(t.position) filter (where t.text in ('"', '\'))
  into v_tokens.texts, v_tokens.positions, v_stray
  from (
    select
      m.match[1] as text,
      m.n,
      left(m.match[1], 1) in (' ', e'\t', e'\r', e'\n', e'\u00a0') as is_space,
      (1 + sum(char_length(m.match[1])) over (order by m.n rows unbounded preceding)
        - char_length(m.match[1]))::integer as position
    from regexp_matches(
      p_query_dsl,
      '[ \t\r\n\u00a0]+|"(?:[^"\\]|\\.)*"|[][(){}|]|(?:[^] \t\r\n\u00a0[(){}|"\\]|\\.)+|.',
      'g'
    ) with ordinality as m (match, n)
  ) t;

  if v_stray is not null and substr(p_query_dsl, v_stray, 1) = '"' then
    perform private.query_refuse(
      v_stray, 'A quoted text is not closed', 'End it with ", or write \" for the character itself.'
    );
  elsif v_stray is not null then
    perform private.query_refuse(
      v_stray, 'A backslash has nothing to escape', 'Write \\ for the character itself.'
    );
  end if;

  v_tokens.texts := v_tokens.texts || ''::text;
  v_tokens.positions := v_tokens.positions || (char_length(p_query_dsl) + 1);
  return v_tokens;
end;
$$;

create function private.query_is_quoted(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return left(p_token, 1) = '"';
end;
$$;

create function private.query_is_word(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return left(p_token, 1) not in ('', '"', '(', ')', '[', ']', '{', '}', '|');
end;
$$;

-- Is there no white space between this token and the one before?
create function private.query_is_adjacent(p_texts text[], p_positions integer[], p_at integer)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_at > 1
    and p_positions[p_at - 1] + char_length(p_texts[p_at - 1]) = p_positions[p_at];
end;
$$;

-- Answers p_at, the token after a term, unless no white space keeps it apart: time"out" is one
-- term with a quote in it to some and two terms to others, so it is neither.
create function private.query_require_gap(p_texts text[], p_positions integer[], p_at integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if (left(p_texts[p_at], 1) = '"' or private.query_is_word(p_texts[p_at]))
    and private.query_is_adjacent(p_texts, p_positions, p_at)
  then
    perform private.query_refuse(
      p_positions[p_at],
      'White space is missing before ' || private.query_excerpt(p_texts[p_at]),
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.'
    );
  end if;
  return p_at;
end;
$$;

-- The text that a word or a quoted token stands for.
create function private.query_text(p_token text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_text text := p_token;
begin
  if left(v_text, 1) = '"' then
    v_text := substr(v_text, 2, char_length(v_text) - 2);
  end if;
  if strpos(v_text, '\') > 0 then
    v_text := regexp_replace(v_text, '\\(.)', '\1', 'g');
  end if;
  return v_text;
end;
$$;

create function private.query_has_wildcard(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if left(p_token, 1) = '"' or translate(p_token, '*?', '') = p_token then
    return false;
  end if;
  return p_token ~ '^(?:[^\\*?]|\\.)*[*?]';
end;
$$;

-- A LIKE pattern for a token: its wildcards become LIKE's, LIKE's own are escaped.
create function private.query_like(p_token text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if left(p_token, 1) = '"' then
    return regexp_replace(private.query_text(p_token), '([\\%_])', '\\\1', 'g');
  elsif strpos(p_token, '\') = 0 then
    return translate(replace(replace(p_token, '%', '\%'), '_', '\_'), '*?', '%_');
  end if;
  return (
    select string_agg(
      case
        when left(m.match[1], 1) <> '\' then
          translate(replace(replace(m.match[1], '%', '\%'), '_', '\_'), '*?', '%_')
        when substr(m.match[1], 2) in ('%', '_', '\') then m.match[1]
        else substr(m.match[1], 2)
      end,
      '' order by m.n
    )
    from regexp_matches(p_token, '\\.|[^\\]+', 'g') with ordinality as m (match, n)
  );
end;
$$;

-- Fields

-- What a name stands for: {"field": …, "name": as written}, for attrs with "path", and "joined",
-- the key that is looked up where the path leads nowhere. A quoted segment says exactly which key
-- is meant, so a path that has one is never joined.
create function private.query_field(p_name text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_path text[];
begin
  if p_name in (
    'ts', 'received_at', 'id', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route',
    'host'
  ) then
    return jsonb_build_object('field', p_name, 'name', p_name);
  elsif p_name = 'attrs' then
    perform private.query_refuse(
      p_position, 'attrs needs the name of an attribute', 'Write attrs.name, such as attrs.status.'
    );
  elsif left(p_name, 6) <> 'attrs.' then
    perform private.query_refuse(
      p_position,
      'Unknown field ' || private.query_excerpt(p_name),
      'Quote a text that holds a colon. An attribute is written attrs.name. The fields are ts, '
        || 'received_at, id, level, msg, service, env, req_id, user_id, route, host and attrs.'
    );
  end if;

  -- ICU's classes, because "letters and digits of any script" is what they say.
  if p_name collate "und-x-icu" !~
    '^attrs(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform private.query_refuse(
      p_position,
      'The path of an attribute is malformed',
      'Separate segments by one dot. A segment of other characters than letters, digits, _ and - '
        || 'is quoted: attrs."a b".c'
    );
  end if;

  if strpos(p_name, '"') = 0 then
    v_path := string_to_array(substr(p_name, 7), '.');
    return jsonb_build_object(
      'field', 'attrs', 'name', p_name, 'path', v_path,
      'joined', case when cardinality(v_path) > 1 then substr(p_name, 7) end
    );
  end if;
  select array_agg(private.query_text(substr(m.match[1], 2)) order by m.n)
  into v_path
  from regexp_matches(p_name, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
    with ordinality as m (match, n);
  return jsonb_build_object('field', 'attrs', 'name', p_name, 'path', v_path, 'joined', null);
end;
$$;

create function private.query_leaf(p_field jsonb, p_test jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '{"type": "leaf"}'::jsonb || p_field || p_test;
end;
$$;

-- Literals

-- The level that a word means, by ingest's aliases, or null.
create function private.query_level(p_word text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_word constant text := lower(p_word collate "C");
begin
  return case
    when v_word in ('debug', 'info', 'warn', 'error') then v_word
    when v_word = 'trace' then 'debug'
    when v_word in ('notice', 'information') then 'info'
    when v_word = 'warning' then 'warn'
    when v_word in ('err', 'critical', 'crit', 'fatal', 'panic', 'alert', 'emerg', 'emergency')
      then 'error'
    when v_word ~ '^[12][0-9](?:\.[0-9]+)?$' then 'debug'
    when v_word ~ '^3[0-9](?:\.[0-9]+)?$' then 'info'
    when v_word ~ '^4[0-9](?:\.[0-9]+)?$' then 'warn'
    when v_word ~ '^[56][0-9](?:\.[0-9]+)?$' then 'error'
  end;
end;
$$;

create function private.query_require_level(p_token text, p_position integer)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_level constant text := private.query_level(private.query_text(p_token));
begin
  if v_level is null or private.query_has_wildcard(p_token) then
    perform private.query_refuse(
      p_position,
      'Unknown level ' || private.query_excerpt(private.query_text(p_token)),
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.'
    );
  end if;
  return v_level;
end;
$$;

-- The span of time that a literal names: a microsecond for an instant, a UTC day for a date.
create function private.query_time(p_token text, p_position integer, p_now timestamptz)
returns tstzrange
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := private.query_text(p_token);
  v_shift text[];
  v_seconds numeric;
  v_instant timestamptz;
begin
  if v_text ~ '^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$' and pg_input_is_valid(v_text, 'date') then
    return tstzrange(
      (v_text || 'T00:00:00Z')::timestamptz,
      (v_text || 'T00:00:00Z')::timestamptz + interval '24 hours'
    );
  elsif v_text ~ '^now(?:[+-][0-9]{1,10}[smhdw])?$' then
    v_shift := regexp_match(v_text, '^now(.[0-9]+)(.)$');
    v_seconds := coalesce(v_shift[1]::numeric, 0) * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) > 3155760000 then
      perform private.query_refuse(
        p_position,
        'A shift from now is longer than 100 years',
        'Write a shorter one, such as now-15m.'
      );
    end if;
    v_instant := p_now + make_interval(secs => v_seconds);
  elsif v_text ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]'
      || '(?::[0-5][0-9](?:\.[0-9]{1,9})?)?'
      || '(?:[Zz]|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?$')
    and pg_input_is_valid(left(v_text, 10), 'date')
  then
    -- Digits beyond the microsecond are dropped, where the cast would round.
    v_instant := (regexp_replace(v_text, '(\.[0-9]{6})[0-9]+', '\1')
      || case when substr(v_text, 12) ~ '[Zz+-]' then '' else 'Z' end)::timestamptz;
  else
    perform private.query_refuse(
      p_position,
      'Not a time: ' || private.query_excerpt(v_text),
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now or now-15m (s, m, h, d or w).'
    );
  end if;
  return tstzrange(v_instant, v_instant + interval '1 microsecond');
end;
$$;

-- A number as the shortest text of its double, which is how JSON numbers arrive, so that
-- comparing the decimal texts is comparing the doubles.
create function private.query_number(p_token text, p_position integer)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := private.query_text(p_token);
begin
  -- A null is no bound: it passes both tests and stays null.
  if left(p_token, 1) = '"' or v_text !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$' then
    perform private.query_refuse(
      p_position,
      'An attribute is compared with a number, and this is none: '
        || private.query_excerpt(v_text),
      'Write a number such as -5, 0.5 or 1e3, without quotes.'
    );
  elsif not pg_input_is_valid(v_text, 'double precision') then
    perform private.query_refuse(
      p_position, 'A number is out of range', 'Numbers reach from about -1.8e308 to 1.8e308.'
    );
  end if;
  return v_text::double precision::text;
end;
$$;

-- Regular expressions

create function private.query_regex_refuse(p_position integer, p_what text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform private.query_refuse(
    p_position,
    'Regular expression: ' || p_what,
    'Allowed are literals, classes, groups, alternatives, * + ? {m,n} up to 100, \d \w \s \b, '
      || '^ and $, (?i) at the start, and a backslash before punctuation.'
  );
end;
$$;

-- One literal character as PostgreSQL's dialect writes it, inside a class or outside.
create function private.query_regex_literal(p_char text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case when p_char ~ '[!-/:-@[-`{-~]' then '\' || p_char else p_char end;
end;
$$;

-- A range of a class. Folded, the text has no upper case, so the range gains what its characters
-- are in lower case; what it keeps of upper case finds nothing.
create function private.query_regex_range(p_from integer, p_to integer, p_fold boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := private.query_regex_literal(chr(p_from)) || '-'
    || private.query_regex_literal(chr(p_to));
begin
  if p_fold and p_from <= 90 and p_to >= 65 then
    v_sql := v_sql || chr(greatest(p_from, 65) + 32) || '-' || chr(least(p_to, 90) + 32);
  end if;
  if p_fold and p_to > 127 then
    v_sql := v_sql || coalesce((
      select string_agg(lower(chr(c) collate pg_c_utf8), '')
      -- Between and above these, in CJK, Hangul and beyond, no character is cased.
      from generate_series(greatest(p_from, 128), least(p_to, 131071)) c
      where c not between 13312 and 42559 and c not between 44032 and 65279
        and lower(chr(c) collate pg_c_utf8) <> chr(c)
    ), '');
  end if;
  return v_sql;
end;
$$;

create function private.query_regex_class(p_class text, p_position integer, p_fold boolean)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_negated constant boolean := substr(p_class, 2, 1) = '^';
  v_items text[];
  v_item text;
  v_char text;
  v_upper text;
  v_at integer := 1;
  v_position integer := p_position + case when v_negated then 2 else 1 end;
  v_sql text := '';
begin
  v_items := array(
    select m.match[1]
    from regexp_matches(
      substr(p_class, v_position - p_position + 1,
        char_length(p_class) - (v_position - p_position) - 1),
      '\\.|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  );
  if cardinality(v_items) = 0 then
    perform private.query_regex_refuse(p_position, 'a class is empty');
  end if;

  while v_at <= cardinality(v_items) loop
    v_item := v_items[v_at];
    if v_item = '[' then
      perform private.query_regex_refuse(v_position, '[ inside a class is written \[');
    elsif left(v_item, 1) = '\' and v_item ~ '[0-9A-Za-z]$'
      and v_item not in ('\d', '\w', '\s')
    then
      perform private.query_regex_refuse(v_position, v_item || ' cannot stand in a class');
    end if;

    if v_items[v_at + 1] = '-' and v_items[v_at + 2] is not null then
      v_upper := v_items[v_at + 2];
      v_char := right(v_item, 1);
      if v_item in ('\d', '\w', '\s') or v_upper ~ '^\\[0-9A-Za-z]' or v_upper = '[' then
        perform private.query_regex_refuse(v_position, 'a range of a class ends in characters');
      elsif ascii(v_char) > ascii(right(v_upper, 1)) then
        perform private.query_regex_refuse(v_position, 'a range of a class runs backwards');
      end if;
      v_sql := v_sql || private.query_regex_range(ascii(v_char), ascii(right(v_upper, 1)), p_fold);
      v_position := v_position + char_length(v_item) + 1 + char_length(v_upper);
      v_at := v_at + 3;
    else
      v_sql := v_sql || case v_item
        when '\d' then '0-9'
        when '\w' then '0-9A-Za-z_'
        when '\s' then ' \t\n\r\f\v'
        else private.query_regex_literal(
          case when p_fold then lower(right(v_item, 1) collate pg_c_utf8) else right(v_item, 1) end
        )
      end;
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$$;

-- How often a quantifier repeats what stands before it as copies: {least, most}. What has no end
-- is one copy more that may be absent.
create function private.query_regex_bounds(p_quantifier text, p_position integer)
returns integer[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_bounds constant text[] := regexp_match(
    p_quantifier, '^\{([0-9]{1,3})(,([0-9]{0,3}))?\}$'
  );
  v_least constant integer := v_bounds[1]::integer;
  v_most constant integer := case
    when v_bounds[2] is null then v_least
    when v_bounds[3] = '' then greatest(v_least, 100)
    else v_bounds[3]::integer
  end;
begin
  if p_quantifier in ('*', '?') then
    return array[0, 1];
  elsif p_quantifier = '+' then
    return array[1, 1];
  elsif v_bounds is null or v_least > 100 or v_most > 100 then
    perform private.query_regex_refuse(p_position, 'a repeat is {m}, {m,} or {m,n} up to 100');
  elsif v_least > v_most then
    perform private.query_regex_refuse(p_position, 'the bounds of a repeat run backwards');
  end if;
  return array[v_least, case when v_bounds[3] = '' then v_least + 1 else v_most end];
end;
$$;

-- Our regular expression as PostgreSQL's: {"pattern", "fold", "size", "position"}. Each construct
-- is written anew, so that nothing of PostgreSQL's dialect that ours lacks can be reached.
--
-- PostgreSQL's matching time does not explode, but its compiling does: it copies what a bounded
-- repeat repeats, and connects all that can be skipped. v_sizes adds up what that costs, by
-- measurement: a character or class 1, a copy that may be absent 3 more, \b 50. At 1000, compiling
-- takes some 60 ms at worst.
create function private.query_regex(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_fold constant boolean := substr(p_token, 2, 4) = '(?i)';
  v_source text := substr(p_token, 2, char_length(p_token) - 2);
  v_position integer := p_position + 1;
  v_part text;
  v_sql text := '';
  v_bounds integer[];
  v_depth integer := 1;
  -- By depth: the size so far, and the size of the atom that a quantifier would repeat, or null.
  v_sizes integer[] := array[0];
  v_atoms integer[] := array[null::integer];
  v_opened integer[] := array[0];
begin
  if char_length(v_source) > 256 then
    perform private.query_regex_refuse(v_position + 256, 'it is longer than 256 characters');
  end if;
  if v_fold then
    v_source := substr(v_source, 5);
    v_position := v_position + 4;
  end if;

  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      v_source,
      '\\.|\[(?:[^]\\]|\\.)*\]|\(\?.?|\{[^}]*\}|[^][\\(){}|*+?.^$]+(?![*+?{])|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    case
      when strpos('\[().*+?{|^$', left(v_part, 1)) = 0 then
        v_atoms[v_depth] := char_length(v_part);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth];
        v_sql := v_sql || case when v_fold then lower(v_part collate pg_c_utf8) else v_part end;
      when v_part in ('*', '+', '?') or left(v_part, 1) = '{' then
        if v_atoms[v_depth] is null then
          perform private.query_regex_refuse(v_position, v_part || ' has nothing to repeat');
        end if;
        v_bounds := private.query_regex_bounds(v_part, v_position);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth] * (greatest(v_bounds[2], 1) - 1)
          + 3 * (v_bounds[2] - v_bounds[1]);
        v_atoms[v_depth] := null;
        v_sql := v_sql || v_part;
      when v_part in ('(', '(?:') then
        v_depth := v_depth + 1;
        v_sizes[v_depth] := 1;
        v_atoms[v_depth] := null;
        v_opened[v_depth] := v_position;
        v_sql := v_sql || '(?:';
      when v_part = ')' then
        if v_depth = 1 then
          perform private.query_regex_refuse(v_position, ') closes nothing');
        end if;
        v_depth := v_depth - 1;
        v_sizes[v_depth] := v_sizes[v_depth] + v_sizes[v_depth + 1];
        v_atoms[v_depth] := v_sizes[v_depth + 1];
        v_sql := v_sql || ')';
      when v_part in ('|', '^', '$', '\b') then
        v_sizes[v_depth] := v_sizes[v_depth] + case v_part when '\b' then 50 else 1 end;
        v_atoms[v_depth] := null;
        v_sql := v_sql || case v_part when '\b' then '\y' else v_part end;
      when left(v_part, 2) = '(?' then
        perform private.query_regex_refuse(
          v_position, 'lookaround and options are not allowed; (?i) stands at the start'
        );
      when v_part = '[' then
        perform private.query_regex_refuse(v_position, 'a class is not closed');
      when v_part ~ '^\\[1-9]' then
        perform private.query_regex_refuse(v_position, 'back-references are not allowed');
      when v_part ~ '^\\[0A-Za-z]' and v_part not in ('\d', '\w', '\s') then
        perform private.query_regex_refuse(v_position, v_part || ' is not an escape');
      else
        v_atoms[v_depth] := 1;
        v_sizes[v_depth] := v_sizes[v_depth] + 1;
        v_sql := v_sql || case
          when v_part = '.' then '.'
          when v_part = '\d' then '[0-9]'
          when v_part = '\w' then '[0-9A-Za-z_]'
          when v_part = '\s' then '[ \t\n\r\f\v]'
          when left(v_part, 1) = '[' then
            private.query_regex_class(v_part, v_position, v_fold)
          else
            private.query_regex_literal(
              case when v_fold then lower(substr(v_part, 2) collate pg_c_utf8)
                else substr(v_part, 2) end
            )
        end;
    end case;
    if v_sizes[v_depth] > 1000 then
      perform private.query_regex_refuse(v_position, 'it is too complex');
    end if;
    v_position := v_position + char_length(v_part);
  end loop;

  if v_depth > 1 then
    perform private.query_regex_refuse(v_opened[v_depth], 'a group is not closed');
  end if;
  return jsonb_build_object(
    'pattern', v_sql, 'fold', v_fold, 'size', v_sizes[1], 'position', p_position + 1
  );
end;
$$;

-- Checks the regular expressions of a tree together: what compiling them costs, and that
-- PostgreSQL takes each, so that it refuses none in the middle of a search.
create function private.query_check_regexes(p_tree jsonb)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_leaf jsonb;
  v_size integer := 0;
begin
  for v_leaf in
    select l from jsonb_path_query(p_tree, 'strict $.** ? (@.test == "regex")') l
  loop
    v_size := v_size + (v_leaf -> 'size')::integer;
    begin
      if v_size > 2000 or '' collate "C" ~ (v_leaf ->> 'pattern') is null then
        raise invalid_regular_expression;
      end if;
    exception when invalid_regular_expression then
      perform private.query_regex_refuse((v_leaf -> 'position')::integer, 'it is too complex');
    end;
  end loop;
end;
$$;

-- The checker: what a field may be asked

create function private.query_leaf_within(p_field jsonb, p_from timestamptz, p_to timestamptz)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_from >= p_to then
    return '{"type": "none"}'::jsonb;
  end if;
  return private.query_leaf(p_field, jsonb_build_object(
    'test', 'within',
    'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  ));
end;
$$;

create function private.query_leaf_equal(p_field jsonb, p_text text)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return private.query_leaf(
    p_field, jsonb_build_object('test', 'equal', 'values', jsonb_build_array(p_text))
  );
end;
$$;

-- A word or a quoted text that stands for itself.
create function private.query_check_term(
  p_field jsonb,
  p_token text,
  p_position integer,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_span tstzrange;
begin
  if p_token = '*' then
    return private.query_leaf(p_field, '{"test": "exists"}');
  elsif v_name = 'msg' then
    return private.query_leaf(p_field, jsonb_build_object(
      'test', 'contains',
      'pattern', '%' || private.query_like(lower(p_token collate pg_c_utf8)) || '%'
    ));
  elsif v_name = 'level' then
    return private.query_leaf_equal(p_field, private.query_require_level(p_token, p_position));
  elsif v_name = 'id' then
    if private.query_text(p_token) !~*
      '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    then
      perform private.query_refuse(
        p_position,
        'Not a UUID: ' || private.query_excerpt(private.query_text(p_token)),
        'id takes a whole UUID, or * for any.'
      );
    end if;
    return private.query_leaf_equal(p_field, lower(private.query_text(p_token)));
  elsif v_name in ('ts', 'received_at') then
    v_span := private.query_time(p_token, p_position, p_now);
    return private.query_leaf_within(p_field, lower(v_span), upper(v_span));
  elsif private.query_has_wildcard(p_token) then
    return private.query_leaf(
      p_field, jsonb_build_object('test', 'like', 'pattern', private.query_like(p_token))
    );
  end if;
  return private.query_leaf_equal(p_field, private.query_text(p_token));
end;
$$;

-- A comparison or a range. A null token is no bound.
create function private.query_check_range(
  p_field jsonb,
  p_lower text,
  p_lower_position integer,
  p_lower_open boolean,
  p_upper text,
  p_upper_position integer,
  p_upper_open boolean,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_levels constant text[] := array['debug', 'info', 'warn', 'error'];
  v_from integer := 1;
  v_to integer := 4;
  v_lower text;
  v_upper text;
  v_span tstzrange;
  v_start timestamptz;
  v_end timestamptz;
begin
  if v_name in ('msg', 'id') then
    perform private.query_refuse(
      coalesce(p_lower_position, p_upper_position),
      format('%s cannot be compared', v_name),
      case v_name when 'msg' then 'Search msg for a text, a "quoted phrase" or a ~"regex".'
        else 'id takes a whole UUID, or * for any.' end
    );
  elsif private.query_has_wildcard(coalesce(p_lower, '')) then
    perform private.query_refuse(
      p_lower_position,
      'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.'
    );
  elsif private.query_has_wildcard(coalesce(p_upper, '')) then
    perform private.query_refuse(
      p_upper_position,
      'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.'
    );
  elsif v_name in ('ts', 'received_at') then
    if p_lower is not null then
      v_span := private.query_time(p_lower, p_lower_position, p_now);
      v_start := case when p_lower_open then upper(v_span) else lower(v_span) end;
    end if;
    if p_upper is not null then
      v_span := private.query_time(p_upper, p_upper_position, p_now);
      v_end := case when p_upper_open then lower(v_span) else upper(v_span) end;
    end if;
    return private.query_leaf_within(p_field, v_start, v_end);
  elsif v_name = 'level' then
    if p_lower is not null then
      v_from := array_position(v_levels, private.query_require_level(p_lower, p_lower_position))
        + p_lower_open::integer;
    end if;
    if p_upper is not null then
      v_to := array_position(v_levels, private.query_require_level(p_upper, p_upper_position))
        - p_upper_open::integer;
    end if;
    if v_from > v_to then
      return '{"type": "none"}'::jsonb;
    end if;
    return private.query_leaf(
      p_field, jsonb_build_object('test', 'equal', 'values', v_levels[v_from:v_to])
    );
  end if;

  if v_name = 'attrs' then
    v_lower := private.query_number(p_lower, p_lower_position);
    v_upper := private.query_number(p_upper, p_upper_position);
  else
    v_lower := private.query_text(p_lower);
    v_upper := private.query_text(p_upper);
  end if;
  return private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'lower', v_lower, 'lower_open', p_lower_open, 'upper', v_upper, 'upper_open', p_upper_open
  ));
end;
$$;

create function private.query_check_regex(p_field jsonb, p_token text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id') then
    perform private.query_refuse(
      p_position,
      format('%s takes no regular expression', p_field ->> 'field'),
      case p_field ->> 'field' when 'id' then 'id takes a whole UUID, or * for any.'
        else 'Write a time or a range of times, such as ts:>now-15m.' end
    );
  end if;
  return private.query_leaf(
    p_field, '{"test": "regex"}'::jsonb || private.query_regex(p_token, p_position)
  );
end;
$$;

-- The parser: a function for each rule of the grammar

-- Answers the number of leaves with one more.
create function private.query_count_leaf(p_leaves integer, p_position integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_leaves >= 64 then
    perform private.query_refuse(
      p_position,
      'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.'
    );
  end if;
  return p_leaves + 1;
end;
$$;

-- Answers the depth inside one more bracket or NOT.
create function private.query_count_depth(p_depth integer, p_position integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_depth >= 16 then
    perform private.query_refuse(
      p_position, 'Brackets and NOTs nest deeper than 16', 'Take away brackets that group nothing.'
    );
  end if;
  return p_depth + 1;
end;
$$;

-- field:(a OR b). The exact texts become one leaf, so that an index can serve them together.
create function private.query_parse_any_of(
  p_field jsonb,
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_at integer := p_at + 1;
  v_leaves integer := p_leaves;
  v_values jsonb := '[]'::jsonb;
  v_items jsonb[] := '{}'::jsonb[];
  v_item jsonb;
begin
  perform private.query_count_depth(p_depth, p_positions[p_at]);
  loop
    if p_texts[v_at] in ('AND', 'NOT') then
      perform private.query_refuse(
        p_positions[v_at],
        p_texts[v_at] || ' cannot stand in a list of values',
        'The values of field:(a OR b) are joined by OR; quote the word to search for it.'
      );
    elsif p_texts[v_at] = 'OR' or p_texts[v_at] = ')'
      or not (left(p_texts[v_at], 1) = '"' or private.query_is_word(p_texts[v_at]))
    then
      perform private.query_refuse(
        p_positions[v_at],
        'A value is missing',
        'Write field:(a OR b), values only, and close the bracket.'
      );
    end if;
    v_leaves := private.query_count_leaf(v_leaves, p_positions[v_at]);
    v_item := private.query_check_term(p_field, p_texts[v_at], p_positions[v_at], p_now);
    if v_item ->> 'test' = 'equal' then
      v_values := v_values || (v_item -> 'values');
    else
      v_items := v_items || v_item;
    end if;

    v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
    exit when p_texts[v_at] = ')';
    if p_texts[v_at] = 'OR' then
      v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
    end if;
  end loop;

  if jsonb_array_length(v_values) > 0 then
    v_items := private.query_leaf(
      p_field, jsonb_build_object('test', 'equal', 'values', v_values)
    ) || v_items;
  end if;
  return (
    case when cardinality(v_items) = 1 then v_items[1]
      else jsonb_build_object('type', 'or', 'items', to_jsonb(v_items)) end,
    v_at + 1, v_leaves
  )::private.query_step;
end;
$$;

-- field:[a TO b}
create function private.query_parse_range(
  p_field jsonb,
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_at integer;
begin
  foreach v_at in array array[p_at + 1, p_at + 3] loop
    if not (left(p_texts[v_at], 1) = '"' or private.query_is_word(p_texts[v_at])) then
      perform private.query_refuse(
        p_positions[v_at],
        'A bound of a range is missing',
        'Write [a TO b] or {a TO b}; a * alone leaves a bound open.'
      );
    end if;
    v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
    if v_at = p_at + 2 and p_texts[v_at] <> 'TO' then
      perform private.query_refuse(
        p_positions[v_at],
        'TO is missing in a range',
        'Write [a TO b] or {a TO b}, TO in upper case.'
      );
    elsif v_at = p_at + 2 then
      v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
    end if;
  end loop;
  if p_texts[p_at + 4] not in (']', '}') then
    perform private.query_refuse(
      p_positions[p_at + 4], 'A range is not closed', 'End it with ] (inclusive) or } (exclusive).'
    );
  end if;
  return (
    private.query_check_range(
      p_field,
      nullif(p_texts[p_at + 1], '*'), p_positions[p_at + 1], p_texts[p_at] = '{',
      nullif(p_texts[p_at + 3], '*'), p_positions[p_at + 3], p_texts[p_at + 4] = '}',
      p_now
    ),
    p_at + 5, p_leaves
  )::private.query_step;
end;
$$;

-- field:>=5. The literal follows in the same token or in the next.
create function private.query_parse_comparison(
  p_field jsonb,
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_operator constant text := substring(p_texts[p_at] from '^[<>]=?');
  v_at integer := p_at;
  v_token text := substr(p_texts[p_at], char_length(v_operator) + 1);
  v_position integer := p_positions[p_at] + char_length(v_operator);
begin
  if v_token = '' then
    v_at := p_at + 1;
    v_token := p_texts[v_at];
    v_position := p_positions[v_at];
  end if;
  if not (left(v_token, 1) = '"' or private.query_is_word(v_token)) then
    perform private.query_refuse(
      v_position,
      'A value is missing after ' || v_operator,
      'Write a number, a time or a word after it.'
    );
  end if;
  v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
  return (
    case left(v_operator, 1)
      when '>' then private.query_check_range(
        p_field, v_token, v_position, v_operator = '>', null, v_position, false, p_now
      )
      else private.query_check_range(
        p_field, null, v_position, false, v_token, v_position, v_operator = '<', p_now
      )
    end,
    v_at, p_leaves
  )::private.query_step;
end;
$$;

-- What follows the colon of a field, from the token p_at on.
create function private.query_parse_value(
  p_field jsonb,
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_first constant text := left(p_texts[p_at], 1);
  v_leaves integer;
begin
  if v_first = '(' then
    return private.query_parse_any_of(
      p_field, p_texts, p_positions, p_at, p_depth, p_leaves, p_now
    );
  end if;
  v_leaves := private.query_count_leaf(p_leaves, p_positions[p_at]);
  if v_first in ('[', '{') then
    return private.query_parse_range(p_field, p_texts, p_positions, p_at, v_leaves, p_now);
  elsif v_first in ('<', '>') then
    return private.query_parse_comparison(p_field, p_texts, p_positions, p_at, v_leaves, p_now);
  elsif v_first = '~' then
    if p_texts[p_at] <> '~' or left(p_texts[p_at + 1], 1) <> '"' then
      perform private.query_refuse(
        p_positions[p_at],
        'A regular expression is quoted',
        'Write ~"regex", or \~ for the character itself.'
      );
    end if;
    return (
      private.query_check_regex(p_field, p_texts[p_at + 1], p_positions[p_at + 1]),
      private.query_require_gap(p_texts, p_positions, p_at + 2), v_leaves
    )::private.query_step;
  end if;
  return (
    private.query_check_term(p_field, p_texts[p_at], p_positions[p_at], p_now),
    private.query_require_gap(p_texts, p_positions, p_at + 1), v_leaves
  )::private.query_step;
end;
$$;

-- A free term: a word or a quoted text.
create function private.query_parse_free(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_leaves constant integer := private.query_count_leaf(p_leaves, p_positions[p_at]);
begin
  return (
    private.query_check_term(
      '{"field": "msg", "name": "msg"}', p_texts[p_at], p_positions[p_at], p_now
    ),
    private.query_require_gap(p_texts, p_positions, p_at + 1), v_leaves
  )::private.query_step;
end;
$$;

-- field:value, or a free term, that begins with a word. The name ends at its first colon; quoted
-- segments of an attribute's path make it several tokens.
create function private.query_parse_word(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_at integer := p_at;
  v_name text := '';
  v_head text;
  v_field jsonb;
begin
  loop
    v_head := p_texts[v_at];
    if strpos(v_head, ':') > 0 and left(v_head, 1) <> '"' then
      v_head := coalesce(substring(v_head from '^(?:[^:\\]|\\.)+'), '');
    end if;
    v_name := v_name || v_head;
    exit when v_head <> p_texts[v_at];
    if v_at = p_at and (left(v_head, 6) <> 'attrs.' or right(v_head, 1) <> '.'
      or left(p_texts[v_at + 1], 1) <> '"'
      or not private.query_is_adjacent(p_texts, p_positions, v_at + 1))
    then
      -- No colon: a free term.
      if left(v_head, 1) in ('<', '>', '~') then
        perform private.query_refuse(
          p_positions[p_at],
          format('%s stands at the start of a value only', left(v_head, 1)),
          'Write field:>5, or quote the text.'
        );
      end if;
      return private.query_parse_free(p_texts, p_positions, p_at, p_leaves, p_now);
    end if;
    v_at := v_at + 1;
    if not private.query_is_adjacent(p_texts, p_positions, v_at)
      or not (left(p_texts[v_at], 1) = '"' or private.query_is_word(p_texts[v_at]))
    then
      perform private.query_refuse(
        p_positions[v_at],
        'A colon is missing after an attribute',
        'Write attrs."name":value without white space.'
      );
    end if;
  end loop;

  if v_name = '' then
    perform private.query_refuse(
      p_positions[p_at],
      'A field is missing before the colon',
      'Write field:value without white space around the colon, or quote the text.'
    );
  elsif left(v_name, 1) in ('<', '>', '~') then
    perform private.query_refuse(
      p_positions[p_at],
      format('%s stands at the start of a value only', left(v_name, 1)),
      'Write field:>5, or quote the text.'
    );
  end if;
  v_field := private.query_field(v_name, p_positions[p_at]);

  -- The value is the rest of this token, or the next one where nothing is left.
  p_positions[v_at] := p_positions[v_at] + char_length(v_head) + 1;
  p_texts[v_at] := substr(p_texts[v_at], char_length(v_head) + 2);
  if p_texts[v_at] = '' then
    if p_texts[v_at + 1] in ('', ')', ']', '}', '|')
      or p_positions[v_at + 1] <> p_positions[v_at]
    then
      perform private.query_refuse(
        p_positions[v_at],
        'A value is missing after ' || private.query_excerpt(v_name || ':'),
        'Write field:value without white space around the colon; field:"" finds the empty text.'
      );
    end if;
    v_at := v_at + 1;
  end if;
  return private.query_parse_value(
    v_field, p_texts, p_positions, v_at, p_depth, p_leaves, p_now
  );
end;
$$;

-- Each rule calls the next and the last calls the first, so or comes last in this file: its body
-- is looked up when it runs.
create function private.query_parse_primary(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_texts[p_at];
  v_step private.query_step;
begin
  if v_token = '(' then
    v_step := private.query_parse_or(
      p_texts, p_positions, p_at + 1, private.query_count_depth(p_depth, p_positions[p_at]),
      p_leaves, p_now
    );
    if p_texts[v_step.next] <> ')' then
      perform private.query_refuse(
        p_positions[v_step.next],
        'A closing bracket is missing',
        format('Close the bracket that position %s opens.', p_positions[p_at])
      );
    end if;
    v_step.next := v_step.next + 1;
    return v_step;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform private.query_refuse(
      p_positions[p_at],
      'A term is missing'
        || case when v_token = '' then ' at the end' else ' before ' || v_token end,
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        || 'for it.'
    );
  elsif v_token in ('[', ']', '{', '}') then
    perform private.query_refuse(
      p_positions[p_at],
      v_token || ' stands in a range of a field only',
      'Write field:[a TO b], or quote the text.'
    );
  elsif v_token = '""' then
    perform private.query_refuse(
      p_positions[p_at],
      'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.'
    );
  elsif left(v_token, 1) = '"' then
    return private.query_parse_free(p_texts, p_positions, p_at, p_leaves, p_now);
  end if;
  return private.query_parse_word(p_texts, p_positions, p_at, p_depth, p_leaves, p_now);
end;
$$;

create function private.query_parse_not(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_texts[p_at];
  v_at integer := p_at;
  v_step private.query_step;
begin
  if v_token = 'NOT' then
    v_at := private.query_require_gap(p_texts, p_positions, p_at + 1);
  elsif v_token = '-' then
    v_at := p_at + 1;
    if not private.query_is_adjacent(p_texts, p_positions, v_at)
      or not (p_texts[v_at] = '(' or left(p_texts[v_at], 1) = '"')
    then
      perform private.query_refuse(
        p_positions[p_at],
        '- negates a term that follows at once',
        'Write -term, or "-" for the character itself.'
      );
    end if;
  elsif left(v_token, 1) = '-' then
    p_texts[p_at] := substr(v_token, 2);
    p_positions[p_at] := p_positions[p_at] + 1;
  else
    return private.query_parse_primary(p_texts, p_positions, p_at, p_depth, p_leaves, p_now);
  end if;

  v_step := private.query_parse_not(
    p_texts, p_positions, v_at,
    private.query_count_depth(p_depth, p_positions[p_at] - (v_at = p_at)::integer),
    p_leaves, p_now
  );
  v_step.node := jsonb_build_object('type', 'not', 'item', v_step.node);
  return v_step;
end;
$$;

create function private.query_parse_and(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_step private.query_step;
  v_items jsonb[] := '{}'::jsonb[];
  v_at integer := p_at;
  v_leaves integer := p_leaves;
begin
  loop
    v_step := private.query_parse_not(p_texts, p_positions, v_at, p_depth, v_leaves, p_now);
    v_items := v_items || v_step.node;
    v_at := v_step.next;
    v_leaves := v_step.leaves;
    exit when p_texts[v_at] in ('OR', ')', '|', '');
    if p_texts[v_at] = 'AND' then
      v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
    end if;
  end loop;
  if cardinality(v_items) > 1 then
    v_step.node := jsonb_build_object('type', 'and', 'items', to_jsonb(v_items));
  end if;
  return v_step;
end;
$$;

create function private.query_parse_or(
  p_texts text[],
  p_positions integer[],
  p_at integer,
  p_depth integer,
  p_leaves integer,
  p_now timestamptz
)
returns private.query_step
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_step private.query_step;
  v_items jsonb[] := '{}'::jsonb[];
  v_at integer := p_at;
  v_leaves integer := p_leaves;
begin
  loop
    v_step := private.query_parse_and(p_texts, p_positions, v_at, p_depth, v_leaves, p_now);
    v_items := v_items || v_step.node;
    v_at := v_step.next;
    v_leaves := v_step.leaves;
    exit when p_texts[v_at] <> 'OR';
    v_at := private.query_require_gap(p_texts, p_positions, v_at + 1);
  end loop;
  if cardinality(v_items) > 1 then
    v_step.node := jsonb_build_object('type', 'or', 'items', to_jsonb(v_items));
  end if;
  return v_step;
end;
$$;

-- The text after the bar: {"kind": …, "field": …, "by": […]}.
create function private.query_parse_aggregate(p_source text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_texts text[];
  v_positions integer[];
  v_at integer := 4;
  v_kind text;
  v_field jsonb;
  v_by jsonb[] := '{}'::jsonb[];
  v_hint constant text := 'Write count(), rate(), count_distinct(field), or sum, avg, min, max, '
    || 'p50, p90, p95 or p99 of an attribute, then nothing or: by field, field';
begin
  select
    array_agg(t.text order by t.n) filter (where not t.is_space) || ''::text,
    array_agg(t.position order by t.n) filter (where not t.is_space)
      || (p_position + char_length(p_source))
  into v_texts, v_positions
  from (
    select
      m.match[1] as text,
      m.n,
      left(m.match[1], 1) in (' ', e'\t', e'\r', e'\n', e'\u00a0') as is_space,
      (p_position + sum(char_length(m.match[1])) over (order by m.n rows unbounded preceding)
        - char_length(m.match[1]))::integer as position
    from regexp_matches(
      p_source, '[ \t\r\n\u00a0]+|(?:[^ \t\r\n\u00a0(),|"]|"(?:[^"\\]|\\.)*")+|.', 'g'
    ) with ordinality as m (match, n)
  ) t;

  v_kind := v_texts[1];
  if v_kind not in (
    'count', 'rate', 'count_distinct', 'sum', 'avg', 'min', 'max', 'p50', 'p90', 'p95', 'p99'
  )
  then
    perform private.query_refuse(
      v_positions[1],
      case when v_kind = '' then 'An aggregate is missing after |'
        else 'Unknown aggregate ' || private.query_excerpt(v_kind) end,
      v_hint
    );
  elsif v_texts[2] <> '(' then
    perform private.query_refuse(v_positions[2], 'A bracket is missing after ' || v_kind, v_hint);
  elsif v_kind in ('count', 'rate') then
    v_at := 3;
  elsif v_texts[3] in ('', '(', ')', ',', '|') then
    perform private.query_refuse(v_positions[3], v_kind || ' needs a field', v_hint);
  else
    v_field := private.query_field(v_texts[3], v_positions[3]);
    if v_kind <> 'count_distinct' and v_field ->> 'field' <> 'attrs' then
      perform private.query_refuse(
        v_positions[3],
        v_kind || ' takes an attribute',
        'Write an attribute that holds numbers, such as attrs.duration_ms.'
      );
    end if;
  end if;
  if v_texts[v_at] <> ')' then
    perform private.query_refuse(
      v_positions[v_at],
      case when v_at = 3 then v_kind || ' takes no field' else 'A closing bracket is missing' end,
      v_hint
    );
  end if;

  v_at := v_at + 1;
  if v_texts[v_at] = 'by' then
    loop
      v_at := v_at + 1;
      if v_texts[v_at] in ('', '(', ')', ',', '|') then
        perform private.query_refuse(v_positions[v_at], 'A field is missing after by', v_hint);
      end if;
      v_by := v_by || private.query_field(v_texts[v_at], v_positions[v_at]);
      v_at := v_at + 1;
      exit when v_texts[v_at] <> ',';
    end loop;
  end if;
  if v_texts[v_at] <> '' then
    perform private.query_refuse(
      v_positions[v_at],
      'Nothing may follow the aggregate here: ' || private.query_excerpt(v_texts[v_at]),
      v_hint
    );
  end if;
  return jsonb_build_object('kind', v_kind, 'field', v_field, 'by', to_jsonb(v_by));
end;
$$;

-- The generator

-- A column, or the JSON value of an attribute. Steps are -> with a text: #> would take a digit as
-- an index into an array. JSON null is no value, so the joined key is tried there too.
create function private.query_value_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias);
  for v_at in 0 .. jsonb_array_length(p_field -> 'path') - 1 loop
    v_sql := v_sql || ' -> ' || quote_literal(p_field -> 'path' ->> v_at);
  end loop;
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$$;

-- The bounds that a range has, or null.
create function private.query_bounds_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return nullif(concat_ws(
    ' and ',
    p_value || case when (p_leaf -> 'lower_open')::boolean then ' > ' else ' >= ' end
      || quote_literal(p_leaf ->> 'lower'),
    p_value || case when (p_leaf -> 'upper_open')::boolean then ' < ' else ' <= ' end
      || quote_literal(p_leaf ->> 'upper')
  ), '');
end;
$$;

-- The text in the letter case that folded comparisons use: one character to one character.
create function private.query_fold_sql(p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'lower(' || p_value || ' collate pg_c_utf8)';
end;
$$;

-- A test of the text of a JSON scalar, or of any scalar in an array. What p_test says follows the
-- text. It is appended, never substituted into, because it holds quoted texts of the caller.
create function private.query_any_text_sql(p_value text, p_test text, p_fold boolean default false)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_scalar text := '(' || p_value || ' #>> ''{}'')';
  v_element text := '(e.v #>> ''{}'')';
begin
  if p_fold then
    v_scalar := private.query_fold_sql(v_scalar);
    v_element := private.query_fold_sql(v_element);
  end if;
  return 'case jsonb_typeof(' || p_value || ')'
    || ' when ''object'' then false when ''null'' then false'
    || ' when ''array'' then exists (select from jsonb_array_elements(' || p_value || ') as e (v)'
    || ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '
    || v_element || p_test || ') else ' || v_scalar || p_test || ' end';
end;
$$;

-- Equality with an attribute. Containment finds a scalar, and a scalar that an array holds. A
-- number or boolean has a text too; 5 contains 5.0, so a number's text is compared again.
create function private.query_attr_equal_sql(p_value text, p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := p_value || ' @> ' || quote_literal(to_jsonb(p_text)::text);
begin
  if p_text in ('true', 'false') then
    v_sql := v_sql || ' or ' || p_value || ' @> ' || quote_literal(p_text);
  elsif p_text ~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$' then
    v_sql := v_sql || ' or (' || p_value || ' @> ' || quote_literal(p_text) || ' and '
      || private.query_any_text_sql(p_value, ' = ' || quote_literal(p_text)) || ')';
  end if;
  return v_sql;
end;
$$;

create function private.query_attrs_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := '';
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || ' <> ''null''';
    when 'equal' then
      for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ' or ' else '' end
          || private.query_attr_equal_sql(p_value, p_leaf -> 'values' ->> v_at);
      end loop;
      return v_sql;
    when 'like' then
      return private.query_any_text_sql(p_value, ' like ' || quote_literal(p_leaf ->> 'pattern'));
    when 'regex' then
      return private.query_any_text_sql(
        p_value,
        ' collate "C" ~ ' || quote_literal(p_leaf ->> 'pattern'),
        (p_leaf -> 'fold')::boolean
      );
    when 'range' then
      -- jsonb orders types before values, so the type comes first.
      return concat_ws(
        ' and ',
        'jsonb_typeof(' || p_value || ') = ''number''',
        private.query_bounds_sql(p_leaf, p_value)
      );
  end case;
end;
$$;

create function private.query_column_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := '';
  v_keys text := '';
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || ' is not null';
    when 'equal' then
      for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ', ' else '' end
          || quote_literal(p_leaf -> 'values' ->> v_at);
        v_keys := v_keys || case when v_at > 0 then ', ' else '' end
          || quote_literal(left(p_leaf -> 'values' ->> v_at, 200));
      end loop;
      v_sql := p_value || case
        when jsonb_array_length(p_leaf -> 'values') = 1 then ' = ' || v_sql
        else ' in (' || v_sql || ')'
      end;
      -- The index of req_id holds its beginning: a whole one may be too long for an index.
      if p_leaf ->> 'field' = 'req_id' then
        return '(left(' || p_value || ', 200) in (' || v_keys || ') and ' || v_sql || ')';
      end if;
      return v_sql;
    when 'contains' then
      return private.query_fold_sql(p_value) || ' like ' || quote_literal(p_leaf ->> 'pattern');
    when 'like' then
      return p_value || ' like ' || quote_literal(p_leaf ->> 'pattern');
    when 'regex' then
      return case when (p_leaf -> 'fold')::boolean then private.query_fold_sql(p_value)
          else p_value end
        || ' collate "C" ~ ' || quote_literal(p_leaf ->> 'pattern');
    when 'within' then
      return coalesce(
        nullif(concat_ws(
          ' and ',
          p_value || ' >= ' || quote_literal(p_leaf ->> 'from') || '::timestamptz',
          p_value || ' < ' || quote_literal(p_leaf ->> 'to') || '::timestamptz'
        ), ''),
        p_value || ' is not null'
      );
    when 'range' then
      return coalesce(
        private.query_bounds_sql(p_leaf, p_value || ' collate "C"'), p_value || ' is not null'
      );
  end case;
end;
$$;

-- A tree as a boolean expression over an alias. It may be null where a field is absent; a NOT
-- turns that into true, so that it matches records that lack the field.
create function private.query_sql(p_node jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_sql text := '';
begin
  case v_type
    when 'all' then
      return 'true';
    when 'none' then
      return 'false';
    when 'not' then
      return '(' || private.query_sql(p_node -> 'item', p_alias) || ' is not true)';
    when 'and', 'or' then
      for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ' ' || v_type || ' ' else '' end
          || private.query_sql(p_node -> 'items' -> v_at, p_alias);
      end loop;
      return '(' || v_sql || ')';
    when 'leaf' then
      v_sql := private.query_value_sql(p_node, p_alias);
      return '(' || case p_node ->> 'field'
        when 'attrs' then private.query_attrs_sql(p_node, v_sql)
        else private.query_column_sql(p_node, v_sql)
      end || ')';
  end case;
end;
$$;

-- Numbers stay decimal until the end, so that a sum does not depend on the order of its rows;
-- held within the range of a double, so that no cast or sum can fail.
create function private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  end if;
  return null;
end;
$$;

create function private.finite_double(p_value numeric)
returns double precision
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  return case
    when p_value > 1.7976931348623157e308 then 1.7976931348623157e308
    when p_value < -1.7976931348623157e308 then -1.7976931348623157e308
    when abs(p_value) < 4.95e-324 then 0
    else p_value::double precision
  end;
end;
$$;

-- Interpolation between the two ends of the doubles leaves their range.
create function private.finite_double(p_value double precision)
returns double precision
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  return case p_value
    when 'Infinity' then 1.7976931348623157e308
    when '-Infinity' then -1.7976931348623157e308
    else p_value
  end;
end;
$$;

-- The expression that a field is grouped or counted by: a column, or the text of an attribute.
create function private.query_group_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '(' || private.query_value_sql(p_field, p_alias)
    || case p_field ->> 'field' when 'attrs' then ' #>> ''{}''' else '' end || ')';
end;
$$;

create function private.query_aggregate_sql(p_aggregate jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)::double precision';
  elsif v_kind = 'count_distinct' then
    return 'count(distinct ' || private.query_group_sql(p_aggregate -> 'field', p_alias)
      || ')::double precision';
  end if;
  v_number := 'private.json_number('
    || private.query_value_sql(p_aggregate -> 'field', p_alias) || ')';
  return case v_kind
    when 'sum' then 'private.finite_double(coalesce(sum(' || v_number || '), 0))'
    when 'avg' then 'private.finite_double(avg(' || v_number || '))'
    when 'min' then 'private.finite_double(min(' || v_number || '))'
    when 'max' then 'private.finite_double(max(' || v_number || '))'
    when 'p50' then private.query_percentile_sql('0.5', v_number)
    when 'p90' then private.query_percentile_sql('0.9', v_number)
    when 'p95' then private.query_percentile_sql('0.95', v_number)
    when 'p99' then private.query_percentile_sql('0.99', v_number)
  end;
end;
$$;

create function private.query_percentile_sql(p_fraction text, p_number text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'private.finite_double(percentile_cont(' || p_fraction
    || ') within group (order by private.finite_double(' || p_number || ')))';
end;
$$;

-- The span of ts outside which nothing can match, from the terms that every match must satisfy.
create function private.query_ts_span(p_node jsonb)
returns tstzrange
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_span tstzrange := tstzrange(null, null);
begin
  if p_node ->> 'type' = 'and' then
    for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
      v_span := v_span * private.query_ts_span(p_node -> 'items' -> v_at);
    end loop;
  elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within' then
    v_span := tstzrange((p_node ->> 'from')::timestamptz, (p_node ->> 'to')::timestamptz);
  end if;
  return v_span;
end;
$$;

-- The compiler

-- p_now is the instant that now means in the query.
create function private.compile_query(p_query_dsl text, p_now timestamptz default now())
returns private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_source constant text := coalesce(p_query_dsl, '');
  v_tokens private.query_tokens;
  v_step private.query_step;
  v_aggregate jsonb;
  v_span tstzrange;
  v_query private.compiled_query;
begin
  if octet_length(v_source) > 2048 then
    perform private.query_refuse(
      (
        select min(n)
        from generate_series(1, 2049) n
        where octet_length(left(v_source, n)) > 2048
      ),
      'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.'
    );
  end if;

  v_query.tree := '{"type": "all"}';
  v_tokens := private.query_tokenize(v_source);
  v_query.blank := v_tokens.texts[1] = '';
  v_step.next := 1;
  if v_tokens.texts[1] not in ('', '|') then
    v_step := private.query_parse_or(v_tokens.texts, v_tokens.positions, 1, 0, 0, p_now);
    v_query.tree := v_step.node;
    if strpos(v_source, '~') > 0 then
      perform private.query_check_regexes(v_query.tree);
    end if;
  end if;
  if v_tokens.texts[v_step.next] = ')' then
    perform private.query_refuse(
      v_tokens.positions[v_step.next],
      'A closing bracket closes nothing',
      'Take it away, or quote it to search for it.'
    );
  elsif v_tokens.texts[v_step.next] = '|' then
    v_aggregate := private.query_parse_aggregate(
      substr(v_source, v_tokens.positions[v_step.next] + 1),
      v_tokens.positions[v_step.next] + 1
    );
  end if;

  v_query.filter := private.query_sql(v_query.tree, 'l');
  v_query.fields := array(
    select distinct f #>> '{}'
    from jsonb_path_query(v_query.tree, 'strict $.**.field') f
    order by 1
  );
  v_query.equality_only := not jsonb_path_exists(
    v_query.tree, 'strict $.** ? (@.test != "equal" && @.test != "exists")'
  );
  v_span := private.query_ts_span(v_query.tree);
  v_query.ts_from := lower(v_span);
  v_query.ts_to := upper(v_span);
  v_query.by_fields := '{}';
  v_query.by_sql := '{}';
  if v_aggregate is not null then
    v_query.aggregate := v_aggregate ->> 'kind';
    v_query.aggregate_field := v_aggregate -> 'field' ->> 'name';
    v_query.aggregate_sql := private.query_aggregate_sql(v_aggregate, 'l');
    for v_at in 0 .. jsonb_array_length(v_aggregate -> 'by') - 1 loop
      v_query.by_fields := v_query.by_fields || (v_aggregate -> 'by' -> v_at ->> 'name');
      v_query.by_sql := v_query.by_sql || private.query_group_sql(v_aggregate -> 'by' -> v_at, 'l');
    end loop;
  end if;
  return v_query;
end;
$$;
comment on function private.compile_query(text, timestamptz) is
  'Compiles a query, null as the blank one, or raises PT400 with the rule as message, '
  '{"position": n} (1-based, code points) as detail and what was expected as hint. To be granted '
  'to nobody: its callers are definer functions.';

create function private.validate_query(p_query_dsl text)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_error text;
  v_detail text;
  v_hint text;
begin
  perform private.compile_query(p_query_dsl);
  return '{"valid": true, "error": null, "position": null, "hint": null}'::jsonb;
exception when sqlstate 'PT400' then
  get stacked diagnostics
    v_error = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return jsonb_build_object(
    'valid', false,
    'error', v_error,
    'position', v_detail::jsonb -> 'position',
    'hint', v_hint
  );
end;
$$;
comment on function private.validate_query(text) is
  'Whether a query compiles: {"valid", "error", "position", "hint"}, the last three null where it '
  'does. To be granted to nobody: its caller is a definer function.';
