/** A log record, as the reading operations return it. */
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
  attrs: Record<string, unknown> | null;
}

export type Level = "debug" | "info" | "warn" | "error";
export const levels: Level[] = ["debug", "info", "warn", "error"];

export interface Page {
  logs: LogRecord[];
  next_cursor: string | null;
  ts_from: string;
  ts_to: string;
}

export interface Histogram {
  interval_seconds: number;
  total: number;
  buckets: Bucket[];
}

export interface Bucket {
  ts: string;
  count: number;
  levels: Record<Level | "none", number>;
}

export interface Field {
  field: string;
  type: string;
  count: number;
  values: { value: string; count: number }[];
}

export interface StatRow {
  group: Record<string, string | null>;
  value: number | null;
  values?: Record<string, number | string | null>;
  total_groups?: number;
}

export interface Tail {
  logs: LogRecord[];
  next_cursor: string;
  more: boolean;
}

export interface Verdict {
  valid: boolean;
  error: string | null;
  position: number | null;
  hint: string | null;
  warnings?: {
    message: string;
    position: number | null;
    hint: string | null;
  }[];
}
