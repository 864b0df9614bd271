-- How many records there are by minute, service and level, so that a count need not read them.
--
-- Triggers on app.logs keep the counts in the transaction that changes the records, whoever changes
-- them. They only ever add rows (a deletion adds negative ones), so no row is contended and a
-- forgotten snapshot leaves no chains of versions; a job sums up what was added.

alter table private.settings
  add column count_services_max integer not null default 100,
  add column count_service_length_max integer not null default 200,
  add column count_compact_rows integer not null default 100000;

comment on column private.settings.count_services_max is
  'Services of a tenant that are counted apart within a minute. The rest is counted together.';
comment on column private.settings.count_service_length_max is
  'A service with a longer name is not counted apart.';
comment on column private.settings.count_compact_rows is
  'Rows of private.log_counts that one run of compact_log_counts sums up, about.';

create table private.log_counts (
  minute timestamptz not null,
  events bigint not null,
  is_other boolean not null default false,
  is_delta boolean not null default true,
  tenant_id text not null,
  level text,
  service text
);

create index log_counts_tenant_id_minute_idx on private.log_counts (tenant_id, minute);
create index log_counts_other_idx on private.log_counts (tenant_id, minute) where is_other;
create index log_counts_delta_idx on private.log_counts (minute) where is_delta;

create table private.log_arrivals (
  arrival bigint not null,
  day date not null,
  primary key (arrival, day)
);
create index log_arrivals_day_arrival_idx on private.log_arrivals (day, arrival);

alter table private.log_counts enable row level security;
alter table private.log_counts force row level security;
alter table private.log_arrivals enable row level security;
alter table private.log_arrivals force row level security;

create function private.count_added_records()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because nobody writes counts but through a change of the records
begin
  with added as materialized (
    select
      r.tenant_id,
      date_bin('1 minute', r.ts, 'epoch') as minute,
      r.service,
      r.level,
      count(*) as events,
      max(r.arrival) as arrival
    from added_records r
    group by 1, 2, 3, 4
  ), arrivals as (
    insert into private.log_arrivals (arrival, day)
    select max(a.arrival), (a.minute at time zone 'UTC')::date
    from added a
    group by 2
    on conflict do nothing
  )
  insert into private.log_counts (tenant_id, minute, service, level, is_other, events)
  select
    a.tenant_id, a.minute, case when not a.is_other then a.service end, a.level, a.is_other,
    sum(a.events)
  from (
    select
      u.*,
      coalesce(length(u.service), 0) > s.count_service_length_max
        or dense_rank() over (partition by u.tenant_id, u.minute order by u.service collate "C")
          > s.count_services_max as is_other
    from added u, private.settings s
  ) a
  group by 1, 2, 3, 4, 5
  order by 1, 2;
  return null;
end;
$$;

create function private.count_removed_records()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because nobody writes counts but through a change of the records
begin
  -- Under the service's own name, even where it was counted together with others: the sums stay
  -- right, and compact_log_counts puts it where it belongs.
  insert into private.log_counts (tenant_id, minute, service, level, events)
  select r.tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.service, r.level, -count(*)
  from removed_records r
  group by 1, 2, 3, 4
  order by 1, 2;
  return null;
end;
$$;

create function private.count_no_records()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because nobody writes counts but through a change of the records
begin
  truncate private.log_counts;
  return null;
end;
$$;

create trigger logs_count_inserted
after insert on app.logs
referencing new table as added_records
for each statement execute function private.count_added_records();

create trigger logs_count_deleted
after delete on app.logs
referencing old table as removed_records
for each statement execute function private.count_removed_records();

create trigger logs_count_updated_from
after update on app.logs
referencing old table as removed_records
for each statement execute function private.count_removed_records();

create trigger logs_count_updated_to
after update on app.logs
referencing new table as added_records
for each statement execute function private.count_added_records();

create trigger logs_count_truncated
after truncate on app.logs
for each statement execute function private.count_no_records();

create function private.forget_day_counts(p_day date, p_tenant_ids text[])
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Tenant by tenant, as the index leads with it: those of the records, and those whose records of
  -- the day are gone already.
  delete from private.log_counts c
  where c.tenant_id in (
      select t.tenant_id from app.tenants t
      union
      select i.tenant_id from unnest(p_tenant_ids) i (tenant_id)
    )
    and c.minute >= p_day::timestamp at time zone 'UTC'
    and c.minute < (p_day + 1)::timestamp at time zone 'UTC';
  delete from private.log_arrivals a where a.day = p_day;
end;
$$;

create function private.summarize_arrivals(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '100ms'
as $$
begin
  perform brin_summarize_new_values(i.indexrelid)
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('app.%I', private.partition_name(p_day)));
exception when lock_not_available then
  -- Vacuum is at it, which does the same.
  null;
end;
$$;

create function private.compact_log_counts()
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
  v_rows integer;
  v_days date[];
begin
  if not pg_try_advisory_xact_lock(hashtext('logloom:log_counts')) then
    return 0;
  end if;
  select s.* into v_settings from private.settings s;

  -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
  with minutes as (
    select distinct d.tenant_id, d.minute
    from (
      select c.tenant_id, c.minute
      from private.log_counts c
      where c.is_delta
      order by c.minute
      limit v_settings.count_compact_rows
    ) d
  ), taken as (
    delete from private.log_counts c
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
    insert into private.log_counts (tenant_id, minute, service, level, is_other, events, is_delta)
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
    delete from private.log_arrivals a
    where exists (
      select from private.log_arrivals l where l.day = a.day and l.arrival > a.arrival
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_days from superseded s;
  perform private.summarize_arrivals(d.day) from unnest(v_days) d (day);
  return v_rows;
end;
$$;

comment on table private.log_counts is
  'Records by tenant, minute of ts, service and level: the sum of events over the rows of a key. '
  'Kept by triggers on app.logs; summed up by private.compact_log_counts().';
comment on column private.log_counts.events is
  'How many; negative where records were deleted. Only the sum over a key means anything.';
comment on column private.log_counts.is_other is
  'Services beyond count_services_max, counted together: service is null and says nothing. Where '
  'a minute has such a row, no service of that minute can be told from the counts.';
comment on column private.log_counts.is_delta is 'Was added since the last summing up.';
comment on table private.log_arrivals is
  'The greatest arrival in each day''s partition, and lesser ones until the next summing up: which '
  'partitions a live tail must look at.';
comment on function private.count_added_records() is
  'Counts records that a statement adds, and notes which days it reached.';
comment on function private.count_removed_records() is
  'Takes records that a statement deletes away from the counts.';
comment on function private.count_no_records() is 'Forgets all counts when app.logs is truncated.';
comment on function private.forget_day_counts(date, text[]) is
  'Forgets the counts of a day. To be called in the transaction that drops its partition; what is '
  'deleted row by row is taken away by triggers.';
comment on function private.summarize_arrivals(date) is
  'Brings the index by arrival of a day''s partition up to date, for which autovacuum takes a '
  'minute and more: what is not summarized is read by every live tail.';
comment on function private.compact_log_counts() is
  'Sums up the rows of minutes that changed, and keeps the latest arrival of a day only. Rows '
  'that it read.';
