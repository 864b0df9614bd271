import { retryAfterOf } from "../../_shared/outgoing_request.ts";
import { placeOf } from "../batch.ts";
import type { Kind } from "../stream_kind.ts";
import { judge, type Refused, retry, sparesRecords } from "../delivery_outcome.ts";
import { post } from "../post_batch.ts";

interface Answer {
  readonly items?: readonly (Readonly<Record<string, { readonly status?: number }>> | null)[];
}

/**
 * Elasticsearch's bulk requests. Each record is created under its own id, so that a repeat adds nothing.
 */
export const elasticsearch: Kind = {
  push(batch, secrets, send) {
    const index = JSON.stringify(batch.config.index);
    const body = batch.records.map((record) => {
      const { id, ts, rest } = placeOf(record);
      return `{"create":{"_index":${index},"_id":"${id}"}}\n` +
        `{"@timestamp":"${ts}","id":"${id}"${rest}\n`;
    }).join("");
    return post(
      batch,
      secrets,
      send,
      body,
      { "Content-Type": "application/x-ndjson" },
      "filter_path=errors,items.*.status",
    );
  },

  // A 200 is not enough: proxies and other servers answer 200 too. The answer must say that nothing failed, or list the
  // result of each record.
  judge(answer, batch, now) {
    const said = judge(answer, batch, now);
    if (said.outcome !== "delivered") return said;
    const text = new TextDecoder().decode(answer.body);
    // Only numbers, such as "took", may come before "errors".
    if (/^\s*\{(?:\s*"\w+"\s*:\s*\d+\s*,){0,9}\s*"errors"\s*:\s*false\s*[,}]/.test(text)) {
      return said;
    }
    const statuses = statusesOf(text);
    if (statuses?.length !== batch.records.length) {
      return retry("The receiver did not answer as Elasticsearch does", answer.status);
    }
    const spared = statuses.find(sparesRecords);
    // Sends all records again. The receiver answers 409 for those that it already has, which counts as success.
    if (spared !== undefined) return retry(`HTTP ${spared}`, spared, retryAfterOf(answer, now));
    const refused = statuses.flatMap((status, at): Refused[] => {
      const record = batch.records[at];
      if (status < 300 || status === 409 || record === undefined) return [];
      const { id, ts } = placeOf(record);
      return [{ id, ts, status }];
    });
    return { ...said, refused };
  },
};

/** The status of each record; undefined if the answer does not list them. */
function statusesOf(text: string): readonly number[] | undefined {
  try {
    const { items } = JSON.parse(text) as Answer;
    if (!Array.isArray(items)) return undefined;
    const statuses = (items as NonNullable<Answer["items"]>).map((item) =>
      Object.values(item ?? {})[0]?.status
    );
    return statuses.every((status) => Number.isInteger(status)) ? statuses as number[] : undefined;
  } catch {
    return undefined;
  }
}
