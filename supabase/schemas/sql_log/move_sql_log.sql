-- Runs a step of the job move_sql_log: moves committed records of logloom.log() to the queue, and
-- deletes their rows. Takes the oldest row of each tenant in turn: a tenant that logs much delays
-- only itself.
create function logloom_private.move_sql_log()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
-- The planner does not know how many of the rows are dead.
set enable_seqscan = off
set enable_bitmapscan = off
set work_mem = '64MB'
as $$
declare
  v_max_rows constant integer := 5000;
  v_max_bytes constant bigint := 4 << 20;
  -- The next step looks again for rows that become visible after this snapshot.
  v_now constant pg_snapshot := pg_current_snapshot();
  v_place logloom_private.sql_log_place;
  v_ended xid8[];
  v_from xid8;
  v_taken record;
begin
  -- 1. Is there anything? Nearly always the step ends here.
  select p.* into v_place from logloom_private.sql_log_place p;
  if v_place.xact_from > pg_snapshot_xmax(v_now) then
    -- The database was restored from a dump, and transactions are numbered anew.
    v_place := row(true, '0', '{}');
  end if;
  v_ended := array(
    select o.xact_id
    from unnest(v_place.open_xacts) o (xact_id)
    where pg_visible_in_snapshot(o.xact_id, v_now)
  );
  if not exists (select from logloom_private.sql_log l where l.xact_id >= v_place.xact_from)
    and not exists (select from logloom_private.sql_log l where l.xact_id = any (v_ended))
  then
    return null;
  end if;
  perform from logloom_private.sql_log_place p for update skip locked;
  if not found then
    return null;
  end if;

  -- 2. Move some rows.
  perform logloom_private.limit_lock_wait('50 milliseconds');
  for v_taken in
    with oldest as (
      (select l.ctid, l.* from logloom_private.sql_log l where l.xact_id = any (v_ended)
        limit 10 * v_max_rows)
      union all
      (select l.ctid, l.* from logloom_private.sql_log l where l.xact_id >= v_place.xact_from
        order by l.xact_id, l.id limit 10 * v_max_rows)
    ), turns as (
      select
        o.*, row_number() over (partition by o.tenant_id order by o.xact_id, o.id) as turn
      from oldest o
    ), placed as (
      select
        t.*, row_number() over turns as place, sum(t.bytes) over turns - t.bytes as bytes_before
      from turns t
      window turns as (order by t.turn, t.tenant_id)
    )
    select
      p.tenant_id, array_agg(p.ctid) as ctids,
      array_agg(p.record order by p.xact_id, p.id) as records, min((p.record).ts) as first_ts,
      case when bool_or(p.creates_tenant) then '{}'::jsonb end as claims
    from placed p
    where p.place <= v_max_rows and p.bytes_before < v_max_bytes
    group by p.tenant_id
    order by p.tenant_id
  loop
    begin
      perform logloom_private.ingest_own(v_taken.tenant_id, v_taken.records, v_taken.claims);
      delete from logloom_private.sql_log l where l.ctid = any (v_taken.ctids);
      insert into logloom_private.late_sql_logs as l (tenant_id, noted_at, first_ts)
      select v_taken.tenant_id, date_trunc('minute', clock_timestamp()), v_taken.first_ts
      from logloom_private.settings s
      where v_taken.first_ts < clock_timestamp() - s.alert_grace
      on conflict (tenant_id, noted_at) do update
      set first_ts = least(l.first_ts, excluded.first_ts);
    exception when others then
      -- A full queue and errors of the server concern all tenants.
      if sqlstate = 'PGRST' or left(sqlstate, 2) in ('25', '53', '57', '58') then
        raise;
      end if;
      -- The rows of this tenant wait, for example because somebody has locked it.
      perform logloom_private.record_job_error('move_sql_log', sqlstate, sqlerrm);
    end;
  end loop;

  -- 3. Where the next step begins.
  v_from := least(
    pg_snapshot_xmax(v_now),
    (
      select l.xact_id from logloom_private.sql_log l
      where l.xact_id >= v_place.xact_from
      order by l.xact_id
      limit 1
    )
  );
  update logloom_private.sql_log_place p
  set xact_from = v_from,
    open_xacts = array(
      select x.xact_id from pg_snapshot_xip(v_now) x (xact_id) where x.xact_id < v_from
      union all
      select e.xact_id
      from unnest(v_ended) e (xact_id)
      where exists (select from logloom_private.sql_log l where l.xact_id = e.xact_id)
    )
  where p.singleton;
  return case when v_from < pg_snapshot_xmax(v_now) then interval '100 milliseconds' end;
end;
$$;
