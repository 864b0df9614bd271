-- The tests, each in a file of its name in query/tests.

-- A test of a text: a value is put between the two parts. They are joined, never substituted into,
-- because they hold quoted texts of the caller.
create function logloom_private.query_text_test(p_leaf jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_parts constant text[] := case p_leaf ->> 'test'
    when 'equal' then logloom_private.equal_test(v_values)
    when 'like' then logloom_private.like_test(v_values)
    when 'contains' then logloom_private.contains_test(v_values)
    when 'word' then logloom_private.word_test(v_values)
    when 'regex' then logloom_private.regex_test(v_values)
    when 'network' then logloom_private.network_test(v_values)
  end;
begin
  return case when (p_leaf -> 'folds_case')::boolean
    then array[v_parts[1] || 'lower(', ' collate pg_c_utf8)' || v_parts[2]] else v_parts end;
end;
$$;

-- A test of the text that a value is or, of an attribute, of the text of any scalar in it.
create function logloom_private.query_text_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test constant text[] := logloom_private.query_text_test(p_leaf);
begin
  return case p_leaf ->> 'field'
    when 'attrs' then logloom_private.query_any_text_sql(p_value, v_test)
    else v_test[1] || p_value || v_test[2]
  end;
end;
$$;

-- A leaf over its value, a column or the JSON value of an attribute.
create function logloom_private.query_test_sql(p_leaf jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_leaf ->> 'test'
    when 'exists' then logloom_private.exists_sql(p_leaf, p_value)
    when 'within' then logloom_private.within_sql(p_leaf, p_value, p_now_sql)
    when 'range' then logloom_private.range_sql(p_leaf, p_value)
    when 'equal' then logloom_private.equal_sql(p_leaf, p_value)
    when 'word' then logloom_private.word_sql(p_leaf, p_value)
    else logloom_private.query_text_sql(p_leaf, p_value)
  end;
end;
$$;

-- Quoted texts, a comma between them.
create function logloom_private.query_texts_sql(p_values jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(quote_literal(v.text), ', ' order by v.n)
    from jsonb_array_elements_text(p_values) with ordinality v (text, n)
  );
end;
$$;

-- A test of the text of a JSON scalar, or of any scalar in an array.
create function logloom_private.query_any_text_sql(p_value text, p_test text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'case jsonb_typeof(' || p_value || ')'
    || ' when ''object'' then false when ''null'' then false'
    || ' when ''array'' then exists (select from jsonb_array_elements(' || p_value || ') as e (v)'
    || ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '
    || p_test[1] || '(e.v #>> ''{}'')' || p_test[2] || ') else '
    || p_test[1] || '(' || p_value || ' #>> ''{}'')' || p_test[2] || ' end';
end;
$$;

-- A leaf over any text of a record: its text columns and the scalars of its attributes. Most
-- records do not hold the text that is looked for: one LIKE over all of a record's texts at once
-- says so, and only where it finds something each is tested.
create function logloom_private.query_any_sql(p_leaf jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test constant text[] := logloom_private.query_text_test(p_leaf);
  v_columns text;
  v_sql text;
  v_likely text[];
begin
  select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n) into v_columns
  from unnest(logloom_private.query_text_columns()) with ordinality c (name, n);
  v_sql := format(
    'exists (select from unnest(array[%s] || array(select a.value #>> ''{}'' '
      || 'from jsonb_path_query(%I.attrs, ''strict $.**'') a (value) '
      || 'where jsonb_typeof(a.value) in (''string'', ''number'', ''boolean''))) t (text) where ',
    v_columns, p_alias
  ) || v_test[1] || 't.text' || v_test[2] || ')';
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  -- LIKE patterns over folded text; those of contains and word have one.
  v_likely := array(
    select logloom_private.query_like_record(
      case p_leaf ->> 'test'
        when 'equal' then logloom_private.query_like_text(lower(v.text collate pg_c_utf8))
        else v.text
      end
    )
    from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    where p_leaf ->> 'test' = 'equal' or v.n = 1
    order by v.n
  );
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %I.attrs::text) collate "C") like ',
    v_columns, p_alias
  )
    || case cardinality(v_likely) when 1 then quote_literal(v_likely[1])
      else 'any (' || quote_literal(v_likely) || '::text[])' end
    || ' then ' || v_sql || ' else false end';
end;
$$;
