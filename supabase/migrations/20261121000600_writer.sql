-- The writer: moves batches from the queue to app.logs, exactly once.
--
-- A step is one transaction: insert the records, note how far the slot was moved. So a record is
-- visible when, and only when, its batch counts as moved, whatever is killed when.

create sequence private.arrival as bigint;

create table private.dead_letters (
  id uuid primary key,
  tenant_id text not null references app.tenants on delete cascade,
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
create index dead_letters_tenant_id_idx on private.dead_letters (tenant_id);

alter table private.dead_letters enable row level security;
alter table private.dead_letters force row level security;

create function private.lock_writer()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return pg_try_advisory_xact_lock(hashtext('logloom:writer'));
end;
$$;

create function private.is_data_error(p_sqlstate text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Connection, rollback, access rule, resources, object state, operator, system, internal:
  -- not the event's fault, so the step is repeated later.
  return left(p_sqlstate, 2) not in ('08', '25', '40', '42', '53', '55', '57', '58', 'XX');
end;
$$;

create function private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select private.utc_day(min(q.ts_min)), private.utc_day(max(q.ts_max))
     from private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always the days between the outermost events exist; only else is each event looked at.
  if v_last_day - v_first_day < 3 then
    for i in 0..v_last_day - v_first_day loop
      exit when not private.partition_exists(v_first_day + i);
      if v_first_day + i = v_last_day then
        return;
      end if;
    end loop;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform private.create_partition(v_day);
  end loop;
end;
$$;

create function private.insert_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set work_mem = '64MB'
as $$
begin
  -- Sorted as the primary key is, which packs its pages.
  execute format(
    $query$
      insert into app.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      select
        (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
        e.level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route, e.host, e.attrs
      from (
        -- Made once a batch, not once an event: that is what offset 0 is for.
        select b.*, left(b.batch_key::text, 32) as id_prefix
        from private.%I b
        where b.batch_id between $1 and $2
        offset 0
      ) q,
        unnest(
          q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs
        ) with ordinality e (
          ts, level, msg, service, env, req_id, user_id, route, host, attrs, i
        )
      where e.i between $3 and $4
      order by q.tenant_id, ts
    $query$,
    'queue_slot_' || p_slot
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
end;
$$;

create function private.set_aside(
  p_slot smallint,
  p_batch_id bigint,
  p_index integer,
  p_error_code text,
  p_error_message text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  execute format(
    $query$
      insert into private.dead_letters (
        id, tenant_id, ts, received_at,
        level, msg, service, env, req_id, user_id, route, host, attrs, error_code, error_message
      )
      select
        (left(q.batch_key::text, 32) || lpad(to_hex($2 - 1), 4, '0'))::uuid,
        q.tenant_id, coalesce(q.ts[$2], q.received_at), q.received_at,
        q.level[$2], q.msg[$2], q.service[$2], q.env[$2], q.req_id[$2], q.user_id[$2],
        q.route[$2], q.host[$2], q.attrs[$2], $3, $4
      from private.%I q
      where q.batch_id = $1
    $query$,
    'queue_slot_' || p_slot
  )
  using p_batch_id, p_index, p_error_code, p_error_message;
end;
$$;

create function private.write_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_code text;
  v_message text;
  v_batch_middle bigint;
  v_index_middle integer;
begin
  begin
    perform private.insert_records(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
    );
    return;
  exception when others then
    if not private.is_data_error(sqlstate) then
      raise;
    end if;
    v_code := sqlstate;
    v_message := sqlerrm;
  end;

  -- Halves the range until what cannot be written stands alone; the rest is written beside it.
  if p_batch_from < p_batch_to then
    v_batch_middle := (p_batch_from + p_batch_to) / 2;
    perform private.write_range(
      p_slot, p_batch_from, v_batch_middle, p_index_from, p_index_to, p_arrival
    );
    perform private.write_range(
      p_slot, v_batch_middle + 1, p_batch_to, p_index_from, p_index_to, p_arrival
    );
  elsif p_index_from < p_index_to then
    v_index_middle := (p_index_from + p_index_to) / 2;
    perform private.write_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, v_index_middle, p_arrival
    );
    perform private.write_range(
      p_slot, p_batch_from, p_batch_to, v_index_middle + 1, p_index_to, p_arrival
    );
  else
    perform private.set_aside(p_slot, p_batch_from, p_index_from, v_code, v_message);
  end if;
end;
$$;

create function private.flip_queue()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_pointer private.queue_pointer;
  v_lock_timeout constant text := current_setting('lock_timeout');
  v_has_batches boolean;
begin
  select p.* into v_pointer from private.queue_pointer p;
  if v_pointer.closed_slot is not null or not private.lock_writer() then
    return false;
  end if;
  execute format(
    'select exists (
       select from private.%I q, private.queue_slots s
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
    perform set_config(
      'lock_timeout',
      (select extract(epoch from s.writer_flip_lock_timeout) * 1000 from private.settings s)
      || 'ms',
      true
    );
    perform pg_advisory_xact_lock(hashtext('logloom:queue'));
  exception when lock_not_available then
    return false;
  end;
  perform set_config('lock_timeout', v_lock_timeout, true);

  -- The emptiest slot is next. One that could not be emptied yet can be filled further: what was
  -- moved lies below moved_through.
  update private.queue_pointer p
  set closed_slot = p.open_slot,
    open_slot = (
      select s.slot
      from private.queue_slots s
      where s.slot <> p.open_slot
      order by s.moved_events, s.slot
      limit 1
    )
  where p.closed_slot is null;
  return found;
end;
$$;

create function private.write_step()
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_events integer;
  v_largest integer;
  v_arrival bigint;
begin
  if not private.lock_writer() then
    return 0;
  end if;
  select p.closed_slot into v_slot from private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select min(b.batch_id), max(b.batch_id), sum(b.events), max(b.events)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before
        from private.%I q
        where q.batch_id > (select s.moved_through from private.queue_slots s where s.slot = $1)
        order by q.batch_id
        limit (select s.writer_step_batches from private.settings s)
      ) b
      where b.events_before < (select s.writer_step_events from private.settings s)
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest
  using v_slot;

  if v_batch_to is null then
    update private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform private.meter_slot(v_slot);
  perform private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_arrival := nextval('private.arrival');
  perform private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_arrival);
  update private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  return v_events;
end;
$$;

create function private.provide_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_today constant date := private.utc_day(now());
begin
  -- Two look-ups in the catalog, so that the day does not hang on the hourly job.
  for i in 0..1 loop
    if not private.partition_exists(v_today + i) then
      perform private.create_partition(v_today + i);
    end if;
  end loop;
end;
$$;

create function private.empty_moved_slots()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
  v_lock_timeout constant text := current_setting('lock_timeout');
begin
  if not private.lock_writer() then
    return;
  end if;
  for v_slot in
    select s.slot
    from private.queue_slots s, private.queue_pointer p, private.settings c
    where s.slot <> p.open_slot
      and s.slot is distinct from p.closed_slot
      and (
        s.moved_events >= c.writer_truncate_events
        or s.moved_events > 0 and s.truncated_at < now() - c.writer_truncate_age
      )
  loop
    begin
      perform set_config(
        'lock_timeout',
        (select extract(epoch from s.writer_truncate_lock_timeout) * 1000 from private.settings s)
        || 'ms',
        true
      );
      execute format('truncate private.%I', 'queue_slot_' || v_slot);
      update private.queue_slots s
      set moved_events = 0, truncated_at = now()
      where s.slot = v_slot;
    exception when lock_not_available then
      -- Somebody reads the slot. It is emptied in a later run.
      continue;
    end;
  end loop;
  perform set_config('lock_timeout', v_lock_timeout, true);
end;
$$;

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure private.write_logs()
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz :=
    v_started_at + (select s.writer_run_budget from private.settings s);
  v_step_events constant integer := (select s.writer_step_events from private.settings s);
  v_events integer;
  v_since_flip integer;
  v_flipped boolean;
  v_error text;
begin
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := private.write_step();
      exception when others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_deadline;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    v_flipped := private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform private.empty_moved_slots();
    perform private.provide_partitions();
  exception when others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform private.record_job('write_logs', v_started_at, v_error);
  commit;
end;
$$;

create type public.writer_run as (moved integer, done boolean);

create function private.run_writer()
returns public.writer_run
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role neither reads the queue nor writes records
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_deadline constant timestamptz :=
    v_started_at + (select s.writer_run_budget from private.settings s);
  v_moved integer := 0;
  v_step integer;
begin
  perform private.provide_partitions();
  loop
    v_step := private.write_step();
    v_moved := v_moved + v_step;
    exit when v_step = 0 or clock_timestamp() > v_deadline;
  end loop;
  if v_moved > 0 then
    perform private.record_job('run_writer', v_started_at);
    return row(v_moved, false);
  end if;
  -- Not in one transaction with steps: enqueues wait for the end of the flip's.
  perform private.empty_moved_slots();
  if private.flip_queue() then
    return row(0, false);
  end if;
  perform private.record_job('run_writer', v_started_at);
  return row(0, true);
end;
$$;

create function public.run_writer()
returns public.writer_run
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '8s'
as $$
begin
  return private.run_writer();
end;
$$;

grant execute on function private.run_writer(), public.run_writer() to service_role;

create type private.replay_result as (replayed integer, failed integer);

create function private.replay_dead_letters(p_limit integer default 1000)
returns private.replay_result
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_letter private.dead_letters;
  v_arrival bigint;
  v_result private.replay_result := row(0, 0);
begin
  -- The writer's lock: arrival must stay in commit order.
  perform pg_advisory_xact_lock(hashtext('logloom:writer'));
  v_arrival := nextval('private.arrival');
  for v_letter in
    select d.* from private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform private.create_partition(private.utc_day(v_letter.ts));
      insert into app.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      values (
        v_letter.id, v_letter.tenant_id, v_letter.ts, v_letter.received_at, v_arrival,
        v_letter.level, v_letter.msg, v_letter.service, v_letter.env, v_letter.req_id,
        v_letter.user_id, v_letter.route, v_letter.host, v_letter.attrs
      );
      delete from private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not private.is_data_error(sqlstate) then
        raise;
      end if;
      update private.dead_letters d
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

create type private.queue_state as (depth bigint, oldest_received_at timestamptz);

create function private.queue_state()
returns private.queue_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_slot record;
  v_part private.queue_state;
  v_state private.queue_state := row(0, null);
begin
  for v_slot in
    select s.slot, s.moved_through
    from private.queue_slots s, private.queue_pointer p
    where s.slot in (p.open_slot, p.closed_slot)
  loop
    execute format(
      'select coalesce(sum(q.events), 0), min(q.received_at)
       from private.%I q where q.batch_id > $1',
      'queue_slot_' || v_slot.slot
    )
    into v_part
    using v_slot.moved_through;
    v_state := row(
      v_state.depth + v_part.depth,
      least(v_state.oldest_received_at, v_part.oldest_received_at)
    );
  end loop;
  return v_state;
end;
$$;

comment on sequence private.arrival is 'Numbers the steps of the writer, in commit order.';
comment on table private.dead_letters is
  'Events that could not be written, and why. private.replay_dead_letters() tries again.';
comment on column private.dead_letters.id is 'The id that the record will have.';
comment on function private.lock_writer() is
  'Takes the writer''s lock to the end of the transaction. False where another writer holds it.';
comment on function private.is_data_error(text) is
  'Whether an error says that the event cannot be written, not that the database cannot write now.';
comment on function private.create_missing_partitions(smallint, bigint, bigint) is
  'Makes the partitions of past days that the batches need.';
comment on function private.insert_records(smallint, bigint, bigint, integer, integer, bigint) is
  'Inserts the events of the batches, of each those from one 1-based index to another.';
comment on function private.set_aside(smallint, bigint, integer, text, text) is
  'Puts one event into the dead letters with its error.';
comment on function private.write_range(smallint, bigint, bigint, integer, integer, bigint) is
  'insert_records, and where the data make it fail, halves until the dead letters stand alone.';
comment on function private.flip_queue() is
  'Closes the open slot and opens another, unless the open one has nothing to move, one is still '
  'being moved, or enqueues in flight hold the lock too long. True if it flipped.';
comment on function private.write_step() is
  'Moves the next batches of the closed slot in this transaction. Events moved; 0: none is left.';
comment on function private.empty_moved_slots() is
  'Truncates slots that were moved. A slot that is being read stays for a later run.';
comment on procedure private.write_logs() is
  'One run of the writer, of about writer_run_budget: steps, each committed. Called by pg_cron.';
comment on function private.provide_partitions() is
  'Makes the partitions of today and tomorrow where they are missing.';
comment on type public.writer_run is
  'Events that a call of run_writer moved, and whether there was nothing left to do.';
comment on function private.run_writer() is 'The work of public.run_writer().';
comment on function public.run_writer() is
  'What the edge function ingest calls while pg_cron does not run the writer, until done is true: '
  'moves what the closed slot of the queue holds, or else closes the open one. Safe beside any '
  'other run.';
comment on function private.replay_dead_letters(integer) is
  'Tries to write up to p_limit dead letters again, oldest failure first, under their own ids.';
comment on function private.queue_state() is
  'Events in the queue and when the oldest one was received.';
