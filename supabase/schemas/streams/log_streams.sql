-- Returns a stream as operations show it. Sessions do not see its view and maker. They see its lag
-- only if a batch waits or the stream fails: otherwise records of others may have caused the lag.
create function logloom_private.log_stream_of(
  p_scope logloom_private.reading_scope,
  p_row logloom.log_streams
)
returns public.logloom_log_stream
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.kind <> 'token' and num_nonnulls(p_row.batch_id, p_row.failing_since) = 0 then
    p_row.pending_since := null;
  end if;
  return row(
    p_row.stream_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.kind, p_row.config,
    logloom_private.shown_secrets(p_row.secrets), p_row.enabled,
    case when p_scope.kind = 'token' then p_row.view_id end,
    case when p_scope.kind = 'token' then p_row.maker end,
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
    p_row.test_finished_at, p_row.test_status, p_row.test_error,
    logloom_private.customer_of_view(p_row.view_id), p_row.held_at, p_row.last_answer,
    p_row.source, p_row.test_answer
  )::public.logloom_log_stream;
end;
$$;

-- Raises PT409 if another stream of the same customer, or of the tenant itself, has this name. The
-- caller has locked the tenant. p_stream_id: the stream that gets the name; null if it is new.
create function logloom_private.require_free_stream_name(
  p_tenant_id text,
  p_customer text,
  p_name text,
  p_stream_id uuid
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select
    from logloom.log_streams s
    where s.tenant_id = p_tenant_id and s.name = p_name
      and s.stream_id is distinct from p_stream_id
      and logloom_private.customer_of_view(s.view_id) is not distinct from p_customer
  ) then
    perform logloom_private.refuse('streams.name_is_taken');
  end if;
end;
$$;

-- Returns a stream that the caller manages, locked.
create function logloom_private.locked_stream(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid
)
returns logloom.log_streams
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row logloom.log_streams;
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = p_scope.tenant_id and s.stream_id = p_stream_id
    and logloom_private.is_managed(p_scope, s.view_id)
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return v_row;
end;
$$;

create function logloom_private.read_log_stream(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid,
  p_tenant_id text
)
returns public.logloom_log_stream
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams, which contain their secrets
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'get_log_stream', p_tenant_id, 'admin');
  v_row logloom.log_streams;
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_scope.tenant_id and s.stream_id = p_stream_id
    and logloom_private.is_managed(v_scope, s.view_id);
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return logloom_private.log_stream_of(v_scope, v_row);
end;
$$;

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
begin
  return logloom_private.read_log_stream(null, p_stream_id, p_tenant_id);
end;
$$;

comment on function public.get_log_stream(uuid, text) is
  'A log stream with its lag and the outcome of its last test. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

create function logloom_private.read_log_streams(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
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
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'list_log_streams', p_tenant_id, 'admin');
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'log stream', 'stream_id',
    (
      select s.created_at from logloom.log_streams s
      where s.tenant_id = v_scope.tenant_id and s.stream_id = p_after
        and logloom_private.is_managed(v_scope, s.view_id)
    )
  );
begin
  return query
  select o.*
  from logloom.log_streams s
  cross join lateral logloom_private.log_stream_of(v_scope, s) o
  where s.tenant_id = v_scope.tenant_id
    and logloom_private.is_managed(v_scope, s.view_id)
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
  select s.* from logloom_private.read_log_streams(null, p_tenant_id, p_limit, p_after) s;
end;
$$;

comment on function public.list_log_streams(text, integer, uuid) is
  'Log streams of the tenant with their lag, newest first. p_limit: 1 to 1000 (default 100). '
  'p_after: stream_id of the last item of the page before. For admins. Errors: PT400, PT401, '
  'PT403.';

create function logloom_private.remove_log_stream(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid,
  p_tenant_id text
)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'delete_log_stream', p_tenant_id, 'admin');
  v_row constant logloom.log_streams := logloom_private.locked_stream(v_scope, p_stream_id);
begin
  perform logloom_private.require_not_held(v_scope, v_row.held_at, 'log stream');
  delete from logloom.log_streams s where s.stream_id = v_row.stream_id;
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
  return logloom_private.remove_log_stream(null, p_stream_id, p_tenant_id);
end;
$$;

comment on function public.delete_log_stream(uuid, text) is
  'Deletes a log stream with its failures and secrets. Returns {success}. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';
