-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- writer/tables/dead_letters.sql
create table logloom_private.dead_letters (
  id uuid primary key,
  tenant_id text not null,
  ts timestamptz not null,
  received_at timestamptz not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  error_code text not null,
  error_message text not null,
  attempts integer not null default 1,
  failed_at timestamptz not null default now()
);

create index dead_letters_tenant_id_idx on logloom_private.dead_letters (tenant_id);

comment on table logloom_private.dead_letters is
  'Events that could not be written, and why. logloom_private.replay_dead_letters() tries again.';

comment on column logloom_private.dead_letters.id is 'The id that the record will have.';

-- writer/tables/write_seq.sql
-- The writer: moves batches from the queue to logloom.logs, exactly once.
--
-- A step is one transaction: insert the records, note how far the slot was moved. So a record is
-- visible when, and only when, its batch counts as moved, whatever is killed when.

create sequence logloom_private.write_seq as bigint;

comment on sequence logloom_private.write_seq is
  'Numbers the steps of the writer, in commit order.';

-- writer/create_missing_partitions.sql
-- Makes the partitions of past days that the batches need.
create function logloom_private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select logloom_private.utc_day(min(q.ts_min)), logloom_private.utc_day(max(q.ts_max))
     from logloom_private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always the days between the outermost events exist; only else is each event looked at.
  if not exists (
    select
    from generate_series(v_first_day::timestamp, v_last_day, interval '1 day') d (day)
    where not logloom_private.partition_exists(d.day::date)
  ) then
    return;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform logloom_private.create_partition(v_day);
  end loop;
end;
$$;

-- writer/empty_moved_slots.sql
-- Truncates slots that were moved. A slot that is being read stays for a later run.
create function logloom_private.empty_moved_slots()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot smallint;
  v_lock_wait text;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return;
  end if;
  for v_slot in
    select s.slot
    from logloom_private.queue_slots s, logloom_private.queue_pointer p, logloom_private.settings c
    where s.slot <> p.open_slot
      and s.slot is distinct from p.closed_slot
      and (
        s.moved_events >= c.writer_truncate_events
        or s.moved_events > 0 and s.truncated_at < now() - c.writer_truncate_age
      )
  loop
    begin
      v_lock_wait := logloom_private.limit_lock_wait(
        (select s.writer_truncate_lock_timeout from logloom_private.settings s)
      );
      execute format('truncate logloom_private.%I', 'queue_slot_' || v_slot);
      update logloom_private.queue_slots s
      set moved_events = 0, metered_events = 0, truncated_at = now()
      where s.slot = v_slot;
      perform logloom_private.restore_lock_wait(v_lock_wait);
    exception when lock_not_available then
      -- Somebody reads the slot. It is emptied in a later run.
      continue;
    end;
  end loop;
end;
$$;

-- writer/flip_queue.sql
-- Closes the open slot and opens another, unless the open one has nothing to move, one is still
-- being moved, or enqueues in flight hold the lock too long. True if it flipped.
create function logloom_private.flip_queue()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_lock_wait text;
  v_has_batches boolean;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if v_pointer.closed_slot is not null
    or not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
  then
    return false;
  end if;
  execute format(
    'select exists (
       select from logloom_private.%I q, logloom_private.queue_slots s
       where s.slot = $1 and q.batch_id > s.moved_through
     )',
    'queue_slot_' || v_pointer.open_slot
  )
  into v_has_batches
  using v_pointer.open_slot;
  if not v_has_batches then
    return false;
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
    perform pg_advisory_xact_lock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    return false;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);

  -- The emptiest slot is next. One that could not be emptied yet can be filled further: what was
  -- moved lies below moved_through.
  update logloom_private.queue_pointer p
  set closed_slot = p.open_slot,
    open_slot = (
      select s.slot
      from logloom_private.queue_slots s
      where s.slot <> p.open_slot
      order by s.moved_events, s.slot
      limit 1
    )
  where p.closed_slot is null;
  return found;
end;
$$;

-- writer/forget_tenant.sql
-- What the writer keeps of a tenant goes with the tenant. By a trigger, not by foreign keys: those
-- would let a tenant that is deleted meanwhile fail a step of the writer, for everyone.
create function logloom_private.forget_tenant()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because whoever deletes a tenant has no rights on these tables
begin
  delete from logloom_private.dead_letters d where d.tenant_id = old.tenant_id;
  delete from logloom.usage_days u where u.tenant_id = old.tenant_id;
  return null;
end;
$$;

create trigger tenants_forget
after delete on logloom.tenants
for each row execute function logloom_private.forget_tenant();

-- writer/hold_writers.sql
-- Seam: waits until nothing writes to logloom.logs, and keeps the writer, retention, erasures and
-- the sealing from it to the end of the transaction; requests go on into the queue. The first
-- statement of a migration that changes logloom.logs: otherwise the two deadlock.
create function logloom_private.hold_writers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;

-- writer/insert_records.sql
-- Seam: inserts the events of the batches, of each those from one 1-based index to another, with
-- their counts, days and write sequences.
create function logloom_private.insert_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant in the order of ts, which packs the pages of the primary key: by one number,
  -- since a second key is read from the record again at each comparison. Cast, so that what breaks
  -- a rule fails here.
  execute logloom_private.added_records_sql(format(
    $query$
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5, %3$s, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_seconds, q.tenant_id, q.received_at,
          generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, %4$s, unnest(q.record_bytes) as record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select
            b.*, left(b.batch_key::text, 32) as id_prefix,
            -- Three years apart: with thousands of tenants still exact to 0.1 ms.
            dense_rank() over (order by b.tenant_id collate "C") * 1e8::float8 as tenant_seconds
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      order by e.tenant_seconds + date_part('epoch', coalesce(e.ts, e.received_at))
    $query$,
    v_slot, logloom_private.written_fields_sql('%1$s'),
    logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s')
  ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
end;
$$;

-- writer/is_data_error.sql
-- Whether an error says that the event cannot be written, not that the database cannot write now.
create function logloom_private.is_data_error(p_sqlstate text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Connection, rollback, access rule, resources, object state, operator, system, internal:
  -- not the event's fault, so the step is repeated later.
  return left(p_sqlstate, 2) not in ('08', '25', '40', '42', '53', '55', '57', '58', 'XX');
end;
$$;

-- writer/meter_queue.sql
-- Counts what was enqueued since, also into the open slot, where it is more than
-- writer_meter_batches: so quotas and health look at a bounded number of batches however far behind
-- the writer is.
create function logloom_private.meter_queue()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lock_wait text;
  v_through bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
    or not exists (
      select
      from logloom_private.queue_pointer p, logloom_private.queue_batch_id b,
        logloom_private.settings s
      where b.last_value - p.metered_through > s.writer_meter_batches
    )
  then
    return;
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
    -- A moment without an enqueue in flight: whatever has a number by then is committed or never
    -- will be. Of the session, so that it is given back at once.
    perform pg_advisory_lock(logloom_private.lock_key('queue'));
    v_through := (select b.last_value from logloom_private.queue_batch_id b where b.is_called);
    perform pg_advisory_unlock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    v_through := null;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);
  if v_through is not null then
    perform logloom_private.meter_batches(v_through);
  end if;
end;
$$;

-- writer/provide_partitions.sql
-- Makes the partitions of today and tomorrow where they are missing.
create function logloom_private.provide_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := logloom_private.utc_day(now());
begin
  -- Two look-ups in the catalog, so that the day does not hang on the hourly job.
  for i in 0..1 loop
    if not logloom_private.partition_exists(v_today + i) then
      perform logloom_private.create_partition(v_today + i);
    end if;
  end loop;
end;
$$;

-- writer/queue_state.sql
create type logloom_private.queue_state as (depth bigint, oldest_received_at timestamptz);

-- Events in the queue and when the oldest one was received: from what was metered, and the last
-- batches that were not yet, so that it costs the same at any depth.
create function logloom_private.queue_state()
returns logloom_private.queue_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer constant logloom_private.queue_pointer :=
    (select p from logloom_private.queue_pointer p);
  v_state logloom_private.queue_state;
begin
  -- Planned for these slots: the third one is never locked, so it can be truncated meanwhile.
  execute $query$
    select
      sum(s.metered_events - s.moved_events + coalesce(u.events, 0)),
      min(least(m.received_at, u.received_at))
    from logloom_private.queue_slots s
    cross join lateral (
      select min(m.received_at) as received_at
      from logloom_private.queue_marks m
      where m.slot = s.slot and m.batch_to > s.moved_through
    ) m
    left join (
      select q.slot, sum(q.events) as events, min(q.received_at) as received_at
      from logloom_private.queue q
      where q.slot = any ($1) and q.batch_id > $2
      group by q.slot
    ) u on u.slot = s.slot
    where s.slot = any ($1)
  $query$
  into v_state
  using array[v_pointer.open_slot, v_pointer.closed_slot], v_pointer.metered_through;
  return v_state;
end;
$$;

-- writer/replay_dead_letters.sql
create type logloom_private.replay_result as (replayed integer, failed integer);

-- Tries to write up to p_limit dead letters again, oldest failure first, under their own ids.
create function logloom_private.replay_dead_letters(p_limit integer default 1000)
returns logloom_private.replay_result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_letter logloom_private.dead_letters;
  v_write_seq bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- The writer's lock: write sequence must stay in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_write_seq := nextval('logloom_private.write_seq');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(format(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, write_seq, %s, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2, %s,
            -- Anew: who mends a letter may have changed it.
            logloom_private.bytes_of_record(
              jsonb_populate_record(null::logloom.logs, to_jsonb($1))
            )
        $query$,
        logloom_private.written_fields_sql('%1$s'),
        logloom_private.written_fields_sql('($1).%1$s%2$s')
      ))
      using v_letter, v_write_seq;
      delete from logloom_private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not logloom_private.is_data_error(sqlstate) then
        raise;
      end if;
      update logloom_private.dead_letters d
      set attempts = d.attempts + 1,
        failed_at = clock_timestamp(),
        error_code = sqlstate,
        error_message = sqlerrm
      where d.id = v_letter.id;
      v_result.failed := v_result.failed + 1;
    end;
  end loop;
  return v_result;
end;
$$;

-- writer/run_writer.sql
create type public.logloom_writer_run as (moved integer, done boolean);

comment on type public.logloom_writer_run is
  'Events that a call of run_writer moved, and whether there was nothing left to do.';

-- A run of the writer in the caller's transaction.
create function logloom_private.run_writer_in_place()
returns public.logloom_writer_run
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role neither reads the queue nor writes records
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_deadline constant timestamptz :=
    v_started_at + (select s.writer_run_budget from logloom_private.settings s);
  v_moved integer := 0;
  v_step integer;
begin
  perform logloom_private.provide_partitions();
  perform logloom_private.meter_queue();
  loop
    v_step := logloom_private.write_step();
    v_moved := v_moved + v_step;
    exit when v_step = 0 or clock_timestamp() > v_deadline;
  end loop;
  if v_moved > 0 then
    perform logloom_private.record_job('run_writer', v_started_at);
    return row(v_moved, false);
  end if;
  -- Not in one transaction with steps: enqueues wait for the end of the flip's.
  perform logloom_private.empty_moved_slots();
  if logloom_private.flip_queue() then
    return row(0, false);
  end if;
  perform logloom_private.record_job('run_writer', v_started_at);
  return row(0, true);
end;
$$;

create function public.run_writer()
returns public.logloom_writer_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '8s'
as $$
begin
  return logloom_private.run_writer_in_place();
end;
$$;

comment on function public.run_writer() is
  'What the edge function ingest calls while pg_cron does not run the writer, until done is true: '
  'moves what the closed slot of the queue holds, or else closes the open one. Safe beside any '
  'other run.';

-- writer/watermark.sql
-- How long after its received_at a batch can become visible: the timeout of ingest_text.
create function logloom_private.enqueue_timeout()
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    -- A bare number is milliseconds, as everywhere in PostgreSQL's settings.
    select (case when t.timeout ~ '^[0-9]+$' then t.timeout || ' ms' else t.timeout end)::interval
    from (
      select split_part(c.setting, '=', 2) as timeout
      from pg_catalog.pg_proc p, unnest(p.proconfig) c (setting)
      where p.oid = 'public.ingest_text(text)'::regprocedure
        and c.setting like 'statement_timeout=%'
    ) t
  );
end;
$$;

-- Everything received before is visible: the lesser of the oldest queued batch and the start of the
-- writer's last run less the enqueue timeout. Null before the writer ever ran. p_oldest_queued: of
-- queue_state(); no default, since Citus finds a circle in one that calls a function.
create function logloom_private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  -- Nor does it matter who started it: ingest does while pg_cron is away.
  select max(h.last_started_at) into v_writer_started_at
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer') and h.last_started_at <= clock_timestamp();
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - logloom_private.enqueue_timeout());
end;
$$;

-- writer/write_logs.sql
-- One run of the writer, until less than a step is waiting, or to writer_run_limit: pg_cron begins
-- the next run at a full second, so the writer would rest after a run that goes beyond one. Steps,
-- each committed. Called by pg_cron. No set clause and not definer: such a procedure could not
-- commit. Every name and every type is qualified, since one of that name in pg_temp would come
-- first.
create procedure logloom_private.write_logs()
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

-- writer/write_range.sql
-- insert_records, and where the data make it fail, halves until the dead letters stand alone.
create function logloom_private.write_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_write_seq bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_code text;
  v_message text;
  v_batch_middle bigint;
  v_index_middle integer;
begin
  begin
    perform logloom_private.insert_records(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
    return;
  exception when others then
    if not logloom_private.is_data_error(sqlstate) then
      raise;
    end if;
    v_code := sqlstate;
    v_message := sqlerrm;
  end;

  if p_batch_from < p_batch_to then
    v_batch_middle := (p_batch_from + p_batch_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, v_batch_middle, p_index_from, p_index_to, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, v_batch_middle + 1, p_batch_to, p_index_from, p_index_to, p_write_seq
    );
  elsif p_index_from < p_index_to then
    v_index_middle := (p_index_from + p_index_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, v_index_middle, p_write_seq
    );
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, v_index_middle + 1, p_index_to, p_write_seq
    );
  else
    execute format(
      $query$
        insert into logloom_private.dead_letters (
          id, tenant_id, ts, received_at, %2$s, error_code, error_message
        )
        select
          (left(q.batch_key::text, 32) || lpad(to_hex($2 - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(q.ts[$2], q.received_at), q.received_at,
          %3$s, $3, $4
        from logloom_private.%1$I q
        where q.batch_id = $1
      $query$,
      'queue_slot_' || p_slot, logloom_private.written_fields_sql('%1$s'),
      logloom_private.written_fields_sql('q.%1$s[$2]')
    )
    using p_batch_from, p_index_from, v_code, v_message;
  end if;
end;
$$;

-- writer/write_step.sql
-- Moves the next batches of the closed slot in this transaction. Events moved; 0: none is left.
create function logloom_private.write_step()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_last bigint;
  v_events integer;
  v_largest integer;
  v_write_seq bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return 0;
  end if;
  select p.closed_slot into v_slot from logloom_private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select
        min(b.batch_id), max(b.batch_id), sum(b.events), max(b.events),
        (select max(l.batch_id) from logloom_private.%1$I l)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before,
          sum(q.bytes) over (order by q.batch_id) - q.bytes as bytes_before
        from logloom_private.%1$I q
        where q.batch_id > (
          select s.moved_through from logloom_private.queue_slots s where s.slot = $1
        )
        order by q.batch_id
        limit (select s.writer_step_batches from logloom_private.settings s)
      ) b
      where b.events_before < (select s.writer_step_events from logloom_private.settings s)
        and b.bytes_before < (select s.writer_step_bytes from logloom_private.settings s)
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest, v_last
  using v_slot;

  if v_batch_to is null then
    update logloom_private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform logloom_private.meter_batches(v_last);
  perform logloom_private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_write_seq := nextval('logloom_private.write_seq');
  perform logloom_private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_write_seq);
  update logloom_private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  delete from logloom_private.queue_marks m
  where m.slot = v_slot and m.batch_to <= v_batch_to;
  return v_events;
end;
$$;

-- writer/written_fields_sql.sql
-- The fields of an event but for ts, a comma between them, each as p_format writes it: %1$s is its
-- name, %2$s a cast, so that what breaks a rule of logloom.logs fails where it is read.
create function logloom_private.written_fields_sql(p_format text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(
      format(
        p_format, f.name,
        case f.name
          when 'level' then '::logloom_private.log_level'
          when 'attrs' then '::logloom_private.log_attrs'
        end
      ),
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
    where f.sent and f.name <> 'ts'
  );
end;
$$;

select logloom_private.finish_migration();
