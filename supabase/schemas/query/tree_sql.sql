-- Builds the operators on attrs for the path of an attribute. Each operator copies its result, so
-- one #> takes several segments. A segment that is a number needs ->, because #> would take the
-- number for an array index.
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

-- Builds SQL for a column, or for the JSON value of an attribute. JSON null counts as missing: then
-- the joined key is tried.
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

-- Builds the expression for grouping or counting a field: a column, or the text of an attribute.
create function logloom_private.query_group_sql(p_field jsonb, p_alias text)
returns text
language sql
immutable
return '(' || logloom_private.query_value_sql(p_field, p_alias)
  || case p_field ->> 'field' when 'attrs' then ' #>> ''{}''' else '' end || ')';

-- Builds SQL for the items of an AND or OR. Each leaf over attributes copies them, and PostgreSQL
-- frees this memory at the end of the expression. So these leaves run one after another in a
-- subquery, and each frees its memory. "offset 0" keeps it a subquery. p_items: the SQL of the
-- items. p_is_heavy: true if an item reads attributes.
create function logloom_private.query_items_sql(
  p_type text,
  p_items text[],
  p_is_heavy boolean[]
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_heavy constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where i.is_heavy order by i.n
  );
  v_light constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where not i.is_heavy order by i.n
  );
begin
  return '(' || array_to_string(
    v_light || format(
      '%sexists (select from (values %s) k (n) where (case k.n %s end) is %s offset 0)',
      case p_type when 'and' then 'not ' else '' end,
      (select string_agg(format('(%s)', n), ', ') from generate_subscripts(v_heavy, 1) n),
      (
        select string_agg(format('when %s then %s', i.n, i.sql), ' ' order by i.n)
        from unnest(v_heavy) with ordinality i (sql, n)
      ),
      case p_type when 'and' then 'not true' else 'true' end
    ),
    ' ' || p_type || ' '
  ) || ')';
end;
$$;

-- Builds a boolean SQL expression for a tree. Its value may be null if a field is absent. NOT turns
-- null into true: it matches records without the field. p_now_sql: an SQL expression for now.
-- Without it, relative times count from the time of compiling.
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
  v_heavy constant jsonpath :=
    'strict $.** ? (@.type == "leaf" && (@.field == "attrs" || @.field == "any"))';
  v_items text[];
  v_is_heavy boolean[];
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
      select
        array_agg(logloom_private.query_sql(i.item, p_alias, p_now_sql) order by i.n),
        array_agg(jsonb_path_exists(i.item, v_heavy) order by i.n)
      into v_items, v_is_heavy
      from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n);
      if cardinality(array_positions(v_is_heavy, true)) > 1
        and jsonb_array_length(jsonb_path_query_array(p_node, v_heavy)) > 8
      then
        return logloom_private.query_items_sql(v_type, v_items, v_is_heavy);
      end if;
      return '(' || array_to_string(v_items, ' ' || v_type || ' ') || ')';
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

-- Builds the SQL of a source. Returns null without where_sql, so that a forgotten filter does not
-- return all records. Written in PL/pgSQL, because PostgreSQL does not inline an SQL function whose
-- arguments call functions.
create function logloom_private.source_sql(p_source logloom_private.sql_source)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'from ' || p_source.from_sql || ' where ' || p_source.where_sql
    || coalesce(' order by ' || p_source.order_sql, '')
    || coalesce(' limit ' || p_source.max_rows, '');
end;
$$;

create function logloom_private.rows_from(
  p_from text,
  p_where text default 'true',
  p_order text default null,
  p_limit bigint default null
)
returns logloom_private.sql_source
language sql
immutable
return row(p_from, p_where, p_order, p_limit)::logloom_private.sql_source;
