import assert from "node:assert/strict";
import { receive } from "../receiving.ts";

const day = "2026-11-28T12:22:18";

/** A line as its library writes it, with the time and the level that are stored; null: it has the time of receipt. */
const printed: readonly (readonly [
  by: string,
  line: string,
  ts: string | null,
  level: string | undefined,
  originalLevel?: string,
])[] = [
  ["Laravel", '[2026-11-28 12:22:18] production.ERROR: declined {"id":7}', `${day}Z`, "error"],
  [
    "Monolog",
    "[2026-11-28T14:22:18.123456+02:00] app.WARNING: slow [] []",
    `${day}.123456Z`,
    "warn",
    "WARNING",
  ],
  [
    "loguru",
    "2026-11-28 12:22:18.123 | ERROR    | app.pay:charge:12 - declined",
    `${day}.123Z`,
    "error",
  ],
  ["loguru", "2026-11-28 12:22:18.123 | SUCCESS  | m:f:1 - paid", `${day}.123Z`, "info", "SUCCESS"],
  ["Python", "2026-11-28 12:22:18,123 - app.pay - ERROR - declined", `${day}.123Z`, "error"],
  ["Python", "2026-11-28 12:22:18,123 ERROR app: declined", `${day}.123Z`, "error"],
  ["Python basicConfig", "ERROR:root:declined", null, "error"],
  ["uvicorn", 'INFO:     127.0.0.1:1 - "GET / HTTP/1.1" 200 OK', null, "info"],
  ["Rails", "E, [2026-11-28T12:22:18.123456 #1234] ERROR -- : declined", `${day}.123456Z`, "error"],
  ["Ruby", "W, [2026-11-28T12:22:18.123456 #1]  WARN -- app: slow", `${day}.123456Z`, "warn"],
  ["git", "2026-11-28 14:22:18 +0200 declined", `${day}Z`, undefined],
  ["Serilog file", "2026-11-28 14:22:18.123 +02:00 [ERR] declined", `${day}.123Z`, "error", "ERR"],
  ["Serilog console", "[14:22:18 ERR] declined", null, "error", "ERR"],
  ["Elixir", "14:22:18.123 [error] declined", null, "error"],
  ["Logback", "14:22:18.123 [main] ERROR com.example.Pay - declined", null, "error"],
  [
    "Log4j",
    "2026-11-28 12:22:18,123 [main] WARN  com.example.Pay - slow",
    `${day}.123Z`,
    "warn",
  ],
  [
    "Spring Boot",
    "2026-11-28T14:22:18.123+02:00  INFO 1234 --- [main] c.e.App : started",
    `${day}.123Z`,
    "info",
  ],
  [
    "Cassandra",
    "INFO  [main] 2026-11-28 12:22:18,123 Server.java:12 - started",
    `${day}.123Z`,
    "info",
  ],
  ["Kafka", "[2026-11-28 12:22:18,123] WARN slow (kafka.Server)", `${day}.123Z`, "warn"],
  [
    "Elasticsearch",
    "[2026-11-28T12:22:18,123][WARN ][o.e.c.Node] [n1] slow",
    `${day}.123Z`,
    "warn",
  ],
  [
    "ZooKeeper",
    "2026-11-28 12:22:18,123 [myid:1] - ERROR [main:Quorum@1] - lost",
    `${day}.123Z`,
    "error",
  ],
  [
    "Tomcat",
    "28-Nov-2026 12:22:18.123 SEVERE [main] o.a.Boot declined",
    `${day}.123Z`,
    "error",
    "SEVERE",
  ],
  [
    "java.util.logging",
    "Nov 28, 2026 2:22:18 PM com.example.Pay charge",
    "2026-11-28T14:22:18Z",
    undefined,
  ],
  [
    "PostgreSQL",
    "2026-11-28 12:22:18.123 UTC [123] ERROR:  relation does not exist",
    `${day}.123Z`,
    "error",
  ],
  ["PostgreSQL", "2026-11-28 12:22:18.123 UTC [1] LOG:  ready", `${day}.123Z`, "info", "LOG"],
  ["PostgreSQL, EET", "2026-11-28 14:22:18.123 EET [1] FATAL:  no", null, "error", "FATAL"],
  [
    "PostgreSQL with a user",
    "2026-11-28 12:22:18.123 UTC [123] ann@shop ERROR:  deadlock detected",
    `${day}.123Z`,
    "error",
  ],
  [
    "MySQL",
    "2026-11-28T12:22:18.123456Z 0 [Warning] [MY-010068] [Server] CA is self signed",
    `${day}.123456Z`,
    "warn",
    "Warning",
  ],
  ["MariaDB", "2026-11-28 12:22:18 0 [Note] ready", `${day}Z`, undefined],
  ["Redis", "1:M 28 Nov 2026 12:22:18.123 * Ready to accept connections", `${day}.123Z`, undefined],
  [
    "ClickHouse",
    "2026.11.28 12:22:18.123456 [ 1 ] {} <Error> Application: declined",
    `${day}.123456Z`,
    "error",
  ],
  [
    "RabbitMQ",
    "2026-11-28 12:22:18.123456+00:00 [warning] <0.1.0> slow",
    `${day}.123456Z`,
    "warn",
    "warning",
  ],
  ["nginx", "2026/11/28 12:22:18 [error] 1#1: *1 open() failed", `${day}Z`, "error"],
  [
    "Apache",
    "[Sat Nov 28 12:22:18.123456 2026] [core:error] [pid 1] AH00126: bad",
    `${day}.123456Z`,
    "error",
  ],
  ["Envoy", "[2026-11-28 12:22:18.123][1][warning][main] slow", `${day}.123Z`, "warn", "warning"],
  [
    "PHP",
    "[28-Nov-2026 13:22:18 Europe/Berlin] PHP Warning:  declined",
    `${day}Z`,
    "warn",
    "Warning",
  ],
  ["Go log", "2026/11/28 12:22:18.123456 declined", `${day}.123456Z`, undefined],
  ["klog", "E1128 12:22:18.123456    1234 file.go:12] declined", null, "error"],
  ["logrus", "WARN[0001] slow", null, "warn"],
  ["zerolog", "2026-11-28T14:22:18+02:00 ERR declined id=7", `${day}Z`, "error", "ERR"],
  [
    "zap console",
    "2026-11-28T14:22:18.123+0200\tERROR\tpay/charge.go:12\tdeclined",
    `${day}.123Z`,
    "error",
  ],
  [
    "AWS Lambda",
    "2026-11-28T12:22:18.123Z\t5b8efff7-9803-8103-d269-b633813fc60c\tERROR\tdeclined",
    `${day}.123Z`,
    "error",
  ],
  ["env_logger", "[2026-11-28T12:22:18Z ERROR app::pay] declined", `${day}Z`, "error"],
  [
    "tracing with colours",
    "\x1b[2m2026-11-28T12:22:18.123456Z\x1b[0m \x1b[31mERROR\x1b[0m app: declined",
    `${day}.123456Z`,
    "error",
  ],
  ["log4js", "[2026-11-28T12:22:18.123] [ERROR] default - declined", `${day}.123Z`, "error"],
  ["pino-pretty", "[14:22:18.123] ERROR (1234): declined", null, "error"],
  ["NLog", "2026-11-28 12:22:18.1234|ERROR|App.Pay|declined", `${day}.1234Z`, "error"],
  [".NET console", "fail: App.Pay[0]", null, "error", "fail"],
  ["Erlang", "2026-11-28T14:22:18.123456+02:00 error: declined", `${day}.123456Z`, "error"],
  ["syslog", "Nov 28 14:22:18 web-1 app[1]: declined", null, undefined],
  [
    "syslog, RFC 5424",
    "<165>1 2026-11-28T12:22:18.123Z web-1 app 1 - - declined",
    `${day}.123Z`,
    undefined,
  ],
  ["squid", "1795868538.123     45 192.0.2.1 TCP_MISS/200", `${day}.123Z`, undefined],
  ["the kernel", "[   12.345678] usb 1-1: new device", null, undefined],
  ["prose", "2026-11-28 12:22:18 the user saw an error: declined", `${day}Z`, undefined],
  ["prose", "the warning came late", null, undefined],
  ["a level far behind", `2026-11-28 12:22:18 ${"x".repeat(120)} ERROR: y`, `${day}Z`, undefined],
];

const unreadable: Readonly<Record<string, string>> = {
  "Serilog console": "14:22:18",
  Elixir: "14:22:18.123",
  Logback: "14:22:18.123",
  "PostgreSQL, EET": "2026-11-28 14:22:18.123 EET",
  klog: "1128 12:22:18.123456",
  "pino-pretty": "14:22:18.123",
  syslog: "Nov 28 14:22:18",
};

Deno.test("the time and the level of a line are found as libraries write them", async () => {
  const { events } = await receive("/lines", { body: printed.map(([, line]) => line).join("\n") });
  assert.equal(events.length, printed.length);
  for (const [n, [by, msg, ts, level, originalLevel]] of printed.entries()) {
    const originalTs = unreadable[by];
    const attrs = {
      ...originalLevel !== undefined && { original_level: originalLevel },
      ...originalTs !== undefined && { original_ts: originalTs },
    };
    assert.deepEqual(events[n], {
      ...ts !== null && { ts },
      ...level !== undefined && { level },
      msg,
      ...Object.keys(attrs).length > 0 && { attrs },
    }, by);
  }
});
