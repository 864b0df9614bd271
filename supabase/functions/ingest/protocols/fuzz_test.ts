import assert from "node:assert/strict";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { startFuzzed } from "../testing_storable.ts";
import { type Bytes, encodings, magics, seeds, sound, utf8 } from "./testing_fuzzed_bodies.ts";

Deno.test("cut, changed and repeated bytes of every protocol are accepted or refused without an error of ours", async () => {
  await using fuzzed = startFuzzed();
  for (const [path, headers, seed] of seeds) {
    assert.ok(sound.has(await fuzzed.send(path, seed, headers)), path);
    for (let cut = 0; cut < seed.length; cut += Math.ceil(seed.length / 40)) {
      const status = await fuzzed.send(path, seed.slice(0, cut), headers);
      assert.ok(sound.has(status), `${status} for ${path} cut at ${cut}`);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.constantFrom(...encodings),
        async (changes, encoding) => {
          const body = seed.slice();
          for (const [at, byte] of changes) body[at] = byte;
          const more: Record<string, string> = encoding === ""
            ? {}
            : { "Content-Encoding": encoding };
          const status = await fuzzed.send(path, body, { ...headers, ...more });
          assert.ok(sound.has(status), `${status} for ${path}`);
        },
      ),
      { numRuns: 30 },
    );
  }
});

Deno.test("random bytes of every protocol and encoding are accepted or refused", async () => {
  await using fuzzed = startFuzzed();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.constantFrom(...magics),
      fc.uint8Array({ maxLength: 120 }),
      fc.constantFrom(...encodings, "br"),
      async ([path, headers], magic, bytes, encoding) => {
        const more: Record<string, string> = encoding === ""
          ? {}
          : { "Content-Encoding": encoding };
        const body = new Uint8Array([...magic, ...bytes]);
        const status = await fuzzed.send(path, body, { ...headers, ...more });
        assert.ok(sound.has(status), `${status} for ${path}`);
      },
    ),
    { numRuns: 400 },
  );
});

/** Zeros, as a zstd frame of blocks that each repeat one byte. */
function zstdOfZeros(bytes: number): Bytes {
  const block = 128 * 1024;
  const count = Math.ceil(bytes / block);
  const blocks = Array.from({ length: count }, (_, n) => {
    const header = (block << 3) | 2 | (n === count - 1 ? 1 : 0);
    return [header & 255, (header >> 8) & 255, header >> 16, 0];
  });
  return new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38, ...blocks.flat()]);
}

/** Zeros, as a Snappy block of copies. */
function snappyOfZeros(bytes: number): Bytes {
  const head: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 128)) {
    head.push(rest % 128 + (rest >= 128 ? 128 : 0));
  }
  const copies = new Uint8Array(3 * Math.floor((bytes - 1) / 64));
  for (let at = 0; at < copies.length; at += 3) copies.set([63 << 2 | 2, 1, 0], at);
  return new Uint8Array([...head, 0, 0, ...copies]);
}

Deno.test("bombs of every encoding are refused because of their size", async () => {
  await using fuzzed = startFuzzed();
  const zeros = new Uint8Array(100_000_000);
  const bombs: [string, string, Bytes][] = [
    ["/lines", "gzip", new Uint8Array(gzipSync(zeros))],
    ["/lines", "deflate", new Uint8Array(deflateSync(zeros))],
    ["/lines", "deflate", new Uint8Array(deflateRawSync(zeros))],
    ["/lines", "zstd", zstdOfZeros(100_000_000)],
    ["/lines", "gzip", zstdOfZeros(100_000_000)],
    ["/loki/api/v1/push", "", snappyOfZeros(100_000_000)],
  ];
  for (const [path, encoding, body] of bombs) {
    const headers: Record<string, string> = encoding === "" ? {} : { "Content-Encoding": encoding };
    assert.equal(await fuzzed.send(path, body, headers), 413, encoding);
  }
  const windowOf2GB = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0]);
  assert.ok(sound.has(await fuzzed.send("/lines", windowOf2GB)));
  // A literal of negative length makes some readers loop.
  const backwards = new Uint8Array([8, 63 << 2, 0xfa, 0xff, 0xff, 0xff, 0, 0]);
  assert.equal(await fuzzed.send("/loki/api/v1/push", backwards), 400);
});

Deno.test("a zstd body arrives unchanged", async () => {
  await using fuzzed = startFuzzed();
  const line = utf8('{"message":"a"}');
  const header = (line.length << 3) | 1;
  const raw = [header & 255, header >> 8, 0, ...line];
  const frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38, ...raw];
  const skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2];
  for (const body of [frame, [...skippable, ...frame], [...frame, ...frame]]) {
    assert.equal(await fuzzed.send("/lines", new Uint8Array(body)), 200);
  }
  assert.equal(await fuzzed.send("/lines", new Uint8Array(frame.slice(0, -1))), 400);
});

/** A varint of any length. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest >= 0; rest = Math.floor(rest / 128)) {
    bytes.push(rest % 128 + (rest >= 128 ? 128 : 0));
    if (rest < 128) break;
  }
  return bytes;
}

/** An AnyValue of nested lists in protobuf, built from the innermost one. */
function nestedValue(depth: number): Bytes {
  const parts: number[][] = [];
  let length = 0;
  for (let level = 0; level < depth; level++) {
    const list = [0x0a, ...varint(length)];
    const value = [0x2a, ...varint(length + list.length)];
    parts.push(list, value);
    length += list.length + value.length;
  }
  return new Uint8Array(parts.reverse().flat());
}

function wrapped(field: number, inner: Bytes): Bytes {
  return new Uint8Array([field << 3 | 2, ...varint(inner.length), ...inner]);
}

Deno.test("nested and wide bodies are accepted, or refused with the right status", async () => {
  await using fuzzed = startFuzzed();
  const mib = 1024 * 1024;
  const json = { "Content-Type": "application/json" };
  const protobuf = { "Content-Type": "application/x-protobuf" };
  const msgpack = { "Content-Type": "application/msgpack" };
  const body = wrapped(5, nestedValue(100_000));
  const record = wrapped(1, wrapped(2, wrapped(2, body)));
  const bodies: [string, string, Record<string, string>, Bytes, number[]][] = [
    ["deep JSON", "/v1/logs", json, utf8("[".repeat(7 * mib)), [400]],
    ["deep objects", "/lines", {}, utf8('{"a":'.repeat(mib)), [400]],
    ["wide JSON", "/v1/logs", json, utf8(`[${"[],".repeat(2 * mib)}[]]`), [400]],
    ["many numbers", "/drain/vercel", json, utf8(`[${"1,".repeat(3 * mib)}1]`), [400]],
    ["many lines", "/lines", {}, utf8("a\n".repeat(3 * mib)), [413]],
    ["no lines", "/lines", {}, utf8("\n".repeat(7 * mib)), [200]],
    ["one line", "/lines", {}, utf8("a=1 ".repeat(mib)), [200]],
    ["quotes", "/services/collector", {}, utf8('"'.repeat(7 * mib)), [400]],
    ["braces", "/services/collector", {}, utf8("{}".repeat(2 * mib)), [400, 413]],
    ["backslashes", "/lines", {}, utf8(`{"a":"${"\\".repeat(500_000)}`), [200]],
    ["deep AnyValue", "/v1/logs", protobuf, record, [200]],
    ["empty resources", "/v1/logs", protobuf, new Uint8Array(2 * mib).fill(0x0a), [200, 400]],
    ["empty records", "/v1/logs", protobuf, wrapped(1, wrapped(2, pairs(0x12, 3 * mib))), [
      400,
      413,
    ]],
    ["empty attributes", "/v1/logs", protobuf, wrapped(1, wrapped(1, pairs(0x0a, 3 * mib))), [400]],
    ["huge varint", "/v1/logs", protobuf, new Uint8Array(20).fill(0xff), [400]],
    ["length beyond", "/v1/logs", protobuf, new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0x7f]), [400]],
    ["huge array", "/betterstack", msgpack, new Uint8Array([0xdd, 255, 255, 255, 255]), [400]],
    ["arrays in arrays", "/betterstack", msgpack, repeated([0xdd, 0, 255, 255, 255], mib), [400]],
    ["deep arrays", "/betterstack", msgpack, new Uint8Array(mib).fill(0x91), [400]],
    ["huge map", "/betterstack", msgpack, new Uint8Array([0xdf, 255, 255, 255, 255]), [400]],
    ["labels", "/loki/api/v1/push", json, utf8(labelled(300_000)), [400]],
    ["actions", "/es/_bulk", {}, utf8('{"delete":{}}\n'.repeat(300_000)), [413]],
    ["a huge frame", "/drain/heroku", {}, utf8("99999999 a"), [204]],
    ["many frames", "/drain/heroku", {}, utf8("1 a".repeat(mib)), [413]],
    ["exponents", "/lines", {}, utf8(`{"a":[${"1.00000000000000000001e300,".repeat(9000)}1]}`), [
      200,
    ]],
    ["a huge exponent", "/lines", {}, utf8('{"a":0e999999999,"b":1e999999999}'), [200]],
  ];
  for (const [name, path, headers, bytes, statuses] of bodies) {
    const status = await fuzzed.send(path, bytes, headers);
    assert.ok(statuses.includes(status), `${name}: ${status}`);
  }
});

/** Messages without content, one after another. */
function pairs(tag: number, count: number): Bytes {
  return repeated([tag, 0], count);
}

function repeated(bytes: number[], count: number): Bytes {
  const all = new Uint8Array(bytes.length * count);
  for (let at = 0; at < all.length; at += bytes.length) all.set(bytes, at);
  return all;
}

function labelled(count: number): string {
  const labels = Array.from({ length: count }, (_, n) => `"l${n}":"x"`).join(",");
  return `{"streams":[{"stream":{${labels}},"values":[["1","a"],["2","b"]]}]}`;
}
