import { epochSeconds, placeOf } from "../batch.ts";
import type { Kind } from "../stream_kind.ts";
import { judge, retry } from "../delivery_outcome.ts";
import { post } from "../post_batch.ts";

/** Splunk's HTTP Event Collector: objects one after another. */
export const splunkHec: Kind = {
  push(batch, secrets, send) {
    const { index } = batch.config;
    const shared = index === undefined ? "" : `"index":${JSON.stringify(index)},`;
    const body = batch.records.map((record) => {
      const { id, ts, rest } = placeOf(record);
      return `{"time":${epochSeconds(ts)},${shared}"event":{"id":"${id}"${rest}}`;
    }).join("\n");
    const { token } = secrets;
    return post(
      batch,
      secrets,
      send,
      body,
      token === undefined ? {} : { Authorization: `Splunk ${token}` },
    );
  },

  // A code other than 0 is an error, whatever the status is.
  judge(answer, batch, now) {
    const said = judge(answer, batch, now);
    const code = /"code"\s*:\s*(\d{1,3})\b/.exec(new TextDecoder().decode(answer.body))?.[1];
    if (said.outcome !== "delivered" || Number(code) === 0) return said;
    return retry(
      code === undefined ? "The receiver did not answer as Splunk does" : `Splunk code ${code}`,
      answer.status,
    );
  },
};
