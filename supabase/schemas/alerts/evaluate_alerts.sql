-- A turn of what is not done for all tenants at once: plans new rules, fills new groups, or reads
-- what one tenant's groups lack, about alert_rule_budget long. Alerts fired, or null where nothing
-- was left to do.
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
  v_settings logloom_private.settings;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_pending record;
  v_tenant_id text;
  v_fired integer := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_settings.alert_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_settings.alert_step_rules * 2);
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
        -- Who took least of this round comes first.
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
            v_began + v_settings.alert_rule_budget
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
      exit when clock_timestamp() > v_began + v_settings.alert_rule_budget;
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

-- A round where a minute has passed, then turns of reading until nothing is left or its time is up.
-- Called by pg_cron every few seconds; most calls find nothing to do. No set clause and not
-- definer: such a procedure could not commit. Every name and every type is qualified, since one of
-- that name in pg_temp would come first.
create procedure logloom_private.evaluate_alerts()
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_begun logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_step_rules constant pg_catalog.int4 :=
    (select s.alert_step_rules from logloom_private.settings s);
  v_rule_ids pg_catalog.uuid[];
  v_is_cut_short pg_catalog.bool := false;
  v_turn pg_catalog.int4;
  v_error pg_catalog.text;
begin
  -- Not two at a time; a session that is killed lets go.
  if not pg_catalog.pg_try_advisory_lock(logloom_private.lock_key('alerts')) then
    return;
  end if;
  loop
    begin
      v_begun := logloom_private.begin_alert_round(
        pg_catalog.clock_timestamp(), logloom_private.watermark(
          (logloom_private.queue_state()).oldest_received_at
        )
      );
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null;

    -- What is cheap, for all tenants.
    if v_begun.window_end is not null then
      v_round := v_begun;
      loop
        begin
          exit when not logloom_private.advance_alert_groups(
            v_round, pg_catalog.clock_timestamp() + '1 second'::pg_catalog.interval
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
          exit;
        end;
        commit;
      end loop;
      v_rule_ids := '{}';
      loop
        v_rule_ids := logloom_private.next_alert_rules(
          v_rule_ids[pg_catalog.cardinality(v_rule_ids)], v_step_rules, v_round
        );
        exit when pg_catalog.cardinality(v_rule_ids) = 0;
        v_is_cut_short := pg_catalog.clock_timestamp() > v_deadline;
        exit when v_is_cut_short;
        begin
          perform logloom_private.judge_alert_rules(
            v_rule_ids, v_round, pg_catalog.clock_timestamp()
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
      end loop;
      -- The next run goes on with the rules that this round has not evaluated yet.
      exit when v_is_cut_short;
      -- All was evaluated that does not have to be read for itself.
      update logloom_private.alert_rounds r
      set finished_at = pg_catalog.clock_timestamp() where r.singleton;
      commit;
    end if;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;

    -- What is not: a turn at a time, so that the next round waits for one at most.
    if v_round.window_end is null then
      v_round := logloom_private.continued_alert_round();
      commit;
      exit when v_round.window_end is null;
    end if;
    begin
      v_turn := logloom_private.read_alert_windows(v_round, pg_catalog.clock_timestamp());
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null or v_turn is null;
  end loop;
  perform logloom_private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(logloom_private.lock_key('alerts'));
end;
$$;
