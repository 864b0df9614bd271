create function logloom_private.read_log(p_id uuid, p_ts timestamptz)
returns public.logloom_log_record
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_logs public.logloom_log_record[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := logloom_private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  -- Then the days in which the tenant has records, newest first, some at a time.
  v_windows := v_windows || array(
    select tstzrange(
      logloom_private.day_start(min(d.day)), logloom_private.day_start(max(d.day) + 1)
    )
    from (
      select u.day, (row_number() over (order by u.day desc) - 1) / 50 as part
      from logloom_private.log_days u
      where u.tenant_id = v_tenant_id
    ) d
    group by d.part
    order by d.part
  );

  foreach v_window in array v_windows loop
    execute 'select array(select ' || logloom_private.log_record_sql() || ' from (select l.* '
      || logloom_private.tenant_rows_sql(
        v_tenant_id, lower(v_window), upper(v_window), format('l.id = %L::uuid', p_id)
      )
      || format(
        ' union all select l.* from logloom_private.sealed_log(%L, %L, %L, %L) l) l limit 1)',
        v_tenant_id, greatest(lower(v_window), logloom_private.kept_from(v_tenant_id)),
        upper(v_window), p_id
      )
    into v_logs;
    if cardinality(v_logs) = 1 then
      return v_logs[1];
    end if;
  end loop;
  raise sqlstate 'PT404' using
    message = 'Log record not found',
    hint = 'It may be on its way still, or past its retention.';
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log(uuid, timestamptz) from public;

grant execute on function logloom_private.read_log(uuid, timestamptz)
to authenticated, service_role;

create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log(p_id, p_ts);
end;
$$;

revoke all on function public.get_log(uuid, timestamptz)
from public, anon, authenticated, service_role;

grant execute on function public.get_log(uuid, timestamptz)
to authenticated, service_role;

comment on function public.get_log(uuid, timestamptz) is
  'One record. p_ts, its time, finds it at once; without it the search begins at the time of '
  'receipt, which the id holds. Errors: PT400, PT401, PT404, PT408.';
