-- Translates a whole query of another language: LogQL, SPL, KQL, Lucene, SQL, APL, LogsQL, NRQL,
-- CloudWatch or Datadog. A query is translated if it is wrong, has warnings, or found nothing. The
-- translation is suggested only if it compiles without a warning, so the rules need not be exact.

-- Splits a query into tokens. A regular expression in slashes becomes a token that begins with
-- U+0001.
create function logloom_private.translation_of(p_query_dsl text)
returns logloom_private.translation
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source text := logloom_private.translation_forms(
    case when p_query_dsl ~ '^\s*(?:(?:GET|POST)\s[^{]*)?\{\s*"\w+"\s*:\s*[{\[0-9"]'
      then logloom_private.body_line(substring(p_query_dsl from '\{.*')::jsonb)
      else p_query_dsl end
  );
  v_state logloom_private.translation;
  -- {app=~"a|b"} matches whole values.
  v_is_logql constant boolean := v_source ~ '\{\s*\w+\s*[=!][=~]?\s*["`]';
begin
  v_source := regexp_replace(
    v_source,
    '((?:\m(?:like|matches|regex|regexp|rlike|filter|parse)\s+(?:regex\s+)?|[=!]~\s*)/'
      || '|:/(?=[^/ ]*[.*+?^$\\([ ])|(?:^|\s)/(?=[^/ ]*[.*+?^$\\([|]))'
      || '((?:[^/\\]|\\.)+)/(i?)(?=[\s|)]|$)',
    e'\\1\x01\\3:\\2\x01', 'g'
  );
  v_source := regexp_replace(v_source, e'/\x01i:', e'\x01(?i)', 'g');
  v_source := regexp_replace(v_source, e'/\x01:', e'\x01', 'g');
  v_source := translate(v_source, '“”„‟«»＂：‘‚’‹', '""""""":""""');
  -- Closes the last quote if it begins a value, and an aggregate. Other open quotes are blanks.
  v_source := regexp_replace(
    v_source,
    '^((?:(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*[\s(:=~-])?"[^"''|\\]*[^"''|\\ ]) *$', '\1"'
  );
  v_source := regexp_replace(v_source, '(\|[^|]*\w\()(\s+by\s[^()"''`]+)$', '\1)\2');
  select
    array_agg(m.match[2] order by m.n) filter (where m.match[2] <> '"'),
    array_agg(m.match[1] = '' and m.n > 1 order by m.n) filter (where m.match[2] <> '"')
  into v_state.texts, v_state.glued
  from regexp_matches(
    v_source,
    '((?:[ \t\r\n\u00a0]|"(?!(?:[^"\\]|\\.)*"))*)('
      || '\x01[^\x01]*\x01|"(?:[^"\\]|\\.)*"|''(?:[^''\\]|\\.|'''')*''|`[^`]*`'
      || '|(?:-?@|-?attrs\.)(?:[[:alnum:]_.-]*"(?:[^"\\]|\\.)*"[[:alnum:]_.-]*)+'
      || '|[=!]=?=|[=!]~|<>|[<>]=?|:=|=|\|[=~>]|&&|\|\||\.\.|~|[][(){}|,;:!]'
      || '|(?:\\.|[^][(){}|,;:!=<>&~"''`\\ \t\r\n\u00a0\x01])'
      || '(?:\\.|[^][(){}|,;:!=<>&~"`\\ \t\r\n\u00a0\x01]|!(?![=~]))*'
      || '|.|$)', 'g'
  ) with ordinality m (match, n);
  for v_at in 1 .. cardinality(v_state.texts) loop
    if v_state.texts[v_at] = '|' and v_state.glued[v_at] and v_state.glued[v_at + 1]
      and v_state.texts[v_at + 1] ~ '^@?\w' and v_state.texts[v_at + 2] = ':'
    then
      v_state.texts[v_at] := '||';
    elsif v_state.texts[v_at] = '!=' and lower(v_state.texts[1]) = 'select' then
      v_state.texts[v_at] := '<>';
    elsif v_state.texts[v_at] ~ '^[=!]~$' and v_state.texts[v_at - 1] ~ '^\w+$' and v_is_logql then
      v_state.texts[v_at] := v_state.texts[v_at] || '^';
    elsif v_state.texts[v_at] ~ '^[A-Za-z]{4,}$' and (
        v_state.texts[v_at - 1] = '|' and v_state.texts[v_at + 1] !~ '^[=!<>:~]'
        or v_state.texts[v_at + 1] = '(' and v_state.glued[v_at + 1]
      )
      and not logloom_private.is_said_by_itself(v_state.texts[v_at])
    then
      v_state.texts[v_at] := coalesce(
        logloom_private.typo_of(
          lower(v_state.texts[v_at] collate "C"),
          '{count,rate,count_distinct,where,filter,fields,limit,sort,stats,extract,patterns}'
        ), v_state.texts[v_at]
      );
    end if;
  end loop;
  v_state.evals := '{}';
  v_state.extracted := '{}';
  return logloom_private.translation_part(v_state, 1, cardinality(v_state.texts) - 1);
end;
$$;

-- Returns the token p_ahead places after the next one, in lower case. Quoted texts keep their case.
create function logloom_private.translation_word(
  p_state logloom_private.translation,
  p_ahead integer default 0
)
returns text
language sql
immutable
return case
  when p_state.texts[p_state."at" + p_ahead] ~ e'^["''`\x01]'
    then p_state.texts[p_state."at" + p_ahead]
  else coalesce(lower(p_state.texts[p_state."at" + p_ahead] collate "C"), '')
end;

create function logloom_private.translation_text(
  p_state logloom_private.translation,
  p_from integer,
  p_to integer,
  p_length integer default 40
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return left(btrim((
    select string_agg(
      case when p_state.glued[n] then '' else ' ' end || p_state.texts[n], '' order by n
    )
    from generate_series(p_from, p_to) n
  )), p_length);
end;
$$;

create function logloom_private.translated_text(p_token text)
returns text
language sql
immutable
return case
  when p_token ~ '^".*"$'
    then regexp_replace(substr(p_token, 2, char_length(p_token) - 2), '\\(["\\])', '\1', 'g')
  when p_token ~ '^''.*''$'
    then regexp_replace(
      replace(substr(p_token, 2, char_length(p_token) - 2), '''''', ''''), '\\([''\\])', '\1', 'g'
    )
  when p_token ~ e'^[`\x01]' then btrim(p_token, e'`\x01')
  else p_token
end;

-- Returns the field or attribute for a name of another language.
create function logloom_private.translated_name(p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text :=
    regexp_replace(logloom_private.translated_text(p_name), '^\$?\.?(?=[[:alpha:]])', '');
begin
  if p_name ~ '^(?:@|attrs\.).*"' then
    return p_name;
  end if;
  v_name := regexp_replace(v_name, '\.(?:keyword|raw|exact)$', '');
  v_name := regexp_replace(v_name, '^(?:labels|jsonPayload|attributes|fields|json)\.(?=.)', '');
  if v_name in ('_msg', '_raw', '@message', 'content', 'line') then
    return 'msg';
  elsif v_name = '@level' then
    return 'level';
  elsif v_name ~* '^@?_?time(?:stamp)?$|^timegenerated$' then
    return 'ts';
  end if;
  return coalesce(
    case when left(v_name, 1) <> '@' then coalesce(
      (
        select f from unnest(logloom_private.query_field_names()) f
        where f = lower(v_name collate "C")
      ),
      (
        select f.name from unnest(logloom_private.record_fields()) f
        where lower(v_name collate "C") = any (f.near)
          or v_name = any (f.aliases) and v_name ~ '[._]|^host' and f.name <> 'route'
      )
    ) end,
    case when v_name ~ '^(?:@|attrs\.)' then v_name end,
    logloom_private.query_near_field(ltrim(v_name, '.')),
    '@' || ltrim(v_name, '.')
  );
end;
$$;

create function logloom_private.quoted_value(p_token text)
returns text
language sql
immutable
return
  '"' || regexp_replace(logloom_private.translated_text(p_token), '(["\\])', '\\\1', 'g') || '"';

-- Returns a value as a term. With p_wild, * and ? stay wildcards.
create function logloom_private.translated_value(p_text text, p_wild boolean)
returns text
language sql
immutable
return case
  when p_text ~ '^[[:alnum:]_./%+#@-][[:alnum:]_./@:%+#-]*$' and p_text !~ '^(?:AND|OR|NOT)$'
    then p_text
  when p_wild and p_text ~ '[*?]'
    then regexp_replace(p_text, '([^[:alnum:]_./@:%+#*?-])', '\\\1', 'g')
  else '"' || regexp_replace(p_text, '(["\\])', '\\\1', 'g') || '"'
end;

-- Returns the width 5m for 5m, '5 minutes' or "5 min"; 1h for hour; or null.
create function logloom_private.translated_width(p_text text)
returns text
language sql
immutable
return case
  when p_text ~* ('^[''"]?(?:[1-9][0-9]{0,4})?\s*[smhdw](?:ecs?|econds?|ins?|inutes?|rs?|ours?'
    || '|ays?|eeks?)?[''"]?$')
    then coalesce(substring(p_text from '[0-9]+'), '1') || lower(substring(p_text from '[A-Za-z]'))
end;

-- Returns the first width of time in a text; 1h for the word hour; 5m if there is none.
create function logloom_private.translated_width_in(p_text text)
returns text
language sql
immutable
return coalesce(
  logloom_private.translated_width(
    substring(lower(p_text collate "C") from '\m[1-9][0-9]{0,4}\s*[smhdw][a-z]*\M')
  ),
  '1' || left(substring(lower(p_text collate "C") from 'second|minute|hour|day|week'), 1), '5m'
);

-- Returns a time as the query language writes it.
create function logloom_private.translated_time(p_text text)
returns text
language sql
stable
return case
  when p_text ~ '^(?:-[0-9]{1,4}[smhdw])?@[smhdw]0?$' then to_char(
    date_trunc(substring(p_text from '@(.)'), now() at time zone 'UTC'
      + coalesce(substring(p_text from '(.+)@'), '0')::interval), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
  )
  when p_text ~ '^-[1-9][0-9]*[smhdw]' then 'now' || substring(p_text from '^-[0-9]+[smhdw]')
  when p_text ~ '^[1-9][0-9]*[smhdw]$' then 'now-' || p_text
  when p_text ~ '^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?$'
    then to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"')
      || lpad(p_text, greatest(5, length(p_text)), '0')
      || case when length(p_text) < 6 then ':00Z' else 'Z' end
  when lower(p_text) = 'today'
    then to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
  when lower(p_text) = 'yesterday'
    then to_char(now() at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD')
  when p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?$'
    then replace(p_text, ' ', 'T') || case when p_text ~ ':[0-9]+:' then 'Z' else ':00Z' end
  else p_text
end;

-- Returns the old name of a field that an earlier stage renamed: a for b, after rename a as b.
create function logloom_private.translated_alias(p_state logloom_private.translation, p_name text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at constant integer := array_position(p_state.evals, p_name);
begin
  return case when v_at % 2 = 1 and p_state.evals[v_at + 1] ~ '^[@.]?[[:alpha:]_][[:alnum:]_.]*$'
    then p_state.evals[v_at + 1] else p_name end;
end;
$$;

-- Returns the field for a name. A name that an earlier stage extracted is an attribute.
create function logloom_private.translated_key(p_state logloom_private.translation, p_name text)
returns text
language sql
immutable
return case when p_name = any (p_state.extracted) then '@' || p_name
  else logloom_private.translated_name(logloom_private.translated_alias(p_state, p_name)) end;

-- Suggests a term for last 1h, past 15 minutes, last day or 2 days ago, or returns null. p_at: the
-- place of the first word.
create function logloom_private.query_meant_time(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := lower(array_to_string(p_texts[p_at:p_at + 2], ' ') collate "C") || ' ';
  v_shift constant text := '[1-9][0-9]{0,4} ?[a-z]+';
begin
  return 'ts:-' || logloom_private.translated_width(coalesce(
    substring(v_text from '^(?:last|past|since) (' || v_shift || '|minute|hour|day|week) '),
    substring(v_text from '^(' || v_shift || ') ago ')
  ));
end;
$$;

-- True for a function that puts times into buckets, such as bin or date_trunc.
create function logloom_private.is_width_function(p_word text)
returns boolean
language sql
immutable
return p_word ~* '(?:^|_)bin$|bucket$|trunc|tumble|slice|^date_?histogram|^time|^tostartof'
  or p_word ~* '^(?:date_|startof)?(?:hour|minute|m?day|week)(?:of)?$';

-- Returns the aggregate for a name of this or another language; "p" for percentiles, "values" for
-- lists of values, or null.
create function logloom_private.translated_kind(p_word text)
returns text
language sql
immutable
return case
  when p_word ~ '^(?:p|perc|pct|pc|percentile|exactperc|upperperc)_?[0-9][0-9.]*$' then 'p'
  else logloom_private.word_class('count', p_word) end;
