/// <reference lib="dom" />
import assert from "node:assert/strict";
import { createRule } from "../support/alert_rules.ts";
import { eventually } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser, type Page } from "./browser.ts";
import {
  boxOf,
  boxText,
  dragOver,
  isGone,
  isSeen,
  search,
  send,
  store,
  withLogs,
} from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

/** Holds back the answers to a query until `letGo` is called. */
async function holdAnswers(page: Page, query: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/rest/v1/rpc/*", async (route) => {
    const body = route.request().postDataJSON();
    const isSearch = !route.request().url().endsWith("validate_query");
    if (isSearch && String(body?.p_query_dsl ?? "").includes(query)) {
      asked += 1;
      await promise;
    }
    // The page may have cancelled the request.
    await route.continue().catch(() => {});
  });
  return {
    letGo: resolve,
    /** Waits until this many requests are held back. */
    asked: (least: number) =>
      eventually(`${least} questions`, () => Promise.resolve(asked >= least)),
  };
}

const total = (page: Page) => page.locator(".histogram-total");

inBrowser("an answer is shown only under its own query", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "q=level:error" });
  const { page } = tab;
  await total(page).getByText("2 records").waitFor();
  await isSeen(page, "card declined");
  await page.getByRole("button", { name: /^shop/ }).waitFor();

  const held = await holdAnswers(page, "service:api");
  await search(page, "service:api");
  await held.asked(3);
  assert.equal((await total(page).innerText()).trim(), "");
  assert.equal(await page.locator(".histogram .u-over").count(), 0, "no bars");
  assert.equal(await page.locator("[data-row]").count(), 0, "no rows");
  assert.equal(await page.locator(".fields .value").count(), 0, "no counts of fields");

  // Another query overtakes the first, whose late answer must not be shown.
  await search(page, "service:shop");
  await total(page).getByText("1 record", { exact: true }).waitFor();
  await isSeen(page, "card declined");
  held.letGo();
  await page.waitForLoadState("networkidle");
  assert.equal((await total(page).innerText()).trim(), "1 record");
  await isGone(page, "slow query");
});

inBrowser("the numbers of one aggregate are not shown under the next", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "q=%7C+count()+by+service" });
  const { page } = tab;
  await page.getByRole("cell", { name: "shop" }).waitFor();
  const held = await holdAnswers(page, "by level");
  await search(page, "| count() by level");
  await held.asked(1);
  assert.equal(await page.getByRole("cell", { name: "shop" }).count(), 0);
  assert.equal(await page.locator("figure.series").count(), 0);
  held.letGo();
  await page.getByRole("cell", { name: "error" }).waitFor();
});

inBrowser("a chart that loads does not move the table below it", async () => {
  const user = await withLogs();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using tab = await browser.open(user.token, {
    hash: "q=%7C+count()+by+level",
    prepare: (page) =>
      page.route("**/rpc/log_series", async (route) => {
        await released;
        await route.continue();
      }),
  });
  const { page } = tab;
  const warn = page.getByRole("cell", { name: "warn" });
  const before = await boxOf(warn);
  release();
  await page.locator("figure.series .u-over").waitFor();
  await page.locator("figure.series .legend-item").filter({ hasText: "warn" }).waitFor();
  assert.deepEqual(await boxOf(warn), before);
});

inBrowser(
  "after a change of the range, old answers are marked until the new ones arrive",
  async () => {
    const user = await withLogs();
    await using tab = await browser.open(user.token, { hash: "q=level:error" });
    const { page } = tab;
    // Wait for every part: a part without an answer cannot be old.
    await total(page).getByText("2 records").waitFor();
    await isSeen(page, "card declined");
    await page.locator(".fields .value").first().waitFor();
    const held = await holdAnswers(page, "level:error");
    await page.getByRole("button", { name: /Range:/ }).click();
    await page.getByRole("button", { name: "Last 24 hours" }).click();
    await held.asked(3);
    for (const part of [".histogram", ".fields-list", ".rows"]) {
      assert.equal(
        await page.locator(`${part}[data-old], ${part} [data-old]`).first()
          .getAttribute("aria-busy"),
        "true",
        part,
      );
    }
    await total(page).getByText("Updating…").waitFor();
    held.letGo();
    await page.locator("[data-old]").first().waitFor({ state: "detached" });
    assert.equal((await total(page).innerText()).trim(), "2 records");
  },
);

inBrowser("running a search with fixed times again shows new records", async () => {
  const user = await newUser();
  const [from, ts, to] = [60, 50, 40].map((minutes) =>
    new Date(Date.now() - minutes * 60_000).toISOString()
  );
  await using tab = await browser.open(user.token, { hash: `q=&from=${from}&to=${to}` });
  const { page } = tab;
  await page.getByText("Waiting for the first event…").waitFor();
  await send(user.token, [{ ts, msg: "came first" }]);
  await isSeen(page, "came first");
  await total(page).getByText("1 record").waitFor();
  await store(user, [{ ts, msg: "came late" }]);
  await page.getByRole("button", { name: "Run again (r)" }).click();
  await isSeen(page, "came late");
  await total(page).getByText("2 records").waitFor();
});

inBrowser("the dialog stays open until a new key is shown", async () => {
  const user = await newUser();
  await using tab = await browser.open(user.token, { hash: "/keys" });
  const { page } = tab;
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/rest/v1/rpc/create_api_key", async (route) => {
    await promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByLabel("Name (who uses it)").fill("web");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
  // After repeated Escape the browser closes a dialog without asking.
  for (let times = 0; times < 4; times++) await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
  resolve();
  await page.getByTestId("key-value").waitFor();
});

inBrowser("the dialog stays open until a webhook's new secret is shown", async () => {
  const user = await newUser();
  await createRule(user, { p_name: "broken", p_enabled: false });
  await using tab = await browser.open(user.token, { hash: "/alerts?tab=rules" });
  const { page } = tab;
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/rest/v1/rpc/rotate_alert_webhook_secret", async (route) => {
    await promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "broken", exact: true }).click();
  await page.getByRole("button", { name: "New webhook secret" }).click();
  await page.getByRole("button", { name: "Cancel", disabled: true }).waitFor();
  await page.getByRole("button", { name: "Save", exact: true, disabled: true }).waitFor();
  await page.keyboard.press("Escape");
  resolve();
  await page.getByText("Shown only once:").waitFor();

  const saved = Promise.withResolvers<void>();
  await page.route("**/rest/v1/rpc/update_alert_rule", async (route) => {
    await saved.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  // Saving closes the dialog.
  await page.getByRole("button", { name: "New webhook secret", disabled: true }).waitFor();
  saved.resolve();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

inBrowser("a search that takes longer than the refresh interval is still answered", async () => {
  const user = await withLogs();
  const held = Promise.withResolvers<void>();
  let asked = 0;
  await using tab = await browser.open(user.token, {
    hash: "",
    prepare: async (page) => {
      await page.clock.install();
      await page.route("**/rpc/search_logs", async (route) => {
        if (route.request().postData()?.includes("@kind:marker")) return await route.continue();
        asked++;
        await held.promise;
        await route.continue();
      });
    },
  });
  const { page } = tab;
  // From here on only this test advances the time.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 60_000));
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByLabel("Refresh").selectOption("10");
  await eventually("the search is asked for", async () => {
    await page.clock.runFor(10);
    return asked === 1;
  });
  for (let times = 0; times < 2; times++) {
    await page.clock.fastForward(11_000);
    await page.waitForTimeout(300);
  }
  assert.equal(asked, 1);
  await page.clock.resume();
  held.resolve();
  await isSeen(page, "card declined");
  await page.clock.fastForward(11_000);
  await eventually("it is asked for again", () => Promise.resolve(asked > 1));
});

inBrowser("a shared search with an impossible time does not break the page", async () => {
  const user = await withLogs();
  await user.client.call("create_saved_search", {
    p_name: "far",
    p_query_dsl: "level:error",
    p_display: { from: "2026-01-01", to: "now+999999999w" },
  });
  await using tab = await browser.open(user.token, { hash: "/saved" });
  const { page } = tab;
  await page.getByText("far", { exact: true }).first().click();
  await page.getByText("Invalid range").first().waitFor();
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
});

inBrowser("an open record stays open when the search runs again", async () => {
  const user = await withLogs();
  const ts = new Date(Date.now() - 50 * 60_000).toISOString();
  await store(user, Array.from({ length: 80 }, (_, i) => ({ ts, msg: `before it ${i}` })));
  await using tab = await browser.open(user.token);
  const { page } = tab;
  const row = page.getByRole("row").filter({ hasText: "slow query" }).first();
  await row.click();
  const detail = page.locator(".detail");
  await detail.getByRole("button", { name: "Copy or show" }).click();
  await detail.getByRole("button", { name: "Show as JSON" }).click();
  await detail.evaluate((element) => element.setAttribute("data-same", ""));
  await store(user, [{ level: "info", msg: "came after it was opened" }]);
  const place = await boxOf(detail);
  await page.getByRole("button", { name: "Run again (r)" }).click();
  await isSeen(page, "came after it was opened");
  assert.equal(await row.getAttribute("aria-selected"), "true");
  assert.equal(await page.locator(".detail[data-same]").count(), 1, "the very same");
  await page.locator(".detail .raw").waitFor();
  assert.deepEqual((await boxOf(detail)).y, place.y, "in the same place");

  const again = page.waitForResponse((answer) => answer.url().endsWith("search_logs"));
  await page.getByLabel("Refresh").selectOption("10");
  await again;
  await page.locator(".rows:not([data-old])").waitFor();
  assert.equal(await page.locator(".detail[data-same]").count(), 1, "by itself, too");
});

inBrowser("a malformed record or answer breaks only its own part of the page", async () => {
  const user = await withLogs();
  let isWhole = false;
  await using tab = await browser.open(user.token, {
    // React reports the errors to the browser's console.
    expected: /^(console|error): /,
    prepare: async (page) => {
      await page.route("**/rpc/search_logs", async (route) => {
        const answer = await route.fetch();
        const body = await answer.json();
        for (const log of body.logs ?? []) {
          if (log.msg === "slow query") {
            Object.assign(log, { msg: { text: "slow" }, level: 7 });
          }
        }
        await route.fulfill({ response: answer, json: body });
      });
      await page.route("**/rpc/log_histogram", async (route) => {
        const answer = await route.fetch();
        if (isWhole) return await route.fulfill({ response: answer });
        await route.fulfill({ response: answer, json: { total: 4, buckets: [{}] } });
      });
    },
  });
  const { page } = tab;
  await isSeen(page, "card declined");
  await page.getByRole("row").filter({ hasText: "This record cannot be shown" }).waitFor();
  const chart = page.getByRole("alert").filter({ hasText: "The chart cannot be shown" });
  await chart.waitFor();
  isWhole = true;
  await chart.getByRole("button", { name: "Try again" }).click();
  await total(page).getByText("4 records").waitFor();
  await page.getByRole("row").filter({ hasText: "card declined" }).first()
    .click();
  await page.locator(".detail").getByText("402").waitFor();
});

inBrowser(
  "* also finds records without a message; groups are sorted by value and keep the order of columns",
  async () => {
    const user = await newUser();
    const group = (service: string, host: string, times: number) =>
      Array.from({ length: times }, () => ({ level: "info", service, host }));
    await store(user, [
      ...group("api", "web-2", 2),
      ...group("zebra", "a-host", 3),
      ...group("api", "web-1", 1),
    ]);
    await using tab = await browser.open(user.token, { hash: "q=*" });
    const { page } = tab;
    await total(page).getByText("6 records").waitFor();
    await isSeen(page, "zebra");
    await search(page, "* | count() by service, host");
    await page.getByRole("cell", { name: "zebra" }).waitFor();
    const cells = async (selector: string) => await page.locator(selector).allInnerTexts();
    assert.deepEqual((await cells(".bars thead th")).slice(0, 3), ["service", "host", "value"]);
    assert.deepEqual(
      await page.locator(".bars tbody tr").evaluateAll((rows) =>
        rows.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent))
      ),
      [["zebra", "a-host", "3"], ["api", "web-2", "2"], ["api", "web-1", "1"]],
    );
    await page.locator(".series-legend bdi").first().waitFor();
    assert.deepEqual(await cells(".series-legend bdi"), [
      "zebra, a-host",
      "api, web-2",
      "api, web-1",
    ]);
  },
);

inBrowser("changes since the range before are listed, and a click filters by one", async () => {
  const user = await newUser();
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const events = Array.from({ length: 80 }, (_, i) => ({
    ts: at(i < 40 ? 90 : 20),
    level: i < 40 ? "info" : "error",
    msg: i < 40 ? `request ${i} done` : `timeout after ${i} ms`,
  }));
  await store(user, events);
  await using tab = await browser.open(user.token, { hash: "from=now-2h" });
  const { page } = tab;
  await total(page).getByText("80 records").waitFor();
  const ask = page.getByRole("button", { name: "What changed here?" });
  assert.equal(await ask.count(), 0, "it belongs to a dragged range");
  await dragOver(page, 0.55, 0.98);
  await total(page).getByText("40 records").waitFor();
  await ask.click();
  await ask.waitFor({ state: "detached" });
  const panel = page.getByRole("tabpanel", { name: "What changed?" });
  await panel.getByText("40 records, compared with 40 from").waitFor();
  const row = panel.getByRole("row").filter({ hasText: "level: error" });
  assert.match(await row.innerText(), /new\s+level: error\s+0%\s0\s+100%\s40/);
  await panel.getByText("timeout after <*> ms").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const compare = panel.getByLabel("Compared with");
  await compare.selectOption("the same time the day before");
  await panel.getByText("40 records, compared with 0 from").waitFor();
  await compare.selectOption("the rest of the range before");
  await panel.getByText("40 records, compared with 40 from").waitFor();
  await page.getByLabel("Compare the charts with").selectOption("an hour before");
  await eventually("the earlier values are at the pointer", async () => {
    // Drawing the chart again with the new answers forgets the pointer.
    for (const x of [690, 700]) {
      await page.locator(".histogram .u-over").hover({ position: { x, y: 20 } });
    }
    return await page.locator(".chart-tip").getByText("before").isVisible();
  });
  await row.getByRole("button").click();
  await eventually("the query is narrowed", async () => await boxText(page) === "level:error");
});

inBrowser("an export saves all matches and says how many", async () => {
  const user = await newUser();
  const events = Array.from({ length: 2_310 }, (_, i) => ({ level: "info", msg: `event ${i}` }));
  await store(user, events);
  await eventually("an export holds them", async () => {
    const { records } = await user.client.call("export_logs", {});
    return records === events.length;
  });
  await using tab = await browser.open(user.token);
  const { page } = tab;
  await total(page).getByText("2,310 records").waitFor();
  const save = async (name: RegExp) => {
    await page.getByRole("button", { name: "Save the records" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name }).click();
    const path = await (await download).path();
    await page.getByText("Saved 2,310 of 2,310 records.").waitFor();
    return await Deno.readTextFile(path);
  };
  const lines = (await save(/as NDJSON/)).trim().split("\n").map((line) => JSON.parse(line).msg);
  assert.deepEqual(new Set(lines), new Set(events.map(({ msg }) => msg)));
  assert.equal(lines.length, events.length);
  const csv = await save(/as CSV/);
  assert.equal(csv.trim().split("\r\n").length, events.length + 1);
});

inBrowser("a click on a service shows only its usage", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "/usage" });
  const events = tab.page.getByRole("region", { name: "Days" }).locator("tbody td").first();
  await events.getByText("4", { exact: true }).waitFor();
  await tab.page.getByRole("button", { name: /^api\s*3$/ }).click();
  await events.getByText("3", { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(tab.page), []);
});
