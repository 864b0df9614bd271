-- A stream as the operations show it.
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
    p_row.test_answer
  )::public.logloom_log_stream;
end;
$$;

-- The tenant of a request about streams: they are for admins, since addresses may be secrets.
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

-- Who makes or enables a stream now: by their rights it reads.
create function logloom_private.stream_maker()
returns text
language sql
stable
return case when not logloom_private.is_service_role() then
  logloom_private.current_user_id()
end;
