-- True if a column may contain a match of a leaf of the field any. This field searches all texts.
-- p_literal: a part of every matching text, with 0 for each digit. Lower case if the leaf ignores
-- case; empty if no part is known.
create function logloom_private.column_may_hold(
  p_column logloom_private.block_columns,
  p_literal text,
  p_folds_case boolean
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_texts text;
begin
  if p_literal = '' then
    return true;
  elsif p_column.kind = 'numbers' then
    return p_literal ~ '^[-0]*$';
  elsif p_column.kind = 'hexadecimal' then
    return p_literal ~ '^["0a-f-]*$';
  elsif p_column.kind <> 'templated' and strpos(p_literal, '0') > 0
    -- Attributes are JSON texts, where these characters are escaped.
    or left(p_column.name, 5) = 'attrs' and p_literal ~ '["\\\u0001-\u001f\u007f]'
  then
    return true;
  end if;
  v_texts := array_to_string(
    case p_column.kind when 'texts' then p_column.texts else p_column.dictionary end, e'\x1f'
  );
  return strpos(
    case when p_folds_case then logloom_private.folded_text(v_texts) else v_texts end, p_literal
  ) > 0;
end;
$$;

-- Returns the exact bits and the candidate bits of a leaf of the field any. A column with hidden
-- paths only adds candidates.
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
  -- An object or array is tested like a record that has only this attribute.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf - 'hidden', 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_hidden constant text[] := array(select jsonb_array_elements_text(p_leaf -> 'hidden'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_column logloom_private.block_columns;
  v_values text[];
  v_codes "char"[];
  v_wide_codes smallint[];
  v_bits text;
  v_found varbit;
  v_result varbit[] := array[v_none, v_none];
begin
  if 'msg' <> all(v_hidden) then
    v_result := logloom_private.message_bits(p_block, p_leaf);
  end if;
  execute 'select string_agg(repeat(case when '
    || concat_ws(
      ' or ', 'false',
      case when 'service' <> all(v_hidden)
        then logloom_private.query_text_test(p_leaf, 'l.service') end,
      case when 'level' <> all(v_hidden)
        then logloom_private.query_text_test(p_leaf, 'l.level') end
    )
    || ' then ''1'' else ''0'' end, l.records), '''')'
    || ' from (select unnest($1) as service, unnest($2) as level, unnest($3) as records) l'
  into v_bits
  using p_block.run_services, p_block.run_levels, p_block.run_records;
  v_result := array[v_result[1] | v_bits::varbit, v_result[2] | v_bits::varbit];
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    continue when logloom_private.is_hidden(v_column.name, v_hidden);
    continue when not logloom_private.column_may_hold(
      v_column, coalesce(p_leaf -> 'template' ->> 'literal', ''),
      (p_leaf -> 'folds_case')::boolean
    );
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column) end;
    execute 'select string_agg(case when '
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ' then ''1'' else ''0'' end, '''') from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value from (select unnest($1) as value) v) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      v_codes := v_column.codes;
      v_wide_codes := v_column.wide_codes;
      v_bits := (
        select string_agg(coalesce(v_values[coalesce(c.code + 129, c.wide_code)], '0'), '')
        from (
          select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code
        ) c
      );
    end if;
    v_found := (
      repeat('0', v_column.first - 1) || v_bits || repeat('0', p_block.records - v_column.last)
    )::varbit;
    v_result := array[
      v_result[1] | case when exists (
        select from unnest(v_hidden) h where starts_with(h, v_column.name || '.')
      ) then v_none else v_found end,
      v_result[2] | v_found
    ];
  end loop;
  return v_result;
end;
$$;
