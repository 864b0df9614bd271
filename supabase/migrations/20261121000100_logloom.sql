-- Assembled from supabase/schemas by npm run migration: change it there.

-- foundations/schemas.sql

-- Before anything is made: what a project has to offer.
do $$
declare
  v_missing text;
begin
  select string_agg(
    case
      when a.name is null then w.name
      else format('%s %s or newer (%s is there)', w.name, w.least, a.version)
    end,
    ', ' order by w.name
  )
  into v_missing
  from (
    values ('http', 1.0), ('pg_cron', 1.5), ('pg_partman', 5.0), ('pgcrypto', 1.0)
  ) w (name, least)
  left join (
    select e.name, coalesce(e.installed_version, e.default_version) as version
    from pg_catalog.pg_available_extensions e
  ) a on a.name = w.name
  where a.name is null or substring(a.version from '^\d+(?:\.\d+)?')::numeric < w.least;
  if v_missing is not null then
    raise exception using
      errcode = 'feature_not_supported',
      message = 'Logloom cannot be installed, extensions are missing: ' || v_missing,
      hint = 'pg_partman 5 comes with Supabase''s images from late 2025: upgrade the project''s '
        'Postgres (Project Settings, Infrastructure), then install again.';
  end if;
end;
$$;

-- A guest goes in only where there is room for it, and says what is in the way.
do $$
declare
  v_taken text;
begin
  select string_agg(t.name, ', ' order by t.name) into v_taken
  from (
    select format('schema %I', n.nspname)
    from pg_catalog.pg_namespace n
    where n.nspname in ('logloom', 'logloom_private')
    union all
    select format('type public.%I', t.typname)
    from pg_catalog.pg_type t
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
  ) t (name);
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_object',
      message = 'Logloom cannot be installed, these are there already: ' || v_taken,
      hint = 'Rename or remove them, then install again.';
  end if;
end;
$$;

create schema logloom;
create schema logloom_private;

comment on schema logloom is 'Tables that tenants own, each behind row-level security.';
comment on schema logloom_private is
  'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema logloom, logloom_private from public;
grant usage on schema logloom to authenticated, service_role, supabase_auth_admin;
-- The pre-request check runs as the role of the request, so each role must reach its schema; the
-- token hook runs as supabase_auth_admin.
grant usage on schema logloom_private
to anon, authenticated, service_role, supabase_auth_admin;

-- foundations/operations.sql

create function logloom_private.operations()
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array[
    'acknowledge_alert',
    'add_member',
    'check_plan_feature',
    'claim_notifications',
    'confirm_notification_address',
    'create_alert_rule',
    'create_api_key',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_usage',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_audit_events',
    'list_log_fields',
    'list_members',
    'list_notification_addresses',
    'list_retention_runs',
    'list_saved_searches',
    'log_histogram',
    'log_series',
    'log_stats',
    'preview_alert_rule',
    'remove_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'rotate_api_key',
    'rotate_webhook_secret',
    'run_saved_search',
    'run_writer',
    'search_logs',
    'set_member_role',
    'settle_notification',
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$$;

revoke all on function logloom_private.operations() from public;

grant execute on function logloom_private.operations() to anon, authenticated, service_role;

comment on function logloom_private.operations() is
  'The names of our functions in public. The pre-request check looks at requests for these alone, '
  'and uninstalling removes these.';

create function logloom_private.service_operations()
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array[
    'claim_notifications',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'run_writer',
    'settle_notification'
  ];
end;
$$;

revoke all on function logloom_private.service_operations() from public;

comment on function logloom_private.service_operations() is
  'Those of the operations that the edge functions alone may call, as service_role.';

-- Another function of such a name would be ambiguous for PostgREST, which picks by parameter names.
do $$
declare
  v_taken text;
begin
  select string_agg(p.oid::regprocedure::text, ', ' order by p.proname) into v_taken
  from pg_catalog.pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and p.proname = any (logloom_private.operations());
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_function',
      message = 'Logloom cannot be installed, public has functions of its names: ' || v_taken,
      hint = 'Rename them or move them to another schema, then install again.';
  end if;
end;
$$;

-- foundations/installation.sql

-- What was here before, so that uninstalling can leave it so.
create table logloom_private.installation (
  singleton boolean primary key default true,
  installed_at timestamptz not null default now(),
  created_extensions text[] not null,
  created_schemas text[] not null,
  host_pre_request text,
  own_oid oid not null default 0,
  constraint installation_has_one_row check (singleton)
);

alter table logloom_private.installation enable row level security;
alter table logloom_private.installation force row level security;

comment on table logloom_private.installation is
  'What installing added to the project and what it stands before, in one row.';

comment on column logloom_private.installation.created_extensions is
  'Extensions that were not there. Uninstalling removes them unless somebody else uses them now.';

comment on column logloom_private.installation.created_schemas is
  'Schemas beside our own that were not there.';

comment on column logloom_private.installation.own_oid is
  'The oid of this table. Where it has another, the database was made from a dump.';

comment on column logloom_private.installation.host_pre_request is
  'PostgREST''s pre-request function before ours, as pgrst.db_pre_request names it. Ours calls it.';

insert into logloom_private.installation (created_extensions, created_schemas)
select
  array(
    select e.name
    from unnest(array['http', 'pg_cron', 'pg_partman', 'pgcrypto']) e (name)
    where not exists (select from pg_catalog.pg_extension x where x.extname = e.name)
  ),
  array(
    select s.name
    from unnest(array['extensions', 'partman']) s (name)
    where not exists (select from pg_catalog.pg_namespace n where n.nspname = s.name)
  );

update logloom_private.installation
set own_oid = 'logloom_private.installation'::regclass
where singleton;

create schema if not exists extensions;
create schema if not exists partman;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists http with schema extensions;
create extension if not exists pg_partman with schema partman;
create extension if not exists pg_cron;

do $$
declare
  v_elsewhere text;
begin
  select string_agg(format('%s in %I', x.extname, n.nspname), ', ' order by x.extname)
  into v_elsewhere
  from pg_catalog.pg_extension x
  join pg_catalog.pg_namespace n on n.oid = x.extnamespace
  join (
    values ('http', 'extensions'), ('pg_partman', 'partman'), ('pgcrypto', 'extensions')
  ) w (name, schema) on w.name = x.extname
  where n.nspname <> w.schema;
  if v_elsewhere is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Logloom cannot be installed, extensions are in other schemas: ' || v_elsewhere,
      hint = 'Logloom looks for pgcrypto and http in the schema extensions, where Supabase puts '
        'them, and for pg_partman in partman. Create them there; alter extension pgcrypto set '
        'schema moves the first.';
  end if;
end;
$$;

-- foundations/types/error.sql

create type logloom_private.error as (
  name text,
  status integer,
  message text,
  hint text,
  explanation text
);

comment on type logloom_private.error is
  'An error of the register. message and hint are formats for the values of a case, explanation '
  'is what docs/errors.md says in place of the hint. The name begins with its register.';

-- foundations/types/success.sql

create type public.logloom_success as (success boolean);

comment on type public.logloom_success is
  'What an operation answers that has nothing else to tell.';

-- foundations/tables/job_heartbeats.sql

create table logloom_private.job_heartbeats (
  job text primary key,
  last_started_at timestamptz,
  last_succeeded_at timestamptz,
  last_duration_ms double precision,
  last_failed_at timestamptz,
  last_error text,
  failures integer not null default 0
);

alter table logloom_private.job_heartbeats enable row level security;
alter table logloom_private.job_heartbeats force row level security;

comment on table logloom_private.job_heartbeats is
  'One row for each scheduled job: when it last ran, how long it took, and its last error.';

comment on column logloom_private.job_heartbeats.failures is
  'Runs that failed since the last one that succeeded.';

-- foundations/tables/job_limits.sql

create table logloom_private.job_limits (
  job text primary key,
  silence interval not null,
  failures integer not null default 3,
  watched_since timestamptz not null default now(),
  constraint job_limits_are_positive check (silence > interval '0' and failures >= 1)
);

-- Some three times what lies between two runs, and what a run may take.
insert into logloom_private.job_limits (job, silence)
values
  ('write_logs', '60 seconds'),
  ('compact_log_counts', '5 minutes'),
  ('maintain_partitions', '3 hours'),
  ('run_retention', '26 hours'),
  ('run_deletions', '10 minutes'),
  ('seal_logs', '1 hour'),
  ('evaluate_alerts', '3 minutes'),
  ('send_notifications', '3 minutes'),
  ('purge_job_history', '1 hour'),
  ('purge_audit_events', '4 hours'),
  ('purge_alert_history', '4 hours'),
  ('purge_rate_buckets', '4 hours'),
  ('purge_idempotency_keys', '4 hours'),
  ('purge_notifications', '3 days');

alter table logloom_private.job_limits enable row level security;
alter table logloom_private.job_limits force row level security;

comment on table logloom_private.job_limits is
  'What health takes from each scheduled job before it is degraded.';

comment on column logloom_private.job_limits.silence is
  'How long ago its last run that succeeded may be; of one that never ran, watched_since.';

comment on column logloom_private.job_limits.failures is 'Runs in a row that may fail, less one.';

-- foundations/tables/settings.sql

create table logloom_private.settings (
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
  writer_step_bytes bigint not null default 67108864,
  writer_meter_batches integer not null default 1000,
  writer_flip_lock_timeout interval not null default '200 milliseconds',
  writer_truncate_lock_timeout interval not null default '50 milliseconds',
  writer_truncate_events bigint not null default 20000,
  writer_truncate_age interval not null default '60 seconds',
  writer_guard_silence interval not null default '10 seconds',
  rate_hold_max interval not null default '3 seconds',
  ingest_future_limit interval not null default '24 hours',
  batch_max_events integer not null default 10000,
  batch_max_bytes integer not null default 8388608,
  idempotency_key_lifetime interval not null default '24 hours',
  partition_days_ahead integer not null default 7,
  job_run_budget interval not null default '30 seconds',
  purge_step_rows integer not null default 10000,
  job_history_lifetime interval not null default '1 hour',
  job_failure_lifetime interval not null default '7 days',
  deletion_step_records integer not null default 10000,
  deletion_pause interval not null default '50 milliseconds',
  retention_step_tenants integer not null default 2000,
  partition_drop_lock_timeout interval not null default '200 milliseconds',
  partition_drop_attempts integer not null default 30,
  audit_lifetime interval not null default '400 days',
  dry_runs_kept integer not null default 100,
  alert_history_lifetime interval not null default '400 days',
  list_limit_default integer not null default 100,
  list_limit_max integer not null default 1000,
  count_services_max integer not null default 100,
  count_service_length_max integer not null default 200,
  count_compact_rows integer not null default 100000,
  count_pack_rows integer not null default 1000,
  count_pack_days integer not null default 1000,
  api_pool_size integer not null default 10,
  search_pool_share double precision not null default 0.5,
  concurrent_validations integer not null default 2,
  search_default_range interval not null default '1 hour',
  search_buckets_default integer not null default 60,
  tail_backlog_span interval not null default '24 hours',
  search_buckets_max integer not null default 1000,
  search_days_at_once integer not null default 12,
  search_chunks_at_once integer not null default 200,
  search_free_time interval not null default '25 milliseconds',
  search_turn interval not null default '5 seconds',
  stored_days_counted integer not null default 31,
  tail_turn interval not null default '5 seconds',
  search_sample_records integer not null default 5000,
  search_sample_bytes integer not null default 1200000,
  search_sample_cells integer not null default 100000,
  search_sample_fields integer not null default 200,
  search_sample_values integer not null default 10,
  search_stage_records integer not null default 100000,
  search_groups integer not null default 100000,
  search_series integer not null default 20,
  alert_grace interval not null default '2 minutes',
  alert_watermark_limit interval not null default '2 minutes',
  alert_catch_up_limit interval not null default '1 hour',
  alert_round_limit interval not null default '5 minutes',
  alert_step_rules integer not null default 1000,
  alert_rule_budget interval not null default '1 second',
  alert_rule_records integer not null default 2000000,
  alert_groups integer not null default 50,
  alert_fill_budget interval not null default '30 seconds',
  alert_back_off interval not null default '5 minutes',
  alert_back_off_max interval not null default '1 hour',
  notification_claim_lifetime interval not null default '60 seconds',
  notification_retry_base interval not null default '5 seconds',
  notification_retry_factor double precision not null default 3,
  notification_retry_max interval not null default '3 hours',
  notification_lifetime interval not null default '24 hours',
  notification_history_lifetime interval not null default '30 days',
  notification_test_interval interval not null default '10 seconds',
  confirmation_lifetime interval not null default '24 hours',
  confirmation_tries integer not null default 5,
  confirmation_interval interval not null default '1 minute',
  confirmation_codes_per_tenant integer not null default 10,
  confirmation_codes_per_address integer not null default 3,
  confirmation_codes_per_mailbox integer not null default 10,
  webhook_secret_overlap interval not null default '24 hours',
  preview_span interval not null default '24 hours',
  seal_after interval not null default '6 hours',
  seal_again_after interval not null default '24 hours',
  seal_day_records integer not null default 1000,
  seal_week_records integer not null default 100,
  seal_chunk_records integer not null default 32000,
  seal_chunk_bytes bigint not null default 16000000,
  seal_pause interval not null default '20 milliseconds',
  seal_queue_events bigint not null default 20000,
  constraint settings_api_pool_size_is_positive check (api_pool_size >= 2),
  constraint settings_search_pool_share_leaves_some check (
    search_pool_share > 0 and search_pool_share < 1
  ),
  token_leeway interval not null default '5 seconds',
  token_audience text,
  tenants_by_users boolean not null default false,
  constraint settings_alert_step_rules_can_be_halved check (alert_step_rules >= 2),
  constraint settings_has_one_row check (singleton),
  constraint settings_search_days_at_once_is_positive check (search_days_at_once >= 1),
  constraint settings_chunk_has_positions check (seal_chunk_records between 1 and 32000)
);

insert into logloom_private.settings default values;

alter table logloom_private.settings enable row level security;
alter table logloom_private.settings force row level security;

comment on table logloom_private.settings is
  'Every threshold and limit that is not part of a plan, in one row. Read where it is enforced.';

comment on column logloom_private.settings.queue_degraded_events is
  'Health: degraded above this depth.';

comment on column logloom_private.settings.queue_degraded_age is
  'Health: degraded when the oldest queued event is older.';

comment on column logloom_private.settings.queue_unhealthy_age is
  'Health: unhealthy when the oldest queued event is older.';

comment on column logloom_private.settings.queue_hard_limit_bytes is
  'Ingest answers 503 while the slots that are filled and moved take more bytes on disk.';

comment on column logloom_private.settings.writer_degraded_silence is
  'Health: degraded when no run of the writer succeeded for so long.';

comment on column logloom_private.settings.writer_unhealthy_silence is
  'Health: unhealthy when no run of the writer succeeded for so long.';

comment on column logloom_private.settings.writer_run_budget is
  'A run of the writer starts no further step after this time.';

comment on column logloom_private.settings.writer_step_events is
  'Events that one step (one transaction) moves. A kill repeats at most one step.';

comment on column logloom_private.settings.writer_step_batches is
  'Batches that one step moves at most.';

comment on column logloom_private.settings.writer_step_bytes is
  'Bytes of request bodies that one step moves, a last batch beyond them included.';

comment on column logloom_private.settings.writer_meter_batches is
  'Batches that may wait uncounted before a run of the writer counts them ahead of moving them.';

comment on column logloom_private.settings.writer_flip_lock_timeout is
  'How long a flip of the open slot waits for enqueues in flight. Then a later run does it.';

comment on column logloom_private.settings.writer_truncate_lock_timeout is
  'How long emptying a moved slot waits for readers before it leaves it to a later run.';

comment on column logloom_private.settings.writer_truncate_events is
  'A moved slot is emptied once it holds this many moved events …';

comment on column logloom_private.settings.writer_truncate_age is
  '… or once it was not emptied for so long.';

comment on column logloom_private.settings.writer_guard_silence is
  'When no run of the writer by pg_cron succeeded for so long, ingest starts runs itself.';

comment on column logloom_private.settings.rate_hold_max is
  'How long the function ingest may repeat a refusal for the rate without asking the database.';

comment on column logloom_private.settings.ingest_future_limit is
  'Ingest rejects an event whose ts lies further ahead.';

comment on column logloom_private.settings.batch_max_events is
  'Events that one batch of the queue holds at most; what the function ingest sends in one call.';

comment on column logloom_private.settings.batch_max_bytes is
  'Bytes that one batch is metered with at most: the largest body that any receiver takes.';

comment on column logloom_private.settings.idempotency_key_lifetime is
  'How long the answer to an Idempotency-Key is kept.';

comment on column logloom_private.settings.partition_days_ahead is
  'Daily partitions that exist ahead of today.';

comment on column logloom_private.settings.job_run_budget is
  'A run of a job starts no further step after this time, nor after half of statement_timeout. The '
  'next run goes on.';

comment on column logloom_private.settings.purge_step_rows is
  'Old rows that one transaction of a purge deletes.';

comment on column logloom_private.settings.job_history_lifetime is
  'How long pg_cron''s record of a run that succeeded is kept.';

comment on column logloom_private.settings.job_failure_lifetime is
  'How long pg_cron''s record of any other run is kept.';

comment on column logloom_private.settings.deletion_step_records is
  'Records that one transaction of retention deletes, or one of delete_logs looks at.';

comment on column logloom_private.settings.deletion_pause is
  'Rest between two such transactions, so that others have the disk too.';

comment on column logloom_private.settings.retention_step_tenants is
  'Tenants at which one transaction of retention looks, until it finds records to delete.';

comment on column logloom_private.settings.partition_drop_lock_timeout is
  'How long dropping a partition waits for readers, while others wait behind it.';

comment on column logloom_private.settings.partition_drop_attempts is
  'How often, a second apart, dropping a partition is tried before it is left to the next run.';

comment on column logloom_private.settings.alert_history_lifetime is
  'How long an alert that fired is kept in the history.';

comment on column logloom_private.settings.dry_runs_kept is
  'Newest dry runs of delete_logs of a tenant that list_retention_runs shows.';

comment on column logloom_private.settings.audit_lifetime is
  'How long audit events and the records of deletions are kept.';

comment on column logloom_private.settings.list_limit_default is
  'p_limit of a list where none is given.';

comment on column logloom_private.settings.list_limit_max is 'Greatest p_limit of a list.';

comment on column logloom_private.settings.count_services_max is
  'Services of a tenant that are counted apart within a minute. The rest is counted together.';

comment on column logloom_private.settings.count_service_length_max is
  'A service with a longer name is not counted apart.';

comment on column logloom_private.settings.count_compact_rows is
  'Rows of logloom_private.log_counts that one run of compact_log_counts sums up, about.';

comment on column logloom_private.settings.count_pack_rows is
  'Of a day of a tenant that has at most so many rows of logloom_private.log_counts they are '
  'packed.';

comment on column logloom_private.settings.count_pack_days is
  'Days of tenants that one step of compact_log_counts packs.';

comment on column logloom_private.settings.search_default_range is
  'How long a range is that names no start.';

comment on column logloom_private.settings.tail_backlog_span is
  'How far tail_logs looks back for the records that it begins with.';

comment on column logloom_private.settings.search_buckets_default is
  'p_buckets where none is given.';

comment on column logloom_private.settings.search_buckets_max is 'Greatest p_buckets.';

comment on column logloom_private.settings.api_pool_size is
  'Connections that PostgREST keeps (its db-pool). 10 is what it has where nobody says otherwise.';

comment on column logloom_private.settings.search_pool_share is
  'Share of api_pool_size that the searches of all tenants may hold together.';

comment on column logloom_private.settings.search_days_at_once is
  'Days with rows of a tenant that a search opens at once: each is a partition and its locks, '
  'which end before it opens the next ones.';

comment on column logloom_private.settings.search_chunks_at_once is
  'Chunks of sealed records that a part of a page''s range holds, or those of one day.';

comment on column logloom_private.settings.search_free_time is
  'After this time a search reads on only in a scan slot of its tenant (concurrent_scans).';

comment on column logloom_private.settings.search_turn is
  'After this time search_logs begins no further part of its range: the page ends early.';

comment on column logloom_private.settings.stored_days_counted is
  'Newest days of rows of a tenant that are counted for what it stores; older ones are taken to be '
  'like them.';

comment on column logloom_private.settings.concurrent_validations is
  'Queries of a tenant that validate_query compiles at once; a further one is PT429.';

comment on column logloom_private.settings.tail_turn is
  'After this time tail_logs answers with what it has.';

comment on column logloom_private.settings.search_sample_records is
  'Records, newest first, that list_log_fields looks at.';

comment on column logloom_private.settings.search_sample_bytes is
  'Bytes of attributes, as text, that list_log_fields looks at; of one record at least.';

comment on column logloom_private.settings.search_sample_cells is
  'Attributes, those of all records together, that list_log_fields looks at.';

comment on column logloom_private.settings.search_sample_fields is
  'Fields that list_log_fields lists at most.';

comment on column logloom_private.settings.search_stage_records is
  'Records that the stages json, logfmt and patterns of a query read at most.';

comment on column logloom_private.settings.search_groups is
  'Groups that an aggregate with by has at most.';

comment on column logloom_private.settings.search_series is
  'Groups that have a series of their own in log_series.';

comment on column logloom_private.settings.search_sample_values is
  'Values of a field that list_log_fields lists at most.';

comment on column logloom_private.settings.alert_grace is
  'A window stays open for so long after its end: a late record that arrives meanwhile counts.';

comment on column logloom_private.settings.alert_watermark_limit is
  'Rules wait while the watermark is further behind, and health is degraded.';

comment on column logloom_private.settings.alert_catch_up_limit is
  'After a wait, windows that ended longer ago are not evaluated any more.';

comment on column logloom_private.settings.alert_round_limit is
  'Health: degraded when the last round''s windows ended longer ago, while rules are enabled.';

comment on column logloom_private.settings.alert_step_rules is
  'Rules that one transaction of an alert round evaluates; its time is looked at between two.';

comment on column logloom_private.settings.alert_rule_budget is
  'How long a rule may take of a round, and a tenant''s reading of its windows of a run.';

comment on column logloom_private.settings.alert_groups is
  'Groups that a rule with by looks at, at most.';

comment on column logloom_private.settings.alert_rule_records is
  'Records that a rule may read for one window, or for the first filling of its minutes.';

comment on column logloom_private.settings.alert_fill_budget is
  'How long the first filling of a rule''s minutes may take, over all rounds.';

comment on column logloom_private.settings.alert_back_off is
  'How long a rule rests that cost too much; doubled each further time …';

comment on column logloom_private.settings.alert_back_off_max is '… up to this.';

comment on column logloom_private.settings.notification_claim_lifetime is
  'After this time a claim that was not settled is due again. Longer than any delivery takes.';

comment on column logloom_private.settings.notification_retry_base is
  'Wait after the first failure, give or take a fifth …';

comment on column logloom_private.settings.notification_retry_factor is
  '… multiplied by this after each further one …';

comment on column logloom_private.settings.notification_retry_max is '… up to this.';

comment on column logloom_private.settings.notification_lifetime is
  'How long a delivery is tried before it is given up.';

comment on column logloom_private.settings.notification_history_lifetime is
  'How long list_alert_deliveries tells of a delivery that ended.';

comment on column logloom_private.settings.notification_test_interval is
  'Least time between two tests of a rule.';

comment on column logloom_private.settings.confirmation_lifetime is
  'How long the code that confirms an address is good; the limits below count over as long.';

comment on column logloom_private.settings.confirmation_tries is
  'Wrong tries after which a code is good no more.';

comment on column logloom_private.settings.confirmation_interval is
  'Least time between two codes for an address that a tenant asks for.';

comment on column logloom_private.settings.confirmation_codes_per_tenant is
  'Codes that a tenant may have mailed.';

comment on column logloom_private.settings.confirmation_codes_per_address is
  'Codes that a tenant may have mailed to one address.';

comment on column logloom_private.settings.confirmation_codes_per_mailbox is
  'Codes that all tenants together may have mailed to one address, whatever follows a + in it.';

comment on column logloom_private.settings.webhook_secret_overlap is
  'How long webhooks carry the signature of the rotated secret, too.';

comment on column logloom_private.settings.preview_span is 'How far preview_alert_rule looks back.';

comment on column logloom_private.settings.seal_after is
  'How long a UTC day is over before its records are sealed.';

comment on column logloom_private.settings.seal_again_after is
  'How long after a pass over a day the next one looks for late records.';

comment on column logloom_private.settings.seal_day_records is
  'A tenant with fewer records in a day is sealed by the week (Monday to Sunday, UTC).';

comment on column logloom_private.settings.seal_week_records is
  'Fewer records than these, in a week, stay rows: a chunk would take more.';

comment on column logloom_private.settings.seal_chunk_records is
  'Records of a chunk at most, up to 32,000.';

comment on column logloom_private.settings.seal_chunk_bytes is
  'Bytes of the records of a chunk, unpacked, at most: what bounds the memory of sealing.';

comment on column logloom_private.settings.seal_pause is 'Between two chunks.';

comment on column logloom_private.settings.seal_queue_events is
  'With more events in the queue a run of seal_logs ends: the writer comes first.';

comment on column logloom_private.settings.token_leeway is
  'How far the clocks of who issues tokens and of the database may differ.';

comment on column logloom_private.settings.token_audience is
  'What the claim aud of a token must be or contain. Null: it is not looked at.';

comment on column logloom_private.settings.tenants_by_users is
  'Whether a signed-in user who belongs to no tenant may make one, by create_tenant.';

-- foundations/errors/alerts.sql

-- Alert rules and their history. What a check constraint of alert_rules refuses has the name of
-- the constraint.
create function logloom_private.alerts_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('alerts.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to is not.', null),
    ('alerts.alert_rules_name_is_valid', 400, 'Invalid p_name: 1 to 200 characters after trimming',
      'Name the rule after what it watches.', null),
    ('alerts.alert_rules_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('alerts.alert_rules_threshold_is_finite', 400, 'Invalid p_threshold: a finite number',
      'Send a JSON number.', null),
    ('alerts.alert_rules_comparison_is_known', 400,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq',
      'The value of the query stands at the left: gt fires when it is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook',
      'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is no email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is no https URL',
      'Send an https URL without user name and password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for the destination email, webhook_url for webhook, or disable the rule.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.query_has_a_warning', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if that is what the rule looks for.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_has_groups', 400, 'A query with by has no preview',
      'Leave by out and ask for one group in the filter.',
      '`preview_alert_rule`: ask for one group in the filter.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.alerts_errors() from public;

grant execute on function logloom_private.alerts_errors()
to authenticated, service_role;

-- foundations/errors/api_keys.sql

-- API keys.
create function logloom_private.api_keys_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_api_keys`: revoke one.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', '`p_name` is blank or too long.'),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: the only scope is ingest',
      'Leave p_scopes out.', null),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work for so long; 10080 minutes are a week.', '`rotate_api_key`: a week at most.'),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', '`rotate_api_key`: create a new key.'),
    ('api_keys.not_found', 404, 'API key not found',
      'list_api_keys shows the keys of this tenant.', 'The tenant has no such key.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.api_keys_errors() from public;

grant execute on function logloom_private.api_keys_errors()
to authenticated, service_role;

-- foundations/errors/callers.sql

-- Who is calling.
create function logloom_private.callers_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or the API key is unknown, revoked or expired.'),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, '`service_role` names what cannot be a tenant.'),
    ('callers.role_is_missing', 403, 'This takes the role %s',
      'Ask an owner of the tenant; list_members says who that is.',
      'The caller is less than that in the tenant: `member`, `admin`, `owner` '
        '([identity.md](identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.callers_errors() from public;

grant execute on function logloom_private.callers_errors()
to anon, authenticated, service_role;

-- foundations/errors/ingest.sql

-- Requests of senders.
create function logloom_private.ingest_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'A key repeats a request, body and all, for 24 hours.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s events of this UTC month are used up.'),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s, and starts anew with the next month (UTC).',
      'The plan''s bytes of this UTC month are used up.'),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.',
      'The plan allows no more for now.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      'The writer is far behind; `health/queue` says how far.'),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts. The function ingest does; the limits are in logloom_private.settings.',
      null)
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.ingest_errors() from public;

grant execute on function logloom_private.ingest_errors()
to authenticated, service_role;

-- foundations/errors/notifications.sql

-- Deliveries of alerts, and the addresses that they go to.
create function logloom_private.notifications_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations, and see notification_preferences of the tenant.',
      '`test_alert_rule`: no destination, or the tenant''s preferences refuse it.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id of list_alert_deliveries.', 'No such `delivery_id` in this tenant.'),
    ('notifications.delivery_arrived', 400, 'The delivery arrived already',
      'test_alert_rule sends another notification.',
      '`retry_alert_delivery`: there is nothing to send again.'),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.', '`claim_notifications`, which only the function `notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_notification`, which only the function `notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'An address that no alert rule has any more makes room; or choose a larger plan.',
      '`confirm_notification_address`: the plan''s `max_notification_addresses`. One that no '
        'rule has makes room.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code as the mail has it, as a text.',
      '`confirm_notification_address`: as the mail has it, as a text.'),
    ('notifications.no_code_is_good', 400, 'No code is good for this address',
      'test_alert_rule mails a new one to the address of a rule.',
      'None was mailed to it, or it lapsed: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new one to the address of the rule.',
      'Five wrong tries: `test_alert_rule` mails a new one.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'The last one that was mailed is good, for five tries.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new one.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new one.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it by the code that was mailed to it; test_alert_rule mails a new one.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests in an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.notifications_errors() from public;

grant execute on function logloom_private.notifications_errors()
to authenticated, service_role;

-- foundations/errors/parameters.sql

-- Parameters that many operations take.
create function logloom_private.parameters_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
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
      '`p_ts_from` or `p_ts_to` is neither ISO 8601 nor `now-24h` or the like.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.parameters_errors() from public;

grant execute on function logloom_private.parameters_errors()
to authenticated, service_role;

-- foundations/errors/query.sql

-- The query language: a filter.
create function logloom_private.query_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('query.minus_negates_nothing', 400, '- negates a term that follows at once',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket closes nothing',
      'Take it away, or quote it to search for it.', null),
    ('query.bracket_is_not_closed', 400, 'A closing bracket is missing',
      'Close the bracket that position %s opens.', null),
    ('query.colon_is_missing', 400, 'A colon is missing after an attribute',
      'Write @"name":value without white space.', null),
    ('query.wildcard_in_comparison', 400, 'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.', null),
    ('query.field_is_missing', 400, 'A field is missing before the colon',
      'Write field:value without white space around the colon, or quote the text.', null),
    ('query.number_is_out_of_range', 400, 'A number is out of range',
      'Exponents reach from -400 to 400.', null),
    ('query.quote_is_not_closed', 400, 'A quoted text is not closed',
      'End it with ", or write \" for the character itself.', null),
    ('query.quoted_text_is_empty', 400, 'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.', null),
    ('query.range_is_not_closed', 400, 'A range is not closed',
      'End it with ] (inclusive) or } (exclusive).', null),
    ('query.regex_is_not_quoted', 400, 'A regular expression is quoted',
      'Write ~"regex", or \~ for the character itself.', null),
    ('query.shift_is_too_long', 400, 'A shift from now is longer than 100 years',
      'Write a shorter one, such as now-15m.', null),
    ('query.term_is_missing_at_the_end', 400, 'A term is missing at the end',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.term_is_missing', 400, 'A term is missing before %s',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.value_is_missing_in_a_list', 400, 'A value is missing',
      'Write field:(a OR b), values only, and close the bracket.', null),
    ('query.comparison_needs_a_value', 400, 'A value is missing after %s',
      'Write a number, a time or a word after it.', null),
    ('query.test_needs_a_value', 400, 'A value is missing after %s',
      'Write a word or a quoted text after it; "" is the empty text.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, and this is none: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Take away brackets that group nothing.', null),
    ('query.not_a_uuid', 400, 'Not a UUID: %s', 'id takes a whole UUID, or * for any.', null),
    ('query.not_a_time', 400, 'Not a time: %s',
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now, now-15m or -15m (s, m, h, d or w).', null),
    ('query.to_is_missing', 400, 'TO is missing in a range',
      'Write [a TO b] or {a TO b}, TO in upper case.', null),
    ('query.path_is_malformed', 400, 'The path of an attribute is malformed',
      'Separate segments by one dot. A segment of other characters than letters, digits, _ and '
        '- is quoted: @"a b".c', null),
    ('query.too_many_terms', 400, 'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.',
      'Each term of a list of values counts.'),
    ('query.too_long', 400, 'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.', null),
    ('query.field_is_unknown', 400, 'Unknown field %s',
      '%2$sQuote a text that holds a colon. The fields are ts, received_at, id, level, msg, '
        'service, env, req_id, user_id, route, host, any and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.white_space_is_missing', 400, 'White space is missing before %s',
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.',
      null),
    ('query.attribute_is_missing', 400, 'attrs needs the name of an attribute',
      'Write @name or attrs.name, such as @status.', null),
    ('query.id_is_not_compared', 400, '%s cannot be compared',
      'id takes a whole UUID, or * for any.', null),
    ('query.text_is_not_compared', 400, '%s cannot be compared',
      'Search %s for a text, a "quoted phrase" or a ~"regex".', null),
    ('query.word_is_not_for_lists', 400, '%s cannot stand in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.operator_is_for_values', 400, '%s stands at the start of a value only',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s stands in a range of a field only',
      'Write field:[a TO b], or quote the text. {app="x"} of other languages is service:x here.',
      null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any takes a text only',
      'Write any:"text", any:=exactly, any:i=exactly, any:w=word or any:~"regex".', null),
    ('query.not_a_network', 400, 'Not a network: %s',
      'Write address/bits, such as 10.0.0.0/8, or quote it to compare the text.', null),
    ('query.takes_no_test', 400, '%s takes no %s', 'Write %s:value. %s is for texts.', null),
    ('query.word_is_empty', 400, 'A word to look for is empty',
      'Write msg:w=error or msg:w="out of memory".', null),
    ('query.too_many_steps', 400,
      'The query is too complex: it takes more than 20000 steps to compile',
      'Leave terms or regular expressions out.', null),
    ('query.searched_texts_are_too_long', 400,
      'The query is too complex: the texts that it looks for inside others have together more '
        'than 512 characters', 'Shorten them: the beginning of a long message finds it too.', null)
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.query_errors() from public;

-- foundations/errors/regex.sql

-- The query language: regular expressions.
create function logloom_private.regex_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Allowed are literals, classes with [:alpha:] and its like, groups, alternatives, * + ? '
        '{m,n} up to 100, lazy ones too, . \d \w \s \D \W \S \b \n \t \r, ^ and $, (?i) at the '
        'start, and a backslash before punctuation.'
    ),
    e.explanation
  from (
    values
    ('regex.bracket_closes_nothing', 400, 'Regular expression: ) closes nothing', null, null),
    ('regex.bracket_in_class', 400, 'Regular expression: [ inside a class is written \[', null,
      null),
    ('regex.class_is_empty', 400, 'Regular expression: a class is empty', null, null),
    ('regex.class_is_not_closed', 400, 'Regular expression: a class is not closed', null, null),
    ('regex.group_is_not_closed', 400, 'Regular expression: a group is not closed', null, null),
    ('regex.range_ends_in_no_character', 400,
      'Regular expression: a range of a class ends in characters', null, null),
    ('regex.range_runs_backwards', 400, 'Regular expression: a range of a class runs backwards',
      null, null),
    ('regex.repeat_is_out_of_range', 400,
      'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', null, null),
    ('regex.has_a_back_reference', 400, 'Regular expression: back-references are not allowed',
      null, null),
    ('regex.too_long', 400, 'Regular expression: it is longer than 256 characters', null, null),
    ('regex.has_lookaround', 400,
      'Regular expression: lookaround and options are not allowed; (?i) stands at the start', null,
      null),
    ('regex.repeat_runs_backwards', 400,
      'Regular expression: the bounds of a repeat run backwards', null, null),
    ('regex.not_for_classes', 400, 'Regular expression: %s cannot stand in a class', null, null),
    ('regex.nothing_to_repeat', 400, 'Regular expression: %s has nothing to repeat', null, null),
    ('regex.not_an_escape', 400, 'Regular expression: %s is not an escape', null, null),
    ('regex.too_complex', 400,
      'Regular expression: it is too complex: its characters and their repeats come to more '
        'than 1000', null, null),
    ('regex.all_are_too_complex', 400,
      'Regular expression: it is too complex: the characters of all and their repeats come to '
        'more than 2000', null, null),
    ('regex.no_such_class', 400, 'Regular expression: %s is no class of characters', null, null)
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.regex_errors() from public;

-- foundations/errors/saved_searches.sql

-- Saved searches. What a check constraint of their table refuses has the name of the constraint.
create function logloom_private.saved_searches_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('saved_searches.saved_searches_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming', 'Name the search after what it finds.',
      null),
    ('saved_searches.saved_searches_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_category_is_valid', 400,
      'Invalid p_category: at most 100 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_tags_are_valid', 400,
      'Invalid p_tags: at most 20 tags of 1 to 50 characters each', 'Send a flat array of texts.',
      null),
    ('saved_searches.query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'ts:* finds every record.', null),
    ('saved_searches.not_its_creator', 403, 'Only its creator may change or delete a saved search',
      'Save it under a name of your own with create_saved_search.',
      'It is a colleague''s, shared.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows those that you can read.',
      'It is not there, another tenant''s, or a colleague''s private one.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.saved_searches_errors() from public;

grant execute on function logloom_private.saved_searches_errors()
to authenticated, service_role;

-- foundations/errors/search.sql

-- Searches, pages, tails and single records.
create function logloom_private.search_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_cursor for more.', 'A page has 1 to 1000 items.'),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may be on its way still, or past its retention.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      '15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'More at once than the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Those of all tenants hold their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: it leaves the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it lies ahead of all that was ever written',
      'The database was restored from before it. Begin anew, without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400, 'Invalid p_query_dsl: records are asked for, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s met its bound of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.', '`validate_query`: more at once than `concurrent_validations`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.search_errors() from public;

grant execute on function logloom_private.search_errors()
to authenticated, service_role;

-- foundations/errors/stages.sql

-- The query language: what stands after a bar.
create function logloom_private.stages_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Write count(), rate(), count_distinct(field), or sum, avg, min, max, p50, p95, p99 or '
        'p99.9 of an attribute, min or max of ts; then nothing or: by field, field. Other '
        'stages are where, sort, limit, fields, json, logfmt and patterns.'
    ),
    e.explanation
  from (
    values
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', null, null),
    ('stages.aggregate_is_not_closed', 400, 'A closing bracket is missing', null, null),
    ('stages.width_is_not_closed', 400, 'A closing bracket is missing', 'Write by (5m), service.',
      null),
    ('stages.aggregate_is_missing', 400, 'An aggregate is missing after |', null, null),
    ('stages.aggregate_is_unknown', 400, 'Unknown aggregate %s', null, null),
    ('stages.takes_an_attribute', 400, '%s takes an attribute',
      'Write an attribute that holds numbers, such as @duration_ms.', null),
    ('stages.takes_no_field', 400, '%s takes no field', null, null),
    ('stages.stage_is_unknown', 400, 'Unknown stage %s', null, null),
    ('stages.name_is_missing', 400, 'A name is missing after as',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after by (',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.two_widths', 400, 'by has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Name one of them: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, 'by is missing after sort',
      'Write sort by name, or sort by name desc.', null),
    ('stages.sort_column_is_missing', 400, 'A name to sort by is missing', 'The columns are %2$s.',
      null),
    ('stages.sort_ts_is_missing', 400, 'A name to sort by is missing',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.sort_column_is_unknown', 400, 'No column to sort by: %s', 'The columns are %2$s.',
      null),
    ('stages.records_are_sorted_by_ts', 400, 'Records are sorted by ts only',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.where_is_empty', 400, 'A comparison is missing after where',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.where_column_is_unknown', 400, 'No number to compare: %s',
      'After an aggregate where compares %2$s: where %3$s > 10', null),
    ('stages.comparison_is_missing', 400, 'A comparison is missing after %s',
      'Write >, >=, <, <=, = or != and a number.', null),
    ('stages.number_is_missing', 400, 'A number is missing after %s',
      'Write a number such as 10, -0.5 or 1e3.', null),
    ('stages.limit_is_out_of_range', 400, 'limit takes a whole number from 1 to 999999',
      'Write limit 10.', null),
    ('stages.any_is_for_filters', 400, 'any stands in a filter only',
      'Name a field, such as service or @status.', null),
    ('stages.order_is_wrong', 400, '%s cannot stand after %s',
      'The order is json, logfmt and where, then an aggregate or patterns, then where, sort and '
        'limit; without an aggregate, sort, limit and fields follow where. Each of the last '
        'stands once.', null),
    ('stages.too_many', 400, 'The query has more than 10 stages', 'Join them, or leave some out.',
      null),
    ('stages.takes_a_text', 400, '%s takes a field that holds a text',
      'Write %s msg, or an attribute that holds a text.', null),
    ('stages.something_follows', 400, 'Nothing may follow %s here: %s',
      'A stage ends at the next | or at the end of the query.', null),
    ('stages.aggregate_needs_a_field', 400, '%s needs a field', null, null),
    ('stages.by_needs_a_field', 400, 'A field is missing after by', null, null),
    ('stages.fields_needs_a_field', 400, 'A field is missing after fields',
      'Write fields ts, msg, @status.', null),
    ('stages.needs_a_field', 400, '%s needs a field',
      'Write %s msg, or an attribute that holds a text.', null)
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.stages_errors() from public;

-- foundations/errors/tenants.sql

-- Tenants, their members and their settings.
create function logloom_private.tenants_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: member, admin or owner',
      'docs/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'Nobody of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They belong to the tenant already',
      'set_member_role changes what they may do.', '`add_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner stays an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'Somebody has to be.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You belong to a tenant already',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant is made by a user, who becomes its owner',
      'service_role makes one by add_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users do not make tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again when nothing of it is left.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.tenants_errors() from public;

grant execute on function logloom_private.tenants_errors()
to authenticated, service_role;

-- foundations/errors/usage.sql

-- Usage, settings and deletion.
create function logloom_private.usage_errors()
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select e.*
  from (
    values
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the greatest retention_days.', 'The plan limits `retention_days`.'),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Leave p_months out for the current month alone.', '`get_usage`.'),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_retention_runs shows them. One deletion with OR does the work of several.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Say ts:* to delete every record of the range.', '`delete_logs`: `ts:*` finds every record.')
  ) e (name, status, message, hint, explanation);
end;
$$;

revoke all on function logloom_private.usage_errors() from public;

grant execute on function logloom_private.usage_errors()
to authenticated, service_role;

-- foundations/claims.sql

create function logloom_private.claims()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- NUL, or half a surrogate pair: such claims name nobody.
exception when data_exception then
  return null;
end;
$$;

revoke all on function logloom_private.claims() from public;

comment on function logloom_private.claims() is
  'The verified claims of the request''s token as PostgREST set them; null outside a request.';

grant execute on function logloom_private.claims() to anon, authenticated, service_role;

create function logloom_private.current_user_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.claims() ->> 'sub';
end;
$$;

revoke all on function logloom_private.current_user_id() from public;

comment on function logloom_private.current_user_id() is 'The user of the request: the claim sub.';

grant execute on function logloom_private.current_user_id()
to anon, authenticated, service_role;

create function logloom_private.is_service_role()
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

revoke all on function logloom_private.is_service_role() from public;

comment on function logloom_private.is_service_role() is
  'Whether the request runs as service_role, also when asked from within a definer function.';

grant execute on function logloom_private.is_service_role()
to anon, authenticated, service_role;

create function logloom_private.require_user_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_user_id constant text := logloom_private.current_user_id();
begin
  if v_user_id is null or v_user_id !~ '[^[:space:]]' then
    perform logloom_private.refuse('callers.user_is_missing');
  end if;
  return v_user_id;
end;
$$;

revoke all on function logloom_private.require_user_id() from public;

comment on function logloom_private.require_user_id() is
  'The user of the request, where an operation cannot do without one. PT401 without the claim sub.';

grant execute on function logloom_private.require_user_id()
to anon, authenticated, service_role;

-- What prints nothing in any script: white space, format characters, fillers, variation selectors.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if length(p_id) between 1 and 255
    and p_id !~ '[\u0001-\u001f\u007f-\u009f]'
    and p_id ~ (
      '[^\u0020\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
      '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
      '\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
    )
  then
    return p_id;
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.usable_id(text) from public;

comment on function logloom_private.usable_id(text) is
  'The id of a tenant or a user where it can name one: 1 to 255 characters without a control '
  'character, not blank in any script. Null otherwise.';

grant execute on function logloom_private.usable_id(text) to anon, authenticated, service_role;

create function logloom_private.usable_tenant_id(p_tenant_id text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.usable_id(p_tenant_id);
end;
$$;

revoke all on function logloom_private.usable_tenant_id(text) from public;

comment on function logloom_private.usable_tenant_id(text) is
  'The tenant id where it can name a tenant: see usable_id(). Null otherwise.';

grant execute on function logloom_private.usable_tenant_id(text)
to anon, authenticated, service_role;

create function logloom_private.token_is_valid(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role reads the settings
declare
  v_now constant numeric := extract(epoch from now());
  v_leeway numeric;
  v_audience text;
begin
  select extract(epoch from s.token_leeway), s.token_audience into v_leeway, v_audience
  from logloom_private.settings s;
  return coalesce(
    jsonb_typeof(p_claims -> 'exp') = 'number'
    and (p_claims ->> 'exp')::numeric + v_leeway > v_now
    and (
      not p_claims ? 'nbf'
      or jsonb_typeof(p_claims -> 'nbf') = 'number'
        and (p_claims ->> 'nbf')::numeric - v_leeway <= v_now
    )
    and (
      not p_claims ? 'iat'
      or jsonb_typeof(p_claims -> 'iat') = 'number'
        and (p_claims ->> 'iat')::numeric - v_leeway <= v_now
    )
    and (
      v_audience is null
      or p_claims -> 'aud' = to_jsonb(v_audience)
      or jsonb_typeof(p_claims -> 'aud') = 'array' and p_claims -> 'aud' ? v_audience
    )
    and (
      not p_claims ? 'sub'
      or jsonb_typeof(p_claims -> 'sub') = 'string'
        and logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$$;

revoke all on function logloom_private.token_is_valid(jsonb) from public;

comment on function logloom_private.token_is_valid(jsonb) is
  'Whether verified claims may act now: exp is there and ahead, nbf and iat are not, give or take '
  'token_leeway; aud is token_audience or contains it where that is set; sub can name a user. '
  'The one verdict of every door; who verified the signature may be stricter.';

grant execute on function logloom_private.token_is_valid(jsonb) to authenticated, service_role;

-- foundations/days.sql

create function logloom_private.utc_day(p_ts timestamptz)
returns date
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (p_ts at time zone 'UTC')::date;
end;
$$;

revoke all on function logloom_private.utc_day(timestamptz) from public;

comment on function logloom_private.utc_day(timestamptz) is 'The UTC day of an instant.';

create function logloom_private.day_start(p_day date)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_day::timestamp at time zone 'UTC';
end;
$$;

revoke all on function logloom_private.day_start(date) from public;

comment on function logloom_private.day_start(date) is 'When a UTC day begins.';

-- foundations/errors.sql

-- The register is functions, not a table: nobody needs a right to be refused, not even anon, and a
-- later migration finds a changed text as it finds any other change.
create function logloom_private.errors(p_register text)
returns setof logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  case p_register
    when 'alerts' then return query select e.* from logloom_private.alerts_errors() e;
    when 'api_keys' then return query select e.* from logloom_private.api_keys_errors() e;
    when 'callers' then return query select e.* from logloom_private.callers_errors() e;
    when 'ingest' then return query select e.* from logloom_private.ingest_errors() e;
    when 'notifications' then return query select e.* from logloom_private.notifications_errors() e;
    when 'parameters' then return query select e.* from logloom_private.parameters_errors() e;
    when 'query' then return query select e.* from logloom_private.query_errors() e;
    when 'regex' then return query select e.* from logloom_private.regex_errors() e;
    when 'saved_searches' then
      return query select e.* from logloom_private.saved_searches_errors() e;
    when 'search' then return query select e.* from logloom_private.search_errors() e;
    when 'stages' then return query select e.* from logloom_private.stages_errors() e;
    when 'tenants' then return query select e.* from logloom_private.tenants_errors() e;
    when 'usage' then return query select e.* from logloom_private.usage_errors() e;
  end case;
end;
$$;

revoke all on function logloom_private.errors(text) from public;

grant execute on function logloom_private.errors(text) to anon, authenticated, service_role;

comment on function logloom_private.errors(text) is
  'The errors of a register: foundations/errors/<register>.sql.';

create function logloom_private.error_named(p_name text, p_values text[])
returns logloom_private.error
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_error logloom_private.error;
begin
  select e.* into v_error
  from logloom_private.errors(split_part(p_name, '.', 1)) e
  where e.name = p_name;
  if not found then
    raise exception using
      errcode = 'internal_error',
      message = format('The register has no error %s', p_name);
  end if;
  v_error.message := format(v_error.message, variadic p_values);
  v_error.hint := format(v_error.hint, variadic p_values);
  return v_error;
end;
$$;

revoke all on function logloom_private.error_named(text, text[]) from public;

grant execute on function logloom_private.error_named(text, text[])
to anon, authenticated, service_role;

comment on function logloom_private.error_named(text, text[]) is
  'An error of the register with the values of a case in its message and hint.';

-- foundations/health_word.sql

create function logloom_private.health_word(p_unhealthy boolean, p_degraded boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case when p_unhealthy then 'unhealthy' when p_degraded then 'degraded' else 'healthy' end;
end;
$$;

revoke all on function logloom_private.health_word(boolean, boolean) from public;

comment on function logloom_private.health_word(boolean, boolean) is
  'healthy, degraded or unhealthy.';

-- A time that lies ahead tells that the clock went back: it says nothing of what is.
create function logloom_private.silence_since(p_at timestamptz, p_now timestamptz)
returns interval
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case
    when p_at <= p_now + interval '5 seconds' then greatest(p_now - p_at, interval '0')
    else interval 'infinity'
  end;
end;
$$;

revoke all on function logloom_private.silence_since(timestamptz, timestamptz) from public;

comment on function logloom_private.silence_since(timestamptz, timestamptz) is
  'How long it is silent that was last heard of at p_at; infinity where that is null or ahead.';

-- foundations/is_restored.sql

create function logloom_private.is_restored()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from logloom_private.installation i
    where i.own_oid <> 'logloom_private.installation'::regclass
  );
end;
$$;

revoke all on function logloom_private.is_restored() from public;

comment on function logloom_private.is_restored() is
  'Whether this database was made from a dump and repair() was not called since.';

-- foundations/job_deadline.sql

create function logloom_private.job_deadline(p_started_at timestamptz)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_budget interval := (select s.job_run_budget from logloom_private.settings s);
  v_statement_timeout constant interval := current_setting('statement_timeout')::interval;
begin
  -- A run of pg_cron is one statement, commits or not: at its timeout all of it is cancelled.
  if v_statement_timeout > interval '0' then
    v_budget := least(v_budget, v_statement_timeout / 2);
  end if;
  return p_started_at + v_budget;
end;
$$;

revoke all on function logloom_private.job_deadline(timestamptz) from public;

comment on function logloom_private.job_deadline(timestamptz) is
  'After this time a job''s run that began at p_started_at starts no further step.';

-- foundations/locks.sql

-- Who takes several takes them in this order: deletion, writer, partitions, log_counts.
create type logloom_private.lock_name as enum (
  'sealing',
  'deletion',
  'writer',
  'partitions',
  'log_counts',
  'queue',
  'alerts',
  'delete_logs',
  'members',
  'notifications'
);

comment on type logloom_private.lock_name is
  'The advisory locks of Logloom. sealing: one sealer. deletion: one that deletes records of days '
  'that are over. writer: whoever adds records or moves the queue. partitions: whoever makes or '
  'drops a day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, '
  'exclusive for the flip. notifications: one claim at a time, so that a limit holds. With a '
  'tenant''s hash as second key: alerts, one evaluator of its rules; delete_logs, one order of a '
  'deletion at a time; members, one change of who belongs to it; notifications, one test or '
  'confirmation of an address.';

create function logloom_private.lock_key(p_name logloom_private.lock_name)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return hashtext('logloom:' || p_name::text);
end;
$$;

revoke all on function logloom_private.lock_key(logloom_private.lock_name) from public;

comment on function logloom_private.lock_key(logloom_private.lock_name) is
  'The key of a lock for pg_advisory_xact_lock and its like.';

create function logloom_private.limit_lock_wait(p_wait interval)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_before constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', extract(epoch from p_wait) * 1000 || 'ms', true);
  return v_before;
end;
$$;

revoke all on function logloom_private.limit_lock_wait(interval) from public;

comment on function logloom_private.limit_lock_wait(interval) is
  'From now on the transaction waits for a lock no longer than p_wait. Returns the limit that it '
  'had, for restore_lock_wait. A block that fails restores it by itself.';

create function logloom_private.restore_lock_wait(p_before text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform set_config('lock_timeout', p_before, true);
end;
$$;

revoke all on function logloom_private.restore_lock_wait(text) from public;

comment on function logloom_private.restore_lock_wait(text) is
  'Puts back what limit_lock_wait returned.';

-- foundations/parameters.sql

create function logloom_private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_is_missing then
    perform logloom_private.refuse('parameters.missing', p_name);
  end if;
end;
$$;

revoke all on function logloom_private.require_parameter(text, boolean) from public;

comment on function logloom_private.require_parameter(text, boolean) is
  'PT400 when a required parameter is missing. Parameters default to null so that this text '
  'answers, not PostgREST''s 404.';

grant execute on function logloom_private.require_parameter(text, boolean)
to authenticated, service_role;

create function logloom_private.trim_space(p_text text)
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

revoke all on function logloom_private.trim_space(text) from public;

comment on function logloom_private.trim_space(text) is 'The text without white space at its ends.';

grant execute on function logloom_private.trim_space(text) to authenticated, service_role;

create function logloom_private.list_limit(p_limit integer)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit < 1 or p_limit > v_max then
    perform logloom_private.refuse('parameters.list_limit_is_out_of_range', v_max::text);
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

revoke all on function logloom_private.list_limit(integer) from public;

comment on function logloom_private.list_limit(integer) is
  'The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds.';

grant execute on function logloom_private.list_limit(integer)
to authenticated, service_role;

create function logloom_private.page_place(p_at timestamptz, p_what text, p_id text)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_at is null then
    perform logloom_private.refuse('parameters.no_such_place', p_what, p_id);
  end if;
  return p_at;
end;
$$;

revoke all on function logloom_private.page_place(timestamptz, text, text) from public;

comment on function logloom_private.page_place(timestamptz, text, text) is
  'Where the page after an item begins: the item''s time. PT400 where the list has no such item, '
  'p_what being what the list holds and p_id the name of its id.';

grant execute on function logloom_private.page_place(timestamptz, text, text)
to authenticated, service_role;

-- The words of a query's times (query_time) mean the same here, so that a range can be told either
-- way.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := logloom_private.trim_space(p_text);
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
begin
  if v_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;

revoke all on function logloom_private.time_parameter(text, text) from public;

comment on function logloom_private.time_parameter(text, text) is
  'The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift. '
  'Null stays null. PT400 for anything else.';

grant execute on function logloom_private.time_parameter(text, text)
to authenticated, service_role;

-- foundations/record_job.sql

create function logloom_private.record_job(
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
  insert into logloom_private.job_heartbeats as h (
    job, last_started_at, last_succeeded_at, last_duration_ms, last_failed_at, last_error,
    failures
  )
  values (
    p_job,
    p_started_at,
    case when p_error is null then v_now end,
    extract(epoch from v_now - p_started_at) * 1000,
    case when p_error is not null then v_now end,
    p_error,
    (p_error is not null)::integer
  )
  on conflict (job) do update set
    last_started_at = excluded.last_started_at,
    last_succeeded_at = coalesce(excluded.last_succeeded_at, h.last_succeeded_at),
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error),
    failures = case when p_error is null then 0 else h.failures + 1 end;
end;
$$;

revoke all on function logloom_private.record_job(text, timestamptz, text) from public;

comment on function logloom_private.record_job(text, timestamptz, text) is
  'Leaves the heartbeat of a scheduled job. p_error null says that the run succeeded.';

-- foundations/refuse.sql

-- Each way to refuse what is asked. Nothing else raises an error that a user gets: the code is PT
-- and the status, which PostgREST answers.

create function logloom_private.refuse(p_name text, variadic p_values text[] default '{}')
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  if v_error.hint is null then
    raise exception using errcode = 'PT' || v_error.status, message = v_error.message;
  end if;
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    hint = v_error.hint;
end;
$$;

revoke all on function logloom_private.refuse(text, text[]) from public;

grant execute on function logloom_private.refuse(text, text[])
to anon, authenticated, service_role;

comment on function logloom_private.refuse(text, text[]) is
  'Raises the error of this name.';

create function logloom_private.refuse_at(
  p_position integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = format('{"position": %s}', p_position),
    hint = v_error.hint;
end;
$$;

revoke all on function logloom_private.refuse_at(integer, text, text[]) from public;

comment on function logloom_private.refuse_at(integer, text, text[]) is
  'Raises the error of this name with the place in the query where it is.';

create function logloom_private.refuse_with_headers(
  p_headers jsonb,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;

revoke all on function logloom_private.refuse_with_headers(jsonb, text, text[]) from public;

grant execute on function logloom_private.refuse_with_headers(jsonb, text, text[])
to authenticated, service_role;

comment on function logloom_private.refuse_with_headers(jsonb, text, text[]) is
  'Raises the error of this name with headers for its answer.';

create function logloom_private.refuse_for_now(
  p_seconds integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse_with_headers(
    jsonb_build_object('Retry-After', p_seconds::text), p_name, variadic p_values
  );
end;
$$;

revoke all on function logloom_private.refuse_for_now(integer, text, text[]) from public;

grant execute on function logloom_private.refuse_for_now(integer, text, text[])
to authenticated, service_role;

comment on function logloom_private.refuse_for_now(integer, text, text[]) is
  'Raises the error of this name with Retry-After: what is asked is in order, but not now.';

create function logloom_private.refuse_and_keep(
  p_name text,
  variadic p_values text[] default '{}'
)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message, 'details', null,
    'hint', v_error.hint
  );
end;
$$;

revoke all on function logloom_private.refuse_and_keep(text, text[]) from public;

comment on function logloom_private.refuse_and_keep(text, text[]) is
  'The answer of an operation that is refused with the error of this name, whose transaction is '
  'committed all the same: for what counts failures.';

-- foundations/run_job.sql

-- What pg_cron runs. A job is a function that does one step of its work in one transaction, finds
-- by itself where the last one ended, and returns how long to rest before the next one: null when
-- nothing is left, as a function does that returns nothing. Each run leaves a heartbeat, which
-- health reads.

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure logloom_private.run_job(p_job text, p_step regprocedure)
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest interval;
  v_answer text;
  v_error text;
begin
  loop
    begin
      execute pg_catalog.format('select %s::text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::interval end;
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      v_rest := null;
    end;
    commit;
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
  perform logloom_private.record_job(p_job, v_started_at, v_error);
  commit;
end;
$$;

revoke all on procedure logloom_private.run_job(text, regprocedure) from public;

comment on procedure logloom_private.run_job(text, regprocedure) is
  'Runs a job step by step, each committed, until nothing is left or its time is up, and leaves '
  'its heartbeat, with the error where a step fails.';

-- tenants/types/member.sql

create type public.logloom_member as (
  user_id text,
  role text,
  email text,
  created_at timestamptz
);

comment on type public.logloom_member is
  'A user who belongs to a tenant. role: member, admin or owner. email: of Supabase Auth, else '
  'what was given when the member was added; null where neither is known.';

-- tenants/types/tenant.sql

-- What a tenant may know of itself, and what it may set.

create type public.logloom_plan_features as (
  saved_searches boolean,
  max_saved_searches integer,
  alerts boolean,
  max_alerts integer
);

comment on type public.logloom_plan_features is 'What a plan includes, and how many.';

create type public.logloom_tenant as (
  tenant_id text,
  plan_id text,
  plan_name text,
  created_at timestamptz,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  features public.logloom_plan_features
);

comment on type public.logloom_tenant is 'A tenant with its plan. Limits are per UTC month.';

-- tenants/types/tenant_settings.sql

create type public.logloom_pipeline_config as (retention_days integer, compression boolean);

comment on type public.logloom_pipeline_config is
  'How long records are kept, and whether compressed.';

create type public.logloom_notification_preferences as (email_enabled boolean,
  webhook_enabled boolean);

comment on type public.logloom_notification_preferences is 'Which channels alerts may use.';

create type public.logloom_stored as (sealed_bytes bigint, hot_bytes bigint);

comment on type public.logloom_stored is
  'What a tenant''s records take on disk: sealed_bytes in compressed chunks, hot_bytes as rows '
  'with their indexes, that one about.';

create type public.logloom_tenant_settings as (
  tenant_id text,
  pipeline_config public.logloom_pipeline_config,
  notification_preferences public.logloom_notification_preferences,
  stored public.logloom_stored
);

comment on type public.logloom_tenant_settings is
  'The settings in force: what was set, else the defaults.';

-- tenants/current_tenant.sql

create function logloom_private.acting_role(p_tenant_id text, p_user_id text)
returns text
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the policies of these tables ask it
declare
  v_role text;
begin
  if logloom_private.is_being_deleted(p_tenant_id) then
    return null;
  end if;
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = p_tenant_id and m.user_id = p_user_id;
  if found then
    return v_role;
  end if;
  if exists (select from logloom.tenant_members m where m.tenant_id = p_tenant_id) then
    return null;
  end if;
  return 'owner';
end;
$$;

revoke all on function logloom_private.acting_role(text, text) from public;

grant execute on function logloom_private.acting_role(text, text) to authenticated, service_role;

comment on function logloom_private.acting_role(text, text) is
  'What a user is in a tenant: member, admin or owner. A tenant without members does not use '
  'roles, each of its users is owner. Null for who does not belong to it, and in a tenant that is '
  'being deleted.';

create function logloom_private.is_being_deleted(p_tenant_id text)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role reads deletions of tenants
begin
  return exists (
    select
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null
  );
end;
$$;

revoke all on function logloom_private.is_being_deleted(text) from public;

grant execute on function logloom_private.is_being_deleted(text) to authenticated, service_role;

comment on function logloom_private.is_being_deleted(text) is
  'Whether something of a deleted tenant is left. Its id names nobody meanwhile.';

create function logloom_private.tenant_of_token(p_claims jsonb)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id text;
begin
  if jsonb_typeof(p_claims -> 'tenant_id') <> 'string' then
    return null;
  end if;
  v_tenant_id := logloom_private.usable_tenant_id(p_claims ->> 'tenant_id');
  if v_tenant_id is null or not logloom_private.token_is_valid(p_claims)
    or logloom_private.acting_role(v_tenant_id, p_claims ->> 'sub') is null
  then
    return null;
  end if;
  return v_tenant_id;
end;
$$;

revoke all on function logloom_private.tenant_of_token(jsonb) from public;

grant execute on function logloom_private.tenant_of_token(jsonb) to authenticated, service_role;

comment on function logloom_private.tenant_of_token(jsonb) is
  'The tenant that verified claims act for: the top-level claim tenant_id. Null where it cannot '
  'name one, the token is not valid now, or its user does not belong to the tenant. RPC and ingest '
  'ask it alike.';

create function logloom_private.current_tenant_id()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if current_setting('role', true) = 'anon' then
    return null;
  end if;
  return logloom_private.tenant_of_token(logloom_private.claims());
end;
$$;

revoke all on function logloom_private.current_tenant_id() from public;

comment on function logloom_private.current_tenant_id() is
  'The tenant of the request''s token, see tenant_of_token(). Null if unusable.';

grant execute on function logloom_private.current_tenant_id()
to anon, authenticated, service_role;

create function logloom_private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id text;
begin
  if logloom_private.is_service_role() then
    if p_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_must_be_named');
    end if;
    v_tenant_id := logloom_private.usable_tenant_id(p_tenant_id);
    if v_tenant_id is null then
      perform logloom_private.refuse('callers.tenant_is_invalid');
    end if;
    if logloom_private.is_being_deleted(v_tenant_id) then
      perform logloom_private.refuse('tenants.being_deleted');
    end if;
    return v_tenant_id;
  end if;

  v_tenant_id := logloom_private.current_tenant_id();
  if v_tenant_id is null then
    perform logloom_private.refuse('callers.tenant_is_missing');
  end if;
  if p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return v_tenant_id;
end;
$$;

revoke all on function logloom_private.resolve_tenant(text) from public;

comment on function logloom_private.resolve_tenant(text) is
  'The tenant that an operation acts for. Users: the token''s, PT403 when p_tenant_id differs. '
  'service_role: p_tenant_id, PT400 without it. PT401 without a usable tenant.';

grant execute on function logloom_private.resolve_tenant(text)
to anon, authenticated, service_role;

create function logloom_private.require_role(p_tenant_id text, p_role text)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_roles constant text[] := array['member', 'admin', 'owner'];
  v_role text;
begin
  if logloom_private.is_service_role() then
    return;
  end if;
  v_role := logloom_private.acting_role(p_tenant_id, logloom_private.current_user_id());
  if array_position(v_roles, v_role) >= array_position(v_roles, p_role) then
    return;
  end if;
  perform logloom_private.refuse('callers.role_is_missing', p_role);
end;
$$;

revoke all on function logloom_private.require_role(text, text) from public;

grant execute on function logloom_private.require_role(text, text) to authenticated, service_role;

comment on function logloom_private.require_role(text, text) is
  'PT403 unless the caller is at least p_role in the tenant: member, admin or owner. service_role '
  'may do everything.';

-- tenants/tables/plans.sql

-- Plans and tenants.

create table logloom.plans (
  plan_id text primary key,
  plan_name text not null,
  is_default boolean not null default false,
  monthly_events_limit bigint not null,
  monthly_bytes_limit bigint not null,
  events_per_second integer,
  events_burst integer,
  requests_per_second integer,
  requests_burst integer,
  retention_days_default integer not null,
  retention_days_max integer not null,
  saved_searches boolean not null,
  max_saved_searches integer not null,
  alerts boolean not null,
  max_alerts integer not null,
  concurrent_searches integer not null,
  concurrent_scans integer not null default 1,
  max_open_deletions integer not null default 10,
  max_members integer not null default 1000,
  max_api_keys integer not null default 1000,
  emails_per_hour integer not null default 1000,
  webhooks_per_hour integer not null default 10000,
  max_notification_addresses integer not null default 1000,
  constraint plans_limits_are_not_negative check (
    least(monthly_events_limit, monthly_bytes_limit, max_saved_searches, max_alerts) >= 0
  ),
  constraint plans_max_members_is_positive check (max_members >= 1),
  constraint plans_max_api_keys_is_positive check (max_api_keys >= 1),
  constraint plans_notifications_are_limited check (
    least(emails_per_hour, webhooks_per_hour, max_notification_addresses) >= 0
  ),
  constraint plans_max_open_deletions_is_positive check (max_open_deletions >= 1),
  constraint plans_concurrent_searches_is_positive check (concurrent_searches >= 1),
  constraint plans_concurrent_scans_is_positive check (concurrent_scans >= 1),
  constraint plans_rates_are_positive check (
    least(events_per_second, events_burst, requests_per_second, requests_burst) >= 1
  ),
  constraint plans_rates_have_bursts check (
    (events_per_second is null) = (events_burst is null)
    and (requests_per_second is null) = (requests_burst is null)
  ),
  constraint plans_retention_is_positive check (
    retention_days_default between 1 and retention_days_max
  )
);

create unique index plans_is_default_idx on logloom.plans (is_default) where is_default;

alter table logloom.plans enable row level security;
alter table logloom.plans force row level security;

create policy plans_select_anyone on logloom.plans
for select to authenticated
using (true);

grant select on logloom.plans to authenticated, service_role;

insert into logloom.plans (
  plan_id, plan_name, is_default, monthly_events_limit, monthly_bytes_limit,
  retention_days_default, retention_days_max,
  saved_searches, max_saved_searches, alerts, max_alerts, concurrent_searches
)
values
  ('free', 'Free', true, 1000000, 1000000000, 7, 7, true, 10, true, 3, 4),
  ('pro', 'Pro', false, 100000000, 100000000000, 30, 90, true, 50, true, 50, 6),
  (
    'enterprise', 'Enterprise', false, 10000000000, 10000000000000, 90, 400,
    true, 1000, true, 1000, 8
  );

update logloom.plans p set concurrent_scans = 2 where p.plan_id = 'enterprise';

update logloom.plans p
set max_members = l.max_members, max_api_keys = l.max_api_keys,
  emails_per_hour = l.emails_per_hour, webhooks_per_hour = l.webhooks_per_hour,
  max_notification_addresses = l.max_notification_addresses
from (
  values ('free', 10, 20, 20, 200, 10), ('pro', 100, 200, 200, 2000, 100)
) l (
  plan_id, max_members, max_api_keys, emails_per_hour, webhooks_per_hour,
  max_notification_addresses
)
where p.plan_id = l.plan_id;

comment on table logloom.plans is
  'What a tenant can buy. A change of a row holds from the next request on.';

comment on column logloom.plans.is_default is
  'The plan of a tenant that is provisioned by its first write.';

comment on column logloom.plans.max_open_deletions is
  'Erasures by delete_logs that may be queued or under way at once.';

comment on column logloom.plans.monthly_bytes_limit is
  'Bytes of accepted request bodies in a UTC month.';

comment on column logloom.plans.events_per_second is
  'Events that a tenant may send a second over time, events_burst of them at once. Null: any.';

comment on column logloom.plans.requests_per_second is
  'Requests a second over time, requests_burst of them at once. Null: any.';

comment on column logloom.plans.concurrent_searches is
  'Searches, statistics, tails and previews of a tenant that run at once; a further one is PT429.';

comment on column logloom.plans.concurrent_scans is
  'How many of them read on at once after search_free_time; the others wait for their turn. The '
  'first has one parallel worker less.';

comment on column logloom.plans.retention_days_max is
  'Greatest retention_days that a tenant may set.';

comment on column logloom.plans.max_members is 'Members that a tenant may have.';

comment on column logloom.plans.max_api_keys is
  'API keys that a tenant may have that are neither revoked nor expired.';

comment on column logloom.plans.emails_per_hour is
  'Emails that may be sent for a tenant in an hour of the clock, tests, codes and repeated '
  'attempts included. What is beyond waits for the next hour; a further test is PT429.';

comment on column logloom.plans.webhooks_per_hour is 'The same for webhooks.';

comment on column logloom.plans.max_notification_addresses is
  'Email addresses that a tenant may have confirmed.';

-- tenants/tables/tenants.sql

create table logloom.tenants (
  tenant_id text primary key,
  plan_id text not null references logloom.plans on delete restrict,
  created_at timestamptz not null default now(),
  constraint tenants_id_is_usable check (logloom_private.usable_tenant_id(tenant_id) is not null)
);

create index tenants_plan_id_idx on logloom.tenants (plan_id);

alter table logloom.tenants enable row level security;
alter table logloom.tenants force row level security;

create policy tenants_select_own on logloom.tenants
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.tenants to authenticated, service_role;

comment on table logloom.tenants is
  'A tenant appears with its first write: create, update or ingest.';

-- tenants/tables/tenant_deletions.sql

-- Deleted tenants: the receipt, and while it is not finished, what keeps the id from being used.
create table logloom_private.tenant_deletions (
  deletion_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  erased_records bigint,
  finished_at timestamptz
);

create unique index tenant_deletions_tenant_id_idx
on logloom_private.tenant_deletions (tenant_id) where finished_at is null;

alter table logloom_private.tenant_deletions enable row level security;
alter table logloom_private.tenant_deletions force row level security;

comment on table logloom_private.tenant_deletions is
  'A row for each delete_tenant. finished_at: when nothing of the tenant was left. erased_records: '
  'log records that were erased; null until they are.';

-- tenants/tables/tenant_members.sql

-- Who belongs to which tenant, and the hook that says so in Supabase Auth's tokens.

create table logloom.tenant_members (
  tenant_id text not null references logloom.tenants on delete cascade,
  user_id text not null,
  email text,
  role text not null default 'member',
  -- Two members of one transaction have an order too.
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, user_id),
  constraint tenant_members_user_id_is_usable check (
    logloom_private.usable_id(user_id) is not null
  ),
  constraint tenant_members_email_is_short check (length(email) <= 320),
  constraint tenant_members_role_is_known check (role in ('owner', 'admin', 'member'))
);

create index tenant_members_user_id_created_at_idx
on logloom.tenant_members (user_id, created_at, tenant_id);

alter table logloom.tenant_members enable row level security;
alter table logloom.tenant_members force row level security;

create policy tenant_members_select_tenant on logloom.tenant_members
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_members_select_auth on logloom.tenant_members
for select to supabase_auth_admin
using (true);

grant select on logloom.tenant_members to authenticated, service_role;
grant select (tenant_id, user_id, created_at) on logloom.tenant_members to supabase_auth_admin;

comment on table logloom.tenant_members is
  'Users of Supabase Auth and the tenants they belong to. Auth''s tokens get tenant_id from here.';

comment on column logloom.tenant_members.user_id is
  'The claim sub of their tokens: auth.users.id, or what another identity provider has. Without a '
  'foreign key for that reason.';

comment on column logloom.tenant_members.email is
  'A label that whoever added the member gave. Nothing is sent there for its sake.';

comment on column logloom.tenant_members.role is
  'member reads, searches, keeps saved searches and alert rules; admin also keys, settings and '
  'deletion; owner also members.';

-- tenants/tables/tenant_settings.sql

create table logloom.tenant_settings (
  tenant_id text primary key references logloom.tenants on delete cascade,
  retention_days integer,
  compression boolean,
  email_enabled boolean,
  webhook_enabled boolean,
  updated_at timestamptz not null default now(),
  constraint tenant_settings_retention_is_positive check (retention_days >= 1)
);

alter table logloom.tenant_settings enable row level security;
alter table logloom.tenant_settings force row level security;

create policy tenant_settings_select_tenant on logloom.tenant_settings
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_settings_insert_tenant on logloom.tenant_settings
for insert to authenticated
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_settings_update_tenant on logloom.tenant_settings
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.tenant_settings to authenticated, service_role;

grant insert (
  tenant_id, retention_days, compression, email_enabled, webhook_enabled
) on logloom.tenant_settings to authenticated, service_role;

grant update (retention_days, compression, email_enabled, webhook_enabled, updated_at)
on logloom.tenant_settings to authenticated, service_role;

comment on table logloom.tenant_settings is
  'What a tenant set. Where there is no row, or null, the default holds.';

comment on column logloom.tenant_settings.retention_days is
  'Read cut to the plan''s limit: a change of plan may have lowered it.';

-- tenants/add_member.sql

create function logloom_private.enroll_member(
  p_tenant_id text,
  p_user_id text,
  p_role text,
  p_email text
)
returns public.logloom_member
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_email constant text := nullif(logloom_private.trim_space(p_email), '');
  v_caller text;
  v_user_id text := p_user_id;
  v_members integer;
  v_max integer;
  v_added logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_member_role(p_role);
  if length(v_email) > 320 then
    perform logloom_private.refuse('tenants.email_is_too_long');
  end if;
  if v_user_id is null then
    perform logloom_private.require_parameter('p_user_id', v_email is null);
    v_user_id := logloom_private.auth_user_of_email(v_email);
  end if;
  if logloom_private.usable_id(v_user_id) is null then
    perform logloom_private.refuse('tenants.user_id_is_invalid');
  end if;
  perform logloom_private.provision_tenant(v_tenant_id);
  perform logloom_private.lock_members(v_tenant_id);

  select count(*) into v_members
  from logloom.tenant_members m where m.tenant_id = v_tenant_id;
  if v_members = 0 and logloom_private.is_service_role() then
    if p_role <> 'owner' then
      perform logloom_private.refuse('tenants.first_member_is_owner');
    end if;
  elsif v_members = 0 then
    -- From here on the tenant uses roles: who set that off must not be locked out by it.
    v_caller := logloom_private.require_user_id();
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values (v_tenant_id, v_caller, 'owner');
    v_members := 1;
  end if;
  v_max := (logloom_private.plan_of(v_tenant_id)).max_members;
  if v_members >= v_max and v_user_id is distinct from v_caller then
    perform logloom_private.refuse('tenants.no_room_for_member', v_max::text);
  end if;

  if v_user_id = v_caller then
    -- A tenant's first member is its owner, whatever they asked for.
    update logloom.tenant_members m set email = v_email
    where m.tenant_id = v_tenant_id and m.user_id = v_user_id
    returning m.* into v_added;
  else
    insert into logloom.tenant_members as m (tenant_id, user_id, role, email)
    values (v_tenant_id, v_user_id, p_role, v_email)
    on conflict do nothing
    returning m.* into v_added;
    if not found then
      perform logloom_private.refuse('tenants.already_a_member');
    end if;
  end if;
  return logloom_private.member_of(v_added);
end;
$$;

revoke all on function logloom_private.enroll_member(text, text, text, text) from public;

grant execute on function logloom_private.enroll_member(text, text, text, text)
to authenticated, service_role;

comment on function logloom_private.enroll_member(text, text, text, text) is
  'Enrolls a user, and in the first place who does so; what public.add_member answers.';

create function public.add_member(
  p_user_id text default null,
  p_role text default null,
  p_email text default null,
  p_tenant_id text default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_role', p_role is null);
  return logloom_private.enroll_member(p_tenant_id, p_user_id, p_role, p_email);
end;
$$;

revoke all on function public.add_member(text, text, text, text)
from public, anon, authenticated, service_role;

grant execute on function public.add_member(text, text, text, text)
to authenticated, service_role;

comment on function public.add_member(text, text, text, text) is
  'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens; by '
  'p_email alone where Supabase Auth knows a user with it. p_role: member, admin or owner. For '
  'owners. The first member makes its caller owner too, and from then on nobody else belongs to '
  'the tenant. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- tenants/check_request.sql

-- PostgREST calls one function before every request of the project. Most of them are not ours.

create function logloom_private.requested_operation(p_path text, p_search_path text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_name text := substr(p_path, length('/rpc/') + 1);
  v_code text[];
begin
  -- PostgREST puts the schema of the request first: a function of the same name in another schema
  -- is not ours.
  if p_path is null or p_path not like '/rpc/%' or length(p_path) > 250
    or trim(both '"' from split_part(p_search_path, ',', 1)) <> 'public'
  then
    return null;
  end if;
  -- The path is as it was sent: %5F stands for an underscore.
  loop
    v_code := regexp_match(v_name, '%(2[0-9A-Fa-f]|[3-7][0-9A-Fa-f])');
    exit when v_code is null;
    v_name := replace(v_name, '%' || v_code[1], convert_from(decode(v_code[1], 'hex'), 'UTF8'));
  end loop;
  if v_name = any (logloom_private.operations()) then
    return v_name;
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.requested_operation(text, text) from public;

grant execute on function logloom_private.requested_operation(text, text)
to anon, authenticated, service_role;

comment on function logloom_private.requested_operation(text, text) is
  'Our operation that a request with this path and search_path asks for; null for every other.';

create function logloom_private.check_operation(p_search_path text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_headers constant json := nullif(current_setting('request.headers', true), '')::json;
  v_method constant text := current_setting('request.method', true);
  v_operation constant text := logloom_private.requested_operation(
    current_setting('request.path', true), p_search_path
  );
  v_is_known boolean;
begin
  if v_operation is null then
    return;
  end if;
  if v_headers ->> 'authorization' is null then
    perform logloom_private.refuse('callers.authorization_is_missing');
  end if;
  if current_user = 'service_role' then
    v_is_known := true;
  elsif current_user <> 'authenticated' then
    v_is_known := false;
  elsif v_operation = 'create_tenant' then
    -- The one operation for users who have no tenant yet.
    v_is_known := logloom_private.token_is_valid(logloom_private.claims());
  else
    v_is_known := logloom_private.current_tenant_id() is not null;
  end if;
  if v_is_known is not true then
    perform logloom_private.refuse('callers.not_signed_in');
  end if;
  if v_method <> 'POST' then
    perform logloom_private.refuse('callers.method_is_not_allowed', v_method);
  end if;
  -- Hosted projects have 0, which cuts a double at its 15th digit.
  perform set_config('extra_float_digits', '1', true);
end;
$$;

revoke all on function logloom_private.check_operation(text) from public;

grant execute on function logloom_private.check_operation(text)
to anon, authenticated, service_role;

comment on function logloom_private.check_operation(text) is
  'Where the request asks for one of our operations: PT400 without an Authorization header, PT401 '
  'without a usable tenant (service_role excepted), PT405 by another method than POST.';

create function logloom_private.call_host_pre_request()
returns void
language plpgsql
volatile
security invoker
as $$
begin
  null;
end;
$$;

revoke all on function logloom_private.call_host_pre_request() from public;

grant execute on function logloom_private.call_host_pre_request()
to anon, authenticated, service_role;

comment on function logloom_private.call_host_pre_request() is
  'Calls the pre-request function that the project had before; adopt_pre_request() writes it. '
  'Without a set clause: that function sees and sets what the request has.';

create function logloom_private.check_request()
returns void
language plpgsql
volatile
security invoker
as $$
begin
  perform logloom_private.call_host_pre_request();
  perform logloom_private.check_operation(pg_catalog.current_setting('search_path'));
end;
$$;

revoke all on function logloom_private.check_request() from public;

comment on function logloom_private.check_request() is
  'PostgREST''s pre-request function: first the project''s own, then our check, which lets every '
  'request pass that is not for one of our operations. Without a set clause: the project''s own '
  'sees and sets what the request has, and the schema of the request is in its search_path.';

grant execute on function logloom_private.check_request()
to anon, authenticated, service_role;

-- tenants/create_tenant.sql

create function logloom_private.found_tenant(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_tenant_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One at a time for a user, so that each has one at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  if logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse_taken_tenant();
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse_taken_tenant();
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
end;
$$;

revoke all on function logloom_private.found_tenant(text) from public;

grant execute on function logloom_private.found_tenant(text)
to authenticated, service_role;

comment on function logloom_private.found_tenant(text) is
  'Makes a tenant with its owner; what public.create_tenant answers.';

create function logloom_private.refuse_taken_tenant()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse('tenants.id_is_taken');
end;
$$;

revoke all on function logloom_private.refuse_taken_tenant() from public;

comment on function logloom_private.refuse_taken_tenant() is 'PT400: the tenant id is in use.';

create function public.create_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  return logloom_private.found_tenant(p_tenant_id);
end;
$$;

revoke all on function public.create_tenant(text)
from public, anon, authenticated, service_role;

grant execute on function public.create_tenant(text)
to authenticated, service_role;

comment on function public.create_tenant(text) is
  'Makes a tenant on the default plan, for a signed-in user who belongs to none and becomes its '
  'owner; their next token names it. Where the setting tenants_by_users allows it, else PT403. '
  'Errors: PT400 (p_tenant_id is taken, too), PT401, PT403.';

-- tenants/custom_access_token_hook.sql

create function logloom_private.custom_access_token_hook(event jsonb)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
  v_choice constant jsonb := nullif(event #> '{claims,app_metadata,tenant_id}', 'null');
  v_claims jsonb := (event -> 'claims') - 'tenant_id';
  v_tenant_id text;
begin
  select m.tenant_id into v_tenant_id
  from logloom.tenant_members m
  where m.user_id = event ->> 'user_id'
    and (v_choice is null or to_jsonb(m.tenant_id) = v_choice)
  order by m.created_at, m.tenant_id
  limit 1;
  if found then
    v_claims := v_claims || jsonb_build_object('tenant_id', v_tenant_id);
  end if;
  return jsonb_build_object('claims', v_claims);
end;
$$;

revoke all on function logloom_private.custom_access_token_hook(jsonb) from public;

grant execute on function logloom_private.custom_access_token_hook(jsonb) to supabase_auth_admin;

comment on function logloom_private.custom_access_token_hook(jsonb) is
  'Supabase Auth''s custom access token hook: sets the claim tenant_id to the tenant that '
  'app_metadata.tenant_id names, if the user belongs to it; where it names none, to the tenant '
  'that the user joined first. A user of no tenant gets no claim, and so no access.';

-- tenants/effective_settings.sql

create function logloom_private.effective_settings(p_tenant_id text)
returns public.logloom_tenant_settings
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_result public.logloom_tenant_settings;
begin
  select
    t.tenant_id,
    row(logloom_private.retention_days(t.tenant_id), coalesce(s.compression, true)),
    row(coalesce(s.email_enabled, true), coalesce(s.webhook_enabled, true))
  into v_result
  from logloom.tenants t
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  if not found then
    perform logloom_private.refuse('tenants.settings_not_found');
  end if;
  return v_result;
end;
$$;

revoke all on function logloom_private.effective_settings(text) from public;

grant execute on function logloom_private.effective_settings(text)
to authenticated, service_role;

comment on function logloom_private.effective_settings(text) is
  'The settings in force for a tenant. PT404 before its first write.';

-- tenants/get_current_tenant.sql

create function logloom_private.tenant_with_plan(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_result public.logloom_tenant;
begin
  select
    t.tenant_id, p.plan_id, p.plan_name, t.created_at,
    p.monthly_events_limit, p.monthly_bytes_limit,
    row(p.saved_searches, p.max_saved_searches, p.alerts, p.max_alerts)
  into v_result
  from logloom.tenants t
  cross join lateral logloom_private.plan_of(t.tenant_id) p
  where t.tenant_id = p_tenant_id;
  return v_result;
end;
$$;

revoke all on function logloom_private.tenant_with_plan(text) from public;

grant execute on function logloom_private.tenant_with_plan(text) to authenticated, service_role;

comment on function logloom_private.tenant_with_plan(text) is
  'A tenant as operations show it; null members where there is none.';

create function public.get_current_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result constant public.logloom_tenant := logloom_private.tenant_with_plan(v_tenant_id);
begin
  if v_result.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  end if;
  return v_result;
end;
$$;

revoke all on function public.get_current_tenant(text)
from public, anon, authenticated, service_role;

grant execute on function public.get_current_tenant(text)
to authenticated, service_role;

comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';

-- tenants/list_members.sql

create function logloom_private.read_members(p_tenant_id text, p_limit integer, p_after text)
returns setof public.logloom_member
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select m.created_at
        from logloom.tenant_members m
        where m.tenant_id = v_tenant_id and m.user_id = p_after
      ),
      'member', 'user_id'
    )
  end;
begin
  return query
  with page as materialized (
    select m.*
    from logloom.tenant_members m
    where m.tenant_id = v_tenant_id
      and (p_after is null or (m.created_at, m.user_id) < (v_after, p_after))
    order by m.created_at desc, m.user_id desc
    limit v_limit
  )
  select p.user_id, p.role, coalesce(u.email, p.email), p.created_at
  from page p
  left join logloom_private.auth_users_by_id(array(select i.user_id from page i)) u
    on u.user_id = p.user_id
  order by p.created_at desc, p.user_id desc;
end;
$$;

revoke all on function logloom_private.read_members(text, integer, text) from public;

grant execute on function logloom_private.read_members(text, integer, text)
to authenticated, service_role;

comment on function logloom_private.read_members(text, integer, text) is
  'A page of members with what Auth knows of them.';

create function public.list_members(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_member
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select m.* from logloom_private.read_members(p_tenant_id, p_limit, p_after) m;
end;
$$;

revoke all on function public.list_members(text, integer, text)
from public, anon, authenticated, service_role;

grant execute on function public.list_members(text, integer, text)
to authenticated, service_role;

comment on function public.list_members(text, integer, text) is
  'Members of the tenant, newest first; none where the tenant does not use roles. p_limit 1 to '
  '1000 (default 100), p_after: user_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- tenants/members.sql

create function logloom_private.auth_users_by_id(p_user_ids text[])
returns table (user_id text, email text)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
begin
  if v_users is null then
    return;
  end if;
  return query execute format(
    'select u.id::text, u.email::text from %s u '
    'where u.id::text = any ($1) and u.email_confirmed_at is not null', v_users
  )
  using p_user_ids;
-- A project whose postgres does not read Auth's users.
exception when insufficient_privilege then
  return;
end;
$$;

revoke all on function logloom_private.auth_users_by_id(text[]) from public;

comment on function logloom_private.auth_users_by_id(text[]) is
  'Confirmed email addresses of users of Supabase Auth; no rows where there is no Auth.';

create function logloom_private.is_address_of_member(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_user_ids constant uuid[] := array(
    select m.user_id::uuid
    from logloom.tenant_members m
    where m.tenant_id = p_tenant_id and pg_input_is_valid(m.user_id, 'uuid')
  );
  v_users constant regclass := to_regclass('auth.users');
  v_found boolean;
begin
  if cardinality(v_user_ids) = 0 or v_users is null then
    return false;
  end if;
  execute format(
    'select exists (select from %s u where u.id = any ($1) '
    'and lower(u.email) = lower($2) and u.email_confirmed_at is not null)',
    v_users
  )
  into v_found
  using v_user_ids, p_address;
  return v_found;
-- A project whose postgres does not read Auth's users, or whose schema auth is another's: a round
-- of alerts goes on all the same.
exception when syntax_error_or_access_rule_violation then
  return false;
end;
$$;

revoke all on function logloom_private.is_address_of_member(text, text) from public;

comment on function logloom_private.is_address_of_member(text, text) is
  'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_member '
  'was given is a label, and proves nothing.';

create function logloom_private.auth_user_of_email(p_email text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_users constant regclass := to_regclass('auth.users');
  v_user_id text;
begin
  if v_users is null then
    perform logloom_private.refuse('tenants.user_id_is_missing');
  end if;
  execute format(
    'select u.id::text from %s u where u.email = lower($1) '
    'and u.email_confirmed_at is not null order by u.created_at limit 1', v_users
  )
  into v_user_id
  using p_email;
  if v_user_id is null then
    perform logloom_private.refuse('tenants.no_user_has_this_email');
  end if;
  return v_user_id;
end;
$$;

revoke all on function logloom_private.auth_user_of_email(text) from public;

comment on function logloom_private.auth_user_of_email(text) is
  'The user of Supabase Auth with this confirmed email address. PT404, PT400 without Auth.';

create function logloom_private.lock_members(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('members'), hashtext(p_tenant_id));
end;
$$;

revoke all on function logloom_private.lock_members(text) from public;

comment on function logloom_private.lock_members(text) is
  'Held to the end of the transaction: one at a time changes who belongs to a tenant, so that the '
  'last owner stays and a limit holds.';

create function logloom_private.require_member_role(p_role text)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_role', p_role is null);
  if p_role not in ('member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  end if;
end;
$$;

revoke all on function logloom_private.require_member_role(text) from public;

comment on function logloom_private.require_member_role(text) is
  'PT400 unless it is member, admin or owner.';

create function logloom_private.require_other_owner(p_tenant_id text, p_user_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if not exists (
    select from logloom.tenant_members m
    where m.tenant_id = p_tenant_id and m.role = 'owner' and m.user_id <> p_user_id
  ) then
    perform logloom_private.refuse('tenants.last_owner_stays');
  end if;
end;
$$;

revoke all on function logloom_private.require_other_owner(text, text) from public;

comment on function logloom_private.require_other_owner(text, text) is
  'PT400 where the tenant has no owner but this user. The members are locked.';

create function logloom_private.member_of(p_member logloom.tenant_members)
returns public.logloom_member
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_member.user_id, p_member.role,
    coalesce(
      (select u.email from logloom_private.auth_users_by_id(array[p_member.user_id]) u),
      p_member.email
    ),
    p_member.created_at
  )::public.logloom_member;
end;
$$;

revoke all on function logloom_private.member_of(logloom.tenant_members) from public;

comment on function logloom_private.member_of(logloom.tenant_members) is
  'A member as operations show it.';

-- tenants/plan_limit.sql

create function logloom_private.plan_limit(p_plan logloom.plans, p_feature text)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case p_feature
    when 'saved_searches' then case when p_plan.saved_searches then p_plan.max_saved_searches end
    when 'alerts' then case when p_plan.alerts then p_plan.max_alerts end
  end;
end;
$$;

revoke all on function logloom_private.plan_limit(logloom.plans, text) from public;

comment on function logloom_private.plan_limit(logloom.plans, text) is
  'How many of a feature (saved_searches, alerts) a plan includes; null where it does not include '
  'it, or there is no such feature.';

create function logloom_private.hold_tenant(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.provision_tenant(p_tenant_id);
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$$;

revoke all on function logloom_private.hold_tenant(text) from public;

comment on function logloom_private.hold_tenant(text) is
  'Provisions the tenant and holds it until the transaction ends: two creates cannot both count '
  'before either is done, and so take the last place of a plan.';

create function logloom_private.refuse_beyond_plan(
  p_tenant_id text,
  p_feature text,
  p_current integer
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_limit constant integer := coalesce(
    logloom_private.plan_limit(logloom_private.plan_of(p_tenant_id), p_feature), 0
  );
begin
  if p_current >= v_limit then
    perform logloom_private.refuse('tenants.plan_has_no_room', p_feature, v_limit::text);
  end if;
end;
$$;

revoke all on function logloom_private.refuse_beyond_plan(text, text, integer) from public;

comment on function logloom_private.refuse_beyond_plan(text, text, integer) is
  'PT400 when the plan of a tenant that has p_current of a feature has no room for one more.';

-- tenants/plan_of.sql

create function logloom_private.plan_of(p_tenant_id text)
returns logloom.plans
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_plan logloom.plans;
begin
  select p.* into v_plan
  from logloom.plans p
  where p.plan_id = coalesce(
    (select t.plan_id from logloom.tenants t where t.tenant_id = p_tenant_id),
    (select d.plan_id from logloom.plans d where d.is_default)
  );
  return v_plan;
end;
$$;

revoke all on function logloom_private.plan_of(text) from public;

grant execute on function logloom_private.plan_of(text) to authenticated, service_role;

comment on function logloom_private.plan_of(text) is
  'The plan of a tenant; of one that is not there yet, the default plan.';

-- tenants/pre_request.sql

create type logloom_private.pre_request_setting as (function text, of_database boolean);

comment on type logloom_private.pre_request_setting is
  'A pre-request function by its name as PostgREST reads it (not quoted), and whether it is set '
  'for this database alone.';

create function logloom_private.pre_request_setting()
returns logloom_private.pre_request_setting
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_setting logloom_private.pre_request_setting;
begin
  select substr(c.entry, length('pgrst.db_pre_request=') + 1), s.setdatabase <> 0
  into v_setting
  from pg_catalog.pg_db_role_setting s
  cross join unnest(s.setconfig) c (entry)
  where s.setrole = 'authenticator'::regrole
    and s.setdatabase in (
      0, (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    )
    and c.entry like 'pgrst.db\_pre\_request=%'
  order by s.setdatabase desc
  limit 1;
  return v_setting;
end;
$$;

revoke all on function logloom_private.pre_request_setting() from public;

comment on function logloom_private.pre_request_setting() is
  'What PostgREST calls before every request: a setting of the role authenticator, where one for '
  'this database wins. Null members where there is none.';

create function logloom_private.set_pre_request(p_function text, p_of_database boolean)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_role constant text := 'alter role authenticator'
    || case when p_of_database then format(' in database %I', current_database()) else '' end;
begin
  if p_function is null then
    execute v_role || ' reset pgrst.db_pre_request';
  else
    execute v_role || format(' set pgrst.db_pre_request = %L', p_function);
  end if;
  notify pgrst, 'reload config';
end;
$$;

revoke all on function logloom_private.set_pre_request(text, boolean) from public;

comment on function logloom_private.set_pre_request(text, boolean) is
  'Makes PostgREST call this function before every request; null: none.';

create function logloom_private.adopt_pre_request()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_ours constant text := 'logloom_private.check_request';
  v_setting constant logloom_private.pre_request_setting := logloom_private.pre_request_setting();
  v_host constant text := nullif(v_setting.function, '');
begin
  if v_host = v_ours then
    return;
  end if;
  -- PostgREST takes what stands before the first dot for the schema, and quotes both.
  execute format(
    'create or replace function logloom_private.call_host_pre_request() returns void '
      'language plpgsql volatile security invoker as %L',
    format(
      e'\nbegin\n  %s;\nend;\n',
      case
        when v_host is null then 'null'
        when v_host like '%.%' then format(
          'perform %I.%I()', split_part(v_host, '.', 1), substr(v_host, strpos(v_host, '.') + 1)
        )
        else format('perform %I()', v_host)
      end
    )
  );
  update logloom_private.installation set host_pre_request = v_host where singleton;
  perform logloom_private.set_pre_request(v_ours, coalesce(v_setting.of_database, false));
end;
$$;

revoke all on function logloom_private.adopt_pre_request() from public;

comment on function logloom_private.adopt_pre_request() is
  'Makes check_request() PostgREST''s pre-request function and lets it call the one that was set '
  'so far. To be called again, as postgres, where the project has set another since.';

create function logloom_private.pre_request_health()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- Ours itself, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return jsonb_build_object(
    'status', case when v_is_called then 'healthy' else 'degraded' end
  );
end;
$$;

revoke all on function logloom_private.pre_request_health() from public;

comment on function logloom_private.pre_request_health() is
  'Degraded where PostgREST no longer calls our check before a request. The operations stay safe, '
  'they decide who is calling for themselves; what is lost is 400 for a missing header, 405 for '
  'another method, and the last digits of doubles.';

select logloom_private.adopt_pre_request();

-- tenants/provision_tenant.sql

create function logloom_private.provision_tenant(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
end;
$$;

revoke all on function logloom_private.provision_tenant(text) from public;

comment on function logloom_private.provision_tenant(text) is
  'Makes the tenant on the default plan unless it exists.';

create function logloom_private.provision_current_tenant(p_tenant_id text default null)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.provision_tenant(v_tenant_id);
  return v_tenant_id;
end;
$$;

revoke all on function logloom_private.provision_current_tenant(text) from public;

grant execute on function logloom_private.provision_current_tenant(text)
to authenticated, service_role;

comment on function logloom_private.provision_current_tenant(text) is
  'What every first write calls: resolves the tenant of the request, provisions it, returns it.';

-- tenants/remove_member.sql

create function logloom_private.expel_member(p_tenant_id text, p_user_id text)
returns public.logloom_success
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_role text;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.lock_members(v_tenant_id);
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  delete from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function logloom_private.expel_member(text, text) from public;

grant execute on function logloom_private.expel_member(text, text)
to authenticated, service_role;

comment on function logloom_private.expel_member(text, text) is
  'Takes a user out of the tenant, but not its last owner.';

create function public.remove_member(
  p_user_id text default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  return logloom_private.expel_member(p_tenant_id, p_user_id);
end;
$$;

revoke all on function public.remove_member(text, text)
from public, anon, authenticated, service_role;

grant execute on function public.remove_member(text, text)
to authenticated, service_role;

comment on function public.remove_member(text, text) is
  'Removes a user from the tenant: their tokens are refused from the next request on. For owners; '
  'the last one cannot be removed. Returns {success}. Errors: PT400, PT401, PT403, PT404.';

-- tenants/retention_days.sql

create function logloom_private.retention_in_force(
  p_chosen integer,
  p_plan_default integer,
  p_plan_max integer
)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return least(coalesce(p_chosen, p_plan_default), p_plan_max);
end;
$$;

revoke all on function logloom_private.retention_in_force(integer, integer, integer) from public;

grant execute on function logloom_private.retention_in_force(integer, integer, integer)
to authenticated, service_role;

comment on function logloom_private.retention_in_force(integer, integer, integer) is
  'What the tenant chose, else the default of its plan, never more than the plan allows.';

create function logloom_private.retention_days(p_tenant_id text, p_plan logloom.plans)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.retention_in_force(
    (select s.retention_days from logloom.tenant_settings s where s.tenant_id = p_tenant_id),
    p_plan.retention_days_default,
    p_plan.retention_days_max
  );
end;
$$;

revoke all on function logloom_private.retention_days(text, logloom.plans) from public;

grant execute on function logloom_private.retention_days(text, logloom.plans)
to authenticated, service_role;

comment on function logloom_private.retention_days(text, logloom.plans) is
  'retention_days for who has the tenant''s plan at hand.';

create function logloom_private.retention_days(p_tenant_id text)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.retention_days(p_tenant_id, logloom_private.plan_of(p_tenant_id));
end;
$$;

revoke all on function logloom_private.retention_days(text) from public;

grant execute on function logloom_private.retention_days(text) to authenticated, service_role;

comment on function logloom_private.retention_days(text) is
  'The retention in force, in days: what the tenant set, else the default of its plan, never more '
  'than the plan allows. Of a tenant that is not there yet: the default plan''s.';

create function logloom_private.kept_from(p_tenant_id text, p_plan logloom.plans)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.day_start(
    logloom_private.utc_day(now()) - logloom_private.retention_days(p_tenant_id, p_plan)
  );
end;
$$;

revoke all on function logloom_private.kept_from(text, logloom.plans) from public;

comment on function logloom_private.kept_from(text, logloom.plans) is
  'kept_from for who has the tenant''s plan at hand.';

create function logloom_private.kept_from(p_tenant_id text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.kept_from(p_tenant_id, logloom_private.plan_of(p_tenant_id));
end;
$$;

revoke all on function logloom_private.kept_from(text) from public;

comment on function logloom_private.kept_from(text) is
  'What is older the tenant does not keep: retention_days whole UTC days before today.';

create function logloom_private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return p_today - logloom_private.retention_days(p_tenant_id);
  end if;
  -- A tenant that is gone keeps nothing but what may still be on its way.
  return p_today;
end;
$$;

revoke all on function logloom_private.first_kept_day(text, date) from public;

comment on function logloom_private.first_kept_day(text, date) is
  'The first UTC day whose records retention leaves to the tenant, were it p_today.';

create function logloom_private.first_kept_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    t.tenant_id,
    p_today - logloom_private.retention_in_force(
      s.retention_days, p.retention_days_default, p.retention_days_max
    )
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id;
end;
$$;

revoke all on function logloom_private.first_kept_days(date) from public;

comment on function logloom_private.first_kept_days(date) is
  'first_kept_day of every tenant, at once.';

-- tenants/set_member_role.sql

create function logloom_private.change_member_role(p_tenant_id text, p_user_id text, p_role text)
returns public.logloom_member
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_member logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_member_role(p_role);
  perform logloom_private.lock_members(v_tenant_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if p_role <> 'owner' and v_member.role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  update logloom.tenant_members m set role = p_role
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id
  returning m.* into v_member;
  return logloom_private.member_of(v_member);
end;
$$;

revoke all on function logloom_private.change_member_role(text, text, text) from public;

grant execute on function logloom_private.change_member_role(text, text, text)
to authenticated, service_role;

comment on function logloom_private.change_member_role(text, text, text) is
  'Changes a role, but not that of the last owner.';

create function public.set_member_role(
  p_user_id text default null,
  p_role text default null,
  p_tenant_id text default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  perform logloom_private.require_parameter('p_role', p_role is null);
  return logloom_private.change_member_role(p_tenant_id, p_user_id, p_role);
end;
$$;

revoke all on function public.set_member_role(text, text, text)
from public, anon, authenticated, service_role;

grant execute on function public.set_member_role(text, text, text)
to authenticated, service_role;

comment on function public.set_member_role(text, text, text) is
  'Sets what a member may do, from their next request on, and returns the member. p_role: member, '
  'admin or owner. For owners; the last one stays an owner. '
  'Errors: PT400, PT401, PT403, PT404.';

-- audit/tables/audit_events.sql

-- No foreign key: the log outlives what it tells of, the tenant too.
create table logloom.audit_events (
  event_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  constraint audit_events_action_is_known check (
    action in (
      'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
      'member.added', 'member.changed', 'member.removed',
      'settings.changed', 'plan.changed',
      'logs.deletion_requested', 'logs.deletion_finished'
    )
  )
);

create index audit_events_tenant_id_occurred_at_idx
on logloom.audit_events (tenant_id, occurred_at desc, event_id desc);

create index audit_events_occurred_at_idx on logloom.audit_events using brin (occurred_at);

alter table logloom.audit_events enable row level security;
alter table logloom.audit_events force row level security;

create policy audit_events_select_tenant on logloom.audit_events
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.audit_events to authenticated, service_role;

comment on table logloom.audit_events is
  'What was done to keys, members, settings and plans, and deletions of records. Nobody changes or '
  'removes an event before settings.audit_lifetime has gone by.';

comment on column logloom.audit_events.actor is
  'The claim sub of a request; else its role, or the database user.';

-- audit/actor.sql

create function logloom_private.actor()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    logloom_private.current_user_id(),
    nullif(current_setting('role', true), 'none'),
    session_user::text
  );
end;
$$;

revoke all on function logloom_private.actor() from public;

comment on function logloom_private.actor() is
  'Who acts: the user, else the API role, else the login.';

create function logloom_private.changed_members(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(n.key, jsonb_build_object('from', p_old -> n.key, 'to', n.value)), '{}'
    )
    from jsonb_each(p_new) n
    where n.value is distinct from coalesce(p_old -> n.key, 'null')
  );
end;
$$;

revoke all on function logloom_private.changed_members(jsonb, jsonb) from public;

comment on function logloom_private.changed_members(jsonb, jsonb) is
  'The members of p_new that differ from p_old''s, each as {from, to}.';

-- audit/audit_tenant_members.sql

create function logloom_private.audit_tenant_members()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
declare
  v_member logloom.tenant_members;
begin
  v_member := case when tg_op = 'DELETE' then old else new end;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else 'member.changed'
    end,
    v_member.user_id,
    case
      when tg_op = 'UPDATE' then logloom_private.changed_members(to_jsonb(old), to_jsonb(new))
      else jsonb_build_object('role', v_member.role)
    end
  );
  return null;
end;
$$;

revoke all on function logloom_private.audit_tenant_members() from public;

create trigger audit_tenant_members
after insert or delete or update on logloom.tenant_members
for each row execute function logloom_private.audit_tenant_members();

comment on function logloom_private.audit_tenant_members() is 'Audit of members.';

-- audit/audit_tenant_settings.sql

create function logloom_private.audit_tenant_settings()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select new.tenant_id, logloom_private.actor(), 'settings.changed', 'settings', c.changes
  from logloom_private.changed_members(
    case when tg_op = 'UPDATE' then to_jsonb(old) - 'updated_at' end,
    to_jsonb(new) - 'updated_at' - 'tenant_id'
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

revoke all on function logloom_private.audit_tenant_settings() from public;

create trigger audit_tenant_settings
after insert or update on logloom.tenant_settings
for each row execute function logloom_private.audit_tenant_settings();

comment on function logloom_private.audit_tenant_settings() is
  'Audit of settings, where a value changed. They go with their tenant, unnoted.';

-- audit/audit_tenants.sql

create function logloom_private.audit_tenants()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    new.tenant_id, logloom_private.actor(), 'plan.changed', new.plan_id,
    jsonb_build_object('plan_id', jsonb_build_object('from', old.plan_id, 'to', new.plan_id))
  );
  return null;
end;
$$;

revoke all on function logloom_private.audit_tenants() from public;

create trigger audit_tenants
after update of plan_id on logloom.tenants
for each row when (old.plan_id is distinct from new.plan_id)
execute function logloom_private.audit_tenants();

comment on function logloom_private.audit_tenants() is 'Audit of a change of plan.';

-- audit/list_audit_events.sql

-- Who did what to keys, members, settings and plans, and who deleted records. Written by triggers,
-- so that no way of changing these passes it by.

create type public.logloom_audit_event as (
  event_id uuid,
  tenant_id text,
  occurred_at timestamptz,
  actor text,
  action text,
  subject text,
  details jsonb
);

comment on type public.logloom_audit_event is
  'What was done: by whom (a user''s id, or the role of what acted by itself), to which subject '
  '(the id of a key or user, or what the action is about), and the details.';

create function public.list_audit_events(
  p_tenant_id text default null,
  p_action text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_audit_event
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select e.occurred_at
        from logloom.audit_events e
        where e.tenant_id = v_tenant_id and e.event_id = p_after
      ),
      'audit event', 'event_id'
    )
  end;
begin
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details
  from logloom.audit_events e
  where e.tenant_id = v_tenant_id
    and (p_action is null or e.action = p_action)
    and (v_from is null or e.occurred_at >= v_from)
    and (v_to is null or e.occurred_at < v_to)
    and (p_after is null or (e.occurred_at, e.event_id) < (v_after, p_after))
  order by e.occurred_at desc, e.event_id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_audit_events(
  text, text, text, text, integer, uuid
) from public, anon, authenticated, service_role;

grant execute on function
  public.list_audit_events(text, text, text, text, integer, uuid)
to authenticated, service_role;

comment on function public.list_audit_events(
  text, text, text, text, integer, uuid
) is
  'What was done in the tenant, newest first; p_action, p_ts_from (inclusive) and p_ts_to '
  '(exclusive) narrow it. p_limit 1 to 1000 (default 100), p_after: event_id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';

-- audit/purge_audit_events.sql

create function logloom_private.purge_audit_events()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom.audit_events e
  where e.event_id = any(array(
    select o.event_id
    from logloom.audit_events o
    where o.occurred_at < now() - v_settings.audit_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.purge_audit_events() from public;

comment on function logloom_private.purge_audit_events() is
  'Deletes audit events past their lifetime.';

-- api_keys/types/api_keys.sql

-- API keys: only a digest is stored, the key itself is shown once.

create type public.logloom_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  scopes text[],
  status text,
  created_at timestamptz,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

comment on type public.logloom_api_key is
  'An API key as lists show it. status: active, revoked or expired.';

create type public.logloom_created_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  key_value text,
  scopes text[],
  status text,
  created_at timestamptz,
  expires_at timestamptz
);

comment on type public.logloom_created_api_key is 'A new API key. key_value is shown this once.';

create type logloom_private.api_key_owner as (tenant_id text, key_id uuid);

-- api_keys/tables/api_keys.sql

create table logloom.api_keys (
  key_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  key_prefix text not null,
  key_digest bytea not null,
  scopes text[] not null default '{ingest}',
  created_by text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint api_keys_name_is_trimmed check (name = trim(name) and length(name) between 1 and 100),
  constraint api_keys_prefix_is_ours check (key_prefix ~ '^ll_[0-9A-Za-z]{8}$'),
  constraint api_keys_digest_is_sha256 check (length(key_digest) = 32),
  constraint api_keys_scopes_are_known check (scopes <@ '{ingest}' and cardinality(scopes) > 0)
);

create unique index api_keys_key_digest_idx on logloom.api_keys (key_digest);

create index api_keys_tenant_id_created_at_idx
on logloom.api_keys (tenant_id, created_at desc, key_id desc);

alter table logloom.api_keys enable row level security;
alter table logloom.api_keys force row level security;

create policy api_keys_select_tenant on logloom.api_keys
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy api_keys_insert_tenant on logloom.api_keys
for insert to authenticated
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy api_keys_update_tenant on logloom.api_keys
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select (
  key_id, tenant_id, name, key_prefix, scopes, created_by, created_at, last_used_at, expires_at,
  revoked_at
) on logloom.api_keys to authenticated, service_role;

grant insert (tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at)
on logloom.api_keys to authenticated, service_role;

grant update (expires_at, revoked_at) on logloom.api_keys to authenticated, service_role;

comment on table logloom.api_keys is 'API keys of tenants. The key itself is never stored.';

comment on column logloom.api_keys.key_digest is 'SHA-256 of the whole key.';

comment on column logloom.api_keys.key_prefix is
  'The first 11 characters of the key, to tell keys apart.';

comment on column logloom.api_keys.last_used_at is
  'Right to the minute: one update a minute, not a request.';

-- api_keys/api_key_status.sql

create function logloom_private.api_key_status(p_revoked_at timestamptz, p_expires_at timestamptz)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when p_revoked_at is not null then 'revoked'
    when p_expires_at <= now() then 'expired'
    else 'active'
  end;
end;
$$;

revoke all on function logloom_private.api_key_status(timestamptz, timestamptz) from public;

grant execute on function logloom_private.api_key_status(timestamptz, timestamptz)
to authenticated, service_role;

comment on function logloom_private.api_key_status(timestamptz, timestamptz) is
  'active, revoked or expired. Revoked wins.';

-- api_keys/audit_api_keys.sql

create function logloom_private.audit_api_keys()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
declare
  v_key logloom.api_keys;
begin
  v_key := case when tg_op = 'DELETE' then old else new end;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_key.tenant_id,
    logloom_private.actor(),
    case
      when tg_op = 'INSERT' then 'api_key.created'
      when tg_op = 'DELETE' then 'api_key.deleted'
      when new.revoked_at is not null and old.revoked_at is null then 'api_key.revoked'
      else 'api_key.changed'
    end,
    v_key.key_id::text,
    -- Named one by one: a digest must never come in here.
    jsonb_build_object('name', v_key.name, 'key_prefix', v_key.key_prefix)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        jsonb_build_object('expires_at', old.expires_at, 'revoked_at', old.revoked_at),
        jsonb_build_object('expires_at', new.expires_at, 'revoked_at', new.revoked_at)
      )
      else jsonb_strip_nulls(jsonb_build_object('expires_at', v_key.expires_at))
    end
  );
  return null;
end;
$$;

revoke all on function logloom_private.audit_api_keys() from public;

create trigger audit_api_keys
after insert or delete or update of name, scopes, expires_at, revoked_at on logloom.api_keys
for each row execute function logloom_private.audit_api_keys();

comment on function logloom_private.audit_api_keys() is
  'Audit of API keys. Their use is not a change.';

-- api_keys/authenticate_api_key.sql

create function logloom_private.authenticate_api_key(p_key_digest text)
returns logloom_private.api_key_owner
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_owner logloom_private.api_key_owner;
  v_minute constant timestamptz := date_trunc('minute', now());
  v_last_used_at timestamptz;
begin
  select k.tenant_id, k.key_id, k.last_used_at
  into v_owner.tenant_id, v_owner.key_id, v_last_used_at
  from logloom.api_keys k
  where k.key_digest = decode(p_key_digest, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
    and k.scopes @> '{ingest}';
  if not found then
    perform logloom_private.refuse('callers.not_known');
  end if;

  if v_last_used_at is null or v_last_used_at < v_minute then
    -- Skips a locked row: whoever holds it must not hold up ingest, and another request will do.
    update logloom.api_keys k
    set last_used_at = now()
    where k.key_id = (
      select u.key_id
      from logloom.api_keys u
      where u.key_id = v_owner.key_id
      for no key update skip locked
    );
  end if;
  return v_owner;
end;
$$;

revoke all on function logloom_private.authenticate_api_key(text) from public;

comment on function logloom_private.authenticate_api_key(text) is
  'Owner of an API key by its hex SHA-256. PT401 when unknown, revoked, expired or out of scope.';

-- api_keys/create_api_key.sql

create function logloom_private.require_room_for_api_key(p_tenant_id text, p_times integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may hold a tenant or delete keys
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_api_keys;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.api_keys k
    where k.tenant_id = v_tenant_id
      and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
  ) >= p_times * v_max then
    perform logloom_private.refuse('api_keys.no_room', v_max::text);
  end if;
  -- Of the others as many are shown as may be alive.
  delete from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id in (
    select o.key_id
    from logloom.api_keys o
    where o.tenant_id = v_tenant_id
      and logloom_private.api_key_status(o.revoked_at, o.expires_at) <> 'active'
    order by coalesce(o.revoked_at, o.expires_at) desc, o.key_id
    offset v_max
  );
end;
$$;

revoke all on function logloom_private.require_room_for_api_key(text, integer) from public;

grant execute on function logloom_private.require_room_for_api_key(text, integer)
to authenticated, service_role;

comment on function logloom_private.require_room_for_api_key(text, integer) is
  'Provisions the tenant of the request and holds it; PT400 when it has p_times as many living '
  'keys as its plan allows. Forgets the longest dead beyond as many.';

create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[]
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at
  into v_result;
  return v_result;
end;
$$;

revoke all on function logloom_private.issue_api_key(text, text, timestamptz, text[]) from public;

grant execute on function logloom_private.issue_api_key(text, text, timestamptz, text[])
to authenticated, service_role;

comment on function logloom_private.issue_api_key(text, text, timestamptz, text[]) is
  'Makes a key of checked parameters and returns it with key_value.';

create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at timestamptz default null,
  p_scopes text[] default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if p_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes);
end;
$$;

revoke all on function public.create_api_key(text, text, timestamptz, text[])
from public, anon, authenticated, service_role;

grant execute on function public.create_api_key(text, text, timestamptz, text[])
to authenticated, service_role;

comment on function public.create_api_key(text, text, timestamptz, text[]) is
  'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after '
  'trimming. p_expires_at: none by default. Errors: PT400 (plan limit, too), PT401, PT403.';

-- api_keys/get_api_key_usage.sql

create type public.logloom_api_key_usage as (
  key_id uuid,
  name text,
  created_at timestamptz,
  last_used_at timestamptz,
  days_since_creation integer,
  days_since_last_use integer
);

comment on type public.logloom_api_key_usage is
  'Use of an API key, in whole days; null when never used.';

create function public.get_api_key_usage(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_api_key_usage
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_api_key_usage;
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  select
    k.key_id, k.name, k.created_at, k.last_used_at,
    floor(extract(epoch from now() - k.created_at) / 86400),
    floor(extract(epoch from now() - k.last_used_at) / 86400)
  into v_result
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return v_result;
end;
$$;

revoke all on function public.get_api_key_usage(text, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.get_api_key_usage(text, uuid)
to authenticated, service_role;

comment on function public.get_api_key_usage(text, uuid) is
  'When an API key was made and last used, in whole days since. '
  'Errors: PT400, PT401, PT403, PT404.';

-- api_keys/list_api_keys.sql

create function public.list_api_keys(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_api_key
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select k.created_at
        from logloom.api_keys k
        where k.tenant_id = v_tenant_id and k.key_id = p_after
      ),
      'API key', 'key_id'
    )
  end;
begin
  return query
  select
    k.key_id, k.tenant_id, k.name, k.key_prefix, k.scopes,
    logloom_private.api_key_status(k.revoked_at, k.expires_at),
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id
    and (p_after is null or (k.created_at, k.key_id) < (v_after, p_after))
  order by k.created_at desc, k.key_id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_api_keys(text, integer, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.list_api_keys(text, integer, uuid)
to authenticated, service_role;

comment on function public.list_api_keys(text, integer, uuid) is
  'API keys of the tenant, newest first, without their values. p_limit 1 to 1000 (default 100), '
  'p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';

-- api_keys/new_api_key.sql

create function logloom_private.base62(p_value bigint, p_length integer)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_rest bigint := p_value;
  v_text text := '';
begin
  for i in 1..p_length loop
    v_text := substr(v_alphabet, (v_rest % 62)::integer + 1, 1) || v_text;
    v_rest := v_rest / 62;
  end loop;
  return v_text;
end;
$$;

revoke all on function logloom_private.base62(bigint, integer) from public;

comment on function logloom_private.base62(bigint, integer) is
  'p_value in base 62 (0-9 A-Z a-z), most significant first, padded to p_length with 0.';

create function logloom_private.crc32(p_bytes bytea)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_crc bigint := 4294967295;
begin
  for i in 0..length(p_bytes) - 1 loop
    v_crc := v_crc # get_byte(p_bytes, i);
    for v_bit in 1..8 loop
      v_crc := case when v_crc & 1 = 1 then (v_crc >> 1) # 3988292384 else v_crc >> 1 end;
    end loop;
  end loop;
  return v_crc # 4294967295;
end;
$$;

revoke all on function logloom_private.crc32(bytea) from public;

comment on function logloom_private.crc32(bytea) is 'CRC-32 as in ISO 3309 and zlib.';

create function logloom_private.new_api_key()
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles need no random bytes of their own
declare
  -- 30 base62 characters carry 178 bits. A byte of 248 and more is drawn again, so that each
  -- character is equally likely.
  v_key text := 'll_';
  v_byte integer;
begin
  while length(v_key) < 33 loop
    v_byte := get_byte(extensions.gen_random_bytes(1), 0);
    if v_byte < 248 then
      v_key := v_key || logloom_private.base62(v_byte, 1);
    end if;
  end loop;
  return v_key || logloom_private.base62(logloom_private.crc32(convert_to(v_key, 'UTF8')), 6);
end;
$$;

revoke all on function logloom_private.new_api_key() from public;

grant execute on function logloom_private.new_api_key() to authenticated, service_role;

comment on function logloom_private.new_api_key() is
  'll_ + 30 random base62 characters (178 bits) + base62 CRC-32 of what precedes, 6 characters.';

-- api_keys/revoke_api_key.sql

create function public.revoke_api_key(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  update logloom.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function public.revoke_api_key(text, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.revoke_api_key(text, uuid)
to authenticated, service_role;

comment on function public.revoke_api_key(text, uuid) is
  'Revokes an API key; the next request with it is refused. Again: no change. '
  'Errors: PT400, PT401, PT403, PT404.';

-- api_keys/rotate_api_key.sql

create function public.rotate_api_key(
  p_tenant_id text default null,
  p_key_id uuid default null,
  p_overlap_minutes integer default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.logloom_created_api_key;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    perform logloom_private.refuse('api_keys.overlap_is_out_of_range');
  end if;
  select k.name, k.scopes, k.created_at, k.expires_at, k.revoked_at into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;

  -- A key that was to live for a time is followed by one that lives as long.
  -- Both are alive for a while, also where the plan has no room for one more.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + (v_old.expires_at - v_old.created_at), v_old.scopes
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$$;

revoke all on function public.rotate_api_key(text, uuid, integer)
from public, anon, authenticated, service_role;

grant execute on function public.rotate_api_key(text, uuid, integer)
to authenticated, service_role;

comment on function public.rotate_api_key(text, uuid, integer) is
  'Creates an API key in place of another, with its name, scopes and length of life, and returns '
  'it with key_value, this once. The other works for p_overlap_minutes more (0 to 10080, default '
  '60). Errors: PT400, PT401, PT403, PT404.';

-- logs/types/added_count.sql

create type logloom_private.added_count as (
  tenant_id text,
  minute timestamptz,
  service text,
  level text,
  events bigint
);

comment on type logloom_private.added_count is
  'Records that were added, by what logloom_private.log_counts counts them by.';

-- logs/types/domains.sql

-- The rules of two columns of logloom.logs as types: the writer casts to them, so that an event
-- that breaks one fails while it is read, with its own error, not while it is inserted, which may
-- be on another node.

create domain logloom_private.log_level as text
constraint log_level_is_known check (value in ('debug', 'info', 'warn', 'error'));

create domain logloom_private.log_attrs as jsonb
constraint log_attrs_is_object check (jsonb_typeof(value) = 'object');

-- logs/types/minute_count.sql

create type logloom_private.minute_count as (
  minute timestamptz,
  events bigint,
  is_other boolean,
  level text,
  service text
);

comment on type logloom_private.minute_count is
  'A row of logloom_private.log_counts, as logloom_private.packed_counts holds it.';

-- logs/tables/counted_days.sql

create table logloom_private.counted_days (
  day date not null,
  noted_at timestamptz not null default now(),
  tenant_id text not null,
  primary key (tenant_id, day)
);

create index counted_days_noted_at_idx on logloom_private.counted_days (noted_at);

alter table logloom_private.counted_days enable row level security;
alter table logloom_private.counted_days force row level security;

comment on table logloom_private.counted_days is
  'Days of a tenant whose counts were summed up since pack_log_counts last looked at all of them.';

-- logs/tables/log_arrivals.sql

create table logloom_private.log_arrivals (
  arrival bigint not null,
  day date not null,
  primary key (arrival, day)
);

create index log_arrivals_day_arrival_idx on logloom_private.log_arrivals (day, arrival);

alter table logloom_private.log_arrivals enable row level security;
alter table logloom_private.log_arrivals force row level security;

comment on table logloom_private.log_arrivals is
  'The greatest arrival in each day''s partition, and lesser ones until the next summing up: which '
  'partitions a live tail must look at.';

-- logs/tables/log_counts.sql

create table logloom_private.log_counts (
  minute timestamptz not null,
  events bigint not null,
  is_other boolean not null default false,
  is_delta boolean not null default true,
  tenant_id text not null,
  level text,
  service text,
  count_id bigint generated always as identity,
  primary key (tenant_id, minute, count_id)
);

create index log_counts_other_idx on logloom_private.log_counts (tenant_id, minute) where is_other;
create index log_counts_delta_idx on logloom_private.log_counts (minute) where is_delta;

alter table logloom_private.log_counts enable row level security;
alter table logloom_private.log_counts force row level security;

comment on table logloom_private.log_counts is
  'Records by tenant, minute of ts, service and level: the sum of events over the rows of a key. '
  'Kept by the statements that change records (added_records_sql, removed_records_sql); summed up '
  'by logloom_private.compact_log_counts().';

comment on column logloom_private.log_counts.events is
  'How many; negative where records were deleted. Only the sum over a key means anything.';

comment on column logloom_private.log_counts.is_other is
  'Services beyond count_services_max, counted together: service is null and says nothing. Where '
  'a minute has such a row, no service of that minute can be told from the counts.';

comment on column logloom_private.log_counts.count_id is
  'Makes the key unique: several rows may count for one minute.';

comment on column logloom_private.log_counts.is_delta is 'Was added since the last summing up.';

-- logs/tables/log_days.sql

create table logloom_private.log_days (
  tenant_id text not null,
  day date not null,
  primary key (tenant_id, day)
);

create index log_days_day_tenant_id_idx on logloom_private.log_days (day, tenant_id);

alter table logloom_private.log_days enable row level security;
alter table logloom_private.log_days force row level security;

comment on table logloom_private.log_days is
  'The UTC days in which a tenant has records, so that a search names those days only. A day stays '
  'here until its partition goes or retention finds nothing of the tenant left in it.';

-- logs/tables/log_removals.sql

create table logloom_private.log_removals (
  tenant_id text not null
);

create index log_removals_tenant_id_idx on logloom_private.log_removals (tenant_id);

alter table logloom_private.log_removals enable row level security;
alter table logloom_private.log_removals force row level security;

comment on table logloom_private.log_removals is
  'Tenants of which records were removed within the longest alert window: what was added up over '
  'them no longer holds. Rows of their own, so that a removal and an alert round never wait for '
  'each other.';

-- logs/tables/logs.sql

-- Log records in daily partitions, named logs_YYYY_MM_DD, days of UTC.

-- The columns of 8 bytes stand first: nothing is padded.
create table logloom.logs (
  ts timestamptz not null,
  received_at timestamptz not null,
  arrival bigint not null,
  id uuid not null,
  tenant_id text not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  primary key (tenant_id, ts, id),
  constraint logs_level_is_known check (level in ('debug', 'info', 'warn', 'error')),
  constraint logs_attrs_is_object check (jsonb_typeof(attrs) = 'object')
)
partition by range (ts);

-- What became visible since: a new record may have any ts, but lies at the end of its partition.
-- Ranges of 4 MB, so that a writer at full speed does not ask for more summaries than autovacuum
-- remembers.
create index logs_arrival_idx on logloom.logs
using brin (arrival) with (pages_per_range = 512, autosummarize = on);

-- The one field that is asked for by itself over many days. Its beginning only: an index refuses
-- what is longer than a third of a page.
create index logs_tenant_id_req_id_idx
on logloom.logs (tenant_id, left(req_id, 200))
where req_id is not null;

alter table logloom.logs alter column msg set compression lz4;
alter table logloom.logs alter column attrs set compression lz4;
alter table logloom.logs enable row level security;
alter table logloom.logs force row level security;

create policy logs_select_tenant on logloom.logs
for select to authenticated
-- No subquery, which would be evaluated once: a table that is spread over nodes takes none in its
-- policies. No operation reads through this one.
using (tenant_id = logloom_private.current_tenant_id());

grant select on logloom.logs to authenticated, service_role;

comment on table logloom.logs is
  'Log records. id derives from the queued batch and the event''s index. Days without a partition '
  'refuse rows.';

comment on column logloom.logs.arrival is
  'Number of the writer''s step that made the record visible. Its order is commit order.';

comment on column logloom.logs.ts is
  'When it happened, as the client says; received_at where it does not.';

comment on column logloom.logs.received_at is 'When it was committed to the queue.';

-- logs/tables/packed_counts.sql

create table logloom_private.packed_counts (
  week date not null,
  tenant_id text not null,
  minutes smallint[] not null,
  events integer[] not null,
  levels "char"[] not null,
  places smallint[] not null,
  services text[] not null,
  primary key (tenant_id, week)
);

alter table logloom_private.packed_counts enable row level security;
alter table logloom_private.packed_counts force row level security;

comment on table logloom_private.packed_counts is
  'What logloom_private.log_counts said of minutes long ago, of tenants with few rows there: a row '
  'a week instead of one a minute. A count is here or there, not in both.';

comment on column logloom_private.packed_counts.week is 'Its Monday.';

comment on column logloom_private.packed_counts.minutes is
  'Of each count the minute of the week, from 0 on.';

comment on column logloom_private.packed_counts.events is 'Of each count how many.';

comment on column logloom_private.packed_counts.levels is
  'Of each count the first letter of its level, a blank where it has none.';

comment on column logloom_private.packed_counts.places is
  'Of each count the place of its service among services, from 1 on; 0 where is_other.';

-- logs/change_records.sql

-- Records are changed by these statements alone: each keeps the counts, the days and the arrivals
-- in the statement that changes the records. There is no trigger to forget, and a table that is
-- spread over nodes takes none. They only ever add rows (a removal adds negative counts), so no row
-- is contended and a forgotten snapshot leaves no chains of versions; a job sums up what was added.

create function logloom_private.added_counts_sql(p_added text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format(
    $query$
      select
        a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
        a.is_other, sum(a.events)::bigint as events
      from (
        select
          u.*,
          coalesce(length(u.service), 0) > s.count_service_length_max
            or dense_rank() over (
              partition by u.tenant_id, u.minute order by u.service collate "C"
            ) > s.count_services_max as is_other
        from %s u, logloom_private.settings s
      ) a
      group by 1, 2, 3, 4, 5
      order by 1, 2
    $query$,
    p_added
  );
end;
$$;

revoke all on function logloom_private.added_counts_sql(text) from public;

comment on function logloom_private.added_counts_sql(text) is
  'SQL for the rows of log_counts that p_added comes to: records by tenant_id, minute, service and '
  'level, as events.';

create function logloom_private.added_records_sql(p_insert text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level, l.arrival
      ), added as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events, max(c.arrival) as arrival
        from changed c
        group by 1, 2, 3, 4
      ), arrivals as (
        insert into logloom_private.log_arrivals (arrival, day)
        select max(a.arrival), (a.minute at time zone 'UTC')::date
        from added a
        group by 2
        on conflict do nothing
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct a.tenant_id, (a.minute at time zone 'UTC')::date
        from added a
        order by 1, 2
        on conflict do nothing
      ), counted as (
        insert into logloom_private.log_counts (
          tenant_id, minute, service, level, is_other, events
        )
        %s
      )
      select coalesce(sum(a.events), 0)::integer from added a
    $query$,
    p_insert, logloom_private.added_counts_sql('added')
  );
end;
$$;

revoke all on function logloom_private.added_records_sql(text) from public;

comment on function logloom_private.added_records_sql(text) is
  'A statement that runs p_insert ("insert into logloom.logs as l …", without returning), counts '
  'what it adds and notes which days it reached. It returns how many records were added.';

-- Where records are spread over nodes, an insert that returns rows, or may meet a conflict, is
-- written twice there: as a file and then as rows. So the writer inserts without either, and says
-- here what it inserted. Under its lock no other adds a day, or takes one away.
create function logloom_private.note_spread_records(
  p_added logloom_private.added_count[],
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_ids constant text[] := array(select distinct a.tenant_id from unnest(p_added) a);
  v_days constant date[] := array(
    select distinct logloom_private.utc_day(a.minute) from unnest(p_added) a
  );
  v_new_tenant_ids text[];
  v_new_days date[];
begin
  insert into logloom_private.log_arrivals (arrival, day)
  select p_arrival, d.day
  from unnest(v_days) d (day)
  on conflict do nothing;
  -- Nearly always all of them are noted.
  select array_agg(n.tenant_id), array_agg(n.day) into v_new_tenant_ids, v_new_days
  from (
    select a.tenant_id, logloom_private.utc_day(a.minute) as day from unnest(p_added) a
    except
    select d.tenant_id, d.day
    from logloom_private.log_days d
    where d.tenant_id = any (v_tenant_ids) and d.day = any (v_days)
  ) n;
  if v_new_days is not null then
    insert into logloom_private.log_days (tenant_id, day)
    select n.tenant_id, n.day
    from unnest(v_new_tenant_ids, v_new_days) n (tenant_id, day)
    order by 1, 2
    on conflict do nothing;
  end if;
  execute 'insert into logloom_private.log_counts '
    || '(tenant_id, minute, service, level, is_other, events) '
    || logloom_private.added_counts_sql('unnest($1)')
  using p_added;
end;
$$;

revoke all on function logloom_private.note_spread_records(
  logloom_private.added_count[], bigint
) from public;

comment on function logloom_private.note_spread_records(logloom_private.added_count[], bigint) is
  'Keeps counts, days and arrivals of records that the caller inserts in this transaction, holding '
  'the lock writer: what added_records_sql does, for records on nodes.';

create function logloom_private.removed_records_sql(p_delete text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Under the service's own name, even where it was counted together with others: the sums stay
  -- right, and compact_log_counts puts it where it belongs.
  return format(
    $query$
      with changed as (
        %s
        returning l.tenant_id, l.ts, l.service, l.level
      ), removed as materialized (
        select
          c.tenant_id, date_bin('1 minute', c.ts, 'epoch') as minute, c.service, c.level,
          count(*) as events
        from changed c
        group by 1, 2, 3, 4
      ), counted as (
        insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
        select r.tenant_id, r.minute, r.service, r.level, -r.events
        from removed r
        order by 1, 2
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct r.tenant_id
        from removed r
        -- Further back than any alert window reaches.
        where r.minute > now() - interval '3 days'
      )
      select coalesce(sum(r.events), 0)::integer from removed r
    $query$,
    p_delete
  );
end;
$$;

revoke all on function logloom_private.removed_records_sql(text) from public;

comment on function logloom_private.removed_records_sql(text) is
  'A statement that runs p_delete ("delete from logloom.logs l where …", without returning), takes '
  'what it removes away from the counts and notes the removal. It returns how many records went.';

-- Of whole days everything is forgotten at once, in one snapshot: what is added meanwhile stays
-- with its counts. To be called with the lock log_counts.
create function logloom_private.forgotten_records_sql(p_from timestamptz, p_to timestamptz)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format(
    $query$
      with ranges as materialized (
        select r.* from unnest($1::text[], $2::timestamptz[]) r (tenant_id, starts)
      ), gone as (
        delete from logloom.logs l
        using ranges r
        where l.tenant_id = r.tenant_id
          and l.ts >= r.starts and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from gone g
        -- Further back than any alert window reaches.
        where g.ts > now() - interval '3 days'
      ), counts as (
        delete from logloom_private.log_counts c
        using ranges r
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      ), unpacked as (
        delete from logloom_private.packed_counts p
        using ranges r
        where p.tenant_id = r.tenant_id
          and p.week >= logloom_private.week_of(logloom_private.utc_day(r.starts))
          and p.week < logloom_private.utc_day(%2$L::timestamptz)
        returning p as packed, r.starts
      ), weeks as materialized (
        select (u.packed).tenant_id, (u.packed).week, c as count,
          c.minute >= u.starts and c.minute < %2$L::timestamptz as is_gone
        from unpacked u
        cross join lateral logloom_private.unpacked_counts(u.packed) c
      ), packed as (
        insert into logloom_private.packed_counts
        select p.*
        from (
          select w.tenant_id, w.week, array_agg(w.count) as counts
          from weeks w
          where not w.is_gone
          group by 1, 2
        ) w
        cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
      )
      select array_agg(f.tenant_id), array_agg(f.events)
      from (
        select u.tenant_id, sum(u.events)::bigint as events
        from (
          select c.tenant_id, c.events from counts c
          union all
          select w.tenant_id, (w.count).events from weeks w where w.is_gone
        ) u
        group by u.tenant_id
      ) f
    $query$,
    p_from, p_to
  );
end;
$$;

revoke all on function logloom_private.forgotten_records_sql(timestamptz, timestamptz) from public;

comment on function logloom_private.forgotten_records_sql(timestamptz, timestamptz) is
  'A statement that deletes all rows and counts of the tenants $1 from each one''s instant in $2, '
  'p_from the least of these, to p_to: the bounds of days. It returns, as two arrays, tenants and '
  'how many records were counted of each.';

-- logs/compact_log_counts.sql

create function logloom_private.forget_day(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
begin
  -- Tenant by tenant, as the index leads with it.
  delete from logloom_private.log_counts c
  using logloom_private.log_days d
  where d.day = p_day
    and c.tenant_id = d.tenant_id
    and c.minute >= v_from
    and c.minute < v_from + interval '1 day';
  with unpacked as (
    delete from logloom_private.packed_counts p
    where p.week = logloom_private.week_of(p_day)
    returning p as packed
  )
  insert into logloom_private.packed_counts
  select p.*
  from unpacked u
  cross join lateral logloom_private.packed_week(
    (u.packed).tenant_id, (u.packed).week,
    array(
      select c
      from logloom_private.unpacked_counts(u.packed) c
      where c.minute < v_from or c.minute >= v_from + interval '1 day'
    )
  ) p
  where p.minutes is not null;
  delete from logloom_private.log_days d where d.day = p_day;
  delete from logloom_private.log_arrivals a where a.day = p_day;
end;
$$;

revoke all on function logloom_private.forget_day(date) from public;

comment on function logloom_private.forget_day(date) is
  'Forgets what is known of a UTC day: counts, tenants, arrivals. To be called in the transaction '
  'that drops its partition.';

create function logloom_private.summarize_arrivals(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '100ms'
as $$
begin
  perform brin_summarize_new_values(i.indexrelid)
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am a on a.oid = c.relam
  where a.amname = 'brin'
    and i.indrelid = to_regclass(format('logloom.%I', logloom_private.partition_name(p_day)));
exception when lock_not_available then
  -- Vacuum is at it, which does the same.
  null;
end;
$$;

revoke all on function logloom_private.summarize_arrivals(date) from public;

comment on function logloom_private.summarize_arrivals(date) is
  'Brings the index by arrival of a day''s partition up to date, for which autovacuum takes a '
  'minute and more: what is not summarized is read by every live tail.';

create function logloom_private.compact_log_counts()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
  v_arrived_days date[];
  v_days integer := 0;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;

  if logloom_private.is_spread() then
    with minutes as (
      select distinct d.tenant_id, d.minute
      from (
        select c.tenant_id, c.minute
        from logloom_private.log_counts c
        where c.is_delta
        order by c.minute
        limit v_settings.count_compact_rows
      ) d
    ), taken as (
      delete from logloom_private.log_counts c
      using minutes m
      where c.tenant_id = m.tenant_id and c.minute = m.minute
      returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
    ), summed as (
      select
        t.tenant_id, t.minute, t.service, t.level, t.is_other, sum(t.events) as events,
        dense_rank() over (
          partition by t.tenant_id, t.minute order by t.is_other, t.service collate "C"
        ) as place
      from taken t
      group by t.tenant_id, t.minute, t.service, t.level, t.is_other
      having sum(t.events) <> 0
    ), kept as (
      -- Negative is a service that was counted together with others when it was added.
      select s.*, s.is_other or s.events < 0 or s.place > v_settings.count_services_max as folded
      from summed s
    ), added as (
      insert into logloom_private.log_counts
        (tenant_id, minute, service, level, is_other, events, is_delta)
      select
        k.tenant_id, k.minute, case when not k.folded then k.service end, k.level, k.folded,
        sum(k.events), false
      from kept k
      group by 1, 2, 3, 4, 5
      having sum(k.events) <> 0
      order by 1, 2
    )
    select count(*) into v_rows from taken;
  else
    -- Whole minutes of a tenant, so that what is negative meets what it takes away from.
    with minutes as (
      select d.tenant_id, d.minute, bool_or(d.events < 0) as is_negative
      from (
        select c.tenant_id, c.minute, c.events
        from logloom_private.log_counts c
        where c.is_delta
        order by c.minute
        limit v_settings.count_compact_rows
      ) d
      group by 1, 2
    ), rows_taken as (
      delete from logloom_private.log_counts c
      using minutes m
      where c.tenant_id = m.tenant_id and c.minute = m.minute
      returning c.tenant_id, c.minute, c.service, c.level, c.is_other, c.events
    ), unpacked as (
      delete from logloom_private.packed_counts p
      using (
        select distinct
          m.tenant_id, logloom_private.week_of((m.minute at time zone 'UTC')::date) as week
        from minutes m
        where m.is_negative
      ) w
      where p.tenant_id = w.tenant_id and p.week = w.week
      returning p as packed
    ), taken as (
      select t.* from rows_taken t
      union all
      select (u.packed).tenant_id, c.minute, c.service, c.level, c.is_other, c.events
      from unpacked u, logloom_private.unpacked_counts(u.packed) c
    ), noted as (
      insert into logloom_private.counted_days (tenant_id, day)
      select distinct t.tenant_id, (t.minute at time zone 'UTC')::date
      from taken t
      on conflict do nothing
    ), summed as (
      select
        t.tenant_id, t.minute, t.service, t.level, t.is_other, sum(t.events) as events,
        dense_rank() over (
          partition by t.tenant_id, t.minute order by t.is_other, t.service collate "C"
        ) as place
      from taken t
      group by t.tenant_id, t.minute, t.service, t.level, t.is_other
      having sum(t.events) <> 0
    ), kept as (
      -- Negative is a service that was counted together with others when it was added.
      select s.*, s.is_other or s.events < 0 or s.place > v_settings.count_services_max as folded
      from summed s
    ), added as (
      insert into logloom_private.log_counts
        (tenant_id, minute, service, level, is_other, events, is_delta)
      select
        k.tenant_id, k.minute, case when not k.folded then k.service end, k.level, k.folded,
        sum(k.events), false
      from kept k
      group by 1, 2, 3, 4, 5
      having sum(k.events) <> 0
      order by 1, 2
    )
    select count(*) into v_rows from rows_taken;
  end if;

  with superseded as (
    delete from logloom_private.log_arrivals a
    where exists (
      select from logloom_private.log_arrivals l where l.day = a.day and l.arrival > a.arrival
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_arrivals(d.day) from unnest(v_arrived_days) d (day);
  if v_rows < v_settings.count_compact_rows then
    v_days := logloom_private.pack_log_counts();
  end if;
  return case
    when v_rows >= v_settings.count_compact_rows or v_days >= v_settings.count_pack_days
      then interval '0'
  end;
end;
$$;

revoke all on function logloom_private.compact_log_counts() from public;

comment on function logloom_private.compact_log_counts() is
  'Sums up the rows of minutes that changed, packs those of small tenants, and keeps the latest '
  'arrival of a day only: one step of a job.';

-- logs/is_spread.sql

create function logloom_private.is_spread()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_partitions constant regclass := to_regclass('pg_catalog.pg_dist_partition');
  v_is_spread boolean;
begin
  if v_partitions is null then
    return false;
  end if;
  execute format(
    'select exists (select from %s p where p.logicalrelid = %L::regclass)',
    v_partitions, 'logloom.logs'
  )
  into v_is_spread;
  return v_is_spread;
end;
$$;

revoke all on function logloom_private.is_spread() from public;

comment on function logloom_private.is_spread() is
  'Whether records are spread over nodes. There counts are not packed, and what expires goes '
  'tenant by tenant, since a statement reaches one node or one table.';

-- logs/pack_log_counts.sql

create function logloom_private.week_of(p_day date)
returns date
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_day - (extract(isodow from p_day)::integer - 1);
end;
$$;

revoke all on function logloom_private.week_of(date) from public;

comment on function logloom_private.week_of(date) is 'The Monday of a day''s week.';

create function logloom_private.unpacked_counts(p_week logloom_private.packed_counts)
returns setof logloom_private.minute_count
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    p_week.week::timestamp at time zone 'UTC' + make_interval(mins => c.minute),
    c.events::bigint, c.place = 0,
    case c.level
      when 'd' then 'debug' when 'i' then 'info' when 'w' then 'warn' when 'e' then 'error'
    end,
    p_week.services[c.place]
  from unnest(p_week.minutes, p_week.events, p_week.levels, p_week.places)
    c (minute, events, level, place);
end;
$$;

revoke all on function logloom_private.unpacked_counts(logloom_private.packed_counts)
from public;

comment on function logloom_private.unpacked_counts(logloom_private.packed_counts) is
  'The counts that are packed in a row.';

create function logloom_private.packed_week(
  p_tenant_id text,
  p_week date,
  p_counts logloom_private.minute_count[]
)
returns logloom_private.packed_counts
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_monday constant timestamptz := p_week::timestamp at time zone 'UTC';
  v_packed logloom_private.packed_counts;
begin
  with summed as (
    select
      c.minute, c.is_other, c.level, c.service, sum(c.events) as events,
      dense_rank() over (order by c.is_other, c.service) as place
    from unnest(p_counts) c
    group by 1, 2, 3, 4
    having sum(c.events) <> 0
  )
  select
    array_agg((extract(epoch from s.minute - v_monday) / 60)::smallint order by s.minute),
    array_agg(s.events::integer order by s.minute),
    array_agg(coalesce(left(s.level, 1), ' ')::"char" order by s.minute),
    array_agg(case when s.is_other then 0 else s.place end::smallint order by s.minute),
    array(
      select u.service
      from (select distinct s.place, s.service from summed s where not s.is_other) u
      order by u.place
    )
  into v_packed.minutes, v_packed.events, v_packed.levels, v_packed.places, v_packed.services
  from summed s;
  v_packed.tenant_id := p_tenant_id;
  v_packed.week := p_week;
  return v_packed;
end;
$$;

revoke all on function logloom_private.packed_week(
  text, date, logloom_private.minute_count[]
) from public;

comment on function logloom_private.packed_week(text, date, logloom_private.minute_count[]) is
  'A row of packed_counts with these counts, which are of the week that begins with p_week.';

create function logloom_private.packed_counts_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if logloom_private.is_spread() then
    return '(select null::text as tenant_id, null::timestamptz as minute, null::bigint as events, '
      || 'null::boolean as is_other, null::text as level, null::text as service where false)';
  end if;
  return format(
    '(select p.tenant_id, c.* from logloom_private.packed_counts p, '
      || 'logloom_private.unpacked_counts(p) c '
      || 'where p.tenant_id = %L and p.week >= %L::date and p.week <= %L::date)',
    p_tenant_id, logloom_private.week_of(logloom_private.utc_day(p_from)),
    logloom_private.week_of(logloom_private.utc_day(p_to))
  );
end;
$$;

revoke all on function logloom_private.packed_counts_sql(text, timestamptz, timestamptz)
from public;

comment on function logloom_private.packed_counts_sql(text, timestamptz, timestamptz) is
  'SQL in parentheses that yields the packed counts of a tenant as log_counts has them, of all '
  'weeks that the range touches.';

create function logloom_private.pack_log_counts()
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
-- Tenant by tenant through the index, whatever the planner believes of a table that changed a lot.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_settings logloom_private.settings;
  v_until timestamptz;
  v_days integer;
begin
  if logloom_private.is_spread() then
    delete from logloom_private.counted_days d where true;
    return 0;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Whoever asks how much came lately, as the alerts do, finds it where it was counted.
  v_until := date_bin('1 minute', now() - v_settings.seal_after, 'epoch');
  with due as (
    select c.tenant_id, c.day
    from logloom_private.counted_days c
    -- What comes late is packed with what comes later still.
    where c.noted_at < now() - v_settings.seal_after
    order by c.noted_at
    limit v_settings.count_pack_days
  ), over as (
    delete from logloom_private.counted_days c
    using due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' <= v_until
  ), under_way as (
    update logloom_private.counted_days c
    set noted_at = now()
    from due d
    where c.tenant_id = d.tenant_id and c.day = d.day
      and (d.day + 1)::timestamp at time zone 'UTC' > v_until
  ), few as materialized (
    select r.*
    from (
      select
        d.tenant_id, d.day,
        d.day::timestamp at time zone 'UTC' as starts,
        least((d.day + 1)::timestamp at time zone 'UTC', v_until) as ends
      from due d
    ) r
    -- With more, a row for each is found faster than a place in a long array.
    where (
      select count(*)
      from (
        select
        from logloom_private.log_counts c
        where c.tenant_id = r.tenant_id and c.minute >= r.starts and c.minute < r.ends
        limit v_settings.count_pack_rows + 1
      ) l
    ) <= v_settings.count_pack_rows
  ), taken as (
    delete from logloom_private.log_counts c
    using few f
    where c.tenant_id = f.tenant_id
      and c.minute >= f.starts
      and c.minute < f.ends
      and not c.is_delta
    returning
      c.tenant_id, logloom_private.week_of(f.day) as week,
      row(c.minute, c.events, c.is_other, c.level, c.service)::logloom_private.minute_count
        as count
  ), unpacked as (
    delete from logloom_private.packed_counts p
    using (select distinct t.tenant_id, t.week from taken t) w
    where p.tenant_id = w.tenant_id and p.week = w.week
    returning p as packed
  ), packed as (
    insert into logloom_private.packed_counts
    select p.*
    from (
      select c.tenant_id, c.week, array_agg(c.count) as counts
      from (
        select t.tenant_id, t.week, t.count from taken t
        union all
        select (u.packed).tenant_id, (u.packed).week, c
        from unpacked u, logloom_private.unpacked_counts(u.packed) c
      ) c
      group by c.tenant_id, c.week
    ) w
    cross join lateral logloom_private.packed_week(w.tenant_id, w.week, w.counts) p
    where p.minutes is not null
  )
  select count(*) into v_days from due;
  return v_days;
end;
$$;

revoke all on function logloom_private.pack_log_counts() from public;

comment on function logloom_private.pack_log_counts() is
  'Packs the counts of minutes that are over for seal_after, of some days of tenants that have '
  'few. How many days it looked at. To be called with the lock log_counts.';

-- logs/partitions.sql

create function logloom_private.partition_name(p_day date)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return to_char(p_day, '"logs_"YYYY_MM_DD');
end;
$$;

revoke all on function logloom_private.partition_name(date) from public;

comment on function logloom_private.partition_name(date) is 'logs_YYYY_MM_DD.';

create function logloom_private.partition_exists(p_day date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and c.relname = logloom_private.partition_name(p_day)
      and not i.inhdetachpending
  );
end;
$$;

revoke all on function logloom_private.partition_exists(date) from public;

comment on function logloom_private.partition_exists(date) is
  'Whether the day''s partition is attached.';

create function logloom_private.lock_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
end;
$$;

revoke all on function logloom_private.lock_partitions() from public;

comment on function logloom_private.lock_partitions() is
  'Held to the end of the transaction: one at a time makes, renames or drops partitions.';

create function logloom_private.create_partition(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_name constant text := logloom_private.partition_name(p_day);
begin
  perform logloom_private.lock_partitions();
  if logloom_private.partition_exists(p_day) then
    return;
  end if;
  -- Made beside the parent and attached: "partition of" would wait for every reader of the parent.
  execute format('create table logloom.%I (like logloom.logs including all)', v_name);
  execute format('alter table logloom.%I enable row level security', v_name);
  execute format('alter table logloom.%I force row level security', v_name);
  execute format(
    'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
    v_name,
    p_day::timestamp at time zone 'UTC',
    (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

revoke all on function logloom_private.create_partition(date) from public;

comment on function logloom_private.create_partition(date) is
  'Makes the day''s partition unless it exists.';

create function logloom_private.adopt_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_partition record;
begin
  for v_partition in
    select
      c.relname as name,
      logloom_private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  loop
    if v_partition.name <> v_partition.day_name then
      execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table logloom.%I enable row level security', v_partition.day_name);
      execute format('alter table logloom.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.adopt_partitions() from public;

comment on function logloom_private.adopt_partitions() is
  'Gives partitions made by pg_partman their names and row-level security. Bounds come from the '
  'catalog, so pg_partman goes on working after the rename.';

create function logloom_private.maintain_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
begin
  perform logloom_private.lock_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  perform logloom_private.adopt_partitions();
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;

revoke all on function logloom_private.maintain_partitions() from public;

comment on function logloom_private.maintain_partitions() is
  'Today''s partition and those of the coming days exist afterwards.';

create function logloom_private.partition_days()
returns date[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return array(
    select to_date(c.relname, '"logs_"YYYY_MM_DD') as day
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
    order by 1
  );
end;
$$;

revoke all on function logloom_private.partition_days() from public;

comment on function logloom_private.partition_days() is
  'The days that have a partition, oldest first.';

-- logs/partman.sql

create function logloom_private.manage_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- No default partition: a row in it would stop maintenance, and its check would wait for
    -- readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := (select s.partition_days_ahead from logloom_private.settings s),
      -- After the days that a restored table has; null where it has none.
      p_start_partition := (
        select (max(d.day) + 1)::text from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  update partman.part_config
  set infinite_time_partitions = true
  where parent_table = 'logloom.logs';
end;
$$;

revoke all on function logloom_private.manage_partitions() from public;

comment on function logloom_private.manage_partitions() is
  'Gives logloom.logs to pg_partman, unless it has it.';

select logloom_private.manage_partitions();

select logloom_private.maintain_partitions();

-- ingest/types/ingest_request.sql

create type logloom_private.ingest_request as (
  p_tenant_id text,
  p_key_digest text,
  p_idempotency_key text,
  p_body_digest text,
  p_bytes integer,
  p_positions integer[],
  p_rejected integer,
  p_errors json,
  p_ts timestamptz[],
  p_level text[],
  p_msg text[],
  p_service text[],
  p_env text[],
  p_req_id text[],
  p_user_id text[],
  p_route text[],
  p_host text[],
  p_attrs jsonb[],
  p_slice integer,
  p_claims jsonb
);

comment on type logloom_private.ingest_request is
  'One request of ingest: the parameters of public.ingest_logs, which says what they are. Its '
  'events are parallel arrays, p_ts of full length. Always filled by name.';

-- ingest/types/usage_day.sql

-- What was accepted, per tenant and UTC day, and what follows from it: quotas and rates.
--
-- Counted when a slot of the queue closes, in the writer's transaction, so that no request waits
-- for a counter. What the writer has not counted yet is counted where it lies, in the queue.

create type public.logloom_usage_day as (day date, events bigint, bytes bigint);

comment on type public.logloom_usage_day is 'Events and bytes that were accepted on a UTC day.';

-- ingest/tables/idempotency_keys.sql

create table logloom_private.idempotency_keys (
  tenant_id text not null references logloom.tenants on delete cascade,
  idempotency_key text not null,
  body_digest bytea not null,
  response json not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, idempotency_key)
);

create index idempotency_keys_created_at_idx on logloom_private.idempotency_keys (created_at);

alter table logloom_private.idempotency_keys enable row level security;
alter table logloom_private.idempotency_keys force row level security;

comment on table logloom_private.idempotency_keys is
  'First answers of requests with an Idempotency-Key, so that a repeat stores nothing.';
comment on column logloom_private.idempotency_keys.response is
  'The answer; of a request that was committed in slices an object with theirs by number.';

-- ingest/tables/queue.sql

-- The queue: one row (batch) a request, the events as column arrays, in slots that rotate.
--
-- A slot is filled, closed, moved and emptied by TRUNCATE, so that the queue leaves no dead rows
-- behind, not even while a forgotten transaction holds an old snapshot.

create sequence logloom_private.queue_batch_id as bigint;

create table logloom_private.queue (
  slot smallint not null,
  batch_id bigint not null,
  batch_key uuid not null,
  tenant_id text not null,
  key_id uuid,
  received_at timestamptz not null,
  events integer not null,
  bytes integer not null,
  ts_min timestamptz not null,
  ts_max timestamptz not null,
  ts timestamptz[] not null,
  level text[],
  msg text[],
  service text[],
  env text[],
  req_id text[],
  user_id text[],
  route text[],
  host text[],
  attrs jsonb[],
  primary key (batch_id, slot)
)
partition by list (slot);

create index queue_tenant_id_batch_id_idx on logloom_private.queue (tenant_id, batch_id);

do $$
declare
  v_column text;
begin
  foreach v_column in array array[
    'ts', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host', 'attrs'
  ] loop
    execute format(
      'alter table logloom_private.queue alter column %I set compression lz4', v_column
    );
  end loop;
  for v_slot in 0..2 loop
    execute format(
      'create table logloom_private.%I partition of logloom_private.queue for values in (%s)',
      'queue_slot_' || v_slot, v_slot
    );
    execute format(
      'alter table logloom_private.%I enable row level security', 'queue_slot_' || v_slot
    );
    execute format(
      'alter table logloom_private.%I force row level security', 'queue_slot_' || v_slot
    );
  end loop;
end;
$$;

alter table logloom_private.queue enable row level security;
alter table logloom_private.queue force row level security;

comment on table logloom_private.queue is
  'Committed events on their way to logloom.logs: one row a request, parallel arrays of one length '
  'or null where no event has the field. A null ts stands for received_at.';

comment on column logloom_private.queue.batch_key is
  'UUIDv7 whose last 16 bits are 0; with the event''s index in them it is the record''s id.';

comment on column logloom_private.queue.bytes is 'Size of the request body.';

comment on column logloom_private.queue.ts_min is
  'Least ts of the batch; which partitions it needs.';

create table logloom_private.queue_slots (
  slot smallint primary key,
  moved_through bigint not null default 0,
  moved_events bigint not null default 0,
  metered_events bigint not null default 0,
  truncated_at timestamptz not null default now()
);

insert into logloom_private.queue_slots (slot) values (0), (1), (2);

alter table logloom_private.queue_slots enable row level security;
alter table logloom_private.queue_slots force row level security;

comment on table logloom_private.queue_slots is 'How far each slot of the queue was moved.';

comment on column logloom_private.queue_slots.moved_through is
  'Every batch of the slot up to this batch_id is in logloom.logs. Written with the records.';

comment on column logloom_private.queue_slots.moved_events is
  'Events moved since the slot was emptied.';

create table logloom_private.queue_marks (
  slot smallint not null references logloom_private.queue_slots on delete restrict,
  batch_to bigint not null,
  received_at timestamptz not null,
  primary key (slot, batch_to)
);

create table logloom_private.queue_pointer (
  singleton boolean primary key default true,
  open_slot smallint not null references logloom_private.queue_slots on delete restrict,
  closed_slot smallint references logloom_private.queue_slots on delete restrict,
  metered_through bigint not null default 0,
  constraint queue_pointer_has_one_row check (singleton),
  constraint queue_pointer_slots_differ check (open_slot <> closed_slot)
);

insert into logloom_private.queue_pointer (open_slot) values (0);

create index queue_pointer_open_slot_idx on logloom_private.queue_pointer (open_slot);
create index queue_pointer_closed_slot_idx on logloom_private.queue_pointer (closed_slot);

alter table logloom_private.queue_marks enable row level security;
alter table logloom_private.queue_marks force row level security;
alter table logloom_private.queue_pointer enable row level security;
alter table logloom_private.queue_pointer force row level security;

comment on column logloom_private.queue_slots.metered_events is
  'Events metered since the slot was emptied. Less moved_events: how many of them still wait.';

comment on table logloom_private.queue_marks is
  'How old the waiting batches are, without looking at them: of those metered at once, up to '
  'batch_to, the least received_at. Kept until they are moved.';

comment on table logloom_private.queue_pointer is
  'Which slot is filled, and which one is closed and being moved.';

comment on column logloom_private.queue_pointer.metered_through is
  'Every batch up to this batch_id is counted: in logloom.usage_days, and in the slots'' '
  'metered_events.';

-- ingest/tables/rate_buckets.sql

-- Unlogged: after a crash every tenant may send a burst again, which is all that is lost.
create unlogged table logloom_private.rate_buckets (
  tenant_id text primary key,
  events double precision not null,
  requests double precision not null,
  filled_at timestamptz not null
)
with (fillfactor = 50);

alter table logloom_private.rate_buckets enable row level security;
alter table logloom_private.rate_buckets force row level security;

comment on table logloom_private.rate_buckets is
  'Token buckets of tenants whose plan has a rate: what was left at filled_at. A debt is negative.';

-- ingest/tables/usage_days.sql

create table logloom.usage_days (
  tenant_id text not null,
  day date not null,
  events bigint not null,
  bytes bigint not null,
  primary key (tenant_id, day)
)
-- Today's rows change with every slot: room on the page keeps that out of the index.
with (fillfactor = 50);

alter table logloom.usage_days enable row level security;
alter table logloom.usage_days force row level security;

create policy usage_days_select_tenant on logloom.usage_days
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.usage_days to authenticated, service_role;

comment on table logloom.usage_days is
  'Events and bytes accepted per tenant and UTC day of receipt. The writer adds to it when it '
  'begins to move a slot of the queue; what lies behind queue_pointer.metered_through is not yet.';

-- ingest/answers.sql

create function logloom_private.writer_is_silent()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return not exists (
    select
    from logloom_private.job_heartbeats h, logloom_private.settings s
    where h.job = 'write_logs' and h.last_succeeded_at > now() - s.writer_guard_silence
  );
end;
$$;

revoke all on function logloom_private.writer_is_silent() from public;

comment on function logloom_private.writer_is_silent() is
  'Whether no run of the writer succeeded for writer_guard_silence.';

create function logloom_private.ingest_headers()
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when logloom_private.writer_is_silent() then jsonb_build_object('X-Logloom-Writer', 'silent')
    else '{}'
  end;
end;
$$;

revoke all on function logloom_private.ingest_headers() from public;

comment on function logloom_private.ingest_headers() is
  'Headers of every answer to ingest: X-Logloom-Writer where pg_cron does not run the writer.';

create function logloom_private.limit_headers(
  p_limit bigint,
  p_remaining bigint,
  p_reset_at timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.ingest_headers() || jsonb_build_object(
    'X-RateLimit-Limit', p_limit::text,
    'X-RateLimit-Remaining', greatest(p_remaining, 0)::text,
    'X-RateLimit-Reset', ceil(extract(epoch from p_reset_at))::bigint::text
  );
end;
$$;

revoke all on function logloom_private.limit_headers(bigint, bigint, timestamptz)
from public;

comment on function logloom_private.limit_headers(bigint, bigint, timestamptz) is
  'Headers of an answer to ingest that tell of a limit. X-RateLimit-Reset is a Unix time.';

create function logloom_private.seconds_until(p_at timestamptz)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return greatest(1, ceil(extract(epoch from p_at - clock_timestamp())))::bigint::text;
end;
$$;

revoke all on function logloom_private.seconds_until(timestamptz) from public;

comment on function logloom_private.seconds_until(timestamptz) is
  'Whole seconds for Retry-After, at least 1.';

create function logloom_private.answer_headers()
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return (
    select jsonb_object_agg(h.name, h.value)
    from jsonb_array_elements(current_setting('response.headers')::jsonb) a (header)
    cross join jsonb_each_text(a.header) h (name, value)
  );
end;
$$;

revoke all on function logloom_private.answer_headers() from public;

comment on function logloom_private.answer_headers() is
  'The headers that check_quota has set, for a refusal, whose error would lose them.';

-- ingest/check_quota.sql

create function logloom_private.check_quota(
  p_tenant_id text,
  p_plan logloom.plans,
  p_events integer
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_month constant date := logloom_private.month_start(now());
  v_reset_at constant timestamptz := logloom_private.month_end(now());
  v_state record;
  v_events bigint;
  v_bytes bigint;
begin
  -- One statement, one snapshot: a batch is either counted here or after metered_through.
  select
    q as pointer, m.events, m.bytes,
    (b.last_value - q.metered_through) * s.batch_max_events as events_ahead,
    (b.last_value - q.metered_through) * s.batch_max_bytes as bytes_ahead
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_batch_id b
  cross join (
    select coalesce(sum(u.events), 0) as events, coalesce(sum(u.bytes), 0) as bytes
    from logloom.usage_days u
    where u.tenant_id = p_tenant_id and u.day >= v_month
  ) m;
  v_events := v_state.events;
  v_bytes := v_state.bytes;

  -- The queue is looked at only when what it may hold could matter.
  if v_events + v_state.events_ahead >= p_plan.monthly_events_limit
    or v_bytes + v_state.bytes_ahead >= p_plan.monthly_bytes_limit
  then
    select v_events + coalesce(sum(u.events), 0), v_bytes + coalesce(sum(u.bytes), 0)
    into v_events, v_bytes
    from logloom_private.unmetered_usage(p_tenant_id, v_state.pointer) u
    where u.day >= v_month;
  end if;

  if p_events > 0 and v_events >= p_plan.monthly_events_limit then
    perform logloom_private.refuse_with_headers(
      logloom_private.limit_headers(p_plan.monthly_events_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', logloom_private.seconds_until(v_reset_at)),
      'ingest.monthly_events_are_used_up',
      p_plan.monthly_events_limit::text
    );
  elsif p_events > 0 and v_bytes >= p_plan.monthly_bytes_limit then
    perform logloom_private.refuse_with_headers(
      logloom_private.limit_headers(p_plan.monthly_bytes_limit, 0, v_reset_at)
      || jsonb_build_object('Retry-After', logloom_private.seconds_until(v_reset_at)),
      'ingest.monthly_bytes_are_used_up',
      p_plan.monthly_bytes_limit::text
    );
  end if;

  -- As text, not by way of limit_headers: every request passes here.
  perform set_config(
    'response.headers',
    format(
      '[{"X-RateLimit-Limit": "%s"}, {"X-RateLimit-Remaining": "%s"},'
      ' {"X-RateLimit-Reset": "%s"}%s]',
      p_plan.monthly_events_limit,
      greatest(p_plan.monthly_events_limit - v_events - p_events, 0),
      ceil(extract(epoch from v_reset_at))::bigint,
      case when logloom_private.writer_is_silent() then ', {"X-Logloom-Writer": "silent"}' end
    ),
    true
  );
end;
$$;

revoke all on function logloom_private.check_quota(text, logloom.plans, integer) from public;

comment on function logloom_private.check_quota(text, logloom.plans, integer) is
  'PT429 when the month''s events or bytes have reached the plan''s limit and there are events to '
  'add; else sets the X-RateLimit headers of the answer, right to about a second of traffic.';

-- ingest/enqueue.sql

create function logloom_private.batch_key(p_received_at timestamptz)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- The variant and the random bits are those of a version 4, from its version on.
  return (
    lpad(to_hex(floor(extract(epoch from p_received_at) * 1000)::bigint), 12, '0')
    || '7' || substr(gen_random_uuid()::text, 16, 17) || '0000'
  )::uuid;
end;
$$;

revoke all on function logloom_private.batch_key(timestamptz) from public;

comment on function logloom_private.batch_key(timestamptz) is
  'A UUIDv7 (RFC 9562) of p_received_at with 58 random bits and the last 16 bits 0.';

create function logloom_private.enqueue(
  p_tenant_id text,
  p_key_id uuid,
  p_request logloom_private.ingest_request
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_received_at timestamptz;
  v_ts_min timestamptz;
  v_ts_max timestamptz;
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  v_received_at := clock_timestamp();
  select min(coalesce(e.ts, v_received_at)), max(coalesce(e.ts, v_received_at))
  into v_ts_min, v_ts_max
  from unnest(p_request.p_ts) e (ts);

  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      v_received_at
    ),
    p_tenant_id, p_key_id, v_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), v_ts_min, v_ts_max,
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host, p_request.p_attrs
  from logloom_private.queue_pointer p;
end;
$$;

revoke all on function logloom_private.enqueue(text, uuid, logloom_private.ingest_request)
from public;

comment on function logloom_private.enqueue(text, uuid, logloom_private.ingest_request) is
  'Puts one batch into the open slot.';

-- ingest/idempotency.sql

create function logloom_private.repeated_answer(
  p_tenant_id text,
  p_idempotency_key text,
  p_body_digest bytea,
  p_lifetime interval,
  p_slice integer
)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_known logloom_private.idempotency_keys;
begin
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_tenant_id and k.idempotency_key = p_idempotency_key
    and k.created_at >= now() - p_lifetime;
  if v_known.body_digest <> p_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.answer_headers(), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$$;

revoke all on function logloom_private.repeated_answer(text, text, bytea, interval, integer)
from public;

comment on function logloom_private.repeated_answer(text, text, bytea, interval, integer) is
  'The first answer to an Idempotency-Key, or to a slice of its request; null where there is none. '
  'PT409 where the body was another.';

create function logloom_private.note_answer(
  p_tenant_id text,
  p_idempotency_key text,
  p_body_digest bytea,
  p_lifetime interval,
  p_slice integer,
  p_response json
)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_noted constant json := case
    when p_slice is null then p_response
    else json_build_object(p_slice::text, p_response::jsonb - 'errors')
  end;
begin
  -- A second request with this key waits here for the first one's commit.
  insert
    into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
  values (p_tenant_id, p_idempotency_key, p_body_digest, v_noted)
  on conflict (tenant_id, idempotency_key) do update
  set
    body_digest = excluded.body_digest,
    response = case
      when k.created_at < now() - p_lifetime then excluded.response
      else (k.response::jsonb || excluded.response::jsonb)::json
    end,
    created_at = case when k.created_at < now() - p_lifetime then now() else k.created_at end
  where k.created_at < now() - p_lifetime
    or (
      p_slice is not null
      and k.body_digest = excluded.body_digest
      and k.response -> p_slice::text is null
    );
  if found then
    return null;
  end if;
  return logloom_private.repeated_answer(
    p_tenant_id, p_idempotency_key, p_body_digest, p_lifetime, p_slice
  );
end;
$$;

revoke all on function logloom_private.note_answer(text, text, bytea, interval, integer, json)
from public;

comment on function logloom_private.note_answer(text, text, bytea, interval, integer, json) is
  'Keeps the answer to a request, or adds that to one of its slices to the one row of the request, '
  'without its errors. Null; where another was quicker, its answer. PT409 where the body was '
  'another.';

create function logloom_private.purge_idempotency_keys()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom_private.idempotency_keys k
  where k.ctid = any(array(
    select o.ctid
    from logloom_private.idempotency_keys o
    where o.created_at < now() - v_settings.idempotency_key_lifetime
    limit v_settings.purge_step_rows
    for update skip locked
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.purge_idempotency_keys() from public;

comment on function logloom_private.purge_idempotency_keys() is
  'Deletes idempotency keys past their lifetime.';

-- ingest/ingest_logs.sql

create function logloom_private.authenticate_sender(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  out tenant_id text,
  out key_id uuid
)
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_key_digest is not null then
    select o.tenant_id, o.key_id
    into authenticate_sender.tenant_id, authenticate_sender.key_id
    from logloom_private.authenticate_api_key(p_key_digest) o;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_token(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_tenant_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    perform logloom_private.refuse('callers.not_known');
  end if;
end;
$$;

revoke all on function logloom_private.authenticate_sender(text, text, jsonb) from public;

comment on function logloom_private.authenticate_sender(text, text, jsonb) is
  'Whose a request is: of the API key where one is given, else of the tenant of the verified '
  'claims, else of the tenant that service_role names. PT401.';

create function logloom_private.accepted_answer(
  p_ingested integer,
  p_rejected integer,
  p_errors json
)
returns json
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return json_strip_nulls(json_build_object(
    'success', p_ingested > 0 or p_rejected = 0,
    'ingested', p_ingested,
    'rejected', p_rejected,
    'errors', case when p_rejected > 0 then coalesce(p_errors, '[]') end
  ));
end;
$$;

revoke all on function logloom_private.accepted_answer(integer, integer, json) from public;

comment on function logloom_private.accepted_answer(integer, integer, json) is
  'The body of a 200: {success, ingested, rejected, errors}, the last where events were rejected.';

create function logloom_private.check_batch_size(
  p_request logloom_private.ingest_request,
  p_settings logloom_private.settings
)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if cardinality(p_request.p_ts) > p_settings.batch_max_events
    or p_request.p_bytes > p_settings.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large',
      p_settings.batch_max_events::text,
      p_settings.batch_max_bytes::text
    );
  end if;
end;
$$;

revoke all on function logloom_private.check_batch_size(
  logloom_private.ingest_request, logloom_private.settings
) from public;

comment on function logloom_private.check_batch_size(
  logloom_private.ingest_request, logloom_private.settings
) is
  'PT413 for more than a batch of the queue may hold, which the quotas count on.';

create function logloom_private.ingest(p_request logloom_private.ingest_request)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_sender record;
  v_plan logloom.plans;
  v_settings logloom_private.settings;
  v_from timestamptz;
  v_to timestamptz;
  v_ingested integer;
  v_answer json;
  v_earlier_answer json;
begin
  v_sender := logloom_private.authenticate_sender(
    p_request.p_tenant_id, p_request.p_key_digest, p_request.p_claims
  );
  v_plan := logloom_private.plan_of(v_sender.tenant_id);
  if p_request.p_ts is null then
    perform logloom_private.check_quota(v_sender.tenant_id, v_plan, 0);
    return json_build_object('authenticated', true);
  end if;
  perform logloom_private.check_rate(v_sender.tenant_id, v_plan);

  select s.* into v_settings from logloom_private.settings s;
  perform logloom_private.check_batch_size(p_request, v_settings);
  v_to := now() + v_settings.ingest_future_limit;
  v_from := logloom_private.kept_from(v_sender.tenant_id, v_plan);
  if exists (
    select from unnest(p_request.p_ts) e (ts) where e.ts not between v_from and v_to
  ) then
    p_request := logloom_private.reject_events_out_of_range(
      p_request, v_sender.tenant_id, v_from, v_to, v_settings.ingest_future_limit
    );
  end if;
  v_ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer := logloom_private.accepted_answer(
    v_ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors
  );

  -- A repeat gets the first answer, also once a limit is reached.
  if v_key is not null then
    perform logloom_private.check_quota(v_sender.tenant_id, v_plan, 0);
    v_earlier_answer := logloom_private.repeated_answer(
      v_sender.tenant_id, v_key, v_body_digest, v_settings.idempotency_key_lifetime,
      p_request.p_slice
    );
    if v_earlier_answer is not null then
      return v_earlier_answer;
    end if;
  end if;
  perform logloom_private.check_quota(v_sender.tenant_id, v_plan, v_ingested);
  if v_ingested > 0 and logloom_private.queue_is_full() then
    perform logloom_private.check_quota(v_sender.tenant_id, v_plan, 0);
    perform logloom_private.refuse_full_queue();
  end if;

  if v_ingested > 0 then
    perform logloom_private.provision_tenant(v_sender.tenant_id);
  end if;
  -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
  -- event of its plan.
  if v_key is not null and v_ingested > 0 then
    v_earlier_answer := logloom_private.note_answer(
      v_sender.tenant_id, v_key, v_body_digest, v_settings.idempotency_key_lifetime,
      p_request.p_slice, v_answer
    );
    if v_earlier_answer is not null then
      return v_earlier_answer;
    end if;
  end if;
  perform logloom_private.take_rate(v_sender.tenant_id, v_plan, v_ingested);
  if v_ingested > 0 then
    perform logloom_private.enqueue(v_sender.tenant_id, v_sender.key_id, p_request);
  end if;
  return v_answer;
end;
$$;

revoke all on function logloom_private.ingest(logloom_private.ingest_request) from public;

grant execute on function logloom_private.ingest(logloom_private.ingest_request) to service_role;

comment on function logloom_private.ingest(logloom_private.ingest_request) is
  'Key check, limits, provisioning, idempotency and enqueue in the transaction of the call.';

create function public.ingest_logs(
  p_tenant_id text default null,
  p_key_digest text default null,
  p_idempotency_key text default null,
  p_body_digest text default null,
  p_bytes integer default null,
  p_positions integer[] default null,
  p_rejected integer default null,
  p_errors json default null,
  p_ts timestamptz[] default null,
  p_level text[] default null,
  p_msg text[] default null,
  p_service text[] default null,
  p_env text[] default null,
  p_req_id text[] default null,
  p_user_id text[] default null,
  p_route text[] default null,
  p_host text[] default null,
  p_attrs jsonb[] default null,
  p_slice integer default null,
  p_claims jsonb default null
)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '5s'
as $$
declare
  v_request logloom_private.ingest_request;
begin
  v_request.p_tenant_id := p_tenant_id;
  v_request.p_key_digest := p_key_digest;
  v_request.p_idempotency_key := p_idempotency_key;
  v_request.p_body_digest := p_body_digest;
  v_request.p_bytes := p_bytes;
  v_request.p_positions := p_positions;
  v_request.p_rejected := p_rejected;
  v_request.p_errors := p_errors;
  v_request.p_ts := p_ts;
  v_request.p_level := p_level;
  v_request.p_msg := p_msg;
  v_request.p_service := p_service;
  v_request.p_env := p_env;
  v_request.p_req_id := p_req_id;
  v_request.p_user_id := p_user_id;
  v_request.p_route := p_route;
  v_request.p_host := p_host;
  v_request.p_attrs := p_attrs;
  v_request.p_slice := p_slice;
  v_request.p_claims := p_claims;
  return logloom_private.ingest(v_request);
end;
$$;

revoke all on function public.ingest_logs(
  text, text, text, text, integer, integer[], integer, json, timestamptz[],
  text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb
) from public, anon, authenticated, service_role;

grant execute on function public.ingest_logs(
  text, text, text, text, integer, integer[], integer, json, timestamptz[],
  text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb
) to service_role;

comment on function public.ingest_logs(
  text, text, text, text, integer, integer[], integer, json, timestamptz[], text[], text[],
  text[], text[], text[], text[], text[], text[], jsonb[], integer, jsonb
) is
  'What the edge function ingest calls, once a request. The caller is p_key_digest (hex SHA-256 '
  'of an API key), or who p_claims (of a token whose signature was verified) name, or p_tenant_id. '
  'Events are parallel arrays; p_ts is of full '
  'length, null where missing; without p_ts the call only authenticates and tells the limits. '
  'p_positions: index in the request of each event, null when nothing was rejected before; '
  'p_rejected, p_errors: what was. p_slice: number, from 0, of this part of a request that is '
  'committed in several calls with one idempotency key. '
  'Returns the answer to the client {success, ingested, rejected, errors}. '
  'Errors: PT401, PT409, PT413, PT429, PT503; statement_timeout is the enqueue timeout of the '
  'watermark.';

-- ingest/ingest_requests.sql

create function logloom_private.ingest_each(p_requests json)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because logloom_private.ingest is what may read digests and write to the queue
declare
  v_parameters json;
  v_answers json[] := '{}';
  v_answer json;
  v_state text;
  v_detail text;
begin
  for v_parameters in select e.value from json_array_elements(p_requests) e loop
    -- A block for each: what refuses one request leaves the others as they are.
    begin
      v_answer := logloom_private.ingest(
        json_populate_record(null::logloom_private.ingest_request, v_parameters)
      );
      v_answer := json_build_object(
        'status', 200, 'headers', logloom_private.answer_headers(), 'body', v_answer::text
      );
    exception when others then
      get stacked diagnostics v_state = returned_sqlstate, v_detail = pg_exception_detail;
      v_answer := case
        when v_state = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_state like 'PT%' then json_build_object(
          'status', substr(v_state, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', sqlerrm)::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_state, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  perform set_config('response.headers', '[]', true);
  return array_to_json(v_answers);
end;
$$;

revoke all on function logloom_private.ingest_each(json) from public;

grant execute on function logloom_private.ingest_each(json) to service_role;

comment on function logloom_private.ingest_each(json) is
  'logloom_private.ingest for each of the requests, in one transaction.';

create function public.ingest_requests(p_requests json default null)
returns json
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '5s'
as $$
begin
  return logloom_private.ingest_each(p_requests);
end;
$$;

revoke all on function public.ingest_requests(json)
from public, anon, authenticated, service_role;

grant execute on function public.ingest_requests(json) to service_role;

comment on function public.ingest_requests(json) is
  'ingest_logs for several small requests that came at once: one transaction, one commit. '
  'p_requests: array of objects, each with the parameters of ingest_logs. Returns an array in the '
  'same order, each {status, headers: {name: value}, body: text}, as ingest_logs alone would have '
  'answered; body is JSON text, of an error {code, message}. What refuses one request does not '
  'touch the others. statement_timeout is the enqueue timeout of the watermark, as there.';

-- ingest/metering.sql

create function logloom_private.meter_batches(p_through bigint)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_slot smallint;
  v_last bigint;
  v_events bigint;
  v_received_at timestamptz;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if p_through <= v_pointer.metered_through then
    return;
  end if;
  foreach v_slot in array array_remove(array[v_pointer.closed_slot, v_pointer.open_slot], null) loop
    execute format(
      'select max(q.batch_id), sum(q.events), min(q.received_at)
       from logloom_private.%I q where q.batch_id > $1 and q.batch_id <= $2',
      'queue_slot_' || v_slot
    )
    into v_last, v_events, v_received_at
    using v_pointer.metered_through, p_through;
    continue when v_last is null;
    -- A tenant that was deleted meanwhile has nothing to be counted for.
    execute format(
      $query$
        insert into logloom.usage_days as u (tenant_id, day, events, bytes)
        select q.tenant_id, (q.received_at at time zone 'UTC')::date, sum(q.events), sum(q.bytes)
        from logloom_private.%I q
        join logloom.tenants t on t.tenant_id = q.tenant_id
        where q.batch_id > $1 and q.batch_id <= $2
        group by 1, 2
        on conflict (tenant_id, day) do update
        set events = u.events + excluded.events, bytes = u.bytes + excluded.bytes
      $query$,
      'queue_slot_' || v_slot
    )
    using v_pointer.metered_through, p_through;
    update logloom_private.queue_slots s
    set metered_events = s.metered_events + v_events
    where s.slot = v_slot;
    insert into logloom_private.queue_marks (slot, batch_to, received_at)
    values (v_slot, v_last, v_received_at);
  end loop;
  update logloom_private.queue_pointer set metered_through = p_through where singleton;
end;
$$;

revoke all on function logloom_private.meter_batches(bigint) from public;

comment on function logloom_private.meter_batches(bigint) is
  'Counts the batches up to p_through that are not counted yet: for the quotas, and for what is '
  'asked of the queue. To be called by the writer, when no batch up to p_through is in flight.';

create function logloom_private.meter_slot(p_slot smallint)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_last bigint;
begin
  execute format('select max(q.batch_id) from logloom_private.%I q', 'queue_slot_' || p_slot)
    into v_last;
  if v_last is not null then
    perform logloom_private.meter_batches(v_last);
  end if;
end;
$$;

revoke all on function logloom_private.meter_slot(smallint) from public;

comment on function logloom_private.meter_slot(smallint) is
  'Counts the batches of a closed slot that are not counted yet, in the writer''s transaction.';

create function logloom_private.unmetered_usage(
  p_tenant_id text,
  p_pointer logloom_private.queue_pointer
)
returns setof public.logloom_usage_day
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
begin
  foreach v_slot in array array_remove(array[p_pointer.open_slot, p_pointer.closed_slot], null) loop
    -- By the slot's own name: the third slot is never locked, so it can be truncated meanwhile.
    return query execute format(
      $query$
        select (q.received_at at time zone 'UTC')::date, sum(q.events), sum(q.bytes)
        from logloom_private.%I q
        where q.tenant_id = $1 and q.batch_id > $2
        group by 1
      $query$,
      'queue_slot_' || v_slot
    )
    using p_tenant_id, p_pointer.metered_through;
  end loop;
end;
$$;

revoke all on function logloom_private.unmetered_usage(text, logloom_private.queue_pointer)
from public;

comment on function logloom_private.unmetered_usage(text, logloom_private.queue_pointer) is
  'What a tenant has in the queue and not yet in logloom.usage_days, per UTC day. The pointer must '
  'come from the same snapshot as the rows of logloom.usage_days that it is added to.';

create function logloom_private.month_start(p_at timestamptz)
returns date
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return date_trunc('month', p_at at time zone 'UTC');
end;
$$;

revoke all on function logloom_private.month_start(timestamptz) from public;

grant execute on function logloom_private.month_start(timestamptz)
to authenticated, service_role;

comment on function logloom_private.month_start(timestamptz) is 'First day of the UTC month.';

create function logloom_private.month_end(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (date_trunc('month', p_at at time zone 'UTC') + interval '1 month') at time zone 'UTC';
end;
$$;

revoke all on function logloom_private.month_end(timestamptz) from public;

grant execute on function logloom_private.month_end(timestamptz)
to authenticated, service_role;

comment on function logloom_private.month_end(timestamptz) is 'When the UTC month ends.';

-- ingest/queue_is_full.sql

create function logloom_private.queue_is_full()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- The size of files, not a count: it costs the same however much is queued. A batch's row is
  -- more than a 4096th of the batch, so as long as the rows are few the rest need not be asked.
  return (
    select
      pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p.open_slot)
      + coalesce(pg_catalog.pg_relation_size('logloom_private.queue_slot_' || p.closed_slot), 0)
      >= s.queue_hard_limit_bytes / 4096
      and pg_catalog.pg_table_size('logloom_private.queue_slot_' || p.open_slot)
      + coalesce(pg_catalog.pg_table_size('logloom_private.queue_slot_' || p.closed_slot), 0)
      >= s.queue_hard_limit_bytes
    from logloom_private.queue_pointer p, logloom_private.settings s
  );
end;
$$;

revoke all on function logloom_private.queue_is_full() from public;

comment on function logloom_private.queue_is_full() is
  'Whether the queue takes more of the disk than settings.queue_hard_limit_bytes.';

create function logloom_private.refuse_full_queue()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse_with_headers(
    logloom_private.answer_headers() || jsonb_build_object('Retry-After', '5'),
    'ingest.queue_is_full'
  );
end;
$$;

revoke all on function logloom_private.refuse_full_queue() from public;

comment on function logloom_private.refuse_full_queue() is 'PT503 with Retry-After.';

-- ingest/rates.sql

create function logloom_private.tokens_at(
  p_tokens double precision,
  p_filled_at timestamptz,
  p_rate integer,
  p_burst integer,
  p_at timestamptz
)
returns double precision
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return least(p_burst, p_tokens + p_rate * extract(epoch from greatest(p_at - p_filled_at, '0')));
end;
$$;

revoke all on function logloom_private.tokens_at(
  double precision, timestamptz, integer, integer, timestamptz
) from public;

comment on function logloom_private.tokens_at(
  double precision, timestamptz, integer, integer, timestamptz
) is 'What a bucket holds after it was filled up to an instant.';

create function logloom_private.rate_hold(p_error text, p_rate integer, p_tokens double precision)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', (
        select least((1 - p_tokens) / p_rate, extract(epoch from s.rate_hold_max))
        from logloom_private.settings s
      ),
      'retry_after', ceil((1 - p_tokens) / p_rate),
      'limit', p_rate,
      'error', (logloom_private.error_named(p_error, array[p_rate::text])).message
    )::text
  );
end;
$$;

revoke all on function logloom_private.rate_hold(text, integer, double precision)
from public;

comment on function logloom_private.rate_hold(text, integer, double precision) is
  'X-Logloom-Hold: {seconds, retry_after, limit, error}, the refusal that the function ingest may '
  'give for so many seconds without asking.';

create function logloom_private.refuse_rate(
  p_error text,
  p_rate integer,
  p_tokens double precision
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_seconds constant integer := greatest(1, ceil((1 - p_tokens) / p_rate));
begin
  perform logloom_private.refuse_with_headers(
    logloom_private.limit_headers(p_rate, 0, clock_timestamp() + make_interval(secs => v_seconds))
      || logloom_private.rate_hold(p_error, p_rate, p_tokens)
      || jsonb_build_object('Retry-After', v_seconds::text),
    p_error,
    p_rate::text
  );
end;
$$;

revoke all on function logloom_private.refuse_rate(text, integer, double precision)
from public;

comment on function logloom_private.refuse_rate(text, integer, double precision) is
  'PT429 until the bucket holds one again.';

create function logloom_private.check_rate(p_tenant_id text, p_plan logloom.plans)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_bucket logloom_private.rate_buckets;
  v_tokens double precision;
begin
  if p_plan.events_per_second is null and p_plan.requests_per_second is null then
    return;
  end if;
  -- Read without a lock: a request that is refused here holds nobody up and writes nothing.
  select b.* into v_bucket from logloom_private.rate_buckets b where b.tenant_id = p_tenant_id;
  if not found then
    return;
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.requests, v_bucket.filled_at, p_plan.requests_per_second, p_plan.requests_burst, v_now
  );
  if p_plan.requests_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      'ingest.too_many_requests', p_plan.requests_per_second, v_tokens
    );
  end if;
  v_tokens := logloom_private.tokens_at(
    v_bucket.events, v_bucket.filled_at, p_plan.events_per_second, p_plan.events_burst, v_now
  );
  if p_plan.events_per_second is not null and v_tokens < 1 then
    perform logloom_private.refuse_rate(
      'ingest.too_many_events', p_plan.events_per_second, v_tokens
    );
  end if;
end;
$$;

revoke all on function logloom_private.check_rate(text, logloom.plans) from public;

comment on function logloom_private.check_rate(text, logloom.plans) is
  'PT429 when a bucket of the tenant is empty. Takes nothing.';

create function logloom_private.take_rate(p_tenant_id text, p_plan logloom.plans, p_events integer)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_now timestamptz;
  v_bucket logloom_private.rate_buckets;
  v_hold jsonb;
begin
  if p_plan.events_per_second is null and p_plan.requests_per_second is null then
    return;
  end if;
  insert into logloom_private.rate_buckets (tenant_id, events, requests, filled_at)
  values (
    p_tenant_id, coalesce(p_plan.events_burst, 0), coalesce(p_plan.requests_burst, 0),
    clock_timestamp()
  )
  on conflict do nothing;
  -- Whoever waited for the row looks again.
  perform from logloom_private.rate_buckets b where b.tenant_id = p_tenant_id for no key update;
  perform logloom_private.check_rate(p_tenant_id, p_plan);
  -- What is left may be less than what is taken: the debt is waited for by the next request.
  v_now := clock_timestamp();
  update logloom_private.rate_buckets b
  set
    events = coalesce(
      logloom_private.tokens_at(
        b.events, b.filled_at, p_plan.events_per_second, p_plan.events_burst, v_now
      ) - p_events,
      0
    ),
    requests = coalesce(
      logloom_private.tokens_at(
        b.requests, b.filled_at, p_plan.requests_per_second, p_plan.requests_burst, v_now
      ) - 1,
      0
    ),
    filled_at = greatest(b.filled_at, v_now)
  where b.tenant_id = p_tenant_id
  returning b.* into v_bucket;

  -- The function ingest learns at once that the next request would be refused.
  if p_plan.requests_per_second is not null and v_bucket.requests < 1 then
    v_hold := logloom_private.rate_hold(
      'ingest.too_many_requests', p_plan.requests_per_second, v_bucket.requests
    );
  elsif p_plan.events_per_second is not null and v_bucket.events < 1 then
    v_hold := logloom_private.rate_hold(
      'ingest.too_many_events', p_plan.events_per_second, v_bucket.events
    );
  end if;
  if v_hold is not null then
    perform set_config(
      'response.headers',
      (current_setting('response.headers')::jsonb || jsonb_build_array(v_hold))::text,
      true
    );
  end if;
end;
$$;

revoke all on function logloom_private.take_rate(text, logloom.plans, integer) from public;

comment on function logloom_private.take_rate(text, logloom.plans, integer) is
  'Takes one request and its events from the tenant''s buckets, last in the transaction: others of '
  'the tenant wait for its end. PT429 when a bucket is empty. Nothing where the plan has no rate.';

create function logloom_private.purge_rate_buckets()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom_private.rate_buckets b
  where b.tenant_id = any(array(
    select o.tenant_id
    from logloom_private.rate_buckets o
    where o.filled_at < now() - interval '1 day'
    limit v_settings.purge_step_rows
  ))
    and b.filled_at < now() - interval '1 day';
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.purge_rate_buckets() from public;

comment on function logloom_private.purge_rate_buckets() is
  'Forgets buckets that were not used for a day, and so are full.';

-- ingest/reject_events_out_of_range.sql

create function logloom_private.kept_values(p_values anyarray, p_is_kept boolean[])
returns anyarray
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_values is null then
    return null;
  end if;
  return (
    select array_agg(e.value order by e.i)
    from unnest(p_values, p_is_kept) with ordinality e (value, is_kept, i)
    where e.is_kept
  );
end;
$$;

revoke all on function logloom_private.kept_values(anyarray, boolean[]) from public;

comment on function logloom_private.kept_values(anyarray, boolean[]) is
  'The elements whose place in the second array is true; null where none is left.';

create function logloom_private.reject_events_out_of_range(
  p_request logloom_private.ingest_request,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_future_limit interval
)
returns logloom_private.ingest_request
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_ts constant timestamptz[] := p_request.p_ts;
  v_is_kept constant boolean[] := array(
    select e.ts is null or e.ts between p_from and p_to
    from unnest(v_ts) with ordinality e (ts, i)
    order by e.i
  );
begin
  p_request.p_errors := (
    select json_agg(n.error order by (n.error ->> 'index')::integer)
    from (
      select u.error
      from (
        select j.error from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
        union all
        select json_build_object(
          'index', coalesce(p_request.p_positions[e.i], e.i - 1),
          'code', 'ts_out_of_range',
          'message', case
            when e.ts > p_to
              then format(
                'ts lies more than %s ahead', logloom_private.interval_text(p_future_limit)
              )
            else format(
              'ts is older than what is kept: %s days', logloom_private.retention_days(p_tenant_id)
            )
          end
        )
        from unnest(v_ts, v_is_kept) with ordinality e (ts, is_kept, i)
        where not e.is_kept
      ) u
      order by (u.error ->> 'index')::integer
      limit 100
    ) n
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + (select count(*) from unnest(v_is_kept) e (is_kept) where not e.is_kept);
  p_request.p_ts := logloom_private.kept_values(p_request.p_ts, v_is_kept);
  p_request.p_level := logloom_private.kept_values(p_request.p_level, v_is_kept);
  p_request.p_msg := logloom_private.kept_values(p_request.p_msg, v_is_kept);
  p_request.p_service := logloom_private.kept_values(p_request.p_service, v_is_kept);
  p_request.p_env := logloom_private.kept_values(p_request.p_env, v_is_kept);
  p_request.p_req_id := logloom_private.kept_values(p_request.p_req_id, v_is_kept);
  p_request.p_user_id := logloom_private.kept_values(p_request.p_user_id, v_is_kept);
  p_request.p_route := logloom_private.kept_values(p_request.p_route, v_is_kept);
  p_request.p_host := logloom_private.kept_values(p_request.p_host, v_is_kept);
  p_request.p_attrs := logloom_private.kept_values(p_request.p_attrs, v_is_kept);
  return p_request;
end;
$$;

revoke all on function logloom_private.reject_events_out_of_range(
  logloom_private.ingest_request, text, timestamptz, timestamptz, interval
) from public;

comment on function logloom_private.reject_events_out_of_range(
  logloom_private.ingest_request, text, timestamptz, timestamptz, interval
) is
  'The request without the events whose ts is given and out of range: counted in p_rejected and, '
  'of the first 100, listed in p_errors by their index in what was sent.';

create function logloom_private.interval_text(p_interval interval)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_seconds constant bigint := extract(epoch from p_interval);
begin
  return case
    when v_seconds % 3600 = 0 then format('%s h', v_seconds / 3600)
    when v_seconds % 60 = 0 then format('%s min', v_seconds / 60)
    else format('%s s', v_seconds)
  end;
end;
$$;

revoke all on function logloom_private.interval_text(interval) from public;

comment on function logloom_private.interval_text(interval) is
  'An interval in words: 24 h, 90 min, 5 s.';

-- writer/tables/arrival.sql

-- The writer: moves batches from the queue to logloom.logs, exactly once.
--
-- A step is one transaction: insert the records, note how far the slot was moved. So a record is
-- visible when, and only when, its batch counts as moved, whatever is killed when.

create sequence logloom_private.arrival as bigint;

comment on sequence logloom_private.arrival is 'Numbers the steps of the writer, in commit order.';

-- writer/tables/dead_letters.sql

create table logloom_private.dead_letters (
  id uuid primary key,
  tenant_id text not null,
  ts timestamptz not null,
  received_at timestamptz not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  error_code text not null,
  error_message text not null,
  attempts integer not null default 1,
  failed_at timestamptz not null default now()
);

create index dead_letters_tenant_id_idx on logloom_private.dead_letters (tenant_id);

alter table logloom_private.dead_letters enable row level security;
alter table logloom_private.dead_letters force row level security;

comment on table logloom_private.dead_letters is
  'Events that could not be written, and why. logloom_private.replay_dead_letters() tries again.';

comment on column logloom_private.dead_letters.id is 'The id that the record will have.';

-- writer/empty_moved_slots.sql

create function logloom_private.empty_moved_slots()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
  v_lock_wait text;
begin
  if not logloom_private.lock_writer() then
    return;
  end if;
  for v_slot in
    select s.slot
    from logloom_private.queue_slots s, logloom_private.queue_pointer p, logloom_private.settings c
    where s.slot <> p.open_slot
      and s.slot is distinct from p.closed_slot
      and (
        s.moved_events >= c.writer_truncate_events
        or s.moved_events > 0 and s.truncated_at < now() - c.writer_truncate_age
      )
  loop
    begin
      v_lock_wait := logloom_private.limit_lock_wait(
        (select s.writer_truncate_lock_timeout from logloom_private.settings s)
      );
      execute format('truncate logloom_private.%I', 'queue_slot_' || v_slot);
      update logloom_private.queue_slots s
      set moved_events = 0, metered_events = 0, truncated_at = now()
      where s.slot = v_slot;
      perform logloom_private.restore_lock_wait(v_lock_wait);
    exception when lock_not_available then
      -- Somebody reads the slot. It is emptied in a later run.
      continue;
    end;
  end loop;
end;
$$;

revoke all on function logloom_private.empty_moved_slots() from public;

comment on function logloom_private.empty_moved_slots() is
  'Truncates slots that were moved. A slot that is being read stays for a later run.';

-- writer/flip_queue.sql

create function logloom_private.flip_queue()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_lock_wait text;
  v_has_batches boolean;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if v_pointer.closed_slot is not null or not logloom_private.lock_writer() then
    return false;
  end if;
  execute format(
    'select exists (
       select from logloom_private.%I q, logloom_private.queue_slots s
       where s.slot = $1 and q.batch_id > s.moved_through
     )',
    'queue_slot_' || v_pointer.open_slot
  )
  into v_has_batches
  using v_pointer.open_slot;
  if not v_has_batches then
    return false;
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
    perform pg_advisory_xact_lock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    return false;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);

  -- The emptiest slot is next. One that could not be emptied yet can be filled further: what was
  -- moved lies below moved_through.
  update logloom_private.queue_pointer p
  set closed_slot = p.open_slot,
    open_slot = (
      select s.slot
      from logloom_private.queue_slots s
      where s.slot <> p.open_slot
      order by s.moved_events, s.slot
      limit 1
    )
  where p.closed_slot is null;
  return found;
end;
$$;

revoke all on function logloom_private.flip_queue() from public;

comment on function logloom_private.flip_queue() is
  'Closes the open slot and opens another, unless the open one has nothing to move, one is still '
  'being moved, or enqueues in flight hold the lock too long. True if it flipped.';

-- writer/forget_tenant.sql

create function logloom_private.forget_tenant()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because whoever deletes a tenant has no rights on these tables
begin
  delete from logloom_private.dead_letters d where d.tenant_id = old.tenant_id;
  delete from logloom.usage_days u where u.tenant_id = old.tenant_id;
  return null;
end;
$$;

revoke all on function logloom_private.forget_tenant() from public;

create trigger tenants_forget
after delete on logloom.tenants
for each row execute function logloom_private.forget_tenant();

comment on function logloom_private.forget_tenant() is
  'What the writer keeps of a tenant goes with the tenant. By a trigger, not by foreign keys: '
  'those would let a tenant that is deleted meanwhile fail a step of the writer, for everyone.';

-- writer/insert_records.sql

create function logloom_private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select logloom_private.utc_day(min(q.ts_min)), logloom_private.utc_day(max(q.ts_max))
     from logloom_private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always the days between the outermost events exist; only else is each event looked at.
  if v_last_day - v_first_day < 3 then
    for i in 0..v_last_day - v_first_day loop
      exit when not logloom_private.partition_exists(v_first_day + i);
      if v_first_day + i = v_last_day then
        return;
      end if;
    end loop;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform logloom_private.create_partition(v_day);
  end loop;
end;
$$;

revoke all on function logloom_private.create_missing_partitions(smallint, bigint, bigint)
from public;

comment on function logloom_private.create_missing_partitions(smallint, bigint, bigint) is
  'Makes the partitions of past days that the batches need.';

-- Of the counts' columns alone: the others stay as they are in the queue.
create function logloom_private.note_spread_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set work_mem = '64MB'
as $$
declare
  v_added logloom_private.added_count[];
begin
  execute format(
    $query$
      select array_agg(
        row(c.tenant_id, c.minute, c.service, c.level, c.events)::logloom_private.added_count
      )
      from (
        select
          q.tenant_id, date_bin('1 minute', coalesce(e.ts, q.received_at), 'epoch') as minute,
          e.service, e.level, count(*) as events
        from logloom_private.%I q,
          unnest(q.ts, q.service, q.level) with ordinality e (ts, service, level, i)
        where q.batch_id between $1 and $2
          and e.i between $3 and $4
        group by 1, 2, 3, 4
      ) c
    $query$,
    'queue_slot_' || p_slot
  )
  into v_added
  using p_batch_from, p_batch_to, p_index_from, p_index_to;
  perform logloom_private.note_spread_records(v_added, p_arrival);
end;
$$;

revoke all on function logloom_private.note_spread_range(
  smallint, bigint, bigint, integer, integer, bigint
) from public;

comment on function logloom_private.note_spread_range(
  smallint, bigint, bigint, integer, integer, bigint
) is
  'note_spread_records for events of the batches: the parameters are those of insert_records.';

create function logloom_private.insert_records(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set work_mem = '64MB'
as $$
declare
  v_is_spread constant boolean := logloom_private.is_spread();
  v_insert text;
begin
  -- Sorted as the primary key is, which packs its pages; cast, so that what breaks a rule fails
  -- here.
  v_insert := format(
    $query$
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs
      )
      select
        (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route,
        e.host, e.attrs::logloom_private.log_attrs
      from (
        -- Made once a batch, not once an event: that is what offset 0 is for.
        select b.*, left(b.batch_key::text, 32) as id_prefix
        from logloom_private.%I b
        where b.batch_id between $1 and $2
        offset 0
      ) q,
        unnest(
          q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs
        ) with ordinality e (
          ts, level, msg, service, env, req_id, user_id, route, host, attrs, i
        )
      where e.i between $3 and $4
      order by q.tenant_id, ts
    $query$,
    'queue_slot_' || p_slot
  );
  if v_is_spread then
    perform logloom_private.note_spread_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
    );
  else
    v_insert := logloom_private.added_records_sql(v_insert);
  end if;
  execute v_insert using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
end;
$$;

revoke all on function logloom_private.insert_records(
  smallint, bigint, bigint, integer, integer, bigint
) from public;

comment on function logloom_private.insert_records(
  smallint, bigint, bigint, integer, integer, bigint
) is
  'Inserts the events of the batches, of each those from one 1-based index to another.';

-- writer/lock_writer.sql

create function logloom_private.lock_writer()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return pg_try_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;

revoke all on function logloom_private.lock_writer() from public;

comment on function logloom_private.lock_writer() is
  'Takes the writer''s lock to the end of the transaction. False where another writer holds it.';

create function logloom_private.hold_writers()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;

revoke all on function logloom_private.hold_writers() from public;

comment on function logloom_private.hold_writers() is
  'Waits until nothing writes to logloom.logs, and keeps the writer, retention, erasures and the '
  'sealing from it to the end of the transaction; requests go on into the queue. The first '
  'statement of a migration that changes logloom.logs: otherwise the two deadlock.';

-- writer/meter_queue.sql

create function logloom_private.meter_queue()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_lock_wait text;
  v_through bigint;
begin
  if not logloom_private.lock_writer()
    or not exists (
      select
      from logloom_private.queue_pointer p, logloom_private.queue_batch_id b,
        logloom_private.settings s
      where b.last_value - p.metered_through > s.writer_meter_batches
    )
  then
    return;
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
    -- A moment without an enqueue in flight: whatever has a number by then is committed or never
    -- will be. Of the session, so that it is given back at once.
    perform pg_advisory_lock(logloom_private.lock_key('queue'));
    v_through := (select b.last_value from logloom_private.queue_batch_id b where b.is_called);
    perform pg_advisory_unlock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    v_through := null;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);
  if v_through is not null then
    perform logloom_private.meter_batches(v_through);
  end if;
end;
$$;

revoke all on function logloom_private.meter_queue() from public;

comment on function logloom_private.meter_queue() is
  'Counts what was enqueued since, also into the open slot, where it is more than '
  'writer_meter_batches: so quotas and health look at a bounded number of batches however far '
  'behind the writer is.';

-- writer/provide_partitions.sql

create function logloom_private.provide_partitions()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_today constant date := logloom_private.utc_day(now());
begin
  -- Two look-ups in the catalog, so that the day does not hang on the hourly job.
  for i in 0..1 loop
    if not logloom_private.partition_exists(v_today + i) then
      perform logloom_private.create_partition(v_today + i);
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.provide_partitions() from public;

comment on function logloom_private.provide_partitions() is
  'Makes the partitions of today and tomorrow where they are missing.';

-- writer/queue_state.sql

create type logloom_private.queue_state as (depth bigint, oldest_received_at timestamptz);

create function logloom_private.queue_state()
returns logloom_private.queue_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_slot record;
  v_part logloom_private.queue_state;
  v_state logloom_private.queue_state := row(0, null);
begin
  for v_slot in
    select
      s.slot, p.metered_through, s.metered_events - s.moved_events as events,
      (
        select min(m.received_at)
        from logloom_private.queue_marks m
        where m.slot = s.slot and m.batch_to > s.moved_through
      ) as oldest_received_at
    from logloom_private.queue_slots s, logloom_private.queue_pointer p
    where s.slot in (p.open_slot, p.closed_slot)
  loop
    execute format(
      'select coalesce(sum(q.events), 0), min(q.received_at)
       from logloom_private.%I q where q.batch_id > $1',
      'queue_slot_' || v_slot.slot
    )
    into v_part
    using v_slot.metered_through;
    v_state := row(
      v_state.depth + v_slot.events + v_part.depth,
      least(v_state.oldest_received_at, v_slot.oldest_received_at, v_part.oldest_received_at)
    );
  end loop;
  return v_state;
end;
$$;

revoke all on function logloom_private.queue_state() from public;

comment on function logloom_private.queue_state() is
  'Events in the queue and when the oldest one was received: from what was metered, and the last '
  'batches that were not yet, so that it costs the same at any depth.';

-- writer/replay_dead_letters.sql

create type logloom_private.replay_result as (replayed integer, failed integer);

create function logloom_private.replay_dead_letters(p_limit integer default 1000)
returns logloom_private.replay_result
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_letter logloom_private.dead_letters;
  v_arrival bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- The writer's lock: arrival must stay in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_arrival := nextval('logloom_private.arrival');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, arrival,
            level, msg, service, env, req_id, user_id, route, host, attrs
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2,
            ($1).level::logloom_private.log_level, ($1).msg, ($1).service, ($1).env,
            ($1).req_id, ($1).user_id, ($1).route, ($1).host,
            ($1).attrs::logloom_private.log_attrs
        $query$
      )
      using v_letter, v_arrival;
      delete from logloom_private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not logloom_private.is_data_error(sqlstate) then
        raise;
      end if;
      update logloom_private.dead_letters d
      set attempts = d.attempts + 1,
        failed_at = clock_timestamp(),
        error_code = sqlstate,
        error_message = sqlerrm
      where d.id = v_letter.id;
      v_result.failed := v_result.failed + 1;
    end;
  end loop;
  return v_result;
end;
$$;

revoke all on function logloom_private.replay_dead_letters(integer) from public;

comment on function logloom_private.replay_dead_letters(integer) is
  'Tries to write up to p_limit dead letters again, oldest failure first, under their own ids.';

-- writer/run_writer.sql

create type public.logloom_writer_run as (moved integer, done boolean);

comment on type public.logloom_writer_run is
  'Events that a call of run_writer moved, and whether there was nothing left to do.';

create function logloom_private.run_writer_in_place()
returns public.logloom_writer_run
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role neither reads the queue nor writes records
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_deadline constant timestamptz :=
    v_started_at + (select s.writer_run_budget from logloom_private.settings s);
  v_moved integer := 0;
  v_step integer;
begin
  perform logloom_private.provide_partitions();
  perform logloom_private.meter_queue();
  loop
    v_step := logloom_private.write_step();
    v_moved := v_moved + v_step;
    exit when v_step = 0 or clock_timestamp() > v_deadline;
  end loop;
  if v_moved > 0 then
    perform logloom_private.record_job('run_writer', v_started_at);
    return row(v_moved, false);
  end if;
  -- Not in one transaction with steps: enqueues wait for the end of the flip's.
  perform logloom_private.empty_moved_slots();
  if logloom_private.flip_queue() then
    return row(0, false);
  end if;
  perform logloom_private.record_job('run_writer', v_started_at);
  return row(0, true);
end;
$$;

revoke all on function logloom_private.run_writer_in_place() from public;

grant execute on function logloom_private.run_writer_in_place() to service_role;

comment on function logloom_private.run_writer_in_place() is
  'A run of the writer in the caller''s transaction.';

create function public.run_writer()
returns public.logloom_writer_run
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '8s'
as $$
begin
  return logloom_private.run_writer_in_place();
end;
$$;

revoke all on function public.run_writer()
from public, anon, authenticated, service_role;

grant execute on function public.run_writer() to service_role;

comment on function public.run_writer() is
  'What the edge function ingest calls while pg_cron does not run the writer, until done is true: '
  'moves what the closed slot of the queue holds, or else closes the open one. Safe beside any '
  'other run.';

-- writer/watermark.sql

-- The watermark

create function logloom_private.enqueue_timeout()
returns interval
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    -- A bare number is milliseconds, as everywhere in PostgreSQL's settings.
    select max(
      (case when t.timeout ~ '^[0-9]+$' then t.timeout || ' ms' else t.timeout end)::interval
    )
    from (
      select split_part(c.setting, '=', 2) as timeout
      from pg_catalog.pg_proc p, unnest(p.proconfig) c (setting)
      where p.pronamespace = 'public'::regnamespace
        and p.proname in ('ingest_logs', 'ingest_requests')
        and c.setting like 'statement_timeout=%'
    ) t
  );
end;
$$;

revoke all on function logloom_private.enqueue_timeout() from public;

comment on function logloom_private.enqueue_timeout() is
  'How long after its received_at a batch can become visible: the timeout of ingest_logs.';

create function logloom_private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  -- Nor does it matter who started it: ingest does while pg_cron is away.
  select max(h.last_started_at) into v_writer_started_at
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer') and h.last_started_at <= clock_timestamp();
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - logloom_private.enqueue_timeout());
end;
$$;

revoke all on function logloom_private.watermark(timestamptz) from public;

create function logloom_private.watermark()
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.watermark((logloom_private.queue_state()).oldest_received_at);
end;
$$;

revoke all on function logloom_private.watermark() from public;

comment on function logloom_private.watermark(timestamptz) is
  'Everything received before is visible: the lesser of the oldest queued batch and the start of '
  'the writer''s last run less the enqueue timeout. Null before the writer ever ran.';

comment on function logloom_private.watermark() is 'The watermark, by the queue as it is.';

-- writer/write_logs.sql

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure logloom_private.write_logs()
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz :=
    least(
      v_started_at + (select s.writer_run_budget from logloom_private.settings s),
      logloom_private.job_deadline(v_started_at)
    );
  v_step_events constant integer := (select s.writer_step_events from logloom_private.settings s);
  v_events integer;
  v_since_flip integer;
  v_flipped boolean;
  v_error text;
begin
  begin
    perform logloom_private.meter_queue();
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := logloom_private.write_step();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_deadline;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    v_flipped := logloom_private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform logloom_private.empty_moved_slots();
    perform logloom_private.provide_partitions();
  exception when query_canceled or others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform logloom_private.record_job('write_logs', v_started_at, v_error);
  commit;
end;
$$;

revoke all on procedure logloom_private.write_logs() from public;

comment on procedure logloom_private.write_logs() is
  'One run of the writer, of about writer_run_budget: steps, each committed. Called by pg_cron.';

-- writer/write_range.sql

create function logloom_private.is_data_error(p_sqlstate text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Connection, rollback, access rule, resources, object state, operator, system, internal:
  -- not the event's fault, so the step is repeated later.
  return left(p_sqlstate, 2) not in ('08', '25', '40', '42', '53', '55', '57', '58', 'XX');
end;
$$;

revoke all on function logloom_private.is_data_error(text) from public;

comment on function logloom_private.is_data_error(text) is
  'Whether an error says that the event cannot be written, not that the database cannot write now.';

create function logloom_private.set_aside(
  p_slot smallint,
  p_batch_id bigint,
  p_index integer,
  p_error_code text,
  p_error_message text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  execute format(
    $query$
      insert into logloom_private.dead_letters (
        id, tenant_id, ts, received_at,
        level, msg, service, env, req_id, user_id, route, host, attrs, error_code, error_message
      )
      select
        (left(q.batch_key::text, 32) || lpad(to_hex($2 - 1), 4, '0'))::uuid,
        q.tenant_id, coalesce(q.ts[$2], q.received_at), q.received_at,
        q.level[$2], q.msg[$2], q.service[$2], q.env[$2], q.req_id[$2], q.user_id[$2],
        q.route[$2], q.host[$2], q.attrs[$2], $3, $4
      from logloom_private.%I q
      where q.batch_id = $1
    $query$,
    'queue_slot_' || p_slot
  )
  using p_batch_id, p_index, p_error_code, p_error_message;
end;
$$;

revoke all on function logloom_private.set_aside(smallint, bigint, integer, text, text)
from public;

comment on function logloom_private.set_aside(smallint, bigint, integer, text, text) is
  'Puts one event into the dead letters with its error.';

create function logloom_private.write_range(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint,
  p_index_from integer,
  p_index_to integer,
  p_arrival bigint
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_code text;
  v_message text;
  v_batch_middle bigint;
  v_index_middle integer;
begin
  begin
    perform logloom_private.insert_records(
      p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
    );
    return;
  exception when others then
    if not logloom_private.is_data_error(sqlstate) then
      raise;
    end if;
    v_code := sqlstate;
    v_message := sqlerrm;
  end;

  -- Halves the range until what cannot be written stands alone; the rest is written beside it.
  if p_batch_from < p_batch_to then
    v_batch_middle := (p_batch_from + p_batch_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, v_batch_middle, p_index_from, p_index_to, p_arrival
    );
    perform logloom_private.write_range(
      p_slot, v_batch_middle + 1, p_batch_to, p_index_from, p_index_to, p_arrival
    );
  elsif p_index_from < p_index_to then
    v_index_middle := (p_index_from + p_index_to) / 2;
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, p_index_from, v_index_middle, p_arrival
    );
    perform logloom_private.write_range(
      p_slot, p_batch_from, p_batch_to, v_index_middle + 1, p_index_to, p_arrival
    );
  else
    perform logloom_private.set_aside(p_slot, p_batch_from, p_index_from, v_code, v_message);
  end if;
end;
$$;

revoke all on function logloom_private.write_range(
  smallint, bigint, bigint, integer, integer, bigint
) from public;

comment on function logloom_private.write_range(
  smallint, bigint, bigint, integer, integer, bigint
) is
  'insert_records, and where the data make it fail, halves until the dead letters stand alone.';

-- writer/write_step.sql

create function logloom_private.write_step()
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_events integer;
  v_largest integer;
  v_arrival bigint;
begin
  if not logloom_private.lock_writer() then
    return 0;
  end if;
  select p.closed_slot into v_slot from logloom_private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select min(b.batch_id), max(b.batch_id), sum(b.events), max(b.events)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before,
          sum(q.bytes) over (order by q.batch_id) - q.bytes as bytes_before
        from logloom_private.%I q
        where q.batch_id > (select s.moved_through from logloom_private.queue_slots s
        where s.slot = $1)
        order by q.batch_id
        limit (select s.writer_step_batches from logloom_private.settings s)
      ) b
      where b.events_before < (select s.writer_step_events from logloom_private.settings s)
        and b.bytes_before < (select s.writer_step_bytes from logloom_private.settings s)
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest
  using v_slot;

  if v_batch_to is null then
    update logloom_private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform logloom_private.meter_slot(v_slot);
  perform logloom_private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_arrival := nextval('logloom_private.arrival');
  perform logloom_private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_arrival);
  update logloom_private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  delete from logloom_private.queue_marks m
  where m.slot = v_slot and m.batch_to <= v_batch_to;
  return v_events;
end;
$$;

revoke all on function logloom_private.write_step() from public;

comment on function logloom_private.write_step() is
  'Moves the next batches of the closed slot in this transaction. Events moved; 0: none is left.';

-- query/types/query.sql

-- The query compiler: text -> tokens -> checked tree -> SQL over one alias of logloom.logs.
--
-- The tree is jsonb. A node is one of
--   {"type": "all"}, {"type": "none"}, {"type": "not", "item": node},
--   {"type": "and" | "or", "items": [node, …]},
--   {"type": "leaf", "field": …, "name": as written, "test": …, …}, with "path" and "joined" where
--   the field is attrs. The field any means every text of the record: its text columns
--   (logloom_private.query_text_columns) and the scalars of its attributes at any depth.
-- Tests of a leaf, by field (T: the text columns, level, attrs and any):
--   exists                                 has a value                      all but any
--   equal    values, fold                  one of these texts               all but times
--   like     pattern                       a LIKE pattern, whole text       T but msg, level, any
--   contains pattern                       a LIKE pattern over folded text  msg, any
--   word     pattern, regex                pattern: LIKE over folded text that every match
--                                          passes; regex decides            T but level
--   regex    pattern, fold, size, position  PostgreSQL's dialect, translated from ours, over the
--                                          text, folded where fold          T
--   network  network                       an address of it                 host, attrs
--   range    lower, lower_open, upper, upper_open   by code point; null is no bound   T but msg,
--                                          level, any, attrs
--   range    the same, of JSON numbers     decimals as texts                attrs
--   range    the same, and unit            "seconds" or "bytes": logloom_private.quantity(text,
--                                          unit) of JSON strings            attrs
--   within   from, to, from_shift, to_shift   from <= time < to, null is no bound; a shift is there
--                                          where a bound moves with now: microseconds from it
-- fold is true or absent; then values (or the pattern) and the text are compared in the lower case
-- of lower(… collate pg_c_utf8). A leaf is never true for a field without a value.
--
-- Nothing of a caller's text reaches the SQL but through quote_literal, and no expression in it
-- can raise on any record. No role is granted anything here: the functions that search, save
-- searches and evaluate alerts call these with their owner's rights.

create type logloom_private.query_state as (
  texts text[],
  positions integer[],
  "at" integer,
  depth integer,
  leaves integer,
  searched integer,
  steps integer,
  "now" timestamptz,
  names_now boolean,
  warnings jsonb,
  node jsonb
);

comment on type logloom_private.query_state is
  'Where the parser stands: every rule of the grammar takes one and answers one. texts, positions: '
  'the tokens as written, white space left out, and where each begins (1-based, code points); the '
  'last is the empty text, one past the end. at: the token that comes next. depth: brackets and '
  'NOTs around it. leaves, searched, steps: what the query spent of its bounds. now, names_now: '
  'the instant that now means, and whether it was named. warnings: [{position, message, '
  'suggestion}]. node: what was read last.';

create type logloom_private.query_span as (
  starts timestamptz,
  ends timestamptz,
  names_now boolean
);

comment on type logloom_private.query_span is
  'The span [starts, ends) of time that a literal names: a microsecond for an instant, a UTC day '
  'for a date. names_now: it moves with now.';

create type logloom_private.query_range as (
  lower_token text,
  lower_position integer,
  lower_open boolean,
  upper_token text,
  upper_position integer,
  upper_open boolean
);

comment on type logloom_private.query_range is
  'A comparison or a range as written. A null token is no bound.';

create type logloom_private.compiled_query as (
  blank boolean,
  tree jsonb,
  filter text,
  fields text[],
  equality_only boolean,
  ts_from timestamptz,
  ts_to timestamptz,
  aggregate text,
  aggregate_field text,
  aggregate_sql text,
  by_fields text[],
  by_sql text[],
  names_now boolean,
  plan jsonb,
  warnings jsonb,
  steps integer
);

comment on type logloom_private.compiled_query is
  'A query as SQL over the alias l of logloom.logs. blank: nothing but white space. tree: what '
  'logloom_private.query_sql turns into SQL for another alias or another now. filter: a boolean '
  'expression. fields: every column the filter reads. equality_only: the filter asks nothing but '
  'equality and presence. ts_from (inclusive) and ts_to (exclusive): bounds of ts that hold for '
  'every match. aggregate: null where the query has none, else the name of the first; '
  'aggregate_field: its field as written; aggregate_sql: an aggregate expression of type double '
  'precision, for rate the count, which the caller divides by the minutes of its range. by_fields, '
  'by_sql: the fields to group by as written, and their expressions; both empty without by. '
  'names_now: the query means something else as time goes by. plan: what follows the filter, {} '
  'for nothing (its members: query/stages.sql). warnings: [{position, message, suggestion}]. '
  'steps: what compiling took.';

-- query/aggregates.sql

-- Aggregates: count() as n, p95(@duration_ms) by (5m), service

-- One aggregate and its name, as node.
create function logloom_private.query_parse_aggregate(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_first constant integer := p_state."at";
  v_kind constant text := p_state.texts[v_first];
  v_fraction numeric;
  v_name text := v_kind;
  v_field jsonb;
begin
  if v_kind ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$' then
    v_fraction := substr(v_kind, 2)::numeric / 100;
  elsif v_kind not in ('count', 'rate', 'count_distinct', 'sum', 'avg', 'min', 'max') then
    perform logloom_private.refuse_at(
      p_state.positions[v_first],
      case when v_kind = '' then 'stages.aggregate_is_missing'
        when p_state.texts[v_first + 1] = '(' then 'stages.aggregate_is_unknown'
        else 'stages.stage_is_unknown' end,
      logloom_private.query_excerpt(v_kind)
    );
  end if;
  if p_state.texts[v_first + 1] <> '(' then
    perform logloom_private.refuse_at(
      p_state.positions[v_first + 1], 'stages.bracket_is_missing', v_kind
    );
  end if;
  p_state."at" := v_first + 2;
  if v_kind not in ('count', 'rate') then
    p_state := logloom_private.query_stage_field(p_state, 'stages.aggregate_needs_a_field', v_kind);
    v_field := p_state.node;
    if v_kind <> 'count_distinct' and v_field ->> 'field' <> 'attrs'
      and not (v_kind in ('min', 'max') and v_field ->> 'field' in ('ts', 'received_at'))
    then
      perform logloom_private.refuse_at(
        p_state.positions[v_first + 2], 'stages.takes_an_attribute', v_kind
      );
    end if;
  end if;
  if p_state.texts[p_state."at"] <> ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when v_field is null then 'stages.takes_no_field'
        else 'stages.aggregate_is_not_closed' end,
      v_kind
    );
  end if;
  p_state."at" := p_state."at" + 1;
  if p_state.texts[p_state."at"] = 'as' then
    v_name := p_state.texts[p_state."at" + 1];
    if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
      );
    end if;
    p_state."at" := p_state."at" + 2;
  end if;
  p_state.node := jsonb_build_object(
    'kind', v_kind, 'fraction', v_fraction, 'field', v_field, 'name', v_name
  );
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_aggregate(
  logloom_private.query_state
) from public;

-- by (5m), service
create function logloom_private.query_parse_by(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_width text;
begin
  loop
    p_state."at" := p_state."at" + 1;
    if p_state.texts[p_state."at"] = '(' then
      v_width := p_state.texts[p_state."at" + 1];
      if v_width !~ '^[1-9][0-9]{0,4}[smhdw]$' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 1], 'stages.width_is_missing'
        );
      elsif p_plan -> 'bucket' is not null then
        perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.two_widths');
      elsif p_state.texts[p_state."at" + 2] <> ')' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at" + 2], 'stages.width_is_not_closed'
        );
      end if;
      p_plan := p_plan || jsonb_build_object(
        'bucket', rtrim(v_width, 'smhdw')::bigint * case right(v_width, 1)
          when 's' then 1 when 'm' then 60 when 'h' then 3600 when 'd' then 86400 else 604800 end
      );
      p_state."at" := p_state."at" + 3;
    else
      p_state := logloom_private.query_stage_field(p_state, 'stages.by_needs_a_field', 'by');
      p_plan := p_plan || jsonb_build_object('by', (p_plan -> 'by') || p_state.node);
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_by(
  logloom_private.query_state, jsonb
) from public;

create function logloom_private.query_parse_aggregates(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregates jsonb := '[]';
  v_first integer;
begin
  loop
    v_first := p_state."at";
    p_state := logloom_private.query_parse_aggregate(p_state);
    if v_first = 1 then
      perform logloom_private.query_check_order(p_plan, 'an aggregate', p_state.positions[1]);
    elsif v_aggregates @> jsonb_build_array(
      jsonb_build_object('name', p_state.node ->> 'name')
    ) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', p_state.node ->> 'name'
      );
    elsif jsonb_array_length(v_aggregates) >= 8 then
      perform logloom_private.refuse_at(p_state.positions[v_first], 'stages.too_many_aggregates');
    end if;
    v_aggregates := v_aggregates || p_state.node;
    exit when p_state.texts[p_state."at"] <> ',';
    p_state."at" := p_state."at" + 1;
  end loop;
  p_plan := p_plan
    || jsonb_build_object('aggregates', v_aggregates, 'by', '[]'::jsonb, 'last', 'an aggregate');
  p_state.node := p_plan;
  if p_state.texts[p_state."at"] = 'by' then
    return logloom_private.query_parse_by(p_state, p_plan);
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_aggregates(
  logloom_private.query_state, jsonb
) from public;

-- query/aggregates_sql.sql

-- The generator: aggregates and the fields to group by.

-- The expression that a field is grouped or counted by: a column, or the text of an attribute.
create function logloom_private.query_group_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '(' || logloom_private.query_value_sql(p_field, p_alias)
    || case p_field ->> 'field' when 'attrs' then ' #>> ''{}''' else '' end || ')';
end;
$$;

revoke all on function logloom_private.query_group_sql(jsonb, text) from public;

-- An aggregate as an expression of type double precision; for rate the count. Times are seconds
-- since 1970.
create function logloom_private.query_aggregate_sql(p_aggregate jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)::double precision';
  elsif v_kind = 'count_distinct' then
    return 'count(distinct '
      || logloom_private.query_group_sql(p_aggregate -> 'field', p_alias)
      || ')::double precision';
  elsif p_aggregate -> 'field' ->> 'field' in ('ts', 'received_at') then
    return format(
      'extract(epoch from %s(%s))::double precision',
      v_kind, logloom_private.query_value_sql(p_aggregate -> 'field', p_alias)
    );
  end if;
  v_number := 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', p_alias) || ')';
  return case v_kind
    when 'sum' then 'logloom_private.finite_double(coalesce(sum(' || v_number || '), 0))'
    when 'avg' then 'logloom_private.finite_double(avg(' || v_number || '))'
    when 'min' then 'logloom_private.finite_double(min(' || v_number || '))'
    when 'max' then 'logloom_private.finite_double(max(' || v_number || '))'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by logloom_private.finite_double(' || v_number || ')))'
  end;
end;
$$;

revoke all on function logloom_private.query_aggregate_sql(jsonb, text) from public;

-- query/attrs_sql.sql

-- The generator of tests of attributes and of a record's texts together.

-- Equality with an attribute. Containment finds a scalar, and a scalar that an array holds. A
-- number or boolean has a text too; 5 contains 5.0, so a number's text is compared again.
create function logloom_private.query_attr_equal_sql(p_value text, p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := p_value || ' @> ' || quote_literal(to_jsonb(p_text)::text);
begin
  if p_text in ('true', 'false') then
    v_sql := v_sql || ' or ' || p_value || ' @> ' || quote_literal(p_text);
  elsif p_text ~ '^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$' then
    v_sql := v_sql || ' or (' || p_value || ' @> ' || quote_literal(p_text) || ' and '
      || logloom_private.query_any_text_sql(p_value, array['', ' = ' || quote_literal(p_text)])
      || ')';
  end if;
  return v_sql;
end;
$$;

revoke all on function logloom_private.query_attr_equal_sql(text, text) from public;

create function logloom_private.query_attrs_sql(p_leaf jsonb, p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := '';
begin
  if p_leaf ->> 'test' = 'exists' then
    return p_value || ' <> ''null''';
  elsif p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    for v_at in 0 .. jsonb_array_length(p_leaf -> 'values') - 1 loop
      v_sql := v_sql || case when v_at > 0 then ' or ' else '' end
        || logloom_private.query_attr_equal_sql(p_value, p_leaf -> 'values' ->> v_at);
    end loop;
    return v_sql;
  elsif p_leaf ->> 'test' = 'range' and p_leaf ? 'unit' then
    return logloom_private.query_bounds_sql(
      p_leaf,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_leaf ->> 'unit') || ')',
      '::numeric'
    );
  elsif p_leaf ->> 'test' = 'range' then
    -- jsonb orders types before values, so the type comes first.
    return concat_ws(
      ' and ',
      'jsonb_typeof(' || p_value || ') = ''number''',
      logloom_private.query_bounds_sql(p_leaf, p_value)
    );
  end if;
  return logloom_private.query_any_text_sql(
    p_value, logloom_private.query_text_test(p_leaf)
  );
end;
$$;

revoke all on function logloom_private.query_attrs_sql(jsonb, text) from public;

-- A test of any text of a record. Most records do not hold the text that is looked for: one LIKE
-- over all of a record's texts at once says so, and only where it finds something each is tested.
create function logloom_private.query_any_sql(p_leaf jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_columns text;
  v_tests text;
  v_test text := p_leaf ->> 'test';
  v_sql text;
  v_likely text;
begin
  select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n) into v_columns
  from unnest(logloom_private.query_text_columns()) with ordinality c (name, n);
  if v_test in ('equal', 'regex') and (p_leaf -> 'fold')::boolean then
    v_test := 'folded ' || v_test;
  end if;
  v_tests := case when v_test = 'word' then p_leaf ->> 'regex' else p_leaf ->> 'pattern' end;
  v_sql := format(
    'logloom_private.record_holds(array[%s], %I.attrs, %L, array[%s])',
    v_columns, p_alias, v_test,
    coalesce(quote_literal(v_tests), logloom_private.query_texts_sql(p_leaf -> 'values'))
  );
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  select string_agg(quote_literal(logloom_private.query_like_record(p.pattern)), ', ')
  into v_likely
  from (
    select p_leaf ->> 'pattern' as pattern
    where p_leaf ? 'pattern'
    union all
    select logloom_private.query_like_text(lower(v collate pg_c_utf8))
    from jsonb_array_elements_text(p_leaf -> 'values') v
  ) p;
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %I.attrs::text) collate "C") like ',
    v_columns, p_alias
  )
    || case when jsonb_array_length(p_leaf -> 'values') > 1
      then 'any (array[' || v_likely || '])' else v_likely end
    || ' then ' || v_sql || ' else false end';
end;
$$;

revoke all on function logloom_private.query_any_sql(jsonb, text) from public;

-- query/check_ranges.sql

-- The checker of comparisons and ranges.

create function logloom_private.query_check_range_of_times(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_lower logloom_private.query_span;
  v_upper logloom_private.query_span;
begin
  if p_range.lower_token is not null then
    v_lower := logloom_private.query_time(
      p_range.lower_token, p_range.lower_position, p_state."now"
    );
  end if;
  if p_range.upper_token is not null then
    v_upper := logloom_private.query_time(
      p_range.upper_token, p_range.upper_position, p_state."now"
    );
  end if;
  return logloom_private.query_check_within(
    p_state, p_field,
    case when p_range.lower_open then v_lower.ends else v_lower.starts end, v_lower.names_now,
    case when p_range.upper_open then v_upper.starts else v_upper.ends end, v_upper.names_now
  );
end;
$$;

revoke all on function logloom_private.query_check_range_of_times(
  logloom_private.query_state, jsonb, logloom_private.query_range
) from public;

create function logloom_private.query_check_range_of_levels(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_levels constant text[] := array['debug', 'info', 'warn', 'error'];
  v_from integer := 1;
  v_to integer := 4;
begin
  if p_range.lower_token is not null then
    v_from := p_range.lower_open::integer + array_position(
      v_levels,
      logloom_private.query_require_level(p_range.lower_token, p_range.lower_position)
    );
  end if;
  if p_range.upper_token is not null then
    v_to := array_position(
      v_levels,
      logloom_private.query_require_level(p_range.upper_token, p_range.upper_position)
    ) - p_range.upper_open::integer;
  end if;
  p_state.node := case when v_from > v_to then '{"type": "none"}'::jsonb
    else logloom_private.query_leaf(
      p_field, jsonb_build_object('test', 'equal', 'values', v_levels[v_from:v_to])
    ) end;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_range_of_levels(
  logloom_private.query_state, jsonb, logloom_private.query_range
) from public;

create function logloom_private.query_check_range_of_numbers(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_lower jsonb;
  v_upper jsonb;
  v_unit text;
begin
  if p_range.lower_token is not null then
    v_lower := logloom_private.query_number(p_range.lower_token, p_range.lower_position);
  end if;
  if p_range.upper_token is not null then
    v_upper := logloom_private.query_number(p_range.upper_token, p_range.upper_position);
  end if;
  if v_lower ->> 'unit' is distinct from v_upper ->> 'unit'
    and v_lower is not null and v_upper is not null
  then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.units_differ');
  end if;
  v_unit := coalesce(v_lower ->> 'unit', v_upper ->> 'unit');
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'lower', v_lower ->> 'value', 'lower_open', p_range.lower_open,
    'upper', v_upper ->> 'value', 'upper_open', p_range.upper_open
  ) || case when v_unit is null then '{}'::jsonb else jsonb_build_object('unit', v_unit) end);
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_range_of_numbers(
  logloom_private.query_state, jsonb, logloom_private.query_range
) from public;

create function logloom_private.query_check_range(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_field ->> 'field';
begin
  if v_name in ('msg', 'id', 'any') then
    perform logloom_private.refuse_at(
      coalesce(p_range.lower_position, p_range.upper_position),
      case v_name when 'id' then 'query.id_is_not_compared' else 'query.text_is_not_compared' end,
      v_name
    );
  elsif logloom_private.query_has_wildcard(coalesce(p_range.lower_token, '')) then
    perform logloom_private.refuse_at(p_range.lower_position, 'query.wildcard_in_comparison');
  elsif logloom_private.query_has_wildcard(coalesce(p_range.upper_token, '')) then
    perform logloom_private.refuse_at(p_range.upper_position, 'query.wildcard_in_comparison');
  elsif v_name in ('ts', 'received_at') then
    return logloom_private.query_check_range_of_times(p_state, p_field, p_range);
  elsif v_name = 'level' then
    return logloom_private.query_check_range_of_levels(p_state, p_field, p_range);
  elsif v_name = 'attrs' then
    return logloom_private.query_check_range_of_numbers(p_state, p_field, p_range);
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'lower', logloom_private.query_text(p_range.lower_token), 'lower_open', p_range.lower_open,
    'upper', logloom_private.query_text(p_range.upper_token), 'upper_open', p_range.upper_open
  ));
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_range(
  logloom_private.query_state, jsonb, logloom_private.query_range
) from public;

-- query/checks.sql

-- The checker: what a field may be asked. Each function answers the state with the leaf as node.

create function logloom_private.query_refuse_any(p_position integer)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse_at(p_position, 'query.any_takes_a_text');
end;
$$;

revoke all on function logloom_private.query_refuse_any(integer) from public;

-- A span of time. Bounds that move with now also say how far from it they are, in microseconds.
create function logloom_private.query_check_within(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_from timestamptz,
  p_from_moves boolean,
  p_to timestamptz,
  p_to_moves boolean
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_moves constant boolean := coalesce(p_from_moves, false) or coalesce(p_to_moves, false);
begin
  p_state.names_now := p_state.names_now or v_moves;
  if p_from >= p_to and not v_moves then
    p_state.node := '{"type": "none"}';
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'within',
    'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  ));
  if p_from_moves then
    p_state.node := p_state.node || jsonb_build_object(
      'from_shift', (extract(epoch from p_from - p_state."now") * 1000000)::bigint
    );
  end if;
  if p_to_moves then
    p_state.node := p_state.node || jsonb_build_object(
      'to_shift', (extract(epoch from p_to - p_state."now") * 1000000)::bigint
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_within(
  logloom_private.query_state, jsonb, timestamptz, boolean, timestamptz, boolean
) from public;

create function logloom_private.query_check_time(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_span logloom_private.query_span;
  v_now timestamptz;
begin
  v_span := logloom_private.query_time(p_token, p_position, p_state."now");
  if v_span.names_now and logloom_private.query_text(p_token) ~ '^[+-]' then
    -- ts:-15m, the last 15 minutes; ts:+15m, the next.
    v_now := p_state."now";
    v_span.starts := least(v_span.starts, v_now);
    v_span.ends := greatest(v_span.ends, v_now + interval '1 microsecond');
  end if;
  return logloom_private.query_check_within(
    p_state, p_field, v_span.starts, v_span.names_now, v_span.ends, v_span.names_now
  );
end;
$$;

revoke all on function logloom_private.query_check_time(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- An IPv4 or IPv6 network in the notation address/bits, or null where a token is no such thing.
create function logloom_private.query_network(p_token text, p_position integer)
returns inet
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if left(p_token, 1) = '"' then
    return null;
  elsif p_token ~ '^[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}$' then
    if not pg_input_is_valid(p_token, 'inet') or p_token ~ '(?:^|\.)0[0-9]' then
      perform logloom_private.refuse_at(
        p_position, 'query.not_a_network', logloom_private.query_excerpt(p_token)
      );
    end if;
    return network(p_token::inet);
  elsif p_token ~ '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/[0-9]{1,3}$'
    and pg_input_is_valid(p_token, 'inet')
  then
    return network(p_token::inet);
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.query_network(text, integer) from public;

-- A text inside a text, in either letter case: for msg and any.
create function logloom_private.query_check_contains(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'contains',
    'pattern', '%' || logloom_private.query_like(lower(p_token collate pg_c_utf8)) || '%'
  ));
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_contains(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- A word or a quoted text that stands for itself.
create function logloom_private.query_check_term(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_field ->> 'field';
  v_network inet;
begin
  if p_token = '*' and v_name = 'any' then
    perform logloom_private.query_refuse_any(p_position);
  elsif p_token = '*' then
    p_state.node := logloom_private.query_leaf(p_field, '{"test": "exists"}');
    return p_state;
  elsif v_name in ('msg', 'any') then
    if p_token = '""' and v_name = 'any' then
      perform logloom_private.query_refuse_any(p_position);
    end if;
    return logloom_private.query_check_contains(p_state, p_field, p_token, p_position);
  elsif v_name in ('level', 'id') then
    return logloom_private.query_check_exact(p_state, p_field, p_token, p_position);
  elsif v_name in ('ts', 'received_at') then
    return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
  elsif logloom_private.query_has_wildcard(p_token) then
    p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
    p_state.node := logloom_private.query_leaf(
      p_field, jsonb_build_object('test', 'like', 'pattern', logloom_private.query_like(p_token))
    );
    return p_state;
  elsif v_name in ('attrs', 'host') then
    v_network := logloom_private.query_network(p_token, p_position);
    if v_network is not null then
      p_state.node := logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'network', 'network', v_network::text)
      );
      return p_state;
    end if;
  end if;
  return logloom_private.query_check_exact(p_state, p_field, p_token, p_position);
end;
$$;

revoke all on function logloom_private.query_check_term(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- field:=value, and what is exact without the sign.
create function logloom_private.query_check_exact(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text text := logloom_private.query_text(p_token);
begin
  case p_field ->> 'field'
    when 'ts', 'received_at' then
      return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
    when 'level' then
      v_text := logloom_private.query_require_level(p_token, p_position);
    when 'id' then
      v_text := lower(v_text);
      if v_text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        perform logloom_private.refuse_at(
          p_position,
          'query.not_a_uuid',
          logloom_private.query_excerpt(logloom_private.query_text(p_token))
        );
      end if;
    else
  end case;
  p_state.node := logloom_private.query_leaf(
    p_field, jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_text))
  );
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_exact(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- field:i=value and field:w=word.
create function logloom_private.query_check_folded(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := lower(logloom_private.query_text(p_token) collate pg_c_utf8);
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(
      p_position, 'query.takes_no_test', p_field ->> 'field', p_sign
    );
  elsif p_sign = 'i=' then
    p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
      'test', 'equal', 'values', jsonb_build_array(v_text), 'fold', true
    ));
    return p_state;
  elsif v_text = '' then
    perform logloom_private.refuse_at(p_position, 'query.word_is_empty');
  end if;
  p_state := logloom_private.query_count_searched(p_state, v_text, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'word',
    'pattern', '%' || logloom_private.query_like_text(v_text) || '%',
    'regex', '(?:^|\W)' || regexp_replace(v_text, '([!-/:-@[-`{-~])', '\\\1', 'g') || '(?:$|\W)'
  ));
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_folded(
  logloom_private.query_state, jsonb, text, text, integer
) from public;

create function logloom_private.query_check_regex(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_regex jsonb;
begin
  if (p_field ->> 'field') in ('ts', 'received_at', 'id') then
    perform logloom_private.refuse_at(
      p_position,
      case p_field ->> 'field' when 'id' then 'query.id_takes_no_regex'
        else 'query.time_takes_no_regex' end,
      p_field ->> 'field'
    );
  end if;
  v_regex := logloom_private.query_regex(p_token, p_position);
  p_state := logloom_private.query_spend(p_state, (v_regex -> 'steps')::integer);
  p_state.node := logloom_private.query_leaf(
    p_field, '{"test": "regex"}'::jsonb || v_regex - 'steps'
  );
  return p_state;
end;
$$;

revoke all on function logloom_private.query_check_regex(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- query/compile.sql

-- The compiler.

-- The span of ts outside which nothing can match, from the terms that every match must satisfy.
create function logloom_private.query_ts_span(p_node jsonb)
returns tstzrange
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_span tstzrange := tstzrange(null, null);
begin
  if p_node ->> 'type' = 'and' then
    for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
      v_span := v_span * logloom_private.query_ts_span(p_node -> 'items' -> v_at);
    end loop;
  elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within'
    and (p_node ->> 'from')::timestamptz >= (p_node ->> 'to')::timestamptz
  then
    v_span := 'empty';
  elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within' then
    v_span := tstzrange((p_node ->> 'from')::timestamptz, (p_node ->> 'to')::timestamptz);
  end if;
  return v_span;
end;
$$;

revoke all on function logloom_private.query_ts_span(jsonb) from public;

-- Reads the stages after the filter; the plan as node.
create function logloom_private.query_parse_stages(
  p_state logloom_private.query_state,
  p_source text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_plan jsonb := '{}';
  v_stage text;
  v_bar integer;
  v_next integer;
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    v_stage := p_state.texts[v_bar + 1];
    if v_stage = 'where' and not v_plan ?| array['aggregates', 'patterns'] then
      perform logloom_private.query_check_order(v_plan, 'where', p_state.positions[v_bar + 1]);
      p_state."at" := v_bar + 2;
      p_state := logloom_private.query_parse_filter(p_state);
      v_plan := v_plan || jsonb_build_object('rows', coalesce(v_plan -> 'rows', '[]')
        || jsonb_build_object('stage', 'where', 'tree', p_state.node));
    else
      v_next := v_bar + 1;
      while p_state.texts[v_next] not in ('|', '') loop
        v_next := v_next + 1;
      end loop;
      v_read := logloom_private.query_parse_stage(
        logloom_private.query_tokenize_stage(
          p_state,
          substr(
            p_source, p_state.positions[v_bar] + 1,
            p_state.positions[v_next] - p_state.positions[v_bar] - 1
          ),
          p_state.positions[v_bar] + 1
        ),
        v_plan
      );
      v_plan := v_read.node;
      if not logloom_private.query_is_stage(v_stage) then
        v_stage := 'an aggregate';
      end if;
      p_state."at" := v_next;
      p_state.steps := v_read.steps;
    end if;
    v_plan := v_plan || jsonb_build_object(
      'last', v_stage,
      'count', coalesce((v_plan -> 'count')::integer, 0) + 1
    );
    if not v_plan ? 'first' then
      v_plan := v_plan || jsonb_build_object('first', jsonb_build_object(
        'stage', p_state.texts[v_bar + 1], 'position', p_state.positions[v_bar + 1]
      ));
    end if;
  end loop;
  p_state.node := v_plan;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_stages(
  logloom_private.query_state, text
) from public;

-- A filter: what stands before the first bar, or after where.
create function logloom_private.query_parse_filter(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state := logloom_private.query_parse_or(p_state);
  if p_state.texts[p_state."at"] = ')' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'query.bracket_closes_nothing'
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_filter(logloom_private.query_state) from public;

-- What follows from the tree of the filter.
create function logloom_private.query_describe_filter(
  p_query logloom_private.compiled_query,
  p_tree jsonb
)
returns logloom_private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_span tstzrange;
begin
  p_query.tree := p_tree;
  p_query.filter := logloom_private.query_sql(p_tree, 'l');
  p_query.fields := array(
    select distinct f #>> '{}'
    from jsonb_path_query(p_tree, 'strict $.**.field') f
    order by 1
  );
  p_query.equality_only := not jsonb_path_exists(
    p_tree, 'strict $.** ? (@.test != "equal" && @.test != "exists" || @.fold == true)'
  );
  v_span := logloom_private.query_ts_span(p_tree);
  p_query.ts_from := lower(v_span);
  p_query.ts_to := upper(v_span);
  if isempty(v_span) then
    p_query.tree := '{"type": "none"}';
    p_query.filter := 'false';
  end if;
  return p_query;
end;
$$;

revoke all on function logloom_private.query_describe_filter(
  logloom_private.compiled_query, jsonb
) from public;

-- What follows from the aggregates of the plan; the first is that of callers who know only one.
create function logloom_private.query_describe_aggregates(
  p_query logloom_private.compiled_query
)
returns logloom_private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregate constant jsonb := p_query.plan -> 'aggregates' -> 0;
  v_field jsonb;
begin
  p_query.by_fields := '{}';
  p_query.by_sql := '{}';
  if v_aggregate is null then
    return p_query;
  end if;
  p_query.aggregate := v_aggregate ->> 'kind';
  p_query.aggregate_field := v_aggregate -> 'field' ->> 'name';
  p_query.aggregate_sql := logloom_private.query_aggregate_sql(v_aggregate, 'l');
  for v_field in select f from jsonb_array_elements(p_query.plan -> 'by') f loop
    p_query.by_fields := p_query.by_fields || (v_field ->> 'name');
    p_query.by_sql := p_query.by_sql || logloom_private.query_group_sql(v_field, 'l');
  end loop;
  return p_query;
end;
$$;

revoke all on function logloom_private.query_describe_aggregates(
  logloom_private.compiled_query
) from public;

-- p_now is the instant that now means in the query.
create function logloom_private.compile_query(p_query_dsl text, p_now timestamptz default now())
returns logloom_private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_source constant text := coalesce(p_query_dsl, '');
  v_state logloom_private.query_state;
  v_query logloom_private.compiled_query;
  v_tree jsonb;
begin
  if octet_length(v_source) > 2048 then
    perform logloom_private.refuse_at(
      (
        select min(n)
        from generate_series(1, 2049) n
        where octet_length(left(v_source, n)) > 2048
      ),
      'query.too_long'
    );
  end if;

  v_state := logloom_private.query_tokenize(v_source, p_now);
  v_query.blank := v_state.texts[1] = '';
  if v_state.texts[1] not in ('', '|') then
    v_state := logloom_private.query_parse_filter(v_state);
  end if;
  v_tree := v_state.node;
  v_state := logloom_private.query_parse_stages(v_state, v_source);
  v_query.plan := v_state.node;
  if strpos(v_source, '~') > 0 then
    perform logloom_private.query_check_regexes(jsonb_build_array(v_tree, v_query.plan));
  end if;

  -- What where asks before anything is extracted belongs to the filter.
  while v_query.plan -> 'rows' -> 0 ->> 'stage' = 'where' loop
    v_tree := jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_tree, v_query.plan -> 'rows' -> 0 -> 'tree')
    );
    v_query.plan := jsonb_set(v_query.plan, '{rows}', (v_query.plan -> 'rows') - 0);
  end loop;
  v_query := logloom_private.query_describe_filter(v_query, v_tree);
  v_query := logloom_private.query_describe_aggregates(v_query);
  v_query.names_now := v_state.names_now;
  v_query.warnings := v_state.warnings;
  v_query.steps := v_state.steps;
  return v_query;
end;
$$;

revoke all on function logloom_private.compile_query(text, timestamptz) from public;

comment on function logloom_private.compile_query(text, timestamptz) is
  'Compiles a query, null as the blank one, or raises PT400 with the rule as message, '
  '{"position": n} (1-based, code points) as detail and what was expected as hint. To be granted '
  'to nobody: its callers are definer functions.';

-- query/fields.sql

-- Fields: what the names of the language stand for.

-- The columns that hold a text, in the order in which "any" looks through them.
create function logloom_private.query_text_columns()
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array['msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host', 'level'];
end;
$$;

revoke all on function logloom_private.query_text_columns() from public;

-- How many letters must change to make one name of another: added, left out, replaced.
create function logloom_private.query_distance(p_from text, p_to text)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_row integer[] := array(select generate_series(0, char_length(p_to)));
  v_above integer;
  v_left integer;
begin
  for v_i in 1 .. char_length(p_from) loop
    v_left := v_row[1];
    v_row[1] := v_i;
    for v_j in 1 .. char_length(p_to) loop
      v_above := v_row[v_j + 1];
      v_row[v_j + 1] := least(
        v_above + 1,
        v_row[v_j] + 1,
        v_left + (substr(p_from, v_i, 1) <> substr(p_to, v_j, 1))::integer
      );
      v_left := v_above;
    end loop;
  end loop;
  return v_row[char_length(p_to) + 1];
end;
$$;

revoke all on function logloom_private.query_distance(text, text) from public;

-- The field that somebody means who writes p_name, or null.
create function logloom_private.query_near_field(p_name text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := lower(p_name collate "C");
begin
  if char_length(v_name) > 16 then
    return null;
  end if;
  return coalesce(
    case
      when v_name in ('message', 'log', 'text', '_msg', 'body') then 'msg'
      when v_name in ('severity', 'lvl', 'loglevel', 'log_level') then 'level'
      when v_name in ('time', 'timestamp', '_time', '@timestamp', 'date') then 'ts'
      when v_name in ('app', 'svc', 'job', 'service_name', 'application') then 'service'
      when v_name in ('environment', 'stage') then 'env'
      when v_name in ('hostname', 'host_name', 'instance', 'pod') then 'host'
      when v_name in ('request_id', 'trace_id', 'requestid', 'traceid') then 'req_id'
      when v_name in ('user', 'usr', 'uid', 'userid') then 'user_id'
      when v_name in ('path', 'url', 'uri') then 'route'
      when v_name in ('_all', '*') then 'any'
    end,
    (
      select f.name
      from unnest(array[
        'ts', 'received_at', 'id', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route',
        'host', 'any', 'attrs'
      ]) with ordinality f (name, place)
      cross join lateral logloom_private.query_distance(v_name, f.name) d
      where d <= case when char_length(f.name) < 5 then 1 else 2 end and d < char_length(v_name)
      order by d, f.place
      limit 1
    )
  );
end;
$$;

revoke all on function logloom_private.query_near_field(text) from public;

create function logloom_private.query_refuse_field(p_name text, p_position integer)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_near constant text := logloom_private.query_near_field(p_name);
begin
  perform logloom_private.refuse_at(
    p_position,
    'query.field_is_unknown',
    logloom_private.query_excerpt(p_name),
    case when v_near is not null then format('Did you mean %s? ', v_near) else '' end
      || case when p_name collate "und-x-icu" ~ '^[[:alpha:]_][[:alpha:][:digit:]_.-]*$'
          then format('An attribute is written @%s: (short for attrs.%1$s:). ', left(p_name, 60))
        else '' end
  );
end;
$$;

revoke all on function logloom_private.query_refuse_field(text, integer) from public;

-- What a name stands for: {"field": …, "name": as written}, for attrs with "path", and "joined",
-- the key that is looked up where the path leads nowhere. A quoted segment says exactly which key
-- is meant, so a path that has one is never joined. @name is attrs.name.
create function logloom_private.query_field(p_name text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_path text[];
  v_rest text;
begin
  if p_name in (
    'ts', 'received_at', 'id', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route',
    'host', 'any'
  ) then
    return jsonb_build_object('field', p_name, 'name', p_name);
  elsif left(p_name, 1) = '@' and p_name <> '@timestamp' then
    v_rest := '.' || substr(p_name, 2);
  elsif left(p_name, 6) = 'attrs.' then
    v_rest := substr(p_name, 6);
  elsif p_name = 'attrs' then
    perform logloom_private.refuse_at(p_position, 'query.attribute_is_missing');
  else
    perform logloom_private.query_refuse_field(p_name, p_position);
  end if;

  -- ICU's classes, because "letters and digits of any script" is what they say.
  if v_rest collate "und-x-icu" !~
    '^(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform logloom_private.refuse_at(p_position, 'query.path_is_malformed');
  end if;

  if strpos(v_rest, '"') = 0 then
    v_path := string_to_array(substr(v_rest, 2), '.');
    return jsonb_build_object(
      'field', 'attrs', 'name', p_name, 'path', v_path,
      'joined', case when cardinality(v_path) > 1 then substr(v_rest, 2) end
    );
  end if;
  select array_agg(logloom_private.query_text(substr(m.match[1], 2)) order by m.n)
  into v_path
  from regexp_matches(v_rest, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
    with ordinality as m (match, n);
  return jsonb_build_object('field', 'attrs', 'name', p_name, 'path', v_path, 'joined', null);
end;
$$;

revoke all on function logloom_private.query_field(text, integer) from public;

create function logloom_private.query_leaf(p_field jsonb, p_test jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '{"type": "leaf"}'::jsonb || p_field || p_test;
end;
$$;

revoke all on function logloom_private.query_leaf(jsonb, jsonb) from public;

-- query/grammar.sql

-- The parser of brackets and operators. Each rule calls the next and the last calls the first.

create function logloom_private.query_parse_primary(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = '(' then
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_or(p_state);
    if p_state.texts[p_state."at"] <> ')' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
      );
    end if;
    p_state."at" := p_state."at" + 1;
    p_state.depth := v_depth;
    return p_state;
  elsif v_token in ('', ')', '|', 'AND', 'OR') then
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'query.term_is_missing_at_the_end' else 'query.term_is_missing' end,
      v_token
    );
  elsif v_token in ('[', ']', '{', '}') then
    perform logloom_private.refuse_at(v_position, 'query.bracket_is_for_ranges', v_token);
  elsif v_token = '""' then
    perform logloom_private.refuse_at(v_position, 'query.quoted_text_is_empty');
  elsif left(v_token, 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
  return logloom_private.query_parse_word(p_state);
end;
$$;

revoke all on function logloom_private.query_parse_primary(logloom_private.query_state) from public;

create function logloom_private.query_parse_not(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_go_on(p_state);
  elsif v_token = '-' then
    p_state."at" := p_state."at" + 1;
    if not logloom_private.query_is_adjacent(p_state, p_state."at")
      or left(p_state.texts[p_state."at"], 1) not in ('(', '"')
    then
      perform logloom_private.refuse_at(v_position, 'query.minus_negates_nothing');
    end if;
  elsif left(v_token, 1) = '-' then
    p_state.texts[p_state."at"] := substr(v_token, 2);
    p_state.positions[p_state."at"] := v_position + 1;
  else
    return logloom_private.query_parse_primary(p_state);
  end if;

  p_state := logloom_private.query_parse_not(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_not(logloom_private.query_state) from public;

create function logloom_private.query_parse_and(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
begin
  loop
    p_state := logloom_private.query_parse_not(p_state);
    v_items := v_items || p_state.node;
    exit when p_state.texts[p_state."at"] in ('OR', ')', '|', '');
    if p_state.texts[p_state."at"] = 'AND' then
      p_state := logloom_private.query_go_on(p_state);
    end if;
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', 'and', 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_and(logloom_private.query_state) from public;

create function logloom_private.query_parse_or(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items jsonb[] := '{}'::jsonb[];
begin
  loop
    p_state := logloom_private.query_parse_and(p_state);
    v_items := v_items || p_state.node;
    exit when p_state.texts[p_state."at"] <> 'OR';
    p_state := logloom_private.query_go_on(p_state);
  end loop;
  if cardinality(v_items) > 1 then
    p_state.node := jsonb_build_object('type', 'or', 'items', to_jsonb(v_items));
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_or(logloom_private.query_state) from public;

-- query/literals.sql

-- Literals: levels, times, numbers, quantities.

-- The level that a word means, by ingest's aliases, or null.
create function logloom_private.query_level(p_word text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_word constant text := lower(p_word collate "C");
begin
  return case
    when v_word in ('debug', 'info', 'warn', 'error') then v_word
    when v_word = 'trace' then 'debug'
    when v_word in ('notice', 'information') then 'info'
    when v_word = 'warning' then 'warn'
    when v_word in ('err', 'critical', 'crit', 'fatal', 'panic', 'alert', 'emerg', 'emergency')
      then 'error'
    when v_word ~ '^[12][0-9](?:\.[0-9]+)?$' then 'debug'
    when v_word ~ '^3[0-9](?:\.[0-9]+)?$' then 'info'
    when v_word ~ '^4[0-9](?:\.[0-9]+)?$' then 'warn'
    when v_word ~ '^[56][0-9](?:\.[0-9]+)?$' then 'error'
  end;
end;
$$;

revoke all on function logloom_private.query_level(text) from public;

create function logloom_private.query_require_level(p_token text, p_position integer)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_level constant text := logloom_private.query_level(logloom_private.query_text(p_token));
begin
  if v_level is null or logloom_private.query_has_wildcard(p_token) then
    perform logloom_private.refuse_at(
      p_position,
      'query.level_is_unknown',
      logloom_private.query_excerpt(logloom_private.query_text(p_token))
    );
  end if;
  return v_level;
end;
$$;

revoke all on function logloom_private.query_require_level(text, integer) from public;

-- The span of time that a literal names.
create function logloom_private.query_time(
  p_token text,
  p_position integer,
  p_now timestamptz
)
returns logloom_private.query_span
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_shift text[];
  v_seconds numeric;
  v_instant timestamptz;
begin
  if v_text ~ '^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$' and pg_input_is_valid(v_text, 'date') then
    v_instant := (v_text || 'T00:00:00Z')::timestamptz;
    return (v_instant, v_instant + interval '24 hours', false)::logloom_private.query_span;
  elsif v_text ~ '^(?:now|(?:now)?[+-][0-9]{1,10}[smhdw])$' then
    v_shift := regexp_match(v_text, '(.[0-9]+)(.)$');
    v_seconds := coalesce(v_shift[1]::numeric, 0) * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) > 3155760000 then
      perform logloom_private.refuse_at(p_position, 'query.shift_is_too_long');
    end if;
    v_instant := p_now + make_interval(secs => v_seconds);
    return (v_instant, v_instant + interval '1 microsecond', true)::logloom_private.query_span;
  elsif v_text ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]'
      || '(?::[0-5][0-9](?:\.[0-9]{1,9})?)?'
      || '(?:[Zz]|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?$')
    and pg_input_is_valid(left(v_text, 10), 'date')
  then
    -- Digits beyond the microsecond are dropped, where the cast would round.
    v_instant := (regexp_replace(v_text, '(\.[0-9]{6})[0-9]+', '\1')
      || case when substr(v_text, 12) ~ '[Zz+-]' then '' else 'Z' end)::timestamptz;
    return (v_instant, v_instant + interval '1 microsecond', false)::logloom_private.query_span;
  end if;
  perform logloom_private.refuse_at(
    p_position, 'query.not_a_time', logloom_private.query_excerpt(v_text)
  );
  return null;
end;
$$;

revoke all on function logloom_private.query_time(text, integer, timestamptz) from public;

-- A text that is a quantity with a unit, in seconds or in bytes, or null. Durations may have
-- several parts (1h30m); sizes count by 1000 (kB) or by 1024 (KiB), in either letter case.
create function logloom_private.quantity(p_text text, p_unit text)
returns numeric
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
declare
  v_parts text[];
  v_total numeric := 0;
begin
  if p_text is null or octet_length(p_text) > 64 then
    return null;
  elsif p_unit = 'bytes' then
    v_parts := regexp_match(
      lower(p_text collate "C") collate "C",
      '^([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(?:([kmgtp])(i?))?b$'
    );
    return v_parts[1]::numeric * case v_parts[3] when 'i' then 1024 else 1000 end::numeric
      ^ case v_parts[2]
        when 'k' then 1 when 'm' then 2 when 'g' then 3 when 't' then 4 when 'p' then 5 else 0 end;
  elsif p_text collate "C" !~ ('^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)'
      || '(?: ?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w))*$')
  then
    return null;
  end if;
  for v_parts in
    select m from regexp_matches(p_text collate "C", '([0-9.]+) ?([^0-9 ]+)', 'g') m
  loop
    v_total := v_total + v_parts[1]::numeric * case v_parts[2]
      when 'ns' then 0.000000001 when 'ms' then 0.001 when 's' then 1 when 'm' then 60
      when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 0.000001 end;
  end loop;
  return case when left(p_text, 1) = '-' then -v_total else v_total end;
end;
$$;

revoke all on function logloom_private.quantity(text, text) from public;

-- The number of a comparison, {"unit": null, "value": …}, or the quantity,
-- {"unit": "seconds" or "bytes", …}. The value is an exact decimal as a text.
create function logloom_private.query_number(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_unit text;
  v_quantity numeric;
  v_digits text;
begin
  if left(p_token, 1) <> '"' then
    foreach v_unit in array array['seconds', 'bytes'] loop
      v_quantity := logloom_private.quantity(v_text, v_unit);
      if v_quantity is not null then
        return jsonb_build_object('unit', v_unit, 'value', trim_scale(v_quantity)::text);
      end if;
    end loop;
  end if;
  if left(p_token, 1) = '"' or v_text !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$' then
    perform logloom_private.refuse_at(
      p_position, 'query.not_a_number', logloom_private.query_excerpt(v_text)
    );
  end if;
  v_digits := coalesce(substring(v_text from '[eE][+-]?0*([0-9]*)$'), '');
  if char_length(v_digits) > 3 or ('0' || v_digits)::integer > 400 then
    perform logloom_private.refuse_at(p_position, 'query.number_is_out_of_range');
  end if;
  return jsonb_build_object('unit', null, 'value', trim_scale(v_text::numeric)::text);
end;
$$;

revoke all on function logloom_private.query_number(text, integer) from public;

-- query/query_verdict.sql

create type public.logloom_query_warning as ("position" integer, message text, suggestion text);

comment on type public.logloom_query_warning is
  'What is valid in a query and probably means something else than was meant, where (1-based, code '
  'points), and what to write instead of that term.';

create type public.logloom_query_validity as (
  valid boolean,
  error text,
  "position" integer,
  hint text,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_query_validity is
  'Whether a query compiles; if not, what is wrong, where (1-based, code points), and what was '
  'expected. warnings: what compiles and probably means something else than was meant.';

create function logloom_private.query_verdict(p_query_dsl text)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_error text;
  v_detail text;
  v_hint text;
  v_warnings jsonb;
begin
  v_warnings := (logloom_private.compile_query(p_query_dsl)).warnings;
  return '{"valid": true, "error": null, "position": null, "hint": null}'::jsonb
    || jsonb_build_object('warnings', v_warnings);
exception when sqlstate 'PT400' then
  get stacked diagnostics
    v_error = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  return jsonb_build_object(
    'valid', false,
    'error', v_error,
    'position', v_detail::jsonb -> 'position',
    'hint', v_hint,
    'warnings', '[]'::jsonb
  );
end;
$$;

revoke all on function logloom_private.query_verdict(text) from public;

comment on function logloom_private.query_verdict(text) is
  'Whether a query compiles: {"valid", "error", "position", "hint", "warnings"}; error, position '
  'and hint are null where it does. To be granted to nobody: its caller is a definer function.';

-- query/refuse_slow_search.sql

create function logloom_private.refuse_slow_search()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

revoke all on function logloom_private.refuse_slow_search() from public;

comment on function logloom_private.refuse_slow_search() is 'PT408.';

grant execute on function logloom_private.refuse_slow_search()
to authenticated, service_role;

-- query/regex.sql

-- Regular expressions: ours, written anew as PostgreSQL's, so that nothing of its dialect that ours
-- lacks can be reached.

-- How often a quantifier repeats what stands before it as copies: {least, most}. What has no end
-- is one copy more that may be absent.
create function logloom_private.query_regex_bounds(p_quantifier text, p_position integer)
returns integer[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_bounds constant text[] := regexp_match(
    p_quantifier, '^\{([0-9]{1,3})(,([0-9]{0,3}))?\}$'
  );
  v_least constant integer := v_bounds[1]::integer;
  v_most constant integer := case
    when v_bounds[2] is null then v_least
    when v_bounds[3] = '' then greatest(v_least, 100)
    else v_bounds[3]::integer
  end;
begin
  if p_quantifier in ('*', '?') then
    return array[0, 1];
  elsif p_quantifier = '+' then
    return array[1, 1];
  elsif v_bounds is null or v_least > 100 or v_most > 100 then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_is_out_of_range');
  elsif v_least > v_most then
    perform logloom_private.refuse_at(p_position, 'regex.repeat_runs_backwards');
  end if;
  return array[v_least, case when v_bounds[3] = '' then v_least + 1 else v_most end];
end;
$$;

revoke all on function logloom_private.query_regex_bounds(text, integer) from public;

-- What an escape or a character that repeats can follow is in PostgreSQL's dialect.
create function logloom_private.query_regex_atom(
  p_part text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_set constant text := logloom_private.query_regex_set(p_part, p_fold);
begin
  if p_part = '.' then
    return '.';
  elsif p_part = '[' then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_not_closed');
  elsif left(p_part, 1) = '[' then
    return logloom_private.query_regex_class(p_part, p_position, p_fold);
  elsif v_set is not null then
    return '[' || v_set || ']';
  elsif p_part ~ '^\\[1-9]' then
    perform logloom_private.refuse_at(p_position, 'regex.has_a_back_reference');
  elsif p_part ~ '^\\[0A-Za-z]' then
    perform logloom_private.refuse_at(p_position, 'regex.not_an_escape', p_part);
  end if;
  return logloom_private.query_regex_literal(
    case when p_fold then lower(substr(p_part, 2) collate pg_c_utf8) else substr(p_part, 2) end
  );
end;
$$;

revoke all on function logloom_private.query_regex_atom(text, integer, boolean) from public;

-- The regular expression of a quoted token: {"pattern", "fold", "size", "position", "steps"}.
--
-- PostgreSQL's matching time does not explode, but its compiling does: it copies what a bounded
-- repeat repeats, and connects all that can be skipped. v_sizes adds up what that costs, by
-- measurement: a character or class 1, a copy that may be absent 3 more, \b 50. At 1000, compiling
-- takes some 60 ms at worst. That a repeat is lazy changes which text matches, never whether one
-- does, so its mark is dropped.
create function logloom_private.query_regex(p_token text, p_position integer)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_fold constant boolean := substr(p_token, 2, 4) = '(?i)';
  v_source text := substr(p_token, 2, char_length(p_token) - 2);
  v_position integer := p_position + 1;
  v_part text;
  v_sql text := '';
  v_bounds integer[];
  v_depth integer := 1;
  -- By depth: the size so far, and the size of the atom that a quantifier would repeat, or null.
  v_sizes integer[] := array[0];
  v_atoms integer[] := array[null::integer];
  v_opened integer[] := array[0];
  v_steps integer := char_length(p_token);
begin
  if char_length(v_source) > 256 then
    perform logloom_private.refuse_at(v_position + 256, 'regex.too_long');
  end if;
  if v_fold then
    v_source := substr(v_source, 5);
    v_position := v_position + 4;
  end if;

  foreach v_part in array array(
    select m.match[1]
    from regexp_matches(
      v_source,
      '\\.|\[(?:\[:[a-z]+:\]|[^]\\]|\\.)*\]|\(\?.?|(?:\{[^}]*\}|[*+?])\??'
        || '|[^][\\(){}|*+?.^$]+(?![*+?{])|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    case
      when strpos('\[().*+?{|^$', left(v_part, 1)) = 0 then
        v_atoms[v_depth] := char_length(v_part);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth];
        v_sql := v_sql || case when v_fold then lower(v_part collate pg_c_utf8) else v_part end;
      when left(v_part, 1) in ('*', '+', '?', '{') then
        if v_atoms[v_depth] is null then
          perform logloom_private.refuse_at(v_position, 'regex.nothing_to_repeat', v_part);
        end if;
        v_bounds := logloom_private.query_regex_bounds(
          left(v_part, 1) || rtrim(substr(v_part, 2), '?'), v_position
        );
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth] * (greatest(v_bounds[2], 1) - 1)
          + 3 * (v_bounds[2] - v_bounds[1]);
        v_atoms[v_depth] := null;
        v_sql := v_sql || left(v_part, 1) || rtrim(substr(v_part, 2), '?');
      when v_part in ('(', '(?:') then
        v_depth := v_depth + 1;
        v_sizes[v_depth] := 1;
        v_atoms[v_depth] := null;
        v_opened[v_depth] := v_position;
        v_sql := v_sql || '(?:';
      when v_part = ')' then
        if v_depth = 1 then
          perform logloom_private.refuse_at(v_position, 'regex.bracket_closes_nothing');
        end if;
        v_depth := v_depth - 1;
        v_sizes[v_depth] := v_sizes[v_depth] + v_sizes[v_depth + 1];
        v_atoms[v_depth] := v_sizes[v_depth + 1];
        v_sql := v_sql || ')';
      when v_part in ('|', '^', '$', '\b') then
        v_sizes[v_depth] := v_sizes[v_depth] + case v_part when '\b' then 50 else 1 end;
        v_atoms[v_depth] := null;
        v_sql := v_sql || case v_part when '\b' then '\y' else v_part end;
      when left(v_part, 2) = '(?' then
        perform logloom_private.refuse_at(v_position, 'regex.has_lookaround');
      else
        -- A folded range looks through all letters that have two cases.
        if v_fold and left(v_part, 1) = '[' then
          v_steps := v_steps + 125 * (char_length(v_part) - char_length(replace(v_part, '-', '')));
        end if;
        v_sql := v_sql || logloom_private.query_regex_atom(v_part, v_position, v_fold);
        v_atoms[v_depth] := 1;
        v_sizes[v_depth] := v_sizes[v_depth] + 1;
    end case;
    if v_sizes[v_depth] > 1000 then
      perform logloom_private.refuse_at(v_position, 'regex.too_complex');
    end if;
    v_position := v_position + char_length(v_part);
  end loop;

  if v_depth > 1 then
    perform logloom_private.refuse_at(v_opened[v_depth], 'regex.group_is_not_closed');
  end if;
  return jsonb_build_object(
    'pattern', v_sql, 'fold', v_fold, 'size', v_sizes[1], 'position', p_position + 1,
    'steps', v_steps
  );
end;
$$;

revoke all on function logloom_private.query_regex(text, integer) from public;

-- Checks the regular expressions of a tree together: what compiling them costs, and that
-- PostgreSQL takes each, so that it refuses none in the middle of a search.
create function logloom_private.query_check_regexes(p_tree jsonb)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_leaf jsonb;
  v_size integer := 0;
begin
  for v_leaf in
    select l from jsonb_path_query(p_tree, 'strict $.** ? (@.test == "regex")') l
  loop
    v_size := v_size + (v_leaf -> 'size')::integer;
    begin
      if v_size > 2000 or '' collate "C" ~ (v_leaf ->> 'pattern') is null then
        raise invalid_regular_expression;
      end if;
    exception when invalid_regular_expression then
      perform logloom_private.refuse_at(
        (v_leaf -> 'position')::integer, 'regex.all_are_too_complex'
      );
    end;
  end loop;
end;
$$;

revoke all on function logloom_private.query_check_regexes(jsonb) from public;

-- query/regex_classes.sql

-- Regular expressions: what stands in brackets, and letter case.

-- One literal character as PostgreSQL's dialect writes it, inside a class or outside.
create function logloom_private.query_regex_literal(p_char text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case when p_char ~ '[!-/:-@[-`{-~]' then '\' || p_char else p_char end;
end;
$$;

revoke all on function logloom_private.query_regex_literal(text) from public;

-- The characters of \d, [:alpha:] and their like as the inside of a class, or null. ASCII, for
-- what a class holds must not depend on a locale; what a capital letter leaves out reaches to the
-- end of Unicode.
create function logloom_private.query_regex_set(p_name text, p_fold boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case p_name
    when '\d' then '0-9'
    when '\w' then '0-9A-Za-z_'
    when '\s' then ' \t\n\r\f\v'
    when '\D' then '\u0001-\u002f\u003a-\U0010ffff'
    when '\W' then '\u0001-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\U0010ffff'
    when '\S' then '\u0001-\u0008\u000e-\u001f\u0021-\U0010ffff'
    when '\n' then '\n'
    when '\t' then '\t'
    when '\r' then '\r'
    when '[:alpha:]' then 'A-Za-z'
    when '[:digit:]' then '0-9'
    when '[:alnum:]' then '0-9A-Za-z'
    when '[:upper:]' then case when p_fold then 'A-Za-z' else 'A-Z' end
    when '[:lower:]' then 'a-z'
    when '[:space:]' then ' \t\n\r\f\v'
    when '[:blank:]' then ' \t'
    when '[:punct:]' then '\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e'
    when '[:xdigit:]' then '0-9A-Fa-f'
    when '[:word:]' then '0-9A-Za-z_'
  end;
end;
$$;

revoke all on function logloom_private.query_regex_set(text, boolean) from public;

-- Where letters beyond ASCII have another lower case than the next character: {from, to, what to
-- add}. A test compares it with what lower() does.
create function logloom_private.letter_cases()
returns integer[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array[
    [192, 214, 32], [216, 222, 32], [304, 304, -199], [376, 376, -121], [385, 385, 210],
    [390, 390, 206], [393, 394, 205], [398, 398, 79], [399, 399, 202], [400, 400, 203],
    [403, 403, 205], [404, 404, 207], [406, 406, 211], [407, 407, 209], [412, 412, 211],
    [413, 413, 213], [415, 415, 214], [422, 422, 218], [425, 425, 218], [430, 430, 218],
    [433, 434, 217], [439, 439, 219], [452, 452, 2], [455, 455, 2], [458, 458, 2], [497, 497, 2],
    [502, 502, -97], [503, 503, -56], [544, 544, -130], [570, 570, 10795], [573, 573, -163],
    [574, 574, 10792], [579, 579, -195], [580, 580, 69], [581, 581, 71], [895, 895, 116],
    [902, 902, 38], [904, 906, 37], [908, 908, 64], [910, 911, 63], [913, 929, 32], [931, 939, 32],
    [975, 975, 8], [1012, 1012, -60], [1017, 1017, -7], [1021, 1023, -130], [1024, 1039, 80],
    [1040, 1071, 32], [1216, 1216, 15], [1329, 1366, 48], [4256, 4293, 7264], [4295, 4295, 7264],
    [4301, 4301, 7264], [5024, 5103, 38864], [5104, 5109, 8], [7312, 7354, -3008],
    [7357, 7359, -3008], [7838, 7838, -7615], [7944, 7951, -8], [7960, 7965, -8], [7976, 7983, -8],
    [7992, 7999, -8], [8008, 8013, -8], [8025, 8025, -8], [8027, 8027, -8], [8029, 8029, -8],
    [8031, 8031, -8], [8040, 8047, -8], [8072, 8079, -8], [8088, 8095, -8], [8104, 8111, -8],
    [8120, 8121, -8], [8122, 8123, -74], [8124, 8124, -9], [8136, 8139, -86], [8140, 8140, -9],
    [8152, 8153, -8], [8154, 8155, -100], [8168, 8169, -8], [8170, 8171, -112], [8172, 8172, -7],
    [8184, 8185, -128], [8186, 8187, -126], [8188, 8188, -9], [8486, 8486, -7517],
    [8490, 8490, -8383], [8491, 8491, -8262], [8498, 8498, 28], [8544, 8559, 16], [9398, 9423, 26],
    [11264, 11311, 48], [11362, 11362, -10743], [11363, 11363, -3814], [11364, 11364, -10727],
    [11373, 11373, -10780], [11374, 11374, -10749], [11375, 11375, -10783], [11376, 11376, -10782],
    [11390, 11391, -10815], [42877, 42877, -35332], [42893, 42893, -42280], [42922, 42922, -42308],
    [42923, 42923, -42319], [42924, 42924, -42315], [42925, 42925, -42305], [42926, 42926, -42308],
    [42928, 42928, -42258], [42929, 42929, -42282], [42930, 42930, -42261], [42931, 42931, 928],
    [42948, 42948, -48], [42949, 42949, -42307], [42950, 42950, -35384], [65313, 65338, 32],
    [66560, 66599, 40], [66736, 66771, 40], [66928, 66938, 39], [66940, 66954, 39],
    [66956, 66962, 39], [66964, 66965, 39], [68736, 68786, 64], [71840, 71871, 32],
    [93760, 93791, 32], [125184, 125217, 34]
  ];
end;
$$;

revoke all on function logloom_private.letter_cases() from public;

-- A range of a class. Folded, the text has no upper case, so the range gains what its characters
-- are in lower case; what it keeps of upper case finds nothing.
create function logloom_private.query_regex_range(p_from integer, p_to integer, p_fold boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := logloom_private.query_regex_literal(chr(p_from)) || '-'
    || logloom_private.query_regex_literal(chr(p_to));
  v_run integer[];
  v_first integer;
  v_last integer;
begin
  if p_fold and p_from <= 90 and p_to >= 65 then
    v_sql := v_sql || chr(greatest(p_from, 65) + 32) || '-' || chr(least(p_to, 90) + 32);
  end if;
  if p_fold and p_to > 127 then
    -- Where the lower case of a letter is the next character, only the last one's can be outside.
    v_sql := v_sql || logloom_private.query_regex_literal(lower(chr(p_to) collate pg_c_utf8));
    foreach v_run slice 1 in array logloom_private.letter_cases() loop
      v_first := greatest(p_from, v_run[1]) + v_run[3];
      v_last := least(p_to, v_run[2]) + v_run[3];
      if v_first <= v_last and (v_first < p_from or v_last > p_to) then
        v_sql := v_sql || chr(v_first) || '-' || chr(v_last);
      end if;
    end loop;
  end if;
  return v_sql;
end;
$$;

revoke all on function logloom_private.query_regex_range(integer, integer, boolean) from public;

-- A class, its brackets included, as PostgreSQL's.
create function logloom_private.query_regex_class(
  p_class text,
  p_position integer,
  p_fold boolean
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_negated constant boolean := substr(p_class, 2, 1) = '^';
  v_items text[];
  v_item text;
  v_set text;
  v_char text;
  v_upper text;
  v_at integer := 1;
  v_position integer := p_position + case when v_negated then 2 else 1 end;
  v_sql text := '';
begin
  v_items := array(
    select m.match[1]
    from regexp_matches(
      substr(p_class, v_position - p_position + 1,
        char_length(p_class) - (v_position - p_position) - 1),
      '\[:[a-z]+:\]|\\.|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  );
  if cardinality(v_items) = 0 then
    perform logloom_private.refuse_at(p_position, 'regex.class_is_empty');
  end if;

  while v_at <= cardinality(v_items) loop
    v_item := v_items[v_at];
    v_set := logloom_private.query_regex_set(v_item, p_fold);
    if v_item = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.bracket_in_class');
    elsif v_set is null and left(v_item, 1) = '[' then
      perform logloom_private.refuse_at(v_position, 'regex.no_such_class', v_item);
    elsif v_set is null and v_item ~ '^\\[0-9A-Za-z]' then
      perform logloom_private.refuse_at(v_position, 'regex.not_for_classes', v_item);
    end if;

    if v_items[v_at + 1] = '-' and v_items[v_at + 2] is not null then
      v_upper := v_items[v_at + 2];
      v_char := right(v_item, 1);
      if v_set is not null or v_upper ~ '^\\[0-9A-Za-z]' or left(v_upper, 1) = '[' then
        perform logloom_private.refuse_at(v_position, 'regex.range_ends_in_no_character');
      elsif ascii(v_char) > ascii(right(v_upper, 1)) then
        perform logloom_private.refuse_at(v_position, 'regex.range_runs_backwards');
      end if;
      v_sql := v_sql || logloom_private.query_regex_range(
        ascii(v_char), ascii(right(v_upper, 1)), p_fold
      );
      v_position := v_position + char_length(v_item) + 1 + char_length(v_upper);
      v_at := v_at + 3;
    else
      v_sql := v_sql || coalesce(v_set, logloom_private.query_regex_literal(
        case when p_fold then lower(right(v_item, 1) collate pg_c_utf8) else right(v_item, 1) end
      ));
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$$;

revoke all on function logloom_private.query_regex_class(text, integer, boolean) from public;

-- query/row_stages.sql

-- The parser of the stages of rows and records: sort, where, limit, fields.

-- sort by n desc, service
create function logloom_private.query_parse_sort(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns text[] := array['ts'];
  v_keys jsonb := '[]';
  v_name text;
begin
  if v_rows then
    v_columns := logloom_private.query_columns(p_plan);
  end if;
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(p_state.positions[2], 'stages.sort_needs_by');
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case when v_name = '' and v_rows then 'stages.sort_column_is_missing'
          when v_name = '' then 'stages.sort_ts_is_missing'
          when v_rows then 'stages.sort_column_is_unknown'
          else 'stages.records_are_sorted_by_ts' end,
        logloom_private.query_excerpt(v_name),
        array_to_string(v_columns, ', ')
      );
    end if;
    p_state."at" := p_state."at" + 1;
    v_keys := v_keys || jsonb_build_object(
      'name', v_name, 'descending', p_state.texts[p_state."at"] = 'desc'
    );
    if p_state.texts[p_state."at"] in ('asc', 'desc') then
      p_state."at" := p_state."at" + 1;
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_sort(
  logloom_private.query_state, jsonb
) from public;

-- where n > 10 AND p95 >= 200
create function logloom_private.query_parse_having(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_columns text[];
  v_having jsonb := coalesce(p_plan -> 'having', '[]');
  v_operator text;
  v_number text;
begin
  if p_plan ? 'patterns' then
    v_columns := array['count'];
  else
    v_columns := array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a);
  end if;
  p_state."at" := 1;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    if not p_state.texts[p_state."at"] = any(v_columns) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case p_state.texts[p_state."at"] when '' then 'stages.where_is_empty'
          else 'stages.where_column_is_unknown' end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        array_to_string(v_columns, ', '),
        coalesce(v_columns[1], 'n')
      );
    end if;
    v_operator := p_state.texts[p_state."at" + 1];
    if v_operator not in ('>', '>=', '<', '<=', '=', '!=') then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1],
        'stages.comparison_is_missing',
        p_state.texts[p_state."at"]
      );
    end if;
    v_number := p_state.texts[p_state."at" + 2];
    if v_number !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$'
      or not pg_input_is_valid(v_number, 'double precision')
    then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 2], 'stages.number_is_missing', v_operator
      );
    end if;
    v_having := v_having || jsonb_build_object(
      'name', p_state.texts[p_state."at"], 'operator', v_operator, 'number', v_number
    );
    p_state."at" := p_state."at" + 3;
    exit when p_state.texts[p_state."at"] <> 'AND';
  end loop;
  p_state.node := p_plan || jsonb_build_object('having', v_having);
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_having(
  logloom_private.query_state, jsonb
) from public;

-- limit 10
create function logloom_private.query_parse_limit(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_state.texts[2] !~ '^[1-9][0-9]{0,5}$' then
    perform logloom_private.refuse_at(p_state.positions[2], 'stages.limit_is_out_of_range');
  end if;
  p_state."at" := 3;
  p_state.node := p_plan || jsonb_build_object('limit', p_state.texts[2]::integer);
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_limit(
  logloom_private.query_state, jsonb
) from public;

-- fields ts, msg, @status
create function logloom_private.query_parse_fields(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_fields jsonb := '[]';
begin
  p_state."at" := 1;
  loop
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_stage_field(p_state, 'stages.fields_needs_a_field', 'fields');
    v_fields := v_fields || p_state.node;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('fields', v_fields);
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_fields(
  logloom_private.query_state, jsonb
) from public;

-- query/runtime.sql

-- What compiled queries call for each record. None of these can raise, whatever a record holds.

-- Does any text of a record pass a test? Texts are its columns and the scalars of its attributes.
create function logloom_private.record_holds(
  p_columns text[],
  p_attrs jsonb,
  p_test text,
  p_arguments text[]
)
returns boolean
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  return exists (
    select
    from (
      select unnest(p_columns)
      union all
      select a.value #>> '{}'
      from jsonb_path_query(p_attrs, 'strict $.**') a (value)
      where jsonb_typeof(a.value) in ('string', 'number', 'boolean')
    ) t (text)
    where case p_test
      when 'contains' then lower(t.text collate pg_c_utf8) like p_arguments[1]
      when 'equal' then t.text = any(p_arguments)
      when 'folded equal' then lower(t.text collate pg_c_utf8) = any(p_arguments)
      when 'word' then lower(t.text collate pg_c_utf8) ~ p_arguments[1]
      when 'regex' then t.text collate "C" ~ p_arguments[1]
      when 'folded regex' then lower(t.text collate pg_c_utf8) collate "C" ~ p_arguments[1]
    end
  );
end;
$$;

revoke all on function logloom_private.record_holds(text[], jsonb, text, text[]) from public;

-- Is a text an address, IPv4 with or without a port or IPv6, of a network?
create function logloom_private.address_in(p_text text, p_network inet)
returns boolean
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
declare
  v_address text;
begin
  if octet_length(p_text) > 45 then
    return false;
  end if;
  v_address := coalesce(
    substring(
      p_text collate "C"
      from '^((?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3})(?::[0-9]{1,5})?$'
    ),
    substring(p_text collate "C" from '^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$')
  );
  return pg_input_is_valid(v_address, 'inet') and v_address::inet <<= p_network;
end;
$$;

revoke all on function logloom_private.address_in(text, inet) from public;

-- Numbers stay decimal until the end, so that a sum does not depend on the order of its rows;
-- held within the range of a double, so that no cast or sum can fail.
create function logloom_private.json_number(p_value jsonb)
returns numeric
language plpgsql
immutable
strict
security invoker
parallel safe
set search_path = ''
as $$
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.json_number(jsonb) from public;

create function logloom_private.finite_double(p_value numeric)
returns double precision
language plpgsql
immutable
strict
security invoker
parallel safe
set search_path = ''
as $$
begin
  return case
    when p_value > 1.7976931348623157e308 then 1.7976931348623157e308
    when p_value < -1.7976931348623157e308 then -1.7976931348623157e308
    when abs(p_value) < 4.95e-324 then 0
    else p_value::double precision
  end;
end;
$$;

revoke all on function logloom_private.finite_double(numeric) from public;

-- Interpolation between the two ends of the doubles leaves their range.
create function logloom_private.finite_double(p_value double precision)
returns double precision
language plpgsql
immutable
strict
security invoker
parallel safe
set search_path = ''
as $$
begin
  return case p_value
    when 'Infinity' then 1.7976931348623157e308
    when '-Infinity' then -1.7976931348623157e308
    else p_value
  end;
end;
$$;

revoke all on function logloom_private.finite_double(double precision) from public;

-- Numbers of a JSON text have the canonical form of a record's: no zeros at the end of a fraction.
create function logloom_private.canonical_numbers(p_value jsonb)
returns jsonb
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  return case jsonb_typeof(p_value)
    when 'number' then to_jsonb(trim_scale(p_value::numeric))
    when 'object' then (
      select coalesce(jsonb_object_agg(o.key, logloom_private.canonical_numbers(o.value)), '{}')
      from jsonb_each(p_value) o
    )
    when 'array' then (
      select coalesce(jsonb_agg(logloom_private.canonical_numbers(a.value) order by a.n), '[]')
      from jsonb_array_elements(p_value) with ordinality a (value, n)
    )
    else p_value
  end;
end;
$$;

revoke all on function logloom_private.canonical_numbers(jsonb) from public;

-- The members of a text that is a JSON object of at most 64 kB, otherwise {}.
create function logloom_private.extract_json(p_text text)
returns jsonb
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  if octet_length(p_text) > 65536
    or p_text !~ '^[ \t\r\n]*\{'
    or not pg_input_is_valid(p_text, 'jsonb')
  then
    return '{}';
  elsif p_text ~ '\.[0-9]*0[^0-9]|[0-9][eE]' then
    return logloom_private.canonical_numbers(p_text::jsonb);
  end if;
  return p_text::jsonb;
end;
$$;

revoke all on function logloom_private.extract_json(text) from public;

-- The pairs name=value of the first 64 kB of a text; a value may be in double quotes. A value that
-- is written as JSON writes numbers is one. The last of a name counts.
create function logloom_private.extract_logfmt(p_text text)
returns jsonb
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  if strpos(p_text, '=') = 0 then
    return '{}';
  end if;
  return coalesce((
    select jsonb_object_agg(
      m.pair[1],
      case
        when left(m.pair[2], 1) = '"' then to_jsonb(
          regexp_replace(substr(m.pair[2], 2, char_length(m.pair[2]) - 2), '\\(.)', '\1', 'g')
        )
        when m.pair[2] ~ '^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?$' then
          to_jsonb(trim_scale(m.pair[2]::numeric))
        else to_jsonb(m.pair[2])
      end
    )
    from regexp_matches(
      left(p_text, 65536) collate "C",
      '(?:^|[ \t\r\n])([^ \t\r\n="]+)=("(?:[^"\\]|\\.)*"|[^ \t\r\n"]*)(?=[ \t\r\n]|$)', 'g'
    ) m (pair)
  ), '{}');
end;
$$;

revoke all on function logloom_private.extract_logfmt(text) from public;

-- query/sql.sql

-- The generator: a tree as a boolean expression of SQL over an alias.

-- A column, or the JSON value of an attribute. Steps are -> with a text: #> would take a digit as
-- an index into an array. JSON null is no value, so the joined key is tried there too.
create function logloom_private.query_value_sql(p_field jsonb, p_alias text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias);
  for v_at in 0 .. jsonb_array_length(p_field -> 'path') - 1 loop
    v_sql := v_sql || ' -> ' || quote_literal(p_field -> 'path' ->> v_at);
  end loop;
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$$;

revoke all on function logloom_private.query_value_sql(jsonb, text) from public;

-- The bounds that a range has, or null. p_type is what a bound is cast to.
create function logloom_private.query_bounds_sql(p_leaf jsonb, p_value text, p_type text default '')
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return nullif(concat_ws(
    ' and ',
    p_value || case when (p_leaf -> 'lower_open')::boolean then ' > ' else ' >= ' end
      || quote_literal(p_leaf ->> 'lower') || p_type,
    p_value || case when (p_leaf -> 'upper_open')::boolean then ' < ' else ' <= ' end
      || quote_literal(p_leaf ->> 'upper') || p_type
  ), '');
end;
$$;

revoke all on function logloom_private.query_bounds_sql(jsonb, text, text) from public;

-- The text in the letter case that folded comparisons use: one character to one character.
create function logloom_private.query_fold_sql(p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'lower(' || p_value || ' collate pg_c_utf8)';
end;
$$;

revoke all on function logloom_private.query_fold_sql(text) from public;

-- Quoted texts, a comma between them.
create function logloom_private.query_texts_sql(p_values jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select string_agg(quote_literal(v.text), ', ' order by v.n)
    from jsonb_array_elements_text(p_values) with ordinality v (text, n)
  );
end;
$$;

revoke all on function logloom_private.query_texts_sql(jsonb) from public;

-- A test of a text: a value is put between the two parts. They are joined, never substituted into,
-- because they hold quoted texts of the caller.
create function logloom_private.query_text_test(p_leaf jsonb)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_fold constant boolean := coalesce((p_leaf -> 'fold')::boolean, false)
    or p_leaf ->> 'test' in ('contains', 'word');
  v_parts text[];
begin
  v_parts := case p_leaf ->> 'test'
    when 'equal' then array['', case jsonb_array_length(p_leaf -> 'values')
      when 1 then ' = ' || quote_literal(p_leaf -> 'values' ->> 0)
      else ' in (' || logloom_private.query_texts_sql(p_leaf -> 'values') || ')'
    end]
    when 'like' then array['', ' like ' || quote_literal(p_leaf ->> 'pattern')]
    when 'contains' then array['', ' like ' || quote_literal(p_leaf ->> 'pattern')]
    when 'word' then array['', ' ~ ' || quote_literal(p_leaf ->> 'regex')]
    when 'regex' then array['', ' collate "C" ~ ' || quote_literal(p_leaf ->> 'pattern')]
    when 'network' then array[
      'logloom_private.address_in(', ', ' || quote_literal(p_leaf ->> 'network') || '::inet)'
    ]
  end;
  if v_fold then
    v_parts := array[v_parts[1] || 'lower(', ' collate pg_c_utf8)' || v_parts[2]];
  end if;
  return v_parts;
end;
$$;

revoke all on function logloom_private.query_text_test(jsonb) from public;

-- A test of the text of a JSON scalar, or of any scalar in an array.
create function logloom_private.query_any_text_sql(p_value text, p_test text[])
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'case jsonb_typeof(' || p_value || ')'
    || ' when ''object'' then false when ''null'' then false'
    || ' when ''array'' then exists (select from jsonb_array_elements(' || p_value || ') as e (v)'
    || ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '
    || p_test[1] || '(e.v #>> ''{}'')' || p_test[2] || ') else '
    || p_test[1] || '(' || p_value || ' #>> ''{}'')' || p_test[2] || ' end';
end;
$$;

revoke all on function logloom_private.query_any_text_sql(text, text[]) from public;

-- A bound of time: a constant, or so far from p_now_sql where it moves with now.
create function logloom_private.query_instant_sql(
  p_instant text,
  p_shift bigint,
  p_now_sql text
)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_shift is not null and p_now_sql is not null then
    return '(' || p_now_sql || format(' + interval ''%s microseconds'')', p_shift);
  end if;
  return quote_literal(p_instant) || '::timestamptz';
end;
$$;

revoke all on function logloom_private.query_instant_sql(text, bigint, text) from public;

create function logloom_private.query_column_sql(p_leaf jsonb, p_value text, p_now_sql text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_test text[];
  v_keys jsonb;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_value || ' is not null';
    when 'within' then
      return coalesce(
        nullif(concat_ws(
          ' and ',
          p_value || ' >= ' || logloom_private.query_instant_sql(
            p_leaf ->> 'from', (p_leaf -> 'from_shift')::bigint, p_now_sql
          ),
          p_value || ' < ' || logloom_private.query_instant_sql(
            p_leaf ->> 'to', (p_leaf -> 'to_shift')::bigint, p_now_sql
          )
        ), ''),
        p_value || ' is not null'
      );
    when 'range' then
      return coalesce(
        logloom_private.query_bounds_sql(p_leaf, p_value || ' collate "C"'),
        p_value || ' is not null'
      );
    else
  end case;

  v_test := logloom_private.query_text_test(p_leaf);
  -- The index of req_id holds its beginning: a whole one may be too long for an index.
  if p_leaf ->> 'field' = 'req_id' and p_leaf ->> 'test' = 'equal' and not p_leaf ? 'fold' then
    select jsonb_agg(left(v, 200)) into v_keys from jsonb_array_elements_text(p_leaf -> 'values') v;
    return '(left(' || p_value || ', 200) in (' || logloom_private.query_texts_sql(v_keys)
      || ') and ' || p_value || v_test[2] || ')';
  elsif p_leaf ->> 'test' = 'word' then
    -- LIKE tells quicker where the text is not there at all.
    return logloom_private.query_fold_sql(p_value) || ' like '
      || quote_literal(p_leaf ->> 'pattern') || ' and ' || v_test[1] || p_value || v_test[2];
  end if;
  return v_test[1] || p_value || v_test[2];
end;
$$;

revoke all on function logloom_private.query_column_sql(jsonb, text, text) from public;

-- A tree as a boolean expression over an alias. It may be null where a field is absent; a NOT
-- turns that into true, so that it matches records that lack the field. With p_now_sql, an SQL
-- expression, what moves with now is computed from it; otherwise from the instant of compiling.
create function logloom_private.query_sql(
  p_node jsonb,
  p_alias text,
  p_now_sql text default null
)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_sql text := '';
begin
  case v_type
    when 'all' then
      return 'true';
    when 'none' then
      return 'false';
    when 'not' then
      return '(' || logloom_private.query_sql(p_node -> 'item', p_alias, p_now_sql)
        || ' is not true)';
    when 'and', 'or' then
      for v_at in 0 .. jsonb_array_length(p_node -> 'items') - 1 loop
        v_sql := v_sql || case when v_at > 0 then ' ' || v_type || ' ' else '' end
          || logloom_private.query_sql(p_node -> 'items' -> v_at, p_alias, p_now_sql);
      end loop;
      return '(' || v_sql || ')';
    when 'leaf' then
      if p_node ->> 'field' = 'any' then
        return '(' || logloom_private.query_any_sql(p_node, p_alias) || ')';
      end if;
      v_sql := logloom_private.query_value_sql(p_node, p_alias);
      return '(' || case p_node ->> 'field'
        when 'attrs' then logloom_private.query_attrs_sql(p_node, v_sql)
        else logloom_private.query_column_sql(p_node, v_sql, p_now_sql)
      end || ')';
  end case;
end;
$$;

revoke all on function logloom_private.query_sql(jsonb, text, text) from public;

-- query/stages.sql

-- The parser of what follows a bar. A stage has tokens of its own: names, numbers and punctuation.

-- The stages of a query are collected in an object, the plan:
--   rows        what is done to each record before anything is counted:
--               [{"stage": "json" | "logfmt", "field"}, {"stage": "where", "tree"}, …]
--   aggregates  [{"kind", "fraction", "field", "name"}, …], by: [field, …], bucket: seconds
--   patterns    true
--   having      [{"name", "operator", "number"}, …]
--   sort        [{"name", "descending"}, …]
--   limit       a number
--   fields      [field, …]
--   last        the stage that was read last, first: {"stage", "position"} of the first

create function logloom_private.query_is_stage(p_name text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_name in ('json', 'logfmt', 'sort', 'limit', 'fields', 'where', 'patterns');
end;
$$;

revoke all on function logloom_private.query_is_stage(text) from public;

create function logloom_private.query_tokenize_stage(
  p_state logloom_private.query_state,
  p_source text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  select
    array_agg(t.text order by t.n) filter (where not t.is_space) || ''::text,
    array_agg(t.position order by t.n) filter (where not t.is_space)
      || (p_position + char_length(p_source))
  into p_state.texts, p_state.positions
  from (
    select
      m.match[1] as text,
      m.n,
      left(m.match[1], 1) in (' ', e'\t', e'\r', e'\n', e'\u00a0') as is_space,
      (p_position + sum(char_length(m.match[1])) over (order by m.n rows unbounded preceding)
        - char_length(m.match[1]))::integer as position
    from regexp_matches(
      p_source,
      '[ \t\r\n\u00a0]+|(?:[^ \t\r\n\u00a0(),|"<>=!]|"(?:[^"\\]|\\.)*")+|[<>!]=|.', 'g'
    ) with ordinality as m (match, n)
  ) t;
  p_state."at" := 1;
  p_state.node := null;
  return logloom_private.query_spend(p_state, cardinality(p_state.texts));
end;
$$;

revoke all on function logloom_private.query_tokenize_stage(
  logloom_private.query_state, text, integer
) from public;

-- The field that comes next, as node; p_error of p_stage where none does.
create function logloom_private.query_stage_field(
  p_state logloom_private.query_state,
  p_error text,
  p_stage text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
begin
  if v_token in ('', '(', ')', ',', '|', '<', '>', '=', '!', '<=', '>=', '!=', '"') then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], p_error, p_stage);
  end if;
  p_state.node := logloom_private.query_field(v_token, p_state.positions[p_state."at"]);
  if v_token = 'any' then
    perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'stages.any_is_for_filters');
  end if;
  p_state."at" := p_state."at" + 1;
  return logloom_private.query_spend(p_state, 1);
end;
$$;

revoke all on function logloom_private.query_stage_field(
  logloom_private.query_state, text, text
) from public;

-- Refuses a stage where it cannot work.
create function logloom_private.query_check_order(
  p_plan jsonb,
  p_stage text,
  p_position integer
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_cannot boolean;
begin
  v_cannot := case p_stage
    when 'json' then v_rows or p_plan ?| array['sort', 'limit', 'fields']
    when 'logfmt' then v_rows or p_plan ?| array['sort', 'limit', 'fields']
    when 'where' then p_plan ?| array['limit', 'fields'] or (p_plan ? 'sort' and not v_rows)
    when 'sort' then p_plan ?| array['sort', 'limit']
    when 'limit' then p_plan ? 'limit'
    when 'fields' then v_rows or p_plan ? 'fields'
    else v_rows or p_plan ?| array['sort', 'limit', 'fields']
  end;
  if v_cannot then
    perform logloom_private.refuse_at(
      p_position, 'stages.order_is_wrong', p_stage, p_plan ->> 'last'
    );
  elsif coalesce((p_plan ->> 'count')::integer, 0) >= 10 then
    perform logloom_private.refuse_at(p_position, 'stages.too_many');
  end if;
end;
$$;

revoke all on function logloom_private.query_check_order(jsonb, text, integer) from public;

-- json field, logfmt field
create function logloom_private.query_parse_extraction(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_stage constant text := p_state.texts[1];
begin
  p_state."at" := 2;
  p_state := logloom_private.query_stage_field(p_state, 'stages.needs_a_field', v_stage);
  if p_state.node ->> 'field' in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(p_state.positions[2], 'stages.takes_a_text', v_stage);
  end if;
  p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]')
    || jsonb_build_object('stage', v_stage, 'field', p_state.node));
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_extraction(
  logloom_private.query_state, jsonb
) from public;

-- The names of the columns that the rows of a plan have.
create function logloom_private.query_columns(p_plan jsonb)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_plan ? 'patterns' then
    return array['count', 'first', 'last', 'pattern'];
  end if;
  return array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a)
    || case when p_plan -> 'bucket' is null then '{}'::text[] else array['ts'] end
    || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b);
end;
$$;

revoke all on function logloom_private.query_columns(jsonb) from public;

-- One stage, read to its end: the plan with it as node.
create function logloom_private.query_parse_stage(
  p_state logloom_private.query_state,
  p_plan jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_stage constant text := p_state.texts[1];
begin
  if logloom_private.query_is_stage(v_stage) then
    perform logloom_private.query_check_order(p_plan, v_stage, p_state.positions[1]);
  end if;
  case v_stage
    when 'json' then p_state := logloom_private.query_parse_extraction(p_state, p_plan);
    when 'logfmt' then p_state := logloom_private.query_parse_extraction(p_state, p_plan);
    when 'sort' then p_state := logloom_private.query_parse_sort(p_state, p_plan);
    when 'limit' then p_state := logloom_private.query_parse_limit(p_state, p_plan);
    when 'fields' then p_state := logloom_private.query_parse_fields(p_state, p_plan);
    when 'where' then p_state := logloom_private.query_parse_having(p_state, p_plan);
    when 'patterns' then
      p_state."at" := 2;
      p_state.node := p_plan || '{"patterns": true}';
    else p_state := logloom_private.query_parse_aggregates(p_state, p_plan);
  end case;
  if p_state.texts[p_state."at"] <> '' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.something_follows',
      case when logloom_private.query_is_stage(v_stage) then v_stage else 'the aggregate' end,
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_stage(
  logloom_private.query_state, jsonb
) from public;

-- query/state.sql

-- What every part of the compiler uses: excerpts and bounds.

-- Enough of the caller's text to recognise it in a message.
create function logloom_private.query_excerpt(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '"' || left(p_text, 40) || case when char_length(p_text) > 40 then '…' else '' end || '"';
end;
$$;

revoke all on function logloom_private.query_excerpt(text) from public;

-- Bounds

-- Counts p_steps more: a token, a rule, a term, a part of a regex. No loop of the compiler runs
-- without counting, so a query's cost is bounded by this number whatever it holds.
create function logloom_private.query_spend(
  p_state logloom_private.query_state,
  p_steps integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state.steps := p_state.steps + p_steps;
  if p_state.steps > 20000 then
    perform logloom_private.refuse_at(
      p_state.positions[least(p_state."at", cardinality(p_state.positions))], 'query.too_many_steps'
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_spend(
  logloom_private.query_state, integer
) from public;

-- Counts one more leaf of the tree.
create function logloom_private.query_count_leaf(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_state.leaves >= 64 then
    perform logloom_private.refuse_at(p_position, 'query.too_many_terms');
  end if;
  p_state.leaves := p_state.leaves + 1;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_count_leaf(
  logloom_private.query_state, integer
) from public;

-- Goes one bracket or NOT deeper.
create function logloom_private.query_deepen(
  p_state logloom_private.query_state,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_state.depth >= 16 then
    perform logloom_private.refuse_at(p_position, 'query.nested_too_deep');
  end if;
  p_state.depth := p_state.depth + 1;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_deepen(
  logloom_private.query_state, integer
) from public;

-- A text that is looked for inside another one costs its own length at each place of that one.
create function logloom_private.query_count_searched(
  p_state logloom_private.query_state,
  p_text text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state.searched := p_state.searched + char_length(p_text);
  if p_state.searched > 512 then
    perform logloom_private.refuse_at(p_position, 'query.searched_texts_are_too_long');
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_count_searched(
  logloom_private.query_state, text, integer
) from public;

-- query/terms.sql

-- The parser of terms: free ones, and fields with their names.

-- A free term: a word or a quoted text.
create function logloom_private.query_parse_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state := logloom_private.query_count_leaf(p_state, p_state.positions[p_state."at"]);
  p_state := logloom_private.query_spend(p_state, 1);
  p_state := logloom_private.query_warn_free(p_state);
  p_state := logloom_private.query_check_term(
    p_state, '{"field": "msg", "name": "msg"}',
    p_state.texts[p_state."at"], p_state.positions[p_state."at"]
  );
  return logloom_private.query_go_on(p_state);
end;
$$;

revoke all on function logloom_private.query_parse_free(logloom_private.query_state) from public;

create function logloom_private.query_refuse_operator(p_operator text, p_position integer)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse_at(p_position, 'query.operator_is_for_values', p_operator);
end;
$$;

revoke all on function logloom_private.query_refuse_operator(text, integer) from public;

-- field:value, or a free term, that begins with a word. The name ends at its first colon; quoted
-- segments of an attribute's path make it several tokens.
create function logloom_private.query_parse_word(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_first constant integer := p_state."at";
  v_at integer := v_first;
  v_name text := '';
  v_head text;
  v_field jsonb;
begin
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    v_head := p_state.texts[v_at];
    if strpos(v_head, ':') > 0 and left(v_head, 1) <> '"' then
      v_head := coalesce(substring(v_head from '^(?:[^:\\]|\\.)+'), '');
    end if;
    v_name := v_name || v_head;
    exit when v_head <> p_state.texts[v_at];
    if v_at = v_first and (v_head !~ '^(?:@|(?:attrs|@.*)\.|attrs\..*\.)$'
      or left(p_state.texts[v_at + 1], 1) <> '"'
      or not logloom_private.query_is_adjacent(p_state, v_at + 1))
    then
      -- No colon: a free term.
      if left(v_head, 1) in ('<', '>', '~') then
        perform logloom_private.query_refuse_operator(left(v_head, 1), p_state.positions[v_at]);
      end if;
      return logloom_private.query_parse_free(p_state);
    end if;
    v_at := v_at + 1;
    if not logloom_private.query_is_adjacent(p_state, v_at)
      or not logloom_private.query_is_term(p_state.texts[v_at])
    then
      perform logloom_private.refuse_at(p_state.positions[v_at], 'query.colon_is_missing');
    end if;
  end loop;

  if v_name = '' then
    perform logloom_private.refuse_at(p_state.positions[v_first], 'query.field_is_missing');
  elsif left(v_name, 1) in ('<', '>', '~') then
    perform logloom_private.query_refuse_operator(left(v_name, 1), p_state.positions[v_first]);
  end if;

  v_field := logloom_private.query_field(v_name, p_state.positions[v_first]);

  -- The value is the rest of this token, or the next one where nothing is left.
  p_state."at" := v_at;
  p_state := logloom_private.query_take_colon(p_state, v_head || ':', v_name);
  return logloom_private.query_parse_value(p_state, v_field);
end;
$$;

revoke all on function logloom_private.query_parse_word(logloom_private.query_state) from public;

-- Takes a field's name and colon off the token that comes next.
create function logloom_private.query_take_colon(
  p_state logloom_private.query_state,
  p_head text,
  p_name text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_position constant integer := p_state.positions[p_state."at"] + char_length(p_head);
begin
  if p_state.texts[p_state."at"] <> p_head then
    p_state.texts[p_state."at"] := substr(p_state.texts[p_state."at"], char_length(p_head) + 1);
    p_state.positions[p_state."at"] := v_position;
    return p_state;
  end if;
  p_state."at" := p_state."at" + 1;
  if p_state.texts[p_state."at"] in ('', ')', ']', '}', '|')
    or p_state.positions[p_state."at"] <> v_position
  then
    perform logloom_private.refuse_at(
      v_position, 'query.value_is_missing', logloom_private.query_excerpt(p_name || ':')
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_take_colon(
  logloom_private.query_state, text, text
) from public;

-- query/tokens.sql

-- Tokens: what the grammar's rules read.

-- The state before the first token.
create function logloom_private.query_tokenize(p_query_dsl text, p_now timestamptz)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_state logloom_private.query_state;
  v_stray integer;
begin
  -- White space, a quoted text, a bracket or bar, a bareword, or what none of them takes: so that
  -- the matches cover every character, and a running sum of their lengths is their position.
  select
    array_agg(t.text order by t.n) filter (where not t.is_space),
    array_agg(t.position order by t.n) filter (where not t.is_space),
    min(t.position) filter (where t.text in ('"', '\'))
  into v_state.texts, v_state.positions, v_stray
  from (
    select
      m.match[1] as text,
      m.n,
      left(m.match[1], 1) in (' ', e'\t', e'\r', e'\n', e'\u00a0') as is_space,
      (1 + sum(char_length(m.match[1])) over (order by m.n rows unbounded preceding)
        - char_length(m.match[1]))::integer as position
    from regexp_matches(
      p_query_dsl,
      '[ \t\r\n\u00a0]+|"(?:[^"\\]|\\.)*"|[][(){}|]|(?:[^] \t\r\n\u00a0[(){}|"\\]|\\.)+|.',
      'g'
    ) with ordinality as m (match, n)
  ) t;

  if v_stray is not null and substr(p_query_dsl, v_stray, 1) = '"' then
    perform logloom_private.refuse_at(v_stray, 'query.quote_is_not_closed');
  elsif v_stray is not null then
    perform logloom_private.refuse_at(v_stray, 'query.backslash_escapes_nothing');
  end if;

  v_state.texts := v_state.texts || ''::text;
  v_state.positions := v_state.positions || (char_length(p_query_dsl) + 1);
  v_state."at" := 1;
  v_state.depth := 0;
  v_state.leaves := 0;
  v_state.searched := 0;
  v_state.steps := cardinality(v_state.texts);
  v_state."now" := p_now;
  v_state.names_now := false;
  v_state.warnings := '[]';
  v_state.node := '{"type": "all"}';
  return v_state;
end;
$$;

revoke all on function logloom_private.query_tokenize(text, timestamptz) from public;

create function logloom_private.query_is_word(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return left(p_token, 1) not in ('', '"', '(', ')', '[', ']', '{', '}', '|');
end;
$$;

revoke all on function logloom_private.query_is_word(text) from public;

-- A word or a quoted text.
create function logloom_private.query_is_term(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return left(p_token, 1) not in ('', '(', ')', '[', ']', '{', '}', '|');
end;
$$;

revoke all on function logloom_private.query_is_term(text) from public;

-- Is there no white space between this token and the one before?
create function logloom_private.query_is_adjacent(
  p_state logloom_private.query_state,
  p_at integer
)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_at > 1
    and p_state.positions[p_at - 1] + char_length(p_state.texts[p_at - 1])
      = p_state.positions[p_at];
end;
$$;

revoke all on function logloom_private.query_is_adjacent(
  logloom_private.query_state, integer
) from public;

-- Goes on by p_count tokens to one that does not touch the last of them, if it is a term:
-- time"out" is one term with a quote in it to some and two terms to others, so it is neither.
create function logloom_private.query_go_on(
  p_state logloom_private.query_state,
  p_count integer default 1
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state."at" := p_state."at" + p_count;
  if logloom_private.query_is_term(p_state.texts[p_state."at"])
    and logloom_private.query_is_adjacent(p_state, p_state."at")
  then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'query.white_space_is_missing',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_go_on(
  logloom_private.query_state, integer
) from public;

-- The text that a word or a quoted token stands for.
create function logloom_private.query_text(p_token text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_text text := p_token;
begin
  if left(v_text, 1) = '"' then
    v_text := substr(v_text, 2, char_length(v_text) - 2);
  end if;
  if strpos(v_text, '\') > 0 then
    v_text := regexp_replace(v_text, '\\(.)', '\1', 'g');
  end if;
  return v_text;
end;
$$;

revoke all on function logloom_private.query_text(text) from public;

create function logloom_private.query_has_wildcard(p_token text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if left(p_token, 1) = '"' or translate(p_token, '*?', '') = p_token then
    return false;
  end if;
  return p_token ~ '^(?:[^\\*?]|\\.)*[*?]';
end;
$$;

revoke all on function logloom_private.query_has_wildcard(text) from public;

-- A LIKE pattern that matches a text and nothing else.
create function logloom_private.query_like_text(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return regexp_replace(p_text, '([\\%_])', '\\\1', 'g');
end;
$$;

revoke all on function logloom_private.query_like_text(text) from public;

-- A LIKE pattern for a token: its wildcards become LIKE's, LIKE's own are escaped.
create function logloom_private.query_like(p_token text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if left(p_token, 1) = '"' then
    return logloom_private.query_like_text(logloom_private.query_text(p_token));
  elsif strpos(p_token, '\') = 0 then
    return translate(replace(replace(p_token, '%', '\%'), '_', '\_'), '*?', '%_');
  end if;
  return (
    select string_agg(
      case
        when left(m.match[1], 1) <> '\' then
          translate(replace(replace(m.match[1], '%', '\%'), '_', '\_'), '*?', '%_')
        when substr(m.match[1], 2) in ('%', '_', '\') then m.match[1]
        else substr(m.match[1], 2)
      end,
      '' order by m.n
    )
    from regexp_matches(p_token, '\\.|[^\\]+', 'g') with ordinality as m (match, n)
  );
end;
$$;

revoke all on function logloom_private.query_like(text) from public;

-- A LIKE pattern for a whole record as one text, in ASCII lower case: it matches wherever
-- p_pattern, over folded text, matches in one of the record's texts, and sometimes elsewhere. JSON
-- escapes some characters, so any text may stand in their place; what is not ASCII, and i and k,
-- which the dotted I and the Kelvin sign fold to, may be any character.
create function logloom_private.query_like_record(p_pattern text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return '%' || regexp_replace(
    regexp_replace(p_pattern, '\\[\\_]|["_\x01-\x1f\x7f]', '%', 'g'),
    '[ik\x80-\U0010ffff]', '_', 'g'
  ) || '%';
end;
$$;

revoke all on function logloom_private.query_like_record(text) from public;

-- query/values.sql

-- The parser of what follows the colon of a field. Each rule takes the state at its first token and
-- answers it after its last, with the tree as node.

-- A term under the sign that stands before it, or none.
create function logloom_private.query_check_signed(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  p_state := logloom_private.query_spend(p_state, 1);
  case p_sign
    when '' then
      p_state := logloom_private.query_warn_value(p_state, p_field, p_token, p_position);
      return logloom_private.query_check_term(p_state, p_field, p_token, p_position);
    when '=' then
      p_state := logloom_private.query_warn_exact(p_state, p_field, p_token, p_position);
      return logloom_private.query_check_exact(p_state, p_field, p_token, p_position);
    else
      return logloom_private.query_check_folded(p_state, p_field, p_sign, p_token, p_position);
  end case;
end;
$$;

revoke all on function logloom_private.query_check_signed(
  logloom_private.query_state, jsonb, text, text, integer
) from public;

-- field:(a OR b), field:=(a OR b). The exact texts become one leaf, so that an index can serve them
-- together.
create function logloom_private.query_parse_any_of(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_depth constant integer := p_state.depth;
  v_values jsonb := '[]'::jsonb;
  v_items jsonb[] := '{}'::jsonb[];
  v_token text;
begin
  p_state := logloom_private.query_deepen(p_state, p_state.positions[p_state."at"]);
  p_state."at" := p_state."at" + 1;
  loop
    v_token := p_state.texts[p_state."at"];
    if v_token in ('AND', 'NOT') then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.word_is_not_for_lists', v_token
      );
    elsif v_token = 'OR' or not logloom_private.query_is_term(v_token) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.value_is_missing_in_a_list'
      );
    end if;
    p_state := logloom_private.query_count_leaf(p_state, p_state.positions[p_state."at"]);
    p_state := logloom_private.query_warn_listed(p_state, v_token);
    p_state := logloom_private.query_check_signed(
      p_state, p_field, p_sign, v_token, p_state.positions[p_state."at"]
    );
    if p_state.node ->> 'test' = 'equal' then
      v_values := v_values || (p_state.node -> 'values');
    else
      v_items := v_items || p_state.node;
    end if;

    p_state := logloom_private.query_go_on(p_state);
    exit when p_state.texts[p_state."at"] = ')';
    if p_state.texts[p_state."at"] = 'OR' then
      p_state := logloom_private.query_go_on(p_state);
    end if;
  end loop;

  if jsonb_array_length(v_values) > 0 then
    v_items := logloom_private.query_leaf(
      p_field,
      jsonb_build_object('test', 'equal', 'values', v_values)
        || case p_sign when 'i=' then '{"fold": true}'::jsonb else '{}'::jsonb end
    ) || v_items;
  end if;
  p_state.node := case when cardinality(v_items) = 1 then v_items[1]
    else jsonb_build_object('type', 'or', 'items', to_jsonb(v_items)) end;
  p_state."at" := p_state."at" + 1;
  p_state.depth := v_depth;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_parse_any_of(
  logloom_private.query_state, jsonb, text
) from public;

-- field:[a TO b}
create function logloom_private.query_parse_range(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_first constant integer := p_state."at";
begin
  p_state."at" := v_first + 1;
  for v_bound in 1 .. 2 loop
    if not logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.bound_is_missing');
    end if;
    p_state := logloom_private.query_go_on(p_state);
    if v_bound = 1 and p_state.texts[p_state."at"] <> 'TO' then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.to_is_missing');
    elsif v_bound = 1 then
      p_state := logloom_private.query_go_on(p_state);
    end if;
  end loop;
  if p_state.texts[v_first + 4] not in (']', '}') then
    perform logloom_private.refuse_at(p_state.positions[v_first + 4], 'query.range_is_not_closed');
  end if;
  p_state."at" := v_first + 5;
  return logloom_private.query_check_range(p_state, p_field, (
    nullif(p_state.texts[v_first + 1], '*'), p_state.positions[v_first + 1],
    p_state.texts[v_first] = '{',
    nullif(p_state.texts[v_first + 3], '*'), p_state.positions[v_first + 3],
    p_state.texts[v_first + 4] = '}'
  )::logloom_private.query_range);
end;
$$;

revoke all on function logloom_private.query_parse_range(
  logloom_private.query_state, jsonb
) from public;

-- Takes p_sign off the token that comes next. What it applies to is the rest of the token, or the
-- next one where nothing is left.
create function logloom_private.query_take_sign(
  p_state logloom_private.query_state,
  p_sign text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_state.texts[p_state."at"] = p_sign then
    p_state."at" := p_state."at" + 1;
  else
    p_state.texts[p_state."at"] := substr(p_state.texts[p_state."at"], char_length(p_sign) + 1);
    p_state.positions[p_state."at"] := p_state.positions[p_state."at"] + char_length(p_sign);
  end if;
  if not logloom_private.query_is_term(p_state.texts[p_state."at"])
    and not (p_state.texts[p_state."at"] = '(' and right(p_sign, 1) = '='
      and p_sign not in ('>=', '<='))
  then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      case when left(p_sign, 1) in ('<', '>') then 'query.comparison_needs_a_value'
        else 'query.test_needs_a_value' end,
      p_sign
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_take_sign(
  logloom_private.query_state, text
) from public;

-- field:>=5
create function logloom_private.query_parse_comparison(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_operator constant text := substring(p_state.texts[p_state."at"] from '^[<>]=?');
  v_token text;
  v_position integer;
begin
  p_state := logloom_private.query_take_sign(p_state, v_operator);
  v_token := p_state.texts[p_state."at"];
  v_position := p_state.positions[p_state."at"];
  p_state := logloom_private.query_go_on(p_state);
  if left(v_operator, 1) = '>' then
    return logloom_private.query_check_range(
      p_state, p_field,
      (v_token, v_position, v_operator = '>', null, v_position, false)::logloom_private.query_range
    );
  end if;
  return logloom_private.query_check_range(
    p_state, p_field,
    (null, v_position, false, v_token, v_position, v_operator = '<')::logloom_private.query_range
  );
end;
$$;

revoke all on function logloom_private.query_parse_comparison(
  logloom_private.query_state, jsonb
) from public;

-- field:~"regex"
create function logloom_private.query_parse_regex(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_at constant integer := p_state."at";
begin
  if p_state.texts[v_at] <> '~' or left(p_state.texts[v_at + 1], 1) <> '"' then
    perform logloom_private.refuse_at(p_state.positions[v_at], 'query.regex_is_not_quoted');
  end if;
  p_state := logloom_private.query_check_regex(
    p_state, p_field, p_state.texts[v_at + 1], p_state.positions[v_at + 1]
  );
  return logloom_private.query_go_on(p_state, 2);
end;
$$;

revoke all on function logloom_private.query_parse_regex(
  logloom_private.query_state, jsonb
) from public;

-- What follows the colon of a field.
create function logloom_private.query_parse_value(
  p_state logloom_private.query_state,
  p_field jsonb
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_first constant text := left(p_state.texts[p_state."at"], 1);
  v_sign constant text :=
    coalesce(substring(p_state.texts[p_state."at"] from '^(?:=|i=|w=)'), '');
begin
  if v_first = '(' then
    return logloom_private.query_parse_any_of(p_state, p_field, '');
  elsif v_sign <> '' then
    p_state := logloom_private.query_take_sign(p_state, v_sign);
    if p_state.texts[p_state."at"] = '(' then
      return logloom_private.query_parse_any_of(p_state, p_field, v_sign);
    end if;
  end if;
  p_state := logloom_private.query_count_leaf(p_state, p_state.positions[p_state."at"]);
  if v_first in ('[', '{') then
    return logloom_private.query_parse_range(p_state, p_field);
  elsif v_first in ('<', '>') then
    return logloom_private.query_parse_comparison(p_state, p_field);
  elsif v_first = '~' then
    return logloom_private.query_parse_regex(p_state, p_field);
  end if;
  p_state := logloom_private.query_check_signed(
    p_state, p_field, v_sign, p_state.texts[p_state."at"], p_state.positions[p_state."at"]
  );
  return logloom_private.query_go_on(p_state);
end;
$$;

revoke all on function logloom_private.query_parse_value(
  logloom_private.query_state, jsonb
) from public;

-- query/warnings.sql

-- Silent traps: what is valid here, means something else elsewhere, and so looks for what nobody
-- wants. Quoted texts are never warned about: who quotes a text means it.

create function logloom_private.query_warn(
  p_state logloom_private.query_state,
  p_position integer,
  p_message text,
  p_suggestion text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if jsonb_array_length(p_state.warnings) < 10 then
    p_state.warnings := p_state.warnings || jsonb_build_object(
      'position', p_position, 'message', p_message, 'suggestion', left(p_suggestion, 200)
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_warn(
  logloom_private.query_state, integer, text, text
) from public;

-- A text as a value, quoted where it must be.
create function logloom_private.query_quote(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_text ~ '^[[:alnum:]_./*?-]+$' then
    return p_text;
  end if;
  return '"' || regexp_replace(p_text, '(["\\])', '\\\1', 'g') || '"';
end;
$$;

revoke all on function logloom_private.query_quote(text) from public;

-- What is wrong with a word wherever it stands: {message, suggestion}, or null. The suggestion
-- stands for the word.
create function logloom_private.query_word_trap(
  p_state logloom_private.query_state,
  p_token text
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_end integer;
begin
  if p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]' then
    return jsonb_build_object(
      'message', 'Typographic quotes and colons are plain characters: ' || p_token
        || ' is looked for with them',
      'suggestion', translate(p_token, '“”„‟«»＂：‘‚’‹', '""""""":""""')
    );
  elsif left(p_token, 1) = '''' and char_length(p_token) > 1 then
    select min(n) into v_end
    from generate_series(p_state."at", cardinality(p_state.texts)) n
    where right(p_state.texts[n], 1) = '''';
    if v_end is not null then
      return jsonb_build_object(
        'message', 'A single quote is a plain character: ' || p_token || ' is looked for with it',
        'suggestion', '"' || btrim(
          p_token || coalesce(
            ' ' || array_to_string(p_state.texts[p_state."at" + 1:v_end], ' '), ''
          ), ' '''
        ) || '"'
      );
    end if;
  elsif strpos(p_token, '&&') > 0 then
    return jsonb_build_object(
      'message', '&& is looked for as a text: terms side by side mean AND',
      'suggestion', replace(p_token, '&&', case p_token when '&&' then 'AND' else ' AND ' end)
    );
  elsif p_token ~ '^/.*[.*+?\\^$].*/$' then
    return jsonb_build_object(
      'message', 'A slash is a plain character, this is no regular expression',
      'suggestion', '~"' || replace(btrim(p_token, '/'), '"', '\"') || '"'
    );
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.query_word_trap(
  logloom_private.query_state, text
) from public;

-- name=value, name!=value, name>5 as a free term: the query that was meant, or null.
create function logloom_private.query_meant_comparison(p_token text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_parts constant text[] := regexp_match(
    p_token, '^(@?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(==|!=|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text := v_parts[1];
begin
  if v_parts is null then
    return null;
  elsif left(v_name, 1) <> '@' and left(v_name, 6) <> 'attrs.' then
    v_name := coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
  end if;
  return case when left(v_parts[2], 1) = '!' then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_parts[3], '"', '\"') || '"'
      when v_parts[2] in ('=', '==', '!=') then logloom_private.query_quote(v_parts[3])
      else v_parts[2] || v_parts[3]
    end;
end;
$$;

revoke all on function logloom_private.query_meant_comparison(text) from public;

-- The free term that comes next.
create function logloom_private.query_warn_free(p_state logloom_private.query_state)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_word constant text := lower(v_token collate "C");
  v_next constant text := lower(coalesce(p_state.texts[p_state."at" + 1], '') collate "C");
  v_trap jsonb;
  v_message text;
  v_suggestion text;
begin
  if left(v_token, 1) = '"' then
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is looked for as a word: operators are in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is looked for as words: an aggregate follows a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is looked for as a word: a stage follows a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_word = 'select' and p_state."at" = 1
    and lower(p_state.texts::text collate "C")::text[] && array['from', '*', 'where']
  then
    v_message := 'This is no SQL: each of its words is looked for in msg';
    v_suggestion := 'service:api level:error';
  elsif v_word = 'is' and v_next in ('null', 'not') then
    v_message := 'is is looked for as a word';
    v_suggestion := case v_next when 'null' then '-' else '' end
      || coalesce(p_state.texts[p_state."at" - 1], 'field') || ':*';
  elsif v_word = 'in' and v_next = '(' then
    v_message := 'in is looked for as a word';
    v_suggestion := coalesce(p_state.texts[p_state."at" - 1], 'field') || ':(a OR b)';
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := 'A shift from now is written without a blank: this one is looked for as a text';
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token ~ '^!.' then
    v_message := '! is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := '+ is a plain character: ' || v_token || ' is looked for with it';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := 'No term is fuzzy or boosted: ' || v_token || ' is looked for as it is';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is no wildcard: a word is found anywhere in msg as it is';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap ->> 'message';
    v_suggestion := case when left(v_trap ->> 'suggestion', 1) = '~' then 'msg:' else '' end
      || (v_trap ->> 'suggestion');
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is looked for as a text: a field is followed by a colon';
    end if;
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$$;

revoke all on function logloom_private.query_warn_free(logloom_private.query_state) from public;

-- A value without a sign. p_token is the one that comes next, or one in a list.
create function logloom_private.query_warn_value(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_field ->> 'name';
  v_trap jsonb;
  v_message text;
  v_suggestion text;
begin
  if left(p_token, 1) = '"' then
    return p_state;
  elsif p_token ~ '^!=*.' then
    v_message := format('! is a plain character: the value %s is looked for', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is looked for as a text: a field without a value is found by :*';
    v_suggestion := format('-%s:*', v_name);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma is a plain character: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is looked for as a text: numbers have ranges', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap ->> 'message';
    v_suggestion := v_name || ':' || (v_trap ->> 'suggestion');
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$$;

revoke all on function logloom_private.query_warn_value(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- The value after =, which is = or a comparison of other languages.
create function logloom_private.query_warn_exact(
  p_state logloom_private.query_state,
  p_field jsonb,
  p_token text,
  p_position integer
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_token ~ '^=+[^=]' then
    return logloom_private.query_warn(
      p_state, p_position, 'The second = belongs to the value that is looked for',
      format('%s:=%s', p_field ->> 'name', ltrim(p_token, '='))
    );
  elsif p_token ~ '^[<>].' then
    return logloom_private.query_warn(
      p_state, p_position, format('The value %s is looked for: = stands after > or <', p_token),
      format('%s:%s=%s', p_field ->> 'name', left(p_token, 1), substr(p_token, 2))
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_warn_exact(
  logloom_private.query_state, jsonb, text, integer
) from public;

-- A word in field:(a or b).
create function logloom_private.query_warn_listed(
  p_state logloom_private.query_state,
  p_token text
)
returns logloom_private.query_state
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if lower(p_token collate "C") in ('and', 'or', 'not') then
    return logloom_private.query_warn(
      p_state, p_state.positions[p_state."at"],
      format('%s is looked for as a value: OR is in upper case', p_token),
      'OR'
    );
  elsif right(p_token, 1) = ',' and char_length(p_token) > 1 then
    return logloom_private.query_warn(
      p_state, p_state.positions[p_state."at"],
      format('A comma is a plain character: the value %s is looked for', p_token),
      rtrim(p_token, ',') || ' OR'
    );
  end if;
  return p_state;
end;
$$;

revoke all on function logloom_private.query_warn_listed(
  logloom_private.query_state, text
) from public;

-- sealed_logs/types/column_values.sql

create type logloom_private.column_values as (texts text[]);

comment on type logloom_private.column_values is
  'The values of a column, as an element of an array of columns.';

-- sealed_logs/tables/sealed_chunks.sql

-- Sealed records: chunks of a tenant's records as compressed columns.
--
-- The records of a chunk are sorted by service, level, the message's mask, ts and id, in collation
-- C; a position is a place in that order, 1-based. A mask is a text with each digit replaced by 0:
-- of the same length, and lossless beside the digits. Runs of an equal service and level are
-- sections; in a section each mask is stored once, with how many records have it.

create table logloom_private.sealed_chunks (
  chunk_id bigint generated always as identity,
  first_ts timestamptz not null,
  last_ts timestamptz not null,
  first_arrival bigint not null,
  last_arrival bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  sealed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null,
  records integer not null,
  ts_unit integer not null,
  tenant_id text not null,
  separator text not null,
  section_services text[] not null,
  section_levels text[] not null,
  section_records integer[] not null,
  section_masks integer[] not null,
  section_digits integer[] not null,
  masks text[] compression lz4 not null,
  folded_masks text[] compression lz4 not null,
  mask_records integer[] compression lz4 not null,
  digits bytea compression lz4 not null,
  ts_low smallint[] compression lz4 not null,
  ts_middle smallint[] compression lz4,
  ts_high smallint[] compression lz4,
  batch_prefixes bytea compression lz4 not null,
  batch_received_at timestamptz[] compression lz4 not null,
  batch_arrivals bigint[] compression lz4 not null,
  batch_codes "char"[] compression lz4,
  wide_batch_codes smallint[] compression lz4,
  id_indexes smallint[] compression lz4 not null,
  primary key (tenant_id, chunk_id)
);

create index sealed_chunks_tenant_id_last_ts_idx
on logloom_private.sealed_chunks (tenant_id, last_ts, first_ts);
create index sealed_chunks_tenant_id_last_arrival_idx
on logloom_private.sealed_chunks (tenant_id, last_arrival);

create index sealed_chunks_chunk_id_idx on logloom_private.sealed_chunks (chunk_id);
create index sealed_chunks_last_ts_idx on logloom_private.sealed_chunks (last_ts);

alter table logloom_private.sealed_chunks enable row level security;
alter table logloom_private.sealed_chunks force row level security;

comment on table logloom_private.sealed_chunks is
  'Records of days that are over, up to settings.seal_chunk_records in a row; the columns of a '
  'chunk are in logloom_private.sealed_columns. A record is here or in logloom.logs, not in both.';

comment on column logloom_private.sealed_chunks.bytes is
  'What the chunk and its columns take, compressed, without indexes.';

comment on column logloom_private.sealed_chunks.separator is
  'Ends each mask in masks and folded_masks. No message of the chunk holds it.';

comment on column logloom_private.sealed_chunks.section_masks is
  'How many masks a section has; 0 where its records have no message.';

comment on column logloom_private.sealed_chunks.section_digits is
  'How many digits stand before those of a section''s messages.';

comment on column logloom_private.sealed_chunks.masks is
  'Of each section its masks, in order, each ended by the separator.';

comment on column logloom_private.sealed_chunks.folded_masks is
  'masks in lower case; null where a section''s are the same.';

comment on column logloom_private.sealed_chunks.mask_records is
  'How many records have each mask, over all sections.';

comment on column logloom_private.sealed_chunks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.sealed_chunks.ts_unit is
  'Microseconds of a step of ts: 1000, or 1 where a record needs it. ts_low, ts_middle and ts_high '
  'are 16 bits each of the steps from first_ts on, less 32768; null where all are 0.';

comment on column logloom_private.sealed_chunks.batch_prefixes is
  'The batches that the records came in: 14 bytes of their ids each. Beside it when each was '
  'received and which step of the writer wrote it.';

comment on column logloom_private.sealed_chunks.batch_codes is
  'The number of a record''s batch less 129; where there are more than 256, it is in '
  'wide_batch_codes; both are null where there is one.';

comment on column logloom_private.sealed_chunks.id_indexes is
  'The last two bytes of each id, as a signed number.';

-- sealed_logs/tables/sealed_columns.sql

create table logloom_private.sealed_columns (
  chunk_id bigint not null,
  least bigint,
  greatest bigint,
  first integer not null,
  last integer not null,
  tenant_id text not null,
  name text not null,
  kind text not null,
  dictionary text[] compression lz4,
  counts integer[] compression lz4,
  codes "char"[] compression lz4,
  wide_codes smallint[] compression lz4,
  numbers integer[] compression lz4,
  wide_numbers bigint[] compression lz4,
  texts text[] compression lz4,
  digits bytea compression lz4,
  filter varbit,
  primary key (tenant_id, chunk_id, name),
  foreign key (tenant_id, chunk_id)
  references logloom_private.sealed_chunks (tenant_id, chunk_id) on delete cascade,
  constraint sealed_columns_kind_is_known check (
    kind in ('dictionary', 'numbers', 'masked', 'texts')
  )
);

alter table logloom_private.sealed_columns enable row level security;
alter table logloom_private.sealed_columns force row level security;

comment on table logloom_private.sealed_columns is
  'The values of a field, or of a top-level key of attrs, at positions first to last of a chunk; '
  'beyond them it has none. A column of nulls is not stored.';

comment on column logloom_private.sealed_columns.name is
  'env, req_id, user_id, route or host; attrs. and a key, whose values are JSON texts; or attrs, '
  'which holds the keys that are too rare or too long for a column, {} where there are none, and '
  'is null where attrs is null.';

comment on column logloom_private.sealed_columns.kind is
  'dictionary: values by frequency, counts and codes. numbers: whole numbers. masked: as '
  'dictionary, but of masks; digits holds theirs in the order of code and position. texts: as they '
  'are.';

comment on column logloom_private.sealed_columns.filter is
  'Of req_id and user_id where they have no dictionary or a large one: bits that tell of a value '
  'whether it may be one of the column''s.';

comment on column logloom_private.sealed_columns.codes is
  'Places in dictionary less 129; in wide_codes, the places themselves, where there are more than '
  '256; both are null where all values are the same.';

-- sealed_logs/bits.sql

-- Which records of a chunk a query finds, as bit strings over its positions.
--
-- A node of the query's tree answers with two: surely and perhaps. What is perhaps and not surely
-- is read and put to the row filter, so that a leaf that this does not know is right, only slow.

create function logloom_private.no_bits(p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return repeat('0', p_records)::varbit;
end;
$$;

revoke all on function logloom_private.no_bits(integer) from public;

comment on function logloom_private.no_bits(integer) is
  'As many zero bits.';

create function logloom_private.is_zero(p_bits varbit)
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return bit_count(p_bits) = 0;
end;
$$;

revoke all on function logloom_private.is_zero(varbit) from public;

comment on function logloom_private.is_zero(varbit) is
  'Whether no bit is set.';

-- The positions of the bits that are set, ascending.
create function logloom_private.bit_positions(p_bits varbit)
returns integer[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_gaps text[];
begin
  if bit_count(p_bits) = 0 then
    return '{}';
  end if;
  v_gaps := string_to_array(p_bits::text, '1');
  return array(
    select (sum(length(g.gap) + 1) over (order by g.n))::integer
    from unnest(v_gaps[:cardinality(v_gaps) - 1]) with ordinality g (gap, n)
    order by g.n
  );
end;
$$;

revoke all on function logloom_private.bit_positions(varbit) from public;

comment on function logloom_private.bit_positions(varbit) is
  'The places of the bits that are set, 1-based, ascending.';

-- Bits of all positions from those of a column's.
create function logloom_private.widen_bits(
  p_bits text,
  p_first integer,
  p_records integer,
  p_outside boolean
)
returns varbit
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_fill constant text := case when p_outside then '1' else '0' end;
begin
  return (
    repeat(v_fill, p_first - 1) || p_bits
      || repeat(v_fill, p_records - p_first + 1 - length(p_bits))
  )::varbit;
end;
$$;

revoke all on function logloom_private.widen_bits(text, integer, integer, boolean) from public;

comment on function logloom_private.widen_bits(text, integer, integer, boolean) is
  'Bits from position p_first on as bits of all records; p_outside: of those beyond.';

-- A bit string with the bits at ascending positions set.
create function logloom_private.position_bits(p_positions integer[], p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  if coalesce(cardinality(p_positions), 0) = 0 then
    return logloom_private.no_bits(p_records);
  end if;
  return (
    (
      select string_agg(repeat('0', p.position - p.before - 1) || '1', '' order by p.position)
      from (
        select x.position, lag(x.position, 1, 0) over (order by x.position) as before
        from unnest(p_positions) x (position)
      ) p
    ) || repeat('0', p_records - p_positions[cardinality(p_positions)])
  )::varbit;
end;
$$;

revoke all on function logloom_private.position_bits(integer[], integer) from public;

comment on function logloom_private.position_bits(integer[], integer) is
  'As many bits, those at the ascending positions set.';

-- sealed_logs/chunk_attributes.sql

-- The attributes at positions, all where null; of p_keys only, where that is given.
create function logloom_private.chunk_attributes(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[],
  p_keys text[]
)
returns jsonb[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_column logloom_private.sealed_columns;
  v_values logloom_private.column_values[] := '{}';
  v_bounds integer[] := array[1, v_records + 1];
  v_from integer[] := '{}';
  v_to integer[] := '{}';
  v_names text[] := '{}';
  v_within integer[];
  v_lower integer;
  v_upper integer;
  v_rest boolean;
  v_rest_is_empty boolean := false;
  v_arrays text;
  v_names_sql text;
  v_sql text;
  v_part jsonb[];
  v_attributes jsonb[] := '{}';
begin
  -- The columns, and which of the wanted records each covers.
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and (
        c.name = 'attrs'
        or left(c.name, 6) = 'attrs.' and (p_keys is null or substr(c.name, 7) = any(p_keys))
      )
    order by c.name collate "C"
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    v_within := null;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
      v_within := p_positions[v_lower:v_upper];
    end if;
    continue when v_lower > v_upper;
    v_from := v_from || v_lower;
    v_to := v_to || v_upper;
    v_names := v_names || v_column.name;
    v_rest_is_empty := v_rest_is_empty or (
      v_column.name = 'attrs' and v_column.codes is null and v_column.wide_codes is null
      and v_column.dictionary = array['{}']
    );
    v_bounds := v_bounds || v_lower || (v_upper + 1);
    v_values := v_values || row(
      logloom_private.column_texts(v_column, v_within)
    )::logloom_private.column_values;
  end loop;

  -- Between two bounds the same columns cover all records.
  v_bounds := array(select distinct b from unnest(v_bounds) b order by b);
  for v_at in 1..cardinality(v_bounds) - 1 loop
    v_lower := v_bounds[v_at];
    v_upper := v_bounds[v_at + 1] - 1;
    v_rest := false;
    v_arrays := '';
    v_names_sql := '';
    v_sql := '';
    for v_name in 1..cardinality(v_names) loop
      continue when v_from[v_name] > v_lower or v_to[v_name] < v_upper;
      v_arrays := v_arrays || format(
        ', (($1)[%s]).texts[%s:%s]',
        v_name, v_lower - v_from[v_name] + 1, v_upper - v_from[v_name] + 1
      );
      v_names_sql := v_names_sql || ', c' || v_name;
      if v_names[v_name] = 'attrs' then
        v_rest := true;
        v_sql := v_sql || format(', nullif(substr(c%1$s, 2, length(c%1$s) - 2), '''')', v_name);
      else
        v_sql := v_sql || format(
          ', %L || c%s', to_json(substr(v_names[v_name], 7)) || ':', v_name
        );
      end if;
    end loop;
    if not v_rest then
      -- No record of these has attributes.
      v_part := array_fill(null::jsonb, array[v_upper - v_lower + 1]);
    elsif v_rest_is_empty and v_names_sql = ', c' || array_position(v_names, 'attrs') then
      -- All have the same, which is nothing.
      v_part := array_fill('{}'::jsonb, array[v_upper - v_lower + 1]);
    else
      execute format(
        $query$
          select array_agg(
            case when u.c%s is not null then ('{' || concat_ws(',' %s) || '}')::jsonb end
            order by u.n
          )
          from unnest(%s) with ordinality u (%s, n)
        $query$,
        array_position(v_names, 'attrs'), v_sql, substr(v_arrays, 3), substr(v_names_sql, 3)
      )
      into v_part
      using v_values;
    end if;
    v_attributes := v_attributes || v_part;
  end loop;
  return v_attributes;
end;
$$;

revoke all on function logloom_private.chunk_attributes(
  logloom_private.sealed_chunks, integer[], text[]
) from public;

comment on function logloom_private.chunk_attributes(
  logloom_private.sealed_chunks, integer[], text[]
) is
  'attrs at ascending positions of a chunk, all where null; of p_keys only, where that is given.';

-- sealed_logs/chunk_bits.sql

-- surely and perhaps of a node of a query's tree.
create function logloom_private.node_bits(
  p_chunk logloom_private.sealed_chunks,
  p_node jsonb
)
returns varbit[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_none constant varbit := logloom_private.no_bits(p_chunk.records);
  v_bits varbit;
  v_item varbit[];
  v_result varbit[];
  v_node jsonb;
  v_column logloom_private.sealed_columns;
begin
  case v_type
    when 'all' then
      return array[~v_none, ~v_none];
    when 'none' then
      return array[v_none, v_none];
    when 'not' then
      v_item := logloom_private.node_bits(p_chunk, p_node -> 'item');
      return array[~v_item[2], ~v_item[1]];
    when 'and' then
      v_result := array[~v_none, ~v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_chunk, v_node);
        v_result := array[v_result[1] & v_item[1], v_result[2] & v_item[2]];
        exit when bit_count(v_result[2]) = 0;
      end loop;
      return v_result;
    when 'or' then
      v_result := array[v_none, v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_chunk, v_node);
        v_result := array[v_result[1] | v_item[1], v_result[2] | v_item[2]];
      end loop;
      return v_result;
    when 'leaf' then
      -- A leaf that says more than is known here is for the row filter.
      if exists (
        select
        from jsonb_object_keys(p_node) k
        where k not in (
          'type', 'field', 'name', 'path', 'joined', 'test', 'values', 'pattern', 'fold', 'size',
          'position', 'lower', 'lower_open', 'upper', 'upper_open', 'from', 'to'
        )
      ) then
        return array[v_none, ~v_none];
      elsif p_node ->> 'field' in ('service', 'level') then
        v_bits := logloom_private.section_bits(p_chunk, p_node);
      elsif p_node ->> 'field' = 'msg' then
        return logloom_private.message_bits(p_chunk, p_node);
      elsif p_node ->> 'field' in ('env', 'req_id', 'user_id', 'route', 'host') then
        select c.* into v_column
        from logloom_private.sealed_columns c
        where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
          and c.name = p_node ->> 'field';
        if v_column.chunk_id is not null then
          v_bits := logloom_private.column_bits(v_column, p_node, p_chunk.records);
        else
          v_bits := repeat(
            logloom_private.tested_values(
              logloom_private.query_sql(p_node, 'l'), p_node ->> 'field', null, array[null::text]
            ),
            p_chunk.records
          )::varbit;
        end if;
      elsif p_node ->> 'field' = 'attrs' and jsonb_typeof(p_node -> 'path') = 'array' then
        v_bits := logloom_private.attribute_bits(p_chunk, p_node);
      elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within'
        and coalesce((p_node ->> 'from')::timestamptz <= p_chunk.first_ts, true)
        and coalesce((p_node ->> 'to')::timestamptz > p_chunk.last_ts, true)
      then
        v_bits := ~v_none;
      else
        return array[v_none, ~v_none];
      end if;
      return array[v_bits, v_bits];
    else
      return array[v_none, ~v_none];
  end case;
end;
$$;

revoke all on function logloom_private.node_bits(logloom_private.sealed_chunks, jsonb) from public;

comment on function logloom_private.node_bits(logloom_private.sealed_chunks, jsonb) is
  'A node of a query''s tree: the bits that are sure, and those that may be.';

create function logloom_private.chunk_bits(
  p_chunk logloom_private.sealed_chunks,
  p_tree jsonb,
  p_filter text,
  p_fields text[],
  p_keys text[],
  p_from timestamptz,
  p_to timestamptz
)
returns varbit
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_bits varbit[];
  v_within text;
  v_rest varbit;
  v_positions integer[];
  v_found integer[];
begin
  v_bits := logloom_private.node_bits(p_chunk, coalesce(p_tree, '{"type": "unknown"}'));
  if bit_count(v_bits[2]) > 0 and (p_chunk.first_ts < p_from or p_chunk.last_ts >= p_to) then
    select string_agg(case when t.ts >= p_from and t.ts < p_to then '1' else '0' end, ''
      order by t.n)
    into v_within
    from unnest(logloom_private.chunk_times(p_chunk, null)) with ordinality t (ts, n);
    v_bits := array[v_bits[1] & v_within::varbit, v_bits[2] & v_within::varbit];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_positions := logloom_private.bit_positions(v_rest);
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3, $4) l
      ) l on l.n = p.n
      where %s
    $query$,
    p_filter
  )
  into v_found
  using v_positions, p_chunk, p_fields, p_keys;
  return v_bits[1] | logloom_private.position_bits(v_found, p_chunk.records);
end;
$$;

revoke all on function logloom_private.chunk_bits(
  logloom_private.sealed_chunks, jsonb, text, text[], text[], timestamptz, timestamptz
) from public;

comment on function logloom_private.chunk_bits(
  logloom_private.sealed_chunks, jsonb, text, text[], text[], timestamptz, timestamptz
) is
  'Which records of a chunk a query finds in [p_from, p_to). p_tree and p_filter are the '
  'query''s, the tree null where only the filter is at hand; p_fields and p_keys what the filter '
  'reads.';

-- sealed_logs/chunk_filters.sql

-- Which chunks may hold a value of a field that names one thing among many, a request above all:
-- a search for it over a month looks at a thousand chunks, and a look must cost little.

create function logloom_private.filter_places(p_value text, p_size integer)
returns integer[]
language plpgsql
immutable
strict
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_hash constant bigint := hashtextextended(p_value, 0);
begin
  return array[
    (v_hash & 2147483647) % p_size + 1, (v_hash >> 32 & 2147483647) % p_size + 1
  ];
end;
$$;

revoke all on function logloom_private.filter_places(text, integer) from public;

comment on function logloom_private.filter_places(text, integer) is
  'The two places, from 1 on, at which a filter of p_size bits has a value.';

create function logloom_private.value_filter(p_values text[])
returns varbit
language plpgsql
immutable
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  -- One value in forty of those that are not there looks as if it were.
  v_size constant integer := 12 * cardinality(p_values);
begin
  return logloom_private.position_bits(
    array(
      select distinct p
      from unnest(p_values) v, unnest(logloom_private.filter_places(v, v_size)) p
      order by p
    ),
    v_size
  );
end;
$$;

revoke all on function logloom_private.value_filter(text[]) from public;

comment on function logloom_private.value_filter(text[]) is
  'Bits that tell of a value whether it may be one of p_values.';

create function logloom_private.filter_may_hold(p_filter varbit, p_values text[])
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_size constant integer := length(p_filter);
  v_value text;
  v_places integer[];
begin
  foreach v_value in array p_values loop
    v_places := logloom_private.filter_places(v_value, v_size);
    if get_bit(p_filter, v_places[1] - 1) = 1 and get_bit(p_filter, v_places[2] - 1) = 1 then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

revoke all on function logloom_private.filter_may_hold(varbit, text[]) from public;

comment on function logloom_private.filter_may_hold(varbit, text[]) is
  'Whether one of p_values may be among those that the filter was made of.';

-- The first leaf of a query without which no record is found, and which names a value.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select n
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (n, at)
    where n ->> 'type' = 'leaf' and n ->> 'test' = 'equal'
      and n ->> 'field' in ('req_id', 'user_id', 'route', 'host', 'env')
      and n - array['type', 'field', 'name', 'test', 'values', 'size', 'position'] = '{}'
    order by array_position(array['req_id', 'user_id', 'route', 'host', 'env'], n ->> 'field'), at
    limit 1
  );
end;
$$;

revoke all on function logloom_private.needed_leaf(jsonb) from public;

comment on function logloom_private.needed_leaf(jsonb) is
  'Of a query''s tree a leaf that every record it finds passes and that names values of a field; '
  'null where there is none.';

create function logloom_private.candidate_chunks(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb
)
returns setof bigint
language plpgsql
stable
security invoker
set search_path = ''
rows 100
as $$
declare
  v_leaf constant jsonb := logloom_private.needed_leaf(p_tree);
  v_values constant text[] := array(select jsonb_array_elements_text(v_leaf -> 'values'));
begin
  return query
  select c.chunk_id
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
    and (
      v_leaf is null or coalesce(
        (
          -- A value, not exists: that could be answered by looking at all of the tenant's chunks.
          select case
            when k.filter is not null
              then logloom_private.filter_may_hold(k.filter, v_values)
            when k.kind = 'dictionary' then k.dictionary && v_values
            else true
          end
          from logloom_private.sealed_columns k
          where k.tenant_id = p_tenant_id and k.chunk_id = c.chunk_id
            and k.name = v_leaf ->> 'field'
        ),
        -- Without the column no record has a value.
        false
      )
    );
end;
$$;

revoke all on function logloom_private.candidate_chunks(
  text, timestamptz, timestamptz, jsonb
) from public;

comment on function logloom_private.candidate_chunks(text, timestamptz, timestamptz, jsonb) is
  'The chunks of a tenant that have records in [p_from, p_to), without those of which a value that '
  'the query needs says that they hold none of them.';

-- sealed_logs/chunk_keys.sql

create function logloom_private.chunk_times(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[]
)
returns timestamptz[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_first constant timestamptz := p_chunk.first_ts;
  v_unit constant interval := p_chunk.ts_unit * interval '1 microsecond';
  v_low smallint[] := p_chunk.ts_low;
  v_middle smallint[] := p_chunk.ts_middle;
  v_high smallint[] := p_chunk.ts_high;
begin
  if p_positions is null then
    return array(
      select v_first + v_unit * (
        (o.low + 32768) + (coalesce(o.middle, -32768) + 32768) * 65536::bigint
          + (coalesce(o.high, -32768) + 32768) * 4294967296
      )::double precision
      from unnest(v_low, v_middle, v_high) with ordinality o (low, middle, high, n)
      order by o.n
    );
  end if;
  return array(
    select v_first + v_unit * (
      (v_low[p.position] + 32768) + (coalesce(v_middle[p.position], -32768) + 32768) * 65536::bigint
        + (coalesce(v_high[p.position], -32768) + 32768) * 4294967296
    )::double precision
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;

revoke all on function logloom_private.chunk_times(
  logloom_private.sealed_chunks, integer[]
) from public;

comment on function logloom_private.chunk_times(logloom_private.sealed_chunks, integer[]) is
  'ts at positions of a chunk, all where null.';

-- The batch of each position, 1-based.
create function logloom_private.chunk_batches(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[]
)
returns integer[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_bytes "char"[] := p_chunk.batch_codes;
  v_numbers smallint[] := p_chunk.wide_batch_codes;
begin
  if v_bytes is null and v_numbers is null then
    return array_fill(1, array[coalesce(cardinality(p_positions), p_chunk.records)]);
  elsif p_positions is null then
    return array(
      select coalesce(b.byte::integer + 129, b.number)
      from unnest(v_bytes, v_numbers) with ordinality b (byte, number, n)
      order by b.n
    );
  end if;
  return array(
    select coalesce(v_bytes[p.position]::integer + 129, v_numbers[p.position])
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;

revoke all on function logloom_private.chunk_batches(
  logloom_private.sealed_chunks, integer[]
) from public;

comment on function logloom_private.chunk_batches(logloom_private.sealed_chunks, integer[]) is
  'The number of the batch (1-based) at positions of a chunk, all where null.';

create function logloom_private.chunk_ids(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[],
  p_batches integer[]
)
returns uuid[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_prefixes constant text := encode(p_chunk.batch_prefixes, 'hex');
  v_prefix text[];
  v_indexes smallint[] := p_chunk.id_indexes;
begin
  v_prefix := array(
    select encode(substring(p_chunk.batch_prefixes from 1 + 14 * i for 14), 'hex')
    from generate_series(0, octet_length(p_chunk.batch_prefixes) / 14 - 1) i
  );
  if p_positions is not null then
    v_indexes := array(
      select v_indexes[p.position] from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  end if;
  return array(
    select (v_prefix[b.batch] || encode(int2send(b.index), 'hex'))::uuid
    from unnest(p_batches, v_indexes) with ordinality b (batch, index, n)
    order by b.n
  );
end;
$$;

revoke all on function logloom_private.chunk_ids(
  logloom_private.sealed_chunks, integer[], integer[]
) from public;

comment on function logloom_private.chunk_ids(
  logloom_private.sealed_chunks, integer[], integer[]
) is
  'id at positions of a chunk, all where null. p_batches: chunk_batches of the same positions.';

-- sealed_logs/chunk_messages.sql

-- The messages of a chunk at positions, all where null.
create function logloom_private.chunk_messages(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_digits bytea := p_chunk.digits;
  v_separator constant text := p_chunk.separator;
  v_records integer[] := p_chunk.section_records;
  v_counts integer[] := p_chunk.section_masks;
  v_digits_before integer[] := p_chunk.section_digits;
  v_section_masks text[] := p_chunk.masks;
  v_mask_records integer[] := p_chunk.mask_records;
  v_masks text[];
  v_texts text[] := '{}';
  v_wanted text[];
  v_wanted_digits text;
  v_before integer := 0;
  v_mask integer := 0;
  v_lower integer;
  v_upper integer;
begin
  -- Reading a message by its place takes several times as long as reading it in passing.
  if cardinality(p_positions) > p_chunk.records / 4 then
    v_texts := logloom_private.chunk_messages(p_chunk, null);
    return logloom_private.texts_at(v_texts, p_positions);
  elsif p_positions is null then
    -- A section's masks end each with the separator; a section without messages has none.
    v_masks := string_to_array(array_to_string(p_chunk.masks, ''), v_separator);
    v_masks := v_masks[:cardinality(v_masks) - 1];
    v_texts := logloom_private.fill_masks(
      v_masks, p_chunk.mask_records, encode(v_digits, 'hex'), v_separator
    );
    if array_position(p_chunk.section_masks, 0) is null then
      return v_texts;
    end if;
    -- Sections without messages stand between the others.
    return array(
      select case when s.masks > 0 then v_texts[s.before + i] end
      from (
        select
          x.n, x.records, x.masks,
          sum(case when x.masks > 0 then x.records else 0 end) over (order by x.n)
            - case when x.masks > 0 then x.records else 0 end as before
        from unnest(p_chunk.section_records, p_chunk.section_masks)
          with ordinality x (records, masks, n)
      ) s, generate_series(1, s.records) i
      order by s.n, i
    );
  end if;

  for v_section in 1..cardinality(v_records) loop
    -- Those of the wanted positions that lie within the section.
    v_lower := width_bucket(v_before, p_positions) + 1;
    v_upper := width_bucket(v_before + v_records[v_section], p_positions);
    if v_lower <= v_upper and v_counts[v_section] = 0 then
      v_texts := v_texts || array_fill(null::text, array[v_upper - v_lower + 1]);
    elsif v_lower <= v_upper then
      v_masks := string_to_array(v_section_masks[v_section], v_separator);
      with starts as (
        select
          array_agg(m.before + 1 order by m.n) as starts,
          array_agg(m.digits order by m.n) as digits,
          array_agg(m.digits_before order by m.n) as digits_before
        from (
          select
            k.n, k.digits,
            sum(k.count) over (order by k.n) - k.count as before,
            v_digits_before[v_section] + sum(k.count * k.digits) over (order by k.n)
              - k.count * k.digits as digits_before
          from (
            select
              u.n, u.count, octet_length(u.mask) - octet_length(replace(u.mask, '0', '')) as digits
            from unnest(
              v_masks, v_mask_records[v_mask + 1:v_mask + v_counts[v_section]]
            ) with ordinality u (mask, count, n)
            where u.count is not null
          ) k
        ) m
      ), placed as (
        select p.n, s.*, p.position, width_bucket(p.position, s.starts) as mask
        from (
          select u.position - v_before as position, u.n
          from unnest(p_positions[v_lower:v_upper]) with ordinality u (position, n)
        ) p, starts s
      ), found as (
        select
          p.n, p.mask, p.digits[p.mask] as digits,
          (p.digits_before[p.mask]
            + (p.position - p.starts[p.mask]) * p.digits[p.mask])::integer as place
        from placed p
      )
      select
        array_agg(v_masks[f.mask] order by f.n),
        string_agg(
          substr(
            encode(substring(v_digits from f.place / 2 + 1 for f.digits / 2 + 1), 'hex'),
            1 + f.place % 2, f.digits
          ),
          '' order by f.n
        )
      into v_wanted, v_wanted_digits
      from found f;
      v_texts := v_texts || logloom_private.fill_masks(
        v_wanted, array_fill(1, array[cardinality(v_wanted)]), v_wanted_digits, v_separator
      );
    end if;
    v_before := v_before + v_records[v_section];
    v_mask := v_mask + v_counts[v_section];
  end loop;
  return v_texts;
end;
$$;

revoke all on function logloom_private.chunk_messages(
  logloom_private.sealed_chunks, integer[]
) from public;

comment on function logloom_private.chunk_messages(logloom_private.sealed_chunks, integer[]) is
  'The messages at ascending positions of a chunk, all where null.';

-- sealed_logs/column_texts.sql

-- Elements of an array of texts, which are found by walking over those before them: for many it is
-- better to walk once.
create function logloom_private.texts_at(p_texts text[], p_places integer[])
returns text[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  if cardinality(p_places) < 20 then
    return array(
      select p_texts[p.place] from unnest(p_places) with ordinality p (place, n) order by p.n
    );
  end if;
  return array(
    select t.value
    from unnest(p_texts) with ordinality t (value, n)
    where t.n::integer = any(p_places)
    order by t.n
  );
end;
$$;

revoke all on function logloom_private.texts_at(text[], integer[]) from public;

comment on function logloom_private.texts_at(text[], integer[]) is
  'The elements at ascending places.';

-- The texts of a column at positions of the chunk that lie within it, ascending; all where null.
create function logloom_private.column_texts(
  p_column logloom_private.sealed_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers bigint[];
  v_texts text[];
begin
  if p_column.kind = 'texts' or p_column.kind = 'numbers' then
    if p_column.kind = 'texts' then
      v_texts := p_column.texts;
    elsif p_column.numbers is not null then
      v_texts := p_column.numbers::text[];
    else
      v_texts := p_column.wide_numbers::text[];
    end if;
    if p_positions is null then
      return v_texts;
    end if;
    return logloom_private.texts_at(
      v_texts, array(select p - v_first from unnest(p_positions) p)
    );
  elsif p_column.kind = 'masked' then
    return logloom_private.masked_texts(p_column, p_positions);
  elsif v_codes is null and v_wide_codes is null then
    return array_fill(
      v_dictionary[1], array[coalesce(cardinality(p_positions), p_column.last - v_first)]
    );
  elsif v_codes is not null and p_positions is null then
    return array(
      select v_dictionary[c.code::integer + 129]
      from unnest(v_codes) with ordinality c (code, n)
      order by c.n
    );
  elsif p_positions is null then
    return array(
      select v_dictionary[c.code] from unnest(v_wide_codes) with ordinality c (code, n) order by c.n
    );
  end if;
  return array(
    select v_dictionary[coalesce(
      v_codes[p.position - v_first]::integer + 129, v_wide_codes[p.position - v_first]
    )]
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;

revoke all on function logloom_private.column_texts(
  logloom_private.sealed_columns, integer[]
) from public;

comment on function logloom_private.column_texts(logloom_private.sealed_columns, integer[]) is
  'The values of a column at ascending positions within it, all where null.';

create function logloom_private.masked_texts(
  p_column logloom_private.sealed_columns,
  p_positions integer[]
)
returns text[]
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_first constant integer := p_column.first - 1;
  v_dictionary text[] := p_column.dictionary;
  v_digits bytea := p_column.digits;
  v_texts text[];
begin
  -- The digits lie in the order of (code, position).
  with c as materialized (
    select coalesce(a.code::integer + 129, a.wide_code, 1) as code, a.n
    from unnest(
      p_column.codes, p_column.wide_codes,
      case when p_column.codes is null and p_column.wide_codes is null
        then array_fill(1, array[p_column.last - v_first]) end
    ) with ordinality a (code, wide_code, one, n)
    where coalesce(a.code::integer, a.wide_code, a.one) is not null
  ), w as materialized (
    select
      d.code, d.mask, octet_length(d.mask) - octet_length(replace(d.mask, '0', '')) as digits
    from unnest(v_dictionary) with ordinality d (mask, code)
  ), placed as (
    select
      c.n, w.mask, w.digits,
      sum(w.digits) over (order by c.code, c.n rows unbounded preceding) - w.digits as place
    from c join w on w.code = c.code
  ), wanted as materialized (
    select p.*
    from placed p
    where p_positions is null or p.n + v_first = any(p_positions)
  ), texts as (
    select
      w.n,
      format(
        replace(replace(w.mask, '%', '%%'), '0', '%s'),
        variadic string_to_array(
          substr(
            encode(
              substring(v_digits from (w.place / 2)::integer + 1 for w.digits / 2 + 1), 'hex'
            ),
            1 + (w.place % 2)::integer, w.digits
          ),
          null
        )
      ) as text
    from wanted w
  )
  select array_agg(t.text order by n.n) into v_texts
  from (
    select i as n from generate_series(1, p_column.last - v_first) i where p_positions is null
    union all
    select p - v_first from unnest(p_positions) p
  ) n
  left join texts t on t.n = n.n;
  return v_texts;
end;
$$;

revoke all on function logloom_private.masked_texts(
  logloom_private.sealed_columns, integer[]
) from public;

comment on function logloom_private.masked_texts(logloom_private.sealed_columns, integer[]) is
  'The texts of a column that is kept as masks and digits.';

-- sealed_logs/encode_chunk.sql

-- Sealing: records as a chunk.

create function logloom_private.encode_chunk(p_tenant_id text, p_with text)
returns bigint
language plpgsql
volatile
security invoker
set search_path = ''
set work_mem = '48MB'
set timezone = 'UTC'
as $$
declare
  v_chunk logloom_private.sealed_chunks;
  v_column logloom_private.sealed_columns;
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_masks text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_offsets bigint[];
  v_group_masks text[];
  v_group_texts text[];
  v_keys text[];
  v_first integer[];
  v_last integer[];
  v_texts text[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival),
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.mask), array_agg(r.service),
        array_agg(r.env), array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route),
        array_agg(r.host), array_agg(r.attrs)
      from (
        select m.*
        from (select s.*, %s as mask from s offset 0) m
        order by
          m.service collate "C", m.level collate "C", m.mask collate "C" nulls last, m.ts, m.id
      ) r
    $query$,
    p_with, logloom_private.mask_sql('s.msg')
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages, v_masks,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs;
  if v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  v_chunk.separator := logloom_private.separator_for(array_to_string(v_messages, ' '));

  -- Runs of an equal mask, and of an equal service and level.
  with g as materialized (
    select
      o.service, o.level, o.mask, count(*) as records,
      string_agg(o.msg, v_chunk.separator) as texts, min(o.n) as n
    from (
      select u.*
      from unnest(v_services, v_levels, v_masks, v_messages)
        with ordinality u (service, level, mask, msg, n)
      order by u.service collate "C", u.level collate "C", u.mask collate "C" nulls last, u.n
    ) o
    group by
      o.service collate "C", o.level collate "C", o.mask collate "C", o.service, o.level, o.mask
  ), s as (
    select
      g.service, g.level, sum(g.records) as records, count(g.mask) as masks, min(g.n) as n,
      coalesce(
        sum(g.records * (octet_length(g.mask) - octet_length(replace(g.mask, '0', '')))), 0
      ) as digits,
      coalesce(string_agg(g.mask || v_chunk.separator, '' order by g.n), '') as texts
    from g
    group by g.service, g.level, g.mask is null
  ), sections as (
    select
      array_agg(s.service order by s.n) as services,
      array_agg(s.level order by s.n) as levels,
      array_agg(s.records order by s.n) as records,
      array_agg(s.masks order by s.n) as masks,
      array_agg(s.digits_before order by s.n) as digits,
      array_agg(s.texts order by s.n) as texts,
      array_agg(nullif(lower(s.texts collate pg_c_utf8), s.texts) order by s.n) as folded
    from (
      select x.*, (sum(x.digits) over (order by x.n) - x.digits)::integer as digits_before from s x
    ) s
  ), groups as (
    select
      coalesce(array_agg(g.records order by g.n), '{}') as records,
      coalesce(array_agg(g.mask order by g.n), '{}') as masks,
      coalesce(array_agg(g.texts order by g.n), '{}') as texts
    from g
    where g.mask is not null
  )
  select
    s.services, s.levels, s.records, s.masks, s.digits, s.texts, s.folded,
    g.records, g.masks, g.texts
  into
    v_chunk.section_services, v_chunk.section_levels, v_chunk.section_records,
    v_chunk.section_masks, v_chunk.section_digits, v_chunk.masks, v_chunk.folded_masks,
    v_chunk.mask_records,
    v_group_masks, v_group_texts
  from sections s, groups g;
  v_chunk.digits := logloom_private.cut_digits(v_group_masks, v_group_texts, v_chunk.separator);
  v_group_texts := null;

  v_offsets := array(
    select round(date_part('epoch', t.ts - v_chunk.first_ts) * 1000000)::bigint
    from unnest(v_ts) with ordinality t (ts, n)
    order by t.n
  );
  select case when bool_and(o % 1000 = 0) then 1000 else 1 end into v_chunk.ts_unit
  from unnest(v_offsets) o;
  select
    array_agg(((t.o & 65535) - 32768)::smallint order by t.n),
    case when max(t.o) > 65535 then
      array_agg(((t.o >> 16 & 65535) - 32768)::smallint order by t.n) end,
    case when max(t.o) > 4294967295 then
      array_agg(((t.o >> 32) - 32768)::smallint order by t.n) end
  into v_chunk.ts_low, v_chunk.ts_middle, v_chunk.ts_high
  from (
    select u.o / v_chunk.ts_unit as o, u.n from unnest(v_offsets) with ordinality u (o, n)
  ) t;

  with i as materialized (
    select
      substring(uuid_send(u.id) for 14) as prefix, u.received_at, u.arrival, u.n,
      (get_byte(uuid_send(u.id), 14) * 256 + get_byte(uuid_send(u.id), 15)) as index, u.id
    from unnest(v_ids, v_received_at, v_arrivals) with ordinality u (id, received_at, arrival, n)
  ), b as materialized (
    select
      i.prefix, i.received_at, i.arrival,
      row_number() over (order by i.received_at, i.prefix, i.arrival) as number
    from i
    group by i.prefix, i.received_at, i.arrival
  ), batches as (
    select
      count(*) as count,
      string_agg(b.prefix, ''::bytea order by b.number) as prefixes,
      array_agg(b.received_at order by b.number) as received_at,
      array_agg(b.arrival order by b.number) as arrivals
    from b
  ), ids as (
    select
      array_agg(b.number::smallint order by i.n) as numbers,
      array_agg((case when i.index > 32767 then i.index - 65536 else i.index end)::smallint
        order by i.n) as indexes
    from i
    join b on b.prefix = i.prefix and b.received_at = i.received_at and b.arrival = i.arrival
  )
  select b.prefixes, b.received_at, b.arrivals, case when b.count > 1 then i.numbers end, i.indexes
  into
    v_chunk.batch_prefixes, v_chunk.batch_received_at, v_chunk.batch_arrivals,
    v_chunk.wide_batch_codes, v_chunk.id_indexes
  from batches b, ids i;
  if cardinality(v_chunk.batch_arrivals) between 2 and 256 then
    select array_agg((b.number - 129)::"char" order by b.n) into v_chunk.batch_codes
    from unnest(v_chunk.wide_batch_codes) with ordinality b (number, n);
    v_chunk.wide_batch_codes := null;
  end if;
  v_texts := array(select i from (
    (select i from unnest(v_ids) i order by i limit 1)
    union all
    (select i from unnest(v_ids) i order by i desc limit 1)) e (i));
  v_chunk.first_id := v_texts[1];
  v_chunk.last_id := v_texts[2];
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);

  -- The keys of attrs; rare ones and long ones stay together in a column of their own.
  select
    array_agg(k.key), array_agg(k.first), array_agg(k.last)
  into v_keys, v_first, v_last
  from (
    select e.key, min(e.n) as first, max(e.n) as last
    from (
      select jsonb_object_keys(a.attrs) as key, a.n
      from unnest(v_attrs) with ordinality a (attrs, n)
      where a.attrs is not null
    ) e
    where length(e.key) <= 200
    group by e.key
    order by count(*) desc, e.key collate "C"
    limit 80
  ) k;
  for v_at in 1..coalesce(cardinality(v_keys), 0) loop
    v_texts := array(
      select (a.attrs -> v_keys[v_at])::text
      from unnest(v_attrs[v_first[v_at]:v_last[v_at]]) with ordinality a (attrs, n)
      order by a.n
    );
    perform logloom_private.store_column(
      p_tenant_id, v_chunk.chunk_id, 'attrs.' || v_keys[v_at], v_first[v_at], v_texts
    );
  end loop;
  v_texts := array(
    select (a.attrs - coalesce(v_keys, '{}'))::text
    from unnest(v_attrs) with ordinality a (attrs, n)
    order by a.n
  );
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'attrs', 1, v_texts);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Read back as every reader does.
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services,
    v_env, v_req_id, v_user_id, v_route, v_host, v_attrs
  );
  return v_chunk.chunk_id;
end;
$$;

revoke all on function logloom_private.encode_chunk(text, text) from public;

comment on function logloom_private.encode_chunk(text, text) is
  'Makes a chunk of records and compares it with them; null where there are none. p_with: '
  'clauses of a WITH, of which s yields rows of logloom.logs. LL001: the chunk differs.';

create function logloom_private.store_column(
  p_tenant_id text,
  p_chunk_id bigint,
  p_name text,
  p_first integer,
  p_values text[]
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_column logloom_private.sealed_columns;
begin
  v_column := logloom_private.encode_column(p_name, p_first, p_values);
  if v_column.kind is not null then
    v_column.tenant_id := p_tenant_id;
    v_column.chunk_id := p_chunk_id;
    if p_name in ('req_id', 'user_id') then
      if v_column.kind <> 'dictionary' then
        v_column.filter := logloom_private.value_filter(p_values);
      elsif cardinality(v_column.dictionary) > 256 then
        v_column.filter := logloom_private.value_filter(v_column.dictionary);
      end if;
    end if;
    insert into logloom_private.sealed_columns select v_column.*;
  end if;
end;
$$;

revoke all on function logloom_private.store_column(text, bigint, text, integer, text[])
from public;

comment on function logloom_private.store_column(text, bigint, text, integer, text[]) is
  'Stores a column, unless all of it is null.';

create function logloom_private.compare_chunk(
  p_tenant_id text,
  p_chunk_id bigint,
  p_ts timestamptz[],
  p_received_at timestamptz[],
  p_arrivals bigint[],
  p_ids uuid[],
  p_levels text[],
  p_messages text[],
  p_services text[],
  p_env text[],
  p_req_id text[],
  p_user_id text[],
  p_route text[],
  p_host text[],
  p_attrs jsonb[]
)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_same boolean;
begin
  select
    row(
      array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
      array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
      array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host)
    ) is not distinct from row(
      p_ts, p_received_at, p_arrivals, p_ids, p_levels, p_messages, p_services, p_env, p_req_id,
      p_user_id, p_route, p_host
    )
    -- The bytes of attrs, since 1.0 equals 1.
    and (
      record_image_eq(row(array_agg(r.attrs)), row(p_attrs))
      or array_agg(r.attrs)::text[] is not distinct from p_attrs::text[]
    )
  into v_same
  from logloom_private.chunk_records(p_tenant_id, p_chunk_id, null, null, null) r;
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
end;
$$;

revoke all on function logloom_private.compare_chunk(
  text, bigint, timestamptz[], timestamptz[], bigint[], uuid[], text[], text[], text[], text[],
  text[],
  text[], text[], text[], jsonb[]
) from public;

comment on function logloom_private.compare_chunk(
  text, bigint, timestamptz[], timestamptz[], bigint[], uuid[], text[], text[], text[], text[],
  text[],
  text[], text[], text[], jsonb[]
) is
  'Reads a chunk back. LL001 where it differs from the records that it was made of.';

-- sealed_logs/encode_column.sql

-- A column of a chunk: the texts of a field, or the JSON texts of a key of attrs.

create function logloom_private.encode_numbers(
  p_column logloom_private.sealed_columns,
  p_values text[]
)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_joined constant text := array_to_string(p_values, ' ');
begin
  -- Whole numbers whose text is their shortest: nothing is lost.
  if v_joined !~ '^(?:(?:0|-?[1-9][0-9]{0,17})(?: (?=.)|$))+$' then
    return null;
  end if;
  p_column.wide_numbers := p_values::bigint[];
  select min(v), max(v) into p_column.least, p_column.greatest from unnest(p_column.wide_numbers) v;
  p_column.kind := 'numbers';
  if p_column.least >= -2147483648 and p_column.greatest <= 2147483647 then
    p_column.numbers := p_values::integer[];
    p_column.wide_numbers := null;
  end if;
  return p_column;
end;
$$;

revoke all on function logloom_private.encode_numbers(
  logloom_private.sealed_columns, text[]
) from public;

comment on function logloom_private.encode_numbers(logloom_private.sealed_columns, text[]) is
  'A column of whole numbers; null where a value is none.';

create function logloom_private.encode_masked(
  p_column logloom_private.sealed_columns,
  p_values text[]
)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_separator constant text := logloom_private.separator_for(array_to_string(p_values, ' '));
  v_joined text[];
begin
  if v_separator <> e'\x1f' then
    return null;
  end if;
  with v as materialized (
    select u.v, logloom_private.mask_of(u.v) as mask, u.n
    from unnest(p_values) with ordinality u (v, n)
  ), g as materialized (
    select
      m.mask, count(m.mask) as count, string_agg(m.v, v_separator) as joined,
      row_number() over (order by count(m.mask) desc, m.mask collate "C") as code
    from (select v.* from v where v.mask is not null order by v.mask collate "C", v.n) m
    group by m.mask
  )
  select
    (select array_agg(g.mask order by g.code) from g),
    (select array_agg(g.count order by g.code) from g),
    (select array_agg(g.joined order by g.code) from g),
    array_agg(g.code order by v.n)
  into p_column.dictionary, p_column.counts, v_joined, p_column.wide_codes
  from v left join g on g.mask = v.mask;
  if cardinality(p_column.dictionary) * 3 > cardinality(p_values) then
    return null;
  end if;
  p_column.digits := logloom_private.cut_digits(p_column.dictionary, v_joined, v_separator);
  p_column.kind := 'masked';
  return p_column;
end;
$$;

revoke all on function logloom_private.encode_masked(
  logloom_private.sealed_columns, text[]
) from public;

comment on function logloom_private.encode_masked(logloom_private.sealed_columns, text[]) is
  'A column of masks and digits; null where it has too many masks.';

-- Codes of one byte where they fit.
create function logloom_private.narrow_codes(p_column logloom_private.sealed_columns)
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if cardinality(p_column.dictionary) = 1 and array_position(p_column.wide_codes, null) is null then
    p_column.wide_codes := null;
  elsif cardinality(p_column.dictionary) <= 256 then
    select array_agg((c.code - 129)::"char" order by c.n) into p_column.codes
    from unnest(p_column.wide_codes) with ordinality c (code, n);
    p_column.wide_codes := null;
  end if;
  return p_column;
end;
$$;

revoke all on function logloom_private.narrow_codes(logloom_private.sealed_columns) from public;

comment on function logloom_private.narrow_codes(logloom_private.sealed_columns) is
  'A column with codes of one byte where they fit, and none where all values are one.';

-- p_values begins at position p_first of the chunk. A column of nulls is null.
create function logloom_private.encode_column(p_name text, p_first integer, p_values text[])
returns logloom_private.sealed_columns
language plpgsql
immutable
security invoker
set search_path = ''
set work_mem = '32MB'
as $$
declare
  v_column logloom_private.sealed_columns;
  v_encoded logloom_private.sealed_columns;
  v_distinct integer;
begin
  v_column.name := p_name;
  v_column.first := p_first;
  v_column.last := p_first + cardinality(p_values) - 1;
  v_column.kind := 'dictionary';
  if cardinality(array_remove(p_values, p_values[1])) = 0 then
    if p_values[1] is null then
      return null;
    end if;
    v_column.dictionary := p_values[1:1];
    v_column.counts := array[cardinality(p_values)];
    return v_column;
  end if;

  with u as materialized (
    select x.v, x.n from unnest(p_values) with ordinality x (v, n)
  ), g as materialized (
    select
      u.v, count(*) as count, row_number() over (order by count(*) desc, u.v collate "C") as code
    from u
    where u.v is not null
    group by u.v
  ), c as (
    select g.code, u.n from u left join g on g.v = u.v
  )
  select
    (select array_agg(g.v order by g.code) from g),
    (select array_agg(g.count order by g.code) from g),
    case when (select count(*) from g) * 3 <= cardinality(p_values)
      then array_agg(c.code order by c.n) end
  into v_column.dictionary, v_column.counts, v_column.wide_codes
  from c;
  if v_column.wide_codes is not null then
    return logloom_private.narrow_codes(v_column);
  end if;

  v_column.dictionary := null;
  v_column.counts := null;
  v_encoded := logloom_private.encode_numbers(v_column, p_values);
  if v_encoded.kind is null then
    v_encoded := logloom_private.encode_masked(v_column, p_values);
    if v_encoded.kind is not null then
      v_encoded := logloom_private.narrow_codes(v_encoded);
    end if;
  end if;
  if v_encoded.kind is null then
    v_column.kind := 'texts';
    v_column.texts := p_values;
    return v_column;
  end if;
  return v_encoded;
end;
$$;

revoke all on function logloom_private.encode_column(text, integer, text[]) from public;

comment on function logloom_private.encode_column(text, integer, text[]) is
  'Values from position p_first of a chunk on as the shortest kind of column; null where all are '
  'null.';

-- sealed_logs/leaf_bits.sql

-- Which of p_values pass a test: SQL over the alias l, of which p_field is the value, and for attrs
-- an object with p_key alone. A bit each.
create function logloom_private.tested_values(
  p_test text,
  p_field text,
  p_key text,
  p_values text[]
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_bits text;
begin
  execute format(
    $query$
      select string_agg(case when (%1$s) is true then '1' else '0' end, '' order by l.n)
      from (
        select %2$s as %3$I, v.n from unnest($1) with ordinality v (value, n)
      ) l
    $query$,
    p_test,
    case when p_field = 'attrs'
      then format('jsonb_build_object(%L::text, v.value::jsonb)', p_key) else 'v.value' end,
    p_field
  )
  into v_bits
  using p_values;
  return v_bits;
end;
$$;

revoke all on function logloom_private.tested_values(text, text, text, text[]) from public;

comment on function logloom_private.tested_values(text, text, text, text[]) is
  'Of each value whether a test, SQL over l, is true: 1 or 0. p_values of attrs are JSON texts '
  'of its key p_key.';

-- A leaf that asks for one column.
create function logloom_private.column_bits(
  p_column logloom_private.sealed_columns,
  p_leaf jsonb,
  p_records integer
)
returns varbit
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_field constant text := p_leaf ->> 'field';
  v_key constant text := substr(p_column.name, 7);
  v_test constant text := logloom_private.query_sql(p_leaf, 'l');
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_numbers integer[] := p_column.numbers;
  v_lower numeric;
  v_upper numeric;
  v_absent boolean;
  v_fill text;
  v_flags text;
  v_each text[];
  v_bits text;
begin
  -- What a dictionary of a field does not hold, no record has.
  if p_column.kind = 'dictionary' and p_leaf ->> 'test' = 'equal' and v_field <> 'attrs'
    and not p_column.dictionary && array(
      select v from jsonb_array_elements_text(p_leaf -> 'values') v
    )
  then
    return logloom_private.no_bits(p_records);
  end if;
  v_absent := logloom_private.tested_values(v_test, v_field, v_key, array[null::text]) = '1';
  v_fill := case when v_absent then '1' else '0' end;
  if p_column.kind = 'dictionary' then
    v_flags := logloom_private.tested_values(v_test, v_field, v_key, p_column.dictionary);
    if v_codes is null and v_wide_codes is null then
      v_bits := repeat(v_flags, p_column.last - p_column.first + 1);
    elsif not v_absent and strpos(v_flags, '1') = 0 then
      return logloom_private.no_bits(p_records);
    elsif v_codes is not null then
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code::integer + 129], v_fill), '' order by c.n)
      into v_bits
      from unnest(v_codes) with ordinality c (code, n);
    else
      v_each := string_to_array(v_flags, null);
      select string_agg(coalesce(v_each[c.code], v_fill), '' order by c.n) into v_bits
      from unnest(v_wide_codes) with ordinality c (code, n);
    end if;
  elsif p_column.kind = 'numbers' and p_leaf ->> 'test' = 'range' and v_field = 'attrs' then
    -- Beyond what the column holds a bound decides nothing.
    v_lower := p_leaf ->> 'lower';
    v_upper := p_leaf ->> 'upper';
    if v_lower > p_column.greatest or v_upper < p_column.least then
      return logloom_private.no_bits(p_records);
    end if;
    v_lower := case
      when v_lower is null then p_column.least
      when (p_leaf ->> 'lower_open')::boolean then greatest(floor(v_lower) + 1, p_column.least)
      else greatest(ceil(v_lower), p_column.least)
    end;
    v_upper := case
      when v_upper is null then p_column.greatest
      when (p_leaf ->> 'upper_open')::boolean then least(ceil(v_upper) - 1, p_column.greatest)
      else least(floor(v_upper), p_column.greatest)
    end;
    if v_numbers is not null then
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(v_numbers) with ordinality c (v, n);
    else
      select string_agg(case when c.v between v_lower::bigint and v_upper::bigint
        then '1' else '0' end, '' order by c.n)
      into v_bits
      from unnest(p_column.wide_numbers) with ordinality c (v, n);
    end if;
  else
    v_bits := logloom_private.tested_values(
      v_test, v_field, v_key, logloom_private.column_texts(p_column, null)
    );
  end if;
  return logloom_private.widen_bits(v_bits, p_column.first, p_records, v_absent);
end;
$$;

revoke all on function logloom_private.column_bits(
  logloom_private.sealed_columns, jsonb, integer
) from public;

comment on function logloom_private.column_bits(logloom_private.sealed_columns, jsonb, integer) is
  'A leaf over a column that it alone reads: a bit a record.';

create function logloom_private.attribute_bits(
  p_chunk logloom_private.sealed_chunks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_keys constant text[] := array_remove(
    array[p_leaf -> 'path' ->> 0, p_leaf ->> 'joined'], null
  );
  v_column logloom_private.sealed_columns;
  v_rest text[];
  v_count integer := 0;
  v_found logloom_private.sealed_columns;
  v_bits text;
begin
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name = any(array_prepend('attrs', array(select 'attrs.' || k from unnest(v_keys) k)))
  loop
    if v_column.name = 'attrs' then
      v_rest := case when v_column.kind = 'dictionary' then v_column.dictionary else '{[]}' end;
    else
      v_count := v_count + 1;
      v_found := v_column;
    end if;
  end loop;
  if v_count = 1 and v_rest = array['{}'] then
    return logloom_private.column_bits(v_found, p_leaf, p_chunk.records);
  elsif v_count = 0 and coalesce(v_rest, '{}') <@ array['{}'] then
    return repeat(
      logloom_private.tested_values(
        logloom_private.query_sql(p_leaf, 'l'), 'attrs', '', array[null::text]
      ),
      p_chunk.records
    )::varbit;
  end if;
  execute format(
    $query$
      select string_agg(case when (%s) is true then '1' else '0' end, '' order by l.n)
      from unnest($1) with ordinality l (attrs, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_bits
  using logloom_private.chunk_attributes(p_chunk, null, v_keys);
  return v_bits::varbit;
end;
$$;

revoke all on function logloom_private.attribute_bits(
  logloom_private.sealed_chunks, jsonb
) from public;

comment on function logloom_private.attribute_bits(logloom_private.sealed_chunks, jsonb) is
  'A leaf over attrs: a bit a record.';

-- A leaf over service and level, which sections decide.
create function logloom_private.section_bits(
  p_chunk logloom_private.sealed_chunks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_bits varbit;
begin
  execute format(
    $query$
      select string_agg(
        repeat(case when (%s) is true then '1' else '0' end, l.records), '' order by l.n
      )::varbit
      from unnest($1, $2, $3) with ordinality l (service, level, records, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_bits
  using p_chunk.section_services, p_chunk.section_levels, p_chunk.section_records;
  return v_bits;
end;
$$;

revoke all on function logloom_private.section_bits(
  logloom_private.sealed_chunks, jsonb
) from public;

comment on function logloom_private.section_bits(logloom_private.sealed_chunks, jsonb) is
  'A leaf over service or level: a bit a record.';

-- sealed_logs/masks.sql

-- Masks: a text with its digits replaced by 0, and the digits beside it.

-- An expression for the mask of an expression. Nested, since translate takes 30 times as long.
create function logloom_private.mask_sql(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_sql text := p_text;
begin
  for v_digit in 1..9 loop
    v_sql := format('replace(%s, ''%s'', ''0'')', v_sql, v_digit);
  end loop;
  return v_sql;
end;
$$;

revoke all on function logloom_private.mask_sql(text) from public;

comment on function logloom_private.mask_sql(text) is
  'An expression for the mask of an expression: each digit is 0.';

create function logloom_private.mask_of(p_text text)
returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return replace(replace(replace(replace(replace(replace(replace(replace(replace(
    p_text, '1', '0'), '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'),
    '9', '0');
end;
$$;

revoke all on function logloom_private.mask_of(text) from public;

comment on function logloom_private.mask_of(text) is
  'The mask of a text: each digit is 0.';

-- A text that none of p_texts holds and that does not overlap itself.
create function logloom_private.separator_for(p_text text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_separator text;
begin
  for v_code in reverse 31..1 loop
    v_separator := chr(v_code);
    continue when v_code between 9 and 13;
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
  -- Longer and longer ones: a text of n characters cannot hold all of them.
  v_separator := chr(30);
  loop
    v_separator := v_separator || chr(29);
    if strpos(p_text, v_separator) = 0 then
      return v_separator;
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.separator_for(text) from public;

comment on function logloom_private.separator_for(text) is
  'A text to join others by: p_text, which is all of them, does not hold it.';

-- The digits of texts of equal masks. p_joined: for each mask its texts, joined by p_separator.
create function logloom_private.cut_digits(p_masks text[], p_joined text[], p_separator text)
returns bytea
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_parts text[] := p_joined;
  v_text text;
  v_piece text;
  v_mask text;
  v_group integer := 0;
begin
  foreach v_mask in array p_masks loop
    v_group := v_group + 1;
    if strpos(v_mask, '0') = 0 then
      v_parts[v_group] := '';
      continue;
    end if;
    v_text := v_parts[v_group];
    if length(v_mask) > 2000 then
      v_parts[v_group] := regexp_replace(v_text, '[^0-9]+', '', 'g');
      continue;
    end if;
    -- All that stands between digits, the longest first where one piece holds another: else some
    -- of it is left, and the slow way finishes.
    foreach v_piece in array
      string_to_array(replace(replace(replace(v_mask, '0000', '0'), '000', '0'), '00', '0'), '0')
    loop
      if v_piece <> '' then
        v_text := replace(v_text, v_piece, '');
      end if;
    end loop;
    v_text := replace(v_text, p_separator, '');
    if v_text ~ '[^0-9]' then
      v_text := regexp_replace(v_text, '[^0-9]+', '', 'g');
    end if;
    v_parts[v_group] := v_text;
  end loop;
  v_text := array_to_string(v_parts, '');
  return decode(v_text || case when length(v_text) % 2 = 1 then '0' else '' end, 'hex');
end;
$$;

revoke all on function logloom_private.cut_digits(text[], text[], text) from public;

comment on function logloom_private.cut_digits(text[], text[], text) is
  'The digits of texts in hexadecimal, four bits each. p_joined: of each mask its texts, joined '
  'by p_separator.';

-- The texts of masks in order, p_counts of each.
create function logloom_private.fill_masks(
  p_masks text[],
  p_counts integer[],
  p_digits text,
  p_separator text
)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_masks text;
  v_texts text[];
begin
  select string_agg(repeat(m.mask || p_separator, m.count), '' order by m.n)
  into v_masks
  from unnest(p_masks, p_counts) with ordinality m (mask, count, n);
  if p_digits <> '' then
    -- One call for all: each 0 of the masks becomes the next digit.
    v_masks := format(
      replace(replace(v_masks, '%', '%%'), '0', '%s'), variadic string_to_array(p_digits, null)
    );
  end if;
  v_texts := string_to_array(v_masks, p_separator);
  return v_texts[:cardinality(v_texts) - 1];
end;
$$;

revoke all on function logloom_private.fill_masks(text[], integer[], text, text) from public;

comment on function logloom_private.fill_masks(text[], integer[], text, text) is
  'Texts from masks, as many of each as p_counts says, and their digits.';

-- sealed_logs/message_bits.sql

-- A leaf over the message as one over its mask: a regular expression or LIKE pattern in which each
-- digit is 0, and whether it decides or only leaves out.
create function logloom_private.mask_leaf(p_leaf jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_pattern constant text := p_leaf ->> 'pattern';
  v_part text;
  v_mask text := '';
  v_sure boolean := true;
begin
  case p_leaf ->> 'test'
    when 'exists' then
      return p_leaf || '{"sure": true}';
    when 'contains', 'like' then
      v_mask := logloom_private.mask_of(v_pattern);
      return p_leaf || jsonb_build_object('pattern', v_mask, 'sure', v_pattern !~ '[0-9]');
    when 'equal' then
      return p_leaf || jsonb_build_object(
        'values', (
          select jsonb_agg(logloom_private.mask_of(v #>> '{}'))
          from jsonb_array_elements(p_leaf -> 'values') v
        ),
        'sure', (p_leaf ->> 'values') !~ '[0-9]'
      );
    when 'regex' then
      foreach v_part in array array(
        select m.match[1]
        from regexp_matches(
          v_pattern, '\\.|\[(?:[^]\\]|\\.)*\]|\{[0-9,]*\}|.', 'g'
        ) with ordinality as m (match, n)
        order by m.n
      ) loop
        if left(v_part, 1) = '[' then
          -- A class that tells digits apart.
          if replace(v_part, '0-9', '') ~ '[0-9]' then
            v_sure := false;
            v_part := case when left(v_part, 2) = '[^' then '.' else left(v_part, -1) || '0]' end;
          end if;
        elsif v_part ~ '^\\?[0-9]$' then
          v_sure := false;
          v_part := '0';
        end if;
        v_mask := v_mask || v_part;
      end loop;
      return p_leaf || jsonb_build_object('pattern', v_mask, 'sure', v_sure);
    else
      return null;
  end case;
end;
$$;

revoke all on function logloom_private.mask_leaf(jsonb) from public;

comment on function logloom_private.mask_leaf(jsonb) is
  'A leaf over the message as one over its mask, with sure: whether it decides, or only leaves '
  'out. Null where there is none.';

-- A leaf over the message: surely and perhaps.
create function logloom_private.message_bits(
  p_chunk logloom_private.sealed_chunks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
as $$
declare
  v_leaf constant jsonb := logloom_private.mask_leaf(p_leaf);
  v_folds constant boolean :=
    p_leaf ->> 'test' = 'contains' or coalesce((p_leaf ->> 'fold')::boolean, false);
  v_separator constant text := p_chunk.separator;
  v_literal text := '';
  v_none constant varbit := logloom_private.no_bits(p_chunk.records);
  v_texts text[] := case when v_folds then p_chunk.folded_masks else p_chunk.masks end;
  v_masks text[];
  v_counts integer[] := p_chunk.mask_records;
  v_from integer := 1;
  v_parts text[] := '{}';
  v_part text;
  v_test text;
  v_bits varbit;
begin
  if v_leaf is null then
    return array[v_none, ~v_none];
  end if;
  if v_leaf ->> 'test' = 'contains' and substr(v_leaf ->> 'pattern', 2) !~ '[\\_%].' then
    v_literal := substr(v_leaf ->> 'pattern', 2, length(v_leaf ->> 'pattern') - 2);
  end if;
  -- The masks are in lower case already where the leaf folds.
  if v_leaf ->> 'test' = 'contains' then
    v_test := 'l.msg like ' || quote_literal(v_leaf ->> 'pattern');
  elsif v_leaf ->> 'test' = 'regex' then
    v_test := 'l.msg collate "C" ~ ' || quote_literal(v_leaf ->> 'pattern');
  else
    v_test := logloom_private.query_sql(v_leaf, 'l');
  end if;

  for v_section in 1..cardinality(v_texts) loop
    if v_texts[v_section] is null then
      v_texts[v_section] := p_chunk.masks[v_section];
    end if;
    if p_chunk.section_masks[v_section] = 0 then
      -- No message: the test of null.
      execute format(
        'select case when (%s) is true then ''1'' else ''0'' end from (select null::text as msg) l',
        v_test
      )
      into v_part;
      v_part := repeat(v_part, p_chunk.section_records[v_section]);
    elsif v_literal <> '' and strpos(v_texts[v_section], v_literal) = 0 then
      v_part := repeat('0', p_chunk.section_records[v_section]);
    else
      execute format(
        $query$
          select string_agg(
            repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
          )
          from unnest(string_to_array($1, $2), $3) with ordinality l (msg, count, n)
          where l.count is not null
        $query$,
        v_test
      )
      into v_part
      using
        v_texts[v_section], v_separator,
        v_counts[v_from:v_from + p_chunk.section_masks[v_section] - 1];
    end if;
    v_parts := v_parts || v_part;
    v_from := v_from + p_chunk.section_masks[v_section];
  end loop;
  v_bits := array_to_string(v_parts, '')::varbit;
  return array[case when (v_leaf ->> 'sure')::boolean then v_bits else v_none end, v_bits];
end;
$$;

revoke all on function logloom_private.message_bits(
  logloom_private.sealed_chunks, jsonb
) from public;

comment on function logloom_private.message_bits(logloom_private.sealed_chunks, jsonb) is
  'A leaf over the message: the bits that are sure, and those that may be.';

-- sealed_logs/recount_records.sql

create function logloom_private.recount_records(p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Nothing is added, removed or summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  lock table logloom_private.log_counts in share row exclusive mode;
  perform logloom_private.forget_day(p_day);
  delete from logloom_private.log_counts c
  using (
    select distinct s.tenant_id
    from logloom_private.sealed_chunks s
    where s.last_ts >= logloom_private.day_start(p_day)
      and s.first_ts < logloom_private.day_start(p_day + 1)
  ) t
  where c.tenant_id = t.tenant_id
    and c.minute >= logloom_private.day_start(p_day)
    and c.minute < logloom_private.day_start(p_day + 1);
  execute format(
    $query$
      with records as materialized (
        select l.tenant_id, l.ts, l.service, l.level, l.arrival
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
        union all
        select r.tenant_id, r.ts, r.service, r.level, r.arrival
        from logloom_private.sealed_chunks c,
          logloom_private.chunk_records(
            c.tenant_id, c.chunk_id, null, array['ts', 'service', 'level', 'arrival'], '{}'
          ) r
        where c.last_ts >= %2$L::timestamptz and c.first_ts < %3$L::timestamptz
          and r.ts >= %2$L::timestamptz and r.ts < %3$L::timestamptz
      ), days as (
        insert into logloom_private.log_days (tenant_id, day)
        select distinct l.tenant_id, %1$L::date
        from logloom.logs l
        where l.ts >= %2$L::timestamptz and l.ts < %3$L::timestamptz
      ), arrivals as (
        insert into logloom_private.log_arrivals (arrival, day)
        select max(l.arrival), %1$L::date
        from records l
        having count(*) > 0
      )
      insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
      select l.tenant_id, date_bin('1 minute', l.ts, 'epoch'), l.service, l.level, count(*)
      from records l
      group by 1, 2, 3, 4
      order by 1, 2
    $query$,
    p_day, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;

revoke all on function logloom_private.recount_records(date) from public;

comment on function logloom_private.recount_records(date) is
  'Counts a UTC day anew from its records: for an operator who put records back or took them away '
  'by hand, and after a restore. Waits for the writer and holds it up meanwhile.';

-- sealed_logs/sealed_log.sql

-- The record with an id.
create function logloom_private.sealed_log(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_id uuid
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 1
as $$
declare
  v_prefix constant bytea := substring(uuid_send(p_id) for 14);
  v_number constant integer :=
    get_byte(uuid_send(p_id), 14) * 256 + get_byte(uuid_send(p_id), 15);
  v_index constant smallint := v_number - case when v_number > 32767 then 65536 else 0 end;
  v_chunk logloom_private.sealed_chunks;
  v_prefixes bytea;
  v_positions integer[];
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= p_from and c.first_ts < p_to
      and p_id between c.first_id and c.last_id
  loop
    v_prefixes := v_chunk.batch_prefixes;
    continue when position(v_prefix in v_prefixes) = 0;
    v_positions := array_positions(v_chunk.id_indexes, v_index);
    -- Those of them that are of the batch: few, since an index is once in a batch.
    v_positions := array(
      select p.position
      from unnest(v_positions, logloom_private.chunk_batches(v_chunk, v_positions))
        p (position, batch)
      where substring(v_prefixes from 14 * (p.batch - 1) + 1 for 14) = v_prefix
      order by p.position
    );
    continue when v_positions = '{}';
    return query
    select r.*
    from logloom_private.sealed_records(v_chunk, v_positions, null, null) r
    where r.id = p_id and r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_log(text, timestamptz, timestamptz, uuid) from public;

comment on function logloom_private.sealed_log(text, timestamptz, timestamptz, uuid) is
  'The sealed record with an id, where its ts is in [p_from, p_to).';

-- Records of steps of the writer.
create function logloom_private.sealed_arrivals(
  p_tenant_id text,
  p_first bigint,
  p_last bigint,
  p_tree jsonb,
  p_filter text
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 100
as $$
declare
  v_chunk logloom_private.sealed_chunks;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
  loop
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk,
      logloom_private.bit_positions(
        logloom_private.chunk_bits(
          v_chunk, p_tree, p_filter, logloom_private.fields_read(p_filter),
          logloom_private.keys_read(p_filter), '-infinity', 'infinity'
        )
      ),
      null, null
    ) r
    where r.arrival between p_first and p_last;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_arrivals(
  text, bigint, bigint, jsonb, text
) from public;

comment on function logloom_private.sealed_arrivals(text, bigint, bigint, jsonb, text) is
  'Sealed records of the writer''s steps p_first to p_last that a query finds.';

-- sealed_logs/sealed_page.sql

-- The first p_limit of them and more, in the order of (ts, id) or its reverse, after p_ts and p_id
-- where they are given: all that a page can hold.
create function logloom_private.sealed_page(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_filter text,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text default null
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 100
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_shown constant text[] := logloom_private.fields_read(p_reads || ' l.ts l.id');
  v_shown_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_positions integer[];
  v_times timestamptz[];
  v_best timestamptz[] := '{}';
  v_edge timestamptz;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id in (
        select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
      )
    order by
      case when v_is_descending then c.last_ts end desc,
      case when not v_is_descending then c.first_ts end
  loop
    -- The page is full, and nothing of this chunk and of those after it can come before its end.
    exit when case when v_is_descending then v_chunk.last_ts < v_edge
      else v_chunk.first_ts > v_edge end;
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    -- Null: all of them.
    v_positions := case when bit_count(v_bits) < v_chunk.records
      then logloom_private.bit_positions(v_bits) end;
    v_times := logloom_private.chunk_times(v_chunk, v_positions);
    -- Records of the page before, of the same ts as its last, are more than p_limit.
    v_best := array(
      select t
      from unnest(v_best || v_times) t
      where p_ts is null or t <> p_ts
      order by
        case when v_is_descending then t end desc,
        case when not v_is_descending then t end
      limit p_limit
    );
    v_edge := v_best[p_limit];
    v_positions := array(
      select coalesce(p.position, p.n)
      from unnest(v_positions, v_times) with ordinality p (position, ts, n)
      where v_edge is null or case when v_is_descending then p.ts >= v_edge else p.ts <= v_edge end
      order by p.n
    );
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk, case when cardinality(v_positions) < v_chunk.records then v_positions end,
      v_shown, v_shown_keys
    ) r
    where p_ts is null
      or case when v_is_descending then (r.ts, r.id) < (p_ts, p_id)
        else (r.ts, r.id) > (p_ts, p_id) end;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid, text
) from public;

comment on function logloom_private.sealed_page(
  text, timestamptz, timestamptz, jsonb, text, integer, text, timestamptz, uuid, text
) is
  'Sealed records that a query finds, among them the first p_limit in the order of (ts, id), '
  'after p_ts and p_id where they are given. p_reads: SQL over the alias l that reads them; of '
  'each only what it reads, ts and id are there, all where it is null.';

-- sealed_logs/sealed_records.sql

-- Records of a chunk at ascending positions, all where null, in that order. p_fields: the fields
-- that are wanted, all where null; others are null. p_keys: of attrs, likewise.
create function logloom_private.sealed_records(
  p_chunk logloom_private.sealed_chunks,
  p_positions integer[],
  p_fields text[],
  p_keys text[]
)
returns setof logloom.logs
language plpgsql
stable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_batch_received_at timestamptz[] := p_chunk.batch_received_at;
  v_batch_arrivals bigint[] := p_chunk.batch_arrivals;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_services text[];
  v_levels text[];
  v_section_records integer[];
  v_section_services text[];
  v_section_levels text[];
  v_messages text[];
  v_texts text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attributes jsonb[];
  v_column logloom_private.sealed_columns;
  v_lower integer;
  v_upper integer;
begin
  if v_records = 0 then
    return;
  end if;
  if p_fields is null or 'ts' = any(p_fields) then
    v_ts := logloom_private.chunk_times(p_chunk, p_positions);
  end if;
  if p_fields is null or p_fields && array['id', 'received_at', 'arrival'] then
    v_batches := logloom_private.chunk_batches(p_chunk, p_positions);
    v_ids := logloom_private.chunk_ids(p_chunk, p_positions, v_batches);
  end if;
  if p_fields is null or p_fields && array['service', 'level'] then
    if p_positions is null and cardinality(p_chunk.section_records) <= 200 then
      v_section_records := p_chunk.section_records;
      v_section_services := p_chunk.section_services;
      v_section_levels := p_chunk.section_levels;
      v_services := '{}';
      v_levels := '{}';
      for v_section in 1..cardinality(v_section_records) loop
        v_services := v_services || array_fill(
          v_section_services[v_section], v_section_records[v_section:v_section]
        );
        v_levels := v_levels || array_fill(
          v_section_levels[v_section], v_section_records[v_section:v_section]
        );
      end loop;
    elsif p_positions is null then
      -- Each of those steps copies what it adds to.
      select array_agg(s.service order by s.n), array_agg(s.level order by s.n)
      into v_services, v_levels
      from (
        select x.service, x.level, x.n
        from unnest(p_chunk.section_services, p_chunk.section_levels, p_chunk.section_records)
          with ordinality x (service, level, records, n),
          generate_series(1, x.records)
      ) s;
    else
      with s as (
        select
          array_agg(x.start order by x.n) as starts
        from (
          select u.n, sum(u.records) over (order by u.n) - u.records + 1 as start
          from unnest(p_chunk.section_records) with ordinality u (records, n)
        ) x
      )
      select
        array_agg((p_chunk.section_services)[width_bucket(p.position, s.starts)] order by p.n),
        array_agg((p_chunk.section_levels)[width_bucket(p.position, s.starts)] order by p.n)
      into v_services, v_levels
      from unnest(p_positions) with ordinality p (position, n), s;
    end if;
  end if;
  if p_fields is null or 'msg' = any(p_fields) then
    v_messages := logloom_private.chunk_messages(p_chunk, p_positions);
  end if;
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name in ('env', 'req_id', 'user_id', 'route', 'host')
      and (p_fields is null or c.name = any(p_fields))
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
    end if;
    continue when v_lower > v_upper;
    v_texts := array_fill(null::text, array[v_lower - 1])
      || logloom_private.column_texts(
        v_column, case when p_positions is not null then p_positions[v_lower:v_upper] end
      );
    case v_column.name
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
    end case;
  end loop;
  if p_fields is null or 'attrs' = any(p_fields) then
    v_attributes := logloom_private.chunk_attributes(p_chunk, p_positions, p_keys);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_arrivals[r.batch], r.id, p_chunk.tenant_id,
    r.level, r.msg, r.service, r.env, r.req_id, r.user_id, r.route, r.host, r.attrs
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids, v_levels, v_messages, v_services, v_env, v_req_id, v_user_id, v_route,
    v_host, v_attributes
  ) with ordinality r (
    one, ts, batch, id, level, msg, service, env, req_id, user_id, route, host, attrs, n
  )
  order by r.n;
end;
$$;

revoke all on function logloom_private.sealed_records(
  logloom_private.sealed_chunks, integer[], text[], text[]
) from public;

comment on function logloom_private.sealed_records(
  logloom_private.sealed_chunks, integer[], text[], text[]
) is
  'Records at ascending positions of a chunk, all where null. Fields beyond p_fields and keys of '
  'attrs beyond p_keys are null; tenant_id is always there.';

create function logloom_private.chunk_records(
  p_tenant_id text,
  p_chunk_id bigint,
  p_positions integer[],
  p_fields text[],
  p_keys text[]
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_chunk logloom_private.sealed_chunks;
begin
  -- A row in a variable, not in a join: of a table that is spread over nodes a join has rows of
  -- another type.
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = p_chunk_id;
  if found then
    return query
    select r.* from logloom_private.sealed_records(v_chunk, p_positions, p_fields, p_keys) r;
  end if;
end;
$$;

revoke all on function logloom_private.chunk_records(text, bigint, integer[], text[], text[])
from public;

comment on function logloom_private.chunk_records(text, bigint, integer[], text[], text[]) is
  'sealed_records of the chunk with an id.';

-- sealed_logs/sealed_rows.sql

-- The sealed records of a tenant in a range of ts: what logloom.logs no longer has.

-- The columns that SQL reads through the alias l; null where it may read all. More than it reads
-- does no harm, so a quoted text that looks like a column is one.
create function logloom_private.fields_read(p_sql text)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_sql is null or p_sql ~ '\ml\.\*|\ml\M(?!\.)' then
    return null;
  end if;
  return array(
    select distinct m.match[1]
    from regexp_matches(p_sql, '\ml\.([a-z_]+)', 'g') m (match)
  );
end;
$$;

revoke all on function logloom_private.fields_read(text) from public;

comment on function logloom_private.fields_read(text) is
  'Columns that SQL reads through the alias l; null where it may read all.';

-- The top-level keys of attrs that SQL reads through the alias l; null where it may read all.
create function logloom_private.keys_read(p_sql text)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_sql is null or p_sql ~ '\ml\.attrs(?! -> ''[^''\\]*''(?!''))' then
    return null;
  end if;
  return array(
    select distinct m.match[1]
    from regexp_matches(p_sql, '\ml\.attrs -> ''([^'']*)''', 'g') m (match)
  );
end;
$$;

revoke all on function logloom_private.keys_read(text) from public;

comment on function logloom_private.keys_read(text) is
  'Top-level keys of attrs that SQL reads through the alias l; null where it may read all.';

create function logloom_private.sealed_rows(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_filter text,
  p_reads text
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 1000
as $$
declare
  v_filter_fields constant text[] := logloom_private.fields_read(p_filter);
  v_filter_keys constant text[] := logloom_private.keys_read(p_filter);
  v_fields constant text[] := logloom_private.fields_read(p_reads);
  v_keys constant text[] := logloom_private.keys_read(p_reads);
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id in (
        select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
      )
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_filter_fields, v_filter_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select r.*
    from logloom_private.sealed_records(
      v_chunk,
      case when bit_count(v_bits) < v_chunk.records
        then logloom_private.bit_positions(v_bits) end,
      v_fields, v_keys
    ) r;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_rows(
  text, timestamptz, timestamptz, jsonb, text, text
) from public;

comment on function logloom_private.sealed_rows(
  text, timestamptz, timestamptz, jsonb, text, text
) is
  'A tenant''s sealed records in [p_from, p_to) that a query finds. p_reads: SQL over the alias l '
  'that reads them; of each only what it reads is there, all where it is null.';

-- How many of them there are by service and level.
create function logloom_private.sealed_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_tree jsonb,
  p_filter text
)
returns table (service text, level text, events bigint)
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 100
as $$
declare
  v_fields constant text[] := logloom_private.fields_read(p_filter);
  v_keys constant text[] := logloom_private.keys_read(p_filter);
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
begin
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.chunk_id in (
        select logloom_private.candidate_chunks(p_tenant_id, p_from, p_to, p_tree)
      )
    order by c.last_ts
  loop
    v_bits := logloom_private.chunk_bits(
      v_chunk, p_tree, p_filter, v_fields, v_keys, p_from, p_to
    );
    continue when bit_count(v_bits) = 0;
    return query
    select x.service, x.level, x.events
    from (
      select s.service, s.level, bit_count(substring(v_bits from s.first for s.records)) as events
      from (
        select u.*, (sum(u.records) over (order by u.n) - u.records + 1)::integer as first
        from unnest(v_chunk.section_services, v_chunk.section_levels, v_chunk.section_records)
          with ordinality u (service, level, records, n)
      ) s
    ) x
    where x.events > 0;
  end loop;
end;
$$;

revoke all on function logloom_private.sealed_counts(
  text, timestamptz, timestamptz, jsonb, text
) from public;

comment on function logloom_private.sealed_counts(text, timestamptz, timestamptz, jsonb, text) is
  'How many sealed records of a tenant in [p_from, p_to) a query finds, by service and level; a '
  'row a section.';

-- search/types/log_series.sql

create type public.logloom_log_series as (
  "group" jsonb,
  points jsonb
);

comment on type public.logloom_log_series is
  'An aggregate of a group over time: points [[ts, value], …], one for each bucket, oldest first. '
  'group null: all groups but the largest together.';

create type public.logloom_log_series_answer as (
  interval_seconds bigint,
  series public.logloom_log_series[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_series_answer is 'Aggregates over time, for a chart.';

-- search/types/log_stats.sql

create type public.logloom_log_stat as (
  "group" jsonb,
  value double precision,
  "values" jsonb,
  total_groups bigint,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_stat is
  'What aggregates say of a group: group {field: text}, null where records lack the field, ts for '
  'the beginning of a bucket; value, the first aggregate; values, all of them by name; '
  'total_groups, how many rows there are without p_limit and limit; warnings, what the query '
  'probably means otherwise, the same in each row.';

create type logloom_private.counted_source as (rows_sql text, count_sql text);

comment on type logloom_private.counted_source is
  'Where an aggregate reads: SQL from "from" on with the alias l, and what count() is over it.';

-- search/types/logs.sql

create type public.logloom_log_record as (
  id uuid,
  tenant_id text,
  ts timestamptz,
  received_at timestamptz,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb
);

comment on type public.logloom_log_record is
  'A log record. Members that the event did not have are null.';

create type public.logloom_log_page as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page; null where this is the last, '
  'and there only: a page may end early. '
  'warnings: what the query probably means otherwise.';

create type logloom_private.found_page as (
  logs public.logloom_log_record[],
  last_ts timestamptz,
  last_id uuid
);

comment on type logloom_private.found_page is
  'Records of a page, and after which (ts, id) the next page goes on; null where there is none.';

create type logloom_private.log_tail as (
  "first" bigint,
  id uuid,
  logs public.logloom_log_record[],
  more boolean
);

comment on type logloom_private.log_tail is
  'Where a tail stands: it goes on with the arrival first, of which it saw what is up to id, and '
  'has found logs since. more: whether there is more to look at.';

-- search/advance_log_tail.sql

-- Looks at a bounded number of records, whether they match or not, since a search for those that do
-- took too long.
create function logloom_private.examine_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_records integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  execute 'with piece as materialized ('
    || logloom_private.log_tail_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last
    )
    || ') select array(select l.item from (select (r.record).*, r.arrival, r.record as item '
    || 'from piece r) l where (' || p_query.filter
    || ') order by l.arrival, l.id), o.arrival, o.id '
    || 'from (select 1) _ left join lateral (select r.arrival, (r.record).id from piece r '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$$;

revoke all on function logloom_private.examine_log_tail(
  text, logloom_private.compiled_query, integer, bigint, logloom_private.log_tail
) from public;

comment on function logloom_private.examine_log_tail(
  text, logloom_private.compiled_query, integer, bigint, logloom_private.log_tail
) is
  'Moves a tail over the next p_records records. more: whether there were any.';

-- More and more steps of the writer at a time: a client that was away does not read all it missed
-- for each page. What was found when time is up is given back, and the cursor with it.
create function logloom_private.advance_log_tail(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_last bigint,
  p_tail logloom_private.log_tail
)
returns logloom_private.log_tail
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_turn constant interval := (select s.tail_turn from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_turn;
  v_steps bigint := 4;
  v_step_last bigint;
  v_found public.logloom_log_record[];
  v_arrivals bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.arrival) from ('
        || logloom_private.log_tail_sql(
          p_tenant_id, p_query, p_limit + 1 - cardinality(p_tail.logs), p_tail.first, p_tail.id,
          v_step_last
        )
        || ') r'
      into v_found, v_arrivals;
      p_tail.logs := p_tail.logs || v_found;
      v_has_moved := true;
      if cardinality(p_tail.logs) > p_limit then
        p_tail.logs := p_tail.logs[1:p_limit];
        p_tail.more := true;
        -- Of what this step found all but the last is kept; none, where the page was full before.
        if cardinality(v_found) > 1 then
          p_tail.first := v_arrivals[cardinality(v_found) - 1];
          p_tail.id := v_found[cardinality(v_found) - 1].id;
        end if;
        return p_tail;
      end if;
      p_tail.first := v_step_last + 1;
      p_tail.id := null;
      p_tail.more := p_tail.first <= p_last;
      if clock_timestamp() > v_deadline then
        return p_tail;
      end if;
      v_steps := v_steps * 4;
    end loop;
    return p_tail;
  exception when query_canceled then
    p_tail.more := true;
  end;
  -- Cancelled: what was found stands. Where that is nothing, some records by themselves; there is
  -- no timeout any more, so that they are few.
  v_deadline := clock_timestamp() + v_turn;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    v_records := v_records * 2;
    exit when not p_tail.more;
  end loop;
  return p_tail;
end;
$$;

revoke all on function logloom_private.advance_log_tail(
  text, logloom_private.compiled_query, integer, bigint, logloom_private.log_tail
) from public;

comment on function logloom_private.advance_log_tail(
  text, logloom_private.compiled_query, integer, bigint, logloom_private.log_tail
) is
  'Moves a tail on by p_limit records that match, or as far as it comes.';

-- search/cursors.sql

-- Cursors: texts that mean nothing to a caller. Nothing in one widens what may be seen.

create function logloom_private.encode_cursor(p_parts text[])
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return translate(
    encode(convert_to(array_to_string(p_parts, ' '), 'UTF8'), 'base64'), e'+/=\n', '-_'
  );
end;
$$;

revoke all on function logloom_private.encode_cursor(text[]) from public;

comment on function logloom_private.encode_cursor(text[]) is
  'An opaque text that decode_cursor reads.';

create function logloom_private.decode_cursor(p_cursor text, p_pattern text)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_parts text[];
begin
  begin
    v_parts := regexp_match(
      convert_from(
        decode(
          rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
        ),
        'UTF8'
      ),
      p_pattern
    );
  exception when data_exception then
    v_parts := null;
  end;
  if v_parts is null then
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$$;

revoke all on function logloom_private.decode_cursor(text, text) from public;

comment on function logloom_private.decode_cursor(text, text) is
  'The parts of a cursor as a regular expression captures them. PT400 where it does not match.';

create function logloom_private.to_microseconds(p_ts timestamptz)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (extract(epoch from p_ts) * 1000000)::bigint;
end;
$$;

revoke all on function logloom_private.to_microseconds(timestamptz) from public;

create function logloom_private.from_microseconds(p_microseconds bigint)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Seconds and the rest apart: a double holds no more than 2^53 exactly.
  return 'epoch'::timestamptz
    + p_microseconds / 1000000 * interval '1 second'
    + p_microseconds % 1000000 * interval '1 microsecond';
end;
$$;

revoke all on function logloom_private.from_microseconds(bigint) from public;

-- search/get_log.sql

create function logloom_private.log_within(
  p_tenant_id text,
  p_window tstzrange,
  p_id uuid,
  p_rows boolean,
  p_sealed boolean
)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || ' ' || logloom_private.tenant_rows_sql(
        p_tenant_id, lower(p_window), upper(p_window), format('l.id = %L::uuid limit 1', p_id)
      )
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_logs := logloom_private.read_apart(
      'select ' || logloom_private.log_record_sql() || format(
        ' from logloom_private.sealed_log(%L, %L, %L, %L) l limit 1',
        p_tenant_id, greatest(lower(p_window), logloom_private.kept_from(p_tenant_id)),
        upper(p_window), p_id
      )
    );
  end if;
  return v_logs[1];
end;
$$;

revoke all on function logloom_private.log_within(
  text, tstzrange, uuid, boolean, boolean
) from public;

comment on function logloom_private.log_within(text, tstzrange, uuid, boolean, boolean) is
  'The tenant''s record with an id, where its ts is in the window; of rows, of sealed ones, or '
  'both. Nulls where it is not there.';

create function logloom_private.read_log(p_id uuid, p_ts timestamptz)
returns public.logloom_log_record
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := logloom_private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the chunks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log(uuid, timestamptz) from public;

grant execute on function logloom_private.read_log(uuid, timestamptz)
to authenticated, service_role;

create function public.get_log(p_id uuid default null, p_ts timestamptz default null)
returns public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log(p_id, p_ts);
end;
$$;

revoke all on function public.get_log(uuid, timestamptz)
from public, anon, authenticated, service_role;

grant execute on function public.get_log(uuid, timestamptz)
to authenticated, service_role;

comment on function public.get_log(uuid, timestamptz) is
  'One record. p_ts, its time, finds it at once; without it the search begins at the time of '
  'receipt, which the id holds. Errors: PT400, PT401, PT404, PT408.';

-- search/get_log_context.sql

-- The neighbours of a record, of its host and service, on one side of it.
create function logloom_private.log_neighbours(
  p_log public.logloom_log_record,
  p_count integer,
  p_order text
)
returns public.logloom_log_record[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_query logloom_private.compiled_query;
  v_tree jsonb := '{"type": "and", "items": []}';
  v_name text;
  v_value text;
  v_logs public.logloom_log_record[];
begin
  if p_count = 0 then
    return '{}';
  end if;
  foreach v_name in array array['host', 'service'] loop
    v_value := case v_name when 'host' then p_log.host else p_log.service end;
    v_tree := jsonb_insert(
      v_tree, '{items, -1}',
      case
        when v_value is null then jsonb_build_object(
          'type', 'not', 'item', logloom_private.query_leaf(
            logloom_private.query_field(v_name, 1), '{"test": "exists"}'
          )
        )
        else logloom_private.query_leaf(
          logloom_private.query_field(v_name, 1),
          jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v_value))
        )
      end,
      true
    );
  end loop;
  v_query.tree := v_tree;
  v_query.filter := logloom_private.query_sql(v_tree, 'l');
  execute 'select array(' || logloom_private.log_page_sql(
    p_log.tenant_id, v_query,
    tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
    p_count, p_order, p_log.ts, p_log.id
  ) || ')'
  into v_logs;
  return v_logs;
end;
$$;

revoke all on function logloom_private.log_neighbours(
  public.logloom_log_record, integer, text
) from public;

create function logloom_private.read_log_context(
  p_id uuid,
  p_ts timestamptz,
  p_before integer,
  p_after integer
)
returns setof public.logloom_log_record
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because nobody but the search functions makes SQL over records
declare
  v_log public.logloom_log_record;
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_id, p_ts);
  return query
  select b.*
  from unnest(
    logloom_private.log_neighbours(v_log, v_before, 'desc')
      || v_log
      || logloom_private.log_neighbours(v_log, v_after, 'asc')
  ) b
  order by b.ts, b.id;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
end;
$$;

revoke all on function logloom_private.read_log_context(
  uuid, timestamptz, integer, integer
) from public;

grant execute on function logloom_private.read_log_context(uuid, timestamptz, integer, integer)
to authenticated, service_role;

create function public.get_log_context(
  p_id uuid default null,
  p_ts timestamptz default null,
  p_before integer default null,
  p_after integer default null
)
returns setof public.logloom_log_record
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return query
  select r.* from logloom_private.read_log_context(p_id, p_ts, p_before, p_after) r;
end;
$$;

revoke all on function public.get_log_context(uuid, timestamptz, integer, integer)
from public, anon, authenticated, service_role;

grant execute on function public.get_log_context(uuid, timestamptz, integer, integer)
to authenticated, service_role;

comment on function public.get_log_context(uuid, timestamptz, integer, integer) is
  'A record and those around it, of the same host and the same service (or likewise without), in '
  'time order: p_before before it and p_after after it, 0 to 499 (default 20), within a day. p_ts, '
  'its time, finds it at once. Errors: PT400, PT401, PT404, PT408, PT429.';

-- search/list_log_fields.sql

create type public.logloom_log_field_value as (value text, count bigint);

comment on type public.logloom_log_field_value is
  'A value of a field, and how many records have it.';

create type public.logloom_log_field as (
  field text,
  type text,
  count bigint,
  values public.logloom_log_field_value[]
);

comment on type public.logloom_log_field is
  'A field as a query names it; type: string, number, boolean, array, timestamp, uuid or mixed; '
  'how many records of the sample have it, and its most frequent values.';

-- A key as a segment of an attribute's path, quoted where the language wants it so.
create function logloom_private.query_segment(p_key text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  if p_key collate "und-x-icu" ~ '^[[:alpha:][:digit:]_-]+$' then
    return p_key;
  end if;
  return '"' || regexp_replace(p_key, '(["\\])', '\\\1', 'g') || '"';
end;
$$;

revoke all on function logloom_private.query_segment(text) from public;

-- How many records are looked at: before anything is sorted, since attributes may be wide.
create function logloom_private.log_fields_sample(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange
)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_attrs text;
  v_records integer := 0;
  v_bytes bigint := 0;
  v_cells bigint := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_attrs in execute 'select l.attrs::text ' || logloom_private.first_records_sql(
    p_tenant_id, p_query, greatest(lower(p_range), p_query.ts_from),
    least(upper(p_range), p_query.ts_to), p_query.filter, v_settings.search_sample_records, 'desc',
    null, null
  )
  loop
    v_bytes := v_bytes + coalesce(octet_length(v_attrs), 0);
    v_cells := v_cells + coalesce(regexp_count(v_attrs, '": '), 0);
    exit when v_records > 0
      and (v_bytes > v_settings.search_sample_bytes or v_cells > v_settings.search_sample_cells);
    v_records := v_records + 1;
  end loop;
  return v_records;
end;
$$;

revoke all on function logloom_private.log_fields_sample(
  text, logloom_private.compiled_query, tstzrange
) from public;

comment on function logloom_private.log_fields_sample(
  text, logloom_private.compiled_query, tstzrange
) is
  'Records, newest first, whose attributes together stay within the sample''s bytes and keys.';

-- Rows of public.logloom_log_field. Objects are walked five deep and 200 keys wide; a value of more
-- than 200 characters is left out: hostile attrs cost no more than others.
create function logloom_private.log_fields_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  return format(
    $query$
      with recursive sample as materialized (
        -- One character more than a value that is listed may have.
        select
          left(l.level, 201) as level, left(l.service, 201) as service, left(l.env, 201) as env,
          left(l.req_id, 201) as req_id, left(l.user_id, 201) as user_id,
          left(l.route, 201) as route, left(l.host, 201) as host, l.msg is not null as has_msg,
          l.attrs
        %1$s
      ), attributes as (
        select logloom_private.query_segment(a.key) as path, a.value, 1 as depth
        from sample s, lateral (select j.* from jsonb_each(s.attrs) j limit 200) a
        where length(a.key) <= 200
        union all
        select p.path || '.' || logloom_private.query_segment(a.key), a.value, p.depth + 1
        from attributes p,
          lateral (
            select j.*
            from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value end) j
            limit 200
          ) a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              ('level', 'string', s.level),
              ('service', 'string', s.service),
              ('env', 'string', s.env),
              ('req_id', 'string', s.req_id),
              ('user_id', 'string', s.user_id),
              ('route', 'string', s.route),
              ('host', 'string', s.host)
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select
          'attrs.' || a.path,
          jsonb_typeof(a.value),
          case when jsonb_typeof(a.value) in ('string', 'number', 'boolean')
            then left(a.value #>> '{}', 201) end
        -- The recursion ends when nobody asks for more.
        from (select t.* from attributes t limit %4$s) a
        where jsonb_typeof(a.value) not in ('null', 'object')
      ), fields as (
        select
          p.field,
          case count(distinct p.type) when 1 then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        group by p.field
        order by count(*) desc, p.field collate "C"
        limit %2$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from present p
        where length(p.value) <= 200
        group by p.field, p.value
      )
      select
        f.field, f.type, f.count,
        array(
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where v.field = f.field and v.place <= %3$s
          order by v.place
        )
      from fields f
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.first_records_sql(
      p_tenant_id, p_query, greatest(lower(p_range), p_query.ts_from),
      least(upper(p_range), p_query.ts_to), p_query.filter,
      logloom_private.log_fields_sample(p_tenant_id, p_query, p_range), 'desc', null, null
    ),
    v_settings.search_sample_fields, v_settings.search_sample_values,
    v_settings.search_sample_cells
  );
end;
$$;

revoke all on function logloom_private.log_fields_sql(
  text, logloom_private.compiled_query, tstzrange
) from public;

create function logloom_private.read_log_fields(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz
)
returns setof public.logloom_log_field
language plpgsql
stable
security definer
set search_path = ''
set jit = off
set work_mem = '16MB'
as $$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(v_tenant_id, v_query, v_range);
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
end;
$$;

revoke all on function logloom_private.read_log_fields(text, timestamptz, timestamptz)
from public;

grant execute on function logloom_private.read_log_fields(text, timestamptz, timestamptz)
to authenticated, service_role;

create function public.list_log_fields(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null
)
returns setof public.logloom_log_field
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return query
  select f.field, f.type, f.count, f.values
  from logloom_private.read_log_fields(
    p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
    logloom_private.time_parameter('p_ts_to', p_ts_to)
  ) f;
end;
$$;

revoke all on function public.list_log_fields(text, text, text)
from public, anon, authenticated, service_role;

grant execute on function public.list_log_fields(text, text, text)
to authenticated, service_role;

comment on function public.list_log_fields(text, text, text) is
  'Fields that the newest records of the range have which match p_query_dsl (all where it is '
  'blank), most frequent first. Errors: PT400, PT401, PT408.';

-- search/log_histogram.sql

create type public.logloom_log_level_counts as (
  debug bigint,
  info bigint,
  warn bigint,
  error bigint,
  "none" bigint
);

comment on type public.logloom_log_level_counts is 'Records by level; none: without one.';

create type public.logloom_log_bucket as (
  ts timestamptz,
  count bigint,
  levels public.logloom_log_level_counts
);

comment on type public.logloom_log_bucket is 'The records from ts on, for interval_seconds.';

create type public.logloom_log_histogram as (
  interval_seconds bigint,
  total bigint,
  buckets public.logloom_log_bucket[]
);

comment on type public.logloom_log_histogram is 'Records over time, in buckets of equal width.';

-- The least width of which p_buckets cover the range. Buckets are counted from the epoch, so that
-- one more than p_buckets may touch it.
create function logloom_private.histogram_seconds(p_range tstzrange, p_buckets integer)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_width bigint;
begin
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_width * p_buckets >= v_seconds then
      return v_width;
    end if;
  end loop;
  return ceil(v_seconds / p_buckets / 86400) * 86400;
end;
$$;

revoke all on function logloom_private.histogram_seconds(tstzrange, integer) from public;

create function logloom_private.require_buckets(p_buckets integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_buckets not between 1 and v_settings.search_buckets_max then
    perform logloom_private.refuse(
      'search.buckets_are_out_of_range', v_settings.search_buckets_max::text
    );
  end if;
  return coalesce(p_buckets, v_settings.search_buckets_default);
end;
$$;

revoke all on function logloom_private.require_buckets(integer) from public;

comment on function logloom_private.require_buckets(integer) is
  'p_buckets, or how many there are where none are named. PT400 when out of bounds.';

-- Rows of public.logloom_log_bucket.
create function logloom_private.log_histogram_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to constant timestamptz := least(upper(p_range), p_query.ts_to);
  v_events text := 'sum(l.events)::bigint';
  v_rows text;
begin
  p_query.aggregate := 'count';
  if p_seconds >= 60 then
    v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_from, v_to);
  end if;
  if v_rows is null then
    v_rows := logloom_private.records_sql(p_tenant_id, p_query, v_from, v_to, 'l.ts l.level');
    v_events := 'count(*)';
  end if;
  return format(
    $query$
      with counted as (
        select
          g.ts,
          sum(g.count)::bigint as count,
          sum(g.count) filter (where g.level = 'debug')::bigint as debug,
          sum(g.count) filter (where g.level = 'info')::bigint as info,
          sum(g.count) filter (where g.level = 'warn')::bigint as warn,
          sum(g.count) filter (where g.level = 'error')::bigint as error,
          sum(g.count) filter (where g.level is null)::bigint as none
        from (
          select date_bin(%1$L::interval, l.ts, 'epoch') as ts, l.level, %4$s as count
          %5$s
          group by 1, 2
        ) g
        group by g.ts
      )
      select row(
        b.ts,
        coalesce(c.count, 0),
        row(
          coalesce(c.debug, 0), coalesce(c.info, 0), coalesce(c.warn, 0), coalesce(c.error, 0),
          coalesce(c.none, 0)
        )::public.logloom_log_level_counts
      )::public.logloom_log_bucket
      from generate_series(
        date_bin(%1$L::interval, %2$L::timestamptz, 'epoch'),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', 'epoch'),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range), v_events, v_rows
  );
end;
$$;

revoke all on function logloom_private.log_histogram_sql(
  text, logloom_private.compiled_query, tstzrange, bigint
) from public;

create function logloom_private.read_log_histogram(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_buckets integer
)
returns public.logloom_log_histogram
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.histogram_seconds(
    v_range, logloom_private.require_buckets(p_buckets)
  );
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log_histogram(
  text, timestamptz, timestamptz, integer
) from public;

grant execute on function logloom_private.read_log_histogram(
  text, timestamptz, timestamptz, integer
) to authenticated, service_role;

create function public.log_histogram(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_histogram
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_histogram(
    p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
    logloom_private.time_parameter('p_ts_to', p_ts_to), p_buckets
  );
end;
$$;

revoke all on function public.log_histogram(text, text, text, integer)
from public, anon, authenticated, service_role;

grant execute on function public.log_histogram(
  text, text, text, integer
) to authenticated, service_role;

comment on function public.log_histogram(text, text, text, integer) is
  'Records that match p_query_dsl over time, by level, empty buckets included. p_buckets 1 to 1000 '
  '(default 60). Errors: PT400, PT401, PT408.';

-- search/log_patterns.sql

-- Patterns: messages by their shape. What differs from event to event, numbers, ids, addresses and
-- times, is <*>.

-- The shape of a message in two steps. The first is quick and is done for every record: from a
-- digit to the last one of its run, hexadecimal letters and what stands inside times, addresses
-- and paths of numbers included. The second looks at each different result of the first only: the
-- letters that stick to it are those of an id, of a zone or of a month.
create function logloom_private.rough_shape_sql(p_value text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'regexp_replace(left(' || p_value || ', 1000) collate "C", '
    || '''[0-9](?:[0-9a-fA-F.:,/+T-]*[0-9])?'', ''<*>'', ''g'')';
end;
$$;

revoke all on function logloom_private.rough_shape_sql(text) from public;

create function logloom_private.shape(p_rough text)
returns text
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
declare
  v_shape text := p_rough;
begin
  if strpos(v_shape, '<*>') = 0 then
    return v_shape;
  end if;
  -- Ids: hexadecimal letters around digits, or letters between them.
  v_shape := regexp_replace(
    v_shape collate "C",
    '(?:\m[a-fA-F]{1,16}-?)?<\*>(?:[A-Za-z_-]{0,16}<\*>)+(?:-?[a-fA-F]{1,16}\M)?'
      || '|\m[a-fA-F]{1,16}<\*>(?:-?[a-fA-F]{1,16}\M)?|<\*>-?[a-fA-F]{1,16}\M|<\*>Z\M',
    '<*>', 'g'
  );
  -- Addresses of IPv6, dates with the name of the month, lists of numbers.
  v_shape := regexp_replace(
    v_shape collate "C",
    '(?:[a-fA-F]{0,4}:{1,2})*<\*>(?::{1,2}(?:[a-fA-F]{1,4}|<\*>))+'
      || '|(?:<\*>[ /-])?\m(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M[ /-]{1,2}<\*>'
      || '|<\*>(?:, ?<\*>)+',
    '<*>', 'g'
  );
  return v_shape;
end;
$$;

revoke all on function logloom_private.shape(text) from public;

create function logloom_private.log_patterns_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_columns constant jsonb := jsonb_build_object(
    'count', 'p.count', 'first', 'p.first', 'last', 'p.last', 'pattern', 'p.pattern collate "C"'
  );
  v_rows text;
begin
  -- The newest, for there may be more than can be looked at.
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, greatest(lower(p_range), p_query.ts_from),
    least(upper(p_range), p_query.ts_to), p_query.filter, v_bound + 1, 'desc', null, null,
    case when p_query.plan ? 'rows' then null else 'l.msg' end
  );
  return query execute
    'with records as (select l.ts, l.msg '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
    || '), rough as (select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
      || 'count(*) as count, min(r.ts) as first, max(r.ts) as last, '
      || 'min(left(r.msg, 1000) collate "C") as example from records r group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example from rough r group by 1) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', logloom_private.utc_text(p.first), '
      || '''last'', logloom_private.utc_text(p.last), ''example'', p.example), count(*) over (), '
      || 'case when (select sum(c.count) from patterns c) > $2 then $1 || row($3, $4, $5)'
      || '::public.logloom_query_warning else $1 end from patterns p where '
    || logloom_private.having_sql(p_query.plan, v_columns)
    || logloom_private.sort_sql(
      p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"'
    )
    || ' limit ' || least(p_limit, (p_query.plan -> 'limit')::integer)
  using
    logloom_private.query_warnings(p_query.warnings), v_bound,
    (p_query.plan -> 'first' -> 'position')::integer,
    format('patterns met its bound of %s records: these are the newest', v_bound),
    'Narrow the filter or the range of time.';
end;
$$;

revoke all on function logloom_private.log_patterns_of(
  text, logloom_private.compiled_query, tstzrange, integer
) from public;

comment on function logloom_private.log_patterns_of(
  text, logloom_private.compiled_query, tstzrange, integer
) is
  'The shapes of the messages that a query finds, of the newest search_stage_records.';

-- A time as RFC 3339 in UTC, or null.
create function logloom_private.utc_text(p_at timestamptz)
returns text
language plpgsql
immutable
security invoker
parallel safe
set search_path = ''
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
end;
$$;

revoke all on function logloom_private.utc_text(timestamptz) from public;

-- search/log_series.sql

-- Groups as arrays of texts: the largest of the range by the first aggregate, which get a series of
-- their own.
create function logloom_private.largest_groups(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_groups jsonb;
begin
  p_query.plan := p_query.plan - 'bucket' - 'sort' - 'limit' - 'having';
  execute 'select jsonb_agg(array(select r.g ->> n from unnest($1) with ordinality u (n, i) '
    || 'order by u.i)) from ('
    || logloom_private.log_stats_sql(
      p_tenant_id, p_query, p_range,
      (select s.search_series from logloom_private.settings s)
    )
    || ') r (g, v, vs, t)'
  into v_groups
  using p_query.by_fields;
  return coalesce(v_groups, '[]');
end;
$$;

revoke all on function logloom_private.largest_groups(
  text, logloom_private.compiled_query, tstzrange
) from public;

-- Rows of bucket, number of the series (from 0, null for the rest) and value.
create function logloom_private.log_series_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_seconds bigint,
  p_groups jsonb
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregate constant jsonb :=
    jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0);
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  if cardinality(p_query.by_sql) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> jsonb_build_array('
      || (
        select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
        from unnest(p_query.by_sql) b
      )
      || ')::text)::integer';
  end if;
  v_source := logloom_private.stats_source(
    p_tenant_id, p_query,
    greatest(lower(p_range), p_query.ts_from), least(upper(p_range), p_query.ts_to),
    v_aggregate -> 0 ->> 'kind' in ('count', 'rate'), p_seconds,
    concat_ws(
      ' ', 'l.ts', array_to_string(p_query.by_sql, ' '),
      (logloom_private.stats_values_sql(v_aggregate, 'count(*)', 1))[1]
    )
  );
  return 'select ' || logloom_private.bucket_sql(p_seconds) || ', ' || v_key || ', '
    || (logloom_private.stats_values_sql(
      v_aggregate, v_source.count_sql, p_seconds::numeric / 60
    ))[1]
    || ' ' || v_source.rows_sql || ' group by 1, 2';
end;
$$;

revoke all on function logloom_private.log_series_sql(
  text, logloom_private.compiled_query, tstzrange, bigint, jsonb
) from public;

create function logloom_private.read_log_series(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_buckets integer
)
returns public.logloom_log_series_answer
language plpgsql
stable
security definer
set search_path = ''
set timezone = 'UTC'
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_buckets integer;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_buckets := logloom_private.require_buckets(p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'series');
  v_seconds := coalesce(
    (v_query.plan -> 'bucket')::bigint, logloom_private.histogram_seconds(v_range, v_buckets)
  );
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'), logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log_series(
  text, timestamptz, timestamptz, integer
) from public;

grant execute on function logloom_private.read_log_series(
  text, timestamptz, timestamptz, integer
) to authenticated, service_role;

create function public.log_series(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_buckets integer default null
)
returns public.logloom_log_series_answer
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_series(
    p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
    logloom_private.time_parameter('p_ts_to', p_ts_to), p_buckets
  );
end;
$$;

revoke all on function public.log_series(text, text, text, integer)
from public, anon, authenticated, service_role;

grant execute on function public.log_series(text, text, text, integer)
to authenticated, service_role;

comment on function public.log_series(text, text, text, integer) is
  'The first aggregate of p_query_dsl, count() where it has none, over time: {interval_seconds, '
  'series: [{group, points: [[ts, value], …]}], warnings}. The largest 20 groups of the range have '
  'a series each, the others one together, group null. A bucket without records has the value 0 '
  'of count, rate, sum and count_distinct, else null; rate is per minute of a bucket. p_buckets 1 '
  'to 1000 (default 60), where the query has no by (5m) of its own. Errors: PT400, PT401, PT408, '
  'PT429.';

-- search/log_stats.sql

-- The expression, over alias l, that rows are grouped by for a bucket of time.
create function logloom_private.bucket_sql(p_seconds bigint)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format('date_bin(%L::interval, l.ts, ''epoch'')', make_interval(secs => p_seconds));
end;
$$;

revoke all on function logloom_private.bucket_sql(bigint) from public;

create function logloom_private.query_warnings(p_warnings jsonb)
returns public.logloom_query_warning[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array(
    select jsonb_populate_record(null::public.logloom_query_warning, w.warning)
    from jsonb_array_elements(p_warnings) with ordinality w (warning, n)
    order by w.n
  );
end;
$$;

revoke all on function logloom_private.query_warnings(jsonb) from public;

-- What the aggregates of a query read: the counts where they can answer, sealed records without
-- reading them where only their number is asked for, otherwise the records.
create function logloom_private.stats_source(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_only_counts boolean,
  p_bucket bigint,
  p_reads text
)
returns logloom_private.counted_source
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_rows text;
begin
  if p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, p_from, p_to);
    end if;
    if v_rows is null and p_bucket is null and p_query.by_fields <@ array['level', 'service']
      and logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
    then
      v_rows := 'from (select l.level, l.service, 1::bigint as events '
        || logloom_private.rows_sql(
          p_tenant_id, p_from, p_to, p_query.filter, 'l.level l.service'
        )
        || ' union all select c.level, c.service, c.events from logloom_private.sealed_counts('
        || format(
          '%L, %L, %L, %L, %L',
          p_tenant_id, greatest(p_from, logloom_private.kept_from(p_tenant_id)), p_to,
          p_query.tree, p_query.filter
        )
        || ') c) l';
    end if;
    if v_rows is not null then
      return (v_rows, 'coalesce(sum(l.events), 0)::double precision')
        ::logloom_private.counted_source;
    end if;
  end if;
  return (
    logloom_private.staged_sql(p_query, logloom_private.records_sql(
      p_tenant_id, p_query, p_from, p_to,
      case when p_query.plan ? 'rows' then null else p_reads end
    )),
    'count(*)::double precision'
  )::logloom_private.counted_source;
end;
$$;

revoke all on function logloom_private.stats_source(
  text, logloom_private.compiled_query, timestamptz, timestamptz, boolean, bigint, text
) from public;

-- The aggregates of a query, count() where it has none.
create function logloom_private.stats_aggregates(p_query logloom_private.compiled_query)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    p_query.plan -> 'aggregates', '[{"kind": "count", "name": "count", "field": null}]'
  );
end;
$$;

revoke all on function logloom_private.stats_aggregates(logloom_private.compiled_query) from public;

-- The expressions of the aggregates. p_count: what count() is; p_minutes: what rate() divides by.
create function logloom_private.stats_values_sql(
  p_aggregates jsonb,
  p_count text,
  p_minutes numeric
)
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return array(
    select case a.item ->> 'kind'
      when 'count' then p_count
      when 'rate' then p_count || format(' / %L::double precision', p_minutes)
      else logloom_private.query_aggregate_sql(a.item, 'l')
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    order by a.n
  );
end;
$$;

revoke all on function logloom_private.stats_values_sql(jsonb, text, numeric) from public;

-- Rows of public.logloom_log_stat but for the warnings. p_range is the caller's, by which rate()
-- divides where the rows have no bucket.
create function logloom_private.log_stats_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[] := p_query.by_sql;
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
begin
  if v_bucket is not null then
    v_keys := logloom_private.bucket_sql(v_bucket) || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_source := logloom_private.stats_source(
    p_tenant_id, p_query,
    greatest(lower(p_range), p_query.ts_from), least(upper(p_range), p_query.ts_to),
    v_only_counts, v_bucket,
    array_to_string(
      v_keys || logloom_private.stats_values_sql(v_aggregates, 'count(*)', 1), ' '
    )
  );
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source.count_sql,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- Columns k1, k2 … of the groups and v1, v2 … of the aggregates.
  v_grouped := 'select ' || (
    select string_agg(c.sql || ' as ' || c.name, ', ')
    from (
      select k.sql, 'k' || k.n as name from unnest(v_keys) with ordinality k (sql, n)
      union all
      select v.sql, 'v' || v.n from unnest(v_values) with ordinality v (sql, n)
    ) c
  ) || ' ' || v_source.rows_sql;
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  -- What is a text is one already.
  v_texts := array(
    select case
      when v_bucket is not null and k.n = 1
        then 'to_char(g.k1 at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS"Z"'')'
      when k.name in ('ts', 'received_at', 'id') then format('(to_jsonb(g.k%s) #>> ''{}'')', k.n)
      else 'g.k' || k.n
    end
    from unnest(v_names) with ordinality k (name, n)
    order by k.n
  );
  v_sorted := (
    select jsonb_object_agg(c.name, c.sql)
    from (
      select
        k.name,
        case when v_bucket is not null and k.n = 1 then 'g.k1'
          else v_texts[k.n] || ' collate "C"' end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select a.item ->> 'name', 'g.v' || a.n
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    ) c
  );
  v_grouped := 'select g.*, count(*) over () as total from (select g.*, count(*) over () as groups '
    || 'from (' || v_grouped || ') g) g where (g.groups <= ' || v_groups
    || format(' or logloom_private.refuse_stage_bound(%L, %s, %L)) and ', 'by', v_groups, 'groups')
    || logloom_private.having_sql(p_query.plan, v_sorted)
    || logloom_private.sort_sql(
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        'g.v1 desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      )
    )
    || ' limit ' || least(p_limit, (p_query.plan -> 'limit')::integer);

  -- Arrays, since a function takes 100 arguments at most and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), g.v1, jsonb_build_object('
    || (
      select string_agg(quote_literal(a.item ->> 'name') || ', g.v' || a.n, ', ')
      from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$$;

revoke all on function logloom_private.log_stats_sql(
  text, logloom_private.compiled_query, tstzrange, integer
) from public;

create function logloom_private.log_stats_of(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  if p_query.plan ? 'patterns' then
    return query
    select p.*
    from logloom_private.log_patterns_of(p_tenant_id, p_query, p_range, p_limit) p;
  else
    return query execute 'select s.*, $1 from ('
      || logloom_private.log_stats_sql(p_tenant_id, p_query, p_range, p_limit) || ') s'
    using logloom_private.query_warnings(p_query.warnings);
  end if;
end;
$$;

revoke all on function logloom_private.log_stats_of(
  text, logloom_private.compiled_query, tstzrange, integer
) from public;

comment on function logloom_private.log_stats_of(
  text, logloom_private.compiled_query, tstzrange, integer
) is
  'A query''s aggregates for a tenant, from the counts where they can answer. For jobs, too.';

create function logloom_private.read_log_stats(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer
)
returns setof public.logloom_log_stat
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'rows');
  return query
  select s.* from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
end;
$$;

revoke all on function logloom_private.read_log_stats(
  text, timestamptz, timestamptz, integer
) from public;

grant execute on function logloom_private.read_log_stats(
  text, timestamptz, timestamptz, integer
) to authenticated, service_role;

create function public.log_stats(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null
)
returns setof public.logloom_log_stat
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return query
  select s.*
  from logloom_private.read_log_stats(
    p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
    logloom_private.time_parameter('p_ts_to', p_ts_to), p_limit
  ) s;
end;
$$;

revoke all on function public.log_stats(text, text, text, integer)
from public, anon, authenticated, service_role;

grant execute on function public.log_stats(text, text, text, integer)
to authenticated, service_role;

comment on function public.log_stats(text, text, text, integer) is
  'The aggregates of p_query_dsl, count() where it has none: a row for each group, {group, value, '
  'values: {name: number}, total_groups, warnings}, largest first, of buckets of time the oldest '
  'first; one row with group {} without by. For patterns a row for each pattern, values {count, '
  'first, last, example}. p_limit 1 to 1000 (default 100). Errors: PT400, PT401, PT408, PT429.';

-- search/range.sql

-- What a caller asks for

create function logloom_private.search_range(p_ts_from timestamptz, p_ts_to timestamptz)
returns tstzrange
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_to constant timestamptz := coalesce(p_ts_to, now());
  v_from constant timestamptz := coalesce(
    p_ts_from, v_to - (select s.search_default_range from logloom_private.settings s)
  );
begin
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$$;

revoke all on function logloom_private.search_range(timestamptz, timestamptz) from public;

comment on function logloom_private.search_range(timestamptz, timestamptz) is
  'The range that is asked for: [from, to), by default search_default_range to now. PT400.';

-- A relative bound of a further page is that of the first one, which its cursor knows.
create function logloom_private.page_time(p_name text, p_text text, p_cursor text)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_instant constant timestamptz := logloom_private.time_parameter(p_name, p_text);
begin
  if p_cursor is not null and logloom_private.trim_space(p_text) ~ '^now' then
    return null;
  end if;
  return v_instant;
end;
$$;

revoke all on function logloom_private.page_time(text, text, text) from public;

comment on function logloom_private.page_time(text, text, text) is
  'A bound of a page''s range, null where the cursor says it. PT400 where it is no time.';

grant execute on function logloom_private.page_time(text, text, text)
to authenticated, service_role;

create function logloom_private.page_limit(p_limit integer)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit not between 1 and v_max then
    perform logloom_private.refuse('search.page_limit_is_out_of_range', v_max::text);
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

revoke all on function logloom_private.page_limit(integer) from public;

comment on function logloom_private.page_limit(integer) is
  'The page size of an operation with a cursor: p_limit or the default. PT400 when out of bounds.';

-- What a query may hold that is asked for this: filter, records, rows, series, or any of them.
create function logloom_private.search_query(
  p_query_dsl text,
  p_now timestamptz,
  p_takes text
)
returns logloom_private.compiled_query
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  v_query.filter := logloom_private.filter_in_turns(v_query.tree);
  return v_query;
end;
$$;

revoke all on function logloom_private.search_query(text, timestamptz, text) from public;

comment on function logloom_private.search_query(text, timestamptz, text) is
  'Compiles the query for who takes a filter alone, records (with stages), rows of aggregates, '
  'series, or any. PT400 where the query holds what is not taken.';

-- search/rows_in_turn.sql

-- Days in turn: what a statement opens stays locked until its transaction ends, so that one over a
-- year would hold thousands of locks. A subtransaction that is rolled back gives its locks back.

create function logloom_private.search_parts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_order text,
  p_expired boolean default false
)
returns tstzrange[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days integer;
  v_max_chunks integer;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_chunks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if not p_expired then
    v_from := greatest(v_from, logloom_private.kept_from(p_tenant_id));
  end if;
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  select s.search_days_at_once, s.search_chunks_at_once into v_max_days, v_max_chunks
  from logloom_private.settings s;
  for v_day in
    select u.day, sum(u.days) as days, sum(u.chunks) as chunks
    from (
      select d.day, 1 as days, 0 as chunks
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(v_from)
          and logloom_private.utc_day(v_to - interval '1 microsecond')
      union all
      select
        logloom_private.utc_day(least(c.last_ts, v_to - interval '1 microsecond')), 0, count(*)
      from logloom_private.sealed_chunks c
      where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_chunks > 0 and v_chunks + v_day.chunks > v_max_chunks)
    then
      v_bound := logloom_private.day_start(
        case when v_is_descending then v_last_day else v_day.day end
      );
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_chunks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_chunks := v_chunks + v_day.chunks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$$;

revoke all on function logloom_private.search_parts(
  text, timestamptz, timestamptz, text, boolean
) from public;

comment on function logloom_private.search_parts(text, timestamptz, timestamptz, text, boolean) is
  'A range in p_order (asc or desc), in parts that hold search_days_at_once days of the tenant''s '
  'rows and search_chunks_at_once chunks at most. What it no longer keeps is in none, unless '
  'p_expired.';

create function logloom_private.opens_many_days(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_days constant integer := (select s.search_days_at_once from logloom_private.settings s);
begin
  return p_to - p_from > make_interval(days => v_days - 1) and v_days < (
    select count(*)
    from (
      select
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id
        and d.day between logloom_private.utc_day(p_from) and logloom_private.utc_day(p_to)
      limit v_days + 1
    ) d
  );
end;
$$;

revoke all on function logloom_private.opens_many_days(text, timestamptz, timestamptz) from public;

comment on function logloom_private.opens_many_days(text, timestamptz, timestamptz) is
  'Whether the tenant has rows on more than search_days_at_once days of a range.';

-- The columns of logloom.logs, of the alias l, of which p_fields (null: all) are read. Each is a
-- value by itself: what points into a table must not outlive the lock on it.
create function logloom_private.copied_columns_sql(p_fields text[])
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select string_agg(
      case
        when c.name <> all(p_fields) and c.name <> 'ts' then 'null::' || c.type
        when c.type = 'text' then format('l.%I || ''''', c.name)
        when c.type = 'jsonb' then format('l.%I #> ''{}''', c.name)
        else format('l.%I', c.name)
      end,
      ', ' order by c.n
    )
    from (
      select a.attname as name, format_type(a.atttypid, null) as type, a.attnum as n
      from pg_catalog.pg_attribute a
      where a.attrelid = 'logloom.logs'::regclass and a.attnum > 0 and not a.attisdropped
    ) c
  );
end;
$$;

revoke all on function logloom_private.copied_columns_sql(text[]) from public;

create function logloom_private.rows_in_turn(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text,
  p_order text,
  p_limit integer,
  p_expired boolean
)
returns setof logloom.logs
language plpgsql
stable
security invoker
set search_path = ''
set jit = off
rows 1000
as $$
declare
  v_columns constant text := logloom_private.copied_columns_sql(
    logloom_private.fields_read(p_reads)
  );
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, p_expired
  )
  loop
    begin
      return query execute 'select ' || v_columns || ' ' || logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter, p_expired => p_expired
      ) || case when p_limit is not null then format(
        ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, v_left
      ) else '' end;
      get diagnostics v_found = row_count;
      raise sqlstate 'LL002';
    exception when sqlstate 'LL002' then
      null;
    end;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end;
$$;

revoke all on function logloom_private.rows_in_turn(
  text, timestamptz, timestamptz, text, text, text, integer, boolean
) from public;

comment on function logloom_private.rows_in_turn(
  text, timestamptz, timestamptz, text, text, text, integer, boolean
) is
  'The tenant''s rows of a range that pass a filter, search_days_at_once days after '
  'search_days_at_once days; the first p_limit of them in p_order where it is given. p_reads: SQL '
  'over the alias l that reads them; of each only what it reads is there, all where it is null.';

create function logloom_private.rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text,
  p_order text default 'desc',
  p_limit integer default null,
  p_expired boolean default false
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz := p_from;
begin
  if not p_expired then
    v_from := greatest(v_from, logloom_private.kept_from(p_tenant_id));
  end if;
  if logloom_private.opens_many_days(p_tenant_id, v_from, p_to) is not true then
    return logloom_private.tenant_rows_sql(
      p_tenant_id, p_from, p_to, p_filter, p_expired => p_expired
    );
  end if;
  return 'from logloom_private.rows_in_turn(' || format(
    '%L, %L, %L, %L, %L, %L, %L, %L',
    p_tenant_id, p_from, p_to, p_filter, p_reads, p_order, p_limit, p_expired
  ) || ') l where true';
end;
$$;

revoke all on function logloom_private.rows_sql(
  text, timestamptz, timestamptz, text, text, text, integer, boolean
) from public;

comment on function logloom_private.rows_sql(
  text, timestamptz, timestamptz, text, text, text, integer, boolean
) is
  'SQL from "from" on: the tenant''s rows, as alias l, of a range that pass a filter, where they '
  'lie or, of many days, in turn. Parameters as those of rows_in_turn.';

-- Records that SQL selects, one composite each; its locks end with it.
create function logloom_private.read_apart(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_logs public.logloom_log_record[];
begin
  begin
    execute 'select array(' || p_sql || ')' into v_logs;
    raise sqlstate 'LL002';
  exception when sqlstate 'LL002' then
    null;
  end;
  return v_logs;
end;
$$;

revoke all on function logloom_private.read_apart(text) from public;

comment on function logloom_private.read_apart(text) is
  'The records that SQL selects; what it locks is free again afterwards.';

-- search/rows_sql.sql

-- SQL over a tenant's records

create function logloom_private.tenant_days_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_spans text[];
begin
  select array_agg(
    format(
      'l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
      logloom_private.day_start(i.first_day), logloom_private.day_start(i.last_day + 1)
    )
    order by i.first_day
  )
  into v_spans
  from (
    -- Days in a row, as one span.
    select min(d.day) as first_day, max(d.day) as last_day
    from (
      select u.day, u.day - (row_number() over (order by u.day))::integer as row_begin
      from logloom_private.log_days u
      where u.tenant_id = p_tenant_id
        and u.day between logloom_private.utc_day(p_from) and logloom_private.utc_day(p_to)
    ) d
    group by d.row_begin
  ) i;
  return case coalesce(cardinality(v_spans), 0)
    when 0 then 'false'
    when 1 then v_spans[1]
    else '(' || array_to_string(v_spans, ' or ') || ')'
  end;
end;
$$;

revoke all on function logloom_private.tenant_days_sql(text, timestamptz, timestamptz)
from public;

comment on function logloom_private.tenant_days_sql(text, timestamptz, timestamptz) is
  'A condition on l.ts that names only the days of the range in which the tenant has rows, so that '
  'a statement opens no other partition.';

-- Constants, not parameters: with them the planner leaves out the partitions of other days.
create function logloom_private.tenant_rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_table text default 'logloom.logs',
  p_time text default 'ts',
  p_expired boolean default false
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz := p_from;
  v_days text := '';
begin
  if not p_expired then
    -- What is older than the tenant keeps is gone, or about to go.
    v_from := greatest(v_from, logloom_private.kept_from(p_tenant_id));
  end if;
  if p_table = 'logloom.logs' then
    v_days := logloom_private.tenant_days_sql(p_tenant_id, v_from, p_to) || ' and ';
  end if;
  return format(
    'from %1$s l where l.tenant_id = %2$L'
      || ' and l.%3$I >= %4$L::timestamptz and l.%3$I < %5$L::timestamptz and ',
    p_table, p_tenant_id, p_time, v_from, p_to
  ) || v_days || p_filter;
end;
$$;

revoke all on function logloom_private.tenant_rows_sql(
  text, timestamptz, timestamptz, text, text, text, boolean
) from public;

comment on function logloom_private.tenant_rows_sql(
  text, timestamptz, timestamptz, text, text, text, boolean
) is
  'SQL from "from" on: the tenant''s rows, as alias l, of a range that pass a filter; with '
  'p_expired those too that the tenant no longer keeps. '
  'The only place that says whose rows are read.';

-- Exact within a stable function: it and the statement that it decides for share a snapshot, and in
-- a snapshot a record is a row or in a chunk.
create function logloom_private.reads_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  );
end;
$$;

revoke all on function logloom_private.reads_sealed(text, timestamptz, timestamptz) from public;

comment on function logloom_private.reads_sealed(text, timestamptz, timestamptz) is
  'Whether the tenant has sealed records of the range in this snapshot.';

-- For who makes a statement now and runs it in a later snapshot.
create function logloom_private.may_read_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s);
end;
$$;

revoke all on function logloom_private.may_read_sealed(text, timestamptz, timestamptz) from public;

comment on function logloom_private.may_read_sealed(text, timestamptz, timestamptz) is
  'Whether the tenant has sealed records of the range, or may have by the time that a statement '
  'runs.';

-- Rows and sealed records as one.
create function logloom_private.records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_reads text
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_rows constant text := logloom_private.rows_sql(
    p_tenant_id, p_from, p_to, p_query.filter, p_reads
  );
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from (select l.* ' || v_rows
    || ' union all select l.* from logloom_private.sealed_rows('
    || format(
      '%L, %L, %L, %L, %L, %L',
      p_tenant_id, greatest(p_from, logloom_private.kept_from(p_tenant_id)), p_to, p_query.tree,
      p_query.filter, p_reads
    )
    || ') l) l where true';
end;
$$;

revoke all on function logloom_private.records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text
) from public;

comment on function logloom_private.records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text
) is
  'SQL from "from" on: the tenant''s records, as alias l, of a range that a query finds, rows and '
  'sealed ones. p_reads: what reads them, SQL over l; of what is not read where it lies nothing '
  'else is there, all where p_reads is null.';

-- The first records in an order: that many of rows and of sealed records, and of these the first.
create function logloom_private.first_records_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_reads text default null
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_order constant text := format(
    ' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit
  );
  v_rows constant text := logloom_private.rows_sql(
    p_tenant_id, p_from, p_to, p_filter, p_reads || ' l.ts l.id', p_order, p_limit
  ) || v_order;
begin
  if not logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then
    return v_rows;
  end if;
  return 'from ((select l.* ' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%L, %L, %L, %L, %L, %L, %L, %L, %L, %L',
      p_tenant_id, greatest(p_from, logloom_private.kept_from(p_tenant_id)), p_to, p_query.tree,
      p_query.filter, p_limit, p_order, p_ts, p_id, p_reads
    )
    || ') l) l' || v_order;
end;
$$;

revoke all on function logloom_private.first_records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text, integer, text, timestamptz,
  uuid, text
) from public;

comment on function logloom_private.first_records_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz, text, integer, text, timestamptz,
  uuid, text
) is
  'SQL from "from" to "limit": the first p_limit records, as alias l, in p_order (asc or desc). '
  'p_filter is the query''s and, where p_ts and p_id are given, that a record is after them. '
  'p_reads: what reads them besides ts and id, SQL over l; all may be read where it is null.';

-- The counts of the range's whole minutes, and the records of what it has of its first and last
-- one. Null where the counts cannot answer the query.
create function logloom_private.counted_rows_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_fields constant text[] := p_query.fields || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_packed constant text := logloom_private.packed_counts_sql(p_tenant_id, v_first, v_last);
  v_filter constant text := logloom_private.query_sql(p_query.tree, 'l');
  v_hides_services boolean;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'logloom_private.log_counts', 'minute'
    ) || ') or exists (select ' || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', v_packed, 'minute'
    ) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  return 'from (select l.minute as ts, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, 'logloom_private.log_counts', 'minute'
    )
    || ' union all select l.minute, l.level, l.service, l.events '
    || logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, v_packed, 'minute'
    )
    || case when p_from < v_first then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, p_from, v_first, 'l.ts l.level l.service'
          )
      else '' end
    || case when v_last < p_to then
        ' union all select l.ts, l.level, l.service, 1 '
          || logloom_private.records_sql(
            p_tenant_id, p_query, v_last, p_to, 'l.ts l.level l.service'
          )
      else '' end
    || ') l';
end;
$$;

revoke all on function logloom_private.counted_rows_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz
) from public;

comment on function logloom_private.counted_rows_sql(
  text, logloom_private.compiled_query, timestamptz, timestamptz
) is
  'SQL from "from" on: ts, level, service and events of what is to be counted; null where the '
  'counts cannot answer.';

-- A record of the alias l as a composite.
create function logloom_private.log_record_sql()
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'row(l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, l.req_id, '
    || 'l.user_id, l.route, l.host, l.attrs)::public.logloom_log_record';
end;
$$;

revoke all on function logloom_private.log_record_sql() from public;

-- search/search_logs.sql

-- Up to p_limit records, the newest or the oldest of the range first, those after p_ts and p_id
-- where they are given.
create function logloom_private.log_page_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz default null,
  p_id uuid default null
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
  v_is_staged constant boolean := coalesce(jsonb_array_length(p_query.plan -> 'rows') > 0, false);
  v_reads integer := p_limit;
  v_rows text;
begin
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  -- A filter after an extraction lets only some through.
  if v_is_staged and p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
    v_reads := (select s.search_stage_records from logloom_private.settings s) + 1;
  end if;
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, v_from, v_to, v_filter, v_reads, p_order, p_ts, p_id
  );
  if v_is_staged then
    v_rows := logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
      || format(' order by l.ts %1$s, l.id %1$s limit %2$s', p_order, p_limit);
  end if;
  return 'select ' || logloom_private.shown_record_sql(p_query.plan -> 'fields') || ' ' || v_rows;
end;
$$;

revoke all on function logloom_private.log_page_sql(
  text, logloom_private.compiled_query, tstzrange, integer, text, timestamptz, uuid
) from public;

-- Part after part of the range, until the page is full or its time is up.
create function logloom_private.found_page(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid
)
returns logloom_private.found_page
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_turn from logloom_private.settings s
  );
  v_is_descending constant boolean := p_order = 'desc';
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_part tstzrange;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if jsonb_array_length(p_query.plan -> 'rows') > 0 and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
  end if;
  foreach v_part in array v_parts loop
    v_page.logs := v_page.logs || logloom_private.read_apart(
      logloom_private.log_page_sql(
        p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id
      )
    );
    if cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[p_limit]).ts;
      v_page.last_id := (v_page.logs[p_limit]).id;
      return v_page;
    elsif clock_timestamp() > v_deadline and v_part <> v_parts[cardinality(v_parts)] then
      -- Before or after all records of the parts that are left.
      if v_is_descending then
        v_page.last_ts := lower(v_part);
        v_page.last_id := '00000000-0000-0000-0000-000000000000';
      else
        v_page.last_ts := upper(v_part) - interval '1 microsecond';
        v_page.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      return v_page;
    end if;
  end loop;
  return v_page;
end;
$$;

revoke all on function logloom_private.found_page(
  text, logloom_private.compiled_query, tstzrange, integer, text, timestamptz, uuid
) from public;

comment on function logloom_private.found_page(
  text, logloom_private.compiled_query, tstzrange, integer, text, timestamptz, uuid
) is
  'Up to p_limit records that a query finds, those after p_ts and p_id where they are given. It '
  'begins no further part of the range after search_turn, so that it may find fewer.';

-- Reading: a function for each operation

-- Compiling a filter to machine code takes far longer than it saves here: jit is off.
create function logloom_private.read_log_page(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer,
  p_cursor text,
  p_order text
)
returns public.logloom_log_page
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer := logloom_private.page_limit(p_limit);
  v_order text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_page logloom_private.found_page;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if v_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\d{1,6}))?$'
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, logloom_private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, logloom_private.from_microseconds(v_after[5]::bigint));
    v_now := logloom_private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := logloom_private.search_range(v_from, v_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  v_order := logloom_private.page_order(v_query.plan, p_order);
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order,
    logloom_private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(array[
      'page', v_order, logloom_private.to_microseconds(v_page.last_ts)::text,
      v_page.last_id::text, logloom_private.to_microseconds(lower(v_range))::text,
      logloom_private.to_microseconds(upper(v_range))::text,
      logloom_private.to_microseconds(v_now)::text, v_left::text
    ]);
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log_page(
  text, timestamptz, timestamptz, integer, text, text
) from public;

grant execute on function logloom_private.read_log_page(
  text, timestamptz, timestamptz, integer, text, text
) to authenticated, service_role;

-- The operations

create function public.search_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null,
  p_order text default null
)
returns public.logloom_log_page
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_page(
    p_query_dsl, logloom_private.page_time('p_ts_from', p_ts_from, p_cursor),
    logloom_private.page_time('p_ts_to', p_ts_to, p_cursor), p_limit, p_cursor, p_order
  );
end;
$$;

revoke all on function public.search_logs(
  text, text, text, integer, text, text
) from public, anon, authenticated, service_role;

grant execute on function public.search_logs(
  text, text, text, integer, text, text
) to authenticated, service_role;

comment on function public.search_logs(text, text, text, integer, text, text) is
  'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. '
  'p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: '
  'next_cursor of the page before; it keeps the range of the first page. A page of a long range '
  'may end early, with fewer records and a next_cursor: only null says that there is no more. '
  'Errors: PT400, PT401, PT408 (took longer than 15 s).';

-- search/shown_record.sql

-- What the stages of records say of a page: its order, and what is shown of a record.

-- The order of a page: that of the query's sort, or p_order. PT400 where they differ.
create function logloom_private.page_order(p_plan jsonb, p_order text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_order constant text := case (p_plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
begin
  if v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  return coalesce(v_order, p_order, 'desc');
end;
$$;

revoke all on function logloom_private.page_order(jsonb, text) from public;

-- Puts a value under a path of an object.
create function logloom_private.put_path(p_object jsonb, p_path jsonb, p_value jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_key constant text := p_path ->> 0;
  v_inner jsonb := p_value;
begin
  if jsonb_array_length(p_path) > 1 then
    v_inner := logloom_private.put_path(
      case jsonb_typeof(p_object -> v_key) when 'object' then p_object -> v_key else '{}' end,
      p_path - 0, p_value
    );
  end if;
  return p_object || jsonb_build_object(v_key, v_inner);
end;
$$;

revoke all on function logloom_private.put_path(jsonb, jsonb, jsonb) from public;

-- The attributes that p_fields name, nested as they were; null where none is there.
create function logloom_private.pick_attrs(p_attrs jsonb, p_fields jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_field jsonb;
  v_key text;
  v_value jsonb;
  v_picked jsonb := '{}';
begin
  for v_field in select f from jsonb_array_elements(p_fields) f loop
    v_value := p_attrs;
    for v_key in select k from jsonb_array_elements_text(v_field -> 'path') k loop
      v_value := v_value -> v_key;
    end loop;
    if coalesce(v_value, 'null') <> 'null' then
      v_picked := logloom_private.put_path(v_picked, v_field -> 'path', v_value);
    elsif p_attrs ? (v_field ->> 'joined') then
      v_picked := v_picked || jsonb_build_object(
        v_field ->> 'joined', p_attrs -> (v_field ->> 'joined')
      );
    end if;
  end loop;
  return nullif(v_picked, '{}');
end;
$$;

revoke all on function logloom_private.pick_attrs(jsonb, jsonb) from public;

-- A record of the alias l as a composite, of which fields (null: all) are shown. id, tenant_id and
-- ts always are: they name the record.
create function logloom_private.shown_record_sql(p_fields jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_attrs constant jsonb := jsonb_path_query_array(p_fields, '$[*] ? (@.field == "attrs")');
begin
  if p_fields is null then
    return logloom_private.log_record_sql();
  end if;
  return 'row(l.id, l.tenant_id, l.ts, ' || (
    select string_agg(
      case when p_fields @> jsonb_build_array(jsonb_build_object('field', c.name))
        then 'l.' || c.name else 'null' end,
      ', ' order by c.n
    )
    from unnest(array[
      'received_at', 'level', 'msg', 'service', 'env', 'req_id', 'user_id', 'route', 'host'
    ]) with ordinality c (name, n)
  ) || ', ' || case
    when jsonb_array_length(v_attrs) = 0 then 'null'
    else 'logloom_private.pick_attrs(l.attrs, ' || quote_literal(v_attrs) || ')'
  end || ')::public.logloom_log_record';
end;
$$;

revoke all on function logloom_private.shown_record_sql(jsonb) from public;

-- search/stages_sql.sql

-- SQL for the stages of a query: what is extracted from records while they are read, and the rows
-- that are left after where, sort and limit.

create function logloom_private.refuse_stage_bound(p_stage text, p_bound integer, p_what text)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse('search.stage_met_its_bound', p_stage, p_bound::text, p_what);
  return null;
end;
$$;

revoke all on function logloom_private.refuse_stage_bound(text, integer, text) from public;

comment on function logloom_private.refuse_stage_bound(text, integer, text) is
  'PT400: a stage would need more records or groups than it may.';

-- What a stage makes of the rows that p_rows selects, as alias l.
create function logloom_private.stage_rows_sql(p_rows text, p_stage jsonb)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_extracted text;
begin
  if p_stage ->> 'stage' = 'where' then
    return 'select l.* from (' || p_rows || ') l where '
      || logloom_private.query_sql(p_stage -> 'tree', 'l');
  end if;
  v_extracted := format(
    'nullif(logloom_private.extract_%s(', p_stage ->> 'stage'
  ) || logloom_private.query_group_sql(p_stage -> 'field', 'l') || '), ''{}'')';
  -- "offset 0" has the members extracted once a record. A member that was there already stays.
  return 'select l.id, l.tenant_id, l.ts, l.received_at, l.level, l.msg, l.service, l.env, '
    || 'l.req_id, l.user_id, l.route, l.host, coalesce(' || v_extracted
    || ' || coalesce(l.attrs, ''{}''), l.attrs) as attrs, l.read_as from (' || p_rows
    || ') l offset 0';
end;
$$;

revoke all on function logloom_private.stage_rows_sql(text, jsonb) from public;

-- All that the stages before an aggregate make of p_rows, SQL from "from" on: SQL from "from" on.
create function logloom_private.staged_sql(p_query logloom_private.compiled_query, p_rows text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_sql text;
  v_stage jsonb;
begin
  if coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    return p_rows;
  end if;
  v_sql := format(
    'select l.* from (select l.*, row_number() over () as read_as from (select l.* %s',
    p_rows
  ) || format(
    ' limit %1$s) l) l where l.read_as <= %2$s '
      || 'or logloom_private.refuse_stage_bound(%3$L, %2$s, %4$L)',
    v_bound + 1, v_bound, p_query.plan -> 'rows' -> 0 ->> 'stage', 'records'
  );
  for v_stage in select s from jsonb_array_elements(p_query.plan -> 'rows') s loop
    v_sql := logloom_private.stage_rows_sql(v_sql, v_stage);
  end loop;
  return 'from (' || v_sql || ') l';
end;
$$;

revoke all on function logloom_private.staged_sql(logloom_private.compiled_query, text) from public;

comment on function logloom_private.staged_sql(logloom_private.compiled_query, text) is
  'SQL from "from" on, alias l: the records that p_rows, SQL of the same kind, yields, with the '
  'attributes that the stages json and logfmt extract, as far as where lets them through. Raises '
  'PT400 where it would read more than search_stage_records.';

-- What where after an aggregate asks, over columns that p_sql maps from names.
create function logloom_private.having_sql(p_plan jsonb, p_sql jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    (
      select string_agg(
        (p_sql ->> (h ->> 'name')) || ' ' || case h ->> 'operator' when '!=' then '<>'
          else h ->> 'operator' end || ' ' || quote_literal(h ->> 'number')
          || '::double precision',
        ' and '
      )
      from jsonb_array_elements(p_plan -> 'having') h
    ),
    'true'
  );
end;
$$;

revoke all on function logloom_private.having_sql(jsonb, jsonb) from public;

-- "order by" of the rows: the keys of sort, then p_default.
create function logloom_private.sort_sql(p_plan jsonb, p_sql jsonb, p_default text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return ' order by ' || concat_ws(
    ', ',
    (
      select string_agg(
        (p_sql ->> (k.key ->> 'name'))
          || case when (k.key -> 'descending')::boolean then ' desc' else '' end || ' nulls last',
        ', ' order by k.n
      )
      from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    ),
    p_default
  );
end;
$$;

revoke all on function logloom_private.sort_sql(jsonb, jsonb, text) from public;

-- search/tail_logs.sql

create type public.logloom_log_tail as (
  logs public.logloom_log_record[],
  next_cursor text,
  more boolean
);

comment on type public.logloom_log_tail is
  'Records in the order in which they became visible; more: whether others wait already.';

-- Records of the arrivals from p_first to p_last, of the first one those after p_id where it is
-- given, in the order in which they became visible.
create function logloom_private.log_tail_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_limit integer,
  p_first bigint,
  p_id uuid,
  p_last bigint
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_days timestamptz[];
  v_filter text;
  v_arrivals text;
  v_rows text;
  v_is_sealed boolean;
begin
  select array_agg(distinct a.day::timestamp at time zone 'UTC') into v_days
  from logloom_private.log_arrivals a
  where a.arrival >= p_first;
  v_arrivals := format('l.arrival between %s and %s and ', p_first, p_last);
  if p_id is not null then
    v_arrivals := v_arrivals || format('(l.arrival > %s or l.id > %L::uuid) and ', p_first, p_id);
  end if;
  v_filter := v_arrivals;
  -- Day by day, so that one late event does not bring in all days between. A client that was away
  -- for so long that there are many of them reads from the first to the last.
  if cardinality(v_days) <= 31 then
    v_filter := v_filter || '(' || (
      select string_agg(
        format('l.ts >= %L::timestamptz and l.ts < %L::timestamptz', d.day, d.day + '24 hours'),
        ' or '
      )
      from unnest(v_days) d (day)
    ) || ') and ';
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, v_days[1], v_days[cardinality(v_days)] + interval '24 hours',
    v_filter || p_query.filter, null
  );
  -- What a client that was away for long missed may be sealed by now.
  v_is_sealed := exists (
    select
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_arrival >= p_first and c.first_arrival <= p_last
  );
  return 'select ' || logloom_private.log_record_sql() || ' as record, l.arrival '
    || case when v_is_sealed then
        'from (select l.* ' || v_rows
        || ' union all select l.* from logloom_private.sealed_arrivals('
        || format('%L, %L, %L, %L, %L', p_tenant_id, p_first, p_last, p_query.tree, p_query.filter)
        || ') l where ' || v_arrivals
        || format('l.ts >= %L) l', logloom_private.kept_from(p_tenant_id))
      else
        v_rows
      end
    || ' order by l.arrival, l.id limit ' || p_limit;
end;
$$;

revoke all on function logloom_private.log_tail_sql(
  text, logloom_private.compiled_query, integer, bigint, uuid, bigint
) from public;

-- The newest p_backlog records, the oldest of them first, however late they came.
create function logloom_private.log_backlog_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_backlog integer
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- An event lies 24 hours ahead at most.
  v_range constant tstzrange := tstzrange(
    now() - (select s.tail_backlog_span from logloom_private.settings s),
    now() + interval '25 hours'
  );
begin
  return 'select r.record from (select (p.r).*, p.r as record from ('
    || logloom_private.log_page_sql(p_tenant_id, p_query, v_range, p_backlog, 'desc')
    || ') p (r)) r order by r.ts, r.id';
end;
$$;

revoke all on function logloom_private.log_backlog_sql(
  text, logloom_private.compiled_query, integer
) from public;

-- Without statistics of a new day the planner takes the index for useless: no sequential scans.
create function logloom_private.read_log_tail(
  p_query_dsl text,
  p_cursor text,
  p_limit integer,
  p_backlog integer
)
returns public.logloom_log_tail
language plpgsql
stable
security definer
set search_path = ''
set jit = off
set enable_seqscan = off
as $$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  select coalesce(max(a.arrival), 0) into v_last from logloom_private.log_arrivals a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Arrivals and records are of one snapshot: what is not here yet comes after this cursor.
    if p_backlog > 0 then
      execute 'select array(' || logloom_private.log_backlog_sql(v_tenant_id, v_query, p_backlog)
        || ')'
      into v_tail.logs;
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.arrival q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last arrival was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_log_tail(text, text, integer, integer) from public;

grant execute on function logloom_private.read_log_tail(text, text, integer, integer)
to authenticated, service_role;

create function public.tail_logs(
  p_query_dsl text default null,
  p_cursor text default null,
  p_limit integer default null,
  p_backlog integer default null
)
returns public.logloom_log_tail
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_tail(p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$$;

revoke all on function public.tail_logs(text, text, integer, integer)
from public, anon, authenticated, service_role;

grant execute on function public.tail_logs(text, text, integer, integer)
to authenticated, service_role;

comment on function public.tail_logs(text, text, integer, integer) is
  'Records that match p_query_dsl as they become visible, late ones included. Without p_cursor: '
  'the newest p_backlog (0 to 1000, default 0) records of the last 24 hours, oldest first, and the '
  'cursor of now. p_limit 1 to 1000 (default 100). '
  'Errors: PT400, PT401, PT408.';

-- search/take_search_slot.sql

-- What a tenant, and all tenants together, have running

create function logloom_private.search_slot_key(p_owner text, p_slot integer)
returns bigint
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return hashtextextended('logloom:search_slot ' || p_slot || ' ' || p_owner, 0);
end;
$$;

revoke all on function logloom_private.search_slot_key(text, integer) from public;

comment on function logloom_private.search_slot_key(text, integer) is
  'The advisory lock that is a slot: of a tenant, ''of '', ''scans of '' or ''validations of '' '
  'before its id, or of ''all''.';

create function logloom_private.free_search_slot(p_owner text, p_slots integer)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  for v_slot in 1..p_slots loop
    if pg_try_advisory_xact_lock(logloom_private.search_slot_key(p_owner, v_slot)) then
      return v_slot;
    end if;
  end loop;
  return null;
end;
$$;

revoke all on function logloom_private.free_search_slot(text, integer) from public;

comment on function logloom_private.free_search_slot(text, integer) is
  'Takes the first of the owner''s slots that is free, until the transaction''s end, and gives its '
  'number; null where none is.';

-- Locks, not rows: who is cancelled, killed or cut off gives its slot back with its transaction.
create function logloom_private.take_search_slot(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
  v_own integer;
  v_slots integer;
  v_free_time interval;
begin
  v_own := logloom_private.free_search_slot('of ' || p_tenant_id, v_plan.concurrent_searches);
  if v_own is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_of_this_tenant');
  end if;
  select greatest(1, floor(s.api_pool_size * s.search_pool_share)), s.search_free_time
  into v_slots, v_free_time
  from logloom_private.settings s;
  -- Parallel workers are processors as well: those of the plan's scans, for the first search alone.
  perform set_config(
    'max_parallel_workers_per_gather',
    least(
      current_setting('max_parallel_workers_per_gather')::integer,
      case when v_own = 1 then v_plan.concurrent_scans - 1 else 0 end
    )::text,
    true
  );
  -- The last quarter is for tenants that have nothing running.
  if v_own > 1 then
    v_slots := v_slots - v_slots / 4;
  end if;
  if logloom_private.free_search_slot('all', v_slots) is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_are_running');
  end if;
  perform set_config(
    'logloom.scan',
    extract(epoch from clock_timestamp() + v_free_time) || ' ' || logloom_private.search_slot_key(
      'scans of ' || p_tenant_id, v_own % v_plan.concurrent_scans
    ),
    true
  );
end;
$$;

revoke all on function logloom_private.take_search_slot(text) from public;

comment on function logloom_private.take_search_slot(text) is
  'What every operation that reads records calls first, once: takes a slot of the tenant and one '
  'of the pool until the transaction''s end. PT429 with Retry-After where none is free: to wait '
  'would hold a connection.';

-- Not those of searches: a page that searches has its query checked meanwhile.
create function logloom_private.take_validation_slot(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if logloom_private.free_search_slot(
    'validations of ' || p_tenant_id,
    (select s.concurrent_validations from logloom_private.settings s)
  ) is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$$;

revoke all on function logloom_private.take_validation_slot(text) from public;

comment on function logloom_private.take_validation_slot(text) is
  'A slot of the tenant for the time that a query is compiled; PT429 with Retry-After where none '
  'is free.';

-- search/take_turn.sql

-- What of a tenant reads at once for longer than a moment: as many processors as its plan says

-- Parallel safe although it takes a lock: a worker's lock is its leader's as well, and is gone with
-- the worker, whose leader takes it again at its next turn.
create function logloom_private.take_turn()
returns boolean
language plpgsql
volatile
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_scan constant text := current_setting('logloom.scan', true);
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(v_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(v_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(v_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;

revoke all on function logloom_private.take_turn() from public;

comment on function logloom_private.take_turn() is
  'True, at once as long as the search runs shorter than search_free_time, then as soon as no '
  'other search of the tenant that shares its scan slot reads on. Asked every few hundred records.';

-- What an index answers stays outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_in_turns(p_tree jsonb)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_quick text;
  v_costly text;
begin
  -- A node knows nothing of the others' locks.
  if logloom_private.is_spread() then
    return logloom_private.query_sql(p_tree, 'l');
  end if;
  select
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where i.is_quick),
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where not i.is_quick)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      e.item ->> 'type' in ('leaf', 'all', 'none')
        and e.item ->> 'field' not in ('attrs', 'any')
        and e.item ->> 'test' in ('equal', 'exists', 'within', 'range') as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    v_quick,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn() then '
      || coalesce(v_costly, 'true') || ' end'
  ) || ')';
end;
$$;

revoke all on function logloom_private.filter_in_turns(jsonb) from public;

comment on function logloom_private.filter_in_turns(jsonb) is
  'A query''s tree as a boolean expression over the alias l that takes its turn while it reads.';

-- search/validate_query.sql

create function logloom_private.read_query_validity(p_query_dsl text)
returns public.logloom_query_validity
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role calls the compiler's parts
begin
  perform logloom_private.take_validation_slot(logloom_private.resolve_tenant());
  return jsonb_populate_record(
    null::public.logloom_query_validity, logloom_private.query_verdict(p_query_dsl)
  );
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_query_validity(text) from public;

grant execute on function logloom_private.read_query_validity(text)
to authenticated, service_role;

comment on function logloom_private.read_query_validity(text) is
  'What public.validate_query answers, in a slot of the tenant.';

create function public.validate_query(p_query_dsl text default null)
returns public.logloom_query_validity
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  return logloom_private.read_query_validity(p_query_dsl);
end;
$$;

revoke all on function public.validate_query(text)
from public, anon, authenticated, service_role;

grant execute on function public.validate_query(text)
to authenticated, service_role;

comment on function public.validate_query(text) is
  'Whether p_query_dsl compiles: {valid, error, position, hint, warnings: [{position, message, '
  'suggestion}]}. Errors: PT400, PT401, PT408, PT429.';

-- saved_searches/types/saved_search.sql

-- Saved searches, and the plan's features, of which they are the first.

create type public.logloom_saved_search as (
  id uuid,
  name text,
  description text,
  query_dsl text,
  category text,
  is_shared boolean,
  tags text[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz,
  last_run_at timestamptz,
  run_count bigint
);

comment on type public.logloom_saved_search is
  'A saved search. created_by: the claim sub of who made it. run_count: runs by anybody.';

-- saved_searches/tables/saved_searches.sql

create function logloom_private.tags_are_valid(p_tags text[])
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return cardinality(p_tags) = 0
    or array_ndims(p_tags) = 1
    and cardinality(p_tags) <= 20
    and not exists (
      select from unnest(p_tags) t (tag) where t.tag is null or length(t.tag) not between 1 and 50
    );
end;
$$;

revoke all on function logloom_private.tags_are_valid(text[]) from public;

grant execute on function logloom_private.tags_are_valid(text[])
to authenticated, service_role;

comment on function logloom_private.tags_are_valid(text[]) is
  'At most 20 tags of 1 to 50 characters each.';

create table logloom.saved_searches (
  id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  created_by text not null,
  name text not null,
  description text,
  query_dsl text not null,
  category text,
  is_shared boolean not null default false,
  tags text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_run_at timestamptz,
  run_count bigint not null default 0,
  constraint saved_searches_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint saved_searches_description_is_valid check (length(description) between 1 and 2000),
  constraint saved_searches_category_is_valid check (
    category = logloom_private.trim_space(category) and length(category) between 1 and 100
  ),
  constraint saved_searches_tags_are_valid check (logloom_private.tags_are_valid(tags))
);

create index saved_searches_tenant_id_created_at_idx
on logloom.saved_searches (tenant_id, created_at desc, id desc);

alter table logloom.saved_searches enable row level security;
alter table logloom.saved_searches force row level security;

create policy saved_searches_select_creator_or_shared on logloom.saved_searches
for select to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and (is_shared or created_by = (select logloom_private.current_user_id()))
);

create policy saved_searches_insert_creator on logloom.saved_searches
for insert to authenticated
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy saved_searches_update_creator on logloom.saved_searches
for update to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
)
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy saved_searches_delete_creator on logloom.saved_searches
for delete to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

grant select, delete on logloom.saved_searches to authenticated, service_role;

grant insert (tenant_id, created_by, name, description, query_dsl, category, is_shared, tags)
on logloom.saved_searches to authenticated, service_role;

grant update (name, description, query_dsl, category, is_shared, tags, updated_at)
on logloom.saved_searches to authenticated, service_role;

comment on table logloom.saved_searches is
  'Queries that users keep: private to their creator, or shared with the tenant to read and run.';

comment on column logloom.saved_searches.created_by is 'The claim sub of who made it.';

-- saved_searches/check_query.sql

create function logloom_private.check_query(p_query_dsl text, p_is_alert boolean default false)
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role calls the compiler's parts
declare
  v_query logloom_private.compiled_query;
begin
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  if not p_is_alert then
    return;
  elsif v_query.plan ? 'first' and (
    (v_query.plan -> 'count')::integer > 1
    or v_query.plan ? 'bucket'
    or jsonb_array_length(v_query.plan -> 'aggregates') is distinct from 1
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  elsif jsonb_array_length(v_query.warnings) > 0 then
    -- A rule that looks for something else than was meant would be silent for ever.
    perform logloom_private.refuse_at(
      (v_query.warnings -> 0 ->> 'position')::integer,
      'alerts.query_has_a_warning',
      v_query.warnings -> 0 ->> 'message',
      v_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$$;

revoke all on function logloom_private.check_query(text, boolean) from public;

grant execute on function logloom_private.check_query(text, boolean)
to authenticated, service_role;

comment on function logloom_private.check_query(text, boolean) is
  'PT400 unless the query compiles and is not blank; for an alert rule, also when it has other '
  'stages than one aggregate, or probably means something else than was meant.';

-- saved_searches/create_saved_search.sql

create function public.create_saved_search(
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default false,
  p_tags text[] default null
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.check_query(p_query_dsl);
  perform logloom_private.require_room_for_saved_search(null);
  insert into logloom.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags
  )
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), p_query_dsl,
    nullif(logloom_private.trim_space(p_description), ''), nullif(
      logloom_private.trim_space(p_category), ''
    ),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}')
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$$;

revoke all on function public.create_saved_search(
  text, text, text, text, boolean, text[]
) from public, anon, authenticated, service_role;

grant execute on function public.create_saved_search(
  text, text, text, text, boolean, text[]
) to authenticated, service_role;

comment on function public.create_saved_search(text, text, text, text, boolean, text[]) is
  'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must '
  'compile. p_tags: at most 20. Errors: PT400 (plan limit, too), PT401.';

-- saved_searches/delete_saved_search.sql

create function public.delete_saved_search(p_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  delete from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function public.delete_saved_search(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.delete_saved_search(uuid)
to authenticated, service_role;

comment on function public.delete_saved_search(uuid) is
  'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';

-- saved_searches/get_saved_search.sql

create function public.get_saved_search(p_id uuid default null)
returns public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  select s.* into v_row
  from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
end;
$$;

revoke all on function public.get_saved_search(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.get_saved_search(uuid)
to authenticated, service_role;

comment on function public.get_saved_search(uuid) is
  'A saved search of the caller, or one that a colleague shares. Errors: PT400, PT401, PT404.';

-- saved_searches/get_saved_search_categories.sql

create function public.get_saved_search_categories()
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  return array(
    select distinct s.category
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.category is not null
    order by s.category
  );
end;
$$;

revoke all on function public.get_saved_search_categories()
from public, anon, authenticated, service_role;

grant execute on function public.get_saved_search_categories()
to authenticated, service_role;

comment on function public.get_saved_search_categories() is
  'Categories of the saved searches that the caller can read, each once, sorted. '
  'Errors: PT400, PT401.';

-- saved_searches/get_saved_search_count.sql

create function public.get_saved_search_count()
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
begin
  return (
    select count(*)
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.created_by = v_user_id
  );
end;
$$;

revoke all on function public.get_saved_search_count()
from public, anon, authenticated, service_role;

grant execute on function public.get_saved_search_count()
to authenticated, service_role;

comment on function public.get_saved_search_count() is
  'How many saved searches the caller has. Errors: PT400, PT401.';

-- saved_searches/list_saved_searches.sql

create function public.list_saved_searches(
  include_shared boolean default true,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select s.created_at
        from logloom.saved_searches s
        where s.id = p_after
      ),
      'saved search', 'id'
    )
  end;
begin
  return query
  select o.*
  from logloom.saved_searches s
  cross join lateral logloom_private.saved_search_of(s) o
  where s.tenant_id = v_tenant_id
    and (include_shared is distinct from false or s.created_by = v_user_id)
    and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
  order by s.created_at desc, s.id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_saved_searches(boolean, integer, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.list_saved_searches(boolean, integer, uuid)
to authenticated, service_role;

comment on function public.list_saved_searches(boolean, integer, uuid) is
  'The caller''s saved searches and, unless include_shared is false, those that colleagues share, '
  'newest first. p_limit 1 to 1000 (default 100), p_after: id of the last item of the page before. '
  'Errors: PT400, PT401.';

-- saved_searches/refuse_saved_search.sql

create function logloom_private.refuse_saved_search(p_id uuid)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if exists (select from logloom.saved_searches s where s.id = p_id) then
    perform logloom_private.refuse('saved_searches.not_its_creator');
  end if;
  perform logloom_private.refuse('saved_searches.not_found');
end;
$$;

revoke all on function logloom_private.refuse_saved_search(uuid) from public;

grant execute on function logloom_private.refuse_saved_search(uuid)
to authenticated, service_role;

comment on function logloom_private.refuse_saved_search(uuid) is
  'Says why the caller may not change a saved search: PT404, or PT403 where it is a colleague''s.';

-- saved_searches/require_room_for_saved_search.sql

create function logloom_private.count_saved_searches(p_tenant_id text)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (select count(*) from logloom.saved_searches t where t.tenant_id = p_tenant_id);
end;
$$;

revoke all on function logloom_private.count_saved_searches(text) from public;

comment on function logloom_private.count_saved_searches(text) is
  'Saved searches of a tenant that its plan counts.';

create function logloom_private.require_room_for_saved_search(p_tenant_id text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  perform logloom_private.refuse_beyond_plan(
    v_tenant_id, 'saved_searches', logloom_private.count_saved_searches(v_tenant_id)
  );
end;
$$;

revoke all on function logloom_private.require_room_for_saved_search(text) from public;

grant execute on function logloom_private.require_room_for_saved_search(text)
to authenticated, service_role;

comment on function logloom_private.require_room_for_saved_search(text) is
  'Provisions the tenant of the request and holds it; PT400 when its plan has no room for one '
  'more.';

-- saved_searches/run_saved_search.sql

create type public.logloom_saved_search_run as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  stats public.logloom_log_stat[]
);

comment on type public.logloom_saved_search_run is
  'What a saved search finds: a page of records or, where it aggregates, the rows of stats.';

create function logloom_private.read_saved_search(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_limit integer,
  p_cursor text
)
returns public.logloom_saved_search_run
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query logloom_private.compiled_query;
  v_page public.logloom_log_page;
  v_range tstzrange;
  v_stats public.logloom_log_stat[];
begin
  v_query := logloom_private.search_query(p_query_dsl, now(), 'any');
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    v_page := logloom_private.read_log_page(
      p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    );
    return row(
      v_page.logs, v_page.next_cursor, v_page.ts_from, v_page.ts_to, null
    )::public.logloom_saved_search_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_stats := array(
    select s
      from logloom_private.read_log_stats(p_query_dsl, lower(v_range), upper(v_range), p_limit) s
  );
  return row(
    '{}'::public.logloom_log_record[], null, lower(v_range), upper(v_range), v_stats
  )::public.logloom_saved_search_run;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
end;
$$;

revoke all on function logloom_private.read_saved_search(
  text, timestamptz, timestamptz, integer, text
) from public;

grant execute on function logloom_private.read_saved_search(
  text, timestamptz, timestamptz, integer, text
) to authenticated, service_role;

create function logloom_private.note_saved_search_run(p_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because who runs a colleague's shared search may not change it otherwise
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  update logloom.saved_searches s
  set run_count = s.run_count + 1, last_run_at = now()
  where s.id = p_id
    and s.tenant_id = v_tenant_id
    and (s.is_shared or s.created_by = logloom_private.current_user_id());
end;
$$;

revoke all on function logloom_private.note_saved_search_run(uuid) from public;

grant execute on function logloom_private.note_saved_search_run(uuid)
to authenticated, service_role;

comment on function logloom_private.note_saved_search_run(uuid) is
  'Counts a run of a saved search that the caller may read.';

create function public.run_saved_search(
  p_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null
)
returns public.logloom_saved_search_run
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
declare
  v_query_dsl text;
  v_run public.logloom_saved_search_run;
begin
  select s.query_dsl into v_query_dsl from public.get_saved_search(p_id) s;
  v_run := logloom_private.read_saved_search(
    v_query_dsl, logloom_private.page_time('p_ts_from', p_ts_from, p_cursor),
    logloom_private.page_time('p_ts_to', p_ts_to, p_cursor), p_limit, p_cursor
  );
  -- Further pages belong to the run that the first one began.
  if p_cursor is null then
    perform logloom_private.note_saved_search_run(p_id);
  end if;
  return v_run;
end;
$$;

revoke all on function public.run_saved_search(
  uuid, text, text, integer, text
) from public, anon, authenticated, service_role;

grant execute on function public.run_saved_search(
  uuid, text, text, integer, text
) to authenticated, service_role;

comment on function public.run_saved_search(uuid, text, text, integer, text) is
  'Runs a saved search of the caller or one that a colleague shares, and counts the run. As '
  'search_logs; where the query aggregates, stats holds the rows of log_stats. '
  'Errors: PT400, PT401, PT404, PT408.';

-- saved_searches/saved_search_of.sql

create function logloom_private.saved_search_of(p_row logloom.saved_searches)
returns public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
    p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
    p_row.run_count
  );
end;
$$;

revoke all on function logloom_private.saved_search_of(logloom.saved_searches) from public;

grant execute on function logloom_private.saved_search_of(logloom.saved_searches)
to authenticated, service_role;

comment on function logloom_private.saved_search_of(logloom.saved_searches) is
  'A saved search as the operations show it.';

-- saved_searches/update_saved_search.sql

create function public.update_saved_search(
  p_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default null,
  p_tags text[] default null
)
returns public.logloom_saved_search
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl);
  end if;
  -- An empty description or category takes it away.
  update logloom.saved_searches s
  set
    name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(logloom_private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(logloom_private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning s.* into v_row;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$$;

revoke all on function public.update_saved_search(
  uuid, text, text, text, text, boolean, text[]
) from public, anon, authenticated, service_role;

grant execute on function public.update_saved_search(
  uuid, text, text, text, text, boolean, text[]
) to authenticated, service_role;

comment on function public.update_saved_search(uuid, text, text, text, text, boolean, text[]) is
  'Changes what is given and returns the saved search. An empty p_description or p_category takes '
  'it away. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';

-- alerts/types/alerts.sql

-- Alert rules, the history of what they found, and its acknowledgement.

create type public.logloom_alert_comparison as enum ('gt', 'gte', 'lt', 'lte', 'eq', 'neq');

comment on type public.logloom_alert_comparison is
  'How a rule compares its value with the threshold.';

create type public.logloom_alert_rule as (
  rule_id uuid,
  tenant_id text,
  name text,
  description text,
  query_dsl text,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  window_minutes integer,
  cooldown_minutes integer,
  enabled boolean,
  notification_destinations text[],
  notification_config jsonb,
  created_at timestamptz,
  updated_at timestamptz,
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text
);

comment on type public.logloom_alert_rule is 'An alert rule. Windows and cooldowns are in minutes.';

create type public.logloom_alert_history_entry as (
  alert_id uuid,
  rule_id uuid,
  tenant_id text,
  triggered_at timestamptz,
  value double precision,
  threshold double precision,
  acknowledged boolean,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent boolean,
  notification_sent_at timestamptz,
  notification_channels text[],
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  "group" jsonb
);

comment on type public.logloom_alert_history_entry is
  'An alert: the value that a rule saw, and whether it was acknowledged and delivered.';

create type logloom_private.alert_window as (
  rule_id uuid,
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  error text,
  "group" jsonb
);

comment on type logloom_private.alert_window is
  'A window of a rule and the value found in it, of a group where the rule has by.';

create type logloom_private.alert_piece as (
  records integer,
  first_ts timestamptz,
  first_id uuid
);

comment on type logloom_private.alert_piece is
  'A bounded number of records that were read, newest first, and the last of them in that order.';

create type logloom_private.alert_need as (
  group_id bigint,
  needed_from timestamptz
);

comment on type logloom_private.alert_need is
  'From when on a group''s minutes are needed for the windows of its rules.';

create type logloom_private.pending_alert_group as (
  tenant_id text,
  group_id bigint,
  needed_from timestamptz,
  has_arrivals boolean,
  cost double precision
);

comment on type logloom_private.pending_alert_group is
  'A group that is to be read, for arrivals of the round or for minutes before; cost: milliseconds '
  'of a record, and those that it took already.';

-- alerts/types/bounds.sql

create function logloom_private.is_alert_window(p_minutes integer)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_minutes between 1 and 1440;
end;
$$;

revoke all on function logloom_private.is_alert_window(integer) from public;

grant execute on function logloom_private.is_alert_window(integer)
to authenticated, service_role;

comment on function logloom_private.is_alert_window(integer) is
  'Whether a rule may look at so many minutes: up to a day.';

create function logloom_private.is_alert_cooldown(p_minutes integer)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_minutes between 0 and 10080;
end;
$$;

revoke all on function logloom_private.is_alert_cooldown(integer) from public;

grant execute on function logloom_private.is_alert_cooldown(integer)
to authenticated, service_role;

comment on function logloom_private.is_alert_cooldown(integer) is
  'Whether a rule may be silent for so many minutes after an alert: up to a week.';

-- alerts/tables/alert_rules.sql

create function logloom_private.is_email_address(p_text text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return length(p_text) <= 254
    and split_part(p_text, '@', 1) ~ '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}$'
    and substr(p_text, strpos(p_text, '@') + 1)
      ~ '^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$';
end;
$$;

revoke all on function logloom_private.is_email_address(text) from public;

grant execute on function logloom_private.is_email_address(text)
to authenticated, service_role;

comment on function logloom_private.is_email_address(text) is
  'One plain ASCII address, nothing around it.';

create function logloom_private.is_webhook_url(p_text text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- Plain HTTP only to this machine, for a receiver in development. Printable ASCII, no userinfo.
  return length(p_text) <= 2048
    and p_text ~ '^[!-~]+$'
    and p_text ~ '^(https://[A-Za-z0-9[][^/?#@\\]*|http://127\.0\.0\.1(:[0-9]{1,5})?)([/?#].*)?$';
end;
$$;

revoke all on function logloom_private.is_webhook_url(text) from public;

grant execute on function logloom_private.is_webhook_url(text)
to authenticated, service_role;

comment on function logloom_private.is_webhook_url(text) is
  'An https URL without userinfo, or one of http://127.0.0.1. Whether its host may be reached is '
  'checked when it is.';

create table logloom.alert_rules (
  rule_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  description text,
  query_dsl text not null,
  threshold double precision not null,
  comparison text not null,
  window_minutes integer not null,
  cooldown_minutes integer not null,
  enabled boolean not null,
  notification_destinations text[] not null default '{}',
  notification_config jsonb not null default '{}',
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text,
  constraint alert_rules_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint alert_rules_description_is_valid check (length(description) between 1 and 2000),
  -- NaN is greater than every number.
  constraint alert_rules_threshold_is_finite check (
    threshold > '-Infinity' and threshold < 'Infinity'
  ),
  constraint alert_rules_comparison_is_known check (
    comparison in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq')
  ),
  constraint alert_rules_window_is_valid check (
    logloom_private.is_alert_window(window_minutes)
  ),
  constraint alert_rules_cooldown_is_valid check (
    logloom_private.is_alert_cooldown(cooldown_minutes)
  ),
  constraint alert_rules_destinations_are_known check (
    notification_destinations <@ '{email,webhook}'
    and cardinality(notification_destinations) <= 2
  ),
  constraint alert_rules_config_is_object check (
    jsonb_typeof(notification_config) = 'object'
    and octet_length(notification_config::text) <= 8192
  ),
  constraint alert_rules_email_is_valid check (
    logloom_private.is_email_address(notification_config ->> 'email')
  ),
  constraint alert_rules_webhook_url_is_valid check (
    logloom_private.is_webhook_url(notification_config ->> 'webhook_url')
  ),
  constraint alert_rules_destinations_have_addresses check (
    not enabled
    or (
      (notification_config ->> 'email' is not null or not 'email' = any(notification_destinations))
      and (
        notification_config ->> 'webhook_url' is not null
        or not 'webhook' = any(notification_destinations)
      )
    )
  )
)
-- Every rule is updated every minute.
with (fillfactor = 70);

create index alert_rules_tenant_id_created_at_idx
on logloom.alert_rules (tenant_id, created_at desc, rule_id desc);

alter table logloom.alert_rules enable row level security;
alter table logloom.alert_rules force row level security;

create policy alert_rules_select_tenant on logloom.alert_rules
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_insert_tenant on logloom.alert_rules
for insert to authenticated
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_update_tenant on logloom.alert_rules
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_delete_tenant on logloom.alert_rules
for delete to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select, delete on logloom.alert_rules to authenticated, service_role;

grant insert (
  tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
  cooldown_minutes, enabled, notification_destinations, notification_config, created_by
) on logloom.alert_rules to authenticated, service_role;

grant update (
  name, description, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
  notification_destinations, notification_config, updated_at
) on logloom.alert_rules to authenticated, service_role;

comment on table logloom.alert_rules is
  'What a tenant wants to be told of: a query, its window, and the threshold of its value.';

comment on column logloom.alert_rules.created_by is
  'The claim sub of who made it. Every user of the tenant may change it.';

comment on column logloom.alert_rules.notification_config is
  'Free-form. email and webhook_url are the addresses of the destinations of these names.';

comment on column logloom.alert_rules.last_evaluated_at is 'End of the last window evaluated.';

comment on column logloom.alert_rules.last_value is 'Value over that window; null: no data.';

comment on column logloom.alert_rules.last_error is 'Why that window could not be evaluated.';

-- alerts/tables/alert_groups.sql

create table logloom_private.alert_groups (
  group_id bigint generated always as identity primary key,
  tenant_id text not null references logloom.tenants on delete cascade,
  digest bytea not null,
  filter text not null,
  number_sql text not null,
  arrival bigint,
  filled_from timestamptz,
  filled_id uuid,
  records_read bigint not null default 0,
  spent_ms double precision not null default 0,
  ms_per_record double precision,
  failures integer not null default 0,
  retry_at timestamptz,
  last_error text,
  constraint alert_groups_digest_is_unique unique (tenant_id, digest),
  constraint alert_groups_filling_is_whole check ((arrival is null) = (filled_from is null))
)
-- Every group is updated every minute.
with (fillfactor = 70);

create index alert_groups_unfilled_idx on logloom_private.alert_groups (group_id)
where arrival is null;

alter table logloom_private.alert_groups enable row level security;
alter table logloom_private.alert_groups force row level security;

comment on table logloom_private.alert_groups is
  'Filter and number that rules of a tenant share. Its partial values are complete for records up '
  'to arrival from (filled_from, filled_id) on; both null: to be filled.';

comment on column logloom_private.alert_groups.number_sql is
  'What sum, avg, min and max take of a record, over the alias l.';

comment on column logloom_private.alert_groups.filled_id is
  'Of the instant filled_from, the least id that is included; null: all of it is.';

comment on column logloom_private.alert_groups.records_read is
  'Records that the present filling read.';

comment on column logloom_private.alert_groups.spent_ms is
  'Milliseconds that the present filling took.';

comment on column logloom_private.alert_groups.ms_per_record is
  'Milliseconds that a record took when the group last read some: what it is expected to cost.';

comment on column logloom_private.alert_groups.retry_at is
  'It cost too much and rests until then; failures: how often in a row.';

-- alerts/tables/alert_history.sql

-- No foreign key on rule_id: what was found stays on record when the rule is deleted.
create table logloom.alert_history (
  alert_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  triggered_at timestamptz not null default now(),
  value double precision not null,
  threshold double precision not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent_at timestamptz,
  notification_channels text[] not null default '{}',
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  "group" jsonb,
  constraint alert_history_value_is_finite check (value > '-Infinity' and value < 'Infinity'),
  constraint alert_history_acknowledgement_is_whole check (
    (acknowledged_at is null) = (acknowledged_by is null)
  )
);

create index alert_history_tenant_id_triggered_at_idx
on logloom.alert_history (tenant_id, triggered_at desc, alert_id desc);

create index alert_history_tenant_id_rule_id_triggered_at_idx
on logloom.alert_history (tenant_id, rule_id, triggered_at desc, alert_id desc);

create index alert_history_triggered_at_idx on logloom.alert_history using brin (triggered_at);

-- A window fires once for each group, whoever evaluates it how often.
create unique index alert_history_rule_id_window_end_idx
on logloom.alert_history (rule_id, window_end, (coalesce(md5("group"::text), '')));

alter table logloom.alert_history enable row level security;
alter table logloom.alert_history force row level security;

create policy alert_history_select_tenant on logloom.alert_history
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_history_update_tenant on logloom.alert_history
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_history to authenticated, service_role;

grant update (acknowledged_at, acknowledged_by) on logloom.alert_history
to authenticated, service_role;

comment on table logloom.alert_history is
  'Each time a rule''s condition held, what was seen then, and who answered it.';

comment on column logloom.alert_history.threshold is 'The rule''s threshold at the time.';

comment on column logloom.alert_history.acknowledged_by is
  'The claim sub of who acknowledged it first.';

comment on column logloom.alert_history.notification_channels is 'Channels on which it arrived.';

comment on column logloom.alert_history.notification_error is
  'Why the last delivery that was given up could not be made.';

comment on column logloom.alert_history."group" is
  'The group that fired, {field: text}; null where the rule has no by.';

comment on column logloom.alert_history.window_end is
  'The value is of records from window_start to before window_end.';

-- alerts/tables/alert_partials.sql

create table logloom_private.alert_partials (
  group_id bigint not null references logloom_private.alert_groups on delete cascade,
  minute timestamptz not null,
  events bigint not null,
  numbers bigint not null,
  total numeric,
  least numeric,
  greatest numeric,
  primary key (group_id, minute)
)
with (fillfactor = 70);

alter table logloom_private.alert_partials enable row level security;
alter table logloom_private.alert_partials force row level security;

comment on table logloom_private.alert_partials is
  'Per group and minute of ts: records, those with a number, and the numbers'' sum and bounds.';

-- alerts/tables/alert_plans.sql

create table logloom_private.alert_plans (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  tenant_id text not null references logloom.tenants on delete cascade,
  query_dsl text not null,
  aggregate text not null,
  aggregate_sql text not null,
  filter text not null,
  tree jsonb not null,
  names_now boolean not null,
  by_fields text[] not null default '{}',
  by_sql text[] not null default '{}',
  group_id bigint references logloom_private.alert_groups on delete cascade,
  refusal text,
  failures integer not null default 0,
  retry_at timestamptz,
  last_error text
);

create index alert_plans_tenant_id_idx on logloom_private.alert_plans (tenant_id);
create index alert_plans_group_id_idx on logloom_private.alert_plans (group_id);

alter table logloom_private.alert_plans enable row level security;
alter table logloom_private.alert_plans force row level security;

comment on table logloom_private.alert_plans is
  'A rule''s query as compiled, valid while query_dsl is the rule''s. Without a group, the rule '
  'reads its window.';

comment on column logloom_private.alert_plans.by_sql is
  'What by groups records by, over the alias l; by_fields: the fields as written.';

comment on column logloom_private.alert_plans.refusal is 'Why the query does not compile.';

comment on column logloom_private.alert_plans.retry_at is
  'Reading its window cost too much: it rests until then; failures: how often in a row.';

-- alerts/tables/alert_round_arrivals.sql

create table logloom_private.alert_round_arrivals (
  tenant_id text primary key,
  first_ts timestamptz not null,
  records bigint not null
);

alter table logloom_private.alert_round_arrivals enable row level security;
alter table logloom_private.alert_round_arrivals force row level security;

comment on table logloom_private.alert_round_arrivals is
  'What arrived for the last round, of tenants with rules: how many records, and the least ts, '
  'which says which windows that were evaluated are to be looked at again.';

-- alerts/tables/alert_rounds.sql

create table logloom_private.alert_rounds (
  singleton boolean primary key default true,
  window_end timestamptz not null,
  arrival_from bigint not null,
  arrival_to bigint not null,
  finished_at timestamptz,
  constraint alert_rounds_has_one_row check (singleton)
);

alter table logloom_private.alert_rounds enable row level security;
alter table logloom_private.alert_rounds force row level security;

comment on table logloom_private.alert_rounds is
  'The last round: where its windows ended, and which arrivals it added to the groups.';

-- alerts/tables/alert_spending.sql

create table logloom_private.alert_spending (
  tenant_id text primary key,
  spent_ms double precision not null
);

alter table logloom_private.alert_spending enable row level security;
alter table logloom_private.alert_spending force row level security;

comment on table logloom_private.alert_spending is
  'What the rules of a tenant took of the present round beyond what is done for all at once: who '
  'took least comes next.';

-- alerts/acknowledge_alert.sql

create function public.acknowledge_alert(p_alert_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id;
  if not found then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function public.acknowledge_alert(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.acknowledge_alert(uuid)
to authenticated, service_role;

comment on function public.acknowledge_alert(uuid) is
  'Records that the caller answers an alert. Again: no change. Errors: PT400, PT401, PT404.';

-- alerts/advance_alert_groups.sql

-- What arrived for a round

-- Groups that are expected to take no more than a moment, those with the same filter together.
create function logloom_private.advance_alert_groups(
  p_round logloom_private.alert_rounds,
  p_deadline timestamptz
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_staged constant text := 'pg_temp.alert_arrivals';
  v_unit record;
begin
  for v_unit in
    select
      u.filter, u.number_sql, array_agg(u.group_id) as group_ids,
      array_agg(u.filled_from) as froms, sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_arrivals a on a.tenant_id = g.tenant_id
      where g.arrival < p_round.arrival_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part, u.filter, u.number_sql
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, v_unit.records,
      p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

revoke all on function logloom_private.advance_alert_groups(
  logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.advance_alert_groups(
  logloom_private.alert_rounds, timestamptz
) is
  'Adds what arrived to the groups that are cheap. True where the deadline came before the end.';

create function logloom_private.is_cheap(p_records bigint, p_ms_per_record double precision)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_records <= 5000 and p_records * coalesce(p_ms_per_record, 0.02) <= 20;
end;
$$;

revoke all on function logloom_private.is_cheap(bigint, double precision) from public;

comment on function logloom_private.is_cheap(bigint, double precision) is
  'Whether so many records are expected to take 20 ms at most.';

-- One statement for all groups of a unit; where one of them makes it fail, each by itself.
create function logloom_private.add_alert_unit(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_filter text,
  p_number_sql text,
  p_records numeric,
  p_round logloom_private.alert_rounds
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_error text;
begin
  begin
    perform logloom_private.add_staged_records(
      p_table, p_group_ids, p_froms, p_filter, p_number_sql
    );
    update logloom_private.alert_groups g
    set
      arrival = p_round.arrival_to,
      filled_from = i.starts,
      -- Of a few records a statement's own cost would be most of it.
      ms_per_record = case
        when p_records >= 100 then logloom_private.milliseconds_since(v_began) / p_records
        else g.ms_per_record
      end,
      retry_at = null,
      last_error = null,
      failures = 0
    from unnest(p_group_ids, p_froms) i (group_id, starts)
    where g.group_id = i.group_id;
    return;
  exception when others then
    v_error := sqlerrm;
  end;
  if cardinality(p_group_ids) = 1 then
    perform logloom_private.fail_alert_group(p_group_ids[1], p_round, v_error);
    return;
  end if;
  for v_at in 1..cardinality(p_group_ids) loop
    perform logloom_private.add_alert_unit(
      p_table, p_group_ids[v_at:v_at], p_froms[v_at:v_at], p_filter, p_number_sql, 0, p_round
    );
  end loop;
end;
$$;

revoke all on function logloom_private.add_alert_unit(
  text, bigint[], timestamptz[], text, text, numeric, logloom_private.alert_rounds
) from public;

comment on function logloom_private.add_alert_unit(
  text, bigint[], timestamptz[], text, text, numeric, logloom_private.alert_rounds
) is
  'Adds staged records to groups with the same filter and brings them to the round.';

-- New groups of tenants that have little in their windows: staged for all at once.
create function logloom_private.fill_small_alert_groups(
  p_round logloom_private.alert_rounds,
  p_limit integer
)
returns bigint[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_staged constant text := 'pg_temp.alert_backlog';
  -- What is older may be sealed, and is read tenant by tenant.
  v_from constant timestamptz := p_round.window_end - (
    select s.seal_after - s.alert_round_limit from logloom_private.settings s
  );
  v_new record;
  v_records bigint;
  v_group_ids bigint[];
  v_froms timestamptz[];
  v_unit record;
begin
  for v_new in
    select n.group_id, n.needed_from, g.tenant_id, g.ms_per_record
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    where g.arrival is null
      and coalesce(g.retry_at <= p_round.window_end, true)
      and n.needed_from >= v_from
    order by n.group_id
  loop
    -- By itself, because the counts may be on another node.
    v_records := coalesce(
      (
        select sum(c.events)
        from logloom_private.log_counts c
        where c.tenant_id = v_new.tenant_id and c.minute >= v_new.needed_from - interval '1 minute'
      ),
      0
    );
    if v_records <= 1000 and logloom_private.is_cheap(v_records, v_new.ms_per_record) then
      v_group_ids := v_group_ids || v_new.group_id;
      v_froms := v_froms || v_new.needed_from;
      exit when cardinality(v_group_ids) = p_limit;
    end if;
  end loop;
  if v_group_ids is null then
    return '{}';
  end if;
  delete from logloom_private.alert_partials p where p.group_id = any(v_group_ids);
  if to_regclass(v_staged) is null then
    execute 'create temp table ' || v_staged || ' (like logloom.logs)';
    execute 'create index on ' || v_staged || ' (tenant_id, ts, id)';
  else
    execute 'truncate ' || v_staged;
  end if;
  execute format(
    'insert into %s select l.* from (select g.tenant_id, min(n.starts) as starts '
      || 'from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id group by 1) t '
      || 'join logloom.logs l on l.tenant_id = t.tenant_id and l.ts >= t.starts '
      || 'where l.ts >= %L::timestamptz and l.arrival <= %s',
    v_staged, (select min(f.starts) from unnest(v_froms) f (starts)), p_round.arrival_to
  )
  using v_group_ids, v_froms;

  for v_unit in
    select
      g.filter, g.number_sql, array_agg(g.group_id) as group_ids, array_agg(n.starts) as froms
    from unnest(v_group_ids, v_froms) n (group_id, starts)
    join logloom_private.alert_groups g on g.group_id = n.group_id
    group by g.digest, g.filter, g.number_sql
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.filter, v_unit.number_sql, 0, p_round
    );
  end loop;
  return v_group_ids;
end;
$$;

revoke all on function logloom_private.fill_small_alert_groups(
  logloom_private.alert_rounds, integer
) from public;

comment on function logloom_private.fill_small_alert_groups(
  logloom_private.alert_rounds, integer
) is
  'Fills new groups whose windows hold few records, p_limit at most. Which ones.';

-- alerts/alert_groups.sql

-- Partial values per minute of what p_source selects: SQL that yields the columns of logloom.logs.
create function logloom_private.alert_partials_sql(p_source text, p_filter text, p_number_sql text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- "offset 0" has the number computed once a record, not once an aggregate.
  return 'select m.minute, count(*) as events, count(m.number) as numbers, sum(m.number) as total, '
    || 'min(m.number) as least, max(m.number) as greatest '
    || 'from (select date_bin(''1 minute'', l.ts, ''epoch'') as minute, ' || p_number_sql
    || ' as number from (' || p_source || ') l where (' || p_filter || ') offset 0) m '
    || 'group by m.minute';
end;
$$;

revoke all on function logloom_private.alert_partials_sql(text, text, text) from public;

comment on function logloom_private.alert_partials_sql(text, text, text) is
  'SQL of the partial values per minute of what a source yields.';

-- Adds SQL that yields group_id, minute, events, numbers, total, least and greatest.
create function logloom_private.add_alert_partials_sql(p_partials text)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'insert into logloom_private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) ' || p_partials
    || ' on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
end;
$$;

revoke all on function logloom_private.add_alert_partials_sql(text) from public;

comment on function logloom_private.add_alert_partials_sql(text) is
  'SQL that adds partial values to those that are there.';

-- Whatever a tenant's rules have in common with another's is looked at in one statement. Each
-- record is read by its own tenant's groups only: by the index, never by a scan of all.
create function logloom_private.add_staged_records(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_filter text,
  p_number_sql text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  execute logloom_private.add_alert_partials_sql(
    'select m.group_id, m.minute, count(*), count(m.number), sum(m.number), min(m.number), '
    || 'max(m.number) from (select i.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
    || p_number_sql || ' as number from (select n.group_id, n.starts, g.tenant_id, g.filled_id, '
    || 'coalesce(g.arrival, -1) as arrival from unnest($1, $2) n (group_id, starts) '
    || 'join logloom_private.alert_groups g on g.group_id = n.group_id offset 0) i join '
    || p_table || ' l on l.tenant_id = i.tenant_id and l.ts >= i.starts '
    || 'where l.arrival > i.arrival '
    || 'and (l.ts > i.starts or i.filled_id is null or l.id >= i.filled_id) and ('
    || p_filter || ') offset 0) m group by 1, 2'
  )
  using p_group_ids, p_froms;
end;
$$;

revoke all on function logloom_private.add_staged_records(
  text, bigint[], timestamptz[], text, text
) from public;

comment on function logloom_private.add_staged_records(
  text, bigint[], timestamptz[], text, text
) is
  'Adds the records of a staging table to groups with the same filter and number, of each group '
  'those from an instant on that arrived since the group''s arrival.';

-- A bounded number of records, the newest first. p_source: SQL that yields them as logloom.logs has
-- them, "order by" and "limit" included.
create function logloom_private.add_alert_piece(
  p_group logloom_private.alert_groups,
  p_source text
)
returns logloom_private.alert_piece
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_piece logloom_private.alert_piece;
begin
  execute 'with piece as materialized (' || p_source || '), added as ('
    || logloom_private.add_alert_partials_sql(
      'select $1, n.* from ('
      || logloom_private.alert_partials_sql(
        'select * from piece where arrival <= $2', p_group.filter, p_group.number_sql
      ) || ') n'
    )
    || ') select (select count(*) from piece), o.ts, o.id '
    || 'from (select 1) _ left join lateral (select * from piece order by ts, id limit 1) o on true'
  into v_piece
  using p_group.group_id, p_group.arrival;
  return v_piece;
end;
$$;

revoke all on function logloom_private.add_alert_piece(logloom_private.alert_groups, text)
from public;

comment on function logloom_private.add_alert_piece(logloom_private.alert_groups, text) is
  'Adds the records of a source to a group, those up to its arrival.';

create function logloom_private.next_piece_size(p_records integer, p_milliseconds double precision)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case
    when p_milliseconds < 20 then least(p_records * 4, 4096)
    when p_milliseconds > 80 then greatest(p_records / 4, 1)
    else p_records
  end;
end;
$$;

revoke all on function logloom_private.next_piece_size(integer, double precision) from public;

comment on function logloom_private.next_piece_size(integer, double precision) is
  'How many records the next piece has, by what the last one took: some 20 to 80 ms.';

create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return extract(epoch from clock_timestamp() - p_at) * 1000;
end;
$$;

revoke all on function logloom_private.milliseconds_since(timestamptz) from public;

comment on function logloom_private.milliseconds_since(timestamptz) is 'By the clock.';

-- What cannot be evaluated

create function logloom_private.empty_alert_groups(p_group_ids bigint[])
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.alert_groups g
  set arrival = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0
  where g.group_id = any(p_group_ids);
end;
$$;

revoke all on function logloom_private.empty_alert_groups(bigint[]) from public;

comment on function logloom_private.empty_alert_groups(bigint[]) is
  'Has groups filled anew from the records.';

create function logloom_private.fail_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_error text
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set last_error = p_error, retry_at = p_round.window_end + interval '1 minute'
  where g.group_id = p_group_id;
end;
$$;

revoke all on function logloom_private.fail_alert_group(
  bigint, logloom_private.alert_rounds, text
) from public;

comment on function logloom_private.fail_alert_group(
  bigint, logloom_private.alert_rounds, text
) is
  'Notes an error of a group, which the next round tries again.';

create function logloom_private.alert_back_off(p_failures integer)
returns interval
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select least(s.alert_back_off * 2 ^ least(p_failures, 20), s.alert_back_off_max)
    from logloom_private.settings s
  );
end;
$$;

revoke all on function logloom_private.alert_back_off(integer) from public;

comment on function logloom_private.alert_back_off(integer) is
  'How long a rule rests that cost too much after so many times before.';

create function logloom_private.too_costly(p_records bigint, p_milliseconds double precision)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return format(
    'The rule costs too much: %s records took %s ms. Narrow its query or shorten its window; it '
      || 'rests for a while.',
    p_records, round(p_milliseconds::numeric)
  );
end;
$$;

revoke all on function logloom_private.too_costly(bigint, double precision) from public;

comment on function logloom_private.too_costly(bigint, double precision) is
  'What last_error says of a rule that went beyond its budget.';

create function logloom_private.rest_alert_group(
  p_group_id bigint,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.empty_alert_groups(array[p_group_id]);
  update logloom_private.alert_groups g
  set
    last_error = logloom_private.too_costly(p_records, p_milliseconds),
    retry_at = p_now + logloom_private.alert_back_off(g.failures),
    failures = g.failures + 1,
    ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group_id;
end;
$$;

revoke all on function logloom_private.rest_alert_group(
  bigint, timestamptz, bigint, double precision
) from public;

comment on function logloom_private.rest_alert_group(
  bigint, timestamptz, bigint, double precision
) is 'Has a group that went beyond its budget rest, longer each time.';

create function logloom_private.reset_alert_groups()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  with resets as (
    delete from logloom_private.log_removals r returning r.tenant_id
  )
  update logloom_private.alert_groups g
  set arrival = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0
  where g.tenant_id in (select r.tenant_id from resets r) and g.arrival is not null;
end;
$$;

revoke all on function logloom_private.reset_alert_groups() from public;

comment on function logloom_private.reset_alert_groups() is
  'Has the groups of tenants filled anew of which records were removed.';

-- alerts/alert_health.sql

-- Health

create function logloom_private.alert_health(p_now timestamptz, p_watermark timestamptz)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  return jsonb_build_object(
    'status', logloom_private.health_word(
      false, v_waits or (v_has_rules and v_window_end is not null
        and logloom_private.silence_since(v_window_end, p_now) > v_settings.alert_round_limit)
    ),
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
end;
$$;

revoke all on function logloom_private.alert_health(timestamptz, timestamptz) from public;

comment on function logloom_private.alert_health(timestamptz, timestamptz) is
  'What health tells of alerts: degraded while rules wait, or rounds stay away.';

-- alerts/alert_rule_of.sql

create function logloom_private.alert_rule_of(p_row logloom.alert_rules)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
    p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
    p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
    p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
    p_row.last_value, p_row.last_error
  );
end;
$$;

revoke all on function logloom_private.alert_rule_of(logloom.alert_rules) from public;

grant execute on function logloom_private.alert_rule_of(logloom.alert_rules)
to authenticated, service_role;

comment on function logloom_private.alert_rule_of(logloom.alert_rules) is
  'An alert rule as the operations show it.';

-- alerts/alert_source.sql

-- All records of a tenant before a place in time, sealed ones too.
create function logloom_private.alert_source_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_ts timestamptz,
  p_id uuid,
  p_limit integer
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_to constant timestamptz := least(p_to, p_ts + interval '1 microsecond');
  v_order constant text := ' order by l.ts desc, l.id desc limit ' || p_limit;
  v_rows constant text := 'select l.* ' || logloom_private.tenant_rows_sql(
    p_tenant_id, p_from, v_to,
    case when p_ts is null then 'true'
      else format('(l.ts, l.id) < (%L::timestamptz, %L::uuid)', p_ts, p_id) end,
    p_expired => true
  ) || v_order;
begin
  if not logloom_private.may_read_sealed(p_tenant_id, p_from, v_to) then
    return v_rows;
  end if;
  return 'select l.* from ((' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%L, %L, %L, %L, %L, %L, %L, %L, %L',
      p_tenant_id, p_from, v_to, '{"type": "all"}', 'true', p_limit, 'desc', p_ts, p_id
    )
    || ') l) l' || v_order;
end;
$$;

revoke all on function logloom_private.alert_source_sql(
  text, timestamptz, timestamptz, timestamptz, uuid, integer
) from public;

comment on function logloom_private.alert_source_sql(
  text, timestamptz, timestamptz, timestamptz, uuid, integer
) is
  'SQL that yields the newest records of a range, of those before (p_ts, p_id) where they are '
  'given.';

-- alerts/begin_alert_round.sql

-- Rounds

create function logloom_private.alert_needs(p_round logloom_private.alert_rounds)
returns setof logloom_private.alert_need
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    p.group_id,
    min(
      greatest(
        least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
        p_round.window_end - s.alert_catch_up_limit
      ) - make_interval(mins => r.window_minutes)
    )
  from logloom.alert_rules r
  join logloom_private.alert_plans p on p.rule_id = r.rule_id
  cross join logloom_private.settings s
  where r.enabled and p.group_id is not null and p.query_dsl = r.query_dsl
  group by p.group_id;
end;
$$;

revoke all on function logloom_private.alert_needs(logloom_private.alert_rounds) from public;

comment on function logloom_private.alert_needs(logloom_private.alert_rounds) is
  'From when on each group''s minutes are needed: for the windows that are due, and those that a '
  'late record may open again.';

create function logloom_private.stage_alert_arrivals(
  p_round logloom_private.alert_rounds,
  p_from timestamptz
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- In a variable, because the checker takes a table that it does not find for an error.
  v_staged constant text := 'pg_temp.alert_arrivals';
begin
  -- Once for all tenants and groups. Temporary, because it is nobody's but this round's.
  if to_regclass(v_staged) is null then
    execute 'create temp table ' || v_staged || ' (like logloom.logs)';
    execute 'create index on ' || v_staged || ' (tenant_id, ts, id)';
  else
    execute 'truncate ' || v_staged;
  end if;
  execute 'insert into ' || v_staged || ' select l.* from logloom.logs l '
    || 'where l.tenant_id in (select g.tenant_id from logloom_private.alert_plans g) '
    || format(
      'and l.arrival > %s and l.arrival <= %s and l.ts >= %L::timestamptz',
      p_round.arrival_from, p_round.arrival_to, p_from
    );
  execute 'analyze ' || v_staged;
  delete from logloom_private.alert_round_arrivals a where true;
  execute 'insert into logloom_private.alert_round_arrivals (tenant_id, first_ts, records) '
    || 'select s.tenant_id, min(s.ts), count(*) from ' || v_staged || ' s group by 1';
end;
$$;

revoke all on function logloom_private.stage_alert_arrivals(
  logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.stage_alert_arrivals(
  logloom_private.alert_rounds, timestamptz
) is
  'Copies the records that arrived since the last round, of tenants with rules, for this session.';

-- Groups whose next arrivals are not staged are filled anew; those of tenants from which nothing
-- came are complete as they are. What no window needs any more is forgotten.
create function logloom_private.prepare_alert_groups(p_round logloom_private.alert_rounds)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.reset_alert_groups();
  perform logloom_private.empty_alert_groups(array(
    select g.group_id from logloom_private.alert_groups g where g.arrival < p_round.arrival_from
  ));
  with needs as materialized (
    select n.group_id, n.needed_from - s.alert_grace as needed_from
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    join logloom_private.alert_round_arrivals a on a.tenant_id = g.tenant_id
    cross join logloom_private.settings s
    where g.filled_from < n.needed_from - s.alert_grace
  ), forgotten as (
    delete from logloom_private.alert_partials p
    using needs n
    where p.group_id = n.group_id and p.minute < n.needed_from
  )
  update logloom_private.alert_groups g
  set filled_from = n.needed_from, filled_id = null
  from needs n
  where n.group_id = g.group_id;
  update logloom_private.alert_groups g
  set arrival = p_round.arrival_to
  where g.arrival < p_round.arrival_to
    and not exists (
      select from logloom_private.alert_round_arrivals a where a.tenant_id = g.tenant_id
    );
  delete from logloom_private.alert_spending s where true;
end;
$$;

revoke all on function logloom_private.prepare_alert_groups(logloom_private.alert_rounds)
from public;

comment on function logloom_private.prepare_alert_groups(logloom_private.alert_rounds) is
  'Brings the groups to where a round may add what arrived for it.';

create function logloom_private.last_arrival(p_after bigint)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- A day that is dropped takes its arrivals with it.
  return greatest(p_after, (select max(a.arrival) from logloom_private.log_arrivals a));
end;
$$;

revoke all on function logloom_private.last_arrival(bigint) from public;

comment on function logloom_private.last_arrival(bigint) is
  'The greatest arrival that is visible; p_after where none is greater.';

create function logloom_private.begin_alert_round(p_now timestamptz, p_watermark timestamptz)
returns logloom_private.alert_rounds
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- Nobody else reads these.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  -- Locked, so that a second evaluator continues this round instead of opening the same again.
  select r.* into v_last from logloom_private.alert_rounds r for update;
  if v_last.window_end > p_now then
    -- The clock went back: what is dated ahead would keep the rules waiting until then.
    v_last := null;
    update logloom.alert_rules r set last_evaluated_at = null where r.last_evaluated_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := logloom_private.whole_minute(p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  v_round.singleton := true;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit then
    -- A round that was cut short is done again from where it began.
    v_round.arrival_from := case
      when v_last.finished_at is null then v_last.arrival_from
      else v_last.arrival_to
    end;
    v_round.arrival_to := logloom_private.last_arrival(v_last.arrival_to);
  else
    -- Too long ago: every group reads its windows anew.
    v_round.arrival_to := logloom_private.last_arrival(0);
    v_round.arrival_from := v_round.arrival_to;
  end if;

  insert into logloom_private.alert_rounds (window_end, arrival_from, arrival_to)
  values (v_round.window_end, v_round.arrival_from, v_round.arrival_to)
  on conflict (singleton) do update
  set window_end = excluded.window_end,
    arrival_from = excluded.arrival_from,
    arrival_to = excluded.arrival_to,
    finished_at = null;
  perform logloom_private.stage_alert_arrivals(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$$;

revoke all on function logloom_private.begin_alert_round(timestamptz, timestamptz)
from public;

comment on function logloom_private.begin_alert_round(timestamptz, timestamptz) is
  'Opens the round for the minute that the watermark passed and stages its records. Null when '
  'there is nothing to evaluate, or rules have to wait.';

-- In another session than the one that began it: what arrived is staged again.
create function logloom_private.continued_alert_round()
returns logloom_private.alert_rounds
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_round
  from logloom_private.alert_rounds r, logloom_private.settings s
  where r.finished_at is not null and r.window_end > clock_timestamp() - s.alert_round_limit;
  if v_round.window_end is not null and exists (
    select from logloom_private.alert_groups g where g.arrival < v_round.arrival_to
  ) then
    perform logloom_private.stage_alert_arrivals(v_round, '-infinity');
  end if;
  return v_round;
end;
$$;

revoke all on function logloom_private.continued_alert_round() from public;

comment on function logloom_private.continued_alert_round() is
  'The round that is finished but for what has to be read for itself.';

-- alerts/create_alert_rule.sql

create function public.create_alert_rule(
  p_tenant_id text default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(p_query_dsl, true);
  perform logloom_private.require_room_for_alert_rule(p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by
  )
  values (
    v_tenant_id, logloom_private.trim_space(p_name), nullif(
      logloom_private.trim_space(p_description), ''
    ),
    p_query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    coalesce(logloom_private.distinct_destinations(p_notification_destinations), '{}'),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id()
  )
  returning r.* into v_row;
  perform logloom_private.plan_own_alert_rule(v_tenant_id, v_row.rule_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

revoke all on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean,
  text[], jsonb
) from public, anon, authenticated, service_role;

grant execute on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean,
  text[], jsonb
) to authenticated, service_role;

comment on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
) is
  'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. '
  'p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, '
  'webhook; their addresses are in p_notification_config (email, webhook_url). '
  'Errors: PT400 (plan limit, too), PT401, PT403.';

-- alerts/delete_alert_rule.sql

create function public.delete_alert_rule(p_rule_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function public.delete_alert_rule(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.delete_alert_rule(uuid)
to authenticated, service_role;

comment on function public.delete_alert_rule(uuid) is
  'Deletes an alert rule; its history stays. Errors: PT400, PT401, PT404.';

-- alerts/evaluate_alerts.sql

-- One turn of what is not done for all tenants at once. Null where nothing is left to do.
create function logloom_private.read_alert_windows(
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_step_rules constant integer := (select s.alert_step_rules from logloom_private.settings s);
  v_deadline timestamptz;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_tenant_id text;
  v_fired integer;
begin
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_step_rules * 2);
  if cardinality(v_group_ids) > 0 then
    return logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  end if;

  -- Who took least of this round comes first.
  select p.tenant_id into v_tenant_id
  from (
    select g.tenant_id from logloom_private.pending_alert_groups(p_round) g
    union all
    select s.tenant_id from logloom_private.pending_alert_scans(p_round) s
  ) p
  left join logloom_private.alert_spending t on t.tenant_id = p.tenant_id
  order by coalesce(t.spent_ms, 0), p.tenant_id
  limit 1;
  if v_tenant_id is null then
    return null;
  end if;
  select v_began + s.alert_rule_budget into v_deadline from logloom_private.settings s;
  v_group_ids := logloom_private.read_alert_groups(v_tenant_id, p_round, p_now, v_deadline);
  v_fired := logloom_private.judge_alert_groups(v_group_ids, p_round, p_now);
  if clock_timestamp() < v_deadline then
    v_fired := v_fired
      + logloom_private.scan_alert_rules(v_tenant_id, p_round, p_now, v_deadline);
  end if;
  insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
  values (v_tenant_id, logloom_private.milliseconds_since(v_began))
  on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  return v_fired;
end;
$$;

revoke all on function logloom_private.read_alert_windows(
  logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.read_alert_windows(
  logloom_private.alert_rounds, timestamptz
) is
  'Plans new rules, fills new groups, and reads windows for one tenant, about alert_rule_budget '
  'long. Alerts fired, or null where nothing was left to do.';

create function logloom_private.judge_alert_groups(
  p_group_ids bigint[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return logloom_private.judge_alert_rules(
    array(
      select p.rule_id
      from logloom_private.alert_plans p
      join logloom.alert_rules r on r.rule_id = p.rule_id
      where p.group_id = any(p_group_ids) and r.enabled and r.query_dsl = p.query_dsl
    ),
    p_round, p_now
  );
end;
$$;

revoke all on function logloom_private.judge_alert_groups(
  bigint[], logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.judge_alert_groups(
  bigint[], logloom_private.alert_rounds, timestamptz
) is 'Evaluates the rules of groups. Alerts fired.';

create function logloom_private.finish_alert_round(p_now timestamptz)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.alert_rounds r set finished_at = p_now where r.singleton;
end;
$$;

revoke all on function logloom_private.finish_alert_round(timestamptz) from public;

comment on function logloom_private.finish_alert_round(timestamptz) is
  'Notes that all was evaluated that did not have to be read for itself.';

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure logloom_private.evaluate_alerts()
language plpgsql
security invoker
as $$
declare
  v_started_at constant timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant timestamptz := logloom_private.job_deadline(v_started_at);
  v_begun logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_step_rules constant integer := (select s.alert_step_rules from logloom_private.settings s);
  v_rule_ids uuid[];
  v_is_cut_short boolean := false;
  v_turn integer;
  v_error text;
begin
  -- Not two at a time; a session that is killed lets go.
  if not pg_catalog.pg_try_advisory_lock(logloom_private.lock_key('alerts')) then
    return;
  end if;
  loop
    begin
      v_begun := logloom_private.begin_alert_round(
        pg_catalog.clock_timestamp(), logloom_private.watermark()
      );
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null;

    -- What is cheap, for all tenants.
    if v_begun.window_end is not null then
      v_round := v_begun;
      loop
        begin
          exit when not logloom_private.advance_alert_groups(
            v_round, pg_catalog.clock_timestamp() + '1 second'::interval
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
          exit;
        end;
        commit;
      end loop;
      v_rule_ids := '{}';
      loop
        v_rule_ids := logloom_private.next_alert_rules(
          v_rule_ids[pg_catalog.cardinality(v_rule_ids)], v_step_rules, v_round
        );
        exit when pg_catalog.cardinality(v_rule_ids) = 0;
        v_is_cut_short := pg_catalog.clock_timestamp() > v_deadline;
        exit when v_is_cut_short;
        begin
          perform logloom_private.judge_alert_rules(
            v_rule_ids, v_round, pg_catalog.clock_timestamp()
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
      end loop;
      -- The next run goes on with the rules that this round has not evaluated yet.
      exit when v_is_cut_short;
      perform logloom_private.finish_alert_round(pg_catalog.clock_timestamp());
      commit;
    end if;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;

    -- What is not: a turn at a time, so that the next round waits for one at most.
    if v_round.window_end is null then
      v_round := logloom_private.continued_alert_round();
      commit;
      exit when v_round.window_end is null;
    end if;
    begin
      v_turn := logloom_private.read_alert_windows(v_round, pg_catalog.clock_timestamp());
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null or v_turn is null;
  end loop;
  perform logloom_private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(logloom_private.lock_key('alerts'));
end;
$$;

revoke all on procedure logloom_private.evaluate_alerts() from public;

comment on procedure logloom_private.evaluate_alerts() is
  'A round where a minute has passed, then turns of reading until nothing is left or '
  'its time is up. Called by pg_cron every few seconds; most calls find nothing to do.';

-- alerts/fire_alert.sql

-- Firing

create function logloom_private.fire_alert(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and h.window_end > p_window.window_end - v_cooldown
      and h.window_end < p_window.window_end + v_cooldown
  ) then
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group"
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group"
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$$;

revoke all on function logloom_private.fire_alert(
  logloom.alert_rules, logloom_private.alert_window, timestamptz
) from public;

comment on function logloom_private.fire_alert(
  logloom.alert_rules, logloom_private.alert_window, timestamptz
) is
  'One history entry, unless one of the same group within the cooldown exists: true if so. Who is '
  'to hear of it does '
  'so by a trigger on alert_history.';

-- alerts/get_alert_rule.sql

create function public.get_alert_rule(p_rule_id uuid default null)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  return logloom_private.alert_rule_of(v_row);
end;
$$;

revoke all on function public.get_alert_rule(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.get_alert_rule(uuid)
to authenticated, service_role;

comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';

-- alerts/judge_alert_rules.sql

-- Windows and what becomes of their values

create function logloom_private.due_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb
  from logloom.alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_arrivals a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
      p_round.window_end - s.alert_catch_up_limit
    ),
    p_round.window_end,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    and r.enabled
    -- Of the time before a rule was what it is now, only the last window.
    and (
      e.window_end = p_round.window_end
      or (r.last_evaluated_at is not null and e.window_end > r.updated_at)
    )
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at
      or e.window_end > a.first_ts
    );
end;
$$;

revoke all on function logloom_private.due_alert_windows(uuid[], logloom_private.alert_rounds)
from public;

comment on function logloom_private.due_alert_windows(uuid[], logloom_private.alert_rounds) is
  'The windows that a round evaluates: the new ones, and open ones into which records came late.';

create function logloom_private.settle_alert_windows(
  p_windows logloom_private.alert_window[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_hit record;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_hit in
    select r as rule, w as seen
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    where logloom_private.alert_condition_holds(w.value, r.comparison, r.threshold)
    order by w.window_end, w.rule_id, w."group"
  loop
    begin
      if logloom_private.fire_alert(v_hit.rule, v_hit.seen, p_now) then
        v_fired := v_fired + 1;
      end if;
    exception when others then
      v_errors := v_errors || jsonb_build_object((v_hit.rule).rule_id, sqlerrm);
    end;
  end loop;

  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = p_round.window_end) as value,
      max(u.error) as error
    from unnest(p_windows) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$$;

revoke all on function logloom_private.settle_alert_windows(
  logloom_private.alert_window[], logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.settle_alert_windows(
  logloom_private.alert_window[], logloom_private.alert_rounds, timestamptz
) is
  'Fires what holds and notes value or error with each rule. Alerts fired.';

-- Values of the rules that have a group, where it is complete.
create function logloom_private.grouped_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  with due as materialized (
    select d.rule_id, d.window_start, d.window_end, p.group_id, p.aggregate,
      min(d.window_start) over (partition by d.rule_id) as first_start
    from logloom_private.due_alert_windows(p_rule_ids, p_round) d
    join logloom.alert_rules r on r.rule_id = d.rule_id
    join logloom_private.alert_plans p on p.rule_id = r.rule_id and p.query_dsl = r.query_dsl
  )
  select
    d.rule_id, d.window_start, d.window_end,
    logloom_private.partial_value(
      d.aggregate, (extract(epoch from d.window_end - d.window_start) / 60)::integer,
      t.events, t.numbers, t.total, t.least, t.greatest
    ),
    null::text, null::jsonb
  from due d
  join logloom_private.alert_groups g on g.group_id = d.group_id
  cross join lateral (
    select
      sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
      min(m.least) as least, max(m.greatest) as greatest
    from logloom_private.alert_partials m
    where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
  ) t
  where g.arrival >= p_round.arrival_to
    and (
      g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
    );
end;
$$;

revoke all on function logloom_private.grouped_alert_windows(
  uuid[], logloom_private.alert_rounds
) from public;

comment on function logloom_private.grouped_alert_windows(
  uuid[], logloom_private.alert_rounds
) is
  'The due windows of rules whose groups are complete, with their values.';

-- What could not be evaluated, of rules with a group and without.
create function logloom_private.failed_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select
    p.rule_id, p_round.window_end, p_round.window_end, null::double precision,
    coalesce(p.refusal, p.last_error, g.last_error), null::jsonb
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id and r.query_dsl = p.query_dsl
  left join logloom_private.alert_groups g on g.group_id = p.group_id
  where p.rule_id = any(p_rule_ids)
    and (
      p.refusal is not null
      or (p.last_error is not null and p.retry_at > p_round.window_end)
      or (g.last_error is not null and g.retry_at > p_round.window_end)
    );
end;
$$;

revoke all on function logloom_private.failed_alert_windows(
  uuid[], logloom_private.alert_rounds
) from public;

comment on function logloom_private.failed_alert_windows(
  uuid[], logloom_private.alert_rounds
) is
  'The last window of each rule that has an error, or that rests since it cost too much.';

create function logloom_private.judge_alert_rules(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return logloom_private.settle_alert_windows(
    array(
      select row(w.*)::logloom_private.alert_window
      from logloom_private.grouped_alert_windows(p_rule_ids, p_round) w
      union all
      select row(w.*)::logloom_private.alert_window
      from logloom_private.failed_alert_windows(p_rule_ids, p_round) w
    ),
    p_round, p_now
  );
end;
$$;

revoke all on function logloom_private.judge_alert_rules(
  uuid[], logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.judge_alert_rules(
  uuid[], logloom_private.alert_rounds, timestamptz
) is
  'Evaluates those of the rules that can be: all that have an error or a complete group. Alerts '
  'fired.';

-- Rules that the round did not evaluate yet, some at a time.
create function logloom_private.next_alert_rules(
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
returns uuid[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$$;

revoke all on function logloom_private.next_alert_rules(
  uuid, integer, logloom_private.alert_rounds
) from public;

comment on function logloom_private.next_alert_rules(
  uuid, integer, logloom_private.alert_rounds
) is 'Enabled rules after p_after that the round did not evaluate yet, in the order of their ids.';

-- alerts/list_alert_history.sql

create function public.list_alert_history(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_acknowledged boolean default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_history_entry
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select h.triggered_at
        from logloom.alert_history h
        where h.tenant_id = v_tenant_id and h.alert_id = p_after
      ),
      'alert', 'alert_id'
    )
  end;
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select
    h.alert_id, h.rule_id, h.tenant_id, h.triggered_at, h.value, h.threshold,
    h.acknowledged_at is not null, h.acknowledged_at, h.acknowledged_by,
    h.notification_sent_at is not null, h.notification_sent_at, h.notification_channels,
    h.notification_error, h.window_start, h.window_end, h."group"
  from logloom.alert_history h
  where h.tenant_id = v_tenant_id
    and (p_rule_id is null or h.rule_id = p_rule_id)
    and (v_from is null or h.triggered_at >= v_from)
    and (v_to is null or h.triggered_at < v_to)
    and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
    and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
  order by h.triggered_at desc, h.alert_id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_alert_history(
  text, uuid, text, text, boolean, integer, uuid
) from public, anon, authenticated, service_role;

grant execute on function public.list_alert_history(
  text, uuid, text, text, boolean, integer, uuid
) to authenticated, service_role;

comment on function public.list_alert_history(
  text, uuid, text, text, boolean, integer, uuid
) is
  'Alerts of the tenant, newest first: of one rule, triggered from p_ts_from to before p_ts_to, '
  'acknowledged or not, where given. p_limit 1 to 1000 (default 100), p_after: alert_id of the '
  'last item of the page before. Errors: PT400, PT401, PT403.';

-- alerts/list_alert_rules.sql

create function public.list_alert_rules(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select r.created_at
        from logloom.alert_rules r
        where r.tenant_id = v_tenant_id and r.rule_id = p_after
      ),
      'alert rule', 'rule_id'
    )
  end;
begin
  return query
  select o.*
  from logloom.alert_rules r
  cross join lateral logloom_private.alert_rule_of(r) o
  where r.tenant_id = v_tenant_id
    and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
  order by r.created_at desc, r.rule_id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_alert_rules(text, integer, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.list_alert_rules(text, integer, uuid)
to authenticated, service_role;

comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';

-- alerts/plan_alert_rule.sql

create function logloom_private.whole_minute(p_at timestamptz)
returns timestamptz
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return date_bin('1 minute', p_at, 'epoch');
end;
$$;

revoke all on function logloom_private.whole_minute(timestamptz) from public;

comment on function logloom_private.whole_minute(timestamptz) is 'The start of the minute.';

-- Plans and groups

-- The numeric expression of an aggregate over an attribute's numbers, over the alias l.
create function logloom_private.alert_number_sql(p_aggregate text, p_field text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if p_aggregate in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'logloom_private.json_number('
    || logloom_private.query_value_sql(logloom_private.query_field(p_field, 1), 'l') || ')';
end;
$$;

revoke all on function logloom_private.alert_number_sql(text, text) from public;

comment on function logloom_private.alert_number_sql(text, text) is
  'The number that an aggregate takes of a record, as SQL over the alias l.';

create function logloom_private.has_partials(p_aggregate text)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return p_aggregate in ('count', 'rate', 'sum', 'avg', 'min', 'max');
end;
$$;

revoke all on function logloom_private.has_partials(text) from public;

comment on function logloom_private.has_partials(text) is
  'Whether the aggregate of a window follows from those of its minutes.';

create function logloom_private.plan_alert_rule(p_rule_id uuid, p_now timestamptz)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_plan logloom_private.alert_plans;
  v_number_sql text;
  v_digest bytea;
begin
  delete from logloom_private.alert_plans p where p.rule_id = p_rule_id;
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = p_rule_id;
  v_query := logloom_private.compile_query(v_rule.query_dsl, p_now);
  v_plan.aggregate := coalesce(v_query.aggregate, 'count');
  v_plan.names_now := v_query.names_now;
  if logloom_private.has_partials(v_plan.aggregate) and not v_plan.names_now
    and cardinality(v_query.by_fields) = 0
  then
    v_number_sql := logloom_private.alert_number_sql(v_plan.aggregate, v_query.aggregate_field);
    v_digest := sha256(convert_to(jsonb_build_array(v_query.filter, v_number_sql)::text, 'UTF8'));
    insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
    values (v_rule.tenant_id, v_digest, v_query.filter, v_number_sql)
    on conflict (tenant_id, digest) do nothing;
    select g.group_id into v_plan.group_id
    from logloom_private.alert_groups g
    where g.tenant_id = v_rule.tenant_id and g.digest = v_digest;
  end if;
  insert into logloom_private.alert_plans (
    rule_id, tenant_id, query_dsl, aggregate, aggregate_sql, filter, tree, names_now,
    by_fields, by_sql, group_id
  )
  values (
    p_rule_id, v_rule.tenant_id, v_rule.query_dsl, v_plan.aggregate,
    coalesce(v_query.aggregate_sql, 'count(*)::double precision'), v_query.filter,
    v_query.tree, v_plan.names_now, v_query.by_fields, v_query.by_sql, v_plan.group_id
  );
end;
$$;

revoke all on function logloom_private.plan_alert_rule(uuid, timestamptz) from public;

comment on function logloom_private.plan_alert_rule(uuid, timestamptz) is
  'Compiles a rule''s query and puts the rule into its group.';

create function logloom_private.refuse_alert_plan(p_rule_id uuid, p_refusal text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from logloom_private.alert_plans p where p.rule_id = p_rule_id;
  insert into logloom_private.alert_plans (
    rule_id, tenant_id, query_dsl, aggregate, aggregate_sql, filter, tree, names_now, refusal
  )
  select
    r.rule_id, r.tenant_id, r.query_dsl, 'count', '0', 'false', '{"type": "none"}', false,
    p_refusal
  from logloom.alert_rules r
  where r.rule_id = p_rule_id;
end;
$$;

revoke all on function logloom_private.refuse_alert_plan(uuid, text) from public;

comment on function logloom_private.refuse_alert_plan(uuid, text) is
  'Notes that a rule''s query does not compile: it is not tried again until it changes.';

create function logloom_private.plan_alert_rules(p_now timestamptz, p_limit integer)
returns uuid[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rule_id uuid;
  v_planned uuid[] := '{}';
begin
  for v_rule_id in
    select u.rule_id
    from (
      select
        r.rule_id, row_number() over (partition by r.tenant_id order by r.rule_id) as place
      from logloom.alert_rules r
      left join logloom_private.alert_plans p on p.rule_id = r.rule_id
      where r.enabled and p.query_dsl is distinct from r.query_dsl
    ) u
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by u.place, u.rule_id
    limit p_limit
  loop
    begin
      perform logloom_private.plan_alert_rule(v_rule_id, p_now);
    exception when others then
      perform logloom_private.refuse_alert_plan(v_rule_id, sqlerrm);
    end;
    v_planned := v_planned || v_rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$$;

revoke all on function logloom_private.plan_alert_rules(timestamptz, integer) from public;

comment on function logloom_private.plan_alert_rules(timestamptz, integer) is
  'Plans up to p_limit enabled rules that are new or ask something else now. Which ones.';

-- By who makes or changes a rule, so that no round has to compile it.
create function logloom_private.plan_own_alert_rule(p_tenant_id text, p_rule_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles see neither plans nor groups
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  if exists (
    select
    from logloom.alert_rules r
    left join logloom_private.alert_plans p on p.rule_id = r.rule_id
    where r.rule_id = p_rule_id
      and r.tenant_id = v_tenant_id
      and r.enabled
      and p.query_dsl is distinct from r.query_dsl
  ) then
    perform logloom_private.plan_alert_rule(p_rule_id, now());
  end if;
exception when foreign_key_violation then
  -- Its group was deleted meanwhile, when it had no rule: the evaluator makes both.
  return;
end;
$$;

revoke all on function logloom_private.plan_own_alert_rule(text, uuid) from public;

grant execute on function logloom_private.plan_own_alert_rule(text, uuid)
to authenticated, service_role;

comment on function logloom_private.plan_own_alert_rule(text, uuid) is
  'Compiles an enabled rule of the caller''s tenant where it is new or asks something else now.';

-- alerts/preview_alert_rule.sql

create type public.logloom_alert_preview_entry as (
  window_start timestamptz,
  window_end timestamptz,
  value double precision
);

comment on type public.logloom_alert_preview_entry is 'A window in which a rule would have fired.';

create type public.logloom_alert_preview_point as (
  ts timestamptz,
  value double precision
);

comment on type public.logloom_alert_preview_point is
  'The value of the window that ends at ts; null where it has none.';

create type public.logloom_alert_preview as (
  ts_from timestamptz,
  ts_to timestamptz,
  step_minutes integer,
  alerts public.logloom_alert_preview_entry[],
  series public.logloom_alert_preview_point[]
);

comment on type public.logloom_alert_preview is
  'When a rule would have fired between ts_from and ts_to, looked at every step_minutes, and the '
  'values that it would have seen.';

-- Preview

-- Values of windows that end at each step. Windows with partial values end at every minute and
-- share one reading of the records; the others stand side by side, so that it is one as well.
create function logloom_private.preview_values(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_window_minutes integer,
  p_from timestamptz,
  p_to timestamptz
)
returns setof logloom_private.alert_window
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregate constant text := coalesce(p_query.aggregate, 'count');
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_source constant text := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows($1, $2, $3, '
    || format('%L, %L, null) s', p_query.tree, p_query.filter);
begin
  if logloom_private.has_partials(v_aggregate) then
    return query execute
      'select null::uuid, e.at - $4, e.at, logloom_private.partial_value($5, $6, '
      || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, '
      || 'min(p.least) over w, max(p.greatest) over w), null::text, null::jsonb '
      || 'from generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) left join ('
      || logloom_private.alert_partials_sql(
        v_source, p_query.filter, logloom_private.alert_number_sql(
          v_aggregate, p_query.aggregate_field
        )
      )
      || ') p on p.minute = e.at - interval ''1 minute'' '
      || 'window w as (order by e.at rows between $6 - 1 preceding and current row) '
      || 'order by e.at offset $6 - 1'
    using p_tenant_id, p_from - v_window, p_to, v_window, v_aggregate, p_window_minutes;
  else
    return query execute
      'select null::uuid, e.at, e.at + $4, ' || p_query.aggregate_sql
      || ', null::text, null::jsonb '
      || 'from generate_series($2, $3 - $4, $4) e (at) left join ('
      || v_source || ') l on l.ts >= e.at and l.ts < e.at + $4 and (' || p_query.filter
      || ') group by e.at order by e.at'
    using p_tenant_id, p_from, p_to, v_window;
  end if;
end;
$$;

revoke all on function logloom_private.preview_values(
  text, logloom_private.compiled_query, integer, timestamptz, timestamptz
) from public;

comment on function logloom_private.preview_values(
  text, logloom_private.compiled_query, integer, timestamptz, timestamptz
) is 'Values of a query over the windows of a span.';

create function logloom_private.preview_windows(
  p_tenant_id text,
  p_query_dsl text,
  p_threshold double precision,
  p_comparison text,
  p_window_minutes integer,
  p_cooldown_minutes integer
)
returns public.logloom_alert_preview
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_query logloom_private.compiled_query;
  v_entry record;
  v_result public.logloom_alert_preview;
  v_last timestamptz;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_query_dsl, true);
  v_query := logloom_private.compile_query(p_query_dsl);
  v_query.filter := logloom_private.filter_in_turns(v_query.tree);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  if cardinality(v_query.by_fields) > 0 then
    perform logloom_private.refuse('alerts.preview_has_groups');
  end if;
  v_result.ts_to := logloom_private.whole_minute(least(now(), logloom_private.watermark()));
  v_result.ts_from := v_result.ts_to - (select s.preview_span from logloom_private.settings s);
  v_result.step_minutes := case
    when logloom_private.has_partials(coalesce(v_query.aggregate, 'count')) then 1
    else p_window_minutes
  end;
  v_result.alerts := '{}';
  v_result.series := '{}';
  for v_entry in
    select v.window_start, v.window_end, v.value
    from logloom_private.preview_values(
      v_tenant_id, v_query, p_window_minutes, v_result.ts_from, v_result.ts_to
    ) v
    order by v.window_end
  loop
    v_result.series := v_result.series
      || row(v_entry.window_end, v_entry.value)::public.logloom_alert_preview_point;
    if logloom_private.alert_condition_holds(v_entry.value, p_comparison, p_threshold)
      and (
        v_last is null or v_entry.window_end >= v_last + make_interval(mins => p_cooldown_minutes)
      )
    then
      v_last := v_entry.window_end;
      v_result.alerts := v_result.alerts
        || row(v_entry.window_start, v_entry.window_end,
          v_entry.value)::public.logloom_alert_preview_entry;
    end if;
  end loop;
  return v_result;
end;
$$;

revoke all on function logloom_private.preview_windows(
  text, text, double precision, text, integer, integer
) from public;

grant execute on function logloom_private.preview_windows(
  text, text, double precision, text, integer, integer
) to authenticated, service_role;

comment on function logloom_private.preview_windows(
  text, text, double precision, text, integer, integer
) is
  'What a rule that is not saved would have found in the time that preview_span names.';

create function public.preview_alert_rule(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null
)
returns public.logloom_alert_preview
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse_alert_rule();
    end if;
  end if;
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif not logloom_private.is_alert_window(v_rule.window_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif not logloom_private.is_alert_cooldown(v_rule.cooldown_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  end if;
  return logloom_private.preview_windows(
    p_tenant_id, v_rule.query_dsl, v_rule.threshold, v_rule.comparison, v_rule.window_minutes,
    v_rule.cooldown_minutes
  );
exception when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
end;
$$;

revoke all on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer
) from public, anon, authenticated, service_role;

grant execute on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer
) to authenticated, service_role;

comment on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer
) is
  'When a rule would have fired over the last 24 h, and the values that it would have seen: the '
  'rule p_rule_id, with what else is given in place of its own. Percentiles and distinct counts '
  'are looked at in windows side by side. '
  'Errors: PT400, PT401, PT403, PT404, PT408.';

-- alerts/purge_alert_history.sql

create function logloom_private.purge_alert_history()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom.alert_history h
  where h.alert_id = any(array(
    select o.alert_id
    from logloom.alert_history o
    where o.triggered_at < now() - v_settings.alert_history_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.purge_alert_history() from public;

comment on function logloom_private.purge_alert_history() is
  'Deletes alerts past their lifetime from the history, acknowledged or not.';

-- alerts/read_alert_windows.sql

-- What is read for one tenant by itself: many records, new windows, and rules without a group

-- Adds what arrived to a group that is not cheap, in pieces. False when it went beyond its budget.
create function logloom_private.advance_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_staged constant text := 'pg_temp.alert_arrivals';
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_budget_ms double precision;
  v_limit bigint;
  v_group logloom_private.alert_groups;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_before text := '';
  v_records bigint := 0;
  v_arrival bigint;
begin
  select extract(epoch from s.alert_rule_budget) * 1000, s.alert_rule_records
  into v_budget_ms, v_limit
  from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  v_arrival := v_group.arrival;
  v_group.arrival := p_round.arrival_to;
  loop
    v_piece_began := clock_timestamp();
    v_piece := logloom_private.add_alert_piece(
      v_group,
      'select l.* from ' || v_staged || format(
        ' l where l.tenant_id = %L and l.arrival > %s and l.ts >= %L::timestamptz '
          || 'and (l.ts > %3$L::timestamptz or %4$L::uuid is null or l.id >= %4$L::uuid)',
        v_group.tenant_id, v_arrival, v_group.filled_from, v_group.filled_id
      ) || v_before || ' order by l.ts desc, l.id desc limit ' || v_size
    );
    v_records := v_records + v_piece.records;
    exit when v_piece.records < v_size;
    if logloom_private.milliseconds_since(v_began) > v_budget_ms or v_records > v_limit then
      perform logloom_private.rest_alert_group(
        p_group_id, p_now, v_records, logloom_private.milliseconds_since(v_began)
      );
      return false;
    end if;
    v_before := format(
      ' and (l.ts, l.id) < (%L::timestamptz, %L::uuid)', v_piece.first_ts, v_piece.first_id
    );
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
  end loop;
  update logloom_private.alert_groups g
  set
    arrival = p_round.arrival_to,
    ms_per_record = logloom_private.milliseconds_since(v_began) / greatest(v_records, 1),
    failures = 0
  where g.group_id = p_group_id;
  return true;
end;
$$;

revoke all on function logloom_private.advance_alert_group(
  bigint, logloom_private.alert_rounds, timestamptz
) from public;

comment on function logloom_private.advance_alert_group(
  bigint, logloom_private.alert_rounds, timestamptz
) is
  'Adds the round''s arrivals to a group in pieces. False where it went beyond its budget.';

-- Reads a group's minutes from the newest to the oldest, as far as it comes.
create function logloom_private.fill_alert_group(
  p_group_id bigint,
  p_needed_from timestamptz,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_records bigint := 0;
  v_is_done boolean := false;
  -- Beyond everything that ingest takes.
  v_to timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_to := p_round.window_end + v_settings.ingest_future_limit + interval '1 day';
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  if v_group.filled_from < p_needed_from
    or (v_group.filled_from = p_needed_from and v_group.filled_id is null)
  then
    return true;
  elsif v_group.arrival is null then
    delete from logloom_private.alert_partials p where p.group_id = p_group_id;
    v_group.arrival := p_round.arrival_to;
    v_group.filled_from := v_to;
  end if;
  loop
    v_piece_began := clock_timestamp();
    v_piece := logloom_private.add_alert_piece(
      v_group,
      logloom_private.alert_source_sql(
        v_group.tenant_id, p_needed_from, v_to, v_group.filled_from,
        coalesce(v_group.filled_id, '00000000-0000-0000-0000-000000000000'), v_size
      )
    );
    v_records := v_records + v_piece.records;
    v_is_done := v_piece.records < v_size;
    exit when v_is_done;
    v_group.filled_from := v_piece.first_ts;
    v_group.filled_id := v_piece.first_id;
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
    exit when clock_timestamp() > p_deadline
      or v_group.records_read + v_records > v_settings.alert_rule_records;
  end loop;
  v_group.records_read := v_group.records_read + v_records;
  v_group.spent_ms := v_group.spent_ms + logloom_private.milliseconds_since(v_began);
  if not v_is_done and (
    v_group.spent_ms > extract(epoch from v_settings.alert_fill_budget) * 1000
    or v_group.records_read > v_settings.alert_rule_records
  ) then
    perform logloom_private.rest_alert_group(
      p_group_id, p_now, v_group.records_read, v_group.spent_ms
    );
    return false;
  end if;
  update logloom_private.alert_groups g
  set
    arrival = v_group.arrival,
    filled_from = case when v_is_done then p_needed_from else v_group.filled_from end,
    filled_id = case when v_is_done then null else v_group.filled_id end,
    records_read = case when v_is_done then 0 else v_group.records_read end,
    spent_ms = case when v_is_done then 0 else v_group.spent_ms end,
    ms_per_record = case
      when v_records >= 100 then logloom_private.milliseconds_since(v_began) / v_records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = case when v_is_done then 0 else g.failures end
  where g.group_id = p_group_id;
  return v_is_done;
end;
$$;

revoke all on function logloom_private.fill_alert_group(
  bigint, timestamptz, logloom_private.alert_rounds, timestamptz, timestamptz
) from public;

comment on function logloom_private.fill_alert_group(
  bigint, timestamptz, logloom_private.alert_rounds, timestamptz, timestamptz
) is
  'Fills a group from the records back to p_needed_from, and keeps its place at the deadline. '
  'Whether it is complete.';

-- Which groups are to be read, of one tenant or of all.
create function logloom_private.pending_alert_groups(
  p_round logloom_private.alert_rounds,
  p_tenant_id text default null
)
returns setof logloom_private.pending_alert_group
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select g.tenant_id, g.group_id, n.needed_from,
    g.arrival < p_round.arrival_to, coalesce(g.ms_per_record, 0) + g.spent_ms
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where (p_tenant_id is null or g.tenant_id = p_tenant_id)
    and coalesce(g.retry_at <= p_round.window_end, true)
    and (
      g.arrival is null
      or g.arrival < p_round.arrival_to
      or g.filled_from > n.needed_from
      or (g.filled_from = n.needed_from and g.filled_id is not null)
    );
end;
$$;

revoke all on function logloom_private.pending_alert_groups(
  logloom_private.alert_rounds, text
) from public;

comment on function logloom_private.pending_alert_groups(
  logloom_private.alert_rounds, text
) is 'Groups that are not complete for the round and do not rest.';

-- One group after the other until the tenant's turn is over, those that cost least first.
create function logloom_private.read_alert_groups(
  p_tenant_id text,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns bigint[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_pending logloom_private.pending_alert_group;
  v_complete bigint[] := '{}';
  v_is_complete boolean;
begin
  for v_pending in
    select (p).*
    from logloom_private.pending_alert_groups(p_round, p_tenant_id) p
    order by p.cost, p.group_id
  loop
    begin
      v_is_complete := true;
      if v_pending.has_arrivals then
        v_is_complete := logloom_private.advance_alert_group(v_pending.group_id, p_round, p_now);
      end if;
      if v_is_complete then
        v_is_complete := logloom_private.fill_alert_group(
          v_pending.group_id, v_pending.needed_from, p_round, p_now, p_deadline
        );
      end if;
    exception when others then
      perform logloom_private.fail_alert_group(v_pending.group_id, p_round, sqlerrm);
    end;
    v_complete := v_complete || v_pending.group_id;
    exit when clock_timestamp() > p_deadline;
  end loop;
  return v_complete;
end;
$$;

revoke all on function logloom_private.read_alert_groups(
  text, logloom_private.alert_rounds, timestamptz, timestamptz
) from public;

comment on function logloom_private.read_alert_groups(
  text, logloom_private.alert_rounds, timestamptz, timestamptz
) is 'Reads what is missing of a tenant''s groups until the deadline. Which ones it looked at.';

-- alerts/refuse_alert_rule.sql

create function logloom_private.refuse_alert_rule()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.refuse('alerts.rule_not_found');
end;
$$;

revoke all on function logloom_private.refuse_alert_rule() from public;

grant execute on function logloom_private.refuse_alert_rule()
to authenticated, service_role;

comment on function logloom_private.refuse_alert_rule() is 'PT404: no such alert rule.';

create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return (
    select array_agg(d.destination order by d.first_at)
    from (
      select u.destination, min(u.i) as first_at
      from unnest(p_destinations) with ordinality u (destination, i)
      group by u.destination
    ) d
  );
end;
$$;

revoke all on function logloom_private.distinct_destinations(text[]) from public;

grant execute on function logloom_private.distinct_destinations(text[])
to authenticated, service_role;

comment on function logloom_private.distinct_destinations(text[]) is
  'Each destination once, in the order of the first mention. Null where there is none.';

-- alerts/require_room_for_alert_rule.sql

create function logloom_private.count_alert_rules(p_tenant_id text)
returns integer
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (select count(*) from logloom.alert_rules t where t.tenant_id = p_tenant_id);
end;
$$;

revoke all on function logloom_private.count_alert_rules(text) from public;

comment on function logloom_private.count_alert_rules(text) is
  'Alert rules of a tenant that its plan counts.';

create function logloom_private.require_room_for_alert_rule(p_tenant_id text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  perform logloom_private.refuse_beyond_plan(
    v_tenant_id, 'alerts', logloom_private.count_alert_rules(v_tenant_id)
  );
end;
$$;

revoke all on function logloom_private.require_room_for_alert_rule(text) from public;

grant execute on function logloom_private.require_room_for_alert_rule(text)
to authenticated, service_role;

comment on function logloom_private.require_room_for_alert_rule(text) is
  'Provisions the tenant of the request and holds it; PT400 when its plan has no room for one '
  'more.';

-- alerts/scan_alert_rules.sql

-- Rules that read their windows: percentiles, distinct counts, and queries that name now

-- The values of the records that were put aside: of a rule with by one for each group, so that each
-- fires apart and a group without records does not fire. Without any group the value is null.
create function logloom_private.matched_windows(
  p_plan logloom_private.alert_plans,
  p_window logloom_private.alert_window
)
returns logloom_private.alert_window[]
language plpgsql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_max constant integer := (select s.alert_groups from logloom_private.settings s);
  v_value text := p_plan.aggregate_sql;
  v_windows logloom_private.alert_window[];
begin
  if p_plan.aggregate = 'rate' then
    v_value := v_value || format(
      ' * 60 / %L::double precision',
      extract(epoch from p_window.window_end - p_window.window_start)
    );
  end if;
  if cardinality(p_plan.by_sql) = 0 then
    execute 'select ' || v_value || ' from pg_temp.alert_matches l' into p_window.value;
    return array[p_window];
  end if;
  execute 'select array_agg(row($1, $2, $3, g.value, null, g."group")'
    || '::logloom_private.alert_window) from (select ' || v_value
    || ' as value, jsonb_object($4, array['
    || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(p_plan.by_sql) b)
    || ']::text[]) as "group" from pg_temp.alert_matches l group by '
    || array_to_string(p_plan.by_sql, ', ') || ' limit ' || v_max + 1 || ') g'
  into v_windows
  using p_window.rule_id, p_window.window_start, p_window.window_end, p_plan.by_fields;
  if cardinality(v_windows) > v_max then
    p_window.error := format(
      'The rule found more than %s groups: narrow the filter, or group by another field', v_max
    );
    return array[p_window];
  end if;
  return coalesce(v_windows, array[p_window]);
end;
$$;

revoke all on function logloom_private.matched_windows(
  logloom_private.alert_plans, logloom_private.alert_window
) from public;

-- The values of a window from its records: those that match are put aside piece by piece, then
-- aggregated. error where it went beyond its budget.
create function logloom_private.scanned_window(
  p_plan logloom_private.alert_plans,
  p_window logloom_private.alert_window
)
returns logloom_private.alert_window[]
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began constant timestamptz := clock_timestamp();
  v_piece_began timestamptz;
  v_settings logloom_private.settings;
  v_piece logloom_private.alert_piece;
  v_size integer := 16;
  v_records bigint := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_plan.names_now then
    p_plan.filter := logloom_private.query_sql(
      p_plan.tree, 'l', quote_literal(p_window.window_end) || '::timestamptz'
    );
  end if;
  if to_regclass(v_matches) is null then
    execute 'create temp table ' || v_matches || ' (like logloom.logs)';
  else
    execute 'truncate ' || v_matches;
  end if;
  loop
    v_piece_began := clock_timestamp();
    execute 'with piece as materialized (' || logloom_private.alert_source_sql(
      p_plan.tenant_id, p_window.window_start, p_window.window_end, v_piece.first_ts,
      v_piece.first_id, v_size
    ) || '), matched as (insert into '
      || v_matches || ' select l.* from piece l where (' || p_plan.filter
      || ')) select (select count(*) from piece), o.ts, o.id from (select 1) _ '
      || 'left join lateral (select * from piece order by ts, id limit 1) o on true'
    into v_piece;
    v_records := v_records + v_piece.records;
    exit when v_piece.records < v_size;
    if v_records > v_settings.alert_rule_records
      or clock_timestamp() > v_began + v_settings.alert_rule_budget
    then
      p_window.error := logloom_private.too_costly(
        v_records, logloom_private.milliseconds_since(v_began)
      );
      return array[p_window];
    end if;
    v_size := logloom_private.next_piece_size(
      v_size, logloom_private.milliseconds_since(v_piece_began)
    );
  end loop;
  return logloom_private.matched_windows(p_plan, p_window);
end;
$$;

revoke all on function logloom_private.scanned_window(
  logloom_private.alert_plans, logloom_private.alert_window
) from public;

comment on function logloom_private.scanned_window(
  logloom_private.alert_plans, logloom_private.alert_window
) is
  'A window with its value, of a rule with by one for each group, read from its records in pieces, '
  'or with the error.';

create function logloom_private.pending_alert_scans(
  p_round logloom_private.alert_rounds,
  p_tenant_id text default null
)
returns setof logloom_private.alert_plans
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select p.*
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id
  where (p_tenant_id is null or p.tenant_id = p_tenant_id)
    and p.group_id is null
    and p.refusal is null
    and p.query_dsl = r.query_dsl
    and r.enabled
    and r.last_evaluated_at is distinct from p_round.window_end
    and coalesce(p.retry_at <= p_round.window_end, true);
end;
$$;

revoke all on function logloom_private.pending_alert_scans(
  logloom_private.alert_rounds, text
) from public;

comment on function logloom_private.pending_alert_scans(
  logloom_private.alert_rounds, text
) is
  'Plans of the rules that read their windows and that the round did not evaluate yet.';

-- Rules that ask the same of the same windows share a reading.
create function logloom_private.scan_alert_rules(
  p_tenant_id text,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_plan logloom_private.alert_plans;
  v_window logloom_private.alert_window;
  v_windows logloom_private.alert_window[];
  v_found logloom_private.alert_window[];
  v_error text;
  v_costly boolean;
  v_seen jsonb := '{}';
  v_key text;
  v_fired integer := 0;
begin
  for v_plan in
    select p.*
    from logloom_private.pending_alert_scans(p_round, p_tenant_id) p
    order by p.failures, p.rule_id
  loop
    v_windows := '{}';
    v_error := null;
    v_costly := false;
    for v_window in
      select d.*
      from logloom_private.due_alert_windows(array[v_plan.rule_id], p_round) d
      order by d.window_end desc
    loop
      v_key := md5(
        jsonb_build_array(
          case when v_plan.names_now then v_plan.query_dsl else v_plan.filter end,
          v_plan.aggregate_sql, v_window.window_start, v_window.window_end
        )::text
      );
      if v_seen ? v_key and cardinality(v_plan.by_sql) = 0 then
        v_window.value := v_seen ->> v_key;
        v_found := array[v_window];
      else
        begin
          v_found := logloom_private.scanned_window(v_plan, v_window);
          v_error := v_found[1].error;
          v_costly := v_error like 'The rule costs too much%';
          v_seen := v_seen || jsonb_build_object(v_key, v_found[1].value::text);
        exception when others then
          v_error := sqlerrm;
        end;
      end if;
      exit when v_error is not null;
      v_windows := v_windows || v_found;
    end loop;
    if v_error is not null then
      v_windows := array[
        row(v_plan.rule_id, p_round.window_end, p_round.window_end, null, v_error, null)
          ::logloom_private.alert_window
      ];
    end if;
    update logloom_private.alert_plans p
    set
      last_error = v_error,
      retry_at = case when v_costly then p_now + logloom_private.alert_back_off(p.failures) end,
      failures = case when v_costly then p.failures + 1 else 0 end
    where p.rule_id = v_plan.rule_id;
    v_fired := v_fired + logloom_private.settle_alert_windows(v_windows, p_round, p_now);
    exit when clock_timestamp() > p_deadline;
  end loop;
  return v_fired;
end;
$$;

revoke all on function logloom_private.scan_alert_rules(
  text, logloom_private.alert_rounds, timestamptz, timestamptz
) from public;

comment on function logloom_private.scan_alert_rules(
  text, logloom_private.alert_rounds, timestamptz, timestamptz
) is
  'Evaluates a tenant''s rules that read their windows, until the deadline. Alerts fired.';

-- alerts/update_alert_rule.sql

create function public.update_alert_rule(
  p_rule_id uuid default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
  -- An empty description takes it away; notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else coalesce(logloom_private.distinct_destinations(p_notification_destinations), '{}')
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    updated_at = now()
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  perform logloom_private.plan_own_alert_rule(v_tenant_id, v_row.rule_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

revoke all on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean,
  text[], jsonb
) from public, anon, authenticated, service_role;

grant execute on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean,
  text[], jsonb
) to authenticated, service_role;

comment on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb
) is
  'Changes what is given and returns the alert rule. An empty p_description takes it away, '
  'p_notification_config is replaced as a whole. Errors: PT400, PT401, PT404.';

-- alerts/window_value.sql

-- Values

create function logloom_private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    case p_comparison
      when 'gt' then p_value > p_threshold
      when 'gte' then p_value >= p_threshold
      when 'lt' then p_value < p_threshold
      when 'lte' then p_value <= p_threshold
      when 'eq' then p_value = p_threshold
      when 'neq' then p_value <> p_threshold
    end,
    false
  );
end;
$$;

revoke all on function logloom_private.alert_condition_holds(
  double precision, text, double precision
) from public;

comment on function logloom_private.alert_condition_holds(
  double precision, text, double precision
) is
  'Whether a value fires. No data, a null, never does.';

create function logloom_private.partial_value(
  p_aggregate text,
  p_window_minutes integer,
  p_events numeric,
  p_numbers numeric,
  p_total numeric,
  p_least numeric,
  p_greatest numeric
)
returns double precision
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case p_aggregate
    when 'count' then coalesce(p_events, 0)
    when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
    when 'sum' then logloom_private.finite_double(coalesce(p_total, 0))
    when 'avg' then logloom_private.finite_double(p_total / nullif(p_numbers, 0))
    when 'min' then logloom_private.finite_double(p_least)
    when 'max' then logloom_private.finite_double(p_greatest)
  end;
end;
$$;

revoke all on function logloom_private.partial_value(
  text, integer, numeric, numeric, numeric, numeric, numeric
) from public;

comment on function logloom_private.partial_value(
  text, integer, numeric, numeric, numeric, numeric, numeric
) is 'A window''s value from the sums over its minutes, as the compiler''s aggregates have it.';

-- notifications/types/notifications.sql

create type public.logloom_alert_delivery as (
  delivery_id uuid,
  alert_id uuid,
  rule_id uuid,
  channel text,
  status text,
  attempts integer,
  created_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text,
  purpose text
);

comment on type public.logloom_alert_delivery is
  'A notification on its way: status is pending, delivered or failed, purpose alert, test or '
  'confirmation, which is the mail with a code. alert_id is null for all but the first.';

create type public.logloom_notification_address as (
  email text,
  confirmed boolean,
  confirmed_at timestamptz,
  code_expires_at timestamptz,
  tries_left integer
);

comment on type public.logloom_notification_address is
  'An email address of alert rules, in lower case. confirmed: notifications may go there, since '
  'it was confirmed by a code or is a member''s. code_expires_at and tries_left: of a code that '
  'is good.';

-- notifications/tables/confirmation_mails.sql

-- No tenant: what one sent to a mailbox counts after it was deleted, too.
create table logloom_private.confirmation_mails (
  mailbox_digest bytea not null,
  sent_at timestamptz not null default clock_timestamp()
);

create index confirmation_mails_mailbox_digest_sent_at_idx
on logloom_private.confirmation_mails (mailbox_digest, sent_at);

create index confirmation_mails_sent_at_idx on logloom_private.confirmation_mails (sent_at);

alter table logloom_private.confirmation_mails enable row level security;
alter table logloom_private.confirmation_mails force row level security;

comment on table logloom_private.confirmation_mails is
  'A row for each mail with a code, for as long as it counts towards what a mailbox may get.';

-- notifications/tables/notification_addresses.sql

create table logloom_private.notification_addresses (
  tenant_id text not null references logloom.tenants on delete cascade,
  mailbox text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  code_hash text,
  code_expires_at timestamptz,
  tries integer not null default 0,
  primary key (tenant_id, mailbox),
  constraint notification_addresses_mailbox_is_lower_case check (mailbox = lower(mailbox)),
  constraint notification_addresses_code_lapses check (
    (code_hash is null) = (code_expires_at is null)
  )
);

alter table logloom_private.notification_addresses enable row level security;
alter table logloom_private.notification_addresses force row level security;

comment on table logloom_private.notification_addresses is
  'Email addresses that were mailed a code for a tenant, and those that were confirmed by it.';

comment on column logloom_private.notification_addresses.mailbox is
  'The address in lower case: that is how addresses are compared.';

comment on column logloom_private.notification_addresses.code_hash is
  'Of the last code that was mailed, salted and slow to compute. The code itself is kept nowhere.';

comment on column logloom_private.notification_addresses.tries is
  'Wrong tries of that code.';

-- notifications/tables/notification_usage.sql

-- No foreign key: whoever is counted here has a row of logloom_private.notifications.
create table logloom_private.notification_usage (
  tenant_id text not null,
  channel text not null,
  hour timestamptz not null,
  attempts integer not null,
  primary key (tenant_id, channel, hour)
);

alter table logloom_private.notification_usage enable row level security;
alter table logloom_private.notification_usage force row level security;

comment on table logloom_private.notification_usage is
  'Attempts to deliver, by tenant, channel and hour of the clock: what the plan limits.';

-- notifications/tables/notifications.sql

create table logloom_private.notifications (
  notification_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  alert_id uuid references logloom.alert_history on delete cascade,
  purpose text not null default 'alert',
  channel text not null,
  address text not null,
  body text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claim_id uuid,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  settled_at timestamptz,
  constraint notifications_purpose_is_known check (
    purpose in ('alert', 'test', 'confirmation')
  ),
  constraint notifications_channel_is_known check (channel in ('email', 'webhook')),
  constraint notifications_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint notifications_settlement_is_whole check ((status = 'pending') = (settled_at is null))
);

create index notifications_next_attempt_at_idx
on logloom_private.notifications (next_attempt_at) where status = 'pending';

create index notifications_settled_at_idx
on logloom_private.notifications (settled_at) where status <> 'pending';

create index notifications_alert_id_idx on logloom_private.notifications (alert_id);

create index notifications_tenant_id_rule_id_created_at_idx
on logloom_private.notifications (tenant_id, rule_id, created_at desc, notification_id desc);

-- What a tenant asked for itself is counted.
create index notifications_tenant_id_created_at_idx
on logloom_private.notifications (tenant_id, created_at) where purpose <> 'alert';

alter table logloom_private.notifications enable row level security;
alter table logloom_private.notifications force row level security;

comment on table logloom_private.notifications is
  'The outbox: one row for an alert and a destination, or for a test or a code that confirms an '
  'address, which have no alert.';

comment on column logloom_private.notifications.notification_id is
  'The webhook''s id, in every attempt.';

comment on column logloom_private.notifications.next_attempt_at is
  'When it is due. Of one that is claimed: when the claim has lapsed.';

-- notifications/tables/notify_endpoint.sql

create table logloom_private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);

insert into logloom_private.notify_endpoint default values;

alter table logloom_private.notify_endpoint enable row level security;
alter table logloom_private.notify_endpoint force row level security;

comment on table logloom_private.notify_endpoint is
  'Where the edge function notify is, and the secret that it knows its caller by.';

-- notifications/tables/webhook_secrets.sql

-- No foreign key to the rule's tenant: the rule has it.
create table logloom_private.webhook_secrets (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  secret text not null,
  previous_secret text,
  previous_valid_until timestamptz
);

alter table logloom_private.webhook_secrets enable row level security;
alter table logloom_private.webhook_secrets force row level security;

comment on table logloom_private.webhook_secrets is
  'What a rule''s webhooks are signed with. The previous secret signs, too, until it lapses.';

-- notifications/address_is_confirmed.sql

create function logloom_private.address_is_confirmed(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.mailbox = lower(p_address)
      and a.confirmed_at is not null
  ) or logloom_private.is_address_of_member(p_tenant_id, p_address);
end;
$$;

revoke all on function logloom_private.address_is_confirmed(text, text) from public;

comment on function logloom_private.address_is_confirmed(text, text) is
  'Whether notifications of the tenant may go to this email address: it was confirmed by a code, '
  'or is that of a member.';

create function logloom_private.rule_names_address(p_tenant_id text, p_mailbox text)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
    select
    from logloom.alert_rules r
    where r.tenant_id = p_tenant_id and 'email' = any(r.notification_destinations)
      and lower(r.notification_config ->> 'email') = p_mailbox
  );
end;
$$;

revoke all on function logloom_private.rule_names_address(text, text) from public;

comment on function logloom_private.rule_names_address(text, text) is
  'Whether an alert rule of the tenant has this address, given in lower case, as its destination.';

create function logloom_private.unconfirmed_address()
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return 'The address is not confirmed: confirm_notification_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
end;
$$;

revoke all on function logloom_private.unconfirmed_address() from public;

comment on function logloom_private.unconfirmed_address() is
  'What a delivery says that is not made because nobody confirmed its address.';

create function logloom_private.email_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_is_confirmed constant boolean := logloom_private.address_is_confirmed(
    p_notification.tenant_id, p_notification.address
  );
begin
  if p_notification.purpose <> 'confirmation' then
    return case when not v_is_confirmed then logloom_private.unconfirmed_address() end;
  elsif v_is_confirmed then
    return 'The address is confirmed already';
  -- Who makes a rule and deletes it at once sends nothing to anybody.
  elsif not logloom_private.rule_names_address(
    p_notification.tenant_id, lower(p_notification.address)
  ) then
    return 'No alert rule has this address any more';
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- A repeated attempt was counted the first time.
  if p_notification.attempts = 0 and (
    select count(*) >= v_settings.confirmation_codes_per_mailbox
    from logloom_private.confirmation_mails m
    where m.mailbox_digest = logloom_private.mailbox_digest(p_notification.address)
      and m.sent_at > now() - v_settings.confirmation_lifetime
  ) then
    return 'Too many codes went to this address: none is mailed to it today';
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.email_refusal(logloom_private.notifications) from public;

comment on function logloom_private.email_refusal(logloom_private.notifications) is
  'Why an email is not to be sent; null where it may go.';

create function logloom_private.mailbox_digest(p_address text)
returns bytea
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return sha256(convert_to(lower(regexp_replace(p_address, '[+][^@]*@', '@')), 'UTF8'));
end;
$$;

revoke all on function logloom_private.mailbox_digest(text) from public;

comment on function logloom_private.mailbox_digest(text) is
  'One for all addresses that a mailbox usually has: without letter case and what follows a +.';

-- notifications/channels.sql

-- A channel has a line in each of these, a column of logloom.plans, a value in
-- notifications_channel_is_known and in alert_rules_destinations_are_known, and a way to deliver in
-- functions/notify/channels.ts.

create function logloom_private.channel_address(p_channel text, p_config jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- A channel that is not named here is an error, never somebody else's address.
  case p_channel
    when 'email' then return p_config ->> 'email';
    when 'webhook' then return p_config ->> 'webhook_url';
  end case;
end;
$$;

revoke all on function logloom_private.channel_address(text, jsonb) from public;

comment on function logloom_private.channel_address(text, jsonb) is
  'The address of a channel in a rule''s notification_config, or null.';

create function logloom_private.channel_is_enabled(
  p_channel text,
  p_preferences public.logloom_notification_preferences
)
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  case p_channel
    when 'email' then return p_preferences.email_enabled;
    when 'webhook' then return p_preferences.webhook_enabled;
  end case;
end;
$$;

revoke all on function logloom_private.channel_is_enabled(
  text, public.logloom_notification_preferences
) from public;

comment on function logloom_private.channel_is_enabled(
  text, public.logloom_notification_preferences
) is 'Whether the tenant wants to hear by a channel at all.';

create function logloom_private.channel_limit(p_channel text, p_plan logloom.plans)
returns integer
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  case p_channel
    when 'email' then return p_plan.emails_per_hour;
    when 'webhook' then return p_plan.webhooks_per_hour;
  end case;
end;
$$;

revoke all on function logloom_private.channel_limit(text, logloom.plans) from public;

comment on function logloom_private.channel_limit(text, logloom.plans) is
  'Attempts to deliver by a channel that a plan allows in an hour.';

-- notifications/claim_notifications.sql

create type public.logloom_claimed_notification as (
  notification_id uuid,
  claim_id uuid,
  channel text,
  address text,
  body text,
  secrets text[]
);

comment on type public.logloom_claimed_notification is
  'A notification to deliver now, and the secrets to sign it with.';

create function logloom_private.due_notifications()
returns table (
  notification_id uuid, place bigint, is_beyond_plan boolean, channel_limit integer
)
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  with due as (
    -- Each tenant's first before anybody's second, so that one with much to send, or with a
    -- receiver that hangs, does not hold up the others.
    select
      n.notification_id, n.tenant_id, n.channel,
      row_number() over (partition by n.tenant_id order by n.next_attempt_at) as place,
      row_number() over (
        partition by n.tenant_id, n.channel order by n.next_attempt_at
      ) as channel_place
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ), senders as (
    select
      d.tenant_id, d.channel,
      logloom_private.channel_limit(d.channel, logloom_private.plan_of(d.tenant_id)) as attempts
    from (select distinct x.tenant_id, x.channel from due x) d
  )
  select
    d.notification_id, d.place, d.channel_place > s.attempts - coalesce(u.attempts, 0), s.attempts
  from due d
  join senders s on s.tenant_id = d.tenant_id and s.channel = d.channel
  left join logloom_private.notification_usage u
    on u.tenant_id = d.tenant_id and u.channel = d.channel and u.hour = date_trunc('hour', now());
end;
$$;

revoke all on function logloom_private.due_notifications() from public;

comment on function logloom_private.due_notifications() is
  'The notifications that are due, their place among those of their tenant, and whether they are '
  'beyond what its plan allows in this hour.';

create function logloom_private.postpone_notifications()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_next_hour constant timestamptz := date_trunc('hour', now()) + interval '1 hour';
  v_beyond record;
begin
  for v_beyond in
    select n as notification, d.channel_limit
    from logloom_private.due_notifications() d
    join logloom_private.notifications n on n.notification_id = d.notification_id
    where d.is_beyond_plan
    limit (select s.purge_step_rows from logloom_private.settings s)
    for update of n skip locked
  loop
    if v_next_hour >= (v_beyond.notification).expires_at then
      perform logloom_private.end_notification(
        v_beyond.notification, 'failed', null,
        format('The plan allows %s in an hour, and this one had no turn', v_beyond.channel_limit)
      );
    else
      update logloom_private.notifications n
      set claim_id = null,
        -- Not all of all tenants in the same second.
        next_attempt_at = v_next_hour + random() * interval '1 minute',
        last_error = format(
          'The plan allows %s in an hour: this one waits for the next', v_beyond.channel_limit
        )
      where n.notification_id = (v_beyond.notification).notification_id;
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.postpone_notifications() from public;

comment on function logloom_private.postpone_notifications() is
  'Has what is due, and beyond what its tenant''s plan allows in this hour, wait for the next.';

create function logloom_private.claim_due_notifications(p_limit integer)
returns setof public.logloom_claimed_notification
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reads the outbox or a webhook's secret
declare
  v_ids uuid[];
  v_notification logloom_private.notifications;
  v_refusal text;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), 0);
  loop
    v_ids := array(
      select n.notification_id
      from logloom_private.notifications n
      join logloom_private.due_notifications() d on d.notification_id = n.notification_id
      -- Again, on the row as it is once locked: it may have been settled meanwhile.
      where n.status = 'pending' and n.next_attempt_at <= now() and not d.is_beyond_plan
      order by d.place, n.next_attempt_at
      limit p_limit
      for update of n skip locked
    );
    exit when cardinality(v_ids) = 0;
    for v_notification in
      select n.*
      from logloom_private.notifications n
      where n.notification_id = any(v_ids) and n.channel = 'email'
    loop
      v_refusal := logloom_private.email_refusal(v_notification);
      if v_refusal is not null then
        perform logloom_private.end_notification(v_notification, 'failed', null, v_refusal);
        v_ids := array_remove(v_ids, v_notification.notification_id);
      elsif v_notification.purpose = 'confirmation' and v_notification.attempts = 0 then
        insert into logloom_private.confirmation_mails (mailbox_digest)
        values (logloom_private.mailbox_digest(v_notification.address));
      end if;
    end loop;
    exit when cardinality(v_ids) > 0;
  end loop;
  perform logloom_private.postpone_notifications();

  insert into logloom_private.notification_usage as u (tenant_id, channel, hour, attempts)
  select n.tenant_id, n.channel, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  where n.notification_id = any(v_ids)
  group by n.tenant_id, n.channel
  on conflict (tenant_id, channel, hour) do update
  set attempts = u.attempts + excluded.attempts;
  for v_notification in
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from logloom_private.settings s
    where n.notification_id = any(v_ids)
    returning n.*
  loop
    return query
    select
      v_notification.notification_id, v_notification.claim_id, v_notification.channel,
      v_notification.address,
      case v_notification.purpose
        when 'confirmation' then logloom_private.mail_code(v_notification)
        else v_notification.body
      end,
      array_remove(
        array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
      )
    from (select) one
    left join logloom_private.webhook_secrets w
      on w.rule_id = v_notification.rule_id and v_notification.channel = 'webhook';
  end loop;
end;
$$;

revoke all on function logloom_private.claim_due_notifications(integer) from public;

grant execute on function logloom_private.claim_due_notifications(integer) to service_role;

comment on function logloom_private.claim_due_notifications(integer) is
  'The notifications that are due, taken for as long as a claim lasts: each tenant''s first '
  'before anybody''s second, and of each as many as its plan allows in the hour.';

create function public.claim_notifications(p_limit integer default null)
returns setof public.logloom_claimed_notification
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    perform logloom_private.refuse('notifications.claim_limit_is_out_of_range');
  end if;
  return query select c.* from logloom_private.claim_due_notifications(p_limit) c;
end;
$$;

revoke all on function public.claim_notifications(integer)
from public, anon, authenticated, service_role;

grant execute on function public.claim_notifications(integer) to service_role;

comment on function public.claim_notifications(integer) is
  'What the edge function notify calls: takes due notifications, p_limit 1 to 100. One that is not '
  'settled in time is due again. Errors: PT400.';

-- notifications/confirm_notification_address.sql

create function logloom_private.require_room_for_address(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_max constant integer :=
    (logloom_private.plan_of(p_tenant_id)).max_notification_addresses;
begin
  if (
    select count(*) < v_max
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.confirmed_at is not null
  ) then
    return;
  end if;
  delete from logloom_private.notification_addresses a
  where a.tenant_id = p_tenant_id and a.confirmed_at is not null
    and not logloom_private.rule_names_address(p_tenant_id, a.mailbox);
  if (
    select count(*) >= v_max
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.confirmed_at is not null
  ) then
    perform logloom_private.refuse('notifications.no_room_for_address', v_max::text);
  end if;
end;
$$;

revoke all on function logloom_private.require_room_for_address(text) from public;

comment on function logloom_private.require_room_for_address(text) is
  'PT400 where the plan has no room for one more confirmed address, once those are forgotten that '
  'no rule has.';

create function logloom_private.confirm_address(p_email text, p_code text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reads or confirms addresses
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_mailbox constant text := lower(logloom_private.trim_space(p_email));
  v_code constant text := logloom_private.trim_space(p_code);
  v_tries_max constant integer := (
    select s.confirmation_tries from logloom_private.settings s
  );
  v_address logloom_private.notification_addresses;
begin
  if v_code !~ '^[0-9]{6}$' then
    perform logloom_private.refuse('notifications.code_is_malformed');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  select a.* into v_address
  from logloom_private.notification_addresses a
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox
  for update;
  if v_address.confirmed_at is not null then
    return jsonb_build_object('success', true);
  end if;
  if v_address.code_expires_at > now() is not true then
    perform logloom_private.refuse('notifications.no_code_is_good');
  end if;
  if v_address.tries >= v_tries_max then
    perform logloom_private.refuse('notifications.code_was_tried_too_often');
  end if;
  -- Hashes are compared: how long that takes tells nothing of the code.
  if extensions.crypt(v_code, v_address.code_hash) <> v_address.code_hash then
    update logloom_private.notification_addresses a
    set tries = a.tries + 1
    where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
    return logloom_private.refuse_and_keep('notifications.code_is_wrong');
  end if;
  perform logloom_private.require_room_for_address(v_tenant_id);
  update logloom_private.notification_addresses a
  set confirmed_at = now(),
    confirmed_by = logloom_private.current_user_id(),
    code_hash = null,
    code_expires_at = null,
    tries = 0
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
  return jsonb_build_object('success', true);
end;
$$;

revoke all on function logloom_private.confirm_address(text, text) from public;

grant execute on function logloom_private.confirm_address(text, text)
to authenticated, service_role;

comment on function logloom_private.confirm_address(text, text) is
  'Confirms an address of the tenant by the code that was mailed to it, or counts a wrong try.';

create function public.confirm_notification_address(
  p_email text default null,
  p_code text default null
)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_email', p_email is null);
  perform logloom_private.require_parameter('p_code', p_code is null);
  return logloom_private.confirm_address(p_email, p_code);
end;
$$;

revoke all on function public.confirm_notification_address(text, text)
from public, anon, authenticated, service_role;

grant execute on function public.confirm_notification_address(text, text)
to authenticated, service_role;

comment on function public.confirm_notification_address(text, text) is
  'Confirms the email address of an alert rule by the six digits that were mailed to it, and '
  'returns {"success": true}. A code is good for 24 h and five tries. Errors: PT400, PT401.';

-- notifications/delivery.sql

-- Deliveries

create function logloom_private.delivery(p_notification logloom_private.notifications)
returns public.logloom_alert_delivery
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_notification.notification_id, p_notification.alert_id, p_notification.rule_id,
    p_notification.channel, p_notification.status, p_notification.attempts,
    p_notification.created_at, p_notification.last_attempt_at,
    case p_notification.status when 'pending' then p_notification.next_attempt_at end,
    case p_notification.status when 'delivered' then p_notification.settled_at end,
    p_notification.last_status, p_notification.last_error, p_notification.purpose
  )::public.logloom_alert_delivery;
end;
$$;

revoke all on function logloom_private.delivery(logloom_private.notifications) from public;

comment on function logloom_private.delivery(logloom_private.notifications) is
  'A notification as its tenant sees it.';

-- notifications/enqueue_notifications.sql

-- ISO 8601 in UTC, whatever the session's time zone is.
create function logloom_private.iso_time(p_at timestamptz)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end;
$$;

revoke all on function logloom_private.iso_time(timestamptz) from public;

comment on function logloom_private.iso_time(timestamptz) is 'An instant as ISO 8601 in UTC.';

-- What a receiver is told. The text is kept, so that every attempt sends and signs the same bytes.
create function logloom_private.notification_body(
  p_type text,
  p_rule logloom.alert_rules,
  p_alert logloom.alert_history
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return json_build_object(
    'type', p_type,
    'timestamp', logloom_private.iso_time(p_alert.triggered_at),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'group', p_alert."group",
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', logloom_private.iso_time(p_alert.window_start),
      'window_end', logloom_private.iso_time(p_alert.window_end),
      'triggered_at', logloom_private.iso_time(p_alert.triggered_at)
    )
  )::text;
end;
$$;

revoke all on function logloom_private.notification_body(
  text, logloom.alert_rules, logloom.alert_history
) from public;

comment on function logloom_private.notification_body(
  text, logloom.alert_rules, logloom.alert_history
) is
  'The JSON that a webhook carries, of type alert.triggered or alert.test.';

create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_alert_id uuid,
  p_body text
)
returns setof logloom_private.notifications
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_preferences public.logloom_notification_preferences;
  v_notification logloom_private.notifications;
begin
  v_preferences := (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences;
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id, secret)
    values (p_rule.rule_id, logloom_private.new_webhook_secret())
    on conflict (rule_id) do nothing;
  end if;
  for v_notification in
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, purpose, channel, address, body, expires_at
    )
    select
      p_rule.tenant_id, p_rule.rule_id, p_alert_id,
      case when p_alert_id is null then 'test' else 'alert' end, d.channel,
      logloom_private.channel_address(d.channel, p_rule.notification_config), p_body,
      now() + s.notification_lifetime
    from logloom_private.settings s
    cross join unnest(p_rule.notification_destinations) d (channel)
    where logloom_private.channel_is_enabled(d.channel, v_preferences)
      and logloom_private.channel_address(d.channel, p_rule.notification_config) is not null
    returning *
  loop
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- Whoever tests asks for another code. An alert asks for nothing: it may fire for ever.
          when p_alert_id is null then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address()
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$$;

revoke all on function logloom_private.enqueue_notifications(logloom.alert_rules, uuid, text)
from public;

comment on function logloom_private.enqueue_notifications(logloom.alert_rules, uuid, text) is
  'One notification for each destination of the rule that the tenant''s preferences allow. One to '
  'an address that is not confirmed is given up at once.';

create function logloom_private.enqueue_alert_notifications()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- An entry outlives its rule, and may be put back without it: then nobody is to hear of it.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, new.alert_id, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.enqueue_alert_notifications() from public;

comment on function logloom_private.enqueue_alert_notifications() is
  'The notifications of an alert, in the transaction that fires it.';

-- An entry that says that it was notified of is put back, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null)
execute function logloom_private.enqueue_alert_notifications();

-- notifications/list_alert_deliveries.sql

create function logloom_private.page_of_deliveries(
  p_alert_id uuid,
  p_rule_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_delivery
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role reads the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select n.created_at
        from logloom_private.notifications n
        where n.tenant_id = v_tenant_id and n.notification_id = p_after
      ),
      'delivery', 'delivery_id'
    )
  end;
begin
  return query
  select d.*
  from logloom_private.notifications n
  cross join lateral logloom_private.delivery(n) d
  where n.tenant_id = v_tenant_id
    and (p_alert_id is null or n.alert_id = p_alert_id)
    and (p_rule_id is null or n.rule_id = p_rule_id)
    and (p_after is null or (n.created_at, n.notification_id) < (v_after, p_after))
  order by n.created_at desc, n.notification_id desc
  limit v_limit;
end;
$$;

revoke all on function logloom_private.page_of_deliveries(uuid, uuid, integer, uuid)
from public;

grant execute on function logloom_private.page_of_deliveries(uuid, uuid, integer, uuid)
to authenticated, service_role;

comment on function logloom_private.page_of_deliveries(uuid, uuid, integer, uuid) is
  'A page of the tenant''s deliveries, of an alert or of a rule where given.';

create function public.list_alert_deliveries(
  p_alert_id uuid default null,
  p_rule_id uuid default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_delivery
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  perform logloom_private.require_parameter('p_alert_id', num_nonnulls(p_alert_id, p_rule_id) = 0);
  if p_alert_id is not null and not exists (
    select from logloom.alert_history h where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  ) then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  return query
  select d.* from logloom_private.page_of_deliveries(p_alert_id, p_rule_id, p_limit, p_after) d;
end;
$$;

revoke all on function public.list_alert_deliveries(uuid, uuid, integer, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.list_alert_deliveries(uuid, uuid, integer, uuid)
to authenticated, service_role;

comment on function public.list_alert_deliveries(uuid, uuid, integer, uuid) is
  'Deliveries of an alert, or of a rule with its tests, newest first. p_limit 1 to 1000 (default '
  '100), p_after: delivery_id of the last item of the page before. Errors: PT400, PT401, PT404.';

-- notifications/list_notification_addresses.sql

create function logloom_private.page_of_addresses(p_limit integer, p_after text)
returns setof public.logloom_notification_address
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role reads codes or the users of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  return query
  with page as materialized (
    select distinct lower(r.notification_config ->> 'email') as mailbox
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and 'email' = any(r.notification_destinations)
      and r.notification_config ->> 'email' is not null
      and (p_after is null or lower(r.notification_config ->> 'email') > lower(p_after))
    order by 1
    limit v_limit
  )
  select
    p.mailbox, logloom_private.address_is_confirmed(v_tenant_id, p.mailbox), a.confirmed_at,
    case when a.code_expires_at > now() then a.code_expires_at end,
    case when a.code_expires_at > now() then greatest(s.confirmation_tries - a.tries, 0) end
  from page p
  cross join logloom_private.settings s
  left join logloom_private.notification_addresses a
    on a.tenant_id = v_tenant_id and a.mailbox = p.mailbox
  order by p.mailbox;
end;
$$;

revoke all on function logloom_private.page_of_addresses(integer, text) from public;

grant execute on function logloom_private.page_of_addresses(integer, text)
to authenticated, service_role;

comment on function logloom_private.page_of_addresses(integer, text) is
  'A page of the email addresses of the tenant''s rules.';

create function public.list_notification_addresses(
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_notification_address
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.resolve_tenant();
  return query select a.* from logloom_private.page_of_addresses(p_limit, p_after) a;
end;
$$;

revoke all on function public.list_notification_addresses(integer, text)
from public, anon, authenticated, service_role;

grant execute on function public.list_notification_addresses(integer, text)
to authenticated, service_role;

comment on function public.list_notification_addresses(integer, text) is
  'The email addresses that alert rules of the tenant have, in order, and whether notifications '
  'may go there. p_limit 1 to 1000 (default 100), p_after: email of the last item of the page '
  'before. Errors: PT400, PT401.';

-- notifications/purge_notifications.sql

create function logloom_private.purge_notifications()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom_private.notifications n
  where n.notification_id = any(array(
    select o.notification_id
    from logloom_private.notifications o
    where o.status <> 'pending'
      and o.settled_at < now() - v_settings.notification_history_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  delete from logloom_private.notification_usage u where u.hour < now() - interval '1 day';
  delete from logloom_private.confirmation_mails m
  where m.sent_at < now() - v_settings.confirmation_lifetime;
  delete from logloom_private.notification_addresses a
  where a.confirmed_at is null and a.code_expires_at < now();
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.purge_notifications() from public;

comment on function logloom_private.purge_notifications() is
  'Deletes deliveries that ended long ago, and what no limit counts any more.';

-- notifications/request_confirmation.sql

create function logloom_private.request_confirmation(
  p_rule logloom.alert_rules,
  p_is_repeat boolean
)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_address constant text := logloom_private.channel_address('email', p_rule.notification_config);
  v_mailbox constant text := lower(v_address);
  v_settings logloom_private.settings;
  v_codes integer;
  v_codes_for_address integer;
  v_last_at timestamptz;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select s.* into v_settings from logloom_private.settings s;
  select
    count(*), count(*) filter (where lower(n.address) = v_mailbox),
    max(n.created_at) filter (where lower(n.address) = v_mailbox)
  into v_codes, v_codes_for_address, v_last_at
  from logloom_private.notifications n
  where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
    and n.created_at > now() - v_settings.confirmation_lifetime;
  -- One code for all rules with the address; another one is for who asks for it.
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation' and n.status = 'pending'
      and n.created_at > now() - v_settings.confirmation_lifetime
      and lower(n.address) = v_mailbox
  ) or not p_is_repeat and exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
      and a.code_expires_at > now() and a.tries < v_settings.confirmation_tries
  ) or v_last_at > now() - v_settings.confirmation_interval then
    return 'The address is not confirmed: confirm_notification_address takes the code that is '
      'mailed to it';
  elsif v_codes >= v_settings.confirmation_codes_per_tenant
    or v_codes_for_address >= v_settings.confirmation_codes_per_address
  then
    return 'The address is not confirmed, and enough codes were mailed for today';
  end if;
  -- The code itself is made when the mail is.
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + v_settings.notification_lifetime
  );
  return 'The address is not confirmed: confirm_notification_address takes the code that is '
    'mailed to it';
end;
$$;

revoke all on function logloom_private.request_confirmation(logloom.alert_rules, boolean)
from public;

comment on function logloom_private.request_confirmation(logloom.alert_rules, boolean) is
  'Has a code mailed to the address of a rule, where the limits allow it and none is good yet, or '
  'for who asks again. Returns what the delivery is told.';

create function logloom_private.request_confirmation_of_rule()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
begin
  if not logloom_private.address_is_confirmed(
    new.tenant_id, logloom_private.channel_address('email', new.notification_config)
  ) then
    perform logloom_private.request_confirmation(new, false);
  end if;
  return null;
end;
$$;

revoke all on function logloom_private.request_confirmation_of_rule() from public;

comment on function logloom_private.request_confirmation_of_rule() is
  'Whoever makes or changes a rule with an address that is not confirmed has a code mailed to it.';

create trigger alert_rules_request_confirmation
after insert or update of enabled, notification_destinations, notification_config
on logloom.alert_rules
for each row when (new.enabled and 'email' = any(new.notification_destinations))
execute function logloom_private.request_confirmation_of_rule();

create function logloom_private.mail_code(p_notification logloom_private.notifications)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  -- 48 bits over a million codes: none is more likely than another by what anybody could use.
  v_code constant text := lpad((
    (('x' || encode(extensions.gen_random_bytes(6), 'hex'))::bit(48)::bigint) % 1000000
  )::text, 6, '0');
  v_lifetime constant interval := (
    select s.confirmation_lifetime from logloom_private.settings s
  );
begin
  insert into logloom_private.notification_addresses as a (
    tenant_id, mailbox, code_hash, code_expires_at
  )
  values (
    p_notification.tenant_id, lower(p_notification.address),
    extensions.crypt(v_code, extensions.gen_salt('bf', 8)), now() + v_lifetime
  )
  on conflict (tenant_id, mailbox) do update
  set code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at, tries = 0;
  return (
    p_notification.body::jsonb || jsonb_build_object(
      'code', v_code, 'hours', round(extract(epoch from v_lifetime) / 3600, 1)
    )
  )::text;
end;
$$;

revoke all on function logloom_private.mail_code(logloom_private.notifications) from public;

comment on function logloom_private.mail_code(logloom_private.notifications) is
  'Makes a new code for the address of a notification that was claimed, keeps its hash, and '
  'returns what the mail says. The code before is good no more.';

-- notifications/retry_alert_delivery.sql

create function logloom_private.put_back_delivery(p_delivery_id uuid)
returns public.logloom_alert_delivery
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_notification logloom_private.notifications;
  v_address text;
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.tenant_id = v_tenant_id and n.notification_id = p_delivery_id
  for update;
  if not found then
    perform logloom_private.refuse('notifications.delivery_not_found');
  end if;
  if v_notification.status = 'delivered' then
    perform logloom_private.refuse('notifications.delivery_arrived');
  end if;
  if v_notification.purpose = 'confirmation' then
    perform logloom_private.refuse('notifications.code_is_not_mailed_twice');
  end if;
  v_address := coalesce(
    (
      select logloom_private.channel_address(v_notification.channel, r.notification_config)
      from logloom.alert_rules r
      where r.rule_id = v_notification.rule_id
    ),
    v_notification.address
  );
  if v_notification.channel = 'email'
    and not logloom_private.address_is_confirmed(v_tenant_id, v_address)
  then
    perform logloom_private.refuse('notifications.address_is_not_confirmed');
  end if;
  -- One that is under way stays with who claimed it. The address may have been mended meanwhile.
  update logloom_private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + (select s.notification_lifetime from logloom_private.settings s),
    address = v_address
  where n.notification_id = p_delivery_id
  returning n.* into v_notification;
  return logloom_private.delivery(v_notification);
end;
$$;

revoke all on function logloom_private.put_back_delivery(uuid) from public;

grant execute on function logloom_private.put_back_delivery(uuid)
to authenticated, service_role;

comment on function logloom_private.put_back_delivery(uuid) is
  'Makes a delivery of the tenant due again, at the rule''s present address.';

create function public.retry_alert_delivery(p_delivery_id uuid default null)
returns public.logloom_alert_delivery
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_delivery_id', p_delivery_id is null);
  return logloom_private.put_back_delivery(p_delivery_id);
end;
$$;

revoke all on function public.retry_alert_delivery(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.retry_alert_delivery(uuid)
to authenticated, service_role;

comment on function public.retry_alert_delivery(uuid) is
  'Tries a delivery that failed again, now and for another 24 h, at the rule''s present address. '
  'Errors: PT400, PT401, PT404.';

-- notifications/rotate_webhook_secret.sql

create type public.logloom_webhook_secret as (
  rule_id uuid,
  secret text,
  previous_valid_until timestamptz
);

comment on type public.logloom_webhook_secret is
  'A rule''s new secret, told once, and until when the one before signs, too.';

-- The outbox

create function logloom_private.new_webhook_secret()
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64');
end;
$$;

revoke all on function logloom_private.new_webhook_secret() from public;

comment on function logloom_private.new_webhook_secret() is
  'A secret in the form of Standard Webhooks.';

create function logloom_private.replace_webhook_secret(p_rule_id uuid)
returns public.logloom_webhook_secret
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_result public.logloom_webhook_secret;
begin
  perform from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  insert into logloom_private.webhook_secrets as w (rule_id, secret)
  values (p_rule_id, logloom_private.new_webhook_secret())
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + (select s.webhook_secret_overlap
      from logloom_private.settings s),
    secret = excluded.secret
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  return v_result;
end;
$$;

revoke all on function logloom_private.replace_webhook_secret(uuid) from public;

grant execute on function logloom_private.replace_webhook_secret(uuid)
to authenticated, service_role;

comment on function logloom_private.replace_webhook_secret(uuid) is
  'A new secret for a rule of the tenant; the one before is valid for a while.';

create function public.rotate_webhook_secret(p_rule_id uuid default null)
returns public.logloom_webhook_secret
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  return logloom_private.replace_webhook_secret(p_rule_id);
end;
$$;

revoke all on function public.rotate_webhook_secret(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.rotate_webhook_secret(uuid)
to authenticated, service_role;

comment on function public.rotate_webhook_secret(uuid) is
  'Makes a new secret for a rule''s webhooks and returns it, this once. For 24 h webhooks are '
  'signed with both. Errors: PT400, PT401, PT404.';

-- notifications/send_notifications.sql

-- What wakes the edge function. pg_net does not wait for the answer; http, where it is missing,
-- does, and the function answers at once.
create function logloom_private.send_notifications()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    return;
  end if;
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function notify answered %', v_status;
  end if;
end;
$$;

revoke all on function logloom_private.send_notifications() from public;

comment on function logloom_private.send_notifications() is
  'Wakes the edge function notify when something is due.';

-- notifications/settle_notification.sql

create function logloom_private.retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_seconds double precision;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- The exponent is cut so that the power stays a number; the greatest wait holds long before.
  v_seconds := extract(epoch from v_settings.notification_retry_base)
    * power(v_settings.notification_retry_factor, least(p_attempts - 1, 30));
  v_seconds := least(v_seconds, extract(epoch from v_settings.notification_retry_max))
    * (0.8 + 0.4 * random());
  return greatest(
    make_interval(secs => v_seconds),
    least(make_interval(secs => coalesce(p_retry_after, 0)), v_settings.notification_retry_max)
  );
end;
$$;

revoke all on function logloom_private.retry_delay(integer, integer) from public;

comment on function logloom_private.retry_delay(integer, integer) is
  'How long to wait after so many attempts: back-off with jitter, at least what the receiver asks.';

create function logloom_private.end_notification(
  p_notification logloom_private.notifications,
  p_outcome text,
  p_status integer,
  p_error text
)
returns logloom_private.notifications
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_ended logloom_private.notifications;
begin
  update logloom_private.notifications n
  set claim_id = null,
    status = case p_outcome when 'delivered' then 'delivered' else 'failed' end,
    settled_at = now(),
    last_status = p_status,
    last_error = p_error
  where n.notification_id = p_notification.notification_id
  returning n.* into v_ended;
  update logloom.alert_history h
  set
    notification_sent_at = case p_outcome
      when 'delivered' then coalesce(h.notification_sent_at, now())
      else h.notification_sent_at
    end,
    notification_channels = case
      when p_outcome <> 'delivered' or p_notification.channel = any(h.notification_channels)
        then h.notification_channels
      else h.notification_channels || p_notification.channel
    end,
    notification_error = case p_outcome
      when 'delivered' then h.notification_error
      else p_notification.channel || ': ' || coalesce(p_error, 'not delivered')
    end
  where h.alert_id = p_notification.alert_id;
  return v_ended;
end;
$$;

revoke all on function logloom_private.end_notification(
  logloom_private.notifications, text, integer, text
) from public;

comment on function logloom_private.end_notification(
  logloom_private.notifications, text, integer, text
) is 'Notes that a notification was delivered or is given up, in the history of alerts, too.';

create function logloom_private.settle_claim(
  p_notification_id uuid,
  p_claim_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_notification logloom_private.notifications;
  v_next_attempt_at timestamptz;
  v_error constant text := left(p_error, 500);
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.notification_id = p_notification_id
  for update;
  -- That it arrived holds whoever says so; that it did not only while nobody else tries.
  if not found
    or v_notification.status <> 'pending'
    or (p_outcome <> 'delivered' and v_notification.claim_id is distinct from p_claim_id)
  then
    return;
  end if;

  if p_outcome = 'retry' then
    v_next_attempt_at := now() + logloom_private.retry_delay(
      v_notification.attempts, p_retry_after
    );
    if v_next_attempt_at < v_notification.expires_at then
      update logloom_private.notifications n
      set claim_id = null,
        next_attempt_at = v_next_attempt_at,
        last_status = p_status,
        last_error = v_error
      where n.notification_id = p_notification_id;
      return;
    end if;
  end if;

  perform logloom_private.end_notification(v_notification, p_outcome, p_status, v_error);
end;
$$;

revoke all on function logloom_private.settle_claim(
  uuid, uuid, text, integer, text, integer
) from public;

grant execute on function logloom_private.settle_claim(
  uuid, uuid, text, integer, text, integer
) to service_role;

comment on function logloom_private.settle_claim(uuid, uuid, text, integer, text, integer) is
  'Notes what came of a claim, and when the next attempt is due.';

create function public.settle_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'failed') then
    perform logloom_private.refuse('notifications.outcome_is_unknown');
  end if;
  perform logloom_private.settle_claim(
    p_notification_id, p_claim_id, p_outcome, p_status, p_error, p_retry_after
  );
  return row(true)::public.logloom_success;
end;
$$;

revoke all on function public.settle_notification(
  uuid, uuid, text, integer, text, integer
) from public, anon, authenticated, service_role;

grant execute on function public.settle_notification(
  uuid, uuid, text, integer, text, integer
) to service_role;

comment on function public.settle_notification(uuid, uuid, text, integer, text, integer) is
  'What the edge function notify calls after an attempt. p_outcome: delivered; retry, which is '
  'tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is '
  'given up. p_status: HTTP or SMTP status. Errors: PT400.';

-- notifications/test_alert_rule.sql

create function logloom_private.require_room_for_test(p_tenant_id text, p_channel text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_limit constant integer := logloom_private.channel_limit(
    p_channel, logloom_private.plan_of(p_tenant_id)
  );
  v_room_at timestamptz;
begin
  if v_limit = 0 then
    v_room_at := now() + interval '1 hour';
  else
    select n.created_at + interval '1 hour' into v_room_at
    from logloom_private.notifications n
    where n.tenant_id = p_tenant_id and n.purpose = 'test' and n.channel = p_channel
      and n.created_at > now() - interval '1 hour'
    order by n.created_at desc
    offset v_limit - 1
    limit 1;
  end if;
  if v_room_at is not null then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_room_at - now()))::integer,
      'notifications.no_room_for_test',
      v_limit::text,
      p_channel
    );
  end if;
end;
$$;

revoke all on function logloom_private.require_room_for_test(text, text) from public;

comment on function logloom_private.require_room_for_test(text, text) is
  'PT429 where a tenant tested as often within an hour as its plan allows notifications by the '
  'channel, whatever became of the rules.';

create function logloom_private.enqueue_rule_test(p_rule_id uuid)
returns setof public.logloom_alert_delivery
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_rule logloom.alert_rules;
  v_sample logloom.alert_history;
  v_channel text;
begin
  select r.* into v_rule
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  if exists (
    select
    from logloom_private.notifications n
    cross join logloom_private.settings s
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.purpose = 'test'
      and n.created_at > now() - s.notification_test_interval
  ) then
    perform logloom_private.refuse('notifications.tested_a_moment_ago');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  foreach v_channel in array v_rule.notification_destinations loop
    perform logloom_private.require_room_for_test(v_tenant_id, v_channel);
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := logloom_private.whole_minute(now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, null, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(n) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
end;
$$;

revoke all on function logloom_private.enqueue_rule_test(uuid) from public;

grant execute on function logloom_private.enqueue_rule_test(uuid)
to authenticated, service_role;

comment on function logloom_private.enqueue_rule_test(uuid) is
  'A test notification for each destination of a rule of the tenant.';

create function public.test_alert_rule(p_rule_id uuid default null)
returns setof public.logloom_alert_delivery
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  return query select d.* from logloom_private.enqueue_rule_test(p_rule_id) d;
end;
$$;

revoke all on function public.test_alert_rule(uuid)
from public, anon, authenticated, service_role;

grant execute on function public.test_alert_rule(uuid)
to authenticated, service_role;

comment on function public.test_alert_rule(uuid) is
  'Sends a notification that is marked as a test to each destination and returns the deliveries. '
  'Errors: PT400, PT401, PT404, PT429.';

-- usage/check_plan_feature.sql

create type public.logloom_plan_feature as (
  enabled boolean,
  "maxCount" integer,
  "currentCount" integer
);

comment on type public.logloom_plan_feature is
  'Whether the plan includes a feature, how many of it, and how many the tenant has.';

create function logloom_private.plan_feature(p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because a plan counts what a colleague keeps private, too
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer :=
    logloom_private.plan_limit(logloom_private.plan_of(v_tenant_id), p_feature);
begin
  return row(
    v_limit is not null,
    coalesce(v_limit, 0),
    case p_feature
      when 'saved_searches' then logloom_private.count_saved_searches(v_tenant_id)
      when 'alerts' then logloom_private.count_alert_rules(v_tenant_id)
      else 0
    end
  );
end;
$$;

revoke all on function logloom_private.plan_feature(text) from public;

grant execute on function logloom_private.plan_feature(text)
to authenticated, service_role;

comment on function logloom_private.plan_feature(text) is
  'The plan''s answer for a feature (saved_searches, alerts) of the tenant of the request. '
  'A tenant that is not provisioned has the default plan.';

create function public.check_plan_feature(p_feature text default null)
returns public.logloom_plan_feature
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_feature', p_feature is null);
  return logloom_private.plan_feature(p_feature);
end;
$$;

revoke all on function public.check_plan_feature(text)
from public, anon, authenticated, service_role;

grant execute on function public.check_plan_feature(text)
to authenticated, service_role;

comment on function public.check_plan_feature(text) is
  'Whether the plan includes p_feature (saved_searches, alerts), how many, and how many the tenant '
  'has. An unknown feature is not enabled. Errors: PT400, PT401.';

-- usage/get_tenant_settings.sql

create function public.get_tenant_settings(p_tenant_id text default null)
returns public.logloom_tenant_settings
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_tenant_settings;
begin
  v_result := logloom_private.effective_settings(v_tenant_id);
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  return v_result;
end;
$$;

revoke all on function public.get_tenant_settings(text)
from public, anon, authenticated, service_role;

grant execute on function public.get_tenant_settings(text)
to authenticated, service_role;

comment on function public.get_tenant_settings(text) is
  'The settings in force: what the tenant set, else the defaults of its plan; and stored, what its '
  'records take on disk. '
  'Errors: PT400, PT401, PT403, PT404.';

-- usage/get_usage.sql

create type public.logloom_usage_month as (month text, events bigint, bytes bigint);

comment on type public.logloom_usage_month is 'Events and bytes accepted in a UTC month, YYYY-MM.';

create type public.logloom_usage as (
  tenant_id text,
  month text,
  events bigint,
  bytes bigint,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  events_percent numeric,
  bytes_percent numeric,
  projected_events bigint,
  projected_bytes bigint,
  resets_at timestamptz,
  months public.logloom_usage_month[],
  days public.logloom_usage_day[],
  stored public.logloom_stored
);

comment on type public.logloom_usage is
  'What a tenant used in the current UTC month, against the limits of its plan; and per month and '
  'day of the months asked for, newest first. Bytes are those of request bodies. stored: what the '
  'records take on disk.';

create function logloom_private.usage_of(p_tenant_id text, p_from date)
returns setof public.logloom_usage_day
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_state record;
begin
  select
    q as pointer,
    array(
      select row(u.day, u.events, u.bytes)::public.logloom_usage_day
      from logloom.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    ) as metered
  into v_state
  from logloom_private.queue_pointer q;
  return query
  select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint
  from (
    select m.day, m.events, m.bytes from unnest(v_state.metered) m
    union all
    select q.day, q.events, q.bytes
    from logloom_private.unmetered_usage(p_tenant_id, v_state.pointer) q
    where q.day >= p_from
  ) u
  group by u.day;
end;
$$;

revoke all on function logloom_private.usage_of(text, date) from public;

comment on function logloom_private.usage_of(text, date) is
  'Per UTC day since p_from, what a tenant sent, the queue included.';

create function logloom_private.my_usage(p_tenant_id text, p_from date)
returns setof public.logloom_usage_day
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles do not read the queue
begin
  return query select u.*
    from logloom_private.usage_of(logloom_private.resolve_tenant(p_tenant_id), p_from) u;
end;
$$;

revoke all on function logloom_private.my_usage(text, date) from public;

grant execute on function logloom_private.my_usage(text, date)
to authenticated, service_role;

comment on function logloom_private.my_usage(text, date) is
  'usage_of for the tenant of the request.';

create function public.get_usage(p_tenant_id text default null, p_months integer default null)
returns public.logloom_usage
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_tenant constant public.logloom_tenant := public.get_current_tenant(p_tenant_id);
  v_months constant integer := coalesce(p_months, 1);
  v_now constant timestamptz := now();
  v_month constant date := logloom_private.month_start(v_now);
  v_from date;
  v_elapsed numeric;
  v_result public.logloom_usage;
begin
  if v_months not between 1 and 24 then
    perform logloom_private.refuse('usage.months_are_out_of_range');
  end if;
  v_from := v_month - make_interval(months => v_months - 1);

  v_result.tenant_id := v_tenant_id;
  v_result.month := to_char(v_month, 'YYYY-MM');
  v_result.monthly_events_limit := v_tenant.monthly_events_limit;
  v_result.monthly_bytes_limit := v_tenant.monthly_bytes_limit;
  v_result.resets_at := logloom_private.month_end(v_now);
  v_result.days := array(
    select row(u.day, u.events, u.bytes)::public.logloom_usage_day
    from logloom_private.my_usage(p_tenant_id, v_from) u
    order by u.day desc
  );
  v_result.months := array(
    select
      row(
        to_char(m.month, 'YYYY-MM'),
        coalesce(sum(d.events), 0),
        coalesce(sum(d.bytes), 0)
      )::public.logloom_usage_month
    from generate_series(v_from, v_month, interval '1 month') m (month)
    left join unnest(v_result.days) d on date_trunc('month', d.day) = m.month
    group by m.month
    order by m.month desc
  );
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  v_result.events := (v_result.months[1]).events;
  v_result.bytes := (v_result.months[1]).bytes;
  v_result.events_percent :=
    round(100.0 * v_result.events / nullif(v_tenant.monthly_events_limit, 0), 2);
  v_result.bytes_percent :=
    round(100.0 * v_result.bytes / nullif(v_tenant.monthly_bytes_limit, 0), 2);
  -- As if the rest of the month went on like the month so far, of which at least a day has gone by.
  v_elapsed := greatest(extract(epoch from v_now - v_month::timestamp at time zone 'UTC'), 86400)
    / extract(epoch from v_result.resets_at - v_month::timestamp at time zone 'UTC');
  v_result.projected_events := greatest(v_result.events, round(v_result.events / v_elapsed));
  v_result.projected_bytes := greatest(v_result.bytes, round(v_result.bytes / v_elapsed));
  return v_result;
end;
$$;

revoke all on function public.get_usage(text, integer)
from public, anon, authenticated, service_role;

grant execute on function public.get_usage(text, integer)
to authenticated, service_role;

comment on function public.get_usage(text, integer) is
  'What the tenant used in this UTC month, the limits, percentages, a projection for the month''s '
  'end, the same per month and day of the last p_months (1 to 24, default 1), and what is stored. '
  'What was acknowledged is counted. Errors: PT400, PT401, PT403, PT404.';

-- usage/stored.sql

-- What a tenant's records take on disk. Chunks say it themselves; rows share partitions with those
-- of other tenants, so that theirs is a share of a partition's size.

create function logloom_private.hot_bytes(p_tenant_id text)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_counted constant integer := (select s.stored_days_counted from logloom_private.settings s);
  v_days date[];
  v_records numeric[];
  v_all_days bigint;
  v_bytes numeric;
begin
  -- What is known of the days first: records and partitions may be on other nodes than the catalog.
  select array_agg(d.day order by d.day), array_agg(d.records order by d.day)
  into v_days, v_records
  from (
    select
      u.day,
      greatest(
        (
          select coalesce(sum(c.events), 0)
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id
            and c.minute >= logloom_private.day_start(u.day)
            and c.minute < logloom_private.day_start(u.day + 1)
        ) - (
          -- Of the days that a chunk spans each has its part.
          select coalesce(
            sum(
              c.records / (
                1 + logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts)
              )
            ),
            0
          )
          from logloom_private.sealed_chunks c
          where c.tenant_id = p_tenant_id
            and c.last_ts >= logloom_private.day_start(u.day)
            and c.first_ts < logloom_private.day_start(u.day + 1)
        ),
        0
      ) as records
    from logloom_private.log_days u
    where u.tenant_id = p_tenant_id
    order by u.day desc
    limit v_counted
  ) d;
  select count(*) into v_all_days from logloom_private.log_days d where d.tenant_id = p_tenant_id;
  select sum(x.bytes) * v_all_days / nullif(count(*), 0)
  into v_bytes
  from (
    select
      pg_total_relation_size(p.oid) * d.records / greatest(
        d.records, pg_stat_get_live_tuples(p.oid), p.reltuples, 1
      )::numeric as bytes
    from unnest(v_days, v_records) d (day, records)
    join pg_catalog.pg_class p
      on p.oid = to_regclass(format('logloom.%I', logloom_private.partition_name(d.day)))
  ) x;
  return coalesce(round(v_bytes), 0);
end;
$$;

revoke all on function logloom_private.hot_bytes(text) from public;

comment on function logloom_private.hot_bytes(text) is
  'What a tenant''s rows take, about: of each partition with its indexes the share that its '
  'records have in it.';

create function logloom_private.my_stored(p_tenant_id text)
returns public.logloom_stored
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the API roles read neither chunks nor counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed constant bigint := (
    select coalesce(sum(c.bytes), 0)
    from logloom_private.sealed_chunks c
    where c.tenant_id = v_tenant_id
  );
begin
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
end;
$$;

revoke all on function logloom_private.my_stored(text) from public;

grant execute on function logloom_private.my_stored(text) to authenticated, service_role;

comment on function logloom_private.my_stored(text) is
  'What the records of the request''s tenant take on disk.';

-- usage/update_tenant_settings.sql

create function logloom_private.check_settings_member(
  p_group text,
  p_member text,
  p_value jsonb,
  p_retention_days_max integer
)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_name constant text := p_group || '.' || p_member;
begin
  if p_group = 'pipeline_config' and p_member = 'retention_days' then
    if jsonb_typeof(p_value) <> 'number' or p_value::numeric <> trunc(p_value::numeric) then
      perform logloom_private.refuse(
        'usage.setting_is_no_whole_number', v_name, p_retention_days_max::text
      );
    end if;
    if p_value::numeric not between 1 and p_retention_days_max then
      perform logloom_private.refuse(
        'usage.setting_is_out_of_range', v_name, p_retention_days_max::text
      );
    end if;
  elsif v_name in (
    'pipeline_config.compression',
    'notification_preferences.email_enabled',
    'notification_preferences.webhook_enabled'
  ) then
    if jsonb_typeof(p_value) <> 'boolean' then
      perform logloom_private.refuse('usage.setting_is_no_boolean', v_name);
    end if;
  else
    perform logloom_private.refuse('usage.setting_is_unknown', p_group, left(p_member, 40));
  end if;
end;
$$;

revoke all on function logloom_private.check_settings_member(text, text, jsonb, integer)
from public;

grant execute on function logloom_private.check_settings_member(text, text, jsonb, integer)
to authenticated, service_role;

comment on function logloom_private.check_settings_member(text, text, jsonb, integer) is
  'PT400 for an unknown member of the settings, a wrong type or a retention out of bounds.';

create function logloom_private.check_settings(
  p_group text,
  p_values jsonb,
  p_retention_days_max integer
)
returns void
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_member record;
begin
  if p_values is null then
    return;
  end if;
  if jsonb_typeof(p_values) <> 'object' then
    perform logloom_private.refuse('usage.settings_are_no_object', p_group);
  end if;
  for v_member in select m.key, m.value from jsonb_each(p_values) m loop
    perform logloom_private.check_settings_member(
      p_group, v_member.key, v_member.value, p_retention_days_max
    );
  end loop;
end;
$$;

revoke all on function logloom_private.check_settings(text, jsonb, integer) from public;

grant execute on function logloom_private.check_settings(text, jsonb, integer)
to authenticated, service_role;

comment on function logloom_private.check_settings(text, jsonb, integer) is
  'PT400 unless p_values is null or an object of valid settings.';

create function public.update_tenant_settings(
  p_tenant_id text default null,
  pipeline_config jsonb default null,
  notification_preferences jsonb default null
)
returns public.logloom_tenant_settings
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.provision_current_tenant(p_tenant_id);
  v_pipeline constant jsonb := nullif(update_tenant_settings.pipeline_config, 'null');
  v_notification constant jsonb := nullif(update_tenant_settings.notification_preferences, 'null');
  v_retention_days_max constant integer :=
    (logloom_private.plan_of(v_tenant_id)).retention_days_max;
  v_result public.logloom_tenant_settings;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.check_settings('pipeline_config', v_pipeline, v_retention_days_max);
  perform logloom_private.check_settings(
    'notification_preferences', v_notification, v_retention_days_max
  );

  insert into logloom.tenant_settings as s (
    tenant_id, retention_days, compression, email_enabled, webhook_enabled
  )
  values (
    v_tenant_id,
    (v_pipeline ->> 'retention_days')::numeric,
    (v_pipeline ->> 'compression')::boolean,
    (v_notification ->> 'email_enabled')::boolean,
    (v_notification ->> 'webhook_enabled')::boolean
  )
  on conflict (tenant_id) do update set
    retention_days = coalesce(excluded.retention_days, s.retention_days),
    compression = coalesce(excluded.compression, s.compression),
    email_enabled = coalesce(excluded.email_enabled, s.email_enabled),
    webhook_enabled = coalesce(excluded.webhook_enabled, s.webhook_enabled),
    updated_at = now();
  v_result := logloom_private.effective_settings(v_tenant_id);
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  return v_result;
end;
$$;

revoke all on function public.update_tenant_settings(text, jsonb, jsonb)
from public, anon, authenticated, service_role;

grant execute on function public.update_tenant_settings(text, jsonb, jsonb)
to authenticated, service_role;

comment on function public.update_tenant_settings(text, jsonb, jsonb) is
  'Sets the members that are given and returns all settings. pipeline_config: retention_days (1 to '
  'the plan''s limit), compression. notification_preferences: email_enabled, webhook_enabled. '
  'Errors: PT400, PT401, PT403.';

-- retention/types/retention_run.sql

-- Deleting records: by age, as each tenant's retention says, and on request (delete_logs).
--
-- Both work in transactions of a bounded number of records, keep nothing in memory that a kill
-- would lose, and are told of in logloom.retention_runs.

create type public.logloom_retention_run as (
  run_id uuid,
  tenant_id text,
  kind text,
  status text,
  requested_by text,
  requested_at timestamptz,
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz,
  dry_run boolean,
  records bigint,
  partitions integer,
  finished_at timestamptz,
  error text
);

comment on type public.logloom_retention_run is
  'A deletion. kind: retention (by age) or erasure (on request). status: queued, running, done, '
  'interrupted (a later day''s run went on with it) or failed, with error. ts_from inclusive, '
  'ts_to exclusive. records: how many were deleted so far; in a dry run, how many match. '
  'partitions: days that were dropped as a whole.';

-- retention/types/tenant_deletion.sql

create type public.logloom_tenant_deletion as (
  deletion_id uuid,
  tenant_id text,
  requested_at timestamptz
);

comment on type public.logloom_tenant_deletion is
  'A tenant on its way out; deletion_id is that of the receipt.';

-- retention/tables/deletion_turns.sql

create table logloom_private.deletion_turns (
  tenant_id text primary key,
  served_at timestamptz not null
);

alter table logloom_private.deletion_turns enable row level security;
alter table logloom_private.deletion_turns force row level security;

comment on table logloom_private.deletion_turns is
  'When a tenant with open erasures was last served, so that tenants take turns.';

-- retention/tables/retention_place.sql

create table logloom_private.retention_place (
  singleton boolean primary key default true,
  today date not null,
  done_through date,
  day date,
  tenant_through text,
  attempts integer not null default 0,
  error text,
  finished_at timestamptz,
  constraint retention_place_has_one_row check (singleton)
);

alter table logloom_private.retention_place enable row level security;
alter table logloom_private.retention_place force row level security;

comment on table logloom_private.retention_place is
  'How far the day''s retention has come; the next run of the job goes on there.';

comment on column logloom_private.retention_place.today is 'The UTC day for which it runs.';

comment on column logloom_private.retention_place.done_through is
  'The last day that was seen to.';

comment on column logloom_private.retention_place.day is
  'The day of which tenant after tenant is seen to; null while the next one may still be dropped '
  'whole.';

comment on column logloom_private.retention_place.tenant_through is
  'Up to this tenant that day was seen to.';

comment on column logloom_private.retention_place.attempts is
  'How often that day''s partition could not be dropped for its readers.';

-- retention/tables/retention_runs.sql

create table logloom.retention_runs (
  run_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  kind text not null,
  status text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz not null,
  dry_run boolean not null default false,
  records bigint not null default 0,
  partitions integer not null default 0,
  finished_at timestamptz,
  error text,
  position_ts timestamptz,
  position_id uuid,
  position_chunk bigint,
  constraint retention_runs_kind_is_known check (kind in ('retention', 'erasure')),
  constraint retention_runs_status_is_known check (
    status in ('queued', 'running', 'done', 'interrupted', 'failed')
  ),
  constraint retention_runs_erasure_has_query check (
    kind = 'retention' or query_dsl is not null and ts_from is not null
  )
);

create index retention_runs_tenant_id_requested_at_idx
on logloom.retention_runs (tenant_id, requested_at desc, run_id desc);

create unique index retention_runs_retention_idx
on logloom.retention_runs (tenant_id, ts_to)
where kind = 'retention' and status = 'running';

create index retention_runs_open_idx
on logloom.retention_runs (tenant_id, requested_at)
where status in ('queued', 'running');

alter table logloom.retention_runs enable row level security;
alter table logloom.retention_runs force row level security;

create policy retention_runs_select_tenant on logloom.retention_runs
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.retention_runs to authenticated, service_role;

comment on table logloom.retention_runs is
  'Deletions of records, by retention and on request. Of retention there is a row a run for a '
  'tenant that lost records. Kept for settings.audit_lifetime.';

comment on column logloom.retention_runs.position_ts is
  'Up to this record (position_ts, position_id) an erasure was carried out.';

comment on column logloom.retention_runs.position_chunk is
  'Up to this chunk of sealed records an erasure was carried out; rows come first.';

-- retention/days.sql

create function logloom_private.day_tenants(p_day date)
returns setof text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  select t.tenant_id from logloom_private.log_days t where t.day = p_day
  union
  select c.tenant_id
  from logloom_private.sealed_chunks c
  where c.last_ts >= logloom_private.day_start(p_day)
    and c.last_ts < logloom_private.day_start(p_day + 1);
end;
$$;

revoke all on function logloom_private.day_tenants(date) from public;

comment on function logloom_private.day_tenants(date) is
  'The tenants that have, or had until lately, records in a day, or a chunk that ends in it.';

-- A tenant that is gone keeps nothing but what may still be on its way. No nested loop: it would go
-- through all tenants for each one.
create function logloom_private.day_is_kept(p_day date, p_today date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
set enable_nestloop = off
as $$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
  );
end;
$$;

revoke all on function logloom_private.day_is_kept(date, date) from public;

comment on function logloom_private.day_is_kept(date, date) is
  'Whether a tenant with records in the day keeps it.';

create function logloom_private.expired_tenants(
  p_day date,
  p_today date,
  p_after text,
  p_limit integer
)
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
set enable_nestloop = off
as $$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
    order by d.tenant_id
    limit p_limit
  );
end;
$$;

revoke all on function logloom_private.expired_tenants(date, date, text, integer) from public;

comment on function logloom_private.expired_tenants(date, date, text, integer) is
  'The first p_limit tenants after p_after of a day that do not keep it, in their order.';

-- retention/delete_expired.sql

create function logloom_private.note_deletions(
  p_tenant_ids text[],
  p_records bigint[],
  p_partitions integer,
  p_today date
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
-- Else, with hashing off where it is called, it goes through all tenants for each one.
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    n.tenant_id, 'retention', 'running', 'retention',
    logloom_private.day_start(k.first_kept_day), n.records, p_partitions
  from unnest(p_tenant_ids, p_records) n (tenant_id, records)
  join logloom_private.first_kept_days(p_today) k on k.tenant_id = n.tenant_id
  where n.records > 0
  on conflict (tenant_id, ts_to) where kind = 'retention' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$$;

revoke all on function logloom_private.note_deletions(text[], bigint[], integer, date)
from public;

comment on function logloom_private.note_deletions(text[], bigint[], integer, date) is
  'Adds to the tenants'' runs of retention that are under way.';

-- Of a tenant with many records in the day.
create function logloom_private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rows text;
  v_last_ts timestamptz;
  v_last_id uuid;
  v_deleted integer;
begin
  if p_day >= logloom_private.first_kept_day(p_tenant_id, p_today) then
    return 0;
  end if;
  -- A page of keys, from the least on; constants, so that one partition is looked at.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true',
    p_expired => true
  );
  execute format(
    'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p
     order by p.ts desc, p.id desc limit 1',
    v_rows, (select s.deletion_step_records from logloom_private.settings s)
  )
  into v_last_ts, v_last_id;
  if v_last_ts is null then
    return 0;
  end if;
  execute logloom_private.removed_records_sql(format(
    'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
    v_rows, v_last_ts, v_last_ts, v_last_id
  ))
  into v_deleted;
  perform logloom_private.note_deletions(array[p_tenant_id], array[v_deleted], 0, p_today);
  return v_deleted;
end;
$$;

revoke all on function logloom_private.delete_expired(text, date, date) from public;

comment on function logloom_private.delete_expired(text, date, date) is
  'Deletes some records of a day that the tenant does not keep. How many; 0 when none is left.';

-- expired_days where records are spread over nodes: a statement a tenant and table.
create function logloom_private.expired_spread_days(
  p_tenant_ids text[],
  p_day date,
  p_limit integer
)
returns table (tenant_id text, records bigint)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_is_known boolean;
begin
  foreach tenant_id in array p_tenant_ids loop
    execute format(
      'select count(*) from (select from logloom.logs l where l.tenant_id = %L '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz limit %s) l',
      tenant_id, v_from, v_to, p_limit + 1
    )
    into records;
    v_is_known := records > 0;
    if not v_is_known then
      v_is_known := exists (
        select
        from logloom_private.log_counts c
        where c.tenant_id = expired_spread_days.tenant_id
          and c.minute >= v_from and c.minute < v_to
      );
    end if;
    if not v_is_known then
      v_is_known := exists (
        select
        from logloom_private.sealed_chunks c
        where c.tenant_id = expired_spread_days.tenant_id
          and c.last_ts >= v_from and c.last_ts < v_to
      );
    end if;
    if v_is_known then
      return next;
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.expired_spread_days(text[], date, integer) from public;

comment on function logloom_private.expired_spread_days(text[], date, integer) is
  'expired_days where records are spread over nodes.';

-- What there is to do for tenants that do not keep a day: how many rows each has, up to one more
-- than p_limit, and whether anything else is known of its day.
create function logloom_private.expired_days(p_tenant_ids text[], p_day date, p_limit integer)
returns table (tenant_id text, records bigint)
language plpgsql
stable
security invoker
set search_path = ''
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  if logloom_private.is_spread() then
    return query select * from logloom_private.expired_spread_days(p_tenant_ids, p_day, p_limit);
    return;
  end if;
  return query execute format(
    $query$
      select u.tenant_id, u.records
      from (
        select
          t.tenant_id,
          (
            select count(*)
            from (
              select
              from logloom.logs l
              where l.tenant_id = t.tenant_id and l.ts >= %1$L::timestamptz
                and l.ts < %2$L::timestamptz
              limit $2 + 1
            ) l
          ) as records
        from unnest($1) t (tenant_id)
      ) u
      where u.records > 0
        or exists (
          select from logloom_private.log_counts c
          where c.tenant_id = u.tenant_id and c.minute >= %1$L::timestamptz
            and c.minute < %2$L::timestamptz
        )
        or exists (
          select from logloom_private.packed_counts p, logloom_private.unpacked_counts(p) c
          where p.tenant_id = u.tenant_id and p.week = %3$L::date
            and c.minute >= %1$L::timestamptz and c.minute < %2$L::timestamptz
        )
        or exists (
          select from logloom_private.sealed_chunks c
          where c.tenant_id = u.tenant_id and c.last_ts >= %1$L::timestamptz
            and c.last_ts < %2$L::timestamptz
        )
      order by u.tenant_id
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1),
    logloom_private.week_of(p_day)
  )
  using p_tenant_ids, p_limit;
end;
$$;

revoke all on function logloom_private.expired_days(text[], date, integer) from public;

comment on function logloom_private.expired_days(text[], date, integer) is
  'Those of the tenants of whose day something is left, with how many rows, p_limit + 1 at most.';

-- Where records are spread over nodes: one tenant, statement by statement. The writer rests, so
-- that no count of a record that comes meanwhile is forgotten.
create function logloom_private.forget_spread_tenant(
  p_tenant_id text,
  p_day date
)
returns bigint
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_from timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_first_ts timestamptz;
  v_last_ts timestamptz;
  v_records bigint;
begin
  with gone as (
    delete from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.last_ts < v_to
    returning c.first_ts
  )
  select min(g.first_ts) into v_first_ts from gone g;
  v_from := least(v_from, logloom_private.day_start(logloom_private.utc_day(v_first_ts)));
  execute format(
    'with gone as (delete from logloom.logs l where l.tenant_id = %L '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz returning l.ts) '
      || 'select max(g.ts) from gone g',
    p_tenant_id, v_from, v_to
  )
  into v_last_ts;
  -- Further back than any alert window reaches.
  if v_last_ts > now() - interval '3 days' then
    insert into logloom_private.log_removals (tenant_id) values (p_tenant_id);
  end if;
  with forgotten as (
    delete from logloom_private.log_counts c
    where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_to
    returning c.events
  )
  select coalesce(sum(f.events), 0) into v_records from forgotten f;
  return v_records;
end;
$$;

revoke all on function logloom_private.forget_spread_tenant(text, date) from public;

comment on function logloom_private.forget_spread_tenant(text, date) is
  'forget_expired for one tenant whose records are on a node. How many were counted.';

create function logloom_private.forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
-- Tenant by tenant through the indexes, whatever the planner believes of a partition that was
-- filled since it was last looked at.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_froms timestamptz[];
  v_from timestamptz;
  v_tenant_id text;
  v_tenant_ids text[];
  v_records bigint[];
begin
  if logloom_private.is_spread() then
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  -- Without compact_log_counts none of the counts is summed up meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  if logloom_private.is_spread() then
    v_tenant_ids := p_tenant_ids;
    foreach v_tenant_id in array p_tenant_ids loop
      v_records := v_records || logloom_private.forget_spread_tenant(v_tenant_id, p_day);
    end loop;
  else
    with gone as (
      delete from logloom_private.sealed_chunks c
      using unnest(p_tenant_ids) t (tenant_id)
      where c.tenant_id = t.tenant_id
        and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
      returning c.tenant_id, c.first_ts
    ), froms as (
      -- A chunk of several days goes with the last. No row is left of the days before.
      select
        t.tenant_id,
        logloom_private.day_start(
          least(logloom_private.utc_day(min(g.first_ts)), p_day)
        ) as starts
      from unnest(p_tenant_ids) t (tenant_id)
      left join gone g on g.tenant_id = t.tenant_id
      group by t.tenant_id
    )
    select array_agg(f.starts order by f.tenant_id), array_agg(f.tenant_id order by f.tenant_id),
      min(f.starts)
    into v_froms, v_tenant_ids, v_from
    from froms f;
    execute logloom_private.forgotten_records_sql(v_from, logloom_private.day_start(p_day + 1))
    into v_tenant_ids, v_records
    using v_tenant_ids, v_froms;
  end if;
  perform logloom_private.note_deletions(
    v_tenant_ids, v_records,
    (
      not logloom_private.partition_exists(p_day)
      and not logloom_private.day_is_kept(p_day, p_today)
    )::integer,
    p_today
  );
end;
$$;

revoke all on function logloom_private.forget_expired(text[], date, date) from public;

comment on function logloom_private.forget_expired(text[], date, date) is
  'Deletes what there is of a day of tenants that do not keep it: rows, chunks that end in it with '
  'their days, and counts.';

create function logloom_private.leave_expired_day(p_tenant_ids text[], p_day date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Without the writer, which notes a day only where it is not noted yet.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  execute format(
    'delete from logloom_private.log_days d where d.day = $1 and d.tenant_id = any($2) '
      || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  using p_day, p_tenant_ids;
end;
$$;

revoke all on function logloom_private.leave_expired_day(text[], date) from public;

comment on function logloom_private.leave_expired_day(text[], date) is
  'Takes a day of which the tenants have no rows any more out of log_days.';

-- retention/delete_logs.sql

create function logloom_private.require_room_for_deletion(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_max constant integer := (logloom_private.plan_of(p_tenant_id)).max_open_deletions;
begin
  -- Requests at once are counted one after another.
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

revoke all on function logloom_private.require_room_for_deletion(text) from public;

comment on function logloom_private.require_room_for_deletion(text) is
  'PT429 where the tenant has max_open_deletions of its plan open already.';

-- On request

create function logloom_private.request_deletion(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
  p_dry_run boolean
)
returns logloom.retention_runs
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- It reads records as a search does.
    perform logloom_private.take_search_slot(v_tenant_id);
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
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
    execute 'select (select count(*) ' || logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '', p_expired => true
      )
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4, $5) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree, v_query.filter;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Who looks again and again fills no disk with that.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset (select s.dry_runs_kept from logloom_private.settings s)
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

revoke all on function logloom_private.request_deletion(
  text, timestamptz, timestamptz, boolean
) from public;

grant execute on function logloom_private.request_deletion(
  text, timestamptz, timestamptz, boolean
) to authenticated, service_role;

comment on function logloom_private.request_deletion(text, timestamptz, timestamptz, boolean) is
  'Notes a deletion that was asked for, and who did; run_deletions works it off.';

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
set search_path = ''
set statement_timeout = '15s'
as $$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return logloom_private.retention_run_of(
    logloom_private.request_deletion(
      p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
      logloom_private.time_parameter('p_ts_to', p_ts_to), coalesce(p_dry_run, true)
    )
  );
exception when query_canceled then
  perform logloom_private.refuse_slow_search();
end;
$$;

revoke all on function public.delete_logs(text, text, text, boolean)
from public, anon, authenticated, service_role;

grant execute on function public.delete_logs(
  text, text, text, boolean
) to authenticated, service_role;

comment on function public.delete_logs(text, text, text, boolean) is
  'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to '
  '(exclusive), dead letters included. With p_dry_run (default true) nothing is deleted: records '
  'says how many match. Else a job deletes what was acknowledged before; list_retention_runs tells '
  'how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 '
  '(too many are open, or for a dry run too many searches running).';

-- retention/delete_tenant.sql

create function logloom_private.request_erasure(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    p_tenant_id, 'erasure', 'queued', logloom_private.actor(), clock_timestamp(), 'ts:*',
    '1970-01-01 00:00:00+00', now() + interval '2 days', false
  );
end;
$$;

revoke all on function logloom_private.request_erasure(text) from public;

comment on function logloom_private.request_erasure(text) is
  'Orders the erasure of all log records of a tenant.';

create function logloom_private.abolish_tenant(p_tenant_id text)
returns public.logloom_tenant_deletion
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    insert into logloom_private.tenant_deletions (tenant_id, requested_by)
    values (v_tenant_id, logloom_private.actor())
    returning * into v_deletion;
    delete from logloom.api_keys k where k.tenant_id = v_tenant_id;
    delete from logloom.tenant_members m where m.tenant_id = v_tenant_id;
    delete from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.status = 'pending';
    update logloom.alert_rules r set enabled = false
    where r.tenant_id = v_tenant_id and r.enabled;
    perform logloom_private.request_erasure(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$$;

revoke all on function logloom_private.abolish_tenant(text) from public;

grant execute on function logloom_private.abolish_tenant(text) to authenticated, service_role;

comment on function logloom_private.abolish_tenant(text) is
  'Ends a tenant: its keys and members go at once, everything else by the job run_deletions.';

create function public.delete_tenant(p_tenant_id text default null)
returns public.logloom_tenant_deletion
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  return logloom_private.abolish_tenant(p_tenant_id);
end;
$$;

revoke all on function public.delete_tenant(text)
from public, anon, authenticated, service_role;

grant execute on function public.delete_tenant(text)
to authenticated, service_role;

comment on function public.delete_tenant(text) is
  'Deletes the tenant with all that it has, for owners, who name it. Its keys and tokens are '
  'refused at once; a job erases the rest, and leaves a receipt in '
  'logloom_private.tenant_deletions. Nobody gets the id before that is done. '
  'Errors: PT400, PT401, PT403, PT404.';

create function logloom_private.erase_tenant_step()
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_rows constant integer := (select s.deletion_step_records from logloom_private.settings s);
  v_deletion logloom_private.tenant_deletions;
  v_table text;
  v_deleted integer;
begin
  -- A request that was let in before the deletion was committed is in the queue a minute later.
  select d.* into v_deletion
  from logloom_private.tenant_deletions d
  where d.finished_at is null
    and d.requested_at < now() - interval '1 minute'
    and d.requested_at + interval '1 minute' < coalesce(
      (logloom_private.queue_state()).oldest_received_at, 'infinity'
    )
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = d.tenant_id and r.kind = 'erasure'
        and (
          r.status in ('queued', 'running')
          or r.status = 'failed' and r.finished_at > now() - interval '1 hour'
        )
    )
  order by d.requested_at
  limit 1;
  if not found then
    return false;
  end if;

  -- Requests that were under way when the tenant was deleted have ended: what they left, too.
  if not exists (
    select from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure' and r.status = 'done'
      and r.requested_at > v_deletion.requested_at + interval '1 minute'
  ) and v_deletion.erased_records is null then
    perform logloom_private.request_erasure(v_deletion.tenant_id);
    return true;
  end if;
  update logloom_private.tenant_deletions d
  set erased_records = (
    select coalesce(sum(r.records), 0)
    from logloom.retention_runs r
    where r.tenant_id = v_deletion.tenant_id and r.kind = 'erasure'
      and r.requested_at >= v_deletion.requested_at
  )
  where d.deletion_id = v_deletion.deletion_id and d.erased_records is null;

  -- Every table with a tenant_id, so that none is forgotten that is yet to come.
  for v_table in
    select format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where n.nspname in ('logloom', 'logloom_private') and c.relkind = 'r'
      and not c.relispartition and c.relname not in ('tenants', 'tenant_deletions', 'audit_events')
    order by 1
  loop
    execute format(
      'delete from %1$s t where t.tenant_id = $1 and t.ctid = any (array('
        'select l.ctid from %1$s l where l.tenant_id = $1 limit %2$s))',
      v_table, v_rows
    )
    using v_deletion.tenant_id;
    get diagnostics v_deleted = row_count;
    if v_deleted >= v_rows then
      return true;
    end if;
  end loop;
  delete from logloom.tenants t where t.tenant_id = v_deletion.tenant_id;
  delete from logloom.audit_events e where e.tenant_id = v_deletion.tenant_id;
  update logloom_private.tenant_deletions d set finished_at = clock_timestamp()
  where d.deletion_id = v_deletion.deletion_id;
  return true;
end;
$$;

revoke all on function logloom_private.erase_tenant_step() from public;

comment on function logloom_private.erase_tenant_step() is
  'Removes what a deleted tenant has besides log records, once those are erased. Whether there was '
  'something to do.';

-- retention/drop_expired_day.sql

create function logloom_private.drop_expired_day(p_day date, p_today date)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform logloom_private.lock_partitions();
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants then
      return 'busy';
    end if;
    -- What else is known of the day nobody reads any more, and goes without holding up the writer.
    delete from logloom_private.log_arrivals a where a.day = p_day;
    -- Last, because every reader of logloom.logs waits from here to the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

revoke all on function logloom_private.drop_expired_day(date, date) from public;

comment on function logloom_private.drop_expired_day(date, date) is
  'Drops a day''s partition: dropped; kept where a tenant with records in it keeps the day; busy '
  'where readers or the writer hold it.';

-- retention/list_retention_runs.sql

create function public.list_retention_runs(
  p_tenant_id text default null,
  p_kind text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_retention_run
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := case when p_after is not null then
    logloom_private.page_place(
      (
        select r.requested_at
        from logloom.retention_runs r
        where r.tenant_id = v_tenant_id and r.run_id = p_after
      ),
      'run', 'run_id'
    )
  end;
begin
  return query
  select (logloom_private.retention_run_of(r)).*
  from logloom.retention_runs r
  where r.tenant_id = v_tenant_id
    and (p_kind is null or r.kind = p_kind)
    and (p_after is null or (r.requested_at, r.run_id) < (v_after, p_after))
  order by r.requested_at desc, r.run_id desc
  limit v_limit;
end;
$$;

revoke all on function public.list_retention_runs(text, text, integer, uuid)
from public, anon, authenticated, service_role;

grant execute on function public.list_retention_runs(text, text, integer, uuid)
to authenticated, service_role;

comment on function public.list_retention_runs(text, text, integer, uuid) is
  'Deletions of the tenant''s records, newest first. p_kind: retention or erasure. p_limit 1 to '
  '1000 (default 100), p_after: run_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- retention/retention_run.sql

create function logloom_private.retention_run_of(p_run logloom.retention_runs)
returns public.logloom_retention_run
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_run.run_id, p_run.tenant_id, p_run.kind, p_run.status, p_run.requested_by,
    p_run.requested_at, p_run.query_dsl, p_run.ts_from, p_run.ts_to, p_run.dry_run, p_run.records,
    p_run.partitions, p_run.finished_at, p_run.error
  );
end;
$$;

revoke all on function logloom_private.retention_run_of(logloom.retention_runs) from public;

grant execute on function logloom_private.retention_run_of(logloom.retention_runs)
to authenticated, service_role;

comment on function logloom_private.retention_run_of(logloom.retention_runs) is
  'A run as operations show it.';

-- retention/run_deletion_step.sql

create function logloom_private.next_deletion()
returns uuid
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select o.run_id
    from (
      select distinct on (r.tenant_id) r.tenant_id, r.run_id, r.requested_at
      from logloom.retention_runs r
      where r.kind = 'erasure' and r.status in ('queued', 'running')
        -- Not before everything that was acknowledged before the request is a record.
        and r.requested_at < coalesce(
          (logloom_private.queue_state()).oldest_received_at, 'infinity'
        )
      order by r.tenant_id, r.requested_at, r.run_id
    ) o
    left join logloom_private.deletion_turns t on t.tenant_id = o.tenant_id
    order by t.served_at nulls first, o.requested_at, o.run_id
    limit 1
  );
end;
$$;

revoke all on function logloom_private.next_deletion() from public;

comment on function logloom_private.next_deletion() is
  'The erasure whose turn it is: of the tenant that was served longest ago, its oldest one. Null '
  'where none is open, or the queue still holds events of before it.';

create function logloom_private.finish_deletion(p_run_id uuid, p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_run logloom.retention_runs;
begin
  update logloom.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    finished_at = clock_timestamp()
  where r.run_id = p_run_id
  returning * into v_run;
  delete from logloom_private.deletion_turns t
  where t.tenant_id = v_run.tenant_id
    and not exists (
      select from logloom.retention_runs r
      where r.tenant_id = v_run.tenant_id and r.kind = 'erasure'
        and r.status in ('queued', 'running')
    );
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_run.tenant_id, v_run.requested_by, 'logs.deletion_finished', v_run.run_id::text,
    jsonb_strip_nulls(
      jsonb_build_object('status', v_run.status, 'records', v_run.records, 'error', v_run.error)
    )
  );
end;
$$;

revoke all on function logloom_private.finish_deletion(uuid, text) from public;

comment on function logloom_private.finish_deletion(uuid, text) is
  'Closes an erasure: done, or failed with the error.';

create function logloom_private.delete_dead_letters(p_run logloom.retention_runs, p_filter text)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  execute 'delete ' || logloom_private.tenant_rows_sql(
    p_run.tenant_id, p_run.ts_from, p_run.ts_to, p_filter, 'logloom_private.dead_letters'
  );
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

revoke all on function logloom_private.delete_dead_letters(logloom.retention_runs, text)
from public;

comment on function logloom_private.delete_dead_letters(logloom.retention_runs, text) is
  'Deletes what matches among the dead letters.';

create function logloom_private.next_chunk_of(p_run logloom.retention_runs)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select min(c.chunk_id)
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_run.tenant_id
      and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
      and c.chunk_id > coalesce(p_run.position_chunk, 0)
  );
end;
$$;

revoke all on function logloom_private.next_chunk_of(logloom.retention_runs) from public;

comment on function logloom_private.next_chunk_of(logloom.retention_runs) is
  'The next chunk of sealed records that an erasure has to look at; null where none is left.';

create function logloom_private.delete_from_chunk(
  p_chunk_id bigint,
  p_run logloom.retention_runs,
  p_query logloom_private.compiled_query
)
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_chunk logloom_private.sealed_chunks;
  v_bits varbit;
  v_deleted integer;
begin
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_run.tenant_id and c.chunk_id = p_chunk_id
  for update;
  if not found then
    return 0;
  end if;
  v_bits := logloom_private.chunk_bits(
    v_chunk, p_query.tree, p_query.filter, null, null, p_run.ts_from, p_run.ts_to
  );
  v_deleted := bit_count(v_bits);
  if v_deleted = 0 then
    return 0;
  end if;
  insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
  select v_chunk.tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.service, r.level, -count(*)
  from logloom_private.sealed_records(
    v_chunk, logloom_private.bit_positions(v_bits), array['ts', 'service', 'level'], '{}'
  ) r
  group by 2, 3, 4;
  insert into logloom_private.log_removals (tenant_id)
  select v_chunk.tenant_id
  -- Further back than any alert window reaches.
  where v_chunk.last_ts > now() - interval '3 days';
  -- What is left becomes a chunk of its own, compared with what it is made of.
  if v_deleted < v_chunk.records then
    perform logloom_private.encode_chunk(
      v_chunk.tenant_id,
      format(
        's as materialized (select r.* from logloom_private.chunk_records('
          || '%L, %s, %L::integer[], null, null) r)',
        v_chunk.tenant_id, v_chunk.chunk_id, logloom_private.bit_positions(~v_bits)
      )
    );
  end if;
  delete from logloom_private.sealed_chunks c
  where c.tenant_id = v_chunk.tenant_id and c.chunk_id = v_chunk.chunk_id;
  return v_deleted;
end;
$$;

revoke all on function logloom_private.delete_from_chunk(
  bigint, logloom.retention_runs, logloom_private.compiled_query
) from public;

comment on function logloom_private.delete_from_chunk(
  bigint, logloom.retention_runs, logloom_private.compiled_query
) is
  'Replaces a chunk by one without the records that an erasure is for, and takes them away from '
  'the counts. How many.';

create function logloom_private.deletion_step(p_run_id uuid)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_run logloom.retention_runs;
  v_query logloom_private.compiled_query;
  v_from timestamptz;
  v_day date;
  v_day_end timestamptz;
  v_rows text;
  v_end_ts timestamptz;
  v_end_id uuid;
  v_chunk_id bigint;
  v_dead_letters integer := 0;
  v_deleted integer := 0;
begin
  select r.* into v_run from logloom.retention_runs r where r.run_id = p_run_id for no key update;
  insert into logloom_private.deletion_turns as t (tenant_id, served_at)
  values (v_run.tenant_id, clock_timestamp())
  on conflict (tenant_id) do update set served_at = excluded.served_at;
  v_query := logloom_private.compile_query(v_run.query_dsl, v_run.requested_at);
  if v_run.position_ts is null then
    v_dead_letters := logloom_private.delete_dead_letters(v_run, v_query.filter);
  end if;

  -- A day of the tenant at a time: a statement opens one partition.
  v_from := coalesce(v_run.position_ts, v_run.ts_from);
  select min(d.day) into v_day
  from logloom_private.log_days d
  where d.tenant_id = v_run.tenant_id
    and d.day between logloom_private.utc_day(v_from) and logloom_private.utc_day(v_run.ts_to);
  v_day_end := least(v_run.ts_to, logloom_private.day_start(v_day + 1));
  if v_day is not null and v_day_end > v_from then
    v_from := greatest(v_from, logloom_private.day_start(v_day));
    v_rows := logloom_private.tenant_rows_sql(
      v_run.tenant_id, v_from, v_day_end,
      case
        when v_run.position_ts is null then 'true'
        else format(
          '(l.ts, l.id) > (%L::timestamptz, %L::uuid)', v_run.position_ts, v_run.position_id
        )
      end,
      p_expired => true
    );
    execute format(
      'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p
       order by p.ts desc, p.id desc limit 1',
      v_rows, (select s.deletion_step_records from logloom_private.settings s)
    )
    into v_end_ts, v_end_id;
    if v_end_ts is null then
      -- Nothing is left of the day: the next step begins with the day after.
      v_end_ts := v_day_end;
      v_end_id := '00000000-0000-0000-0000-000000000000';
    else
      execute logloom_private.removed_records_sql(format(
        'delete %s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)
         and (%s)',
        v_rows, v_end_ts, v_end_ts, v_end_id, v_query.filter
      ))
      into v_deleted;
    end if;
  else
    v_chunk_id := logloom_private.next_chunk_of(v_run);
    v_deleted := logloom_private.delete_from_chunk(v_chunk_id, v_run, v_query);
  end if;
  update logloom.retention_runs r
  set status = 'running',
    records = r.records + v_dead_letters + v_deleted,
    position_ts = coalesce(v_end_ts, r.position_ts),
    position_id = coalesce(v_end_id, r.position_id),
    position_chunk = coalesce(v_chunk_id, r.position_chunk)
  where r.run_id = p_run_id;
  return v_end_ts is not null or v_chunk_id is not null;
end;
$$;

revoke all on function logloom_private.deletion_step(uuid) from public;

comment on function logloom_private.deletion_step(uuid) is
  'Looks at the next records of an erasure and deletes those that match. Whether there may be '
  'more.';

create function logloom_private.run_deletion_step()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_run_id uuid;
  v_more boolean;
  v_failed text;
begin
  -- One at a time deletes, retention too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    if logloom_private.erase_tenant_step() then
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    return null;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job(
      'run_deletions', clock_timestamp(), format('%s: %s', sqlstate, sqlerrm)
    );
  end;
  if not v_more then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
end;
$$;

revoke all on function logloom_private.run_deletion_step() from public;

comment on function logloom_private.run_deletion_step() is
  'A step of the job run_deletions: carries on with the oldest requested erasure, whose place is '
  'in its row. A kill repeats none.';

-- retention/run_retention.sql

create function logloom_private.retention_is_due(p_today date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- A day that ended with an error is tried again an hour later.
  return not exists (
    select
    from logloom_private.retention_place p
    where p.today = p_today
      and (p.error is null or p.finished_at > now() - interval '1 hour')
      and p.finished_at is not null
  );
end;
$$;

revoke all on function logloom_private.retention_is_due(date) from public;

comment on function logloom_private.retention_is_due(date) is
  'Whether the day''s retention has not ended yet, or failed an hour ago.';

create function logloom_private.begin_retention(p_today date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if exists (
    select from logloom_private.retention_place p
    where p.today = p_today and p.finished_at is null
  ) then
    return;
  end if;
  insert into logloom_private.retention_place (today)
  values (p_today)
  on conflict (singleton) do update
  set today = excluded.today, done_through = null, day = null, tenant_through = null,
    attempts = 0, error = null, finished_at = null;
  update logloom.retention_runs r
  set status = 'interrupted', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
end;
$$;

revoke all on function logloom_private.begin_retention(date) from public;

comment on function logloom_private.begin_retention(date) is
  'Begins the day''s retention, unless it is under way.';

create function logloom_private.end_retention(p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.retention_place set finished_at = clock_timestamp() where singleton;
  if p_error is not null then
    perform logloom_private.record_job('run_retention', clock_timestamp(), p_error);
    return;
  end if;
  update logloom.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from logloom.retention_runs r
  using logloom_private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$$;

revoke all on function logloom_private.end_retention(text) from public;

comment on function logloom_private.end_retention(text) is
  'Ends the day''s retention: marks the runs under way as done and forgets old ones, or leaves '
  'the first error.';

create function logloom_private.end_retention_day(p_day date, p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.retention_place p
  set done_through = p_day, day = null, tenant_through = null, attempts = 0,
    error = coalesce(p.error, p_error)
  where p.singleton;
end;
$$;

revoke all on function logloom_private.end_retention_day(date, text) from public;

comment on function logloom_private.end_retention_day(date, text) is
  'Goes on to the next day. p_error: why this one could not be seen to; null where it was.';

-- Those of a step at once; where that fails, each by itself, so that one keeps no other waiting.
create function logloom_private.try_forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_error text;
begin
  begin
    perform logloom_private.forget_expired(p_tenant_ids, p_day, p_today);
    return null;
  exception when others then
    v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if cardinality(p_tenant_ids) > 1 then
    v_error := null;
    for v_at in 1..cardinality(p_tenant_ids) loop
      v_error := coalesce(
        v_error,
        logloom_private.try_forget_expired(p_tenant_ids[v_at:v_at], p_day, p_today)
      );
    end loop;
  end if;
  return v_error;
end;
$$;

revoke all on function logloom_private.try_forget_expired(text[], date, date) from public;

comment on function logloom_private.try_forget_expired(text[], date, date) is
  'forget_expired; the first error, of any tenant, or null.';

create function logloom_private.delete_expired_of_day(p_place logloom_private.retention_place)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_left text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, v_settings.retention_step_tenants
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  -- As many tenants as have a step's records between them, and at least one.
  select
    array_agg(d.tenant_id order by d.tenant_id) filter (
      where d.records_through <= v_settings.deletion_step_records
    ) as tenant_ids,
    (array_agg(d.tenant_id order by d.tenant_id))[1] as tenant_id
  into v_first
  from (
    select e.tenant_id, sum(e.records) over (order by e.tenant_id) as records_through
    from logloom_private.expired_days(
      v_tenants, p_place.day, v_settings.deletion_step_records
    ) e
  ) d;
  v_left := v_first.tenant_ids;
  if v_first.tenant_id is null then
    perform logloom_private.leave_expired_day(v_tenants, p_place.day);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_left is not null then
    v_error := logloom_private.try_forget_expired(v_left, p_place.day, p_place.today);
    if v_error is not null then
      -- Its turn comes again the next time.
      v_through := v_left[cardinality(v_left)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
      v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$$;

revoke all on function logloom_private.delete_expired_of_day(logloom_private.retention_place)
from public;

comment on function logloom_private.delete_expired_of_day(logloom_private.retention_place) is
  'Deletes a step of what tenants have in the day being worked at and do not keep, and notes the '
  'place.';

create function logloom_private.retention_step()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_place logloom_private.retention_place;
  v_attempts constant integer :=
    (select s.partition_drop_attempts from logloom_private.settings s);
  v_day date;
  v_outcome text;
  v_error text;
begin
  -- One at a time deletes, erasures on request too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  select p.* into v_place from logloom_private.retention_place p;
  if v_place.today is null or v_place.finished_at is not null then
    return null;
  end if;
  if v_place.day is not null then
    return logloom_private.delete_expired_of_day(v_place);
  end if;
  v_day := (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- A day that was dropped before all was done that follows.
      select min(l.day)
      from logloom_private.log_days l
      where l.day > coalesce(v_place.done_through, '1970-01-01')
      union all
      -- A day that is sealed whole has no partition. A chunk of several days goes with the last.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.sealed_chunks c
      where c.last_ts >= logloom_private.day_start(coalesce(v_place.done_through, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(v_place.done_through, '-infinity') and d.day < v_place.today
  );
  if v_day is null then
    perform logloom_private.end_retention(v_place.error);
    return null;
  end if;

  begin
    v_outcome := logloom_private.drop_expired_day(v_day, v_place.today);
  exception when others then
    v_outcome := 'failed';
    v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if v_outcome in ('kept', 'dropped') then
    -- No tenant''s name comes before the empty one.
    update logloom_private.retention_place set day = v_day, tenant_through = '' where singleton;
  elsif v_outcome <> 'busy' then
    perform logloom_private.end_retention_day(v_day, v_error);
  elsif v_place.attempts + 1 < v_attempts then
    update logloom_private.retention_place p set attempts = p.attempts + 1 where p.singleton;
    return interval '1 second';
  else
    perform logloom_private.end_retention_day(
      v_day, format('readers kept partition %s from being dropped', v_day)
    );
  end if;
  return interval '0';
end;
$$;

revoke all on function logloom_private.retention_step() from public;

comment on function logloom_private.retention_step() is
  'A step of the job run_retention: drops a day, or deletes some of what tenants have of it.';

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure logloom_private.run_retention(p_today date default null)
language plpgsql
security invoker
as $$
declare
  v_today constant date := coalesce(p_today, logloom_private.utc_day(pg_catalog.now()));
begin
  if p_today is null and not logloom_private.retention_is_due(v_today) then
    return;
  end if;
  perform logloom_private.begin_retention(v_today);
  commit;
  call logloom_private.run_job('run_retention', 'logloom_private.retention_step()');
end;
$$;

revoke all on procedure logloom_private.run_retention(date) from public;

comment on procedure logloom_private.run_retention(date) is
  'Deletes what no tenant keeps: whole days, else a tenant''s records step by step, each '
  'committed, for about job_run_budget. What a run leaves over, the next one does; one on a day '
  'that is finished does nothing. p_today: to run as if it were another day, at any time.';

-- sealing/types/log_key.sql

create type logloom_private.log_key as (ts timestamptz, id uuid);

comment on type logloom_private.log_key is 'A place in the order of a tenant''s records.';

-- sealing/tables/sealing_days.sql

create table logloom_private.sealing_days (
  day date primary key,
  checked_at timestamptz,
  checked_through text,
  removed_records bigint not null default 0,
  removed_by xid8,
  prepared_by xid8,
  prepared_records bigint,
  prepared_arrival bigint,
  replace_after timestamptz,
  differences integer not null default 0,
  last_error text
);

alter table logloom_private.sealing_days enable row level security;
alter table logloom_private.sealing_days force row level security;

comment on table logloom_private.sealing_days is
  'Days that the job seal_logs has looked at, and how far it is: the place that it goes on from.';

comment on column logloom_private.sealing_days.checked_at is
  'When all tenants of the day were last looked at.';

comment on column logloom_private.sealing_days.checked_through is
  'Up to this tenant a pass over the day has come; null where none is under way.';

comment on column logloom_private.sealing_days.removed_records is
  'Records that went from the day''s partition into chunks since it was last replaced.';

comment on column logloom_private.sealing_days.removed_by is
  'The last transaction that took records out of the partition.';

comment on column logloom_private.sealing_days.prepared_by is
  'The transaction that copied what remains into a table that is to take the partition''s place.';

comment on column logloom_private.sealing_days.differences is
  'Chunks that were given up because they differed from their records.';

comment on column logloom_private.sealing_days.replace_after is
  'Not before this the partition''s replacement is tried again.';

-- sealing/replace_partition.sql

-- The partition of a day whose records were sealed gives its space back: what remains in it is
-- copied, and the copy takes its place. DROP TABLE ignores the snapshots of others, so that comes
-- only when each is newer than the copy and than the last record that was sealed.

-- Whether a snapshot is held that does not see the transaction.
create function logloom_private.has_older_snapshot(p_xid xid8)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (
      select
      from pg_catalog.pg_stat_activity a
      where a.backend_xmin is not null
        and a.datname = current_database()
        and a.pid <> pg_backend_pid()
        and age(a.backend_xmin) >= age(p_xid::xid)
    )
    or exists (
      select from pg_catalog.pg_prepared_xacts p where age(p.transaction) >= age(p_xid::xid)
    );
end;
$$;

revoke all on function logloom_private.has_older_snapshot(xid8) from public;

comment on function logloom_private.has_older_snapshot(xid8) is
  'Whether somebody holds a snapshot that does not see the transaction p_xid.';

create function logloom_private.remainder_name(p_day date)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return to_char(p_day, '"logs_remaining_"YYYY_MM_DD');
end;
$$;

revoke all on function logloom_private.remainder_name(date) from public;

comment on function logloom_private.remainder_name(date) is
  'The table that is to take the place of a day''s partition.';

-- Copies what the sealing of a day left over. False where replacing the partition is not worth it.
create function logloom_private.prepare_replacement(p_day date)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_day logloom_private.sealing_days;
  v_records bigint;
  v_arrival bigint;
begin
  if not logloom_private.partition_exists(p_day) then
    return false;
  end if;
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day for update;
  execute format('select count(*), max(l.arrival) from only logloom.%I l', v_partition)
  into v_records, v_arrival;
  if v_day.removed_records = 0 or v_day.removed_records < v_records / 4 then
    return false;
  end if;
  if to_regclass(format('logloom.%I', v_copy)) is not null then
    execute format('drop table logloom.%I', v_copy);
  end if;
  if v_records > 0 then
    execute format('create table logloom.%I (like logloom.logs including all)', v_copy);
    execute format('alter table logloom.%I enable row level security', v_copy);
    execute format('alter table logloom.%I force row level security', v_copy);
    execute format(
      'insert into logloom.%I select l.* from only logloom.%I l order by l.tenant_id, l.ts, l.id',
      v_copy, v_partition
    );
    get diagnostics v_records = row_count;
    -- With it, attaching need not read the table.
    execute format(
      'alter table logloom.%I add constraint logs_remaining_day '
        || 'check (ts >= %L::timestamptz and ts < %L::timestamptz)',
      v_copy, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
    );
  end if;
  update logloom_private.sealing_days d
  set prepared_by = pg_current_xact_id(),
    prepared_records = v_records,
    prepared_arrival = v_arrival
  where d.day = p_day;
  return true;
end;
$$;

revoke all on function logloom_private.prepare_replacement(date) from public;

comment on function logloom_private.prepare_replacement(date) is
  'Copies what is left of a day in which much was sealed. False where there is no need.';

-- Puts the copy in the partition's place, or nothing where nothing was left: replaced; waiting,
-- where an older snapshot is held; changed, where the partition is not as it was copied; busy,
-- where readers or the writer hold it.
create function logloom_private.replace_partition(p_day date)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
declare
  v_partition constant text := logloom_private.partition_name(p_day);
  v_copy constant text := logloom_private.remainder_name(p_day);
  v_lock_wait text;
  v_day logloom_private.sealing_days;
  v_records bigint;
  v_arrival bigint;
begin
  select d.* into v_day from logloom_private.sealing_days d where d.day = p_day;
  if logloom_private.has_older_snapshot(v_day.prepared_by)
    or logloom_private.has_older_snapshot(v_day.removed_by)
  then
    return 'waiting';
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform logloom_private.lock_partitions();
    execute format('select count(*), max(l.arrival) from only logloom.%I l', v_partition)
    into v_records, v_arrival;
    if v_records <> v_day.prepared_records or v_arrival is distinct from v_day.prepared_arrival then
      if to_regclass(format('logloom.%I', v_copy)) is not null then
        execute format('drop table logloom.%I', v_copy);
      end if;
      update logloom_private.sealing_days d set prepared_by = null where d.day = p_day;
      perform logloom_private.restore_lock_wait(v_lock_wait);
      return 'changed';
    end if;
    -- From here on every reader of logloom.logs waits for the commit.
    execute format('drop table logloom.%I', v_partition);
    if v_records > 0 then
      execute format('alter table logloom.%I rename to %I', v_copy, v_partition);
      execute format(
        'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
        v_partition, p_day::timestamp at time zone 'UTC',
        (p_day + 1)::timestamp at time zone 'UTC'
      );
      execute format('alter table logloom.%I drop constraint logs_remaining_day', v_partition);
    end if;
    update logloom_private.sealing_days d
    set removed_records = 0, prepared_by = null
    where d.day = p_day;
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'replaced';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$$;

revoke all on function logloom_private.replace_partition(date) from public;

comment on function logloom_private.replace_partition(date) is
  'Puts the copy in the place of a day''s partition, or nothing where nothing is left. replaced; '
  'waiting: an older snapshot is held; changed: begin again; busy: readers or the writer hold '
  'it.';

-- sealing/seal_chunk.sql

-- From rows to chunks: one transaction a chunk. The statement that takes the rows out of their
-- partition hands them to the encoder, so that what is sealed is what is gone, and a reader's
-- snapshot has either.

-- The last of a day's records, oldest first, that make a chunk that a backend can hold.
create function logloom_private.chunk_end(p_tenant_id text, p_day date, p_share integer)
returns logloom_private.log_key
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_end logloom_private.log_key;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- What is compressed is measured as it is unpacked. One record at least.
  execute format(
    $query$
      select r.ts, r.id
      from (
        select w.ts, w.id, w.n, sum(w.bytes) over (order by w.n) as total
        from (
          select
            l.ts, l.id,
            200 + coalesce(octet_length(l.msg), 0) + case
              when pg_column_compression(l.attrs) is null then coalesce(pg_column_size(l.attrs), 0)
              else octet_length(l.attrs::text)
            end as bytes,
            row_number() over (order by l.ts, l.id) as n
          from logloom.logs l
          where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
          order by l.ts, l.id
          limit %s
        ) w
      ) r
      where r.total <= %s or r.n = 1
      order by r.n desc
      limit 1
    $query$,
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1),
    greatest(v_settings.seal_chunk_records / p_share, 1), v_settings.seal_chunk_bytes / p_share
  )
  into v_end;
  return v_end;
end;
$$;

revoke all on function logloom_private.chunk_end(text, date, integer) from public;

comment on function logloom_private.chunk_end(text, date, integer) is
  'Up to which record of a day, oldest first, a tenant''s records make a chunk of '
  'seal_chunk_records and seal_chunk_bytes, of which p_share days have a share. Null: no records.';

-- Seals the tenant's oldest records of the days as one chunk.
create function logloom_private.seal_chunk(p_tenant_id text, p_days date[])
returns integer
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_day date;
  v_end logloom_private.log_key;
  v_with text := '';
  v_union text := '';
  v_chunk_id bigint;
  v_records integer;
begin
  foreach v_day in array p_days loop
    v_end := logloom_private.chunk_end(p_tenant_id, v_day, cardinality(p_days));
    continue when v_end.ts is null;
    -- Not by removed_records_sql: the counts go on counting what is sealed.
    v_with := v_with || format(
      'd%s as (delete from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid) '
        || 'returning l.*), ',
      to_char(v_day, 'YYYYMMDD'), p_tenant_id, logloom_private.day_start(v_day), v_end.ts,
      v_end.ts, v_end.id
    );
    v_union := v_union || case when v_union <> '' then ' union all ' else '' end
      || 'select * from d' || to_char(v_day, 'YYYYMMDD');
  end loop;
  if v_union = '' then
    return 0;
  end if;
  v_chunk_id := logloom_private.encode_chunk(
    p_tenant_id, v_with || 's as materialized (' || v_union || ')'
  );
  select c.records into v_records
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk_id;
  if v_records > 0 then
    insert into logloom_private.sealing_days as d (day, removed_records, removed_by)
    select d.day, v_records, pg_current_xact_id()
    from unnest(p_days) d (day)
    on conflict (day) do update
    set removed_records = d.removed_records + excluded.removed_records,
      removed_by = excluded.removed_by;
  end if;
  return coalesce(v_records, 0);
end;
$$;

revoke all on function logloom_private.seal_chunk(text, date[]) from public;

comment on function logloom_private.seal_chunk(text, date[]) is
  'Takes the tenant''s oldest records of the days out of their partitions and makes a chunk of '
  'them, in this transaction. How many; 0: there were none.';

-- A day of which no row of the tenant is left is no day that a search names.
create function logloom_private.leave_sealed_days(p_tenant_id text, p_days date[])
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_day date;
  v_has_rows boolean;
begin
  foreach v_day in array p_days loop
    for v_attempt in 1..2 loop
      execute format(
        'select exists (select from logloom.logs l where l.tenant_id = %L '
          || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
        p_tenant_id, logloom_private.day_start(v_day), logloom_private.day_start(v_day + 1)
      )
      into v_has_rows;
      exit when v_has_rows;
      -- Asked again without the writer, which notes a day only where it is not noted yet.
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    end loop;
    if not v_has_rows then
      delete from logloom_private.log_days d where d.tenant_id = p_tenant_id and d.day = v_day;
    end if;
  end loop;
end;
$$;

revoke all on function logloom_private.leave_sealed_days(text, date[]) from public;

comment on function logloom_private.leave_sealed_days(text, date[]) is
  'Takes the days of which the tenant has no rows any more out of log_days.';

-- Makes one chunk of several, in one transaction.
create function logloom_private.merge_chunks(p_tenant_id text, p_chunk_ids bigint[])
returns bigint
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_chunk_id bigint;
begin
  v_chunk_id := logloom_private.encode_chunk(
    p_tenant_id,
    format(
      's as materialized (select r.* from unnest(%L::bigint[]) c (chunk_id), '
        || 'logloom_private.chunk_records(%L, c.chunk_id, null, null, null) r)',
      p_chunk_ids, p_tenant_id
    )
  );
  delete from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = any(p_chunk_ids);
  return v_chunk_id;
end;
$$;

revoke all on function logloom_private.merge_chunks(text, bigint[]) from public;

comment on function logloom_private.merge_chunks(text, bigint[]) is
  'Makes one chunk of several of a tenant, in this transaction. Its id.';

-- Small chunks of a tenant that make one: of a day, or of a week where each is less than a day's
-- worth. Null where there are none.
create function logloom_private.chunks_to_merge(p_tenant_id text, p_day date)
returns bigint[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_week constant timestamptz := date_trunc('week', p_day::timestamp) at time zone 'UTC';
  v_chunk_ids bigint[];
begin
  select s.* into v_settings from logloom_private.settings s;
  select array_agg(m.chunk_id order by m.chunk_id) into v_chunk_ids
  from (
    select
      c.chunk_id, c.key,
      sum(c.records) over (partition by c.key order by c.first_ts, c.chunk_id) as records,
      sum(c.bytes) over (partition by c.key order by c.first_ts, c.chunk_id) as bytes
    from (
      select
        w.*,
        case when w.records < v_settings.seal_day_records then v_week
          else date_trunc('day', w.first_ts, 'UTC') end as key
      from logloom_private.sealed_chunks w
      where w.tenant_id = p_tenant_id
        and w.first_ts >= v_week
        and w.last_ts < v_week + interval '7 days'
        and w.records <= v_settings.seal_chunk_records / 2
    ) c
  ) m
  where m.records <= v_settings.seal_chunk_records
    and m.bytes <= v_settings.seal_chunk_bytes / 8
  group by m.key
  having count(*) > 1
  limit 1;
  return v_chunk_ids;
end;
$$;

revoke all on function logloom_private.chunks_to_merge(text, date) from public;

comment on function logloom_private.chunks_to_merge(text, date) is
  'Small chunks of a tenant in the week of p_day that make one chunk; null where there are none.';

-- The chunks that hold records of the day become rows again, one transaction. A chunk of a small
-- tenant holds several days, which come back together.
create function logloom_private.unseal_day(p_tenant_id text, p_day date)
returns bigint
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_chunk logloom_private.sealed_chunks;
  v_day date;
  v_inserted bigint;
  v_chunk_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_chunk in
    select c.*
    from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    v_chunk_records := 0;
    for v_day in
      select d::date
      from generate_series(
        logloom_private.utc_day(v_chunk.first_ts), logloom_private.utc_day(v_chunk.last_ts),
        interval '1 day'
      ) d
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Into the partition itself: the counts have these records already.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.chunk_records($4, $1, null, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_chunk.chunk_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_chunk_records := v_chunk_records + v_inserted;
    end loop;
    if v_chunk_records <> v_chunk.records then
      raise sqlstate 'LL001' using
        message = format('Chunk %s has not as many records as it says', v_chunk.chunk_id);
    end if;
    delete from logloom_private.sealed_chunks c
    where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
    v_records := v_records + v_chunk_records;
  end loop;
  return v_records;
end;
$$;

revoke all on function logloom_private.unseal_day(text, date) from public;

comment on function logloom_private.unseal_day(text, date) is
  'Makes rows of the chunks that hold records of a tenant''s day, in this transaction: how many. '
  'A chunk of a small tenant holds a week, which comes back as a whole. To stay rows they need '
  'compression false.';

-- sealing/seal_step.sql

-- Which days have something to seal: over for seal_after, and not looked at for seal_again_after.
create function logloom_private.next_day_to_seal(p_now timestamptz)
returns date
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select min(p.day)
    from logloom_private.settings s
    cross join unnest(logloom_private.partition_days()) p (day)
    left join logloom_private.sealing_days d on d.day = p.day
    where (p.day + 1)::timestamp at time zone 'UTC' <= p_now - s.seal_after
      and (
        d.checked_at is null or d.checked_through is not null
        or d.checked_at <= p_now - s.seal_again_after
      )
  );
end;
$$;

revoke all on function logloom_private.next_day_to_seal(timestamptz) from public;

comment on function logloom_private.next_day_to_seal(timestamptz) is
  'The oldest day with a partition that is over for seal_after and was not looked at for '
  'seal_again_after; null where none is due.';

-- The days whose records of a tenant are to be sealed together with those of p_day: that day where
-- it has enough, else its week where that is over and has enough. Null where they stay rows.
create function logloom_private.days_to_seal_together(
  p_tenant_id text,
  p_day date,
  p_now timestamptz
)
returns date[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_monday constant date := date_trunc('week', p_day::timestamp)::date;
  v_day date;
  v_days date[] := '{}';
  v_count integer;
  v_records integer := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  if not coalesce(
    (select t.compression from logloom.tenant_settings t where t.tenant_id = p_tenant_id), true
  )
  then
    return null;
  end if;
  foreach v_day in array p_day || array(
    select v_monday + i from generate_series(0, 6) i where v_monday + i <> p_day
  )
  loop
    continue when not logloom_private.partition_exists(v_day);
    execute format(
      'select count(*) from (select from only logloom.%I l where l.tenant_id = $1 limit $2) l',
      logloom_private.partition_name(v_day)
    )
    into v_count
    using p_tenant_id, v_settings.seal_day_records;
    if v_day = p_day and v_count >= v_settings.seal_day_records then
      return array[p_day];
    elsif v_day = p_day and (
      v_count = 0
      or (v_monday + 7)::timestamp at time zone 'UTC' > p_now - v_settings.seal_after
    )
    then
      return null;
    end if;
    -- A day with enough for itself has a pass of its own.
    if v_count > 0 and v_count < v_settings.seal_day_records then
      v_days := v_days || v_day;
      v_records := v_records + v_count;
    end if;
  end loop;
  return case when v_records >= v_settings.seal_week_records then v_days end;
end;
$$;

revoke all on function logloom_private.days_to_seal_together(text, date, timestamptz) from public;

comment on function logloom_private.days_to_seal_together(text, date, timestamptz) is
  'The days whose records of a tenant make chunks together: p_day where it has seal_day_records, '
  'else the days of its week where that is over. Null: they stay rows.';

-- The first tenant after p_after with records in a day's partition, or null.
create function logloom_private.next_day_tenant(p_day date, p_after text)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id text;
begin
  if not logloom_private.partition_exists(p_day) then
    return null;
  end if;
  execute format(
    'select min(l.tenant_id) from only logloom.%I l where $1 is null or l.tenant_id > $1',
    logloom_private.partition_name(p_day)
  )
  into v_tenant_id
  using p_after;
  return v_tenant_id;
end;
$$;

revoke all on function logloom_private.next_day_tenant(date, text) from public;

comment on function logloom_private.next_day_tenant(date, text) is
  'The first tenant after p_after with records in a day''s partition; null where there is none.';

-- One step of a pass over a day: a chunk, a merging, or going on to the next tenant. False when
-- the pass is over.
create function logloom_private.seal_day_step(p_day date, p_now timestamptz)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_state logloom_private.sealing_days;
  v_tenant_id text;
  v_days date[];
  v_chunk_ids bigint[];
  v_records integer := 0;
begin
  insert into logloom_private.sealing_days (day) values (p_day) on conflict do nothing;
  select d.* into v_state from logloom_private.sealing_days d where d.day = p_day for update;
  v_tenant_id := logloom_private.next_day_tenant(p_day, v_state.checked_through);
  if v_tenant_id is null then
    update logloom_private.sealing_days d
    set checked_at = p_now, checked_through = null
    where d.day = p_day;
    return false;
  end if;
  v_days := logloom_private.days_to_seal_together(v_tenant_id, p_day, p_now);
  begin
    if v_days is not null then
      v_records := logloom_private.seal_chunk(v_tenant_id, v_days);
    end if;
    -- The last of a day, or what came late.
    if v_records > 0 then
      v_chunk_ids := logloom_private.chunks_to_merge(v_tenant_id, p_day);
      if v_chunk_ids is not null then
        perform logloom_private.merge_chunks(v_tenant_id, v_chunk_ids);
      end if;
      perform logloom_private.leave_sealed_days(v_tenant_id, v_days);
    end if;
  exception
    when query_canceled then
      raise;
    when others then
      -- It stays rows; the next pass tries again.
      update logloom_private.sealing_days d
      set differences = d.differences + (sqlstate = 'LL001')::integer,
        last_error = format('%s: %s', sqlstate, sqlerrm)
      where d.day = p_day;
      v_records := 0;
  end;
  if v_records = 0 then
    update logloom_private.sealing_days d
    set checked_through = v_tenant_id
    where d.day = p_day;
  end if;
  return true;
end;
$$;

revoke all on function logloom_private.seal_day_step(date, timestamptz) from public;

comment on function logloom_private.seal_day_step(date, timestamptz) is
  'The next chunk of a day, or on to the next tenant. False: the day is done.';

-- Partitions give back the space of what was sealed, one step at a time. Null when none is due.
create function logloom_private.replacement_step(p_now timestamptz)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_state logloom_private.sealing_days;
  v_outcome text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select d.* into v_state
  from logloom_private.sealing_days d
  where d.removed_records > 0 and d.checked_through is null and d.checked_at is not null
    and (d.replace_after is null or d.replace_after <= p_now)
  order by d.day
  limit 1;
  if not found then
    return null;
  elsif v_state.prepared_by is null then
    if not logloom_private.prepare_replacement(v_state.day) then
      update logloom_private.sealing_days d
      set replace_after = p_now + v_settings.seal_again_after
      where d.day = v_state.day;
    end if;
    return interval '0';
  end if;
  v_outcome := logloom_private.replace_partition(v_state.day);
  if v_outcome <> 'replaced' then
    update logloom_private.sealing_days d
    set replace_after = p_now + interval '10 seconds'
    where d.day = v_state.day;
  end if;
  return v_settings.seal_pause;
end;
$$;

revoke all on function logloom_private.replacement_step(timestamptz) from public;

comment on function logloom_private.replacement_step(timestamptz) is
  'Prepares or replaces the partition of a day that was sealed. Null when none is due.';

create function logloom_private.seal_step_at(p_now timestamptz)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_day date;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- What is on its way comes first.
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events then
    return null;
  elsif not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_day := logloom_private.next_day_to_seal(p_now);
  if v_day is null then
    return logloom_private.replacement_step(p_now);
  end if;
  perform logloom_private.seal_day_step(v_day, p_now);
  return v_settings.seal_pause;
end;
$$;

revoke all on function logloom_private.seal_step_at(timestamptz) from public;

comment on function logloom_private.seal_step_at(timestamptz) is
  'The work of seal_step, as if it were p_now.';

create function logloom_private.seal_step()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return logloom_private.seal_step_at(clock_timestamp());
end;
$$;

revoke all on function logloom_private.seal_step() from public;

comment on function logloom_private.seal_step() is
  'A step of the job seal_logs: the next chunk of what is due, or a partition that gives its '
  'space back. What is queued comes first: null while there is much. A kill loses nothing.';

-- sealing/sealing_health.sql

create function logloom_private.sealing_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_days_due bigint;
  v_differences bigint;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  return jsonb_build_object(
    'status', logloom_private.health_word(false, v_differences > 0),
    'days_due', v_days_due,
    'last_chunk', (
      select c.sealed_at from logloom_private.sealed_chunks c order by c.chunk_id desc limit 1
    ),
    'differences', v_differences
  );
end;
$$;

revoke all on function logloom_private.sealing_health(timestamptz) from public;

comment on function logloom_private.sealing_health(timestamptz) is
  'How sealing does: days that no pass has looked at yet, when the last chunk was made, and chunks '
  'that were given up because they differed from their records, which stay rows: degraded.';

-- nodes/enable_citus.sql

-- More than one machine: records, and what is known of them, spread over nodes by tenant. Citus
-- does it, an extension that hosted Supabase does not have: nothing here needs it to be there, and
-- its functions are named in dynamic SQL alone.

create function logloom_private.spread_tables()
returns text[]
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  -- What refers to another comes after it.
  return array[
    'logloom.logs', 'logloom_private.log_counts', 'logloom_private.log_days',
    'logloom_private.sealed_chunks', 'logloom_private.sealed_columns'
  ];
end;
$$;

revoke all on function logloom_private.spread_tables() from public;

comment on function logloom_private.spread_tables() is
  'The tables that are spread over nodes; everything else stays on the coordinator.';

create function logloom_private.refuse_unfit_for_citus()
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_workers integer;
  v_in_the_way text;
begin
  if not exists (select from pg_catalog.pg_extension e where e.extname = 'citus') then
    raise exception using
      errcode = 'feature_not_supported',
      message = 'Citus is not in this database',
      hint = 'Install it on every node, put citus first in shared_preload_libraries, restart and '
        'run "create extension citus" on each. Hosted Supabase does not have it.';
  end if;
  execute format(
    'select count(*) from %s n where n.noderole = %L and n.isactive and n.shouldhaveshards',
    to_regclass('pg_catalog.pg_dist_node'), 'primary'
  )
  into v_workers;
  if v_workers = 0 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'No node may hold shards',
      hint = 'On the coordinator: citus_set_coordinator_host, then citus_add_node for each worker.';
  end if;
  select string_agg(w.what, ', ' order by w.what) into v_in_the_way
  from unnest(logloom_private.spread_tables()) s (name)
  cross join lateral (
    select format('trigger %I on %s', t.tgname, s.name)
    from pg_catalog.pg_trigger t
    where t.tgrelid = s.name::regclass and not t.tgisinternal
    union all
    select format('foreign key %I of %s', k.conname, k.conrelid::regclass)
    from pg_catalog.pg_constraint k
    where k.contype = 'f' and k.conparentid = 0
      and (k.conrelid = s.name::regclass or k.confrelid = s.name::regclass)
      and not array[k.conrelid, k.confrelid] <@ array(
        select o.name::regclass::oid from unnest(logloom_private.spread_tables()) o (name)
      )
  ) w (what);
  if v_in_the_way is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'These are in the way of spreading records over nodes: ' || v_in_the_way,
      hint = 'They were added to the service''s tables. Drop them, then try again.';
  end if;
end;
$$;

revoke all on function logloom_private.refuse_unfit_for_citus() from public;

comment on function logloom_private.refuse_unfit_for_citus() is
  'Says why records cannot be spread over nodes: 0A000 without Citus, 55000 without a node that '
  'may hold shards, or where something was added to the tables.';

-- A search runs on the node that has the tenant's records, with the types and functions that its
-- SQL names. What reads a table that stays on the coordinator could not work there.
create function logloom_private.carry_to_nodes()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Types go to the nodes with a function that needs them; this one goes again, they stay.
  v_types := array(
    select format('%I.%I', n.nspname, t.typname)
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where (n.nspname = 'logloom_private' or n.nspname = 'public' and t.typname like 'logloom\_%')
      and (c.relkind = 'c' or t.typtype in ('d', 'e'))
      and not exists (
        select
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_type u on u.oid = a.atttypid
        left join pg_catalog.pg_type e on e.oid = u.typelem
        join pg_catalog.pg_class l on l.oid in (u.typrelid, e.typrelid)
        where a.attrelid = t.typrelid and l.relkind in ('r', 'p')
      )
    order by t.oid
  );
  execute format(
    'create function logloom_private.carried_types() returns table (%s) language plpgsql '
      || 'set search_path = '''' as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_private.carried_types()')
  );
  execute 'drop function logloom_private.carried_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prokind in ('f', 'a')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      and not p.prosecdef
      and not exists (
        select
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('logloom', 'logloom_private', 'public')
          and c.relkind in ('r', 'p', 'v', 'S')
          and not c.relispartition
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_private.spread_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
  loop
    execute format('select create_distributed_function(%L::regprocedure)', v_function::text);
  end loop;
end;
$$;

revoke all on function logloom_private.carry_to_nodes() from public;

comment on function logloom_private.carry_to_nodes() is
  'Makes the types, and the functions that read nothing but their arguments and spread tables, on '
  'every node. Those that are there already stay.';

-- Sealing moves records from one table to another, and a search reads both. One server reads them
-- in one snapshot; a node has a snapshot for each statement that it is sent, unless the transaction
-- keeps the first. PostgREST begins the transaction of an operation as its settings say.
create function logloom_private.keep_snapshots()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.provolatile = 's'
      and p.proname = any (logloom_private.operations())
  loop
    execute format(
      'alter function %s set default_transaction_isolation = %L', v_function, 'repeatable read'
    );
  end loop;
end;
$$;

revoke all on function logloom_private.keep_snapshots() from public;

comment on function logloom_private.keep_snapshots() is
  'Lets each operation that only reads have one snapshot, however many statements it sends to a '
  'node.';

create function logloom_private.enable_citus(p_shards integer default 32)
returns text[]
language plpgsql
volatile
security definer
set search_path = ''
-- Citus tells of each function that is where it should be.
set client_min_messages = warning
as $$
-- definer because a table is distributed by its owner, whoever of the operators calls this
declare
  v_state constant text := format(
    'select column_to_column_name(p.logicalrelid, p.partkey), c.shardcount, c.colocationid '
      || 'from %s p join %s c on c.colocationid = p.colocationid '
      || 'where p.logicalrelid = $1::regclass',
    to_regclass('pg_catalog.pg_dist_partition'), to_regclass('pg_catalog.pg_dist_colocation')
  );
  v_table text;
  v_column text;
  v_shards integer;
  v_colocation integer;
  v_first_colocation integer;
  v_distributed text[] := '{}';
begin
  perform logloom_private.refuse_unfit_for_citus();
  if p_shards is null or p_shards not between 1 and 1024 then
    raise exception using
      errcode = 'invalid_parameter_value',
      message = 'Invalid p_shards: 1 to 1024',
      hint = 'Each day has a table a shard: two to four shards a worker that there may ever be '
        'are enough.';
  end if;
  -- Requests go on into the queue meanwhile.
  perform logloom_private.hold_writers();
  perform logloom_private.lock_partitions();
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  -- Where records are spread no count is packed.
  if not logloom_private.is_spread() then
    insert into logloom_private.log_counts
      (tenant_id, minute, events, is_other, level, service, is_delta)
    select p.tenant_id, c.minute, c.events, c.is_other, c.level, c.service, false
    from logloom_private.packed_counts p, logloom_private.unpacked_counts(p) c;
    delete from logloom_private.packed_counts p where true;
  end if;
  -- One statement after another: each over the connections of the one before.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  foreach v_table in array logloom_private.spread_tables() loop
    v_shards := null;
    execute v_state into v_column, v_shards, v_colocation using v_table;
    if v_shards is null then
      execute format(
        'select %s(%L, ''tenant_id'', colocate_with => $1, '
          || 'shard_count => case when $1 = ''none'' then $2 end)',
        to_regproc('create_distributed_table'), v_table
      )
      using case when v_first_colocation is null then 'none' else 'logloom.logs' end, p_shards;
      execute v_state into v_column, v_shards, v_colocation using v_table;
      v_distributed := v_distributed || v_table;
    elsif v_column <> 'tenant_id' then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, by %s', v_table, v_column),
        hint = 'undistribute_table brings it back to one table; then try again.';
    elsif v_shards <> p_shards then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, over %s shards', v_table, v_shards),
        hint = 'alter_distributed_table, with cascade_to_colocated, changes their number.';
    end if;
    v_first_colocation := coalesce(v_first_colocation, v_colocation);
    if v_colocation <> v_first_colocation then
      raise exception using
        errcode = 'object_not_in_prerequisite_state',
        message = format('%s is spread already, apart from logloom.logs', v_table),
        hint = 'update_distributed_table_colocation brings them together.';
    end if;
  end loop;
  perform logloom_private.carry_to_nodes();
  perform logloom_private.keep_snapshots();
  -- A search's functions read, on the node where they run, more of the same tenant.
  execute format(
    'alter role %I set citus.allow_nested_distributed_execution to on', current_user
  );
  return v_distributed;
end;
$$;

revoke all on function logloom_private.enable_citus(integer) from public;

comment on function logloom_private.enable_citus(integer) is
  'Spreads records, counts and sealed records over the nodes of Citus by tenant, each tenant on '
  'one node. Which tables it spread; none when called again, which brings what an upgrade '
  'added to the nodes. 0A000 without Citus; 55000 where '
  'they are spread in another way or something is in the way: it changes nothing then.';

-- health/health_report.sql

-- Health: what is queued, when the writer last ran, whether the partitions are there.

-- What each endpoint of the function health shows, so that it has no shape of its own.
create function logloom_private.with_health_endpoints(p_report jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_checks constant jsonb := p_report -> 'checks';
begin
  return p_report || jsonb_build_object('endpoints',
    (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    )
    || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', p_report ->> 'status' = 'healthy',
        'status', p_report -> 'status',
        'checks', jsonb_build_object(
          'queue', jsonb_build_object('depth', v_checks -> 'queue' -> 'depth'),
          'writer', jsonb_build_object('status', v_checks -> 'writer' -> 'status')
        )
      ),
      'detailed', jsonb_build_object(
        'available', p_report ->> 'status' <> 'unhealthy',
        'status', p_report -> 'status',
        'checks', v_checks
      )
    )
  );
end;
$$;

revoke all on function logloom_private.with_health_endpoints(jsonb) from public;

comment on function logloom_private.with_health_endpoints(jsonb) is
  'The report with what each endpoint shows of it: available (200, otherwise 503), status, checks.';

create function logloom_private.read_health()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_settings logloom_private.settings;
  v_queue logloom_private.queue_state;
  v_writer logloom_private.job_heartbeats;
  v_now timestamptz;
  v_today constant date := logloom_private.utc_day(now());
  v_queue_age interval;
  v_silence interval;
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
  v_dead_letters bigint;
  v_queue_status text;
  v_writer_status text;
  v_partitions_status text;
  v_alerts jsonb;
  v_jobs jsonb;
  v_sealing jsonb;
  v_pre_request constant jsonb := logloom_private.pre_request_health();
  v_is_restored constant boolean := logloom_private.is_restored();
begin
  select s.* into v_settings from logloom_private.settings s;
  v_queue := logloom_private.queue_state();
  select count(*) into v_dead_letters from logloom_private.dead_letters;
  -- What ingest ran in its stead counts as well.
  select h.* into v_writer
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer')
  order by h.last_succeeded_at <= clock_timestamp() desc nulls last, h.last_succeeded_at desc
  limit 1;
  -- After what it is compared with was read, so that no age is negative.
  v_now := clock_timestamp();
  v_queue_age := v_now - v_queue.oldest_received_at;
  -- A writer that never ran counts as silent since for ever.
  v_silence := logloom_private.silence_since(v_writer.last_succeeded_at, v_now);

  v_queue_status := logloom_private.health_word(
    coalesce(v_queue_age > v_settings.queue_unhealthy_age, false),
    v_queue.depth > v_settings.queue_degraded_events
    or coalesce(v_queue_age > v_settings.queue_degraded_age, false)
  );
  v_writer_status := logloom_private.health_word(
    v_silence >= v_settings.writer_unhealthy_silence,
    v_silence >= v_settings.writer_degraded_silence
  );
  v_partitions_status := logloom_private.health_word(not v_current_exists, not v_next_exists);
  v_alerts := logloom_private.alert_health(
    v_now, logloom_private.watermark(v_queue.oldest_received_at)
  );

  v_jobs := logloom_private.job_health(v_now);
  v_sealing := logloom_private.sealing_health(v_now);

  return logloom_private.with_health_endpoints(jsonb_build_object(
    'status', logloom_private.health_word(
      v_is_restored or 'unhealthy' in (v_queue_status, v_writer_status, v_partitions_status),
      'degraded' in (
        v_queue_status, v_writer_status, v_partitions_status, v_alerts ->> 'status',
        v_pre_request ->> 'status', v_sealing ->> 'status',
        case when exists (
          select from jsonb_each(v_jobs) j where j.value ->> 'status' = 'degraded'
        ) then 'degraded' end
      )
    ),
    'timestamp', v_now,
    'checks', jsonb_build_object(
      'queue', jsonb_build_object(
        'status', v_queue_status,
        'depth', v_queue.depth,
        'oldest_item_age_seconds', coalesce(round(extract(epoch from v_queue_age), 3), 0),
        'dead_letters', v_dead_letters
      ),
      'writer', jsonb_build_object(
        'status', v_writer_status,
        'last_run', v_writer.last_succeeded_at,
        'last_duration_ms', round(v_writer.last_duration_ms::numeric, 3),
        'seconds_since_run', case
          when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
        end
      ),
      'partitions', jsonb_build_object(
        'status', v_partitions_status,
        'current_partition', logloom_private.partition_name(v_today),
        'current_exists', v_current_exists,
        'next_partition', logloom_private.partition_name(v_today + 1),
        'next_exists', v_next_exists
      ),
      'alerts', v_alerts,
      'sealing', v_sealing,
      'pre_request', v_pre_request,
      'installation', jsonb_build_object(
        'status', logloom_private.health_word(v_is_restored, false),
        'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
      ),
      'jobs', v_jobs
    )
  ));
end;
$$;

revoke all on function logloom_private.read_health() from public;

grant execute on function logloom_private.read_health() to service_role;

comment on function logloom_private.read_health() is
  'The checks of health with their grades, read from the tables behind them.';

create function public.health_report()
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
set statement_timeout = '1500ms'
as $$
begin
  return logloom_private.read_health();
end;
$$;

revoke all on function public.health_report()
from public, anon, authenticated, service_role;

grant execute on function public.health_report() to service_role;

comment on function public.health_report() is
  'What the edge function health shows: status, timestamp and checks for queue (events, seconds), '
  'writer (milliseconds, seconds), partitions, alerts, pre_request and jobs, and what each '
  'endpoint '
  'shows of it (available: 200, otherwise 503). '
  'Thresholds: logloom_private.settings and job_limits.';

-- health/job_health.sql

create function logloom_private.job_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select jsonb_object_agg(
      g.job,
      jsonb_build_object(
        'status', logloom_private.health_word(false, g.silent or g.failing),
        'last_success', g.last_succeeded_at,
        'last_failure', g.last_failed_at,
        'failures', g.failures,
        'error_code', g.error_code
      )
    )
    from (
      select
        l.job, h.last_succeeded_at, h.last_failed_at, coalesce(h.failures, 0) as failures,
        logloom_private.silence_since(
          coalesce(h.last_succeeded_at, l.watched_since), p_now
        ) > l.silence as silent,
        coalesce(h.failures >= l.failures, false) as failing,
        -- Never the message: it may have a tenant's words, and health is open to all.
        case when h.failures > 0 then substring(h.last_error from '^[0-9A-Z]{5}') end as error_code
      from logloom_private.job_limits l
      left join logloom_private.job_heartbeats h on h.job = l.job
    ) g
  );
end;
$$;

revoke all on function logloom_private.job_health(timestamptz) from public;

comment on function logloom_private.job_health(timestamptz) is
  'Each scheduled job: degraded when it is silent beyond its limit, when its last success is dated '
  'ahead, or when it failed too often in a row. error_code: SQLSTATE of the last failure.';
