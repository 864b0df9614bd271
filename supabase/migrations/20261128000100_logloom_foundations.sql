-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- foundations/requirements.sql
-- No earlier Logloom: it has other tables under the same names.
do $$
begin
  if to_regclass('logloom_private.installation') is not null then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'This database already has a Logloom, and 1.0.0 upgrades none: export what you '
        'want to keep, uninstall it, then install again',
      hint = 'Nothing was changed. docs/upgrade.md shows the commands.';
  end if;
end;
$$;

-- What a project has to offer.
do $$
declare
  v_missing text;
begin
  select string_agg(
    case
      when a.name is null then w.name
      else pg_catalog.format('%s %s or newer (%s is there)', w.name, w.least, a.version)
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

-- What another role made is used by grants of that role.
do $$
declare
  v_unusable record;
begin
  select e.extname as name, n.nspname as schema, e.extowner::regrole::text as owner,
    quote_ident(current_user) as role
  into v_unusable
  from (
    values
      ('pg_cron', 'cron', array['usage'], array['select']),
      ('pg_partman', 'partman', array['usage', 'create'],
        array['select', 'insert', 'update', 'delete'])
  ) w (name, schema, of_schema, of_tables)
  join pg_catalog.pg_extension e on e.extname = w.name
  join pg_catalog.pg_namespace n on n.nspname = w.schema
  where exists (
      select from unnest(w.of_schema) p (name) where not has_schema_privilege(n.oid, p.name)
    )
    or exists (
      select
      from pg_catalog.pg_depend d
      left join pg_catalog.pg_class c
        on d.classid = 'pg_class'::regclass and c.oid = d.objid and c.relkind = 'r'
      left join pg_catalog.pg_proc f on d.classid = 'pg_proc'::regclass and f.oid = d.objid
      cross join unnest(w.of_tables) p (name)
      where d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
        and false in (has_table_privilege(c.oid, p.name), has_function_privilege(f.oid, 'execute'))
    )
  limit 1;
  if v_unusable is not null then
    raise exception using
      errcode = 'insufficient_privilege',
      message = pg_catalog.format(
        'Logloom cannot be installed: %s belongs to %s, who has to grant %s all on the schema %s, '
          'its tables and its routines',
        v_unusable.name, v_unusable.owner, v_unusable.role, v_unusable.schema
      ),
      hint = pg_catalog.format(
        'grant all on schema %1$s to %2$s; grant all on all tables in schema %1$s to %2$s; '
          'grant execute on all routines in schema %1$s to %2$s;',
        v_unusable.schema, v_unusable.role
      );
  end if;
end;
$$;

-- A guest goes in only where there is room for it, and says what is in the way.
do $$
declare
  v_jobs text[];
  v_taken text;
begin
  -- pg_cron would take ours for a change of theirs. Those that an installation left, whose schemas
  -- somebody dropped, are ours.
  if to_regclass('cron.job') is not null then
    execute $jobs$
      select array_agg(j.jobname)
      from cron.job j
      where j.jobname like 'logloom\_%'
        and (j.username = current_user and strpos(j.command, 'logloom_private.') > 0) is not true
    $jobs$
    into v_jobs;
  end if;
  select string_agg(t.name, ', ' order by t.name) into v_taken
  from (
    select pg_catalog.format('schema %I', n.nspname)
    from pg_catalog.pg_namespace n
    where n.nspname in ('logloom', 'logloom_private')
    union all
    select pg_catalog.format('type public.%I', t.typname)
    from pg_catalog.pg_type t
    where t.typnamespace = 'public'::regnamespace and t.typname like 'logloom\_%'
    union all
    select 'job ' || j.name
    from unnest(v_jobs) j (name)
  ) t (name);
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_object',
      message = 'Logloom cannot be installed, these are there already: ' || v_taken,
      hint = 'Rename or remove them, then install again.';
  end if;
end;
$$;

-- foundations/schemas.sql
create schema logloom;
create schema logloom_private;

comment on schema logloom is 'Tables that tenants own, each behind row-level security.';
comment on schema logloom_private is
  'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema logloom from public;
grant usage on schema logloom to authenticated, service_role, supabase_auth_admin;
-- The pre-request check runs as the role of the request, and a project may have roles of its own:
-- each must reach its schema, for whatever it asks. PUBLIC may call the check there, nothing else.
grant usage on schema logloom_private to public;

-- foundations/operations.sql
-- The names of our functions in public. The pre-request check looks at requests for these alone,
-- and uninstalling removes these.
create function logloom_private.operations()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'acknowledge_alert',
    'acknowledge_alert_incidents',
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'claim_log_archive_work',
    'claim_log_streams',
    'complete_alert_notification',
    'confirm_alert_address',
    'create_alert_rule',
    'create_alert_silence',
    'create_api_key',
    'create_ingest_token',
    'create_log_dashboard',
    'create_log_portal_session',
    'create_log_stream',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_log_dashboard',
    'delete_log_stream',
    'delete_log_view',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'expire_alert_silence',
    'export_logs',
    'get_alert_incident',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_log_dashboard',
    'get_log_secret_scope',
    'get_log_stream',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_tenant_usage',
    'health_report',
    'ingest_text',
    'list_alert_addresses',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_incidents',
    'list_alert_rules',
    'list_alert_silences',
    'list_api_keys',
    'list_log_archive',
    'list_log_archive_restores',
    'list_log_dashboards',
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_stream_failures',
    'list_log_streams',
    'list_log_tenants',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'list_unsealed_alert_secrets',
    'log_changes',
    'log_histogram',
    'log_overview',
    'log_series',
    'log_stats',
    'match_log_archive',
    'open_log_portal_session',
    'preview_alert_rule',
    'read_log_stream_batch',
    'read_logs',
    'remove_tenant_member',
    'restore_log_archive',
    'retry_alert_delivery',
    'revoke_api_key',
    'revoke_log_portal_session',
    'rotate_alert_webhook_secret',
    'rotate_api_key',
    'run_saved_search',
    'run_writer',
    'seal_alert_secret',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'settle_log_archive_work',
    'settle_log_stream_batch',
    'switch_log_tenant',
    'tail_logs',
    'test_alert_rule',
    'test_log_stream',
    'update_alert_rule',
    'update_log_dashboard',
    'update_log_stream',
    'update_log_view',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$$;

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
  own_oid oid not null,
  constraint installation_has_one_row check (singleton)
);

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

insert into logloom_private.installation (own_oid, created_extensions, created_schemas)
select
  'logloom_private.installation'::regclass,
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
  'is what docs/reference/errors.md says in place of the hint. The name begins with its register.';

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
  ('verify_logs', '1 hour'),
  ('run_canary', '10 minutes'),
  ('archive_logs', '10 minutes'),
  ('evaluate_alerts', '3 minutes'),
  ('send_notifications', '3 minutes'),
  ('send_log_streams', '3 minutes'),
  ('purge_job_history', '1 hour'),
  ('purge_old_rows', '4 hours');

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
  provision_by_secret_key boolean not null default false,
  batch_max_events integer not null default 10000,
  batch_max_bytes integer not null default 8388608,
  max_record_bytes integer not null default 1048576,
  max_record_values integer not null default 160000,
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
  api_pool_size integer not null default 10,
  search_pool_share double precision not null default 0.5,
  concurrent_validations integer not null default 2,
  quick_query_bytes integer not null default 256,
  search_default_range interval not null default '1 hour',
  search_buckets_default integer not null default 60,
  tail_backlog_span interval not null default '24 hours',
  search_buckets_max integer not null default 1000,
  search_days_at_once integer not null default 12,
  search_blocks_at_once integer not null default 200,
  search_free_time interval not null default '25 milliseconds',
  search_page_time interval not null default '5 seconds',
  stored_days_counted integer not null default 31,
  tail_page_time interval not null default '5 seconds',
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
  notification_open_limit integer not null default 60,
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
  preview_alerts integer not null default 1000,
  seal_after interval not null default '6 hours',
  seal_again_after interval not null default '24 hours',
  seal_day_records integer not null default 1000,
  seal_week_records integer not null default 30,
  seal_block_records integer not null default 32000,
  seal_block_bytes bigint not null default 16000000,
  seal_pause interval not null default '20 milliseconds',
  seal_queue_events bigint not null default 20000,
  token_leeway interval not null default '5 seconds',
  token_audience text,
  tenants_by_users boolean not null default false,
  tenants_by_anonymous_users boolean not null default false,
  writing_clients text[] not null default '{}',
  max_page_bytes integer not null default 7340032,
  search_stage_templates integer not null default 500000,
  writer_run_limit interval not null default '10 seconds',
  ingest_token_lifetime interval not null default '15 minutes',
  roles_required boolean not null default false,
  roles_from_token boolean not null default false,
  portal_url text,
  portal_session_lifetime_max interval not null default '7 days',
  portal_code_lifetime interval not null default '10 minutes',
  export_page_records integer not null default 2500,
  verify_every interval not null default '7 days',
  verify_rest double precision not null default 4,
  verify_step_records integer not null default 100000,
  canary_url text,
  stream_interval interval not null default '10 seconds',
  stream_turn interval not null default '5 seconds',
  stream_claim_lifetime interval not null default '60 seconds',
  stream_open_limit integer not null default 40,
  stream_retry_base interval not null default '10 seconds',
  stream_retry_max interval not null default '15 minutes',
  stream_gives_up_after interval not null default '72 hours',
  stream_lag_limit interval not null default '1 hour',
  stream_pause_shown interval not null default '7 days',
  stream_failure_lifetime interval not null default '30 days',
  alert_absent_windows integer not null default 10,
  console_url text,
  archive_after interval not null default '1 day',
  archive_bucket text,
  archive_claim_lifetime interval not null default '5 minutes',
  archive_compare_every interval not null default '24 hours',
  archive_grace interval not null default '7 days',
  archive_overtaken text not null default 'keep',
  archive_plan_every interval not null default '10 minutes',
  archive_prefix text not null default 'logloom',
  restored_days_lifetime_max interval not null default '90 days',
  alert_group_bytes integer not null default 1024,
  constraint settings_api_pool_size_is_positive check (api_pool_size >= 2),
  constraint settings_search_pool_share_leaves_some check (
    search_pool_share > 0 and search_pool_share < 1
  ),
  constraint settings_notification_open_limit_is_positive check (notification_open_limit >= 1),
  constraint settings_alert_step_rules_can_be_halved check (alert_step_rules >= 2),
  -- Below, what is said of a cut would not fit; above, no page would.
  constraint settings_max_record_bytes_is_within_bounds check (
    max_record_bytes between 65536 and 8388608
  ),
  constraint settings_max_record_values_is_within_bounds check (
    max_record_values between 4096 and 8388608
  ),
  constraint settings_export_page_records_is_positive check (export_page_records >= 1),
  constraint settings_has_one_row check (singleton),
  constraint settings_search_days_at_once_is_positive check (search_days_at_once >= 1),
  constraint settings_portal_url_is_an_address check (
    portal_url ~ '^https?://[^\s#]+$' and length(portal_url) <= 500
  ),
  constraint settings_canary_url_is_an_address check (
    canary_url ~ '^https?://[^\s#?]+$' and length(canary_url) <= 500
  ),
  constraint settings_console_url_is_an_address check (
    console_url ~ '^https?://[^\s#]+$' and length(console_url) <= 500
  ),
  constraint settings_alert_absent_windows_are_positive check (alert_absent_windows >= 1),
  -- Windows end with a minute: one between two minutes would never come.
  constraint settings_alert_waits_are_whole_minutes check (
    least(alert_grace, alert_catch_up_limit) >= interval '0'
    and (alert_grace, alert_catch_up_limit)
      = (date_trunc('minute', alert_grace), date_trunc('minute', alert_catch_up_limit))
  ),
  constraint settings_archive_overtaken_is_known check (archive_overtaken in ('keep', 'drop')),
  constraint settings_archive_bucket_is_a_name check (
    archive_bucket ~ '^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$'
  ),
  constraint settings_archive_prefix_is_a_path check (
    archive_prefix ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$'
    and length(archive_prefix) <= 200
  ),
  constraint settings_block_has_positions check (seal_block_records between 1 and 32000)
);

insert into logloom_private.settings default values;

comment on table logloom_private.settings is
  'Every threshold and limit that is not part of a plan, in one row. Read where it is enforced.';

-- foundations/tables/settings_comments.sql
-- What each setting means: a list, since a statement for each would be three times as long.
do $$
declare
  v_setting record;
begin
  for v_setting in
    select s.name, s.meaning
    from (
      values
        ('queue_degraded_events', 'Health: degraded above this depth.'),
        ('queue_degraded_age', 'Health: degraded when the oldest queued event is older.'),
        ('queue_unhealthy_age', 'Health: unhealthy when the oldest queued event is older.'),
        ('queue_hard_limit_bytes',
          'Ingest answers 503 while the slots that are filled and moved take more bytes on disk.'),
        ('writer_degraded_silence',
          'Health: degraded when no run of the writer succeeded for so long.'),
        ('writer_unhealthy_silence',
          'Health: unhealthy when no run of the writer succeeded for so long.'),
        ('writer_run_budget', 'A call of run_writer starts no further step after this time.'),
        ('writer_run_limit', 'A run of the writer starts no further step after this time.'),
        ('writer_step_events',
          'Events that one step (one transaction) moves. A kill repeats at most one step.'),
        ('writer_step_batches', 'Batches that one step moves at most.'),
        ('writer_step_bytes',
          'Bytes of request bodies that one step moves, a last batch beyond them included.'),
        ('writer_meter_batches',
          'Batches that may wait uncounted before a run of the writer counts them ahead of '
          'moving them.'),
        ('writer_flip_lock_timeout',
          'How long a flip of the open slot waits for enqueues in flight. Then a later run does '
          'it.'),
        ('writer_truncate_lock_timeout',
          'How long emptying a moved slot waits for readers before it leaves it to a later run.'),
        ('writer_truncate_events',
          'A moved slot is emptied once it holds this many moved events …'),
        ('writer_truncate_age', '… or once it was not emptied for so long.'),
        ('writer_guard_silence',
          'When no run of the writer by pg_cron succeeded for so long, ingest starts runs '
          'itself.'),
        ('rate_hold_max',
          'How long the function ingest may repeat a refusal for the rate without asking the '
          'database.'),
        ('ingest_future_limit', 'Ingest rejects an event whose ts lies further ahead.'),
        ('provision_by_secret_key',
          'Whether a request with the project''s secret key makes the tenants that it names.'),
        ('ingest_token_lifetime',
          'How long an ingest token lives at most; 15 minutes where this is longer.'),
        ('batch_max_events',
          'Events that one batch of the queue holds at most; what the function ingest sends in '
          'one call.'),
        ('batch_max_bytes',
          'Bytes that one batch is metered with at most: the largest body that any receiver '
          'takes.'),
        ('max_record_bytes',
          'Bytes that the JSON text of a record has at most. Of a longer one the function '
          'ingest cuts the longest values.'),
        ('max_record_values',
          'Values that the attributes of a record have at most, a member counted as two and an '
          'array or object as eleven beside what it holds. Reading them takes far more memory '
          'than their text. Of more the function ingest keeps the first.'),
        ('idempotency_key_lifetime', 'How long the answer to an Idempotency-Key is kept.'),
        ('partition_days_ahead', 'Daily partitions that exist ahead of today.'),
        ('job_run_budget',
          'A run of a job starts no further step after this time, nor after half of '
          'statement_timeout. The next run goes on.'),
        ('purge_step_rows', 'Old rows that one transaction of a purge deletes.'),
        ('job_history_lifetime', 'How long pg_cron''s record of a run that succeeded is kept.'),
        ('job_failure_lifetime', 'How long pg_cron''s record of any other run is kept.'),
        ('deletion_step_records',
          'Records that one transaction of retention deletes, or one of delete_logs looks at.'),
        ('deletion_pause', 'Rest between two such transactions, so that others have the disk too.'),
        ('retention_step_tenants',
          'Tenants at which one transaction of retention looks, until it finds records to '
          'delete.'),
        ('partition_drop_lock_timeout',
          'How long dropping a partition waits for readers, while others wait behind it.'),
        ('partition_drop_attempts',
          'How often, a second apart, dropping a partition is tried before it is left to the '
          'next run.'),
        ('audit_lifetime', 'How long audit events and the records of deletions are kept.'),
        ('dry_runs_kept',
          'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.'),
        ('alert_history_lifetime', 'How long an alert that fired is kept in the history.'),
        ('list_limit_default', 'p_limit of a list where none is given.'),
        ('list_limit_max', 'Greatest p_limit of a list.'),
        ('count_services_max',
          'Services of a tenant that are counted apart within a minute. The rest is counted '
          'together.'),
        ('count_service_length_max', 'A service with a longer name is not counted apart.'),
        ('count_compact_rows',
          'Rows of log_counts that one run of compact_log_counts sums up, about.'),
        ('api_pool_size',
          'Connections that PostgREST keeps (its db-pool). 10 is what it has where nobody says '
          'otherwise.'),
        ('search_pool_share',
          'Share of api_pool_size that the searches of all tenants may hold together.'),
        ('concurrent_validations',
          'Queries of a tenant that validate_query compiles at once; a further one is PT429.'),
        ('quick_query_bytes',
          'A longer query of a saved search or an alert rule takes one of those slots while it '
          'is saved.'),
        ('search_default_range', 'How long a range is that names no start.'),
        ('search_buckets_default', 'p_buckets where none is given.'),
        ('tail_backlog_span', 'How far tail_logs looks back for the records that it begins with.'),
        ('search_buckets_max', 'Greatest p_buckets.'),
        ('search_days_at_once',
          'Days with rows of a tenant that a search opens at once: each is a partition and its '
          'locks, which end before it opens the next ones.'),
        ('search_blocks_at_once',
          'Blocks of sealed records that a part of a page''s range holds, or those of one day.'),
        ('search_free_time',
          'After this time a search reads on only in a scan slot of its tenant '
          '(concurrent_scans).'),
        ('search_page_time',
          'After this time search_logs begins no further part of its range: the page ends early.'),
        ('export_page_records', 'The most records of a page of export_logs.'),
        ('stored_days_counted',
          'Newest days of rows of a tenant that are counted for what it stores; older ones are '
          'taken to be like them.'),
        ('tail_page_time', 'After this time tail_logs answers with what it has.'),
        ('search_sample_records', 'Records, newest first, that list_log_fields looks at.'),
        ('search_sample_bytes',
          'Bytes of records that list_log_fields looks at; one record at least.'),
        ('search_sample_cells',
          'Attributes, those of all records together, that list_log_fields looks at.'),
        ('search_sample_fields', 'Fields that list_log_fields lists at most.'),
        ('search_sample_values', 'Values of a field that list_log_fields lists at most.'),
        ('search_stage_records',
          'Records that the stages json, logfmt and patterns of a query read at most.'),
        ('search_stage_templates',
          'Templates of messages in blocks that the stage patterns counts, and of a block more.'),
        ('search_groups', 'Groups that an aggregate with by has at most.'),
        ('search_series', 'Groups that have a series of their own in log_series.'),
        ('alert_grace',
          'A window stays open for so long after its end: a late record that arrives meanwhile '
          'counts.'),
        ('alert_watermark_limit',
          'Rules wait while the watermark is further behind, and health is degraded.'),
        ('alert_catch_up_limit',
          'After a wait, windows that ended longer ago are not evaluated any more.'),
        ('alert_round_limit',
          'Health: degraded when the last round''s windows ended longer ago, while rules are '
          'enabled.'),
        ('alert_step_rules',
          'Rules that one transaction of an alert round evaluates; its time is looked at '
          'between two.'),
        ('alert_rule_budget',
          'How long a rule may take of a round, and a tenant''s reading of its windows of a run.'),
        ('alert_rule_records',
          'Records that a rule may read for one window, or for the first filling of its minutes.'),
        ('alert_groups', 'Groups that a rule with by looks at, at most.'),
        ('alert_group_bytes', 'Bytes of a group that a rule with by looks at, at most.'),
        ('alert_fill_budget',
          'How long the first filling of a rule''s minutes may take, over all rounds.'),
        ('alert_back_off', 'How long a rule rests that cost too much; doubled each further time …'),
        ('alert_back_off_max', '… up to this.'),
        ('notification_claim_lifetime',
          'After this time a claim that was not settled is due again. Longer than any delivery '
          'takes.'),
        ('notification_open_limit',
          'Deliveries under way at once, of all tenants: one tenant has no more of them than '
          'stay free.'),
        ('notification_retry_base', 'Wait after the first failure, give or take a fifth …'),
        ('notification_retry_factor', '… multiplied by this after each further one …'),
        ('notification_retry_max', '… up to this.'),
        ('notification_lifetime', 'How long a delivery is tried before it is given up.'),
        ('notification_history_lifetime',
          'How long list_alert_deliveries tells of a delivery that ended.'),
        ('notification_test_interval', 'Least time between two tests of a rule.'),
        ('confirmation_lifetime',
          'How long the code that confirms an address is good; the limits below count over as '
          'long.'),
        ('confirmation_tries', 'Wrong tries after which a code is good no more.'),
        ('confirmation_interval',
          'Least time between two codes for an address that a tenant asks for.'),
        ('confirmation_codes_per_tenant', 'Codes that a tenant may have mailed.'),
        ('confirmation_codes_per_address', 'Codes that a tenant may have mailed to one address.'),
        ('confirmation_codes_per_mailbox',
          'Codes that all tenants together may have mailed to one address, whatever follows a + '
          'in it.'),
        ('webhook_secret_overlap',
          'How long webhooks carry the signature of the rotated secret, too.'),
        ('preview_span', 'How far preview_alert_rule looks back.'),
        ('preview_alerts', 'Alerts that the preview of a rule with by lists at most, the newest.'),
        ('seal_after', 'How long a UTC day is over before its records are sealed.'),
        ('seal_again_after',
          'How long after a pass over a day the next one looks for late records.'),
        ('seal_day_records',
          'A tenant with fewer records in a day is sealed by the week (Monday to Sunday, UTC), and '
          'blocks with fewer are merged by the month (four weeks).'),
        ('seal_week_records',
          'Fewer records than these, in a week and then in a month, stay rows: a block would take '
          'more.'),
        ('seal_block_records', 'Records of a block at most, up to 32,000.'),
        ('seal_block_bytes',
          'Bytes of the records of a block, unpacked, at most; what one has beyond 2,000 counts '
          'eightfold: what bounds the memory of sealing, and of reading what is sealed.'),
        ('seal_pause', 'Between two blocks.'),
        ('seal_queue_events',
          'With more events in the queue a run of seal_logs ends: the writer comes first.'),
        ('token_leeway', 'How far the clocks of who issues tokens and of the database may differ.'),
        ('token_audience',
          'What the claim aud of a token must be or contain. Null: it is not looked at.'),
        ('tenants_by_users',
          'Whether a signed-in user who belongs to no tenant may make one, by create_tenant.'),
        ('tenants_by_anonymous_users',
          'Whether an anonymous sign-in makes a tenant, by create_tenant or by the first write '
          'for the tenant that its token names.'),
        ('writing_clients',
          'client_id of the OAuth clients whose tokens may do what their user may. Others only '
          'read.'),
        ('roles_required',
          'Whether a tenant without members is closed to users, not open to each as its owner.'),
        ('roles_from_token',
          'Whether a user without a row in tenant_members has the role that their token names in '
          'app_metadata.logloom_role. No other user belongs to a tenant then.'),
        ('portal_url',
          'Of the portal''s page, for links to it. Null: links cannot be made.'),
        ('portal_session_lifetime_max', 'The longest life of a portal session.'),
        ('portal_code_lifetime', 'How long the code of a link to the portal is good.'),
        ('verify_every', 'How long after one verification the job begins the next.'),
        ('verify_rest',
          'How many times as long as a step of verification took the job then rests.'),
        ('verify_step_records', 'Records that a step of verification compares, about.'),
        ('canary_url',
          'The project''s address, at which the canary sends and reads. Null: it is switched off.'),
        ('stream_interval',
          'How long records of a log stream wait for others, unless they fill a batch.'),
        ('stream_turn', 'How long a log stream sends before others that wait come first.'),
        ('stream_claim_lifetime',
          'After this time a claim that was not settled is due again. Longer than a batch takes.'),
        ('stream_open_limit',
          'Log streams under way at once, of all tenants: one tenant has no more of them than '
          'stay free.'),
        ('stream_retry_base',
          'Wait of a log stream after the first failure, give or take a fifth, multiplied by '
          'notification_retry_factor after each further one …'),
        ('stream_retry_max', '… up to this.'),
        ('stream_gives_up_after',
          'How long a log stream is tried without success before it pauses.'),
        ('stream_lag_limit', 'Health: degraded when a log stream that works is further behind.'),
        ('stream_pause_shown',
          'Health: degraded for so long after a log stream was paused for want of success.'),
        ('stream_failure_lifetime', 'How long list_log_stream_failures tells of a failure.'),
        ('alert_absent_windows',
          'A group of a rule with on_absent that sent in so many windows before is missed.'),
        ('console_url',
          'Of the console''s page, for links in messages. Null: messages have none.'),
        ('archive_bucket',
          'The bucket of the archive. Null: nothing is archived, and what a plan with archive_days '
          'would have archived stays.'),
        ('archive_prefix', 'What the keys of the archive''s files begin with.'),
        ('archive_after',
          'How long a UTC day, or the month of a small tenant, is over before it is archived.'),
        ('archive_grace',
          'How long records stay past their retention until they are archived; archive_overtaken '
          'says what then.'),
        ('archive_overtaken',
          'What becomes of records that are not archived within archive_grace: keep or drop.'),
        ('archive_claim_lifetime',
          'How long logloom-archive may work at a file before another run takes it up.'),
        ('archive_plan_every', 'How often tenants are looked at for days to archive.'),
        ('archive_compare_every',
          'How often the bucket''s keys are compared with what the database knows of.'),
        ('restored_days_lifetime_max',
          'How long days stay at most that restore_log_archive brings.'),
        ('max_page_bytes',
          'An answer ends with the record or row that brings it to so many bytes of JSON, some '
          '8 MB.')
    ) s (name, meaning)
  loop
    execute format(
      'comment on column logloom_private.settings.%I is %L', v_setting.name, v_setting.meaning
    );
  end loop;
end;
$$;

-- foundations/errors/alerts.sql
-- Alert rules and their history. What a check constraint of alert_rules refuses has the name of
-- the constraint.
create function logloom_private.alerts_errors()
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
    ('alerts.query_reads_what_is_hidden', 400, 'The query asks for what the view %s hides',
      'Ask for other fields, or bind the rule to another view.',
      'A rule that is evaluated in a view names one of its hidden fields, or an attribute beside '
        'one, or looks through any text.'),
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
      'Invalid p_notification_destinations: any of email, webhook, slack, '
        'discord, teams, pagerduty',
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
      'Send email for the destination email, webhook_url for webhook, and of p_secrets slack_url, '
        'discord_url, teams_url or pagerduty_key for the others; or disable the rule.', null),
    ('alerts.alert_rules_webhook_template_is_valid', 400,
      'Invalid p_notification_config: webhook_template is a text of 1 to 4000 characters, '
        'webhook_template_type is json or text',
      'Leave both out for the usual payload.', null),
    ('alerts.alert_rules_for_minutes_are_valid', 400, 'Invalid p_for_minutes: 0 to 1440',
      'A day is the longest.', null),
    ('alerts.alert_rules_on_absent_is_known', 400, 'Invalid p_on_absent: ignore or fire',
      'fire tells when a group stops that sent before.', null),
    ('alerts.alert_rules_group_wait_is_valid', 400, 'Invalid p_group_wait_seconds: 0 to 3600',
      'An hour is the longest.', null),
    ('alerts.absent_needs_groups', 400, 'p_on_absent fire needs a query with by',
      'Group by the field whose values are to go on sending, or compare count() with lt.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.matcher_is_invalid', 400,
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)',
      'Send {} for all alerts of the tenant.', null),
    ('alerts.silence_ends_too_early', 400,
      'Invalid p_to: after p_from, and in the future', 'Send when alerts are to be sent again.',
      null),
    ('alerts.silence_comment_is_too_long', 400, 'Invalid p_comment: at most 2000 characters',
      'Shorten it.', null),
    ('alerts.no_room_for_silence', 400, 'Plan limit exceeded: alert silences (max %s)',
      'Expire one that nobody needs; or choose a larger plan.',
      '`create_alert_silence`: the plan''s `max_alert_silences`.'),
    ('alerts.silence_not_found', 404, 'Silence not found',
      'Send a silence_id of list_alert_silences.', null),
    ('alerts.incident_not_found', 404, 'Incident not found',
      'Send an incident_id of list_alert_incidents.', null),
    ('alerts.incident_state_is_unknown', 400,
      'Invalid p_state: one of open, acknowledged, resolved',
      'Leave it out for all incidents.', null),
    ('alerts.too_many_incidents', 400, 'Invalid p_incident_ids: 1 to 1000 ids',
      'Acknowledge further ones in another call.', null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/api_keys.sql
-- API keys.
create function logloom_private.api_keys_errors()
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
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_api_keys`: revoke one.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', '`p_name` is blank or too long.'),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: ingest, read, or both',
      'Left out it is ["ingest"].', null),
    ('api_keys.view_is_for_reading', 400, 'p_view_id is for API keys that only read',
      'A view limits what is read. Send p_scopes ["read"], and make another key for sending.',
      'A view, and the scope `ingest`: a key that sends is held by a server, which a view would '
        'not limit.'),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work for so long; 10080 minutes are a week.', '`rotate_api_key`: a week at most.'),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', '`rotate_api_key`: create a new key.'),
    ('api_keys.token_service_is_invalid', 400,
      'Invalid p_service: 1 to 200 characters after trimming',
      'The token sends for this service alone.', '`create_ingest_token`: it is blank or too long.'),
    ('api_keys.token_lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 1 to %s seconds',
      'Make another token when this one has expired.',
      '`create_ingest_token`: `settings.ingest_token_lifetime` at most.'),
    ('api_keys.too_many_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s)',
      'Retry-After says when the next one expires. One token can serve many pages.',
      'The plan''s `max_ingest_tokens`.'),
    ('api_keys.too_many_new_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s per minute)',
      'Use a token until it expires. One token can serve many pages.',
      'The plan''s `ingest_tokens_per_minute`.'),
    ('api_keys.not_found', 404, 'API key not found',
      'list_api_keys shows the keys of this tenant.', 'The tenant has no such key.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/archive.sql
-- The archive.
create function logloom_private.archive_errors()
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
    ('archive.nothing_in_range', 404, 'Nothing is archived of this range',
      'list_log_archive shows the files that there are.', '`restore_log_archive`.'),
    ('archive.keep_days_are_out_of_range', 400, 'Invalid p_keep_days: 1 to %s',
      'Bring them back again when they are needed again.',
      'At most `settings.restored_days_lifetime_max`.'),
    ('archive.too_many_days', 400, 'Plan limit exceeded: restored days (max %s, would be %s)',
      'Narrow the range, or wait until others go: list_log_archive_restores shows when.',
      'The plan''s `max_restored_days`: days that are back at once.'),
    ('archive.claim_not_found', 404, 'The claim is not there any more',
      'Another run of logloom-archive has taken it up.',
      'What `logloom-archive` worked at took too long.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/callers.sql
-- Who is calling.
create function logloom_private.callers_errors()
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
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'No such API key or ingest token: perhaps it is one of another project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: rotate_api_key or create_api_key makes another.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'Whoever made the ingest token may no longer send, or has signed out.', null),
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
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s functions call it with the project''s secret key.',
      'Only the edge functions may call it.'),
    ('callers.client_may_only_read', 403, 'The client that this token was issued to may only read',
      'It has the operations that read logs, such as search_logs. For all others whoever runs the '
        'project lists its client_id in logloom_private.settings.writing_clients.',
      'The token was issued to an OAuth client (claim `client_id`) that is not listed '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.viewer_may_only_read', 403, 'A viewer may only read',
      'It has the operations that read logs, such as search_logs, within its view. For another '
        'role ask an owner of the tenant.',
      'The caller''s role is `viewer`.'),
    ('callers.view_is_missing', 403, 'What this reader is bound to is not there',
      'An owner or admin binds it to a view that list_log_views shows.',
      'The token names the role `viewer` and no view of the tenant (`app_metadata.logloom_view`).'),
    ('callers.view_is_broken', 403, 'The query of the view %s can no longer be read',
      'An owner or admin mends it by update_log_view.',
      'The view''s query was stored by another version and does not compile any more.'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.portal_session_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session was revoked.', null),
    ('callers.portal_session_is_over', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session has ended: create_log_portal_session makes another.', null),
    ('callers.portal_code_is_spent', 401, 'This link has been used, or is too old',
      'A link is good for ten minutes and once: ask for another.', null),
    ('callers.portal_origin_is_unknown', 403, 'This session is not for pages of %s',
      'create_log_portal_session names the origins of its pages in p_origins.', null),
    ('callers.portal_query_is_broken', 403, 'The query of this session can no longer be read',
      'create_log_portal_session makes another session.', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, '%s is not open to this caller',
      'What reads by it is limited to other operations.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It is not a valid tenant id.'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low: `member`, `admin`, `owner` '
        '([identity.md](../background/identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/dashboards.sql
-- Dashboards. What a check constraint of their table refuses has the name of the constraint.
create function logloom_private.dashboards_errors()
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
    ('dashboards.log_dashboards_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming',
      'Name the dashboard after what it shows.', null),
    ('dashboards.panels_are_no_array', 400, 'Invalid p_panels: not an array',
      'Send an array of objects {title, query_dsl, kind, width}.', null),
    ('dashboards.log_dashboards_panels_are_few', 400, 'Invalid p_panels: at most 20',
      'Make a second dashboard for the rest.', null),
    ('dashboards.panel_is_invalid', 400, 'Invalid panel %s: {title, query_dsl, kind, width}',
      'title has 1 to 100 characters, kind is lines, bars or number, width is 1 to 12.', null),
    ('dashboards.no_room', 400, 'Plan limit exceeded: log_dashboards (max %s)',
      'Delete one, or ask for a larger plan.', null),
    ('dashboards.not_its_creator', 403, 'Only its creator may change or delete a dashboard',
      'Make one of your own with create_log_dashboard.', 'It is a colleague''s, shared.'),
    ('dashboards.not_found', 404, 'Dashboard not found',
      'list_log_dashboards shows those that you can see.',
      'It is not there, another tenant''s, or a colleague''s private one.'),
    ('dashboards.changed_since', 409, 'The dashboard has changed since p_updated_at',
      'Read it with get_log_dashboard, and make the change again.', null)
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/ingest.sql
-- Requests of senders.
create function logloom_private.ingest_errors()
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
    ('ingest.tenant_is_not_known', 404, 'There is no tenant %s',
      'Make it with add_tenant_member or create_api_key, or set provision_by_secret_key in '
        'logloom_private.settings.',
      'A request with the project''s secret key names a tenant that there is not, or that is being '
        'deleted.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue tells how far.',
      'The writer is far behind; `health/queue` says how far.'),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts. The function ingest does; the limits are in logloom_private.settings.',
      null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Cut what is longest in it. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null),
    ('ingest.record_has_too_many_values', 413, 'A record has more than %s values',
      'Shorten its largest arrays and objects. The function ingest does; the limit is in '
        'logloom_private.settings.',
      null)
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/notifications.sql
-- Deliveries of alerts, and the addresses that they go to.
create function logloom_private.notifications_errors()
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
      'Claim again for more.',
      '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'An address that no alert rule has any more makes room; or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`. One that no '
        'rule has makes room.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code as the mail has it, as a text.',
      '`confirm_alert_address`: as the mail has it, as a text.'),
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

-- foundations/errors/parameters.sql
-- Parameters that many operations take.
create function logloom_private.parameters_errors()
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

-- foundations/errors/portal.sql
-- Portal sessions.
create function logloom_private.portal_errors()
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
    ('portal.no_room', 400, 'Plan limit exceeded: portal sessions (max %s)',
      'Revoke one that is no longer needed, make shorter ones, or move to a larger plan.',
      'The plan''s `max_portal_sessions`: those that are active.'),
    ('portal.lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 60 to %s seconds',
      'Make another session when one ends; the viewer asks for it by itself.', null),
    ('portal.label_is_too_long', 400, 'Invalid p_label: at most 200 characters',
      'It is shown in list_log_portal_sessions alone.', null),
    ('portal.origin_is_invalid', 400,
      'Invalid p_origins: at most 20 origins such as https://app.example.com',
      'Scheme, host and port, without a path. http is for localhost alone.', null),
    ('portal.url_is_not_set', 400, 'p_link needs the address of the portal''s page',
      'Set portal_url in logloom_private.settings, such as https://logs.example.com/portal.html.',
      'No address in `settings.portal_url`.'),
    ('portal.session_not_found', 404, 'Portal session not found',
      'list_log_portal_sessions shows those of this tenant.', null),
    ('portal.too_many_requests', 429, 'Rate limit exceeded: %s portal requests per minute',
      'Wait as Retry-After says.', 'The plan''s `portal_requests_per_minute`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/query.sql
-- The query language: a filter.
create function logloom_private.query_errors()
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
    ('query.minus_negates_nothing', 400, '- must directly precede the term that it negates',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket has no opening bracket',
      'Remove it, or quote it to search for it.', null),
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
    ('query.regex_is_not_quoted', 400, 'A regular expression must be quoted',
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
    ('query.value_has_a_blank', 400, 'A value is missing after %s',
      'Write %2$s: no blank follows the colon.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, but this is not one: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Remove unnecessary brackets.', null),
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
      '%2$sQuote a text that holds a colon. The fields are %3$s and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.level_is_a_list', 400, 'Unknown level %s', 'Write level:(%2$s)', null),
    ('query.white_space_is_missing', 400, 'White space is missing before %s',
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.',
      null),
    ('query.comparison_needs_a_colon', 400, 'White space is missing before %s',
      'A comparison is written with a colon: %2$s', null),
    ('query.attribute_is_missing', 400, 'attrs needs the name of an attribute',
      'Write @name or attrs.name, such as @status.', null),
    ('query.id_is_not_compared', 400, '%s cannot be compared',
      'id takes a whole UUID, or * for any.', null),
    ('query.text_is_not_compared', 400, '%s cannot be compared',
      'Search %s for a text, a "quoted phrase" or a ~"regex".', null),
    ('query.word_is_not_for_lists', 400, '%s is not allowed in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.comparison_has_blanks', 400, '%s is only allowed at the start of a value',
      'Write %2$s: a colon after the field, and no blanks.', null),
    ('query.range_is_foreign', 400, '%s is only allowed in a range of a field', 'Write %2$s', null),
    ('query.field_is_of_another_language', 400, 'Unknown field %s', 'Write %2$s', null),
    ('query.operator_is_for_values', 400, '%s is only allowed at the start of a value',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s is only allowed in a range of a field',
      'Write field:[a TO b], or quote the text.', null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any only takes a text',
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
        'than 512 characters', 'Shorten them: the beginning of a long message finds it too.', null),
    ('query.means_something_else', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if that is what is looked for.',
      'An alert rule, its preview, `delete_logs` and its dry run: the query has one of the '
        '`warnings` of a search.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/reading.sql
-- Reading by API keys.
create function logloom_private.reading_errors()
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
    ('reading.operation_is_unknown', 404, 'No such reading operation: %s',
      'What a key reads by: POST /v1/search_logs, log_stats, tail_logs and so on.', null),
    ('reading.parameters_are_no_object', 400, 'Invalid parameters: send a JSON object',
      '{} where there are none.', null),
    ('reading.parameter_is_unknown', 400, 'Unknown parameter: %s', 'It takes %2$s.', null),
    ('reading.parameter_is_invalid', 400, 'Invalid %s: not of the type %s', null, null)
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/regex.sql
-- The query language: regular expressions.
create function logloom_private.regex_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
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
    ('regex.bracket_closes_nothing', 400, 'Regular expression: ) has no opening bracket', null,
      null),
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
      'Regular expression: lookaround and options are not allowed; (?i) must be at the start', null,
      null),
    ('regex.repeat_runs_backwards', 400,
      'Regular expression: the bounds of a repeat run backwards', null, null),
    ('regex.not_for_classes', 400, 'Regular expression: %s is not allowed in a class', null, null),
    ('regex.nothing_to_repeat', 400, 'Regular expression: %s has nothing to repeat', null, null),
    ('regex.not_an_escape', 400, 'Regular expression: %s is not an escape', null, null),
    ('regex.too_complex', 400,
      'Regular expression: it is too complex: its characters and their repeats come to more '
        'than 1000', null, null),
    ('regex.all_are_too_complex', 400,
      'Regular expression: it is too complex: the characters of all and their repeats come to '
        'more than 2000', null, null),
    ('regex.no_such_class', 400, 'Regular expression: %s is not a class of characters', null, null)
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/saved_searches.sql
-- Saved searches. What a check constraint of their table refuses has the name of the constraint.
create function logloom_private.saved_searches_errors()
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
    ('saved_searches.saved_searches_display_is_valid', 400,
      'Invalid p_display: an object of at most 4000 bytes', 'Send a smaller object.', null),
    ('saved_searches.query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      '* finds every record.', null),
    ('saved_searches.not_its_creator', 403, 'Only its creator may change or delete a saved search',
      'Save it under a name of your own with create_saved_search.',
      'It is a colleague''s, shared.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows those that you can read.',
      'It is not there, another tenant''s, or a colleague''s private one.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/search.sql
-- Searches, pages, tails and single records.
create function logloom_private.search_errors()
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
    ('search.range_leaves_the_years', 400, 'Invalid range: only the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it is newer than the database',
      'The database was restored from before it. Start again without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.changes_are_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'The most surprising changes come first.', '`log_changes` has at most 100 changes.'),
    ('search.field_is_hidden', 400, 'The field %s is hidden from you',
      'Leave it out. Who gave you access decides what is hidden.', null),
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson, csv or json',
      'Left out it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Send both as the last line that you have holds them.', null),
    ('search.place_is_outside', 400, 'Invalid p_after: it lies outside the range',
      'Name the range in full as it was when the export began, or send its cursor with it.',
      'The default range and `now-1h` move on.'),
    ('search.place_meets_limit', 400, 'Invalid p_after: the query has a limit',
      'Leave limit out, or go on by next_cursor alone.', 'A limit counts from the beginning.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400,
      'Invalid p_query_dsl: this operation returns records, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s reached its limit of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than `quick_query_bytes`: more at once than '
        '`concurrent_validations`.'),
    ('search.block_format_is_unknown', 501, 'Blocks of format %s cannot be read by this version',
      'A later version of Logloom has written them: install it again.',
      'A later version has sealed these records: the database was brought back to an older one.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. What is sent meanwhile is kept.',
      'Records are sharded, or what is stored took 8 s to sum up; `Retry-After`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/stages.sql
-- The query language: what stands after a bar.
create function logloom_private.stages_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
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
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', 'Write %2$s', null),
    ('stages.aggregate_is_of_another_language', 400, 'Unknown aggregate %s', 'Write %2$s', null),
    ('stages.stage_is_of_another_language', 400, 'Unknown stage %s', 'Write %2$s', null),
    ('stages.aggregate_needs_a_bar', 400, 'A term is missing before %s',
      'An aggregate follows a bar: %2$s', null),
    ('stages.or_is_a_word', 400, '|| is no operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('stages.or_joins_values', 400, '| is no operator', 'Write %s', null),
    ('stages.bar_is_missing', 400, 'Nothing may follow %s here: %s', 'Write %3$s', null),
    ('stages.comma_is_missing', 400, 'Nothing may follow %s here: %s',
      'Separate names by commas: service, host. A stage ends at the next | or at the end.', null),
    ('stages.field_is_unknown', 400, 'Unknown field %s', '%2$sThe fields are %3$s.', null),
    ('stages.width_is_a_bracket', 400, 'Unknown field %s',
      'A width of time is written (%2$s): | count() by (%2$s)', null),
    ('stages.aggregate_is_not_closed', 400, 'A closing bracket is missing', null, null),
    ('stages.width_is_not_closed', 400, 'A closing bracket is missing', 'Write by (5m), service.',
      null),
    ('stages.aggregate_is_missing', 400, 'An aggregate is missing after |', null, null),
    ('stages.aggregate_is_unknown', 400, 'Unknown aggregate %s', null, null),
    ('stages.takes_an_attribute', 400, '%s takes an attribute',
      'Write an attribute that holds numbers, such as @duration_ms.', null),
    ('stages.takes_no_field', 400, '%s takes no field',
      'Write %1$s(). count_distinct(user_id) counts different values.', null),
    ('stages.stage_is_unknown', 400, 'Unknown stage %s', null, null),
    ('stages.name_is_missing', 400, 'A name is missing after as',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after by (',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.two_widths', 400, 'by has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Leave one out, or name an aggregate: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.too_many_fields', 400, 'More than 50 fields', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, 'by is missing after sort',
      'Write | sort by %s', null),
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
    ('stages.any_is_for_filters', 400, 'any is only allowed in a filter',
      'Name a field, such as service or @status.', null),
    ('stages.order_is_wrong', 400, '%s is not allowed after %s',
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

-- foundations/errors/streams.sql
-- Log streams.
create function logloom_private.streams_errors()
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
    ('streams.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the stream after where it goes.', '`p_name` is blank or too long.'),
    ('streams.kind_is_unknown', 400, 'Invalid p_kind',
      'One of webhook, otlp, loki, elasticsearch, splunk_hec, datadog and s3.', null),
    ('streams.query_has_stages', 400, 'A log stream takes a query without stages',
      'Leave out what follows the first bar.', '`p_query_dsl` has a stage.'),
    ('streams.config_is_no_object', 400, 'Invalid p_config: not an object',
      'Send {"url": "https://..."}; docs/guides/streams.md says what each kind takes.', null),
    ('streams.config_is_incomplete', 400, 'Invalid p_config: %s is missing',
      'A stream of the kind %2$s needs it.', 'A member that the kind needs is missing.'),
    ('streams.config_is_unknown', 400, 'Invalid p_config: %s is no member',
      'A stream of the kind %2$s takes %3$s. Secrets go into p_secrets.',
      'The kind has no such member.'),
    ('streams.config_is_invalid', 400, 'Invalid p_config: %s',
      'Addresses are https, without user and password; docs/guides/streams.md says the rest. '
        'Secrets go into p_secrets.', 'The member is malformed, or holds a key of Logloom.'),
    ('streams.leads_to_itself', 400, 'The log stream would send to its own tenant',
      'Seal the key of another tenant.', 'A secret is an API key of the tenant itself.'),
    ('streams.no_room', 400, 'Plan limit exceeded: log streams (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_log_streams`.'),
    ('streams.outcome_is_unknown', 400, 'Invalid p_outcome',
      'One of delivered, retry and refused.', null),
    ('streams.not_found', 404, 'Log stream not found',
      'list_log_streams shows those of this tenant.', null),
    ('streams.name_is_taken', 409, 'The tenant has another log stream of this name',
      'Choose another name, or change that stream by update_log_stream.', null),
    ('streams.tested_just_now', 429, 'The log stream was tested just now',
      'Wait %s seconds between two tests.', 'One test in `notification_test_interval`.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/tenants.sql
-- Tenants, their members and their settings.
create function logloom_private.tenants_errors()
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
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view makes one.',
      'The role `viewer`, and no view.'),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.',
      'A view, and another role than `viewer`.'),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', 'The tenant has no such view.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'No user of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They are already a member of the tenant',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'A tenant needs one.'),
    ('tenants.membership_not_found', 404, 'You do not belong to such a tenant',
      'list_log_tenants shows those that you belong to.',
      '`switch_log_tenant`, and the tenant is not there, or the caller is not a member.'),
    ('tenants.tenant_is_assigned', 409, 'An administrator chooses the tenant of this user',
      'Whoever runs the project changes app_metadata.tenant_id of the user.',
      '`switch_log_tenant`, and `app_metadata.tenant_id` of the token names one.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to set tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is of an anonymous sign-in (claim `is_anonymous`), and its tenant is not there '
        'yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again afterwards.', null),
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

-- foundations/errors/usage.sql
-- Usage, settings and deletion.
create function logloom_private.usage_errors()
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
      'Leave p_months out for the current month alone.', '`get_tenant_usage`.'),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR does the work of several.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Say * to delete every record of the range.', '`delete_logs`: `*` finds every record.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/errors/views.sql
-- Views of logs.
create function logloom_private.views_errors()
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
    ('views.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the view after whom it is for.', '`p_name` is blank or too long.'),
    ('views.query_has_stages', 400, 'A view takes a query without stages',
      'Leave out what follows the first bar: a view says which records there are, and whoever '
        'reads in it what becomes of them.', '`p_query_dsl` has a stage.'),
    ('views.field_cannot_be_hidden', 400, 'Invalid p_hidden_fields: %s cannot be hidden',
      'Fields of a record are hidden by their names, attributes as attrs.PATH, all of them as '
        'attrs. Records always show id, tenant_id, ts and received_at.',
      'No field, or one that every record shows.'),
    ('views.too_many_hidden_fields', 400, 'Invalid p_hidden_fields: at most 100',
      'attrs hides all attributes.', null),
    ('views.operation_is_unknown', 400, 'Invalid p_operations: %s',
      'Any of %2$s; or all.', 'Not the name of a reading operation.'),
    ('views.no_room', 400, 'Plan limit exceeded: views (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.', 'The plan''s `max_views`.'),
    ('views.name_is_taken', 409, 'The tenant has another view of this name',
      'Choose another name, or change that view by update_log_view.', null),
    ('views.in_use', 409, 'The view is in use: %s',
      'First bind these to another view, or revoke and delete them.',
      '`delete_log_view`: API keys, members, alert rules, log streams or saved searches are bound '
        'to it.')
  ) e (name, status, message, hint, explanation);
end;
$$;

-- foundations/after_migration.sql
-- Seam: what else is done after each migration. Nothing is, here. No later migration may make it
-- anew: the body that a layer gave it would not be called by that one.
create function logloom_private.after_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
end;
$$;

-- foundations/call_function.sql
-- Calls an edge function that knows its caller by a secret in a header, and answers 202 at once.
-- pg_net does not wait for the answer; http, where pg_net is missing, does.
create function logloom_private.call_function(p_url text, p_header text, p_secret text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using p_url, jsonb_build_object('Content-Type', 'application/json', p_header, p_secret);
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', p_url, array[extensions.http_header(p_header, p_secret)], 'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function % answered %', substring(p_url from '[^/]+/?$'), v_status;
  end if;
end;
$$;

-- foundations/changed_secrets.sql
-- What is kept of a receiver's secrets after p_secrets: name and sealed text, as the edge functions
-- seal it (_shared/sealed_secrets.ts). A null member takes one away. PT400 for a name other than
-- p_names, in which header.* stands for any header but those that a batch has itself, and for a
-- text that is not sealed.
create function logloom_private.changed_secrets(
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

-- foundations/claims.sql
-- The verified claims of the request's token as PostgREST set them; null outside a request.
create function logloom_private.claims()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- NUL, or half a surrogate pair: such claims name nobody.
exception when data_exception then
  return null;
end;
$$;

-- foundations/current_user_id.sql
-- The user of the request: the claim sub.
create function logloom_private.current_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'sub';
end;
$$;

-- foundations/day_start.sql
-- When a UTC day begins.
create function logloom_private.day_start(p_day date)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_day::timestamp at time zone 'UTC';
end;
$$;

-- foundations/error_named.sql
-- An error of the register with the values of a case in its message and hint.
create function logloom_private.error_named(p_name text, p_values text[])
returns logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
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

-- foundations/errors.sql
-- The errors of a register: foundations/errors/<register>.sql. These are functions, not a table:
-- nobody needs a right to be refused, and a migration changes a text as it changes a function.
create function logloom_private.errors(p_register text)
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format('select e.* from logloom_private.%I() e', p_register || '_errors');
end;
$$;

-- foundations/finish_migration.sql
-- The last statement of every migration. Row-level security is forced on every table. Nobody may
-- call what a migration made, but for granted_functions(), the operations, the registers of errors
-- and what it granted to a role itself.
create function logloom_private.finish_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
  v_grant record;
begin
  for v_table in
    select c.oid
    from pg_catalog.pg_class c
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)
  loop
    execute format(
      'alter table %s enable row level security, force row level security', v_table
    );
  end loop;
  revoke execute on all routines in schema logloom_private from public;
  for v_grant in
    select
      p.oid::regprocedure as function, coalesce(g.roles, 'authenticated, service_role') as roles
    from pg_catalog.pg_proc p
    left join logloom_private.granted_functions() g on p.proname = any (g.names)
    where p.pronamespace = 'logloom_private'::regnamespace
      and (g.roles is not null or p.proname like '%\_errors')
  loop
    execute format('grant execute on function %s to %s', v_grant.function, v_grant.roles);
  end loop;
  perform logloom_private.grant_operations();
  perform logloom_private.after_migration();
end;
$$;

-- foundations/grant_operations.sql
-- Lets each operation be called by whom it is for, and by nobody else. A dump does not know of the
-- privileges that a project gives to new functions in public. A function of the project that has
-- the name of an operation stays as it is.
create function logloom_private.grant_operations()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operation record;
begin
  for v_operation in
    select
      p.oid::regprocedure as signature,
      case
        when p.proname = any (logloom_private.service_operations()) then 'service_role'
        else 'authenticated, service_role'
      end as roles
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
      and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    execute format(
      'revoke all on function %s from public, anon, authenticated, service_role',
      v_operation.signature
    );
    execute format(
      'grant execute on function %s to %s', v_operation.signature, v_operation.roles
    );
  end loop;
end;
$$;

-- foundations/granted_functions.sql
-- The functions of logloom_private that API roles call, and who may; all others are called by
-- functions alone. PUBLIC has those that the pre-request check of every request of the project
-- calls, as whatever role it comes; anon those that say who is calling beside it.
create function logloom_private.granted_functions()
returns table (roles text, names text[])
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_entry_of', 'alert_incident_of',
        'alert_incident_state', 'alert_rule_of', 'alert_silence_of', 'alert_silence_state',
        'api_key_status', 'change_log_stream', 'change_log_view', 'change_member',
        'changed_rule_secrets', 'changed_secrets', 'check_query', 'check_settings',
        'checked_panels', 'choose_tenant', 'confirm_address', 'current_admin_tenant_id',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_alert_silence', 'end_portal_session', 'enqueue_rule_test', 'enroll_member',
        'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer', 'iso_instant',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_dashboard_of', 'log_view_of', 'make_alert_silence', 'make_log_stream', 'make_log_view',
        'my_key_reads', 'my_stored', 'my_usage', 'new_api_key', 'note_saved_search_run',
        'page_of_addresses', 'page_of_deliveries', 'page_of_stream_failures', 'page_of_streams',
        'page_place', 'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_archive', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_overview', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_memberships',
        'read_query_validity', 'read_saved_search', 'read_saved_searches', 'read_shown_dashboards',
        'reads_again', 'reads_only', 'refuse_for_now', 'refuse_log_dashboard',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_stream', 'remove_log_view',
        'replace_webhook_secret', 'request_deletion', 'request_restore', 'request_stream_test',
        'require_groups', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_room_for_log_dashboard', 'require_rule_in_view',
        'require_view_by_admin', 'require_view_for_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'shown_secrets', 'tags_are_valid', 'tenant_with_plan',
        'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'ingest_each', 'match_archive', 'next_stream_batch',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_archive_work', 'settle_claim', 'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names);
end;
$$;

-- foundations/health_grade.sql
-- status and reason of a check, by what makes it unhealthy or degraded, if anything: no grade
-- without its reason, and none of a tenant's words, since health is open to all.
create function logloom_private.health_grade(p_unhealthy text, p_degraded text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(
    jsonb_build_object(
      'status', case
        when p_unhealthy <> '' then 'unhealthy'
        when p_degraded <> '' then 'degraded'
        else 'healthy'
      end,
      'reason', nullif(concat_ws('; ', p_unhealthy, nullif(p_degraded, '')), '')
    )
  );
end;
$$;

-- foundations/is_restored.sql
-- Whether this database was made from a dump and repair() was not called since.
create function logloom_private.is_restored()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.installation i
    where i.own_oid <> 'logloom_private.installation'::regclass
  );
end;
$$;

-- foundations/is_service_role.sql
-- Whether the request runs as service_role, also when asked from within a definer function.
create function logloom_private.is_service_role()
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return current_setting('role', true) = 'service_role';
end;
$$;

-- foundations/job_deadline.sql
-- After this time a job's run that began at p_started_at starts no further step.
create function logloom_private.job_deadline(p_started_at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
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

-- foundations/limit_lock_wait.sql
-- From now on the transaction waits for a lock no longer than p_wait. Returns the limit that it
-- had, for restore_lock_wait. A block that fails restores it by itself.
create function logloom_private.limit_lock_wait(p_wait interval)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', extract(epoch from p_wait) * 1000 || 'ms', true);
  return v_before;
end;
$$;

-- foundations/list_bytes.sql
-- A list ends with the item that brings it to so many bytes.
create function logloom_private.list_bytes()
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
begin
  return (select s.max_page_bytes from logloom_private.settings s);
end;
$$;

-- foundations/list_limit.sql
-- The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds, by
-- p_error where that is not the error of all lists.
create function logloom_private.list_limit(p_limit integer, p_error text default null)
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit < 1 or p_limit > v_max then
    perform logloom_private.refuse(
      coalesce(p_error, 'parameters.list_limit_is_out_of_range'), v_max::text
    );
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

-- foundations/lock_key.sql
-- Who takes several takes them in this order: deletion, writer, partitions, log_counts.
create type logloom_private.lock_name as enum (
  'deletion',
  'writer',
  'partitions',
  'log_counts',
  'queue',
  'alerts',
  'delete_logs',
  'members',
  'notifications',
  'streams',
  'archive'
);

comment on type logloom_private.lock_name is
  'The advisory locks of Logloom. deletion: one that seals or deletes records of days that are '
  'over. writer: whoever adds records or moves the queue. partitions: whoever makes or drops a '
  'day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, exclusive for '
  'the flip. notifications and streams: one claim at a time, so that a limit holds. '
  'archive: one claim of its work at a time. With a tenant''s hash as second key: alerts, one '
  'evaluator of its rules; delete_logs, one order of a deletion at a time; members, one change of '
  'who belongs to it; notifications, one test or confirmation of an address.';

-- The key of a lock for pg_advisory_xact_lock and its like.
create function logloom_private.lock_key(p_name logloom_private.lock_name)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return hashtext('logloom:' || p_name::text);
end;
$$;

-- foundations/page_place.sql
-- Where the page after an item begins: the item's time, null without p_after. PT400 where the list
-- has no such item, p_what being what the list holds and p_id the name of its id.
create function logloom_private.page_place(
  p_after text,
  p_what text,
  p_id text,
  p_at timestamptz
)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_after is not null and p_at is null then
    perform logloom_private.refuse('parameters.no_such_place', p_what, p_id);
  end if;
  return p_at;
end;
$$;

-- foundations/reads_only.sql
-- Whether a token only reads: it was issued to an OAuth client that settings.writing_clients does
-- not list. Such a caller has the reading operations and reaches no table.
create function logloom_private.reads_only(p_claims jsonb)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
begin
  return p_claims ->> 'client_id' is not null and not exists (
    select
    from logloom_private.settings s
    where p_claims ->> 'client_id' = any (s.writing_clients)
  );
end;
$$;

-- foundations/record_fields.sql
-- The fields of a record: everything that lists them loops over this list, or is written from it by
-- npm run migration. docs/background/architecture.md says how to add one.

create type logloom_private.record_field as (
  name text,
  type text,
  sent boolean,
  shown integer,
  kind text,
  block text,
  bloom boolean,
  place integer,
  near text[],
  aliases text[],
  also text,
  remark text
);

comment on type logloom_private.record_field is
  'A column of logloom.logs. sent: an event brings it. shown: its place in '
  'public.logloom_log_record, null where answers do not have it. kind: what a query may ask of it '
  '(time, id, level, msg, text, host, attrs), null where none may. block: how a block stores it '
  '(times, batches, ids, runs, templates, attrs, or a column of its name), with a Bloom filter '
  'where bloom. place: where the console lists it. near: what people write instead in a query. '
  'aliases: its other names in an event, the one that counts most first; a dotted name is a flat '
  'key or a path. also: where else the documents say it comes from. remark: what the console says '
  'of it.';

-- In the order of the columns of logloom.logs: a new field stands last.
create function logloom_private.record_fields()
returns logloom_private.record_field[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f
    from jsonb_populate_recordset(null::logloom_private.record_field, '[
      {"name": "ts", "type": "timestamptz", "sent": true, "shown": 3, "kind": "time",
        "block": "times", "near": ["time", "timestamp", "_time", "@timestamp", "date"],
        "aliases": ["@timestamp", "timestamp", "time", "_time", "dt", "date", "eventTime",
          "EdgeStartTimestamp", "asctime"], "remark": "a time, a day, now-15m"},
      {"name": "received_at", "type": "timestamptz", "sent": false, "shown": 4, "kind": "time",
        "block": "batches", "remark": "when the service got it"},
      {"name": "write_seq", "type": "bigint", "sent": false, "block": "batches"},
      {"name": "id", "type": "uuid", "sent": false, "shown": 1, "kind": "id", "block": "ids",
        "remark": "a record''s id"},
      {"name": "tenant_id", "type": "text", "sent": false, "shown": 2},
      {"name": "level", "type": "text", "sent": true, "shown": 5, "kind": "level",
        "block": "runs", "place": 1, "near": ["severity", "lvl", "loglevel", "log_level"],
        "aliases": ["severity", "status", "log.level", "severity_text", "loglevel", "levelname",
          "lvl", "@level", "PRIORITY"], "remark": "debug < info < warn < error"},
      {"name": "msg", "type": "text", "sent": true, "shown": 6, "kind": "msg",
        "block": "templates", "near": ["message", "log", "text", "_msg", "body"],
        "aliases": ["message", "event_message", "log", "short_message", "body", "text", "line",
          "@message", "MESSAGE"], "remark": "anywhere in the message"},
      {"name": "service", "type": "text", "sent": true, "shown": 7, "kind": "text",
        "block": "runs", "place": 2, "near": ["app", "svc", "job", "service_name", "application"],
        "aliases": ["service.name", "service_name", "app", "application", "projectName",
          "SYSLOG_IDENTIFIER", "name"]},
      {"name": "env", "type": "text", "sent": true, "shown": 8, "kind": "text",
        "block": "column", "place": 4, "near": ["environment", "stage"],
        "aliases": ["environment", "deployment.environment.name", "deployment.environment"],
        "also": "`env:` in `ddtags`"},
      {"name": "req_id", "type": "text", "sent": true, "shown": 9, "kind": "text",
        "block": "column", "bloom": true, "place": 6,
        "near": ["request_id", "trace_id", "requestid", "traceid"],
        "aliases": ["request_id", "requestId", "reqId", "req.id", "http.request.id",
          "x_request_id", "correlation_id", "RayID"], "also": "else the trace",
        "remark": "has an index"},
      {"name": "user_id", "type": "text", "sent": true, "shown": 10, "kind": "text",
        "block": "column", "bloom": true, "place": 7, "near": ["user", "usr", "uid", "userid"],
        "aliases": ["userId", "user.id", "enduser.id", "usr.id"]},
      {"name": "route", "type": "text", "sent": true, "shown": 11, "kind": "text",
        "block": "column", "place": 5, "near": ["path", "url", "uri"],
        "aliases": ["http.route", "url.path", "path", "ClientRequestPath", "proxy.path"]},
      {"name": "host", "type": "text", "sent": true, "shown": 12, "kind": "host",
        "block": "column", "place": 3, "near": ["hostname", "host_name", "instance", "pod"],
        "aliases": ["hostname", "host.name", "server", "_HOSTNAME"]},
      {"name": "attrs", "type": "jsonb", "sent": true, "shown": 13, "kind": "attrs",
        "block": "attrs"},
      {"name": "record_bytes", "type": "integer", "sent": false, "block": "column"}
    ]') f
  );
end;
$$;

-- foundations/record_job.sql
-- Leaves the heartbeat of a scheduled job. p_error null says that the run succeeded, unless a step
-- of it has left an error.
create function logloom_private.record_job(
  p_job text,
  p_started_at timestamptz,
  p_error text default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_has_failed constant boolean := p_error is not null or exists (
    select
    from logloom_private.job_heartbeats h
    where h.job = p_job and h.last_failed_at between p_started_at and v_now
  );
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
    last_succeeded_at = case
      when v_has_failed then h.last_succeeded_at else v_now
    end,
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error),
    failures = case
      when p_error is not null then h.failures + 1 when v_has_failed then h.failures else 0
    end;
end;
$$;

-- foundations/refuse.sql
-- Raises the error of this name. Nothing but this and its like (refuse_at, refuse_with_headers,
-- refuse_for_now, refuse_and_keep) tells a user of an error: the code is PT and the status, which
-- PostgREST answers; details carries the name.
create function logloom_private.refuse(p_name text, variadic p_values text[] default '{}')
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  if v_error.hint is null then
    raise exception using
      errcode = 'PT' || v_error.status,
      message = v_error.message,
      detail = jsonb_build_object('name', p_name);
  end if;
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name),
    hint = v_error.hint;
end;
$$;

-- foundations/refuse_and_keep.sql
-- The answer of an operation that is refused with the error of this name, whose transaction is
-- committed all the same: for what counts failures.
create function logloom_private.refuse_and_keep(
  p_name text,
  variadic p_values text[] default '{}'
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to the status of an answer; an error raised would take back what was written.
  perform set_config('response.status', v_error.status::text, true);
  return jsonb_build_object(
    'code', 'PT' || v_error.status, 'message', v_error.message,
    'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
  );
end;
$$;

-- foundations/refuse_at.sql
-- Raises the error of this name with the place in the query where it is.
create function logloom_private.refuse_at(
  p_position integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  raise exception using
    errcode = 'PT' || v_error.status,
    message = v_error.message,
    detail = jsonb_build_object('name', p_name, 'position', p_position),
    hint = v_error.hint;
end;
$$;

-- foundations/refuse_for_now.sql
-- Raises the error of this name with Retry-After: what is asked is in order, but not now.
create function logloom_private.refuse_for_now(
  p_seconds integer,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse_with_headers(
    jsonb_build_object('Retry-After', p_seconds::text), p_name, variadic p_values
  );
end;
$$;

-- foundations/refuse_with_headers.sql
-- Raises the error of this name with headers for its answer.
create function logloom_private.refuse_with_headers(
  p_headers jsonb,
  p_name text,
  variadic p_values text[] default '{}'
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error constant logloom_private.error := logloom_private.error_named(p_name, p_values);
begin
  -- PostgREST's way to an answer with headers.
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', 'PT' || v_error.status, 'message', v_error.message,
      'details', jsonb_build_object('name', p_name)::text, 'hint', v_error.hint
    ),
    detail = json_build_object('status', v_error.status, 'headers', p_headers);
end;
$$;

-- foundations/require_lasting_user.sql
-- PT403 where the token is of an anonymous sign-in, which makes no tenant unless
-- settings.tenants_by_anonymous_users says so.
create function logloom_private.require_lasting_user(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_claims -> 'is_anonymous', 'false') not in ('false', 'null')
    and not (select s.tenants_by_anonymous_users from logloom_private.settings s)
  then
    perform logloom_private.refuse('tenants.not_made_by_anonymous_users');
  end if;
end;
$$;

-- foundations/require_parameter.sql
-- PT400 when a required parameter is missing. Parameters default to null so that this text answers,
-- not PostgREST's 404.
create function logloom_private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_missing then
    perform logloom_private.refuse('parameters.missing', p_name);
  end if;
end;
$$;

-- foundations/require_user_id.sql
-- The user of the request, where an operation cannot do without one. PT401 without the claim sub.
create function logloom_private.require_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
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

-- foundations/require_writing_client.sql
-- PT403 for a token that only reads.
create function logloom_private.require_writing_client(p_claims jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.reads_only(p_claims) then
    perform logloom_private.refuse('callers.client_may_only_read');
  end if;
end;
$$;

-- foundations/restore_lock_wait.sql
-- Puts back what limit_lock_wait returned.
create function logloom_private.restore_lock_wait(p_before text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('lock_timeout', p_before, true);
end;
$$;

-- foundations/run_job.sql
-- What pg_cron runs: a job step by step, each committed, until nothing is left or its time is up.
-- Leaves its heartbeat, with the error where a step fails. A step is a function that finds by
-- itself where the last one ended, and returns how long to rest before the next one, null when
-- nothing is left. No set clause and not definer: such a procedure could not commit. Every name and
-- every type is qualified, since one of that name in pg_temp would come first.
create procedure logloom_private.run_job(p_job text, p_step regprocedure)
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest pg_catalog.interval;
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  loop
    -- Whoever waited for a lock sees what was done meanwhile: a project may have another level.
    commit;
    set transaction isolation level read committed;
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::pg_catalog.text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
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

-- foundations/sent_claims.sql
-- The claims as the token of an Authorization header says them, before PostgREST reads them. Empty,
-- which is nobody's, where they are no JSON object or two members of one have the same name; null
-- where the header holds no token of three parts. Its signature is PostgREST's to verify.
create function logloom_private.sent_claims(p_authorization text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part constant text := split_part(p_authorization, '.', 2);
  v_text text;
begin
  if split_part(p_authorization, '.', 3) = '' or split_part(p_authorization, '.', 4) <> '' then
    return null;
  end if;
  v_text := convert_from(
    decode(
      rpad(translate(v_part, '-_', '+/'), (length(v_part) + 3) / 4 * 4, '='), 'base64'
    ),
    'UTF8'
  );
  -- Of two members of one name PostgREST takes the first, others the last.
  if v_text is json object with unique keys then
    return v_text::jsonb;
  end if;
  return '{}';
exception when data_exception or character_not_in_repertoire then
  return '{}';
end;
$$;

-- foundations/service_operations.sql
-- Those of the operations that the edge functions alone may call, as service_role.
create function logloom_private.service_operations()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'claim_alert_notifications',
    'claim_log_archive_work',
    'claim_log_streams',
    'complete_alert_notification',
    'health_report',
    'ingest_text',
    'list_unsealed_alert_secrets',
    'match_log_archive',
    'open_log_portal_session',
    'read_log_stream_batch',
    'read_logs',
    'run_writer',
    'seal_alert_secret',
    'settle_alert_notification',
    'settle_log_archive_work',
    'settle_log_stream_batch'
  ];
end;
$$;

-- foundations/shown_secrets.sql
-- Secrets as operations answer them: {"token": {"set": true}}.
create function logloom_private.shown_secrets(p_secrets jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(jsonb_object_agg(s.name, '{"set": true}'::jsonb), '{}')
    from jsonb_object_keys(p_secrets) s (name)
  );
end;
$$;

-- foundations/silence_reason.sql
-- What health says of something whose last success is too long ago.
create function logloom_private.silence_reason(
  p_what text,
  p_silence interval,
  p_limit interval
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not isfinite(p_silence) then format('%s ever succeeded by this clock', p_what)
    else format(
      '%s succeeded for %s s (limit %s s)', p_what, round(extract(epoch from p_silence)),
      round(extract(epoch from p_limit), 3)::double precision
    )
  end;
end;
$$;

-- foundations/silence_since.sql
-- How long ago p_at was. Infinity where it is null, or lies ahead: then the clock went back.
create function logloom_private.silence_since(p_at timestamptz, p_now timestamptz)
returns interval
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_at <= p_now + interval '5 seconds' then greatest(p_now - p_at, interval '0')
    else interval 'infinity'
  end;
end;
$$;

-- foundations/take_scan_slot.sql
-- True, at once as long as the search runs shorter than search_free_time, then as soon as no other
-- search of the tenant that shares its scan slot reads on. Asked every few hundred records.
-- Parallel safe although it takes a lock: a worker's lock is its leader's as well, and is gone with
-- the worker, whose leader takes it again when it asks next.
create function logloom_private.take_scan_slot(
  p_scan text default current_setting('logloom.scan', true)
)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;

-- foundations/time_parameter.sql
-- The instant that a text is in ISO 8601, of a day its beginning; UTC where it names no zone. Null
-- for anything else: what a cast takes depends on the session.
create function logloom_private.iso_instant(p_text text)
returns timestamptz
language plpgsql
stable
strict
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
  if p_text ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9](?:[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]'
      || '(?::[0-5][0-9](?:\.[0-9]{1,9})?)?'
      || '(?:[Zz]|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?)?$')
    and pg_input_is_valid(left(p_text, 10), 'date')
  then
    -- Digits beyond the microsecond are dropped, where the cast would round.
    return regexp_replace(p_text, '(\.[0-9]{6})[0-9]+', '\1')::timestamptz;
  end if;
  return null;
end;
$$;

-- The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift,
-- as in a query (query_time). Null stays null. PT400 for anything else.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text constant text := coalesce(substring(p_text from '\S(?:.*\S)?'), '');
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
  v_instant constant timestamptz := logloom_private.iso_instant(v_text);
begin
  if p_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_instant is not null then
    return v_instant;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;

-- foundations/token_is_valid.sql
-- Whether verified claims may act now: exp is there and ahead, nbf and iat are not, give or take
-- the leeway; aud, iss, jti and sub are strings, aud may be an array of some, and is or contains
-- token_audience where that is set; sub can name a user. Of a token of service_role only its times
-- are asked. The one verdict of every door; who verified the signature may be stricter.
create function logloom_private.token_is_valid(
  p_claims jsonb,
  p_is_service boolean default false
)
returns boolean
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the settings
declare
  v_aud constant jsonb := p_claims -> 'aud';
  v_leeway interval;
  v_audience text;
  v_name text;
  v_at numeric;
begin
  select s.token_leeway, s.token_audience into v_leeway, v_audience
  from logloom_private.settings s;
  foreach v_name in array array['exp', 'nbf', 'iat'] loop
    continue when v_name <> 'exp' and not p_claims ? v_name;
    v_at := case when jsonb_typeof(p_claims -> v_name) = 'number'
      then (p_claims -> v_name)::numeric end;
    if (
      abs(v_at) < 1e15
      and case v_name when 'exp' then v_at > extract(epoch from now() - v_leeway)
        else v_at <= extract(epoch from now() + v_leeway) end
    ) is not true then
      return false;
    end if;
  end loop;
  return p_is_service or coalesce(
    (v_audience is null or v_aud ? v_audience)
    and v_aud is distinct from '[]'
    -- RFC 7519 calls them StringOrURI: with a colon it is a URI. PostgREST asks the same.
    and not jsonb_path_exists(
      case jsonb_typeof(v_aud) when 'array' then v_aud
        else jsonb_path_query_array(p_claims, '$.aud') end
        || jsonb_path_query_array(p_claims, '$.iss') || jsonb_path_query_array(p_claims, '$.sub'),
      'strict $[*] ? (@.type() != "string" || !(@ like_regex "^([^:]*|[A-Za-z][A-Za-z0-9+.-]*:'
        '([A-Za-z0-9._~:/?#@!$&''()*+,;=-]|%[0-9A-Fa-f]{2})*)$" flag "s"))'
    )
    and (not p_claims ? 'jti' or jsonb_typeof(p_claims -> 'jti') = 'string')
    and (
      not p_claims ? 'sub' or logloom_private.usable_id(p_claims ->> 'sub') is not null
    ),
    false
  );
end;
$$;

-- foundations/trim_space.sql
-- The text without white space at its ends.
create function logloom_private.trim_space(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
end;
$$;

-- foundations/usable_id.sql
-- The id of a tenant or a user where it can name one: 1 to 255 characters without a control
-- character, and one that prints something in some script. Null otherwise.
create function logloom_private.usable_id(p_id text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
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

-- foundations/utc_day.sql
-- The UTC day of an instant.
create function logloom_private.utc_day(p_ts timestamptz)
returns date
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_ts at time zone 'UTC')::date;
end;
$$;

select logloom_private.finish_migration();
