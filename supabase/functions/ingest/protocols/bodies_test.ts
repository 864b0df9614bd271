import assert from "node:assert/strict";
import { deflateSync, gzipSync } from "node:zlib";
import { receive } from "../testing_protocols.ts";

const json = { "Content-Type": "application/json" };

Deno.test("Snappy outside Loki gets 415 and is not stored as text", async () => {
  const body = new Uint8Array([5, 16, 104, 101, 108, 108, 111]);
  const headers = { "Content-Encoding": "snappy" };
  for (
    const path of [
      "/lines",
      "/v1/logs",
      "/gelf",
      "/services/collector",
      "/api/v2/logs",
      "/es/_bulk",
    ]
  ) {
    const { status, events } = await receive(path, { headers, body });
    assert.deepEqual([status, events], [415, []], path);
  }
  const { status } = await receive("", { headers: { ...headers, ...json }, body });
  assert.equal(status, 400);
});

Deno.test("UTF-16 is text, with and without a byte order mark", async () => {
  const text = "gr\u00fc\u00dfe ERROR\r\nzwei\r\n";
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  for (const order of [[0, 8], [8, 0]]) {
    for (const mark of [[0xfeff], []]) {
      const body = new Uint8Array(
        [...mark, ...units].flatMap((unit) => order.map((bits) => (unit >> bits) & 0xff)),
      );
      const { status, events } = await receive("/lines", { body });
      assert.equal(status, 200);
      assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe ERROR" }, { msg: "zwei" }]);
    }
  }
});

Deno.test("text has the charset that its type names", async () => {
  const body = Uint8Array.from("gr\u00fc\u00dfe", (letter) => letter.charCodeAt(0));
  for (const type of ["text/plain; charset=iso-8859-1", 'text/plain;Charset="latin1"']) {
    const { events } = await receive("/lines", { headers: { "Content-Type": type }, body });
    assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe" }], type);
  }
  const unknown = { "Content-Type": "text/plain; charset=klingon" };
  const { events } = await receive("/lines", { headers: unknown, body: "gr\u00fc\u00dfe" });
  assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe" }]);
});

Deno.test("a body that is still compressed gets 415 and is not stored as text", async () => {
  const twice = new Uint8Array(gzipSync(gzipSync("hello")));
  const mixed = new Uint8Array(gzipSync(deflateSync("hello")));
  const noise = Uint8Array.from({ length: 300 }, (_, n) => (n * 89) % 256);
  for (
    const [path, encoding, body, error] of [
      ["/lines", "gzip", twice, "Request body is compressed twice"],
      ["/lines", "deflate, gzip", mixed, "Request body is compressed twice"],
      [
        "/lines",
        "",
        noise,
        "The body is not text. It may be compressed with gzip, deflate or zstd",
      ],
      ["/gelf", "", noise, "The body is not text. It may be compressed with gzip, deflate or zstd"],
    ] as const
  ) {
    const headers: Record<string, string> = encoding === "" ? {} : { "Content-Encoding": encoding };
    const { status, text, events } = await receive(path, { headers, body });
    assert.deepEqual([status, JSON.parse(text), events], [415, { error }, []], encoding);
  }
  const raw = await receive("/services/collector/raw", { body: noise });
  assert.deepEqual([raw.status, raw.events], [400, []]);
  const fix = Array.from({ length: 9 }, (_, n) => `${n}=a\x01`).join("");
  assert.deepEqual((await receive("/lines", { body: fix })).events, [{ msg: fix }]);
});

Deno.test("a body with Content-Encoding: none is read as it is", async () => {
  const { events } = await receive("/lines", {
    headers: { "Content-Encoding": "none" },
    body: "a",
  });
  assert.deepEqual(events, [{ msg: "a" }]);
});

Deno.test("JSON text sequences and concatenated files are read line by line", async () => {
  const body = '\x1e{"msg":"a"}\n\ufeff{"msg":"b"}\n';
  assert.deepEqual((await receive("/lines", { body })).events, [{ msg: "a" }, { msg: "b" }]);
});

const receivers = ["/api/v2/logs", "/betterstack", "/logflare/logs", "/gelf", "/logs/ingest"];

Deno.test("JSON over several lines is one event or a refusal, and not a message for each line", async () => {
  for (const path of [...receivers, "/drain/vercel", "/drain/supabase", "/v1/ingest/shop"]) {
    const whole = await receive(path, { headers: json, body: '{\n  "message": "a",\n  "n": 1\n}' });
    assert.deepEqual(whole.events.map(({ msg }) => msg), ["a"], path);
    const broken = await receive(path, {
      headers: json,
      body: '[\n  {\n    "message": "a"\n  },\n',
    });
    assert.deepEqual([broken.status, broken.events], [400, []], path);
    assert.match(broken.text, /Invalid JSON at line 5, column 1: it ends early/, path);
  }
});
