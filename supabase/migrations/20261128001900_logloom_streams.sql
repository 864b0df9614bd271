-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- streams/types/log_streams.sql
create type public.logloom_log_stream as (
  stream_id uuid,
  tenant_id text,
  name text,
  query_dsl text,
  kind text,
  config jsonb,
  secrets jsonb,
  enabled boolean,
  view_id uuid,
  maker text,
  created_at timestamptz,
  updated_at timestamptz,
  status text,
  lag_seconds double precision,
  next_attempt_at timestamptz,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_status integer,
  last_error text,
  paused_at timestamptz,
  pause_reason text,
  sent_batches bigint,
  sent_records bigint,
  skipped_records bigint,
  refused_records bigint,
  test_requested_at timestamptz,
  test_finished_at timestamptz,
  test_status integer,
  test_error text
);

comment on type public.logloom_log_stream is
  'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused, disabled. '
  'lag_seconds: how long the oldest record that was not sent has waited. paused_at with '
  'pause_reason failing (no success for long), refused (the receiver takes no record) or maker '
  '(who made it is no admin any more). skipped_records: not sent, because streams passed them on '
  'three times already. test_…: of the last test; it is under way while test_finished_at is null.';

create type public.logloom_log_stream_failure as (
  failure_id uuid,
  stream_id uuid,
  kind text,
  occurred_at timestamptz,
  record_id uuid,
  record_ts timestamptz,
  records integer,
  ts_from timestamptz,
  ts_to timestamptz,
  status integer,
  error text
);

comment on type public.logloom_log_stream_failure is
  'What a stream did not send. refused: the record record_id, which the receiver does not take. '
  'rejected: it took a batch but for so many records, and does not say which. gap: what retention '
  'deleted of [ts_from, ts_to) before it was sent.';

create type public.logloom_claimed_log_stream as (
  stream_id uuid,
  claim_id uuid,
  tenant_id text
);

comment on type public.logloom_claimed_log_stream is 'A stream that has something to send now.';

create type public.logloom_stream_settlement as (
  more boolean
);

comment on type public.logloom_stream_settlement is
  'Whether the claim of a log stream goes on after a batch was settled.';

create type logloom_private.stream_batch as (
  records public.logloom_log_record[],
  end_seq bigint,
  end_id uuid
);

comment on type logloom_private.stream_batch is
  'Records after a stream''s position, in the order in which they became visible, up to a write '
  'sequence and, of that, an id (null: all of it).';

-- streams/tables/log_stream_failures.sql
create table logloom.log_stream_failures (
  failure_id uuid primary key default gen_random_uuid(),
  stream_id uuid not null references logloom.log_streams on delete cascade,
  tenant_id text not null,
  kind text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  record_id uuid,
  record_ts timestamptz,
  records integer,
  ts_from timestamptz,
  ts_to timestamptz,
  status integer,
  error text not null,
  constraint log_stream_failures_kind_is_known check (kind in ('refused', 'rejected', 'gap')),
  constraint log_stream_failures_gap_has_bounds check (
    (kind = 'gap') = (ts_from is not null and ts_to is not null)
  )
);

create index log_stream_failures_stream_id_occurred_at_idx
on logloom.log_stream_failures (stream_id, occurred_at desc, failure_id desc);
create index log_stream_failures_tenant_id_idx on logloom.log_stream_failures (tenant_id);
create index log_stream_failures_occurred_at_idx on logloom.log_stream_failures (occurred_at);
create unique index log_stream_failures_gaps_idx
on logloom.log_stream_failures (stream_id, ts_from) where kind = 'gap';

create policy log_stream_failures_select_tenant on logloom.log_stream_failures
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.log_stream_failures to authenticated, service_role;

comment on table logloom.log_stream_failures is
  'What did not arrive. refused: a record that the receiver does not take. rejected: it took a '
  'batch but for so many records, and does not say which. gap: records of [ts_from, ts_to) that '
  'retention deleted before they were sent.';

-- streams/tables/stream_round.sql
create table logloom_private.stream_round (
  singleton boolean primary key default true,
  noted_through bigint not null default 0,
  constraint stream_round_has_one_row check (singleton)
);

insert into logloom_private.stream_round default values;

comment on table logloom_private.stream_round is
  'Up to which write sequence it was noted which streams have something to send. Whoever calls a '
  'stream idle holds the row.';

-- streams/audit_log_streams.sql
-- What an audit tells of a stream: of an address the host alone, of secrets their names.
create function logloom_private.audited_stream(p_row logloom.log_streams)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'name', p_row.name, 'kind', p_row.kind, 'query_dsl', p_row.query_dsl,
    'enabled', p_row.enabled, 'view_id', p_row.view_id, 'maker', p_row.maker,
    'host', substring(
      coalesce(p_row.config ->> 'url', p_row.config ->> 'endpoint') from '^\w+://([^/?#]+)'
    ),
    'secrets', (select jsonb_agg(n order by n) from jsonb_object_keys(p_row.secrets) n),
    'pause_reason', p_row.pause_reason
  ));
end;
$$;

-- Audit of streams.
create function logloom_private.audit_log_streams()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_stream constant logloom.log_streams := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_stream.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'log_stream.created'
      when 'DELETE' then 'log_stream.deleted'
      else 'log_stream.changed'
    end,
    v_stream.stream_id::text,
    case
      when tg_op = 'UPDATE' then jsonb_build_object('name', v_stream.name)
        || logloom_private.changed_members(
          logloom_private.audited_stream(old), logloom_private.audited_stream(new)
        )
        || jsonb_build_object(
          'config_changed', old.config <> new.config, 'secrets_changed', old.secrets <> new.secrets
        )
      else logloom_private.audited_stream(v_stream)
    end
  );
  return null;
end;
$$;

create trigger audit_log_streams
after insert or delete
or update of name, query_dsl, config, enabled, view_id, paused_at on logloom.log_streams
for each row execute function logloom_private.audit_log_streams();

-- streams/checked_stream_config.sql
-- The config of a stream, in its one form: an address and what else the kind has. PT400 where a
-- member is missing, unknown or malformed.
create function logloom_private.checked_stream_config(p_kind text, p_config jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_member record;
begin
  if jsonb_typeof(p_config) is distinct from 'object' then
    perform logloom_private.refuse('streams.config_is_no_object');
  end if;
  for v_member in
    select m.name, m.pattern, m.is_needed, p_config -> m.name as value
    from logloom_private.stream_config_members() m
    where p_kind = any (m.kinds)
  loop
    if coalesce(v_member.value, 'null') = 'null' then
      if v_member.is_needed then
        perform logloom_private.refuse('streams.config_is_incomplete', v_member.name, p_kind);
      end if;
    elsif jsonb_typeof(v_member.value) <> 'string'
      or length(v_member.value #>> '{}') > 2000
      or v_member.value #>> '{}' !~ v_member.pattern
      -- A key in an address would be shown with it.
      or v_member.value #>> '{}' ~ 'll[tp]?_[0-9A-Za-z]{36}'
    then
      perform logloom_private.refuse('streams.config_is_invalid', v_member.name);
    end if;
  end loop;
  for v_member in
    select c.key as name
    from jsonb_each(p_config) c
    where c.key <> all (
      select m.name from logloom_private.stream_config_members() m where p_kind = any (m.kinds)
    )
  loop
    perform logloom_private.refuse(
      'streams.config_is_unknown', left(v_member.name, 60), p_kind,
      (
        select string_agg(m.name, ', ')
        from logloom_private.stream_config_members() m
        where p_kind = any (m.kinds)
      )
    );
  end loop;
  return jsonb_strip_nulls(p_config);
end;
$$;

-- What a config may hold, by kind.
create function logloom_private.stream_config_members()
returns table (name text, kinds text[], is_needed boolean, pattern text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- As addresses of webhooks: printable ASCII, no userinfo; plain HTTP to this machine alone.
  v_address constant text :=
    '^(https://[A-Za-z0-9[][!-~]*|http://127\.0\.0\.1(:[0-9]{1,5})?([/?#][!-~]*)?)$';
begin
  return query
  select m.name, m.kinds, m.is_needed, m.pattern
  from (
    values
      ('url', '{webhook,otlp,loki,elasticsearch,splunk_hec,datadog}'::text[], true,
        '^(?![^/]*//[^/?#]*[@\\])' || substr(v_address, 2)),
      ('index', '{elasticsearch}', true, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('index', '{splunk_hec}', false, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('tags', '{datadog}', false, '^[A-Za-z0-9_:./,-]+$'),
      ('endpoint', '{s3}', true, '^(?![^/]*//[^/?#]*[@\\])(?!.*[?#])' || substr(v_address, 2)),
      ('region', '{s3}', true, '^[a-z0-9][a-z0-9-]{0,62}$'),
      ('bucket', '{s3}', true, '^[a-z0-9][a-z0-9.-]{1,62}$'),
      ('prefix', '{s3}', false,
        '^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$'),
      ('access_key_id', '{s3}', true, '^[A-Za-z0-9_-]{3,128}$')
  ) m (name, kinds, is_needed, pattern);
end;
$$;

-- The names of the secrets that a kind has a use for.
create function logloom_private.stream_secret_names(p_kind text)
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_kind
    when 'webhook' then '{signing_secret,header.*}'::text[]
    when 'splunk_hec' then '{token,header.*}'
    when 'datadog' then '{api_key,header.*}'
    when 's3' then '{secret_access_key}'
    else '{header.*}'
  end;
end;
$$;

-- PT400 where a secret holds an API key of the tenant itself: its records would come back. The
-- function that seals a key writes its digest behind it.
create function logloom_private.refuse_own_keys(p_tenant_id text, p_secrets jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select
    from jsonb_each_text(p_secrets) s
    join logloom.api_keys k
      on k.key_digest = decode(substring(s.value from '\.([0-9a-f]{64})$'), 'hex')
    where k.tenant_id = p_tenant_id
  ) then
    perform logloom_private.refuse('streams.leads_to_itself');
  end if;
end;
$$;

-- streams/claim_log_streams.sql
-- Streams whose turn it is, while the service has room for them: the tenant with the fewest under
-- way comes next. A tenant has no more under way than stay free for others, so that one whose
-- receiver hangs neither delays them nor takes every place.
create function logloom_private.next_streams(p_limit integer)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    with under_way as (
      select s.tenant_id, count(*) as streams
      from logloom.log_streams s
      where s.claimed_until > now()
      group by s.tenant_id
    ), due as (
      select
        s.stream_id, s.next_attempt_at,
        coalesce(u.streams, 0)
          + row_number() over (partition by s.tenant_id order by s.next_attempt_at) as place
      from logloom.log_streams s
      left join under_way u on u.tenant_id = s.tenant_id
      where (s.claimed_until > now()) is not true
        and (
          s.enabled and s.paused_at is null and s.pending_since is not null
          and s.next_attempt_at <= now()
          or s.test_id is not null
        )
    ), numbered as (
      select d.*, row_number() over (order by d.place, d.next_attempt_at) as taken
      from due d
    )
    select n.stream_id
    from numbered n
    cross join logloom_private.settings c
    where n.place + n.taken
      <= c.stream_open_limit - (select coalesce(sum(u.streams), 0) from under_way u) + 1
    order by n.taken
    limit p_limit
  );
end;
$$;

-- Takes streams that have something to send, for as long as a claim lasts. All whose turn it is:
-- what is not taken would come first again. Whether they may read is asked when they do.
create function logloom_private.claim_due_streams(p_limit integer)
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

create function public.claim_log_streams(p_limit integer default null)
returns setof public.logloom_claimed_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    perform logloom_private.refuse('notifications.claim_limit_is_out_of_range');
  end if;
  return query select c.* from logloom_private.claim_due_streams(p_limit) c;
end;
$$;

comment on function public.claim_log_streams(integer) is
  'What the edge function logloom-stream calls: takes streams that are due, p_limit 1 to 100. One '
  'of which nothing is heard in time is due again. Errors: PT400.';

-- streams/create_log_stream.sql
-- Makes a stream; what public.create_log_stream answers.
create function logloom_private.make_log_stream(
  p_tenant_id text,
  p_name text,
  p_query_dsl text,
  p_kind text,
  p_config jsonb,
  p_secrets jsonb,
  p_enabled boolean,
  p_view_id uuid
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams, whose state is theirs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max integer;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_streams();
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_kind', p_kind is null);
  perform logloom_private.require_parameter('p_config', p_config is null);
  v_row.tenant_id := v_tenant_id;
  v_row.name := logloom_private.trim_space(p_name);
  v_row.kind := p_kind;
  if length(v_row.name) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  if not exists (
    select from logloom_private.stream_config_members() m where p_kind = any (m.kinds)
  ) then
    perform logloom_private.refuse('streams.kind_is_unknown');
  end if;
  v_row.query_dsl := logloom_private.checked_stream_query(v_tenant_id, p_query_dsl, p_view_id);
  v_row.config := logloom_private.checked_stream_config(p_kind, p_config);
  v_row.secrets := logloom_private.changed_secrets(
    '{}', p_secrets, logloom_private.stream_secret_names(p_kind)
  );
  perform
    logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets),
    logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_log_streams;
  if (select count(*) from logloom.log_streams s where s.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('streams.no_room', v_max::text);
  end if;
  insert into logloom.log_streams (
    tenant_id, name, query_dsl, kind, config, secrets, enabled, view_id, maker, position_seq,
    kept_day
  )
  select
    v_tenant_id, v_row.name, v_row.query_dsl, p_kind, v_row.config, v_row.secrets,
    coalesce(p_enabled, true), p_view_id, logloom_private.stream_maker(),
    logloom_private.last_write_seq() + 1,
    logloom_private.first_kept_day(v_tenant_id, logloom_private.utc_day(now()))
  returning * into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
end;
$$;

-- The query of a stream, null where it is blank: a filter that says nothing of what its view hides.
create function logloom_private.checked_stream_query(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'streams.query_has_stages'
    );
  end if;
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.scoped_query(
      logloom_private.scope_of_view(p_tenant_id, p_view_id), v_query, p_query_dsl
    );
  end if;
  return case when not v_query.blank then p_query_dsl end;
end;
$$;

create function public.create_log_stream(
  p_tenant_id text default null,
  p_name text default null,
  p_query_dsl text default null,
  p_kind text default null,
  p_config jsonb default null,
  p_secrets jsonb default null,
  p_enabled boolean default null,
  p_view_id uuid default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_log_stream(
    p_tenant_id, p_name, p_query_dsl, p_kind, p_config, p_secrets, p_enabled, p_view_id
  );
end;
$$;

comment on function
  public.create_log_stream(text, text, text, text, jsonb, jsonb, boolean, uuid)
is
  'Creates a log stream and returns it: from now on it sends the records that p_query_dsl finds (a '
  'query without stages; all by default) as they become visible. p_kind: webhook, otlp, loki, '
  'elasticsearch, splunk_hec, datadog or s3. p_config: where to, by kind. p_secrets: names and '
  'sealed texts, as POST /functions/v1/logloom-stream/v1/seal answers them. p_enabled: default '
  'true. p_view_id: the view that it reads in. p_name: 1 to 100 characters after trimming. For '
  'admins. Errors: PT400 (plan limit, too), PT401, PT403, PT404, PT409 (the name is taken).';

-- streams/cut_stream_batch.sql
-- The records of a stream after its position: those of its batch where one is under way, else the
-- next ones, as many as make one. It looks at more and more of the writer's steps at a time, and
-- ends where its time is over: what is before the end was looked at.
create function logloom_private.cut_stream_batch(
  p_stream logloom.log_streams,
  p_query logloom_private.compiled_query
)
returns logloom_private.stream_batch
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.tail_page_time from logloom_private.settings s
  );
  v_is_again constant boolean := p_stream.batch_id is not null;
  v_last constant bigint := case when v_is_again then p_stream.batch_end_seq
    else logloom_private.last_write_seq() end;
  v_limit constant integer := case when v_is_again then 1000 else p_stream.batch_limit end;
  v_first bigint := p_stream.position_seq;
  v_id uuid := p_stream.position_id;
  v_step_last bigint;
  v_steps bigint := 1;
  -- A batch that is sent again is not cut where sizes are added up in another way.
  v_bytes bigint := case when v_is_again then 1000000000 else p_stream.batch_bytes end;
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_fit integer;
  v_max_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_batch logloom_private.stream_batch;
begin
  v_batch.records := '{}';
  while v_first <= v_last loop
    v_step_last := case when v_is_again then v_last else least(v_first + v_steps - 1, v_last) end;
    execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
      || logloom_private.log_tail_sql(
        p_stream.tenant_id, p_query, v_limit + 1 - cardinality(v_batch.records), v_first, v_id,
        v_step_last, v_bytes, true
      )
      || ') r'
    into v_found, v_write_seqs;
    -- What does not fit is null, and so is all after it.
    v_fit := least(
      coalesce(array_position(v_found, null) - 1, cardinality(v_found)),
      v_limit - cardinality(v_batch.records)
    );
    v_batch.records := v_batch.records || v_found[1:v_fit];
    if v_fit < cardinality(v_found) then
      v_batch.end_seq := case when v_fit > 0 then v_write_seqs[v_fit] else v_batch.end_seq end;
      v_batch.end_id := case when v_fit > 0 then v_found[v_fit].id end;
      exit;
    end if;
    v_batch.end_seq := v_step_last;
    v_batch.end_id := null;
    v_first := v_step_last + 1;
    v_id := null;
    v_bytes := v_bytes - logloom_private.answered_bytes(v_found);
    v_steps := v_steps * 4;
    exit when v_bytes <= 0 or clock_timestamp() > v_deadline;
  end loop;
  -- What was erased since made room for what comes after the batch.
  if v_is_again
    and (v_batch.end_seq, coalesce(v_batch.end_id, v_max_id))
      > (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
  then
    v_batch.records := v_batch.records[1:(
      select count(*)
      from unnest(v_write_seqs[1:cardinality(v_batch.records)]) with ordinality w (write_seq, n)
      where (w.write_seq, v_batch.records[w.n].id)
        <= (p_stream.batch_end_seq, coalesce(p_stream.batch_end_id, v_max_id))
    )];
    v_batch.end_seq := p_stream.batch_end_seq;
    v_batch.end_id := p_stream.batch_end_id;
  end if;
  return v_batch;
end;
$$;

-- streams/delete_log_stream.sql
create function logloom_private.remove_log_stream(p_tenant_id text, p_stream_id uuid)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  delete from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

create function public.delete_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.remove_log_stream(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.delete_log_stream(uuid, text) is
  'Deletes a log stream with its failures and secrets. Returns {success}. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

-- streams/end_batch.sql
-- Moves a stream behind its batch, which is done with.
create function logloom_private.end_batch(p_stream logloom.log_streams)
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

-- Forgets where a batch ends: the next one is cut anew.
create function logloom_private.drop_batch(p_stream logloom.log_streams)
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

-- streams/get_log_stream.sql
create function public.get_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream public.logloom_log_stream;
begin
  -- First of all it asks who is calling.
  select s.* into v_stream
  from logloom_private.page_of_streams(p_tenant_id, p_stream_id, null, null) s;
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if v_stream.stream_id is null then
    perform logloom_private.refuse('streams.not_found');
  end if;
  return v_stream;
end;
$$;

comment on function public.get_log_stream(uuid, text) is
  'A log stream with its lag and the outcome of its last test. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

-- streams/list_log_stream_failures.sql
-- Failures of a stream of the tenant, newest first.
create function logloom_private.page_of_stream_failures(
  p_tenant_id text,
  p_stream_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_log_stream_failure
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after timestamptz;
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  if not exists (
    select from logloom.log_streams s
    where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
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
  from logloom_private.page_of_stream_failures(p_tenant_id, p_stream_id, p_limit, p_after) f;
end;
$$;

comment on function public.list_log_stream_failures(uuid, integer, uuid, text) is
  'What a log stream did not send, newest first: records that the receiver refused, and gaps that '
  'retention made; of the last 30 days and at most 1000. p_limit 1 to 1000 (default 100), p_after: '
  'failure_id of the last item of the page before. For admins. '
  'Errors: PT400, PT401, PT403, PT404.';

-- streams/list_log_streams.sql
-- Streams of the tenant, newest first, or the one that is named.
create function logloom_private.page_of_streams(
  p_tenant_id text,
  p_stream_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_log_stream
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams, whose secrets stand beside them
declare
  v_tenant_id constant text := logloom_private.tenant_of_streams(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'log stream', 'stream_id',
    (
      select s.created_at from logloom.log_streams s
      where s.tenant_id = v_tenant_id and s.stream_id = p_after
    )
  );
begin
  return query
  select o.*
  from logloom.log_streams s
  cross join lateral logloom_private.log_stream_of(s) o
  where s.tenant_id = v_tenant_id
    and (p_stream_id is null or s.stream_id = p_stream_id)
    and (p_after is null or (s.created_at, s.stream_id) < (v_after, p_after))
  order by s.created_at desc, s.stream_id desc
  limit v_limit;
end;
$$;

create function public.list_log_streams(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_stream
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.* from logloom_private.page_of_streams(p_tenant_id, null, p_limit, p_after) s;
end;
$$;

comment on function public.list_log_streams(text, integer, uuid) is
  'Log streams of the tenant with their lag, newest first. p_limit 1 to 1000 (default 100), '
  'p_after: stream_id of the last item of the page before. For admins. '
  'Errors: PT400, PT401, PT403.';

-- streams/log_stream_of.sql
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
    p_row.test_finished_at, p_row.test_status, p_row.test_error
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
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when not logloom_private.is_service_role() then
    logloom_private.current_user_id()
  end;
end;
$$;

-- streams/note_new_writes.sql
-- The greatest write sequence of which all records are visible.
create function logloom_private.last_write_seq()
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select coalesce(max(a.write_seq), 0) from logloom_private.log_writes a);
end;
$$;

-- Tells the streams that had nothing to send of the records that became visible since the last
-- time, once for all tenants: each asking for itself would read as often as there are streams.
create function logloom_private.note_new_writes()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $$
declare
  v_interval constant interval := (select s.stream_interval from logloom_private.settings s);
  v_from bigint;
  v_to bigint;
  v_days timestamptz[];
begin
  if not exists (select from logloom.log_streams) then
    return;
  end if;
  -- Held to the end: no stream goes idle meanwhile.
  select r.noted_through into v_from from logloom_private.stream_round r for update;
  v_to := logloom_private.last_write_seq();
  if v_to <= v_from then
    return;
  end if;
  select array_agg(distinct logloom_private.day_start(a.day)) into v_days
  from logloom_private.log_writes a
  where a.write_seq > v_from;
  -- Constants, so that the days alone are opened that have something new.
  execute format(
    'update logloom.log_streams s set pending_since = now(), position_seq = '
      'greatest(s.position_seq, %1$s), position_id = case when s.position_seq >= %1$s '
      'then s.position_id end, next_attempt_at = now() + case when n.records >= s.batch_limit '
      'then interval ''0'' else %3$L::interval end '
      'from (select l.tenant_id, count(*) as records from logloom.logs l '
      'where l.write_seq between %1$s and %2$s and (%4$s) and l.tenant_id in ('
      'select t.tenant_id from logloom.log_streams t where t.pending_since is null) '
      'group by l.tenant_id) n '
      'where s.tenant_id = n.tenant_id and s.pending_since is null and s.enabled '
      'and s.paused_at is null',
    v_from + 1, v_to, v_interval,
    (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d, d + interval '24 hours'),
        ' or '
      )
      from unnest(v_days) d
    )
  );
  update logloom_private.stream_round set noted_through = v_to where singleton;
end;
$$;

-- streams/note_stream_gaps.sql
-- Notes that a stream did not send what retention takes of a day of its tenant, where anything of
-- that was waiting. Called before it is out of reach.
create function logloom_private.note_gap(p_stream logloom.log_streams, p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_is_waiting boolean;
begin
  execute format(
    'select exists (select %s and (l.write_seq > %s or l.write_seq = %s and l.id > %L::uuid))',
    logloom_private.tenant_rows_sql(p_stream.tenant_id, v_from, v_to, 'true'),
    p_stream.position_seq - (p_stream.position_id is null)::integer, p_stream.position_seq,
    p_stream.position_id
  )
  into v_is_waiting;
  if v_is_waiting or exists (
    select
    from logloom_private.blocks b
    where b.tenant_id = p_stream.tenant_id and b.last_ts >= v_from and b.first_ts < v_to
      and b.last_write_seq >= p_stream.position_seq
  ) then
    insert into logloom.log_stream_failures (
      stream_id, tenant_id, kind, ts_from, ts_to, error
    )
    values (
      p_stream.stream_id, p_stream.tenant_id, 'gap', v_from, v_to,
      'Retention deleted records of this day before they were sent'
    )
    on conflict do nothing;
  end if;
end;
$$;

-- The same for the days that the tenant does not keep any more since the stream read last.
create function logloom_private.note_gaps_of_stream(p_stream logloom.log_streams)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first_kept constant date := logloom_private.first_kept_day(
    p_stream.tenant_id, logloom_private.utc_day(now())
  );
begin
  if p_stream.kept_day = v_first_kept then
    return;
  end if;
  perform logloom_private.note_gap(p_stream, d::date)
  from generate_series(p_stream.kept_day, v_first_kept - 1, interval '1 day') d;
  update logloom.log_streams s set kept_day = v_first_kept where s.stream_id = p_stream.stream_id;
end;
$$;

-- The same for a day that retention works at, of these tenants, or of all that have it where a
-- partition is dropped.
create function logloom_private.note_stream_gaps(
  p_day date,
  p_today date,
  p_tenant_ids text[] default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.note_gap(s, p_day)
  from logloom.log_streams s
  where s.position_seq <= logloom_private.last_write_seq()
    and (
      s.tenant_id = any (p_tenant_ids)
      or p_tenant_ids is null
      and p_day < logloom_private.first_kept_day(s.tenant_id, p_today)
    );
end;
$$;

-- streams/pause_stream.sql
-- Stops a stream where it is, until an admin enables it again. Owners learn of it by mail.
create function logloom_private.pause_stream(p_stream logloom.log_streams, p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set paused_at = now(),
    pause_reason = p_reason,
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id and s.paused_at is null;
  if not found then
    return;
  end if;
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  select
    p_stream.tenant_id, p_stream.stream_id, 'stream', 'email', u.email,
    jsonb_build_object(
      'type', 'stream.paused', 'timestamp', now(),
      'data', jsonb_build_object(
        'stream_id', p_stream.stream_id, 'name', p_stream.name, 'kind', p_stream.kind,
        'reason', p_reason, 'failing_since', p_stream.failing_since,
        'last_error', p_stream.last_error
      )
    )::text,
    now() + c.notification_lifetime
  from logloom_private.settings c
  cross join logloom_private.auth_users_by_id(
    array(
      select m.user_id from logloom.tenant_members m
      where m.tenant_id = p_stream.tenant_id and m.role = 'owner'
      order by m.created_at
      limit 20
    )
  ) u
  where u.email is not null;
end;
$$;

-- streams/read_log_stream_batch.sql
-- SQL: a record of the alias l as it is sent: JSON without what it does not have, id and ts first.
create function logloom_private.sent_record_sql()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'concat(''{"id":"'', l.id, ''","ts":'', to_json(l.ts)' || (
    select string_agg(
      format(
        ', case when l.%1$I is not null then '',"%1$s":'' || to_json(l.%1$I)::text end', f.name
      ),
      '' order by f.shown
    )
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name not in ('id', 'ts', 'tenant_id')
  ) || ', ''}'')';
end;
$$;

-- The records of a batch, each in a line, so that who sends them need not parse them.
create function logloom_private.sent_records(p_records public.logloom_log_record[])
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

-- The JSON of a batch: in its first line what is known of it, then its records.
create function logloom_private.batch_text(
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

-- Lets go of a stream. p_end: it was looked at to here, and nothing was found; then it is idle
-- unless something was noted since.
create function logloom_private.release_stream(
  p_stream logloom.log_streams,
  p_end bigint default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_noted bigint;
begin
  if p_end is not null then
    select r.noted_through into v_noted from logloom_private.stream_round r for share;
  end if;
  update logloom.log_streams s
  set claim_id = null,
    claimed_at = null,
    claimed_until = null,
    pending_since = case when v_noted <= p_end then null
      when v_noted > p_end then now() else s.pending_since end,
    next_attempt_at = case when p_end is null then s.next_attempt_at
      else now() + (select c.stream_interval from logloom_private.settings c) end
  where s.stream_id = p_stream.stream_id;
end;
$$;

-- Whether a stream may still read: its tenant stays, and the user by whose rights it reads is an
-- admin of it.
create function logloom_private.stream_may_read(p_stream logloom.log_streams)
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

-- The next batch of a claimed stream, or the one under way; null where it has none, or had its
-- turn, and is let go. One that may not read any more pauses; a test reads nothing.
create function logloom_private.next_stream_batch(p_stream_id uuid, p_claim_id uuid)
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

create function public.read_log_stream_batch(
  p_stream_id uuid default null,
  p_claim_id uuid default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.next_stream_batch(p_stream_id, p_claim_id);
end;
$$;

comment on function public.read_log_stream_batch(uuid, uuid) is
  'What the edge function logloom-stream calls: the batch that a claimed stream has to send, '
  '{batch, records}, each record in a line of its own; null where there is none, and the claim is '
  'over. Errors: PT400.';

-- streams/require_streams.sql
-- Seam: refuses to make a log stream where records are not kept as streams read them.
create function logloom_private.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  null;
end;
$$;

-- streams/send_log_streams.sql
-- Wakes the edge function logloom-stream when a stream has something to send.
create function logloom_private.send_log_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.note_new_writes();
  if cardinality(logloom_private.next_streams(1)) > 0 then
    perform logloom_private.wake_function('logloom-stream');
  end if;
end;
$$;

-- streams/settle_log_stream_batch.sql
-- How long a stream waits after so many attempts: back-off with jitter, at least what the receiver
-- asks.
create function logloom_private.stream_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select greatest(
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from c.stream_retry_base)
          * power(c.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from c.stream_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), c.stream_retry_max)
    )
    from logloom_private.settings c
  );
end;
$$;

-- Notes that a batch did not arrive, and when it is tried again; after long without success the
-- stream pauses.
create function logloom_private.fail_stream(
  p_stream logloom.log_streams,
  p_status integer,
  p_error text,
  p_retry_after integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.log_streams s
  set attempts = s.attempts + 1,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - (
    select c.stream_gives_up_after from logloom_private.settings c
  ) then
    perform logloom_private.pause_stream(p_stream, 'failing');
  end if;
end;
$$;

-- Sets records aside that the receiver does not take. The newest thousand failures of a stream are
-- kept.
create function logloom_private.note_refused_records(
  p_stream logloom.log_streams,
  p_refused jsonb,
  p_rejected integer,
  p_status integer,
  p_error text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.log_stream_failures (
    stream_id, tenant_id, kind, record_id, record_ts, records, status, error
  )
  select
    p_stream.stream_id, p_stream.tenant_id, 'refused', r.id, r.ts, 1,
    coalesce(r.status, p_status), coalesce('HTTP ' || r.status, p_error, 'Refused')
  from jsonb_to_recordset(p_refused) r (id uuid, ts timestamptz, status integer)
  union all
  select
    p_stream.stream_id, p_stream.tenant_id, 'rejected', null, null, p_rejected, p_status,
    'The receiver took the batch without some of its records'
  where p_rejected > 0;
  delete from logloom.log_stream_failures f
  where f.failure_id in (
    select o.failure_id
    from logloom.log_stream_failures o
    where o.stream_id = p_stream.stream_id
    order by o.occurred_at desc, o.failure_id desc
    offset 1000
  );
end;
$$;

-- Ends a batch of which the receiver took so many records. That it took none is no success, and
-- where it refuses a hundred in a row it is not the records: the stream pauses.
create function logloom_private.end_answered_batch(
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

-- A batch that arrived, but for p_refused and p_rejected of its records.
create function logloom_private.settle_delivered(
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

-- A batch that the receiver refuses: half of it is tried, down to one record, which is set aside.
create function logloom_private.settle_refused(
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

-- Notes what came of a batch. That it arrived holds whoever says so; that it did not only while
-- nobody else tries. Whether the claim goes on.
create function logloom_private.settle_stream_batch(
  p_stream_id uuid,
  p_claim_id uuid,
  p_batch_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer,
  p_refused jsonb,
  p_rejected integer,
  p_secrets jsonb,
  p_release boolean
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_stream logloom.log_streams;
  v_error constant text := left(p_error, 500);
begin
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id
  for no key update;
  if not found then
    return false;
  end if;
  if p_secrets is not null and v_stream.claim_id = p_claim_id then
    update logloom.log_streams s
    set secrets = logloom_private.changed_secrets(
      s.secrets, p_secrets, logloom_private.stream_secret_names(s.kind)
    )
    where s.stream_id = p_stream_id;
  end if;
  if v_stream.test_id = p_batch_id then
    update logloom.log_streams s
    set test_id = null, test_finished_at = now(), test_status = p_status,
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected);
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused);
  else
    perform logloom_private.fail_stream(v_stream, p_status, v_error, p_retry_after);
  end if;
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id;
  if found and p_release then
    perform logloom_private.release_stream(v_stream);
  end if;
  return v_stream.claim_id is not null and p_release is not true;
end;
$$;

create function public.settle_log_stream_batch(
  p_stream_id uuid default null,
  p_claim_id uuid default null,
  p_batch_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null,
  p_refused jsonb default null,
  p_rejected integer default null,
  p_secrets jsonb default null,
  p_release boolean default null
)
returns public.logloom_stream_settlement
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_batch_id', p_batch_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'refused') then
    perform logloom_private.refuse('streams.outcome_is_unknown');
  end if;
  return row(
    logloom_private.settle_stream_batch(
      p_stream_id, p_claim_id, p_batch_id, p_outcome, p_status, p_error, p_retry_after, p_refused,
      p_rejected, p_secrets, p_release
    )
  )::public.logloom_stream_settlement;
end;
$$;

comment on function public.settle_log_stream_batch(
  uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean
) is
  'What the edge function logloom-stream calls after an attempt. p_outcome: delivered, but for '
  'p_refused ([{id, ts, status}]) and p_rejected further records; retry after a back-off, or '
  'p_retry_after seconds where that is longer; refused, when half of it is tried. p_secrets: the '
  'secrets, sealed by the current key. p_release: lets go of the stream. Returns {more}: whether '
  'the claim goes on. Errors: PT400.';

-- streams/stream_health.sql
-- What health tells of streams: degraded while one has been paused lately because its receiver did
-- not take anything for long, or many wait. Of whose they are it says nothing.
create function logloom_private.stream_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_paused bigint;
  v_lag interval;
begin
  select c.* into v_settings from logloom_private.settings c;
  select
    count(*) filter (
      where s.pause_reason = 'failing' and s.paused_at > p_now - v_settings.stream_pause_shown
    ),
    -- Of those that their receiver does not hold up.
    max(p_now - s.pending_since) filter (
      where s.enabled and s.paused_at is null and s.failing_since is null
    )
  into v_paused, v_lag
  from logloom.log_streams s;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_paused > 0 then
        format('%s log streams were paused after long without success', v_paused)
      end,
      case when v_lag > v_settings.stream_lag_limit then
        format('a log stream is %s behind', justify_interval(date_trunc('second', v_lag)))
      end
    )
  ) || jsonb_build_object(
    'paused', v_paused,
    'lag_seconds', coalesce(round(extract(epoch from v_lag), 3), 0)
  );
end;
$$;

-- streams/stream_query.sql
-- What a stream reads: the records that its query finds in its view, as that is now. Where the view
-- hides how often streams passed a record on, those that were three times are left out here. PT403
-- or PT400 where view and query do not hold any more.
create function logloom_private.stream_query(p_stream logloom.log_streams)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.scope_of_view(p_stream.tenant_id, p_stream.view_id);
  v_hops jsonb;
begin
  if logloom_private.is_hidden('attrs.logloom_hops', v_scope.hidden_fields) then
    v_hops := (logloom_private.compile_query('-@logloom_hops:>=3')).tree;
    v_scope.filter := case when v_scope.filter is null then v_hops else jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_hops)
    ) end;
  end if;
  return logloom_private.scoped_query(
    v_scope, logloom_private.compile_query(p_stream.query_dsl, now()), p_stream.query_dsl
  );
end;
$$;

-- How often streams passed a record on, as our receivers note it; 0 where nobody did.
create function logloom_private.record_hops(p_attrs jsonb)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(p_attrs -> 'logloom_hops') = 'number'
    then greatest(least((p_attrs ->> 'logloom_hops')::numeric, 99), 0)::integer else 0 end;
end;
$$;

-- streams/test_log_stream.sql
-- Has a record that says so be sent once, whether the stream sends or not.
create function logloom_private.request_stream_test(p_tenant_id text, p_stream_id uuid)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval interval;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  select c.notification_test_interval into v_interval from logloom_private.settings c;
  if v_row.test_requested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_row.test_requested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$$;

create function public.test_log_stream(
  p_stream_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.request_stream_test(p_tenant_id, p_stream_id);
end;
$$;

comment on function public.test_log_stream(uuid, text) is
  'Sends one record that says that it is a test, within seconds, also where the stream is paused '
  'or disabled; get_log_stream tells the outcome. For admins. '
  'Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';

-- streams/update_log_stream.sql
-- Changes a stream; what public.update_log_stream answers. Whoever enables it is its maker from
-- then on, and it begins anew to try. Another query or view cuts another batch.
create function logloom_private.change_log_stream(
  p_tenant_id text,
  p_stream_id uuid,
  p_name text,
  p_query_dsl text,
  p_config jsonb,
  p_secrets jsonb,
  p_enabled boolean,
  p_view_id uuid
)
returns public.logloom_log_stream
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes streams, whose state is theirs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.log_streams;
  v_query_dsl text;
  v_is_other boolean;
  v_is_same boolean;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  if length(logloom_private.trim_space(p_name)) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  v_query_dsl := case when num_nonnulls(p_query_dsl, p_view_id) = 0 then v_row.query_dsl
    else logloom_private.checked_stream_query(
      v_tenant_id, coalesce(p_query_dsl, v_row.query_dsl), coalesce(p_view_id, v_row.view_id)
    ) end;
  v_is_other := (v_query_dsl, coalesce(p_view_id, v_row.view_id))
    is distinct from (v_row.query_dsl, v_row.view_id);
  v_is_same := not v_is_other and num_nonnulls(p_config, p_secrets) = 0;
  v_row.config := case when p_config is null then v_row.config
    else logloom_private.checked_stream_config(v_row.kind, p_config) end;
  v_row.secrets := logloom_private.changed_secrets(
    v_row.secrets, p_secrets, logloom_private.stream_secret_names(v_row.kind)
  );
  perform logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets);
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_row.config,
    secrets = v_row.secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.stream_maker() else s.maker end,
    paused_at = case when p_enabled is null then s.paused_at end,
    pause_reason = case when p_enabled is null then s.pause_reason end,
    failing_since = case when p_enabled is null then s.failing_since end,
    attempts = case when p_enabled is null then s.attempts else 0 end,
    refused_in_a_row = case when p_enabled is null then s.refused_in_a_row else 0 end,
    -- Nobody noted what came meanwhile.
    pending_since = case when p_enabled then coalesce(s.pending_since, now())
      else s.pending_since end,
    -- Whoever sends with what was before does not settle for it, nor seals it again.
    claim_id = case when v_is_same then s.claim_id end,
    claimed_at = case when v_is_same then s.claimed_at end,
    claimed_until = case when v_is_same then s.claimed_until end,
    -- What is changed is tried at once, and with it sizes that a receiver did not take.
    next_attempt_at = now(),
    batch_bytes = case when p_config is null then s.batch_bytes else 1000000 end,
    batch_id = case when not v_is_other then s.batch_id end,
    batch_made_at = case when not v_is_other then s.batch_made_at end,
    batch_end_seq = case when not v_is_other then s.batch_end_seq end,
    batch_end_id = case when not v_is_other then s.batch_end_id end,
    batch_records = case when not v_is_other then s.batch_records end,
    batch_skipped = case when not v_is_other then s.batch_skipped end
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
end;
$$;

create function public.update_log_stream(
  p_stream_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_config jsonb default null,
  p_secrets jsonb default null,
  p_enabled boolean default null,
  p_view_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_log_stream
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_log_stream(
    p_tenant_id, p_stream_id, p_name, p_query_dsl, p_config, p_secrets, p_enabled, p_view_id
  );
end;
$$;

comment on function
  public.update_log_stream(uuid, text, text, jsonb, jsonb, boolean, uuid, text)
is
  'Changes what is given and returns the log stream. p_config is replaced as a whole, of p_secrets '
  'each member, null takes one away. An empty p_query_dsl sends all records. p_enabled true also '
  'ends a pause, and the caller is its maker from then on: it goes on where it was. For admins. '
  'Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

select logloom_private.finish_migration();
