-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- retention/types/retention_run.sql
-- Deleting records: by age, as each tenant's retention says, and on request (delete_logs).
--
-- Both work in transactions of a bounded number of records, keep nothing in memory that a kill
-- would lose, and are told of in logloom.retention_runs.

create type public.logloom_retention_run as (
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
  error text,
  archive_files integer,
  archive_records bigint,
  not_reached jsonb
);

comment on type public.logloom_retention_run is
  'A deletion. kind: retention (by age) or erasure (on request). status: queued, running, done, '
  'interrupted (a later day''s run went on with it) or failed, with error. ts_from inclusive, '
  'ts_to exclusive. records: how many were deleted so far; in a dry run, how many match. '
  'partitions: days that were dropped as a whole. archive_records and archive_files: how many '
  'records were taken out of how many files of the archive; not part of records. not_reached: '
  'where records may be that an erasure did not reach, null before it is done.';

-- retention/types/tenant_deletion.sql
create type public.logloom_tenant_deletion as (
  deletion_id uuid,
  tenant_id text,
  requested_at timestamptz
);

comment on type public.logloom_tenant_deletion is
  'A tenant on its way out; deletion_id is that of the receipt.';

-- retention/tables/deletion_turns.sql
create table logloom_private.deletion_turns (
  tenant_id text primary key,
  served_at timestamptz not null
);

comment on table logloom_private.deletion_turns is
  'When a tenant with open erasures was last served, so that tenants take turns.';

-- retention/tables/retention_place.sql
create table logloom_private.retention_place (
  singleton boolean primary key default true,
  today date not null,
  spans_through text default '',
  done_through date,
  day date,
  tenant_through text,
  attempts integer not null default 0,
  error text,
  finished_at timestamptz,
  failing_since timestamptz,
  constraint retention_place_has_one_row check (singleton)
);

comment on table logloom_private.retention_place is
  'How far the day''s retention has come; the next run of the job goes on there.';

comment on column logloom_private.retention_place.failing_since is
  'Since when no day''s retention has ended without an error. Null: the last one did.';

comment on column logloom_private.retention_place.today is 'The UTC day for which it runs.';

comment on column logloom_private.retention_place.spans_through is
  'Up to this tenant no block spans more days than its retention allows; null: none of anybody.';

comment on column logloom_private.retention_place.done_through is
  'The last day that was seen to.';

comment on column logloom_private.retention_place.day is
  'The day of which tenant after tenant is seen to; null while the next one may still be dropped '
  'whole.';

comment on column logloom_private.retention_place.tenant_through is
  'Up to this tenant that day was seen to.';

comment on column logloom_private.retention_place.attempts is
  'How often that day''s partition could not be dropped for its readers.';

-- retention/tables/retention_runs.sql
create table logloom.retention_runs (
  run_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
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
  position_block bigint,
  archive_files integer not null default 0,
  archive_records bigint not null default 0,
  not_reached jsonb,
  constraint retention_runs_kind_is_known check (kind in ('retention', 'erasure')),
  constraint retention_runs_status_is_known check (
    status in ('queued', 'running', 'done', 'interrupted', 'failed')
  ),
  constraint retention_runs_erasure_has_query check (
    kind = 'retention' or query_dsl is not null and ts_from is not null
  )
);

create index retention_runs_tenant_id_requested_at_idx
on logloom.retention_runs (tenant_id, requested_at desc, run_id desc);

create unique index retention_runs_retention_idx
on logloom.retention_runs (tenant_id, ts_to)
where kind = 'retention' and status = 'running';

create index retention_runs_open_idx
on logloom.retention_runs (tenant_id, requested_at)
where status in ('queued', 'running');

create policy retention_runs_select_tenant on logloom.retention_runs
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.retention_runs to authenticated, service_role;

comment on table logloom.retention_runs is
  'Deletions of records, by retention and on request. Of retention there is a row a run for a '
  'tenant that lost records. Kept for settings.audit_lifetime.';

comment on column logloom.retention_runs.position_ts is
  'Up to this record (position_ts, position_id) an erasure was carried out.';

comment on column logloom.retention_runs.position_block is
  'Up to this block of sealed records an erasure was carried out; rows come first.';

-- retention/day_is_kept.sql
-- Whether a tenant with records in the day keeps it, or they are yet to be archived. A tenant that
-- is gone keeps only what may still be on its way. No nested loop: it would go through all tenants
-- for each one.
create function logloom_private.day_is_kept(p_day date, p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
      or a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
  );
end;
$$;

-- retention/day_tenants.sql
-- The tenants that have, or had until lately, records in a day, or a block that ends in it.
create function logloom_private.day_tenants(p_day date)
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id from logloom_private.log_days t where t.day = p_day
  union
  select c.tenant_id
  from logloom_private.blocks c
  where c.last_ts >= logloom_private.day_start(p_day)
    and c.last_ts < logloom_private.day_start(p_day + 1);
end;
$$;

-- retention/delete_expired.sql
-- Deletes some records of a day that a tenant with many does not keep. How many; 0 when none is
-- left.
create function logloom_private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows text;
  v_end logloom_private.log_key;
  v_deleted integer;
begin
  if p_day >= logloom_private.first_kept_day(p_tenant_id, p_today) then
    return 0;
  end if;
  -- Constants, so that one partition is looked at.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true'
  );
  v_end := logloom_private.rows_end(v_rows);
  if v_end.ts is null then
    return 0;
  end if;
  execute logloom_private.removed_records_sql(format(
    'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
    v_rows, v_end.ts, v_end.ts, v_end.id
  ))
  into v_deleted;
  perform logloom_private.note_deletions(array[p_tenant_id], array[v_deleted], 0, p_today);
  return v_deleted;
end;
$$;

-- retention/delete_from_block.sql
-- Replaces a block by one without the records that an erasure is for, and takes them away from the
-- counts. How many; of a damaged block none.
create function logloom_private.delete_from_block(
  p_block_id bigint,
  p_run logloom.retention_runs,
  p_query logloom_private.compiled_query
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_bits varbit;
  v_deleted integer;
begin
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_run.tenant_id and c.block_id = p_block_id
  for update;
  if not found then
    return 0;
  end if;
  perform logloom_private.can_read(v_block.format);
  -- Which of its records match cannot be told: the receipt names it.
  if not logloom_private.block_is_intact(v_block) then
    update logloom_private.blocks c
    set damaged_at = coalesce(c.damaged_at, now())
    where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
    return 0;
  end if;
  v_bits := logloom_private.block_bits(v_block, p_query.tree, p_run.ts_from, p_run.ts_to);
  v_deleted := bit_count(v_bits);
  if v_deleted = 0 then
    return 0;
  end if;
  if not v_block.holds_counts then
    perform logloom_private.count_sealed(v_block, logloom_private.bit_positions(v_bits), -1);
  end if;
  insert into logloom_private.log_removals (tenant_id)
  select v_block.tenant_id
  -- Further back than any alert window reaches.
  where v_block.last_ts > now() - interval '3 days';
  -- What is left becomes a block of its own, compared with what it is made of.
  if v_deleted < v_block.records then
    perform logloom_private.write_block(
      v_block.tenant_id,
      logloom_private.read_records(
        format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          v_block.tenant_id, v_block.block_id, logloom_private.bit_positions(~v_bits)
        )
      ),
      v_block.holds_counts
    );
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  return v_deleted;
end;
$$;

-- retention/delete_logs.sql
-- PT429 where the tenant has max_open_deletions of its plan open already.
create function logloom_private.require_room_for_deletion(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := (logloom_private.plan_of(p_tenant_id)).max_open_deletions;
begin
  -- Requests at once are counted one after another.
  perform pg_advisory_xact_lock(logloom_private.lock_key('delete_logs'), hashtext(p_tenant_id));
  if (
    select count(*) >= v_max
    from logloom.retention_runs r
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status in ('queued', 'running')
  ) then
    perform logloom_private.refuse_for_now(10, 'usage.too_many_deletions', v_max::text);
  end if;
end;
$$;

-- On request

-- Notes a deletion that was asked for, and who did; run_deletions works it off.
create function logloom_private.request_deletion(
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_dry_run boolean
)
returns logloom.retention_runs
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- It reads records as a search does.
    perform logloom_private.take_search_slot(v_tenant_id);
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(null, p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  perform logloom_private.provision_current_tenant();
  if not p_dry_run then
    perform logloom_private.require_room_for_deletion(v_tenant_id);
  end if;
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', logloom_private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select (select count(*) ' || logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '{}'
      )
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Who looks again and again fills no disk with that.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset (select s.dry_runs_kept from logloom_private.settings s)
    );
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
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

create function public.delete_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_dry_run boolean default null
)
returns public.logloom_retention_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return jsonb_populate_record(
    null::public.logloom_retention_run,
    to_jsonb(logloom_private.request_deletion(
      p_query_dsl, p_ts_from, p_ts_to, coalesce(p_dry_run, true)
    ))
  );
exception when query_canceled or connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return public.delete_logs(p_query_dsl, p_ts_from, p_ts_to, p_dry_run);
end;
$$;

comment on function public.delete_logs(text, text, text, boolean) is
  'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to '
  '(exclusive), dead letters included. A query that a search answers with warnings is refused. '
  'With p_dry_run (default true) nothing is deleted: records says how many match. Else a job '
  'deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the '
  'run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for '
  'a dry run too many searches running).';

-- retention/delete_tenant.sql
-- Begins the end of a tenant: what acts for it goes at once, and its records are to be erased.
create function logloom_private.begin_tenant_deletion(p_tenant_id text)
returns logloom_private.tenant_deletions
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deletion logloom_private.tenant_deletions;
begin
  insert into logloom_private.tenant_deletions (tenant_id, requested_by)
  values (p_tenant_id, logloom_private.actor())
  returning * into v_deletion;
  delete from logloom.api_keys k where k.tenant_id = p_tenant_id;
  delete from logloom.log_streams s where s.tenant_id = p_tenant_id;
  delete from logloom_private.ingest_tokens t where t.tenant_id = p_tenant_id;
  delete from logloom.tenant_members m where m.tenant_id = p_tenant_id;
  update logloom.alert_rules r set enabled = false
  where r.tenant_id = p_tenant_id and r.enabled;
  -- Also those that say that the rules ended.
  delete from logloom_private.notifications n
  where n.tenant_id = p_tenant_id and n.status = 'pending';
  perform logloom_private.request_erasure(p_tenant_id);
  return v_deletion;
end;
$$;

-- Ends a tenant: its keys and members go at once, everything else by the job run_deletions.
create function logloom_private.abolish_tenant(p_tenant_id text)
returns public.logloom_tenant_deletion
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    -- Another request may have been first.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = v_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$$;

create function public.delete_tenant(p_tenant_id text default null)
returns public.logloom_tenant_deletion
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  return logloom_private.abolish_tenant(p_tenant_id);
end;
$$;

comment on function public.delete_tenant(text) is
  'Deletes the tenant with all that it has, for owners, who name it. Its keys and tokens are '
  'refused at once; a job erases the rest, and leaves a receipt in '
  'logloom_private.tenant_deletions. Nobody gets the id before that is done. '
  'Errors: PT400, PT401, PT403, PT404.';

-- retention/delete_tenant_step.sql
-- Removes what a deleted tenant has besides log records, once those are erased. Whether there was
-- something to do.
create function logloom_private.delete_tenant_step()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows constant integer := (select s.deletion_step_records from logloom_private.settings s);
  v_deletion logloom_private.tenant_deletions;
  v_table text;
  v_deleted integer;
begin
  -- A request that was let in before the deletion was committed is in the queue a minute later.
  select d.* into v_deletion
  from logloom_private.tenant_deletions d
  where d.finished_at is null
    and d.requested_at < now() - interval '1 minute'
    and d.requested_at + interval '1 minute' < coalesce(
      (logloom_private.queue_state()).oldest_received_at, 'infinity'
    )
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = d.tenant_id and r.kind = 'erasure'
        and (
          r.status in ('queued', 'running')
          or r.status = 'failed' and r.finished_at > now() - interval '1 hour'
        )
    )
  order by d.requested_at
  limit 1;
  if not found then
    return false;
  end if;

  -- Requests that were under way when the tenant was deleted have ended: what they left, too.
  if not exists (
    select from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure' and r.status = 'done'
      and r.requested_at > v_deletion.requested_at + interval '1 minute'
  ) and v_deletion.erased_records is null then
    perform logloom_private.request_erasure(v_deletion.tenant_id);
    return true;
  end if;
  update logloom_private.tenant_deletions d
  set erased_records = (
    select coalesce(sum(r.records), 0)
    from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure'
      and r.requested_at >= v_deletion.requested_at
  )
  where d.deletion_id = v_deletion.deletion_id and d.erased_records is null;

  -- Every table with a tenant_id, so that none is forgotten that is yet to come.
  for v_table in
    select format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where n.nspname in ('logloom', 'logloom_private') and c.relkind = 'r'
      and not c.relispartition and c.relname not in ('tenants', 'tenant_deletions', 'audit_events')
    order by 1
  loop
    execute format(
      'delete from %1$s t where t.tenant_id = $1 and t.ctid = any (array('
        'select l.ctid from %1$s l where l.tenant_id = $1 limit %2$s))',
      v_table, v_rows
    )
    using v_deletion.tenant_id;
    get diagnostics v_deleted = row_count;
    if v_deleted >= v_rows then
      return true;
    end if;
  end loop;
  delete from logloom.tenants t where t.tenant_id = v_deletion.tenant_id;
  delete from logloom.audit_events e where e.tenant_id = v_deletion.tenant_id;
  update logloom_private.tenant_deletions d set finished_at = clock_timestamp()
  where d.deletion_id = v_deletion.deletion_id;
  return true;
end;
$$;

-- retention/drop_expired_day.sql
-- Drops a day's partition: dropped; kept where a tenant with records in it keeps the day; busy
-- where readers or the writer hold it.
create function logloom_private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants
      -- Something came that is to be archived.
      or logloom_private.day_is_kept(p_day, p_today)
    then
      return 'busy';
    end if;
    perform logloom_private.note_stream_gaps(p_day, p_today);
    -- What else is known of the day nobody reads any more, and goes without holding up the writer.
    delete from logloom_private.log_writes a where a.day = p_day;
    -- Last, because every reader of logloom.logs waits from here to the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

-- retention/erasure_does_not_reach.sql
-- Where records may be that an erasure does not reach, by kind: what readers took out of the
-- service by an export or a page is theirs, what log streams sent is with their receivers, what a
-- damaged block holds cannot be told, and alerts of groups keep the values that made these.
create function logloom_private.erasure_does_not_reach(p_run logloom.retention_runs)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
          'sent_to', s.last_success_at
        )
        order by s.created_at, s.stream_id
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.sent_records > 0
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'damaged_block', 'records', c.records, 'ts_from', c.first_ts,
          'ts_to', c.last_ts + interval '1 microsecond'
        )
        order by c.first_ts, c.block_id
      )
      from logloom_private.blocks c
      where c.tenant_id = p_run.tenant_id and c.damaged_at is not null
        and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'alerts', 'alerts', a.alerts, 'ts_from', a.ts_from, 'ts_to', a.ts_to
        )
      )
      from (
        select count(*) as alerts, min(h.window_start) as ts_from, max(h.window_end) as ts_to
        from logloom.alert_history h
        where h.tenant_id = p_run.tenant_id and h."group" is not null
          and h.window_end > p_run.ts_from and h.window_start < p_run.ts_to
        having count(*) > 0
      ) a
    ),
    '[]'
  );
end;
$$;

-- retention/expired_days.sql
-- Seam: those of the tenants of whose day something is left, with how many rows, p_limit + 1 at
-- most.
create function logloom_private.expired_days(p_tenant_ids text[], p_day date, p_limit integer)
returns table (tenant_id text, records bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query execute format(
    $query$
      select u.tenant_id, u.records
      from (
        select
          t.tenant_id,
          (
            select count(*)
            from (
              select
              from logloom.logs l
              where l.tenant_id = t.tenant_id and l.ts >= %1$L::timestamptz
                and l.ts < %2$L::timestamptz
              limit $2 + 1
            ) l
          ) as records
        from unnest($1) t (tenant_id)
      ) u
      where u.records > 0
        or exists (
          select from logloom_private.log_counts c
          where c.tenant_id = u.tenant_id and c.minute >= %1$L::timestamptz
            and c.minute < %2$L::timestamptz
        )
        or exists (
          select from logloom_private.blocks c
          where c.tenant_id = u.tenant_id and c.last_ts >= %1$L::timestamptz
            and c.last_ts < %2$L::timestamptz
        )
      order by u.tenant_id
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  using p_tenant_ids, p_limit;
end;
$$;

-- retention/expired_tenants.sql
-- The first p_limit tenants after p_after of a day that do not keep it, in their order; without
-- those whose records of it are yet to be archived.
create function logloom_private.expired_tenants(
  p_day date,
  p_today date,
  p_after text,
  p_limit integer
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
      and not (
        a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
      )
    order by d.tenant_id
    limit p_limit
  );
end;
$$;

-- retention/forget_tenants_day.sql
-- Seam: deletes what there is of a day of the tenants: rows, blocks that end in it, and counts. How
-- many records each of those had that had any. One statement, so that records that come meanwhile
-- stay with their counts.
create function logloom_private.forget_tenants_day(
  p_tenant_ids text[],
  p_day date,
  out tenant_ids text[],
  out records bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
-- Tenant by tenant through the indexes, whatever the planner believes of a partition that was
-- filled since it was last looked at.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  -- Without compact_log_counts none of the counts is summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  execute format(
    $query$
      with tenants as materialized (
        select t.tenant_id from unnest($1) t (tenant_id)
      ), rows_gone as (
        delete from logloom.logs l
        using tenants t
        where l.tenant_id = t.tenant_id
          and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from rows_gone g
        -- Further back than any alert window reaches.
        where g.ts > now() - interval '3 days'
      ), blocks_gone as (
        delete from logloom_private.blocks c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.last_ts >= %1$L::timestamptz and c.last_ts < %2$L::timestamptz
        returning c.tenant_id, case when c.holds_counts then c.records else 0 end as records
      ), counts_gone as (
        delete from logloom_private.log_counts c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.minute >= %1$L::timestamptz and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      )
      select array_agg(f.tenant_id), array_agg(f.records)
      from (
        select u.tenant_id, sum(u.records)::bigint as records
        from (
          select c.tenant_id, c.events as records from counts_gone c
          union all
          select b.tenant_id, b.records from blocks_gone b
        ) u
        group by u.tenant_id
      ) f
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  into tenant_ids, records
  using p_tenant_ids;
end;
$$;

-- retention/list_log_retention_runs.sql
create function public.list_log_retention_runs(
  p_tenant_id text default null,
  p_kind text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_retention_run
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'run', 'run_id',
    (
      select r.requested_at from logloom.retention_runs r
      where r.tenant_id = v_tenant_id and r.run_id = p_after
    )
  );
begin
  return query
  select a.*
  from logloom.retention_runs r
  cross join jsonb_populate_record(null::public.logloom_retention_run, to_jsonb(r)) a
  where r.tenant_id = v_tenant_id
    and (p_kind is null or r.kind = p_kind)
    and (p_after is null or (r.requested_at, r.run_id) < (v_after, p_after))
  order by r.requested_at desc, r.run_id desc
  limit v_limit;
end;
$$;

comment on function public.list_log_retention_runs(text, text, integer, uuid) is
  'Deletions of the tenant''s records, newest first. p_kind: retention or erasure. p_limit 1 to '
  '1000 (default 100), p_after: run_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- retention/note_deletions.sql
-- Adds to the tenants' runs of retention that are under way.
create function logloom_private.note_deletions(
  p_tenant_ids text[],
  p_records bigint[],
  p_partitions integer,
  p_today date
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Else, with hashing off where it is called, it goes through all tenants for each one.
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    n.tenant_id, 'retention', 'running', 'retention',
    logloom_private.day_start(k.first_kept_day), n.records, p_partitions
  from unnest(p_tenant_ids, p_records) n (tenant_id, records)
  join logloom_private.first_kept_days(p_today) k on k.tenant_id = n.tenant_id
  where n.records > 0
  on conflict (tenant_id, ts_to) where kind = 'retention' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;

-- retention/repeat_erasure.sql
-- Repeats the next erasure of which the bucket of the archive has a note, and which the database
-- does not know since it was brought back to an earlier state. Whether there was one.
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
  -- A tenant that was given the id since is another one.
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
    -- The bucket has its note.
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

-- retention/request_erasure.sql
-- Orders the erasure of all log records of a tenant.
create function logloom_private.request_erasure(p_tenant_id text)
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

-- retention/rows_end.sql
-- The last of the next rows that a step of a deletion looks at, deletion_step_records at most, from
-- the least on; null where there is none. p_rows: SQL from "from" on.
create function logloom_private.rows_end(p_rows text)
returns logloom_private.log_key
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end logloom_private.log_key;
begin
  execute format(
    'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p '
      || 'order by p.ts desc, p.id desc limit 1',
    p_rows, (select s.deletion_step_records from logloom_private.settings s)
  )
  into v_end;
  return v_end;
end;
$$;

-- retention/run_deletion_step.sql
-- The erasure whose turn it is: of the tenant that was served longest ago, its oldest one. Null
-- where none is open, or the queue still holds events of before it.
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
        -- Not before everything that was acknowledged before the request is a record.
        and r.requested_at < coalesce(
          (logloom_private.queue_state()).oldest_received_at, 'infinity'
        )
        and not logloom_private.waits_for_archive(r.run_id)
      order by r.tenant_id, r.requested_at, r.run_id
    ) o
    left join logloom_private.deletion_turns t on t.tenant_id = o.tenant_id
    order by t.served_at nulls first, o.requested_at, o.run_id
    limit 1
  );
end;
$$;

-- Closes an erasure: done, or failed with the error.
create function logloom_private.finish_deletion(p_run_id uuid, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run logloom.retention_runs;
  v_archive constant record := logloom_private.take_archive_erasure(p_run_id);
begin
  update logloom.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    archive_records = v_archive.records,
    archive_files = v_archive.files,
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

-- Deletes what matches among the dead letters.
create function logloom_private.delete_dead_letters(p_run logloom.retention_runs, p_filter text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted integer;
begin
  execute 'delete ' || logloom_private.tenant_rows_sql(
    p_run.tenant_id, p_run.ts_from, p_run.ts_to, p_filter, 'logloom_private.dead_letters'
  );
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

-- Looks at the next records of an erasure and deletes those that match. Whether there may be more.
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
  v_rows text;
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

  -- A day of the tenant at a time: a statement opens one partition.
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
      -- Nothing is left of the day: the next step begins with the day after.
      v_end := (v_day_end, '00000000-0000-0000-0000-000000000000');
    else
      execute logloom_private.removed_records_sql(format(
        'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)
         and (%s)',
        v_rows, v_end.ts, v_end.ts, v_end.id, v_query.filter
      ))
      into v_deleted;
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

-- A step of the job run_deletions: carries on with the oldest requested erasure, whose place is in
-- its row. A kill repeats none.
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
  -- One at a time deletes, retention too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  if logloom_private.repeat_erasure() then
    return interval '0';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    if logloom_private.delete_tenant_step() then
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    return null;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception
  when connection_exception or admin_shutdown then
    -- The node that has the records is away: it goes on from its place when that is back.
    raise;
  when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job(
      'run_deletions', clock_timestamp(), format('%s: %s', sqlstate, sqlerrm)
    );
  end;
  -- The files of the archive come last; until they are done the erasure is not.
  if not v_more and (v_failed is not null or logloom_private.end_archive_erasure(v_run_id)) then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
end;
$$;

-- retention/run_retention.sql
-- Whether the day's retention has not ended yet, or failed an hour ago.
create function logloom_private.retention_is_due(p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A day that ended with an error is tried again an hour later.
  return not exists (
    select
    from logloom_private.retention_place p
    where p.today = p_today
      and (p.error is null or p.finished_at > now() - interval '1 hour')
      and p.finished_at is not null
  );
end;
$$;

-- Begins the day's retention, unless it is under way.
create function logloom_private.begin_retention(p_today date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from logloom_private.retention_place p
    where p.today = p_today and p.finished_at is null
  ) then
    return;
  end if;
  insert into logloom_private.retention_place (today)
  values (p_today)
  on conflict (singleton) do update
  set today = excluded.today, spans_through = '', done_through = null, day = null,
    tenant_through = null, attempts = 0, error = null, finished_at = null;
  update logloom.retention_runs r
  set status = 'interrupted', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
end;
$$;

-- Ends the day's retention: marks the runs under way as done and forgets old ones, or leaves the
-- first error.
create function logloom_private.end_retention(p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.retention_place p
  set finished_at = clock_timestamp(),
    failing_since = case when p_error is not null then coalesce(p.failing_since, now()) end
  where p.singleton;
  if p_error is not null then
    perform logloom_private.record_job('run_retention', clock_timestamp(), p_error);
    return;
  end if;
  update logloom.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from logloom.retention_runs r
  using logloom_private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$$;

-- Goes on to the next day. p_error: why this one could not be seen to; null where it was.
create function logloom_private.end_retention_day(p_day date, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.retention_place p
  set done_through = p_day, day = null, tenant_through = null, attempts = 0,
    error = coalesce(p.error, p_error)
  where p.singleton;
end;
$$;

-- Deletes what there is of a day of tenants that do not keep it: of all at once and, where that
-- fails, of each by itself, so that one keeps no other waiting. The first error of any, or null.
create function logloom_private.forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forgotten record;
  v_error text;
begin
  begin
    v_forgotten := logloom_private.forget_tenants_day(p_tenant_ids, p_day);
    perform logloom_private.note_deletions(
      v_forgotten.tenant_ids, v_forgotten.records,
      (
        not logloom_private.partition_exists(p_day)
        and not logloom_private.day_is_kept(p_day, p_today)
      )::integer,
      p_today
    );
    return null;
  exception when others then
    v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if cardinality(p_tenant_ids) > 1 then
    v_error := null;
    for v_at in 1..cardinality(p_tenant_ids) loop
      v_error := coalesce(
        v_error, logloom_private.forget_expired(p_tenant_ids[v_at:v_at], p_day, p_today)
      );
    end loop;
  end if;
  return v_error;
end;
$$;

-- Deletes a step of what tenants have in the day being worked at and do not keep, and notes the
-- place.
create function logloom_private.delete_expired_of_day(p_place logloom_private.retention_place)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- Nothing comes between the look at what is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, v_settings.retention_step_tenants
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  perform logloom_private.note_stream_gaps(p_place.day, p_place.today, v_tenants);
  -- As many tenants as have a step's records between them, and at least one.
  select
    array_agg(d.tenant_id order by d.tenant_id) filter (
      where d.records_through <= v_settings.deletion_step_records
    ) as tenant_ids,
    (array_agg(d.tenant_id order by d.tenant_id))[1] as tenant_id
  into v_first
  from (
    select e.tenant_id, sum(e.records) over (order by e.tenant_id) as records_through
    from logloom_private.expired_days(
      v_tenants, p_place.day, v_settings.deletion_step_records
    ) e
  ) d;
  if v_first.tenant_id is null then
    perform logloom_private.leave_days(v_tenants, array[p_place.day]);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_first.tenant_ids is not null then
    v_error := logloom_private.forget_expired(
      v_first.tenant_ids, p_place.day, p_place.today
    );
    if v_error is not null then
      -- Its turn comes again the next time.
      v_through := v_first.tenant_ids[cardinality(v_first.tenant_ids)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
      v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$$;

-- A step of the job run_retention: splits a block, drops a day, or deletes some of what tenants
-- have of it.
create function logloom_private.retention_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place logloom_private.retention_place;
  v_attempts constant integer :=
    (select s.partition_drop_attempts from logloom_private.settings s);
  v_day date;
  v_outcome text;
  v_error text;
begin
  -- One at a time deletes, erasures on request too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  select p.* into v_place from logloom_private.retention_place p;
  if v_place.today is null or v_place.finished_at is not null then
    return null;
  end if;
  if v_place.spans_through is not null then
    perform logloom_private.split_long_block(v_place);
    return interval '0';
  elsif v_place.day is not null then
    return logloom_private.delete_expired_of_day(v_place);
  end if;
  v_day := (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- A day that was dropped before all was done that follows.
      select min(l.day)
      from logloom_private.log_days l
      where l.day > coalesce(v_place.done_through, '1970-01-01')
      union all
      -- A day that is sealed whole has no partition. A block of several days goes with the last.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.blocks c
      where c.last_ts >= logloom_private.day_start(coalesce(v_place.done_through, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(v_place.done_through, '-infinity') and d.day < v_place.today
  );
  if v_day is null then
    perform logloom_private.end_retention(v_place.error);
    return null;
  end if;

  begin
    v_outcome := logloom_private.drop_expired_day(v_day, v_place.today);
  exception when others then
    v_outcome := 'failed';
    v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if v_outcome in ('kept', 'dropped') then
    -- No tenant''s name comes before the empty one.
    update logloom_private.retention_place set day = v_day, tenant_through = '' where singleton;
  elsif v_outcome <> 'busy' then
    perform logloom_private.end_retention_day(v_day, v_error);
  elsif v_place.attempts + 1 < v_attempts then
    update logloom_private.retention_place p set attempts = p.attempts + 1 where p.singleton;
    return interval '1 second';
  else
    perform logloom_private.end_retention_day(
      v_day, format('readers kept partition %s from being dropped', v_day)
    );
  end if;
  return interval '0';
end;
$$;

-- Deletes what no tenant keeps: whole days, else the records of a tenant step by step, each
-- committed, for about job_run_budget. The next run does what is left over; on a day that is
-- finished it does nothing. p_today: to run as if it were another day. Not definer and no set
-- clause, since such a procedure could not commit: it qualifies every name and every type.
create procedure logloom_private.run_retention(p_today date default null)
language plpgsql
as $$
declare
  v_today constant pg_catalog.date := coalesce(p_today, logloom_private.utc_day(pg_catalog.now()));
begin
  if p_today is null and not logloom_private.retention_is_due(v_today) then
    return;
  end if;
  perform logloom_private.begin_retention(v_today);
  commit;
  call logloom_private.run_job('run_retention', 'logloom_private.retention_step()');
end;
$$;

-- retention/split_long_block.sql
-- Splits the next block that spans more days than its tenant's retention allows since that was
-- shortened, and notes the place: what is past retention then goes with what ends before it.
create function logloom_private.split_long_block(p_place logloom_private.retention_place)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant record;
  v_through text;
  v_block_id bigint;
  v_error text;
begin
  -- Tenant by tenant: the blocks may be on other nodes.
  for v_tenant in
    select k.tenant_id, logloom_private.block_days(p_place.today - k.first_kept_day) as days
    from logloom_private.first_kept_days(p_place.today) k
    where k.tenant_id > p_place.spans_through
    order by k.tenant_id
    limit (select s.retention_step_tenants from logloom_private.settings s)
  loop
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_tenant.tenant_id and c.holds_counts
      and logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts) >= v_tenant.days;
    if v_block_id is not null then
      begin
        perform logloom_private.rewrite_blocks(
          v_tenant.tenant_id, array[v_block_id], v_tenant.days
        );
        v_through := coalesce(v_through, p_place.spans_through);
      exception when others then
        -- Its turn comes again the next time.
        v_error := format('%s: %s', sqlstate, sqlerrm);
        v_through := v_tenant.tenant_id;
      end;
      exit;
    end if;
    v_through := v_tenant.tenant_id;
  end loop;
  update logloom_private.retention_place p
  set spans_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
end;
$$;

select logloom_private.finish_migration();
