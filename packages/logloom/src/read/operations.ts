import type { Database } from "../../../../types/database.ts";
import type {
  AlertBaseline,
  AlertIncident,
  AlertMatcher,
  AlertRecurrence,
  AlertRule,
  Answers,
  Channel,
  ErrorGroup,
  FileDocument,
  LogStream,
  RetentionRun,
  Role,
  Scope,
  TenantSettings,
} from "./types.ts";

/** The types of parameters that are only text or JSON in the database. */
interface Parameters {
  notification_preferences: Partial<TenantSettings["notification_preferences"]>;
  pipeline_config: Partial<TenantSettings["pipeline_config"]>;
  p_baseline: AlertBaseline;
  p_config: LogStream["config"];
  p_documents: FileDocument[];
  p_matcher: AlertMatcher;
  p_notification_config: AlertRule["notification_config"];
  p_notification_destinations: Channel[];
  p_on_absent: AlertRule["on_absent"];
  p_order: "asc" | "desc";
  p_plans: FileDocument[];
  p_recurrence: AlertRecurrence;
  p_role: Role;
  p_rules: Partial<TenantSettings["retention_rules"][number]>[];
  p_scopes: Scope[];
  p_secrets: Record<string, string | null>;
  p_state: AlertIncident["state"] | "unresolved";
}

/** The same for parameters that operations use differently. */
interface OwnParameters {
  create_alert_rule: { p_kind: AlertRule["kind"] };
  create_log_stream: { p_kind: LogStream["kind"]; p_source: LogStream["source"] };
  list_error_groups: {
    p_order: "priority" | "last_seen" | "first_seen" | "records";
    p_state: ErrorGroup["state"][];
  };
  list_log_retention_runs: { p_kind: RetentionRun["kind"] };
  update_error_group: { p_state: "open" | "resolved" | "ignored" };
}

type Replaced<Type, By> = { [Name in keyof Type]: Name extends keyof By ? By[Name] : Type[Name] };

type ParametersOf<Name extends keyof Answers> = Replaced<
  Database["public"]["Functions"][Name]["Args"],
  Name extends keyof OwnParameters
    ? Omit<Parameters, keyof OwnParameters[Name]> & OwnParameters[Name]
    : Parameters
>;

type Named = {
  [Name in keyof Answers]: { parameters: ParametersOf<Name>; answer: Answers[Name] };
};

/** The operations by their names, with their parameters and their answers. */
export interface Operations extends Named {}
