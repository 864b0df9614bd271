-- A leaf over the message as one over its mask: a regular expression or LIKE pattern in which each
-- digit is 0, and whether it decides or only leaves out.
create function logloom_private.mask_leaf(p_leaf jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_pattern constant text := p_leaf ->> 'pattern';
  v_part text;
  v_mask text := '';
  v_sure boolean := true;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_leaf || '{"sure": true}';
    when 'contains', 'like' then
      v_mask := logloom_private.mask_of(v_pattern);
      return p_leaf || jsonb_build_object('pattern', v_mask, 'sure', v_pattern !~ '[0-9]');
    when 'equal' then
      return p_leaf || jsonb_build_object(
        'values', (
          select jsonb_agg(logloom_private.mask_of(v #>> '{}'))
          from jsonb_array_elements(p_leaf -> 'values') v
        ),
        'sure', (p_leaf ->> 'values') !~ '[0-9]'
      );
    when 'regex' then
      foreach v_part in array array(
        select m.match[1]
        from regexp_matches(
          v_pattern, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g'
        ) with ordinality as m (match, n)
        order by m.n
      ) loop
        if left(v_part, 1) = '[' then
          -- A class that tells digits apart.
          if replace(v_part, '0-9', '') ~ '[0-9]' then
            v_sure := false;
            v_part := case when left(v_part, 2) = '[^' then '.' else left(v_part, -1) || '0]' end;
          end if;
        elsif v_part ~ '^\\?[0-9]$' then
          v_sure := false;
          v_part := '0';
        end if;
        v_mask := v_mask || v_part;
      end loop;
      return p_leaf || jsonb_build_object('pattern', v_mask, 'sure', v_sure);
    else
      return null;
  end case;
end;
$$;

revoke all on function logloom_private.mask_leaf(jsonb) from public;

comment on function logloom_private.mask_leaf(jsonb) is
  'A leaf over the message as one over its mask, with sure: whether it decides, or only leaves '
  'out. Null where there is none.';

-- A leaf over the message: surely and perhaps.
create function logloom_private.message_bits(
  p_chunk logloom_private.sealed_chunks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_leaf constant jsonb := logloom_private.mask_leaf(p_leaf);
  v_folds constant boolean :=
    p_leaf ->> 'test' = 'contains' or coalesce((p_leaf ->> 'fold')::boolean, false);
  v_separator constant text := p_chunk.separator;
  v_literal text := '';
  v_none constant varbit := logloom_private.no_bits(p_chunk.records);
  v_texts text[] := case when v_folds then p_chunk.folded_masks else p_chunk.masks end;
  v_masks text[];
  v_counts integer[] := p_chunk.mask_records;
  v_from integer := 1;
  v_parts text[] := '{}';
  v_part text;
  v_test text;
  v_bits varbit;
begin
  if v_leaf is null then
    return array[v_none, ~v_none];
  end if;
  if v_leaf ->> 'test' = 'contains' and substr(v_leaf ->> 'pattern', 2) !~ '[\\_%].' then
    v_literal := substr(v_leaf ->> 'pattern', 2, length(v_leaf ->> 'pattern') - 2);
  end if;
  -- The masks are in lower case already where the leaf folds.
  if v_leaf ->> 'test' = 'contains' then
    v_test := 'l.msg like ' || quote_literal(v_leaf ->> 'pattern');
  elsif v_leaf ->> 'test' = 'regex' then
    v_test := 'l.msg collate "C" ~ ' || quote_literal(v_leaf ->> 'pattern');
  else
    v_test := logloom_private.query_sql(v_leaf, 'l');
  end if;

  for v_section in 1..cardinality(v_texts) loop
    if v_texts[v_section] is null then
      v_texts[v_section] := p_chunk.masks[v_section];
    end if;
    if p_chunk.section_masks[v_section] = 0 then
      -- No message: the test of null.
      execute format(
        'select case when (%s) is true then ''1'' else ''0'' end from (select null::text as msg) l',
        v_test
      )
      into v_part;
      v_part := repeat(v_part, p_chunk.section_records[v_section]);
    elsif v_literal <> '' and strpos(v_texts[v_section], v_literal) = 0 then
      v_part := repeat('0', p_chunk.section_records[v_section]);
    else
      execute format(
        $query$
          select string_agg(
            repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
          )
          from unnest(string_to_array($1, $2), $3) with ordinality l (msg, count, n)
          where l.count is not null
        $query$,
        v_test
      )
      into v_part
      using
        v_texts[v_section], v_separator,
        v_counts[v_from:v_from + p_chunk.section_masks[v_section] - 1];
    end if;
    v_parts := v_parts || v_part;
    v_from := v_from + p_chunk.section_masks[v_section];
  end loop;
  v_bits := array_to_string(v_parts, '')::varbit;
  return array[case when (v_leaf ->> 'sure')::boolean then v_bits else v_none end, v_bits];
end;
$$;

revoke all on function logloom_private.message_bits(
  logloom_private.sealed_chunks, jsonb
) from public;

comment on function logloom_private.message_bits(logloom_private.sealed_chunks, jsonb) is
  'A leaf over the message: the bits that are sure, and those that may be.';
