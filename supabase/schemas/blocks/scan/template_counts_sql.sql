-- Builds SQL for a leaf over messages. It uses the alias l with msg (a template) and folded (the
-- template in lower case).
create function logloom_private.template_sql(p_leaf jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_text constant text :=
    case when (p_leaf -> 'folds_case')::boolean then 'l.folded' else 'l.msg' end;
  v_sql constant text := logloom_private.query_text_test(
    jsonb_build_object('test', v_template ->> 'by', 'values', v_template -> 'values'), v_text
  );
begin
  return case
    when v_template ->> 'by' = 'exists' then '(' || v_text || ' is not null)'
    -- Searching for a plain text is far quicker than testing a regex.
    when v_template ->> 'by' = 'regex' and v_literal <> '' then format(
      'case when strpos(%s, %L) > 0 then ', v_text, v_literal
    ) || v_sql || ' else false end'
    else '(' || v_sql || ')'
  end;
end;
$$;

-- Builds SQL for a tree. It uses the alias l with service, level, msg (a template) and folded (the
-- template in lower case). Null if these fields do not decide the tree.
create function logloom_private.templates_sql(p_node jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_items text[];
begin
  if v_type in ('all', 'none') then
    return logloom_private.query_sql(p_node, 'l');
  elsif v_type = 'not' then
    return '(' || logloom_private.templates_sql(p_node -> 'item') || ' is not true)';
  elsif v_type in ('and', 'or') then
    v_items := array(
      select logloom_private.templates_sql(i) from jsonb_array_elements(p_node -> 'items') i
    );
    return case when array_position(v_items, null) is null
      then '(' || array_to_string(v_items, ' ' || v_type || ' ') || ')' end;
  elsif p_node ->> 'decided_by' = 'run' then
    return logloom_private.query_sql(p_node, 'l');
  elsif p_node ->> 'field' = 'msg'
    and (p_node -> 'template' -> 'decides')::boolean
  then
    return '(' || logloom_private.template_sql(p_node) || ')';
  end if;
  return null;
end;
$$;

-- Builds SQL that tells whether a run may match a tree that templates_sql decides. It uses the
-- alias l with service, level and:
--   with p_by_words  words (run_words)
--   otherwise        templates, and folded (the templates in lower case)
create function logloom_private.runs_sql(p_node jsonb, p_by_words boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_literal constant text := p_node -> 'template' ->> 'literal';
begin
  case p_node ->> 'type'
    when 'and', 'or' then
      return (
        select '(' || string_agg(
          logloom_private.runs_sql(i, p_by_words), ' ' || (p_node ->> 'type') || ' '
        ) || ')'
        from jsonb_array_elements(p_node -> 'items') i
      );
    when 'leaf' then
      if p_node ->> 'field' <> 'msg' then
        return logloom_private.query_sql(p_node, 'l');
      end if;
      return case
        when p_by_words then logloom_private.words_sql(p_node)
        when v_literal = '' then 'true'
        else format(
          'strpos(%s, %L) > 0',
          case
            when (p_node -> 'folds_case')::boolean then 'l.folded'
            else 'l.templates'
          end,
          v_literal
        )
      end;
    else
      return 'true';
  end case;
end;
$$;

-- Builds SQL that counts the records that a tree finds, by service and level. $1 is the tenant, $2
-- the blocks, $3 the scan slot. Null if templates do not decide the tree.
create function logloom_private.template_counts_sql(p_tree jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test constant text := logloom_private.templates_sql(p_tree);
  v_folds constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == true)'
  );
  v_keeps_case constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == false)'
  );
begin
  if v_test is null then
    return null;
  elsif not v_folds and not v_keeps_case then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.blocks c
      cross join lateral unnest(c.run_services, c.run_levels, c.run_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.block_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once. "offset 0" keeps the array for all its uses. Templates are
  -- read only if the words of a run may match.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_templates || '{}'::text[] as templates,
          x.stored_template_records || '{}'::integer[] as template_records
        from (
          select
            c.separator, c.run_services, c.run_levels, c.run_records, c.run_templates,
            c.templates as stored_templates, c.template_records as stored_template_records,
            array(
              select l.n::integer
              from unnest(c.run_services, c.run_levels, c.run_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.blocks c
          where c.tenant_id = $1 and c.block_id = any($2) and logloom_private.take_scan_slot($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.templates)::integer from unnest(c.run_templates[1:l.n]) u (templates)
        ) as last
        from (
          select
            f.n, c.run_services[f.n] as service, c.run_levels[f.n] as level,
            c.run_records[f.n] as records, c.run_templates[f.n] as template_count,
            c.templates[f.n] as templates, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.template_records[s.last - s.template_count + 1:s.last])
          u (msg, folded, count)
        where s.template_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.template_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.runs_sql(p_tree, true),
    case when v_folds then 'logloom_private.folded_text(c.templates[f.n])'
      else 'null::text' end,
    logloom_private.runs_sql(p_tree, false),
    case when v_keeps_case then 'string_to_array(s.templates, c.separator)'
      else 'null::text[]' end,
    case when v_folds then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$$;
