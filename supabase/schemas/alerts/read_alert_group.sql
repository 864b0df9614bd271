-- Adds to a group what it lacks: records that were staged for the round, then older ones back to
-- p_needed_from. It keeps its place at the deadline, and rests where it goes beyond its budget.
create function logloom_private.read_alert_group(
  p_group_id bigint,
  p_needed_from timestamptz,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_reading logloom_private.alert_reading;
  v_use text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  v_use := logloom_private.add_alert_partials_sql(
    'select ' || p_group_id || ' as group_id, f.* from found f', v_group
  );
  if v_group.write_seq < p_round.write_seq_to then
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_group.filled_from, 'infinity', null,
      case
        when v_group.filled_id is null then 'true'
        else format(
          '(l.ts, l.id) >= (%L::timestamptz, %L::uuid)', v_group.filled_from, v_group.filled_id
        )
      end,
      v_use, v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records,
      v_group.write_seq
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return;
    end if;
    update logloom_private.alert_groups g
    set
      write_seq = p_round.write_seq_to,
      ms_per_record = logloom_private.milliseconds_since(v_began)
        / greatest(v_reading.records, 1),
      failures = 0
    where g.group_id = p_group_id
    returning g.* into v_group;
    v_began := clock_timestamp();
  end if;

  if v_group.filled_from < p_needed_from
    or (v_group.filled_from = p_needed_from and v_group.filled_id is null)
  then
    return;
  elsif v_group.write_seq is null then
    delete from logloom_private.alert_partials p where p.group_id = p_group_id;
    v_group.write_seq := p_round.write_seq_to;
    -- Beyond everything that ingest takes.
    v_group.filled_from := p_round.window_end + v_settings.ingest_future_limit + interval '1 day';
  end if;
  v_reading := logloom_private.read_alert_pieces(
    v_group.tenant_id, p_needed_from, v_group.filled_from, v_group.filled_id,
    'l.write_seq <= ' || v_group.write_seq, v_use, p_deadline,
    v_settings.alert_rule_records - v_group.records_read
  );
  v_group.records_read := v_group.records_read + v_reading.records;
  v_group.spent_ms := v_group.spent_ms + logloom_private.milliseconds_since(v_began);
  if not v_reading.is_complete and (
    v_group.spent_ms > extract(epoch from v_settings.alert_fill_budget) * 1000
    or v_group.records_read > v_settings.alert_rule_records
  ) then
    perform logloom_private.rest_alert_group(
      v_group, p_now, v_group.records_read, v_group.spent_ms
    );
    return;
  end if;
  if v_reading.is_complete then
    v_reading.first_ts := p_needed_from;
    v_reading.first_id := null;
    v_group.records_read := 0;
    v_group.spent_ms := 0;
    v_group.failures := 0;
  end if;
  update logloom_private.alert_groups g
  set
    write_seq = v_group.write_seq,
    filled_from = v_reading.first_ts,
    filled_id = v_reading.first_id,
    records_read = v_group.records_read,
    spent_ms = v_group.spent_ms,
    ms_per_record = case
      when v_reading.records >= 100
        then logloom_private.milliseconds_since(v_began) / v_reading.records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = v_group.failures
  where g.group_id = p_group_id;
end;
$$;
