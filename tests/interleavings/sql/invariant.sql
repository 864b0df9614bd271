-- Checks what must be true after every order of steps: each acknowledged record exists once, counts
-- equal the records, receipts are right.

-- Lists all records and where they are.
create function interleavings.stored_records()
returns table (
  place text,
  tenant_id text,
  msg text,
  ts timestamptz,
  service text,
  level text,
  write_seq bigint,
  is_counted boolean
)
language plpgsql
as $$
begin
  return query
  select
    'row'::text, l.tenant_id::text, l.msg::text, l.ts, l.service::text, l.level::text, l.write_seq, true
  from logloom.logs l
  union all
  select
    'block', r.tenant_id, r.msg, r.ts, r.service, r.level, r.write_seq, not b.holds_counts
  from logloom_private.blocks b
  cross join logloom_private.block_records(b.tenant_id, b.block_id, null, null) r
  union all
  select 'dead letter', d.tenant_id, d.msg, d.ts, d.service, d.level, null, false
  from logloom_private.dead_letters d
  union all
  select
    case when q.slot in (p.open_slot, p.closed_slot) then 'queue' else 'slot that is not read' end,
    q.tenant_id, e.msg, e.ts, null, null, null, false
  from logloom_private.queue q
  join logloom_private.queue_slots s on s.slot = q.slot
  cross join logloom_private.queue_pointer p
  cross join unnest(q.msg, q.ts) e (msg, ts)
  where q.batch_id > s.moved_through;
end;
$$;

create function interleavings.faults()
returns setof text
language plpgsql
as $$
begin
  create temp table if not exists stored (
    place text, tenant_id text, msg text, ts timestamptz, service text, level text,
    write_seq bigint, is_counted boolean
  );
  delete from stored where true;
  insert into stored select f.* from interleavings.stored_records() f;

  return query select o.side || ': ' || o.message from interleavings.outcomes o;

  return query
  select format('%s is in %s', f.msg, f.place) from stored f
  where f.place in ('slot that is not read', 'dead letter');

  return query
  select format('%s exists %s times (%s)', f.msg, count(*), string_agg(f.place, ', '))
  from stored f
  group by f.msg
  having count(*) > 1;

  return query
  select format('%s was never sent', f.msg)
  from stored f
  where not exists (select from interleavings.sent s where s.msg = f.msg);

  return query
  select
    case when f.msg is null then format('%s is lost', s.msg)
      else format('%s still exists (%s)', s.msg, f.place) end
  from interleavings.sent s
  left join stored f on f.msg = s.msg
  left join lateral (
    select
      bool_or(true) as may, bool_or(g.must and (s.was_before or g.later_too)) as must
    from interleavings.goes g
    where g.tenant_id = s.tenant_id and (g.day is null or g.day = s.day) and s.msg like g.pattern
  ) g on true
  where f.msg is null and g.may is not true or f.msg is not null and g.must;

  -- Counts
  return query
  select
    format(
      '%s %s %s: %s counted, %s stored', coalesce(c.tenant_id, r.tenant_id),
      coalesce(c.minute, r.minute), coalesce(c.service, r.service), c.events, r.events
    )
  from (
    select c.tenant_id, c.minute, c.service, c.level, sum(c.events) as events
    from logloom_private.log_counts c
    group by 1, 2, 3, 4
    having sum(c.events) <> 0
  ) c
  full join (
    select f.tenant_id, date_bin('1 minute', f.ts,
    'epoch') as minute, f.service, f.level, count(*) as events
    from stored f
    where f.is_counted
    group by 1, 2, 3, 4
  ) r on r.tenant_id = c.tenant_id and r.minute = c.minute and r.service = c.service
    and r.level = c.level
  where c.events is distinct from r.events;

  return query
  select format('%s of %s is missing in log_days', f.msg, f.tenant_id)
  from stored f
  where f.place = 'row' and not exists (
    select from logloom_private.log_days d
    where d.tenant_id = f.tenant_id and d.day = logloom_private.utc_day(f.ts)
  );

  return query
  select format('no tail finds %s', f.msg)
  from stored f
  where f.place = 'row' and f.write_seq > coalesce(
    logloom_private.last_write_to(logloom_private.utc_day(f.ts)), -1
  );

  -- Usage
  return query
  select format(
    '%s sent %s events, but %s are metered, %s by service', t.tenant_id, s.events, u.events, v.events
  )
  from logloom.tenants t
  cross join lateral (
    select count(*) as events from interleavings.sent s where s.tenant_id = t.tenant_id
  ) s
  cross join lateral (
    select
      coalesce((select sum(u.events) from logloom.usage_days u where u.tenant_id = t.tenant_id), 0)
      + coalesce((
        select sum(q.events)
        from logloom_private.queue q, logloom_private.queue_pointer p
        where q.tenant_id = t.tenant_id and q.batch_id > p.metered_through
      ), 0) as events
  ) u
  cross join lateral (
    select count(*) + coalesce((
      select sum(c.events) from logloom_private.usage_services c where c.tenant_id = t.tenant_id
    ), 0) as events
    from stored f
    where f.tenant_id = t.tenant_id and f.place = 'queue'
  ) v
  where s.events <> u.events or s.events <> v.events;

  -- Receipts
  return query
  select format('%s records of %s are gone, but the receipts say %s', g.records, t.tenant_id, r.records)
  from logloom.tenants t
  cross join lateral (
    select count(*) as records
    from interleavings.sent s
    where s.tenant_id = t.tenant_id and not exists (select from stored f where f.msg = s.msg)
  ) g
  cross join lateral (
    select coalesce(sum(r.records), 0) as records
    from logloom.retention_runs r
    where r.tenant_id = t.tenant_id
  ) r
  where g.records <> r.records;

  return query
  select format('%s had %s records, but the receipt says %s', d.tenant_id, s.records, d.erased_records)
  from logloom_private.tenant_deletions d
  cross join lateral (
    select count(*) as records from interleavings.sent s where s.tenant_id = d.tenant_id
  ) s
  where d.finished_at is not null
    and (
      d.erased_records > s.records
      or d.erased_records < s.records
        and not exists (select from interleavings.goes g where g.why in ('erase', 'retention'))
    );

  return query
  select format('the deletion of %s has not ended', d.tenant_id)
  from logloom_private.tenant_deletions d
  where d.finished_at is null and not exists (
    -- The tenant's deletion waits until its files are deleted.
    select from logloom.archive_parts p where p.tenant_id = d.tenant_id
  );

  -- Sealed days
  return query
  select format('%s: %s differences, %s', d.day, d.differences, d.last_error)
  from logloom_private.sealing_days d
  where d.differences > 0 or d.last_error is not null;

  return query
  select format('%s is prepared, but has no copy', d.day)
  from logloom_private.sealing_days d
  where d.prepared_by is not null and d.prepared_records > 0
    and to_regclass(format('logloom.%I', logloom_private.remainder_name(d.day))) is null;

  return query
  select format('retention: %s', p.error)
  from logloom_private.retention_place p
  where p.error is not null;
  return query
  select format('%s %s: %s', r.kind, r.tenant_id, r.error)
  from logloom.retention_runs r
  where r.error is not null;

  return query select f.* from interleavings.faults_of_streams() f;
  return query select f.* from interleavings.faults_of_archive() f;
end;
$$;

create function interleavings.faults_of_streams()
returns setof text
language plpgsql
as $$
begin
  return query
  select format('%s was delivered in %s batches', d.msg, count(distinct d.batch_id))
  from interleavings.delivered d
  group by d.msg
  having count(distinct d.batch_id) > 1;

  return query
  select format('%s was not delivered', s.msg)
  from interleavings.sent s
  join stored f on f.msg = s.msg
  where exists (select from logloom.log_streams l where l.tenant_id = s.tenant_id)
    -- Expired records are not read.
    and s.day >= logloom_private.first_kept_day(s.tenant_id, logloom_private.utc_day(now()))
    and not exists (select from interleavings.delivered d where d.msg = s.msg);

  return query
  select format('%s was not delivered, and no gap is noted', s.msg)
  from interleavings.sent s
  where exists (select from logloom.log_streams l where l.tenant_id = s.tenant_id)
    and not exists (select from interleavings.delivered d where d.msg = s.msg)
    and not exists (select from stored f where f.msg = s.msg)
    and not exists (
      select from interleavings.goes g
      where g.tenant_id = s.tenant_id and g.why = 'erase' and s.msg like g.pattern
        and (g.day is null or g.day = s.day)
    )
    and not exists (
      select from logloom.log_stream_failures f
      where f.kind = 'gap' and f.ts_from = logloom_private.day_start(s.day)
    );

  return query
  select format('%s have claimed the stream at the same time', string_agg(b.side,
  ' and ' order by b.side))
  from interleavings.batches b
  where b.side <> ''
  group by b.stream_id
  having count(*) > 1;

  return query
  select
    format('the stream claims %s sent records, but the receiver has %s', l.sent_records, d.records)
  from logloom.log_streams l
  cross join (select count(distinct d.msg) as records from interleavings.delivered d) d
  where l.sent_records <> d.records;

  return query
  select format('the stream is paused: %s, %s', l.pause_reason, l.last_error)
  from logloom.log_streams l
  where l.paused_at is not null or l.last_error is not null;
end;
$$;

create function interleavings.faults_of_archive()
returns setof text
language plpgsql
as $$
begin
  return query
  select format('%s is archived %s times', f.msg, count(*))
  from interleavings.files f
  join logloom.archive_parts p on p.part_id = f.part_id and p.status = 'verified'
  group by f.msg
  having count(*) > 1;

  return query
  select format('%s should have %s records, but has %s', p.object_key, p.records, f.records)
  from logloom.archive_parts p
  cross join lateral (
    select count(*) as records from interleavings.files f where f.part_id = p.part_id
  ) f
  where p.status = 'verified' and p.records <> f.records;

  return query
  select format('%s counts as archived, but is in no file', f.msg)
  from stored f
  join logloom_private.archived_days a
    on a.tenant_id = f.tenant_id and a.day = logloom_private.utc_day(f.ts)
      and f.write_seq <= a.write_seq
  where not exists (
    select
    from interleavings.files i
    join logloom.archive_parts p on p.part_id = i.part_id and p.status = 'verified'
    where i.msg = f.msg
  );

  -- Retention waits for the archive.
  return query
  select format('%s is gone, but is in no file', s.msg)
  from interleavings.sent s
  join logloom.tenants t on t.tenant_id = s.tenant_id
  join logloom.plans p on p.plan_id = t.plan_id and p.archive_days > 0
  where not exists (select from stored f where f.msg = s.msg)
    and not exists (
      select from interleavings.goes g
      where g.tenant_id = s.tenant_id and g.why in ('erase', 'delete') and s.msg like g.pattern
        and (g.day is null or g.day = s.day)
    )
    and not exists (
      select
      from interleavings.files i
      join logloom.archive_parts p on p.part_id = i.part_id and p.status = 'verified'
      where i.msg = s.msg
    );

  -- An erasure also removes records from the archive's files.
  return query
  select format('%s is erased, but still in a file', i.msg)
  from interleavings.files i
  join logloom.archive_parts p on p.part_id = i.part_id and p.status = 'verified'
  where exists (
      select from interleavings.goes g
      where g.tenant_id = p.tenant_id and g.why in ('erase', 'delete') and i.msg like g.pattern
    )
    and not exists (select from stored f where f.msg = i.msg)
    and not exists (
      select
      from interleavings.sent s
      join interleavings.goes g on g.tenant_id = s.tenant_id and g.why = 'retention'
        and g.day = s.day
      where s.msg = i.msg
    )
    and not exists (
      select from logloom_private.archive_erasures e
      where e.tenant_id = p.tenant_id and e.finished_at is null
        and coalesce(e.parts_through, p.number) >= p.number and e.position_number < p.number
    );
end;
$$;

-- The statements that finish what the operations began, in the order of the operations.
create table interleavings.afterwards (place integer primary key, statements text not null);

create function interleavings.check()
returns void
language plpgsql
as $$
declare
  v_statements text;
  v_faults text;
begin
  if interleavings.is_left_out() then
    return;
  end if;
  set local role postgres;
  for v_statements in select a.statements from interleavings.afterwards a order by a.place loop
    execute v_statements;
  end loop;
  reset role;
  select string_agg(f, '; ' order by f) into v_faults from interleavings.faults() f;
  if v_faults is not null then
    raise exception 'invariant: %', v_faults;
  end if;
end;
$$;

