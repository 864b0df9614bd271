-- A leaf over any text of a record: its exact bits and its candidate bits. Each column tells its
-- part.
create function logloom_private.any_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  -- Of an attribute that is no scalar, as of a record that has it alone.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf, 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_column logloom_private.block_columns;
  v_values text[];
  v_flags boolean[];
  v_bits text;
  v_found varbit;
  v_result varbit[];
begin
  v_result := logloom_private.message_bits(p_block, p_leaf);
  execute 'select array_agg((' || logloom_private.query_text_test(p_leaf, 'l.service') || ' or '
    || logloom_private.query_text_test(p_leaf, 'l.level') || ') is true order by l.n) '
    || 'from unnest($1, $2) with ordinality l (service, level, n)'
  into v_flags
  using p_block.run_services, p_block.run_levels;
  v_found := logloom_private.bits_of_runs(v_flags, p_block.run_records);
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column, null) end;
    execute 'select string_agg(case when ('
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ') is true then ''1'' else ''0'' end, '''' order by l.n) from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value, v.n from unnest($1) with ordinality v (value, n)) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      select string_agg(
        coalesce(v_values[coalesce(c.code::integer + 129, c.wide_code)], '0'), '' order by c.n
      )
      into v_bits
      from unnest(v_column.codes, v_column.wide_codes) with ordinality c (code, wide_code, n);
    end if;
    v_found := v_found
      | logloom_private.widen_bits(v_bits, v_column.first, p_block.records, false);
  end loop;
  return array[v_result[1] | v_found, v_result[2] | v_found];
end;
$$;
