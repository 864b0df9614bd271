import assert from "node:assert/strict";
import { createGunzip, createInflateRaw, deflateRawSync, gzipSync } from "node:zlib";
import { inflate } from "./body.ts";

const inflated = 100_000_000;
const enough = 8_000_000;
const pieceBytes = 4096;

for (
  const { name, bomb, create } of [
    { name: "gzip", bomb: gzipSync(new Uint8Array(inflated)), create: createGunzip },
    { name: "deflate", bomb: deflateRawSync(new Uint8Array(inflated)), create: createInflateRaw },
  ]
) {
  Deno.test(`of a ${name} bomb no more is taken than what is read`, async () => {
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
    // Deflate makes at most 1,032 bytes of one; the pieces on their way wait to be inflated.
    const most = enough / inflated * bomb.length + 16 * pieceBytes;
    assert.ok(read > enough && taken < most, `${taken} of ${bomb.length} bytes`);
  });
}
