-- Returns the aggregates of a query; by default count().
create function logloom_private.stats_aggregates(p_query logloom_private.compiled_query)
returns jsonb
language sql
immutable
return coalesce(
  p_query.plan -> 'aggregates', '[{"kind": "count", "name": "count", "field": null}]'
);

-- Returns the aggregates that a series needs: all for math, or else the first.
create function logloom_private.series_aggregates(p_query logloom_private.compiled_query)
returns jsonb
language sql
stable
return case when p_query.plan ? 'math' then p_query.plan -> 'aggregates'
  else jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0) end;

-- Builds the SQL of count() over a source. p_filter: as in query_aggregate_sql.
create function logloom_private.source_count_sql(
  p_source logloom_private.counted_source,
  p_filter text default ''
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('coalesce(%s%s, 0)::double precision', p_source.count_sql, p_filter);
end;
$$;

-- Builds an aggregate over a source that has numbers, as query_aggregate_sql does over records.
-- p_n: the position of the aggregate in the query. Its percentile is the column q followed by p_n.
create function logloom_private.numbers_aggregate_sql(
  p_aggregate jsonb,
  p_n bigint,
  p_filter text
)
returns text
language sql
stable
return 'logloom_private.finite_double(' || case p_aggregate ->> 'kind'
  when 'sum' then 'coalesce(sum(l.total)' || p_filter || ', 0)'
  when 'avg' then 'sum(l.total)' || p_filter || ' / nullif(sum(l.numbers)' || p_filter || ', 0)'
  when 'min' then 'min(l.minimum)' || p_filter
  when 'max' then 'max(l.maximum)' || p_filter
  else 'max(l.q' || p_n || ')'
end || ')';

-- Builds the SQL expressions of aggregates over a source. p_minutes: the divisor of rate().
create function logloom_private.stats_values_sql(
  p_aggregates jsonb,
  p_source logloom_private.counted_source,
  p_minutes numeric
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count'
        then logloom_private.source_count_sql(p_source, f.sql)
      when a.item ->> 'kind' = 'rate'
        then logloom_private.source_count_sql(p_source, f.sql)
          || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item, a.n, f.sql)
      else logloom_private.query_aggregate_sql(a.item, f.sql)
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    cross join lateral (
      select case
        when p_source.keys_sql is not null and a.item ? 'condition'
          then format(' filter (where l.c%s)', a.n)
        else logloom_private.query_condition_sql(a.item)
      end as sql
      offset 0
    ) f
    order by a.n
  );
end;
$$;

-- Builds SQL that counts a query's sealed records in a range by level and service (events). level
-- and service are only set if a stage of the query reads them.
create function logloom_private.sealed_counts_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language sql
stable
return 'select l.level, l.service, l.events from logloom_private.sealed_counts(' || format(
  '%s, %L, %L, %L, %L',
  logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
  p_from, p_to, p_query.tree, p_query.by_fields || logloom_private.query_reads(p_query.plan)
) || ') l';

-- Returns the attribute whose numbers the query aggregates. Null if an aggregate has another field.
create function logloom_private.only_number(p_query logloom_private.compiled_query)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant jsonb := (
    select jsonb_agg(distinct a -> 'field')
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query)) a
    where a ->> 'kind' not in ('count', 'rate')
  );
begin
  if jsonb_array_length(v_fields) = 1 and v_fields -> 0 ->> 'field' = 'attrs'
    and jsonb_array_length(v_fields -> 0 -> 'path') = 1
    and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    and not p_query.plan -> 'aggregates' @> '[{"kind": "count_distinct"}]'
  then
    return v_fields -> 0 -> 'path' ->> 0;
  end if;
  return null;
end;
$$;

-- Builds a source that reads the attributes of each record of p_rows once. Otherwise each
-- expression copies the stored attributes, and all copies stay until the record is done.
create function logloom_private.held_rows_sql(p_rows logloom_private.sql_source)
returns logloom_private.sql_source
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.rows_from(format(
    '(select %s, l.attrs || ''{}'' as attrs %s offset 0) l',
    (
      select string_agg('l.' || f.name, ', ')
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name <> 'attrs'
    ),
    logloom_private.source_sql(p_rows)
  ));
end;
$$;

-- Builds the source for the aggregates of a bound query. Prefers stored counts, then columns of
-- blocks (for counts, or for numbers of one attribute), then records.
create function logloom_private.stats_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket bigint
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_counts constant boolean := (logloom_private.short_cuts(p_query)).counts;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows logloom_private.sql_source;
  v_key constant text := logloom_private.only_number(p_query);
  v_groups logloom_private.counted_source;
  v_fields constant text[] := p_query.by_fields
    || logloom_private.query_reads(logloom_private.stats_aggregates(p_query));
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      logloom_private.day_start((logloom_private.days_with_rows(p_tenant_id, v_from, v_to))[1]),
      v_to
    ));
  end if;
  if v_counts and p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and v_fields <@ array['level', 'service'];
    -- For days without rows, counting blocks is faster than reading log_counts.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows.from_sql is not null and v_from < v_counted_from then
      v_rows := logloom_private.rows_from(
        '(select l.level, l.service, l.events ' || logloom_private.source_sql(v_rows)
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from) || ') l'
      );
    elsif v_rows.from_sql is null and v_counts_sealed then
      v_rows := logloom_private.rows_from(
        '(select l.level, l.service, 1::bigint as events '
        || logloom_private.source_sql(logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        ))
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l'
      );
    end if;
    if v_rows.from_sql is not null then
      return (v_rows, 'sum(l.events)', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_counts and v_is_sealed and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.count_sql is not null then
      return v_groups;
    end if;
  end if;
  v_rows := logloom_private.staged_sql(p_query, logloom_private.records_sql(
    p_tenant_id, p_query, v_from, v_to,
    case when not p_query.plan ? 'rows' then
      logloom_private.query_reads(p_query.plan)
        || case when p_bucket is null then '{}' else array['ts'] end
    end
  ));
  if jsonb_array_length(
    jsonb_path_query_array(p_query.plan, 'strict $.** ? (@.field == "attrs")')
  ) > 4 then
    v_rows := logloom_private.held_rows_sql(v_rows);
  end if;
  -- Counts a column, so that rows sorted for grouping have a second column. PostgreSQL 17 does not
  -- count the memory for sorting rows of a single column.
  return (
    v_rows, 'count(l.tenant_id)', null, false
  )::logloom_private.counted_source;
end;
$$;
