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
  count_pack_rows integer not null default 1000,
  count_pack_days integer not null default 1000,
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
  seal_week_records integer not null default 100,
  seal_block_records integer not null default 32000,
  seal_block_bytes bigint not null default 16000000,
  seal_pause interval not null default '20 milliseconds',
  seal_queue_events bigint not null default 20000,
  constraint settings_api_pool_size_is_positive check (api_pool_size >= 2),
  constraint settings_search_pool_share_leaves_some check (
    search_pool_share > 0 and search_pool_share < 1
  ),
  token_leeway interval not null default '5 seconds',
  token_audience text,
  tenants_by_users boolean not null default false,
  tenants_by_anonymous_users boolean not null default false,
  writing_clients text[] not null default '{}',
  max_page_bytes integer not null default 7340032,
  constraint settings_notification_open_limit_is_positive check (notification_open_limit >= 1),
  constraint settings_alert_step_rules_can_be_halved check (alert_step_rules >= 2),
  -- Below, what is said of a cut would not fit; above, no page would.
  constraint settings_max_record_bytes_is_within_bounds check (
    max_record_bytes between 65536 and 8388608
  ),
  constraint settings_max_record_values_is_within_bounds check (
    max_record_values between 4096 and 8388608
  ),
  constraint settings_has_one_row check (singleton),
  constraint settings_search_days_at_once_is_positive check (search_days_at_once >= 1),
  constraint settings_block_has_positions check (seal_block_records between 1 and 32000)
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

comment on column logloom_private.settings.max_record_bytes is
  'Bytes that the JSON text of a record has at most. Of a longer one the function ingest cuts the '
  'longest values.';

comment on column logloom_private.settings.max_record_values is
  'Values that the attributes of a record have at most, a member counted as two and an array or '
  'object as eleven beside what it holds. Reading them takes far more memory than their text. Of '
  'more the function ingest keeps the first.';

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
  'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

comment on column logloom_private.settings.audit_lifetime is
  'How long audit events and the records of deletions are kept.';

comment on column logloom_private.settings.list_limit_default is
  'p_limit of a list where none is given.';

comment on column logloom_private.settings.max_page_bytes is
  'An answer ends with the record or row that brings it to so many bytes of JSON, some 8 MB.';

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

comment on column logloom_private.settings.search_blocks_at_once is
  'Blocks of sealed records that a part of a page''s range holds, or those of one day.';

comment on column logloom_private.settings.search_free_time is
  'After this time a search reads on only in a scan slot of its tenant (concurrent_scans).';

comment on column logloom_private.settings.search_turn is
  'After this time search_logs begins no further part of its range: the page ends early.';

comment on column logloom_private.settings.stored_days_counted is
  'Newest days of rows of a tenant that are counted for what it stores; older ones are taken to be '
  'like them.';

comment on column logloom_private.settings.concurrent_validations is
  'Queries of a tenant that validate_query compiles at once; a further one is PT429.';

comment on column logloom_private.settings.quick_query_bytes is
  'A longer query of a saved search or an alert rule takes one of those slots while it is saved.';

comment on column logloom_private.settings.tail_turn is
  'After this time tail_logs answers with what it has.';

comment on column logloom_private.settings.search_sample_records is
  'Records, newest first, that list_log_fields looks at.';

comment on column logloom_private.settings.search_sample_bytes is
  'Bytes of records that list_log_fields looks at; one record at least.';

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

comment on column logloom_private.settings.notification_open_limit is
  'Deliveries under way at once, of all tenants: one tenant has no more of them than stay free.';

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

comment on column logloom_private.settings.preview_alerts is
  'Alerts that the preview of a rule with by lists at most, the newest.';

comment on column logloom_private.settings.preview_span is 'How far preview_alert_rule looks back.';

comment on column logloom_private.settings.seal_after is
  'How long a UTC day is over before its records are sealed.';

comment on column logloom_private.settings.seal_again_after is
  'How long after a pass over a day the next one looks for late records.';

comment on column logloom_private.settings.seal_day_records is
  'A tenant with fewer records in a day is sealed by the week (Monday to Sunday, UTC).';

comment on column logloom_private.settings.seal_week_records is
  'Fewer records than these, in a week, stay rows: a block would take more.';

comment on column logloom_private.settings.seal_block_records is
  'Records of a block at most, up to 32,000.';

comment on column logloom_private.settings.seal_block_bytes is
  'Bytes of the records of a block, unpacked, at most; what one has beyond 2,000 counts eightfold: '
  'what bounds the memory of sealing, and of reading what is sealed.';

comment on column logloom_private.settings.seal_pause is 'Between two blocks.';

comment on column logloom_private.settings.seal_queue_events is
  'With more events in the queue a run of seal_logs ends: the writer comes first.';

comment on column logloom_private.settings.token_leeway is
  'How far the clocks of who issues tokens and of the database may differ.';

comment on column logloom_private.settings.token_audience is
  'What the claim aud of a token must be or contain. Null: it is not looked at.';

comment on column logloom_private.settings.tenants_by_users is
  'Whether a signed-in user who belongs to no tenant may make one, by create_tenant.';

comment on column logloom_private.settings.tenants_by_anonymous_users is
  'Whether an anonymous sign-in makes a tenant, by create_tenant or by the first write for the '
  'tenant that its token names.';

comment on column logloom_private.settings.writing_clients is
  'client_id of the OAuth clients whose tokens may do what their user may. Others only read.';
