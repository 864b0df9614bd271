import assert from "node:assert/strict";
import {
  type Peer,
  type PeerRequest,
  startPeer,
} from "../../../../../supabase/functions/_shared/testing.ts";

const checkout = new URL("../../../../..", import.meta.url).pathname;

const warning = {
  position: 1,
  message: "service=api is looked for as a text: a field is followed by a colon",
  suggestion: "service:api",
};

function answer({ path, body }: PeerRequest): Response {
  const { p_query_dsl: query, p_limit: limit } = JSON.parse(body);
  const isWrong = query === "service=api";
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
    logs: isWrong ? [] : Array.from({ length: limit }, () => record),
    next_cursor: isWrong ? null : "more",
    warnings: isWrong ? [warning] : [],
  });
}

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(peer: Peer | undefined, args: string[], env = {}): Promise<Run> {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: [`${checkout}local/run.mjs`, ...args],
    env: { LOGLOOM_URL: peer?.url ?? "", LOGLOOM_TOKEN: "t", TZ: "UTC", NO_COLOR: "1", ...env },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("a search shows what the service warns of, and is no error", async () => {
  await using peer = startPeer(answer);
  assert.deepEqual(await run(peer, ["search", "service=api"]), {
    code: 0,
    out: "",
    err: `logloom: ${warning.message}; perhaps you mean service:api\n`,
  });
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

Deno.test("a query may begin with -, and keeps its order", async () => {
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
  assert.equal(JSON.parse(peer.requests[0].body).p_query_dsl, "-service:x level:error -host:y");
});

Deno.test("an export says where it cannot write, and that an interrupted one goes on", async () => {
  let pages = 0;
  const line = `{"ts":"2026-11-21T10:00:00+00:00","id":"${crypto.randomUUID()}"}\n`;
  await using peer = startPeer(() =>
    pages++ % 2 === 0
      ? Response.json({ text: line, records: 1, cursor: "c", next_cursor: "n", logs: null })
      : Response.json({ code: "PT408", message: "It took too long" }, { status: 408 })
  );
  const folder = await Deno.makeTempDir();
  try {
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an option that npm took for itself is an error, for it would be left out", async () => {
  await using peer = startPeer(answer);
  const env = { npm_lifecycle_event: "search", npm_config_since: "true" };
  assert.deepEqual(await run(peer, ["search", "1h", "q"], env), {
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
  for (const name of commands) {
    const { code, out, err } = await run(undefined, [name, "--help"]);
    assert.deepEqual([code, err], [0, ""], name);
    assert.match(out, /npm (?:run |start|test|stop)/, name);
    assert.match(out, /Exit code: /, name);
  }
});
