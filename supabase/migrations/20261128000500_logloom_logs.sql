-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- logs/types/domains.sql
-- The rules of two columns of logloom.logs as types: the writer casts to them, so that an event
-- that breaks one fails while it is read, with its own error, not while it is inserted, which may
-- be on another node.

create domain logloom_private.log_level as text
constraint log_level_is_known check (value in ('debug', 'info', 'warn', 'error'));

create domain logloom_private.log_attrs as jsonb
constraint log_attrs_is_object check (jsonb_typeof(value) = 'object');

-- logs/types/log_key.sql
create type logloom_private.log_key as (ts timestamptz, id uuid);

comment on type logloom_private.log_key is 'A place in the order of a tenant''s records.';

-- logs/tables/log_counts.sql
create table logloom_private.log_counts (
  minute timestamptz not null,
  events bigint not null,
  is_other boolean not null default false,
  is_delta boolean not null default true,
  tenant_id text not null,
  level text,
  service text,
  count_id bigint generated always as identity,
  primary key (tenant_id, minute, count_id)
);

create index log_counts_other_idx on logloom_private.log_counts (tenant_id, minute) where is_other;
create index log_counts_delta_idx on logloom_private.log_counts (minute) where is_delta;

comment on table logloom_private.log_counts is
  'Records by tenant, minute of ts, service and level: the sum of events over the rows of a key. '
  'Kept by the statements that change records (added_records_sql, removed_records_sql); summed up '
  'by logloom_private.compact_log_counts().';

comment on column logloom_private.log_counts.events is
  'How many; negative where records were deleted. Only the sum over a key means anything.';

comment on column logloom_private.log_counts.is_other is
  'Services beyond count_services_max, counted together: service is null and says nothing. Where '
  'a minute has such a row, no service of that minute can be told from the counts.';

comment on column logloom_private.log_counts.count_id is
  'Makes the key unique: several rows may count for one minute.';

comment on column logloom_private.log_counts.is_delta is 'Was added since the last summing up.';

-- logs/tables/log_days.sql
create table logloom_private.log_days (
  tenant_id text not null,
  day date not null,
  primary key (tenant_id, day)
);

create index log_days_day_tenant_id_idx on logloom_private.log_days (day, tenant_id);

comment on table logloom_private.log_days is
  'The UTC days in which a tenant has records, so that a search names those days only. A day stays '
  'here until its partition goes or retention finds nothing of the tenant left in it.';

-- logs/tables/log_removals.sql
create table logloom_private.log_removals (
  tenant_id text not null
);

create index log_removals_tenant_id_idx on logloom_private.log_removals (tenant_id);

comment on table logloom_private.log_removals is
  'Tenants of which records were removed within the longest alert window: what was added up over '
  'them no longer holds. Rows of their own, so that a removal and an alert round never wait for '
  'each other.';

-- logs/tables/log_writes.sql
create table logloom_private.log_writes (
  write_seq bigint not null,
  day date not null,
  primary key (write_seq, day)
);

create index log_writes_day_write_seq_idx on logloom_private.log_writes (day, write_seq);

comment on table logloom_private.log_writes is
  'The greatest write sequence in each day''s partition, and lesser ones until the next summing '
  'up: which partitions a live tail must look at.';

-- logs/tables/logs.sql
-- Log records in daily partitions, named logs_YYYY_MM_DD, days of UTC.

-- The columns of 8 bytes stand first: nothing is padded.
create table logloom.logs (
  ts timestamptz not null,
  received_at timestamptz not null,
  write_seq bigint not null,
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
  record_bytes integer,
  primary key (tenant_id, ts, id),
  constraint logs_level_is_known check (level in ('debug', 'info', 'warn', 'error')),
  constraint logs_attrs_is_object check (jsonb_typeof(attrs) = 'object')
)
partition by range (ts);

-- What became visible since: a new record may have any ts, but lies at the end of its partition.
-- Ranges of 4 MB, so that a writer at full speed does not ask for more summaries than autovacuum
-- remembers.
create index logs_write_seq_idx on logloom.logs
using brin (write_seq) with (pages_per_range = 512, autosummarize = on);

-- The one field that is asked for by itself over many days. Its beginning only: an index refuses
-- what is longer than a third of a page.
create index logs_tenant_id_req_id_idx
on logloom.logs (tenant_id, left(req_id, 200))
where req_id is not null;

alter table logloom.logs alter column msg set compression lz4;
alter table logloom.logs alter column attrs set compression lz4;

create policy logs_select_tenant on logloom.logs
for select to authenticated
-- No subquery, which would be evaluated once: a table that is sharded takes none in its
-- policies. No operation reads through this one.
using (tenant_id = logloom_private.current_tenant_id());

grant select on logloom.logs to authenticated, service_role;

comment on table logloom.logs is
  'Log records. id derives from the queued batch and the event''s index. Days without a partition '
  'refuse rows.';

comment on column logloom.logs.write_seq is
  'Number of the writer''s step that made the record visible. Its order is commit order.';

comment on column logloom.logs.record_bytes is
  'Bytes of the record''s JSON text as operations answer it; null where it came before this '
  'column. logloom_private.bytes_of_record says either.';

comment on column logloom.logs.ts is
  'When it happened, as the client says; received_at where it does not.';

comment on column logloom.logs.received_at is 'When it was committed to the queue.';

-- logs/added_counts_sql.sql
-- Records are changed by these statements alone: each keeps the counts, the days and the write
-- sequences in the statement that changes the records. There is no trigger to forget, and a
-- table that is sharded takes none. They only ever add rows (a removal adds negative counts), so no
-- row is contended and a forgotten snapshot leaves no chains of versions; a job sums up what
-- was added.

-- SQL for the rows of log_counts that p_added comes to: records by tenant_id, minute, service and
-- level, as events.
create function logloom_private.added_counts_sql(p_added text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Sorted by bytes, at a third of what the tenants' own collation costs.
  return format(
    $query$
      select
        a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
        a.is_other, sum(a.events)::bigint as events
      from (
        select
          u.*,
          coalesce(length(u.service), 0) > s.count_service_length_max
            or dense_rank() over (
              partition by u.tenant_id collate "C", u.minute order by u.service collate "C"
            ) > s.count_services_max as is_other
        from %s u, logloom_private.settings s
      ) a
      group by 1, 2, 3, 4, 5
      order by a.tenant_id collate "C", a.minute
    $query$,
    p_added
  );
end;
$$;

-- logs/added_records_sql.sql
-- A statement that runs p_insert ("insert into logloom.logs as l …", without returning), counts
-- what it adds and notes which days it reached. It returns how many records were added.
create function logloom_private.added_records_sql(p_insert text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level, l.write_seq
      ), added as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events, max(c.write_seq) as write_seq
        from changed c
        group by 1, 2, 3, 4
      ), write_seqs as (
        insert into logloom_private.log_writes (write_seq, day)
        select max(a.write_seq), (a.minute at time zone 'UTC')::date
        from added a
        group by 2
        on conflict do nothing
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct a.tenant_id, (a.minute at time zone 'UTC')::date
        from added a
        order by 1, 2
        on conflict do nothing
      ), counted as (
        insert into logloom_private.log_counts (
          tenant_id, minute, service, level, is_other, events
        )
        %s
      )
      select coalesce(sum(a.events), 0)::integer from added a
    $query$,
    p_insert, logloom_private.added_counts_sql('added')
  );
end;
$$;

-- logs/bare_record_bytes.sql
-- Bytes of a record's JSON text without the values of its event: names, quotes of texts, commas,
-- and what all events of a batch share.
create function logloom_private.bare_record_bytes(p_tenant_id text, p_received_at timestamptz)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(
    '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":}'
    -- fields text: || ',"{name}":""'
    || ',"level":""'
    || ',"msg":""'
    || ',"service":""'
    || ',"env":""'
    || ',"req_id":""'
    || ',"user_id":""'
    || ',"route":""'
    || ',"host":""'
    -- fields end
    || ',"attrs":'
  ) + octet_length(to_json(p_tenant_id)::text) + octet_length(to_json(p_received_at)::text);
end;
$$;

-- logs/bytes_of_record.sql
-- Bytes of a record's JSON text: what was measured when it was accepted, and for one of before that
-- was done, measured now, for which it has to be whole.
create function logloom_private.bytes_of_record(p_log logloom.logs)
returns integer
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      -- Null is as long as two letters in quotes.
      + octet_length(
        to_json(concat(
          -- fields text joined: coalesce(p_log.{name}, '--')
          coalesce(p_log.level, '--'), coalesce(p_log.msg, '--'), coalesce(p_log.service, '--'),
          coalesce(p_log.env, '--'), coalesce(p_log.req_id, '--'), coalesce(p_log.user_id, '--'),
          coalesce(p_log.route, '--'), coalesce(p_log.host, '--')
          -- fields end
        ))::text
      ) - 2
      + octet_length(coalesce(p_log.attrs, 'null')::text)
  );
end;
$$;

-- logs/compact_log_counts.sql
-- Brings the index by write sequence of a day's partition up to date, for which autovacuum takes a
-- minute and more: what is not summarized is read by every live tail.
create function logloom_private.summarize_writes(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  v_index regclass;
begin
  select i.indexrelid into v_index
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
  perform brin_summarize_new_values(v_index);
exception
  when lock_not_available then
    -- Vacuum is at it, which does the same.
    null;
  when internal_error or undefined_table then
    -- The partition went while this waited for it.
    if exists (select from pg_catalog.pg_class c where c.oid = v_index) then
      raise;
    end if;
end;
$$;

-- Sums up the rows of minutes that changed, and keeps the latest write sequence of a day only: one
-- step of a job.
create function logloom_private.compact_log_counts()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
  v_arrived_days date[];
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
  with minutes as (
    select distinct d.tenant_id, d.minute
    from (
      select c.tenant_id, c.minute
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit v_settings.count_compact_rows
    ) d
  ), taken as (
    delete from logloom_private.log_counts c
    using minutes m
    where c.tenant_id = m.tenant_id and c.minute = m.minute
    returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
  ), summed as (
    select
      t.tenant_id, t.minute, t.service, t.level, t.is_other, sum(t.events) as events,
      dense_rank() over (
        partition by t.tenant_id, t.minute order by t.is_other, t.service collate "C"
      ) as place
    from taken t
    group by t.tenant_id, t.minute, t.service, t.level, t.is_other
    having sum(t.events) <> 0
  ), kept as (
    -- Negative is a service that was counted together with others when it was added.
    select s.*, s.is_other or s.events < 0 or s.place > v_settings.count_services_max as folded
    from summed s
  ), added as (
    insert into logloom_private.log_counts
      (tenant_id, minute, service, level, is_other, events, is_delta)
    select
      k.tenant_id, k.minute, case when not k.folded then k.service end, k.level, k.folded,
      sum(k.events), false
    from kept k
    group by 1, 2, 3, 4, 5
    having sum(k.events) <> 0
    order by 1, 2
  )
  select count(*) into v_rows from taken;
  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  return case when v_rows >= v_settings.count_compact_rows then interval '0' end;
end;
$$;

-- logs/create_partition.sql
-- Makes the day's partition unless it exists.
create function logloom_private.create_partition(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_name constant text := logloom_private.partition_name(p_day);
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  if logloom_private.partition_exists(p_day) then
    return;
  end if;
  -- Made beside the parent and attached: "partition of" would wait for every reader of the parent.
  execute format('create table logloom.%I (like logloom.logs including all)', v_name);
  execute format('alter table logloom.%I enable row level security', v_name);
  execute format('alter table logloom.%I force row level security', v_name);
  execute format(
    'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
    v_name,
    p_day::timestamp at time zone 'UTC',
    (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

-- logs/leave_days.sql
-- Takes days of which the tenants have no rows left out of log_days: no search opens them any more.
create function logloom_private.leave_days(p_tenant_ids text[], p_days date[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_left text;
  v_tenants bigint;
begin
  foreach v_day in array p_days loop
    v_left := format(
      'from logloom_private.log_days d where d.day = %L and d.tenant_id = any($1) '
        || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
      v_day, logloom_private.day_start(v_day), logloom_private.day_start(v_day + 1)
    );
    execute 'select count(*) ' || v_left into v_tenants using p_tenant_ids;
    if v_tenants > 0 then
      -- Without the writer, which notes a day only where it is not noted yet.
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
      execute 'delete ' || v_left using p_tenant_ids;
    end if;
  end loop;
end;
$$;

-- logs/maintain_partitions.sql
-- What the hourly job does. Today's partition and those of the coming days exist afterwards, with
-- their names and row-level security. No migration calls it: `supabase db diff` of every project
-- would show the partition of the day on which the migration was written.
create function logloom_private.maintain_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The catalog prints bounds as the project's date style has them.
set datestyle = 'ISO'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
  v_partition record;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  perform logloom_private.manage_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  -- Bounds come from the catalog, so pg_partman goes on working after its partitions are renamed.
  for v_partition in
    select
      c.relname as name,
      logloom_private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  loop
    continue when v_partition.name = v_partition.day_name;
    execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
    execute format('alter table logloom.%I enable row level security', v_partition.day_name);
    execute format('alter table logloom.%I force row level security', v_partition.day_name);
  end loop;
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;

-- logs/partition_days.sql
-- The days that have a partition, oldest first.
create function logloom_private.partition_days()
returns date[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select to_date(c.relname, '"logs_"YYYY_MM_DD') as day
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
    order by 1
  );
end;
$$;

-- logs/partition_exists.sql
-- Whether the day's partition is attached.
create function logloom_private.partition_exists(p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and c.relname = logloom_private.partition_name(p_day)
      and not i.inhdetachpending
  );
end;
$$;

-- logs/partition_name.sql
-- logs_YYYY_MM_DD.
create function logloom_private.partition_name(p_day date)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_day, '"logs_"YYYY_MM_DD');
end;
$$;

-- logs/partman.sql
-- Gives logloom.logs to pg_partman, unless it has it.
create function logloom_private.manage_partitions()
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

-- logs/removed_records_sql.sql
-- A statement that runs p_delete ("delete from logloom.logs l where …", without returning), takes
-- what it removes away from the counts and notes the removal. It returns how many records went.
create function logloom_private.removed_records_sql(p_delete text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Under the service's own name, even where it was counted together with others: the sums stay
  -- right, and compact_log_counts puts it where it belongs.
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level
      ), removed as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events
        from changed c
        group by 1, 2, 3, 4
      ), counted as (
        insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
        select r.tenant_id, r.minute, r.service, r.level, -r.events
        from removed r
        order by 1, 2
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct r.tenant_id
        from removed r
        -- Further back than any alert window reaches.
        where r.minute > now() - interval '3 days'
      )
      select coalesce(sum(r.events), 0)::integer from removed r
    $query$,
    p_delete
  );
end;
$$;

select logloom_private.finish_migration();
