-- What each setting does and when to change it. One list, because single statements would take
-- three times as many lines.
do $$
declare
  v_setting record;
begin
  for v_setting in
    select s.name, s.meaning
    from (
      values
        ('api_pool_size',
          'Connections of PostgREST (its db-pool); searches use half of them. Set it to the '
          'size of your project''s pool.'),
        ('search_free_time',
          'After this time a search continues only in a scan slot (concurrent_scans). Raise it '
          'where short searches queue behind long ones.'),
        ('search_page_time',
          'After this time a page or a live tail ends with what it has found. Lower it where a '
          'proxy gives up sooner.'),
        ('search_groups',
          'The most groups of an aggregate with by. Raise it for more groups, at the price of '
          'memory.'),
        ('search_stage_records',
          'The most records that the stages json, logfmt and patterns read. Raise it where '
          'queries reach it, at the price of time.'),
        ('max_page_bytes',
          'An answer ends with the record that reaches this many bytes of JSON. Lower it where '
          'clients or proxies accept less.'),
        ('ingest_future_limit',
          'Events whose ts is further ahead than this are rejected. Raise it for devices whose '
          'clocks are wrong.'),
        ('provision_by_secret_key',
          'Whether sending with the secret key creates the tenant that it names. Operations that '
          'write always create it. Turn it on where your backend sends for new customers.'),
        ('max_record_bytes',
          'Bytes of a record''s JSON; the longest values of a longer record are cut. Raise it '
          'where long values are cut.'),
        ('max_record_values',
          'Values in the attributes of a record; the rest is dropped. Raise it where members are '
          'dropped, at the price of memory.'),
        ('sql_log_events',
          'Records that SQL may log in one transaction; the rest is counted in one more record. '
          'Raise it where transactions change many rows.'),
        ('queue_hard_limit_bytes',
          'Bytes of the queue on disk; above them ingest answers 503. Null: a tenth of '
          'max_storage_bytes, but at least 64 MB; 1 GB if that is null, too. Raise it to survive '
          'longer outages of the writer.'),
        ('writer_step_events',
          'Events in one step of the writer; a crash repeats one step. Raise it where the writer '
          'falls behind, lower it where memory is short.'),
        ('writer_guard_silence',
          'After this time without a successful run of the writer, ingest runs it. Raise it '
          'where pg_cron is often late.'),
        ('partition_days_ahead',
          'Daily partitions that are created ahead of today. Raise it where ingest_future_limit '
          'is longer.'),
        ('queue_degraded_events',
          'Health is degraded above this number of queued events. Raise it where bursts of that '
          'size are normal.'),
        ('queue_degraded_age',
          'Health is degraded when the oldest queued event is older than this. Set it to the delay '
          'that you accept.'),
        ('queue_unhealthy_age',
          'Health is unhealthy when the oldest queued event is older than this. Set it to the '
          'delay that must wake somebody.'),
        ('writer_degraded_silence',
          'Health is degraded after this time without a successful run of the writer. Raise it '
          'where pg_cron is often late.'),
        ('writer_unhealthy_silence',
          'Health is unhealthy after this time without a successful run of the writer. Set it to '
          'the silence that must wake somebody.'),
        ('stream_lag_limit',
          'Health is degraded when a working log stream is further behind than this. Lower it '
          'where a receiver must be up to date.'),
        ('deletion_step_records',
          'Records or rows that one transaction deletes. Lower it where deletions disturb others.'),
        ('deletion_pause',
          'Pause between two transactions of deletions. Raise it where deletions disturb others.'),
        ('partition_drop_lock_timeout',
          'How long the drop of a day waits for readers, while others wait behind it. Raise it '
          'where days are not dropped in time.'),
        ('audit_lifetime',
          'How long audit events and receipts of deletions are kept. Set it to what your law or '
          'contract asks for.'),
        ('alert_history_lifetime',
          'How long alerts are kept in the history. Set it to what your law or contract asks for.'),
        ('seal_after',
          'How long after its end (UTC) a day is sealed. Raise it where many records arrive '
          'later.'),
        ('seal_day_records',
          'A tenant with fewer records in a day is sealed by the week. Raise it where thousands '
          'of tenants send little.'),
        ('seal_week_records',
          'Weeks with fewer records wait for the month. Months with fewer stay rows. Raise it '
          'where thousands of tenants send little.'),
        ('seal_block_records',
          'Records in a block, at most 32,000. Lower it where memory is short.'),
        ('seal_block_bytes',
          'Uncompressed bytes of the records in a block; those of large messages and records count '
          'more. Lower it where memory is short.'),
        ('seal_queue_events',
          'While more events are queued, nothing is sealed or verified. Raise it where the queue '
          'is always longer.'),
        ('max_storage_bytes',
          'Bytes of records of all tenants. Null: no limit. Set it below the size of your disk.'),
        ('storage_policy',
          'At max_storage_bytes: drop_oldest deletes the oldest days, refuse answers 503 to '
          'ingest. Set refuse where nothing may be lost.'),
        ('project_tenant_id',
          'The tenant that gets the project''s own events. Null: none are stored. Set it to your '
          'own tenant and alert on its events.'),
        ('archive_bucket',
          'The bucket of the archive. Null: nothing is archived. Set it to turn the archive on.'),
        ('archive_prefix',
          'The beginning of the keys of archived files. Set one for each installation that '
          'shares a bucket.'),
        ('archive_after',
          'How long after its end a day, or the month of a small tenant, is archived. Raise it '
          'where many records arrive later.'),
        ('archive_grace',
          'How long records wait for the archive after their retention. Raise it where the '
          'bucket may be unavailable for longer.'),
        ('archive_overtaken',
          'keep or drop: what happens to records that are not archived within archive_grace. Set '
          'drop where the disk matters more than the archive.'),
        ('archive_plan_every',
          'How often the archive looks for days to archive. Lower it to see the archive at work.'),
        ('alert_grace',
          'Records that arrive up to this late still count; whole minutes. Raise it where '
          'senders are often late.'),
        ('alert_rule_budget',
          'How long a rule may take in a round. Raise it where rules are paused as too expensive.'),
        ('alert_rule_records',
          'The most records that a rule reads for one window. Raise it where rules are paused as '
          'too expensive.'),
        ('alert_groups',
          'The most groups of a rule with by. Raise it where rules find more groups.'),
        ('notification_open_limit',
          'Deliveries in progress at once, for all tenants. Raise it where slow receivers delay '
          'others.'),
        ('console_url',
          'The URL of the console, for links in messages. Null: no links. Set it when the '
          'console has a URL.'),
        ('stream_interval',
          'How long records wait for more records, unless a batch is full. Lower it for less '
          'delay, raise it for fewer requests.'),
        ('stream_open_limit',
          'Streams that send at once, for all tenants. Raise it where slow receivers delay '
          'others.'),
        ('token_audience',
          'The value that aud of a token must be or contain. Null: any. Set it where the issuer '
          'also signs tokens for others.'),
        ('tenants_by_users',
          'Whether signed-in users may create tenants. Turn it on where customers sign up '
          'themselves.'),
        ('tenants_by_anonymous_users',
          'Whether anonymous users may create tenants. Turn it on where customers try the service '
          'without an account.'),
        ('writing_clients',
          'client_id of OAuth clients that may do more than read. Add a client that your users '
          'trust to change things.'),
        ('roles_required',
          'Whether a tenant without members is closed to all users. Turn it on where every user '
          'has a role.'),
        ('roles_from_token',
          'Whether a user without a row has the role in their token. Turn it on where your '
          'issuer decides who may do what.'),
        ('portal_url',
          'The URL of the portal''s page, for links to it. Null: no links. Set it when you host '
          'the page.'),
        ('portal_session_lifetime_max',
          'Longest life of a portal session. Lower it where a stolen link must end sooner.'),
        ('verify_every',
          'The time between two verifications. Raise it where reading everything costs too much.'),
        ('canary_url',
          'The URL of the project, where the canary sends and reads. Null: off. Set it to turn '
          'the canary on.')
    ) s (name, meaning)
  loop
    execute format(
      'comment on column logloom_private.settings.%I is %L', v_setting.name, v_setting.meaning
    );
  end loop;
end;
$$;
