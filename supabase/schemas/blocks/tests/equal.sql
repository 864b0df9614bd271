-- Where the values of a field stand in a column, found without a test of each one: a bit a record.
-- Null where values are tested.
create function logloom_private.equal_bits(
  p_column logloom_private.block_columns,
  p_leaf jsonb,
  p_records integer
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted text[];
  v_values text[];
begin
  if p_leaf ->> 'field' = 'attrs' or (p_leaf -> 'folds_case')::boolean then
    return null;
  end if;
  v_wanted := array(select jsonb_array_elements_text(p_leaf -> 'values'));
  if p_column.kind = 'dictionary' then
    return case when not p_column.dictionary && v_wanted
      then logloom_private.no_bits(p_records) end;
  end if;
  -- One thing among many, a request above all.
  v_values := logloom_private.column_texts(p_column);
  return logloom_private.position_bits(
    array(
      select distinct p_column.first - 1 + p.position
      from unnest(v_wanted) v (value)
      cross join lateral unnest(array_positions(v_values, v.value)) p (position)
      order by 1
    ),
    p_records
  );
end;
$$;
