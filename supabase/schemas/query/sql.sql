-- The generator: a tree as a boolean expression of SQL over an alias.

-- The path of an attribute as operators after its record's attrs. Each makes a copy of what it
-- finds, so one takes as many segments as it can. #> takes a number as an index into an array,
-- which -> with a text does not.
create function logloom_private.query_path_sql(p_path text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sql text := '';
  v_run text[] := '{}';
  v_segment text;
begin
  foreach v_segment in array p_path || null::text loop
    if v_segment !~ '^\s*[-+]?[0-9]+$' then
      v_run := v_run || v_segment;
      continue;
    end if;
    v_sql := v_sql || case cardinality(v_run)
      when 0 then ''
      when 1 then ' -> ' || quote_literal(v_run[1])
      else ' #> ' || quote_literal(v_run::text)
    end || coalesce(' -> ' || quote_literal(v_segment), '');
    v_run := '{}';
  end loop;
  return v_sql;
end;
$$;

-- A column, or the JSON value of an attribute. JSON null is no value, so the joined key is tried
-- there too.
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
  v_sql := format('%I.attrs', p_alias) || logloom_private.query_path_sql(
    array(select jsonb_array_elements_text(p_field -> 'path'))
  );
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
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
      return '(' || logloom_private.query_test_sql(
        p_node, logloom_private.query_value_sql(p_node, p_alias), p_now_sql
      ) || ')';
  end case;
end;
$$;
