-- Returns the records of a select as columns. A node sends columns in binary form, but a composite
-- as text, and that is slower.
create or replace function logloom_citus.fetched_records(p_sql text)
returns setof public.logloom_log_record
language plpgsql
stable
set search_path = pg_catalog, pg_temp
rows 100
as $$
begin
  return query execute 'select (r.record).* from (' || p_sql || ' offset 0) r';
end;
$$;

-- Nothing is read after the page, so it needs no subtransaction. A subtransaction would cost a
-- message to the node.
create or replace function logloom_citus.read_page(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select case when f.id is not null then f end from logloom_citus.fetched_records(p_sql) f
  );
end;
$$;

-- A day that is not over has no sealed records, so nodes are not asked about it. Asking would take
-- a sixth of the time of a small search.
create or replace function logloom_citus.reads_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_from >= logloom_private.day_start(logloom_private.utc_day(clock_timestamp())) then
    return false;
  end if;
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  limit 1;
  return found;
end;
$$;

-- Returns the tenant's id, and sets logloom.scan for take_scan_slot() on this node. A node does not
-- know the settings of the session that asks, and has its own locks.
create or replace function logloom_citus.scanning(p_tenant_id text, p_scan text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('logloom.scan', p_scan, true);
  return p_tenant_id;
end;
$$;

create or replace function logloom_citus.scanned_tenant_sql(p_tenant text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    'logloom_citus.scanning(%s, %L)', p_tenant, current_setting('logloom.scan', true)
  );
end;
$$;

-- Lists the functions that read a tenant's records for a request.
create or replace function logloom_citus.readings()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'delete_logs', 'my_stored', 'read_audit_trail', 'read_error_group', 'read_error_groups',
    'read_log', 'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
    'read_log_histogram', 'read_log_overview', 'read_log_page', 'read_log_series',
    'read_log_stats', 'read_log_tail', 'read_rule_preview', 'read_tenant_usage', 'verify_trail'
  ];
end;
$$;

-- Adds a last exception handler to a reading. If a node does not answer, the handler raises PT504:
-- the node's own error would show its address to tenants. If Citus moved or split a shard after
-- planning, calls the reading once more. The second time it raises PT504. API roles cannot use this
-- schema, so the handler uses nothing of it.
create or replace function logloom_citus.with_second_try(p_reading regprocedure, p_definition text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select regexp_replace(p_definition, 'end;\s*(\$\w+\$\s*)$', format(
      $handler$
when connection_exception or admin_shutdown or internal_error then
  if sqlstate = 'XX000' and sqlerrm not like 'could not find valid entry for shard%%' then
    raise;
  elsif sqlstate <> 'XX000' or current_setting('logloom.reads_again', true) = 'yes' then
    perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  end if;
  perform set_config('logloom.reads_again', 'yes', true);
  return %s %s(%s);
end;
\1$handler$,
      case when p.proretset then 'query select * from' end, p.oid::regproc,
      array_to_string(p.proargnames[1:p.pronargs], ', ')
    ))
    from pg_catalog.pg_proc p
    where p.oid = p_reading
  );
end;
$$;

-- Returns null, because health must answer while a node is away.
create or replace function logloom_citus.last_sealed()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return null;
end;
$$;
