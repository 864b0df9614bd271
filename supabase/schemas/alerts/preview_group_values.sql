-- Values of a query with by over the windows of a span, one for each group. The windows stand side
-- by side, as those of other rules that read their windows.
create function logloom_private.preview_group_values(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_window_minutes integer,
  p_from timestamptz,
  p_to timestamptz
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_max constant integer := (select s.search_groups from logloom_private.settings s);
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value text := p_query.aggregate_sql;
  v_values logloom_private.alert_window[];
begin
  if p_query.aggregate = 'rate' then
    v_value := v_value || format(' / %L::double precision', p_window_minutes);
  end if;
  execute 'select array_agg(row(null, f.starts, f.starts + $4, f.value, null, f."group")'
    || '::logloom_private.alert_window) from (select date_bin($4, l.ts, $2) as starts, ' || v_value
    || ' as value, jsonb_object($5, array['
    || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(p_query.by_sql) b)
    || ']::text[]) as "group" from (' || logloom_private.preview_source_sql(p_query)
    || ') l where (' || p_query.filter || ') group by 1, '
    || array_to_string(p_query.by_sql, ', ') || ' limit $6) f'
  into v_values
  using p_tenant_id, p_from, date_bin(v_window, p_to, p_from), v_window, p_query.by_fields,
    v_max + 1;
  if cardinality(v_values) > v_max then
    perform logloom_private.refuse_stage_bound('by', v_max, 'groups of all windows');
  end if;
  return coalesce(v_values, '{}');
end;
$$;
