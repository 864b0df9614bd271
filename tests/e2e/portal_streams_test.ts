import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { bearer, call, clientOf, ingest, newTenant, type Tenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { receiveWebhooks } from "../support/receivers.ts";
import { putOnPlan } from "../support/plans.ts";
import { hurriedStreams, type Stream } from "../support/streams.ts";

// Customers of a portal send their own logs elsewhere.

type Sealed = { p_secrets: Record<string, string>; error: string };

/** Makes a session of a customer with the part streams. */
async function sessionOf(tenant: Tenant, customer: string) {
  const { session_id, token } = await clientOf(tenant.token).call("create_log_portal_session", {
    p_parts: ["streams"],
    p_customer: customer,
    p_query_dsl: `@customer:${customer}`,
  });
  const post = <Body>(path: string, body: unknown) =>
    call<Body>(`/functions/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(token ?? "") },
      body: JSON.stringify(body),
    });
  return {
    session_id,
    seal: (secret: string, name = "logloom-stream") =>
      post<Sealed>(`${name}/v1/seal`, { p_secrets: { signing_secret: secret } }),
    create: (p_name: string, url: string, p_secrets = {}) =>
      post<Stream & { message: string }>("logloom-read/v1/create_log_stream", {
        p_name,
        p_kind: "webhook",
        p_config: { url },
        p_secrets,
      }),
  };
}

const both = (id: number) =>
  [42, 43].map((customer) => ({ msg: `${id} of ${customer}`, customer }));

Deno.test("a customer's stream gets only their records, also after the session, until they are revoked", async () => {
  await using receiver = receiveWebhooks();
  await using db = openDatabase();
  await using _hurried = await hurriedStreams(db);
  const tenant = await newTenant("portal-streams");
  const client = clientOf(tenant.token);
  const session = await sessionOf(tenant, "42");
  const signingSecret = `whsec_${btoa("a signing secret of 32 characters")}`;
  const { body: { p_secrets } } = await session.seal(signingSecret);
  const { status, body: stream } = await session.create("mine", receiver.url, p_secrets);
  assert.deepEqual([status, stream.customer, stream.secrets], [200, "42", {
    signing_secret: { set: true },
  }]);
  await client.call("revoke_log_portal_session", { p_session_id: session.session_id });
  assert.equal((await session.seal(signingSecret)).status, 401);

  await ingest(tenant.headers, both(1));
  const [{ headers, body }] = await receiver.wait(1);
  const records = new Webhook(signingSecret).verify(body, headers) as { msg: string }[];
  assert.deepEqual(records.map(({ msg }) => msg), ["1 of 42"]);

  assert.deepEqual(await client.call("revoke_portal_customer", { p_customer: "42" }), {
    sessions: 0,
    streams: 1,
    rules: 0,
  });
  await ingest(tenant.headers, both(2));
  await recordsOf(db, tenant.id, 4);
  // A stream that was made later and gets the same records proves that the sender came by.
  const other = await sessionOf(tenant, "43");
  await other.create("theirs", `${receiver.url}/43`);
  await ingest(tenant.headers, both(3));
  const later = (await receiver.wait(2)).slice(1);
  assert.deepEqual(later.map(({ path, body }) => [path, JSON.parse(body)[0].msg]), [
    ["/43", "3 of 43"],
  ]);
});

Deno.test("a secret that another customer sealed is not sent", async () => {
  await using receiver = receiveWebhooks();
  await using db = openDatabase();
  await using _hurried = await hurriedStreams(db);
  const tenant = await newTenant("portal-seals");
  const [mine, theirs] = [await sessionOf(tenant, "42"), await sessionOf(tenant, "43")];
  const { body: { p_secrets } } = await theirs.seal(`whsec_${btoa("another secret of theirs")}`);
  const { body: { stream_id } } = await mine.create("stolen", receiver.url, p_secrets);
  await ingest(tenant.headers, both(1));
  const failed = await eventually("the stream to fail", async () => {
    const stream = await clientOf(tenant.token).call("get_log_stream", { p_stream_id: stream_id });
    return stream.status === "failing" && stream;
  });
  assert.equal(failed.last_error, "A secret cannot be opened: seal and set it again");
  assert.equal(receiver.received.length, 0);
  for (const name of ["logloom-notify", "ingest"]) {
    assert.equal((await mine.seal("x", name)).status, 403, name);
  }
});

Deno.test("concurrent creates with two tokens of a customer stay within the limit", async () => {
  await using db = openDatabase();
  const tenant = await newTenant("portal-limit");
  await putOnPlan(db, tenant, { max_log_streams: 10 });
  const sessions = [await sessionOf(tenant, "42"), await sessionOf(tenant, "42")];
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => sessions[n % 2].create(`s${n}`, "https://example.com/")),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, ...Array(6).fill(400)]);
  const { body } = answers.find(({ status }) => status === 400)!;
  assert.equal(body.message, "Your limit is reached: streams (max 2)");
});

Deno.test("revoking a customer is 429 while a round of alerts does not end", async () => {
  await using db = openDatabase();
  const tenant = await newTenant("portal-round");
  const session = await sessionOf(tenant, "42");
  await session.create("kept", "https://example.com/");
  const revoke = () =>
    call("/rest/v1/rpc/revoke_portal_customer", {
      method: "POST",
      headers: { ...bearer(tenant.token), "content-type": "application/json" },
      body: JSON.stringify({ p_customer: "42" }),
    });
  await db.begin(async (round) => {
    await round`select pg_advisory_xact_lock(logloom_private.lock_key('alerts'))`;
    const { status, headers, body } = await revoke();
    assert.deepEqual([status, headers.get("retry-after")], [429, "5"]);
    assert.equal(body.message, "Alert rules are being evaluated");
  });
  assert.deepEqual((await revoke()).body, { sessions: 1, streams: 1, rules: 0 });
});
