import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { runCommand } from "../../../../../cli/testing.ts";
import {
  closedUrl,
  type Peer,
  type PeerRequest,
  startPeer,
} from "../../../../../supabase/functions/_shared/testing.ts";

const checkout = new URL("../../../../..", import.meta.url).pathname;
const script = `${checkout}cli/logloom.ts`;
const config = `${checkout}deno.json`;

/** A fake service that accepts every event that is an object. */
function ingest({ body }: PeerRequest): Response {
  const events: unknown[] = JSON.parse(body);
  const errors = events.flatMap((event, index) =>
    JSON.stringify(event).includes('"level":"loud"')
      ? [{ index, code: "level_unknown", message: "level is unknown" }]
      : []
  );
  const ingested = events.length - errors.length;
  return Response.json({
    success: true,
    ingested,
    rejected: errors.length,
    ...errors.length > 0 && { errors },
  });
}

function command(url: string, args: string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--cached-only",
      `--config=${config}`,
      "--allow-all",
      script,
      "ship",
      ...args,
    ],
    env: { LOGLOOM_URL: url, LOGLOOM_API_KEY: "ll_key", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
}

const ship = (url: string, args: string[], input = "", env: Record<string, string> = {}) =>
  runCommand(["ship", ...args], { LOGLOOM_URL: url, LOGLOOM_API_KEY: "ll_key", ...env }, input);

function events(peer: Peer): Record<string, unknown>[] {
  return peer.requests.flatMap(({ body }) => JSON.parse(body));
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

Deno.test("files and standard input arrive as events, and the report counts them", async () => {
  await using peer = startPeer(ingest);
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/a.log`, 'plain line\n{"msg":"event","level":"info"}\n\n');
  await Deno.writeFile(`${folder}/b.log.gz`, gzipSync("packed line\n"));
  // A relative path starts at the caller's folder, not at the folder where npm runs the script.
  const args = ["a.log", `${folder}/b.log.gz`, "-", "--service", "web", "--host-name", "h1"];
  const run = await ship(peer.url, args, "from stdin", { INIT_CWD: folder });
  assert.deepEqual([run.code, run.err], [0, ""]);
  assert.match(run.out, /^4 events accepted, 0 rejected \(0\.0 MB in 1 batch, \d+\.\d s\)\n$/);
  const web = { service: "web", host: "h1" };
  assert.deepEqual(events(peer), [
    { ...web, msg: "plain line" },
    { ...web, msg: "event", level: "info" },
    { ...web, msg: "packed line" },
    { ...web, ts: events(peer)[3].ts, msg: "from stdin" },
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("rejected events are named by file and line, and the exit code is 2", async () => {
  await using peer = startPeer(ingest);
  const long = "x".repeat(600_000);
  const run = await ship(peer.url, [], `ok\n\n{"level":"loud"}\n${long}\nok\n`);
  assert.equal(run.code, 2);
  assert.match(run.out, /^2 events accepted, 2 rejected /);
  assert.ok(run.out.includes(
    "  rejected: standard input, line 4: the line is longer than an event may be\n" +
      "  rejected: standard input, line 3: level_unknown: level is unknown\n",
  ));
});

Deno.test("many events are sent in several batches, and each event once", async () => {
  let turn = 0;
  await using peer = startPeer((request) =>
    turn++ % 3 === 1 ? Response.json({ error: "busy" }, { status: 503 }) : ingest(request)
  );
  const lines = Array.from({ length: 25_000 }, (_, n) => `line ${n}`);
  const run = await ship(peer.url, ["--parallel", "3"], lines.join("\n"));
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /^25,000 events accepted, 0 rejected \(.* in [3-9] batches/);
  const byKey = new Map(
    peer.requests.map(({ headers, body }) => [headers.get("Idempotency-Key"), body]),
  );
  const sent = [...byKey.values()].flatMap((body) => JSON.parse(body) as { msg: string }[]);
  assert.deepEqual(sent.map(({ msg }) => msg).sort(), lines.sort());
});

Deno.test("a file whose lines have times is sent with the same keys in another run", async () => {
  await using peer = startPeer(ingest);
  const folder = await Deno.makeTempDir();
  const lines = ["a", "b"].map((msg) => JSON.stringify({ time: "2026-11-21T10:00:00Z", msg }));
  await Deno.writeTextFile(`${folder}/timed.log`, `${lines.join("\n")}\n`);
  await Deno.writeTextFile(`${folder}/plain.log`, "a\nb\n");
  const keysOf = async (...names: string[]) => {
    const before = peer.requests.length;
    const run = await ship(peer.url, names.map((name) => `${folder}/${name}`));
    assert.deepEqual([run.code, run.err], [0, ""]);
    return peer.requests.slice(before).map(({ headers }) => headers.get("Idempotency-Key"));
  };
  const [timed] = await keysOf("timed.log");
  assert.match(timed ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(await keysOf("timed.log"), [timed]);
  // The key is the same when other files are sent too.
  assert.ok((await keysOf("timed.log", "plain.log")).includes(timed));
  const [plain] = await keysOf("plain.log");
  assert.notDeepEqual(await keysOf("plain.log"), [plain]);
  await Deno.rename(`${folder}/timed.log`, `${folder}/timed.log.1`);
  assert.deepEqual(await keysOf("timed.log.1"), [timed]);
  // A new file with the same lines and the old name gets other keys.
  await Deno.writeTextFile(`${folder}/timed.log`, `${lines.join("\n")}\n`);
  assert.notDeepEqual(await keysOf("timed.log"), [timed]);
  // New content in the same file gets other keys.
  await Deno.writeTextFile(`${folder}/timed.log.1`, `\n${lines.join("\n")}\n`);
  assert.notDeepEqual(await keysOf("timed.log.1"), [timed]);
  // Lines of text with times.
  await Deno.writeTextFile(`${folder}/text.log`, "2026-11-21T10:00:00Z ERROR a\n");
  assert.deepEqual(await keysOf("text.log"), await keysOf("text.log"));
  await Deno.writeTextFile(`${folder}/timed.log`, `\n${lines.join("\n")}\n`);
  assert.notDeepEqual(await keysOf("timed.log"), [timed]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("of a file that has grown, the old lines are sent with the same keys, and then the new lines", async () => {
  await using peer = startPeer(ingest);
  const folder = await Deno.makeTempDir();
  const path = `${folder}/growing.log`;
  const line = (n: number) => `${JSON.stringify({ ts: "2026-11-21T10:00:00Z", n })}\n`;
  const grow = (from: number, to: number) =>
    Deno.writeTextFile(
      path,
      Array.from({ length: to - from }, (_, n) => line(from + n)).join(""),
      { append: true },
    );
  // The events that a service stores if it knows the keys of repeats.
  const stored = () => {
    const byKey = new Map(
      peer.requests.map(({ headers, body }) => [headers.get("Idempotency-Key"), body]),
    );
    return [...byKey.values()].flatMap((body) => (JSON.parse(body) as { n: number }[]))
      .map(({ n }) => n).sort((a, b) => a - b);
  };
  for (
    const [from, to] of [[0, 9], [9, 12_000], [12_000, 12_500], [12_500, 31_000], [31_000, 31_000]]
  ) {
    await grow(from, to);
    // Another file before it does not change where its batches begin.
    await Deno.writeTextFile(`${folder}/plain.log`, "");
    const run = await ship(peer.url, [`${folder}/plain.log`, path], "", {
      XDG_CONFIG_HOME: folder,
    });
    assert.deepEqual([run.code, run.err], [0, ""]);
    assert.deepEqual(stored(), [...Array(to).keys()]);
  }
  const { mode } = await Deno.stat(`${folder}/logloom/shipped.json`);
  assert.equal((mode ?? 0) & 0o777, 0o600);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("lines of a program arrive while it runs, with the time when it wrote them", async () => {
  await using peer = startPeer(ingest);
  const child = command(peer.url, []).spawn();
  const writer = child.stdin.getWriter();
  const write = (text: string) => writer.write(new TextEncoder().encode(text));
  const began = Date.now();
  await write('first\n{"msg":"timed","time":"2026-11-21T10:00:00Z"}\n');
  await until(() => events(peer).length === 2);
  const arrived = Date.now();
  const at = Date.parse(String(events(peer)[0].ts));
  assert.ok(began - 1 <= at && at <= arrived, `${began} ${at} ${arrived}`);
  assert.deepEqual(events(peer)[1], { msg: "timed", time: "2026-11-21T10:00:00Z" });
  await write("second\n");
  await until(() => events(peer).length === 3);
  // A stop also sends the lines that were already read, and the lines that the program writes while it stops.
  await write("third\n");
  child.kill("SIGTERM");
  await write("last\n");
  const { code, stdout, stderr } = await child.output();
  assert.deepEqual([code, new TextDecoder().decode(stderr)], [0, ""]);
  assert.match(new TextDecoder().decode(stdout), /^5 events accepted, 0 rejected /);
  assert.deepEqual(events(peer).map(({ msg }) => msg), [
    "first",
    "timed",
    "second",
    "third",
    "last",
  ]);
  await writer.abort().catch(() => {});
});

Deno.test("after a stop, the last lines of a program that ends slowly are still sent", async () => {
  await using peer = startPeer(ingest);
  const child = command(peer.url, []).spawn();
  const writer = child.stdin.getWriter();
  const write = (text: string) => writer.write(new TextEncoder().encode(text));
  await write("begun\n");
  await until(() => events(peer).length === 1);
  child.kill("SIGTERM");
  // How long this may take is tested with readLive(), where reader and writer have the same clock.
  const words = Array.from({ length: 8 }, (_, n) => `ending ${n}`);
  await write(words.map((word) => `${word}\n`).join(""));
  await new Promise((resolve) => setTimeout(resolve, 50));
  // The signal goes to the whole process group, and npm passes it on as well.
  child.kill("SIGTERM");
  await writer.close();
  const { code, stdout } = await child.output();
  assert.match(new TextDecoder().decode(stdout), /^9 events accepted, 0 rejected /);
  assert.equal(code, 0);
  assert.deepEqual(events(peer).map(({ msg }) => msg), ["begun", ...words]);
});

/** Starts `ship` and stops it while its request has no answer. Disposing the result answers the request. */
async function stoppedUnanswered() {
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
  const peer = startPeer(async (request) => {
    await isOver;
    return ingest(request);
  });
  const child = command(peer.url, []).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("line\n"));
  await until(() => peer.requests.length === 1);
  child.kill("SIGINT");
  return {
    child,
    async [Symbol.asyncDispose]() {
      over();
      await writer.abort().catch(() => {});
      await peer[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a stop waits five seconds for an answer, not longer", async () => {
  await using ship = await stoppedUnanswered();
  const { code, stdout, stderr } = await ship.child.output();
  assert.equal(code, 1);
  assert.match(new TextDecoder().decode(stdout), /^0 events accepted, 0 rejected /);
  assert.equal(new TextDecoder().decode(stderr), "logloom: stopped before all was sent.\n");
});

Deno.test("Ctrl-C again ends at once, whatever is under way", async () => {
  await using ship = await stoppedUnanswered();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  ship.child.kill("SIGINT");
  const { code, stdout } = await ship.child.output();
  assert.deepEqual([code, new TextDecoder().decode(stdout)], [130, ""]);
});

Deno.test("Ctrl-C while a file is sent shows the counts so far and gives exit code 1", async () => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  await using peer = startPeer((request) => {
    asked();
    return ingest(request);
  });
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, "line\n".repeat(1_000_000));
  const child = command(peer.url, [path]).spawn();
  await isAsked;
  child.kill("SIGINT");
  const { code, stdout, stderr } = await child.output();
  assert.equal(code, 1);
  assert.match(new TextDecoder().decode(stdout), /^(?:0|[\d,]+0,000) events accepted, 0 rejected /);
  assert.equal(new TextDecoder().decode(stderr), "logloom: stopped before all was sent.\n");
  await Deno.remove(path);
});

Deno.test("events that cannot be sent give an error of one sentence and exit code 1", async () => {
  await using peer = startPeer(() =>
    Response.json({ error: "Invalid token, API key, or missing tenant_id" }, {
      status: 401,
      headers: {
        "WWW-Authenticate":
          'Bearer realm="logloom", error="invalid_token", error_description="This key was revoked"',
      },
    })
  );
  const cases: [string, string[], RegExp][] = [
    [
      peer.url,
      [],
      /^logloom: 401 Invalid token, API key, or missing tenant_id \(This key was revoked\)\n$/,
    ],
    [closedUrl(), ["--give-up-after", "0"], /cannot be reached; gave up after one try\.\n$/],
    [peer.url, ["/nowhere/x.log"], /^logloom: there is no file \/nowhere\/x\.log\.\n$/],
    [peer.url, ["/"], /^logloom: \/ is a folder\.\n$/],
    [peer.url, ["--nope"], /^logloom: Unknown option '--nope'; --help lists the options\.\n$/],
    [peer.url, ["--parallel", "0"], /^logloom: --parallel takes a whole number from 1 to 16/],
    [peer.url, ["--url", "nonsense"], /^logloom: nonsense is not the address of a project/],
    [peer.url, ["--follow", "a", "b"], /^logloom: --follow takes its one file and no others\.\n$/],
  ];
  for (const [url, args, error] of cases) {
    const { code, err } = await ship(url, args, "line\n");
    assert.equal(code, 1, String(args));
    assert.match(err, error);
  }
  const withoutKey = await ship(peer.url, [], "line\n", { LOGLOOM_API_KEY: "" });
  assert.equal(withoutKey.code, 1);
  assert.match(withoutKey.err, /^logloom: an API key is needed for that address/);
});

Deno.test("following sends new lines except those about ship itself, and a stop sends the rest", async () => {
  await using peer = startPeer(ingest);
  const folder = await Deno.makeTempDir();
  const path = `${folder}/access.ndjson`;
  await Deno.writeTextFile(path, '{"msg":"1"}\n{"attrs":{"user_agent":"logloom-ship"}}\n');
  // The process has only the rights that a shipper beside a stack needs.
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--cached-only",
      `--config=${config}`,
      `--allow-net=${new URL(peer.url).host}`,
      "--allow-env=LOGLOOM_URL,LOGLOOM_API_KEY,LOGLOOM_DEBUG,NO_COLOR,FORCE_COLOR,CLICOLOR_FORCE",
      `--allow-read=${path}`,
      script,
      "ship",
      "--from-start",
      "--follow",
      path,
    ],
    env: { LOGLOOM_URL: peer.url, LOGLOOM_API_KEY: "ll_key" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let hasEnded = false;
  const output = child.output().finally(() => hasEnded = true);
  const arrived = async (count: number) => {
    while (events(peer).length < count && !hasEnded) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await arrived(1);
  await Deno.writeTextFile(path, '{"msg":"2"}\n', { append: true });
  await arrived(2);
  await Deno.rename(path, `${path}.1`);
  await Deno.writeTextFile(path, '{"msg":"3"}\n');
  await arrived(3);
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await output;
  assert.equal(new TextDecoder().decode(stderr), "");
  assert.equal(code, 0);
  assert.match(new TextDecoder().decode(stdout), /^3 events accepted, 0 rejected /);
  assert.deepEqual(events(peer).map(({ msg, ts }) => [msg, typeof ts]), [
    ["1", "string"],
    ["2", "string"],
    ["3", "string"],
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("mark sends a release, again while the service is away, and says why it was refused", async () => {
  const answers = [
    Response.json({ error: "away" }, { status: 503 }),
    Response.json({ success: true, ingested: 1, rejected: 0 }),
    Response.json({ error: "url must be an http or https address" }, { status: 400 }),
  ];
  await using peer = startPeer(() => answers.shift()!);
  const env = { LOGLOOM_URL: peer.url, LOGLOOM_API_KEY: "ll_key" };
  const options = ["--service", "shop", "--env", "prod", "--link", "https://a.example/1"];
  assert.deepEqual(await runCommand(["mark", "1.2.3", ...options], env), {
    code: 0,
    out: "Marked release 1.2.3.\n",
    err: "",
  });
  assert.deepEqual(await runCommand(["mark", "1.2.3", "--link", "x"], env), {
    code: 1,
    out: "",
    err: "logloom: 400 url must be an http or https address.\n",
  });
  for (const none of [[], [""]]) {
    const { code, err } = await runCommand(["mark", ...none], env);
    assert.deepEqual([code, err], [
      1,
      'logloom: name the release: npm run logloom -- mark "$(git rev-parse --short=12 HEAD)".\n',
    ]);
  }
  const [first, second, third, ...more] = peer.requests;
  assert.deepEqual(more, []);
  assert.equal(first.path, "/functions/v1/ingest/marker");
  assert.deepEqual([first.body, first.headers.get("Idempotency-Key")], [
    second.body,
    second.headers.get("Idempotency-Key"),
  ]);
  assert.equal(first.headers.get("X-API-Key"), "ll_key");
  assert.deepEqual(JSON.parse(first.body), {
    release: "1.2.3",
    service: "shop",
    env: "prod",
    url: "https://a.example/1",
  });
  assert.deepEqual(JSON.parse(third.body), { release: "1.2.3", url: "x" });
});
