import assert from "node:assert/strict";
import { type Claims, createVerifiedTokens } from "./verified_tokens.ts";

const begin = Date.parse("2026-11-21T12:00:00Z");

function claimsUntil(ms: number): Claims {
  return { tenant_id: "acme", exp: ms / 1000 };
}

Deno.test("a verified token is known for a minute, and no other token", () => {
  let now = begin;
  const tokens = createVerifiedTokens(5, () => now);
  const claims = claimsUntil(begin + 3_600_000);
  tokens.remember("a", claims);
  now = begin + 59_999;
  assert.equal(tokens.find("a"), claims);
  assert.equal(tokens.find("A"), undefined);
  assert.equal(tokens.find(""), undefined);
  now = begin + 60_000;
  assert.equal(tokens.find("a"), undefined);
});

Deno.test("a token is not known after its end and the leeway", () => {
  let now = begin;
  const tokens = createVerifiedTokens(5, () => now);
  tokens.remember("a", claimsUntil(begin + 10_000));
  now = begin + 14_999;
  assert.notEqual(tokens.find("a"), undefined);
  now = begin + 15_000;
  assert.equal(tokens.find("a"), undefined);
});

Deno.test("the oldest of too many tokens are forgotten", () => {
  const tokens = createVerifiedTokens(5, () => begin);
  for (let n = 0; n < 1500; n++) tokens.remember(`token ${n}`, claimsUntil(begin + 3_600_000));
  assert.equal(tokens.find("token 499"), undefined);
  assert.notEqual(tokens.find("token 500"), undefined);
  assert.notEqual(tokens.find("token 1499"), undefined);
});
