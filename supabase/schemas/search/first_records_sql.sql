-- SQL from "from" on: the first p_limit records of a bound query in p_order, those after p_ts and
-- p_id where they are given: as many of rows and of sealed ones, and of these the first; as many as
-- an extraction may read where a filter comes after it. p_reads: what is read besides ts and id;
-- all may be where it is null. p_bytes: of records after so many bytes nothing but the place and
-- the size is there, unless they are extracted from.
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
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_after constant text := case when p_ts is null then ''
    -- The comparison of rows drives the index.
    else format(
      '(l.ts, l.id) %s (%L::timestamptz, %L::uuid) and ',
      case p_order when 'asc' then '>' else '<' end, p_ts, p_id
    ) end;
  v_rows text;
  v_order text;
begin
  p_reads := case when p_reads is not null then p_reads || array['ts', 'id'] end;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_bytes := null;
    if p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
      p_limit := (select s.search_stage_records from logloom_private.settings s) + 1;
    end if;
  end if;
  v_order := format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  if p_query.masked_tree is not null then
    -- How many of them it lets through shows without the hidden fields alone.
    return logloom_private.records_sql(
      p_tenant_id, p_query, p_query.ts_from, p_query.ts_to, p_reads
    ) || ' and ' || v_after || 'true' || v_order;
  elsif p_query.hidden_fields is not null then
    p_bytes := null;
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, v_after || p_query.filter, p_reads, p_order,
    p_limit, p_bytes
  ) || v_order;
  if logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then
    v_rows := 'from ((select l.* ' || v_rows
      || ') union all select l.* from logloom_private.sealed_page('
      || format(
        '%s, %L, %L, %L, %L, %L, %L, %L, %L, %L',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_query.ts_from,
        p_query.ts_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
      )
      || ') l) l' || v_order;
  end if;
  if p_query.hidden_fields is not null then
    v_rows := logloom_private.masked_sql(p_query, v_rows) || v_order;
  end if;
  return v_rows;
end;
$$;
