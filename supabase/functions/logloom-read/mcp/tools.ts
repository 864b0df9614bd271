/** A tool: a reading operation by the name and the parameters that assistants get. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: string;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  /** What the query ends with. */
  readonly stage?: string;
  /** Parameters that are sent unless the assistant gives them. */
  readonly fixed?: Readonly<Record<string, unknown>>;
}

interface Property {
  readonly type: "string" | "integer";
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
}

const query: Property = {
  type: "string",
  description: "A query, such as: level:error service:api timeout.",
  maxLength: 2048,
};
const range = {
  ts_from: { type: "string", description: "Start, RFC 3339.", maxLength: 64 },
  ts_to: { type: "string", description: "End, RFC 3339.", maxLength: 64 },
} as const;
const record = {
  id: { type: "string", description: "The record's id, a UUID.", maxLength: 64 },
  ts: { type: "string", description: "The record's ts, which finds it faster.", maxLength: 64 },
} as const;

function upTo(maximum: number, description: string): Property {
  return { type: "integer", description, minimum: 1, maximum };
}

export const tools: readonly Tool[] = [
  {
    name: "search_logs",
    title: "Search logs",
    description: "Finds log records, newest first. Long messages are cut: get_log gives one whole.",
    operation: "search_logs",
    properties: {
      query_dsl: query,
      ...range,
      limit: upTo(100, "Records, 20 by default."),
      cursor: { type: "string", description: "next_cursor of the page before.", maxLength: 1000 },
      order: { type: "string", description: "Order by time.", enum: ["asc", "desc"] },
    },
    required: [],
    fixed: { p_limit: 20 },
  },
  {
    name: "get_log",
    title: "One record",
    description: "Gives one log record whole.",
    operation: "get_log",
    properties: record,
    required: ["id"],
  },
  {
    name: "get_log_context",
    title: "Around a record",
    description: "Gives the log records just before and after one.",
    operation: "get_log_context",
    properties: {
      ...record,
      before: upTo(50, "How many before."),
      after: upTo(50, "How many after."),
    },
    required: ["id"],
  },
  {
    name: "log_stats",
    title: "Aggregates",
    description: "Counts and aggregates, by a query with a stage such as: | count() by service.",
    operation: "log_stats",
    properties: { query_dsl: query, ...range, limit: upTo(1000, "Rows.") },
    required: [],
  },
  {
    name: "log_patterns",
    title: "Patterns",
    description: "Groups messages by their shape. The query is a filter, without stages.",
    operation: "log_stats",
    properties: { query_dsl: query, ...range, limit: upTo(1000, "Rows.") },
    required: [],
    stage: "| patterns",
  },
  {
    name: "log_series",
    title: "Over time",
    description: "Aggregates over time, in equal steps.",
    operation: "log_series",
    properties: { query_dsl: query, ...range, buckets: upTo(200, "Steps.") },
    required: [],
  },
  {
    name: "list_log_fields",
    title: "Fields",
    description: "Lists the fields that can be asked for, with frequent values.",
    operation: "list_log_fields",
    properties: { query_dsl: query, ...range },
    required: [],
  },
];
