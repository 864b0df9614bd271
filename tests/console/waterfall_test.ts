/// <reference lib="dom" />
import assert from "node:assert/strict";
import { becomes } from "../support/eventually.ts";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser, type Page } from "./browser.ts";
import { boxText, store } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const start = Date.now() - 60_000;
const req_id = "4bf92f3577b34da6a3ce929d0e0e4736";

/** A record at a number of milliseconds of the trace. */
const log = (at: number, service: string, msg: string, more: object) => ({
  ts: new Date(start + at).toISOString(),
  service,
  msg,
  req_id,
  ...more,
});

/** A span as the receiver stores it. Spans of servers have a route as name. */
const span = (
  id: number,
  parent_id: string,
  at: number,
  ms: number,
  service: string,
  msg: string,
) =>
  log(at, service, msg, {
    level: msg === "/pay" ? "error" : "info",
    route: msg,
    attrs: {
      kind: "span",
      span_id: `${id}`,
      parent_id,
      duration_ms: ms,
      span_kind: msg.startsWith("/") ? "server" : "internal",
    },
  });

async function openTrace(page: Page, text: string) {
  await page.getByRole("row").filter({ hasText: text }).first().click();
  await page.getByRole("button", { name: "Show the trace" }).click();
  await page.getByRole("treeitem").first().waitFor();
}

const wordsOf = (text: string) => text.trim().split(/\s+/).join(" ");

inBrowser(
  "a trace shows its spans with depth, errors, gaps, logs and missing parents",
  async () => {
    const user = await newUser();
    await store(user, [
      span(1, "", 0, 1000, "web", "/checkout"),
      span(2, "1", 0, 100, "web", "log in"),
      span(3, "1", 300, 600, "pay", "/pay"),
      span(4, "3", 700, 200, "pay", "charge card"),
      span(5, "1", 400, 0.5, "web", "read cache"),
      span(7, "6", 500, 50, "mail", "send"),
      log(750, "pay", "card is slow", { level: "warn", attrs: { span_id: "4" } }),
      log(900, "pay", "Error: declined", { level: "error", attrs: { parent_id: "3" } }),
      log(1250, "web", "page closed", { req_id: undefined, attrs: { trace_id: req_id } }),
    ]);
    await using tab = await browser.open(user.token, { hash: "q=attrs.kind:span" });
    const { page } = tab;
    await openTrace(page, "/pay");
    const rows = page.getByRole("treeitem");
    assert.deepEqual((await rows.allInnerTexts()).map(wordsOf), [
      "▾ ◆ /checkout web 1.00 sec",
      "◆ log in web 100 ms",
      "▾ ◆ /pay pay error 600 ms",
      "◆ charge card pay 200 ms",
      "read cache web 0.5 ms",
      "send mail parent is missing 50 ms",
    ]);
    const levels = await rows.evaluateAll((all) => all.map(({ ariaLevel }) => ariaLevel).join(""));
    assert.equal(levels, "122321");
    await page.getByText("nothing for 250 ms").waitFor();
    await page.getByText("1 record without a span").waitFor();
    assert.equal(await rows.nth(2).locator(".trace-mark.error").count(), 1);
    assert.equal(await rows.nth(3).locator(".trace-mark.warn").count(), 1);
    assert.deepEqual(await accessibilityFaults(page), []);

    // The keys. The span from which the trace was opened is active.
    const active = () => page.locator(".span-row.active .log-text").innerText();
    assert.equal(await active(), "/pay");
    await page.getByRole("tree").focus();
    await page.keyboard.press("ArrowLeft");
    await becomes(5, () => rows.count());
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await becomes("charge card", active);
    await page.keyboard.press("Enter");
    const record = page.getByRole("dialog").getByRole("complementary", { name: "Record" });
    await record.getByText("card is slow").waitFor();
    await page.keyboard.press("ArrowLeft");
    await record.getByRole("button").filter({ hasText: "Error: declined" }).click();
    await record.locator(".message").getByText("Error: declined").waitFor();
    await page.keyboard.press("Escape");
    await record.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await page.getByRole("button", { name: "By duration" }).click();
    await page.locator(".bars tbody tr").first().getByText("/checkout").waitFor();
    assert.match(await boxText(page), /^attrs.kind:span \| max\(attrs.duration_ms\)/);
    await page.getByRole("link", { name: "Overview" }).click();
    const requests = page.getByRole("region", { name: "Requests" }).locator("tbody tr");
    await requests.nth(1).waitFor();
    assert.deepEqual(
      (await requests.allInnerTexts()).map(wordsOf).sort(),
      ["pay /pay 1 600 600 1 100", "web /checkout 0 1,000 1,000 1 0"],
    );

    // The newest record of an error leads to the same trace.
    await page.getByRole("link", { name: "Errors" }).click();
    await page.getByRole("button", { name: /declined/ }).click();
    await page.getByRole("button", { name: "Show the trace" }).click();
    await becomes("/pay", active);
  },
);

inBrowser(
  "a trace of several hours is whole, also with records that only have it as an attribute",
  async () => {
    const user = await newUser();
    const hours = 3_600_000;
    await store(user, [
      span(1, "", -3 * hours, 3 * hours + 1000, "batch", "import"),
      span(2, "1", 0, 500, "batch", "last step"),
      log(-3 * hours, "batch", "begun", { req_id: "r-1", attrs: { trace_id: req_id } }),
    ]);
    await using tab = await browser.open(user.token, { hash: "q=last" });
    const { page } = tab;
    await openTrace(page, "last step");
    assert.deepEqual((await page.getByRole("treeitem").allInnerTexts()).map(wordsOf), [
      "▾ ◆ import batch 3 hr",
      "◆ last step batch 500 ms",
    ]);
    await page.getByText("1 record without a span").waitFor();
  },
);

inBrowser(
  "of 10,005 spans the first 10,000 are shown, and only visible rows are drawn",
  async () => {
    const user = await newUser();
    for (const part of [0, 1, 2, 3, 4]) {
      const ids = Array.from({ length: 2001 }, (_, i) => part * 2001 + i);
      await store(user, ids.map((i) => span(i, i ? `${i - 1}` : "", i, 10, "batch", `step ${i}`)));
    }
    await using tab = await browser.open(user.token, { width: 390, hash: "q=step" });
    const { page } = tab;
    await openTrace(page, "step");
    await page.getByText("Only the first 10,000 records are shown.").waitFor();
    await page.getByRole("tree").focus();
    await page.keyboard.press("End");
    const last = page.locator(".span-row.active");
    await becomes("step 9999", () => last.locator(".log-text").innerText());
    assert.equal(await last.getAttribute("aria-level"), "10000");
    const drawn = await page.getByRole("treeitem").count();
    assert.ok(drawn > 5 && drawn < 60, `${drawn} rows`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  },
);
