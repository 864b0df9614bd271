/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import type { Page } from "../../console/node_modules/playwright-core/index.mjs";
import { checkout } from "../../local/stack.ts";
import { inBrowser } from "../console/browser.ts";
import { store, withLogs } from "../console/steps.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { moreFiles, open, origin, portal, sessionOf } from "./portal.ts";
import { project } from "./project.ts";

// Tests the element and its React component in a page: drawing, style, size, tokens.

type Tab = Awaited<ReturnType<typeof open>>;

/** Serves these files from the shop's address, with its content security policy. */
const serving = (files: Record<string, string>) => async (page: Page) => {
  for (const [path, body] of Object.entries(files)) {
    await page.route(`${origin}${path}`, async (route) => {
      await route.fulfill({ response: await route.fetch(), body });
    });
  }
};

const viewer = ({ page }: Tab) => page.locator("logloom-viewer");

const setAttribute = (tab: Tab, name: string, value: string) =>
  viewer(tab).evaluate((element, [name, value]) => element.setAttribute(name, value), [
    name,
    value,
  ]);

/** The frame's style as the browser computed it. */
const looks = (tab: Tab) =>
  tab.inner().evaluate(() => {
    const of = (selector: string) => {
      const element = document.querySelector(selector);
      return element && getComputedStyle(element);
    };
    return {
      background: of("html")?.backgroundColor,
      accent: of(".button.primary")?.backgroundColor,
      font: of("html")?.fontFamily,
      radius: of(".query-field")?.borderRadius,
      row: of(".row-place.fixed")?.height,
    };
  });
const background = async (tab: Tab) => (await looks(tab)).background;

const light = "rgb(255, 255, 255)";
const dark = "rgb(18, 23, 27)";
const plain = {
  background: light,
  accent: "rgb(15, 118, 110)",
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif',
  radius: "5px",
  row: "23px",
};

// React's development build: in StrictMode it runs each effect twice.
const folder = `${project}/react-page`;
await Deno.mkdir(folder, { recursive: true });
await Deno.writeTextFile(
  `${folder}/shop.js`,
  `import { createElement, StrictMode, useState } from "react";
import { LogloomViewer } from "logloom/viewer/react";

const start = {
  src: ${JSON.stringify(portal)},
  range: "24h",
  className: "logs",
  style: { "--logloom-accent": "#c026d3" },
};
globalThis.said = [];
const tell = (...what) => said.push(what);

function Page() {
  const [drawn, draw] = useState({ ...start, turn: 1 });
  // Lets the test change what the application draws. It may also draw nothing.
  globalThis.draw = (changes) => draw((now) => changes && { ...now ?? start, ...changes });
  if (drawn === null) return null;
  const { turn, ...props } = drawn;
  return createElement(LogloomViewer, {
    ...props,
    getToken: () => {
      tell("getToken", turn);
      return nextToken();
    },
    onReady: () => tell("ready"),
    onError: (failure) => tell("error", failure),
    onQueryChanged: (changed) => tell("query-changed", changed),
  });
}

export const shop = createElement(StrictMode, null, createElement(Page));
`,
);
await Deno.writeTextFile(
  `${folder}/page.js`,
  `import { hydrateRoot } from "react-dom/client";
import { shop } from "./shop.js";
hydrateRoot(document.getElementById("root"), shop);
`,
);
await Deno.writeTextFile(
  `${folder}/build.js`,
  `import { renderToString } from "react-dom/server";
import { build } from ${JSON.stringify(`${checkout}/console/node_modules/vite/dist/node/index.js`)};
import { shop } from "./shop.js";
const [{ output: [{ code }] }] = await build({
  configFile: false,
  root: ${JSON.stringify(folder)},
  logLevel: "error",
  define: { "process.env.NODE_ENV": '"development"' },
  build: { write: false, minify: false, lib: { entry: "page.js", formats: ["es"] } },
});
console.log(JSON.stringify({ html: renderToString(shop), code }));
`,
);

/** The server's HTML, and the code that hydrates it. */
const react: { html: string; code: string } = await (async () => {
  const { success, stdout, stderr } = await new Deno.Command("node", {
    args: ["build.js"],
    cwd: folder,
    env: { NODE_ENV: "development" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
})();

Object.assign(moreFiles, {
  "/react": `<!doctype html><html lang="en"><title>shop</title>
<link rel="stylesheet" href="/shop.css">
<main id="root">${react.html}</main><script type="module" src="/react.js"></script></html>`,
  "/react.js": react.code,
});

const openReact = (tokens: string[], expected?: RegExp) =>
  open(tokens, { at: `${origin}/react`, expected });

const draw = ({ page }: Tab, changes: object | null) =>
  page.evaluate((changes) => {
    (globalThis as unknown as { draw: (changes: unknown) => void }).draw(changes);
  }, changes);

const framesOf = ({ page }: Tab) =>
  page.frames().filter((one) => one.url().startsWith(portal)).length;

inBrowser("React: the server's HTML is hydrated under a strict policy", async () => {
  assert.equal(
    react.html,
    `<logloom-viewer src="${portal}" range="24h" class="logs"></logloom-viewer>`,
  );
  const { token } = await sessionOf(await withLogs());
  await using tab = await openReact([token]);
  const saidOf = async (wanted: string) => (await tab.said()).filter(([name]) => name === wanted);
  await tab.row("card declined").waitFor();
  await becomes(1, async () => (await saidOf("ready")).length);
  assert.deepEqual(await saidOf("getToken"), [["getToken", 1]]);
  assert.equal(framesOf(tab), 1);
  // The style that server-side HTML may not contain.
  await becomes({ ...plain, accent: "rgb(182, 36, 200)" }, () => looks(tab));

  await draw(tab, { query: "service:shop" });
  await tab.row("slow query").waitFor({ state: "detached" });
  await tab.frame.locator(".query-host").click();
  await tab.page.keyboard.press("ControlOrMeta+a");
  await tab.page.keyboard.type("level:warn");
  await tab.page.keyboard.press("Enter");
  await tab.row("slow query").waitFor();
  const queries = ["service:shop", "level:warn"];
  await becomes(
    queries.map((query) => ["query-changed", { query, from: "now-24h", to: "now" }]),
    async () => (await saidOf("query-changed")).slice(-2),
  );

  await draw(tab, { theme: "dark" });
  await becomes(dark, () => background(tab));
  await draw(tab, { theme: "light", style: { "--logloom-radius": "9px" } });
  await becomes({ ...plain, radius: "9px" }, () => looks(tab));
  await draw(tab, { labels: { Run: "Suchen" } });
  await tab.frame.getByRole("button", { name: "Suchen", exact: true }).waitFor();
  await draw(tab, { labels: null });
  await tab.frame.getByRole("button", { name: "Run", exact: true }).waitFor();
  assert.equal(await tab.frame.getByText("Suchen").count(), 0);
  assert.equal(framesOf(tab), 1);
  assert.deepEqual(await saidOf("error"), []);
});

inBrowser(
  "React: the newest getToken is called, failures reach the host, a removed view is gone",
  async () => {
    const user = await withLogs();
    const [first, second, third] = [
      await sessionOf(user),
      await sessionOf(user),
      await sessionOf(user),
    ];
    await using tab = await openReact(
      [first.token, second.token, "", third.token],
      /status of 401/,
    );
    const run = () => tab.frame.getByRole("button", { name: "Run", exact: true }).click();
    const turns = async () =>
      (await tab.said()).filter(([name]) => name === "getToken").map(([, turn]) => turn);
    await tab.row("card declined").waitFor();
    await draw(tab, { turn: 2 });
    await user.client.call("revoke_log_portal_session", { p_session_id: first.id });
    await run();
    await becomes([1, 2], turns);
    await user.client.call("revoke_log_portal_session", { p_session_id: second.id });
    await eventually("the second token to be refused", async () => {
      await run();
      return (await turns()).length > 2;
    });
    await becomes(
      [["error", { status: 0, message: "getToken failed: it gave no token" }]],
      async () => (await tab.said()).filter(([name]) => name === "error"),
    );

    await draw(tab, null);
    await viewer(tab).waitFor({ state: "detached" });
    await becomes(0, () => Promise.resolve(framesOf(tab)));
    // This time only the browser draws it, after the element is defined.
    await draw(tab, { turn: 4 });
    await tab.row("card declined").waitFor();
    await becomes("rgb(182, 36, 200)", async () => (await looks(tab)).accent);
    assert.deepEqual(await turns(), [1, 2, 2, 4]);
    await becomes(2, async () => (await tab.said()).filter(([name]) => name === "ready").length);
  },
);

inBrowser("src may be set later, and changed; an invalid address is an error", async () => {
  const { token } = await sessionOf(await withLogs());
  await using tab = await open(token);
  await tab.row("card declined").waitFor();
  const wrong = ["http://[", "javascript:alert(1)"];
  for (const src of wrong) await setAttribute(tab, "src", src);
  await becomes(
    wrong.map(() => ["error", { status: 0, message: "src is no address of a page" }]),
    async () => (await tab.said()).filter(([name]) => name === "error"),
  );
  assert.equal(framesOf(tab), 0);
  await setAttribute(tab, "src", portal);
  await tab.row("card declined").waitFor();
  await tab.page.evaluate(() => {
    const viewer = document.querySelector("logloom-viewer");
    const { token } = viewer as unknown as { token: string };
    viewer?.remove();
    const later = document.createElement("logloom-viewer");
    document.querySelector("main")?.append(Object.assign(later, { token }));
  });
  await setAttribute(tab, "src", portal);
  await tab.row("card declined").waitFor();
  assert.equal(framesOf(tab), 1);
});

for (const isDark of [false, true]) {
  const [own, other] = isDark ? ["dark", "light"] : ["light", "dark"];
  inBrowser(
    `a page may be ${other} on a system that is ${own}, or follow the system`,
    async () => {
      const { token } = await sessionOf(await withLogs());
      await using tab = await open(token, { dark: isDark });
      await tab.row("card declined").waitFor();
      const colours = { light, dark } as Record<string, string>;
      await becomes(colours[own], () => background(tab));
      await setAttribute(tab, "theme", other);
      await becomes(colours[other], () => background(tab));
      await setAttribute(tab, "theme", own);
      await becomes(colours[own], () => background(tab));
      await setAttribute(tab, "theme", "auto");
      for (const scheme of [other, own] as ("light" | "dark")[]) {
        await tab.page.emulateMedia({ colorScheme: scheme });
        await becomes(colours[scheme], () => background(tab));
      }
    },
  );
}

inBrowser("theme auto: the frame is as light or dark as the page behind the element", async () => {
  const { token } = await sessionOf(await withLogs());
  const css = "body { background: #fafafa } main { transition: background-color 1ms }";
  await using tab = await open(token, { dark: true, prepare: serving({ "/shop.css": css }) });
  await tab.row("card declined").waitFor();
  // A page with light colours only, on a dark system.
  await becomes(light, () => background(tab));
  const behind = async (colours: Record<string, string>, expected: string) => {
    await tab.page.evaluate((colours) => {
      for (const [selector, colour] of Object.entries(colours)) {
        document.querySelector<HTMLElement>(selector)?.style.setProperty("background", colour);
      }
    }, colours);
    await becomes(expected, () => background(tab));
  };
  await behind({ main: "oklch(0.25 0.03 250)" }, dark);
  await behind({ main: "rgb(0 0 0 / 10%)" }, light);
  await behind({ "logloom-viewer": "rgb(0 0 0 / 80%)" }, dark);
  await behind({ "logloom-viewer": "", main: "", body: "" }, light);
  // A style sheet that changes.
  await tab.page.evaluate(() => document.styleSheets[0].insertRule("body { background: #111 }", 1));
  await becomes(dark, () => background(tab));
  // In a slot of a white card.
  await viewer(tab).evaluate((element) => {
    const card = document.createElement("div");
    card.attachShadow({ mode: "open" }).append(document.createElement("slot"));
    card.style.background = "color(display-p3 1 1 1)";
    element.before(card);
    card.append(element);
  });
  await tab.row("card declined").waitFor();
  await becomes(light, () => background(tab));
  // Without any background the colour scheme decides.
  await behind({ div: "none", body: "none" }, light);
  await tab.page.evaluate(() => document.documentElement.style.colorScheme = "light dark");
  await becomes(dark, () => background(tab));
});

inBrowser("the style of the page's style sheet is applied, changed and removed", async () => {
  const { token } = await sessionOf(await withLogs());
  await using tab = await open(token, {
    prepare: serving({
      "/shop.css": `:root { color-scheme: light dark }
.brand {
  --brand: #c026d3;
  --logloom-accent: var(--brand);
  --logloom-font: "DejaVu Serif", serif;
  --logloom-radius: 12px;
  --logloom-density: roomy;
}
@media (prefers-color-scheme: dark) { .brand { --brand: #0cf } }`,
    }),
  });
  await tab.row("card declined").waitFor();
  await becomes(plain, () => looks(tab));
  await setAttribute(tab, "class", "brand");
  const branded = {
    background: light,
    accent: "rgb(182, 36, 200)",
    font: '"DejaVu Serif", serif, sans-serif',
    radius: "12px",
    row: "29px",
  };
  await becomes(branded, () => looks(tab));
  await tab.page.emulateMedia({ colorScheme: "dark" });
  await becomes({ ...branded, background: dark, accent: "rgb(0, 204, 255)" }, () => looks(tab));
  await tab.page.emulateMedia({ colorScheme: "light" });
  await viewer(tab).evaluate((element) => {
    (element as HTMLElement).style.setProperty("--logloom-radius", "0");
  });
  await becomes({ ...branded, radius: "0px" }, () => looks(tab));
  await viewer(tab).evaluate((element) => {
    (element as HTMLElement).style.removeProperty("--logloom-radius");
    element.setAttribute("class", "");
  });
  await becomes(plain, () => looks(tab));
});

inBrowser("its height is that of its rows, between 480 pixels and 80 % of the window", async () => {
  const user = await withLogs();
  const rows = (service: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({ level: "info", service, msg: `row ${n}` }));
  await store(user, [...rows("some", 14), ...rows("many", 80)]);
  const { token } = await sessionOf(user);
  await using tab = await open(token);
  const height = () => viewer(tab).evaluate((element) => element.getBoundingClientRect().height);
  /** The pixels below the last row; negative if the rows do not fit. */
  const room = () =>
    tab.inner().evaluate(() => {
      const rows = document.querySelector<HTMLElement>(".rows");
      return [...rows?.children ?? []].reduce(
        (left, row) => left - (row as HTMLElement).offsetHeight,
        rows?.clientHeight ?? 0,
      );
    });
  const search = async (query: string, count: number) => {
    await setAttribute(tab, "query", query);
    await tab.frame.locator(`.rows[aria-rowcount="${count + 1}"]`).waitFor();
  };
  await search("", 98);
  await becomes(720, height);
  await search("service:shop", 1);
  await becomes(480, height);
  assert.ok(await room() > 0);
  await search("service:some", 14);
  await becomes(0, room);
  const between = await height();
  assert.ok(between > 480 && between < 720, `${between}`);
  await search("service:many", 80);
  await becomes(720, height);
  assert.ok(await room() < 0);
  await search("service:some", 14);
  await becomes([between, 0], async () => [await height(), await room()]);

  await search("service:many", 80);
  await tab.page.setViewportSize({ width: 1440, height: 1000 });
  await becomes(800, height);
  await tab.page.setViewportSize({ width: 1440, height: 500 });
  await becomes(480, height);
  await viewer(tab).evaluate((element) => {
    (element as HTMLElement).style.height = "333px";
  });
  await becomes(333, height);
});

/** The shop without `getToken`: it sets the property, or does not answer. */
const answersByProperty = serving({
  "/shop.js": `const viewer = document.querySelector("logloom-viewer");
globalThis.said = [];
for (const name of ["ready", "error", "query-changed", "token-needed"]) {
  viewer.addEventListener(name, ({ detail }) => said.push([name, detail]));
}
viewer.addEventListener("token-needed", () => {
  const token = nextToken();
  if (token) viewer.token = token;
});
await import("./viewer.js");`,
});

const setToken = (tab: Tab, token: unknown) =>
  viewer(tab).evaluate((element, token) => void Object.assign(element, { token }), token);
const tokenOf = (tab: Tab) =>
  viewer(tab).evaluate((element) => (element as unknown as { token: string | null }).token);

inBrowser("a host without getToken answers token-needed by setting the token", async () => {
  const user = await withLogs();
  const [first, second] = [
    await sessionOf(user, { p_expires_in: 3600 }),
    await sessionOf(user, { p_expires_in: 86_400 }),
  ];
  const inTime = { ...first, expires_at: Date.parse(first.expires_at) };
  await using tab = await open([inTime, second.token], { clock: true, prepare: answersByProperty });
  const row = tab.row("card declined");
  await row.waitFor();
  assert.equal(await tokenOf(tab), first.token);
  await row.evaluate((element) => element.setAttribute("data-same", ""));
  // The next token is requested in nine minutes. Less time than that has passed so far.
  await tab.page.clock.fastForward(3_000_000);
  assert.equal(await tab.asked(), 1);
  await tab.page.clock.fastForward(570_000);
  await becomes(2, tab.asked);
  await becomes(second.token, () => tokenOf(tab));
  await user.client.call("revoke_log_portal_session", { p_session_id: first.id });
  await tab.frame.getByRole("button", { name: "Run", exact: true }).click();
  await eventually("a use of the second token", async () => {
    const sessions = await user.client.call("list_log_portal_sessions", {});
    return sessions.find(({ session_id }) => session_id === second.id)?.first_used_at;
  });
  assert.equal(await tab.asked(), 2);
  assert.equal(await tab.frame.locator("[data-same]").count(), 1, "the view did not begin anew");
  assert.doesNotMatch(await viewer(tab).evaluate((element) => element.outerHTML), /llp_/);
});

inBrowser(
  "an element that is moved in the page shows the same, and still renews its token in time",
  async () => {
    const user = await withLogs();
    const { token, expires_at } = await sessionOf(user, { p_expires_in: 180 });
    const next = await sessionOf(user);
    await using tab = await open([{ token, expires_at }, next.token], {
      clock: true,
      prepare: answersByProperty,
    });
    await tab.row("card declined").waitFor();
    const readies = async () => (await tab.said()).filter(([name]) => name === "ready").length;
    await becomes(1, readies);
    await viewer(tab).evaluate((element) => document.body.append(element));
    await becomes(2, readies);
    await tab.row("card declined").waitFor();
    assert.equal(await tab.asked(), 1);
    await tab.page.clock.fastForward(130_000);
    await becomes(2, tab.asked);
    await becomes(next.token, () => tokenOf(tab));
  },
);

inBrowser("token = null removes the records until there is a new token", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using tab = await open([token, ""], { clock: true, prepare: answersByProperty });
  await tab.row("card declined").waitFor();
  await setToken(tab, null);
  await becomes(2, tab.asked);
  assert.equal(await tokenOf(tab), null);
  await tab.frame.getByRole("status", { name: "Loading" }).waitFor();
  assert.equal(await tab.frame.getByText("card declined").count(), 0);
  await tab.page.clock.fastForward(20_000);
  await tab.frame.getByText("This view did not open").waitFor();
  await becomes(
    ["error", { status: 401, message: "The page sent no token." }],
    async () => (await tab.said()).at(-1),
  );
  await tab.frame.getByRole("button", { name: "Open it again" }).click();
  await becomes(3, tab.asked);
  await setToken(tab, token);
  await tab.row("card declined").waitFor();
});
