import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { CompactSign, exportJWK, generateKeyPair, SignJWT } from "jose";
import {
  type AuthOptions,
  type Caller,
  createAuthenticator,
  isWellFormedKey,
  keyChecksum,
  type Project,
} from "./auth.ts";
import type { Result } from "./errors.ts";
import { closedUrl, startPeer } from "./testing.ts";

const secret = "a-secret-of-more-than-thirty-two-characters";
const now = new Date("2026-11-21T12:00:00Z");
const nowSeconds = now.getTime() / 1000;
const claims = {
  role: "authenticated",
  sub: "11111111-1111-4111-8111-111111111111",
  tenant_id: "acme",
  exp: nowSeconds + 3600,
};

/** The claims that the database checks. */
const judged = { exp: claims.exp, sub: claims.sub, tenant_id: claims.tenant_id };
const refused = {
  ok: false,
  failure: { status: 401, error: "Invalid token, API key, or missing tenant_id" },
};

/** Removes the text for the header, which another test checks. */
function withoutRefusal(result: Result<Caller | Project>): unknown {
  if (result.ok) return result;
  const { refusal: _, ...failure } = result.failure;
  return { ok: false, failure };
}

function authenticate(
  token: string,
  options: Partial<AuthOptions> = {},
): Promise<Result<Caller | Project>> {
  const authenticator = createAuthenticator({
    jwksUrl: `${closedUrl()}/jwks.json`,
    jwtSecret: secret,
    now: () => now,
    ...options,
  });
  return authenticator({ kind: "jwt", value: token });
}

function hs256(payload: Record<string, unknown>, key = secret, alg = "HS256"): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key));
}

function keyOf(random: string): string {
  return `ll_${random}${keyChecksum(`ll_${random}`)}`;
}

Deno.test("an API key ends with the CRC32 of its beginning", async () => {
  // CRC-32's published check value for this text is cbf43926.
  assert.equal(keyChecksum("123456789"), "3jZRME");
  const key = keyOf("0123456789ABCDEFGHIJKLMNOPQRST");
  assert.equal(key.slice(-6), "4EOg9I");
  const authenticator = createAuthenticator({ jwksUrl: closedUrl(), jwtSecret: undefined });
  assert.deepEqual(
    withoutRefusal(await authenticator({ kind: "api_key", value: "ll_nonsense" })),
    refused,
  );
  const result = await authenticator({ kind: "api_key", value: key });
  assert.ok(result.ok && result.value.kind === "api_key");
  assert.match(result.value.keyDigest, /^[0-9a-f]{64}$/);
});

Deno.test("a key with one character mistyped, missing or added is refused", () => {
  const base62 = fc.stringMatching(/^[0-9A-Za-z]{30}$/);
  fc.assert(
    fc.property(base62, fc.nat(38), fc.stringMatching(/^[0-9A-Za-z]$/), (random, at, by) => {
      const key = keyOf(random);
      assert.equal(key.length, 39);
      assert.ok(isWellFormedKey(key));
      const mistyped = key.slice(0, at) + by + key.slice(at + 1);
      assert.equal(isWellFormedKey(mistyped), mistyped === key);
      assert.ok(!isWellFormedKey(key + by));
      assert.ok(!isWellFormedKey(key.slice(0, -1)));
      assert.ok(!isWellFormedKey(`${key}\n`));
    }),
  );
});

Deno.test("a token of the shared secret names its tenant", async () => {
  assert.deepEqual(await authenticate(await hs256(claims)), {
    ok: true,
    value: { kind: "tenant", tenantId: "acme", claims: judged },
  });
  const { sub: _, ...withoutSub } = claims;
  assert.ok((await authenticate(await hs256(withoutSub))).ok);
  assert.ok((await authenticate(await hs256({ ...claims, tenant_id: "é".repeat(255) }))).ok);
});

Deno.test("a token is valid for 5 seconds after its end, because clocks differ", async () => {
  assert.ok((await authenticate(await hs256({ ...claims, exp: nowSeconds - 4 }))).ok);
  assert.deepEqual(
    withoutRefusal(await authenticate(await hs256({ ...claims, exp: nowSeconds - 6 }))),
    refused,
  );
  assert.ok((await authenticate(await hs256({ ...claims, nbf: nowSeconds + 4 }))).ok);
  assert.deepEqual(
    withoutRefusal(await authenticate(await hs256({ ...claims, nbf: nowSeconds + 6 }))),
    refused,
  );
});

Deno.test("a token that was accepted before is refused after its end", async () => {
  let time = now;
  const authenticator = createAuthenticator({
    jwksUrl: `${closedUrl()}/jwks.json`,
    jwtSecret: secret,
    now: () => time,
  });
  const value = await hs256({ ...claims, exp: nowSeconds + 10 });
  const accepted = {
    ok: true,
    value: { kind: "tenant", tenantId: "acme", claims: { ...judged, exp: nowSeconds + 10 } },
  };
  for (const [seconds, result] of [[0, accepted], [1, accepted], [14, accepted], [15, refused]]) {
    time = new Date(now.getTime() + Number(seconds) * 1000);
    assert.deepEqual(
      withoutRefusal(await authenticator({ kind: "jwt", value })),
      result,
      `after ${seconds} s`,
    );
  }
});

Deno.test("a secret key of the project and a token of service_role identify the project", async () => {
  const secretKeys = ["sb_secret_one", "sb_secret_two"];
  const authenticator = createAuthenticator({
    jwksUrl: closedUrl(),
    jwtSecret: undefined,
    secretKeys,
  });
  const project = { ok: true, value: { kind: "project" } };
  for (const value of secretKeys) {
    assert.deepEqual(await authenticator({ kind: "jwt", value }), project);
    assert.deepEqual(await authenticator({ kind: "api_key", value }), project);
  }
  for (const value of ["sb_secret_", "sb_secret_three", "sb_secret_one ", "SB_SECRET_ONE"]) {
    assert.equal((await authenticator({ kind: "api_key", value })).ok, false, value);
  }
  assert.deepEqual(await authenticate(await hs256({ ...claims, role: "service_role" })), project);
});

Deno.test("a token without usable claims is refused", async () => {
  const { exp: _, ...withoutExp } = claims;
  const { role: __, ...withoutRole } = claims;
  const { tenant_id: ___, ...withoutTenant } = claims;
  const unusable: Record<string, unknown>[] = [
    withoutExp,
    withoutRole,
    withoutTenant,
    { ...claims, role: "anon" },
    { ...claims, role: ["authenticated"] },
    { ...claims, sub: "" },
    { ...claims, tenant_id: "" },
    { ...claims, tenant_id: " \t" },
    { ...claims, tenant_id: 7 },
    { ...claims, tenant_id: null },
    { ...claims, tenant_id: ["acme"] },
    { ...claims, tenant_id: "a\0b" },
    { ...claims, tenant_id: "\ud800" },
    { ...claims, tenant_id: "x".repeat(256) },
    { ...withoutTenant, user_metadata: { tenant_id: "acme" } },
    { ...withoutTenant, app_metadata: { tenant_id: "acme" } },
  ];
  for (const payload of unusable) {
    assert.deepEqual(
      withoutRefusal(await authenticate(await hs256(payload))),
      refused,
      JSON.stringify(payload),
    );
  }
});

Deno.test("a token that we did not sign is refused", async () => {
  const [header, payload, signature] = (await hs256(claims)).split(".");
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const forged = encode({ ...claims, tenant_id: "other" });
  const tokens = [
    "",
    "x",
    "..",
    "a.b.c",
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${header}.${forged}.${signature}`,
    `${encode({ alg: "none" })}.${payload}.`,
    `${encode({ alg: "none" })}.${payload}.${signature}`,
    `${encode({ alg: "HS512" })}.${payload}.${signature}`,
    `${encode([])}.${payload}.${signature}`,
    `${encode({ alg: "HS256", crit: ["b64"], b64: false })}.${payload}.${signature}`,
    await hs256(claims, "another-secret-of-more-than-thirty-two"),
    await hs256(claims, secret.repeat(2), "HS512"),
  ];
  for (const token of tokens) {
    assert.deepEqual(withoutRefusal(await authenticate(token)), refused, token);
  }
  assert.deepEqual(
    withoutRefusal(await authenticate(await hs256(claims), { jwtSecret: undefined })),
    refused,
  );
});

Deno.test("random text is a refused token, and never an error", async () => {
  const text = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.stringMatching(/^[\w-]*\.[\w-]*\.[\w-]*$/),
  );
  await fc.assert(fc.asyncProperty(text, async (token) => {
    assert.deepEqual(withoutRefusal(await authenticate(token)), refused);
  }));
});

Deno.test("tokens of the project's own keys are verified, and the keys are read once", async () => {
  const es256 = await generateKeyPair("ES256");
  const old = await generateKeyPair("ES256");
  const rs256 = await generateKeyPair("RS256");
  const keys = [
    { ...await exportJWK(old.publicKey), kid: "old", alg: "ES256" },
    { ...await exportJWK(es256.publicKey), kid: "es", alg: "ES256" },
    { ...await exportJWK(rs256.publicKey), kid: "rs", alg: "RS256" },
  ];
  await using peer = startPeer(() => Response.json({ keys }));
  const jwksUrl = `${peer.url}/auth/v1/.well-known/jwks.json`;
  const authenticator = createAuthenticator({ jwksUrl, jwtSecret: secret, now: () => now });
  const sign = (key: CryptoKey, header: { alg: string; kid?: string }) =>
    new SignJWT(claims).setProtectedHeader(header).sign(key);
  const stranger = await generateKeyPair("ES256");

  const accepted = { ok: true, value: { kind: "tenant", tenantId: "acme", claims: judged } };
  for (
    const [token, result] of [
      [await sign(es256.privateKey, { alg: "ES256", kid: "es" }), accepted],
      [await sign(rs256.privateKey, { alg: "RS256", kid: "rs" }), accepted],
      [await sign(es256.privateKey, { alg: "ES256" }), accepted],
      [await sign(old.privateKey, { alg: "ES256" }), accepted],
      [await sign(rs256.privateKey, { alg: "RS256" }), accepted],
      [await sign(stranger.privateKey, { alg: "ES256" }), refused],
      [await sign(stranger.privateKey, { alg: "ES256", kid: "es" }), refused],
      [await sign(stranger.privateKey, { alg: "ES256", kid: "unknown" }), refused],
      // The classic attack: the public key is used as a shared secret.
      [await hs256(claims, JSON.stringify(keys[1])), refused],
    ] as const
  ) {
    assert.deepEqual(withoutRefusal(await authenticator({ kind: "jwt", value: token })), result);
  }
  assert.equal(peer.requests.length, 1);
  assert.equal(peer.requests[0].path, "/auth/v1/.well-known/jwks.json");
});

Deno.test("while the keys cannot be read, a token that needs them gets 503 and not 401", async () => {
  const { privateKey } = await generateKeyPair("ES256");
  const token = await new SignJWT(claims).setProtectedHeader({ alg: "ES256" }).sign(privateKey);
  const answers = [
    () => new Response("x", { status: 500 }),
    () => new Response("<html>"),
    () => Response.json({ keys: "none" }),
  ];
  for (const answer of answers) {
    await using peer = startPeer(answer);
    assertUnavailable(await authenticate(token, { jwksUrl: `${peer.url}/jwks.json` }));
  }
  assertUnavailable(await authenticate(token));
  assert.ok((await authenticate(await hs256(claims))).ok);
});

/** A fake project whose keys change, with a clock that advances while requests wait. */
async function startKeys(...names: string[]) {
  const pairs = new Map(
    await Promise.all(names.map(async (kid) => [kid, await generateKeyPair("ES256")] as const)),
  );
  let time = now.getTime();
  let published: string[] = [];
  let isAway = false;
  const fetchedAt: number[] = [];
  const peer = startPeer(async () => {
    fetchedAt.push(time - now.getTime());
    if (isAway) return new Response("away", { status: 503 });
    const keys = published.map(async (kid) => ({
      ...await exportJWK(pairs.get(kid)!.publicKey),
      alg: "ES256",
      ...!kid.startsWith("nameless") && { kid },
    }));
    return Response.json({ keys: await Promise.all(keys) });
  });
  const authenticator = createAuthenticator({
    jwksUrl: `${peer.url}/jwks.json`,
    jwtSecret: secret,
    now: () => new Date(time),
    pause: (ms) => {
      time += ms;
      return Promise.resolve();
    },
  });
  return {
    fetchedAt,
    publish: (...kids: string[]) => published = kids,
    goAway: (away: boolean) => isAway = away,
    goOn: (seconds: number) => time += seconds * 1000,
    /** Signs a new token with the key of this name and returns its status. */
    async status(kid: string, header: { kid?: string } = { kid }): Promise<number> {
      const token = await new SignJWT({
        ...claims,
        exp: nowSeconds + 36_000,
        jti: `${time} ${kid}`,
      })
        .setProtectedHeader({ alg: "ES256", ...header })
        .sign(pairs.get(kid)!.privateKey);
      const result = await authenticator({ kind: "jwt", value: token });
      if (!result.ok && result.failure.status === 503) assertUnavailable(result);
      return result.ok ? 200 : result.failure.status;
    },
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

Deno.test("a token of a new key is accepted at once, with and without the key's name", async () => {
  await using keys = await startKeys("old", "new", "newest", "nameless");
  keys.publish("old");
  assert.equal(await keys.status("old"), 200);
  keys.goOn(2);
  keys.publish("old", "new");
  assert.equal(await keys.status("new"), 200);
  // Less than a second later: the token waits for the time of the next fetch.
  keys.goOn(0.5);
  keys.publish("old", "new", "newest");
  assert.equal(await keys.status("newest"), 200);
  keys.goOn(2);
  keys.publish("old", "nameless");
  assert.equal(await keys.status("nameless", {}), 200);
  assert.deepEqual(keys.fetchedAt, [0, 2000, 3000, 5000]);
});

Deno.test("tokens of unknown keys together fetch the keys at most once a second", async () => {
  await using keys = await startKeys("known", "unknown");
  keys.publish("known");
  assert.equal(await keys.status("known"), 200);
  const statuses = () => Promise.all(Array.from({ length: 50 }, () => keys.status("unknown")));
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(new Set(await statuses()), new Set([401]));
  }
  const pauses = keys.fetchedAt.slice(1).map((at, n) => at - keys.fetchedAt[n]);
  assert.deepEqual(pauses.filter((ms) => ms < 1000), []);
  assert.ok(keys.fetchedAt.length <= 11, String(keys.fetchedAt));
  // Tokens of known keys do not wait.
  assert.equal(await keys.status("known"), 200);
});

Deno.test("a removed key is accepted for ten minutes at most, however often it is used", async () => {
  await using keys = await startKeys("leaves", "stays");
  keys.publish("leaves", "stays");
  assert.equal(await keys.status("leaves"), 200);
  keys.publish("stays");
  const statuses: number[] = [];
  for (let seconds = 0; seconds <= 600; seconds += 20) {
    statuses.push(await keys.status("leaves"));
    keys.goOn(20);
  }
  assert.equal(statuses.at(-1), 401);
  assert.deepEqual([...new Set(statuses)], [200, 401]);
  assert.equal(await keys.status("stays"), 200);
});

Deno.test("one token of a removed key is accepted for ten minutes at most, however often it is sent", async () => {
  const pair = await generateKeyPair("ES256");
  let time = now.getTime();
  const set = { keys: [{ ...await exportJWK(pair.publicKey), alg: "ES256", kid: "k" }] };
  await using peer = startPeer(() => Response.json(set));
  const authenticator = createAuthenticator({
    jwksUrl: `${peer.url}/jwks.json`,
    jwtSecret: undefined,
    now: () => new Date(time),
    pause: (ms) => Promise.resolve(void (time += ms)),
  });
  const value = await new SignJWT({ ...claims, exp: nowSeconds + 36_000 })
    .setProtectedHeader({ alg: "ES256", kid: "k" }).sign(pair.privateKey);
  assert.ok((await authenticator({ kind: "jwt", value })).ok);
  set.keys = [];
  let acceptedAt = 0;
  for (let seconds = 0; seconds <= 700; seconds += 7) {
    time = now.getTime() + seconds * 1000;
    if ((await authenticator({ kind: "jwt", value })).ok) acceptedAt = seconds;
  }
  assert.ok(acceptedAt >= 500 && acceptedAt < 600, String(acceptedAt));
});

Deno.test("while the keys cannot be fetched, known keys still work, and other tokens get 503 and not 401", async () => {
  await using keys = await startKeys("known", "unknown");
  keys.publish("known");
  keys.goAway(true);
  assert.equal(await keys.status("known"), 503);
  assert.equal(await keys.status("known"), 503);
  assert.deepEqual(keys.fetchedAt, [0], "a failed fetch is not repeated at once");
  keys.goAway(false);
  keys.goOn(1);
  assert.equal(await keys.status("known"), 200);
  keys.goAway(true);
  keys.goOn(10);
  assert.equal(await keys.status("known"), 200);
  assert.equal(await keys.status("unknown"), 503);
  keys.goOn(520);
  assert.equal(await keys.status("known"), 200);
  keys.goOn(60);
  assert.equal(await keys.status("known"), 503);
  keys.goAway(false);
  keys.goOn(1);
  assert.equal(await keys.status("known"), 200);
  assert.equal(await keys.status("unknown"), 401);
});

Deno.test("a token in which two members have the same name is refused", async () => {
  const texts = [
    `{"role":"authenticated","tenant_id":"a","tenant_id":"b","exp":${claims.exp}}`,
    `{"role":"authenticated","tenant_id":"a","tenant\\u005fid":"a","exp":${claims.exp}}`,
    `{"role":"service_role","role":"authenticated","tenant_id":"a","exp":${claims.exp}}`,
    `{"role":"authenticated","tenant_id":"a","exp":1,"exp":${claims.exp}}`,
    `{"role":"authenticated","tenant_id":"a","exp":${claims.exp},"app_metadata":{"a":1,"a":2}}`,
    `\ufeff{"role":"authenticated","tenant_id":"a","exp":${claims.exp}}`,
  ];
  const plain = `{"role":"authenticated","tenant_id":"a","exp":${claims.exp}}`;
  const sign = async (text: string) =>
    await new CompactSign(new TextEncoder().encode(text)).setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode(secret));
  for (const text of texts) {
    assert.deepEqual(withoutRefusal(await authenticate(await sign(text))), refused, text);
  }
  assert.ok((await authenticate(await sign(plain))).ok);
});

function assertUnavailable(result: Result<Caller | Project>): void {
  assert.ok(!result.ok);
  assert.equal(result.failure.status, 503);
  assert.equal(result.failure.error, "Tokens cannot be verified at the moment, try again");
  assert.match(result.failure.retryAfter ?? "", /^[1-5]$/);
}

Deno.test("a 401 names the fault, but tells its sender nothing new", async () => {
  const authenticator = createAuthenticator({
    jwksUrl: `${closedUrl()}/jwks.json`,
    jwtSecret: secret,
    now: () => now,
  });
  const key = keyOf("0123456789ABCDEFGHIJKLMNOPQRST");
  const anon = await hs256({ role: "anon", exp: claims.exp });
  const service = await hs256(
    { role: "service_role", exp: claims.exp },
    "another secret of 32 letters",
  );
  const ofProject = (name: string) =>
    `This is the project's ${name}: ingest takes a key of Logloom (ll_...) or a user's token`;
  const cases: ["api_key" | "jwt", string, string][] = [
    ["api_key", `"${key}"`, "The key is in quotes: send it without them"],
    ["api_key", `Bearer ${key}`, "This header takes the key alone, without Bearer"],
    ["api_key", key.slice(0, -1), "The key is malformed: a character is wrong or missing"],
    ["api_key", "abc", "Not a Logloom key: keys begin with ll_"],
    ["api_key", "sb_publishable_abc", ofProject("publishable key")],
    ["api_key", "sb_secret_abc", "Not a secret key of this project"],
    ["jwt", "sb_secret_abc", "Not a secret key of this project"],
    ["api_key", anon, ofProject("anon key")],
    ["api_key", await hs256(claims), "This is a token: send it as Authorization: Bearer"],
    ["jwt", "", "Write Authorization as Bearer, one space, and the key or token"],
    ["jwt", `"${key}"`, "The key is in quotes: send it without them"],
    ["jwt", anon, ofProject("anon key")],
    ["jwt", service, "The token is not valid for this project"],
    ["jwt", "abc", "Neither a key nor a token"],
    [
      "jwt",
      await hs256({ ...claims, exp: nowSeconds - 6 }),
      "The token has expired: sign in again",
    ],
    [
      "jwt",
      await hs256({ ...claims, exp: nowSeconds - 6 }, "another secret of 32 letters, not ours"),
      "The token is not valid for this project",
    ],
    [
      "jwt",
      await hs256({ ...claims, tenant_id: undefined }),
      "The token needs role authenticated and a top-level tenant_id claim",
    ],
  ];
  for (const [kind, value, refusal] of cases) {
    const result = await authenticator({ kind, value });
    assert.deepEqual(result, { ok: false, failure: { ...refused.failure, refusal } }, value);
  }
});
