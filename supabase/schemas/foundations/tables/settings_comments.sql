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
          'Ingest answers 503 while the slots that are filled and moved take more bytes on disk. '
          'Null: a tenth of max_storage_bytes, at least 64 MB, or 1 GB where that is null.'),
        ('max_storage_bytes',
          'How many bytes of records Logloom stores at most, of all tenants, measured once a '
          'minute. storage_policy says what happens then. Null: no limit.'),
        ('storage_policy',
          'At max_storage_bytes: drop_oldest deletes the oldest days of all tenants, refuse lets '
          'ingest answer 503.'),
        ('operators_tenant',
          'The tenant that gets a record when storage fills up, for an alert rule to find. Null: '
          'none.'),
        ('writer_degraded_silence',
          'Health: degraded when no run of the writer succeeded for so long.'),
        ('writer_unhealthy_silence',
          'Health: unhealthy when no run of the writer succeeded for so long.'),
        ('writer_run_budget', 'A call of run_writer starts no further step after this time.'),
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
        ('count_services_max',
          'Services of a tenant that are counted apart within a minute. The rest is counted '
          'together.'),
        ('count_service_length_max', 'A service with a longer name is not counted apart.'),
        ('count_compact_rows',
          'Rows of log_counts that one run of compact_log_counts sums up, about.'),
        ('api_pool_size',
          'Connections that PostgREST keeps (its db-pool). 10 is what it has where nobody says '
          'otherwise.'),
        ('search_free_time',
          'After this time a search reads on only in a scan slot of its tenant '
          '(concurrent_scans).'),
        ('search_page_time',
          'After this time search_logs begins no further part of its range: the page ends early.'),
        ('search_stage_records',
          'Records that the stages json, logfmt and patterns of a query read at most.'),
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
        ('stream_tells_after',
          'How long a log stream fails before owners get a mail.'),
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
