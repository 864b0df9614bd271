export type Json = string | number | boolean | null | { [name: string]: Json } | Json[];

export type Level = "debug" | "info" | "warn" | "error";

export interface LogRecord {
  id: string;
  tenant_id: string;
  ts: string;
  received_at: string;
  level: Level | null;
  msg: string | null;
  service: string | null;
  env: string | null;
  req_id: string | null;
  user_id: string | null;
  route: string | null;
  host: string | null;
  attrs: { [name: string]: Json } | null;
}

/** A probable mistake in a query. */
export interface QueryWarning {
  /** Null if it is about the records, not the query. */
  position: number | null;
  message: string;
  /** The text to write instead. */
  suggestion: string;
}

export interface LogPage {
  logs: LogRecord[];
  /** Null on the last page. */
  next_cursor: string | null;
  ts_from: string;
  ts_to: string;
  warnings: QueryWarning[];
}

export interface LogTail {
  logs: LogRecord[];
  next_cursor: string;
  /** True: more records are available, ask again at once. */
  more: boolean;
}

export interface StatRow {
  group: Group;
  /** The result of the last `math`, or else the first aggregate. */
  value: number | null;
  /** The values of all aggregates, by name. */
  values: { [name: string]: number | string | null };
  total_groups: number;
  warnings: QueryWarning[];
}

export interface Series {
  interval_seconds: number;
  series: SeriesLine[];
  warnings: QueryWarning[];
}

export interface SeriesLine {
  /** Null: the sum of all groups that have no line of their own. */
  group: Group | null;
  points: [ts: string, value: number | null][];
}

export interface Histogram {
  interval_seconds: number;
  total: number;
  buckets: { ts: string; count: number; levels: { [level in Level | "none"]: number } }[];
}

export interface Field {
  field: string;
  type: "string" | "number" | "boolean" | "array" | "timestamp" | "uuid" | "mixed";
  /** The number of `records` that have this field. */
  count: number;
  values: { value: string; count: number }[];
  /** True if all matching records were read, false for a sample. */
  exact: boolean;
  /** The number of records that were read. */
  records: number;
}

/** The result of a saved search. If its query aggregates, `stats` has the rows and `logs` is empty. */
export interface SavedSearchRun {
  logs: LogRecord[];
  next_cursor: string | null;
  ts_from: string;
  ts_to: string;
  stats: StatRow[] | null;
}

export interface QueryValidity {
  valid: boolean;
  error: string | null;
  position: number | null;
  hint: string | null;
  warnings: QueryWarning[];
}

export interface SavedSearch {
  id: string;
  name: string;
  description: string | null;
  query_dsl: string;
  category: string | null;
  is_shared: boolean;
  tags: string[];
  created_by: string;
  created_at: string;
  updated_at: string;
  last_run_at: string | null;
  run_count: number;
  view_id: string | null;
  /** How a page shows the search, such as its range and columns. */
  display: { [name: string]: Json };
}

export interface PlanFeature {
  enabled: boolean;
  maxCount: number;
  currentCount: number;
}

export type Channel = "email" | "webhook" | "slack" | "discord" | "teams" | "pagerduty";
export type Comparison = "gt" | "gte" | "lt" | "lte" | "eq" | "neq";
export type Group = { [name: string]: string | null };

export interface AlertRule {
  rule_id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  query_dsl: string;
  threshold: number;
  comparison: Comparison;
  window_minutes: number;
  cooldown_minutes: number;
  enabled: boolean;
  notification_destinations: Channel[];
  notification_config: { email?: string; webhook_url?: string; [name: string]: Json | undefined };
  created_at: string;
  updated_at: string;
  last_evaluated_at: string | null;
  last_value: number | null;
  last_error: string | null;
  view_id: string | null;
  notify_on_recovery: boolean;
  /** How many minutes the condition must hold before the rule fires. */
  for_minutes: number;
  on_absent: "ignore" | "fire";
  group_wait_seconds: number;
  /** The secrets that are set: `{"slack_url": {"set": true}}`. */
  notification_secrets: { [name: string]: { set: true } };
  /** What `threshold` counts: deviations from the same windows of the last days. Null: the value itself. */
  baseline: Required<AlertBaseline> & { known_days: number } | null;
  /** The customer who made the rule in a portal session. */
  customer: string | null;
  /** When an admin disabled a customer's rule. Only an admin can enable it. */
  held_at: string | null;
  /** new_error: fires for each error group that is new or regressed; it has no condition. */
  kind: "query" | "new_error";
  /** How many seconds the rule's evaluation is late. */
  late_seconds: number;
  /** When the user who allowed a customer's rule lost their role. Only an admin can enable it. */
  paused_at: string | null;
}

/** Of how many days the values are usual, and how many deviations from them fire. */
export interface AlertBaseline {
  days?: number;
  deviations?: number;
}

export interface AlertPreview {
  ts_from: string;
  ts_to: string;
  step_minutes: number;
  alerts: PreviewAlert[];
  series: PreviewPoint[];
  total_alerts: number;
  /** Null, like the next two members, for a rule without `by`. */
  groups: PreviewGroup[] | null;
  total_groups: number | null;
  crowded_windows: number | null;
  /** Null for a rule without a baseline. A rule with `by` has one for each group. */
  band: PreviewBand[] | null;
}

export interface PreviewGroup {
  group: Group;
  alerts: number;
  series: PreviewPoint[];
  band: PreviewBand[] | null;
}

/** The usual value and the threshold of the window that ends at ts: both null while fewer than three days are known. */
export interface PreviewBand {
  ts: string;
  usual: number | null;
  threshold: number | null;
}

export interface PreviewAlert {
  window_start: string;
  window_end: string;
  value: number;
  group: Group | null;
}

export interface PreviewPoint {
  ts: string;
  value: number | null;
}

export interface Alert {
  alert_id: string;
  rule_id: string;
  tenant_id: string;
  triggered_at: string;
  value: number;
  threshold: number;
  acknowledged: boolean;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  notification_sent: boolean;
  notification_sent_at: string | null;
  notification_channels: Channel[];
  notification_error: string | null;
  window_start: string;
  window_end: string;
  group: Group | null;
  /** The incident that the alert belongs to. */
  incident_id: string | null;
  /** When the incident ended. */
  resolved_at: string | null;
  /** The silence because of which it was not sent. */
  silence_id: string | null;
  /** True if it fired because its group sent nothing. */
  absent: boolean;
}

/** Why an incident ended. `still_absent`: the group sent nothing for so long that it is no longer watched. */
export type Resolution =
  | "recovered"
  | "still_absent"
  | "rule_changed"
  | "rule_disabled"
  | "rule_deleted";

/** An incident: how long the condition of a rule, or of one of its groups, has held. */
export interface AlertIncident {
  incident_id: string;
  tenant_id: string;
  rule_id: string;
  /** The rule's name when the incident opened. query_dsl and comparison are from then, too. */
  rule_name: string;
  /** Null, like comparison, if the rule was deleted before there were incidents. */
  query_dsl: string | null;
  window_minutes: number;
  group: Group | null;
  state: "open" | "acknowledged" | "resolved";
  opened_at: string;
  last_fired_at: string;
  resolved_at: string | null;
  resolution: Resolution | null;
  fired_count: number;
  /** The value of the last window in which the condition held. */
  value: number;
  /** The value farthest from the threshold. */
  peak_value: number;
  threshold: number;
  comparison: Comparison | null;
  acknowledged_at: string | null;
  /**
   * The email address of the user, or the user_id if the address is unknown. This holds for all users of an incident.
   */
  acknowledged_by: string | null;
  assigned_to: string | null;
  assigned_at: string | null;
  assigned_by: string | null;
  note: string | null;
  noted_at: string | null;
  noted_by: string | null;
}

/** An incident with its newest alerts and deliveries. */
export interface AlertIncidentDetails extends AlertIncident {
  alerts: Alert[];
  deliveries: AlertDelivery[];
}

/** The alerts that a silence covers: of a rule, of groups with these texts, of both, or all alerts. */
export interface AlertMatcher {
  rule_id?: string;
  group?: Group;
}

/** The days on which a silence begins, its local start, and how long it lasts. */
export interface AlertRecurrence {
  days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  /** Such as `02:00`, in `time_zone`. */
  start: string;
  /** 1 to 10080. */
  minutes: number;
  /** An IANA name, such as `Europe/Berlin`. */
  time_zone: string;
}

/** A period in which matching alerts are not sent, or one that recurs. */
export interface AlertSilence {
  silence_id: string;
  tenant_id: string;
  matcher: AlertMatcher;
  starts_at: string;
  /** Null only if it recurs without an end. */
  ends_at: string | null;
  state: "scheduled" | "active" | "expired";
  comment: string | null;
  created_by: string;
  created_at: string;
  expired_at: string | null;
  expired_by: string | null;
  recurrence: AlertRecurrence | null;
}

export interface AlertDelivery {
  delivery_id: string;
  alert_id: string | null;
  rule_id: string;
  channel: Channel;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
  last_status: number | null;
  last_error: string | null;
  purpose: "alert" | "recovery" | "test" | "confirmation";
  gives_up_at: string | null;
}

export interface AlertAddress {
  email: string;
  confirmed: boolean;
  confirmed_at: string | null;
  code_expires_at: string | null;
  tries_left: number | null;
}

/** `secret` is returned only by this call. */
export interface WebhookSecret {
  rule_id: string;
  secret: string;
  previous_valid_until: string | null;
}

export interface Tenant {
  tenant_id: string;
  plan_id: string;
  plan_name: string;
  created_at: string;
  monthly_events_limit: number;
  monthly_bytes_limit: number;
  features: {
    saved_searches: boolean;
    max_saved_searches: number;
    alerts: boolean;
    max_alerts: number;
  };
}

export interface TenantDeletion {
  deletion_id: string;
  tenant_id: string;
  requested_at: string;
}

export interface Stored {
  sealed_bytes: number;
  hot_bytes: number;
}

export interface TenantSettings {
  tenant_id: string;
  pipeline_config: { retention_days: number; compression: boolean };
  notification_preferences: { email_enabled: boolean; webhook_enabled: boolean };
  stored: Stored;
  retention_rules: { level: string | null; service: string | null; days: number }[];
}

export interface Usage {
  tenant_id: string;
  month: string;
  events: number;
  bytes: number;
  monthly_events_limit: number;
  monthly_bytes_limit: number;
  events_percent: number;
  bytes_percent: number;
  projected_events: number;
  projected_bytes: number;
  resets_at: string;
  months: { month: string; events: number; bytes: number }[];
  days: { day: string; events: number; bytes: number }[];
  stored: Stored;
  restored_records: number;
  dropped: number;
  rules: IngestRuleHour[];
  services: { day: string; service: string | null; events: number; record_bytes: number }[];
  spans: number;
}

/** What an ingest rule did in an hour. */
export interface IngestRuleHour {
  rule_id: string;
  hour: string;
  seen: number;
  matched: number;
  masked: number;
  dropped: number;
  sampled: number;
  not_checked: number;
  bytes: number;
}

export interface IngestRule {
  rule_id: string;
  tenant_id: string;
  position: number;
  name: string;
  condition: string | null;
  action: { [name: string]: Json };
  is_on: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
}

/** What an unsaved rule would have matched in the last hour. */
export interface IngestRulePreview {
  seen: number;
  matched: number;
  rule: { when: Record<string, unknown>[]; do: Record<string, unknown> };
  examples: LogRecord[];
}

/** From the fewest to the most rights. */
export type Role = "viewer" | "member" | "admin" | "owner";

export interface Member {
  user_id: string;
  role: Role;
  email: string | null;
  created_at: string;
  /** The view that limits a viewer. */
  view_id: string | null;
}

/** The limits of readers that are bound to this view. */
export interface LogView {
  view_id: string;
  tenant_id: string;
  name: string;
  /** Null: all records. */
  query_dsl: string | null;
  hidden_fields: string[];
  /** Null: all reading operations except the lists of alerts. */
  operations: string[] | null;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export type Scope = "ingest" | "read" | "audit";

export interface ApiKey {
  key_id: string;
  tenant_id: string;
  name: string;
  key_prefix: string;
  scopes: Scope[];
  status: "active" | "revoked" | "expired";
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  view_id: string | null;
}

/** `key_value` is returned only by this call. */
export interface CreatedApiKey {
  key_id: string;
  tenant_id: string;
  name: string;
  key_prefix: string;
  key_value: string;
  scopes: Scope[];
  status: ApiKey["status"];
  created_at: string;
  expires_at: string | null;
  view_id: string | null;
}

/** `token` is returned only by this call. */
export interface IngestToken {
  token: string;
  expires_at: string;
  service: string;
}

/** A customer's session for reading logs, as lists return it. */
export interface PortalSession {
  session_id: string;
  tenant_id: string;
  label: string | null;
  view_id: string | null;
  query_dsl: string | null;
  origins: string[];
  status: "active" | "revoked" | "expired";
  created_by: string | null;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  first_used_at: string | null;
  last_used_at: string | null;
  customer: string | null;
  limits: Partial<Record<"monthly_events" | "monthly_bytes" | "streams" | "rules", number>> | null;
  parts: string[] | null;
  variables: Record<string, string> | null;
}

/** What a customer made in a portal session. */
export interface PortalThing {
  customer: string;
  kind: "stream" | "rule";
  thing_id: string;
  name: string;
  state: "sending" | "failing" | "enabled" | "disabled" | "paused" | "held";
  maker: string | null;
  created_at: string;
}

/** How many sessions were revoked, and how many things deleted. */
export interface RevokedCustomer {
  sessions: number;
  streams: number;
  rules: number;
}

/** `token`, or `url` with `p_link`, is returned only by this call. */
export interface CreatedPortalSession {
  session_id: string;
  token: string | null;
  url: string | null;
  expires_at: string;
}

/** How often records had a value or a pattern, in a range and in the range before it. */
export interface LogChange {
  kind: "pattern" | "value";
  field: string;
  value: string;
  before: number;
  after: number;
  /** Compares the shares of the records. */
  change: "new" | "gone" | "grown" | "shrunk";
  /** How unlikely the change is (G² of Dunning). */
  score: number;
}

export interface LogChanges {
  ts_from: string;
  ts_to: string;
  before_from: string;
  before_to: string;
  records: number;
  records_before: number;
  /** The least likely change comes first. */
  changes: LogChange[];
  warnings: QueryWarning[];
}

/** The records of a service in a range, and in the same hours of earlier days. */
export interface LogService {
  /** Null: the records without a service. */
  service: string | null;
  records: number;
  errors: number;
  records_before: number;
  errors_before: number;
  /** Accurate to the minute, or to 1/1440 of a range longer than a day. */
  last_seen: string;
  /** The errors in 24 equal parts of the range. */
  errors_over_time: number[];
  records_over_time: number[];
  /** The errors in the last of these parts in the range before. */
  errors_before_lately: number;
  records_before_lately: number;
}

export interface LogOverview {
  ts_from: string;
  ts_to: string;
  before_from: string;
  before_to: string;
  total_services: number;
  /** The service with the most records comes first. */
  services: LogService[];
  warnings: QueryWarning[];
  /** Hosts without a record in the last part that had some in the same part before. Null: not compared. */
  silent_hosts: string[] | null;
}

/** Errors that have the same cause. */
export interface ErrorGroup {
  /** Sixteen hexadecimal digits; "others" counts the errors beyond the plan's limit of groups. */
  fingerprint: string;
  tenant_id: string;
  service: string | null;
  error_type: string | null;
  /** Type and template of the messages. Null: the records are gone. */
  title: string | null;
  /** new and regressed: in the last seven days. In a view: open, resolved or ignored. */
  state: "new" | "regressed" | "open" | "resolved" | "ignored";
  first_seen: string;
  last_seen: string;
  /** How many arrived; in a view: how many there are in the range. */
  records: number;
  /** How many users it touched; an estimate from 256 on. */
  users: number;
  first_release: string | null;
  last_release: string | null;
  /** The email address of the user, or the user_id if the address is unknown. */
  assigned_to: string | null;
  note: string | null;
  ignored_until: string | null;
  resolved_at: string | null;
  /** The last release that has the error. */
  resolved_release: string | null;
  /** Records in each of the last 24 hours; the last one is the current one. */
  hours: number[];
}

/** Records of an error group in the hour or UTC day that begins at this time. */
export interface ErrorCount {
  at: string;
  records: number;
}

/** A call of a stack trace. */
export interface ErrorFrame {
  line: string;
  /** Not of a runtime or a library. */
  is_own: boolean;
}

/** A value that records of a group have more often than other errors, as shares from 0 to 1. */
export interface ErrorTag {
  field: string;
  value: string;
  share: number;
  share_of_others: number;
}

/** A release in which an error was seen. */
export interface ErrorRelease {
  release: string;
  first_seen: string;
  last_seen: string;
  /** How many of the sampled records are its. */
  records: number;
}

/** An error group with its counts by hour. */
export interface ErrorGroupDetails {
  group: ErrorGroup;
  /** The last 14 days. */
  hours: ErrorCount[];
  /** The last year. Null in a view. */
  days: ErrorCount[] | null;
  /** The newest stack trace, the innermost call first. */
  stack: ErrorFrame[];
  releases: ErrorRelease[];
  tags: ErrorTag[];
  /** At most ten. */
  newest: LogRecord[];
  /** The records that releases, tags and newest come from. */
  sampled_records: number;
  /** The fingerprints of the groups that were merged into this one. Null in a view. */
  merged: string[] | null;
}

/** A panel of a dashboard. */
export interface LogPanel {
  title: string;
  query_dsl: string;
  kind: "lines" | "bars" | "number";
  /** The number of grid columns, of twelve. */
  width: number;
}

export interface LogDashboard {
  dashboard_id: string;
  tenant_id: string;
  name: string;
  is_shared: boolean;
  panels: LogPanel[];
  /** Null in a portal session. */
  created_by: string | null;
  created_at: string;
  updated_at: string;
  in_portal: boolean;
  /** Values by name that the portal session pins. */
  variables: Record<string, string> | null;
}

/** A tenant of the user. */
export interface LogTenant {
  tenant_id: string;
  role: Role;
  /** True for the tenant in the token. */
  is_current: boolean;
}

/** A page of an export. */
export interface LogExport {
  /** The lines of the page, each with its line break. Empty for the format json. */
  text: string;
  records: number;
  cursor: string;
  next_cursor: string | null;
  /** The records of the page. Null for other formats. */
  logs: LogRecord[] | null;
}

export interface ApiKeyUsage {
  key_id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
  days_since_creation: number;
  days_since_last_use: number | null;
  reads: KeyReads[];
}

/** How often a key called an operation on a day (UTC). */
export interface KeyReads {
  operation: string;
  day: string;
  reads: number;
}

export interface AuditEvent {
  event_id: string;
  tenant_id: string;
  occurred_at: string;
  actor: string;
  action: string;
  subject: string;
  details: { [name: string]: Json };
  client_id: string | null;
}

/** An event of the audit trail. */
export interface AuditTrailEvent {
  event_id: string;
  tenant_id: string;
  occurred_at: string;
  source: "logloom" | "app";
  actor: string;
  action: string;
  targets: { [name: string]: Json }[];
  context: { [name: string]: Json };
  client_id: string | null;
  day: string | null;
  position: number | null;
  erased_at: string | null;
}

/** What verify_audit_trail found. */
export interface AuditVerdict {
  events: number;
  erased: number;
  day_from: string | null;
  day_to: string | null;
  digest: string | null;
  /** The first fault: event_missing, event_changed, link_changed or digest_changed. */
  fault: string | null;
  fault_day: string | null;
  fault_position: number | null;
  fault_event_id: string | null;
  next_day: string | null;
}

export interface RetentionRun {
  run_id: string;
  tenant_id: string;
  kind: "retention" | "erasure" | "storage";
  status: "queued" | "running" | "done" | "interrupted" | "failed";
  requested_by: string;
  requested_at: string;
  query_dsl: string | null;
  ts_from: string | null;
  ts_to: string;
  dry_run: boolean;
  records: number;
  partitions: number;
  finished_at: string | null;
  error: string | null;
  archive_files: number;
  archive_records: number;
  /** Where copies of the records may remain after an erasure. Null before it is done. */
  not_reached: { kind: string; ts_from: string; ts_to: string }[] | null;
}

/** A file of the archive. */
export interface ArchivedFile {
  part_id: string;
  tenant_id: string;
  first_day: string;
  last_day: string;
  ts_from: string;
  ts_to: string;
  records: number;
  bytes: number;
  status: "verified" | "missing";
  verified_at: string;
  bucket: string | null;
  key: string;
  sha256: string;
}

/** A restore of records from the archive. */
export interface ArchiveRestore {
  restore_id: string;
  tenant_id: string;
  requested_by: string;
  requested_at: string;
  ts_from: string;
  ts_to: string;
  query_dsl: string;
  kept_until: string;
  status: "queued" | "running" | "done" | "failed";
  files: number;
  files_done: number;
  records: number;
  bytes: number;
  finished_at: string | null;
  error: string | null;
}

/** What files say about one thing of a tenant. */
export interface FileDocument {
  type: string;
  name: string;
  renamed_from?: string;
  fields: { [name: string]: Json };
}

/** A difference between files and a tenant. */
export interface FileChange {
  action: "create" | "update" | "delete";
  type: string;
  name: string;
  renamed_from: string | null;
  fields: { [name: string]: { old?: Json; new: Json } };
}

/** The call succeeded. */
export interface Success {
  success: true;
}

export interface HealthReport {
  status: "healthy" | "degraded" | "unhealthy";
  timestamp: string;
  /** Each check has a status, and a reason unless it is healthy. */
  checks: { [name: string]: { [name: string]: Json } };
}

export type StreamKind =
  | "webhook"
  | "otlp"
  | "loki"
  | "elasticsearch"
  | "splunk_hec"
  | "datadog"
  | "s3";

export interface LogStream {
  stream_id: string;
  tenant_id: string;
  name: string;
  query_dsl: string | null;
  kind: StreamKind;
  config: { [name: string]: string };
  secrets: { [name: string]: { set: true } };
  enabled: boolean;
  view_id: string | null;
  maker: string | null;
  created_at: string;
  updated_at: string;
  status: "sending" | "failing" | "paused" | "disabled";
  lag_seconds: number;
  next_attempt_at: string | null;
  failing_since: string | null;
  last_success_at: string | null;
  last_status: number | null;
  last_error: string | null;
  paused_at: string | null;
  pause_reason: "failing" | "refused" | "maker" | null;
  sent_batches: number;
  sent_records: number;
  skipped_records: number;
  refused_records: number;
  test_requested_at: string | null;
  test_finished_at: string | null;
  test_status: number | null;
  test_error: string | null;
  customer: string | null;
  held_at: string | null;
  /** The first 500 characters of the receiver's answer to a refused batch. */
  last_answer: string | null;
  source: "logs" | "audit";
  test_answer: string | null;
}

export interface LogStreamFailure {
  failure_id: string;
  stream_id: string;
  kind: "refused" | "rejected" | "gap";
  occurred_at: string;
  record_id: string | null;
  record_ts: string | null;
  records: number | null;
  ts_from: string | null;
  ts_to: string | null;
  status: number | null;
  error: string;
}

/** The tenant for which the caller may seal secrets. */
export interface LogSecretScope {
  tenant_id: string;
  customer: string | null;
}

/** The answers of the operations that a user may call. */
export interface Answers {
  acknowledge_alert: Success;
  add_tenant_member: Member;
  apply_tenant_files: FileChange[];
  check_plan_feature: PlanFeature;
  confirm_alert_address: Success;
  create_alert_rule: AlertRule;
  create_alert_silence: AlertSilence;
  create_api_key: CreatedApiKey;
  create_ingest_rule: IngestRule;
  create_ingest_token: IngestToken;
  create_log_dashboard: LogDashboard;
  create_log_portal_session: CreatedPortalSession;
  create_log_stream: LogStream;
  create_log_view: LogView;
  create_saved_search: string;
  create_tenant: Tenant;
  delete_alert_rule: Success;
  delete_ingest_rule: Success;
  delete_log_dashboard: Success;
  delete_log_stream: Success;
  delete_log_view: Success;
  delete_logs: RetentionRun;
  delete_saved_search: Success;
  delete_tenant: TenantDeletion;
  erase_audit_subject: number;
  expire_alert_silence: AlertSilence;
  export_logs: LogExport;
  export_tenant_files: FileDocument[];
  get_alert_incident: AlertIncidentDetails;
  get_alert_rule: AlertRule;
  get_api_key_usage: ApiKeyUsage;
  get_current_tenant: Tenant;
  get_error_group: ErrorGroupDetails;
  get_log: LogRecord;
  get_log_context: LogRecord[];
  get_log_dashboard: LogDashboard;
  get_log_secret_scope: LogSecretScope;
  get_log_stream: LogStream;
  get_saved_search: SavedSearch;
  get_saved_search_categories: string[];
  get_saved_search_count: number;
  get_tenant_settings: TenantSettings;
  get_tenant_usage: Usage;
  list_alert_addresses: AlertAddress[];
  list_alert_deliveries: AlertDelivery[];
  list_alert_history: Alert[];
  list_alert_incidents: AlertIncident[];
  list_alert_rules: AlertRule[];
  list_alert_silences: AlertSilence[];
  list_api_keys: ApiKey[];
  list_audit_events: AuditTrailEvent[];
  list_error_groups: ErrorGroup[];
  list_ingest_rules: IngestRule[];
  list_log_archive: ArchivedFile[];
  list_log_archive_restores: ArchiveRestore[];
  list_log_dashboards: LogDashboard[];
  list_log_fields: Field[];
  list_log_portal_sessions: PortalSession[];
  list_log_retention_runs: RetentionRun[];
  list_log_stream_failures: LogStreamFailure[];
  list_log_streams: LogStream[];
  list_log_tenants: LogTenant[];
  list_log_views: LogView[];
  list_portal_things: PortalThing[];
  list_saved_searches: SavedSearch[];
  list_tenant_audit_events: AuditEvent[];
  list_tenant_members: Member[];
  log_changes: LogChanges;
  log_histogram: Histogram;
  log_overview: LogOverview;
  log_series: Series;
  log_stats: StatRow[];
  order_ingest_rules: IngestRule[];
  preview_alert_rule: AlertPreview;
  preview_ingest_rule: IngestRulePreview;
  preview_tenant_files: FileChange[];
  record_audit_event: string;
  remove_tenant_member: Success;
  restore_log_archive: ArchiveRestore;
  retry_alert_delivery: AlertDelivery;
  revoke_api_key: Success;
  revoke_log_portal_session: Success;
  revoke_portal_customer: RevokedCustomer;
  rotate_alert_webhook_secret: WebhookSecret;
  rotate_api_key: CreatedApiKey;
  run_saved_search: SavedSearchRun;
  search_logs: LogPage;
  set_log_plans: { changes: FileChange[]; plans: FileDocument[] };
  set_retention_rules: TenantSettings;
  set_tenant_member_role: Member;
  switch_log_tenant: LogTenant;
  tail_logs: LogTail;
  test_alert_rule: AlertDelivery[];
  test_log_stream: LogStream;
  update_alert_incident: Success;
  update_alert_rule: AlertRule;
  update_error_group: Success;
  update_ingest_rule: IngestRule;
  update_log_dashboard: LogDashboard;
  update_log_stream: LogStream;
  update_log_view: LogView;
  update_saved_search: SavedSearch;
  update_tenant_settings: TenantSettings;
  validate_query: QueryValidity;
  verify_audit_trail: AuditVerdict;
}
