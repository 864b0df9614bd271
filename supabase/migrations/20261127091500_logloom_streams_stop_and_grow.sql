-- A stream pauses where its maker was removed or its receiver takes nothing. Sizes that a receiver
-- did not take grow again, and headers that are ours to write cannot be set.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  alter table logloom.log_streams add column batch_size integer;
  perform set_config('lock_timeout', '0', true);
end;
$$;

drop function logloom_private.stream_maker_is_there(logloom.log_streams);
drop function logloom_private.batch_text(
  logloom.log_streams, public.logloom_log_record[], integer, boolean
);

create or replace function logloom_private.claim_due_streams(p_limit integer)
returns setof public.logloom_claimed_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or writes streams
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('streams'), 0);
  return query
  with due as (
    select s.stream_id
    from logloom.log_streams s
    where s.stream_id = any (logloom_private.next_streams(p_limit))
    for no key update skip locked
  )
  update logloom.log_streams s
  set claim_id = gen_random_uuid(),
    claimed_at = now(),
    claimed_until = now() + c.stream_claim_lifetime
  from logloom_private.settings c
  cross join due d
  where s.stream_id = d.stream_id
  returning s.stream_id, s.claim_id, s.tenant_id;
end;
$$;

create or replace function logloom_private.stream_may_read(p_stream logloom.log_streams)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not logloom_private.is_being_deleted(p_stream.tenant_id)
    and (
      p_stream.maker is null
      -- Without a row only their next token would say whether they still have the role.
      or coalesce(
        logloom_private.acting_role(p_stream.tenant_id, p_stream.maker) in ('admin', 'owner'),
        (select s.roles_from_token from logloom_private.settings s)
      )
    );
end;
$$;

create or replace function logloom_private.sent_records(p_records public.logloom_log_record[])
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_records text;
begin
  execute format(
    'select string_agg(%s, e'',\n'' order by l.n) from unnest($1) with ordinality l (%s, n)',
    logloom_private.sent_record_sql(),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_records
  using p_records;
  return v_records;
end;
$$;

create or replace function logloom_private.batch_text(
  p_stream logloom.log_streams,
  p_records text,
  p_count integer,
  p_hops integer,
  p_is_test boolean
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  return '{"batch":' || json_build_object(
    'stream_id', p_stream.stream_id, 'tenant_id', p_stream.tenant_id, 'kind', p_stream.kind,
    'config', p_stream.config, 'secrets', p_stream.secrets,
    'batch_id', case when p_is_test then p_stream.test_id else p_stream.batch_id end,
    'made_at', case when p_is_test then p_stream.test_requested_at
      else p_stream.batch_made_at end,
    'attempt', case when p_is_test then 0 else p_stream.attempts end,
    'is_test', p_is_test,
    'hops', p_hops,
    'records', p_count
  )::text || e',"records":[\n' || p_records || e'\n]}';
end;
$$;

create or replace function logloom_private.next_stream_batch(p_stream_id uuid, p_claim_id uuid)
returns json
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams or what they send
declare
  v_settings logloom_private.settings;
  v_stream logloom.log_streams;
  v_query logloom_private.compiled_query;
  v_test public.logloom_log_record;
  v_batch logloom_private.stream_batch;
  v_found integer;
  v_records text;
begin
  select c.* into v_settings from logloom_private.settings c;
  update logloom.log_streams s
  set claimed_until = now() + v_settings.stream_claim_lifetime
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id
  returning s.* into v_stream;
  if not found then
    return null;
  elsif v_stream.test_id is not null then
    v_test.id := v_stream.test_id;
    v_test.ts := v_stream.test_requested_at;
    v_test.level := 'info';
    v_test.service := 'logloom';
    v_test.msg := 'Test of the log stream ' || v_stream.name;
    return logloom_private.batch_text(
      v_stream, logloom_private.sent_records(array[v_test]), 1, 1, true
    );
  elsif not v_stream.enabled or v_stream.paused_at is not null
    or v_stream.pending_since is null or v_stream.next_attempt_at > now()
    or v_stream.claimed_at < now() - v_settings.stream_turn
  then
    perform logloom_private.release_stream(v_stream);
    return null;
  elsif not logloom_private.stream_may_read(v_stream) then
    perform logloom_private.pause_stream(v_stream, 'maker');
    return null;
  end if;
  perform logloom_private.note_gaps_of_stream(v_stream);
  v_query := logloom_private.stream_query(v_stream);
  v_batch := logloom_private.cut_stream_batch(v_stream, v_query);
  v_batch.end_seq := coalesce(v_batch.end_seq, v_stream.position_seq - 1);
  v_found := cardinality(v_batch.records);
  v_batch.records := array(
    select v_batch.records[n]
    from generate_subscripts(v_batch.records, 1) n
    where logloom_private.record_hops((v_batch.records[n]).attrs) < 3
    order by n
  );
  v_records := logloom_private.sent_records(v_batch.records);
  update logloom.log_streams s
  -- Another end is another batch: the view may have changed.
  set batch_id = case
      when (s.batch_end_seq, s.batch_end_id) is not distinct from (v_batch.end_seq, v_batch.end_id)
        and s.batch_id is not null then s.batch_id
      else gen_random_uuid()
    end,
    batch_made_at = coalesce(s.batch_made_at, now()),
    batch_end_seq = v_batch.end_seq,
    batch_end_id = v_batch.end_id,
    batch_last_received_at = v_batch.records[cardinality(v_batch.records)].received_at,
    batch_records = cardinality(v_batch.records),
    batch_skipped = v_found - cardinality(v_batch.records),
    batch_size = octet_length(v_records)
  where s.stream_id = p_stream_id
  returning s.* into v_stream;
  if v_batch.records <> '{}' then
    return logloom_private.batch_text(
      v_stream, v_records, v_stream.batch_records,
      case
        when logloom_private.is_hidden('attrs.logloom_hops', v_query.hidden_fields) then 3
        else 1 + (
          select max(logloom_private.record_hops(r.attrs)) from unnest(v_batch.records) r
        )
      end,
      false
    );
  end if;
  v_stream := logloom_private.end_batch(v_stream);
  perform logloom_private.release_stream(
    v_stream,
    -- Otherwise there is more to look at.
    case when v_batch.end_seq >= logloom_private.last_write_seq() and v_batch.end_id is null
      then v_batch.end_seq end
  );
  return null;
exception when sqlstate 'PT403' or sqlstate 'PT400' then
  -- The view is gone or broken, or the query names what it hides now.
  perform logloom_private.fail_stream(v_stream, null, 'The query cannot be read in its view', null);
  return null;
when query_canceled or others then
  perform logloom_private.fail_stream(
    v_stream, null,
    case sqlstate when '57014' then 'Reading took too long'
      else 'Reading failed with error ' || sqlstate end,
    null
  );
  return null;
end;
$$;

create or replace function logloom_private.end_answered_batch(
  p_stream logloom.log_streams,
  p_took integer,
  p_status integer,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused constant integer := p_stream.batch_records - p_took;
  v_was_all constant boolean := p_stream.batch_end_id is null
    and p_stream.batch_end_seq >= logloom_private.last_write_seq();
begin
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set sent_records = s.sent_records + p_took,
    refused_records = s.refused_records + v_refused,
    refused_in_a_row = case when p_took > 0 then 0 else s.refused_in_a_row + v_refused end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_took > 0 then
    update logloom.log_streams s
    set sent_batches = s.sent_batches + 1,
      batch_limit = least(s.batch_limit * 2, 1000),
      -- Doubled, every other batch would be too large again.
      batch_bytes = least(s.batch_bytes + s.batch_bytes / 10, 1000000),
      failing_since = null,
      last_success_at = now()
    where s.stream_id = p_stream.stream_id;
  elsif p_stream.refused_in_a_row >= 100 then
    perform logloom_private.pause_stream(p_stream, 'refused');
  end if;
  if v_was_all then
    perform logloom_private.release_stream(p_stream, p_stream.position_seq - 1);
  end if;
end;
$$;

create or replace function logloom_private.settle_delivered(
  p_stream logloom.log_streams,
  p_status integer,
  p_refused jsonb,
  p_rejected integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_took constant integer := greatest(
    p_stream.batch_records - coalesce(jsonb_array_length(p_refused), 0) - coalesce(p_rejected, 0), 0
  );
begin
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  perform logloom_private.end_answered_batch(
    p_stream, v_took, p_status,
    case when v_took = 0 then 'The receiver took none of the records' end
  );
end;
$$;

create or replace function logloom_private.settle_refused(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_refused jsonb
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    -- One record is as large as it is, however small batches are.
    batch_bytes = case when p_status = 413 and s.batch_records > 1
      then greatest(least(s.batch_bytes, s.batch_size / 2), 10000) else s.batch_bytes end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
  else
    perform
      logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error),
      logloom_private.end_answered_batch(p_stream, 0, p_status, p_error);
  end if;
end;
$$;

create or replace function logloom_private.end_batch(p_stream logloom.log_streams)
returns logloom.log_streams
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set position_seq = case when s.batch_end_id is null then s.batch_end_seq + 1
      else s.batch_end_seq end,
    position_id = s.batch_end_id,
    skipped_records = s.skipped_records + s.batch_skipped,
    pending_since = case when s.pending_since is not null then
      greatest(s.pending_since, s.batch_last_received_at) end,
    batch_id = null,
    batch_made_at = null,
    batch_end_seq = null,
    batch_end_id = null,
    batch_last_received_at = null,
    batch_records = null,
    batch_skipped = null,
    batch_size = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  return p_stream;
end;
$$;

create or replace function logloom_private.drop_batch(p_stream logloom.log_streams)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set batch_id = null, batch_made_at = null, batch_end_seq = null, batch_end_id = null,
    batch_last_received_at = null, batch_records = null, batch_skipped = null,
    batch_size = null
  where s.stream_id = p_stream.stream_id;
end;
$$;

create or replace function logloom_private.changed_secrets(
  p_current jsonb,
  p_secrets jsonb,
  p_names text[]
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_header constant text := '^header\.(?!(user-agent|content-type|idempotency-key|'
    'logloom-stream-.*|webhook-(id|timestamp|signature))$)[a-z][a-z0-9-]{0,90}$';
  v_secret record;
begin
  if p_secrets is null then
    return p_current;
  elsif jsonb_typeof(p_secrets) <> 'object' or octet_length(p_secrets::text) > 200000 then
    perform logloom_private.refuse('parameters.secrets_are_invalid');
  end if;
  for v_secret in select s.key as name, s.value from jsonb_each(p_secrets) s loop
    if v_secret.name <> all (p_names)
      and not ('header.*' = any (p_names) and v_secret.name ~ v_header)
    then
      perform logloom_private.refuse(
        'parameters.secret_is_unknown', left(v_secret.name, 60), array_to_string(p_names, ', ')
      );
    elsif v_secret.value <> 'null' and (
      jsonb_typeof(v_secret.value) <> 'string'
      or length(v_secret.value #>> '{}') > 24000
      or v_secret.value #>> '{}' !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}(\.[0-9a-f]{64})?$'
    ) then
      perform logloom_private.refuse('parameters.secret_is_not_sealed', v_secret.name);
    end if;
  end loop;
  return jsonb_strip_nulls(p_current || p_secrets);
end;
$$;

create or replace function public.seal_alert_secret(
  p_rule_id uuid default null,
  p_digest text default null,
  p_sealed text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  perform logloom_private.require_parameter('p_digest', p_digest is null);
  perform logloom_private.require_parameter('p_sealed', p_sealed is null);
  if p_sealed !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}(\.[0-9a-f]{64})?$' then
    perform logloom_private.refuse('parameters.secret_is_not_sealed', 'p_sealed');
  end if;
  perform logloom_private.put_sealed(p_rule_id, p_digest, p_sealed);
  return row(true)::public.logloom_success;
end;
$$;

create or replace function logloom_private.parameters_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.*
  from (
    values
    ('parameters.missing', 400, 'Missing required parameter: %s', 'Send %s in the JSON body.',
      'A required parameter is left out or null.'),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_after for more.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      'The list has no such item: `p_after` is the id of the last item of the page before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      '`p_ts_from` or `p_ts_to` is neither ISO 8601 nor `now-24h` or the like.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."} with what POST /functions/v1/logloom-stream/v1/seal answers for a '
        'log stream, logloom-notify/v1/seal for an alert rule, or null to take one away.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: no secret is called %s here',
      'Allowed: %2$s.',
      'The receiver of this kind has no use for it, or it is a header that each batch has.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it by POST /functions/v1/logloom-stream/v1/seal for a log stream, '
        'logloom-notify/v1/seal for an alert rule. If what you sent was the secret itself, '
        'replace it: logs of the database may hold it now.',
      'The database takes no secret in plain text.')
  ) e (name, status, message, hint, explanation);
end;
$$;

comment on column logloom.log_streams.batch_bytes is
  'Bytes of the next batch at most: half of one that was too large for the receiver, and a tenth '
  'more for each that it takes.';

comment on column logloom.log_streams.batch_size is
  'Bytes of the batch under way, as it was read last.';

-- Such headers were sent beside the batch's own. Sealed anew they would be refused.
update logloom.log_streams s
set secrets = s.secrets - o.names
from (
  select t.stream_id, array_agg(n.name) as names
  from logloom.log_streams t
  cross join jsonb_object_keys(t.secrets) n (name)
  where n.name ~ '^header\.(user-agent|content-type|idempotency-key|logloom-stream-.*|'
    'webhook-(id|timestamp|signature))$'
  group by t.stream_id
) o
where s.stream_id = o.stream_id;

select logloom_private.finish_migration();
