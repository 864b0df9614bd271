import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { request } from "node:http";
import { exists } from "../../../../../local/files.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { tempFolder } from "../../../../../tests/support/temp_folder.ts";
import { runCommand } from "../../../../../cli/testing.ts";
import { startPeer } from "../../../../../supabase/functions/_shared/testing.ts";
import { serveConsole, type Site } from "./console.ts";

const page = `<meta content="default-src 'none'; connect-src 'self' https:; base-uri 'none'">`;

async function served(token: string | undefined) {
  const files = new Map(
    [["/index.html", page], ["/assets/a.js", "1"]].map(([path, text]) =>
      [path, Buffer.from(text)] as const
    ),
  );
  const site: Site = {
    files,
    url: "https://shop.supabase.co",
    key: "sb_publishable_x",
    token: () => Promise.resolve(token),
  };
  const { server, link } = await serveConsole(site, 0);
  const base = new URL(link).origin;
  const get = async (path: string) => {
    const response = await fetch(`${base}${path}`, { redirect: "manual" });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    base,
    get,
    path: new URL(link).pathname,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

Deno.test("the console is served for one project, and its link signs in once", async () => {
  await using site = await served("e30.e30.x");
  const link = await site.get(site.path);
  assert.deepEqual([link.status, link.headers.get("location")], [303, "/#token=e30.e30.x"]);
  assert.equal((await site.get(site.path)).status, 404, "the second time");
  assert.deepEqual(JSON.parse((await site.get("/config.json")).text), {
    url: "https://shop.supabase.co",
    key: "sb_publishable_x",
    auth: "token",
  });
  const { text, headers } = await site.get("/");
  assert.equal(text, page.replace("https:", "https://shop.supabase.co"));
  assert.equal(headers.get("content-security-policy"), "frame-ancestors 'none'");
  assert.equal(
    (await site.get("/assets/a.js")).headers.get("content-type"),
    "text/javascript; charset=utf-8",
  );
  assert.equal((await site.get("/../../etc/passwd")).status, 404);
  await using signedOut = await served(undefined);
  assert.equal(signedOut.path, "/");
  assert.equal(JSON.parse((await signedOut.get("/config.json")).text).auth, "supabase");
});

Deno.test("another host name does not reach the console, and a taken port is an error of one sentence", async () => {
  await using site = await served("e30.e30.x");
  const { port } = new URL(site.base);
  const status = await new Promise((resolve) =>
    request(
      { port, host: "127.0.0.1", path: site.path, headers: { host: `evil.example:${port}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    ).end()
  );
  assert.equal(status, 403);
  const taken = {
    files: new Map(),
    url: "https://x.co",
    key: "",
    token: () => Promise.resolve(""),
  };
  await assert.rejects(serveConsole(taken, Number(port)), {
    name: "Failure",
    message: `port ${port} is taken: name another by --port.`,
  });
});

Deno.test("open opens the hosted console, or says what to do if there is none", async () => {
  const address = "https://logs.example.com/console.html";
  await using home = await tempFolder();
  const folder = home.path;
  const browser = Deno.build.os === "darwin" ? "open" : "xdg-open";
  await Deno.writeTextFile(
    `${folder}/${browser}`,
    `#!/bin/sh\necho "$1" > "$0.new" && mv "$0.new" "$0.opened"\n`,
    { mode: 0o755 },
  );
  let console_url: unknown;
  await using peer = await startPeer(({ path }) =>
    path === "/functions/v1/logs-health/detailed"
      ? Response.json({ status: "degraded", checks: { alerts: { console_url } } }, { status: 503 })
      : new Response(null, { status: 404 })
  );
  const open = async (told: unknown) => {
    console_url = told;
    return await runCommand(["open"], {
      XDG_CONFIG_HOME: folder,
      PATH: `${folder}:${Deno.env.get("PATH")}`,
      LOGLOOM_URL: "",
    });
  };
  await Deno.mkdir(`${folder}/logloom`);
  const profile = { url: peer.url, api_key: "ll_x", health: "logs-health" };
  await Deno.writeTextFile(`${folder}/logloom/profiles.json`, JSON.stringify({ default: profile }));
  assert.deepEqual(await open(address), { code: 0, out: `${address}\n`, err: "" });
  const opened = `${folder}/${browser}.opened`;
  await eventually("the browser is started", () => exists(opened));
  assert.equal(await Deno.readTextFile(opened), `${address}\n`);
  // An older deployment names no address, and a wrong service could name any.
  for (const told of [null, undefined, "file:///etc/passwd", "$(reboot)"]) {
    const { code, out, err } = await open(told);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^logloom: this project has no hosted console: .*console serves one on/);
  }
});
