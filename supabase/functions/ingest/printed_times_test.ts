import assert from "node:assert/strict";
import { isoFromText } from "./timestamps.ts";

const noon = "2026-11-28T12:22:18";

/** The same moment in the formats of libraries and systems. Null if a format cannot be read. */
const printed: readonly (readonly [by: string, text: string, stored: string | null])[] = [
  ["JavaScript toISOString", "2026-11-28T12:22:18.123Z", `${noon}.123Z`],
  ["JavaScript toUTCString", "Sat, 28 Nov 2026 12:22:18 GMT", `${noon}Z`],
  [
    "JavaScript toString",
    "Sat Nov 28 2026 14:22:18 GMT+0200 (Eastern European Standard Time)",
    `${noon}Z`,
  ],
  ["Python logging", "2026-11-28 12:22:18,123", `${noon}.123Z`],
  ["Python datetime", "2026-11-28 14:22:18.123456+02:00", `${noon}.123456Z`],
  ["Python asctime", "Sat Nov 28 12:22:18 2026", `${noon}Z`],
  ["Python email.utils", "Sat, 28 Nov 2026 14:22:18 +0200", `${noon}Z`],
  ["Ruby Time#to_s", "2026-11-28 13:22:18 +0100", `${noon}Z`],
  ["Ruby Time#to_s in UTC", "2026-11-28 12:22:18 UTC", `${noon}Z`],
  ["Ruby Logger", "2026-11-28T12:22:18.123456", `${noon}.123456Z`],
  ["Go time.String", "2026-11-28 14:22:18.123456 +0200 EET m=+0.000012345", `${noon}.123456Z`],
  ["Go time.String in UTC", "2026-11-28 12:22:18.5 +0000 UTC", `${noon}.5Z`],
  ["Go time.String, nameless zone", "2026-11-28 15:22:18 +0300 +03", `${noon}Z`],
  ["Go log", "2026/11/28 12:22:18.123456", `${noon}.123456Z`],
  ["Go UnixDate", "Sat Nov 28 12:22:18 UTC 2026", `${noon}Z`],
  ["Go UnixDate, EET", "Sat Nov 28 14:22:18 EET 2026", null],
  ["Go RubyDate", "Sat Nov 28 14:22:18 +0200 2026", `${noon}Z`],
  ["Go RFC 850", "Saturday, 28-Nov-26 12:22:18 GMT", `${noon}Z`],
  ["Go RFC 850, MST", "Saturday, 28-Nov-26 05:22:18 MST", null],
  ["Go StampMicro", "Nov 28 12:22:18.123456", null],
  ["Java ZonedDateTime", "2026-11-28T13:22:18.123+01:00[Europe/Berlin]", `${noon}.123Z`],
  ["Java ZonedDateTime in UTC", "2026-11-28T12:22:18Z[UTC]", `${noon}Z`],
  ["Java Date", "Sat Nov 28 12:22:18 GMT 2026", `${noon}Z`],
  ["java.util.logging", "Nov 28, 2026 12:22:18 PM", `${noon}Z`],
  ["java.util.logging, afternoon", "Nov 28, 2026 2:22:18 PM", "2026-11-28T14:22:18Z"],
  ["java.util.logging, morning", "Nov 28, 2026 12:22:18 AM", "2026-11-28T00:22:18Z"],
  ["java.util.logging, German", "28.11.2026 12:22:18", `${noon}Z`],
  ["WebLogic", "Nov 28, 2026 2:22:18,123 PM EET", null],
  ["Log4j 2", "2026-11-28 12:22:18,123", `${noon}.123Z`],
  ["Log4j 2 COMPACT", "20261128122218123", `${noon}.123Z`],
  ["Log4j 2 ISO8601_BASIC", "20261128T122218,123", `${noon}.123Z`],
  ["Log4j 2 DATE", "28 Nov 2026 12:22:18,123", `${noon}.123Z`],
  ["Log4j 2 ABSOLUTE", "12:22:18,123", null],
  ["Tomcat", "28-Nov-2026 12:22:18.123", `${noon}.123Z`],
  ["Spark", "26/11/28 12:22:18", null],
  ["Serilog file", "2026-11-28 14:22:18.123 +02:00", `${noon}.123Z`],
  ["Serilog console", "14:22:18", null],
  [".NET invariant", "11/28/2026 12:22:18", null],
  [".NET en-US", "11/28/2026 2:22:18 PM", null],
  [".NET round trip", "2026-11-28T14:22:18.1234567+02:00", `${noon}.123456Z`],
  ["NLog", "2026-11-28 12:22:18.1234", `${noon}.1234Z`],
  ["Monolog", "2026-11-28T14:22:18.123456+02:00", `${noon}.123456Z`],
  ["PHP error_log", "28-Nov-2026 12:22:18 UTC", `${noon}Z`],
  ["PHP error_log, a region", "28-Nov-2026 13:22:18 Europe/Berlin", `${noon}Z`],
  ["PHP error_log, in summer", "28-Jul-2026 13:22:18 Europe/Berlin", "2026-07-28T11:22:18Z"],
  ["PHP error_log, an hour that comes twice", "25-Oct-2026 02:30:00 Europe/Berlin", null],
  ["PHP error_log, no region", "28-Nov-2026 13:22:18 Europe/Nowhere", null],
  ["PHP DATE_COOKIE", "Saturday, 28-Nov-2026 12:22:18 UTC", `${noon}Z`],
  ["Rust chrono", "2026-11-28 12:22:18.123456 UTC", `${noon}.123456Z`],
  ["Rust tracing", "2026-11-28T12:22:18.123456Z", `${noon}.123456Z`],
  ["PostgreSQL", "2026-11-28 12:22:18.123 UTC", `${noon}.123Z`],
  ["PostgreSQL, GMT", "2026-11-28 12:22:18 GMT", `${noon}Z`],
  ["PostgreSQL, EET", "2026-11-28 14:22:18.123 EET", null],
  ["PostgreSQL, CEST", "2026-07-28 14:22:18.123 CEST", null],
  ["PostgreSQL, nameless zone", "2026-11-28 15:22:18.123 +03", `${noon}.123Z`],
  ["psql", "2026-11-28 14:22:18.123+02", `${noon}.123Z`],
  ["MySQL", "2026-11-28T12:22:18.123456Z", `${noon}.123456Z`],
  ["MongoDB 4.2", "2026-11-28T14:22:18.123+0200", `${noon}.123Z`],
  ["Redis", "28 Nov 2026 12:22:18.123", `${noon}.123Z`],
  ["ClickHouse", "2026.11.28 12:22:18.123456", `${noon}.123456Z`],
  ["BIND", "28-Nov-2026 12:22:18.123", `${noon}.123Z`],
  ["Apache access log", "28/Nov/2026:14:22:18 +0200", `${noon}Z`],
  ["Apache error log", "Sat Nov 28 12:22:18.123456 2026", `${noon}.123456Z`],
  ["HAProxy", "28/Nov/2026:12:22:18.123", `${noon}.123Z`],
  ["nginx error log", "2026/11/28 12:22:18", `${noon}Z`],
  ["Caddy", "2026/11/28 12:22:18.123", `${noon}.123Z`],
  ["squid", "1795868538.123", `${noon}.123Z`],
  ["git", "Sat Nov 28 14:22:18 2026 +0200", `${noon}Z`],
  ["date", "Sat Nov 28 12:22:18 UTC 2026", `${noon}Z`],
  ["date --rfc-email", "Sat, 28 Nov 2026 07:22:18 -0500", `${noon}Z`],
  ["journalctl short-full", "Sat 2026-11-28 12:22:18 UTC", `${noon}Z`],
  ["journalctl short-full, EET", "Sat 2026-11-28 14:22:18 EET", null],
  ["journalctl short-iso", "2026-11-28T14:22:18+0200", `${noon}Z`],
  ["syslog, RFC 3164", "Nov 28 14:22:18", null],
  ["syslog, RFC 3164, one digit", "Nov  8 14:22:18", null],
  ["Cisco", "Nov 28 2026 12:22:18.123", `${noon}.123Z`],
  ["glog", "1128 12:22:18.123456", null],
  ["glog with a year", "20261128 12:22:18.123456", `${noon}.123456Z`],
  ["Android", "11-28 12:22:18.123", null],
  ["Elixir", "12:22:18.123", null],
  ["Erlang", "2026-11-28 12:22:18.123456+00:00", `${noon}.123456Z`],
  ["Swift", "2026-11-28T14:22:18+0200", `${noon}Z`],
  ["NSLog", "2026-11-28 14:22:18.123456+0200", `${noon}.123456Z`],
  ["logrus", "2026-11-28T14:22:18+02:00", `${noon}Z`],
  ["an offset with a name", "2026-11-28 14:22:18 UTC+2", `${noon}Z`],
  ["an offset with a name, minutes", "2026-11-28 17:52:18 GMT+05:30", `${noon}Z`],
  ["a name of one's own", "2026-11-28 14:22:18 local", null],
  ["a zone of letters", "2026-11-28 14:22:18 A", null],
  ["a summer of the west", "2026-11-28 14:22:18 PDT", null],
  ["Oracle", "28-Nov-26 02.22.18 PM", null],
];

Deno.test("times are read as libraries print them, except in unknown zones", () => {
  for (const [by, text, stored] of printed) {
    assert.equal(isoFromText(text) ?? null, stored, `${by}: ${text}`);
    assert.equal(isoFromText(` ${text}\n`) ?? null, stored, `${by}: ${text}, with spaces around`);
  }
  assert.ok(new Set(printed.map(([by]) => by)).size >= 80);
});

Deno.test("an invalid time, or a time with further text, is not read", () => {
  for (
    const text of [
      "28/Nov/2026:25:22:18 +0200",
      "31/Nov/2026:14:22:18 +0200",
      "Nov 28, 2026 13:22:18 PM",
      "Nov 28, 2026 0:22:18 AM",
      "2026-11-28 14:22:18 +2400",
      "2026-11-28 14:22:18 +0260",
      "2026-13-28 14:22:18 UTC",
      "2026-11-28 14:22:18 UTC yesterday",
      "2026-11-28 14:22:18 EET 5",
      "28-Foo-2026 12:22:18",
      "20261328122218",
      "Sat Nov 28 2026",
      `2026-11-28 14:22:18 ${"U".repeat(100_000)}`,
    ]
  ) {
    assert.equal(isoFromText(text), undefined, text.slice(0, 60));
  }
});
