import assert from "node:assert/strict";

const checkout = new URL("../../../../..", import.meta.url).pathname;

/** Messages of PostgreSQL's protocol: a letter, the length, and the content. */
const authenticationOk = [0x52, 0, 0, 0, 8, 0, 0, 0, 0];
const readyForQuery = [0x5a, 0, 0, 0, 5, 0x49];

Deno.test("Ctrl-C ends the wait for a database that never answers", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--cached-only",
      `--config=${checkout}deno.json`,
      "--allow-all",
      `${checkout}cli/logloom.ts`,
      "uninstall",
      `postgresql://postgres:p@127.0.0.1:${listener.addr.port}/postgres`,
      "--yes-delete-all-logs",
    ],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  using connection = await accepted;
  await connection.read(new Uint8Array(1000));
  // The server accepts the connection but never answers a statement.
  await connection.write(new Uint8Array([...authenticationOk, ...readyForQuery]));
  await connection.read(new Uint8Array(1000));
  const patience = setTimeout(() => child.kill("SIGKILL"), 300_000);
  child.kill("SIGINT");
  const { code, stderr } = await child.output();
  clearTimeout(patience);
  assert.deepEqual([code, new TextDecoder().decode(stderr)], [130, ""]);
});
