-- Suggests a query for a LogQL selector such as {app="api"}, with its { at p_at, and for the
-- function around it; or null.
create function logloom_private.query_meant_selector(p_texts text[], p_at integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end constant integer := array_position(p_texts, '}', p_at);
  v_meant constant text := (
    select string_agg(
      logloom_private.query_meant_comparison(
        ltrim(p_texts[n], ',') || logloom_private.query_text(p_texts[n + 1])
      ),
      ' ' order by n
    )
    from generate_series(p_at + 1, v_end - 2) n
    where p_texts[n] ~ '[=~]$'
  ) || case when p_texts[v_end + 1:v_end + 2] = '{|,=}' and p_texts[v_end + 3] like '"%'
    then ' ' || p_texts[v_end + 3] else '' end;
  v_aggregate constant text := case p_texts[p_at - 2]
    when 'rate' then ' | rate()' when 'count_over_time' then ' | count()' end;
begin
  if p_texts[p_at - 1] is distinct from '(' or v_aggregate is null then
    return v_meant;
  end if;
  -- rate() is per minute without a width, too.
  return v_meant || v_aggregate || coalesce(
    ' by ' || nullif(
      concat_ws(
        ', ',
        (
          select '(' || p_texts[n + 1] || ')' from generate_series(v_end, cardinality(p_texts)) n
          where p_texts[n] = '[' and p_texts[n + 1] ~ '^[1-9][0-9]{0,4}[smhdw]$'
            and v_aggregate <> ' | rate()'
          limit 1
        ),
        case when p_texts[2:3] = '{by,(}' then logloom_private.query_meant_name(p_texts[4]) end
      ),
      ''
    ),
    ''
  );
end;
$$;

-- Suggests a query for a SELECT of SQL or NRQL. An empty text if nothing in it has a meaning here.
create function logloom_private.query_meant_select(p_texts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text[] := lower(p_texts::text collate "C")::text[];
  v_from constant integer := coalesce(array_position(v_words, 'from'), cardinality(p_texts));
  v_where constant integer := array_position(v_words, 'where');
  -- The first word after the conditions
  v_end constant integer := coalesce(
    (
      select min(n) from generate_subscripts(v_words, 1) n
      where n > coalesce(v_where, v_from) and v_words[n]
        in ('group', 'having', 'order', 'limit', 'facet', 'since', 'until', 'timeseries', '')
    ),
    cardinality(p_texts) + 1
  );
  v_terms constant text[] := array(
    select m.meant
    from generate_series(v_where + 1, v_end - 1) n
    cross join lateral (
      select coalesce(
        logloom_private.query_meant_words(p_texts, n),
        logloom_private.query_meant_comparison(p_texts[n])
      ) as meant
    ) m
    where m.meant is not null
    order by n
  );
  v_aggregate constant text := (
    select logloom_private.query_meant_stage(
      string_to_array(replace(array_to_string(p_texts[n:v_from - 1], e'\n'), ',', ''), e'\n'), '{}'
    )
    from generate_series(2, v_from - 2) n
    where logloom_private.query_meant_aggregate(v_words[n]) is not null and p_texts[n + 1] = '('
    order by n
    limit 1
  );
  v_key constant text := rtrim(coalesce(
    p_texts[array_position(v_words, 'facet') + 1], p_texts[array_position(v_words, 'group') + 2]
  ), ',');
  v_group constant text :=
    case when v_key <> '' then logloom_private.query_meant_name(v_key) end;
  v_order constant integer := array_position(v_words, 'order');
  v_descending constant text := case when 'desc' = any(v_words) then ' desc' else '' end;
begin
  return concat_ws(
    ' ',
    nullif(
      array_to_string(
        v_terms, case when 'or' = any(v_words[v_where:v_end]) then ' OR ' else ' ' end
      ),
      ''
    ),
    (
      select t.meant
      from generate_series(v_end, cardinality(p_texts)) n
      cross join lateral (select logloom_private.query_meant_time(p_texts, n) as meant) t
      where t.meant is not null
      limit 1
    ),
    v_aggregate || case when v_order is null then '' else ' as n' end || coalesce(
      ' by ' || nullif(
        concat_ws(
          ', ', case when 'timeseries' = any(v_words) then '(5m)' end,
          v_group
        ),
        ''
      ),
      ''
    ),
    case
      when v_aggregate is not null and p_texts[v_order + 2] = v_key
        then '| sort by ' || v_group || v_descending
      when v_aggregate is not null and v_order is not null then '| sort by n' || v_descending
      when v_order is not null then '| sort by ts' || v_descending
    end,
    '| limit ' || substring(
      p_texts[array_position(v_words, 'limit') + 1] from '^[1-9][0-9]{0,5}$'
    )
  );
end;
$$;

-- Suggests what to write for the first word of a query of another language, or null.
create function logloom_private.query_meant_start(p_texts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words constant text[] := lower(p_texts::text collate "C")::text[];
begin
  if v_words[1] = 'select'
    and (v_words[2] ~ '^[0-9(]' or v_words && array['from', '*', 'where'])
  then
    return coalesce(
      nullif(logloom_private.query_meant_select(p_texts), ''), 'service:api level:error'
    );
  elsif v_words[1] in ('where', 'grep') and logloom_private.query_is_term(p_texts[2]) then
    return coalesce(
      logloom_private.query_meant_words(p_texts, 2),
      (
        select t from unnest(p_texts[2:4]) t
        where logloom_private.query_is_term(t) and t !~ '^-' limit 1
      )
    );
  elsif v_words[1] in ('fields', 'filter', 'parse', 'stats', 'display') and p_texts[2] like '@%'
  then
    return logloom_private.query_meant_stage(
      case v_words[1] when 'fields' then 'table' else v_words[1] end || array(
        select rtrim(t, ',') from unnest(p_texts[2:8]) with ordinality u (t, n)
        where u.n < coalesce(array_position(p_texts, '|'), 8) order by n
      ),
      '{}'
    );
  end if;
  return null;
end;
$$;
