import assert from "node:assert/strict";
import {
  blockOf,
  declinedOfNobody,
  found,
  longTest,
  runProgram,
  sayingBy,
  tellNode,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";
import { eventually } from "../support/eventually.ts";
import { onlyIf } from "../support/skip_unless.ts";

const place = await debianSenders() ?? "";
const isOnDebian = () => onlyIf(!!place, "its programs are taken from Debian, as root");

/** Runs nginx with the page's block, on a free port. */
async function withProxy(
  { env }: Trial,
  act: (url: string, accessLog: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "logloom-nginx-" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const block = (await blockOf("others.md", "logflare-proxy.conf"))
    .replaceAll("http://127.0.0.1:54321", env.LOGLOOM_URL);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n");
  await Deno.writeTextFile(
    `${folder}/conf`,
    `daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
${temporary}
  access_log ${folder}/access.log combined;
  server {
    listen 127.0.0.1:${port};
${block}  }
}
`,
  );
  const child = new Deno.Command(`${place}/usr/sbin/nginx`, {
    args: ["-c", `${folder}/conf`, "-p", folder, "-e", `${folder}/error.log`],
    env: debianEnv(place),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await eventually("nginx listens", async () => {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return true;
    });
    await act(`http://127.0.0.1:${port}`, `${folder}/access.log`);
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: "pino-logflare: the example's event is found, and nginx's line about the request",
  ...isOnDebian(),
  fn: () =>
    withTrial("pino-logflare", (trial) =>
      withProxy(trial, async (url, accessLog) => {
        const program = await blockOf("others.md", "pino-logflare.mjs");
        // Times in nginx's lines have whole seconds.
        const began = Date.now() - 1000;
        await tellNode(
          { block: program },
          { ...trial.env, LOGFLARE_PROXY: url },
          async () => void await found(trial, declinedOfNobody),
        );

        const script = (await blockOf("json.md", "access-log.sh"))
          .replace(/^echo .* \|$/m, `cat ${accessLog} |`);
        assert.ok(script.includes(accessLog));
        await runProgram({ program: "bash", args: ["-euc", script], env: trial.env });
        const [line] = await found(trial, "service:web attrs.method:POST");
        const { status, client_ip, bytes } = line.attrs ?? {};
        assert.deepEqual([line.level, line.route, status, client_ip], [
          "info",
          "/logs",
          200,
          "127.0.0.1",
        ]);
        assert.equal(typeof bytes, "number");
        const ts = Date.parse(line.ts);
        assert.ok(ts > began && ts <= Date.now(), line.ts);
      })),
});

// This sender only logs the answer.
longTest({
  name: "pino-logflare: through an outage of five seconds",
  ...isOnDebian(),
  fn: () =>
    withTrial("pino-logflare", (trial) =>
      withProxy(trial, async (url) => {
        const program = await blockOf("others.md", "pino-logflare.mjs");
        await tellNode(
          { block: program, say: (n) => `logger.info("event " + ${n})` },
          { ...trial.env, LOGFLARE_PROXY: url },
          (tell) =>
            throughAnOutage(
              trial,
              sayingBy(tell),
              { lost: "some", doubled: "none", isLeaky: true },
            ),
        );
      })),
});
