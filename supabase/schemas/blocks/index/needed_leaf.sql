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
      and n ->> 'field' in ('req_id', 'user_id', 'route', 'host', 'env')
    order by array_position(array['req_id', 'user_id', 'route', 'host', 'env'], n ->> 'field'), at
    limit 1
  );
end;
$$;
