-- Assembled from supabase/schemas by npm run migration: change it there.

-- logs/types/domains.sql

-- The rules of two columns of logloom.logs as types: the writer casts to them, so that an event
-- that breaks one fails while it is read, with its own error, not while it is inserted, which may
-- be on another node.

create domain logloom_private.log_level as text
constraint log_level_is_known check (value in ('debug', 'info', 'warn', 'error'));

create domain logloom_private.log_attrs as jsonb
constraint log_attrs_is_object check (jsonb_typeof(value) = 'object');

-- logs/types/minute_count.sql

create type logloom_private.minute_count as (
  minute timestamptz,
  events bigint,
  is_other boolean,
  level text,
  service text
);

comment on type logloom_private.minute_count is
  'A row of logloom_private.log_counts, as logloom_private.packed_counts holds it.';

-- logs/tables/counted_days.sql

create table logloom_private.counted_days (
  day date not null,
  noted_at timestamptz not null default now(),
  tenant_id text not null,
  primary key (tenant_id, day)
);

create index counted_days_noted_at_idx on logloom_private.counted_days (noted_at);

comment on table logloom_private.counted_days is
  'Days of a tenant whose counts were summed up since pack_log_counts last looked at all of them.';

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

-- logs/tables/packed_counts.sql

create table logloom_private.packed_counts (
  week date not null,
  tenant_id text not null,
  minutes smallint[] not null,
  events integer[] not null,
  levels "char"[] not null,
  places smallint[] not null,
  services text[] not null,
  primary key (tenant_id, week)
);

comment on table logloom_private.packed_counts is
  'What logloom_private.log_counts said of minutes long ago, of tenants with few rows there: a row '
  'a week instead of one a minute. A count is here or there, not in both.';

comment on column logloom_private.packed_counts.week is 'Its Monday.';

comment on column logloom_private.packed_counts.minutes is
  'Of each count the minute of the week, from 0 on.';

comment on column logloom_private.packed_counts.events is 'Of each count how many.';

comment on column logloom_private.packed_counts.levels is
  'Of each count the first letter of its level, a blank where it has none.';

comment on column logloom_private.packed_counts.places is
  'Of each count the place of its service among services, from 1 on; 0 where is_other.';

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

-- Bytes of a record's JSON text without the values of its event: names, quotes, commas, and what
-- all events of a batch share.
create function logloom_private.bare_record_bytes(p_tenant_id text, p_received_at timestamptz)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(
    '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":}'
    -- fields sent but ts: || ',"{name}":'
    || ',"level":'
    || ',"msg":'
    || ',"service":'
    || ',"env":'
    || ',"req_id":'
    || ',"user_id":'
    || ',"route":'
    || ',"host":'
    || ',"attrs":'
    -- fields end
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
declare
  v_texts constant text[] := array[
    -- fields text joined: p_log.{name}
    p_log.level, p_log.msg, p_log.service, p_log.env, p_log.req_id, p_log.user_id, p_log.route,
    p_log.host
    -- fields end
  ];
begin
  -- As JSON an array has a bracket or comma for each of its texts, and one bracket more.
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      + octet_length(array_to_json(v_texts)::text) - cardinality(v_texts) - 1
      + coalesce(octet_length(p_log.attrs::text), 4)
  );
end;
$$;

-- logs/change_records.sql

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

-- logs/compact_log_counts.sql

-- Brings the index by write sequence of a day's partition up to date, for which autovacuum takes a
-- minute and more: what is not summarized is read by every live tail.
create function logloom_private.summarize_writes(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  perform brin_summarize_new_values(i.indexrelid)
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
exception when lock_not_available then
  -- Vacuum is at it, which does the same.
  null;
end;
$$;

-- Sums up the rows of minutes that changed, packs those of small tenants, and keeps the latest
-- write sequence of a day only: one step of a job.
create function logloom_private.compact_log_counts()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
  v_arrived_days date[];
  v_days integer := 0;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;

  v_rows := logloom_private.sum_counts(v_settings.count_compact_rows);
  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  if v_rows < v_settings.count_compact_rows then
    v_days := logloom_private.pack_log_counts();
  end if;
  return case
    when v_rows >= v_settings.count_compact_rows or v_days >= v_settings.count_pack_days
      then interval '0'
  end;
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
  perform logloom_private.lock_partitions();
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

-- logs/forget_day.sql

-- Forgets what is known of a UTC day: counts, tenants, write sequences. To be called in the
-- transaction that drops its partition.
create function logloom_private.forget_day(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
begin
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using logloom_private.log_days d
  where d.day = p_day
    and c.tenant_id = d.tenant_id
    and c.minute >= v_from
    and c.minute < v_from + interval '24 hours';
  with unpacked as (
    delete from logloom_private.packed_counts p
    where p.week = logloom_private.week_of(p_day)
    returning p as packed
  )
  insert into logloom_private.packed_counts
  select p.*
  from unpacked u
  cross join lateral logloom_private.packed_week(
    (u.packed).tenant_id, (u.packed).week,
    array(
      select c
      from logloom_private.unpacked_counts(u.packed) c
      where c.minute < v_from or c.minute >= v_from + interval '24 hours'
    )
  ) p
  where p.minutes is not null;
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_writes a where a.day = p_day;
end;
$$;

-- logs/forgotten_records_sql.sql

-- A statement that deletes all rows and counts of the tenants $1, from each one's instant in $2
-- (p_from is the least of these) to p_to, which are bounds of days. It returns two arrays: tenants,
-- and how many records were counted of each. One snapshot, so that records that come meanwhile stay
-- with their counts. To be called with the lock log_counts.
create function logloom_private.forgotten_records_sql(p_from timestamptz, p_to timestamptz)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $query$
      with ranges as materialized (
        select r.* from unnest($1::text[], $2::timestamptz[]) r (tenant_id, starts)
      ), gone as (
        delete from logloom.logs l
        using ranges r
        where l.tenant_id = r.tenant_id
          and l.ts >= r.starts and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from gone g
        -- Further back than any alert window reaches.
        where g.ts > now() - interval '3 days'
      ), counts as (
        delete from logloom_private.log_counts c
        using ranges r
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      ), unpacked as (
        delete from logloom_private.packed_counts p
        using ranges r
        where p.tenant_id = r.tenant_id
          and p.week >= logloom_private.week_of(logloom_private.utc_day(r.starts))
          and p.week < logloom_private.utc_day(%2$L::timestamptz)
        returning p as packed, r.starts
      ), weeks as materialized (
        select (u.packed).tenant_id, (u.packed).week, c as count,
          c.minute >= u.starts and c.minute < %2$L::timestamptz as is_gone
        from unpacked u
        cross join lateral logloom_private.unpacked_counts(u.packed) c
      ), packed as (
        insert into logloom_private.packed_counts
        select p.*
        from (
          select w.tenant_id, w.week, array_agg(w.count) as counts
          from weeks w
          where not w.is_gone
          group by 1, 2
        ) w
        cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
      )
      select array_agg(f.tenant_id), array_agg(f.events)
      from (
        select u.tenant_id, sum(u.events)::bigint as events
        from (
          select c.tenant_id, c.events from counts c
          union all
          select w.tenant_id, (w.count).events from weeks w where w.is_gone
        ) u
        group by u.tenant_id
      ) f
    $query$,
    p_from, p_to
  );
end;
$$;

-- logs/lock_partitions.sql

-- Held to the end of the transaction: one at a time makes, renames or drops partitions.
create function logloom_private.lock_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
end;
$$;

-- logs/maintain_partitions.sql

-- Today's partition and those of the coming days exist afterwards.
create function logloom_private.maintain_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
begin
  -- Before the lock on partitions, for it waits for the writer.
  perform logloom_private.align_partitions();
  perform logloom_private.lock_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  perform logloom_private.adopt_partitions();
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;

-- logs/pack_log_counts.sql

-- Packs the counts of minutes that are over for seal_after, of some days of tenants that have few.
-- How many days it looked at. To be called with the lock log_counts.
create function logloom_private.pack_log_counts()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
-- Tenant by tenant through the index, whatever the planner believes of a table that changed a lot.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_settings logloom_private.settings;
  v_until timestamptz;
  v_days integer;
begin
  if not exists (select from logloom_private.counted_days) then
    return 0;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Whoever asks how much came lately, as the alerts do, finds it where it was counted.
  v_until := date_bin('1 minute', now() - v_settings.seal_after, 'epoch');
  with due as (
    select c.tenant_id, c.day
    from logloom_private.counted_days c
    -- What comes late is packed with what comes later still.
    where c.noted_at < now() - v_settings.seal_after
    order by c.noted_at
    limit v_settings.count_pack_days
  ), over as (
    delete from logloom_private.counted_days c
    using due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' <= v_until
  ), under_way as (
    update logloom_private.counted_days c
    set noted_at = now()
    from due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' > v_until
  ), few as materialized (
    select r.*
    from (
      select
        d.tenant_id, d.day,
        d.day::timestamp at time zone 'UTC' as starts,
        least((d.day + 1)::timestamp at time zone 'UTC', v_until) as ends
      from due d
    ) r
    -- With more, a row for each is found faster than a place in a long array.
    where (
      select count(*)
      from (
        select
        from logloom_private.log_counts c
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < r.ends
        limit v_settings.count_pack_rows + 1
      ) l
    ) <= v_settings.count_pack_rows
  ), taken as (
    delete from logloom_private.log_counts c
    using few f
    where c.tenant_id = f.tenant_id
      and c.minute >= f.starts
      and c.minute < f.ends
      and not c.is_delta
    returning
      c.tenant_id, logloom_private.week_of(f.day) as week,
      row(c.minute, c.events, c.is_other, c.level, c.service)::logloom_private.minute_count
        as count
  ), unpacked as (
    delete from logloom_private.packed_counts p
    using (select distinct t.tenant_id, t.week from taken t) w
    where p.tenant_id = w.tenant_id and p.week = w.week
    returning p as packed
  ), packed as (
    insert into logloom_private.packed_counts
    select p.*
    from (
      select c.tenant_id, c.week, array_agg(c.count) as counts
      from (
        select t.tenant_id, t.week, t.count from taken t
        union all
        select (u.packed).tenant_id, (u.packed).week, c
        from unpacked u, logloom_private.unpacked_counts(u.packed) c
      ) c
      group by c.tenant_id, c.week
    ) w
    cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
    where p.minutes is not null
  )
  select count(*) into v_days from due;
  return v_days;
end;
$$;

-- logs/packed_counts_sql.sql

-- Seam. SQL in parentheses that yields the packed counts of a tenant as log_counts has them, of all
-- weeks that the range touches.
create function logloom_private.packed_counts_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    '(select p.tenant_id, c.* from logloom_private.packed_counts p, '
      || 'logloom_private.unpacked_counts(p) c '
      || 'where p.tenant_id = %L and p.week >= %L::date and p.week <= %L::date)',
    p_tenant_id, logloom_private.week_of(logloom_private.utc_day(p_from)),
    logloom_private.week_of(logloom_private.utc_day(p_to))
  );
end;
$$;

-- logs/packed_week.sql

-- A row of packed_counts with these counts, which are of the week that begins with p_week.
create function logloom_private.packed_week(
  p_tenant_id text,
  p_week date,
  p_counts logloom_private.minute_count[]
)
returns logloom_private.packed_counts
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_monday constant timestamptz := p_week::timestamp at time zone 'UTC';
  v_packed logloom_private.packed_counts;
begin
  with summed as (
    select
      c.minute, c.is_other, c.level, c.service, sum(c.events) as events,
      dense_rank() over (order by c.is_other, c.service) as place
    from unnest(p_counts) c
    group by 1, 2, 3, 4
    having sum(c.events) <> 0
  )
  select
    array_agg((extract(epoch from s.minute - v_monday) / 60)::smallint order by s.minute),
    array_agg(s.events::integer order by s.minute),
    array_agg(coalesce(left(s.level, 1), ' ')::"char" order by s.minute),
    array_agg(case when s.is_other then 0 else s.place end::smallint order by s.minute),
    array(
      select u.service
      from (select distinct s.place, s.service from summed s where not s.is_other) u
      order by u.place
    )
  into v_packed.minutes, v_packed.events, v_packed.levels, v_packed.places, v_packed.services
  from summed s;
  v_packed.tenant_id := p_tenant_id;
  v_packed.week := p_week;
  return v_packed;
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

-- logs/partitions.sql

-- Gives partitions made by pg_partman their names and row-level security. Bounds come from the
-- catalog, so pg_partman goes on working after the rename.
create function logloom_private.adopt_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The catalog prints bounds as the project's date style has them.
set datestyle = 'ISO'
as $$
declare
  v_partition record;
begin
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
    if v_partition.name <> v_partition.day_name then
      execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table logloom.%I enable row level security', v_partition.day_name);
      execute format('alter table logloom.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$$;

-- Partitions that do not begin and end with a day in UTC.
create function logloom_private.unaligned_partitions()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  return array(
    select c.relname::text
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass and not i.inhdetachpending
      and pg_get_expr(c.relpartbound, c.oid)
        !~ '^FOR VALUES FROM \(''[\d-]+ 00:00:00\+00''\) TO \(''[\d-]+ 00:00:00\+00''\)$'
    order by c.relname
  );
end;
$$;

-- Puts days in UTC in the place of partitions that begin at another hour: 0.1.0 made those where
-- the project has a time zone of its own.
create function logloom_private.align_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_unaligned text[] := logloom_private.unaligned_partitions();
  v_lock_wait text;
  v_name text;
  v_day date;
begin
  if cardinality(v_unaligned) = 0 then
    return;
  end if;
  v_lock_wait := logloom_private.limit_lock_wait(
    (select s.partition_drop_lock_timeout from logloom_private.settings s)
  );
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform logloom_private.lock_partitions();
  v_unaligned := logloom_private.unaligned_partitions();
  -- All of them first: a day overlaps two that are beside it.
  foreach v_name in array v_unaligned loop
    execute format('alter table logloom.logs detach partition logloom.%I', v_name);
    execute format('alter table logloom.%I rename to %I', v_name, v_name || '_unaligned');
  end loop;
  foreach v_name in array v_unaligned loop
    for v_day in execute format(
      'select distinct logloom_private.utc_day(l.ts) from logloom.%I l', v_name || '_unaligned'
    )
    loop
      perform logloom_private.create_partition(v_day);
      execute format(
        'insert into logloom.%I select l.* from logloom.%I l '
          || 'where l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
        logloom_private.partition_name(v_day), v_name || '_unaligned',
        v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
    execute format('drop table logloom.%I', v_name || '_unaligned');
  end loop;
  -- Also those that hold nothing yet; pg_partman goes on from the newest.
  perform logloom_private.create_partition(to_date(u.name, '"logs_"YYYY_MM_DD'))
  from unnest(v_unaligned) u (name)
  where u.name ~ '^logs_\d{4}_\d\d_\d\d$';
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, (select s.partition_days_ahead from logloom_private.settings s)) i;
  perform logloom_private.restore_lock_wait(v_lock_wait);
exception when lock_not_available then
  raise warning 'Partitions are not aligned yet: readers or the writer hold them.';
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
  update partman.part_config
  set infinite_time_partitions = true
  where parent_table = 'logloom.logs';
end;
$$;

select logloom_private.manage_partitions();

select logloom_private.maintain_partitions();

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

-- logs/sum_counts.sql

-- Seam: sums up the rows of minutes that changed, up to p_rows at once. How many rows there were.
create function logloom_private.sum_counts(p_rows integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_services constant integer := (
    select s.count_services_max from logloom_private.settings s
  );
  v_rows integer;
begin
  -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
  with minutes as (
    select d.tenant_id, d.minute, bool_or(d.events < 0) as is_negative
    from (
      select c.tenant_id, c.minute, c.events
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit p_rows
    ) d
    group by 1, 2
  ), rows_taken as (
    delete from logloom_private.log_counts c
    using minutes m
    where c.tenant_id = m.tenant_id and c.minute = m.minute
    returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
  ), unpacked as (
    delete from logloom_private.packed_counts p
    using (
      select distinct
        m.tenant_id, logloom_private.week_of((m.minute at time zone 'UTC')::date) as week
      from minutes m
      where m.is_negative
    ) w
    where p.tenant_id = w.tenant_id and p.week = w.week
    returning p as packed
  ), taken as (
    select t.* from rows_taken t
    union all
    select (u.packed).tenant_id, c.minute, c.service, c.level, c.is_other, c.events
    from unpacked u, logloom_private.unpacked_counts(u.packed) c
  ), noted as (
    insert into logloom_private.counted_days (tenant_id, day)
    select distinct t.tenant_id, (t.minute at time zone 'UTC')::date
    from taken t
    on conflict do nothing
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
    select s.*, s.is_other or s.events < 0 or s.place > v_services as folded
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
  select count(*) into v_rows from rows_taken;
  return v_rows;
end;
$$;

-- logs/unpacked_counts.sql

-- The counts that are packed in a row.
create function logloom_private.unpacked_counts(p_week logloom_private.packed_counts)
returns setof logloom_private.minute_count
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    p_week.week::timestamp at time zone 'UTC' + make_interval(mins => c.minute),
    c.events::bigint, c.place = 0,
    case c.level
      when 'd' then 'debug' when 'i' then 'info' when 'w' then 'warn' when 'e' then 'error'
    end,
    p_week.services[c.place]
  from unnest(p_week.minutes, p_week.events, p_week.levels, p_week.places)
    c (minute, events, level, place);
end;
$$;

-- logs/week_of.sql

-- The Monday of a day's week.
create function logloom_private.week_of(p_day date)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_day - (extract(isodow from p_day)::integer - 1);
end;
$$;

select logloom_private.finish_migration();
