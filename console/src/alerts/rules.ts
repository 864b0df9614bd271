export const comparisons = ["gt", "gte", "lt", "lte", "eq", "neq"] as const;
export type Comparison = (typeof comparisons)[number];

export const signs: Record<Comparison, string> = {
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  eq: "=",
  neq: "≠",
};

export interface AlertRule {
  rule_id: string;
  name: string;
  description: string | null;
  query_dsl: string;
  threshold: number;
  comparison: Comparison;
  window_minutes: number;
  cooldown_minutes: number;
  enabled: boolean;
  notification_destinations: string[];
  notification_config: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  last_evaluated_at: string | null;
  last_value: number | null;
  last_error: string | null;
}

export interface NotificationAddress {
  email: string;
  confirmed: boolean;
}

/** The rule's email address. */
export function mailsTo(rule: AlertRule): string | null {
  const { email } = rule.notification_config;
  return rule.notification_destinations.includes("email") && typeof email === "string"
    ? email
    : null;
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

/** The state of a rule after its last evaluation. */
export function stateOf(
  rule: AlertRule,
): { word: string; tone: "good" | "bad" | "warn" | "plain" } {
  if (!rule.enabled) return { word: "off", tone: "plain" };
  if (rule.last_error) return { word: "cannot be evaluated", tone: "warn" };
  if (rule.last_evaluated_at === null) return { word: "not looked at yet", tone: "plain" };
  return rule.last_value !== null && holds(rule.last_value, rule.comparison, rule.threshold)
    ? { word: "fires", tone: "bad" }
    : { word: "quiet", tone: "good" };
}

/** The values of the form: texts where people type numbers. */
export interface Draft {
  rule_id?: string;
  name: string;
  description: string;
  query_dsl: string;
  threshold: string;
  comparison: Comparison;
  window_minutes: string;
  cooldown_minutes: string;
  enabled: boolean;
  email: string;
  webhook_url: string;
  destinations: string[];
  /** Members of notification_config that this form does not know; they are kept. */
  config: Record<string, unknown>;
}

export function draftOf(rule: Partial<AlertRule>): Draft {
  const config = rule.notification_config ?? {};
  return {
    rule_id: rule.rule_id,
    name: rule.name ?? "",
    description: rule.description ?? "",
    query_dsl: rule.query_dsl ?? "level:error",
    threshold: String(rule.threshold ?? 10),
    comparison: rule.comparison ?? "gt",
    window_minutes: String(rule.window_minutes ?? 5),
    cooldown_minutes: String(rule.cooldown_minutes ?? 30),
    enabled: rule.enabled ?? true,
    email: typeof config.email === "string" ? config.email : "",
    webhook_url: typeof config.webhook_url === "string" ? config.webhook_url : "",
    destinations: rule.notification_destinations ?? [],
    config,
  };
}

export function parametersOf(draft: Draft): Record<string, unknown> {
  const config: Record<string, unknown> = { ...draft.config };
  for (const name of ["email", "webhook_url"] as const) {
    if (draft[name] === "") delete config[name];
    else config[name] = draft[name];
  }
  return {
    ...(draft.rule_id ? { p_rule_id: draft.rule_id } : {}),
    p_name: draft.name,
    p_description: draft.description,
    ...conditionOf(draft),
    p_enabled: draft.enabled,
    p_notification_destinations: draft.destinations,
    p_notification_config: config,
  };
}

export function conditionOf(draft: Draft): Record<string, unknown> {
  return {
    p_query_dsl: draft.query_dsl,
    p_threshold: numberOf(draft.threshold),
    p_comparison: draft.comparison,
    p_window_minutes: numberOf(draft.window_minutes),
    p_cooldown_minutes: numberOf(draft.cooldown_minutes),
  };
}

function numberOf(text: string): number | null {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}
