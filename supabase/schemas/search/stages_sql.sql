-- SQL for the stages of a query: what is extracted from records while they are read, and the rows
-- that are left after where, sort and limit.

-- PT400: a stage would need more records or groups than it may.
create function logloom_private.refuse_stage_bound(p_stage text, p_bound integer, p_what text)
returns boolean
language plpgsql
volatile
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.stage_met_its_bound', p_stage, p_bound::text, p_what);
  return null;
end;
$$;

-- What a stage makes of the rows that p_rows selects, as alias l.
create function logloom_private.stage_rows_sql(p_rows text, p_stage jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_extracted text;
begin
  if p_stage ->> 'stage' = 'where' then
    return 'select l.* from (' || p_rows || ') l where '
      || logloom_private.query_sql(p_stage -> 'tree', 'l');
  end if;
  v_extracted := format(
    'nullif(logloom_private.extract_%s(', p_stage ->> 'stage'
  ) || logloom_private.query_group_sql(p_stage -> 'field', 'l') || '), ''{}'')';
  -- "offset 0" has the members extracted once a record. A member that was there already stays.
  return 'select ' || (
    select string_agg('l.' || f.name, ', ')
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name <> 'attrs'
  ) || ', coalesce(' || v_extracted
    || ' || coalesce(l.attrs, ''{}''), l.attrs) as attrs, l.read_as from (' || p_rows
    || ') l offset 0';
end;
$$;

-- All that the stages before an aggregate make of p_rows, SQL from "from" on: SQL from "from" on.
-- SQL from "from" on, alias l: the records that p_rows, SQL of the same kind, yields, with the
-- attributes that the stages json and logfmt extract, as far as where lets them through. Raises
-- PT400 where it would read more than search_stage_records.
create function logloom_private.staged_sql(p_query logloom_private.compiled_query, p_rows text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_sql text;
  v_stage jsonb;
begin
  if coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    return p_rows;
  end if;
  v_sql := format(
    'select l.* from (select l.*, row_number() over () as read_as from (select l.* %s',
    p_rows
  ) || format(
    ' limit %1$s) l) l where l.read_as <= %2$s '
      || 'or logloom_private.refuse_stage_bound(%3$L, %2$s, %4$L)',
    v_bound + 1, v_bound, p_query.plan -> 'rows' -> 0 ->> 'stage', 'records'
  );
  for v_stage in select s from jsonb_array_elements(p_query.plan -> 'rows') s loop
    v_sql := logloom_private.stage_rows_sql(v_sql, v_stage);
  end loop;
  return 'from (' || v_sql || ') l';
end;
$$;

-- What where after an aggregate asks, over columns that p_sql maps from names.
create function logloom_private.having_sql(p_plan jsonb, p_sql jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select string_agg(
        (p_sql ->> (h ->> 'name')) || ' ' || case h ->> 'operator' when '!=' then '<>'
          else h ->> 'operator' end || ' ' || quote_literal(h ->> 'number')
          || '::double precision',
        ' and '
      )
      from jsonb_array_elements(p_plan -> 'having') h
    ),
    'true'
  );
end;
$$;

-- "order by" of the rows: the keys of sort, then p_default.
create function logloom_private.sort_sql(p_plan jsonb, p_sql jsonb, p_default text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return ' order by ' || concat_ws(
    ', ',
    (
      select string_agg(
        (p_sql ->> (k.key ->> 'name'))
          || case when (k.key -> 'descending')::boolean then ' desc' else '' end || ' nulls last',
        ', ' order by k.n
      )
      from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    ),
    p_default
  );
end;
$$;
