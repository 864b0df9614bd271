-- Reads a list of values in brackets. p_name null: words of the message.
create function logloom_private.translated_list(
  p_state logloom_private.translation,
  p_name text,
  p_operator text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end constant integer := logloom_private.translation_close(p_state.texts, p_state."at");
  v_part logloom_private.translation :=
    logloom_private.translation_part(p_state, p_state."at" + 1, v_end - 1);
  v_terms text[] := '{}';
  v_and boolean := p_operator ~ 'has_all';
  v_sign text;
  v_name text;
begin
  -- Leaves out values that have no translation.
  while v_part.texts[v_part."at"] <> '' loop
    if logloom_private.translation_word(v_part) in (',', 'or', '|', '||', ';', 'and', '&&') then
      v_and := v_and or logloom_private.translation_word(v_part) in ('and', '&&');
      v_part."at" := v_part."at" + 1;
    else
      v_sign := substring(logloom_private.translation_word(v_part) from '^[<>]=?$');
      v_part."at" := v_part."at" + (v_sign is not null)::integer;
      v_part := logloom_private.translated_read(v_part);
      v_terms := v_terms || logloom_private.translated_comparison(
        p_name, coalesce(v_sign, regexp_replace(p_operator, 'has_a..', 'has')), v_part.meant
      );
    end if;
  end loop;
  p_state."at" := v_end + 1;
  v_terms := array_remove(v_terms, null);
  v_name := substring(v_terms[1] from '^-?[^:]+:');
  p_state.meant := case
    when cardinality(v_terms) = 0 then ''
    when cardinality(v_terms) = 1 then v_terms[1]
    when v_and and v_name not like '-%' then '(' || array_to_string(v_terms, ' ') || ')'
    when v_terms::text ~ ':[~<>[]' then '(' || array_to_string(v_terms, ' OR ') || ')'
    else v_name || '(' || (
      select string_agg(substr(t, length(v_name) + 1), ' OR ' order by n)
      from unnest(v_terms) with ordinality u (t, n)
    ) || ')' end;
  return p_state;
end;
$$;

-- Reads the operator and value after a name. If none follows, meant is null.
create function logloom_private.translated_after_name(
  p_state logloom_private.translation,
  p_name text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state logloom_private.translation := p_state;
  v_operator text := logloom_private.translation_word(v_state);
  v_not text := '';
  v_next text;
  v_eval integer;
begin
  p_state.meant := null;
  p_name := logloom_private.translated_alias(p_state, p_name);
  if v_operator = '!' and v_state.glued[v_state."at" + 1] or v_operator = 'not' then
    v_not := 'not ';
    v_state."at" := v_state."at" + 1;
    v_operator := logloom_private.translation_word(v_state);
  end if;
  v_next := logloom_private.translation_word(v_state, 1);
  if p_state.evals[array_position(p_state.evals, p_name) + 1] = '' then
    -- A stage that is left out made this name.
    v_state."at" := v_state."at" + 1;
    v_state := logloom_private.translated_read(v_state);
    v_state.meant := '';
    return v_state;
  elsif v_operator = '~' and v_next ~ '^[0-9.]*$' and v_state.glued[v_state."at"] then
    -- A fuzzy term: conection~1
    return p_state;
  elsif v_operator = 'is' then
    v_state."at" := v_state."at" + 2 + (v_next = 'not')::integer;
    v_state.meant := case v_next when 'not' then '' else '-' end
      || logloom_private.translated_name(p_name) || ':*';
    return case when lower(v_state.texts[v_state."at" - 1]) in ('null', 'missing', 'none')
      then v_state else p_state end;
  elsif v_operator = 'between' then
    v_state := logloom_private.translated_between(v_state, p_name, v_not);
    return case when v_state.meant is null then p_state else v_state end;
  elsif v_operator in ('in', 'has_any', 'has_all', 'contains_any') and v_next in ('(', '[', '~')
    or v_operator in ('in', 'has_any') and v_next ~ '^[0-9.]+/[0-9]+$'
  then
    v_state."at" := v_state."at" + 1 + (v_next = '~')::integer;
    v_operator := replace(v_operator, 'contains_any', 'has_any');
    v_operator := v_not || case v_operator when 'in' then '=' else v_operator end;
  elsif (logloom_private.word_class('call', v_operator)
      in ('contains', 'startswith', 'endswith', 'like', '~') or v_operator ~ '_cs$') and (
      v_next ~ e'^["''\x01]' or v_next = 'regex' and v_operator = 'matches'
      or v_operator ~ '^contains|^i?like|^(?:start|end|begin)s' and v_next ~ '^[[:alnum:]%/]'
      and (p_name ~ '^[@.]' or logloom_private.translated_name(p_name) !~ '^@')
    )
  then
    v_state."at" := v_state."at" + 1 + (v_next = 'regex')::integer;
    v_operator := v_not || v_operator;
  elsif v_operator in ('eq', 'ne', 'gt', 'ge', 'lt', 'le') and v_next ~ '^[0-9"'']' then
    v_operator := ('{"eq": "=", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}'::jsonb)
      ->> v_operator;
    v_state."at" := v_state."at" + 1;
  elsif v_operator ~ '^(?:={1,3}|:=|:|!={1,2}|<>|[=!]~\^?|~|>=?|<=?)$' then
    if v_operator = ':=' then
      v_state.texts[v_state."at"] := '=';
    else
      v_state."at" := v_state."at" + 1;
    end if;
    if v_operator in (':', ':=') then
      return logloom_private.translated_after_colon(v_state, p_name);
    end if;
  else
    return p_state;
  end if;
  if logloom_private.translation_word(v_state) in ('(', '[') then
    return logloom_private.translated_list(v_state, p_name, v_operator);
  elsif logloom_private.translation_word(v_state) in ('', '|', ')', ',') then
    return p_state;
  end if;
  v_state := logloom_private.translated_read(v_state);
  if v_state.meant ~ '^[0-9.]+$' and v_state.texts[v_state."at"] ~ '^[-+*/]$' then
    -- A formula is no value: > 100 * 1024.
    v_state."at" := v_state."at" + 2;
    v_state.meant := '';
    return v_state;
  end if;
  v_eval := array_position(p_state.evals, p_name);
  if v_eval % 2 = 1 and v_state.meant ~ '^[0-9.]+$' then
    -- eval mb = bytes / 1024 | where mb > 5
    v_state.said := v_state.said || p_state.evals[v_eval:v_eval + 1] || v_state.meant;
    v_state.meant := trim_scale(round(v_state.meant::numeric * (
      select exp(sum(case m[1] when '/' then 1 else -1 end * ln(m[2]::numeric)))
      from regexp_matches(p_state.evals[v_eval + 1], '([*/]) ([0-9.]+)', 'g') m
    ), 3));
    p_name := substring(p_state.evals[v_eval + 1] from '[[:alpha:]_@][[:alnum:]_.]*');
  end if;
  v_state.meant := coalesce(
    logloom_private.translated_comparison(p_name, v_operator, v_state.meant), ''
  );
  if v_operator = '<>' and v_state.meant like '-@%'
    and lower(p_state.texts[p_state."at" - 2]) is distinct from 'not'
  then
    -- In SQL, <> finds no nulls.
    v_state.meant := logloom_private.translated_name(p_name) || ':* ' || v_state.meant;
  end if;
  return v_state;
end;
$$;

-- Reads a value, list or range, with its sign, after a colon.
create function logloom_private.translated_after_colon(
  p_state logloom_private.translation,
  p_name text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text := logloom_private.translation_word(p_state);
  v_next constant text := logloom_private.translation_word(p_state, 1);
  v_operator text := ':';
  v_first integer;
  v_end integer;
  v_text text;
  v_field constant text := logloom_private.translated_name(p_name);
begin
  if v_word in ('!', '!=') or v_word = '-' then
    v_operator := 'not =';
    p_state."at" := p_state."at" + 1;
  elsif v_word = '=' and v_next ~ '^[^<>=~]' or v_word in ('i', 'w') and v_next = '=' then
    -- The signs =, i= and w= of our query language
    v_operator := case v_word when '=' then '=' else v_word || '=' end;
    p_state."at" := p_state."at" + length(v_operator);
    v_end := case p_state.texts[p_state."at"]
      when '(' then logloom_private.translation_close(p_state.texts, p_state."at")
      else p_state."at" end;
    p_state.meant := v_field || ':' || v_operator
      || logloom_private.translation_text(p_state, p_state."at", v_end, 500);
    p_state."at" := v_end + 1;
    return p_state;
  elsif v_word in ('=', '==', '~', '>', '>=', '<', '<=', '=~', '!~') then
    v_operator := v_word;
    p_state."at" := p_state."at" + 1;
    if v_word = '=' and logloom_private.translation_word(p_state) ~ '^[>]' then
      v_operator := '>=';
      p_state."at" := p_state."at" + 1;
    end if;
  elsif v_word = 'in' and v_next = '(' then
    p_state."at" := p_state."at" + 1;
  elsif v_next = '(' and logloom_private.word_class('call', v_word)
    in ('net', 'contains', 'startswith', 'endswith', 'like', '~')
  then
    -- ip:ipv4_range("10.0.0.0/8")
    p_state.texts := p_state.texts[:p_state."at" + 1] || p_name || ','::text
      || p_state.texts[p_state."at" + 2:];
    p_state.glued := p_state.glued[:p_state."at" + 1] || true || true
      || p_state.glued[p_state."at" + 2:];
    return logloom_private.translated_call(p_state);
  elsif v_word in ('range', '') or v_word in ('[', '{') then
    -- range[400, 499], [400 TO 499], [400..499]
    v_first := p_state."at" + (v_word = 'range')::integer;
    v_end := logloom_private.translation_close(p_state.texts, v_first);
    v_text := logloom_private.translation_text(p_state, v_first + 1, v_end - 1, 200);
    if v_text ~* ' to |\.\.' or v_word = 'range' or v_field = 'ts' and v_text ~ ',' then
      p_state."at" := v_end + 1;
      if v_field like '@%' and v_text ~* '^[0-9a-f]*[.:].*[.:].* to [0-9a-f.:]+$' then
        p_state.said := p_state.said || v_text;
        p_state.meant := v_field || ':' || inet_merge(
          split_part(v_text, ' ', 1)::inet, split_part(v_text, ' ', 3)::inet
        );
        return p_state;
      end if;
      p_state.meant := v_field || ':' || translate(p_state.texts[v_first], '(', '{') || (
        select string_agg(
          case v_field when 'ts' then logloom_private.translated_time(btrim(t, '"'' '))
            else t end, ' TO ' order by n
        )
        from regexp_split_to_table(v_text, '\s*(?: to |\.\.|,)\s*', 'i') with ordinality u (t, n)
      ) || translate(p_state.texts[v_end], ')', '}');
      return p_state;
    end if;
  end if;
  if logloom_private.translation_word(p_state) in ('(', '[') then
    return logloom_private.translated_list(p_state, p_name, v_operator);
  end if;
  -- service:api,web and level:error|warn
  v_end := p_state."at";
  v_word := p_state.texts[v_end + 1];
  while v_word in (',', '|') and p_state.texts[v_end + 1] = v_word and p_state.glued[v_end + 1]
    and p_state.glued[v_end + 2] and p_state.texts[v_end + 3] not in (':', '=', '(')
  loop
    v_end := v_end + 2;
  end loop;
  if v_end > p_state."at" then
    p_state.texts := p_state.texts[:p_state."at" - 1] || '('::text
      || p_state.texts[p_state."at":v_end] || ')'::text || p_state.texts[v_end + 1:];
    p_state.glued := p_state.glued[:p_state."at" - 1] || true || p_state.glued[p_state."at":v_end]
      || true || p_state.glued[v_end + 1:];
    return logloom_private.translated_list(p_state, p_name, v_operator);
  end if;
  p_state := logloom_private.translated_read(p_state);
  p_state.meant := coalesce(
    logloom_private.translated_comparison(p_name, v_operator, p_state.meant), ''
  );
  return p_state;
end;
$$;
