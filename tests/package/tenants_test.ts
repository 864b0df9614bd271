import assert from "node:assert/strict";
import { secretApiKey } from "../../local/signing_keys.ts";
import { checkout } from "../../local/stack.ts";
import { openDatabase } from "../support/database.ts";
import { putOnPlan } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { newTrial, proxy, records, runProgram } from "./programs.ts";

const env = { LOGLOOM_URL: stack.url, SUPABASE_SECRET_KEY: secretApiKey, NO_COLOR: "1" };

const create = `
import { createLoggers } from "logloom/tenants";
const logs = createLoggers({
  url: process.env.LOGLOOM_URL,
  key: process.env.SUPABASE_SECRET_KEY,
  service: "api",
  onError: ({ message }) => console.log(message),
});
`;

Deno.test("a backend's events arrive once at each tenant, even if answers are lost", async () => {
  const trials = await Promise.all(["a", "b", "c"].map((name) => newTrial(`customer-${name}`)));
  const ids = trials.map(({ tenant }) => tenant.id);
  await using between = await proxy((before) => before % 2 === 0);
  const { code, said } = await runProgram(
    `${create}
const ids = ${JSON.stringify(ids)};
for (let n = 0; n < 900; n++) logs.forTenant(ids[n % 3]).info("event", { n, tenant_id: "mine" });
`,
    { ...env, LOGLOOM_URL: between.url },
  );
  assert.deepEqual({ code, said }, { code: 0, said: "502 without a reason: trying again\n" });
  assert.ok(between.requests.length > 2, "an answer was lost");
  for (const [at, { tenant }] of trials.entries()) {
    const all = (await records(tenant)).map(({ service, attrs }) => {
      assert.deepEqual([service, attrs?.tenant_id], ["api", "mine"]);
      return Number(attrs?.n);
    });
    assert.deepEqual(
      all.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, n) => 3 * n + at),
    );
  }
});

Deno.test("a customer over its limit does not delay others, and its events arrive later", async () => {
  const [slow, quick] = await Promise.all(["slow", "quick"].map((name) => newTrial(name)));
  await using db = openDatabase();
  // Events beyond this rate wait half a minute. The other tenant's events are sent meanwhile.
  await putOnPlan(db, slow.tenant, { events_per_second: 1, events_burst: 1 });
  await using between = await proxy();
  const { code, said } = await runProgram(
    `${create}
const slow = logs.forTenant(${JSON.stringify(slow.tenant.id)});
const quick = logs.forTenant(${JSON.stringify(quick.tenant.id)});
for (let n = 0; n < 30; n++) slow.info("event", { n });
const flushed = [];
for (let n = 0; n < 4; n++) {
  slow.info("event", { n: 30 + n });
  quick.info("event", { n });
  flushed.push(await logs.flush());
}
console.log(...flushed);
while (!await logs.flush()) await new Promise((resolve) => setTimeout(resolve, 100));
`,
    { ...env, LOGLOOM_URL: between.url },
  );
  // flush() returns false for waiting events instead of waiting for them.
  assert.deepEqual({ code, said }, { code: 0, said: "true false false false\n" });
  for (const [{ tenant }, count] of [[slow, 34], [quick, 4]] as const) {
    assert.deepEqual(
      (await records(tenant)).map(({ attrs }) => Number(attrs?.n)).toSorted((a, b) => a - b),
      [...Array(count).keys()],
    );
  }
});

Deno.test("events of an unknown customer are lost and reported, the others arrive", async () => {
  const { tenant } = await newTrial("customer");
  const { code, said } = await runProgram(
    `${create}
logs.forTenant("nobody-at-all").info("a");
logs.forTenant(${JSON.stringify(tenant.id)}).info("b");
`,
    env,
  );
  assert.deepEqual({ code, said }, {
    code: 0,
    said: "tenant nobody-at-all: 404 There is no tenant nobody-at-all: 1 events are lost\n",
  });
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), ["b"]);
});

Deno.test("docs/guides/send/customers.md: customers.mjs sends what it shows", async () => {
  const page = await Deno.readTextFile(`${checkout}/docs/guides/send/customers.md`);
  const program = /^```js customers\.mjs\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "";
  const { tenant } = await newTrial("customer");
  const { code, said } = await runProgram(
    program.replace('"acme"', JSON.stringify(tenant.id)),
    env,
  );
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  assert.deepEqual(
    (await records(tenant)).map(({ service, msg, attrs }) => [service, msg, attrs]),
    [["api", "order placed", { order: 7 }]],
  );
});
