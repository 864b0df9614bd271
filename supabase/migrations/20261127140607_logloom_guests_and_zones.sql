-- What operators call by hand works in any time zone, an erasure reaches what lies ahead, and what
-- the project has stays its own.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

-- Counts a UTC day anew from its records: for an operator who put records back or took them away by
-- hand, and after a restore. Waits for the writer and holds it up meanwhile.
create or replace function logloom_private.recount_records(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Called by hand: a date style writes the project's zone by a name that may be another's, too.
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  -- Nothing is added, removed, sealed or summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  lock table logloom_private.log_counts in share row exclusive mode;
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using (
    select d.tenant_id from logloom_private.log_days d where d.day = p_day
    union
    select s.tenant_id
    from logloom_private.blocks s
    where s.last_ts >= logloom_private.day_start(p_day)
      and s.first_ts < logloom_private.day_start(p_day + 1)
  ) t
  where c.tenant_id = t.tenant_id
    and c.minute >= logloom_private.day_start(p_day)
    and c.minute < logloom_private.day_start(p_day + 1);
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_writes a where a.day = p_day;
  execute format(
    $query$
      with records as materialized (
        select l.tenant_id, l.ts, l.service, l.level, l.write_seq, false as holds_counts
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
        union all
        select r.tenant_id, r.ts, r.service, r.level, r.write_seq, c.holds_counts
        from logloom_private.blocks c,
          logloom_private.block_records(
            c.tenant_id, c.block_id, null, array['ts', 'service', 'level', 'write_seq']
          ) r
        where c.last_ts >= %2$L::timestamptz and c.first_ts < %3$L::timestamptz
          and r.ts >= %2$L::timestamptz and r.ts < %3$L::timestamptz
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct l.tenant_id, %1$L::date
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
      ), write_seqs as (
        insert into logloom_private.log_writes (write_seq, day)
        select max(l.write_seq), %1$L::date
        from records l
        having count(*) > 0
      )
      insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
      select l.tenant_id, date_bin('1 minute', l.ts, 'epoch'), l.service, l.level, count(*)
      from records l
      where not l.holds_counts
      group by 1, 2, 3, 4
      order by 1, 2
    $query$,
    p_day, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

-- Goes on with the verification that is under way, or begins one. False: it has ended, or somebody
-- else is at it.
create or replace function logloom_private.verify_on()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
-- verify() is called by hand, in the project's time zone and date style.
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_verification logloom_private.verifications;
begin
  select v.* into v_verification
  from logloom_private.verifications v
  where v.finished_at is null
  for update skip locked;
  if not found then
    delete from logloom_private.verifications v
    where v.verification_id
      <= (select max(l.verification_id) - 100 from logloom_private.verifications l);
    insert into logloom_private.verifications default values
    on conflict do nothing
    returning * into v_verification;
    if not found then
      return false;
    end if;
  end if;
  if logloom_private.verify_next_block(v_verification)
    or logloom_private.verify_next_records(v_verification)
    or logloom_private.verify_next_archived(v_verification)
  then
    return true;
  end if;
  update logloom_private.verifications v
  set finished_at = clock_timestamp()
  where v.verification_id = v_verification.verification_id;
  return false;
end;
$$;

-- Makes rows of the blocks that hold records of a tenant's day, in this transaction: how many. A
-- block of a small tenant holds weeks, which come back as a whole. They stay rows only with
-- compression false.
create or replace function logloom_private.unseal_day(p_tenant_id text, p_day date)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_block logloom_private.blocks;
  v_day date;
  v_inserted bigint;
  v_block_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    perform logloom_private.require_intact(v_block);
    v_block_records := 0;
    -- By numbers: in the project's time zone a day may begin at one o'clock.
    for v_day in
      select logloom_private.utc_day(v_block.first_ts) + d.n
      from generate_series(
        0, logloom_private.utc_day(v_block.last_ts) - logloom_private.utc_day(v_block.first_ts)
      ) d (n)
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Into the partition itself: the counts have these records already, or have them below.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.block_records($4, $1, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_block.block_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_block_records := v_block_records + v_inserted;
    end loop;
    if v_block_records <> v_block.records then
      raise sqlstate 'LL001' using
        message = format('Block %s has not as many records as it says', v_block.block_id);
    end if;
    if v_block.holds_counts then
      perform logloom_private.count_sealed(v_block, null, 1);
    end if;
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
    -- An erasure that is past their place among the rows comes by again: it looks at blocks last.
    update logloom.retention_runs r
    set position_ts = greatest(v_block.first_ts, r.ts_from),
      position_id = '00000000-0000-0000-0000-000000000000'
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status = 'running'
      and r.position_ts > greatest(v_block.first_ts, r.ts_from);
    v_records := v_records + v_block_records;
  end loop;
  return v_records;
end;
$$;

-- Orders the erasure of all log records of a tenant.
create or replace function logloom_private.request_erasure(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  select
    p_tenant_id, 'erasure', 'queued', logloom_private.actor(), clock_timestamp(), 'ts:*',
    '1970-01-01 00:00:00+00',
    -- Beyond all that lies ahead: what is queued now, and what came while more was allowed.
    greatest(
      now() + greatest(s.ingest_future_limit, interval '1 day') + interval '1 day',
      (
        select logloom_private.day_start(max(d.day) + 1)
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
      )
    ),
    false
  from logloom_private.settings s;
end;
$$;

-- Lets each operation be called by whom it is for, and by nobody else. A dump does not know of the
-- privileges that a project gives to new functions in public. A function of the project that has
-- the name of an operation stays as it is.
create or replace function logloom_private.grant_operations()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operation record;
begin
  for v_operation in
    select
      p.oid::regprocedure as signature,
      case
        when p.proname = any (logloom_private.service_operations()) then 'service_role'
        else 'authenticated, service_role'
      end as roles
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
      and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    execute format(
      'revoke all on function %s from public, anon, authenticated, service_role',
      v_operation.signature
    );
    execute format(
      'grant execute on function %s to %s', v_operation.signature, v_operation.roles
    );
  end loop;
end;
$$;

-- Makes check_request() PostgREST's pre-request function and lets it call the one that was set so
-- far. To be called again, as postgres, where the project has set another since.
create or replace function logloom_private.adopt_pre_request()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ours constant text := 'logloom_private.check_request';
  v_setting constant record := logloom_private.pre_request_setting();
  v_host text := nullif(v_setting.function, '');
begin
  if v_host = v_ours then
    return;
  end if;
  if v_host is null and logloom_private.is_restored() then
    -- A dump has no settings of roles: which function was called there is noted here alone.
    select i.host_pre_request into v_host
    from logloom_private.installation i
    where exists (
      select
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where p.proname = substr(i.host_pre_request, strpos(i.host_pre_request, '.') + 1)
        and (
          strpos(i.host_pre_request, '.') = 0
          or n.nspname = split_part(i.host_pre_request, '.', 1)
        )
    );
  end if;
  -- PostgREST takes what stands before the first dot for the schema, and quotes both.
  execute format(
    'create or replace function logloom_private.call_host_pre_request() returns void '
      'language plpgsql volatile security invoker as %L',
    format(
      e'\nbegin\n  %s;\nend;\n',
      case
        when v_host is null then 'null'
        when v_host like '%.%' then format(
          'perform %I.%I()', split_part(v_host, '.', 1), substr(v_host, strpos(v_host, '.') + 1)
        )
        else format('perform %I()', v_host)
      end
    )
  );
  update logloom_private.installation set host_pre_request = v_host where singleton;
  perform logloom_private.set_pre_request(v_ours, coalesce(v_setting.of_database, false));
end;
$$;

-- Gives logloom.logs to pg_partman, unless it has it.
create or replace function logloom_private.manage_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Days begin in UTC, whatever the project's time zone is.
set timezone = 'UTC'
as $$
begin
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- No default partition: a row in it would stop maintenance, and its check would wait for
    -- readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := (select s.partition_days_ahead from logloom_private.settings s),
      -- After the days that a restored table has; null where it has none.
      p_start_partition := (
        select (max(d.day) + 1)::text from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  -- A job of the project that maintains all tables leaves ours out: it makes days of its time zone.
  update partman.part_config
  set infinite_time_partitions = true, automatic_maintenance = 'off'
  where parent_table = 'logloom.logs';
end;
$$;

-- What pg_cron runs: a job step by step, each committed, until nothing is left or its time is up.
-- Leaves its heartbeat, with the error where a step fails. A step is a function that finds by
-- itself where the last one ended, and returns how long to rest before the next one, null when
-- nothing is left. No set clause and not definer: such a procedure could not commit. Every name and
-- every type is qualified, since one of that name in pg_temp would come first.
create or replace procedure logloom_private.run_job(p_job text, p_step regprocedure)
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest pg_catalog.interval;
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  loop
    -- Whoever waited for a lock sees what was done meanwhile: a project may have another level.
    commit;
    set transaction isolation level read committed;
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::pg_catalog.text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
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
$$;

-- One run of the writer, until less than a step is waiting, or to writer_run_limit: pg_cron begins
-- the next run at a full second, so the writer would rest after a run that goes beyond one. Steps,
-- each committed. Called by pg_cron. No set clause and not definer: such a procedure could not
-- commit. Every name and every type is qualified, since one of that name in pg_temp would come
-- first.
create or replace procedure logloom_private.write_logs()
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_limit constant pg_catalog.timestamptz := least(
    v_started_at + (select s.writer_run_limit from logloom_private.settings s),
    logloom_private.job_deadline(v_started_at)
  );
  v_step_events constant pg_catalog.int4 :=
    (select s.writer_step_events from logloom_private.settings s);
  v_events pg_catalog.int4;
  v_since_flip pg_catalog.int4;
  v_flipped pg_catalog.bool := false;
  v_noted_at pg_catalog.timestamptz := v_started_at;
  v_level constant pg_catalog.text :=
    pg_catalog.current_setting('default_transaction_isolation');
  v_error pg_catalog.text;
begin
  -- Whoever waited for a lock sees what was done meanwhile: a project may have another level.
  set default_transaction_isolation = 'read committed';
  commit;
  begin
    perform logloom_private.meter_queue();
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := logloom_private.write_step();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_limit;
      -- Quotas, health and the watermark of alerts do not wait for the end of a long run: each
      -- second of it is noted as a run.
      if pg_catalog.clock_timestamp() > v_noted_at + '1 second'::pg_catalog.interval then
        begin
          perform logloom_private.meter_queue();
          perform logloom_private.record_job('write_logs', v_noted_at);
        exception when others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
        exit when v_error is not null;
        v_noted_at := pg_catalog.clock_timestamp();
      end if;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_limit;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    if v_flipped then
      begin
        perform logloom_private.empty_moved_slots();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      end;
      commit;
      exit when v_error is not null;
    end if;
    v_flipped := logloom_private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform logloom_private.empty_moved_slots();
    perform logloom_private.provide_partitions();
  exception when query_canceled or others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform logloom_private.record_job('write_logs', v_noted_at, v_error);
  perform pg_catalog.set_config('default_transaction_isolation', v_level, false);
  commit;
end;
$$;

select logloom_private.manage_partitions();

select logloom_private.finish_migration();
