-- Translates a pipeline: terms, and stages after bars.
create function logloom_private.translated_pipeline(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text := logloom_private.translation_word(p_state);
  v_next constant text := logloom_private.translation_word(p_state, 1);
begin
  p_state.terms := '';
  if v_word = '[' and p_state.texts[4] in ('|', '') then
    -- ['logs'] | where …
    p_state."at" := 4;
    p_state.said := p_state.texts[2:2];
  elsif v_word in ('source', 'search') and v_next in ('=', 'in', 'index') or v_word = 'from' then
    -- source=logs | where …, from logs | …, search in (logs) "x"
    p_state."at" := 2 + (v_next in ('=', 'in'))::integer;
    p_state."at" := 1 + case when p_state.texts[p_state."at"] = '('
      then logloom_private.translation_close(p_state.texts, p_state."at") else p_state."at" end;
  elsif p_state.texts[2] = '|' and p_state.texts[1]
    ~ '^\.[a-z]*$|^(?:[Ll]ogs?|[Ee]vents?|traces|requests|exceptions|[A-Z][a-z]+[A-Z]\w+)$'
  then
    -- logs | where …, .msg | contains("x"), AppTraces | where …
    p_state."at" := 2;
  elsif v_word || v_next <> 'select(' and v_next not in (':', '=', '|', '')
      and logloom_private.word_class('stage', v_word)
        in ('fields', 'extract', 'sort', 'distinct', 'counts', 'grep', 'shell')
      -- A message may begin with such a word: fields lost, count mismatch.
      and (v_next ~ '^[@/"''-]|^by$' or p_state.texts[3] in (',', '(', 'by', '|')
        or '|' = any (p_state.texts) or p_state.texts[3] ~ '[/.]')
    or v_word in ('limit', 'head', 'tail')
      and (v_next ~ '^-[a-z0-9]' or v_next ~ '^[0-9]+$' and p_state.texts[3] in ('', '|'))
    or logloom_private.translated_kind(v_word) is not null and v_next in ('(', 'by', 'over')
  then
    p_state := logloom_private.translated_stage(p_state);
    p_state.rest := case when v_word <> 'tail' then p_state.rest end;
  end if;
  if p_state.texts[p_state."at"] not in ('|', '') then
    p_state := logloom_private.translated_terms(
      p_state, '{sort,order,group,limit,stats,summarize,timechart}'
    );
    if logloom_private.translation_word(p_state) not in ('|', '') then
      -- error stats count by host, order by ts desc
      p_state := logloom_private.translated_stage(p_state);
    end if;
  end if;
  while p_state.texts[p_state."at"] <> '' loop
    if p_state.texts[p_state."at"] = '|' then
      p_state."at" := p_state."at" + 1;
    else
      p_state := logloom_private.translated_stage(p_state);
    end if;
  end loop;
  return p_state;
end;
$$;

-- Translates a query of another language. Returns the query and what it leaves out. The query is
-- empty if nothing of it is known here. Returns null if the translation does not compile or has
-- warnings.
create function logloom_private.translated_query(p_query_dsl text)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source logloom_private.translation;
  v_state logloom_private.translation;
  v_word text;
  v_brace integer;
  v_query text;
  v_parsed logloom_private.compiled_query;
begin
  if length(p_query_dsl) > 1000 then
    return null;
  end if;
  v_source := logloom_private.translation_of(p_query_dsl);
  if cardinality(v_source.texts) > 200 then
    return null;
  end if;
  v_state := v_source;
  v_word := logloom_private.translation_word(v_state);
  v_brace := array_position(v_state.texts, '{');
  if v_word = 'select' and v_state.texts[2] <> '('
    or v_word = 'from' and 'select' = any (lower(v_state.texts::text)::text[])
  then
    v_state."at" := 1 + (v_word = 'select')::integer;
    v_state := logloom_private.translated_select(v_state);
  elsif v_state.texts[2] in ('(', 'by') and v_brace > 2 and v_state.texts[v_brace + 1] <> '$' then
    v_state := logloom_private.translated_metric(v_state, v_brace);
  else
    v_state := logloom_private.translated_pipeline(v_state);
  end if;
  if v_state.evals[2] <> '' and v_state.evals[1] <> all (v_state.said) then
    v_state.left_out := v_state.left_out || (v_state.evals[1] || ' = ' || v_state.evals[2]);
  end if;
  if 'unwrap' = any (v_state.texts) and cardinality(v_state.counts) = 0 then
    v_state := logloom_private.translated_count(v_state, 'avg', v_state.columns[1], null, null);
  end if;
  if v_state.width is not null and v_state.counts = '{}' then
    v_state.counts := '{count()}';
  end if;
  v_query := concat_ws(
    ' ', nullif(v_state.terms, ''), nullif(v_state.stages, ''),
    '| ' || nullif(array_to_string(v_state.counts, ', '), ''),
    case when cardinality(v_state.counts) > 0 and v_state.counts <> '{patterns}'
      then 'by ' || nullif(
        array_to_string(('(' || v_state.width || ')') || v_state.keys, ', '), ''
      ) end,
    nullif(regexp_replace(v_state.rest, '\| limit \d+ (?=.*\| limit)', '', 'g'), ''),
    case when cardinality(v_state.counts) = 0 then '| fields ' || (
      select string_agg(n.name, ', ' order by n.place)
      from (
        select logloom_private.translated_name(c) as name, min(place) as place
        from unnest(v_state.columns) with ordinality u (c, place) group by 1
      ) n
    ) end
  );
  v_parsed := logloom_private.parse_written_query(v_query);
  v_state.left_out := v_state.left_out || logloom_private.translation_lost(
    v_source, concat_ws(' ', v_query, v_state.left_out::text, v_state.said::text)
  );
  if v_parsed.warnings = '[]' and (v_query <> '' or v_state.left_out <> '{}') then
    return array[v_query, array_to_string(v_state.left_out, ', ')];
  end if;
  return null;
exception when others then
  -- Without a suggestion, the query's own error or answer is returned.
  return null;
end;
$$;

-- Returns the message for p_meant (from translated_query). p_begin: the beginning of the message.
create function logloom_private.translation_note(p_meant text[], p_begin text)
returns text
language sql
immutable
return case p_meant[1]
  when '' then 'Not known here: ' || p_meant[2] || '. Quote a text'
  else p_begin || case p_meant[2] when '' then '' else ' (without ' || p_meant[2] || ')' end
end;

-- True if two queries differ at most in names and positions.
create function logloom_private.same_query(
  p_one logloom_private.compiled_query,
  p_other logloom_private.compiled_query
)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(jsonb_build_array(p_one.tree, p_one.plan)::text,
      '"(?:position|name)": (?:\d+|"[^"]*"),? ?', '', 'g')
    = regexp_replace(jsonb_build_array(p_other.tree, p_other.plan)::text,
      '"(?:position|name)": (?:\d+|"[^"]*"),? ?', '', 'g');
end;
$$;
