-- Builds a source of the records of a query in a range: rows and sealed records. Sealed records and
-- copied rows have only the fields of p_reads (null: all).
create function logloom_private.records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_reads text[]
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.masked_sql(p_query, logloom_private.with_sealed_sql(
    logloom_private.rows_sql(p_tenant_id, p_from, p_to, p_query.filter, p_reads),
    case when logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then format(
      'logloom_private.sealed_rows(%s, %L, %L, %L, %L)',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_from, p_to, p_query.tree, p_reads
    ) end
  ), p_reads);
end;
$$;

-- Builds a source of the rows of p_from after the aggregate's stages "where", "sort" and "limit".
-- Rows are ordered by the keys of "sort", then by p_order. There are at most p_limit rows, or fewer
-- if the stage "limit" says so. p_sql: for each column name, an array of its sort expressions.
create function logloom_private.chosen_rows_sql(
  p_from text,
  p_plan jsonb,
  p_sql jsonb,
  p_order text,
  p_limit integer
)
returns logloom_private.sql_source
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_having constant text := (
    select string_agg(
      format(
        '%s %s %L::double precision', p_sql -> (h ->> 'name') ->> 0,
        case h ->> 'operator' when '!=' then '<>' else h ->> 'operator' end, h ->> 'number'
      ),
      ' and '
    )
    from jsonb_array_elements(p_plan -> 'having') h
  );
  v_keys constant text := (
    select string_agg(
      s.sql || case when (k.key -> 'descending')::boolean then ' desc' else '' end
        || ' nulls last',
      ', ' order by k.n, s.n
    )
    from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    cross join lateral jsonb_array_elements_text(p_sql -> (k.key ->> 'name'))
      with ordinality s (sql, n)
  );
begin
  return logloom_private.rows_from(
    p_from, coalesce(v_having, 'true'), concat_ws(', ', v_keys, p_order),
    least(p_limit, (p_plan -> 'limit')::integer)
  );
end;
$$;

-- Builds a source of the first p_limit records of a bound query in p_order. With p_ts and p_id, it
-- begins after this position. If the stage "where" follows an extraction, search_stage_records + 1
-- takes the place of p_limit. p_reads: the fields to read besides ts and id (null: all). p_bytes:
-- records after these bytes have only position and size; ignored if a stage extracts or fields are
-- hidden.
create function logloom_private.first_records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_order text,
  p_ts timestamptz default null,
  p_id uuid default null,
  p_reads text[] default null,
  p_bytes bigint default null
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after constant text := case when p_ts is not null then format(
    -- A row comparison uses the index.
    '(l.ts, l.id) %s (%L::timestamptz, %L::uuid) and ',
    case p_order when 'asc' then '>' else '<' end, p_ts, p_id
  ) else '' end;
  v_order constant text := format('l.ts %1$s, l.id %1$s', p_order);
  v_rows logloom_private.sql_source;
begin
  p_reads := case when p_reads is not null then p_reads || array['ts', 'id'] end;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_bytes := null;
    if p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
      p_limit := (select s.search_stage_records from logloom_private.settings s) + 1;
    end if;
  end if;
  if not (logloom_private.short_cuts(p_query)).sizes then
    p_bytes := null;
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, v_after || p_query.filter, p_reads, p_order,
    p_limit, p_bytes
  );
  v_rows.order_sql := v_order;
  v_rows.max_rows := p_limit;
  return logloom_private.masked_sql(p_query, logloom_private.with_sealed_sql(
    v_rows,
    case when logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then format(
      'logloom_private.sealed_page(%s, %L, %L, %L, %L, %L, %L, %L, %L, %L)',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_query.ts_from,
      p_query.ts_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
    ) end
  ), p_reads);
end;
$$;

-- Builds a source of ts, level, service and events. Whole minutes come from counts (log_counts and
-- blocks), the first and last partial minute from records. Null if counts cannot answer the query.
create function logloom_private.counted_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] :=
    logloom_private.query_reads(jsonb_build_array(p_query.tree, p_query.plan))
    || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_filter text;
  v_hides_services boolean;
  v_sql text;
  v_edge tstzrange;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'logloom_private.log_counts', 'minute'
    )) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  v_filter := logloom_private.query_sql(p_query.tree, 'l');
  v_sql := '(select l.minute as ts, l.level, l.service, l.events '
    || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, 'logloom_private.log_counts', 'minute'
    ))
    || ' union all select l.ts, l.level, l.service, l.events '
    || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter,
      format(
        'logloom_private.block_counts(%s, %L, %L)',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), v_first, v_last
      )
    ));
  foreach v_edge in array array[tstzrange(p_from, v_first), tstzrange(v_last, p_to)] loop
    continue when isempty(v_edge);
    v_sql := v_sql || ' union all select l.ts, l.level, l.service, 1 '
      || logloom_private.source_sql(logloom_private.records_sql(
        p_tenant_id, p_query, lower(v_edge), upper(v_edge), array['ts', 'level', 'service']
      ));
  end loop;
  return logloom_private.rows_from(v_sql || ') l');
end;
$$;
