/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import {
  type Browser,
  chromium,
  type Page,
} from "../../console/node_modules/playwright-core/index.mjs";
import { chromium as executablePath } from "../../local/browser.ts";
import { checkout } from "../../local/stack.ts";
import type { ParametersOf } from "../../packages/logloom/src/read.ts";
import { freePort } from "../support/free_port.ts";
import { eventually, patience } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import type { User } from "../support/users.ts";
import { project } from "./project.ts";

// Serves the portal like a static host, with pages of applications that embed it, and opens them in a browser.

export const element = `${project}/node_modules/logloom/dist/viewer.js`;
const built = `${checkout}/.logloom/portal`;
const pictures = Deno.env.get("LOGLOOM_PORTAL_PICTURES");

const types: Record<string, string> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
  svg: "image/svg+xml",
};

/**
 * Extra files of the application and of the portal's host. They come from the server, because Chromium treats pages that the test fulfils as not
 * local and then blocks local frames in them.
 */
export const moreFiles: Record<string, string> = {};

/** Serves a page of an application. Each server has another origin. */
function application() {
  const page = `<!doctype html><html lang="en"><title>shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/shop.css">
<main><h1>Shop logs</h1><logloom-viewer src="${portal}" range="24h"></logloom-viewer></main>
<script type="module" src="/shop.js"></script></html>`;
  const script = `const viewer = document.querySelector("logloom-viewer");
globalThis.said = [];
globalThis.heard = [];
for (const name of ["ready", "error", "query-changed", "token-needed"]) {
  viewer.addEventListener(name, ({ detail }) => said.push([name, detail]));
}
addEventListener("message", ({ data, origin, source }) => {
  heard.push([origin, data]);
  globalThis.inside ??= source;
});
// An application may set this before the element is defined.
viewer.getToken = () => globalThis.nextToken();
await import("./viewer.js");`;
  const policy = () =>
    `default-src 'none'; script-src 'self'; style-src 'self'; frame-src ${
      new URL(portal).origin
    } ${foreign}`;
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const files: Record<string, string> = {
      "/": page,
      "/shop.js": script,
      "/shop.css":
        ":root{color-scheme:light dark}body{margin:0;font-family:sans-serif}main{padding:16px}",
      "/viewer.js": await Deno.readTextFile(element),
      ...moreFiles,
    };
    return new Response(files[pathname] ?? "", {
      headers: {
        "Content-Type": types[pathname.split(".")[1] ?? "html"] ?? "",
        "Content-Security-Policy": policy(),
      },
    });
  });
}

/** Serves the portal with the headers that the build wrote. */
function host() {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const body = moreFiles[path] ?? await Deno.readFile(built + path).catch(() => null);
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

export const portal = `http://127.0.0.1:${host().addr.port}/portal.html`;
export const origin = `http://127.0.0.1:${application().addr.port}`;
export const foreign: string = `http://127.0.0.1:${application().addr.port}`;
/** The port of examples/portal. */
export const examplePort = freePort();

const { success, stdout, stderr } = await new Deno.Command("node", {
  args: [
    "console/build.js",
    `--url=${stack.url}`,
    "--key=none",
    `--portal-origins=${origin},https://other.example,http://localhost:${examplePort}`,
    `--out=${built}`,
  ],
  cwd: checkout,
  env: { INIT_CWD: checkout },
}).output();
assert.ok(success, new TextDecoder().decode(stderr));
export const buildSaid = new TextDecoder().decode(stdout);
export const browser: Browser = await chromium.launch({
  executablePath,
  timeout: patience,
  args: ["--no-sandbox"],
});
globalThis.addEventListener("unload", () => void browser.close());

/** Creates a portal session like the application's server, for a customer of the user's tenant. */
export async function sessionOf(
  { client }: User,
  parameters: ParametersOf<"create_log_portal_session"> = {},
) {
  const session = await client.call("create_log_portal_session", {
    p_origins: [origin],
    ...parameters,
  });
  return { id: session.session_id, token: session.token ?? "", expires_at: session.expires_at };
}

export interface Token {
  token: string;
  expires_at?: string | number;
}

interface Options {
  width?: number;
  height?: number;
  dark?: boolean;
  at?: string;
  /** Whether the test controls the page's clock. */
  clock?: boolean;
  /** Console messages that this test causes on purpose. */
  expected?: RegExp;
  prepare?: (page: Page) => Promise<unknown>;
}

/** Opens a page of an application that returns these tokens in order, then the last one again and again. */
export async function open(tokens: string | (string | Token)[], options: Options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
    colorScheme: options.dark ? "dark" : "light",
    timezoneId: "UTC",
  });
  if (options.clock) await context.clock.install();
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const faults: string[] = [];
  const requests: { url: string; headers: Record<string, string>; body: string | null }[] = [];
  const answers: Promise<string>[] = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    if (options.expected?.test(message.text())) return;
    faults.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    requests.push({ url: request.url(), headers: request.headers(), body: request.postData() });
  });
  const underWay = new Set<unknown>();
  page.on("request", (request) => underWay.add(request));
  page.on("requestfinished", (request) => underWay.delete(request));
  page.on("requestfailed", (request) => underWay.delete(request));
  page.on("response", (response) => void answers.push(response.text().catch(() => "")));
  await page.addInitScript((tokens: unknown[]) => {
    const given = [...tokens];
    Object.assign(globalThis, {
      nextToken: () => given.length > 1 ? given.shift() : given[0],
      fired: 0,
      alert: () => (globalThis as unknown as { fired: number }).fired++,
    });
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
    });
  }, typeof tokens === "string" ? [tokens] : tokens);
  await options.prepare?.(page);
  await page.goto(options.at ?? `${origin}/`);
  const frame = page.frameLocator("logloom-viewer iframe");
  const inner = () => {
    const found = page.frames().find((one) => one.url().startsWith(portal));
    assert.ok(found, "the portal's frame");
    return found;
  };
  return {
    context,
    page,
    frame,
    requests,
    answers,
    inner,
    row: (text: string) => frame.getByRole("row").filter({ hasText: text }).first(),
    said: () => page.evaluate(() => (globalThis as unknown as { said: [string, unknown][] }).said),
    /** Waits until each request is answered. A search that is begun anew keeps its slot for a while. */
    rests: () => eventually("all is answered", () => Promise.resolve(underWay.size === 0)),
    /** How often the page asked for a token. */
    asked: () =>
      page.evaluate(() =>
        (globalThis as unknown as { said: [string][] }).said
          .filter(([name]) => name === "token-needed").length
      ),
    /** Runs axe inside the frame, because axe cannot look into frames of other origins. */
    faultsWithin: async () =>
      await inner().evaluate(
        `${await Deno.readTextFile(`${checkout}/console/node_modules/axe-core/axe.min.js`)};
         axe.run().then(({ violations }) =>
           violations.map(({ id, nodes }) => id + ": " + nodes[0].target))`,
      ),
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(faults, [], "nothing fails that was not expected to");
    },
  };
}

/** Takes a picture if LOGLOOM_PORTAL_PICTURES is set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}
