import assert from "node:assert/strict";
import { captureConsole } from "./console.ts";
import { createLogger, type Level } from "./index.ts";
import { accepted, type Event, receiver, trial, withoutWaiting } from "./testing.ts";

Deno.test("a logger obeys its level and samples, and adds the fields of with()", async () => {
  await using to = receiver();
  await using from = trial(to.url, { level: "info", sample: { warn: 0 }, release: "1.2.3" });
  const request = from.log.with({ req_id: "r-1", cart: 7 });
  for (const level of ["debug", "info", "warn", "error"] as Level[]) request[level](level);
  request.info("own", { cart: 8, level: "mine", msg: "mine", ["__proto__"]: 1 });
  await from.log.flush();
  assert.deepEqual(
    to.events().map(({ level, msg, req_id, attrs, release }) => [
      level,
      msg,
      req_id,
      attrs,
      release,
    ]),
    [
      ["info", "info", "r-1", { cart: 7 }, "1.2.3"],
      ["error", "error", "r-1", { cart: 7 }, "1.2.3"],
      ["info", "own", "r-1", JSON.parse('{ "cart": 8, "level": "mine", "__proto__": 1 }'), "1.2.3"],
    ],
  );
});

Deno.test("a module can create a logger while a Worker starts", () => {
  const forbidden = ["AbortController", "setTimeout", "fetch"] as const;
  const own = Object.fromEntries(forbidden.map((name) => [name, globalThis[name]]));
  const refuse = function () {
    throw new Error("Disallowed operation called within global scope");
  };
  try {
    for (const name of forbidden) Object.assign(globalThis, { [name]: refuse });
    const log = createLogger({ url: "https://shop.example.com", key: "ll_x", service: "shop" });
    log.captureErrors()();
  } finally {
    Object.assign(globalThis, own);
  }
});

Deno.test("an error is logged with its name, stack and cause", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const error = Object.assign(new TypeError("declined", { cause: new Error("no funds") }), {
    code: 51,
  });
  from.log.error("payment failed", { error, order: 7 });
  from.log.error(error);
  from.log.warn("again", error);
  await from.log.flush();
  const [first, second, third] = to.events();
  const { stack, cause, ...said } = first.attrs.error as Record<string, unknown>;
  assert.deepEqual(said, { name: "TypeError", message: "declined", code: 51 });
  assert.match(`${stack}`, /^TypeError: declined\n +at /);
  assert.equal((cause as Record<string, unknown>).message, "no funds");
  assert.equal(first.attrs.order, 7);
  assert.deepEqual([second.msg, second.attrs.error], ["declined", first.attrs.error]);
  assert.deepEqual([third.msg, third.attrs.error], ["again", first.attrs.error]);
});

Deno.test("nothing that a program or a hook does makes logging throw", async () => {
  await using to = receiver();
  const thrown = () => {
    throw new Error("mine");
  };
  await using from = trial(to.url, { transform: thrown, onError: thrown });
  await using unkept = trial(to.url, { waitUntil: thrown });
  unkept.log.info("sent");
  await unkept.log.flush();
  from.log.info("a", {
    get value() {
      return thrown();
    },
  });
  await using other = trial(to.url);
  other.log.info("b", {
    get value() {
      return thrown();
    },
  });
  await using nowhere = trial("not an address");
  nowhere.log.info("c");
  assert.equal(await nowhere.log.flush(), true);
  await other.log.flush();
  other.log.with({
    get request() {
      return thrown();
    },
  }).warn("d");
  other.log.warn("e", new Proxy({}, { ownKeys: thrown }));
  await other.log.flush();
  assert.deepEqual(to.events().map(({ msg, attrs }) => [msg, attrs]), [
    ["sent", {}],
    ["b", { value: "[Error: mine]" }],
    ["d", { request: "[Error: mine]" }],
  ]);
  assert.deepEqual(other.failures, ["mine"]);
  assert.deepEqual(nowhere.failures, [
    "nothing is sent, url is not like https://<project>.supabase.co: not an address",
  ]);
});

Deno.test("Supabase's and Vercel's edge functions are kept until everything is sent", async () => {
  const vercel = Symbol.for("@vercel/request-context");
  const platform = globalThis as { EdgeRuntime?: unknown; [vercel]?: unknown };
  const kept: Promise<unknown>[] = [];
  const runtime = { waitUntil: (promise: Promise<unknown>) => void kept.push(promise) };
  const context = { get: () => runtime };
  for (
    const given of [{ EdgeRuntime: runtime }, { [vercel]: context }, {
      EdgeRuntime: "vercel",
      [vercel]: context,
    }]
  ) {
    Object.assign(platform, given);
    try {
      await using to = receiver();
      await using from = trial(to.url);
      from.log.info("a");
      await from.log.flush();
      assert.equal(kept.length, 1);
      await kept.pop();
    } finally {
      delete platform.EdgeRuntime;
      delete platform[vercel];
    }
  }
});

Deno.test("a value that is not an object of fields gets a name, and loses no event", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const log = from.log.with(null as never).with({ value: 1 });
  log.info("nothing");
  log.info("null", null as never);
  log.error("refused", "Connection refused" as never);
  from.log.with(new Error("first") as never).warn("after", 7 as never);
  await from.log.flush();
  const [{ attrs: { error, ...last } }] = to.events().slice(-1);
  assert.equal((error as Record<string, unknown>).message, "first");
  assert.deepEqual([...to.events().slice(0, -1).map(({ msg, attrs }) => [msg, attrs]), last], [
    ["nothing", { value: 1 }],
    ["null", { value: 1 }],
    ["refused", { value: "Connection refused" }],
    { value: 7 },
  ]);
  assert.deepEqual(from.failures, []);
});

Deno.test("without an address or a key nothing is sent, and the console says so once", async () => {
  const failures: string[] = [];
  await using log = createLogger({
    service: "api",
    url: undefined,
    key: "",
    onError: ({ message }) => failures.push(message),
  });
  log.info("a");
  assert.equal(await log.flush(), true);
  assert.deepEqual(failures, ["nothing is sent, url is not like https://<project>.supabase.co: "]);
  await using swapped = trial("ll_secret", { key: "https://abc.supabase.co" });
  assert.deepEqual(swapped.failures, [
    "nothing is sent, url is not like https://<project>.supabase.co: …",
  ]);
  await using keyless = trial("http://127.0.0.1:9", { key: "" });
  assert.deepEqual(keyless.failures, ["nothing is sent, key is missing"]);
});

Deno.test("an event can be changed or dropped before it is sent", async () => {
  await using to = receiver();
  await using from = trial(to.url, {
    transform: (event) => event.msg === "noise" ? null : { ...event, host: "h-1" },
  });
  from.log.info("noise");
  from.log.info("signal");
  await from.log.flush();
  assert.deepEqual(to.events().map(({ msg, host }) => [msg, host]), [["signal", "h-1"]]);
});

Deno.test("a request is logged with its route, status, time and trace", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const trace = "5b8efff798038103d269b633813fc60c";
  const answer = await from.log.withRequest(
    new Request("http://shop.example/pay?card=1", {
      method: "POST",
      headers: { traceparent: `00-${trace}-eee19b7ec3c1b174-01` },
    }),
    (log) => {
      log.info("paying");
      return new Response("paid", { status: 201 });
    },
  );
  assert.equal(await answer.text(), "paid");
  const failing = new Request("http://shop.example/", { headers: { "X-Request-Id": "r-2" } });
  await assert.rejects(
    from.log.withRequest(failing, () => Promise.reject(new Error("no shop"))),
    { message: "no shop" },
  );
  await from.log.flush();
  const [inside, paid, failed] = to.events();
  assert.deepEqual([inside.msg, inside.req_id, inside.route], ["paying", trace, "/pay"]);
  const { duration_ms, span_id, ...rest } = paid.attrs;
  assert.ok(typeof duration_ms === "number" && duration_ms >= 0);
  assert.equal(inside.attrs.span_id, span_id);
  assert.deepEqual([paid.level, paid.msg, paid.req_id, rest], [
    "info",
    "POST /pay 201",
    trace,
    {
      kind: "span",
      span_kind: "server",
      trace_id: trace,
      parent_id: "eee19b7ec3c1b174",
      method: "POST",
      status: 201,
    },
  ]);
  assert.deepEqual([failed.level, failed.msg, failed.req_id], ["error", "GET / 500", "r-2"]);
  assert.equal((failed.attrs.error as Record<string, unknown>).message, "no shop");
});

Deno.test("a program's output to the console is logged and still shown", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const shown: unknown[][] = [];
  const symbol = Symbol("x");
  const { log, error, info } = console;
  console.log = console.error = (...args: unknown[]) => shown.push(args);
  try {
    const restore = captureConsole(from.log, { levels: ["info", "error"] });
    const failure = new Error("gone");
    console.log("%s has %d items%c", "cart", 3, "color: red", { user: "u-1" });
    console.error("cannot save:", failure);
    console.info();
    console.log(symbol, null);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    console.log("gone", proxy);
    restore();
    console.log("not any more");
    assert.deepEqual(shown.map(([first]) => first), [
      "%s has %d items%c",
      "cannot save:",
      symbol,
      "gone",
      "not any more",
    ]);
  } finally {
    Object.assign(console, { log, error, info });
  }
  await from.log.flush();
  const [first, second, third, ...more] = to.events();
  assert.deepEqual(more.map(({ msg }) => msg), [
    "Symbol(x) null",
    "[TypeError: Cannot perform 'getPrototypeOf' on a proxy that has been revoked]",
  ]);
  assert.deepEqual([first.level, first.msg, first.attrs], [
    "info",
    "cart has 3 items",
    { args: [{ user: "u-1" }] },
  ]);
  assert.deepEqual([second.level, second.msg], ["error", "cannot save: gone"]);
  assert.equal((second.attrs.error as Record<string, unknown>).message, "gone");
  assert.equal(third.msg, "");
});

Deno.test("an address without a scheme or with a path is refused at once", async () => {
  for (
    const url of [
      "abc.supabase.co",
      "localhost:54321",
      "ftp://abc.supabase.co",
      "https://abc.supabase.co/functions/v1/ingest",
      "https://abc.supabase.co?x=1",
      "https://",
    ]
  ) {
    await using from = trial(url);
    assert.deepEqual(from.failures, [
      `nothing is sent, url is not like https://<project>.supabase.co: ${url.replace(/\/+$/, "")}`,
    ]);
  }
  for (const url of ["https://abc.supabase.co/", "http://127.0.0.1:9/rest/v1/"]) {
    await using from = trial(url);
    assert.deepEqual(from.failures, []);
  }
});

Deno.test("fields may come first, as in pino, and a stack trace is an error", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const error = new TypeError("declined");
  from.log.info({ order: 7 }, "placed");
  from.log.info({ order: 7, msg: "own" });
  from.log.error(error, "payment failed");
  from.log.error(`${error.stack}`);
  from.log.error("payment failed", `${error.stack}` as never);
  await from.log.flush();
  const [first, second, third, ...stacks] = to.events();
  assert.deepEqual([first.msg, first.attrs], ["placed", { order: 7 }]);
  assert.deepEqual([second.msg, second.attrs], ["own", { order: 7 }]);
  assert.equal(third.msg, "payment failed");
  assert.equal((third.attrs.error as Record<string, unknown>).message, "declined");
  assert.deepEqual(stacks.map(({ msg, attrs }) => [msg, attrs]), [
    ["TypeError: declined", { error: { stack: error.stack } }],
    ["payment failed", { error: { stack: error.stack } }],
  ]);
});

Deno.test("a request's events are sent before it ends, even if the logger belongs to the module", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const waited: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => void waited.push(promise) };
  for (const path of ["/a", "/b"]) {
    waited.length = 0;
    const request = new Request(`http://x.example${path}`);
    await from.log.withRequest(request, () => new Response(), context);
    await waited.at(-1);
    assert.equal(to.events().at(-1)?.route, path);
  }
});

Deno.test("events that a request cannot send are sent by the next request, with the same key", async () => {
  using _time = withoutWaiting();
  let away = true;
  await using to = receiver((_before, events) =>
    away ? Response.json({ error: "busy" }, { status: 503 }) : accepted(events.length)
  );
  await using from = trial(to.url);
  for (const path of ["/a", "/b"]) {
    const waited: Promise<unknown>[] = [];
    const request = new Request(`http://x.example${path}`);
    await from.log.withRequest(request, () => new Response(), {
      waitUntil: (promise) => void waited.push(promise),
    });
    // Every promise must settle, otherwise the runtime would cancel it.
    await Promise.all(waited);
    away = false;
  }
  const [last, ...others] = to.requests.toReversed();
  assert.ok(others.length > 2, `${others.length}`);
  assert.equal(new Set(others.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  assert.deepEqual(
    [others[0], last].map(({ body }) => JSON.parse(body).map(({ route }: Event) => route)),
    [["/a"], ["/b"]],
  );
});
