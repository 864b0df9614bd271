import assert from "node:assert/strict";
import type { LogStream } from "../../../packages/logloom/src/read.ts";
import {
  apiKey,
  call,
  clientOf,
  createKey,
  ingest,
  newTenant,
  type Tenant,
} from "../../support/client.ts";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { killPart } from "../../support/processes.ts";
import { receiveWebhooks } from "../../support/receivers.ts";
import { stack } from "../../support/stack.ts";
import { hurriedStreams, newStream, sealed } from "../../support/streams.ts";
import { newUser, refused } from "../../support/users.ts";

function streamOf(tenant: Tenant, { stream_id }: LogStream): Promise<LogStream> {
  return clientOf(tenant.token).call("get_log_stream", { p_stream_id: stream_id });
}

const messages = (body: string) => (JSON.parse(body) as { msg: string }[]).map(({ msg }) => msg);

async function send(tenant: Tenant, texts: string[]): Promise<void> {
  const { key_value } = await createKey(tenant);
  const { status } = await ingest(apiKey(key_value), texts.map((msg) => ({ msg })));
  assert.equal(status, 200);
}

Deno.test("a batch is the same through an outage, a 429 and a killed function, and arrives", async () => {
  await using sql = openDatabase();
  await using _hurried = await hurriedStreams(sql);
  const tenant = await newTenant();
  const killed = Promise.withResolvers<void>();
  await using receiver = receiveWebhooks(async (before) => {
    if (before === 0) return new Response("no", { status: 503 });
    if (before === 1) return new Response("wait", { status: 429, headers: { "Retry-After": "1" } });
    // Answers only after the function was killed.
    if (before === 2) await killed.promise;
    return new Response("ok");
  });
  // Releases the answer even if the test fails, because closing the receiver waits for its answers.
  using _release = { [Symbol.dispose]: () => killed.resolve() };
  const stream = await newStream(tenant, { p_kind: "webhook", p_config: { url: receiver.url } });
  await send(tenant, ["a", "b", "c"]);
  const [first, second, third] = await receiver.wait(3);
  assert.ok(third.at - second.at >= 1000, "Retry-After is kept");
  const isBack = await killPart("logloom-stream");
  killed.resolve();
  await sql`
    update logloom.log_streams set claimed_until = now() where stream_id = ${stream.stream_id}`;
  const attempts = await receiver.wait(4);
  await isBack();
  assert.deepEqual(messages(first.body), ["a", "b", "c"]);
  for (const { headers, body } of attempts) {
    assert.equal(headers["logloom-stream-batch"], first.headers["logloom-stream-batch"]);
    assert.equal(body, first.body);
  }
  const done = await eventually("the batch is settled", async () => {
    const now = await streamOf(tenant, stream);
    return now.sent_records === 3 && now;
  });
  assert.deepEqual([done.status, done.failing_since, done.last_error], ["sending", null, null]);
});

Deno.test("a refused record is set aside, and the others arrive", async () => {
  await using sql = openDatabase();
  await using _hurried = await hurriedStreams(sql);
  const tenant = await newTenant();
  const taken: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const sent = messages(await request.text());
      if (sent.includes("poison")) return new Response("no", { status: 422 });
      taken.push(...sent);
      return new Response("ok");
    },
  );
  const stream = await newStream(tenant, {
    p_kind: "webhook",
    p_config: { url: `http://127.0.0.1:${server.addr.port}/` },
  });
  const good = Array.from({ length: 20 }, (_, n) => `good ${n}`);
  await send(tenant, [...good.slice(0, 13), "poison", ...good.slice(13)]);
  await eventually("the rest arrives", () => Promise.resolve(taken.length >= good.length));
  const done = await eventually("it is settled", async () => {
    const now = await streamOf(tenant, stream);
    return now.sent_records === good.length && now;
  });
  await server.shutdown();
  assert.deepEqual(taken, good);
  assert.deepEqual([done.refused_records, done.status], [1, "sending"]);
  const [failure, ...others] = await clientOf(tenant.token).call("list_log_stream_failures", {
    p_stream_id: stream.stream_id,
  });
  assert.deepEqual(others, []);
  assert.deepEqual(
    [failure.kind, failure.status, failure.error, failure.records],
    ["refused", 422, "HTTP 422", 1],
  );
  const record = await clientOf(tenant.token).call("get_log", { p_id: failure.record_id ?? "" });
  assert.equal(record.msg, "poison");
});

Deno.test("a stream's test shows the receiver's answer, and internal addresses are refused", async () => {
  const tenant = await newTenant();
  const client = clientOf(tenant.token);
  const outcome = async (url: string) => {
    const { stream_id } = await newStream(tenant, {
      p_kind: "webhook",
      p_config: { url },
      p_enabled: false,
    });
    await client.call("test_log_stream", { p_stream_id: stream_id });
    const tested = await eventually("the test ended", async () => {
      const now = await client.call("get_log_stream", { p_stream_id: stream_id });
      return now.test_finished_at !== null && now;
    });
    await client.call("delete_log_stream", { p_stream_id: stream_id });
    return [tested.test_status, tested.test_error];
  };
  await using receiver = receiveWebhooks(() => new Response(null, { status: 204 }));
  assert.deepEqual(await outcome(receiver.url), [204, null]);
  assert.deepEqual(messages(receiver.received[0].body).length, 1);
  await using denying = receiveWebhooks(() => new Response(null, { status: 401 }));
  assert.deepEqual(await outcome(denying.url), [401, "HTTP 401"]);
  await using elsewhere = receiveWebhooks(() => Response.redirect("https://example.com/", 302));
  assert.deepEqual(await outcome(elsewhere.url), [302, "HTTP 302: redirects are not followed"]);
  for (const inside of ["https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest"]) {
    assert.deepEqual(
      await outcome(inside),
      [null, "The host is not on the public Internet"],
      inside,
    );
  }
});

Deno.test("a stream to its own tenant is 400, and only admins have secrets sealed", async () => {
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  const p_config = { url: `${stack.url}/functions/v1/ingest` };
  const forms: Record<string, string>[] = [
    { "header.x-api-key": key_value },
    { "header.authorization": `Bearer ${key_value}` },
    { "header.authorization": `Basic ${btoa(`any:${key_value}`)}` },
  ];
  for (const secrets of forms) {
    await refused(
      newStream(tenant, { p_kind: "webhook", p_config }, secrets),
      400,
      "The log stream would send to its own tenant",
    );
  }
  const secrets = await sealed(tenant, { "header.x-team": "s3cret" });
  assert.ok(!JSON.stringify(secrets).includes("s3cret"));
  await clientOf(tenant.token).call("add_tenant_member", {
    p_user_id: tenant.userId,
    p_role: "owner",
  });
  const member = await newUser(tenant.id);
  await clientOf(tenant.token).call("add_tenant_member", {
    p_user_id: member.id,
    p_role: "member",
  });
  const { status } = await call("/functions/v1/logloom-stream/v1/seal", {
    method: "POST",
    headers: { authorization: `Bearer ${member.token}`, apikey: stack.anonKey },
    body: JSON.stringify({ p_secrets: { "header.x-team": "s3cret" } }),
  });
  assert.equal(status, 403);
});
