import { strictEqual } from "node:assert/strict";
import { BoundedLog } from "./bounded_log.ts";
import { tempFolder } from "../tests/support/temp_folder.ts";

const megabyte = 1024 * 1024;

Deno.test("a log keeps its last lines and never grows beyond two files of 5 MB", async () => {
  await using temp = await tempFolder();
  const folder = temp.path;
  const path = `${folder}/server.log`;
  const log = await BoundedLog.open(path);
  const lines = ["x".repeat(megabyte - 1) + "\n", "the last words\n"];
  for (let turn = 0; turn < 14; turn += 1) await log.take(ReadableStream.from([bytes(lines[0])]));
  await log.take(ReadableStream.from([bytes(lines[1])]));
  log.close();
  strictEqual(log.lastLine, "the last words");
  strictEqual((await Deno.stat(`${path}.1`)).size, 5 * megabyte);
  strictEqual((await Deno.stat(path)).size, 4 * megabyte + lines[1].length);
});

Deno.test("a log contains no key, no token and no URL's query string, even if the output arrives in pieces", async () => {
  await using temp = await tempFolder();
  const folder = temp.path;
  const log = await BoundedLog.open(`${folder}/gateway.log`);
  const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl-_A";
  const key = `12345678${"k".repeat(28)}`;
  const said = `[error] request: "POST /lines?a=1&token=${key} HTTP/1.1", ` +
    `upstream: "http://127.0.0.1:1/lines?token=${key}"\n` +
    `"GET /v1/input/ll_${key}" llt_${key} llp_${key} Bearer ${token}. What?\n`;
  await log.take(ReadableStream.from([...said].map(bytes)));
  log.close();
  strictEqual(
    await Deno.readTextFile(log.path),
    `[error] request: "POST /lines?… HTTP/1.1", upstream: "http://127.0.0.1:1/lines?…"\n` +
      `"GET /v1/input/ll_12345678…" llt_12345678… llp_12345678… Bearer eyJ…. What?\n`,
  );
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
