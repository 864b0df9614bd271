import assert from "node:assert/strict";
import { sha256Hex } from "../_shared/auth.ts";
import { apiKey, ingestToken, startDatabase, startIngest } from "./testing.ts";

const accepted = { success: true, ingested: 1, rejected: 0 };
const missing = { error: "Missing authorization header" };
const plainText = { "Content-Type": "text/plain;charset=UTF-8" };

/** Sends one request to the function. Its database accepts everything. */
async function send(
  headers: Record<string, string>,
  body: unknown,
  path = "",
): Promise<{ status: number; said: unknown; refusal: string | null; calls: unknown[] }> {
  await using peer = startDatabase(() => Response.json(accepted));
  await using ingest = startIngest(peer.url);
  const response = await fetch(`${ingest.url}${path}`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    said: await response.json(),
    refusal: response.headers.get("WWW-Authenticate"),
    calls: peer.requests.map((request) => JSON.parse(request.body)),
  };
}

const stored = (bytes: number) => [{
  p_key_digest: sha256Hex(ingestToken),
  p_bytes: bytes,
  p_ts: [null],
  p_msg: ["a"],
}];

Deno.test("an ingest token goes to the database as a digest, like a key", async () => {
  for (const [name, value] of [["Authorization", "Bearer "], ["X-API-Key", ""]]) {
    const { status, said, calls } = await send({ [name]: value + ingestToken }, [{ msg: "a" }]);
    assert.deepEqual([status, said, calls], [200, accepted, stored(13)]);
  }
});

Deno.test("the token at the beginning of a beacon is not stored", async () => {
  const bodies: [unknown, number][] = [
    [{ token: ingestToken, events: [{ msg: "a" }] }, 24],
    [{ token: ingestToken, logs: [{ msg: "a" }] }, 22],
    [{ token: ingestToken, msg: "a" }, 11],
    [`\n { "token" : "${ingestToken}" ,"events":[{"msg":"a"}]}`, 24],
  ];
  for (const [body, bytes] of bodies) {
    const { status, said, calls } = await send(plainText, body);
    assert.deepEqual([status, said, calls], [200, accepted, stored(bytes)], JSON.stringify(body));
  }
});

Deno.test("a token in the body is not stored even if a header has the credentials", async () => {
  const json = { "Content-Type": "application/json" };
  const headers = [
    { ...json, Authorization: `Bearer ${ingestToken}` },
    { ...json, "X-API-Key": apiKey },
    { ...plainText, Authorization: `Bearer ${ingestToken}` },
  ];
  for (const sent of headers) {
    for (const events of [{ events: [{ msg: "a" }] }, { msg: "a" }]) {
      const { status, calls } = await send(sent, { token: ingestToken, ...events });
      const key = "X-API-Key" in sent ? apiKey : ingestToken;
      const [call] = stored(JSON.stringify(events).length);
      assert.deepEqual([status, calls], [200, [{ ...call, p_key_digest: sha256Hex(key) }]]);
    }
  }
});

Deno.test("a token elsewhere in a body, or in another kind of body, does not count", async () => {
  const bodies: [Record<string, string>, unknown][] = [
    [plainText, { events: [{ msg: "a" }], token: ingestToken }],
    [plainText, [{ token: ingestToken, msg: "a" }]],
    [plainText, { token: "ll_key", events: [] }],
    [plainText, { token: ingestToken }],
    [plainText, ""],
    [plainText, { token: ingestToken, events: [{ msg: "x".repeat(65_536) }] }],
    [{ "Content-Type": "application/json" }, { token: ingestToken, events: [{ msg: "a" }] }],
  ];
  for (const [headers, body] of bodies) {
    const { status, said, calls } = await send(headers, body);
    assert.deepEqual([status, said, calls], [400, missing, []], JSON.stringify(body).slice(0, 80));
  }
});

Deno.test("a mistyped token is refused without asking the database", async () => {
  const typo = `${ingestToken.slice(0, -1)}!`;
  const other = `${ingestToken.slice(0, -1)}${ingestToken.endsWith("0") ? "1" : "0"}`;
  for (const value of [typo, other, `ll_${ingestToken.slice(4)}`]) {
    const { status, refusal, calls } = await send({ Authorization: `Bearer ${value}` }, [{}]);
    assert.deepEqual([status, calls], [401, []], value);
    assert.match(refusal ?? "", /The key is malformed: a character is wrong or missing/);
  }
});

Deno.test("a token in the URL is never accepted", async () => {
  for (
    const path of [
      `?token=${ingestToken}`,
      `?api_key=${ingestToken}`,
      `/gelf?token=${ingestToken}`,
      `/v1/input/${ingestToken}`,
    ]
  ) {
    const { status, refusal, calls } = await send(plainText, [{ msg: "a" }], path);
    assert.ok(status === 400 || status === 401 || status === 403, `${path} ${status}`);
    assert.deepEqual(calls, [], path);
    if (path.includes("?")) {
      assert.match(refusal ?? "", /not taken from an address: send it as Authorization: Bearer/);
    }
  }
});
