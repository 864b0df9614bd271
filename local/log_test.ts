import { strictEqual } from "node:assert/strict";
import { BoundedLog } from "./log.ts";

const megabyte = 1024 * 1024;

Deno.test("a log keeps what was said last and never grows beyond two files of 5 MB", async () => {
  const folder = await Deno.makeTempDir({ prefix: "logloom-" });
  try {
    const path = `${folder}/server.log`;
    const log = await BoundedLog.open(path);
    const lines = ["x".repeat(megabyte - 1) + "\n", "the last words\n"];
    for (let turn = 0; turn < 14; turn += 1) await log.take(ReadableStream.from([bytes(lines[0])]));
    await log.take(ReadableStream.from([bytes(lines[1])]));
    log.close();
    strictEqual(log.lastLine, "the last words");
    strictEqual((await Deno.stat(`${path}.1`)).size, 5 * megabyte);
    strictEqual((await Deno.stat(path)).size, 4 * megabyte + lines[1].length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
