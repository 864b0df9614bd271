import { readNumber, writtenNumber } from "../shared/format-number.ts";
import { type Words } from "../shared/translate.ts";
import type { AlertRule, Comparison, ParametersOf } from "../service/logloom.ts";
import type { Secrets } from "../service/client.ts";

/** The rule's email address. */
export function mailsTo(rule: AlertRule): string | null {
  const { email } = rule.notification_config;
  return rule.notification_destinations.includes("email") ? email ?? null : null;
}

export function holds(value: number, comparison: Comparison, threshold: number): boolean {
  switch (comparison) {
    case "gt":
      return value > threshold;
    case "gte":
      return value >= threshold;
    case "lt":
      return value < threshold;
    case "lte":
      return value <= threshold;
    case "eq":
      return value === threshold;
    case "neq":
      return value !== threshold;
  }
}

/** From this many days on, the service knows what is usual. */
const leastDays = 3;

/** The state of a rule after its last evaluation. */
export function stateOf(rule: AlertRule): { word: Words; tone: "good" | "bad" | "warn" | "plain" } {
  if (rule.held_at ?? rule.paused_at) return { word: "stopped by an admin", tone: "warn" };
  if (!rule.enabled) return { word: "off", tone: "plain" };
  if (rule.last_error) return { word: "cannot be evaluated", tone: "warn" };
  if (rule.kind === "new_error") return { word: "on", tone: "good" };
  if (rule.last_evaluated_at === null) return { word: "not evaluated yet", tone: "plain" };
  // Which value would fire now is not in the rule.
  if (rule.baseline) {
    return rule.baseline.known_days < leastDays
      ? { word: "waits for three days of values", tone: "plain" }
      : { word: "on", tone: "good" };
  }
  return rule.last_value !== null && holds(rule.last_value, rule.comparison, rule.threshold)
    ? { word: "fires", tone: "bad" }
    : { word: "quiet", tone: "good" };
}

/** The form's values. Typed numbers stay texts. */
export interface Draft {
  rule_id?: string;
  /** A rule for errors has only a filter, and no condition. */
  kind: AlertRule["kind"];
  name: string;
  description: string;
  query_dsl: string;
  threshold: string;
  comparison: Comparison;
  /** The days whose values are usual; empty if the value is compared with the threshold. */
  baselineDays: string;
  window_minutes: string;
  cooldown_minutes: string;
  enabled: boolean;
  email: string;
  webhook_url: string;
  webhook_template: string;
  isTextTemplate: boolean;
  destinations: AlertRule["notification_destinations"];
  secrets: Secrets;
  notifyOnRecovery: boolean;
  /** The saved config: members that the form does not know are kept. */
  config: AlertRule["notification_config"];
}

export function draftOf(rule: Partial<AlertRule>): Draft {
  const config = rule.notification_config ?? {};
  return {
    rule_id: rule.rule_id,
    kind: rule.kind ?? "query",
    name: rule.name ?? "",
    description: rule.description ?? "",
    query_dsl: rule.query_dsl ?? "level:error",
    threshold: writtenNumber(rule.threshold ?? 10),
    comparison: rule.comparison ?? "gt",
    baselineDays: String(rule.baseline?.days ?? ""),
    window_minutes: String(rule.window_minutes ?? 5),
    cooldown_minutes: String(rule.cooldown_minutes ?? 30),
    enabled: rule.enabled ?? true,
    email: config.email ?? "",
    webhook_url: config.webhook_url ?? "",
    webhook_template: textOf(config.webhook_template),
    isTextTemplate: config.webhook_template_type === "text",
    destinations: rule.notification_destinations ?? [],
    secrets: {},
    notifyOnRecovery: rule.notify_on_recovery ?? false,
    config,
  };
}

/** Null while the threshold is not a number: without it, an update would keep the old threshold. */
export function parametersOf(
  draft: Draft,
): ParametersOf<"create_alert_rule"> & { p_rule_id?: string } | null {
  const isError = draft.kind === "new_error";
  if (!isError && readNumber(draft.threshold) === null) return null;
  const config = { ...draft.config };
  for (const name of ["email", "webhook_url", "webhook_template"] as const) {
    if (draft[name] === "") delete config[name];
    else config[name] = draft[name];
  }
  if (draft.webhook_template !== "" && draft.isTextTemplate) config.webhook_template_type = "text";
  else delete config.webhook_template_type;
  return {
    p_rule_id: draft.rule_id,
    p_name: draft.name,
    p_description: draft.description,
    ...isError
      ? { p_query_dsl: draft.query_dsl, ...draft.rule_id ? {} : { p_kind: draft.kind } }
      : conditionOf(draft),
    p_enabled: draft.enabled,
    p_notification_destinations: draft.destinations,
    p_notification_config: config,
    p_secrets: draft.secrets,
    p_notify_on_recovery: draft.notifyOnRecovery,
  };
}

export function conditionOf(draft: Draft) {
  return {
    p_query_dsl: draft.query_dsl,
    p_threshold: readNumber(draft.threshold) ?? NaN,
    p_comparison: draft.comparison,
    p_baseline: draft.baselineDays === "" ? {} : { days: Number(draft.baselineDays) },
    p_window_minutes: numberOf(draft.window_minutes),
    p_cooldown_minutes: numberOf(draft.cooldown_minutes),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The number in a field that the browser validates. */
function numberOf(text: string): number {
  return text.trim() === "" ? NaN : Number(text);
}
