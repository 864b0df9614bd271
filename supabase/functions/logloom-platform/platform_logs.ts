import { eventFields } from "../_shared/record_fields.ts";
import { EventCollector } from "../ingest/event_collector.ts";
import { isObject, type JsonObject, parseJson, scalarText } from "../ingest/json_reader.ts";
import type { DrainSender } from "../ingest/own_drain_events.ts";
import { supabaseEnvelope } from "../ingest/supabase_events.ts";
import { isoOf } from "../ingest/timestamps.ts";

/** The logs to read, as `exchange_platform_logs` answers. */
export interface Window {
  readonly window_id: string;
  readonly from: string;
  readonly to: string;
  readonly sources: readonly string[];
}

/** Records with their ids, and the time of the last row of a full page. */
export interface Page {
  readonly records: readonly object[];
  readonly last: string | undefined;
}

/** Why there is no page, and the seconds to wait. */
export interface PageError {
  readonly error: string;
  readonly retry_after?: number;
}

/** A query in ClickHouse SQL. The database has checked the names of the sources. */
export function queryOf(
  { from, to, sources }: Window,
  rows: number,
  isCut: boolean,
): URLSearchParams {
  const content = isCut
    ? `substring(event_message, 1, 1000) as event_message,
  map('left_out', 'attributes and the end of the text') as log_attributes`
    : "event_message, log_attributes";
  return new URLSearchParams({
    sql: `-- Logloom: new logs
select id, timestamp, severity_text, source, ${content} from logs
where source in ('${sources.join("', '")}') order by timestamp, id limit ${rows}`,
    // Nothing says whether the ends belong to the range.
    iso_timestamp_start: new Date(Date.parse(from) - 1).toISOString(),
    iso_timestamp_end: new Date(Date.parse(to) + 1).toISOString(),
  });
}

/** The page of an answer `{result, error}`, without what Logloom itself caused. Undefined if it has no logs. */
export function pageOf(text: string, rows: number, isOwn: DrainSender["isOwn"]): Page | undefined {
  const { result } = Object(parseJson(text)) as { result?: unknown };
  if (!Array.isArray(result) || !result.every(isLog)) return undefined;
  const events = new EventCollector(rows, text.length);
  const ids: string[] = [];
  for (const { severity_text, log_attributes, ...event } of result as JsonObject[]) {
    // Named as drains name them, so that queries find both.
    for (const [name, value] of Object.entries(Object(log_attributes))) {
      event[`metadata.${name}`] = value;
    }
    if (isOwn(event, event.event_message)) continue;
    const { fallbackLevel = severity_text || undefined, defaults } = supabaseEnvelope(event);
    const service = `${event.source}`.replace(/^function(_edge)?_logs$/, "functions")
      .replace(/_logs$/, "");
    events.add(event, { fallbackLevel, defaults: { ...defaults, service } });
    ids.push(`${scalarText(event.id)}`);
  }
  const batch = events.batch();
  const records = ids.map((id, at) => ({
    id,
    ...Object.fromEntries(eventFields.map((field) => [field, batch[`p_${field}`]?.[at]])),
  }));
  return { records, last: result.length < rows ? undefined : isoOf(result.at(-1).timestamp) };
}

function isLog(row: unknown): boolean {
  return isObject(row) && scalarText(row.id) !== undefined && isoOf(row.timestamp) !== undefined;
}
