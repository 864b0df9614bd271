-- Builds a source of the groups of a bound query. events: the number of records of each row. With
-- p_key it also has the numbers of this attribute and their sums; some of these rows have no
-- events. Sealed records come from columns of blocks. Null if the query groups by a field that has
-- no such column. p_rows_from: the tenant has rows only from this time on.
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
  v_by constant jsonb := p_query.plan -> 'by';
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    p_query.plan -> 'aggregates', '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_percentiles constant jsonb := (
    select jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_query.plan -> 'aggregates') with ordinality a (item, n)
    where p_key is not null and a.item ->> 'fraction' is not null
  );
  v_doubles constant boolean := v_percentiles is not null;
  v_sums constant text[] := case when v_exact
    then array['numbers', 'total', 'minimum', 'maximum'] else '{}' end;
  v_names constant text[] := array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(v_by) with ordinality f (field, n)
    order by f.n
  );
  v_by_names constant text[] := array(select distinct n from unnest(v_names) n order by 1);
  v_group constant text := array_to_string(
    array(select format('l.k%s, ', n) from generate_subscripts(v_names, 1) n order by n), ''
  );
  v_keys text;
  v_sql text;
begin
  if jsonb_path_exists(v_by, '$[*] ? (@.path.size() > 1)')
    or exists (
      select
      from jsonb_array_elements(v_by) f
      where f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
    )
  then
    return null;
  end if;
  v_keys := (
    select string_agg(
      format(
        case when k.name like 'attrs.%' then '(g.keys[%s]::jsonb #>> ''{}'')' else 'g.keys[%s]' end
          || ' as k%s, ',
        array_position(v_by_names, k.name), k.n
      ),
      '' order by k.n
    )
    from unnest(v_names) with ordinality k (name, n)
  );
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ', v_keys, 'g.events',
    array_to_string(array(select ', g.' || s from unnest(v_sums) s), ''),
    case when v_doubles then ', g.doubles' end, ' from ', v_sql, ' g'
  );
  if p_rows_from < p_query.ts_to then
    v_keys := (
      select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
      from unnest(p_query.by_sql) with ordinality b (sql, n)
    );
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ', v_keys,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.source_sql(logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_names || ('attrs.' || p_key), null)
      )),
      ' offset 0) l',
      -- Grouping by parts of ten minutes keeps the arrays short.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.percentiles_sql(
      v_sql, array(select 'k' || n from generate_subscripts(v_names, 1) n order by n),
      'events'::text || v_sums || 'doubles'::text, v_percentiles
    );
  end if;
  return (
    logloom_private.rows_from('(' || v_sql || ') l'),
    'coalesce(sum(l.events), 0)::double precision',
    array(select 'l.k' || n from generate_subscripts(v_names, 1) n order by n), p_key is not null
  )::logloom_private.counted_source;
end;
$$;
