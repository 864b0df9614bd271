import assert from "node:assert/strict";
import { type Run, runCommand } from "../../../../../cli/testing.ts";
import {
  type Peer,
  type PeerRequest,
  startPeer,
} from "../../../../../supabase/functions/_shared/testing.ts";
import { tempFolder } from "../../../../../tests/support/temp_folder.ts";

const checkout = new URL("../../../../..", import.meta.url).pathname;

const warning = {
  position: 1,
  message: "service=api is read as a text: write a colon after a field",
  suggestion: "service:api",
};

function answer({ path, body }: PeerRequest): Response {
  const { p_query_dsl: query, p_limit: limit, p_ts_from: from } = JSON.parse(body);
  const isWrong = query === "service=api";
  const isNone = query === "none" || query === "service=api | count() by host";
  if (isNone && !path.endsWith("search_logs")) return Response.json([]);
  if (path.endsWith("log_stats")) {
    return Response.json([{
      group: { service: "a" },
      value: 1,
      values: { count: 1 },
      total_groups: 7,
    }]);
  }
  const record = { ts: "2026-11-21T10:00:00Z", level: "info", msg: "m", service: "a", attrs: null };
  return Response.json({
    logs: isWrong || query === "none" ? [] : Array.from({ length: limit }, () => record),
    next_cursor: isWrong || query === "none" ? null : "more",
    ts_from: from === "now-7d" ? "2026-11-14T10:00:00+00:00" : "2026-11-21T09:00:00+00:00",
    ts_to: "2026-11-21T10:00:00+00:00",
    warnings: isWrong ? [warning] : [],
  });
}

const run = (peer: Peer, args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t", TZ: "UTC", ...env });

/** Runs a command like a shell: by npm's script. */
async function runScript(args: string[], env: Record<string, string> = {}): Promise<Run> {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: [`${checkout}local/run.mjs`, ...args],
    env: { NO_COLOR: "1", ...env },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

/** Makes an empty home folder, which has no profiles. */
async function newHome() {
  const folder = await Deno.makeTempDir();
  return {
    folder,
    env: { XDG_CONFIG_HOME: folder },
    async store(profile: object): Promise<void> {
      await Deno.mkdir(`${folder}/logloom`, { recursive: true });
      const text = JSON.stringify({ default: profile });
      await Deno.writeTextFile(`${folder}/logloom/profiles.json`, text);
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("a search shows the service's warnings and still succeeds", async () => {
  await using peer = startPeer(answer);
  assert.deepEqual(await run(peer, ["search", "service=api"]), {
    code: 0,
    out: "",
    err: `logloom: ${warning.message}; perhaps you mean service:api\n` +
      `logloom: No records in the last hour: --since 24h looks further back, ${lists}.\n`,
  });
});

Deno.test("an aggregate that finds nothing has the warnings of its filter", async () => {
  await using peer = startPeer(answer);
  assert.deepEqual((await run(peer, ["stats", "service=api | count() by host"])).err.split("\n"), [
    `logloom: No groups in this range: --since 24h looks further back, ${lists}.`,
    `logloom: ${warning.message}; perhaps you mean service:api | count() by host`,
    "",
  ]);
});

const lists = "npm run logloom -- fields lists the fields that there are";

Deno.test("a query that finds nothing says in which range, and what to try", async () => {
  await using peer = startPeer(answer);
  const cases: [string[], string][] = [
    [["search"], `No records in the last hour: --since 24h looks further back, ${lists}.`],
    [
      ["search", "--since", "7d", "--json"],
      `No records in the last 7 days: --since 30d looks further back, ${lists}.`,
    ],
    [
      ["search", "--since", "2026-11-21T09:00", "--until", "2026-11-21T10:00"],
      `No records from 2026-11-21T09:00:00+00:00 to 2026-11-21T10:00:00+00:00: ${lists}.`,
    ],
    [
      ["stats", "--since", "90m"],
      `No groups in the last 90 minutes: --since 24h looks further back, ${lists}.`,
    ],
    [["stats", "--until", "now-1d"], `No groups in this range: ${lists}.`],
    [["fields", "--since", "30d"], "No fields in the last 30 days."],
  ];
  for (const [args, said] of cases) {
    const none = await run(peer, [...args, "none"]);
    assert.deepEqual(none, { code: 0, out: "", err: `logloom: ${said}\n` });
  }
});

Deno.test("a search that ends at its limit says so, to a pipe too", async () => {
  await using peer = startPeer(answer);
  const records = await run(peer, ["search", "x", "--limit", "2"]);
  assert.equal(records.out.trim().split("\n").length, 2);
  assert.deepEqual(
    [records.code, records.err],
    [0, "logloom: these are 2 records, and there are more: --limit N shows more.\n"],
  );
  const groups = await run(peer, ["search", "| count() by service"]);
  assert.equal(
    groups.err,
    "logloom: these are 1 of 7 groups, and there are more: --limit N shows more.\n",
  );
});

Deno.test("a query may begin with -, and its words keep their order", async () => {
  await using peer = startPeer(answer);
  const { code } = await run(peer, [
    "search",
    "-service:x",
    "level:error",
    "-host:y",
    "--limit",
    "1",
  ]);
  assert.equal(code, 0);
  const { p_query_dsl, p_order } = JSON.parse(peer.requests[0].body);
  assert.equal(p_query_dsl, "-service:x level:error -host:y");
  // Without --oldest no order is sent.
  assert.equal(p_order, undefined);
});

Deno.test({
  name: "while a pager is open, each Ctrl-C goes to the pager",
  // The program `script` provides a terminal.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using peer = startPeer(answer);
    const twice = "kill -INT $PPID; sleep 1; kill -INT $PPID; sleep 0.5";
    const { code, stdout } = await new Deno.Command("script", {
      args: ["-qec", `node ${checkout}local/run.mjs search x --limit 3`, "/dev/null"],
      env: { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t", PAGER: `wc -l; ${twice}; echo shown` },
    }).output();
    assert.match(new TextDecoder().decode(stdout), /\n3\r\nshown\r\n$/);
    assert.equal(code, 0);
  },
});

Deno.test("an export names a file that it cannot write, and an interrupted one can be continued", async () => {
  let pages = 0;
  const line = `{"ts":"2026-11-21T10:00:00+00:00","id":"${crypto.randomUUID()}"}\n`;
  await using peer = startPeer(() =>
    pages++ % 2 === 0
      ? Response.json({ text: line, records: 1, cursor: "c", next_cursor: "n", logs: null })
      : Response.json({ code: "PT408", message: "It took too long" }, { status: 408 })
  );
  await using temp = await tempFolder();
  const folder = temp.path;
  const nowhere = await run(peer, ["search", "x", "--export", `${folder}/none/a.ndjson`]);
  assert.deepEqual(nowhere, {
    code: 1,
    out: "",
    err: `logloom: ${folder}/none/a.ndjson cannot be written: ENOENT.\n`,
  });
  pages = 0;
  const path = `${folder}/a.ndjson`;
  const cut = await run(peer, ["search", "x", "--export", path]);
  assert.equal(cut.code, 1);
  assert.match(cut.err, /It took too long/);
  assert.match(cut.err, /a\.ndjson holds 1 record, and --resume goes on with it/);
  assert.equal(await Deno.readTextFile(path), line);
});

Deno.test("without a session, the commands that read logs use an API key, and only at logloom-read", async () => {
  const [ts_from, ts_to] = ["2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z"];
  const page = { logs: [], next_cursor: null, ts_from, ts_to, warnings: [], more: false };
  await using peer = startPeer(({ path }) => {
    const operation = path.split("/").at(-1);
    if (operation === "export_logs") {
      return Response.json({ text: "", records: 0, cursor: "c", next_cursor: null, logs: null });
    }
    if (operation === "tail_logs") return Response.json({ message: "enough" }, { status: 400 });
    return Response.json(
      operation === "search_logs" ? page : operation === "validate_query" ? { valid: true } : [],
    );
  });
  await using home = await newHome();
  const env = { ...home.env, LOGLOOM_TOKEN: "", LOGLOOM_API_KEY: "ll_reads" };
  const commands: [string[], string[]][] = [
    [["search", "x"], ["search_logs"]],
    [["search", "| count()"], ["log_stats", "search_logs"]],
    [["search", "x", "--export", `${home.folder}/a.csv`], ["export_logs"]],
    [["stats", "x"], ["log_stats", "search_logs"]],
    [["fields", "x"], ["list_log_fields"]],
    [["tail", "x"], ["validate_query", "tail_logs"]],
  ];
  for (const [args] of commands) {
    const { code, err } = await run(peer, args, env);
    const isEnded = args[0] === "tail";
    assert.deepEqual([code, err.includes("enough")], isEnded ? [1, true] : [0, false], err);
  }
  assert.deepEqual(
    peer.requests.map(({ path, headers }) => [
      path,
      headers.get("x-api-key"),
      headers.get("authorization"),
    ]),
    commands.flatMap(([, operations]) => operations).map((operation) => [
      `/functions/v1/logloom-read/v1/${operation}`,
      "ll_reads",
      null,
    ]),
  );

  // All other commands need a user: a key is not enough.
  const needed = `logloom: an access token is needed for ${peer.url}: npm run logloom -- login ` +
    "asks for one, or set LOGLOOM_TOKEN";
  const keys = await run(peer, ["keys", "list"], env);
  assert.deepEqual(keys, { code: 1, out: "", err: `${needed}.\n` });
  const nobody = await run(peer, ["search", "x"], { ...env, LOGLOOM_API_KEY: "" });
  assert.deepEqual(nobody, {
    code: 1,
    out: "",
    err: `${needed}, or LOGLOOM_API_KEY to a key that reads.\n`,
  });
});

Deno.test("a session has priority over an API key, and a named key over the profile's", async () => {
  await using peer = startPeer(answer);
  await using home = await newHome();
  const search = async (profile: object, env: Record<string, string>) => {
    await home.store({ url: peer.url, ...profile });
    const before = peer.requests.length;
    const asked = ["search", "x", "--limit", "1"];
    const { code, err } = await run(peer, asked, { ...home.env, LOGLOOM_TOKEN: "", ...env });
    assert.equal(code, 0, err);
    const { path, headers } = peer.requests[before];
    const given = ["authorization", "x-api-key", "apikey"].map((name) => headers.get(name));
    return [path, given.find((value) => value !== null)];
  };
  const session = { session: { access_token: "stored" } };
  const asUser = "/rest/v1/rpc/search_logs";
  const byKey = "/functions/v1/logloom-read/v1/search_logs";
  const key = { LOGLOOM_API_KEY: "ll_named" };
  assert.deepEqual(await search({}, { ...key, LOGLOOM_TOKEN: "t" }), [asUser, "Bearer t"]);
  assert.deepEqual(await search({}, { LOGLOOM_TOKEN: "sb_secret_k" }), [asUser, "sb_secret_k"]);
  assert.deepEqual(await search(session, key), [asUser, "Bearer stored"]);
  assert.deepEqual(await search({ api_key: "ll_kept", ...session }, {}), [asUser, "Bearer stored"]);
  assert.deepEqual(await search({ api_key: "ll_kept" }, key), [byKey, "ll_named"]);
  assert.deepEqual(await search({ api_key: "ll_kept" }, {}), [byKey, "ll_kept"]);

  // A key that was stored for one project is not sent to another project.
  const elsewhere = { ...session, api_key: "ll_kept", url: "http://127.0.0.1:9" };
  assert.deepEqual(await search(elsewhere, key), [byKey, "ll_named"]);
});

Deno.test("a redirect is not followed, so no key, token or password goes to another address", async () => {
  await using elsewhere = startPeer(answer);
  await using peer = startPeer(() => Response.redirect(`${elsewhere.url}/x`, 307));
  await using home = await newHome();
  const err = `logloom: the address answers with a redirect to ${elsewhere.url}/x: name that one`;
  const env = { ...home.env, LOGLOOM_TOKEN: "" };
  const byKey = await run(peer, ["search", "x"], { ...env, LOGLOOM_API_KEY: "ll_reads" });
  assert.deepEqual(byKey, { code: 1, out: "", err: `${err}\n` });
  const byToken = await run(peer, ["search", "x"], { ...env, LOGLOOM_TOKEN: "t" });
  assert.deepEqual(byToken, { code: 1, out: "", err: `${err}\n` });
  const session = { access_token: "old", refresh_token: "r", expires_at: 1 };
  await home.store({ url: peer.url, session });
  assert.deepEqual(await run(peer, ["search", "x"], env), { code: 1, out: "", err: `${err}.\n` });
  assert.deepEqual(
    peer.requests.map(({ path }) => path),
    ["/functions/v1/logloom-read/v1/search_logs", "/rest/v1/rpc/search_logs", "/auth/v1/token"],
  );
  assert.deepEqual(elsewhere.requests, []);
});

Deno.test("a page from something other than the service is not an answer, and the call is retried", async () => {
  let asked = 0;
  await using peer = startPeer((request) =>
    asked++ === 0 ? new Response("<html>Sign in</html>") : answer(request)
  );
  const { code, err } = await run(peer, ["search", "service=api"]);
  assert.equal(code, 0);
  assert.match(
    err,
    /^logloom: Something else answered instead of the service; trying again …\nlogloom: service=/,
  );
});

Deno.test("a key that may not read gets an error with what to do, and no file is made", async () => {
  await using peer = startPeer(() =>
    Response.json({
      code: "PT403",
      message: "This API key may only send",
      details: null,
      hint: 'create_api_key makes one that reads: p_scopes ["read"].',
    }, { status: 403 })
  );
  await using home = await newHome();
  const path = `${home.folder}/a.ndjson`;
  const env = { ...home.env, LOGLOOM_TOKEN: "", LOGLOOM_API_KEY: "ll_sends" };
  assert.deepEqual(await run(peer, ["search", "x", "--export", path], env), {
    code: 1,
    out: "",
    err: `logloom: This API key may only send
  keys create makes one that reads: --scopes read.
`,
  });
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
});

Deno.test("login stores a key that may only read, and does not store an unknown key", async () => {
  let status = 403;
  await using peer = startPeer(() => {
    const error = status === 403 ? "This API key may only read" : "Invalid token, API key";
    return Response.json({ error }, { status });
  });
  await using home = await newHome();
  const login = async () => {
    const args = ["login", "--url", peer.url, "--api-key"];
    return (await runCommand(args, home.env, "ll_reads\n")).code;
  };
  const stored = `${home.folder}/logloom/profiles.json`;
  status = 401;
  assert.equal(await login(), 1);
  await assert.rejects(Deno.stat(stored), Deno.errors.NotFound);
  status = 403;
  assert.equal(await login(), 0);
  assert.deepEqual(JSON.parse(await Deno.readTextFile(stored)), {
    default: { url: peer.url, api_key: "ll_reads" },
  });
});

Deno.test("an option that npm took for itself is an error, because the command would run without it", async () => {
  await using peer = startPeer(answer);
  const env = { npm_lifecycle_event: "search", npm_config_since: "true" };
  assert.deepEqual(await runScript(["search", "1h", "q"], { LOGLOOM_URL: peer.url, ...env }), {
    code: 1,
    out: "",
    err:
      "logloom: npm took --since for itself: write npm run search -- --since …, with -- before " +
      "it.\n",
  });
  assert.deepEqual(peer.requests, []);
});

Deno.test("--help of every command says what it does and does nothing", async () => {
  const { scripts } = JSON.parse(await Deno.readTextFile(`${checkout}package.json`));
  const commands = Object.values<string>(scripts)
    .flatMap((script) => /local\/run\.mjs (\S+)$/.exec(script)?.[1] ?? []);
  assert.ok(commands.length >= 15, `${commands}`);
  await Promise.all(commands.map(async (name) => {
    const { code, out, err } = await runScript([name, "--help"]);
    assert.deepEqual([code, err], [0, ""], name);
    assert.match(out, /npm (?:run |start|test|stop)/, name);
    assert.match(out, /Exit code: /, name);
  }));
});
