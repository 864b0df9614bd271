-- SQL that yields the records of $1 from $2 to $3 that may match, sealed ones too.
create function logloom_private.preview_source_sql(p_query logloom_private.compiled_query)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), p_query.tree
    );
end;
$$;
