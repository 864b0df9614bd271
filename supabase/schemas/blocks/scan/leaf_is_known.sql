-- Whether a leaf says nothing but what blocks can tell; one that says more is for the row filter.
create function logloom_private.leaf_is_known(p_leaf jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not exists (
    select
    from jsonb_object_keys(p_leaf) k
    where k not in (
      'type', 'field', 'name', 'reads', 'path', 'joined', 'test', 'values', 'pattern', 'fold',
      'size', 'position', 'lower', 'lower_open', 'upper', 'upper_open', 'from', 'to'
    )
  );
end;
$$;
