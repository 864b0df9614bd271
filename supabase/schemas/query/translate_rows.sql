-- Translates stages that make rows, or change them.

-- Returns the names of the results so far.
create function logloom_private.translated_names(p_state logloom_private.translation)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    -- sum(@bytes) as raw | math raw / 1024 as kb: the result is kb.
    select coalesce(
      substring(p_state.rest from substring(c from ' as (raw\w*)$') || ' [^|]* as (\w+)'),
      substring(c from ' as (\w+)$'), substring(c from '^\w+')
    )
    from unnest(p_state.counts) with ordinality u (c, n) order by n
  ) || array(select m[1] from regexp_matches(p_state.rest, '\| math [^|]* as (\w+)', 'g') m);
end;
$$;

-- Returns the name of the result that a word such as n, count_ or avg_bytes means, or null.
create function logloom_private.translated_result(
  p_state logloom_private.translation,
  p_word text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := logloom_private.translated_names(p_state);
  v_word constant text := logloom_private.translated_text(p_word);
  v_kind constant text := coalesce(
    logloom_private.translated_kind(v_word),
    logloom_private.translated_kind(substring(v_word from '^([a-z]+[0-9]*)_'))
  );
begin
  return case when v_word = any (v_names) then v_word else (
    select v_names[n] from unnest(p_state.counts) with ordinality u (c, n)
    where starts_with(c, v_kind) order by not starts_with(c, v_kind || '('), n limit 1
  ) end;
end;
$$;

-- Reads comparisons of results, such as n > 10 and avg < 5.
create function logloom_private.translated_having(
  p_state logloom_private.translation,
  p_stops text[]
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := logloom_private.translated_names(p_state);
  v_word text;
  v_name text;
  v_tests text[] := '{}';
begin
  p_state.meant := null;
  loop
    v_word := logloom_private.translation_word(p_state);
    exit when v_word in ('', '|') or v_word = any (p_stops);
    if v_word in ('or', '||') then
      -- The stage where after an aggregate has no OR.
      p_state.meant := null;
      return p_state;
    elsif v_word ~ '^(?:[<>]=?|!=|==?|<>|:)$' and p_state.texts[p_state."at" + 1] ~ '^-?[0-9.]+$'
    then
      v_tests := v_tests || format(
        '%s %s %s', coalesce(v_name, v_names[1]),
        case v_word when '==' then '=' when ':' then '=' when '<>' then '!=' else v_word end,
        p_state.texts[p_state."at" + 1]
      );
      p_state."at" := p_state."at" + 1;
    elsif logloom_private.translated_result(p_state, p_state.texts[p_state."at"]) is not null then
      v_name := logloom_private.translated_result(p_state, p_state.texts[p_state."at"]);
      if p_state.texts[p_state."at" + 1] = '(' then
        p_state."at" := logloom_private.translation_close(p_state.texts, p_state."at" + 1);
      end if;
    elsif p_state.texts[p_state."at" + 1] = '(' and logloom_private.translated_kind(v_word) <> ''
    then
      -- having avg(bytes) > 1000
      p_state := logloom_private.translated_aggregate(p_state, null);
      v_name := (logloom_private.translated_names(p_state))[cardinality(p_state.counts)];
      continue;
    elsif v_word ~ '^[@.a-z_"`]' and v_word !~ '^(?:where|having|filter|search|and)$' then
      -- No result has this name.
      p_state."at" := greatest((logloom_private.translated_term(p_state))."at", p_state."at" + 1);
      continue;
    end if;
    p_state."at" := p_state."at" + 1;
  end loop;
  p_state.rest := concat_ws(
    ' ', p_state.rest, '| where ' || nullif(array_to_string(v_tests, ' AND '), '')
  );
  p_state.meant := coalesce(p_state.meant, v_tests[1]);
  return p_state;
end;
$$;

-- Reads sort keys, such as -count, n desc, count(*) desc.
create function logloom_private.translated_sort(
  p_state logloom_private.translation,
  p_stops text[]
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names constant text[] := logloom_private.translated_names(p_state);
  v_has_counts constant boolean := cardinality(p_state.counts) > 0;
  -- Kusto sorts in descending order.
  v_is_kusto constant boolean := p_state.texts && '{summarize,extend,project}'::text[];
  v_word text;
  v_next text;
  v_text text;
  v_field text;
  v_keys text[] := '{}';
  v_is_ts boolean := true;
  v_leads boolean := false;
begin
  loop
    v_word := logloom_private.translation_word(p_state);
    exit when v_word in ('', '|') or v_word = any (p_stops);
    v_text := ltrim(logloom_private.translated_text(p_state.texts[p_state."at"]), '+-');
    v_leads := v_leads or v_word = 'desc' and v_keys = '{}';
    p_state."at" := p_state."at" + 1;
    continue when v_word ~ '^(?:desc|asc|d|by|nulls|last|first|0|[-+,()])$'
      or not v_has_counts and v_keys <> '{}';
    v_word := case p_state.texts[p_state."at" - 2] when '-' then '-' else v_word end;
    if p_state.texts[p_state."at"] = '(' then
      p_state."at" := logloom_private.translation_close(p_state.texts, p_state."at") + 1;
    end if;
    v_next := logloom_private.translation_word(
      p_state, (p_state.texts[p_state."at"] = ')')::integer
    );
    v_field := logloom_private.translated_name(v_text);
    v_is_ts := v_field = 'ts';
    p_state.said := p_state.said || substring(v_text from '^[1-9]$');
    v_keys := v_keys || (
      case
        when not v_has_counts or p_state.width is not null and (
          v_text = '1' or v_field = 'ts'
          or p_state.evals[array_position(p_state.evals, v_text) + 1] = ''
        ) then 'ts'
        when v_text <> all (v_names) and v_field = any (p_state.keys) then v_field
        else coalesce(logloom_private.translated_result(p_state, v_text), v_names[1]) end
      || case when v_leads or v_next = 'desc'
        or v_next <> 'asc' and (v_word like '-%' or v_is_kusto) then ' desc' else '' end
    );
  end loop;
  if not v_has_counts and not v_is_ts then
    -- Records are sorted by ts only.
    return p_state;
  end if;
  p_state.rest := concat_ws(' ', p_state.rest, '| sort by ' || coalesce(
    nullif(array_to_string(v_keys, ', '), ''),
    coalesce(v_names[1], 'ts')
      || case when p_state.texts[p_state."at" - 1] = 'asc' then '' else ' desc' end
  ));
  return p_state;
end;
$$;

-- Reads a stage that makes rows, or changes them. Sets meant to null for other stages. p_class: the
-- class of its first word.
create function logloom_private.translated_row_stage(
  p_state logloom_private.translation,
  p_class text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first constant integer := p_state."at";
  v_end constant integer := logloom_private.translated_stage_end(p_state);
  v_word constant text := logloom_private.translation_word(p_state);
  v_next constant text := logloom_private.translation_word(p_state, 1);
  v_has_counts constant boolean := cardinality(p_state.counts) > 0;
  v_kind constant text := logloom_private.translated_kind(v_word);
  v_number constant text := (
    select ltrim(t, '-') from unnest(p_state.texts[v_first + 1:v_end]) t
    where t ~ '^-?[1-9][0-9]{0,5}$' limit 1
  );
begin
  p_state.meant := '';
  if v_word = 'top' and (v_has_counts or p_state.texts[v_end - 1] ~* '^(?:asc|desc)$') then
    -- top 5 by n
    p_state."at" := v_first + 2;
    p_state := logloom_private.translated_sort(p_state, '{}');
    p_state.rest := concat_ws(
      ' ',
      case when p_state.texts[v_end - 1] ~* '^asc$' then p_state.rest
        else regexp_replace(p_state.rest, '(?<! desc)$', ' desc') end,
      '| limit ' || v_number
    );
  elsif v_word in ('top', 'rare') and not v_has_counts and v_next <> '(' then
    p_state."at" := v_first + 1;
    p_state := logloom_private.translated_keys(p_state, '{}');
    p_state.counts := '{count() as n}';
    p_state.rest := '| sort by n' || case v_word when 'rare' then '' else ' desc' end
      || ' | limit ' || coalesce(v_number, '10');
  elsif p_class = 'distinct' and v_next <> '(' and not v_has_counts then
    p_state."at" := v_first + 1;
    p_state := logloom_private.translated_keys(p_state, '{}');
    p_state.counts := '{count()}';
    p_state.left_out :=
      p_state.left_out || case when v_word = 'dedup' then '{one record of each}'::text[] end;
    if logloom_private.translation_word(p_state) = 'limit' then
      p_state.rest := '| limit ' || v_number;
    end if;
  elsif p_class = 'sort' then
    p_state."at" := v_first + 1;
    p_state := logloom_private.translated_sort(p_state, '{limit}');
    if logloom_private.translation_word(p_state) = 'limit' then
      p_state.rest := p_state.rest || ' | limit ' || v_number;
    end if;
  elsif p_class = 'limit' then
    p_state.said := p_state.said || '{-n,-c,-f}'::text[];
    p_state.rest := concat_ws(
      ' ', p_state.rest,
      case when v_word in ('tail', 'last') and not v_has_counts
        -- A shell's tail shows the newest.
        then '| sort by ts' || case when v_word = 'last' or logloom_private.word_class(
          'stage', p_state.texts[1]
        ) in ('grep', 'shell') then ' desc' else '' end end,
      '| limit ' || coalesce(v_number, '10')
    );
  elsif p_class = 'patterns' then
    p_state.counts := '{patterns}';
  elsif p_class = 'width' and v_next <> '(' then
    p_state.width := logloom_private.translated_width_in(
      array_to_string(p_state.texts[v_first:v_end - 1], ' ')
    );
  elsif v_has_counts and p_class in ('counts', 'distinct') then
    -- A query has at most one stage with aggregates.
    p_state.meant := null;
  elsif p_class = 'counts'
    or v_kind is not null and (v_next in ('(', 'by', '|', '') or v_kind in ('sum', 'avg')
      or v_next ~ '^@')
    or v_next = '=' and p_state.texts[v_first + 3] = '('
      and logloom_private.translated_kind(logloom_private.translation_word(p_state, 2)) is not null
  then
    p_state."at" := v_first + (
      v_word = 'group' or v_kind is null and v_next not in ('=', '(') and v_word <> 'by'
    )::integer;
    p_state := logloom_private.translated_counts(p_state, '{where,sort,limit,having,order}');
    if v_word in ('timechart', 'makeseries', 'make-series', 'timeseries', 'histogram') then
      p_state.width := coalesce(p_state.width, '5m');
    end if;
    if cardinality(p_state.counts) = 0 and not p_state.columns && '{*}' then
      p_state := logloom_private.translated_count(p_state, 'count', null, null, null);
    end if;
    p_state.columns := '{}';
    p_state.keys := array_remove(p_state.keys, 'ts');
    if logloom_private.translation_word(p_state) <> '' then
      -- count() by host having count > 5, count() > 5, count() by host limit 5
      return case when logloom_private.translation_word(p_state) = '|' then p_state
        when logloom_private.translation_word(p_state) ~ '^[<>]'
          then logloom_private.translated_having(p_state, '{}')
        else logloom_private.translated_stage(p_state) end;
    end if;
  elsif v_has_counts and (p_class = 'terms' or v_next ~ '^[<>=!:]' or v_word ~ '^[<>]') then
    p_state := logloom_private.translated_having(p_state, '{}');
  else
    p_state.meant := null;
  end if;
  return p_state;
end;
$$;
