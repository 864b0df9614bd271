import assert from "node:assert/strict";
import type { CallDatabase } from "../_shared/database.ts";
import { success } from "../_shared/errors.ts";
import type { Bucket } from "./bucket.ts";
import { createArchiveHandler } from "./handler.ts";

const secret = "a secret";

/** A handler with a small bucket. Records its database calls, and waits for its work. */
function archive(
  works: unknown[],
  { bucket = memoryBucket(), hasKey = true, waitedMs = 0, processorMs = 0 }: {
    bucket?: Bucket;
    hasKey?: boolean;
    /** How long each answer of the database takes. */
    waitedMs?: number;
    /** The processor time of each piece. */
    processorMs?: number;
  } = {},
) {
  const calls: [string, unknown][] = [];
  let now = 0;
  let work = Promise.resolve();
  const callDatabase: CallDatabase = async (name, body) => {
    calls.push([name, JSON.parse(body)]);
    await Promise.resolve();
    now += waitedMs;
    if (name !== "claim_log_archive_work") return success("[]");
    const next = works.shift();
    return success(JSON.stringify(
      next === undefined ? { work: null } : { bucket: "b", prefix: "p", work: next },
    ));
  };
  const handle = createArchiveHandler({
    secret,
    callDatabase,
    bucketNamed: () => {
      now += processorMs;
      return hasKey ? bucket : undefined;
    },
    uploadLimitMs: 100_000,
    budgetMs: 30_000,
    processorBudgetMs: 200,
    clock: () => now,
    keepAlive: (promise) => void (work = promise),
  });
  return {
    calls,
    wake: async (given = secret, method = "POST") => {
      const response = await handle(
        new Request("http://localhost/", {
          method,
          headers: { "X-Logloom-Archive-Secret": given },
        }),
      );
      await work;
      return response.status;
    },
  };
}

function memoryBucket(): Bucket {
  const objects = new Map<string, Uint8Array>();
  return {
    get: (key) => Promise.resolve(objects.get(key)),
    put: (key, body) => Promise.resolve(void objects.set(key, body)),
    delete: (key) => Promise.resolve(void objects.delete(key)),
    list: (prefix) =>
      Promise.resolve({
        objects: [...objects.keys()].filter((key) => key.startsWith(prefix))
          .map((key) => ({ key, age: 0 })),
        isEnd: true,
      }),
    keepsVersions: () => Promise.resolve(undefined),
  };
}

Deno.test("only the job's secret wakes the function", async () => {
  const { wake, calls } = archive([]);
  assert.equal(await wake("another"), 401);
  assert.equal(await wake(secret, "GET"), 405);
  assert.equal(calls.length, 0);
  assert.equal(await wake(), 202);
  assert.deepEqual(calls.map(([name]) => name), ["claim_log_archive_work"]);
});

Deno.test("a call does one piece after the other, until its time or processor time is over", async () => {
  const check = { kind: "check", claim_id: "c", installation_id: "i" };
  for (
    const [waitedMs, processorMs, pieces] of [
      [0, 0, 9],
      // After an expensive piece no other one begins.
      [0, 900, 1],
      // Waiting does not count as processor time.
      [1000, 90, 3],
      [6000, 0, 3],
    ]
  ) {
    const { wake, calls } = archive(Array(9).fill(check), { waitedMs, processorMs });
    await wake();
    const settled = calls.filter(([name]) => name === "settle_log_archive_work");
    const done = { p_claim_id: "c", p_details: { problem: null } };
    assert.deepEqual(settled, Array(pieces).fill(["settle_log_archive_work", done]));
  }
});

Deno.test("without a key for the bucket the work fails with the reason, and no more is claimed", async () => {
  const work = { kind: "delete", claim_id: "c", keys: ["k"] };
  const { wake, calls } = archive([work, work], { hasKey: false });
  await wake();
  assert.deepEqual(calls.slice(1), [["settle_log_archive_work", {
    p_claim_id: "c",
    p_error: "The function logloom-archive has no key for a bucket",
  }]]);
});

Deno.test("a prefix of another installation is reported", async () => {
  const bucket = memoryBucket();
  await bucket.put("p/logloom.json", new TextEncoder().encode('{"installation_id":"theirs"}'));
  const { wake, calls } = archive(
    [{ kind: "check", claim_id: "c", installation_id: "ours" }],
    { bucket },
  );
  await wake();
  assert.deepEqual(calls[1], ["settle_log_archive_work", {
    p_claim_id: "c",
    p_details: {
      problem: "The prefix belongs to another installation: set another archive_prefix",
    },
  }]);
});

Deno.test("the text of an unexpected error stays in the log", async () => {
  const bucket = { ...memoryBucket(), keepsVersions: () => Promise.reject(new Error("a key")) };
  const { wake, calls } = archive(
    [{ kind: "check", claim_id: "c", installation_id: "ours" }],
    { bucket },
  );
  await wake();
  assert.deepEqual(calls[1], ["settle_log_archive_work", {
    p_claim_id: "c",
    p_error: "The function failed unexpectedly: its log says why",
  }]);
});

Deno.test("the note of an erasure is written, and read again", async () => {
  const bucket = memoryBucket();
  const note = { run_id: "r", query_dsl: "user_id:ü" };
  const { wake, calls } = archive([
    { kind: "note", claim_id: "c", key: "p/erasures/r.json", note },
    { kind: "recall", claim_id: "d", key: "p/erasures/r.json" },
    { kind: "recall", claim_id: "e", key: "p/erasures/s.json" },
  ], { bucket });
  await wake();
  assert.deepEqual(calls.filter(([name]) => name === "settle_log_archive_work"), [
    ["settle_log_archive_work", { p_claim_id: "c", p_details: {} }],
    ["settle_log_archive_work", { p_claim_id: "d", p_details: { note } }],
    ["settle_log_archive_work", { p_claim_id: "e", p_details: { missing: true } }],
  ]);
});

Deno.test("an unreadable note counts as missing", async () => {
  const bucket = memoryBucket();
  await bucket.put("p/erasures/r.json", new TextEncoder().encode("{"));
  const { wake, calls } = archive(
    [{ kind: "recall", claim_id: "c", key: "p/erasures/r.json" }],
    { bucket },
  );
  await wake();
  assert.deepEqual(calls[1], ["settle_log_archive_work", {
    p_claim_id: "c",
    p_details: { note: null },
  }]);
});
