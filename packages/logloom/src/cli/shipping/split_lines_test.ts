import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { LineSplitter, readLines, textIn } from "./split_lines.ts";

function streamOf(...chunks: Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(chunks);
}

async function linesOf(...chunks: Uint8Array<ArrayBuffer>[]): Promise<string[]> {
  return (await Array.fromAsync(readLines(streamOf(...chunks)))).flat();
}

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("lines are the same however the bytes are cut", async () => {
  const line = fc.stringMatching(/^[^\r\n\0]*$/);
  await fc.assert(fc.asyncProperty(fc.array(line), fc.nat(7), async (lines, size) => {
    const bytes = encode(lines.map((one) => `${one.toWellFormed()}\n`).join(""));
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size + 1) chunks.push(bytes.slice(at, at + size + 1));
    const wellFormed = lines.map((one) => one.toWellFormed());
    if (wellFormed[0]?.startsWith("\uFEFF")) wellFormed[0] = wellFormed[0].slice(1);
    assert.deepEqual(await linesOf(...chunks), wellFormed);
  }));
});

Deno.test("a last line without a line break counts, and CRLF is a line break", async () => {
  assert.deepEqual(await linesOf(encode("a\r\nb\n\nc")), ["a", "b", "", "c"]);
  assert.deepEqual(await linesOf(encode("a\n")), ["a"]);
  assert.deepEqual(await linesOf(), []);
  assert.deepEqual(await linesOf(encode("a")), ["a"]);
});

Deno.test("compressed input is unpacked, with all members of a file", async () => {
  const packed = Buffer.concat([gzipSync("a\nb\n"), gzipSync("c\nd")]);
  assert.deepEqual(await linesOf(new Uint8Array(packed)), ["a", "b", "c", "d"]);
  await assert.rejects(linesOf(new Uint8Array(packed.subarray(0, -4))));
});

Deno.test("a line without end is cut, and the next one is whole", () => {
  const splitter = new LineSplitter();
  const piece = encode("x".repeat(300_000));
  for (let pieces = 0; pieces < 10; pieces++) assert.deepEqual(splitter.push(piece), []);
  const [cut, next] = splitter.push(encode("tail\nnext\n"));
  assert.equal(cut.length, 1_000_000);
  assert.equal(next, "next");
});

Deno.test("the zeros that truncating leaves at the beginning of a file are left out", async () => {
  const zeros = new Uint8Array(1_500_000);
  assert.deepEqual(await linesOf(zeros, zeros, encode("\0\0a\nb\n")), ["a", "b"]);
});

Deno.test("a file that is not text is refused", async () => {
  const noise = Uint8Array.from({ length: 3000 }, (_, n) => (n * 89) % 256);
  const read = (...chunks: Uint8Array<ArrayBuffer>[]) =>
    Array.fromAsync(textIn("app.log.xz", readLines(streamOf(...chunks))));
  await assert.rejects(read(noise), {
    message: "app.log.xz is not text. Of compressed files only gzip is read.",
  });
  await assert.rejects(read(new Uint8Array(gzipSync(noise))));
  assert.deepEqual(await read(encode("\x1b[31mred\x1b[0m\tgr\xfcn\n")), [[
    "\x1b[31mred\x1b[0m\tgrün",
  ]]);
});

Deno.test("UTF-16 with a byte order mark is decoded, however the bytes are cut", async () => {
  const text = "\uFEFFgrün\r\n😀 zwei\r\ndrei";
  for (const isLittle of [true, false]) {
    const view = new DataView(new ArrayBuffer(2 * text.length));
    for (let at = 0; at < text.length; at++) {
      view.setUint16(2 * at, text.charCodeAt(at), isLittle);
    }
    const bytes = new Uint8Array(view.buffer);
    const single = Array.from(bytes, (byte) => new Uint8Array([byte]));
    assert.deepEqual(await linesOf(bytes), ["grün", "😀 zwei", "drei"]);
    assert.deepEqual(await linesOf(...single), ["grün", "😀 zwei", "drei"]);
  }
});
