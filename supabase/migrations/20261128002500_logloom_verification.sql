-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- verification/tables/verifications.sql
-- Verifications of what is stored, and the differences that they found.

create table logloom_private.verifications (
  verification_id bigint generated always as identity primary key,
  started_at timestamptz not null default clock_timestamp(),
  block_through bigint not null default 0,
  tenant_through text not null default '',
  tenant_id text,
  ts_through timestamptz not null default '-infinity',
  blocks bigint not null default 0,
  records bigint not null default 0,
  differences bigint not null default 0,
  finished_at timestamptz,
  archive_tenant_through text not null default '',
  archive_day_through date not null default '-infinity'
);

-- One is under way at most.
create unique index verifications_open_idx
on logloom_private.verifications ((true)) where finished_at is null;

comment on table logloom_private.verifications is
  'Verifications of blocks, counts, ids and the archive. The one without finished_at is under way '
  'and goes on where it stopped. The last hundred are kept.';

comment on column logloom_private.verifications.block_through is
  'Blocks up to this block_id are verified. They come first, then tenant after tenant.';

comment on column logloom_private.verifications.tenant_through is
  'Tenants up to this one are verified.';

comment on column logloom_private.verifications.ts_through is
  'Records of tenant_id before this time are verified.';

comment on column logloom_private.verifications.records is
  'Records whose counts and ids were compared.';

comment on column logloom_private.verifications.archive_day_through is
  'Of archive_tenant_through the archived days up to this one are verified, and all of the tenants '
  'before it. They come last.';

create table logloom_private.verification_differences (
  difference_id bigint generated always as identity primary key,
  verification_id bigint not null
    references logloom_private.verifications on delete cascade,
  found_at timestamptz not null default clock_timestamp(),
  kind text not null,
  tenant_id text not null,
  day date not null,
  block_id bigint,
  detail text not null,
  constraint verification_differences_kind_is_known check (
    kind in ('archive', 'block', 'count', 'id')
  )
);

create index verification_differences_verification_id_idx
on logloom_private.verification_differences (verification_id);

comment on table logloom_private.verification_differences is
  'What a verification found: a block that is damaged, a minute whose counts differ from its '
  'records, a record that is there more than once, archived days whose files have other records '
  'than they should. At most a thousand a verification.';

-- verification/next_records_to_verify.sql
-- Where a tenant's next records at or after p_from are: whole minutes of one UTC day with some
-- settings.verify_step_records records. Null: there are none.
create function logloom_private.next_records_to_verify(p_tenant_id text, p_from timestamptz)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz := least(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= logloom_private.utc_day(p_from)
    ),
    (
      select min(c.minute)
      from logloom_private.log_counts c
      where c.tenant_id = p_tenant_id and c.minute >= p_from
    ),
    (
      select date_bin('1 minute', min(b.first_ts), 'epoch')
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from
    )
  );
  v_end timestamptz;
begin
  if v_from is null then
    return null;
  end if;
  v_from := greatest(v_from, p_from);
  v_end := logloom_private.day_start(logloom_private.utc_day(v_from) + 1);
  return tstzrange(
    v_from,
    coalesce(
      (
        select m.minute + interval '1 minute'
        from (
          select c.minute, sum(sum(c.events)) over (order by c.minute) as events
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_end
          group by c.minute
        ) m
        where m.events >= (select s.verify_step_records from logloom_private.settings s)
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$$;

-- verification/note_differences.sql
-- Keeps what a step of a verification found: all of it is counted, a thousand are kept.
create function logloom_private.note_differences(
  p_verification_id bigint,
  p_tenant_id text,
  p_day date,
  p_block_id bigint,
  p_kinds text[],
  p_details text[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.verifications v
  set differences = v.differences + cardinality(p_details)
  where v.verification_id = p_verification_id;
  insert into logloom_private.verification_differences (
    verification_id, kind, tenant_id, day, block_id, detail
  )
  select p_verification_id, u.kind, p_tenant_id, p_day, p_block_id, left(u.detail, 1000)
  from unnest(p_kinds, p_details) u (kind, detail)
  where (
    select count(*)
    from logloom_private.verification_differences d
    where d.verification_id = p_verification_id
  ) < 1000;
end;
$$;

-- verification/verification_health.sql
-- How the last verification ended: degraded where it found a difference. No detail, since health is
-- open to all.
create function logloom_private.verification_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last logloom_private.verifications;
  v_differences bigint;
begin
  select v.* into v_last
  from logloom_private.verifications v
  where v.finished_at is not null
  order by v.verification_id desc
  limit 1;
  select coalesce(sum(v.differences), 0) into v_differences
  from logloom_private.verifications v
  where v.verification_id >= v_last.verification_id or v.finished_at is null;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s differences were found in what is stored: '
        || 'logloom_private.verification_differences has them',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$$;

-- verification/verify.sql
-- What the last verification came to, in a sentence.
create function logloom_private.last_verification()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select format(
      '%s blocks and %s records were verified: %s differences', v.blocks, v.records, v.differences
    )
    from logloom_private.verifications v
    order by v.verification_id desc
    limit 1
  );
end;
$$;

-- For operators: verifies all that is stored, now and without pauses, and says what it found.
-- Changes none of it. Ended in the middle it goes on there when called again. No set clause: such a
-- procedure could not commit.
create procedure logloom_private.verify()
language plpgsql
as $$
declare
  v_summary pg_catalog.text;
begin
  while logloom_private.verify_on() loop
    commit;
  end loop;
  commit;
  v_summary := logloom_private.last_verification();
  raise notice '%', v_summary;
end;
$$;

comment on procedure logloom_private.verify() is
  'Verifies all that is stored: blocks by checksum and decoding, counts against records, ids, '
  'files of the archive against what was archived. Says what it found in a notice; '
  'verification_differences has the details. Can be ended and called again.';

-- verification/verify_archived.sql
-- How many records the database has of a tenant's days from p_first to p_last, of those that count
-- as archived.
create function logloom_private.archived_records_here(p_tenant_id text, p_first date, p_last date)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day record;
  v_block record;
  v_found bigint;
  v_here bigint := 0;
begin
  for v_day in
    select a.day, a.write_seq
    from logloom_private.archived_days a
    where a.tenant_id = p_tenant_id and a.day between p_first and p_last
      and logloom_private.partition_exists(a.day)
  loop
    execute format(
      'select count(*) from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts < %L::timestamptz and l.write_seq <= %s',
      p_tenant_id, logloom_private.day_start(v_day.day), logloom_private.day_start(v_day.day + 1),
      v_day.write_seq
    )
    into v_found;
    v_here := v_here + v_found;
  end loop;
  for v_block in
    select
      b.block_id, b.records,
      b.first_ts >= logloom_private.day_start(p_first)
        and b.last_ts < logloom_private.day_start(p_last + 1)
        and b.last_write_seq <= (
          select case
            when count(*) = logloom_private.utc_day(b.last_ts) - logloom_private.utc_day(b.first_ts)
              + 1 then min(a.write_seq)
          end
          from logloom_private.archived_days a
          where a.tenant_id = p_tenant_id
            and a.day between logloom_private.utc_day(b.first_ts)
              and logloom_private.utc_day(b.last_ts)
        ) as is_whole
    from logloom_private.blocks b
    where b.tenant_id = p_tenant_id and b.last_ts >= logloom_private.day_start(p_first)
      and b.first_ts < logloom_private.day_start(p_last + 1)
  loop
    v_found := v_block.records;
    if v_block.is_whole is not true then
      select count(*) into v_found
      from logloom_private.block_records(
        p_tenant_id, v_block.block_id, null, array['ts', 'write_seq']
      ) r
      join logloom_private.archived_days a
        on a.tenant_id = p_tenant_id and a.day = logloom_private.utc_day(r.ts)
      where a.day between p_first and p_last and r.write_seq <= a.write_seq;
    end if;
    v_here := v_here + v_found;
  end loop;
  return v_here;
end;
$$;

-- Compares the files of a tenant's archive that have records of an archived day, and of the days
-- that they share files with, with the records that the database has of these days and counts as
-- archived. Retention takes records that the archive keeps, so more in the files is a difference
-- only where it took none: of a single day that is still kept and was never brought back. All of it
-- of one snapshot, as the statements that erase records change the files after them.
create function logloom_private.verify_archived(
  p_verification_id bigint,
  p_tenant_id text,
  p_day date
)
returns table (last_day date, records bigint, details text[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first date := p_day;
  v_last date := p_day;
  v_span record;
  v_files record;
  v_here bigint;
  v_archive_days integer;
begin
  details := '{}';
  loop
    select min(p.first_day) as first_day, max(p.last_day) as last_day
    into v_span
    from logloom.archive_parts p
    where p.tenant_id = p_tenant_id and p.status <> 'draft'
      and p.last_day >= v_first and p.first_day <= v_last;
    exit when v_span.first_day is null
      or v_span.first_day >= v_first and v_span.last_day <= v_last;
    v_first := least(v_first, v_span.first_day);
    v_last := greatest(v_last, v_span.last_day);
  end loop;
  last_day := v_last;
  details := array(
    select format(
      'the file %s has records from %s to %s', p.object_key, p.first_ts, p.last_ts
    )
    from logloom.archive_parts p
    where p.tenant_id = p_tenant_id and p.status <> 'draft'
      and p.last_day >= v_first and p.first_day <= v_last
      and (
        p.first_ts > p.last_ts
        or logloom_private.utc_day(p.first_ts) < p.first_day
        or logloom_private.utc_day(p.last_ts) > p.last_day
      )
    order by p.number
  );
  select
    coalesce(sum(p.records), 0)::bigint as records,
    coalesce(bool_or(p.status = 'missing'), false) as has_missing
  into v_files
  from logloom.archive_parts p
  where p.tenant_id = p_tenant_id and p.status <> 'draft'
    and p.last_day >= v_first and p.first_day <= v_last;
  records := v_files.records;

  select l.archive_days into v_archive_days
  from logloom.tenants t
  join logloom.plans l on l.plan_id = t.plan_id
  where t.tenant_id = p_tenant_id;
  if coalesce(v_archive_days, 0) = 0 or logloom_private.is_being_deleted(p_tenant_id)
    or exists (
      -- What such a block has cannot be told.
      select
      from logloom_private.blocks b
      join logloom_private.verification_differences d on d.block_id = b.block_id
      where b.tenant_id = p_tenant_id and d.verification_id = p_verification_id
        and b.last_ts >= logloom_private.day_start(v_first)
        and b.first_ts < logloom_private.day_start(v_last + 1)
    )
  then
    return next;
    return;
  end if;

  v_here := logloom_private.archived_records_here(p_tenant_id, v_first, v_last);
  if v_here > v_files.records
    -- Past its time in the archive a file goes, whatever the database keeps.
    and v_first >= logloom_private.utc_day(now()) - v_archive_days
  then
    details := details || format(
      'the archive has %s of %s records up to %s', v_files.records, v_here, v_last
    );
  elsif v_here > 0 and v_here < v_files.records
    and v_first = v_last and not v_files.has_missing
    and v_first >= logloom_private.first_kept_day(p_tenant_id, logloom_private.utc_day(now()))
    and not exists (
      select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
    )
    and not exists (
      select
      from logloom_private.archive_erasures e
      where e.tenant_id = p_tenant_id and e.finished_at is null
    )
    and not exists (
      select
      from logloom.archive_restores r
      where r.tenant_id = p_tenant_id and v_first between r.first_day and r.last_day
    )
  then
    details := details || format(
      'the archive has %s records, the database %s', v_files.records, v_here
    );
  end if;
  return next;
end;
$$;

-- verification/verify_block.sql
-- What is wrong with a block, null where nothing is: its checksum, and whether it decodes to as
-- many records as it says, within its bounds, each with an id of its own. is_intact: whether it is
-- what was stored; null where that could not be told.
create function logloom_private.verify_block(
  p_block logloom_private.blocks,
  out is_intact boolean,
  out detail text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  is_intact := logloom_private.block_is_intact(p_block);
  if not is_intact then
    detail := 'its checksum differs';
    return;
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  detail := case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled then
    raise;
  -- Whatever a damaged value makes of its decoding: the next block is verified all the same.
  when others then
    detail := format('%s: %s', sqlstate, sqlerrm);
    -- The disk's own errors; another one, as of a lock or of memory, says nothing about the block.
    if sqlstate like 'XX%' then
      is_intact := false;
    end if;
end;
$$;

-- verification/verify_records.sql
-- How a tenant's records in [p_from, p_to), whole minutes of a UTC day, differ from their counts
-- and from each other, and how many there are. All of it in one statement, so of one snapshot: the
-- statements that change records change their counts too. Counts that a block holds itself are its
-- records, and there is nothing to compare. A block that the verification found damaged is left
-- out, and so are the counts where there is one.
create function logloom_private.verify_records(
  p_verification_id bigint,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (records bigint, kinds text[], details text[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute
  $query$
    with records as materialized (
      select l.id, l.ts, l.service, l.level, true as is_counted
      from logloom.logs l
      where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3
      union all
      select r.id, r.ts, r.service, r.level, not b.holds_counts
      from logloom_private.blocks b,
        logloom_private.block_records(
          b.tenant_id, b.block_id, null, array['id', 'ts', 'service', 'level']
        ) r
      where b.tenant_id = $1 and b.last_ts >= $2 and b.first_ts < $3
        and r.ts >= $2 and r.ts < $3 and b.block_id <> all ($4)
    ), counts as materialized (
      select c.*
      from logloom_private.log_counts c
      where c.tenant_id = $1 and c.minute >= $2 and c.minute < $3
    ), sides as (
      select date_bin('1 minute', r.ts, 'epoch') as minute, r.service, r.level, count(*) as events
      from records r
      where r.is_counted
      group by 1, 2, 3
      union all
      select c.minute, c.service, c.level, -c.events
      from counts c
    ), counted as (
      select
        s.minute, s.level, sum(s.events) as difference,
        -- Where services were counted together, none can be told from the counts.
        case when not exists (
          select from counts c where c.is_other and c.minute = s.minute
        ) then s.service end as service
      from sides s
      group by s.minute, s.level, 4
      having sum(s.events) <> 0
    ), doubled as (
      select r.id, count(*) as times from records r group by r.id having count(*) > 1
    ), found as (
      (
        select
          'count' as kind,
          format(
            '%s: %s records more than counted of service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is there %s times', d.id, d.times)
        from doubled d
        order by d.id
        limit 100
      )
    )
    select
      (select count(*) from records),
      array(select f.kind from found f order by f.kind, f.detail),
      array(select f.detail from found f order by f.kind, f.detail)
  $query$
  using
    p_tenant_id, p_from, p_to,
    array(
      select b.block_id
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from and b.first_ts < p_to
        and exists (
          select
          from logloom_private.verification_differences d
          where d.verification_id = p_verification_id and d.block_id = b.block_id
        )
    );
end;
$$;

-- verification/verify_step.sql
-- The next block of a verification. False: all are verified.
create function logloom_private.verify_next_block(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_found record;
begin
  select b.* into v_block
  from logloom_private.blocks b
  where b.block_id > p_verification.block_through
  order by b.block_id
  limit 1;
  if not found then
    return false;
  end if;
  select f.* into v_found from logloom_private.verify_block(v_block) f;
  update logloom_private.blocks b
  set damaged_at = case when not v_found.is_intact then now() end
  where b.tenant_id = v_block.tenant_id and b.block_id = v_block.block_id
    and (b.damaged_at is null) <> v_found.is_intact;
  update logloom_private.verifications v
  set block_through = v_block.block_id, blocks = v.blocks + 1
  where v.verification_id = p_verification.verification_id;
  if v_found.detail is not null then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_block.tenant_id, logloom_private.utc_day(v_block.first_ts),
      v_block.block_id, array['block'], array[v_found.detail]
    );
  end if;
  return true;
end;
$$;

-- The next records of a verification, or on to the next tenant. False: all are verified.
create function logloom_private.verify_next_records(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id text := p_verification.tenant_id;
  v_range tstzrange;
  v_found record;
begin
  if v_tenant_id is null then
    select t.tenant_id into v_tenant_id
    from logloom.tenants t
    where t.tenant_id > p_verification.tenant_through
    order by t.tenant_id
    limit 1;
    if not found then
      return false;
    end if;
  end if;
  v_range := logloom_private.next_records_to_verify(v_tenant_id, p_verification.ts_through);
  if v_range is null then
    update logloom_private.verifications v
    set tenant_through = v_tenant_id, tenant_id = null, ts_through = '-infinity'
    where v.verification_id = p_verification.verification_id;
    return true;
  end if;
  select f.* into v_found
  from logloom_private.verify_records(
    p_verification.verification_id, v_tenant_id, lower(v_range), upper(v_range)
  ) f;
  update logloom_private.verifications v
  set tenant_id = v_tenant_id, ts_through = upper(v_range), records = v.records + v_found.records
  where v.verification_id = p_verification.verification_id;
  if v_found.kinds <> '{}' then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_tenant_id, logloom_private.utc_day(lower(v_range)), null,
      v_found.kinds, v_found.details
    );
  end if;
  return true;
end;
$$;

-- The next archived days of a verification: those of settings.verify_step_records records, a
-- hundred spans at most. False: all are verified, or other databases have the records.
create function logloom_private.verify_next_archived(p_verification logloom_private.verifications)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted constant bigint := (select s.verify_step_records from logloom_private.settings s);
  v_tenant_id text := p_verification.archive_tenant_through;
  v_day date := p_verification.archive_day_through;
  v_next record;
  v_found record;
  v_records bigint := 0;
  v_has_next boolean;
begin
  if not logloom_private.archive_reads_records() then
    return false;
  end if;
  for i in 1..100 loop
    select a.tenant_id, a.day into v_next
    from logloom_private.archived_days a
    where (a.tenant_id, a.day) > (v_tenant_id, v_day)
    order by a.tenant_id, a.day
    limit 1;
    v_has_next := found;
    exit when not v_has_next;
    select f.* into v_found
    from logloom_private.verify_archived(
      p_verification.verification_id, v_next.tenant_id, v_next.day
    ) f;
    if v_found.details <> '{}' then
      perform logloom_private.note_differences(
        p_verification.verification_id, v_next.tenant_id, v_next.day, null,
        array_fill('archive'::text, array[cardinality(v_found.details)]), v_found.details
      );
    end if;
    v_tenant_id := v_next.tenant_id;
    v_day := v_found.last_day;
    v_records := v_records + v_found.records;
    exit when v_records >= v_wanted;
  end loop;
  update logloom_private.verifications v
  set archive_tenant_through = v_tenant_id, archive_day_through = v_day
  where v.verification_id = p_verification.verification_id;
  return v_has_next;
end;
$$;

-- Goes on with the verification that is under way, or begins one. False: it has ended, or somebody
-- else is at it.
create function logloom_private.verify_on()
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

-- A step of the job verify_logs: once in settings.verify_every everything stored is verified, at
-- leisure. What is queued comes first.
create function logloom_private.verify_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events
    or exists (
      select
      from logloom_private.verifications v
      where v.finished_at > clock_timestamp() - v_settings.verify_every
    ) and not exists (
      select from logloom_private.verifications v where v.finished_at is null
    ) then
    return null;
  end if;
  if logloom_private.verify_on() then
    return greatest(
      interval '10 milliseconds', v_settings.verify_rest * (clock_timestamp() - v_started_at)
    );
  end if;
  return null;
end;
$$;

select logloom_private.finish_migration();
