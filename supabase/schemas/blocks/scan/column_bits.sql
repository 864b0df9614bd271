-- Evaluates a leaf on the one column that holds its field or attribute, and returns a bit for each
-- record. Returns null if one column is not enough. With p_is_quick, attributes need a column of
-- the kind numbers, or the result is null. A leaf never matches a record without a value.
create function logloom_private.column_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb,
  p_is_quick boolean
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- The values of a dictionary must not be planned as constants.
set plan_cache_mode = 'force_generic_plan'
set jit = off
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_column logloom_private.block_columns;
  v_found logloom_private.block_columns;
  v_has_rest boolean := false;
  v_key text;
  v_values text[];
  v_positions integer[];
  v_is_number boolean;
  v_test text;
  v_codes "char"[];
  v_wide_codes smallint[];
  v_flags text[];
  v_bits text;
begin
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name in (
        p_leaf ->> 'field', 'attrs.' || (p_leaf -> 'path' ->> 0), 'attrs.' || (p_leaf ->> 'joined')
      )
  loop
    if v_column.name = 'attrs' then
      v_has_rest := v_column.dictionary is distinct from array['{}'];
    elsif v_found.name is not null then
      return null;
    else
      v_found := v_column;
    end if;
  end loop;
  -- A key with a column of its own is never in the column attrs.
  if v_has_rest and (v_found.name is null or p_leaf ->> 'joined' is not null)
    or p_is_quick and v_is_attribute and v_found.kind <> 'numbers'
  then
    return null;
  elsif v_found.name is null then
    return logloom_private.no_bits(p_block.records);
  end if;

  v_key := substr(v_found.name, 7);
  v_values := case when v_found.kind = 'dictionary' then v_found.dictionary end;
  -- A path into a number finds nothing.
  v_is_number := v_found.kind = 'numbers' and p_leaf ->> 'decided_by' = 'numbers'
    and (p_leaf -> 'path' ->> 1 is null or v_key is not distinct from p_leaf ->> 'joined');
  if v_is_number then
    v_test := logloom_private.range_test(p_leaf -> 'bounds', v_found.least, v_found.greatest);
    if v_test is null then
      return logloom_private.no_bits(p_block.records);
    end if;
  else
    v_values := coalesce(v_values, logloom_private.column_texts(v_found));
    v_positions := case when p_leaf ->> 'test' = 'equal'
      then logloom_private.equal_positions(v_found, v_values, p_leaf) end;
    if v_positions is not null then
      return logloom_private.position_bits(v_positions, p_block.records);
    end if;
    v_test := logloom_private.query_sql(p_leaf, 'l');
  end if;
  execute format(
    $query$
      select string_agg(case when %1$s then '1' else '0' end, '')
      from (select %2$s as %3$I from (select unnest(%4$s) as value) v) l
    $query$,
    v_test,
    case when v_is_attribute and not v_is_number
      then format('jsonb_build_object(%L::text, v.value::jsonb)', v_key) else 'v.value' end,
    case when v_is_number then 'value' else p_leaf ->> 'field' end,
    case when not v_is_number then '$1' when v_found.numbers is not null then '$2' else '$3' end
  )
  into v_bits
  using v_values, v_found.numbers, v_found.wide_numbers;
  if v_found.kind = 'dictionary' then
    v_codes := v_found.codes;
    v_wide_codes := v_found.wide_codes;
    if strpos(v_bits, '1') = 0 then
      return logloom_private.no_bits(p_block.records);
    elsif v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_bits, v_found.last - v_found.first + 1);
    else
      v_flags := string_to_array(v_bits, null);
      select string_agg(coalesce(v_flags[coalesce(c.code + 129, c.wide_code)], '0'), '')
      into v_bits
      from (select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code) c;
    end if;
  end if;
  return (
    repeat('0', v_found.first - 1) || v_bits || repeat('0', p_block.records - v_found.last)
  )::varbit;
end;
$$;
