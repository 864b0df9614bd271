/// <reference lib="dom" />
import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "./browser.ts";
import { boxText, isGone, isSeen, search, store, withLogs } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

inBrowser(
  "panels show how long the answer took and the zone, and mark the last bar as unfinished",
  async () => {
    const user = await withLogs();
    await using tab = await browser.open(user.token, { timezone: "Asia/Kolkata" });
    const { page } = tab;
    await page.locator(".histogram-total").getByText("4 records").waitFor();
    assert.match(await page.locator(".histogram .panel-note").innerText(), /^\d.* (ms|sec)$/);
    assert.match(
      await page.locator(".fields-note").innerText(),
      /^in all records · \d.* (ms|sec)$/,
    );
    await page.getByRole("button", { name: "Times in UTC+05:30" }).waitFor();
    assert.equal(await page.locator(".histogram .chart").getAttribute("data-unfinished"), "true");
    assert.equal(await page.getByText("4 records").count(), 1, "one count");

    // A range in the past has no unfinished bar.
    const [from, to] = [at(50), at(20)].map((ts) => `${ts.slice(0, 16)}:00.000Z`);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `from=${from}&to=${to}`);
    await page.locator(".histogram-total").getByText("2 records").waitFor();
    await page.locator(".histogram .chart:not([data-unfinished])").waitFor();
    await page.locator(".histogram .u-over").hover({ position: { x: 40, y: 20 } });
    await page.locator(".chart-tip").waitFor();
  },
);

inBrowser("the list of fields says how many records were counted", async () => {
  const user = await withLogs();
  await store(user, Array.from({ length: 5000 }, (_, n) => ({ n })));
  await using tab = await browser.open(user.token);
  await tab.page.locator(".histogram-total").getByText("5,004 records").waitFor();
  const { page } = tab;
  await page.locator(".fields-note").getByText(/in a sample of \d,\d+/).waitFor();
  // A list that is cut does not say that a field is missing, nor does it leave out the first two.
  const attrs = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i]));
  await store(user, [{ level: "info", service: "api", attrs }]);
  await page.getByRole("button", { name: "Run again (r)" }).click();
  await page.getByRole("searchbox", { name: "Find a field" }).fill("F999");
  await page.locator(".field-name").getByText("attrs.f999", { exact: true }).waitFor();
  await page.getByRole("searchbox", { name: "Find a field" }).fill("");
  await page.locator(".field-name").getByText("level", { exact: true }).waitFor();
  assert.deepEqual((await page.locator(".field-name").allInnerTexts()).slice(0, 2), [
    "level",
    "service",
  ]);
});

inBrowser("an error in a query is shown once, and a button corrects it", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { expected: /status (of )?400/ });
  const { page } = tab;
  await isSeen(page, "slow query");
  await search(page, "level:loud");
  await page.getByTestId("query-error").waitFor();
  await page.getByText("Correct the query to see results.").waitFor();
  assert.equal(await page.getByText(/Unknown level/).count(), 1, "once");
  assert.equal(await page.getByRole("alert").count(), 0, "once");

  await search(page, "service = shop declined");
  await page.getByRole("button", { name: "Write service:shop" }).click();
  await eventually(
    "it is withSuggestion",
    async () => await boxText(page) === "service:shop declined",
  );
  await isSeen(page, "card declined");
  assert.deepEqual(await accessibilityFaults(page), []);
});

inBrowser("a deployment is a line on each chart, and What changed names it", async () => {
  const user = await withLogs();
  const release = (name: string, minutes: number, more = {}) => ({
    ts: at(minutes),
    level: "info",
    msg: `Release ${name}`,
    ...more,
    attrs: {
      kind: "marker",
      release: name,
      url: minutes > 15 ? "https://ci.example/7" : "ftp://x",
    },
  });
  await store(user, [
    release("1.2.3", 20, { service: "shop" }),
    release("1.2.4", 10.1),
    release("1.2.5", 10, { service: "api" }),
  ]);
  await using tab = await browser.open(user.token);
  const { page } = tab;
  const flags = page.locator(".histogram .chart-marker");
  await flags.nth(1).waitFor();
  const named = (version: string) =>
    new RegExp(`Release ${version} was deployed at .*\\d\\d:\\d\\d`);
  const labels = await flags.evaluateAll((all) => all.map((one) => one.ariaLabel ?? ""));
  assert.equal(labels.length, 2);
  assert.match(labels[0] ?? "", named("1.2.3 of shop"));
  assert.match(
    labels[1] ?? "",
    new RegExp(`${named("1.2.4").source}.*${named("1.2.5 of api").source}`),
  );
  const link = flags.first();
  assert.equal(await link.getAttribute("href"), "https://ci.example/7");
  assert.equal(await flags.last().getAttribute("href"), null);
  await flags.last().focus();
  await flags.last().getByText(named("1.2.4")).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);

  await search(page, "| count() by level");
  await page.locator(".series .chart-marker").nth(1).waitFor();
  await search(page, "service:shop");
  await page.getByRole("tab", { name: "What changed?" }).click();
  await page.getByRole("tabpanel").getByRole("link", { name: named("1.2.3 of shop") }).waitFor();
  await page.getByRole("tabpanel").getByText(named("1.2.5 of api")).waitFor();
});

inBrowser(
  "the overview compares services with the day before, and a click opens their records",
  async () => {
    const user = await newUser();
    await store(user, [
      ...Array.from(
        { length: 6 },
        () => ({ ts: at(30), service: "shop", level: "info", msg: "s" }),
      ),
      ...Array.from(
        { length: 6 },
        () => ({ ts: at(20), service: "shop", level: "error", msg: "e" }),
      ),
      ...Array.from(
        { length: 4 },
        () => ({ ts: at(1470), service: "shop", level: "info", msg: "y" }),
      ),
      ...Array.from(
        { length: 7 },
        () => ({ ts: at(1480), service: "night", host: "web-9", msg: "once" }),
      ),
      ...Array.from(
        { length: 40 },
        (_, i) => ({ ts: at(i % 2 ? 1600 : 10), service: "late", level: "error", msg: "l" }),
      ),
      { ts: at(1480), service: "flood", level: "info", msg: "f" },
      ...Array.from({ length: 12 }, () => ({ ts: at(15), service: "flood", msg: "f" })),
      { ts: at(10), service: "fresh", level: "info", msg: "first" },
      ...Array.from({ length: 30 }, (_, i) => ({ ts: at(10), service: `s${i % 24}`, msg: "m" })),
    ]);
    const requested: string[] = [];
    await using tab = await browser.open(user.token, {
      hash: "",
      prepare: (page) =>
        Promise.resolve(page.on("request", (request) => {
          const { pathname } = new URL(request.url());
          requested.push(pathname.replace(/-[\w-]{8}\./, "."));
        })),
    });
    const { page } = tab;
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await row("shop").waitFor();
    await page.waitForLoadState("networkidle");
    assert.deepEqual(requested.sort(), [
      "/",
      "/assets/index.js",
      "/assets/page.css",
      "/assets/page.js",
      "/config.json",
      "/rest/v1/rpc/list_alert_incidents",
      "/rest/v1/rpc/list_log_tenants",
      "/rest/v1/rpc/log_overview",
      "/rest/v1/rpc/log_stats",
    ], "the first load");
    assert.equal(await page.title(), "Overview · Logloom");
    assert.match(await row("shop").innerText(), /^shop\s+12×3\s+6\s*new/);
    assert.match(await row("night").innerText(), /not seen for 25 hours\s+0/);
    assert.match(await row("fresh").innerText(), /new since yesterday/);
    // Services that got worse come first, then silent ones, then floods. Every service has its bars.
    const rows = page.locator(".services tbody tr");
    assert.match(await rows.nth(0).innerText(), /^shop/);
    assert.match(
      await rows.nth(1).innerText(),
      /^late\s+20\s*new since \d\d:\d\d\s+20\s*new since \d\d:\d\d/,
    );
    assert.match(await rows.nth(2).innerText(), /^night/);
    assert.match(await rows.nth(3).innerText(), /^flood\s+12\s*×12/);
    assert.equal(await page.locator(".services tr.worse").count(), 2);
    assert.match(
      await page.getByRole("region", { name: "Silent hosts" }).innerText(),
      /^silent\s+web-9\s+no record since \d\d:\d\d, unlike the day before\s+What changed\?$/,
    );
    assert.equal(await rows.count(), 29);
    const bars = await row("shop").locator(".sparkline rect:not([height='0'])")
      .evaluateAll((all) => all.map((bar) => [bar.style.fill, bar.getAttribute("height")]));
    assert.deepEqual(
      bars,
      [["var(--series-1)", "20"], ["var(--level-error)", "10"]],
      "half are errors",
    );
    const ends = await page.evaluate(() =>
      ["th.number .sort-by", "td.number"].map((which) => {
        const range = document.createRange();
        range.selectNode(document.querySelector(`.services ${which}`)?.firstChild as Node);
        return Math.round(range.getBoundingClientRect().right);
      })
    );
    assert.equal(ends[0], ends[1], "a heading ends where its numbers end");
    assert.equal(
      await rows.filter({ has: page.locator(".sparkline rect[height='20']") }).count(),
      28,
    );
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "Service" }).click();
    await page.getByRole("columnheader", { name: "Service" }).and(page.locator("[aria-sort]"))
      .waitFor();

    await row("shop").getByRole("button", { name: "6 errors of shop" }).click();
    await page.waitForFunction(() => location.hash.includes("service:shop+level:error"));
    await page.locator(".histogram-total").getByText("6 records").waitFor();
    assert.match(await page.title(), /^service:shop level:error · Last 24 hours · Logloom$/);
    // The overview is as it was left.
    await page.getByRole("link", { name: "Overview" }).click();
    await row("shop").waitFor();
    await store(user, [{ ts: at(1), service: "shop", level: "error", msg: "once more" }]);
    await page.getByRole("button", { name: "Run again (r)" }).click();
    await row("shop").getByRole("button", { name: "7 errors of shop" }).waitFor();
    await page.getByRole("link", { name: "Search" }).click();
    await page.locator(".histogram-total").getByText("7 records").waitFor();
  },
);

inBrowser(
  "patterns show their text, count and first time; clicks filter by them or exclude them",
  async () => {
    const user = await newUser();
    await store(user, [
      ...Array.from({ length: 5 }, (_, i) => ({ ts: at(30), msg: `request ${i} done` })),
      ...Array.from({ length: 3 }, (_, i) => ({ ts: at(10), msg: `timeout after ${i} ms` })),
      { ts: at(600), msg: "request 77 done" },
    ]);
    await using tab = await browser.open(user.token);
    const { page } = tab;
    await page.getByRole("tab", { name: "Patterns" }).click();
    const row = (text: string) => page.getByRole("row").filter({ hasText: text });
    await row("request <*> done").waitFor();
    await row("timeout after <*> ms").getByText("new since yesterday").waitFor();
    assert.equal(await row("request <*> done").getByText("new since yesterday").count(), 0);
    assert.match(await row("request <*> done").innerText(), /^\s*5\s+request <\*> done/);
    await row("timeout").locator(".sparkline").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "timeout after <*> ms", exact: true }).click();
    await eventually("it is filtered", async () => await boxText(page) === 'msg:"timeout after"');
    await row("request <*> done").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Without timeout after <*> ms" }).click();
    await eventually("it is excluded", async () => await boxText(page) === '-msg:"timeout after"');
    await page.getByRole("tab", { name: "Records" }).click();
    await isSeen(page, "request 3 done");
    await isGone(page, "timeout after");
  },
);
