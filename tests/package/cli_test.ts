import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";
import { checkout } from "../../local/stack.ts";
import { createKey, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { callAsOwner, openDatabase, queueIsEmpty } from "../support/database.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";
import { freePort } from "../support/free_port.ts";
import { records } from "./programs.ts";
import { project } from "./project.ts";

const program = `${project}/node_modules/.bin/logloom`;
const { commands, names } = await listed();

/** A user's machine: an empty folder, which is also the home folder. */
async function newHome(env: Record<string, string> = {}) {
  const folder = await Deno.makeTempDir();
  const all = { PATH: Deno.env.get("PATH") ?? "", HOME: folder, TZ: "UTC", NO_COLOR: "1", ...env };
  const command = (args: string[], more: Record<string, string> = {}) =>
    new Deno.Command(program, {
      args,
      cwd: folder,
      env: { ...all, ...more },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
  async function run(args: string[], input = "", more: Record<string, string> = {}) {
    const child = command(args, more).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input)).catch(() => {});
    await writer.close().catch(() => {});
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }
  return {
    folder,
    env: all,
    command,
    run,
    profiles: `${folder}/.config/logloom/profiles.json`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** A home folder with a login by token and by key. */
async function loggedIn(tenant: Tenant) {
  const { key_value: key, key_id } = await createKey(tenant);
  const home = await newHome({
    LOGLOOM_URL: stack.url,
    LOGLOOM_TOKEN: tenant.token,
    LOGLOOM_API_KEY: key,
    LOGLOOM_PUBLISHABLE_KEY: stack.anonKey,
  });
  return { ...home, key, key_id };
}

const password = "correct horse battery staple";

/** A fake hosted project: the stack, behind a fake Auth with one user. */
async function hostedProject(tenant: Tenant, { hook = true, seconds = 3600 } = {}) {
  const auth = { grants: [] as string[], refresh: "refresh-1", hook };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    if (request.url?.startsWith("/auth/v1/token")) {
      const { password: given, refresh_token } = JSON.parse(body.toString());
      const isKnown = given === password || refresh_token === auth.refresh;
      auth.grants.push(request.url.split("=")[1]);
      if (isKnown) auth.refresh = `refresh-${auth.grants.length + 1}`;
      response.writeHead(isKnown ? 200 : 400, { "Content-Type": "application/json" }).end(
        JSON.stringify(
          isKnown
            ? {
              access_token: await userToken({
                ...auth.hook && { tenant_id: tenant.id },
                sub: tenant.userId,
              }),
              refresh_token: auth.refresh,
              expires_in: seconds,
            }
            : { error_code: "invalid_credentials", msg: "Invalid login credentials" },
        ),
      );
      return;
    }
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await fetch(`${stack.url}${request.url}`, {
      method: request.method,
      headers: headers as Record<string, string>,
      ...request.method === "POST" && { body },
    });
    response.writeHead(answer.status, { "Content-Type": "application/json" })
      .end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    auth,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Lists the commands, and the subcommands of each, from the program's help. */
async function listed() {
  const help = async (...words: string[]) => {
    const { stdout } = await new Deno.Command(program, { args: [...words, "--help"] }).output();
    const text = new TextDecoder().decode(stdout);
    const [, part = ""] = /\nCommands:\n((?: {2}.*\n)+)/.exec(text) ?? [];
    return [...part.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
  };
  const names = await help();
  const commands: string[][] = [];
  for (const name of names) {
    const parts = await help(name);
    commands.push([name], ...parts.map((part) => [name, part]));
  }
  return { commands, names };
}

async function filled(name: string, events: unknown[]): Promise<Tenant> {
  const tenant = await newTenant(name);
  assert.equal((await ingest(tenant.headers, events)).status, 200);
  await using sql = openDatabase();
  await queueIsEmpty(sql);
  return tenant;
}

Deno.test("--help of each command has examples and exit codes, and does nothing", async () => {
  assert.deepEqual(names, [
    "login",
    "search",
    "tail",
    "stats",
    "fields",
    "ship",
    "mark",
    "keys",
    "alerts",
    "rules",
    "pull",
    "diff",
    "apply",
    "console",
    "open",
    "doctor",
    "init",
    "upgrade",
    "uninstall",
    "completion",
  ]);
  await using home = await newHome();
  for (const words of commands) {
    const { code, out, err } = await home.run([...words, "--help"]);
    assert.deepEqual([code, err], [0, ""], words.join(" "));
    assert.match(out, new RegExp(`^Usage: logloom ${words.join(" ")} `), words.join(" "));
    assert.match(out, new RegExp(`\nExamples:\n.*logloom ${words.join(" ")}`), words.join(" "));
    assert.match(out, /\nExit code: 0/);
  }
  assert.deepEqual([...Deno.readDirSync(home.folder)], []);
  const { version } = JSON.parse(
    await Deno.readTextFile(`${checkout}/packages/logloom/package.json`),
  );
  assert.deepEqual(await home.run(["--version"]), { code: 0, out: `${version}\n`, err: "" });
});

Deno.test("a wrong command line gives one sentence and exit code 1", async () => {
  await using home = await newHome();
  const cases: [string[], string][] = [
    [[], "say what to do; --help lists the commands."],
    [["serach"], "Unknown command 'serach' (Did you mean search?); --help lists the options."],
    [["keys"], "say what to do; --help lists the commands."],
    [["search", "--nope"], "Unknown option '--nope'; --help lists the options."],
    [["search", "--limit", "-1", "x"], "--limit takes a whole number from 1 to 100000, not -1."],
    [
      ["ship", "--key", "ll_secret"],
      "a command line can be read by others, so there is no --key: log in, or set LOGLOOM_API_KEY, " +
      "LOGLOOM_TOKEN or LOGLOOM_PUBLISHABLE_KEY.",
    ],
    [
      ["search", "x"],
      "say which project: logloom login stores one, or set LOGLOOM_URL and LOGLOOM_TOKEN or " +
      "LOGLOOM_API_KEY.",
    ],
    [["search", "--profile", "no"], "there is no profile no: logloom login --profile no."],
    [["login", "--url", "x"], "x is not the address of a project, such as https://….supabase.co."],
    [["mark"], 'name the release: logloom mark "$(git rev-parse --short=12 HEAD)".'],
    [["completion", "tcsh"], "there is bash, zsh and fish, not tcsh."],
  ];
  for (const [args, sentence] of cases) {
    assert.deepEqual(await home.run(args), { code: 1, out: "", err: `logloom: ${sentence}\n` });
  }
});

Deno.test("after a login by password a search works, and the session is renewed", async () => {
  const tenant = await filled("cli-login", [{ level: "error", msg: "card declined" }]);
  await using hosted = await hostedProject(tenant, { seconds: 30 });
  await using home = await newHome();
  const login = ["login", "--url", `${hosted.url}/`, "--publishable-key", stack.anonKey];
  const email = ["--email", "ann@example.com"];

  const refused = await home.run([...login, ...email], "wrong\n");
  assert.deepEqual(refused, {
    code: 1,
    out: "",
    err: "logloom: Supabase Auth refused: Invalid login credentials.\n",
  });
  assert.deepEqual(await home.run(login, `${password}\n`), {
    code: 1,
    out: "",
    err: "logloom: --email is missing: E-mail address.\n",
  });
  hosted.auth.hook = false;
  const without = await home.run([...login, ...email], `${password}\n`);
  assert.equal(without.code, 1);
  assert.match(without.err, /It has no tenant_id: the access-token hook is off/);
  await assert.rejects(Deno.stat(home.profiles));

  hosted.auth.hook = true;
  const run = await home.run([...login, ...email], `${password}\n`);
  assert.deepEqual(run, {
    code: 0,
    out: `Logged in to ${hosted.url} (profile default).\n`,
    err: "",
  });
  assert.equal((await Deno.stat(home.profiles)).mode! & 0o777, 0o600);
  assert.equal((await Deno.stat(`${home.folder}/.config/logloom`)).mode! & 0o777, 0o700);
  assert.ok(!(await Deno.readTextFile(home.profiles)).includes(password));

  // The token expires within a minute, so each command renews it with the newest refresh token.
  for (let n = 0; n < 2; n++) {
    const { code, out, err } = await home.run(["search", "declined"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /error - {12}card declined\n$/);
  }
  assert.deepEqual(hosted.auth.grants.slice(-3), ["password", "refresh_token", "refresh_token"]);
  hosted.auth.refresh = "another";
  const ended = await home.run(["search", "declined"]);
  assert.deepEqual(ended, {
    code: 1,
    out: "",
    err: "logloom: the session of the profile default has ended: log in again.\n",
  });
});

Deno.test("several profiles can be stored, and environment variables override them", async () => {
  const [one, two] = [
    await filled("cli-one", [{ msg: "of one" }]),
    await filled("cli-two", [{ msg: "of two" }]),
  ];
  await using home = await newHome();
  for (const [name, tenant] of [["default", one], ["two", two]] as const) {
    const { code, err } = await home.run(
      ["login", "--url", stack.url, "--access-token", "--profile", name],
      `${tenant.token}\n`,
    );
    assert.deepEqual([code, err], [0, ""]);
  }
  const messages = async (args: string[], env = {}) => {
    const { out } = await home.run(["search", "of", "--json", ...args], "", env);
    return out.trim().split("\n").map((line) => JSON.parse(line).msg);
  };
  assert.deepEqual(await messages([]), ["of one"]);
  assert.deepEqual(await messages(["--profile", "two"]), ["of two"]);
  assert.deepEqual(await messages([], { LOGLOOM_PROFILE: "two" }), ["of two"]);
  assert.deepEqual(await messages([], { LOGLOOM_TOKEN: two.token }), ["of two"]);

  // Stored credentials are not sent to another project.
  const other = `http://127.0.0.1:${freePort()}`;
  const elsewhere = await home.run(["search", "of"], "", { LOGLOOM_URL: other });
  assert.match(elsewhere.err, new RegExp(`^logloom: an access token is needed for ${other}: `));

  // A key is added to the profile, if the service knows it.
  const { key_value: key } = await createKey(one);
  const wrong = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
  const refused = await home.run(["login", "--api-key"], wrong);
  assert.equal(refused.code, 1);
  assert.ok(!refused.err.includes(wrong) && /^logloom: 401 /.test(refused.err), refused.err);
  assert.equal((await home.run(["login", "--api-key"], key)).code, 0);
  assert.equal((await home.run(["ship"], "shipped\n")).code, 0);
  assert.deepEqual((await records(one)).map(({ msg }) => msg), ["of one", "shipped"]);
  assert.deepEqual(await messages([]), ["of one"]);
});

Deno.test("search, stats and fields answer; numbers keep their digits; a wrong query gets its fault marked", async () => {
  const tenant = await filled("cli-read", [
    { level: "error", service: "api", msg: "a", attrs: { big: 1, ms: 5 } },
    { level: "error", service: "web", msg: "b" },
    { level: "info", service: "api", msg: "c" },
  ]);
  await ingest(tenant.headers, '[{"msg":"exact","attrs":{"n":12345678901234567890}}]');
  await using sql = openDatabase();
  await queueIsEmpty(sql);
  await using home = await loggedIn(tenant);

  const exact = await home.run(["search", "exact", "--json"]);
  assert.ok(exact.out.includes('"attrs":{"n":12345678901234567890}'), exact.out);
  assert.match((await home.run(["search", "exact"])).out, /exact n=12345678901234567890\n$/);
  const stats = await home.run(["stats", "-service:x", "level:error", "| count() by service"]);
  assert.deepEqual(stats, {
    code: 0,
    out: "service  count\napi          1\nweb          1\n",
    err: "",
  });
  const json = await home.run(["stats", "level:error", "--json"]);
  assert.deepEqual(JSON.parse(json.out).values, { count: 2 });
  const fields = await home.run(["fields", "service:api"]);
  assert.match(fields.out, /^field +type +count {2}values\n/);
  assert.match(fields.out, /\nattrs\.ms +number +1 {2}5\n/);
  const wrong = await home.run(["stats", "level:loud"]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /^logloom: Unknown level "loud"\n {2}level:loud\n {8}\^\n/);
});

Deno.test("tail follows until Ctrl-C, which is exit code 130", async () => {
  const tenant = await filled("cli-tail", [{ msg: "before" }]);
  await using home = await loggedIn(tenant);
  const child = home.command(["tail", "--json"]).spawn();
  const lines: string[] = [];
  const reading = (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      lines.push(...chunk.trim().split("\n"));
    }
  })();
  await eventually("the line before", () => Promise.resolve(lines.length === 1 || undefined));
  await ingest(tenant.headers, [{ msg: "after" }]);
  await eventually("the line after", () => Promise.resolve(lines.length === 2 || undefined));
  child.kill("SIGINT");
  const { code } = await child.status;
  await reading;
  const said = await new Response(child.stderr).text();
  await child.stdin.close();
  assert.deepEqual([code, said], [130, ""]);
  assert.deepEqual(lines.map((line) => JSON.parse(line).msg), ["before", "after"]);
});

Deno.test("a file that is shipped again stores nothing twice, and Ctrl-C sends what was read", async () => {
  const tenant = await newTenant("cli-ship");
  await using home = await loggedIn(tenant);
  const ts = new Date().toISOString();
  const path = `${home.folder}/app.log`;
  const write = (from: number, to: number) =>
    Deno.writeTextFile(
      path,
      Array.from({ length: to - from }, (_, n) => `${JSON.stringify({ ts, n: from + n })}\n`)
        .join(""),
      { append: true },
    );
  for (const [from, to] of [[0, 300], [300, 300], [300, 500]]) {
    await write(from, to);
    const { code, out, err } = await home.run(["ship", "app.log"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, new RegExp(`^${to} events accepted, 0 rejected `));
  }
  const stored = (await records(tenant)).map(({ attrs }) => Number(attrs?.n));
  assert.deepEqual(stored.sort((a, b) => a - b), [...Array(500).keys()]);

  const rejected = await home.run(["ship", "--json"], '{"ts":"1999-01-01"}\nfine\n');
  assert.equal(rejected.code, 2);
  const { accepted, reasons } = JSON.parse(rejected.out);
  assert.equal(accepted, 1);
  assert.match(reasons[0], /^standard input, line 1: ts_out_of_range: /);

  const child = home.command(["ship"]).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("line\n".repeat(10_001)));
  await eventually("a batch arrives", async () => {
    const { body } = await rpc<{ value: number }[]>(tenant.token, "log_stats", {
      p_query_dsl: "line",
    });
    return body[0]?.value >= 10_000 || undefined;
  });
  child.kill("SIGINT");
  const { code, stdout, stderr } = await child.output();
  await writer.abort().catch(() => {});
  assert.equal(code, 0);
  assert.match(new TextDecoder().decode(stdout), /^10,001 events accepted, 0 rejected /);
  assert.equal(new TextDecoder().decode(stderr), "");
});

Deno.test("a full disk for the output is an error, a closed pipe is not", async () => {
  const tenant = await filled("cli-full", [{ msg: "a" }, { msg: "b" }]);
  await using home = await loggedIn(tenant);
  const shell = async (line: string) => {
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-c", line],
      cwd: home.folder,
      env: { ...home.env, PATH: `${project}/node_modules/.bin:${home.env.PATH}` },
      clearEnv: true,
    }).output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  };
  const full =
    "logloom: standard output: the disk is full; free some space and run the command again.\n";
  for (const command of ["keys create ci", "search ''", "stats '| count()'", "keys list"]) {
    const { code, err } = await shell(`logloom ${command} > /dev/full`);
    assert.equal(code, 1, command);
    assert.ok(err.endsWith(full), err);
  }
  const closed = await shell("set -o pipefail; logloom search '' | true");
  assert.deepEqual(closed, { code: 0, out: "", err: "" });
});

Deno.test("keys are created, listed, rotated and revoked", async () => {
  const tenant = await newTenant("cli-keys");
  await using home = await newHome({ LOGLOOM_URL: stack.url, LOGLOOM_TOKEN: tenant.token });
  const made = await home.run(["keys", "create", "web server"]);
  assert.equal(made.code, 0, made.err);
  const key = made.out.trim();
  assert.match(key, /^ll_/);
  const [, id] = /^Its id is (\S+)\. The key is shown only now\.\n$/.exec(made.err) ?? [];
  assert.ok(id, made.err);
  assert.equal((await home.run(["ship"], "x\n", { LOGLOOM_API_KEY: key })).code, 0);

  const rotated = JSON.parse((await home.run(["keys", "rotate", id, "--json"])).out);
  assert.notEqual(rotated.key_value, key);
  assert.equal((await home.run(["keys", "revoke", id])).out, `Revoked ${id}.\n`);
  const list = (await home.run(["keys", "list"])).out.split("\n");
  assert.match(list[0], /^id +name +begins with +status/);
  assert.equal(list.filter((line) => / web server +ll_\w+ +active /.test(line)).length, 1);
  assert.ok(list.some((line) => line.startsWith(id) && / revoked /.test(line)), list.join("\n"));
  assert.ok(!list.join().includes(key));

  const refused = await home.run(["ship"], "x\n", { LOGLOOM_API_KEY: key });
  assert.equal(refused.code, 1);
  assert.ok(!refused.err.includes(key));
  const unknown = await home.run(["keys", "revoke", crypto.randomUUID()]);
  assert.equal(unknown.code, 1);
  assert.equal(
    (await home.run(["keys", "revoke", key])).err,
    "logloom: name the key's name or id, not the key: list shows them.\n",
  );
});

Deno.test("a key with a view reads only the view's records, and doctor says that it only reads", async () => {
  const tenant = await filled("cli-view", [
    { service: "shop", msg: "of the shop" },
    { service: "web", msg: "of the web" },
  ]);
  const view = await rpc(tenant.token, "create_log_view", {
    p_name: "Shop",
    p_query_dsl: "service:shop",
  });
  assert.equal(view.status, 200);
  await using home = await newHome({ LOGLOOM_URL: stack.url });
  const asUser = { LOGLOOM_TOKEN: tenant.token };
  const create = ["keys", "create", "nightly", "--scopes", "read", "--json", "--view"];
  for (const named of ["Shop", String(view.body.view_id)]) {
    const made = JSON.parse((await home.run([...create, named], "", asUser)).out);
    assert.deepEqual([made.scopes, made.view_id], [["read"], view.body.view_id]);
    const byKey = { LOGLOOM_API_KEY: made.key_value };
    const found = await home.run(["search", "of", "--json"], "", byKey);
    assert.deepEqual([found.code, found.err], [0, ""]);
    assert.deepEqual(found.out.trim().split("\n").map((line) => JSON.parse(line).msg), [
      "of the shop",
    ]);
    const { out } = await home.run(["doctor", "--json"], "", byKey);
    const findings: Finding[] = JSON.parse(out);
    assert.deepEqual(findings.find(({ check }) => check === "API key"), {
      check: "API key",
      status: "ok",
      message: "accepted, and only reads",
    });
    const login = await home.run(["login", "--api-key"], made.key_value);
    assert.deepEqual([login.code, login.err], [0, ""]);
  }
  // The profile holds the last key, and no session.
  assert.match((await home.run(["search", "of"])).out, /of the shop\n$/);
});

Deno.test("alert rules are created, previewed, tested, paused and deleted", async () => {
  const tenant = await filled("cli-alerts", [{ level: "error", msg: "a" }]);
  await using home = await newHome({ LOGLOOM_URL: stack.url, LOGLOOM_TOKEN: tenant.token });
  const alerts = (...args: string[]) => home.run(["alerts", ...args]);
  const incomplete = await alerts("create", "--name", "Errors", "--query", "level:error");
  assert.equal(incomplete.err, "logloom: --above is missing, or a file has it.\n");
  const flags = ["--query", "level:error", "--above", "10", "--window", "5"];
  const made = await alerts("create", "--name", "Errors", ...flags, "--email", "ops@example.com");
  assert.equal(made.code, 0, made.err);
  const [, id] = /^Made Errors: (\S+)\n$/.exec(made.out) ?? [];
  const rule = JSON.parse((await alerts("list", "--json")).out);
  assert.deepEqual(
    [rule.rule_id, rule.threshold, rule.comparison, rule.window_minutes, rule.cooldown_minutes],
    [id, 10, "gt", 5, 30],
  );
  assert.deepEqual(rule.notification_config, { email: "ops@example.com" });

  // Creates a rule from the output of list, with another name.
  await Deno.writeTextFile(`${home.folder}/rule.json`, JSON.stringify(rule));
  const copy = await alerts("create", "--file", "rule.json", "--name", "Copy", "--paused");
  assert.equal(copy.code, 0, copy.err);
  const list = (await alerts("list")).out;
  assert.match(list, /Copy +paused +> 10 in 5 min +level:error\n/);
  assert.match(list, /Errors +on +> 10 in 5 min +level:error\n/);
  // A baseline: from options, and from a file.
  const unusual = await alerts(
    "create",
    ...flags,
    ..."--name Unusual --above 4 --days 7".split(" "),
  );
  assert.equal(unusual.code, 0, unusual.err);
  const usual = JSON.parse((await alerts("list", "--json")).out.split("\n")[0]);
  assert.deepEqual(usual.baseline, { days: 7, deviations: 4, known_days: 0 });
  assert.match(
    (await alerts("list")).out,
    /Unusual +waits +> 4 deviations from 7 days in 5 min +level:error\n/,
  );
  await Deno.writeTextFile(`${home.folder}/usual.json`, JSON.stringify(usual));
  const band = await alerts(..."preview --file usual.json --above 5 --json".split(" "));
  assert.equal(JSON.parse(band.out).band[0].threshold, null, band.err);
  // A rule of errors: from options, and from a file. The plan has room for three.
  for (const name of ["Copy", "Unusual"]) {
    assert.equal((await alerts("delete", name)).out, `Deleted ${name}.\n`);
  }
  const ofErrors = await alerts(
    "create",
    "--name",
    "New",
    "--new-errors",
    "--query",
    "service:shop",
  );
  assert.equal(ofErrors.code, 0, ofErrors.err);
  const told = JSON.parse((await alerts("list", "--json")).out.split("\n")[0]);
  assert.deepEqual([told.kind, told.query_dsl, told.cooldown_minutes], [
    "new_error",
    "service:shop",
    0,
  ]);
  await Deno.writeTextFile(`${home.folder}/errors.json`, JSON.stringify(told));
  const again = await alerts("create", "--file", "errors.json", "--name", "Newer");
  assert.equal(again.code, 0, again.err);
  assert.match((await alerts("list")).out, /Newer +on +new and returning errors +service:shop\n/);
  assert.equal((await alerts("preview", "--file", "errors.json")).code, 1);

  const preview = await alerts("preview", ...flags);
  assert.match(preview.out, /^It would have fired 0 times from /);
  const other = JSON.parse((await alerts("preview", id, "--above", "-1", "--json")).out);
  assert.ok(other.total_alerts >= 1);
  const test = await alerts("test", id);
  assert.match(test.out, /^email: (?:pending|failed)/);
  assert.equal((await alerts("pause", id)).out, "Errors is paused.\n");
  assert.equal((await alerts("resume", id)).out, "Errors is on.\n");
  assert.deepEqual(await alerts("history", "Errors", "--since", "7d"), {
    code: 0,
    out: "",
    err: "logloom: No alerts since 7d: logloom alerts list shows the rules.\n",
  });
  assert.equal((await alerts("delete", "Errors")).out, "Deleted Errors.\n");
  await alerts("create", "--name", "Any", ...flags, "--above", "0");
  await using db = openDatabase();
  await eventually("it fires", async () => {
    await callAsOwner(db, "call logloom_private.run_job('evaluate_alerts')");
    return /^\S+ +Any +1 +- +not acknowledged +not sent$/m.test((await alerts("history")).out);
  });
  assert.equal((await alerts("pause", id)).code, 1);
});

interface Finding {
  check: string;
  status: string;
  message: string;
  todo?: string;
}

Deno.test("rules for the project's own events are added once", async () => {
  const tenant = await filled("cli-project", [{ msg: "a" }]);
  await using home = await newHome({ LOGLOOM_URL: stack.url, LOGLOOM_TOKEN: tenant.token });
  const add = async (...args: string[]) =>
    (await home.run(["alerts", "add", "project", "--database-limit", "10MB", ...args])).out;
  const names = ["Failed jobs", "New slow statement", "Database nearly full"];
  const shown = (await add("--dry-run")).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(shown.map(({ p_name }) => p_name), names);
  assert.equal(shown[2].p_threshold, 8388608);
  assert.equal(await add(), names.map((name) => `Made ${name}.\n`).join(""));
  assert.equal(await add(), names.map((name) => `${name} is there.\n`).join(""));
});

Deno.test("doctor finds a healthy deployment healthy, and a broken one broken", async () => {
  const tenant = await newTenant("cli-doctor");
  await using home = await loggedIn(tenant);
  const doctor = async (env: Record<string, string> = {}) => {
    const { code, out, err } = await home.run(["doctor", "--json"], "", {
      LOGLOOM_DATABASE_URL: stack.databaseUrl,
      ...env,
    });
    assert.equal(err, "");
    const findings: Finding[] = JSON.parse(out);
    return { code, findings, wrong: findings.filter(({ status }) => status === "wrong") };
  };
  /** Returns doctor's findings. On a busy machine a job may also be late for a moment. */
  const finds = async (checks: string[], env: Record<string, string> = {}) => {
    let last!: Awaited<ReturnType<typeof doctor>>;
    await becomes([Number(checks.length > 0), ...checks], async () => {
      last = await doctor(env);
      return [last.code, ...last.wrong.map(({ check }) => check)];
    });
    return last;
  };
  const healthy = await finds([]);
  assert.deepEqual(healthy.findings.map(({ check }) => check), [
    "functions",
    "clock",
    "health",
    "pg_cron",
    "connections",
    "storage",
    "alert messages",
    "API key",
    "token hook",
    "session",
    "database's clock",
    "extensions",
    "migrations",
    "jobs",
    "privileges",
    "row-level security",
    "pre-request",
    "hook's function",
    "notifications",
    "keys",
    "installation",
  ]);
  const table = await home.run(["doctor"]);
  assert.match(table.out, /^ok +functions +they answer\n/);
  assert.match(table.out, /\n- +database +no address of it is named\n$/);

  await using owner = openDatabase(stack.databaseUrl);
  try {
    await owner`select cron.unschedule('logloom_tend')`;
    await owner`update logloom_private.jobs set is_paused = true where name = 'run_canary'`;
    const { wrong } = await finds(["pg_cron's job logloom_tend", "job run_canary"]);
    assert.deepEqual(wrong.map(({ todo }) => todo), [
      "select logloom_private.repair(); as postgres.",
      "update logloom_private.jobs set is_paused = false where name = 'run_canary';",
    ]);
    assert.match(wrong[1].message, /^paused; last success /);
  } finally {
    await owner`select logloom_private.schedule_jobs()`;
    await owner`update logloom_private.jobs set is_paused = false where name = 'run_canary'`;
  }

  await using admin = openDatabase(stack.adminDatabaseUrl);
  try {
    await admin`alter system set cron.launch_active_jobs = off`;
    await admin`select pg_reload_conf()`;
    const { wrong } = await finds(["health of project"]);
    assert.equal(
      wrong[0].message,
      "degraded: cron.launch_active_jobs is off: pg_cron starts no job",
    );
  } finally {
    await admin`alter system reset cron.launch_active_jobs`;
    await admin`select pg_reload_conf()`;
  }

  const hook = "function logloom_private.custom_access_token_hook(jsonb)";
  const preRequest = "alter role authenticator";
  const endpoint = "update logloom_private.notify_endpoint set";
  const [{ url, secret }] = await owner`select url, secret from logloom_private.notify_endpoint`;
  for (
    const [checks, breaks, mends, message] of [
      [
        ["privileges"],
        "grant execute on function public.log_stats to anon; grant select on logloom.plans to anon",
        "revoke execute on function public.log_stats from anon; revoke all on logloom.plans from anon",
        /^anon may use function log_stats\(.*\), table logloom\.plans$/,
      ],
      [
        ["row-level security"],
        "alter table logloom.api_keys disable row level security",
        "alter table logloom.api_keys enable row level security",
        /^off on logloom\.api_keys$/,
      ],
      [
        ["health of pre_request", "pre-request"],
        `${preRequest} reset pgrst.db_pre_request`,
        `${preRequest} set pgrst.db_pre_request = 'logloom_private.check_request'; notify pgrst, 'reload config'`,
        /^degraded: PostgREST does not call logloom_private\.check_request/,
      ],
      [
        ["hook's function"],
        `revoke execute on ${hook} from supabase_auth_admin`,
        `grant execute on ${hook} to supabase_auth_admin`,
        /^Auth may not call it/,
      ],
      [
        ["notifications"],
        `${endpoint} secret = 'another'`,
        `${endpoint} secret = '${secret}'`,
        /^LOGLOOM_NOTIFY_SECRET is another than the database's$/,
      ],
      [
        ["notifications"],
        `${endpoint} url = 'https://example.com'`,
        `${endpoint} url = '${url}'`,
        /^the database wakes https:\/\/example\.com, which is not logloom-notify$/,
      ],
    ] as const
  ) {
    try {
      await owner.unsafe(breaks);
      const { wrong } = await finds([...checks]);
      assert.match(wrong[0].message, message);
    } finally {
      await owner.unsafe(mends);
    }
  }
  const off = await finds(["token hook", "session"], {
    LOGLOOM_TOKEN: await userToken({ sub: tenant.userId }),
  });

  await rpc(tenant.token, "revoke_api_key", { p_key_id: home.key_id });
  const revoked = await finds(["API key"]);
  assert.equal(
    revoked.wrong[0].todo,
    "logloom keys create NAME makes a key, logloom keys list lists them.",
  );
  assert.match(revoked.wrong[0].message, /^401 /);

  const away = await doctor({ LOGLOOM_URL: `http://127.0.0.1:${freePort()}` });
  assert.equal(away.code, 1);
  assert.equal(away.wrong[0].check, "functions");
  const said = JSON.stringify([healthy, off, revoked, away]);
  for (const secret of [home.key, tenant.token]) assert.ok(!said.includes(secret));
});

Deno.test("init --files works without a clone", async () => {
  await using home = await newHome();
  await Deno.mkdir(`${home.folder}/shop/supabase`, { recursive: true });
  await Deno.writeTextFile(`${home.folder}/shop/supabase/config.toml`, 'project_id = "shop"\n');
  const files = ["init", "shop", "--files", "--json"];
  const { code, out, err } = await home.run([...files, "--storage-limit", "none"]);
  assert.deepEqual([code, err], [0, ""]);
  const { migrations, functions } = JSON.parse(out);
  const ours = [...Deno.readDirSync(`${checkout}/supabase/migrations`)].map(({ name }) =>
    name.replace(/^\d+_/, "")
  ).sort();
  assert.deepEqual(migrations.map((name: string) => name.replace(/^\d+_/, "")).sort(), ours);
  assert.deepEqual(functions, [
    "ingest",
    "health",
    "logloom-archive",
    "logloom-notify",
    "logloom-read",
    "logloom-stream",
  ]);
  const again = JSON.parse((await home.run(files)).out);
  assert.deepEqual(again.migrations, []);
  const uninstall = await home.run(["uninstall", stack.databaseUrl]);
  assert.deepEqual(
    [uninstall.code, uninstall.err],
    [1, "logloom: Nothing was done: --yes-delete-all-logs is missing.\n"],
  );
});

Deno.test("completion scripts work in their shells", async () => {
  await using home = await newHome();
  const script = async (shell: string) => (await home.run(["completion", shell])).out;
  const path = `${home.folder}/completion`;
  await Deno.writeTextFile(path, await script("bash"));
  const complete = async (...words: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: [
        "--norc",
        "-c",
        `source ${path}; COMP_WORDS=(logloom ${
          words.map((word) => `'${word}'`).join(" ")
        }); COMP_CWORD=${words.length}; _logloom; echo "\${COMPREPLY[*]}"`,
      ],
      cwd: home.folder,
    }).output();
    assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
    return new TextDecoder().decode(stdout).trim();
  };
  assert.equal(await complete("se"), "search");
  assert.equal(await complete("keys", "r"), "rotate revoke");
  assert.equal(await complete("search", "level:error", "--si"), "--since");
  assert.equal(await complete("alerts", "create", "--be"), "--below");
  assert.equal(await complete("ship", "compl"), "completion");

  for (const [shell, file] of [["zsh", "_logloom"], ["fish", "logloom.fish"]]) {
    const text = await script(shell);
    for (const name of names) assert.ok(text.includes(name), `${shell}: ${name}`);
    await Deno.writeTextFile(`${home.folder}/${file}`, text);
    // Some machines lack these shells.
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", `! command -v ${shell} > /dev/null || ${shell} -n "$0"`, file],
      cwd: home.folder,
    }).output();
    assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
  }
});
