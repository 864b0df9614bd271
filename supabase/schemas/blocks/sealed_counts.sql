-- How many sealed records a query finds. Where runs, templates or the counts of a dictionary tell,
-- one statement asks all blocks that lie whole in the range, and no record is looked at.

-- A tree over service, level and the message as SQL over the alias l: msg is a template, folded the
-- same in lower case. Null where these do not decide it.
-- A tree that service, level and templates decide as SQL over the alias l of these and of folded, a
-- template in lower case; null for another one.
create function logloom_private.templates_sql(p_node jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_leaf jsonb;
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
  elsif not logloom_private.leaf_is_known(p_node) then
    return null;
  elsif p_node ->> 'field' in ('service', 'level') then
    return logloom_private.query_sql(p_node, 'l');
  elsif p_node ->> 'field' = 'msg' then
    v_leaf := logloom_private.template_leaf(p_node);
    return case when (v_leaf ->> 'sure')::boolean
      then '(' || logloom_private.template_test_sql(v_leaf) || ')' end;
  end if;
  return null;
end;
$$;

-- What a run needs to have a template that such a tree finds.
-- What a run has that holds a record which a tree of templates_sql finds: SQL over the alias l of
-- service, level and words, which are run_words; or else of service, level, templates and folded,
-- its templates in lower case.
create function logloom_private.runs_sql(p_node jsonb, p_by_words boolean)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leaf jsonb;
  v_literal text;
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
      v_leaf := logloom_private.template_leaf(p_node);
      v_literal := logloom_private.template_literal(v_leaf);
      return case
        when p_by_words then logloom_private.words_sql(v_literal)
        when v_literal = '' then 'true'
        else format(
          'strpos(%s, %L) > 0',
          case
            when logloom_private.template_is_folded(v_leaf) then 'l.folded'
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

-- Counts by service and level of the tenant $1 in the blocks $2, in the turns of the scan $3, for a
-- tree of templates_sql.
-- SQL that counts what a tree finds in the blocks $2 of the tenant $1, by service and level, in the
-- turns of the scan $3; null where templates do not decide the tree.
create function logloom_private.template_counts_sql(p_tree jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_test constant text := logloom_private.templates_sql(p_tree);
begin
  if v_test is null then
    return null;
  elsif v_test !~ '\ml\.(?:msg|folded)\M' then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.blocks c
      cross join lateral unnest(c.run_services, c.run_levels, c.run_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.block_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once, "offset 0" keeps it for all that use it. The templates are
  -- read where the words of a run say that it may have one.
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
          where c.tenant_id = $1 and c.block_id = any($2) and logloom_private.take_turn($3)
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
    case when v_test ~ '\ml\.folded\M' then 'lower(c.templates[f.n] collate pg_c_utf8)'
      else 'null::text' end,
    logloom_private.runs_sql(p_tree, false),
    case when v_test ~ '\ml\.msg\M' then 'string_to_array(s.templates, c.separator)'
      else 'null::text[]' end,
    case when v_test ~ '\ml\.folded\M' then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$$;

-- Those of the blocks in which a dictionary says how many records pass a leaf over its column.
-- Those of the blocks in which the counts of a dictionary answer a leaf; none where the tree is not
-- one leaf over one column.
create function logloom_private.blocks_with_dictionary(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_column constant text := case when p_leaf ->> 'field' = 'attrs'
    then 'attrs.' || (p_leaf -> 'path' ->> 0) else p_leaf ->> 'field' end;
begin
  if (p_leaf ->> 'type' = 'leaf') is not true or not logloom_private.leaf_is_known(p_leaf)
    or p_leaf ->> 'joined' is not null
    or p_leaf ->> 'field' not in ('env', 'req_id', 'user_id', 'route', 'host', 'attrs')
  then
    return '{}';
  end if;
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks) and not exists (
      select
      from logloom_private.block_columns k
      where k.tenant_id = p_tenant_id and k.block_id = c.block_id
        and (
          k.name = v_column and k.kind <> 'dictionary'
          -- Keys that have no column.
          or v_is_attribute and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
    )
  );
end;
$$;

-- Without a value a leaf is never true.
-- How many records of blocks_with_dictionary a leaf finds.
create function logloom_private.dictionary_count(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb
)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_events bigint;
begin
  execute format(
    $query$
      select coalesce(sum(l.count), 0)
      from (
        select %1$s as %2$I, d.count
        from logloom_private.block_columns k
        cross join lateral unnest(k.dictionary, k.counts) d (value, count)
        where k.tenant_id = $1 and k.block_id = any($2) and k.name = %3$L
      ) l
      where %4$s
    $query$,
    case when v_key is not null
      then format('jsonb_build_object(%L::text, d.value::jsonb)', v_key) else 'd.value' end,
    p_leaf ->> 'field', coalesce('attrs.' || v_key, p_leaf ->> 'field'),
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_events
  using p_tenant_id, p_blocks;
  return v_events;
end;
$$;

-- How many sealed records of a tenant in [p_from, p_to) a query finds, by service and level as far
-- as p_by names them; several rows may be of the same ones.
create function logloom_private.sealed_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_filter text,
  p_by text[] default array['service', 'level']
)
returns table (service text, level text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 100
as $$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_blocks bigint[] := array(
    select logloom_private.candidate_blocks(p_tenant_id, p_from, p_to, p_tree)
  );
  v_whole constant bigint[] := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(v_blocks)
      and c.first_ts >= p_from and c.last_ts < p_to
  );
  v_sql constant text := logloom_private.template_counts_sql(p_tree);
  v_counted bigint[] := '{}';
  v_block logloom_private.blocks;
  v_bits varbit;
begin
  if v_sql is not null then
    v_counted := v_whole;
    return query execute v_sql
    using p_tenant_id, v_counted, current_setting('logloom.scan', true);
  elsif p_by = '{}' then
    v_counted := logloom_private.blocks_with_dictionary(p_tenant_id, v_whole, p_tree);
    if v_counted <> '{}' then
      events := logloom_private.dictionary_count(p_tenant_id, v_counted, p_tree);
      return next;
    end if;
  end if;
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.block_id = any(v_blocks) and c.block_id <> all(v_counted)
    order by c.last_ts
  loop
    v_bits := logloom_private.block_bits(
      v_block, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_block.run_services, v_block.run_levels, v_block.run_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
end;
$$;
