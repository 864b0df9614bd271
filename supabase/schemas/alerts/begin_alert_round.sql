-- Creates a temporary table for records, or empties the one of this session.
create function logloom_private.empty_staging_table(
  p_table text,
  p_is_indexed boolean default true
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass(p_table) is not null then
    execute 'truncate ' || p_table;
    return;
  end if;
  execute 'create temp table ' || p_table || ' (like logloom.logs)';
  if p_is_indexed then
    execute 'create index on ' || p_table || ' (tenant_id, ts, id)';
  end if;
end;
$$;

-- Copies new records of tenants with rules into a temporary table, once for all groups.
create function logloom_private.stage_alert_writes(
  p_round logloom_private.alert_rounds,
  p_from timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  -- The table's name is in a variable, because the linter reports tables that it does not find.
  v_staged constant text := 'pg_temp.alert_writes';
begin
  delete from logloom_private.alert_round_writes a where true;
  if p_round.write_seq_from = p_round.write_seq_to then
    -- Nothing arrived. Creating a table would write to a dozen catalogs.
    return;
  end if;
  perform logloom_private.empty_staging_table(v_staged);
  execute 'insert into ' || v_staged || ' select l.* from logloom.logs l '
    || 'where l.tenant_id in (select g.tenant_id from logloom_private.alert_groups g) '
    || format(
      'and l.write_seq > %s and l.write_seq <= %s and l.ts >= %L::timestamptz',
      p_round.write_seq_from, p_round.write_seq_to, p_from
    );
  execute 'analyze ' || v_staged;
  execute 'insert into logloom_private.alert_round_writes (tenant_id, first_ts, records) '
    || 'select s.tenant_id, min(s.ts), count(*) from ' || v_staged || ' s group by 1';
end;
$$;

-- Returns the last round if it has finished and is not too old. Stages the round's records again if
-- a group needs them and this session does not have them.
create function logloom_private.continued_alert_round()
returns logloom_private.alert_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_round
  from logloom_private.alert_rounds r
  where r.finished_at is not null
    and r.window_end > clock_timestamp() - logloom_private.alert_round_limit();
  if v_round.window_end is not null
    and (v_round.staged_by = pg_backend_pid() and to_regclass('pg_temp.alert_writes') is not null)
      is not true
    and exists (
      select from logloom_private.alert_groups g where g.write_seq < v_round.write_seq_to
    )
  then
    perform logloom_private.stage_alert_writes(v_round, '-infinity');
    update logloom_private.alert_rounds r set staged_by = pg_backend_pid() where r.singleton;
  end if;
  return v_round;
end;
$$;

-- Prepares the groups for the records of a round. Empties groups whose next records are not staged,
-- or whose tenant lost records. Marks groups of tenants without new records as complete. Deletes
-- the partial values of minutes that no window needs.
create function logloom_private.prepare_alert_groups(p_round logloom_private.alert_rounds)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group_ids bigint[];
begin
  with removals as (
    delete from logloom_private.log_removals r returning r.tenant_id
  )
  select array_agg(g.group_id) into v_group_ids
  from logloom_private.alert_groups g
  where g.write_seq < p_round.write_seq_from
    or g.write_seq is not null and g.tenant_id in (select r.tenant_id from removals r);
  perform logloom_private.empty_alert_groups(v_group_ids);
  with needs as materialized (
    select n.group_id, n.needed_from - s.alert_grace as needed_from
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    join logloom_private.alert_round_writes a on a.tenant_id = g.tenant_id
    cross join logloom_private.settings s
    where g.filled_from < n.needed_from - s.alert_grace
  ), forgotten as (
    delete from logloom_private.alert_partials p
    using needs n
    where p.group_id = n.group_id and p.minute < n.needed_from
  )
  update logloom_private.alert_groups g
  set filled_from = n.needed_from, filled_id = null
  from needs n
  where n.group_id = g.group_id;
  update logloom_private.alert_groups g
  set write_seq = p_round.write_seq_to
  where g.write_seq < p_round.write_seq_to
    and not exists (
      select from logloom_private.alert_round_writes a where a.tenant_id = g.tenant_id
    );
  delete from logloom_private.alert_spending s where true;
end;
$$;

-- SQL can log records and commit late. Sets reopened_from of the tenant's rules to the first window
-- with such records. For a rule with for_minutes, starts that much earlier, to tell whether its
-- condition has lasted.
create function logloom_private.reopen_alert_windows(p_round logloom_private.alert_rounds)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with taken as (
    delete from logloom_private.late_sql_logs l
    where l.noted_at < p_round.window_end
    returning l.tenant_id, l.first_ts
  )
  update logloom_private.alert_plans p
  set reopened_from = least(
    p.reopened_from,
    date_trunc('minute', t.first_ts) + make_interval(mins => 1 - r.for_minutes)
  )
  from (select l.tenant_id, min(l.first_ts) as first_ts from taken l group by 1) t
  join logloom.alert_rules r on r.tenant_id = t.tenant_id
  where p.rule_id = r.rule_id;
end;
$$;

-- Opens the round for the minute that the watermark has passed and stages its records. Returns null
-- if there is nothing to evaluate or if rules have to wait.
create function logloom_private.begin_alert_round(p_now timestamptz, p_watermark timestamptz)
returns logloom_private.alert_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_grace constant interval := (select s.alert_grace from logloom_private.settings s);
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  perform logloom_private.hold_rules_of_makers();
  -- Deletes entries of tenants without groups.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  delete from logloom_private.late_sql_logs l
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = l.tenant_id
  );
  select r.* into v_last from logloom_private.alert_rounds r;
  if v_last.window_end > p_now then
    -- The clock was set back. The rules must not wait until it shows the old time again.
    v_last := null;
    update logloom.alert_rules r
    set
      last_evaluated_at = case when r.last_evaluated_at <= p_now then r.last_evaluated_at end,
      asked_at = least(r.asked_at, p_now)
    where r.last_evaluated_at > p_now or r.asked_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r
  where r.enabled and r.kind = 'query';
  v_round.window_end := date_trunc('minute', p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > logloom_private.alert_watermark_limit()
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_grace - logloom_private.alert_catch_up_limit();
  if v_last.window_end > v_round.window_end - logloom_private.alert_catch_up_limit() is not true
  then
    -- The last round is too long ago: the partial values of every group are computed again.
    v_last := null;
  end if;
  -- Never lower than before, because dropping a day also drops its write sequences.
  v_round.write_seq_to := greatest(
    v_last.write_seq_to, (select max(a.write_seq) from logloom_private.log_writes a), 0
  );
  -- A round that was interrupted starts again from its beginning.
  v_round.write_seq_from := case
    when v_last.window_end is null then v_round.write_seq_to
    when v_last.finished_at is null then v_last.write_seq_from
    else v_last.write_seq_to
  end;

  v_round.staged_by := pg_backend_pid();
  insert into logloom_private.alert_rounds (window_end, write_seq_from, write_seq_to, staged_by)
  values (v_round.window_end, v_round.write_seq_from, v_round.write_seq_to, v_round.staged_by)
  on conflict (singleton) do update
  set window_end = excluded.window_end, write_seq_from = excluded.write_seq_from,
    write_seq_to = excluded.write_seq_to, staged_by = excluded.staged_by, finished_at = null,
    rules_through = null;
  perform logloom_private.reopen_alert_windows(v_round);
  perform logloom_private.stage_alert_writes(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$$;
