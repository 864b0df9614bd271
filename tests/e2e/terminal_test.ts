import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { checkout } from "../../local/stack.ts";
import { createKey } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser, type User } from "../support/users.ts";
import { tempFolder } from "../support/temp_folder.ts";

async function send(user: User, events: unknown[]): Promise<void> {
  const response = await fetch(`${stack.url}/functions/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: JSON.stringify(events),
  });
  assert.equal(response.status, 200, await response.text());
}

function command(
  name: "search" | "tail",
  user: Pick<User, "token">,
  args: string[],
  env: Record<string, string> = {},
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--no-check", `${checkout}/cli/logloom.ts`, name, ...args],
    cwd: checkout,
    env: { LOGLOOM_URL: stack.url, LOGLOOM_TOKEN: user.token, NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

async function search(user: User, ...args: string[]) {
  return outcomeOf(await command("search", user, args).output());
}

/** Runs search with a key, without any login. */
async function searchByKey(key: string, home: string, ...args: string[]) {
  const env = { LOGLOOM_API_KEY: key, XDG_CONFIG_HOME: home };
  return outcomeOf(await command("search", { token: "" }, args, env).output());
}

function outcomeOf({ code, stdout, stderr }: Deno.CommandOutput) {
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}

Deno.test("search prints all pages, and the place of a fault in a query", async () => {
  const user = await newUser();
  const events = Array.from({ length: 620 }, (_, i) => ({
    level: i % 2 ? "error" : "info",
    msg: `event ${i}`,
    attrs: { n: "12345678901234567890", exact: i },
  }));
  await send(user, events);
  await eventually("all events", async () => {
    const { out } = await search(user, "--json", "| count()");
    return JSON.parse(out).value === 620 || undefined;
  });

  const all = await search(user, "--json", "--limit", "1000", "--oldest");
  const found = all.out.trim().split("\n").map((line) => JSON.parse(line).attrs.exact);
  assert.equal(new Set(found).size, 620);
  const few = await search(user, "level:error", "--limit", "3");
  assert.equal(few.out.trim().split("\n").length, 3);
  assert.match(few.out, /error .* event \d+ /);
  const rows = await search(user, "| count() by level");
  assert.match(rows.out, /^level +count\n(error|info) +310\n/);

  const wrong = await search(user, "level:loud");
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /^logloom: Unknown level "loud"\n {2}level:loud\n {8}\^\n/);
});

Deno.test("search writes an export into a file, and continues a cut one", async () => {
  const user = await newUser();
  const at = Date.now() - 600_000;
  await send(
    user,
    Array.from({ length: 2300 }, (_, n) => ({
      ts: new Date(at + Math.floor(n / 9) * 10).toISOString(),
      msg: `line\n"${n}", n`,
    })),
  );
  await using db = openDatabase();
  await recordsOf(db, user.tenantId, 2300);
  await db`
    update logloom.logs set received_at = received_at - interval '5 minutes'
    where tenant_id = ${user.tenantId}`;
  await using temp = await tempFolder();
  const folder = temp.path;
  for (const name of ["all.ndjson", "all.csv"]) {
    const path = `${folder}/${name}`;
    const done = await search(user, "--export", path, "| fields msg");
    assert.deepEqual([done.code, done.err], [0, `logloom: 2,300 records are in ${path}.\n`]);
    const whole = await Deno.readTextFile(path);
    const again = await search(user, "--export", path);
    assert.match(again.err, /is there already: --resume goes on with it/);

    // Cut in the middle of a record, also within a quoted line break.
    await Deno.writeTextFile(path, whole.slice(0, Math.floor(whole.length * 0.6)));
    const resumed = await search(user, "--export", path, "--resume", "| fields msg");
    assert.equal(resumed.code, 0, resumed.err);
    assert.equal(await Deno.readTextFile(path), whole);
  }
  const gz = await search(user, "--export", `${folder}/all.ndjson.gz`, "| fields msg");
  assert.equal(gz.code, 0, gz.err);
  const unzipped = gunzipSync(await Deno.readFile(`${folder}/all.ndjson.gz`)).toString();
  assert.equal(unzipped, await Deno.readTextFile(`${folder}/all.ndjson`));
  for (const other of ["mine, no export", "a,b\nc,d\n"]) {
    await Deno.writeTextFile(`${folder}/mine.csv`, other);
    const refused = await search(user, "--export", `${folder}/mine.csv`, "--resume");
    assert.equal(refused.code, 1);
    assert.equal(await Deno.readTextFile(`${folder}/mine.csv`), other);
  }
  const wrong = await search(user, "--export", `${folder}/all.xls`);
  assert.match(wrong.err, /takes a file named \.ndjson/);
});

Deno.test("search exports each event once with an API key that may read, and with no other key", async () => {
  const user = await newUser();
  const tenant = { id: user.tenantId, userId: user.id, token: user.token, headers: {} };
  const at = Date.now() - 600_000;
  const sent = Array.from({ length: 2603 }, (_, n) => ({
    // A millisecond apart, which gives their order in the file.
    ts: new Date(at + n).toISOString(),
    level: n % 3 === 0 ? "error" : "info",
    msg: `line\n"${n}" 💡`,
    attrs: { n },
  }));
  await send(user, sent);
  await using db = openDatabase();
  await recordsOf(db, user.tenantId, sent.length);
  await db`
    update logloom.logs set received_at = received_at - interval '5 minutes'
    where tenant_id = ${user.tenantId}`;
  const reads = await createKey(tenant, { p_scopes: ["read"] });
  await using temp = await tempFolder();
  const home = temp.path;
  const path = `${home}/all.ndjson`;
  const done = await searchByKey(reads.key_value, home, "--export", path);
  assert.deepEqual(done, { code: 0, out: "", err: `logloom: 2,603 records are in ${path}.\n` });
  const lines = (await Deno.readTextFile(path)).split("\n");
  assert.equal(lines.pop(), "");
  const records = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ ts, level, msg, attrs }) => ({
      ts: new Date(ts).toISOString(),
      level,
      msg,
      attrs,
    })),
    sent,
  );
  assert.equal(new Set(records.map(({ id }) => id)).size, sent.length);
  // Identical to the user's export.
  const byUser = await search(user, "--export", `${home}/user.ndjson`);
  assert.equal(byUser.code, 0, byUser.err);
  assert.equal(await Deno.readTextFile(`${home}/user.ndjson`), `${lines.join("\n")}\n`);

  await Deno.writeTextFile(path, lines.slice(0, 700).join("\n").slice(0, -5));
  const resumed = await searchByKey(reads.key_value, home, "--export", path, "--resume");
  assert.equal(resumed.err, `logloom: 1,904 records are in ${path}.\n`);
  assert.equal(await Deno.readTextFile(path), `${lines.join("\n")}\n`);

  const found = await searchByKey(reads.key_value, home, "--json", "--limit", "2603");
  assert.deepEqual(
    found.out.trimEnd().split("\n").map((line) => JSON.parse(line).attrs.n),
    sent.map(({ attrs }) => attrs.n).reverse(),
  );
  const rows = await searchByKey(reads.key_value, home, "level:error | count()");
  assert.deepEqual(rows, { code: 0, out: "count\n  868\n", err: "" });

  const sends = await createKey(tenant);
  const none = `${home}/none.ndjson`;
  assert.deepEqual(await searchByKey(sends.key_value, home, "--export", none), {
    code: 1,
    out: "",
    err: `logloom: This API key may only send
  keys create makes one that reads: --scopes read.
`,
  });
  await assert.rejects(Deno.stat(none), Deno.errors.NotFound);
  const unknown = await searchByKey("ll_unknown", home, "--export", none);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /: the token or key is not accepted, or no longer\.\n/);
});

Deno.test("tail begins with the last records, follows each once, and ends at Ctrl-C", async () => {
  const user = await newUser();
  await send(user, [{ msg: "before 1" }, { msg: "before 2" }, { msg: "before 3" }]);
  await eventually(
    "the first events",
    async () => (await search(user, "before")).out.includes("before 3") || undefined,
  );

  const child = command("tail", user, ["--json", "--backlog", "2"]).spawn();
  const lines: string[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    }
  })();
  await eventually("the backlog", () => Promise.resolve(lines.length >= 2 || undefined));
  await send(user, Array.from({ length: 50 }, (_, i) => ({ msg: `after ${i}` })));
  await eventually("what came after", () => Promise.resolve(lines.length >= 52 || undefined));
  child.kill("SIGINT");
  const { code } = await child.status;
  await Promise.all([reading, child.stderr.cancel()]);
  assert.equal(code, 130);
  const messages = lines.map((line) => JSON.parse(line).msg);
  assert.equal(new Set(messages).size, 52);
  assert.equal(messages.filter((msg) => msg.startsWith("before")).length, 2);
});
