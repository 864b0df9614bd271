-- The records that SQL selects, column after column: a node sends columns as they are, and a
-- composite as a text, which costs both sides more.
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

-- Nothing is opened after it, in a subtransaction that a node would learn of.
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

-- To ask a node costs a small search a sixth, and only days that are over are sealed.
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

-- The tenant's id. Lets take_scan_slot(), where it is given no scan, take the slot of this one to
-- the end of the transaction: a node, whose locks are its own, knows no setting of who asks.
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

-- What reads a tenant's records for a request.
create or replace function logloom_citus.readings()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'delete_logs', 'my_stored', 'preview_alert_rule', 'read_log', 'read_log_changes',
    'read_log_context', 'read_log_export', 'read_log_fields', 'read_log_histogram',
    'read_log_overview', 'read_log_page', 'read_log_series', 'read_log_stats', 'read_log_tail'
  ];
end;
$$;

-- The definition of a reading, with a last exception handler. If a node does not answer, that one
-- says PT504: the node's own error has its address, which is not for tenants. If Citus moved or
-- split the shard between plan and execution, the reading calls itself: the shard has its new place
-- by then. The second time it says PT504. It calls nothing of this schema, which API roles that run
-- it cannot reach.
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

-- Null: health must answer while a node is away, and asks none.
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
