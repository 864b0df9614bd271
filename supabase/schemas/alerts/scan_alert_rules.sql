-- The values of the records that were put aside: of a rule with by one for each group, so that each
-- fires apart and a group without records does not fire. Without any group the value is null.
create function logloom_private.matched_windows(
  p_plan logloom_private.alert_plans,
  p_window logloom_private.alert_window
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_max constant integer := (select s.alert_groups from logloom_private.settings s);
  v_value text := p_plan.aggregate_sql;
  v_windows logloom_private.alert_window[];
begin
  if p_plan.aggregate = 'rate' then
    v_value := v_value || format(
      ' * 60 / %L::double precision',
      extract(epoch from p_window.window_end - p_window.window_start)
    );
  end if;
  if cardinality(p_plan.by_sql) = 0 then
    execute 'select ' || v_value || ' from pg_temp.alert_matches l' into p_window.value;
    return array[p_window];
  end if;
  execute 'select array_agg(row($1, $2, $3, g.value, null, g."group")'
    || '::logloom_private.alert_window) from (select ' || v_value
    || ' as value, jsonb_object($4, array['
    || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(p_plan.by_sql) b)
    || ']::text[]) as "group" from pg_temp.alert_matches l group by '
    || array_to_string(p_plan.by_sql, ', ') || ' limit ' || v_max + 1 || ') g'
  into v_windows
  using p_window.rule_id, p_window.window_start, p_window.window_end, p_plan.by_fields;
  if cardinality(v_windows) > v_max then
    p_window.error := format(
      'The rule found more than %s groups: narrow the filter, or group by another field', v_max
    );
    return array[p_window];
  end if;
  return coalesce(v_windows, array[p_window]);
end;
$$;

-- A window with its value, of a rule with by one for each group, or with the error where it went
-- beyond its budget: the records that match are put aside piece by piece, then aggregated.
create function logloom_private.scanned_window(
  p_plan logloom_private.alert_plans,
  p_window logloom_private.alert_window
)
returns logloom_private.alert_window[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_settings logloom_private.settings;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_records bigint := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_plan.names_now then
    p_plan.filter := logloom_private.query_sql(
      p_plan.tree, 'l', quote_literal(p_window.window_end) || '::timestamptz'
    );
  end if;
  perform logloom_private.empty_staging_table(v_matches, false);
  loop
    v_piece_began := clock_timestamp();
    execute 'with piece as materialized (' || logloom_private.alert_source_sql(
      p_plan.tenant_id, p_window.window_start, p_window.window_end, v_piece.first_ts,
      v_piece.first_id, v_size
    ) || '), matched as (insert into '
      || v_matches || ' select l.* from piece l where (' || p_plan.filter
      || ')) select (select count(*) from piece), o.ts, o.id from (select 1) _ '
      || 'left join lateral (select * from piece order by ts, id limit 1) o on true'
    into v_piece;
    v_records := v_records + v_piece.records;
    exit when v_piece.records < v_size;
    if v_records > v_settings.alert_rule_records
      or clock_timestamp() > v_began + v_settings.alert_rule_budget
    then
      p_window.error := logloom_private.too_costly(
        v_records, logloom_private.milliseconds_since(v_began)
      );
      return array[p_window];
    end if;
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
  end loop;
  return logloom_private.matched_windows(p_plan, p_window);
end;
$$;

-- Evaluates a tenant's rules that read their windows, until the deadline. Rules that ask the same
-- of the same windows share a reading. Alerts fired.
create function logloom_private.scan_alert_rules(
  p_tenant_id text,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan logloom_private.alert_plans;
  v_window logloom_private.alert_window;
  v_windows logloom_private.alert_window[];
  v_found logloom_private.alert_window[];
  v_error text;
  v_costly boolean;
  v_seen jsonb := '{}';
  v_key text;
  v_fired integer := 0;
begin
  for v_plan in
    select p.*
    from logloom_private.pending_alert_scans(p_round, p_tenant_id) p
    order by p.failures, p.rule_id
  loop
    v_windows := '{}';
    v_error := null;
    v_costly := false;
    for v_window in
      select d.*
      from logloom_private.due_alert_windows(array[v_plan.rule_id], p_round) d
      order by d.window_end desc
    loop
      v_key := md5(
        jsonb_build_array(
          case when v_plan.names_now then v_plan.query_dsl else v_plan.filter end,
          v_plan.aggregate_sql, v_window.window_start, v_window.window_end
        )::text
      );
      if v_seen ? v_key and cardinality(v_plan.by_sql) = 0 then
        v_window.value := v_seen ->> v_key;
        v_found := array[v_window];
      else
        begin
          v_found := logloom_private.scanned_window(v_plan, v_window);
          v_error := v_found[1].error;
          v_costly := v_error like 'The rule costs too much%';
          v_seen := v_seen || jsonb_build_object(v_key, v_found[1].value::text);
        exception when others then
          v_error := sqlerrm;
        end;
      end if;
      exit when v_error is not null;
      v_windows := v_windows || v_found;
    end loop;
    if v_error is not null then
      v_windows := array[
        row(v_plan.rule_id, p_round.window_end, p_round.window_end, null, v_error, null)
          ::logloom_private.alert_window
      ];
    end if;
    update logloom_private.alert_plans p
    set
      last_error = v_error,
      retry_at = case when v_costly then p_now + logloom_private.alert_back_off(p.failures) end,
      failures = case when v_costly then p.failures + 1 else 0 end
    where p.rule_id = v_plan.rule_id;
    v_fired := v_fired + logloom_private.settle_alert_windows(v_windows, p_round, p_now);
    exit when clock_timestamp() > p_deadline;
  end loop;
  return v_fired;
end;
$$;
