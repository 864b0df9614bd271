import type {
  Alert,
  AlertAddress,
  AlertDelivery,
  AlertPreview,
  AlertRule,
  ApiKey,
  ApiKeyUsage,
  AuditEvent,
  Comparison,
  Field,
  Histogram,
  LogPage,
  LogRecord,
  LogTail,
  Member,
  PlanFeature,
  QueryValidity,
  RetentionRun,
  SavedSearch,
  Series,
  StatRow,
  Tenant,
  TenantSettings,
  Usage,
} from "./types.ts";

interface OfTenant {
  p_tenant_id?: string;
}

interface Range {
  p_ts_from?: string;
  p_ts_to?: string;
}

interface Query extends Range {
  p_query_dsl?: string;
}

/** `p_after` is the id of the last item of the page before. */
interface Paged {
  p_limit?: number;
  p_after?: string;
}

type None = Record<never, never>;

interface Operation<Parameters, Answer> {
  parameters: Parameters;
  answer: Answer;
}

/** What is read by its name, with its parameters and its answer. */
export interface Operations {
  search_logs: Operation<
    Query & { p_order?: "asc" | "desc"; p_limit?: number; p_cursor?: string },
    LogPage
  >;
  get_log: Operation<{ p_id: string; p_ts?: string }, LogRecord>;
  get_log_context: Operation<
    { p_id: string; p_ts?: string; p_before?: number; p_after?: number },
    LogRecord[]
  >;
  log_stats: Operation<Query & { p_limit?: number }, StatRow[]>;
  log_series: Operation<Query & { p_buckets?: number }, Series>;
  log_histogram: Operation<Query & { p_buckets?: number }, Histogram>;
  list_log_fields: Operation<Query, Field[]>;
  tail_logs: Operation<
    { p_query_dsl?: string; p_cursor?: string; p_limit?: number; p_backlog?: number },
    LogTail
  >;
  validate_query: Operation<{ p_query_dsl: string }, QueryValidity>;

  list_saved_searches: Operation<Paged & { include_shared?: boolean }, SavedSearch[]>;
  get_saved_search: Operation<{ p_id: string }, SavedSearch>;
  get_saved_search_count: Operation<None, number>;
  get_saved_search_categories: Operation<None, string[]>;
  run_saved_search: Operation<
    Range & { p_id: string; p_limit?: number; p_cursor?: string },
    Omit<LogPage, "warnings"> & { stats: StatRow[] | null }
  >;
  check_plan_feature: Operation<{ p_feature: string }, PlanFeature>;

  list_alert_rules: Operation<Paged & OfTenant, AlertRule[]>;
  get_alert_rule: Operation<{ p_rule_id: string }, AlertRule>;
  preview_alert_rule: Operation<
    OfTenant & {
      p_rule_id?: string;
      p_query_dsl?: string;
      p_threshold?: number;
      p_comparison?: Comparison;
      p_window_minutes?: number;
      p_cooldown_minutes?: number;
    },
    AlertPreview
  >;
  list_alert_history: Operation<
    Paged & OfTenant & Range & { p_rule_id?: string; p_acknowledged?: boolean },
    Alert[]
  >;
  list_alert_deliveries: Operation<
    Paged & { p_alert_id?: string; p_rule_id?: string },
    AlertDelivery[]
  >;
  list_alert_addresses: Operation<Paged, AlertAddress[]>;

  get_current_tenant: Operation<OfTenant, Tenant>;
  get_tenant_settings: Operation<OfTenant, TenantSettings>;
  get_tenant_usage: Operation<OfTenant & { p_months?: number }, Usage>;
  list_tenant_members: Operation<Paged & OfTenant, Member[]>;
  list_api_keys: Operation<Paged & OfTenant, ApiKey[]>;
  get_api_key_usage: Operation<OfTenant & { p_key_id: string }, ApiKeyUsage>;
  list_tenant_audit_events: Operation<
    Paged & OfTenant & Range & { p_action?: string },
    AuditEvent[]
  >;
  list_log_retention_runs: Operation<
    Paged & OfTenant & { p_kind?: RetentionRun["kind"] },
    RetentionRun[]
  >;
}

/** The member by which the next page of a list is asked for. */
export const idOf = {
  list_saved_searches: "id",
  list_alert_rules: "rule_id",
  list_alert_history: "alert_id",
  list_alert_deliveries: "delivery_id",
  list_alert_addresses: "email",
  list_tenant_members: "user_id",
  list_api_keys: "key_id",
  list_tenant_audit_events: "event_id",
  list_log_retention_runs: "run_id",
} as const;

export type ListName = keyof typeof idOf;
export type Item<Name extends ListName> = Operations[Name]["answer"][number];
