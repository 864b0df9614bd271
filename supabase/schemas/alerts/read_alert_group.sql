-- The longest group of a rule with by, in bytes of JSON.
create function logloom_private.alert_group_bytes()
returns integer
language sql
immutable
return 1024;

-- Returns SQL for the partial values per group, minute and part. p_source: SQL with group_id and
-- the columns of logloom.logs.
create function logloom_private.alert_partials_sql(p_source text, p_filter text, p_parts text[])
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Nearly all groups have one part that counts every record, and need no join.
  v_is_plain constant boolean := cardinality(p_parts) = 1 and p_parts[1] like 'true, %';
begin
  -- "offset 0": the number is computed once per record instead of once per aggregate.
  return format(
    'select m.group_id, m.minute, %s as part, count(*) as events, count(m.number) as numbers, '
      || 'sum(m.number) as total, min(m.number) as least, max(m.number) as greatest '
      || 'from (select l.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
      || '%s as number from (%s) l %s where (%s) offset 0) m group by m.group_id, m.minute',
    case when v_is_plain then '1' else 'm.part' end,
    case when v_is_plain then substr(p_parts[1], 7) else 'p.part, p.number' end,
    p_source,
    case when not v_is_plain then format(
      'join lateral (values %s) p (part, counts, number) on p.counts',
      (
        select string_agg(format('(%s, %s)', p.n, p.sql), ', ' order by p.n)
        from unnest(p_parts) with ordinality p (sql, n)
      )
    ) end,
    p_filter
  ) || case when v_is_plain then '' else ', m.part' end;
end;
$$;

-- Returns SQL that adds the rows of alert_partials_sql to the stored partial values.
create function logloom_private.add_alert_partials_sql(
  p_source text,
  p_group logloom_private.alert_groups
)
returns text
language sql
immutable
return 'insert into logloom_private.alert_partials as p '
  || '(group_id, minute, part, events, numbers, total, least, greatest) '
  || logloom_private.alert_partials_sql(p_source, p_group.filter, p_group.parts)
  || ' on conflict (group_id, minute, part) do update set '
  || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
  || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
  || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';

-- Evaluates the rules of a group without partial values: collects the matching records of each
-- window piece by piece, then aggregates these records. Returns how many alerts fired. Pauses the
-- group if it exceeds its budget.
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
  v_is_reopened boolean;
  v_records bigint;
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
  select
    array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text),
    bool_or(r.reopened_from is not null)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id, v_is_reopened
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    -- Reopened windows share one budget: late records reopen up to an hour of windows.
    if v_began is null or not v_is_reopened then
      v_began := clock_timestamp();
      v_records := 0;
    end if;
    v_query := logloom_private.compile_rule(v_group.tenant_id, v_query_dsl, v_view_id, v_end);
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, logloom_private.query_sql(v_query.tree, 'l'),
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records - v_records
    );
    v_records := v_records + v_reading.records;
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_records, logloom_private.milliseconds_since(v_began)
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
      where octet_length(f."group"::text) > logloom_private.alert_group_bytes()
    ) then
      raise exception 'The rule found a group of more than % bytes: group by another field',
        logloom_private.alert_group_bytes();
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

-- Adds to a group the records that it lacks: first records staged for the round, then older records
-- back to p_needed_from. If the deadline passes, the next call continues there. Pauses the group if
-- it exceeds its budget.
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
  -- How long reading a group's older records may take, over all rounds.
  v_fill_budget_ms constant integer := 30000;
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
    -- Later than any ts that ingest accepts.
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
    v_group.spent_ms > v_fill_budget_ms
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
