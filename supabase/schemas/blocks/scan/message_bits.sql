-- Returns the exact bits and the candidate bits of a leaf over messages.
create function logloom_private.message_bits(
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
  v_folded constant boolean := (p_leaf -> 'folds_case')::boolean;
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_words constant text[] := array(select jsonb_array_elements_text(v_template -> 'words'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_found integer[];
  v_templates text[];
  v_texts text[];
  v_bits varbit;
begin
  if v_literal is null then
    return array[v_none, ~v_none];
  end if;
  -- The runs whose words do not exclude a matching template.
  v_found := array(
    select l.n
    from unnest(p_block.run_words) with ordinality l (words, n)
    where l.words is null
      or not exists (
        select
        from unnest(v_words) w
        where strpos(
          case when strpos(w, 'σ') > 0 then replace(l.words, 'ς', 'σ') else l.words end, w
        ) = 0
      )
  );
  if v_found = '{}' then
    return array[v_none, v_none];
  end if;
  v_templates := p_block.templates;
  v_texts := array(
    select case when strpos(m.text, v_literal) > 0 then m.text end
    from (
      select u.n, case when u.n::integer = any(v_found) then
        case when v_folded then logloom_private.folded_text(u.templates) else u.templates end
        end as text
      from unnest(v_templates) with ordinality u (templates, n)
      offset 0
    ) m
    order by m.n
  );
  if cardinality(array_remove(v_texts, null)) = 0 then
    return array[v_none, v_none];
  end if;
  -- A leaf never matches a record without a message.
  execute format(
    $query$
      select string_agg(
        coalesce(
          (
            select string_agg(
              repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
            )
            from unnest(string_to_array(s.text, $4), $5[s.last - s.templates + 1:s.last])
              with ordinality l (%s, count, n)
            where l.count is not null
          ),
          repeat('0', s.records)
        ),
        '' order by s.n
      )::varbit
      from (
        select u.*, (sum(u.templates) over (order by u.n))::integer as last
        from unnest($1, $2, $3) with ordinality u (text, templates, records, n)
      ) s
    $query$,
    logloom_private.template_sql(p_leaf), case when v_folded then 'folded' else 'msg' end
  )
  into v_bits
  using
    v_texts, p_block.run_templates, p_block.run_records, p_block.separator,
    p_block.template_records;
  return array[
    case when (v_template -> 'decides')::boolean then v_bits else v_none end, v_bits
  ];
end;
$$;
