-- Translates aggregates and what follows "by".

-- Adds one aggregate of p_kind, such as sum, with a field, a condition and a name.
create function logloom_private.translated_count(
  p_state logloom_private.translation,
  p_kind text,
  p_field text,
  p_condition text,
  p_name text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text :=
    regexp_replace(logloom_private.translated_text(p_name), '[^A-Za-z0-9_]+', '_', 'g');
  v_eval constant integer := array_position(p_state.evals, p_field);
  v_field text := logloom_private.translated_alias(p_state, p_field);
begin
  if v_eval % 2 = 1 and p_state.evals[v_eval + 1] = '' then
    -- A stage that is left out makes this field.
    p_state.left_out := p_state.left_out || format('%s(%s)', p_kind, p_field);
    return p_state;
  elsif v_eval % 2 = 1 and v_field = p_field then
    -- eval mb = bytes / 1024 | stats sum(mb) as total
    p_state.said := p_state.said || p_state.evals[v_eval];
    v_field := substring(p_state.evals[v_eval + 1] from '[[:alpha:]_@][[:alnum:]_.]*');
    p_name := coalesce(v_name, p_kind || '_' || p_field);
    v_name := 'raw' || coalesce('_' || nullif(cardinality(p_state.counts) + 1, 1), '');
    p_state.rest := concat_ws(
      ' ', p_state.rest,
      '| math ' || replace(p_state.evals[v_eval + 1], v_field, v_name) || ' as ' || p_name
    );
  end if;
  v_field := case when p_kind in ('count', 'rate') then ''
    when p_kind = 'count_distinct' or v_field like '@%'
      or p_kind in ('min', 'max') and logloom_private.translated_name(v_field) = 'ts'
      then logloom_private.translated_name(v_field)
    when v_field like 'attrs.%' then v_field
    else '@' || ltrim(regexp_replace(v_field, '\.(?:keyword|raw)$', ''), '.$') end;
  if v_name is null and p_kind = any (logloom_private.translated_names(p_state)) then
    v_name := p_kind || '_' || cardinality(p_state.counts) + 1;
  end if;
  p_state.counts := p_state.counts || (
    p_kind || '(' || v_field || ')' || coalesce(' if (' || nullif(p_condition, '') || ')', '')
      || case when v_name ~ '^[A-Za-z_]' then ' as ' || left(v_name, 60) else '' end
  );
  return p_state;
end;
$$;

-- Reads one aggregate at its name. p_name: a name before it, as in n = count().
create function logloom_private.translated_aggregate(
  p_state logloom_private.translation,
  p_name text
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := logloom_private.translation_word(p_state);
  v_has_brackets constant boolean := p_state.texts[p_state."at" + 1] = '(';
  v_kind text := logloom_private.translated_kind(v_word);
  -- Without brackets: count, p95 duration_ms
  v_end integer := case when v_has_brackets
    then logloom_private.translation_close(p_state.texts, p_state."at" + 1)
    else p_state."at" + (v_kind not in ('count', 'rate'))::integer end;
  v_inner logloom_private.translation;
  v_args text[];
  v_field text;
  v_condition text;
  v_name text := p_name;
  v_at integer;
  v_next text;
begin
  v_inner := logloom_private.translation_part(
    p_state, p_state."at" + 1 + v_has_brackets::integer, v_end - v_has_brackets::integer
  );
  v_args := v_inner.texts;
  if v_word in ('filter', 'percentage') then
    v_kind := logloom_private.translated_kind(v_args[1]);
  end if;
  v_field := (
    select logloom_private.translated_text(t) from unnest(v_args) with ordinality u (t, n)
    where logloom_private.translated_text(t) ~ '^[@.$]{0,2}[[:alpha:]_][[:alnum:]_.@-]*$'
      and t !~ '^''' and lower(t) not in ('distinct', 'eval', 'if', 'case', 'when', 'iff')
      and v_args[n + 1] is distinct from '('
    order by n limit 1
  );
  -- if(c, 1, 0), eval(c), case when c then 1 end, countif(c), sumif(x, c), count(*), where c
  v_at := (
    select max(n) from generate_subscripts(v_args, 1) n
    where lower(v_args[n]) in ('if', 'eval', 'iff', 'when', 'where') and n <= 6
  );
  if v_word ~ '_?if$' or v_at is not null
    or v_kind = 'count' and v_args && '{:,=,==,!=,>,>=,<,<=}'::text[]
  then
    v_at := case when v_word ~ '^(?:sum|avg|min|max|dcount)_?if$' then array_position(v_args, ',')
      else coalesce(v_at, 0) end + 1;
    v_at := v_at + (v_args[v_at] = '(')::integer;
    v_condition := (logloom_private.translated_terms(
      logloom_private.translation_part(v_inner, v_at, cardinality(v_args) - 1), '{",",then}'
    )).terms;
    if v_condition !~ '[:"]' then
      -- sum(eval(a / b))
      p_state."at" := v_end + 1;
      return p_state;
    end if;
    v_kind := case when v_word = 'sum' then 'count' else v_kind end;
  elsif v_kind = 'count' and lower(v_args[1]) = 'distinct' then
    v_kind := 'count_distinct';
  elsif v_kind = 'count' and v_field is not null
    and logloom_private.translated_name(v_field) not in ('ts', 'msg', 'id')
  then
    v_condition := logloom_private.translated_name(v_field) || ':*';
  end if;
  -- After the brackets: as n, n, if (…), filter (where …), within group (order by x)
  p_state."at" := v_end + 1;
  loop
    v_at := p_state."at";
    v_next := logloom_private.translation_word(p_state);
    if v_next in ('if', 'filter') and p_state.texts[v_at + 1] = '(' then
      v_end := logloom_private.translation_close(p_state.texts, v_at + 1);
      v_condition := (logloom_private.translated_terms(
        logloom_private.translation_part(p_state, v_at + 2, v_end - 1), '{}'
      )).terms;
      p_state."at" := v_end + 1;
    elsif v_next = 'if' then
      v_inner := logloom_private.translated_terms(
        logloom_private.translation_part(p_state, v_at + 1, cardinality(p_state.texts)),
        '{",",by,as}'
      );
      v_condition := v_inner.terms;
      p_state."at" := v_at + v_inner."at";
    elsif v_next = 'within' and p_state.texts[v_at + 2] = '(' then
      v_field := p_state.texts[v_at + 5];
      p_state."at" := logloom_private.translation_close(p_state.texts, v_at + 2) + 1;
    elsif v_next = 'as' then
      v_name := p_state.texts[v_at + 1];
      p_state."at" := v_at + 2;
    elsif v_has_brackets and v_name is null and v_next ~ '^[a-z_][a-z0-9_]*$'
      and p_state.texts[v_at + 1] not in ('(', '=')
      and v_next !~ '^(?:by|over|group.*|from|where|if|limit|order|sort|having|facet|since|until|'
        'timeseries|span|every|per|on|union)$'
    then
      v_name := p_state.texts[v_at];
      p_state."at" := v_at + 1;
    else
      exit;
    end if;
  end loop;
  if v_word = 'percentage' then
    p_state := logloom_private.translated_count(p_state, 'count', null, null, 'n');
    p_state.rest := concat_ws(' ', p_state.rest, '| math part / n * 100 as ' || coalesce(
      regexp_replace(logloom_private.translated_text(v_name), '\W+', '_', 'g'), 'percentage'
    ));
    v_name := 'part';
  end if;
  if v_kind = 'p' and v_field is not null then
    p_state := logloom_private.translated_percentiles(
      p_state, v_word, v_args, v_field, v_condition, v_name
    );
  elsif v_kind in ('count', 'rate') or v_kind <> 'values' and v_field is not null then
    p_state := logloom_private.translated_count(p_state, v_kind, v_field, v_condition, v_name);
  elsif v_kind = 'values' and v_field not in ('msg', 'message') then
    -- values(host): a row for each
    p_state.keys := p_state.keys || logloom_private.translated_key(p_state, v_field);
  end if;
  return p_state;
end;
$$;

-- Reads aggregates and their keys up to a bar. Other names become columns.
create function logloom_private.translated_counts(
  p_state logloom_private.translation,
  p_stops text[]
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word text;
  v_next text;
  v_end integer;
begin
  loop
    v_word := logloom_private.translation_word(p_state);
    v_next := logloom_private.translation_word(p_state, 1);
    exit when v_word in ('', '|', '>', '>=', '<', '<=')
      or v_word = any (p_stops) and v_next <> '='
      or v_word in ('top', 'head') and v_next ~ '^[0-9]';
    v_end := p_state."at";
    if v_word in ('by', 'over', 'group', 'facet', 'group_by', 'every', 'per') then
      p_state."at" := p_state."at" + 1;
      p_state := logloom_private.translated_keys(p_state, p_stops || '{over}'::text[]);
      -- by (x) count() of LogsQL
      continue;
    elsif v_next = '('
      and (logloom_private.translated_kind(v_word) is not null or v_word = 'filter')
    then
      if p_state.texts[v_end + 2] = '(' then
        return p_state;
      end if;
      p_state := logloom_private.translated_aggregate(p_state, null);
    elsif v_next in ('=', ':=') and logloom_private.translation_word(p_state, 3) = '('
      and logloom_private.translated_kind(logloom_private.translation_word(p_state, 2)) is not null
    then
      p_state."at" := p_state."at" + 2;
      p_state := logloom_private.translated_aggregate(p_state, p_state.texts[v_end]);
    elsif v_next = '(' and logloom_private.is_width_function(v_word)
      or v_word in ('span', 'interval', '_time') and v_next in ('=', ':')
    then
      v_end := case v_next when '(' then logloom_private.translation_close(p_state.texts, v_end + 1)
        else v_end + 2 end;
      p_state.width := (logloom_private.translated_keys(
        logloom_private.translation_part(p_state, p_state."at", v_end), '{}'
      )).width;
      -- date_trunc('hour', ts) as h
      v_end := v_end + (lower(p_state.texts[v_end + 1]) is not distinct from 'as')::integer;
      if v_next = '(' and p_state.texts[v_end + 1] ~ '^\w+$'
        and lower(p_state.texts[v_end + 2]) in (',', 'from')
      then
        v_end := v_end + 1;
        p_state.evals := p_state.evals || array[p_state.texts[v_end], ''];
        p_state.said := p_state.said || p_state.texts[v_end];
      end if;
    elsif v_word = 'step' then
      p_state.width := logloom_private.translated_width(v_next);
      p_state."at" := v_end + 2;
    elsif v_next = '(' and logloom_private.word_class('call', v_word) = 'wrap' then
      v_end := logloom_private.translation_close(p_state.texts, v_end + 1);
      p_state.columns := p_state.columns || (
        select t from unnest(p_state.texts[p_state."at" + 2:v_end]) t
        where t ~ '^[@.$]?[[:alpha:]_]' limit 1
      );
    elsif v_next = '(' and v_word ~ '^[a-z]' then
      -- The name of an unknown function's result is unknown, too.
      v_end := logloom_private.translation_close(p_state.texts, v_end + 1);
      if lower(p_state.texts[v_end + 1]) = 'as' then
        p_state.evals := p_state.evals || array[p_state.texts[v_end + 2], ''];
        v_end := v_end + 2;
      end if;
    elsif v_next = '=' then
      p_state."at" := p_state."at" + 3;
    elsif v_word = 'as' then
      p_state."at" := p_state."at" + 2;
    elsif logloom_private.translated_kind(v_word) <> 'values' then
      p_state := logloom_private.translated_aggregate(p_state, null);
    else
      if v_word ~ '^["`]?[@.$]?[[:alpha:]_]' then
        p_state.columns := p_state.columns || p_state.texts[v_end];
      end if;
      p_state."at" := p_state."at" + 1;
    end if;
    if v_word ~ '^[-+*/]$' and cardinality(p_state.counts) > 0 then
      -- sum(bytes) / count(): only math computes with results.
      p_state.left_out := p_state.left_out || logloom_private.translation_text(
        p_state, v_end, v_end + 3
      );
    end if;
    p_state."at" := greatest(p_state."at", v_end + 1);
  end loop;
  return p_state;
end;
$$;
