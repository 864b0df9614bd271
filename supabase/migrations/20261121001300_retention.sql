-- Deleting records: by age, as each tenant's retention says, and on request (delete_logs).
--
-- Both work in transactions of a bounded number of records, keep nothing in memory that a kill
-- would lose, and are told of in app.retention_runs.

create type public.retention_run as (
  run_id uuid,
  tenant_id text,
  kind text,
  status text,
  requested_by text,
  requested_at timestamptz,
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz,
  dry_run boolean,
  records bigint,
  partitions integer,
  finished_at timestamptz,
  error text
);

create table app.retention_runs (
  run_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
  kind text not null,
  status text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz not null,
  dry_run boolean not null default false,
  records bigint not null default 0,
  partitions integer not null default 0,
  finished_at timestamptz,
  error text,
  position_ts timestamptz,
  position_id uuid,
  constraint retention_runs_kind_is_known check (kind in ('retention', 'erasure')),
  constraint retention_runs_status_is_known check (
    status in ('queued', 'running', 'done', 'interrupted', 'failed')
  ),
  constraint retention_runs_erasure_has_query check (
    kind = 'retention' or query_dsl is not null and ts_from is not null
  )
);

create index retention_runs_tenant_id_requested_at_idx
on app.retention_runs (tenant_id, requested_at desc, run_id desc);
create unique index retention_runs_retention_idx
on app.retention_runs (tenant_id, ts_to)
where kind = 'retention' and status = 'running';
create index retention_runs_open_idx
on app.retention_runs (requested_at)
where status in ('queued', 'running');

alter table app.retention_runs enable row level security;
alter table app.retention_runs force row level security;

create policy retention_runs_select_tenant on app.retention_runs
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

grant select on app.retention_runs to authenticated, service_role;

create function private.day_start(p_day date)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_day::timestamp at time zone 'UTC';
end;
$$;

create function private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_days integer;
begin
  select least(coalesce(s.retention_days, p.retention_days_default), p.retention_days_max)
  into v_days
  from app.tenants t
  join app.plans p on p.plan_id = t.plan_id
  left join app.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  -- A tenant that is gone keeps nothing but what may still be on its way.
  return p_today - coalesce(v_days, 0);
end;
$$;

create function private.partition_days()
returns date[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return array(
    select to_date(c.relname, '"logs_"YYYY_MM_DD') as day
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'app.logs'::regclass
    order by 1
  );
end;
$$;

create function private.day_tenants(p_day date)
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenants text[];
begin
  -- From each tenant straight to the next one, by the primary key.
  execute format(
    $query$
      with recursive t (tenant_id) as (
        select min(l.tenant_id) from app.%1$I l
        union all
        select (select min(l.tenant_id) from app.%1$I l where l.tenant_id > t.tenant_id)
        from t
        where t.tenant_id is not null
      )
      select array_agg(t.tenant_id) filter (where t.tenant_id is not null) from t
    $query$,
    private.partition_name(p_day)
  )
  into v_tenants;
  return coalesce(v_tenants, '{}');
end;
$$;

create function private.note_deletion(
  p_tenant_id text,
  p_first_kept_day date,
  p_records bigint,
  p_partitions integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  insert into app.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    t.tenant_id, 'retention', 'running', 'retention', private.day_start(p_first_kept_day),
    p_records, p_partitions
  from app.tenants t
  where t.tenant_id = p_tenant_id
  on conflict (tenant_id, ts_to) where kind = 'retention' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;

create function private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_first_kept_day constant date := private.first_kept_day(p_tenant_id, p_today);
  v_deleted integer;
begin
  if p_day >= v_first_kept_day then
    return 0;
  end if;
  -- Through the parent, whose triggers keep the counts; constants, so that one partition is looked
  -- at, within which a ctid is unique.
  execute format(
    $query$
      delete from app.logs l
      where l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        and l.ctid = any(array(
          select s.ctid
          from app.logs s
          where s.tenant_id = %3$L
            and s.ts >= %1$L::timestamptz and s.ts < %2$L::timestamptz
          order by s.ts
          limit (select c.deletion_batch_records from private.settings c)
        ))
    $query$,
    private.day_start(p_day), private.day_start(p_day + 1), p_tenant_id
  );
  get diagnostics v_deleted = row_count;
  if v_deleted > 0 then
    perform private.note_deletion(p_tenant_id, v_first_kept_day, v_deleted, 0);
  end if;
  return v_deleted;
end;
$$;

create function private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenants text[];
  v_lock_timeout constant text := current_setting('lock_timeout');
begin
  v_tenants := private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = '{}' and p_day >= p_today - 1
    or exists (
      select from unnest(v_tenants) t (tenant_id)
      where private.first_kept_day(t.tenant_id, p_today) <= p_day
    )
  then
    return 'kept';
  end if;

  begin
    perform set_config(
      'lock_timeout',
      (
        select extract(epoch from s.partition_drop_lock_timeout) * 1000 from private.settings s
      ) || 'ms',
      true
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(hashtext('logloom:writer'));
    perform private.lock_partitions();
    -- Without compact_log_counts no counts of the day come to be while they are forgotten.
    perform pg_advisory_xact_lock(hashtext('logloom:log_counts'));
    if private.day_tenants(p_day) <> v_tenants then
      return 'busy';
    end if;
    perform private.note_deletion(
      n.tenant_id, private.first_kept_day(n.tenant_id, p_today), n.records, 1
    )
    from (
      select t.tenant_id, sum(c.events)::bigint as records
      from unnest(v_tenants) t (tenant_id)
      join private.log_counts c on c.tenant_id = t.tenant_id
        and c.minute >= private.day_start(p_day) and c.minute < private.day_start(p_day + 1)
      group by t.tenant_id
    ) n;
    perform private.forget_day_counts(p_day, v_tenants);
    -- Last, because every reader of app.logs waits from here to the commit.
    execute format('drop table app.%I', private.partition_name(p_day));
    perform set_config('lock_timeout', v_lock_timeout, true);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

create function private.begin_retention()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update app.retention_runs r
  set status = 'interrupted', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
end;
$$;

create function private.end_retention()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update app.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from app.retention_runs r
  using private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$$;

create function private.retention_is_due(p_today date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return not exists (
    select
    from private.job_heartbeats h
    where h.job = 'run_retention' and h.last_succeeded_at >= private.day_start(p_today)
  );
end;
$$;

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure private.run_retention(p_today date default null)
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_today constant date := coalesce(p_today, private.utc_day(pg_catalog.now()));
  v_pause constant double precision :=
    (select extract(epoch from s.deletion_pause) from private.settings s);
  v_attempts constant integer := (select s.partition_drop_attempts from private.settings s);
  v_days date[];
  v_day date;
  v_tenants text[];
  v_tenant_id text;
  v_outcome text;
  v_deleted integer;
  v_error text;
begin
  if p_today is null and not private.retention_is_due(v_today) then
    return;
  end if;
  -- Of the session, since it spans transactions: one at a time deletes.
  if not pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext('logloom:deletion')) then
    return;
  end if;
  perform private.begin_retention();
  v_days := private.partition_days();
  commit;

  foreach v_day in array v_days loop
    continue when v_day >= v_today;
    for v_attempt in 1..v_attempts loop
      begin
        v_outcome := private.drop_expired_day(v_day, v_today);
      exception when others then
        v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
        v_outcome := 'failed';
      end;
      commit;
      exit when v_outcome <> 'busy';
      perform pg_catalog.pg_sleep(1);
    end loop;
    if v_outcome = 'busy' then
      v_error := coalesce(
        v_error, pg_catalog.format('readers kept partition %s from being dropped', v_day)
      );
    end if;
    continue when v_outcome <> 'kept';

    v_tenants := private.day_tenants(v_day);
    foreach v_tenant_id in array v_tenants loop
      loop
        begin
          v_deleted := private.delete_expired(v_tenant_id, v_day, v_today);
        exception when others then
          v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
          v_deleted := 0;
        end;
        commit;
        exit when v_deleted = 0;
        perform pg_catalog.pg_sleep(v_pause);
      end loop;
    end loop;
  end loop;

  if v_error is null then
    perform private.end_retention();
  end if;
  perform private.record_job('run_retention', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(pg_catalog.hashtext('logloom:deletion'));
end;
$$;

-- On request

create function private.request_deletion(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_dry_run boolean
)
returns app.retention_runs
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query private.compiled_query;
  v_run app.retention_runs;
begin
  v_range := private.search_range(p_ts_from, p_ts_to);
  v_query := private.search_query(p_query_dsl, v_now, false);
  if v_query.blank then
    raise sqlstate 'PT400' using
      message = 'Invalid p_query_dsl: it is blank',
      hint = 'Say ts:* to delete every record of the range.';
  end if;
  perform private.provision_current_tenant();
  insert into app.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select count(*) ' || private.tenant_rows_sql(
      v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter
    )
    into v_run.records;
    update app.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
  end if;
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
    jsonb_build_object(
      'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
      'dry_run', v_run.dry_run
    )
  );
  return v_run;
end;
$$;

create function private.next_deletion()
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- Not before everything that was acknowledged before the request is a record.
  return (
    select r.run_id
    from app.retention_runs r
    where r.kind = 'erasure' and r.status in ('queued', 'running')
      and r.requested_at < coalesce((private.queue_state()).oldest_received_at, 'infinity')
    order by r.requested_at, r.run_id
    limit 1
  );
end;
$$;

create function private.finish_deletion(p_run_id uuid, p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_run app.retention_runs;
begin
  update app.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    finished_at = clock_timestamp()
  where r.run_id = p_run_id
  returning * into v_run;
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_run.tenant_id, v_run.requested_by, 'logs.deletion_finished', v_run.run_id::text,
    jsonb_strip_nulls(
      jsonb_build_object('status', v_run.status, 'records', v_run.records, 'error', v_run.error)
    )
  );
end;
$$;

create function private.delete_dead_letters(p_run app.retention_runs, p_filter text)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  execute 'delete ' || private.tenant_rows_sql(
    p_run.tenant_id, p_run.ts_from, p_run.ts_to, p_filter, 'private.dead_letters'
  );
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

create function private.deletion_step(p_run_id uuid)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_run app.retention_runs;
  v_query private.compiled_query;
  v_begin text;
  v_end_ts timestamptz;
  v_end_id uuid;
  v_dead_letters integer := 0;
  v_deleted integer := 0;
begin
  select r.* into v_run from app.retention_runs r where r.run_id = p_run_id for no key update;
  v_query := private.compile_query(v_run.query_dsl, v_run.requested_at);
  if v_run.position_ts is null then
    v_dead_letters := private.delete_dead_letters(v_run, v_query.filter);
  end if;

  v_begin := private.tenant_rows_sql(
    v_run.tenant_id, coalesce(v_run.position_ts, v_run.ts_from), v_run.ts_to,
    case
      when v_run.position_ts is null then 'true'
      else format(
        '(l.ts, l.id) > (%L::timestamptz, %L::uuid)', v_run.position_ts, v_run.position_id
      )
    end
  );
  execute format(
    'select w.ts, w.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) w
     order by w.ts desc, w.id desc limit 1',
    v_begin, (select s.deletion_batch_records from private.settings s)
  )
  into v_end_ts, v_end_id;
  if v_end_ts is not null then
    execute format(
      'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)
       and (%s)',
      v_begin, v_end_ts, v_end_ts, v_end_id, v_query.filter
    );
    get diagnostics v_deleted = row_count;
  end if;
  update app.retention_runs r
  set status = 'running',
    records = r.records + v_dead_letters + v_deleted,
    position_ts = coalesce(v_end_ts, r.position_ts),
    position_id = coalesce(v_end_id, r.position_id)
  where r.run_id = p_run_id;
  return v_end_ts is not null;
end;
$$;

create procedure private.run_deletions()
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_pause constant double precision :=
    (select extract(epoch from s.deletion_pause) from private.settings s);
  v_run_id uuid;
  v_more boolean;
  v_failed text;
  v_error text;
begin
  if not pg_catalog.pg_try_advisory_lock(pg_catalog.hashtext('logloom:deletion')) then
    return;
  end if;
  loop
    v_run_id := private.next_deletion();
    exit when v_run_id is null;
    v_failed := null;
    loop
      begin
        v_more := private.deletion_step(v_run_id);
      exception when others then
        v_failed := pg_catalog.format('The deletion stopped with error %s', sqlstate);
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_more := false;
      end;
      commit;
      exit when not v_more;
      perform pg_catalog.pg_sleep(v_pause);
    end loop;
    perform private.finish_deletion(v_run_id, v_failed);
    commit;
  end loop;
  perform private.record_job('run_deletions', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(pg_catalog.hashtext('logloom:deletion'));
end;
$$;

create function private.retention_run_of(p_run app.retention_runs)
returns public.retention_run
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_run.run_id, p_run.tenant_id, p_run.kind, p_run.status, p_run.requested_by,
    p_run.requested_at, p_run.query_dsl, p_run.ts_from, p_run.ts_to, p_run.dry_run, p_run.records,
    p_run.partitions, p_run.finished_at, p_run.error
  );
end;
$$;

create function public.delete_logs(
  p_query_dsl text default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_dry_run boolean default null
)
returns public.retention_run
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  perform private.resolve_tenant();
  perform private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform private.require_parameter('p_ts_from', p_ts_from is null);
  perform private.require_parameter('p_ts_to', p_ts_to is null);
  return private.retention_run_of(
    private.request_deletion(p_query_dsl, p_ts_from, p_ts_to, coalesce(p_dry_run, true))
  );
exception when query_canceled then
  perform private.refuse_slow_search();
end;
$$;

create function public.list_retention_runs(
  p_tenant_id text default null,
  p_kind text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.retention_run
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_limit constant integer := private.list_limit(p_limit);
  v_after_requested_at timestamptz;
begin
  if p_after is not null then
    select r.requested_at into v_after_requested_at
    from app.retention_runs r
    where r.tenant_id = v_tenant_id and r.run_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such run',
        hint = 'Send the run_id of the last item of the page before.';
    end if;
  end if;
  return query
  select (private.retention_run_of(r)).*
  from app.retention_runs r
  where r.tenant_id = v_tenant_id
    and (p_kind is null or r.kind = p_kind)
    and (p_after is null or (r.requested_at, r.run_id) < (v_after_requested_at, p_after))
  order by r.requested_at desc, r.run_id desc
  limit v_limit;
end;
$$;

grant execute on function
  private.request_deletion(text, timestamptz, timestamptz, boolean),
  private.retention_run_of(app.retention_runs),
  private.refuse_slow_search(),
  public.delete_logs(text, timestamptz, timestamptz, boolean),
  public.list_retention_runs(text, text, integer, uuid)
to authenticated, service_role;

comment on type public.retention_run is
  'A deletion. kind: retention (by age) or erasure (on request). status: queued, running, done, '
  'interrupted (a later run went on with it) or failed, with error. ts_from inclusive, ts_to '
  'exclusive. records: how many were deleted so far; in a dry run, how many match. partitions: '
  'days that were dropped as a whole.';
comment on table app.retention_runs is
  'Deletions of records, by retention and on request. Of retention there is a row a run for a '
  'tenant that lost records. Kept for settings.audit_lifetime.';
comment on column app.retention_runs.position_ts is
  'Up to this record (position_ts, position_id) an erasure was carried out.';
comment on function private.day_start(date) is 'When a UTC day begins.';
comment on function private.first_kept_day(text, date) is
  'The first UTC day whose records the tenant keeps: retention_days whole days before today.';
comment on function private.partition_days() is 'The days that have a partition, oldest first.';
comment on function private.day_tenants(date) is 'The tenants with records in a day''s partition.';
comment on function private.note_deletion(text, date, bigint, integer) is
  'Adds to the tenant''s run of retention that is under way.';
comment on function private.delete_expired(text, date, date) is
  'Deletes some records of a day that the tenant does not keep. How many; 0 when none is left.';
comment on function private.drop_expired_day(date, date) is
  'Drops a day''s partition: dropped; kept where a tenant with records in it keeps the day; busy '
  'where readers or the writer hold it.';
comment on function private.begin_retention() is 'Marks runs that a kill left unfinished.';
comment on function private.end_retention() is
  'Marks the runs under way as done, and forgets old ones.';
comment on function private.retention_is_due(date) is
  'Whether no run of retention has succeeded since the day began.';
comment on procedure private.run_retention(date) is
  'Deletes what no tenant keeps: whole days, else a tenant''s records batch by batch, each '
  'committed. What a kill leaves over, the next run finds; one that is called again on a day that '
  'it finished does nothing. p_today: to run as if it were another day, at any time.';
comment on function private.request_deletion(text, timestamptz, timestamptz, boolean) is
  'The work of public.delete_logs().';
comment on function private.next_deletion() is
  'The oldest erasure to be carried out; null where the queue still holds events of before it.';
comment on function private.finish_deletion(uuid, text) is
  'Closes an erasure: done, or failed with the error.';
comment on function private.delete_dead_letters(app.retention_runs, text) is
  'Deletes what matches among the dead letters.';
comment on function private.deletion_step(uuid) is
  'Looks at the next records of an erasure and deletes those that match. Whether there may be '
  'more.';
comment on procedure private.run_deletions() is
  'Carries out requested erasures, oldest first, in committed steps; a kill repeats none.';
comment on function private.retention_run_of(app.retention_runs) is
  'A run as operations show it.';
comment on function public.delete_logs(text, timestamptz, timestamptz, boolean) is
  'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to '
  '(exclusive), dead letters included. With p_dry_run (default true) nothing is deleted: records '
  'says how many match. Else a job deletes what was acknowledged before; list_retention_runs tells '
  'how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s).';
comment on function public.list_retention_runs(text, text, integer, uuid) is
  'Deletions of the tenant''s records, newest first. p_kind: retention or erasure. p_limit 1 to '
  '1000 (default 100), p_after: run_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';
