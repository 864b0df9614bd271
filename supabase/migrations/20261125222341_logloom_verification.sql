-- Verification of what is stored.

set local check_function_bodies = off;

CREATE TABLE "logloom_private"."canary_rounds" (
  "round_id"        uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "sent_at"         timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "key_id"          uuid,
  "acknowledged_at" timestamp with time zone,
  "searched_at"     timestamp with time zone,
  "tailed_at"       timestamp with time zone,
  "counted_at"      timestamp with time zone,
  "missing"         bigint,
  "doubled"         bigint,
  "error"           text,
  CONSTRAINT "canary_rounds_pkey" PRIMARY KEY (round_id)
);

ALTER TABLE "logloom_private"."canary_rounds"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."canary_rounds"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."verification_differences" (
  "difference_id"   bigint                   GENERATED ALWAYS AS IDENTITY NOT NULL,
  "verification_id" bigint                   NOT NULL,
  "found_at"        timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "kind"            text                     NOT NULL,
  "tenant_id"       text                     NOT NULL,
  "day"             date                     NOT NULL,
  "block_id"        bigint,
  "detail"          text                     NOT NULL,
  CONSTRAINT "verification_differences_kind_is_known" CHECK ((kind = ANY (ARRAY['block'::text, 'count'::text, 'id'::text]))),
  CONSTRAINT "verification_differences_pkey" PRIMARY KEY (difference_id)
);

ALTER TABLE "logloom_private"."verification_differences"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."verification_differences"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."verifications" (
  "verification_id" bigint                   GENERATED ALWAYS AS IDENTITY NOT NULL,
  "started_at"      timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  "block_through"   bigint                   NOT NULL DEFAULT 0,
  "tenant_through"  text                     NOT NULL DEFAULT ''::text,
  "tenant_id"       text,
  "ts_through"      timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp WITH time zone,
  "blocks"          bigint                   NOT NULL DEFAULT 0,
  "records"         bigint                   NOT NULL DEFAULT 0,
  "differences"     bigint                   NOT NULL DEFAULT 0,
  "finished_at"     timestamp with time zone,
  CONSTRAINT "verifications_pkey" PRIMARY KEY (verification_id)
);

ALTER TABLE "logloom_private"."verifications"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."verifications"
  FORCE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "verify_every" interval NOT NULL DEFAULT '7 days'::interval;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "verify_rest" double precision NOT NULL DEFAULT 4;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "verify_step_records" integer NOT NULL DEFAULT 100000;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "canary_url" text;

CREATE OR REPLACE FUNCTION logloom_private.begin_canary_round (
  OUT round_id uuid,
  OUT key_value text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.canary_tenant();
  v_key public.logloom_created_api_key;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return;
  end if;
  delete from logloom_private.canary_rounds r where r.sent_at < now() - interval '1 day';
  -- Of rounds before, also those that were cut off.
  delete from logloom.api_keys k where k.tenant_id = v_tenant_id and k.name = 'canary';
  insert into logloom.tenants (tenant_id, plan_id)
  select v_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  v_key := logloom_private.issue_api_key(
    v_tenant_id, 'canary', clock_timestamp() + interval '5 minutes', '{ingest,read}', null
  );
  insert into logloom_private.canary_rounds as r (key_id)
  values (v_key.key_id)
  returning r.round_id into round_id;
  key_value := v_key.key_value;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_call (
  p_path text,
  p_key  text,
  p_body jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_status integer;
  v_content text;
begin
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '5000');
  select r.status, r.content into v_status, v_content
  from logloom_private.settings s
  cross join extensions.http(
    row(
      'POST', rtrim(s.canary_url, '/') || '/functions/v1/' || p_path,
      array[extensions.http_header('X-API-Key', p_key)], 'application/json', p_body::text
    )::extensions.http_request
  ) r;
  if v_status is distinct from 200 then
    raise exception '% answered %: %', p_path, v_status, left(v_content, 200);
  end if;
  return v_content::jsonb;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last logloom_private.canary_rounds;
  v_missing bigint;
  v_doubled bigint;
  v_failed bigint;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return logloom_private.health_grade(null, null) || jsonb_build_object('state', 'off');
  end if;
  select r.* into v_last
  from logloom_private.canary_rounds r
  where r.counted_at is not null or r.error is not null
  order by r.sent_at desc
  limit 1;
  select coalesce(max(r.missing), 0), coalesce(max(r.doubled), 0) into v_missing, v_doubled
  from logloom_private.canary_rounds r
  where r.sent_at > now() - interval '1 day';
  select count(*) into v_failed
  from (
    select r.*
    from logloom_private.canary_rounds r
    where r.counted_at is not null or r.error is not null
    order by r.sent_at desc
    limit 2
  ) r
  where r.searched_at is null or r.tailed_at is null or r.counted_at is null;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_missing > 0 then format('%s acknowledged records are missing', v_missing) end,
      case when v_doubled > 0 then format('%s records are doubled', v_doubled) end,
      case when v_failed = 2 then
        'The last two records of the canary were not found: '
          || 'logloom_private.canary_rounds has the error'
      end
    )
  ) || jsonb_build_object(
    'state', 'on',
    'last_round', v_last.sent_at,
    'acknowledged_ms', round(extract(epoch from v_last.acknowledged_at - v_last.sent_at) * 1000),
    'search_ms', round(extract(epoch from v_last.searched_at - v_last.sent_at) * 1000),
    'tail_ms', round(extract(epoch from v_last.tailed_at - v_last.sent_at) * 1000),
    'missing', v_missing,
    'doubled', v_doubled
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_step (
  p_step     text,
  p_round_id uuid,
  p_key      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  case p_step
    when 'send' then perform logloom_private.send_canary(p_round_id, p_key);
    when 'look' then return not logloom_private.look_for_canary(p_round_id, p_key);
    when 'count' then perform logloom_private.count_canaries(p_round_id, p_key);
    when 'end' then
      delete from logloom.api_keys k
      using logloom_private.canary_rounds r
      where r.round_id = p_round_id and k.key_id = r.key_id;
  end case;
  return true;
exception
  when query_canceled then
    raise;
  when others then
    update logloom_private.canary_rounds r
    set error = coalesce(r.error, left(format('%s: %s', p_step, sqlerrm), 500))
    where r.round_id = p_round_id;
    return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_tenant()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'logloom-canary';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.count_canaries (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_to constant timestamptz := clock_timestamp();
  v_from constant timestamptz := v_to - interval '1 hour';
  v_counted bigint;
begin
  v_counted := logloom_private.canary_call(
    'logloom-read/v1/log_stats', p_key, jsonb_build_object(
      'p_query_dsl', 'service:canary | count()',
      'p_ts_from', to_char(v_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'p_ts_to', to_char(v_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    )
  ) #>> '{0,value}';
  -- One without an answer may have been stored all the same.
  update logloom_private.canary_rounds u
  set counted_at = clock_timestamp(), missing = greatest(n.acknowledged - v_counted, 0),
    doubled = greatest(v_counted - n.sent, 0)
  from (
    select count(r.acknowledged_at) as acknowledged, count(*) as sent
    from logloom_private.canary_rounds r
    where r.sent_at >= v_from and r.sent_at < v_to
  ) n
  where u.round_id = p_round_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.last_verification()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select format(
      '%s blocks and %s records were verified: %s differences', v.blocks, v.records, v.differences
    )
    from logloom_private.verifications v
    order by v.verification_id desc
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.look_for_canary (
  p_round_id uuid,
  p_key      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.canary_rounds;
  v_query constant text := format('req_id:%s', p_round_id);
begin
  select r.* into v_round from logloom_private.canary_rounds r where r.round_id = p_round_id;
  if v_round.searched_at is null and jsonb_path_exists(
    logloom_private.canary_call(
      'logloom-read/v1/search_logs', p_key, jsonb_build_object('p_query_dsl', v_query)
    ),
    '$.logs[*] ? (@.msg == $msg)', jsonb_build_object('msg', 'canary ' || p_round_id)
  ) then
    v_round.searched_at := clock_timestamp();
  end if;
  if v_round.tailed_at is null and jsonb_path_exists(
    logloom_private.canary_call(
      'logloom-read/v1/tail_logs', p_key,
      jsonb_build_object('p_query_dsl', v_query, 'p_backlog', 10)
    ),
    '$.logs[*] ? (@.msg == $msg)', jsonb_build_object('msg', 'canary ' || p_round_id)
  ) then
    v_round.tailed_at := clock_timestamp();
  end if;
  update logloom_private.canary_rounds r
  set searched_at = v_round.searched_at, tailed_at = v_round.tailed_at
  where r.round_id = p_round_id;
  return v_round.searched_at is not null and v_round.tailed_at is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_records_to_verify (
  p_tenant_id text,
  p_from      timestamp with time zone
)
  RETURNS tstzrange
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from timestamptz := least(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= logloom_private.utc_day(p_from)
    ),
    (
      select min(c.minute)
      from logloom_private.log_counts c
      where c.tenant_id = p_tenant_id and c.minute >= p_from
    ),
    (
      select date_bin('1 minute', min(b.first_ts), 'epoch')
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from
    )
  );
  v_end timestamptz;
begin
  if v_from is null then
    return null;
  end if;
  v_from := greatest(v_from, p_from);
  v_end := logloom_private.day_start(logloom_private.utc_day(v_from) + 1);
  return tstzrange(
    v_from,
    coalesce(
      (
        select m.minute + interval '1 minute'
        from (
          select c.minute, sum(sum(c.events)) over (order by c.minute) as events
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_end
          group by c.minute
        ) m
        where m.events >= (select s.verify_step_records from logloom_private.settings s)
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_differences (
  p_verification_id bigint,
  p_tenant_id       text,
  p_day             date,
  p_block_id        bigint,
  p_kinds           text[],
  p_details         text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom_private.verifications v
  set differences = v.differences + cardinality(p_details)
  where v.verification_id = p_verification_id;
  insert into logloom_private.verification_differences (
    verification_id, kind, tenant_id, day, block_id, detail
  )
  select p_verification_id, u.kind, p_tenant_id, p_day, p_block_id, left(u.detail, 1000)
  from unnest(p_kinds, p_details) u (kind, detail)
  where (
    select count(*)
    from logloom_private.verification_differences d
    where d.verification_id = p_verification_id
  ) < 1000;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  -- After the queue was read, so that no age is negative.
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_checks constant jsonb := jsonb_build_object(
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(),
    'pre_request', logloom_private.pre_request_health(),
    'installation', logloom_private.health_grade(
      case when v_is_restored then
        'Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((v_checks - 'jobs') || (v_checks -> 'jobs')) c
  );
  v_status constant text := case
    when 'unhealthy' = any (v_grades) then 'unhealthy'
    when 'degraded' = any (v_grades) then 'degraded'
    else 'healthy'
  end;
begin
  return jsonb_build_object(
    'status', v_status,
    'timestamp', v_now,
    'checks', v_checks,
    'endpoints', (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    ) || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', v_status = 'healthy',
        'status', v_status,
        'checks', coalesce(logloom_private.unhealthy_checks(v_checks - 'jobs'), '{}')
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', logloom_private.unhealthy_checks(v_checks -> 'jobs'),
            'queue', jsonb_build_object(
              'depth', v_checks -> 'queue' -> 'depth', 'reason', v_checks -> 'queue' -> 'reason'
            ),
            'writer', jsonb_build_object(
              'status', v_checks -> 'writer' -> 'status',
              'reason', v_checks -> 'writer' -> 'reason'
            )
          ))
      ),
      'detailed', jsonb_build_object(
        'available', v_status <> 'unhealthy', 'status', v_status, 'checks', v_checks
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.schedule_jobs()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        (
          'verify_logs', '* * * * *',
          'call logloom_private.run_job(''verify_logs'', ''logloom_private.verify_step()'')'
        ),
        ('run_canary', '* * * * *', 'call logloom_private.run_canary()'),
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_canary (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.canary_rounds;
  v_answer jsonb;
begin
  select r.* into v_round from logloom_private.canary_rounds r where r.round_id = p_round_id;
  v_answer := logloom_private.canary_call('ingest', p_key, jsonb_build_object(
    'ts', to_char(v_round.sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'level', 'info', 'service', 'canary', 'req_id', p_round_id, 'msg', 'canary ' || p_round_id
  ));
  if v_answer ->> 'ingested' is distinct from '1' then
    raise exception 'ingest answered %', v_answer;
  end if;
  update logloom_private.canary_rounds r
  set acknowledged_at = clock_timestamp()
  where r.round_id = p_round_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verification_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last logloom_private.verifications;
  v_differences bigint;
begin
  select v.* into v_last
  from logloom_private.verifications v
  where v.finished_at is not null
  order by v.verification_id desc
  limit 1;
  select coalesce(sum(v.differences), 0) into v_differences
  from logloom_private.verifications v
  where v.verification_id >= v_last.verification_id or v.finished_at is null;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s differences were found in what is stored: '
        || 'logloom_private.verification_differences has them',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_block (
  p_block logloom_private.blocks
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_found record;
begin
  if not logloom_private.block_is_intact(p_block) then
    return 'its checksum differs';
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  return case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled then
    raise;
  -- Whatever a damaged value makes of its decoding: the next block is verified all the same.
  when others then
    return format('%s: %s', sqlstate, sqlerrm);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_block (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_detail text;
begin
  select b.* into v_block
  from logloom_private.blocks b
  where b.block_id > p_verification.block_through
  order by b.block_id
  limit 1;
  if not found then
    return false;
  end if;
  v_detail := logloom_private.verify_block(v_block);
  update logloom_private.verifications v
  set block_through = v_block.block_id, blocks = v.blocks + 1
  where v.verification_id = p_verification.verification_id;
  if v_detail is not null then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_block.tenant_id, logloom_private.utc_day(v_block.first_ts),
      v_block.block_id, array['block'], array[v_detail]
    );
  end if;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_records (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id text := p_verification.tenant_id;
  v_range tstzrange;
  v_found record;
begin
  if v_tenant_id is null then
    select t.tenant_id into v_tenant_id
    from logloom.tenants t
    where t.tenant_id > p_verification.tenant_through
    order by t.tenant_id
    limit 1;
    if not found then
      return false;
    end if;
  end if;
  v_range := logloom_private.next_records_to_verify(v_tenant_id, p_verification.ts_through);
  if v_range is null then
    update logloom_private.verifications v
    set tenant_through = v_tenant_id, tenant_id = null, ts_through = '-infinity'
    where v.verification_id = p_verification.verification_id;
    return true;
  end if;
  select f.* into v_found
  from logloom_private.verify_records(
    p_verification.verification_id, v_tenant_id, lower(v_range), upper(v_range)
  ) f;
  update logloom_private.verifications v
  set tenant_id = v_tenant_id, ts_through = upper(v_range), records = v.records + v_found.records
  where v.verification_id = p_verification.verification_id;
  if v_found.kinds <> '{}' then
    perform logloom_private.note_differences(
      p_verification.verification_id, v_tenant_id, logloom_private.utc_day(lower(v_range)), null,
      v_found.kinds, v_found.details
    );
  end if;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_on()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_verification logloom_private.verifications;
begin
  select v.* into v_verification
  from logloom_private.verifications v
  where v.finished_at is null
  for update skip locked;
  if not found then
    delete from logloom_private.verifications v
    where v.verification_id
      <= (select max(l.verification_id) - 100 from logloom_private.verifications l);
    insert into logloom_private.verifications default values
    on conflict do nothing
    returning * into v_verification;
    if not found then
      return false;
    end if;
  end if;
  if logloom_private.verify_next_block(v_verification)
    or logloom_private.verify_next_records(v_verification) then
    return true;
  end if;
  update logloom_private.verifications v
  set finished_at = clock_timestamp()
  where v.verification_id = v_verification.verification_id;
  return false;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_records (
  p_verification_id bigint,
  p_tenant_id       text,
  p_from            timestamp with time zone,
  p_to              timestamp with time zone
)
  RETURNS TABLE (
    records bigint,
    kinds   text[],
    details text[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query execute
  $query$
    with records as materialized (
      select l.id, l.ts, l.service, l.level, true as is_counted
      from logloom.logs l
      where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3
      union all
      select r.id, r.ts, r.service, r.level, not b.holds_counts
      from logloom_private.blocks b,
        logloom_private.block_records(
          b.tenant_id, b.block_id, null, array['id', 'ts', 'service', 'level']
        ) r
      where b.tenant_id = $1 and b.last_ts >= $2 and b.first_ts < $3
        and r.ts >= $2 and r.ts < $3 and b.block_id <> all ($4)
    ), counts as materialized (
      select c.*
      from logloom_private.log_counts c
      where c.tenant_id = $1 and c.minute >= $2 and c.minute < $3
    ), sides as (
      select date_bin('1 minute', r.ts, 'epoch') as minute, r.service, r.level, count(*) as events
      from records r
      where r.is_counted
      group by 1, 2, 3
      union all
      select c.minute, c.service, c.level, -c.events
      from counts c
    ), counted as (
      select
        s.minute, s.level, sum(s.events) as difference,
        -- Where services were counted together, none can be told from the counts.
        case when not exists (
          select from counts c where c.is_other and c.minute = s.minute
        ) then s.service end as service
      from sides s
      group by s.minute, s.level, 4
      having sum(s.events) <> 0
    ), doubled as (
      select r.id, count(*) as times from records r group by r.id having count(*) > 1
    ), found as (
      (
        select
          'count' as kind,
          format(
            '%s: %s records more than counted of service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is there %s times', d.id, d.times)
        from doubled d
        order by d.id
        limit 100
      )
    )
    select
      (select count(*) from records),
      array(select f.kind from found f order by f.kind, f.detail),
      array(select f.detail from found f order by f.kind, f.detail)
  $query$
  using
    p_tenant_id, p_from, p_to,
    array(
      select b.block_id
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from and b.first_ts < p_to
        and exists (
          select
          from logloom_private.verification_differences d
          where d.verification_id = p_verification_id and d.block_id = b.block_id
        )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events
    or exists (
      select
      from logloom_private.verifications v
      where v.finished_at > clock_timestamp() - v_settings.verify_every
    ) and not exists (
      select from logloom_private.verifications v where v.finished_at is null
    ) then
    return null;
  end if;
  if logloom_private.verify_on() then
    return greatest(
      interval '10 milliseconds', v_settings.verify_rest * (clock_timestamp() - v_started_at)
    );
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE PROCEDURE logloom_private.run_canary()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_round_id pg_catalog.uuid;
  v_key pg_catalog.text;
  v_goes_on pg_catalog.bool;
begin
  select b.round_id, b.key_value into v_round_id, v_key
  from logloom_private.begin_canary_round() b;
  commit;
  if v_round_id is not null then
    v_goes_on := logloom_private.canary_step('send', v_round_id, v_key);
    commit;
    while v_goes_on
      and pg_catalog.clock_timestamp() < logloom_private.job_deadline(v_started_at) loop
      v_goes_on := logloom_private.canary_step('look', v_round_id, v_key);
      commit;
      perform pg_catalog.pg_sleep(case when v_goes_on then 0.25 else 0 end);
    end loop;
    perform logloom_private.canary_step('count', v_round_id, v_key);
    commit;
    perform logloom_private.canary_step('end', v_round_id, v_key);
    commit;
  end if;
  perform logloom_private.record_job('run_canary', v_started_at);
  commit;
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.verify()
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_summary pg_catalog.text;
begin
  while logloom_private.verify_on() loop
    commit;
  end loop;
  commit;
  v_summary := logloom_private.last_verification();
  raise notice '%', v_summary;
end;
$procedure$;

ALTER TABLE "logloom_private"."settings"
  ADD CONSTRAINT "settings_canary_url_is_an_address" CHECK (((canary_url ~ '^https?://[^\s#?]+$'::text) AND (length(canary_url) <= 500)));

ALTER TABLE "logloom_private"."verification_differences"
  ADD CONSTRAINT "verification_differences_verification_id_fkey" FOREIGN KEY (verification_id) REFERENCES logloom_private.verifications(verification_id) ON DELETE CASCADE;

CREATE INDEX canary_rounds_sent_at_idx ON logloom_private.canary_rounds USING btree (sent_at);

CREATE INDEX verification_differences_verification_id_idx ON logloom_private.verification_differences USING btree (verification_id);

CREATE UNIQUE INDEX verifications_open_idx ON logloom_private.verifications USING btree ((true))
  WHERE (finished_at IS NULL);

COMMENT ON COLUMN "logloom_private"."canary_rounds"."doubled" IS 'Records that are counted beyond those sent in the last hour.';

COMMENT ON COLUMN "logloom_private"."canary_rounds"."key_id" IS 'The API key of the round, which ends with it. Its value is nowhere.';

COMMENT ON COLUMN "logloom_private"."canary_rounds"."missing" IS 'Records of the last hour that were acknowledged and are not counted.';

COMMENT ON COLUMN "logloom_private"."settings"."canary_url" IS 'The project''s address, at which the canary sends and reads. Null: it is switched off.';

COMMENT ON COLUMN "logloom_private"."settings"."verify_every" IS 'How long after one verification the job begins the next.';

COMMENT ON COLUMN "logloom_private"."settings"."verify_rest" IS 'How many times as long as a step of verification took the job then rests.';

COMMENT ON COLUMN "logloom_private"."settings"."verify_step_records" IS 'Records that a step of verification compares, about.';

COMMENT ON COLUMN "logloom_private"."verifications"."block_through" IS 'Blocks up to this block_id are verified. They come first, then tenant after tenant.';

COMMENT ON COLUMN "logloom_private"."verifications"."records" IS 'Records whose counts and ids were compared.';

COMMENT ON COLUMN "logloom_private"."verifications"."tenant_through" IS 'Tenants up to this one are verified.';

COMMENT ON COLUMN "logloom_private"."verifications"."ts_through" IS 'Records of tenant_id before this time are verified.';

COMMENT ON PROCEDURE "logloom_private"."verify"() IS 'Verifies all that is stored: blocks by checksum and decoding, counts against records, ids. Says what it found in a notice; verification_differences has the details. Can be ended and called again.';

COMMENT ON TABLE "logloom_private"."canary_rounds" IS 'What the canary saw, a row a minute, kept for a day: when its record was acknowledged, found by a search, by a tail, and when the records of the last hour were counted.';

COMMENT ON TABLE "logloom_private"."verification_differences" IS 'What a verification found: a block that is damaged, a minute whose counts differ from its records, a record that is there more than once. At most a thousand a verification.';

COMMENT ON TABLE "logloom_private"."verifications" IS 'Verifications of blocks, counts and ids. The one without finished_at is under way and goes on where it stopped. The last hundred are kept.';

insert into logloom_private.job_limits (job, silence) values ('verify_logs', '1 hour'), ('run_canary', '10 minutes');
select logloom_private.schedule_jobs();

select logloom_private.finish_migration();
