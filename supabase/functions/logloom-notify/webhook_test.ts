import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { closedUrl, startPeer } from "../_shared/testing.ts";
import { makeCertificate } from "./testing.ts";
import { deliverWebhook, type WebhookMessage, type WebhookOptions } from "./webhook.ts";

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
const message: WebhookMessage = {
  id: "0c5d8e30-6c1b-4e7c-9b0a-000000000001",
  url: "https://example.com/hook",
  body: '{"type":"alert.triggered","data":{"name":"Zu viel Öl"}}',
  secrets: [secret],
};

function options(changes: Partial<WebhookOptions> = {}): WebhookOptions {
  return {
    allowLocal: true,
    timeoutMs: 60_000,
    now: () => new Date(),
    resolve: () => Promise.reject(new Error("no name is resolved here")),
    connect: (hostname, port) => Deno.connect({ hostname, port }),
    ...changes,
  };
}

Deno.test("a receiver can verify a webhook with the library", async () => {
  const verified: unknown[] = [];
  await using peer = startPeer(({ body, headers }) => {
    verified.push(new Webhook(secret).verify(body, Object.fromEntries(headers)));
    return new Response(null, { status: 204 });
  });
  const outcome = await deliverWebhook({ ...message, url: `${peer.url}/a%20b?c=d#e` }, options());
  assert.deepEqual(outcome, { outcome: "delivered", status: 204 });
  assert.deepEqual(verified, [JSON.parse(message.body)]);
  const [{ method, path, headers }] = peer.requests;
  assert.deepEqual([method, path], ["POST", "/a%20b"]);
  assert.equal(headers.get("webhook-id"), message.id);
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(headers.get("host"), new URL(peer.url).host);
});

Deno.test("during a rotation the old and the new secret verify, and no other", async () => {
  const secrets = [secret, `whsec_${btoa("another secret of 32 characters.")}`];
  await using peer = startPeer(() => new Response("ok"));
  await deliverWebhook({ ...message, url: peer.url, secrets }, options());
  const [{ body, headers }] = peer.requests;
  for (const one of secrets) {
    new Webhook(one).verify(body, Object.fromEntries(headers));
  }
  const stranger = new Webhook(`whsec_${btoa("a stranger's secret, 32 letters.")}`);
  assert.throws(() => stranger.verify(body, Object.fromEntries(headers)));
  assert.throws(() => new Webhook(secret).verify(`${body} `, Object.fromEntries(headers)));
});

Deno.test("the receiver's answer decides the outcome of the delivery", async () => {
  const redirect = { status: 302, headers: { Location: "http://169.254.169.254/" } };
  const cases: [ResponseInit, unknown][] = [
    [{ status: 200 }, { outcome: "delivered", status: 200 }],
    [{ status: 202 }, { outcome: "delivered", status: 202 }],
    [redirect, {
      outcome: "retry",
      status: 302,
      error: "HTTP 302: redirects are not followed",
      retryAfter: undefined,
    }],
    [{ status: 400 }, { outcome: "retry", status: 400, error: "HTTP 400", retryAfter: undefined }],
    [{ status: 410 }, { outcome: "failed", status: 410, error: "HTTP 410: the receiver is gone" }],
    [{ status: 429, headers: { "retry-after": "120" } }, {
      outcome: "retry",
      status: 429,
      error: "HTTP 429",
      retryAfter: 120,
    }],
    [{
      status: 503,
      // The header names a time in the past.
      headers: { "Retry-After": "Sat, 21 Nov 2026 12:00:00 GMT" },
    }, { outcome: "retry", status: 503, error: "HTTP 503", retryAfter: 0 }],
  ];
  for (const [answer, expected] of cases) {
    await using peer = startPeer(() => new Response(null, answer));
    assert.deepEqual(await deliverWebhook({ ...message, url: peer.url }, options()), expected);
    assert.equal(peer.requests.length, 1);
  }
});

/** A receiver that writes raw bytes. */
async function withRawPeer(
  answer: (conn: Deno.Conn) => Promise<void>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using conn = await listener.accept();
    await conn.read(new Uint8Array(65_536));
    await answer(conn);
  })();
  await use(`http://127.0.0.1:${listener.addr.port}`);
  await served;
}

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("an answer may come in pieces, and after interim answers", async () => {
  await withRawPeer(async (conn) => {
    for (
      const piece of ["HTTP/1.1 100 Continue\r\n\r\nHT", "TP/1.1 201 Cre", "ated\r\n\r", "\n"]
    ) {
      await conn.write(encode(piece));
    }
  }, async (url) => {
    const outcome = await deliverWebhook({ ...message, url }, options());
    assert.deepEqual(outcome, { outcome: "delivered", status: 201 });
  });
});

Deno.test("an answer that is not HTTP is not a delivery", async () => {
  const refused = {
    outcome: "retry",
    error: "The receiver did not answer in HTTP",
    status: undefined,
    retryAfter: undefined,
  };
  const answers = [
    "",
    "HTTP/1.1 200 OK",
    "SSH-2.0-x\r\n\r\n",
    "HTTP/1.1 2000\r\n\r\n",
    "x".repeat(20_000),
  ];
  for (const text of answers) {
    await withRawPeer(async (conn) => {
      // The client may have read enough and disconnected.
      await conn.write(encode(text)).catch(() => {});
    }, async (url) => {
      assert.deepEqual(await deliverWebhook({ ...message, url }, options()), refused, text);
    });
  }
});

Deno.test("a receiver that does not answer, or only slowly, is dropped after the time-out", async () => {
  const expected = {
    outcome: "retry",
    error: "No answer within 0.2 s",
    status: undefined,
    retryAfter: undefined,
  };
  for (const text of ["", "HTTP/1.1 200 OK\r\n"]) {
    const over = Promise.withResolvers<void>();
    await withRawPeer(async (conn) => {
      if (text !== "") await conn.write(encode(text));
      await over.promise;
    }, async (url) => {
      const outcome = await deliverWebhook({ ...message, url }, options({ timeoutMs: 200 }));
      assert.deepEqual(outcome, expected);
      // The client left before the answer ended.
      over.resolve();
    });
  }
});

Deno.test("a connection that opens after the time-out is closed", async () => {
  const late = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const conn = { close: closed.resolve, write: () => Promise.reject(new Error("closed")) };
  const outcome = await deliverWebhook(
    message,
    options({
      timeoutMs: 50,
      resolve: () => Promise.resolve(["93.184.215.14"]),
      connect: async () => {
        await late.promise;
        return conn as unknown as Deno.Conn;
      },
    }),
  );
  assert.equal(outcome.outcome, "retry");
  late.resolve();
  await closed.promise;
});

Deno.test("an unreachable receiver is tried again, and the error does not name its address", async () => {
  const away = await deliverWebhook({ ...message, url: closedUrl() }, options());
  assert.deepEqual(away, {
    outcome: "retry",
    error: "The connection was refused",
    status: undefined,
    retryAfter: undefined,
  });
  const nameless = await deliverWebhook({
    ...message,
    url: "https://nowhere.example/x",
  }, options());
  assert.equal(nameless.outcome, "retry");
  assert.ok(
    "error" in nameless &&
      nameless.error === "The host name cannot be resolved",
  );
});

Deno.test("a webhook goes over TLS only to the host in its URL", async () => {
  const { certificate, key } = await makeCertificate("hooks.example.com");
  const hosts: (string | null)[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: certificate, key, onListen: () => {} },
    (request) => {
      hosts.push(request.headers.get("host"));
      return new Response("x".repeat(100_000));
    },
  );
  const deliver = (url: string, caCerts: string[]) =>
    deliverWebhook(
      { ...message, url },
      options({
        resolve: () => Promise.resolve(["93.184.215.14"]),
        connect: async (_address, _port, hostname) => {
          const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
          return await Deno.startTls(conn, { hostname, caCerts });
        },
      }),
    );
  const untrusted = {
    outcome: "retry",
    error: "The TLS connection failed: is the certificate valid for this host?",
    status: undefined,
    retryAfter: undefined,
  };
  try {
    assert.deepEqual(await deliver("https://hooks.example.com:8443/x", [certificate]), {
      outcome: "delivered",
      status: 200,
    });
    assert.deepEqual(await deliver("https://other.example.com/x", [certificate]), untrusted);
    assert.deepEqual(await deliver("https://hooks.example.com/x", []), untrusted);
    assert.deepEqual(hosts, ["hooks.example.com:8443"]);
  } finally {
    await server.shutdown();
  }
});

Deno.test("a receiver that does not speak TLS gets nothing", async () => {
  await using peer = startPeer(() => new Response("ok"));
  const outcome = await deliverWebhook(
    message,
    options({
      resolve: () => Promise.resolve(["93.184.215.14"]),
      connect: async () => {
        const port = Number(new URL(peer.url).port);
        const conn = await Deno.connect({ hostname: "127.0.0.1", port });
        return await Deno.startTls(conn, { hostname: "example.com" });
      },
    }),
  );
  assert.equal(outcome.outcome, "retry");
  assert.deepEqual(peer.requests, []);
});

Deno.test("the connection uses the address that was checked", async () => {
  const connected: unknown[] = [];
  const resolved: string[] = [];
  for (
    const [url, addresses] of [
      ["https://example.com/x", [
        "93.184.215.14",
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
      ]],
      ["https://EXAMPLE.com:8443/x", [
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
      ]],
      ["https://93.184.215.14/x", []],
      ["https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/x", []],
    ] as const
  ) {
    await deliverWebhook(
      { ...message, url },
      options({
        resolve: (hostname) => {
          resolved.push(hostname);
          return Promise.resolve(addresses);
        },
        connect: (...target) => {
          connected.push(target);
          return Promise.reject(new Error("far enough"));
        },
      }),
    );
  }
  assert.deepEqual(resolved, ["example.com", "example.com"]);
  assert.deepEqual(connected, [
    ["93.184.215.14", 443, "example.com"],
    ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", 8443, "example.com"],
    ["93.184.215.14", 443, "93.184.215.14"],
    ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", 443, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  ]);
});

/** Hosts in URLs that no webhook may reach. */
const forbiddenHosts = [
  "127.0.0.1",
  "127.255.255.254",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "127.0.0.1.",
  "0.0.0.0",
  "0",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.0.0.192",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "①②⑦.⓪.⓪.①",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:93.184.215.14]",
  "[::127.0.0.1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[2001:db8::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[100::1]",
  "[3fff::1]",
];

/** Addresses that a tenant's host name may resolve to. */
const forbiddenAnswers = [
  ["127.0.0.1"],
  ["10.1.2.3"],
  ["::1"],
  ["::ffff:10.0.0.1"],
  ["::ffff:a00:1"],
  ["fe80::1%eth0"],
  ["93.184.215.14", "127.0.0.1"],
  ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "fd00::1"],
  ["not an address"],
];

const forbiddenUrls = [
  "http://example.com/",
  "http://localhost/",
  "http://127.0.0.2/",
  "http://0.0.0.0/",
  "http://[::1]/",
  "http://user:password@127.0.0.1/",
  "https://user@example.com/",
  "https://:password@example.com/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:11211/_stats",
  "javascript:alert(1)",
  "data:text/plain,x",
  "//example.com",
  "https://",
  "",
];

Deno.test("no webhook reaches internal addresses", async () => {
  let connects = 0;
  const closed = (resolve: WebhookOptions["resolve"]) =>
    options({
      resolve,
      connect: () => {
        connects += 1;
        return Promise.reject(new Error("connected"));
      },
    });
  const private_ = {
    outcome: "failed",
    error: "The host is not on the public Internet",
    status: undefined,
  };
  for (const host of forbiddenHosts) {
    const url = `https://${host}/latest/meta-data/`;
    const never = closed(() => Promise.reject(new Error(`${host} was taken for a name`)));
    assert.deepEqual(await deliverWebhook({ ...message, url }, never), private_, host);
  }
  for (const addresses of forbiddenAnswers) {
    const outcome = await deliverWebhook(message, closed(() => Promise.resolve(addresses)));
    assert.deepEqual(outcome, private_, addresses.join());
  }
  const notAllowed = { outcome: "failed", error: "The URL is not allowed", status: undefined };
  for (const url of forbiddenUrls) {
    const outcome = await deliverWebhook(
      { ...message, url },
      closed(() => Promise.resolve(["93.184.215.14"])),
    );
    assert.deepEqual(outcome, notAllowed, url);
  }
  assert.equal(connects, 0);
  assert.ok(
    forbiddenHosts.length + forbiddenAnswers.length + forbiddenUrls.length >=
      40,
  );
});

Deno.test("this machine can be a receiver only if the stack allows it", async () => {
  await using peer = startPeer(() => new Response("ok"));
  const outcome = await deliverWebhook(
    { ...message, url: peer.url },
    options({ allowLocal: false }),
  );
  assert.deepEqual(outcome, {
    outcome: "failed",
    error: "The URL is not allowed",
    status: undefined,
  });
  assert.deepEqual(peer.requests, []);
});

Deno.test("without a secret nothing is sent, because the rule was deleted", async () => {
  await using peer = startPeer(() => new Response("ok"));
  const outcome = await deliverWebhook({ ...message, url: peer.url, secrets: [] }, options());
  assert.deepEqual(outcome, {
    outcome: "failed",
    error: "The alert rule was deleted",
    status: undefined,
  });
  assert.deepEqual(peer.requests, []);
});
