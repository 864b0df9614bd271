-- The fields that are a column of a block, in the order of record_arrays.columns.
create function logloom_private.column_fields()
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f.name
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.block = 'column'
    order by f.ordinality
  );
end;
$$;
