-- Makes a temporary table for records, or empties the one that this session has.
create function logloom_private.empty_staging_table(
  p_table text,
  p_is_indexed boolean default true
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass(p_table) is not null then
    execute 'truncate ' || p_table;
    return;
  end if;
  execute 'create temp table ' || p_table || ' (like logloom.logs)';
  if p_is_indexed then
    execute 'create index on ' || p_table || ' (tenant_id, ts, id)';
  end if;
end;
$$;
