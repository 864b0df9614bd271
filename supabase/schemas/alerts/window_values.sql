-- Values of a query over windows side by side from p_from to p_to, of a query with by one for each
-- group that has records, so that each fires apart; p_limit of them at most. p_source: SQL with the
-- columns of logloom.logs, of which the query's filter chooses; $1 is the tenant, $2 and $3 are the
-- range.
create function logloom_private.window_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer,
  p_limit integer default null
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value text := coalesce(p_query.aggregate_sql, 'count(*)::double precision');
  v_join text := 'left join ';
  v_group text := 'null::jsonb';
  v_values logloom_private.alert_window[];
begin
  if p_query.aggregate = 'rate' then
    v_value := v_value || ' / ' || p_window_minutes;
  end if;
  if cardinality(p_query.by_sql) > 0 then
    v_join := 'join ';
    select 'jsonb_object($6, array[' || string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
      || ']::text[])'
    into v_group
    from unnest(p_query.by_sql) b;
  elsif p_from + v_window = p_to then
    -- One window needs no sorting.
    execute 'select array[row(null, $2, $3, ' || v_value
      || ', null, null, null)::logloom_private.alert_window] from (' || p_source || ') l where ('
      || p_query.filter || ')'
    into v_values
    using p_tenant_id, p_from, p_to;
    return v_values;
  end if;
  execute 'select array_agg(row(null, v.starts, v.starts + $4, v.value, null, v."group", null)'
    || '::logloom_private.alert_window) from (select w.starts, ' || v_value || ' as value, '
    || v_group || ' as "group" from generate_series($2, $3 - $4, $4) w (starts) ' || v_join
    || '(select l.*, date_bin($4, l.ts, $2) as starts from (' || p_source || ') l where ('
    || p_query.filter || ')) l on l.starts = w.starts group by '
    || array_to_string(array['w.starts'] || p_query.by_sql, ', ') || ' limit $5) v'
  into v_values
  using p_tenant_id, p_from, p_to, v_window, p_limit, p_query.by_fields;
  return coalesce(v_values, '{}');
end;
$$;
