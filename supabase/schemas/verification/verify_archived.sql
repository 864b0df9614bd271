-- Counts the archived records of a tenant's days from p_first to p_last that the database still
-- has.
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

-- Compares the files of a tenant's archived day with the database's records that count as archived.
-- Days that share these files are included. Files may have more records than the database, because
-- retention deletes records that the archive keeps. The numbers must be equal only for a single day
-- that retention and restores have not changed. Everything is read in one snapshot, because an
-- erasure changes the database first, then the files.
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
  v_has_missing boolean;
  v_here bigint;
  v_archive_days integer;
begin
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
  select
    coalesce(sum(p.records), 0)::bigint, coalesce(bool_or(p.status = 'missing'), false),
    coalesce(
      array_agg(
        format('the file %s has records from %s to %s', p.object_key, p.first_ts, p.last_ts)
        order by p.number
      ) filter (
        where p.first_ts > p.last_ts
          or logloom_private.utc_day(p.first_ts) < p.first_day
          or logloom_private.utc_day(p.last_ts) > p.last_day
      ),
      '{}'
    )
  into records, v_has_missing, details
  from logloom.archive_parts p
  where p.tenant_id = p_tenant_id and p.status <> 'draft'
    and p.last_day >= v_first and p.first_day <= v_last;

  select l.archive_days into v_archive_days
  from logloom.tenants t
  join logloom.plans l on l.plan_id = t.plan_id
  where t.tenant_id = p_tenant_id;
  if coalesce(v_archive_days, 0) = 0 or logloom_private.is_being_deleted(p_tenant_id)
    or exists (
      -- A damaged block cannot tell what it contains.
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
  if v_here > records
    -- Expired files are deleted even if the database keeps the records.
    and v_first >= logloom_private.utc_day(now()) - v_archive_days
  then
    details := details || format(
      'the archive has %s of %s records up to %s', records, v_here, v_last
    );
  elsif v_here > 0 and v_here < records
    and v_first = v_last and not v_has_missing
    and v_first >= logloom_private.first_kept_day(p_tenant_id, logloom_private.utc_day(now()))
    and not exists (
      select from logloom_private.archive_passes p where p.tenant_id = p_tenant_id
    )
    and not exists (
      select
      from logloom.tenant_settings s
      where s.tenant_id = p_tenant_id and s.rules_days_max is not null
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
    details := details || format('the archive has %s records, the database %s', records, v_here);
  end if;
  return next;
end;
$$;
