-- Runs one statement for each tenant and table.
create or replace function logloom_citus.expired_days(
  p_tenant_ids text[],
  p_day date,
  p_limit integer
)
returns table (tenant_id text, records bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
begin
  foreach tenant_id in array p_tenant_ids loop
    execute format(
      'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz limit %s) l',
      tenant_id, v_from, v_to, p_limit + 1
    )
    into records;
    if records = 0 then
      perform
      from logloom_private.log_counts c
      where c.tenant_id = expired_days.tenant_id and c.minute >= v_from and c.minute < v_to
      limit 1;
      if not found then
        perform
        from logloom_private.blocks c
        where c.tenant_id = expired_days.tenant_id and c.last_ts >= v_from and c.last_ts < v_to
        limit 1;
        continue when not found;
      end if;
    end if;
    return next;
  end loop;
end;
$$;

-- Runs one statement at a time for each tenant. The writer waits, so a record that arrives
-- meanwhile stays counted.
create or replace function logloom_citus.forget_tenants_day(
  p_tenant_ids text[],
  p_day date,
  out tenant_ids text[],
  out records bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_tenant_id text;
  v_last_ts timestamptz;
  v_sealed bigint;
  v_records bigint;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  tenant_ids := p_tenant_ids;
  foreach v_tenant_id in array p_tenant_ids loop
    with gone as (
      delete from logloom_private.blocks c
      where c.tenant_id = v_tenant_id and c.last_ts >= v_from and c.last_ts < v_to
      returning c.records, c.holds_counts
    )
    select coalesce(sum(g.records) filter (where g.holds_counts), 0) into v_sealed from gone g;
    execute format(
      'with gone as (delete from logloom.logs l where l.tenant_id = %L '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz returning l.ts) '
        || 'select max(g.ts) from gone g',
      v_tenant_id, v_from, v_to
    )
    into v_last_ts;
    -- Three days are longer than any alert window.
    if v_last_ts > now() - interval '3 days' then
      insert into logloom_private.log_removals (tenant_id) values (v_tenant_id);
    end if;
    with forgotten as (
      delete from logloom_private.log_counts c
      where c.tenant_id = v_tenant_id and c.minute >= v_from and c.minute < v_to
      returning c.events
    )
    select coalesce(sum(f.events), 0) into v_records from forgotten f;
    records := records || v_sealed + v_records;
  end loop;
end;
$$;

-- Returns the bytes of all shards for a sharded table.
create or replace function logloom_citus.relation_bytes(p_relation regclass)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from pg_catalog.pg_dist_partition d where d.logicalrelid = p_relation) then
    return citus_total_relation_size(p_relation, false);
  end if;
  return pg_total_relation_size(p_relation);
end;
$$;

-- The archive must read a day's rows and blocks in one snapshot, but nodes share no snapshot. So
-- nothing is archived, and health reports this.
create or replace function logloom_citus.archive_reads_records()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return false;
end;
$$;
