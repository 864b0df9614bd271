create function logloom_private.sample_records()
returns integer
language sql
immutable
return 5000;

-- Returns how many bytes a sample has at most. A sample has at least one record, however large.
create function logloom_private.sample_bytes()
returns integer
language sql
immutable
return 1200000;

-- Builds a source of the newest records of a query that fit in p_bytes. msg only tells whether a
-- record has a message. size: the stored size, or else the size of the fields read. fits: true if
-- the record fits; decided before large values are read or sorted.
create function logloom_private.newest_sample_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer default logloom_private.sample_records(),
  p_bytes integer default logloom_private.sample_bytes()
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] := array(
    select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
  ) || 'attrs'::text;
  v_sample logloom_private.sql_source;
begin
  v_sample := logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records, 'desc',
      p_reads => v_fields || array['msg.exists', 'record_bytes'], p_bytes => p_bytes
    ),
    p_bytes,
    format(
      'coalesce(l.record_bytes, octet_length(to_json(row(%s))::text))',
      array_to_string(array(select 'l.' || f from unnest(v_fields) f), ', ')
    )
  );
  v_sample.where_sql := 'l.fits';
  return v_sample;
end;
$$;

-- True if a sample can hold all records of the query.
create function logloom_private.sample_is_whole(
  p_tenant_id text,
  p_query logloom_private.compiled_query
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := logloom_private.sample_records();
  v_newest logloom_private.sql_source :=
    logloom_private.newest_sample_sql(p_tenant_id, p_query, v_max + 1);
  v_is_whole boolean;
begin
  v_newest.where_sql := 'true';
  execute format(
    'select count(*) <= %s and coalesce(bool_and(l.fits), true) %s',
    v_max, logloom_private.source_sql(v_newest)
  )
  into v_is_whole;
  return v_is_whole;
end;
$$;

-- Returns where the slices of a query's range start and end. Long slices start at whole minutes,
-- because records are counted by minute. Each slice may open a sealed block, so sealed ranges have
-- fewer slices.
create function logloom_private.slice_edges(
  p_tenant_id text,
  p_query logloom_private.compiled_query
)
returns timestamptz[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Not a multiple of 7 or 30, so the slices of a week or a month end at different hours.
  v_slices constant integer := case
    when logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then 8
    else 37
  end;
  v_length constant interval := (p_query.ts_to - p_query.ts_from) / v_slices;
  v_unit constant interval := case
    when v_length >= interval '1 minute' then '1 minute' else '1 microsecond' end;
begin
  return p_query.ts_from || array(
    select date_bin(v_unit, p_query.ts_from + n * v_length, 'epoch')
    from generate_series(1, v_slices - 1) n
    order by n
  ) || p_query.ts_to;
end;
$$;

-- Returns how many records of a query each slice has; null if stored counts cannot answer that.
create function logloom_private.slice_counts(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_edges timestamptz[]
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counted logloom_private.sql_source;
  v_counts bigint[];
begin
  p_query.by_fields := '{}';
  p_query.aggregate := 'count';
  if p_edges[3] - p_edges[2] < interval '1 minute'
    or jsonb_array_length(p_query.plan -> 'rows') > 0
    or not (logloom_private.short_cuts(p_query)).counts
  then
    return null;
  end if;
  v_counted := logloom_private.counted_rows_sql(
    p_tenant_id, p_query, p_query.ts_from, p_query.ts_to
  );
  if v_counted.from_sql is not null then
    execute format(
      $query$
        select array_agg(coalesce(c.events, 0)::bigint order by s.slice)
        from generate_series(1, %s) s (slice)
        left join (
          select width_bucket(l.ts, $1) as slice, sum(l.events) as events
          %s
          group by 1
        ) c on c.slice = s.slice
      $query$,
      cardinality(p_edges) - 1, logloom_private.source_sql(v_counted)
    )
    into v_counts
    using p_edges;
  end if;
  return v_counts;
end;
$$;

-- Builds a source of a sample of a query's records: the newest records of each slice. Each slice
-- gives records in proportion to its count in p_counts; without p_counts, all slices give the same
-- number. If the query extracts fields, or all counts are (wrongly) 0, the sample is the newest
-- records of the whole range.
create function logloom_private.spread_sample_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_edges timestamptz[],
  p_counts bigint[]
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records constant integer := logloom_private.sample_records();
  v_bytes constant integer := logloom_private.sample_bytes();
  v_slice record;
  v_parts text[] := '{}';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 or 0 = all (p_counts) then
    return logloom_private.newest_sample_sql(p_tenant_id, p_query);
  end if;
  for v_slice in
    select
      n,
      ceil(v_records * coalesce(
        p_counts[n] / nullif((select sum(c.count) from unnest(p_counts) c (count)), 0),
        1.0 / (cardinality(p_edges) - 1)
      ))::integer as records
    from generate_series(1, cardinality(p_edges) - 1) n
    where p_counts is null or p_counts[n] > 0
  loop
    p_query.ts_from := p_edges[v_slice.n];
    p_query.ts_to := p_edges[v_slice.n + 1];
    v_parts := v_parts || format(
      '(select l.*, row_number() over (order by l.ts desc, l.id desc) as place %s)',
      logloom_private.source_sql(logloom_private.newest_sample_sql(
        p_tenant_id, p_query, v_slice.records,
        (v_bytes::bigint * v_slice.records / v_records)::integer
      ))
    );
  end loop;
  -- Takes the first record of every slice before any second record. So one slice with large records
  -- cannot fill the sample.
  return logloom_private.rows_from(
    format(
      '(select l.*, coalesce(sum(l.size) over (order by l.place, l.ts, l.id '
        || 'rows between unbounded preceding and 1 preceding), 0) < %s as is_sampled '
        || 'from (%s) l) l',
      v_bytes, array_to_string(v_parts, ' union all ')
    ),
    'l.is_sampled'
  );
end;
$$;
