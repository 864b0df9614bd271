-- Reads a call such as contains(msg, "x"), exists(a), cidrmatch("10.0.0.0/8", ip), lower(a) = 'x'.
-- Sets meant to null for an unknown function.
create function logloom_private.translated_call(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := logloom_private.translation_word(p_state);
  v_kind constant text := logloom_private.word_class('call', v_word);
  v_end constant integer := logloom_private.translation_close(p_state.texts, p_state."at" + 1);
  v_inner logloom_private.translation :=
    logloom_private.translation_part(p_state, p_state."at" + 2, v_end - 1);
  v_names text[];
  v_values text[];
begin
  p_state.meant := null;
  if v_kind is null then
    return p_state;
  end if;
  select
    array_agg(t order by n)
      filter (where t ~ '^[@.$]?[[:alpha:]_][[:alnum:]_.@-]*$' and lower(t) <> 'in'),
    array_agg(t order by n) filter (where t ~ e'^["''`\x01]|^[0-9]')
  into v_names, v_values
  from unnest(v_inner.texts) with ordinality u (t, n);
  if v_kind = 'inner' then
    p_state."at" := v_end + 1;
    v_inner := logloom_private.translated_terms(v_inner, '{}');
    p_state.meant := case when v_inner.terms ~ ' OR ' then '(' || v_inner.terms || ')'
      else v_inner.terms end;
    return p_state;
  elsif v_kind = 'wrap' then
    p_state."at" := v_end + 1;
    return logloom_private.translated_after_name(p_state, v_names[1]);
  elsif v_values[1] is null and cardinality(v_names) > 1 then
    v_values := v_names[2:];
  elsif v_names is null and cardinality(v_values) > 1 then
    v_names := v_values[1:1];
    v_values := v_values[2:];
  end if;
  if v_kind in ('*', '-*') and coalesce(v_names[1], v_values[1]) is not null then
    p_state.meant := rtrim(v_kind, '*')
      || logloom_private.translated_name(coalesce(v_names[1], v_values[1])) || ':*';
  elsif v_values[1] is null then
    return p_state;
  elsif v_kind = 'net' then
    -- The values are networks, or the first and last address of a network.
    v_values := array(
      select m[1] from unnest(v_values) v
      cross join lateral regexp_match(v, '^["'']?([0-9a-fA-F.:]+(?:/[0-9]{1,3})?)["'']?$') m
    );
    if cardinality(v_values) = 2 and v_values::text !~ '/' then
      p_state.said := p_state.said || v_values;
      v_values := array[inet_merge(v_values[1]::inet, v_values[2]::inet)::text];
    end if;
    p_state.meant := logloom_private.translated_name(v_names[1]) || ':'
      || regexp_replace('(' || array_to_string(v_values, ' OR ') || ')', '^\(([^ ]*)\)$', '\1');
  elsif v_kind = 'in' then
    p_state.meant := logloom_private.translated_name(v_names[1]) || ':(' || (
      select string_agg(
        logloom_private.translated_value(logloom_private.translated_text(v), false), ' OR '
      )
      from unnest(v_values) v
    ) || ')';
  else
    p_state.meant :=
      logloom_private.translated_comparison(coalesce(v_names[1], 'msg'), v_kind, v_values[1]);
  end if;
  p_state."at" := case when p_state.meant is null then p_state."at" else v_end + 1 end;
  if p_state.texts[p_state."at"] in ('>', '>=', '=', '==', '!=')
    and p_state.texts[p_state."at" + 1] ~ '^(?:-?[01]|true)$'
  then
    -- position('x' in msg) > 0
    p_state."at" := p_state."at" + 2;
  end if;
  return p_state;
end;
$$;

-- Reads a term that begins with a word or a quoted text.
create function logloom_private.translated_term(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := logloom_private.translation_word(p_state);
  v_next constant text := logloom_private.translation_word(p_state, 1);
  v_is_text constant boolean := v_word ~ e'^["''`\x01]';
  v_minus constant text := case when v_word ~ '^-.' then '-' else '' end;
  v_time constant text := logloom_private.query_meant_time(p_state.texts, p_state."at");
  v_state logloom_private.translation := p_state;
  v_name text := regexp_replace(p_state.texts[p_state."at"], '^[-+](?=.)', '');
  v_terms text[];
  v_end integer;
  v_text text;
  v_after logloom_private.translation;
begin
  if v_time is not null and not v_is_text then
    p_state.meant := v_time;
    p_state."at" := p_state."at" + (
      select min(n) from generate_series(2, 3) n
      where logloom_private.query_meant_time(p_state.texts[:p_state."at" + n - 1], p_state."at")
        is not null
    );
    return p_state;
  elsif v_word in ('since', 'from', 'after') and v_next in ('yesterday', 'today') then
    p_state."at" := p_state."at" + 2;
    p_state.meant := 'ts:>=' || logloom_private.translated_time(v_next);
    return p_state;
  elsif v_next = '(' and v_word ~ '^[a-z_][a-z0-9_]*$' and p_state.glued[p_state."at" + 1] then
    v_state := logloom_private.translated_call(p_state);
    if v_state.meant is not null then
      return v_state;
    end if;
    -- An unknown function is not translated, nor is the value that it is compared with. A text such
    -- as connect(2) is no function.
    v_end := logloom_private.translation_close(p_state.texts, p_state."at" + 1);
    v_text := logloom_private.translation_text(p_state, p_state."at", v_end, 200);
    v_state := p_state;
    v_state."at" := v_end + 1;
    v_after := logloom_private.translated_after_name(v_state, 'x');
    if v_after.meant is not null or v_text ~ '[,"''=<>]' then
      v_state."at" := greatest(v_state."at", v_after."at");
      v_state.meant := '';
    else
      v_state.meant := logloom_private.quoted_value(v_text);
    end if;
    return v_state;
  end if;
  if v_next = ':' and v_name ~ '^[A-Z]\w*$' and not p_state.glued[p_state."at" + 2]
    and logloom_private.translated_name(v_name) like '@%'
  then
    -- A text such as Error: disk full
    p_state."at" := p_state."at" + 2;
    p_state.meant := '"' || v_name || ':"';
    return p_state;
  elsif v_next not in ('', '|', ')') and left(v_word, 1) <> e'\x01' and (
    logloom_private.translated_text(v_name) ~ '^[@.$]{0,2}[[:alpha:]_*"][[:alnum:]_.@/-]*$'
      or v_name ~ '^(?:@|attrs\.).*"'
  ) and (not v_is_text or v_next in ('=', '==', ':', '>', '>=', '<', '<=', '<>', 'like', 'in'))
    and (v_next <> ':' or p_state.glued[p_state."at" + 1]
      or logloom_private.translation_word(p_state, 2) <> '')
  then
    v_state := p_state;
    v_state."at" := p_state."at" + 1;
    v_state := logloom_private.translated_after_name(v_state, v_name);
    if v_state.meant is not null then
      v_state.meant := case when v_minus = '-' and left(v_state.meant, 1) = '-'
        then substr(v_state.meant, 2) else v_minus || v_state.meant end;
      return v_state;
    end if;
  end if;
  -- Words of the message, perhaps several: refused|timeout
  loop
    if left(p_state.texts[p_state."at"], 1) = e'\x01' then
      v_terms := v_terms
        || logloom_private.translated_comparison('msg', '=~', p_state.texts[p_state."at"]);
      p_state."at" := p_state."at" + 1;
    else
      p_state := logloom_private.translated_read(p_state);
      v_name := case when p_state.meant ~ '^["''`]'
        then logloom_private.translated_text(p_state.meant)
        else regexp_replace(p_state.meant, '\\([^[:alnum:]*?]|AND$|OR$|NOT$)', '\1', 'g') end;
      if v_minus = '-' or p_state.meant like '+_%' then
        v_name := substr(v_name, 2);
      end if;
      v_terms := v_terms || case
        when p_state.meant in ('"', '''', '`', '\', '~', '&', '^', '+', '-') then ''
        when p_state.meant = '*' then '*'
        when p_state.meant ~ '^(?!["''`]).*(?:\\[dDwWsSb]|\.\*|\[[^"]*\])'
          then 'msg:~"' || replace(v_name, '"', '\"') || '"'
        when p_state.meant ~ '^["''`]' then logloom_private.quoted_value(p_state.meant)
        when v_name like '%:%' then logloom_private.quoted_value(v_name)
        else logloom_private.translated_value(regexp_replace(v_name, '^%(.+)%$', '\1'), true) end;
    end if;
    exit when p_state.texts[p_state."at"] <> '|' or not p_state.glued[p_state."at"]
      or not p_state.glued[p_state."at" + 1]
      or logloom_private.translation_word(p_state, 2) not in ('', '|', ')')
        and p_state.glued[p_state."at" + 2]
      or logloom_private.translation_word(p_state, 1) in ('json', 'logfmt', 'patterns', 'count')
      or logloom_private.translation_word(p_state, 1) !~ '^[[:alnum:]"'']';
    p_state."at" := p_state."at" + 1;
  end loop;
  p_state.meant := v_minus || case when cardinality(v_terms) > 1
    then '(' || array_to_string(v_terms, ' OR ') || ')' else v_terms[1] end;
  return p_state;
end;
$$;

-- Reads terms up to a bar, the end, a closing bracket, or one of p_stops.
create function logloom_private.translated_terms(
  p_state logloom_private.translation,
  p_stops text[]
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := '{}';
  v_terms text[];
  v_word text;
  v_next text;
  v_inner logloom_private.translation;
  v_end integer;
begin
  if logloom_private.translation_word(p_state) in ('where', 'filter', 'search', 'find') then
    p_state."at" := p_state."at" + 1;
  end if;
  loop
    v_word := logloom_private.translation_word(p_state);
    v_next := logloom_private.translation_word(p_state, 1);
    exit when v_word in ('', '|') or v_word = any (p_stops) and (
      v_word not in ('group', 'order', 'sort', 'limit', 'stats', 'summarize', 'timechart')
      or v_word || ' ' || v_next || ' ' || logloom_private.translation_word(p_state, 2)
        ~ ('^(?:group|order|sort) by|^limit [0-9]+ (?:\|?$|offset|since|until|facet|timeseries)'
          || '|^(?:stats|summarize|timechart) (?:by|span)')
      or v_word ~ '^(?:stat|su|time)' and logloom_private.translated_kind(v_next) is not null
    );
    p_state.meant := null;
    if v_word in ('(', '{', '[') then
      v_end := logloom_private.translation_close(p_state.texts, p_state."at");
      v_inner := logloom_private.translation_part(p_state, p_state."at" + 1, v_end - 1);
      if v_word <> '[' and v_inner.depth < 12 then
        v_inner := logloom_private.translated_terms(v_inner, '{}');
        p_state.meant := case
          when v_word = '(' and v_inner.terms ~ ' ' then '(' || v_inner.terms || ')'
          else v_inner.terms end;
      end if;
      p_state."at" := v_end + 1;
    elsif v_word in ('|=', '|~', '!=', '!~') and v_next ~ e'^["''`\x01]' then
      -- Line filters of LogQL
      v_terms := '{}';
      loop
        v_terms := v_terms || case when v_word like '%~' or v_next ~ e'^\x01'
          then logloom_private.translated_comparison('msg', '=~', p_state.texts[p_state."at" + 1])
          else logloom_private.quoted_value(p_state.texts[p_state."at" + 1]) end;
        p_state."at" := p_state."at" + 2;
        exit when logloom_private.translation_word(p_state) <> 'or'
          or logloom_private.translation_word(p_state, 1) !~ '^["`]';
      end loop;
      p_state.meant := case when v_word like '!%' then '-' else '' end
        || case when cardinality(v_terms) > 1 then '(' || array_to_string(v_terms, ' OR ') || ')'
          else v_terms[1] end;
    elsif v_word ~ '^[<>]=?$' and v_next ~ '^[0-9]' then
      -- a:>1 OR <5: <5 takes the previous field
      p_state.meant := substring(array_to_string(v_parts, ' ') from '(@?\m[\w.]+):[^ ]* OR$')
        || ':' || v_word || v_next;
      p_state."at" := p_state."at" + 2;
    elsif v_word ~ '^(?:or|[|][|=~>]|not|!|and|&&?|[]),;}:=~-]|==)$' then
      p_state.meant := case when v_word in ('or', '||') then 'OR'
        when v_word in ('not', '!') or v_word = '-' and v_next ~ '^[("]' then 'NOT' end;
      p_state."at" := p_state."at" + 1;
    elsif v_word in ('_stream', 'stream', '-_stream') and v_next in (':', '{') then
      p_state.meant := case left(v_word, 1) when '-' then 'NOT' end;
      p_state.said := p_state.said || v_word;
      p_state."at" := p_state."at" + 1 + (v_next = ':')::integer;
    else
      v_end := p_state."at";
      p_state := logloom_private.translated_term(p_state);
      p_state."at" := greatest(p_state."at", v_end + 1);
    end if;
    if p_state.meant <> '' then
      if v_parts[cardinality(v_parts)] = 'NOT' and p_state.meant ~ '^-?[^ ()]+$|^-?[^ ]*"[^"]*"$'
        and p_state.meant not in ('OR', 'NOT')
      then
        v_parts[cardinality(v_parts)] := case when left(p_state.meant, 1) = '-'
          then substr(p_state.meant, 2) else '-' || p_state.meant end;
      elsif p_state.meant ~ '^(?:level|service|env|host):[[:alnum:]_.-]+$'
        and split_part(v_parts[cardinality(v_parts)], ':', 1) = split_part(p_state.meant, ':', 1)
      then
        -- A record has one level: level:error level:warn
        v_parts[cardinality(v_parts)] := regexp_replace(
          v_parts[cardinality(v_parts)], ':\(?([^()]+)\)?$', ':(\1 OR '
        ) || split_part(p_state.meant, ':', 2) || ')';
      elsif p_state.meant <> 'OR' or v_parts[cardinality(v_parts)] not in ('OR', 'NOT')
        and cardinality(v_parts) > 0
      then
        v_parts := v_parts || p_state.meant;
      end if;
    end if;
  end loop;
  while v_parts[cardinality(v_parts)] in ('OR', 'NOT') loop
    v_parts := trim_array(v_parts, 1);
  end loop;
  p_state.terms := array_to_string(v_parts, ' ');
  return p_state;
end;
$$;
