create function logloom_private.condition_fields(p_aggregates jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_agg(distinct f.field), '[]')
    from jsonb_array_elements(p_aggregates) a (item)
    cross join lateral jsonb_path_query(
      jsonb_build_array(a.item -> 'condition'), 'strict $.** ? (@.field.type() == "string")'
    ) f (field)
  );
end;
$$;

-- Returns the names that fields have as columns of a block.
create function logloom_private.block_names(p_fields jsonb)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(p_fields) with ordinality f (field, n)
    order by f.n
  );
end;
$$;

-- Builds the columns c1, c2 … of groups. cn is true if the condition of the n-th aggregate holds.
create function logloom_private.conditions_sql(p_aggregates jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      format('%s as c%s, ', logloom_private.query_sql(a.item -> 'condition', 'l'), a.n),
      '' order by a.n
    )
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    where a.item ? 'condition'
  );
end;
$$;

-- Builds the columns p_names from the keys that sealed_groups returns. p_by: the names of the keys.
create function logloom_private.fields_of_keys_sql(p_names text[], p_by text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      case
        when n.field <> 'attrs' then format('g.keys[%s] as %I, ', n.places[1], n.field)
        else '(' || (
          select string_agg(
            format(
              'case when g.keys[%1$s] is null then ''{}'' '
                || 'else jsonb_build_object(%2$L, g.keys[%1$s]::jsonb) end',
              p.place, substr(p_by[p.place], 7)
            ),
            ' || '
          )
          from unnest(n.places) p (place)
        ) || ') as attrs, '
      end,
      ''
    )
    from (
      select split_part(u.name, '.', 1) as field, array_agg(array_position(p_by, u.name)) as places
      from unnest(p_names) u (name)
      group by 1
    ) n
  );
end;
$$;

-- Builds a source of the groups of a bound query. events: the number of records of each row. c1, c2
-- …: see conditions_sql. With p_key, rows also have sums or percentiles of this attribute's
-- numbers, and some rows have no events. Sealed records come from columns of blocks. Null if a
-- group or condition needs a field without such a column. p_rows_from: no row is older.
create function logloom_private.groups_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_rows_from timestamptz,
  p_key text default null
)
returns logloom_private.counted_source
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_read constant jsonb := logloom_private.condition_fields(v_aggregates);
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    v_aggregates, '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_doubles constant boolean := p_key is not null and jsonb_path_exists(
    v_aggregates, '$[*] ? (@.fraction != null)'
  );
  v_names constant text[] := logloom_private.block_names(p_query.plan -> 'by');
  v_read_names constant text[] := logloom_private.block_names(v_read);
  v_by_names constant text[] := array(
    select distinct n from unnest(v_names || v_read_names) n order by 1
  );
  v_conditions constant text := logloom_private.conditions_sql(v_aggregates);
  v_keys constant text[] := array(
    select 'k' || n from generate_subscripts(v_names, 1) n order by n
  );
  v_columns constant text[] := array(
    select 'c' || a.n from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    where a.item ? 'condition'
    order by a.n
  );
  v_sums constant text[] := case when v_exact
    then array['numbers', 'total', 'minimum', 'maximum'] else '{}' end;
  v_group constant text := array_to_string(
    array(select 'l.' || c || ', ' from unnest(v_keys || v_columns) c), ''
  );
  v_sql text;
begin
  if exists (
    select
    from jsonb_array_elements(p_query.plan -> 'by' || v_read) f
    where jsonb_array_length(f -> 'path') > 1
      or f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
  ) then
    return null;
  end if;
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ',
    (
      select string_agg(
        format(
          case when k.name like 'attrs.%' then '(l.keys[%s]::jsonb #>> ''{}'')'
            else 'l.keys[%s]' end
            || ' as k%s, ',
          array_position(v_by_names, k.name), k.n
        ),
        '' order by k.n
      )
      from unnest(v_names) with ordinality k (name, n)
    ),
    v_conditions, 'l.events',
    array_to_string(array(select ', l.' || s from unnest(v_sums) s), ''),
    case when v_doubles then ', l.doubles' end,
    ' from (select ', logloom_private.fields_of_keys_sql(v_read_names, v_by_names),
    'g.* from ', v_sql, ' g) l'
  );
  if p_rows_from < p_query.ts_to then
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ',
      (
        select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
        from unnest(p_query.by_sql) with ordinality b (sql, n)
      ),
      v_conditions,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.source_sql(logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_by_names || ('attrs.' || p_key), null)
      )),
      ' offset 0) l',
      -- Grouping by parts of ten minutes keeps the arrays short.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.conditional_percentiles_sql(
      v_sql, v_aggregates, v_keys, v_columns || 'events'::text || v_sums
    );
  end if;
  return (
    logloom_private.rows_from('(' || v_sql || ') l'), 'sum(l.events)',
    array(select 'l.' || k from unnest(v_keys) k), p_key is not null
  )::logloom_private.counted_source;
end;
$$;
