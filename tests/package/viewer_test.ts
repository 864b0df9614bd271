/// <reference lib="dom" />
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import {
  type Browser,
  chromium,
  type Page,
} from "../../console/node_modules/playwright-core/index.mjs";
import { chromium as executablePath } from "../../local/browser.ts";
import { checkout } from "../../local/stack.ts";
import { accessibilityFaults } from "../console/browser.ts";
import { send, withLogs } from "../console/steps.ts";
import type { ParametersOf } from "../../packages/logloom/src/read.ts";
import { openDatabase } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { eventually } from "../support/eventually.ts";
import { newUser, type User } from "../support/users.ts";
import { project } from "./project.ts";

const element = `${project}/node_modules/logloom/dist/viewer.js`;
const built = `${checkout}/.logloom/portal`;
const pictures = Deno.env.get("LOGLOOM_PORTAL_PICTURES");

/** A page of an application; another server of it is another origin. */
function application(portal: () => string) {
  const page = () =>
    `<!doctype html><html lang="en"><title>shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/shop.css">
<main><h1>Shop logs</h1><logloom-viewer src="${portal()}" range="24h"></logloom-viewer></main>
<script type="module" src="/shop.js"></script></html>`;
  const script = `const viewer = document.querySelector("logloom-viewer");
globalThis.said = [];
globalThis.heard = [];
for (const name of ["ready", "error", "query-changed", "token-needed"]) {
  viewer.addEventListener(name, ({ detail }) => said.push([name, detail]));
}
addEventListener("message", ({ data, origin }) => heard.push([origin, data]));
// Before the element is known, as an application may.
viewer.getToken = () => globalThis.nextToken();
await import("./viewer.js");`;
  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${
    new URL(portal()).origin
  }`;
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const [type, body] = pathname === "/viewer.js"
      ? ["text/javascript", await Deno.readTextFile(element)]
      : pathname === "/shop.js"
      ? ["text/javascript", script]
      : pathname === "/shop.css"
      ? ["text/css", "body{margin:0;font-family:sans-serif}main{padding:16px}"]
      : ["text/html", page()];
    return new Response(body, {
      headers: { "Content-Type": type, "Content-Security-Policy": policy },
    });
  });
}

/** The portal as a static host serves it: with the headers that the build wrote. */
function host() {
  const types: Record<string, string> = {
    html: "text/html",
    js: "text/javascript",
    css: "text/css",
    json: "application/json",
    svg: "image/svg+xml",
  };
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const body = await Deno.readFile(built + path).catch(() => null);
    const headers = new Headers({ "Content-Type": types[path.split(".").at(-1) ?? ""] ?? "" });
    let applies = false;
    for (const line of (await Deno.readTextFile(`${built}/_headers`)).split("\n")) {
      if (line.startsWith("/")) {
        applies = line.endsWith("*") ? path.startsWith(line.slice(0, -1)) : path === line;
      } else if (applies && line.includes(": ")) {
        const [name, ...value] = line.trim().split(": ");
        headers.append(name, value.join(": "));
      }
    }
    return new Response(body, { status: body ? 200 : 404, headers });
  });
}

const served = host();
const portal = `http://127.0.0.1:${served.addr.port}/portal.html`;
const app = application(() => portal);
const foreign = application(() => portal);
const origin = `http://127.0.0.1:${app.addr.port}`;
const { success, stderr } = await new Deno.Command("node", {
  args: [
    "console/build.js",
    `--url=${stack.url}`,
    "--key=none",
    `--portal-origins=${origin},https://other.example`,
    `--out=${built}`,
  ],
  cwd: checkout,
  env: { INIT_CWD: checkout },
}).output();
assert.ok(success, new TextDecoder().decode(stderr));
const browser: Browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
globalThis.addEventListener("unload", () => void browser.close());

/** As the application's server makes it, for a customer of the user's tenant. */
const sessionOf = async (
  { client }: User,
  parameters: ParametersOf<"create_log_portal_session"> = {},
) => {
  const session = await client.call("create_log_portal_session", {
    p_origins: [origin],
    ...parameters,
  });
  return { id: session.session_id, token: session.token ?? "" };
};

interface Options {
  width?: number;
  height?: number;
  dark?: boolean;
  at?: string;
  expected?: RegExp;
  prepare?: (page: Page) => Promise<unknown>;
}

async function open(token: string | string[], options: Options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
    colorScheme: options.dark ? "dark" : "light",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    if (!options.expected?.test(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.addInitScript((tokens: string[]) => {
    const given = [...tokens];
    Object.assign(globalThis, {
      nextToken: () => given.length > 1 ? given.shift() : given[0],
      fired: 0,
      alert: () => (globalThis as unknown as { fired: number }).fired++,
    });
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
    });
  }, Array.isArray(token) ? token : [token]);
  await options.prepare?.(page);
  await page.goto(options.at ?? `${origin}/`);
  const frame = page.frameLocator("logloom-viewer iframe");
  return {
    page,
    frame,
    requests,
    inner: () => page.frames().find((one) => one.url().startsWith(portal)),
    said: () => page.evaluate(() => (globalThis as unknown as { said: [string, unknown][] }).said),
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(faults, [], "nothing fails that was not expected to");
    },
  };
}

const inBrowser = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });

async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

Deno.test("the element is 3 KiB at most and can be imported where there is no page", async () => {
  const size = gzipSync(await Deno.readFile(element), { level: 9 }).length;
  console.log(`element: ${size} bytes gzipped`);
  assert.ok(size <= 3072, `${size}`);
  await import(`file://${element}`);
});

Deno.test("React draws the element, on a server too, and no token in it", async () => {
  const file = `${project}/react.mjs`;
  await Deno.writeTextFile(
    file,
    `import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { LogloomViewer } from "logloom/viewer/react";
const props = { src: "https://a.example/portal.html", getToken: () => "secret", range: "24h" };
console.log(renderToString(createElement(LogloomViewer, props)));`,
  );
  const { stdout } = await new Deno.Command("node", { args: ["--preserve-symlinks", file] })
    .output();
  assert.equal(
    new TextDecoder().decode(stdout).trim(),
    '<logloom-viewer src="https://a.example/portal.html" range="24h"></logloom-viewer>',
  );
});

inBrowser(
  "a customer sees and searches the own logs in the shop's page, and nothing else",
  async () => {
    const user = await withLogs();
    const other = await newUser();
    await send(other.token, [{ level: "error", msg: "of somebody else" }]);
    const { token } = await sessionOf(user);
    // Axe asks frames of other origins in vain.
    await using tab = await open(token, { expected: /does not match the recipient window/ });
    const { page, frame } = tab;
    const row = (text: string) => frame.getByRole("row").filter({ hasText: text }).first();
    await row("card declined").waitFor();
    await row("<img src=x onerror=alert(1)>").waitFor();
    await eventually("ready", async () => (await tab.said()).some(([name]) => name === "ready"));
    await page.waitForTimeout(600);
    await picture(page, "wide");
    // What an application has no use for is not there.
    for (const name of ["Save this search", "Sign out", "Copy link"]) {
      assert.equal(await frame.getByRole("button", { name }).count(), 0, name);
    }

    await row("<img src=x").click();
    await frame.getByRole("button", { name: "Copy JSON" }).waitFor();
    assert.equal(await frame.locator("img[src=x]").count(), 0);
    const fired = await tab.inner()?.evaluate(() =>
      (globalThis as unknown as { fired: number }).fired
    );
    assert.equal(fired, 0);
    await picture(page, "open");

    await frame.locator(".query-host").click();
    await page.keyboard.type("level:warn");
    await page.keyboard.press("Enter");
    await row("slow query").waitFor();
    await row("card declined").waitFor({ state: "detached" });
    const changed = (await tab.said()).findLast(([name]) => name === "query-changed");
    assert.deepEqual(changed?.[1], { query: "level:warn", from: "now-24h", to: "now" });
    await page.evaluate(() =>
      document.querySelector("logloom-viewer")?.setAttribute("query", "service:shop")
    );
    await row("card declined").waitFor();
    assert.equal(await frame.getByText("of somebody else").count(), 0);

    // The browser's history is the application's.
    assert.equal(await page.evaluate(() => history.length), 2);
    assert.deepEqual(await accessibilityFaults(page), []);
    // Axe looks into frames only where it was put into each.
    const found = await tab.inner()?.evaluate(
      `${await Deno.readTextFile(`${checkout}/console/node_modules/axe-core/axe.min.js`)};
     axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0].target))`,
    );
    assert.deepEqual(found, []);

    const origins = new Set(tab.requests.map((url) => new URL(url).origin));
    assert.deepEqual([...origins].sort(), [origin, new URL(portal).origin, stack.url].sort());
    assert.ok(!tab.requests.some((url) => url.includes(token)), "no address holds the token");
    const kept = await tab.inner()?.evaluate(
      () => [
        document.cookie,
        ...Object.values({ ...localStorage }),
        ...Object.values({ ...sessionStorage }),
      ],
    );
    assert.deepEqual(kept, [""], "nothing is stored");
    const messages = await page.evaluate(() =>
      JSON.stringify((globalThis as unknown as { heard: unknown[] }).heard)
    );
    assert.ok(!messages.includes(token) && !messages.includes("card declined"));
  },
);

inBrowser("a page of another origin can neither frame it nor make it ask for a token", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  const at = `http://127.0.0.1:${foreign.addr.port}/`;
  await using refused = await open(token, { at, expected: /frame-ancestors|Framing/ });
  await refused.page.waitForTimeout(1500);
  assert.deepEqual(await refused.said(), []);

  // A host that forgot the header: the page still takes and tells nothing.
  await using tab = await open(token, {
    at,
    prepare: (page) =>
      page.route(portal, async (route) => {
        const response = await route.fetch();
        const headers = response.headers();
        delete headers["content-security-policy"];
        await route.fulfill({ response, headers });
      }),
  });
  await eventually(
    "the page to ask who is there",
    async () => (await tab.said()).some(([name]) => name === "token-needed"),
  );
  await tab.page.waitForTimeout(1500);
  assert.ok(!tab.requests.some((url) => url.startsWith(stack.url)));
  const heard = await tab.page.evaluate(() =>
    (globalThis as unknown as { heard: [string, unknown][] }).heard
  );
  assert.deepEqual(heard, [[new URL(portal).origin, { logloom: "hello" }]]);
});

inBrowser(
  "a token that ends is renewed; a view without a new one ends and holds nothing",
  async () => {
    const user = await withLogs();
    const [first, second] = [await sessionOf(user), await sessionOf(user)];
    await using tab = await open([first.token, second.token, second.token], {
      expected: /status of 401/,
    });
    const { frame } = tab;
    const row = frame.getByRole("row").filter({ hasText: "card declined" }).first();
    await row.waitFor();
    await user.client.call("revoke_log_portal_session", { p_session_id: first.id });
    await frame.getByRole("button", { name: "Run", exact: true }).click();
    await eventually(
      "a second token to be asked for",
      async () => (await tab.said()).filter(([name]) => name === "token-needed").length >= 2,
    );
    await row.waitFor();

    await user.client.call("revoke_log_portal_session", { p_session_id: second.id });
    await frame.getByRole("button", { name: "Run", exact: true }).click();
    await frame.getByText("This view has ended").waitFor();
    const [name, detail] = (await tab.said()).at(-1) ?? [];
    assert.deepEqual([name, detail], ["error", { status: 401, message: "The token was refused." }]);
    assert.equal(await frame.getByText("card declined").count(), 0);
    await picture(tab.page, "ended");
  },
);

inBrowser("a session answers in no page that it does not name", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user, { p_origins: ["https://other.example"] });
  await using tab = await open(token, { expected: /status of 403/ });
  await tab.frame.getByText(`This session is not for pages of ${origin}`).first().waitFor();
  assert.equal(await tab.frame.getByText("card declined").count(), 0);
});

inBrowser("a link shows the logs once, and its code is in no address", async () => {
  const user = await withLogs();
  await using db = openDatabase();
  await db`update logloom_private.settings set portal_url = ${portal}`;
  const { url } = await user.client.call("create_log_portal_session", { p_link: true });
  await db`update logloom_private.settings set portal_url = null`;
  assert.ok(url);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole("row").filter({ hasText: "card declined" }).first().waitFor();
    assert.doesNotMatch(page.url(), /llc_/);
    await page.goto("about:blank");
    await page.goto(url);
    await page.getByText("This link has been used, or is too old.").waitFor();
    await page.goto("about:blank");
    await page.goto(portal);
    await page.getByText("This page shows logs within another page").waitFor();
  } finally {
    await context.close();
  }
});

inBrowser("what a token may not do is not there", async () => {
  const user = await withLogs();
  const { view_id } = await user.client.call("create_log_view", {
    p_name: "records alone",
    p_operations: ["search_logs", "validate_query"],
  });
  const { token } = await sessionOf(user, { p_view_id: view_id });
  await using tab = await open(token, { expected: /status of 403/ });
  const { frame } = tab;
  await frame.getByRole("row").filter({ hasText: "card declined" }).first().waitFor();
  await frame.locator(".histogram").waitFor({ state: "detached" });
  await frame.locator(".fields").waitFor({ state: "detached" });
  await frame.getByRole("button", { name: "Live" }).waitFor({ state: "detached" });
  await picture(tab.page, "less");
});

inBrowser(
  "it wears the application's looks, on a phone too, and no style of an attacker",
  async () => {
    const user = await withLogs();
    const { token } = await sessionOf(user);
    await using tab = await open(token, { width: 390, height: 800, dark: true });
    const { page, frame } = tab;
    await frame.getByRole("row").filter({ hasText: "card declined" }).first().waitFor();
    await page.evaluate(() => {
      const viewer = document.querySelector<HTMLElement>("logloom-viewer");
      viewer?.style.setProperty("--logloom-accent", "#c026d3");
      viewer?.style.setProperty("--logloom-radius", "12px");
      viewer?.style.setProperty(
        "--logloom-font",
        'x; } * { background: url("https://evil.example")',
      );
      viewer?.setAttribute("theme", "dark");
      Object.assign(viewer ?? {}, { labels: { Run: "Suchen" } });
    });
    await frame.getByRole("button", { name: "Suchen" }).waitFor();
    const style = await tab.inner()?.evaluate(() => document.documentElement.style.cssText);
    assert.match(style ?? "", /--radius: 12px/);
    assert.doesNotMatch(style ?? "", /evil|--sans/);
    await page.waitForTimeout(600);
    await picture(page, "narrow");
    const wide = await tab.inner()?.evaluate(() =>
      document.documentElement.scrollWidth > document.documentElement.clientWidth
    );
    assert.equal(wide, false);
    // By keyboard alone: to the box, to the rows, a record opened.
    await tab.inner()?.evaluate(() => document.getElementById("main")?.focus());
    await page.keyboard.press("j");
    await page.keyboard.press("o");
    await frame.getByRole("button", { name: "Copy JSON" }).waitFor();
  },
);
