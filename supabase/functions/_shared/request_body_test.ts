import assert from "node:assert/strict";
import { maxTakenBytes, takingBodies } from "./request_body.ts";
import { trickle } from "./testing.ts";

/** A server that answers without reading the body. */
function startHasty(timeoutMs?: number) {
  const handler = takingBodies(() => Promise.resolve(Response.json({ done: true })), timeoutMs);
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
}

/** Sends a body before reading the answer, twice on one connection. */
async function sendTwice(port: number, length: number): Promise<string[]> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const chunk = new Uint8Array(1_000_000);
  const answers: string[] = [];
  for (let time = 0; time < 2; time++) {
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
    await write(connection, new TextEncoder().encode(head));
    for (let left = length; left > 0; left -= chunk.length) {
      await write(connection, chunk.subarray(0, left));
    }
    const answer = new Uint8Array(4096);
    const count = await connection.read(answer);
    answers.push(new TextDecoder().decode(answer.subarray(0, count ?? 0)));
  }
  return answers;
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

Deno.test("a client that sends its whole body before it reads gets the answer, and may send again", async () => {
  await using server = startHasty();
  for (const length of [0, 1, 5_000_000, maxTakenBytes]) {
    for (const answer of await sendTwice(server.addr.port, length)) {
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/, `${length} bytes`);
      assert.match(answer, /\r\n\r\n{"done":true}$/);
      assert.doesNotMatch(answer, /connection: close/i);
    }
  }
});

Deno.test("a slow body is read until its time is over, and no longer", async () => {
  await using server = startHasty(300);
  const { status, body, took } = await trickle(`http://127.0.0.1:${server.addr.port}/`, {}, 20);
  assert.deepEqual([status, body], [200, '{"done":true}']);
  assert.ok(took > 250, `${took} ms`);
});
