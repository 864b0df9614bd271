-- Evaluates the rules of a group that read their windows: the records of each window that match are
-- put aside piece by piece, then aggregated. Alerts fired; the group rests where that goes beyond
-- its budget.
create function logloom_private.scan_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_rule_ids uuid[];
  v_query_dsl text;
  v_window_minutes integer;
  v_view_id uuid;
  v_query logloom_private.compiled_query;
  v_due logloom_private.alert_window[];
  v_start timestamptz;
  v_end timestamptz;
  v_reading logloom_private.alert_reading;
  v_found logloom_private.alert_window[];
  v_windows logloom_private.alert_window[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  select array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    v_began := clock_timestamp();
    v_query := logloom_private.compile_rule(
      v_group.tenant_id, v_query_dsl, v_view_id, v_end
    );
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, v_query.filter,
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return 0;
    end if;
    v_query.filter := 'true';
    v_found := logloom_private.window_values(
      v_query, 'select m.* from ' || v_matches || ' m', v_group.tenant_id, v_start, v_end,
      v_window_minutes, v_settings.alert_groups + 1
    );
    if cardinality(v_found) > v_settings.alert_groups then
      raise exception
        'The rule found more than % groups: narrow the filter, or group by another field',
        v_settings.alert_groups;
    elsif exists (
      select from unnest(v_found) f
      where octet_length(f."group"::text) > v_settings.alert_group_bytes
    ) then
      raise exception 'The rule found a group of more than % bytes: group by another field',
        v_settings.alert_group_bytes;
    end if;
    v_windows := v_windows || array(
      select row(d.rule_id, d.window_start, d.window_end, f.value, null, f."group", null)
        ::logloom_private.alert_window
      from unnest(v_due) d
      left join unnest(v_found) f on true
      where d.window_end = v_end
    );
  end loop;
  update logloom_private.alert_groups g
  set failures = 0, retry_at = null, last_error = null
  where g.group_id = p_group_id;
  return logloom_private.settle_alert_windows(v_windows, p_round, p_now);
end;
$$;
