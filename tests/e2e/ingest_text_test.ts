import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Batch,
  batchJson,
  EventCollector,
} from "../../supabase/functions/ingest/event_collector.ts";
import { batchText } from "../../supabase/functions/ingest/request_text.ts";
import { bearer, call, newTenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";

const letters = fc.string({
  unit: fc.oneof(
    { weight: 20, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
    {
      weight: 10,
      arbitrary: fc.constantFrom('"', "\\", "'", "{", "}", ",", "\n", "NULL", "\ud800"),
    },
    { weight: 1, arbitrary: fc.constantFrom("\0", "\x1c", "\x1d", "\x1e", "\x1f") },
  ),
  maxLength: 8,
});
const text = fc.oneof(
  { weight: 3, arbitrary: letters },
  { weight: 2, arbitrary: fc.constantFrom(null, "", "null", "{}", " x ") },
);
const event = fc.record({
  ts: fc.integer({ min: 1, max: 3_000_000 }).map((ms) => new Date(Date.now() - ms).toISOString()),
  level: fc.constantFrom("info", "warn", "odd", null),
  msg: text,
  service: text,
  req_id: text,
  host: text,
  extra: fc.oneof(text, fc.double(), fc.jsonValue({ maxDepth: 3 })),
}, { requiredKeys: ["ts"] });

function batchOf(events: Record<string, unknown>[]): Batch {
  const collector = new EventCollector(10_000);
  for (const one of events) collector.add(structuredClone(one));
  return collector.batch();
}

async function enqueue(body: string): Promise<void> {
  const answer = await call<{ status: number }[]>("/rest/v1/rpc/ingest_text", {
    method: "POST",
    headers: { ...bearer(stack.serviceRoleKey), "content-type": "text/plain" },
    body,
  });
  assert.equal(answer.body[0]?.status, 200, JSON.stringify(answer.body));
}

Deno.test("random events are stored the same as text and as JSON, alone and together", async () => {
  await using sql = openDatabase();
  let n = 0;
  const batches = fc.sample(fc.array(event, { minLength: 1, maxLength: 6 }), {
    numRuns: 60,
    seed: 7,
  }).map((events) => batchOf(events.map((one) => ({ ...one, user_id: `${n++}` }))));
  const count = batches.reduce((sum, batch) => sum + batch.p_ts.length, 0);
  const [asText, together, asJson] = await Promise.all(
    ["a", "b", "c"].map((name) => newTenant(name)),
  );
  for (const tenant of [asText, together, asJson]) await putOnPlan(sql, tenant, {});
  const to = ({ id }: { id: string }) => ({ p_tenant_id: id, p_bytes: 1 });

  let texts = 0;
  for (const batch of batches) {
    const body = batchText(batch, to(asText));
    if (body !== batchJson(batch, to(asText))) texts++;
    await enqueue(body);
    await enqueue(batchJson(batch, to(asJson)));
  }
  assert.ok(texts > 15 && texts < batches.length, String(texts));
  const shared = batches.map((batch) => batchText(batch, to(together))).join("\x1c");
  const [{ answers }] = await sql`select public.ingest_text(${shared}) as answers`;
  assert.deepEqual(
    (answers as { body: string }[]).map(({ body }) => JSON.parse(body)),
    batches.map(({ p_ts }) => ({ success: true, ingested: p_ts.length, rejected: 0 })),
  );

  const stored = await Promise.all(
    [asJson, asText, together].map(async ({ id }) =>
      (await recordsOf(sql, id, count))
        .map((
          { id: _id, tenant_id: _tenant, received_at: _received, write_seq: _seq, ...record },
        ) => record)
        // Batches that arrive in the same millisecond have no order.
        .sort((a, b) => Number(a.user_id) - Number(b.user_id))
    ),
  );
  assert.equal(stored[0].length, count);
  for (const records of stored) assert.deepEqual(records, stored[0]);
});
