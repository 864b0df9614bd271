import type { LogRecord } from "../../../supabase/functions/_shared/record_fields.ts";

export type { LogRecord };

export type Level = NonNullable<LogRecord["level"]>;
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
