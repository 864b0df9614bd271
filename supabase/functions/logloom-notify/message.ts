/** An alert as the database describes it, for all channels. */
export interface Payload {
  readonly type: "alert.triggered" | "alert.resolved" | "alert.test";
  readonly timestamp: string;
  readonly data: AlertData;
}

export type Group = Readonly<Record<string, string | null>>;

export interface AlertData {
  readonly alert_id: string | null;
  readonly rule_id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly query_dsl: string | null;
  /** Null at the end of a customer's incident, if what the customer may see has changed. */
  readonly value: number | null;
  readonly group?: Group | null;
  readonly comparison: string | null;
  readonly threshold: number;
  readonly window_minutes?: number;
  readonly window_start: string;
  readonly window_end: string;
  readonly incident_id?: string | null;
  readonly absent?: boolean;
  readonly resolution?: string;
  /** `new_error`: the group is an error group, and the value counts its records. */
  readonly kind?: string;
  /** The error group had been resolved or ignored. */
  readonly returned?: boolean;
  /** The alerts of all groups, if the rule collects them. */
  readonly alerts?: readonly GroupAlert[];
  readonly url?: string | null;
  readonly logs?: readonly LogLine[];
}

export interface GroupAlert {
  readonly alert_id: string | null;
  readonly group: Group | null;
  readonly value: number | null;
  readonly absent?: boolean;
}

/** A cut record, with its fields as texts. */
export type LogLine = Readonly<Record<string, string>>;

/** What a notification says. Each chat service and PagerDuty gets it in its own format. All texts are untrusted. */
export interface Message {
  readonly state: "triggered" | "resolved" | "unwatched" | "test";
  readonly title: string;
  /** A summary in one sentence. */
  readonly summary: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly logs: readonly string[];
  readonly url: string | undefined;
  /** The same key when the incident triggers and when it resolves. */
  readonly key: string;
  readonly at: string;
}

const comparisons: Record<string, string> = {
  gt: "above",
  gte: "at or above",
  lt: "below",
  lte: "at or below",
  eq: "equal to",
  neq: "other than",
};

const states = {
  "alert.triggered": "triggered",
  "alert.resolved": "resolved",
  "alert.test": "test",
} as const;

/** Why an incident ended. */
const resolutions: Record<string, string> = {
  recovered: "The condition holds no longer",
  still_absent: "Watching ended, and the group is still silent",
  rule_changed: "The rule was changed",
  rule_disabled: "The rule was disabled",
  rule_deleted: "The rule was deleted",
};

/** How many groups a message names. The remaining groups are counted. */
const groupsShown = 10;

export function readPayload(body: string): Payload {
  return JSON.parse(body) as Payload;
}

export function messageOf({ type, timestamp, data }: Payload): Message {
  const isError = data.kind === "new_error";
  const alerts = data.alerts ?? [];
  const name = oneLine(data.name);
  const isMany = alerts.length > 1;
  // The group did not recover: Logloom stopped watching it.
  const isUnwatched = type === "alert.resolved" && data.resolution === "still_absent";
  const titles = {
    "alert.triggered": isMany
      ? `${name}: ${alerts.length} ${isError ? "new or returning errors" : "groups"}`
      : isError
      ? `${data.returned ? "Error is back" : "New error"}${errorText(data.group)} (${
        records(data)
      })`
      : `${name}: ${told(data)}`,
    "alert.resolved": isUnwatched
      ? `Still silent: ${name}`
      : isError && !isMany
      ? `Resolved: error${errorText(data.group)}`
      : `Resolved: ${name}`,
    "alert.test": `Test of ${name}`,
  };
  const facts: [string, string][] = [["Rule", name]];
  if (isMany) {
    for (const { group, ...alert } of alerts.slice(0, groupsShown)) {
      facts.push(
        isError
          ? [`Error${errorText(group)}`, records(alert)]
          : [groupText(group) ?? "all", told(alert)],
      );
    }
    const more = alerts.length - groupsShown;
    if (more > 0) facts.push(["And", `${more} more ${isError ? "errors" : "groups"}`]);
  } else if (data.group && !isError) {
    facts.push(["Group", groupText(data.group) ?? ""]);
  }
  if (!isError) {
    facts.push(["Value", `${told(data)}${condition(data)}`]);
    facts.push(["Window", `${data.window_start} to ${data.window_end}`]);
  }
  if (data.query_dsl !== null && !(isError && data.query_dsl === "*")) {
    facts.push(["Query", data.query_dsl]);
  }
  return {
    state: isUnwatched ? "unwatched" : states[type],
    title: titles[type],
    summary: summaryOf(type, name, data),
    facts,
    logs: (data.logs ?? []).slice(0, 3).map(logText),
    url: data.url ?? undefined,
    key: keyOf(data),
    at: timestamp,
  };
}

function summaryOf(type: Payload["type"], name: string, data: AlertData): string {
  const alerts = data.alerts ?? [];
  if (type === "alert.test") {
    return `This is a test of the alert rule "${name}". Nothing happened.`;
  }
  if (data.kind === "new_error") return errorSummary(type, name, data);
  if (type === "alert.resolved") {
    const why = resolutions[data.resolution ?? ""] ?? "It is over";
    return `${alerts.length > 1 ? why.replace("group is", "groups are") : why}: "${name}".`;
  }
  if (alerts.length > 1) return `The alert rule "${name}" fired for ${alerts.length} groups.`;
  if (data.absent) {
    return `The alert rule "${name}" fired: a group that had sent before sent nothing.`;
  }
  return `The alert rule "${name}" fired: its value was ${data.value}${condition(data)}.`;
}

function errorSummary(type: Payload["type"], name: string, data: AlertData): string {
  const number = data.alerts?.length ?? 1;
  if (type === "alert.resolved") {
    const end = data.resolution === "recovered"
      ? `${number > 1 ? "The errors were" : "The error was"} resolved or ignored`
      : resolutions[data.resolution ?? ""] ?? "It is over";
    return `${end}: "${name}".`;
  }
  if (number > 1) return `The alert rule "${name}" fired for ${number} errors.`;
  return `The alert rule "${name}" fired: ${
    data.returned ? "an error came back after it was resolved or ignored" : "an error is new"
  }.`;
}

/** " in checkout: TypeError: x". In a view, the service and the title may be unknown. */
function errorText(group: Group | null | undefined): string {
  const [error, service] = [group?.error, group?.service].map((text) =>
    text ? cut(oneLine(text), 200) : ""
  );
  return `${service === "" ? "" : ` in ${service}`}${error === "" ? "" : `: ${error}`}`;
}

function records({ value }: { value: number | null }): string {
  return `${value} record${value === 1 ? "" : "s"}`;
}

function condition({ comparison, threshold }: AlertData): string {
  return comparison === null ? "" : `, ${comparisons[comparison] ?? comparison} ${threshold}`;
}

function told({ value, absent }: { value: number | null; absent?: boolean }): string {
  return absent ? "nothing" : `${value ?? "not shown"}`;
}

export function groupText(group: Group | null | undefined): string | undefined {
  if (!group) return undefined;
  return Object.entries(group)
    .map(([name, value]) => value === null ? `no ${name}` : `${name}=${cut(oneLine(value), 200)}`)
    .join(", ");
}

function logText(log: LogLine): string {
  const { ts, level, service, msg } = log;
  return cut(oneLine([ts, level, service, msg].filter((part) => part).join(" ")), 300);
}

/** A key for a rule and its group. The texts of a group may be long, so the key has their digest. */
function keyOf({ rule_id, group }: AlertData): string {
  if (!group) return `logloom-${rule_id}`;
  const text = JSON.stringify(Object.entries(group).toSorted(([a], [b]) => a < b ? -1 : 1));
  return `logloom-${rule_id}-${digest(text)}`;
}

/** FNV-1a with 64 bits, which is enough to tell the groups of one rule apart. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash.toString(16).padStart(16, "0");
}

/** A text without line breaks, other control characters, and characters that change the direction of writing. */
export function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/** The first UTF-16 units of a text, without half a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
