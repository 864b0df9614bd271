-- Lists where copies of erased records may remain. Each entry has a kind:
--   exports        pages and exports that readers took out of the service
--   log_stream     records that a log stream has sent
--   damaged_block  records of a damaged block, which could not be checked
--   alerts         alerts whose groups keep values of records
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
      where s.tenant_id = p_run.tenant_id and s.source = 'logs' and s.sent_records > 0
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'damaged_block', 'records', c.records, 'ts_from', c.first_ts,
          'ts_to', c.last_ts + interval '1 microsecond'
        )
        order by c.first_ts, c.block_id
      )
      from logloom_private.blocks c
      where c.tenant_id = p_run.tenant_id and c.damaged_at is not null
        and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'alerts', 'alerts', a.alerts, 'ts_from', a.ts_from, 'ts_to', a.ts_to
        )
      )
      from (
        select count(*) as alerts, min(h.window_start) as ts_from, max(h.window_end) as ts_to
        from logloom.alert_history h
        where h.tenant_id = p_run.tenant_id and h."group" is not null
          and h.window_end > p_run.ts_from and h.window_start < p_run.ts_to
        having count(*) > 0
      ) a
    ),
    '[]'
  );
end;
$$;
