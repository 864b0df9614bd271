-- Returns the tenant of the project's own events; null if settings.project_tenant_id names none.
create function logloom_private.project_tenant()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select t.tenant_id
    from logloom_private.settings s
    join logloom.tenants t on t.tenant_id = s.project_tenant_id
  );
end;
$$;

-- Returns an event as a record.
create function logloom_private.event_of(
  p_service text, p_kind text, p_at timestamptz, p_level text, p_msg text, p_attrs jsonb,
  p_user_id text default null
)
returns logloom_private.own_record
language sql
stable
return jsonb_populate_record(null::logloom_private.own_record, jsonb_build_object(
  'ts', p_at, 'level', p_level, 'msg', p_msg, 'service', p_service, 'user_id', p_user_id,
  'attrs', jsonb_build_object('kind', p_kind) || jsonb_strip_nulls(p_attrs)
));

-- Reads the collector that is longest due. Its cursor moves in the transaction that stores its
-- records, so nothing is stored twice or lost. An error is noted in its row, and the others
-- continue. While no collector is on, this reads one small table a minute.
create function logloom_private.collect()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_tenant_id constant text := logloom_private.project_tenant();
  v_row logloom_private.collectors;
  v_new logloom_private.collected;
begin
  select c.* into v_row
  from logloom_private.collectors c
  where c.is_on and v_tenant_id is not null
    -- No collector waits for longer than a day, unless the clock was set back.
    and v_started_at not between c.next_at - interval '25 hours' and c.next_at
  order by c.next_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  begin
    execute format('select c.* from logloom_private.collect_%s($1) c', v_row.name)
    into v_new using v_row;
    v_row.note := coalesce(
      (logloom_private.ingest_own(v_tenant_id, v_new.records)).error, v_new.note
    );
    v_row.cursor := v_new.cursor;
    v_row.read_to := v_new.read_to;
    -- How logloom-platform read is known later.
    v_row.failures := case v_row.name when 'platform' then v_row.failures else 0 end;
  exception when query_canceled or others then
    v_row.failures := v_row.failures + 1;
    v_row.last_error := left(format('%s: %s', sqlstate, sqlerrm), 500);
  end;
  -- A slow read is followed by a pause, so that a collector takes at most 1 % of the time.
  v_row.next_at := clock_timestamp() + case
    when v_new.is_complete is not false
    then least(greatest(v_row.every, 100 * (clock_timestamp() - v_started_at)), '1 day')
    else '0'
  end;
  update logloom_private.collectors c
  set (cursor, read_to, note, failures, last_error, next_at) = (
    v_row.cursor, v_row.read_to, v_row.note, v_row.failures, v_row.last_error, v_row.next_at
  )
  where c.name = v_row.name;
  return '0';
end;
$$;

-- The check of the collectors that are on: degraded if one fails or is behind.
create function logloom_private.collector_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select logloom_private.health_grade(null, string_agg(c.name || c.fault, '; ' order by c.name))
      || jsonb_build_object('on', coalesce(jsonb_object_agg(c.name, jsonb_build_object(
        'read_to', c.read_to, 'note', c.note, 'failures', c.failures,
        'error_code', substring(c.last_error from '^[0-9A-Z]{5}')
      )) filter (where c.name is not null), '{}'))
    from (
      select x.*, case
        when logloom_private.project_tenant() is null
        then ' stores nothing: settings.project_tenant_id names no tenant'
        when x.failures > 2 then format(': %s reads failed in a row', x.failures)
        when p_now - x.read_to > x.every + interval '10 minutes'
        then format(' is %s s behind', round(extract(epoch from p_now - x.read_to)))
      end as fault
      from logloom_private.collectors x
      where x.is_on
    ) c
  );
end;
$$;
