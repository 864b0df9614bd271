-- Hints for a query that found nothing. Finding hints means reading records, so only an empty
-- answer has hints. The functions read the records of the scope in the last day of the range.

-- Returns hints about attributes that no event has. p_written: the query as it was written.
-- p_query: the query with the corrections so far.
create function logloom_private.hints_of_names(
  p_scope logloom_private.reading_scope,
  p_scoped logloom_private.compiled_query,
  p_written text,
  p_query text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parsed constant logloom_private.compiled_query := logloom_private.parse_query(p_query);
  v_nodes constant jsonb := jsonb_build_array(v_parsed.tree, v_parsed.plan);
  v_query text := p_query;
  v_rest logloom_private.compiled_query := p_scoped;
  v_sampled logloom_private.compiled_query;
  v_names text[];
  v_near text;
  v_hints jsonb := '[]';
  v_item record;
begin
  if not jsonb_path_exists(v_nodes, 'strict $.** ? (@.field == "attrs")') then
    return '[]';
  end if;
  -- Takes attributes from records that the filter's other terms find, or else from any record.
  v_rest.tree := jsonb_build_object('type', 'and', 'items', jsonb_path_query_array(
    case v_parsed.tree ->> 'type' when 'and' then v_parsed.tree -> 'items'
      else jsonb_build_array(v_parsed.tree) end,
    'strict $[*] ? (!exists(@.** ? (@.field == $left[*])))',
    jsonb_build_object('left', '{attrs,msg,any}'::text[] || p_scope.hidden_fields)
  ) || p_scoped.tree);
  v_rest.filter := logloom_private.query_sql(v_rest.tree, 'l');
  foreach v_sampled in array array[v_rest, p_scoped] loop
    execute format(
      'select array(select replace(substr(f.field, 7), %L, %L) from (%s) '
        || 'f (field, type, count, "values", exact, records) where f.field like %L)',
      '"', '', logloom_private.log_fields_sql(
        logloom_private.newest_sample_sql(p_scope.tenant_id, v_sampled, 1000), false
      ), 'attrs.%'
    )
    into v_names
    using null::text;
    exit when cardinality(v_names) > 0;
  end loop;
  for v_item in
    select distinct f ->> 'name' as written, array_to_string(
      array(select jsonb_array_elements_text(f -> 'path')), '.'
    ) as path
    from jsonb_path_query(v_nodes, 'strict $.** ? (@.field == "attrs")') f
    limit 5
  loop
    v_near := coalesce(
      '@' || logloom_private.near_text(v_item.path, v_names),
      substring(
        logloom_private.translated_name(regexp_replace(v_item.path, '^(?:event|log)\.', ''))
        from '^[^@].*'
      )
    );
    v_near := case when v_near like '@%'
      or logloom_private.is_hidden(v_near, p_scope.hidden_fields) is not true then v_near end;
    continue when cardinality(v_names) = 0
      or exists (
        select from unnest(v_names) n
        where n = v_item.path or starts_with(n, v_item.path || '.')
      )
      -- A stage may extract this attribute from a text.
      or v_near is null and jsonb_path_exists(
        v_parsed.plan, 'strict $.rows[*] ? (@.stage != "where")', silent => true
      );
    if v_near is not null then
      v_query := regexp_replace(
        v_query,
        '(?<![[:alnum:]_.@])' || regexp_replace(v_item.written, '([^[:alnum:]_ ])', '\\\1', 'g')
          || '(?![[:alnum:]_.-])', v_near, 'g'
      );
    end if;
    v_hints := v_hints || logloom_private.hint_at(
      p_written, v_item.written, case
        when v_near is null then format(
          'None of the newest events has %s. They have %s; the fields are %s', v_item.written,
          array_to_string(array(select '@' || n from unnest(v_names) n limit 10), ', '),
          array_to_string(logloom_private.query_field_names(), ', ')
        )
        when v_near like '@%'
          then format('No event has %s: did you mean %s?', v_item.written, v_near)
        else format(
          '%s is an attribute, and no event has it: %s is a field', v_item.written, v_near
        ) end,
      case when v_near is not null then v_query else '' end
    );
  end loop;
  return v_hints;
end;
$$;

create function logloom_private.hints_of_values(
  p_scope logloom_private.reading_scope,
  p_scoped logloom_private.compiled_query,
  p_written text,
  p_query text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parsed constant logloom_private.compiled_query := logloom_private.parse_query(p_query);
  v_started constant timestamptz := clock_timestamp();
  v_query text := p_query;
  v_part text;
  v_source text;
  v_services text[];
  v_hint text[];
  v_hints jsonb := '[]';
  v_item record;
begin
  for v_item in
    -- Skips terms below NOT: with a wrong value, such a term finds more records, not fewer.
    with recursive nodes (node) as (
      select v_parsed.tree
      union all
      select r -> 'tree' from jsonb_array_elements(v_parsed.plan -> 'rows') r
      union all
      select jsonb_array_elements(n.node -> 'items') from nodes n where n.node ? 'items'
    )
    select n.node, n.node ->> 'name' as name, n.node ->> 'test' = 'contains' as is_word,
      btrim(v.value, case when n.node ->> 'test' = 'contains' then '%' else '' end) as value
    from nodes n
    left join lateral jsonb_array_elements_text(n.node -> 'values') v (value) on true
    where n.node ->> 'test' = 'range' and n.node ->> 'field' = 'attrs'
      or n.node ->> 'test' = 'equal'
        and n.node ->> 'field' in ('attrs', 'service', 'env', 'host', 'route', 'user_id', 'req_id')
      or n.node ->> 'test' = 'contains' and n.node ->> 'field' = 'msg'
        and v.value ~ '^%[A-Za-z]{5,30}%$'
    order by n.node ->> 'field' <> 'service'
    limit 5
  loop
    exit when clock_timestamp() > v_started + interval '1 second';
    if v_item.node ->> 'field' = 'service' then
      v_services := logloom_private.counted_services(p_scope.tenant_id, p_scoped);
      continue when v_services is null;
      v_source := format('from unnest(%L::text[]) l (service)', v_services);
    else
      v_source := logloom_private.source_sql(logloom_private.first_records_sql(
        p_scope.tenant_id, p_scoped, 1000, 'desc',
        p_reads => logloom_private.query_reads(v_item.node)
      ));
    end if;
    v_hint := case when v_item.is_word then logloom_private.word_hint(v_item.value, v_source)
      else logloom_private.value_hint(v_item.node, v_item.value, v_source) end;
    continue when v_hint[2] is null;
    v_query := case
      when v_hint[2] = '' then v_query
      when v_item.is_word
        then regexp_replace(v_query, '\m' || v_item.value || '\M', v_hint[2], 'i')
      else logloom_private.with_term(v_query, v_item.name, v_item.value, v_hint[2]) end;
    v_part := case when v_item.is_word or strpos(p_written, v_item.name || ':(') > 0
      then v_item.value else v_item.name end;
    v_hints := v_hints || logloom_private.hint_at(
      p_written, v_part, v_hint[1], case when v_hint[2] <> '' then v_query else '' end
    );
  end loop;
  return v_hints;
end;
$$;

-- Returns the query with the corrections so far.
create function logloom_private.mended_query(p_written text, p_hints jsonb)
returns text
language sql
immutable
return coalesce(
  jsonb_path_query_array(p_hints, '$[*].suggestion ? (@ != "")') ->> -1, p_written
);

-- Returns the hints for a query that found nothing in p_range, as warnings. A suggestion is the
-- whole query. It is empty if the hint only says what there is.
create function logloom_private.hints_for_nothing(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_range tstzrange
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query text;
  v_parsed constant logloom_private.compiled_query := logloom_private.parse_query(p_query_dsl);
  v_scoped constant logloom_private.compiled_query := logloom_private.bound_query(
    p_scope.tenant_id, logloom_private.query_of_scope(p_scope),
    p_range * tstzrange(upper(p_range) - interval '1 day', null)
  );
  v_meant text[];
  v_minute text;
  v_hints jsonb := '[]';
begin
  -- A slow answer must not time out because of its hints.
  if clock_timestamp() > statement_timestamp() + interval '5 seconds'
    or v_parsed.warnings <> '[]'
  then
    return '[]';
  end if;
  v_meant := logloom_private.translated_query(p_query_dsl);
  if v_meant[1] <> ''
    and not logloom_private.same_query(v_parsed, logloom_private.parse_query(v_meant[1]))
  then
    v_hints := logloom_private.hint_at(
      p_query_dsl, '',
      logloom_private.translation_note(v_meant, 'This is written as in another language'),
      v_meant[1]
    );
  end if;
  v_query := logloom_private.mended_query(p_query_dsl, v_hints);
  v_hints := v_hints || logloom_private.hints_of_names(p_scope, v_scoped, p_query_dsl, v_query);
  v_query := logloom_private.mended_query(p_query_dsl, v_hints);
  if logloom_private.query_verdict(v_query) -> 'valid' = 'true' then
    v_hints := v_hints || logloom_private.hints_of_values(p_scope, v_scoped, p_query_dsl, v_query);
    v_query := logloom_private.mended_query(p_query_dsl, v_hints);
  end if;

  v_minute := regexp_replace(
    v_query, '\mts:([0-9-]{10}T[0-9]{2}:[0-9]{2})(?::00)?Z?(?![^ )])', 'ts:[\1:00Z TO \1:59.999Z]'
  );
  if v_minute <> v_query then
    v_query := v_minute;
    v_hints := v_hints || logloom_private.hint_at(
      p_query_dsl, 'ts:', 'This time is an instant, not a minute', v_query
    );
  end if;

  -- All hints suggest the same query, with all corrections.
  return (
    select coalesce(jsonb_agg(
      case w ->> 'suggestion' when '' then w else w || jsonb_build_object(
        'message', (w ->> 'message') || case when w ->> 'message' like '%?' then '' else '.' end
          || ' Replace the whole query',
        'suggestion', v_query
      ) end order by w ->> 'suggestion' = '', n
    ), '[]')
    from jsonb_array_elements(v_hints) with ordinality u (w, n)
  );
end;
$$;

-- Returns a hint as a warning. p_part: the part of the query that the hint is about.
create function logloom_private.hint_at(
  p_query_dsl text,
  p_part text,
  p_message text,
  p_suggestion text
)
returns jsonb
language sql
stable
return jsonb_build_array(jsonb_build_object(
  'position', greatest(strpos(p_query_dsl, p_part), 1), 'message', p_message,
  'suggestion', p_suggestion
));
