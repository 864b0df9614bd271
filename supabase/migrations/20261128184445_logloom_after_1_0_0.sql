-- Everything since the last release. npm run migration writes this file: change supabase/schemas,
-- supabase/unreleased/before.sql or supabase/unreleased/after.sql instead.

set local search_path = pg_catalog, pg_temp;

select logloom_private.hold_writers();

-- Most jobs read the settings first, so they are locked first. If they were altered last, the
-- migration would hold locks that their readers want next, and would wait for them.
do $$
begin
  lock table logloom_private.settings in access exclusive mode;
end;
$$;

-- finish_migration() does this from now on. Done here, unchanged functions need not be created
-- again.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef
  loop
    execute format('alter function %s set standard_conforming_strings = on', v_function);
  end loop;
end;
$$;

-- A group of rules counts in parts from now on. The next round plans and fills the groups again.
delete from logloom_private.alert_groups where filter is not null;

-- Functions take these names.
drop procedure logloom_private.write_logs();
drop procedure logloom_private.evaluate_alerts();
drop procedure logloom_private.run_canary();
drop procedure logloom_private.run_job(text, regprocedure);

-- A parameter has another type.
drop function public.create_api_key(text, text, timestamptz, text[], uuid);

-- Rules can have a baseline.
drop function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb, uuid
);
drop function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb
);
drop function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer, uuid, integer
);
drop function logloom_private.completed_preview(
  public.logloom_alert_preview, logloom_private.alert_window[], boolean, logloom.alert_rules
);
drop function logloom_private.preview_alerts(
  logloom_private.alert_window[], logloom.alert_rules, interval
);

alter type logloom_private.reading_scope rename attribute actor to kind;

SET local check_function_bodies = off;

SELECT cron.unschedule('logloom_archive_logs');

SELECT cron.unschedule('logloom_compact_log_counts');

SELECT cron.unschedule('logloom_evaluate_alerts');

SELECT cron.unschedule('logloom_maintain_partitions');

SELECT cron.unschedule('logloom_purge_job_history');

SELECT cron.unschedule('logloom_purge_old_rows');

SELECT cron.unschedule('logloom_run_canary');

SELECT cron.unschedule('logloom_run_deletions');

SELECT cron.unschedule('logloom_run_retention');

SELECT cron.unschedule('logloom_seal_logs');

SELECT cron.unschedule('logloom_send_log_streams');

SELECT cron.unschedule('logloom_send_notifications');

SELECT cron.unschedule('logloom_verify_logs');

SELECT cron.unschedule('logloom_write_logs');

COMMENT ON COLUMN "logloom"."alert_history"."incident_id" IS NULL;

COMMENT ON COLUMN "logloom"."api_keys"."key_digest" IS NULL;

COMMENT ON COLUMN "logloom"."plans"."max_log_dashboards" IS NULL;

COMMENT ON COLUMN "logloom"."plans"."max_log_streams" IS NULL;

COMMENT ON COLUMN "logloom"."plans"."max_members" IS NULL;

COMMENT ON COLUMN "logloom"."plans"."max_views" IS NULL;

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."token_digest" IS NULL;

DROP POLICY "log_dashboards_delete_creator" ON "logloom"."log_dashboards";

DROP POLICY "log_dashboards_insert_creator" ON "logloom"."log_dashboards";

DROP POLICY "log_dashboards_select_creator_or_shared" ON "logloom"."log_dashboards";

DROP POLICY "log_dashboards_update_creator" ON "logloom"."log_dashboards";

DROP POLICY "saved_searches_delete_creator" ON "logloom"."saved_searches";

DROP POLICY "saved_searches_insert_creator" ON "logloom"."saved_searches";

DROP POLICY "saved_searches_select_creator_or_shared" ON "logloom"."saved_searches";

DROP POLICY "saved_searches_update_creator" ON "logloom"."saved_searches";

DROP INDEX "logloom"."retention_runs_retention_idx";

DROP INDEX "logloom_private"."blocks_last_ts_idx";

DROP VIEW "logloom_private"."planned_alert_rules";

ALTER TABLE "logloom"."alert_incidents"
  DROP CONSTRAINT "alert_incidents_resolution_is_known";

ALTER TABLE "logloom"."alert_incidents"
  DROP CONSTRAINT "alert_incidents_resolution_is_whole";

ALTER TABLE "logloom"."alert_rules"
  DROP CONSTRAINT "alert_rules_name_is_valid";

ALTER TABLE "logloom"."audit_events"
  DROP CONSTRAINT "audit_events_action_is_known";

ALTER TABLE "logloom"."log_dashboards"
  DROP CONSTRAINT "log_dashboards_name_is_valid";

ALTER TABLE "logloom"."log_streams"
  DROP CONSTRAINT "log_streams_name_is_valid";

ALTER TABLE "logloom"."log_views"
  DROP CONSTRAINT "log_views_name_is_valid";

ALTER TABLE "logloom"."retention_runs"
  DROP CONSTRAINT "retention_runs_erasure_has_query";

ALTER TABLE "logloom"."retention_runs"
  DROP CONSTRAINT "retention_runs_kind_is_known";

ALTER TABLE "logloom"."saved_searches"
  DROP CONSTRAINT "saved_searches_category_is_valid";

ALTER TABLE "logloom"."saved_searches"
  DROP CONSTRAINT "saved_searches_name_is_valid";

ALTER TABLE "logloom_private"."alert_groups"
  DROP CONSTRAINT "alert_groups_partials_are_whole";

ALTER TABLE "logloom_private"."alert_partials"
  DROP CONSTRAINT "alert_partials_pkey";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_alert_absent_windows_are_positive";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_alert_step_rules_can_be_halved";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_alert_waits_are_whole_minutes";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_export_page_records_is_positive";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_search_days_at_once_is_positive";

ALTER TABLE "logloom_private"."settings"
  DROP CONSTRAINT "settings_search_pool_share_leaves_some";

DROP FUNCTION "logloom_private"."actor"();

DROP FUNCTION "logloom_private"."add_alert_partials_sql"(text, logloom_private.alert_groups);

DROP FUNCTION "logloom_private"."added_counts_sql"(text);

DROP FUNCTION "logloom_private"."added_records_sql"(text);

DROP FUNCTION "logloom_private"."alert_condition_holds"(double precision, text, double precision);

DROP FUNCTION "logloom_private"."alert_entry_of"(logloom.alert_history, timestamp WITH time zone, boolean);

DROP FUNCTION "logloom_private"."alert_incident_of"(logloom.alert_incidents);

DROP FUNCTION "logloom_private"."alert_incident_state"(timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."alert_needs"(logloom_private.alert_rounds);

DROP FUNCTION "logloom_private"."alert_number_sql"(logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."alert_partials_sql"(text, text, text);

DROP FUNCTION "logloom_private"."alert_rule_of"(logloom.alert_rules);

DROP FUNCTION "logloom_private"."alert_silence_of"(logloom.alert_silences);

DROP FUNCTION "logloom_private"."alert_silence_state"(timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."api_key_status"(timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."archive_delay"(integer);

DROP FUNCTION "logloom_private"."archive_key_kind"(bigint, bigint, bigint, bigint, bigint);

DROP FUNCTION "logloom_private"."archive_part_work"(logloom.archive_parts);

DROP FUNCTION "logloom_private"."archive_reads_records"();

DROP FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."batch_key"(timestamp WITH time zone);

DROP FUNCTION "logloom_private"."block_bits"(logloom_private.blocks, jsonb, timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."block_days"(integer);

DROP FUNCTION "logloom_private"."block_formats"();

DROP FUNCTION "logloom_private"."bounds_sql"(jsonb, text, text);

DROP FUNCTION "logloom_private"."bytes_of_record"(logloom.logs);

DROP FUNCTION "logloom_private"."canary_health"();

DROP FUNCTION "logloom_private"."canary_step"(text, uuid, text);

DROP FUNCTION "logloom_private"."canary_tenant"();

DROP FUNCTION "logloom_private"."changed_rule_secrets"(jsonb, jsonb);

DROP FUNCTION "logloom_private"."channel_kind"(text);

DROP FUNCTION "logloom_private"."channel_limit"(text, text);

DROP FUNCTION "logloom_private"."check_query"(text, boolean);

DROP FUNCTION "logloom_private"."chosen_rows_sql"(jsonb, jsonb, text, integer);

DROP FUNCTION "logloom_private"."counted_rows_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."current_user_id"();

DROP FUNCTION "logloom_private"."cut_words"(text);

DROP FUNCTION "logloom_private"."day_start"(date);

DROP FUNCTION "logloom_private"."delivery"(logloom_private.notifications);

DROP FUNCTION "logloom_private"."dictionary_numbers"(logloom_private.block_columns, anyarray);

DROP FUNCTION "logloom_private"."empty_moved_slots"();

DROP FUNCTION "logloom_private"."end_answered_batch"(logloom.log_streams, integer, integer, text);

DROP FUNCTION "logloom_private"."fail_stream"(logloom.log_streams, integer, text, integer);

DROP FUNCTION "logloom_private"."filter_by_scan_slot"(jsonb, text);

DROP FUNCTION "logloom_private"."first_records_sql"(text, logloom_private.compiled_query, integer, text, timestamp WITH time zone, uuid, text[], bigint);

DROP FUNCTION "logloom_private"."has_partials"(logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."is_cheap"(bigint, double precision);

DROP FUNCTION "logloom_private"."is_data_error"(text);

DROP FUNCTION "logloom_private"."is_origin"(text);

DROP FUNCTION "logloom_private"."is_service_role"();

DROP FUNCTION "logloom_private"."job_deadline"(timestamp WITH time zone);

DROP FUNCTION "logloom_private"."letter_cases"();

DROP FUNCTION "logloom_private"."log_fields_sample_sql"(text, logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."log_fields_sql"(text, logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."log_tail_rows_sql"(text, logloom_private.compiled_query, integer, bigint, uuid, bigint, bigint);

DROP FUNCTION "logloom_private"."log_view_of"(logloom.log_views);

DROP FUNCTION "logloom_private"."look_for_canary"(uuid, text);

DROP FUNCTION "logloom_private"."mailbox_digest"(text);

DROP FUNCTION "logloom_private"."manage_partitions"();

DROP FUNCTION "logloom_private"."masked_sql"(logloom_private.compiled_query, text);

DROP FUNCTION "logloom_private"."milliseconds_since"(timestamp WITH time zone);

DROP FUNCTION "logloom_private"."no_bits"(integer);

DROP FUNCTION "logloom_private"."numbers_aggregate_sql"(jsonb, bigint);

DROP FUNCTION "logloom_private"."operations"();

DROP FUNCTION "logloom_private"."page_sql"(logloom_private.compiled_query, text, text, integer, bigint, boolean, text);

DROP FUNCTION "logloom_private"."partial_value"(text, integer, numeric, numeric, numeric, numeric, numeric);

DROP FUNCTION "logloom_private"."partition_health"();

DROP FUNCTION "logloom_private"."partition_name"(date);

DROP FUNCTION "logloom_private"."pending_alert_groups"(logloom_private.alert_rounds);

DROP FUNCTION "logloom_private"."provide_partitions"();

DROP FUNCTION "logloom_private"."query_aggregate_sql"(jsonb, text);

DROP FUNCTION "logloom_private"."query_any_text_sql"(jsonb, text);

DROP FUNCTION "logloom_private"."query_check_like"(logloom_private.query_state, jsonb, text, integer);

DROP FUNCTION "logloom_private"."query_excerpt"(text);

DROP FUNCTION "logloom_private"."query_group_sql"(jsonb, text);

DROP FUNCTION "logloom_private"."query_has_wildcard"(text);

DROP FUNCTION "logloom_private"."query_is_adjacent"(logloom_private.query_state, integer);

DROP FUNCTION "logloom_private"."query_is_term"(text);

DROP FUNCTION "logloom_private"."query_like_record"(text);

DROP FUNCTION "logloom_private"."query_like_text"(text);

DROP FUNCTION "logloom_private"."query_meant_aggregate"(text);

DROP FUNCTION "logloom_private"."query_meant_term"(text, text);

DROP FUNCTION "logloom_private"."query_parse_aggregate"(logloom_private.query_state, jsonb);

DROP FUNCTION "logloom_private"."query_parse_aggregates"(logloom_private.query_state, jsonb);

DROP FUNCTION "logloom_private"."query_parse_stage"(logloom_private.query_state, jsonb);

DROP FUNCTION "logloom_private"."query_regex"(text, integer);

DROP FUNCTION "logloom_private"."query_regex_literal"(text);

DROP FUNCTION "logloom_private"."query_regex_set"(text, boolean);

DROP FUNCTION "logloom_private"."read_log_changes"(logloom_private.reading_scope, text, text, text, integer);

DROP FUNCTION "logloom_private"."read_log_fields"(logloom_private.reading_scope, text, text, text);

DROP FUNCTION "logloom_private"."reads_again"(text, text);

DROP FUNCTION "logloom_private"."record_hops"(jsonb);

DROP FUNCTION "logloom_private"."record_job"(text, timestamp WITH time zone, text);

DROP FUNCTION "logloom_private"."records_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone, text[]);

DROP FUNCTION "logloom_private"."remainder_name"(date);

DROP FUNCTION "logloom_private"."removed_records_sql"(text);

DROP FUNCTION "logloom_private"."resolve_incidents"(uuid, timestamp WITH time zone, jsonb[], timestamp WITH time zone);

DROP FUNCTION "logloom_private"."retry_delay"(integer, integer);

DROP FUNCTION "logloom_private"."rough_shape_sql"(text);

DROP FUNCTION "logloom_private"."rows_end"(text);

DROP FUNCTION "logloom_private"."rows_sql"(text, timestamp WITH time zone, timestamp WITH time zone, text, text[], text, integer, bigint);

DROP FUNCTION "logloom_private"."saved_search_of"(logloom.saved_searches);

DROP FUNCTION "logloom_private"."scanned_tenant_sql"(text);

DROP FUNCTION "logloom_private"."seal_step"();

DROP FUNCTION "logloom_private"."sealed_counts_sql"(text, logloom_private.compiled_query, timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."search_slot_key"(text, integer);

DROP FUNCTION "logloom_private"."sees_addresses"(boolean, logloom_private.reading_scope);

DROP FUNCTION "logloom_private"."service_counts_sql"(text, logloom_private.compiled_query, tstzrange, bigint);

DROP FUNCTION "logloom_private"."service_operations"();

DROP FUNCTION "logloom_private"."settle_delivered"(logloom.log_streams, integer, jsonb, integer);

DROP FUNCTION "logloom_private"."settle_refused"(logloom.log_streams, integer, text, jsonb);

DROP FUNCTION "logloom_private"."settle_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean);

DROP FUNCTION "logloom_private"."silence_reason"(text, interval, interval);

DROP FUNCTION "logloom_private"."silence_since"(timestamp WITH time zone, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."sized_rows_sql"(text, text, bigint, text);

DROP FUNCTION "logloom_private"."span_start"(date, integer);

DROP FUNCTION "logloom_private"."staged_sql"(logloom_private.compiled_query, text);

DROP FUNCTION "logloom_private"."stats_aggregates"(logloom_private.compiled_query);

DROP FUNCTION "logloom_private"."step_at"(logloom_private.blocks, timestamp WITH time zone);

DROP FUNCTION "logloom_private"."stream_delay"(integer, integer);

DROP FUNCTION "logloom_private"."stream_maker"();

DROP FUNCTION "logloom_private"."stream_secret_names"(text);

DROP FUNCTION "logloom_private"."take_archive_erasure"(uuid);

DROP FUNCTION "logloom_private"."take_search_slot"(text);

DROP FUNCTION "logloom_private"."template_of"(text);

DROP FUNCTION "logloom_private"."tenant_rows_sql"(text, timestamp WITH time zone, timestamp WITH time zone, text, text, text);

DROP FUNCTION "logloom_private"."tree_without_any"(jsonb);

DROP FUNCTION "logloom_private"."trim_space"(text);

DROP FUNCTION "logloom_private"."up_since"();

DROP FUNCTION "logloom_private"."utc_day"(timestamp WITH time zone);

DROP FUNCTION "logloom_private"."waits_for_archive"(uuid);

DROP FUNCTION "logloom_private"."wake_archive"();

DROP FUNCTION "logloom_private"."watermark"(timestamp WITH time zone);

DROP FUNCTION "logloom_private"."within_sql"(jsonb, text, text);

DROP FUNCTION "logloom_private"."word_template"(jsonb);

DROP FUNCTION "logloom_private"."written_number"(text);

DROP FUNCTION "public"."acknowledge_alert_incidents"(uuid[]);

DROP FUNCTION "public"."list_log_fields"(text, text, text);

DROP FUNCTION "public"."log_changes"(text, text, text, integer);

DROP FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean);

DROP PROCEDURE "logloom_private"."run_retention"(date);

DROP TYPE "public"."logloom_alert_acknowledgement";

ALTER TYPE "logloom_private"."compiled_query" DROP ATTRIBUTE "masked_tree" CASCADE;

ALTER TYPE "logloom_private"."ingest_state" DROP ATTRIBUTE "batch_max_bytes" CASCADE;

ALTER TYPE "logloom_private"."ingest_state" DROP ATTRIBUTE "batch_max_events" CASCADE;

ALTER TABLE "logloom_private"."settings"
  ALTER COLUMN "queue_hard_limit_bytes" DROP DEFAULT;

ALTER TABLE "logloom_private"."alert_groups"
  DROP COLUMN "number_sql";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_absent_windows";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_back_off_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_back_off";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_catch_up_limit";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_fill_budget";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_group_bytes";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_round_limit";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_step_rules";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "alert_watermark_limit";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "archive_claim_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "archive_compare_every";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "batch_max_bytes";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "batch_max_events";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "concurrent_validations";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_codes_per_address";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_codes_per_mailbox";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_codes_per_tenant";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_interval";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "confirmation_tries";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "count_compact_rows";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "count_service_length_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "count_services_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "dry_runs_kept";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "export_page_records";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "idempotency_key_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "ingest_token_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "job_failure_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "job_history_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "job_run_budget";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "list_limit_default";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "list_limit_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_claim_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_history_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_retry_base";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_retry_factor";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_retry_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "notification_test_interval";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "partition_drop_attempts";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "portal_code_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "preview_alerts";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "preview_span";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "purge_step_rows";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "quick_query_bytes";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "rate_hold_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "retention_step_tenants";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "seal_again_after";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "seal_pause";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_blocks_at_once";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_buckets_default";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_buckets_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_days_at_once";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_default_range";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_pool_share";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_sample_bytes";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_sample_cells";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_sample_fields";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_sample_records";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_sample_values";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_series";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "search_stage_templates";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stored_days_counted";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_claim_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_failure_lifetime";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_gives_up_after";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_pause_shown";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_retry_base";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_retry_max";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "stream_turn";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "tail_backlog_span";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "tail_page_time";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "token_leeway";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "verify_rest";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "verify_step_records";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "webhook_secret_overlap";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_flip_lock_timeout";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_meter_batches";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_run_budget";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_run_limit";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_step_batches";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_step_bytes";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_truncate_age";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_truncate_events";

ALTER TABLE "logloom_private"."settings"
  DROP COLUMN "writer_truncate_lock_timeout";

DROP TABLE "logloom_private"."job_heartbeats";

DROP TABLE "logloom_private"."job_limits";

CREATE TABLE "logloom_private"."jobs" (
  "name"              text                     NOT NULL,
  "lane"              text                     NOT NULL,
  "step"              text                     NOT NULL,
  "every"             interval                 NOT NULL,
  "silence"           interval                 NOT NULL,
  "failures_allowed"  integer                  NOT NULL DEFAULT 2,
  "is_paused"         boolean                  NOT NULL DEFAULT false,
  "next_at"           timestamp with time zone NOT NULL DEFAULT now(),
  "last_started_at"   timestamp with time zone,
  "last_succeeded_at" timestamp with time zone,
  "last_duration_ms"  double precision,
  "last_failed_at"    timestamp with time zone,
  "last_error"        text,
  "failures"          integer                  NOT NULL DEFAULT 0,
  "made_at"           timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT "jobs_lane_is_known" CHECK ((lane = ANY (ARRAY['write'::text, 'send'::text, 'tend'::text, 'ingest'::text]))),
  CONSTRAINT "jobs_limits_are_positive" CHECK (((LEAST(every, silence) > '00:00:00'::interval) AND (failures_allowed >= 0))),
  CONSTRAINT "jobs_pkey" PRIMARY KEY (name)
);

ALTER TABLE "logloom_private"."jobs"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."jobs"
  FORCE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."jobs"
  SET (autovacuum_analyze_threshold=10000);

CREATE TABLE "logloom_private"."rule_values" (
  "rule_id"    uuid                     NOT NULL,
  "window_end" timestamp with time zone NOT NULL,
  "values"     jsonb                    NOT NULL,
  "others"     double precision,
  CONSTRAINT "rule_values_pkey" PRIMARY KEY (rule_id, window_end)
);

ALTER TABLE "logloom_private"."rule_values"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."rule_values"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."storage_hours" (
  "hour"        timestamp with time zone NOT NULL,
  "measured_at" timestamp with time zone NOT NULL,
  "bytes"       bigint                   NOT NULL,
  CONSTRAINT "storage_hours_pkey" PRIMARY KEY (hour)
);

ALTER TABLE "logloom_private"."storage_hours"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."storage_hours"
  FORCE ROW LEVEL SECURITY;

CREATE TABLE "logloom_private"."storage" (
  "singleton"         boolean                  NOT NULL DEFAULT true,
  "measured_at"       timestamp with time zone,
  "bytes"             bigint                   NOT NULL DEFAULT 0,
  "reusable_bytes"    bigint                   NOT NULL DEFAULT 0,
  "is_dropping"       boolean                  NOT NULL DEFAULT false,
  "is_stuck"          boolean                  NOT NULL DEFAULT false,
  "limit_day"         date,
  "overtakes_archive" boolean                  NOT NULL DEFAULT false,
  "dropped_day"       date,
  "told_percent"      integer                  NOT NULL DEFAULT 0,
  CONSTRAINT "storage_has_one_row" CHECK (singleton),
  CONSTRAINT "storage_pkey" PRIMARY KEY (singleton)
);

ALTER TABLE "logloom_private"."storage"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom_private"."storage"
  FORCE ROW LEVEL SECURITY;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "end_told_at" timestamp WITH time zone;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "assigned_to" text;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "assigned_at" timestamp WITH time zone;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "assigned_by" text;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "note" text;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "noted_at" timestamp WITH time zone;

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "noted_by" text;

ALTER TABLE "logloom"."alert_rules"
  ADD COLUMN "baseline_days" integer;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "last_answer" text;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "is_proven" boolean NOT NULL DEFAULT false;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "failing_told_at" timestamp WITH time zone;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "test_answer" text;

ALTER TABLE "logloom"."plans"
  ADD COLUMN "max_baseline_rules" integer NOT NULL DEFAULT 10;

ALTER TABLE "logloom_private"."alert_groups"
  ADD COLUMN "parts" text[];

ALTER TABLE "logloom_private"."alert_groups"
  ADD COLUMN "turn_at" timestamp WITH time zone;

ALTER TABLE "logloom_private"."alert_partials"
  ADD COLUMN "part" smallint NOT NULL DEFAULT 1;

ALTER TABLE "logloom_private"."alert_plans"
  ADD COLUMN "results" jsonb;

ALTER TABLE "logloom_private"."alert_rounds"
  ADD COLUMN "staged_by" integer;

ALTER TABLE "logloom_private"."alert_rounds"
  ADD COLUMN "rules_through" uuid;

ALTER TABLE "logloom_private"."installation"
  ADD COLUMN "migrated_at" timestamp WITH time zone NOT NULL DEFAULT now();

ALTER TABLE "logloom_private"."installation"
  ADD COLUMN "cursor_key" bytea NOT NULL DEFAULT (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

ALTER TABLE "logloom_private"."installation"
  ADD COLUMN "project_url" text;

ALTER TABLE "logloom_private"."installation"
  ADD COLUMN "other_url" text;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "max_storage_bytes" bigint;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "operators_tenant" text;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "storage_policy" text NOT NULL DEFAULT 'drop_oldest'::text;

ALTER TABLE "logloom_private"."settings"
  ALTER COLUMN "queue_hard_limit_bytes" DROP NOT NULL;

ALTER TABLE "logloom_private"."settings"
  ALTER COLUMN "writer_guard_silence" SET DEFAULT '00:00:20'::interval;

CREATE TYPE "logloom_private"."alert_band" AS (
  "window_end" timestamp WITH time zone,
  "group"      jsonb,
  "usual"      double precision,
  "threshold"  double precision
);

ALTER TYPE "logloom_private"."lock_name" ADD VALUE 'lane' AFTER 'archive';


SET local check_function_bodies = off;

CREATE TYPE "logloom_private"."page_cursor" AS (
  "order"           text,
  "ts"              timestamp WITH time zone,
  "id"              uuid,
  "ts_from"         timestamp WITH time zone,
  "ts_to"           timestamp WITH time zone,
  "now"             timestamp WITH time zone,
  "records_left"    integer,
  "received_before" timestamp WITH time zone
);

CREATE TYPE "logloom_private"."reader_kind" AS ENUM (
  'token',
  'key',
  'portal_session',
  'view'
);

CREATE TYPE "logloom_private"."sql_source" AS (
  "from_sql"  text,
  "where_sql" text,
  "order_sql" text,
  "max_rows"  bigint
);

CREATE TYPE "logloom_private"."tenant_work" AS (
  "id"           uuid,
  "tenant_id"    text,
  "due_at"       timestamp WITH time zone,
  "is_under_way" boolean
);

CREATE TYPE "public"."logloom_alert_preview_band" AS (
  "ts"        timestamp WITH time zone,
  "usual"     double precision,
  "threshold" double precision
);

ALTER TYPE "logloom_private"."counted_source" ALTER ATTRIBUTE "rows_sql" TYPE logloom_private.sql_source CASCADE;

ALTER TYPE "logloom_private"."ingest_state" ADD ATTRIBUTE "storage_is_full" boolean CASCADE;

ALTER TYPE "logloom_private"."reading_scope" ALTER ATTRIBUTE "kind" TYPE logloom_private.reader_kind CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "assigned_at" timestamp WITH time zone CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "assigned_by" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "assigned_to" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "noted_at" timestamp WITH time zone CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "noted_by" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident" ADD ATTRIBUTE "note" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "assigned_at" timestamp WITH time zone CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "assigned_by" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "assigned_to" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "noted_at" timestamp WITH time zone CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "noted_by" text CASCADE;

ALTER TYPE "public"."logloom_alert_incident_details" ADD ATTRIBUTE "note" text CASCADE;

ALTER TYPE "public"."logloom_alert_preview" ADD ATTRIBUTE "band" public.logloom_alert_preview_band[] CASCADE;

ALTER TYPE "public"."logloom_alert_preview_group" ADD ATTRIBUTE "band" public.logloom_alert_preview_band[] CASCADE;

ALTER TYPE "public"."logloom_alert_rule" ADD ATTRIBUTE "baseline" jsonb CASCADE;

ALTER TYPE "public"."logloom_alert_rule" ADD ATTRIBUTE "late_seconds" double precision CASCADE;

ALTER TYPE "public"."logloom_log_changes" ADD ATTRIBUTE "before_to" timestamp WITH time zone CASCADE;

ALTER TYPE "public"."logloom_log_field" ADD ATTRIBUTE "exact" boolean CASCADE;

ALTER TYPE "public"."logloom_log_field" ADD ATTRIBUTE "records" bigint CASCADE;

ALTER TYPE "public"."logloom_log_overview" ADD ATTRIBUTE "silent_hosts" text[] CASCADE;

ALTER TYPE "public"."logloom_log_service" ADD ATTRIBUTE "errors_before_lately" bigint CASCADE;

ALTER TYPE "public"."logloom_log_service" ADD ATTRIBUTE "errors_over_time" bigint[] CASCADE;

ALTER TYPE "public"."logloom_log_service" ADD ATTRIBUTE "records_before_lately" bigint CASCADE;

ALTER TYPE "public"."logloom_log_service" ADD ATTRIBUTE "records_over_time" bigint[] CASCADE;

ALTER TYPE "public"."logloom_log_stream" ADD ATTRIBUTE "last_answer" text CASCADE;

ALTER TYPE "public"."logloom_log_stream" ADD ATTRIBUTE "test_answer" text CASCADE;

CREATE OR REPLACE FUNCTION logloom_private.abolish_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant_deletion
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- A repeated call returns the running deletion.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    -- resolve_tenant_to_change would advise to leave the id out, but here it is required.
    if not logloom_private.is_service_role()
      and p_tenant_id <> logloom_private.resolve_tenant_to_change()
    then
      perform logloom_private.refuse('tenants.deletes_another');
    end if;
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    -- Another request may have deleted the tenant meanwhile.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = v_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.absent_value (
  p_aggregate text,
  p_results   jsonb
)
  RETURNS double precision
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN
  ((NOT COALESCE((p_results ? 'math'::text), false)) AND (COALESCE((((p_results -> 'aggregates'::text) -> '-1'::integer) ->> 'kind'::text), p_aggregate) = ANY (ARRAY['count'::text,
  'count_distinct'::text, 'rate'::text, 'sum'::text]))) THEN 0 ELSE NULL::integer END;

CREATE OR REPLACE FUNCTION logloom_private.addresses_in_incidents (
  p_tenant_id    text,
  p_incident_ids uuid[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return logloom_private.addresses_of_users(
    v_tenant_id,
    array(
      select distinct u.id
      from logloom.alert_incidents i
      cross join lateral (
        values (i.acknowledged_by), (i.assigned_to), (i.assigned_by), (i.noted_by)
      ) u (id)
      where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids) and u.id is not null
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.addresses_of_users (
  p_tenant_id text,
  p_user_ids  text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(
      jsonb_object_agg(i.id, coalesce(u.email, m.email)) filter (
        where coalesce(u.email, m.email) is not null
      ),
      '{}'
    )
    from unnest(p_user_ids) i (id)
    left join logloom_private.auth_users_by_id(p_user_ids) u on u.user_id = i.id
    left join logloom.tenant_members m on m.tenant_id = p_tenant_id and m.user_id = i.id
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.advance_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_page_time constant interval := (select s.search_page_time from logloom_private.settings s);
  v_deadline timestamptz := clock_timestamp() + v_page_time;
  v_steps bigint := 4;
  v_step_last bigint;
  v_left bigint;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_has_moved boolean := false;
  v_records integer := 4;
  v_began_at timestamptz;
begin
  begin
    while p_tail.first <= p_last loop
      v_step_last := least(p_tail.first + v_steps - 1, p_last);
      v_left := p_limit + 1 - cardinality(p_tail.logs);
      for v_fits in 0..1 loop
        execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq) from ('
          || logloom_private.log_tail_sql(
            p_tenant_id, p_query, v_left::integer, p_tail.first, p_tail.id, v_step_last,
            case v_fits when 0 then v_bytes * v_left / (p_limit + 1)
              else v_bytes - logloom_private.answered_bytes(p_tail.logs) end,
            v_fits = 1
          )
          || ') r'
        into v_found, v_write_seqs;
        exit when array_position(v_found, null) is null;
      end loop;
      v_has_moved := true;
      if array_position(v_found, null) is not null then
        v_found := array_remove(v_found, null);
      end if;
      if cardinality(p_tail.logs) + cardinality(v_found) > p_limit then
        v_found := v_found[1:p_limit - cardinality(p_tail.logs)];
      end if;
      p_tail.logs := case when p_tail.logs = '{}' then v_found else p_tail.logs || v_found end;
      if cardinality(v_found) < cardinality(v_write_seqs) then
        p_tail.more := true;
        -- Continue after the last record that was found in this step. If none fitted in the page,
        -- continue at the same place.
        if cardinality(v_found) > 0 then
          p_tail.first := v_write_seqs[cardinality(v_found)];
          p_tail.id := v_found[cardinality(v_found)].id;
        end if;
        v_found := null;
        return p_tail;
      end if;
      v_found := null;
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
  -- The search was cancelled: keep the records found so far. If there are none, read a few records
  -- without a timeout.
  v_deadline := clock_timestamp() + v_page_time;
  while not v_has_moved or (clock_timestamp() < v_deadline and cardinality(p_tail.logs) = 0) loop
    v_began_at := clock_timestamp();
    p_tail := logloom_private.examine_log_tail(
      p_tenant_id, p_query, least(v_records, p_limit), p_last, p_tail
    );
    v_has_moved := true;
    exit when not p_tail.more;
    -- No timeout stops the next read, so it must be small enough to end in time.
    if clock_timestamp() - v_began_at < v_page_time / 8 then
      v_records := least(v_records * 2, p_limit);
    end if;
  end loop;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_catch_up_limit()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '01:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.alert_condition_holds (
  p_value      double precision,
  p_comparison text,
  p_threshold  double precision
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN
  COALESCE(CASE p_comparison WHEN 'gt'::text THEN (p_value > p_threshold) WHEN 'gte'::text THEN (p_value >= p_threshold) WHEN 'lt'::text THEN (p_value < p_threshold) WHEN
  'lte'::text THEN (p_value <= p_threshold) WHEN 'eq'::text THEN (p_value = p_threshold) WHEN 'neq'::text THEN (p_value <> p_threshold) ELSE NULL::boolean END, false);

CREATE OR REPLACE FUNCTION logloom_private.alert_entry_of (
  p_row            logloom.alert_history,
  p_resolved_at    timestamp with time zone,
  p_sees_addresses boolean
)
  RETURNS public.logloom_alert_history_entry
  LANGUAGE sql
  STABLE
RETURN ROW((p_row).alert_id, (p_row).rule_id, (p_row).tenant_id, (p_row).triggered_at, (p_row).value, (p_row).threshold, ((p_row).acknowledged_at IS
  NOT NULL),
  (p_row).acknowledged_at,
  (p_row).acknowledged_by,
  ((p_row).notification_sent_at IS NOT NULL),
  (p_row).notification_sent_at,
  CASE WHEN p_sees_addresses THEN (p_row).notification_channels ELSE '{}'::text[] END,
  CASE WHEN p_sees_addresses THEN (p_row).notification_error ELSE NULL::text END,
  (p_row).window_start, (p_row).window_end, (p_row)."group", (p_row).incident_id, p_resolved_at, (p_row).silence_id, (p_row).absent);

CREATE OR REPLACE FUNCTION logloom_private.alert_group_bytes()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1024;

CREATE OR REPLACE FUNCTION logloom_private.alert_health (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limit constant interval := logloom_private.alert_round_limit();
  v_round logloom_private.alert_rounds;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
  v_late_rules bigint;
  v_late interval;
  v_reason text;
begin
  -- A round that does not end is as late as one that does not begin.
  select r.* into v_round from logloom_private.alert_rounds r;
  -- Computes late_seconds() without a call for each rule.
  select count(*) filter (where l.late > v_limit), max(l.late)
  into v_late_rules, v_late
  from logloom.alert_rules r
  cross join lateral (
    select
      v_round.window_end - greatest(r.last_evaluated_at, date_trunc('minute', r.asked_at)) as late
  ) l
  where r.enabled;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > logloom_private.alert_watermark_limit();
  if v_waits then
    v_reason := 'Rules wait until all acknowledged events are visible';
  elsif v_has_rules and v_round.window_end is not null
    and logloom_private.silence_since(v_round.window_end, p_now) > v_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_round.window_end, p_now),
      v_limit
    );
  elsif v_late_rules > 0 then
    v_reason := format(
      '%s alert rules are late, by up to %s: list_alert_rules shows late_seconds',
      v_late_rules, v_late
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', case when v_round.finished_at is not null then v_round.window_end end,
    'late_rules', v_late_rules,
    'late_seconds', greatest(coalesce(extract(epoch from v_late)::double precision, 0), 0)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_incident_state (
  p_resolved_at     timestamp with time zone,
  p_acknowledged_at timestamp with time zone
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (p_resolved_at IS NOT NULL) THEN 'resolved'::text WHEN (p_acknowledged_at IS NOT NULL) THEN 'acknowledged'::text ELSE 'open'::text END;

CREATE OR REPLACE FUNCTION logloom_private.alert_incident_of (
  p_row       logloom.alert_incidents,
  p_addresses jsonb
)
  RETURNS public.logloom_alert_incident
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_row).incident_id, (p_row).tenant_id, (p_row).rule_id, (p_row).rule_name, (p_row).query_dsl, (p_row).window_minutes, (p_row)."group",
  logloom_private.alert_incident_state((p_row).resolved_at, (p_row).acknowledged_at),
  (p_row).opened_at,
  (p_row).last_fired_at,
  (p_row).resolved_at,
  (p_row).resolution,
  (p_row).fired_count,
  (p_row).value,
  (p_row).peak_value,
  (p_row).threshold,
  ((p_row).comparison)::public.logloom_alert_comparison,
  (p_row).acknowledged_at,
  COALESCE((p_addresses ->> (p_row).acknowledged_by), (p_row).acknowledged_by),
  (p_row).assigned_at,
  COALESCE((p_addresses ->> (p_row).assigned_by), (p_row).assigned_by),
  COALESCE((p_addresses ->> (p_row).assigned_to), (p_row).assigned_to), (p_row).noted_at, COALESCE((p_addresses ->> (p_row).noted_by), (p_row).noted_by), (p_row).note);

CREATE OR REPLACE FUNCTION logloom_private.alert_needs (
  p_round logloom_private.alert_rounds
)
  RETURNS TABLE (
    group_id    bigint,
    needed_from timestamp with time zone,
    is_due      boolean,
    is_new      boolean,
    due_at      timestamp with time zone
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    r.group_id,
    min(
      greatest(
        least(
          r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
        ),
        p_round.window_end - r.delay - logloom_private.alert_catch_up_limit()
      ) - make_interval(mins => r.window_minutes)
    ),
    bool_or(
      r.asked_at < p_round.window_end - r.delay
      and r.last_evaluated_at is distinct from p_round.window_end
    ),
    bool_and(r.last_evaluated_at is null),
    min(coalesce(r.last_evaluated_at, r.asked_at))
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_partials_sql (
  p_source text,
  p_filter text,
  p_parts  text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Nearly all groups have one part that counts every record, and need no join.
  v_is_plain constant boolean := cardinality(p_parts) = 1 and p_parts[1] like 'true, %';
begin
  -- "offset 0": the number is computed once per record instead of once per aggregate.
  return format(
    'select m.group_id, m.minute, %s as part, count(*) as events, count(m.number) as numbers, '
      || 'sum(m.number) as total, min(m.number) as least, max(m.number) as greatest '
      || 'from (select l.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
      || '%s as number from (%s) l %s where (%s) offset 0) m group by m.group_id, m.minute',
    case when v_is_plain then '1' else 'm.part' end,
    case when v_is_plain then substr(p_parts[1], 7) else 'p.part, p.number' end,
    p_source,
    case when not v_is_plain then format(
      'join lateral (values %s) p (part, counts, number) on p.counts',
      (
        select string_agg(format('(%s, %s)', p.n, p.sql), ', ' order by p.n)
        from unnest(p_parts) with ordinality p (sql, n)
      )
    ) end,
    p_filter
  ) || case when v_is_plain then '' else ', m.part' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.add_alert_partials_sql (
  p_source text,
  p_group  logloom_private.alert_groups
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN
  (((((('insert into logloom_private.alert_partials as p '::text || '(group_id, minute, part, events, numbers, total, least, greatest) '::text) ||
  logloom_private.alert_partials_sql(p_source, (p_group).filter, (p_group).parts)) || ' on conflict (group_id, minute, part) do update set '::text) ||
  'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '::text) || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '::text) ||
  'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)'::text);

CREATE OR REPLACE FUNCTION logloom_private.alert_parts (
  p_query logloom_private.compiled_query
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select case when a.item ? 'condition'
        then logloom_private.query_sql(a.item -> 'condition', 'l') else 'true' end
      || ', ' || case when a.item ->> 'kind' in ('count', 'rate') then 'null::numeric'
        else 'logloom_private.json_number('
          || logloom_private.query_value_sql(a.item -> 'field', 'l') || ')' end
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query))
      with ordinality a (item, n)
    order by a.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_piece_sql (
  p_tenant_id    text,
  p_from         timestamp with time zone,
  p_ts           timestamp with time zone,
  p_id           uuid,
  p_limit        integer,
  p_staged_after bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_to constant timestamptz := p_ts + interval '1 microsecond';
  v_rows logloom_private.sql_source := logloom_private.tenant_rows_sql(
    p_tenant_id, p_from, v_to,
    concat_ws(
      ' and ', 'l.write_seq > ' || p_staged_after,
      format('(l.ts, l.id) < (%L::timestamptz, %L::uuid)', p_ts, p_id)
    ),
    case when p_staged_after is null then 'logloom.logs' else 'pg_temp.alert_writes' end
  );
begin
  v_rows.order_sql := 'l.ts desc, l.id desc';
  v_rows.max_rows := p_limit;
  if p_staged_after is null and (
    logloom_private.reads_sealed(p_tenant_id, p_from, v_to)
    -- Otherwise the rows may be sealed by the time this statement runs.
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s)
  ) then
    v_rows := logloom_private.with_sealed_sql(v_rows, format(
      'logloom_private.sealed_page(%L, %L, %L, %L, %L, %L, %L, %L)',
      p_tenant_id, p_from, v_to, '{"type": "all"}', p_limit, 'desc', p_ts, p_id
    ));
  end if;
  return 'select l.* ' || logloom_private.source_sql(v_rows);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_round_limit()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:05:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_for (
  p_row            logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id        uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = p_view_id
  );
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- Values from before the view last changed are not shown.
  if p_view_id is not null
    and (p_row.last_evaluated_at > greatest(p_row.asked_at, v_shows_since)) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
    p_row.asked_at := greatest(p_row.asked_at, v_shows_since);
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_silence_state (
  p_starts_at  timestamp with time zone,
  p_ends_at    timestamp with time zone,
  p_expired_at timestamp with time zone
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN CASE WHEN ((p_expired_at IS NOT NULL) OR (p_ends_at <= now())) THEN 'expired'::text WHEN (p_starts_at > now()) THEN 'scheduled'::text ELSE 'active'::text END;

CREATE OR REPLACE FUNCTION logloom_private.alert_silence_of (
  p_row logloom.alert_silences
)
  RETURNS public.logloom_alert_silence
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_row).silence_id, (p_row).tenant_id, (jsonb_strip_nulls(jsonb_build_object('rule_id', (p_row).rule_id)) || CASE WHEN ((p_row)."group" IS NULL) THEN '{}'::jsonb ELSE
  jsonb_build_object('group', (p_row)."group") END),
  (p_row).starts_at,
  (p_row).ends_at,
  logloom_private.alert_silence_state((p_row).starts_at, (p_row).ends_at, (p_row).expired_at),
  (p_row).comment, (p_row).created_by, (p_row).created_at, (p_row).expired_at, (p_row).expired_by);

CREATE OR REPLACE FUNCTION logloom_private.alert_step_rules()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1000;

CREATE OR REPLACE FUNCTION logloom_private.alert_watermark_limit()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:02:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.alerts_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('alerts.query_reads_what_is_hidden', 400, 'The query reads fields that the view %s hides',
      'Remove these fields from the query, or bind the rule to another view.',
      'The query of a rule in a view names a hidden field, an attribute that contains one, or '
        '`any`.'),
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
      'The value of the query is on the left: gt fires when the value is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook, slack, discord, teams, '
        'pagerduty', 'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is not an email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is not an https URL',
      'Send an https URL without a user name or password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for email, webhook_url for webhook, and in p_secrets slack_url, discord_url, '
        'teams_url or pagerduty_key for the others. Or disable the rule.', null),
    ('alerts.alert_rules_webhook_template_is_valid', 400,
      'Invalid p_notification_config: webhook_template is a text of 1 to 4000 characters, '
        'webhook_template_type is json or text', 'Leave both out to send the default payload.',
      null),
    ('alerts.alert_rules_for_minutes_are_valid', 400, 'Invalid p_for_minutes: 0 to 1440',
      'The longest time is a day.', null),
    ('alerts.alert_rules_on_absent_is_known', 400, 'Invalid p_on_absent: ignore or fire',
      'fire: the rule also fires when a group stops sending.', null),
    ('alerts.alert_rules_baseline_is_valid', 400,
      'Invalid p_baseline: days 3 to 7, deviations 0.01 to 1000, p_comparison not eq or neq',
      'Send {"days": 7, "deviations": 4}, or {} to remove the baseline.', null),
    ('alerts.baseline_contradicts_threshold', 400,
      'p_threshold and the deviations of p_baseline differ',
      'The threshold of a rule with a baseline counts deviations: send only one of them.', null),
    ('alerts.no_room_for_baseline', 400,
      'Plan limit exceeded: alert rules with a baseline (max %s)',
      'Remove the baseline of another rule, or choose a larger plan.',
      '`create_alert_rule`, `update_alert_rule`: the plan''s `max_baseline_rules`.'),
    ('alerts.alert_rules_group_wait_is_valid', 400, 'Invalid p_group_wait_seconds: 0 to 3600',
      'The longest wait is an hour.', null),
    ('alerts.absent_needs_groups', 400, 'p_on_absent "fire" needs a query with "by"',
      'Group by the field whose values must keep sending, or compare count() with "lt".', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id from list_alert_history.',
      null),
    ('alerts.matcher_is_invalid', 400,
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)',
      'Send {} for all alerts of the tenant.', null),
    ('alerts.silence_ends_too_early', 400, 'Invalid p_to: after p_from, and in the future',
      'Send the time when alerts are to be sent again.', null),
    ('alerts.silence_comment_is_too_long', 400, 'Invalid p_comment: at most 2000 characters',
      'Shorten it.', null),
    ('alerts.no_room_for_silence', 400, 'Plan limit exceeded: alert silences (max %s)',
      'Expire a silence that is no longer needed, or choose a larger plan.',
      '`create_alert_silence`: the plan''s `max_alert_silences`.'),
    ('alerts.silence_not_found', 404, 'Silence not found',
      'Send a silence_id from list_alert_silences.', null),
    ('alerts.incident_not_found', 404, 'Incident not found',
      'Send an incident_id from list_alert_incidents.', null),
    ('alerts.incident_state_is_unknown', 400,
      'Invalid p_state: one of open, acknowledged, resolved, unresolved',
      'Leave it out for all incidents.', null),
    ('alerts.too_many_incidents', 400, 'Invalid p_incident_ids: 1 to 1000 ids',
      'Change the others in another call.', null),
    ('alerts.no_change_of_incident', 400,
      'Nothing to change: send p_acknowledged, p_assigned_to or p_note',
      'An empty p_assigned_to or p_note removes it.', null),
    ('alerts.assignee_is_unknown', 400,
      'Invalid p_assigned_to: not the user_id or email address of one member',
      'list_tenant_members shows who can have an incident: all but viewers. '
        'Without members, only you.', null),
    ('alerts.incident_note_is_too_long', 400, 'Invalid p_note: at most 2000 characters',
      'Shorten it.', null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule takes a filter, aggregates and math, and no other stage',
      'Remove all other stages and a width such as (5m). The rule compares the last result.',
      null),
    ('alerts.preview_names_now', 400, 'No preview for a query that uses "now"',
      'Remove the times relative to now, such as ts:>now-1h: each window has its own time.',
      '`preview_alert_rule`: `now` is different in each window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, for example by service or level.',
      '`preview_alert_rule`: it took more than 15 seconds.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.any_bits (
  p_block logloom_private.blocks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  -- An object or array is tested like a record that has only this attribute.
  v_attribute_test constant text := format(
    'case when left(l.value, 1) in (''{'', ''['') then %s else %s end',
    logloom_private.query_sql(p_leaf - 'hidden', 'l'),
    logloom_private.query_text_test(p_leaf, '(l.attrs #>> ''{}'')')
  );
  v_no_fields constant text := (
    select string_agg('null::text as ' || f, ', ')
    from unnest(logloom_private.query_text_columns()) f
  );
  v_hidden constant text[] := array(select jsonb_array_elements_text(p_leaf -> 'hidden'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_column logloom_private.block_columns;
  v_values text[];
  v_codes "char"[];
  v_wide_codes smallint[];
  v_bits text;
  v_found varbit;
  v_result varbit[] := array[v_none, v_none];
begin
  if 'msg' <> all(v_hidden) then
    v_result := logloom_private.message_bits(p_block, p_leaf);
  end if;
  execute 'select string_agg(repeat(case when '
    || concat_ws(
      ' or ', 'false',
      case when 'service' <> all(v_hidden)
        then logloom_private.query_text_test(p_leaf, 'l.service') end,
      case when 'level' <> all(v_hidden)
        then logloom_private.query_text_test(p_leaf, 'l.level') end
    )
    || ' then ''1'' else ''0'' end, l.records), '''')'
    || ' from (select unnest($1) as service, unnest($2) as level, unnest($3) as records) l'
  into v_bits
  using p_block.run_services, p_block.run_levels, p_block.run_records;
  v_result := array[v_result[1] | v_bits::varbit, v_result[2] | v_bits::varbit];
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name <> 'record_bytes'
  loop
    continue when logloom_private.is_hidden(v_column.name, v_hidden);
    continue when not logloom_private.column_may_hold(
      v_column, coalesce(p_leaf -> 'template' ->> 'literal', ''),
      (p_leaf -> 'folds_case')::boolean
    );
    v_values := case v_column.kind when 'dictionary' then v_column.dictionary
      else logloom_private.column_texts(v_column) end;
    execute 'select string_agg(case when '
      || case when left(v_column.name, 5) = 'attrs' then v_attribute_test
        else logloom_private.query_text_test(p_leaf, 'l.value') end
      || ' then ''1'' else ''0'' end, '''') from (select '
      || case when left(v_column.name, 5) = 'attrs'
        then v_no_fields || ', v.value::jsonb as attrs, ' else '' end
      || 'v.value from (select unnest($1) as value) v) l'
    into v_bits
    using v_values;
    continue when strpos(v_bits, '1') = 0;
    if v_column.kind = 'dictionary' and v_column.codes is null and v_column.wide_codes is null then
      v_bits := repeat(v_bits, v_column.last - v_column.first + 1);
    elsif v_column.kind = 'dictionary' then
      v_values := string_to_array(v_bits, null);
      v_codes := v_column.codes;
      v_wide_codes := v_column.wide_codes;
      v_bits := (
        select string_agg(coalesce(v_values[coalesce(c.code + 129, c.wide_code)], '0'), '')
        from (
          select unnest(v_codes)::integer as code, unnest(v_wide_codes) as wide_code
        ) c
      );
    end if;
    v_found := (
      repeat('0', v_column.first - 1) || v_bits || repeat('0', p_block.records - v_column.last)
    )::varbit;
    v_result := array[
      v_result[1] | case when exists (
        select from unnest(v_hidden) h where starts_with(h, v_column.name || '.')
      ) then v_none else v_found end,
      v_result[2] | v_found
    ];
  end loop;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.api_key_status (
  p_revoked_at timestamp with time zone,
  p_expires_at timestamp with time zone
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN CASE WHEN (p_revoked_at IS NOT NULL) THEN 'revoked'::text WHEN (p_expires_at <= now()) THEN 'expired'::text ELSE 'active'::text END;

CREATE OR REPLACE FUNCTION logloom_private.api_keys_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('api_keys.no_room', 400, 'Plan limit exceeded: API keys (max %s)',
      'Revoke a key that is no longer needed, or choose a larger plan.',
      'The plan''s `max_api_keys`.'),
    ('api_keys.name_is_invalid', 400, 'Invalid API key name: 1 to 100 characters after trimming',
      'Name the key after the server that will use it.', null),
    ('api_keys.expires_in_the_past', 400, 'Invalid p_expires_at: it is in the past',
      'Send a later time, or leave it out for a key that does not expire.', null),
    ('api_keys.scope_is_unknown', 400, 'Invalid p_scopes: ingest, read, or both',
      'Without p_scopes a key gets ["ingest"].', null),
    ('api_keys.view_is_for_reading', 400, 'p_view_id is for API keys that only read',
      'A view limits what is read. Send p_scopes ["read"], and create another key for sending.',
      'A view together with the scope `ingest`.'),
    ('api_keys.overlap_is_out_of_range', 400, 'Invalid p_overlap_minutes: 0 to 10080',
      'Both keys work during the overlap; 10080 minutes are a week.', null),
    ('api_keys.not_active', 400, 'Invalid p_key_id: the API key is revoked or expired',
      'Create a new key.', null),
    ('api_keys.token_service_is_invalid', 400,
      'Invalid p_service: 1 to 200 characters after trimming',
      'The token can only send events of this service.', null),
    ('api_keys.token_lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 1 to %s seconds',
      'Create another token when this one has expired.',
      '`create_ingest_token`: at most 900 seconds.'),
    ('api_keys.too_many_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s)',
      'Retry-After says when the next one expires. One token can serve many pages.',
      'The plan''s `max_ingest_tokens`.'),
    ('api_keys.too_many_new_tokens', 429, 'Plan limit exceeded: ingest tokens (max %s per minute)',
      'Use a token until it expires. One token can serve many pages.',
      'The plan''s `ingest_tokens_per_minute`.'),
    ('api_keys.not_found', 404, 'API key not found', 'list_api_keys shows the keys of this tenant.',
      null);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_columns (
  p_records logloom.logs[]
)
  RETURNS json
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_keys text[] := '{}';
  v_columns text[] := '{}';
  v_key record;
  v_result json;
begin
  for v_key in select k.* from logloom_private.archive_keys(p_records) k loop
    v_keys := v_keys || v_key.key;
    v_columns := v_columns || format(
      'json_build_object(''key'', %1$L, ''kind'', %2$L, ''values'', json_agg(%3$s))',
      v_key.key, v_key.kind,
      format(
        case
          when v_key.kind in ('string', 'exact') then 'r.attrs ->> %L'
          when v_key.kind = 'json' then '(r.attrs -> %L)::text'
          else 'r.attrs -> %L'
        end,
        v_key.key
      )
    );
  end loop;
  execute format(
    'select json_build_object(%s, ''attrs'', json_build_array(%s), ''rest'', '
      || 'json_agg((r.attrs - %L::text[])::text)) from unnest($1) r',
    (
      select string_agg(
        format(
          '%1$L, json_agg(%2$s)', f.name,
          case f.type
            when 'timestamptz' then format('(extract(epoch from r.%I) * 1000000)::bigint', f.name)
            else format('r.%I', f.name)
          end
        ),
        ', ' order by f.shown
      )
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name not in ('tenant_id', 'attrs')
    ),
    array_to_string(v_columns, ', '), v_keys
  )
  into v_result
  using p_records;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_compare_every()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '24:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.archive_delay (
  p_failures integer
)
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN LEAST(('00:00:05'::interval * ((2)::double precision ^ (LEAST(p_failures, 10))::double precision)), '00:10:00'::interval);

CREATE OR REPLACE FUNCTION logloom_private.archive_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('archive.nothing_in_range', 404, 'Nothing in this range is archived',
      'list_log_archive shows the files of the archive.', null),
    ('archive.keep_days_are_out_of_range', 400, 'Invalid p_keep_days: 1 to %s',
      'You can restore the records again later.', 'At most `settings.restored_days_lifetime_max`.'),
    ('archive.too_many_days', 400, 'Plan limit exceeded: restored days (max %s, would be %s)',
      'Narrow the range, or wait until restored days expire: list_log_archive_restores shows when.',
      'The plan''s `max_restored_days` at the same time.'),
    ('archive.claim_not_found', 404, 'The claim no longer exists',
      'Another run of logloom-archive has taken over the work.',
      '`logloom-archive` took too long, and another run has taken over the work.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_has_work()
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (v_settings.archive_bucket, v_settings.archive_prefix)
    or v_bucket.problem is not null or v_bucket.checked_at is null
  then
    return v_bucket.checked_at is null or v_bucket.problem is null
      or v_bucket.checked_at < now() - interval '1 minute';
  end if;
  return v_bucket.checked_at < now() - interval '1 day'
    or v_bucket.compared_at is null or v_bucket.compared_through is not null
    or v_bucket.compared_at < now() - logloom_private.archive_compare_every()
    or exists (
      select from logloom_private.archive_garbage g where g.next_attempt_at <= clock_timestamp()
    )
    or exists (select from logloom.archive_parts p where p.newer_key is not null)
    or exists (select from logloom_private.archive_notes n where not n.is_read)
    or exists (
      select from logloom_private.archive_passes p where p.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom_private.archive_erasures e
      where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
        and e.next_attempt_at <= clock_timestamp()
    )
    or exists (
      select
      from logloom.archive_restores r
      where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_bucket logloom_private.archive_bucket;
  v_idle constant text := logloom_private.archive_is_idle();
  v_is_wanted constant boolean :=
    exists (select from logloom.plans p where p.archive_days > 0);
  v_files record;
  v_passes record;
  v_erasures record;
  v_garbage record;
  v_foreign_notes bigint;
begin
  select s.* into v_settings from logloom_private.settings s;
  select b.* into v_bucket from logloom_private.archive_bucket b;
  select
    count(*) filter (where p.status = 'verified') as files,
    count(*) filter (where p.status = 'missing') as missing,
    coalesce(sum(p.records) filter (where p.status = 'verified'), 0) as records,
    coalesce(sum(p.bytes) filter (where p.status = 'verified'), 0) as bytes
  into v_files
  from logloom.archive_parts p;
  select
    count(*) as open, count(*) filter (where p.failures > 2) as failing, min(p.began_at) as oldest
  into v_passes
  from logloom_private.archive_passes p;
  select count(*) as open, min(e.began_at) as oldest
  into v_erasures
  from logloom_private.archive_erasures e
  where e.finished_at is null and e.parts_through is not null;
  select
    count(*) filter (where g.reason <> 'later') as objects,
    count(*) filter (where g.reason = 'later') as later,
    -- Objects in the list for over an hour: the bucket was asked to delete them, and did not.
    count(*) filter (
      where g.reason <> 'later' and g.noted_at < p_now - interval '1 hour'
        and g.next_attempt_at > g.noted_at + interval '1 hour'
    ) as kept
  into v_garbage
  from logloom_private.archive_garbage g;
  select count(*) into v_foreign_notes from logloom_private.archive_notes n where not n.is_ours;
  return logloom_private.health_grade(
    null,
    concat_ws(
      '; ',
      case when v_is_wanted or v_files.files > 0 then v_idle end,
      case when v_idle is null and v_bucket.problem is not null then
        'The bucket cannot be used: see problem in logloom_private.archive_bucket'
      end,
      case when v_passes.failing > 0 then
        format(
          '%s tenants cannot be archived: see error in logloom_private.archive_passes',
          v_passes.failing
        )
      end,
      case when v_passes.oldest < p_now - v_settings.archive_grace then
        format(
          'Days have waited for the archive for over %s. Retention %s them',
          v_settings.archive_grace,
          case v_settings.archive_overtaken when 'drop' then 'drops' else 'keeps' end
        )
      end,
      case when v_erasures.oldest < p_now - interval '1 hour' then
        format('%s erasures have not reached the archive yet', v_erasures.open)
      end,
      case when v_files.missing > 0 then
        format('The bucket lacks %s files: see logloom.archive_parts', v_files.missing)
      end,
      case when v_garbage.later > 0 then
        format(
          'The bucket has %s files that are newer than the restored database: '
            'see logloom_private.archive_garbage',
          v_garbage.later
        )
      end,
      case when v_idle is null and v_bucket.problem is null and v_garbage.kept > 0 then
        format(
          'The bucket does not delete %s objects: see logloom_private.archive_garbage',
          v_garbage.kept
        )
      end,
      case when v_foreign_notes > 0 then
        format(
          'The bucket has %s notes of erasures that Logloom did not write: '
            'see logloom_private.archive_notes',
          v_foreign_notes
        )
      end
    )
  ) || jsonb_build_object(
    'files', v_files.files, 'records', v_files.records, 'bytes', v_files.bytes,
    'passes', v_passes.open, 'oldest_pass', v_passes.oldest, 'erasures', v_erasures.open,
    'garbage', v_garbage.objects, 'later', v_garbage.later
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_is_idle()
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when (select s.archive_bucket from logloom_private.settings s) is null
      then 'settings.archive_bucket is not set'
    when logloom_private.is_restored()
      then 'The database was restored from a dump and not repaired'
    when not logloom_private.archive_reads_records()
      then 'Records are sharded over nodes, which the archive does not read'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_keys (
  p_records logloom.logs[]
)
  RETURNS TABLE (
    key  text,
    kind text
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET extra_float_digits TO '1'
  AS $function$
begin
  return query
  select k.key, k.kind
  from (
    select distinct on (lower(u.key)) u.key, u.kind, u.values
    from (
      select
        a.key,
        count(*) as values,
        case count(*)
          when count(*) filter (where a.type = 'string') then 'string'
          when count(*) filter (where scale(a.number) = 0 and a.is_double) then 'integer'
          when count(*) filter (where a.is_double) then 'number'
          when case
            when max(scale(a.number)) <= 37
              and max(abs(a.number)) < power(10::numeric, 38 - max(scale(a.number)))
              then count(*) filter (where scale(a.number) = min_scale(a.number))
          end then 'exact'
          when count(*) filter (where a.type = 'boolean') then 'boolean'
          else 'json'
        end as kind
      from (
        select
          n.*,
          -- True if every reader prints the 8-byte number with the same digits.
          case
            when abs(n.number) > 9007199254740991
              or scale(n.number) > least(min_scale(n.number), 60)
              then false
            -- A double keeps every number of up to 15 digits, so there is no need to convert it.
            when scale(n.number) = 0 or scale(n.number) <= 6 and abs(n.number) < 1000000000
              then true
            else n.number::double precision::text::numeric = n.number
          end as is_double
        from (
          select
            e.key, jsonb_typeof(e.value) as type,
            case jsonb_typeof(e.value) when 'number' then e.value::numeric end as number
          from unnest(p_records) r, jsonb_each(r.attrs) e
          -- "offset 0" computes each value once.
          offset 0
        ) n
        offset 0
      ) a
      -- A longer key cannot be the name of a column.
      where octet_length(a.key) between 1 and 200
      group by a.key
    ) u
    -- Readers ignore letter case in column names.
    order by lower(u.key), u.values desc, u.key collate "C"
  ) k
  order by k.values desc, k.key collate "C"
  limit 24;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_part_work (
  p_part logloom.archive_parts
)
  RETURNS jsonb
  LANGUAGE sql
  STABLE
RETURN
  jsonb_build_object('tenant_id', (p_part).tenant_id, 'part_id', (p_part).part_id, 'key', (p_part).object_key, 'records', (p_part).records, 'bytes', (p_part).bytes, 'sha256',
  (p_part).sha256, 'first_day', (p_part).first_day, 'last_day', (p_part).last_day, 'generation', ((p_part).generation + 1));

CREATE OR REPLACE FUNCTION logloom_private.archive_places (
  p_pass logloom_private.archive_passes,
  OUT    ts timestamp with time zone[],
  OUT    ids uuid[],
  OUT    blocks bigint[],
  OUT    places integer[]
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_halvings constant integer := 1 + least(p_pass.failures, 4);
  v_filter constant text := logloom_private.archive_filter_sql(p_pass, 'r');
  v_end timestamptz := 'infinity';
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_ids uuid[];
  v_places integer[];
  v_records integer;
  v_row_sizes bigint[];
  v_sizes bigint[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  v_settings.seal_block_records := greatest(v_settings.seal_block_records >> v_halvings, 1);
  v_settings.seal_block_bytes := v_settings.seal_block_bytes >> v_halvings;
  ts := '{}';
  ids := '{}';
  blocks := '{}';
  places := '{}';
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_pass.tenant_id
      and c.last_ts >= coalesce(p_pass.position_ts, logloom_private.day_start(p_pass.first_day))
      and c.first_ts < logloom_private.day_start(p_pass.last_day + 1)
    order by c.first_ts, c.block_id
  loop
    -- A file usually has one block. Blocks that overlap in time are read together.
    if (select count(*) from unnest(ts) t where t < v_block.first_ts)
      >= greatest(v_settings.seal_block_records / 2, 1)
    then
      v_end := v_block.first_ts;
      exit;
    end if;
    perform logloom_private.can_read(v_block.format);
    execute format(
      'select array_agg(r.ts) as ts, array_agg(r.id) as ids, array_agg(r.place) as places, '
        || 'count(*)::integer as records from ('
        || 'select s.ts, s.id, s.write_seq, row_number() over ()::integer as place from '
        || 'logloom_private.sealed_records($1, null, array[''ts'', ''id'', ''write_seq'']) s'
        || ') r where %s',
      v_filter
    )
    into v_ts, v_ids, v_places, v_records
    using v_block;
    continue when v_records = 0;
    ts := ts || v_ts;
    ids := ids || v_ids;
    places := places || v_places;
    blocks := blocks || array_fill(v_block.block_id, array[v_records]);
    v_sizes := v_sizes || array_fill(v_block.weight / v_block.records, array[v_records]);
  end loop;
  execute format(
    $query$
      select array_agg(l.ts) as ts, array_agg(l.id) as ids, array_agg(l.size) as sizes
      from (
        select r.ts, r.id, b.bytes + 7 * greatest(b.bytes - 2000, 0) as size
        from logloom.logs r
        cross join lateral (
          select coalesce(r.record_bytes, octet_length(to_json(r)::text))::bigint as bytes
        ) b
        where r.tenant_id = %L and %s
        order by r.ts, r.id
        limit %s
      ) l
    $query$,
    p_pass.tenant_id, v_filter, v_settings.seal_block_records
  )
  into v_ts, v_ids, v_row_sizes;
  select array_agg(k.ts), array_agg(k.id), array_agg(k.block), array_agg(k.place)
  into ts, ids, blocks, places
  from (
    select
      u.*, row_number() over w as n, sum(u.size) over w as size_through
    from (
      select b.ts, b.id, b.block, b.place, b.size
      from unnest(ts, ids, blocks, places, v_sizes) b (ts, id, block, place, size)
      union all
      select l.ts, l.id, null, null, l.size
      from unnest(v_ts, v_ids, v_row_sizes) l (ts, id, size)
    ) u
    where u.ts < v_end
    window w as (order by u.ts, u.id)
  ) k
  where k.n = 1
    or k.n <= v_settings.seal_block_records and k.size_through <= v_settings.seal_block_bytes;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_reads_records()
  RETURNS boolean
  LANGUAGE sql
  STABLE
RETURN true;

CREATE OR REPLACE FUNCTION logloom_private.archive_records (
  p_pass logloom_private.archive_passes
)
  RETURNS logloom.logs[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_found constant record := logloom_private.archive_places(p_pass);
  v_last constant integer := cardinality(v_found.ts);
  v_sql text;
  v_records logloom.logs[];
begin
  if v_last is null then
    return null;
  end if;
  select string_agg(p.sql, ' union all ' order by p.block) into v_sql
  from (
    select
      f.block,
      case
        when f.block is null then format(
          'select r.* from logloom.logs r where r.tenant_id = %L and %s '
            || 'and (r.ts, r.id) <= (%L::timestamptz, %L::uuid)',
          p_pass.tenant_id, logloom_private.archive_filter_sql(p_pass, 'r'),
          v_found.ts[v_last], v_found.ids[v_last]
        )
        else format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          p_pass.tenant_id, f.block, array_agg(f.place order by f.place)
        )
      end as sql
    from unnest(v_found.blocks, v_found.places) f (block, place)
    group by f.block
  ) p;
  execute format('select array_agg(s) from (%s) s', v_sql) into v_records;
  if cardinality(v_records) <> v_last then
    raise sqlstate 'LL001' using message =
      format('Read %s records to archive, expected %s', cardinality(v_records), v_last);
  end if;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.archive_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.archive_endpoint;
begin
  if logloom_private.archive_is_idle() is not null then
    return null;
  elsif logloom_private.plan_archive(clock_timestamp()) then
    return interval '0';
  end if;
  perform logloom_private.expire_archive(clock_timestamp());
  if logloom_private.archive_has_work() then
    select e.* into v_endpoint from logloom_private.archive_endpoint e;
    if v_endpoint.url is null or v_endpoint.secret is null then
      raise exception 'logloom_private.archive_endpoint lacks the url or the secret: set both';
    end if;
    perform logloom_private.call_function(
      v_endpoint.url, 'X-Logloom-Archive-Secret', v_endpoint.secret
    );
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.assignee_named (
  p_tenant_id text,
  p_user_id   text,
  p_name      text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- In a tenant without members only the caller is known to belong to it.
  v_ids constant text[] := array(
    select m.user_id
    from logloom.tenant_members m
    where m.tenant_id = p_tenant_id and m.role <> 'viewer'
    union
    select p_user_id
  );
  v_addresses jsonb;
  v_named text[];
begin
  if p_name = any (v_ids) then
    return p_name;
  end if;
  v_addresses := logloom_private.addresses_of_users(p_tenant_id, v_ids);
  v_named := array(
    select a.key from jsonb_each_text(v_addresses) a where lower(a.value) = lower(p_name)
  );
  return case when cardinality(v_named) = 1 then v_named[1] end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_actions()
  RETURNS text[]
  LANGUAGE sql
  IMMUTABLE
RETURN ARRAY['alert_incident.changed'::text,
  'alert_rule.paused'::text,
  'api_key.created'::text,
  'api_key.changed'::text,
  'api_key.revoked'::text,
  'api_key.deleted'::text,
  'alert_silence.created'::text,
  'alert_silence.expired'::text,
  'ingest_token.created'::text,
  'portal_session.created'::text,
  'portal_session.first_used'::text,
  'portal_session.revoked'::text,
  'member.added'::text,
  'member.changed'::text,
  'member.removed'::text,
  'member.switched'::text,
  'settings.changed'::text,
  'plan.changed'::text,
  'view.created'::text,
  'view.changed'::text,
  'view.deleted'::text,
  'log_stream.created'::text,
  'log_stream.changed'::text,
  'log_stream.deleted'::text,
  'dashboard.created'::text,
  'dashboard.changed'::text,
  'dashboard.deleted'::text,
  'logs.deletion_requested'::text, 'logs.deletion_finished'::text, 'logs.day_dropped'::text, 'logs.restore_requested'::text, 'logs.restore_finished'::text];

CREATE OR REPLACE FUNCTION logloom_private.audit_alert_incidents()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    new.tenant_id, logloom_private.actor(), 'alert_incident.changed', new.incident_id, c.changes
  from logloom_private.changed_members(
    jsonb_build_object(
      'acknowledged_by', old.acknowledged_by, 'assigned_to', old.assigned_to,
      'noted_at', old.noted_at
    ),
    jsonb_build_object(
      'acknowledged_by', new.acknowledged_by, 'assigned_to', new.assigned_to,
      'noted_at', new.noted_at
    )
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.awaits_archive (
  p_tenant_id text,
  p_day       date,
  p_today     date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_first_day date;
begin
  if exists (
    select
    from logloom_private.storage s
    where s.limit_day = p_day and s.overtakes_archive
  ) then
    return false;
  elsif exists (
    select
    from logloom_private.kept_longer k
    where k.tenant_id = p_tenant_id and k.kept_until > now()
      and p_day between k.first_day and k.last_day
  ) then
    return true;
  elsif not exists (
    -- No file is kept for a deleted tenant.
    select
    from logloom.tenants t
    join logloom.plans p on p.plan_id = t.plan_id
    where t.tenant_id = p_tenant_id and p.archive_days > 0
  ) or logloom_private.is_being_deleted(p_tenant_id) then
    return false;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  if v_settings.archive_overtaken = 'drop'
    and logloom_private.day_start(
      p_day + logloom_private.retention_days(p_tenant_id) + 1
    ) + v_settings.archive_grace <= logloom_private.day_start(p_today)
  then
    return false;
  end if;
  v_first_day := least(
    p_day,
    (
      select logloom_private.utc_day(min(c.first_ts))
      from logloom_private.blocks c
      where c.tenant_id = p_tenant_id and c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
    )
  );
  return exists (
    select
    from generate_series(0, p_day - v_first_day) d (n)
    where not logloom_private.is_archived(p_tenant_id, p_day - d.n)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.back_off (
  p_attempts integer,
  p_first    interval,
  p_longest  interval
)
  RETURNS interval
  LANGUAGE sql
RETURN
  (((0.8)::double precision + ((0.4)::double precision * random())) * LEAST((p_first * power((3)::double precision, (LEAST((p_attempts - 1), 20))::double precision)), p_longest));

CREATE OR REPLACE FUNCTION logloom_private.bare_record_bytes (
  p_tenant_id   text,
  p_received_at timestamp with time zone
)
  RETURNS integer
  LANGUAGE sql
  STABLE
RETURN
  ((octet_length(((((((((('{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":}'::text || ',"level":""'::text) || ',"msg":""'::text) ||
  ',"service":""'::text) || ',"env":""'::text) || ',"req_id":""'::text) || ',"user_id":""'::text) || ',"route":""'::text) || ',"host":""'::text) || ',"attrs":'::text)) +
  octet_length((to_json(p_tenant_id))::text)) + octet_length((to_json(p_received_at))::text));

CREATE OR REPLACE FUNCTION logloom_private.baseline_ends (
  p_window_end timestamp with time zone,
  p_days       integer
)
  RETURNS timestamp WITH time zone[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
begin
  return array(
    select logloom_private.kept_window_end(p_window_end) - make_interval(days => d)
    from generate_series(1, p_days) d
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.baseline_groups()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 20;

CREATE OR REPLACE FUNCTION logloom_private.baseline_least_days()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 3;

CREATE OR REPLACE FUNCTION logloom_private.batch_key (
  p_received_at timestamp with time zone
)
  RETURNS uuid
  LANGUAGE sql
RETURN
  ((((lpad(to_hex((floor((EXTRACT(epoch FROM p_received_at) * (1000)::numeric)))::bigint), 12, '0'::text) || '7'::text) || substr((gen_random_uuid())::text, 16, 17)) ||
  '0000'::text))::uuid;

CREATE OR REPLACE FUNCTION logloom_private.batch_max_bytes()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN (8 << 20);

CREATE OR REPLACE FUNCTION logloom_private.batch_max_events()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 10000;

CREATE OR REPLACE FUNCTION logloom_private.begin_alert_round (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_grace constant interval := (select s.alert_grace from logloom_private.settings s);
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  -- No group of the tenant needs them.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  select r.* into v_last from logloom_private.alert_rounds r;
  if v_last.window_end > p_now then
    -- The clock was set back. Otherwise the rules would wait until it shows the old time again.
    v_last := null;
    update logloom.alert_rules r
    set
      last_evaluated_at = case when r.last_evaluated_at <= p_now then r.last_evaluated_at end,
      asked_at = least(r.asked_at, p_now)
    where r.last_evaluated_at > p_now or r.asked_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := date_trunc('minute', p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > logloom_private.alert_watermark_limit()
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_grace - logloom_private.alert_catch_up_limit();
  if v_last.window_end > v_round.window_end - logloom_private.alert_catch_up_limit() is not true
  then
    -- The last round is too long ago: every group is filled again.
    v_last := null;
  end if;
  -- The maximum with the earlier value, because dropping a day also drops its write sequences.
  v_round.write_seq_to := greatest(
    v_last.write_seq_to, (select max(a.write_seq) from logloom_private.log_writes a), 0
  );
  -- A round that was interrupted starts again from its beginning.
  v_round.write_seq_from := case
    when v_last.window_end is null then v_round.write_seq_to
    when v_last.finished_at is null then v_last.write_seq_from
    else v_last.write_seq_to
  end;

  v_round.staged_by := pg_backend_pid();
  insert into logloom_private.alert_rounds (window_end, write_seq_from, write_seq_to, staged_by)
  values (v_round.window_end, v_round.write_seq_from, v_round.write_seq_to, v_round.staged_by)
  on conflict (singleton) do update
  set window_end = excluded.window_end, write_seq_from = excluded.write_seq_from,
    write_seq_to = excluded.write_seq_to, staged_by = excluded.staged_by, finished_at = null,
    rules_through = null;
  perform logloom_private.stage_alert_writes(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_anew()
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_reason constant text := 'The database was copied: this belongs to the original project';
begin
  if not logloom_private.is_copied() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'This database is not a copy: only its own project calls it',
      hint = 'Call /functions/v1/health/ready of the new project first: it notices the copy.';
  end if;
  perform logloom_private.end_notification(n, 'failed', null, v_reason)
  from logloom_private.notifications n
  where n.status = 'pending';
  perform logloom_private.drop_batch(s) from logloom.log_streams s;
  update logloom.log_streams s
  set position_seq = logloom_private.last_write_seq() + 1, position_id = null,
    pending_since = null, test_id = null, claim_id = null, claimed_until = null
  where true;
  perform logloom_private.forget_archive(v_reason);
  delete from logloom_private.archive_garbage g where true;
  delete from logloom_private.archived_days a where true;
  perform logloom_private.compare_archive_anew();
  -- With a new id, the archive refuses the original project's prefix. With a new key, notes of the
  -- original project are not accepted.
  update logloom_private.archive_bucket b
  set installation_id = default, note_key = default
  where b.singleton;
  update logloom_private.installation i set project_url = null, other_url = null where i.singleton;
  return 'begun anew';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.begin_canary_round (
  OUT round_id uuid,
  OUT key_value text
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_bits (
  p_block  logloom_private.blocks,
  p_tree   jsonb,
  p_from   timestamp with time zone,
  p_to     timestamp with time zone,
  p_within bit varying              DEFAULT NULL::bit varying
)
  RETURNS bit varying
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'auto'
  SET jit TO 'off'
  AS $function$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_scan_slot();
  v_bits := logloom_private.node_bits(p_block, p_tree);
  if p_within is not null then
    v_bits := array[v_bits[1] & p_within, v_bits[2] & p_within];
  end if;
  if bit_count(v_bits[2]) > 0 and (p_block.first_ts < p_from or p_block.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_block, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_block, logloom_private.bit_positions(v_rest), p_tree
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_block.records);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_days (
  p_retention_days integer
)
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (p_retention_days < 28) THEN GREATEST((p_retention_days / 4), 1) ELSE (LEAST((p_retention_days / 28), 4) * 7) END;

CREATE OR REPLACE FUNCTION logloom_private.block_formats()
  RETURNS smallint[]
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN '{1}'::smallint[];

CREATE OR REPLACE FUNCTION logloom_private.block_groups (
  p_block   logloom_private.blocks,
  p_bits    bit varying,
  p_by      text[],
  p_counts  boolean,
  p_key     text,
  p_exact   boolean,
  p_doubles boolean
)
  RETURNS TABLE (
    keys    text[],
    events  bigint,
    numbers bigint,
    total   numeric,
    minimum numeric,
    maximum numeric,
    doubles double precision[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := array(
    select b.name from unnest(p_by) b (name) where b.name not in ('service', 'level') order by 1
  );
  v_by_run constant boolean := cardinality(v_names) < cardinality(p_by);
  v_count constant bigint := bit_count(p_bits);
  v_columns logloom_private.block_columns[];
  v_number logloom_private.block_columns;
  v_keys text;
begin
  v_columns := logloom_private.dictionaries_of(p_block, v_names);
  if p_key is not null then
    select k.* into v_number
    from logloom_private.block_columns k
    where k.tenant_id = p_block.tenant_id and k.block_id = p_block.block_id
      and k.name in ('attrs', 'attrs.' || p_key) and k.dictionary is distinct from array['{}']
    order by k.name desc
    limit 1;
  end if;
  if cardinality(v_columns) < cardinality(v_names) or v_number.name = 'attrs'
    or v_count * 32 < p_block.records and cardinality(v_names) > 0
  then
    return query
    select r.*
    from logloom_private.read_groups(p_block, p_bits, p_by, p_counts, p_key, p_doubles) r;
    return;
  end if;

  v_keys := format('array[%s]::text[]', array_to_string(
    array(
      select case b.name
        when 'service' then '$3[g.run]'
        when 'level' then '$4[g.run]'
        else format('($5[%1$s]).dictionary[g.codes[%1$s]]', array_position(v_names, b.name))
      end
      from unnest(p_by) with ordinality b (name, n)
      order by b.n
    ),
    ', '
  ));
  if p_counts then
    return query execute format(
      $query$
        select %s, g.events, 0::bigint, null::numeric, null::numeric, null::numeric,
          null::double precision[]
        from %s g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.found_runs($1, $2, 1, $7)'
        else 'logloom_private.grouped_codes($1, $2, $5, $6, 1, $7, null::integer[], false, '
          || 'false)' end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, p_block.records;
  end if;
  if v_number.name is not null then
    return query execute format(
      $query$
        select %s, 0::bigint, g.events, g.total, g.minimum, g.maximum, g.doubles
        from %s $7, $8, %s, $9, $10) g
      $query$,
      v_keys,
      case when cardinality(v_names) = 0
        then 'logloom_private.run_numbers($1, $2,'
        else 'logloom_private.grouped_codes($1, $2, $5, $6,' end,
      case
        when v_number.numbers is not null then '$11'
        when v_number.wide_numbers is not null then '$12'
        when v_number.kind = 'dictionary' and not p_exact then '$14'
        else '$13'
      end
    )
    using p_block.run_records, p_bits, p_block.run_services, p_block.run_levels, v_columns,
      v_by_run, v_number.first, v_number.last, p_exact, p_doubles, v_number.numbers,
      v_number.wide_numbers,
      case when v_number.kind not in ('numbers', case when p_exact then '' else 'dictionary' end)
        then logloom_private.column_numbers(v_number) end,
      -- Converts each dictionary value to a double only once.
      case when v_number.kind = 'dictionary' and not p_exact
        then logloom_private.dictionary_values(v_number, array(
          select logloom_private.finite_double(logloom_private.json_number(d.value::jsonb))
          from unnest(v_number.dictionary) with ordinality d (value, n)
          order by d.n
        )) end;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_names (
  p_fields jsonb
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select concat_ws('.', f.field ->> 'field', f.field -> 'path' ->> 0)
    from jsonb_array_elements(p_fields) with ordinality f (field, n)
    order by f.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.block_range (
  p_tenant_id text,
  p_day       date,
  p_share     integer,
  p_at_least  integer,
  OUT         first_ts timestamp with time zone,
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_records integer;
  v_bytes bigint;
  v_sizes bigint[];
  v_ts timestamptz[];
  v_ids uuid[];
begin
  select s.* into v_settings from logloom_private.settings s;
  execute format(
    $query$
      select count(*), sum(w.size), array_agg(w.size), array_agg(w.ts), array_agg(w.id)
      from (
        select r.ts, r.id,
          r.bytes + 7 * greatest(r.bytes - 2000, 0)::bigint + 7 * greatest(r.message_bytes - 100, 0)
            as size
        from (
          select
            l.ts, l.id, octet_length(l.msg) as message_bytes,
            greatest(
              coalesce(l.record_bytes, octet_length(to_json(l)::text)),
              200 + coalesce(octet_length(l.msg), 0)
                -- A compressed value counts with its uncompressed size.
                + coalesce(
                  case when pg_column_compression(l.attrs) is null then pg_column_size(l.attrs)
                    else pg_column_size(l.attrs #> '{}') end,
                  0
                )
            ) as bytes
          from logloom.logs l
          where l.tenant_id = %L and l.ts >= %L::timestamptz and l.ts < %L::timestamptz
          order by l.ts, l.id
          limit %s
        ) r
      ) w
    $query$,
    p_tenant_id, v_from, v_to,
    greatest(v_settings.seal_block_records / p_share, 1)
  )
  into v_records, v_bytes, v_sizes, v_ts, v_ids;
  -- Usually only the last few records exceed the bytes: drop these here, so that the rows are not
  -- read a second time.
  while v_records > p_at_least and v_bytes > v_settings.seal_block_bytes / p_share loop
    v_bytes := v_bytes - v_sizes[v_records];
    v_records := v_records - 1;
  end loop;
  if v_records > 0 then
    first_ts := v_ts[1];
    last_ts := v_ts[v_records];
    last_id := v_ids[v_records];
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bound_storage()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_storage logloom_private.storage := (select s from logloom_private.storage s);
  v_percent double precision;
  v_mark integer;
  v_day date;
  v_overtakes_archive boolean;
  v_is_news boolean;
begin
  if v_storage.limit_day is not null then
    return coalesce(logloom_private.retention_step(), '0');
  end if;
  -- Other tables are measured once an hour.
  select m.bytes, coalesce(m.reusable_bytes, v_storage.reusable_bytes)
  into v_storage.bytes, v_storage.reusable_bytes
  from logloom_private.measure_storage(
    date_trunc('hour', v_storage.measured_at) is distinct from date_trunc('hour', clock_timestamp())
  ) m;
  v_storage.measured_at := clock_timestamp();
  v_percent := 100.0 * v_storage.bytes / v_settings.max_storage_bytes;

  -- 1. Choose the day. If retention is working on a day, wait for it.
  v_storage.is_dropping := v_settings.storage_policy = 'drop_oldest'
    and coalesce(v_percent >= 100 or v_storage.is_dropping and v_percent > 95, false);
  v_storage.is_stuck := v_storage.is_stuck and v_storage.is_dropping;
  if v_storage.is_dropping
    and not exists (select from logloom_private.retention_place p where p.day is not null)
  then
    select d.day, d.overtakes_archive
    into v_day, v_overtakes_archive
    from logloom_private.day_to_drop(logloom_private.utc_day(now())) d;
    v_storage.is_stuck := v_day is null;
    if v_overtakes_archive and v_percent < 100 then
      v_day := null;
    end if;
  end if;

  -- 2. Store the measurement, and tell the operators at 80 % and 100 %.
  v_mark := case when v_percent >= 100 then 100 when v_percent >= 80 then 80 else 0 end;
  v_is_news := v_mark > v_storage.told_percent;
  v_storage.told_percent := case
    when v_percent >= 70 then greatest(v_storage.told_percent, v_mark)
    else 0
  end;
  update logloom_private.storage s
  set (measured_at, bytes, reusable_bytes, is_dropping, is_stuck, told_percent) = (
    v_storage.measured_at, v_storage.bytes, v_storage.reusable_bytes, v_storage.is_dropping,
    v_storage.is_stuck, v_storage.told_percent
  )
  where s.singleton;
  insert into logloom_private.storage_hours (hour, measured_at, bytes)
  values (
    date_trunc('hour', v_storage.measured_at, 'UTC'), v_storage.measured_at, v_storage.bytes
  )
  on conflict do nothing;
  if v_is_news then
    perform logloom_private.tell_operators(h ->> 'reason', h - 'reason')
    from logloom_private.storage_health() h;
  end if;

  -- 3. Drop the day. If it was not dropped the last time, try again a minute later.
  if v_day is null then
    return null;
  end if;
  delete from logloom_private.kept_longer k where k.last_day <= v_day;
  update logloom_private.kept_longer k set first_day = v_day + 1 where k.first_day <= v_day;
  -- Before the first retention, pretend that yesterday's has ended.
  insert into logloom_private.retention_place (today, finished_at)
  values (logloom_private.utc_day(now()) - 1, now())
  on conflict (singleton) do update set attempts = 0;
  update logloom_private.storage s
  set limit_day = v_day, overtakes_archive = v_overtakes_archive, dropped_day = v_day
  where s.singleton;
  return case when v_day is distinct from v_storage.dropped_day then interval '0' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bounds_sql (
  p_bounds jsonb,
  p_value  text,
  p_type   text  DEFAULT ''::text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN
  NULLIF(concat_ws(' and '::text, (((p_value || CASE WHEN ((p_bounds -> 'lower_open'::text))::boolean THEN ' > '::text ELSE ' >= '::text END) || quote_literal((p_bounds ->>
  'lower'::text))) || p_type),
  (((p_value || CASE WHEN ((p_bounds -> 'upper_open'::text))::boolean THEN ' < '::text ELSE ' <= '::text END) || quote_literal((p_bounds ->> 'upper'::text))) || p_type)), ''::text);

CREATE OR REPLACE FUNCTION logloom_private.bucket_origin (
  p_seconds bigint
)
  RETURNS timestamp WITH time zone
  LANGUAGE sql
  IMMUTABLE
RETURN
  (CASE WHEN ((p_seconds % (604800)::bigint) = 0) THEN '1970-01-05 00:00:00'::timestamp WITHOUT time zone ELSE '1970-01-01 00:00:00'::timestamp WITHOUT time zone END AT TIME ZONE
  'UTC'::text);

CREATE OR REPLACE FUNCTION logloom_private.bucket_seconds (
  p_range   tstzrange,
  p_buckets integer
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_buckets constant integer := coalesce(p_buckets, 60);
  v_width bigint;
begin
  if v_buckets not between 1 and logloom_private.max_buckets() then
    perform logloom_private.refuse(
      'search.buckets_are_out_of_range', logloom_private.max_buckets()::text
    );
  end if;
  foreach v_width in array
    array[1, 5, 10, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400]
  loop
    if v_width * v_buckets >= v_seconds then
      return v_width;
    end if;
  end loop;
  return ceil(v_seconds / v_buckets / 86400) * 86400;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.bucket_sql (
  p_seconds bigint
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN format('date_bin(%L::interval, l.ts, %L)'::text, make_interval(secs => (p_seconds)::double precision), logloom_private.bucket_origin(p_seconds));

CREATE OR REPLACE FUNCTION logloom_private.bytes_of_record (
  p_log logloom.logs
)
  RETURNS integer
  LANGUAGE sql
  STABLE
  PARALLEL SAFE
RETURN
  COALESCE((p_log).record_bytes, ((((logloom_private.bare_record_bytes((p_log).tenant_id, (p_log).received_at) + octet_length((to_json((p_log).ts))::text)) +
  octet_length((to_json(concat(COALESCE((p_log).level, '--'::text), COALESCE((p_log).msg, '--'::text), COALESCE((p_log).service, '--'::text), COALESCE((p_log).env, '--'::text),
  COALESCE((p_log).req_id, '--'::text),
  COALESCE((p_log).user_id, '--'::text),
  COALESCE((p_log).route, '--'::text), COALESCE((p_log).host, '--'::text))))::text)) - 2) + octet_length((COALESCE((p_log).attrs, 'null'::jsonb))::text)));

CREATE OR REPLACE FUNCTION logloom_private.callers_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', null),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token is not valid, or its tenant is being deleted.'),
    ('callers.key_is_unknown', 401, 'Invalid token, API key, or missing tenant_id',
      'There is no such API key or ingest token in this project.', null),
    ('callers.key_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key was revoked: create_api_key makes another.', null),
    ('callers.key_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The API key has expired: create_api_key makes another.', null),
    ('callers.signature_is_wrong', 401, 'Invalid token, API key, or missing tenant_id',
      'The signature does not fit: key_id in the address names the key, and the secret of the '
        'webhook is the hex SHA-256 of that key.', null),
    ('callers.ingest_token_is_expired', 401, 'Invalid token, API key, or missing tenant_id',
      'The ingest token has expired: create_ingest_token makes another.', null),
    ('callers.ingest_token_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The user who created the ingest token may no longer send, or has signed out.', null),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no valid `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.', null),
    ('callers.operation_is_internal', 403, '%s is only for service_role',
      'Logloom''s edge functions call it with the project''s secret key.', null),
    ('callers.client_may_only_read', 403, 'The OAuth client of this token may only read',
      'It may call the operations that read logs, such as search_logs. To allow the others, add '
        'its client_id to logloom_private.settings.writing_clients.',
      '`settings.writing_clients` does not list the token''s claim `client_id` '
        '([identity.md](../background/identity.md#oauth-clients)).'),
    ('callers.viewer_may_only_read', 403, 'A viewer may only read',
      'A viewer may call the operations that read logs, such as search_logs. Ask an owner of the '
        'tenant for another role.', 'The caller''s role is `viewer`.'),
    ('callers.view_is_missing', 403, 'The view of this reader does not exist',
      'An owner or admin chooses one of the views that list_log_views shows.',
      'The token has the role `viewer` but names no view of the tenant '
        '(`app_metadata.logloom_view`), or the view was deleted.'),
    ('callers.view_is_broken', 403, 'The query of the view %s is no longer valid',
      'An owner or admin corrects it with update_log_view.',
      'Another version stored the query, and it no longer compiles.'),
    ('callers.key_may_only_read', 403, 'This API key may only read',
      'create_api_key makes one that sends: p_scopes ["ingest"].', null),
    ('callers.portal_session_is_revoked', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session was revoked.', null),
    ('callers.portal_session_is_over', 401, 'Invalid token, API key, or missing tenant_id',
      'The portal session has ended: create_log_portal_session makes another.', null),
    ('callers.portal_code_is_spent', 401, 'This link has been used, or is too old',
      'A link works once, within ten minutes. Ask for another one.', null),
    ('callers.portal_origin_is_unknown', 403, 'This session is not for pages of %s',
      'p_origins of create_log_portal_session lists the origins that may use a session.', null),
    ('callers.portal_query_is_broken', 403, 'The query of this session is no longer valid',
      'Create another session with create_log_portal_session.', null),
    ('callers.key_may_only_send', 403, 'This API key may only send',
      'create_api_key makes one that reads: p_scopes ["read"].', null),
    ('callers.operation_is_outside', 403, 'This caller may not call %s',
      'Its view or session allows other operations only.', null),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST, with a JSON object of parameters.', null),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: send p_tenant_id, if the operation takes it.',
      '`service_role` belongs to no tenant. It cannot call operations without `p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, 'It cannot be the id of a tenant.'),
    ('callers.project_is_another', 409,
      'This database belongs to the project %s, so functions of %s get no work from it',
      'If it is a copy: see A copy of the database in docs/guides/operations.md.',
      'The functions that send or archive asked a copy of the database for work. It gives none '
        'until you call [`begin_anew()`](../guides/operations.md#a-copy-of-the-database).'),
    ('callers.role_is_missing', 403, 'This requires the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller''s role in the tenant is too low ([identity.md](../background/identity.md)).');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.calling_project()
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN ((NULLIF(current_setting('request.headers'::text, true), ''::text))::json ->> 'x-logloom-project'::text);

CREATE OR REPLACE FUNCTION logloom_private.canary_call (
  p_path text,
  p_key  text,
  p_body jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  where r.sent_at > p_now - interval '1 day';
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
      case when v_doubled > 0 then format('%s records are stored twice', v_doubled) end,
      case when v_failed = 2 then
        'The last two records of the canary were not found: '
          || 'see error in logloom_private.canary_rounds'
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.canary_step (
  p_step     text,
  p_round_id uuid,
  p_key      text
)
  RETURNS logloom_private.canary_rounds
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_alert_incidents (
  p_incident_ids uuid[],
  p_acknowledged boolean,
  p_assigned_to  text,
  p_note         text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_note constant text := logloom_private.trim_space(p_note);
  v_assignee text;
  v_held uuid[];
begin
  perform logloom_private.require_parameter('p_incident_ids', p_incident_ids is null);
  if cardinality(p_incident_ids) not between 1 and 1000 then
    perform logloom_private.refuse('alerts.too_many_incidents');
  elsif num_nonnulls(p_acknowledged, p_assigned_to, p_note) = 0 then
    perform logloom_private.refuse('alerts.no_change_of_incident');
  elsif length(v_note) > 2000 then
    perform logloom_private.refuse('alerts.incident_note_is_too_long');
  elsif p_assigned_to <> '' then
    v_assignee := logloom_private.assignee_named(v_tenant_id, v_user_id, p_assigned_to);
    if v_assignee is null then
      perform logloom_private.refuse('alerts.assignee_is_unknown');
    end if;
  end if;
  -- Locked in the order of their ids, so that two callers cannot deadlock.
  v_held := array(
    select i.incident_id
    from logloom.alert_incidents i
    where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids)
    order by i.incident_id
    for no key update
  );
  if cardinality(v_held) < (select count(*) from (select distinct unnest(p_incident_ids)) n) then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  update logloom.alert_incidents i
  set
    -- The first acknowledgement stays on record.
    acknowledged_at = case
      when p_acknowledged then coalesce(i.acknowledged_at, now())
      when p_acknowledged is null then i.acknowledged_at
    end,
    acknowledged_by = case
      when p_acknowledged then coalesce(i.acknowledged_by, v_user_id)
      when p_acknowledged is null then i.acknowledged_by
    end,
    assigned_to = case when p_assigned_to is null then i.assigned_to else v_assignee end,
    assigned_at = case
      when p_assigned_to is null then i.assigned_at when v_assignee is not null then now()
    end,
    assigned_by = case
      when p_assigned_to is null then i.assigned_by when v_assignee is not null then v_user_id
    end,
    note = case when v_note is null then i.note when v_note <> '' then v_note end,
    noted_at = case when v_note is null then i.noted_at when v_note <> '' then now() end,
    noted_by = case when v_note is null then i.noted_by when v_note <> '' then v_user_id end
  where i.incident_id = any (v_held);
  update logloom.alert_history h
  set
    acknowledged_at = case when p_acknowledged then now() end,
    acknowledged_by = case when p_acknowledged then v_user_id end
  where h.tenant_id = v_tenant_id and h.incident_id = any (v_held)
    and (h.acknowledged_at is null) = p_acknowledged;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_log_stream (
  p_tenant_id text,
  p_stream_id uuid,
  p_name      text,
  p_query_dsl text,
  p_config    jsonb,
  p_secrets   jsonb,
  p_enabled   boolean,
  p_view_id   uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes streams, which hold their own state
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.log_streams;
  v_query_dsl text;
  v_config jsonb;
  v_secrets jsonb;
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
  v_config := case when p_config is null then v_row.config
    else logloom_private.checked_stream_config(v_row.kind, p_config) end;
  v_secrets := logloom_private.changed_secrets(
    v_row.secrets, p_secrets, logloom_private.stream_secret_names(v_row.kind)
  );
  perform logloom_private.require_secrets_again(v_row, v_config, p_secrets);
  perform logloom_private.refuse_own_keys(v_tenant_id, v_secrets);
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_config,
    secrets = v_secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.stream_maker() else s.maker end,
    paused_at = case when p_enabled is null then s.paused_at end,
    pause_reason = case when p_enabled is null then s.pause_reason end,
    failing_since = case when p_enabled is null then s.failing_since end,
    attempts = case when p_enabled is null then s.attempts else 0 end,
    failing_told_at = case when p_enabled is null then s.failing_told_at end,
    is_proven = s.is_proven and num_nonnulls(p_config, p_secrets) = 0,
    refused_in_a_row = case when p_enabled is null then s.refused_in_a_row else 0 end,
    -- New records were not noted while the stream was disabled.
    pending_since = case when p_enabled then coalesce(s.pending_since, now())
      else s.pending_since end,
    -- A sender with the old settings may no longer settle the batch or seal the secrets.
    claim_id = case when v_is_same then s.claim_id end,
    claimed_at = case when v_is_same then s.claimed_at end,
    claimed_until = case when v_is_same then s.claimed_until end,
    -- A change is tried at once. A new config begins with the full batch size.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.changed_rule_secrets (
  p_current jsonb,
  p_secrets jsonb
)
  RETURNS jsonb
  LANGUAGE sql
  IMMUTABLE
RETURN logloom_private.changed_secrets(p_current, NULLIF(p_secrets, 'null'::jsonb), '{slack_url,discord_url,teams_url,pagerduty_key}'::text[]);

CREATE OR REPLACE FUNCTION logloom_private.channel_kind (
  p_channel text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE p_channel WHEN 'email'::text THEN 'email'::text ELSE 'webhook'::text END;

CREATE OR REPLACE FUNCTION logloom_private.channel_limit (
  p_kind      text,
  p_tenant_id text
)
  RETURNS integer
  LANGUAGE sql
  STABLE
RETURN ((to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_kind || 's_per_hour'::text)))::integer;

CREATE OR REPLACE FUNCTION logloom_private.check_query (
  p_query_dsl text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role may call the compiler
begin
  perform logloom_private.checked_query(p_query_dsl);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.check_rule_query (
  p_query_dsl text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role calls the compiler's parts
declare
  v_query constant logloom_private.compiled_query := logloom_private.checked_query(p_query_dsl);
begin
  if v_query.plan ? 'first' and (
    not v_query.plan ? 'aggregates' or v_query.plan ? 'bucket'
    or (v_query.plan -> 'count')::integer
      > 1 + coalesce(jsonb_array_length(v_query.plan -> 'math'), 0)
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_hidden_fields (
  p_hidden_fields text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names text[] := '{}';
  v_name text;
begin
  if cardinality(p_hidden_fields) > 100 or array_ndims(p_hidden_fields) > 1 then
    perform logloom_private.refuse('views.too_many_hidden_fields');
  end if;
  foreach v_name in array coalesce(p_hidden_fields, '{}') loop
    v_name := logloom_private.trim_space(v_name);
    if v_name is distinct from 'attrs' then
      if v_name is null or length(v_name) not between 1 and 200
        or v_name in ('id', 'tenant_id', 'ts', 'received_at', 'any')
      then
        perform logloom_private.refuse(
          'views.field_cannot_be_hidden', coalesce(left(v_name, 60), 'null')
        );
      end if;
      begin
        v_name := logloom_private.hidden_name(logloom_private.query_field(v_name, 1));
      exception when sqlstate 'PT400' then
        -- The hint of this error says how to write queries, not how to name hidden fields.
        perform logloom_private.refuse('views.field_cannot_be_hidden', left(v_name, 60));
      end;
    end if;
    v_names := v_names || v_name;
    if v_name = 'level' then
      v_names := v_names || 'attrs.original_level'::text;
    end if;
  end loop;
  return array(select distinct n collate "C" from unnest(v_names) n order by 1);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_query (
  p_query_dsl text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(
    coalesce(logloom_private.current_tenant_id(), ''), p_query_dsl
  );
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_scope (
  p_scope     logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text                          DEFAULT NULL::text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token(p_tenant_id);
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  elsif p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  -- Alerts tell about all records, so a view must name the operations on alerts to allow them. With
  -- portal sessions, which customers use, it must also name the operations on saved searches.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when p_scope.kind = 'portal_session'
        then '{list_alert_rules,list_alert_history,list_saved_searches}'::text[]
      when p_scope.view_id is not null then '{list_alert_rules,list_alert_history}'
      else '{}'
    end)
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_stream_query (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(p_tenant_id, p_query_dsl);
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_view_query (
  p_tenant_id text,
  p_query_dsl text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(p_tenant_id, p_query_dsl);
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'views.query_has_stages'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
  return case when not v_query.blank then p_query_dsl end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.chosen_rows_sql (
  p_from  text,
  p_plan  jsonb,
  p_sql   jsonb,
  p_order text,
  p_limit integer
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_having constant text := (
    select string_agg(
      format(
        '%s %s %L::double precision', p_sql -> (h ->> 'name') ->> 0,
        case h ->> 'operator' when '!=' then '<>' else h ->> 'operator' end, h ->> 'number'
      ),
      ' and '
    )
    from jsonb_array_elements(p_plan -> 'having') h
  );
  v_keys constant text := (
    select string_agg(
      s.sql || case when (k.key -> 'descending')::boolean then ' desc' else '' end
        || ' nulls last',
      ', ' order by k.n, s.n
    )
    from jsonb_array_elements(p_plan -> 'sort') with ordinality k (key, n)
    cross join lateral jsonb_array_elements_text(p_sql -> (k.key ->> 'name'))
      with ordinality s (sql, n)
  );
begin
  return logloom_private.rows_from(
    p_from, coalesce(v_having, 'true'), concat_ws(', ', v_keys, p_order),
    least(p_limit, (p_plan -> 'limit')::integer)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_archive_work()
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads records or changes the archive
declare
  v_settings logloom_private.settings;
  -- Longer than any file takes. After this time another run takes over the work.
  v_expires_at constant timestamptz := clock_timestamp() + interval '5 minutes';
  v_claim logloom_private.archive_claims;
  v_work json;
begin
  perform logloom_private.require_own_project();
  if logloom_private.archive_is_idle() is not null then
    return null;
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- Makes one claim at a time, because making a claim reads a lot.
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.expires_at < clock_timestamp()
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  v_work := logloom_private.claim_bucket_work(v_settings, v_expires_at);
  if v_work is null and (
    select b.problem is null and b.bucket = v_settings.archive_bucket
      and b.prefix = v_settings.archive_prefix
      -- Waits for the first comparison: after a restore of the database, the bucket may have files
      -- that the database does not know.
      and b.compared_at is not null
    from logloom_private.archive_bucket b
  ) then
    v_work := coalesce(
      logloom_private.claim_restore(v_expires_at)::json,
      logloom_private.claim_erasure(v_expires_at)::json,
      logloom_private.claim_write(v_expires_at)
    );
  end if;
  if v_work is null then
    return null;
  end if;
  return json_build_object(
    'bucket', v_settings.archive_bucket, 'prefix', v_settings.archive_prefix, 'work', v_work
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_bucket_work (
  p_settings   logloom_private.settings,
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_bucket logloom_private.archive_bucket;
  v_keys text[];
  v_part logloom.archive_parts;
  v_note text;
  v_work jsonb;
begin
  select b.* into v_bucket from logloom_private.archive_bucket b;
  if (v_bucket.bucket, v_bucket.prefix)
    is distinct from (p_settings.archive_bucket, p_settings.archive_prefix)
    or v_bucket.checked_at is null
    or v_bucket.checked_at < now() - (
      case when v_bucket.problem is null then interval '1 day' else interval '1 minute' end
    )
  then
    v_work := jsonb_build_object('kind', 'check', 'installation_id', v_bucket.installation_id);
  elsif v_bucket.problem is not null then
    return null;
  else
    v_keys := logloom_private.due_garbage();
    select p.* into v_part
    from logloom.archive_parts p
    where p.newer_key is not null
    order by p.part_id
    limit 1;
    select n.object_key into v_note
    from logloom_private.archive_notes n
    where not n.is_read
    order by n.object_key
    limit 1;
    if v_part.part_id is not null then
      v_work := logloom_private.archive_part_work(v_part)
        || jsonb_build_object('kind', 'adopt', 'key', v_part.newer_key);
    elsif v_note is not null then
      v_work := jsonb_build_object('kind', 'recall', 'key', v_note);
    elsif v_keys <> '{}' then
      v_work := jsonb_build_object('kind', 'delete', 'keys', v_keys);
    elsif v_bucket.compared_through is not null or v_bucket.compared_at is null
      or v_bucket.compared_at < now() - logloom_private.archive_compare_every()
    then
      v_work := jsonb_build_object('kind', 'compare', 'after', v_bucket.compared_through);
    else
      return null;
    end if;
  end if;
  insert into logloom_private.archive_claims (tenant_id, kind, part_id, object_key, expires_at)
  values (
    '', v_work ->> 'kind', (v_work ->> 'part_id')::uuid, v_work ->> 'key', p_expires_at
  )
  on conflict do nothing
  returning v_work || jsonb_build_object('claim_id', claim_id) into v_work;
  return v_work;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_notifications (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_notification
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads the outbox or a webhook's secret
declare
  v_ids uuid[];
  v_notification logloom_private.notifications;
  v_refusal text;
begin
  perform logloom_private.require_own_project();
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), 0);
  loop
    v_ids := logloom_private.next_notifications(p_limit);
    v_ids := array(
      select n.notification_id
      from logloom_private.notifications n
      -- Checked again on the locked row: it may have been settled meanwhile.
      where n.notification_id = any(v_ids)
        and n.status = 'pending' and n.next_attempt_at <= now()
      for update of n skip locked
    );
    exit when cardinality(v_ids) = 0;
    for v_notification in
      select n.*
      from logloom_private.notifications n
      where n.notification_id = any(v_ids)
        and (n.channel = 'email' or n.purpose = 'recovery')
    loop
      v_refusal := coalesce(
        case v_notification.channel
          when 'email' then logloom_private.email_refusal(v_notification)
        end,
        case v_notification.purpose
          when 'recovery' then logloom_private.recovery_refusal(v_notification)
        end
      );
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
  select n.tenant_id, k.kind, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  cross join lateral logloom_private.channel_kind(n.channel) k (kind)
  where n.notification_id = any(v_ids)
  group by n.tenant_id, k.kind
  on conflict (tenant_id, channel, hour) do update
  set attempts = u.attempts + excluded.attempts;
  return query
  with claimed as (
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      -- Due again unless it is settled by then. A delivery takes less time.
      next_attempt_at = now() + interval '60 seconds'
    where n.notification_id = any(v_ids)
    returning n as notification
  )
  select
    (c.notification).notification_id, (c.notification).claim_id, (c.notification).channel,
    (c.notification).address,
    case (c.notification).purpose
      when 'confirmation' then logloom_private.mail_code(c.notification)
      else (c.notification).body
    end,
    array_remove(
      array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
    ),
    (c.notification).tenant_id, (c.notification).rule_id, (c.notification).template,
    (c.notification).purpose = 'confirmation'
  from claimed c
  left join logloom_private.webhook_secrets w
    on w.rule_id = (c.notification).rule_id and (c.notification).channel = 'webhook';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_streams (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads or writes streams
begin
  perform logloom_private.require_own_project();
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
    claimed_until = now() + logloom_private.stream_claim_lifetime()
  from due d
  where s.stream_id = d.stream_id
  returning s.stream_id, s.claim_id, s.tenant_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_erasure (
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_erasure logloom_private.archive_erasures;
  v_part logloom.archive_parts;
  v_note record;
  v_new_key text;
  v_claim_id uuid;
begin
  for v_erasure in
    select e.*
    from logloom_private.archive_erasures e
    where e.finished_at is null and (e.parts_through is not null or e.noted_at is null)
      and e.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = e.tenant_id
      )
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = e.tenant_id and p.newer_key is not null
      )
    order by e.next_attempt_at
    limit 10
  loop
    if v_erasure.parts_through is not null
      and logloom_private.end_archive_erasure(v_erasure.run_id)
    then
      continue;
    end if;
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_erasure.tenant_id and p.status <> 'draft'
      and p.number > v_erasure.position_number and p.number <= v_erasure.parts_through
      and p.last_ts >= v_erasure.ts_from and p.first_ts < v_erasure.ts_to
    order by p.number
    limit 1;
    if v_erasure.noted_at is null
      and (v_erasure.position_number = 0 or v_part.part_id is null)
    then
      v_note := logloom_private.erasure_note(v_erasure);
      insert into logloom_private.archive_claims (
        tenant_id, kind, run_id, object_key, expires_at
      )
      values (v_erasure.tenant_id, 'note', v_erasure.run_id, v_note.key, p_expires_at)
      returning claim_id into v_claim_id;
      return jsonb_build_object(
        'kind', 'note', 'claim_id', v_claim_id, 'key', v_note.key, 'note', v_note.note
      );
    elsif v_part.part_id is null then
      -- This erasure waits until objects are deleted. Meanwhile other erasures have their turn.
      update logloom_private.archive_erasures e
      set next_attempt_at = clock_timestamp() + interval '5 seconds'
      where e.run_id = v_erasure.run_id;
      continue;
    end if;
    v_new_key := logloom_private.archive_key(
      jsonb_populate_record(v_part, jsonb_build_object('generation', v_part.generation + 1))
    );
    insert into logloom_private.archive_claims (
      tenant_id, kind, part_id, run_id, object_key, expires_at
    )
    values (
      v_erasure.tenant_id, 'erase', v_part.part_id, v_erasure.run_id, v_new_key, p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'erase', 'claim_id', v_claim_id, 'new_key', v_new_key);
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_restore (
  p_expires_at timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_restore logloom.archive_restores;
  v_part logloom.archive_parts;
  v_claim_id uuid;
begin
  for v_restore in
    select r.*
    from logloom.archive_restores r
    where r.status in ('queued', 'running') and r.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = r.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = r.tenant_id and e.finished_at is null
      )
      and not exists (
        select from logloom.archive_parts p
        where p.tenant_id = r.tenant_id and p.newer_key is not null
      )
    order by r.next_attempt_at
    limit 10
  loop
    select p.* into v_part
    from logloom.archive_parts p
    where p.tenant_id = v_restore.tenant_id and p.status <> 'draft'
      and p.number > v_restore.position_number
      and p.last_ts >= v_restore.ts_from and p.first_ts < v_restore.ts_to
    order by p.number
    limit 1;
    if not found then
      perform logloom_private.end_restore(v_restore.restore_id, null);
      continue;
    elsif v_part.status = 'missing' then
      perform logloom_private.end_restore(
        v_restore.restore_id, format('The file %s is missing from the bucket', v_part.object_key)
      );
      continue;
    end if;
    insert into logloom_private.archive_claims (tenant_id, kind, part_id, run_id, expires_at)
    values (
      v_restore.tenant_id, 'restore', v_part.part_id, v_restore.restore_id, p_expires_at
    )
    returning claim_id into v_claim_id;
    return logloom_private.archive_part_work(v_part)
      || jsonb_build_object('kind', 'restore', 'claim_id', v_claim_id);
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_write (
  p_expires_at timestamp with time zone
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_pass logloom_private.archive_passes;
  v_records logloom.logs[];
  v_columns json;
  v_part logloom.archive_parts;
  v_claim logloom_private.archive_claims;
begin
  loop
    select p.* into v_pass
    from logloom_private.archive_passes p
    where p.next_attempt_at <= clock_timestamp()
      and not exists (
        select from logloom_private.archive_claims c where c.tenant_id = p.tenant_id
      )
      and not exists (
        select from logloom_private.archive_erasures e
        where e.tenant_id = p.tenant_id and e.finished_at is null
      )
    order by p.next_attempt_at
    limit 1
    for update skip locked;
    if not found then
      return null;
    end if;
    begin
      v_records := logloom_private.archive_records(v_pass);
      v_columns := logloom_private.archive_columns(v_records);
    exception
      when query_canceled then
        update logloom_private.archive_passes p
        set failures = p.failures + 1, error = 'Reading the records took too long',
          next_attempt_at = clock_timestamp() + logloom_private.archive_delay(p.failures)
        where p.tenant_id = v_pass.tenant_id;
        return null;
    end;
    exit when v_records is not null;
    perform logloom_private.end_archive_pass(v_pass);
  end loop;
  v_part.part_id := gen_random_uuid();
  v_part.tenant_id := v_pass.tenant_id;
  v_part.first_day := v_pass.first_day;
  v_part.last_day := v_pass.last_day;
  v_part.generation := 1;
  insert into logloom.archive_parts (
    part_id, tenant_id, first_day, last_day, write_seq, object_key, status
  )
  values (
    v_part.part_id, v_pass.tenant_id, v_pass.first_day, v_pass.last_day, v_pass.write_seq,
    logloom_private.archive_key(v_part), 'draft'
  )
  returning * into v_part;
  insert into logloom_private.archive_claims (
    tenant_id, kind, part_id, object_key, records, first_ts, last_ts, last_id, expires_at
  )
  select
    v_pass.tenant_id, 'write', v_part.part_id, v_part.object_key, count(*), min(r.ts), max(r.ts),
    (array_agg(r.id order by r.ts desc, r.id desc))[1], p_expires_at
  from unnest(v_records) r
  returning * into v_claim;
  return json_build_object(
    'kind', 'write', 'claim_id', v_claim.claim_id, 'tenant_id', v_part.tenant_id,
    'part_id', v_part.part_id, 'key', v_part.object_key, 'records', v_claim.records,
    'first_day', v_part.first_day, 'last_day', v_part.last_day, 'generation', v_part.generation,
    'columns', v_columns
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.collect_alert (
  p_rule     logloom.alert_rules,
  p_purpose  text,
  p_channel  text,
  p_alert_id uuid,
  p_body     text
)
  RETURNS logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_waiting logloom_private.notifications;
  v_body jsonb;
begin
  select n.* into v_waiting
  from logloom_private.notifications n
  where n.rule_id = p_rule.rule_id and n.channel = p_channel and n.purpose = p_purpose
    and n.status = 'pending' and n.attempts = 0 and n.claim_id is null
    and n.next_attempt_at > clock_timestamp() and n.group_key = 'collected'
    -- A message gives only one reason for the end.
    and n.body::jsonb #> '{data,resolution}' is not distinct from
      p_body::jsonb #> '{data,resolution}'
    -- The last message about a group must say how it is now, so a group that fired, recovered and
    -- fires again does not join the first message. A message with 100 alerts may omit groups.
    and not exists (
      select
      from logloom_private.notifications m
      cross join lateral (select m.body::jsonb #> '{data,alerts}' as alerts) a
      where m.rule_id = n.rule_id and m.channel = n.channel and m.group_key = n.group_key
        and m.purpose <> n.purpose and m.position > n.position and m.status = 'pending'
        and (
          jsonb_array_length(a.alerts) >= 100
          or a.alerts @> jsonb_build_array(
            jsonb_build_object('group', p_body::jsonb #> '{data,alerts,0,group}')
          )
        )
    )
  order by n.position desc
  limit 1
  for update;
  if not found then
    return null;
  end if;
  v_body := v_waiting.body;
  -- A message shows at most 100 alerts; the history has all of them.
  if jsonb_array_length(v_body #> '{data,alerts}') < 100 then
    v_body := jsonb_set(
      v_body, '{data,alerts}', (v_body #> '{data,alerts}') || (p_body::jsonb #> '{data,alerts}')
    );
    update logloom_private.notifications n
    set body = v_body::text
    where n.notification_id = v_waiting.notification_id
    returning n.* into v_waiting;
  end if;
  if p_alert_id is not null then
    insert into logloom_private.notified_alerts (notification_id, alert_id)
    values (v_waiting.notification_id, p_alert_id)
    on conflict do nothing;
  end if;
  return v_waiting;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_may_hold (
  p_column     logloom_private.block_columns,
  p_literal    text,
  p_folds_case boolean
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_texts text;
begin
  if p_literal = '' then
    return true;
  elsif p_column.kind = 'numbers' then
    return p_literal ~ '^[-0]*$';
  elsif p_column.kind <> 'templated' and strpos(p_literal, '0') > 0
    -- Attributes are JSON texts, where these characters are escaped.
    or left(p_column.name, 5) = 'attrs' and p_literal ~ '["\\\u0001-\u001f\u007f]'
  then
    return true;
  end if;
  v_texts := array_to_string(
    case p_column.kind when 'texts' then p_column.texts else p_column.dictionary end, e'\x1f'
  );
  return strpos(
    case when p_folds_case then logloom_private.folded_text(v_texts) else v_texts end, p_literal
  ) > 0;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_numbers (
  p_column logloom_private.block_columns
)
  RETURNS numeric[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_column.kind = 'dictionary' then
    return logloom_private.dictionary_values(p_column, array(
      select logloom_private.json_number(d.value::jsonb)
      from unnest(p_column.dictionary) with ordinality d (value, n)
      order by d.n
    ));
  end if;
  return array(
    select logloom_private.json_number(t.value::jsonb)
    from unnest(logloom_private.column_texts(p_column)) with ordinality t (value, n)
    order by t.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_texts (
  p_column logloom_private.block_columns
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  v_texts text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return p_column.texts;
  elsif p_column.kind = 'numbers' then
    return coalesce(p_column.numbers::text[], p_column.wide_numbers::text[]);
  elsif p_column.kind = 'templated' then
    -- The filled texts are in the order of (code, position).
    v_texts := logloom_private.fill_templates(
      v_texts, p_column.counts, p_column.digits || ''::bytea, e'\x1f'
    );
    if v_codes is null and v_wide_codes is null then
      return v_texts;
    end if;
    v_places := array(
      select c.place
      from (
        select
          unnest(v_codes)::integer + 129 as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) c
      -- Positions without a value come last, because v_texts has no text for them.
      order by coalesce(c.code, c.wide_code), c.place
    );
    return array(
      select t.value
      from (select unnest(v_texts) as value, unnest(v_places) as place) t
      order by t.place
    );
  end if;
  return logloom_private.dictionary_values(p_column, v_texts);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.column_texts_at (
  p_column    logloom_private.block_columns,
  p_positions integer[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET work_mem TO '32MB'
  AS $function$
declare
  v_at constant integer[] := array(select p - p_column.first + 1 from unnest(p_positions) p);
  v_dictionary text[] := p_column.dictionary;
  v_codes "char"[] := p_column.codes;
  v_wide_codes smallint[] := p_column.wide_codes;
  v_found integer[];
  v_wanted integer[];
  v_templates text[];
  v_counts integer[];
  v_places integer[];
begin
  if p_column.kind = 'texts' then
    return logloom_private.elements_at(p_column.texts, v_at);
  elsif p_column.kind = 'numbers' then
    return case when p_column.numbers is not null
      then logloom_private.elements_at(p_column.numbers, v_at)::text[]
      else logloom_private.elements_at(p_column.wide_numbers, v_at)::text[] end;
  end if;
  v_found := case
    when v_codes is not null then array(select v_codes[unnest(v_at)]::integer + 129)
    when v_wide_codes is not null then array(select v_wide_codes[unnest(v_at)])
    else array_fill(1, array[cardinality(v_at)])
  end;
  if p_column.kind = 'dictionary' then
    return array(select v_dictionary[unnest(v_found)]);
  end if;

  -- A template without digits is the value itself.
  v_wanted := array(
    select d.code
    from (select distinct f from unnest(v_found) f) d (code)
    where strpos(v_dictionary[d.code], '0') > 0
    order by d.code
  );
  -- The digits are stored by code, then by position. Before the digits of a value come the digits
  -- of all templates with lower codes, and the digits of its own template at lower positions.
  with lower as (
    select l.n, sum(sum(l.digits)) over (order by l.n) as digits
    from (
      -- n: how many of the wanted codes are less than or equal to this code.
      select
        width_bucket(d.code::integer, v_wanted) as n,
        d.count * (octet_length(d.template) - octet_length(replace(d.template, '0', ''))) as digits
      from unnest(v_dictionary, p_column.counts) with ordinality d (template, count, code)
      where d.code < v_wanted[cardinality(v_wanted)]
    ) l
    group by l.n
  ), places as (
    -- Searching for one code takes a twentieth of the time of collecting the places of all codes.
    select
      d.code,
      case when v_codes is null then array_positions(v_wide_codes, d.code::smallint)
        else array_positions(v_codes, (d.code - 129)::"char") end as places
    from unnest(v_wanted) d (code)
    where cardinality(v_wanted) <= 20
    union all
    select a.code, array_agg(a.place order by a.place)
    from (
      select coalesce(u.code::integer + 129, u.wide_code) as code, u.place
      from (
        select
          unnest(v_codes) as code, unnest(v_wide_codes) as wide_code,
          generate_series(1, p_column.last - p_column.first + 1) as place
      ) u
    ) a
    join unnest(v_wanted) d (code) on d.code = a.code
    where cardinality(v_wanted) > 20
    group by a.code
  ), templates as materialized (
    select
      d.code, octet_length(d.template) - octet_length(replace(d.template, '0', '')) as digits,
      coalesce(l.digits, 0)::integer as before, p.places
    from (
      select u.code, v_dictionary[u.code] as template, u.n
      from unnest(v_wanted) with ordinality u (code, n)
      offset 0
    ) d
    left join lower l on l.n = d.n - 1
    left join places p on p.code = d.code
  )
  select
    array_agg(v_dictionary[v.code] order by v.n), array_agg(v.digits order by v.n),
    array_agg(v.place order by v.n)
  into v_templates, v_counts, v_places
  from (
    select
      f.code, f.n, m.digits,
      m.before + m.digits * (coalesce(width_bucket(f.place, m.places), f.place) - 1) as place
    from unnest(v_found, v_at) with ordinality f (code, place, n)
    left join templates m on m.code = f.code
    -- Without "offset 0" PostgreSQL would sort the places of a template once for each value.
    offset 0
  ) v;
  -- "|| ''" reads the stored value once, not at each use.
  return logloom_private.fill_each(
    v_templates, v_counts, v_places, p_column.digits || ''::bytea
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.combined_value (
  p_group_id bigint,
  p_results  jsonb,
  p_start    timestamp with time zone,
  p_end      timestamp with time zone
)
  RETURNS double precision
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_minutes constant integer := extract(epoch from p_end - p_start) / 60;
  v_values constant double precision[] := array(
    select logloom_private.partial_value(
      a.item ->> 'kind', v_minutes, sum(m.events), sum(m.numbers), sum(m.total), min(m.least),
      max(m.greatest)
    )
    from jsonb_array_elements(p_results -> 'aggregates') with ordinality a (item, n)
    left join logloom_private.alert_partials m
      on m.group_id = p_group_id and m.part = a.n and m.minute >= p_start and m.minute < p_end
    group by a.n, a.item
    order by a.n
  );
  v_value double precision;
begin
  execute logloom_private.rule_value_sql(
    'select ' || logloom_private.numbered_sql(
      array(select format('$1[%s]', n) from generate_subscripts(v_values, 1) n order by n), 'v'
    ),
    p_results
  )
  into v_value
  using v_values;
  return v_value;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compact_log_counts()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_rows constant integer := 100000;
  v_max_services constant integer := logloom_private.max_counted_services();
  v_rows integer;
  v_arrived_days date[];
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('log_counts')) then
    return null;
  end if;
  -- Takes whole minutes of a tenant, so that negative counts meet the counts that they reduce.
  with minutes as (
    select distinct d.tenant_id, d.minute
    from (
      select c.tenant_id, c.minute
      from logloom_private.log_counts c
      where c.is_delta
      order by c.minute
      limit v_max_rows
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
    -- The sum of a service is negative if it was counted together with others when its records were
    -- added.
    select s.*, s.is_other or s.events < 0 or s.place > v_max_services as folded
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
  with superseded as (
    delete from logloom_private.log_writes a
    where exists (
      select from logloom_private.log_writes l where l.day = a.day and l.write_seq > a.write_seq
    )
    returning a.day
  )
  select array_agg(distinct s.day) into v_arrived_days from superseded s;
  perform logloom_private.summarize_writes(d.day) from unnest(v_arrived_days) d (day);
  return case when v_rows >= v_max_rows then interval '0' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compile_query (
  p_query_dsl text,
  p_now       timestamp with time zone DEFAULT now()
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.parse_query(p_query_dsl, p_now);
begin
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.compile_rule (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid,
  p_now       timestamp with time zone DEFAULT now()
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.parse_query(p_query_dsl, p_now);
  v_view logloom.log_views;
  v_shown logloom_private.compiled_query;
begin
  if p_view_id is null then
    return v_query;
  end if;
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  if logloom_private.reads_hidden(
    logloom_private.query_reads(jsonb_build_array(v_query.tree, v_query.plan)),
    v_view.hidden_fields
  ) then
    perform logloom_private.refuse('alerts.query_reads_what_is_hidden', v_view.name);
  end if;
  if v_view.query_dsl is null then
    return v_query;
  end if;
  v_shown := logloom_private.parse_query(v_view.query_dsl, p_now);
  v_query.tree := jsonb_build_object(
    'type', 'and', 'items', jsonb_build_array(v_shown.tree, v_query.tree)
  );
  v_query.ts_from := greatest(v_query.ts_from, v_shown.ts_from);
  v_query.ts_to := least(v_query.ts_to, v_shown.ts_to);
  v_query.names_now := v_query.names_now or v_shown.names_now;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.completed_preview (
  p_preview    public.logloom_alert_preview,
  p_values     logloom_private.alert_window[],
  p_is_grouped boolean,
  p_rule       logloom.alert_rules,
  p_bands      logloom_private.alert_band[]
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_alerts constant integer := 1000;
  v_settings logloom_private.settings;
  v_step constant interval := make_interval(mins => p_preview.step_minutes);
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with too many or too long groups has no value, and none of its groups fires.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
      or max(octet_length(w."group"::text)) > logloom_private.alert_group_bytes()
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_alerts(v_seen, p_rule, v_step, p_bands);
  p_preview.total_alerts := cardinality(v_alerts);
  p_preview.alerts := array(
    select a
    from (
      select o.a, sum(octet_length((o.a)."group"::text)) over (
        order by (o.a).window_end desc, (o.a)."group"
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from (
        select a from unnest(v_alerts) a
        order by a.window_end desc, a."group"
        limit case when p_is_grouped then v_max_alerts end
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from (
      select g from generate_series(p_preview.ts_from + v_step, p_preview.ts_to, v_step) g
      union
      select w.window_end from unnest(p_values) w
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  if not p_is_grouped then
    p_preview.band := logloom_private.shown_band(p_bands, null);
    return p_preview;
  end if;
  p_preview.crowded_windows := cardinality(v_crowded);
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(
      g."group", g.alerts, g.series, logloom_private.shown_band(p_bands, g."group")
    )::public.logloom_alert_preview_group
    from (
      select
        w."group", coalesce(a.alerts, 0)::integer as alerts, max(w.value) as greatest,
        array_agg(
          row(w.window_end, w.value)::public.logloom_alert_preview_point order by w.window_end
        ) as series
      from unnest(v_seen) w
      left join (
        select a."group", count(*) as alerts from unnest(v_alerts) a group by 1
      ) a on a."group" = w."group"
      group by w."group", a.alerts
      order by coalesce(a.alerts, 0) desc, greatest desc nulls last, w."group"
      limit logloom_private.max_series()
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.condition_fields (
  p_aggregates jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(jsonb_agg(distinct f.field), '[]')
    from jsonb_array_elements(p_aggregates) a (item)
    cross join lateral jsonb_path_query(
      jsonb_build_array(a.item -> 'condition'), 'strict $.** ? (@.field.type() == "string")'
    ) f (field)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.conditional_percentiles_sql (
  p_rows       text,
  p_aggregates jsonb,
  p_keys       text[],
  p_others     text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first bigint;
  v_has_condition boolean;
  v_percentiles jsonb;
begin
  for v_first, v_has_condition, v_percentiles in
    select
      min(a.n), bool_or(a.item ? 'condition'), jsonb_object_agg('q' || a.n, a.item -> 'fraction')
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    where a.item ->> 'fraction' is not null
    group by a.item -> 'condition'
    order by 1
  loop
    p_rows := logloom_private.percentiles_sql(
      format(
        'select %s, %s as doubles, l.doubles as numbers_of_all from (%s) l',
        array_to_string(array(select 'l.' || c from unnest(p_keys || p_others) c), ', '),
        case when v_has_condition then format('case when l.c%s then l.doubles end', v_first)
          else 'l.doubles' end,
        p_rows
      ),
      p_keys, p_others || '{doubles,numbers_of_all}', v_percentiles
    );
    p_others := p_others || array(select jsonb_object_keys(v_percentiles));
    p_rows := format(
      'select %s, l.numbers_of_all as doubles from (%s) l',
      array_to_string(array(select 'l.' || c from unnest(p_keys || p_others) c), ', '), p_rows
    );
  end loop;
  return p_rows;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.conditions_sql (
  p_aggregates jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select string_agg(
      format('%s as c%s, ', logloom_private.query_sql(a.item -> 'condition', 'l'), a.n),
      '' order by a.n
    )
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    where a.item ? 'condition'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.confirm_address (
  p_email text,
  p_code  text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads or confirms addresses
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_mailbox constant text := lower(logloom_private.trim_space(p_email));
  v_code constant text := logloom_private.trim_space(p_code);
  v_address logloom_private.notification_addresses;
begin
  perform logloom_private.require_parameter('p_email', p_email is null);
  perform logloom_private.require_parameter('p_code', p_code is null);
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
  if v_address.tries >= logloom_private.confirmation_tries() then
    perform logloom_private.refuse('notifications.code_was_tried_too_often');
  end if;
  -- Compares hashes, so that the time it takes says nothing about the code.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.confirmation_lifetime()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '24:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.confirmation_tries()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 5;

CREATE OR REPLACE FUNCTION logloom_private.continue_alert_round (
  p_round logloom_private.alert_rounds
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule_ids uuid[];
begin
  begin
    if logloom_private.advance_alert_groups(p_round, clock_timestamp() + interval '1 second') then
      return;
    end if;
  exception
    when lock_not_available or disk_full then
      raise;
    when query_canceled or others then
      perform logloom_private.record_job_error('evaluate_alerts', sqlstate, sqlerrm);
  end;
  v_rule_ids := logloom_private.next_alert_rules(
    p_round.rules_through, logloom_private.alert_step_rules(), p_round
  );
  begin
    perform logloom_private.judge_alert_rules(v_rule_ids, p_round, clock_timestamp());
  exception
    when lock_not_available or disk_full then
      raise;
    when query_canceled or others then
      perform logloom_private.record_job_error('evaluate_alerts', sqlstate, sqlerrm);
  end;
  -- After the last rule, only rules that must read their own windows are left.
  update logloom_private.alert_rounds r
  set
    rules_through = v_rule_ids[cardinality(v_rule_ids)],
    finished_at = case when v_rule_ids = '{}' then clock_timestamp() end
  where r.singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.continued_alert_round()
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_round
  from logloom_private.alert_rounds r
  where r.finished_at is not null
    and r.window_end > clock_timestamp() - logloom_private.alert_round_limit();
  if v_round.window_end is not null
    and (v_round.staged_by = pg_backend_pid() and to_regclass('pg_temp.alert_writes') is not null)
      is not true
    and exists (
      select from logloom_private.alert_groups g where g.write_seq < v_round.write_seq_to
    )
  then
    perform logloom_private.stage_alert_writes(v_round, '-infinity');
    update logloom_private.alert_rounds r set staged_by = pg_backend_pid() where r.singleton;
  end if;
  return v_round;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.counted_columns (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_names     text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_blocks constant integer := 256;
  -- Dictionaries read for all columns together
  v_max_dictionaries constant integer := 512;
  v_max_rows constant integer := 20000;
  v_rows logloom_private.sql_source := logloom_private.tenant_rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, 'true'
  );
  v_count integer;
  v_blocks bigint[];
  v_names text[];
begin
  v_blocks := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.last_ts >= p_query.ts_from and c.first_ts < p_query.ts_to
      and c.damaged_at is null and logloom_private.can_read(c.format)
    limit v_max_blocks + 1
  );
  if cardinality(v_blocks) not between 1 and v_max_blocks then
    return '{}';
  end if;
  v_rows.max_rows := v_max_rows + 1;
  execute format(
    'select count(*) from (select l.ts %s) l', logloom_private.source_sql(v_rows)
  )
  into v_count;
  if v_count > v_max_rows then
    return '{}';
  end if;
  -- Dictionaries with more than 256 values are too slow to count.
  v_names := array(
    select k.name
    from logloom_private.block_columns k
    where k.tenant_id = p_tenant_id and k.block_id = any(v_blocks) and k.name = any(p_names)
    group by k.name
    having bool_and(k.kind = 'dictionary' and k.wide_codes is null)
  );
  return array(
    select n.name
    from unnest(p_names) with ordinality n (name, place)
    where n.name = any(v_names)
      and cardinality(v_blocks) - 2 <= cardinality(logloom_private.blocks_with_counts(
        p_tenant_id, v_blocks, p_query.ts_from, p_query.ts_to, n.name
      ))
    order by n.place
    limit v_max_dictionaries / cardinality(v_blocks)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.counted_rows_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fields constant text[] :=
    logloom_private.query_reads(jsonb_build_array(p_query.tree, p_query.plan))
    || p_query.by_fields;
  v_first constant timestamptz :=
    date_bin('1 minute', p_from + interval '59.999999 seconds', 'epoch');
  v_last constant timestamptz := date_bin('1 minute', p_to, 'epoch');
  v_filter text;
  v_hides_services boolean;
  v_sql text;
  v_edge tstzrange;
begin
  if v_first >= v_last
    or not v_fields <@ array['level', 'service']
    or p_query.aggregate not in ('count', 'rate')
  then
    return null;
  end if;
  if 'service' = any(v_fields) then
    execute 'select exists (select ' || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, 'l.is_other', 'logloom_private.log_counts', 'minute'
    )) || ')'
    into v_hides_services;
    if v_hides_services then
      return null;
    end if;
  end if;

  v_filter := logloom_private.query_sql(p_query.tree, 'l');
  v_sql := '(select l.minute as ts, l.level, l.service, l.events '
    || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter, 'logloom_private.log_counts', 'minute'
    ))
    || ' union all select l.ts, l.level, l.service, l.events '
    || logloom_private.source_sql(logloom_private.tenant_rows_sql(
      p_tenant_id, v_first, v_last, v_filter,
      format(
        'logloom_private.block_counts(%s, %L, %L)',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), v_first, v_last
      )
    ));
  foreach v_edge in array array[tstzrange(p_from, v_first), tstzrange(v_last, p_to)] loop
    continue when isempty(v_edge);
    v_sql := v_sql || ' union all select l.ts, l.level, l.service, 1 '
      || logloom_private.source_sql(logloom_private.records_sql(
        p_tenant_id, p_query, lower(v_edge), upper(v_edge), array['ts', 'level', 'service']
      ));
  end loop;
  return logloom_private.rows_from(v_sql || ') l');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint,
  p_by        text[]
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_source logloom_private.counted_source;
  v_by constant text := array_to_string(array(select ', l.' || b from unnest(p_by) b), '');
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- Groups like count() by p_by.
  p_query.by_fields := p_by;
  p_query.plan := jsonb_build_object('reads', p_by);
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    'select %s as ts%s, %s as count %s group by 1%2$s',
    logloom_private.bucket_sql(p_seconds), v_by, logloom_private.source_count_sql(v_source),
    logloom_private.source_sql(v_source.rows_sql)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.current_user_id()
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN (logloom_private.claims() ->> 'sub'::text);

CREATE OR REPLACE FUNCTION logloom_private.actor()
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN COALESCE(logloom_private.current_user_id(), NULLIF(current_setting('role'::text, true), 'none'::text), (SESSION_USER)::text);

CREATE OR REPLACE FUNCTION logloom_private.cursor_after (
  p_cursor text,
  p_after  text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cursor logloom_private.page_cursor;
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
  v_ts constant timestamptz := logloom_private.iso_instant(v_after[1]);
begin
  if p_after is null then
    return p_cursor;
  elsif v_ts is null then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_cursor := logloom_private.decode_page_cursor(p_cursor);
  -- A relative range may have moved past p_after. Records after p_after would then be missing.
  if not v_ts <@ tstzrange(v_cursor.ts_from, v_cursor.ts_to) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_cursor.ts := v_ts;
  v_cursor.id := v_after[2];
  return logloom_private.encode_page_cursor(v_cursor);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_stream_batch (
  p_stream logloom.log_streams,
  p_query  logloom_private.compiled_query
)
  RETURNS logloom_private.stream_batch
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
declare
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_is_again constant boolean := p_stream.batch_id is not null;
  v_last constant bigint := case when v_is_again then p_stream.batch_end_seq
    else logloom_private.last_write_seq() end;
  v_limit constant integer := case when v_is_again then 1000 else p_stream.batch_limit end;
  v_first bigint := p_stream.position_seq;
  v_id uuid := p_stream.position_id;
  v_step_last bigint;
  v_left integer;
  v_steps bigint := 1;
  -- A repeated batch must end where it ended before, so its size has no limit.
  v_bytes bigint := case when v_is_again then 1000000000 else p_stream.batch_bytes end;
  v_block_end bigint;
  v_sealed_sql text;
  v_sealed logloom.logs[];
  v_sealed_through bigint := -1;
  v_size bigint;
  v_found public.logloom_log_record[];
  v_write_seqs bigint[];
  v_fit integer;
  v_max_id constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  v_batch logloom_private.stream_batch;
begin
  v_batch.records := '{}';
  while v_first <= v_last loop
    v_step_last := case when v_is_again then v_last else least(v_first + v_steps - 1, v_last) end;
    v_left := v_limit + 1 - cardinality(v_batch.records);
    -- A block is read once for all steps in it.
    if v_first > v_sealed_through then
      select least(v_last, min(c.first_write_seq) - 1), least(v_last, min(c.last_write_seq))
      into v_sealed_through, v_block_end
      from logloom_private.blocks c
      where c.tenant_id = p_stream.tenant_id and c.last_write_seq >= v_first;
      if v_is_again then
        v_sealed_through := v_last;
      elsif v_first > v_sealed_through then
        v_sealed_through := v_block_end;
      end if;
      v_sealed_sql := logloom_private.sealed_tail_sql(
        p_stream.tenant_id, p_query, v_left, v_first, v_id, v_sealed_through, v_bytes
      );
      v_sealed := null;
      if v_sealed_sql is not null then
        execute 'select array(select l from ' || v_sealed_sql || ' l)' into v_sealed;
      end if;
    end if;
    v_step_last := least(v_step_last, v_sealed_through);
    execute 'select coalesce(array_agg(r.record), ''{}''), array_agg(r.write_seq), '
      || 'coalesce(sum(r.record_bytes), 0) from ('
      || logloom_private.page_sql(
        p_query,
        logloom_private.log_tail_rows_sql(
          p_stream.tenant_id, p_query, v_left, v_first, v_id, v_step_last,
          case when v_sealed <> '{}' then
            format(
              '(select s.* from unnest($1) s where s.write_seq between %s and %s)',
              v_first, v_step_last
            )
          end
        ),
        v_left, v_bytes, true, ', l.write_seq, l.record_bytes'
      )
      || ') r'
    into v_found, v_write_seqs, v_size
    using v_sealed;
    -- The first record that does not fit is null, and so are all after it.
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
    -- Sealed records beyond these bytes were not read.
    v_bytes := v_bytes - greatest(logloom_private.answered_bytes(v_found), v_size);
    v_steps := v_steps * 4;
    exit when v_bytes <= 0 or clock_timestamp() > v_deadline;
  end loop;
  -- After deletions, the repeated batch may have records from after its old end. Removes them.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cut_words (
  p_text text
)
  RETURNS text[]
  LANGUAGE sql
  IMMUTABLE
RETURN regexp_split_to_array((lower((p_text COLLATE pg_c_utf8)) COLLATE "C"), '[\u0001-@[-`{-\u007f]+'::text);

CREATE OR REPLACE FUNCTION logloom_private.damage_warnings (
  p_tenant_id text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.damaged_at is not null
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', 'some stored records are damaged and left out',
      'suggestion', 'Ask the operators of the service: the verification lists them.'
    ))
    else '[]'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.dashboards_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
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
      'Delete a dashboard, or choose a larger plan.', null),
    ('dashboards.not_its_creator', 403, 'Only its creator may change or delete a dashboard',
      'Create your own with create_log_dashboard.', 'A colleague created and shared it.'),
    ('dashboards.not_found', 404, 'Dashboard not found',
      'list_log_dashboards shows the dashboards that you can see.',
      'It does not exist, belongs to another tenant, or is a colleague''s private one.'),
    ('dashboards.changed_since', 409, 'The dashboard has changed since p_updated_at',
      'Read it again with get_log_dashboard, then repeat your change.', null);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.database_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_state constant text := case
    when logloom_private.is_read_only() then 'read_only'
    when exists (
      select from logloom_private.jobs j
      where j.failures > 0 and j.last_error like '53100:%' and not j.is_paused
    ) then 'full'
    else 'writable'
  end;
  v_mend constant text := 'see A read-only or full database in docs/guides/operations.md';
begin
  return logloom_private.health_grade(
    case v_state
      when 'read_only' then
        'The database is read-only: ingest refuses events and jobs pause until it accepts writes: '
          || v_mend
      when 'full' then 'The disk of the database is full: ' || v_mend
    end,
    null
  ) || jsonb_build_object('state', v_state);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.day_is_kept (
  p_day   date,
  p_today date
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_nestloop TO 'off'
  AS $function$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
      or a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.day_start (
  p_day date
)
  RETURNS timestamp WITH time zone
  LANGUAGE sql
  IMMUTABLE
RETURN ((p_day)::timestamp WITHOUT time zone AT TIME ZONE 'UTC'::text);

CREATE OR REPLACE FUNCTION logloom_private.day_to_drop (
  p_today date,
  OUT     day date,
  OUT     overtakes_archive boolean
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day date;
begin
  loop
    v_day := logloom_private.next_stored_day(v_day, p_today - 1);
    overtakes_archive := v_day is null;
    exit when v_day is null;
    if exists (
      select
      from logloom_private.day_tenants(v_day) t (tenant_id)
      where not logloom_private.awaits_archive(t.tenant_id, v_day, p_today)
        -- Restored records can be dropped: the archive still has them.
        or exists (
          select
          from logloom_private.kept_longer k
          where k.tenant_id = t.tenant_id and k.kept_until > now()
            and v_day between k.first_day and k.last_day
        )
    ) then
      day := v_day;
      exit;
    end if;
    if day is null and exists (select from logloom_private.day_tenants(v_day)) then
      day := v_day;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.days_sql (
  p_days date[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce('(' || string_agg(s.sql, ' or ' order by s.first_day) || ')', 'false')
    from (
      select
        min(d.day) as first_day,
        format(
          'l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
          logloom_private.day_start(min(d.day)), logloom_private.day_start(max(d.day) + 1)
        ) as sql
      from (
        select u.day, u.day - (row_number() over (order by u.day))::integer as row_begin
        from unnest(p_days) u (day)
      ) d
      group by d.row_begin
    ) s
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.days_with_rows (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS date[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_days date[];
begin
  select array_agg(d.day order by d.day)
  into v_days
  from logloom_private.log_days d
  where d.tenant_id = p_tenant_id
    and d.day between (p_from at time zone 'UTC')::date
      and ((p_to - interval '1 microsecond') at time zone 'UTC')::date;
  return coalesce(v_days, '{}');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.decided_groups (
  p_rule       logloom.alert_rules,
  p_window_end timestamp with time zone,
  p_seen       logloom_private.alert_window[]
)
  RETURNS jsonb[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_plan logloom_private.alert_plans;
begin
  select p.* into v_plan from logloom_private.alert_plans p where p.rule_id = p_rule.rule_id;
  if p_rule.baseline_days is null and not coalesce(v_plan.results ? 'math', false) then
    return null;
  end if;
  return array(
    select coalesce(i."group", 'null')
    from logloom.alert_incidents i
    left join unnest(p_seen) s on s."group" is not distinct from i."group"
    where i.rule_id = p_rule.rule_id
      and i.resolved_at is null
      and coalesce(
        s.value, logloom_private.absent_value(v_plan.aggregate, v_plan.results)
      ) is not null
      and logloom_private.threshold_of_window(
        p_rule, row(null, null, p_window_end, null, null, i."group", null)
      ) is not null
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.decode_cursor (
  p_cursor  text,
  p_pattern text
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_bytes bytea;
  v_is_sealed boolean;
  v_text text;
  v_parts text[];
begin
  begin
    v_bytes := decode(
      rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'
    );
    v_is_sealed := substr(v_bytes, 1, 32) = extensions.hmac(substr(v_bytes, 33), v_key, 'sha256');
    if v_is_sealed then
      v_bytes :=
        extensions.decrypt_iv(substr(v_bytes, 49), sha256(v_key), substr(v_bytes, 33, 16), 'aes');
    end if;
    v_text := rtrim(convert_from(v_bytes, 'UTF8'));
  exception when data_exception then
    v_text := null;
  end;
  if not v_is_sealed and starts_with(v_text, 'tail ') then
    perform logloom_private.refuse('search.cursor_is_outdated');
  end if;
  v_parts := regexp_match(v_text, p_pattern);
  if v_parts is null then
    perform logloom_private.refuse('search.cursor_is_invalid');
  end if;
  return v_parts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.decode_page_cursor (
  p_cursor text
)
  RETURNS logloom_private.page_cursor
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts constant text[] := case when p_cursor is not null then logloom_private.decode_cursor(
    p_cursor,
    '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
      || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?(?: w(\d{1,18}))?$'
  ) end;
  v_times constant timestamptz[] := array(
    select 'epoch'::timestamptz + (m || ' microseconds')::interval
    from unnest(v_parts[2:5] || v_parts[8]) m
  );
begin
  return row(
    v_parts[1], v_times[1], v_parts[6], v_times[2], v_times[3], v_times[4], v_parts[7], v_times[5]
  )::logloom_private.page_cursor;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_archive()
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- From here on nothing is archived.
  update logloom.plans p set archive_days = 0 where p.archive_days > 0;
  insert into logloom_private.archive_garbage (object_key, tenant_id, reason)
  select f.object_key, f.tenant_id, 'expired'
  from logloom_private.forget_archive('The archive is deleted') f
  on conflict (object_key) do nothing;
  update logloom_private.archive_garbage g set next_attempt_at = clock_timestamp() where true;
  return (select count(*) from logloom_private.archive_garbage);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_dead_letters (
  p_run    logloom.retention_runs,
  p_filter text
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_deleted integer;
begin
  execute 'delete ' || logloom_private.source_sql(logloom_private.tenant_rows_sql(
    p_run.tenant_id, p_run.ts_from, p_run.ts_to, p_filter, 'logloom_private.dead_letters'
  ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_expired (
  p_tenant_id text,
  p_day       date,
  p_today     date
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows logloom_private.sql_source;
  v_end logloom_private.log_key;
  v_deleted integer;
begin
  if p_day >= logloom_private.first_kept_day(p_tenant_id, p_today)
    and not exists (select from logloom_private.storage s where s.limit_day = p_day)
  then
    return 0;
  end if;
  -- Passes constants, so that only one partition is read.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true'
  );
  v_end := logloom_private.rows_end(v_rows);
  if v_end.ts is null then
    return 0;
  end if;
  v_deleted := logloom_private.delete_to_end(v_rows, v_end, 'true');
  perform logloom_private.note_deletions(array[p_tenant_id], array[v_deleted], 0, p_today);
  return v_deleted;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_expired_of_day (
  p_place logloom_private.retention_place
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- No record may arrive between the check that all is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, logloom_private.retention_step_tenants()
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  perform logloom_private.note_stream_gaps(p_place.day, p_place.today, v_tenants);
  -- Takes as many tenants as fit in one step, at least one.
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
  if v_first.tenant_id is null then
    perform logloom_private.leave_days(v_tenants, array[p_place.day]);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_first.tenant_ids is not null then
    v_error := logloom_private.forget_expired(
      v_first.tenant_ids, p_place.day, p_place.today
    );
    if v_error is not null then
      -- The next retention tries it again.
      v_through := v_first.tenant_ids[cardinality(v_first.tenant_ids)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        v_error := format('%s: %s', sqlstate, sqlerrm);
        v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_to_end (
  p_rows   logloom_private.sql_source,
  p_end    logloom_private.log_key,
  p_filter text
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_deleted integer;
begin
  p_rows.where_sql := format(
    '%s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%2$L::timestamptz, %L::uuid) and (%s)',
    p_rows.where_sql, p_end.ts, p_end.id, p_filter
  );
  execute logloom_private.removed_records_sql('delete ' || logloom_private.source_sql(p_rows))
  into v_deleted;
  return v_deleted;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.deletion_step (
  p_run_id uuid
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run logloom.retention_runs;
  v_query logloom_private.compiled_query;
  v_from timestamptz;
  v_day date;
  v_day_end timestamptz;
  v_rows logloom_private.sql_source;
  v_end logloom_private.log_key;
  v_block_id bigint;
  v_dead_letters integer := 0;
  v_deleted integer := 0;
begin
  select r.* into v_run from logloom.retention_runs r where r.run_id = p_run_id for no key update;
  insert into logloom_private.deletion_turns as t (tenant_id, served_at)
  values (v_run.tenant_id, clock_timestamp())
  on conflict (tenant_id) do update set served_at = excluded.served_at;
  v_query := logloom_private.compile_query(v_run.query_dsl, v_run.requested_at);
  perform logloom_private.begin_archive_erasure(
    v_run.run_id, v_run.tenant_id, v_run.query_dsl, v_run.requested_at, v_run.ts_from, v_run.ts_to
  );
  if v_run.position_ts is null then
    v_dead_letters := logloom_private.delete_dead_letters(v_run, v_query.filter);
  end if;

  -- Takes one day of the tenant at a time, so that a statement opens one partition.
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
      end
    );
    v_end := logloom_private.rows_end(v_rows);
    if v_end.ts is null then
      -- The day has no more rows. The next step begins with the next day.
      v_end := (v_day_end, '00000000-0000-0000-0000-000000000000');
    else
      v_deleted := logloom_private.delete_to_end(v_rows, v_end, v_query.filter);
    end if;
  else
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_run.tenant_id
      and c.last_ts >= v_run.ts_from and c.first_ts < v_run.ts_to
      and c.block_id > coalesce(v_run.position_block, 0);
    v_deleted := logloom_private.delete_from_block(v_block_id, v_run, v_query);
  end if;
  update logloom.retention_runs r
  set status = 'running',
    records = r.records + v_dead_letters + v_deleted,
    position_ts = coalesce(v_end.ts, r.position_ts),
    position_id = coalesce(v_end.id, r.position_id),
    position_block = coalesce(v_block_id, r.position_block)
  where r.run_id = p_run_id;
  return v_end.ts is not null or v_block_id is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delivery (
  p_notification logloom_private.notifications
)
  RETURNS public.logloom_alert_delivery
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_notification).notification_id, (p_notification).alert_id, (p_notification).rule_id, (p_notification).channel, (p_notification).status, (p_notification).attempts,
  (p_notification).created_at,
  (p_notification).last_attempt_at,
  CASE (p_notification).status WHEN 'pending'::text THEN (p_notification).next_attempt_at ELSE NULL::timestamp WITH time zone END,
  CASE (p_notification).status WHEN 'delivered'::text THEN (p_notification).settled_at ELSE NULL::timestamp WITH time zone END,
  (p_notification).last_status,
  (p_notification).last_error,
  (p_notification).purpose,
  CASE (p_notification).status WHEN 'pending'::text THEN (p_notification).expires_at ELSE NULL::timestamp WITH time zone END)::public.logloom_alert_delivery;

CREATE OR REPLACE FUNCTION logloom_private.dictionary_count (
  p_tenant_id text,
  p_blocks    bigint[],
  p_leaf      jsonb,
  OUT         o_blocks bigint[],
  OUT         o_events bigint
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_column constant text := coalesce('attrs.' || v_key, p_leaf ->> 'field');
begin
  o_blocks := case
    when p_leaf ->> 'decided_by' in ('dictionary', 'numbers') and p_leaf ->> 'joined' is null
      then logloom_private.blocks_with_counts(
        p_tenant_id, p_blocks, '-infinity', 'infinity', v_column
      )
    else '{}'
  end;
  if o_blocks = '{}' then
    return;
  end if;
  execute format(
    $query$
      select coalesce(sum(l.count), 0)
      from (
        select %1$s as %2$I, d.count
        from logloom_private.block_columns k
        cross join lateral unnest(k.dictionary, k.counts) d (value, count)
        where k.tenant_id = $1 and k.block_id = any($2) and k.name = %3$L
      ) l
      where %4$s
    $query$,
    case when v_key is not null
      then format('jsonb_build_object(%L::text, d.value::jsonb)', v_key) else 'd.value' end,
    p_leaf ->> 'field', v_column, logloom_private.query_sql(p_leaf, 'l')
  )
  into o_events
  using p_tenant_id, o_blocks;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.dictionary_values (
  p_column logloom_private.block_columns,
  p_each   anyarray
)
  RETURNS anyarray
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
begin
  if p_column.codes is not null then
    return array(select p_each[unnest(p_column.codes)::integer + 129]);
  elsif p_column.wide_codes is not null then
    return array(select p_each[unnest(p_column.wide_codes)]);
  end if;
  return array_fill(p_each[1], array[p_column.last - p_column.first + 1]);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.digest_of_signer (
  p_key_id    uuid,
  p_signature text,
  p_message   bytea
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because service_role reads no digests
declare
  v_digest constant text := (
    select encode(k.key_digest, 'hex') from logloom.api_keys k where k.key_id = p_key_id
  );
  v_signature constant text :=
    encode(extensions.hmac(p_message, convert_to(v_digest, 'UTF8'), 'sha256'), 'hex');
begin
  -- Compares digests: how long that takes says nothing about the signature.
  if (sha256(convert_to(v_signature, 'UTF8')) = sha256(convert_to(p_signature, 'UTF8'))) is not true
  then
    perform logloom_private.refuse('callers.signature_is_wrong');
  end if;
  return v_digest;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_alert_windows (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds
)
  RETURNS SETOF logloom_private.alert_window
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb, null::boolean
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(
        r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
      ),
      p_round.window_end - r.delay - logloom_private.alert_catch_up_limit()
    ),
    p_round.window_end - r.delay,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    -- Skips windows that ended before the rule was created or changed: they may lack records that a
    -- search showed at that time. The rule's first window is the next round's.
    and e.window_end > r.asked_at
    -- A rule that was never evaluated gets only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end - r.delay)
    -- An evaluated window is evaluated again only if late records arrived.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at - r.delay
      or e.window_end > a.first_ts
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_notifications()
  RETURNS TABLE (
    notification_id uuid,
    tenant_id       text,
    next_attempt_at timestamp with time zone,
    is_beyond_plan  boolean,
    channel_limit   integer
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  with due as (
    select
      n.notification_id, n.tenant_id, k.kind, n.next_attempt_at,
      row_number() over (
        partition by n.tenant_id, k.kind order by n.next_attempt_at
      ) as channel_place
    from logloom_private.notifications n
    cross join lateral logloom_private.channel_kind(n.channel) k (kind)
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at > now()
      -- Keeps the order: an alert before its recovery, a recovery before the next alert.
      and not (
        n.purpose in ('alert', 'recovery')
        and exists (
          select
          from logloom_private.notifications e
          where e.rule_id = n.rule_id and e.channel = n.channel and e.status = 'pending'
            and (
              e.purpose = 'recovery'
              or e.purpose = 'alert' and (n.purpose = 'recovery' or n.channel = 'pagerduty')
            )
            and e.group_key = n.group_key and e.position < n.position
        )
      )
  ), senders as (
    select
      d.tenant_id, d.kind,
      logloom_private.channel_limit(d.kind, d.tenant_id) as attempts
    from (select distinct x.tenant_id, x.kind from due x) d
  )
  select
    d.notification_id, d.tenant_id, d.next_attempt_at,
    d.channel_place > s.attempts - coalesce(u.attempts, 0), s.attempts
  from due d
  join senders s on s.tenant_id = d.tenant_id and s.kind = d.kind
  left join logloom_private.notification_usage u
    on u.tenant_id = d.tenant_id and u.channel = d.kind and u.hour = date_trunc('hour', now());
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.email_refusal (
  p_notification logloom_private.notifications
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- This limit holds for all tenants together.
  v_codes_per_mailbox constant integer := 10;
  v_is_confirmed constant boolean := logloom_private.address_is_confirmed(
    p_notification.tenant_id, p_notification.address
  );
begin
  if p_notification.purpose <> 'confirmation' then
    return case when not v_is_confirmed then logloom_private.unconfirmed_address(
      p_notification.tenant_id, p_notification.address
    ) end;
  elsif v_is_confirmed then
    return 'The address is already confirmed';
  -- Without this, a user could send unlimited mail by creating rules and deleting them at once.
  elsif not logloom_private.rule_names_address(
    p_notification.tenant_id, lower(p_notification.address)
  ) then
    return 'No alert rule has this address any more';
  end if;
  -- Retries do not count: the first attempt counted.
  if p_notification.attempts = 0 and (
    select count(*) >= v_codes_per_mailbox
    from logloom_private.confirmation_mails m
    where m.mailbox_digest = logloom_private.mailbox_digest(p_notification.address)
      and m.sent_at > now() - logloom_private.confirmation_lifetime()
  ) then
    return 'Too many codes were mailed to this address: none is mailed to it today';
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.empty_moved_slots()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Truncating costs as much as moving some thousand events.
  v_enough_events constant bigint := 20000;
  v_slot smallint;
  v_lock_wait text;
  v_has_emptied boolean := false;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return false;
  end if;
  for v_slot in
    select s.slot
    from logloom_private.queue_slots s, logloom_private.queue_pointer p
    where s.slot <> p.open_slot
      and s.slot is distinct from p.closed_slot
      and (
        s.moved_events >= v_enough_events
        or s.moved_events > 0 and s.truncated_at < now() - logloom_private.truncate_age()
      )
  loop
    begin
      v_lock_wait := logloom_private.limit_lock_wait('50 milliseconds');
      execute format('truncate logloom_private.%I', 'queue_slot_' || v_slot);
      update logloom_private.queue_slots s
      set moved_events = 0, metered_events = 0, truncated_at = now()
      where s.slot = v_slot;
      perform logloom_private.restore_lock_wait(v_lock_wait);
      v_has_emptied := true;
    exception when lock_not_available then
      -- A session is reading the slot. A later run empties it.
      continue;
    end;
  end loop;
  return v_has_emptied;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.empty_value (
  p_query logloom_private.compiled_query
)
  RETURNS double precision
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_value double precision;
begin
  execute format(
    'select g.v%s from (%s) g', logloom_private.value_number(p_query.plan),
    logloom_private.math_sql(
      'select ' || logloom_private.numbered_sql(
        array(
          select case
            when a.item ->> 'kind' in ('count', 'rate', 'sum', 'count_distinct')
              then '0::double precision'
            else 'null::double precision' end
          from jsonb_array_elements(logloom_private.series_aggregates(p_query))
            with ordinality a (item, n)
          order by a.n
        ),
        'v'
      ),
      p_query.plan
    )
  )
  into v_value;
  return v_value;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_cursor (
  p_parts text[]
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant bytea := (select i.cursor_key from logloom_private.installation i);
  v_iv constant bytea := extensions.gen_random_bytes(16);
  v_text constant text := array_to_string(p_parts, ' ');
  -- Padded, so that the length does not tell the size of the numbers.
  v_sealed constant bytea := v_iv || extensions.encrypt_iv(
    convert_to(rpad(v_text, greatest(length(v_text), 64)), 'UTF8'), sha256(v_key), v_iv, 'aes'
  );
begin
  return translate(
    encode(extensions.hmac(v_sealed, v_key, 'sha256') || v_sealed, 'base64'), e'+/=\n', '-_'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.encode_page_cursor (
  p_cursor logloom_private.page_cursor
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_microseconds constant bigint[] := array(
    select (extract(epoch from t) * 1000000)::bigint
    from unnest(array[
      p_cursor.ts, p_cursor.ts_from, p_cursor.ts_to, p_cursor."now", p_cursor.received_before
    ]) t
  );
begin
  return logloom_private.encode_cursor(
    array['page', p_cursor."order"] || v_microseconds[1:4]::text[]
      || array[p_cursor.id::text, p_cursor.records_left::text, 'w' || v_microseconds[5]]
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_answered_batch (
  p_stream logloom.log_streams,
  p_took   integer,
  p_status integer,
  p_error  text,
  p_answer text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_took > 0 then
    update logloom.log_streams s
    set sent_batches = s.sent_batches + 1,
      batch_limit = least(s.batch_limit * 2, 1000),
      -- Grows by a tenth. If it doubled, every other batch would be too large again.
      batch_bytes = least(s.batch_bytes + s.batch_bytes / 10, 1000000),
      failing_since = null,
      failing_told_at = null,
      is_proven = true,
      last_success_at = now()
    where s.stream_id = p_stream.stream_id;
  elsif p_stream.refused_in_a_row >= 100 then
    perform logloom_private.pause_stream(p_stream, 'refused');
  end if;
  if v_was_all then
    perform logloom_private.release_stream(p_stream, p_stream.position_seq - 1);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_retention (
  p_error text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom_private.retention_place p
  set finished_at = clock_timestamp(),
    failing_since = case when p_error is not null then coalesce(p.failing_since, now()) end
  where p.singleton;
  if p_error is not null then
    update logloom_private.jobs j
    set last_failed_at = clock_timestamp(), last_error = p_error, failures = j.failures + 1
    where j.name = 'run_retention';
    return;
  end if;
  update logloom.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from logloom.retention_runs r
  using logloom_private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_retention_day (
  p_day   date,
  p_error text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- Close the runs of a day that was dropped because storage is full.
  with done as (
    update logloom.retention_runs r
    set status = 'done', finished_at = clock_timestamp()
    where r.kind = 'storage' and r.status = 'running'
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    d.tenant_id, d.requested_by, 'logs.day_dropped', p_day::text,
    jsonb_build_object('run_id', d.run_id, 'records', d.records)
  from done d;
  update logloom_private.retention_place p
  set done_through = case when s.limit_day is null then p_day else p.done_through end,
    day = null, tenant_through = null, attempts = 0, error = coalesce(p.error, p_error)
  from logloom_private.storage s
  where p.singleton;
  update logloom_private.storage s
  set limit_day = null, overtakes_archive = false
  where s.limit_day is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_notifications (
  p_rule        logloom.alert_rules,
  p_purpose     text,
  p_alert       logloom.alert_history,
  p_body        text,
  p_is_silenced boolean               DEFAULT false
)
  RETURNS SETOF logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_preferences constant jsonb := to_jsonb(
    (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences
  );
  v_lifetime constant interval := logloom_private.notification_lifetime();
  v_destination record;
  v_collects boolean;
  v_notification logloom_private.notifications;
begin
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id)
    values (p_rule.rule_id)
    on conflict (rule_id) do nothing;
  end if;
  for v_destination in
    select d.channel, a.address
    from unnest(p_rule.notification_destinations) d (channel)
    cross join lateral logloom_private.channel_address(
      d.channel, p_rule.notification_config, p_rule.notification_secrets
    ) a (address)
    where (v_preferences -> (logloom_private.channel_kind(d.channel) || '_enabled'))::boolean
      and a.address is not null
      and (
        p_purpose <> 'recovery'
        or (d.channel = 'pagerduty' or p_rule.notify_on_recovery and not p_is_silenced)
        and logloom_private.is_told(p_rule.rule_id, p_alert.incident_id, d.channel)
      )
  loop
    -- A pager has its own incident for each group.
    v_collects := p_purpose <> 'test' and p_rule.group_wait_seconds > 0
      and p_alert."group" is not null and v_destination.channel <> 'pagerduty';
    if v_collects then
      v_notification := logloom_private.collect_alert(
        p_rule, p_purpose, v_destination.channel, p_alert.alert_id, p_body
      );
      if v_notification.notification_id is not null then
        return next v_notification;
        continue;
      end if;
    end if;
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, incident_id, purpose, channel, address, body, expires_at,
      next_attempt_at, group_key, template
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_alert.alert_id, p_alert.incident_id, p_purpose,
      v_destination.channel, v_destination.address, p_body, now() + v_lifetime,
      case
        when v_collects then now() + make_interval(secs => p_rule.group_wait_seconds)
        else now()
      end,
      case when v_collects then 'collected' else coalesce(md5(p_alert."group"::text), '') end,
      case when v_destination.channel = 'webhook' then jsonb_build_object(
        'text', p_rule.notification_config -> 'webhook_template',
        'type', coalesce(p_rule.notification_config -> 'webhook_template_type', '"json"')
      ) end
    )
    returning * into v_notification;
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- A test may request another code. An alert may not, because it could fire for ever.
          when p_purpose = 'test' then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address(
            v_notification.tenant_id, v_notification.address
          )
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_recovery()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule logloom.alert_rules;
  v_end logloom.alert_history;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  if not found
    or not (v_rule.notify_on_recovery or 'pagerduty' = any (v_rule.notification_destinations))
    or new.end_told_at is not null
  then
    return null;
  end if;
  v_end.incident_id := new.incident_id;
  v_end."group" := new."group";
  perform
  from logloom_private.enqueue_notifications(
    v_rule, 'recovery', v_end, logloom_private.recovery_body(v_rule, new),
    logloom_private.silence_of_alert(
      new.tenant_id, new.rule_id, new."group", new.resolved_at
    ) is not null
  );
  if found then
    update logloom.alert_incidents i
    set end_told_at = new.resolved_at
    where i.incident_id = new.incident_id;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_rule_test (
  p_rule_id uuid
)
  RETURNS SETOF public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_rule logloom.alert_rules;
  v_sample logloom.alert_history;
  v_kind text;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_rule
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.purpose = 'test'
      and n.created_at > now() - logloom_private.notification_test_interval()
  ) then
    perform logloom_private.refuse('notifications.tested_a_moment_ago');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  for v_kind in
    select distinct logloom_private.channel_kind(d.channel)
    from unnest(v_rule.notification_destinations) d (channel)
  loop
    perform logloom_private.require_room_for_test(v_tenant_id, v_kind);
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := date_trunc('minute', now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, 'test', v_sample, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(n) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_wait()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:00:00.2'::interval;

CREATE OR REPLACE FUNCTION logloom_private.evaluate_alerts()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_round logloom_private.alert_rounds;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('alerts')) then
    return interval '100 milliseconds';
  end if;
  -- Records are staged in the session that began the round. Another session begins it again.
  select r.* into v_round
  from logloom_private.alert_rounds r
  where r.finished_at is null and r.staged_by = pg_backend_pid()
    and (
      r.write_seq_from = r.write_seq_to or to_regclass('pg_temp.alert_writes') is not null
    );
  if not found then
    v_round := logloom_private.begin_alert_round(
      clock_timestamp(),
      logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
    );
  end if;
  if v_round.window_end is not null then
    perform logloom_private.continue_alert_round(v_round);
    return '0';
  end if;
  v_round := logloom_private.continued_alert_round();
  if v_round.window_end is not null then
    return case
      when logloom_private.read_alert_windows(v_round, clock_timestamp()) is not null
        then interval '0'
    end;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.exact_field (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_field     public.logloom_log_field
)
  RETURNS public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.search_query(
    null, '| count() by ' || p_field.field, now(), 'rows'
  );
  v_source logloom_private.counted_source;
begin
  v_query.tree := p_query.tree;
  v_query.filter := p_query.filter;
  v_query.ts_from := p_query.ts_from;
  v_query.ts_to := p_query.ts_to;
  v_query.hidden_fields := p_query.hidden_fields;
  v_source := logloom_private.stats_source(p_tenant_id, v_query, true, null);
  execute format(
    $query$
      with facets as materialized (
        select (%s)::text as value, (%s)::bigint as count
        %s
        group by 1
      )
      select
        coalesce(sum(f.count) filter (where f.value is not null), 0), sum(f.count),
        array(
          select row(v.value, v.count)::public.logloom_log_field_value
          from facets v
          where length(v.value) <= 200 and v.count > 0
          order by v.count desc, v.value collate "C"
          limit 10
        )
      from facets f
    $query$,
    (coalesce(v_source.keys_sql, v_query.by_sql))[1], logloom_private.source_count_sql(v_source),
    logloom_private.source_sql(v_source.rows_sql)
  )
  into p_field.count, p_field.records, p_field.values;
  p_field.exact := true;
  return p_field;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.examine_log_tail (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_last      bigint,
  p_tail      logloom_private.log_tail
)
  RETURNS logloom_private.log_tail
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_all logloom_private.compiled_query;
  v_found public.logloom_log_record[];
  v_first bigint;
  v_id uuid;
begin
  v_all.tree := '{"type": "all"}';
  v_all.filter := 'true';
  execute 'with piece as materialized (select l.*, ' || p_query.filter || ' as is_found '
    || logloom_private.source_sql(logloom_private.log_tail_rows_sql(
      p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last,
      logloom_private.sealed_tail_sql(
        p_tenant_id, v_all, p_records, p_tail.first, p_tail.id, p_last, 9223372036854775807
      )
    ))
    || '), found as materialized ('
    || logloom_private.page_sql(
      p_query,
      logloom_private.masked_sql(
        p_query, logloom_private.rows_from('piece l', 'l.is_found', 'l.write_seq, l.id')
      ),
      p_records, (select s.max_page_bytes from logloom_private.settings s),
      p_others => ', l.write_seq, l.id'
    )
    || ') select array(select f.record from found f where f.record is distinct from null '
    || 'order by f.write_seq, f.id), o.write_seq, o.id '
    || 'from (select 1) _ left join lateral (select p.write_seq, p.id from piece p '
    || 'where (p.write_seq, p.id) < all ('
    || 'select f.write_seq, f.id from found f where f.record is not distinct from null) '
    || 'order by 1 desc, 2 desc limit 1) o on true'
  into v_found, v_first, v_id;
  p_tail.logs := p_tail.logs || v_found;
  p_tail.more := v_first is not null;
  p_tail.first := coalesce(v_first, p_tail.first);
  p_tail.id := v_id;
  return p_tail;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.expired_tenants (
  p_day   date,
  p_today date,
  p_after text,
  p_limit integer
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_nestloop TO 'off'
  AS $function$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
      and not (
        a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
      )
    order by d.tenant_id
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.export_cursor (
  p_range tstzrange,
  p_order text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cursor logloom_private.page_cursor;
begin
  v_cursor."order" := p_order;
  v_cursor.ts := case p_order when 'asc' then lower(p_range) else upper(p_range) end;
  v_cursor.id := '00000000-0000-0000-0000-000000000000';
  v_cursor.ts_from := lower(p_range);
  v_cursor.ts_to := upper(p_range);
  v_cursor."now" := now();
  v_cursor.received_before := coalesce(
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at), 'epoch'
  );
  return logloom_private.encode_page_cursor(v_cursor);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.extract_pattern (
  p_text     text,
  p_literals text[],
  p_names    text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rest text := left(p_text, 65536);
  v_place integer := strpos(v_rest, p_literals[1]);
  v_found jsonb := '{}';
begin
  for v_n in 1 .. cardinality(p_names) loop
    if v_place = 0 then
      return '{}';
    end if;
    v_rest := substr(v_rest, v_place + char_length(p_literals[v_n]));
    v_place := case p_literals[v_n + 1] when '' then char_length(v_rest) + 1
      else strpos(v_rest, p_literals[v_n + 1]) end;
    if p_names[v_n] <> '' then
      v_found := v_found || jsonb_build_object(p_names[v_n], left(v_rest, v_place - 1));
    end if;
  end loop;
  return case when v_place > 0 then v_found else '{}' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.extract_regexp (
  p_text    text,
  p_pattern text,
  p_names   text[],
  p_folds   boolean
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := left(p_text, 65536);
  v_folded text collate "C";
  v_values text[];
begin
  if not p_folds then
    v_values := regexp_match(v_text collate "C", p_pattern);
  else
    v_folded := logloom_private.folded_text(v_text);
    v_values := array(
      select case when p.starts > 0 then substr(
        v_text, p.starts, regexp_instr(v_folded, p_pattern, 1, 1, 1, '', p.n) - p.starts
      ) end
      from (
        select n, regexp_instr(v_folded, p_pattern, 1, 1, 0, '', n) as starts
        from generate_subscripts(p_names, 1) n
      ) p
      order by p.n
    );
  end if;
  return jsonb_strip_nulls(coalesce(jsonb_object(p_names, v_values), '{}'));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.extraction_sql (
  p_stage jsonb,
  p_text  text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case p_stage ->> 'stage'
    when 'extract' then format(
      'logloom_private.extract_pattern(%s, %L::text[], %L::text[])', p_text,
      array(select jsonb_array_elements_text(p_stage -> 'literals')),
      array(select jsonb_array_elements_text(p_stage -> 'names'))
    )
    when 'extract_regexp' then format(
      'logloom_private.extract_regexp(%s, %L, %L::text[], %L)', p_text,
      p_stage ->> 'pattern', array(select jsonb_array_elements_text(p_stage -> 'names')),
      p_stage ->> 'fold'
    )
    else format('logloom_private.extract_%s(%s)', p_stage ->> 'stage', p_text)
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.facet_changes (
  p_tenant_id      text,
  p_query          logloom_private.compiled_query,
  p_range          tstzrange,
  p_before         tstzrange,
  p_field          text,
  p_records        bigint,
  p_records_before bigint
)
  RETURNS SETOF public.logloom_log_change
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_seconds constant numeric := extract(epoch from upper(p_range) - lower(p_range));
  v_seconds_before constant numeric := extract(epoch from upper(p_before) - lower(p_before))
    - case when p_before @> p_range then v_seconds else 0 end;
begin
  return query
  with after as materialized (
    select f.*
    from logloom_private.facet_counts(p_tenant_id, p_query, p_range, p_field) f
  ), before as materialized (
    select
      f.value,
      -- If p_before contains p_range, only the rest of p_before counts.
      f.records - case when p_before @> p_range then coalesce(a.records, 0) else 0 end as records,
      f.is_cut
    from logloom_private.facet_counts(p_tenant_id, p_query, p_before, p_field) f
    left join after a on a.value = f.value
  ), counted as (
    select
      value, coalesce(b.records, 0) as before, coalesce(a.records, 0) as after
    from after a
    full join before b using (value)
    where value is not null
      and (a.value is not null or (select bool_or(c.is_cut) from after c) is not true)
      and (b.value is not null or (select bool_or(c.is_cut) from before c) is not true)
  )
  select
    case when p_field is null then 'pattern' else 'value' end,
    coalesce(p_field, 'msg'), c.value, c.before, c.after,
    case
      when c.before = 0 then 'new'
      when c.after = 0 then 'gone'
      when c.after::double precision / p_records > c.before::double precision / p_records_before
        then 'grown'
      else 'shrunk'
    end,
    round(s.score::numeric, 2)::double precision
  from counted c
  -- Patterns are counted in the newest records only.
  cross join lateral logloom_private.surprise(
    least(c.after, p_records), p_records, least(c.before, p_records_before), p_records_before
  ) s (score)
  -- The same for the count, as if each microsecond could have one record.
  cross join lateral logloom_private.surprise(
    c.after, (v_seconds * 1000000)::bigint, c.before, (v_seconds_before * 1000000)::bigint
  ) r (score)
  where s.score >= 10.83
    and r.score >= 10.83
    and (c.after::double precision / p_records > c.before::double precision / p_records_before)
      = (c.after * v_seconds_before > c.before * v_seconds);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.facet_counts (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_field     text
)
  RETURNS TABLE (
    value   text,
    records bigint,
    is_cut  boolean
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stages constant logloom_private.compiled_query := logloom_private.parse_query(
    case when p_field is null then '| patterns' else '| count() by ' || p_field end
  );
  v_max constant integer := logloom_private.list_limit_max();
begin
  p_query.plan := v_stages.plan;
  p_query.aggregate := v_stages.aggregate;
  p_query.by_fields := v_stages.by_fields;
  p_query.by_sql := v_stages.by_sql;
  return query
  select s."group" ->> coalesce(p_field, 'pattern'), s.value::bigint, s.total_groups > v_max
  from logloom_private.log_stats_of(p_tenant_id, p_query, p_range, v_max) s;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fail_stream (
  p_stream      logloom.log_streams,
  p_status      integer,
  p_error       text,
  p_answer      text,
  p_retry_after integer
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set attempts = s.attempts + 1,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer,
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - logloom_private.stream_gives_up_after() then
    perform logloom_private.pause_stream(p_stream, 'failing');
  elsif p_stream.failing_told_at is null
    and p_stream.failing_since < now() - interval '1 hour'
  then
    perform logloom_private.mail_stream_owners(p_stream, 'stream.failing', 'failing');
    update logloom.log_streams s set failing_told_at = now()
    where s.stream_id = p_stream.stream_id;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fields_of_keys_sql (
  p_names text[],
  p_by    text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select string_agg(
      case
        when n.field <> 'attrs' then format('g.keys[%s] as %I, ', n.places[1], n.field)
        else '(' || (
          select string_agg(
            format(
              'case when g.keys[%1$s] is null then ''{}'' '
                || 'else jsonb_build_object(%2$L, g.keys[%1$s]::jsonb) end',
              p.place, substr(p_by[p.place], 7)
            ),
            ' || '
          )
          from unnest(n.places) p (place)
        ) || ') as attrs, '
      end,
      ''
    )
    from (
      select split_part(u.name, '.', 1) as field, array_agg(array_position(p_by, u.name)) as places
      from unnest(p_names) u (name)
      group by 1
    ) n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fill_small_alert_groups (
  p_round logloom_private.alert_rounds,
  p_limit integer
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_staged constant text := 'pg_temp.alert_backlog';
  -- Older records may be sealed. They are read tenant by tenant.
  v_from constant timestamptz := p_round.window_end - (
    select s.seal_after - logloom_private.alert_round_limit() from logloom_private.settings s
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
    where g.write_seq is null
      and g.filter is not null
      and coalesce(g.retry_at <= p_round.window_end, true)
      and n.needed_from >= v_from
    order by n.group_id
  loop
    -- The counts are read by a separate statement, because they may be on another node.
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
  perform logloom_private.empty_staging_table(v_staged);
  execute format(
    'insert into %s select l.* from (select g.tenant_id, min(n.starts) as starts '
      || 'from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id group by 1) t '
      || 'join logloom.logs l on l.tenant_id = t.tenant_id and l.ts >= t.starts '
      || 'where l.ts >= %L::timestamptz and l.write_seq <= %s',
    v_staged, (select min(f.starts) from unnest(v_froms) f (starts)), p_round.write_seq_to
  )
  using v_group_ids, v_froms;
  for v_unit in
    select array_agg(g.group_id) as group_ids, array_agg(n.starts) as froms
    from unnest(v_group_ids, v_froms) n (group_id, starts)
    join logloom_private.alert_groups g on g.group_id = n.group_id
    group by g.digest
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, 0, p_round
    );
  end loop;
  return v_group_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.filter_by_scan_slot (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  -- The setting becomes part of the SQL text, because a node does not know the settings of this
  -- transaction.
  v_scan constant text := quote_nullable(current_setting('logloom.scan', true));
  v_quick jsonb;
  v_costly jsonb;
begin
  select
    jsonb_agg(i.item order by i.n) filter (where i.is_quick),
    jsonb_agg(i.item order by i.n) filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null for an item that is not a leaf. Because of "is not true" above, it counts as costly.
      e.item ->> 'type' = 'none' or (e.item -> 'rows_index')::boolean as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    case when v_quick is not null
      then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l') end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_scan_slot(' || v_scan || ') then '
      || case when v_costly is null then 'true' else logloom_private.query_sql(
        jsonb_build_object('type', 'and', 'items', v_costly), 'l'
      ) end || ' end'
  ) || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.finish_deletion (
  p_run_id uuid,
  p_error  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run logloom.retention_runs;
  v_archive logloom_private.archive_erasures;
begin
  -- The row stays for a day: was_erased_since uses it to discard files that were read before the
  -- erasure ended. A failed erasure blocks nothing any more.
  update logloom_private.archive_erasures e
  set finished_at = coalesce(e.finished_at, clock_timestamp())
  where e.run_id = p_run_id
  returning e.* into v_archive;
  update logloom.retention_runs r
  set status = case when p_error is null then 'done' else 'failed' end,
    error = p_error,
    archive_records = coalesce(v_archive.records, 0),
    archive_files = coalesce(v_archive.parts, 0),
    not_reached = logloom_private.erasure_does_not_reach(r),
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
      jsonb_build_object(
        'status', v_run.status, 'records', v_run.records,
        'archive_records', v_run.archive_records, 'archive_files', v_run.archive_files,
        'error', v_run.error
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.finish_migration()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_table regclass;
  v_function regprocedure;
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
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef
      and (p.proconfig @> '{standard_conforming_strings=on}') is not true
  loop
    execute format('alter function %s set standard_conforming_strings = on', v_function);
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
  update logloom_private.installation set migrated_at = clock_timestamp() where singleton;
  perform logloom_private.grant_operations();
  perform logloom_private.after_migration();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fire_alert (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now    timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  -- False for a window from before the announced end, which is evaluated again after a late record.
  v_end_was_told constant boolean :=
    v_last.end_told_at is not null and p_window.window_end > v_last.held_until;
begin
  -- Compares windows, so that the times of rounds do not matter. Also looks for later windows that
  -- fired, because a late record may make an earlier window fire.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or not v_end_was_told
        and h.window_end > p_window.window_end - v_cooldown
        and h.window_end < p_window.window_end + v_cooldown
      )
  ) then
    perform logloom_private.held_incident(p_rule, p_window, p_now, false);
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id, incident_id, silence_id, absent
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true),
    logloom_private.silence_of_alert(
      p_rule.tenant_id, p_rule.rule_id, p_window."group", p_now
    ),
    p_window.absent is true
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_answer (
  p_state           logloom_private.ingest_state,
  p_idempotency_key text,
  p_body_digest     text,
  p_slice           integer,
  p_response        json                         DEFAULT NULL::json
)
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- The same body for another service is another request.
  v_key constant text := concat(p_state.service || e'\x1f') || p_idempotency_key;
  v_body_digest constant bytea := decode(p_body_digest, 'hex');
  v_expired constant timestamptz := now() - logloom_private.idempotency_key_lifetime();
  v_known logloom_private.idempotency_keys;
begin
  if p_response is not null then
    -- A second request with this key waits here for the first one's commit.
    insert
      into logloom_private.idempotency_keys as k (tenant_id, idempotency_key, body_digest, response)
    values (
      p_state.tenant_id, v_key, v_body_digest,
      case
        when p_slice is null then p_response
        else json_build_object(p_slice::text, p_response)
      end
    )
    on conflict (tenant_id, idempotency_key) do update
    set
      body_digest = excluded.body_digest,
      response = case
        when k.created_at < v_expired then excluded.response
        else (k.response::jsonb || excluded.response::jsonb)::json
      end,
      created_at = case when k.created_at < v_expired then now() else k.created_at end
    where k.created_at < v_expired
      or (
        p_slice is not null
        and k.body_digest = excluded.body_digest
        and k.response -> p_slice::text is null
      );
    if found then
      return null;
    end if;
  end if;
  select k.* into v_known
  from logloom_private.idempotency_keys k
  where k.tenant_id = p_state.tenant_id and k.idempotency_key = v_key
    and k.created_at >= v_expired;
  if v_known.body_digest <> v_body_digest then
    perform logloom_private.refuse_with_headers(
      logloom_private.quota_headers(p_state, 0), 'ingest.idempotency_key_has_another_body'
    );
  end if;
  return case
    when p_slice is null then v_known.response
    else v_known.response -> p_slice::text
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_left_days (
  p_today date
)
  RETURNS TABLE (
    tenant_id      text,
    first_kept_day date
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    k.tenant_id,
    greatest(k.first_kept_day, (select s.limit_day + 1 from logloom_private.storage s))
  from logloom_private.first_kept_days(p_today) k;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.first_records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone       DEFAULT NULL::timestamp WITH time zone,
  p_id        uuid                           DEFAULT NULL::uuid,
  p_reads     text[]                         DEFAULT NULL::text[],
  p_bytes     bigint                         DEFAULT NULL::bigint
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_after constant text := case when p_ts is not null then format(
    -- A row comparison uses the index.
    '(l.ts, l.id) %s (%L::timestamptz, %L::uuid) and ',
    case p_order when 'asc' then '>' else '<' end, p_ts, p_id
  ) else '' end;
  v_order constant text := format('l.ts %1$s, l.id %1$s', p_order);
  v_rows logloom_private.sql_source;
begin
  p_reads := case when p_reads is not null then p_reads || array['ts', 'id'] end;
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    p_bytes := null;
    if p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
      p_limit := (select s.search_stage_records from logloom_private.settings s) + 1;
    end if;
  end if;
  if not (logloom_private.short_cuts(p_query)).sizes then
    p_bytes := null;
  end if;
  v_rows := logloom_private.rows_sql(
    p_tenant_id, p_query.ts_from, p_query.ts_to, v_after || p_query.filter, p_reads, p_order,
    p_limit, p_bytes
  );
  v_rows.order_sql := v_order;
  v_rows.max_rows := p_limit;
  return logloom_private.masked_sql(p_query, logloom_private.with_sealed_sql(
    v_rows,
    case when logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then format(
      'logloom_private.sealed_page(%s, %L, %L, %L, %L, %L, %L, %L, %L, %L)',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_query.ts_from,
      p_query.ts_to, p_query.tree, p_limit, p_order, p_ts, p_id, p_reads, p_bytes
    ) end
  ), p_reads);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.flip_queue()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_pointer logloom_private.queue_pointer;
  v_lock_wait text;
  v_has_batches boolean;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if v_pointer.closed_slot is not null
    or not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
  then
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
    v_lock_wait := logloom_private.limit_lock_wait(logloom_private.enqueue_wait());
    perform pg_advisory_xact_lock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    return false;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);

  -- Opens the emptiest slot. A slot that could not be truncated yet can take new batches, too:
  -- batches up to moved_through count as moved.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.folded_text (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN replace(lower((p_text COLLATE pg_c_utf8)), 'ς'::text, 'σ'::text);

CREATE OR REPLACE FUNCTION logloom_private.forget_archive (
  p_reason text
)
  RETURNS TABLE (
    object_key text,
    tenant_id  text
  )
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claim logloom_private.archive_claims;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('archive'));
  delete from logloom_private.archive_passes p where true;
  for v_claim in
    select c.* from logloom_private.archive_claims c where c.kind <> 'delete'
  loop
    perform logloom_private.release_archive_claim(v_claim, null);
  end loop;
  update logloom.archive_restores r
  set status = 'failed', error = p_reason, finished_at = clock_timestamp()
  where r.status in ('queued', 'running');
  return query
  with parts as (
    delete from logloom.archive_parts p where true
    returning p.object_key, p.tenant_id
  ), notes as (
    delete from logloom_private.archive_notes n where true
    returning n.object_key, coalesce(n.erased_tenant, '')
  )
  select p.* from parts p
  union all
  select n.* from notes n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.forget_expired (
  p_tenant_ids text[],
  p_day        date,
  p_today      date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_forgotten record;
  v_error text;
begin
  begin
    v_forgotten := logloom_private.forget_tenants_day(p_tenant_ids, p_day);
    perform logloom_private.note_deletions(
      v_forgotten.tenant_ids, v_forgotten.records,
      (
        not logloom_private.partition_exists(p_day)
        and not logloom_private.day_is_kept(p_day, p_today)
      )::integer,
      p_today
    );
    return null;
  exception
    when lock_not_available or disk_full then
      raise;
    when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if cardinality(p_tenant_ids) > 1 then
    v_error := null;
    for v_at in 1..cardinality(p_tenant_ids) loop
      v_error := coalesce(
        v_error, logloom_private.forget_expired(p_tenant_ids[v_at:v_at], p_day, p_today)
      );
    end loop;
  end if;
  return v_error;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.forget_tenants_day (
  p_tenant_ids text[],
  p_day        date,
  OUT          tenant_ids text[],
  OUT          records bigint[]
)
  RETURNS record
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_seqscan TO 'off'
  SET enable_hashjoin TO 'off'
  SET enable_mergejoin TO 'off'
  AS $function$
begin
  -- Locks out compact_log_counts, which would otherwise rewrite counts meanwhile.
  perform pg_advisory_xact_lock(logloom_private.lock_key('log_counts'));
  execute format(
    $query$
      with tenants as materialized (
        select t.tenant_id from unnest($1) t (tenant_id)
      ), rows_gone as (
        delete from logloom.logs l
        using tenants t
        where l.tenant_id = t.tenant_id
          and l.ts >= %1$L::timestamptz and l.ts < %2$L::timestamptz
        returning l.tenant_id, l.ts
      ), noted as (
        insert into logloom_private.log_removals (tenant_id)
        select distinct g.tenant_id
        from rows_gone g
        -- Alert windows are at most a day, so older removals change no alert.
        where g.ts > now() - interval '3 days'
      ), blocks_gone as (
        delete from logloom_private.blocks c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.last_ts >= %1$L::timestamptz and c.last_ts < %2$L::timestamptz
        returning c.tenant_id, case when c.holds_counts then c.records else 0 end as records
      ), counts_gone as (
        delete from logloom_private.log_counts c
        using tenants t
        where c.tenant_id = t.tenant_id
          and c.minute >= %1$L::timestamptz and c.minute < %2$L::timestamptz
        returning c.tenant_id, c.events
      )
      select array_agg(f.tenant_id), array_agg(f.records)
      from (
        select u.tenant_id, sum(u.records)::bigint as records
        from (
          select c.tenant_id, c.events as records from counts_gone c
          union all
          select b.tenant_id, b.records from blocks_gone b
        ) u
        group by u.tenant_id
      ) f
    $query$,
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  into tenant_ids, records
  using p_tenant_ids;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.formula_sql (
  p_formula jsonb,
  p_names   text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when p_formula ? 'number' then format('%L::double precision', p_formula ->> 'number')
    when p_formula ? 'result' then 'g.v' || array_position(p_names, p_formula ->> 'result')
    else format(
      'logloom_private.math_step(%s, %L, %s)',
      logloom_private.formula_sql(p_formula -> 'items' -> 0, p_names), p_formula ->> 'operator',
      logloom_private.formula_sql(p_formula -> 'items' -> 1, p_names)
    )
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.found_page (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer,
  p_order     text,
  p_ts        timestamp with time zone,
  p_id        uuid,
  p_bytes     bigint                           DEFAULT NULL::bigint,
  OUT         logs public.logloom_log_record[],
  OUT         last_ts timestamp with time zone,
  OUT         last_id uuid
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows logloom_private.sql_source;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(
    p_tenant_id, p_query.ts_from, p_query.ts_to, p_order,
    (logloom_private.short_cuts(p_query)).sizes
  );
  -- The limit search_stage_records applies to the whole range.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Adding up sizes is slow, and most pages have no large record. So first assume that there is
    -- none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(p_query, v_rows, v_left, p_bytes, v_is_exact);
      -- If there is only one part, locks need not be released early.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- Extracted records were already measured in the first round.
      exit when v_is_staged or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- The next page begins between this part and the next one.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.give_up_notifications()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.end_notification(
    e.expired, 'failed', (e.expired).last_status,
    concat_ws(': ', 'Not delivered in time', (e.expired).last_error)
  )
  from (
    select n as expired
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at <= now()
    limit 10000
    for update skip locked
  ) e;
  return found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.granted_functions()
  RETURNS TABLE (
    roles text,
    names text[]
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operation_list', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'addresses_in_incidents', 'alert_entry_of',
        'alert_incident_of', 'alert_incident_state', 'alert_rule_of', 'alert_silence_of',
        'alert_silence_state', 'api_key_status', 'audit_actions', 'change_alert_incidents',
        'change_log_stream', 'change_log_view', 'change_member', 'changed_rule_secrets',
        'changed_secrets', 'check_query', 'check_rule_query', 'check_settings', 'checked_panels',
        'choose_tenant', 'confirm_address', 'current_admin_tenant_id', 'deliveries_of_incident',
        'distinct_destinations', 'effective_settings', 'end_alert_silence', 'end_portal_session',
        'enqueue_rule_test', 'enroll_member', 'found_tenant', 'hold_view', 'is_being_deleted',
        'is_viewer', 'iso_instant', 'issue_api_key', 'issue_ingest_token', 'issue_portal_session',
        'late_seconds', 'list_bytes', 'list_limit', 'log_dashboard_of', 'log_view_of',
        'make_alert_silence', 'make_log_stream', 'make_log_view', 'my_key_reads', 'my_stored',
        'my_usage', 'new_api_key', 'note_saved_search_run', 'page_of_addresses',
        'page_of_deliveries', 'page_of_stream_failures', 'page_of_streams', 'page_place',
        'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_archive', 'read_members', 'read_memberships',
        'read_saved_search', 'read_shown_dashboards', 'reads_only', 'refuse_for_now',
        'refuse_log_dashboard', 'refuse_saved_search', 'refuse_with_headers', 'remove_log_stream',
        'remove_log_view', 'replace_webhook_secret', 'request_deletion', 'request_restore',
        'request_stream_test', 'require_groups', 'require_parameter', 'require_role',
        'require_room_for', 'require_room_for_api_key', 'require_room_for_baseline',
        'require_room_for_log_dashboard', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'shown_baseline',
        'shown_secrets', 'tags_are_valid', 'tenant_with_plan', 'time_parameter', 'token_is_valid',
        'trim_space', 'with_baseline'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'digest_of_signer', 'ingest_each', 'match_archive',
        'next_stream_batch', 'note_project', 'open_portal_session', 'put_sealed', 'read_by_key',
        'read_health', 'run_writer_in_place', 'settle_archive_work', 'settle_claim',
        'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names)
  union all
  select 'authenticated, service_role', array_agg(o.reader)
  from logloom_private.reading_operations() o;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.group_key (
  p_group jsonb
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN COALESCE(md5((p_group)::text), ''::text);

CREATE OR REPLACE FUNCTION logloom_private.groups_source (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_rows_from timestamp with time zone,
  p_key       text                           DEFAULT NULL::text
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_read constant jsonb := logloom_private.condition_fields(v_aggregates);
  v_exact constant boolean := p_key is not null and jsonb_path_exists(
    v_aggregates, '$[*] ? (@.fraction == null && @.field != null)'
  );
  v_doubles constant boolean := p_key is not null and jsonb_path_exists(
    v_aggregates, '$[*] ? (@.fraction != null)'
  );
  v_names constant text[] := logloom_private.block_names(p_query.plan -> 'by');
  v_read_names constant text[] := logloom_private.block_names(v_read);
  v_by_names constant text[] := array(
    select distinct n from unnest(v_names || v_read_names) n order by 1
  );
  v_conditions constant text := logloom_private.conditions_sql(v_aggregates);
  v_keys constant text[] := array(
    select 'k' || n from generate_subscripts(v_names, 1) n order by n
  );
  v_columns constant text[] := array(
    select 'c' || a.n from jsonb_array_elements(v_aggregates) with ordinality a (item, n)
    where a.item ? 'condition'
    order by a.n
  );
  v_sums constant text[] := case when v_exact
    then array['numbers', 'total', 'minimum', 'maximum'] else '{}' end;
  v_group constant text := array_to_string(
    array(select 'l.' || c || ', ' from unnest(v_keys || v_columns) c), ''
  );
  v_sql text;
begin
  if exists (
    select
    from jsonb_array_elements(p_query.plan -> 'by' || v_read) f
    where jsonb_array_length(f -> 'path') > 1
      or f ->> 'field' <> all(
        logloom_private.column_fields() || array['attrs', 'level', 'service']
      )
  ) then
    return null;
  end if;
  v_sql := format(
    'logloom_private.sealed_groups(%s, %L, %L, %L, %L, %L, %L, %L)',
    logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
    p_query.ts_from, p_query.ts_to, p_query.tree, v_by_names, p_key, v_exact, v_doubles
  );
  if p_key is null then
    v_sql := format('(select s.keys, sum(s.events) as events from %s s group by s.keys)', v_sql);
  end if;
  v_sql := concat(
    'select ',
    (
      select string_agg(
        format(
          case when k.name like 'attrs.%' then '(l.keys[%s]::jsonb #>> ''{}'')'
            else 'l.keys[%s]' end
            || ' as k%s, ',
          array_position(v_by_names, k.name), k.n
        ),
        '' order by k.n
      )
      from unnest(v_names) with ordinality k (name, n)
    ),
    v_conditions, 'l.events',
    array_to_string(array(select ', l.' || s from unnest(v_sums) s), ''),
    case when v_doubles then ', l.doubles' end,
    ' from (select ', logloom_private.fields_of_keys_sql(v_read_names, v_by_names),
    'g.* from ', v_sql, ' g) l'
  );
  if p_rows_from < p_query.ts_to then
    v_sql := v_sql || concat(
      ' union all select ', v_group, case when p_key is null then '1' else 'count(*)' end,
      case when v_exact
        then ', count(l.number), sum(l.number), min(l.number), max(l.number)' end,
      case when v_doubles
        then ', array_agg(logloom_private.finite_double(l.number)) '
          || 'filter (where l.number is not null)' end,
      ' from (select ',
      (
        select string_agg(format('%s as k%s, ', b.sql, b.n), '' order by b.n)
        from unnest(p_query.by_sql) with ordinality b (sql, n)
      ),
      v_conditions,
      case when p_key is null then 'null'
        else format('logloom_private.json_number(l.attrs -> %L)', p_key) end,
      ' as number, date_bin(''10 minutes'', l.ts, ''epoch'') as part ',
      logloom_private.source_sql(logloom_private.rows_sql(
        p_tenant_id, p_rows_from, p_query.ts_to, p_query.filter,
        array_remove('ts'::text || v_by_names || ('attrs.' || p_key), null)
      )),
      ' offset 0) l',
      -- Grouping by parts of ten minutes keeps the arrays short.
      case when p_key is not null then ' group by ' || v_group || 'l.part' end
    );
  end if;
  if v_doubles then
    v_sql := logloom_private.conditional_percentiles_sql(
      v_sql, v_aggregates, v_keys, v_columns || 'events'::text || v_sums
    );
  end if;
  return (
    logloom_private.rows_from('(' || v_sql || ') l'), 'sum(l.events)',
    array(select 'l.' || k from unnest(v_keys) k), p_key is not null
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.has_partials (
  p_query logloom_private.compiled_query
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN
  (COALESCE((NOT jsonb_path_exists(((p_query).plan -> 'aggregates'::text),
  '$[*]?((!(@."kind" like_regex "^(count|rate|sum|avg|min|max)$") || @."field"."field" == "ts") || @."field"."field" == "received_at")'::jsonpath)),
  true) AND (NOT (p_query).names_now) AND (cardinality((p_query).by_fields) = 0));

CREATE OR REPLACE FUNCTION logloom_private.held_incident (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now    timestamp with time zone,
  p_fires  boolean
)
  RETURNS uuid
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  v_incident_id uuid;
begin
  update logloom.alert_incidents i
  set
    resolved_at = null,
    resolution = null,
    quiet_from = null,
    end_told_at = case when not p_fires then i.end_told_at end,
    last_fired_at = case when p_fires then p_now else i.last_fired_at end,
    fired_count = i.fired_count + p_fires::integer,
    value = case when p_window.window_end >= i.held_until then p_window.value else i.value end,
    peak_value = case
      when abs(p_window.value - i.threshold) > abs(i.peak_value - i.threshold) then p_window.value
      else i.peak_value
    end,
    held_until = greatest(i.held_until, p_window.window_end)
  where i.incident_id = v_last.incident_id
    and (
      i.resolved_at is null
      or i.resolution in ('recovered', 'still_absent')
      and (not p_fires or p_window.window_end <= i.quiet_from)
    )
  returning i.incident_id into v_incident_id;
  if not found and p_fires then
    insert into logloom.alert_incidents (
      tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison, "group",
      view_id, opened_at, last_fired_at, value, peak_value, held_until
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_rule.name, p_rule.query_dsl, p_rule.window_minutes,
      p_rule.threshold, p_rule.comparison, p_window."group", p_rule.view_id, p_now, p_now,
      p_window.value, p_window.value, p_window.window_end
    )
    returning incident_id into v_incident_id;
  end if;
  return v_incident_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.held_rows_sql (
  p_rows logloom_private.sql_source
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.rows_from(format(
    '(select %s, l.attrs || ''{}'' as attrs %s offset 0) l',
    (
      select string_agg('l.' || f.name, ', ')
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null and f.name <> 'attrs'
    ),
    logloom_private.source_sql(p_rows)
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hidden_paths (
  p_hidden text[]
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(select substr(h, 7) from unnest(p_hidden) h where starts_with(h, 'attrs.'));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hints_for_nothing (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_range     tstzrange
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tree constant jsonb := (logloom_private.parse_query(p_query_dsl)).tree;
  v_scoped constant logloom_private.compiled_query := logloom_private.bound_query(
    p_scope.tenant_id, logloom_private.query_of_scope(p_scope),
    p_range * tstzrange(upper(p_range) - interval '1 day', null)
  );
begin
  -- A slow answer must not time out because of its hints.
  if clock_timestamp() > statement_timestamp() + interval '5 seconds' then
    return '[]';
  end if;
  return logloom_private.near_services(p_scope.tenant_id, v_scoped, v_tree, p_query_dsl)
    || logloom_private.near_values(p_scope.tenant_id, v_scoped, v_tree, p_query_dsl);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.hot_bytes (
  p_tenant_id text
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Counts the rows of this many days. Older days are estimated from the newest days.
  v_counted constant integer := 31;
  v_days date[];
  v_records numeric[];
  v_all_days bigint;
  v_bytes numeric;
begin
  -- First reads the counts of the days, because records and partitions may be on other nodes than
  -- the catalog.
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
          select coalesce(sum(c.records), 0)
          from logloom_private.blocks c
          where c.tenant_id = p_tenant_id
            and not c.holds_counts
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.idempotency_key_lifetime()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '24:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    num_nonnulls(v_plan.events_per_second, v_plan.requests_per_second) > 0;
  -- The first slice decides for the whole request. Later slices may overdraw the rate, and the next
  -- request waits until the debt is paid.
  v_is_let_in constant boolean := coalesce(p_request.p_slice > 0, false);
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
begin
  if v_has_rate and not v_is_let_in then
    -- This check takes no lock, so a request that is refused here delays nobody and writes nothing.
    perform logloom_private.check_rate(p_state, b)
    from logloom_private.rate_buckets b
    where b.tenant_id = p_state.tenant_id;
  end if;
  if cardinality(p_request.p_ts) > logloom_private.batch_max_events()
    or p_request.p_bytes > logloom_private.batch_max_bytes()
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large', logloom_private.batch_max_events()::text,
      logloom_private.batch_max_bytes()::text
    );
  end if;
  -- A repeat gets the first answer even after a limit is reached.
  if p_request.p_idempotency_key is not null then
    v_earlier_answer := logloom_private.first_answer(
      p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice
    );
  end if;
  if v_earlier_answer ->> 'takes_to' is not null then
    -- Uses the times of the first answer, so that the same events are rejected again.
    p_state.keeps_from := v_earlier_answer ->> 'keeps_from';
    p_state.takes_to := v_earlier_answer ->> 'takes_to';
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts)
    or p_state.service <> any (p_request.p_service)
  then
    p_request := logloom_private.reject_events(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  if p_state.service is not null then
    p_request.p_service := array_fill(p_state.service, array[v_answer.ingested]);
  end if;
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := json_strip_nulls(json_build_object(
    'success', v_answer.ingested > 0 or coalesce(p_request.p_rejected, 0) = 0,
    'ingested', v_answer.ingested,
    'rejected', coalesce(p_request.p_rejected, 0),
    'cut', nullif(p_request.p_cut, 0),
    'errors', case when p_request.p_rejected > 0 then coalesce(p_request.p_errors, '[]') end
  ));

  if not p_state.is_provisioned and num_nonnulls(p_request.p_key_digest, p_request.p_claims) = 0
    and not (select s.provision_by_secret_key from logloom_private.settings s)
  then
    perform logloom_private.refuse('ingest.tenant_is_not_known', p_state.tenant_id);
  end if;
  -- The first slice decides even if all of its own events were rejected.
  if not v_is_let_in and v_earlier_answer is null
    and (v_answer.ingested > 0 or p_request.p_slice = 0)
  then
    perform logloom_private.check_month(p_state);
  end if;
  if v_answer.ingested > 0 and v_earlier_answer is null then
    if logloom_private.is_read_only() then
      -- The error that the insert would raise.
      raise read_only_sql_transaction;
    end if;
    if p_state.queue_is_full then
      perform logloom_private.refuse_with_headers(
        logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '5'),
        'ingest.queue_is_full'
      );
    elsif p_state.storage_is_full then
      -- Storage is measured once a minute.
      perform logloom_private.refuse_with_headers(
        logloom_private.quota_headers(p_state, 0) || jsonb_build_object('Retry-After', '60'),
        'ingest.storage_is_full'
      );
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id, p_request.p_claims);
    end if;
    -- Only keeps answers to requests that stored events, so every row kept costs the tenant an
    -- event of its plan.
    if p_request.p_idempotency_key is not null then
      v_earlier_answer := logloom_private.first_answer(
        p_state, p_request.p_idempotency_key, p_request.p_body_digest, p_request.p_slice,
        case when p_request.p_all_errors
          then logloom_private.without_errors(p_state, v_answer.body) else v_answer.body end
      );
    end if;
  end if;
  if v_earlier_answer is not null then
    if v_earlier_answer ->> 'takes_to' is not null then
      v_earlier_answer := (
        v_answer.body::jsonb || v_earlier_answer::jsonb - '{keeps_from,takes_to}'::text[]
      )::json;
    end if;
    return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(
      p_state, v_answer.ingested, v_is_let_in
    );
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(p_state, p_request);
  end if;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_each (
  p_requests text[]
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because service_role reads no digests and writes to the queue only through here
declare
  v_text text;
  v_before logloom_private.ingest_request;
  v_request logloom_private.ingest_request;
  v_state logloom_private.ingest_state;
  v_accepted logloom_private.ingest_answer;
  v_answer json;
  v_answers json[] := '{}';
  v_sqlstate text;
  v_detail text;
  v_hint text;
begin
  foreach v_text in array p_requests loop
    -- A block for each request, so that a refusal does not affect the others.
    begin
      v_request := logloom_private.request_of_text(v_text);
      if v_state is null
        or v_request.p_key_digest is distinct from v_before.p_key_digest
        or v_request.p_tenant_id is distinct from v_before.p_tenant_id
        or v_request.p_claims is distinct from v_before.p_claims
      then
        v_state := logloom_private.ingest_state(
          v_request.p_tenant_id, v_request.p_key_digest, v_request.p_claims,
          cardinality(p_requests)
        );
        v_before := v_request;
      end if;
      if v_request.p_ts is null then
        v_accepted := logloom_private.limits_of_sender(v_state);
      else
        v_accepted := logloom_private.ingest(v_request, v_state);
      end if;
      v_state.events := v_state.events + v_accepted.ingested;
      if v_accepted.ingested > 0 then
        v_state.bytes := v_state.bytes + coalesce(v_request.p_bytes, 0);
      end if;
      v_answer := json_build_object(
        'status', 200, 'headers', v_accepted.headers, 'body', v_accepted.body::text
      );
    exception when others then
      get stacked diagnostics
        v_sqlstate = returned_sqlstate, v_detail = pg_exception_detail,
        v_hint = pg_exception_hint;
      -- The refusal rolled back the note that the key was used.
      if v_request.p_key_digest is not null then
        v_state := null;
      end if;
      v_answer := case
        when v_sqlstate = 'PGRST' then json_build_object(
          'status', v_detail::json -> 'status', 'headers', v_detail::json -> 'headers',
          'body', sqlerrm
        )
        when v_sqlstate like 'PT%' then json_build_object(
          'status', substr(v_sqlstate, 3)::integer, 'headers', '{}'::json,
          'body', json_build_object(
            'code', v_sqlstate, 'message', sqlerrm, 'hint', nullif(v_hint, '')
          )::text
        )
        else json_build_object(
          'status', 500, 'headers', '{}'::json,
          'body', json_build_object('code', v_sqlstate, 'message', '')::text
        )
      end;
    end;
    v_answers := v_answers || v_answer;
  end loop;
  return array_to_json(v_answers);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('ingest.idempotency_key_has_another_body', 409, 'Idempotency-Key was used with another body',
      'Send a new key with a new body; repeat a key only with the same body.',
      'For 24 hours a key stands for one request with one body.'),
    ('ingest.monthly_events_are_used_up', 429, 'Monthly event limit reached: %s events',
      'The limit is the plan''s. The count starts again next month (UTC).', null),
    ('ingest.monthly_bytes_are_used_up', 429, 'Monthly byte limit reached: %s bytes',
      'The limit is the plan''s. The count starts again next month (UTC).', null),
    ('ingest.too_many_events', 429, 'Rate limit reached: %s events per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.', null),
    ('ingest.too_many_requests', 429, 'Rate limit reached: %s requests per second',
      'The rate is the plan''s. Retry-After says when the next request can be accepted.', null),
    ('ingest.tenant_is_not_known', 404, 'There is no tenant %s',
      'Create it with add_tenant_member or create_api_key, or turn on provision_by_secret_key in '
        'logloom_private.settings.',
      'A request with the project''s secret key names a tenant that does not exist or is being '
        'deleted.'),
    ('ingest.queue_is_full', 503, 'The queue is full, try again',
      'The writer is behind: the endpoint health/queue shows how far.', null),
    ('ingest.storage_is_full', 503, 'Storage is full, try again later',
      'An operator can raise max_storage_bytes in logloom_private.settings; the endpoint '
        'health/detailed shows how much is stored.', null),
    ('ingest.request_is_too_large', 413, 'Batch too large (max %s events, %s bytes)',
      'Send it in parts, as the function ingest does.', null),
    ('ingest.record_is_too_long', 413, 'A record is longer than %s bytes',
      'Shorten its longest values, as the function ingest does. The limit is max_record_bytes in '
        'logloom_private.settings.', null),
    ('ingest.record_has_too_many_values', 413, 'A record has more than %s values',
      'Shorten its largest arrays and objects, as the function ingest does. The limit is '
        'max_record_values in logloom_private.settings.', null);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest_state (
  p_tenant_id  text,
  p_key_digest text,
  p_claims     jsonb,
  p_requests   integer
)
  RETURNS logloom_private.ingest_state
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sender constant record :=
    logloom_private.authenticate_sender(p_tenant_id, p_key_digest, p_claims);
  v_plan constant logloom.plans := logloom_private.plan_of(v_sender.tenant_id);
  v_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
  v_state logloom_private.ingest_state;
begin
  select
    v_sender.tenant_id, v_sender.key_id, v_plan,
    exists (select from logloom.tenants t where t.tenant_id = v_sender.tenant_id),
    -- Does the same as kept_from(). Written out because each call of a function costs time here.
    date_trunc('day', now(), 'UTC') - make_interval(hours => 24 * least(
      coalesce(
        (
          select c.retention_days
          from logloom.tenant_settings c
          where c.tenant_id = v_sender.tenant_id
        ),
        v_plan.retention_days_default
      ),
      v_plan.retention_days_max
    )),
    now() + s.ingest_future_limit, s.max_record_bytes, s.max_record_values,
    (v_month + interval '1 month') at time zone 'UTC', m.events, m.bytes,
    b.last_value - q.metered_through + p_requests - 1,
    -- Reading sizes of files takes the same time however much is queued. A batch's row has more
    -- than a 4096th of the batch's bytes. So the TOAST data need not be measured while there are
    -- few rows.
    pg_relation_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_relation_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= l.bytes / 4096
    and pg_table_size('logloom_private.queue_slot_' || q.open_slot)
    + coalesce(pg_table_size('logloom_private.queue_slot_' || q.closed_slot), 0)
      >= l.bytes,
    case when h.last_succeeded_at > now() - s.writer_guard_silence then '{}'::jsonb
      else '{"X-Logloom-Writer": "silent"}' end,
    v_sender.service,
    t.bytes >= s.max_storage_bytes and (s.storage_policy = 'refuse' or t.is_stuck)
  into v_state
  from logloom_private.queue_pointer q
  cross join logloom_private.settings s
  cross join logloom_private.queue_limit(s.queue_hard_limit_bytes, s.max_storage_bytes) l (bytes)
  cross join logloom_private.storage t
  cross join logloom_private.queue_batch_id b
  left join logloom_private.jobs h on h.name = 'write_logs'
  cross join (
    select
      coalesce(sum(u.events), 0)::bigint as events, coalesce(sum(u.bytes), 0)::bigint as bytes
    from logloom.usage_days u
    where u.tenant_id = v_sender.tenant_id and u.day >= v_month::date
  ) m;

  -- Reads the queue only if the waiting events could reach a limit.
  if v_state.events + v_state.batches * logloom_private.batch_max_events()
    >= v_plan.monthly_events_limit
    or v_state.bytes + v_state.batches * logloom_private.batch_max_bytes()
      >= v_plan.monthly_bytes_limit
  then
    select coalesce(sum(u.events), 0), coalesce(sum(u.bytes), 0)
    into v_state.events, v_state.bytes
    from logloom_private.usage_of(v_sender.tenant_id, v_month::date) u;
  end if;
  return v_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_write_seq  bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Sorts by tenant and ts, which packs the pages of the primary key. Both are combined into one
  -- number: a second sort key would be read from the record at each comparison. The casts of level
  -- and attrs (written_fields_sql) make a bad value fail here.
  execute logloom_private.added_records_sql(format(
    $query$
      insert into logloom.logs as l (
        id, tenant_id, ts, received_at, write_seq, %2$s, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5, %3$s, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_seconds, q.tenant_id, q.received_at,
          generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, %4$s, unnest(q.record_bytes) as record_bytes
        from (
          -- "offset 0" computes this once for each batch, not for each event.
          select
            b.*, left(b.batch_key::text, 32) as id_prefix,
            -- Each tenant's offset is 1e8 seconds (three years) above the one before, so its
            -- records stay together. With 10,000 tenants a double is still exact to 0.1 ms.
            dense_rank() over (order by b.tenant_id collate "C") * 1e8::float8 as tenant_seconds
          from logloom_private.%1$I b
          where b.batch_id between $1 and $2
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      order by e.tenant_seconds + date_part('epoch', coalesce(e.ts, e.received_at))
    $query$,
    v_slot, logloom_private.written_fields_sql('%1$s'),
    logloom_private.written_fields_sql('e.%1$s%2$s'),
    logloom_private.written_fields_sql('unnest(q.%1$s) as %1$s')
  ))
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_write_seq;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_cheap (
  p_records       bigint,
  p_ms_per_record double precision
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN ((p_records <= 5000) AND (((p_records)::double precision * COALESCE(p_ms_per_record, (0.02)::double precision)) <= (20)::double precision));

CREATE OR REPLACE FUNCTION logloom_private.is_copied()
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select from logloom_private.installation i where i.other_url <> i.project_url
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_data_error (
  p_sqlstate text
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN ("left"(p_sqlstate, 2) <> ALL (ARRAY['08'::text, '25'::text, '40'::text, '42'::text, '53'::text, '55'::text, '57'::text, '58'::text, 'XX'::text]));

CREATE OR REPLACE FUNCTION logloom_private.is_origin (
  p_origin text
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN
  ((length(p_origin) <= 255) AND (p_origin ~ '^(?:https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|http://(?:localhost|127\.0\.0\.1))(?::[1-9][0-9]{0,4})?$'::text) AND (p_origin !~
  '^https:.*:443$|^http:.*:80$'::text) AND (COALESCE(("substring"(p_origin, ':([0-9]+)$'::text))::integer, 0) <= 65535));

CREATE OR REPLACE FUNCTION logloom_private.is_read_only()
  RETURNS boolean
  LANGUAGE sql
  STABLE
RETURN ('on'::text = ANY (ARRAY[current_setting('transaction_read_only'::text), current_setting('default_transaction_read_only'::text)]));

CREATE OR REPLACE FUNCTION logloom_private.is_service_role()
  RETURNS boolean
  LANGUAGE sql
  STABLE
RETURN (current_setting('role'::text, true) = 'service_role'::text);

CREATE OR REPLACE FUNCTION logloom_private.issue_ingest_token (
  p_tenant_id text,
  p_service   text,
  p_seconds   integer
)
  RETURNS public.logloom_ingest_token
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads or writes tokens
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_longest constant integer := 900;
  v_seconds constant integer := coalesce(p_seconds, v_longest);
  v_session_id constant text := logloom_private.claims() ->> 'session_id';
  v_token constant text := logloom_private.new_api_key('llt_');
  v_tokens record;
  v_result public.logloom_ingest_token;
begin
  perform logloom_private.require_parameter('p_service', p_service is null);
  if length(p_service) not between 1 and 200 then
    perform logloom_private.refuse('api_keys.token_service_is_invalid');
  end if;
  if v_seconds not between 1 and v_longest then
    perform logloom_private.refuse('api_keys.token_lifetime_is_out_of_range', v_longest::text);
  end if;
  perform logloom_private.hold_tenant(v_tenant_id);
  select
    count(*) filter (where t.expires_at > now()) as live,
    count(*) filter (where t.created_at > now() - interval '1 minute') as new,
    extract(epoch from min(t.expires_at) filter (where t.expires_at > now()) - now()) as next_end,
    extract(
      epoch from min(t.created_at) filter (where t.created_at > now() - interval '1 minute')
        + interval '1 minute' - now()
    ) as minute_end
  into v_tokens
  from logloom_private.ingest_tokens t
  where t.tenant_id = v_tenant_id;
  if v_tokens.live >= v_plan.max_ingest_tokens then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.next_end)::integer, 'api_keys.too_many_tokens', v_plan.max_ingest_tokens::text
    );
  elsif v_tokens.new >= v_plan.ingest_tokens_per_minute then
    perform logloom_private.refuse_for_now(
      ceil(v_tokens.minute_end)::integer, 'api_keys.too_many_new_tokens',
      v_plan.ingest_tokens_per_minute::text
    );
  end if;
  insert into logloom_private.ingest_tokens (
    token_digest, tenant_id, service, created_by, session_id, expires_at
  )
  values (
    sha256(convert_to(v_token, 'UTF8')), v_tenant_id, p_service,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    -- A token of another issuer has no session in Supabase Auth.
    case when logloom_private.auth_session_is_there(v_session_id) then v_session_id end,
    now() + make_interval(secs => v_seconds)
  )
  returning v_token, expires_at, service into v_result;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'ingest_token.created', p_service,
    jsonb_build_object('expires_at', v_result.expires_at)
  );
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.issue_portal_session (
  p_tenant_id text,
  p_view_id   uuid,
  p_query_dsl text,
  p_seconds   integer,
  p_label     text,
  p_origins   text[],
  p_link      boolean
)
  RETURNS public.logloom_created_portal_session
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role may use sessions and settings
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_settings logloom_private.settings;
  v_longest integer;
  v_secret constant text := logloom_private.new_api_key(
    case when p_link then 'llc_' else 'llp_' end
  );
  v_session logloom.portal_sessions;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  select s.* into v_settings from logloom_private.settings s;
  v_longest := extract(epoch from v_settings.portal_session_lifetime_max);
  if p_seconds not between 60 and v_longest then
    perform logloom_private.refuse('portal.lifetime_is_out_of_range', v_longest::text);
  elsif length(p_label) > 200 then
    perform logloom_private.refuse('portal.label_is_too_long');
  elsif cardinality(p_origins) > 20
    or exists (
      select from unnest(p_origins) o where logloom_private.is_origin(o) is not true
    )
  then
    perform logloom_private.refuse('portal.origin_is_invalid');
  elsif p_link and v_settings.portal_url is null then
    perform logloom_private.refuse('portal.url_is_not_set');
  end if;
  -- A blank query becomes null, as for views.
  p_query_dsl := logloom_private.checked_view_query(v_tenant_id, p_query_dsl);
  perform
    logloom_private.hold_view(v_tenant_id, p_view_id),
    logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.portal_sessions s
    where s.tenant_id = v_tenant_id and s.expires_at > now() and s.revoked_at is null
      -- If a link was not opened in time, its session does not count.
      and coalesce(s.code_expires_at > now(), true)
  ) >= v_plan.max_portal_sessions
  then
    perform logloom_private.refuse('portal.no_room', v_plan.max_portal_sessions::text);
  end if;
  insert into logloom.portal_sessions (
    tenant_id, label, view_id, query_dsl, origins, token_digest, code_digest, code_expires_at,
    created_by, expires_at
  )
  values (
    v_tenant_id, p_label, p_view_id, p_query_dsl, coalesce(p_origins, '{}'),
    case when not p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then sha256(convert_to(v_secret, 'UTF8')) end,
    case when p_link then now() + least(
      interval '10 minutes', make_interval(secs => p_seconds)
    ) end,
    case when not logloom_private.is_service_role() then logloom_private.current_user_id() end,
    now() + make_interval(secs => p_seconds)
  )
  returning * into v_session;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_session.created', v_session.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'label', p_label, 'view_id', p_view_id, 'query_dsl', p_query_dsl, 'origins', p_origins,
      'expires_at', v_session.expires_at
    ))
  );
  return row(
    v_session.session_id, case when not p_link then v_secret end,
    -- The secret comes after #, because browsers send this part to no server.
    case when p_link then v_settings.portal_url || '#' || v_secret end, v_session.expires_at
  )::public.logloom_created_portal_session;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.job_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      j.name,
      logloom_private.health_grade(
        null,
        concat_ws(
          '; ',
          case
            when g.silence > j.silence
              and p_now - logloom_private.up_since() not between interval '0' and j.silence
            then logloom_private.silence_reason(
              case when j.is_paused then 'No run of the paused job' else 'No run of the job' end,
              g.silence, j.silence
            )
          end,
          case when j.failures > j.failures_allowed then
            format('%s runs failed in a row', j.failures)
          end,
          case when j.name = 'run_retention' and p_now - r.failing_since > interval '26 hours' then
            logloom_private.silence_reason(
              'No retention', p_now - r.failing_since, interval '26 hours'
            )
          end
        )
      ) || jsonb_build_object(
        'last_success', j.last_succeeded_at,
        'last_failure', j.last_failed_at,
        'failures', j.failures,
        -- Never shows the message: it may contain a tenant's data, and health is public.
        'error_code', case when j.failures > 0 then
          substring(j.last_error from '^[0-9A-Z]{5}')
        end
      )
    )
    from logloom_private.jobs j
    left join logloom_private.retention_place r on r.singleton
    cross join logloom_private.silence_since(
      coalesce(j.last_succeeded_at, j.made_at), p_now
    ) g (silence)
    where j.lane <> 'ingest'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.json_number (
  p_value jsonb
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text text;
  v_number numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    return least(
      greatest(p_value::numeric, -1.7976931348623157e308), 1.7976931348623157e308
    );
  elsif jsonb_typeof(p_value) = 'string' then
    v_text := p_value #>> '{}';
    -- Most texts do not begin like a number.
    if left(v_text, 1) collate "C" not between '-' and '9' then
      return null;
    end if;
    v_number := case
      when right(v_text, 1) collate "C" between '0' and '9' then logloom_private.text_number(v_text)
      when right(v_text, 1) in ('B', 'b') then logloom_private.quantity(v_text, 'bytes')
      else logloom_private.quantity(v_text, 'seconds')
    end;
  end if;
  return case when v_number is not null
    then least(greatest(v_number, -1.7976931348623157e308), 1.7976931348623157e308) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.judge_alert_rules (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return logloom_private.settle_alert_windows(
    array(
      with due as materialized (
        select d.rule_id, d.window_start, d.window_end, r.group_id, r.aggregate,
          r.results, r.window_minutes,
          min(d.window_start) over (partition by d.rule_id) as first_start
        from logloom_private.due_alert_windows(p_rule_ids, p_round) d
        join logloom_private.planned_alert_rules r on r.rule_id = d.rule_id
      )
      select row(
        d.rule_id, d.window_start, d.window_end,
        case when d.results is null
          then logloom_private.partial_value(
            d.aggregate, d.window_minutes, t.events, t.numbers, t.total, t.least, t.greatest
          )
          else logloom_private.combined_value(
            d.group_id, d.results, d.window_start, d.window_end
          )
        end,
        null, null, null
      )::logloom_private.alert_window
      from due d
      join logloom_private.alert_groups g on g.group_id = d.group_id
      cross join lateral (
        select
          sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
          min(m.least) as least, max(m.greatest) as greatest
        from logloom_private.alert_partials m
        where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
      ) t
      where g.write_seq >= p_round.write_seq_to
        and (
          g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
        )
      union all
      select row(
        r.rule_id, p_round.window_end, p_round.window_end, null,
        coalesce(r.refusal, g.last_error), null, null
      )::logloom_private.alert_window
      from logloom_private.planned_alert_rules r
      left join logloom_private.alert_groups g on g.group_id = r.group_id
      where r.rule_id = any(p_rule_ids)
        and r.asked_at < p_round.window_end
        and (
          r.refusal is not null
          or (g.last_error is not null and g.retry_at > p_round.window_end)
        )
    ),
    p_round, p_now
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.keep_rule_values (
  p_windows logloom_private.alert_window[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Values beyond this are kept as this, so that sums of a few stay finite.
  v_largest constant double precision := 1e300;
begin
  insert into logloom_private.rule_values as v (rule_id, window_end, values, others)
  select
    k.rule_id, k.window_end,
    coalesce(
      jsonb_object_agg(
        logloom_private.group_key(k."group"), greatest(least(k.value, v_largest), -v_largest)
      ) filter (where k.place <= logloom_private.baseline_groups() and k.value is not null),
      '{}'
    ),
    case when count(*) <= logloom_private.baseline_groups() then k.unseen end
  from (
    select w.*, logloom_private.absent_value(p.aggregate, p.results) as unseen,
      row_number() over (
        partition by w.rule_id, w.window_end
        order by b.values ? logloom_private.group_key(w."group") desc nulls last,
          w.value desc nulls last, w."group"
      ) as place
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id and r.baseline_days is not null
    join logloom_private.alert_plans p on p.rule_id = w.rule_id
    left join logloom_private.rule_values b
      on b.rule_id = w.rule_id and b.window_end = w.window_end - interval '5 minutes'
    where w.window_end = logloom_private.kept_window_end(w.window_end) and w.error is null
  ) k
  group by k.rule_id, k.window_end, k.unseen
  on conflict (rule_id, window_end) do update
  set values = excluded.values, others = excluded.others;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.kept_window_end (
  p_window_end timestamp with time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE sql
  IMMUTABLE
RETURN date_bin('00:05:00'::interval, p_window_end, '1970-01-01 00:00:00+00'::timestamp WITH time zone);

CREATE OR REPLACE FUNCTION logloom_private.largest_groups (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_groups jsonb;
begin
  p_query.plan := p_query.plan - 'bucket' - 'sort' - 'limit' - 'having';
  execute 'select jsonb_agg(array(select r.g ->> n from unnest($1) with ordinality u (n, i) '
    || 'order by u.i)) from ('
    || logloom_private.log_stats_sql(
      p_tenant_id, p_query, p_range, logloom_private.max_series()
    )
    || ') r (g, v, vs, t)'
  into v_groups
  using p_query.by_fields;
  -- The groups become part of the statement. Groups beyond this size get no series of their own.
  return coalesce(
    (
      select jsonb_agg(g.texts order by g.n)
      from (
        select u.*, sum(octet_length(u.texts::text)) over (order by u.n) as bytes
        from jsonb_array_elements(v_groups) with ordinality u (texts, n)
      ) g
      where g.bytes <= (select s.max_page_bytes / 8 from logloom_private.settings s)
    ),
    '[]'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.last_incident (
  p_rule_id uuid,
  p_group   jsonb
)
  RETURNS logloom.alert_incidents
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select i
    from logloom.alert_incidents i
    where i.rule_id = p_rule_id and i."group" is not distinct from p_group
    -- Several can open at once, when a rule catches up.
    order by i.opened_at desc, i.held_until desc
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.lasting_windows (
  p_rule       logloom.alert_rules,
  p_window_end timestamp with time zone,
  p_seen       logloom_private.alert_window[],
  p_holding    logloom_private.alert_window[]
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_groups constant integer := (select s.alert_groups from logloom_private.settings s);
  -- A group without records counts as missing only if it had records within this many windows.
  v_absent_windows constant integer := 10;
  v_holding logloom_private.alert_window[] := p_holding;
begin
  if p_rule.on_absent = 'fire' then
    v_holding := v_holding || array(
      select row(
        p_rule.rule_id, p_window_end - make_interval(mins => p_rule.window_minutes), p_window_end,
        0, null, a."group", true
      )::logloom_private.alert_window
      from logloom_private.alert_states a
      where a.rule_id = p_rule.rule_id
        and a.seen_at < p_window_end
        and a.seen_at >= p_window_end - make_interval(
          mins => p_rule.window_minutes * v_absent_windows
        )
        and not exists (
          select from unnest(p_seen) s where md5(s."group"::text) = a.group_key
        )
      order by a.seen_at desc, a.group_key
      limit v_max_groups
    );
  end if;
  insert into logloom_private.alert_states as a (rule_id, group_key, "group", seen_at, holds_since)
  select
    p_rule.rule_id, w.group_key, w."group",
    case when w.is_seen and p_rule.on_absent = 'fire' then p_window_end end,
    case when w.holds then p_window_end end
  from (
    select
      coalesce(md5(u."group"::text), '') as group_key, (array_agg(u."group"))[1] as "group",
      bool_or(u.holds) as holds, bool_or(not u.holds or u.absent is not true) as is_seen
    from (
      select h."group", h.absent, true as holds from unnest(v_holding) h
      union all
      select s."group", s.absent, false from unnest(p_seen) s where p_rule.on_absent = 'fire'
    ) u
    group by 1
  ) w
  on conflict (rule_id, group_key) do update
  set seen_at = greatest(a.seen_at, excluded.seen_at),
    holds_since = least(a.holds_since, excluded.holds_since);
  -- Groups whose condition does not hold start again. Groups that were not seen for long are
  -- deleted.
  update logloom_private.alert_states a
  set holds_since = null
  where a.rule_id = p_rule.rule_id
    and a.holds_since is not null
    and not exists (
      select from unnest(v_holding) h where coalesce(md5(h."group"::text), '') = a.group_key
    );
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id
    and a.holds_since is null
    and (
      a.seen_at < p_window_end - make_interval(mins => p_rule.window_minutes * v_absent_windows)
    ) is not false;
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id and a.group_key = any (array(
    select o.group_key
    from logloom_private.alert_states o
    where o.rule_id = p_rule.rule_id
    order by o.seen_at desc nulls last, o.group_key
    offset v_max_groups * v_absent_windows
  ));
  return array(
    select h
    from unnest(v_holding) h
    join logloom_private.alert_states a
      on a.rule_id = p_rule.rule_id and a.group_key = coalesce(md5(h."group"::text), '')
    where a.holds_since <= p_window_end - make_interval(mins => p_rule.for_minutes)
    order by h."group"
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.late_seconds (
  p_rule logloom.alert_rules
)
  RETURNS double precision
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads the rounds
begin
  return coalesce(
    (
      select greatest(extract(epoch from n.window_end - l.window_end), 0)
      from logloom_private.alert_rounds r
      cross join lateral (
        -- Rules are not late for a round that is still in progress.
        select r.window_end - (r.finished_at is null)::integer * interval '1 minute' as window_end
      ) n
      cross join lateral (
        select greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
          as window_end
      ) l
      where p_rule.enabled
    ),
    0
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.leaf_template (
  p_test   text,
  p_values jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_template jsonb := jsonb_build_object(
    'by', p_test, 'decides', coalesce(p_values::text, '') !~ '[0-9]', 'literal', ''
  );
  v_pieces text[];
begin
  case p_test
    when 'exists' then
    when 'equal' then v_template := v_template || logloom_private.equal_template(p_values);
    when 'contains' then v_template := v_template || logloom_private.contains_template(p_values);
    when 'word' then v_template := v_template || logloom_private.word_template(p_values);
    when 'regex' then v_template := v_template || logloom_private.regex_template(p_values);
    else return null;
  end case;
  v_pieces := logloom_private.cut_words(v_template ->> 'literal');
  return v_template || jsonb_build_object('words', array(
    -- The first and the last word of the literal may be parts of longer words.
    select case when p.n > 1 then ' ' else '' end || replace(p.piece, 'ς', 'σ')
      || case when p.n < cardinality(v_pieces) then ' ' else '' end
    from unnest(v_pieces) with ordinality p (piece, n)
    where p.piece <> ''
    order by p.n
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.letter_cases()
  RETURNS integer[]
  LANGUAGE sql
  IMMUTABLE
RETURN ARRAY[ARRAY[192,
  214,
  32],
  ARRAY[216,
  222,
  32],
  ARRAY[304,
  304,
  '-199'::integer],
  ARRAY[376,
  376,
  '-121'::integer],
  ARRAY[385,
  385,
  210],
  ARRAY[390,
  390,
  206],
  ARRAY[393,
  394,
  205],
  ARRAY[398,
  398,
  79],
  ARRAY[399,
  399,
  202],
  ARRAY[400,
  400,
  203],
  ARRAY[403,
  403,
  205],
  ARRAY[404,
  404,
  207],
  ARRAY[406,
  406,
  211],
  ARRAY[407,
  407,
  209],
  ARRAY[412,
  412,
  211],
  ARRAY[413,
  413,
  213],
  ARRAY[415,
  415,
  214],
  ARRAY[422,
  422,
  218],
  ARRAY[425,
  425,
  218],
  ARRAY[430,
  430,
  218],
  ARRAY[433,
  434,
  217],
  ARRAY[439,
  439,
  219],
  ARRAY[452,
  452,
  2],
  ARRAY[455,
  455,
  2],
  ARRAY[458,
  458,
  2],
  ARRAY[497,
  497,
  2],
  ARRAY[502,
  502,
  '-97'::integer],
  ARRAY[503,
  503,
  '-56'::integer],
  ARRAY[544,
  544,
  '-130'::integer],
  ARRAY[570,
  570,
  10795],
  ARRAY[573,
  573,
  '-163'::integer],
  ARRAY[574,
  574,
  10792],
  ARRAY[579,
  579,
  '-195'::integer],
  ARRAY[580,
  580,
  69],
  ARRAY[581,
  581,
  71],
  ARRAY[895,
  895,
  116],
  ARRAY[902,
  902,
  38],
  ARRAY[904,
  906,
  37],
  ARRAY[908,
  908,
  64],
  ARRAY[910,
  911,
  63],
  ARRAY[913,
  929,
  32],
  ARRAY[931,
  939,
  32],
  ARRAY[975,
  975,
  8],
  ARRAY[1012,
  1012,
  '-60'::integer],
  ARRAY[1017,
  1017,
  '-7'::integer],
  ARRAY[1021,
  1023,
  '-130'::integer],
  ARRAY[1024,
  1039,
  80],
  ARRAY[1040,
  1071,
  32],
  ARRAY[1216,
  1216,
  15],
  ARRAY[1329,
  1366,
  48],
  ARRAY[4256,
  4293,
  7264],
  ARRAY[4295,
  4295,
  7264],
  ARRAY[4301,
  4301,
  7264],
  ARRAY[5024,
  5103,
  38864],
  ARRAY[5104,
  5109,
  8],
  ARRAY[7312,
  7354,
  '-3008'::integer],
  ARRAY[7357,
  7359,
  '-3008'::integer],
  ARRAY[7838,
  7838,
  '-7615'::integer],
  ARRAY[7944,
  7951,
  '-8'::integer],
  ARRAY[7960,
  7965,
  '-8'::integer],
  ARRAY[7976,
  7983,
  '-8'::integer],
  ARRAY[7992,
  7999,
  '-8'::integer],
  ARRAY[8008,
  8013,
  '-8'::integer],
  ARRAY[8025,
  8025,
  '-8'::integer],
  ARRAY[8027,
  8027,
  '-8'::integer],
  ARRAY[8029,
  8029,
  '-8'::integer],
  ARRAY[8031,
  8031,
  '-8'::integer],
  ARRAY[8040,
  8047,
  '-8'::integer],
  ARRAY[8072,
  8079,
  '-8'::integer],
  ARRAY[8088,
  8095,
  '-8'::integer],
  ARRAY[8104,
  8111,
  '-8'::integer],
  ARRAY[8120,
  8121,
  '-8'::integer],
  ARRAY[8122,
  8123,
  '-74'::integer],
  ARRAY[8124,
  8124,
  '-9'::integer],
  ARRAY[8136,
  8139,
  '-86'::integer],
  ARRAY[8140,
  8140,
  '-9'::integer],
  ARRAY[8152,
  8153,
  '-8'::integer],
  ARRAY[8154,
  8155,
  '-100'::integer],
  ARRAY[8168,
  8169,
  '-8'::integer],
  ARRAY[8170,
  8171,
  '-112'::integer],
  ARRAY[8172,
  8172,
  '-7'::integer],
  ARRAY[8184,
  8185,
  '-128'::integer],
  ARRAY[8186,
  8187,
  '-126'::integer],
  ARRAY[8188,
  8188,
  '-9'::integer],
  ARRAY[8486,
  8486,
  '-7517'::integer],
  ARRAY[8490,
  8490,
  '-8383'::integer],
  ARRAY[8491,
  8491,
  '-8262'::integer],
  ARRAY[8498,
  8498,
  28],
  ARRAY[8544,
  8559,
  16],
  ARRAY[9398,
  9423,
  26],
  ARRAY[11264,
  11311,
  48],
  ARRAY[11362,
  11362,
  '-10743'::integer],
  ARRAY[11363,
  11363,
  '-3814'::integer],
  ARRAY[11364,
  11364,
  '-10727'::integer],
  ARRAY[11373,
  11373,
  '-10780'::integer],
  ARRAY[11374,
  11374,
  '-10749'::integer],
  ARRAY[11375,
  11375,
  '-10783'::integer],
  ARRAY[11376,
  11376,
  '-10782'::integer],
  ARRAY[11390,
  11391,
  '-10815'::integer],
  ARRAY[42877,
  42877,
  '-35332'::integer],
  ARRAY[42893,
  42893,
  '-42280'::integer],
  ARRAY[42922,
  42922,
  '-42308'::integer],
  ARRAY[42923,
  42923,
  '-42319'::integer],
  ARRAY[42924,
  42924,
  '-42315'::integer],
  ARRAY[42925,
  42925,
  '-42305'::integer],
  ARRAY[42926,
  42926,
  '-42308'::integer],
  ARRAY[42928,
  42928,
  '-42258'::integer],
  ARRAY[42929,
  42929,
  '-42282'::integer],
  ARRAY[42930,
  42930,
  '-42261'::integer],
  ARRAY[42931,
  42931,
  928],
  ARRAY[42948,
  42948,
  '-48'::integer],
  ARRAY[42949,
  42949,
  '-42307'::integer],
  ARRAY[42950,
  42950,
  '-35384'::integer],
  ARRAY[65313,
  65338,
  32],
  ARRAY[66560,
  66599,
  40],
  ARRAY[66736,
  66771,
  40],
  ARRAY[66928,
  66938,
  39],
  ARRAY[66940, 66954, 39], ARRAY[66956, 66962, 39], ARRAY[66964, 66965, 39], ARRAY[68736, 68786, 64], ARRAY[71840, 71871, 32], ARRAY[93760, 93791, 32], ARRAY[125184, 125217, 34]];

CREATE OR REPLACE FUNCTION logloom_private.level_named (
  p_word text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select l.level
    from (
      values
        ('debug', 'debug trace finest finer fine silly verbose http notset dbg dbug debg trc trce '
          'vrb debug1 debug2 debug3 debug4 debug5'),
        ('info', 'info information informational notice log ok default audit config inf success'),
        ('warn', 'warn warning wrn'),
        ('error', 'error err severe critical crit fatal panic alert emerg emergency fail dpanic '
          'ftl erro eror')
    ) l (level, words)
    where p_word = any (string_to_array(l.words, ' '))
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.limits_of_sender (
  p_state logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    json_build_object(
      'authenticated', true,
      -- No time of receipt takes more characters than this one.
      'max_event_bytes', p_state.max_record_bytes
        - logloom_private.bare_record_bytes(p_state.tenant_id, '2000-01-01T00:00:00.000001Z'),
      'max_event_values', p_state.max_record_values
    ),
    logloom_private.quota_headers(p_state, 0), 0
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.list_limit (
  p_limit integer,
  p_error text    DEFAULT NULL::text
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role raises an error itself
begin
  if p_limit not between 1 and logloom_private.list_limit_max() then
    perform logloom_private.refuse(
      coalesce(p_error, 'parameters.list_limit_is_out_of_range'),
      logloom_private.list_limit_max()::text
    );
  end if;
  return coalesce(p_limit, 100);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.list_limit_max()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1000;

CREATE OR REPLACE FUNCTION logloom_private.log_fields_sql (
  p_sample   logloom_private.sql_source,
  p_is_whole boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_wanted constant text := '($1 is null or strpos(lower(%s), lower($1)) > 0)';
  -- The values of arrays are dropped: an array may be as large as its record.
  v_attributes constant text :=
    '(select j.key, jsonb_typeof(j.value) as type, '
    || 'case jsonb_typeof(j.value) when ''object'' then j.value end as object, '
    || 'case when jsonb_typeof(j.value) in (''string'', ''number'', ''boolean'') '
    || 'then left(j.value #>> ''{}'', 201) end as value from jsonb_each(%1$s) j '
    || 'where jsonb_typeof(j.value) = ''object'' or '
    || format(v_wanted, '%2$s || logloom_private.query_segment(j.key)') || ' limit 200)';
  v_max_fields constant integer := 200;
  -- The most values of each field.
  v_max_values constant integer := 10;
  -- The most attributes read, in all records together.
  v_max_cells constant integer := 100000;
  v_sampled text;
  v_present text;
begin
  select
    string_agg(format('left(l.%1$s, 201) as %1$s', f.name), ', '),
    string_agg(format('(%1$L, ''string'', s.%1$s)', f.name), ', ')
  into v_sampled, v_present
  from unnest(logloom_private.record_fields()) f
  where f.place is not null;
  return format(
    $query$
      with recursive sample as materialized (
        -- Takes one character more than a listed value may have.
        select %5$s, l.msg is not null as has_msg, l.attrs
        %1$s
      ), attributes as (
        select
          logloom_private.query_segment(a.key) as path, 1 as depth, a.type, a.object, a.value
        from sample s, lateral %7$s a
        where length(a.key) <= 200
        union all
        select
          p.path || '.' || logloom_private.query_segment(a.key), p.depth + 1,
          a.type, a.object, a.value
        from attributes p, lateral %8$s a
        where p.depth < 5 and length(p.path) + length(a.key) <= 200
      ), present as (
        select f.field, f.type, f.value
        from sample s,
          lateral (
            values
              ('ts', 'timestamp', null),
              ('received_at', 'timestamp', null),
              ('id', 'uuid', null),
              %6$s
          ) f (field, type, value)
        where f.value is not null or f.type <> 'string'
        union all
        select 'msg', 'string', null from sample s where s.has_msg
        union all
        select 'attrs.' || a.path, a.type, a.value
        -- This limit ends the recursion.
        from (select t.* from attributes t limit %4$s) a
        where a.type not in ('null', 'object')
      ), fields as (
        select
          p.field,
          -- count(distinct) would sort all cells.
          case when min(p.type) = max(p.type) then min(p.type) else 'mixed' end as type,
          count(*) as count
        from present p
        where %10$s
        group by p.field
        -- level and service are never cut off: most searches begin with them.
        order by p.field in ('level', 'service') desc, count(*) desc, p.field collate "C"
        limit %2$s
      ), facets as (
        select
          p.field, p.value, count(*) as count,
          row_number() over (
            partition by p.field order by count(*) desc, p.value collate "C"
          ) as place
        from fields f
        join present p using (field)
        where length(p.value) <= 200
        group by p.field, p.value
      ), listed as (
        select
          v.field,
          array_agg(
            row(v.value, v.count)::public.logloom_log_field_value order by v.place
          ) as values
        from facets v
        where v.place <= %3$s
        group by v.field
      )
      select
        f.field, f.type, f.count, coalesce(v.values, '{}'),
        %9$L::boolean as exact,
        (select count(*) from sample) as records
      from fields f
      left join listed v using (field)
      order by f.count desc, f.field collate "C"
    $query$,
    logloom_private.source_sql(p_sample),
    v_max_fields, v_max_values, v_max_cells, v_sampled, v_present,
    format(v_attributes, 's.attrs', '''attrs.'''),
    format(v_attributes, 'p.object', '''attrs.'' || p.path || ''.'''),
    p_is_whole, format(v_wanted, 'p.field')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_histogram_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
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
        from (%4$s) g
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
        date_bin(%1$L::interval, %2$L::timestamptz, %5$L),
        date_bin(%1$L::interval, %3$L::timestamptz - interval '1 microsecond', %5$L),
        %1$L::interval
      ) b (ts)
      left join counted c on c.ts = b.ts
      order by b.ts
    $query$,
    make_interval(secs => p_seconds), lower(p_range), upper(p_range),
    logloom_private.counts_sql(p_tenant_id, p_query, p_range, p_seconds, '{level}'),
    logloom_private.bucket_origin(p_seconds)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_neighbours (
  p_scope logloom_private.reading_scope,
  p_log   public.logloom_log_record,
  p_count integer,
  p_order text,
  p_bytes bigint
)
  RETURNS public.logloom_log_record[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  if p_count = 0 then
    return '{}';
  end if;
  select case when count(*) = 0 then '{"type": "all"}' else jsonb_build_object(
    'type', 'and', 'items', jsonb_agg(case
      when v.value is not null then logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1),
        case
          when length(v.value) <= 50000
            then jsonb_build_object('test', 'equal', 'values', jsonb_build_array(v.value))
          else jsonb_build_object(
            'test', 'like', 'values',
            jsonb_build_array(logloom_private.query_like_text(left(v.value, 50000)) || '%')
          )
        end
      )
      else jsonb_build_object('type', 'not', 'item', logloom_private.query_leaf(
        logloom_private.query_field(v.field, 1), '{"test": "exists"}'
      ))
    end)
  ) end
  into v_query.tree
  from (values ('host', p_log.host), ('service', p_log.service)) v (field, value)
  where logloom_private.is_hidden(v.field, p_scope.hidden_fields) is not true;
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return (
    logloom_private.found_page(
      p_log.tenant_id, v_query,
      tstzrange(p_log.ts - interval '1 day', p_log.ts + interval '1 day'),
      p_count, p_order, p_log.ts, p_log.id, p_bytes
    )
  ).logs;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_patterns_of (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_records constant integer := (select s.search_stage_records from logloom_private.settings s);
  v_templates constant integer := logloom_private.max_templates();
  v_columns constant jsonb := jsonb_build_object(
    'count', array['p.count'], 'first', array['p.first'], 'last', array['p.last'],
    'pattern', array['p.pattern collate "C"']
  );
  v_time constant text :=
    'to_char(timestamptz ''epoch'' + p.%s * interval ''1 microsecond'', '
      || '''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  return query execute
    'with found as materialized ('
      || logloom_private.rough_shapes_sql(
        p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_records,
        v_templates
      )
    || '), rough as (select f.shape, sum(f.count) as count, min(f.first) as first, '
      || 'max(f.last) as last, min(f.example) as example, min(f.place) as place '
      || 'from found f group by 1'
    || '), patterns as (select logloom_private.shape(r.shape) as pattern, '
      || 'sum(r.count)::double precision as count, min(r.first) as first, max(r.last) as last, '
      || 'min(r.example) as example, min(r.place) as place from rough r group by 1'
    || '), chosen as materialized (select c.*, row_number() over () as n from ('
      || 'select p.*, count(*) over () as total '
      || logloom_private.source_sql(logloom_private.chosen_rows_sql(
        'patterns p', p_query.plan, v_columns, 'p.count desc, p.pattern collate "C"', p_limit
      ))
    || ') c), messages as (select m.* from logloom_private.sealed_messages('
      || logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id))
      || ', array(select c.place from chosen c where c.place is not null)'
      || ') m) '
    || 'select jsonb_build_object(''pattern'', p.pattern), p.count, jsonb_build_object('
      || '''count'', p.count, ''first'', ' || format(v_time, 'first') || ', ''last'', '
      || format(v_time, 'last') || ', ''example'', least(p.example, left(m.msg, 1000) collate "C"))'
      || ', p.total, case when exists (select from found f where f.is_cut) '
      || 'then $1 || row($2, $3, $4)::public.logloom_query_warning else $1 end '
      || 'from chosen p left join messages m on m.place = p.place order by p.n'
  using
    logloom_private.warnings_of(p_query),
    (p_query.plan -> 'first' -> 'position')::integer,
    format(
      'patterns reached its limit of %s records, or %s templates of blocks: these are the newest',
      v_records, v_templates
    ),
    'Narrow the filter or the range of time.';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_series_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint,
  p_groups    jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates constant jsonb := logloom_private.series_aggregates(p_query);
  v_bucket constant text := logloom_private.bucket_sql(p_seconds);
  v_keys text[] := p_query.by_sql;
  v_key text := '0';
  v_source logloom_private.counted_source;
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range),
    not jsonb_path_exists(v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'),
    p_seconds
  );
  if cardinality(v_keys) > 0 and v_source.count_sql like '%l.events%' then
    -- Find the series once for each group of a bucket, not for each minute.
    v_source.rows_sql := logloom_private.rows_from(
      '(select ' || v_bucket || ' as ts, l.level, l.service, sum(l.events) as events, ' || (
        select string_agg(format('%s as b%s', k.sql, k.n), ', ' order by k.n)
        from unnest(v_keys) with ordinality k (sql, n)
      )
      || ' ' || logloom_private.source_sql(v_source.rows_sql) || ' group by 1, 2, 3, '
      || array_to_string(array(select n + 4 from generate_subscripts(v_keys, 1) n), ', ') || ') l'
    );
    v_keys := array(select 'l.b' || n from generate_subscripts(v_keys, 1) n);
  end if;
  if cardinality(v_keys) > 0 then
    v_key := '(' || quote_literal((
      select coalesce(jsonb_object_agg(g.texts::text, g.n - 1), '{}')
      from jsonb_array_elements(p_groups) with ordinality g (texts, n)
    )) || '::jsonb ->> to_jsonb(array['
      || (select string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ') from unnest(v_keys) b)
      || '])::text)::integer';
  end if;
  return format(
    'select g.ts, g.series, g.v%s from (%s) g',
    logloom_private.value_number(p_query.plan),
    logloom_private.math_sql(
      'select ' || v_bucket || ' as ts, ' || v_key || ' as series, '
        || logloom_private.numbered_sql(
          logloom_private.stats_values_sql(v_aggregates, v_source, p_seconds::numeric / 60), 'v'
        )
        || ' ' || logloom_private.source_sql(v_source.rows_sql) || ' group by 1, 2',
      p_query.plan
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stats_of (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
begin
  if p_query.plan ? 'patterns' then
    return query
    select p.*
    from logloom_private.log_patterns_of(p_tenant_id, p_query, p_range, p_limit) p;
  else
    return query execute 'select s.*, $1 from ('
      || logloom_private.log_stats_sql(p_tenant_id, p_query, p_range, p_limit) || ') s'
    using logloom_private.warnings_of(p_query);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stats_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_limit     integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates constant jsonb := logloom_private.stats_aggregates(p_query);
  v_bucket constant bigint := p_query.plan -> 'bucket';
  v_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_only_counts constant boolean := not jsonb_path_exists(
    v_aggregates, '$[*] ? (@.kind != "count" && @.kind != "rate")'
  );
  v_keys text[];
  v_names text[] := p_query.by_fields;
  v_source logloom_private.counted_source;
  v_values text[];
  v_texts text[];
  v_sorted jsonb;
  v_grouped text;
  -- A query without aggregates has one result, count().
  v_results constant text[] := case when p_query.plan ? 'aggregates'
    then logloom_private.query_result_names(p_query.plan) else '{count}' end;
  v_value constant text := 'g.v' || logloom_private.value_number(p_query.plan);
begin
  v_source := logloom_private.stats_source(
    p_tenant_id, logloom_private.bound_query(p_tenant_id, p_query, p_range), v_only_counts, v_bucket
  );
  v_keys := coalesce(v_source.keys_sql, p_query.by_sql);
  if v_bucket is not null then
    v_keys := logloom_private.bucket_sql(v_bucket) || v_keys;
    v_names := 'ts'::text || v_names;
  end if;
  v_values := logloom_private.stats_values_sql(
    v_aggregates, v_source,
    coalesce(v_bucket, extract(epoch from upper(p_range) - lower(p_range))) / 60
  );

  -- The columns k1, k2 … are the groups; v1, v2 … are the results.
  v_grouped := 'select ' || concat_ws(
    ', ', logloom_private.numbered_sql(v_keys, 'k'), logloom_private.numbered_sql(v_values, 'v')
  ) || ' ' || logloom_private.source_sql(v_source.rows_sql);
  if cardinality(v_keys) > 0 then
    v_grouped := v_grouped || ' group by '
      || (select string_agg(n::text, ', ') from generate_series(1, cardinality(v_keys)) n)
      || case when v_source.count_sql like '%events%' then ' having sum(l.events) <> 0' else '' end;
  end if;
  v_grouped := logloom_private.math_sql(v_grouped, p_query.plan);
  -- Text columns need no cast.
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
        case
          when v_bucket is not null and k.n = 1 then '["g.k1"]'
          -- Sorts numbers in any notation before other texts.
          when k.name ~ '^(?:@|attrs\.)' then jsonb_build_array(
            'logloom_private.text_number(' || v_texts[k.n] || ')', v_texts[k.n] || ' collate "C"'
          )
          else jsonb_build_array(v_texts[k.n] || ' collate "C"')
        end as sql
      from unnest(v_names) with ordinality k (name, n)
      union all
      select r.name, jsonb_build_array('g.v' || r.n)
      from unnest(v_results) with ordinality r (name, n)
    ) c
  );
  v_grouped := 'select g.*, count(*) over () as total '
    || logloom_private.source_sql(logloom_private.chosen_rows_sql(
      format(
        '(select g.* from (select g.*, count(*) over () as groups from (%1$s) g) g '
          || 'where g.groups <= %2$s '
          || 'or logloom_private.refuse_stage_bound(''by'', %2$s, ''groups'')) g',
        v_grouped, v_groups
      ),
      p_query.plan, v_sorted,
      concat_ws(
        ', ',
        case when v_bucket is not null then 'g.k1' end,
        v_value || ' desc nulls last',
        (
          select string_agg(v_texts[n] || ' collate "C"', ', ')
          from generate_series(
            case when v_bucket is null then 1 else 2 end, cardinality(v_texts)
          ) n
        )
      ),
      p_limit
    ));

  -- Uses arrays, because a function takes at most 100 arguments and a query may name more fields.
  return 'select jsonb_object(array['
    || array_to_string(array(select quote_literal(n) from unnest(v_names) n), ', ')
    || ']::text[], array[' || array_to_string(v_texts, ', ')
    || ']::text[]), ' || v_value || ', jsonb_build_object('
    || (
      select string_agg(quote_literal(r.name) || ', g.v' || r.n, ', ')
      from unnest(v_results) with ordinality r (name, n)
    )
    || '), g.total from (' || v_grouped || ') g';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stream_of (
  p_row logloom.log_streams
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    p_row.test_finished_at, p_row.test_status, p_row.test_error, p_row.last_answer,
    p_row.test_answer
  )::public.logloom_log_stream;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_rows_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_sealed    text
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kept_from constant timestamptz := logloom_private.kept_from(p_tenant_id);
  v_days date[];
  v_rows logloom_private.sql_source;
begin
  select array_agg(distinct a.day) into v_days
  from logloom_private.log_writes a
  where a.write_seq >= p_first;
  v_rows := logloom_private.with_sealed_sql(
    logloom_private.rows_sql(
      p_tenant_id, greatest(logloom_private.day_start(v_days[1]), v_kept_from),
      logloom_private.day_start(v_days[cardinality(v_days)] + 1),
      concat_ws(
        ' and ', format('l.write_seq between %s and %s', p_first, p_last),
        case when p_id is not null
          then format('(l.write_seq > %s or l.id > %L::uuid)', p_first, p_id) end,
        -- Names each day, so that one late event does not add all days in between. More than 31
        -- days are not named: all days from the first to the last are read.
        case when cardinality(v_days) <= 31 then logloom_private.days_sql(v_days) end
      ) || ' and ' || p_query.filter,
      null
    ),
    p_sealed
  );
  v_rows.order_sql := 'l.write_seq, l.id';
  v_rows.max_rows := p_limit;
  return logloom_private.masked_sql(p_query, v_rows);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint,
  p_fits      boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.page_sql(
    p_query,
    logloom_private.log_tail_rows_sql(
      p_tenant_id, p_query, p_limit, p_first, p_id, p_last, logloom_private.sealed_tail_sql(
        p_tenant_id, p_query, p_limit, p_first, p_id, p_last, p_bytes
      )
    ),
    p_limit, p_bytes, p_fits, ', l.write_seq, l.id'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_view_of (
  p_row logloom.log_views
)
  RETURNS public.logloom_log_view
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_row).view_id, (p_row).tenant_id, (p_row).name, (p_row).query_dsl, (p_row).hidden_fields, (p_row).operations, (p_row).created_by, (p_row).created_at, (p_row).updated_at);

CREATE OR REPLACE FUNCTION logloom_private.log_within (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_window    tstzrange,
  p_id        uuid,
  p_rows      boolean,
  p_sealed    boolean
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := logloom_private.kept_from(p_tenant_id, lower(p_window));
  v_select constant text := 'select row(' || logloom_private.shown_columns_sql()
    || ')::public.logloom_log_record ';
  v_rows logloom_private.sql_source;
  v_logs public.logloom_log_record[] := '{}';
begin
  if p_rows then
    v_rows := logloom_private.tenant_rows_sql(
      p_tenant_id, v_from, upper(p_window), format('l.id = %L::uuid and %s', p_id, p_query.filter)
    );
    v_rows.max_rows := 1;
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.source_sql(logloom_private.masked_sql(p_query, v_rows))
    );
  end if;
  if p_sealed and v_logs = '{}' then
    v_rows := logloom_private.rows_from(
      format(
        'logloom_private.sealed_log(%L, %L, %L, %L) l', p_tenant_id, v_from, upper(p_window), p_id
      ),
      p_query.filter, p_limit => 1
    );
    v_logs := logloom_private.read_apart(
      v_select || logloom_private.source_sql(logloom_private.masked_sql(p_query, v_rows))
    );
  end if;
  if logloom_private.answered_bytes(v_logs)
    > (select s.max_page_bytes from logloom_private.settings s)
  then
    return logloom_private.cut_record(v_logs[1], logloom_private.answered_bytes(v_logs));
  end if;
  return v_logs[1];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.look_for_canary (
  p_round_id uuid,
  p_key      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mail_code (
  p_notification logloom_private.notifications
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Takes 48 random bits for a million codes, so that all codes are almost equally likely.
  v_code constant text := lpad((
    (('x' || encode(extensions.gen_random_bytes(6), 'hex'))::bit(48)::bigint) % 1000000
  )::text, 6, '0');
  v_lifetime constant interval := logloom_private.confirmation_lifetime();
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mail_stream_owners (
  p_stream logloom.log_streams,
  p_type   text,
  p_reason text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  select
    p_stream.tenant_id, p_stream.stream_id, 'stream', 'email', u.email,
    jsonb_build_object(
      'type', p_type, 'timestamp', now(),
      'data', jsonb_build_object(
        'stream_id', p_stream.stream_id, 'name', p_stream.name, 'kind', p_stream.kind,
        'reason', p_reason, 'failing_since', p_stream.failing_since,
        'last_error', p_stream.last_error, 'answer', p_stream.last_answer
      )
    )::text,
    now() + logloom_private.notification_lifetime()
  from logloom_private.auth_users_by_id(
    array(
      select m.user_id from logloom.tenant_members m
      where m.tenant_id = p_stream.tenant_id and m.role = 'owner'
      order by m.created_at
      limit 20
    )
  ) u
  where u.email is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mailbox_digest (
  p_address text
)
  RETURNS bytea
  LANGUAGE sql
  STABLE
RETURN sha256(convert_to(lower(regexp_replace(p_address, '[+][^@]*@'::text, '@'::text)), 'UTF8'::name));

CREATE OR REPLACE FUNCTION logloom_private.maintain_partitions()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
  v_partition record;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- There is no default partition: a row in it would stop pg_partman's maintenance, and checking
    -- it would wait for readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := v_days_ahead,
      -- In a restored table, begin after its existing days.
      p_start_partition := (
        select coalesce(max(d.day) + 1, logloom_private.utc_day(now()))::text
        from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  -- Excludes the table from the project's own maintenance of all tables, which would create days in
  -- its own time zone.
  update partman.part_config
  set infinite_time_partitions = true, automatic_maintenance = 'off', premake = v_days_ahead
  where parent_table = 'logloom.logs';
  -- run_maintenance changes the session's search_path, so this job does nothing else in its
  -- session.
  perform partman.run_maintenance('logloom.logs');
  -- Reads the days from the bounds of the partitions, because partitions get other names below.
  -- pg_partman works with any name.
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
    continue when v_partition.name = v_partition.day_name;
    execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
    execute format('alter table logloom.%I enable row level security', v_partition.day_name);
    execute format('alter table logloom.%I force row level security', v_partition.day_name);
  end loop;
  -- pg_partman only adds partitions after the newest one. Create missing days before it, too.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_attrs_sql (
  p_attrs text,
  p_paths text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_odd constant text := logloom_private.odd_paths_pattern(p_paths);
  v_sql text := format('logloom_private.masked_attrs(%s, %L)', p_attrs, p_paths);
begin
  if v_odd is not null then
    v_sql := format(
      'case when %1$s::text collate "C" ~ %2$L then %3$s else %1$s - %4$L::text[]%5$s end',
      p_attrs, v_odd, v_sql, p_paths,
      (
        select string_agg(format(' #- %L', string_to_array(p, '.')), '')
        from unnest(p_paths) p
        where strpos(p, '.') > 0
      )
    );
  end if;
  return 'nullif(' || v_sql || ', ''{}'')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.masked_sql (
  p_query logloom_private.compiled_query,
  p_rows  logloom_private.sql_source,
  p_reads text[]                         DEFAULT NULL::text[]
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_paths constant text[] := logloom_private.hidden_paths(p_query.hidden_fields);
  v_masked logloom_private.sql_source := p_rows;
begin
  if p_query.hidden_fields is null then
    return p_rows;
  end if;
  v_masked.where_sql := 'true';
  v_masked.from_sql := '(select ' || (
    select string_agg(
      case
        when f.name = 'record_bytes' or f.name = any(p_query.hidden_fields)
          then format('null::%s as %I', f.type, f.name)
        when f.name = 'attrs' and v_paths <> '{}' and (
          p_reads is null or logloom_private.reads_hidden(p_reads, p_query.hidden_fields)
        ) then logloom_private.masked_attrs_sql('l.attrs', v_paths) || ' as attrs'
        else 'l.' || f.name
      end,
      ', ' order by f.ordinality
    )
    from unnest(logloom_private.record_fields()) with ordinality f
  ) || ' ' || logloom_private.source_sql(p_rows) || ') l';
  return v_masked;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.math_sql (
  p_select text,
  p_plan   jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := logloom_private.query_result_names(p_plan);
  v_first constant integer := cardinality(v_names) - jsonb_array_length(p_plan -> 'math');
begin
  for v_at in 0 .. coalesce(jsonb_array_length(p_plan -> 'math'), 0) - 1 loop
    -- "offset 0" computes each result once, however often the next ones use it.
    p_select := format(
      'select g.*, %s as v%s from (%s) g offset 0',
      logloom_private.formula_sql(p_plan -> 'math' -> v_at -> 'formula', v_names[:v_first + v_at]),
      v_first + v_at + 1, p_select
    );
  end loop;
  return p_select;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.math_step (
  p_left     double precision,
  p_operator text,
  p_right    double precision
)
  RETURNS double precision
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case p_operator
    when '+' then p_left + p_right
    when '-' then p_left - p_right
    when '*' then p_left * p_right
    when '/' then p_left / p_right
    else mod(p_left::text::numeric, p_right::text::numeric)::double precision
  end;
exception when numeric_value_out_of_range or division_by_zero then
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.max_buckets()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1000;

CREATE OR REPLACE FUNCTION logloom_private.max_counted_services()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 100;

CREATE OR REPLACE FUNCTION logloom_private.added_counts_sql (
  p_added text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN format('
    -- A service is not counted separately if its name has more than 200 characters, or if it comes
    -- after the first max_counted_services() of the minute.
    select
      a.tenant_id, a.minute, case when not a.is_other then a.service end as service, a.level,
      a.is_other, sum(a.events)::bigint as events
    from (
      select
        u.*,
        coalesce(length(u.service), 0) > 200
          or dense_rank() over (
            partition by u.tenant_id collate "C", u.minute order by u.service collate "C"
          ) > %s as is_other
      from %s u
    ) a
    group by 1, 2, 3, 4, 5
    order by a.tenant_id collate "C", a.minute
  '::text, logloom_private.max_counted_services(), p_added);

CREATE OR REPLACE FUNCTION logloom_private.added_records_sql (
  p_insert text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN format('
    with changed as (
      %s
      returning l.tenant_id, l.ts, l.service, l.level, l.write_seq
    ), added as materialized (
      select
        c.tenant_id, date_bin(''1 minute'', c.ts, ''epoch'') as minute, c.service, c.level,
        count(*) as events, max(c.write_seq) as write_seq
      from changed c
      group by 1, 2, 3, 4
    ), write_seqs as (
      insert into logloom_private.log_writes (write_seq, day)
      select max(a.write_seq), (a.minute at time zone ''UTC'')::date
      from added a
      group by 2
      on conflict do nothing
    ), days as (
      insert into logloom_private.log_days (tenant_id, day)
      select distinct a.tenant_id, (a.minute at time zone ''UTC'')::date
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
  '::text, p_insert, logloom_private.added_counts_sql('added'::text));

CREATE OR REPLACE FUNCTION logloom_private.max_series()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 20;

CREATE OR REPLACE FUNCTION logloom_private.max_step_batches()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 5000;

CREATE OR REPLACE FUNCTION logloom_private.max_templates()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 500000;

CREATE OR REPLACE FUNCTION logloom_private.max_unmetered_batches()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1000;

CREATE OR REPLACE FUNCTION logloom_private.measure_storage (
  p_with_rest boolean,
  OUT         bytes bigint,
  OUT         reusable_bytes bigint
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Indexes, pages and TOAST add to blocks.bytes: the total is 1.08 times as large with 32,000
  -- records in a block, and 1.31 times with a hundred.
  v_factor constant numeric := 1.2;
  v_sealed constant bigint := (
    select coalesce(sum(c.bytes), 0) * v_factor from logloom_private.blocks c
  );
begin
  select
    coalesce(
      sum(b.bytes) filter (
        where i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
      ),
      0
    ) + v_sealed,
    case when p_with_rest then sum(b.bytes) end
  into bytes, reusable_bytes
  from pg_catalog.pg_class c
  left join pg_catalog.pg_inherits i on i.inhrelid = c.oid
  cross join logloom_private.relation_bytes(c.oid) b (bytes)
  where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
    and c.relkind = 'r'
    and (
      p_with_rest
      or i.inhparent in ('logloom.logs'::regclass, 'logloom_private.queue'::regclass)
    );
  reusable_bytes := reusable_bytes - least(bytes, reusable_bytes);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.message_bits (
  p_block logloom_private.blocks,
  p_leaf  jsonb
)
  RETURNS bit varying[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_folded constant boolean := (p_leaf -> 'folds_case')::boolean;
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_words constant text[] := array(select jsonb_array_elements_text(v_template -> 'words'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_found integer[];
  v_templates text[];
  v_texts text[];
  v_bits varbit;
begin
  if v_literal is null then
    return array[v_none, ~v_none];
  end if;
  -- The runs whose words do not exclude a matching template.
  v_found := array(
    select l.n
    from unnest(p_block.run_words) with ordinality l (words, n)
    where l.words is null
      or not exists (
        select
        from unnest(v_words) w
        where strpos(
          case when strpos(w, 'σ') > 0 then replace(l.words, 'ς', 'σ') else l.words end, w
        ) = 0
      )
  );
  if v_found = '{}' then
    return array[v_none, v_none];
  end if;
  v_templates := p_block.templates;
  v_texts := array(
    select case when strpos(m.text, v_literal) > 0 then m.text end
    from (
      select u.n, case when u.n::integer = any(v_found) then
        case when v_folded then logloom_private.folded_text(u.templates) else u.templates end
        end as text
      from unnest(v_templates) with ordinality u (templates, n)
      offset 0
    ) m
    order by m.n
  );
  if cardinality(array_remove(v_texts, null)) = 0 then
    return array[v_none, v_none];
  end if;
  -- A leaf never matches a record without a message.
  execute format(
    $query$
      select string_agg(
        coalesce(
          (
            select string_agg(
              repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
            )
            from unnest(string_to_array(s.text, $4), $5[s.last - s.templates + 1:s.last])
              with ordinality l (%s, count, n)
            where l.count is not null
          ),
          repeat('0', s.records)
        ),
        '' order by s.n
      )::varbit
      from (
        select u.*, (sum(u.templates) over (order by u.n))::integer as last
        from unnest($1, $2, $3) with ordinality u (text, templates, records, n)
      ) s
    $query$,
    logloom_private.template_sql(p_leaf), case when v_folded then 'folded' else 'msg' end
  )
  into v_bits
  using
    v_texts, p_block.run_templates, p_block.run_records, p_block.separator,
    p_block.template_records;
  return array[
    case when (v_template -> 'decides')::boolean then v_bits else v_none end, v_bits
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.meter_batches (
  p_through bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
      $query$
        with b as materialized (
          select q.batch_id, q.tenant_id, q.received_at, q.events, q.bytes
          from logloom_private.%I q
          where q.batch_id > $1 and q.batch_id <= $2
        ), counted as (
          insert into logloom.usage_days as u (tenant_id, day, events, bytes)
          select b.tenant_id, (b.received_at at time zone 'UTC')::date, sum(b.events), sum(b.bytes)
          from b
          -- Skips tenants that were deleted meanwhile.
          join logloom.tenants t on t.tenant_id = b.tenant_id
          group by 1, 2
          on conflict (tenant_id, day) do update
          set events = u.events + excluded.events, bytes = u.bytes + excluded.bytes
        )
        select max(b.batch_id), sum(b.events), min(b.received_at) from b
      $query$,
      'queue_slot_' || v_slot
    )
    into v_last, v_events, v_received_at
    using v_pointer.metered_through, p_through;
    continue when v_last is null;
    update logloom_private.queue_slots s
    set metered_events = s.metered_events + v_events
    where s.slot = v_slot;
    insert into logloom_private.queue_marks (slot, batch_to, received_at)
    values (v_slot, v_last, v_received_at);
  end loop;
  update logloom_private.queue_pointer set metered_through = p_through where singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.meter_queue()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_lock_wait text;
  v_through bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
    or not exists (
      select
      from logloom_private.queue_pointer p, logloom_private.queue_batch_id b
      where b.last_value - p.metered_through > logloom_private.max_unmetered_batches()
    )
  then
    return;
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(logloom_private.enqueue_wait());
    -- While no enqueue runs, every batch that has a number is committed or never will be. The
    -- session-level lock can be released before the transaction ends.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.milliseconds_since (
  p_at timestamp with time zone
)
  RETURNS double precision
  LANGUAGE sql
RETURN (EXTRACT(epoch FROM (clock_timestamp() - p_at)) * (1000)::numeric);

CREATE OR REPLACE FUNCTION logloom_private.my_stored (
  p_tenant_id text
)
  RETURNS public.logloom_stored
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role may read blocks and counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed bigint;
begin
  select coalesce(sum(c.bytes), 0) into v_sealed
  from logloom_private.blocks c
  where c.tenant_id = v_tenant_id;
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
exception when query_canceled then
  -- Answers 504: at a 503 PostgREST would reconnect and reload its schema for everybody.
  perform logloom_private.refuse_for_now(5, 'search.records_are_away');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.near_services (
  p_tenant_id text,
  p_scoped    logloom_private.compiled_query,
  p_tree      jsonb,
  p_query_dsl text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := array(
    select n #>> '{}'
    from jsonb_path_query(
      p_tree, 'strict $.** ? (@.field == "service" && @.test == "equal").values[*]'
    ) n
    limit 10
  );
  v_counts logloom_private.sql_source;
  v_services text[];
begin
  if cardinality(v_names) = 0 then
    return '[]';
  end if;
  p_scoped.aggregate := 'count';
  p_scoped.by_fields := '{service}';
  v_counts := logloom_private.counted_rows_sql(
    p_tenant_id, p_scoped, p_scoped.ts_from, p_scoped.ts_to
  );
  if v_counts.from_sql is null then
    return '[]';
  end if;
  v_counts.max_rows := 20000;
  execute format(
    'select array(select distinct l.service from (select l.service %s) l '
      || 'where length(l.service) <= 60 limit 500)',
    logloom_private.source_sql(v_counts)
  )
  into v_services;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'position', greatest(strpos(p_query_dsl, n.name), 1),
      'message', format('There is no service %s: did you mean %s?', n.name, s.name),
      'suggestion', logloom_private.query_meant_comparison('service=' || s.name)
    )), '[]')
    from unnest(v_names) n (name)
    cross join lateral (
      select u.name
      from unnest(v_services) u (name)
      cross join lateral logloom_private.query_distance(lower(n.name), lower(u.name)) d
      where abs(length(u.name) - length(n.name)) <= 2
        and d <= case when length(u.name) < 5 then 1 else 2 end and d < length(u.name)
      order by d, u.name
      limit 1
    ) s
    where n.name <> all (v_services) and length(n.name) <= 60
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.near_values (
  p_tenant_id text,
  p_scoped    logloom_private.compiled_query,
  p_tree      jsonb,
  p_query_dsl text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_records constant integer := 1000;
  v_warnings jsonb := '[]';
  v_leaf jsonb;
  v_hint text[];
begin
  for v_leaf in
    -- Terms below NOT find more if their value is wrong.
    with recursive nodes (node) as (
      select p_tree
      union all
      select jsonb_array_elements(n.node -> 'items') from nodes n where n.node ? 'items'
    )
    select n.node
    from nodes n
    where n.node -> 'bounds' ->> 'unit' is not null
      or n.node ->> 'test' = 'equal' and jsonb_array_length(n.node -> 'values') = 1
        and n.node ->> 'field' in ('attrs', 'env', 'host', 'route', 'user_id', 'req_id')
    limit 3
  loop
    v_hint := logloom_private.value_hint(
      v_leaf, logloom_private.source_sql(logloom_private.first_records_sql(
        p_tenant_id, p_scoped, v_max_records, 'desc',
        p_reads => logloom_private.query_reads(v_leaf)
      ))
    );
    if v_hint[2] is not null then
      v_warnings := v_warnings || jsonb_build_object(
        'position', greatest(strpos(p_query_dsl, v_leaf ->> 'name' || ':'), 1),
        'message', v_hint[1], 'suggestion', left(v_hint[2], 200)
      );
    end if;
  end loop;
  return v_warnings;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.newest_records (
  p_tenant_id text,
  p_view_id   uuid,
  p_query_dsl text,
  p_from      text,
  p_to        text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope := logloom_private.scope_of_view(p_tenant_id, p_view_id);
  -- The operations that the view allows do not matter here.
  v_scope.operations := null;
  return (
    select coalesce(jsonb_agg(
      (
        select jsonb_object_agg(
          m.key, case when length(m.value) > 500 then left(m.value, 499) || '…' else m.value end
        )
        from jsonb_each_text(
          jsonb_strip_nulls(l.record) - '{attrs,tenant_id,received_at}'::text[]
        ) m
      ) order by l.n
    ), '[]')
    from jsonb_array_elements(to_jsonb((
      logloom_private.read_log_page(v_scope, p_query_dsl, p_from, p_to, 3, null, 'desc')
    ).logs)) with ordinality l (record, n)
  );
exception when query_canceled or others then
  return '[]';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.newest_sample_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_bytes     integer
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fields constant text[] := array(
    select f.name from unnest(logloom_private.record_fields()) f where f.place is not null
  ) || 'attrs'::text;
  v_sample logloom_private.sql_source;
begin
  v_sample := logloom_private.sized_rows_sql(
    logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records, 'desc',
      p_reads => v_fields || array['msg.exists', 'record_bytes'], p_bytes => p_bytes
    ),
    p_bytes,
    format(
      'coalesce(l.record_bytes, octet_length(to_json(row(%s))::text))',
      array_to_string(array(select 'l.' || f from unnest(v_fields) f), ', ')
    )
  );
  v_sample.where_sql := 'l.fits';
  return v_sample;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_day_to_seal (
  p_now timestamp with time zone
)
  RETURNS date
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select min(p.day)
    from logloom_private.settings s
    cross join unnest(logloom_private.partition_days()) p (day)
    left join logloom_private.sealing_days d on d.day = p.day
    where (p.day + 1)::timestamp at time zone 'UTC' <= p_now - s.seal_after
      and (
        d.checked_at is null or d.checked_through is not null
        or d.checked_at <= p_now - logloom_private.seal_again_after()
      )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_deletion()
  RETURNS uuid
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select o.run_id
    from (
      select distinct on (r.tenant_id) r.tenant_id, r.run_id, r.requested_at
      from logloom.retention_runs r
      where r.kind = 'erasure' and r.status in ('queued', 'running')
        -- Wait until all events acknowledged before the request are stored.
        and r.requested_at < coalesce(
          (logloom_private.queue_state()).oldest_received_at, 'infinity'
        )
        -- Skips an erasure that has only the archive left to do.
        and not exists (
          select
          from logloom_private.archive_erasures e
          where e.run_id = r.run_id and e.parts_through is not null and e.finished_at is null
        )
      order by r.tenant_id, r.requested_at, r.run_id
    ) o
    left join logloom_private.deletion_turns t on t.tenant_id = o.tenant_id
    order by t.served_at nulls first, o.requested_at, o.run_id
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_notifications (
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.next_turns(
    array(
      select row(
        n.notification_id, n.tenant_id, n.next_attempt_at, true
      )::logloom_private.tenant_work
      from logloom_private.notifications n
      where n.claim_id is not null and n.next_attempt_at > now()
      union all
      select row(
        d.notification_id, d.tenant_id, d.next_attempt_at, false
      )::logloom_private.tenant_work
      from logloom_private.due_notifications() d
      where not d.is_beyond_plan
    ),
    (select s.notification_open_limit from logloom_private.settings s), p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_records_to_verify (
  p_tenant_id text,
  p_from      timestamp with time zone
)
  RETURNS tstzrange
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_wanted constant bigint := logloom_private.verify_step_records();
  v_from timestamptz := least(
    (
      select logloom_private.day_start(min(d.day))
      from logloom_private.log_days d
      where d.tenant_id = p_tenant_id and d.day >= logloom_private.utc_day(p_from)
    ),
    (
      select min(c.minute)
      from logloom_private.log_counts c
      where c.tenant_id = p_tenant_id and c.minute >= p_from
    ),
    (
      select date_bin('1 minute', min(b.first_ts), 'epoch')
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from
    )
  );
  v_end timestamptz;
begin
  if v_from is null then
    return null;
  end if;
  v_from := greatest(v_from, p_from);
  v_end := logloom_private.day_start(logloom_private.utc_day(v_from) + 1);
  return tstzrange(
    v_from,
    coalesce(
      (
        select m.minute + interval '1 minute'
        from (
          select c.minute, sum(sum(c.events)) over (order by c.minute) as events
          from logloom_private.log_counts c
          where c.tenant_id = p_tenant_id and c.minute >= v_from and c.minute < v_end
          group by c.minute
        ) m
        where m.events >= v_wanted
        order by m.minute
        limit 1
      ),
      v_end
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_stored_day (
  p_after  date,
  p_before date
)
  RETURNS date
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- Also finds a day whose partition is dropped but whose other data is not deleted yet.
      select min(l.day)
      from logloom_private.log_days l
      where l.day > coalesce(p_after, '1970-01-01')
      union all
      -- A day that is completely sealed has no partition. A block of several days belongs to its
      -- last day.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.blocks c
      where c.last_ts >= logloom_private.day_start(coalesce(p_after, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(p_after, '-infinity') and d.day < p_before
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_stream_batch (
  p_stream_id uuid,
  p_claim_id  uuid
)
  RETURNS json
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads streams or what they send
declare
  v_stream logloom.log_streams;
  v_query logloom_private.compiled_query;
  v_test public.logloom_log_record;
  v_batch logloom_private.stream_batch;
  v_found integer;
  v_records text;
begin
  update logloom.log_streams s
  set claimed_until = now() + logloom_private.stream_claim_lifetime()
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
    -- This stream had its turn. Streams that wait come first.
    or v_stream.claimed_at < now() - interval '5 seconds'
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
  -- A batch that ends elsewhere, for example because the view changed, is another batch.
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
    -- Null: there is more to read.
    case when v_batch.end_seq >= logloom_private.last_write_seq() and v_batch.end_id is null
      then v_batch.end_seq end
  );
  return null;
exception when sqlstate 'PT403' or sqlstate 'PT400' then
  -- The view was deleted or is broken, or the query reads a field that the view hides now.
  perform logloom_private.fail_stream(
    v_stream, null, 'The query does not work in the view of the stream', null, null
  );
  return null;
when query_canceled or others then
  perform logloom_private.fail_stream(
    v_stream, null,
    case sqlstate when '57014' then 'Reading took too long'
      else 'Reading failed with error ' || sqlstate end,
    null, null
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_streams (
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.next_turns(
    array(
      select row(
        s.stream_id, s.tenant_id, s.next_attempt_at, (s.claimed_until > now()) is true
      )::logloom_private.tenant_work
      from logloom.log_streams s
      where s.claimed_until > now()
        or s.enabled and s.paused_at is null and s.pending_since is not null
          and s.next_attempt_at <= now()
        or s.test_id is not null
    ),
    (select c.stream_open_limit from logloom_private.settings c), p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_turns (
  p_work       logloom_private.tenant_work[],
  p_open_limit integer,
  p_limit      integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    with placed as (
      select
        w.*, count(*) filter (where w.is_under_way) over () as under_way,
        count(*) filter (where w.is_under_way) over (partition by w.tenant_id)
          + row_number() over (
            partition by w.tenant_id, w.is_under_way order by w.due_at
          ) as place
      from unnest(p_work) w
    ), numbered as (
      select p.*, row_number() over (order by p.place, p.due_at) as taken
      from placed p
      where not p.is_under_way
    )
    select n.id
    from numbered n
    where n.place + n.taken <= p_open_limit - n.under_way + 1
    order by n.taken
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.no_bits (
  p_records integer
)
  RETURNS bit varying
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN CASE WHEN (p_records <= 65536) THEN (SUBSTRING(('0'::bit(65536))::bit varying FROM 1 FOR p_records))::bit varying ELSE (repeat('0'::text, p_records))::bit varying END;

CREATE OR REPLACE FUNCTION logloom_private.note_deletions (
  p_tenant_ids text[],
  p_records    bigint[],
  p_partitions integer,
  p_today      date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_hashjoin TO 'on'
  SET enable_nestloop TO 'off'
  AS $function$
begin
  insert into logloom.retention_runs as r (
    tenant_id, kind, status, requested_by, ts_to, records, partitions
  )
  select
    n.tenant_id, w.kind, 'running', w.kind,
    logloom_private.day_start(k.first_kept_day), n.records, p_partitions
  from unnest(p_tenant_ids, p_records) n (tenant_id, records)
  join logloom_private.first_left_days(p_today) k on k.tenant_id = n.tenant_id
  cross join (
    select case when exists (
      select from logloom_private.storage s where s.limit_day is not null
    ) then 'storage' else 'retention' end as kind
  ) w
  where n.records > 0
  on conflict (tenant_id, ts_to, kind) where kind <> 'erasure' and status = 'running' do update
  set records = r.records + excluded.records, partitions = r.partitions + excluded.partitions;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_gap (
  p_stream logloom.log_streams,
  p_day    date
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := logloom_private.day_start(p_day);
  v_to constant timestamptz := logloom_private.day_start(p_day + 1);
  v_is_waiting boolean;
begin
  execute 'select exists (select ' || logloom_private.source_sql(logloom_private.tenant_rows_sql(
    p_stream.tenant_id, v_from, v_to,
    format(
      '(l.write_seq > %s or l.write_seq = %s and l.id > %L::uuid)',
      p_stream.position_seq - (p_stream.position_id is null)::integer, p_stream.position_seq,
      p_stream.position_id
    )
  )) || ')'
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_key_read (
  p_key_digest text,
  p_operation  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_day constant date := logloom_private.utc_day(now());
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  end if;
  perform logloom_private.note_key_use(v_key);
  update logloom_private.key_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.key_reads f
    where f.key_id = v_key.key_id and f.day = v_day and f.operation = p_operation
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.key_reads (key_id, day, operation, reads)
    values (v_key.key_id, v_day, p_operation, 1);
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The answer matters more than the count.
  null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_project()
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes to the installation
declare
  v_calling constant text := logloom_private.calling_project();
begin
  -- A replica cannot write.
  if v_calling is not null and current_setting('transaction_read_only') = 'off' then
    update logloom_private.installation i
    set other_url = nullif(v_calling, coalesce(i.project_url, v_calling))
    where i.other_url is distinct from nullif(v_calling, coalesce(i.project_url, v_calling));
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_refused_records (
  p_stream   logloom.log_streams,
  p_refused  jsonb,
  p_rejected integer,
  p_status   integer,
  p_error    text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    'The receiver accepted the batch, except for some of its records'
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_session_use (
  p_session logloom.portal_sessions
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first timestamptz;
begin
  if p_session.last_used_at >= date_trunc('minute', now()) then
    return;
  end if;
  -- Skips a locked row, so that requests do not wait for each other. A later request stores the
  -- time.
  update logloom.portal_sessions s
  set first_used_at = coalesce(s.first_used_at, now()), last_used_at = now()
  where s.session_id = (
    select u.session_id
    from logloom.portal_sessions u
    where u.session_id = p_session.session_id
    for no key update skip locked
  )
  returning s.first_used_at into v_first;
  if v_first = now() then
    insert into logloom.audit_events (tenant_id, actor, action, subject)
    values (
      p_session.tenant_id, 'portal ' || p_session.session_id, 'portal_session.first_used',
      p_session.session_id::text
    );
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The request is answered all the same.
  null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.note_stream_gaps (
  p_day        date,
  p_today      date,
  p_tenant_ids text[] DEFAULT NULL::text[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.note_gap(s, p_day)
  from logloom.log_streams s
  where s.position_seq <= logloom_private.last_write_seq()
    and (
      s.tenant_id = any (p_tenant_ids)
      or p_tenant_ids is null
      and (
        p_day < logloom_private.first_kept_day(s.tenant_id, p_today)
        or exists (select from logloom_private.storage t where t.limit_day = p_day)
      )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.notification_lifetime()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '24:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.notification_retry_base()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:00:05'::interval;

CREATE OR REPLACE FUNCTION logloom_private.notification_test_interval()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:00:10'::interval;

CREATE OR REPLACE FUNCTION logloom_private.notifications_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations of the rule, and check notification_preferences of the '
        'tenant.',
      '`test_alert_rule`: the rule has no destination, or the tenant''s preferences turn it off.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id from list_alert_deliveries.', null),
    ('notifications.delivery_arrived', 400, 'The delivery has already arrived',
      'test_alert_rule sends another notification.', null),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.',
      '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'Remove a confirmed address from all alert rules, or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`. Addresses that no rule '
        'uses do not count.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code from the email, as a text.', null),
    ('notifications.no_code_is_good', 400, 'There is no valid code for this address',
      'test_alert_rule mails a new code to the address of a rule.',
      'No code was mailed to it, or the code expired: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new code to the address of the rule.',
      'Five wrong attempts: `test_alert_rule` mails a new code.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'Only the last code that was mailed is valid, for five attempts.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new code.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new code.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it with the code that was mailed to it; test_alert_rule mails a new code.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numbered_sql (
  p_expressions text[],
  p_prefix      text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select string_agg(format('%s as %s%s', e.sql, p_prefix, e.n), ', ' order by e.n)
    from unnest(p_expressions) with ordinality e (sql, n)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.numbers_aggregate_sql (
  p_aggregate jsonb,
  p_n         bigint,
  p_filter    text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN
  (('logloom_private.finite_double('::text || CASE (p_aggregate ->> 'kind'::text) WHEN 'sum'::text THEN (('coalesce(sum(l.total)'::text || p_filter) || ', 0)'::text) WHEN
  'avg'::text THEN (((('sum(l.total)'::text || p_filter) || ' / nullif(sum(l.numbers)'::text) || p_filter) || ', 0)'::text) WHEN 'min'::text THEN
  ('min(l.minimum)'::text || p_filter) WHEN 'max'::text THEN ('max(l.maximum)'::text || p_filter) ELSE (('max(l.q'::text || p_n) || ')'::text) END) || ')'::text);

CREATE OR REPLACE FUNCTION logloom_private.odd_paths_pattern (
  p_paths text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if '' = any(p_paths) or (
    select sum((length(p) - length(replace(p, '.', '')) + 1) ^ 2) from unnest(p_paths) p
  ) > 200 then
    return null;
  end if;
  return (
    select string_agg(
      distinct regexp_replace(
        left(to_jsonb(k.key)::text, -1), '([][\\.*+?(){}|^$])', '\\\1', 'g'
      ) || case
        when k.last < k.keys and k.first = k.last then '": \['
        when k.last < k.keys then '": [[{]'
        when k.first in (1, k.last) then '\.'
        else '(?:\.|": )'
      end,
      '|'
    )
    from (
      select f.first, l.last, s.keys, array_to_string(s.path[f.first:l.last], '.') as key
      from (
        select string_to_array(p, '.') as path, cardinality(string_to_array(p, '.')) as keys
        from unnest(p_paths) p
      ) s
      cross join lateral generate_series(1, s.keys) f (first)
      cross join lateral generate_series(f.first, s.keys) l (last)
    ) k
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operation_list()
  RETURNS TABLE (
    operation text,
    callers   text[],
    reader    text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select o.operation, o.callers::text[], o.reader
  from (
    values
      ('acknowledge_alert', '{user}', null),
      ('add_tenant_member', '{user,service_role}', null),
      ('check_plan_feature', '{user}', null),
      ('claim_alert_notifications', '{service_role}', null),
      ('claim_log_archive_work', '{service_role}', null),
      ('claim_log_streams', '{service_role}', null),
      ('complete_alert_notification', '{service_role}', null),
      ('confirm_alert_address', '{user}', null),
      ('create_alert_rule', '{user,service_role}', null),
      ('create_alert_silence', '{user,service_role}', null),
      ('create_api_key', '{user,service_role}', null),
      ('create_ingest_token', '{user,service_role}', null),
      ('create_log_dashboard', '{user}', null),
      ('create_log_portal_session', '{user,service_role}', null),
      ('create_log_stream', '{user,service_role}', null),
      ('create_log_view', '{user,service_role}', null),
      ('create_saved_search', '{user}', null),
      ('create_tenant', '{user}', null),
      ('delete_alert_rule', '{user}', null),
      ('delete_log_dashboard', '{user}', null),
      ('delete_log_stream', '{user,service_role}', null),
      ('delete_log_view', '{user,service_role}', null),
      ('delete_logs', '{user}', null),
      ('delete_saved_search', '{user}', null),
      ('delete_tenant', '{user,service_role}', null),
      ('expire_alert_silence', '{user,service_role}', null),
      ('export_logs', '{user,viewer}', 'read_log_export'),
      ('get_alert_incident', '{user}', null),
      ('get_alert_rule', '{user}', null),
      ('get_api_key_usage', '{user,service_role}', null),
      ('get_current_tenant', '{user,service_role}', null),
      ('get_log', '{user,viewer}', 'read_log'),
      ('get_log_context', '{user,viewer}', 'read_log_context'),
      ('get_log_dashboard', '{user,viewer}', null),
      ('get_log_secret_scope', '{user,service_role}', null),
      ('get_log_stream', '{user,service_role}', null),
      ('get_saved_search', '{user}', null),
      ('get_saved_search_categories', '{user}', null),
      ('get_saved_search_count', '{user}', null),
      ('get_tenant_settings', '{user,service_role}', null),
      ('get_tenant_usage', '{user,service_role}', null),
      ('health_report', '{service_role}', null),
      ('ingest_signer', '{service_role}', null),
      ('ingest_text', '{service_role}', null),
      ('list_alert_addresses', '{user}', null),
      ('list_alert_deliveries', '{user}', null),
      ('list_alert_history', '{user,viewer,service_role}', 'read_alert_history'),
      ('list_alert_incidents', '{user,service_role}', null),
      ('list_alert_rules', '{user,viewer,service_role}', 'read_alert_rules'),
      ('list_alert_silences', '{user,service_role}', null),
      ('list_api_keys', '{user,service_role}', null),
      ('list_log_archive', '{user,service_role}', null),
      ('list_log_archive_restores', '{user,service_role}', null),
      ('list_log_dashboards', '{user,viewer}', null),
      ('list_log_fields', '{user,viewer}', 'read_log_fields'),
      ('list_log_portal_sessions', '{user,service_role}', null),
      ('list_log_retention_runs', '{user,service_role}', null),
      ('list_log_stream_failures', '{user,service_role}', null),
      ('list_log_streams', '{user,service_role}', null),
      ('list_log_tenants', '{user,viewer}', null),
      ('list_log_views', '{user,service_role}', null),
      ('list_saved_searches', '{user,viewer}', 'read_saved_searches'),
      ('list_tenant_audit_events', '{user,service_role}', null),
      ('list_tenant_members', '{user,service_role}', null),
      ('list_unsealed_alert_secrets', '{service_role}', null),
      ('log_changes', '{user,viewer}', 'read_log_changes'),
      ('log_histogram', '{user,viewer}', 'read_log_histogram'),
      ('log_overview', '{user,viewer}', 'read_log_overview'),
      ('log_series', '{user,viewer}', 'read_log_series'),
      ('log_stats', '{user,viewer}', 'read_log_stats'),
      ('match_log_archive', '{service_role}', null),
      ('open_log_portal_session', '{service_role}', null),
      ('preview_alert_rule', '{user,service_role}', null),
      ('read_log_stream_batch', '{service_role}', null),
      ('read_logs', '{service_role}', null),
      ('remove_tenant_member', '{user,service_role}', null),
      ('restore_log_archive', '{user,service_role}', null),
      ('retry_alert_delivery', '{user}', null),
      ('revoke_api_key', '{user,service_role}', null),
      ('revoke_log_portal_session', '{user,service_role}', null),
      ('rotate_alert_webhook_secret', '{user}', null),
      ('rotate_api_key', '{user,service_role}', null),
      ('run_saved_search', '{user}', null),
      ('run_writer', '{service_role}', null),
      ('seal_alert_secret', '{service_role}', null),
      ('search_logs', '{user,viewer}', 'read_log_page'),
      ('set_tenant_member_role', '{user,service_role}', null),
      ('settle_alert_notification', '{service_role}', null),
      ('settle_log_archive_work', '{service_role}', null),
      ('settle_log_stream_batch', '{service_role}', null),
      ('switch_log_tenant', '{user,viewer}', null),
      ('tail_logs', '{user,viewer}', 'read_log_tail'),
      ('test_alert_rule', '{user}', null),
      ('test_log_stream', '{user,service_role}', null),
      ('update_alert_incident', '{user}', null),
      ('update_alert_rule', '{user}', null),
      ('update_log_dashboard', '{user}', null),
      ('update_log_stream', '{user,service_role}', null),
      ('update_log_view', '{user,service_role}', null),
      ('update_saved_search', '{user}', null),
      ('update_tenant_settings', '{user,service_role}', null),
      ('validate_query', '{user,viewer}', 'read_query_validity')
  ) o (operation, callers, reader);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operations()
  RETURNS text[]
  LANGUAGE sql
  IMMUTABLE
RETURN ARRAY(SELECT o.operation FROM logloom_private.operation_list() o(operation, callers, reader));

CREATE OR REPLACE FUNCTION logloom_private.origin_of (
  p_url text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN regexp_replace(regexp_replace(lower("substring"(p_url, '^[^/]*//[^/?#]*'::text)), '^(https://.*):443$'::text, '\1'::text), '^(http://.*):80$'::text, '\1'::text);

CREATE OR REPLACE FUNCTION logloom_private.page_of_addresses (
  p_limit integer,
  p_after text
)
  RETURNS SETOF public.logloom_notification_address
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
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
    case when a.code_expires_at > now()
      then greatest(logloom_private.confirmation_tries() - a.tries, 0) end
  from page p
  left join logloom_private.notification_addresses a
    on a.tenant_id = v_tenant_id and a.mailbox = p.mailbox
  order by p.mailbox;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.page_sql (
  p_query    logloom_private.compiled_query,
  p_rows     logloom_private.sql_source,
  p_limit    integer,
  p_bytes    bigint,
  p_is_exact boolean                        DEFAULT true,
  p_others   text                           DEFAULT ''::text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- The planner replaces shown_columns_sql() by its result.
  v_record constant text := 'row(' || case
    when p_query.plan ? 'fields' then logloom_private.shown_columns_sql(p_query.plan -> 'fields')
    else logloom_private.shown_columns_sql()
  end || ')::public.logloom_log_record';
  v_order constant text := p_rows.order_sql;
  v_measured constant text := 'octet_length(to_json(' || v_record || ')::text)';
  -- A record without a stored size is measured.
  v_size text := 'coalesce(l.record_bytes, ' || v_measured || ')';
  v_attrs text :=
    'case when l.record_bytes is null then (' || v_record || ').attrs else l.attrs end';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 then
    -- Extracted attributes are not in the stored size.
    v_size := v_measured;
    v_attrs := '(' || v_record || ').attrs';
    p_rows := logloom_private.staged_sql(p_query, p_rows);
    p_rows.order_sql := v_order;
    p_rows.max_rows := p_limit;
  elsif not p_is_exact then
    return format(
      'select case when %s <= %s then %s end as record%s %s',
      v_size, least(p_bytes / greatest(p_limit, 1), 65536), v_record, p_others,
      logloom_private.source_sql(p_rows)
    );
  end if;
  -- First chooses records by the known size, then decompresses the attributes of these records. In
  -- memory, numbers take up to four times as much as their text, and more while they are read.
  return 'select case when not l.fits_opened then null when l.size > '
    || (select s.max_page_bytes from logloom_private.settings s)
    || ' then logloom_private.cut_record(' || v_record || ', l.size) else ' || v_record
    || ' end as record' || p_others || ' '
    || 'from (select l.*, coalesce(sum(case when l.fits then '
    || 'greatest(l.size, 2 * pg_column_size((' || v_attrs || ') #> ''{}'') - l.size) '
    || 'else l.size end) '
    || 'over (order by ' || v_order || ' rows between unbounded preceding and 1 preceding), 0) < '
    || p_bytes || ' as fits_opened '
    || logloom_private.source_sql(logloom_private.sized_rows_sql(p_rows, p_bytes, v_size))
    || ') l order by ' || v_order;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.parameters_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('parameters.missing', 400, 'Missing required parameter: %s', 'Send %s in the JSON body.',
      null),
    ('parameters.audit_action_is_unknown', 400, 'Unknown p_action: %s', 'Send one of: %2$s.',
      null),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'For more, send p_after.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      '`p_after` is not the id of an item of this list: send the id of the last item of the page '
        'before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      'The parameter is neither ISO 8601 nor a time such as `now-24h`.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."}. POST /functions/v1/logloom-stream/v1/seal seals the secrets of a '
        'log stream, logloom-notify/v1/seal those of an alert rule. null removes a secret.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: there is no secret %s',
      'Allowed: %2$s.',
      'This kind of receiver does not use it, or it is a header that every batch sets.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it with POST /functions/v1/logloom-stream/v1/seal for a log stream, '
        'logloom-notify/v1/seal for an alert rule. If you sent the secret itself, replace it: '
        'logs of the database may contain it now.',
      'The database accepts no secret in plain text.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.parse_query (
  p_query_dsl text,
  p_now       timestamp with time zone DEFAULT now()
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_source constant text := coalesce(p_query_dsl, '');
  v_state logloom_private.query_state;
  v_query logloom_private.compiled_query;
  v_tree jsonb;
  v_span tstzrange;
  v_aggregate jsonb;
  v_field jsonb;
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
  v_query.plan := '{}';
  if v_state.texts[v_state."at"] = '|' then
    v_state := logloom_private.query_parse_stages(v_state, v_source);
    v_query.plan := v_state.node;
  end if;
  if strpos(v_source, '~') > 0 then
    perform logloom_private.query_check_regexes(jsonb_build_array(v_tree, v_query.plan));
  end if;

  -- A stage "where" before the first extraction becomes a part of the filter.
  while v_query.plan -> 'rows' -> 0 ->> 'stage' = 'where' loop
    v_tree := jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_tree, v_query.plan -> 'rows' -> 0 -> 'tree')
    );
    v_query.plan := v_query.plan #- '{rows, 0}';
  end loop;

  v_span := logloom_private.query_ts_span(v_tree);
  v_query.tree := case when isempty(v_span) then '{"type": "none"}' else v_tree end;
  v_query.ts_from := lower(v_span);
  v_query.ts_to := upper(v_span);
  v_query.by_fields := '{}';
  v_query.by_sql := '{}';
  if v_query.plan ? 'aggregates' then
    -- Some callers know only one aggregate. They get the first.
    v_aggregate := v_query.plan -> 'aggregates' -> 0;
    v_query.aggregate := v_aggregate ->> 'kind';
    v_query.aggregate_field := v_aggregate -> 'field' ->> 'name';
    v_query.aggregate_sql := logloom_private.query_aggregate_sql(
      v_aggregate, 'l', logloom_private.query_condition_sql(v_aggregate, 'l')
    );
    for v_field in select jsonb_array_elements(v_query.plan -> 'by') loop
      v_query.by_fields := v_query.by_fields || (v_field ->> 'name');
      v_query.by_sql := v_query.by_sql || logloom_private.query_group_sql(v_field, 'l');
    end loop;
  end if;
  v_query.names_now := v_state.names_now;
  v_query.warnings := v_state.warnings;
  v_query.steps := v_state.steps;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.partial_value (
  p_aggregate      text,
  p_window_minutes integer,
  p_events         numeric,
  p_numbers        numeric,
  p_total          numeric,
  p_least          numeric,
  p_greatest       numeric
)
  RETURNS double precision
  LANGUAGE sql
  IMMUTABLE
RETURN CASE p_aggregate WHEN 'count'::text THEN (COALESCE(p_events, (0)::numeric))::double precision WHEN 'rate'::text THEN
  ((COALESCE(p_events, (0)::numeric))::double precision / (p_window_minutes)::double precision) WHEN 'sum'::text THEN logloom_private.finite_double(COALESCE(p_total, (0)::numeric))
  WHEN 'avg'::text THEN logloom_private.finite_double((p_total / NULLIF(p_numbers, (0)::numeric))) WHEN 'min'::text THEN logloom_private.finite_double(p_least) WHEN 'max'::text
  THEN logloom_private.finite_double(p_greatest) ELSE NULL::double precision END;

CREATE OR REPLACE FUNCTION logloom_private.partition_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_today constant date := logloom_private.utc_day(p_now);
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
begin
  return logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  ) || jsonb_build_object(
    'current_partition', logloom_private.partition_name(v_today),
    'current_exists', v_current_exists,
    'next_partition', logloom_private.partition_name(v_today + 1),
    'next_exists', v_next_exists
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.partition_name (
  p_day date
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN to_char((p_day)::timestamp WITH time zone, '"logs_"YYYY_MM_DD'::text);

CREATE OR REPLACE FUNCTION logloom_private.pause_stream (
  p_stream logloom.log_streams,
  p_reason text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  perform logloom_private.mail_stream_owners(p_stream, 'stream.paused', p_reason);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pauses_unproven (
  p_stream logloom.log_streams,
  p_status integer,
  p_error  text,
  p_answer text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_stream.is_proven then
    return false;
  end if;
  update logloom.log_streams s
  set attempts = 0,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  perform
    logloom_private.drop_batch(p_stream),
    logloom_private.pause_stream(p_stream, 'refused');
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pending_alert_groups (
  p_round logloom_private.alert_rounds
)
  RETURNS TABLE (
    tenant_id    text,
    group_id     bigint,
    has_partials boolean,
    needed_from  timestamp with time zone,
    place        bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select g.tenant_id, g.group_id, g.filter is not null, n.needed_from,
    row_number() over (
      partition by g.tenant_id, n.is_new
      order by greatest(n.due_at, g.turn_at), coalesce(g.ms_per_record, 0) + g.spent_ms, g.group_id
    ) * 2 - (not n.is_new)::integer
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where coalesce(g.retry_at <= p_round.window_end, true)
    and case
      when g.filter is null then n.is_due
      else g.write_seq is null
        or g.write_seq < p_round.write_seq_to
        or g.filled_from > n.needed_from
        or (g.filled_from = n.needed_from and g.filled_id is not null)
    end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentile_limits_sql (
  p_percentiles jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    $query$
      bounds as materialized (
        -- With a sample of this size, drawing it and sorting the remaining numbers take the least
        -- time in total. margin: four standard deviations of a median's position in the sample, and
        -- more than that for other percentiles.
        select s.id, s.margin, %1$s
        from (
          select
            d.id, 2 / sqrt(d.size * d.share) as margin,
            d.doubles[1 + floor(random() * cardinality(d.doubles))::integer] as number
          from (
            select
              n.*,
              generate_series(1, floor(cardinality(n.doubles) * n.share + random())::integer)
            from (
              select
                n.id, n.size, least(cbrt(4 / greatest(n.size, 1)), 1) as share,
                -- An array without nulls is read in place.
                case when array_position(n.doubles, null) is null then n.doubles
                  else array_remove(n.doubles, null) end as doubles
              from numbers n
              offset 0
            ) n
          ) d
        ) s
        group by s.id, s.margin
      ), limits as materialized (
        -- Reads groups by id, so that arrays of numbers are neither sorted nor hashed.
        select %2$s
        from groups g
        left join bounds b using (id)
      )
    $query$,
    logloom_private.percentiles_list(
      p_percentiles,
      'percentile_disc(array[greatest(# - s.margin, 0), least(# + s.margin, 1)]) '
        || 'within group (order by s.number) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'array_agg(case when # > b.margin then b.@[1] else ''-Infinity'' end order by g.id) '
        || 'as low_@, array_agg(case when # + b.margin < 1 then b.@[2] else ''Infinity'' end '
        || 'order by g.id) as high_@'
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.percentiles_sql (
  p_rows        text,
  p_keys        text[],
  p_others      text[],
  p_percentiles jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limits constant text :=
    logloom_private.percentiles_list(p_percentiles, 'l.low_@, l.high_@');
begin
  return format(
    $query$
      with found as materialized (
        select array[%2$s]::text[] as keys, r.* from (%1$s) r
      ), groups as materialized (
        select
          f.keys, (row_number() over ())::integer as id,
          sum(cardinality(array_remove(f.doubles, null)))::double precision as size
        from found f
        where f.doubles is not null
        group by f.keys
      ), numbers as not materialized (
        select g.id, g.size, f.doubles
        from found f
        join groups g using (keys)
        where f.doubles is not null
      ), %3$s, parts as (
        select l.id, l.size, %4$s, p.*
        from (
          select l.*, least(%6$s) as low
          from (
            select n.*, %9$s
            from numbers n
          ) l
          offset 0
        ) l
        cross join lateral (
          select %5$s
          from (select unnest(l.doubles) as number) u
          where u.number >= l.low
        ) p
      ), percentiles as (
        select l.id, %7$s
        from (select l.id, l.size, %4$s, %8$s from parts l) l
        group by l.id, l.size, %4$s
      )
      select f.*, %10$s from found f
      union all
      select g.keys, %11$s, %12$s
      from percentiles p
      join groups g using (id)
    $query$,
    p_rows, array_to_string(array(select 'r.' || k from unnest(p_keys) k), ', '),
    logloom_private.percentile_limits_sql(p_percentiles),
    v_limits,
    logloom_private.percentiles_list(
      p_percentiles,
      'count(*) filter (where u.number >= l.low_@) as above_@, '
        || 'count(*) filter (where u.number = l.low_@) as at_low_@, '
        || 'array_agg(u.number) filter (where u.number > l.low_@ and u.number < l.high_@) '
        || 'as between_@, '
        || 'count(*) filter (where u.number = l.high_@) as at_high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'l.low_@'),
    logloom_private.percentiles_list(
      p_percentiles,
      'coalesce(logloom_private.percentile_within('
        || '# * (l.size - 1) - (l.size - sum(l.above_@)::double precision), '
        || 'l.low_@, sum(l.at_low_@)::bigint, '
        || 'array_agg(l.between_@) filter (where l.between_@ is not null), '
        || 'l.high_@, sum(l.at_high_@)::bigint), '
        || '(select percentile_cont(#) within group (order by u.number) from ('
        || 'select unnest(n.doubles) as number from numbers n where n.id = l.id) u)) as @'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      'unnest(array[l.above_@]) as above_@, unnest(array[l.at_low_@]) as at_low_@, '
        || 'unnest(l.between_@) as between_@, unnest(array[l.at_high_@]) as at_high_@'
    ),
    logloom_private.percentiles_list(
      p_percentiles,
      -- Subqueries are evaluated once. A join would copy the arrays for each group.
      '(select c.low_@ from limits c)[n.id] as low_@, '
        || '(select c.high_@ from limits c)[n.id] as high_@'
    ),
    logloom_private.percentiles_list(p_percentiles, 'null::double precision as @'),
    array_to_string(
      array(select format('g.keys[%s]', n) from generate_subscripts(p_keys, 1) n)
        || array(select 'null as ' || o from unnest(p_others) o),
      ', '
    ),
    logloom_private.percentiles_list(p_percentiles, 'p.@')
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.plain_comparison (
  p_leaf jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_leaf ->> 'name';
  v_bounds constant jsonb := p_leaf -> 'bounds';
  v_factor constant numeric := case
    when v_bounds ->> 'unit' = 'bytes' then 1
    when v_name ~ '(?:[_.-]ms|@ms|[a-z]Ms|millis|milliseconds)$' then 1e3
    when v_name ~ '(?:[_.-]us|[a-z]Us|micros|microseconds)$' then 1e6
    when v_name ~ '(?:[_.-]ns|[a-z]Ns|nanos|nanoseconds)$' then 1e9
    else 1 end;
  v_lower constant text := trim_scale((v_bounds ->> 'lower')::numeric * v_factor);
  v_upper constant text := trim_scale((v_bounds ->> 'upper')::numeric * v_factor);
begin
  return v_name || ':' || case
    when v_upper is null
      then case when (v_bounds -> 'lower_open')::boolean then '>' else '>=' end || v_lower
    when v_lower is null
      then case when (v_bounds -> 'upper_open')::boolean then '<' else '<=' end || v_upper
    else format('[%s TO %s]', v_lower, v_upper) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.plan_alert_rules (
  p_now   timestamp with time zone,
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_group logloom_private.alert_groups;
  v_updated_at timestamptz;
  v_planned uuid[] := '{}';
begin
  for v_rule in
    select r.*
    from logloom.alert_rules r
    where r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- Tenants take turns, so that many rules of one do not delay others.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    delete from logloom_private.alert_plans p where p.rule_id = v_rule.rule_id;
    if found then
      -- Another query has other values.
      delete from logloom_private.rule_values v where v.rule_id = v_rule.rule_id;
    end if;
    -- Read before the view: if the view changes meanwhile, the rule is compiled again.
    v_updated_at := (
      select v.updated_at from logloom.log_views v where v.view_id = v_rule.view_id
    );
    begin
      v_group := null;
      v_query := logloom_private.compile_rule(
        v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
      );
      if logloom_private.has_partials(v_query) then
        v_group.filter := logloom_private.query_sql(v_query.tree, 'l');
        v_group.parts := logloom_private.alert_parts(v_query);
      end if;
      v_group.digest := sha256(convert_to(
        case
          when v_group.filter is null
            then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
              || coalesce(to_jsonb(v_rule.view_id), '[]')
          else jsonb_build_array(v_group.filter, v_group.parts)
        end::text,
        'UTF8'
      ));
      insert into logloom_private.alert_groups (tenant_id, digest, filter, parts)
      values (v_rule.tenant_id, v_group.digest, v_group.filter, v_group.parts)
      on conflict (tenant_id, digest) do nothing;
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, aggregate, results, group_id, view_id, view_updated_at
      )
      select
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes,
        coalesce(v_query.aggregate, 'count'), logloom_private.rule_results(v_query),
        g.group_id, v_rule.view_id, v_updated_at
      from logloom_private.alert_groups g
      where g.tenant_id = v_rule.tenant_id and g.digest = v_group.digest;
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        insert into logloom_private.alert_plans (
          rule_id, query_dsl, window_minutes, refusal, view_id, view_updated_at
        )
        values (
          v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes, sqlerrm, v_rule.view_id,
          v_updated_at
        );
    end;
    v_planned := v_planned || v_rule.rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.portal_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('portal.no_room', 400, 'Plan limit exceeded: portal sessions (max %s)',
      'Revoke a session that is no longer needed, create shorter ones, or choose a larger plan.',
      'The plan''s `max_portal_sessions`: only active sessions count.'),
    ('portal.lifetime_is_out_of_range', 400, 'Invalid p_expires_in: 60 to %s seconds',
      'Create another session when this one ends; the portal page asks for it by itself.', null),
    ('portal.label_is_too_long', 400, 'Invalid p_label: at most 200 characters',
      'Only list_log_portal_sessions shows it.', null),
    ('portal.origin_is_invalid', 400,
      'Invalid p_origins: at most 20 origins such as https://app.example.com',
      'Scheme, host and port, without a path. http is only for localhost.', null),
    ('portal.url_is_not_set', 400, 'p_link needs the address of the portal''s page',
      'Set portal_url in logloom_private.settings, such as https://logs.example.com/portal.html.',
      null),
    ('portal.session_not_found', 404, 'Portal session not found',
      'list_log_portal_sessions shows the sessions of this tenant.', null),
    ('portal.too_many_requests', 429, 'Rate limit exceeded: %s portal requests per minute',
      'Wait as long as Retry-After says.', 'The plan''s `portal_requests_per_minute`.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.postpone_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_next_hour constant timestamptz := date_trunc('hour', now()) + interval '1 hour';
  v_beyond record;
begin
  for v_beyond in
    select n as notification, d.channel_limit
    from logloom_private.due_notifications() d
    join logloom_private.notifications n on n.notification_id = d.notification_id
    where d.is_beyond_plan
    limit 10000
    for update of n skip locked
  loop
    if v_next_hour >= (v_beyond.notification).expires_at then
      perform logloom_private.end_notification(
        v_beyond.notification, 'failed', null,
        format('The plan allows %s in an hour, and this one came too late', v_beyond.channel_limit)
      );
    else
      update logloom_private.notifications n
      set claim_id = null,
        -- Spread, so that not all tenants send in the same second.
        next_attempt_at = v_next_hour + random() * interval '1 minute',
        last_error = format(
          'The plan allows %s in an hour: this one waits for the next hour', v_beyond.channel_limit
        )
      where n.notification_id = (v_beyond.notification).notification_id;
    end if;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pre_request_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- PostgREST calls ours, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return logloom_private.health_grade(
    null,
    case when v_is_called is not true then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_alerts (
  p_values logloom_private.alert_window[],
  p_rule   logloom.alert_rules,
  p_step   interval,
  p_bands  logloom_private.alert_band[]   DEFAULT '{}'::logloom_private.alert_band[]
)
  RETURNS public.logloom_alert_preview_entry[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_value logloom_private.alert_window;
  v_last public.logloom_alert_preview_entry;
  v_before logloom_private.alert_window;
  v_since timestamptz;
  v_tells_end constant boolean := p_rule.notify_on_recovery
    or 'pagerduty' = any (p_rule.notification_destinations);
  v_alerts public.logloom_alert_preview_entry[] := '{}';
begin
  for v_value in
    select w.*
    from unnest(p_values) w
    left join unnest(p_bands) b
      on b.window_end = w.window_end
      and coalesce(b."group", 'null') = coalesce(w."group", 'null')
    where logloom_private.alert_condition_holds(
      w.value, p_rule.comparison,
      case when p_rule.baseline_days is null then p_rule.threshold else b.threshold end
    )
    order by w."group", w.window_end
  loop
    if v_before.window_end + p_step = v_value.window_end is not true
      or v_value."group" is distinct from v_before."group"
    then
      v_since := v_value.window_end;
    end if;
    v_before := v_value;
    continue when v_value.window_end < v_since + make_interval(mins => p_rule.for_minutes);
    if v_last.window_end is null
      or v_value."group" is distinct from v_last."group"
      or v_tells_end and v_since > v_last.window_end
      or v_value.window_end
        >= v_last.window_end + make_interval(mins => p_rule.cooldown_minutes)
    then
      v_last := row(v_value.window_start, v_value.window_end, v_value.value, v_value."group");
      v_alerts := v_alerts || v_last;
    end if;
  end loop;
  return v_alerts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_bands (
  p_query   logloom_private.compiled_query,
  p_source  text,
  p_preview public.logloom_alert_preview,
  p_values  logloom_private.alert_window[],
  p_rule    logloom.alert_rules,
  p_limit   integer
)
  RETURNS logloom_private.alert_band[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_first constant timestamptz := least(
    (
      select min(c.minute) from logloom_private.log_counts c
      where c.tenant_id = p_rule.tenant_id
    ),
    (select min(b.first_ts) from logloom_private.blocks b where b.tenant_id = p_rule.tenant_id)
  );
  v_is_every_minute constant boolean := p_preview.step_minutes = 1;
  v_absent constant double precision :=
    logloom_private.absent_value(p_query.aggregate, logloom_private.rule_results(p_query));
  v_back interval;
  v_days integer := 0;
  v_past logloom_private.alert_window[] := '{}';
begin
  for v_day in 1 .. p_rule.baseline_days loop
    v_back := make_interval(days => v_day);
    exit when (p_preview.ts_from - v_back >= v_first) is not true;
    v_days := v_day;
    v_past := v_past || array(
      select row(
        null, null, w.window_end + v_back, w.value, null, w."group", null
      )::logloom_private.alert_window
      from unnest(logloom_private.preview_values(
        p_query, p_source, p_rule.tenant_id, p_preview.ts_from - v_back, p_preview.ts_to - v_back,
        p_rule.window_minutes, p_limit
      )) w
      where not v_is_every_minute
        or w.window_end = logloom_private.kept_window_end(w.window_end)
    );
  end loop;
  return array(
    select row(w.window_end, w."group", b.usual, b.threshold)::logloom_private.alert_band
    from unnest(p_values) w
    left join (
      select p.window_end, coalesce(p."group", 'null') as "group", array_agg(p.value) as values
      from unnest(v_past) p
      group by 1, 2
    ) d
      on d.window_end = case when v_is_every_minute
        then logloom_private.kept_window_end(w.window_end) else w.window_end end
      and d."group" = coalesce(w."group", 'null')
    cross join lateral logloom_private.usual_band(
      d.values || array_fill(v_absent, array[v_days - coalesce(cardinality(d.values), 0)]),
      p_rule.comparison, p_rule.threshold
    ) b
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_partial_values (
  p_query          logloom_private.compiled_query,
  p_source         text,
  p_tenant_id      text,
  p_from           timestamp with time zone,
  p_to             timestamp with time zone,
  p_window_minutes integer
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_kinds constant text[] := array(
    select a.item ->> 'kind'
    from jsonb_array_elements(logloom_private.stats_aggregates(p_query))
      with ordinality a (item, n)
    order by a.n
  );
  v_values logloom_private.alert_window[];
begin
  execute 'with partials as materialized (' || logloom_private.alert_partials_sql(
    'select 1 as group_id, s.* from (' || p_source || ') s', p_query.filter,
    logloom_private.alert_parts(p_query)
  )
    || '), moving as (select e.at, k.n, logloom_private.partial_value(k.kind, $6, '
    || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, min(p.least) over w, '
    || 'max(p.greatest) over w) as value '
    || 'from unnest($5) with ordinality k (kind, n) '
    || 'cross join generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) '
    || 'left join partials p on p.part = k.n and p.minute = e.at - interval ''1 minute'' '
    || 'window w as (partition by k.n order by e.at rows between $6 - 1 preceding and current row)'
    || ') select array(select row(null, v.at - $4, v.at, v.value, null, null, null)'
    || '::logloom_private.alert_window from (' || logloom_private.rule_value_sql(
      'select m.at, ' || logloom_private.numbered_sql(
        array(
          select format('max(m.value) filter (where m.n = %s)', n)
          from generate_subscripts(v_kinds, 1) n
        ),
        'v'
      ) || ' from moving m group by m.at',
      p_query.plan
    ) || ') v order by v.at offset $6 - 1)'
  into v_values
  using p_tenant_id, p_from - v_window, p_to, v_window, v_kinds, p_window_minutes;
  return v_values;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_values (
  p_query          logloom_private.compiled_query,
  p_source         text,
  p_tenant_id      text,
  p_from           timestamp with time zone,
  p_to             timestamp with time zone,
  p_window_minutes integer,
  p_limit          integer
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_grouped constant boolean := cardinality(p_query.by_fields) > 0;
  v_values logloom_private.alert_window[];
begin
  if logloom_private.has_partials(p_query) then
    return logloom_private.preview_partial_values(
      p_query, p_source, p_tenant_id, p_from, p_to, p_window_minutes
    );
  end if;
  v_values := logloom_private.window_values(
    p_query, p_source, p_tenant_id, p_from, p_to, p_window_minutes,
    case when v_is_grouped then p_limit + 1 end
  );
  if v_is_grouped and cardinality(v_values) > p_limit then
    perform logloom_private.refuse_stage_bound('by', p_limit, 'groups of all windows');
  end if;
  return v_values;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_windows (
  p_tenant_id text,
  p_rule      logloom.alert_rules
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because the compiler's SQL would use no index under row-level security
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_max_groups constant integer := (select s.search_groups from logloom_private.settings s);
  v_query logloom_private.compiled_query;
  v_source text;
  v_values logloom_private.alert_window[];
  v_bands logloom_private.alert_band[];
  v_result public.logloom_alert_preview;
begin
  p_rule.tenant_id := v_tenant_id;
  perform logloom_private.take_search_slot(
    logloom_private.scope_of_view(v_tenant_id, p_rule.view_id)
  );
  perform logloom_private.check_rule_query(p_rule.query_dsl);
  v_query := logloom_private.compile_rule(
    v_tenant_id, p_rule.query_dsl, p_rule.view_id
  );
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - interval '24 hours';
  v_result.step_minutes := case when logloom_private.has_partials(v_query)
    then 1 else p_rule.window_minutes end;
  v_values := logloom_private.preview_values(
    v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
    v_max_groups
  );
  if p_rule.baseline_days is not null then
    v_bands := logloom_private.preview_bands(
      v_query, v_source, v_result, v_values, p_rule, v_max_groups
    );
  end if;
  return logloom_private.completed_preview(
    v_result, v_values, cardinality(v_query.by_fields) > 0, p_rule, v_bands
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.project_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- current_setting fails for a role that may not read pg_cron's settings.
  v_settings constant jsonb := (
    select coalesce(jsonb_object_agg(replace(s.name, 'cron.', ''), s.setting), '{}')
    from pg_settings s
    where s.name in ('cron.launch_active_jobs', 'cron.log_run', 'cron.log_statement')
  );
begin
  return logloom_private.health_grade(
    null,
    case when v_settings ->> 'launch_active_jobs' = 'off' then
      'cron.launch_active_jobs is off: pg_cron starts no job'
    end
  ) || v_settings || jsonb_build_object(
    'runs_a_day', (
      select round(
        86400 * (count(*) - count(distinct d.jobid))
          / nullif(extract(epoch from max(d.start_time) - min(d.start_time)), 0)
      )
      from (
        -- Reads by the primary key, because the project may have many runs of its own.
        select d.* from cron.job_run_details d order by d.runid desc limit 2000
      ) d
      where d.start_time > p_now - interval '1 hour' and strpos(d.command, 'logloom_private.') > 0
    ),
    'free_connections', current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer
      - coalesce(current_setting('reserved_connections', true)::integer, 0)
      - (select sum(d.numbackends) from pg_stat_database d)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.purge_job_history()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from cron.job_run_details d
  where d.runid = any(array(
    select o.runid
    from cron.job_run_details o
    where strpos(o.command, 'logloom_private.') > 0
      -- An interrupted run has no end time. A run that was about to start when the server crashed
      -- has no start time, either: it counts as old as the next run that has a start time.
      and coalesce(
        o.end_time,
        o.start_time,
        (
          select n.start_time
          from cron.job_run_details n
          where n.runid > o.runid and n.start_time is not null
          order by n.runid
          limit 1
        )
      ) < now() - case o.status
        when 'succeeded' then interval '1 hour'
        else interval '7 days'
      end
    limit v_settings.deletion_step_records
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.deletion_step_records then v_settings.deletion_pause end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.purge_old_rows()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_old record;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.occurred_at < $1', v_settings.audit_lifetime),
        ('logloom.archive_restores', 'r.finished_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        -- An incident is resolved after its last alert, so its alerts are deleted first.
        ('logloom.alert_incidents', 'r.resolved_at < $1', v_settings.alert_history_lifetime),
        ('logloom_private.rule_values', 'r.window_end < $1', '8 days'),
        -- Ended silences are listed for this time.
        ('logloom.alert_silences', 'least(r.ends_at, r.expired_at) < $1', '30 days'),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          logloom_private.idempotency_key_lifetime()),
        -- create_ingest_token counts the tokens created in the last minute.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        ('logloom_private.storage_hours', 'r.hour < $1', '8 days'),
        ('logloom_private.key_reads', 'r.day < $1', '31 days'),
        -- Ended portal sessions are listed for this time.
        ('logloom.portal_sessions', 'r.expires_at < $1', '30 days'),
        ('logloom_private.portal_reads', 'r.minute < $1', '1 hour'),
        -- A bucket that was not used for a day is full, like a bucket without a row.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          '30 days'),
        ('logloom.log_stream_failures', 'r.occurred_at < $1', '30 days'),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1',
          logloom_private.confirmation_lifetime()),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.deletion_step_records;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.deletion_step_records then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.put_back_delivery (
  p_delivery_id uuid
)
  RETURNS public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_notification logloom_private.notifications;
  v_address text;
begin
  perform logloom_private.require_parameter('p_delivery_id', p_delivery_id is null);
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
      select logloom_private.channel_address(
        v_notification.channel, r.notification_config, r.notification_secrets
      )
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
  -- A claimed delivery stays with its claim. The address may have been corrected.
  update logloom_private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + logloom_private.notification_lifetime(),
    address = v_address
  where n.notification_id = p_delivery_id
  returning n.* into v_notification;
  return logloom_private.delivery(v_notification);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.quantity (
  p_text text,
  p_unit text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  end if;
  -- Most durations have one part. Cutting off its unit is quicker than matching groups.
  if p_text collate "C" ~ '^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)$' then
    return rtrim(p_text, ' nuµμmshdw')::numeric
      * logloom_private.seconds_of(ltrim(p_text, ' -.0123456789'));
  elsif p_text collate "C" !~ ('^-?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)'
      || '(?: ?[0-9]{1,15}(?:\.[0-9]{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w))*$')
  then
    return null;
  end if;
  for v_parts in
    select m from regexp_matches(p_text collate "C", '([0-9.]+) ?([^0-9 ]+)', 'g') m
  loop
    v_total := v_total + v_parts[1]::numeric * logloom_private.seconds_of(v_parts[2]);
  end loop;
  return case when left(p_text, 1) = '-' then -v_total else v_total end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_advance (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_meant text;
begin
  p_state."at" := p_state."at" + 1;
  if logloom_private.query_is_adjacent(p_state, p_state."at")
    and logloom_private.query_is_term(p_state.texts[p_state."at"])
  then
    v_meant := logloom_private.query_meant_comparison(
      regexp_replace(p_state.texts[p_state."at" - 1], '(?<![=!])~$', '=~')
        || logloom_private.query_text(p_state.texts[p_state."at"])
    );
    if p_state.texts[p_state."at" - 1] ~ '[=~><]$' and v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'query.comparison_needs_a_colon',
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'query.white_space_is_missing',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_aggregate_sql (
  p_aggregate jsonb,
  p_alias     text,
  p_filter    text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kind constant text := p_aggregate ->> 'kind';
  v_number text;
  v_text text;
begin
  if v_kind in ('count', 'rate') then
    return 'count(*)' || p_filter || '::double precision';
  elsif v_kind = 'count_distinct' then
    v_text := logloom_private.query_group_sql(p_aggregate -> 'field', p_alias);
    if p_aggregate -> 'field' ->> 'field' not in ('ts', 'received_at', 'id') then
      -- PostgreSQL sorts the values. Sorting hashes takes less time than sorting texts, and little
      -- memory if texts are long. At a million values, the chance that two hashes are equal is one
      -- in thirty million.
      v_text := 'hashtextextended(' || v_text || ', 0)';
    end if;
    return 'count(distinct ' || v_text || ')' || p_filter || '::double precision';
  elsif p_aggregate -> 'field' ->> 'field' in ('ts', 'received_at') then
    return format(
      'extract(epoch from %s(%s)%s)::double precision',
      v_kind, logloom_private.query_value_sql(p_aggregate -> 'field', p_alias), p_filter
    );
  end if;
  v_number := 'logloom_private.json_number('
    || logloom_private.query_value_sql(p_aggregate -> 'field', p_alias) || ')';
  return case
    when v_kind = 'sum'
      then 'logloom_private.finite_double(coalesce(sum(' || v_number || ')' || p_filter || ', 0))'
    when v_kind in ('avg', 'min', 'max')
      then 'logloom_private.finite_double(' || v_kind || '(' || v_number || ')' || p_filter || ')'
    else 'logloom_private.finite_double(percentile_cont(' || (p_aggregate ->> 'fraction')
      || ') within group (order by logloom_private.finite_double(' || v_number || '))' || p_filter
      || ')'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_any_sql (
  p_leaf  jsonb,
  p_alias text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_hidden constant text[] := array(select jsonb_array_elements_text(p_leaf -> 'hidden'));
  v_paths constant text[] := logloom_private.hidden_paths(v_hidden);
  v_attrs constant text := case when 'attrs' = any(v_hidden) then 'null::jsonb'
    else format('%I.attrs', p_alias) end;
  v_columns constant text := coalesce(
    (
      select string_agg(format('%I.%I', p_alias, c.name), ', ' order by c.n)
      from unnest(logloom_private.query_text_columns()) with ordinality c (name, n)
      where c.name <> all(v_hidden)
    ),
    'null::text'
  );
  v_test constant text := logloom_private.query_text_test(p_leaf, 't.text');
  v_scalars constant text := 'array(select a.value #>> ''{}'' '
    || 'from jsonb_path_query(%s, ''strict $.**'') a (value) '
    || 'where jsonb_typeof(a.value) in (''string'', ''number'', ''boolean''))';
  v_sql text := format(
    'exists (select from unnest(array[%s] || ' || v_scalars || ') t (text) where %s)',
    v_columns, v_attrs, v_test
  );
  v_likely text[];
begin
  if v_paths <> '{}' then
    v_sql := format(
      '(exists (select from unnest(array[%s]) t (text) where %s) or %s exists ('
        || 'select from unnest(' || v_scalars || ') t (text) where %2$s))',
      v_columns, v_test,
      -- A regex has no LIKE that could reject records first.
      case when p_leaf ->> 'test' = 'regex' then v_sql || ' and' else '' end,
      logloom_private.masked_attrs_sql(v_attrs, v_paths)
    );
  end if;
  if p_leaf ->> 'test' = 'regex' then
    return v_sql;
  end if;
  -- For every test but equal, the first value is a LIKE pattern that every match passes.
  v_likely := array(
    select logloom_private.query_like_record(logloom_private.folded_text(
      case p_leaf ->> 'test' when 'equal' then logloom_private.query_like_text(v.text)
        else v.text end
    ))
    from jsonb_array_elements_text(p_leaf -> 'values') with ordinality v (text, n)
    where p_leaf ->> 'test' = 'equal' or v.n = 1
    order by v.n
  );
  return format(
    'case when lower(concat_ws(e''\x01'', %s, %s::text) collate "C") like ', v_columns, v_attrs
  )
    || case cardinality(v_likely) when 1 then quote_literal(v_likely[1])
      else 'any (' || quote_literal(v_likely) || '::text[])' end
    || ' then ' || v_sql || ' else false end';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_contains (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'contains', 'folds_case', true,
    'values', array['%' || logloom_private.query_like(logloom_private.folded_text(p_token)) || '%']
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_double (
  p_number   text,
  p_position integer
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not pg_input_is_valid(p_number, 'double precision') then
    perform logloom_private.refuse_at(p_position, 'query.number_is_out_of_range');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_equal (
  p_state      logloom_private.query_state,
  p_field      jsonb,
  p_folds_case boolean,
  p_token      text,
  p_position   integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text text := logloom_private.query_text(p_token);
begin
  case p_field ->> 'field'
    when 'ts', 'received_at' then
      return logloom_private.query_check_time(p_state, p_field, p_token, p_position);
    when 'level' then
      v_text := logloom_private.query_require_level(p_token, p_position);
    when 'id' then
      if lower(v_text) !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
        perform logloom_private.refuse_at(
          p_position, 'query.not_a_uuid', logloom_private.query_excerpt(v_text)
        );
      end if;
      v_text := lower(v_text);
    else
      if p_folds_case then
        v_text := logloom_private.folded_text(v_text);
      end if;
  end case;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'equal', 'values', jsonb_build_array(v_text), 'folds_case', p_folds_case
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_order (
  p_plan     jsonb,
  p_stage    text,
  p_position integer
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_cannot boolean;
begin
  v_cannot := case p_stage
    when 'where' then p_plan ?| array['limit', 'fields'] or (p_plan ? 'sort' and not v_rows)
    when 'sort' then p_plan ?| array['sort', 'limit']
    when 'math' then p_plan ?| array['sort', 'limit']
    when 'limit' then p_plan ? 'limit'
    when 'fields' then v_rows or p_plan ? 'fields'
    else v_rows or p_plan ?| array['sort', 'limit', 'fields']
  end;
  if p_stage = 'math' and not p_plan ? 'aggregates' then
    perform logloom_private.refuse_at(p_position, 'stages.math_needs_an_aggregate');
  elsif v_cannot then
    perform logloom_private.refuse_at(
      p_position, 'stages.order_is_wrong', p_stage, p_plan ->> 'last'
    );
  elsif coalesce((p_plan ->> 'count')::integer, 0) >= 10 then
    perform logloom_private.refuse_at(p_position, 'stages.too_many');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_range (
  p_state logloom_private.query_state,
  p_field jsonb,
  p_range logloom_private.query_range
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_field ->> 'field';
  v_levels text[] := array['debug', 'info', 'warn', 'error'];
  v_from integer;
  v_to integer;
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
  elsif v_name = 'attrs' and p_range.lower_token ~ '[.:].*[.:]'
    and pg_input_is_valid(p_range.lower_token, 'inet')
    and pg_input_is_valid(p_range.upper_token, 'inet')
    and family(p_range.lower_token::inet) = family(p_range.upper_token::inet)
  then
    perform logloom_private.refuse_at(
      p_range.lower_position, 'query.addresses_are_networks',
      p_field ->> 'name' || ':' || inet_merge(p_range.lower_token::inet, p_range.upper_token::inet)
    );
  elsif v_name = 'attrs' then
    return logloom_private.query_check_range_of_numbers(p_state, p_field, p_range);
  elsif v_name = 'level' then
    v_from := p_range.lower_open::integer + array_position(
      v_levels, logloom_private.query_require_level(p_range.lower_token, p_range.lower_position)
    );
    v_to := array_position(
      v_levels, logloom_private.query_require_level(p_range.upper_token, p_range.upper_position)
    ) - p_range.upper_open::integer;
    v_levels := v_levels[coalesce(v_from, 1):coalesce(v_to, 4)];
    p_state.node := case when cardinality(v_levels) = 0 then '{"type": "none"}'::jsonb
      else logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'equal', 'values', v_levels)
      ) end;
    return p_state;
  end if;
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'range',
    'bounds', jsonb_build_object(
      'lower', logloom_private.query_text(p_range.lower_token), 'lower_open', p_range.lower_open,
      'upper', logloom_private.query_text(p_range.upper_token), 'upper_open', p_range.upper_open
    )
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_value (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_sign     text,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_field ->> 'field';
  v_network inet;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if p_sign in ('', '=') then
    p_state := logloom_private.query_warn_value(p_state, p_field, p_sign, p_token, p_position);
  elsif v_name in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(p_position, 'query.takes_no_test', v_name, p_sign);
  end if;
  if p_sign = 'w=' then
    return logloom_private.query_check_word(p_state, p_field, p_token, p_position);
  elsif p_sign <> '' then
    return logloom_private.query_check_equal(
      p_state, p_field, p_sign = 'i=', p_token, p_position
    );
  elsif v_name = 'any' and p_token in ('*', '""') then
    perform logloom_private.refuse_at(p_position, 'query.any_takes_a_text');
  elsif p_token = '*' then
    p_state.node := logloom_private.query_leaf(p_field, '{"test": "exists"}');
    return p_state;
  elsif v_name in ('msg', 'any') then
    return logloom_private.query_check_contains(p_state, p_field, p_token, p_position);
  elsif v_name not in ('level', 'id', 'ts', 'received_at')
    and logloom_private.query_has_wildcard(p_token)
  then
    p_state := logloom_private.query_count_searched(p_state, p_token, p_position);
    p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
      'test', 'like', 'values', array[logloom_private.query_like(p_token)]
    ));
    return p_state;
  elsif v_name in ('attrs', 'host') then
    v_network := logloom_private.query_network(p_token, p_position);
    if v_network is not null then
      p_state.node := logloom_private.query_leaf(
        p_field, jsonb_build_object('test', 'network', 'values', array[v_network::text])
      );
      return p_state;
    end if;
  end if;
  return logloom_private.query_check_equal(p_state, p_field, false, p_token, p_position);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_check_word (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := logloom_private.folded_text(
    logloom_private.query_text(p_token)
  );
begin
  if v_text = '' then
    perform logloom_private.refuse_at(p_position, 'query.word_is_empty');
  end if;
  p_state := logloom_private.query_count_searched(p_state, v_text, p_position);
  p_state.node := logloom_private.query_leaf(p_field, jsonb_build_object(
    'test', 'word', 'folds_case', true,
    'values', array[
      '%' || logloom_private.query_like_text(v_text) || '%',
      '(?:^|\W)' || regexp_replace(v_text, '([!-/:-@[-`{-~])', '\\\1', 'g') || '(?:$|\W)'
    ]
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_condition_sql (
  p_aggregate jsonb,
  p_alias     text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not p_aggregate ? 'condition' then
    return '';
  end if;
  return format(
    ' filter (where %s)', logloom_private.query_sql(p_aggregate -> 'condition', p_alias)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('query.minus_negates_nothing', 400, '- must directly precede the term that it negates',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}. For an open bound, write only *.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket has no opening bracket',
      'Remove it, or quote it to search for it.', null),
    ('query.bracket_is_not_closed', 400, 'A closing bracket is missing',
      'Close the bracket that position %s opens.', null),
    ('query.colon_is_missing', 400, 'A colon is missing after an attribute',
      'Write @"name":value without white space.', null),
    ('query.wildcard_in_comparison', 400, 'A comparison takes no wildcard',
      'Quote a text that contains *. For an open bound, write only *.', null),
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
      'AND, OR, NOT and brackets need terms. Quote such a word or bracket to search for it.', null),
    ('query.term_is_missing', 400, 'A term is missing before %s',
      'AND, OR, NOT and brackets need terms. Quote such a word or bracket to search for it.', null),
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
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without quotes.',
      null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Remove unnecessary brackets.', null),
    ('query.not_a_uuid', 400, 'Not a UUID: %s', 'id takes a whole UUID, or * for any.', null),
    ('query.not_a_time', 400, 'Not a time: %s',
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now, now-15m or -15m (s, m, h, d or w).', null),
    ('query.list_is_in_brackets', 400, 'TO is missing in a range', 'Write %s', null),
    ('query.to_is_missing', 400, 'TO is missing in a range',
      'Write [a TO b] or {a TO b}, TO in upper case.', null),
    ('query.path_is_malformed', 400, 'The path of an attribute is malformed',
      'Separate segments by one dot. Quote a segment with characters other than letters, digits, '
        '_ and -: @"a b".c', null),
    ('query.path_is_too_long', 400, 'The path of an attribute has more than 32 segments',
      'Name a value that is nested less deeply, or search all values with any:', null),
    ('query.too_many_terms', 400, 'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.',
      'Each term of a list of values counts.'),
    ('query.too_long', 400, 'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.', null),
    ('query.field_is_unknown', 400, 'Unknown field %s',
      '%2$sQuote a text that holds a colon. The fields are %3$s and attrs.',
      'The hint names a field with a similar name.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.level_is_of_another_language', 400, 'Unknown level %s', 'Write %2$s', null),
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
    ('query.colon_has_blanks', 400, 'A field is missing before the colon', 'Write %s', null),
    ('query.slashes_are_text', 400, 'Slashes do not mark a regular expression', 'Write %s', null),
    ('query.addresses_are_networks', 400, 'A range of addresses is a network', 'Write %s', null),
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
      'The query is too complex: its search texts have more than 512 characters in total',
      'Shorten them: the beginning of a long message is enough to find it.', null),
    ('query.means_something_else', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if you mean it literally.',
      'The query of an alert rule, its preview, `delete_logs` or its dry run: a search would '
        'answer `warnings`.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_excerpt (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN ((('"'::text || "left"(p_text, 40)) || CASE WHEN (char_length(p_text) > 40) THEN '…'::text ELSE ''::text END) || '"'::text);

CREATE OR REPLACE FUNCTION logloom_private.query_extract_parts (
  p_pattern  text,
  p_position integer
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := array(
    select m.match[1]
    from regexp_matches(p_pattern, '<([^<>]*)>', 'g') with ordinality m (match, n)
    order by m.n
  );
  v_literals constant text[] := regexp_split_to_array(p_pattern, '<[^<>]*>');
  v_wrong constant text := (
    select n from unnest(v_names) n where n !~ '^(?:[A-Za-z_][A-Za-z0-9_]{0,59})?$' limit 1
  );
begin
  if v_wrong is not null then
    perform logloom_private.refuse_at(
      p_position, 'stages.extract_name_is_wrong', logloom_private.query_excerpt(v_wrong)
    );
  elsif '' = any(v_literals[2:cardinality(v_names)]) then
    perform logloom_private.refuse_at(p_position, 'stages.extract_names_touch');
  end if;
  return jsonb_build_object('literals', v_literals, 'names', array_replace(v_names, '_', ''));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_field (
  p_name     text,
  p_position integer,
  p_stage    text    DEFAULT NULL::text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_path text[];
  v_joined text;
  v_rest text;
  v_near text;
begin
  if p_name = any(logloom_private.query_field_names()) then
    return jsonb_build_object(
      'field', p_name, 'name', p_name,
      'reads', case p_name when 'any' then logloom_private.query_text_columns() || 'attrs'::text
        else array[p_name] end
    );
  elsif left(p_name, 1) = '@' and p_name <> '@timestamp' then
    v_rest := '.' || substr(p_name, 2);
  elsif left(p_name, 6) = 'attrs.' then
    v_rest := substr(p_name, 6);
  elsif p_name = 'attrs' then
    perform logloom_private.refuse_at(p_position, 'query.attribute_is_missing');
  else
    v_near := logloom_private.query_near_field(p_name);
    if p_stage ~ '^(?:sum|avg|min|max|p[0-9].*)$' and v_near <> 'ts' then
      -- An aggregate of this kind takes attributes, so no field is meant.
      v_near := null;
    end if;
    perform logloom_private.refuse_at(
      p_position,
      case when p_stage is null then 'query.field_is_unknown' else 'stages.field_is_unknown' end,
      logloom_private.query_excerpt(p_name),
      coalesce('Did you mean ' || v_near || '? ', '')
        || case when p_name collate "und-x-icu" !~ '^[[:alpha:]_][[:alpha:][:digit:]_.-]*$' then ''
          when p_stage is null
            then format('An attribute is written @%s: (short for attrs.%1$s:). ', left(p_name, 60))
          else format('An attribute is written @%s. ', left(p_name, 60)) end,
      array_to_string(logloom_private.query_field_names(), ', ')
    );
  end if;

  -- Uses ICU's classes, because they have the letters and digits of every script.
  if v_rest collate "und-x-icu" !~
    '^(?:\.(?:[[:alpha:][:digit:]_-]+|"(?:[^"\\]|\\.)*"))+$'
  then
    perform logloom_private.refuse_at(p_position, 'query.path_is_malformed');
  end if;

  if strpos(v_rest, '"') = 0 then
    v_path := string_to_array(substr(v_rest, 2), '.');
    v_joined := case when cardinality(v_path) > 1 then substr(v_rest, 2) end;
  else
    select array_agg(logloom_private.query_text(substr(m.match[1], 2)) order by m.n)
    into v_path
    from regexp_matches(v_rest, '\.(?:"(?:[^"\\]|\\.)*"|[^."]+)', 'g')
      with ordinality as m (match, n);
  end if;
  if cardinality(v_path) > 32 then
    perform logloom_private.refuse_at(p_position, 'query.path_is_too_long');
  end if;
  return jsonb_build_object(
    'field', 'attrs', 'name', p_name, 'path', v_path, 'joined', v_joined,
    'reads', array_remove(array['attrs.' || v_path[1], 'attrs.' || v_joined], null)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_has_wildcard (
  p_token text
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN (("left"(p_token, 1) <> '"'::text) AND (translate(p_token, '*?'::text, ''::text) <> p_token) AND (p_token ~ '^(?:[^\\*?]|\\.)*[*?]'::text));

CREATE OR REPLACE FUNCTION logloom_private.query_is_adjacent (
  p_state logloom_private.query_state,
  p_at    integer
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN ((p_at > 1) AND (((p_state).positions[(p_at - 1)] + char_length((p_state).texts[(p_at - 1)])) = (p_state).positions[p_at]));

CREATE OR REPLACE FUNCTION logloom_private.query_is_escaped_in_vain (
  p_token text
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN ((replace(p_token, '\\'::text, ''::text) ~ '\\[[:alnum:]]'::text) AND (p_token !~ '^\\(?:AND|OR|NOT)$'::text));

CREATE OR REPLACE FUNCTION logloom_private.query_is_term (
  p_token text
)
  RETURNS boolean
  LANGUAGE sql
  IMMUTABLE
RETURN ("left"(p_token, 1) <> ALL (ARRAY[''::text, '('::text, ')'::text, '['::text, ']'::text, '{'::text, '}'::text, '|'::text]));

CREATE OR REPLACE FUNCTION logloom_private.query_items_sql (
  p_type     text,
  p_items    text[],
  p_is_heavy boolean[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_heavy constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where i.is_heavy order by i.n
  );
  v_light constant text[] := array(
    select i.sql from unnest(p_items, p_is_heavy) with ordinality i (sql, is_heavy, n)
    where not i.is_heavy order by i.n
  );
begin
  return '(' || array_to_string(
    v_light || format(
      '%sexists (select from (values %s) k (n) where (case k.n %s end) is %s offset 0)',
      case p_type when 'and' then 'not ' else '' end,
      (select string_agg(format('(%s)', n), ', ') from generate_subscripts(v_heavy, 1) n),
      (
        select string_agg(format('when %s then %s', i.n, i.sql), ' ' order by i.n)
        from unnest(v_heavy) with ordinality i (sql, n)
      ),
      case p_type when 'and' then 'not true' else 'true' end
    ),
    ' ' || p_type || ' '
  ) || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_like_record (
  p_pattern text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN
  (('%'::text || regexp_replace(regexp_replace(p_pattern, '\\[\\_]|["_\x01-\x1f\x7f]'::text, '%'::text, 'g'::text), '[ik\x80-\U0010ffff]'::text, '_'::text, 'g'::text)) ||
  '%'::text);

CREATE OR REPLACE FUNCTION logloom_private.query_like_text (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN regexp_replace(p_text, '([\\%_])'::text, '\\\1'::text, 'g'::text);

CREATE OR REPLACE FUNCTION logloom_private.query_math_tokens()
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN '[0-9](?:[eE][+-]?[0-9]|[A-Za-z0-9_.])*|[A-Za-z_][A-Za-z0-9_.]*'::text;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_aggregate (
  p_name text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (p_name = ANY (ARRAY['count'::text, 'rate'::text, 'sum'::text, 'avg'::text, 'min'::text, 'max'::text, 'count_distinct'::text])) THEN p_name WHEN
  (p_name ~ '^p(?:100|[0-9]{1,2}(?:\.[0-9]{1,4})?)$'::text) THEN p_name WHEN (p_name ~ '^(?:perc|pct|pc)[1-9][0-9]?$'::text) THEN ('p'::text || "substring"(p_name, '[0-9]+'::text))
  WHEN (p_name = 'median'::text) THEN 'p50'::text WHEN (p_name = ANY (ARRAY['percentile'::text, 'percentiles'::text, 'quantile'::text, 'pct'::text])) THEN 'p95'::text WHEN
  (p_name = ANY (ARRAY['mean'::text, 'average'::text])) THEN 'avg'::text WHEN
  (p_name = ANY (ARRAY['dc'::text, 'dcount'::text, 'distinct_count'::text, 'count_uniq'::text, 'uniq'::text, 'cardinality'::text])) THEN 'count_distinct'::text ELSE NULL::text END;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_comparison (
  p_token text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts constant text[] := regexp_match(
    regexp_replace(p_token, '^attrs->>?''([[:alnum:]_.-]+)''', '@\1'),
    '^([@.]?[[:alpha:]_](?:[[:alnum:]_.@-]*[[:alnum:]_])?)(===?|!=|<>|=~|!~|>=|<=|=|>|<)([^=].*)$'
  );
  v_name text;
  v_is_not constant boolean := v_parts[2] in ('!=', '<>', '!~');
  v_value constant text := regexp_replace(v_parts[3], '^''(.*)''$', '\1');
begin
  if v_parts is null then
    return null;
  elsif v_parts[1] = 'index' and v_parts[3] ~ '^[[:alpha:]*]' then
    -- Splunk's index: a tenant has one.
    return '*';
  end if;
  v_name := case when v_parts[1] in ('earliest', 'latest') then 'ts'
    else logloom_private.query_meant_name(v_parts[1]) end;
  if v_parts[1] in ('earliest', 'latest') and v_parts[2] = '=' then
    return case v_parts[1] when 'earliest' then 'ts:>=' else 'ts:<' end || v_value;
  elsif v_parts[3] ~* '^null$' then
    return case when v_is_not then '' else '-' end || v_name || ':*';
  end if;
  return case when v_is_not then '-' else '' end || v_name || ':'
    || case
      when v_parts[2] in ('=~', '!~') then '~"' || replace(v_value, '"', '\"') || '"'
      when v_parts[2] in ('>', '>=', '<', '<=') then v_parts[2] || v_value
      when v_value ~ '^[[:alnum:]_./*?-]+$' then v_value
      else '"' || regexp_replace(v_value, '(["\\])', '\\\1', 'g') || '"'
    end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_fields (
  p_names text[],
  p_plan  jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_keys constant text[] := array(
    select logloom_private.query_meant_name(t)
    from unnest(p_names) with ordinality u (t, n)
    where t ~ '^@?[[:alpha:]_]'
    order by n
    limit 3
  );
begin
  if p_plan ? 'aggregates' then
    return 'no stage: the columns are those of by, such as | count() by '
      || coalesce(nullif(array_to_string(array_remove(v_keys, 'ts'), ', '), ''), 'service');
  end if;
  return '| fields ' || coalesce(nullif(array_to_string(v_keys, ', '), ''), 'ts, msg');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_index (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := '@' || btrim(logloom_private.query_text(p_texts[p_at + 1]), '''');
  v_value constant text := p_texts[p_at + 3];
begin
  if coalesce(p_texts[p_at - 1], '') !~ '^@?attrs$' or p_texts[p_at + 2] is distinct from ']'
    or v_name !~ '^@[[:alpha:]_][[:alnum:]_.@-]*$'
  then
    return null;
  elsif left(v_value, 1) = ':' then
    return v_name || v_value || case v_value when ':' then left(p_texts[p_at + 4], 60) else '' end;
  end if;
  return coalesce(
    logloom_private.query_meant_words(v_name || p_texts[p_at + 3:], 1),
    logloom_private.query_meant_comparison(v_name || v_value),
    v_name || ':*'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_math (
  p_texts  text[],
  p_column text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_formula constant text := array_to_string(p_texts[4:], ' ');
  v_name constant text := substring(v_formula from '[[:alpha:]_@][[:alnum:]_.]*');
begin
  if p_texts[3] is distinct from '=' or p_texts[2] !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$'
    or v_formula !~ '^[[:alnum:]_.@ ]+[-+*/%][-+*/%[:alnum:]_.@ ]+$' or v_name is null
  then
    return '| math n / 60 as m after an aggregate, or | extract "took <ms> ms" before it';
  elsif p_column is not null then
    return '| math ' || v_formula || ' as ' || p_texts[2];
  end if;
  return format(
    '| %s(%s) as n | math %s as %s',
    case when v_name ~ '(?:ms|seconds|duration|latency|time)$' then 'avg' else 'sum' end,
    logloom_private.query_meant_argument(array[v_name], 'sum'),
    replace(v_formula, v_name, 'n'), p_texts[2]
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_name (
  p_name text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Ingest stores these attributes as fields.
  v_name constant text := case when p_name in ('@timestamp', '@message', '@level')
    then substr(p_name, 2) else ltrim(p_name, '.') end;
begin
  if left(v_name, 1) = '@' or left(v_name, 6) = 'attrs.'
    or v_name = any(logloom_private.query_field_names())
  then
    return v_name;
  end if;
  return coalesce(logloom_private.query_near_field(v_name), '@' || v_name);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_network (
  p_texts text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_words constant text[] := regexp_split_to_array(
    array_to_string(p_texts[3:array_position(p_texts, ')') - 1], ' '), '[ ,"'']+'
  );
  v_networks constant text[] := array(
    select w from unnest(v_words) w where w ~ '^[0-9a-fA-F.:]+/[0-9]{1,3}$'
  );
  v_name constant text :=
    (select w from unnest(v_words) w where w ~ '^[@.]?[[:alpha:]_]' limit 1);
begin
  if v_name is null or cardinality(v_networks) = 0 then
    return null;
  end if;
  return logloom_private.query_meant_name(v_name) || ':' || case cardinality(v_networks)
    when 1 then v_networks[1]
    else '(' || array_to_string(v_networks, ' OR ') || ')' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_order (
  p_texts   text[],
  p_columns text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    (
      select ltrim(t, '-') from unnest(p_texts) with ordinality u (t, n)
      where ltrim(t, '-') = any (p_columns) order by n limit 1
    ),
    p_columns[1]
  ) || case when p_texts[1] like '-%' or lower(p_texts::text collate "C")::text[] && '{desc}'
    then ' desc' else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_plain_stage (
  p_texts text[],
  p_plan  jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_column constant text := coalesce(
    p_plan -> 'aggregates' -> 0 ->> 'name', case when p_plan ? 'patterns' then 'count' end
  );
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_text constant text := coalesce(
    (select t from unnest(p_texts) t where t like '"%' limit 1), '""'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
begin
  if p_texts[2] in ('>', '>=', '<', '<=', '=', '!=') and v_word ~ '^[[:alpha:]_@]' then
    return '| where ' || case when v_column is not null then array_to_string(p_texts[1:3], ' ')
      else logloom_private.query_meant_words(p_texts, 1) end;
  elsif v_word in ('>', '>=', '<', '<=', '=', '!=') and v_column is not null then
    return '| where ' || v_column || ' ' || v_word || ' ' || p_texts[2];
  elsif v_word in ('=', '!=') or v_word = '~' then
    -- |= "text", |~ "regex"
    return case v_word when '~' then 'msg:~' when '!=' then '-' else '' end
      || translate(p_texts[2], '`', '"') || ' before the first |';
  elsif v_word = 'grep' then
    return case when array_to_string(p_texts, ' ') ~ ' -[a-z]*v' then '-' else '' end || 'msg:'
      || coalesce(
        (
          select t from unnest(p_texts[2:]) with ordinality u (t, n)
          where t not like '-%' order by n limit 1
        ),
        '"text"'
      ) || ' before the first |';
  elsif v_word in ('contains', 'test', 'match') then
    -- jq's contains("text"), test("regex")
    return 'msg:' || case when v_word in ('test', 'match') then '~' else '' end
      || coalesce(nullif(v_text, '""'), nullif(p_texts[2], '('), '"text"') || ' before the first |';
  elsif v_word in ('group', 'by') then
    return case when v_column is null then '| count() ' else '' end || 'by '
      || logloom_private.query_meant_name(coalesce(
        p_texts[2 + (lower(p_texts[2] collate "C") = 'by')::integer], 'service'
      ));
  elsif v_word in ('count_if', 'countif') then
    return '| count() if ('
      || coalesce(logloom_private.query_meant_words(p_texts, 3), p_texts[3], 'level:error') || ')';
  elsif v_word = 'unwrap' then
    return '| avg(' || logloom_private.query_meant_argument(p_texts[2:], 'avg') || ')';
  elsif v_word = 'wc' then
    return '| count()';
  elsif v_word in ('head', 'take', 'first', 'last', 'limit') then
    return '| limit ' || v_number;
  elsif v_word = 'tail' then
    return '| sort by ts | limit ' || v_number;
  elsif v_word in ('order', 'sort') then
    return '| sort by ' || coalesce(
      nullif(array_to_string(p_texts[coalesce(v_by, 1) + 1:], ' '), ''), 'ts desc'
    );
  elsif v_word in ('filter', 'search', 'having', 'where') then
    return '| where ' || case
      when v_column is not null and p_texts[3] ~ '^[<>=!]' then array_to_string(p_texts[2:4], ' ')
      when v_column is not null then v_column || ' > 10'
      else coalesce(logloom_private.query_meant_words(p_texts, 2), 'service:api') end;
  elsif v_word in ('project', 'table', 'keep', 'select', 'display', 'line_format', 'jq') then
    return logloom_private.query_meant_fields(p_texts[2:], p_plan);
  elsif v_word in ('parse', 'rex', 'regexp', 'pattern') then
    return case
      when v_text ~ '\(\?P?<' then '| extract_regexp ' || replace(v_text, '(?<', '(?P<')
      when v_text like '%*%' and array_position(p_texts, 'as') is not null then (
        -- parse "* *" as method, path
        select '| extract ' || string_agg(t.part || coalesce('<' || p_texts[
          array_position(p_texts, 'as') + 2 * t.n - 1
        ] || '>', ''), '' order by t.n)
        from regexp_split_to_table(v_text, '\*') with ordinality t (part, n)
      )
      else '| extract ' || case when v_text like '%<%>%' then v_text else '"took <ms> ms"' end
    end;
  elsif v_word in ('unpack_json', 'spath') then
    return '| json msg';
  elsif v_word = 'unpack_logfmt' then
    return '| logfmt msg';
  elsif v_word in ('eval', 'extend', 'let', 'compute', 'math', 'fillnull') then
    return logloom_private.query_meant_math(p_texts, v_column);
  elsif v_word in ('rename', 'project-rename', 'label_format') then
    return 'the name that it has: only an aggregate gets another, | count() as n';
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_select (
  p_texts text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_words constant text[] := lower(p_texts::text collate "C")::text[];
  v_from constant integer := coalesce(array_position(v_words, 'from'), cardinality(p_texts));
  v_where constant integer := array_position(v_words, 'where');
  -- The first word after the conditions
  v_end constant integer := coalesce(
    (
      select min(n) from generate_subscripts(v_words, 1) n
      where n > coalesce(v_where, v_from) and v_words[n]
        in ('group', 'having', 'order', 'limit', 'facet', 'since', 'until', 'timeseries', '')
    ),
    cardinality(p_texts) + 1
  );
  v_terms constant text[] := array(
    select m.meant
    from generate_series(v_where + 1, v_end - 1) n
    cross join lateral (
      select coalesce(
        logloom_private.query_meant_words(p_texts, n),
        logloom_private.query_meant_comparison(p_texts[n])
      ) as meant
    ) m
    where m.meant is not null
    order by n
  );
  v_aggregate constant text := (
    select logloom_private.query_meant_stage(
      string_to_array(replace(array_to_string(p_texts[n:v_from - 1], e'\n'), ',', ''), e'\n'), '{}'
    )
    from generate_series(2, v_from - 2) n
    where logloom_private.query_meant_aggregate(v_words[n]) is not null and p_texts[n + 1] = '('
    order by n
    limit 1
  );
  v_key constant text := rtrim(coalesce(
    p_texts[array_position(v_words, 'facet') + 1], p_texts[array_position(v_words, 'group') + 2]
  ), ',');
  v_group constant text :=
    case when v_key <> '' then logloom_private.query_meant_name(v_key) end;
  v_order constant integer := array_position(v_words, 'order');
  v_descending constant text := case when 'desc' = any(v_words) then ' desc' else '' end;
begin
  return concat_ws(
    ' ',
    nullif(
      array_to_string(
        v_terms, case when 'or' = any(v_words[v_where:v_end]) then ' OR ' else ' ' end
      ),
      ''
    ),
    (
      select t.meant
      from generate_series(v_end, cardinality(p_texts)) n
      cross join lateral (select logloom_private.query_meant_time(p_texts, n) as meant) t
      where t.meant is not null
      limit 1
    ),
    v_aggregate || case when v_order is null then '' else ' as n' end || coalesce(
      ' by ' || nullif(
        concat_ws(
          ', ', case when 'timeseries' = any(v_words) then '(5m)' end,
          v_group
        ),
        ''
      ),
      ''
    ),
    case
      when v_aggregate is not null and p_texts[v_order + 2] = v_key
        then '| sort by ' || v_group || v_descending
      when v_aggregate is not null and v_order is not null then '| sort by n' || v_descending
      when v_order is not null then '| sort by ts' || v_descending
    end,
    '| limit ' || substring(
      p_texts[array_position(v_words, 'limit') + 1] from '^[1-9][0-9]{0,5}$'
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_selector (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_end constant integer := array_position(p_texts, '}', p_at);
  v_meant constant text := (
    select string_agg(
      logloom_private.query_meant_comparison(
        ltrim(p_texts[n], ',') || logloom_private.query_text(p_texts[n + 1])
      ),
      ' ' order by n
    )
    from generate_series(p_at + 1, v_end - 2) n
    where p_texts[n] ~ '[=~]$'
  ) || case when p_texts[v_end + 1:v_end + 2] = '{|,=}' and p_texts[v_end + 3] like '"%'
    then ' ' || p_texts[v_end + 3] else '' end;
  v_aggregate constant text := case p_texts[p_at - 2]
    when 'rate' then ' | rate()' when 'count_over_time' then ' | count()' end;
begin
  if p_texts[p_at - 1] is distinct from '(' or v_aggregate is null then
    return v_meant;
  end if;
  -- rate() is per minute without a width, too.
  return v_meant || v_aggregate || coalesce(
    ' by ' || nullif(
      concat_ws(
        ', ',
        (
          select '(' || p_texts[n + 1] || ')' from generate_series(v_end, cardinality(p_texts)) n
          where p_texts[n] = '[' and p_texts[n + 1] ~ '^[1-9][0-9]{0,4}[smhdw]$'
            and v_aggregate <> ' | rate()'
          limit 1
        ),
        case when p_texts[2:3] = '{by,(}' then logloom_private.query_meant_name(p_texts[4]) end
      ),
      ''
    ),
    ''
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_stage (
  p_texts text[],
  p_plan  jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_word constant text := lower(p_texts[1] collate "C");
  v_number constant text := coalesce(
    (select t from unnest(p_texts) t where t ~ '^(?:limit=)?[1-9][0-9]{0,5}$' limit 1), '10'
  );
  v_by constant integer := coalesce(array_position(p_texts, 'by'), array_position(p_texts, 'BY'));
  -- The width of a bucket in timechart span=5m or bin(5m).
  v_width text := (
    select substring(t from '[1-9].*')
    from unnest(p_texts) t
    where t ~ '^(?:_time:)?[1-9][0-9]{0,4}[smhdw]$'
    limit 1
  );
  v_plain constant text := logloom_private.query_meant_plain_stage(p_texts, p_plan);
  v_keys text[];
  v_kind text;
  v_place integer;
  v_close integer;
  v_name text;
begin
  if v_plain is not null then
    return v_plain;
  end if;

  v_keys := array(
    select logloom_private.query_meant_name(t)
    from unnest(
      p_texts[coalesce(v_by, 1) + 1:coalesce(
        case when p_texts[v_by + 1] = '(' then array_position(p_texts, ')', v_by) end,
        cardinality(p_texts)
      )]
    ) with ordinality u (t, place)
    where t ~ '^@?[[:alpha:]_][[:alnum:]_.@-]*$'
      and lower(t collate "C") not in ('by', 'bin', 'span', 'limit', 'as', '_time', 'count', 'time')
      and p_texts[coalesce(v_by, 1) + place::integer + 1] is distinct from '('
    order by place
    limit 2
  );
  if v_word = 'top' then
    return format(
      '| count() as n by %s | sort by n desc | limit %s', coalesce(v_keys[1], 'service'), v_number
    );
  elsif v_word in ('dedup', 'uniq', 'distinct', 'transaction')
    and p_texts[2] is distinct from '('
  then
    return format('| count() by %s: a row for each value', coalesce(v_keys[1], 'service'));
  elsif v_word in ('bin', 'bucket', 'timeslice') then
    return format('| count() by (%s)', coalesce(v_width, '5m'));
  end if;

  v_place := case
    when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then (
      select min(place) from unnest(p_texts) with ordinality u (t, place)
      where place > 1
        and logloom_private.query_meant_aggregate(lower(t collate "C")) is not null
    )
    else 1 end;
  v_kind := coalesce(
    logloom_private.query_meant_aggregate(lower(p_texts[v_place] collate "C")),
    case when v_word in ('stats', 'summarize', 'aggregate', 'timechart', 'chart') then 'count' end
  );
  if v_kind is null then
    return null;
  elsif lower(p_texts[v_place] collate "C") in ('percentile', 'percentiles', 'quantile', 'pct') then
    -- quantile(0.99, x) and percentile(x, 99)
    v_kind := 'p' || coalesce(
      (
        select trim_scale(case when t::numeric <= 1 then 100 else 1 end * t::numeric)
        from unnest(p_texts) t
        where t ~ '^(?:[1-9][0-9]|0?[.][0-9]{1,3})$'
        limit 1
      ),
      95
    );
  end if;
  if v_by is null then
    v_keys := '{}';
  end if;
  v_width := coalesce('(' || v_width || ')', case v_word when 'timechart' then '(5m)' end);
  -- The name in count() as n, or in count() n of LogsQL
  v_close := case when p_texts[v_place + 1] = '('
    then array_position(p_texts, ')', v_place) else v_place end;
  v_name := case
    when lower(p_texts[v_close + 1] collate "C") = 'as' then p_texts[v_close + 2]
    when v_close > v_place then p_texts[v_close + 1] end;
  v_keys := array_remove(v_width || v_keys, null);
  return '| ' || v_kind || '(' || case
      when v_kind in ('count', 'rate') then ''
      else logloom_private.query_meant_argument(p_texts[v_place + 1:], v_kind) end || ')'
    || case when v_name ~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$'
      and lower(v_name collate "C") not in ('by', 'if', 'where', 'group', 'over', 'limit')
      then ' as ' || v_name else '' end
    || coalesce(' by ' || nullif(array_to_string(v_keys, ', '), ''), '');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_start (
  p_texts text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_words constant text[] := lower(p_texts::text collate "C")::text[];
begin
  if v_words[1] = 'select'
    and (v_words[2] ~ '^[0-9(]' or v_words && array['from', '*', 'where'])
  then
    return coalesce(
      nullif(logloom_private.query_meant_select(p_texts), ''), 'service:api level:error'
    );
  elsif v_words[1] in ('where', 'grep') and logloom_private.query_is_term(p_texts[2]) then
    return coalesce(
      logloom_private.query_meant_words(p_texts, 2),
      (
        select t from unnest(p_texts[2:4]) t
        where logloom_private.query_is_term(t) and t !~ '^-' limit 1
      )
    );
  elsif v_words[1] in ('fields', 'filter', 'parse', 'stats', 'display') and p_texts[2] like '@%'
  then
    return logloom_private.query_meant_stage(
      case v_words[1] when 'fields' then 'table' else v_words[1] end || array(
        select rtrim(t, ',') from unnest(p_texts[2:8]) with ordinality u (t, n)
        where u.n < coalesce(array_position(p_texts, '|'), 8) order by n
      ),
      '{}'
    );
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_term (
  p_name  text,
  p_value text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN ((p_name = ANY (ARRAY['_exists_'::text, '_missing_'::text])) AND (p_value ~ '^@?[[:alpha:]_]'::text)) THEN
  ((CASE p_name WHEN '_missing_'::text THEN '-'::text ELSE ''::text END || logloom_private.query_meant_name(p_value)) || ':*'::text) WHEN
  ((p_name ~ '^!.'::text) AND (p_value <> ''::text)) THEN ((('-'::text || logloom_private.query_meant_name(substr(p_name, 2))) || ':'::text) || "left"(p_value, 60)) WHEN
  ((p_name = 'status'::text) AND (p_value ~* '^(?:debug|info|warn|warning|error|critical)$'::text)) THEN ('level:'::text || p_value) WHEN
  ((p_name = '*'::text) AND (p_value <> ''::text)) THEN ('any:'::text || "left"(p_value, 60)) WHEN ((p_name = 'has'::text) AND (p_value ~ '^@?[[:alpha:]_]'::text)) THEN
  (logloom_private.query_meant_name(p_value) || ':*'::text) WHEN ((p_name ~ '^[A-Za-z]$'::text) AND (p_value ~~ '\\%'::text)) THEN
  (((('"'::text || p_name) || ':'::text) || replace("left"(p_value, 60), '\'::text, '\\'::text)) || '"'::text) WHEN
  ((p_name = ANY (ARRAY['_time'::text, 'last'::text, 'since'::text])) AND (p_value ~ '^[1-9][0-9]{0,9}[smhdw]$'::text)) THEN ('ts:-'::text || p_value) ELSE NULL::text END;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_time (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := lower(array_to_string(p_texts[p_at:p_at + 2], ' ') collate "C") || ' ';
  v_shift constant text :=
    '([1-9][0-9]{0,4}) ?([smhdw])(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?|eeks?)? ';
begin
  return 'ts:-' || array_to_string(
    coalesce(
      regexp_match(v_text, '^(?:last|past|since) ' || v_shift),
      regexp_match(v_text, '^' || v_shift || 'ago ')
    ),
    ''
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_values (
  p_source   text,
  p_position integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_term constant text[] := regexp_match(
    left(p_source, p_position - 1),
    '(?:^|[ (])(-?@?[[:alpha:]_][[:alnum:]_.@-]*):([[:alnum:]_.*-]+)$'
  );
  v_words constant text[] := string_to_array(
    substring(substr(p_source, p_position + 1) from '^[[:alnum:]_.*|-]+'), '|'
  );
  v_values text;
begin
  select string_agg(w.word, ' OR ' order by w.place) into v_values
  from unnest(v_words) with ordinality w (word, place)
  where w.place < coalesce(
    (
      select min(s.place)
      from unnest(v_words) with ordinality s (word, place)
      where s.word in ('', 'json', 'logfmt', 'extract', 'extract_regexp', 'fields', 'patterns')
        or logloom_private.query_meant_stage(array[s.word], '{}') is not null
    ),
    cardinality(v_words) + 1
  );
  return v_term[1] || ':(' || v_term[2] || ' OR ' || v_values || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_meant_words (
  p_texts text[],
  p_at    integer
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- attrs->>'method'
  v_name constant text :=
    regexp_replace(p_texts[p_at], '^attrs->>?''([[:alnum:]_.-]+)''$', '@\1');
  v_word constant text := lower(p_texts[p_at + 1] collate "C");
  v_value text := p_texts[p_at + 2];
  v_end integer;
begin
  if p_at < 1 or v_word is null or v_name !~ '^[@.]?[[:alpha:]_][[:alnum:]_.@-]*$'
    or lower(v_name collate "C") in ('and', 'or', 'not', 'where')
    or v_word !~ '^(?:={1,3}|!=|<>|=~|!~|~|>=?|<=?|is|in|between|i?like|contains)$'
  then
    return null;
  elsif v_word = 'is' then
    return case
      when lower(v_value collate "C") = 'null'
        then '-' || logloom_private.query_meant_name(v_name) || ':*'
      when lower(v_value collate "C") = 'not'
        and lower(p_texts[p_at + 3] collate "C") = 'null'
        then logloom_private.query_meant_name(v_name) || ':*'
    end;
  elsif v_word = 'in' and v_value ~ '^[0-9a-fA-F.:]+/[0-9]{1,3}$' then
    return logloom_private.query_meant_name(v_name) || ':' || v_value;
  elsif v_word = 'in' then
    v_end := least(
      array_position(p_texts, ')', p_at + 3), array_position(p_texts, ']', p_at + 3)
    );
    if v_value not in ('(', '[') or v_end is null then
      return null;
    end if;
    v_value := array_to_string(p_texts[p_at + 3:v_end - 1], ' ');
    return logloom_private.query_meant_name(v_name) || ':('
      || regexp_replace(translate(btrim(v_value), '''', ''), '\s*,\s*', ' OR ', 'g') || ')';
  elsif v_word in ('between', 'like', 'ilike', 'contains')
    and v_value !~ (case v_word when 'between' then '^-?[0-9]' else '^[''"%/]' end)
    and left(v_name, 1) <> '@' and left(logloom_private.query_meant_name(v_name), 1) = '@'
  then
    -- These are probably two words of a message.
    return null;
  elsif v_word = 'between' then
    return logloom_private.query_meant_name(v_name) || ':['
      || v_value || ' TO ' || coalesce(nullif(p_texts[p_at + 4], ''), '*') || ']';
  elsif not logloom_private.query_is_term(v_value) then
    return null;
  elsif left(v_value, 1) in ('''', '/') then
    -- A text in single quotes or slashes may have blanks.
    select min(n) into v_end
    from generate_series(p_at + 2, least(p_at + 12, cardinality(p_texts))) n
    where right(p_texts[n], 1) = left(v_value, 1)
      and (n > p_at + 2 or char_length(p_texts[n]) > 1);
    v_value := array_to_string(p_texts[p_at + 2:coalesce(v_end, p_at + 2)], ' ');
    v_value := btrim(v_value, '''');
  elsif v_value in ('now', 'ago') and p_texts[p_at + 3] = '(' then
    -- now() - interval '1 hour', ago(5m)
    v_value := 'now-' || coalesce(
      substring(p_texts[p_at + 4] from '^[1-9][0-9]{0,4}[smhdw]$'), '1h'
    );
  else
    v_value := logloom_private.query_text(v_value);
  end if;
  if v_word not in ('like', 'ilike', 'contains') then
    return logloom_private.query_meant_comparison(
      v_name || case v_word when '~' then '=~' else v_word end || v_value
    );
  elsif v_value ~ '^/.+/$' then
    return logloom_private.query_meant_comparison(v_name || '=~' || btrim(v_value, '/'));
  end if;
  v_value := case when v_word = 'contains' then '*' || v_value || '*'
    else translate(v_value, '%', '*') end;
  return logloom_private.query_meant_comparison(
    v_name || '=' || case logloom_private.query_meant_name(v_name)
      when 'msg' then btrim(v_value, '*') else v_value end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_of_scope (
  p_scope logloom_private.reading_scope
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  v_query.tree := '{"type": "all"}';
  v_query.plan := '{}';
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_aggregate (
  p_state   logloom_private.query_state,
  p_plan    jsonb,
  p_filters logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first constant integer := p_state."at";
  v_kind constant text := p_state.texts[v_first];
  v_name text := v_kind;
  v_field jsonb;
  v_condition jsonb;
  v_meant text;
begin
  if logloom_private.query_meant_aggregate(v_kind) is distinct from v_kind then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first],
        case when p_state.texts[v_first + 1] = '('
          then 'stages.aggregate_is_of_another_language'
          else 'stages.stage_is_of_another_language' end,
        logloom_private.query_excerpt(v_kind),
        v_meant
      );
    end if;
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
      p_state.positions[v_first + 1],
      'stages.bracket_is_missing',
      v_kind,
      logloom_private.query_meant_stage(
        p_state.texts[v_first:cardinality(p_state.texts) - 1], p_plan
      )
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
  if p_state.texts[p_state."at"] = 'if' then
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_condition(p_state, p_filters);
    v_condition := p_state.node;
  end if;
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
    'kind', v_kind, 'fraction', substring(v_kind from '^p([0-9.]+)$')::numeric / 100,
    'field', v_field, 'name', v_name
  ) || jsonb_strip_nulls(jsonb_build_object('condition', v_condition));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_aggregates (
  p_state   logloom_private.query_state,
  p_plan    jsonb,
  p_filters logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_aggregates jsonb := '[]';
  v_first integer;
begin
  loop
    v_first := p_state."at";
    p_state := logloom_private.query_parse_aggregate(p_state, p_plan, p_filters);
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
  p_plan := p_plan || jsonb_build_object('aggregates', v_aggregates, 'by', '[]'::jsonb);
  p_state.node := p_plan;
  if p_state.texts[p_state."at"] = 'by' then
    return logloom_private.query_parse_by(p_state, p_plan);
  end if;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_any_of (
  p_state logloom_private.query_state,
  p_field jsonb,
  p_sign  text
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_depth constant integer := p_state.depth;
  v_values jsonb := '[]'::jsonb;
  v_items jsonb[] := '{}'::jsonb[];
  v_token text;
  v_position integer;
begin
  p_state := logloom_private.query_deepen(p_state, p_state.positions[p_state."at"]);
  p_state."at" := p_state."at" + 1;
  loop
    v_token := p_state.texts[p_state."at"];
    v_position := p_state.positions[p_state."at"];
    if v_token in ('AND', 'NOT') then
      perform logloom_private.refuse_at(v_position, 'query.word_is_not_for_lists', v_token);
    elsif v_token = 'OR' or not logloom_private.query_is_term(v_token) then
      perform logloom_private.refuse_at(v_position, 'query.value_is_missing_in_a_list');
    end if;
    p_state := logloom_private.query_count_leaf(p_state, v_position);
    if lower(v_token collate "C") in ('and', 'or', 'not') then
      p_state := logloom_private.query_warn(
        p_state, v_position, v_token || ' is read as a value: write OR in upper case', 'OR'
      );
    elsif right(v_token, 1) = ',' and char_length(v_token) > 1 then
      p_state := logloom_private.query_warn(
        p_state, v_position, 'A comma does not separate values: ' || v_token
          || ' is read as one value', rtrim(v_token, ',') || ' OR'
      );
    end if;
    p_state := logloom_private.query_check_value(p_state, p_field, p_sign, v_token, v_position);
    if p_state.node ->> 'test' = 'equal' then
      v_values := v_values || (p_state.node -> 'values');
    else
      v_items := v_items || p_state.node;
    end if;

    p_state := logloom_private.query_advance(p_state);
    exit when p_state.texts[p_state."at"] = ')';
    if p_state.texts[p_state."at"] = 'OR' then
      p_state := logloom_private.query_advance(p_state);
    end if;
  end loop;

  if jsonb_array_length(v_values) > 0 then
    v_items := logloom_private.query_leaf(
      p_field,
      jsonb_build_object('test', 'equal', 'values', v_values, 'folds_case', p_sign = 'i=')
    ) || v_items;
  end if;
  p_state.node := case when cardinality(v_items) = 1 then v_items[1]
    else jsonb_build_object('type', 'or', 'items', to_jsonb(v_items)) end;
  p_state."at" := p_state."at" + 1;
  p_state.depth := v_depth;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_by (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names text[] := array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a);
  v_name text;
  v_width text;
  v_first integer;
begin
  loop
    p_state."at" := p_state."at" + 1;
    v_first := p_state."at";
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
        'bucket',
        rtrim(v_width, 'smhdw')::bigint * logloom_private.seconds_of(right(v_width, 1))::bigint
      );
      v_name := 'ts';
      p_state."at" := p_state."at" + 3;
    else
      if p_state.texts[v_first] ~ '^[1-9][0-9]{0,4}[smhdw]$' then
        perform logloom_private.refuse_at(
          p_state.positions[v_first], 'stages.width_is_a_bracket',
          logloom_private.query_excerpt(p_state.texts[v_first]), p_state.texts[v_first]
        );
      end if;
      p_state := logloom_private.query_stage_field(p_state, 'stages.by_needs_a_field', 'by');
      p_plan := p_plan || jsonb_build_object('by', (p_plan -> 'by') || p_state.node);
      v_name := p_state.node ->> 'name';
    end if;
    if v_name = any(v_names) then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'stages.two_columns_of_one_name', v_name
      );
    end if;
    v_names := v_names || v_name;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_condition (
  p_state   logloom_private.query_state,
  p_filters logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_filter logloom_private.query_state := p_state;
begin
  v_filter."at" := array_position(p_filters.positions, p_state.positions[p_state."at"]);
  if p_state.texts[p_state."at"] <> '(' or v_filter."at" is null then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'stages.condition_is_missing'
    );
  end if;
  v_filter.texts := p_filters.texts;
  v_filter.positions := p_filters.positions;
  v_filter := logloom_private.query_parse_item(v_filter);
  v_filter.texts := p_state.texts;
  v_filter.positions := p_state.positions;
  v_filter."at" := (
    select min(t.n)
    from unnest(p_state.positions) with ordinality t (position, n)
    where t.position >= p_filters.positions[v_filter."at"]
  );
  return v_filter;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_extract (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stage constant text := p_state.texts[1];
  v_token constant text := p_state.texts[2];
  v_position constant integer := p_state.positions[2];
  v_parts jsonb;
  v_named text[];
begin
  if v_token !~ '^"(?:[^"\\]|\\.)*"$' then
    perform logloom_private.refuse_at(v_position, 'stages.extract_needs_a_pattern', v_stage);
  elsif v_stage = 'extract' then
    v_parts := logloom_private.query_extract_parts(
      logloom_private.query_text(v_token), v_position
    );
  else
    v_parts := logloom_private.query_regex(v_token, v_position, true);
    p_state := logloom_private.query_spend(p_state, (v_parts -> 'steps')::integer);
    v_parts := v_parts || jsonb_build_object(
      'test', 'regex', 'values', array[v_parts ->> 'pattern']
    );
  end if;
  v_named := array(select n from jsonb_array_elements_text(v_parts -> 'names') n where n <> '');
  if v_named = '{}' then
    perform logloom_private.refuse_at(
      v_position, 'stages.extract_names_nothing', v_stage,
      case v_stage when 'extract' then '"<method> <path>"' else '"took (?P<ms>[0-9]+)ms"' end
    );
  elsif (select count(distinct n) from unnest(v_named) n) < cardinality(v_named) then
    perform logloom_private.refuse_at(v_position, 'stages.extract_names_twice', v_stage);
  end if;
  p_state."at" := 3;
  p_state.node := logloom_private.query_field('msg', v_position);
  if p_state.texts[3] = 'from' then
    p_state."at" := 4;
    p_state := logloom_private.query_text_field(p_state, v_stage);
  end if;
  p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]') || (
    v_parts || jsonb_build_object('stage', v_stage, 'field', p_state.node)
  ));
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_figure (
  p_state logloom_private.query_state,
  p_names text[]
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
begin
  if v_token in ('-', '(') then
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    if v_token = '-' then
      p_state := logloom_private.query_parse_figure(p_state, p_names);
      p_state.node := jsonb_build_object(
        'operator', '-', 'items', jsonb_build_array('{"number": "0"}'::jsonb, p_state.node)
      );
    else
      p_state := logloom_private.query_parse_formula(p_state, p_names, 1);
      if p_state.texts[p_state."at"] <> ')' then
        perform logloom_private.refuse_at(
          p_state.positions[p_state."at"], 'query.bracket_is_not_closed', v_position::text
        );
      end if;
      p_state."at" := p_state."at" + 1;
    end if;
    p_state.depth := v_depth;
    return p_state;
  end if;
  if v_token ~ '^[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$' then
    perform logloom_private.query_check_double(v_token, v_position);
    p_state.node := jsonb_build_object('number', v_token);
  elsif v_token = any(p_names) then
    p_state.node := jsonb_build_object('result', v_token);
  else
    perform logloom_private.refuse_at(
      v_position,
      case v_token when '' then 'stages.math_ends_early' else 'stages.math_result_is_unknown' end,
      logloom_private.query_excerpt(v_token), array_to_string(p_names, ', ')
    );
  end if;
  p_state := logloom_private.query_count_leaf(p_state, v_position);
  p_state."at" := p_state."at" + 1;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_formula (
  p_state logloom_private.query_state,
  p_names text[],
  p_level integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_operators constant text[] := case p_level when 1 then '{+,-}' else '{*,/,%}' end;
  v_operator text;
  v_left jsonb;
begin
  loop
    p_state := case p_level
      when 1 then logloom_private.query_parse_formula(p_state, p_names, 2)
      else logloom_private.query_parse_figure(p_state, p_names)
    end;
    if v_operator is not null then
      p_state.node := jsonb_build_object(
        'operator', v_operator, 'items', jsonb_build_array(v_left, p_state.node)
      );
    end if;
    v_operator := p_state.texts[p_state."at"];
    exit when v_operator <> all(v_operators);
    v_left := p_state.node;
    p_state."at" := p_state."at" + 1;
  end loop;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_free (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
begin
  p_state := logloom_private.query_count_leaf(p_state, v_position);
  if left(v_token, 1) <> '"' or logloom_private.query_is_escaped_in_vain(v_token) then
    p_state := logloom_private.query_warn_free(p_state);
  end if;
  if v_token = '*' then
    -- Matches every record, even one without a message. Stored counts can answer this, as they
    -- answer a query without a filter.
    p_state.node := '{"type": "all"}';
  else
    p_state := logloom_private.query_check_contains(
      p_state, logloom_private.query_field('msg', 1), v_token, v_position
    );
  end if;
  return logloom_private.query_advance(p_state);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_having (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_columns constant text[] := case when p_plan ? 'patterns' then array['count']
    else logloom_private.query_result_names(p_plan) end;
  v_having jsonb := coalesce(p_plan -> 'having', '[]');
  v_operator text;
  v_number text;
begin
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
    if v_number !~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 2], 'stages.number_is_missing', v_operator
      );
    end if;
    perform logloom_private.query_check_double(v_number, p_state.positions[p_state."at" + 2]);
    v_having := v_having || jsonb_build_object(
      'name', p_state.texts[p_state."at"], 'operator', v_operator, 'number', v_number
    );
    p_state."at" := p_state."at" + 3;
    exit when p_state.texts[p_state."at"] <> 'AND';
  end loop;
  p_state.node := p_plan || jsonb_build_object('having', v_having);
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_item (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_position constant integer := p_state.positions[p_state."at"];
  v_depth constant integer := p_state.depth;
  v_meant text;
begin
  p_state := logloom_private.query_spend(p_state, 1);
  if v_token = 'NOT' then
    p_state := logloom_private.query_advance(p_state);
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
  elsif v_token = '(' then
    if p_state.texts[p_state."at" + 1] = ')'
      and logloom_private.query_is_adjacent(p_state, p_state."at")
      and logloom_private.query_meant_aggregate(p_state.texts[p_state."at" - 1]) is not null
    then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at" + 1], 'stages.aggregate_needs_a_bar', ')',
        logloom_private.query_meant_stage(p_state.texts[p_state."at" - 1:], '{}')
      );
    end if;
    p_state := logloom_private.query_deepen(p_state, v_position);
    p_state."at" := p_state."at" + 1;
    p_state := logloom_private.query_parse_items(p_state, 'or');
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
    v_meant := case v_token
      when '{' then logloom_private.query_meant_selector(p_state.texts, p_state."at")
      when '[' then coalesce(
        logloom_private.query_meant_words(p_state.texts, p_state."at" - 2),
        logloom_private.query_meant_index(p_state.texts, p_state."at"),
        -- ['logs'] | where …
        case when p_state."at" = 1 and p_state.texts[2:3]::text like '{''%'',]}'
          then 'the query without [' || p_state.texts[2] || ']: there is one set of records' end
      ) end;
    if v_meant is not null then
      perform logloom_private.refuse_at(
        v_position, 'query.range_is_foreign', v_token, v_meant
      );
    end if;
    perform logloom_private.refuse_at(v_position, 'query.bracket_is_for_ranges', v_token);
  elsif v_token = '""' then
    perform logloom_private.refuse_at(v_position, 'query.quoted_text_is_empty');
  else
    return logloom_private.query_parse_term(p_state);
  end if;

  p_state := logloom_private.query_parse_item(logloom_private.query_deepen(p_state, v_position));
  p_state.node := jsonb_build_object('type', 'not', 'item', p_state.node);
  p_state.depth := v_depth;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_math (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_names constant text[] := logloom_private.query_result_names(p_plan);
  v_name text;
begin
  p_state := logloom_private.query_parse_formula(p_state, v_names, 1);
  if p_state.texts[p_state."at"] <> 'as' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"], 'stages.math_needs_a_name',
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  v_name := p_state.texts[p_state."at" + 1];
  if v_name !~ '^[A-Za-z_][A-Za-z0-9_]{0,59}$' then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at" + 1], 'stages.name_is_missing'
    );
  elsif v_name = any(v_names) or v_name = 'ts' and p_plan ? 'bucket'
    or p_plan -> 'by' @> jsonb_build_array(jsonb_build_object('name', v_name))
  then
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at" + 1], 'stages.two_columns_of_one_name', v_name
    );
  end if;
  p_state."at" := p_state."at" + 2;
  p_state.node := p_plan || jsonb_build_object(
    'math', coalesce(p_plan -> 'math', '[]') || jsonb_build_object(
      'name', v_name, 'formula', p_state.node
    )
  );
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_range (
  p_state logloom_private.query_state,
  p_field jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first constant integer := p_state."at";
  v_end constant integer := least(
    array_position(p_state.texts, ']', v_first), array_position(p_state.texts, '}', v_first)
  );
begin
  p_state."at" := v_first + 1;
  for v_part in 1 .. 3 loop
    if v_part = 2 and p_state.texts[p_state."at"] <> 'TO' and v_end is not null and (
      p_state.texts[p_state."at" - 1] ~ '^[^"]*,' or p_state.texts[p_state."at"] like ',%'
    ) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'query.list_is_in_brackets',
        p_field ->> 'name' || ':(' || regexp_replace(
          array_to_string(p_state.texts[v_first + 1:v_end - 1], ' '), '\s*,\s*', ' OR ', 'g'
        ) || ')'
      );
    elsif v_part = 2 and p_state.texts[p_state."at"] <> 'TO' then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.to_is_missing');
    elsif not logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(p_state.positions[p_state."at"], 'query.bound_is_missing');
    end if;
    p_state := logloom_private.query_advance(p_state);
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_sort (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns constant text[] := case
    when p_plan ? 'patterns' then array['count', 'first', 'last', 'pattern']
    when not v_rows then array['ts']
    else logloom_private.query_result_names(p_plan)
      || case when p_plan ? 'bucket' then array['ts'] else '{}'::text[] end
      || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b)
  end;
  v_keys jsonb := '[]';
  v_name text;
begin
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(
      p_state.positions[2],
      'stages.sort_needs_by',
      logloom_private.query_meant_order(p_state.texts[2:3], v_columns)
    );
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if v_name ~* '^(?:\(|-.*|asc|desc)$' and not v_name = any (v_columns) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'stages.sort_order_comes_last',
        logloom_private.query_excerpt(v_name),
        logloom_private.query_meant_order(
          p_state.texts[p_state."at":p_state."at" + case v_name when '(' then 3 else 1 end],
          v_columns
        )
      );
    elsif not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
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
    elsif p_state.texts[p_state."at"] ~* '^(?:asc|desc)$' then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"], 'stages.bar_is_missing', 'sort',
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        '| sort by ' || v_name || ' ' || lower(p_state.texts[p_state."at"] collate "C")
      );
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_stage (
  p_state   logloom_private.query_state,
  p_plan    jsonb,
  p_filters logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_stage constant text := p_state.texts[1];
  v_is_aggregate constant boolean :=
    v_stage not in (
      'json', 'logfmt', 'extract', 'extract_regexp', 'where', 'patterns', 'math', 'sort', 'limit',
      'fields'
    );
  v_fields jsonb := '[]';
  v_meant text;
begin
  if not v_is_aggregate then
    perform logloom_private.query_check_order(p_plan, v_stage, p_state.positions[1]);
  end if;
  p_state."at" := 2;
  case v_stage
    when 'json', 'logfmt' then
      p_state := logloom_private.query_text_field(p_state, v_stage);
      p_state.node := p_plan || jsonb_build_object('rows', coalesce(p_plan -> 'rows', '[]')
        || jsonb_build_object('stage', v_stage, 'field', p_state.node));
    when 'extract', 'extract_regexp' then
      p_state := logloom_private.query_parse_extract(p_state, p_plan);
    when 'sort' then
      p_state := logloom_private.query_parse_sort(p_state, p_plan);
    when 'limit' then
      if p_state.texts[2] !~ '^[1-9][0-9]{0,5}$' then
        perform logloom_private.refuse_at(p_state.positions[2], 'stages.limit_is_out_of_range');
      end if;
      p_state."at" := 3;
      p_state.node := p_plan || jsonb_build_object('limit', p_state.texts[2]::integer);
    when 'fields' then
      loop
        -- Each field costs time for every record of an export's page.
        if jsonb_array_length(v_fields) >= 50 then
          perform logloom_private.refuse_at(
            p_state.positions[p_state."at"], 'stages.too_many_fields'
          );
        end if;
        p_state := logloom_private.query_stage_field(
          p_state, 'stages.fields_needs_a_field', 'fields'
        );
        v_fields := v_fields || p_state.node;
        exit when p_state.texts[p_state."at"] <> ',';
        p_state."at" := p_state."at" + 1;
      end loop;
      p_state.node := p_plan || jsonb_build_object('fields', v_fields);
    when 'where' then
      p_state := logloom_private.query_parse_having(p_state, p_plan);
    when 'math' then
      p_state := logloom_private.query_parse_math(p_state, p_plan);
    when 'patterns' then
      p_state.node := p_plan || '{"patterns": true}';
    else
      p_state."at" := 1;
      p_state := logloom_private.query_parse_aggregates(p_state, p_plan, p_filters);
  end case;
  if p_state.texts[p_state."at"] <> '' then
    v_meant := logloom_private.query_meant_stage(
      p_state.texts[p_state."at":cardinality(p_state.texts) - 1], p_state.node
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.bar_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"]),
        v_meant
      );
    end if;
    if v_stage = 'fields' or jsonb_array_length(p_state.node -> 'by') > 0 then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        'stages.comma_is_missing',
        case when v_is_aggregate then 'the aggregate' else v_stage end,
        logloom_private.query_excerpt(p_state.texts[p_state."at"])
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[p_state."at"],
      'stages.something_follows',
      case when v_is_aggregate then 'the aggregate' else v_stage end,
      logloom_private.query_excerpt(p_state.texts[p_state."at"])
    );
  end if;
  p_state.node := p_state.node || jsonb_build_object(
    'last', case when v_is_aggregate then 'an aggregate' else v_stage end
  );
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_stages (
  p_state  logloom_private.query_state,
  p_source text
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_plan jsonb := '{}';
  v_bar integer;
  v_next integer;
  v_meant text;
  v_read logloom_private.query_state;
begin
  while p_state.texts[p_state."at"] = '|' loop
    v_bar := p_state."at";
    if p_state.texts[v_bar + 1] = '|' and logloom_private.query_is_adjacent(p_state, v_bar + 1) then
      perform logloom_private.refuse_at(p_state.positions[v_bar + 1], 'stages.or_is_a_word');
    end if;
    if logloom_private.query_is_adjacent(p_state, v_bar)
      and logloom_private.query_is_adjacent(p_state, v_bar + 1)
    then
      v_meant := logloom_private.query_meant_values(p_source, p_state.positions[v_bar]);
      if v_meant is not null then
        perform logloom_private.refuse_at(
          p_state.positions[v_bar + 1], 'stages.or_joins_values', v_meant
        );
      end if;
    end if;
    if p_state.texts[v_bar + 1] = 'where' and not v_plan ?| array['aggregates', 'patterns'] then
      perform logloom_private.query_check_order(v_plan, 'where', p_state.positions[v_bar + 1]);
      p_state."at" := v_bar + 1;
      p_state := logloom_private.query_parse_filter(logloom_private.query_advance(p_state));
      v_plan := v_plan || jsonb_build_object(
        'last', 'where',
        'rows', coalesce(v_plan -> 'rows', '[]')
          || jsonb_build_object('stage', 'where', 'tree', p_state.node)
      );
    else
      v_next := v_bar + 1;
      while p_state.texts[v_next] not in ('|', '') loop
        v_next := v_next + 1;
      end loop;
      v_read := logloom_private.query_parse_stage(
        logloom_private.query_split(
          p_state,
          substr(
            p_source, p_state.positions[v_bar] + 1,
            p_state.positions[v_next] - p_state.positions[v_bar] - 1
          ),
          p_state.positions[v_bar] + 1,
          case when p_state.texts[v_bar + 1] = 'math' then logloom_private.query_math_tokens()
            else '(?:[^ \t\r\n\u00a0(),|"<>=!]|"(?:[^"\\]|\\.)*")+|[<>!]=' end
        ),
        v_plan,
        p_state
      );
      v_plan := v_read.node;
      p_state."at" := v_next;
      p_state.steps := v_read.steps;
      p_state.leaves := v_read.leaves;
      p_state.searched := v_read.searched;
      p_state.names_now := v_read.names_now;
      p_state.warnings := v_read.warnings;
    end if;
    v_plan := jsonb_build_object('first', jsonb_build_object(
      'stage', p_state.texts[v_bar + 1], 'position', p_state.positions[v_bar + 1]
    )) || v_plan || jsonb_build_object('count', coalesce((v_plan -> 'count')::integer, 0) + 1);
  end loop;
  p_state.node := v_plan;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_term (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first constant integer := p_state."at";
  v_at integer := v_first;
  v_name text := '';
  v_head text;
  v_operator text;
  v_field jsonb;
  v_colon integer;
  v_meant text;
begin
  if left(p_state.texts[v_first], 1) = '"' then
    return logloom_private.query_parse_free(p_state);
  end if;
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
      v_at := null;
      exit;
    end if;
    v_at := v_at + 1;
    if not logloom_private.query_is_adjacent(p_state, v_at)
      or not logloom_private.query_is_term(p_state.texts[v_at])
    then
      perform logloom_private.refuse_at(p_state.positions[v_at], 'query.colon_is_missing');
    end if;
  end loop;

  v_operator := left(v_name, 1);
  if v_name = '' then
    v_meant := logloom_private.query_meant_comparison(
      p_state.texts[v_first - 1] || '=' || case p_state.texts[v_first]
        when ':' then logloom_private.query_text(p_state.texts[v_first + 1])
        else substr(p_state.texts[v_first], 2) end
    );
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'query.colon_has_blanks', v_meant
      );
    end if;
    perform logloom_private.refuse_at(p_state.positions[v_first], 'query.field_is_missing');
  elsif v_operator in ('<', '>', '~') then
    v_meant := logloom_private.query_meant_words(p_state.texts, v_first - 1);
    if v_meant is not null then
      perform logloom_private.refuse_at(
        p_state.positions[v_first], 'query.comparison_has_blanks', v_operator, v_meant
      );
    end if;
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.operator_is_for_values', v_operator
    );
  elsif v_at is null then
    -- There is no colon, so it is a free term.
    return logloom_private.query_parse_free(p_state);
  end if;
  v_meant := case when v_name in ('_stream', 'stream') and p_state.texts[v_at + 1] = '{'
    then logloom_private.query_meant_selector(p_state.texts, v_at + 1)
    else logloom_private.query_meant_term(
      v_name,
      coalesce(
        nullif(substr(p_state.texts[v_at], char_length(v_head) + 2), ''), p_state.texts[v_at + 1]
      )
    ) end;
  if v_meant is not null then
    perform logloom_private.refuse_at(
      p_state.positions[v_first], 'query.field_is_of_another_language',
      logloom_private.query_excerpt(v_name), v_meant
    );
  end if;
  v_field := logloom_private.query_field(v_name, p_state.positions[v_first]);

  v_colon := p_state.positions[v_at] + char_length(v_head);
  p_state."at" := v_at;
  p_state := logloom_private.query_take(p_state, v_head || ':');
  if p_state.texts[p_state."at"] in ('', ')', ']', '}', '|')
    or p_state.positions[p_state."at"] <> v_colon + 1
  then
    if logloom_private.query_is_term(p_state.texts[p_state."at"]) then
      perform logloom_private.refuse_at(
        v_colon + 1, 'query.value_has_a_blank', logloom_private.query_excerpt(v_name || ':'),
        v_name || ':' || left(p_state.texts[p_state."at"], 60)
      );
    end if;
    perform logloom_private.refuse_at(
      v_colon + 1, 'query.value_is_missing', logloom_private.query_excerpt(v_name || ':')
    );
  end if;
  return logloom_private.query_parse_value(p_state, v_field);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_path_sql (
  p_path text[]
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text := '';
  v_run text[] := '{}';
  v_segment text;
begin
  foreach v_segment in array p_path || null::text loop
    if v_segment !~ '^\s*[-+]?[0-9]+$' then
      v_run := v_run || v_segment;
      continue;
    end if;
    v_sql := v_sql || case cardinality(v_run)
      when 0 then ''
      when 1 then ' -> ' || quote_literal(v_run[1])
      else ' #> ' || quote_literal(v_run::text)
    end || coalesce(' -> ' || quote_literal(v_segment), '');
    v_run := '{}';
  end loop;
  return v_sql;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex (
  p_token    text,
  p_position integer,
  p_captures boolean DEFAULT false
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_fold constant boolean := substr(p_token, 2, 4) = '(?i)';
  v_source text := substr(p_token, 2, char_length(p_token) - 2);
  v_position integer := p_position + 1;
  v_part text;
  v_sql text := '';
  v_bounds integer[];
  v_depth integer := 1;
  -- For each depth of groups: the size so far, and the size of the last atom (null: it cannot be
  -- repeated).
  v_sizes integer[] := array[0];
  v_atoms integer[] := array[null::integer];
  v_opened integer[] := array[0];
  v_steps integer := char_length(p_token);
  v_names text[] := '{}';
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
      '\\.|\[(?:\[:[a-z]+:\]|[^]\\]|\\.)*\]|\(\?.?|\(\?P?<[A-Za-z_][A-Za-z0-9_]{0,59}>'
        || '|(?:\{[^}]*\}|[*+?])\??'
        || '|[^][\\(){}|*+?.^$]+(?![*+?{])|.', 'g'
    ) with ordinality as m (match, n)
    order by m.n
  ) loop
    case
      when strpos('\[().*+?{|^$', left(v_part, 1)) = 0 then
        v_atoms[v_depth] := char_length(v_part);
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth];
        v_sql := v_sql
          || case when v_fold then logloom_private.folded_text(v_part) else v_part end;
      when left(v_part, 1) in ('*', '+', '?', '{') then
        if v_atoms[v_depth] is null then
          perform logloom_private.refuse_at(v_position, 'regex.nothing_to_repeat', v_part);
        elsif p_captures and v_part like '_%?' then
          perform logloom_private.refuse_at(v_position, 'regex.lazy_repeat_in_extract', v_part);
        end if;
        v_bounds := logloom_private.query_regex_bounds(
          left(v_part, 1) || rtrim(substr(v_part, 2), '?'), v_position
        );
        v_sizes[v_depth] := v_sizes[v_depth] + v_atoms[v_depth] * (greatest(v_bounds[2], 1) - 1)
          + 3 * (v_bounds[2] - v_bounds[1]);
        v_atoms[v_depth] := null;
        v_sql := v_sql || left(v_part, 1) || rtrim(substr(v_part, 2), '?');
      when v_part in ('(', '(?:') or p_captures and v_part ~ '^\(\?P?<.+>$' then
        v_depth := v_depth + 1;
        v_sizes[v_depth] := 1;
        v_atoms[v_depth] := null;
        v_opened[v_depth] := v_position;
        v_sql := v_sql || case when right(v_part, 1) = '>' then '(' else '(?:' end;
        if right(v_part, 1) = '>' then
          v_names := v_names || substring(v_part from '<(.*)>');
        end if;
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
        -- query_regex_range compares a folded range with all letters that have upper and lower
        -- case.
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
    'steps', v_steps, 'names', v_names
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_atom (
  p_part     text,
  p_position integer,
  p_fold     boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    case when p_fold then logloom_private.folded_text(substr(p_part, 2)) else substr(p_part, 2) end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_class (
  p_class    text,
  p_position integer,
  p_fold     boolean
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
        case when p_fold then logloom_private.folded_text(right(v_item, 1))
          else right(v_item, 1) end
      ));
      v_position := v_position + char_length(v_item);
      v_at := v_at + 1;
    end if;
  end loop;
  return case when v_negated then '[^' else '[' end || v_sql || ']';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_literal (
  p_char text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (p_char ~ '[!-/:-@[-`{-~]'::text) THEN ('\'::text || p_char) ELSE p_char END;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_range (
  p_from integer,
  p_to   integer,
  p_fold boolean
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    -- If the lower case of a letter is the next character, only that of the range's last letter
    -- lies outside the range. The same holds for the second small sigma.
    v_sql := v_sql || logloom_private.query_regex_literal(logloom_private.folded_text(chr(p_to)));
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_regex_set (
  p_name text,
  p_fold boolean
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN CASE p_name WHEN '\d'::text THEN '0-9'::text WHEN '\w'::text THEN '0-9A-Za-z_'::text WHEN '\s'::text THEN ' \t\n\r\f\v'::text WHEN '\D'::text THEN
  '\u0001-\u002f\u003a-\U0010ffff'::text WHEN '\W'::text THEN '\u0001-\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\U0010ffff'::text WHEN '\S'::text THEN
  '\u0001-\u0008\u000e-\u001f\u0021-\U0010ffff'::text WHEN '\n'::text THEN '\n'::text WHEN '\t'::text THEN '\t'::text WHEN '\r'::text THEN '\r'::text WHEN '[:alpha:]'::text THEN
  'A-Za-z'::text WHEN '[:digit:]'::text THEN '0-9'::text WHEN '[:alnum:]'::text THEN '0-9A-Za-z'::text WHEN '[:upper:]'::text THEN CASE WHEN p_fold THEN 'A-Za-z'::text ELSE
  'A-Z'::text END WHEN '[:lower:]'::text THEN 'a-z'::text WHEN '[:space:]'::text THEN ' \t\n\r\f\v'::text WHEN '[:blank:]'::text THEN ' \t'::text WHEN '[:punct:]'::text THEN
  '\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e'::text WHEN '[:xdigit:]'::text THEN '0-9A-Fa-f'::text WHEN '[:word:]'::text THEN '0-9A-Za-z_'::text ELSE NULL::text END;

CREATE OR REPLACE FUNCTION logloom_private.query_require_level (
  p_token    text,
  p_position integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_word constant text := lower(v_text collate "C");
  v_level constant text := coalesce(
    logloom_private.level_named(v_word),
    -- pino's numbers
    case when v_word ~ '^[1-9][0-9](?:\.[0-9]+)?$' then coalesce(
      (array['debug', 'debug', 'info', 'warn'])[left(v_word, 1)::integer], 'error'
    ) end
  );
begin
  if v_level is null and v_word ~ '^[a-z]+(?:,[a-z]+)+$' or v_word ~ '^(?:!=?[a-z]+|[a-z]+[,;])$'
  then
    perform logloom_private.refuse_at(
      p_position,
      'query.level_is_of_another_language',
      logloom_private.query_excerpt(v_text),
      case when v_word ~ '^!' then '-level:' || ltrim(v_word, '!=')
        when v_word ~ '[,;]$' then 'level:' || rtrim(v_word, ',;')
        else 'level:(' || replace(v_word, ',', ' OR ') || ')' end
    );
  elsif v_level is null or logloom_private.query_has_wildcard(p_token) then
    perform logloom_private.refuse_at(
      p_position, 'query.level_is_unknown', logloom_private.query_excerpt(v_text)
    );
  end if;
  return v_level;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_result_names (
  p_plan jsonb
)
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select r.item ->> 'name'
    from jsonb_array_elements(
      coalesce(p_plan -> 'aggregates', '[]') || coalesce(p_plan -> 'math', '[]')
    ) with ordinality r (item, n)
    order by r.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_sql (
  p_node    jsonb,
  p_alias   text,
  p_now_sql text  DEFAULT NULL::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_type constant text := p_node ->> 'type';
  v_heavy constant jsonpath :=
    'strict $.** ? (@.type == "leaf" && (@.field == "attrs" || @.field == "any"))';
  v_items text[];
  v_is_heavy boolean[];
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
      v_items := array(
        select logloom_private.query_sql(i.item, p_alias, p_now_sql)
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.n
      );
      v_is_heavy := array(
        select jsonb_path_exists(i.item, v_heavy)
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.n
      );
      if cardinality(array_positions(v_is_heavy, true)) > 1
        and jsonb_array_length(jsonb_path_query_array(p_node, v_heavy)) > 8
      then
        return logloom_private.query_items_sql(v_type, v_items, v_is_heavy);
      end if;
      return '(' || array_to_string(v_items, ' ' || v_type || ' ') || ')';
    when 'leaf' then
      if p_node ->> 'field' = 'any' then
        return '(' || logloom_private.query_any_sql(p_node, p_alias) || ')';
      end if;
      return '(' || logloom_private.query_test_sql(
        p_node, logloom_private.query_value_sql(p_node, p_alias), p_now_sql
      ) || ')';
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_text_field (
  p_state logloom_private.query_state,
  p_stage text
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_position constant integer := p_state.positions[p_state."at"];
begin
  p_state := logloom_private.query_stage_field(p_state, 'stages.needs_a_field', p_stage);
  if p_state.node ->> 'field' in ('ts', 'received_at', 'id', 'level') then
    perform logloom_private.refuse_at(v_position, 'stages.takes_a_text', p_stage);
  end if;
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_text_test (
  p_leaf  jsonb,
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_values constant jsonb := p_leaf -> 'values';
  v_value constant text := case when (p_leaf -> 'folds_case')::boolean
    then format(
      case when strpos(v_values::text, 'σ') > 0
        then 'replace(lower(%s collate pg_c_utf8), ''ς'', ''σ'')'
        else 'lower(%s collate pg_c_utf8)' end,
      p_value
    ) else p_value end;
begin
  return case p_leaf ->> 'test'
    when 'equal' then v_value || logloom_private.equal_test(v_values)
    when 'like' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'contains' then v_value || ' like ' || quote_literal(v_values ->> 0)
    when 'word' then v_value || ' ~ ' || quote_literal(v_values ->> 1)
    when 'regex' then v_value || ' collate "C" ~ ' || quote_literal(v_values ->> 0)
    when 'network' then
      'logloom_private.address_in(' || v_value || ', ' || quote_literal(v_values ->> 0) || '::inet)'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_any_text_sql (
  p_leaf  jsonb,
  p_value text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN
  ((((((((((('case jsonb_typeof('::text || p_value) || ')'::text) || ' when ''object'' then false when ''null'' then false'::text) ||
  ' when ''array'' then exists (select from jsonb_array_elements('::text) || p_value) || ') as e (v)'::text) ||
  ' where jsonb_typeof(e.v) in (''string'', ''number'', ''boolean'') and '::text) || logloom_private.query_text_test(p_leaf, '(e.v #>> ''{}'')'::text)) || ') else '::text) ||
  logloom_private.query_text_test(p_leaf, (('('::text || p_value) || ' #>> ''{}'')'::text))) || ' end'::text);

CREATE OR REPLACE FUNCTION logloom_private.query_time (
  p_token    text,
  p_position integer,
  p_now      timestamp with time zone
)
  RETURNS logloom_private.query_span
  LANGUAGE plpgsql
  STABLE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_text constant text := logloom_private.query_text(p_token);
  v_shift text[];
  v_seconds numeric;
  v_instant timestamptz := logloom_private.iso_instant(v_text);
begin
  if v_instant is not null then
    return (
      v_instant,
      -- A date is a whole UTC day.
      v_instant + case when char_length(v_text) = 10 then interval '24 hours'
        else interval '1 microsecond' end,
      false
    )::logloom_private.query_span;
  elsif v_text ~ '^(?:now|(?:now)?[+-][0-9]{1,10}[smhdw])$' then
    v_shift := regexp_match(v_text, '(.[0-9]+)(.)$');
    v_seconds := coalesce(v_shift[1]::numeric * logloom_private.seconds_of(v_shift[2]), 0);
    if abs(v_seconds) > 3155760000 then
      perform logloom_private.refuse_at(p_position, 'query.shift_is_too_long');
    end if;
    v_instant := p_now + make_interval(secs => v_seconds);
    return (v_instant, v_instant + interval '1 microsecond', true)::logloom_private.query_span;
  end if;
  perform logloom_private.refuse_at(
    p_position, 'query.not_a_time', logloom_private.query_excerpt(v_text)
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_tokenize (
  p_query_dsl text,
  p_now       timestamp with time zone
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_state logloom_private.query_state;
  v_stray integer;
  -- msg:/Failed password for (root|admin)/
  v_slashes constant text[] := regexp_match(
    p_query_dsl,
    '(?:^|[ (-])((?:msg|any|@[A-Za-z_][A-Za-z0-9_.]*):)'
      || '(/((?:[^/\\"]|\\.)*[ (|[{](?:[^/\\"]|\\.)*)/)(?:$|[ )])'
  );
begin
  v_state.depth := 0;
  v_state.leaves := 0;
  v_state.searched := 0;
  v_state.steps := 0;
  v_state."now" := p_now;
  v_state.names_now := false;
  v_state.warnings := '[]';
  v_state.node := '{"type": "all"}';
  -- Matches a quoted text, a bracket or bar, or a word.
  v_state := logloom_private.query_split(
    v_state, p_query_dsl, 1,
    '"(?:[^"\\]|\\.)*"|[][(){}|]|(?:[^] \t\r\n\u00a0[(){}|"\\]|\\.)+'
  );
  v_stray := least(array_position(v_state.texts, '"'), array_position(v_state.texts, '\'));
  if v_stray is not null then
    perform logloom_private.refuse_at(
      v_state.positions[v_stray],
      case v_state.texts[v_stray] when '"' then 'query.quote_is_not_closed'
        else 'query.backslash_escapes_nothing' end
    );
  elsif v_slashes[3] ~ '[(|[{]' then
    perform logloom_private.refuse_at(
      strpos(p_query_dsl, v_slashes[1] || v_slashes[2]) + char_length(v_slashes[1]),
      'query.slashes_are_text', v_slashes[1] || '~"' || v_slashes[3] || '"'
    );
  end if;
  return logloom_private.query_warn(
    v_state, strpos(p_query_dsl, v_slashes[1] || v_slashes[2]) + char_length(v_slashes[1]),
    'Slashes do not mark a regular expression: ' || v_slashes[2] || ' is read as a text',
    v_slashes[1] || '~"' || v_slashes[3] || '"'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_value_sql (
  p_field jsonb,
  p_alias text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_sql text;
begin
  if p_field ->> 'field' <> 'attrs' then
    return format('%I.%I', p_alias, p_field ->> 'field');
  end if;
  v_sql := format('%I.attrs', p_alias) || logloom_private.query_path_sql(
    array(select jsonb_array_elements_text(p_field -> 'path'))
  );
  if p_field ->> 'joined' is not null then
    return format(
      'coalesce(nullif(%s, ''null''), %I.attrs -> %L)', v_sql, p_alias, p_field ->> 'joined'
    );
  end if;
  return '(' || v_sql || ')';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_group_sql (
  p_field jsonb,
  p_alias text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN
  ((('('::text || logloom_private.query_value_sql(p_field, p_alias)) || CASE (p_field ->> 'field'::text) WHEN 'attrs'::text THEN ' #>> ''{}'''::text ELSE ''::text END) ||
  ')'::text);

CREATE OR REPLACE FUNCTION logloom_private.query_warn_free (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_token constant text := p_state.texts[p_state."at"];
  v_word constant text := lower(v_token collate "C");
  v_next constant text := lower(coalesce(p_state.texts[p_state."at" + 1], '') collate "C");
  v_time constant text := logloom_private.query_meant_time(p_state.texts, p_state."at");
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_state.warnings -> 0 ->> 'message' like 'SQL is not supported%' then
    -- Its suggestion is for the whole query.
    return p_state;
  end if;
  v_suggestion := logloom_private.query_meant_words(p_state.texts, p_state."at");
  if v_suggestion is not null then
    v_message := format('%s is read as a word: write a colon after a field', v_token);
  elsif exists (
    select
    from generate_series(1, 6) n
    where p_state.positions[p_state."at" - n]
        = (p_state.warnings -> -1 ->> 'position')::integer
      and (n < 3 or lower(p_state.texts[p_state."at" - n + 1] collate "C") = 'in')
      and logloom_private.query_meant_words(p_state.texts, p_state."at" - n) is not null
  ) then
    -- This term is a part of a comparison that already has its warning.
    return p_state;
  elsif v_word in ('and', 'or', 'not') and (p_state."at" > 1 or v_next not in ('', '|')) then
    v_message := format('%s is read as a word: write operators in upper case', v_token);
    v_suggestion := upper(v_word);
  elsif v_word in ('count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'rate', 'stats', 'sort')
    and v_next = 'by'
  then
    v_message := format('%s by is read as words: write an aggregate after a |', v_token);
    v_suggestion := case v_word when 'sort' then '| sort by ' when 'rate' then '| rate() by '
      else '| count() by ' end || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_word in ('order', 'group') and v_next = 'by' then
    v_message := format('%s by is read as words: write a stage after a |', v_token);
    v_suggestion := case v_word when 'order' then '| sort by ' else '| count() by ' end
      || coalesce(p_state.texts[p_state."at" + 2], '');
  elsif v_next = '(' and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
    and v_word not in ('and', 'or', 'not')
  then
    -- Finds calls such as avg(duration_ms), exists(user_id), i(error). They are not errors, because
    -- (a)(b) needs no blank either.
    v_message := format('%s is read as a word, and its brackets as more terms', v_token);
    v_suggestion := case v_word
      when 'exists' then
        logloom_private.query_meant_name(p_state.texts[p_state."at" + 2]) || ':*'
      else coalesce(
        logloom_private.query_meant_network(p_state.texts[p_state."at":]),
        logloom_private.query_meant_words(p_state.texts, p_state."at" + 2),
        logloom_private.query_meant_stage(p_state.texts[p_state."at":], '{}')
      ) end;
  elsif v_word in ('limit', 'head', 'take', 'top') and v_next ~ '^[0-9]+$' then
    v_message := format('%s is read as a word: write a stage after a |', v_token);
    v_suggestion := '| limit ' || v_next;
  elsif v_time is not null then
    v_message := format('%s is read as a word: write a time as a term', v_token);
    v_suggestion := v_time;
  elsif p_state."at" = 1 and logloom_private.query_meant_start(p_state.texts) is not null then
    v_message := case v_word when 'select'
      then 'SQL is not supported: each word is searched for in msg'
      else format('%s is read as a word: a query begins with its terms', v_token) end;
    v_suggestion := logloom_private.query_meant_start(p_state.texts);
  elsif v_token ~ '^[+]?[0-9]{1,10}[smhdw]$' and p_state.texts[p_state."at" - 1] = 'now' then
    v_message := format('%s is read as a text: write a shift from now without a blank', v_token);
    v_suggestion := 'now' || case left(v_token, 1) when '+' then '' else '-' end || v_token;
  elsif v_token in ('!=', '!~') and p_state.texts[p_state."at" + 1] like '"%' then
    v_message := format('%s is read as a word: negate with -', v_token);
    v_suggestion := case v_token when '!~' then '-msg:~' else '-' end
      || p_state.texts[p_state."at" + 1];
  elsif v_token ~ '^!.' then
    v_message := v_token || ' is read as a text: negate with -';
    v_suggestion := '-' || substr(v_token, 2);
  elsif v_token ~ '^[+][[:alpha:]]' then
    v_message := v_token || ' is read as a text: every term is required without +';
    v_suggestion := substr(v_token, 2);
  elsif v_token ~ '^[[:alpha:]]+[~^][0-9.]*$' then
    v_message := v_token || ' is read as a text: there are no fuzzy or boosted terms';
    v_suggestion := rtrim(v_token, '~^.0123456789');
  elsif v_token ~ '^%.+%$' then
    v_message := '% is not a wildcard: a word is found anywhere in msg';
    v_suggestion := btrim(v_token, '%');
  else
    v_trap := logloom_private.query_word_trap(p_state, v_token);
    v_message := v_trap[1];
    v_suggestion := case when left(v_trap[2], 1) = '~' then 'msg:' else '' end
      || v_trap[2];
    if v_message is null then
      v_suggestion := logloom_private.query_meant_comparison(v_token);
      v_message := v_token || ' is read as a text: write a colon after a field';
    end if;
  end if;
  return logloom_private.query_warn(
    p_state, p_state.positions[p_state."at"], v_message, v_suggestion
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_warn_value (
  p_state    logloom_private.query_state,
  p_field    jsonb,
  p_sign     text,
  p_token    text,
  p_position integer
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_field ->> 'name';
  v_parts constant text[] := regexp_match(
    p_token, '^([^",;\\]+)[,;]+(@?[[:alpha:]_][[:alnum:]_.@]*:.+)?$'
  );
  v_trap text[];
  v_message text;
  v_suggestion text;
begin
  if p_position = (p_state.warnings -> -1 ->> 'position')::integer then
    return p_state;
  elsif p_sign = '=' then
    -- A second =, or a comparison of another language.
    if p_token ~ '^=+[^=]' then
      v_message := 'The second = is read as part of the value';
      v_suggestion := format('%s:=%s', v_name, ltrim(p_token, '='));
    elsif p_token ~ '^[<>].' then
      v_message := format('%s is read as a value: write > or < before =', p_token);
      v_suggestion := format('%s:%s=%s', v_name, left(p_token, 1), substr(p_token, 2));
    end if;
  elsif left(p_token, 1) = '"' and not logloom_private.query_is_escaped_in_vain(p_token) then
    return p_state;
  elsif p_token ~* '^!=*null$' then
    v_message := 'null is read as a text: write field:* for any value';
    v_suggestion := v_name || ':*';
  elsif p_token = 'in' and p_state.texts[p_state."at" + 1] = '('
    and logloom_private.query_is_adjacent(p_state, p_state."at" + 1)
  then
    v_message := 'in is read as a value, and its brackets as more terms';
    v_suggestion := v_name || ':(' || regexp_replace(
      array_to_string(
        p_state.texts[p_state."at" + 2:array_position(p_state.texts, ')', p_state."at") - 1], ' '
      ),
      '\s*,\s*', ' OR ', 'g'
    ) || ')';
  elsif p_token ~ '^!=*.' then
    v_message := format('%s is read as a value: negate with - before the field', p_token);
    v_suggestion := format('-%s:%s', v_name, regexp_replace(p_token, '^!=*', ''));
  elsif p_token ~* '^null$' then
    v_message := 'null is read as a text: write -field:* for a missing value';
    v_suggestion := format('-%s:*', v_name);
  elsif v_parts is not null then
    v_message := format('A comma does not separate terms: %s is read as one value', p_token);
    v_suggestion := concat_ws(' ', v_name || ':' || v_parts[1], v_parts[2]);
  elsif (p_field ->> 'field') in ('service', 'env', 'host')
    and p_token ~ '^[^,\\]+(?:,[^,\\]+)+$'
  then
    v_message := 'A comma does not separate values: this is one value';
    v_suggestion := format('%s:(%s)', v_name, replace(p_token, ',', ' OR '));
  elsif p_field ->> 'field' = 'attrs' and p_token ~* '^[1-5]xx$' then
    v_message := format('%s is read as a text: write a range of numbers', p_token);
    v_suggestion := format('%s:[%s00 TO %2$s99]', v_name, left(p_token, 1));
  elsif p_field ->> 'field' = 'attrs'
    and p_token ~ '^[0-9]{1,6}(?:\.[0-9]+)?(?:-|\.\.)[1-9][0-9]{0,5}(?:\.[0-9]+)?$'
    and substring(p_token from '^[0-9]+')::integer
      < substring(p_token from '(?:-|\.\.)([0-9]+)')::integer
  then
    v_message := format('%s is read as a text: write a range of numbers', p_token);
    v_suggestion := format('%s:[%s]', v_name, regexp_replace(p_token, '-|\.\.', ' TO '));
  elsif p_token ~ '^%[^%]+%$|^\.\*[^.]+(?:\.\*)?$' then
    v_message := format('%s is read as a text: the wildcard is *', p_token);
    v_suggestion := v_name || ':' || translate(p_token, '%.', '*');
  else
    v_trap := logloom_private.query_word_trap(p_state, p_token);
    v_message := v_trap[1];
    v_suggestion := v_name || ':' || v_trap[2];
  end if;
  if v_suggestion is null then
    return p_state;
  end if;
  return logloom_private.query_warn(p_state, p_position, v_message, v_suggestion);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_word_trap (
  p_state logloom_private.query_state,
  p_token text
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_quote constant text := left(p_token, 1);
  v_end integer;
begin
  if p_token ~ '[“”„‟«»＂：]' or p_token ~ '^[‘‚’‹]' then
    return array[
      'Typographic quotes and colons have no meaning: ' || p_token || ' is read as a text',
      translate(p_token, '“”„‟«»＂：‘‚’‹', '""""""":""""')
    ];
  elsif v_quote in ('''', '`') and char_length(p_token) > 1 then
    select min(n) into v_end
    from generate_series(p_state."at", cardinality(p_state.texts)) n
    where right(p_state.texts[n], 1) = v_quote;
    if v_end is not null then
      return array[
        case v_quote when '`' then 'Backquotes' else 'Single quotes' end
          || ' do not quote: ' || p_token || ' is read as a text',
        '"' || btrim(
          p_token || coalesce(
            ' ' || array_to_string(p_state.texts[p_state."at" + 1:v_end], ' '), ''
          ), ' ' || v_quote
        ) || '"'
      ];
    end if;
  elsif strpos(p_token, '&&') > 0 then
    return array[
      '&& is read as a text: terms side by side mean AND',
      replace(p_token, '&&', case p_token when '&&' then 'AND' else ' AND ' end)
    ];
  elsif logloom_private.query_is_escaped_in_vain(p_token) then
    return array[
      'A backslash makes the next character literal: '
        || logloom_private.query_excerpt(btrim(p_token, '"')),
      case when p_token ~ '^[^"].*\\[dDwWsS](?:[^[:alnum:]]|$)|^\\[dDwWsS]'
        then '~"' || p_token || '"'
        else '"' || replace(btrim(p_token, '"'), '\', '\\') || '"' end
    ];
  elsif p_token ~ '^/.*[.*+?\\^$].*/$' then
    return array[
      'Slashes do not mark a regular expression: ' || p_token || ' is read as a text',
      '~"' || replace(btrim(p_token, '/'), '"', '\"') || '"'
    ];
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.queue_limit (
  p_hard_limit  bigint,
  p_max_storage bigint
)
  RETURNS bigint
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    p_hard_limit,
    case when p_max_storage is null then 1 << 30 else greatest(p_max_storage / 10, 64 << 20) end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.range_sql (
  p_bounds       jsonb,
  p_value        text,
  p_is_attribute boolean
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_number constant text := 'logloom_private.text_number(' || p_value || ' #>> ''{}'')';
begin
  if not p_is_attribute then
    return coalesce(
      logloom_private.bounds_sql(p_bounds, p_value || ' collate "C"'), p_value || ' is not null'
    );
  elsif p_bounds ->> 'unit' is not null then
    return logloom_private.bounds_sql(
      p_bounds,
      'logloom_private.quantity(case jsonb_typeof(' || p_value || ') when ''string'' then '
        || p_value || ' #>> ''{}'' end, ' || quote_literal(p_bounds ->> 'unit') || ')',
      '::numeric'
    );
  end if;
  -- jsonb sorts by type before value, so the type is tested first.
  return 'case jsonb_typeof(' || p_value || ') when ''number'' then '
    || coalesce(logloom_private.bounds_sql(p_bounds, p_value), 'true')
    || ' when ''string'' then '
    || coalesce(
      logloom_private.bounds_sql(p_bounds, v_number, '::numeric'), v_number || ' is not null'
    )
    || ' end';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rate_refusal (
  p_bucket logloom_private.rate_buckets,
  p_plan   logloom.plans,
  OUT      error text,
  OUT      rate integer,
  OUT      seconds double precision,
  OUT      headers jsonb
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_bucket.requests < 1 then
    error := 'ingest.too_many_requests';
    rate := p_plan.requests_per_second;
    seconds := (1 - p_bucket.requests) / rate;
  elsif p_bucket.events < 1 then
    error := 'ingest.too_many_events';
    rate := p_plan.events_per_second;
    seconds := (1 - p_bucket.events) / rate;
  else
    return;
  end if;
  -- For up to 3 seconds, the function ingest may repeat this refusal without asking the database.
  headers := jsonb_build_object(
    'X-Logloom-Hold',
    jsonb_build_object(
      'seconds', least(seconds, 3),
      'retry_after', ceil(seconds),
      'limit', rate,
      'error', (logloom_private.error_named(error, array[rate::text])).message
    )::text
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_group (
  p_group_id    bigint,
  p_needed_from timestamp with time zone,
  p_round       logloom_private.alert_rounds,
  p_now         timestamp with time zone,
  p_deadline    timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- How long filling a group may take, over all rounds.
  v_fill_budget_ms constant integer := 30000;
  v_began timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_reading logloom_private.alert_reading;
  v_use text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  v_use := logloom_private.add_alert_partials_sql(
    'select ' || p_group_id || ' as group_id, f.* from found f', v_group
  );
  if v_group.write_seq < p_round.write_seq_to then
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_group.filled_from, 'infinity', null,
      case
        when v_group.filled_id is null then 'true'
        else format(
          '(l.ts, l.id) >= (%L::timestamptz, %L::uuid)', v_group.filled_from, v_group.filled_id
        )
      end,
      v_use, v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records,
      v_group.write_seq
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return;
    end if;
    update logloom_private.alert_groups g
    set
      write_seq = p_round.write_seq_to,
      ms_per_record = logloom_private.milliseconds_since(v_began)
        / greatest(v_reading.records, 1),
      failures = 0
    where g.group_id = p_group_id
    returning g.* into v_group;
    v_began := clock_timestamp();
  end if;

  if v_group.filled_from < p_needed_from
    or (v_group.filled_from = p_needed_from and v_group.filled_id is null)
  then
    return;
  elsif v_group.write_seq is null then
    delete from logloom_private.alert_partials p where p.group_id = p_group_id;
    v_group.write_seq := p_round.write_seq_to;
    -- Later than any ts that ingest accepts.
    v_group.filled_from := p_round.window_end + v_settings.ingest_future_limit + interval '1 day';
  end if;
  v_reading := logloom_private.read_alert_pieces(
    v_group.tenant_id, p_needed_from, v_group.filled_from, v_group.filled_id,
    'l.write_seq <= ' || v_group.write_seq, v_use, p_deadline,
    v_settings.alert_rule_records - v_group.records_read
  );
  v_group.records_read := v_group.records_read + v_reading.records;
  v_group.spent_ms := v_group.spent_ms + logloom_private.milliseconds_since(v_began);
  if not v_reading.is_complete and (
    v_group.spent_ms > v_fill_budget_ms
    or v_group.records_read > v_settings.alert_rule_records
  ) then
    perform logloom_private.rest_alert_group(
      v_group, p_now, v_group.records_read, v_group.spent_ms
    );
    return;
  end if;
  if v_reading.is_complete then
    v_reading.first_ts := p_needed_from;
    v_reading.first_id := null;
    v_group.records_read := 0;
    v_group.spent_ms := 0;
    v_group.failures := 0;
  end if;
  update logloom_private.alert_groups g
  set
    write_seq = v_group.write_seq,
    filled_from = v_reading.first_ts,
    filled_id = v_reading.first_id,
    records_read = v_group.records_read,
    spent_ms = v_group.spent_ms,
    ms_per_record = case
      when v_reading.records >= 100
        then logloom_private.milliseconds_since(v_began) / v_reading.records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = v_group.failures
  where g.group_id = p_group_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_history (
  p_scope        logloom_private.reading_scope,
  p_tenant_id    text,
  p_rule_id      uuid,
  p_ts_from      text,
  p_ts_to        text,
  p_acknowledged boolean,
  p_limit        integer,
  p_after        uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because callers who may only read reach no table
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean := logloom_private.sees_addresses(v_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = v_scope.view_id
  );
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
    )
  );
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- Planning takes a tenth of a call. Without these parameters the same plan always fits, and is
  -- kept. With them the query is planned for their values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select e.*
  from (
    select h.alert, sum(octet_length((h.alert)."group"::text)) over (
      order by (h.alert).triggered_at desc, (h.alert).alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h as alert
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) h
  ) h
  left join logloom.alert_incidents i on i.incident_id = (h.alert).incident_id
  cross join lateral logloom_private.alert_entry_of(h.alert, i.resolved_at, v_sees_addresses) e
  -- A group can be as long as a message.
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by (h.alert).triggered_at desc, (h.alert).alert_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_rules (
  p_scope     logloom_private.reading_scope,
  p_tenant_id text,
  p_limit     integer,
  p_after     uuid
)
  RETURNS SETOF public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because callers who may only read reach no table
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
  v_sees_addresses constant boolean := logloom_private.sees_addresses(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- 300 rules always fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_windows (
  p_round logloom_private.alert_rounds,
  p_now   timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_began constant timestamptz := clock_timestamp();
  v_budget constant interval := (select s.alert_rule_budget from logloom_private.settings s);
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_pending record;
  v_tenant_id text;
  v_fired integer := 0;
begin
  v_rule_ids := logloom_private.plan_alert_rules(
    p_now, logloom_private.alert_step_rules() / 2
  );
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(
    p_round, logloom_private.alert_step_rules() * 2
  );
  if cardinality(v_group_ids) = 0 then
    for v_pending in
      with pending as materialized (
        select p.* from logloom_private.pending_alert_groups(p_round) p
      )
      select p.*
      from pending p
      where p.tenant_id = (
        select f.tenant_id
        from pending f
        left join logloom_private.alert_spending s on s.tenant_id = f.tenant_id
        -- The tenant that used the least time in this round comes first.
        order by coalesce(s.spent_ms, 0), f.tenant_id
        limit 1
      )
      order by p.place
    loop
      v_tenant_id := v_pending.tenant_id;
      v_group_ids := v_group_ids || v_pending.group_id;
      update logloom_private.alert_groups g set turn_at = p_now
      where g.group_id = v_pending.group_id;
      begin
        if v_pending.has_partials then
          perform logloom_private.read_alert_group(
            v_pending.group_id, v_pending.needed_from, p_round, p_now,
            v_began + v_budget
          );
        else
          v_fired := v_fired
            + logloom_private.scan_alert_group(v_pending.group_id, p_round, p_now);
        end if;
      exception when others then
        perform logloom_private.empty_alert_groups(
          array[v_pending.group_id], sqlerrm, p_round.window_end + interval '1 minute'
        );
      end;
      exit when clock_timestamp() > v_began + v_budget;
    end loop;
    if v_tenant_id is null then
      return null;
    end if;
  end if;
  v_fired := v_fired + logloom_private.judge_alert_rules(
    array(
      select r.rule_id
      from logloom_private.planned_alert_rules r
      where r.group_id = any(v_group_ids)
    ),
    p_round, p_now
  );
  if v_tenant_id is not null then
    insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
    values (v_tenant_id, logloom_private.milliseconds_since(v_began))
    on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  end if;
  return v_fired;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because service_role reads neither the queue nor the jobs
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_is_copied constant boolean := logloom_private.is_copied();
  v_checks constant jsonb := jsonb_build_object(
    'database', logloom_private.database_health(),
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(v_now),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ) || jsonb_build_object(
      'unsealed_secrets', logloom_private.unsealed_secret_count(),
      'console_url', (select s.console_url from logloom_private.settings s)
    ),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(v_now),
    'streams', logloom_private.stream_health(v_now),
    'archive', logloom_private.archive_health(v_now),
    'storage', logloom_private.storage_health(),
    'pre_request', logloom_private.pre_request_health(),
    'project', logloom_private.project_health(v_now),
    'installation', logloom_private.health_grade(
      case
        when v_is_restored then
          'Restored from a dump and not repaired: see Backup and restore in '
            || 'docs/guides/operations.md'
        when v_is_copied then
          'A copy of another project''s database, which neither sends nor archives: see A copy of '
            || 'the database in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case
        when v_is_restored then 'restored, not repaired'
        when v_is_copied then 'copied, not begun anew'
        else 'installed'
      end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_status constant text := logloom_private.worst_status(v_checks);
  -- The service is ready while a receiver fails, because the receiver belongs to one tenant. It is
  -- also ready while storage fills up, until ingest is refused.
  v_ready constant text := logloom_private.worst_status(
    v_checks - 'streams'
      - case v_checks #>> '{storage,status}' when 'degraded' then 'storage' else '' end
  );
begin
  return jsonb_build_object(
    'status', v_status,
    'timestamp', v_now,
    'checks', v_checks,
    'endpoints', (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    ) || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', v_ready = 'healthy',
        'status', v_ready,
        'checks', coalesce(
          logloom_private.unhealthy_checks(v_checks - '{jobs,streams}'::text[]), '{}'
        )
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', logloom_private.unhealthy_checks(v_checks -> 'jobs'),
            'queue', jsonb_build_object(
              'depth', v_checks -> 'queue' -> 'depth', 'reason', v_checks -> 'queue' -> 'reason'
            ),
            'writer', jsonb_build_object(
              'status', v_checks -> 'writer' -> 'status',
              'reason', v_checks -> 'writer' -> 'reason'
            )
          ))
      ),
      'detailed', jsonb_build_object(
        'available', v_status <> 'unhealthy', 'status', v_status, 'checks', v_checks
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_scope logloom_private.reading_scope,
  p_id    uuid,
  p_ts    timestamp with time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log');
  v_tenant_id constant text := v_scope.tenant_id;
  v_query constant logloom_private.compiled_query := logloom_private.query_of_scope(v_scope);
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_scope);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Search one second around p_ts: a client may send milliseconds instead of microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id contains the time of receipt. Most events are received soon after they happen.
  v_received_at := to_timestamp(
    ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then search all sealed records, because blocks have an index over ids. Then the days with rows,
  -- newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_query, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_changes (
  p_scope       logloom_private.reading_scope,
  p_query_dsl   text,
  p_ts_from     text,
  p_ts_to       text,
  p_limit       integer,
  p_before_from text,
  p_before_to   text
)
  RETURNS public.logloom_log_changes
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_changes');
  v_tenant_id constant text := v_scope.tenant_id;
  v_deadline constant timestamptz := clock_timestamp() + (
    select s.search_page_time from logloom_private.settings s
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_before constant tstzrange := case
    when p_before_from is null and p_before_to is null
      then tstzrange(lower(v_range) - (upper(v_range) - lower(v_range)), lower(v_range))
    else logloom_private.search_range(p_before_from, p_before_to)
  end;
  v_query logloom_private.compiled_query;
  v_fields text[];
  v_field text;
  v_answer public.logloom_log_changes;
begin
  perform logloom_private.take_search_slot(v_scope);
  if coalesce(p_limit, 20) not between 1 and 100 then
    perform logloom_private.refuse('search.changes_are_out_of_range');
  elsif v_before && v_range and not v_before @> v_range then
    perform logloom_private.refuse('search.compared_ranges_overlap');
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.changes := '{}';
  v_answer.warnings := logloom_private.warnings_of(v_query);
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'some records of the range before are no longer kept: new values may be older',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  select s.value into v_answer.records
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, 1) s;
  select s.value into v_answer.records_before
  from logloom_private.log_stats_of(v_tenant_id, v_query, v_before, 1) s;
  if v_before @> v_range then
    v_answer.records_before := v_answer.records_before - v_answer.records;
  end if;
  if v_answer.records > 0 and v_answer.records_before > 0 then
    execute format(
      'select array(select f.field from (%s) f (field, type, count, items) '
        'where f.field like ''attrs.%%'' and f.type in (''string'', ''number'', ''boolean'') '
        -- Takes only fields with few different values.
        'and (select sum(i.count) from unnest(f.items) i) * 2 >= f.count '
        -- Versions come first, because a new version explains most changes.
        'order by f.field ~* ''version|release|deploy|commit'' desc, f.count desc, '
        'f.field collate "C" limit 5)',
      logloom_private.log_fields_sql(
        logloom_private.newest_sample_sql(
          v_tenant_id, logloom_private.bound_query(v_tenant_id, v_query, v_range),
          logloom_private.sample_records(), logloom_private.sample_bytes()
        ),
        false
      )
    )
    into v_fields
    using null::text;
    -- null: patterns
    foreach v_field in array
      array['level', 'service', 'env', 'host', 'route', null]::text[] || v_fields
    loop
      continue when logloom_private.is_hidden(coalesce(v_field, 'msg'), v_query.hidden_fields);
      if clock_timestamp() > v_deadline then
        v_answer.warnings := v_answer.warnings || row(
          null, 'not all fields were compared, because that took too long',
          'Narrow the filter or the range of time.'
        )::public.logloom_query_warning;
        exit;
      end if;
      v_answer.changes := v_answer.changes || array(
        select c
        from logloom_private.facet_changes(
          v_tenant_id, v_query, v_range, v_before, v_field, v_answer.records,
          v_answer.records_before
        ) c
      );
    end loop;
  end if;
  v_answer.changes := array(
    select c
    from unnest(v_answer.changes) c
    order by
      c.score desc, array_position(array['new', 'gone', 'grown', 'shrunk'], c.change), c.kind,
      c.field collate "C", c.value collate "C"
    limit coalesce(p_limit, 20)
  );
  return v_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_scope  logloom_private.reading_scope,
  p_id     uuid,
  p_ts     timestamp with time zone,
  p_before integer,
  p_after  integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'get_log_context');
  v_log public.logloom_log_record;
  v_bytes bigint := (select s.max_page_bytes from logloom_private.settings s);
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := logloom_private.list_limit_max() / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_scope, p_id, p_ts);
  -- Each side gets half of the remaining bytes, and at least one record.
  v_bytes := greatest((v_bytes - logloom_private.answered_bytes(array[v_log])) / 2, 1);
  return query
  select b.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_before, 'desc', v_bytes)) b
  where b.host is not distinct from v_log.host and b.service is not distinct from v_log.service
  order by b.ts, b.id;
  return next v_log;
  return query
  select a.*
  from unnest(logloom_private.log_neighbours(v_scope, v_log, v_after, 'asc', v_bytes)) a
  where a.host is not distinct from v_log.host and a.service is not distinct from v_log.service;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_export (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_format    text,
  p_order     text,
  p_cursor    text,
  p_after     text
)
  RETURNS public.logloom_log_export
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role may read the state of the queue
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'export_logs');
  v_page public.logloom_log_page;
  v_export public.logloom_log_export;
  v_is_first constant boolean := p_cursor is null and p_after is null;
  v_plan jsonb;
  v_order text;
  v_header text;
  v_cells text[];
begin
  if p_format not in ('ndjson', 'csv', 'json') then
    perform logloom_private.refuse('search.format_is_unknown');
  elsif p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  v_plan := (logloom_private.parse_query(p_query_dsl)).plan;
  if p_after is not null and v_plan ? 'limit' then
    perform logloom_private.refuse('search.place_meets_limit');
  end if;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  -- Without a cursor, a relative start has moved on since the first page. In descending order the
  -- export would lose its last records.
  if p_after is not null and p_cursor is null and v_order = 'desc'
    and (p_ts_from ~ '^\s*[^n\s]') is not true then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_export.cursor := coalesce(
    p_cursor,
    logloom_private.export_cursor(
      logloom_private.search_range(p_ts_from, p_ts_to), v_order
    )
  );
  v_page := logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, null,
    logloom_private.cursor_after(v_export.cursor, p_after), v_order
  );
  v_export.records := cardinality(v_page.logs);
  v_export.next_cursor := v_page.next_cursor;
  if p_format = 'json' then
    v_export.text := '';
    select coalesce(json_agg(l), '[]') into v_export.logs from unnest(v_page.logs) l;
    return v_export;
  elsif p_format is distinct from 'csv' then
    select coalesce(string_agg(to_json(r.l)::text || e'\n', '' order by r.n), '')
    into v_export.text
    from (select l, row_number() over () as n from (select unnest(v_page.logs) as l) u) r;
    return v_export;
  end if;
  select
    -- Names need no apostrophe: a spreadsheet does not run @name as a formula.
    string_agg(
      case when c.name ~ '[",\r\n]' then '"' || replace(c.name, '"', '""') || '"' else c.name end,
      ','
    ),
    array_agg(logloom_private.csv_cell_sql(c.sql))
  into v_header, v_cells
  from logloom_private.csv_columns(v_plan -> 'fields') c;
  execute format(
    'select coalesce(string_agg(%s || e''\r\n'', '''' order by l.n), '''') '
      'from unnest($1) with ordinality l (%s, n)',
    array_to_string(v_cells, ' || '','' || '),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_export.text
  using v_page.logs;
  if v_is_first then
    v_export.text := v_header || e'\r\n' || v_export.text;
  end if;
  return v_export;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_name      text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '4MB'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_log_fields');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_edges timestamptz[];
  v_counts bigint[];
  v_is_whole boolean;
  v_fields public.logloom_log_field[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.bound_query(
    v_tenant_id, logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter'), v_range
  );
  v_edges := logloom_private.slice_edges(v_tenant_id, v_query);
  v_counts := logloom_private.slice_counts(v_tenant_id, v_query, v_edges);
  v_is_whole := coalesce(
    (select sum(c.count) from unnest(v_counts) c (count)) <= logloom_private.sample_records(), true
  ) and logloom_private.sample_is_whole(v_tenant_id, v_query);
  execute 'select array(select row(f.*)::public.logloom_log_field from ('
    || logloom_private.log_fields_sql(
    case when v_is_whole then logloom_private.newest_sample_sql(
      v_tenant_id, v_query, logloom_private.sample_records(), logloom_private.sample_bytes()
    )
    else logloom_private.spread_sample_sql(v_tenant_id, v_query, v_edges, v_counts) end,
    v_is_whole
  ) || ') f)'
  into v_fields
  using p_name;
  if not v_is_whole then
    v_fields := logloom_private.with_exact_fields(v_tenant_id, v_query, v_fields);
  end if;
  return query
  select f.*
  from unnest(v_fields) f
  order by f.count / f.records::numeric desc, f.field collate "C";
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_buckets   integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_histogram');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_overview (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer
)
  RETURNS public.logloom_log_overview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because only search functions may run SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_overview');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_length constant double precision := extract(epoch from upper(v_range) - lower(v_range));
  -- Shifted by whole days, because a load that comes every morning is not a change.
  v_shift constant interval := make_interval(hours => 24 * ceil(v_length / 86400)::integer);
  v_before constant tstzrange := tstzrange(lower(v_range) - v_shift, upper(v_range) - v_shift);
  v_seconds constant bigint := 60 * ceil(v_length / 86400)::bigint;
  v_records_lately bigint;
  v_query logloom_private.compiled_query;
  v_answer public.logloom_log_overview;
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.warnings := logloom_private.warnings_of(v_query);
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'some records of the range before are no longer kept: its counts are too low',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  execute format(
    $query$
      with counted as (
        select c.*, false as is_before, c.ts - $2 as age from (%s) c
        union all
        select c.*, true, c.ts - $2 + $4 from (%s) c
      ), parts as (
        select
          c.service, c.is_before, p.part, sum(c.count) as records,
          coalesce(sum(c.count) filter (where c.level = 'error'), 0) as errors,
          max(c.ts) filter (where c.count > 0) as last_seen
        from counted c
        cross join lateral (
          select least(
            greatest(floor(24 * extract(epoch from c.age) / extract(epoch from $3 - $2)), 0), 23
          )
        ) p (part)
        group by c.service, c.is_before, p.part
      ), services as (
        select
          p.service,
          coalesce(sum(p.records) filter (where not p.is_before), 0)::bigint as records,
          coalesce(sum(p.errors) filter (where not p.is_before), 0)::bigint as errors,
          coalesce(sum(p.records) filter (where p.is_before), 0)::bigint as records_before,
          coalesce(sum(p.errors) filter (where p.is_before), 0)::bigint as errors_before,
          max(p.last_seen) as last_seen,
          jsonb_object_agg(p.part, p.records) filter (where not p.is_before) as records_of,
          jsonb_object_agg(p.part, p.errors) filter (where not p.is_before) as errors_of,
          coalesce(sum(p.records) filter (where p.is_before and p.part = 23), 0)::bigint
            as records_before_lately,
          coalesce(sum(p.errors) filter (where p.is_before and p.part = 23), 0)::bigint
            as errors_before_lately
        from parts p
        group by p.service
      )
      select
        (select count(*) from services s where s.records > 0 or s.records_before > 0),
        (select sum(p.records) from parts p where p.part = 23),
        array(
          select row(
            s.service, s.records, s.errors, s.records_before, s.errors_before, s.last_seen,
            s.errors_before_lately,
            array(
              select coalesce((s.errors_of ->> n::text)::bigint, 0) from generate_series(0, 23) n
            ),
            s.records_before_lately,
            array(
              select coalesce((s.records_of ->> n::text)::bigint, 0) from generate_series(0, 23) n
            )
          )::public.logloom_log_service
          from services s
          where s.records > 0 or s.records_before > 0
          order by s.records desc, s.records_before desc, s.service collate "C"
          limit $1
        )
    $query$,
    logloom_private.counts_sql(v_tenant_id, v_query, v_range, v_seconds, '{level,service}'),
    logloom_private.counts_sql(v_tenant_id, v_query, v_before, v_seconds, '{level,service}')
  )
  into v_answer.total_services, v_records_lately, v_answer.services
  using v_limit, lower(v_range), upper(v_range), v_shift;
  -- Hosts are counted in the records themselves, so only in few.
  -- Hosts are counted in the records themselves, so only in few.
  if coalesce(v_records_lately, 0) <= 200000 then
    v_answer.silent_hosts := logloom_private.silent_hosts(v_tenant_id, v_query, v_range, v_shift);
  end if;
  return v_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_order text;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_received jsonb;
  v_left integer;
  v_cursor logloom_private.page_cursor;
  v_page record;
  v_next_cursor text;
begin
  perform logloom_private.take_search_slot(v_scope);
  v_cursor := logloom_private.decode_page_cursor(p_cursor);
  v_cursor."now" := coalesce(v_cursor."now", now());
  if v_cursor.received_before is not null then
    v_received := logloom_private.query_leaf(
      logloom_private.query_field('received_at', 1),
      jsonb_build_object(
        'test', 'within', 'bounds', jsonb_build_object('to', v_cursor.received_before)
      )
    );
    v_scope.filter := case when v_scope.filter is null then v_received
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_received)
      ) end;
  end if;
  v_range := logloom_private.search_range(
    p_ts_from, p_ts_to,
    case when p_cursor is not null then tstzrange(v_cursor.ts_from, v_cursor.ts_to) end
  );
  v_query := logloom_private.search_query(v_scope, p_query_dsl, v_cursor."now", 'records');
  -- The order of the query's sort, or p_order
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
  if v_cursor."order" <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  v_left := coalesce(v_cursor.records_left, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := logloom_private.list_limit_max();
  end if;
  if p_limit is null and v_cursor.received_before is not null then
    -- This is a page of export_logs.
    v_limit := 2500;
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order, v_cursor.ts, v_cursor.id
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor."order" := v_order;
    v_cursor.ts := v_page.last_ts;
    v_cursor.id := v_page.last_id;
    v_cursor.ts_from := lower(v_range);
    v_cursor.ts_to := upper(v_range);
    v_cursor.records_left := v_left;
    v_next_cursor := logloom_private.encode_page_cursor(v_cursor);
  end if;
  if cardinality(v_page.logs) = 0 and v_next_cursor is null and p_cursor is null then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
  end if;
  return row(
    v_page.logs, v_next_cursor, lower(v_range), upper(v_range),
    logloom_private.warnings_of(v_query)
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_series');
  v_tenant_id constant text := v_scope.tenant_id;
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_seconds := logloom_private.bucket_seconds(v_range, p_buckets);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'series');
  v_seconds := coalesce((v_query.plan -> 'bucket')::bigint, v_seconds);
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > logloom_private.max_buckets()
  then
    perform logloom_private.refuse_stage_bound('by', logloom_private.max_buckets(), 'buckets');
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
          date_bin($4, lower($5), $6),
          date_bin($4, upper($5) - interval '1 microsecond', $6),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    logloom_private.empty_value(v_query),
    make_interval(secs => v_seconds), v_range, logloom_private.bucket_origin(v_seconds);
  v_series := coalesce(v_series, '{}');
  if cardinality(v_series) < 2 and not jsonb_path_exists(
    to_jsonb(v_series), '$[*].points[*][1] ? (@ != null && @ != 0)'
  ) then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
  end if;
  return row(
    v_seconds, v_series, logloom_private.warnings_of(v_query)
  )::public.logloom_log_series_answer;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_stats');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_rows public.logloom_log_stat[];
begin
  perform logloom_private.take_search_slot(v_scope);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'rows');
  -- Group values may be long: stop after max_page_bytes.
  v_rows := array(
    select r.row
    from (
      select
        s as row,
        sum(octet_length(to_json(s)::text)) over (
          rows between unbounded preceding and 1 preceding
        ) as before
      from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s
    ) r
    where coalesce(r.before, 0) < (select t.max_page_bytes from logloom_private.settings t)
  );
  if v_rows[1]."group" = '{}' and coalesce(v_rows[1].value, 0) = 0 then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
    v_rows[1].warnings := logloom_private.warnings_of(v_query);
  end if;
  return query
  select r.* from unnest(v_rows) r;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_cursor    text,
  p_limit     integer,
  p_backlog   integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'tail_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_scope);
  if p_backlog not between 0 and logloom_private.list_limit_max() then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range', logloom_private.list_limit_max()::text
    );
  end if;
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  select coalesce(max(a.write_seq), 0) into v_last from logloom_private.log_writes a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Write sequences and records come from one snapshot. Records that are not visible yet come
    -- after this cursor.
    if p_backlog > 0 then
      v_tail.logs := array(
        select l
        from unnest((
          logloom_private.found_page(
            v_tenant_id, v_query,
            -- The ts of an event may be 24 hours ahead.
            tstzrange(now() - interval '24 hours', now() + interval '25 hours'),
            p_backlog, 'desc', null, null
          )
        ).logs) l
        order by l.ts, l.id
      );
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.write_seq q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All up to v_last was read. If the newest days were dropped, v_last is before the cursor.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('reading.operation_is_unknown', 404, 'No such reading operation: %s',
      'Call POST /v1/search_logs, log_stats, tail_logs and so on.', null),
    ('reading.parameters_are_no_object', 400, 'Invalid parameters: send a JSON object',
      'Send {} if there are none.', null),
    ('reading.parameter_is_unknown', 400, 'Unknown parameter: %s', 'The operation takes %2$s.',
      null),
    ('reading.parameter_is_invalid', 400, 'Invalid %s: not of the type %s', null, null);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_operations()
  RETURNS TABLE (
    operation text,
    reader    text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select o.operation, o.reader
  from logloom_private.operation_list() o
  where o.reader is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reads_hidden (
  p_reads  text[],
  p_hidden text[]
)
  RETURNS boolean
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select
    from unnest(p_reads) r (name)
    cross join unnest(p_hidden) h (name)
    where r.name = h.name
      or split_part(r.name, '.', 1) = 'attrs' and split_part(h.name, '.', 1) = 'attrs'
      and (
        'attrs' in (r.name, h.name) or split_part(r.name, '.', 2) = split_part(h.name, '.', 2)
      )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.record_fields()
  RETURNS logloom_private.record_field[]
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select f
    from jsonb_populate_recordset(null::logloom_private.record_field, '[
      {"name": "ts", "type": "timestamptz", "sent": true, "shown": 3, "kind": "time",
        "block": "times", "near": ["time", "timestamp", "_time", "@timestamp", "date"],
        "aliases": ["@timestamp", "timestamp", "time", "_time", "dt", "date", "datetime", "t",
          "eventTime", "EdgeStartTimestamp", "asctime", "@t", "Timestamp", "__REALTIME_TIMESTAMP",
          "timeMillis", "instant", "record.time.repr"],
        "remark": "a time, a day, now-15m"},
      {"name": "received_at", "type": "timestamptz", "sent": false, "shown": 4, "kind": "time",
        "block": "batches", "remark": "when the service got it"},
      {"name": "write_seq", "type": "bigint", "sent": false, "block": "batches"},
      {"name": "id", "type": "uuid", "sent": false, "shown": 1, "kind": "id", "block": "ids",
        "remark": "a record''s id"},
      {"name": "tenant_id", "type": "text", "sent": false, "shown": 2},
      {"name": "level", "type": "text", "sent": true, "shown": 5, "kind": "level",
        "block": "runs", "place": 1, "near": ["severity", "lvl", "loglevel", "log_level"],
        "aliases": ["severity", "status", "log.level", "severity_text", "loglevel", "levelname",
          "lvl", "@level", "level_name", "error_severity", "@l", "Level", "LogLevel",
          "PRIORITY", "@fields.level", "record.level", "context.logLevel", "s"],
        "remark": "debug < info < warn < error"},
      {"name": "msg", "type": "text", "sent": true, "shown": 6, "kind": "msg",
        "block": "templates", "near": ["message", "log", "text", "_msg", "body"],
        "aliases": ["formattedMessage", "message", "event_message", "log", "short_message", "body",
          "record.message", "text", "line", "@message", "@m", "Message", "RenderedMessage",
          "fields.message", "MESSAGE", "@mt", "MessageTemplate", "event"],
        "remark": "anywhere in the message"},
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.record_hops (
  p_attrs jsonb
)
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (jsonb_typeof((p_attrs -> 'logloom_hops'::text)) = 'number'::text) THEN
  (GREATEST(LEAST(((p_attrs ->> 'logloom_hops'::text))::numeric, (99)::numeric), (0)::numeric))::integer ELSE 0 END;

CREATE OR REPLACE FUNCTION logloom_private.record_job (
  p_job        text,
  p_started_at timestamp with time zone,
  p_error      text                     DEFAULT NULL::text,
  p_next_at    timestamp with time zone DEFAULT NULL::timestamp WITH time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  update logloom_private.jobs j
  set
    last_started_at = p_started_at,
    last_duration_ms = extract(epoch from v_now - p_started_at) * 1000,
    next_at = coalesce(p_next_at, j.next_at),
    last_succeeded_at = case when o.is_well then v_now else j.last_succeeded_at end,
    failures = case when o.is_well then 0 else j.failures + (p_error is not null)::integer end,
    last_failed_at = case when p_error is null then j.last_failed_at else v_now end,
    last_error = coalesce(p_error, j.last_error)
  from (
    select p_error is null and (s.last_failed_at between p_started_at and v_now) is not true
      as is_well
    from logloom_private.jobs s
    where s.name = p_job
  ) o
  where j.name = p_job;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.record_job_error (
  p_job      text,
  p_sqlstate text,
  p_message  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom_private.jobs j
  set last_failed_at = clock_timestamp(), last_error = format('%s: %s', p_sqlstate, p_message),
    failures = j.failures + 1
  where j.name = p_job;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.records_query (
  p_query_dsl text,
  p_group     jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl);
  v_state logloom_private.query_state;
  v_bar integer;
  v_text text := p_query_dsl;
  v_group text;
begin
  if v_query.aggregate is not null then
    v_state := logloom_private.query_tokenize(p_query_dsl, now());
    -- The bar before the aggregates: only math follows them.
    select t.position into v_bar
    from unnest(v_state.texts, v_state.positions) t (text, position)
    where t.text = '|'
    order by t.position desc
    offset coalesce(jsonb_array_length(v_query.plan -> 'math'), 0)
    limit 1;
    v_text := left(p_query_dsl, v_bar - 1);
  end if;
  v_text := coalesce(nullif(logloom_private.trim_space(v_text), ''), '*');
  if p_group is null then
    return v_text;
  end if;
  select string_agg(
    case
      when p_group ->> f is null then '-' || f || ':*'
      when f = 'level' then f || ':' || (p_group ->> f)
      else f || ':="' || replace(replace(p_group ->> f, '\', '\\'), '"', '\"') || '"'
    end, ' ' order by n
  )
  into v_group
  from unnest(v_query.by_fields) with ordinality b (f, n);
  v_text := v_text || ' | where ' || v_group;
  perform logloom_private.compile_query(v_text);
  return v_text;
exception when sqlstate 'PT400' then
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.records_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_reads     text[]
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.masked_sql(p_query, logloom_private.with_sealed_sql(
    logloom_private.rows_sql(p_tenant_id, p_from, p_to, p_query.filter, p_reads),
    case when logloom_private.reads_sealed(p_tenant_id, p_from, p_to) then format(
      'logloom_private.sealed_rows(%s, %L, %L, %L, %L)',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
      p_from, p_to, p_query.tree, p_reads
    ) end
  ), p_reads);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.recovery_body (
  p_rule     logloom.alert_rules,
  p_incident logloom.alert_incidents
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  v_end logloom.alert_history;
  v_body jsonb;
begin
  p_rule.name := p_incident.rule_name;
  p_rule.query_dsl := p_incident.query_dsl;
  p_rule.comparison := p_incident.comparison;
  p_rule.window_minutes := p_incident.window_minutes;
  v_end.triggered_at := p_incident.resolved_at;
  v_end.value := p_incident.value;
  v_end."group" := p_incident."group";
  v_end.threshold := p_incident.threshold;
  v_end.window_start := p_incident.opened_at - make_interval(mins => p_incident.window_minutes);
  v_end.window_end := p_incident.held_until;
  v_end.incident_id := p_incident.incident_id;
  v_end.absent := p_incident.resolution = 'still_absent';
  v_body := logloom_private.notification_body('alert.resolved', p_rule, v_end);
  return jsonb_set(v_body, '{data}', (v_body -> 'data') - 'triggered_at' || jsonb_build_object(
    'peak_value', p_incident.peak_value,
    'opened_at', to_char(p_incident.opened_at, v_iso),
    'resolved_at', to_char(p_incident.resolved_at, v_iso),
    'resolution', p_incident.resolution
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.regex_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
      'Regular expression: a range in a class must end with a character', null, null),
    ('regex.range_runs_backwards', 400, 'Regular expression: a range of a class runs backwards',
      null, null),
    ('regex.repeat_is_out_of_range', 400,
      'Regular expression: a repeat is {m}, {m,} or {m,n} up to 100', null, null),
    ('regex.has_a_back_reference', 400, 'Regular expression: back-references are not allowed', null,
      null),
    ('regex.lazy_repeat_in_extract', 400,
      'Regular expression: extract_regexp takes no lazy repeat %s',
      'Write [^ ]* for a text up to a space.', null),
    ('regex.too_long', 400, 'Regular expression: it is longer than 256 characters', null, null),
    ('regex.has_lookaround', 400,
      'Regular expression: lookaround and options are not allowed; (?i) must be at the start', null,
      null),
    ('regex.repeat_runs_backwards', 400, 'Regular expression: the bounds of a repeat run backwards',
      null, null),
    ('regex.not_for_classes', 400, 'Regular expression: %s is not allowed in a class', null, null),
    ('regex.nothing_to_repeat', 400, 'Regular expression: %s has nothing to repeat', null, null),
    ('regex.not_an_escape', 400, 'Regular expression: %s is not an escape', null, null),
    ('regex.too_complex', 400,
      'Regular expression: it is too complex: its characters and their repeats come to more than '
        '1000', null, null),
    ('regex.all_are_too_complex', 400,
      'Regular expression: it is too complex: the characters and repeats of all regexes in the '
        'query come to more than 2000', null, null),
    ('regex.no_such_class', 400, 'Regular expression: %s is not a class of characters', null, null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reject_events (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_request
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Made once: a request may have thousands of events.
  v_of_another constant text :=
    format('The token may only send for the service %s', p_state.service);
  v_ahead constant text := (
    select format(
      'ts is more than %s h ahead', (extract(epoch from s.ingest_future_limit) / 3600)::real
    )
    from logloom_private.settings s
  );
  v_old constant text := format(
    'ts is older than the retention of %s days', logloom_private.retention_days(p_state.tenant_id)
  );
  v_is_kept boolean[];
begin
  if p_request.p_guessed is not null then
    p_request := logloom_private.without_wrong_guesses(p_request, p_state);
  end if;
  v_is_kept := array(
    select (e.ts between p_state.keeps_from and p_state.takes_to) is not false
      and (e.service = p_state.service) is not false
    from unnest(p_request.p_ts, p_request.p_service) with ordinality e (ts, service, i)
    order by e.i
  );
  p_request.p_errors := (
    select json_agg(u.error)
    from (
      select j.error, (j.error ->> 'index')::integer as index
      from json_array_elements(coalesce(p_request.p_errors, '[]')) j (error)
      union all
      select
        json_build_object(
          'index', o.index,
          'code', case
            when o.is_of_another then 'service_is_another' else 'ts_out_of_range'
          end,
          'message', case
            when o.is_of_another then v_of_another
            when o.ts > p_state.takes_to then v_ahead
            else v_old
          end
        ),
        o.index
      from (
        select
          e.ts, (e.service <> p_state.service) is true as is_of_another,
          coalesce(p_request.p_positions[e.i], e.i - 1)::integer as index
        from unnest(p_request.p_ts, p_request.p_service, v_is_kept)
          with ordinality e (ts, service, is_kept, i)
        where not e.is_kept
      ) o
      order by index
      limit case when p_request.p_all_errors then null else 100 end
    ) u
  );
  p_request.p_rejected := coalesce(p_request.p_rejected, 0)
    + cardinality(array_positions(v_is_kept, false));
  -- fields sent: p_request.p_{name} := logloom_private.kept_values(p_request.p_{name}, v_is_kept);
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
  -- fields end
  return p_request;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.relation_bytes (
  p_relation regclass
)
  RETURNS bigint
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return pg_total_relation_size(p_relation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.remainder_name (
  p_day date
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN to_char((p_day)::timestamp WITH time zone, '"logs_remaining_"YYYY_MM_DD'::text);

CREATE OR REPLACE FUNCTION logloom_private.removed_records_sql (
  p_delete text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN format('
    with changed as (
      %s
      returning l.tenant_id, l.ts, l.service, l.level
    ), removed as materialized (
      select
        c.tenant_id, date_bin(''1 minute'', c.ts, ''epoch'') as minute, c.service, c.level,
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
      -- Alert windows are at most a day, so older removals change no alert.
      where r.minute > now() - interval ''3 days''
    )
    select coalesce(sum(r.events), 0)::integer from removed r
  '::text, p_delete);

CREATE OR REPLACE FUNCTION logloom_private.renew_webhook_secret()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reaches the secrets
begin
  update logloom_private.webhook_secrets w
  set secret = default, previous_secret = null, previous_valid_until = null, changed_at = now()
  where w.rule_id = new.rule_id
    and logloom_private.origin_of(old.notification_config ->> 'webhook_url')
      is distinct from logloom_private.origin_of(new.notification_config ->> 'webhook_url');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replace_webhook_secret (
  p_rule_id uuid
)
  RETURNS public.logloom_webhook_secret
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_result public.logloom_webhook_secret;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  insert into logloom_private.webhook_secrets as w (rule_id)
  select r.rule_id
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + interval '24 hours',
    secret = excluded.secret,
    changed_at = now()
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replacement_step (
  p_now timestamp with time zone
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_state logloom_private.sealing_days;
  v_outcome text;
begin
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
      set replace_after = p_now + logloom_private.seal_again_after()
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
  return logloom_private.seal_pause();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replay_dead_letters (
  p_limit integer DEFAULT 1000
)
  RETURNS logloom_private.replay_result
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_letter logloom_private.dead_letters;
  v_write_seq bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- Takes the writer's lock, because write sequences must be in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_write_seq := nextval('logloom_private.write_seq');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(format(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, write_seq, %s, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2, %s,
            -- Measures again, because an operator may have changed the letter to repair it.
            logloom_private.bytes_of_record(
              jsonb_populate_record(null::logloom.logs, to_jsonb($1))
            )
        $query$,
        logloom_private.written_fields_sql('%1$s'),
        logloom_private.written_fields_sql('($1).%1$s%2$s')
      ))
      using v_letter, v_write_seq;
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_confirmation (
  p_rule      logloom.alert_rules,
  p_is_repeat boolean
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_address constant text := logloom_private.channel_address(
    'email', p_rule.notification_config, '{}'
  );
  v_mailbox constant text := lower(v_address);
  v_mailed constant text := 'The address is not confirmed: confirm_alert_address takes the code '
    'that is mailed to it';
  v_codes_per_tenant constant integer := 10;
  v_codes_per_address constant integer := 3;
  v_mails record;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select
    count(*) as of_tenant, count(*) filter (where m.is_to_address) as to_address,
    max(m.created_at) filter (where m.is_to_address) as last_at,
    bool_or(m.is_to_address and m.status = 'pending') as is_under_way
  into v_mails
  from (
    select n.*, lower(n.address) = v_mailbox as is_to_address
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
      and n.created_at > now() - logloom_private.confirmation_lifetime()
  ) m;
  -- All rules with the address share one code, unless somebody asks for another.
  if v_mails.is_under_way
    or v_mails.last_at > now() - interval '1 minute'
    or not p_is_repeat and exists (
      select
      from logloom_private.notification_addresses a
      where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
        and a.code_expires_at > now() and a.tries < logloom_private.confirmation_tries()
    )
  then
    return v_mailed;
  elsif v_mails.of_tenant >= v_codes_per_tenant or v_mails.to_address >= v_codes_per_address then
    return 'The address is not confirmed, and no more codes are mailed today';
  end if;
  -- The code is created when the mail is sent.
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + logloom_private.notification_lifetime()
  );
  return v_mailed;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_deletion (
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_dry_run   boolean
)
  RETURNS logloom.retention_runs
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- A dry run reads records as a search does.
    perform logloom_private.take_search_slot(logloom_private.scope_of_view(v_tenant_id, null));
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(null, p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
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
    execute 'select (select count(*) ' || logloom_private.source_sql(logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '{}'
      ))
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Keeps the last 100 dry runs. Otherwise many of them would fill the disk.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset 100
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_stream_test (
  p_tenant_id text,
  p_stream_id uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval constant interval := logloom_private.notification_test_interval();
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
    test_error = null,
    test_answer = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_own_project()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_calling constant text := logloom_private.calling_project();
  v_own text;
begin
  if v_calling is null then
    return;
  end if;
  update logloom_private.installation i set project_url = v_calling where i.project_url is null;
  select i.project_url into v_own from logloom_private.installation i;
  if v_own <> v_calling then
    perform logloom_private.refuse('callers.project_is_another', v_own, v_calling);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_baseline (
  p_tenant_id text,
  p_baseline  jsonb,
  p_rule_id   uuid  DEFAULT NULL::uuid
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role may lock a tenant
declare
  v_max integer;
begin
  if nullif(p_baseline, 'null') <> '{}' then
    perform logloom_private.hold_tenant(p_tenant_id);
    v_max := (logloom_private.plan_of(p_tenant_id)).max_baseline_rules;
    if v_max <= (
      select case when bool_or(r.rule_id = p_rule_id) then -1 else count(*) end
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.baseline_days is not null
    ) then
      perform logloom_private.refuse('alerts.no_room_for_baseline', v_max::text);
    end if;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_secrets_again (
  p_stream  logloom.log_streams,
  p_config  jsonb,
  p_secrets jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kept text;
begin
  if logloom_private.origin_of(coalesce(p_config ->> 'url', p_config ->> 'endpoint'))
    = logloom_private.origin_of(
      coalesce(p_stream.config ->> 'url', p_stream.config ->> 'endpoint')
    )
  then
    return;
  end if;
  select string_agg(s.name, ', ' order by s.name) into v_kept
  from jsonb_object_keys(p_stream.secrets) s (name)
  where not coalesce(p_secrets, '{}') ? s.name;
  if v_kept is not null then
    perform logloom_private.refuse('streams.address_needs_secrets', v_kept);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.resolve_incidents (
  p_rule       logloom.alert_rules,
  p_window_end timestamp with time zone,
  p_seen       jsonb[],
  p_held       jsonb[],
  p_now        timestamp with time zone,
  p_decided    jsonb[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, quiet_from = p_window_end,
    resolution = case
      when p_rule.on_absent = 'fire' and i."group" <> all (p_seen) then 'still_absent'
      else 'recovered'
    end
  where i.rule_id = p_rule.rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held)
    and (p_decided is null or coalesce(i."group", 'null') = any (p_decided));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rest_alert_group (
  p_group        logloom_private.alert_groups,
  p_now          timestamp with time zone,
  p_records      bigint,
  p_milliseconds double precision
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_first_rest constant interval := '5 minutes';
  v_longest_rest constant interval := '1 hour';
begin
  perform logloom_private.empty_alert_groups(
    array[p_group.group_id],
    format(
      'The rule is too expensive: %s records took %s ms. Narrow its query or shorten its window; '
        'it is paused for a while.',
      p_records, round(p_milliseconds::numeric)
    ),
    p_now + least(v_first_rest * 2 ^ least(p_group.failures, 20), v_longest_rest)
  );
  update logloom_private.alert_groups g
  set failures = g.failures + 1, ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group.group_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.retention_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_place logloom_private.retention_place;
  v_limit_day date;
  -- How often dropping a day is tried, one second apart. Then the next retention tries again.
  v_attempts constant integer := 30;
  v_day date;
  v_outcome text;
  v_error text;
begin
  -- Only one job deletes at a time, including erasures.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  select p.* into v_place from logloom_private.retention_place p;
  select s.limit_day into v_limit_day from logloom_private.storage s;
  if v_limit_day is not null then
    -- retention_place may be from a day long ago.
    v_place.today := logloom_private.utc_day(now());
  elsif v_place.today is null or v_place.finished_at is not null then
    if not logloom_private.retention_is_due(logloom_private.utc_day(now())) then
      return null;
    end if;
    perform logloom_private.begin_retention(logloom_private.utc_day(now()));
    return interval '0';
  end if;
  if v_place.day is not null then
    return logloom_private.delete_expired_of_day(v_place);
  elsif v_limit_day is null and v_place.spans_through is not null then
    perform logloom_private.split_long_block(v_place);
    return interval '0';
  end if;
  v_day := coalesce(
    v_limit_day,
    logloom_private.next_stored_day(v_place.done_through, v_place.today)
  );
  if v_day is null then
    perform logloom_private.end_retention(v_place.error);
    return null;
  end if;

  begin
    v_outcome := logloom_private.drop_expired_day(v_day, v_place.today);
  exception
    when lock_not_available or disk_full then
      raise;
    when others then
      v_outcome := 'failed';
      v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if v_outcome in ('kept', 'dropped') then
    -- Every tenant id comes after the empty text.
    update logloom_private.retention_place set day = v_day, tenant_through = '' where singleton;
  elsif v_outcome <> 'busy' then
    perform logloom_private.end_retention_day(v_day, v_error);
  elsif v_place.attempts + 1 < v_attempts then
    update logloom_private.retention_place p set attempts = p.attempts + 1 where p.singleton;
    return interval '1 second';
  else
    perform logloom_private.end_retention_day(
      v_day, format('The partition of %s could not be dropped: readers use it', v_day)
    );
  end if;
  return interval '0';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.retention_step_tenants()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 2000;

CREATE OR REPLACE FUNCTION logloom_private.retry_delay (
  p_attempts    integer,
  p_retry_after integer
)
  RETURNS interval
  LANGUAGE sql
RETURN
  GREATEST(logloom_private.back_off(p_attempts, logloom_private.notification_retry_base(), '03:00:00'::interval), LEAST(make_interval(secs => (COALESCE(p_retry_after, 0))::double
  precision), '03:00:00'::interval));

CREATE OR REPLACE FUNCTION logloom_private.rewrite_blocks (
  p_tenant_id text,
  p_block_ids bigint[],
  p_days      integer  DEFAULT NULL::integer
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_from date := 'infinity';
  v_to date := '-infinity';
  v_records bigint := 0;
  v_day date;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids)
  loop
    perform logloom_private.require_intact(v_block);
    v_from := least(v_from, logloom_private.utc_day(v_block.first_ts));
    v_to := greatest(v_to, logloom_private.utc_day(v_block.last_ts));
    v_records := v_records + v_block.records;
  end loop;
  v_day := logloom_private.span_start(v_from, coalesce(p_days, 1));
  while v_day <= v_to loop
    v_from := v_day;
    v_day := v_day + coalesce(p_days, v_to - v_from + 1);
    v_records := v_records - coalesce(
      (logloom_private.write_block(
        p_tenant_id,
        logloom_private.read_records(
          format(
            'select r.* from unnest(%L::bigint[]) c (block_id), '
              || 'logloom_private.block_records(%L, c.block_id, null, null) r '
              || 'where r.ts >= %L::timestamptz and r.ts < %L::timestamptz',
            p_block_ids, p_tenant_id, logloom_private.day_start(v_from),
            logloom_private.day_start(v_day)
          )
        ),
        v_block.holds_counts
      )).records,
      0
    );
  end loop;
  if v_records <> 0 then
    raise sqlstate 'LL001' using
      message = format('The rewritten blocks lack %s records', v_records);
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = any(p_block_ids);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rewrite_step()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_block logloom_private.blocks;
begin
  -- The same condition as blocks_older_format_idx, so this reads that index. It is mostly empty.
  select c.* into v_block
  from logloom_private.blocks c
  where c.format < 1 and logloom_private.utc_day(c.first_ts) <> all (
    array(select d.day from logloom_private.sealing_days d where d.differences > 0)
  )
  order by c.block_id
  limit 1;
  if v_block.block_id is null then
    return false;
  end if;
  begin
    perform logloom_private.rewrite_blocks(v_block.tenant_id, array[v_block.block_id]);
  exception
    when query_canceled or lock_not_available or disk_full then
      raise;
    when others then
      insert into logloom_private.sealing_days as d (day, checked_at, differences, last_error)
      values (
        logloom_private.utc_day(v_block.first_ts), clock_timestamp(), 1,
        format('%s: %s', sqlstate, sqlerrm)
      )
      on conflict (day) do update
      set differences = d.differences + 1, last_error = excluded.last_error;
  end;
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rough_shape_sql (
  p_value text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN ((('regexp_replace(left('::text || p_value) || ', 1000) collate "C", '::text) || '''[0-9](?:[0-9a-fA-F.:,/+T-]*[0-9])?'', ''<*>'', ''g'')'::text);

CREATE OR REPLACE FUNCTION logloom_private.rough_shapes_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_records   integer,
  p_templates integer
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_counted constant boolean := not p_query.plan ? 'rows'
    and (logloom_private.short_cuts(p_query)).counts
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  -- If fields are hidden there is no limit, because the end of the last block would reveal how
  -- large the records are.
  v_templates constant integer :=
    case when (logloom_private.short_cuts(p_query)).sizes then p_templates end;
  v_rows logloom_private.sql_source;
begin
  -- The newest messages come first, because not all may be read.
  if v_is_counted then
    v_rows := logloom_private.rows_sql(
      p_tenant_id, p_query.ts_from, p_query.ts_to, p_query.filter, array['ts', 'id', 'msg'],
      'desc', p_records + 1
    );
    v_rows.order_sql := 'l.ts desc, l.id desc';
    v_rows.max_rows := p_records + 1;
  else
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, p_records + 1, 'desc',
      p_reads => case when p_query.plan ? 'rows' then null else array['msg'] end
    );
  end if;
  return 'select ' || logloom_private.rough_shape_sql('r.msg') || ' as shape, '
    || 'count(*) as count, (extract(epoch from min(r.ts)) * 1000000)::bigint as first, '
    || '(extract(epoch from max(r.ts)) * 1000000)::bigint as last, '
    || 'min(left(r.msg, 1000) collate "C") as example, null::bigint[] as place, '
    || 'sum(count(*)) over () > ' || p_records || ' as is_cut from (select l.ts, l.msg '
    || logloom_private.source_sql(logloom_private.staged_sql(p_query, v_rows))
    || ') r group by 1'
    || case when v_is_counted then ' union all select '
      || logloom_private.rough_shape_sql('t.template')
      || ', t.count, t.first, t.last, null, t.place, t.is_cut '
      || 'from (select s.template, sum(s.events) as count, min(s.first_us) as first, '
      || 'max(s.last_us) as last, min(s.place) as place, '
      || format('coalesce(sum(count(*)) over () > %L, false)', v_templates)
      || ' as is_cut from logloom_private.sealed_patterns('
      || format(
        '%s, %L, %L, %L, %L',
        logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
        p_query.ts_from, p_query.ts_to, p_query.tree, v_templates
      )
      || ') s group by s.template) t'
    else '' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_by_day (
  p_tenant_id text,
  p_parts     tstzrange[],
  p_filter    text,
  p_reads     text[],
  p_order     text        DEFAULT 'desc'::text,
  p_limit     integer     DEFAULT NULL::integer,
  p_bytes     bigint      DEFAULT NULL::bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_columns constant text := logloom_private.copied_columns_sql(p_reads, p_bytes is not null);
  v_rows logloom_private.sql_source;
  v_part tstzrange;
  v_found bigint;
  v_left bigint := p_limit;
begin
  foreach v_part in array p_parts loop
    begin
      v_rows := logloom_private.tenant_rows_sql(
        p_tenant_id, lower(v_part), upper(v_part), p_filter
      );
      if p_limit is not null then
        v_rows.order_sql := format('l.ts %1$s, l.id %1$s', p_order);
        v_rows.max_rows := v_left;
      end if;
      if p_bytes is not null then
        v_rows := logloom_private.sized_rows_sql(v_rows, p_bytes);
      end if;
      return query execute 'select ' || v_columns || ' ' || logloom_private.source_sql(v_rows);
      get diagnostics v_found = row_count;
      raise sqlstate 'LL002';
    exception when sqlstate 'LL002' then
      null;
    end;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_end (
  p_rows logloom_private.sql_source
)
  RETURNS logloom_private.log_key
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_end logloom_private.log_key;
begin
  p_rows.order_sql := 'l.ts, l.id';
  p_rows.max_rows := (select s.deletion_step_records from logloom_private.settings s);
  execute 'select p.ts, p.id from (select l.ts, l.id ' || logloom_private.source_sql(p_rows)
    || ') p order by p.ts desc, p.id desc limit 1'
  into v_end;
  return v_end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rows_from (
  p_from  text,
  p_where text   DEFAULT 'true'::text,
  p_order text   DEFAULT NULL::text,
  p_limit bigint DEFAULT NULL::bigint
)
  RETURNS logloom_private.sql_source
  LANGUAGE sql
  IMMUTABLE
RETURN ROW(p_from, p_where, p_order, p_limit)::logloom_private.sql_source;

CREATE OR REPLACE FUNCTION logloom_private.rows_sql (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_reads     text[],
  p_order     text                     DEFAULT 'desc'::text,
  p_limit     integer                  DEFAULT NULL::integer,
  p_bytes     bigint                   DEFAULT NULL::bigint
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts constant tstzrange[] := logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, false
  );
begin
  if cardinality(v_parts) <= 1 then
    return logloom_private.tenant_rows_sql(p_tenant_id, p_from, p_to, p_filter);
  end if;
  return logloom_private.rows_from(format(
    'logloom_private.rows_by_day(%L, %L, %L, %L, %L, %L, %L) l',
    p_tenant_id, v_parts, p_filter, p_reads, p_order, p_limit, p_bytes
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rule_results (
  p_query logloom_private.compiled_query
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if cardinality(logloom_private.query_result_names(p_query.plan)) > 1 then
    return jsonb_build_object('aggregates', p_query.plan -> 'aggregates')
      || case when p_query.plan ? 'math'
        then jsonb_build_object('math', p_query.plan -> 'math') else '{}' end;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.rule_value_sql (
  p_select text,
  p_plan   jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format(
    'select g.v%s as value, g.* from (%s) g',
    greatest(cardinality(logloom_private.query_result_names(p_plan)), 1),
    logloom_private.math_sql(p_select, p_plan)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_canary()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_deletion_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_run_id uuid;
  v_more boolean;
  v_failed text;
begin
  -- Only one job deletes at a time, including retention.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  if logloom_private.repeat_erasure() then
    return interval '0';
  end if;
  v_run_id := logloom_private.next_deletion();
  if v_run_id is null then
    if logloom_private.delete_tenant_step() then
      return (select s.deletion_pause from logloom_private.settings s);
    end if;
    return null;
  end if;
  begin
    v_more := logloom_private.deletion_step(v_run_id);
  exception
  when connection_exception or admin_shutdown or lock_not_available or disk_full then
    -- The database or a node cannot do it now. The erasure continues when it can.
    raise;
  when query_canceled or others then
    v_more := false;
    v_failed := format('The deletion stopped with error %s', sqlstate);
    perform logloom_private.record_job_error('run_deletions', sqlstate, sqlerrm);
  end;
  -- The files of the archive come last. The erasure is done when they are.
  if not v_more and (v_failed is not null or logloom_private.end_archive_erasure(v_run_id)) then
    perform logloom_private.finish_deletion(v_run_id, v_failed);
  end if;
  return (select s.deletion_pause from logloom_private.settings s);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.run_time()
  RETURNS interval
  LANGUAGE sql
  STABLE
RETURN LEAST('00:01:00'::interval, (NULLIF((current_setting('statement_timeout'::text))::interval, '00:00:00'::interval) / (2)::double precision));

CREATE OR REPLACE FUNCTION logloom_private.run_writer_in_place()
  RETURNS public.logloom_writer_run
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because service_role neither reads the queue nor writes records
declare
  v_started_at constant timestamptz := clock_timestamp();
  -- No further step begins after this.
  v_deadline constant timestamptz := v_started_at + interval '900 milliseconds';
  v_moved integer := 0;
  v_step integer;
begin
  if logloom_private.is_read_only() then
    return row(0, true);
  end if;
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
  -- This runs in its own transaction, because enqueues wait until a flip is committed.
  perform logloom_private.empty_moved_slots();
  if logloom_private.flip_queue() then
    return row(0, false);
  end if;
  perform logloom_private.record_job('run_writer', v_started_at);
  return row(0, true);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sample_bytes()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 1200000;

CREATE OR REPLACE FUNCTION logloom_private.sample_is_whole (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max constant integer := logloom_private.sample_records();
  v_newest logloom_private.sql_source := logloom_private.newest_sample_sql(
    p_tenant_id, p_query, v_max + 1, logloom_private.sample_bytes()
  );
  v_is_whole boolean;
begin
  v_newest.where_sql := 'true';
  execute format(
    'select count(*) <= %s and coalesce(bool_and(l.fits), true) %s',
    v_max, logloom_private.source_sql(v_newest)
  )
  into v_is_whole;
  return v_is_whole;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sample_records()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 5000;

CREATE OR REPLACE FUNCTION logloom_private.saved_search_of (
  p_row logloom.saved_searches
)
  RETURNS public.logloom_saved_search
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_row).id, (p_row).name, (p_row).description, (p_row).query_dsl, (p_row).category, (p_row).is_shared, (p_row).tags, (p_row).created_by, (p_row).created_at,
  (p_row).updated_at, (p_row).last_run_at, (p_row).run_count, (p_row).view_id, (p_row).display);

CREATE OR REPLACE FUNCTION logloom_private.saved_searches_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
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
      'Save your own with create_saved_search.', 'A colleague created and shared it.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows the searches that you can read.',
      'It does not exist, belongs to another tenant, or is a colleague''s private one.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scan_alert_group (
  p_group_id bigint,
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_rule_ids uuid[];
  v_query_dsl text;
  v_window_minutes integer;
  v_view_id uuid;
  v_query logloom_private.compiled_query;
  v_due logloom_private.alert_window[];
  v_start timestamptz;
  v_end timestamptz;
  v_reading logloom_private.alert_reading;
  v_found logloom_private.alert_window[];
  v_windows logloom_private.alert_window[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  select array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    v_began := clock_timestamp();
    v_query := logloom_private.compile_rule(
      v_group.tenant_id, v_query_dsl, v_view_id, v_end
    );
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, logloom_private.query_sql(v_query.tree, 'l'),
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return 0;
    end if;
    v_query.filter := 'true';
    v_found := logloom_private.window_values(
      v_query, 'select m.* from ' || v_matches || ' m', v_group.tenant_id, v_start, v_end,
      v_window_minutes, v_settings.alert_groups + 1
    );
    if cardinality(v_found) > v_settings.alert_groups then
      raise exception
        'The rule found more than % groups: narrow the filter, or group by another field',
        v_settings.alert_groups;
    elsif exists (
      select from unnest(v_found) f
      where octet_length(f."group"::text) > logloom_private.alert_group_bytes()
    ) then
      raise exception 'The rule found a group of more than % bytes: group by another field',
        logloom_private.alert_group_bytes();
    end if;
    v_windows := v_windows || array(
      select row(d.rule_id, d.window_start, d.window_end, f.value, null, f."group", null)
        ::logloom_private.alert_window
      from unnest(v_due) d
      left join unnest(v_found) f on true
      where d.window_end = v_end
    );
  end loop;
  update logloom_private.alert_groups g
  set failures = 0, retry_at = null, last_error = null
  where g.group_id = p_group_id;
  return logloom_private.settle_alert_windows(v_windows, p_round, p_now);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scanned_tenant_sql (
  p_tenant text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN p_tenant;

CREATE OR REPLACE FUNCTION logloom_private.schedule_jobs()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_lane text;
  v_job_id bigint;
begin
  -- silence: how long a job may be without success. Usually three intervals or more, plus a step.
  with known as (
    insert into logloom_private.jobs as j (name, lane, step, every, silence)
    values
      ('write_logs', 'write', 'write_logs', '250 milliseconds', '60 seconds'),
      ('run_writer', 'ingest', 'run_writer_in_place', '1 day', '1 day'),
      -- A round begins when the watermark has passed a full minute.
      ('evaluate_alerts', 'send', 'evaluate_alerts', '2 seconds', '3 minutes'),
      ('send_notifications', 'send', 'send_notifications', '2 seconds', '3 minutes'),
      ('send_log_streams', 'send', 'send_log_streams', '2 seconds', '3 minutes'),
      ('archive_logs', 'send', 'archive_step', '5 seconds', '10 minutes'),
      ('run_canary', 'send', 'run_canary', '1 minute', '10 minutes'),
      ('compact_log_counts', 'tend', 'compact_log_counts', '20 seconds', '5 minutes'),
      ('maintain_partitions', 'tend', 'maintain_partitions', '1 hour', '3 hours'),
      ('seal_logs', 'tend', 'seal_step', '1 minute', '1 hour'),
      ('run_retention', 'tend', 'retention_step', '1 minute', '1 hour'),
      ('run_deletions', 'tend', 'run_deletion_step', '1 minute', '10 minutes'),
      ('bound_storage', 'tend', 'bound_storage', '1 minute', '10 minutes'),
      ('verify_logs', 'tend', 'verify_step', '1 minute', '1 hour'),
      ('purge_job_history', 'tend', 'purge_job_history', '1 hour', '4 hours'),
      ('purge_old_rows', 'tend', 'purge_old_rows', '1 hour', '4 hours')
    on conflict (name) do update set lane = excluded.lane, step = excluded.step
    returning j.name
  )
  delete from logloom_private.jobs j where j.name not in (select k.name from known k);

  foreach v_lane in array array['write', 'send', 'tend'] loop
    -- pg_cron would overwrite an existing job with the same name.
    if exists (
      select
      from cron.job c
      where c.jobname = 'logloom_' || v_lane
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job logloom_%s that is not Logloom''s', v_lane),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(
      'logloom_' || v_lane, '10 seconds', format('call logloom_private.work(%L)', v_lane)
    );
  end loop;
  for v_job_id in
    select c.jobid
    from cron.job c
    where c.username = current_user and c.jobname like 'logloom\_%'
      and starts_with(c.command, 'call logloom_private.')
      and not starts_with(c.command, 'call logloom_private.work(')
  loop
    perform cron.unschedule(v_job_id);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_in_view (
  p_scope   logloom_private.reading_scope,
  p_view_id uuid
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_view logloom.log_views;
begin
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_scope.tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  p_scope.view_id := v_view.view_id;
  p_scope.operations := v_view.operations;
  p_scope.hidden_fields := nullif(v_view.hidden_fields, '{}');
  if v_view.query_dsl is not null then
    begin
      p_scope.filter := (logloom_private.parse_query(v_view.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.view_is_broken', v_view.name);
    end;
  end if;
  return p_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_key (
  p_key_digest text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.kind := 'key';
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_session (
  p_session logloom.portal_sessions,
  p_origin  text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
  v_tree jsonb;
begin
  if p_session.revoked_at is not null then
    perform logloom_private.refuse('callers.portal_session_is_revoked');
  elsif not logloom_private.portal_session_is_alive(p_session) then
    perform logloom_private.refuse('callers.portal_session_is_over');
  elsif p_origin is not null and p_origin <> all (p_session.origins) then
    perform logloom_private.refuse('callers.portal_origin_is_unknown', left(p_origin, 200));
  end if;
  v_scope.tenant_id := p_session.tenant_id;
  v_scope.kind := 'portal_session';
  if p_session.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_session.view_id);
  end if;
  if p_session.query_dsl is not null then
    begin
      v_tree := (logloom_private.parse_query(p_session.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
    v_scope.filter := case when v_scope.filter is null then v_tree
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_tree)
      ) end;
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_token (
  p_tenant_id text
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := v_claims ->> 'sub';
  v_scope logloom_private.reading_scope;
  v_view_id uuid;
begin
  v_scope.tenant_id := logloom_private.caller_tenant(p_tenant_id);
  v_scope.kind := 'token';
  if logloom_private.is_service_role() then
    return v_scope;
  elsif logloom_private.acting_role(v_scope.tenant_id, v_user_id, v_claims) = 'viewer' then
    select m.view_id into v_view_id
    from logloom.tenant_members m
    where m.tenant_id = v_scope.tenant_id and m.user_id = v_user_id;
    if not found and pg_input_is_valid(v_claims -> 'app_metadata' ->> 'logloom_view', 'uuid') then
      v_view_id := v_claims -> 'app_metadata' ->> 'logloom_view';
    end if;
    v_scope := logloom_private.scope_in_view(v_scope, v_view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := p_tenant_id;
  v_scope.kind := 'view';
  if p_view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scoped_query (
  p_scope     logloom_private.reading_scope,
  p_query     logloom_private.compiled_query,
  p_query_dsl text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_scope.filter is null and p_scope.hidden_fields is null then
    return p_query;
  end if;
  perform logloom_private.refuse_hidden_fields(p_query, p_query_dsl, p_scope.hidden_fields);
  p_query.hidden_fields := p_scope.hidden_fields;
  if p_query.hidden_fields is not null then
    p_query.tree := logloom_private.tree_without(p_query.tree, p_query.hidden_fields);
  end if;
  -- Joins the items of both trees in one AND, because filter_by_scan_slot looks there for items
  -- that an index answers.
  select case when count(*) = 1 then (array_agg(i.item))[1]
    else jsonb_build_object('type', 'and', 'items', jsonb_agg(i.item order by t.n, i.n)) end
  into p_query.tree
  from unnest(array[p_query.tree, coalesce(p_scope.filter, '{"type": "all"}')])
    with ordinality t (tree, n)
  cross join lateral jsonb_array_elements(
    case t.tree ->> 'type' when 'and' then t.tree -> 'items' when 'all' then '[]'
      else jsonb_build_array(t.tree) end
  ) with ordinality i (item, n);
  if p_query.tree = '{"type": "and", "items": null}' then
    p_query.tree := '{"type": "all"}';
  end if;
  return p_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_again_after()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '24:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.seal_block (
  p_tenant_id    text,
  p_days         date[],
  p_holds_counts boolean DEFAULT false
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day date;
  v_oldest record;
  v_range text;
  v_ranges text[] := '{}';
  v_holds_counts constant boolean := p_holds_counts or cardinality(p_days) > 1;
  v_block logloom_private.blocks;
  v_removed integer;
  v_records integer := 0;
begin
  foreach v_day in array p_days loop
    -- A block has at least one record, however large it is.
    v_oldest := logloom_private.block_range(
      p_tenant_id, v_day, cardinality(p_days), (v_ranges = '{}')::integer
    );
    continue when v_oldest.first_ts is null;
    -- Starts at the first record, to skip the index entries of records that were sealed before.
    v_ranges := v_ranges || format(
      'from logloom.logs l where l.tenant_id = %L and l.ts >= %L::timestamptz '
        || 'and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%L::timestamptz, %L::uuid)',
      p_tenant_id, v_oldest.first_ts, v_oldest.last_ts, v_oldest.last_ts, v_oldest.last_id
    );
  end loop;
  if v_ranges = '{}' then
    return 0;
  end if;
  v_block := logloom_private.write_block(
    p_tenant_id,
    logloom_private.read_records(
      (select string_agg('select l.* ' || r.range, ' union all ') from unnest(v_ranges) r (range))
    ),
    v_holds_counts
  );
  foreach v_range in array v_ranges loop
    -- A plain delete: removed_records_sql would note these records as removed. Records that were
    -- added after reading have a later write sequence and stay.
    execute 'delete ' || v_range || ' and l.write_seq <= $1' using v_block.last_write_seq;
    get diagnostics v_removed = row_count;
    v_records := v_records + v_removed;
  end loop;
  if v_records <> v_block.records then
    raise sqlstate 'LL001' using
      message = format('Sealed %s records, but deleted %s rows', v_block.records, v_records);
  end if;
  if v_holds_counts then
    perform logloom_private.count_sealed(v_block, null, -1);
  end if;
  insert into logloom_private.sealing_days as d (day, removed_records, removed_by)
  select d.day, v_records, pg_current_xact_id()
  from unnest(p_days) d (day)
  on conflict (day) do update
  set removed_records = d.removed_records + excluded.removed_records,
    removed_by = excluded.removed_by;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_day_step (
  p_day date,
  p_now timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_state logloom_private.sealing_days;
  v_tenant_id text;
  v_together record;
  v_span integer;
  v_records integer := 0;
begin
  insert into logloom_private.sealing_days (day) values (p_day) on conflict do nothing;
  select d.* into v_state from logloom_private.sealing_days d where d.day = p_day for update;
  if logloom_private.partition_exists(p_day) then
    execute format(
      'select min(l.tenant_id) from only logloom.%I l where $1 is null or l.tenant_id > $1',
      logloom_private.partition_name(p_day)
    )
    into v_tenant_id
    using v_state.checked_through;
  end if;
  if v_tenant_id is null then
    update logloom_private.sealing_days d
    set checked_at = p_now, checked_through = null
    where d.day = p_day;
    return false;
  end if;
  v_together := logloom_private.days_to_seal_together(v_tenant_id, p_day, p_now);
  begin
    if v_together.days is not null then
      v_records := logloom_private.seal_block(
        v_tenant_id, v_together.days, v_together.are_small
      );
    end if;
    -- The new block may be small: the last of a day, one of late records, or one of a whole week.
    if v_records > 0 then
      v_span := case
        when v_together.are_small
          then logloom_private.block_days(logloom_private.retention_days(v_tenant_id))
        else 1
      end;
      perform logloom_private.merge_small_blocks(
        v_tenant_id, logloom_private.span_start(p_day, v_span), v_span, v_together.are_small
      );
      perform logloom_private.leave_days(array[v_tenant_id], v_together.days);
    end if;
  exception
    when query_canceled or lock_not_available or disk_full then
      raise;
    when others then
      -- The records stay rows. The next pass tries again.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_pause()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:00:00.02'::interval;

CREATE OR REPLACE FUNCTION logloom_private.seal_step_at (
  p_now timestamp with time zone
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_day date;
  v_pause interval;
begin
  -- Queued events come first.
  if (logloom_private.queue_state()).depth
    > (select s.seal_queue_events from logloom_private.settings s)
  then
    return null;
  elsif not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  v_day := logloom_private.next_day_to_seal(p_now);
  if v_day is null then
    v_pause := logloom_private.replacement_step(p_now);
    -- Converting old blocks comes last, because nothing waits for it.
    if v_pause is null and logloom_private.rewrite_step() then
      return logloom_private.seal_pause();
    end if;
    return v_pause;
  end if;
  perform logloom_private.seal_day_step(v_day, p_now);
  return logloom_private.seal_pause();
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.seal_step()
  RETURNS interval
  LANGUAGE sql
RETURN logloom_private.seal_step_at(clock_timestamp());

CREATE OR REPLACE FUNCTION logloom_private.sealed_counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN
  (('select l.level, l.service, l.events from logloom_private.sealed_counts('::text || format('%s, %L, %L, %L, %L'::text,
  logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
  p_from, p_to, (p_query).tree, ((p_query).by_fields || logloom_private.query_reads((p_query).plan)))) || ') l'::text);

CREATE OR REPLACE FUNCTION logloom_private.sealed_tail_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_limit     integer,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_bytes     bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- Records that a client missed may have been sealed meanwhile.
  return case when exists (
    select
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
  ) then
    'logloom_private.sealed_write_seqs(' || format(
      '%s, %L, %L, %L, %L, %L, %L, %L',
      logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)), p_first, p_id, p_last,
      logloom_private.kept_from(p_tenant_id), p_query.tree,
      p_limit,
      case when (logloom_private.short_cuts(p_query)).sizes then greatest(p_bytes, 1)
        else 9223372036854775807 end
    ) || ')'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealed_write_seqs (
  p_tenant_id text,
  p_first     bigint,
  p_id        uuid,
  p_last      bigint,
  p_from      timestamp with time zone,
  p_tree      jsonb,
  p_limit     integer,
  p_bytes     bigint
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  ROWS 100
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
declare
  v_block logloom_private.blocks;
  v_write_seqs bigint[];
  v_batches integer[];
  v_steps bigint[];
  v_step integer;
  v_taken integer;
  v_from bigint;
  v_to bigint;
  v_positions integer[];
  v_next integer[];
  v_added bigint[];
  v_found bigint[] := '{}';
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.last_write_seq >= p_first and c.first_write_seq <= p_last
      and c.last_ts >= p_from and c.damaged_at is null
    order by c.first_write_seq
  loop
    exit when v_block.first_write_seq > v_found[p_limit];
    perform logloom_private.can_read(v_block.format);
    v_write_seqs := v_block.batch_write_seqs;
    v_steps := array(
      select distinct a
      from unnest(v_write_seqs) a
      where a between p_first and least(p_last, v_found[p_limit])
      order by a
    );
    continue when v_steps = '{}';
    v_batches := logloom_private.block_batches(v_block, null);
    -- Begins with about as many steps as hold p_limit records. Each further round takes four times
    -- as many.
    v_taken := coalesce(
      1 + p_limit * cardinality(v_write_seqs)::bigint / v_block.records, cardinality(v_steps)
    );
    v_step := 1;
    while v_steps[v_step] <= coalesce(v_found[p_limit], p_last) loop
      v_from := v_steps[v_step];
      v_to := v_steps[least(v_step + v_taken - 1, cardinality(v_steps))];
      v_positions := array(
        select b.position
        from unnest(v_batches) with ordinality b (batch, position)
        where v_write_seqs[b.batch] between v_from and v_to
        order by b.position
      );
      v_step := v_step + v_taken;
      v_taken := v_taken * 4;
      v_positions := logloom_private.bit_positions(logloom_private.block_bits(
        v_block, p_tree, p_from, 'infinity',
        logloom_private.position_bits(v_positions, v_block.records)
      ));
      select
        array_agg(f.position order by f.position) filter (where f.before < p_bytes),
        (array_agg(f.position order by f.n) filter (where f.before >= p_bytes))[1:1],
        array_agg(f.write_seq)
      into v_positions, v_next, v_added
      from (
        select
          o.position, o.write_seq, o.n,
          coalesce(
            sum(o.record_bytes) over (
              order by o.n rows between unbounded preceding and 1 preceding
            ),
            0
          ) as before
        from (
          select
            p.position, l.write_seq, l.record_bytes,
            row_number() over (order by l.write_seq, l.id) as n
          from unnest(v_positions) with ordinality p (position, n)
          join (
            select r.id, r.write_seq, r.record_bytes, row_number() over () as n
            from logloom_private.sealed_records(
              v_block, v_positions, array['id', 'write_seq', 'record_bytes']
            ) r
          ) l on l.n = p.n
          where p_id is null or l.write_seq > p_first or l.id > p_id
          order by l.write_seq, l.id
          limit p_limit
        ) o
      ) f;
      continue when v_positions is null;
      v_found := array(
        select a from unnest(v_found || v_added) a order by a limit p_limit
      );
      return query
      select r.* from logloom_private.sealed_records(v_block, v_positions, null) r;
      if v_next is not null then
        return query
        select r.*
        from logloom_private.sealed_records(
          v_block, v_next, array['ts', 'id', 'write_seq', 'record_bytes']
        ) r;
        exit;
      end if;
    end loop;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealing_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s blocks differed from their records: see last_error in logloom_private.sealing_days',
      v_differences
    ) end
  ) || jsonb_build_object(
    'days_due', v_days_due,
    'last_block', logloom_private.last_sealed(),
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'For more, send p_cursor.', null),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive. Without p_ts_to the range ends now.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may not be written yet, or its retention has ended.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      'It took more than 15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'The tenant already runs as many searches as the plan''s `concurrent_searches` allows. The '
        'answer has `Retry-After`.'),
    ('search.too_many_in_views', 429,
      'Too many searches in the views and portals of this tenant are running',
      'Wait for one to end. They may use half of the search slots of this tenant.',
      'They use half of the plan''s `concurrent_searches`, or half of all search slots. The answer '
        'has `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Searches of all tenants use their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: only the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged. To begin, leave p_cursor out.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_is_outdated', 400, 'Invalid p_cursor: it is from an earlier version of Logloom',
      'Start again without p_cursor.', 'A cursor of `tail_logs` from version 1.0.0.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have different cursors.'),
    ('search.cursor_lies_ahead', 400, 'Invalid p_cursor: it is newer than the database',
      'The database was restored to an earlier time. Start again without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'A tail begins with this many of the newest records.', null),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.', null),
    ('search.changes_are_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'The most surprising changes come first.', '`log_changes` has at most 100 changes.'),
    ('search.compared_ranges_overlap', 400, 'The compared ranges overlap',
      'Compare with an earlier range, or with one that contains the whole range.', null),
    ('search.field_is_hidden', 400, 'The field %s is hidden from you',
      'Leave it out. Whoever gave you access decides which fields are hidden.', null),
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson, csv or json',
      'Without p_format it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Copy both from the last line that you received.', null),
    ('search.place_is_outside', 400, 'Invalid p_after: it lies outside the range',
      'Send the full range as it was when the export began, or send its cursor, too.',
      'The default range and `now-1h` move on.'),
    ('search.place_meets_limit', 400, 'Invalid p_after: the query has a limit',
      'Remove limit, or continue with next_cursor only.', 'The limit counts from the beginning.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Without them you get 20 records on each side.', null),
    ('search.query_gives_no_records', 400,
      'Invalid p_query_dsl: this operation returns records, not %s',
      'Remove the bar and what follows it, or call log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s', 'Remove the stage.',
      null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Remove one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s reached its limit of %s %s',
      'Narrow the filter before it, or the time range.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than 256 bytes: more than two at once.'),
    ('search.block_format_is_unknown', 501, 'Blocks of format %s cannot be read by this version',
      'A later version of Logloom wrote them: install it again.',
      'A later version sealed these records, and an earlier one was installed after it.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. Events that are sent meanwhile are kept.',
      'Records are distributed and a server does not answer, or adding up what is stored took 8 '
        's. The answer has `Retry-After`.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_parts (
  p_tenant_id     text,
  p_from          timestamp with time zone,
  p_to            timestamp with time zone,
  p_order         text,
  p_counts_blocks boolean                  DEFAULT true
)
  RETURNS tstzrange[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_max_days constant integer := 12;
  v_max_blocks constant integer := 200;
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_last constant timestamptz := p_to - interval '1 microsecond';
  v_row_days date[];
  v_day record;
  v_last_day date;
  v_bound timestamptz;
  v_days integer := 0;
  v_blocks integer := 0;
  v_parts tstzrange[] := '{}';
begin
  if v_from >= v_to then
    return '{}';
  elsif v_to - v_from <= interval '1 day' then
    return array[tstzrange(v_from, v_to)];
  end if;
  v_row_days := logloom_private.days_with_rows(p_tenant_id, p_from, p_to);
  for v_day in
    select u.day, sum(u.days) as days, sum(u.blocks) as blocks
    from (
      select d.day, 1 as days, 0 as blocks
      from unnest(v_row_days) d (day)
      union all
      select
        (least(c.last_ts, v_last) at time zone 'UTC')::date, 0, count(*)
      from logloom_private.blocks c
      where p_counts_blocks
        and c.tenant_id = p_tenant_id and c.last_ts >= v_from and c.first_ts < v_to
      group by 1
    ) u
    group by u.day
    order by case when v_is_descending then u.day end desc, u.day
  loop
    if v_days + v_day.days > v_max_days
      or (v_blocks > 0 and v_blocks + v_day.blocks > v_max_blocks)
    then
      v_bound := case when v_is_descending then v_last_day else v_day.day end::timestamp
        at time zone 'UTC';
      if v_is_descending then
        v_parts := v_parts || tstzrange(v_bound, v_to);
        v_to := v_bound;
      else
        v_parts := v_parts || tstzrange(v_from, v_bound);
        v_from := v_bound;
      end if;
      v_days := 0;
      v_blocks := 0;
    end if;
    v_days := v_days + v_day.days;
    v_blocks := v_blocks + v_day.blocks;
    v_last_day := v_day.day;
  end loop;
  return v_parts || tstzrange(v_from, v_to);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_query (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_now       timestamp with time zone,
  p_takes     text
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.parse_query(p_query_dsl, p_now), p_query_dsl
  );
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
  -- A page without a filter reads only what it shows, so it needs no scan slot.
  v_query.filter := case
    when p_takes = 'records' and v_query.tree = '{"type": "all"}' and not v_query.plan ? 'rows'
      then 'true'
    else logloom_private.filter_by_scan_slot(v_query.tree)
  end;
  if p_scope.tenant_id is not null then
    v_query.warnings := v_query.warnings || logloom_private.damage_warnings(p_scope.tenant_id);
  end if;
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_range (
  p_ts_from text,
  p_ts_to   text,
  p_first   tstzrange DEFAULT NULL::tstzrange
)
  RETURNS tstzrange
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
begin
  if p_first is not null then
    v_from := case when p_ts_from ~ '^\s*[^n\s]' then v_from else lower(p_first) end;
    v_to := case when p_ts_to ~ '^\s*[^n\s]' then v_to else upper(p_first) end;
  end if;
  v_to := coalesce(v_to, now());
  if v_from is null then
    v_from := v_to - interval '1 hour';
  end if;
  if not (v_from >= '1970-01-01T00:00:00Z' and v_to <= '9999-12-31T00:00:00Z') then
    perform logloom_private.refuse('search.range_leaves_the_years');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  return tstzrange(v_from, v_to);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_slot_key (
  p_owner text,
  p_slot  integer
)
  RETURNS bigint
  LANGUAGE sql
  STABLE
RETURN hashtextextended(((('logloom:search_slot '::text || p_slot) || ' '::text) || p_owner), (0)::bigint);

CREATE OR REPLACE FUNCTION logloom_private.seconds_of (
  p_unit text
)
  RETURNS numeric
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN CASE p_unit WHEN 'ns'::text THEN 0.000000001 WHEN 'ms'::text THEN 0.001 WHEN 's'::text THEN (1)::numeric WHEN 'm'::text THEN (60)::numeric WHEN 'h'::text THEN
  (3600)::numeric WHEN 'd'::text THEN (86400)::numeric WHEN 'w'::text THEN (604800)::numeric ELSE 0.000001 END;

CREATE OR REPLACE FUNCTION logloom_private.sees_addresses (
  p_scope logloom_private.reading_scope
)
  RETURNS boolean
  LANGUAGE sql
  STABLE
RETURN ((NOT ((p_scope).kind IS DISTINCT FROM 'token'::logloom_private.reader_kind)) AND ((p_scope).view_id IS NULL) AND (logloom_private.reads_only(logloom_private.claims()) IS
  NOT TRUE));

CREATE OR REPLACE FUNCTION logloom_private.series_aggregates (
  p_query logloom_private.compiled_query
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when p_query.plan ? 'math' then p_query.plan -> 'aggregates'
    else jsonb_build_array(logloom_private.stats_aggregates(p_query) -> 0) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE sql
  IMMUTABLE
RETURN ARRAY(SELECT o.operation FROM logloom_private.operation_list() o(operation, callers, reader) WHERE (o.callers = '{service_role}'::text[]));

CREATE OR REPLACE FUNCTION logloom_private.settle_alert_windows (
  p_windows logloom_private.alert_window[],
  p_round   logloom_private.alert_rounds,
  p_now     timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_told record;
  v_rule logloom.alert_rules;
  v_judged logloom.alert_rules;
  v_window logloom_private.alert_window;
  v_has_fired boolean;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_told in select t.* from logloom_private.telling_windows(p_windows) t loop
    -- Locked, so that a concurrent change leaves no incident open.
    select r.* into v_rule
    from logloom.alert_rules r
    where r.rule_id = v_told.rule_id and r.enabled and r.asked_at < v_told.window_end
    for no key update;
    continue when not found;
    if v_told.error is null and (v_rule.for_minutes > 0 or v_rule.on_absent = 'fire') then
      v_told.holding := logloom_private.lasting_windows(
        v_rule, v_told.window_end, v_told.seen, v_told.holding
      );
    end if;
    v_judged := v_rule;
    foreach v_window in array v_told.holding loop
      begin
        v_judged.threshold := coalesce(
          logloom_private.threshold_of_window(v_rule, v_window), v_rule.threshold
        );
        v_has_fired := logloom_private.fire_alert(v_judged, v_window, p_now);
        v_fired := v_fired + v_has_fired::integer;
      exception
        when lock_not_available or disk_full then
          raise;
        when others then
          v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
      end;
    end loop;
    continue when v_told.error is not null;
    begin
      perform logloom_private.resolve_incidents(
        v_rule, v_told.window_end,
        array(select s."group" from unnest(v_told.seen) s where s."group" is not null),
        array(select coalesce(h."group", 'null') from unnest(v_told.holding) h), p_now,
        logloom_private.decided_groups(v_rule, v_told.window_end, v_told.seen)
      );
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
    end;
  end loop;

  perform logloom_private.keep_rule_values(p_windows);
  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = u.newest_end) as value,
      max(u.error) as error
    from (
      select p.*, max(p.window_end) over (partition by p.rule_id) as newest_end
      from unnest(p_windows) p
    ) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_delivered (
  p_stream   logloom.log_streams,
  p_status   integer,
  p_refused  jsonb,
  p_rejected integer,
  p_answer   text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_none constant text := 'The receiver accepted none of the records';
  v_took constant integer := greatest(
    p_stream.batch_records - coalesce(jsonb_array_length(p_refused), 0) - coalesce(p_rejected, 0), 0
  );
begin
  if v_took = 0 and logloom_private.pauses_unproven(p_stream, p_status, v_none, p_answer) then
    return;
  end if;
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  perform logloom_private.end_answered_batch(
    p_stream, v_took, p_status, case when v_took = 0 then v_none end,
    case when v_took < p_stream.batch_records then p_answer end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_erasure (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_part logloom.archive_parts;
  v_left constant integer := p_claim.records;
begin
  select p.* into v_part from logloom.archive_parts p where p.part_id = p_claim.part_id for update;
  if p_details ->> 'missing' = 'true' then
    update logloom.archive_parts p set status = 'missing' where p.part_id = v_part.part_id;
  elsif v_left is null or (p_details ->> 'records')::integer is distinct from v_left then
    perform logloom_private.release_archive_claim(
      p_claim,
      format('The file has %s records, expected %s', p_details ->> 'records', v_left)
    );
    return;
  elsif v_left = 0 then
    delete from logloom.archive_parts p where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
    update logloom_private.archive_erasures e
    set emptied = e.emptied || v_part.part_id,
      noted_at = case when logloom_private.bucket_notes_erasures(e.tenant_id) then null
        else e.noted_at end
    where e.run_id = p_claim.run_id;
  elsif v_left < v_part.records then
    update logloom.archive_parts p
    set status = 'verified', generation = p.generation + 1, object_key = p_claim.object_key,
      records = v_left, first_ts = p_claim.first_ts, last_ts = p_claim.last_ts,
      bytes = (p_details ->> 'bytes')::bigint, sha256 = p_details ->> 'sha256',
      verified_at = clock_timestamp()
    where p.part_id = v_part.part_id;
    perform logloom_private.discard_object(v_part.tenant_id, v_part.object_key, 'erased');
  end if;
  update logloom_private.archive_erasures e
  set position_number = v_part.number, failures = 0, error = null,
    next_attempt_at = clock_timestamp(),
    records = e.records + coalesce(v_part.records - v_left, 0),
    parts = e.parts + (coalesce(v_left < v_part.records, false))::integer
  where e.run_id = p_claim.run_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
  perform logloom_private.end_archive_erasure(p_claim.run_id);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_refused (
  p_stream  logloom.log_streams,
  p_status  integer,
  p_error   text,
  p_refused jsonb,
  p_answer  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_stream.batch_records = 1
    and logloom_private.pauses_unproven(p_stream, p_status, p_error, p_answer)
  then
    return;
  end if;
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    -- Smaller batches do not help if a single record is too large.
    batch_bytes = case when p_status = 413 and s.batch_records > 1
      then greatest(least(s.batch_bytes, s.batch_size / 2), 10000) else s.batch_bytes end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
  else
    perform
      logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error),
      logloom_private.end_answered_batch(p_stream, 0, p_status, p_error, p_answer);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_stream_batch (
  p_stream_id   uuid,
  p_claim_id    uuid,
  p_batch_id    uuid,
  p_outcome     text,
  p_status      integer,
  p_error       text,
  p_retry_after integer,
  p_refused     jsonb,
  p_rejected    integer,
  p_secrets     jsonb,
  p_release     boolean,
  p_answer      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role writes streams
declare
  v_stream logloom.log_streams;
  v_error constant text := left(p_error, 500);
  v_answer constant text := left(p_answer, 500);
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
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end,
      test_answer = v_answer,
      is_proven = s.is_proven or p_outcome = 'delivered',
      -- The receiver works again, so waiting records are sent now.
      attempts = case when p_outcome = 'delivered' then 0 else s.attempts end,
      next_attempt_at = case when p_outcome = 'delivered' then now() else s.next_attempt_at end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected, v_answer);
    if v_stream.claim_id is distinct from p_claim_id then
      -- The batch was sent with the old settings, so it proves nothing about a new address.
      update logloom.log_streams s set is_proven = v_stream.is_proven
      where s.stream_id = p_stream_id;
    end if;
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused, v_answer);
  else
    perform logloom_private.fail_stream(
      v_stream, p_status, v_error, v_answer, p_retry_after
    );
  end if;
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id;
  if found and p_release then
    perform logloom_private.release_stream(v_stream);
  end if;
  return v_stream.claim_id is not null and p_release is not true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_write (
  p_claim   logloom_private.archive_claims,
  p_details jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if (p_details ->> 'records')::integer is distinct from p_claim.records then
    perform logloom_private.release_archive_claim(
      p_claim,
      format('The file has %s records, expected %s', p_details ->> 'records', p_claim.records)
    );
    return;
  elsif logloom_private.was_erased_since(
    p_claim.tenant_id, p_claim.claimed_at, p_claim.first_ts, p_claim.last_ts
  ) then
    perform logloom_private.release_archive_claim(
      p_claim, 'Records were erased while the file was written'
    );
    return;
  end if;
  update logloom.archive_parts p
  set status = 'verified', records = p_claim.records, first_ts = p_claim.first_ts,
    last_ts = p_claim.last_ts, bytes = (p_details ->> 'bytes')::bigint,
    sha256 = p_details ->> 'sha256', verified_at = clock_timestamp()
  where p.part_id = p_claim.part_id and p.status = 'draft';
  update logloom_private.archive_passes p
  set position_ts = p_claim.last_ts, position_id = p_claim.last_id, failures = 0, error = null,
    next_attempt_at = clock_timestamp()
  where p.tenant_id = p_claim.tenant_id;
  delete from logloom_private.archive_claims c where c.claim_id = p_claim.claim_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.short_cuts (
  p_query logloom_private.compiled_query,
  OUT     counts boolean,
  OUT     sizes boolean
)
  RETURNS record
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  counts := not logloom_private.reads_hidden(
    p_query.by_fields || logloom_private.query_reads(p_query.plan), p_query.hidden_fields
  );
  sizes := p_query.hidden_fields is null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shown_band (
  p_bands logloom_private.alert_band[],
  p_group jsonb
)
  RETURNS public.logloom_alert_preview_band[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select array_agg(
      row(b.window_end, b.usual, b.threshold)::public.logloom_alert_preview_band
      order by b.window_end
    )
    from unnest(p_bands) b
    where b."group" is not distinct from p_group
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shown_baseline (
  p_rule logloom.alert_rules
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads the kept values
begin
  return case when p_rule.baseline_days is not null then jsonb_build_object(
    'days', p_rule.baseline_days,
    'deviations', p_rule.threshold,
    'known_days', (
      select count(*)
      from logloom_private.rule_values v
      where v.rule_id = p_rule.rule_id and v.window_end = any (
        logloom_private.baseline_ends(
          coalesce(p_rule.last_evaluated_at, now()), p_rule.baseline_days
        )
      )
    )
  ) end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_of (
  p_row logloom.alert_rules
)
  RETURNS public.logloom_alert_rule
  LANGUAGE sql
  STABLE
RETURN
  ROW((p_row).rule_id, (p_row).tenant_id, (p_row).name, (p_row).description, (p_row).query_dsl, (p_row).threshold, ((p_row).comparison)::public.logloom_alert_comparison,
  (p_row).window_minutes,
  (p_row).cooldown_minutes,
  (p_row).enabled,
  (p_row).notification_destinations,
  (p_row).notification_config,
  (p_row).created_at,
  (p_row).updated_at,
  (p_row).last_evaluated_at,
  (p_row).last_value,
  (p_row).last_error,
  (p_row).view_id,
  (p_row).notify_on_recovery,
  (p_row).for_minutes,
  (p_row).on_absent,
  (p_row).group_wait_seconds, logloom_private.shown_secrets((p_row).notification_secrets), logloom_private.shown_baseline(p_row), logloom_private.late_seconds(p_row));

CREATE OR REPLACE FUNCTION logloom_private.silence_reason (
  p_what    text,
  p_silence interval,
  p_limit   interval
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN CASE WHEN (NOT isfinite(p_silence)) THEN format('%s ever succeeded by this clock'::text, p_what) ELSE
  format('%s succeeded for %s s (limit %s s)'::text, p_what, round(EXTRACT(epoch FROM p_silence)), (round(EXTRACT(epoch FROM p_limit), 3))::double precision) END;

CREATE OR REPLACE FUNCTION logloom_private.silence_since (
  p_at  timestamp with time zone,
  p_now timestamp with time zone
)
  RETURNS interval
  LANGUAGE sql
  STABLE
RETURN CASE WHEN (p_at <= (p_now + '00:00:05'::interval)) THEN GREATEST((p_now - p_at), '00:00:00'::interval) ELSE 'infinity'::interval END;

CREATE OR REPLACE FUNCTION logloom_private.silent_hosts (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_shift     interval
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := upper(p_range) - (upper(p_range) - lower(p_range)) / 24;
  v_lately constant tstzrange := tstzrange(v_from, upper(p_range));
  v_before constant tstzrange := tstzrange(v_from - p_shift, upper(p_range) - p_shift);
begin
  if logloom_private.is_hidden('host', p_query.hidden_fields) then
    return null;
  end if;
  return (
    with after as materialized (
      select f.* from logloom_private.facet_counts(p_tenant_id, p_query, v_lately, 'host') f
    )
    select case
      when (select bool_or(a.is_cut) from after a) or bool_or(b.is_cut) then null
      else coalesce(
        array_agg(b.value order by b.records desc, b.value collate "C")
          filter (where a.value is null and b.value is not null and b.records >= 7),
        '{}'
      )
    end
    from logloom_private.facet_counts(p_tenant_id, p_query, v_before, 'host') b
    left join after a using (value)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.slice_counts (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_edges     timestamp with time zone[]
)
  RETURNS bigint[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_counted logloom_private.sql_source;
  v_counts bigint[];
begin
  p_query.by_fields := '{}';
  p_query.aggregate := 'count';
  if p_edges[3] - p_edges[2] < interval '1 minute'
    or jsonb_array_length(p_query.plan -> 'rows') > 0
    or not (logloom_private.short_cuts(p_query)).counts
  then
    return null;
  end if;
  v_counted := logloom_private.counted_rows_sql(
    p_tenant_id, p_query, p_query.ts_from, p_query.ts_to
  );
  if v_counted.from_sql is not null then
    execute format(
      $query$
        select array_agg(coalesce(c.events, 0)::bigint order by s.slice)
        from generate_series(1, %s) s (slice)
        left join (
          select width_bucket(l.ts, $1) as slice, sum(l.events) as events
          %s
          group by 1
        ) c on c.slice = s.slice
      $query$,
      cardinality(p_edges) - 1, logloom_private.source_sql(v_counted)
    )
    into v_counts
    using p_edges;
  end if;
  return v_counts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.slice_edges (
  p_tenant_id text,
  p_query     logloom_private.compiled_query
)
  RETURNS timestamp WITH time zone[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Neither 8 nor 37 cuts 7 or 30 days into whole days: slices end at different hours.
  v_slices constant integer := case
    when logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to) then 8
    else 37
  end;
  v_length constant interval := (p_query.ts_to - p_query.ts_from) / v_slices;
  v_unit constant interval := case
    when v_length >= interval '1 minute' then '1 minute' else '1 microsecond' end;
begin
  return p_query.ts_from || array(
    select date_bin(v_unit, p_query.ts_from + n * v_length, 'epoch')
    from generate_series(1, v_slices - 1) n
    order by n
  ) || p_query.ts_to;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.source_count_sql (
  p_source logloom_private.counted_source,
  p_filter text                           DEFAULT ''::text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return format('coalesce(%s%s, 0)::double precision', p_source.count_sql, p_filter);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.source_sql (
  p_source logloom_private.sql_source
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'from ' || p_source.from_sql || ' where ' || p_source.where_sql
    || coalesce(' order by ' || p_source.order_sql, '')
    || coalesce(' limit ' || p_source.max_rows, '');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sized_rows_sql (
  p_rows  logloom_private.sql_source,
  p_bytes bigint,
  p_size  text                       DEFAULT NULL::text
)
  RETURNS logloom_private.sql_source
  LANGUAGE sql
  STABLE
RETURN
  logloom_private.rows_from(format((('(select l.*, coalesce(sum(l.size) over (order by %2$s rows between unbounded preceding '::text ||
  'and 1 preceding), 0) < %3$s as fits from (select l.*, '::text) || '%4$s as size from (select l.* %1$s) l) l) l'::text),
  logloom_private.source_sql(p_rows), (p_rows).order_sql, p_bytes, COALESCE(p_size, 'coalesce(l.record_bytes, octet_length(to_json(l)::text))'::text)));

CREATE OR REPLACE FUNCTION logloom_private.span_start (
  p_day  date,
  p_days integer
)
  RETURNS date
  LANGUAGE sql
  IMMUTABLE
RETURN (p_day - ((p_day - '0001-01-01'::date) % p_days));

CREATE OR REPLACE FUNCTION logloom_private.split_long_block (
  p_place logloom_private.retention_place
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant record;
  v_through text;
  v_block_id bigint;
  v_error text;
begin
  -- Goes tenant by tenant, because the blocks may be on other nodes.
  for v_tenant in
    select k.tenant_id, logloom_private.block_days(p_place.today - k.first_kept_day) as days
    from logloom_private.first_kept_days(p_place.today) k
    where k.tenant_id > p_place.spans_through
    order by k.tenant_id
    limit logloom_private.retention_step_tenants()
  loop
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_tenant.tenant_id and c.holds_counts
      and logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts) >= v_tenant.days;
    if v_block_id is not null then
      begin
        perform logloom_private.rewrite_blocks(
          v_tenant.tenant_id, array[v_block_id], v_tenant.days
        );
        v_through := coalesce(v_through, p_place.spans_through);
      exception
        when lock_not_available or disk_full then
          raise;
        when others then
          -- The next retention tries it again.
          v_error := format('%s: %s', sqlstate, sqlerrm);
          v_through := v_tenant.tenant_id;
      end;
      exit;
    end if;
    v_through := v_tenant.tenant_id;
  end loop;
  update logloom_private.retention_place p
  set spans_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.spread_sample_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_edges     timestamp with time zone[],
  p_counts    bigint[]
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_records constant integer := logloom_private.sample_records();
  v_bytes constant integer := logloom_private.sample_bytes();
  v_slice record;
  v_parts text[] := '{}';
begin
  if jsonb_array_length(p_query.plan -> 'rows') > 0 or 0 = all (p_counts) then
    return logloom_private.newest_sample_sql(p_tenant_id, p_query, v_records, v_bytes);
  end if;
  for v_slice in
    select
      n,
      ceil(v_records * coalesce(
        p_counts[n] / nullif((select sum(c.count) from unnest(p_counts) c (count)), 0),
        1.0 / (cardinality(p_edges) - 1)
      ))::integer as records
    from generate_series(1, cardinality(p_edges) - 1) n
    where p_counts is null or p_counts[n] > 0
  loop
    p_query.ts_from := p_edges[v_slice.n];
    p_query.ts_to := p_edges[v_slice.n + 1];
    v_parts := v_parts || format(
      '(select l.*, row_number() over (order by l.ts desc, l.id desc) as place %s)',
      logloom_private.source_sql(logloom_private.newest_sample_sql(
        p_tenant_id, p_query, v_slice.records,
        (v_bytes::bigint * v_slice.records / v_records)::integer
      ))
    );
  end loop;
  -- Takes the first record of every slice before any second record, so that one slice with large
  -- records cannot fill the sample.
  return logloom_private.rows_from(
    format(
      '(select l.*, coalesce(sum(l.size) over (order by l.place, l.ts, l.id '
        || 'rows between unbounded preceding and 1 preceding), 0) < %s as is_sampled '
        || 'from (%s) l) l',
      v_bytes, array_to_string(v_parts, ' union all ')
    ),
    'l.is_sampled'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stage_alert_writes (
  p_round logloom_private.alert_rounds,
  p_from  timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET enable_seqscan TO 'off'
  AS $function$
declare
  -- The table's name is in a variable, because the linter reports tables that it does not find.
  v_staged constant text := 'pg_temp.alert_writes';
begin
  delete from logloom_private.alert_round_writes a where true;
  if p_round.write_seq_from = p_round.write_seq_to then
    -- Nothing arrived. Creating a table would write to a dozen catalogs.
    return;
  end if;
  -- Stages the new records once for all tenants and groups, in a temporary table, because only this
  -- round uses it.
  perform logloom_private.empty_staging_table(v_staged);
  execute 'insert into ' || v_staged || ' select l.* from logloom.logs l '
    || 'where l.tenant_id in (select g.tenant_id from logloom_private.alert_groups g) '
    || format(
      'and l.write_seq > %s and l.write_seq <= %s and l.ts >= %L::timestamptz',
      p_round.write_seq_from, p_round.write_seq_to, p_from
    );
  execute 'analyze ' || v_staged;
  execute 'insert into logloom_private.alert_round_writes (tenant_id, first_ts, records) '
    || 'select s.tenant_id, min(s.ts), count(*) from ' || v_staged || ' s group by 1';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.staged_sql (
  p_query logloom_private.compiled_query,
  p_rows  logloom_private.sql_source
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_bound constant integer := (
    select s.search_stage_records from logloom_private.settings s
  );
  v_columns constant text := (
    select string_agg('l.' || f.name, ', ')
    from unnest(logloom_private.record_fields()) f
    where f.shown is not null and f.name <> 'attrs'
  );
  v_sql text;
  v_stage jsonb;
begin
  if coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    return p_rows;
  end if;
  p_rows.max_rows := least(p_rows.max_rows, v_bound + 1);
  v_sql := format(
    'select l.* from (select l.*, row_number() over () as read_as from (select l.* %s) l) l '
      || 'where l.read_as <= %s or logloom_private.refuse_stage_bound(%L, %2$s, ''records'')',
    logloom_private.source_sql(p_rows), v_bound, p_query.plan -> 'rows' -> 0 ->> 'stage'
  );
  for v_stage in select s from jsonb_array_elements(p_query.plan -> 'rows') s loop
    if v_stage ->> 'stage' = 'where' then
      v_sql := 'select l.* from (' || v_sql || ') l where '
        || logloom_private.query_sql(v_stage -> 'tree', 'l');
    else
      -- Because of "offset 0" each record is extracted once. Existing attributes are not replaced.
      v_sql := format(
        'select %s, coalesce(nullif(%s, ''{}'') '
          || '|| coalesce(l.attrs, ''{}''), l.attrs) as attrs, l.read_as from (%s) l offset 0',
        v_columns, logloom_private.extraction_sql(
          v_stage, logloom_private.query_group_sql(v_stage -> 'field', 'l')
        ), v_sql
      );
    end if;
  end loop;
  return logloom_private.rows_from('(' || v_sql || ') l');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stages_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    e.name, e.status, e.message,
    coalesce(
      e.hint,
      'Write count(), rate(), count_distinct(field), or sum, avg, min, max, p50, p95, p99 or '
        'p99.9 of an attribute, min or max of ts; then nothing or: by field, field. Other stages '
        'are where, sort, limit, fields, json, logfmt, extract, extract_regexp, math and patterns.'
    ),
    e.explanation
  from (
    values
    ('stages.bracket_is_missing', 400, 'A bracket is missing after %s', 'Write %2$s', null),
    ('stages.aggregate_is_of_another_language', 400, 'Unknown aggregate %s', 'Write %2$s', null),
    ('stages.stage_is_of_another_language', 400, 'Unknown stage %s', 'Write %2$s', null),
    ('stages.aggregate_needs_a_bar', 400, 'A term is missing before %s',
      'An aggregate follows a bar: %2$s', null),
    ('stages.or_is_a_word', 400, '|| is not an operator',
      'Write OR between two terms, in upper case. One | begins a stage, such as | count().', null),
    ('stages.or_joins_values', 400, '| is not an operator', 'Write %s', null),
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
    ('stages.name_is_missing', 400, 'A name is missing after "as"',
      'A name is letters, digits and _: count() as n', null),
    ('stages.width_is_missing', 400, 'A width of time is missing after "by ("',
      'Write by (5m), with s, m, h, d or w.', null),
    ('stages.condition_is_missing', 400, 'A condition is missing after "if"',
      'Write count() if (level:error).', null),
    ('stages.math_needs_an_aggregate', 400, 'math needs an aggregate before it',
      'Write | count() if (level:error) as errors, count() as all | math errors / all as share',
      null),
    ('stages.math_ends_early', 400, 'A number is missing at the end',
      'math computes with numbers and with %2$s.', null),
    ('stages.math_result_is_unknown', 400, 'No number to compute with: %s',
      'math computes with numbers and with %2$s.', null),
    ('stages.math_needs_a_name', 400, '"as" is missing before %s',
      'Write math errors / all * 100 as share.', null),
    ('stages.extract_needs_a_pattern', 400, '%s needs a pattern in quotes',
      'Write extract "<method> <path>" from msg, or extract_regexp "took (?P<ms>[0-9]+)ms".', null),
    ('stages.extract_names_nothing', 400, 'The pattern of %s names nothing', 'Write %s %2$s', null),
    ('stages.extract_names_twice', 400, 'The pattern of %s gives two parts the same name',
      'Rename one of them.', null),
    ('stages.extract_name_is_wrong', 400, 'Invalid name between < and >: %s',
      'A name has at most 60 letters, digits and _, and begins with no digit. For a text that has '
        '< and >, use extract_regexp.', null),
    ('stages.extract_names_touch', 400, 'Two names have no text between them',
      'Write the text that separates them, such as "<method> <path>".', null),
    ('stages.two_widths', 400, '"by" has two widths of time', 'Leave one out.', null),
    ('stages.two_columns_of_one_name', 400, 'Two columns are called %s',
      'Leave one out, or name an aggregate: p95(@duration_ms) as slow', null),
    ('stages.too_many_aggregates', 400, 'More than 8 aggregates', 'Leave some out.', null),
    ('stages.too_many_fields', 400, 'More than 50 fields', 'Leave some out.', null),
    ('stages.sort_needs_by', 400, '"by" is missing after "sort"', 'Write | sort by %s', null),
    ('stages.sort_order_comes_last', 400, 'No column to sort by: %s', 'Write | sort by %2$s', null),
    ('stages.sort_column_is_missing', 400, 'A name to sort by is missing', 'The columns are %2$s.',
      null),
    ('stages.sort_ts_is_missing', 400, 'A name to sort by is missing',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.sort_column_is_unknown', 400, 'No column to sort by: %s', 'The columns are %2$s.',
      null),
    ('stages.records_are_sorted_by_ts', 400, 'Records are sorted by ts only',
      'Write sort by ts or sort by ts desc; an aggregate before it makes rows.', null),
    ('stages.where_is_empty', 400, 'A comparison is missing after "where"',
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
      'The order is json, logfmt, extract and where, then an aggregate or patterns, then math and '
        'where, then sort and limit; without an aggregate, sort, limit and fields follow where. '
        'sort, limit and fields stand once each.', null),
    ('stages.too_many', 400, 'The query has more than 10 stages', 'Join them, or leave some out.',
      null),
    ('stages.takes_a_text', 400, '%s takes a field that holds a text',
      'Write %s msg, or an attribute that holds a text.', null),
    ('stages.something_follows', 400, 'Nothing may follow %s here: %s',
      'A stage ends at the next | or at the end of the query.', null),
    ('stages.aggregate_needs_a_field', 400, '%s needs a field', null, null),
    ('stages.by_needs_a_field', 400, 'A field is missing after "by"', null, null),
    ('stages.fields_needs_a_field', 400, 'A field is missing after "fields"',
      'Write, for example: fields ts, msg, @status.', null),
    ('stages.needs_a_field', 400, '%s needs a field',
      'Write %s msg, or an attribute that holds a text.', null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_aggregates (
  p_query logloom_private.compiled_query
)
  RETURNS jsonb
  LANGUAGE sql
  IMMUTABLE
RETURN COALESCE(((p_query).plan -> 'aggregates'::text), '[{"kind": "count", "name": "count", "field": null}]'::jsonb);

CREATE OR REPLACE FUNCTION logloom_private.stats_source (
  p_tenant_id   text,
  p_query       logloom_private.compiled_query,
  p_only_counts boolean,
  p_bucket      bigint
)
  RETURNS logloom_private.counted_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := p_query.ts_from;
  v_to constant timestamptz := p_query.ts_to;
  v_counts constant boolean := (logloom_private.short_cuts(p_query)).counts;
  v_is_sealed constant boolean := p_bucket is null
    and logloom_private.reads_sealed(p_tenant_id, p_query.ts_from, p_query.ts_to);
  v_rows_from timestamptz;
  v_counted_from timestamptz := p_query.ts_from;
  v_counts_sealed boolean;
  v_rows logloom_private.sql_source;
  v_key constant text := logloom_private.only_number(p_query);
  v_groups logloom_private.counted_source;
  -- The fields of groups and of conditions.
  v_fields constant text[] := p_query.by_fields
    || logloom_private.query_reads(logloom_private.stats_aggregates(p_query));
begin
  if v_is_sealed then
    v_rows_from := greatest(v_from, coalesce(
      logloom_private.day_start((logloom_private.days_with_rows(p_tenant_id, v_from, v_to))[1]),
      v_to
    ));
  end if;
  if v_counts and p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0 then
    p_query.aggregate := 'count';
    v_counts_sealed := v_is_sealed and v_fields <@ array['level', 'service'];
    -- For days without rows, counting blocks is faster than reading log_counts.
    if v_counts_sealed and v_to - v_from >= interval '1 day' then
      v_counted_from := v_rows_from;
    end if;
    if p_bucket is null or p_bucket % 60 = 0 then
      v_rows := logloom_private.counted_rows_sql(p_tenant_id, p_query, v_counted_from, v_to);
    end if;
    if v_rows.from_sql is not null and v_from < v_counted_from then
      v_rows := logloom_private.rows_from(
        '(select l.level, l.service, l.events ' || logloom_private.source_sql(v_rows)
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_counted_from) || ') l'
      );
    elsif v_rows.from_sql is null and v_counts_sealed then
      v_rows := logloom_private.rows_from(
        '(select l.level, l.service, 1::bigint as events '
        || logloom_private.source_sql(logloom_private.rows_sql(
          p_tenant_id, v_from, v_to, p_query.filter, array['level', 'service']
        ))
        || ' union all '
        || logloom_private.sealed_counts_sql(p_tenant_id, p_query, v_from, v_to) || ') l'
      );
    end if;
    if v_rows.from_sql is not null then
      return (v_rows, 'sum(l.events)', null, false)
        ::logloom_private.counted_source;
    end if;
  end if;
  if v_counts and v_is_sealed and (
    p_only_counts and coalesce(jsonb_array_length(p_query.plan -> 'rows'), 0) = 0
    or v_key is not null
  )
  then
    v_groups := logloom_private.groups_source(p_tenant_id, p_query, v_rows_from, v_key);
    if v_groups.count_sql is not null then
      return v_groups;
    end if;
  end if;
  v_rows := logloom_private.staged_sql(p_query, logloom_private.records_sql(
    p_tenant_id, p_query, v_from, v_to,
    case when not p_query.plan ? 'rows' then
      logloom_private.query_reads(p_query.plan)
        || case when p_bucket is null then '{}' else array['ts'] end
    end
  ));
  if jsonb_array_length(
    jsonb_path_query_array(p_query.plan, 'strict $.** ? (@.field == "attrs")')
  ) > 4 then
    v_rows := logloom_private.held_rows_sql(v_rows);
  end if;
  -- Counts a column, so that rows that are sorted for grouping have a second column. If rows have a
  -- single column, PostgreSQL 17 does not count the memory for sorting it.
  return (
    v_rows, 'count(l.tenant_id)', null, false
  )::logloom_private.counted_source;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stats_values_sql (
  p_aggregates jsonb,
  p_source     logloom_private.counted_source,
  p_minutes    numeric
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select case
      when a.item ->> 'kind' = 'count'
        then logloom_private.source_count_sql(p_source, f.sql)
      when a.item ->> 'kind' = 'rate'
        then logloom_private.source_count_sql(p_source, f.sql)
          || format(' / %L::double precision', p_minutes)
      when p_source.has_numbers then logloom_private.numbers_aggregate_sql(a.item, a.n, f.sql)
      else logloom_private.query_aggregate_sql(a.item, 'l', f.sql)
    end
    from jsonb_array_elements(p_aggregates) with ordinality a (item, n)
    cross join lateral (
      -- The columns c1, c2 … of groups say whether the aggregate's condition holds.
      select case
        when p_source.keys_sql is not null and a.item ? 'condition'
          then format(' filter (where l.c%s)', a.n)
        else logloom_private.query_condition_sql(a.item, 'l')
      end as sql
      offset 0
    ) f
    order by a.n
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.step_at (
  p_block logloom_private.blocks,
  p_ts    timestamp with time zone
)
  RETURNS bigint
  LANGUAGE sql
  STABLE
  PARALLEL SAFE
RETURN
  ceil(((EXTRACT(epoch FROM (GREATEST(LEAST(p_ts, ((p_block).last_ts + '00:00:00.000001'::interval)), (p_block).first_ts) - (p_block).first_ts)) * (1000000)::numeric) /
  ((p_block).ts_unit)::numeric));

CREATE OR REPLACE FUNCTION logloom_private.storage_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_storage constant logloom_private.storage := (select s from logloom_private.storage s);
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_limit constant bigint := v_settings.max_storage_bytes;
  v_percent constant numeric := round(100.0 * v_storage.bytes / v_limit, 1);
  v_refuses constant boolean := v_storage.bytes >= v_limit
    and (v_settings.storage_policy = 'refuse' or v_storage.is_stuck);
  v_sizes constant text := format(
    '%s of %s', pg_size_pretty(v_storage.bytes), pg_size_pretty(v_limit)
  );
  v_bytes_per_day bigint;
  v_days numeric;
begin
  select
    (v_storage.bytes - h.bytes)
      / (extract(epoch from v_storage.measured_at - h.measured_at) / 86400)
  into v_bytes_per_day
  from generate_series(1, 7) d
  join logloom_private.storage_hours h on h.hour
    = date_trunc('hour', v_storage.measured_at, 'UTC') - make_interval(hours => 24 * d)
  order by h.hour
  limit 1;
  if v_bytes_per_day > 0 and v_storage.bytes < v_limit then
    v_days := round((v_limit - v_storage.bytes)::numeric / v_bytes_per_day, 1);
  end if;
  return logloom_private.health_grade(
    case when v_refuses then format('Storage is full (%s): ingest is refused', v_sizes) end,
    case when v_percent >= 80 and not v_refuses then concat_ws(
      ', ',
      format('Storage is %s %% full (%s)', floor(v_percent), v_sizes),
      'full in ' || v_days || ' days at this rate'
    ) end
  ) || jsonb_build_object(
    'stored_bytes', v_storage.bytes,
    'limit_bytes', v_limit,
    'percent', v_percent,
    'policy', v_settings.storage_policy,
    'days_until_full', v_days,
    'bytes_per_day', v_bytes_per_day,
    'reusable_bytes', v_storage.reusable_bytes,
    'measured_at', v_storage.measured_at
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_claim_lifetime()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:01:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.stream_config_members()
  RETURNS TABLE (
    name      text,
    kinds     text[],
    is_needed boolean,
    pattern   text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Same rules as for webhooks: printable ASCII, no userinfo, plain HTTP only to this machine.
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
      ('encoding', '{otlp}', false, '^(json|protobuf)$'),
      ('tags', '{datadog}', false, '^[A-Za-z0-9_:./,-]+$'),
      ('endpoint', '{s3}', true, '^(?![^/]*//[^/?#]*[@\\])(?!.*[?#])' || substr(v_address, 2)),
      ('region', '{s3}', true, '^[a-z0-9][a-z0-9-]{0,62}$'),
      ('bucket', '{s3}', true, '^[a-z0-9][a-z0-9.-]{1,62}$'),
      ('prefix', '{s3}', false,
        '^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$'),
      ('access_key_id', '{s3}', true, '^[A-Za-z0-9_-]{3,128}$')
  ) m (name, kinds, is_needed, pattern);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_gives_up_after()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '72:00:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.stream_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- After this time a pause is no longer reported.
  v_shown constant interval := '7 days';
  v_max_lag constant interval := (select s.stream_lag_limit from logloom_private.settings s);
  v_paused bigint;
  v_lag interval;
begin
  select
    count(*) filter (
      where s.pause_reason = 'failing' and s.paused_at > p_now - v_shown
    ),
    -- Leaves out streams that wait for their receiver.
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
        format('%s log streams were paused because they failed for too long', v_paused)
      end,
      case when v_lag > v_max_lag then
        format('a log stream is %s behind', justify_interval(date_trunc('second', v_lag)))
      end
    )
  ) || jsonb_build_object(
    'paused', v_paused,
    'lag_seconds', coalesce(round(extract(epoch from v_lag), 3), 0)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_maker()
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN CASE WHEN (NOT logloom_private.is_service_role()) THEN logloom_private.current_user_id() ELSE NULL::text END;

CREATE OR REPLACE FUNCTION logloom_private.stream_query (
  p_stream logloom.log_streams
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.scope_of_view(p_stream.tenant_id, p_stream.view_id);
  v_query logloom_private.compiled_query;
  v_hops jsonb;
begin
  if logloom_private.is_hidden('attrs.logloom_hops', v_scope.hidden_fields) then
    v_hops := (logloom_private.parse_query('-@logloom_hops:>=3')).tree;
    v_scope.filter := case when v_scope.filter is null then v_hops else jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_hops)
    ) end;
  end if;
  v_query := logloom_private.scoped_query(
    v_scope, logloom_private.parse_query(p_stream.query_dsl, now()), p_stream.query_dsl
  );
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_retry_base()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:00:10'::interval;

CREATE OR REPLACE FUNCTION logloom_private.stream_delay (
  p_attempts    integer,
  p_retry_after integer
)
  RETURNS interval
  LANGUAGE sql
RETURN
  GREATEST(logloom_private.back_off(p_attempts, logloom_private.stream_retry_base(), '00:15:00'::interval), LEAST(make_interval(secs => (COALESCE(p_retry_after, 0))::double
  precision), logloom_private.stream_gives_up_after()));

CREATE OR REPLACE FUNCTION logloom_private.stream_secret_names (
  p_kind text
)
  RETURNS text[]
  LANGUAGE sql
  IMMUTABLE
RETURN CASE p_kind WHEN 'webhook'::text THEN '{signing_secret,header.*}'::text[] WHEN 'splunk_hec'::text THEN '{token,header.*}'::text[] WHEN 'datadog'::text THEN
  '{api_key,header.*}'::text[] WHEN 's3'::text THEN '{secret_access_key}'::text[] ELSE '{header.*}'::text[] END;

CREATE OR REPLACE FUNCTION logloom_private.streams_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('streams.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the stream after its destination.', null),
    ('streams.kind_is_unknown', 400, 'Invalid p_kind',
      'One of webhook, otlp, loki, elasticsearch, splunk_hec, datadog and s3.', null),
    ('streams.query_has_stages', 400, 'A log stream takes a query without stages',
      'Remove the first bar and all that follows it.', null),
    ('streams.config_is_no_object', 400, 'Invalid p_config: not an object',
      'Send {"url": "https://..."}; docs/guides/streams.md says what each kind takes.', null),
    ('streams.config_is_incomplete', 400, 'Invalid p_config: %s is missing',
      'A stream of the kind %2$s needs it.', null),
    ('streams.config_is_unknown', 400, 'Invalid p_config: unknown member %s',
      'A stream of the kind %2$s takes %3$s. Secrets go into p_secrets.', null),
    ('streams.config_is_invalid', 400, 'Invalid p_config: %s',
      'Addresses are https, without user and password; see docs/guides/streams.md. Secrets go '
        'into p_secrets.', 'The member is malformed, or contains a key of Logloom.'),
    ('streams.address_needs_secrets', 400, 'Invalid p_secrets: missing: %s',
      'The scheme, host or port has changed. Send every secret again, sealed; null removes one.',
      '`update_log_stream` with another address. The stored secrets were meant for the old one.'),
    ('streams.leads_to_itself', 400, 'The log stream would send to its own tenant',
      'Use a key of another tenant.', 'A secret is an API key of the tenant itself.'),
    ('streams.no_room', 400, 'Plan limit exceeded: log streams (max %s)',
      'Delete a stream that is no longer needed, or choose a larger plan.',
      'The plan''s `max_log_streams`.'),
    ('streams.outcome_is_unknown', 400, 'Invalid p_outcome', 'One of delivered, retry and refused.',
      null),
    ('streams.not_found', 404, 'Log stream not found',
      'list_log_streams shows the streams of this tenant.', null),
    ('streams.name_is_taken', 409, 'The tenant has another log stream of this name',
      'Choose another name, or change that stream by update_log_stream.', null),
    ('streams.tested_just_now', 429, 'The log stream was tested just now',
      'Wait %s seconds between two tests.', 'One test in 10 seconds.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_portal_read (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_minute constant timestamptz := date_trunc('minute', now());
  v_limit constant integer := (logloom_private.plan_of(p_tenant_id)).portal_requests_per_minute;
begin
  if (
    select coalesce(sum(r.reads), 0)
    from logloom_private.portal_reads r
    where r.tenant_id = p_tenant_id and r.minute = v_minute
  ) >= v_limit
  then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_minute + interval '1 minute' - now()))::integer,
      'portal.too_many_requests', v_limit::text
    );
  end if;
  update logloom_private.portal_reads r
  set reads = r.reads + 1
  where r.ctid = (
    select f.ctid
    from logloom_private.portal_reads f
    where f.tenant_id = p_tenant_id and f.minute = v_minute
    limit 1
    for no key update skip locked
  );
  if not found then
    insert into logloom_private.portal_reads (tenant_id, minute, reads)
    values (p_tenant_id, v_minute, 1);
  end if;
exception when read_only_sql_transaction or disk_full then
  -- The request is answered all the same.
  null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_search_slot (
  p_scope logloom_private.reading_scope
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := p_scope.tenant_id;
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_is_customer constant boolean :=
    p_scope.view_id is not null or p_scope.kind is not distinct from 'portal_session';
  v_own integer;
  v_slots integer;
  v_free_time interval;
begin
  -- Searches get half of PostgREST's connections. The other half answers other requests.
  select greatest(1, s.api_pool_size / 2), s.search_free_time
  into v_slots, v_free_time
  from logloom_private.settings s;
  if v_is_customer then
    perform
    from generate_series(1, greatest(1, least(v_plan.concurrent_searches, v_slots) / 2)) n
    where pg_try_advisory_xact_lock(logloom_private.search_slot_key('views of ' || v_tenant_id, n))
    limit 1;
    if not found then
      perform logloom_private.refuse_for_now(1, 'search.too_many_in_views');
    end if;
  end if;
  -- Takes the first free slot. Without "limit" the query would take all free slots.
  select n into v_own
  from generate_series(1, v_plan.concurrent_searches) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('of ' || v_tenant_id, n))
  limit 1;
  if v_own is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_of_this_tenant');
  end if;
  -- Parallel workers use processors, too. So only the tenant's first search gets them: with them it
  -- runs in as many processes as the plan has scan slots.
  perform set_config(
    'max_parallel_workers_per_gather',
    least(
      current_setting('max_parallel_workers_per_gather')::integer,
      case when v_own = 1 then v_plan.concurrent_scans - 1 else 0 end
    )::text,
    true
  );
  -- The last quarter of the slots is for tenants without a running search.
  if v_own > 1 then
    v_slots := v_slots - v_slots / 4;
  end if;
  perform
  from generate_series(1, v_slots) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('all', n))
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_are_running');
  end if;
  perform set_config(
    'logloom.scan',
    extract(epoch from clock_timestamp() + v_free_time) || ' ' || case
      when v_is_customer then
        logloom_private.search_slot_key('scans of views of ' || v_tenant_id, 0)
      else
        logloom_private.search_slot_key('scans of ' || v_tenant_id, v_own % v_plan.concurrent_scans)
    end,
    true
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_slot_to_keep (
  p_tenant_id text,
  p_query_dsl text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_quick_bytes constant integer := 256;
begin
  if octet_length(p_query_dsl) > v_quick_bytes then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.take_validation_slot (
  p_tenant_id text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform
  from generate_series(1, 2) n
  where pg_try_advisory_xact_lock(
    logloom_private.search_slot_key('validations of ' || p_tenant_id, n)
  )
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_validations');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tell_operators (
  p_message text,
  p_attrs   jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_state logloom_private.ingest_state;
  v_request logloom_private.ingest_request;
begin
  select t.tenant_id, s.max_record_bytes, s.max_record_values
  into v_state.tenant_id, v_state.max_record_bytes, v_state.max_record_values
  from logloom_private.settings s
  join logloom.tenants t on t.tenant_id = s.operators_tenant;
  if not found or logloom_private.is_being_deleted(v_state.tenant_id) then
    return;
  end if;
  v_request.p_ts := array[clock_timestamp()];
  v_request.p_level := array['warn'];
  v_request.p_msg := array[p_message];
  v_request.p_service := array['logloom'];
  v_request.p_attrs := array[p_attrs];
  perform logloom_private.enqueue(v_state, v_request);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.telling_windows (
  p_windows logloom_private.alert_window[]
)
  RETURNS TABLE (
    rule_id    uuid,
    window_end timestamp with time zone,
    error      text,
    seen       logloom_private.alert_window[],
    holding    logloom_private.alert_window[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    j.rule_id, j.window_end, min(j.error),
    coalesce(array_agg(j.found) filter (
      where num_nonnulls(j.value, j."group") > 0
    ), '{}'),
    coalesce(array_agg(j.found order by j."group") filter (where j.holds), '{}')
  from (
    select
      w.rule_id, w.window_end, w.error, w."group", w.value, h.holds, w as found,
      bool_or(h.holds or r.for_minutes > 0 or r.on_absent = 'fire') over (
        partition by w.rule_id
      ) as tells
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    cross join lateral logloom_private.alert_condition_holds(
      w.value, r.comparison,
      case when r.baseline_days is null then r.threshold
        else logloom_private.threshold_of_window(r, w) end
    ) h (holds)
  ) j
  where j.tells
    or exists (
      select from logloom.alert_incidents i
      where i.rule_id = j.rule_id and i.resolved_at is null
    )
  group by j.rule_id, j.window_end
  order by j.window_end, j.rule_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.template_counts_sql (
  p_tree jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_test constant text := logloom_private.templates_sql(p_tree);
  v_folds constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == true)'
  );
  v_keeps_case constant boolean := jsonb_path_exists(
    p_tree, 'strict $.** ? (@.field == "msg" && @.folds_case == false)'
  );
begin
  if v_test is null then
    return null;
  elsif not v_folds and not v_keeps_case then
    return $query$
      select l.service, l.level, sum(l.records)::bigint
      from logloom_private.blocks c
      cross join lateral unnest(c.run_services, c.run_levels, c.run_records)
        l (service, level, records)
      where c.tenant_id = $1 and c.block_id = any($2) and $query$ || v_test || $query$
      group by l.service, l.level
    $query$;
  end if;
  -- "|| '{}'" reads a stored array once. "offset 0" keeps the array for all its uses. Templates are
  -- read only if the words of a run may match.
  return format(
    $query$
      select l.service, l.level, sum(l.count)::bigint
      from (
        select
          x.*, x.stored_templates || '{}'::text[] as templates,
          x.stored_template_records || '{}'::integer[] as template_records
        from (
          select
            c.separator, c.run_services, c.run_levels, c.run_records, c.run_templates,
            c.templates as stored_templates, c.template_records as stored_template_records,
            array(
              select l.n::integer
              from unnest(c.run_services, c.run_levels, c.run_words)
                with ordinality l (service, level, words, n)
              where %1$s
              order by l.n
            ) as found
          from logloom_private.blocks c
          where c.tenant_id = $1 and c.block_id = any($2) and logloom_private.take_scan_slot($3)
          offset 0
        ) x
        where x.found <> '{}'
        offset 0
      ) c
      cross join lateral (
        select l.*, (
          select sum(u.templates)::integer from unnest(c.run_templates[1:l.n]) u (templates)
        ) as last
        from (
          select
            f.n, c.run_services[f.n] as service, c.run_levels[f.n] as level,
            c.run_records[f.n] as records, c.run_templates[f.n] as template_count,
            c.templates[f.n] as templates, %2$s as folded
          from unnest(c.found) f (n)
          offset 0
        ) l
        where %3$s
        offset 0
      ) s
      cross join lateral (
        select s.service, s.level, u.msg, u.folded, u.count
        from unnest(%4$s, %5$s, c.template_records[s.last - s.template_count + 1:s.last])
          u (msg, folded, count)
        where s.template_count > 0 and u.count is not null
        union all
        select s.service, s.level, null, null, s.records
        where s.template_count = 0
      ) l
      where %6$s
      group by l.service, l.level
    $query$,
    logloom_private.runs_sql(p_tree, true),
    case when v_folds then 'logloom_private.folded_text(c.templates[f.n])'
      else 'null::text' end,
    logloom_private.runs_sql(p_tree, false),
    case when v_keeps_case then 'string_to_array(s.templates, c.separator)'
      else 'null::text[]' end,
    case when v_folds then 'string_to_array(s.folded, c.separator)'
      else 'null::text[]' end,
    v_test
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.template_of (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
  PARALLEL SAFE
RETURN
  replace(replace(replace(replace(replace(replace(replace(replace(replace(p_text, '1'::text, '0'::text), '2'::text, '0'::text), '3'::text, '0'::text), '4'::text, '0'::text),
  '5'::text, '0'::text), '6'::text, '0'::text), '7'::text, '0'::text), '8'::text, '0'::text), '9'::text, '0'::text);

CREATE OR REPLACE FUNCTION logloom_private.tenant_rows_sql (
  p_tenant_id text,
  p_from      timestamp with time zone,
  p_to        timestamp with time zone,
  p_filter    text,
  p_table     text                     DEFAULT 'logloom.logs'::text,
  p_time      text                     DEFAULT 'ts'::text
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_days text := '';
begin
  -- Skips partitions without rows of the tenant. A range of at most 24 hours opens its one or two
  -- partitions, because looking up which of them have rows costs more.
  if p_table = 'logloom.logs' and (p_to <= p_from + interval '1 day') is not true then
    v_days := logloom_private.days_sql(
      logloom_private.days_with_rows(p_tenant_id, p_from, p_to)
    ) || ' and ';
  end if;
  return logloom_private.rows_from(
    p_table || ' l',
    format(
      'l.tenant_id = %1$L and l.%2$I >= %3$L::timestamptz and l.%2$I < %4$L::timestamptz and ',
      p_tenant_id, p_time, p_from, p_to
    ) || v_days || p_filter
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as the name of your company.', null),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md explains what each may do.', null),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view creates one.', null),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.', null),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', null),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of the user''s tokens.', null),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', null),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'The user must first sign up and confirm the address.', null),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no Supabase Auth that could find a user by p_email.', null),
    ('tenants.already_a_member', 400, 'The user is already a member of the tenant',
      'set_tenant_member_role changes the role of a member.', null),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'Once a tenant has a member, nobody else belongs to it.',
      '`service_role` adds the first member.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first. delete_tenant removes the whole tenant.', null),
    ('tenants.membership_not_found', 404, 'You do not belong to this tenant',
      'list_log_tenants shows the tenants that you belong to.',
      '`switch_log_tenant`: the tenant does not exist, or the caller is not a member.'),
    ('tenants.tenant_is_assigned', 409, 'An administrator chooses the tenant of this user',
      'Whoever runs the project can change app_metadata.tenant_id of the user.',
      '`switch_log_tenant`: `app_metadata.tenant_id` of the token names a tenant.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each member.', null),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. The id of a deleted tenant is free once all of its data is gone.',
      '`create_tenant`: a tenant with this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users without a tenant.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role creates one by add_tenant_member with p_tenant_id and p_role owner.', null),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project can add you to one, or turn on tenants_by_users in '
        'logloom_private.settings.', null),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to turn on tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is from an anonymous sign-in (claim `is_anonymous`), and its tenant does not '
        'exist yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Afterwards its id is free again.', null),
    ('tenants.deletes_another', 403, 'p_tenant_id is not the tenant of the token',
      'Nothing was deleted. Send the id of your own tenant; get_current_tenant shows it.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant is created by its first write: create, update or ingest.', null),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant is created by its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or choose a larger plan.',
      'The plan''s `max_saved_searches` or `max_alerts`.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.text_number (
  p_text text
)
  RETURNS numeric
  LANGUAGE plpgsql
  IMMUTABLE
  PARALLEL SAFE
  STRICT
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if octet_length(p_text) <= 300
    and p_text collate "C" ~ '^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?0*[0-9]{1,3})?$'
    and pg_input_is_valid(p_text, 'double precision')
  then
    return trim_scale(p_text::numeric);
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.threshold_of_window (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window
)
  RETURNS double precision
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_rule.baseline_days is null then
    return p_rule.threshold;
  end if;
  return (
    select b.threshold
    from logloom_private.usual_band(
      array(
        select coalesce(
          (v.values ->> logloom_private.group_key(p_window."group"))::double precision, v.others
        )
        from logloom_private.rule_values v
        where v.rule_id = p_rule.rule_id and v.window_end = any (
          logloom_private.baseline_ends(p_window.window_end, p_rule.baseline_days)
        )
      ),
      p_rule.comparison, p_rule.threshold
    ) b
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.token_is_valid (
  p_claims     jsonb,
  p_is_service boolean DEFAULT false
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET standard_conforming_strings TO 'on'
  AS $function$
-- definer because no API role reads the settings
declare
  v_aud constant jsonb := p_claims -> 'aud';
  v_audience constant text := (select s.token_audience from logloom_private.settings s);
  -- How far the clocks of issuer and database may differ.
  v_leeway constant interval := '5 seconds';
  v_name text;
  v_at numeric;
begin
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
    -- RFC 7519 calls these texts StringOrURI: a text with a colon must be a URI. PostgREST checks
    -- this, too.
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tree_without (
  p_tree   jsonb,
  p_hidden text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  case
    when p_tree ->> 'type' in ('and', 'or') then
      return p_tree || jsonb_build_object('items', (
        select jsonb_agg(logloom_private.tree_without(i.item, p_hidden) order by i.n)
        from jsonb_array_elements(p_tree -> 'items') with ordinality i (item, n)
      ));
    when p_tree ->> 'type' = 'not' then
      return p_tree || jsonb_build_object(
        'item', logloom_private.tree_without(p_tree -> 'item', p_hidden)
      );
    when p_tree ->> 'field' = 'any' then
      return p_tree || jsonb_build_object('hidden', p_hidden);
    else
      return p_tree;
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.trim_space (
  p_text text
)
  RETURNS text
  LANGUAGE sql
  IMMUTABLE
RETURN regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$'::text, ''::text, 'g'::text);

CREATE OR REPLACE FUNCTION logloom_private.truncate_age()
  RETURNS interval
  LANGUAGE sql
  IMMUTABLE
RETURN '00:01:00'::interval;

CREATE OR REPLACE FUNCTION logloom_private.unhealthy_checks (
  p_checks jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      c.key, jsonb_strip_nulls(jsonb_build_object(
        'status', c.value -> 'status', 'reason', c.value -> 'reason', 'state', c.value -> 'state'
      ))
    )
    from jsonb_each(p_checks) c
    where c.value ->> 'status' <> 'healthy'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unseal_day (
  p_tenant_id text,
  p_day       date
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_from constant timestamptz := p_day::timestamp at time zone 'UTC';
  v_block logloom_private.blocks;
  v_day date;
  v_inserted bigint;
  v_block_records bigint;
  v_records bigint := 0;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id
      and c.first_ts < v_from + interval '24 hours' and c.last_ts >= v_from
  loop
    perform logloom_private.require_intact(v_block);
    v_block_records := 0;
    -- Counts in numbers of days: a series of timestamps depends on the project's time zone, where a
    -- day may begin at one o'clock.
    for v_day in
      select logloom_private.utc_day(v_block.first_ts) + d.n
      from generate_series(
        0, logloom_private.utc_day(v_block.last_ts) - logloom_private.utc_day(v_block.first_ts)
      ) d (n)
    loop
      perform logloom_private.create_partition(v_day);
      update logloom_private.sealing_days d set prepared_by = null where d.day = v_day;
      insert into logloom_private.log_days (tenant_id, day) values (p_tenant_id, v_day)
      on conflict do nothing;
      -- Inserts directly into the partition: the counts already have these records, or get them
      -- below.
      execute format(
        'insert into logloom.%I select r.* '
          || 'from logloom_private.block_records($4, $1, null, null) r '
          || 'where r.ts >= $2 and r.ts < $3 order by r.ts, r.id',
        logloom_private.partition_name(v_day)
      )
      using
        v_block.block_id, v_day::timestamp at time zone 'UTC',
        (v_day + 1)::timestamp at time zone 'UTC', p_tenant_id;
      get diagnostics v_inserted = row_count;
      v_block_records := v_block_records + v_inserted;
    end loop;
    if v_block_records <> v_block.records then
      raise sqlstate 'LL001' using
        message = format(
          'Block %s has %s records instead of %s', v_block.block_id, v_block_records,
          v_block.records
        );
    end if;
    if v_block.holds_counts then
      perform logloom_private.count_sealed(v_block, null, 1);
    end if;
    delete from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = v_block.block_id;
    -- Erasures check rows first, then blocks. So an erasure that has already passed these rows must
    -- check them again.
    update logloom.retention_runs r
    set position_ts = greatest(v_block.first_ts, r.ts_from),
      position_id = '00000000-0000-0000-0000-000000000000'
    where r.tenant_id = p_tenant_id and r.kind = 'erasure' and r.status = 'running'
      and r.position_ts > greatest(v_block.first_ts, r.ts_from);
    v_records := v_records + v_block_records;
  end loop;
  return v_records;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.up_since()
  RETURNS timestamp WITH time zone
  LANGUAGE sql
  STABLE
RETURN pg_postmaster_start_time();

CREATE OR REPLACE FUNCTION logloom_private.usage_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the highest retention_days.', null),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Without p_months you get the current month.', null),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR can replace several.', null),
    ('usage.kind_is_unknown', 400, 'Invalid p_kind: one of retention, erasure, storage',
      'Leave it out for all deletions.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Write * to delete every record of the range.', null);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.usual_band (
  p_values     double precision[],
  p_comparison text,
  p_deviations double precision
)
  RETURNS TABLE (
    usual     double precision,
    threshold double precision
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  select percentile_cont(0.5) within group (order by v) into usual
  from unnest(p_values) v
  having count(v) >= logloom_private.baseline_least_days();
  -- Rounded, because messages show it.
  select round((
    usual + case when p_comparison in ('gt', 'gte') then 1 else -1 end * p_deviations
      * greatest(
        1.4826 * percentile_cont(0.5) within group (order by abs(v - usual)),
        sqrt(greatest(usual, 0)), 1
      )
  )::numeric, 3)
  into threshold
  from unnest(p_values) v;
  return next;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.utc_day (
  p_ts timestamp with time zone
)
  RETURNS date
  LANGUAGE sql
  IMMUTABLE
RETURN ((p_ts AT TIME ZONE 'UTC'::text))::date;

CREATE OR REPLACE FUNCTION logloom_private.value_hint (
  p_leaf   jsonb,
  p_source text
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_name constant text := p_leaf ->> 'name';
  v_value constant text := p_leaf -> 'values' ->> 0;
  v_field constant text := p_leaf -> 'path' ->> 0;
  v_events bigint;
  v_is_there boolean;
  v_is_number boolean;
  v_other_case text;
  v_is_pattern boolean;
  v_is_part boolean;
begin
  execute format(
    $query$
      select
        count(r.text) as events,
        bool_or(r.text = %1$L) as is_there,
        bool_or(jsonb_typeof(r.value) = 'number') as is_number,
        min(r.text) filter (where lower(r.text) = lower(%1$L)) as other_case,
        bool_or(r.text like %2$L) as is_pattern,
        bool_or(strpos(r.text, %1$L) > 0) as is_part
      from (select to_jsonb(%3$s) as value, %4$s as text from (select l.* %5$s) l) r
    $query$,
    v_value, case when v_value ~ '[*?]' then logloom_private.query_like(v_value) end,
    logloom_private.query_value_sql(p_leaf, 'l'), logloom_private.query_group_sql(p_leaf, 'l'),
    p_source
  )
  into v_events, v_is_there, v_is_number, v_other_case, v_is_pattern, v_is_part;
  return case
    when v_value is null then case when v_is_number then array[
      format('%s holds plain numbers, which have no unit', v_name),
      logloom_private.plain_comparison(p_leaf)
    ] end
    when v_is_there then null
    when v_events = 0 and v_field = any (logloom_private.query_field_names()) then array[
      format('%s is an attribute, and no event has it: %s is a field', v_name, v_field),
      logloom_private.query_meant_comparison(v_field || '=' || v_value)
    ]
    when v_other_case is not null then array[
      format('%s has another letter case: %s', v_name, v_other_case),
      logloom_private.query_meant_comparison(v_name || '=' || v_other_case)
    ]
    when v_is_pattern and v_value ~ '^[[:alnum:]_./*?-]+$' then array[
      'In quotes, * and ? are characters', v_name || ':' || v_value
    ]
    when v_is_part and v_value <> '' then array[
      format('%s is compared with the whole value', v_name),
      v_name || ':*' || regexp_replace(v_value, '([^[:alnum:]_./-])', '\\\1', 'g') || '*'
    ]
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.value_number (
  p_plan jsonb
)
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN CASE WHEN (p_plan ? 'math'::text) THEN cardinality(logloom_private.query_result_names(p_plan)) ELSE 1 END;

CREATE OR REPLACE FUNCTION logloom_private.verification_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_last logloom_private.verifications;
  v_differences bigint;
begin
  select v.* into v_last
  from logloom_private.verifications v
  where v.finished_at is not null
  order by v.verification_id desc
  limit 1;
  select coalesce(sum(v.differences), 0) into v_differences
  from logloom_private.verifications v
  where v.verification_id >= v_last.verification_id or v.finished_at is null;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s differences were found in stored records: '
        || 'see logloom_private.verification_differences',
      v_differences
    ) end
  ) || jsonb_build_object(
    'last_finished', v_last.finished_at,
    'blocks', v_last.blocks,
    'records', v_last.records,
    'differences', v_differences
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_block (
  p_block logloom_private.blocks,
  OUT     is_intact boolean,
  OUT     detail text
)
  RETURNS record
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_found record;
begin
  is_intact := logloom_private.block_is_intact(p_block);
  if not is_intact then
    detail := 'its checksum differs';
    return;
  end if;
  select
    count(*) as records, min(r.ts) as first_ts, max(r.ts) as last_ts,
    count(distinct r.id) as ids
  into v_found
  from logloom_private.sealed_records(p_block, null, null) r;
  detail := case
    when v_found.records <> p_block.records
      then format('%s records instead of %s', v_found.records, p_block.records)
    when v_found.first_ts <> p_block.first_ts or v_found.last_ts <> p_block.last_ts
      then format('records from %s to %s', v_found.first_ts, v_found.last_ts)
    when v_found.ids <> v_found.records
      then format('%s ids of %s records', v_found.ids, v_found.records)
  end;
exception
  when query_canceled or lock_not_available or disk_full then
    raise;
  -- A damaged value may raise any error. The next blocks are still verified.
  when others then
    detail := format('%s: %s', sqlstate, sqlerrm);
    -- Errors of the disk mean damage. Other errors, such as a lock or memory, say nothing about the
    -- block.
    if sqlstate like 'XX%' then
      is_intact := false;
    end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_next_archived (
  p_verification logloom_private.verifications
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_wanted constant bigint := logloom_private.verify_step_records();
  v_tenant_id text := p_verification.archive_tenant_through;
  v_day date := p_verification.archive_day_through;
  v_next record;
  v_found record;
  v_records bigint := 0;
  v_has_next boolean;
begin
  if not logloom_private.archive_reads_records() then
    return false;
  end if;
  for i in 1..100 loop
    select a.tenant_id, a.day into v_next
    from logloom_private.archived_days a
    where (a.tenant_id, a.day) > (v_tenant_id, v_day)
    order by a.tenant_id, a.day
    limit 1;
    v_has_next := found;
    exit when not v_has_next;
    select f.* into v_found
    from logloom_private.verify_archived(
      p_verification.verification_id, v_next.tenant_id, v_next.day
    ) f;
    if v_found.details <> '{}' then
      perform logloom_private.note_differences(
        p_verification.verification_id, v_next.tenant_id, v_next.day, null,
        array_fill('archive'::text, array[cardinality(v_found.details)]), v_found.details
      );
    end if;
    v_tenant_id := v_next.tenant_id;
    v_day := v_found.last_day;
    v_records := v_records + v_found.records;
    exit when v_records >= v_wanted;
  end loop;
  update logloom_private.verifications v
  set archive_tenant_through = v_tenant_id, archive_day_through = v_day
  where v.verification_id = p_verification.verification_id;
  return v_has_next;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_records (
  p_verification_id bigint,
  p_tenant_id       text,
  p_from            timestamp with time zone,
  p_to              timestamp with time zone
)
  RETURNS TABLE (
    records bigint,
    kinds   text[],
    details text[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query execute
  $query$
    with records as materialized (
      select l.id, l.ts, l.service, l.level, true as is_counted
      from logloom.logs l
      where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3
      union all
      select r.id, r.ts, r.service, r.level, not b.holds_counts
      from logloom_private.blocks b,
        logloom_private.block_records(
          b.tenant_id, b.block_id, null, array['id', 'ts', 'service', 'level']
        ) r
      where b.tenant_id = $1 and b.last_ts >= $2 and b.first_ts < $3
        and r.ts >= $2 and r.ts < $3 and b.block_id <> all ($4)
    ), counts as materialized (
      select c.*
      from logloom_private.log_counts c
      where c.tenant_id = $1 and c.minute >= $2 and c.minute < $3
    ), sides as (
      select date_bin('1 minute', r.ts, 'epoch') as minute, r.service, r.level, count(*) as events
      from records r
      where r.is_counted
      group by 1, 2, 3
      union all
      select c.minute, c.service, c.level, -c.events
      from counts c
    ), counted as (
      select
        s.minute, s.level, sum(s.events) as difference,
        -- If services were counted together, the counts cannot tell them apart. Then the service is
        -- ignored.
        case when not exists (
          select from counts c where c.is_other and c.minute = s.minute
        ) then s.service end as service
      from sides s
      group by s.minute, s.level, 4
      having sum(s.events) <> 0
    ), doubled as (
      select r.id, count(*) as times from records r group by r.id having count(*) > 1
    ), found as (
      (
        select
          'count' as kind,
          format(
            '%s: %s more records than counted for service %s, level %s', c.minute, c.difference,
            coalesce(to_json(left(c.service, 100))::text, 'none'), coalesce(c.level, 'none')
          ) as detail
        from counted c
        where cardinality($4) = 0
        order by c.minute
        limit 100
      )
      union all
      (
        select 'id', format('%s is stored %s times', d.id, d.times)
        from doubled d
        order by d.id
        limit 100
      )
    )
    select
      (select count(*) from records),
      array(select f.kind from found f order by f.kind, f.detail),
      array(select f.detail from found f order by f.kind, f.detail)
  $query$
  using
    p_tenant_id, p_from, p_to,
    array(
      select b.block_id
      from logloom_private.blocks b
      where b.tenant_id = p_tenant_id and b.last_ts >= p_from and b.first_ts < p_to
        and exists (
          select
          from logloom_private.verification_differences d
          where d.verification_id = p_verification_id and d.block_id = b.block_id
        )
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_step()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_started_at constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
begin
  select s.* into v_settings from logloom_private.settings s;
  if (logloom_private.queue_state()).depth > v_settings.seal_queue_events
    or exists (
      select
      from logloom_private.verifications v
      where v.finished_at > clock_timestamp() - v_settings.verify_every
    ) and not exists (
      select from logloom_private.verifications v where v.finished_at is null
    ) then
    return null;
  end if;
  if logloom_private.verify_on() then
    -- The pause is four times as long as the step took.
    return greatest(
      interval '10 milliseconds', 4 * (clock_timestamp() - v_started_at)
    );
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.verify_step_records()
  RETURNS integer
  LANGUAGE sql
  IMMUTABLE
RETURN 100000;

CREATE OR REPLACE FUNCTION logloom_private.views_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query values
    ('views.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the view after the people it is for.', null),
    ('views.query_has_stages', 400, 'A view takes a query without stages',
      'Remove the first bar and all that follows it: a view selects records.', null),
    ('views.field_cannot_be_hidden', 400, 'Invalid p_hidden_fields: %s cannot be hidden',
      'Send names of fields, attrs.PATH for an attribute, or attrs for all attributes. Records '
        'always show id, tenant_id, ts and received_at.',
      'It is not a field, or every record shows it.'),
    ('views.too_many_hidden_fields', 400, 'Invalid p_hidden_fields: a flat array of at most 100',
      'attrs hides all attributes.', null),
    ('views.operation_is_unknown', 400, 'Invalid p_operations: %s', 'Any of %2$s; or all.',
      'It is not the name of a reading operation.'),
    ('views.no_room', 400, 'Plan limit exceeded: views (max %s)',
      'Delete a view that is no longer needed, or choose a larger plan.',
      'The plan''s `max_views`.'),
    ('views.name_is_taken', 409, 'The tenant has another view of this name',
      'Choose another name, or change that view by update_log_view.', null),
    ('views.in_use', 409, 'The view is in use: %s',
      'Bind these to another view, or revoke or delete them.',
      '`delete_log_view`: API keys, members, alert rules, log streams or saved searches are '
        'bound to it.');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.warnings_of (
  p_query logloom_private.compiled_query
)
  RETURNS public.logloom_query_warning[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, p_query.warnings) w
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.watermark (
  p_oldest_queued timestamp with time zone
)
  RETURNS timestamp WITH time zone
  LANGUAGE sql
  STABLE
RETURN LEAST(p_oldest_queued, (now() - logloom_private.enqueue_timeout()));

CREATE OR REPLACE FUNCTION logloom_private.window_values (
  p_query          logloom_private.compiled_query,
  p_source         text,
  p_tenant_id      text,
  p_from           timestamp with time zone,
  p_to             timestamp with time zone,
  p_window_minutes integer,
  p_limit          integer                        DEFAULT NULL::integer
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value constant text := logloom_private.numbered_sql(
    logloom_private.stats_values_sql(
      logloom_private.stats_aggregates(p_query),
      -- Counts a column, which a window without records does not have.
      row(null, 'count(l.ts)', null, false)::logloom_private.counted_source, p_window_minutes
    ),
    'v'
  );
  v_join text := 'left join ';
  v_group text := 'null::jsonb';
  v_values logloom_private.alert_window[];
begin
  if cardinality(p_query.by_sql) > 0 then
    v_join := 'join ';
    select 'jsonb_object($6, array[' || string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
      || ']::text[])'
    into v_group
    from unnest(p_query.by_sql) b;
  elsif p_from + v_window = p_to then
    -- A single window needs no grouping by time.
    execute 'select array[row(null, $2, $3, w.value, null, null, null)'
      || '::logloom_private.alert_window] from (' || logloom_private.rule_value_sql(
        'select ' || v_value || ' from (' || p_source || ') l where (' || p_query.filter || ')',
        p_query.plan
      ) || ') w'
    into v_values
    using p_tenant_id, p_from, p_to;
    return v_values;
  end if;
  execute 'select array_agg(row(null, v.starts, v.starts + $4, v.value, null, v."group", null)'
    || '::logloom_private.alert_window) from (' || logloom_private.rule_value_sql(
      'select w.starts, ' || v_value || ', ' || v_group
        || ' as "group" from generate_series($2, $3 - $4, $4) w (starts) ' || v_join
        || '(select l.*, date_bin($4, l.ts, $2) as starts from (' || p_source || ') l where ('
        || p_query.filter || ')) l on l.starts = w.starts group by '
        || array_to_string(array['w.starts'] || p_query.by_sql, ', ') || ' limit $5',
      p_query.plan
    ) || ') v'
  into v_values
  using p_tenant_id, p_from, p_to, v_window, p_limit, p_query.by_fields;
  return coalesce(v_values, '{}');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.with_baseline (
  p_rule      logloom.alert_rules,
  p_baseline  jsonb,
  p_threshold double precision
)
  RETURNS logloom.alert_rules
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_deviations double precision;
begin
  p_baseline := nullif(p_baseline, 'null');
  if jsonb_path_exists(
    p_baseline,
    'strict $ ? (@.type() != "object"
      || exists(@.keyvalue() ? (@.key != "days" && @.key != "deviations"
        || @.value.type() != "number"))
      || @.days < 3 || @.days > 7 || @.days.floor() != @.days
      || @.deviations < 0.01 || @.deviations > 1000)'
  ) then
    perform logloom_private.refuse('alerts.alert_rules_baseline_is_valid');
  end if;
  v_deviations := p_baseline ->> 'deviations';
  if v_deviations <> p_threshold then
    perform logloom_private.refuse('alerts.baseline_contradicts_threshold');
  elsif (p_baseline = '{}') <> (p_rule.baseline_days is null) then
    -- The threshold that it has counts something else.
    p_rule.threshold := null;
  end if;
  p_rule.threshold := coalesce(v_deviations, p_threshold, p_rule.threshold);
  perform logloom_private.require_parameter('p_threshold', p_rule.threshold is null);
  p_rule.baseline_days := case
    when p_baseline = '{}' then null
    when p_baseline is null then p_rule.baseline_days
    else coalesce((p_baseline ->> 'days')::numeric::integer, p_rule.baseline_days, 7)
  end;
  return p_rule;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.with_exact_fields (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_fields    public.logloom_log_field[]
)
  RETURNS public.logloom_log_field[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_fields constant integer := 20;
  v_columns text[] := '{}';
  v_exact text[] := '{}';
begin
  if not (logloom_private.short_cuts(p_query)).counts
    or jsonb_array_length(p_query.plan -> 'rows') > 0
  then
    return p_fields;
  end if;
  p_query.aggregate := 'count';
  p_query.by_fields := array['level', 'service'];
  if (
    logloom_private.counted_rows_sql(p_tenant_id, p_query, p_query.ts_from, p_query.ts_to)
  ).from_sql is not null then
    v_exact := array['level', 'service'];
  end if;
  if p_query.tree ->> 'type' = 'all' and (logloom_private.short_cuts(p_query)).sizes then
    v_columns := array(
      select f.field
      from unnest(p_fields) with ordinality f
      where f.field = any(logloom_private.column_fields()) or f.field ~ '^attrs\.[^."]+$'
      order by f.ordinality
      limit v_max_fields
    );
    v_exact := v_exact || logloom_private.counted_columns(p_tenant_id, p_query, v_columns);
  end if;
  for n in 1..cardinality(p_fields) loop
    if p_fields[n].field = any(v_exact) then
      p_fields[n] := logloom_private.exact_field(p_tenant_id, p_query, p_fields[n]);
    end if;
  end loop;
  return p_fields;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.with_sealed_sql (
  p_rows   logloom_private.sql_source,
  p_sealed text
)
  RETURNS logloom_private.sql_source
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_sealed is not null then
    p_rows.from_sql := '((select l.* ' || logloom_private.source_sql(p_rows)
      || ') union all select l.* from ' || p_sealed || ' l) l';
    p_rows.where_sql := 'true';
  end if;
  return p_rows;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.within_sql (
  p_bounds  jsonb,
  p_value   text,
  p_now_sql text
)
  RETURNS text
  LANGUAGE sql
  STABLE
RETURN
  COALESCE(NULLIF(concat_ws(' and '::text, ((p_value || ' >= '::text) || logloom_private.instant_sql((p_bounds ->> 'from'::text), ((p_bounds ->> 'from_shift'::text))::bigint,
  p_now_sql)),
  ((p_value || ' < '::text) || logloom_private.instant_sql((p_bounds ->> 'to'::text), ((p_bounds ->> 'to_shift'::text))::bigint, p_now_sql))),
  ''::text), (p_value || ' is not null'::text));

CREATE OR REPLACE FUNCTION logloom_private.word_template (
  p_values jsonb
)
  RETURNS jsonb
  LANGUAGE sql
  IMMUTABLE
RETURN (logloom_private.contains_template(p_values) || '{"decides": false}'::jsonb);

CREATE OR REPLACE FUNCTION logloom_private.words_sql (
  p_leaf jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    '(l.words is null or ' || (
      select string_agg(
        format(
          'strpos(%s, %L) > 0',
          -- Stored words have both small forms of sigma.
          case when strpos(w.word, 'σ') > 0 then 'replace(l.words, ''ς'', ''σ'')'
            else 'l.words' end,
          w.word
        ),
        ' and ' order by w.n
      )
      from jsonb_array_elements_text(p_leaf -> 'template' -> 'words')
        with ordinality w (word, n)
    ) || ')',
    'true'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.write_block (
  p_tenant_id    text,
  p_records      logloom_private.record_arrays,
  p_holds_counts boolean                       DEFAULT false
)
  RETURNS logloom_private.blocks
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  AS $function$
declare
  v_encoded record;
  v_order integer[];
  v_block logloom_private.blocks;
begin
  if p_records.ids is null then
    return null;
  end if;
  v_block.tenant_id := p_tenant_id;
  v_block.holds_counts := p_holds_counts;
  v_block.records := cardinality(p_records.ids);
  -- An assignment: in "from", PostgreSQL would store the result of the function first.
  v_encoded := logloom_private.encode_messages(
    v_block, p_records.services, p_records.levels, p_records.messages
  );
  v_order := v_encoded.o_order;
  -- Each record must occur once. compare_block cannot notice duplicates.
  if v_block.records <> (
    select count(distinct o.place) from (select unnest(v_order) as place) o
  ) then
    raise sqlstate 'LL001' using message = 'The block would contain records twice';
  end if;
  -- Overwrites the arrays, because a second copy of the records would take some ten MB.
  p_records.ts := logloom_private.elements_at(p_records.ts, v_order);
  p_records.received_at := logloom_private.elements_at(p_records.received_at, v_order);
  p_records.write_seqs := logloom_private.elements_at(p_records.write_seqs, v_order);
  p_records.ids := logloom_private.elements_at(p_records.ids, v_order);
  p_records.services := logloom_private.elements_at(p_records.services, v_order);
  p_records.levels := logloom_private.elements_at(p_records.levels, v_order);
  p_records.messages := logloom_private.elements_at(p_records.messages, v_order);
  p_records.attrs := logloom_private.elements_at(p_records.attrs, v_order);
  p_records.columns := array(
    select row(logloom_private.elements_at(c.texts, v_order))::logloom_private.column_values
    from unnest(p_records.columns) with ordinality c (texts, n)
    order by c.n
  );
  v_encoded := logloom_private.encode_block(v_encoded.o_block, p_records);
  v_block := logloom_private.store_block(v_encoded.o_block, v_encoded.o_columns);
  perform logloom_private.compare_block(v_block, p_records);
  return v_block;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.write_logs()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- If no event arrived, this nearly always returns here. A flip waits for running enqueues, so an
  -- open slot has no batch below moved_through. A batch that gets its number later is seen next
  -- time.
  if exists (
    select
    from logloom_private.queue_pointer p, logloom_private.queue_batch_id b
    cross join (
      select max(s.moved_through) as moved_through, sum(s.moved_events) as moved_events
      from logloom_private.queue_slots s
    ) s
    where p.closed_slot is null and s.moved_events = 0
      and (not b.is_called or b.last_value <= s.moved_through)
  ) then
    return null;
  end if;
  -- Comes before the step: otherwise quotas and health would wait until a long queue is moved.
  perform logloom_private.meter_queue();
  return case
    when logloom_private.write_step() > 0 then
      case when (select p.closed_slot from logloom_private.queue_pointer p) is not null then
        interval '0'
      end
    when logloom_private.empty_moved_slots() then interval '0'
    when logloom_private.flip_queue() then interval '0'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.write_step()
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_max_bytes constant bigint := 64 << 20;
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_last bigint;
  v_events integer;
  v_largest integer;
  v_write_seq bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return 0;
  end if;
  select p.closed_slot into v_slot from logloom_private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select
        min(b.batch_id), max(b.batch_id), sum(b.events), max(b.events),
        (select max(l.batch_id) from logloom_private.%1$I l)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before,
          sum(q.bytes) over (order by q.batch_id) - q.bytes as bytes_before
        from logloom_private.%1$I q
        where q.batch_id > (
          select s.moved_through from logloom_private.queue_slots s where s.slot = $1
        )
        order by q.batch_id
        limit $2
      ) b
      where b.events_before < (select s.writer_step_events from logloom_private.settings s)
        and b.bytes_before < $3
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest, v_last
  using v_slot, logloom_private.max_step_batches(), v_max_bytes;

  if v_batch_to is null then
    update logloom_private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform logloom_private.meter_batches(v_last);
  perform logloom_private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_write_seq := nextval('logloom_private.write_seq');
  perform logloom_private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_write_seq);
  update logloom_private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  delete from logloom_private.queue_marks m
  where m.slot = v_slot and m.batch_to <= v_batch_to;
  update logloom_private.queue_pointer p set closed_slot = null where v_batch_to = v_last;
  return v_events;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.writer_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_run logloom_private.jobs;
  v_silence interval;
  v_limit interval;
  v_reason text;
begin
  select j.* into v_run
  from logloom_private.jobs j
  where j.name in ('write_logs', 'run_writer')
  order by logloom_private.silence_since(j.last_succeeded_at, p_now), j.last_succeeded_at desc
    nulls last
  limit 1;
  v_silence := logloom_private.silence_since(v_run.last_succeeded_at, p_now);
  v_limit := case
    when v_silence >= v_settings.writer_unhealthy_silence then v_settings.writer_unhealthy_silence
    else v_settings.writer_degraded_silence
  end;
  if v_silence >= v_limit then
    v_reason := logloom_private.silence_reason('No run of the writer', v_silence, v_limit);
  end if;
  return logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then v_reason end,
    case when v_silence < v_settings.writer_unhealthy_silence then v_reason end
  ) || jsonb_build_object(
    'last_run', v_run.last_succeeded_at,
    'last_duration_ms', round(v_run.last_duration_ms::numeric, 3),
    'seconds_since_run', case
      when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
    end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.claim_log_archive_work()
  RETURNS json
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '20s'
  AS $function$
begin
  return coalesce(
    logloom_private.claim_archive_work(), json_build_object('work', null)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_alert_rule (
  p_tenant_id                 text             DEFAULT NULL::text,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid,
  p_notify_on_recovery        boolean          DEFAULT NULL::boolean,
  p_for_minutes               integer          DEFAULT NULL::integer,
  p_on_absent                 text             DEFAULT NULL::text,
  p_group_wait_seconds        integer          DEFAULT NULL::integer,
  p_secrets                   jsonb            DEFAULT NULL::jsonb,
  p_saved_search_id           uuid             DEFAULT NULL::uuid,
  p_baseline                  jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_search logloom.saved_searches;
  v_constraint text;
  v_row logloom.alert_rules;
begin
  if p_saved_search_id is not null then
    select s.* into v_search
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.id = p_saved_search_id;
    if not found then
      perform logloom_private.refuse('saved_searches.not_found');
    end if;
  end if;
  v_search.name := coalesce(p_name, v_search.name);
  v_search.query_dsl := coalesce(p_query_dsl, v_search.query_dsl);
  perform logloom_private.require_parameter('p_name', v_search.name is null);
  perform logloom_private.require_parameter('p_query_dsl', v_search.query_dsl is null);
  v_row := logloom_private.with_baseline(null, p_baseline, p_threshold);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_rule_query(v_search.query_dsl);
  perform logloom_private.require_groups(v_search.query_dsl, p_on_absent);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_search.query_dsl, p_view_id);
  perform logloom_private.require_room_for('alerts', p_tenant_id);
  perform logloom_private.require_room_for_baseline(v_tenant_id, p_baseline);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id,
    notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets,
    baseline_days
  )
  values (
    v_tenant_id, logloom_private.trim_space(v_search.name),
    nullif(logloom_private.trim_space(p_description), ''),
    v_search.query_dsl, v_row.threshold, p_comparison, p_window_minutes, p_cooldown_minutes,
    p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id(),
    p_view_id, coalesce(p_notify_on_recovery, false), coalesce(p_for_minutes, 0),
    coalesce(p_on_absent, 'ignore'), coalesce(p_group_wait_seconds, 0),
    logloom_private.changed_rule_secrets('{}', p_secrets), v_row.baseline_days
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL
  ON FUNCTION
    "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid,
    jsonb)
  FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_api_key (
  p_tenant_id  text   DEFAULT NULL::text,
  p_name       text   DEFAULT NULL::text,
  p_expires_at text   DEFAULT NULL::text,
  p_scopes     text[] DEFAULT NULL::text[],
  p_view_id    uuid   DEFAULT NULL::uuid
)
  RETURNS public.logloom_created_api_key
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_expires_at constant timestamptz := logloom_private.time_parameter('p_expires_at', p_expires_at);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if v_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest, read}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_scopes);

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, v_expires_at, v_scopes, p_view_id);
end;
$function$;

REVOKE ALL ON FUNCTION "public"."create_api_key"(text, text, text, text[], uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.delete_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_dry_run   boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_retention_run
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.resolve_tenant_to_change();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return jsonb_populate_record(
    null::public.logloom_retention_run,
    to_jsonb(logloom_private.request_deletion(
      p_query_dsl, p_ts_from, p_ts_to, coalesce(p_dry_run, true)
    ))
  );
exception when query_canceled then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_alert_incident (
  p_incident_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_incident_details
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_incidents;
  v_item public.logloom_alert_incident;
begin
  perform logloom_private.require_parameter('p_incident_id', p_incident_id is null);
  select i.* into v_row
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = p_incident_id;
  if not found then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  v_item := logloom_private.alert_incident_of(
    v_row, logloom_private.addresses_in_incidents(null, array[p_incident_id])
  );
  return row(
    v_item.incident_id, v_item.tenant_id, v_item.rule_id, v_item.rule_name, v_item.query_dsl,
    v_item.window_minutes, v_item."group", v_item.state, v_item.opened_at, v_item.last_fired_at,
    v_item.resolved_at, v_item.resolution, v_item.fired_count, v_item.value, v_item.peak_value,
    v_item.threshold, v_item.comparison, v_item.acknowledged_at, v_item.acknowledged_by,
    array(
      select logloom_private.alert_entry_of(h, v_row.resolved_at, true)
      from logloom.alert_history h
      where h.tenant_id = v_tenant_id and h.incident_id = p_incident_id
      order by h.triggered_at desc, h.alert_id desc
      limit 100
    ),
    logloom_private.deliveries_of_incident(null, p_incident_id),
    v_item.assigned_at, v_item.assigned_by, v_item.assigned_to, v_item.noted_at, v_item.noted_by,
    v_item.note
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.health_report()
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '1500ms'
  AS $function$
begin
  perform logloom_private.note_project();
  return logloom_private.read_health();
end;
$function$;

CREATE OR REPLACE FUNCTION public.ingest_signer (
  p_key_id    uuid DEFAULT NULL::uuid,
  p_signature text DEFAULT NULL::text,
  p_message   text DEFAULT NULL::text
)
  RETURNS json
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
begin
  return to_json(
    logloom_private.digest_of_signer(p_key_id, p_signature, decode(p_message, 'base64'))
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."ingest_signer"(uuid, text, text) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.list_alert_incidents (
  p_tenant_id text    DEFAULT NULL::text,
  p_rule_id   uuid    DEFAULT NULL::uuid,
  p_state     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_incident
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'incident', 'incident_id',
    (
      select i.opened_at from logloom.alert_incidents i
      where i.tenant_id = v_tenant_id and i.incident_id = p_after
    )
  );
begin
  if p_state not in ('open', 'acknowledged', 'resolved', 'unresolved') then
    perform logloom_private.refuse('alerts.incident_state_is_unknown');
  end if;
  return query
  with page as materialized (
    select b.incident
    from (
      select
        l.incident,
        -- A group can be as long as a message.
        sum(
          octet_length(concat((l.incident)."group", (l.incident).query_dsl, (l.incident).note))
        ) over (
          order by (l.incident).opened_at desc, (l.incident).incident_id desc
          rows between unbounded preceding and 1 preceding
        ) as bytes_before
      from (
        select i as incident
        from logloom.alert_incidents i
        where i.tenant_id = v_tenant_id
          and (p_rule_id is null or i.rule_id = p_rule_id)
          and (p_state is null or (i.resolved_at is not null) = (p_state = 'resolved'))
          and (
            p_state is null or p_state in ('resolved', 'unresolved')
            or (i.acknowledged_at is not null) = (p_state = 'acknowledged')
          )
          and (p_after is null or (i.opened_at, i.incident_id) < (v_after, p_after))
        order by i.opened_at desc, i.incident_id desc
        limit v_limit
      ) l
    ) b
    where coalesce(b.bytes_before, 0) < v_list_bytes
  )
  select s.*
  from page p
  cross join logloom_private.addresses_in_incidents(
    v_tenant_id, array(select (a.incident).incident_id from page a)
  ) n (addresses)
  cross join lateral logloom_private.alert_incident_of(p.incident, n.addresses) s
  order by (p.incident).opened_at desc, (p.incident).incident_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_fields (
  p_query_dsl text DEFAULT NULL::text,
  p_ts_from   text DEFAULT NULL::text,
  p_ts_to     text DEFAULT NULL::text,
  p_name      text DEFAULT NULL::text
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return query
  select f.*
  from logloom_private.read_log_fields(null, p_query_dsl, p_ts_from, p_ts_to, p_name) f;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_log_fields"(text, text, text, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_log_retention_runs (
  p_tenant_id text    DEFAULT NULL::text,
  p_kind      text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_retention_run
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'run', 'run_id',
    (
      select r.requested_at from logloom.retention_runs r
      where r.tenant_id = v_tenant_id and r.run_id = p_after
    )
  );
begin
  if p_kind not in ('retention', 'erasure', 'storage') then
    perform logloom_private.refuse('usage.kind_is_unknown');
  end if;
  return query
  select a.*
  from logloom.retention_runs r
  cross join jsonb_populate_record(null::public.logloom_retention_run, to_jsonb(r)) a
  where r.tenant_id = v_tenant_id
    and (p_kind is null or r.kind = p_kind)
    and (p_after is null or (r.requested_at, r.run_id) < (v_after, p_after))
  order by r.requested_at desc, r.run_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_tenant_audit_events (
  p_tenant_id text    DEFAULT NULL::text,
  p_action    text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_audit_event
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'audit event', 'event_id',
    (
      select e.occurred_at from logloom.audit_events e
      where e.tenant_id = v_tenant_id and e.event_id = p_after
    )
  );
begin
  if p_action <> all (logloom_private.audit_actions()) then
    perform logloom_private.refuse(
      'parameters.audit_action_is_unknown', left(p_action, 100),
      array_to_string(logloom_private.audit_actions(), ', ')
    );
  end if;
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details,
    e.client_id
  from logloom.audit_events e
  where e.tenant_id = v_tenant_id
    and (p_action is null or e.action = p_action)
    and (v_from is null or e.occurred_at >= v_from)
    and (v_to is null or e.occurred_at < v_to)
    and (p_after is null or (e.occurred_at, e.event_id) < (v_after, p_after))
  order by e.occurred_at desc, e.event_id desc
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_changes (
  p_query_dsl   text    DEFAULT NULL::text,
  p_ts_from     text    DEFAULT NULL::text,
  p_ts_to       text    DEFAULT NULL::text,
  p_limit       integer DEFAULT NULL::integer,
  p_before_from text    DEFAULT NULL::text,
  p_before_to   text    DEFAULT NULL::text
)
  RETURNS public.logloom_log_changes
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_changes(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_before_from, p_before_to
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."log_changes"(text, text, text, integer, text, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.match_log_archive (
  p_claim_id uuid  DEFAULT NULL::uuid,
  p_records  jsonb DEFAULT NULL::jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '20s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_records', p_records is null);
  return to_jsonb(logloom_private.match_archive(p_claim_id, p_records));
end;
$function$;

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer,
  p_view_id          uuid             DEFAULT NULL::uuid,
  p_for_minutes      integer          DEFAULT NULL::integer,
  p_baseline         jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  v_rule.for_minutes := coalesce(p_for_minutes, v_rule.for_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  v_rule := logloom_private.with_baseline(v_rule, p_baseline, p_threshold);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.baseline_days is not null
    and (v_rule.threshold not between 0.01 and 1000 or v_rule.comparison in ('eq', 'neq'))
  then
    perform logloom_private.refuse('alerts.alert_rules_baseline_is_valid');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  elsif v_rule.for_minutes not between 0 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_for_minutes_are_valid');
  end if;
  return logloom_private.preview_windows(p_tenant_id, v_rule);
exception when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid, integer, jsonb) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.settle_log_archive_work (
  p_claim_id uuid  DEFAULT NULL::uuid,
  p_error    text  DEFAULT NULL::text,
  p_details  jsonb DEFAULT NULL::jsonb,
  p_records  jsonb DEFAULT NULL::jsonb
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '20s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.settle_archive_work(
    p_claim_id, p_error, coalesce(p_details, '{}'), coalesce(p_records, '[]')
  );
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.settle_log_stream_batch (
  p_stream_id   uuid    DEFAULT NULL::uuid,
  p_claim_id    uuid    DEFAULT NULL::uuid,
  p_batch_id    uuid    DEFAULT NULL::uuid,
  p_outcome     text    DEFAULT NULL::text,
  p_status      integer DEFAULT NULL::integer,
  p_error       text    DEFAULT NULL::text,
  p_retry_after integer DEFAULT NULL::integer,
  p_refused     jsonb   DEFAULT NULL::jsonb,
  p_rejected    integer DEFAULT NULL::integer,
  p_secrets     jsonb   DEFAULT NULL::jsonb,
  p_release     boolean DEFAULT NULL::boolean,
  p_answer      text    DEFAULT NULL::text
)
  RETURNS public.logloom_stream_settlement
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
      p_rejected, p_secrets, p_release, p_answer
    )
  )::public.logloom_stream_settlement;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) FROM PUBLIC, "anon", "authenticated";

CREATE OR REPLACE FUNCTION public.update_alert_incident (
  p_incident_ids uuid[]  DEFAULT NULL::uuid[],
  p_acknowledged boolean DEFAULT NULL::boolean,
  p_assigned_to  text    DEFAULT NULL::text,
  p_note         text    DEFAULT NULL::text
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.change_alert_incidents(
    p_incident_ids, p_acknowledged, p_assigned_to, p_note
  );
  return row(true)::public.logloom_success;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."update_alert_incident"(uuid[], boolean, text, text) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.update_alert_rule (
  p_rule_id                   uuid             DEFAULT NULL::uuid,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid,
  p_notify_on_recovery        boolean          DEFAULT NULL::boolean,
  p_for_minutes               integer          DEFAULT NULL::integer,
  p_on_absent                 text             DEFAULT NULL::text,
  p_group_wait_seconds        integer          DEFAULT NULL::integer,
  p_secrets                   jsonb            DEFAULT NULL::jsonb,
  p_baseline                  jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_rule_query(p_query_dsl);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_room_for_baseline(v_tenant_id, p_baseline, p_rule_id);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  v_row := logloom_private.with_baseline(v_row, p_baseline, p_threshold);
  -- An empty description removes it. notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = v_row.threshold,
    baseline_days = v_row.baseline_days,
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else logloom_private.distinct_destinations(p_notification_destinations)
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    view_id = coalesce(p_view_id, r.view_id),
    notify_on_recovery = coalesce(p_notify_on_recovery, r.notify_on_recovery),
    for_minutes = coalesce(p_for_minutes, r.for_minutes),
    on_absent = coalesce(p_on_absent, r.on_absent),
    group_wait_seconds = coalesce(p_group_wait_seconds, r.group_wait_seconds),
    notification_secrets = logloom_private.changed_rule_secrets(
      r.notification_secrets, p_secrets
    ),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes, r.for_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), v_row.threshold,
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes),
          coalesce(p_for_minutes, r.for_minutes)
        )
        and r.view_id is not distinct from coalesce(p_view_id, r.view_id)
        and r.baseline_days is not distinct from v_row.baseline_days
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  perform logloom_private.require_groups(v_row.query_dsl, v_row.on_absent);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_row.query_dsl, v_row.view_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL
  ON FUNCTION
    "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, jsonb)
  FROM PUBLIC, "anon";

CREATE OR REPLACE PROCEDURE logloom_private.run_job (
  IN p_name text
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_deadline constant pg_catalog.timestamptz :=
    pg_catalog.clock_timestamp() + logloom_private.run_time();
  v_job logloom_private.jobs;
  v_next_at pg_catalog.timestamptz;
  v_rest pg_catalog.interval;
begin
  loop
    commit;
    set transaction isolation level read committed;
    select j.* into v_job from logloom_private.jobs j where j.name = p_name;
    if not found then
      raise exception 'No row of logloom_private.jobs is named %', p_name;
    end if;
    call logloom_private.run_step(v_job, '0', v_next_at, v_rest);
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.run_step (
  IN    p_job logloom_private.jobs,
  IN    p_noted_every interval,
  INOUT p_next_at timestamp with time zone DEFAULT NULL::timestamp WITH time zone,
  INOUT p_rest interval                    DEFAULT NULL::interval
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  perform
    -- The project may have another time zone or date style.
    pg_catalog.set_config('timezone', 'UTC', true),
    pg_catalog.set_config('datestyle', 'ISO', true),
    -- A step that waits for a lock blocks its lane. After this time it fails and is tried again.
    pg_catalog.set_config(
      'lock_timeout', case p_job.lane when 'tend' then '5s' else '2s' end, true
    );
  begin
    execute pg_catalog.format('select logloom_private.%I()::pg_catalog.text', p_job.step)
    into v_answer;
    p_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
  exception when query_canceled or others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    p_rest := null;
  end;
  p_next_at := case
    -- On a full disk, each attempt uses some of the little space that is left.
    when v_error like '53100:%' then pg_catalog.clock_timestamp() + '10 seconds'
    when v_error is not null then pg_catalog.clock_timestamp() + greatest(
      '1 second'::pg_catalog.interval, least(p_job.every, '1 minute'::pg_catalog.interval)
    )
    when p_rest is not null then pg_catalog.clock_timestamp() + p_rest
    else v_started_at + p_job.every
  end;
  if v_error is not null or p_job.failures > 0
    or (v_started_at - p_job.last_succeeded_at between -p_noted_every and p_noted_every) is not true
  then
    begin
      perform logloom_private.record_job(p_job.name, v_started_at, v_error, p_next_at);
      p_next_at := null;
    exception when lock_not_available or disk_full then
      -- The next step writes the row.
      null;
    end;
  end if;
  commit;
end;
$procedure$;

CREATE OR REPLACE PROCEDURE logloom_private.work (
  IN p_lane text
)
  LANGUAGE plpgsql
  AS $procedure$
declare
  v_deadline constant pg_catalog.timestamptz :=
    pg_catalog.clock_timestamp() + logloom_private.run_time();
  -- Sleeps are short: a sleep holds a snapshot, and a job that an operator resumes waits until the
  -- sleep ends.
  v_sleep_max constant pg_catalog.interval := case p_lane when 'write' then '250 ms' else '1 s' end;
  v_migrated_at constant pg_catalog.timestamptz :=
    (select i.migrated_at from logloom_private.installation i);
  -- When each job is due, by name. It overrides next_at in the table.
  v_next pg_catalog.jsonb := '{}';
  v_due pg_catalog.record;
  v_next_at pg_catalog.timestamptz;
  v_rest pg_catalog.interval;
begin
  if logloom_private.is_read_only() then
    -- No step can write now. The next call checks again, in a new session.
    perform pg_catalog.pg_sleep(extract(epoch from least(logloom_private.run_time(), '10 s')));
    return;
  elsif not pg_catalog.pg_try_advisory_lock(
    logloom_private.lock_key('lane'), pg_catalog.hashtext(p_lane)
  ) then
    return;
  end if;
  loop
    -- A step that waited for a lock must see what was committed meanwhile. The project may have
    -- another default isolation level.
    commit;
    set transaction isolation level read committed;
    exit when pg_catalog.clock_timestamp() > v_deadline
      or v_migrated_at is distinct from (
        select i.migrated_at from logloom_private.installation i
      );
    select
      j,
      -- If next_at is further away than the job ever waits, the clock was set back. Then the job is
      -- due now.
      case when r.rest <= j.every + '1 minute'::pg_catalog.interval then r.rest else '-1 day' end
        as rest
    into v_due
    from logloom_private.jobs j
    cross join lateral (
      select coalesce((v_next ->> j.name)::pg_catalog.timestamptz, j.next_at)
        - pg_catalog.clock_timestamp() as rest
    ) r
    where j.lane = p_lane and not j.is_paused
    order by rest
    limit 1;
    v_rest := least(v_due.rest, v_sleep_max);
    if v_rest > '0' then
      perform pg_catalog.pg_sleep(extract(epoch from v_rest));
    else
      -- Writes the job's row often enough for its limit of silence.
      call logloom_private.run_step(
        v_due.j, least((v_due.j).silence / 12, '30 s'), v_next_at, v_rest
      );
      v_next := v_next || pg_catalog.jsonb_build_object((v_due.j).name, v_next_at);
    end if;
  end loop;
  perform pg_catalog.pg_advisory_unlock(
    logloom_private.lock_key('lane'), pg_catalog.hashtext(p_lane)
  );
end;
$procedure$;

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_assignment_is_whole" CHECK ((num_nulls(assigned_to, assigned_at, assigned_by) = ANY (ARRAY[0, 3])));

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_note_is_whole" CHECK ((num_nulls(note, noted_at, noted_by) = ANY (ARRAY[0, 3])));

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_resolution_is_known"
    CHECK ((resolution = ANY (ARRAY['recovered'::text, 'still_absent'::text, 'rule_changed'::text, 'rule_disabled'::text, 'rule_deleted'::text])));

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_resolution_is_whole"
    CHECK ((((resolved_at IS NULL) = (resolution IS NULL)) AND ((quiet_from IS NULL) OR (resolution = ANY (ARRAY['recovered'::text, 'still_absent'::text])))));

ALTER TABLE "logloom"."alert_rules"
  ADD CONSTRAINT "alert_rules_baseline_is_valid"
    CHECK
    (((baseline_days IS NULL) OR ((baseline_days >= 3) AND (baseline_days <= 7) AND (threshold >= (0.01)::double precision) AND (threshold <= (1000)::double precision) AND
    (comparison = ANY (ARRAY['gt'::text, 'gte'::text, 'lt'::text, 'lte'::text])))));

ALTER TABLE "logloom"."plans"
  ADD CONSTRAINT "plans_max_baseline_rules_is_not_negative" CHECK ((max_baseline_rules >= 0));

ALTER TABLE "logloom"."retention_runs"
  ADD CONSTRAINT "retention_runs_erasure_has_query" CHECK (((kind <> 'erasure'::text) OR ((query_dsl IS NOT NULL) AND (ts_from IS NOT NULL))));

ALTER TABLE "logloom"."retention_runs"
  ADD CONSTRAINT "retention_runs_kind_is_known" CHECK ((kind = ANY (ARRAY['retention'::text, 'erasure'::text, 'storage'::text])));

ALTER TABLE "logloom_private"."alert_groups"
  ADD CONSTRAINT "alert_groups_partials_are_whole" CHECK (((filter IS NULL) = (parts IS NULL)));

ALTER TABLE "logloom_private"."alert_partials"
  ADD CONSTRAINT "alert_partials_pkey" PRIMARY KEY (group_id, minute, part);

ALTER TABLE "logloom_private"."rule_values"
  ADD CONSTRAINT "rule_values_rule_id_fkey" FOREIGN KEY (rule_id) REFERENCES logloom.alert_rules(rule_id) ON DELETE CASCADE;

ALTER TABLE "logloom_private"."settings"
  ADD CONSTRAINT "settings_alert_grace_is_whole_minutes" CHECK (((alert_grace >= '00:00:00'::interval) AND (alert_grace = date_trunc('minute'::text, alert_grace))));

ALTER TABLE "logloom_private"."settings"
  ADD CONSTRAINT "settings_max_storage_bytes_is_positive" CHECK ((max_storage_bytes > 0));

ALTER TABLE "logloom_private"."settings"
  ADD CONSTRAINT "settings_storage_policy_is_known" CHECK ((storage_policy = ANY (ARRAY['drop_oldest'::text, 'refuse'::text])));

CREATE VIEW "logloom_private"."planned_alert_rules" WITH (security_invoker=true) AS  SELECT p.rule_id,
    p.query_dsl,
    p.window_minutes,
    p.aggregate,
    p.results,
    p.group_id,
    p.refusal,
    p.view_id,
    p.view_updated_at,
    r.tenant_id,
    r.asked_at,
    r.last_evaluated_at,
    (s.alert_grace * (((r.for_minutes > 0))::integer)::double precision) AS delay
   FROM (((logloom.alert_rules r
     CROSS JOIN logloom_private.settings s)
     JOIN logloom_private.alert_plans p ON (((p.rule_id = r.rule_id) AND (p.query_dsl = r.query_dsl) AND (p.window_minutes = r.window_minutes) AND (NOT (p.view_id IS DISTINCT FROM r.view_id)))))
     LEFT JOIN logloom.log_views v ON ((v.view_id = r.view_id)))
  WHERE (r.enabled AND (NOT (p.view_updated_at IS DISTINCT FROM v.updated_at)));

CREATE INDEX alert_rules_baseline_idx ON logloom.alert_rules USING btree (tenant_id)
  WHERE (baseline_days IS NOT NULL);

CREATE UNIQUE INDEX retention_runs_retention_idx ON logloom.retention_runs USING btree (tenant_id, ts_to, kind)
  WHERE ((kind <> 'erasure'::text) AND (status = 'running'::text));

CREATE INDEX blocks_last_ts_idx ON logloom_private.blocks USING btree (last_ts) INCLUDE (bytes);

CREATE INDEX rule_values_window_end_idx ON logloom_private.rule_values USING brin (window_end);

CREATE TRIGGER audit_alert_incidents
  AFTER UPDATE OF acknowledged_by, assigned_to, noted_at ON logloom.alert_incidents
  FOR EACH ROW
  EXECUTE FUNCTION logloom_private.audit_alert_incidents();

CREATE TRIGGER alert_rules_renew_webhook_secret
  AFTER UPDATE OF notification_config ON logloom.alert_rules
  FOR EACH ROW
  WHEN
    ((((old.notification_config ->> 'webhook_url'::text) IS DISTINCT FROM (new.notification_config ->> 'webhook_url'::text)) AND ((old.notification_config ->> 'webhook_url'::text)
    IS NOT NULL)))
  EXECUTE FUNCTION logloom_private.renew_webhook_secret();

CREATE POLICY "log_dashboards_delete_creator" ON "logloom"."log_dashboards"
  FOR DELETE
  TO "authenticated"
  USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

CREATE POLICY "log_dashboards_insert_creator" ON "logloom"."log_dashboards"
  FOR INSERT
  TO "authenticated"
  WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

CREATE POLICY "log_dashboards_select_creator_or_shared" ON "logloom"."log_dashboards"
  FOR SELECT
  TO "authenticated"
  USING
    (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (is_shared OR (created_by = ( SELECT logloom_private.current_user_id() AS
    current_user_id)))));

CREATE POLICY "log_dashboards_update_creator" ON "logloom"."log_dashboards"
  FOR UPDATE
  TO "authenticated"
  USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))))
  WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

CREATE POLICY "saved_searches_delete_creator" ON "logloom"."saved_searches"
  FOR DELETE
  TO "authenticated"
  USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

CREATE POLICY "saved_searches_insert_creator" ON "logloom"."saved_searches"
  FOR INSERT
  TO "authenticated"
  WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

CREATE POLICY "saved_searches_select_creator_or_shared" ON "logloom"."saved_searches"
  FOR SELECT
  TO "authenticated"
  USING
    (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (is_shared OR (created_by = ( SELECT logloom_private.current_user_id() AS
    current_user_id)))));

CREATE POLICY "saved_searches_update_creator" ON "logloom"."saved_searches"
  FOR UPDATE
  TO "authenticated"
  USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))))
  WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));

COMMENT ON COLUMN "logloom"."alert_history"."absent" IS 'It fired because its group, which sent records before, sent none.';

COMMENT ON COLUMN "logloom"."alert_history"."acknowledged_by" IS 'The claim sub of the user who acknowledged it first.';

COMMENT ON COLUMN "logloom"."alert_history"."group" IS 'The group that fired, {field: text}; null if the rule has no by.';

COMMENT ON COLUMN "logloom"."alert_history"."notification_channels" IS 'Channels that delivered it.';

COMMENT ON COLUMN "logloom"."alert_history"."notification_error" IS 'The error of the last delivery that was given up.';

COMMENT ON COLUMN "logloom"."alert_history"."silence_id" IS 'The silence that stopped its messages.';

COMMENT ON COLUMN "logloom"."alert_history"."window_end" IS 'The value is from records from window_start to before window_end.';

COMMENT ON COLUMN "logloom"."alert_incidents"."acknowledged_by" IS 'The claim sub of the user who acknowledged it first.';

COMMENT ON COLUMN "logloom"."alert_incidents"."assigned_to" IS 'The claim sub of the user who takes care of it.';

COMMENT ON COLUMN "logloom"."alert_incidents"."end_told_at" IS 'When messages announced the end; null again when the incident fires again. After the announcement the cooldown suppresses nothing.';

COMMENT ON COLUMN "logloom"."alert_incidents"."peak_value" IS 'The value farthest from the threshold, of the windows in which the condition held.';

COMMENT ON COLUMN "logloom"."alert_incidents"."quiet_from" IS 'The end of the window in which the condition no longer held.';

COMMENT ON COLUMN "logloom"."alert_incidents"."resolution" IS 'recovered: the condition no longer holds. still_absent: a silent group is no longer watched, but is still silent. All other values say what happened to the rule.';

COMMENT ON COLUMN "logloom"."alert_incidents"."rule_name" IS 'This and the following columns are from the rule when the incident opened. query_dsl and comparison are null for rules that were deleted before incidents existed.';

COMMENT ON COLUMN "logloom"."alert_incidents"."value" IS 'The value of the last window in which the condition held.';

COMMENT ON COLUMN "logloom"."alert_rules"."asked_at" IS 'When the rule was created or enabled, or when its query, window or condition last changed. Only windows that end after this time are evaluated.';

COMMENT ON COLUMN "logloom"."alert_rules"."baseline_days" IS 'The value is compared with the same windows of this many days, and the threshold counts deviations from what is usual. Null: the value is compared with the threshold.';

COMMENT ON COLUMN "logloom"."alert_rules"."created_by" IS 'The claim sub of the user who created it. Every user of the tenant may change it.';

COMMENT ON COLUMN "logloom"."alert_rules"."for_minutes" IS 'How long the condition must hold before the rule fires.';

COMMENT ON COLUMN "logloom"."alert_rules"."group_wait_seconds" IS 'How long notifications of several groups are collected into one.';

COMMENT ON COLUMN "logloom"."alert_rules"."last_evaluated_at" IS 'End of the last evaluated window.';

COMMENT ON COLUMN "logloom"."alert_rules"."last_value" IS 'Value of that window; null: no data.';

COMMENT ON COLUMN "logloom"."alert_rules"."notification_config" IS 'Free-form JSON. email: address for the destination email. webhook_url: URL for the destination webhook. webhook_template and webhook_template_type (json or text): the body of a webhook.';

COMMENT ON COLUMN "logloom"."alert_rules"."on_absent" IS 'fire: a group of a rule with by also fires if it had records recently and has none now.';

COMMENT ON COLUMN "logloom"."alert_rules"."view_id" IS 'The view that the rule is evaluated in. Null: all records of the tenant.';

COMMENT ON COLUMN "logloom"."api_keys"."last_used_at" IS 'To the minute: it is updated at most once a minute.';

COMMENT ON COLUMN "logloom"."api_keys"."lifetime" IS 'How long the key lasts from its creation, even if a rotation ended it sooner. Null: no end.';

COMMENT ON COLUMN "logloom"."api_keys"."view_id" IS 'The view that the key reads in. Null: all records of the tenant.';

COMMENT ON COLUMN "logloom"."archive_parts"."generation" IS 'How often the file was written. An erasure writes it again, under another key.';

COMMENT ON COLUMN "logloom"."archive_parts"."newer_key" IS 'The key of a later generation in the bucket, which will replace the part''s file. The database does not know that generation, because the database was restored to an earlier state.';

COMMENT ON COLUMN "logloom"."archive_parts"."number" IS 'Numbers the parts in the order in which they were created. An erasure checks the parts up to a number.';

COMMENT ON COLUMN "logloom"."archive_parts"."write_seq" IS 'The greatest write sequence that the part''s records may have. Restored records get it.';

COMMENT ON COLUMN "logloom"."audit_events"."actor" IS 'The claim sub of the request, or else its role, or else the database user.';

COMMENT ON COLUMN "logloom"."audit_events"."client_id" IS 'The OAuth client of the token, if it has one.';

COMMENT ON COLUMN "logloom"."log_dashboards"."created_by" IS 'The claim sub of its creator.';

COMMENT ON COLUMN "logloom"."log_dashboards"."panels" IS 'The panels in their order in the grid, as objects with the members of public.logloom_log_panel.';

COMMENT ON COLUMN "logloom"."log_streams"."batch_bytes" IS 'The maximum bytes of the next batch. Half of a batch''s bytes when the receiver finds it too large. Grows by a tenth with each accepted batch.';

COMMENT ON COLUMN "logloom"."log_streams"."batch_id" IS 'The current batch; retries keep it. It has the records from the position to batch_end_seq and batch_end_id (null: all of this write sequence).';

COMMENT ON COLUMN "logloom"."log_streams"."batch_limit" IS 'The maximum number of records in the next batch. Halved when the receiver refuses a batch, doubled when it accepts one.';

COMMENT ON COLUMN "logloom"."log_streams"."batch_size" IS 'The bytes of the current batch when it was last read.';

COMMENT ON COLUMN "logloom"."log_streams"."config" IS 'The destination, in the form that its kind needs. Contains no secrets.';

COMMENT ON COLUMN "logloom"."log_streams"."failing_told_at" IS 'When owners got a mail that the stream fails. Null while it works.';

COMMENT ON COLUMN "logloom"."log_streams"."is_proven" IS 'False: if the receiver refuses records, the stream pauses. True: refused records are skipped.';

COMMENT ON COLUMN "logloom"."log_streams"."kept_day" IS 'The oldest day of the tenant that retention still kept when the stream last read.';

COMMENT ON COLUMN "logloom"."log_streams"."last_answer" IS 'The receiver''s answer to a batch that it refused: the first 500 characters.';

COMMENT ON COLUMN "logloom"."log_streams"."maker" IS 'The user with whose rights the stream reads: the user who created it, or who enabled it last. Null: the project itself.';

COMMENT ON COLUMN "logloom"."log_streams"."pending_since" IS 'Since when records have been waiting. Null: at the last check none were waiting.';

COMMENT ON COLUMN "logloom"."log_streams"."query_dsl" IS 'The query for the records to send, without stages. Null: all records.';

COMMENT ON COLUMN "logloom"."log_streams"."secrets" IS 'The name and the sealed text of each secret. Only the edge function can open a sealed text.';

COMMENT ON COLUMN "logloom"."log_views"."hidden_fields" IS 'Fields that the view does not show: names of fields, attrs, or attrs.PATH.';

COMMENT ON COLUMN "logloom"."log_views"."operations" IS 'The reading operations that the view allows. Null: all except those that list alerts.';

COMMENT ON COLUMN "logloom"."log_views"."query_dsl" IS 'The query that selects the records of the view, without stages. Null: all records.';

COMMENT ON COLUMN "logloom"."log_views"."shows_since" IS 'When the view was created, or when its query or hidden fields last changed. Counts of rules from before this time are discarded.';

COMMENT ON COLUMN "logloom"."logs"."received_at" IS 'When the event was committed to the queue.';

COMMENT ON COLUMN "logloom"."logs"."record_bytes" IS 'Bytes of the record''s JSON text as operations return it. Null for records that are older than this column; logloom_private.bytes_of_record handles both.';

COMMENT ON COLUMN "logloom"."logs"."ts" IS 'When the event happened, as the client sent it; received_at if the client sent no time.';

COMMENT ON COLUMN "logloom"."logs"."write_seq" IS 'The number of the writer''s step that stored the record. Its order is the order of commits.';

COMMENT ON COLUMN "logloom"."plans"."archive_days" IS 'How many days the archive keeps records, counted from their ts. 0: they are not archived.';

COMMENT ON COLUMN "logloom"."plans"."concurrent_scans" IS 'Searches of a tenant that may run longer than search_free_time at the same time. One more may run in views and portals. All others wait for their turn. The first search may also use this number minus one parallel workers.';

COMMENT ON COLUMN "logloom"."plans"."concurrent_searches" IS 'Searches, statistics, tails and previews of a tenant that may run at once. At most half of them may be in views and portals. Any further call gets PT429.';

COMMENT ON COLUMN "logloom"."plans"."emails_per_hour" IS 'Emails for a tenant in a clock hour, including tests, codes and retries. Further emails wait for the next hour. Tests over this number in 60 minutes get PT429.';

COMMENT ON COLUMN "logloom"."plans"."events_per_second" IS 'Events per second that a tenant may send on average. events_burst: how many at once. Null: no limit.';

COMMENT ON COLUMN "logloom"."plans"."ingest_tokens_per_minute" IS 'Ingest tokens that may be created for a tenant in a minute.';

COMMENT ON COLUMN "logloom"."plans"."is_default" IS 'The plan of a tenant that is created by its first write.';

COMMENT ON COLUMN "logloom"."plans"."max_alert_silences" IS 'Silences of a tenant at once, including scheduled ones.';

COMMENT ON COLUMN "logloom"."plans"."max_api_keys" IS 'API keys that a tenant may have, not counting revoked and expired keys.';

COMMENT ON COLUMN "logloom"."plans"."max_baseline_rules" IS 'Alert rules with a baseline. The values of one take 1 MB; with by up to 4 MB.';

COMMENT ON COLUMN "logloom"."plans"."max_ingest_tokens" IS 'Ingest tokens of a tenant that may be valid at once; a further one gets PT429.';

COMMENT ON COLUMN "logloom"."plans"."max_notification_addresses" IS 'Confirmed email addresses of a tenant.';

COMMENT ON COLUMN "logloom"."plans"."max_open_deletions" IS 'Deletions by delete_logs that may be queued or in progress at once.';

COMMENT ON COLUMN "logloom"."plans"."max_portal_sessions" IS 'Active portal sessions of a tenant.';

COMMENT ON COLUMN "logloom"."plans"."max_restored_days" IS 'Restored days that a tenant may have at once.';

COMMENT ON COLUMN "logloom"."plans"."portal_requests_per_minute" IS 'Requests in a minute of all portal sessions of a tenant together.';

COMMENT ON COLUMN "logloom"."plans"."requests_per_second" IS 'Requests per second on average. requests_burst: how many at once. Null: no limit.';

COMMENT ON COLUMN "logloom"."plans"."retention_days_max" IS 'Highest retention_days that a tenant may set.';

COMMENT ON COLUMN "logloom"."plans"."webhooks_per_hour" IS 'Like emails_per_hour, for everything that is sent by HTTP: webhooks, chats and pagers.';

COMMENT ON COLUMN "logloom"."portal_sessions"."code_digest" IS 'SHA-256 of the code in the link. Null once the code is exchanged.';

COMMENT ON COLUMN "logloom"."portal_sessions"."created_by" IS 'The user who created the session. It ends when they may no longer create sessions. Null: created with the project''s secret key.';

COMMENT ON COLUMN "logloom"."portal_sessions"."last_used_at" IS 'Exact to the minute, because it is updated once a minute and not for each request.';

COMMENT ON COLUMN "logloom"."portal_sessions"."origins" IS 'Origins of the pages that may frame the portal.';

COMMENT ON COLUMN "logloom"."portal_sessions"."query_dsl" IS 'A query without stages that narrows the view. Null: all records of the view.';

COMMENT ON COLUMN "logloom"."portal_sessions"."token_digest" IS 'SHA-256 of the whole token. Null until the code of the link is exchanged for it.';

COMMENT ON COLUMN "logloom"."retention_runs"."position_block" IS 'The last block that an erasure has checked. An erasure checks rows before blocks.';

COMMENT ON COLUMN "logloom"."retention_runs"."position_ts" IS 'The last record (position_ts, position_id) that an erasure has checked.';

COMMENT ON COLUMN "logloom"."saved_searches"."created_by" IS 'The claim sub of its creator.';

COMMENT ON COLUMN "logloom"."saved_searches"."display" IS 'Settings for the page that shows the search, such as range and columns. The database does not read them.';

COMMENT ON COLUMN "logloom"."saved_searches"."view_id" IS 'If the search is shared, readers of this view see it in their list.';

COMMENT ON COLUMN "logloom"."tenant_members"."chosen_at" IS 'When the member last switched to the tenant. Tokens name the tenant that was chosen last.';

COMMENT ON COLUMN "logloom"."tenant_members"."email" IS 'A label, given when the member was added. It does not allow alerts to be sent to the address.';

COMMENT ON COLUMN "logloom"."tenant_members"."role" IS 'A viewer reads within view_id. A member reads, and keeps saved searches and alert rules. An admin also changes keys, settings and views, and deletes. An owner also changes members.';

COMMENT ON COLUMN "logloom"."tenant_members"."user_id" IS 'The claim sub of the user''s tokens: auth.users.id, or the id at another identity provider. Therefore it has no foreign key.';

COMMENT ON COLUMN "logloom"."tenant_members"."view_id" IS 'The view that a viewer reads in.';

COMMENT ON COLUMN "logloom"."tenant_settings"."retention_days" IS 'May be above the plan''s limit after a change of plan; the limit then applies.';

COMMENT ON COLUMN "logloom_private"."alert_rounds"."rules_through" IS 'Rules up to this id are evaluated.';

COMMENT ON COLUMN "logloom_private"."alert_rounds"."staged_by" IS 'The backend whose temporary table has the records of the round.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."bucket" IS 'The bucket of the last check. prefix, checked_at and problem belong to the same check.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."compared_through" IS 'The last key that the current comparison with archive_parts has finished; null if none is running.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."installation_id" IS 'Identifies the owner of the files. It is stored in <prefix>/logloom.json, so that no two installations share a prefix.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."note_key" IS 'Signs the notes of erasures, so that access to the bucket is not enough to erase records here.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."planned_through" IS 'The last tenant that the current round of planning has finished; null if no round is running.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."problem" IS 'What the last check of the bucket found wrong. Nothing is archived until it is null.';

COMMENT ON COLUMN "logloom_private"."archive_bucket"."restored_at" IS 'When compare_archive_anew() last ran, after a restore. Files that were in the bucket then but that the database does not know are newer than the restored state, and are kept.';

COMMENT ON COLUMN "logloom_private"."archive_erasures"."emptied" IS 'Parts that contained only matches, so their objects were deleted.';

COMMENT ON COLUMN "logloom_private"."archive_erasures"."noted_at" IS 'When the bucket got the erasure''s note, or when it was found that no note is needed. Null: the note is still to be written.';

COMMENT ON COLUMN "logloom_private"."archive_notes"."is_ours" IS 'False: not signed by archive_bucket.note_key, so it was ignored.';

COMMENT ON COLUMN "logloom_private"."archive_notes"."is_read" IS 'False: found in the bucket, but not read yet.';

COMMENT ON COLUMN "logloom_private"."archive_notes"."to_repeat" IS 'The content of a note whose erasure retention must still repeat; null otherwise.';

COMMENT ON COLUMN "logloom_private"."archive_passes"."position_ts" IS 'The last record (position_ts, position_id) that is in a written and verified file.';

COMMENT ON COLUMN "logloom_private"."block_columns"."codes" IS 'The places of values in dictionary, minus 129. If there are more than 256 distinct values, wide_codes has the places themselves. Both are null if all values are equal.';

COMMENT ON COLUMN "logloom_private"."block_columns"."filter" IS 'A Bloom filter over the values. Only for fields that have bloom in logloom_private.record_fields, and only if their dictionary is large or missing.';

COMMENT ON COLUMN "logloom_private"."block_columns"."kind" IS 'How the values are stored. dictionary: the distinct values by frequency, with counts and codes. numbers: whole numbers. templated: like dictionary, but the dictionary has templates; digits has the digits of all values, in the order of code and position. texts: the values themselves.';

COMMENT ON COLUMN "logloom_private"."block_columns"."name" IS 'One of: a field of logloom_private.column_fields; "attrs." and a key, with JSON texts as values; or attrs. attrs has the keys that are too rare or too long for a column of their own: {} if a record has no such key, null if its attrs is null.';

COMMENT ON COLUMN "logloom_private"."blocks"."batch_codes" IS 'For each record: the number of its batch, minus 129. With more than 256 batches, wide_batch_codes has the number itself. Both are null if there is one batch.';

COMMENT ON COLUMN "logloom_private"."blocks"."batch_prefixes" IS 'The ids of the batches that the records came in, 14 bytes each: the last 16 bits of a batch id are 0. batch_received_at and batch_write_seqs give each batch''s time of receipt and write sequence.';

COMMENT ON COLUMN "logloom_private"."blocks"."bytes" IS 'The compressed size of the block and its columns, without indexes.';

COMMENT ON COLUMN "logloom_private"."blocks"."checksum" IS 'logloom_private.block_checksum of the block and its columns.';

COMMENT ON COLUMN "logloom_private"."blocks"."damaged_at" IS 'When a verification found that the checksum differs. Readers skip the block, with a warning. Null again once a verification finds the block intact.';

COMMENT ON COLUMN "logloom_private"."blocks"."holds_counts" IS 'True: logloom_private.log_counts does not count these records, so queries read the block to count them. For tenants with few records a day. False: log_counts counts the records, and all are of one day.';

COMMENT ON COLUMN "logloom_private"."blocks"."id_indexes" IS 'For each record: the last two bytes of its id, as a signed number.';

COMMENT ON COLUMN "logloom_private"."blocks"."offset_records" IS 'For looking up a single message, with an entry for templates 1, 17, 33 …: how many messages come before those of the template. offset_digits: how many digits come before them. offset_bytes: how many bytes of templates come before it.';

COMMENT ON COLUMN "logloom_private"."blocks"."run_digits" IS 'For each run: how many digits come before the digits of its messages.';

COMMENT ON COLUMN "logloom_private"."blocks"."run_templates" IS 'For each run: its number of templates; 0 if its records have no message.';

COMMENT ON COLUMN "logloom_private"."blocks"."run_words" IS 'For each run: the words of its templates in lower case, each once, between blanks. Null if they are not much shorter than the templates.';

COMMENT ON COLUMN "logloom_private"."blocks"."separator" IS 'Ends each template in templates. No message of the block contains it.';

COMMENT ON COLUMN "logloom_private"."blocks"."template_records" IS 'How many records have each template, over all runs. The records of a template are adjacent and sorted by ts, so its first and last position tell when it was first and last seen in the block. Its last position is the sum of the counts up to its own, plus run_records of all runs without messages before it.';

COMMENT ON COLUMN "logloom_private"."blocks"."templates" IS 'The templates of each run, in order, each ended by the separator.';

COMMENT ON COLUMN "logloom_private"."blocks"."ts_unit" IS 'The unit of ts in microseconds: 1000, or 1 if a record needs it. A record''s ts is first_ts plus a number of units. That number is split over four columns, lowest bits first: ts_low (16 bits, minus 32768), ts_middle (8, minus 128), ts_high (16, minus 32768), ts_top (8, minus 128). Except for ts_low, a column is null if all its bits are 0.';

COMMENT ON COLUMN "logloom_private"."blocks"."weight" IS 'How much the block counts towards settings.seal_block_bytes when blocks are merged.';

COMMENT ON COLUMN "logloom_private"."canary_rounds"."doubled" IS 'The number of records that a count found beyond the records sent in the last hour.';

COMMENT ON COLUMN "logloom_private"."canary_rounds"."key_id" IS 'The API key of the round. It is deleted when the round ends. Its value is not stored.';

COMMENT ON COLUMN "logloom_private"."canary_rounds"."missing" IS 'How many acknowledged records of the last hour were not counted.';

COMMENT ON COLUMN "logloom_private"."idempotency_keys"."response" IS 'The answer. If the request came in slices: an object with the answer to each slice, by number.';

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."created_by" IS 'The token ends when this user may no longer send. Null: created with the project''s secret key.';

COMMENT ON COLUMN "logloom_private"."ingest_tokens"."session_id" IS 'The token ends with this session of Supabase Auth. Null: there is none.';

COMMENT ON COLUMN "logloom_private"."installation"."created_extensions" IS 'Extensions that installing created. Uninstalling removes them unless the project uses them now.';

COMMENT ON COLUMN "logloom_private"."installation"."created_schemas" IS 'Schemas that installing created, besides our own.';

COMMENT ON COLUMN "logloom_private"."installation"."cursor_key" IS 'The key that seals the cursors that tenants get.';

COMMENT ON COLUMN "logloom_private"."installation"."host_pre_request" IS 'The name of the project''s own pre-request function, from pgrst.db_pre_request. Our function calls it first.';

COMMENT ON COLUMN "logloom_private"."installation"."other_url" IS 'SUPABASE_URL of the last edge function health that called, if it differs from project_url; otherwise null.';

COMMENT ON COLUMN "logloom_private"."installation"."own_oid" IS 'The oid of this table when it was created. If it differs now, the database was restored from a dump.';

COMMENT ON COLUMN "logloom_private"."installation"."project_url" IS 'SUPABASE_URL of the first edge function that asked this database for work. A copy of the database keeps it, and gives no work to functions of another project.';

COMMENT ON COLUMN "logloom_private"."jobs"."failures" IS 'Failed steps since the last success.';

COMMENT ON COLUMN "logloom_private"."jobs"."failures_allowed" IS 'Health is degraded if more steps than this fail in a row.';

COMMENT ON COLUMN "logloom_private"."jobs"."is_paused" IS 'Pauses the job. A change takes effect within a second.';

COMMENT ON COLUMN "logloom_private"."jobs"."lane" IS 'Jobs in the same lane run one after another, so that no slow job delays the writer. pg_cron runs the lanes write, send (may wait for HTTP) and tend. The edge function ingest runs the lane ingest while pg_cron runs no job.';

COMMENT ON COLUMN "logloom_private"."jobs"."next_at" IS 'When the job is due; set it to now() to run it at once. This and the following columns are updated when something changes. Otherwise, to save writes, only a dozen times within silence, or every 30 seconds.';

COMMENT ON COLUMN "logloom_private"."jobs"."silence" IS 'Health is degraded if the last success is longer ago than this. Before the first success, made_at counts instead.';

COMMENT ON COLUMN "logloom_private"."jobs"."step" IS 'The function that does one bounded piece of work. It returns how long to wait before the next piece, or null if nothing is left: the job then waits for the interval in every.';

COMMENT ON COLUMN "logloom_private"."log_counts"."count_id" IS 'Makes the primary key unique, because a minute may have several rows.';

COMMENT ON COLUMN "logloom_private"."log_counts"."events" IS 'How many records; negative for deleted records. Only the sum is meaningful.';

COMMENT ON COLUMN "logloom_private"."log_counts"."is_delta" IS 'True: added since the rows of the minute were last summed up.';

COMMENT ON COLUMN "logloom_private"."log_counts"."is_other" IS 'True: the row counts all services beyond max_counted_services() together; service is null. If a minute has such a row, the counts cannot answer for a single service in this minute.';

COMMENT ON COLUMN "logloom_private"."notifications"."address" IS 'An address that is a secret is sealed: only the function logloom-notify can open it.';

COMMENT ON COLUMN "logloom_private"."queue"."batch_key" IS 'UUIDv7 whose last 16 bits are 0. With an event''s index in these bits it is the record''s id.';

COMMENT ON COLUMN "logloom_private"."queue"."record_bytes" IS 'Bytes of the JSON text of each event''s record.';

COMMENT ON COLUMN "logloom_private"."queue"."ts_min" IS 'Earliest ts of the batch. ts_min and ts_max say which partitions the batch needs.';

COMMENT ON COLUMN "logloom_private"."queue_pointer"."metered_through" IS 'All batches up to this batch_id are counted in logloom.usage_days and in metered_events.';

COMMENT ON COLUMN "logloom_private"."queue_slots"."metered_events" IS 'Events metered since the slot was emptied. metered_events minus moved_events is the number of events that still wait.';

COMMENT ON COLUMN "logloom_private"."queue_slots"."moved_through" IS 'All batches of the slot up to this batch_id are in logloom.logs. Written together with the records.';

COMMENT ON COLUMN "logloom_private"."retention_place"."attempts" IS 'How often readers prevented dropping the day''s partition.';

COMMENT ON COLUMN "logloom_private"."retention_place"."day" IS 'The day that is being worked through, tenant by tenant. Null while the next day may still be dropped as a whole.';

COMMENT ON COLUMN "logloom_private"."retention_place"."done_through" IS 'The last finished day.';

COMMENT ON COLUMN "logloom_private"."retention_place"."failing_since" IS 'Since when every day''s retention has ended with an error. Null: the last one ended without error.';

COMMENT ON COLUMN "logloom_private"."retention_place"."spans_through" IS 'The last tenant whose blocks were checked for spans that are longer than its retention allows. Null: all were checked.';

COMMENT ON COLUMN "logloom_private"."retention_place"."tenant_through" IS 'The last finished tenant of the column day.';

COMMENT ON COLUMN "logloom_private"."retention_place"."today" IS 'The UTC day that this retention is for.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."checked_at" IS 'When the last pass over all tenants of the day ended.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."checked_through" IS 'The last tenant that the current pass over the day has finished; null if no pass is running.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."differences" IS 'How many blocks were discarded because they differed from their records.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."prepared_by" IS 'The transaction that copied the remaining rows into the table that will replace the partition.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."removed_by" IS 'The last transaction that sealed records of the partition.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."removed_records" IS 'How many records were sealed from the day''s partition since it was last replaced.';

COMMENT ON COLUMN "logloom_private"."sealing_days"."replace_after" IS 'The replacement of the partition is not tried before this time.';

COMMENT ON COLUMN "logloom_private"."settings"."alert_grace" IS 'Records that arrive up to this late still count; whole minutes. Raise it where senders are often late.';

COMMENT ON COLUMN "logloom_private"."settings"."alert_groups" IS 'The most groups of a rule with by. Raise it where rules find more groups.';

COMMENT ON COLUMN "logloom_private"."settings"."alert_history_lifetime" IS 'How long alerts are kept in the history. Set it to what your law or contract asks for.';

COMMENT ON COLUMN "logloom_private"."settings"."alert_rule_budget" IS 'How long a rule may take in a round. Raise it where rules are paused as too expensive.';

COMMENT ON COLUMN "logloom_private"."settings"."alert_rule_records" IS 'The most records that a rule reads for one window. Raise it where rules are paused as too expensive.';

COMMENT ON COLUMN "logloom_private"."settings"."api_pool_size" IS 'Connections of PostgREST (its db-pool); searches use half of them. Set it to the number of your project.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_after" IS 'How long after its end a day, or the month of a small tenant, is archived. Raise it where many records arrive later.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_bucket" IS 'The bucket of the archive. Null: nothing is archived. Set it to turn the archive on.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_grace" IS 'How long records wait for the archive after their retention. Raise it where the bucket may be unavailable for longer.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_overtaken" IS 'keep or drop: what happens to records that are not archived within archive_grace. Set drop where the disk matters more than the archive.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_plan_every" IS 'How often the archive looks for days to archive. Lower it to see the archive at work.';

COMMENT ON COLUMN "logloom_private"."settings"."archive_prefix" IS 'The beginning of the keys of archived files. Set one for each installation that shares a bucket.';

COMMENT ON COLUMN "logloom_private"."settings"."audit_lifetime" IS 'How long audit events and receipts of deletions are kept. Set it to what your law or contract asks for.';

COMMENT ON COLUMN "logloom_private"."settings"."canary_url" IS 'The URL of the project, where the canary sends and reads. Null: off. Set it to turn the canary on.';

COMMENT ON COLUMN "logloom_private"."settings"."console_url" IS 'The URL of the console, for links in messages. Null: no links. Set it when the console has a URL.';

COMMENT ON COLUMN "logloom_private"."settings"."deletion_pause" IS 'Pause between two transactions of deletions. Raise it where deletions disturb others.';

COMMENT ON COLUMN "logloom_private"."settings"."deletion_step_records" IS 'Records or rows that one transaction deletes. Lower it where deletions disturb others.';

COMMENT ON COLUMN "logloom_private"."settings"."ingest_future_limit" IS 'Events whose ts is further ahead than this are rejected. Raise it for devices whose clocks are wrong.';

COMMENT ON COLUMN "logloom_private"."settings"."max_page_bytes" IS 'Bytes of JSON of an answer; the record that reaches them is the last one. Lower it where clients or proxies accept less.';

COMMENT ON COLUMN "logloom_private"."settings"."max_record_bytes" IS 'Bytes of a record''s JSON; the longest values of a longer record are cut. Raise it where long values are cut.';

COMMENT ON COLUMN "logloom_private"."settings"."max_record_values" IS 'Values in the attributes of a record; the rest is dropped. Raise it where members are dropped, at the price of memory.';

COMMENT ON COLUMN "logloom_private"."settings"."max_storage_bytes" IS 'Bytes of records of all tenants. Null: no limit. Set it below the size of your disk.';

COMMENT ON COLUMN "logloom_private"."settings"."notification_open_limit" IS 'Deliveries in progress at once, for all tenants. Raise it where slow receivers delay others.';

COMMENT ON COLUMN "logloom_private"."settings"."operators_tenant" IS 'The tenant that gets a record when storage fills up. Null: none. Set it to your own tenant and alert on the record.';

COMMENT ON COLUMN "logloom_private"."settings"."partition_days_ahead" IS 'Daily partitions that are created ahead of today. Raise it where ingest_future_limit is longer.';

COMMENT ON COLUMN "logloom_private"."settings"."partition_drop_lock_timeout" IS 'How long the drop of a day waits for readers, while others wait behind it. Raise it where days are not dropped in time.';

COMMENT ON COLUMN "logloom_private"."settings"."portal_session_lifetime_max" IS 'Longest life of a portal session. Lower it where a stolen link must end sooner.';

COMMENT ON COLUMN "logloom_private"."settings"."portal_url" IS 'The URL of the portal''s page, for links to it. Null: no links. Set it when you host the page.';

COMMENT ON COLUMN "logloom_private"."settings"."provision_by_secret_key" IS 'Whether a request with the secret key creates the tenant that it names. Turn it on where your backend sends for new customers.';

COMMENT ON COLUMN "logloom_private"."settings"."queue_degraded_age" IS 'Health is degraded when the oldest queued event is older than this. Set it to the delay that you accept.';

COMMENT ON COLUMN "logloom_private"."settings"."queue_degraded_events" IS 'Health is degraded above this number of queued events. Raise it where bursts of that size are normal.';

COMMENT ON COLUMN "logloom_private"."settings"."queue_hard_limit_bytes" IS 'Bytes of the queue on disk; above them ingest answers 503. Null: a tenth of max_storage_bytes, but at least 64 MB; 1 GB if that is null, too. Raise it to survive longer outages of the writer.';

COMMENT ON COLUMN "logloom_private"."settings"."queue_unhealthy_age" IS 'Health is unhealthy when the oldest queued event is older than this. Set it to the delay that must wake somebody.';

COMMENT ON COLUMN "logloom_private"."settings"."restored_days_lifetime_max" IS 'Highest p_keep_days of restore_log_archive. Lower it where restored days take too much disk.';

COMMENT ON COLUMN "logloom_private"."settings"."roles_from_token" IS 'Whether a user without a row has the role in their token. Turn it on where your issuer decides who may do what.';

COMMENT ON COLUMN "logloom_private"."settings"."roles_required" IS 'Whether a tenant without members is closed to all users. Turn it on where every user has a role.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_after" IS 'How long after its end (UTC) a day is sealed. Raise it where many records arrive later.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_block_bytes" IS 'Uncompressed bytes of the records in a block; those of large messages and records count more. Lower it where memory is short.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_block_records" IS 'Records in a block, at most 32,000. Lower it where memory is short.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_day_records" IS 'A tenant with fewer records in a day is sealed by the week. Raise it where thousands of tenants send little.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_queue_events" IS 'While more events are queued, nothing is sealed or verified. Raise it where the queue is always longer.';

COMMENT ON COLUMN "logloom_private"."settings"."seal_week_records" IS 'A tenant with fewer records in a week, and in a month, keeps them as rows. Raise it where thousands of tenants send little.';

COMMENT ON COLUMN "logloom_private"."settings"."search_free_time" IS 'After this time a search continues only in a scan slot (concurrent_scans). Raise it where short searches queue behind long ones.';

COMMENT ON COLUMN "logloom_private"."settings"."search_groups" IS 'The most groups of an aggregate with by. Raise it for more groups, at the price of memory.';

COMMENT ON COLUMN "logloom_private"."settings"."search_page_time" IS 'After this time a page or a live tail ends with what it has found. Lower it where a proxy gives up sooner.';

COMMENT ON COLUMN "logloom_private"."settings"."search_stage_records" IS 'The most records that the stages json, logfmt and patterns read. Raise it where queries reach it, at the price of time.';

COMMENT ON COLUMN "logloom_private"."settings"."storage_policy" IS 'At max_storage_bytes: drop_oldest deletes the oldest days, refuse answers 503 to ingest. Set refuse where nothing may be lost.';

COMMENT ON COLUMN "logloom_private"."settings"."stream_interval" IS 'How long records wait for more records, unless a batch is full. Lower it for less delay, raise it for fewer requests.';

COMMENT ON COLUMN "logloom_private"."settings"."stream_lag_limit" IS 'Health is degraded when a working log stream is further behind than this. Lower it where a receiver must be up to date.';

COMMENT ON COLUMN "logloom_private"."settings"."stream_open_limit" IS 'Streams that send at once, for all tenants. Raise it where slow receivers delay others.';

COMMENT ON COLUMN "logloom_private"."settings"."tenants_by_anonymous_users" IS 'Whether anonymous users may create tenants. Turn it on where customers try the service without an account.';

COMMENT ON COLUMN "logloom_private"."settings"."tenants_by_users" IS 'Whether signed-in users may create tenants. Turn it on where customers sign up themselves.';

COMMENT ON COLUMN "logloom_private"."settings"."token_audience" IS 'The value that aud of a token must be or contain. Null: any. Set it where the issuer also signs tokens for others.';

COMMENT ON COLUMN "logloom_private"."settings"."verify_every" IS 'The time between two verifications. Raise it where reading everything costs too much.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_degraded_silence" IS 'Health is degraded after this time without a successful run of the writer. Raise it where pg_cron is often late.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_guard_silence" IS 'After this time without a successful run of the writer, ingest runs it. Raise it where pg_cron is often late.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_step_events" IS 'Events in one step of the writer; a crash repeats one step. Raise it where the writer falls behind, lower it where memory is short.';

COMMENT ON COLUMN "logloom_private"."settings"."writer_unhealthy_silence" IS 'Health is unhealthy after this time without a successful run of the writer. Set it to the silence that must wake somebody.';

COMMENT ON COLUMN "logloom_private"."settings"."writing_clients" IS 'client_id of OAuth clients that may do more than read. Add a client that your users trust to change things.';

COMMENT ON COLUMN "logloom_private"."storage"."bytes" IS 'The file sizes of partitions and queue, plus the content of blocks.';

COMMENT ON COLUMN "logloom_private"."storage"."dropped_day" IS 'The day that was chosen last. If it is chosen again, dropping it failed: the next try waits for the next run.';

COMMENT ON COLUMN "logloom_private"."storage"."is_dropping" IS 'True: settings.max_storage_bytes was reached, and days are dropped until 95 % of it is used.';

COMMENT ON COLUMN "logloom_private"."storage"."is_stuck" IS 'True: no day is left to drop, because today and yesterday always stay. At the limit, ingest is refused.';

COMMENT ON COLUMN "logloom_private"."storage"."limit_day" IS 'The day that is being dropped for all tenants because storage is full. It comes before the daily retention, which then continues. Null: none.';

COMMENT ON COLUMN "logloom_private"."storage"."overtakes_archive" IS 'True: limit_day is dropped without waiting for the archive.';

COMMENT ON COLUMN "logloom_private"."storage"."reusable_bytes" IS 'The bytes of all other tables and indexes of Logloom: counts, settings, and mostly free space of deleted rows. Free space is reused before files grow. Measured once an hour.';

COMMENT ON COLUMN "logloom_private"."storage"."told_percent" IS 'The last threshold, 80 or 100 percent, that was reported to the operators'' tenant. Reset below 70 percent.';

COMMENT ON COLUMN "logloom_private"."verifications"."archive_day_through" IS 'The last verified archived day of archive_tenant_through. All tenants before this tenant are verified. The archive is verified last.';

COMMENT ON COLUMN "logloom_private"."verifications"."block_through" IS 'The last verified block_id. Blocks come first, then each tenant''s records.';

COMMENT ON COLUMN "logloom_private"."verifications"."records" IS 'The number of records whose counts and ids were compared.';

COMMENT ON COLUMN "logloom_private"."verifications"."tenant_through" IS 'The last verified tenant.';

COMMENT ON FUNCTION "public"."acknowledge_alert"(uuid) IS 'Acknowledges an alert. Acknowledging the last alert of an incident acknowledges the incident. Repeating it changes nothing. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."add_tenant_member"(text, text, text, text, uuid) IS 'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens. p_email alone is enough for a user of Supabase Auth. p_role: viewer, member, admin or owner. p_view_id: the view that a viewer reads in. For owners. The first call also makes the caller an owner, and from then on nobody else belongs to the tenant. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."check_plan_feature"(text) IS 'Tells whether the plan includes p_feature (saved_searches, alerts), its limit, and how many are in use. An unknown feature is not enabled. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'The edge function logloom-notify calls it to claim due notifications. p_limit: 1 to 100. A notification that is not settled in time is due again. Errors: PT400, PT409 (another project''s database).';

COMMENT ON FUNCTION "public"."claim_log_archive_work"() IS 'For the edge function logloom-archive: returns the next piece of work, null if there is none. Work that is not settled in time is given out again. Errors: PT409 (another project''s database).';

COMMENT ON FUNCTION "public"."claim_log_streams"(integer) IS 'The edge function logloom-stream calls it to claim due streams. p_limit: 1 to 100. A stream that is not settled in time is due again. Errors: PT400, PT409 (another project''s database).';

COMMENT ON FUNCTION "public"."complete_alert_notification"(uuid, uuid) IS 'The edge function logloom-notify calls it before each attempt. Returns the body of a claimed notification with the link to the console and the newest records; null if the claim has ended. Errors: PT400.';

COMMENT ON FUNCTION "public"."confirm_alert_address"(text, text) IS 'Confirms the email address of an alert rule by the six digits that were mailed to it. Returns {"success": true}. A code is valid for 24 hours and five attempts. Errors: PT400, PT401.';

COMMENT ON FUNCTION
  "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid, jsonb)
  IS 'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. p_window_minutes: 1 to 1440. p_cooldown_minutes: 0 to 10080. p_notification_destinations: email and webhook, with addresses in p_notification_config (email, webhook_url); slack, discord, teams and pagerduty, with sealed addresses in p_secrets (slack_url, discord_url, teams_url, pagerduty_key). p_view_id: the view that the rule is evaluated in; for admins. p_saved_search_id: the saved search whose name and query are the defaults. p_for_minutes: 0 to 1440. p_on_absent: ignore or fire. p_group_wait_seconds: 0 to 3600. p_baseline: {"days": 3 to 7, "deviations": n} fires when the value is n deviations from what is usual; p_threshold may then be left out. Errors: PT400 (also the plan''s limits), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_alert_silence"(jsonb, text, text, text, text) IS 'Alerts that match p_matcher are not sent from p_from (default: now) to p_to. p_matcher: {"rule_id": …}, {"group": {field: text}}, both, or {} for all. Rules are still evaluated, and their alerts recorded. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_api_key"(text, text, text, text[], uuid) IS 'Creates an API key and returns it with key_value, which is shown only now. p_name: 1 to 100 characters after trimming. p_expires_at: none by default. p_scopes: ingest (default), read, or both. p_view_id: the view that the key reads in, only for the scope read; none by default. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_ingest_token"(text, text, integer) IS 'Creates a token with which a page can send events of one service, and returns it; it is shown only now. It ends after p_expires_in seconds (at most 900, the default), or when its user may no longer send. p_service: 1 to 200 characters after trimming. Errors: PT400, PT401, PT403, PT429 (limits of the plan).';

COMMENT ON FUNCTION "public"."create_log_dashboard"(text, jsonb, boolean) IS 'Creates a dashboard and returns it. p_name: 1 to 200 characters after trimming. p_panels: at most 20 objects {title, query_dsl, kind, width}; kind is lines, bars or number, width 1 to 12 (default 6). p_is_shared: colleagues see it, too. Errors: PT400 (also plan limit), PT401, PT403.';

COMMENT ON FUNCTION "public"."create_log_portal_session"(text, uuid, text, integer, text, text[], boolean) IS 'Creates a session in which a customer reads the tenant''s logs. Returns its token, only once. With p_link it returns instead the url of a page; the code in this url works once, within ten minutes, or p_expires_in if that is shorter. p_view_id: the view to read in. p_query_dsl: a query without stages that narrows the view. p_expires_in: seconds, 60 to 604800 (default 3600). p_label: at most 200 characters. p_origins: at most 20 https origins of pages that may frame the portal. Errors: PT400 (also plan limit), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_log_stream"(text, text, text, text, jsonb, jsonb, boolean, uuid) IS 'Creates a log stream and returns it. From now on the stream sends records as they become visible: all, or those that p_query_dsl (a query without stages) finds. p_name: 1 to 100 characters after trimming. p_kind: webhook, otlp, loki, elasticsearch, splunk_hec, datadog or s3. p_config: the address and other members of the kind. p_secrets: names and sealed texts, from POST /functions/v1/logloom-stream/v1/seal. p_enabled: true by default. p_view_id: the view in which the stream reads. For admins. Errors: PT400 (also the plan''s limit), PT401, PT403, PT404, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."create_log_view"(text, text, text, text[], text[]) IS 'Creates a view and returns it. For admins. Its readers are the viewers, API keys and portal sessions bound to it. p_query_dsl: a query without stages; readers get only the records that it finds (default all). p_hidden_fields: fields that readers do not get (names of fields, attrs, attrs.PATH). p_operations: the reading operations that readers may call (default all, except those that list alerts). p_name: 1 to 100 characters after trimming. Errors: PT400 (also plan limit), PT401, PT403, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid, jsonb) IS 'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must compile. p_tags: at most 20. p_view_id, for admins: if the search is shared, readers of this view see it in their list. p_display: an object of at most 4,000 bytes for the page that shows the search. Errors: PT400 (also plan limit), PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."create_tenant"(text) IS 'Creates a tenant on the default plan, for a signed-in user who belongs to none. The user becomes its owner, and their next token names it. PT403 unless the setting tenants_by_users is on. Errors: PT400 (also if p_tenant_id is taken), PT401, PT403.';

COMMENT ON FUNCTION "public"."delete_alert_rule"(uuid) IS 'Deletes an alert rule. Its history stays. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."delete_log_view"(uuid, text) IS 'Deletes a view that nothing uses. Returns {success}. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (in use; names its users).';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), and matching dead letters. Refuses a query that a search would answer with warnings. With p_dry_run (default true) nothing is deleted: records says how many match. Otherwise a job deletes the records that were acknowledged before the request; list_log_retention_runs shows its progress. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many deletions are open; for a dry run also: too many searches are running).';

COMMENT ON FUNCTION "public"."delete_saved_search"(uuid) IS 'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s search), PT404.';

COMMENT ON FUNCTION "public"."delete_tenant"(text) IS 'Deletes the tenant with all its data. Only owners may call it, and they must name the tenant. Its keys and tokens are refused at once. A job deletes the rest and leaves a receipt in logloom_private.tenant_deletions. Only then can the id be used again. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."expire_alert_silence"(uuid, text) IS 'Ends a silence now and returns it. A silence that has ended stays as it is. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) IS 'Returns a page of an export: {text, records, cursor, next_cursor, logs}. Serves GET logloom-read/v1/export. The export has the records that were received before it began. p_format: ndjson (default; one record a line, as in search_logs), csv (RFC 4180), or json (the records are in logs). p_order: asc (default) or desc. p_cursor: next_cursor of the page before. To continue after a lost page, send the cursor of any page, and as p_after <ts>,<id> of the last record received. Errors: PT400, PT401, PT403, PT408, PT429.';

COMMENT ON FUNCTION "public"."get_api_key_usage"(text, uuid) IS 'When an API key was created and last used, the whole days since each, and its reads by operation and day. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."get_log"(uuid, timestamp with time zone) IS 'Returns one record. With p_ts (the record''s time) the search is faster. Without p_ts it begins at the time of receipt, which the id contains. Errors: PT400, PT401, PT404, PT408.';

COMMENT ON FUNCTION "public"."get_log_context"(uuid, timestamp with time zone, integer, integer) IS 'Returns a record and its neighbours in time order. Neighbours have the same host and service as the record (none if the record has none) and are at most a day away. p_before, p_after: how many to return, each 0 to 499 (default 20) and about 4 MB. With p_ts (the record''s time) the search is faster. Errors: PT400, PT401, PT404, PT408, PT429.';

COMMENT ON FUNCTION "public"."get_log_dashboard"(uuid) IS 'Returns a dashboard of the caller, or one that a colleague shared. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."get_log_secret_scope"(text) IS 'Returns the tenant whose secrets the caller may seal: {tenant_id}. The edge functions call this before they seal a secret. For admins. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."get_saved_search"(uuid) IS 'Returns a saved search of the caller, or one that a colleague shared. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."get_saved_search_categories"() IS 'Returns the distinct categories of the saved searches that the caller can read, sorted. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."get_saved_search_count"() IS 'Returns the number of the caller''s own saved searches. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."get_tenant_settings"(text) IS 'Returns the current settings: the tenant''s own, or else the defaults of its plan. stored: the disk space of its records. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."get_tenant_usage"(text, integer) IS 'Returns the tenant''s usage in this UTC month, its limits, percentages, a projection for the end of the month, and the disk space of its records (stored). Also the usage by month and day of the last p_months (1 to 24, default 1). All acknowledged events count. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."health_report"() IS 'Returns the answer of the edge function health: status, timestamp, the checks, and the answer of each endpoint (available: 200, otherwise 503). The checks are database, queue (events, seconds), writer (milliseconds, seconds), partitions, alerts, sealing, verification, canary (milliseconds), streams, archive (bytes), storage (bytes), pre_request, project, installation and jobs, each with a reason if it is not healthy. Thresholds: logloom_private.settings and logloom_private.jobs.';

COMMENT ON FUNCTION "public"."ingest_signer"(uuid, text, text) IS 'For the edge function ingest: who signed a message with the hex SHA-256 of an API key. p_signature: HMAC-SHA256 as hex. p_message: in base64. Returns the digest of the key, which may be revoked or expired. Error: PT401.';

COMMENT ON FUNCTION "public"."ingest_text"(text) IS 'For the edge function ingest. Runs requests of one caller in one transaction. The body is plain text: requests separated by U+001C. A request is the JSON of logloom_private.ingest_request; its columns may instead follow the JSON (see logloom_private.request_of_text). Returns one answer for each request, in the same order: {status, headers: {name: value}, body: text}. body is JSON: {success, ingested, rejected, cut, errors}, or for an error {code, message, hint} with PT401, PT403, PT404, PT409, PT413, PT429 or PT503. A refused request does not affect the others. The watermark assumes that a call ends within its statement_timeout.';

COMMENT ON FUNCTION "public"."list_alert_addresses"(integer, text) IS 'The email addresses of the tenant''s alert rules, in alphabetical order, and whether notifications may be sent there. p_limit: 1 to 1000 (default 100). p_after: email of the last item of the page before. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."list_alert_deliveries"(uuid, uuid, integer, uuid) IS 'Deliveries of an alert, or of a rule including its tests, newest first. p_limit: 1 to 1000 (default 100). p_after: delivery_id of the last item of the page before. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."list_alert_history"(text, uuid, text, text, boolean, integer, uuid) IS 'Alerts of the tenant, newest first, with filters: the rule, triggered from p_ts_from to before p_ts_to, acknowledged or not. p_limit: 1 to 1000 (default 100). p_after: alert_id of the last item of the page before. With long groups a page may have fewer items; the page after the last one is empty. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_alert_incidents"(text, uuid, text, integer, uuid) IS 'Incidents of the tenant, newest first, with filters: the rule, and p_state (open, acknowledged, resolved, or unresolved for open and acknowledged). p_limit: 1 to 1000 (default 100). p_after: incident_id of the last item of the page before. With long groups a page may have fewer items; the page after the last one is empty. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_alert_rules"(text, integer, uuid) IS 'Alert rules of the tenant, newest first. p_limit: 1 to 1000 (default 100). p_after: rule_id of the last item of the page before. Callers who may only read see no addresses. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_alert_silences"(text, integer, uuid) IS 'Silences of the tenant, newest first, including those that ended in the last 30 days. p_limit: 1 to 1000 (default 100). p_after: silence_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_api_keys"(text, integer, uuid) IS 'API keys of the tenant, newest first, without their values. p_limit: 1 to 1000 (default 100). p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_archive"(text, integer, uuid) IS 'Lists the files of the tenant''s archive; files of the latest days come first. For members. p_limit 1 to 1000 (default 100), p_after: part_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_archive_restores"(text, integer, uuid) IS 'Lists the restores from the tenant''s archive, newest first. For members. p_limit 1 to 1000 (default 100), p_after: restore_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_dashboards"(integer, uuid) IS 'Lists the caller''s dashboards and those that colleagues shared, newest first. A viewer gets only shared ones. p_limit 1 to 1000 (default 100), p_after: dashboard_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_fields"(text, text, text, text) IS 'Returns the fields of the records of the range that match p_query_dsl (blank: all records), most frequent first. Looks at all these records, or at a sample spread over the range. p_name: a text that the names of the fields contain, in any case. Errors: PT400, PT401, PT408.';

COMMENT ON FUNCTION "public"."list_log_portal_sessions"(text, integer, uuid) IS 'Lists the tenant''s portal sessions of the last 30 days, newest first. p_limit 1 to 1000 (default 100), p_after: session_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_retention_runs"(text, text, integer, uuid) IS 'Lists deletions of the tenant''s records, newest first. p_kind: retention, erasure or storage. p_limit 1 to 1000 (default 100), p_after: run_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_stream_failures"(uuid, integer, uuid, text) IS 'What a log stream did not send, newest first: records that the receiver refused, and gaps left by retention. At most 1000, from the last 30 days. p_limit: 1 to 1000 (default 100). p_after: failure_id of the last item of the page before. For admins. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."list_log_streams"(text, integer, uuid) IS 'Log streams of the tenant with their lag, newest first. p_limit: 1 to 1000 (default 100). p_after: stream_id of the last item of the page before. For admins. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_tenants"(integer, text) IS 'The tenants that the caller belongs to and the caller''s role in each, ordered by tenant_id. p_limit: 1 to 1000 (default 100). p_after: tenant_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_log_views"(text, integer, uuid) IS 'Lists the tenant''s views, newest first. p_limit 1 to 1000 (default 100), p_after: view_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_saved_searches"(boolean, integer, uuid) IS 'Lists the caller''s saved searches and, unless include_shared is false, the searches that colleagues shared, newest first. p_limit 1 to 1000 (default 100), p_after: id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_tenant_audit_events"(text, text, text, text, integer, uuid) IS 'Lists the tenant''s audit events, newest first. p_action, p_ts_from (inclusive) and p_ts_to (exclusive) filter them. p_limit 1 to 1000 (default 100), p_after: event_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_tenant_members"(text, integer, text) IS 'Members of the tenant, newest first; none if the tenant does not use roles. p_limit: 1 to 1000 (default 100). p_after: user_id of the last item of the page before. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."list_unsealed_alert_secrets"(text, uuid) IS 'The edge function logloom-notify calls it. Returns the secrets of alert rules that are not sealed with its key p_key_id, of 100 rules after p_after. Errors: PT400.';

COMMENT ON FUNCTION "public"."log_changes"(text, text, text, integer, text, text) IS 'Returns what changed from [p_before_from, p_before_to) to [p_ts_from, p_ts_to) among the records that match p_query_dsl: message patterns and field values that are new, gone, grown or shrunk, the most significant first. Chance alone explains such a change once in a thousand times. The range before is by default the range of the same length just before p_ts_from. If it contains the other range, only the rest of it is compared. p_limit 1 to 100 (default 20). Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."log_histogram"(text, text, text, integer) IS 'Counts the records that match p_query_dsl over time and by level. Empty buckets are included. p_buckets 1 to 1000 (default 60). Errors: PT400, PT401, PT408.';

COMMENT ON FUNCTION "public"."log_overview"(text, text, text, integer) IS 'Returns the services of the records in [p_ts_from, p_ts_to) that match p_query_dsl, the largest first. Each has its numbers of records and errors in the range, in the same hours of the day before (for a range of several days: as many days earlier) and in each of 24 equal parts of the range, and the time of its newest record. silent_hosts: the hosts without a record in the last of these parts. p_limit 1 to 1000 (default 100). Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."log_series"(text, text, text, integer) IS 'Returns the result of the last math of p_query_dsl, or else its first aggregate (default count()), over time: {interval_seconds, series: [{group, points: [[ts, value], …]}], warnings}. Each of the largest 20 groups has a series. All other groups share one, with group null. An empty bucket has the value 0 for count, rate, sum and count_distinct, and null for others. rate is per minute of a bucket. p_buckets 1 to 1000 (default 60); a width in the query, such as by (5m), replaces it. Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."log_stats"(text, text, text, integer) IS 'Returns the aggregates of p_query_dsl (default count()), one row for each group: {group, value, values: {name: number}, total_groups, warnings}. The largest group comes first; in a query with buckets, the oldest bucket. A query without "by" has one row, with group {}. For patterns there is one row for each pattern, with values {count, first, last, example}. p_limit 1 to 1000 (default 100). After 8 MB no more rows are returned; total_groups is the number of all rows. Errors: PT400, PT401, PT408, PT429.';

COMMENT ON FUNCTION "public"."match_log_archive"(uuid, jsonb) IS 'For the edge function logloom-archive: returns the places (from 0) of a file''s records that the claimed erasure matches. Errors: PT400, PT404.';

COMMENT ON FUNCTION "public"."open_log_portal_session"(text) IS 'For the function logloom-read: exchanges the code of a link for the token of its session, once. p_code_digest: SHA-256 of the code as hex. Errors: PT400, PT401.';

COMMENT ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid, integer, jsonb) IS 'When a rule would have fired in the last 24 hours, and the values that it would have seen: the rule p_rule_id, with the other parameters in place of its own. Percentiles, distinct counts and queries with by use adjacent windows. With by each group fires on its own. With a baseline the days before are read, too. Errors: PT400, PT401, PT403, PT404, PT408.';

COMMENT ON FUNCTION "public"."read_log_stream_batch"(uuid, uuid) IS 'For the edge function logloom-stream. Returns the batch that a claimed stream must send: {batch, records}, one record per line; null if there is none and the claim is over. Errors: PT400.';

COMMENT ON FUNCTION "public"."read_logs"(text, text, jsonb, text) IS 'For the function logloom-read: returns the answer of an operation to an API key with the scope read, or to a portal session. p_key_digest: SHA-256 of the key or token as hex. p_parameters: the operation''s parameters by name. p_origin: the origin of the page that frames the portal. Errors: PT400, PT401, PT403, PT404, PT408, PT429.';

COMMENT ON FUNCTION "public"."restore_log_archive"(text, text, text, integer, text) IS 'Restores archived records from p_from (inclusive) to p_to (exclusive) for p_keep_days (default 7). With p_query_dsl, only records that match it. For admins. list_log_archive_restores shows the progress. Records that still exist are not stored twice. Errors: PT400 (max_restored_days of the plan), PT401, PT403, PT404 (nothing is archived in the range).';

COMMENT ON FUNCTION "public"."retry_alert_delivery"(uuid) IS 'Tries a failed delivery again, now and for another 24 hours, at the rule''s current address. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."revoke_api_key"(text, uuid) IS 'Revokes an API key; the next request with it is refused. Revoking it again changes nothing. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."revoke_log_portal_session"(text, uuid) IS 'Revokes a portal session: its next request is refused. Revoking it again changes nothing. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."rotate_alert_webhook_secret"(uuid) IS 'Creates a new secret for a rule''s webhooks and returns it; it is shown only now. For 24 hours webhooks are signed with both. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."rotate_api_key"(text, uuid, integer, uuid) IS 'Creates an API key to replace another, with its name, scopes, view and lifetime, and returns it with key_value, which is shown only now. The old key works for p_overlap_minutes more (0 to 10080, default 60). p_view_id: another view for the new key. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."run_saved_search"(uuid, text, text, integer, text) IS 'Runs a saved search of the caller, or one that a colleague shared, and counts the run. Answers like search_logs; if the query aggregates, stats has the rows of log_stats. Errors: PT400, PT401, PT404, PT408.';

COMMENT ON FUNCTION "public"."run_writer"() IS 'While pg_cron does not run the writer, the edge function ingest calls this until done is true. Moves the closed slot of the queue, or closes the open one. Other runs at the same time do no harm.';

COMMENT ON FUNCTION "public"."seal_alert_secret"(uuid, text, text) IS 'The edge function logloom-notify calls it. Replaces the secret of a rule whose hex SHA-256 is p_digest with p_sealed. Errors: PT400.';

COMMENT ON FUNCTION "public"."search_logs"(text, text, text, integer, text, text) IS 'Returns a page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: next_cursor of the page before; it keeps the range of the first page. If the range is long, or after about 8 MB, a page may have fewer records and still a next_cursor. Only the last page has next_cursor null. Errors: PT400, PT401, PT408 (took longer than 15 s).';

COMMENT ON FUNCTION "public"."set_tenant_member_role"(text, text, text, uuid) IS 'Sets the role of a member from their next request on, and returns the member. p_role: viewer, member, admin or owner. p_view_id: the view that a viewer reads in. For owners; the last one stays an owner. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'The edge function logloom-notify calls it after an attempt. p_outcome: delivered; retry (tried again after a back-off, but at least p_retry_after seconds); failed (given up). p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON FUNCTION "public"."settle_log_archive_work"(uuid, text, jsonb, jsonb) IS 'For the edge function logloom-archive: stores the result of a claim, or p_error if it failed. Errors: PT400.';

COMMENT ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) IS 'The edge function logloom-stream calls it after an attempt. p_outcome: delivered (all but the records in p_refused, [{id, ts, status}], and p_rejected others), retry (after p_retry_after seconds or a longer back-off) or refused (half of the batch is tried next). p_secrets: the secrets, sealed with the current key. p_answer: the receiver''s answer. p_release: releases the stream. Returns {more}: true if the sender still holds the claim. Errors: PT400.';

COMMENT ON FUNCTION "public"."switch_log_tenant"(text) IS 'Chooses one of the caller''s tenants and returns it. The custom access token hook then names it in new tokens: refresh the session. PT409 if app_metadata.tenant_id already decides the tenant. Errors: PT400, PT401, PT403, PT404 (not a member), PT409.';

COMMENT ON FUNCTION "public"."tail_logs"(text, text, integer, integer) IS 'Returns records that match p_query_dsl as they become visible, including late records. Without p_cursor it returns the newest p_backlog records (0 to 1000, default 0) of the last 24 hours, oldest first, up to 8 MB, and the current cursor. p_limit 1 to 1000 (default 100). Errors: PT400, PT401, PT408.';

COMMENT ON FUNCTION "public"."test_alert_rule"(uuid) IS 'Sends a notification marked as a test to each destination and returns the deliveries. Errors: PT400, PT401, PT404, PT429.';

COMMENT ON FUNCTION "public"."test_log_stream"(uuid, text) IS 'Sends a test record within seconds, even if the stream is paused or disabled. get_log_stream shows the outcome. For admins. Errors: PT400, PT401, PT403, PT404, PT429 (tested just now).';

COMMENT ON FUNCTION "public"."update_alert_incident"(uuid[], boolean, text, text) IS 'Changes 1 to 1000 incidents; null leaves a part as it is. If one incident is not the tenant''s, nothing changes. p_acknowledged: true acknowledges the incidents and their alerts (an earlier acknowledgement is kept), false removes the acknowledgement. p_assigned_to: user_id or email address of a member, empty for nobody. p_note: at most 2000 characters, empty for none. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION
  "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, jsonb) IS
  'Changes the given parts of an alert rule and returns it. An empty p_description removes it. p_notification_config is replaced as a whole. Each member of p_secrets replaces one secret, null removes it. p_view_id: the view that the rule is evaluated in; for admins. p_baseline: as in create_alert_rule; {} removes it. Errors: PT400, PT401, PT403, PT404.';

COMMENT ON FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean, timestamp with time zone) IS 'Changes the given members and returns the dashboard. p_panels replaces all panels. p_updated_at: updated_at as the caller read it. If it is given, the call is refused if somebody else changed the dashboard since. Errors: PT400, PT401, PT403 (a colleague''s), PT404, PT409 (changed since p_updated_at).';

COMMENT ON FUNCTION "public"."update_log_stream"(uuid, text, text, jsonb, jsonb, boolean, uuid, text) IS 'Changes the given parts of a log stream and returns it. p_config replaces the whole config. Each member of p_secrets replaces one secret; null removes it. If p_config has another scheme, host or port, p_secrets must have all secrets. An empty p_query_dsl sends all records. p_enabled true also ends a pause and makes the caller the maker; the stream continues where it was. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."update_log_view"(uuid, text, text, text[], text[], text) IS 'Changes the given members and returns the view. For admins. The change applies to the next request of each reader. An empty p_query_dsl removes the query, empty p_hidden_fields hide nothing, and p_operations ["all"] restores the default. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

COMMENT ON FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid, jsonb) IS 'Changes the given members and returns the saved search. An empty p_description or p_category removes the old value. p_view_id, for admins: if the search is shared, readers of this view see it in their list. p_display replaces the whole object. Errors: PT400, PT401, PT403 (a colleague''s search), PT404.';

COMMENT ON FUNCTION "public"."update_tenant_settings"(text, jsonb, jsonb) IS 'Sets the given members and returns all settings. pipeline_config: retention_days (1 to the plan''s limit), compression. notification_preferences: email_enabled, webhook_enabled. Errors: PT400, PT401, PT403.';

COMMENT ON FUNCTION "public"."validate_query"(text) IS 'Tells whether p_query_dsl compiles: {valid, error, position, hint, warnings: [{position, message, suggestion}]}. Errors: PT400, PT401, PT408, PT429.';

COMMENT ON PROCEDURE "logloom_private"."verify"() IS 'Verifies everything stored: blocks by checksum and decoding, counts against records, ids, files of the archive against archived records. Reports the result in a notice; details are in verification_differences. Can be interrupted and called again.';

COMMENT ON TABLE "logloom"."alert_history" IS 'Alerts: each time a rule fired, with its value, and who acknowledged it.';

COMMENT ON TABLE "logloom"."alert_incidents" IS 'The time in which the condition of a rule, or of one group of a rule with by, holds: from the first alert until a window in which it no longer holds.';

COMMENT ON TABLE "logloom"."alert_rules" IS 'Alert rules: a query, its window, and a threshold for its value.';

COMMENT ON TABLE "logloom"."alert_silences" IS 'A time in which matching alerts are not sent: alerts of a rule, of groups with these members, or all alerts. Rules are still evaluated, and the history names the silence.';

COMMENT ON TABLE "logloom"."archive_parts" IS 'The files of the archive, one for each part. draft: being written; verified: read back and equal to the database''s records; missing: not in the bucket any more.';

COMMENT ON TABLE "logloom"."archive_restores" IS 'Restores of days from the archive. Kept for settings.audit_lifetime.';

COMMENT ON TABLE "logloom"."audit_events" IS 'Changes of keys, tokens, portal sessions, members, incidents, silences, views, log streams, dashboards, settings and plans, and deletions and restores of records. Nobody can change an event, or delete it within settings.audit_lifetime.';

COMMENT ON TABLE "logloom"."log_dashboards" IS 'Dashboards. A dashboard is private to its creator, or shared with the tenant to look at. Each reader sees the records of their own scope in it.';

COMMENT ON TABLE "logloom"."log_stream_failures" IS 'What a stream did not send. refused: a record that the receiver does not accept. rejected: the receiver accepted a batch except for some records and does not say which. gap: records of [ts_from, ts_to) that retention deleted before they were sent.';

COMMENT ON TABLE "logloom"."log_streams" IS 'Log streams: destinations to which a tenant''s records are sent as they become visible, and the progress of each.';

COMMENT ON TABLE "logloom"."log_views" IS 'A view limits what the viewers, API keys and portal sessions bound to it can read.';

COMMENT ON TABLE "logloom"."logs" IS 'Log records. id is derived from the queued batch and the event''s index. Rows of days without a partition are refused.';

COMMENT ON TABLE "logloom"."plans" IS 'Plans and their limits. A change takes effect with the next request.';

COMMENT ON TABLE "logloom"."portal_sessions" IS 'Portal sessions, in which customers read their logs in a page. Tokens and codes are never stored.';

COMMENT ON TABLE "logloom"."retention_runs" IS 'Deletions of records: by retention, on request, and because storage is full. An erasure on request has one row. Retention and full storage add a row for each run and tenant that lost records. Kept for settings.audit_lifetime.';

COMMENT ON TABLE "logloom"."saved_searches" IS 'Saved queries. A query is private to its creator, or shared with the tenant to read and run.';

COMMENT ON TABLE "logloom"."tenant_members" IS 'Which users belong to which tenants. Supabase Auth takes the claim tenant_id of its tokens from here.';

COMMENT ON TABLE "logloom"."tenant_settings" IS 'What a tenant has set. Without a row, or if a column is null, the default applies.';

COMMENT ON TABLE "logloom"."tenants" IS 'A tenant is created by its first write: create, update or ingest.';

COMMENT ON TABLE "logloom"."usage_days" IS 'Events and bytes accepted per tenant and UTC day of receipt. meter_batches adds to it. Batches after queue_pointer.metered_through are not in it yet.';

COMMENT ON TABLE "logloom_private"."alert_groups" IS 'A group of a tenant''s rules that read the same records, so that they share partial values. The values are complete for records up to write_seq, from (filled_from, filled_id) on. If these are null, the group must be filled. A group without a filter has no partial values: its rules read their windows.';

COMMENT ON TABLE "logloom_private"."alert_partials" IS 'Partial values per group, minute of ts and part of the group: the number of records, the number of records with a number, and the sum and bounds of these numbers.';

COMMENT ON TABLE "logloom_private"."alert_plans" IS 'The group and aggregate of a rule. results: the aggregates and math of a rule with more than one result. Valid while the rule still has this query_dsl, window_minutes and view_id, and the view still has view_updated_at.';

COMMENT ON TABLE "logloom_private"."alert_round_writes" IS 'For each tenant with rules: how many records arrived for the last round, and their earliest ts. It decides which evaluated windows are evaluated again.';

COMMENT ON TABLE "logloom_private"."alert_rounds" IS 'The last round: where its windows ended, and which write sequences it added to the groups.';

COMMENT ON TABLE "logloom_private"."alert_spending" IS 'The time that rules of a tenant took in the current round, besides the work for all tenants. The tenant that used the least time comes next.';

COMMENT ON TABLE "logloom_private"."alert_states" IS 'Since when the condition of a rule with for_minutes has held, and when groups of a rule with on_absent had records.';

COMMENT ON TABLE "logloom_private"."archive_bucket" IS 'The state of the archive''s bucket, and the progress of planning and comparing.';

COMMENT ON TABLE "logloom_private"."archive_claims" IS 'Work that the function logloom-archive has claimed until expires_at: at most one claim for each tenant, and one with an empty tenant_id for work on the bucket.';

COMMENT ON TABLE "logloom_private"."archive_endpoint" IS 'The URL of the edge function logloom-archive, and the secret that it expects.';

COMMENT ON TABLE "logloom_private"."archive_erasures" IS 'Erasures in the archive. An erasure checks the files up to parts_through, which is set once the database has no match left. Until the erasure is done, nothing of the tenant is archived.';

COMMENT ON TABLE "logloom_private"."archive_garbage" IS 'Objects of the archive to delete. A row is deleted once the object is gone from the bucket. reason later: the file is newer than the restored database and may be the only copy of its records. It stays until next_attempt_at (infinity) is set to a time.';

COMMENT ON TABLE "logloom_private"."archive_notes" IS 'Notes of erasures in the bucket. An unknown note is newer than the restored database, so its erasure is repeated. There is no tenant_id: notes outlive their tenant, and its id may be used again.';

COMMENT ON TABLE "logloom_private"."archive_passes" IS 'Days of a tenant that are being archived; one pass for each tenant. A pass archives all records up to write_seq that archived_days lacks, in the order of ts and id.';

COMMENT ON TABLE "logloom_private"."archived_days" IS 'Which records are archived: those of a tenant''s day with a write sequence up to write_seq. It does not matter where a record is stored, so sealing, merging and unsealing change nothing here.';

COMMENT ON TABLE "logloom_private"."block_columns" IS 'A column of a block: the values of a field, or of a top-level key of attrs. It covers the positions first to last; all other positions are null. A column of nulls only is not stored.';

COMMENT ON TABLE "logloom_private"."blocks" IS 'Records of past days, up to settings.seal_block_records in a block. The columns of a block are in logloom_private.block_columns. A record is either here or in logloom.logs.';

COMMENT ON TABLE "logloom_private"."canary_rounds" IS 'The canary''s rounds, one a minute, kept for a day. A round has the times when its record was acknowledged, found by a search and found by a tail, and when the records of the last hour were counted.';

COMMENT ON TABLE "logloom_private"."confirmation_mails" IS 'A row for each mail with a code, kept as long as it counts towards the limit of the mailbox.';

COMMENT ON TABLE "logloom_private"."dead_letters" IS 'Events that could not be written, and why. logloom_private.replay_dead_letters() tries to write them again.';

COMMENT ON TABLE "logloom_private"."idempotency_keys" IS 'First answers to requests with an Idempotency-Key, so that a repeat stores nothing.';

COMMENT ON TABLE "logloom_private"."ingest_tokens" IS 'Tokens with which pages send. Only the SHA-256 of a token is stored.';

COMMENT ON TABLE "logloom_private"."installation" IS 'The changes that the installation made in the project. Uninstalling undoes them. One row.';

COMMENT ON TABLE "logloom_private"."jobs" IS 'Background jobs: when each runs and how it went.';

COMMENT ON TABLE "logloom_private"."kept_longer" IS 'Restored days, which a tenant keeps beyond its retention until kept_until.';

COMMENT ON TABLE "logloom_private"."key_reads" IS 'Reads by API key, UTC day and operation, kept for 31 days. An operation may have several rows, which add up: a read that finds all rows locked adds one.';

COMMENT ON TABLE "logloom_private"."log_counts" IS 'Counts of records by tenant, minute of ts, service and level. Several rows may have the same four: their sum is the count. The statements that change records add rows (added_records_sql, removed_records_sql); logloom_private.compact_log_counts() sums them up.';

COMMENT ON TABLE "logloom_private"."log_days" IS 'The UTC days in which a tenant has records. A search reads only these days. A day stays until its partition is dropped or retention finds no record of the tenant in it.';

COMMENT ON TABLE "logloom_private"."log_removals" IS 'Tenants that lost records which are recent enough for an alert window. The stored sums of their alerts are no longer valid. Each removal adds a row, so that a removal and an alert round never wait for each other.';

COMMENT ON TABLE "logloom_private"."log_writes" IS 'The highest write sequence in each day''s partition. Lower ones stay until a job removes them. A live tail reads here which partitions have new records.';

COMMENT ON TABLE "logloom_private"."notification_addresses" IS 'Email addresses to which a code was mailed for a tenant, and which of them are confirmed.';

COMMENT ON TABLE "logloom_private"."notification_usage" IS 'Delivery attempts, by tenant, kind of channel (email, webhook) and clock hour. The plan limits their number.';

COMMENT ON TABLE "logloom_private"."notifications" IS 'The outbox: a row for each alert and destination, and for its recovery. Tests, codes that confirm an address, and mails to owners about a log stream (its id is in rule_id) have no alert.';

COMMENT ON TABLE "logloom_private"."notified_alerts" IS 'Further alerts of a notification that collects several groups.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'The URL of the edge function logloom-notify, and the secret that the database sends when it calls it. The URL of logloom-stream differs only in the name; it expects the same secret.';

COMMENT ON TABLE "logloom_private"."portal_reads" IS 'How many requests a tenant''s portal sessions made in a minute. A minute may have several rows: a request that finds all rows locked adds one.';

COMMENT ON TABLE "logloom_private"."queue" IS 'Committed events on their way to logloom.logs: one row per request, with parallel arrays. An array is null if no event has the field. A null ts stands for received_at.';

COMMENT ON TABLE "logloom_private"."queue_marks" IS 'How old waiting batches are, without reading them. A row has the earliest received_at of batches that were metered together, up to batch_to. It is kept until these batches are moved.';

COMMENT ON TABLE "logloom_private"."queue_pointer" IS 'The slot that is being filled, and the closed one that is being moved.';

COMMENT ON TABLE "logloom_private"."queue_slots" IS 'How much of each slot has been moved.';

COMMENT ON TABLE "logloom_private"."rate_buckets" IS 'Token buckets of tenants whose plan has a rate: the tokens at filled_at. A negative number is a debt.';

COMMENT ON TABLE "logloom_private"."retention_place" IS 'The progress of the day''s retention, for the next run of the job.';

COMMENT ON TABLE "logloom_private"."rule_values" IS 'The values of rules with a baseline, in one window of every five minutes. values: the value by group, as group_key() writes it. others: the value of every other group; null: unknown.';

COMMENT ON TABLE "logloom_private"."sealing_days" IS 'The days that the job seal_logs has checked, and its progress.';

COMMENT ON TABLE "logloom_private"."settings" IS 'Settings of the service that an operator may change. Plans have further settings. One row. Each setting is read where it is enforced. All other limits are constants of the functions that use them.';

COMMENT ON TABLE "logloom_private"."storage" IS 'The stored bytes, which the job bound_storage measures once a minute, and the state of this job.';

COMMENT ON TABLE "logloom_private"."storage_hours" IS 'The stored bytes at the first measurement of each hour of the last 8 days, for the forecast.';

COMMENT ON TABLE "logloom_private"."stream_round" IS 'The write sequence up to which streams with new records were marked. Marking a stream idle locks this row.';

COMMENT ON TABLE "logloom_private"."tenant_deletions" IS 'A receipt for each delete_tenant. Nobody can use the id until finished_at, when nothing of the tenant is left. erased_records: null until its log records are deleted.';

COMMENT ON TABLE "logloom_private"."verification_differences" IS 'What a verification found: a damaged block, a minute whose counts differ from its records, a record that is stored more than once, or archived days whose files have the wrong records. At most a thousand rows for each verification.';

COMMENT ON TABLE "logloom_private"."verifications" IS 'Verifications of blocks, counts, ids and the archive. The row without finished_at is the running one; it continues at its position. The last hundred are kept.';

COMMENT ON TABLE "logloom_private"."webhook_secrets" IS 'Secrets that sign a rule''s webhooks. The previous secret also signs until it expires.';

COMMENT ON TYPE "logloom_private"."alert_band" IS 'The usual value and the threshold of a window of a rule with a baseline, or of one group.';

COMMENT ON TYPE "logloom_private"."alert_reading" IS 'How many records were read, newest first; the oldest of them; whether no older one is left.';

COMMENT ON TYPE "logloom_private"."alert_window" IS 'A window of a rule, or of one of its groups, and its value.';

COMMENT ON TYPE "logloom_private"."column_values" IS 'The values of a column. An array of this type has the values of several columns.';

COMMENT ON TYPE "logloom_private"."counted_source" IS 'The source of an aggregate: rows (alias l), and the SQL of count() over them. keys_sql: the group expressions of groups_source, whose rows have conditions as columns (c1, c2 …). has_numbers: true if the rows have numbers, total, minimum, maximum and percentiles instead of the attribute.';

COMMENT ON TYPE "logloom_private"."error" IS 'An error of a register. message and hint are formats for format(). explanation replaces the hint in docs/reference/errors.md. The name begins with the register.';

COMMENT ON TYPE "logloom_private"."ingest_answer" IS 'The answer 200 to a request: body, headers {name: value}, and how many events it added to the queue (0 for a repeat).';

COMMENT ON TYPE "logloom_private"."ingest_request" IS 'One request of ingest. The caller is p_key_digest (hex SHA-256 of an API key or ingest token), or p_claims (of a verified token), or p_tenant_id. Events are parallel arrays. p_ts has a value for each event, null if the event has no time; without p_ts the request only authenticates and asks for the limits. p_positions: the index of each event in the request; null if the function ingest rejected none. p_rejected, p_errors: the events that the function ingest rejected. p_slice: the number, from 0, of this part of a request that comes in several calls; the first one decides whether the limits of the plan allow the request. p_cut: events that were cut to max_record_bytes or max_record_values. p_all_errors: errors list every rejected event instead of the first hundred. p_guessed: events whose ts had a name that may mean something else, as {place: {name: value}}; places count from 1. If such a ts is out of range, it becomes an attribute.';

COMMENT ON TYPE "logloom_private"."ingest_state" IS 'A sender and its limits, read once per call for all requests of a caller. keeps_from, takes_to: the allowed range of ts. events, bytes: used in the month; complete if a limit is near. batches: how many batches of the queue may be missing from events and bytes. headers: sent with every answer; X-Logloom-Writer if pg_cron does not run the writer. service: the only service that the sender may send for; null: any.';

COMMENT ON TYPE "logloom_private"."lock_name" IS 'The advisory locks of Logloom, and what the holder does. deletion: seals or deletes records of past days. writer: adds records or moves the queue. partitions: creates or drops a day. log_counts: adds up or deletes counts. queue: enqueues (shared) or switches the slot (exclusive). notifications, streams, archive: claims work; limits hold because claims are made one at a time. Some locks have a second key, a hash of the lane or the tenant. lane: one worker in a lane. alerts: one evaluator of a tenant''s rules. delete_logs: one new deletion of a tenant at a time. members: one change of a tenant''s members at a time. notifications: one test or confirmation of a tenant''s address at a time.';

COMMENT ON TYPE "logloom_private"."log_key" IS 'A position in the order of a tenant''s records.';

COMMENT ON TYPE "logloom_private"."log_tail" IS 'The position of a tail, and the records found. The tail continues with the write sequence "first"; if id is set, after this id. more: true if there is more to read.';

COMMENT ON TYPE "logloom_private"."page_cursor" IS 'The position where a page begins: after the record (ts, id), in "order" (asc or desc). ts_from, ts_to and now come from the first page, so that later pages have the same range. records_left: how many records the query''s limit leaves for this page and later ones. received_before: an export returns only records received before it began.';

COMMENT ON TYPE "logloom_private"."reader_kind" IS 'The kind of reader: the token of a request, an API key, a portal session, or the view of a log stream or of an alert''s message, which have no request.';

COMMENT ON TYPE "logloom_private"."reading_scope" IS 'What a reader may see. tenant_id: the tenant of the records. filter: the records must match it (the tree of a compiled query; null: all). hidden_fields: names of fields and paths of attrs that the reader does not get (null: none). operations: those that the reader may call (null: all that read). kind: the kind of reader. view_id: the view that the reader is bound to, if any.';

COMMENT ON TYPE "logloom_private"."record_arrays" IS 'Records as one array for each field. columns has the values of the fields of logloom_private.column_fields, as texts.';

COMMENT ON TYPE "logloom_private"."record_field" IS 'A column of logloom.logs. sent: events have it. shown: its position in public.logloom_log_record; null if answers do not have it. kind: how queries treat it (time, id, level, msg, text, host, attrs); null if they cannot. block: how a block stores it (times, batches, ids, runs, templates, attrs, or a column of its own). bloom: with a Bloom filter. place: its position in the console. near: names that people use for it by mistake. aliases: its other names in an event, in order of precedence; a dotted name is a flat key or a path. also: other sources, for the documents. remark: what the console says about it.';

COMMENT ON TYPE "logloom_private"."stream_batch" IS 'Records after a stream''s position, in the order in which they became visible. end_seq is the last write_seq. end_id is the last record with it; null: all records with it.';

COMMENT ON TYPE "public"."logloom_alert_delivery" IS 'The delivery of a notification. status: pending, delivered or failed. purpose: alert, recovery, test, or confirmation (a mail with a code). alert_id: null unless the purpose is alert. A pending delivery is tried again at next_attempt_at, until gives_up_at.';

COMMENT ON TYPE "public"."logloom_alert_history_entry" IS 'An alert: the value that a rule saw, and whether it was acknowledged and delivered. resolved_at: when its incident ended; null while it is open. silence_id: the silence that stopped its messages. absent: it fired because its group sent nothing.';

COMMENT ON TYPE "public"."logloom_alert_incident" IS 'The condition of a rule, or of one group of a rule with by, has held since opened_at. state: open, acknowledged or resolved. resolution: recovered, still_absent (a silent group is no longer watched), rule_changed, rule_disabled or rule_deleted; null while it is open. value: of the last window in which the condition held. peak_value: the value farthest from the threshold. People (…_by, assigned_to) are shown by their email address, or by their user_id if it is unknown.';

COMMENT ON TYPE "public"."logloom_alert_preview" IS 'When a rule would have fired between ts_from and ts_to, evaluated every step_minutes, and the values that it would have seen. For a rule with by, series has the highest value of each window, groups has the groups that fire most or have the highest values, and crowded_windows counts windows with too many or too long groups. For other rules these three are null. band: what is usual for a rule with a baseline; a rule with by has one for each group.';

COMMENT ON TYPE "public"."logloom_alert_preview_band" IS 'What is usual for the window that ends at ts, and the threshold. Null while fewer than three days are known.';

COMMENT ON TYPE "public"."logloom_alert_preview_entry" IS 'A window in which a rule would have fired. group: the group that would have fired, if the rule has by.';

COMMENT ON TYPE "public"."logloom_alert_preview_group" IS 'A group of a rule with by: how often it would have fired, and its value in each window that has one.';

COMMENT ON TYPE "public"."logloom_alert_preview_point" IS 'The value of the window that ends at ts; null if it has none.';

COMMENT ON TYPE "public"."logloom_alert_rule" IS 'An alert rule. Windows and cooldowns are in minutes. view_id: the rule is evaluated within this view; null: all records. notification_secrets: which secrets are set, such as {"slack_url": {"set": true}}. late_seconds: how far evaluation is behind; 0 if it is on time. baseline: null, or {days, deviations, known_days}: the threshold counts deviations from what is usual. While known_days is less than 3, the rule waits.';

COMMENT ON TYPE "public"."logloom_alert_silence" IS 'A time in which matching alerts are not sent. matcher: {rule_id, group}, either, both or none. state: scheduled, active or expired.';

COMMENT ON TYPE "public"."logloom_api_key" IS 'An API key in lists. status: active, revoked or expired. view_id: the view that it reads in; null if none.';

COMMENT ON TYPE "public"."logloom_api_key_usage" IS 'Use of an API key. days_since_…: whole days; days_since_last_use is null if the key was never used. reads: by operation and day, for the last 31 days.';

COMMENT ON TYPE "public"."logloom_archive_part" IS 'A file of the archive. ts_from and ts_to: ts of its first and of its last record. status: verified, or missing if the bucket no longer has the file. key: its key in the bucket.';

COMMENT ON TYPE "public"."logloom_archive_restore" IS 'A restore of records from the archive. status: queued, running, done, or failed with error. ts_from inclusive, ts_to exclusive. files: how many files to read. bytes: how many bytes were read. records: how many records were restored. kept_until: when they are deleted again.';

COMMENT ON TYPE "public"."logloom_audit_event" IS 'An audit event. actor: a user''s id, or a role. subject: what the action changed, such as the id of a key or user.';

COMMENT ON TYPE "public"."logloom_claimed_notification" IS 'A notification to deliver now, and the secrets that sign it (some may still be unsealed). If not is_complete, complete_alert_notification adds the link and the newest records to the body.';

COMMENT ON TYPE "public"."logloom_created_api_key" IS 'A new API key. key_value is shown only now.';

COMMENT ON TYPE "public"."logloom_created_portal_session" IS 'A new portal session. token, or url if p_link, is shown only once; the other is null.';

COMMENT ON TYPE "public"."logloom_ingest_token" IS 'A new ingest token, which can send for one service. It is shown only now.';

COMMENT ON TYPE "public"."logloom_key_reads" IS 'How many requests of a key an operation answered on a UTC day.';

COMMENT ON TYPE "public"."logloom_log_bucket" IS 'The numbers of records in one bucket, which begins at ts and lasts interval_seconds.';

COMMENT ON TYPE "public"."logloom_log_change" IS 'How many records had a value of a field, or a pattern, in a range (after) and in the range that it is compared with (before). kind: pattern or value. change: new, gone, grown or shrunk, as a share of the records. score: how unlikely the change is by chance (Dunning''s G-squared).';

COMMENT ON TYPE "public"."logloom_log_changes" IS 'What changed from [before_from, before_to) to [ts_from, ts_to), the most significant first.';

COMMENT ON TYPE "public"."logloom_log_dashboard" IS 'A dashboard: queries that are shown together, in the order of panels. created_by: the claim sub of its creator.';

COMMENT ON TYPE "public"."logloom_log_export" IS 'A page of an export. Either text has its lines, with line ends, or logs has its records. records: the number of records. cursor: of this page; next_cursor: of the next page, null if there is none.';

COMMENT ON TYPE "public"."logloom_log_field" IS 'A field as a query names it. type: string, number, boolean, array, timestamp, uuid or mixed. records: how many records were looked at. count: in how many of these the field was found. values: its most frequent values. exact: true if all records that match were looked at, false for a sample of them.';

COMMENT ON TYPE "public"."logloom_log_level_counts" IS 'Numbers of records by level; none: records without a level.';

COMMENT ON TYPE "public"."logloom_log_overview" IS 'The services of [ts_from, ts_to), compared with [before_from, before_to). The largest comes first. silent_hosts: hosts without a record in the last 24th of the range that had at least seven in the same part before; null if hosts are hidden or have too many records.';

COMMENT ON TYPE "public"."logloom_log_page" IS 'Records of [ts_from, ts_to), and the cursor of the next page. Any page may have fewer records than p_limit; only the last page has the cursor null. warnings: parts of the query that probably mean something else.';

COMMENT ON TYPE "public"."logloom_log_panel" IS 'A panel of a dashboard. kind: lines (over time), bars (one for each group) or number. width: 1 to 12 columns of the grid.';

COMMENT ON TYPE "public"."logloom_log_record" IS 'A log record. Fields that the event did not have are null.';

COMMENT ON TYPE "public"."logloom_log_secret_scope" IS 'The tenant whose secrets the caller may seal.';

COMMENT ON TYPE "public"."logloom_log_series" IS 'An aggregate of a group over time: points [[ts, value], …], one for each bucket, oldest first. group null: all other groups together.';

COMMENT ON TYPE "public"."logloom_log_service" IS 'The numbers of records and errors of a service (null: no service) in a range, and in the same hours of the days before. last_seen: the minute of the newest record (over a day: exact to 1/1,440 of the range). errors_over_time, records_over_time: in 24 equal parts of the range. …_before_lately: in the last of these parts, in the range before.';

COMMENT ON TYPE "public"."logloom_log_stat" IS 'The aggregates of a group. group: {field: text}; the text is null for records without the field; ts is the beginning of a bucket. value: the result of the last math, or else the first aggregate. values: all results by name. total_groups: how many rows there would be without p_limit and the stage limit. warnings: parts of the query that probably mean something else; the same in each row.';

COMMENT ON TYPE "public"."logloom_log_stream" IS 'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused or disabled. lag_seconds: how long the oldest unsent record has waited. pause_reason: failing (no success for too long), refused (the receiver accepts no record) or maker (its maker is no longer an admin). skipped_records: not sent, because log streams forwarded them three times. test_…: the last test, which runs while test_finished_at is null. last_answer, test_answer: the first 500 characters of the receiver''s answer, if it did not accept everything.';

COMMENT ON TYPE "public"."logloom_log_stream_failure" IS 'What a stream did not send. refused: the record record_id, which the receiver does not accept. rejected: the receiver accepted a batch except for some records and does not say which. gap: records of [ts_from, ts_to) that retention deleted before they were sent.';

COMMENT ON TYPE "public"."logloom_log_tail" IS 'Records in the order in which they became visible. more: true if more records are waiting.';

COMMENT ON TYPE "public"."logloom_log_tenant" IS 'A tenant that the caller belongs to. is_current: whether the caller''s token names this tenant.';

COMMENT ON TYPE "public"."logloom_log_view" IS 'A view limits what its readers get. query_dsl: they get the records that it finds (null: all). hidden_fields: they do not get these fields. operations: they may call these (null: all that read, except those that list alerts). created_by: the claim sub of its creator, or service_role.';

COMMENT ON TYPE "public"."logloom_member" IS 'A user who belongs to a tenant. role: viewer, member, admin or owner. email: from Supabase Auth, else as given when the member was added; null if unknown. view_id: the view that a viewer reads in.';

COMMENT ON TYPE "public"."logloom_notification_address" IS 'An email address of alert rules, in lower case. confirmed: notifications may be sent there, because a code confirmed it or it belongs to a member. code_expires_at, tries_left: null without a valid code.';

COMMENT ON TYPE "public"."logloom_opened_portal_session" IS 'The session that a link opened. token is shown only once.';

COMMENT ON TYPE "public"."logloom_pipeline_config" IS 'How long records are kept, and whether they are compressed.';

COMMENT ON TYPE "public"."logloom_plan_feature" IS 'Whether the plan includes a feature, how many it allows, and how many the tenant has.';

COMMENT ON TYPE "public"."logloom_plan_features" IS 'Whether a plan has saved searches and alerts, and how many.';

COMMENT ON TYPE "public"."logloom_portal_session" IS 'A portal session in a list. status: active, revoked or expired.';

COMMENT ON TYPE "public"."logloom_query_validity" IS 'Tells whether a query compiles. If not: the error, its position (1-based, code points) and the expected syntax. warnings: valid parts that probably do not mean what their author wanted.';

COMMENT ON TYPE "public"."logloom_query_warning" IS 'A valid part of a query that probably does not mean what its author wanted: its position (1-based, code points), and what to write instead.';

COMMENT ON TYPE "public"."logloom_retention_run" IS 'A deletion. kind: retention (by age), erasure (on request) or storage (a day dropped because storage was full). status: queued, running, done, interrupted (the run of a later day continued it) or failed, with error. ts_from inclusive, ts_to exclusive. records: how many were deleted so far; in a dry run, how many match. partitions: days that were dropped as a whole. archive_records and archive_files: how many records were removed from how many files of the archive; records does not include them. not_reached: where copies of the records may remain after an erasure; null before it is done.';

COMMENT ON TYPE "public"."logloom_saved_search" IS 'A saved search. created_by: the claim sub of its creator. run_count: how often anybody ran it. view_id: readers of this view see it in their list. display: settings for the page that shows it, such as range and columns.';

COMMENT ON TYPE "public"."logloom_saved_search_run" IS 'The result of a saved search: a page of records or, if the query aggregates, stats.';

COMMENT ON TYPE "public"."logloom_stored" IS 'The disk space of a tenant''s records: sealed_bytes in compressed blocks, hot_bytes as rows with indexes (estimated).';

COMMENT ON TYPE "public"."logloom_stream_settlement" IS 'more: true if the sender still holds its claim of the log stream after it settled a batch.';

COMMENT ON TYPE "public"."logloom_success" IS 'The answer of an operation that returns nothing else.';

COMMENT ON TYPE "public"."logloom_tenant_deletion" IS 'A tenant that is being deleted. The receipt has the same deletion_id.';

COMMENT ON TYPE "public"."logloom_tenant_settings" IS 'The effective settings of a tenant: its own values, or else the defaults.';

COMMENT ON TYPE "public"."logloom_unsealed_secret" IS 'Secrets of a rule that were not sealed with the function''s current key.';

COMMENT ON TYPE "public"."logloom_usage" IS 'The usage of a tenant in the current UTC month, the limits of its plan, and the usage by month and day of the requested months, newest first. bytes: bytes of request bodies. stored: disk space of the records. restored_records: records restored from the archive this month.';

COMMENT ON TYPE "public"."logloom_usage_month" IS 'Accepted events and bytes of a UTC month (YYYY-MM).';

COMMENT ON TYPE "public"."logloom_webhook_secret" IS 'The new secret of a rule, shown only now. The previous one also signs until previous_valid_until.';

COMMENT ON TYPE "public"."logloom_writer_run" IS 'How many events a call of run_writer moved, and whether nothing was left to do.';

COMMENT ON VIEW "logloom_private"."planned_alert_rules" IS 'Enabled rules whose plan is valid. delay: how long after its end a window is first evaluated.';

GRANT EXECUTE ON FUNCTION "logloom_private"."addresses_in_incidents"(text, uuid[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_entry_of"(logloom.alert_history, timestamp WITH time zone, boolean) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_incident_of"(logloom.alert_incidents, jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_incident_state"(timestamp WITH time zone, timestamp WITH time zone) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_rule_of"(logloom.alert_rules) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_silence_of"(logloom.alert_silences) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_silence_state"(timestamp WITH time zone, timestamp WITH time zone, timestamp WITH time zone) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."api_key_status"(timestamp WITH time zone, timestamp WITH time zone) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."audit_actions"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."change_alert_incidents"(uuid[], boolean, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."changed_rule_secrets"(jsonb, jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."check_query"(text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."check_rule_query"(text) TO "authenticated", "service_role";

REVOKE ALL
  ON FUNCTION "logloom_private"."completed_preview"(public.logloom_alert_preview, logloom_private.alert_window[], boolean, logloom.alert_rules, logloom_private.alert_band[])
  FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."current_user_id"() TO "anon", "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."digest_of_signer"(uuid, text, bytea) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."is_service_role"() TO "anon", "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."late_seconds"(logloom.alert_rules) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."log_view_of"(logloom.log_views) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."note_project"() TO "service_role";

REVOKE ALL
  ON FUNCTION "logloom_private"."preview_bands"(logloom_private.compiled_query, text, public.logloom_alert_preview, logloom_private.alert_window[], logloom.alert_rules, integer)
  FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."preview_values"(logloom_private.compiled_query, text, text, timestamp WITH time zone, timestamp WITH time zone, integer, integer)
  FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_changes"(logloom_private.reading_scope, text, text, text, integer, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."read_log_fields"(logloom_private.reading_scope, text, text, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."require_room_for_baseline"(text, jsonb, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."saved_search_of"(logloom.saved_searches) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."service_operations"() TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."settle_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."shown_baseline"(logloom.alert_rules) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."trim_space"(text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."with_baseline"(logloom.alert_rules, jsonb, double precision) TO "authenticated", "service_role";

GRANT EXECUTE
  ON FUNCTION
    "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid,
    jsonb)
  TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."create_api_key"(text, text, text, text[], uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."ingest_signer"(uuid, text, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_log_fields"(text, text, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."log_changes"(text, text, text, integer, text, text) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid, integer, jsonb) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."update_alert_incident"(uuid[], boolean, text, text) TO "authenticated", "service_role";

GRANT EXECUTE
  ON FUNCTION
    "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, jsonb)
  TO "authenticated", "service_role";

REVOKE ALL ("baseline_days") ON TABLE "logloom"."alert_rules" FROM "authenticated";

GRANT INSERT ("baseline_days"), UPDATE ("baseline_days") ON TABLE "logloom"."alert_rules" TO "authenticated";

REVOKE ALL ("baseline_days") ON TABLE "logloom"."alert_rules" FROM "service_role";

GRANT INSERT ("baseline_days"), UPDATE ("baseline_days") ON TABLE "logloom"."alert_rules" TO "service_role";

SELECT cron.schedule_in_database('logloom_send', '10 seconds', 'call logloom_private.work(''send'')', 'postgres', NULL, true);

SELECT cron.schedule_in_database('logloom_tend', '10 seconds', 'call logloom_private.work(''tend'')', 'postgres', NULL, true);

SELECT cron.schedule_in_database('logloom_write', '10 seconds', 'call logloom_private.work(''write'')', 'postgres', NULL, true);

ALTER TABLE "logloom"."alert_rules"
  ADD CONSTRAINT "alert_rules_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 200))));

ALTER TABLE "logloom"."audit_events"
  ADD CONSTRAINT "audit_events_action_is_known" CHECK ((action = ANY (logloom_private.audit_actions())));

ALTER TABLE "logloom"."log_dashboards"
  ADD CONSTRAINT "log_dashboards_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 200))));

ALTER TABLE "logloom"."log_streams"
  ADD CONSTRAINT "log_streams_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 100))));

ALTER TABLE "logloom"."log_views"
  ADD CONSTRAINT "log_views_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 100))));

ALTER TABLE "logloom"."saved_searches"
  ADD CONSTRAINT "saved_searches_category_is_valid" CHECK (((category = logloom_private.trim_space(category)) AND ((length(category) >= 1) AND (length(category) <= 100))));

ALTER TABLE "logloom"."saved_searches"
  ADD CONSTRAINT "saved_searches_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 200))));

-- Queries compile to other SQL now.
delete from logloom_private.alert_plans where true;

-- Streams whose receiver has accepted something are proven.
update logloom.log_streams set is_proven = true where last_success_at is not null;

-- Ends that were announced before: no message announces them again, and the next alert is sent.
update logloom.alert_incidents i
set end_told_at = i.resolved_at
where i.resolved_at is not null
  and exists (
    select
    from logloom_private.notifications n
    where n.incident_id = i.incident_id and n.purpose = 'recovery'
      and n.created_at >= i.last_fired_at
  );

-- One scheduler with three lanes replaces a pg_cron job for each step.
update logloom_private.settings set writer_guard_silence = '20 seconds'
where writer_guard_silence = '10 seconds';

-- The limit of the queue now follows from max_storage_bytes.
update logloom_private.settings set queue_hard_limit_bytes = null
where queue_hard_limit_bytes = 8589934592;
insert into logloom_private.storage default values;
select logloom_private.schedule_jobs();

-- How many rules with a baseline each plan of the first migration has.
update logloom.plans p
set max_baseline_rules = l.max_baseline_rules
from (values ('free', 1), ('pro', 20), ('enterprise', 200)) l (plan_id, max_baseline_rules)
where p.plan_id = l.plan_id;

select logloom_private.finish_migration();
