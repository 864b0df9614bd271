/// <reference lib="dom" />
import assert from "node:assert/strict";
import { newUser } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "./browser.ts";
import { dragOver, isGone, isSeen, search, send, withLogs } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser(
  "a newcomer creates a key, sends the first event and sees it; another tenant does not",
  async () => {
    const [user, other] = [await newUser(), await newUser()];
    await using tab = await browser.open(user.token, { hash: "" });
    await using elsewhere = await browser.open(other.token, { hash: "" });
    const { page } = tab;
    assert.equal(await page.evaluate(() => location.hash), "", "the token leaves the address");

    await page.getByText("Send the first event").waitFor();
    await elsewhere.page.getByText("Send the first event").waitFor();
    await page.getByRole("button", { name: "Create a key and fill it in" }).click();
    const key = await page.locator("code.secret").innerText();
    assert.match(key, /^ll_[0-9A-Za-z]{36,}$/);
    const curl = await page.locator("#sender-panel pre").innerText();
    assert.ok(curl.includes(key), "the key is in the snippet");

    // The snippet works.
    const { success } = await new Deno.Command("sh", {
      args: ["-c", curl],
      stdout: "null",
      stderr: "null",
    })
      .output();
    assert.ok(success);
    await isSeen(page, "hello");
    assert.deepEqual(await accessibilityFaults(page), []);

    await page.reload();
    await isSeen(page, "hello");
    await elsewhere.page.getByText("Waiting for the first event…").waitFor();
    assert.equal(await elsewhere.page.getByText("hello", { exact: true }).count(), 0);
  },
);

inBrowser(
  "searching by click, text and chart works, errors show their position, and the address has it all",
  async () => {
    const user = await withLogs();
    // A wrong query is a 400.
    await using tab = await browser.open(user.token, { expected: /status (of )?400/ });
    const { page } = tab;
    await isSeen(page, "card declined");
    await isSeen(page, "<img src=x onerror=alert(1)>");

    await page.getByRole("button", { name: /^shop/ }).click();
    await page.waitForFunction(() => location.hash.includes("service:shop"));
    await isSeen(page, "card declined");
    await isGone(page, "slow query");
    await page.goBack();
    await isSeen(page, "slow query");

    await page.getByRole("row").filter({ hasText: "slow query" }).click();
    await page.getByRole("button", { name: "attrs.ms at least this" }).click();
    await page.waitForFunction(() => location.hash.includes("attrs.ms"));
    await isGone(page, "card declined");

    await search(page, "level:loud");
    await page.getByTestId("query-error").getByText("position 7").waitFor();
    await search(page, "| count() by service");
    await page.getByRole("cell", { name: "shop" }).waitFor();
    await search(page, "");
    await isSeen(page, "card declined");

    // The last part of the chart holds the two errors of the last minutes.
    await dragOver(page, 0.8, 0.99);
    await page.waitForFunction(() => location.hash.includes("from=20"));
    await isSeen(page, "card declined");
    await isGone(page, "slow query");
    const shared = await page.evaluate(() => location.hash);

    await using second = await browser.open(user.token, { hash: shared });
    await isSeen(second.page, "card declined");
    await isGone(second.page, "slow query");
  },
);

inBrowser("live shows new records; a colleague finds a saved search", async () => {
  const user = await withLogs();
  const colleague = await newUser(user.tenantId);
  await using tab = await browser.open(user.token, { hash: "q=level:error" });
  const { page } = tab;
  await isSeen(page, "card declined");
  await page.keyboard.press("l");
  await page.getByText("Following new records.").waitFor();
  await isSeen(page, "card declined");
  await send(user.token, [{ level: "error", msg: "just now" }, { level: "info", msg: "not this" }]);
  await isSeen(page, "just now");
  assert.equal(await page.getByText("not this").count(), 0);
  await page.locator(".histogram .u-over").waitFor();
  // A batch is shown newest first. The button is Live, after a scroll Resume. The key l stops following.
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
  await send(user.token, [
    ...Array.from(
      { length: 60 },
      (_, i) => ({ ts: ago(200 + i), level: "error", msg: `old ${i}` }),
    ),
    { ts: ago(1), level: "error", msg: "newest" },
    { ts: ago(100), level: "error", msg: "middle" },
  ]);
  await isSeen(page, "middle");
  const messages = await page.locator("[data-row] .cell-msg").allInnerTexts();
  assert.deepEqual(messages.slice(0, 3), ["newest", "middle", "old 0"]);
  await page.locator(".rows").hover();
  await page.mouse.wheel(0, 400);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Live", exact: true, pressed: true }).waitFor();
  await page.keyboard.press("l");

  await page.getByRole("button", { name: "Save this search" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Errors");
  await page.getByLabel(/Everyone in this tenant/).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const body = await user.client.call("list_saved_searches", {});
  assert.deepEqual(body.map(({ query_dsl }) => query_dsl), ["level:error"]);

  await using other = await browser.open(colleague.token, { hash: "/saved" });
  await other.page.getByRole("button", { name: "Errors", exact: true }).click();
  await isSeen(other.page, "just now");
});

inBrowser("no typed letter is lost on a slow machine", async () => {
  const user = await withLogs();
  await using tab = await browser.open(user.token, { expected: /status (of )?400/ });
  const { page } = tab;
  await isSeen(page, "card declined");
  await page.locator(".query-host").click();
  const keys = await page.context().newCDPSession(page);
  await keys.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  const [run, typedOn] = [
    "service:api slow",
    ` and ${"what is typed on while it runs ".repeat(3).trim()}`,
  ];
  // All keys are pressed before the page handles the first one.
  await Promise.all([...`${run}\r${typedOn}`].flatMap((text) => [
    keys.send("Input.dispatchKeyEvent", {
      type: "keyDown",
      text,
      ...(text === "\r" ? { key: "Enter", windowsVirtualKeyCode: 13 } : { key: text }),
    }),
    keys.send("Input.dispatchKeyEvent", { type: "keyUp", key: text }),
  ]));
  await keys.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await isSeen(page, "slow query");
  await isGone(page, "card declined");
  const box = page.getByRole("textbox", { name: "Query" });
  assert.equal((await box.innerText()).replaceAll("\n", ""), run + typedOn);
});
