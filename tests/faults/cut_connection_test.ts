import assert from "node:assert/strict";
import net, { type AddressInfo } from "node:net";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";

/** Makes a proxy to the database that cuts each connection during its statements. */
async function cutter(): Promise<{ url: string } & AsyncDisposable> {
  const database = new URL(stack.adminDatabaseUrl);
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const upstream = net.connect(Number(database.port), database.hostname);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    upstream.pipe(client);
    let left = 4 + Math.random() * 20;
    client.on("data", (data) => {
      upstream.write(data);
      if (left-- > 0) return;
      upstream.unpipe(client);
      client.end();
      upstream.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = new URL(database);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await new Promise((closed) => server.close(closed));
    },
  };
}

Deno.test("with cut connections each statement fails, and the test continues", async () => {
  await using proxy = await cutter();
  await using sql = openDatabase(proxy.url, 4, { isCut: true });
  const answers = { given: 0, refused: 0 };
  const sendUntilCut = async () => {
    while (answers.refused < 200) {
      try {
        await sql`select ${answers.given}::integer`;
        answers.given++;
      } catch (error) {
        // The second code is for a cut that the kernel noticed first.
        assert.match(String((error as { code?: string }).code), /^(CONNECTION_CLOSED|ECONNRESET)$/);
        answers.refused++;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendUntilCut));
  assert.ok(answers.given > 0);
});
