-- Repeats an erasure that a restore of the database lost: the archive's bucket has its note (a
-- file), but the database has no row. Returns true if there was such an erasure.
create function logloom_private.repeat_erasure()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_note jsonb;
  v_tenant_id text;
  v_run logloom.retention_runs;
begin
  select n.object_key, n.to_repeat into v_key, v_note
  from logloom_private.archive_notes n
  where n.to_repeat is not null
  order by n.to_repeat ->> 'requested_at', n.object_key
  limit 1;
  if not found then
    return false;
  end if;
  update logloom_private.archive_notes n set to_repeat = null where n.object_key = v_key;
  v_tenant_id := v_note ->> 'tenant_id';
  -- A later tenant with the same id is not the tenant of the note.
  if not exists (
    select
    from logloom.tenants t
    where t.tenant_id = v_tenant_id and t.created_at <= (v_note ->> 'requested_at')::timestamptz
  ) then
    return true;
  elsif (v_note ->> 'deletes_tenant')::boolean then
    if not logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.begin_tenant_deletion(v_tenant_id);
    end if;
    return true;
  end if;
  insert into logloom.retention_runs (
    run_id, tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to
  )
  values (
    (v_note ->> 'run_id')::uuid, v_tenant_id, 'erasure', 'queued', logloom_private.actor(),
    (v_note ->> 'requested_at')::timestamptz, v_note ->> 'query_dsl',
    (v_note ->> 'ts_from')::timestamptz, (v_note ->> 'ts_to')::timestamptz
  )
  on conflict (run_id) do nothing
  returning * into v_run;
  if v_run.run_id is not null then
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
      jsonb_build_object(
        'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
        'dry_run', false, 'repeated', true
      )
    );
    -- The bucket already has the note, so no new note is written.
    perform logloom_private.begin_archive_erasure(
      v_run.run_id, v_tenant_id, v_run.query_dsl, v_run.requested_at, v_run.ts_from, v_run.ts_to
    );
    update logloom_private.archive_erasures e
    set noted_at = clock_timestamp(),
      emptied = array(select i::uuid from jsonb_array_elements_text(v_note -> 'emptied') i)
    where e.run_id = v_run.run_id;
  end if;
  return true;
end;
$$;

-- Takes the tenant that was served longest ago, and returns its oldest erasure. Null if no erasure
-- is open, or if the queue still has events from before the erasure.
create function logloom_private.next_deletion()
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select o.run_id
    from (
      select distinct on (r.tenant_id) r.tenant_id, r.run_id, r.requested_at
      from logloom.retention_runs r
      where r.kind = 'erasure' and r.status in ('queued', 'running')
        -- Wait until all events acknowledged before the request are stored.
        and r.requested_at < coalesce(
          (logloom_private.queue_state()).oldest_received_at, 'infinity'
        )
        -- Skips an erasure that waits only for files of the archive.
        and not exists (
          select
          from logloom_private.archive_erasures e
          where e.run_id = r.run_id and e.parts_through is not null and e.finished_at is null
        )
      order by r.tenant_id, r.requested_at, r.run_id
    ) o
    left join logloom_private.deletion_turns t on t.tenant_id = o.tenant_id
    order by t.served_at nulls first, o.requested_at, o.run_id
    limit 1
  );
end;
$$;

-- Ends an erasure: failed with the error if there is one, else done.
create function logloom_private.finish_deletion(p_run_id uuid, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run logloom.retention_runs;
  v_archive logloom_private.archive_erasures;
begin
  -- Keeps the row for a day: was_erased_since needs it to discard files that were read before the
  -- erasure ended. A failed erasure gets finished_at, too, so it blocks nothing any more.
  update logloom_private.archive_erasures e
  set finished_at = coalesce(e.finished_at, clock_timestamp())
  where e.run_id = p_run_id
  returning e.* into v_archive;
  update logloom.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    archive_records = coalesce(v_archive.records, 0),
    archive_files = coalesce(v_archive.parts, 0),
    not_reached = logloom_private.erasure_does_not_reach(r),
    finished_at = clock_timestamp()
  where r.run_id = p_run_id
  returning * into v_run;
  delete from logloom_private.deletion_turns t
  where t.tenant_id = v_run.tenant_id
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = v_run.tenant_id and r.kind = 'erasure'
        and r.status in ('queued', 'running')
    );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_run.tenant_id, v_run.requested_by, 'logs.deletion_finished', v_run.run_id::text,
    jsonb_strip_nulls(
      jsonb_build_object(
        'status', v_run.status, 'records', v_run.records,
        'archive_records', v_run.archive_records, 'archive_files', v_run.archive_files,
        'error', v_run.error
      )
    )
  );
end;
$$;

create function logloom_private.delete_dead_letters(p_run logloom.retention_runs, p_filter text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted integer;
begin
  execute 'delete ' || logloom_private.source_sql(logloom_private.tenant_rows_sql(
    p_run.tenant_id, p_run.ts_from, p_run.ts_to, p_filter, 'logloom_private.dead_letters'
  ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

-- Checks the next records of an erasure and deletes the matching ones. Returns true if there may be
-- more.
create function logloom_private.deletion_step(p_run_id uuid)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run logloom.retention_runs;
  v_query logloom_private.compiled_query;
  v_from timestamptz;
  v_day date;
  v_day_end timestamptz;
  v_rows logloom_private.sql_source;
  v_end logloom_private.log_key;
  v_block_id bigint;
  v_dead_letters integer := 0;
  v_deleted integer := 0;
begin
  select r.* into v_run from logloom.retention_runs r where r.run_id = p_run_id for no key update;
  insert into logloom_private.deletion_turns as t (tenant_id, served_at)
  values (v_run.tenant_id, clock_timestamp())
  on conflict (tenant_id) do update set served_at = excluded.served_at;
  v_query := logloom_private.compile_query(v_run.query_dsl, v_run.requested_at);
  perform logloom_private.begin_archive_erasure(
    v_run.run_id, v_run.tenant_id, v_run.query_dsl, v_run.requested_at, v_run.ts_from, v_run.ts_to
  );
  if v_run.position_ts is null then
    v_dead_letters := logloom_private.delete_dead_letters(v_run, v_query.filter);
  end if;

  -- Takes one day of the tenant at a time: a statement opens one partition.
  v_from := coalesce(v_run.position_ts, v_run.ts_from);
  select min(d.day) into v_day
  from logloom_private.log_days d
  where d.tenant_id = v_run.tenant_id
    and d.day between logloom_private.utc_day(v_from) and logloom_private.utc_day(v_run.ts_to);
  v_day_end := least(v_run.ts_to, logloom_private.day_start(v_day + 1));
  if v_day is not null and v_day_end > v_from then
    v_from := greatest(v_from, logloom_private.day_start(v_day));
    v_rows := logloom_private.tenant_rows_sql(
      v_run.tenant_id, v_from, v_day_end,
      case
        when v_run.position_ts is null then 'true'
        else format(
          '(l.ts, l.id) > (%L::timestamptz, %L::uuid)', v_run.position_ts, v_run.position_id
        )
      end
    );
    v_end := logloom_private.rows_end(v_rows);
    if v_end.ts is null then
      -- The day has no more rows. The next step begins with the next day.
      v_end := (v_day_end, '00000000-0000-0000-0000-000000000000');
    else
      perform logloom_private.uncount_errors(
        v_run.tenant_id,
        'select l.* ' || logloom_private.source_sql(
          logloom_private.rows_to_end(v_rows, v_end, v_query.filter)
        )
      );
      v_deleted := logloom_private.delete_to_end(v_rows, v_end, v_query.filter);
    end if;
  else
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_run.tenant_id
      and c.last_ts >= v_run.ts_from and c.first_ts < v_run.ts_to
      and c.block_id > coalesce(v_run.position_block, 0);
    v_deleted := logloom_private.delete_from_block(v_block_id, v_run, v_query);
  end if;
  update logloom.retention_runs r
  set status = 'running',
    records = r.records + v_dead_letters + v_deleted,
    position_ts = coalesce(v_end.ts, r.position_ts),
    position_id = coalesce(v_end.id, r.position_id),
    position_block = coalesce(v_block_id, r.position_block)
  where r.run_id = p_run_id;
  return v_end.ts is not null or v_block_id is not null;
end;
$$;

-- Runs a step of the job run_deletions: continues the next erasure at the position in its row. If
-- the job is killed, no finished step is repeated.
create function logloom_private.run_deletion_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_id uuid;
  v_more boolean;
  v_failed text;
begin
  -- Only one job deletes at a time, including retention.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  if logloom_private.repeat_erasure() then
    return interval '0';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    return case when logloom_private.delete_tenant_step()
      then (select s.deletion_pause from logloom_private.settings s) end;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception
  when connection_exception or admin_shutdown or lock_not_available or disk_full then
    -- The database or a node cannot delete now. The erasure continues later.
    raise;
  when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job_error('run_deletions', sqlstate, sqlerrm);
  end;
  -- The archive's files come last. When they are done, the erasure is done.
  if not v_more and (v_failed is not null or logloom_private.end_archive_erasure(v_run_id)) then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
end;
$$;
