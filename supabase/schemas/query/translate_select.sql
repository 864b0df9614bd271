-- Translates queries that are no pipelines: a SELECT, and LogQL with a function around a selector.

-- Translates a SELECT of SQL or NRQL. The state is after SELECT.
create function logloom_private.translated_select(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stops constant text[] := string_to_array(
    'from where group having order limit facet since until timeseries compare with offset union '
      'join', ' '
  );
  v_word text;
  v_columns text[];
  v_distinct boolean;
  v_top text;
begin
  if logloom_private.translation_word(p_state) = 'from' then
    -- FROM Log SELECT count(*)
    p_state."at" := array_position(lower(p_state.texts::text)::text[], 'select') + 1;
  end if;
  v_distinct := logloom_private.translation_word(p_state) = 'distinct';
  p_state."at" := p_state."at" + v_distinct::integer;
  if logloom_private.translation_word(p_state) = 'top' then
    v_top := '| limit ' || p_state.texts[p_state."at" + 1];
    p_state."at" := p_state."at" + 2;
  end if;
  p_state := logloom_private.translated_counts(p_state, v_stops);
  v_columns := p_state.columns;
  loop
    v_word := logloom_private.translation_word(p_state);
    exit when v_word in ('', '|');
    p_state."at" := p_state."at" + 1;
    if v_word = 'where' then
      p_state := logloom_private.translated_terms(p_state, v_stops);
    elsif v_word = 'facet' and logloom_private.translation_word(p_state) = 'cases' then
      p_state := logloom_private.translated_cases(p_state);
    elsif v_word in ('group', 'facet') then
      p_state := logloom_private.translated_keys(p_state, v_stops);
      v_columns := '{}';
      if cardinality(p_state.counts) = 0 then
        p_state := logloom_private.translated_count(p_state, 'count', null, null, null);
      end if;
    elsif v_word = 'having' then
      p_state := logloom_private.translated_having(p_state, v_stops);
    elsif v_word = 'order' then
      if cardinality(p_state.counts) = 0 and v_distinct then
        p_state.counts := '{count()}';
      end if;
      p_state := logloom_private.translated_sort(p_state, v_stops);
    elsif v_word = 'limit' and p_state.texts[p_state."at"] ~ '^[1-9]' then
      p_state.rest := concat_ws(' ', p_state.rest, '| limit ' || p_state.texts[p_state."at"]);
    elsif v_word in ('since', 'until') then
      p_state.meant := coalesce(
        logloom_private.query_meant_time(p_state.texts, p_state."at"),
        logloom_private.query_meant_time(p_state.texts, p_state."at" - 1),
        'ts:>=' || logloom_private.translated_time(logloom_private.translated_text(
          (logloom_private.translated_read(p_state)).meant
        ))
      );
      p_state.meant := case when v_word = 'since' then p_state.meant
        when p_state.meant like 'ts:-%' then 'ts:<now' || substr(p_state.meant, 4)
        when p_state.meant <> 'ts:>=now' then replace(p_state.meant, '>=', '<') end;
      p_state.terms := concat_ws(' ', nullif(p_state.terms, ''), p_state.meant);
    elsif v_word = 'timeseries' then
      p_state.width := logloom_private.translated_width_in(
        array_to_string(p_state.texts[p_state."at":p_state."at" + 1], ' ')
      );
    elsif v_word in ('union', 'compare') then
      p_state.left_out := p_state.left_out || logloom_private.translation_text(
        p_state, p_state."at" - 1,
        case v_word when 'union' then cardinality(p_state.texts) else p_state."at" + 3 end, 80
      );
      exit when v_word = 'union';
      p_state."at" := p_state."at" + 4;
    end if;
  end loop;
  p_state.rest := concat_ws(' ', p_state.rest, v_top);
  if cardinality(p_state.keys) > 0 and cardinality(p_state.counts) = 0 then
    p_state.counts := '{count()}';
  end if;
  if v_distinct and cardinality(p_state.counts) < 2 and cardinality(v_columns) > 0 then
    p_state.counts := '{count()}';
    p_state.keys := array(select logloom_private.translated_name(c) from unnest(v_columns) c);
  end if;
  p_state.columns := case when cardinality(p_state.counts) = 0 then v_columns else '{}' end;
  return p_state;
end;
$$;

-- Translates cases (where status < 400 as ok, …) of NRQL: an aggregate for each.
create function logloom_private.translated_cases(p_state logloom_private.translation)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end constant integer := logloom_private.translation_close(p_state.texts, p_state."at" + 1);
  v_count constant text := regexp_replace(p_state.counts[1], ' as \w+$', '');
  v_part logloom_private.translation :=
    logloom_private.translation_part(p_state, p_state."at" + 2, v_end - 1);
begin
  p_state.counts := '{}';
  while v_part.texts[v_part."at"] <> '' loop
    v_part := logloom_private.translated_terms(v_part, '{as,",",where}');
    p_state.counts := p_state.counts || (v_count || ' if (' || v_part.terms || ') as ' || coalesce(
      nullif(regexp_replace(
        logloom_private.translated_text(case logloom_private.translation_word(v_part)
          when 'as' then v_part.texts[v_part."at" + 1] end), '^(?=[0-9])|[^A-Za-z0-9_]+', '_', 'g'
      ), ''),
      'case_' || cardinality(p_state.counts) + 1
    ));
    v_part."at" := v_part."at" + case logloom_private.translation_word(v_part) when 'as' then 2
      else 0 end;
    v_part."at" := v_part."at" + (v_part.texts[v_part."at"] = ',')::integer;
  end loop;
  p_state."at" := v_end + 1;
  return p_state;
end;
$$;

-- Translates a function of LogQL around a selector, such as sum by (x) (rate({…}[5m])). p_brace:
-- the place of the selector.
create function logloom_private.translated_metric(
  p_state logloom_private.translation,
  p_brace integer
)
returns logloom_private.translation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text[] := lower(p_state.texts::text collate "C")::text[];
  v_before constant text[] := v_words[:p_brace - 1];
  v_function constant text := (
    select w from unnest(v_before) with ordinality u (w, n)
    where w ~ '_over_time$|^rate|^bytes_' order by n desc limit 1
  );
  v_number constant text := (
    select w from unnest(v_before) with ordinality u (w, n)
    where w ~ '^[0-9.]+$' order by n desc limit 1
  );
  v_top constant text := (select w from unnest(v_before) w where w in ('topk', 'bottomk') limit 1);
  -- The end of the selector's pipeline: its range, or the bracket around it
  v_end integer := p_brace;
  v_depth integer := 0;
  v_by integer;
  v_second integer;
  v_all text;
  v_is_unwrapped boolean;
  v_kind text;
  v_window text;
begin
  while v_words[v_end] <> '' and v_depth >= 0
    and (v_words[v_end] <> '[' or v_words[v_end + 1] !~ '^[1-9$]')
  loop
    v_end := v_end + 1;
    v_depth := v_depth + (v_words[v_end] = '(')::integer - (v_words[v_end] = ')')::integer;
  end loop;
  v_by := (
    select min(n) from generate_subscripts(v_words, 1) n
    where (n < p_brace or n > v_end) and v_words[n] = 'by' and v_words[n + 1] = '('
  );
  if v_by is not null then
    p_state.keys := (logloom_private.translated_keys(
      logloom_private.translation_part(
        p_state, v_by + 1, logloom_private.translation_close(v_words, v_by + 1)
      ), '{}'
    )).keys;
  end if;
  v_second := (
    select min(n) from generate_subscripts(v_words, 1) n where n > v_end and v_words[n] = '{'
  );
  if v_second is not null and '/' = any (v_words[v_end:v_second]) then
    -- sum(rate({…} |= "x" [5m])) / sum(rate({…}[5m])): a share
    v_all := (logloom_private.translated_pipeline(logloom_private.translation_part(
      p_state, v_second, logloom_private.translation_close(v_words, v_second)
    ))).terms;
  end if;
  p_state.texts := p_state.texts[p_brace:v_end - 1] || ''::text;
  p_state.glued := p_state.glued[p_brace:v_end - 1] || true;
  v_window := logloom_private.translated_width(v_words[v_end + 1]);
  v_is_unwrapped := 'unwrap' = any (p_state.texts);
  p_state."at" := 1;
  p_state.said := array[v_number];
  p_state := logloom_private.translated_pipeline(p_state);
  if v_top is null and v_all is null then
    p_state.width := v_window;
  else
    p_state.left_out := p_state.left_out || ('[' || v_window || ']');
  end if;
  if starts_with(p_state.terms, v_all || ' ') then
    p_state.counts := array[
      'count() if (' || substr(p_state.terms, length(v_all) + 2) || ') as part', 'count() as n'
    ];
    p_state.terms := v_all;
    p_state.rest := '| math part / n as share';
    return p_state;
  end if;
  v_kind := case
    when v_function = 'quantile_over_time' then 'p' || trim_scale(100 * v_number::numeric)
    when v_function ~ '^(?:sum|avg|min|max)_over_time$' then left(v_function, 3)
    when v_function = 'rate' and v_is_unwrapped then 'sum'
    when v_function = 'rate' then 'rate' else 'count' end;
  p_state := logloom_private.translated_count(
    p_state, v_kind, p_state.columns[1], null, case when v_top is not null then 'n' end
  );
  p_state.columns := '{}';
  p_state.rest := concat_ws(
    ' ',
    (
      select format(
        '| where %s %s %s', (logloom_private.translated_names(p_state))[1], v_words[n],
        v_words[n + 1]
      )
      from generate_series(v_end, cardinality(v_words)) n
      where v_words[n] in ('>', '>=', '<', '<=') and v_words[n + 1] ~ '^[0-9.]+$' limit 1
    ),
    '| sort by n' || case v_top when 'topk' then ' desc' when 'bottomk' then '' end || ' | limit '
      || coalesce((select w from unnest(v_before) w where w ~ '^[1-9][0-9]*$' limit 1), '10')
  );
  return p_state;
end;
$$;
