-- Returns about how many records one step of a verification compares.
create function logloom_private.verify_step_records()
returns integer
language sql
immutable
return 100000;

-- Returns the range of a tenant's next records at or after p_from: whole minutes of one UTC day,
-- about verify_step_records() records. Null: there are none.
create function logloom_private.next_records_to_verify(p_tenant_id text, p_from timestamptz)
returns tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wanted constant bigint := logloom_private.verify_step_records();
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
        where m.events >= v_wanted
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$$;

-- Stores the differences that a step found: counts all of them, keeps a thousand.
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

-- Returns what is wrong with a block, or null. Its checksum must match. It must decode to the right
-- number of records, within its bounds, each with a different id. is_intact: true if the block is
-- as it was stored. Null if unknown.
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
  when query_canceled or lock_not_available or disk_full then
    raise;
  -- A damaged value may raise any error. The next blocks are still verified.
  when others then
    detail := format('%s: %s', sqlstate, sqlerrm);
    -- Errors of the disk mean damage. Other errors, such as a lock or memory, say nothing about the
    -- block.
    if sqlstate like 'XX%' then
      is_intact := false;
    end if;
end;
$$;

-- Counts a tenant's records in [p_from, p_to) (whole minutes of a UTC day). Returns the minutes
-- whose counts differ, and duplicate ids. One statement reads all in one snapshot: statements that
-- change records change the counts, too. Records of blocks that hold their counts have no counts to
-- compare. Damaged blocks are skipped, and then counts are not compared.
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
        -- If services were counted together, the counts cannot tell them apart. Then the service is
        -- ignored.
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
            '%s: %s more records than counted for service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is stored %s times', d.id, d.times)
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
