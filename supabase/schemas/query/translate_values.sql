-- Translates values and comparisons.

-- Returns the place of the bracket that closes the bracket at p_at; the last place if none does.
create function logloom_private.translation_close(p_texts text[], p_at integer)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth integer := 0;
begin
  for v_n in p_at .. cardinality(p_texts) loop
    v_depth := v_depth + (p_texts[v_n] in ('(', '[', '{'))::integer
      - (p_texts[v_n] in (')', ']', '}'))::integer;
    if v_depth = 0 then
      return v_n;
    end if;
  end loop;
  return cardinality(p_texts);
end;
$$;

-- Returns the part of a state between two places, as a state of its own.
create function logloom_private.translation_part(
  p_state logloom_private.translation,
  p_from integer,
  p_to integer
)
returns logloom_private.translation
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part logloom_private.translation;
begin
  v_part.texts := p_state.texts[p_from:p_to] || ''::text;
  v_part.glued := p_state.glued[p_from:p_to] || true;
  v_part."at" := 1;
  v_part.depth := coalesce(p_state.depth + 1, 0);
  v_part.said := '{}';
  v_part.left_out := '{}';
  v_part.counts := '{}';
  v_part.keys := '{}';
  v_part.columns := '{}';
  v_part.evals := p_state.evals;
  v_part.extracted := p_state.extracted;
  return v_part;
end;
$$;

-- Returns our term for a comparison. p_token: the value as it is written.
create function logloom_private.translated_comparison(
  p_name text,
  p_operator text,
  p_token text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := logloom_private.translated_text(p_token);
  v_quoted constant boolean := left(p_token, 1) in ('"', '''', '`');
  v_minus constant text := case when p_operator ~ '^!|<>|^not ' then '-' else '' end;
  v_operator constant text := regexp_replace(p_operator, '^(?:not |!(?=[a-z]))', '');
  v_class constant text :=
    logloom_private.word_class('call', regexp_replace(v_operator, '_cs$', ''));
  v_word constant text := lower(logloom_private.translated_text(p_name) collate "C");
  v_name text := case
    when v_word in ('earliest', 'latest', 'since', 'last', 'past') then 'ts'
    when v_word = 'sourcetype' then 'service'
    when v_word in ('_all', '*') then 'any'
    when v_word ~ '^@?(?:status|severity|severity_?text)$'
      and v_text ~* '^(?:debug|info|warn|warning|error|critical|err)$' then 'level'
    else logloom_private.translated_name(p_name) end;
begin
  if not v_quoted and left(p_token, 1) <> e'\x01' and v_text !~ '\\[*?]' then
    v_text := regexp_replace(v_text, '\\([^[:alnum:]])', '\1', 'g');
  end if;
  if v_word in ('index', '_index', '__error__') then
    return '';
  elsif v_word ~ '^[a-z]$' and p_token ~ '^\\' then
    -- C:\temp
    return '"' || p_name || ':' || replace(p_token, '\', '\\') || '"';
  elsif v_word in ('_exists_', '_missing_', 'has', 'exists') and v_operator = ':' then
    return case v_word when '_missing_' then '-' else v_minus end
      || logloom_private.translated_name(v_text) || ':*';
  elsif v_word in ('earliest', 'latest') and v_operator in ('=', ':') then
    return 'ts:' || case v_word when 'earliest' then '>=' else '<' end
      || logloom_private.translated_time(v_text);
  elsif v_text ~* '^(?:null|nil|undefined)$' and not v_quoted
    or v_operator in ('=', '==') and v_text = '*'
  then
    return case when (v_text = '*') = (v_minus = '') then '' else '-' end || v_name || ':*';
  end if;
  if v_name in ('ts', 'received_at') then
    v_text := case when v_operator in ('=', ':', '==')
      then coalesce(
        '-' || logloom_private.translated_width(ltrim(v_text, '-')),
        logloom_private.translated_time(v_text)
      )
      else logloom_private.translated_time(v_text) end;
  end if;
  if v_name = 'ts' and v_text !~ '^(?:now|-[0-9]+[smhdw]|[0-9]{4}-|\*$)' then
    return null;
  elsif v_operator ~ '^[=!]?~' or v_class = '~' or left(p_token, 1) = e'\x01' then
    if v_text ~ '^\.[*+]$' then
      return v_minus || v_name || ':*';
    elsif v_operator in ('=~', '!~') and v_quoted and v_name <> 'msg' and v_text ~ '^[\w-]+$' then
      -- Kusto ignores letter case.
      return v_minus || v_name || ':i=' || v_text;
    elsif v_operator ~ '\^' and v_text ~ '^[\w|-]+$' then
      return v_minus || v_name || ':'
        || regexp_replace('(' || replace(v_text, '|', ' OR ') || ')', '^\(([^ ]*)\)$', '\1');
    end if;
    if v_operator ~ '\^' then
      v_text := regexp_replace(
        v_text, '^(\(\?\w+\))?(.*)$',
        case when v_text like '%|%' then '\1^(\2)$' else '\1^\2$' end
      );
    end if;
    return v_minus || v_name || ':~"'
      || replace(regexp_replace(v_text, '^\^?\.\*|\.\*\$?$', '', 'g'), '"', '\"') || '"';
  elsif v_operator in ('>', '>=', '<', '<=') then
    return v_minus || v_name || ':' || v_operator || v_text;
  elsif v_class = 'like' and v_name = 'msg' and v_text ~ '^[^%].*%|%.*[^%]$' then
    return v_minus || 'msg:~"' || case v_operator when 'ilike' then '(?i)' else '' end
      || replace(regexp_replace(replace(
        '^' || regexp_replace(v_text, '([^[:alnum:]_ %/-])', '\\\1', 'g') || '$', '%', '.*'
      ), '^\^\.\*|\.\*[$]$', '', 'g'), '"', '\"') || '"';
  elsif v_class = 'like' then
    v_text := translate(v_text, '%', '*');
  elsif v_class = 'contains' then
    v_text := '*' || v_text || '*';
  elsif v_class = 'startswith' then
    if v_name = 'msg' then
      return v_minus || 'msg:~"^' || regexp_replace(v_text, '([^[:alnum:]_ ])', '\\\1', 'g') || '"';
    end if;
    v_text := v_text || '*';
  elsif v_class = 'endswith' then
    v_text := '*' || v_text;
  elsif not v_quoted and v_text ~ '[[{]' then
    -- web-[1-3], web-{a,b}
    return v_minus || v_name || ':~"^' || replace(
      translate(replace(replace(v_text, '.', '\.'), '*', '.*'), '{},', '()|'), '"', '\"'
    ) || '$"';
  elsif not v_quoted and v_text ~ '^[0-9]+(?:-|\.\.)[0-9]+$' and left(v_name, 1) = '@' then
    return v_minus || v_name || ':[' || regexp_replace(v_text, '-|\.\.', ' TO ') || ']';
  elsif not v_quoted and v_text ~* '^[1-5]xx$' then
    return v_minus || format('%s:[%s00 TO %2$s99]', v_name, left(v_text, 1));
  elsif not v_quoted and v_text ~ '^%.+%$|^\.\*.+' then
    v_text := regexp_replace(translate(v_text, '%', '*'), '\.\*', '*', 'g');
  end if;
  if v_operator = ':' and v_quoted and v_text ~ '^[0-9a-fA-F.:]+/[0-9]+$' then
    -- In quotes, a network is a text.
    return v_minus || v_name || ':"' || v_text || '"';
  elsif v_name = 'msg' then
    v_text := btrim(v_text, '*');
    if v_text = '' then
      return v_minus || 'msg:*';
    end if;
  end if;
  return v_minus || v_name || ':' || logloom_private.translated_value(
    v_text, not v_quoted or v_operator <> ':' and v_text ~ '[*?]'
  );
end;
$$;

-- Reads a value. Sets meant to the token, or to the time or text of a function such as ago(1h).
create function logloom_private.translated_read(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := logloom_private.translation_word(p_state);
  v_end integer := logloom_private.translation_close(p_state.texts, p_state."at" + 1);
  v_shift text;
  v_inner text;
begin
  p_state.meant := p_state.texts[p_state."at"];
  if v_word in ('timestamp', 'date', 'datetime') and p_state.texts[p_state."at" + 1] ~ '^[''"]' then
    p_state."at" := p_state."at" + 1;
    p_state.meant := p_state.texts[p_state."at"];
  elsif p_state.texts[p_state."at" + 1] in ('(', '[') and p_state.glued[p_state."at" + 1]
    and v_word ~ '^[a-z_][a-z0-9_]*$' and (
      p_state.texts[p_state."at" + 1] = '('
      or ',' = any (p_state.texts[p_state."at":v_end])
    )
  then
    -- ago(1h), now(), lower("x"), datetime(2026-11-20). Another function has no meaning.
    v_inner := logloom_private.translation_text(p_state, p_state."at" + 2, v_end - 1);
    p_state.meant := case
      when v_word = 'ago' then 'now-' || logloom_private.translated_width_in(v_inner)
      when v_word in ('now', 'current_timestamp', 'getdate', 'utcnow')
        then 'now' || coalesce(substring(v_inner from '^-[0-9]+[smhdw]$'), '')
      when v_inner !~ '^[^"'']*,' and (logloom_private.word_class('call', v_word) = 'wrap'
        or v_word ~ '^(?:i|to)?_?(?:ip|cidr|date|time|datetime|timestamp|regex)?$')
        then v_inner end;
    p_state."at" := v_end;
  elsif v_word !~ e'^["''`\x01]' then
    while p_state.glued[p_state."at" + 1]
      and (p_state.texts[p_state."at" + 1] !~ '^(?:[|),;(=<>]|[|][|]|)$'
        or p_state.texts[p_state."at" + 1] = ',' and p_state.meant ~ '\{[^}]*$')
      and (p_state.texts[p_state."at" + 1] not in (']', '}')
        or p_state.meant ~ '[[{][^]}]*$')
    loop
      p_state."at" := p_state."at" + 1;
      if p_state.texts[p_state."at"] = '~' and (
        p_state.texts[p_state."at" + 1] ~ '^[0-9.]*$' or not p_state.glued[p_state."at" + 1]
      ) then
        -- A fuzzy term: conection~1
        p_state."at" := p_state."at" + (p_state.texts[p_state."at" + 1] ~ '^[0-9.]+$')::integer;
        p_state.left_out := p_state.left_out || ('~' || ltrim(p_state.texts[p_state."at"], '~'));
        exit;
      end if;
      p_state.meant := p_state.meant || p_state.texts[p_state."at"];
    end loop;
    p_state.said := p_state.said || substring(p_state.meant from '^[[:alpha:]]+(\^[0-9.]+)$');
    p_state.meant := regexp_replace(p_state.meant, '^([[:alpha:]]+)\^[0-9.]+$', '\1');
    -- translated_time computes such a time: earliest=-4h@h
    p_state.said := p_state.said || substring(p_state.meant from '^-[0-9]+[smhdw]@.*');
  end if;
  p_state."at" := p_state."at" + 1;
  if v_word like '"%' and p_state.texts[p_state."at"] = '~' and p_state.glued[p_state."at"] then
    -- "foo bar"~5
    p_state."at" := p_state."at" + 1 + (p_state.texts[p_state."at" + 1] ~ '^[0-9]+$')::integer;
    p_state.left_out := p_state.left_out || ('~' || ltrim(p_state.texts[p_state."at" - 1], '~'));
  elsif lower(p_state.meant) in ('now', 'current_timestamp')
    and p_state.texts[p_state."at"] like '-%'
  then
    -- now() - interval '1 hour', now() - 1h
    v_shift := p_state.texts[p_state."at"];
    loop
      p_state."at" := p_state."at" + 1;
      exit when logloom_private.translation_word(p_state) !~ case when v_shift ~ '[0-9]'
        then '^(?:second|minute|hour|day|week)s?$' else '^(?:interval$|[''"]?[0-9])' end;
      v_shift := v_shift || ' ' || p_state.texts[p_state."at"];
    end loop;
    p_state.meant := 'now-' || logloom_private.translated_width_in(v_shift);
  end if;
  return p_state;
end;
$$;

create function logloom_private.translated_grep(p_args text[])
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_options constant text := (select string_agg(a, '') from unnest(p_args) a where a like '-%');
  v_text constant text := (
    select btrim(logloom_private.translated_text(a), '/')
    from unnest(p_args) with ordinality u (a, n)
    where a not like '-%' and coalesce(p_args[n::integer - 1], '') !~ '^(?:-[ABCm]|=)$'
      and a <> '='
    order by a !~ '^["'']', n limit 1
  );
begin
  return case when v_options ~ '^-[a-zA-Z-]*v' then '-' else '' end || case
    when v_text ~ '[.*+?^$|\\([]' and coalesce(v_options, '') !~ 'F'
      then 'msg:~"' || case when v_options ~ 'i' then '(?i)' else '' end
        || replace(replace(v_text, '\|', '|'), '"', '\"') || '"'
    when v_text ~ ':' then logloom_private.quoted_value('"' || v_text || '"')
    else logloom_private.translated_value(v_text, false) end;
end;
$$;
