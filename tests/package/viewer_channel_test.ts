/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import type { Frame, Page } from "../../console/node_modules/playwright-core/index.mjs";
import { inBrowser } from "../console/browser.ts";
import { store, withLogs } from "../console/steps.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { foreign, moreFiles, open, origin, portal, sessionOf } from "./portal.ts";

// Attacks on the messages between the element and its frame. Every attacker even knows the frames' nonces.

const page = (body: string) => `<!doctype html><html lang="en"><title>page</title>${body}</html>`;
Object.assign(moreFiles, {
  "/two": page(`<main>${`<logloom-viewer src="${portal}" range="24h"></logloom-viewer>`.repeat(2)}
<iframe src="${foreign}/eve" title="eve"></iframe></main>
<script type="module" src="/two.js"></script>`),
  "/two.js": `globalThis.said = [];
globalThis.heard = [];
globalThis.calls = 0;
for (const viewer of document.querySelectorAll("logloom-viewer")) {
  const token = nextToken();
  viewer.getToken = async () => (calls++, token);
  for (const name of ["ready", "error", "query-changed", "token-needed"]) {
    viewer.addEventListener(name, ({ detail }) => said.push([name, detail]));
  }
}
globalThis.inside = [];
addEventListener("message", ({ data, origin, source }) => {
  heard.push([origin, data]);
  if (origin === "${new URL(portal).origin}" && data.logloom === "hello") inside.push(source);
});
await import("./viewer.js");`,
  "/eve": page(`<script src="/eve.js"></script>`),
  "/eve.js": `addEventListener("message", ({ data }) => leak(JSON.stringify(data)));`,
  "/slow.html": page(`<script src="/slow.js"></script><script src="/never.js"></script>`),
  "/slow.js": "globalThis.got = []; onmessage = ({ data }) => got.push(data);",
  "/bare": page(`<logloom-viewer></logloom-viewer><iframe src="${portal}"></iframe>
<script type="module" src="/shop.js"></script>`),
});

/** Sends what an attacker may try to a page, and to its frames. They are in shadow trees, out of reach of other origins. */
const attack = (
  where: Page | Frame,
  page: string,
  frames: string,
  evil: string,
  nonces: string[],
) =>
  where.evaluate(`(async () => {
    const told = ["hello", "token-needed", "ready", "error", "query-changed", "height"];
    for (let turn = 0; turn < 5000; turn++) {
      const nonce = ${JSON.stringify(nonces)}[turn % ${nonces.length}];
      const common = { nonce, query: "eve", message: "eve", height: 99999 };
      ${page}.postMessage({ logloom: told[turn % told.length], ...common }, "*");
      const show = { logloom: "show", nonce, query: "eve", token: "${evil}", renews: true };
      for (const frame of ${frames}) frame.postMessage(show, "*");
    }
  })()`);

inBrowser("no other window's messages reach the frames or the page", async () => {
  const [ann, bob, eve] = [await newUser(), await newUser(), await newUser()];
  for (const [user, msg] of [[ann, "of ann"], [bob, "of bob"], [eve, "of eve"]] as const) {
    await store(user, [{ msg }]);
  }
  const [a, b, e] = [await sessionOf(ann), await sessionOf(bob), await sessionOf(eve)];
  const leaked: string[] = [];
  const used: [Frame, string | undefined][] = [];
  await using tab = await open("", {
    at: `${foreign}/eve`,
    prepare: async (page) => {
      await page.context().exposeFunction("leak", (text: string) => void leaked.push(text));
      page.context().on("request", (request) => {
        if (!request.url().includes("/logloom-read/")) return;
        used.push([request.frame(), request.headers().authorization]);
      });
      const given = JSON.stringify([a.token, b.token]);
      await page.context().addInitScript(
        `const given = ${given}; globalThis.nextToken = () => given.shift()`,
      );
    },
  });
  const opens = async (page: Page, at: string) => {
    const opening = tab.context.waitForEvent("page");
    await page.evaluate(`var opened = open("${at}"); undefined`);
    const opened = await opening;
    await opened.waitForLoadState();
    return opened;
  };
  // The attacker's page opens the shop.
  const shop = await opens(tab.page, `${origin}/two`);
  const view = (at: number) =>
    shop.locator("logloom-viewer").nth(at).locator("iframe").contentFrame();
  const bothShow = async () => {
    await view(0).getByText("of ann").first().waitFor();
    await view(1).getByText("of bob").first().waitFor();
  };
  await bothShow();
  await becomes(2, () => shop.evaluate('said.filter(([name]) => name === "ready").length'));
  const own = `heard.filter(([from]) => from === "${new URL(portal).origin}")`;
  const noncesOf = () =>
    shop.evaluate<string[]>(`[...new Set(${own}.map(([, { nonce }]) => nonce))]`);
  const nonces = await noncesOf();
  assert.equal(nonces.length, 2);
  assert.ok(nonces.every((nonce) => /^(\d+-){3}\d+$/.test(nonce)));
  const frames = () => shop.frames().filter((one) => one.url().startsWith(portal));
  assert.ok(!frames().some((one) => nonces.some((nonce) => one.url().includes(nonce))));
  const [annFrame, bobFrame] = frames();
  await shop.evaluate("said.length = 0");

  await attack(tab.page, "opened", "[]", e.token, nonces);
  const sibling = shop.frames().find((one) => one.url() === `${foreign}/eve`);
  assert.ok(sibling);
  await attack(sibling, "parent", "[]", e.token, nonces);
  const popup = await opens(shop, `${origin}/other`);
  await attack(popup, "opener", "opener.inside", e.token, nonces);
  // Messages of the frame to itself, and messages of the shop with the other frame's nonce or none.
  await attack(annFrame, "self", "[]", e.token, nonces);
  await shop.evaluate(`for (const nonce of ["${nonces[1]}", "", undefined]) {
    inside[0].postMessage({ logloom: "show", nonce, query: "eve", token: "${e.token}" }, "*");
  }`);
  await becomes(
    15_000,
    () => shop.evaluate('heard.filter(([, { query }]) => query === "eve").length'),
  );

  // Both views still work, each with its own token.
  for (const at of [0, 1]) {
    await shop.locator("logloom-viewer").nth(at).evaluate((one) => one.setAttribute("query", "of"));
    await view(at).locator('.query-host:has-text("of")').waitFor();
  }
  await bothShow();
  assert.equal(await shop.evaluate("calls"), 2);
  assert.ok(!(await shop.evaluate<string>("JSON.stringify(said)")).includes("eve"));
  for (const [frame, token] of [[annFrame, a.token], [bobFrame, b.token]] as const) {
    const tokens = used.filter(([from]) => from === frame).map(([, one]) => one);
    assert.deepEqual([...new Set(tokens)], [`Bearer ${token}`]);
  }

  // A frame that leaves for the attacker's page: the element opens a new one, with another nonce.
  await annFrame.evaluate((at) => location.assign(at), `${foreign}/eve`);
  await eventually("the frame leaves", () => Promise.resolve(!frames().includes(annFrame)));
  await becomes(3, async () => (await noncesOf()).length);
  await bothShow();
  assert.equal(await shop.evaluate("calls"), 2, "its token is still good");
  assert.deepEqual(leaked, []);
});

inBrowser("a page that follows in the frame gets no token, even before it has loaded", async () => {
  const { token } = await sessionOf(await withLogs());
  await using tab = await open(token);
  await tab.row("card declined").waitFor();
  const slow = new URL("/slow.html", portal).href;
  await tab.page.route("**/never.js", () => {});
  await tab.inner().evaluate((at) => void location.assign(at), slow);
  const framed = () => tab.page.frames().find((one) => one.url() === slow);
  // From here on it hears every message, though it never finishes loading.
  await becomes([], async () => await framed()?.evaluate("got"));
  await tab.page.evaluate((token) => {
    const viewer = Object.assign(document.querySelector("logloom-viewer") ?? {}, { token });
    const { shadowRoot } = viewer as unknown as HTMLElement;
    shadowRoot?.querySelector("iframe")?.contentWindow?.postMessage("last", "*");
  }, token);
  await becomes(["last"], async () => await framed()?.evaluate("got"));
});

inBrowser(
  "without the element's nonce, or in a window of its own, the page opens nothing",
  async () => {
    const { token } = await sessionOf(await newUser());
    await using tab = await open(token, { at: `${origin}/bare` });
    const refusal = "This page works only inside another page";
    await tab.page.frameLocator("body > iframe").getByText(refusal).waitFor();
    const opening = tab.context.waitForEvent("page");
    await tab.page.evaluate(`var opened = open("${portal}#1-2-3-4"); undefined`);
    const opened = await opening;
    await opened.getByText(refusal).waitFor();
    assert.equal(opened.url(), portal);
    await tab.page.evaluate(`for (const nonce of ["", undefined, "1-2-3-4"]) {
    for (const at of [opened, window[0]]) {
      at.postMessage({ logloom: "show", nonce, token: "${token}" }, "*");
    }
  }`);
    assert.ok(!tab.requests.some(({ url }) => url.includes("/logloom-read/")));
  },
);
