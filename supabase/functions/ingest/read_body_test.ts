import assert from "node:assert/strict";
import { createGunzip, createInflateRaw, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { inflate } from "./read_body.ts";
import { pushed } from "./protocols/testing_loki_requests.ts";
import { asProtobuf } from "./protocols/testing_otlp_requests.ts";
import { receive } from "./testing_protocols.ts";

const inflated = 100_000_000;
const enough = 8_000_000;
const pieceBytes = 4096;

for (
  const { name, bomb, create } of [
    { name: "gzip", bomb: gzipSync(new Uint8Array(inflated)), create: createGunzip },
    { name: "deflate", bomb: deflateRawSync(new Uint8Array(inflated)), create: createInflateRaw },
  ]
) {
  Deno.test(`a ${name} bomb is only decompressed as far as it is read`, async () => {
    let taken = 0;
    function* pieces() {
      for (let at = 0; at < bomb.length; at += pieceBytes) {
        const piece = new Uint8Array(bomb.subarray(at, at + pieceBytes));
        taken += piece.length;
        yield piece;
      }
    }
    let read = 0;
    for await (const chunk of inflate(create(), pieces())) {
      read += chunk.length;
      if (read > enough) break;
    }
    // Deflate makes at most 1,032 bytes of one. Some pieces may be read ahead.
    const most = enough / inflated * bomb.length + 16 * pieceBytes;
    assert.ok(read > enough && taken < most, `${taken} of ${bomb.length} bytes`);
  });
}

/** Texts of many lengths, because the length changes the first bytes of their compressed forms. */
const texts = Array.from({ length: 40 }, (_, n) => `card declined ${"x".repeat(n)}`);

Deno.test("the first bytes decide the encoding of a body, whatever is announced", async () => {
  const packings: ((text: string) => Uint8Array<ArrayBuffer>)[] = [
    (text) => new TextEncoder().encode(text),
    (text) => new Uint8Array(gzipSync(text)),
    ...[1, 5, 6, 9].map((level) => (text: string) => new Uint8Array(deflateSync(text, { level }))),
  ];
  for (const pack of packings) {
    for (const announced of ["", "gzip", "x-gzip", "deflate", "zstd", "gzip,deflate", "identity"]) {
      const body = pack(texts.join("\n"));
      const { status, events } = await receive("/lines", {
        headers: announced === "" ? {} : { "Content-Encoding": announced },
        body,
      });
      assert.deepEqual([status, events.map(({ msg }) => msg)], [200, texts], announced);
    }
  }
});

Deno.test("a text that begins like zlib is a text", async () => {
  // The first two bytes of zlib data that are printable characters.
  for (const start of ["x^", "8O", "8n", "HK", "H\r", "(S", "XG", "X\t", "hC", "x ", "80", "H,"]) {
    for (const announced of ["identity", "gzip"]) {
      const text = `${start} marks the spot`;
      const { status, events } = await receive("/lines", {
        headers: { "Content-Encoding": announced },
        body: text,
      });
      assert.deepEqual([status, events], [200, [{ msg: text }]]);
    }
  }
});

Deno.test("unannounced Snappy of any length is never read as zlib", async () => {
  for (const text of texts) {
    const { status, events } = await receive("/loki/api/v1/push", {
      headers: { "Content-Type": "application/x-protobuf" },
      body: pushed('{a="b"}', [[text]]),
    });
    assert.deepEqual([status, events.map(({ msg }) => msg)], [204, [text]]);
  }
});

Deno.test("protobuf that is announced as gzip but not compressed is read", async () => {
  const body = asProtobuf({ records: [{ nanos: 1795264496123456000n, body: "card declined" }] });
  const headers = { "Content-Type": "application/x-protobuf" };
  for (const announced of ["gzip", "zstd", "deflate"]) {
    const { status, events } = await receive("/v1/logs", {
      headers: { ...headers, "Content-Encoding": announced },
      body: new Uint8Array(body),
    });
    assert.deepEqual([status, events.map(({ msg }) => msg)], [200, ["card declined"]], announced);
  }
  const raw = await receive("/v1/logs", {
    headers: { ...headers, "Content-Encoding": "deflate" },
    body: new Uint8Array(deflateRawSync(body)),
  });
  assert.deepEqual([raw.status, raw.events.length], [200, 1]);
});

Deno.test("a body that is announced as compressed, but is neither compressed nor text, is refused", async () => {
  const zlib = new Uint8Array(deflateSync(texts.join("\n")));
  const broken: [string, Uint8Array<ArrayBuffer>, string][] = [
    ["gzip", new Uint8Array(gzipSync("x".repeat(100)).subarray(0, 20)), "gzip"],
    ["gzip", new Uint8Array([0, 1, 2, 3]), "gzip"],
    ["zstd", new Uint8Array([0xff, 0xfe]), "zstd"],
    ["deflate", zlib.slice(0, -9), "deflate"],
    ["deflate", new Uint8Array([0x78, 0x9c, 0xff]), "deflate"],
  ];
  for (const [announced, body, name] of broken) {
    const { status, text } = await receive("/lines", {
      headers: { "Content-Encoding": announced },
      body,
    });
    assert.deepEqual([status, text], [400, `{"error":"Request body is not valid ${name}"}`]);
  }
});
