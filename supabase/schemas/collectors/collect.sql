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

-- Stores records. Returns the collector with a new note: the error if records were refused, else
-- p_note. The error stays until a read stores something.
create function logloom_private.store_collected(
  p_collector logloom_private.collectors, p_records logloom_private.own_record[], p_note text
)
returns logloom_private.collectors
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer constant logloom_private.own_answer := logloom_private.ingest_own(
    logloom_private.project_tenant(), p_records
  );
begin
  if v_answer.refused > 0 then
    p_collector.note := v_answer.error;
    p_collector.refused_at := clock_timestamp();
  elsif v_answer.stored > 0 or p_collector.refused_at is null then
    p_collector.note := p_note;
  end if;
  return p_collector;
end;
$$;

-- Lets a collector begin ten minutes ago if it was off for an hour, or failed for a day. Older
-- events may be many, and alerts would take them for new ones.
create function logloom_private.skip_old_events(p_collector logloom_private.collectors)
returns logloom_private.collectors
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  if p_collector.name in ('auth', 'jobs', 'platform')
    and p_collector.read_to < v_now - p_collector.every
      - (case p_collector.failures when 0 then interval '1 hour' else '1 day' end)
  then
    p_collector.read_to := v_now - interval '10 minutes';
    p_collector.cursor := p_collector.cursor - '{run,open,from,to,window_id,until}'::text[];
  end if;
  -- The clock may have been set back.
  p_collector.read_to := least(p_collector.read_to, v_now);
  return p_collector;
end;
$$;

-- Reads the collector that is longest due. Its cursor moves in the transaction that stores its
-- records, so nothing is stored twice or lost. An error is noted in its row, and the others
-- continue. While no collector is on, this reads one small table a minute.
create function logloom_private.collect()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_tenant_id constant text := logloom_private.project_tenant();
  v_row logloom_private.collectors;
  v_given logloom_private.collectors;
  v_new logloom_private.collected;
begin
  select c.* into v_row
  from logloom_private.collectors c
  where c.is_on and v_tenant_id is not null
    -- The longest wait of a collector is a day, unless the clock was set back. The job may run a
    -- few seconds before next_at.
    and v_started_at + interval '5 seconds'
      not between c.next_at - interval '25 hours' and c.next_at
  order by c.next_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  begin
    v_given := logloom_private.skip_old_events(v_row);
    execute format('select c.* from logloom_private.collect_%s($1) c', v_row.name)
    into v_new using v_given;
    if v_given.read_to > v_row.read_to then
      v_new.records := v_new.records || logloom_private.event_of(
        'logloom', 'left_out', v_started_at, 'warn',
        format('The collector %s read nothing for a time', v_row.name), jsonb_build_object(
          'collector', v_row.name, 'from', v_row.read_to, 'to', v_given.read_to
        )
      );
    end if;
    v_row := logloom_private.store_collected(v_row, v_new.records, v_new.note);
    v_row.cursor := v_new.cursor;
    v_row.read_to := v_new.read_to;
    -- logloom-platform reads later: exchange_window then resets these.
    if v_row.name <> 'platform' then
      v_row.failures := 0;
      v_row.last_error := null;
    end if;
  exception when query_canceled or others then
    v_row.failures := v_row.failures + 1;
    v_row.last_error := left(format('%s: %s', sqlstate, sqlerrm), 500);
  end;
  -- A slow read is followed by a pause: a collector takes at most 1 % of the time.
  v_row.next_at := clock_timestamp() + case
    when v_new.is_complete is not false
    then least(greatest(v_row.every, 100 * (clock_timestamp() - v_started_at)), '1 day')
    else '0'
  end;
  update logloom_private.collectors c
  set (cursor, read_to, note, refused_at, failures, last_error, next_at) = (
    v_row.cursor, v_row.read_to, v_row.note, v_row.refused_at, v_row.failures, v_row.last_error,
    v_row.next_at
  )
  where c.name = v_row.name;
  return '0';
end;
$$;

-- The check of the collectors that are on: degraded if one fails, lost records or is behind.
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
        when x.refused_at > p_now - interval '1 hour'
        then concat_ws(': ', ' lost records within the last hour', x.note)
        when p_now - x.read_to > x.every + interval '10 minutes'
        then format(' is %s s behind', round(extract(epoch from p_now - x.read_to)))
      end as fault
      from logloom_private.collectors x
      where x.is_on
    ) c
  );
end;
$$;
