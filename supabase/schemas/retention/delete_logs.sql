-- Raises PT429 if the tenant has as many open deletions as its plan allows.
create function logloom_private.require_room_for_deletion(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := (logloom_private.plan_of(p_tenant_id)).max_open_deletions;
begin
  -- Concurrent requests wait here, so that each request counts all earlier deletions.
  perform pg_advisory_xact_lock(logloom_private.lock_key('delete_logs'), hashtext(p_tenant_id));
  if (
    select count(*) >= v_max
    from logloom.retention_runs r
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status in ('queued', 'running')
  ) then
    perform logloom_private.refuse_for_now(10, 'usage.too_many_deletions', v_max::text);
  end if;
end;
$$;

-- Stores a requested deletion, and who requested it. The job run_deletions carries it out.
create function logloom_private.request_deletion(
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_dry_run boolean
)
returns logloom.retention_runs
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles cannot compile queries or write to retention_runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- A dry run reads records as a search does.
    perform logloom_private.take_search_slot(logloom_private.scope_of_view(v_tenant_id, null));
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(null, p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  perform logloom_private.provision_current_tenant();
  if not p_dry_run then
    perform logloom_private.require_room_for_deletion(v_tenant_id);
  end if;
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', logloom_private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select (select count(*) ' || logloom_private.source_sql(logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '{}'
      ))
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Keeps the last 100 dry runs. Otherwise many of them would fill the disk.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset 100
    );
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
    jsonb_build_object(
      'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
      'dry_run', v_run.dry_run
    )
  );
  return v_run;
end;
$$;

create function public.delete_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_dry_run boolean default null
)
returns public.logloom_retention_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return jsonb_populate_record(
    null::public.logloom_retention_run,
    to_jsonb(logloom_private.request_deletion(
      p_query_dsl, p_ts_from, p_ts_to, coalesce(p_dry_run, true)
    ))
  );
exception when query_canceled then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

comment on function public.delete_logs(text, text, text, boolean) is
  'Deletes the tenant''s records (and dead letters) that match p_query_dsl from p_ts_from '
  '(inclusive) to p_ts_to (exclusive). Refuses a query that a search would answer with warnings. '
  'With p_dry_run (default true) nothing is deleted, and records says how many match. Otherwise a '
  'job deletes the records that were acknowledged before the request. list_log_retention_runs '
  'shows its progress. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), '
  'PT429 (too many open deletions, or for a dry run too many searches).';

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
  return to_jsonb(
    array[jsonb_build_object('kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to)]
    || array(
      select jsonb_build_object(
        'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
        'sent_to', s.last_success_at
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.source = 'logs' and s.sent_records > 0
      order by s.created_at, s.stream_id
    )
    || array(
      select jsonb_build_object(
        'kind', 'damaged_block', 'records', c.records, 'ts_from', c.first_ts,
        'ts_to', c.last_ts + interval '1 microsecond'
      )
      from logloom_private.blocks c
      where c.tenant_id = p_run.tenant_id and c.damaged_at is not null
        and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
      order by c.first_ts, c.block_id
    )
    || array(
      select jsonb_build_object(
        'kind', 'alerts', 'alerts', count(*), 'ts_from', min(h.window_start),
        'ts_to', max(h.window_end)
      )
      from logloom.alert_history h
      where h.tenant_id = p_run.tenant_id and h."group" is not null
        and h.window_end > p_run.ts_from and h.window_start < p_run.ts_to
      having count(*) > 0
    )
  );
end;
$$;
