-- The query with the bounds of what is read: of a range, what its ts leaves, what the tenant keeps,
-- and, where p_ts is given, what a page after it can have.
create function logloom_private.bound_query(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_order text default 'desc',
  p_ts timestamptz default null
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_query.ts_from := logloom_private.kept_from(
    p_tenant_id,
    greatest(lower(p_range), p_query.ts_from, case when p_order = 'asc' then p_ts end)
  );
  p_query.ts_to := least(
    upper(p_range), p_query.ts_to,
    case when p_order = 'desc' then p_ts + interval '1 microsecond' end
  );
  return p_query;
end;
$$;
