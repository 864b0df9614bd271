import assert from "node:assert/strict";
import {
  apiKey,
  assertAnswer,
  call,
  createKey,
  health,
  ingest,
  newTenant,
  type Tenant,
} from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf, stopWriter } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { isBack, killProcess, type ProcessName } from "../support/processes.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";

// The guarantees of one process must hold for several, each of which may end at any time.

const isolates = (["", "-2", "-3"] as const).flatMap((n): ProcessName[] => [
  `ingest${n}`,
  `health${n}`,
  `logloom-archive${n}`,
  `logloom-notify${n}`,
  `logloom-read${n}`,
  `logloom-stream${n}`,
]);

/** Kills one process after the other until it is disposed, each when the previous one is back. */
function restarts(): AsyncDisposable & { count(): number } {
  let isOver = false;
  let count = 0;
  const work = (async () => {
    while (!isOver) {
      const name = isolates[count % isolates.length];
      await isBack(name, await killProcess(name));
      count += 1;
      await pause(500);
    }
  })();
  return {
    count: () => count,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await work;
    },
  };
}

/** Makes a client that sends single events with no Idempotency-Key, so that each is sent once. */
async function sendOnce(tenant: Tenant, first: number, events: number): Promise<Set<number>> {
  const acknowledged = new Set<number>();
  for (let n = first; n < first + events; n++) {
    const answer = await ingest(tenant.headers, [{ msg: "once", n }]).catch(() => undefined);
    if (answer?.status === 200) acknowledged.add(n);
    else assert.ok(answer === undefined || answer.status === 503, `${answer?.status}`);
  }
  return acknowledged;
}

Deno.test("while processes are killed one after the other, nothing acknowledged is lost or doubled", async () => {
  await using db = openDatabase();
  const [tenant, other] = [await newTenant(), await newTenant()];
  const sender = new Sender(tenant, { eventsPerRequest: 20, pauseBetween: 5 });
  let acknowledged: Set<number>[] = [];
  let ended = 0;
  let unanswered = 0;
  {
    await using restarted = restarts();
    sender.start(3);
    let isOver = false;
    const askers = (async () => {
      while (!isOver) {
        // Any health report counts as an answer, because the writer may lag on a slow machine.
        const answer = await health("/ready").catch(() => undefined);
        if (answer?.body.checks === undefined) unanswered += 1;
        await pause(20);
      }
    })();
    // Concurrent small requests of one caller share calls.
    const each = 300;
    acknowledged = await Promise.all(
      Array.from({ length: 8 }, (_, client) => sendOnce(other, client * each, each)),
    );
    await eventually("every process has ended once", () => {
      return Promise.resolve(restarted.count() >= isolates.length);
    });
    isOver = true;
    await askers;
    await sender.stop();
    ended = restarted.count() + 1;
  }
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));

  const expected = acknowledged.reduce((all, some) => all.union(some));
  const records = await recordsOf(db, other.id, expected.size);
  const stored = records.map(({ attrs }) => Number(attrs?.n));
  assert.equal(new Set(stored).size, stored.length, "no event is stored twice");
  assert.deepEqual(
    [...expected.difference(new Set(stored))],
    [],
    "none of the acknowledged is lost",
  );
  // A GET goes to another process when one has ended.
  assert.ok(unanswered <= ended, `${unanswered} of ${ended} kills took an answer of health`);
});

Deno.test("a revoked key is refused by every process on the very next request", async () => {
  const tenant = await newTenant();
  const key = await createKey(tenant);
  const ask = () =>
    Promise.all(Array.from({ length: 12 }, () => ingest(apiKey(key.key_value), [{ msg: "x" }])));
  assert.deepEqual((await ask()).map(({ status }) => status), Array(12).fill(200));
  await call("/rest/v1/rpc/revoke_api_key", {
    method: "POST",
    headers: { ...tenant.headers, "content-type": "application/json" },
    body: JSON.stringify({ p_key_id: key.key_id }),
  });
  for (const answer of await ask()) {
    assertAnswer(answer, 401, { error: "Invalid token, API key, or missing tenant_id" });
  }
});

Deno.test("a rate holds for all processes together", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const [rate, burst] = [10, 20];
  await putOnPlan(db, tenant, { requests_per_second: rate, requests_burst: burst });
  let accepted = 0;
  const began = performance.now();
  await Promise.all(Array.from({ length: 6 }, async () => {
    while (performance.now() - began < 3000 || accepted <= burst) {
      const { status } = await ingest(tenant.headers, [{ msg: "x" }]);
      if (status === 200) accepted += 1;
      else assert.equal(status, 429);
    }
  }));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(accepted <= burst + rate * seconds + 1, `${accepted} in ${seconds} s`);
  await eventually("six requests one after the other are let in", async () => {
    for (let request = 0; request < 6; request++) {
      if ((await ingest(tenant.headers, [{ msg: "x" }])).status !== 200) return false;
    }
    return true;
    // More frequent attempts would use up the rate.
  }, { every: 1000 });
});

Deno.test("with pg_cron stopped and processes ending, events become visible once anyway", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await using _silence = await changeSettings(db, { writer_guard_silence: "0.5 seconds" });
  await using _writer = await stopWriter(db, { guarded: true });
  const sender = new Sender(tenant, { eventsPerRequest: 50, pauseBetween: 20 });
  {
    await using restarted = restarts();
    sender.start();
    await eventually("three processes have ended", () => {
      return Promise.resolve(restarted.count() >= 3 && sender.acknowledged > 1000);
    });
    await sender.stop();
  }
  // The next request continues a run that ended in the middle.
  assert.equal((await ingest(tenant.headers, [])).status, 200);
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
});
