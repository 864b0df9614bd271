import { retryAfterOf } from "../../_shared/outgoing.ts";
import { placeOf } from "../batch.ts";
import type { Kind } from "../kind.ts";
import { judge, type Refused, retry, sparesRecords } from "../outcome.ts";
import { post } from "../push.ts";

interface Answer {
  readonly errors?: boolean;
  readonly items?: readonly Record<string, { readonly status?: number }>[];
}

/**
 * Elasticsearch's bulk requests: each record is created under its own id, so that one that is there stays the only one.
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

  judge(answer, batch) {
    const said = judge(answer, batch);
    if (said.outcome !== "delivered") return said;
    const text = new TextDecoder().decode(answer.body);
    if (/^[^[]{0,200}"errors"\s*:\s*false/.test(text)) return said;
    let items: Answer["items"];
    try {
      ({ items } = JSON.parse(text) as Answer);
    } catch {
      return retry("The receiver's answer cannot be read", answer.status);
    }
    const statuses = (items ?? []).map((item) => Object.values(item)[0]?.status ?? 200);
    const spared = statuses.find(sparesRecords);
    // Those that were taken are there when all are sent again.
    if (spared !== undefined) return retry(`HTTP ${spared}`, spared, retryAfterOf(answer));
    const refused = statuses.flatMap((status, at): Refused[] => {
      const record = batch.records[at];
      if (status < 300 || status === 409 || record === undefined) return [];
      const { id, ts } = placeOf(record);
      return [{ id, ts, status }];
    });
    return { ...said, refused };
  },
};
