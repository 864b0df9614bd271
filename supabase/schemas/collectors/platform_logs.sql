-- Wakes the edge function logloom-platform. The function asks what to read.
create function logloom_private.collect_platform(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.wake_function('logloom-platform');
  return row(
    null, p_collector.cursor, coalesce(p_collector.read_to, now()), true, p_collector.note
  )::logloom_private.collected;
end;
$$;

-- Stores what was read and moves the cursor, or notes the error. Returns the window to read next;
-- null if nothing is left, the collector is off, or another call of logloom-platform has a window.
-- A window ends with its last page, or two minutes after it was given.
create function logloom_private.exchange_window(p_read jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or writes the collectors and the queue
declare
  v_tenant_id constant text := logloom_private.project_tenant();
  v_now constant timestamptz := clock_timestamp();
  v_last timestamptz := p_read ->> 'last';
  v_collector logloom_private.collectors;
  v_from timestamptz;
  v_read_to timestamptz;
  v_records logloom_private.own_record[];
  v_ids jsonb;
begin
  perform logloom_private.require_own_project();
  select c.* into v_collector
  from logloom_private.collectors c
  where c.name = 'platform' and c.is_on and c.read_to is not null and v_tenant_id is not null
  for update;
  if not found then
    return null;
  elsif p_read -> 'window_id' = v_collector.cursor -> 'window_id' then
    -- 1. Note an error
    if p_read ? 'error' then
      update logloom_private.collectors c
      set failures = c.failures + 1, last_error = left(p_read ->> 'error', 500),
        cursor = c.cursor - 'until',
        next_at = v_now + greatest(
          least(make_interval(secs => (p_read ->> 'retry_after')::double precision), '1 day'),
          logloom_private.back_off(c.failures + 1, '1 minute', '1 hour')
        )
      where c.name = 'platform';
      return null;
    end if;
    -- 2. Store the records that are new
    v_ids := coalesce(v_collector.cursor -> 'ids', '{}');
    select array_agg(jsonb_populate_record(null::logloom_private.own_record, n.row)),
      v_ids || coalesce(jsonb_object_agg(n.row ->> 'id', n.row -> 'ts'), '{}')
    into v_records, v_ids
    from (
      select distinct on (e ->> 'id') e as row
      from jsonb_array_elements(p_read -> 'records') e
      where not v_ids ? (e ->> 'id')
    ) n;
    v_from := v_collector.cursor ->> 'from';
    if v_last > v_now then
      v_last := v_now;
    end if;
    if v_last <= v_from then
      v_records := v_records || logloom_private.event_of(
        'logloom', 'left_out', v_from, 'warn',
        'A page of logs does not hold all of one millisecond: the others were left out', '{}'
      );
    end if;
    v_collector := logloom_private.store_collected(v_collector, v_records, null);
    -- 3. Move the cursor. After a full page the window continues at its last time.
    v_from := greatest(v_last, v_from + interval '1 ms');
    v_read_to := greatest(
      v_collector.read_to,
      case when v_last is null then (v_collector.cursor ->> 'to')::timestamptz else v_from end
    );
    update logloom_private.collectors c
    set failures = 0, last_error = null, read_to = v_read_to,
      note = v_collector.note, refused_at = v_collector.refused_at,
      cursor = jsonb_build_object('ids', logloom_private.ids_to_skip(v_ids, v_read_to)) || case
        when v_last is null then '{}'
        else jsonb_build_object('from', v_from, 'to', c.cursor -> 'to')
      end
    where c.name = 'platform';
    if p_read ? 'is_end' or v_last is null and v_read_to > v_now - interval '1 minute' then
      return null;
    end if;
  elsif p_read ? 'is_end'
    or (v_collector.cursor ->> 'until')::timestamptz - v_now between '0' and '2 minutes'
  then
    return null;
  end if;
  -- 4. Give the next window. The API takes at most 24 hours.
  update logloom_private.collectors c
  set cursor = jsonb_build_object(
    'from', c.read_to - interval '2 minutes', 'to', least(v_now, c.read_to + interval '1 hour')
  ) || c.cursor || jsonb_build_object(
    'window_id', gen_random_uuid(), 'until', v_now + interval '2 minutes'
  )
  where c.name = 'platform'
  returning c.cursor - '{ids,until}'::text[] || jsonb_build_object('sources', c.sources)
  into p_read;
  return p_read;
end;
$$;

create function public.exchange_platform_logs(p_read jsonb default null)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_read', p_read is null);
  return logloom_private.exchange_window(p_read);
end;
$$;

comment on function public.exchange_platform_logs(jsonb) is
  'The edge function logloom-platform calls it. p_read: what it has read, {} at first. {window_id, '
  'records (with ids), last (time of a full page''s last row), is_end (the run ends)}, or '
  '{window_id, error, retry_after}. Returns what to read next, {window_id, from, to, sources}, or '
  'null. Errors: PT400, PT409 (another project''s database), PT503.';
