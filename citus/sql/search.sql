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

-- PT408 where it took too long. PT504 where the node that has the records does not answer: what it
-- said has its address and is not for tenants. True where Citus moved or split the shard between
-- plan and execution, and has its new place by then; PT504 where the second try met that again.
create or replace function logloom_citus.reads_again(p_state text, p_error text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting constant text := 'logloom.reads_again';
  v_is_moved constant boolean := p_error like 'could not find valid entry for shard%';
begin
  if p_state in ('57014', '55P03') then
    perform logloom_private.refuse('search.took_too_long');
  elsif p_state = 'XX000' and not v_is_moved then
    return false;
  elsif not v_is_moved or current_setting(v_setting, true) = 'yes' then
    perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  end if;
  perform set_config(v_setting, 'yes', true);
  return true;
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
