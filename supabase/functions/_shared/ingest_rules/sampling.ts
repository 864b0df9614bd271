import type { JsonObject } from "../json_values.ts";
import type { Records } from "./records.ts";
import { columnOf } from "./records.ts";

const reqId = columnOf("req_id");
const fields = ["msg", "service", "host"].map(columnOf);

/**
 * A number from 0 to 1 for the record in hand: equal for all records of a request, or else by the record. Records without
 * a time may be equal, so `salt` tells them apart.
 */
export function shareOf(records: Records, by: "req_id" | "record", salt: string): number {
  const id = records.text(reqId);
  if (by === "req_id" && id !== null) return hashed(id);
  const [msg, service, host] = fields.map((column) => records.text(column));
  return hashed([records.position, records.ts ?? salt, id, service, host, msg].join("\n"));
}

/** Notes the share of events that were kept. One that is noted already is multiplied. */
export function noteRate(attrs: JsonObject, rate: number): void {
  const { sample_rate: before } = attrs;
  const isRate = typeof before === "number" && before > 0 && before <= 1;
  if (!isRate && before !== undefined) attrs.original_sample_rate = before;
  attrs.sample_rate = isRate ? Number((before * rate).toPrecision(12)) : rate;
}

/** FNV-1a, with MurmurHash's last steps, so that each bit depends on the whole text. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
