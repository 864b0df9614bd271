-- Calls an edge function with the round's key, as a sender or a reader does. Returns the body of
-- the answer. Raises an error unless the answer is 200 and comes within a second, because other
-- jobs wait for this job.
create function logloom_private.canary_call(p_path text, p_key text, p_body jsonb)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status integer;
  v_content text;
begin
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '1000');
  select r.status, r.content into v_status, v_content
  from logloom_private.settings s
  cross join extensions.http(
    row(
      'POST', rtrim(s.canary_url, '/') || '/functions/v1/' || p_path,
      array[
        extensions.http_header('X-API-Key', p_key),
        extensions.http_header('Idempotency-Key', md5(p_body::text))
      ],
      'application/json', p_body::text
    )::extensions.http_request
  ) r;
  if v_status is distinct from 200 then
    raise exception '% answered %: %', p_path, v_status, left(v_content, 200);
  end if;
  return v_content::jsonb;
end;
$$;

-- Begins a round: stores its row, and creates a short-lived key of the canary's tenant. Returns
-- null if the canary is off, or if it would call another project.
create function logloom_private.begin_canary_round(out round_id uuid, out key_value text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := 'logloom-canary';
  v_key public.logloom_created_api_key;
begin
  if (select s.canary_url from logloom_private.settings s) is null
    or logloom_private.is_copied()
  then
    return;
  end if;
  if exists (select from logloom.tenant_members m where m.tenant_id = v_tenant_id) then
    raise exception 'The tenant % is reserved for the canary: remove its members', v_tenant_id;
  end if;
  delete from logloom_private.canary_rounds r where r.sent_at < now() - interval '1 day';
  -- Deletes the keys of earlier rounds, also of interrupted ones.
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

-- Looks for the round's record in one call: by a search until a search has found it, then by a
-- tail. Stores when the search and the tail first found the record.
create function logloom_private.look_for_canary(p_round_id uuid, p_key text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_searched constant boolean := (
    select r.searched_at is not null
    from logloom_private.canary_rounds r
    where r.round_id = p_round_id
  );
  v_query constant text := format('req_id:%s', p_round_id);
  v_answer constant jsonb := case
    when v_is_searched then logloom_private.canary_call(
      'logloom-read/v1/tail_logs', p_key,
      jsonb_build_object('p_query_dsl', v_query, 'p_backlog', 10)
    )
    else logloom_private.canary_call(
      'logloom-read/v1/search_logs', p_key, jsonb_build_object('p_query_dsl', v_query)
    )
  end;
begin
  update logloom_private.canary_rounds r
  set searched_at = coalesce(r.searched_at, clock_timestamp()),
    tailed_at = case when v_is_searched then clock_timestamp() end
  where r.round_id = p_round_id and jsonb_path_exists(
    v_answer, '$.logs[*] ? (@.msg == $msg)',
    jsonb_build_object('msg', 'canary ' || p_round_id)
  );
end;
$$;

-- Counts the canary's records of the last hour. A record that may still be in the queue does not
-- count as missing.
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
  -- A record whose sending got no answer may have been stored, too.
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

-- Does one step of a round, and returns the round. An error ends the round and is stored in it. A
-- timeout does not end it: the function may be starting. The step is then repeated. The idempotency
-- key makes this safe.
create function logloom_private.canary_step(p_step text, p_round_id uuid, p_key text)
returns logloom_private.canary_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  begin
    case p_step
      when 'send' then perform logloom_private.send_canary(p_round_id, p_key);
      when 'look' then perform logloom_private.look_for_canary(p_round_id, p_key);
      when 'count' then perform logloom_private.count_canaries(p_round_id, p_key);
    end case;
  exception
    when query_canceled then
      raise;
    when others then
      update logloom_private.canary_rounds r
      set error = coalesce(r.error, left(format('%s: %s', p_step, sqlerrm), 500))
      from logloom_private.settings s
      where r.round_id = p_round_id and (
        sqlerrm !~ 'timed? ?out' or r.sent_at < clock_timestamp() - s.queue_degraded_age
      );
  end;
  return (select r from logloom_private.canary_rounds r where r.round_id = p_round_id);
end;
$$;

-- Runs a step of the job run_canary. If settings.canary_url is set, a record a minute goes the
-- whole way from a sender to a reader. The key exists only in the memory of this session. If the
-- session ends, its round is deleted and does not count.
create function logloom_private.run_canary()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant text := nullif(current_setting('logloom.canary_key', true), '');
  v_round logloom_private.canary_rounds;
  v_next logloom_private.canary_rounds;
  v_begun record;
begin
  select r.* into v_round
  from logloom_private.canary_rounds r
  join logloom.api_keys k on k.key_id = r.key_id
  order by r.sent_at desc
  limit 1;
  if v_key is null or v_round.round_id is null then
    select b.* into v_begun from logloom_private.begin_canary_round() b;
    perform set_config('logloom.canary_key', v_begun.key_value, false);
    return case when v_begun.round_id is not null then interval '0' end;
  end if;
  if v_round.error is null and v_round.acknowledged_at is null then
    perform logloom_private.canary_step('send', v_round.round_id, v_key);
    return '0';
  elsif v_round.error is null and (v_round.searched_at is null or v_round.tailed_at is null)
    and v_round.sent_at > clock_timestamp() - (
      select s.queue_degraded_age from logloom_private.settings s
    )
  then
    v_next := logloom_private.canary_step('look', v_round.round_id, v_key);
    return case
      when v_next is distinct from v_round then interval '0' else interval '250 milliseconds'
    end;
  end if;
  v_next := logloom_private.canary_step('count', v_round.round_id, v_key);
  if v_next.counted_at is null and v_next.error is null then
    return '0';
  end if;
  delete from logloom.api_keys k where k.key_id = v_round.key_id;
  perform set_config('logloom.canary_key', '', false);
  return null;
end;
$$;
