import { changes, withTexts } from "../../_shared/exact_numbers.ts";
import type { Protocol } from "../protocol.ts";
import { exportOf } from "./export.ts";

const columns =
  "event_id,occurred_at,source,actor,action,targets,context,client_id,day,position,erased_at";
const filters = ["source", "actor", "action", "target"] as const;

/**
 * `/v1/audit/export`: the audit trail, newest first, by pages of list_audit_events. A number that a double cannot hold
 * is a string.
 */
export const auditExported: Protocol = exportOf(
  [...filters, "from", "to", "format", "cursor"],
  (reader, callDatabase, { format, from, to, ...given }) => async (after) => {
    const range = { p_ts_from: from, p_ts_to: to, p_limit: 1000, p_after: after };
    const filtered = Object.fromEntries(filters.map((name) => [`p_${name}`, given[name]]));
    const call = JSON.stringify({ ...range, ...filtered });
    const answer = await callDatabase(reader, "list_audit_events", call);
    if (answer.status !== 200) return answer;
    const events: Record<string, unknown>[] = JSON.parse(withTexts(await answer.text(), changes));
    const head = format === "csv" && after === undefined ? `${columns}\r\n` : "";
    const lines = events.map(format === "csv" ? csvLine : (event) => `${JSON.stringify(event)}\n`);
    return Response.json({
      text: head + lines.join(""),
      records: events.length,
      cursor: after ?? "",
      // A page of large events is short, so only an empty page is the last one.
      next_cursor: events.at(-1)?.event_id ?? null,
    });
  },
);

/** A spreadsheet runs a text that looks like a formula, so such a text gets an apostrophe. */
function csvLine(event: Record<string, unknown>): string {
  const cells = columns.split(",").map((column) => {
    const value = event[column] ?? "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const harmless = text.replace(/^(?=[=+@\t\r\n＝＋－＠-])/, "'");
    return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  });
  return `${cells.join(",")}\r\n`;
}
