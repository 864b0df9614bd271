/// <reference lib="dom" />
import assert from "node:assert/strict";
import { callAsOwner, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { newUser, type User } from "../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "./browser.ts";
import { isSeen, send, store } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const stack = [
  "TypeError: cart is undefined",
  "    at get (/app/node_modules/pg/pool.js:2:3)",
  "    at query (/app/node_modules/pg/client.js:7:8)",
  "    at pay (/app/src/pay.ts:4:5)",
  "    at run (node:internal/process:6:7)",
].join("\n");

const failed = (minutes: number, user: string, release: string) => ({
  ts: at(minutes),
  level: "error",
  service: "checkout",
  msg: `cart of ${user} is undefined`,
  user_id: user,
  attrs: { error: { type: "TypeError", stack }, region: "eu", release },
});

/** Waits until the groups have these numbers of records, the most first. */
async function counted(user: User, expected: number[]): Promise<void> {
  await using sql = openDatabase();
  await eventually("the errors are grouped", async () => {
    await callAsOwner(sql, "call logloom_private.run_job('group_errors')");
    const groups = await user.client.call("list_error_groups", {
      p_state: ["new", "regressed", "open", "resolved", "ignored"],
      p_order: "records",
    });
    return groups.map(({ records }) => records).join() === expected.join();
  });
}

inBrowser("errors are groups with a life: found, assigned, resolved, and back again", async () => {
  const user = await newUser();
  await store(user, [
    failed(30, "u-1", "1.0"),
    failed(20, "u-1", "1.1"),
    failed(10, "u-2", "1.1"),
    ...["us", "us", "eu"].map((region, i) => ({
      ts: at(i + 11),
      level: "error",
      service: "checkout",
      msg: `card ${i + 1}0 declined`,
      attrs: { region },
    })),
    { ts: at(5), level: "error", service: "api", msg: "DatabaseError: disk full" },
  ]);
  await counted(user, [3, 3, 1]);
  await using tab = await browser.open(user.token, { hash: "/errors", width: 1440 });
  const { page } = tab;
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  const cart = row("TypeError: cart");
  await cart.waitFor();
  assert.match(
    await cart.innerText(),
    /^\s*TypeError: cart of u-<\*> is undefined\s*checkout\s+new\s+3\s+2\s+10\sminutes\sago\s+1\.0 → 1\.1\s+–$/,
  );
  assert.deepEqual(await accessibilityFaults(page), []);
  const middles = await page.locator(".filters :is(input, select)").evaluateAll((fields) =>
    fields.map((field) => field.getBoundingClientRect()).map(({ y, height }) => y + height / 2)
  );
  assert.ok(Math.max(...middles) - Math.min(...middles) < 1, `${middles} are in one line`);
  await page.getByLabel("Service").selectOption("api");
  await cart.waitFor({ state: "detached" });
  await row("DatabaseError: disk full").waitFor();
  await page.getByLabel("Service").selectOption("");

  // The page of a group.
  await cart.getByRole("button").click();
  await page.getByRole("heading", { name: /^TypeError: cart/ }).waitFor();
  await page.getByRole("img", { name: "3 records, by hour" }).waitFor();
  assert.deepEqual(await page.locator(".frames > .frame.own").allInnerTexts(), [
    "at pay (/app/src/pay.ts:4:5)",
  ]);
  assert.deepEqual(await page.locator(".frames summary").allInnerTexts(), [
    "2 calls in libraries",
    "1 call in a library",
  ]);
  const differs = page.getByRole("region", { name: "What differs from other errors" });
  await differs.getByRole("row").filter({ hasText: /@region: eu\s*100%\s*33.3%/ }).waitFor();
  await page.getByRole("list", { name: "Newest records" }).getByText("u-2").waitFor();
  await page.getByLabel("Assigned to").selectOption("you");
  await page.getByLabel("Note").fill("the cart is lost");
  await page.getByRole("button", { name: "Save the note" }).click();
  await eventually("it is kept", async () => {
    const groups = await user.client.call("list_error_groups", {});
    return groups.some(({ assigned_to, note }) =>
      assigned_to === user.id && note === "the cart is lost"
    );
  });
  assert.deepEqual(await accessibilityFaults(page), []);

  // Its records in the search, and from a record back to the group.
  await page.getByRole("button", { name: "Show in search" }).click();
  await isSeen(page, "cart of u-1");
  assert.equal(
    await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("q")),
    'level:error service:="checkout" msg:"is undefined"',
  );
  await page.getByRole("row").filter({ hasText: "cart of u-2" }).first().click();
  await page.getByRole("button", { name: /^Seen 3 times since / }).click();

  // Resolved after a release, it comes back with a later one.
  await page.getByRole("button", { name: "Resolve after a release…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resolve" }).click();
  await page.getByText("resolved", { exact: true }).waitFor();
  await page.getByText("after 1.1").waitFor();
  await page.getByRole("button", { name: "All errors" }).click();
  await row("card <*> declined").waitFor();
  await cart.waitFor({ state: "detached" });
  await page.getByRole("radio", { name: "resolved", exact: true }).check();
  await cart.getByText("after 1.1").waitFor();
  await page.getByRole("radio", { name: "unresolved" }).check();
  await send(user.token, [{ ...failed(0, "u-3", "1.2"), ts: new Date().toISOString() }]);
  await counted(user, [4, 3, 1]);
  await cart.getByText("came back").waitFor();

  // Several are ignored and merged at once.
  await page.getByRole("checkbox", { name: /card/ }).check();
  await page.getByRole("checkbox", { name: /disk full/ }).check();
  await page.getByText("2 chosen").waitFor();
  await page.getByRole("button", { name: "Ignore…" }).click();
  await page.getByLabel("How long").selectOption("A week");
  await page.getByRole("dialog").getByRole("button", { name: "Ignore" }).click();
  await row("disk full").waitFor({ state: "detached" });
  await page.getByRole("radio", { name: "ignored" }).check();
  await row("disk full").getByText(/^until /).waitFor();
  await page.getByLabel("Choose all").check();
  await page.getByRole("button", { name: "Merge…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await row("disk full").waitFor({ state: "detached" });
  await row("card <*> declined").getByRole("cell", { name: "4", exact: true }).waitFor();
});

inBrowser(
  "a rule tells about new errors of a service, and its incident leads to them",
  async () => {
    const user = await newUser();
    await store(user, [failed(5, "u-1", "1.0")]);
    await counted(user, [1]);
    const [{ fingerprint }] = await user.client.call("list_error_groups", {});
    await using tab = await browser.open(user.token, { hash: `/errors?group=${fingerprint}` });
    const { page } = tab;
    await page.getByRole("button", { name: "Tell me about such errors" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "new and returning errors", checked: true }).waitFor();
    assert.equal(await dialog.getByLabel("Name").inputValue(), "New errors in checkout");
    assert.equal(await dialog.getByLabel("Service").inputValue(), "checkout");
    await dialog.getByLabel("Webhook", { exact: true }).check();
    await dialog.getByText("The message", { exact: true }).click();
    await dialog.getByText("New error in checkout: TypeError: … (1 record)").waitFor();
    await dialog.getByLabel("Webhook", { exact: true }).uncheck();
    assert.deepEqual(await accessibilityFaults(page), []);
    await dialog.getByRole("button", { name: "Create the rule" }).click();
    const rule = page.getByRole("row").filter({ hasText: "New errors in checkout" });
    assert.match(
      await rule.innerText(),
      /^New errors in checkout\s*service:="checkout"\s+on\s+–\s+an error is new or came back\s+–/,
    );
    await send(user.token, [
      { level: "error", service: "checkout", msg: "RangeError: too deep" },
      { level: "error", service: "api", msg: "RangeError: too deep" },
    ]);
    await counted(user, [1, 1, 1]);
    await using later = await browser.open(user.token, { hash: "/alerts" });
    const alerts = later.page;
    const incident = alerts.getByRole("row").filter({ hasText: "New errors in checkout" });
    assert.match(
      await incident.innerText(),
      /^\s*New errors in checkout\s+error: RangeError: too deep\s*service: checkout\s+open\s.*\s1 record\s/s,
    );
    await incident.getByRole("button", { name: "New errors in checkout" }).click();
    await alerts.getByText("by nobody yet").waitFor();
    assert.equal(await alerts.getByText("> 0").count(), 0);
    await alerts.getByRole("button", { name: "The error" }).click();
    await alerts.getByRole("heading", { name: "RangeError: too deep" }).waitFor();
    await alerts.getByRole("button", { name: "Resolve", exact: true }).click();
    await eventually("the incident is over", async () => {
      const [{ resolution }] = await user.client.call("list_alert_incidents", {});
      return resolution === "recovered";
    });
  },
);
