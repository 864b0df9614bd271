-- Returns those of the ids {id: time} that a later read may find again. Rows become visible when
-- they commit, possibly later than newer ones. So each read begins two minutes before read_to.
create function logloom_private.ids_to_skip(p_ids jsonb, p_read_to timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_object_agg(i.key, i.value), '{}')
    from jsonb_each_text(p_ids) i
    where i.value::timestamptz >= p_read_to - interval '2 minutes'
  );
end;
$$;

-- Reads the next 1000 new rows of a source. p_found_sql: a query of the id, time and record of each
-- row at $1 or later.
create function logloom_private.collect_rows(
  p_collector logloom_private.collectors, p_found_sql text
)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant jsonb := coalesce(p_collector.cursor -> 'ids', '{}');
  v_now constant timestamptz := clock_timestamp();
  v_ids jsonb;
  v_new logloom_private.collected;
begin
  execute format(
    'select array_agg(n.record order by n.at), jsonb_object_agg(n.id, n.at), max(n.at), '
      'count(*) < 1000 from ('
      'select * from (%s) f (id, at, record) where not $2 ? f.id order by f.at limit 1000) n',
    p_found_sql
  )
  into v_new.records, v_ids, v_new.read_to, v_new.is_complete
  using coalesce(p_collector.read_to, v_now) - interval '2 minutes', v_known;
  v_new.read_to := case
    when v_new.is_complete then v_now
    -- The time of a row may be in the future.
    else greatest(least(v_new.read_to, v_now), p_collector.read_to)
  end;
  v_new.cursor := jsonb_build_object(
    'ids', logloom_private.ids_to_skip(v_known || coalesce(v_ids, '{}'), v_new.read_to),
    'has_found', v_ids is not null or p_collector.cursor @> '{"has_found": true}'
  );
  v_new.note := case v_new.cursor ->> 'has_found' when 'false' then 'nothing was found yet' end;
  return v_new;
end;
$$;

-- Reads Auth's audit log: sign-ins and changes of users. Names, mail addresses and phone numbers
-- stay out: user_id says who it was. There is no index on created_at, so each read scans the table.
create function logloom_private.collect_auth(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.collect_rows(
    p_collector,
    $sql$
      select e.id::text, e.created_at, logloom_private.event_of(
        'auth', 'auth', e.created_at, 'info', e.event ->> 'action', jsonb_build_object(
          'log_type', e.event -> 'log_type', 'ip', nullif(e.ip_address, ''),
          'provider', e.event #> '{traits,provider}', 'subject', e.event #> '{traits,user_id}'
        ), e.event ->> 'actor_id'
      )
      from (
        select a.*, case
          -- A name with \u0000 is valid json, but not valid jsonb.
          when pg_input_is_valid(a.payload::text, 'jsonb') then a.payload::jsonb
        end as event
        from auth.audit_log_entries a
      ) e
      where e.created_at >= $1
    $sql$
  );
end;
$$;

-- Reads failed runs of pg_cron. A failed run may have no time or, after a restart, an old time. So
-- the cursor has the id of the last run read, and the ids of earlier runs that had not ended. Reads
-- only the last 50000 runs, because few projects delete old runs.
create function logloom_private.collect_runs(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run constant bigint := p_collector.cursor ->> 'run';
  v_max constant bigint := (select coalesce(max(d.runid), 0) from cron.job_run_details d);
  v_since constant timestamptz := coalesce(p_collector.read_to, now()) - interval '2 minutes';
  v_new logloom_private.collected;
begin
  with runs as materialized (
    select d.*
    from cron.job_run_details d
    where d.runid > v_max - 50000 and d.runid <= v_max
      and (v_run is null or d.runid > v_run or p_collector.cursor -> 'open' @> to_jsonb(d.runid))
      and d.status <> 'succeeded'
  ), failed as (
    select d.*, coalesce(d.end_time, d.start_time, clock_timestamp()) as at
    from runs d
    where d.status = 'failed'
      -- The first read knows no last run: it begins at v_since.
      and (v_run is not null or coalesce(d.end_time, d.start_time) >= v_since)
    order by d.runid
    limit 1000
  ), page as (
    select count(*) < 1000 as is_complete, array_agg(logloom_private.event_of(
      'pg_cron', 'failed_job', f.at, 'error',
      coalesce(nullif(split_part(f.return_message, e'\n', 1), ''), 'The run failed'),
      jsonb_build_object('job', coalesce(j.jobname, f.jobid::text), 'run', f.runid)
    ) order by f.runid) as records, max(f.runid) as last
    from failed f
    left join cron.job j on j.jobid = f.jobid
  )
  select p.records, p.is_complete, jsonb_build_object('run', e.run, 'open', (
    select coalesce(jsonb_agg(d.runid), '[]')
    from runs d
    where d.status <> 'failed' and d.runid <= e.run
  ))
  into v_new.records, v_new.is_complete, v_new.cursor
  from page p
  cross join lateral (select case when p.is_complete then v_max else p.last end as run) e;
  return v_new;
end;
$$;

-- Reads failed runs of pg_cron, and requests of pg_net (also of database webhooks) that were
-- refused or got no answer. A run's command, the later lines of its error and the bodies of answers
-- may contain values, so they stay out.
create function logloom_private.collect_jobs(p_collector logloom_private.collectors)
returns logloom_private.collected
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs constant logloom_private.collected := logloom_private.collect_runs(p_collector);
  v_new logloom_private.collected;
begin
  v_new := logloom_private.collect_rows(
    p_collector,
    case
      when to_regclass('net._http_response') is null
      then 'select '''', now(), null::logloom_private.own_record where false'
      else $sql$
        select 'request ' || r.id, r.created, logloom_private.event_of(
          'pg_net', 'failed_request', r.created,
          case when r.status_code < 500 then 'warn' else 'error' end,
          coalesce('A request was answered ' || r.status_code, 'A request got no answer'),
          jsonb_build_object(
            'request', r.id, 'status', r.status_code, 'error', r.error_msg,
            'webhook', h.hook_name, 'table', h.hook_table_id::regclass
          )
        )
        from net._http_response r
        left join lateral (select x.* from $sql$ || case
          when to_regclass('supabase_functions.hooks') is not null then 'supabase_functions.hooks'
          else '(select 0::bigint as request_id, '''' as hook_name, 0::oid as hook_table_id)'
        end || $sql$ x where x.request_id = r.id limit 1) h on true
        where r.created >= $1
          and (r.status_code >= 400 or r.timed_out or r.error_msg is not null)
      $sql$
    end
  );
  v_new.records := v_new.records || v_runs.records;
  v_new.cursor := v_new.cursor || v_runs.cursor;
  v_new.is_complete := v_new.is_complete and v_runs.is_complete;
  -- To find no failures is normal, and needs no note.
  v_new.note := null;
  return v_new;
end;
$$;
