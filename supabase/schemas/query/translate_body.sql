-- Writes a JSON body of Elasticsearch as one line, to be translated like any other query.

-- Returns the query of a body as terms. An unknown kind of query becomes a call of a function, so
-- that the translation lists it as left out.
create function logloom_private.body_terms(p_node jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind constant text := (select k from jsonb_object_keys(p_node) k limit 1);
  v_inner constant jsonb := p_node -> v_kind;
  v_field text;
  v_value jsonb;
  v_text text;
begin
  if jsonb_typeof(v_inner) <> 'object' then
    -- {"service": "web", "level": "error"}
    return (select string_agg(e.key || ':' || e.value, ' ') from jsonb_each(p_node) e);
  elsif v_kind = 'bool' then
    return (
      select string_agg(
        case k.key when 'must_not' then 'NOT (' || t.terms || ')' else '(' || t.terms || ')' end,
        ' ' order by k.key
      )
      from jsonb_each(v_inner) k
      cross join lateral (
        select string_agg(
          logloom_private.body_terms(n),
          case when k.key in ('should', 'must_not') then ' OR ' else ' ' end
        ) as terms
        from jsonb_path_query(k.value, '$[*]') n where jsonb_typeof(n) = 'object'
      ) t
    );
  elsif v_kind = 'match_all' then
    return '*';
  elsif v_kind in ('constant_score', 'nested') then
    return logloom_private.body_terms(coalesce(v_inner -> 'filter', v_inner -> 'query'));
  elsif v_kind in ('query_string', 'simple_query_string') then
    return '(' || (v_inner ->> 'query') || ')';
  elsif v_kind = 'multi_match' then
    return 'any:' || (v_inner -> 'query')::text;
  elsif v_kind = 'exists' then
    return (v_inner ->> 'field') || ':*';
  end if;
  select e.key, e.value into v_field, v_value
  from jsonb_each(v_inner) e where e.key <> 'boost' limit 1;
  v_text := coalesce(v_value ->> 'value', v_value ->> 'query', v_value #>> '{}');
  return case
    when v_kind ~ '^(?:match|match_phrase|match_phrase_prefix|term)$'
      then v_field || ':' || to_jsonb(v_text)
    when v_kind = 'terms' then v_field || ':(' || (
      select string_agg(to_jsonb(t)::text, ' OR ') from jsonb_array_elements_text(v_value) t
    ) || ')'
    when v_kind = 'range' then (
      select string_agg(v_field || ' ' || o.sign || ' ' || b.value, ' AND ')
      from jsonb_each_text(v_value) b
      join (values ('gt', '>'), ('gte', '>='), ('lt', '<'), ('lte', '<='), ('from', '>='))
        o (name, sign) on o.name = b.key
    )
    when v_kind in ('prefix', 'wildcard')
      then v_field || ':' || v_text || case v_kind when 'prefix' then '*' else '' end
    when v_kind = 'regexp' then v_field || ':/' || v_text || '/'
    else v_kind || '(' || translate(v_inner::text, '{}[]:', '  ') || ')' end;
end;
$$;

-- Returns a body as one line, with stages after bars. An unknown member becomes a stage.
create function logloom_private.body_line(p_body jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggs constant text := coalesce(p_body -> 'aggs', p_body -> 'aggregations')::text;
  v_width constant text := substring(v_aggs from '"\w*interval": "(\w+)"');
begin
  if not p_body ?| '{query,aggs,aggregations,sort,size,_source}' then
    return logloom_private.body_terms(p_body);
  end if;
  return concat_ws(
    ' ', logloom_private.body_terms(p_body -> 'query'),
    case when v_aggs is not null then '| stats ' end || (
      select coalesce(
        string_agg(format('%s(%s)', m[1], concat_ws(', ', m[2], m[3])), ', '), 'count()'
      )
      from regexp_matches(
        v_aggs, '"(\w+)": \{"field": "([^"]+)"(?:, "percents": \[([^]]*)\])?', 'g'
      ) m
      where m[1] not in ('terms', 'date_histogram')
    ) || coalesce(' by bin(' || v_width || ')', '') || (
      select coalesce(string_agg(' by ' || m[1], ''), '')
      from regexp_matches(v_aggs, '"terms": \{[^}]*"field": "([^"]+)"', 'g') m
    ),
    (
      select '| sort by ' || string_agg(concat_ws(' ', e.key, coalesce(
        e.value ->> 'order', e.value #>> '{}'
      )), ', ')
      from jsonb_path_query(p_body, '$.sort[*]') s
      cross join lateral jsonb_each(
        case jsonb_typeof(s) when 'object' then s else jsonb_build_object(s #>> '{}', 'asc') end
      ) e
    ),
    '| limit ' || nullif(p_body ->> 'size', '0'),
    '| fields ' || (
      select string_agg(f #>> '{}', ', ') from jsonb_path_query(p_body, '$._source[*]') f
    ),
    (
      select string_agg('| ' || e.key || ' ' || translate(e.value::text, '{}[]', ''), ' ')
      from jsonb_each(p_body) e
      where e.key not in ('query', 'aggs', 'aggregations', 'sort', 'size', '_source')
    )
  );
end;
$$;
