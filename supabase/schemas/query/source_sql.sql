-- Builds the SQL of a source. Returns null without where_sql: a forgotten filter does not find
-- everything. In PL/pgSQL: PostgreSQL does not inline an SQL function whose arguments call
-- functions.
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
