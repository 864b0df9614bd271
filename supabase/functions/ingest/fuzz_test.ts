import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { startFuzzed } from "./testing_storable.ts";

const json = { "Content-Type": "application/json" };

/** The expected status by JSON.parse and the interface's own rules. */
function expectedStatus(bytes: Uint8Array): 200 | 400 {
  const text = new TextDecoder().decode(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return beginsLikeNdjson(text) ? 200 : 400;
  }
  if (typeof body !== "object" || body === null) return 400;
  if (Array.isArray(body) || !("logs" in body)) return 200;
  if (["ts", "level", "msg", "attrs"].some((field) => Object.hasOwn(body, field))) return 200;
  return typeof body.logs === "object" && body.logs !== null ? 200 : 400;
}

function beginsLikeNdjson(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2) return false;
  try {
    const first = JSON.parse(lines[0]);
    return typeof first === "object" && first !== null && !Array.isArray(first);
  } catch {
    return false;
  }
}

const jsonToken = fc.constantFrom(
  ...'{ } [ ] , : " \\ \\u0000 \\ud800 \\udc00 null true 0 -0 1e999 1E-999 12345678901234567890 1.50'
    .split(" "),
  ...["ts", "level", "attrs", "msg", "logs", "__proto__"].map((name) => `"${name}":`),
  '"a"',
  "{}",
  "[]",
  " ",
  "\n",
  "é",
  "😀",
  "\0",
);

const value = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "0", "-0.0", "1e5", "1e400", "-1e-400", "99999999999999999999"),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0000"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\\\u0000"'),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(", ")}]`),
    fc.array(
      fc.tuple(
        fc.oneof(
          fc.constantFrom("ts", "level", "msg", "host", "attrs", "__proto__", "toJSON", "a\0"),
          fc.string(),
        ),
        tie("value"),
      ),
      { maxLength: 6 },
    ).map((members) => `{${members.map(([key, of]) => `${JSON.stringify(key)}:${of}`).join(",")}}`),
  ),
})).value;

Deno.test("random bytes get the status that their content requires", async () => {
  await using fuzzed = startFuzzed();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      assert.equal(await fuzzed.send("", new Uint8Array(bytes), json), expectedStatus(bytes));
    }),
    { numRuns: 300 },
  );
});

Deno.test("random pieces of JSON get the status that they require", async () => {
  await using fuzzed = startFuzzed();
  await fc.assert(
    fc.asyncProperty(fc.array(jsonToken, { maxLength: 30 }), async (tokens) => {
      const bytes = new TextEncoder().encode(tokens.join(""));
      assert.equal(await fuzzed.send("", bytes, json), expectedStatus(bytes), tokens.join(""));
    }),
    { numRuns: 500 },
  );
});

Deno.test("random events are never refused as a whole, and can always be stored", async () => {
  await using fuzzed = startFuzzed();
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 5 }), async (events) => {
      const body = `[${events.join(",")}]`;
      assert.equal(await fuzzed.send("", body, json), 200, body);
    }),
    { numRuns: 500 },
  );
});

Deno.test("random compressed bytes are 200, 400 or 413", async () => {
  await using fuzzed = startFuzzed();
  const encoding = fc.constantFrom("gzip", "deflate", "br", "gzip, gzip", "");
  await fc.assert(
    fc.asyncProperty(encoding, fc.uint8Array({ maxLength: 100 }), async (name, bytes) => {
      const compressed = new Uint8Array(gzipSync('[{"msg":"a"}]'));
      compressed.set(bytes.slice(0, compressed.length - 10), 10);
      const status = await fuzzed.send("", compressed, { ...json, "Content-Encoding": name });
      assert.ok([200, 400, 413].includes(status), String(status));
    }),
    { numRuns: 200 },
  );
});

Deno.test("extreme bodies within the limits are taken", async () => {
  await using fuzzed = startFuzzed();
  const limit = 512_000;
  const extremes: Record<string, string> = {
    "10,000 empty events": `[${Array(10_000).fill("{}").join(",")}]`,
    "one text of all bytes": `{"msg":"${"x".repeat(limit - 10)}"}`,
    "one key of all bytes": `{"${"x".repeat(limit - 6)}":1}`,
    "one number of all bytes": `{"a":${"9".repeat(limit - 6)}}`,
    "one number as text": `{"msg":${"9".repeat(limit - 8)}}`,
    "one ts of all bytes": `{"ts":${"9".repeat(limit - 7)}}`,
    "only brackets": `[${"[".repeat(limit / 2 - 1)}${"]".repeat(limit / 2 - 1)}]`,
    "an attribute of brackets": `{"a":${"[".repeat(255_990)}${"]".repeat(255_990)}}`,
    "nested objects": `{"a":${'{"a":'.repeat(80_000)}1e400${"}".repeat(80_000)}}`,
    "only NUL": `{"msg":"${"\\u0000".repeat(85_000)}"}`,
    "only half surrogates": `{"msg":"${"\\ud800".repeat(85_000)}"}`,
    "only quotes": `{"msg":"${'\\"'.repeat(255_000)}"}`,
    "only backslashes": `{"msg":"${"\\\\".repeat(255_000)}","n":1e5}`,
    "only risky numbers": `{"a":[${Array(100_000).fill("1e5").join(",")}]}`,
    "only strings of risky numbers": `{"a":[${Array(50_000).fill('",1e5"').join(",")}],"n":1e5}`,
    "only white space": `${" ".repeat(limit / 2)}[${" ".repeat(limit / 2 - 2)}]`,
    "one member many times": `{${Array(50_000).fill('"msg":1').join(",")}}`,
    "many members": `{${Array.from({ length: 40_000 }, (_, n) => `"k${n}":1`).join(",")}}`,
    "many numbered members": `{${
      Array.from({ length: 40_000 }, (_, n) => `"${n * 99}":1`).join(",")
    }}`,
    "invalid UTF-8 aside": `{"msg":"${"\u{10ffff}".repeat(100_000)}"}`,
  };
  for (const [name, body] of Object.entries(extremes)) {
    assert.ok(new TextEncoder().encode(body).length <= limit, name);
    const started = performance.now();
    assert.equal(await fuzzed.send("", body, json), 200, name);
    assert.ok(
      performance.now() - started < 60_000,
      `${name} took ${performance.now() - started} ms`,
    );
  }
});

Deno.test("bytes that are not UTF-8 become U+FFFD", async () => {
  await using fuzzed = startFuzzed();
  const bytes = new TextEncoder().encode('[{"msg":"abc","attrs":{"k":"é"}}]');
  for (const broken of [0xff, 0xc0, 0xed, 0x80]) {
    bytes[10] = broken;
    assert.equal(await fuzzed.send("", bytes, json), 200);
  }
});
