-- Where records may be that an erasure does not reach, by kind: what readers took out of the
-- service by an export or a page is theirs, and what log streams sent is with their receivers.
create function logloom_private.erasure_does_not_reach(p_run logloom.retention_runs)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
          'sent_to', s.last_success_at
        )
        order by s.created_at, s.stream_id
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.sent_records > 0
    ),
    '[]'
  );
end;
$$;
