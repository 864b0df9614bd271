import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";

const at = "[21/Nov/2026:12:34:56 +0000]";
const time = "2026-11-21T12:34:56Z";

Deno.test("access logs: lines of Apache and nginx are split into members", async () => {
  const cases: [string, Record<string, unknown>][] = [
    // From Apache's documentation of its formats.
    ['127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326', {
      ts: "2000-10-10T20:55:36Z",
      level: "info",
      user_id: "frank",
      route: "/apache_pb.gif",
      attrs: { method: "GET", status: 200, bytes: 2326, client_ip: "127.0.0.1" },
    }],
    [
      `192.0.2.1 - - ${at} "POST /pay?id=1&x=%20 HTTP/1.1" 503 0 "https://shop.example/cart" "Mozilla/5.0 (X11) \\"q\\""`,
      {
        ts: time,
        level: "error",
        route: "/pay",
        attrs: {
          method: "POST",
          status: 503,
          bytes: 0,
          client_ip: "192.0.2.1",
          referer: "https://shop.example/cart",
          user_agent: 'Mozilla/5.0 (X11) \\"q\\"',
        },
      },
    ],
    // The line begins with the virtual host, as in Debian's Apache.
    [`shop.example:443 2001:db8::1 - - ${at} "GET / HTTP/2.0" 304 - "-" "curl/8.5"`, {
      ts: time,
      level: "info",
      route: "/",
      attrs: {
        method: "GET",
        status: 304,
        client_ip: "2001:db8::1",
        vhost: "shop.example:443",
        user_agent: "curl/8.5",
      },
    }],
    // nginx's own format "main", with X-Forwarded-For at the end.
    [`10.0.0.1 - - ${at} "PROPFIND /dav HTTP/1.1" 404 153 "-" "-" "203.0.113.9"`, {
      ts: time,
      level: "warn",
      route: "/dav",
      attrs: {
        method: "PROPFIND",
        status: 404,
        bytes: 153,
        client_ip: "10.0.0.1",
        forwarded_for: "203.0.113.9",
      },
    }],
    // A scanner's request.
    [`10.0.0.1 - - ${at} "\\x16\\x03\\x01" 400 157 "-" "-"`, {
      ts: time,
      level: "warn",
      attrs: { status: 400, bytes: 157, client_ip: "10.0.0.1" },
    }],
    [`10.0.0.1 - - ${at} "" 408 -`, {
      ts: time,
      level: "warn",
      attrs: { status: 408, client_ip: "10.0.0.1" },
    }],
    [`10.0.0.1 - - ${at} "GET /old" 000 9 rt=0.003`, {
      ts: time,
      route: "/old",
      attrs: { method: "GET", status: 0, bytes: 9, client_ip: "10.0.0.1" },
    }],
  ];
  const { status, events } = await receive("/lines?service=web", {
    body: cases.map(([line]) => `${line}\r\n`).join(""),
  });
  assert.equal(status, 200);
  assert.deepEqual(
    events,
    cases.map(([line, said]) => ({ ...said, msg: line, service: "web" })).map((event) => event),
  );
});

Deno.test("access logs: nginx' errors have their time and level", async () => {
  const line = '2026/11/21 12:34:56 [error] 7#7: *1 open() "/x" failed (2: No such file)';
  const { events } = await receive("/lines", { body: line });
  assert.deepEqual(events, [{ ts: time, level: "error", msg: line }]);
});

Deno.test("access logs: a line that only resembles one is a message", async () => {
  const lines = [
    `10.0.0.1 - - ${at} "GET /`,
    `10.0.0.1 - - ${at} "GET / HTTP/1.1" 20 1`,
    `10.0.0.1 - - ${at} "GET / HTTP/1.1" 200 1x`,
    `10.0.0.1 - - ${at} "GET / HTTP/1.1\\" 200 1`,
    `10.0.0.1 - - [21/Foo/2026:12:34:56 +0000] "GET / HTTP/1.1" 200 1`,
    `10.0.0.1 - ${at} "GET / HTTP/1.1" 200 1`,
  ];
  const { events } = await receive("/lines", { body: lines.join("\n") });
  assert.deepEqual(events, lines.map((msg) => ({ msg })));
  const never = `10.0.0.1 - - [41/Nov/2026:12:34:56 +0000] "GET / HTTP/1.1" 200 1`;
  const [event] = (await receive("/lines", { body: never })).events;
  assert.deepEqual([event.ts, event.msg], [undefined, never]);
});
