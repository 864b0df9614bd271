import assert from "node:assert/strict";
import {
  blockOf,
  events,
  found,
  isLong,
  type Promised,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";
import { eventually, pause } from "../support/eventually.ts";

const place = await debianSenders() ?? "";
const arch = Deno.build.arch === "aarch64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";

interface Daemon {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  readonly port: number;
  readonly program: string;
  readonly args: (config: string, folder: string) => string[];
  readonly promised: Promised;
  /** How long it takes to send again what was refused. */
  readonly stayMs: number;
}

const daemons: Daemon[] = [
  {
    name: "rsyslog, omelasticsearch",
    page: "elasticsearch.md",
    block: "rsyslog.conf",
    port: 5514,
    program: `${place}/usr/sbin/rsyslogd`,
    args: (config, folder) => [
      ...["-n", "-f", config, "-i", `${folder}/pid`],
      ...["-M", `${place}/usr/lib/${arch}/rsyslog`],
    ],
    promised: { lost: "none", doubled: "none" },
    stayMs: 10_000,
  },
  {
    name: "syslog-ng, http()",
    page: "json.md",
    block: "syslog-ng.conf",
    port: 5515,
    program: `${place}/usr/sbin/syslog-ng`,
    args: (config, folder) => [
      ...["-F", "--no-caps", "-f", config, "-p", `${folder}/pid`, "-c", `${folder}/control`],
      ...["-R", `${folder}/state`, `--module-path=${place}/usr/lib/syslog-ng/3.38`],
    ],
    // A request that was refused is sent again after a minute.
    promised: { lost: "none", doubled: "none" },
    stayMs: 75_000,
  },
];

/** Runs the daemon with the page's configuration, on a free port. */
async function withDaemon(
  daemon: Daemon,
  { env, key }: Trial,
  act: (log: (line: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "logloom-syslog-" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const config = (await blockOf(daemon.page, daemon.block))
    .replaceAll("http://127.0.0.1:54321", env.LOGLOOM_URL)
    .replaceAll("$LOGLOOM_API_KEY", key)
    .replace(String(daemon.port), String(port));
  await Deno.writeTextFile(`${folder}/conf`, config);
  const child = new Deno.Command(daemon.program, {
    args: daemon.args(`${folder}/conf`, folder),
    env: debianEnv(place),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const connection = await eventually(
      `${daemon.name} listens`,
      () => Deno.connect({ hostname: "127.0.0.1", port }),
    );
    await act(async (line) => {
      await connection.write(new TextEncoder().encode(line));
    });
    connection.close();
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  }
}

/** As RFC 3164 has it: error of a program called shop. */
function line(text: string): string {
  const now = new Date();
  const month = now.toLocaleString("en", { month: "short", timeZone: "UTC" });
  const day = String(now.getUTCDate()).padStart(2);
  return `<11>${month} ${day} ${now.toISOString().slice(11, 19)} web-1 shop: ${text}\n`;
}

for (const daemon of daemons) {
  Deno.test({
    name: `${daemon.name}: what it is told is found`,
    ignore: place === "",
    fn: () =>
      withTrial("syslog", (trial) =>
        withDaemon(daemon, trial, async (log) => {
          await log(line("card declined"));
          const [record] = await found(trial, 'service:shop host:web-1 "card declined"');
          assert.equal(record.level, "error");
        })),
  });

  Deno.test({
    name: `${daemon.name}: through an outage of five seconds`,
    ignore: place === "" || !isLong,
    fn: () =>
      withTrial(
        "syslog",
        (trial) =>
          withDaemon(daemon, trial, async (log) => {
            await throughAnOutage(trial, async () => {
              for (let n = 0; n < events; n++) {
                await log(line(`event ${n}`));
                await pause(120);
              }
              await pause(daemon.stayMs);
            }, daemon.promised);
            // What came again is what was sent first.
            await found(trial, "service:shop level:error host:web-1 event", events);
          }),
      ),
  });
}
