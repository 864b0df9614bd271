import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { apiKey, clientOf, createKey, ingest, newTenant } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { startS3 } from "../support/s3_server.ts";
import { nameInKeys } from "../../supabase/functions/_shared/s3.ts";
import { newStream } from "../support/streams.ts";

Deno.test("s3 gets an object of compressed lines for each batch", async () => {
  await using s3 = await startS3("logs");
  const tenant = await newTenant("s3 & co");
  const { key_value } = await createKey(tenant);
  const stream = await newStream(tenant, {
    p_kind: "s3",
    p_config: {
      endpoint: s3.url,
      region: "us-east-1",
      bucket: "logs",
      prefix: "from/logloom",
      access_key_id: "anybody",
    },
  }, { secret_access_key: "s3cret" });
  const sent = Array.from({ length: 1500 }, (_, n) => ({ msg: `record ${n}`, attrs: { n } }));
  await ingest(apiKey(key_value), sent);
  const { stream_id } = stream;
  await eventually("all is sent", async () => {
    const now = await clientOf(tenant.token).call("get_log_stream", { p_stream_id: stream_id });
    return now.sent_records === sent.length;
  });
  const keys = await s3.bucket.keys();
  assert.equal(keys.length, 2);
  const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  const records: { msg: string; attrs: { n: number } }[] = [];
  for (const key of keys) {
    const name = nameInKeys(tenant.id);
    assert.match(
      key,
      new RegExp(
        `^from/logloom/tenant=${name}/date=\\d{4}-\\d\\d-\\d\\d/hour=\\d\\d/${uuid}\\.ndjson\\.gz$`,
      ),
    );
    const lines = gunzipSync(await s3.bucket.get(key)).toString("utf8");
    for (const line of lines.trimEnd().split("\n")) records.push(JSON.parse(line));
  }
  records.sort((a, b) => a.attrs.n - b.attrs.n);
  assert.deepEqual(records.map(({ msg, attrs }) => ({ msg, attrs })), sent);
});
