-- The generator: a tree as a boolean expression of SQL over an alias.

-- A column, or the JSON value of an attribute. Steps are -> with a text: #> would take a digit as
-- an index into an array. JSON null is no value, so the joined key is tried there too.
create function logloom_private.query_value_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias);
  for v_at in 0 .. jsonb_array_length(p_field -> 'path') - 1 loop
    v_sql := v_sql || ' -> ' || quote_literal(p_field -> 'path' ->> v_at);
  end loop;
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$$;

-- The bounds that a range has, or null. p_type is what a bound is cast to.
create function logloom_private.query_bounds_sql(p_leaf jsonb, p_value text, p_type text default '')
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(concat_ws(
    ' and ',
    p_value || case when (p_leaf -> 'lower_open')::boolean then ' > ' else ' >= ' end
      || quote_literal(p_leaf ->> 'lower') || p_type,
    p_value || case when (p_leaf -> 'upper_open')::boolean then ' < ' else ' <= ' end
      || quote_literal(p_leaf ->> 'upper') || p_type
  ), '');
end;
$$;

-- The text in the letter case that folded comparisons use: one character to one character.
create function logloom_private.query_fold_sql(p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'lower(' || p_value || ' collate pg_c_utf8)';
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

-- A test of a text: a value is put between the two parts. They are joined, never substituted into,
-- because they hold quoted texts of the caller.
create function logloom_private.query_text_test(p_leaf jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fold constant boolean := coalesce((p_leaf -> 'fold')::boolean, false)
    or p_leaf ->> 'test' in ('contains', 'word');
  v_parts text[];
begin
  v_parts := case p_leaf ->> 'test'
    when 'equal' then array['', case jsonb_array_length(p_leaf -> 'values')
      when 1 then ' = ' || quote_literal(p_leaf -> 'values' ->> 0)
      else ' in (' || logloom_private.query_texts_sql(p_leaf -> 'values') || ')'
    end]
    when 'like' then array['', ' like ' || quote_literal(p_leaf ->> 'pattern')]
    when 'contains' then array['', ' like ' || quote_literal(p_leaf ->> 'pattern')]
    when 'word' then array['', ' ~ ' || quote_literal(p_leaf ->> 'regex')]
    when 'regex' then array['', ' collate "C" ~ ' || quote_literal(p_leaf ->> 'pattern')]
    when 'network' then array[
      'logloom_private.address_in(', ', ' || quote_literal(p_leaf ->> 'network') || '::inet)'
    ]
  end;
  if v_fold then
    v_parts := array[v_parts[1] || 'lower(', ' collate pg_c_utf8)' || v_parts[2]];
  end if;
  return v_parts;
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

-- A bound of time: a constant, or so far from p_now_sql where it moves with now.
create function logloom_private.query_instant_sql(
  p_instant text,
  p_shift bigint,
  p_now_sql text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_shift is not null and p_now_sql is not null then
    return '(' || p_now_sql || format(' + interval ''%s microseconds'')', p_shift);
  end if;
  return quote_literal(p_instant) || '::timestamptz';
end;
$$;

create function logloom_private.query_column_sql(p_leaf jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test text[];
  v_keys jsonb;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || ' is not null';
    when 'within' then
      return coalesce(
        nullif(concat_ws(
          ' and ',
          p_value || ' >= ' || logloom_private.query_instant_sql(
            p_leaf ->> 'from', (p_leaf -> 'from_shift')::bigint, p_now_sql
          ),
          p_value || ' < ' || logloom_private.query_instant_sql(
            p_leaf ->> 'to', (p_leaf -> 'to_shift')::bigint, p_now_sql
          )
        ), ''),
        p_value || ' is not null'
      );
    when 'range' then
      return coalesce(
        logloom_private.query_bounds_sql(p_leaf, p_value || ' collate "C"'),
        p_value || ' is not null'
      );
    else
  end case;

  v_test := logloom_private.query_text_test(p_leaf);
  -- The index of req_id holds its beginning: a whole one may be too long for an index.
  if p_leaf ->> 'field' = 'req_id' and p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    select jsonb_agg(left(v, 200)) into v_keys from jsonb_array_elements_text(p_leaf -> 'values') v;
    return '(left(' || p_value || ', 200) in (' || logloom_private.query_texts_sql(v_keys)
      || ') and ' || p_value || v_test[2] || ')';
  elsif p_leaf ->> 'test' = 'word' then
    -- LIKE tells quicker where the text is not there at all.
    return logloom_private.query_fold_sql(p_value) || ' like '
      || quote_literal(p_leaf ->> 'pattern') || ' and ' || v_test[1] || p_value || v_test[2];
  end if;
  return v_test[1] || p_value || v_test[2];
end;
$$;

-- A tree as a boolean expression over an alias. It may be null where a field is absent; a NOT
-- turns that into true, so that it matches records that lack the field. With p_now_sql, an SQL
-- expression, what moves with now is computed from it; otherwise from the instant of compiling.
create function logloom_private.query_sql(
  p_node jsonb,
  p_alias text,
  p_now_sql text default null
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_sql text := '';
begin
  case v_type
    when 'all' then
      return 'true';
    when 'none' then
      return 'false';
    when 'not' then
      return '(' || logloom_private.query_sql(p_node -> 'item', p_alias, p_now_sql)
        || ' is not true)';
    when 'and', 'or' then
      for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ' ' || v_type || ' ' else '' end
          || logloom_private.query_sql(p_node -> 'items' -> v_at, p_alias, p_now_sql);
      end loop;
      return '(' || v_sql || ')';
    when 'leaf' then
      if p_node ->> 'field' = 'any' then
        return '(' || logloom_private.query_any_sql(p_node, p_alias) || ')';
      end if;
      v_sql := logloom_private.query_value_sql(p_node, p_alias);
      return '(' || case p_node ->> 'field'
        when 'attrs' then logloom_private.query_attrs_sql(p_node, v_sql)
        else logloom_private.query_column_sql(p_node, v_sql, p_now_sql)
      end || ')';
  end case;
end;
$$;
