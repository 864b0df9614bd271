import assert from "node:assert/strict";
import fc from "fast-check";
import { apiKey } from "../../support/client.ts";
import { drafts } from "../random_values.ts";
import { type At, command } from "../command.ts";
import { sendPatiently, statusOf } from "../service.ts";
import { day, type Draft, type Kept, timeOf, today } from "../tenant_model.ts";

/** Returns the body of a drawn request, the records that must be stored, and the indexes of rejected events. */
function requestOf({ known, model }: At, drawn: Draft[]) {
  const kept: Kept[] = [];
  const refused: number[] = [];
  const events = drawn.map(({ when, level, service, word, size }, index) => {
    const ts = timeOf(when);
    const attrs = { n: model.numbers++, size };
    const msg = `${word} took ${size} ms`;
    if (ts <= Date.now() + day && known.keeps(ts, today())) {
      kept.push({ ts, level, service, msg, attrs });
    } else refused.push(index);
    return { ts, level, service, msg, ...attrs };
  });
  return { body: JSON.stringify(events), kept, refused };
}

/** Sends drawn events and adds the acknowledged ones to the model. */
export async function send(at: At, headers: Record<string, string>, drawn: Draft[]): Promise<void> {
  const { known } = at;
  const { body, kept, refused } = requestOf(at, drawn);
  const idempotencyKey = crypto.randomUUID();
  const answer = await sendPatiently({ ...headers, "idempotency-key": idempotencyKey }, body);
  const errors = answer.body.errors as { index: number; code: string }[] | undefined;
  assert.deepEqual(
    {
      ...answer.body,
      status: answer.status,
      errors: errors?.map(({ index, code }) => [index, code]),
    },
    {
      status: 200,
      success: kept.length > 0,
      ingested: kept.length,
      rejected: refused.length,
      errors: refused.length > 0 ? refused.map((index) => [index, "ts_out_of_range"]) : undefined,
    },
  );
  known.acknowledge(kept);
  // The service keeps no answer for a request if nothing of it was stored.
  if (kept.length > 0) known.requests.push({ idempotencyKey, body, answer: answer.body });
}

/** Sends with a user's token or one of the keys, including revoked and rotated ones. */
const ingest = command("ingest", { by: fc.nat(5), drafts }, async (at, { by, drafts }) => {
  const { known, real } = at;
  if (by === 0) return await send(at, real.owner.headers, drafts);
  const key = known.keys[by % known.keys.length];
  if (key.works) return await send(at, apiKey(key.value), drafts);
  const { status } = await sendPatiently(apiKey(key.value), requestOf(at, drafts).body);
  assert.equal(status, 401);
});

const repeat = command(
  "repeat",
  { which: fc.nat(), isOther: fc.boolean() },
  async ({ known, real }, { which, isOther }) => {
    if (known.requests.length === 0) return;
    const { idempotencyKey, body, answer } = known.requests[which % known.requests.length];
    const headers = { ...real.owner.headers, "idempotency-key": idempotencyKey };
    const repeated = await sendPatiently(headers, isOther ? `${body} ` : body);
    if (isOther) assert.equal(repeated.status, 409);
    else assert.deepEqual([repeated.status, repeated.body], [200, answer]);
  },
);

const createKey = command("create a key", {}, async ({ known, real }) => {
  const { key_id, key_value } = await real.asOwner.call("create_api_key", { p_name: "model" });
  known.keys.push({ id: key_id, value: key_value, works: true });
});

const rotateKey = command(
  "rotate a key",
  { which: fc.nat(), overlap: fc.constantFrom(0, 60) },
  async ({ known, real }, { which, overlap }) => {
    const key = known.keys[which % known.keys.length];
    const rotating = real.asOwner.call("rotate_api_key", {
      p_key_id: key.id,
      p_overlap_minutes: overlap,
    });
    if (!key.works) return assert.equal(await statusOf(rotating), 400);
    const { key_id, key_value } = await rotating;
    key.works = overlap > 0;
    known.keys.push({ id: key_id, value: key_value, works: true });
  },
);

const revokeKey = command(
  "revoke a key",
  { which: fc.nat() },
  async ({ known, real }, { which }) => {
    const key = known.keys[which % known.keys.length];
    assert.deepEqual(await real.asOwner.call("revoke_api_key", { p_key_id: key.id }), {
      success: true,
    });
    key.works = false;
  },
);

export const sending = { ingest, repeat, createKey, rotateKey, revokeKey };
