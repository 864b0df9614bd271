/// <reference lib="dom" />
import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { userToken } from "../support/tokens.ts";
import { newUser } from "../support/users.ts";
import { inBrowser, openBrowser } from "./browser.ts";
import { isGone, isSeen, store, withLogs } from "./steps.ts";

const browser = await openBrowser();
globalThis.addEventListener("unload", () => void browser[Symbol.asyncDispose]());

inBrowser("a viewer reads within the view: overview, search and shared dashboards", async () => {
  const owner = await withLogs();
  await owner.client.call("add_tenant_member", { p_user_id: owner.id, p_role: "owner" });
  const { view_id } = await owner.client.call("create_log_view", {
    p_name: "api alone",
    p_query_dsl: "service:api",
    p_hidden_fields: ["attrs.status"],
  });
  const id = crypto.randomUUID();
  await owner.client.call("add_tenant_member", {
    p_user_id: id,
    p_role: "viewer",
    p_view_id: view_id,
  });
  const panel = (title: string, query_dsl: string, kind: string) => ({ title, query_dsl, kind });
  await owner.client.call("create_log_dashboard", {
    p_name: "The shop",
    p_is_shared: true,
    p_panels: [
      panel("Records", "| count()", "number"),
      panel("By status", "| count() by attrs.status", "bars"),
    ],
  });
  await owner.client.call("create_log_dashboard", { p_name: "Of my own" });

  await using tab = await browser.open(await userToken({ tenant_id: owner.tenantId, sub: id }), {
    hash: "/overview",
    // One panel asks for a hidden field.
    expected: /status (of )?400/,
  });
  const { page } = tab;
  await page.getByRole("row", { name: /^api/ }).waitFor();
  assert.equal(await page.getByRole("row", { name: /^shop/ }).count(), 0);
  const nav = page.getByRole("navigation", { name: "Screens" });
  await nav.getByRole("link", { name: "Alerts" }).waitFor({ state: "detached" });
  assert.deepEqual(await nav.getByRole("link").allInnerTexts(), [
    "Overview",
    "Search",
    "Dashboards",
    "Errors",
  ]);
  // Groups of the records in the view, without people and without changes.
  await nav.getByRole("link", { name: "Errors" }).click();
  await page.getByText("Groups of the newest errors of the last 24 hours").waitFor();
  await page.getByRole("row", { name: /onerror/ }).waitFor();
  assert.deepEqual(await page.locator("main tbody th .card-title").allInnerTexts(), [
    "<img src=x onerror=alert(<*>)>",
  ]);
  assert.equal(await page.getByRole("checkbox").count(), 0);
  assert.equal(await page.getByText("Assigned to").count(), 0);

  await nav.getByRole("link", { name: "Search" }).click();
  await isSeen(page, "slow query");
  await isGone(page, "card declined");
  assert.equal(await page.getByRole("button", { name: "Save this search" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Alert on this" }).count(), 0);
  await page.getByRole("tab", { name: "Patterns" }).click();
  await page.locator(".patterns").getByText("slow query").waitFor();
  await page.getByRole("tab", { name: "What changed?" }).click();
  await page.getByText(/^3 records, compared with 0 from/).waitFor();

  await nav.getByRole("link", { name: "Dashboards" }).click();
  await page.getByRole("button", { name: "The shop" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Of my own" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "New dashboard" }).count(), 0);
  await page.getByRole("button", { name: "The shop" }).click();
  const records = page.getByRole("region", { name: "Records" });
  await records.getByText("3", { exact: true }).waitFor();
  const byStatus = page.getByRole("region", { name: "By status" });
  await byStatus.getByText('The field "attrs.status" is hidden from you').waitFor();
  assert.equal(await page.getByRole("button", { name: "New panel" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Remove: Records" }).count(), 0);
});

inBrowser(
  "the next reader in a tab sees no record and no address of the previous one",
  async () => {
    const [first, second] = [await withLogs(), await newUser()];
    await store(second, [{ msg: "another tenant's" }]);
    await using tab = await browser.open(first.token, {
      hash: "/alerts?tab=channels",
      expected: /status (of )?404/,
    });
    const { page } = tab;
    const panel = page.getByRole("complementary", { name: "Record" });
    const alerts = page.getByRole("link", { name: "Alerts" });
    await page.getByRole("heading", { name: "Alerts" }).waitFor();
    await page.getByRole("link", { name: "Search" }).click();
    await page.getByRole("row").filter({ hasText: "card declined" }).first().click();
    await panel.getByText("card declined").waitFor();
    assert.equal(await alerts.getAttribute("href"), "#/alerts?tab=channels");

    await page.getByRole("button", { name: "User and display" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Link or token").fill(second.token);
    const asked = page.waitForRequest("**/rpc/get_log");
    await page.getByRole("button", { name: "Sign in" }).click();
    await isSeen(page, "another tenant's");
    await asked;
    await panel.getByRole("alert").waitFor();
    assert.equal(await page.getByText("card declined").count(), 0);
    assert.equal(await alerts.getAttribute("href"), "#/alerts");
  },
);

inBrowser("an export stops when another reader signs in: no file mixes two tenants", async () => {
  const [first, second] = [await withLogs(), await newUser()];
  await store(second, [{ msg: "another tenant's" }]);
  const next = Promise.withResolvers<void>();
  const pages = [
    { records: 1, text: "the first one's\n", next_cursor: "further" },
    { records: 1, text: "the second one's\n", next_cursor: null },
  ];
  let asked = 0;
  await using tab = await browser.open(first.token, {
    prepare: (page) =>
      page.route("**/rpc/export_logs", async (route) => {
        const json = pages[asked++];
        if (asked === 2) await next.promise;
        await route.fulfill({ json });
      }),
  });
  const { page } = tab;
  let files = 0;
  page.on("download", () => files += 1);
  await isSeen(page, "card declined");
  await page.getByRole("button", { name: "Save the records" }).click();
  await page.getByRole("button", { name: /as NDJSON/ }).click();
  await page.getByText(/^Saving: 1/).waitFor();
  await eventually("the next page is asked for", () => Promise.resolve(asked === 2));
  await page.evaluate((token) => {
    location.hash = `#token=${token}`;
  }, second.token);
  await page.getByRole("button", { name: second.tenantId }).waitFor();
  next.resolve();
  await page.getByRole("link", { name: "Search" }).click();
  await isSeen(page, "another tenant's");
  assert.equal(await page.getByText(/^Sav(ing:|ed) /).count(), 0);
  assert.equal(files, 0);
});
