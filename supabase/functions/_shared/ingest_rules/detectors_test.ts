import assert from "node:assert/strict";
import { processorMs } from "../testing_processor.ts";
import { detectors } from "./detectors.ts";
import { secrets } from "./testing_secrets.ts";

const names = [...new Set(detectors.map(([name]) => name))];

/** What the detectors of a name find. */
function foundBy(name: string, text: string): string[] {
  const found: string[] = [];
  for (const [one, { trigger, find }] of detectors) {
    if (one === name && trigger.test(text)) {
      find(text, (from, to) => found.push(text.slice(from, to)));
    }
  }
  return found;
}

Deno.test("each detector finds its secrets whole, between letters, signs and other scripts", () => {
  for (const name of names) {
    for (const secret of secrets[name]) {
      for (
        const [before, after] of [["", ""], ["x", "y"], ['{"a":"', '"}'], ["（", "）"], [
          "\\n",
          ".",
        ]]
      ) {
        const found = foundBy(name, before + secret + after);
        assert.equal(found.length, 1, `${name} in ${before}${secret}${after}: ${found}`);
        assert.ok(found[0].includes(secret), `${found[0]} for ${secret}`);
      }
    }
  }
  assert.deepEqual(foundBy("card", "12 4111 1111 1111 1111 12/27, 4111-1111-1111-1111"), [
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
  ]);
  assert.deepEqual(
    foundBy("email", "to=ann@example.com,bob%40example.org; <c.d+e@sub.example.co>"),
    [
      "ann@example.com",
      "bob%40example.org",
      "c.d+e@sub.example.co",
    ],
  );
  assert.deepEqual(foundBy("email", "by='o'brien@example.com'"), ["o'brien@example.com"]);
  assert.deepEqual(foundBy("phone", "2026-11-30 09:15 +49 170 1234567, 12:01:02 +4917012345678"), [
    "+49 170 1234567",
    "+4917012345678",
  ]);
  assert.deepEqual(foundBy("ipv4", "v 10.0.0.1 ver: 10.0.0.2 dev 10.0.0.3 v:10.0.0.4").length, 4);
  assert.deepEqual(foundBy("ipv6", "face:2001:db8:85a3:0:0:8a2e:370:7334 [fe80::1%eth0]:80"), [
    "2001:db8:85a3:0:0:8a2e:370:7334",
    "fe80::1",
  ]);
});

Deno.test("ids, times, versions and digests are not secrets", () => {
  const harmless = [
    "550e8400-e29b-41d4-a716-446655440000",
    "12345678-1234-4234-8234-123456789012",
    "2026-11-28T12:30:45.123456Z 12:30:45 +1030 2026 28/Nov/2026:12:30:45 +1000 2026-11-28 12:30:45+1030",
    "1795264496 1795264496123 1795264496123456 1795264496123456789",
    "4111111111111112 411111111111 41111111111111111111 0.4111111111111111",
    "v1.2.3.4 version 10.0.0.1 Chrome/120.0.0.0 Edg/120.0.2210.91 1.2.3 1.3.6.1.4.1 256.1.1.1",
    "1.0.0+20130313144700 a+b +12 45 react@18.2.0 git@localhost @user",
    "d41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "AD1200012030200359100100ffffffff41111111111111111111111111111111",
    "00:1a:2b:3c:4d:5e 16:a3:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd 10:15:30 std::f64 a::b ::",
    "bearer authentication failed, the bearer of news; Bearer token is missing",
    "DE89370400440532013001 eyJ eyJhbGciOiJIUzI1NiJ9 ll_short sb_secret_ AKIA1234 all_rules",
  ];
  for (const name of names) {
    for (const text of harmless) assert.deepEqual(foundBy(name, text), [], `${name} in ${text}`);
  }
});

Deno.test("twice the text takes a detector no more than about twice the time", () => {
  const pieces = [
    "a",
    "1",
    "a@",
    "eyJ",
    "eyJ.",
    "1.",
    "1 ",
    ":",
    "a:",
    "+1",
    "DE89",
    "bearer ",
    "A3T",
    "ll_",
  ];
  for (const [name, { find }] of detectors) {
    for (const piece of pieces) {
      const [one, four] = [32_768, 131_072].map((length) => {
        const text = piece.repeat(length / piece.length);
        return Math.min(...[1, 2, 3].map(() => processorMs(() => find(text, () => {}))));
      });
      assert.ok(four < 12 * one + 5, `${name} of ${piece}: ${one} ms, then ${four} ms`);
    }
  }
});
