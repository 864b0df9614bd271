import assert from "node:assert/strict";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import {
  type Bytes,
  encodings,
  magics,
  seeds,
  sound,
  utf8,
} from "../../supabase/functions/ingest/protocols/testing_fuzzed_bodies.ts";
import { bodies, event } from "../../supabase/functions/ingest/testing_random_bodies.ts";
import { call, clientOf, health, newTenant } from "../support/client.ts";
import { countRecords, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { usageOf } from "../support/plans.ts";
import { tell } from "../support/trial_counts.ts";

// Fuzzed bodies of every protocol, sent to the gateway. BODIES_SEED=… BODIES=… repeats a run.

const seed = Number(Deno.env.get("BODIES_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const wanted = Number(Deno.env.get("BODIES") ?? 2_000);
const atOnce = 16;

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: Bytes;
}

const noHeaders: Record<string, string> = {};
const encoded = (encoding: string, headers: Record<string, string>): Record<string, string> =>
  encoding === "" ? headers : { ...headers, "Content-Encoding": encoding };

/** A body with changed or cut bytes, sent to its own or another protocol, or compressed. */
const changed: fc.Arbitrary<Sent> = fc.record({
  seed: fc.constantFrom(...seeds),
  changes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
  cut: fc.option(fc.nat(), { freq: 4 }),
  encoding: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("", "packed gzip", "packed deflate") },
    { weight: 1, arbitrary: fc.constantFrom(...encodings) },
  ),
}).map(({ seed: [path, headers, bytes], changes, cut, encoding }) => {
  const body = bytes.slice(0, cut === null ? bytes.length : cut % (bytes.length + 1));
  for (const [at, byte] of changes) if (body.length > 0) body[at % body.length] = byte;
  if (encoding === "packed gzip") {
    return { path, headers: encoded("gzip", headers), body: new Uint8Array(gzipSync(body)) };
  }
  if (encoding === "packed deflate") {
    return { path, headers: encoded("deflate", headers), body: new Uint8Array(deflateSync(body)) };
  }
  return { path, headers: encoded(encoding, headers), body };
});

const anyBytes: fc.Arbitrary<Sent> = fc.record({
  seed: fc.constantFrom(...seeds),
  magic: fc.constantFrom(...magics),
  bytes: fc.uint8Array({ maxLength: 120 }),
  encoding: fc.constantFrom(...encodings, "br"),
}).map(({ seed: [path, headers], magic, bytes, encoding }) => ({
  path,
  headers: encoded(encoding, headers),
  body: new Uint8Array([...magic, ...bytes]),
}));

/** Makes events of any shape in the form of a protocol. */
const wrapped: fc.Arbitrary<Sent> = fc.record({
  form: fc.constantFrom(...bodies),
  events: fc.array(event, { minLength: 1, maxLength: 4 }),
}).map(({ form: [path, type, bodyOf], events }) => ({
  path,
  headers: type === "" ? noHeaders : { "Content-Type": type },
  body: utf8(bodyOf(events)),
}));

const body = fc.oneof(
  { weight: 5, arbitrary: changed },
  { weight: 1, arbitrary: anyBytes },
  { weight: 4, arbitrary: wrapped },
);

Deno.test(`${wanted} fuzzed bodies are accepted or refused, and accepted events are stored, seed ${seed}`, async () => {
  console.log(`BODIES_SEED=${seed} BODIES=${wanted}`);
  await using db = openDatabase();
  const tenant = await newTenant("bodies");
  await db`insert into logloom.tenants (tenant_id, plan_id) values (${tenant.id}, 'pro')`;
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: atOnce, maxLength: atOnce }), async (all) => {
      await Promise.all(all.map(async ({ path, headers, body }) => {
        const answer = await call(`/functions/v1/ingest${path}`, {
          method: "POST",
          headers: { ...tenant.headers, ...headers },
          body,
        });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        assert.ok(sound.has(answer.status), `${answer.status}: ${JSON.stringify(answer.body)}`);
      }));
    }),
    { seed, numRuns: Math.ceil(wanted / atOnce), interruptAfterTimeLimit: 600_000 },
  );
  const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  await queueIsEmpty(db);
  const stored = await countRecords(db, tenant.id);
  const { events } = await usageOf(db, tenant);
  assert.equal(stored, events);
  assert.ok(stored > sent / 4, `${stored} records`);
  const [{ dead }] = await db`
    select count(*)::integer as dead from logloom_private.dead_letters where tenant_id = ${tenant.id}`;
  assert.equal(dead, 0);
  await eventually("health is healthy", async () => {
    const { body } = await health("/detailed");
    return body.status === "healthy";
  });
  await clientOf(tenant.token).call("delete_tenant", { p_tenant_id: tenant.id });
  console.log(
    `${sent} bodies: ${
      [...statuses].map(([status, count]) => `${status}: ${count}`).join(", ")
    }; ` +
      `${stored} records`,
  );
  tell({ bodies: sent });
});
