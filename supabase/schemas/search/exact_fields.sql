-- At most this many values of a field are listed.
create function logloom_private.listed_values()
returns integer
language sql
immutable
return 10;

-- Counts the values of one field over all records of a query.
create function logloom_private.exact_field(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_field public.logloom_log_field
)
returns public.logloom_log_field
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.search_query(
    null, '| count() by ' || p_field.field, now(), 'rows'
  );
  v_source logloom_private.counted_source;
begin
  v_query.tree := p_query.tree;
  v_query.filter := p_query.filter;
  v_query.ts_from := p_query.ts_from;
  v_query.ts_to := p_query.ts_to;
  v_query.hidden_fields := p_query.hidden_fields;
  v_source := logloom_private.stats_source(p_tenant_id, v_query, true, null);
  execute format(
    $query$
      with facets as materialized (
        select (%s)::text as value, (%s)::bigint as count
        %s
        group by 1
      )
      select
        coalesce(sum(f.count) filter (where f.value is not null), 0), sum(f.count),
        array(
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where length(v.value) <= 200 and v.count > 0
          order by v.count desc, v.value collate "C"
          limit %s
        )
      from facets f
    $query$,
    (coalesce(v_source.keys_sql, v_query.by_sql))[1], logloom_private.source_count_sql(v_source),
    logloom_private.source_sql(v_source.rows_sql), logloom_private.listed_values()
  )
  into p_field.count, p_field.records, p_field.values;
  p_field.exact := true;
  return p_field;
end;
$$;

-- Returns the columns whose values can be counted from the dictionaries of sealed blocks. At most
-- 512 dictionaries are read, so more blocks mean fewer columns. Returns none if the range has more
-- than 256 blocks or 20,000 rows. Leaves out a column if more than two blocks cannot answer.
create function logloom_private.counted_columns(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_names text[]
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_blocks constant integer := 256;
  v_max_dictionaries constant integer := 512;
  v_max_rows constant integer := 20000;
  v_rows logloom_private.sql_source := logloom_private.tenant_rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, 'true'
  );
  v_count integer;
  v_blocks bigint[];
  v_names text[];
begin
  v_blocks := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= p_query.ts_from and c.first_ts < p_query.ts_to
      and c.damaged_at is null and logloom_private.can_read(c.format)
    limit v_max_blocks + 1
  );
  if cardinality(v_blocks) not between 1 and v_max_blocks then
    return '{}';
  end if;
  v_rows.max_rows := v_max_rows + 1;
  execute format(
    'select count(*) from (select l.ts %s) l', logloom_private.source_sql(v_rows)
  )
  into v_count;
  if v_count > v_max_rows then
    return '{}';
  end if;
  -- Dictionaries with more than 256 values are too slow to count.
  v_names := array(
    select k.name
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = any(v_blocks) and k.name = any(p_names)
    group by k.name
    having bool_and(k.kind = 'dictionary' and k.wide_codes is null)
  );
  return array(
    select n.name
    from unnest(p_names) with ordinality n (name, place)
    where n.name = any(v_names)
      and cardinality(v_blocks) - 2 <= cardinality(logloom_private.blocks_with_counts(
        p_tenant_id, v_blocks, p_query.ts_from, p_query.ts_to, n.name
      ))
    order by n.place
    limit v_max_dictionaries / cardinality(v_blocks)
  );
end;
$$;

-- Replaces the counts of a sample with exact counts where that is cheap. Level and service come
-- from stored counts, other columns from dictionaries. p_fields must not contain hidden fields.
create function logloom_private.with_exact_fields(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_fields public.logloom_log_field[]
)
returns public.logloom_log_field[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_fields constant integer := 20;
  v_columns text[] := '{}';
  v_exact text[] := '{}';
begin
  if not (logloom_private.short_cuts(p_query)).counts
    or jsonb_array_length(p_query.plan -> 'rows') > 0
  then
    return p_fields;
  end if;
  p_query.aggregate := 'count';
  p_query.by_fields := array['level', 'service'];
  if (
    logloom_private.counted_rows_sql(p_tenant_id, p_query, p_query.ts_from, p_query.ts_to)
  ).from_sql is not null then
    v_exact := array['level', 'service'];
  end if;
  if p_query.tree ->> 'type' = 'all' and (logloom_private.short_cuts(p_query)).sizes then
    v_columns := array(
      select f.field
      from unnest(p_fields) with ordinality f
      where f.field = any(logloom_private.column_fields()) or f.field ~ '^attrs\.[^."]+$'
      order by f.ordinality
      limit v_max_fields
    );
    v_exact := v_exact || logloom_private.counted_columns(p_tenant_id, p_query, v_columns);
  end if;
  for n in 1..cardinality(p_fields) loop
    if p_fields[n].field = any(v_exact) then
      p_fields[n] := logloom_private.exact_field(p_tenant_id, p_query, p_fields[n]);
    end if;
  end loop;
  return p_fields;
end;
$$;
