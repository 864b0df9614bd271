import assert from "node:assert/strict";
import { blockOf, flooded, longTest, type Trial, withTrial } from "./sender.ts";
import { pause } from "../support/eventually.ts";
import { onlyIf } from "../support/skip_unless.ts";

// Neither Debian nor npm has Fluent Bit. supabase/functions/ingest/protocols/shippers_test.ts replays the requests that
// version 5.1.1 sent with these pages' blocks. If LOGLOOM_FLUENT_BIT names a binary, this test runs it.
const program = Deno.env.get("LOGLOOM_FLUENT_BIT") ?? "";

const outputs = [
  { page: "json.md", block: "fluent-bit-http.conf", credentials: /^ +header X-API-Key / },
  { page: "elasticsearch.md", block: "fluent-bit-es.conf", credentials: /^ +http_user / },
  { page: "loki.md", block: "fluent-bit-loki.conf", credentials: /^ +http_user / },
];

/** Runs Fluent Bit with the page's configuration on a new file, and passes the file's path. */
async function withFluentBit(
  { env }: Trial,
  config: string,
  act: (file: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "logloom-fluent-bit-" });
  const { hostname, port } = new URL(env.LOGLOOM_URL);
  await Deno.writeTextFile(
    `${folder}/conf`,
    config.replace("host 127.0.0.1", `host ${hostname}`)
      .replace("port 54321", `port ${port}`)
      .replaceAll("/var/lib/fluent-bit", folder)
      .replaceAll("/var/log/", `${folder}/`),
  );
  await Deno.writeTextFile(`${folder}/app.log`, "");
  const child = new Deno.Command(program, {
    args: ["-c", `${folder}/conf`],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await act(`${folder}/app.log`);
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  }
}

for (const { page, block, credentials } of outputs) {
  Deno.test(`Fluent Bit, ${block}: sends a key, stores waiting events, and never gives up`, async () => {
    const lines = (await blockOf(page, block)).split("\n");
    for (
      const needed of [credentials, /^ +retry_limit no_limits$/, /^ +storage.type filesystem$/]
    ) {
      assert.equal(lines.filter((line) => needed.test(line)).length, 1, String(needed));
    }
  });

  for (const away of ["refuses", "is not there"] as const) {
    longTest({
      name: `Fluent Bit, ${block}: 20,000 lines, while the service ${away} for ten seconds`,
      ...onlyIf(program !== "", "LOGLOOM_FLUENT_BIT names no program"),
      fn: () =>
        withTrial(
          "fluent-bit",
          async (trial) =>
            withFluentBit(trial, await blockOf(page, block), (file) =>
              flooded(trial, {
                away,
                say: async (from, to) => {
                  for (let n = from; n < to; n += 500) {
                    const lines = Array.from({ length: 500 }, (_, at) => `event ${n + at}\n`);
                    await Deno.writeTextFile(file, lines.join(""), { append: true });
                    await pause(200);
                  }
                },
                mostDoubled: 0,
              })),
        ),
    });
  }
}
