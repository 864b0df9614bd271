import type { Outgoing } from "../_shared/outgoing_request.ts";
import type { Batch } from "./batch.ts";
import { datadog } from "./kinds/datadog.ts";
import { elasticsearch } from "./kinds/elasticsearch.ts";
import { loki } from "./kinds/loki.ts";
import { otlp } from "./kinds/otlp.ts";
import { s3 } from "./kinds/s3.ts";
import { splunkHec } from "./kinds/splunk_hec.ts";
import { webhook } from "./kinds/webhook.ts";
import type { Kind, Secrets } from "./stream_kind.ts";
import { answerText, judge, type Outcome, retry } from "./delivery_outcome.ts";

const kinds: Readonly<Record<string, Kind>> = {
  webhook,
  otlp,
  loki,
  elasticsearch,
  splunk_hec: splunkHec,
  datadog,
  s3,
};

/** Makes one attempt. */
export async function sendBatch(
  batch: Batch,
  secrets: Secrets,
  send: Outgoing,
  now: () => Date,
): Promise<Outcome> {
  if (!Object.hasOwn(kinds, batch.kind)) {
    return retry("The function logloom-stream does not know this kind");
  }
  const kind = kinds[batch.kind];
  const answer = await kind.push(batch, secrets, send, now);
  if ("error" in answer) return retry(answer.error);
  const outcome = (kind.judge ?? judge)(answer, batch, now());
  const tookAll = outcome.outcome === "delivered" && !outcome.refused?.length && !outcome.rejected;
  const text = tookAll ? undefined : answerText(answer, secrets);
  return text === undefined ? outcome : { ...outcome, answer: text };
}
