-- Returns the record with this id if the query matches it in the window, otherwise nulls. Looks at
-- rows, at sealed records, or at both.
create function logloom_private.log_within(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_window tstzrange,
  p_id uuid,
  p_rows boolean,
  p_sealed boolean
)
returns public.logloom_log_record
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.kept_from(p_tenant_id, lower(p_window));
  v_select constant text := 'select row(' || logloom_private.shown_columns_sql()
    || ')::public.logloom_log_record ';
  v_rows logloom_private.sql_source;
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_rows := logloom_private.tenant_rows_sql(
      p_tenant_id, v_from, upper(p_window), format('l.id = %L::uuid and %s', p_id, p_query.filter)
    );
    v_rows.max_rows := 1;
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.source_sql(logloom_private.masked_sql(p_query, v_rows))
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_rows := logloom_private.rows_from(
      format(
        'logloom_private.sealed_log(%L, %L, %L, %L) l', p_tenant_id, v_from, upper(p_window), p_id
      ),
      p_query.filter, p_limit => 1
    );
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.source_sql(logloom_private.masked_sql(p_query, v_rows))
    );
  end if;
  if logloom_private.answered_bytes(v_logs)
    > (select s.max_page_bytes from logloom_private.settings s)
  then
    return logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs));
  end if;
  return v_logs[1];
end;
$$;

create function logloom_private.read_log(
  p_scope logloom_private.reading_scope,
  p_id uuid,
  p_ts timestamptz
)
returns public.logloom_log_record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log');
  v_tenant_id constant text := v_scope.tenant_id;
  v_query constant logloom_private.compiled_query := logloom_private.query_of_scope(v_scope);
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_scope);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Search one second around p_ts: a client may send milliseconds instead of microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id contains the time of receipt. Most events are received soon after they happen.
  v_received_at := to_timestamp(
    ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then search all sealed records: blocks have an index over ids. Then the days with rows, newest
  -- first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log(null, p_id, p_ts);
end;
$$;

comment on function public.get_log(uuid, timestamptz) is
  'Returns one record. With p_ts (the record''s time) the search is faster. Without p_ts it begins '
  'at the time of receipt, a part of the id. Errors: PT400, PT401, PT404, PT408.';
