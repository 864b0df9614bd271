-- Adds what arrived for a round to a group that is not cheap, in pieces. False where it went beyond
-- its budget.
create function logloom_private.advance_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staged constant text := 'pg_temp.alert_writes';
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_budget_ms double precision;
  v_limit bigint;
  v_group logloom_private.alert_groups;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_before text := '';
  v_records bigint := 0;
  v_write_seq bigint;
begin
  select extract(epoch from s.alert_rule_budget) * 1000, s.alert_rule_records
  into v_budget_ms, v_limit
  from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  v_write_seq := v_group.write_seq;
  v_group.write_seq := p_round.write_seq_to;
  loop
    v_piece_began := clock_timestamp();
    v_piece := logloom_private.add_alert_piece(
      v_group,
      'select l.* from ' || v_staged || format(
        ' l where l.tenant_id = %L and l.write_seq > %s and l.ts >= %L::timestamptz '
          || 'and (l.ts > %3$L::timestamptz or %4$L::uuid is null or l.id >= %4$L::uuid)',
        v_group.tenant_id, v_write_seq, v_group.filled_from, v_group.filled_id
      ) || v_before || ' order by l.ts desc, l.id desc limit ' || v_size
    );
    v_records := v_records + v_piece.records;
    exit when v_piece.records < v_size;
    if logloom_private.milliseconds_since(v_began) > v_budget_ms or v_records > v_limit then
      perform logloom_private.rest_alert_group(
        p_group_id, p_now, v_records, logloom_private.milliseconds_since(v_began)
      );
      return false;
    end if;
    v_before := format(
      ' and (l.ts, l.id) < (%L::timestamptz, %L::uuid)', v_piece.first_ts, v_piece.first_id
    );
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
  end loop;
  update logloom_private.alert_groups g
  set
    write_seq = p_round.write_seq_to,
    ms_per_record = logloom_private.milliseconds_since(v_began) / greatest(v_records, 1),
    failures = 0
  where g.group_id = p_group_id;
  return true;
end;
$$;

-- Fills a group from the records, the newest first, back to p_needed_from, and keeps its place at
-- the deadline. Whether it is complete.
create function logloom_private.fill_alert_group(
  p_group_id bigint,
  p_needed_from timestamptz,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_records bigint := 0;
  v_is_done boolean := false;
  -- Beyond everything that ingest takes.
  v_to timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_to := p_round.window_end + v_settings.ingest_future_limit + interval '1 day';
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  if v_group.filled_from < p_needed_from
    or (v_group.filled_from = p_needed_from and v_group.filled_id is null)
  then
    return true;
  elsif v_group.write_seq is null then
    delete from logloom_private.alert_partials p where p.group_id = p_group_id;
    v_group.write_seq := p_round.write_seq_to;
    v_group.filled_from := v_to;
  end if;
  loop
    v_piece_began := clock_timestamp();
    v_piece := logloom_private.add_alert_piece(
      v_group,
      logloom_private.alert_source_sql(
        v_group.tenant_id, p_needed_from, v_to, v_group.filled_from,
        coalesce(v_group.filled_id, '00000000-0000-0000-0000-000000000000'), v_size
      )
    );
    v_records := v_records + v_piece.records;
    v_is_done := v_piece.records < v_size;
    exit when v_is_done;
    v_group.filled_from := v_piece.first_ts;
    v_group.filled_id := v_piece.first_id;
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
    exit when clock_timestamp() > p_deadline
      or v_group.records_read + v_records > v_settings.alert_rule_records;
  end loop;
  v_group.records_read := v_group.records_read + v_records;
  v_group.spent_ms := v_group.spent_ms + logloom_private.milliseconds_since(v_began);
  if not v_is_done and (
    v_group.spent_ms > extract(epoch from v_settings.alert_fill_budget) * 1000
    or v_group.records_read > v_settings.alert_rule_records
  ) then
    perform logloom_private.rest_alert_group(
      p_group_id, p_now, v_group.records_read, v_group.spent_ms
    );
    return false;
  end if;
  update logloom_private.alert_groups g
  set
    write_seq = v_group.write_seq,
    filled_from = case when v_is_done then p_needed_from else v_group.filled_from end,
    filled_id = case when v_is_done then null else v_group.filled_id end,
    records_read = case when v_is_done then 0 else v_group.records_read end,
    spent_ms = case when v_is_done then 0 else v_group.spent_ms end,
    ms_per_record = case
      when v_records >= 100 then logloom_private.milliseconds_since(v_began) / v_records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = case when v_is_done then 0 else g.failures end
  where g.group_id = p_group_id;
  return v_is_done;
end;
$$;

-- Reads what is missing of a tenant's groups until the deadline, those that cost least first. Which
-- ones it looked at.
create function logloom_private.read_alert_groups(
  p_tenant_id text,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pending logloom_private.pending_alert_group;
  v_complete bigint[] := '{}';
  v_is_complete boolean;
begin
  for v_pending in
    select (p).*
    from logloom_private.pending_alert_groups(p_round, p_tenant_id) p
    order by p.cost, p.group_id
  loop
    begin
      v_is_complete := true;
      if v_pending.has_write_seqs then
        v_is_complete := logloom_private.advance_alert_group(v_pending.group_id, p_round, p_now);
      end if;
      if v_is_complete then
        v_is_complete := logloom_private.fill_alert_group(
          v_pending.group_id, v_pending.needed_from, p_round, p_now, p_deadline
        );
      end if;
    exception when others then
      perform logloom_private.fail_alert_group(v_pending.group_id, p_round, sqlerrm);
    end;
    v_complete := v_complete || v_pending.group_id;
    exit when clock_timestamp() > p_deadline;
  end loop;
  return v_complete;
end;
$$;
