import assert from "node:assert/strict";
import { becomes } from "../../../tests/support/eventually.ts";
import { Buffer } from "node:buffer";
import { success } from "../_shared/errors.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { createStreamHandler, purpose, type StreamDependencies } from "./handler.ts";

interface Call {
  readonly name: string;
  readonly body: Record<string, unknown>;
}

/** A database with one stream of some batches, which records the calls. */
function databaseWith(batches: number, secrets: Record<string, string> = {}) {
  const calls: Call[] = [];
  let isClaimed = false;
  let sent = 0;
  const callDatabase: StreamDependencies["callDatabase"] = (name, text) => {
    const body = JSON.parse(text);
    calls.push({ name, body });
    switch (name) {
      case "claim_log_streams": {
        const claims = isClaimed ? [] : [{ stream_id: "s", claim_id: "c" }];
        isClaimed = true;
        return Promise.resolve(success(JSON.stringify(claims)));
      }
      case "read_log_stream_batch": {
        if (sent === batches) return Promise.resolve(success("null"));
        const batch = {
          stream_id: "s",
          tenant_id: "acme",
          kind: "webhook",
          config: { url: "https://example.com/" },
          secrets,
          batch_id: `b-${sent}`,
          made_at: "2026-11-25T22:32:00+00:00",
          attempt: 0,
          is_test: false,
          hops: 1,
          records: 1,
        };
        const record = '{"id":"i","ts":"t","msg":"m"}';
        return Promise.resolve(
          success(`{"batch":${JSON.stringify(batch)},"records":[\n${record}\n]}`),
        );
      }
      default:
        sent++;
        return Promise.resolve(success(JSON.stringify({ more: !body.p_release })));
    }
  };
  return { callDatabase, calls, settled: () => calls.filter(({ name }) => /^settle/.test(name)) };
}

async function work(
  dependencies: Partial<StreamDependencies> & Pick<StreamDependencies, "callDatabase">,
): Promise<Response> {
  let working = Promise.resolve();
  const response = await createStreamHandler({
    secret: "job",
    secrets: undefined,
    send: () => Promise.resolve({ status: 200, headers: new Map(), body: new Uint8Array() }),
    limit: 4,
    budgetMs: 20_000,
    processorBudgetMs: 400,
    keepAlive: (promise) => working = promise,
    pause: () => Promise.resolve(),
    now: () => new Date(),
    clock: () => 0,
    ...dependencies,
  })(
    new Request("http://127.0.0.1/logloom-stream", {
      method: "POST",
      headers: { "X-Logloom-Notify-Secret": "job" },
    }),
  );
  await working;
  return response;
}

Deno.test("a call sends batch after batch, and settles each", async () => {
  const { callDatabase, settled } = databaseWith(3);
  assert.equal((await work({ callDatabase })).status, 202);
  assert.deepEqual(
    settled().map(({ body }) => [body.p_batch_id, body.p_outcome, body.p_release]),
    [["b-0", "delivered", false], ["b-1", "delivered", false], ["b-2", "delivered", false]],
  );
});

Deno.test("a call whose time is over releases its stream after the batch", async () => {
  for (const spent of [{ budgetMs: 100 }, { processorBudgetMs: 100 }]) {
    let clock = 0;
    const { callDatabase, settled } = databaseWith(3);
    await work({ callDatabase, ...spent, clock: () => clock += 60 });
    assert.deepEqual(settled().map(({ body }) => body.p_release), [true]);
  }
});

Deno.test("batches of one tenant are read one at a time, independent of other tenants", async () => {
  const tenants = ["acme", "acme", "acme", "other"];
  const streams = tenants.map((tenant_id, n) => ({ stream_id: `s${n}`, claim_id: "c", tenant_id }));
  const answers = new Map<string, () => void>();
  let isClaimed = false;
  const working = work({
    callDatabase: (name, text) => {
      const { p_stream_id } = JSON.parse(text);
      if (name !== "read_log_stream_batch") {
        const claims = isClaimed ? [] : streams;
        isClaimed = true;
        return Promise.resolve(success(JSON.stringify(claims)));
      }
      return new Promise((resolve) =>
        answers.set(p_stream_id, () => {
          answers.delete(p_stream_id);
          resolve(success("null"));
        })
      );
    },
  });
  const reads = async (...expected: string[]) => {
    await becomes(expected, () => Promise.resolve([...answers.keys()]));
    // Lets a call begin that should wait.
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual([...answers.keys()], expected);
  };
  await reads("s0", "s3");
  answers.get("s0")?.();
  await reads("s3", "s1");
  answers.get("s1")?.();
  answers.get("s3")?.();
  await reads("s2");
  answers.get("s2")?.();
  await working;
});

Deno.test("secrets of an older key are opened, and returned sealed by the current one", async () => {
  const keyed = (current: number, ...old: number[]) => {
    const [key, ...others] = [current, ...old].map((n) => Buffer.alloc(32, n).toString("base64"));
    return readSealedSecrets((name) =>
      ({ LOGLOOM_SECRETS_KEY: key, LOGLOOM_SECRETS_OLD_KEYS: others.join(",") })[name]
    );
  };
  const binding = { tenantId: "acme", purpose };
  const sealed = await (await keyed(1))?.seal("s3cret", binding) ?? "";
  const { callDatabase, calls, settled } = databaseWith(1, { "header.x-key": sealed });
  const sent: unknown[] = [];
  await work({
    callDatabase,
    secrets: await keyed(2, 1),
    send: ({ headers }) => {
      sent.push(headers["x-key"]);
      return Promise.resolve({ status: 200, headers: new Map(), body: new Uint8Array() });
    },
  });
  assert.deepEqual(sent, ["s3cret"]);
  const [{ body }] = settled();
  const { "header.x-key": resealed } = body.p_secrets as Record<string, string>;
  assert.notEqual(resealed, sealed);
  assert.equal((await (await keyed(2))?.open(resealed, binding))?.text, "s3cret");
  assert.ok(!JSON.stringify(calls).includes("s3cret"));
});

Deno.test("with a secret that cannot be opened nothing is sent, and the error says so", async () => {
  const { callDatabase, settled } = databaseWith(1, { "header.x-key": "lls1.aaaaaaaa.bbbb" });
  await work({ callDatabase, send: () => assert.fail("sent") });
  assert.deepEqual(settled().map(({ body }) => [body.p_outcome, body.p_error]), [
    ["retry", "The function has no key for secrets"],
  ]);
});
