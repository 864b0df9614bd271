-- The columns of a block by how few records a value of theirs has: an environment is hardly ever
-- one among many.
create function logloom_private.telling_fields()
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
    order by f.bloom is not true, f.name = 'env', f.ordinality
  );
end;
$$;

-- The first leaf without which a query finds no record and which names values of a field that is
-- one thing among many, a request above all; null where there is none.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select n
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (n, at)
    where n ->> 'test' = 'equal' and not (n -> 'folds_case')::boolean
      and n ->> 'field' = any(logloom_private.telling_fields())
    order by array_position(logloom_private.telling_fields(), n ->> 'field'), at
    limit 1
  );
end;
$$;
