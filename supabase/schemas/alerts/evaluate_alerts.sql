-- The most rules that one transaction of a round evaluates.
create function logloom_private.alert_step_rules()
returns integer
language sql
immutable
return 1000;

-- Does the next piece of work after a round: compiles new rules; or else calls
-- fill_small_alert_groups; or else reads missing records of one tenant's groups, for about
-- alert_rule_budget. Returns how many alerts fired, or null if there was nothing to do.
create function logloom_private.read_alert_windows(
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_budget constant interval := (select s.alert_rule_budget from logloom_private.settings s);
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_pending record;
  v_tenant_id text;
  v_fired integer := 0;
begin
  v_rule_ids := logloom_private.plan_alert_rules(p_now, logloom_private.alert_step_rules() / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(
    p_round, logloom_private.alert_step_rules() * 2
  );
  if cardinality(v_group_ids) = 0 then
    for v_pending in
      with pending as materialized (
        select p.* from logloom_private.pending_alert_groups(p_round) p
      )
      select p.*
      from pending p
      where p.tenant_id = (
        select f.tenant_id
        from pending f
        left join logloom_private.alert_spending s on s.tenant_id = f.tenant_id
        -- The tenant that used the least time in this round comes first.
        order by coalesce(s.spent_ms, 0), f.tenant_id
        limit 1
      )
      order by p.place
    loop
      v_tenant_id := v_pending.tenant_id;
      v_group_ids := v_group_ids || v_pending.group_id;
      update logloom_private.alert_groups g set turn_at = p_now
      where g.group_id = v_pending.group_id;
      begin
        if v_pending.has_partials then
          perform logloom_private.read_alert_group(
            v_pending.group_id, v_pending.needed_from, p_round, p_now,
            v_began + v_budget
          );
        else
          v_fired := v_fired
            + logloom_private.scan_alert_group(v_pending.group_id, p_round, p_now);
        end if;
      exception when others then
        perform logloom_private.empty_alert_groups(
          array[v_pending.group_id], sqlerrm, p_round.window_end + interval '1 minute'
        );
      end;
      exit when clock_timestamp() > v_began + v_budget;
    end loop;
    if v_tenant_id is null then
      return null;
    end if;
  end if;
  v_fired := v_fired + logloom_private.judge_alert_rules(
    array(
      select r.rule_id
      from logloom_private.planned_alert_rules r
      where r.group_id = any(v_group_ids)
    ),
    p_round, p_now
  );
  if v_tenant_id is not null then
    insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
    values (v_tenant_id, logloom_private.milliseconds_since(v_began))
    on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  end if;
  return v_fired;
end;
$$;

-- Does the next piece of a round for all tenants: brings groups up to date, or evaluates the next
-- rules. An error does not stop other rules.
create function logloom_private.continue_alert_round(p_round logloom_private.alert_rounds)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule_ids uuid[];
begin
  begin
    if logloom_private.advance_alert_groups(p_round, clock_timestamp() + interval '1 second') then
      return;
    end if;
  exception
    when lock_not_available or disk_full then
      raise;
    when query_canceled or others then
      perform logloom_private.record_job_error('evaluate_alerts', sqlstate, sqlerrm);
  end;
  v_rule_ids := logloom_private.next_alert_rules(
    p_round.rules_through, logloom_private.alert_step_rules(), p_round
  );
  begin
    perform logloom_private.judge_alert_rules(v_rule_ids, p_round, clock_timestamp());
  exception
    when lock_not_available or disk_full then
      raise;
    when query_canceled or others then
      perform logloom_private.record_job_error('evaluate_alerts', sqlstate, sqlerrm);
  end;
  -- The round ends after the last rule. Groups that were not read yet follow in read_alert_windows.
  update logloom_private.alert_rounds r
  set
    rules_through = v_rule_ids[cardinality(v_rule_ids)],
    finished_at = case when v_rule_ids = '{}' then clock_timestamp() end
  where r.singleton;
end;
$$;

-- Does a step of the job evaluate_alerts: a piece of the round for the last full minute. After the
-- round it reads the records that single rules need, for a second at a time.
create function logloom_private.evaluate_alerts()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round logloom_private.alert_rounds;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('alerts')) then
    return interval '100 milliseconds';
  end if;
  -- Records are staged in the session that began the round. Another session begins it again.
  select r.* into v_round
  from logloom_private.alert_rounds r
  where r.finished_at is null and r.staged_by = pg_backend_pid()
    and (r.write_seq_from = r.write_seq_to or to_regclass('pg_temp.alert_writes') is not null);
  if not found then
    v_round := logloom_private.begin_alert_round(
      clock_timestamp(),
      logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
    );
  end if;
  if v_round.window_end is not null then
    perform logloom_private.continue_alert_round(v_round);
    return '0';
  end if;
  v_round := logloom_private.continued_alert_round();
  return case
    when v_round.window_end is null then null
    when logloom_private.read_alert_windows(v_round, clock_timestamp()) is not null
      then interval '0'
  end;
end;
$$;
