-- Rooms, privileges, settings, and who is calling. Everything later builds on these.

create schema if not exists app;
create schema if not exists private;
create schema if not exists partman;

create extension if not exists pgcrypto with schema extensions;
create extension if not exists http with schema extensions;
create extension if not exists pg_partman with schema partman;
create extension if not exists pg_cron;

comment on schema app is 'Tables that tenants own, each behind row-level security.';
comment on schema private is 'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema app, private from public;
grant usage on schema app to authenticated, service_role;
-- The pre-request check runs as the role of the request, so each role must reach its schema.
grant usage on schema private to anon, authenticated, service_role;

-- A function is reachable only where a later grant says so. Supabase's own defaults grant
-- everything in public to the API roles; those are taken back here, before any function exists.
alter default privileges revoke execute on functions from public;
alter default privileges in schema public
  revoke execute on functions from public, anon, authenticated, service_role;
alter default privileges in schema public
  revoke all on tables from public, anon, authenticated, service_role;
alter default privileges in schema public
  revoke all on sequences from public, anon, authenticated, service_role;

create table private.settings (
  singleton boolean primary key default true,
  queue_degraded_events bigint not null default 100000,
  queue_degraded_age interval not null default '30 seconds',
  queue_unhealthy_age interval not null default '600 seconds',
  queue_hard_limit_bytes bigint not null default 8589934592,
  writer_degraded_silence interval not null default '60 seconds',
  writer_unhealthy_silence interval not null default '300 seconds',
  writer_run_budget interval not null default '900 milliseconds',
  writer_step_events integer not null default 20000,
  writer_step_batches integer not null default 5000,
  writer_flip_lock_timeout interval not null default '200 milliseconds',
  writer_truncate_lock_timeout interval not null default '50 milliseconds',
  writer_truncate_events bigint not null default 20000,
  writer_truncate_age interval not null default '60 seconds',
  writer_guard_silence interval not null default '10 seconds',
  rate_hold_max interval not null default '3 seconds',
  ingest_future_limit interval not null default '24 hours',
  idempotency_key_lifetime interval not null default '24 hours',
  partition_days_ahead integer not null default 7,
  job_history_lifetime interval not null default '1 hour',
  job_failure_lifetime interval not null default '7 days',
  deletion_batch_records integer not null default 10000,
  deletion_pause interval not null default '50 milliseconds',
  partition_drop_lock_timeout interval not null default '200 milliseconds',
  partition_drop_attempts integer not null default 30,
  audit_lifetime interval not null default '400 days',
  list_limit_default integer not null default 100,
  list_limit_max integer not null default 1000,
  constraint settings_has_one_row check (singleton)
);
insert into private.settings default values;
alter table private.settings enable row level security;
alter table private.settings force row level security;

comment on table private.settings is
  'Every threshold and limit that is not part of a plan, in one row. Read where it is enforced.';
comment on column private.settings.queue_degraded_events is 'Health: degraded above this depth.';
comment on column private.settings.queue_degraded_age is
  'Health: degraded when the oldest queued event is older.';
comment on column private.settings.queue_unhealthy_age is
  'Health: unhealthy when the oldest queued event is older.';
comment on column private.settings.queue_hard_limit_bytes is
  'Ingest answers 503 while the slots that are filled and moved take more bytes on disk.';
comment on column private.settings.writer_degraded_silence is
  'Health: degraded when no run of the writer succeeded for so long.';
comment on column private.settings.writer_unhealthy_silence is
  'Health: unhealthy when no run of the writer succeeded for so long.';
comment on column private.settings.writer_run_budget is
  'A run of the writer starts no further step after this time.';
comment on column private.settings.writer_step_events is
  'Events that one step (one transaction) moves. A kill repeats at most one step.';
comment on column private.settings.writer_step_batches is 'Batches that one step moves at most.';
comment on column private.settings.writer_flip_lock_timeout is
  'How long a flip of the open slot waits for enqueues in flight. Then a later run does it.';
comment on column private.settings.writer_truncate_lock_timeout is
  'How long emptying a moved slot waits for readers before it leaves it to a later run.';
comment on column private.settings.writer_truncate_events is
  'A moved slot is emptied once it holds this many moved events …';
comment on column private.settings.writer_truncate_age is
  '… or once it was not emptied for so long.';
comment on column private.settings.writer_guard_silence is
  'When no run of the writer by pg_cron succeeded for so long, ingest starts runs itself.';
comment on column private.settings.rate_hold_max is
  'How long the function ingest may repeat a refusal for the rate without asking the database.';
comment on column private.settings.ingest_future_limit is
  'Ingest rejects an event whose ts lies further ahead.';
comment on column private.settings.idempotency_key_lifetime is
  'How long the answer to an Idempotency-Key is kept.';
comment on column private.settings.partition_days_ahead is
  'Daily partitions that exist ahead of today.';
comment on column private.settings.job_history_lifetime is
  'How long pg_cron''s record of a run that succeeded is kept.';
comment on column private.settings.job_failure_lifetime is
  'How long pg_cron''s record of any other run is kept.';
comment on column private.settings.deletion_batch_records is
  'Records that one transaction of retention deletes, or one of delete_logs looks at.';
comment on column private.settings.deletion_pause is
  'Rest between two such transactions, so that others have the disk too.';
comment on column private.settings.partition_drop_lock_timeout is
  'How long dropping a partition waits for readers, while others wait behind it.';
comment on column private.settings.partition_drop_attempts is
  'How often, a second apart, dropping a partition is tried before it is left to the next run.';
comment on column private.settings.audit_lifetime is
  'How long audit events and the records of deletions are kept.';
comment on column private.settings.list_limit_default is 'p_limit of a list where none is given.';
comment on column private.settings.list_limit_max is 'Greatest p_limit of a list.';

create table private.job_heartbeats (
  job text primary key,
  last_started_at timestamptz,
  last_succeeded_at timestamptz,
  last_duration_ms double precision,
  last_failed_at timestamptz,
  last_error text
);
alter table private.job_heartbeats enable row level security;
alter table private.job_heartbeats force row level security;

comment on table private.job_heartbeats is
  'One row for each scheduled job: when it last ran, how long it took, and its last error.';

create function private.record_job(
  p_job text,
  p_started_at timestamptz,
  p_error text default null
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  insert into private.job_heartbeats as h (
    job, last_started_at, last_succeeded_at, last_duration_ms, last_failed_at, last_error
  )
  values (
    p_job,
    p_started_at,
    case when p_error is null then v_now end,
    extract(epoch from v_now - p_started_at) * 1000,
    case when p_error is not null then v_now end,
    p_error
  )
  on conflict (job) do update set
    last_started_at = excluded.last_started_at,
    last_succeeded_at = coalesce(excluded.last_succeeded_at, h.last_succeeded_at),
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error);
end;
$$;

comment on function private.record_job(text, timestamptz, text) is
  'Leaves the heartbeat of a scheduled job. p_error null says that the run succeeded.';

create function private.claims()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
end;
$$;

comment on function private.claims() is
  'The verified claims of the request''s token as PostgREST set them; null outside a request.';

create function private.usable_tenant_id(p_tenant_id text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_tenant_id ~ '[^[:space:]]' and length(p_tenant_id) <= 255 then
    return p_tenant_id;
  end if;
  return null;
end;
$$;

comment on function private.usable_tenant_id(text) is
  'The tenant id where it can name a tenant: 1 to 255 characters, not all blank. Null otherwise.';

create function private.current_tenant_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_claim constant jsonb := private.claims() -> 'tenant_id';
begin
  if jsonb_typeof(v_claim) = 'string' then
    return private.usable_tenant_id(v_claim #>> '{}');
  end if;
  return null;
end;
$$;

comment on function private.current_tenant_id() is
  'The tenant of the request: the top-level claim tenant_id, a non-blank string. Null if unusable.';

create function private.current_user_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.claims() ->> 'sub';
end;
$$;

comment on function private.current_user_id() is 'The user of the request: the claim sub.';

create function private.is_service_role()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return current_setting('role', true) = 'service_role';
end;
$$;

comment on function private.is_service_role() is
  'Whether the request runs as service_role, also when asked from within a definer function.';

create function private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id text;
begin
  if private.is_service_role() then
    if p_tenant_id is null then
      raise sqlstate 'PT400' using
        message = 'Missing required parameter: p_tenant_id',
        hint = 'service_role belongs to no tenant: name one where the operation takes p_tenant_id.';
    end if;
    v_tenant_id := private.usable_tenant_id(p_tenant_id);
    if v_tenant_id is null then
      raise sqlstate 'PT400' using
        message = 'Invalid p_tenant_id: 1 to 255 characters, not all blank';
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := private.current_tenant_id();
  if v_tenant_id is null then
    raise sqlstate 'PT401' using
      message = 'Invalid token, API key, or missing tenant_id',
      hint = 'The token needs a top-level tenant_id claim that is a non-blank string.';
  end if;
  if p_tenant_id <> v_tenant_id then
    raise sqlstate 'PT403' using
      message = 'p_tenant_id is not the tenant of the token',
      hint = 'Leave p_tenant_id out: the tenant is taken from the token.';
  end if;
  return v_tenant_id;
end;
$$;

comment on function private.resolve_tenant(text) is
  'The tenant that an operation acts for. Users: the token''s, PT403 when p_tenant_id differs. '
  'service_role: p_tenant_id, PT400 without it. PT401 without a usable tenant.';

create function private.require_user_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_user_id constant text := private.current_user_id();
begin
  if v_user_id is null or v_user_id !~ '[^[:space:]]' then
    raise sqlstate 'PT401' using
      message = 'Invalid token, API key, or missing tenant_id',
      hint = 'The token needs the claim sub, which names the user.';
  end if;
  return v_user_id;
end;
$$;

comment on function private.require_user_id() is
  'The user of the request, where an operation cannot do without one. PT401 without the claim sub.';

create function private.check_request()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_path constant text := current_setting('request.path', true);
begin
  if v_headers ->> 'authorization' is null then
    raise sqlstate 'PT400' using
      message = 'Missing authorization header',
      hint = 'Send Authorization: Bearer <access token>.';
  end if;
  if current_user = 'service_role' then
    null;
  elsif current_user <> 'authenticated' or private.current_tenant_id() is null then
    raise sqlstate 'PT401' using
      message = 'Invalid token, API key, or missing tenant_id',
      hint = 'Sign in: the token needs role authenticated and a top-level tenant_id claim.';
  end if;
  if v_path like '/rpc/%' and v_method <> 'POST' then
    raise sqlstate 'PT405' using
      message = format('Method %s is not allowed here', v_method),
      hint = 'Call operations by POST with a JSON object of parameters.';
  end if;
end;
$$;

comment on function private.check_request() is
  'PostgREST''s pre-request function: PT400 without an Authorization header, PT401 without a '
  'usable tenant (service_role excepted), PT405 for an operation by another method than POST.';

grant execute on function
  private.claims(),
  private.usable_tenant_id(text),
  private.current_tenant_id(),
  private.current_user_id(),
  private.is_service_role(),
  private.resolve_tenant(text),
  private.require_user_id(),
  private.check_request()
to anon, authenticated, service_role;

alter role authenticator set pgrst.db_pre_request = 'private.check_request';
notify pgrst, 'reload config';

create type public.success as (success boolean);
comment on type public.success is 'What an operation answers that has nothing else to tell.';

create function private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_is_missing then
    raise sqlstate 'PT400' using
      message = 'Missing required parameter: ' || p_name,
      hint = format('Send %s in the JSON body.', p_name);
  end if;
end;
$$;

comment on function private.require_parameter(text, boolean) is
  'PT400 when a required parameter is missing. Parameters default to null so that this text '
  'answers, not PostgREST''s 404.';

create function private.trim_space(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
end;
$$;

comment on function private.trim_space(text) is 'The text without white space at its ends.';

create function private.refuse_violation(p_table text, p_constraint text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_comment text;
begin
  select obj_description(c.oid, 'pg_constraint') into v_comment
  from pg_catalog.pg_constraint c
  where c.conrelid = format('app.%I', p_table)::regclass and c.conname = p_constraint;
  raise sqlstate 'PT400' using
    message = split_part(v_comment, E'\n', 1),
    hint = split_part(v_comment, E'\n', 2);
end;
$$;

comment on function private.refuse_violation(text, text) is
  'PT400 for a check constraint of a table in app. A constraint says the rule; its comment says '
  'in its first line what is wrong, in its second how to mend it.';

create function private.list_limit(p_limit integer)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the API roles do not read private.settings
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default from private.settings s;
  if p_limit < 1 or p_limit > v_max then
    raise sqlstate 'PT400' using
      message = format('Invalid p_limit: 1 to %s', v_max),
      hint = 'Page with p_after for more.';
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

comment on function private.list_limit(integer) is
  'The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds.';

grant execute on function
  private.require_parameter(text, boolean),
  private.trim_space(text),
  private.refuse_violation(text, text),
  private.list_limit(integer)
to authenticated, service_role;
