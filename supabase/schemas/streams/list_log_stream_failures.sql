-- Returns failures of a stream that the caller manages, newest first.
create function logloom_private.read_stream_failures(
  p_scope logloom_private.reading_scope,
  p_stream_id uuid,
  p_limit integer,
  p_after uuid,
  p_tenant_id text
)
returns setof public.logloom_log_stream_failure
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'list_log_stream_failures', p_tenant_id, 'admin');
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after timestamptz;
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if not exists (
    select from logloom.log_streams s
    where s.tenant_id = v_scope.tenant_id and s.stream_id = p_stream_id
      and logloom_private.is_managed(v_scope, s.view_id)
  ) then
    perform logloom_private.refuse('streams.not_found');
  end if;
  v_after := logloom_private.page_place(
    p_after::text, 'failure', 'failure_id',
    (
      select f.occurred_at from logloom.log_stream_failures f
      where f.stream_id = p_stream_id and f.failure_id = p_after
    )
  );
  return query
  select
    f.failure_id, f.stream_id, f.kind, f.occurred_at, f.record_id, f.record_ts, f.records,
    f.ts_from, f.ts_to, f.status, f.error
  from logloom.log_stream_failures f
  where f.stream_id = p_stream_id
    and (p_after is null or (f.occurred_at, f.failure_id) < (v_after, p_after))
  order by f.occurred_at desc, f.failure_id desc
  limit v_limit;
end;
$$;

create function public.list_log_stream_failures(
  p_stream_id uuid default null,
  p_limit integer default null,
  p_after uuid default null,
  p_tenant_id text default null
)
returns setof public.logloom_log_stream_failure
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select f.*
  from logloom_private.read_stream_failures(null, p_stream_id, p_limit, p_after, p_tenant_id) f;
end;
$$;

comment on function public.list_log_stream_failures(uuid, integer, uuid, text) is
  'What a log stream did not send, newest first: records that the receiver refused, and gaps left '
  'by retention. At most 1000, from the last 30 days. p_limit: 1 to 1000 (default 100). p_after: '
  'failure_id of the last item of the page before. For admins. Errors: PT400, PT401, PT403, PT404.';
