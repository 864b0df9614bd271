import { epochSeconds, placeOf } from "../batch.ts";
import type { Kind } from "../kind.ts";
import { post } from "../push.ts";

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
};
