/// <reference lib="dom" />
import assert from "node:assert/strict";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { newUser } from "../../support/users.ts";
import { accessibilityFaults, inBrowser, openBrowser } from "../browser.ts";
import { send, store } from "../steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

const hash = "/settings?tab=rules";

inBrowser("a mask is tried on stored records, saved with a key, moved and turned off", async () => {
  const user = await newUser();
  await store(user, [
    { service: "shop", msg: "mail to ann@example.com", attrs: { card: 4111111111111111 } },
    { service: "web", msg: "mail to bob@example.com" },
  ]);
  await user.client.call("create_ingest_rule", {
    p_name: "No debug",
    p_condition: "level:debug",
    p_action: { type: "drop" },
  });
  await using tab = await browser.open(user.token, { hash });
  const { page } = tab;
  await page.getByRole("button", { name: "New rule" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Secrets");
  await dialog.getByLabel(/^Condition/).fill("service:shop");
  await dialog.getByLabel("email", { exact: true }).check();
  await dialog.getByLabel("card", { exact: true }).check();
  await dialog.getByLabel(/^Where/).fill("msg, @card");
  await dialog.getByLabel(/^With a hash/).check();
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await dialog.getByText("1 of 2 in the last hour").waitFor();
  const changes = await dialog.locator("del, ins").allInnerTexts();
  const [msg, card] = ["mail to ann@example.com", "4111111111111111"];
  assert.deepEqual(changes, [msg, "mail to [email:…]", card, "[card:…]"]);
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Create the rule" }).click();
  await dialog.waitFor({ state: "detached" });
  const rules = async () => await user.client.call("list_ingest_rules", {});
  const { condition, action } = (await rules())[1];
  assert.deepEqual([condition, action], ["service:shop", {
    type: "mask",
    what: ["email", "card"],
    in: { fields: ["msg"], attrs: ["card"] },
    hash: true,
    label: "custom",
    pattern: null,
  }]);

  await send(user.token, [{ service: "shop", msg: "to cem@example.com" }]);
  const [masked] = await eventually("the event is stored", async () => {
    const { logs } = await user.client.call("search_logs", { p_query_dsl: 'msg:"to [email"' });
    return logs.length > 0 && logs;
  });
  assert.match(`${masked.msg}`, /^to \[email:[0-9a-f]{8}\]$/);
  await page.reload();
  const row = page.getByRole("row").filter({ hasText: "Secrets" });
  await row.getByText("1 of 1 matched · 1 masked").waitFor();

  const up = page.getByRole("button", { name: "Move up: Secrets" });
  await up.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("row").nth(1).filter({ hasText: "Secrets" }).waitFor();
  assert.deepEqual((await rules()).map(({ name }) => name), ["Secrets", "No debug"]);
  assert.ok(await up.evaluate((button) => button === document.activeElement));
  await row.getByRole("button", { name: "Turn off" }).click();
  await row.getByText("off", { exact: true }).waitFor();
  assert.deepEqual((await rules()).map(({ is_on }) => is_on), [false, true]);
  assert.deepEqual(await accessibilityFaults(page), []);
});

inBrowser("members see the rules, and a count of sampled events says that it is one", async () => {
  const user = await newUser();
  const member = await newUser(user.tenantId);
  await store(user, [{ msg: "kept" }]);
  await user.client.call("create_ingest_rule", {
    p_name: "A tenth",
    p_action: { type: "sample", rate: 0.1, by: "req_id" },
  });
  await user.client.call("add_tenant_member", { p_user_id: user.id, p_role: "owner" });
  await user.client.call("add_tenant_member", { p_user_id: member.id, p_role: "member" });
  await using tab = await browser.open(member.token, { hash, theme: "dark", width: 390 });
  const { page } = tab;
  await page.getByRole("row").filter({ hasText: "Sample 0.1" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New rule" }).count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
  await using sql = openDatabase();
  await sql`
    insert into logloom.ingest_rule_hours
    select ${user.tenantId}, gen_random_uuid(), date_trunc('hour', now()), 9, 9, 0, 0, 8, 0, 0`;
  await page.evaluate(() => location.hash = `/search?q=${encodeURIComponent("| count()")}`);
  await page.getByText("≈ ingest rules sampled events in this range").waitFor();
});
