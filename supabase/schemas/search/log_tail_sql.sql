-- Builds SQL that calls sealed_write_seqs for the sealed records of a tail; null if there are none.
-- After p_bytes, records have only their position and size.
create function logloom_private.sealed_tail_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_bytes bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Records that a client missed may have been sealed meanwhile.
  return case when exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  ) then
    'logloom_private.sealed_write_seqs(' || format(
      '%s, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
      logloom_private.kept_from(p_tenant_id), p_query.tree,
      p_limit,
      case when (logloom_private.short_cuts(p_query)).sizes then greatest(p_bytes, 1)
        else 9223372036854775807 end
    ) || ')'
  end;
end;
$$;

-- Builds a source of the first p_limit records of a query with write sequences from p_first to
-- p_last. Leaves out hidden fields; keeps the order in which records became visible. With p_id,
-- records with the write sequence p_first need a greater id. p_sealed: see sealed_tail_sql.
create function logloom_private.log_tail_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_sealed text
)
returns logloom_private.sql_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept_from constant timestamptz := logloom_private.kept_from(p_tenant_id);
  v_days date[];
  v_rows logloom_private.sql_source;
begin
  select array_agg(distinct a.day) into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_rows := logloom_private.with_sealed_sql(
    logloom_private.rows_sql(
      p_tenant_id, greatest(logloom_private.day_start(v_days[1]), v_kept_from),
      logloom_private.day_start(v_days[cardinality(v_days)] + 1),
      concat_ws(
        ' and ', format('l.write_seq between %s and %s', p_first, p_last),
        case when p_id is not null
          then format('(l.write_seq > %s or l.id > %L::uuid)', p_first, p_id) end,
        -- Names each day: one late event does not add all days in between. More than 31 days are
        -- not named: all days from the first to the last are read.
        case when cardinality(v_days) <= 31 then logloom_private.days_sql(v_days) end
      ) || ' and ' || p_query.filter,
      null
    ),
    p_sealed
  );
  v_rows.order_sql := 'l.write_seq, l.id';
  v_rows.max_rows := p_limit;
  return logloom_private.masked_sql(p_query, v_rows);
end;
$$;

-- Builds SQL for the records of log_tail_rows_sql, with write_seq and id. Without p_fits, large
-- records are null. With p_fits, the records after p_bytes are null instead.
create function logloom_private.log_tail_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint,
  p_bytes bigint,
  p_fits boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.page_sql(
    p_query,
    logloom_private.log_tail_rows_sql(
      p_tenant_id, p_query, p_limit, p_first, p_id, p_last, logloom_private.sealed_tail_sql(
        p_tenant_id, p_query, p_limit, p_first, p_id, p_last, p_bytes
      )
    ),
    p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$$;
