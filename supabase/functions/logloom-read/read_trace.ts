import type { TraceRecord } from "../_shared/trace.ts";
import { quoted } from "./loki/string_literals.ts";

/** A record, of which other fields are read too. */
export interface RecordOfTrace extends TraceRecord {
  readonly [field: string]: unknown;
}

type Given = Readonly<Record<string, unknown>>;
type Read = (operation: string, parameters: Given) => Promise<unknown>;

export const maxRecords = 5000;
const maxCharacters = 5_000_000;
const hourMs = 3_600_000;

/**
 * Reads the records of a trace. Records with the trace as `req_id` are found over all days. Those that only have it in
 * `attrs.trace_id`, because their request had an id of its own, are looked for an hour around them, or else in `range`.
 * `isCut`: there are more records than an answer may have.
 */
export async function recordsOfTrace(read: Read, id: string, range: Given = {}) {
  const records: RecordOfTrace[] = [];
  let left = maxCharacters;
  let isCut = false;

  async function add(p_query_dsl: string, given: Given): Promise<void> {
    let p_cursor: string | null = null;
    do {
      const parameters = { p_query_dsl, ...given, p_order: "asc", p_limit: 1000, p_cursor };
      const { logs, next_cursor } = await read("search_logs", parameters) as {
        logs: RecordOfTrace[];
        next_cursor: string | null;
      };
      left -= JSON.stringify(logs).length;
      records.push(...logs);
      p_cursor = next_cursor;
      isCut ||= p_cursor !== null && (left < 0 || records.length >= maxRecords);
    } while (p_cursor !== null && !isCut);
  }

  /** Adds nothing and returns the error if the reader may not ask for the field. */
  async function addIfAllowed(p_query_dsl: string, given: Given): Promise<unknown> {
    try {
      await add(p_query_dsl, given);
    } catch (error) {
      if (Object(error).status !== 400) throw error;
      return error;
    }
  }

  const text = quoted(id);
  const refused = await addIfAllowed(`req_id:${text}`, { p_ts_from: "1970-01-01T00:00:00Z" });
  const times = [records[0], records.at(-1)].flatMap((one) => one ? Date.parse(one.ts) : []);
  const around = { p_ts_from: new Date(times[0] - hourMs), p_ts_to: new Date(times[1] + hourMs) };
  if (!isCut) {
    const others = refused === undefined ? ` -req_id:${text}` : "";
    const error = await addIfAllowed(
      `attrs.trace_id:${text}${others}`,
      times.length === 0 ? range : around,
    );
    if (error !== undefined && records.length === 0) throw refused ?? error;
  }
  return { records, isCut };
}
