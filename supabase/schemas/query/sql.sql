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
