-- Where the values stand in a column, found without a test of each one: a bit a record. Null where
-- values are tested.
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
  v_values constant text[] := array(select jsonb_array_elements_text(p_leaf -> 'values'));
  v_texts text[];
begin
  if p_leaf ->> 'field' = 'attrs' or (p_leaf -> 'folds_case')::boolean then
    return null;
  elsif p_column.kind = 'dictionary' then
    -- What a dictionary does not hold, no record has.
    return case when not p_column.dictionary && v_values
      then logloom_private.no_bits(p_records) end;
  end if;
  -- One thing among many, a request above all.
  v_texts := logloom_private.column_texts(p_column, null);
  return logloom_private.position_bits(
    array(
      select distinct p_column.first - 1 + p.position
      from unnest(v_values) v (value)
      cross join lateral unnest(array_positions(v_texts, v.value)) p (position)
      order by 1
    ),
    p_records
  );
end;
$$;

create function logloom_private.equal_template(p_values jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'by', 'equal',
    'values', (
      select jsonb_agg(logloom_private.template_of(v)) from jsonb_array_elements_text(p_values) v
    ),
    'decides', p_values::text !~ '[0-9]'
  );
end;
$$;
