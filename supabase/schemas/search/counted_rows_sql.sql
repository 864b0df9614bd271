-- SQL from "from" on: ts, level, service and events of what is to be counted: the counts of the
-- range's whole minutes, in log_counts and in blocks, and the records of what it has of its first
-- and last one. Null where the counts cannot answer the query.
create function logloom_private.counted_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields constant text[] :=
    logloom_private.query_reads(p_query.tree) || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_filter text;
  v_hides_services boolean;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'logloom_private.log_counts', 'minute'
    ) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  v_filter := logloom_private.query_sql(p_query.tree, 'l');
  return 'from (select l.minute as ts, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, 'logloom_private.log_counts', 'minute'
    )
    || ' union all select l.ts, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter,
      format(
        'logloom_private.block_counts(%s, %L, %L)',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), v_first, v_last
      )
    )
    || case when p_from < v_first then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, p_from, v_first, array['ts', 'level', 'service']
          )
      else '' end
    || case when v_last < p_to then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, v_last, p_to, array['ts', 'level', 'service']
          )
      else '' end
    || ') l';
end;
$$;
