-- The generator of tests of attributes and of a record's texts together.

-- Equality with an attribute. Containment finds a scalar, and a scalar that an array holds. A
-- number or boolean has a text too; 5 contains 5.0, so a number's text is compared again.
create function logloom_private.query_attr_equal_sql(p_value text, p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := p_value || ' @> ' || quote_literal(to_jsonb(p_text)::text);
begin
  if p_text in ('true', 'false') then
    v_sql := v_sql || ' or ' || p_value || ' @> ' || quote_literal(p_text);
  elsif p_text ~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$' then
    v_sql := v_sql || ' or (' || p_value || ' @> ' || quote_literal(p_text) || ' and '
      || logloom_private.query_any_text_sql(p_value, array['', ' = ' || quote_literal(p_text)])
      || ')';
  end if;
  return v_sql;
end;
$$;

create function logloom_private.query_attrs_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := '';
  v_number text;
begin
  if p_leaf ->> 'test' = 'exists' then
    return p_value || ' <> ''null''';
  elsif p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
      v_sql := v_sql || case when v_at > 0 then ' or ' else '' end
        || logloom_private.query_attr_equal_sql(p_value, p_leaf -> 'values' ->> v_at);
    end loop;
    return v_sql;
  elsif p_leaf ->> 'test' = 'range' and p_leaf ? 'unit' then
    return logloom_private.query_bounds_sql(
      p_leaf,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_leaf ->> 'unit') || ')',
      '::numeric'
    );
  elsif p_leaf ->> 'test' = 'range' then
    -- jsonb orders types before values, so the type comes first.
    v_number := 'logloom_private.written_number(' || p_value || ' #>> ''{}'')';
    return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
      || coalesce(logloom_private.query_bounds_sql(p_leaf, p_value), 'true')
      || ' when ''string'' then '
      || coalesce(
        logloom_private.query_bounds_sql(p_leaf, v_number, '::numeric'), v_number || ' is not null'
      )
      || ' end';
  end if;
  return logloom_private.query_any_text_sql(
    p_value, logloom_private.query_text_test(p_leaf)
  );
end;
$$;

-- A test of any text of a record. Most records do not hold the text that is looked for: one LIKE
-- over all of a record's texts at once says so, and only where it finds something each is tested.
create function logloom_private.query_any_sql(p_leaf jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text;
  v_tests text;
  v_test text := p_leaf ->> 'test';
  v_sql text;
  v_likely text;
begin
  select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n) into v_columns
  from unnest(logloom_private.query_text_columns()) with ordinality c (name, n);
  if v_test in ('equal', 'regex') and (p_leaf -> 'fold')::boolean then
    v_test := 'folded ' || v_test;
  end if;
  v_tests := case when v_test = 'word' then p_leaf ->> 'regex' else p_leaf ->> 'pattern' end;
  v_sql := format(
    'logloom_private.record_holds(array[%s], %I.attrs, %L, array[%s])',
    v_columns, p_alias, v_test,
    coalesce(quote_literal(v_tests), logloom_private.query_texts_sql(p_leaf -> 'values'))
  );
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  select string_agg(quote_literal(logloom_private.query_like_record(p.pattern)), ', ')
  into v_likely
  from (
    select p_leaf ->> 'pattern' as pattern
    where p_leaf ? 'pattern'
    union all
    select logloom_private.query_like_text(lower(v collate pg_c_utf8))
    from jsonb_array_elements_text(p_leaf -> 'values') v
  ) p;
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %I.attrs::text) collate "C") like ',
    v_columns, p_alias
  )
    || case when jsonb_array_length(p_leaf -> 'values') > 1
      then 'any (array[' || v_likely || '])' else v_likely end
    || ' then ' || v_sql || ' else false end';
end;
$$;
