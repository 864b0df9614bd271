import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";

const json = { "Content-Type": "application/json" };
const time = "2026-11-21T12:34:56.789Z";
const ms = Date.parse(time);

Deno.test("a marker becomes a record of a release; anything else is refused with a sentence", async () => {
  const marked = async (body: unknown, path = "/marker") => {
    const { status, text, events } = await receive(path, { body: JSON.stringify(body) });
    return [status, JSON.parse(text).error ?? JSON.parse(text), events];
  };
  const url = "https://ci.example/7";
  assert.deepEqual(await marked({ release: "1.2.3", service: "shop", env: "prod", url, ts: ms }), [
    200,
    { success: true, ingested: 1, rejected: 0 },
    [{
      ts: time,
      level: "info",
      msg: "Release 1.2.3",
      service: "shop",
      env: "prod",
      attrs: { kind: "marker", release: "1.2.3", url },
    }],
  ]);
  assert.deepEqual((await marked({ release: 42 }, "/marker?service=shop"))[2], [
    { level: "info", msg: "Release 42", service: "shop", attrs: { kind: "marker", release: "42" } },
  ]);
  const release = "release must be a text of 1 to 200 characters on one line";
  const address = "url must be an http or https address of at most 2048 characters";
  for (
    const [body, error] of [
      [[], "A marker is a JSON object"],
      [{}, release],
      ...[" ", true, {}, "a\nb", "é".repeat(201)].map((value) => [{ release: value }, release]),
      ...["ftp://a", "https://", "javascript:alert(1)", 1, `https://a/${"b".repeat(2048)}`]
        .map((value) => [{ release: "1", url: value }, address]),
      [{ release: "1", service: 7 }, "service must be a text of 1 to 255 characters on one line"],
      [{ release: "1", ts: "now" }, "ts must be a time, such as 2026-11-21T12:34:56Z"],
      [
        { release: "1", version: "2" },
        "A marker has release, service, env, url, ts, but not version",
      ],
    ] as const
  ) {
    assert.deepEqual(await marked(body), [400, error, []], JSON.stringify(body));
  }
  assert.equal((await marked({ release: "é".repeat(200) }))[0], 200);
});

/** The members of GitHub's event `deployment_status` that its documentation lists and a marker is made of. */
const deployment = (status: object, ref = "main") => ({
  action: "created",
  deployment_status: {
    state: "success",
    environment: "production",
    target_url: "",
    log_url: "",
    created_at: "2026-11-21T12:34:56Z",
    ...status,
  },
  deployment: {
    sha: "9f1c2d3e4b5a69788796a5b4c3d2e1f00f1e2d3c",
    ref,
    task: "deploy",
    environment: "production",
  },
  repository: { full_name: "acme/shop", html_url: "https://github.com/acme/shop" },
});

Deno.test("GitHub's webhook: a successful deployment is a marker, any other event is acknowledged", async () => {
  const commit = "https://github.com/acme/shop/commit/9f1c2d3e4b5a69788796a5b4c3d2e1f00f1e2d3c";
  const log = "https://github.com/acme/shop/actions/runs/7/job/8";
  const none = '{"success":true,"ingested":0,"rejected":0}';
  for (
    const [event, body, release, url] of [
      ["deployment_status", deployment({}), "9f1c2d3e4b5a", commit],
      ["deployment_status", deployment({ log_url: log }, "v1.2.3"), "v1.2.3", log],
      ["deployment_status", deployment({ target_url: log }, "refs/tags/blue"), "blue", log],
      ["deployment_status", deployment({ state: "failure" })],
      ["deployment", deployment({})],
      ["ping", { zen: "Keep it logically awesome.", hook_id: 1 }],
    ] as const
  ) {
    const text = JSON.stringify(body);
    for (const form of [text, new URLSearchParams({ payload: text })]) {
      const answer = await receive("/marker?service=shop", {
        headers: { "X-GitHub-Event": event, ...form === text && json },
        body: form,
      });
      assert.equal(answer.status, 200, answer.text);
      if (release === undefined) assert.deepEqual([answer.text, answer.events], [none, []]);
      else {
        assert.deepEqual(answer.events, [{
          ts: "2026-11-21T12:34:56Z",
          level: "info",
          msg: `Release ${release}`,
          service: "shop",
          env: "production",
          attrs: { kind: "marker", release, url },
        }]);
      }
    }
  }
  const unsigned = await receive("/marker", {
    headers: { "X-GitHub-Event": "ping" },
    credentials: {},
  });
  assert.equal(unsigned.status, 401);
  assert.match(unsigned.headers.get("WWW-Authenticate") ?? "", /name the API key by \?key_id=/);
  const broken = await receive("/marker", {
    headers: { "X-GitHub-Event": "deployment_status" },
    body: "{}",
  });
  assert.deepEqual([broken.status, JSON.parse(broken.text).error], [
    400,
    "The event has no deployment_status, or no deployment with a sha",
  ]);
});
