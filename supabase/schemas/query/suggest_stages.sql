-- Suggests a stage for eval mb = bytes / 1024, with the tokens of the stage. p_column: the first
-- result of an aggregate before it, or null.
create function logloom_private.query_meant_math(p_texts text[], p_column text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_formula constant text := array_to_string(p_texts[4:], ' ');
  v_name constant text := substring(v_formula from '[[:alpha:]_@][[:alnum:]_.]*');
begin
  if p_texts[3] is distinct from '=' or p_texts[2] !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$'
    or v_formula !~ '^[[:alnum:]_.@ ]+[-+*/%][-+*/%[:alnum:]_.@ ]+$' or v_name is null
  then
    return '| math n / 60 as m after an aggregate, or | extract "took <ms> ms" before it';
  elsif p_column is not null then
    return '| math ' || v_formula || ' as ' || p_texts[2];
  end if;
  return format(
    '| %s(%s) as n | math %s as %s',
    case when v_name ~ '(?:ms|seconds|duration|latency|time)$' then 'avg' else 'sum' end,
    logloom_private.query_meant_argument(array[v_name], 'sum'),
    replace(v_formula, v_name, 'n'), p_texts[2]
  );
end;
$$;

-- Suggests fields for the names in a stage such as table host, message.
create function logloom_private.query_meant_fields(p_names text[], p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys constant text[] := array(
    select logloom_private.query_meant_name(t)
    from unnest(p_names) with ordinality u (t, n)
    where t ~ '^@?[[:alpha:]_]'
    order by n
    limit 3
  );
begin
  if p_plan ? 'aggregates' then
    return 'no stage: the columns are those of by, such as | count() by '
      || coalesce(nullif(array_to_string(array_remove(v_keys, 'ts'), ', '), ''), 'service');
  end if;
  return '| fields ' || coalesce(nullif(array_to_string(v_keys, ', '), ''), 'ts, msg');
end;
$$;

-- The first part of query_meant_stage.
create function logloom_private.query_meant_plain_stage(p_texts text[], p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_column constant text := coalesce(
    p_plan -> 'aggregates' -> 0 ->> 'name', case when p_plan ? 'patterns' then 'count' end
  );
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_text constant text := coalesce(
    (select t from unnest(p_texts) t where t like '"%' limit 1), '""'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
begin
  if p_texts[2] in ('>', '>=', '<', '<=', '=', '!=') and v_word ~ '^[[:alpha:]_@]' then
    return '| where ' || case when v_column is not null then array_to_string(p_texts[1:3], ' ')
      else logloom_private.query_meant_words(p_texts, 1) end;
  elsif v_word in ('>', '>=', '<', '<=', '=', '!=') and v_column is not null then
    return '| where ' || v_column || ' ' || v_word || ' ' || p_texts[2];
  elsif v_word in ('=', '!=') or v_word = '~' then
    -- |= "text", |~ "regex"
    return case v_word when '~' then 'msg:~' when '!=' then '-' else '' end
      || translate(p_texts[2], '`', '"') || ' before the first |';
  elsif v_word = 'grep' then
    return case when array_to_string(p_texts, ' ') ~ ' -[a-z]*v' then '-' else '' end || 'msg:'
      || coalesce(
        (
          select t from unnest(p_texts[2:]) with ordinality u (t, n)
          where t not like '-%' order by n limit 1
        ),
        '"text"'
      ) || ' before the first |';
  elsif v_word in ('contains', 'test', 'match') then
    -- jq's contains("text"), test("regex")
    return 'msg:' || case when v_word in ('test', 'match') then '~' else '' end
      || coalesce(nullif(v_text, '""'), nullif(p_texts[2], '('), '"text"') || ' before the first |';
  elsif v_word in ('group', 'by') then
    return case when v_column is null then '| count() ' else '' end || 'by '
      || logloom_private.query_meant_name(coalesce(
        p_texts[2 + (lower(p_texts[2] collate "C") = 'by')::integer], 'service'
      ));
  elsif v_word in ('count_if', 'countif') then
    return '| count() if ('
      || coalesce(logloom_private.query_meant_words(p_texts, 3), p_texts[3], 'level:error') || ')';
  elsif v_word = 'unwrap' then
    return '| avg(' || logloom_private.query_meant_argument(p_texts[2:], 'avg') || ')';
  elsif v_word = 'wc' then
    return '| count()';
  elsif v_word in ('head', 'take', 'first', 'last', 'limit') then
    return '| limit ' || v_number;
  elsif v_word = 'tail' then
    return '| sort by ts | limit ' || v_number;
  elsif v_word in ('order', 'sort') then
    return '| sort by ' || coalesce(
      nullif(array_to_string(p_texts[coalesce(v_by, 1) + 1:], ' '), ''), 'ts desc'
    );
  elsif v_word in ('filter', 'search', 'having', 'where') then
    return '| where ' || case
      when v_column is not null and p_texts[3] ~ '^[<>=!]' then array_to_string(p_texts[2:4], ' ')
      when v_column is not null then v_column || ' > 10'
      else coalesce(logloom_private.query_meant_words(p_texts, 2), 'service:api') end;
  elsif v_word in ('project', 'table', 'keep', 'select', 'display', 'line_format', 'jq') then
    return logloom_private.query_meant_fields(p_texts[2:], p_plan);
  elsif v_word in ('parse', 'rex', 'regexp', 'pattern') then
    return case
      when v_text ~ '\(\?P?<' then '| extract_regexp ' || replace(v_text, '(?<', '(?P<')
      when v_text like '%*%' and array_position(p_texts, 'as') is not null then (
        -- parse "* *" as method, path
        select '| extract ' || string_agg(t.part || coalesce('<' || p_texts[
          array_position(p_texts, 'as') + 2 * t.n - 1
        ] || '>', ''), '' order by t.n)
        from regexp_split_to_table(v_text, '\*') with ordinality t (part, n)
      )
      else '| extract ' || case when v_text like '%<%>%' then v_text else '"took <ms> ms"' end
    end;
  elsif v_word in ('unpack_json', 'spath') then
    return '| json msg';
  elsif v_word = 'unpack_logfmt' then
    return '| logfmt msg';
  elsif v_word in ('eval', 'extend', 'let', 'compute', 'math', 'fillnull') then
    return logloom_private.query_meant_math(p_texts, v_column);
  elsif v_word in ('rename', 'project-rename', 'label_format') then
    return 'the name that it has: only an aggregate gets another, | count() as n';
  end if;
  return null;
end;
$$;

-- Suggests what to write instead of an unknown stage; null if there is no suggestion. Knows the
-- stages of other languages, aggregates without brackets, and comparisons without "where". p_texts
-- begins with the stage's name.
create function logloom_private.query_meant_stage(p_texts text[], p_plan jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
  -- The width of a bucket in timechart span=5m or bin(5m).
  v_width text := (
    select substring(t from '[1-9].*')
    from unnest(p_texts) t
    where t ~ '^(?:_time:)?[1-9][0-9]{0,4}[smhdw]$'
    limit 1
  );
  v_plain constant text := logloom_private.query_meant_plain_stage(p_texts, p_plan);
  v_keys text[];
  v_kind text;
  v_place integer;
  v_close integer;
  v_name text;
begin
  if v_plain is not null then
    return v_plain;
  end if;

  v_keys := array(
    select logloom_private.query_meant_name(t)
    from unnest(
      p_texts[coalesce(v_by, 1) + 1:coalesce(
        case when p_texts[v_by + 1] = '(' then array_position(p_texts, ')', v_by) end,
        cardinality(p_texts)
      )]
    ) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
      and lower(t collate "C") not in ('by', 'bin', 'span', 'limit', 'as', '_time', 'count', 'time')
      and p_texts[coalesce(v_by, 1) + place::integer + 1] is distinct from '('
    order by place
    limit 2
  );
  if v_word = 'top' then
    return format(
      '| count() as n by %s | sort by n desc | limit %s', coalesce(v_keys[1], 'service'), v_number
    );
  elsif v_word in ('dedup', 'uniq', 'distinct', 'transaction')
    and p_texts[2] is distinct from '('
  then
    return format('| count() by %s: a row for each value', coalesce(v_keys[1], 'service'));
  elsif v_word in ('bin', 'bucket', 'timeslice') then
    return format('| count() by (%s)', coalesce(v_width, '5m'));
  end if;

  v_place := case
    when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then (
      select min(place) from unnest(p_texts) with ordinality u (t, place)
      where place > 1
        and logloom_private.query_meant_aggregate(lower(t collate "C")) is not null
    )
    else 1 end;
  v_kind := coalesce(
    logloom_private.query_meant_aggregate(lower(p_texts[v_place] collate "C")),
    case when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then 'count' end
  );
  if v_kind is null then
    return null;
  elsif lower(p_texts[v_place] collate "C") in ('percentile', 'percentiles', 'quantile', 'pct') then
    -- quantile(0.99, x) and percentile(x, 99)
    v_kind := 'p' || coalesce(
      (
        select trim_scale(case when t::numeric <= 1 then 100 else 1 end * t::numeric)
        from unnest(p_texts) t
        where t ~ '^(?:[1-9][0-9]|0?[.][0-9]{1,3})$'
        limit 1
      ),
      95
    );
  end if;
  if v_by is null then
    v_keys := '{}';
  end if;
  v_width := coalesce('(' || v_width || ')', case v_word when 'timechart' then '(5m)' end);
  -- The name in count() as n, or in count() n of LogsQL
  v_close := case when p_texts[v_place + 1] = '('
    then array_position(p_texts, ')', v_place) else v_place end;
  v_name := case
    when lower(p_texts[v_close + 1] collate "C") = 'as' then p_texts[v_close + 2]
    when v_close > v_place then p_texts[v_close + 1] end;
  v_keys := array_remove(v_width || v_keys, null);
  return '| ' || v_kind || '(' || case
      when v_kind in ('count', 'rate') then ''
      else logloom_private.query_meant_argument(p_texts[v_place + 1:], v_kind) end || ')'
    || case when v_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$'
      and lower(v_name collate "C") not in ('by', 'if', 'where', 'group', 'over', 'limit')
      then ' as ' || v_name else '' end
    || coalesce(' by ' || nullif(array_to_string(v_keys, ', '), ''), '');
end;
$$;

-- Suggests the field of an aggregate. p_texts has the tokens after the aggregate's name and may
-- begin with a fraction.
create function logloom_private.query_meant_argument(p_texts text[], p_kind text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name constant text := (
    select t from unnest(p_texts) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$' and t <> 'by' and place <= 5
    order by place limit 1
  );
begin
  return case
    when v_name is null and p_kind = 'count_distinct' then 'user_id'
    when v_name is null then '@duration_ms'
    when p_kind = 'count_distinct' or left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
      then logloom_private.query_meant_name(v_name)
    when p_kind in ('min', 'max') and logloom_private.query_near_field(v_name) = 'ts' then 'ts'
    else '@' || v_name
  end;
end;
$$;
