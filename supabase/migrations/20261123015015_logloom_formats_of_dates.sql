-- In a project whose dates are not written the ISO way, a time that was written in its own time zone
-- could be read as one of another zone with the same abbreviation (IST): alerts looked at wrong
-- windows. Jobs and operations now write and read times in one form. Functions only: the writer
-- goes on.

SET local check_function_bodies = off;

CREATE OR REPLACE FUNCTION logloom_private.advance_alert_groups (
  p_round    logloom_private.alert_rounds,
  p_deadline timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_staged constant text := 'pg_temp.alert_arrivals';
  v_unit record;
begin
  for v_unit in
    select
      u.filter, u.number_sql, array_agg(u.group_id) as group_ids,
      array_agg(u.filled_from) as froms, sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_arrivals a on a.tenant_id = g.tenant_id
      where g.arrival < p_round.arrival_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part, u.filter, u.number_sql
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, v_unit.records,
      p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_alert_round (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- Nobody else reads these.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  -- Locked, so that a second evaluator continues this round instead of opening the same again.
  select r.* into v_last from logloom_private.alert_rounds r for update;
  if v_last.window_end > p_now then
    -- The clock went back: what is dated ahead would keep the rules waiting until then.
    v_last := null;
    update logloom.alert_rules r set last_evaluated_at = null where r.last_evaluated_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := logloom_private.whole_minute(p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  v_round.singleton := true;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit then
    -- A round that was cut short is done again from where it began.
    v_round.arrival_from := case
      when v_last.finished_at is null then v_last.arrival_from
      else v_last.arrival_to
    end;
    v_round.arrival_to := logloom_private.last_arrival(v_last.arrival_to);
  else
    -- Too long ago: every group reads its windows anew.
    v_round.arrival_to := logloom_private.last_arrival(0);
    v_round.arrival_from := v_round.arrival_to;
  end if;

  insert into logloom_private.alert_rounds (window_end, arrival_from, arrival_to)
  values (v_round.window_end, v_round.arrival_from, v_round.arrival_to)
  on conflict (singleton) do update
  set window_end = excluded.window_end,
    arrival_from = excluded.arrival_from,
    arrival_to = excluded.arrival_to,
    finished_at = null;
  perform logloom_private.stage_alert_arrivals(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_operation (
  p_search_path text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO ''
  AS $function$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_is_known boolean;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user = 'service_role' then
    v_is_known := true;
  elsif current_user <> 'authenticated' then
    v_is_known := false;
  elsif v_operation = 'create_tenant' then
    -- The one operation for users who have no tenant yet.
    v_is_known := logloom_private.token_is_valid(logloom_private.claims());
  else
    v_is_known := logloom_private.current_tenant_id() is not null;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit; a project, or the request's
  -- Prefer, may have a time zone; and dates as 23/11/2026 IST are read as another zone's.
  perform
    set_config('extra_float_digits', '1', true),
    set_config('timezone', 'UTC', true),
    set_config('datestyle', 'ISO', true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.judge_alert_rules (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return logloom_private.settle_alert_windows(
    array(
      select row(w.*)::logloom_private.alert_window
      from logloom_private.grouped_alert_windows(p_rule_ids, p_round) w
      union all
      select row(w.*)::logloom_private.alert_window
      from logloom_private.failed_alert_windows(p_rule_ids, p_round) w
    ),
    p_round, p_now
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_windows (
  p_round logloom_private.alert_rounds,
  p_now   timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO ''
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_began constant timestamptz := clock_timestamp();
  v_step_rules constant integer := (select s.alert_step_rules from logloom_private.settings s);
  v_deadline timestamptz;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_tenant_id text;
  v_fired integer;
begin
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_step_rules * 2);
  if cardinality(v_group_ids) > 0 then
    return logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  end if;

  -- Who took least of this round comes first.
  select p.tenant_id into v_tenant_id
  from (
    select g.tenant_id from logloom_private.pending_alert_groups(p_round) g
    union all
    select s.tenant_id from logloom_private.pending_alert_scans(p_round) s
  ) p
  left join logloom_private.alert_spending t on t.tenant_id = p.tenant_id
  order by coalesce(t.spent_ms, 0), p.tenant_id
  limit 1;
  if v_tenant_id is null then
    return null;
  end if;
  select v_began + s.alert_rule_budget into v_deadline from logloom_private.settings s;
  v_group_ids := logloom_private.read_alert_groups(v_tenant_id, p_round, p_now, v_deadline);
  v_fired := logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  if clock_timestamp() < v_deadline then
    v_fired := v_fired
      + logloom_private.scan_alert_rules(v_tenant_id, p_round, p_now, v_deadline);
  end if;
  insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
  values (v_tenant_id, logloom_private.milliseconds_since(v_began))
  on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  return v_fired;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.run_job (
  IN p_job text,
  IN p_step regprocedure
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest interval;
  v_answer text;
  v_error text;
begin
  loop
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::interval end;
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      v_rest := null;
    end;
    commit;
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
  perform logloom_private.record_job(p_job, v_started_at, v_error);
  commit;
end;
$procedure$;

select logloom_private.bring_to_nodes();
