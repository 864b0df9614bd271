/** The tools' answers as JSON Schema. A number that a double cannot hold is a string. */
export type Schema = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const textOrNone = { type: ["string", "null"] };
const number = { type: ["number", "string"] };
const numberOrNone = { type: ["number", "string", "null"] };

function objectOf(properties: Record<string, Schema>): Schema {
  return { type: "object", properties };
}

function listOf(items: Schema): Schema {
  return { type: "array", items };
}

const warnings = { type: "array" };
const group = {
  type: ["object", "null"],
  description: "The value of each field; null where records lack it.",
};

export const record = objectOf(
  {
    id: text,
    ts: text,
    level: textOrNone,
    msg: textOrNone,
    service: textOrNone,
    env: textOrNone,
    req_id: textOrNone,
    user_id: textOrNone,
    route: textOrNone,
    host: textOrNone,
    attrs: { type: ["object", "null"], description: "All other members of the event." },
  },
);

export const records = listOf(record);

export const page = objectOf({
  logs: records,
  next_cursor: { ...textOrNone, description: "For the next page; null on the last." },
  ts_from: text,
  ts_to: text,
  warnings,
});

export const trace = objectOf({
  duration_ms: number,
  spans: number,
  left_out: { ...number, description: "Spans that are not in the tree." },
  logs_without_span: number,
  is_complete: { type: "boolean" },
  tree: listOf(text),
});

export const rows = listOf(objectOf(
  {
    group,
    value: {
      ...numberOrNone,
      description: "The result of the last math, or else the first aggregate.",
    },
    values: { type: ["object", "null"], description: "All aggregates, by name." },
    total_groups: number,
    warnings,
  },
));

export const series = objectOf(
  {
    interval_seconds: number,
    series: listOf(objectOf({
      group,
      points: { type: "array", description: "[[ts, value], …], the oldest first." },
    })),
    warnings,
  },
);

export const changes = objectOf({
  ts_from: text,
  ts_to: text,
  before_from: text,
  records: number,
  records_before: number,
  changes: listOf(objectOf(
    {
      kind: { enum: ["pattern", "value"] },
      field: text,
      value: text,
      before: number,
      after: number,
      change: { enum: ["new", "gone", "grown", "shrunk"] },
      score: { ...number, description: "How surprising it is." },
    },
  )),
  warnings,
});

export const overview = objectOf({
  ts_from: text,
  ts_to: text,
  before_from: text,
  before_to: text,
  total_services: number,
  services: listOf(objectOf({
    service: textOrNone,
    records: number,
    errors: number,
    records_before: number,
    errors_before: number,
    last_seen: textOrNone,
  })),
  warnings,
  silent_hosts: { type: ["array", "null"], items: text },
});

const errorGroupMembers = objectOf({ fingerprint: text, state: text, records: number });

export const errorGroups = listOf(errorGroupMembers);

export const errorGroup = objectOf({
  group: errorGroupMembers,
  hours: listOf(objectOf({ at: text, records: number })),
  stack: listOf(objectOf({ line: text, is_own: { type: "boolean" } })),
  releases: listOf(objectOf({ release: text, records: number })),
  tags: listOf(objectOf({ field: text, value: text, share: number })),
  newest: listOf({ type: "object" }),
});

export const fields = listOf(objectOf(
  {
    field: text,
    type: text,
    count: number,
    values: listOf({ type: ["object", "string"] }),
    exact: { type: "boolean" },
    records: number,
  },
));

export const alerts = objectOf({
  rules: listOf(objectOf({ rule_id: text, name: text })),
  alerts: listOf(objectOf({ alert_id: text, rule_id: text })),
});

export const auditEvents = listOf(objectOf({ event_id: text, actor: text, action: text }));

export const savedSearches = listOf(objectOf({ id: text, name: text, query_dsl: text }));

export const proposal = objectOf({
  yaml: { type: "string", description: "The file to review." },
  changes: {
    type: ["array", "null"],
    description: "What would change: action, type, name and fields with old and new.",
  },
  unchecked: { type: "string", description: "Why the file was not checked." },
});
