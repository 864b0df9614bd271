-- Log records in daily partitions, named logs_YYYY_MM_DD, days of UTC.

-- The columns of 8 bytes stand first: nothing is padded.
create table app.logs (
  ts timestamptz not null,
  received_at timestamptz not null,
  arrival bigint not null,
  id uuid not null,
  tenant_id text not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  primary key (tenant_id, ts, id),
  constraint logs_level_is_known check (level in ('debug', 'info', 'warn', 'error')),
  constraint logs_attrs_is_object check (jsonb_typeof(attrs) = 'object')
)
partition by range (ts);

-- What became visible since: a new record may have any ts, but lies at the end of its partition.
-- Ranges of 4 MB, so that a writer at full speed does not ask for more summaries than autovacuum
-- remembers.
create index logs_arrival_idx on app.logs
using brin (arrival) with (pages_per_range = 512, autosummarize = on);
-- The one field that is asked for by itself over many days. Its beginning only: an index refuses
-- what is longer than a third of a page.
create index logs_tenant_id_req_id_idx
on app.logs (tenant_id, left(req_id, 200))
where req_id is not null;

alter table app.logs alter column msg set compression lz4;
alter table app.logs alter column attrs set compression lz4;

alter table app.logs enable row level security;
alter table app.logs force row level security;

create policy logs_select_tenant on app.logs
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

grant select on app.logs to authenticated, service_role;

create function private.partition_name(p_day date)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return to_char(p_day, '"logs_"YYYY_MM_DD');
end;
$$;

create function private.utc_day(p_ts timestamptz)
returns date
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (p_ts at time zone 'UTC')::date;
end;
$$;

create function private.partition_exists(p_day date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'app.logs'::regclass
      and c.relname = private.partition_name(p_day)
      and not i.inhdetachpending
  );
end;
$$;

create function private.lock_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtext('logloom:partitions'));
end;
$$;

create function private.create_partition(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_name constant text := private.partition_name(p_day);
begin
  perform private.lock_partitions();
  if private.partition_exists(p_day) then
    return;
  end if;
  -- Made beside the parent and attached: "partition of" would wait for every reader of the parent.
  execute format('create table app.%I (like app.logs including all)', v_name);
  execute format('alter table app.%I enable row level security', v_name);
  execute format('alter table app.%I force row level security', v_name);
  execute format(
    'alter table app.logs attach partition app.%I for values from (%L) to (%L)',
    v_name,
    p_day::timestamp at time zone 'UTC',
    (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

create function private.adopt_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_partition record;
begin
  for v_partition in
    select
      c.relname as name,
      private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'app.logs'::regclass
  loop
    if v_partition.name <> v_partition.day_name then
      execute format('alter table app.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table app.%I enable row level security', v_partition.day_name);
      execute format('alter table app.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$$;

create function private.maintain_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from private.settings s);
begin
  perform private.lock_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'app.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('app.logs');
  perform private.adopt_partitions();
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform private.create_partition(private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;

-- No default partition: a row in it would stop maintenance, and its check would wait for readers.
select partman.create_parent(
  p_parent_table := 'app.logs',
  p_control := 'ts',
  p_interval := '1 day',
  p_premake := (select s.partition_days_ahead from private.settings s),
  p_default_table := false
);
update partman.part_config
set infinite_time_partitions = true
where parent_table = 'app.logs';
select private.maintain_partitions();

comment on table app.logs is
  'Log records. id derives from the queued batch and the event''s index. Days without a partition '
  'refuse rows.';
comment on column app.logs.arrival is
  'Number of the writer''s step that made the record visible. Its order is commit order.';
comment on column app.logs.ts is
  'When it happened, as the client says; received_at where it does not.';
comment on column app.logs.received_at is 'When it was committed to the queue.';
comment on function private.partition_name(date) is 'logs_YYYY_MM_DD.';
comment on function private.utc_day(timestamptz) is 'The UTC day of an instant.';
comment on function private.partition_exists(date) is 'Whether the day''s partition is attached.';
comment on function private.lock_partitions() is
  'Held to the end of the transaction: one at a time makes, renames or drops partitions.';
comment on function private.create_partition(date) is
  'Makes the day''s partition unless it exists.';
comment on function private.adopt_partitions() is
  'Gives partitions made by pg_partman their names and row-level security. Bounds come from the '
  'catalog, so pg_partman goes on working after the rename.';
comment on function private.maintain_partitions() is
  'Today''s partition and those of the coming days exist afterwards.';
