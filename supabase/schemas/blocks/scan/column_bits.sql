-- A leaf over a column that it alone reads: a bit a record.
create function logloom_private.column_bits(
  p_column logloom_private.block_columns,
  p_leaf jsonb,
  p_records integer
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- The values of a dictionary are no constants to plan with.
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_found varbit := case p_leaf ->> 'test'
    when 'equal' then logloom_private.equal_bits(p_column, p_leaf, p_records)
    when 'range' then logloom_private.range_bits_of_numbers(p_column, p_leaf, p_records)
  end;
  v_test text;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  if v_found is not null then
    return v_found;
  end if;
  v_test := logloom_private.query_sql(p_leaf, 'l');
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind <> 'dictionary' then
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
    return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
  end if;
  v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
  if v_codes is null and v_wide_codes is null then
    v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
  elsif not v_absent and strpos(v_flags, '1') = 0 then
    return logloom_private.no_bits(p_records);
  elsif v_codes is not null then
    v_each := string_to_array(v_flags, null);
    select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
    into v_bits
    from unnest(v_codes) with ordinality c (code, n);
  else
    v_each := string_to_array(v_flags, null);
    select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
    from unnest(v_wide_codes) with ordinality c (code, n);
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
end;
$$;
