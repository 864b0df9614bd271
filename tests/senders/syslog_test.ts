import assert from "node:assert/strict";
import {
  blockOf,
  events,
  flooded,
  found,
  longTest,
  type Promised,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";
import { queueIsEmpty } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { onlyIf } from "../support/skip_unless.ts";

const place = await debianSenders() ?? "";
const isOnDebian = () => onlyIf(!!place, "its programs are taken from Debian, as root");
const arch = Deno.build.arch === "aarch64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";

interface Daemon {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  readonly port: number;
  readonly program: string;
  readonly args: (config: string, folder: string) => string[];
  readonly promised: Promised;
  /** How long the daemon takes to send refused events again. */
  readonly stayMs: number;
  /** How many of thousands of events may arrive twice if answers are cut off. */
  readonly mostDoubled: number;
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
    // Each of its two actions may repeat one or two requests of 128 lines.
    mostDoubled: 512,
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
    promised: { lost: "none", doubled: "none" },
    stayMs: 10_000,
    mostDoubled: 0,
  },
];

/** Runs the daemon with the page's configuration, on a free port. */
async function withDaemon(
  daemon: Daemon,
  { env }: Trial,
  act: (log: (line: string) => Promise<void>, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "logloom-syslog-" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const config = (await blockOf(daemon.page, daemon.block))
    .replaceAll("http://127.0.0.1:54321", env.LOGLOOM_URL)
    .replaceAll("/var/spool/rsyslog", folder)
    .replaceAll("/var/log/", `${folder}/`)
    .replace(String(daemon.port), String(port));
  await Deno.writeTextFile(`${folder}/conf`, config);
  const child = new Deno.Command(daemon.program, {
    args: daemon.args(`${folder}/conf`, folder),
    env: { ...env, ...debianEnv(place) },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const connection = await eventually(
      `${daemon.name} listens`,
      () => Deno.connect({ hostname: "127.0.0.1", port }),
    );
    const writer = connection.writable.getWriter();
    await act((line) => writer.write(new TextEncoder().encode(line)), folder);
    await writer.close();
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns a line of RFC 3164: an error of the program shop. */
function line(text: string): string {
  const now = new Date();
  const month = now.toLocaleString("en", { month: "short", timeZone: "UTC" });
  const day = String(now.getUTCDate()).padStart(2);
  return `<11>${month} ${day} ${now.toISOString().slice(11, 19)} web-1 shop: ${text}\n`;
}

for (const daemon of daemons) {
  Deno.test({
    name: `${daemon.name}: a line is found`,
    ...isOnDebian(),
    fn: () =>
      withTrial("syslog", (trial) =>
        withDaemon(daemon, trial, async (log) => {
          await log(line("card declined"));
          const [record] = await found(trial, 'service:shop host:web-1 "card declined"');
          assert.equal(record.level, "error");
        })),
  });

  longTest({
    name: `${daemon.name}: through an outage of five seconds`,
    ...isOnDebian(),
    fn: () =>
      withTrial(
        "syslog",
        (trial) =>
          withDaemon(daemon, trial, async (log) => {
            const say = async (from: number, to: number) => {
              for (let n = from; n < to; n++) {
                await log(line(`event ${n}`));
                await pause(120);
              }
            };
            await throughAnOutage(trial, { say, stayMs: daemon.stayMs }, daemon.promised);
            // Duplicates are events of the first half.
            await found(trial, "service:shop level:error host:web-1 event", events);
          }),
      ),
  });

  for (const away of ["refuses", "is not there"] as const) {
    longTest({
      name: `${daemon.name}: 20,000 lines, while the service ${away} for ten seconds`,
      ...isOnDebian(),
      fn: () =>
        withTrial("syslog", (trial) =>
          withDaemon(daemon, trial, (log) =>
            flooded(trial, {
              away,
              say: (from, to) =>
                log(
                  Array.from({ length: to - from }, (_, n) => line(`event ${from + n}`)).join(""),
                ),
              mostDoubled: away === "refuses" ? 0 : daemon.mostDoubled,
            }))),
    });
  }
}

const [rsyslog] = daemons;

Deno.test({
  name: "rsyslog: messages of both RFCs arrive whole, and a rejected event is kept in a file",
  ...isOnDebian(),
  fn: () =>
    withTrial("syslog", (trial) =>
      withDaemon(rsyslog, trial, async (log, folder) => {
        const now = new Date().toISOString();
        const lines = [
          `<11>1 2020-01-01T00:00:00Z web-1 shop - - - of another time\n`,
          `<11>1 ${now} web-1 shop - - - whole by 5424\n`,
          `<11>1 ${now} web-1 shop - - -   indented\n`,
          line("whole by 3164"),
        ];
        await log(lines.join(""));
        await found(trial, "service:shop", 3);
        const kept = await eventually(
          "the refused event in its file",
          async () => (await Deno.readTextFile(`${folder}/logloom-refused.log`)).trim(),
        );
        assert.equal(JSON.parse(kept).message, "of another time");
        // Accepted events of the same request are not sent again.
        await queueIsEmpty(trial.db);
        const logs = await found(trial, "service:shop", 3);
        assert.deepEqual(logs.map(({ msg }) => msg).sort(), [
          " indented",
          "whole by 3164",
          "whole by 5424",
        ]);
      })),
});
