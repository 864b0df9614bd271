import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { exists } from "../../local/files.ts";
import { checkout, functionNames } from "../../local/stack.ts";
import { installableFunctions } from "../../packages/logloom/src/cli/guest/files.ts";
import { walk } from "../../local/list_files.ts";
import { userAgent } from "../../supabase/functions/_shared/database.ts";
import { createOwnTraffic } from "../../supabase/functions/ingest/own_drain_events.ts";

const documents = async () => [
  "README.md",
  "CONTRIBUTING.md",
  ...(await walk(["docs"])).filter((path) => path.endsWith(".md")),
];
const read = (path: string) => Deno.readTextFile(`${checkout}/${path}`);

Deno.test("each edge function is listed everywhere", async () => {
  const folders: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${checkout}/supabase/functions`)) {
    if (isDirectory && !name.startsWith("_")) folders.push(name);
  }
  assert.deepEqual(folders.sort(), [...installableFunctions].sort());
  for (const name of installableFunctions) {
    assert.match(name, /^(ingest|health|logloom-[a-z]+)$/, "a guest's names are its own");
  }
  const { functions } = parse(await read("supabase/config.toml"));
  assert.deepEqual(
    structuredClone(functions),
    Object.fromEntries(
      installableFunctions.map((name) => [name, {
        verify_jwt: false,
        import_map: `./functions/${name}/deno.json`,
      }]),
    ),
  );
  for (const name of installableFunctions) {
    assert.ok(await exists(`${checkout}/supabase/functions/${name}/deno.json`), name);
  }
});

Deno.test("documents that deploy the functions deploy all of them", async () => {
  const all = functionNames.join(" ");
  let deployed = 0;
  for (const path of await documents()) {
    const text = await read(path);
    for (const [line, names] of text.matchAll(/supabase functions deploy ([\w -]+)/g)) {
      if (names === "logloom-notify") continue;
      assert.equal(names.trim(), all, `${path}: ${line}`);
      deployed += 1;
    }
  }
  assert.ok(deployed > 0);
});

Deno.test("every `db push` in documents names the linked project", async () => {
  const texts = await Promise.all(
    [...await documents(), ...(await walk(["cli", "local"])).filter((path) => /\.ts$/.test(path))]
      .map(async (path) => ({ path, text: await read(path) })),
  );
  const local = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/supabase\s+db\s+push(?!\s+--remote)/g)].map(() => path)
  );
  assert.deepEqual(local, []);
});

Deno.test("drains leave out requests to the functions, and the functions' calls of the database", async () => {
  assert.equal(userAgent, `logloom/${JSON.parse(await read("package.json")).version}`);
  const { isOwn } = createOwnTraffic()("");
  const stays = (path: string) =>
    !isOwn({ metadata: { request: { path, headers: { user_agent: userAgent } } } }, "");
  assert.deepEqual(installableFunctions.filter((name) => stays(`/functions/v1/${name}`)), [
    "health",
  ]);
  const paths = (await walk(["supabase/functions"])).filter((path) => /(?<!test)\.ts$/.test(path));
  const texts = (await Promise.all(paths.map(read))).join("");
  const calls = [...texts.matchAll(/(?:(?:callDatabase\(|operation:)\s*"|\/rpc\/)(\w+)/g)]
    .map(([, call]) => call);
  assert.ok(calls.length >= 15);
  assert.deepEqual(calls.filter((call) => stays(`/rest/v1/rpc/${call}`)), []);
});
