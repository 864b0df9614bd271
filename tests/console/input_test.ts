/// <reference lib="dom" />
import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { newUser } from "../support/users.ts";
import {
  accessibilityFaults,
  inBrowser,
  type Locator,
  openBrowser,
  type Page,
  plainHost,
} from "./browser.ts";
import { boxOf, boxText, completions, isGone, isSeen, search, withLogs } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const hash = (page: Page) => page.evaluate(() => decodeURIComponent(location.hash));

inBrowser("times are typed in the displayed zone, and the link has the instant", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { timezone: "Asia/Kolkata" });
  const { page } = tab;
  await isSeen(page, "card declined");
  const choose = () => page.getByRole("button", { name: /Range:/ }).click();
  await choose();
  await page.getByLabel("From").fill("2026-11-01T09:00");
  await page.getByLabel("To").fill("2026-11-02");
  await page.getByRole("button", { name: "Use this range" }).click();
  await page.waitForFunction(() => location.hash.includes("from="));
  assert.equal(await hash(page), "#from=2026-11-01T03:30:00.000Z&to=2026-11-01T18:30:00.000Z");
  await choose();
  assert.equal(await page.getByLabel("From").inputValue(), "2026-11-01T09:00");
  assert.equal(await page.getByLabel("To").inputValue(), "2026-11-02T00:00");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Times in UTC+05:30" }).click();
  await choose();
  assert.equal(await page.getByLabel("From").inputValue(), "2026-11-01T03:30");
  await page.getByLabel("From").fill("2026-11-01T03:00");
  await page.getByRole("button", { name: "Use this range" }).click();
  await page.waitForFunction(() => location.hash.includes("03:00:00"));
  assert.equal(await hash(page), "#from=2026-11-01T03:00:00.000Z&to=2026-11-01T18:30:00.000Z");
  await page.evaluate(() => {
    location.hash = "/settings";
  });
  await page.getByText("Times without a zone are UTC.").waitFor();
});

inBrowser("without a clipboard the text is shown for copying", async () => {
  const user = await newUser();
  const url = new URL(stack.url);
  url.hostname = plainHost;
  await using tab = await browser.open(user.token, {
    url: url.href,
    hash: "/keys",
    // Chromium warns about this on every page over plain HTTP.
    expected: /Cross-Origin-Opener-Policy header has been ignored/,
  });
  const { page } = tab;
  assert.equal(await page.evaluate(() => "clipboard" in navigator), false);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel(/^Name/).fill("web server");
  await page.getByRole("button", { name: "Create the key" }).click();
  const key = await page.getByTestId("key-value").innerText();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  const field = page.getByRole("textbox", { name: "The text to copy" });
  assert.equal(await field.inputValue(), key);
  assert.equal(
    await field.evaluate((element: HTMLTextAreaElement) =>
      element.value.slice(element.selectionStart, element.selectionEnd)
    ),
    key,
    "selected",
  );
  assert.equal(await page.getByRole("button", { name: "Copied" }).count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  assert.equal(await page.getByTestId("key-value").innerText(), key, "it is still there");
});

inBrowser("with a clipboard the text is copied", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token);
  const { page } = tab;
  await page.getByRole("row").filter({ hasText: "slow query" }).first()
    .click();
  await page.getByRole("button", { name: "Copy or show" }).click();
  await page.getByRole("button", { name: "Copy JSON" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(JSON.parse(text).msg, "slow query");
});

inBrowser(
  "Escape closes only the completion list, and a chosen field offers its values",
  async () => {
    const user = await withLogs();
    await using tab = await browser.open(user.token, { expected: /status (of )?400/ });
    const { page } = tab;
    await isSeen(page, "card declined");
    await page.locator(".query-host").click();
    await page.keyboard.type("serv");
    const list = await completions(page);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.type("ice");
    assert.equal(await boxText(page), "service");
    await completions(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("End");
    await page.keyboard.type(":a");
    assert.equal(await boxText(page), "service:a", "Escape keeps the focus in the box");

    // Values that the query excludes are offered, too.
    await search(page, "service:api");
    await isGone(page, "card declined");
    await page.keyboard.type(" service:");
    await (await completions(page)).getByText("shop", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("serv");
    await completions(page);
    await page.keyboard.press("Tab");
    await list.getByText("shop", { exact: true }).waitFor();
    assert.equal(await boxText(page), "service:");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await boxText(page), "service:shop");
    await page.keyboard.press("Enter");
    await isGone(page, "slow query");
  },
);

inBrowser("a click on a value adds it to the typed text, a second click removes it", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token);
  const { page } = tab;
  await isSeen(page, "card declined");
  await page.locator(".query-host").click();
  await page.keyboard.type("declined");
  const shop = page.getByRole("button", { name: /^shop/ });
  await shop.click();
  await page.waitForFunction(() => location.hash.includes("service:shop"));
  assert.equal(await hash(page), "#q=declined+service:shop");
  assert.equal(await boxText(page), "declined service:shop");
  assert.equal(await shop.getAttribute("aria-pressed"), "true");
  await shop.click();
  await page.waitForFunction(() => !location.hash.includes("service:shop"));
  assert.equal(await hash(page), "#q=declined");
  assert.equal(await shop.getAttribute("aria-pressed"), "false");

  // A click on a level of the chart keeps the typed text, too.
  await search(page, "");
  await isSeen(page, "slow query");
  await page.locator(".query-host").click();
  await page.keyboard.type("card");
  await page.getByTitle("Only error", { exact: true }).click();
  await page.waitForFunction(() => location.hash.includes("level:error"));
  assert.equal(await boxText(page), "card level:error");
});

inBrowser("a dialog keeps its form on a click outside, and returns the focus", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { hash: "q=level:error" });
  const { page } = tab;
  await isSeen(page, "card declined");
  const star = page.getByRole("button", { name: "Save this search" });
  const name = page.getByLabel("Name", { exact: true });
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  await star.click();
  assert.equal(await name.evaluate((field) => field === document.activeElement), true);
  await name.fill("Errors of today");
  await page.mouse.click(5, 5);
  assert.equal(await name.inputValue(), "Errors of today");
  await page.keyboard.press("Escape");
  await name.waitFor({ state: "detached" });
  assert.equal(await focused(), "Save this search");
  await star.press("Enter");
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await focused(), "Save this search");

  // A dialog that opens while the closed one's step back is under way stays open.
  await page.waitForFunction(() => !history.state?.dialogs);
  await star.press("Enter");
  await page.evaluate(async () => {
    const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
    const isBack = new Promise((resolve) => addEventListener("popstate", resolve, { once: true }));
    const isAsked = new Promise<void>((resolve) => {
      history.back = () => {
        History.prototype.back.call(history);
        resolve();
      };
    });
    press('dialog [aria-label="Close"]');
    await isAsked;
    press('[aria-label="Save this search"]');
    await isBack;
    Reflect.deleteProperty(history, "back");
  });
  await page.waitForFunction(() => history.state?.dialogs === 1);
  assert.equal(await name.count(), 1);

  // Back closes a dialog and stays on the page; the next one goes back.
  await page.goBack();
  await name.waitFor({ state: "detached" });
  assert.equal(await hash(page), "#q=level:error");
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("level:error"));

  // The opener is gone, so the start of the screen gets the focus.
  await user.client.call("create_saved_search", { p_name: "Doomed", p_query_dsl: "toDelete" });
  await page.evaluate(() => {
    location.hash = "/saved";
  });
  await page.getByRole("button", { name: "Delete Doomed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" })
    .click();
  await page.getByRole("button", { name: "Delete Doomed" }).waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.id === "main");
});

/** Scrolls until the whole element is visible, even while the page still changes. */
const scrollTo = (what: Locator) =>
  eventually(`${what} can be scrolled to`, async () => {
    await what.scrollIntoViewIfNeeded();
    const box = await what.boundingBox();
    const height = what.page().viewportSize()?.height ?? 0;
    // Browsers scroll by fractions of a pixel.
    return box && box.height > 0 && box.y >= 0 && box.y + box.height < height + 1;
  });

inBrowser("at 400 % zoom everything can be reached by scrolling", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { width: 320, height: 256 });
  const { page } = tab;
  await page.getByRole("row").filter({ hasText: "card declined" }).first()
    .waitFor({ state: "attached" });
  const rows = await boxOf(page.locator(".rows"));
  assert.ok(rows.height >= 160, `rows are ${rows.height} px high`);
  const row = page.getByRole("row").filter({ hasText: "card declined" })
    .first();
  await scrollTo(row);
  await row.click();
  await page.getByRole("button", { name: "Copy or show" })
    .scrollIntoViewIfNeeded();
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth),
    320,
    "only in one direction",
  );
  assert.deepEqual(await accessibilityFaults(page), []);
  const lasts = {
    "/keys": page.getByText("No keys yet"),
    "/settings": page.getByRole("button", { name: "Save", exact: true }),
    "/alerts?tab=rules": page.getByText("No alert rules yet"),
    "/members": page.getByText("This tenant does not use roles"),
    "q=%7C+count()+by+level": page.getByRole("cell", { name: "warn" }),
  };
  for (const [screen, last] of Object.entries(lasts)) {
    await page.evaluate((to) => {
      location.hash = to;
    }, screen);
    await last.waitFor({ state: "attached" });
    await scrollTo(last);
  }
  // A menu higher than the screen scrolls.
  await page.getByRole("button", { name: /Range:/ }).click();
  await scrollTo(page.getByRole("button", { name: "Use this range" }));
});
