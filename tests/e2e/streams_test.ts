import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { clientOf, createKey, ingest, newTenant } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { receiveWebhooks } from "../support/receivers.ts";
import { newStream } from "../support/streams.ts";

const signingSecret = `whsec_${btoa("a signing secret of 32 characters")}`;

Deno.test("a webhook gets the records that the query finds, signed, with the batch's id", async () => {
  await using receiver = receiveWebhooks();
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  const stream = await newStream(tenant, {
    p_kind: "webhook",
    p_config: { url: `${receiver.url}/logs` },
    p_query_dsl: "level:error",
  }, { signing_secret: signingSecret, "header.x-team": "shop" });
  assert.deepEqual(stream.secrets, {
    signing_secret: { set: true },
    "header.x-team": { set: true },
  });
  await ingest({ "x-api-key": key_value }, [
    { level: "error", msg: "down", service: "shop", attrs: { n: 12345678901234567890, s: "a\nb" } },
    { level: "info", msg: "up" },
  ]);
  const [{ path, headers, body }] = await receiver.wait(1);
  assert.equal(path, "/logs");
  assert.equal(headers["x-team"], "shop");
  assert.equal(headers["logloom-stream-hops"], "1");
  assert.equal(headers["webhook-id"], headers["logloom-stream-batch"]);
  const records = new Webhook(signingSecret).verify(body, headers) as Record<string, unknown>[];
  assert.deepEqual(records.map(({ level, msg, service }) => ({ level, msg, service })), [
    { level: "error", msg: "down", service: "shop" },
  ]);
  const sent = await eventually("the stream to have sent it", async () => {
    const { stream_id } = stream;
    const now = await clientOf(tenant.token).call("get_log_stream", { p_stream_id: stream_id });
    return now.sent_records > 0 && now;
  });
  assert.deepEqual([sent.status, sent.sent_batches, sent.sent_records, sent.last_status], [
    "sending",
    1,
    1,
    200,
  ]);
});
