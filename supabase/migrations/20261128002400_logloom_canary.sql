-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- canary/tables/canary_rounds.sql
create table logloom_private.canary_rounds (
  round_id uuid primary key default gen_random_uuid(),
  sent_at timestamptz not null default clock_timestamp(),
  key_id uuid,
  acknowledged_at timestamptz,
  searched_at timestamptz,
  tailed_at timestamptz,
  counted_at timestamptz,
  missing bigint,
  doubled bigint,
  error text
);

create index canary_rounds_sent_at_idx on logloom_private.canary_rounds (sent_at);

comment on table logloom_private.canary_rounds is
  'What the canary saw, a row a minute, kept for a day: when its record was acknowledged, found by '
  'a search, by a tail, and when the records of the last hour were counted.';

comment on column logloom_private.canary_rounds.key_id is
  'The API key of the round, which ends with it. Its value is nowhere.';

comment on column logloom_private.canary_rounds.missing is
  'Records of the last hour that were acknowledged and are not counted.';

comment on column logloom_private.canary_rounds.doubled is
  'Records that are counted beyond those sent in the last hour.';

-- canary/canary_call.sql
-- A request to an edge function by the round's key, as a sender or a reader makes it: the answer's
-- body. An answer other than 200 is an error.
create function logloom_private.canary_call(p_path text, p_key text, p_body jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- canary/canary_health.sql
-- What the canary saw: degraded where a record of the last day is missing or doubled, or where the
-- last two rounds did not find theirs. Milliseconds from sending on, of the last round that ended.
create function logloom_private.canary_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- canary/canary_tenant.sql
-- The canary's own tenant.
create function logloom_private.canary_tenant()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'logloom-canary';
end;
$$;

-- canary/run_canary.sql
-- Begins a round: its row, and a key of the canary's own tenant that ends by itself. Null where the
-- canary is switched off.
create function logloom_private.begin_canary_round(out round_id uuid, out key_value text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.canary_tenant();
  v_key public.logloom_created_api_key;
begin
  if (select s.canary_url from logloom_private.settings s) is null then
    return;
  end if;
  if exists (select from logloom.tenant_members m where m.tenant_id = v_tenant_id) then
    raise exception 'The tenant % has members: the canary needs it for itself', v_tenant_id;
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
$$;

-- Sends the round's record.
create function logloom_private.send_canary(p_round_id uuid, p_key text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Whether a search and a tail find the round's record; notes when each did first.
create function logloom_private.look_for_canary(p_round_id uuid, p_key text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Counts the canary's records of the last hour: those of rounds before, too. One that may still be
-- in the queue is not missing yet.
create function logloom_private.count_canaries(p_round_id uuid, p_key text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := clock_timestamp();
  v_from constant timestamptz := v_to - interval '1 hour';
  v_watermark constant timestamptz :=
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at);
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
    select
      count(r.acknowledged_at) filter (
        where r.searched_at is not null or r.acknowledged_at < v_watermark
      ) as acknowledged,
      count(*) as sent
    from logloom_private.canary_rounds r
    where r.sent_at >= v_from and r.sent_at < v_to
  ) n
  where u.round_id = p_round_id;
end;
$$;

-- Does one step of a round; an error ends the round and is noted. False: it goes no further.
create function logloom_private.canary_step(p_step text, p_round_id uuid, p_key text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- The job of the canary: where settings.canary_url is set, a record goes the whole way of senders
-- and readers, once a minute. No set clause: a step must be committed before others see it.
create procedure logloom_private.run_canary()
language plpgsql
as $$
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
$$;

select logloom_private.finish_migration();
