import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { receive } from "../testing_protocols.ts";

const json = { "Content-Type": "application/json" };
const time = "2026-11-21T12:34:56.789Z";
const ms = Date.parse(time);

// https://vercel.com/docs/drains/reference/logs
Deno.test("Vercel: an array or NDJSON, and its set-up check", async () => {
  const event = {
    id: "1",
    message: "declined",
    timestamp: ms,
    level: "fatal",
    source: "lambda",
    host: "shop.vercel.app",
    projectName: "shop",
    requestId: "r1",
    statusCode: 500,
    path: "/api/pay",
    environment: "production",
    traceId: "t1",
  };
  for (const body of [JSON.stringify([event]), `${JSON.stringify(event)}\n`]) {
    const { status, headers, events } = await receive("/drain/vercel?vercel_verify=abc", {
      headers: json,
      body,
    });
    assert.deepEqual([status, headers.get("x-vercel-verify")], [200, "abc"]);
    assert.deepEqual(events, [{
      ts: time,
      level: "error",
      msg: "declined",
      service: "shop",
      env: "production",
      req_id: "r1",
      route: "/api/pay",
      host: "shop.vercel.app",
      attrs: {
        id: "1",
        source: "lambda",
        statusCode: 500,
        trace_id: "t1",
        original_level: "fatal",
      },
    }]);
  }
  const check = await receive("/drain/vercel?vercel_verify=abc", {
    method: "GET",
    credentials: {},
  });
  assert.deepEqual([check.status, check.headers.get("x-vercel-verify")], [200, "abc"]);
});

// https://developers.cloudflare.com/logs/logpush/logpush-job/enable-destinations/http/
Deno.test("Cloudflare: gzip NDJSON of requests, whatever the headers say", async () => {
  const body = JSON.stringify({
    EdgeStartTimestamp: `${ms}000000`,
    ClientRequestMethod: "GET",
    ClientRequestURI: "/pay?x=1",
    ClientRequestPath: "/pay",
    ClientRequestHost: "shop.example",
    EdgeResponseStatus: 502,
    RayID: "7f",
  });
  const { status, events } = await receive("/drain/cloudflare", {
    body: new Uint8Array(gzipSync(`${body}\n`)),
  });
  assert.equal(status, 200);
  assert.deepEqual(events, [{
    ts: "2026-11-21T12:34:56.789000Z",
    level: "error",
    msg: "GET /pay?x=1 502",
    req_id: "7f",
    route: "/pay",
    host: "shop.example",
    attrs: {
      ClientRequestMethod: "GET",
      ClientRequestURI: "/pay?x=1",
      ClientRequestHost: "shop.example",
      EdgeResponseStatus: 502,
    },
  }]);
});

// https://devcenter.heroku.com/articles/log-drains
Deno.test("Heroku: syslog frames with their lengths in octets", async () => {
  const frames = [
    `<158>1 ${time} host app web.1 - State chängéd from starting to up\n`,
    `<11>1 ${time} host heroku router - at=error code=H12`,
  ].map((frame) => `${new TextEncoder().encode(frame).length} ${frame}`).join("");
  const { status, text, events } = await receive("/drain/heroku", {
    headers: { "Content-Type": "application/logplex-1" },
    body: frames,
  });
  assert.deepEqual([status, text], [204, ""]);
  assert.deepEqual(events, [
    {
      ts: time,
      level: "info",
      msg: "State chängéd from starting to up",
      service: "app",
      host: "host",
      attrs: { process: "web.1", facility: 19, original_level: "6" },
    },
    {
      ts: time,
      level: "error",
      msg: "at=error code=H12",
      service: "heroku",
      host: "host",
      attrs: { process: "router", facility: 1, original_level: "3" },
    },
  ]);
});

Deno.test("Heroku: members of a program's JSON win over members of the frame", async () => {
  const frame = `<190>1 ${time} host app web.1 - {"level":"error","msg":"declined","order":7}\n` +
    `<190>1 ${time} host app web.1 - {"msg":"fine"}\n`;
  const { events } = await receive("/drain/heroku", { body: frame });
  const common = { ts: time, service: "app", host: "host" };
  assert.deepEqual(events, [
    {
      ...common,
      level: "error",
      msg: "declined",
      attrs: { order: 7, process: "web.1", facility: 23 },
    },
    { ...common, level: "info", msg: "fine", attrs: { process: "web.1", facility: 23 } },
  ]);
});

// https://docs.netlify.com/manage/monitoring/log-drains/
Deno.test("Netlify: NDJSON with a bearer key", async () => {
  const { status, events } = await receive("/drain/netlify", {
    body: `{"timestamp":"${time}","type":"functions","level":"WARN","message":"slow"}\n`,
  });
  assert.equal(status, 200);
  assert.deepEqual(events, [{
    ts: time,
    level: "warn",
    msg: "slow",
    attrs: { type: "functions" },
  }]);
});
