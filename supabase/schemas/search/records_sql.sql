-- SQL from "from" on: the tenant's records, as alias l, of a range that a query finds, rows and
-- sealed ones. Of what is not read where it lies nothing but what p_reads names is there, all where
-- it is null.
create function logloom_private.records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_reads text[]
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows text;
begin
  if p_query.masked_tree is not null and p_reads is not null then
    p_reads := p_reads || logloom_private.query_reads(p_query.masked_tree);
  end if;
  v_rows := logloom_private.rows_sql(p_tenant_id, p_from, p_to, p_query.filter, p_reads);
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return logloom_private.masked_sql(p_query, v_rows);
  end if;
  return logloom_private.masked_sql(p_query, 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%s, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_from, p_to, p_query.tree, p_reads
    )
    || ') l) l where true');
end;
$$;
