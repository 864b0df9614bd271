-- Returns a stream as operations show it.
create function logloom_private.log_stream_of(p_row logloom.log_streams)
returns public.logloom_log_stream
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.stream_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.kind, p_row.config,
    logloom_private.shown_secrets(p_row.secrets), p_row.enabled, p_row.view_id, p_row.maker,
    p_row.created_at, p_row.updated_at,
    case
      when not p_row.enabled then 'disabled'
      when p_row.paused_at is not null then 'paused'
      when p_row.failing_since is not null then 'failing'
      else 'sending'
    end,
    coalesce(round(extract(epoch from clock_timestamp() - p_row.pending_since), 3), 0),
    case when p_row.enabled and p_row.paused_at is null and p_row.pending_since is not null
      then p_row.next_attempt_at end,
    p_row.failing_since, p_row.last_success_at, p_row.last_status, p_row.last_error,
    p_row.paused_at, p_row.pause_reason, p_row.sent_batches, p_row.sent_records,
    p_row.skipped_records, p_row.refused_records, p_row.test_requested_at,
    p_row.test_finished_at, p_row.test_status, p_row.test_error, p_row.last_answer,
    p_row.source, p_row.test_answer
  )::public.logloom_log_stream;
end;
$$;

-- Returns the tenant of a request about streams. For admins only, because addresses may be secrets.
create function logloom_private.tenant_of_streams(p_tenant_id text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return v_tenant_id;
end;
$$;

-- Returns the user who creates or enables a stream. The stream reads with their rights.
create function logloom_private.stream_maker()
returns text
language sql
stable
return case when not logloom_private.is_service_role() then
  logloom_private.current_user_id()
end;

create function public.get_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream public.logloom_log_stream;
begin
  -- Checks the caller first.
  select s.* into v_stream
  from logloom_private.page_of_streams(p_tenant_id, p_stream_id, null, null) s;
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if v_stream.stream_id is null then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return v_stream;
end;
$$;

comment on function public.get_log_stream(uuid, text) is
  'A log stream with its lag and the outcome of its last test. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

-- Returns streams of the tenant, newest first, or the stream p_stream_id.
create function logloom_private.page_of_streams(
  p_tenant_id text,
  p_stream_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_log_stream
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams, which contain their secrets
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'log stream', 'stream_id',
    (
      select s.created_at from logloom.log_streams s
      where s.tenant_id = v_tenant_id and s.stream_id = p_after
    )
  );
begin
  return query
  select o.*
  from logloom.log_streams s
  cross join lateral logloom_private.log_stream_of(s) o
  where s.tenant_id = v_tenant_id
    and (p_stream_id is null or s.stream_id = p_stream_id)
    and (p_after is null or (s.created_at, s.stream_id) < (v_after, p_after))
  order by s.created_at desc, s.stream_id desc
  limit v_limit;
end;
$$;

create function public.list_log_streams(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.* from logloom_private.page_of_streams(p_tenant_id, null, p_limit, p_after) s;
end;
$$;

comment on function public.list_log_streams(text, integer, uuid) is
  'Log streams of the tenant with their lag, newest first. p_limit: 1 to 1000 (default 100). '
  'p_after: stream_id of the last item of the page before. For admins. Errors: PT400, PT401, '
  'PT403.';

create function logloom_private.remove_log_stream(p_tenant_id text, p_stream_id uuid)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  delete from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_log_stream(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.delete_log_stream(uuid, text) is
  'Deletes a log stream with its failures and secrets. Returns {success}. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

-- Requests that the stream sends one test record, even if it is paused or disabled.
create function logloom_private.request_stream_test(p_tenant_id text, p_stream_id uuid)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval constant interval := logloom_private.notification_test_interval();
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  if v_row.test_requested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_row.test_requested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null,
    test_answer = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$$;

create function public.test_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.request_stream_test(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.test_log_stream(uuid, text) is
  'Sends a test record within seconds, even if the stream is paused or disabled. get_log_stream '
  'shows the outcome. For admins. Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';
