import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";

const day = "2026-11-28T12:22:18";

/** A line as its library writes it, the fraction of its stored time (null: time of receipt), and its level. */
const printed: readonly (readonly [
  by: string,
  ts: string | null,
  level: string | undefined,
  line: string,
  originalLevel?: string,
])[] = [
  ["Laravel", "", "error", '[2026-11-28 12:22:18] production.ERROR: declined {"id":7}'],
  [
    "Monolog",
    ".123456",
    "warn",
    "[2026-11-28T14:22:18.123456+02:00] a.WARNING: slow []",
    "WARNING",
  ],
  ["loguru", ".123", "error", "2026-11-28 12:22:18.123 | ERROR    | app.pay:charge:12 - declined"],
  ["loguru", ".123", "info", "2026-11-28 12:22:18.123 | SUCCESS  | m:f:1 - paid", "SUCCESS"],
  ["Python", ".123", "error", "2026-11-28 12:22:18,123 - app.pay - ERROR - declined"],
  ["Python", ".123", "error", "2026-11-28 12:22:18,123 ERROR app: declined"],
  ["Python basicConfig", null, "error", "ERROR:root:declined"],
  ["uvicorn", null, "info", 'INFO:     127.0.0.1:1 - "GET / HTTP/1.1" 200 OK'],
  ["Airflow", ".123", "info", "[2026-11-28T12:22:18.123+0000] {taskinstance.py:1035} INFO - Met"],
  ["Rails", ".123456", "error", "E, [2026-11-28T12:22:18.123456 #1234] ERROR -- : declined"],
  ["Ruby", ".123456", "warn", "W, [2026-11-28T12:22:18.123456 #1]  WARN -- app: slow"],
  ["git", "", undefined, "2026-11-28 14:22:18 +0200 declined"],
  ["Serilog file", ".123", "error", "2026-11-28 14:22:18.123 +02:00 [ERR] declined", "ERR"],
  ["Serilog console", null, "error", "[14:22:18 ERR] declined", "ERR"],
  ["Elixir", null, "error", "14:22:18.123 [error] declined"],
  ["Logback", null, "error", "14:22:18.123 [main] ERROR com.example.Pay - declined"],
  ["Log4j", ".123", "warn", "2026-11-28 12:22:18,123 [main] WARN  com.example.Pay - slow"],
  ["Spring Boot", ".123", "info", "2026-11-28T14:22:18.123+02:00  INFO 1234 --- [main] App : up"],
  ["Cassandra", ".123", "info", "INFO  [main] 2026-11-28 12:22:18,123 Server.java:12 - started"],
  ["Kafka", ".123", "warn", "[2026-11-28 12:22:18,123] WARN slow (kafka.Server)"],
  ["Elasticsearch", ".123", "warn", "[2026-11-28T12:22:18,123][WARN ][o.e.c.Node] [n1] slow"],
  ["ZooKeeper", ".123", "error", "2026-11-28 12:22:18,123 [myid:1] - ERROR [main:Quorum@1] - lost"],
  ["Tomcat", ".123", "error", "28-Nov-2026 12:22:18.123 SEVERE [main] o.a.Boot declined", "SEVERE"],
  ["java.util.logging", "", undefined, "Nov 28, 2026 12:22:18 PM com.example.Pay charge"],
  ["PostgreSQL", ".123", "error", "2026-11-28 12:22:18.123 UTC [123] ERROR:  no relation"],
  ["PostgreSQL", ".123", "info", "2026-11-28 12:22:18.123 UTC [1] LOG:  ready", "LOG"],
  ["PostgreSQL, EET", null, "error", "2026-11-28 14:22:18.123 EET [1] FATAL:  no", "FATAL"],
  [
    "PostgreSQL, a user",
    ".123",
    "error",
    "2026-11-28 12:22:18.123 UTC [123] ann@shop ERROR:  deadlock",
  ],
  [
    "MySQL",
    ".123456",
    "warn",
    "2026-11-28T12:22:18.123456Z 0 [Warning] [MY-010068] [Server] CA",
    "Warning",
  ],
  ["MariaDB", "", undefined, "2026-11-28 12:22:18 0 [Note] ready"],
  ["Redis", ".123", undefined, "1:M 28 Nov 2026 12:22:18.123 * Ready to accept connections"],
  ["ClickHouse", ".123456", "error", "2026.11.28 12:22:18.123456 [ 1 ] {} <Error> App: no"],
  ["RabbitMQ", ".123456", "warn", "2026-11-28 12:22:18.123456+00:00 [warning] <0.1.0>", "warning"],
  ["nginx", "", "error", "2026/11/28 12:22:18 [error] 1#1: *1 open() failed"],
  ["Apache", ".123456", "error", "[Sat Nov 28 12:22:18.123456 2026] [core:error] [pid 1] bad"],
  ["Envoy", ".123", "warn", "[2026-11-28 12:22:18.123][1][warning][main] slow", "warning"],
  ["PHP", "", "warn", "[28-Nov-2026 13:22:18 Europe/Berlin] PHP Warning:  declined", "Warning"],
  ["Go log", ".123456", undefined, "2026/11/28 12:22:18.123456 declined"],
  ["klog", null, "error", "E1128 12:22:18.123456    1234 file.go:12] declined"],
  ["logrus", null, "warn", "WARN[0001] slow"],
  ["zerolog", "", "error", "2026-11-28T14:22:18+02:00 ERR declined id=7", "ERR"],
  ["zap console", ".123", "error", "2026-11-28T14:22:18.123+0200\tERROR\ta.go:12\tdeclined"],
  [
    "AWS Lambda",
    ".123",
    "error",
    "2026-11-28T12:22:18.123Z\t5b8efff7-9803-8103-d269-b633813fc60c\tERROR\tdeclined",
  ],
  ["env_logger", "", "error", "[2026-11-28T12:22:18Z ERROR app::pay] declined"],
  [
    "tracing with colours",
    ".123456",
    "error",
    "\x1b[2m2026-11-28T12:22:18.123456Z\x1b[0m \x1b[31mERROR\x1b[0m app: declined",
  ],
  ["log4js", ".123", "error", "[2026-11-28T12:22:18.123] [ERROR] default - declined"],
  ["pino-pretty", null, "error", "[14:22:18.123] ERROR (1234): declined"],
  ["NLog", ".1234", "error", "2026-11-28 12:22:18.1234|ERROR|App.Pay|declined"],
  [".NET console", null, "error", "fail: App.Pay[0]", "fail"],
  ["Erlang", ".123456", "error", "2026-11-28T14:22:18.123456+02:00 error: declined"],
  ["syslog", null, undefined, "Nov 28 14:22:18 web-1 app[1]: declined"],
  ["syslog, RFC 5424", ".123", "info", "<165>1 2026-11-28T12:22:18.123Z web-1 app 1 - - declined"],
  ["squid", ".123", undefined, "1795868538.123     45 192.0.2.1 TCP_MISS/200"],
  ["the kernel", null, undefined, "[   12.345678] usb 1-1: new device"],
  ["prose", "", undefined, "2026-11-28 12:22:18 the user saw an error: declined"],
  ["prose, a letter", "", undefined, "2026-11-28 12:22:18 I am here"],
  ["prose, a number", "", undefined, "2026-11-28 12:22:18 -1 files"],
  [".NET, hours alone", "", "error", "2026-11-28 14:22:18 +2 ERROR declined"],
  ["a region in brackets", "", "error", "2026-11-28 13:22:18 [Europe/Berlin] ERROR declined"],
  ["Brazil's name", null, "error", "2026-11-28 09:22:18 BRT ERROR declined"],
  ["New York's name", null, "error", "2026-11-28 07:22:18 EST5EDT ERROR declined"],
  ["a zone in brackets", null, "error", "2026-11-28 14:22:18 [EET] ERROR declined"],
  ["zerolog console", null, "warn", "2:22PM WRN slow", "WRN"],
  ["MySQL 5", null, "warn", "261128 14:22:18 [Warning] slow", "Warning"],
  ["Celery", ".123", "warn", "[2026-11-28 12:22:18,123: WARNING/MainProcess] slow", "WARNING"],
  ["semantic_logger", ".123456", "warn", "2026-11-28 12:22:18.123456 W [7:puma 1] Rails -- slow"],
  ["MongoDB 4.2", ".123", "info", "2026-11-28T12:22:18.123+0000 I NETWORK  [listener] ready"],
  ["spdlog, a letter", ".123", "error", "[2026-11-28 12:22:18.123] [E] declined"],
  ["NestJS", null, "warn", "[Nest] 7  - 11/28/2026, 2:22:18 PM    WARN [Pay] slow"],
  ["GIN", "", undefined, "[GIN] 2026/11/28 - 12:22:18 | 200 | 1.2ms"],
  ["signale", null, "error", "✖  error     declined"],
  ["sd-daemon", null, "warn", "<4>slow"],
  ["RFC 3164", null, "error", "<34>Dec 31 23:59:59 web-1 sshd[7]: declined"],
  ["prose", null, undefined, "the warning came late"],
  ["a level far behind", "", undefined, `2026-11-28 12:22:18 ${"x".repeat(120)} ERROR: y`],
];

const unreadable: Readonly<Record<string, string>> = {
  "Serilog console": "14:22:18",
  Elixir: "14:22:18.123",
  Logback: "14:22:18.123",
  "PostgreSQL, EET": "2026-11-28 14:22:18.123 EET",
  klog: "1128 12:22:18.123456",
  "pino-pretty": "14:22:18.123",
  syslog: "Nov 28 14:22:18",
  "RFC 3164": "Dec 31 23:59:59",
  "zerolog console": "2:22PM",
  "MySQL 5": "261128 14:22:18",
  NestJS: "11/28/2026, 2:22:18 PM",
  "Brazil's name": "2026-11-28 09:22:18 BRT",
  "New York's name": "2026-11-28 07:22:18 EST5EDT",
  "a zone in brackets": "2026-11-28 14:22:18 [EET]",
};

Deno.test("time and level of a line are found as libraries write them", async () => {
  const body = printed.map(([, , , line]) => line).join("\n");
  const { events } = await receive("/lines", { body });
  assert.equal(events.length, printed.length);
  for (const [n, [by, ts, level, msg, originalLevel]] of printed.entries()) {
    const originalTs = unreadable[by];
    const attrs = {
      ...originalLevel !== undefined && { original_level: originalLevel },
      ...originalTs !== undefined && { original_ts: originalTs },
    };
    assert.deepEqual(events[n], {
      ...ts !== null && { ts: `${day}${ts}Z` },
      ...level !== undefined && { level },
      msg,
      ...Object.keys(attrs).length > 0 && { attrs },
    }, by);
  }
});
