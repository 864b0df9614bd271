-- Builds SQL for tests. Longer tests have a file of their own in query/tests.

-- Returns a text folded for comparisons that ignore case. Both small forms of sigma become the
-- same.
create function logloom_private.folded_text(p_text text)
returns text
language sql
immutable
parallel safe
return replace(lower(p_text collate pg_c_utf8), 'ς', 'σ');

-- Builds SQL for a test of a text. p_value is the SQL of the text. Sigmas are only replaced if
-- p_leaf has one.
create function logloom_private.query_text_test(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_value constant text := case when (p_leaf -> 'folds_case')::boolean
    then format(
      case when strpos(v_values::text, 'σ') > 0
        then 'replace(lower(%s collate pg_c_utf8), ''ς'', ''σ'')'
        else 'lower(%s collate pg_c_utf8)' end,
      p_value
    ) else p_value end;
begin
  return case p_leaf ->> 'test'
    when 'equal' then v_value || logloom_private.equal_test(v_values)
    when 'like' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'contains' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'word' then v_value || ' ~ ' || quote_literal(v_values ->> 1)
    when 'regex' then v_value || ' collate "C" ~ ' || quote_literal(v_values ->> 0)
    when 'network' then
      'logloom_private.address_in(' || v_value || ', ' || quote_literal(v_values ->> 0) || '::inet)'
  end;
end;
$$;

-- Builds SQL for a test of a JSON scalar's text, or of each scalar in an array.
create function logloom_private.query_any_text_sql(p_leaf jsonb, p_value text)
returns text
language sql
immutable
return 'case jsonb_typeof(' || p_value || ')'
  || ' when ''object'' then false when ''null'' then false'
  || ' when ''array'' then exists (select from jsonb_array_elements(' || p_value || ') as e (v)'
  || ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '
  || logloom_private.query_text_test(p_leaf, '(e.v #>> ''{}'')') || ') else '
  || logloom_private.query_text_test(p_leaf, '(' || p_value || ' #>> ''{}'')') || ' end';

-- Builds SQL for a leaf. p_value is a column or the JSON value of an attribute.
create function logloom_private.query_test_sql(p_leaf jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_sql text;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || case when v_is_attribute then ' <> ''null''' else ' is not null' end;
    when 'within' then
      return logloom_private.within_sql(p_leaf -> 'bounds', p_value, p_now_sql);
    when 'range' then
      return logloom_private.range_sql(p_leaf -> 'bounds', p_value, v_is_attribute);
    when 'equal' then
      if v_is_attribute and not (p_leaf -> 'folds_case')::boolean then
        return logloom_private.attr_equal_sql(p_leaf -> 'values', p_value);
      end if;
    else
  end case;
  if v_is_attribute then
    return logloom_private.query_any_text_sql(p_leaf, p_value);
  end if;
  v_sql := logloom_private.query_text_test(p_leaf, p_value);
  return case
    -- LIKE rejects most texts faster than the regex.
    when p_leaf ->> 'test' = 'word' then
      logloom_private.query_text_test(p_leaf || '{"test": "like"}', p_value) || ' and ' || v_sql
    when p_leaf ->> 'test' = 'equal' and p_leaf ->> 'field' = 'req_id'
      and not (p_leaf -> 'folds_case')::boolean
    then logloom_private.req_id_equal_sql(p_leaf -> 'values', p_value, v_sql)
    else v_sql
  end;
end;
$$;

-- Builds SQL for a leaf over any text of a record: text columns and the scalars of attributes. One
-- LIKE over all texts at once rejects most records; only the others are tested text by text. If
-- attributes are hidden, the LIKE still reads them. Matching records are tested again without the
-- hidden attributes.
create function logloom_private.query_any_sql(p_leaf jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hidden constant text[] := array(select jsonb_array_elements_text(p_leaf -> 'hidden'));
  v_paths constant text[] := logloom_private.hidden_paths(v_hidden);
  v_attrs constant text := case when 'attrs' = any(v_hidden) then 'null::jsonb'
    else format('%I.attrs', p_alias) end;
  v_columns constant text := coalesce(
    (
      select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n)
      from unnest(logloom_private.query_text_columns()) with ordinality c (name, n)
      where c.name <> all(v_hidden)
    ),
    'null::text'
  );
  v_test constant text := logloom_private.query_text_test(p_leaf, 't.text');
  v_scalars constant text := 'array(select a.value #>> ''{}'' '
    || 'from jsonb_path_query(%s, ''strict $.**'') a (value) '
    || 'where jsonb_typeof(a.value) in (''string'', ''number'', ''boolean''))';
  v_sql text := format(
    'exists (select from unnest(array[%s] || ' || v_scalars || ') t (text) where %s)',
    v_columns, v_attrs, v_test
  );
  v_likely text[];
begin
  if v_paths <> '{}' then
    v_sql := format(
      '(exists (select from unnest(array[%s]) t (text) where %s) or %s exists ('
        || 'select from unnest(' || v_scalars || ') t (text) where %2$s))',
      v_columns, v_test,
      -- A regex has no LIKE that could reject records first.
      case when p_leaf ->> 'test' = 'regex' then v_sql || ' and' else '' end,
      logloom_private.masked_attrs_sql(v_attrs, v_paths)
    );
  end if;
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  -- For every test but equal, the first value is a LIKE pattern that every match passes.
  v_likely := array(
    select logloom_private.query_like_record(logloom_private.folded_text(
      case p_leaf ->> 'test' when 'equal' then logloom_private.query_like_text(v.text)
        else v.text end
    ))
    from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    where p_leaf ->> 'test' = 'equal' or v.n = 1
    order by v.n
  );
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %s::text) collate "C") like ', v_columns, v_attrs
  )
    || case cardinality(v_likely) when 1 then quote_literal(v_likely[1])
      else 'any (' || quote_literal(v_likely) || '::text[])' end
    || ' then ' || v_sql || ' else false end';
end;
$$;
