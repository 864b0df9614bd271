/// <reference lib="dom" />
import assert from "node:assert/strict";
// @deno-types="../../console/node_modules/playwright-core/index.d.ts"
import type { FrameLocator, Locator } from "../../console/node_modules/playwright-core/index.mjs";
import { accessibilityFaults, inBrowser } from "../console/browser.ts";
import { store, withLogs } from "../console/steps.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser } from "../support/users.ts";
import { foreign, open, origin, picture, portal, sessionOf } from "./portal.ts";

// What customers see in an application's page.

inBrowser("a customer searches their own logs in the shop's page; nothing is stored", async () => {
  const user = await withLogs();
  const other = await newUser();
  await store(other, [{ level: "error", msg: "of somebody else" }]);
  const { token } = await sessionOf(user);
  // Axe cannot look into frames of other origins.
  await using tab = await open(token, { expected: /does not match the recipient window/ });
  const { page, frame, row } = tab;
  await row("card declined").waitFor();
  await row("<img src=x onerror=alert(1)>").waitFor();
  await eventually("ready", async () => (await tab.said()).some(([name]) => name === "ready"));
  await frame.locator(".histogram canvas").first().waitFor();
  await picture(page, "wide");
  // Controls that make no sense inside an application are missing.
  for (const name of ["Save this search", "Sign out", "Copy link"]) {
    assert.equal(await frame.getByRole("button", { name }).count(), 0, name);
  }

  await row("<img src=x").click();
  await frame.getByRole("button", { name: "Copy or show" }).waitFor();
  assert.equal(await frame.locator("img[src=x]").count(), 0);
  const fired = await tab.inner().evaluate(() =>
    (globalThis as unknown as { fired: number }).fired
  );
  assert.equal(fired, 0);
  assert.deepEqual(await tab.faultsWithin(), []);
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
  assert.deepEqual(await tab.faultsWithin(), []);

  const own = [origin, new URL(portal).origin, stack.url];
  assert.deepEqual(
    [...new Set(tab.requests.map(({ url }) => new URL(url).origin))].sort(),
    own.toSorted(),
  );
  const ofFrame = tab.requests.filter(({ url }) => !url.startsWith(origin));
  assert.ok(ofFrame.length > 0 && ofFrame.every(({ headers }) => !headers.referer), "no referrer");
  assert.ok(!tab.requests.some(({ url }) => url.includes(token)), "no address holds the token");
  assert.deepEqual(await tab.context.cookies(), []);
  const kept = await tab.inner().evaluate(() => [
    document.cookie,
    ...Object.values({ ...localStorage }),
    ...Object.values({ ...sessionStorage }),
  ]);
  assert.deepEqual(kept, [""], "nothing is stored");
  const messages = await page.evaluate(() =>
    JSON.stringify((globalThis as unknown as { heard: unknown[] }).heard)
  );
  assert.ok(!messages.includes(token) && !messages.includes("card declined"));
});

inBrowser("two customers of a tenant see nothing of each other, and no hidden field", async () => {
  const user = await newUser();
  await store(user, [
    { level: "error", msg: "order of ann", customer: 42, user_id: "hidden-ann", card: "hidden-4" },
    { level: "info", msg: "order of bob", customer: 43, user_id: "hidden-bob", card: "hidden-5" },
  ]);
  const { view_id } = await user.client.call("create_log_view", {
    p_name: "customers",
    p_hidden_fields: ["user_id", "attrs.card"],
  });
  const tabFor = async (customer: number) => {
    const { token } = await sessionOf(user, {
      p_view_id: view_id,
      p_query_dsl: `@customer:${customer}`,
    });
    // Together they may start more searches than customers are allowed.
    return await open(token, { expected: /status of 4(?:00|29)/ });
  };
  await using ann = await tabFor(42);
  await using bob = await tabFor(43);
  await ann.row("order of ann").waitFor();
  await bob.row("order of bob").waitFor();
  for (const [tab, own, others] of [[ann, "ann", "bob"], [bob, "bob", "ann"]] as const) {
    const search = async (query: string) => {
      await tab.page.evaluate(
        (query) => document.querySelector("logloom-viewer")?.setAttribute("query", query),
        query,
      );
      await tab.frame.locator(`.query-host:has-text(${JSON.stringify(query)})`).waitFor();
    };
    await search("@customer:>0 OR level:>=debug");
    await tab.row(`order of ${own}`).click();
    await tab.frame.getByRole("button", { name: "Copy or show" }).waitFor();
    await search("| count() by attrs.customer");
    await tab.frame.locator(".aggregate tbody tr").first().waitFor();
    await search(") OR (@customer:>0");
    await tab.frame.getByTestId("query-error").waitFor();
    await search("user_id:hidden*");
    await tab.frame.getByText('The field "user_id" is hidden from you').first().waitFor();
    await tab.page.evaluate(() =>
      document.querySelector("logloom-viewer")?.setAttribute("query", `a${" ".repeat(2100)}b`)
    );
    await tab.frame.getByText("longer than 2048 bytes").first().waitFor();
    const answers = (await Promise.all(tab.answers)).join("\n");
    assert.match(answers, new RegExp(`order of ${own}`));
    assert.doesNotMatch(answers, new RegExp(`order of ${others}`));
    assert.doesNotMatch(answers, /hidden-(ann|bob|4|5)/);
  }
});

/**
 * The parts of the page, each with an element that shows that the part is there. Parts of a record need an open record.
 */
const parts: Record<string, (frame: FrameLocator) => Locator> = {
  chart: (frame) => frame.locator(".histogram"),
  fields: (frame) => frame.locator(".fields"),
  live: (frame) => frame.getByRole("button", { name: "Live", exact: true }),
  export: (frame) => frame.getByRole("button", { name: "Save the records" }),
  patterns: (frame) => frame.getByRole("tab", { name: "Patterns" }),
  changes: (frame) => frame.getByRole("tab", { name: "What changed?" }),
  context: (frame) => frame.getByRole("button", { name: "Context" }),
};

/** The part of each operation. */
const partOf: Record<string, string> = {
  log_histogram: "chart",
  list_log_fields: "fields",
  tail_logs: "live",
  export_logs: "export",
  log_stats: "patterns",
  log_changes: "changes",
  get_log_context: "context",
  get_log: "context",
};

/** Returns the visible parts after a record was opened. */
async function partsOf({ row, frame }: Awaited<ReturnType<typeof open>>): Promise<string[]> {
  await row("card declined").click();
  await frame.getByRole("button", { name: "Copy or show" }).waitFor();
  const counts = await Promise.all(Object.values(parts).map((part) => part(frame).count()));
  return Object.keys(parts).filter((_, at) => counts[at] > 0);
}

inBrowser("parts that a token does not allow are missing, and cause no request", async () => {
  const user = await withLogs();
  const { view_id } = await user.client.call("create_log_view", {
    p_name: "records alone",
    p_operations: ["search_logs"],
  });
  const { token } = await sessionOf(user, { p_view_id: view_id });
  // The heartbeat and the error mark call an operation that this token does not allow.
  await using tab = await open(token, { expected: /status of 403/, clock: true });
  await tab.row("card declined").waitFor();
  assert.deepEqual(await partsOf(tab), []);
  await tab.page.clock.fastForward(60_000);
  await tab.row("card declined").waitFor();
  // The host gets no error.
  assert.deepEqual((await tab.said()).filter(([name]) => name === "error"), []);
  const known = ["portal/operations", "search_logs", "validate_query"];
  const others = tab.requests.map(({ url }) => url.split("/logloom-read/v1/")[1])
    .filter((path) => path !== undefined && !known.includes(path));
  assert.deepEqual(others, []);
  await picture(tab.page, "less");
});

inBrowser("without an operation only the page's part for it is missing", async () => {
  const user = await withLogs();
  const { view_id } = await user.client.call("create_log_view", { p_name: "customers" });
  const { token } = await sessionOf(user, { p_view_id: view_id });
  {
    await using tab = await open(token);
    assert.deepEqual(await partsOf(tab), Object.keys(parts), "a view that has them all");
  }
  const all = ["search_logs", "validate_query", ...Object.keys(partOf)];
  for (const [operation, part] of Object.entries(partOf)) {
    await user.client.call("update_log_view", {
      p_view_id: view_id,
      p_operations: all.filter((one) => one !== operation),
    });
    await using tab = await open(token);
    assert.deepEqual(
      await partsOf(tab),
      Object.keys(parts).filter((one) => one !== part),
      `without ${operation}`,
    );
  }
});

inBrowser("a query draws lines over time, without log_series only the whole range", async () => {
  const user = await withLogs();
  const p_operations = ["search_logs", "log_stats", "validate_query"];
  for (const more of [["log_series"], []]) {
    const { view_id } = await user.client.call("create_log_view", {
      p_name: `numbers ${more}`,
      p_operations: [...p_operations, ...more],
    });
    const { token } = await sessionOf(user, { p_view_id: view_id });
    await using tab = await open(token);
    await tab.row("card declined").waitFor();
    await tab.page.evaluate(() =>
      document.querySelector("logloom-viewer")?.setAttribute("query", "| count() by service")
    );
    const shown = more.length > 0 ? "figure.series .u-over" : ".aggregate tbody tr";
    await tab.frame.locator(shown).first().waitFor();
    assert.equal(await tab.frame.getByRole("alert").count(), 0);
    const asked = tab.requests.filter(({ url }) => url.endsWith("/log_series"));
    assert.equal(asked.length, more.length);
  }
});

inBrowser("a running export continues when the labels change", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using tab = await open(token);
  const { page, frame } = tab;
  const next = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/export_logs", async (route) => {
    asked++;
    if (asked === 2) await next.promise;
    await route.fulfill({
      json: { records: 1, text: "a record\n", next_cursor: asked === 1 ? "further" : null },
      headers: { "Access-Control-Allow-Origin": "*" },
    });
  });
  await tab.row("card declined").waitFor();
  await frame.getByRole("button", { name: "Save the records" }).click();
  await frame.getByRole("button", { name: /as NDJSON/ }).click();
  await eventually("the next page is asked for", () => Promise.resolve(asked === 2));
  await page.evaluate(() =>
    Object.assign(document.querySelector("logloom-viewer") ?? {}, { labels: { Run: "Suchen" } })
  );
  await frame.getByRole("button", { name: "Suchen" }).waitFor();
  next.resolve();
  await frame.getByText(/^Saved/).waitFor();
});

inBrowser("without search_logs no records can be saved, and the host gets an error", async () => {
  const user = await withLogs();
  const { view_id } = await user.client.call("create_log_view", {
    p_name: "a chart alone",
    p_operations: ["log_histogram", "export_logs", "validate_query"],
  });
  const { token } = await sessionOf(user, { p_view_id: view_id });
  await using tab = await open(token, { expected: /status of 403/ });
  await tab.frame.locator(".histogram canvas").first().waitFor();
  await eventually("the error", async () => (await tab.said()).some(([name]) => name === "error"));
  const [, detail] = (await tab.said()).find(([name]) => name === "error") ?? [];
  assert.equal((detail as { status: number }).status, 403);
  assert.equal(await parts.export(tab.frame).count(), 0);
});

inBrowser("the portal takes the application's theme, but no injected style", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using tab = await open(token, { width: 390, height: 800, dark: true });
  const { page, frame } = tab;
  await tab.row("card declined").waitFor();
  await page.evaluate(() => {
    const viewer = document.querySelector<HTMLElement>("logloom-viewer");
    viewer?.style.setProperty("--logloom-accent", "#c026d3");
    viewer?.style.setProperty("--logloom-radius", "12px");
    viewer?.style.setProperty("--logloom-font", 'x; } * { background: url("https://evil.example")');
    viewer?.setAttribute("theme", "dark");
    Object.assign(viewer ?? {}, { labels: { Run: "<b>Suchen</b>", Live: 7 } });
  });
  await frame.getByRole("button", { name: "<b>Suchen</b>" }).waitFor();
  await frame.getByRole("button", { name: "Live" }).waitFor();
  const style = await tab.inner().evaluate(() => document.documentElement.style.cssText);
  assert.match(style, /--radius: 12px/);
  assert.doesNotMatch(style, /evil|--sans/);
});

for (
  const [width, height, dark] of [
    [1440, 900, false],
    [1440, 900, true],
    [390, 844, false],
    [390, 844, true],
  ] as const
) {
  const name = `${dark ? "dark" : "light"}-${width}`;
  inBrowser(`${name}: axe finds nothing, and nothing is wider than the page`, async () => {
    const user = await withLogs();
    const { token } = await sessionOf(user);
    await using tab = await open(token, { width, height, dark });
    await tab.row("card declined").waitFor();
    await tab.frame.locator(".histogram canvas").first().waitFor();
    assert.deepEqual(await tab.faultsWithin(), []);
    const isWider = () => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth > clientWidth;
    };
    assert.deepEqual([await tab.page.evaluate(isWider), await tab.inner().evaluate(isWider)], [
      false,
      false,
    ]);
    await picture(tab.page, name);
  });
}

inBrowser("everything can be done by keyboard", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using tab = await open(token);
  const { page, frame } = tab;
  await tab.row("card declined").waitFor();
  const focused = () =>
    tab.inner().evaluate(() => {
      const { activeElement } = document;
      const within = activeElement?.shadowRoot?.activeElement ?? activeElement;
      return within?.getAttribute("aria-label") ?? within?.textContent ?? "";
    });
  const tabTo = async (name: string) => {
    for (let press = 0; press < 60; press++) {
      if ((await focused()).startsWith(name)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab never came to ${name}`);
  };
  // The editor replaces the plain input once it is loaded.
  await frame.locator(".cm-content").waitFor();
  // Moves the focus from the application's page into the frame by the keyboard.
  await tabTo("Query");
  await page.keyboard.type("service:shop");
  await page.keyboard.press("Enter");
  await tab.row("slow query").waitFor({ state: "detached" });
  // A row can be opened only after the search has ended.
  await tab.row("card declined").waitFor();
  // In the box j and o are letters.
  await page.keyboard.press("Tab");
  assert.ok(!(await focused()).startsWith("Query"), "Tab leaves the box");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await frame.getByRole("button", { name: "Copy or show" }).waitFor();
  await page.keyboard.press("o");
  await frame.getByRole("button", { name: "Copy or show" }).waitFor({ state: "detached" });
  await tabTo("Save the records");
  await page.keyboard.press("Enter");
  const download = page.waitForEvent("download");
  await tabTo("Save as NDJSON");
  await page.keyboard.press("Enter");
  assert.match((await download).suggestedFilename(), /\.ndjson$/);
});

inBrowser("another origin can neither frame the portal nor make it ask for a token", async () => {
  const user = await withLogs();
  const { token } = await sessionOf(user);
  await using refused = await open(token, { at: foreign, expected: /frame-ancestors|Framing/ });
  await eventually(
    "the browser's own page",
    () =>
      Promise.resolve(refused.page.frames().some((one) => one.url().startsWith("chrome-error"))),
  );
  assert.deepEqual(await refused.said(), []);

  // If the host forgot the header, the page still accepts no messages and sends none.
  await using tab = await open(token, {
    at: foreign,
    prepare: (page) =>
      page.route(portal, async (route) => {
        const response = await route.fetch();
        const headers = response.headers();
        delete headers["content-security-policy"];
        await route.fulfill({ response, headers });
      }),
  });
  await eventually("the page to ask who is there", async () => await tab.asked() > 0);
  await tab.frame.getByText("This view did not open").waitFor();
  assert.ok(!tab.requests.some(({ url }) => url.startsWith(stack.url)));
  const heard = await tab.page.evaluate(() =>
    (globalThis as unknown as { heard: [string, { logloom: string }][] }).heard
  );
  assert.deepEqual(heard.map(([from, { logloom }]) => [from, logloom]), [
    [new URL(portal).origin, "hello"],
  ]);
});
