import { gzipSync } from "node:zlib";
import { createS3, nameInKeys } from "../../_shared/s3.ts";
import type { Kind } from "../stream_kind.ts";
import { judge, retry } from "../delivery_outcome.ts";

/** An object for each batch: its records as compressed lines. A repeat replaces the object. */
export const s3: Kind = {
  push(batch, secrets, send, now) {
    const { endpoint, region, bucket, prefix, access_key_id: accessKeyId } = batch.config;
    const { secret_access_key: secretAccessKey } = secrets;
    if (secretAccessKey === undefined) {
      return Promise.resolve({ error: "The secret secret_access_key is not set", isFinal: true });
    }
    const client = createS3({ endpoint, region, bucket, accessKeyId, secretAccessKey }, send, now);
    const made = new Date(batch.madeAt).toISOString();
    const key = [
      ...prefix === undefined ? [] : [prefix],
      `tenant=${nameInKeys(batch.tenantId)}`,
      `date=${made.slice(0, 10)}`,
      `hour=${made.slice(11, 13)}`,
      `${batch.id}.ndjson.gz`,
    ].join("/");
    const body = gzipSync(`${batch.records.join("\n")}\n`, { level: 4 });
    return client.put(key, body, { "Content-Type": "application/gzip" });
  },

  // A store does not look at records, so no refusal is about them: all are retried. A 409 means that it was busy.
  judge(answer, batch, now) {
    const { status } = answer;
    const said = judge(answer, batch, now);
    return status < 300 || said.outcome === "retry" ? said : retry(`HTTP ${status}`, status);
  },
};
